// cp.async.bulk and cp.reduce.async.bulk without tensor maps, prefetches, and bulk groups. Source:
// PTX ISA, "Bulk copy". SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Copy.h"

namespace ts::emu {
namespace {

struct Reducing {
  Reduction op;
  ReduceType type;
};

class BulkLoad final : public LoadOp {
public:
  BulkLoad(SharedPlace to, SharedPlace barrier, const uint8_t *from, uint32_t bytes, uint32_t site,
           const std::optional<Reducing> &reducing)
      : LoadOp(to, barrier, bytes / 16, 16, site), from(from), reducing(reducing) {}
  void move(uint32_t begin, uint32_t end) override {
    size_t at = size_t(begin) * 16, bytes = size_t(end - begin) * 16;
    if (reducing)
      reduce(reducing->op, reducing->type, to.bytes + at, from + at,
             bytes / reduceBytes(reducing->type));
    else
      memcpy(to.bytes + at, from + at, bytes);
  }

private:
  const uint8_t *from;
  std::optional<Reducing> reducing;
};

class BulkStore final : public StoreOp {
public:
  BulkStore(SharedPlace from, uint32_t bytes, uint8_t *to, uint32_t byteMask, GlobalMemory &global,
            const std::optional<Reducing> &reducing)
      : StoreOp(from, bytes), to(to), byteMask(byteMask), global(global), reducing(reducing) {}
  void read(uint32_t begin, uint32_t end) override {
    memcpy(data.data() + begin, from.bytes + begin, end - begin);
  }
  void write(unsigned half) override {
    size_t middle = data.size() / 2;
    size_t begin = half ? middle : 0, end = half ? data.size() : middle;
    if (reducing) {
      std::lock_guard lock(global.atomics);
      reduce(reducing->op, reducing->type, to + begin, data.data() + begin,
             (end - begin) / reduceBytes(reducing->type));
    } else if (byteMask == 0xffff) {
      memcpy(to + begin, data.data() + begin, end - begin);
    } else {
      for (size_t i = begin; i < end; ++i)
        if (byteMask >> (i % 16) & 1)
          to[i] = data[i];
    }
  }

private:
  uint8_t *to;
  uint32_t byteMask;
  GlobalMemory &global;
  std::optional<Reducing> reducing;
};

struct Bulk {
  enum class Way { Load, Remote, Store } way = Way::Load;
  Space toSpace = Space::SharedCta;
  AddressOperand to, from, barrier;
  Src size, mask;
  bool multicast = false, masked = false;
  std::optional<Reducing> reducing;
  const char *what = "cp.async.bulk";

  Step operator()(Exec &x) const {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        issue(x, lane);
    return Step::Next;
  }

  void issue(Exec &x, unsigned lane) const {
    auto bytes = uint32_t(size.lane(x, lane));
    if (bytes % 16)
      fault(FaultKind::Alignment, "%s of %u bytes; expected a multiple of 16", what, bytes);
    if (!bytes)
      return;
    if (way == Way::Store)
      return store(x, lane, bytes);
    SharedPlace place = resolveShared(x, toSpace, to.lane(x, lane), bytes, 16, what);
    SharedPlace signal = resolveShared(x, toSpace, barrier.lane(x, lane), 8, 8, what);
    if (signal.cta != place.cta && !multicast)
      fault(FaultKind::BarrierState,
            "%s writes to CTA %u, but its mbarrier is in CTA %u; expected both in one CTA", what,
            place.cta->rank, signal.cta->rank);
    const uint8_t *source = nullptr;
    SharedPlace sourcePlace;
    if (way == Way::Remote) {
      sourcePlace = resolveShared(x, Space::SharedCta, from.lane(x, lane), bytes, 16, what);
      source = sourcePlace.bytes;
    } else {
      source = resolveGlobal(x.machine, from.lane(x, lane), bytes, 16, false, what);
      if (x.machine.ordersGrids())
        tellGlobal(x, from.lane(x, lane), bytes, AccessKind::Read);
    }
    std::vector<unsigned> ranks{place.cta->rank};
    if (multicast)
      ranks = multicastRanks(x, mask.lane(x, lane), what);
    for (unsigned rank : ranks) {
      if (multicast) {
        place = sameOffset(x, place, rank);
        signal = sameOffset(x, signal, rank);
      }
      mbarrierFor(x.warp, *signal.cta, signal.offset, what);
      auto op = std::make_unique<BulkLoad>(place, signal, source, bytes, x.siteId(), reducing);
      ChannelKey channel = loadChannel(x.warp, signal);
      prepare(*op, x, lane, channel);
      if (way == Way::Remote)
        footprint(x, *op, AccessKind::Read, Proxy::Async, sourcePlace, bytes);
      footprint(x, *op, reducing ? AccessKind::Atomic : AccessKind::Write, Proxy::Async, place,
                bytes);
      x.cluster.engines->issue(channel, false, std::move(op));
    }
  }

