// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The known cases, as schedules where the schedule language can say them.
#include "Cases.h"

namespace ts::oracle {

using namespace schedule;
using protocol::PipelineType;
using K = EventKind;

namespace {

Bound n() { return Maker::argument("n"); }

/// A part of the last produce's stage only: two producers share a stage in halves.
void half(Maker &m, StepId work, int which) {
  Access &access = m.accessesOf(work).front();
  access.size /= 2;
  access.offset = which * access.size;
}

/// c1, c15: two tasks in one producer role.
Sample twoProducers(int64_t count) {
  Maker m("two-producers");
  m.sample.choice.args["n"] = 2;
  int r = m.ring(PipelineType::AsyncAsync, 2);
  m.spec(r).producerCount = count;
  for (int which : {0, 1}) {
    m.task("p" + std::to_string(which));
    m.loop(n(), [&] {
      m.event(K::Acquire, r);
      half(m, m.produce(r), which);
      m.event(K::Commit, r);
    });
  }
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

/// c14: two warps that both commit.
Sample twoWarpsOfThreads(int64_t count) {
  Maker m("two-warps-of-threads");
  m.sample.choice.args["n"] = 2;
  int r = m.ring(PipelineType::AsyncAsync, 1);
  m.spec(r).producerCount = count;
  m.task("p", 2);
  m.loop(n(), [&] { m.acquireProduceCommit(r); });
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

/// Likewise two that arm, each its share of the bytes.
Sample twoWarps(std::optional<int64_t> count, int64_t bytes = 64) {
  Maker m("two-warps");
  m.sample.choice.args["n"] = 2;
  int r = m.ring(PipelineType::TmaAsync, 1, 64);
  m.spec(r).producerCount = count;
  m.task("p", 2);
  m.loop(n(), [&] {
    m.event(K::Acquire, r);
    m.produce(r, bytes);
    m.event(K::Commit, r);
  });
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

/// c2: a second consumer that only waits; c2c: it is followed by the release through another ring.
Sample waitOnly(int64_t stages, int64_t trips, bool proxy) {
  Maker m("wait-only");
  m.sample.choice.args["n"] = trips;
  int a = m.ring(PipelineType::AsyncAsync, stages), b = m.ring(PipelineType::AsyncAsync, 1);
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(a); });
  m.task("look");
  m.loop(n(), [&] {
    m.event(K::Wait, a);
    m.consume(a);
    if (proxy)
      m.acquireProduceCommit(b);
  });
  m.task("c");
  m.loop(n(), [&] {
    m.event(K::Wait, a);
    m.consume(a);
    if (proxy)
      m.waitConsumeRelease(b);
    m.event(K::Release, a);
  });
  return m.finish();
}

/// c19: somebody else acquires too.
Sample acquireOnly() {
  Maker m("acquire-only");
  m.sample.choice.args["n"] = 1;
  int r = m.ring(PipelineType::AsyncAsync, 1);
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(r); });
  m.task("look");
  m.loop(n(), [&] { m.event(K::Acquire, r); });
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

/// c3: a peek at use q+1 before use q was waited for, below the level of schedules.
Program peek(int64_t stages) {
  Program p;
  p.barriers.resize(size_t(2 * stages));
  for (size_t b = 0; b < p.barriers.size(); ++b)
    p.barriers[b].name = "b" + std::to_string(b);
  p.agents = {{"p", 0, 0, {}}, {"c", 1, 0, {}}};
  auto op = [&](int agent, OpKind kind, int64_t slot, bool empty, int hint = -1) {
    Micro micro;
    micro.kind = kind;
    micro.barrier = int(slot % stages + (empty ? stages : 0));
    micro.gen = slot / stages - (empty && kind != OpKind::Arrive);
    micro.hint = hint;
    p.agents[size_t(agent)].ops.push_back(micro);
  };
  for (int64_t q = 0; q < 3; ++q) {
    op(0, OpKind::Wait, q, true);
    op(0, OpKind::Arrive, q, false);
    if (q + 1 < 3)
      op(1, OpKind::Try, q + 1, false, int((q + 1) % 2));
    op(1, OpKind::Wait, q, false, int(q % 2));
    op(1, OpKind::Arrive, q, true);
  }
  return p;
}

/// c20: the next acquire is tried for within the previous iteration.
Sample earlyTry() {
  Maker m("early-try");
  m.sample.choice.args["n"] = 3;
  int r = m.ring(PipelineType::AsyncAsync, 1);
  m.spec(r).advanceOnAcquire = true;
  m.task("p");
  m.loop(n(), [&] {
    m.event(K::Acquire, r);
    m.produce(r);
    m.event(K::Commit, r);
    m.event(K::TryAcquire, r);
  });
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

/// c4: two consumer warps take turns.
Sample lanes(PipelineType type, int64_t stages) {
  Maker m("lanes");
  m.sample.choice.args["n"] = 3;
  int r = m.ring(type, stages);
  m.spec(r).interleave = {1, 1, 2, 2};
  m.task("p");
  m.loop(Maker::argument("n", 2), [&] { m.acquireProduceCommit(r); });
  m.task("c", 2);
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

/// c6: what the first task wrote is read by the second without any order.
Sample writeThenRead() {
  Maker m("write-then-read");
  int s = m.scratch(32);
  m.task("a");
  m.access(m.whole(s, true, protocol::EngineGeneric, -1));
  m.access(m.whole(s, false, protocol::EngineGeneric, -1));
  m.task("b");
  m.access(m.whole(s, false, protocol::EngineGeneric, -1));
  return m.finish();
}

/// A plain write handed over by an arrival that the thread makes, or that its copies make: the
/// latter orders the copies alone.
Sample handOver(bool asyncLoad) {
  Maker m("async-arrival");
  int s = m.scratch(32), r = m.ring(PipelineType::AsyncAsync, 1);
  m.spec(r).asyncLoad = asyncLoad;
  m.task("p");
  m.event(K::Acquire, r);
  m.produce(r);
  m.access(m.whole(s, true, protocol::EngineGeneric, -1));
  m.event(K::Commit, r);
  m.task("c");
  m.event(K::Wait, r);
  m.access(m.whole(s, false, protocol::EngineGeneric, -1));
  m.event(K::Release, r);
  return m.finish();
}

/// c7: the consumer waits for one ring and reads the other.
Sample wrongRing() {
  Maker m("wrong-ring");
  m.sample.choice.args["n"] = 1;
  int a = m.ring(PipelineType::TmaAsync, 1), b = m.ring(PipelineType::TmaAsync, 1);
  m.task("p");
  m.loop(n(), [&] {
    m.acquireProduceCommit(a);
    m.acquireProduceCommit(b);
  });
  m.task("c");
  m.loop(n(), [&] {
    m.event(K::Wait, b);
    m.consume(a);
    m.consume(b);
    m.event(K::Wait, a);
    m.event(K::Release, b);
    m.event(K::Release, a);
  });
  return m.finish();
}

/// c10: no acquire. c13: the release stands before the wait. c16: nobody gives stages back.
Sample noAcquire(int64_t trips) {
  Maker m("no-acquire");
  m.sample.choice.args["n"] = trips;
  int r = m.ring(PipelineType::AsyncAsync, 1);
  m.task("p");
  m.loop(n(), [&] {
    m.produce(r);
    m.event(K::Commit, r);
  });
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

Sample earlyRelease(int64_t trips) {
  Maker m("early-release");
  m.sample.choice.args["n"] = trips;
  int r = m.ring(PipelineType::AsyncAsync, 1);
  m.spec(r).advanceOnWait = true;
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(r); });
  m.task("c");
  m.loop(n(), [&] {
    m.event(K::Release, r);
    m.event(K::Wait, r);
  });
  return m.finish();
}

Sample noBackPressure(int64_t trips) {
  Maker m("no-back-pressure");
  m.sample.choice.args["n"] = trips;
  int r = m.ring(PipelineType::AsyncAsync, 1);
  m.task("p");
  m.loop(n(), [&] { m.event(K::Commit, r); });
  m.task("c");
  m.loop(n(), [&] { m.event(K::Wait, r); });
  return m.finish();
}

/// c11: the delayed release of the last stage is not guarded against zero iterations.
Sample delayedRelease(const std::vector<int64_t> &trips, bool guarded) {
  Maker m("delayed-release");
  m.sample.choice.tiles = int64_t(trips.size());
  m.sample.choice.perTile["n"] = trips;
  int q = m.plain(ResourceKind::Queue, "tiles");
  int r = m.ring(PipelineType::AsyncAsync, 2);
  m.spec(r).advanceOnWait = true;
  Bound per = Maker::perTile("n");
  m.task("p");
  m.tiles(q, [&] { m.loop(per, [&] { m.acquireProduceCommit(r); }); });
  m.task("c");
  m.tiles(q, [&] {
    m.loop(per, [&] {
      m.event(K::Wait, r);
      m.consume(r);
      m.guard(GuardKind::NotFirst, [&] { m.event(K::Release, r); });
    });
    if (guarded)
      m.whenRuns(per, [&] { m.event(K::Release, r); });
    else
      m.event(K::Release, r);
  });
  return m.finish();
}

/// c9: the second loop of the producer starts when the first has ended.
Sample twoLoops() {
  Maker m("two-loops");
  m.sample.choice.args["n"] = 3;
  int a = m.ring(PipelineType::AsyncAsync, 1), b = m.ring(PipelineType::AsyncAsync, 2);
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(a); });
  m.loop(n(), [&] { m.acquireProduceCommit(b); });
  m.task("ca");
  m.loop(n(), [&] { m.waitConsumeRelease(a); });
  m.task("cb");
  m.loop(n(), [&] { m.waitConsumeRelease(b); });
  return m.finish();
}

/// Two rings on the same bytes.
Sample aliased() {
  Maker m("aliased");
  m.sample.choice.args["n"] = 1;
  int a = m.ring(PipelineType::TmaAsync, 1), b = m.ring(PipelineType::TmaAsync, 1);
  m.alias(a, b);
  for (int r : {a, b}) {
    m.task("p" + std::to_string(r));
    m.loop(n(), [&] { m.acquireProduceCommit(r); });
    m.task("c" + std::to_string(r));
    m.loop(n(), [&] { m.waitConsumeRelease(r); });
  }
  return m.finish();
}

/// wgmma reads a stage: given back with it in flight, or after the group's wait.
Sample groups(int64_t pending) {
  Maker m("groups");
  m.sample.choice.args["n"] = 2;
  int r = m.ring(PipelineType::TmaAsync, 1);
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(r); });
  m.task("c");
  m.loop(n(), [&] {
    m.event(K::Wait, r);
    m.bodies = true;
    m.accessesOf(m.consume(r)).front().engine = protocol::EngineWgmma;
    m.event(K::WgmmaCommit, -1);
    m.event(K::WgmmaWait, -1);
    m.last().steps.back().event.pending = pending;
    m.event(K::Release, r);
  });
  m.event(K::WgmmaWait, -1);
  return m.finish();
}

