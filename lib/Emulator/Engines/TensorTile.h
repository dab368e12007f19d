// The box of a tensor copy: which rows of global memory it has and where they lie in shared memory.
// Not for how a copy is issued or completes. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_ENGINES_TENSORTILE_H
#define TS_EMULATOR_ENGINES_TENSORTILE_H

#include "../Core/Machine.h"
#include "Copy.h"
#include "TensorMap.h"

namespace ts::emu {

class TensorTile {
public:
  static constexpr uint32_t maxRowBytes = 256 * 8;

  /// `rows`: the four row coordinates of gather4 and scatter4, else null. Faults if the map or the
  /// coordinates are impossible, or the tensor is outside of memory.
  TensorTile(Machine &machine, const TensorMap &map, const int32_t *start, const int32_t *rows,
             bool store, const char *what);

  uint32_t sharedBytes() const { return numRows * rowShared; }
  uint32_t rowBytes() const { return rowShared; }
  uint32_t rows() const { return numRows; }
  /// The bytes of a row that are inside the tensor: address and number, 0 if there are none.
  std::pair<uint64_t, uint32_t> rowBytesAt(uint32_t row) const;
  /// Bytes that a transaction counts for 16 bytes in shared memory: padding does not count.
  uint32_t chunkTx() const { return chunkBytes; }

  /// A row as it lies in shared memory, out-of-bounds elements filled.
  void load(uint32_t row, uint8_t *to) const;
  /// Writes the elements inside the tensor; whole chunks of 16 bytes at its end.
  void store(uint32_t row, const uint8_t *from) const;
  void reduce(uint32_t row, const uint8_t *from, Reduction op, ReduceType type) const;
  /// Offset in the shared memory of the byte at `linear` of the box laid out row by row.
  uint32_t swizzled(uint32_t base, uint32_t linear) const {
    return swizzleAddress(map.swizzle, map.swizzleAtomicity, base + linear);
  }
  bool plain() const { return !map.swizzle; }
  bool flips() const { return map.swizzle == 3 && map.swizzleAtomicity == 2; }

private:
  /// Offset of the row's first element from the lowest byte; false if it is outside.
  bool rowStart(uint32_t row, int64_t &offset) const;
  void findMemory(Machine &machine, const char *what, bool store);

  TensorMap map;
  int64_t start[5] = {0, 0, 0, 0, 0};
  bool gathers = false;
  int64_t gathered[4] = {0, 0, 0, 0};
  uint32_t counts[5] = {1, 1, 1, 1, 1}; // of the box, by dimension
  uint32_t numRows = 1, rowShared = 0, chunkBytes = 16, bits = 8;
  uint32_t first = 0, last = 0; // elements of a row that are inside the tensor
  uint8_t *memory = nullptr;    // of the lowest byte inside the box and the tensor
  int64_t lowest = 0;           // its offset from the tensor's first byte
  uint64_t behind = 0;          // bytes that may follow the last one in its chunk of 16
  int64_t highest = 0;          // offset behind the last byte
};

} // namespace ts::emu

#endif // TS_EMULATOR_ENGINES_TENSORTILE_H
