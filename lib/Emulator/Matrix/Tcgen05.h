// What the files of the tcgen05 family share: addresses in tensor memory and whether they are
// allocated, CTA pairs, and which operations of a warp order each other. Source: PTX ISA,
// "TensorCore 5th Generation Family Instructions". SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_MATRIX_TCGEN05_H
#define TS_EMULATOR_MATRIX_TCGEN05_H

#include "../Core/Decode.h"
#include "../Core/Engine.h"
#include "Descriptors.h"

namespace ts::emu::tcgen05 {

/// A 32-bit address: lane above, column below. Columns are 32 bits wide.
struct TmemAddress {
  unsigned lane = 0, column = 0;
};
inline TmemAddress tmemAddress(uint64_t address) {
  return {unsigned(address >> 16 & 0xffff), unsigned(address & 0xffff)};
}

/// Takes the first 1 or 2 of `.cta_group::1` and `.cta_group::2`; refuses if neither comes.
unsigned takeGroup(Decode &d);

/// TensorMemory fault unless the columns lie in live allocations of `cta`, made by tcgen05.alloc
/// with the same cta_group (0: with any).
void checkColumns(const Cta &cta, unsigned column, unsigned columns, unsigned group,
                  const char *what);

/// The layout a shared-memory descriptor describes. PTX ISA wants the constant 1 in its bits 46 to
/// 48; programs of Triton have 0 there and work, so that is taken, too.
SmemLayout sharedLayout(uint64_t descriptor);

/// The CTAs an operation of the group works on, the one with the even rank first.
std::vector<Cta *> ctasOfGroup(Exec &x, unsigned group, const char *what);

/// The value of an operand that has to be the same in all active lanes; Divergence fault if not.
uint64_t uniform(Exec &x, const Src &src, const char *what);
uint64_t uniform(Exec &x, const AddressOperand &address, const char *what);

/// The operations that one warp issues to mma, cp, shift and commit are ordered by pairs (PTX ISA,
/// "Pipelined tcgen05 instructions"): what an mma reads as A, metadata and from shared memory is
/// ordered before what a later mma writes as D and a later cp or shift writes; cp and shift are
/// ordered before the A and metadata of a later mma; D is ordered with D. Not ordered: D of an mma
/// with A of a later one. Each role is an agent for the checker.
enum class Role : unsigned { Operands, Accumulator, Fill };
class Pipeline {
public:
  explicit Pipeline(Exec &x);
  /// What an access of that role knows when it is issued now: the warp's clock, and those before it
  /// in the pipeline.
  Clock known(Role role) const;
  Event newEvent(Role role) const;
  /// What a commit publishes: everything that has been issued so far, and what the thread has
  /// acquired.
  Clock published() const;
  /// After the accesses of an operation were told: its completion implies what its issuer knew.
  void issued() const;
  static ChannelKey channel(const Warp &warp) { return {EngineKind::Tcgen05, warp.agent, 0}; }

private:
  Event last(Role role) const;
  Exec &x;
  AgentId agents[3];
};

void registerAllocation(DecoderTable &table); // alloc, dealloc, relinquish_alloc_permit
void registerCommit(DecoderTable &table);     // commit, fence
void registerMma(DecoderTable &table);
void registerTransfer(DecoderTable &table); // ld, st, wait
void registerCopy(DecoderTable &table);     // cp, shift

} // namespace ts::emu::tcgen05

#endif // TS_EMULATOR_MATRIX_TCGEN05_H
