// How a step of the machine says that the program is wrong: it throws, the machine catches it at
// the warp or engine it was moving, adds place and history, and ends the launch. Exceptions stay
// inside the library. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_FAULT_H
#define TS_EMULATOR_CORE_FAULT_H

#include "ts/Emulator/Report.h"

#include <optional>

namespace ts::emu {

struct FaultException {
  FaultKind kind;
  std::string message;
  std::vector<Note> notes;
  std::optional<Site> site; // where it is, if not where the machine is
};

/// printf-like; the message names what is wrong, what was expected, and how to mend it.
[[noreturn]] void fault(FaultKind kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
[[noreturn]] void faultWith(FaultKind kind, std::vector<Note> notes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
std::string format(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_FAULT_H
