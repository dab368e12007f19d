// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ts-compile prints besides its output: diagnostics gathered for programs, resource usage of
// the kernels, and the time of each phase.
#ifndef TS_TOOLS_TS_COMPILE_REPORT_H
#define TS_TOOLS_TS_COMPILE_REPORT_H

#include "Options.h"
#include "mlir/IR/Diagnostics.h"
#include "ts/Target/PTX/Ptxas.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <vector>

namespace ts_compile {

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

/// Sees every diagnostic on its way to the printer: for the exit status and the JSON report.
class DiagnosticLog {
public:
  explicit DiagnosticLog(mlir::MLIRContext &context);
  ~DiagnosticLog();

  /// The status that the diagnostics so far ask for.
  Status status() const { return worst; }
  const llvm::json::Array &entries() const { return diagnostics; }

private:
  void see(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID handler;
  Status worst = Status::Ok;
  llvm::json::Array diagnostics;
};

/// One line per kernel.
void printUsage(llvm::raw_ostream &out, const mlir::ts::PtxasResult &result, llvm::StringRef chip);

/// The JSON report: verdict, diagnostics, and the kernels' usage if ptxas ran.
llvm::json::Value jsonReport(Status status, llvm::StringRef chip, const DiagnosticLog &log,
                             const mlir::ts::PtxasResult *usage);

} // namespace ts_compile

#endif // TS_TOOLS_TS_COMPILE_REPORT_H
