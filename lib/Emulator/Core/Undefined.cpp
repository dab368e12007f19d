// Undefined registers: what an instruction does to them, and the report when one is used.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Exec.h"

namespace ts::emu {
namespace {

uint32_t lanesOf(const Exec &x, uint32_t slot) {
  const UndefinedRegisters &u = x.split.frame->undefined;
  return slot < u.lanes.size() ? u.lanes[slot] & x.mask : 0;
}

/// What the results of an instruction get: undefined lanes, and where they came from.
struct Gathered {
  uint32_t lanes = 0, origin = 0;
  void add(const Exec &x, uint32_t slot, uint32_t of = ~0u) {
    uint32_t more = slot == Flow::none ? 0 : lanesOf(x, slot) & of;
    if (!more)
      return;
    lanes |= more;
    origin = x.split.frame->undefined.origin[slot];
  }
};

/// Lanes of the whole warp in which bit 0 of a register is set.
uint32_t truths(const Exec &x, uint32_t slot) {
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    lanes |= uint32_t(x.reg(slot)[lane] & 1) << lane;
  return lanes;
}

void checkUses(Exec &x, const Flow &flow) {
  for (uint32_t slot : flow.addresses)
    if (uint32_t lanes = lanesOf(x, slot))
      usedUndefined(x, slot, lanes, "is used as an address here");
  for (uint32_t slot : flow.uses)
    if (uint32_t lanes = lanesOf(x, slot))
      usedUndefined(x, slot, lanes, "is used here");
  if (flow.kind != Flow::Kind::Wgmma)
    return;
  bool reads = flow.condition == Flow::none
                   ? flow.conditionConstant
                   : bool(x.reg(flow.condition)[x.firstLane()] & 1) != flow.negated;
  for (uint32_t slot : flow.from)
    if (uint32_t lanes = reads ? lanesOf(x, slot) : 0)
      usedUndefined(x, slot, lanes, "is accumulated onto here");
}

/// Which lane gets which is known to the instruction only, so it is run on the definedness first.
Step shuffle(Exec &x, const Flow &flow, Gathered &result) {
  uint32_t from = flow.from[0], undefined = lanesOf(x, from);
  if (flow.to.empty() || !undefined)
    return x.code.op->run(x);
  uint64_t saved[warpSize], *value = x.reg(from);
  std::copy_n(value, warpSize, saved);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    value[lane] = undefined >> lane & 1;
  Step step = x.code.op->run(x);
  if (step == Step::Next) {
    result.lanes = truths(x, flow.to[0]) & x.mask;
    result.origin = x.split.frame->undefined.origin[from];
  }
  std::copy_n(saved, warpSize, value);
  return step == Step::Next ? x.code.op->run(x) : step;
}
} // namespace

uint32_t undefinedLanes(const Exec &x, uint32_t slot) { return lanesOf(x, slot); }

void setUndefined(Exec &x, uint32_t slot, uint32_t lanes, uint32_t origin) {
  UndefinedRegisters &u = x.split.frame->undefined;
  if (u.lanes.empty()) {
    if (!(lanes & x.mask))
      return;
    u.lanes.resize(x.split.frame->code->numRegisters);
    u.origin.resize(u.lanes.size());
  }
  uint32_t &now = u.lanes[slot], before = now;
  now = (now & ~x.mask) | (lanes & x.mask);
  u.count += uint32_t(now != 0) - uint32_t(before != 0);
  if (lanes & x.mask)
    u.origin[slot] = origin;
}

Step runWithUndefined(Exec &x) {
  const Flow &flow = x.code.flow;
  checkUses(x, flow);
  Gathered result;
  switch (flow.kind) {
  case Flow::Kind::Use:
  case Flow::Kind::Wgmma:
    break;
  case Flow::Kind::Own: // it marks what it finds
    for (uint32_t slot : flow.to)
      setUndefined(x, slot, 0, 0);
    return x.code.op->run(x);
  case Flow::Kind::Each:
    for (uint32_t slot : flow.from)
      result.add(x, slot);
    break;
  case Flow::Kind::Select: {
    uint32_t chosen = flow.from[2] == Flow::none ? 0 : truths(x, flow.from[2]);
    if (flow.negated)
      chosen = ~chosen;
    result.add(x, flow.from[0], chosen);
    result.add(x, flow.from[1], ~chosen);
    result.add(x, flow.from[2]);
    break;
  }
  case Flow::Kind::Shuffle:
    break;
  case Flow::Kind::Warp:
    for (uint32_t slot : flow.from)
      result.add(x, slot);
    result.lanes = result.lanes ? x.mask : 0;
    break;
  }
  Step step = flow.kind == Flow::Kind::Shuffle ? shuffle(x, flow, result) : x.code.op->run(x);
  if (step != Step::Next)
    return step;
  for (size_t i = 0; i < flow.to.size(); ++i) // a shuffle's predicate says only where it came from
    setUndefined(x, flow.to[i], i && flow.kind == Flow::Kind::Shuffle ? 0 : result.lanes,
                 result.origin);
  return step;
}

void checkGuard(Exec &x) {
  auto slot = uint32_t(x.code.guard);
  if (uint32_t lanes = lanesOf(x, slot))
    usedUndefined(x, slot, lanes,
                  x.code.source->parts[0] == "bra" ? "decides a branch here"
                                                   : "decides whether this is executed");
}

uint32_t undefinedOrigin(Exec &x, const UndefinedRead &read) {
  std::vector<UndefinedOrigin> &origins = x.warp.undefinedOrigins;
  uint32_t site = read.first ? read.first : x.siteId();
  for (size_t i = 0; i < origins.size(); ++i)
    if (origins[i].site == site) {
      origins[i].what = read.what;
      origins[i].stored = read.stored;
      return uint32_t(i);
    }
  origins.push_back({site, read.stored, read.what});
  return uint32_t(origins.size() - 1);
}

void usedUndefined(const Exec &x, uint32_t slot, uint32_t lanes, const char *how) {
  const UndefinedOrigin &origin = x.warp.undefinedOrigins[x.split.frame->undefined.origin[slot]];
  const Checker &checker = *x.cluster.checker;
  Site here = x.site();
  here.lanes = lanes;
  std::vector<Note> notes;
  if (origin.stored)
    notes.push_back({checker.site(origin.stored), "an undefined value was stored there"});
  notes.push_back({here, format("the value %s, in lanes 0x%08x", how, lanes)});
  FaultException e{FaultKind::Uninitialised, undefinedText(origin.what, origin.stored != 0),
                   std::move(notes), checker.site(origin.site)};
  throw e;
}

} // namespace ts::emu
