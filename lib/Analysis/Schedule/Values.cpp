// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates scalar SSA values by walking their definitions, with a memo and a depth limit: user IR
// may be a deep chain or a wide DAG.
#include "ts/Analysis/Schedule/Values.h"
#include "ts/Analysis/Schedule/ValueStructure.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ts;
using ::ts::schedule::Bound;
using ::ts::schedule::Condition;
using Kind = Bound::Kind;

static constexpr int kMaxChain = 128;
static constexpr size_t kMaxText = 160;

//===-- Numbers ------------------------------------------------------------------------------===//

std::optional<int64_t> ValueEvaluator::evaluate(Value value, int depth) {
  if (auto it = numbers.find(value); it != numbers.end())
    return it->second;
  if (depth > kMaxChain)
    return std::nullopt;
  std::optional<int64_t> result = compute(value, depth);
  numbers[value] = result;
  return result;
}

std::optional<int64_t> mlir::ts::foldBinary(Operation *op, int64_t a, int64_t b) {
  int64_t result;
  if (isa<arith::AddIOp>(op))
    return llvm::AddOverflow(a, b, result) ? std::nullopt : std::optional(result);
  if (isa<arith::SubIOp>(op))
    return llvm::SubOverflow(a, b, result) ? std::nullopt : std::optional(result);
  if (isa<arith::MulIOp>(op))
    return llvm::MulOverflow(a, b, result) ? std::nullopt : std::optional(result);
  if (isa<arith::AndIOp>(op))
    return a & b;
  if (isa<arith::OrIOp>(op))
    return a | b;
  if (isa<arith::XOrIOp>(op))
    return a ^ b;
  if (isa<arith::MinSIOp, arith::MinUIOp>(op))
    return std::min(a, b);
  if (isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    return std::max(a, b);
  // The rest is only evaluated where signed and unsigned agree.
  if (a < 0 || b < 0)
    return std::nullopt;
  if (isa<arith::ShLIOp>(op))
    return b < 62 && a <= (std::numeric_limits<int64_t>::max() >> b) ? std::optional(a << b)
                                                                     : std::nullopt;
  if (isa<arith::ShRSIOp, arith::ShRUIOp>(op))
    return b < 63 ? a >> b : 0;
  if (b == 0)
    return std::nullopt;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op))
    return a / b;
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return a / b + (a % b != 0);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return a % b;
  return std::nullopt;
}

std::optional<int64_t> mlir::ts::foldCompare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  using P = arith::CmpIPredicate;
  bool isUnsigned =
      predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
  if (isUnsigned && (a < 0 || b < 0))
    return std::nullopt;
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
  case P::ult:
    return a < b;
  case P::sle:
  case P::ule:
    return a <= b;
  case P::sgt:
  case P::ugt:
    return a > b;
  case P::sge:
  case P::uge:
    return a >= b;
  }
  return std::nullopt;
}

std::optional<int64_t> ValueEvaluator::compute(Value value, int depth) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (isa_and_nonnull<TaskOp>(arg.getOwner()->getParentOp()))
      return env.replica;
    return std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.getBitWidth() == 1)
      return int64_t(constant.getBoolValue());
    return constant.getSignificantBits() <= 64 ? std::optional(constant.getSExtValue())
                                               : std::nullopt;
  }
  if (auto info = dyn_cast<InfoOp>(op)) {
    switch (info.getKind()) {
    case InfoKind::CtaRank:
      return env.ctaRank;
    case InfoKind::Warp:
      return env.warp;
    case InfoKind::Replica:
      return env.replica;
    // One lane speaks for its warp: single-thread ops are issued once per warp.
    case InfoKind::Thread:
      return env.warp ? std::optional(*env.warp * 32) : std::nullopt;
    case InfoKind::Lane:
      return env.warp ? std::optional<int64_t>(0) : std::nullopt;
    default:
      return std::nullopt;
    }
  }
  auto operand = [&](unsigned i) { return evaluate(op->getOperand(i), depth + 1); };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return operand(0);
  if (isa<arith::TruncIOp>(op)) {
    auto from = operand(0);
    unsigned width = value.getType().getIntOrFloatBitWidth();
    if (!from || width > 63 || *from < 0 || *from >= int64_t(1) << width)
      return std::nullopt;
    return from;
  }
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    auto a = operand(0), b = operand(1);
    return a && b ? foldCompare(cmp.getPredicate(), *a, *b) : std::nullopt;
  }
  if (isa<arith::SelectOp>(op)) {
    auto condition = operand(0);
    return condition ? operand(*condition ? 1 : 2) : std::nullopt;
  }
  if (isa<arith::ArithDialect>(op->getDialect()) && op->getNumOperands() == 2 &&
      value.getType().isIntOrIndex()) {
    auto a = operand(0), b = operand(1);
    return a && b ? foldBinary(op, *a, *b) : std::nullopt;
  }
  if (isa<ProduceOp, ConsumeOp>(op) && !op->getRegion(0).empty()) {
    Operation *yield = &op->getRegion(0).front().back();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (isa<YieldOp>(yield) && number < yield->getNumOperands())
      return evaluate(yield->getOperand(number), depth + 1);
  }
  return std::nullopt;
}

