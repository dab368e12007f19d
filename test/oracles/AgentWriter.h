// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the operations of one agent: control flow and events (Unroll.cpp), memory and work
// (UnrollMemory.cpp). Nobody else includes it.
#ifndef TS_TEST_ORACLES_AGENTWRITER_H
#define TS_TEST_ORACLES_AGENTWRITER_H

#include "Rings.h"

#include <algorithm>

namespace ts::oracle {

using namespace schedule;
using protocol::Side;

class AgentWriter {
public:
  AgentWriter(const Kernel &kernel, const Choice &choice, Program &program, Rings &rings,
              const std::vector<Place> &places, Writer writer)
      : kernel(kernel), choice(choice), program(program), rings(rings), places(places),
        w(std::move(writer)), task(kernel.tasks[size_t(w.task)]) {}

  void run() {
    rings.start(w);
    list(task.body);
    rings.checkForks(w);
    if (choice.drain)
      rings.drain(w);
  }

private:
  struct Position {
    int64_t at, trips;
  };

  void fail(const std::string &why) {
    if (program.unsupported.empty())
      program.unsupported = why;
  }
  void add(Micro op) {
    auto &ops = program.agents[size_t(w.agent)].ops;
    if (ops.size() >= 4000)
      return fail("an agent of more than 4000 operations");
    ops.push_back(std::move(op));
  }
  void list(const std::vector<StepId> &ids) {
    for (StepId id : ids)
      if (program.unsupported.empty())
        step(id);
  }

  template <typename T> T atTile(const std::vector<T> &values, T otherwise) const {
    if (values.empty())
      return otherwise;
    return values[size_t(std::min<int64_t>(tile, int64_t(values.size()) - 1))];
  }

  int64_t value(const Bound &bound) {
    switch (bound.kind) {
    case Bound::Kind::Constant:
      return bound.offset;
    case Bound::Kind::Argument:
      if (auto it = choice.args.find(bound.symbol); it != choice.args.end())
        return bound.scale * it->second + bound.offset;
      break;
    case Bound::Kind::PerTile:
      if (auto it = choice.perTile.find(bound.symbol); it != choice.perTile.end())
        return bound.scale * atTile(it->second, int64_t(0)) + bound.offset;
      break;
    case Bound::Kind::Unknown:
      break;
    }
    fail("a bound without a value: " + bound.symbol);
    return 0;
  }

  int64_t trips(const Loop &loop) {
    if (loop.kind == LoopKind::Tile)
      return choice.tiles;
    int64_t lower = value(loop.lower), upper = value(loop.upper), by = value(loop.step);
    if (by < 1)
      fail("a loop step below one");
    if (loop.carriesOn && by >= 1) {
      int64_t &start = starts.try_emplace(&loop, lower).first->second;
      lower = start;
      start = ((start - upper) % by + by) % by;
    }
    return by < 1 || upper <= lower ? 0 : (upper - lower + by - 1) / by;
  }

  bool holds(const Condition &condition) {
    bool truth;
    if (condition.ctas)
      truth = *condition.ctas >> w.cta & 1;
    else if (condition.positive)
      truth = value(*condition.positive) > 0;
    else if (auto it = choice.conditions.find(condition.key); it != choice.conditions.end())
      truth = atTile(std::vector<char>(it->second.begin(), it->second.end()), char(1));
    else
      truth = true;
    return truth == condition.expected;
  }

  bool passes(const Guard &guard) {
    auto it = positions.find(guard.loop);
    if (it == positions.end()) {
      fail("a guard outside its loop");
      return false;
    }
    auto [at, count] = it->second;
    switch (guard.kind) {
    case GuardKind::First:
      return at == 0;
    case GuardKind::NotFirst:
      return at != 0;
    case GuardKind::Last:
      return at + 1 == count;
    case GuardKind::NotLast:
      return at + 1 != count;
    case GuardKind::Every:
      return at % std::max<int64_t>(guard.period, 1) == 0;
    }
    return false;
  }

  void step(StepId id) {
    const Step &s = task.steps[size_t(id)];
    switch (s.kind) {
    case StepKind::Event:
      return event(id, s.event);
    case StepKind::Guard:
      return list(passes(s.guard) ? s.body : s.orelse);
    case StepKind::When:
    case StepKind::Branch:
      return list(holds(s.condition) ? s.body : s.orelse);
    case StepKind::Skippable:
      if (!atTile(std::vector<char>(choice.skipped.begin(), choice.skipped.end()), char(0)))
        list(s.body);
      return;
    case StepKind::Loop: {
      int64_t count = trips(s.loop);
      for (int64_t i = 0; i < count && program.unsupported.empty(); ++i) {
        positions[id] = {i, count};
        if (s.loop.kind == LoopKind::Tile)
          tile = i;
        list(s.body);
      }
      positions.erase(id);
      return;
    }
    }
  }

  //--- Events -----------------------------------------------------------------------------------

  void group(OpKind kind, int key, int64_t pending = 0) {
    Micro op;
    op.kind = kind;
    op.key = key;
    op.count = pending;
    add(op);
  }

  /// A named barrier's arrival, and the wait of a sync.
  void named(int barrier, int64_t threads, int64_t gen, bool arrives, bool waits) {
    Micro op;
    op.barrier = barrier;
    op.gen = gen;
    op.count = threads;
    op.kind = OpKind::Arrive;
    if (arrives)
      add(op);
    op.kind = OpKind::Wait;
    if (waits)
      add(op);
  }

  void event(StepId id, const Event &e);
  void ring(const Event &e, protocol::Op op) {
    if (rings.isRing(e.resource))
      rings.perform(w, e.resource, op);
  }
  int namedBarrier(int resource, int holder);
  // Barriers that bodies name themselves (UnrollHand.cpp)
  int handBarrier(int resource, int64_t cta);
  void handArrive(const Event &e);
  void handWait(const Event &e);
  void clusterSync();
  /// One named barrier per holder: whoever passes arrives there, the holder syncs. The first one
  /// has been passed to before the kernel starts.
  void baton(const Event &e);

  //--- Memory (UnrollMemory.cpp) -----------------------------------------------------------------

  int64_t slotOf(const Access &access, StepId at) const;
  std::vector<int> footprints(const Access &access, StepId at, int64_t cta, Via via, bool engine);
  int64_t peer(const Access &access);
  /// Whether the task has a closing op for the bracket of this work.
  bool closes(const Event &e) const;
  /// Accesses of one event; copies into a ring's stage are the caller's.
  void accesses(StepId id, const Event &e, const std::vector<Access> &all, bool copiesApart);
  /// Copies of one produce into the stage, per destination.
  void copies(StepId id, const Event &e, int64_t slot);
  void fetch(const Event &e);
  void work(StepId id, const Event &e);

  const Kernel &kernel;
  const Choice &choice;
  Program &program;
  Rings &rings;
  const std::vector<Place> &places;
  Writer w;
  const Task &task;
  int64_t tile = 0;
  std::map<StepId, Position> positions;
  std::map<const Loop *, int64_t> starts;              ///< of loops that carry on, in the next tile
  std::map<StepId, std::pair<int64_t, int64_t>> slots; ///< per work step: previous and last slot
  std::map<std::pair<int, int>, int64_t> times;
};

/// Which phase every operation on a hand-written barrier is meant for, and the count of the cluster
/// barrier (UnrollHand.cpp).
void finishHandBarriers(Program &program);

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_AGENTWRITER_H
