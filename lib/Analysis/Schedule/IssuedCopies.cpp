// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a work body once per warp and CTA with the conditions that their identity decides.
#include "ts/Analysis/Schedule/IssuedCopies.h"
#include "ts/Analysis/Schedule/PathWalker.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

using namespace mlir;
using namespace mlir::ts;
using namespace ::ts::protocol;
using Alternatives = SmallVector<IssuedBytes, 2>;

static constexpr size_t kMaxAlternatives = 8;
static constexpr int kMaxNesting = ::ts::schedule::maxDepth;

static bool sameBytes(const IssuedBytes &a, const IssuedBytes &b) {
  return a.own == b.own && a.alongN == b.alongN && a.alongM == b.alongM;
}
/// Sums stay far from overflow; real values are below 2^20.
static int64_t clampBytes(int64_t bytes) { return std::clamp<int64_t>(bytes, 0, int64_t(1) << 40); }
static IssuedBytes plus(const IssuedBytes &a, const IssuedBytes &b) {
  return {clampBytes(a.own + b.own), clampBytes(a.alongN + b.alongN),
          clampBytes(a.alongM + b.alongM)};
}
static IssuedBytes times(const IssuedBytes &a, int64_t n) {
  n = std::min<int64_t>(n, int64_t(1) << 20);
  return {clampBytes(a.own * n), clampBytes(a.alongN * n), clampBytes(a.alongM * n)};
}
static void insert(Alternatives &list, const IssuedBytes &bytes) {
  if (llvm::none_of(list, [&](const IssuedBytes &other) { return sameBytes(other, bytes); }))
    list.push_back(bytes);
}

std::optional<int64_t> mlir::ts::copyBytes(Operation *op) {
  auto stageBarrier = [](Value barrier) {
    auto info = barrier ? barrier.getDefiningOp<InfoOp>() : InfoOp();
    return !barrier || (info && info.getKind() == InfoKind::Barrier);
  };
  if (auto load = dyn_cast<TmaLoadOp>(op)) {
    if (!stageBarrier(load.getBarrier()))
      return std::nullopt;
    int64_t rows = load.getGather().empty() ? 1 : int64_t(load.getGather().size());
    return clampBytes(load.getMap().getType().getBoxBytes()) * rows;
  }
  if (auto load = dyn_cast<BulkLoadOp>(op)) {
    if (!stageBarrier(load.getBarrier()))
      return std::nullopt;
    return clampBytes(getBytes(cast<MemRefType>(load.getDst().getType())));
  }
  return std::nullopt;
}

