// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutation operators on a sample.
#include "Generator.h"

#include <algorithm>

namespace ts::oracle {

using namespace schedule;
using K = EventKind;

namespace {

using List = std::vector<StepId>;

bool isBarrierOp(const Step &step) {
  return step.kind == StepKind::Event && barrierOp(step.event.kind);
}

/// All lists of a task that hold steps, bodies of work calls excepted.
std::vector<List *> listsOf(Task &task) {
  std::vector<List *> lists{&task.body};
  for (Step &step : task.steps)
    if (step.kind != StepKind::Event) {
      lists.push_back(&step.body);
      lists.push_back(&step.orelse);
    }
  return lists;
}

struct StepPlace {
  Task *task = nullptr;
  List *list = nullptr;
  size_t at = 0;
  Step &step() const { return task->steps[size_t((*list)[at])]; }
};

/// Places of steps that `wanted` accepts.
std::vector<StepPlace> placesOf(Kernel &kernel, const std::function<bool(const Step &)> &wanted) {
  std::vector<StepPlace> places;
  for (Task &task : kernel.tasks)
    for (List *list : listsOf(task))
      for (size_t i = 0; i < list->size(); ++i)
        if (wanted(task.steps[size_t((*list)[i])]))
          places.push_back({&task, list, i});
  return places;
}

std::string describe(const StepPlace &place, const Kernel &kernel) {
  const Step &step = place.step();
  std::string text = "in " + place.task->name;
  if (step.kind == StepKind::Event) {
    text += ": " + std::string(name(step.event.kind));
    if (step.event.resource >= 0)
      text += " " + kernel.resources[size_t(step.event.resource)].name;
  }
  return text;
}

class Mutator {
public:
  Mutator(Sample &sample, Random &random) : s(sample), k(sample.kernel), random(random) {}

  bool pick(const std::function<bool(const Step &)> &wanted) {
    std::vector<StepPlace> places = placesOf(k, wanted);
    if (places.empty())
      return false;
    place = places[size_t(random.below(int64_t(places.size())))];
    what = describe(place, k);
    return true;
  }
  bool pickEvent(std::initializer_list<K> kinds) {
    std::vector<K> list(kinds);
    return pick([&](const Step &step) {
      return step.kind == StepKind::Event &&
             std::find(list.begin(), list.end(), step.event.kind) != list.end();
    });
  }
  protocol::PipelineSpec *
  pickRing(const std::function<bool(const protocol::PipelineSpec &)> &wanted) {
    std::vector<protocol::PipelineSpec *> list;
    for (Resource &resource : k.resources)
      if (resource.pipeline && resource.kind != ResourceKind::Group && wanted(*resource.pipeline))
        list.push_back(&*resource.pipeline);
    if (list.empty())
      return nullptr;
    auto *ring = list[size_t(random.below(int64_t(list.size())))];
    what = ring->name;
    return ring;
  }

  /// The pipelines of the group that `ring` is in, the group's own included.
  std::vector<protocol::PipelineSpec *> sharing(const protocol::PipelineSpec &ring,
                                                std::optional<protocol::GroupMode> mode) {
    std::vector<protocol::PipelineSpec *> list;
    for (Resource &group : k.resources) {
      if (group.kind != ResourceKind::Group || (mode && group.mode != *mode) ||
          std::none_of(group.members.begin(), group.members.end(),
                       [&](int member) { return &*k.resources[size_t(member)].pipeline == &ring; }))
        continue;
      list.push_back(&*group.pipeline);
      for (int member : group.members)
        list.push_back(&*k.resources[size_t(member)].pipeline);
    }
    return list;
  }

  bool drop(std::initializer_list<K> kinds) {
    if (!pickEvent(kinds))
      return false;
    place.list->erase(place.list->begin() + int64_t(place.at));
    return true;
  }
  bool duplicate() {
    if (!pick(isBarrierOp))
      return false;
    StepId anchor = (*place.list)[place.at], id = StepId(place.task->steps.size());
    Step copy = place.step();
    place.task->steps.push_back(copy); // lists inside the steps have moved
    for (List *list : listsOf(*place.task))
      if (auto it = std::find(list->begin(), list->end(), anchor); it != list->end()) {
        list->insert(it, id);
        return true;
      }
    return false;
  }

