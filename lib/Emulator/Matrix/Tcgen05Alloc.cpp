// tcgen05.alloc, dealloc and relinquish_alloc_permit: who owns which columns of tensor memory.
// With cta_group::2 a warp of each CTA of the pair takes part; the n-th such operation of one CTA
// meets the n-th of the other, and the first to come waits (PTX ISA lets dealloc wait or not; a
// program has to live with both). Not modelled: other CTAs on the same SM. Source: PTX ISA, "Tensor
// Memory Allocation and Management Instructions". SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Tcgen05.h"

namespace ts::emu {
namespace tcgen05 {
namespace {

using Collective = Tmem::Collective;
constexpr unsigned leastColumns = 32;

const char *name(Collective::Kind kind) {
  switch (kind) {
  case Collective::Kind::Alloc:
    return "tcgen05.alloc";
  case Collective::Kind::Dealloc:
    return "tcgen05.dealloc";
  case Collective::Kind::Relinquish:
    return "tcgen05.relinquish_alloc_permit";
  }
  return "";
}

bool overlaps(const Tmem &tmem, uint32_t column, uint32_t columns) {
  for (const Tmem::Allocation &a : tmem.allocations)
    if (a.column < column + columns && column < a.column + a.columns)
      return true;
  return false;
}

/// The first place that is free in all of them; nothing if there is none.
std::optional<uint32_t> findSpace(const std::vector<Cta *> &ctas, uint32_t columns) {
  for (uint32_t column = 0; column + columns <= Tmem::columns; column += leastColumns) {
    bool taken = false;
    for (const Cta *cta : ctas)
      taken |= overlaps(cta->tmem, column, columns);
    if (!taken)
      return column;
  }
  return std::nullopt;
}

struct Allocator {
  Collective::Kind kind;
  unsigned group;
  AddressOperand destination;
  Space space = Space::Generic;
  Src address, columns;

  void begin(Exec &x, Collective &mine) const {
    Tmem &tmem = x.cta.tmem;
    mine.kind = kind;
    mine.warp = &x.warp;
    mine.site = x.siteId();
    if (kind == Collective::Kind::Relinquish)
      return;
    mine.columns = uint32_t(uniform(x, columns, "the number of columns"));
    if (mine.columns < leastColumns || mine.columns > Tmem::columns ||
        !std::has_single_bit(mine.columns))
      fault(FaultKind::TensorMemory, "%s of %u columns; expected a power of two from %u to %u",
            name(kind), mine.columns, leastColumns, Tmem::columns);
    if (kind == Collective::Kind::Alloc) {
      if (tmem.permitGiven)
        fault(
            FaultKind::TensorMemory,
            "tcgen05.alloc after tcgen05.relinquish_alloc_permit of this CTA; allocate before the "
            "permit is given back");
      if (tmem.lastColumns && mine.columns > tmem.lastColumns)
        fault(FaultKind::TensorMemory,
              "tcgen05.alloc of %u columns after one of %u; the number may not increase from one "
              "allocation of a CTA to the next: allocate the largest first",
              mine.columns, tmem.lastColumns);
      tmem.lastColumns = mine.columns;
      return;
    }
    uint64_t where = uniform(x, address, "the address of tcgen05.dealloc");
    mine.column = uint32_t(where);
    for (const Tmem::Allocation &a : tmem.allocations)
      if (a.column == where) {
        if (a.columns != mine.columns || a.group != group)
          fault(FaultKind::TensorMemory,
                "tcgen05.dealloc.cta_group::%u of %u columns at column %u, which were allocated as "
                "%u with cta_group::%u",
                group, mine.columns, a.column, a.columns, a.group);
        return;
      }
    fault(FaultKind::TensorMemory,
          "tcgen05.dealloc of 0x%llx, where no allocation begins; expected an address that "
          "tcgen05.alloc has written and that has not been freed",
          (unsigned long long)where);
  }

  /// One CTA's part, once all agree. Its own warp has to know every access to what it frees.
  void apply(Exec &x, Cta &cta, Collective &part) const {
    Tmem &tmem = cta.tmem;
    Checker &checker = *x.cluster.checker;
    TmemRange all{cta.rank, 0, Tmem::lanes, part.column, part.columns};
    switch (kind) {
    case Collective::Kind::Alloc:
      if (tmem.cells.empty())
        tmem.cells.assign(size_t(Tmem::lanes) * Tmem::columns, 0xffffffffu);
      tmem.allocations.push_back({part.column, part.columns, part.site, group});
      return;
    case Collective::Kind::Dealloc: {
      AgentId agent = part.warp->agent;
      Access access{AccessKind::Write, Proxy::Generic, checker.newEvent(agent),
                    &checker.clock(agent), part.site};
      checker.tmem(access, all);
      checker.undefine(all);
      for (unsigned lane = 0; lane < Tmem::lanes; ++lane)
        std::fill_n(&tmem.cell(lane, part.column), part.columns, 0xffffffffu);
      std::erase_if(tmem.allocations,
                    [&](const Tmem::Allocation &a) { return a.column == part.column; });
      return;
    }
    case Collective::Kind::Relinquish:
      tmem.permitGiven = true;
      return;
    }
  }