//===-- Symbols ------------------------------------------------------------------------------===//

Bound ValueEvaluator::bound(Value value, int depth) {
  if (auto it = bounds.find(value); it != bounds.end())
    return it->second;
  if (depth > kMaxChain)
    return {Kind::Unknown, 1, 0, "a long chain of operations", {}};
  Bound result;
  if (auto number = evaluate(value))
    result = Bound::constant(*number);
  else
    result = describe(value, depth);
  if (result.symbol.size() > kMaxText)
    result = structural(value, "a long expression");
  bounds[value] = result;
  return result;
}

/// scale * symbol + offset of a sum, where one symbol is enough.
static std::optional<Bound> addBounds(Bound a, const Bound &b, int64_t sign) {
  int64_t scaled, offset;
  if (llvm::MulOverflow(b.offset, sign, scaled) || llvm::AddOverflow(a.offset, scaled, offset))
    return std::nullopt;
  if (b.isConstant()) {
    a.offset = offset;
    return a;
  }
  if (a.isConstant() || (a.symbol == b.symbol && a.kind != Kind::Unknown)) {
    Bound result = b;
    int64_t scale;
    if (llvm::MulOverflow(b.scale, sign, scale) ||
        llvm::AddOverflow(scale, a.isConstant() ? 0 : a.scale, scale))
      return std::nullopt;
    result.scale = scale;
    result.offset = offset;
    return scale == 0 ? Bound::constant(offset) : result;
  }
  return std::nullopt;
}

static std::optional<int64_t> minOf(const Bound &bound) {
  if (bound.isConstant())
    return bound.offset;
  int64_t product, sum;
  if (!bound.min || bound.scale < 0 || llvm::MulOverflow(bound.scale, *bound.min, product) ||
      llvm::AddOverflow(product, bound.offset, sum))
    return std::nullopt;
  return sum;
}

static Bound unknown(StringRef what) { return {Kind::Unknown, 1, 0, what.str(), {}}; }

/// Whatever comes about in the same way is the same symbol; its name is a hash of how.
Bound ValueEvaluator::structural(Value value, StringRef what) {
  std::optional<ValueStructure> structure = structureOf(value, *this);
  if (!structure)
    return unknown(what);
  Operation *op = value.getDefiningOp();
  StringRef name = op ? op->getName().stripDialect() : "carried";
  return {structure->perTile ? Kind::PerTile : Kind::Argument,
          1,
          0,
          (name + "#" + structure->digest()).str(),
          {}};
}

