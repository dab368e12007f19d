// bar, barrier and barrier.cluster: thread barriers of a CTA and of a cluster. Source: PTX ISA,
// "Parallel Synchronization and Communication Instructions". SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "Decode.h"

#include <bit>

namespace ts::emu {
namespace {

enum class Action { Sync, Arrive, RedPopc, RedAnd, RedOr };

uint32_t threadsLeft(const Cta &cta) {
  uint32_t threads = 0;
  for (const std::unique_ptr<Warp> &warp : cta.warps)
    threads += warp->alive() ? warpSize : 0;
  return threads;
}

void complete(NamedBarrier &barrier) {
  barrier.completed = std::move(barrier.opening);
  barrier.opening = {};
  barrier.redAndDone = barrier.redAnd;
  barrier.redOrDone = barrier.redOr;
  barrier.redPopcDone = barrier.redPopc;
  barrier.redAnd = 1;
  barrier.redOr = barrier.redPopc = 0;
  barrier.arrived = barrier.expected = 0;
  barrier.everyone = false;
  ++barrier.generation;
}

struct Named {
  Action action;
  bool aligned;
  Src id, count;
  bool hasCount;
  Dst result;
  Src value;

  void arrive(Exec &x, NamedBarrier &barrier, unsigned number) const {
    uint32_t expected = hasCount ? uint32_t(count.uniform(x)) : threadsLeft(x.cta);
    if (expected == 0 || expected % warpSize || expected > 1024)
      fault(FaultKind::BarrierArrival,
            "barrier %u is used with a count of %u threads; expected a multiple of %u up to 1024",
            number, expected, warpSize);
    if (barrier.expected && barrier.everyone == hasCount)
      fault(FaultKind::BarrierArrival,
            "barrier %u: some warps use it with a thread count and some without", number);
    if (barrier.expected && hasCount && barrier.expected != expected)
      fault(FaultKind::BarrierArrival,
            "barrier %u is expected to be reached by %u threads, but another warp says %u", number,
            expected, barrier.expected);
    barrier.expected = expected;
    barrier.everyone = !hasCount;
    // An aligned barrier counts the whole warp, whatever lanes it still has.
    uint32_t arriving =
        aligned || x.mask == x.warp.alive() ? warpSize : uint32_t(std::popcount(x.mask));
    barrier.arrived += arriving;
    if (barrier.arrived > barrier.expected)
      fault(FaultKind::BarrierArrival,
            "barrier %u: %u threads have arrived where %u are expected; another warp uses the same "
            "number, or the count is too small",
            number, barrier.arrived, barrier.expected);
    Checker &checker = *x.cluster.checker;
    barrier.opening.joinAll(x.clock());
    checker.newEvent(x.warp.agent);
    if (action >= Action::RedPopc) {
      uint32_t holds = value.predicate(x) & x.mask;
      barrier.redPopc += uint32_t(std::popcount(holds));
      barrier.redAnd &= holds == x.mask;
      barrier.redOr |= holds != 0;
    }
    if (barrier.arrived == barrier.expected)
      complete(barrier);
    x.cluster.changed();
  }