/// An MMA between a loaded ring and an accumulator ring, in one CTA or in a pair.
Sample gemm(int64_t ctas, int64_t ctasPerMma, bool drain) {
  Maker m("gemm");
  m.sample.choice.args["n"] = 2;
  m.sample.choice.drain = drain;
  if (ctas > 1)
    m.pairOfCtas(ctasPerMma);
  int ab = m.ring(PipelineType::TmaUmma, 1), acc = m.ring(PipelineType::UmmaAsync, 1);
  if (ctasPerMma == 2) {
    m.spec(ab).numBytes = 64;
    m.spec(ab).consumerSignal = m.spec(acc).producerSignal = protocol::SignalCtaLeader;
  }
  m.task("load");
  m.loop(n(), [&] {
    m.event(K::Acquire, ab);
    m.produce(ab, 32);
    m.event(K::Commit, ab);
  });
  if (ctas > 1 && ctasPerMma == 1)
    for (Step &step : m.last().steps)
      for (protocol::IssuedBytes &issued : step.event.issued.alternatives) {
        issued.own = 0;
        issued.alongM = 16; // each CTA loads its half for both
      }
  m.task("mma");
  m.event(K::Acquire, acc);
  m.loop(n(), [&] {
    m.event(K::Wait, ab);
    StepId in = m.consume(ab);
    StepId out = m.produce(acc);
    m.accessesOf(in).clear();
    m.accessesOf(out).push_back(m.whole(ab, false, protocol::EngineUmma, in));
    m.event(K::Release, ab);
  });
  m.event(K::Commit, acc);
  m.task("store");
  m.waitConsumeRelease(acc);
  if (ctas > 1 && ctasPerMma == 1)
    for (Step &step : m.kernel().tasks[0].steps)
      for (Access &access : step.event.accesses) {
        access.size = 16;
        access.exact = false; // at a place that the CTA's rank gives
      }
  return m.finish();
}

} // namespace

