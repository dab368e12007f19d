// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of one agent: which bytes each access touches, who performs it and what ends it.
#include "AgentWriter.h"

#include <functional>

namespace ts::oracle {

static void append(std::vector<int> &to, std::vector<int> more) {
  to.insert(to.end(), more.begin(), more.end());
}

int64_t AgentWriter::slotOf(const Access &access, StepId at) const {
  auto it = slots.find(access.via);
  if (it == slots.end())
    return 0;
  // A view that came over the back edge is of the work's previous execution.
  return access.carried && access.via < at ? it->second.first : it->second.second;
}

std::vector<int> AgentWriter::footprints(const Access &access, StepId at, int64_t cta, Via via,
                                         bool engine) {
  const Allocation &alloc = kernel.allocations[size_t(access.allocation)];
  if (alloc.space == MemorySpace::Global)
    return {};
  int64_t slot = slotOf(access, at);
  int64_t unit = alloc.space == MemorySpace::Tmem ? alloc.columns : alloc.bytes;
  int64_t stage = 0;
  if (alloc.staged && rings.isRing(alloc.resource))
    stage = slot % rings.spec(alloc.resource).stages;
  AccessInfo info;
  info.cta = int(cta);
  info.space = alloc.space == MemorySpace::Tmem;
  const Place &place = places[size_t(access.allocation)];
  // Without a place: far from everything else.
  int64_t apart = (int64_t(access.allocation) + 1) << 40;
  info.begin = (place.offset < 0 ? apart + stage * unit : place.offset + stage * place.stride) +
               access.offset;
  info.end = info.begin + (access.size < 0 ? unit : access.size);
  info.write = access.write;
  info.engine = engine;
  info.via = via;
  info.agent = w.agent;
  info.task = w.task;
  // Parts of one stage of one allocation: what else shares its bytes is no part of it.
  info.part = (slot * int64_t(task.steps.size()) + at) * int64_t(kernel.allocations.size()) +
              access.allocation;
  info.text = program.agents[size_t(w.agent)].name + (access.write ? " writes " : " reads ") +
              alloc.name + "[" + std::to_string(stage) + "]@" + std::to_string(cta) + " slot " +
              std::to_string(slot);
  program.accesses.push_back(info);
  return {int(program.accesses.size() - 1)};
}

int64_t AgentWriter::peer(const Access &access) {
  if (!access.remote)
    return w.cta;
  if (program.ctas != 2)
    fail("a remote access in a cluster that is not a pair");
  return 1 - w.cta;
}

/// Whether the task has a closing op for the bracket of this work.
bool AgentWriter::closes(const Event &e) const {
  return rings.closes(w, e.resource,
                      e.kind == EventKind::Produce ? Side::Producer : Side::Consumer);
}

/// Accesses of one event; copies into a ring's stage are the caller's.
void AgentWriter::accesses(StepId id, const Event &e, const std::vector<Access> &all,
                           bool copiesApart) {
  Micro umma, cp;
  umma.kind = OpKind::Umma;
  cp.kind = OpKind::CpAsync;
  std::map<std::pair<Via, int>, Micro> opens;
  auto open = [&](const Access &access, Via via, int key, bool engine) {
    Micro &op = opens[{via, key}];
    op.kind = OpKind::Open;
    op.key = key;
    append(op.accesses, footprints(access, id, peer(access), via, engine));
  };
  for (const Access &access : all) {
    if (access.allocation < 0)
      continue;
    int resource = kernel.allocations[size_t(access.allocation)].resource;
    int held = e.resource < 0 ? -1
                              : heldKey(e.resource, e.kind == EventKind::Produce ? Side::Producer
                                                                                 : Side::Consumer);
    bool declared = e.declared && held >= 0 && closes(e);
    switch (access.engine) {
    case protocol::EngineGeneric:
    case protocol::EngineTmemLoad:
    case protocol::EngineTmemStore:
      if (access.inFlight)
        open(access, Via::Held, heldTmem, false);
      else
        open(access, Via::Thread, 0, false);
      break;
    case protocol::EngineCpAsync:
      if (rings.isRing(resource) && rings.spec(resource).asyncLoad)
        append(cp.accesses, footprints(access, id, w.cta, Via::CpAsync, true));
      else
        open(access, declared ? Via::Held : Via::Group, declared ? held : GroupCpAsync, true);
      break;
    case protocol::EngineWgmma:
      open(access, declared ? Via::Held : Via::Group, declared ? held : GroupWgmma, true);
      break;
    case protocol::EngineTma:
      if (copiesApart && access.write)
        break;
      if (access.write && rings.isRing(resource))
        fail("a copy into a stage outside its producer's work");
      open(access, declared ? Via::Held : Via::Group, declared ? held : GroupBulk, true);
      break;
    case protocol::EngineUmma:
    case protocol::EngineUtccp:
      for (int64_t cta :
           rings.isRing(resource) ? rings.pair(resource, w.cta) : std::vector<int64_t>{w.cta})
        append(umma.accesses, footprints(access, id, cta, Via::Umma, true));
      break;
    case protocol::EngineClc:
      break;
    }
  }
  for (auto &[key, op] : opens)
    if (!op.accesses.empty())
      add(op);
  if (!umma.accesses.empty())
    add(umma);
  if (!cp.accesses.empty())
    add(cp);
}

/// Copies of one produce into the stage, per destination.
void AgentWriter::copies(StepId id, const Event &e, int64_t slot) {
  if (!e.issued.known || e.issued.alternatives.size() > 1)
    return fail("copies whose bytes depend on the path");
  const auto &grid = rings.grid(e.resource);
  std::vector<Access> writes;
  std::function<void(const std::vector<Access> &)> collect = [&](const auto &all) {
    for (const Access &access : all)
      if (access.engine == protocol::EngineTma && access.write && access.allocation >= 0)
        writes.push_back(access);
  };
  collect(e.accesses);
  for (StepId inner : task.steps[size_t(id)].body)
    collect(task.steps[size_t(inner)].event.accesses);
  bool open = e.declared && e.issued.alternatives.empty();
  protocol::IssuedBytes bytes;
  if (!e.issued.alternatives.empty())
    bytes = e.issued.alternatives.front();
  int64_t share = w.splitWarps ? task.warps : 1;
  protocol::LayoutVmnk mine = grid.coord(grid.size() == 1 ? 0 : w.cta);
  Micro op;
  op.kind = OpKind::Copy;
  for (int64_t cta = 0; cta < program.ctas; ++cta) {
    int64_t n = 0;
    protocol::LayoutVmnk theirs = grid.coord(grid.size() == 1 ? 0 : cta);
    if (cta == w.cta)
      n += bytes.own;
    if (grid.size() == 1 ? cta == w.cta : theirs[0] == mine[0] && theirs[3] == mine[3]) {
      n += theirs[1] == mine[1] ? bytes.alongN : 0;
      n += theirs[2] == mine[2] ? bytes.alongM : 0;
    }
    n /= share;
    if (n == 0 && !(open && cta == w.cta))
      continue;
    Target target;
    int64_t signalled = rings.spec(e.resource).type == protocol::PipelineType::TmaUmma
                            ? rings.pair(e.resource, cta).front()
                            : cta;
    target.barrier = rings.fullBarrier(e.resource, signalled, slot);
    target.gen = slot / rings.spec(e.resource).stages;
    target.bytes = open ? -1 : n;
    for (const Access &access : writes)
      append(target.accesses, footprints(access, id, cta, Via::Copy, true));
    op.targets.push_back(target);
  }
  if (!op.targets.empty())
    add(op);
}

void AgentWriter::fetch(const Event &e) {
  if (w.cta != 0 && rings.grid(e.resource).size() > 1)
    return;
  int64_t slot = rings.slotOfWork(w, e.resource, Side::Producer);
  Micro op;
  op.kind = OpKind::Copy;
  for (int64_t cta = 0; cta < program.ctas; ++cta)
    if (rings.grid(e.resource).size() > 1 || cta == w.cta)
      op.targets.push_back(
          {rings.fullBarrier(e.resource, cta, slot), slot / rings.spec(e.resource).stages, 16, {}});
  add(op);
}

void AgentWriter::work(StepId id, const Event &e) {
  Side side = e.kind == EventKind::Produce ? Side::Producer : Side::Consumer;
  bool isRing = rings.isRing(e.resource);
  if (isRing) {
    int64_t slot = rings.slotOfWork(w, e.resource, side);
    auto &entry = slots[id];
    entry = {entry.second, slot};
    if (!rings.actsOn(e.resource, side, w.cta))
      return;
  }
  bool tma = isRing && side == Side::Producer && !e.aux &&
             (rings.spec(e.resource).type == protocol::PipelineType::TmaAsync ||
              rings.spec(e.resource).type == protocol::PipelineType::TmaUmma);
  if (tma)
    copies(id, e, slots[id].second);
  accesses(id, e, e.accesses, tma);
  for (StepId inner : task.steps[size_t(id)].body) {
    const Step &s = task.steps[size_t(inner)];
    if (s.kind == StepKind::Event && s.event.kind == EventKind::Access)
      accesses(inner, s.event, s.event.accesses, tma);
    else
      step(inner);
  }
}

} // namespace ts::oracle
