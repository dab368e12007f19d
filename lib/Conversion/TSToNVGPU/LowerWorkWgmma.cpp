// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma: descriptors, one instruction per k step, commits and waits that carry the registers.
#include "LowerWork.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

using namespace mlir;
using namespace mlir::ts;

//===-- Types --------------------------------------------------------------------------------===//

/// Name of an operand type in the instruction.
static NVVM::WGMMATypes getOperandType(Type type) {
  if (type.isF16())
    return NVVM::WGMMATypes::f16;
  if (type.isBF16())
    return NVVM::WGMMATypes::bf16;
  if (type.isF32())
    return NVVM::WGMMATypes::tf32;
  if (isa<Float8E4M3FNType>(type))
    return NVVM::WGMMATypes::e4m3;
  if (isa<Float8E5M2Type>(type))
    return NVVM::WGMMATypes::e5m2;
  return type.isUnsignedInteger() ? NVVM::WGMMATypes::u8 : NVVM::WGMMATypes::s8;
}

static NVVM::WGMMATypes getResultType(Type type) {
  return type.isF32()   ? NVVM::WGMMATypes::f32
         : type.isF16() ? NVVM::WGMMATypes::f16
                        : NVVM::WGMMATypes::s32;
}

//===-- wgmma --------------------------------------------------------------------------------===//

namespace {
/// One ts.wgmma being lowered.
struct Multiplication {
  WorkBuilder &b;
  Type a, typeB, d;
  int64_t n, k;
  bool transposeA, transposeB;

  bool isHalf() const { return getElementBits(a) == 16; }
  std::string getName() const {
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(k) + "." +
           NVVM::stringifyWGMMATypes(getResultType(d)).str() + "." +
           NVVM::stringifyWGMMATypes(getOperandType(a)).str() + "." +
           NVVM::stringifyWGMMATypes(getOperandType(typeB)).str();
  }
  Value issue(Value acc, Value descriptorA, Value descriptorB, bool accumulate);
  Value issue(Value acc, ArrayRef<Value> operandA, Value descriptorB, Value accumulate);
};
} // namespace

/// Both operands in shared memory, accumulation known.
Value Multiplication::issue(Value acc, Value descriptorA, Value descriptorB, bool accumulate) {
  MLIRContext *context = b.getContext();
  return NVVM::WgmmaMmaAsyncOp::create(
      b, acc.getType(), acc, descriptorA, descriptorB,
      NVVM::MMAShapeAttr::get(context, kWgmmaM, n, k), getOperandType(a), getOperandType(typeB),
      getResultType(d), accumulate ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero,
      NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
      transposeA ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      transposeB ? NVVM::MMALayout::row : NVVM::MMALayout::col, NVVM::MMAIntOverflowAttr());
}

/// Any form. nvvm.wgmma.mma_async has neither a run-time scale-d nor A in registers, hence
/// assembly. A is one descriptor or four registers.
Value Multiplication::issue(Value acc, ArrayRef<Value> operandA, Value descriptorB,
                            Value accumulate) {
  SmallVector<Value> inouts;
  auto type = cast<LLVM::LLVMStructType>(acc.getType());
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    inouts.push_back(b.createOrFold<LLVM::ExtractValueOp>(acc, i));
  SmallVector<Value> uses(operandA);
  uses.push_back(descriptorB);
  uses.push_back(accumulate);

  // Numbering: results, the same registers as inputs, then the uses.
  size_t next = inouts.size() * 2;
  auto list = [](size_t first, size_t count) {
    std::string text = "{";
    for (size_t i = 0; i < count; ++i)
      text += (i ? ", $" : "$") + std::to_string(first + i);
    return text + "}";
  };
  bool registerA = operandA.size() > 1;
  std::string text = getName() + " " + list(0, inouts.size()) + ", ";
  text += registerA ? list(next, operandA.size()) : "$" + std::to_string(next);
  next += operandA.size();
  text += ", $" + std::to_string(next) + ", $" + std::to_string(next + 1);
  if (!d.isInteger())
    text += ", 1, 1"; // no negation
  if (isHalf() && !registerA)
    text += transposeA ? ", 1" : ", 0";
  if (isHalf())
    text += transposeB ? ", 1" : ", 0";
  SmallVector<Value> results = b.assembly(text + ";", inouts, uses, /*readsMemory=*/true);
  Value result = LLVM::UndefOp::create(b, type);
  for (auto [i, reg] : llvm::enumerate(results))
    result = LLVM::InsertValueOp::create(b, result, reg, i);
  return result;
}

