// The common parts of the tcgen05 family. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05.h"

namespace ts::emu {

void registerTcgen05(DecoderTable &table) {
  tcgen05::registerAllocation(table);
  tcgen05::registerCommit(table);
  tcgen05::registerMma(table);
}

void registerTcgen05Data(DecoderTable &table) {
  tcgen05::registerTransfer(table);
  tcgen05::registerCopy(table);
}

namespace tcgen05 {

unsigned takeGroup(Decode &d) {
  int group = d.takeOneOf({"cta_group::1", "cta_group::2"});
  if (group < 0)
    d.refuse("expected .cta_group::1 or .cta_group::2");
  return unsigned(group) + 1;
}

void checkColumns(const Cta &cta, unsigned column, unsigned columns, unsigned group,
                  const char *what) {
  if (column + columns > Tmem::columns)
    fault(FaultKind::TensorMemory,
          "%s takes the columns %u to %u of tensor memory; expected at most column %u", what,
          column, column + columns - 1, Tmem::columns - 1);
  for (unsigned c = column; c < column + columns;) {
    const Tmem::Allocation *found = nullptr;
    for (const Tmem::Allocation &allocation : cta.tmem.allocations)
      if (c - allocation.column < allocation.columns)
        found = &allocation;
    if (!found)
      fault(FaultKind::TensorMemory,
            "%s takes the columns %u to %u of the tensor memory of CTA %u, but column %u is not "
            "allocated (or no longer); expected columns of a live tcgen05.alloc",
            what, column, column + columns - 1, cta.rank, c);
    if (group && found->group != group)
      fault(FaultKind::TensorMemory,
            "%s with cta_group::%u on columns that tcgen05.alloc.cta_group::%u has allocated; all "
            "tcgen05 instructions of a kernel take the same cta_group",
            what, group, found->group);
    c = found->column + found->columns;
  }
}

SmemLayout sharedLayout(uint64_t descriptor) {
  constexpr uint64_t version = uint64_t(7) << 46;
  return tcgen05Layout(descriptor & version ? descriptor : descriptor | uint64_t(1) << 46);
}

std::vector<Cta *> ctasOfGroup(Exec &x, unsigned group, const char *what) {
  if (group == 1)
    return {&x.cta};
  unsigned even = x.cta.rank & ~1u;
  if (even + 1 >= x.cluster.ctas.size())
    fault(FaultKind::Launch,
          "%s with cta_group::2 in a cluster of %zu CTAs: CTA %u has no peer; launch clusters with "
          "an even number of CTAs",
          what, x.cluster.ctas.size(), x.cta.rank);
  Cta &peer = x.cluster.cta(x.cta.rank ^ 1);
  if (peer.warpsAlive == 0)
    fault(FaultKind::EarlyExit,
          "%s with cta_group::2, but the peer CTA %u has exited; it has to stay until the pair's "
          "work is done",
          what, peer.rank);
  return {&x.cluster.cta(even), &x.cluster.cta(even + 1)};
}

namespace {
template <class Operand> uint64_t sameInLanes(Exec &x, const Operand &operand, const char *what) {
  uint64_t value = operand.uniform(x);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (x.active(lane) && operand.lane(x, lane) != value)
      fault(FaultKind::Divergence,
            "%s is 0x%llx in lane %u and 0x%llx in lane %u; expected one value for the warp", what,
            (unsigned long long)value, x.firstLane(), (unsigned long long)operand.lane(x, lane),
            lane);
  return value;
}

constexpr const char *roleNames[] = {"tcgen05.mma (operands)", "tcgen05.mma",
                                     "tcgen05.cp or tcgen05.shift"};
} // namespace

uint64_t uniform(Exec &x, const Src &src, const char *what) { return sameInLanes(x, src, what); }
uint64_t uniform(Exec &x, const AddressOperand &address, const char *what) {
  return sameInLanes(x, address, what);
}

Pipeline::Pipeline(Exec &x) : x(x) {
  for (unsigned role = 0; role < 3; ++role)
    agents[role] = x.cluster.checker->channelAgent(uint32_t(EngineKind::Tcgen05), x.warp.agent,
                                                   role, roleNames[role]);
}

Event Pipeline::last(Role role) const {
  return x.cluster.checker->lastEvent(agents[unsigned(role)]);
}

Event Pipeline::newEvent(Role role) const {
  return x.cluster.checker->newEvent(agents[unsigned(role)]);
}

Clock Pipeline::known(Role role) const {
  Clock clock = x.clock();
  auto learn = [&](Role of) {
    Event event = last(of);
    clock.order.learn(event);
    clock.tensor.learn(event);
  };
  switch (role) {
  case Role::Operands:
    learn(Role::Operands);
    learn(Role::Fill);
    break;
  case Role::Accumulator:
    learn(Role::Operands);
    learn(Role::Accumulator);
    break;
  case Role::Fill:
    learn(Role::Operands);
    learn(Role::Fill);
    break;
  }
  return clock;
}

void Pipeline::issued() const { x.warp.tcgen05Behind = x.clock().order[x.warp.agent]; }

Clock Pipeline::published() const {
  // The signal comes after the commit, so after what others had done and handed to the thread by
  // then. Its own loads and stores may still be under way, unless a tracked operation followed
  // them.
  const Clock &now = x.clock();
  Event own{x.warp.agent, x.warp.tcgen05Behind};
  Clock clock;
  clock.order = now.order;
  clock.proxy = now.proxy;
  clock.tensorOffered = now.tensor; // a commit implies the fence before thread synchronisation
  clock.order.limit(own);
  clock.proxy.limit(own);
  for (Role role : {Role::Operands, Role::Accumulator, Role::Fill}) {
    clock.order.learn(last(role));
    clock.tensorOffered.learn(last(role));
  }
  return clock;
}

} // namespace tcgen05
} // namespace ts::emu
