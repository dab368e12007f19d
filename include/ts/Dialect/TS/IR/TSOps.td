// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole dialect, for TableGen.
#ifndef TS_OPS_TD
#define TS_OPS_TD
include "ts/Dialect/TS/IR/TSStructureOps.td"
include "ts/Dialect/TS/IR/TSScheduleOps.td"
include "ts/Dialect/TS/IR/TSWorkOps.td"
#endif
