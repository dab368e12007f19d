// Shared by the two validation files: how a declared count is compared and a finding is worded.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_LIB_ANALYSIS_PROTOCOL_VALIDATEIMPL_H
#define TS_LIB_ANALYSIS_PROTOCOL_VALIDATEIMPL_H

#include "ts/Analysis/Protocol/Validate.h"

namespace ts::protocol {

inline std::string quote(const std::string &text) { return "'" + text + "'"; }

/// Checks 15 to 17 against given expectations (a group member has other ones than a lone pipeline).
void compareCounts(const PipelineSpec &spec, const ExpectedCounts &counts,
                   std::vector<Finding> &findings);

/// The rest of one pipeline's checks: 18 to 21.
void checkRouting(const PipelineSpec &spec, const ClusterSpec &cluster, const Participants &by,
                  std::vector<Finding> &findings);
void checkSignalling(const PipelineSpec &spec, const Participants &by,
                     std::vector<Finding> &findings);
void checkInterleave(const PipelineSpec &spec, const ClusterSpec &cluster, const Participants &by,
                     std::vector<Finding> &findings);
/// Whether the declared engines can be tracked by this type's arrivals at all (check 15).
void checkEngines(const PipelineSpec &spec, std::vector<Finding> &findings);

} // namespace ts::protocol

#endif // TS_LIB_ANALYSIS_PROTOCOL_VALIDATEIMPL_H
