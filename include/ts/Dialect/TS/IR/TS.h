// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `ts` dialect: types, attributes and ops. What a pipeline type means is not here but in
// ts/Analysis/Protocol; what a whole schedule means is in ts/Analysis/Schedule.
#ifndef TS_DIALECT_TS_IR_TS_H
#define TS_DIALECT_TS_IR_TS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <array>
#include <optional>

#include "ts/Dialect/TS/IR/TSDialect.h.inc"
#include "ts/Dialect/TS/IR/TSEnums.h.inc"

namespace mlir::ts {
/// Orders every protocol step and asynchronous access; see TS_Ordered in TSDialect.td.
struct ScheduleOrder : public SideEffects::Resource::Base<ScheduleOrder> {
  StringRef getName() final { return "ts.schedule_order"; }
};

/// Issued by one elected thread.
template <typename ConcreteType>
class SingleThread : public OpTrait::TraitBase<ConcreteType, SingleThread> {};
/// Needs the threads of the warp (or warpgroup) converged.
template <typename ConcreteType>
class WarpCollective : public OpTrait::TraitBase<ConcreteType, WarpCollective> {};

/// Name of the attribute that holds the target chip, on the gpu.module or the ts.kernel.
inline constexpr llvm::StringLiteral kChipAttr = "ts.chip";
} // namespace mlir::ts

#define GET_ATTRDEF_CLASSES
#include "ts/Dialect/TS/IR/TSAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ts/Dialect/TS/IR/TSTypes.h.inc"
#define GET_OP_CLASSES
#include "ts/Dialect/TS/IR/TSOps.h.inc"

namespace mlir::ts {
/// Swizzle span in bytes of a stage view, 0 when unswizzled or not in shared memory.
unsigned getSwizzle(MemRefType type);
bool isSmem(Type type);
bool isTmem(Type type);
/// Elements of less than a byte lie 16 to 16 bytes (see #ts.smem).
bool isPadded(MemRefType type);
/// Bits that one element takes up in memory: its width, or 8 where it is padded.
int64_t getStoredBits(MemRefType type);
/// Bytes of one memref as stored in shared memory; sub-byte types count as packed unless padded.
int64_t getBytes(MemRefType type);
/// Name of the resource-defining op behind a resource value ("" when it is a block argument).
StringRef getResourceName(Value resource);
} // namespace mlir::ts

#endif
