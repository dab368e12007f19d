// Layer 2 checks 15 to 23 on declared pipelines: compares what a program declares with what the
// protocol says. Findings carry no location and no "[TS...]" prefix; the MLIR client adds both.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_PROTOCOL_VALIDATE_H
#define TS_ANALYSIS_PROTOCOL_VALIDATE_H

#include "ts/Analysis/Protocol/Counts.h"

namespace ts::protocol {

struct Finding {
  int check = 0;          ///< 215..223
  std::string resource;   ///< resource or group the finding is about
  std::string task;       ///< task at fault, if one is
  std::string message;    ///< one line: what is wrong, found and expected
  std::string expected;   ///< the right value alone, if there is one
  std::string derivation; ///< how the expected value comes about
  std::string hint;       ///< how to fix it
};

/// Checks 15, 16, 17, 18, 19, 20 and 21 for one pipeline. A side that no task executes is not
/// counted (the structure checks report it).
std::vector<Finding> validate(const PipelineSpec &spec, const ClusterSpec &cluster,
                              const Participants &by);

/// Check 23 and the counts of members and shared barriers. Also runs the member checks.
std::vector<Finding> validate(const GroupSpec &group, const ClusterSpec &cluster);

/// Check 22: every pipeline of a kernel sees the same cluster.
std::vector<Finding> checkClusterLayouts(const std::vector<PipelineSpec> &pipelines,
                                         const ClusterSpec &cluster);

} // namespace ts::protocol

#endif // TS_ANALYSIS_PROTOCOL_VALIDATE_H
