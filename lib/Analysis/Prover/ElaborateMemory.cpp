// Epochs and footprints: which accesses overlap in bytes or columns and must therefore be known,
// what has to be known at exit, and which rings may be rotated. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "Elaborate.h"

#include <algorithm>

namespace ts::prover {

int Elaborator::addFamily(Family family) {
  family.base = int(program.epochs.size());
  int id = int(program.families.size());
  int width = family.width();
  for (int i = 0; i < width; ++i) {
    EpochInfo info;
    info.family = id;
    bool arrival = family.kind == Family::Kind::Arrival;
    info.stage = int16_t(arrival ? i / 3 : i);
    info.generation = int8_t(arrival ? i % 3 : 0);
    program.epochs.push_back(info);
  }
  program.families.push_back(family);
  memory.resize(program.families.size());
  return id;
}

int Elaborator::arrivalFamily(int barrier, int64_t stages, int agent, bool async) {
  auto [it, fresh] = arrivalFamilies.try_emplace({barrier, agent, async}, 0);
  if (fresh) {
    Family family;
    family.kind = Family::Kind::Arrival;
    family.stages = int(stages);
    family.unit = program.barriers[size_t(barrier)].unit;
    family.barrier = barrier;
    family.agent = agent;
    family.async = async;
    family.cta = program.barriers[size_t(barrier)].cta;
    family.remote = program.agents[size_t(agent)].cta != family.cta;
    it->second = addFamily(family);
    for (int64_t stage = 0; stage < stages; ++stage) {
      BarrierInfo &info = program.barriers[size_t(barrier + stage)];
      info.arrivals.push_back(program.families[size_t(it->second)].base + int(stage) * 3);
      info.users.push_back(agent);
    }
  }
  return program.families[size_t(it->second)].base;
}

int Elaborator::waitFamily(int barrier, int64_t stages, int agent) {
  auto [it, fresh] = waitFamilies.try_emplace({barrier, agent}, 0);
  if (fresh) {
    Family family;
    family.kind = Family::Kind::Wait;
    family.stages = int(stages);
    family.unit = program.barriers[size_t(barrier)].unit;
    family.barrier = barrier;
    family.agent = agent;
    it->second = addFamily(family);
    for (int64_t stage = 0; stage < stages; ++stage) {
      BarrierInfo &info = program.barriers[size_t(barrier + stage)];
      info.waits.push_back(program.families[size_t(it->second)].base + int(stage));
      info.users.push_back(agent);
    }
  }
  return program.families[size_t(it->second)].base;
}

int Elaborator::accessFamily(const FamilyKey &key, bool async, bool declared, int accessIndex) {
  auto [it, fresh] = accessFamilies.try_emplace(key, 0);
  if (fresh) {
    const sched::Allocation &allocation = kernel.allocations[size_t(key.allocation)];
    const Ring *ring = allocation.resource >= 0 && ringOf[size_t(allocation.resource)] >= 0
                           ? &rings[size_t(ringOf[size_t(allocation.resource)])]
                           : nullptr;
    Family family;
    family.kind = key.write ? Family::Kind::Write : Family::Kind::Read;
    family.stages = ring && allocation.staged ? int(ring->stages) : 1;
    family.unit = ring && allocation.staged ? ring->unit : -1;
    family.agent = key.agent;
    family.cta = key.cta;
    family.remote = program.agents[size_t(key.agent)].cta != key.cta;
    family.async = async;
    family.allocation = key.allocation;
    family.offset = key.offset;
    family.size = key.size;
    family.task = program.agents[size_t(key.agent)].task;
    family.step = key.step;
    family.partBase = key.partBase;
    family.partOffset = key.partOffset;
    family.partSize = key.partSize;
    family.partStride = key.partStride;
    if (key.parts > 1)
      family.stages = int(key.parts);
    family.accessIndex = accessIndex;
    it->second = addFamily(family);
    memory[size_t(it->second)] = {key.exact, declared, key.channel, key.places};
  }
  return it->second;
}

namespace {

struct Range {
  bool tmem = false;
  bool placed = false;
  int64_t begin = 0, end = 0; ///< absolute where placed, within the stage otherwise
};

} // namespace

static Range rangeOf(const sched::Kernel &kernel, const Placement &placement, const Family &family,
                     int stage) {
  const sched::Allocation &allocation = kernel.allocations[size_t(family.allocation)];
  Range range;
  range.tmem = allocation.space == sched::MemorySpace::Tmem;
  constexpr int64_t far = int64_t(1) << 48;
  range.begin = std::clamp(family.offset, -far, far);
  range.end = range.begin + std::clamp<int64_t>(family.size, 0, far);
  if (size_t(family.allocation) < placement.allocations.size()) {
    const Placed &placed = placement.allocations[size_t(family.allocation)];
    if (family.partStride)
      stage = 0;
    if (placed.offset >= 0) {
      range.placed = true;
      range.begin += placed.offset + stage * placed.stride;
      range.end += placed.offset + stage * placed.stride;
    }
  }
  return range;
}

/// Whether two accesses of one agent that count from the same run-time place meet.
static bool partsMeet(const Family &a, int s, const Family &b, int t) {
  int64_t x = a.partOffset + s * a.partStride, y = b.partOffset + t * b.partStride;
  return x < y + b.partSize && y < x + a.partSize;
}

static bool overlap(const Range &a, const Range &b) {
  return a.tmem == b.tmem && a.begin < b.end && b.begin < a.end;
}

void Elaborator::rotateUnits() {
  // A stage whose bytes belong to another ring, another stage or an unstaged buffer stays where it
  // is.
  struct Item {
    const Family *family;
    int stage;
    Range range;
  };
  std::vector<Item> items;
  for (const Family &family : program.families)
    if (family.allocation >= 0)
      for (int stage = 0; stage < family.stages; ++stage) {
        Range range = rangeOf(kernel, placement, family, stage);
        if (range.placed)
          items.push_back({&family, stage, range});
      }
  std::sort(items.begin(), items.end(),
            [](const Item &a, const Item &b) { return a.range.begin < b.range.begin; });
  for (size_t i = 0; i < items.size(); ++i)
    for (size_t j = i + 1; j < items.size() && items[j].range.begin < items[i].range.end; ++j) {
      const Item &a = items[i], &b = items[j];
      if (!overlap(a.range, b.range) ||
          (a.family->allocation == b.family->allocation && a.stage == b.stage))
        continue;
      for (const Family *family : {a.family, b.family})
        if (family->unit >= 0)
          program.units[size_t(family->unit)].rotates = false;
    }
}

namespace {
/// What two accesses to one stage of an allocation are to each other by the places of their warps.
/// Repeated: one warp comes back to its place, and none else gets there.
enum class Meeting { Unknown, Never, Certain, Repeated };

/// The warps of an agent in its CTA, one place each at a time.
std::vector<sched::WarpPlace> agentPlaces(const Agent &agent, const Family &family, bool exact,
                                          const std::vector<sched::WarpPlace> *known) {
  std::vector<sched::WarpPlace> result;
  if (exact && !known)
    return {{agent.cta, -1, family.offset, family.size, true}};
  for (const sched::WarpPlace &place : *known)
    if (place.cta == agent.cta && (agent.lane < 0 || place.warp == agent.lane))
      result.push_back(place);
  return result;
}

/// `whole`: accesses to every byte of their places, not only to some of them.
Meeting meetingOf(const std::vector<sched::WarpPlace> &a, bool aWhole,
                  const std::vector<sched::WarpPlace> &b, bool bWhole, bool sameAgent) {
  Meeting result = Meeting::Never;
  for (const sched::WarpPlace &x : a)
    for (const sched::WarpPlace &y : b) {
      if (x.begin >= y.begin + y.size || y.begin >= x.begin + x.size)
        continue;
      if (sameAgent && x.warp == y.warp && x.begin == y.begin && x.size == y.size) {
        if (result == Meeting::Never)
          result = Meeting::Repeated;
        continue;
      }
      bool within = (aWhole && x.begin <= y.begin && y.begin + y.size <= x.begin + x.size) ||
                    (bWhole && y.begin <= x.begin && x.begin + x.size <= y.begin + y.size);
      if (!sameAgent && x.sure && y.sure && (within || (aWhole && bWhole)))
        return Meeting::Certain;
      result = Meeting::Unknown;
    }
  return result;
}
} // namespace

void Elaborator::addConflicts() {
  std::vector<const std::vector<sched::WarpPlace> *> lists(places.size());
  for (const auto &[list, number] : places)
    lists[size_t(number)] = &list;
  auto meeting = [&](int i, int j) {
    const Family &a = program.families[size_t(i)], &b = program.families[size_t(j)];
    const FamilyMemory &x = memory[size_t(i)], &y = memory[size_t(j)];
    if ((x.places < 0 && !x.exact) || (y.places < 0 && !y.exact))
      return Meeting::Unknown;
    auto of = [&](const Family &family, const FamilyMemory &access) {
      return agentPlaces(program.agents[size_t(family.agent)], family, access.exact,
                         access.places < 0 ? nullptr : lists[size_t(access.places)]);
    };
    auto whole = [](const FamilyMemory &access) {
      return access.channel == Tma || access.channel == Bulk;
    };
    return meetingOf(of(a, x), whole(x), of(b, y), whole(y), a.agent == b.agent);
  };
  size_t words = program.words;
  program.conflicts.assign(program.epochs.size(), Bits());
  std::vector<int> accesses;
  for (size_t i = 0; i < program.families.size(); ++i)
    if (program.families[i].allocation >= 0)
      accesses.push_back(int(i));
  auto exempt = [&](int i, int j, bool relative, bool sameStage) {
    const Family &a = program.families[size_t(i)], &b = program.families[size_t(j)];
    const FamilyMemory &x = memory[size_t(i)], &y = memory[size_t(j)];
    if (a.agent == b.agent) {
      if (x.channel == Sync && y.channel == Sync)
        return true;
      // One thread's tensor core operations keep their order.
      if (x.channel == Umma && y.channel == Umma)
        return true;
    }
    const sched::Task &s = kernel.tasks[size_t(a.task)], &t = kernel.tasks[size_t(b.task)];
    // Parts are parts of one stage of one allocation; what else shares its bytes is no part of it.
    if (s.source != t.source || relative || a.allocation != b.allocation || !sameStage)
      return false;
    // Where each warp's place is known, nothing has to be taken for granted.
    Meeting meet = meeting(i, j);
    if (meet == Meeting::Never)
      return true;
    if (meet == Meeting::Repeated) {
      // Iterations have places of their own within a call; the calls follow the ring.
      auto places = [&](const FamilyMemory &access) {
        return access.places < 0 ? 1 : int64_t(lists[size_t(access.places)]->size());
      };
      int64_t warps = s.warps * program.ctas;
      if (places(x) <= warps && places(y) <= warps)
        return false;
      if (a.stages > 1 && b.stages > 1)
        return true;
    }
    // Nor does it say anything that a CTA writes a part of its own memory: its peers read any.
    bool ofTwoCtas = program.agents[size_t(a.agent)].cta != program.agents[size_t(b.agent)].cta;
    if (ofTwoCtas && a.kind != b.kind)
      return false;
    if (meet == Meeting::Certain && (ofTwoCtas || s.name != t.name))
      return false;
    // Warps are taken to have parts of their own; two CTAs' copies to known places are not.
    if (a.agent != b.agent && a.step == b.step && s.name == t.name &&
        !(ofTwoCtas && x.exact && y.exact))
      return true;
    // Parts that one task addresses at run time are taken as disjoint.
    if ((!x.exact || !y.exact) && !(x.declared && y.declared) &&
        kernel.allocations[size_t(a.allocation)].space != sched::MemorySpace::Tmem) {
      assume("parts of '" + kernel.allocations[size_t(a.allocation)].name + "' that '" + s.source +
             "' addresses at run time do not overlap");
      return true;
    }
    return a.agent != b.agent && (!x.exact || !y.exact);
  };
  for (size_t n = 0; n < accesses.size(); ++n)
    for (size_t m = n; m < accesses.size(); ++m) {
      int i = accesses[n], j = accesses[m];
      const Family &a = program.families[size_t(i)], &b = program.families[size_t(j)];
      if (a.cta != b.cta || (a.kind != Family::Kind::Write && b.kind != Family::Kind::Write))
        continue;
      bool same = a.allocation == b.allocation;
      std::optional<bool> skips[2]; // by "in one stage"
      bool relative = same && a.agent == b.agent && a.partBase >= 0 && a.partBase == b.partBase;
      for (int s = 0; s < a.stages; ++s)
        for (int t = 0; t < b.stages; ++t) {
          Range x = rangeOf(kernel, placement, a, s), y = rangeOf(kernel, placement, b, t);
          bool meet = x.placed && y.placed ? overlap(x, y)
                                           : same && (s == t || a.unit < 0) && overlap(x, y);
          if (relative)
            meet = partsMeet(a, s, b, t);
          if (!meet)
            continue;
          bool sameStage = s == t || a.partBase >= 0 || b.partBase >= 0;
          std::optional<bool> &skip = skips[sameStage];
          if (!skip)
            skip = exempt(i, j, relative, sameStage);
          if (*skip)
            continue;
          int e = a.base + s, f = b.base + t;
          for (auto [from, to] : {std::pair(e, f), std::pair(f, e)}) {
            Bits &mask = program.conflicts[size_t(from)];
            if (mask.empty())
              mask.assign(words, 0);
            setBit(mask.data(), to);
          }
        }
    }
}

void Elaborator::addExitMasks() {
  program.exitMask.assign(size_t(program.ctas), Bits(program.words, 0));
  program.sourceReads.assign(program.words, 0);
  for (size_t i = 0; i < program.families.size(); ++i) {
    const Family &family = program.families[i];
    bool access = family.allocation >= 0;
    if (access && memory[i].channel == Bulk && family.kind == Family::Kind::Read)
      for (int bit = 0; bit < family.stages; ++bit)
        setBit(program.sourceReads.data(), family.base + bit);
    if (!access && family.kind != Family::Kind::Arrival)
      continue;
    if (family.barrier >= 0 &&
        program.barriers[size_t(family.barrier)].kind == BarrierInfo::Kind::Named)
      continue;
    if (family.async || family.remote)
      for (int bit = 0; bit < family.width(); ++bit)
        setBit(program.exitMask[size_t(family.cta)].data(), family.base + bit);
  }
}

/// Knowledge that no check of an agent asks for does not tell its states apart, though it may still
/// carry it to others.
void Elaborator::addRelevance() {
  program.relevant.assign(program.agents.size(), Bits(program.words, 0));
  program.ownAccesses = program.relevant;
  for (const Family &family : program.families) {
    if (family.allocation < 0)
      continue;
    Bits &mine = program.relevant[size_t(family.agent)];
    if (!family.async)
      for (int stage = 0; stage < family.stages; ++stage)
        setBit(program.ownAccesses[size_t(family.agent)].data(), family.base + stage);
    for (int stage = 0; stage < family.stages; ++stage)
      if (const Bits &conflicts = program.conflicts[size_t(family.base + stage)];
          !conflicts.empty())
        orInto(mine.data(), conflicts.data(), program.words);
  }
  for (const BarrierInfo &info : program.barriers) {
    if (info.waits.empty())
      continue;
    for (int agent : info.users) {
      Bits &mine = program.relevant[size_t(agent)];
      for (int base : info.arrivals)
        for (int generation = 0; generation < 3; ++generation)
          setBit(mine.data(), base + generation);
      for (int bit : info.waits)
        setBit(mine.data(), bit);
    }
  }
  for (const Agent &agent : program.agents)
    if (agent.pdlEpoch >= 0)
      for (size_t other = 0; other < program.agents.size(); ++other)
        if (program.agents[other].cta == agent.cta)
          setBit(program.relevant[other].data(), agent.pdlEpoch);
}

void Elaborator::numberRows() {
  program.words = std::max<size_t>(1, (program.epochs.size() + 63) / 64);
  program.rows = int(program.agents.size());
  for (Agent &agent : program.agents)
    for (Queue &queue : agent.queues) {
      queue.row = program.rows;
      program.rows += queue.rows();
    }
  program.barrierRow = program.rows;
  program.rows += 2 * int(program.barriers.size());
}

void Elaborator::finishEpochs() {
  addConflicts();
  addExitMasks();
  program.pdlWaits.assign(size_t(program.ctas), Bits(program.words, 0));
  for (const Agent &agent : program.agents)
    if (agent.pdlEpoch >= 0) {
      setBit(program.pdlWaits[size_t(agent.cta)].data(), agent.pdlEpoch);
      program.anyPdlWait = true;
    }
  for (BarrierInfo &info : program.barriers) {
    std::sort(info.users.begin(), info.users.end());
    info.users.erase(std::unique(info.users.begin(), info.users.end()), info.users.end());
  }
  addRelevance();
}

} // namespace ts::prover
