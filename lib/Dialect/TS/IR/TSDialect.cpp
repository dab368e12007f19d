// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the dialect and the small helpers of TS.h. Parsing and verification of
// attributes, types and ops are in the files named after them.
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;

#include "ts/Dialect/TS/IR/TSDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ts/Dialect/TS/IR/TSOps.cpp.inc"

void TSDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ts/Dialect/TS/IR/TSOps.cpp.inc"
      >();
  registerAttributes();
  registerTypes();
}

LogicalResult TSDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  if (attr.getName() == kChipAttr && !isa<StringAttr>(attr.getValue()))
    return op->emitOpError("attribute '")
           << kChipAttr << "' names the target chip: expected a string such as \"sm_100a\", found "
           << attr.getValue();
  return success();
}

unsigned mlir::ts::getSwizzle(MemRefType type) {
  auto space = dyn_cast_or_null<SmemSpaceAttr>(type.getMemorySpace());
  return space ? space.getSwizzle() : 0;
}

bool mlir::ts::isPadded(MemRefType type) {
  auto space = dyn_cast_or_null<SmemSpaceAttr>(type.getMemorySpace());
  return space && space.getPadded();
}

int64_t mlir::ts::getStoredBits(MemRefType type) {
  if (isPadded(type))
    return 8;
  return type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 64;
}

bool mlir::ts::isSmem(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && isa_and_nonnull<SmemSpaceAttr>(memref.getMemorySpace());
}

bool mlir::ts::isTmem(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && isa_and_nonnull<TmemSpaceAttr>(memref.getMemorySpace());
}

int64_t mlir::ts::getBytes(MemRefType type) {
  // A hostile shape must not wrap around: saturate well above any capacity.
  constexpr int64_t kHuge = int64_t(1) << 48;
  int64_t bits = getStoredBits(type);
  for (int64_t dim : type.getShape()) {
    if (dim <= 0)
      return 0;
    if (dim > kHuge / bits)
      return kHuge;
    bits *= dim;
  }
  return (bits + 7) / 8;
}

StringRef mlir::ts::getResourceName(Value resource) {
  Operation *def = resource.getDefiningOp();
  if (!def)
    return "";
  if (auto name = def->getAttrOfType<StringAttr>("name"))
    return name.getValue();
  return "";
}