  void store(Exec &x, unsigned lane, uint32_t bytes) const {
    SharedPlace place = resolveShared(x, Space::SharedCta, from.lane(x, lane), bytes, 16, what);
    uint8_t *target = resolveGlobal(x.machine, to.lane(x, lane), bytes, 16, true, what);
    uint32_t byteMask = masked ? uint32_t(mask.lane(x, lane)) & 0xffff : 0xffff;
    if (x.machine.ordersGrids())
      for (uint32_t i = 0; i < bytes; ++i)
        if (byteMask >> (i % 16) & 1)
          tellGlobal(x, to.lane(x, lane) + i, 1, reducing ? AccessKind::Atomic : AccessKind::Write);
    auto op =
        std::make_unique<BulkStore>(place, bytes, target, byteMask, *x.machine.global, reducing);
    prepare(*op, x, lane, storeChannel(x.warp));
    op->join(bulkGroups(x.warp).open(1u << lane));
    footprint(x, *op, AccessKind::Read, Proxy::Async, place, bytes);
    x.cluster.engines->issue(storeChannel(x.warp), false, std::move(op));
  }
};

ReduceType reduceType(Decode &d) {
  switch (d.needType()) {
  case ptx::Type::U32:
    return ReduceType::U32;
  case ptx::Type::S32:
    return ReduceType::S32;
  case ptx::Type::U64:
    return ReduceType::U64;
  case ptx::Type::S64:
    return ReduceType::S64;
  case ptx::Type::F16:
    return ReduceType::F16;
  case ptx::Type::BF16:
    return ReduceType::BF16;
  case ptx::Type::F32:
    return ReduceType::F32;
  case ptx::Type::F64:
    return ReduceType::F64;
  case ptx::Type::B32:
    return ReduceType::B32;
  case ptx::Type::B64:
    return ReduceType::B64;
  default:
    d.refuse("a reduction does not have this type");
  }
}

std::unique_ptr<Op> decodeBulk(Decode &d) {
  Bulk op;
  bool reducing = d.inst.parts[1] == "reduce";
  if (reducing)
    op.what = "cp.reduce.async.bulk";
  int to = d.takeOneOf({"shared::cta", "shared::cluster", "global"});
  int from = d.takeOneOf({"global", "shared::cta"});
  if (to < 0 || from < 0 || (to == 2) != (from == 1 && to != 1) || (to == 0 && from != 0))
    d.refuse("expected .shared::cta.global, .shared::cluster.global, .shared::cluster.shared::cta "
             "or .global.shared::cta");
  op.way = to == 2 ? Bulk::Way::Store : from == 1 ? Bulk::Way::Remote : Bulk::Way::Load;
  op.toSpace = to == 0 ? Space::SharedCta : Space::SharedCluster;
  if (reducing && op.way == Bulk::Way::Load)
    d.refuse("reductions go from shared memory to shared::cluster or global memory");
  d.need(op.way == Bulk::Way::Store ? "bulk_group" : "mbarrier::complete_tx::bytes");
  bool hint = false;
  while (d.more()) {
    if (!hint && op.way != Bulk::Way::Remote && d.take("L2::cache_hint"))
      hint = true;
    else if (!op.multicast && op.way == Bulk::Way::Load && to == 1 && d.take("multicast::cluster"))
      op.multicast = true;
    else if (!op.masked && op.way == Bulk::Way::Store && !reducing && d.take("cp_mask"))
      op.masked = true;
    else
      break;
  }
  if (reducing) {
    int which = d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    if (which < 0)
      d.refuse("expected a reduction (.add, .min, ...)");
    bool noftz = d.take("noftz");
    op.reducing = Reducing{Reduction(which), reduceType(d)};
    ReduceType type = op.reducing->type;
    if (!reduceAllowed(op.reducing->op, type, op.way != Bulk::Way::Store))
      d.refuse("there is no such reduction of this type here");
    bool needs = which == 0 && (type == ReduceType::F16 || type == ReduceType::BF16);
    if (noftz != needs)
      d.refuse(needs ? "expected .noftz behind .add for f16 and bf16" : ".noftz does not go here");
  }
  d.end();
  size_t n = 3 + (op.way != Bulk::Way::Store) + op.multicast + op.masked + hint;
  d.needOperands(n, n);
  op.to = d.address(0);
  op.from = d.address(1);
  op.size = d.src(2, ptx::Type::B32);
  if (op.way != Bulk::Way::Store)
    op.barrier = d.address(3);
  if (op.multicast)
    op.mask = d.src(4, ptx::Type::B16);
  if (op.masked)
    op.mask = d.src(n - 1, ptx::Type::B16);
  return makeOp(op);
}

std::unique_ptr<Op> decodePrefetch(Decode &d) {
  d.need("L2");
  d.need("global");
  bool hint = d.take("L2::cache_hint");
  d.end();
  d.needOperands(hint ? 3 : 2, hint ? 3 : 2);
  AddressOperand from = d.address(0);
  Src size = d.src(1, ptx::Type::B32);
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      auto bytes = uint32_t(size.lane(x, lane));
      if (bytes % 16)
        fault(FaultKind::Alignment, "cp.async.bulk.prefetch of %u bytes; expected a multiple of 16",
              bytes);
      resolveGlobal(x.machine, from.lane(x, lane), bytes, 16, false, "cp.async.bulk.prefetch");
    }
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeCommit(Decode &d) {
  d.end();
  d.needOperands(0, 0);
  return makeOp([](Exec &x) {
    bulkGroups(x.warp).commit(x.mask);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeWait(Decode &d) {
  bool reads = d.take("read");
  d.end();
  d.needOperands(1, 1);
  uint64_t allowed = d.immediate(0);
  return makeOp([=](Exec &x) {
    AsyncGroups &groups = bulkGroups(x.warp);
    Checker &checker = *x.cluster.checker;
    ChannelKey channel = storeChannel(x.warp);
    AgentId engine = checker.channelAgent(uint32_t(channel.kind), channel.issuer, channel.tag,
                                          engineName(channel.kind));
    uint32_t before = x.clock().order[engine];
    if (groups.wait(x.mask, allowed, reads, x.clock())) {
      if (x.mask != x.warp.alive())
        checker.lanesLearned(x.warp.agent, x.mask, engine, before);
      return Step::Next;
    }
    x.wait(WaitKind::Group, allowed,
           format("bulk groups: %u are pending%s, %llu may be", groups.pending(x.mask, reads),
                  reads ? " in reading" : "", (unsigned long long)allowed));
    return Step::Blocked;
  });
}
} // namespace

void registerBulkCopies(DecoderTable &table) {
  table.add(
      "cp.async.bulk", decodeBulk,
      {{"cp.async.bulk.{shared::cta|shared::cluster}.global.mbarrier::complete_tx::bytes",
        "[%r1], [%rd1], %r2, [%r3]"},
       {"cp.async.bulk.{shared::cta|shared::cluster}.global.mbarrier::complete_tx::bytes.L2::"
        "cache_hint",
        "[%r1], [%rd1], %r2, [%r3], %rd2"},
       {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
        "[%r1], [%rd1], %r2, [%r3], %rs1"},
       {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
        "cache_hint",
        "[%r1], [%rd1], %r2, [%r3], %rs1, %rd2"},
       {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
        "[%r1], [%r2], %r3, [%r4]"},
       {"cp.async.bulk.global.shared::cta.bulk_group", "[%rd1], [%r1], %r2"},
       {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint", "[%rd1], [%r1], %r2, %rd2"},
       {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask", "[%rd1], [%r1], %r2, %rs1"},
       {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask",
        "[%rd1], [%r1], %r2, %rd2, %rs1"}});
  table.add(
      "cp.reduce.async.bulk", decodeBulk,
      {{"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.{u32|"
        "s32|u64}",
        "[%r1], [%r2], %r3, [%r4]"},
       {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{min|max}.{"
        "u32|s32}",
        "[%r1], [%r2], %r3, [%r4]"},
       {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{inc|dec}."
        "u32",
        "[%r1], [%r2], %r3, [%r4]"},
       {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{and|or|xor}"
        ".b32",
        "[%r1], [%r2], %r3, [%r4]"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.{u32|s32|u64|f32|f64}",
        "[%rd1], [%r1], %r2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.{f16|bf16}",
        "[%rd1], [%r1], %r2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.{min|max}.{u32|s32|u64|s64|f16|bf16}",
        "[%rd1], [%r1], %r2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.{inc|dec}.u32", "[%rd1], [%r1], %r2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.{and|or|xor}.{b32|b64}",
        "[%rd1], [%r1], %r2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.{u32|s32|u64|f32|"
        "f64}",
        "[%rd1], [%r1], %r2, %rd2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.{f16|bf16}",
        "[%rd1], [%r1], %r2, %rd2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.{min|max}.{u32|s32|u64|"
        "s64|f16|bf16}",
        "[%rd1], [%r1], %r2, %rd2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.{inc|dec}.u32",
        "[%rd1], [%r1], %r2, %rd2"},
       {"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.{and|or|xor}.{b32|b64}",
        "[%rd1], [%r1], %r2, %rd2"}});
  table.add("cp.async.bulk.prefetch", decodePrefetch,
            {{"cp.async.bulk.prefetch.L2.global", "[%rd1], %r1"},
             {"cp.async.bulk.prefetch.L2.global.L2::cache_hint", "[%rd1], %r1, %rd2"}});
  table.add("cp.async.bulk.commit_group", decodeCommit, {{"cp.async.bulk.commit_group", ""}});
  table.add("cp.async.bulk.wait_group", decodeWait, {{"cp.async.bulk.wait_group[.read]", "1"}});
}

} // namespace ts::emu