static FailureOr<OperandTile> getOperandTile(WorkBuilder &b, MemRefType type, bool mnMajor) {
  std::optional<MatrixTile> tile = getMatrixTile(type);
  if (!tile)
    return b.emitUnsupported() << "the operand " << type << " is no matrix with static strides";
  return OperandTile{*tile, getSwizzle(type), getElementBits(type.getElementType()), mnMajor};
}

/// Descriptor of a view: constant fields and the start address.
static FailureOr<Value> getDescriptor(WorkBuilder &b, Value view, const OperandTile &operand) {
  FailureOr<Value> address = b.sharedAddress(view);
  if (failed(address))
    return failure();
  Value start = b.bitAnd(b.shiftRight(*address, 4), 0x3fff);
  return b.bitOr(b.createOrFold<arith::ExtUIOp>(b.getI64Type(), start),
                 b.i64(encodeWgmmaDescriptor(operand)));
}

/// Packed registers behind a struct value, made once per value.
static Value getStruct(WorkBuilder &b, Value tile) {
  Type type = convertWorkType(tile.getType());
  auto cast = tile.getDefiningOp<UnrealizedConversionCastOp>();
  if (cast && cast.getInputs().size() == 1 && cast.getInputs()[0].getType() == type)
    return cast.getInputs()[0];
  return UnrealizedConversionCastOp::create(b, type, tile).getResult(0);
}

LogicalResult mlir::ts::lowerOp(WgmmaOp op, bool fence) {
  WorkBuilder b(op);
  auto fragment = dyn_cast<FragmentType>(op.getA().getType());
  MemRefType typeB = op.getB().getType();
  Type a =
      fragment ? fragment.getElementType() : cast<MemRefType>(op.getA().getType()).getElementType();
  Multiplication mma{b,
                     a,
                     typeB.getElementType(),
                     op.getAcc().getType().getElementType(),
                     op.getAcc().getType().getShape()[1],
                     getWgmmaK(a),
                     op.getTransposeA(),
                     op.getTransposeB()};

  FailureOr<OperandTile> tileB = getOperandTile(b, typeB, op.getTransposeB());
  FailureOr<Value> descriptorB =
      failed(tileB) ? FailureOr<Value>() : getDescriptor(b, op.getB(), *tileB);
  if (failed(descriptorB))
    return failure();
  OperandTile tileA;
  Value descriptorA;
  SmallVector<Value> registersA;
  if (fragment) {
    registersA = b.registers(op.getA());
  } else {
    FailureOr<OperandTile> tile =
        getOperandTile(b, cast<MemRefType>(op.getA().getType()), op.getTransposeA());
    FailureOr<Value> descriptor =
        failed(tile) ? FailureOr<Value>() : getDescriptor(b, op.getA(), *tile);
    if (failed(descriptor))
      return failure();
    tileA = *tile;
    descriptorA = *descriptor;
  }

  Value acc = getStruct(b, op.getAcc());
  if (fence)
    NVVM::WgmmaFenceAlignedOp::create(b);
  for (int64_t step = 0, steps = tileB->getK() / mma.k; step < steps; ++step) {
    Value stepB = b.add(*descriptorB, getStepOffset(*tileB, step, mma.k) >> 4);
    // Only the first step may overwrite: the rest add to it.
    Value runtime = step == 0 ? Value(op.getAccumulate()) : Value();
    std::optional<int64_t> known = runtime ? getConstantIntValue(runtime) : 1;
    // What is overwritten needs no value, so none is kept in registers for it.
    if (known && !*known)
      acc = LLVM::UndefOp::create(b, acc.getType());
    if (fragment) {
      // 16 columns of a fragment are its registers 4 step .. 4 step + 3.
      auto operandA = ArrayRef(registersA).slice(step * 4, 4);
      acc = mma.issue(acc, operandA, stepB, runtime ? runtime : b.i1(true));
      continue;
    }
    Value stepA = b.add(descriptorA, getStepOffset(tileA, step, mma.k) >> 4);
    acc = known ? mma.issue(acc, stepA, stepB, *known != 0)
                : mma.issue(acc, ArrayRef(stepA), stepB, runtime);
  }
  Value result = UnrealizedConversionCastOp::create(b, op.getType(), acc).getResult(0);
  op.getResult().replaceAllUsesWith(result);
  return success();
}

