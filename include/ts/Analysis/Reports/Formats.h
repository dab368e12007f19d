// The reports for programs and browsers. Schemas stand in docs/reports.md and report.schema.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_REPORTS_FORMATS_H
#define TS_ANALYSIS_REPORTS_FORMATS_H

#include "ts/Analysis/Reports/Input.h"
#include "ts/Analysis/Reports/SteadyState.h"

namespace ts::reports {

/// Everything computed once per kernel, in the order of Input::kernels.
using Models = std::vector<SteadyState>;

std::string formatJson(const Input &input, const Models &models);
/// SARIF 2.1.0: all diagnostics, and refutations that no diagnostic tells.
std::string formatSarif(const Input &input);
/// Trace event JSON for ui.perfetto.dev: the witness of a refuted kernel, else the modelled run.
/// One cycle or one step is shown as a microsecond.
std::string formatPerfetto(const Input &input, const Models &models);
/// One page without outside references.
std::string formatHtml(const Input &input, const Models &models);

} // namespace ts::reports

#endif // TS_ANALYSIS_REPORTS_FORMATS_H
