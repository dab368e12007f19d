// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where engines work and report: which CTA's full barrier a TMA copy into one CTA completes on, and
// which CTA of a pair issues its products. How many bytes come per phase is Counts.h.
#ifndef TS_ANALYSIS_PROTOCOL_COMPLETION_H
#define TS_ANALYSIS_PROTOCOL_COMPLETION_H

#include "ts/Analysis/Protocol/Types.h"

namespace ts::protocol {

/// The pair's leader arms for both CTAs of an MMA pair; a leader-routed TmaAsync producer arms on
/// CTA 0.
inline int64_t completionCta(const PipelineSpec &spec, const CtaGrid &grid, int64_t cta) {
  if (spec.type == PipelineType::TmaUmma)
    return grid.pairLeader(cta);
  bool leader = (spec.producerSignal & SignalCtaLeader) && spec.type == PipelineType::TmaAsync;
  return leader ? 0 : cta;
}

/// The CTAs that issue matrix products: one of each MMA pair, for both.
inline CtaMask issuingCtas(const CtaGrid &grid) {
  CtaMask mask = 0;
  for (int64_t cta = 0; cta < grid.size(); ++cta)
    if (grid.pairLeader(cta) == cta)
      mask |= CtaMask(1) << cta;
  return mask;
}

} // namespace ts::protocol

#endif // TS_ANALYSIS_PROTOCOL_COMPLETION_H