bool mlir::ts::needsWgmmaFence(WgmmaOp op) {
  if (isa<FragmentType>(op.getA().getType()))
    return true;
  // The accumulators come straight from a wgmma of the same block and group: same shape, no fence
  // (PTX ISA 8.8, wgmma.fence).
  auto previous = op.getAcc().getDefiningOp<WgmmaOp>();
  if (!previous || previous->getBlock() != op->getBlock())
    return true;
  for (Operation *between = previous->getNextNode(); between != op;
       between = between->getNextNode())
    if (between->getNumRegions() || (!isa<WgmmaOp>(between) && !isMemoryEffectFree(between)))
      return true;
  return false;
}

LogicalResult mlir::ts::lowerOp(WgmmaZeroOp op) {
  WorkBuilder b(op);
  Value zero = LLVM::ZeroOp::create(b, convertWorkType(op.getType()));
  op.getResult().replaceAllUsesWith(
      UnrealizedConversionCastOp::create(b, op.getType(), zero).getResult(0));
  return success();
}

LogicalResult mlir::ts::lowerOp(WgmmaStartOp op) {
  WorkBuilder b(op);
  op.getResult().replaceAllUsesWith(
      UnrealizedConversionCastOp::create(b, op.getType(), getStruct(b, op.getFragment()))
          .getResult(0));
  return success();
}

LogicalResult mlir::ts::lowerOp(WgmmaCommitOp op) {
  WorkBuilder b(op);
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  return success();
}

LogicalResult mlir::ts::lowerOp(WgmmaWaitOp op) {
  WorkBuilder b(op);
  if (op.getValues().empty()) {
    NVVM::WgmmaWaitGroupSyncOp::create(b, uint64_t(op.getPending()));
    return success();
  }
  // nvvm.wgmma.wait.group.sync.aligned has no operands, so reads of the accumulators could move
  // above it, and registers of A that are still being read could be written early: assembly ties
  // both.
  SmallVector<Value> inouts, uses;
  SmallVector<size_t> counts;
  for (Value value : op.getValues()) {
    SmallVector<Value> registers = b.registers(value);
    counts.push_back(registers.size());
    llvm::append_range(isa<WgmmaType>(value.getType()) ? inouts : uses, registers);
  }
  SmallVector<Value> results =
      b.assembly("wgmma.wait_group.sync.aligned " + Twine(op.getPending()) + ";", inouts, uses);
  ArrayRef<Value> rest = results;
  for (auto [value, result, count] : llvm::zip_equal(op.getValues(), op.getResults(), counts)) {
    if (!isa<WgmmaType>(value.getType())) {
      result.replaceAllUsesWith(value);
      continue;
    }
    result.replaceAllUsesWith(b.tile(rest.take_front(count), result.getType()));
    rest = rest.drop_front(count);
  }
  return success();
}
