// Rows of a tensor copy's box. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorTile.h"

namespace ts::emu {
namespace {

/// Coordinates start, start + step, ... (count of them) that lie in [0, size): lowest and highest.
bool inside(int64_t start, int64_t step, int64_t count, int64_t size, int64_t &low, int64_t &high) {
  int64_t from = start >= 0 ? 0 : (-start + step - 1) / step;
  int64_t to = start >= size ? -1 : std::min(count - 1, (size - 1 - start) / step);
  low = start + from * step;
  high = start + to * step;
  return from <= to;
}

/// The NaN is 0x7ff7 in every 16 bits, whatever the type (measured on an H200).
void fill(uint8_t *to, uint32_t bytes, bool nan) {
  for (uint32_t i = 0; i < bytes; ++i)
    to[i] = !nan ? 0 : i % 2 ? 0x7f : 0xf7;
}
} // namespace

TensorTile::TensorTile(Machine &machine, const TensorMap &m, const int32_t *at,
                       const int32_t *rows4, bool store, const char *what)
    : map(m) {
  if (map.magic != TensorMap::expectedMagic)
    fault(FaultKind::Descriptor,
          "%s: there is no tensor map at this address; expected the 128 bytes that the host made "
          "for this launch (a .param of 128 bytes with alignment 64, or a copy of it)",
          what);
  if (map.empty)
    fault(FaultKind::Descriptor,
          "%s through the tensor map of an array without elements; expected the kernel to skip it",
          what);
  if (std::string wrong = wrongInTensorMap(map); !wrong.empty())
    fault(map.interleave ? FaultKind::Unsupported : FaultKind::Descriptor,
          "%s: the tensor map is impossible: %s", what, wrong.c_str());
  bits = elementBits(map.elementType);
  bool padded = map.elementType == elementB4x16P64 || map.elementType == elementB6x16P32;
  rowShared = padded ? map.box[0] : map.box[0] * bits / 8;
  if (padded)
    chunkBytes = map.elementType == elementB4x16P64 ? 8 : 12;
  gathers = rows4 != nullptr;
  if (gathers) {
    if (map.rank != 2 || map.box[1] != 1)
      fault(FaultKind::Descriptor,
            "%s with four rows needs a map of rank 2 whose box has one row; found rank %u and %u "
            "rows",
            what, map.rank, map.box[1]);
    std::copy_n(rows4, 4, gathered);
    numRows = 4;
  } else {
    for (unsigned i = 1; i < map.rank; ++i) {
      counts[i] = (map.box[i] + map.elementStrides[i] - 1u) / map.elementStrides[i];
      numRows *= counts[i];
    }
  }
  for (unsigned i = 0; i < map.rank; ++i)
    start[i] = i && gathers ? 0 : at[i];
  if (store) {
    if (map.elementType == elementB4x16P64)
      fault(FaultKind::Descriptor, "%s: elements of type b4x16_p64 can only be loaded", what);
    if (flips())
      fault(FaultKind::Descriptor, "%s: the swizzle with 8-byte flip goes with loads only", what);
    for (unsigned i = 0; i < (gathers ? 4 : map.rank); ++i)
      if ((gathers ? gathered[i] : start[i]) < 0 || start[0] < 0)
        fault(FaultKind::OutOfBounds,
              "%s begins at a negative coordinate; expected 0 or more (only the end of a box is "
              "clipped)",
              what);
  }
  if (padded && start[0] % 128)
    fault(FaultKind::Alignment,
          "%s begins at element %lld of a row of %s; expected a multiple of 128", what,
          (long long)start[0], elementTypeName(map.elementType));
  if (start[0] * int64_t(bits) % 128) // measured on an H200, loads and stores, any swizzle
    fault(FaultKind::Alignment,
          "%s with innermost coordinate %lld of elements of %u bits (%s) begins %.1f bytes into a "
          "row; expected innermost coordinate times element size to be a multiple of 16 bytes (the "
          "hardware stops with an illegal instruction)",
          what, (long long)start[0], bits, elementTypeName(map.elementType),
          double(start[0]) * bits / 8);
  // A pattern wider than the rows: how rows follow each other then is not documented.
  uint32_t span = map.swizzle == 1 ? 32 : map.swizzle == 2 ? 64 : map.swizzle == 3 ? 128 : 0;
  if (span && rowShared != span && numRows > 1)
    fault(FaultKind::Unsupported,
          "%s: rows of %u bytes with a swizzle of %u bytes are not executed here; make the box as "
          "wide as the swizzle",
          what, rowShared, span);
  findMemory(machine, what, store);
}

void TensorTile::findMemory(Machine &machine, const char *what, bool store) {
  int64_t low0 = 0, high0 = 0;
  if (!inside(start[0], 1, map.box[0], map.sizes[0], low0, high0))
    return;
  int64_t low = 0, high = 0;
  if (gathers) {
    bool any = false;
    for (int64_t row : gathered) {
      if (row < 0 || row >= int64_t(map.sizes[1]))
        continue;
      int64_t offset = row * int64_t(map.strides[0]);
      low = any ? std::min(low, offset) : offset;
      high = any ? std::max(high, offset) : offset;
      any = true;
    }
    if (!any)
      return;
  } else {
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t a = 0, b = 0;
      if (!inside(start[i], map.elementStrides[i], counts[i], map.sizes[i], a, b))
        return;
      low += a * int64_t(map.strides[i - 1]);
      high += b * int64_t(map.strides[i - 1]);
    }
  }
  first = uint32_t(low0 - start[0]);
  last = uint32_t(high0 - start[0]) + 1;
  lowest = low + low0 * bits / 8;
  highest = high + ((high0 + 1) * bits + 7) / 8;
  memory = resolveGlobal(machine, map.address + uint64_t(lowest), uint64_t(highest - lowest), 1,
                         store, what);
  while (
      store && behind < 15 &&
      machine.global->find(map.address + uint64_t(lowest), uint64_t(highest - lowest) + behind + 1))
    ++behind;
}

