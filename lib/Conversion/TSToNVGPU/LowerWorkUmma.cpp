// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05: matrix products on tensor memory, its loads, stores and copies.
#include "LowerWork.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::ts;

static NVVM::CTAGroupKind getGroup(int64_t group) {
  return group == 2 ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
}

/// Pointer from an i32 address; an addrspacecast to tensor memory would abort the backend.
static Value getTmemPointer(WorkBuilder &b, Value address) {
  return b.pointer(address, kTmemSpace);
}

//===-- umma ---------------------------------------------------------------------------------===//

static Value addStart(WorkBuilder &b, Value address, uint64_t fields) {
  Value start = b.bitAnd(b.shiftRight(address, 4), 0x3fff);
  return b.bitOr(b.createOrFold<arith::ExtUIOp>(b.getI64Type(), start), b.i64(fields));
}

namespace {
/// One operand of a product, step by step.
struct Operand {
  bool tmem = false;
  OperandTile tile; // in shared memory
  Value descriptor; // in shared memory
  Value address;    // in tensor memory
  int64_t k = 0;

  Value at(WorkBuilder &b, int64_t step) const {
    // In tensor memory one instruction's K is 8 columns of 32 bits, whatever the type.
    if (tmem)
      return getTmemPointer(b, b.add(address, step * (kMmaKBits / kTmemColumnBits)));
    return b.add(descriptor, getStepOffset(tile, step, k) >> 4);
  }
};

/// How a block-scaled kind walks through its scales: one 32-bit column entry holds four scales of a
/// row; `perStep` of them belong to one instruction (PTX ISA 8.8, "Scale factor layouts").
struct ScaleSteps {
  int64_t perStep = 0;
  NVVM::MMABlockScaleKind kind;
  NVVM::Tcgen05MMABlockScale block;
};
} // namespace

static FailureOr<Operand> getOperand(WorkBuilder &b, Value view, bool mnMajor, int64_t k,
                                     StringRef kind) {
  auto type = cast<MemRefType>(view.getType());
  Operand operand;
  operand.k = k;
  int64_t bits = getStoredBits(type);
  if (kind.ends_with("f8f6f4") && bits < 8)
    return b.emitUnsupported()
           << "kind " << kind << " with operands of " << type.getElementType()
           << (isTmem(type) ? ": in tensor memory they take a byte each, which no view of packed "
                              "elements describes; keep A in shared memory"
                            : ": it reads them padded, expected #ts.smem<128, padded>; or multiply "
                              "two 4-bit operands with kind mxf4 or mxf4nvf4");
  if (isTmem(type)) {
    operand.tmem = true;
    FailureOr<Value> address = b.tmemAddress(view);
    if (failed(address))
      return failure();
    operand.address = *address;
    return operand;
  }
  std::optional<MatrixTile> tile = getMatrixTile(type);
  if (!tile)
    return b.emitUnsupported() << "the operand " << type << " is no matrix with static strides";
  operand.tile = OperandTile{*tile, getSwizzle(type), bits, mnMajor};
  FailureOr<Value> address = b.sharedAddress(view);
  if (failed(address))
    return failure();
  operand.descriptor = addStart(
      b, *address, encodeUmmaDescriptor(getDescriptorStrides(operand.tile), operand.tile.swizzle));
  return operand;
}

static ScaleSteps getScaleSteps(StringRef kind, Type scale) {
  int64_t perStep = getScalesPerStep(kind, scale);
  if (kind == "mxf8f6f4")
    return {perStep, NVVM::MMABlockScaleKind::MXF8F6F4, NVVM::Tcgen05MMABlockScale::BLOCK32};
  if (kind == "mxf4")
    return {perStep, NVVM::MMABlockScaleKind::MXF4, NVVM::Tcgen05MMABlockScale::BLOCK32};
  return {perStep, NVVM::MMABlockScaleKind::MXF4NVF4,
          perStep == 4 ? NVVM::Tcgen05MMABlockScale::BLOCK16 : NVVM::Tcgen05MMABlockScale::BLOCK32};
}

