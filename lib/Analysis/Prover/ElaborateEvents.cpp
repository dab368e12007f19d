// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of a schedule one by one, and the barriers that bodies name themselves.
#include "Elaborate.h"

#include <algorithm>

namespace ts::prover {

using sched::EventKind;

void TaskElaborator::hand(sched::StepId id) {
  const sched::Event &event = at(id).event;
  HandSpec spec;
  bool cluster = event.kind == EventKind::ClusterSync;
  int cta = agent().cta;
  if (cluster) {
    if (c.clusterBarrier < 0) {
      BarrierInfo info;
      info.kind = BarrierInfo::Kind::Named;
      c.clusterBarrier = c.addBarrier(info);
    }
    spec.barrier = c.clusterBarrier;
    spec.count = 1;
    spec.waits = true;
  } else {
    if (event.remote) {
      if (!event.remoteCta || *event.remoteCta < 0 || *event.remoteCta >= c.program.ctas)
        return c.refuse("'" + task().name +
                        "' arrives on the barrier of a CTA whose rank is not constant");
      cta = int(*event.remoteCta);
    }
    auto it = c.handBarriers.find({event.resource, cta});
    if (it == c.handBarriers.end())
      return;
    spec.barrier = it->second;
    int64_t threads = int64_t(agent().warps) * 32;
    switch (event.kind) {
    case EventKind::BarrierSync:
      spec.count = threads;
      spec.waits = true;
      break;
    case EventKind::BarrierArrive:
      spec.count = threads;
      break;
    case EventKind::MbarrierArrive:
      spec.count = event.elected ? agent().warps : threads;
      if (event.expect && *event.expect > 0)
        return c.refuse("copies complete on the hand-written barrier '" +
                        c.kernel.resources[size_t(event.resource)].name + "'");
      break;
    default:
      spec.parityWait = spec.waits = true;
      spec.parity = event.parity.value_or(sched::Parity());
      if (spec.parity.kind == sched::Parity::Kind::Unknown)
        return c.refuse("the parity of a wait on '" +
                        c.kernel.resources[size_t(event.resource)].name + "' in '" + task().name +
                        "' is " + spec.parity.text + ", which is not affine in a loop variable");
      if (spec.parity.kind == sched::Parity::Kind::Linear ||
          spec.parity.kind == sched::Parity::Kind::Flips) {
        auto loop = loopNumber.find(spec.parity.loop);
        if (loop == loopNumber.end())
          return c.refuse("the parity of a wait in '" + task().name +
                          "' follows a loop that is not around it");
        spec.loop = loop->second;
        LoopInfo &info = agent().loops[size_t(spec.loop)];
        info.modulus = c.commonPeriod(info.modulus, 2 * std::max<int64_t>(1, spec.parity.divisor));
      }
      break;
    }
  }
  if (spec.count)
    spec.epoch = c.arrivalFamily(spec.barrier, 1, agentIndex, false);
  if (spec.waits) {
    spec.waitEpoch = c.waitFamily(spec.barrier, 1, agentIndex);
    spec.waited = variable(-2, 1, -1, event.resource);
  }
  agent().hands.push_back(spec);
  int number = int(agent().hands.size()) - 1;
  if (spec.count)
    emit(Op::HandArrive, id, number);
  if (spec.waits)
    emit(Op::HandWait, id, number);
}

void TaskElaborator::baton(sched::StepId id, bool take) {
  const sched::Event &event = at(id).event;
  auto it = c.handBarriers.find({event.resource, agent().cta});
  if (it == c.handBarriers.end() || !agent().leader)
    return;
  int64_t holders = std::max<int64_t>(1, c.kernel.resources[size_t(event.resource)].holders);
  int64_t holder = (task().replica + (take ? 0 : 1)) % holders;
  HandSpec spec;
  spec.barrier = it->second + int(holder);
  spec.count = 1;
  spec.epoch = c.arrivalFamily(spec.barrier, 1, agentIndex, false);
  if (take) {
    spec.waits = true;
    spec.waitEpoch = c.waitFamily(spec.barrier, 1, agentIndex);
    spec.waited = variable(-2, 1, -1, event.resource);
  }
  agent().hands.push_back(spec);
  emit(Op::HandArrive, id, int(agent().hands.size()) - 1);
  if (take)
    emit(Op::HandWait, id, int(agent().hands.size()) - 1);
}

void TaskElaborator::event(sched::StepId id, int depth) {
  const sched::Event &event = at(id).event;
  if (auto op = sched::barrierOp(event.kind))
    return barrierOp(id, event.resource, *op);
  switch (event.kind) {
  case EventKind::Produce:
  case EventKind::Consume:
    return work(id, depth);
  case EventKind::Access:
    return access(id, event, false);
  case EventKind::FetchTile: {
    int ring = event.resource < 0 ? -1 : c.ringOf[size_t(event.resource)];
    int slot = currentSlot(event.resource, proto::Side::Producer);
    if (ring < 0 || slot < 0)
      return;
    const Ring &queue = c.rings[size_t(ring)];
    proto::TaskRole who = role(id);
    if (proto::waitingCtas(queue.spec, c.kernel.cluster, proto::Op::Acquire, who) >> agent().cta &
        1)
      addIssue(queue, declaredPerCta(queue), slot, -1, id);
    return;
  }
  case EventKind::NextTile:
    barrierOp(id, event.resource, proto::Op::Wait);
    return barrierOp(id, event.resource, proto::Op::Release);
  case EventKind::Take:
    return baton(id, true);
  case EventKind::Pass:
    return baton(id, false);
  case EventKind::GridDepWait: {
    if (agent().pdlEpoch < 0) {
      Family family;
      family.kind = Family::Kind::Pdl;
      family.agent = agentIndex;
      agent().pdlEpoch = c.program.families[size_t(c.addFamily(family))].base;
    }
    emit(Op::PdlWait, id);
    return;
  }
  case EventKind::GridDepLaunch:
    emit(Op::PdlLaunch, id);
    return;
  case EventKind::BarrierSync:
  case EventKind::BarrierArrive:
  case EventKind::MbarrierArrive:
  case EventKind::MbarrierWait:
  case EventKind::ClusterSync:
    return hand(id);
  case EventKind::WgmmaCommit:
    emit(Op::GroupCommit, id, queue(Wgmma));
    return;
  case EventKind::WgmmaWait:
    emit(Op::GroupWait, id, queue(Wgmma), int(event.pending));
    return;
  case EventKind::BulkCommit:
    emit(Op::GroupCommit, id, queue(Bulk));
    return;
  case EventKind::BulkWait:
    emit(Op::GroupWait, id, queue(Bulk), int(event.pending), event.readOnly ? 1 : 0);
    return;
  case EventKind::CpAsyncCommit:
    emit(Op::GroupCommit, id, queue(CpAsync));
    return;
  case EventKind::CpAsyncWait:
    emit(Op::GroupWait, id, queue(CpAsync), int(event.pending));
    return;
  case EventKind::TmemWait:
    emit(Op::Flush, id, queue(TmemLoad));
    return;
  default:
    return;
  }
}

} // namespace ts::prover