bool TensorTile::rowStart(uint32_t row, int64_t &offset) const {
  if (!memory)
    return false;
  offset = start[0] * bits / 8 - lowest;
  if (gathers) {
    if (gathered[row] < 0 || gathered[row] >= int64_t(map.sizes[1]))
      return false;
    offset += gathered[row] * int64_t(map.strides[0]);
    return true;
  }
  for (unsigned i = 1; i < map.rank; ++i) {
    int64_t coordinate = start[i] + int64_t(row % counts[i]) * map.elementStrides[i];
    row /= counts[i];
    if (coordinate < 0 || coordinate >= int64_t(map.sizes[i]))
      return false;
    offset += coordinate * int64_t(map.strides[i - 1]);
  }
  return true;
}

std::pair<uint64_t, uint32_t> TensorTile::rowBytesAt(uint32_t row) const {
  int64_t offset = 0;
  if (!rowStart(row, offset))
    return {0, 0};
  uint32_t begin = first * bits / 8, end = (last * bits + 7) / 8;
  return {map.address + uint64_t(lowest + offset) + begin, end - begin};
}

void TensorTile::load(uint32_t row, uint8_t *to) const {
  uint32_t packed = rowShared / 16 * chunkBytes;
  uint8_t scratch[maxRowBytes];
  uint8_t *data = chunkBytes == 16 ? to : scratch;
  int64_t offset = 0;
  bool there = rowStart(row, offset);
  uint32_t begin = first * bits / 8, end = (last * bits + 7) / 8;
  if (!there || begin > 0 || end < packed)
    fill(data, packed, map.fillNan);
  if (there)
    memcpy(data + begin, memory + offset + begin, end - begin);
  if (chunkBytes == 16)
    return;
  memset(to, 0xff, rowShared); // the padding is not initialised
  for (uint32_t i = 0; i < rowShared / 16; ++i)
    memcpy(to + size_t(i) * 16, scratch + size_t(i) * chunkBytes, chunkBytes);
}

void TensorTile::store(uint32_t row, const uint8_t *from) const {
  int64_t offset = 0;
  if (!rowStart(row, offset))
    return;
  uint8_t packed[maxRowBytes];
  uint32_t bytes = rowShared;
  if (map.elementType == elementB6x16P32) { // b6p2x16: the low six bits of each byte
    bytes = rowShared * 6 / 8;
    memset(packed, 0, bytes);
    for (uint32_t i = 0; i < rowShared; ++i)
      for (uint32_t b = 0; b < 6; ++b)
        packed[(i * 6 + b) / 8] |= uint8_t((from[i] >> b & 1) << ((i * 6 + b) % 8));
    from = packed;
  }
  uint32_t begin = first * bits / 8, end = (last * bits + 7) / 8;
  // Measured: a row that ends inside a chunk of 16 bytes takes the rest of the chunk along.
  uint64_t address = map.address + uint64_t(lowest + offset) + end;
  uint64_t more = std::min<uint64_t>((16 - address % 16) % 16, bytes - end);
  if (offset + int64_t(end) + lowest == highest)
    more = std::min(more, behind);
  memcpy(memory + offset + begin, from + begin, size_t(end - begin + more));
}

void TensorTile::reduce(uint32_t row, const uint8_t *from, Reduction op, ReduceType type) const {
  int64_t offset = 0;
  if (!rowStart(row, offset))
    return;
  uint32_t begin = first * bits / 8;
  emu::reduce(op, type, memory + offset + begin, from + begin, last - first);
}

} // namespace ts::emu
