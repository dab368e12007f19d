// Work calls: which stage they see, what they touch and which bytes they bring.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elaborate.h"
#include "Limits.h"

#include "ts/Analysis/Protocol/Completion.h"

#include <algorithm>
#include <numeric>

namespace ts::prover {

using sched::EventKind;
using sched::StepKind;

//--- Queues of what is in flight ----------------------------------------------------------------

int TaskElaborator::queueDepth(Channel channel) const {
  int64_t depth = 0;
  for (const sched::Step &step : task().steps) {
    if (step.kind != StepKind::Event)
      continue;
    EventKind kind = step.event.kind;
    if ((kind == EventKind::WgmmaWait && channel == Wgmma) ||
        (kind == EventKind::BulkWait && channel == Bulk) ||
        (kind == EventKind::CpAsyncWait && channel == CpAsync))
      depth = std::max(depth, step.event.pending);
  }
  return int(std::clamp<int64_t>(depth, 0, mostPending));
}

int TaskElaborator::queue(Channel channel) {
  auto [it, fresh] = queues.try_emplace(channel, int(agent().queues.size()));
  if (fresh) {
    Queue queue;
    bool groups = channel == Bulk || channel == Wgmma || channel == CpAsync;
    queue.kind = groups ? Queue::Kind::Groups : Queue::Kind::Order;
    queue.depth = groups ? queueDepth(channel) : 0;
    agent().queues.push_back(queue);
  }
  return it->second;
}

/// The variable that holds the slot a work call saw last, or -1 where its resource has none.
int TaskElaborator::viewOf(sched::StepId id) {
  if (auto it = views.find(id); it != views.end())
    return it->second;
  const sched::Event &event = at(id).event;
  proto::Side which =
      event.kind == EventKind::Produce ? proto::Side::Producer : proto::Side::Consumer;
  if (currentSlot(event.resource, which) < 0)
    return -1;
  const Ring &ring = c.rings[size_t(c.ringOf[size_t(event.resource)])];
  return views[id] = variable(ring.unit, ring.stages, -1, ring.resource);
}

//--- Accesses -----------------------------------------------------------------------------------

static Channel channelOf(const sched::Access &access, bool declared) {
  switch (access.engine) {
  case proto::EngineUmma:
  case proto::EngineUtccp:
    return Umma;
  case proto::EngineTma:
    // Without a body nothing says when a store has read its source: at the closing op.
    return access.write ? Tma : declared ? Sync : Bulk;
  case proto::EngineClc:
    return access.write ? Tma : Sync;
  case proto::EngineWgmma:
    return declared ? Sync : Wgmma;
  case proto::EngineCpAsync:
    return CpAsync;
  case proto::EngineTmemLoad:
    return access.inFlight ? TmemLoad : Sync;
  default:
    return Sync;
  }
}

/// Parts of an unstaged buffer that loops choose are told apart, as far as the loops are followed.
bool TaskElaborator::choosePart(const sched::Access &access, AccessSpec &spec, FamilyKey &key) {
  const sched::Part &part = access.part;
  if (!part.known)
    return false;
  int64_t period = part.count * part.divisor;
  for (auto [loop, scale] : part.terms)
    if (!loopNumber.count(loop) || period < 1 || period > 4096)
      return false;
  key.partBase = c.partBase(part.base);
  key.partOffset = part.offset;
  key.partSize = part.size;
  if (part.count <= 1)
    return true;
  key.partStride = part.stride;
  spec.stages = part.count;
  spec.slot = -1;
  spec.partShift = part.shift;
  spec.partDivisor = part.divisor;
  for (auto [loop, scale] : part.terms) {
    int number = loopNumber[loop];
    spec.parts.push_back({number, scale});
    LoopInfo &info = agent().loops[size_t(number)];
    info.modulus = c.commonPeriod(info.modulus, period);
  }
  return true;
}

static proto::Side sideOf(const sched::Event &event) {
  return event.kind == EventKind::Produce ? proto::Side::Producer : proto::Side::Consumer;
}

Channel TaskElaborator::endOfDeclared(const sched::Event &event) const {
  int ring = event.resource < 0 ? -1 : c.ringOf[size_t(event.resource)];
  if (ring < 0)
    return Sync;
  auto side = sides.find({ring, sideOf(event)});
  // Without a closing op nothing says that the engine has ended.
  return side != sides.end() && side->second.closes ? heldBy(ring, sideOf(event)) : Wgmma;
}

/// Whether the task has declared work of an engine that the closing op of this side ends.
bool TaskElaborator::holds(int resource, proto::Side side) const {
  return std::any_of(task().steps.begin(), task().steps.end(), [&](const sched::Step &step) {
    const sched::Event &event = step.event;
    return step.kind == StepKind::Event && event.declared && event.resource == resource &&
           (event.kind == EventKind::Produce || event.kind == EventKind::Consume) &&
           sideOf(event) == side &&
           std::any_of(event.accesses.begin(), event.accesses.end(),
                       [](const auto &access) { return access.engine == proto::EngineWgmma; });
  });
}

void TaskElaborator::access(sched::StepId id, const sched::Event &event, bool declared) {
  for (size_t i = 0; i < event.accesses.size(); ++i) {
    const sched::Access &access = event.accesses[i];
    if (access.allocation < 0 || size_t(access.allocation) >= c.kernel.allocations.size())
      continue;
    const sched::Allocation &allocation = c.kernel.allocations[size_t(access.allocation)];
    if (allocation.space == sched::MemorySpace::Global || allocation.resource < 0)
      continue;
    int ringIndex = c.ringOf[size_t(allocation.resource)];
    const Ring *ring = ringIndex < 0 ? nullptr : &c.rings[size_t(ringIndex)];
    Channel channel = channelOf(access, declared);
    if (declared && access.engine == proto::EngineWgmma)
      channel = endOfDeclared(event);
    if (channel == CpAsync && declared && !(ring && ring->spec.asyncLoad))
      channel = Sync;
    if (channel == Tma && !(ring && proto::countsBytes(ring->spec.type))) {
      if (!declared)
        c.refuse("a bulk copy into '" + allocation.name +
                 "' completes on no barrier of a pipeline that counts bytes");
      channel = Sync;
    }
    // The tensor core is driven by one thread of the task, or by each lane's warp; that of a pair
    // of CTAs by the leader's, for the memory of both.
    if (channel == Umma && !agent().leader && agent().lane < 0)
      continue;
    proto::CtaGrid pairs(ring ? ring->spec : proto::PipelineSpec(), c.kernel.cluster);
    if (channel == Umma && agent().cta != pairs.pairLeader(agent().cta) && c.program.ctas > 1)
      continue;
    AccessSpec spec;
    int64_t stages = ring && allocation.staged ? ring->stages : 1;
    spec.stages = stages;
    if (stages > 1) {
      spec.slot = access.via >= 0 ? viewOf(access.via) : -1;
      if (spec.slot < 0)
        spec.slot = currentSlot(allocation.resource, access.side);
      if (spec.slot < 0)
        spec.slot = currentSlot(allocation.resource, access.side == proto::Side::Producer
                                                         ? proto::Side::Consumer
                                                         : proto::Side::Producer);
      if (spec.slot < 0) {
        c.refuse("'" + task().name + "' touches '" + allocation.name +
                 "' without any operation on its pipeline, so nothing says which stage");
        continue;
      }
      if (access.carried && access.via >= 0) {
        // The call of this iteration stands before: the view is the one of the iteration before.
        auto old = views.find(-2 - access.via);
        if (old != views.end())
          spec.slot = old->second;
      }
    }
    proto::CtaMask where = proto::CtaMask(1) << agent().cta, reached = 0;
    bool certain = true; // that it lands in all of `where`
    if (channel == Tma && ring && c.program.ctas > 1) {
      proto::CtaGrid grid(ring->spec, c.kernel.cluster);
      if (proto::producerKind(ring->spec.type) == proto::SideKind::Clc)
        where = grid.all();
      else if (declared)
        where |= grid.peers(agent().cta, ring->spec.multicast);
      else if (size_t(agent().cta) < access.lands.size())
        where = reached = access.lands[size_t(agent().cta)];
      else
        for (int up = id; up >= 0; up = at(up).parent)
          for (const proto::IssuedBytes &bytes : at(up).event.issued.alternatives) {
            // Which of several copies this is, nothing says.
            auto reaches = [&](int64_t size, proto::CtaMask mask) {
              if (size <= 0)
                return;
              certain &= !reached || reached == mask;
              reached = mask;
              where |= mask;
            };
            reaches(bytes.own, proto::CtaMask(1) << agent().cta);
            reaches(bytes.alongN, grid.peers(agent().cta, {true, false}));
            reaches(bytes.alongM, grid.peers(agent().cta, {false, true}));
          }
      certain &= (where & (where - 1)) == 0 || reached == where;
    } else if (channel == Umma && c.program.ctas > 1) {
      where = pairs.pairOf(agent().cta);
    } else if (access.remote) {
      where = ~where;
    }
    if (channel == Tma) {
      spec.barrierStages = ring->stages;
      spec.barrierSlot = currentSlot(ring->resource, proto::Side::Producer);
    } else if (channel != Sync) {
      spec.queue = queue(channel);
    }
    int number = -1;
    for (int cta = 0; cta < c.program.ctas; ++cta) {
      if (!(where >> cta & 1))
        continue;
      AccessSpec one = spec;
      bool tmem = allocation.space == sched::MemorySpace::Tmem;
      int64_t size = access.size >= 0 ? access.size : tmem ? allocation.columns : allocation.bytes;
      FamilyKey key{cta, access.allocation, agentIndex, int(channel),
                    channel == Tma ? ring->resource : -1, agent().task, int(id), access.offset,
                    size, access.write,
                    // Of several peers, nothing says which one is meant.
                    access.exact && (channel == Tma ? certain
                                                    : cta == agent().cta ||
                                                          (access.remote && c.program.ctas == 2))};
      if (cta == agent().cta && stages == 1 && choosePart(access, one, key))
        key.parts = one.stages;
      key.places = c.placesOf(access);
      // Equal accesses of one agent are one family, wherever they stand.
      key.step = -1;
      one.family = c.accessFamily(key, channel != Sync, declared, int(i));
      Family &family = c.program.families[size_t(one.family)];
      if (family.step < 0)
        family.step = id;
      if (channel == Tma && ring->barrier(true, cta) >= 0) {
        proto::CtaGrid grid(ring->spec, c.kernel.cluster);
        int barrierCta = int(proto::completionCta(ring->spec, grid, cta));
        if (barrierCta < c.program.ctas)
          one.barriers.push_back(ring->barrier(true, barrierCta));
      }
      agent().accesses.push_back(std::move(one));
      number = int(agent().accesses.size()) - 1;
      emit(Op::Access, id, number);
    }
  }
}

//--- Bytes --------------------------------------------------------------------------------------

std::vector<int64_t> TaskElaborator::issuedPerCta(const Ring &ring,
                                                  const proto::IssuedBytes &bytes) const {
  std::vector<int64_t> result(size_t(c.program.ctas), 0);
  proto::CtaGrid grid(ring.spec, c.kernel.cluster);
  int64_t cta = agent().cta;
  const std::pair<int64_t, proto::CtaMask> parts[] = {
      {bytes.own, proto::CtaMask(1) << cta},
      {bytes.alongN, grid.peers(cta, {true, false})},
      {bytes.alongM, grid.peers(cta, {false, true})}};
  for (auto [size, lands] : parts)
    for (int64_t to = 0; to < c.program.ctas; ++to)
      if (lands >> to & 1) {
        int64_t barrier = proto::completionCta(ring.spec, grid, to);
        result[size_t(barrier)] += std::clamp<int64_t>(size, 0, mostBytes) * agent().warps /
                                   std::max<int64_t>(1, task().warps);
      }
  return result;
}

/// Without copies to look at, everybody who fills a stage brings an equal part of it.
std::vector<int64_t> TaskElaborator::declaredPerCta(const Ring &ring) const {
  std::vector<int64_t> result(size_t(c.program.ctas), 0);
  bool clc = proto::producerKind(ring.spec.type) == proto::SideKind::Clc;
  if (clc) {
    result.assign(size_t(c.program.ctas), ring.bytes);
    return result;
  }
  proto::CtaGrid grid(ring.spec, c.kernel.cluster);
  proto::CtaMask sources = 0;
  for (const proto::TaskRole &role : ring.by.acquire)
    sources |= proto::waitingCtas(ring.spec, c.kernel.cluster, proto::Op::Acquire, role);
  for (int64_t barrier = 0; barrier < c.program.ctas; ++barrier) {
    int64_t pairs = 0, mine = 0, index = 0;
    bool first = false;
    for (int64_t to = 0; to < c.program.ctas; ++to) {
      int64_t lands = proto::completionCta(ring.spec, grid, to);
      if (lands != barrier)
        continue;
      proto::CtaMask from = grid.peers(to, ring.spec.multicast) & sources;
      for (int64_t source = 0; source < c.program.ctas; ++source)
        if (from >> source & 1) {
          if (source == agent().cta) {
            ++mine;
            first |= index == 0;
          }
          ++pairs;
          ++index;
        }
    }
    if (mine == 0)
      continue;
    int64_t each = ring.bytes / pairs;
    result[size_t(barrier)] = each * mine + (first ? ring.bytes - each * pairs : 0);
  }
  // Several arming warps share a stage; a lane's warp has it alone.
  int base = ring.barrier(true, agent().cta);
  proto::Action action = proto::actionFor(ring.spec, c.kernel.cluster, proto::Op::Acquire);
  if (base >= 0 && agent().lane < 0 && action.arrive) {
    int64_t total = ring.armers, mine = agent().warps;
    if (action.arrive->who == proto::Executor::OneThreadOfTask)
      total = std::max<int64_t>(1, task().warps);
    if (mine < total)
      for (int64_t &bytes : result)
        bytes = int64_t(__int128(bytes) * mine / total);
  }
  return result;
}

void TaskElaborator::addIssue(const Ring &ring, const std::vector<int64_t> &perCta, int slot,
                              int onlyIf, sched::StepId id) {
  IssueSpec spec;
  spec.stages = ring.stages;
  spec.slot = slot;
  spec.onlyIf = onlyIf;
  spec.resource = ring.resource;
  for (int cta = 0; cta < c.program.ctas; ++cta) {
    int base = ring.barrier(true, cta);
    if (perCta[size_t(cta)] <= 0 || base < 0)
      continue;
    spec.targets.push_back(
        {base, c.arrivalFamily(base, ring.stages, agentIndex, true), perCta[size_t(cta)]});
  }
  if (spec.targets.empty() || slot < 0)
    return;
  agent().issues.push_back(std::move(spec));
  emit(Op::Issue, id, int(agent().issues.size()) - 1);
}

void TaskElaborator::issueKnown(const Ring &ring, const Side &side, sched::StepId id,
                                const proto::IssuedBytes &bytes) {
  addIssue(ring, issuedPerCta(ring, bytes), currentSlot(ring.resource, proto::Side::Producer), -1,
           id);
}

void TaskElaborator::issueDeclared(const Ring &ring, const Side &side, sched::StepId id) {
  if (side.produced < 0)
    return;
  // At the closing op, for the stage that the calls of this bracket filled.
  addIssue(ring, declaredPerCta(ring), currentSlot(ring.resource, proto::Side::Producer),
           side.produced, id);
}

//--- Work calls ---------------------------------------------------------------------------------

void TaskElaborator::work(sched::StepId id, int depth) {
  const sched::Step &step = at(id);
  const sched::Event &event = step.event;
  bool produces = event.kind == EventKind::Produce;
  proto::Side which = produces ? proto::Side::Producer : proto::Side::Consumer;
  if (event.aux && step.body.empty())
    return;
  int ringIndex = event.resource < 0 ? -1 : c.ringOf[size_t(event.resource)];
  int slot = currentSlot(event.resource, which);
  if (slot >= 0) {
    const Ring &ring = c.rings[size_t(ringIndex)];
    int view = viewOf(id);
    bool carried = false;
    for (const sched::Step &other : task().steps)
      for (const sched::Access &access : other.event.accesses)
        carried |= access.carried && access.via == id;
    if (carried) {
      int old = variable(ring.unit, ring.stages, -1, ring.resource);
      emit(Op::Bind, id, old, view);
      views[-2 - id] = old;
    }
    emit(Op::Bind, id, view, slot);
  }
  access(id, event, event.declared);
  block(step.body, depth);
  if (!produces || ringIndex < 0 || event.aux)
    return;
  const Ring &ring = c.rings[size_t(ringIndex)];
  if (!proto::countsBytes(ring.spec.type))
    return;
  // A member that is only used through its group is filled for the group's slots.
  auto side = sides.find({ringIndex, proto::Side::Producer});
  if (side == sides.end() && ring.group >= 0)
    side = sides.find({ring.group, proto::Side::Producer});
  if (side == sides.end())
    return;
  bool known = event.issued.known && (!event.declared || !event.issued.alternatives.empty()) &&
               proto::producerKind(ring.spec.type) == proto::SideKind::Tma;
  if (known) {
    std::vector<std::vector<int64_t>> ways;
    for (const proto::IssuedBytes &bytes : event.issued.alternatives) {
      std::vector<int64_t> way = issuedPerCta(ring, bytes);
      if (std::find(ways.begin(), ways.end(), way) == ways.end())
        ways.push_back(std::move(way));
    }
    if (ways.size() > 1)
      c.refuse("the bytes that '" + event.label + "' of '" + task().name +
               "' brings depend on the path through its body");
    if (ways.size() == 1)
      addIssue(ring, ways.front(), slot, -1, id);
    return;
  }
  if (proto::producerKind(ring.spec.type) == proto::SideKind::Clc &&
      !(proto::waitingCtas(ring.spec, c.kernel.cluster, proto::Op::Acquire, role(id)) >>
            agent().cta &
        1))
    return;
  if (!event.declared && !event.issued.known) {
    c.refuse(
        "the bytes that '" + event.label + "' of '" + task().name +
        "' brings cannot be counted: they depend on a value, a loop or a CTA that is not "
        "followed inside of a body; let it depend on launch arguments and the tile, or take the "
        "copies out of the condition or loop");
    return;
  }
  if (!event.declared)
    c.assume("the copies of '" + event.label + "' bring the bytes that are expected");
  // What a fork group commits, it commits for all members.
  Side *closer = &side->second;
  if (ring.group >= 0)
    if (auto group = sides.find({ring.group, proto::Side::Producer});
        group != sides.end() && group->second.closes)
      closer = &group->second;
  if (closer->closes && (closer->shared || closer != &side->second)) {
    if (closer->produced < 0)
      closer->produced = variable(ring.unit, ring.stages, -1, ring.resource);
    emit(Op::Bind, id, closer->produced, slot);
  } else if (lastProduce[size_t(id)]) {
    // Several brackets may be open, or no commit is written: the last call of a bracket ends it.
    addIssue(ring, declaredPerCta(ring), slot, -1, id);
  }
}

} // namespace ts::prover
