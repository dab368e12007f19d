// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows a client's state along every path of one task: through guards, conditions, skippable
// parts, loops of zero, one and many iterations, and their back edges. A path keeps what it has
// assumed, so that two guards of one iteration, or two `when` of one value, agree. Only ops that
// are relevant to the client (and what contains them) are looked at. One task at a time: no
// interleaving.
#ifndef TS_ANALYSIS_SCHEDULE_PATHWALKER_H
#define TS_ANALYSIS_SCHEDULE_PATHWALKER_H

#include "ts/Analysis/Schedule/Values.h"
#include "ts/Dialect/TS/IR/TS.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <map>

namespace mlir::ts {

/// What a path has assumed, by condition number.
class PathAssumptions {
public:
  std::optional<bool> get(int id) const;
  void set(int id, bool value);
  void erase(llvm::function_ref<bool(int)> dead);
  bool operator==(const PathAssumptions &other) const { return facts == other.facts; }
  llvm::ArrayRef<std::pair<int, bool>> all() const { return facts; }

private:
  SmallVector<std::pair<int, bool>, 4> facts;
};

/// The conditions of a task, numbered; independent of the client's state.
class PathConditions {
public:
  PathConditions(TaskOp task, int64_t replica);

  /// First, last or every-n of `loop`.
  int position(Operation *loop, GuardKind kind, int64_t period);
  /// The condition of a `when` or `scf.if`.
  int condition(Value value, std::optional<StringRef> key, Operation *at);
  /// The value of a condition of `condition` that constants or minima decide.
  std::optional<bool> decided(int id) const;
  /// "The loop runs at all"; `known` is set where constants or minima decide it.
  int runs(Operation *loop, std::optional<bool> &known);
  int skipped(Value queue, Operation *at);
  /// Whether leaving one iteration of `loop` ends what `id` speaks of.
  bool endsWith(int id, Operation *loop) const;
  /// "first iteration of the loop, %n > 0 false": for messages.
  std::string describe(const PathAssumptions &path) const;

  /// Trip count where it is constant, the declared least one otherwise.
  std::optional<int64_t> constantTrips(Operation *loop);
  int64_t minTrips(Operation *loop);
  ValueEvaluator &values() { return evaluator; }

private:
  int number(const std::string &key, Operation *scope, const std::string &text);

