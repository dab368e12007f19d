// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compilation tells besides its output: diagnostics gathered for programs, what the kernels
// are and what was proven of them, and the time of each phase. Used by ts-compile and Python.
#ifndef TS_DRIVER_REPORT_H
#define TS_DRIVER_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "ts/Analysis/Reports/Input.h"
#include "ts/Target/PTX/Ptxas.h"
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace mlir::ts::driver {

/// How a compilation ended; the exit statuses of ts-compile.
enum class Status {
  Ok = 0,          ///< compiled, or verified
  Error = 1,       ///< wrong input, command line, structure or protocol
  Refuted = 2,     ///< the prover has a counter-example
  Undecided = 3,   ///< proven up to a bound only, or unknown
  Environment = 4, ///< a file or a program is missing
};

enum class ReportForm { None, Text, JSON, Perfetto, SARIF, HTML, Table };

/// Times phases one after the other; a phase may come again and adds up.
class PhaseTimer {
public:
  /// Ends the running phase and starts another (or goes on with the same).
  void start(llvm::StringRef phase);
  void stop();
  /// A table of milliseconds and shares.
  void print(llvm::raw_ostream &out);

private:
  using Clock = std::chrono::steady_clock;
  struct Phase {
    std::string name;
    double milliseconds;
  };
  std::vector<Phase> phases;
  std::string running;
  Clock::time_point since;
};

/// Sees every diagnostic on its way to the printer: for the exit status and the reports.
class DiagnosticLog {
public:
  explicit DiagnosticLog(mlir::MLIRContext &context);
  ~DiagnosticLog();

  /// The status that the diagnostics so far ask for.
  Status status() const { return worst; }
  const std::vector<::ts::reports::Diagnostic> &entries() const { return diagnostics; }

private:
  void see(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID handler;
  Status worst = Status::Ok;
  std::vector<::ts::reports::Diagnostic> diagnostics;
};

/// One line per kernel of what ptxas says.
void printUsage(llvm::raw_ostream &out, const PtxasResult &result, llvm::StringRef chip);

/// Everything the reports say of the module's kernels while they are still in ts.
std::vector<::ts::reports::KernelInput> collectKernels(mlir::ModuleOp module);

/// Proves the kernels, for the reports and the status; a verdict that no diagnostic has told yet
/// becomes one. Once `cancelled` is set nothing more is said.
void judgeKernels(mlir::ModuleOp module, std::vector<::ts::reports::KernelInput> &kernels,
                  const DiagnosticLog &log, bool asErrors,
                  const std::atomic<bool> *cancelled = nullptr);

/// The status that the verdicts ask for.
Status statusOf(const std::vector<::ts::reports::KernelInput> &kernels);

/// The verdict and the size of each kernel, a few lines.
std::string summaryOf(const std::vector<::ts::reports::KernelInput> &kernels);

/// Adds what ptxas says; a kernel that was written below ts gets an entry of its own.
void addUsage(std::vector<::ts::reports::KernelInput> &kernels, const PtxasResult &usage);

/// A report of the form that was asked for, as text. `source` names the input in it.
std::string renderReport(ReportForm form, llvm::StringRef source, Status status,
                         llvm::StringRef chip, std::vector<::ts::reports::KernelInput> kernels,
                         const std::vector<::ts::reports::Diagnostic> &diagnostics);

} // namespace mlir::ts::driver

#endif // TS_DRIVER_REPORT_H
