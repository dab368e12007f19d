// The prover of layer 3: decides over all interleavings, all completion orders and all trip counts
// whether a schedule deadlocks, races, overruns a barrier, loses bytes or exits too early. The
// algorithm is described in docs (VERIFICATION): one canonical run with knowledge bits, repeated
// over normalised states. It trusts nothing that layers 1 and 2 check, but gives better messages
// after them. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_PROVER_PROVER_H
#define TS_ANALYSIS_PROVER_PROVER_H

#include "ts/Analysis/Prover/Verdict.h"
#include "ts/Analysis/Schedule/Model.h"

#include <atomic>

namespace ts::prover {

/// Where an allocation lies: bytes of shared memory or columns of tensor memory.
struct Placed {
  int64_t offset = -1; ///< of stage 0; -1: no place known, it overlaps nothing but itself
  int64_t stride = 0;  ///< from stage to stage
};

/// One entry per schedule::Kernel::allocations; may be shorter.
struct Placement {
  std::vector<Placed> allocations;
};

struct Options {
  size_t maxStates = 20000;    ///< normalised states before the search is cut
  size_t maxSteps = 10000000;  ///< executed instructions before the search is cut
  int64_t maxBound = 12;       ///< trip counts of the exhaustive search behind the general one
  bool findSafeMinimum = true; ///< look for the smallest declared minimum that helps
  bool witness = true;         ///< record the steps of a refutation
  /// Raises the smallest value of a symbol, as a declared minimum would.
  std::vector<std::pair<std::string, int64_t>> minima;
  /// Set by another thread, and never cleared: give up soon; the verdict then says nothing.
  const std::atomic<bool> *cancelled = nullptr;
};

Verdict prove(const schedule::Kernel &kernel, const Placement &placement,
              const Options &options = {});

} // namespace ts::prover

#endif // TS_ANALYSIS_PROVER_PROVER_H
