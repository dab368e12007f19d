// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns LLVM's ways of ending the process (fatal errors such as "Cannot select", aborts, memory
// faults) into an error message. Only for the translation and the backend, whose input may be
// beyond what they can express; the rest of the code base reports errors instead of guarding.
#ifndef TS_TARGET_PTX_CRASHGUARD_H
#define TS_TARGET_PTX_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace mlir::ts {

/// Runs `fn`. Returns nothing if it came back, else LLVM's message, or a sentence for a crash
/// without one. What `fn` was working on is then in an unknown state: leak it, do not destroy it.
/// Calls from several threads run one after the other (LLVM's handler is one per process).
std::optional<std::string> runGuarded(llvm::function_ref<void()> fn);

} // namespace mlir::ts

#endif // TS_TARGET_PTX_CRASHGUARD_H
