// The reports as text for a terminal.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_REPORTS_TEXT_H
#define TS_ANALYSIS_REPORTS_TEXT_H

#include "ts/Analysis/Reports/Input.h"
#include "ts/Analysis/Reports/SteadyState.h"

namespace ts::reports {

//--- Verdict ------------------------------------------------------------------------------------

/// "proven", "proven_up_to", "refuted", "unknown" or "not_run", as in the JSON.
std::string_view verdictWord(const std::optional<prover::Verdict> &verdict);
/// "TS301".
std::string faultTag(prover::FaultKind kind);
/// One line: "gemm: proven for every tiles_k: no deadlock, ...   (3.1 ms)".
std::string verdictLine(const KernelInput &input);
/// Way out of a refutation, without "help: "; empty if there is none.
std::string helpLine(const prover::Fault &fault);

/// verdictLine, then tasks, warps, registers and memory, then the model; ends with a newline.
std::string formatSummary(const KernelInput &input, const SteadyState *model = nullptr,
                          bool brief = false);

//--- Schedule table -----------------------------------------------------------------------------

/// A row: the phase that it belongs to and one cell for each task.
struct TableRow {
  std::string phase; ///< "head", "loop", "tail"; on the first row of a phase
  int depth = 0;     ///< loops around it
  bool opensLoop = false;
  std::vector<std::string> cells;
  std::vector<int> resources; ///< of each cell, -1 for none
};
struct ScheduleTable {
  std::vector<std::string> columns; ///< tasks
  std::vector<std::string> details; ///< "warp 5"
  std::vector<TableRow> rows;
};
ScheduleTable scheduleTable(const KernelInput &input);
std::string formatScheduleTable(const KernelInput &input);

//--- Resources ----------------------------------------------------------------------------------

std::string formatResourceMap(const KernelInput &input);

//--- Counter-example ----------------------------------------------------------------------------

struct Timeline {
  std::vector<std::string> columns;
  struct Row {
    std::string step; ///< number, or "..." where rows are left out
    std::vector<std::string> cells;
    bool blocked = false;
  };
  std::vector<Row> rows;
};
/// `limit`: most rows; those in the middle are left out. 0: all.
Timeline timelineOf(const prover::Verdict &verdict, size_t limit = 0);
/// The table, who waits for what, and the help line; empty without a counter-example.
std::string formatTimeline(const KernelInput &input, size_t limit = 24);

/// All of the above.
std::string formatText(const KernelInput &input, const SteadyState &model);

//--- Helpers ------------------------------------------------------------------------------------

/// Columns padded to their widest cell, two spaces between them, no blanks at the ends of lines.
std::string alignColumns(const std::vector<std::vector<std::string>> &rows,
                         const std::string &indent);
/// "132 KiB", "196.5 KiB", "96 bytes".
std::string formatBytes(int64_t bytes);
std::string formatPercent(double share);

} // namespace ts::reports

#endif // TS_ANALYSIS_REPORTS_TEXT_H