namespace {
/// A condition of the schedule: what it speaks of (loop, value or key) and, for a guard, what of
/// it.
using ConditionKey = std::tuple<const void *, int, int64_t>;
using Decisions = std::map<ConditionKey, bool>;
constexpr int kValueKind = -1;

/// A condition and the region number where it is true.
struct Branch {
  ConditionKey key;
  Value value; ///< null for a guard
  unsigned whenTrue = 0;
};

std::optional<Branch> branchOf(Operation &op) {
  if (auto guard = dyn_cast<GuardOp>(op)) {
    Operation *loop = guardedLoop(guard);
    GuardKind kind = guard.getKind();
    bool negated = kind == GuardKind::NotFirst || kind == GuardKind::NotLast;
    if (negated)
      kind = kind == GuardKind::NotFirst ? GuardKind::First : GuardKind::Last;
    int64_t period = kind == GuardKind::Every ? int64_t(guard.getPeriod()) : 1;
    return Branch{{loop ? loop : &op, int(kind), period}, Value(), negated};
  }
  if (auto when = dyn_cast<WhenOp>(op)) {
    const void *what = when.getCondition().getAsOpaquePointer();
    if (StringAttr key = when.getKeyAttr())
      what = key.getAsOpaquePointer();
    return Branch{{what, kValueKind, 0}, when.getCondition(), !when.getExpected()};
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return Branch{
        {branch.getCondition().getAsOpaquePointer(), kValueKind, 0}, branch.getCondition(), 0};
  return std::nullopt;
}

bool copies(Region &body) {
  return body
      .walk([](Operation *op) {
        return copyBytes(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

class BodyWalk {
public:
  BodyWalk(ValueEnv env, const CtaGrid &grid, Decisions decisions)
      : env(env), evaluator(env), grid(grid), cta(*env.ctaRank), decisions(std::move(decisions)) {}

  /// The bytes of each path through the region; nothing if they depend on unknown values.
  std::optional<Alternatives> region(Region &body, int depth) {
    Alternatives paths = {IssuedBytes()};
    if (body.empty())
      return paths;
    if (!body.hasOneBlock() || depth > kMaxNesting)
      return copies(body) ? std::nullopt : std::optional(paths);
    for (Operation &op : body.front()) {
      std::optional<Alternatives> issued = operation(op, depth);
      if (!issued || !follow(paths, *issued))
        return std::nullopt;
    }
    return paths;
  }

private:
  /// Continues every path with each of `issued`; false if there are too many.
  static bool follow(Alternatives &paths, const Alternatives &issued) {
    if (issued.size() == 1 && sameBytes(issued.front(), IssuedBytes()))
      return true;
    Alternatives next;
    for (const IssuedBytes &before : paths)
      for (const IssuedBytes &here : issued)
        insert(next, plus(before, here));
    paths = std::move(next);
    return paths.size() <= kMaxAlternatives;
  }

  std::optional<Alternatives> operation(Operation &op, int depth) {
    if (auto bytes = copyBytes(&op)) {
      auto load = dyn_cast<TmaLoadOp>(op);
      if (!load || (!load.getMulticast() && !load.getAlong()))
        return Alternatives{IssuedBytes{*bytes, 0, 0}};
      CtaMask bits = 0;
      if (auto along = reachedAlong(load, cta, grid)) {
        bits = *along;
      } else {
        auto mask = evaluator.evaluate(load.getMulticast());
        if (!mask)
          return std::nullopt;
        bits = CtaMask(*mask) & 0xffff;
      }
      if (bits == CtaMask(1) << cta)
        return Alternatives{IssuedBytes{*bytes, 0, 0}};
      if (bits == grid.peers(cta, {true, false}))
        return Alternatives{IssuedBytes{0, *bytes, 0}};
      if (bits == grid.peers(cta, {false, true}))
        return Alternatives{IssuedBytes{0, 0, *bytes}};
      return std::nullopt;
    }
    if (llvm::none_of(op.getRegions(), copies))
      return Alternatives{IssuedBytes()};
    if (std::optional<Branch> branch = branchOf(op))
      return conditional(op, *branch, depth);
    if (isa<scf::ForOp, ForOp>(op))
      return loop(op, depth);
    if (isa<ElectOp>(op))
      return region(op.getRegion(0), depth + 1);
    return std::nullopt;
  }

  std::optional<Alternatives> conditional(Operation &op, const Branch &branch, int depth) {
    auto side = [&](bool value) -> std::optional<Alternatives> {
      unsigned number = value ? branch.whenTrue : 1 - branch.whenTrue;
      if (number >= op.getNumRegions())
        return Alternatives{IssuedBytes()};
      return region(op.getRegion(number), depth + 1);
    };
    if (branch.value)
      if (auto number = evaluator.evaluate(branch.value))
        return side(*number != 0);
    if (auto it = decisions.find(branch.key); it != decisions.end())
      return side(it->second);
    auto yes = side(true), no = side(false);
    if (!yes || !no)
      return std::nullopt;
    for (const IssuedBytes &bytes : *no)
      insert(*yes, bytes);
    return yes;
  }

  std::optional<Alternatives> loop(Operation &op, int depth) {
    std::optional<int64_t> lower, upper, step;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      lower = evaluator.evaluate(loop.getLowerBound());
      upper = evaluator.evaluate(loop.getUpperBound());
      step = evaluator.evaluate(loop.getStep());
    } else {
      auto domain = cast<ForOp>(op);
      lower = evaluator.evaluate(domain.getLower());
      upper = evaluator.evaluate(domain.getUpper());
      step = domain.getStep() ? evaluator.evaluate(domain.getStep()) : 1;
    }
    int64_t range;
    if (!lower || !upper || !step || *step <= 0 || llvm::SubOverflow(*upper, *lower, range))
      return std::nullopt;
    int64_t trips = range > 0 ? (range - 1) / *step + 1 : 0;
    if (trips == 0)
      return Alternatives{IssuedBytes()};
    bool branches = op.getRegion(0)
                        .walk([](Operation *inner) {
                          return branchOf(*inner) && llvm::any_of(inner->getRegions(), copies)
                                     ? WalkResult::interrupt()
                                     : WalkResult::advance();
                        })
                        .wasInterrupted();
    if (!branches) {
      auto body = region(op.getRegion(0), depth + 1);
      if (!body || body->size() != 1)
        return std::nullopt;
      return Alternatives{times(body->front(), trips)};
    }
    // Which way a branch goes may depend on the iteration, so each is looked at.
    if (trips > kMaxTrips || (steps += trips) > kMaxSteps)
      return std::nullopt;
    Alternatives paths = {IssuedBytes()};
    Decisions before = decisions;
    for (int64_t trip = 0; trip < trips; ++trip) {
      known[op.getRegion(0).front().getArgument(0)] = *lower + trip * *step;
      fresh();
      decisions = before;
      decisions[{&op, int(GuardKind::First), 1}] = trip == 0;
      decisions[{&op, int(GuardKind::Last), 1}] = trip + 1 == trips;
      op.getRegion(0).walk([&](GuardOp guard) {
        if (guard.getKind() == GuardKind::Every && guardedLoop(guard) == &op && guard.getPeriod())
          decisions[branchOf(*guard)->key] = trip % int64_t(guard.getPeriod()) == 0;
      });
      auto issued = region(op.getRegion(0), depth + 1);
      if (!issued || !follow(paths, *issued))
        return std::nullopt;
    }
    decisions = std::move(before);
    known.erase(op.getRegion(0).front().getArgument(0));
    fresh();
    return paths;
  }

  /// Forgets what was computed from the number of an iteration.
  void fresh() {
    evaluator = ValueEvaluator(env);
    for (auto [value, number] : known)
      evaluator.assume(value, number);
  }

  static constexpr int64_t kMaxTrips = 64, kMaxSteps = 4096;

  ValueEnv env;
  ValueEvaluator evaluator;
  const CtaGrid &grid;
  int64_t cta;
  Decisions decisions;
  llvm::DenseMap<Value, int64_t> known; ///< numbers of the iterations that are walked
  int64_t steps = 0;
};

/// The conditions around copies that are the same wherever the body asks for them: those that no
/// loop inside of the body changes.
SmallVector<ConditionKey, 4> fixedConditions(ProduceOp work) {
  SmallVector<ConditionKey, 4> keys;
  work.getBody().walk([&](Operation *op) {
    auto branch = branchOf(*op);
    if (!branch || llvm::none_of(op->getRegions(), copies))
      return;
    Operation *from = guardedLoop(op);
    if (branch->value)
      from = branch->value.getParentRegion()->getParentOp();
    for (; from && from != work.getOperation(); from = from->getParentOp())
      if (isScheduleLoop(from) && work->isAncestor(from))
        return;
    if (!llvm::is_contained(keys, branch->key))
      keys.push_back(branch->key);
  });
  constexpr size_t kMaxConditions = 4;
  if (keys.size() > kMaxConditions)
    keys.clear(); // then each goes both ways by itself
  return keys;
}

/// The paths of one warp. Two branches that ask the same go the same way.
std::optional<Alternatives> pathsOf(ProduceOp work, ValueEnv env, const CtaGrid &grid,
                                    ArrayRef<ConditionKey> keys) {
  Alternatives all;
  for (unsigned choice = 0; choice < 1u << keys.size(); ++choice) {
    Decisions decisions;
    for (auto [i, key] : llvm::enumerate(keys))
      decisions[key] = choice >> i & 1;
    // The first iteration is one of every n.
    if (llvm::any_of(decisions, [&](auto &entry) {
          auto [what, kind, period] = entry.first;
          auto first = decisions.find({what, int(GuardKind::First), 1});
          return kind == int(GuardKind::Every) && !entry.second &&
                 (period == 1 || (first != decisions.end() && first->second));
        }))
      continue;
    auto paths = BodyWalk(env, grid, std::move(decisions)).region(work.getBody(), 0);
    if (!paths)
      return std::nullopt;
    for (const IssuedBytes &bytes : *paths)
      insert(all, bytes);
  }
  if (all.size() > kMaxAlternatives)
    return std::nullopt;
  return all;
}
} // namespace

/// Declared bytes are what a CTA issues. They are of multicast copies where each CTA issues so much
/// less than a stage holds: its part of all buffers along the one dimension in which it has peers,
/// or of the first along n and of the second along m (the operands of a product).
static IssuedBytes declaredBytes(ProduceOp work, int64_t bytes, const PipelineSpec &spec,
                                 const CtaGrid &grid) {
  IssuedBytes own{clampBytes(bytes), 0, 0};
  auto resource = work.getResource().getDefiningOp<ResourceOp>();
  auto peers = [&](bool n, bool m) -> int64_t {
    return llvm::popcount(grid.peers(0, {n && spec.multicast[0], m && spec.multicast[1]}));
  };
  int64_t alongN = peers(true, false), alongM = peers(false, true), stage = 0;
  if (!resource || alongN * alongM == 1)
    return own;
  SmallVector<int64_t, 2> sizes;
  for (auto alloc : resource.getAllocs().getAsRange<AllocAttr>())
    if (isSmem(alloc.getType()) && alloc.getStaged())
      stage += sizes.emplace_back(clampBytes(getBytes(alloc.getType())));
  if (bytes <= 0 || bytes >= stage)
    return own;
  if (alongM == 1 && bytes * alongN == stage)
    return {0, bytes, 0};
  if (alongN == 1 && bytes * alongM == stage)
    return {0, 0, bytes};
  if (sizes.size() != 2 || sizes[0] % alongN || sizes[1] % alongM ||
      sizes[0] / alongN + sizes[1] / alongM != bytes)
    return own;
  IssuedBytes result;
  (alongN > 1 ? result.alongN : result.own) += sizes[0] / alongN;
  (alongM > 1 ? result.alongM : result.own) += sizes[1] / alongM;
  return result;
}

::ts::schedule::IssuedBytes mlir::ts::issuedBy(ProduceOp work, TaskOp task, int64_t replica,
                                               bool perWarp, const PipelineSpec &spec,
                                               const ClusterSpec &cluster) {
  ::ts::schedule::IssuedBytes result;
  CtaGrid grid(spec, cluster);
  if (!work.hasBody()) {
    if (work.getBytes())
      result.alternatives = {
          declaredBytes(work, clampBytes(int64_t(*work.getBytes())), spec, grid)};
    else
      result.known = false;
    return result;
  }
  int64_t warps = task.getWarpsPerReplica();
  SmallVector<ConditionKey, 4> keys = fixedConditions(work);
  std::optional<Alternatives> common;
  for (int64_t cta = 0; cta < grid.size(); ++cta) {
    if (task.getOnlyCta() && int64_t(*task.getOnlyCta()) != cta)
      continue;
    std::optional<Alternatives> sum;
    bool uniform = true;
    Alternatives first;
    for (int64_t warp = 0; warp < warps; ++warp) {
      auto paths = pathsOf(work, {cta, warp, replica}, grid, keys);
      if (!paths) {
        result.known = false;
        return result;
      }
      if (warp == 0) {
        first = *paths;
        sum = *paths;
        continue;
      }
      uniform &= paths->size() == first.size() &&
                 std::equal(paths->begin(), paths->end(), first.begin(), sameBytes);
      if (paths->size() == 1 && sum->size() == 1)
        sum->front() = plus(sum->front(), paths->front());
      else if (!uniform)
        sum.reset();
      if (!sum)
        break;
    }
    // A condition that no identity decides is taken to be the same for all warps.
    if (sum && sum->size() > 1)
      for (IssuedBytes &bytes : *sum)
        bytes = times(bytes, warps);
    if (sum && perWarp)
      sum = uniform ? std::optional(first) : std::nullopt;
    if (!sum || (common && !(common->size() == sum->size() &&
                             std::equal(sum->begin(), sum->end(), common->begin(), sameBytes)))) {
      result.known = false;
      return result;
    }
    common = sum;
  }
  if (common)
    result.alternatives.assign(common->begin(), common->end());
  return result;
}
