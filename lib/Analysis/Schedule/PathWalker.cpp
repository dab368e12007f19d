// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbered conditions of a task and when each of them stops to hold.
#include "ts/Analysis/Schedule/PathWalker.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ts;
using ::ts::schedule::Bound;

std::optional<bool> PathAssumptions::get(int id) const {
  for (auto [known, value] : facts)
    if (known == id)
      return value;
  return std::nullopt;
}

void PathAssumptions::set(int id, bool value) {
  auto it =
      llvm::lower_bound(facts, id, [](auto &fact, int wanted) { return fact.first < wanted; });
  if (it != facts.end() && it->first == id)
    it->second = value;
  else
    facts.insert(it, {id, value});
}

void PathAssumptions::erase(llvm::function_ref<bool(int)> dead) {
  llvm::erase_if(facts, [&](auto &fact) { return dead(fact.first); });
}

bool mlir::ts::isScheduleLoop(Operation *op) { return isa<ForOp, TileLoopOp, scf::ForOp>(op); }

static Operation *enclosingLoop(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent && !isa<TaskOp>(parent);
       parent = parent->getParentOp())
    if (isScheduleLoop(parent))
      return parent;
  return nullptr;
}

Operation *mlir::ts::guardedLoop(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent && !isa<TaskOp>(parent);
       parent = parent->getParentOp())
    if (isa<ForOp, TileLoopOp>(parent))
      return parent;
  return nullptr;
}

Operation *mlir::ts::tooDeep(TaskOp task) {
  SmallVector<std::pair<Operation *, int>> worklist;
  for (Operation &op : task.getBodyBlock())
    worklist.push_back({&op, 0});
  while (!worklist.empty()) {
    auto [op, depth] = worklist.pop_back_val();
    if (op->getNumRegions() == 0)
      continue;
    if (depth >= ::ts::schedule::maxDepth)
      return op;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &nested : block)
          worklist.push_back({&nested, depth + 1});
  }
  return nullptr;
}

PathConditions::PathConditions(TaskOp task, int64_t replica)
    : evaluator({std::nullopt, std::nullopt, replica}) {}

int PathConditions::number(const std::string &key, Operation *scope, const std::string &text) {
  auto [it, fresh] = numbers.try_emplace(key, int(scopes.size()));
  if (fresh) {
    scopes.push_back(scope);
    texts.push_back(text);
  }
  return it->second;
}

static std::string pointerKey(const char *kind, const void *pointer, int64_t n = 0) {
  return kind + std::to_string(reinterpret_cast<uintptr_t>(pointer)) + "." + std::to_string(n);
}

int PathConditions::position(Operation *loop, GuardKind kind, int64_t period) {
  std::string text = kind == GuardKind::First ? "first iteration"
                     : kind == GuardKind::Last
                         ? "last iteration"
                         : "iteration of 'every " + std::to_string(period) + "'";
  if (kind != GuardKind::Every)
    period = 1;
  return number(pointerKey(kind == GuardKind::First  ? "first"
                           : kind == GuardKind::Last ? "last"
                                                     : "every",
                           loop, period),
                loop, text);
}

/// Loop whose next iteration may give `value` another value.
static Operation *scopeOf(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    return isScheduleLoop(parent) ? parent : enclosingLoop(parent);
  }
  return enclosingLoop(value.getDefiningOp());
}

/// A count that its declared minimum keeps positive.
static bool alwaysPositive(const Bound &bound) {
  int64_t value;
  return bound.kind == Bound::Kind::Argument && bound.scale >= 0 && bound.min &&
         !llvm::MulOverflow(bound.scale, *bound.min, value) &&
         !llvm::AddOverflow(value, bound.offset, value) && value > 0;
}

std::optional<bool> PathConditions::decided(int id) const {
  auto it = decisions.find(id);
  return it == decisions.end() ? std::nullopt : std::optional(it->second);
}

