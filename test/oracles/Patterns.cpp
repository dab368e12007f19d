// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns that the general drawing of Generator.cpp cannot say.
#include "Generator.h"

#include <algorithm>

namespace ts::oracle {

using namespace schedule;
using protocol::PipelineType;
using K = EventKind;

namespace {

Bound n() { return Maker::argument("n"); }

PipelineType someType(Random &random) {
  return random.pick({PipelineType::AsyncAsync, PipelineType::TmaAsync, PipelineType::TmaUmma,
                      PipelineType::UmmaAsync, PipelineType::AsyncUmma, PipelineType::UmmaUmma});
}

/// Consumers that take turns: warps of one task, or sibling tasks.
Sample lanes(Random &random) {
  Maker m("lanes");
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(3);
  int r = m.ring(
      random.pick({PipelineType::AsyncAsync, PipelineType::TmaAsync, PipelineType::UmmaAsync}),
      1 + random.below(4));
  m.spec(r).interleave = {1, 1, 2, 2};
  bool warps = random.chance(50);
  m.task("p");
  m.loop(Maker::argument("n", 2), [&] { m.acquireProduceCommit(r); });
  for (int lane = 0; lane < (warps ? 1 : 2); ++lane) {
    m.task("c" + std::to_string(lane), warps ? 2 : 1);
    auto body = [&] { m.waitConsumeRelease(r); };
    if (warps)
      m.loop(n(), body);
    else
      m.loop(Maker::argument("n", 2), body, lane, 2);
  }
  return m.finish();
}

/// Producers that take turns.
Sample producerLanes(Random &random) {
  Maker m("producer-lanes");
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(3);
  int r = m.ring(
      random.pick({PipelineType::AsyncAsync, PipelineType::AsyncUmma, PipelineType::TmaAsync}),
      1 + random.below(4));
  m.spec(r).interleave = {2, 2, 1, 1};
  for (int lane = 0; lane < 2; ++lane) {
    m.task("p" + std::to_string(lane));
    m.loop(Maker::argument("n", 2), [&] { m.acquireProduceCommit(r); }, lane, 2);
  }
  m.task("c");
  m.loop(Maker::argument("n", 2), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

/// Consumers that take turns over several tiles with any number of steps: lanes that go on where
/// the last tile ended, or that begin every tile anew and drift apart after an odd number.
Sample laneTiles(Random &random) {
  Maker m("lane-tiles");
  m.sample.choice.tiles = 1 + random.below(3);
  bool same = random.chance(40), carriesOn = random.chance(75);
  Bound steps = same ? n() : Maker::perTile("n");
  if (same)
    m.sample.choice.args["n"] = random.below(4);
  for (int64_t t = 0; !same && t < m.sample.choice.tiles; ++t)
    m.sample.choice.perTile["n"].push_back(random.below(4));
  int q = m.plain(ResourceKind::Queue, "tiles");
  int64_t stride = 2 + random.below(2);
  int r = m.ring(
      random.pick({PipelineType::AsyncAsync, PipelineType::TmaAsync, PipelineType::UmmaAsync}),
      stride * (1 + random.below(2)));
  m.spec(r).interleave = {1, 1, stride, stride};
  m.task("p");
  m.tiles(q, [&] { m.loop(steps, [&] { m.acquireProduceCommit(r); }); });
  for (int64_t lane = 0; lane < stride; ++lane) {
    m.task("c" + std::to_string(lane));
    m.tiles(q, [&] {
      StepId loop = m.loop(steps, [&] { m.waitConsumeRelease(r); }, lane, stride);
      m.kernel().tasks.back().steps[size_t(loop)].loop.carriesOn = carriesOn;
    });
  }
  return m.finish();
}

/// Loops whose first steps stand before them, each under "there are more than so many", in any
/// number of tiles; now and then one asks for one more or less.
Sample peeled(Random &random) {
  Maker m("peeled");
  m.sample.choice.tiles = 1 + random.below(3);
  bool same = random.chance(40);
  Bound steps = same ? n() : Maker::perTile("n");
  if (same)
    m.sample.choice.args["n"] = random.below(6);
  for (int64_t t = 0; !same && t < m.sample.choice.tiles; ++t)
    m.sample.choice.perTile["n"].push_back(random.below(6));
  int q = m.plain(ResourceKind::Queue, "tiles");
  int r = m.ring(
      random.pick({PipelineType::AsyncAsync, PipelineType::TmaAsync, PipelineType::UmmaAsync}),
      1 + random.below(4));
  for (bool producer : {true, false}) {
    m.task(producer ? "p" : "c");
    auto step = [&] { producer ? m.acquireProduceCommit(r) : m.waitConsumeRelease(r); };
    int64_t before = random.below(4);
    m.tiles(q, [&] {
      for (int64_t i = 0; i < before; ++i) {
        Bound more = steps;
        more.offset = -i + (random.chance(6) ? random.below(3) - 1 : 0);
        m.whenRuns(more, step);
      }
      m.loop(steps, step, before);
    });
  }
  return m.finish();
}

/// A task that waits and never releases, with or without a way back to the one that does.
Sample waitOnly(Random &random) {
  Maker m("wait-only");
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(3);
  int a =
      m.ring(random.pick({PipelineType::AsyncAsync, PipelineType::TmaAsync}), 1 + random.below(3));
  int b = m.ring(PipelineType::AsyncAsync, 1 + random.below(2));
  bool proxy = random.chance(70), waits = random.chance(60);
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(a); });
  m.task("look");
  m.loop(n(), [&] {
    m.event(K::Wait, a);
    m.consume(a);
    m.acquireProduceCommit(b);
  });
  m.task("c");
  m.loop(n(), [&] {
    if (waits)
      m.event(K::Wait, a);
    if (!proxy)
      m.event(K::Release, a);
    m.waitConsumeRelease(b);
    if (proxy)
      m.event(K::Release, a);
  });
  return m.finish();
}

/// Two tasks in one role.
Sample shared(Random &random) {
  Maker m("shared");
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(3);
  PipelineType type = someType(random);
  bool producers = random.chance(50);
  int r = m.ring(type, 1 + random.below(3), 64);
  bool tma = type == PipelineType::TmaAsync || type == PipelineType::TmaUmma;
  for (int which = 0; which < (producers ? 2 : 1); ++which) {
    m.task("p" + std::to_string(which));
    m.loop(n(), [&] {
      m.event(K::Acquire, r);
      StepId work = tma && producers ? m.produce(r, 32) : m.produce(r);
      if (producers) {
        Access &access = m.accessesOf(work).front();
        access.size /= 2;
        access.offset = which * access.size;
      }
      m.event(K::Commit, r);
    });
  }
  for (int which = 0; which < (producers ? 1 : 2); ++which) {
    m.task("c" + std::to_string(which));
    m.loop(n(), [&] { m.waitConsumeRelease(r); });
  }
  return m.finish();
}

/// Two tasks exchange scratch memory behind a named barrier, fed by a ring.
Sample scratch(Random &random) {
  Maker m("scratch");
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(2);
  int r =
      m.ring(random.pick({PipelineType::AsyncAsync, PipelineType::TmaAsync}), 1 + random.below(2));
  int s = m.scratch(32), full = m.plain(ResourceKind::NamedBarrier, "full"),
      empty = m.plain(ResourceKind::NamedBarrier, "empty");
  for (int barrier : {full, empty})
    m.kernel().resources[size_t(barrier)].count = 64;
  bool back = random.chance(80);
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(r); });
  m.task("x");
  m.loop(n(), [&] {
    m.waitConsumeRelease(r);
    m.access(m.whole(s, true, protocol::EngineGeneric, -1));
    m.event(random.chance(50) ? K::BarrierArrive : K::BarrierSync, full);
    if (back)
      m.event(K::BarrierSync, empty);
  });
  m.task("y");
  m.loop(n(), [&] {
    m.event(K::BarrierSync, full);
    m.access(m.whole(s, false, protocol::EngineGeneric, -1));
    if (back)
      m.event(random.chance(50) ? K::BarrierArrive : K::BarrierSync, empty);
  });
  return m.finish();
}