LogicalResult mlir::ts::lowerOp(UmmaOp op) {
  WorkBuilder b(op);
  StringRef kind = getUmmaKind(op);
  bool scaled = kind.starts_with("mx");
  MemRefType typeA = op.getA().getType(), typeB = op.getB().getType(), typeD = op.getD().getType();
  int64_t k = getUmmaK(kind, typeA.getElementType());
  FailureOr<Operand> a = getOperand(b, op.getA(), op.getTransposeA(), k, kind);
  FailureOr<Operand> bOperand =
      failed(a) ? FailureOr<Operand>() : getOperand(b, op.getB(), op.getTransposeB(), k, kind);
  FailureOr<Value> d = failed(bOperand) ? FailureOr<Value>() : b.tmemAddress(op.getD());
  if (failed(d))
    return failure();

  UmmaInstruction instruction;
  instruction.kind = kind;
  instruction.a = typeA.getElementType();
  instruction.b = typeB.getElementType();
  instruction.d = typeD.getElementType();
  instruction.m = typeD.getDimSize(0) * op.getCtaGroup();
  instruction.n = typeD.getDimSize(1);
  instruction.transposeA = op.getTransposeA();
  instruction.transposeB = op.getTransposeB();

  SmallVector<Value> scales;
  ScaleSteps steps{};
  if (scaled) {
    for (Value view : op.getScales()) {
      FailureOr<Value> address = b.tmemAddress(view);
      if (failed(address))
        return failure();
      scales.push_back(*address);
    }
    instruction.scale = cast<MemRefType>(op.getScales()[0].getType()).getElementType();
    steps = getScaleSteps(kind, instruction.scale);
  }

  // Without `accumulate` D is added to; only the first step can overwrite it.
  Value accumulate = op.getAccumulate() ? op.getAccumulate() : b.i1(true);
  Value matrixD = getTmemPointer(b, *d);
  NVVM::CTAGroupKind group = getGroup(op.getCtaGroup());
  for (int64_t step = 0, e = bOperand->tile.getK() / k; step < e; ++step) {
    if (step == 1)
      accumulate = b.i1(true);
    Value operandA = a->at(b, step), operandB = bOperand->at(b, step);
    if (!scaled) {
      NVVM::Tcgen05MMAKind mma = *NVVM::symbolizeTcgen05MMAKind(kind);
      NVVM::Tcgen05MMAOp::create(b, mma, group, NVVM::Tcgen05MMACollectorOp::DISCARD,
                                 /*aShift=*/false, matrixD, operandA, operandB,
                                 b.i32(int32_t(encodeUmmaInstruction(instruction))), accumulate,
                                 Value(), Value());
      continue;
    }
    // All blocks of one four of scales stand side by side, then those of the next.
    int64_t first = step * steps.perStep;
    instruction.scaleId = first % 4;
    auto scaleAt = [&](Value base, int64_t rows) {
      return getTmemPointer(b, b.add(base, first / 4 * getScaleColumns(rows, 4)));
    };
    NVVM::Tcgen05MMABlockScaleOp::create(
        b, steps.kind, group, steps.block, NVVM::Tcgen05MMACollectorOp::DISCARD, matrixD, operandA,
        operandB, b.i32(int32_t(encodeUmmaInstruction(instruction))), accumulate,
        scaleAt(scales[0], typeD.getDimSize(0)), scaleAt(scales[1], instruction.n));
  }
  return success();
}

//===-- Loads and stores ---------------------------------------------------------------------===//

/// Address of the executing warp's 32 lanes at a column of a view.
static FailureOr<Value> getRowAddress(WorkBuilder &b, Value view, Value column) {
  FailureOr<Value> address = b.tmemAddress(view);
  if (failed(address))
    return failure();
  // Warp w of a warpgroup can reach lanes 32 w .. 32 w + 31 only (PTX ISA 8.8, tcgen05.ld).
  Value lanes = b.shiftLeft(b.warpOfGroup(), 16 + 5);
  int64_t bits = getElementBits(cast<MemRefType>(view.getType()).getElementType());
  Value columns = b.shiftRight(b.mul(b.toI32(column), bits), 5);
  return b.add(b.add(*address, lanes), columns);
}