Sample simpleRing(PipelineType type, int64_t stages, int64_t trips, int64_t cluster) {
  Maker m("ring");
  m.sample.choice.args["n"] = trips;
  if (cluster == 2)
    m.pairOfCtas(1);
  int r = m.ring(type, stages);
  m.task("p");
  m.loop(n(), [&] { m.acquireProduceCommit(r); });
  m.task("c");
  m.loop(n(), [&] { m.waitConsumeRelease(r); });
  return m.finish();
}

std::vector<Case> knownCases() {
  std::vector<Case> cases;
  auto add = [&](std::string name, std::string expected, Sample s) {
    cases.push_back({std::move(name), std::move(expected),
                     [s] { return unroll(s.kernel, s.places, s.choice); }, s});
  };
  add("c1 two producers, count of one", "overrun", twoProducers(32));
  add("c15 two producers, count of both", "safe", twoProducers(64));
  add("c14 two warps, count of one", "overrun", twoWarpsOfThreads(32));
  add("c14 two warps, count of both", "safe", twoWarpsOfThreads(64));
  add("c14 two arming warps, count 1", "bytes", twoWarps(1));
  add("c14b two arming warps, count 2", "safe", twoWarps({}));
  add("c2 wait-only consumer, one stage", "overrun", waitOnly(1, 2, false));
  add("c2b wait-only consumer, N = 1", "safe", waitOnly(1, 1, false));
  add("c2c wait-only consumer with a proxy", "safe", waitOnly(1, 2, true));
  add("c19 acquire-only task", "overrun", acquireOnly());
  cases.push_back({"c3 peek at one stage", "overrun", [] { return peek(1); }, {}});
  cases.push_back({"c3b peek at two stages", "safe", [] { return peek(2); }, {}});
  add("c20 early try_acquire", "safe", earlyTry());
  add("c4 lanes, one stage", "overrun", lanes(PipelineType::AsyncAsync, 1));
  add("c4 lanes, two stages", "safe", lanes(PipelineType::TmaAsync, 2));
  add("c4 lanes, four stages", "safe", lanes(PipelineType::TmaAsync, 4));
  add("c4 lanes, three stages, threads", "safe", lanes(PipelineType::AsyncAsync, 3));
  add("c4 lanes, three stages, tma", "overrun", lanes(PipelineType::TmaAsync, 3));
  add("c4 lanes, three stages, umma", "overrun", lanes(PipelineType::UmmaAsync, 3));
  add("c8 more bytes issued than expected", "bytes", twoWarps({}, 96));
  add("c10 no acquire", "overrun", noAcquire(2));
  add("c10b no acquire, N = 1", "safe", noAcquire(1));
  add("c13 early release", "overrun", earlyRelease(2));
  add("c16 no back-pressure", "overrun", noBackPressure(2));
  add("c11 delayed release, one tile of 0", "safe", delayedRelease({0}, false));
  add("c11 delayed release, tiles 0 and 1", "overrun", delayedRelease({0, 1}, false));
  add("c11b delayed release, guarded", "safe", delayedRelease({0, 2, 1}, true));
  add("c6 write, then read", "race", writeThenRead());
  add("a write before an arrival", "safe", handOver(false));
  add("a write before an arrival of copies", "race", handOver(true));
  add("c7 the wrong ring", "race", wrongRing());
  add("c9 two loops in sequence", "safe", twoLoops());
  add("aliased rings", "race", aliased());
  add("wgmma in flight at the release", "race", groups(1));
  add("wgmma waited for", "safe", groups(0));
  for (int type = 0; type < 6; ++type)
    for (int64_t stages : {1, 2})
      add("ring of type " + std::to_string(type), "safe",
          simpleRing(PipelineType(type), stages, 3));
  for (PipelineType type : {PipelineType::AsyncAsync, PipelineType::AsyncUmma})
    add("ring in a cluster", "safe", simpleRing(type, 1, 2, 2));
  add("gemm", "safe", gemm(1, 1, true));
  add("gemm without drain", "exit", gemm(1, 1, false));
  add("gemm, multicast", "safe", gemm(2, 1, true));
  add("gemm, multicast, without drain", "exit", gemm(2, 1, false));
  add("gemm, MMA pair", "safe", gemm(2, 2, true));
  add("gemm, MMA pair, without drain", "exit", gemm(2, 2, false));
  for (Case &known : featureCases())
    cases.push_back(std::move(known));
  return cases;
}

} // namespace ts::oracle
