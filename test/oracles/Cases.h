// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small programs whose verdict was known before the explorer existed: the counter-examples of the
// prototype (c1 to c20) and one per kind of fault, pipeline type and cluster shape.
#ifndef TS_TEST_ORACLES_CASES_H
#define TS_TEST_ORACLES_CASES_H

#include "Maker.h"

namespace ts::oracle {

struct Case {
  std::string name;
  std::string expected; ///< Verdict::summary()
  std::function<Program()> program;
  /// Absent where the case is written below the level of schedules.
  std::optional<Sample> sample;
};

std::vector<Case> knownCases();
/// Those of groups, hand-written mbarriers, named and cluster barriers; among knownCases().
std::vector<Case> featureCases();

/// The producer and consumer of one ring in tasks of their own, N iterations of "n".
Sample simpleRing(protocol::PipelineType type, int64_t stages, int64_t trips, int64_t cluster = 1);

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_CASES_H
