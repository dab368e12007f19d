// cp.async: copies of 4 to 16 bytes of each thread, their groups, and their arrival at mbarriers.
// They are ordinary (generic-proxy) accesses that happen later. Source: PTX ISA, "Non-bulk copy".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Copy.h"

#include <map>

namespace ts::emu {
namespace {

struct LaneCopy {
  uint8_t *to;
  const uint8_t *from; // null: zeros
  uint32_t bytes;      // of `from`; the rest are zeros
};

class CpAsyncOp final : public AsyncOp {
public:
  CpAsyncOp(uint32_t size, AsyncGroups &of) : size(size), of(of), number(of.issued++) {
    of.running.insert(number);
  }
  unsigned pieces() const override { return 2; }
  void perform(unsigned piece) override {
    uint32_t half = size / 2;
    for (const LaneCopy &copy : lanes)
      for (uint32_t i = piece * half; i < (piece + 1) * half; ++i)
        copy.to[i] = i < copy.bytes ? copy.from[i] : 0;
  }
  void finish() override {
    of.running.erase(number);
    for (const std::shared_ptr<AsyncGroup> &group : groups)
      --group->reading, --group->running;
  }
  std::vector<LaneCopy> lanes;
  std::vector<std::shared_ptr<AsyncGroup>> groups;

private:
  uint32_t size;
  AsyncGroups &of;
  uint64_t number;
};

/// Arrives when everything issued before it is done.
class CpAsyncArrive final : public AsyncOp {
public:
  explicit CpAsyncArrive(const AsyncGroups &of) : of(of), number(of.issued) {}
  bool ready() const override { return of.running.empty() || *of.running.begin() >= number; }
  void perform(unsigned) override {
    for (const auto &[offset, count] : arrivals)
      mbarrierArriveAsync(*warp->cta, offset, count, published, nullptr, site);
  }
  std::map<uint32_t, uint32_t> arrivals; // by the barrier's offset
  Event published;
  uint32_t site = 0;

private:
  const AsyncGroups &of;
  uint64_t number;
};

struct CpAsync {
  AddressOperand to, from;
  uint32_t size = 0;
  bool hasSize = false, hasIgnore = false;
  Src sourceSize, ignore;

