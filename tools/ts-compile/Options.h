// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of ts-compile, read and checked for contradictions. Nothing is opened here.
#ifndef TS_TOOLS_TS_COMPILE_OPTIONS_H
#define TS_TOOLS_TS_COMPILE_OPTIONS_H

#include "ts/Driver/Compiler.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace ts_compile {

using mlir::ts::driver::Emit;
using mlir::ts::driver::ReportForm;
using mlir::ts::driver::Status;
using mlir::ts::driver::Verify;

llvm::StringRef emitName(Emit emit);

struct Options {
  std::string input = "-", output = "-";
  Emit emit = Emit::PTX;
  std::string arch;  ///< empty: the module's ts.chip
  std::string ptxas; ///< empty: searched
  Verify verify = Verify::Error;
  ReportForm report = ReportForm::None;
  std::string reportFile = "-";
  bool fillBodies = false; ///< give declared work bodies before lowering
  bool verifyOnly = false, lineInfo = true, timing = false;
  bool listChecks = false;
  std::string explain; ///< id or name of a check
};

/// Parses the command line; prints and returns the status to exit with where that ends the run.
std::optional<Status> parseOptions(int argc, char **argv, Options &options);

} // namespace ts_compile

#endif // TS_TOOLS_TS_COMPILE_OPTIONS_H
