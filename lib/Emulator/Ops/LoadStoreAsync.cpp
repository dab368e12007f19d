// st.async, red.async and st.bulk: stores to a peer's shared memory whose completion an mbarrier
// counts, and bulk initialisation. The global forms are release stores without a completion
// mechanism and are performed at once. Source: PTX ISA, st.async, red.async, st.bulk.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../Core/Barriers.h"
#include "../Core/Engine.h"
#include "AtomicUpdate.h"
#include "MemoryModifiers.h"

namespace ts::emu {
namespace {

/// One lane's store on its way.
class RemoteStore final : public AsyncOp {
public:
  SharedPlace to;
  uint32_t barrier = 0;
  unsigned bytes = 0;
  uint32_t site = 0;
  uint8_t data[16] = {};
  AtomicKind kind = AtomicKind::Exch;
  ptx::Type type = ptx::Type::None; // None: a store

  void perform(unsigned) override {
    uint8_t *memory = to.cta->shared.data() + to.offset;
    if (type == ptx::Type::None) {
      memcpy(memory, data, bytes);
      return;
    }
    Wide old, b;
    memcpy(&old, memory, bytes);
    memcpy(&b, data, bytes);
    Wide fresh = atomicUpdate(kind, type, old, b, {}, false);
    memcpy(memory, &fresh, bytes);
  }
  void finish() override { mbarrierCompleteTx(*to.cta, barrier, bytes, event, site); }
};

struct AsyncStore {
  const char *what; // "st.async"
  Space space;
  bool reduces;
  AtomicKind kind;
  ptx::Type type;
  unsigned bytes; // of an element
  AddressOperand address, barrier;
  std::vector<Src> values;

  Step operator()(Exec &x) const {
    uint64_t scratches[4][warpSize];
    const uint64_t *from[4] = {};
    for (size_t i = 0; i < values.size(); ++i)
      from[i] = values[i].lanes(x, scratches[i]);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        issue(x, lane, from);
    return Step::Next;
  }

  void issue(Exec &x, unsigned lane, const uint64_t *const *from) const {
    unsigned size = bytes * unsigned(values.size());
    auto op = std::make_unique<RemoteStore>();
    op->to = resolveShared(x, space, address.lane(x, lane), size, size, what);
    SharedPlace mbar = resolveShared(x, space, barrier.lane(x, lane), 8, 8, what);
    if (mbar.cta != op->to.cta)
      fault(FaultKind::BarrierState,
            "%s: the data goes to CTA %u, the mbarrier is in CTA %u; expected both in one CTA",
            what, op->to.cta->rank, mbar.cta->rank);
    mbarrierAt(*mbar.cta, mbar.offset, what); // faults now rather than when it completes
    op->barrier = mbar.offset;
    op->bytes = size;
    op->site = x.siteId();
    for (size_t i = 0; i < values.size(); ++i)
      memcpy(op->data + i * bytes, &from[i][lane], bytes);
    op->kind = kind;
    op->type = reduces ? type : ptx::Type::None;
    ChannelKey key{EngineKind::AsyncStore, x.warp.agent,
                   sharedAddress(mbar.cta->rank, mbar.offset)};
    Checker &checker = *x.cluster.checker;
    AgentId agent =
        checker.channelAgent(uint32_t(key.kind), key.issuer, key.tag, engineName(key.kind));
    op->event = checker.newEvent(agent);
    // These stores are made in the generic proxy.
    Access access{reduces ? AccessKind::Atomic : AccessKind::Write, Proxy::Generic, op->event,
                  &x.clock(), op->site};
    checker.shared(access, {op->to.cta->rank, op->to.offset, size});
    op->code = &x.code;
    op->warp = &x.warp;
    op->lane = lane;
    x.cluster.engines->issue(key, false, std::move(op));
    x.cluster.changed();
  }
};

/// The .global forms: release stores and reductions, done when they are issued.
struct GlobalStore {
  bool reduces;
  AtomicKind kind;
  ptx::Type type;
  unsigned bytes;
  AddressOperand address;
  std::vector<Src> values;

