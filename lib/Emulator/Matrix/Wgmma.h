// What the wgmma instructions of a warpgroup share: the operations its four warps have issued
// together, which of them are in flight, and what that means for registers. Not the arithmetic
// (MatrixCore.h) and not the decoding (Wgmma.cpp).
//
// A wgmma is one operation of four warps. It may begin when all four have issued it, it completes
// as a whole, and a warp that waits for its group knows that all four are done with shared memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_MATRIX_WGMMA_H
#define TS_EMULATOR_MATRIX_WGMMA_H

#include "../Core/Engine.h"
#include "../Core/Exec.h"
#include "MatrixCore.h"

namespace ts::emu {

inline constexpr unsigned warpgroupWarps = 4, wgmmaRows = 64, wgmmaWarpRows = 16;

/// A decoded wgmma.mma_async.
struct WgmmaForm {
  unsigned n = 0, k = 0;
  Num a = Num::F16, b = Num::F16, d = Num::F32;
  bool oneBit = false; // b1; a and b say nothing
  bool saturate = false, negate = false;
  bool transposeA = false, transposeB = false;
  std::vector<uint32_t> dSlots, aSlots; // aSlots empty: A is described by descA
  Src descA, descB, scaleD;
  bool sparse = false; // half of A's elements are stored, metadata says which
  Src metadata;
  unsigned selector = 0; // lanes 2 * selector and 2 * selector + 1 of four give the metadata
  unsigned elementBits() const { return oneBit ? 32 : numBits(a); } // words of bits move as b32
  unsigned elementsK() const { return oneBit ? k / 32 : k; }        // of B
  unsigned storedK() const { return sparse ? k / 2 : elementsK(); } // of A
  bool integer() const { return d == Num::S32; }
};

/// One wgmma of a warpgroup, from its first issue to its last wait.
struct WgmmaRecord {
  const WgmmaForm *form = nullptr;
  const CodeEntry *code = nullptr;
  uint64_t descA = 0, descB = 0;
  bool accumulate = false;
  uint32_t issued = 0; // bit per warp of the group
  bool done = false;
  Event event;
  std::array<std::shared_ptr<Frame>, warpgroupWarps> frames;
  std::array<std::array<uint32_t, warpSize>, warpgroupWarps> metadata = {}; // of sparse forms
  using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;
  Ranges rangesB;
  std::array<Ranges, warpgroupWarps> rangesA; // the rows of each warp
  /// mov of registers that were in flight: carried out once this is done.
  struct Move {
    unsigned warp;
    uint32_t mask, from, to;
  };
  std::vector<Move> moves;
};

/// A warp's side of it.
struct WgmmaIssue {
  std::shared_ptr<WgmmaRecord> record;
  uint64_t group = 0;
  std::vector<uint32_t> slots; // registers that must not be touched
};
struct WgmmaWarp {
  uint64_t count = 0;  // wgmmas issued
  uint64_t groups = 0; // committed
  bool fenced = false; // there was a wgmma.fence
  std::deque<WgmmaIssue> pending;
  /// Registers as a completed wgmma left them, until the next wgmma.fence: a change shows that one
  /// is missing.
  const Frame *knownFrame = nullptr;
  std::unordered_map<uint32_t, std::array<uint64_t, warpSize>> known;
};
struct Warpgroup {
  std::deque<std::shared_ptr<WgmmaRecord>> records; // not yet issued by all four warps
  uint64_t first = 0;                               // number of the first of them
  std::array<WgmmaWarp, warpgroupWarps> warps;
};
struct WgmmaState {
  std::unordered_map<unsigned, Warpgroup> groups; // by warp index / 4
};

Warpgroup &warpgroupOf(const Exec &x, const char *what);
void wgmmaFence(Exec &x);
void wgmmaIssue(Exec &x, const WgmmaForm &form);
void wgmmaCommit(Exec &x);
/// False while more than `pending` groups are in flight.
bool wgmmaWait(Exec &x, uint64_t pending);

/// The product of a record: reads A, B and D, writes D of all four warps.
void wgmmaPerform(const WgmmaRecord &record, std::span<const uint8_t> shared);

} // namespace ts::emu

#endif // TS_EMULATOR_MATRIX_WGMMA_H