  /// Whether the operation has taken place, after trying to let it.
  bool perform(Exec &x, size_t index) const {
    Collective &mine = x.cta.tmem.collectives[index];
    if (mine.done)
      return true;
    std::vector<Cta *> ctas = ctasOfGroup(x, group, name(kind));
    std::vector<Collective *> parts;
    for (Cta *cta : ctas) {
      // Number n of the pair's operations; those of cta_group::1 are nobody else's business.
      std::deque<Collective> &list = cta->tmem.collectives;
      if (index >= list.size()) {
        x.wait(WaitKind::Tensor, 0,
               format("the peer CTA %u to take part in %s.cta_group::2", cta->rank, name(kind)));
        return false;
      }
      parts.push_back(&list[index]);
    }
    for (Collective *part : parts)
      if (part->kind != kind || part->columns != mine.columns || part->column != mine.column)
        fault(FaultKind::TensorMemory,
              "the CTAs of a pair do not agree: one executes %s of %u columns, the other %s of %u",
              name(kind), mine.columns, name(part->kind), part->columns);
    if (kind == Collective::Kind::Alloc) {
      std::optional<uint32_t> column = findSpace(ctas, mine.columns);
      if (!column) {
        x.wait(WaitKind::Tensor, 0,
               format("%u free columns of tensor memory for tcgen05.alloc (%zu allocations are "
                      "live)",
                      mine.columns, x.cta.tmem.allocations.size()));
        return false;
      }
      for (Collective *part : parts)
        part->column = *column;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      apply(x, *ctas[i], *parts[i]);
      parts[i]->done = true;
    }
    x.cluster.changed();
    return true;
  }

  Step operator()(Exec &x) const {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    std::deque<Collective> &list = x.cta.tmem.collectives;
    if (x.split.resume == 0) {
      Collective mine;
      begin(x, mine);
      list.push_back(mine);
      x.split.resume = list.size();
      x.cluster.changed();
    }
    size_t index = size_t(x.split.resume) - 1;
    if (!perform(x, index))
      return Step::Blocked;
    if (kind == Collective::Kind::Alloc) {
      uint32_t value = list[index].column;
      store(x, x.firstLane(), space, uniform(x, destination, "the destination of tcgen05.alloc"),
            sizeof value, &value);
      x.cluster.checker->warpSynchronised(x.warp.agent); // the warp as a whole has written it
    }
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeAllocation(Decode &d) {
  const std::string &verb = d.inst.parts[1];
  Allocator op{};
  op.kind = verb == "alloc"     ? Collective::Kind::Alloc
            : verb == "dealloc" ? Collective::Kind::Dealloc
                                : Collective::Kind::Relinquish;
  op.group = takeGroup(d);
  d.need("sync");
  d.need("aligned");
  if (op.kind == Collective::Kind::Alloc && d.take("shared::cta"))
    op.space = Space::SharedCta;
  if (op.kind != Collective::Kind::Relinquish)
    d.need("b32");
  d.end();
  if (op.kind == Collective::Kind::Relinquish) {
    d.needOperands(0, 0);
    return makeOp(op);
  }
  d.needOperands(2, 2);
  if (op.kind == Collective::Kind::Alloc)
    op.destination = d.address(0);
  else
    op.address = d.src(0, ptx::Type::B32);
  op.columns = d.src(1, ptx::Type::U32);
  return makeOp(op);
}
} // namespace

void registerAllocation(DecoderTable &table) {
  table.add(
      "tcgen05.alloc", decodeAllocation,
      {{"tcgen05.alloc.{cta_group::1|cta_group::2}.sync.aligned.shared::cta.b32", "[%r1], 64"},
       {"tcgen05.alloc.{cta_group::1|cta_group::2}.sync.aligned.b32", "[%rd1], %r1"}});
  table.add("tcgen05.dealloc", decodeAllocation,
            {{"tcgen05.dealloc.{cta_group::1|cta_group::2}.sync.aligned.b32", "%r1, 64"}});
  table.add("tcgen05.relinquish_alloc_permit", decodeAllocation,
            {{"tcgen05.relinquish_alloc_permit.{cta_group::1|cta_group::2}.sync.aligned", ""}});
}

} // namespace tcgen05

void tmemAtExit(Cta &cta) {
  if (cta.tmem.allocations.empty())
    return;
  const Checker &checker = *cta.cluster->checker;
  std::vector<Note> notes;
  uint32_t columns = 0;
  for (const Tmem::Allocation &a : cta.tmem.allocations) {
    notes.push_back({checker.site(a.site), format("%u columns are allocated here", a.columns)});
    columns += a.columns;
  }
  faultWith(FaultKind::TensorMemory, std::move(notes),
            "the CTA ends with %u columns of tensor memory allocated; expected tcgen05.dealloc of "
            "every allocation before the last warp exits",
            columns);
}

} // namespace ts::emu