int PathConditions::condition(Value value, std::optional<StringRef> key, Operation *at) {
  Operation *tiles = at->getParentOfType<TileLoopOp>();
  if (key)
    return number("key:" + key->str(), tiles, "condition '" + key->str() + "'");
  auto condition = evaluator.condition(value);
  if (condition.positive) {
    int id = number("positive:" + toString(*condition.positive),
                    condition.positive->kind == Bound::Kind::PerTile ? tiles : nullptr,
                    toString(*condition.positive) + " > 0");
    if (alwaysPositive(*condition.positive))
      decisions.try_emplace(id, true);
    return id;
  }
  Bound bound = evaluator.bound(value);
  if (bound.kind == Bound::Kind::Argument || bound.kind == Bound::Kind::PerTile)
    return number("text:" + toString(bound), bound.kind == Bound::Kind::PerTile ? tiles : nullptr,
                  toString(bound));
  return number(pointerKey("value", value.getAsOpaquePointer()), scopeOf(value), "the condition");
}

static std::optional<Bound> positiveTrips(Operation *loop, ValueEvaluator &evaluator) {
  Bound lower, upper;
  if (auto op = dyn_cast<ForOp>(loop)) {
    lower = evaluator.bound(op.getLower());
    upper = evaluator.upperBound(op.getUpper(), lower);
  } else if (auto op = dyn_cast<scf::ForOp>(loop)) {
    lower = evaluator.bound(op.getLowerBound());
    upper = evaluator.upperBound(op.getUpperBound(), lower);
  } else {
    return std::nullopt;
  }
  if (!lower.isConstant() || upper.kind == Bound::Kind::Unknown ||
      llvm::SubOverflow(upper.offset, lower.offset, upper.offset))
    return std::nullopt;
  return upper;
}

int PathConditions::runs(Operation *loop, std::optional<bool> &known) {
  if (auto trips = constantTrips(loop))
    known = *trips > 0;
  else if (minTrips(loop) > 0)
    known = true;
  if (auto trips = positiveTrips(loop, evaluator)) {
    Bound positive = ofTheSymbol(*trips);
    return number("positive:" + toString(positive),
                  positive.kind == Bound::Kind::PerTile ? loop->getParentOfType<TileLoopOp>()
                                                        : TileLoopOp(),
                  toString(positive) + " > 0");
  }
  return number(pointerKey("runs", loop), enclosingLoop(loop), "the loop runs");
}

int PathConditions::skipped(Value queue, Operation *at) {
  return number(pointerKey("skip", queue.getAsOpaquePointer()), at->getParentOfType<TileLoopOp>(),
                "the tile is skipped");
}

bool PathConditions::endsWith(int id, Operation *loop) const {
  Operation *scope = scopes[id];
  return scope && loop->isAncestor(scope);
}

std::string PathConditions::describe(const PathAssumptions &path) const {
  std::string text;
  for (auto [id, value] : path.all())
    text += (text.empty() ? "" : ", ") + texts[id] + ": " + (value ? "yes" : "no");
  return text;
}

std::optional<int64_t> PathConditions::constantTrips(Operation *loop) {
  std::optional<int64_t> lower, upper, step = 1;
  if (auto op = dyn_cast<ForOp>(loop)) {
    lower = evaluator.evaluate(op.getLower());
    upper = evaluator.evaluate(op.getUpper());
    if (op.getStep())
      step = evaluator.evaluate(op.getStep());
  } else if (auto op = dyn_cast<scf::ForOp>(loop)) {
    lower = evaluator.evaluate(op.getLowerBound());
    upper = evaluator.evaluate(op.getUpperBound());
    step = evaluator.evaluate(op.getStep());
  }
  if (!lower || !upper || !step || *step <= 0)
    return std::nullopt;
  if (*upper <= *lower)
    return 0;
  int64_t span;
  if (llvm::SubOverflow(*upper, *lower, span))
    return std::nullopt;
  return (span - 1) / *step + 1;
}

int64_t PathConditions::minTrips(Operation *loop) {
  if (auto trips = constantTrips(loop))
    return *trips;
  auto positive = positiveTrips(loop, evaluator);
  auto op = dyn_cast<ForOp>(loop);
  std::optional<int64_t> step = 1;
  if (op && op.getStep())
    step = evaluator.evaluate(op.getStep());
  if (!positive || positive->scale < 0 || !positive->min || !step || *step <= 0)
    return 0;
  int64_t product, span;
  if (llvm::MulOverflow(positive->scale, *positive->min, product) ||
      llvm::AddOverflow(product, positive->offset, span) || span <= 0)
    return 0;
  return (span - 1) / *step + 1;
}
