// Pieces of the HTML page. Internal to the reports.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_LIB_ANALYSIS_REPORTS_HTMLPARTS_H
#define TS_LIB_ANALYSIS_REPORTS_HTMLPARTS_H

#include "ts/Analysis/Reports/Input.h"
#include "ts/Analysis/Reports/SteadyState.h"

namespace ts::reports::html {

std::string escape(std::string_view text);

std::string schedule(const KernelInput &input);
std::string timeline(const KernelInput &input);
std::string resources(const KernelInput &input);
std::string memory(const KernelInput &input);
std::string stageRates(const KernelInput &input, const SteadyState &model);
std::string gantt(const SteadyState &model);
std::string diagnostics(const Input &input);

} // namespace ts::reports::html

#endif // TS_LIB_ANALYSIS_REPORTS_HTMLPARTS_H
