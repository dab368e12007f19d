// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compilation of one file, from reading to writing.
#ifndef TS_TOOLS_TS_COMPILE_COMPILE_H
#define TS_TOOLS_TS_COMPILE_COMPILE_H

#include "Options.h"

namespace ts_compile {

/// Runs the compilation; prints diagnostics and reports. `program` is argv[0].
Status compile(const Options &options, const char *program);

} // namespace ts_compile

#endif // TS_TOOLS_TS_COMPILE_COMPILE_H
