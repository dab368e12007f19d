// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "ts/Target/PTX/CrashGuard.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include <mutex>

using namespace llvm;

static void onFatalError(void *data, const char *reason, bool) {
  *static_cast<std::string *>(data) = reason;
  // Returning would end the process; jump out of the guarded function instead.
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent())
    context->HandleExit(1);
}

std::optional<std::string> mlir::ts::runGuarded(function_ref<void()> fn) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::string message;
  CrashRecoveryContext::Enable();
  bool completed;
  {
    ScopedFatalErrorHandler handler(onFatalError, &message);
    CrashRecoveryContext context;
    completed = context.RunSafely(fn);
  }
  CrashRecoveryContext::Disable();
  if (completed)
    return std::nullopt;
  return message.empty() ? std::string("LLVM crashed without a message") : message;
}
