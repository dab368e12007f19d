// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a schedule and one choice of everything that a launch decides to the explorer's
// straight-line program. The meaning of the pipeline operations is written down here once more,
// from PROTOCOL.md alone: neither the action table of ts::protocol nor the prover is asked.
#ifndef TS_TEST_ORACLES_UNROLL_H
#define TS_TEST_ORACLES_UNROLL_H

#include "Program.h"
#include "ts/Analysis/Schedule/Model.h"

#include <map>

namespace ts::oracle {

/// Concrete values of what a kernel leaves open. A list that is shorter than the number of tiles
/// repeats its last entry.
struct Choice {
  std::map<std::string, int64_t> args;                 ///< Bound::Kind::Argument
  std::map<std::string, std::vector<int64_t>> perTile; ///< Bound::Kind::PerTile
  std::map<std::string, std::vector<bool>> conditions; ///< by key; true where not listed
  std::vector<bool> skipped;                           ///< tiles that the queue skips
  int64_t tiles = 1;                                   ///< iterations of every tile loop
  bool drain = true; ///< producers wait for their last slots at the end, where PROTOCOL.md says so

  std::string str() const;
};

/// Where an allocation lies: bytes of shared memory, or columns. -1: nothing else lies there.
struct Place {
  int64_t offset = -1;
  int64_t stride = 0; ///< from stage to stage
};

/// `places` has one entry per allocation.
Program unroll(const schedule::Kernel &kernel, const std::vector<Place> &places,
               const Choice &choice);

/// Fills in the arrival counts that the kernel leaves out, from the arrivals that the first
/// generation of a stage gets under `choice`.
void inferCounts(schedule::Kernel &kernel, const Choice &choice);

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_UNROLL_H