/// Waits for all loads of the thread, and ties the registers of these to it: the backend moves
/// copies of a load's results above a wait that does not mention them.
static SmallVector<Value> waitForLoads(WorkBuilder &b, ArrayRef<Value> registers) {
  if (registers.empty()) {
    NVVM::Tcgen05WaitOp::create(b, NVVM::Tcgen05WaitKind::LOAD);
    return {};
  }
  // nvvm.tcgen05.wait has no operands to tie, hence assembly.
  return b.assembly("tcgen05.wait::ld.sync.aligned;", registers, {});
}

/// Columns of 32 bits as the vector that the program reads.
static Value toVector(WorkBuilder &b, ArrayRef<Value> columns, VectorType type) {
  Type element = type.getElementType();
  if (getElementBits(element) == kTmemColumnBits) {
    SmallVector<Value> elements;
    for (Value column : columns)
      elements.push_back(b.bitcast(column, element));
    return vector::FromElementsOp::create(b, type, elements);
  }
  auto raw = VectorType::get({int64_t(columns.size())}, b.getI32Type());
  return vector::BitCastOp::create(b, type, vector::FromElementsOp::create(b, raw, columns));
}

LogicalResult mlir::ts::lowerOp(TmemLoadOp op) {
  WorkBuilder b(op);
  FailureOr<Value> address = getRowAddress(b, op.getSrc(), op.getColumn());
  if (failed(address))
    return failure();
  auto async = dyn_cast<AsyncType>(op.getResult().getType());
  auto type = cast<VectorType>(async ? async.getValueType() : op.getResult().getType());
  auto raw = cast<VectorType>(convertWorkType(AsyncType::get(b.getContext(), type)));
  bool single = raw.getNumElements() == 1;
  Value loaded = NVVM::Tcgen05LdOp::create(b, single ? Type(b.getI32Type()) : Type(raw),
                                           /*pack=*/false, NVVM::Tcgen05LdStShape::SHAPE_32X32B,
                                           getTmemPointer(b, *address), Value());
  SmallVector<Value> columns;
  if (single)
    columns.push_back(loaded);
  else
    for (int64_t i = 0, e = raw.getNumElements(); i < e; ++i)
      columns.push_back(LLVM::ExtractElementOp::create(b, loaded, b.i32(i)));
  Value result = async ? b.tile(columns, async) : toVector(b, waitForLoads(b, columns), type);
  op.getResult().replaceAllUsesWith(result);
  return success();
}

LogicalResult mlir::ts::lowerOp(TmemWaitOp op) {
  WorkBuilder b(op);
  SmallVector<Value> registers;
  SmallVector<size_t> counts;
  for (Value value : op.getValues()) {
    SmallVector<Value> columns = b.registers(value);
    counts.push_back(columns.size());
    llvm::append_range(registers, columns);
  }
  SmallVector<Value> waited = waitForLoads(b, registers);
  ArrayRef<Value> rest = waited;
  for (auto [result, count] : llvm::zip_equal(op.getResults(), counts)) {
    result.replaceAllUsesWith(
        toVector(b, rest.take_front(count), cast<VectorType>(result.getType())));
    rest = rest.drop_front(count);
  }
  return success();
}

LogicalResult mlir::ts::lowerOp(TmemStoreOp op) {
  WorkBuilder b(op);
  FailureOr<Value> address = getRowAddress(b, op.getDst(), op.getColumn());
  if (failed(address))
    return failure();
  auto type = cast<VectorType>(op.getValue().getType());
  int64_t columns = type.getNumElements() * getElementBits(type.getElementType()) / kTmemColumnBits;
  Value raw = op.getValue();
  if (!type.getElementType().isInteger(32) || type.getElementType().isUnsignedInteger())
    raw = vector::BitCastOp::create(b, VectorType::get({columns}, b.getI32Type()), raw);
  if (columns == 1)
    raw = vector::ExtractOp::create(b, raw, 0);
  NVVM::Tcgen05StOp::create(b, /*unpack=*/false, NVVM::Tcgen05LdStShape::SHAPE_32X32B,
                            getTmemPointer(b, *address), raw, Value());
  return success();
}

