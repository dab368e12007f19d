// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules with pipeline groups: each mode as it should be, and with one thing wrong that the
// general mutations hardly hit.
#include "Generator.h"

namespace ts::oracle {

using namespace schedule;
using protocol::GroupMode;
using protocol::PipelineType;
using K = EventKind;

namespace {

Bound n() { return Maker::argument("n"); }

void someTrips(Maker &m, Random &random) {
  m.sample.choice.args["n"] = random.chance(8) ? 0 : 1 + random.below(3);
}

/// Two independent MMAs now and then.
bool someCluster(Maker &m, Random &random) {
  bool cluster = random.chance(25);
  if (cluster)
    m.pairOfCtas(1);
  return cluster;
}

struct Draft {
  Maker m{"group"};
  std::vector<int> members;
  int group = -1;
  std::string wrong; ///< what was done on purpose

  Generated finish(const std::string &shape, bool cluster) {
    Generated result{m.finish(), shape + (cluster ? "-2" : ""), {}};
    if (!wrong.empty())
      result.mutations.push_back(wrong + " by hand");
    return result;
  }
};

/// What was made wrong here, if anything: one of `ways`.
std::string wrongWay(Random &random, std::initializer_list<const char *> ways) {
  return random.chance(55) ? "" : ways.begin()[random.below(int64_t(ways.size()))];
}

void addMembers(Draft &d, Random &random, int64_t count, const std::vector<PipelineType> &types,
                GroupMode mode, bool cluster) {
  int64_t stages = 1 + random.below(cluster ? 2 : 3);
  for (int64_t i = 0; i < count; ++i) {
    d.members.push_back(d.m.ring(types[size_t(i) % types.size()], stages, 32));
    if (cluster)
      d.m.spec(d.members.back()).multicast = {false, false};
  }
  d.group = d.m.group(mode, d.members);
}

/// Producers of the members: a task each, or one task for all.
void fill(Draft &d, Random &random) {
  Maker &m = d.m;
  int missing = d.wrong == "no-acquire" ? int(random.below(int64_t(d.members.size()))) : -1;
  auto one = [&](int i) {
    if (i != missing)
      m.event(K::Acquire, d.members[size_t(i)]);
    m.produce(d.members[size_t(i)]);
    m.event(K::Commit, d.members[size_t(i)]);
  };
  if (random.chance(60)) {
    for (int i = 0; i < int(d.members.size()); ++i) {
      m.task("p" + std::to_string(i));
      m.loop(n(), [&] { one(i); });
    }
    return;
  }
  m.task("p");
  m.loop(n(), [&] {
    for (int i = 0; i < int(d.members.size()); ++i)
      one(i);
  });
}

/// One who waits for all members, works on them and gives them back together.
void drainTogether(Draft &d, Random &random, bool late, bool waitsForGroup) {
  Maker &m = d.m;
  int missing = d.wrong == "no-wait" ? int(random.below(int64_t(d.members.size()))) : -1;
  bool early = d.wrong == "early-release";
  auto release = [&] {
    if (late)
      m.guard(GuardKind::NotFirst, [&] { m.event(K::Release, d.group); });
    else
      m.event(K::Release, d.group);
  };
  m.loop(n(), [&] {
    if (waitsForGroup)
      m.event(K::Wait, d.group);
    else
      for (int i = 0; i < int(d.members.size()); ++i)
        if (i != missing)
          m.event(K::Wait, d.members[size_t(i)]);
    for (size_t i = 0; i < d.members.size(); ++i) {
      if (early && i + 1 == d.members.size())
        release();
      m.consume(d.members[i]);
    }
    if (!early)
      release();
  });
  if (late)
    m.whenRuns(n(), [&] { m.event(K::Release, d.group); });
}

/// A merge: full barriers apart, one empty barrier.
Generated merge(Random &random) {
  Draft d;
  someTrips(d.m, random);
  bool cluster = someCluster(d.m, random);
  d.wrong = wrongWay(random, {"no-acquire", "no-wait", "early-release", "two-release"});
  bool umma = random.chance(30);
  std::vector<PipelineType> types =
      umma ? random.chance(50) ? std::vector{PipelineType::TmaUmma, PipelineType::AsyncUmma}
                               : std::vector{PipelineType::TmaUmma}
      : random.pick<int>({0, 1, 2}) == 0
          ? std::vector{PipelineType::TmaAsync, PipelineType::AsyncAsync}
          : std::vector{random.chance(50) ? PipelineType::TmaAsync : PipelineType::AsyncAsync};
  addMembers(d, random, 2 + random.chance(20), types, GroupMode::Merge, cluster);
  fill(d, random);
  bool late = d.wrong.empty() && !umma && random.chance(25);
  d.m.task("c", umma ? 1 : 1 + random.chance(15));
  drainTogether(d, random, late, false);
  // Somebody else gives back too: counted, but he has not waited.
  if (d.wrong == "two-release") {
    d.m.task("x");
    d.m.loop(n(), [&] { d.m.event(K::Release, d.group); });
  }
  return d.finish("merge", cluster);
}

/// A fork: one full barrier, a consumer with an empty barrier of its own per member.
Generated fork(Random &random) {
  Draft d;
  Maker &m = d.m;
  someTrips(m, random);
  bool cluster = someCluster(m, random);
  d.wrong = wrongWay(random, {"no-acquire", "no-release", "early-commit", "guarded-acquire"});
  bool tma = random.chance(60);
  int64_t stages = 1 + random.below(cluster ? 2 : 3), count = 2 + random.chance(15);
  auto type = [&] {
    bool umma = random.chance(35);
    return tma    ? umma ? PipelineType::TmaUmma : PipelineType::TmaAsync
           : umma ? PipelineType::AsyncUmma
                  : PipelineType::AsyncAsync;
  };
  // All members are filled by copies of their own, or the others look into the first one's memory.
  bool oneMemory = random.chance(60);
  std::optional<int64_t> bytes;
  if (tma)
    bytes = oneMemory ? 32 : 32 * count;
  for (int64_t i = 0; i < count; ++i) {
    d.members.push_back(i && oneMemory ? m.barrierOnly(type(), stages, bytes)
                                       : m.ring(type(), stages, 32));
    protocol::PipelineSpec &spec = m.spec(d.members.back());
    spec.numBytes = bytes;
    if (cluster)
      spec.multicast = {false, false};
  }
  d.group = m.group(GroupMode::Fork, d.members);
  int missing = d.wrong == "no-acquire" ? int(random.below(count)) : -1;
  int guarded = d.wrong.empty() && random.chance(20) ? int(count) - 1 : -1;
  m.task("p", !cluster && random.chance(12) ? 2 : 1);
  m.loop(n(), [&] {
    for (int i = 0; i < int(count); ++i) {
      auto acquire = [&] { m.event(K::Acquire, d.members[size_t(i)]); };
      if (i == guarded) {
        // Written twice, executed once.
        m.guard(GuardKind::First, acquire);
        m.guard(GuardKind::NotFirst, acquire);
      } else if (i == 0 && d.wrong == "guarded-acquire") {
        m.guard(GuardKind::NotFirst, acquire);
      } else if (i != missing) {
        acquire();
      }
    }
    if (d.wrong == "early-commit")
      m.event(K::Commit, d.group);
    for (int i = 0; i < int(oneMemory ? 1 : count); ++i)
      m.produce(d.members[size_t(i)], 32);
    if (d.wrong != "early-commit")
      m.event(K::Commit, d.group);
  });
  int silent = d.wrong == "no-release" ? int(random.below(count)) : -1;
  for (int i = 0; i < int(count); ++i) {
    m.task("c" + std::to_string(i));
    int r = d.members[size_t(i)];
    m.loop(n(), [&] {
      m.event(K::Wait, r);
      if (i && oneMemory) {
        StepId look = m.event(K::Consume, r);
        m.last().steps[size_t(look)].event.label = "look";
        bool umma =
            m.spec(r).type == PipelineType::TmaUmma || m.spec(r).type == PipelineType::AsyncUmma;
        m.last().steps[size_t(look)].event.declared = true;
        m.last().steps[size_t(look)].event.accesses.push_back(m.whole(
            d.members[0], false, umma ? protocol::EngineUmma : protocol::EngineGeneric, look));
      } else {
        m.consume(r);
      }
      if (i != silent)
        m.event(K::Release, r);
    });
  }
  return d.finish("fork", cluster);
}

/// A fused merge: one full and one empty barrier; counts and bytes add up.
Generated fused(Random &random) {
  Draft d;
  someTrips(d.m, random);
  bool cluster = someCluster(d.m, random);
  d.wrong = wrongWay(random, {"no-acquire", "early-release", "uneven"});
  PipelineType type = random.pick({PipelineType::TmaUmma, PipelineType::TmaAsync,
                                   PipelineType::AsyncAsync, PipelineType::AsyncUmma});
  addMembers(d, random, 2 + random.chance(15), {type}, GroupMode::FusedMerge, cluster);
  fill(d, random);
  // One member is filled once more than the others.
  if (d.wrong == "uneven") {
    d.m.acquireProduceCommit(d.members.back());
  }
  d.m.task("c");
  drainTogether(d, random, false, d.wrong.empty() && random.chance(40));
  return d.finish("fused-merge", cluster);
}

/// A merged pair of operands in front of an accumulator ring, per tile.
Generated mergeGemm(Random &random) {
  Draft d;
  Maker &m = d.m;
  int queue = m.plain(ResourceKind::Queue, "tiles");
  m.sample.choice.tiles = 1 + random.below(2);
  m.kernel().tripsPerTile = true;
  for (int64_t t = 0; t < m.sample.choice.tiles; ++t)
    m.sample.choice.perTile["n"].push_back(random.below(3));
  Bound bound = Maker::perTile("n");
  d.wrong = wrongWay(random, {"no-wait", "early-release"});
  addMembers(d, random, 2, {PipelineType::TmaUmma}, GroupMode::Merge, false);
  int acc = m.ring(PipelineType::UmmaAsync, 1 + random.below(2));
  for (int r : d.members) {
    m.task("p" + std::to_string(r));
    m.tiles(queue, [&] { m.loop(bound, [&] { m.acquireProduceCommit(r); }); });
  }
  m.task("mma");
  m.tiles(queue, [&] {
    m.event(K::Acquire, acc);
    m.loop(bound, [&] {
      std::vector<StepId> inputs;
      for (int r : d.members) {
        if (r == d.members.front() || d.wrong != "no-wait")
          m.event(K::Wait, r);
      }
      if (d.wrong == "early-release")
        m.event(K::Release, d.group);
      for (int r : d.members) {
        inputs.push_back(m.consume(r));
        m.accessesOf(inputs.back()).clear();
      }
      StepId out = m.produce(acc);
      for (size_t i = 0; i < d.members.size(); ++i)
        m.accessesOf(out).push_back(m.whole(d.members[i], false, protocol::EngineUmma, inputs[i]));
      if (d.wrong != "early-release")
        m.event(K::Release, d.group);
    });
    m.event(K::Commit, acc);
  });
  m.task("store");
  m.tiles(queue, [&] { m.waitConsumeRelease(acc); });
  return d.finish("merge-gemm", false);
}

} // namespace

Generated drawGroup(Random &random) {
  constexpr Generated (*patterns[])(Random &) = {merge, fork, fused, mergeGemm};
  return patterns[random.below(std::size(patterns))](random);
}

} // namespace ts::oracle
