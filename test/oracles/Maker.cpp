// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule models by hand.
#include "Maker.h"

#include <algorithm>
#include <utility>

namespace ts::oracle {

using namespace schedule;
using protocol::PipelineType;
using protocol::Side;

int Maker::ring(PipelineType type, int64_t stages, int64_t bytes) {
  bool tmem = type == PipelineType::UmmaAsync;
  int id = int(kernel().resources.size());
  Resource resource;
  resource.name = "r" + std::to_string(id);
  protocol::PipelineSpec spec;
  spec.name = resource.name;
  spec.type = type;
  spec.stages = stages;
  spec.stageBytes = bytes;
  spec.space = tmem ? protocol::Space::Tmem : protocol::Space::Smem;
  if (type == PipelineType::TmaAsync || type == PipelineType::TmaUmma)
    spec.numBytes = bytes;
  resource.pipeline = spec;
  Allocation allocation;
  allocation.name = resource.name;
  allocation.resource = id;
  allocation.space = tmem ? MemorySpace::Tmem : MemorySpace::Smem;
  (tmem ? allocation.columns : allocation.bytes) = bytes;
  resource.allocations.push_back(int(kernel().allocations.size()));
  int64_t &next = tmem ? nextColumn : nextByte;
  sample.places.push_back({next, bytes});
  next += stages * bytes;
  kernel().allocations.push_back(allocation);
  kernel().resources.push_back(resource);
  return id;
}

int Maker::plain(ResourceKind kind, std::string name) {
  Resource resource;
  resource.kind = kind;
  resource.name = std::move(name);
  kernel().resources.push_back(resource);
  return int(kernel().resources.size() - 1);
}

int Maker::scratch(int64_t bytes) {
  int id = plain(ResourceKind::Memory, "m" + std::to_string(kernel().resources.size()));
  Allocation allocation;
  allocation.name = kernel().resources.back().name;
  allocation.resource = id;
  allocation.bytes = bytes;
  allocation.staged = false;
  kernel().resources.back().allocations.push_back(int(kernel().allocations.size()));
  sample.places.push_back({nextByte, 0});
  nextByte += bytes;
  kernel().allocations.push_back(allocation);
  return id;
}

int Maker::group(protocol::GroupMode mode, const std::vector<int> &members) {
  int id = plain(ResourceKind::Group, "g" + std::to_string(kernel().resources.size()));
  Resource &resource = kernel().resources[size_t(id)];
  resource.mode = mode;
  resource.members = members;
  // The prover asks only whether there is one.
  resource.pipeline = spec(members.front());
  resource.pipeline->name = resource.name;
  resource.pipeline->numBytes = resource.pipeline->stageBytes = std::nullopt;
  for (int member : members)
    kernel().resources[size_t(member)].group = id;
  return id;
}

int Maker::barrierOnly(PipelineType type, int64_t stages, std::optional<int64_t> bytes) {
  int id = plain(ResourceKind::Memory, "r" + std::to_string(kernel().resources.size()));
  Resource &resource = kernel().resources[size_t(id)];
  resource.barrierOnly = true;
  protocol::PipelineSpec spec;
  spec.name = resource.name;
  spec.type = type;
  spec.stages = stages;
  spec.numBytes = bytes;
  resource.pipeline = spec;
  return id;
}

int Maker::barrier(ResourceKind kind, std::string name, int64_t count) {
  int id = plain(kind, std::move(name));
  kernel().resources[size_t(id)].count = count;
  return id;
}

void Maker::waitParity(int barrier, int64_t scale, int64_t offset, int64_t divisor) {
  StepId id = event(EventKind::MbarrierWait, barrier);
  Parity parity;
  parity.kind = loops.empty() || scale == 0 ? Parity::Kind::Constant : Parity::Kind::Linear;
  parity.loop = parity.kind == Parity::Kind::Linear ? loops.back() : -1;
  parity.scale = scale;
  parity.offset = offset;
  parity.divisor = divisor;
  step(id).event.parity = parity;
}

void Maker::arriveByHand(int barrier, bool elected, std::optional<int64_t> cta) {
  Event &event = step(this->event(EventKind::MbarrierArrive, barrier)).event;
  event.elected = elected;
  event.remote = cta.has_value();
  event.remoteCta = cta;
}

void Maker::alias(int lower, int upper) {
  auto first = [&](int r) { return kernel().resources[size_t(r)].allocations.front(); };
  sample.places[size_t(first(upper))].offset = sample.places[size_t(first(lower))].offset;
}

void Maker::pairOfCtas(int64_t ctasPerMma) {
  kernel().cluster.shape = {2, 1, 1};
  kernel().cluster.ctasPerMma = ctasPerMma;
}

int Maker::task(std::string name, int64_t warps) {
  Task task;
  task.name = task.source = std::move(name);
  task.warps = warps;
  kernel().tasks.push_back(task);
  parent = -1;
  loops.clear();
  return int(kernel().tasks.size() - 1);
}

StepId Maker::add(StepKind kind) {
  StepId id = StepId(last().steps.size());
  Step step;
  step.kind = kind;
  step.parent = parent;
  last().steps.push_back(step);
  (parent < 0 ? last().body : last().steps[size_t(parent)].body).push_back(id);
  return id;
}

void Maker::inside(StepId id, const Body &body) {
  StepId outer = std::exchange(parent, id);
  body();
  parent = outer;
}

StepId Maker::loop(const Bound &upper, const Body &body, int64_t lower, int64_t by) {
  StepId id = add(StepKind::Loop);
  Loop &loop = step(id).loop;
  loop.lower = Bound::constant(lower);
  loop.upper = upper;
  loop.step = Bound::constant(by);
  if (upper.isConstant())
    loop.constantTrips = loop.minTrips = std::max<int64_t>(0, (upper.offset - lower + by - 1) / by);
  loops.push_back(id);
  inside(id, body);
  loops.pop_back();
  return id;
}

void Maker::tiles(int queue, const Body &body) {
  StepId id = add(StepKind::Loop);
  step(id).loop.kind = LoopKind::Tile;
  step(id).loop.queue = queue;
  loops.push_back(id);
  inside(id, body);
  loops.pop_back();
}

void Maker::guard(GuardKind kind, const Body &body, int64_t period) {
  StepId id = add(StepKind::Guard);
  step(id).guard = {kind, period, loops.empty() ? -1 : loops.back()};
  inside(id, body);
}

void Maker::when(const std::string &key, const Body &body, bool expected) {
  StepId id = add(StepKind::When);
  Condition &condition = step(id).condition;
  condition.key = key;
  condition.userKey = condition.shared = true;
  condition.expected = expected;
  inside(id, body);
}

void Maker::whenRuns(const Bound &trips, const Body &body) {
  StepId id = add(StepKind::When);
  Condition &condition = step(id).condition;
  condition.key = toString(trips) + " > 0";
  condition.shared = true;
  condition.positive = trips;
  inside(id, body);
}

void Maker::skippable(const Body &body) { inside(add(StepKind::Skippable), body); }

StepId Maker::event(EventKind kind, int resource) {
  StepId id = add(StepKind::Event);
  step(id).event.kind = kind;
  step(id).event.resource = resource;
  return id;
}

Access Maker::whole(int ring, bool write, protocol::Engine engine, StepId via) {
  const Resource &resource = kernel().resources[size_t(ring)];
  Access access;
  access.allocation = resource.allocations.front();
  const Allocation &allocation = kernel().allocations[size_t(access.allocation)];
  access.size = allocation.space == MemorySpace::Tmem ? allocation.columns : allocation.bytes;
  access.write = write;
  access.engine = engine;
  access.via = via;
  if (via >= 0)
    access.side = step(via).event.kind == EventKind::Produce ? Side::Producer : Side::Consumer;
  return access;
}

StepId Maker::produce(int ring, std::optional<int64_t> bytes) {
  StepId id = event(EventKind::Produce, ring);
  const auto &pipeline = kernel().resources[size_t(ring)].pipeline;
  protocol::Engine engine = protocol::EngineGeneric;
  if (pipeline) {
    switch (pipeline->type) {
    case PipelineType::TmaAsync:
    case PipelineType::TmaUmma: {
      protocol::IssuedBytes issued;
      issued.own = bytes.value_or(*pipeline->numBytes);
      step(id).event.issued.alternatives = {issued};
      engine = protocol::EngineTma;
      break;
    }
    case PipelineType::UmmaAsync:
    case PipelineType::UmmaUmma:
      engine = protocol::EngineUmma;
      break;
    default:
      engine = pipeline->asyncLoad ? protocol::EngineCpAsync : protocol::EngineGeneric;
    }
  }
  step(id).event.label = "make";
  body(id, whole(ring, true, engine, id), bodies || engine == protocol::EngineTma);
  return id;
}

void Maker::body(StepId id, const Access &what, bool written) {
  step(id).event.declared = !written;
  if (!written)
    return step(id).event.accesses.push_back(what);
  inside(id, [&] { access(what); });
}

std::vector<Access> &Maker::accessesOf(StepId work) {
  return step(work).event.declared ? step(work).event.accesses
                                   : step(step(work).body.front()).event.accesses;
}

StepId Maker::consume(int ring) {
  StepId id = event(EventKind::Consume, ring);
  const auto &pipeline = kernel().resources[size_t(ring)].pipeline;
  protocol::Engine engine = protocol::EngineGeneric;
  if (pipeline) {
    switch (pipeline->type) {
    case PipelineType::TmaUmma:
    case PipelineType::AsyncUmma:
    case PipelineType::UmmaUmma:
      engine = protocol::EngineUmma;
      break;
    case PipelineType::UmmaAsync:
      engine = protocol::EngineTmemLoad;
      break;
    default:
      break;
    }
  }
  step(id).event.label = "use";
  body(id, whole(ring, false, engine, id), bodies);
  return id;
}

StepId Maker::access(const Access &access) {
  StepId id = event(EventKind::Access, -1);
  step(id).event.accesses.push_back(access);
  return id;
}

void Maker::acquireProduceCommit(int ring) {
  event(EventKind::Acquire, ring);
  produce(ring);
  event(EventKind::Commit, ring);
}

void Maker::waitConsumeRelease(int ring) {
  event(EventKind::Wait, ring);
  consume(ring);
  event(EventKind::Release, ring);
}

Bound Maker::argument(const std::string &name, int64_t scale, int64_t offset) {
  return {Bound::Kind::Argument, scale, offset, name, {}};
}

Bound Maker::perTile(const std::string &name, int64_t scale) {
  return {Bound::Kind::PerTile, scale, 0, name, {}};
}

Sample Maker::finish() {
  int64_t warps = 0;
  for (Task &task : kernel().tasks) {
    task.firstWarp = warps;
    warps += task.warps;
    task.reads.clear();
    task.writes.clear();
    auto note = [](std::vector<int> &list, int resource) {
      if (std::find(list.begin(), list.end(), resource) == list.end())
        list.push_back(resource);
    };
    for (const Step &step : task.steps) {
      if (step.kind != StepKind::Event || step.event.resource < 0)
        continue;
      EventKind kind = step.event.kind;
      if (kind == EventKind::Acquire || kind == EventKind::Commit || kind == EventKind::Produce)
        note(task.writes, step.event.resource);
      if (kind == EventKind::Wait || kind == EventKind::Release || kind == EventKind::Consume)
        note(task.reads, step.event.resource);
    }
  }
  kernel().warps = warps;
  kernel().chip = "sm_100a";
  // A choice under which everything runs, whatever the sample's own is.
  Choice full = sample.choice;
  for (auto &[name, value] : full.args)
    value = std::max<int64_t>(value, 2);
  for (auto &[name, list] : full.perTile)
    for (int64_t &value : list)
      value = std::max<int64_t>(value, 2);
  full.tiles = std::max<int64_t>(full.tiles, 1);
  full.conditions.clear();
  full.skipped.clear();
  inferCounts(kernel(), full);
  return sample;
}

} // namespace ts::oracle