  ValueEvaluator evaluator;
  std::map<std::string, int> numbers;
  SmallVector<Operation *> scopes;
  SmallVector<std::string> texts;
  llvm::DenseMap<int, bool> decisions;
};

/// The loops of a schedule: ts.for, ts.tile_loop, scf.for.
bool isScheduleLoop(Operation *op);
/// Innermost loop that a guard at `op` speaks of (scf.for has no guards), or null.
Operation *guardedLoop(Operation *op);

/// Region nesting of `task` that the analyses do not follow, if any.
Operation *tooDeep(TaskOp task);

template <typename State> class PathWalker {
public:
  struct Node {
    State state;
    PathAssumptions path;
    bool operator==(const Node &other) const { return state == other.state && path == other.path; }
  };
  using Nodes = SmallVector<Node, 4>;
  /// Turns `state` at `op` into what follows; several results fork the path, none ends it.
  using Visit = std::function<void(Operation *op, const State &state, const PathAssumptions &path,
                                   SmallVectorImpl<State> &out)>;

  PathWalker(TaskOp task, PathConditions &conditions, Visit visit)
      : task(task), conditions(conditions), visit(std::move(visit)) {}

  void markRelevant(Operation *op) {
    leaves.insert(op);
    for (Operation *parent = op->getParentOp(); parent && parent != task;
         parent = parent->getParentOp())
      if (inner.insert(parent).second)
        if (auto guard = dyn_cast<GuardOp>(parent); guard && guard.getKind() == GuardKind::Every)
          if (Operation *loop = guardedLoop(guard);
              loop && !llvm::is_contained(periods[loop], int64_t(guard.getPeriod())))
            periods[loop].push_back(guard.getPeriod());
  }

  /// States at the end of the task. False: too many paths, or nested too deeply, to follow all.
  bool run(const State &initial, Nodes &finals) {
    finals.push_back({initial, {}});
    block(task.getBodyBlock(), finals, 0);
    return !gaveUp;
  }

private:
  static constexpr size_t kMaxNodes = 192;
  static constexpr int64_t kExactTrips = 64;
  static constexpr int kMaxRounds = 256;
  static constexpr int64_t kMaxWalked = int64_t(1) << 20;

  bool add(Nodes &nodes, const Node &node) {
    if (llvm::is_contained(nodes, node))
      return false;
    if (nodes.size() >= kMaxNodes) {
      gaveUp = true;
      return false;
    }
    nodes.push_back(node);
    return true;
  }
  void addAll(Nodes &nodes, const Nodes &more) {
    for (const Node &node : more)
      add(nodes, node);
  }

  void block(Block &ops, Nodes &nodes, int depth) {
    if (depth > ::ts::schedule::maxDepth) {
      gaveUp = true;
      return;
    }
    for (Operation &op : ops) {
      // Each loop level walks its body a few times, so deep nests are what this stops.
      if (++steps > kMaxWalked)
        gaveUp = true;
      if (gaveUp || nodes.empty())
        return;
      if (leaves.contains(&op))
        leaf(&op, nodes);
      else if (inner.contains(&op))
        nested(&op, nodes, depth);
    }
  }

  void leaf(Operation *op, Nodes &nodes) {
    Nodes next;
    for (const Node &node : nodes) {
      SmallVector<State> out;
      visit(op, node.state, node.path, out);
      for (State &state : out)
        add(next, {std::move(state), node.path});
    }
    nodes = std::move(next);
  }

  void regionOf(Operation *op, unsigned index, Nodes &nodes, int depth) {
    if (index < op->getNumRegions() && !op->getRegion(index).empty())
      block(op->getRegion(index).front(), nodes, depth + 1);
  }

  /// Runs region 0 where condition `id` equals `expected`, region 1 elsewhere.
  void branch(Operation *op, int id, bool expected, Nodes &nodes, int depth) {
    Nodes taken, other;
    std::optional<bool> decided = conditions.decided(id);
    for (const Node &node : nodes)
      for (bool value : {true, false}) {
        std::optional<bool> known = decided ? decided : node.path.get(id);
        if (known && *known != value)
          continue;
        Node copy = node;
        if (!decided)
          copy.path.set(id, value);
        add(value == expected ? taken : other, copy);
      }
    regionOf(op, 0, taken, depth);
    regionOf(op, 1, other, depth);
    nodes.clear();
    addAll(nodes, taken);
    addAll(nodes, other);
  }

  void nested(Operation *op, Nodes &nodes, int depth) {
    if (auto guard = dyn_cast<GuardOp>(op)) {
      Operation *loop = guardedLoop(op);
      GuardKind kind = guard.getKind();
      bool expected = kind != GuardKind::NotFirst && kind != GuardKind::NotLast;
      if (kind == GuardKind::NotFirst)
        kind = GuardKind::First;
      if (kind == GuardKind::NotLast)
        kind = GuardKind::Last;
      branch(op, conditions.position(loop ? loop : op, kind, guard.getPeriod()), expected, nodes,
             depth);
    } else if (auto when = dyn_cast<WhenOp>(op)) {
      branch(op, conditions.condition(when.getCondition(), when.getKey(), op), when.getExpected(),
             nodes, depth);
    } else if (op->getName().getStringRef() == "scf.if") {
      branch(op, conditions.condition(op->getOperand(0), std::nullopt, op), true, nodes, depth);
    } else if (isa<SkippableOp>(op)) {
      skippable(op, nodes, depth);
    } else if (isScheduleLoop(op)) {
      loop(op, nodes, depth);
    } else {
      for (unsigned i = 0; i < op->getNumRegions(); ++i)
        regionOf(op, i, nodes, depth);
    }
  }

  void skippable(Operation *op, Nodes &nodes, int depth) {
    auto tiles = op->getParentOfType<TileLoopOp>();
    auto queue = tiles ? tiles.getQueue().getDefiningOp<WorkQueueOp>() : WorkQueueOp();
    if (!queue || queue.getSkip().empty())
      return regionOf(op, 0, nodes, depth);
    branch(op, conditions.skipped(tiles.getQueue(), op), false, nodes, depth);
  }

  /// One iteration with its position fixed where given.
  Nodes iteration(Operation *op, const Nodes &in, std::optional<int64_t> index, bool first,
                  bool last, int depth) {
    Nodes nodes;
    for (Node node : in) {
      node.path.set(conditions.position(op, GuardKind::First, 1), first);
      node.path.set(conditions.position(op, GuardKind::Last, 1), last);
      for (int64_t period : periods[op]) {
        int id = conditions.position(op, GuardKind::Every, period);
        if (first || period == 1)
          node.path.set(id, true);
        else if (index)
          node.path.set(id, *index % period == 0);
      }
      add(nodes, node);
    }
    regionOf(op, 0, nodes, depth);
    Nodes out;
    for (Node &node : nodes) {
      node.path.erase([&](int id) { return conditions.endsWith(id, op); });
      add(out, node);
    }
    return out;
  }

  void loop(Operation *op, Nodes &nodes, int depth) {
    Nodes out, in;
    std::optional<bool> known;
    int runs = conditions.runs(op, known);
    for (const Node &node : nodes)
      for (bool value : {true, false}) {
        std::optional<bool> fact = known ? known : node.path.get(runs);
        if (fact && *fact != value)
          continue;
        Node copy = node;
        if (!known)
          copy.path.set(runs, value);
        add(value ? in : out, copy);
      }
    if (in.empty()) {
      nodes = std::move(out);
      return;
    }
    if (auto trips = conditions.constantTrips(op); trips && *trips <= kExactTrips) {
      for (int64_t i = 0; i < *trips && !gaveUp; ++i)
        in = iteration(op, in, i, i == 0, i + 1 == *trips, depth);
      addAll(out, in);
      nodes = std::move(out);
      return;
    }
    int64_t least = conditions.minTrips(op);
    if (least <= 1)
      addAll(out, iteration(op, in, 0, true, true, depth));
    Nodes reached = iteration(op, in, 0, true, false, depth), frontier = reached;
    for (int round = 0; !frontier.empty() && !gaveUp; ++round) {
      if (round == kMaxRounds) {
        gaveUp = true;
        break;
      }
      Nodes fresh;
      for (const Node &node : iteration(op, frontier, std::nullopt, false, false, depth))
        if (!llvm::is_contained(reached, node)) {
          add(reached, node);
          fresh.push_back(node);
        }
      frontier = std::move(fresh);
    }
    addAll(out, iteration(op, reached, std::nullopt, false, true, depth));
    nodes = std::move(out);
  }

  TaskOp task;
  PathConditions &conditions;
  Visit visit;
  llvm::DenseSet<Operation *> leaves, inner;
  llvm::DenseMap<Operation *, SmallVector<int64_t, 2>> periods; ///< of the `every` guards in a loop
  int64_t steps = 0;
  bool gaveUp = false;
};

} // namespace mlir::ts

#endif