  /// Moves a step by one to three places within its list.
  bool move(const std::function<bool(const Step &)> &wanted) {
    if (!pick(wanted) || place.list->size() < 2)
      return false;
    List &list = *place.list;
    int64_t to = int64_t(place.at) + (random.chance(50) ? 1 : -1) * (1 + random.below(3));
    to = std::clamp<int64_t>(to, 0, int64_t(list.size()) - 1);
    if (to == int64_t(place.at))
      return false;
    StepId id = list[place.at];
    list.erase(list.begin() + int64_t(place.at));
    list.insert(list.begin() + to, id);
    what += (to > int64_t(place.at) ? " later" : " earlier");
    return true;
  }
  bool outOfLoop() {
    std::vector<StepPlace> loops =
        placesOf(k, [](const Step &step) { return step.kind == StepKind::Loop; });
    if (loops.empty())
      return false;
    StepPlace loop = loops[size_t(random.below(int64_t(loops.size())))];
    List &body = loop.step().body;
    List candidates;
    for (StepId id : body)
      if (isBarrierOp(loop.task->steps[size_t(id)]))
        candidates.push_back(id);
    if (candidates.empty())
      return false;
    StepId id = candidates[size_t(random.below(int64_t(candidates.size())))];
    what =
        "in " + loop.task->name + ": " + std::string(name(loop.task->steps[size_t(id)].event.kind));
    body.erase(std::find(body.begin(), body.end(), id));
    loop.list->insert(loop.list->begin() + int64_t(loop.at) + random.below(2), id);
    return true;
  }
  bool count() {
    auto *ring = pickRing([](auto &) { return true; });
    if (!ring)
      return false;
    auto &value = random.chance(50) ? ring->producerCount : ring->consumerCount;
    if (!value)
      return false;
    int64_t by = *value >= 32 ? 32 : 1;
    int64_t next = *value + (random.chance(50) ? by : -by);
    if (next < 1)
      next = *value + by;
    what += (&value == &ring->producerCount ? " full " : " empty ") + std::to_string(next);
    value = next;
    return true;
  }
  bool bytes() {
    auto *ring = pickRing([](auto &spec) {
      return spec.numBytes && spec.type != protocol::PipelineType::ClcFetchAsync;
    });
    if (!ring)
      return false;
    ring->numBytes = *ring->numBytes * random.pick({1, 3, 4}) / 2;
    // The members of a fork state the bytes of one barrier.
    for (protocol::PipelineSpec *other : sharing(*ring, protocol::GroupMode::Fork))
      other->numBytes = ring->numBytes;
    return true;
  }
  bool stages() {
    auto *ring = pickRing([](auto &) { return true; });
    if (!ring)
      return false;
    int64_t next = ring->stages > 1 && random.chance(75) ? ring->stages - 1 : ring->stages + 1;
    if (next > 4)
      return false;
    // The memory keeps its place: one more stage may lie on what follows.
    ring->stages = next;
    for (protocol::PipelineSpec *other : sharing(*ring, {}))
      other->stages = next;
    return true;
  }
  bool alias() {
    std::vector<size_t> list;
    for (size_t a = 0; a < k.allocations.size(); ++a)
      if (k.allocations[a].space == MemorySpace::Smem)
        list.push_back(a);
    if (list.size() < 2)
      return false;
    size_t i = size_t(random.below(int64_t(list.size())));
    size_t j = (i + 1 + size_t(random.below(int64_t(list.size()) - 1))) % list.size();
    s.places[list[i]].offset = s.places[list[j]].offset;
    what = k.allocations[list[i]].name + " on " + k.allocations[list[j]].name;
    return true;
  }
  bool guard() {
    if (!pick([](const Step &step) { return step.kind == StepKind::Guard; }))
      return false;
    Step &step = place.step();
    if (random.chance(50)) {
      step.guard.kind =
          random.pick({GuardKind::First, GuardKind::Last, GuardKind::NotLast, GuardKind::NotFirst});
      return true;
    }
    List body = step.body;
    place.list->erase(place.list->begin() + int64_t(place.at));
    place.list->insert(place.list->begin() + int64_t(place.at), body.begin(), body.end());
    return true;
  }
  bool bound() {
    if (!pick([](const Step &step) {
          return step.kind == StepKind::Loop && step.loop.kind != LoopKind::Tile;
        }))
      return false;
    Loop &loop = place.step().loop;
    loop.upper.offset += random.chance(60) ? 1 : -1;
    if (loop.upper.isConstant())
      loop.constantTrips = loop.minTrips = std::max<int64_t>(
          0, (loop.upper.offset - loop.lower.offset + loop.step.offset - 1) / loop.step.offset);
    return true;
  }
  bool flag() {
    auto *ring = pickRing([](auto &) { return true; });
    if (!ring)
      return false;
    bool &value = random.chance(60) ? ring->advanceOnWait : ring->advanceOnAcquire;
    value = !value;
    return true;
  }
  bool wrongRing() {
    if (!pick(isBarrierOp))
      return false;
    Event &event = place.step().event;
    std::vector<int> others;
    for (size_t r = 0; r < k.resources.size(); ++r)
      if (int(r) != event.resource && k.resources[r].pipeline &&
          k.resources[r].kind != ResourceKind::Group &&
          k.resources[r].pipeline->type == k.resources[size_t(event.resource)].pipeline->type)
        others.push_back(int(r));
    if (others.empty())
      return false;
    event.resource = others[size_t(random.below(int64_t(others.size())))];
    return true;
  }
  bool condition() {
    if (!pick([](const Step &step) {
          return step.kind == StepKind::When || step.kind == StepKind::Skippable;
        }))
      return false;
    if (place.step().kind == StepKind::When && random.chance(40)) {
      place.step().condition.expected = !place.step().condition.expected;
      return true;
    }
    List body = place.step().body;
    place.list->erase(place.list->begin() + int64_t(place.at));
    place.list->insert(place.list->begin() + int64_t(place.at), body.begin(), body.end());
    return true;
  }
  bool pending() {
    if (!pickEvent({K::WgmmaWait, K::BulkWait}))
      return false;
    place.step().event.pending += 1;
    return true;
  }
  /// A parity that is off by one, runs twice as fast or stands still.
  bool parity() {
    if (!pickEvent({K::MbarrierWait}))
      return false;
    Parity &p = *place.step().event.parity;
    switch (random.below(3)) {
    case 0:
      p.offset += 1;
      return true;
    case 1:
      p.scale *= 2;
      return p.kind == Parity::Kind::Linear;
    default:
      p.kind = p.kind == Parity::Kind::Constant ? p.kind : Parity::Kind::Constant;
      p.offset = random.below(2);
      return true;
    }
  }
  bool handCount() {
    std::vector<Resource *> list;
    for (Resource &r : k.resources)
      if (r.kind == ResourceKind::Mbarrier || r.kind == ResourceKind::NamedBarrier)
        list.push_back(&r);
    if (list.empty())
      return false;
    Resource &r = *list[size_t(random.below(int64_t(list.size())))];
    int64_t by = r.count >= 32 ? 32 : 1;
    r.count = r.count > by && random.chance(50) ? r.count - by : r.count + by;
    what = r.name + " " + std::to_string(r.count);
    return true;
  }
  bool anyBarrierOp(bool removes) {
    auto hand = [](const Step &step) {
      return step.kind == StepKind::Event &&
             (step.event.kind == K::MbarrierArrive || step.event.kind == K::MbarrierWait ||
              step.event.kind == K::BarrierSync || step.event.kind == K::BarrierArrive ||
              step.event.kind == K::ClusterSync);
    };
    if (!removes)
      return move(hand);
    if (!pick(hand))
      return false;
    place.list->erase(place.list->begin() + int64_t(place.at));
    return true;
  }
  /// Every thread for an elected one, or the other way round.
  bool elect() {
    if (!pickEvent({K::MbarrierArrive}))
      return false;
    place.step().event.elected = !place.step().event.elected;
    return true;
  }
  bool footprint() {
    if (!pick([](const Step &step) {
          return step.kind == StepKind::Event && !step.event.accesses.empty();
        }))
      return false;
    auto &list = place.step().event.accesses;
    Access &access = list[size_t(random.below(int64_t(list.size())))];
    if (random.chance(50))
      access.write = true;
    else if (access.offset)
      access.offset = 0;
    else
      access.size *= 2;
    return true;
  }
  Sample &s;
  Kernel &k;
  Random &random;
  StepPlace place;
  std::string what;
};

bool isWork(const Step &step) {
  return step.kind == StepKind::Event &&
         (step.event.kind == K::Produce || step.event.kind == K::Consume);
}

} // namespace

const std::vector<std::string> &mutationNames() {
  static const std::vector<std::string> names = {
      "drop-acquire", "drop-commit", "drop-wait", "drop-release", "drop-work", "drop-barrier",
      "duplicate",    "move-op",     "move-work", "out-of-loop",  "count",     "bytes",
      "stages",       "alias",       "guard",     "bound",        "flag",      "wrong-ring",
      "condition",    "pending",     "footprint"};
  return names;
}

std::string mutateHand(Sample &sample, Random &random) {
  Mutator m(sample, random);
  constexpr const char *names[] = {"parity", "hand-count", "drop-hand", "move-hand", "elect"};
  int64_t which = random.below(std::size(names));
  bool done = which == 0   ? m.parity()
              : which == 1 ? m.handCount()
              : which == 4 ? m.elect()
                           : m.anyBarrierOp(which == 2);
  if (!done)
    return "";
  for (Task &task : sample.kernel.tasks)
    compact(task);
  return std::string(names[which]) + " " + m.what;
}

std::string mutate(Sample &sample, Random &random, int wanted) {
  Mutator m(sample, random);
  int which = wanted >= 0 ? wanted : int(random.below(int64_t(mutationNames().size())));
  bool done = false;
  switch (which) {
  case 0:
    done = m.drop({K::Acquire});
    break;
  case 1:
    done = m.drop({K::Commit});
    break;
  case 2:
    done = m.drop({K::Wait});
    break;
  case 3:
    done = m.drop({K::Release});
    break;
  case 4:
    done = m.drop({K::Produce, K::Consume});
    break;
  case 5:
    done = m.drop({K::BarrierSync, K::BarrierArrive, K::Take, K::Pass, K::WgmmaWait, K::BulkWait,
                   K::GridDepWait});
    break;
  case 6:
    done = m.duplicate();
    break;
  case 7:
    done = m.move(isBarrierOp);
    break;
  case 8:
    done = m.move(isWork);
    break;
  case 9:
    done = m.outOfLoop();
    break;
  case 10:
    done = m.count();
    break;
  case 11:
    done = m.bytes();
    break;
  case 12:
    done = m.stages();
    break;
  case 13:
    done = m.alias();
    break;
  case 14:
    done = m.guard();
    break;
  case 15:
    done = m.bound();
    break;
  case 16:
    done = m.flag();
    break;
  case 17:
    done = m.wrongRing();
    break;
  case 18:
    done = m.condition();
    break;
  case 19:
    done = m.pending();
    break;
  case 20:
    done = m.footprint();
    break;
  default:
    break;
  }
  if (!done)
    return "";
  for (Task &task : sample.kernel.tasks)
    compact(task);
  return mutationNames()[size_t(which)] + " " + m.what;
}

} // namespace ts::oracle
