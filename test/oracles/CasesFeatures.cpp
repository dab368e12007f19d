// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Known cases with pipeline groups, hand-written mbarriers, named and cluster barriers. The verdict
// of each was worked out by hand.
#include "Cases.h"

namespace ts::oracle {

using namespace schedule;
using protocol::GroupMode;
using protocol::PipelineType;
using K = EventKind;

namespace {

Bound n() { return Maker::argument("n"); }

void touch(Maker &m, int memory, bool write, bool remote = false) {
  Access access = m.whole(memory, write, protocol::EngineGeneric, -1);
  access.remote = remote;
  m.access(access);
}

/// Two members, a producer each, one consumer. `waits`: on which members he waits.
Sample merged(GroupMode mode, PipelineType type, bool both = true, bool early = false) {
  Maker m("merged");
  m.sample.choice.args["n"] = 2;
  int a = m.ring(type, 1), b = m.ring(type, 1), g = m.group(mode, {a, b});
  for (int r : {a, b}) {
    m.task("p" + std::to_string(r));
    m.loop(n(), [&] { m.acquireProduceCommit(r); });
  }
  m.task("c");
  m.loop(n(), [&] {
    m.event(K::Wait, a);
    if (both)
      m.event(K::Wait, b);
    m.consume(a);
    if (early)
      m.event(K::Release, g);
    m.consume(b);
    if (!early)
      m.event(K::Release, g);
  });
  return m.finish();
}

/// All on the group but what fills the members.
Sample fusedWait() {
  Maker m("fused-wait");
  m.sample.choice.args["n"] = 3;
  int a = m.ring(PipelineType::TmaUmma, 2), b = m.ring(PipelineType::TmaUmma, 2),
      g = m.group(GroupMode::FusedMerge, {a, b});
  m.task("p");
  m.loop(n(), [&] {
    m.acquireProduceCommit(a);
    m.acquireProduceCommit(b);
  });
  m.task("c");
  m.loop(n(), [&] {
    m.event(K::Wait, g);
    m.consume(a);
    m.consume(b);
    m.event(K::Release, g);
  });
  return m.finish();
}

enum class Fork { Right, OneAcquire, GuardedAcquire, WrittenTwice, Bytes, TwoWarps };

/// One copy into a stage that two consumers read.
Sample forked(Fork how) {
  Maker m("forked");
  m.sample.choice.args["n"] = 2;
  int a = m.ring(PipelineType::TmaAsync, 1, 64),
      b = m.barrierOnly(PipelineType::TmaAsync, 1, how == Fork::Bytes ? 32 : 64),
      g = m.group(GroupMode::Fork, {a, b});
  if (how == Fork::Bytes)
    m.spec(a).numBytes = 32;
  m.task("p", how == Fork::TwoWarps ? 2 : 1);
  m.loop(n(), [&] {
    auto first = [&] { m.event(K::Acquire, a); };
    auto second = [&] { m.event(K::Acquire, b); };
    if (how == Fork::GuardedAcquire)
      m.guard(GuardKind::First, first);
    else
      first();
    if (how == Fork::WrittenTwice)
      m.guard(GuardKind::First, second);
    if (how == Fork::WrittenTwice)
      m.guard(GuardKind::NotFirst, second);
    if (how != Fork::OneAcquire && how != Fork::WrittenTwice)
      second();
    m.produce(a, 64);
    m.event(K::Commit, g);
  });
  for (int r : {a, b}) {
    m.task("c" + std::to_string(r));
    m.loop(n(), [&] {
      m.event(K::Wait, r);
      if (r == a) {
        m.consume(r);
      } else {
        StepId look = m.event(K::Consume, r);
        m.last().steps[size_t(look)].event.declared = true;
        m.last().steps[size_t(look)].event.accesses.push_back(
            m.whole(a, false, protocol::EngineGeneric, look));
      }
      m.event(K::Release, r);
    });
  }
  return m.finish();
}

/// A buffer handed over with two mbarriers whose parities start at `fullAt` and `emptyAt`.
Sample handOver(int64_t fullAt, int64_t emptyAt, bool back = true, int64_t count = 32) {
  Maker m("hand-over");
  m.sample.choice.args["n"] = 3;
  int s = m.scratch(32), full = m.barrier(ResourceKind::Mbarrier, "full", count),
      empty = m.barrier(ResourceKind::Mbarrier, "empty", 32);
  m.task("w");
  m.loop(n(), [&] {
    if (back)
      m.waitParity(empty, 1, emptyAt);
    touch(m, s, true);
    m.arriveByHand(full);
  });
  m.task("r");
  m.loop(n(), [&] {
    m.waitParity(full, 1, fullAt);
    touch(m, s, false);
    m.arriveByHand(empty);
  });
  return m.finish();
}

/// The parity follows the inner loop, which starts anew in every tile.
Sample perTile(const std::vector<int64_t> &trips) {
  Maker m("hand-tiles");
  m.sample.choice.tiles = int64_t(trips.size());
  m.sample.choice.perTile["n"] = trips;
  int q = m.plain(ResourceKind::Queue, "tiles"), s = m.scratch(32),
      full = m.barrier(ResourceKind::Mbarrier, "full", 32),
      empty = m.barrier(ResourceKind::Mbarrier, "empty", 32);
  for (bool writes : {true, false}) {
    m.task(writes ? "w" : "r");
    m.tiles(q, [&] {
      m.loop(Maker::perTile("n"), [&] {
        m.waitParity(writes ? empty : full, 1, writes);
        touch(m, s, writes);
        m.arriveByHand(writes ? full : empty);
      });
    });
  }
  return m.finish();
}

/// CTA 1 writes memory of CTA 0 and says so there; both leave together, or not.
Sample remote(bool together) {
  Maker m("hand-remote");
  m.sample.choice.args["n"] = 2;
  m.pairOfCtas(1);
  int s = m.scratch(32), full = m.barrier(ResourceKind::Mbarrier, "full", 32),
      empty = m.barrier(ResourceKind::Mbarrier, "empty", 32);
  m.task("w");
  m.last().onlyCta = 1;
  m.loop(n(), [&] {
    m.waitParity(empty, 1, 1);
    touch(m, s, true, true);
    m.arriveByHand(full, false, 0);
  });
  if (together)
    m.event(K::ClusterSync, -1);
  m.task("r");
  m.last().onlyCta = 0;
  m.loop(n(), [&] {
    m.waitParity(full, 1, 0);
    touch(m, s, false);
    m.arriveByHand(empty, false, 1);
  });
  if (together)
    m.event(K::ClusterSync, -1);
  return m.finish();
}

/// Both CTAs write each other's memory and read their own. `roles` of which the last may stay away.
Sample exchange(bool second, int roles, bool allCome) {
  Maker m("exchange");
  m.sample.choice.args["n"] = 2;
  m.pairOfCtas(1);
  for (int role = 0; role < roles; ++role) {
    int s = m.scratch(32);
    m.task("x" + std::to_string(role));
    m.loop(n(), [&] {
      bool comes = role == 0 || allCome;
      if (comes)
        touch(m, s, true, true);
      if (comes)
        m.event(K::ClusterSync, -1);
      touch(m, s, false);
      if (comes && second)
        m.event(K::ClusterSync, -1);
    });
  }
  return m.finish();
}

/// A buffer between two arriving writers and a reader that syncs.
Sample named(bool back, int64_t count) {
  Maker m("named");
  m.sample.choice.args["n"] = 2;
  int s = m.scratch(64), full = m.barrier(ResourceKind::NamedBarrier, "full", count),
      empty = m.barrier(ResourceKind::NamedBarrier, "empty", 96);
  for (int w : {0, 1}) {
    m.task("w" + std::to_string(w));
    m.loop(n(), [&] {
      Access access = m.whole(s, true, protocol::EngineGeneric, -1);
      access.offset = 32 * w;
      access.size = 32;
      m.access(access);
      m.event(K::BarrierArrive, full);
      if (back)
        m.event(K::BarrierSync, empty);
    });
  }
  m.task("r");
  m.loop(n(), [&] {
    m.event(K::BarrierSync, full);
    touch(m, s, false);
    if (back)
      m.event(K::BarrierArrive, empty);
  });
  return m.finish();
}

} // namespace

std::vector<Case> featureCases() {
  std::vector<Case> cases;
  auto add = [&](std::string name, std::string expected, Sample s) {
    cases.push_back({std::move(name), std::move(expected),
                     [s] { return unroll(s.kernel, s.places, s.choice); }, s});
  };
  for (PipelineType type : {PipelineType::AsyncAsync, PipelineType::TmaAsync, PipelineType::TmaUmma,
                            PipelineType::AsyncUmma}) {
    std::string of = " of type " + std::to_string(int(type));
    add("merge" + of, "safe", merged(GroupMode::Merge, type));
    add("fused merge" + of, "safe", merged(GroupMode::FusedMerge, type));
  }
  add("merge, one member not waited for", "overrun",
      merged(GroupMode::Merge, PipelineType::AsyncAsync, false));
  add("merge, given back before the second member is read", "race",
      merged(GroupMode::Merge, PipelineType::AsyncAsync, true, true));
  add("fused merge, waited for as a whole", "safe", fusedWait());
  add("fork", "safe", forked(Fork::Right));
  add("fork, one member never acquired", "overrun", forked(Fork::OneAcquire));
  add("fork, one member acquired the first time only", "bytes", forked(Fork::GuardedAcquire));
  add("fork, the last acquire written twice", "safe", forked(Fork::WrittenTwice));
  add("fork, too few bytes expected", "bytes", forked(Fork::Bytes));
  add("fork, two arming warps", "safe", forked(Fork::TwoWarps));
  add("hand over", "safe", handOver(0, 1));
  add("hand over without a way back", "overrun", handOver(0, 1, false));
  add("hand over, both wait first", "deadlock", handOver(0, 0));
  add("hand over, the reader one phase early", "overrun", handOver(1, 1));
  add("hand over, a count nobody reaches", "deadlock", handOver(0, 1, true, 64));
  add("hand over per tile, even", "safe", perTile({2, 0, 2}));
  add("hand over per tile, odd", "overrun", perTile({1, 1}));
  add("hand over to a peer", "safe", remote(true));
  add("hand over to a peer that leaves", "exit", remote(false));
  add("exchange in a cluster", "safe", exchange(true, 1, true));
  add("exchange, two roles", "safe", exchange(true, 2, true));
  add("exchange without the second barrier", "race", exchange(false, 1, true));
  add("a role that stays away from the cluster barrier", "deadlock", exchange(true, 2, false));
  add("named barriers", "safe", named(true, 96));
  add("named barriers without a way back", "overrun", named(false, 96));
  add("a named barrier for more threads than come", "deadlock", named(true, 128));
  return cases;
}

} // namespace ts::oracle
