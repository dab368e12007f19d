// Expected arrival counts and bytes of the barriers, with the sum that explains each. Counted by
// executing the action table for every task on every CTA, so that counts and lowering cannot
// differ. Comparing with what a program declares is Validate.h. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#ifndef TS_ANALYSIS_PROTOCOL_COUNTS_H
#define TS_ANALYSIS_PROTOCOL_COUNTS_H

#include "ts/Analysis/Protocol/Actions.h"

namespace ts::protocol {

constexpr int64_t maxPhaseCount = (int64_t(1) << 20) - 1; ///< arrivals and pending bytes of a phase

struct Expected {
  /// Per phase of one stage's barrier; empty when nobody is known to execute the arriving op.
  std::optional<int64_t> value;
  std::string derivation;      ///< "4 warps x 32 threads of 'store' = 128", or why it is unknown
  std::vector<int64_t> perCta; ///< by rank; 0 where the barrier is never used
  bool uniform = true;         ///< all used CTAs have the same value
  bool assumed = false;        ///< bytes taken from the stage's size, not from copies
  bool fromCopies = false;     ///< bytes added up over the copies that are really issued
};

struct ExpectedCounts {
  Expected fullArrivals, fullBytes, emptyArrivals;
  /// Other counts of the empty barrier that a program may declare (see ReleaseStyle, CommitMask).
  std::vector<Expected> emptyAlternatives;
};

Expected expectedArrivals(const PipelineSpec &spec, const ClusterSpec &cluster,
                          const Participants &by, Barrier barrier);
Expected expectedBytes(const PipelineSpec &spec, const ClusterSpec &cluster,
                       const Participants &by);
/// What the declared bytes of one warp of one CTA add up to; no value where none are declared.
Expected routedBytes(const PipelineSpec &spec, const ClusterSpec &cluster, const Participants &by);
ExpectedCounts expectedCounts(const PipelineSpec &spec, const ClusterSpec &cluster,
                              const Participants &by);

/// Sets releaseStyle and commitMask to what the declared consumer count asks for, and fills in
/// counts and bytes that the program leaves out and that are known.
PipelineSpec resolveDeclared(PipelineSpec spec, const ClusterSpec &cluster, const Participants &by);

/// Whether the members of a group have this barrier in common.
inline bool sharesBarrier(GroupMode mode, Barrier barrier) {
  return barrier == Barrier::Full ? mode != GroupMode::Merge : mode != GroupMode::Fork;
}

/// Group barriers. `members[i]` has what member i may declare; the shared barriers of the collapsed
/// side stand in `shared`: empty for Merge, full for Fork, both for FusedMerge.
struct GroupCounts {
  std::vector<ExpectedCounts> members;
  ExpectedCounts shared;
};
GroupCounts expectedCounts(const GroupSpec &group, const ClusterSpec &cluster);

/// Bytes that a phase of the shared full barriers is armed with: for a fork what a member declares,
/// since it declares it of the barrier that all share; else what is expected.
std::optional<int64_t> sharedBytes(const GroupSpec &group, const GroupCounts &counts);

/// The pipeline a group's own operations act on: the collapsed side's kind and arrival style are
/// the group's. What `actionFor` gets for an op whose resource is the group.
PipelineSpec groupPipeline(const GroupSpec &group, const ClusterSpec &cluster);

/// What an op written on member `index` does. The group's closing op arrives for all members, so a
/// member's own does nothing; a Fork group arms once, when the bracket's last member is acquired.
Action memberAction(const GroupSpec &group, const ClusterSpec &cluster, size_t index, Op op,
                    bool lastAcquire);

} // namespace ts::protocol

#endif // TS_ANALYSIS_PROTOCOL_COUNTS_H
