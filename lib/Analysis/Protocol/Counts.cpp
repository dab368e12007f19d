// Sums the action table over tasks and CTAs. Arrivals are never taken from a formula of their own:
// rows and columns of a multicast, pairs and pinning come out of who reaches which barrier.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Protocol/Counts.h"

#include <algorithm>
#include <bit>

namespace ts::protocol {

namespace {

std::string plural(int64_t n, const std::string &noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}
std::string quoted(const std::string &task) { return "'" + task + "'"; }

/// What one task adds to one phase on each CTA it arrives from.
struct Term {
  const TaskRole *role;
  int64_t arrivals = 0;
  std::string text;
  CtaMask from = 0;
};

/// Sums stay far from overflow whatever the input; real values are below 2^20.
int64_t bounded(int64_t n) { return std::clamp<int64_t>(n, 0, int64_t(1) << 32); }

/// Warps of `role` that arrive in one phase: all, or the one that owns the lane.
int64_t warpsInPhase(const TaskRole &role, int64_t stride, bool arming) {
  if (laneMode(role, stride) == LaneMode::Warp)
    return 1;
  return bounded(arming && role.armingWarps ? *role.armingWarps : role.warps);
}

/// Tasks that take part in the phase of one lane: with domain lanes only one of the siblings.
/// Their equality is check 21's business.
std::vector<const TaskRole *> rolesOfLane(const std::vector<TaskRole> &roles, int64_t stride) {
  std::vector<const TaskRole *> result;
  int64_t lane = -1;
  for (const TaskRole &role : roles)
    if (laneMode(role, stride) == LaneMode::Domain)
      lane = lane < 0 ? domainLane(role, stride) : std::min(lane, domainLane(role, stride));
  for (const TaskRole &role : roles)
    if (laneMode(role, stride) != LaneMode::Domain || domainLane(role, stride) == lane)
      result.push_back(&role);
  return result;
}

Term termOf(const PipelineSpec &spec, const ClusterSpec &cluster, const ArriveStep &step, Op op,
            const TaskRole &role) {
  Term term;
  term.role = &role;
  term.from = arrivingCtas(spec, cluster, op, role);
  bool arming = step.kind == ArrivalKind::ArriveExpectTx;
  int64_t warps = warpsInPhase(role, spec.stride(op), arming);
  std::string task = quoted(role.task);
  switch (step.who) {
  case Executor::EveryThread:
    term.arrivals = warps * 32;
    term.text = plural(warps, "warp") + " x 32 threads of " + task;
    break;
  case Executor::ElectedLanePerWarp:
    term.arrivals = warps;
    if (arming)
      term.text = plural(warps, "arming warp") + " of " + task;
    else if (step.kind == ArrivalKind::ElectedWarpArrive)
      term.text = plural(warps, "warp") + " x 1 elected lane of " + task;
    else
      term.text = plural(warps, "tcgen05.commit") + " of " + task;
    break;
  case Executor::OneThreadOfTask:
    term.arrivals = 1;
    if (!arming)
      term.text = "1 tcgen05.commit of " + task;
    else if (role.warps > 1)
      term.text =
          "1 (the first warp of " + task + " arms for its " + plural(role.warps, "warp") + ")";
    else
      term.text = "1 arming thread of " + task;
    break;
  }
  return term;
}

/// Picks value, uniformity and the CTA that the derivation is written for.
int64_t summarise(Expected &result) {
  int64_t shown = -1;
  for (size_t cta = 0; cta < result.perCta.size(); ++cta) {
    if (result.perCta[cta] == 0)
      continue;
    if (shown < 0)
      shown = int64_t(cta);
    else if (result.perCta[cta] != result.perCta[size_t(shown)])
      result.uniform = false;
  }
  result.value = shown < 0 ? 0 : result.perCta[size_t(shown)];
  return shown < 0 ? 0 : shown;
}

std::string finish(std::string sum, int64_t value, const Expected &result, int64_t shown,
                   const CtaGrid &grid) {
  sum += " = " + std::to_string(value);
  if (!result.uniform)
    sum += " on CTA " + std::to_string(shown);
  return grid.valid() ? sum : "";
}

std::string laneText(int64_t stride) {
  return stride > 1 ? "per lane of " + std::to_string(stride) + ": " : "";
}

} // namespace

Expected expectedArrivals(const PipelineSpec &spec, const ClusterSpec &cluster,
                          const Participants &by, Barrier barrier) {
  Expected result;
  CtaGrid grid(spec, cluster);
  if (!grid.valid()) {
    result.derivation = "the cluster layout is not valid";
    return result;
  }
  Op op = arrivingOp(spec.type, barrier);
  if (by.of(op).empty()) {
    result.derivation = "no task executes '" + std::string(name(op)) + "'";
    return result;
  }
  Action action = actionFor(spec, cluster, op);
  const ArriveStep &step = *action.arrive;
  std::vector<Term> terms;
  for (const TaskRole *role : rolesOfLane(by.of(op), spec.stride(op)))
    terms.push_back(termOf(spec, cluster, step, op, *role));

  std::vector<CtaMask> reach;
  for (int64_t cta = 0; cta < grid.size(); ++cta)
    reach.push_back(targetMask(spec, cluster, by, barrier, cta));
  result.perCta.assign(size_t(grid.size()), 0);
  for (const Term &term : terms)
    for (int64_t from = 0; from < grid.size(); ++from)
      for (int64_t to = 0; to < grid.size(); ++to)
        if ((term.from >> from & 1) && (reach[size_t(from)] >> to & 1))
          result.perCta[size_t(to)] += term.arrivals;
  int64_t shown = summarise(result);

  bool remote = false; // whether arrivals cross CTAs at all, so that the sum has to say from where
  for (int64_t from = 0; from < grid.size(); ++from)
    remote |= reach[size_t(from)] != CtaMask(1) << from;
  std::string sum;
  for (const Term &term : terms) {
    CtaMask sources = 0;
    for (int64_t from = 0; from < grid.size(); ++from)
      if ((term.from >> from & 1) && (reach[size_t(from)] >> shown & 1))
        sources |= CtaMask(1) << from;
    int count = std::popcount(sources);
    if (count == 0)
      continue;
    sum += (sum.empty() ? "" : " + ") + term.text;
    bool issuers = step.kind == ArrivalKind::TcgenCommitMulticast && step.leaderOnly;
    bool shares = step.target == Target::McastPairs || step.target == Target::McastPeers;
    if (count > 1)
      sum += " x " + std::to_string(count) +
             (issuers && grid.pairSize() > 1 ? " MMA pairs" : " CTAs") +
             (shares ? " that share its multicast" : "");
    else if (remote && term.role->pinnedCta >= 0)
      sum += " (CTA " + std::to_string(term.role->pinnedCta) + " only)";
  }
  if (sum.empty())
    sum = "nobody";
  result.derivation =
      finish(laneText(spec.stride(op)) + sum, result.value.value_or(0), result, shown, grid);
  return result;
}

namespace {

/// Bytes of known copies, added up at the barrier that counts them.
Expected issuedBytes(const PipelineSpec &spec, const ClusterSpec &cluster, const CtaGrid &grid,
                     const std::vector<const TaskRole *> &roles) {
  Expected result;
  result.fromCopies = true;
  result.perCta.assign(size_t(grid.size()), 0);
  std::string sum;
  int64_t one = 0; // bytes that one CTA issues
  for (const TaskRole *role : roles) {
    const IssuedBytes &bytes = *role->issued;
    CtaMask from = waitingCtas(spec, cluster, Op::Acquire, *role);
    for (int64_t source = 0; source < grid.size(); ++source) {
      if (!(from >> source & 1))
        continue;
      const std::pair<int64_t, CtaMask> parts[] = {
          {bounded(bytes.own), CtaMask(1) << source},
          {bounded(bytes.alongN), grid.peers(source, {true, false})},
          {bounded(bytes.alongM), grid.peers(source, {false, true})}};
      for (auto [size, lands] : parts)
        for (int64_t to = 0; to < grid.size(); ++to)
          if (lands >> to & 1) {
            bool leader =
                spec.producerSignal & SignalCtaLeader && spec.type == PipelineType::TmaAsync;
            int64_t barrier = spec.type == PipelineType::TmaUmma ? grid.pairLeader(to)
                              : leader                           ? 0
                                                                 : to;
            result.perCta[size_t(barrier)] += size;
          }
    }
    int64_t total = bounded(bytes.own) + bounded(bytes.alongN) + bounded(bytes.alongM);
    one += total;
    sum += (sum.empty() ? "" : " + ") + std::to_string(total) + " bytes of the copies of " +
           quoted(role->task);
  }
  int64_t shown = summarise(result);
  if (one > 0 && *result.value != one && *result.value % one == 0)
    sum = (roles.size() > 1 ? "(" + sum + ")" : sum) + " x " + std::to_string(*result.value / one) +
          " CTAs";
  result.derivation = finish(sum, *result.value, result, shown, grid);
  return result;
}

} // namespace

Expected routedBytes(const PipelineSpec &spec, const ClusterSpec &cluster, const Participants &by) {
  Expected result;
  CtaGrid grid(spec, cluster);
  std::vector<const TaskRole *> roles = rolesOfLane(by.acquire, spec.stride(Op::Acquire));
  if (!spec.bytesPerWarpPerCta || roles.empty() || !grid.valid())
    return result;
  // CTAs whose copies complete on one barrier: the pair, or the cluster that a plain TMA pipeline
  // routes to its leader.
  int64_t covered = spec.type == PipelineType::TmaUmma ? grid.pairSize() : grid.size();
  int64_t warps = 0, each = *spec.bytesPerWarpPerCta, value;
  for (const TaskRole *role : roles)
    warps = bounded(warps + warpsInPhase(*role, spec.stride(Op::Acquire), true));
  if (__builtin_mul_overflow(each, warps * covered, &value)) {
    result.derivation = "the product of bytes, warps and CTAs overflows";
    return result;
  }
  result.value = value;
  result.derivation = std::to_string(each) + " bytes x " + plural(warps, "producing warp") + " x " +
                      plural(covered, "CTA") + " = " + std::to_string(value);
  return result;
}

Expected expectedBytes(const PipelineSpec &spec, const ClusterSpec &cluster,
                       const Participants &by) {
  Expected result;
  CtaGrid grid(spec, cluster);
  auto everywhere = [&](int64_t value, std::string derivation) {
    result.value = value;
    for (int64_t cta = 0; cta < grid.size(); ++cta) {
      // The leader of a pair counts the bytes of both.
      bool counts = spec.type != PipelineType::TmaUmma || grid.pairLeader(cta) == cta;
      result.perCta.push_back(counts ? value : 0);
    }
    result.derivation = std::move(derivation);
    return result;
  };
  if (!countsBytes(spec.type))
    return everywhere(0, "no bulk copy completes on this barrier");
  if (producerKind(spec.type) == SideKind::Clc)
    return everywhere(16, "one 16-byte response per stage");
  if (!grid.valid()) {
    result.derivation = "the cluster layout is not valid";
    return result;
  }

  std::vector<const TaskRole *> roles = rolesOfLane(by.acquire, spec.stride(Op::Acquire));
  bool known = !roles.empty() && std::all_of(roles.begin(), roles.end(), [](const TaskRole *r) {
    return r->issued.has_value();
  });
  if (known)
    return issuedBytes(spec, cluster, grid, roles);

  if (spec.bytesPerWarpPerCta && !roles.empty()) {
    Expected routed = routedBytes(spec, cluster, by);
    return routed.value ? everywhere(*routed.value, std::move(routed.derivation)) : routed;
  }
  if (spec.stageBytes && *spec.stageBytes > 0) {
    int64_t value, covered = spec.type == PipelineType::TmaUmma ? grid.pairSize() : 1;
    if (!__builtin_mul_overflow(*spec.stageBytes, covered, &value)) {
      result.assumed = true;
      return everywhere(value, "one stage of " + std::to_string(*spec.stageBytes) + " bytes x " +
                                   plural(covered, "CTA") + " = " + std::to_string(value));
    }
  }
  result.derivation = "no copy into the stage is known";
  return result;
}

ExpectedCounts expectedCounts(const PipelineSpec &spec, const ClusterSpec &cluster,
                              const Participants &by) {
  ExpectedCounts counts;
  counts.fullArrivals = expectedArrivals(spec, cluster, by, Barrier::Full);
  counts.fullBytes = expectedBytes(spec, cluster, by);
  counts.emptyArrivals = expectedArrivals(spec, cluster, by, Barrier::Empty);

  PipelineSpec other = spec;
  if (spec.type == PipelineType::TmaAsync)
    other.releaseStyle = spec.releaseStyle == ReleaseStyle::PerWarp ? ReleaseStyle::PerThread
                                                                    : ReleaseStyle::PerWarp;
  else if (spec.type == PipelineType::TmaUmma && CtaGrid(spec, cluster).pairs() > 1)
    other.commitMask =
        spec.commitMask == CommitMask::Derived ? CommitMask::WholeCluster : CommitMask::Derived;
  else
    return counts;
  Expected alternative = expectedArrivals(other, cluster, by, Barrier::Empty);
  if (alternative.value && alternative.value != counts.emptyArrivals.value)
    counts.emptyAlternatives.push_back(std::move(alternative));
  return counts;
}

PipelineSpec resolveDeclared(PipelineSpec spec, const ClusterSpec &cluster,
                             const Participants &by) {
  ExpectedCounts counts = expectedCounts(spec, cluster, by);
  auto fits = [&](const Expected &e) { return e.value && e.value == spec.consumerCount; };
  if (spec.consumerCount && !fits(counts.emptyArrivals) &&
      std::any_of(counts.emptyAlternatives.begin(), counts.emptyAlternatives.end(), fits)) {
    if (spec.type == PipelineType::TmaAsync)
      spec.releaseStyle = spec.releaseStyle == ReleaseStyle::PerWarp ? ReleaseStyle::PerThread
                                                                     : ReleaseStyle::PerWarp;
    else
      spec.commitMask =
          spec.commitMask == CommitMask::Derived ? CommitMask::WholeCluster : CommitMask::Derived;
  }
  if (!spec.producerCount)
    spec.producerCount = counts.fullArrivals.value;
  if (!spec.numBytes)
    spec.numBytes = counts.fullBytes.value;
  if (!spec.consumerCount)
    spec.consumerCount = counts.emptyArrivals.value;
  return spec;
}

} // namespace ts::protocol
