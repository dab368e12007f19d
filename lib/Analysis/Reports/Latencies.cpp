// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of the table; docs/reports.md says where the numbers come from.
#include "ts/Analysis/Reports/Latencies.h"

namespace ts::reports {

// Tensor core rates: published dense bf16 FLOP/s / SMs / clock / 2, times the 2 bytes of an
// operand. The other formats have the same product of rate and width.
static constexpr Latencies table[] = {
    {.chip = "sm_90a",
     .issue = 8,
     .arrive = 24,
     .tmaLatency = 650,
     .tmaStore = 450,
     .tmaBytes = 64,
     .cpAsyncLatency = 550,
     .matrixRate = 4096,
     .matrixLatency = 40,
     .smemBytes = 128,
     .tmemLatency = 0,
     .tmemColumns = 1,
     .clcLatency = 0,
     .work = 64},
    {.chip = "sm_120a",
     .issue = 8,
     .arrive = 24,
     .tmaLatency = 700,
     .tmaStore = 500,
     .tmaBytes = 64,
     .cpAsyncLatency = 600,
     .matrixRate = 512,
     .matrixLatency = 36,
     .smemBytes = 128,
     .tmemLatency = 0,
     .tmemColumns = 1,
     .clcLatency = 500,
     .work = 64},
    {.chip = "sm_100a",
     .issue = 8,
     .arrive = 24,
     .tmaLatency = 700,
     .tmaStore = 500,
     .tmaBytes = 64,
     .cpAsyncLatency = 600,
     .matrixRate = 8192,
     .matrixLatency = 60,
     .smemBytes = 128,
     .tmemLatency = 40,
     .tmemColumns = 1,
     .clcLatency = 500,
     .work = 64},
};

const Latencies &latenciesOf(std::string_view chip) {
  for (const Latencies &row : table)
    if (row.chip == chip)
      return row;
  // sm_100f and sm_103a have the units of sm_100a.
  return table[2];
}

} // namespace ts::reports
