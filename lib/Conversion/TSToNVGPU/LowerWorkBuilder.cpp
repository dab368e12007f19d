// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic, register tiles and assembly of WorkBuilder. Addresses are in LowerWorkAddress.cpp.
#include "LowerWork.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::ts;

//===-- Types --------------------------------------------------------------------------------===//

static Type convertTile(ArrayRef<int64_t> shape, Type element) {
  MLIRContext *context = element.getContext();
  int64_t elements = shape[1] / 2;
  bool packed = getElementBits(element) == 16;
  Type reg = packed || isa<IntegerType>(element)
                 ? IntegerType::get(context, packed ? 32 : element.getIntOrFloatBitWidth())
                 : element;
  if (getElementBits(element) < 16)
    reg = IntegerType::get(context, getElementBits(element));
  return LLVM::LLVMStructType::getLiteral(context,
                                          SmallVector<Type>(packed ? elements / 2 : elements, reg));
}

Type mlir::ts::convertWorkType(Type type) {
  if (auto wgmma = dyn_cast<WgmmaType>(type))
    return convertTile(wgmma.getShape(), wgmma.getElementType());
  if (auto fragment = dyn_cast<FragmentType>(type))
    return convertTile(fragment.getShape(), fragment.getElementType());
  if (isa<TensorMapType>(type))
    return LLVM::LLVMPointerType::get(type.getContext());
  if (auto async = dyn_cast<AsyncType>(type))
    if (auto vector = dyn_cast<VectorType>(async.getValueType()))
      return VectorType::get(
          {vector.getNumElements() * getElementBits(vector.getElementType()) / kTmemColumnBits},
          IntegerType::get(type.getContext(), 32));
  return type;
}

Type WorkBuilder::storageType(Type type) {
  if (type.isIndex())
    return getI64Type();
  if (type.isF64() || type.isF32() || type.isF16() || type.isBF16())
    return type;
  return IntegerType::get(getContext(), type.getIntOrFloatBitWidth());
}

//===-- Arithmetic ---------------------------------------------------------------------------===//

Value WorkBuilder::i1(bool value) { return arith::ConstantOp::create(*this, getBoolAttr(value)); }
Value WorkBuilder::i16(int64_t value) {
  return arith::ConstantOp::create(*this, getI16IntegerAttr(value));
}
Value WorkBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}
Value WorkBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}

static Value constantLike(WorkBuilder &b, Value like, int64_t value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(like.getType(), value));
}

Value WorkBuilder::add(Value lhs, Value rhs) { return createOrFold<arith::AddIOp>(lhs, rhs); }
Value WorkBuilder::add(Value lhs, int64_t rhs) {
  return rhs ? createOrFold<arith::AddIOp>(lhs, constantLike(*this, lhs, rhs)) : lhs;
}
Value WorkBuilder::mul(Value lhs, int64_t rhs) {
  return rhs == 1 ? lhs : createOrFold<arith::MulIOp>(lhs, constantLike(*this, lhs, rhs));
}
Value WorkBuilder::bitAnd(Value lhs, int64_t mask) {
  return createOrFold<arith::AndIOp>(lhs, constantLike(*this, lhs, mask));
}
Value WorkBuilder::bitOr(Value lhs, Value rhs) { return createOrFold<arith::OrIOp>(lhs, rhs); }
Value WorkBuilder::bitXor(Value lhs, Value rhs) { return createOrFold<arith::XOrIOp>(lhs, rhs); }
Value WorkBuilder::shiftLeft(Value lhs, int64_t count) {
  return count ? createOrFold<arith::ShLIOp>(lhs, constantLike(*this, lhs, count)) : lhs;
}
Value WorkBuilder::shiftRight(Value lhs, int64_t count) {
  return count ? createOrFold<arith::ShRUIOp>(lhs, constantLike(*this, lhs, count)) : lhs;
}

Value WorkBuilder::toBytes(Value count, int64_t bits) {
  return bits % 8 ? shiftRight(mul(count, bits), 3) : mul(count, bits / 8);
}

Value WorkBuilder::toI32(Value value) {
  if (!value.getType().isIndex())
    return value;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return i32(int32_t(*constant));
  return createOrFold<arith::IndexCastOp>(getI32Type(), value);
}

SmallVector<Value> WorkBuilder::toI32Reversed(ValueRange values) {
  SmallVector<Value> result;
  for (Value value : llvm::reverse(values))
    result.push_back(toI32(value));
  return result;
}

Value WorkBuilder::lane() { return NVVM::LaneIdOp::create(*this, getI32Type()); }
Value WorkBuilder::warpOfGroup() {
  return bitAnd(shiftRight(NVVM::ThreadIdXOp::create(*this, getI32Type()), 5), 3);
}

Value WorkBuilder::pointer(Value address, unsigned space) {
  return LLVM::IntToPtrOp::create(*this, LLVM::LLVMPointerType::get(getContext(), space), address);
}

Value WorkBuilder::bitcast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  // LLVM does not know the narrow floats, index and signed integers: arith's casts survive until
  // those types are converted.
  if (type.isIndex() || value.getType().isIndex())
    return arith::IndexCastOp::create(*this, type, value);
  if (LLVM::isCompatibleType(type) && LLVM::isCompatibleType(value.getType()))
    return createOrFold<LLVM::BitcastOp>(type, value);
  return createOrFold<arith::BitcastOp>(type, value);
}