Bound ValueEvaluator::describe(Value value, int depth) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (auto kernel = dyn_cast_or_null<KernelOp>(parent)) {
      unsigned i = arg.getArgNumber();
      std::string name = cast<StringAttr>(kernel.getArgNames()[i]).getValue().str();
      return {Kind::Argument, 1, 0, name, kernel.getArgMins()[i]};
    }
    if (auto loop = dyn_cast_or_null<TileLoopOp>(parent)) {
      if (arg.getArgNumber() < loop.getBody().getNumArguments() - loop.getInits().size())
        return {Kind::PerTile, 1, 0,
                (getResourceName(loop.getQueue()) + "[" + Twine(arg.getArgNumber()) + "]").str(),
                0};
      return structural(value, "a value carried from tile to tile");
    }
    return unknown("a loop variable");
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return bound(op->getOperand(i), depth + 1); };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return operand(0);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    if (auto sum = addBounds(operand(0), operand(1), isa<arith::AddIOp>(op) ? 1 : -1))
      return *sum;
  if (isa<arith::MulIOp>(op)) {
    Bound a = operand(0), b = operand(1);
    if (a.isConstant())
      std::swap(a, b);
    int64_t scale, offset;
    if (b.isConstant() && b.offset != 0 && !llvm::MulOverflow(a.scale, b.offset, scale) &&
        !llvm::MulOverflow(a.offset, b.offset, offset)) {
      a.scale = scale;
      a.offset = offset;
      return a;
    }
  }
  if (isa<ProduceOp, ConsumeOp>(op) && !op->getRegion(0).empty()) {
    Operation *yield = &op->getRegion(0).front().back();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (isa<YieldOp>(yield) && number < yield->getNumOperands())
      return bound(yield->getOperand(number), depth + 1);
  }

  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return structural(value, op->getName().getStringRef());

  // Anything else that is a function of launch arguments and the tile is a symbol of its own.
  auto load = dyn_cast<memref::LoadOp>(op);
  bool pure = isa<arith::ArithDialect>(op->getDialect()) && op->getNumRegions() == 0;
  if (!pure && !load)
    return unknown(op->getName().getStringRef());
  Bound result{Kind::Argument, 1, 0, "", {}};
  std::string text = op->getName().stripDialect().str();
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    text += " " + arith::stringifyCmpIPredicate(cmp.getPredicate()).str();
  text += "(";
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (i)
      text += ", ";
    if (load && i == 0) {
      auto arg = dyn_cast<BlockArgument>(load.getMemref());
      auto kernel = arg ? dyn_cast<KernelOp>(arg.getOwner()->getParentOp()) : KernelOp();
      if (!kernel)
        return unknown("a value in shared memory");
      if (!isOnlyRead(arg))
        return unknown("a value in memory that the kernel writes");
      text += cast<StringAttr>(kernel.getArgNames()[arg.getArgNumber()]).getValue().str();
      continue;
    }
    if (!op->getOperand(i).getType().isIntOrIndex())
      return unknown(op->getName().getStringRef());
    Bound part = operand(i);
    result.kind = std::max(result.kind, part.kind);
    text += toString(part);
    if (text.size() > kMaxText)
      break;
  }
  if (result.kind == Kind::Constant)
    result.kind = Kind::Argument;
  result.symbol = text + ")";
  if (op->getNumOperands() == 2 && value.getType().isIntOrIndex())
    if (auto divisor = evaluate(op->getOperand(1), depth + 1))
      if (auto least = minOf(operand(0)); least && *divisor > 0)
        result.min = foldBinary(op, *least, *divisor);
  // max(x, n) is a declared floor, whatever x is.
  if (isa<arith::MaxSIOp>(op))
    for (unsigned i : {0u, 1u})
      if (auto floor = evaluate(op->getOperand(i), depth + 1))
        result.min = std::max(result.min.value_or(*floor), *floor);
  return result;
}

bool mlir::ts::needsNoNegative(const Bound &upper, const Bound &lower) {
  return lower.isConstant() && !upper.isConstant() && upper.offset > lower.offset;
}

Bound ValueEvaluator::upperBound(Value value, const Bound &lower) {
  Bound upper = bound(value);
  if (upper.kind == Kind::Unknown || upper.min || !needsNoNegative(upper, lower))
    return upper;
  std::string text = toString(upper);
  return text.size() > kMaxText ? structural(value, "a long expression")
                                : Bound{upper.kind, 1, 0, text, {}};
}

//===-- Conditions ---------------------------------------------------------------------------===//