/// Two replicas take turns around shared scratch.
Sample baton(Random &random) {
  Maker m("baton");
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(3);
  int s = m.scratch(32), token = m.plain(ResourceKind::Baton, "turn");
  int r = m.ring(PipelineType::TmaAsync, 1 + random.below(2));
  m.kernel().resources[size_t(token)].holders = 2;
  m.kernel().resources[size_t(token)].first = random.below(2);
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(r); });
  for (int replica = 0; replica < 2; ++replica) {
    m.task("w[" + std::to_string(replica) + "]");
    m.last().source = "w";
    m.last().replica = replica;
    m.last().replicas = 2;
    m.loop(n(), [&] {
      m.event(K::Wait, r);
      m.event(K::Take, token);
      m.consume(r);
      m.access(m.whole(s, true, protocol::EngineGeneric, -1));
      m.event(K::Pass, token);
      m.event(K::Release, r);
    });
  }
  return m.finish();
}

/// Copies by two warps of one task, all arming or only the first.
Sample armingWarps(Random &random) {
  Maker m("arming-warps");
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(2);
  int r =
      m.ring(random.pick({PipelineType::TmaAsync, PipelineType::TmaUmma}), 1 + random.below(2), 64);
  if (random.chance(40))
    m.spec(r).producerSignal = protocol::SignalTaskWarpLeader;
  m.task("p", 2);
  m.loop(n(), [&] { m.acquireProduceCommit(r); });
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

/// One region of memory used by two rings whose lives follow each other through a third.
Sample reuse(Random &random) {
  Maker m("reuse");
  int64_t trips = random.chance(8) ? 0 : 1 + random.below(2);
  m.sample.choice.args["n"] = trips;
  int a = m.ring(PipelineType::TmaAsync, 1), done = m.ring(PipelineType::AsyncAsync, 1),
      b = m.ring(random.pick({PipelineType::TmaAsync, PipelineType::AsyncAsync}), 1);
  m.alias(a, b);
  bool ordered = random.chance(70);
  m.task("pa");
  m.loop(n(), [&] { m.acquireProduceCommit(a); });
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(a); });
  if (ordered)
    m.acquireProduceCommit(done);
  m.loop(n(), [&] { m.waitConsumeRelease(b); });
  m.task("pb");
  if (ordered)
    m.waitConsumeRelease(done);
  m.loop(n(), [&] { m.acquireProduceCommit(b); });
  return m.finish();
}