  Step operator()(Exec &x) const {
    AsyncGroups &groups = cpAsyncGroups(x.warp);
    auto op = std::make_unique<CpAsyncOp>(size, groups);
    prepare(*op, x, x.firstLane(), {EngineKind::CpAsync, x.warp.agent, 0});
    uint32_t ignored = hasIgnore ? ignore.predicate(x) : 0;
    SharedPlace range;
    uint32_t rangeBytes = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      SharedPlace place =
          resolveShared(x, Space::SharedCta, to.lane(x, lane), size, size, "cp.async");
      uint32_t bytes = hasSize ? uint32_t(sourceSize.lane(x, lane)) : size;
      if (bytes > size)
        fault(FaultKind::OutOfBounds, "cp.async of %u bytes reads %u; expected at most its size",
              size, bytes);
      if (ignored >> lane & 1)
        bytes = 0;
      const uint8_t *source = nullptr;
      uint64_t address = from.lane(x, lane);
      if (bytes)
        source = resolveGlobal(x.machine, address, bytes, 1, false, "cp.async");
      if (bytes && x.machine.ordersGrids())
        tellGlobal(x, address, bytes, AccessKind::Read);
      if (address % size)
        fault(FaultKind::Alignment, "cp.async of %u bytes from 0x%llx; expected a multiple of %u",
              size, (unsigned long long)address, size);
      op->lanes.push_back({place.bytes, source, bytes});
      // Neighbours are told as one range.
      if (rangeBytes && place.cta == range.cta && place.offset == range.offset + rangeBytes) {
        rangeBytes += size;
        continue;
      }
      if (rangeBytes)
        footprint(x, *op, AccessKind::Write, Proxy::Generic, range, rangeBytes);
      range = place;
      rangeBytes = size;
    }
    footprint(x, *op, AccessKind::Write, Proxy::Generic, range, rangeBytes);
    op->groups = groups.open(x.mask);
    for (const std::shared_ptr<AsyncGroup> &group : op->groups) {
      ++group->reading, ++group->running;
      group->last = op->event;
    }
    groups.last = op->event;
    x.cluster.engines->issue({EngineKind::CpAsync, x.warp.agent, 0}, false, std::move(op));
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeCpAsync(Decode &d) {
  CpAsync op;
  bool cg = d.take("cg");
  if (!cg)
    d.need("ca");
  if (!d.take("shared::cta"))
    d.need("shared");
  d.need("global");
  bool hint = false;
  while (d.more())
    if (d.take("L2::cache_hint"))
      hint = true;
    else if (d.takeOneOf({"L2::64B", "L2::128B", "L2::256B"}) < 0)
      break;
  d.end();
  size_t n = d.numOperands() - (hint ? 1 : 0);
  if (n < 3 || n > 4)
    d.refuse("expected [dst], [src], a size and at most one of src-size and ignore-src%s",
             hint ? ", and a cache policy" : "");
  op.to = d.address(0);
  op.from = d.address(1);
  op.size = uint32_t(d.immediate(2));
  if (op.size != 16 && (cg || (op.size != 4 && op.size != 8)))
    d.refuse("a size of %u bytes; expected %s", op.size, cg ? "16" : "4, 8 or 16");
  if (n == 4) {
    const ptx::Operand &o = d.operand(3);
    op.hasIgnore = o.kind == ptx::Operand::Kind::Register &&
                   d.code.function->registers[o.reg].type == ptx::Type::Pred;
    op.hasSize = !op.hasIgnore;
    if (op.hasIgnore)
      op.ignore = d.predicate(3);
    else
      op.sourceSize = d.src(3, ptx::Type::B32);
  }
  if (hint)
    d.src(n, ptx::Type::B64);
  return makeOp(op);
}

std::unique_ptr<Op> decodeCommit(Decode &d) {
  d.end();
  d.needOperands(0, 0);
  return makeOp([](Exec &x) {
    cpAsyncGroups(x.warp).commit(x.mask);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeWait(Decode &d) {
  bool all = d.inst.parts[2] == "wait_all";
  d.end();
  d.needOperands(all ? 0 : 1, all ? 0 : 1);
  uint64_t allowed = all ? 0 : d.immediate(0);
  return makeOp([=](Exec &x) {
    AsyncGroups &groups = cpAsyncGroups(x.warp);
    if (all && !x.split.resume) {
      groups.commit(x.mask);
      x.split.resume = 1;
    }
    if (groups.wait(x.mask, allowed, false, x.clock()))
      return Step::Next;
    x.wait(WaitKind::Group, allowed,
           format("cp.async groups: %u are pending, %llu may be", groups.pending(x.mask, false),
                  (unsigned long long)allowed));
    return Step::Blocked;
  });
}

std::unique_ptr<Op> decodeArrive(Decode &d) {
  bool increment = !d.take("noinc");
  Space space = d.takeOneOf({"shared", "shared::cta"}) >= 0 ? Space::SharedCta : Space::Generic;
  d.need("b64");
  d.end();
  d.needOperands(1, 1);
  AddressOperand address = d.address(0);
  return makeOp([=](Exec &x) {
    AsyncGroups &groups = cpAsyncGroups(x.warp);
    auto op = std::make_unique<CpAsyncArrive>(groups);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      SharedPlace place =
          resolveShared(x, space, address.lane(x, lane), 8, 8, "cp.async.mbarrier.arrive");
      if (place.cta != &x.cta)
        fault(FaultKind::BarrierState,
              "cp.async.mbarrier.arrive on a barrier of CTA %u; expected one of the own CTA",
              place.cta->rank);
      mbarrierFor(x.warp, *place.cta, place.offset, "cp.async.mbarrier.arrive");
      ++op->arrivals[place.offset];
      if (increment)
        mbarrierAwaitMore(*place.cta, place.offset, 1);
    }
    prepare(*op, x, x.firstLane(), {EngineKind::CpAsync, x.warp.agent, 0});
    op->published = groups.last;
    op->site = x.siteId();
    x.cluster.engines->issue({EngineKind::CpAsync, x.warp.agent, 0}, false, std::move(op));
    return Step::Next;
  });
}
} // namespace

void registerCpAsync(DecoderTable &table) {
  table.add("cp.async", decodeCpAsync,
            {{"cp.async.ca.{shared|shared::cta}.global[.{L2::64B|L2::128B|L2::256B}]",
              "[%r1], [%rd1], 8"},
             {"cp.async.cg.{shared|shared::cta}.global[.{L2::64B|L2::128B|L2::256B}]",
              "[%r1], [%rd1], 16, %r2"},
             {"cp.async.{ca|cg}.{shared|shared::cta}.global.L2::cache_hint[.{L2::64B|L2::128B|"
              "L2::256B}]",
              "[%r1], [%rd1], 16, %p1, %rd2"}});
  table.add("cp.async.commit_group", decodeCommit, {{"cp.async.commit_group", ""}});
  table.add("cp.async.wait_group", decodeWait, {{"cp.async.wait_group", "1"}});
  table.add("cp.async.wait_all", decodeWait, {{"cp.async.wait_all", ""}});
  table.add("cp.async.mbarrier.arrive", decodeArrive,
            {{"cp.async.mbarrier.arrive[.noinc].b64", "[%rd1]"},
             {"cp.async.mbarrier.arrive[.noinc].{shared|shared::cta}.b64", "[%r1]"}});
}

} // namespace ts::emu
