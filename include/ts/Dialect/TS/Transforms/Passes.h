// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations of every pass of the project; defined in Passes.td.
#ifndef TS_DIALECT_TS_TRANSFORMS_PASSES_H
#define TS_DIALECT_TS_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {
#define GEN_PASS_DECL
#include "ts/Dialect/TS/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ts/Dialect/TS/Transforms/Passes.h.inc"

/// The registration TableGen names after the group `TSAll`, under a name that says what it covers.
inline void registerTSTransformsPasses() { registerTSAllPasses(); }
} // namespace mlir::ts

#endif