  Step operator()(Exec &x) const {
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      uint8_t buffer[32];
      for (size_t i = 0; i < values.size(); ++i) {
        uint64_t value = values[i].lane(x, lane);
        memcpy(buffer + i * bytes, &value, bytes);
      }
      uint64_t at = address.lane(x, lane);
      if (!reduces) {
        store(x, lane, Space::Global, at, bytes * unsigned(values.size()), buffer, Order::Release);
        continue;
      }
      atomic(
          x, lane, Space::Global, at, bytes,
          [&](void *memory) {
            Wide old, b;
            memcpy(&old, memory, bytes);
            memcpy(&b, buffer, bytes);
            Wide fresh = atomicUpdate(kind, type, old, b, {}, true);
            memcpy(memory, &fresh, bytes);
          },
          false, true);
    }
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeAsync(Decode &d) {
  bool reduces = d.inst.parts[0] == "red";
  bool barrier = false;
  // .mbarrier::complete_tx::bytes may stand among the others: read the rest around it.
  ptx::Instruction inst = d.inst;
  std::erase_if(inst.parts, [&](const std::string &part) {
    bool is = part == "mbarrier::complete_tx::bytes";
    barrier |= is;
    return is;
  });
  Decode rest(d.program, d.code, inst);
  rest.skipTo(2);
  MemoryModifiers m;
  m.take(rest, reduces ? atomicNames : std::initializer_list<std::string_view>{});
  if (reduces && (m.operation < 0 || AtomicKind(m.operation) >= AtomicKind::Exch))
    d.refuse("expected an operation (.add, .min, ...)");
  auto kind = reduces ? AtomicKind(m.operation) : AtomicKind::Exch;
  // add.s64 exists here, and is add.u64.
  ptx::Type type =
      reduces && kind == AtomicKind::Add && m.type == ptx::Type::S64 ? ptx::Type::U64 : m.type;
  if (reduces && (!atomicExists(kind, type, false) || ptx::isFloat(type)))
    d.refuse("the operation does not exist for type .%s", ptx::typeName(m.type));
  unsigned bytes = ptx::typeBits(m.type) / 8;
  unsigned most = m.space == Space::Global ? 32 : 16;
  if (!bytes || bytes > 8 || bytes * m.vector > most || m.vector > 4 || (reduces && m.vector > 1))
    d.refuse("type and vector do not go together");
  d.needOperands(barrier ? 3 : 2, barrier ? 3 : 2);
  AddressOperand address = d.address(0);
  std::vector<Src> values = d.sources(d.operand(1), m.type);
  if (values.size() != m.vector)
    d.refuse("expected %u values, found %zu", m.vector, values.size());
  if (!barrier) {
    if (m.order != Order::Release || !m.hasScope || (m.hasSpace && m.space != Space::Global))
      d.refuse("expected .release, a scope and .global without a completion mechanism");
    return makeOp(GlobalStore{reduces, kind, type, bytes, address, std::move(values)});
  }
  if (m.order != (reduces ? Order::Relaxed : Order::Weak) || bytes < 4 ||
      (m.hasSpace && m.space != Space::SharedCluster))
    d.refuse("expected %s and .shared::cluster with .mbarrier::complete_tx::bytes",
             reduces ? ".relaxed.cluster" : ".weak");
  return makeOp(AsyncStore{reduces ? "red.async" : "st.async", Space::SharedCluster, reduces, kind,
                           type, bytes, address, d.address(2), std::move(values)});
}

std::unique_ptr<Op> decodeBulk(Decode &d) {
  d.take("weak");
  Space space = takeSharedCta(d);
  d.end();
  d.needOperands(3, 3);
  AddressOperand address = d.address(0);
  Src size = d.src(1, ptx::Type::B64);
  if (d.immediate(2) != 0)
    d.refuse("expected 0 as the initial value");
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      uint64_t bytes = size.lane(x, lane), at = address.lane(x, lane);
      if (bytes % 8 || at % 8)
        fault(FaultKind::Alignment,
              "st.bulk of %llu bytes at 0x%llx; expected multiples of 8 for both",
              (unsigned long long)bytes, (unsigned long long)at);
      const uint8_t zero[8] = {};
      for (uint64_t i = 0; i < bytes; i += 8)
        store(x, lane, space, at + i, 8, zero, Order::Weak);
    }
    return Step::Next;
  });
}
} // namespace

