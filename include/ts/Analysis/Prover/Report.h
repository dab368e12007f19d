// Verdicts as text: the line of a proof and the step table of a witness. Diagnostics with places in
// the source are the pass's business (ts-prove).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_PROVER_REPORT_H
#define TS_ANALYSIS_PROVER_REPORT_H

#include "ts/Analysis/Prover/Verdict.h"

namespace ts::prover {

/// "proven for every tiles_k: no deadlock, no race, no overrun, clean exit".
std::string summary(const Verdict &verdict);

/// The witness with one column per agent that takes part, blocked steps marked "*". Long runs keep
/// their beginning and their end. Ends with a newline; empty without steps.
std::string stepTable(const Verdict &verdict, size_t maxRows = 16, size_t maxColumns = 6);

} // namespace ts::prover

#endif // TS_ANALYSIS_PROVER_REPORT_H
