// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of ts-verify as functions over one kernel, for passes and embedders. They change
// nothing. The prover (TS3nn) is not here.
#ifndef TS_DIALECT_TS_TRANSFORMS_VERIFY_H
#define TS_DIALECT_TS_TRANSFORMS_VERIFY_H

#include "ts/Dialect/TS/IR/TS.h"
#include "ts/Support/Checks.h"

#include <string>

namespace mlir::ts {

/// `ts.waive = {TS105 = "reason"}` on an op waives a check for it and what it contains; the finding
/// then is a remark that names the reason.
inline constexpr llvm::StringLiteral kWaiveAttr = "ts.waive";

/// Turns findings into diagnostics of one severity and counts them.
class CheckReporter {
public:
  explicit CheckReporter(bool asErrors = true) : asErrors(asErrors) {}

  /// A diagnostic at `at` that starts with "[TS105] ". The caller adds text and notes.
  InFlightDiagnostic report(::ts::CheckId check, Operation *at);
  /// For findings whose text brings its own "[TS226] ".
  InFlightDiagnostic plain(Operation *at);
  /// For findings that only say that a check could not be finished: always a warning.
  InFlightDiagnostic incomplete(::ts::CheckId check, Operation *at);

  /// Whether something was reported as an error.
  bool failed() const { return errors != 0; }
  int64_t findings() const { return count; }
  int64_t waived() const { return waivedCount; }

private:
  bool asErrors;
  int64_t errors = 0, count = 0, waivedCount = 0;
};

/// Parses the `severity` option of the passes: "error" or "warn".
FailureOr<bool> parseSeverity(StringRef text, Operation *at);

/// What a checking pass does around its checks: `check` on each kernel of `module` with findings of
/// that severity. Fails where a finding is an error or `severity` is no word for one.
LogicalResult checkKernels(gpu::GPUModuleOp module, StringRef severity,
                           llvm::function_ref<void(KernelOp, CheckReporter &)> check);

/// Layer 1: TS101 to TS114.
void verifyStructure(KernelOp kernel, CheckReporter &reporter);

/// Layer 2: TS215 to TS233.
void verifyProtocol(KernelOp kernel, CheckReporter &reporter);

/// The nearest of `names` to a misspelled one, quoted for a message (" did you mean 'x'?"), or "".
std::string didYouMean(StringRef name, ArrayRef<StringRef> names);

} // namespace mlir::ts

#endif