Value WorkBuilder::load(Value pointer, Type type, unsigned align) {
  return LLVM::LoadOp::create(*this, type, pointer, align);
}
void WorkBuilder::store(Value value, Value pointer, unsigned align) {
  LLVM::StoreOp::create(*this, value, pointer, align);
}

//===-- Registers ----------------------------------------------------------------------------===//

SmallVector<Value> WorkBuilder::registers(Value tile) {
  Type type = convertWorkType(tile.getType());
  if (type != tile.getType()) {
    auto cast = tile.getDefiningOp<UnrealizedConversionCastOp>();
    tile = cast && cast.getInputs().size() == 1 && cast.getInputs()[0].getType() == type
               ? cast.getInputs()[0]
               : UnrealizedConversionCastOp::create(*this, type, tile).getResult(0);
  }
  SmallVector<Value> result;
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (auto elements = tile.getDefiningOp<vector::FromElementsOp>())
      return llvm::to_vector(elements.getElements());
    for (int64_t i = 0, e = vector.getNumElements(); i < e; ++i)
      result.push_back(LLVM::ExtractElementOp::create(*this, tile, i32(i)));
    return result;
  }
  for (int64_t i = 0, e = cast<LLVM::LLVMStructType>(type).getBody().size(); i < e; ++i)
    result.push_back(createOrFold<LLVM::ExtractValueOp>(tile, i));
  return result;
}

Value WorkBuilder::tile(ArrayRef<Value> registers, Type type) {
  Type converted = convertWorkType(type);
  Value result;
  if (auto vector = dyn_cast<VectorType>(converted)) {
    result = vector::FromElementsOp::create(*this, vector, registers);
  } else {
    result = LLVM::UndefOp::create(*this, converted);
    for (auto [i, reg] : llvm::enumerate(registers))
      result = LLVM::InsertValueOp::create(*this, result, reg, i);
  }
  if (converted == type)
    return result;
  return UnrealizedConversionCastOp::create(*this, type, result).getResult(0);
}

/// The value before a rounding to `element`, when it is an f32: packed conversions do both halves.
static Value beforeTruncation(Value value, Type element) {
  auto truncation = value.getDefiningOp<arith::TruncFOp>();
  if (truncation && truncation.getIn().getType().isF32() && truncation.getType() == element &&
      !truncation.getRoundingmode())
    return truncation.getIn();
  return value.getType().isF32() ? value : Value();
}

Value WorkBuilder::packPair(Value low, Value high, Type element) {
  auto pair = VectorType::get({2}, element);
  Value wideLow = beforeTruncation(low, element), wideHigh = beforeTruncation(high, element);
  Value packed;
  if (wideLow && wideHigh && element.isBF16())
    packed = NVVM::ConvertF32x2ToBF16x2Op::create(*this, pair, wideHigh, wideLow, Value(),
                                                  NVVM::FPRoundingMode::RN);
  else if (wideLow && wideHigh && element.isF16())
    packed = NVVM::ConvertF32x2ToF16x2Op::create(*this, pair, wideHigh, wideLow, Value(),
                                                 NVVM::FPRoundingMode::RN);
  else
    packed = vector::FromElementsOp::create(*this, pair, ValueRange{low, high});
  return LLVM::BitcastOp::create(*this, getI32Type(), packed);
}

/// Constraint letter of a register.
static StringRef constraint(Type type) {
  if (type.isF32())
    return "f";
  if (type.isInteger(1))
    return "b";
  return type.isInteger(64) ? "l" : "r";
}

SmallVector<Value> WorkBuilder::assembly(const Twine &text, ArrayRef<Value> inouts,
                                         ArrayRef<Value> uses, bool readsMemory) {
  std::string constraints;
  SmallVector<Value> operands(inouts);
  llvm::append_range(operands, uses);
  auto append = [&](const Twine &piece) {
    if (!constraints.empty())
      constraints += ',';
    constraints += piece.str();
  };
  for (Value value : inouts)
    append("=" + constraint(value.getType()));
  for (size_t i = 0; i < inouts.size(); ++i)
    append(Twine(i));
  for (Value value : uses)
    append(constraint(value.getType()));
  if (readsMemory)
    append("~{memory}");

  Type result;
  if (inouts.size() == 1)
    result = inouts[0].getType();
  else if (!inouts.empty())
    result = LLVM::LLVMStructType::getLiteral(getContext(),
                                              llvm::to_vector(ValueRange(inouts).getTypes()));
  auto dialect = LLVM::AsmDialectAttr::get(getContext(), LLVM::AsmDialect::AD_ATT);
  auto call = LLVM::InlineAsmOp::create(
      *this, result ? TypeRange(result) : TypeRange(), operands, text.str(), constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None, dialect,
      /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> results;
  if (inouts.size() == 1)
    results.push_back(call.getResult(0));
  else
    for (size_t i = 0; i < inouts.size(); ++i)
      results.push_back(LLVM::ExtractValueOp::create(*this, call.getResult(0), int64_t(i)));
  return results;
}