  Step operator()(Exec &x) const {
    if (aligned && !x.converged(x.warp.alive()))
      return Step::Blocked;
    auto number = unsigned(id.uniform(x));
    if (number >= x.cta.named.size())
      fault(FaultKind::BarrierState, "barrier %u does not exist; there are 0 to 15", number);
    NamedBarrier &barrier = x.cta.named[number];
    if (x.split.resume == 0) {
      uint64_t generation = barrier.generation;
      arrive(x, barrier, number);
      if (action == Action::Arrive)
        return Step::Next;
      x.split.resume = generation + 1;
    }
    if (barrier.generation < x.split.resume) {
      x.wait(WaitKind::NamedBarrier, number,
             format("barrier %u: %u of %u threads have arrived", number, barrier.arrived,
                    barrier.expected));
      return Step::Blocked;
    }
    x.clock().acquire(barrier.completed);
    x.cluster.checker->warpSynchronised(x.warp.agent);
    if (action == Action::RedPopc)
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        if (x.active(lane))
          result.set(x, lane, barrier.redPopcDone);
      }
    else if (action == Action::RedAnd)
      result.setPredicate(x, barrier.redAndDone ? ~0u : 0);
    else if (action == Action::RedOr)
      result.setPredicate(x, barrier.redOrDone ? ~0u : 0);
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeBarrier(Decode &d) {
  bool isBar = d.inst.parts[0] == "bar";
  d.take("cta");
  Named op{};
  op.aligned = isBar;
  if (d.take("red")) {
    int kind = d.takeOneOf({"popc", "and", "or"});
    if (kind < 0)
      d.refuse("expected .popc, .and or .or behind .red");
    op.action = Action(int(Action::RedPopc) + kind);
  } else if (d.take("arrive")) {
    op.action = Action::Arrive;
  } else {
    d.need("sync");
    op.action = Action::Sync;
  }
  if (d.take("aligned"))
    op.aligned = true;
  size_t next = 0;
  if (op.action >= Action::RedPopc) {
    ptx::Type type = d.needType();
    if (type != (op.action == Action::RedPopc ? ptx::Type::U32 : ptx::Type::Pred))
      d.refuse("the reduction does not have type .%s", ptx::typeName(type));
    op.result = d.dst(next++);
    op.value = d.predicate(d.numOperands() - 1);
  }
  d.end();
  size_t left = d.numOperands() - next - (op.action >= Action::RedPopc ? 1 : 0);
  if (left < 1 || left > 2 || (op.action == Action::Arrive && left != 2))
    d.refuse("expected a barrier number and a thread count");
  op.id = d.src(next, ptx::Type::B32);
  op.hasCount = left == 2;
  if (op.hasCount)
    op.count = d.src(next + 1, ptx::Type::B32);
  return makeOp(op);
}

std::unique_ptr<Op> decodeWarpSync(Decode &d) {
  d.end();
  d.needOperands(1, 1);
  Src members = d.src(0, ptx::Type::B32);
  return makeOp([members](Exec &x) {
    if (!x.converged(uint32_t(members.uniform(x)) & x.warp.alive()))
      return Step::Blocked;
    x.cluster.checker->warpSynchronised(x.warp.agent);
    return Step::Next;
  });
}

void completeCluster(Cluster &cluster) {
  bool any = false;
  for (const std::unique_ptr<Cta> &cta : cluster.ctas)
    for (const std::unique_ptr<Warp> &warp : cta->warps) {
      if (warp->alive() & ~warp->clusterArrived)
        return;
      any |= warp->clusterArrived != 0;
    }
  if (!any)
    return;
  for (const std::unique_ptr<Cta> &cta : cluster.ctas)
    for (const std::unique_ptr<Warp> &warp : cta->warps)
      warp->clusterArrived = 0;
  cluster.barrier.completed = std::move(cluster.barrier.opening);
  cluster.barrier.opening = {};
  cluster.barrier.completedInits = std::move(cluster.barrier.openingInits);
  cluster.barrier.openingInits = {};
  ++cluster.barrier.generation;
  cluster.changed();
}

std::unique_ptr<Op> decodeCluster(Decode &d) {
  bool arrive = d.take("arrive");
  if (!arrive)
    d.need("wait");
  int order = arrive ? d.takeOneOf({"release", "relaxed"}) : d.takeOneOf({"acquire"}) * 0;
  bool aligned = d.take("aligned");
  d.end();
  d.needOperands(0, 0);
  bool releases = order != 1;
  return makeOp([=](Exec &x) {
    if (aligned && !x.converged(x.warp.alive()))
      return Step::Blocked;
    ClusterBarrier &barrier = x.cluster.barrier;
    Warp &warp = x.warp;
    if (arrive) {
      if (warp.clusterPending & x.mask)
        fault(FaultKind::BarrierArrival,
              "barrier.cluster.arrive twice without barrier.cluster.wait in between");
      warp.clusterArrived |= x.mask;
      warp.clusterPending |= x.mask;
      // A relaxed arrive hands over what a fence before it covers.
      barrier.opening.joinAll(releases ? x.clock() : warp.fenced);
      if (!releases)
        barrier.openingInits.join(x.clock().order);
      x.cluster.checker->newEvent(warp.agent);
      x.cluster.changed();
      completeCluster(x.cluster);
      return Step::Next;
    }
    if (~warp.clusterPending & x.mask)
      fault(FaultKind::BarrierState,
            "barrier.cluster.wait without a barrier.cluster.arrive before it");
    if (warp.clusterArrived & x.mask) { // the generation it arrived at is still open
      unsigned missing = 0;
      for (const std::unique_ptr<Cta> &cta : x.cluster.ctas)
        for (const std::unique_ptr<Warp> &w : cta->warps)
          missing += unsigned(std::popcount(w->alive() & ~w->clusterArrived));
      x.wait(WaitKind::ClusterBarrier, 0,
             format("the cluster barrier: %u threads of the cluster have not arrived", missing));
      return Step::Blocked;
    }
    warp.clusterPending &= ~x.mask;
    x.clock().acquire(barrier.completed);
    x.cluster.checker->warpSynchronised(warp.agent);
    warp.initsKnown.join(barrier.completedInits);
    return Step::Next;
  });
}
} // namespace

void barriersAfterExit(Cta &cta) {
  for (NamedBarrier &barrier : cta.named)
    if (barrier.expected && barrier.everyone) {
      barrier.expected = threadsLeft(cta);
      if (barrier.arrived && barrier.arrived >= barrier.expected)
        complete(barrier);
    }
  completeCluster(*cta.cluster);
}

void registerBarriers(DecoderTable &table) {
  table.add("bar", decodeBarrier,
            {{"bar[.cta].sync", "0"},
             {"bar[.cta].sync", "1, 64"},
             {"bar[.cta].arrive", "1, 64"},
             {"bar[.cta].red.popc.u32", "%r1, 1, 64, %p1"},
             {"bar[.cta].red.{and|or}.pred", "%p1, 1, 64, %p2"}});
  table.add("barrier", decodeBarrier,
            {{"barrier[.cta].sync[.aligned]", "0"},
             {"barrier[.cta].sync[.aligned]", "1, 64"},
             {"barrier[.cta].arrive[.aligned]", "1, 64"},
             {"barrier[.cta].red.popc[.aligned].u32", "%r1, 1, 64, %p1"},
             {"barrier[.cta].red.{and|or}[.aligned].pred", "%p1, 1, 64, %p2"}});
  table.add("bar.warp.sync", decodeWarpSync, {{"bar.warp.sync", "%r1"}});
  table.add("barrier.cluster", decodeCluster,
            {{"barrier.cluster.arrive[.release|.relaxed][.aligned]", ""},
             {"barrier.cluster.wait[.acquire][.aligned]", ""}});
}

} // namespace ts::emu