/// A hardware queue: one task fetches the next tile, everybody waits for the answer and gives it
/// back.
Sample hardwareQueue(Random &random) {
  Maker m("hardware-queue");
  m.sample.choice.tiles = 1 + random.below(3);
  bool cluster = random.chance(30);
  if (cluster)
    m.pairOfCtas(1);
  int q = m.plain(ResourceKind::Queue, "tiles");
  Resource &queue = m.kernel().resources[size_t(q)];
  queue.clc = true;
  protocol::PipelineSpec spec;
  spec.name = queue.name;
  spec.type = PipelineType::ClcFetchAsync;
  spec.stages = 1 + random.below(2);
  spec.numBytes = 16;
  spec.stageBytes = 16;
  queue.pipeline = spec;
  int r =
      m.ring(random.pick({PipelineType::AsyncAsync, PipelineType::TmaAsync}), 1 + random.below(2));
  m.spec(r).multicast = {false, false};
  m.task("schedule");
  m.tiles(q, [&] {
    m.event(K::Acquire, q);
    m.event(K::FetchTile, q);
    m.event(K::Commit, q);
    m.event(K::NextTile, q);
  });
  for (bool producer : {true, false}) {
    m.task(producer ? "p" : "c");
    m.tiles(q, [&] {
      if (producer)
        m.acquireProduceCommit(r);
      else
        m.waitConsumeRelease(r);
      m.event(K::NextTile, q);
    });
  }
  return m.finish();
}

} // namespace

Generated drawSpecial(Random &random) {
  struct Pattern {
    const char *name;
    Sample (*draw)(Random &);
  };
  constexpr Pattern patterns[] = {{"lanes", lanes},
                                  {"producer-lanes", producerLanes},
                                  {"lane-tiles", laneTiles},
                                  {"wait-only", waitOnly},
                                  {"peeled", peeled},
                                  {"shared", shared},
                                  {"scratch", scratch},
                                  {"baton", baton},
                                  {"arming-warps", armingWarps},
                                  {"reuse", reuse},
                                  {"hardware-queue", hardwareQueue}};
  const Pattern &pattern = patterns[random.below(std::size(patterns))];
  return {pattern.draw(random), pattern.name, {}};
}

} // namespace ts::oracle
