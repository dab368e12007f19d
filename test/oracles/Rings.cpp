// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline operations, type by type, as PROTOCOL.md has them.
#include "Rings.h"

#include <algorithm>

namespace ts::oracle {

using namespace protocol;
using schedule::EventKind;
using schedule::Task;

namespace {

SideKind sideKind(PipelineType type, Side side) {
  bool producer = side == Side::Producer;
  switch (type) {
  case PipelineType::AsyncAsync:
    return SideKind::Async;
  case PipelineType::TmaAsync:
    return producer ? SideKind::Tma : SideKind::Async;
  case PipelineType::TmaUmma:
    return producer ? SideKind::Tma : SideKind::Umma;
  case PipelineType::UmmaAsync:
    return producer ? SideKind::Umma : SideKind::Async;
  case PipelineType::AsyncUmma:
    return producer ? SideKind::Async : SideKind::Umma;
  case PipelineType::UmmaUmma:
    return SideKind::Umma;
  case PipelineType::ClcFetchAsync:
    return producer ? SideKind::Clc : SideKind::Async;
  }
  return SideKind::Async;
}

int64_t strideOf(const PipelineSpec &spec, Op op) { return spec.interleave[roleIndex(op)]; }

Side side(Op op) {
  return op == Op::TryAcquire || op == Op::Acquire || op == Op::Commit ? Side::Producer
                                                                       : Side::Consumer;
}

/// The ring operations that an event stands for.
std::vector<Op> opsOf(EventKind kind) {
  switch (kind) {
  case EventKind::TryAcquire:
    return {Op::TryAcquire};
  case EventKind::Acquire:
    return {Op::Acquire};
  case EventKind::Commit:
    return {Op::Commit};
  case EventKind::TryWait:
    return {Op::TryWait};
  case EventKind::Wait:
    return {Op::Wait};
  case EventKind::Release:
    return {Op::Release};
  case EventKind::NextTile:
    return {Op::Wait, Op::Release};
  default:
    return {};
  }
}

} // namespace

Rings::Rings(const schedule::Kernel &kernel, Program &program) : kernel(kernel), program(program) {
  program.ctas = 1;
  for (int64_t extent : kernel.cluster.shape)
    program.ctas *= int(std::clamp<int64_t>(extent, 1, 64));
  if (program.ctas > 16) {
    program.unsupported = "clusters of more than 16 CTAs";
    program.ctas = 1;
  }
  rings.resize(kernel.resources.size());
  for (size_t r = 0; r < rings.size(); ++r) {
    const auto &resource = kernel.resources[r];
    Ring &ring = rings[r];
    ring.spec = specOf(int(r));
    ring.group = resource.group;
    if (!ring.spec)
      continue;
    ring.grid = CtaGrid(*ring.spec, kernel.cluster);
    ring.firstBarrier = int(program.barriers.size());
    if (ring.spec->stages < 1 || ring.spec->stages > 64) {
      program.unsupported = "a number of stages outside 1..64";
      ring.spec->stages = 1;
    }
    if (ring.grid.size() != 1 && ring.grid.size() != program.ctas)
      program.unsupported = "a pipeline over a part of the cluster";
    for (int cta = 0; cta < program.ctas; ++cta)
      for (const char *which : {"full", "empty"})
        for (int64_t stage = 0; stage < ring.spec->stages; ++stage)
          program.barriers.push_back({resource.name + "." + which + "[" + std::to_string(stage) +
                                          "]@" + std::to_string(cta),
                                      cta, 1, false, 0});
  }
  for (size_t t = 0; t < kernel.tasks.size(); ++t)
    scan(int(t));
}

void Rings::scan(int index) {
  const Task &task = kernel.tasks[size_t(index)];
  std::set<std::pair<int, Op>> seen;
  for (const auto &step : task.steps) {
    int r = step.event.resource;
    if (step.kind != schedule::StepKind::Event || r < 0 || !rings[size_t(r)].spec)
      continue;
    Ring &ring = rings[size_t(r)];
    for (Op op : opsOf(step.event.kind)) {
      if (!seen.insert({r, op}).second)
        continue;
      for (int cta = 0; cta < program.ctas; ++cta) {
        if ((task.onlyCta && *task.onlyCta != cta) || !executes(ring, op, cta))
          continue;
        if (op == Op::Wait)
          rings[size_t(owner(r, true))].waitsFull |= uint64_t(1) << cta;
        if (op == Op::Acquire)
          rings[size_t(owner(r, false))].waitsEmpty |= uint64_t(1) << cta;
      }
      if (op == Op::Acquire && sideKind(ring.spec->type, Side::Producer) == SideKind::Tma) {
        bool lanes = strideOf(*ring.spec, Op::Acquire) > 1;
        bool leader = ring.spec->producerSignal & SignalTaskWarpLeader;
        ring.armers = lanes ? 1 : ring.armers + (leader ? 1 : task.warps);
      }
    }
  }
}

int Rings::fullBarrier(int resource, int64_t cta, int64_t slot) const {
  const Ring &ring = rings[size_t(owner(resource, true))];
  int64_t stages = ring.spec->stages;
  return ring.firstBarrier + int(cta * 2 * stages + slot % stages);
}

int Rings::emptyBarrier(int resource, int64_t cta, int64_t slot) const {
  const Ring &ring = rings[size_t(owner(resource, false))];
  int64_t stages = ring.spec->stages;
  return ring.firstBarrier + int(cta * 2 * stages + stages + slot % stages);
}

bool Rings::splitsWarps(const Task &task) const {
  if (task.warps < 2)
    return false;
  for (const auto &step : task.steps) {
    int r = step.event.resource;
    if (step.kind != schedule::StepKind::Event || !isRing(r))
      continue;
    for (Op op : opsOf(step.event.kind)) {
      if (strideOf(spec(r), op) == task.warps)
        return true;
      if (op == Op::Acquire && sideKind(spec(r).type, Side::Producer) == SideKind::Tma)
        return true;
    }
  }
  return false;
}

int64_t Rings::lane(const Writer &writer, const Task &task, int64_t stride) const {
  if (stride < 2)
    return 0;
  if (task.warps == stride)
    return writer.warp;
  // A sibling task: the start of the loop around its operations.
  for (const auto &step : task.steps)
    if (step.kind == schedule::StepKind::Loop && step.loop.step.isConstant() &&
        step.loop.step.offset == stride && step.loop.lower.isConstant())
      return step.loop.lower.offset % stride;
  program.unsupported = "a stride without lanes";
  return 0;
}

void Rings::start(Writer &writer) const {
  const Task &task = kernel.tasks[size_t(writer.task)];
  for (const auto &step : task.steps) {
    int r = step.event.resource;
    if (step.kind != schedule::StepKind::Event || !isRing(r))
      continue;
    for (Op op : opsOf(step.event.kind)) {
      Cursor &cursor = writer.cursors[{r, side(op)}];
      bool opening = op == Op::Acquire || op == Op::Wait;
      if (op == Op::TryAcquire || op == Op::TryWait)
        cursor.probes = true;
      else
        (opening ? cursor.opens : cursor.closes) = true;
    }
  }
  int hints = 0;
  for (auto &[key, cursor] : writer.cursors) {
    const PipelineSpec &s = spec(key.resource);
    bool producer = key.side == Side::Producer;
    cursor.split =
        (producer ? s.advanceOnAcquire : s.advanceOnWait) || !cursor.opens || !cursor.closes;
    cursor.open = lane(writer, task, s.interleave[producer ? 0 : 2]);
    cursor.close = cursor.split ? lane(writer, task, s.interleave[producer ? 1 : 3]) : cursor.open;
    cursor.opened = cursor.open;
    if (cursor.probes)
      cursor.hint = hints++;
  }
  if (hints > 15)
    program.unsupported = "more than 15 rings with hints in one task";
}

bool Rings::actsOn(int resource, Side which, int64_t cta) const {
  const Ring &ring = rings[size_t(resource)];
  bool producer = which == Side::Producer;
  SignalSet signal = producer ? ring.spec->producerSignal : ring.spec->consumerSignal;
  int64_t r = rank(ring, cta);
  if (sideKind(ring.spec->type, which) != SideKind::Umma)
    return true;
  bool leader = ring.grid.pairLeader(r) == r;
  // Full of a pair's own results and everything routed by a pair: only the leader issues.
  bool always = ring.spec->type != PipelineType::TmaUmma;
  return leader || !(always || (signal & SignalCtaLeader));
}

std::vector<int64_t> Rings::pair(int resource, int64_t cta) const {
  const Ring &ring = rings[size_t(resource)];
  if (ring.grid.size() == 1)
    return {cta};
  std::vector<int64_t> list;
  for (int64_t v = 0; v < ring.grid.pairSize(); ++v)
    list.push_back(ring.grid.pairLeader(cta) + v);
  return list;
}

/// Whether a CTA executes the waiting part of an op.
bool Rings::executes(const Ring &ring, Op op, int64_t cta) const {
  int64_t r = rank(ring, cta);
  SideKind kind = sideKind(ring.spec->type, side(op));
  if (kind == SideKind::Clc)
    return r == 0;
  SignalSet signal = side(op) == Side::Producer ? ring.spec->producerSignal
                     : (op == Op::Wait || op == Op::TryWait) && ring.spec->consumerWaitSignal
                         ? *ring.spec->consumerWaitSignal
                         : ring.spec->consumerSignal;
  if (kind == SideKind::Umma && (signal & SignalCtaLeader))
    return ring.grid.pairLeader(r) == r;
  return true;
}

int64_t Rings::slotOfWork(const Writer &writer, int resource, Side which) const {
  auto it = writer.cursors.find({resource, which});
  if (it == writer.cursors.end() && rings[size_t(resource)].group >= 0)
    it = writer.cursors.find({rings[size_t(resource)].group, which});
  if (it == writer.cursors.end())
    return 0;
  const Cursor &cursor = it->second;
  if (!cursor.split)
    return cursor.open;
  return cursor.opens ? cursor.opened : cursor.close;
}

void Rings::arrive(Writer &writer, int resource, bool full, int64_t slot,
                   const std::vector<int64_t> &ctas, int64_t count, int64_t bytes) {
  for (int64_t cta : ctas) {
    Micro op;
    op.kind = OpKind::Arrive;
    op.barrier = full ? fullBarrier(resource, cta, slot) : emptyBarrier(resource, cta, slot);
    op.gen = slot / spec(resource).stages;
    op.count = count;
    op.bytes = bytes;
    add(writer, op);
  }
}

void Rings::commitTo(Writer &writer, int resource, bool full, int64_t slot,
                     const std::vector<int64_t> &ctas) {
  const Ring &ring = rings[size_t(resource)];
  const Ring &owns = rings[size_t(owner(resource, full))];
  uint64_t waits = full ? owns.waitsFull : owns.waitsEmpty;
  Micro op;
  op.kind = OpKind::UmmaCommit;
  for (int64_t cta : ctas)
    if (!waits || (waits >> cta & 1))
      op.targets.push_back(
          {full ? fullBarrier(resource, cta, slot) : emptyBarrier(resource, cta, slot),
           slot / ring.spec->stages,
           0,
           {}});
  add(writer, op);
}

void Rings::arm(Writer &writer, int resource, int64_t slot) {
  const Ring &ring = rings[size_t(resource)];
  const PipelineSpec &s = *ring.spec;
  int64_t r = rank(ring, writer.cta);
  if (s.type == PipelineType::ClcFetchAsync) {
    if (r != 0)
      return;
    std::vector<int64_t> all;
    for (int64_t cta = 0; cta < ring.grid.size(); ++cta)
      all.push_back(ring.grid.size() == 1 ? writer.cta : cta);
    return arrive(writer, resource, true, slot, all, 1, 16);
  }
  if (sideKind(s.type, Side::Producer) != SideKind::Tma)
    return;
  if (s.type == PipelineType::TmaUmma && ring.grid.pairLeader(r) != r)
    return;
  if ((s.producerSignal & SignalTaskWarpLeader) && writer.warp != 0)
    return;
  // Every arming warp arms its share.
  int64_t armers = s.producerCount && !(s.producerSignal & SignalTaskWarpLeader) ? *s.producerCount
                                                                                 : ring.armers;
  arrive(writer, resource, true, slot, {writer.cta}, 1,
         s.numBytes.value_or(0) / std::max<int64_t>(armers, 1));
}

void Rings::commit(Writer &writer, int resource, int64_t slot) {
  const Ring &ring = rings[size_t(resource)];
  const PipelineSpec &s = *ring.spec;
  int64_t threads = 32 * writer.warps;
  int64_t r = rank(ring, writer.cta);
  switch (sideKind(s.type, Side::Producer)) {
  case SideKind::Tma:
  case SideKind::Clc:
    return;
  case SideKind::Umma:
    if (ring.grid.pairLeader(r) == r)
      commitTo(writer, resource, true, slot, pair(resource, writer.cta));
    return;
  case SideKind::Async:
    if (s.asyncLoad) {
      Micro op;
      op.kind = OpKind::CpAsyncArrive;
      op.count = threads;
      op.targets.push_back({fullBarrier(resource, writer.cta, slot), slot / s.stages, 0, {}});
      return add(writer, op);
    }
    arrive(writer, resource, true, slot,
           {s.type == PipelineType::AsyncUmma ? pair(resource, writer.cta).front() : writer.cta},
           threads);
  }
}

void Rings::release(Writer &writer, int resource, int64_t slot) {
  const Ring &ring = rings[size_t(resource)];
  const PipelineSpec &s = *ring.spec;
  int64_t threads = 32 * writer.warps;
  int64_t r = rank(ring, writer.cta);
  auto ranks = [&](CtaMask mask) {
    std::vector<int64_t> list;
    for (int64_t cta = 0; cta < ring.grid.size(); ++cta)
      if (mask >> cta & 1)
        list.push_back(ring.grid.size() == 1 ? writer.cta : cta);
    return list;
  };
  switch (s.type) {
  case PipelineType::AsyncAsync:
    return arrive(writer, resource, false, slot, {writer.cta}, threads);
  case PipelineType::TmaAsync:
    return arrive(writer, resource, false, slot, ranks(ring.grid.peers(r, s.multicast)),
                  s.releaseStyle == ReleaseStyle::PerThread ? threads : writer.warps);
  case PipelineType::TmaUmma:
    if (!actsOn(resource, Side::Consumer, writer.cta))
      return;
    return commitTo(writer, resource, false, slot,
                    s.commitMask == CommitMask::WholeCluster
                        ? ranks(ring.grid.all())
                        : ranks(ring.grid.peerPairs(r, s.multicast)));
  case PipelineType::UmmaAsync:
    return arrive(writer, resource, false, slot, {pair(resource, writer.cta).front()}, threads);
  case PipelineType::AsyncUmma:
  case PipelineType::UmmaUmma:
    if (ring.grid.pairLeader(r) == r)
      commitTo(writer, resource, false, slot, pair(resource, writer.cta));
    return;
  case PipelineType::ClcFetchAsync:
    return arrive(writer, resource, false, slot, {ring.grid.size() == 1 ? writer.cta : int64_t(0)},
                  threads);
  }
}

void Rings::perform(Writer &writer, int resource, Op op) {
  Ring &ring = rings[size_t(resource)];
  const PipelineSpec &s = *ring.spec;
  Cursor &cursor = writer.cursors[{resource, side(op)}];
  bool producer = side(op) == Side::Producer;
  bool closing = op == Op::Commit || op == Op::Release;
  int64_t &position = closing && cursor.split ? cursor.close : cursor.open;
  int64_t slot = position;
  if (!closing) {
    bool tries = op == Op::TryAcquire || op == Op::TryWait;
    if (executes(ring, op, writer.cta)) {
      Micro wait;
      wait.kind = tries ? OpKind::Try : OpKind::Wait;
      wait.barrier = producer ? emptyBarrier(resource, writer.cta, slot)
                              : fullBarrier(resource, writer.cta, slot);
      wait.gen = slot / s.stages - (producer ? 1 : 0);
      // A hint about a stage that has been left since says nothing about this one.
      wait.hint = tries || cursor.tried == slot ? cursor.hint : -1;
      program.strayTry |= !tries && cursor.tried >= 0 && cursor.tried != slot;
      cursor.tried = tries ? slot : -1;
      add(writer, wait);
    }
    if (tries)
      return;
    if (op == Op::Acquire)
      (shares(resource, true) ? armFork(writer, resource, slot) : arm(writer, resource, slot));
  } else {
    // The compiler waits for the cp.async of a stage before a thread says that it is full.
    if (op == Op::Commit && sideKind(s.type, Side::Producer) == SideKind::Async && !s.asyncLoad) {
      add(writer, {OpKind::GroupCommit, -1, 0, 0, 0, -1, GroupCpAsync, {}, {}});
      add(writer, {OpKind::GroupWait, -1, 0, 0, 0, -1, GroupCpAsync, {}, {}});
    }
    add(writer, {OpKind::Close, -1, 0, 0, 0, -1, heldKey(resource, side(op)), {}, {}});
    for (int member : membersOf(resource))
      add(writer, {OpKind::Close, -1, 0, 0, 0, -1, heldKey(member, side(op)), {}, {}});
    (op == Op::Commit ? commit(writer, resource, slot) : release(writer, resource, slot));
  }
  // An opening that its closing op takes on from is no use of its own.
  if (closing || cursor.split)
    touch(writer, resource, op, slot);
  if (!closing)
    cursor.opened = slot;
  if (closing || cursor.split)
    position += strideOf(s, op);
}

void Rings::drain(Writer &writer) {
  // Bulk stores may still read our memory.
  add(writer, {OpKind::GroupWait, -1, 0, 0, 0, -1, GroupBulk, {}, {}});
  for (auto &[key, cursor] : writer.cursors) {
    const Ring &ring = rings[size_t(key.resource)];
    const PipelineSpec &s = *ring.spec;
    // An engine's or a peer's arrival may still be on its way to this producer's empty barriers.
    bool engine = s.type == PipelineType::TmaUmma || s.type == PipelineType::AsyncUmma ||
                  s.type == PipelineType::UmmaUmma;
    // Warps that signal peers count as signalling some even where the layout leaves only
    // themselves.
    int64_t r = rank(ring, writer.cta);
    bool signals = s.releaseStyle == ReleaseStyle::PerWarp ||
                   ring.grid.peers(r, s.multicast) != CtaMask(1) << r;
    bool peer =
        ring.grid.size() > 1 &&
        ((s.type == PipelineType::TmaAsync && signals) || s.type == PipelineType::ClcFetchAsync ||
         (s.type == PipelineType::UmmaAsync && ring.grid.pairSize() > 1));
    if (key.side != Side::Producer || !cursor.opens || (!engine && !peer) ||
        !executes(ring, Op::Acquire, writer.cta))
      continue;
    int64_t stride = s.interleave[0];
    for (int64_t i = 0; i < s.stages / std::max<int64_t>(stride, 1); ++i) {
      int64_t slot = cursor.open + i * stride;
      add(writer, {OpKind::Wait,
                   emptyBarrier(key.resource, writer.cta, slot),
                   slot / s.stages - 1,
                   1,
                   0,
                   -1,
                   0,
                   {},
                   {}});
    }
  }
}

} // namespace ts::oracle