//===-- Copies -------------------------------------------------------------------------------===//

namespace {
struct CopyShape {
  StringRef name;
  NVVM::Tcgen05CpShape shape;
  NVVM::Tcgen05CpMulticast multicast;
  int64_t rows, columns; // of one copy; columns of 32 bits
};
} // namespace

LogicalResult mlir::ts::lowerOp(TmemCopyOp op) {
  using Shape = NVVM::Tcgen05CpShape;
  using Multicast = NVVM::Tcgen05CpMulticast;
  static const CopyShape shapes[] = {
      {"128x256b", Shape::SHAPE_128x256b, Multicast::NONE, 128, 8},
      {"4x256b", Shape::SHAPE_4x256b, Multicast::NONE, 4, 8},
      {"128x128b", Shape::SHAPE_128x128b, Multicast::NONE, 128, 4},
      {"64x128b.warpx2::02_13", Shape::SHAPE_64x128b, Multicast::WARPX2_02_13, 64, 4},
      {"64x128b.warpx2::01_23", Shape::SHAPE_64x128b, Multicast::WARPX2_01_23, 64, 4},
      {"32x128b.warpx4", Shape::SHAPE_32x128b, Multicast::WARPX4, 32, 4}};
  WorkBuilder b(op);
  const CopyShape *shape =
      llvm::find_if(shapes, [&](const CopyShape &s) { return s.name == op.getShape(); });
  MemRefType source = op.getSrc().getType();
  // A swizzled source is read as an operand of a product is: a row of it for a lane, the next bytes
  // of all rows for the next columns.
  OperandTile tile;
  if ((tile.swizzle = getSwizzle(source))) {
    if (!WorkBuilder::hasSpanRows(source) || getMatrixTile(source)->rows != shape->rows)
      return b.emitUnsupported()
             << "a copy of shape " << shape->name << " from the swizzled source " << source
             << "; expected " << shape->rows << " rows of " << tile.swizzle
             << " bytes, in panels where rows are longer, or #ts.smem, whose bytes are taken in "
                "order";
    tile.tile = *getMatrixTile(source);
    tile.bits = getElementBits(source.getElementType());
  }
  FailureOr<Value> address = b.sharedAddress(op.getSrc());
  FailureOr<Value> target = failed(address) ? FailureOr<Value>() : b.tmemAddress(op.getDst());
  if (failed(target))
    return failure();
  // The bytes of one copy lie in order: `rows` rows of 16 bytes, for 256-bit shapes twice.
  int64_t half = shape->rows * kCoreMatrixRowBytes;
  DescriptorStrides strides{half, kCoreMatrixRows * kCoreMatrixRowBytes};
  if (tile.swizzle)
    strides = getDescriptorStrides(tile);
  Value descriptor = addStart(b, *address, encodeUmmaDescriptor(strides, tile.swizzle));
  int64_t rowBytes = shape->columns * kTmemColumnBits / 8, bytes = shape->rows * rowBytes;
  auto startOf = [&](int64_t copy) {
    return tile.swizzle ? getStepOffset(tile, copy, rowBytes * 8 / tile.bits) : copy * bytes;
  };
  for (int64_t copy = 0, e = getBytes(source) / bytes; copy < e; ++copy)
    NVVM::Tcgen05CpOp::create(b, shape->shape, getGroup(op.getCtaGroup()), shape->multicast,
                              NVVM::Tcgen05CpSrcFormatAttr(),
                              getTmemPointer(b, b.add(*target, copy * shape->columns)),
                              b.add(descriptor, startOf(copy) >> 4));
  return success();
}