Condition ValueEvaluator::condition(Value value) {
  Condition result;
  Bound self = bound(value);
  result.key = toString(self);
  result.shared = self.kind != Kind::Unknown;
  auto cmp = value.getDefiningOp<arith::CmpIOp>();
  if (!cmp)
    return result;
  using P = arith::CmpIPredicate;
  Bound zero = Bound::constant(0);
  Bound lhs = upperBound(cmp.getLhs(), zero), rhs = upperBound(cmp.getRhs(), zero);
  P predicate = cmp.getPredicate();
  if (lhs.isConstant() && !rhs.isConstant()) {
    std::swap(lhs, rhs);
    predicate = predicate == P::slt   ? P::sgt
                : predicate == P::ult ? P::ugt
                : predicate == P::sle ? P::sge
                : predicate == P::ule ? P::uge
                : predicate == P::ne  ? P::ne
                                      : P::eq;
  }
  if (lhs.isConstant() || lhs.kind == Kind::Unknown || !rhs.isConstant())
    return result;
  int64_t limit = rhs.offset;
  if (predicate == P::sge || predicate == P::uge)
    --limit;
  else if (predicate == P::ne ? limit != 0 || lhs.offset != 0
                              : predicate != P::sgt && predicate != P::ugt)
    return result;
  if (!llvm::SubOverflow(lhs.offset, limit, lhs.offset))
    result.positive = ofTheSymbol(lhs);
  return result;
}

Bound mlir::ts::ofTheSymbol(Bound bound) {
  if (bound.scale > 1 && bound.offset > std::numeric_limits<int64_t>::min()) {
    bound.offset = -llvm::divideFloorSigned(-bound.offset, bound.scale);
    bound.scale = 1;
  }
  return bound;
}

std::string mlir::ts::describeValue(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    if (auto kernel = dyn_cast_or_null<KernelOp>(arg.getOwner()->getParentOp()))
      return "%" + cast<StringAttr>(kernel.getArgNames()[arg.getArgNumber()]).getValue().str();
  if (Operation *op = value.getDefiningOp())
    return "the result of " + op->getName().getStringRef().str();
  return "a block argument";
}

/// Whether `next` is (start - end) mod step, written as (start + (step - 1) end) mod step.
static bool isNextStart(Value next, Value start, Value end, int64_t step, ValueEvaluator &values) {
  Value sum, modulus;
  if (auto op = next.getDefiningOp<arith::RemUIOp>())
    sum = op.getLhs(), modulus = op.getRhs();
  else if (auto op = next.getDefiningOp<arith::RemSIOp>())
    sum = op.getLhs(), modulus = op.getRhs();
  auto add = sum ? sum.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  if (!add || values.evaluate(modulus) != step || (add.getLhs() != start && add.getRhs() != start))
    return false;
  Value moved = add.getLhs() == start ? add.getRhs() : add.getLhs();
  if (step == 2)
    return moved == end;
  auto times = moved.getDefiningOp<arith::MulIOp>();
  return times && ((times.getLhs() == end && values.evaluate(times.getRhs()) == step - 1) ||
                   (times.getRhs() == end && values.evaluate(times.getLhs()) == step - 1));
}

std::optional<int64_t> ValueEvaluator::carriedStart(ForOp loop) {
  auto start = dyn_cast<BlockArgument>(loop.getLower());
  auto tiles = dyn_cast<TileLoopOp>(loop->getParentOp());
  if (!start || !tiles || !loop.getStep() || start.getOwner() != &tiles.getBodyBlock())
    return std::nullopt;
  unsigned coords = tiles.getBody().getNumArguments() - tiles.getInits().size();
  if (start.getArgNumber() < coords)
    return std::nullopt;
  unsigned index = start.getArgNumber() - coords;
  std::optional<int64_t> first = evaluate(tiles.getInits()[index]), step = evaluate(loop.getStep());
  // One loop a tile, and nothing else, moves the start on.
  if (!first || !step || *step < 2 || *first < 0 || *first >= *step ||
      std::distance(start.use_begin(), start.use_end()) != 2 ||
      !isNextStart(tiles.getBodyBlock().getTerminator()->getOperand(index), start, loop.getUpper(),
                   *step, *this))
    return std::nullopt;
  return first;
}
