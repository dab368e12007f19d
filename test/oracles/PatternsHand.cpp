// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules with barriers that bodies name themselves: mbarriers with a parity of the user's, named
// barriers and the barrier of the cluster. Each as it should be, and with one thing wrong.
#include "Generator.h"

namespace ts::oracle {

using namespace schedule;
using protocol::PipelineType;
using K = EventKind;

Generated drawGroup(Random &random);

namespace {

Bound n() { return Maker::argument("n"); }

std::string wrongWay(Random &random, std::initializer_list<const char *> ways) {
  return random.chance(50) ? "" : ways.begin()[random.below(int64_t(ways.size()))];
}

void someTrips(Maker &m, Random &random, int64_t most = 3) {
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(most);
}

Generated finish(Maker &m, const std::string &shape, const std::string &wrong) {
  Generated result{m.finish(), shape, {}};
  if (!wrong.empty())
    result.mutations.push_back(wrong + " by hand");
  return result;
}

void touch(Maker &m, int memory, bool write, bool remote = false) {
  Access access = m.whole(memory, write, protocol::EngineGeneric, -1);
  access.remote = remote;
  m.access(access);
}

/// A stage of memory handed over and back with a pair of mbarriers.
Generated handOver(Random &random) {
  Maker m("hand");
  someTrips(m, random);
  std::string wrong =
      wrongWay(random, {"no-way-back", "same-parity", "late-parity", "arrive-first", "two-arrive"});
  bool elected = random.chance(40), flips = random.chance(30);
  int64_t writers = 1 + random.chance(25), readers = 1 + random.chance(25);
  int64_t stages = 1 + random.chance(30);
  std::vector<int> memory, full, empty;
  for (int64_t s = 0; s < stages; ++s) {
    memory.push_back(m.scratch(32 * writers));
    full.push_back(m.barrier(ResourceKind::Mbarrier, "full" + std::to_string(s),
                             writers * (elected ? 1 : 32)));
    empty.push_back(m.barrier(ResourceKind::Mbarrier, "empty" + std::to_string(s),
                              readers * (elected ? 1 : 32)));
  }
  auto wait = [&](int barrier, int64_t offset) {
    m.waitParity(barrier, 1, offset);
    if (flips)
      m.last().steps.back().event.parity->kind = Parity::Kind::Flips;
  };
  int fed = random.chance(35) ? m.ring(PipelineType::TmaAsync, 1 + random.below(2)) : -1;
  if (fed >= 0) {
    m.task("load");
    m.loop(n(), [&] { m.acquireProduceCommit(fed); });
  }
  for (int64_t w = 0; w < writers; ++w) {
    m.task("w" + std::to_string(w));
    m.loop(n(), [&] {
      if (fed >= 0 && w == 0)
        m.waitConsumeRelease(fed);
      for (int64_t s = 0; s < stages; ++s) {
        if (wrong != "no-way-back")
          wait(empty[size_t(s)], wrong == "same-parity" ? 0 : 1);
        if (wrong == "arrive-first")
          m.arriveByHand(full[size_t(s)], elected);
        Access access = m.whole(memory[size_t(s)], true, protocol::EngineGeneric, -1);
        access.offset = 32 * w;
        access.size = 32;
        m.access(access);
        if (wrong != "arrive-first")
          m.arriveByHand(full[size_t(s)], elected);
        if (wrong == "two-arrive" && w == 0)
          m.arriveByHand(full[size_t(s)], elected);
      }
    });
  }
  for (int64_t r = 0; r < readers; ++r) {
    m.task("r" + std::to_string(r));
    m.loop(n(), [&] {
      for (int64_t s = 0; s < stages; ++s) {
        wait(full[size_t(s)], wrong == "late-parity" ? 1 : 0);
        touch(m, memory[size_t(s)], false);
        m.arriveByHand(empty[size_t(s)], elected);
      }
    });
  }
  return finish(m, "hand-over", wrong);
}

/// Only every second iteration hands over: the parity runs at half the speed.
Generated halfSpeed(Random &random) {
  Maker m("half");
  someTrips(m, random);
  std::string wrong = wrongWay(random, {"full-speed", "no-way-back", "other-guard"});
  int64_t divisor = wrong == "full-speed" ? 1 : 2;
  int s = m.scratch(32), full = m.barrier(ResourceKind::Mbarrier, "full", 32),
      empty = m.barrier(ResourceKind::Mbarrier, "empty", 32);
  m.task("w");
  m.loop(n(), [&] {
    m.guard(
        GuardKind::Every,
        [&] {
          if (wrong != "no-way-back")
            m.waitParity(empty, 1, divisor, divisor);
          touch(m, s, true);
          m.arriveByHand(full);
        },
        2);
  });
  m.task("r");
  m.loop(n(), [&] {
    m.guard(
        GuardKind::Every,
        [&] {
          m.waitParity(full, 1, 0, divisor);
          touch(m, s, false);
          m.arriveByHand(empty);
        },
        wrong == "other-guard" ? 1 : 2);
  });
  return finish(m, "half-speed", wrong);
}

/// Once per tile, with a loop inside; where the parity follows the inner loop, its trip counts have
/// to be even.
Generated perTile(Random &random) {
  Maker m("hand-tiles");
  int queue = m.plain(ResourceKind::Queue, "tiles");
  m.sample.choice.tiles = 1 + random.below(2);
  m.kernel().tripsPerTile = true;
  for (int64_t t = 0; t < m.sample.choice.tiles; ++t)
    m.sample.choice.perTile["n"].push_back(random.below(3));
  std::string wrong = wrongWay(random, {"inner", "no-way-back", "guarded"});
  Bound bound = Maker::perTile("n");
  int s = m.scratch(32), r = m.ring(PipelineType::AsyncAsync, 1 + random.below(2)),
      full = m.barrier(ResourceKind::Mbarrier, "full", 32),
      empty = m.barrier(ResourceKind::Mbarrier, "empty", 32);
  auto writer = [&] {
    if (wrong != "no-way-back")
      m.waitParity(empty, 1, 1);
    touch(m, s, true);
    m.arriveByHand(full);
  };
  auto reader = [&] {
    m.waitParity(full, 1, 0);
    touch(m, s, false);
    m.arriveByHand(empty);
  };
  for (bool writes : {true, false}) {
    m.task(writes ? "w" : "r");
    m.tiles(queue, [&] {
      m.loop(bound, [&] {
        writes ? m.acquireProduceCommit(r) : m.waitConsumeRelease(r);
        if (wrong == "inner")
          writes ? writer() : reader();
      });
      if (wrong == "inner")
        return;
      if (wrong == "guarded" && writes)
        m.whenRuns(bound, writer);
      else
        writes ? writer() : reader();
    });
  }
  return finish(m, "hand-tiles", wrong);
}

/// A task of CTA 1 fills memory of CTA 0 and says so on its barrier.
Generated remoteHand(Random &random) {
  Maker m("hand-remote");
  someTrips(m, random, 2);
  m.pairOfCtas(1);
  std::string wrong = wrongWay(random, {"no-way-back", "own-barrier", "leaves-early"});
  int s = m.scratch(32), full = m.barrier(ResourceKind::Mbarrier, "full", 32),
      empty = m.barrier(ResourceKind::Mbarrier, "empty", 32);
  m.task("w");
  m.last().onlyCta = 1;
  m.loop(n(), [&] {
    if (wrong != "no-way-back")
      m.waitParity(empty, 1, 1);
    touch(m, s, true, true);
    if (wrong == "own-barrier")
      m.arriveByHand(full);
    else
      m.arriveByHand(full, false, 0);
  });
  m.task("r");
  m.last().onlyCta = 0;
  m.loop(n(), [&] {
    auto take = [&] {
      m.waitParity(full, 1, 0);
      touch(m, s, false);
      m.arriveByHand(empty, false, 1);
    };
    if (wrong == "leaves-early")
      m.guard(GuardKind::NotLast, take);
    else
      take();
  });
  // The last arrival of CTA 0 has to find CTA 1 there.
  if (random.chance(75))
    for (int which : {0, 1}) {
      Task &task = m.kernel().tasks[size_t(which)];
      Step step;
      step.event.kind = K::ClusterSync;
      task.steps.push_back(step);
      task.body.push_back(StepId(task.steps.size() - 1));
    }
  return finish(m, "hand-remote", wrong);
}

/// The CTAs of a cluster exchange memory between two cluster barriers.
Generated exchange(Random &random) {
  Maker m("exchange");
  someTrips(m, random, 2);
  m.pairOfCtas(1);
  std::string wrong =
      wrongWay(random, {"no-second", "no-first", "one-more", "guarded", "absent", "no-last"});
  int64_t tasks = 1 + random.chance(45);
  std::vector<int> memory;
  for (int64_t t = 0; t < tasks; ++t)
    memory.push_back(m.scratch(32));
  int fed = random.chance(30) ? m.ring(PipelineType::AsyncAsync, 1 + random.below(2)) : -1;
  for (int64_t t = 0; t < tasks; ++t) {
    m.task("x" + std::to_string(t));
    bool odd = t + 1 == tasks;
    Bound bound = wrong == "one-more" && odd ? Maker::argument("n", 1, 1) : n();
    m.loop(bound, [&] {
      touch(m, memory[size_t(t)], true, true);
      if (fed >= 0 && tasks > 1)
        t == 0 ? m.acquireProduceCommit(fed) : m.waitConsumeRelease(fed);
      if (wrong != "no-first" && !(wrong == "absent" && odd))
        m.event(K::ClusterSync, -1);
      touch(m, memory[size_t(t)], false);
      if (wrong == "guarded" && odd)
        m.guard(GuardKind::NotLast, [&] { m.event(K::ClusterSync, -1); });
      else if (wrong == "no-last")
        m.guard(GuardKind::NotLast, [&] { m.event(K::ClusterSync, -1); });
      else if (wrong != "no-second" && !(wrong == "absent" && odd))
        m.event(K::ClusterSync, -1);
    });
  }
  return finish(m, "exchange", wrong);
}

/// Three tasks around one buffer, ordered by named barriers: some arrive, one syncs.
Generated namedThree(Random &random) {
  Maker m("named");
  someTrips(m, random, 2);
  std::string wrong = wrongWay(random, {"no-way-back", "arrive-early", "count", "guarded"});
  int64_t writers = 2, warps = 1 + random.chance(20);
  int s = m.scratch(32 * writers);
  int full = m.barrier(ResourceKind::NamedBarrier, "full", 32 * (writers + warps)),
      empty = m.barrier(ResourceKind::NamedBarrier, "empty", 32 * (writers + warps));
  if (wrong == "count")
    m.kernel().resources[size_t(random.chance(50) ? full : empty)].count -= 32;
  bool syncs = random.chance(30);
  // The reader's warps meet by themselves, too.
  int own = random.chance(25) ? m.barrier(ResourceKind::NamedBarrier, "own", 32 * warps) : -1;
  for (int64_t w = 0; w < writers; ++w) {
    m.task("w" + std::to_string(w));
    m.loop(n(), [&] {
      auto arrive = [&] { m.event(syncs ? K::BarrierSync : K::BarrierArrive, full); };
      bool early = wrong == "arrive-early" && w == 0;
      if (early)
        arrive();
      Access access = m.whole(s, true, protocol::EngineGeneric, -1);
      access.offset = 32 * w;
      access.size = 32;
      m.access(access);
      if (wrong == "guarded" && w == 0)
        m.guard(GuardKind::NotLast, arrive);
      else if (!early)
        arrive();
      if (wrong != "no-way-back")
        m.event(K::BarrierSync, empty);
    });
  }
  m.task("r", warps);
  m.loop(n(), [&] {
    m.event(K::BarrierSync, full);
    touch(m, s, false);
    if (own >= 0)
      m.event(K::BarrierSync, own);
    if (wrong != "no-way-back")
      m.event(random.chance(50) ? K::BarrierArrive : K::BarrierSync, empty);
  });
  return finish(m, "named-three", wrong);
}

} // namespace

Generated drawFeature(Random &random, unsigned features) {
  std::vector<Generated (*)(Random &)> patterns;
  if (features & FeatureGroups)
    patterns.insert(patterns.end(), {drawGroup, drawGroup, drawGroup, drawGroup});
  if (features & FeatureHand)
    patterns.insert(patterns.end(), {handOver, handOver, halfSpeed, perTile, remoteHand});
  if (features & FeatureCluster)
    patterns.insert(patterns.end(), {exchange, exchange, remoteHand, namedThree});
  return patterns[size_t(random.below(int64_t(patterns.size())))](random);
}

} // namespace ts::oracle
