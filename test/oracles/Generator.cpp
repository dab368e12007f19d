// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws valid schedules: a general pattern of tasks and rings in one of four nests, and patterns
// for what that one cannot say (lanes, wait-only tasks, shared roles, named barriers, batons).
#include "Generator.h"

#include <algorithm>

namespace ts::oracle {

using namespace schedule;
using protocol::PipelineType;
using K = EventKind;

uint64_t Random::next() {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

namespace {

enum class Kind : uint8_t { Tma, Umma, Async };
enum class Nest : uint8_t { Flat, Constant, Sequence, Tiles, Nested };

struct RingPlan {
  int from, to, id = -1;
  PipelineType type;
  bool outer = false; ///< used once around the inner loop
  int phase = 0;      ///< of Sequence
  bool lateRelease = false, lateCommit = false, tryOpen = false, tryWait = false, every = false;
  bool wgmma = false, bulk = false, keyed = false;
};

class General {
public:
  General(Random &random) : random(random), m("general") {}

  Generated run() {
    Generated result;
    nest = random.pick({Nest::Flat, Nest::Flat, Nest::Constant, Nest::Sequence, Nest::Tiles,
                        Nest::Tiles, Nest::Nested});
    if (random.chance(18))
      cluster = random.chance(50) ? 1 : 2;
    if (cluster)
      m.pairOfCtas(cluster);
    plan();
    trips();
    for (size_t t = 0; t < kinds.size(); ++t)
      task(int(t));
    if (random.chance(6))
      pdl();
    if (rings.size() > 1 && random.chance(5))
      m.alias(rings[0].id, rings[1].id);
    constexpr const char *names[] = {"flat", "constant", "sequence", "tiles", "nested"};
    result.shape =
        std::string(names[unsigned(nest)]) + (cluster ? cluster == 1 ? "-2x1" : "-pair" : "");
    result.sample = m.finish();
    return result;
  }

private:
  void plan() {
    size_t tasks = cluster ? 2 + random.chance(30) : 2 + size_t(random.below(3));
    kinds.push_back(random.pick({Kind::Tma, Kind::Tma, Kind::Async}));
    while (kinds.size() < tasks)
      kinds.push_back(random.pick({Kind::Async, Kind::Async, Kind::Umma}));
    auto type = [&](int from, int to) {
      Kind p = kinds[size_t(from)], c = kinds[size_t(to)];
      if (p == Kind::Tma)
        return c == Kind::Umma ? PipelineType::TmaUmma : PipelineType::TmaAsync;
      if (p == Kind::Umma)
        return c == Kind::Umma ? PipelineType::UmmaUmma : PipelineType::UmmaAsync;
      return c == Kind::Umma ? PipelineType::AsyncUmma : PipelineType::AsyncAsync;
    };
    for (int to = 1; to < int(tasks); ++to)
      rings.push_back({int(random.below(to)), to, -1, PipelineType::AsyncAsync});
    if (rings.size() < 3 && random.chance(40)) {
      int to = 1 + int(random.below(int64_t(tasks) - 1));
      rings.push_back({int(random.below(to)), to, -1, PipelineType::AsyncAsync});
    }
    for (RingPlan &r : rings) {
      r.type = type(r.from, r.to);
      r.outer = nest != Nest::Sequence && random.chance(nest == Nest::Flat ? 12 : 30);
      r.phase = nest == Nest::Sequence ? int(random.below(2)) : 0;
      r.lateRelease = !r.outer && random.chance(20);
      r.lateCommit = !r.outer && kinds[size_t(r.from)] != Kind::Tma && random.chance(10);
      int64_t stages = cluster ? 1 + random.below(2) : 1 + random.below(4);
      if (stages < 2 && (r.lateRelease || r.lateCommit) && random.chance(90))
        stages = 2;
      r.id = m.ring(r.type, stages, random.pick({32, 64}));
      r.tryOpen = random.chance(8);
      r.tryWait = random.chance(10);
      r.every = !r.outer && !r.lateRelease && !r.lateCommit && random.chance(7);
      r.keyed = !r.outer && !r.every && random.chance(7);
      auto &spec = m.spec(r.id);
      spec.advanceOnWait = r.lateRelease || random.chance(8);
      spec.advanceOnAcquire = r.lateCommit || random.chance(5);
      bool asyncConsumer = kinds[size_t(r.to)] == Kind::Async;
      r.wgmma = asyncConsumer && r.type == PipelineType::TmaAsync && random.chance(25);
      r.bulk = r.type == PipelineType::AsyncAsync && random.chance(12);
      if (kinds[size_t(r.from)] == Kind::Async && cluster != 2 && random.chance(12))
        spec.asyncLoad = true;
      if (r.type == PipelineType::TmaAsync && random.chance(10))
        spec.releaseStyle = protocol::ReleaseStyle::PerThread;
      if (cluster == 2) {
        // Only the leader of a pair issues; both CTAs' copies complete at the leader.
        if (kinds[size_t(r.from)] == Kind::Umma)
          spec.producerSignal = protocol::SignalCtaLeader;
        if (kinds[size_t(r.to)] == Kind::Umma)
          spec.consumerSignal = protocol::SignalCtaLeader;
        if (r.type == PipelineType::TmaUmma)
          spec.numBytes = *spec.numBytes * 2;
      }
      // In a cluster of two MMAs copies may go to both CTAs, half from each.
      if (cluster == 1 && kinds[size_t(r.from)] == Kind::Tma) {
        spec.multicast = {true, true};
      } else if (cluster == 1) {
        spec.multicast = {false, false};
      }
    }
  }

  void trips() {
    int64_t n = random.chance(8) ? 0 : 1 + random.below(cluster ? 2 : 3);
    switch (nest) {
    case Nest::Constant:
      bound = Bound::constant(n);
      break;
    case Nest::Tiles: {
      queue = m.plain(ResourceKind::Queue, "tiles");
      m.sample.choice.tiles = 1 + random.below(cluster ? 2 : 3);
      if (random.chance(25)) {
        bound = Maker::argument("n");
        m.sample.choice.args["n"] = std::min<int64_t>(n, 2);
        break;
      }
      bound = Maker::perTile("n");
      m.kernel().tripsPerTile = true;
      for (int64_t t = 0; t < m.sample.choice.tiles; ++t)
        m.sample.choice.perTile["n"].push_back(random.below(3));
      skip = random.chance(20);
      m.kernel().resources[size_t(queue)].skips = skip;
      break;
    }
    default:
      bound = Maker::argument("n");
      m.sample.choice.args["n"] = nest == Nest::Nested ? std::min<int64_t>(n, 2) : n;
    }
  }

  void task(int index) {
    Kind kind = kinds[size_t(index)];
    int64_t warps = 1;
    bool writes =
        std::any_of(rings.begin(), rings.end(), [&](const RingPlan &r) { return r.from == index; });
    if (kind == Kind::Async && random.chance(15))
      warps = 2;
    if (kind == Kind::Tma && !cluster && writes && random.chance(10))
      warps = 2;
    m.task((kind == Kind::Tma    ? "load"
            : kind == Kind::Umma ? "mma"
                                 : "work") +
               std::to_string(index),
           warps);
    works.clear();
    switch (nest) {
    case Nest::Flat:
    case Nest::Constant:
      return level(index, 0, [&](const Maker::Body &body) { m.loop(bound, body); });
    case Nest::Sequence:
      for (int phase : {0, 1})
        if (std::any_of(rings.begin(), rings.end(), [&](const RingPlan &r) {
              return r.phase == phase && (r.from == index || r.to == index);
            }))
          level(index, phase, [&](const Maker::Body &body) { m.loop(bound, body); });
      return;
    case Nest::Nested:
      return (void)m.loop(bound, [&] {
        level(index, 0, [&](const Maker::Body &body) { m.loop(Bound::constant(2), body); });
      });
    case Nest::Tiles:
      return m.tiles(queue, [&] {
        auto body = [&] {
          level(index, 0, [&](const Maker::Body &inner) { m.loop(bound, inner); });
        };
        if (skip)
          m.skippable(body);
        else
          body();
      });
    }
  }

  /// One loop with the brackets inside it and around it.
  void level(int index, int phase, const std::function<void(const Maker::Body &)> &loop) {
    std::vector<RingPlan *> inner, outer;
    for (RingPlan &r : rings)
      if (r.phase == phase && (r.from == index || r.to == index))
        (r.outer ? outer : inner).push_back(&r);
    for (RingPlan *r : outer)
      open(*r, r->from == index);
    // Outer stages are worked on inside the loop, or once beside it.
    std::vector<RingPlan *> inside;
    for (RingPlan *r : outer)
      if (!inner.empty() && !(r->from == index && kinds[size_t(index)] == Kind::Tma) &&
          random.chance(50))
        inside.push_back(r);
      else
        work(*r, r->from == index, index);
    if (!inner.empty())
      loop([&] { body(index, inner, inside); });
    for (RingPlan *r : inner)
      if (late(*r, r->from == index))
        tail(*r, r->from == index);
    for (RingPlan *r : outer)
      close(*r, r->from == index);
  }

  static bool late(const RingPlan &r, bool producer) {
    return producer ? r.lateCommit : r.lateRelease;
  }

  void open(RingPlan &r, bool producer) {
    if (producer ? r.tryOpen : r.tryWait)
      m.event(producer ? K::TryAcquire : K::TryWait, r.id);
    m.event(producer ? K::Acquire : K::Wait, r.id);
  }

  void close(RingPlan &r, bool producer) { m.event(producer ? K::Commit : K::Release, r.id); }

  void work(RingPlan &r, bool producer, int index) {
    m.bodies = random.chance(50);
    if (!producer) {
      m.bodies |= r.wgmma || r.bulk;
      StepId id = m.consume(r.id);
      works[r.id] = id;
      if (kinds[size_t(index)] == Kind::Umma && feeds(index)) {
        // Its operand is read by the MMA that writes the result.
        m.accessesOf(id).clear();
      } else if (r.wgmma || r.bulk) {
        m.accessesOf(id).front().engine = r.wgmma ? protocol::EngineWgmma : protocol::EngineTma;
        m.event(r.wgmma ? K::WgmmaCommit : K::BulkCommit, -1);
        m.event(r.wgmma ? K::WgmmaWait : K::BulkWait, -1);
        m.last().steps.back().event.readOnly = r.bulk;
      }
      return;
    }
    StepId id = m.produce(r.id);
    Event &event = m.last().steps[size_t(id)].event;
    if (kinds[size_t(index)] == Kind::Umma)
      for (auto [ring, via] : works)
        m.accessesOf(id).push_back(m.whole(ring, false, protocol::EngineUmma, via));
    bool tma = kinds[size_t(index)] == Kind::Tma;
    if (tma && cluster == 2 && r.type == PipelineType::TmaUmma)
      event.issued.alternatives.front().own = *m.spec(r.id).numBytes / 2;
    if (tma && cluster == 1) {
      auto &issued = event.issued.alternatives.front();
      issued.alongM = issued.own / 2;
      issued.own = 0;
      // Each CTA's half for both: at a place that its rank gives.
      m.accessesOf(id).front().size /= 2;
      m.accessesOf(id).front().exact = false;
    }
  }

  /// Whether this task's tensor core work writes a ring at all.
  bool feeds(int index) const {
    return std::any_of(rings.begin(), rings.end(),
                       [&](const RingPlan &r) { return r.from == index; });
  }

  void tail(RingPlan &r, bool producer) {
    auto last = [&] { close(r, producer); };
    auto keyed = [&] { r.keyed ? m.when("odd", last) : last(); };
    if (bound.isConstant() || nest == Nest::Nested)
      return bound.offset > 0 || nest == Nest::Nested ? keyed() : void();
    m.whenRuns(bound, keyed);
  }

  void body(int index, const std::vector<RingPlan *> &inner,
            const std::vector<RingPlan *> &inside) {
    // Chains of open, work, close; natural order, or any interleaving.
    struct Chain {
      RingPlan *ring;
      bool producer;
      int done = 0;
    };
    std::vector<Chain> chains;
    for (RingPlan *r : inner)
      chains.push_back({r, r->from == index});
    bool natural = random.chance(65);
    bool umma = kinds[size_t(index)] == Kind::Umma;
    auto step = [&](Chain &chain) {
      RingPlan &r = *chain.ring;
      auto emit = [&](const Maker::Body &what) {
        if (r.every)
          m.guard(GuardKind::Every, what, 2);
        else if (r.keyed)
          m.when("odd", what);
        else
          what();
      };
      int part = chain.done++;
      if (part == 0)
        emit([&] { open(r, chain.producer); });
      else if (part == 1)
        emit([&] { work(r, chain.producer, index); });
      else if (late(r, chain.producer))
        emit([&] { m.guard(GuardKind::NotFirst, [&] { close(r, chain.producer); }); });
      else
        emit([&] { close(r, chain.producer); });
    };
    auto inputsRead = [&] {
      return std::all_of(chains.begin(), chains.end(),
                         [](const Chain &c) { return c.producer || c.done >= 2; });
    };
    auto outputsWritten = [&] {
      return std::all_of(chains.begin(), chains.end(),
                         [](const Chain &c) { return !c.producer || c.done >= 2; });
    };
    auto allowed = [&](const Chain &c) {
      if (c.done > 2)
        return false;
      if (umma && c.producer && c.done == 1)
        return inputsRead();
      if (umma && !c.producer && c.done == 2)
        return outputsWritten();
      return true;
    };
    for (RingPlan *r : inside)
      if (!umma || r->to == index)
        work(*r, r->from == index, index);
    bool outside = umma;
    for (size_t left = 3 * chains.size(); left > 0; --left) {
      std::vector<Chain *> ready;
      for (Chain &c : chains)
        if (allowed(c))
          ready.push_back(&c);
      auto order = [](Chain *a, Chain *b) {
        return std::pair(a->done, a->producer) < std::pair(b->done, b->producer);
      };
      Chain &next = natural ? **std::min_element(ready.begin(), ready.end(), order)
                            : *ready[size_t(random.below(int64_t(ready.size())))];
      if (outside && inputsRead() && (!next.producer || next.done == 2)) {
        // Accumulate into the outer stage before an input is given back.
        for (RingPlan *r : inside)
          if (r->from == index)
            work(*r, true, index);
        outside = false;
      }
      step(next);
    }
    if (outside)
      for (RingPlan *r : inside)
        if (r->from == index)
          work(*r, true, index);
    works.clear();
  }

  /// One wait for the previous grid at the head, one launch of the next at the end.
  void pdl() {
    auto &tasks = m.kernel().tasks;
    for (auto [index, kind, front] :
         {std::tuple(size_t(0), K::GridDepWait, true),
          std::tuple(tasks.size() - 1, K::GridDepLaunch, random.chance(20))}) {
      Task &task = tasks[index];
      Step step;
      step.event.kind = kind;
      task.steps.push_back(step);
      StepId id = StepId(task.steps.size() - 1);
      task.body.insert(front ? task.body.begin() : task.body.end(), id);
    }
  }

  Random &random;
  Maker m;
  Nest nest = Nest::Flat;
  int64_t cluster = 0; ///< CTAs per MMA in a cluster of two
  bool skip = false;
  int queue = -1;
  Bound bound;
  std::vector<Kind> kinds;
  std::vector<RingPlan> rings;
  std::map<int, StepId> works;
};

} // namespace

Generated drawSpecial(Random &random);

Generated draw(Random &random) {
  return random.chance(70) ? General(random).run() : drawSpecial(random);
}

Generated generate(uint64_t seed, unsigned features) {
  Random random(seed * 0x2545f4914f6cdd1dull + 1 + (uint64_t(features) << 56));
  Generated result = features ? drawFeature(random, features) : draw(random);
  int wanted = random.chance(22) ? 0 : random.chance(60) ? 1 : 2;
  for (int tries = 0; tries < 12 && int(result.mutations.size()) < wanted; ++tries)
    if (std::string name = (features & ~FeatureGroups) && random.chance(60)
                               ? mutateHand(result.sample, random)
                               : mutate(result.sample, random);
        !name.empty())
      result.mutations.push_back(name);
  return result;
}

std::string print(const Generated &g) {
  std::string text = "shape " + g.shape + "\nchoice " + g.sample.choice.str() + "\n";
  for (const std::string &mutation : g.mutations)
    text += "mutation " + mutation + "\n";
  for (size_t a = 0; a < g.sample.places.size(); ++a)
    text += "place " + g.sample.kernel.allocations[a].name + " at " +
            std::to_string(g.sample.places[a].offset) + " stride " +
            std::to_string(g.sample.places[a].stride) + "\n";
  return text + schedule::print(g.sample.kernel);
}

} // namespace ts::oracle
