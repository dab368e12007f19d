// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a work body once per warp and CTA with the conditions that their identity decides.
#include "ts/Analysis/Schedule/IssuedCopies.h"
#include "ts/Analysis/Schedule/Values.h"
#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

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
class BodyWalk {
public:
  BodyWalk(ValueEnv env, const CtaGrid &grid) : evaluator(env), grid(grid), cta(*env.ctaRank) {}

  /// The bytes of each path through the region; nothing if they depend on unknown values.
  std::optional<Alternatives> region(Region &body, int depth) {
    Alternatives paths = {IssuedBytes()};
    if (body.empty())
      return paths;
    if (!body.hasOneBlock() || depth > kMaxNesting)
      return copies(body) ? std::nullopt : std::optional(paths);
    for (Operation &op : body.front()) {
      std::optional<Alternatives> issued = operation(op, depth);
      if (!issued)
        return std::nullopt;
      if (issued->size() == 1 && sameBytes(issued->front(), IssuedBytes()))
        continue;
      Alternatives next;
      for (const IssuedBytes &before : paths)
        for (const IssuedBytes &here : *issued)
          insert(next, plus(before, here));
      if (next.size() > kMaxAlternatives)
        return std::nullopt;
      paths = std::move(next);
    }
    return paths;
  }

private:
  static bool copies(Region &body) {
    return body
        .walk([](Operation *op) {
          return copyBytes(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  std::optional<Alternatives> operation(Operation &op, int depth) {
    if (auto bytes = copyBytes(&op)) {
      auto load = dyn_cast<TmaLoadOp>(op);
      if (!load || (!load.getMulticast() && !load.getAlong()))
        return Alternatives{IssuedBytes{*bytes, 0, 0}};
      CtaMask bits = 0;
      if (std::optional<StringRef> along = load.getAlong()) {
        bits = grid.peers(cta, {*along == "n", *along == "m"});
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
    if (op.getNumRegions() == 0)
      return Alternatives{IssuedBytes()};
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (auto taken = evaluator.evaluate(branch.getCondition()))
        return region(*taken ? branch.getThenRegion() : branch.getElseRegion(), depth + 1);
      auto then = region(branch.getThenRegion(), depth + 1);
      auto orelse = region(branch.getElseRegion(), depth + 1);
      if (!then || !orelse)
        return std::nullopt;
      for (const IssuedBytes &bytes : *orelse)
        insert(*then, bytes);
      return then;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto body = region(loop.getRegion(), depth + 1);
      if (!body)
        return std::nullopt;
      auto lower = evaluator.evaluate(loop.getLowerBound());
      auto upper = evaluator.evaluate(loop.getUpperBound());
      auto step = evaluator.evaluate(loop.getStep());
      bool silent = body->size() == 1 && sameBytes(body->front(), IssuedBytes());
      if (silent)
        return body;
      if (body->size() != 1 || !lower || !upper || !step || *step <= 0)
        return std::nullopt;
      int64_t trips = *upper > *lower ? (*upper - *lower - 1) / *step + 1 : 0;
      return Alternatives{times(body->front(), trips)};
    }
    if (isa<ElectOp>(op))
      return region(op.getRegion(0), depth + 1);
    for (Region &nested : op.getRegions())
      if (copies(nested))
        return std::nullopt;
    return Alternatives{IssuedBytes()};
  }

  ValueEvaluator evaluator;
  const CtaGrid &grid;
  int64_t cta;
};
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
  std::optional<Alternatives> common;
  for (int64_t cta = 0; cta < grid.size(); ++cta) {
    if (task.getOnlyCta() && int64_t(*task.getOnlyCta()) != cta)
      continue;
    std::optional<Alternatives> sum;
    bool uniform = true;
    Alternatives first;
    for (int64_t warp = 0; warp < warps; ++warp) {
      auto paths = BodyWalk({cta, warp, replica}, grid).region(work.getBody(), 0);
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