void registerAsyncStores(DecoderTable &table) {
#define TX "[.shared::cluster].mbarrier::complete_tx::bytes"
  table.add("st.async", decodeAsync,
            {{"st.async[.weak]" TX ".{b32|u32|s32}", "[%r1], %r2, [%r3]"},
             {"st.async[.weak]" TX ".{b64|u64|s64}", "[%r1], %rd2, [%r3]"},
             {"st.async[.weak]" TX ".f32", "[%r1], %f1, [%r3]"},
             {"st.async[.weak]" TX ".f64", "[%r1], %fd1, [%r3]"},
             {"st.async[.weak]" TX ".v2.{b32|u32|s32}", "[%r1], {%r2, %r4}, [%r3]"},
             {"st.async[.weak]" TX ".v2.{b64|u64|s64}", "[%r1], {%rd2, %rd3}, [%r3]"},
             {"st.async[.weak]" TX ".v4.{b32|u32|s32}", "[%r1], {%r2, %r4, %r5, %r6}, [%r3]"},
             {"st.async[.weak]" TX ".v2.f32", "[%r1], {%f1, %f2}, [%r3]"},
             {"st.async[.weak]" TX ".v2.f64", "[%r1], {%fd1, %fd2}, [%r3]"},
             {"st.async[.weak]" TX ".v4.f32", "[%r1], {%f1, %f2, %f3, %f4}, [%r3]"},
             {"st.async.release.{gpu|sys}[.global].{b16|u16|s16}", "[%rd1], %rs1"},
             {"st.async.release.{gpu|sys}[.global].{b32|u32|s32}", "[%rd1], %r1"},
             {"st.async.release.{gpu|sys}[.global].{b64|u64|s64}", "[%rd1], %rd2"},
             {"st.async.release.{gpu|sys}[.global].f32", "[%rd1], %f1"},
             {"st.async.release.{gpu|sys}[.global].f64", "[%rd1], %fd1"},
             {"st.async.mmio.release.sys[.global].b32", "[%rd1], %r1"}});
  table.add("red.async", decodeAsync,
            {{"red.async.relaxed.cluster" TX ".{inc|dec}.u32", "[%r1], %r2, [%r3]"},
             {"red.async.relaxed.cluster" TX ".{add|min|max}.{u32|s32}", "[%r1], %r2, [%r3]"},
             {"red.async.relaxed.cluster" TX ".add.{u64|s64}", "[%r1], %rd2, [%r3]"},
             {"red.async.relaxed.cluster" TX ".{and|or|xor}.b32", "[%r1], %r2, [%r3]"},
             {"red.async.release.{gpu|sys}[.global].{add|min|max}.{u32|s32}", "[%rd1], %r1"},
             {"red.async.release.{gpu|sys}[.global].{and|or|xor}.b32", "[%rd1], %r1"},
             {"red.async.release.{gpu|sys}[.global].{inc|dec}.u32", "[%rd1], %r1"},
             {"red.async.release.{gpu|sys}[.global].add.{u64|s64}", "[%rd1], %rd2"},
             {"red.async.mmio.release.sys[.global].add.u32", "[%rd1], %r1"}});
  table.add("st.bulk", decodeBulk, {{"st.bulk[.weak][.shared::cta]", "[%r1], %rd2, 0"}});
}

} // namespace ts::emu
