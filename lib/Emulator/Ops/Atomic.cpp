// atom and red: read-modify-writes of global and shared memory. Source: PTX ISA, "Parallel
// Synchronization and Communication Instructions". SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "AtomicUpdate.h"
#include "MemoryModifiers.h"

namespace ts::emu {
namespace {

struct Atomic {
  AtomicKind kind;
  ptx::Type type;
  Space space;
  unsigned bytes; // of an element
  bool acquire, release;
  AddressOperand address;
  std::vector<Src> b, c;
  std::vector<Dst> result; // empty for red

  static Wide value(const Src &src, const uint64_t *lanes, unsigned lane, unsigned bytes) {
    if (bytes < 16)
      return {lanes[lane] & (bytes >= 8 ? ~uint64_t(0) : (uint64_t(1) << bytes * 8) - 1), 0};
    return {lanes[lane], src.kind == Src::Kind::Reg ? lanes[lane + warpSize] : 0};
  }

  Step operator()(Exec &x) const {
    uint64_t scratch[warpSize], scratches[8][warpSize], scratchC[warpSize];
    const uint64_t *base = address.base.lanes(x, scratch);
    const uint64_t *values[8] = {};
    for (size_t i = 0; i < b.size(); ++i)
      values[i] = b[i].lanes(x, scratches[i]);
    const uint64_t *swap = c.empty() ? nullptr : c[0].lanes(x, scratchC);
    for (const Dst &dst : result)
      if (!dst.sink && x.split.frame->numInFlight)
        dst.checkInFlight(x);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      uint64_t at = base[lane] + uint64_t(address.offset);
      bool shared =
          space == Space::SharedCta || space == Space::SharedCluster || inWindow(at, sharedWindow);
      // All operands are read before a result is written: they may be the same register.
      Wide operands[8], swapped, old[8];
      for (size_t i = 0; i < b.size(); ++i)
        operands[i] = value(b[i], values[i], lane, bytes);
      if (swap)
        swapped = value(c[0], swap, lane, bytes);
      auto update = [&](void *memory) {
        for (size_t i = 0; i < b.size(); ++i) {
          auto *element = static_cast<uint8_t *>(memory) + i * bytes;
          memcpy(&old[i], element, bytes);
          Wide fresh = atomicUpdate(kind, type, old[i], operands[i], swapped, !shared);
          memcpy(element, &fresh, bytes);
        }
      };
      atomic(x, lane, space, at, bytes * unsigned(b.size()), update, acquire, release);
      for (size_t i = 0; i < result.size(); ++i) {
        if (result[i].sink)
          continue;
        x.reg(result[i].reg)[lane] = old[i].low;
        if (bytes == 16)
          x.reg(result[i].reg + 1)[lane] = old[i].high;
      }
    }
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeAtomic(Decode &d) {
  bool returns = d.inst.parts[0] == "atom";
  MemoryModifiers m;
  m.take(d, atomicNames);
  if (m.operation < 0)
    d.refuse("expected an operation (.add, .cas, ...)");
  Atomic op{};
  op.kind = AtomicKind(m.operation);
  op.type = m.type;
  bool vector = m.vector > 1;
  if (!atomicExists(op.kind, op.type, vector) || (!returns && op.kind >= AtomicKind::Exch))
    d.refuse("the operation does not exist%s for type .%s", vector ? " on vectors" : "",
             ptx::typeName(op.type));
  bool half = ptx::isFloat(op.type) && op.type != ptx::Type::F32 && op.type != ptx::Type::F64;
  if (half != m.noftz)
    d.refuse(half ? "expected .noftz with this type" : ".noftz does not go with this type");
  if (m.isVolatile || m.isMmio || (m.hasOrder && m.order == Order::Weak) ||
      (!returns && (m.order == Order::Acquire || m.order == Order::AcquireRelease)))
    d.refuse("this memory order does not go with the instruction");
  if (m.isParam || (m.hasSpace && m.space != Space::Global && m.space != Space::SharedCta &&
                    m.space != Space::SharedCluster))
    d.refuse("expected .global, .shared or no state space");
  op.space = m.space;
  op.bytes = ptx::typeBits(op.type) / 8;
  if (op.bytes * m.vector > 16)
    d.refuse("a vector of %u bytes; expected at most 16", op.bytes * m.vector);
  op.acquire = m.order == Order::Acquire || m.order == Order::AcquireRelease;
  op.release = m.order == Order::Release || m.order == Order::AcquireRelease;
  size_t next = 0;
  if (returns)
    op.result = d.destinations(d.operand(next++));
  op.address = d.address(next++);
  op.b = d.sources(d.operand(next++), op.type);
  if (op.kind == AtomicKind::Cas)
    op.c = d.sources(d.operand(next++), op.type);
  if (m.policy)
    d.src(next++, ptx::Type::B64);
  d.needOperands(next, next);
  if (op.b.size() != m.vector || (returns && op.result.size() != m.vector))
    d.refuse("expected %u elements, found %zu", m.vector, op.b.size());
  for (const Dst &dst : op.result)
    if (!dst.sink && ptx::typeBits(dst.type) < op.bytes * 8)
      d.refuse("a register of type .%s does not hold the old value", ptx::typeName(dst.type));
  return makeOp(std::move(op));
}

std::unique_ptr<Op> refuseMultimem(Decode &d) {
  d.refuse("multimem addresses (memory of several devices) are not executed");
}
} // namespace

#define SEM "[.relaxed|.acquire|.release|.acq_rel][.cta|.cluster|.gpu|.sys]"
#define RED_SEM "[.relaxed|.release][.cta|.cluster|.gpu|.sys]"
#define MEMORY "[.global|.shared|.shared::cta|.shared::cluster]"
static constexpr const char *multimem = "memory of several devices is not executed";

void registerAtomics(DecoderTable &table) {
  table.add(
      "atom", decodeAtomic,
      {{"atom" SEM MEMORY ".add.{u32|s32}", "%r1, [%rd1], %r2"},
       {"atom" SEM MEMORY ".add.u64", "%rd2, [%rd1], %rd3"},
       {"atom" SEM MEMORY ".add.f32", "%f1, [%rd1], %f2"},
       {"atom" SEM MEMORY ".add.f64", "%fd1, [%rd1], %fd2"},
       {"atom" SEM MEMORY ".add.noftz.{f16|bf16}", "%rs1, [%rd1], %rs2"},
       {"atom" SEM MEMORY ".add.noftz.{f16x2|bf16x2}", "%r1, [%rd1], %r2"},
       {"atom" SEM MEMORY ".{min|max}.{u32|s32}", "%r1, [%rd1], %r2"},
       {"atom" SEM MEMORY ".{min|max}.{u64|s64}", "%rd2, [%rd1], %rd3"},
       {"atom" SEM MEMORY ".{and|or|xor|exch}.b32", "%r1, [%rd1], %r2"},
       {"atom" SEM MEMORY ".{and|or|xor|exch}.b64", "%rd2, [%rd1], %rd3"},
       {"atom" SEM MEMORY ".{inc|dec}.u32", "%r1, [%rd1], %r2"},
       {"atom" SEM MEMORY ".exch.b128", "%rq1, [%rd1], %rq2"},
       {"atom" SEM MEMORY ".cas.b16", "%rs1, [%rd1], %rs2, %rs3"},
       {"atom" SEM MEMORY ".cas.b32", "%r1, [%rd1], %r2, %r3"},
       {"atom" SEM MEMORY ".cas.b64", "%rd2, [%rd1], %rd3, %rd4"},
       {"atom" SEM MEMORY ".cas.b128", "%rq1, [%rd1], %rq2, %rq3"},
       {"atom.global.add.L2::cache_hint.u32", "%r1, [%rd1], %r2, %rd2"},
       {"atom" SEM "[.global].add.v2.f32", "{%f1, %f2}, [%rd1], {%f3, %f4}"},
       {"atom" SEM "[.global].add.v4.f32", "{%f1, %f2, %f3, %f4}, [%rd1], {%f5, %f6, %f7, %f8}"},
       {"atom[.global].{add|min|max}.noftz.v2.{f16|bf16}", "{%rs1, %rs2}, [%rd1], {%rs3, %rs4}"},
       {"atom[.global].{add|min|max}.noftz.v4.{f16|bf16}",
        "{%rs1, %rs2, %rs3, %rs4}, [%rd1], {%rs1, %rs2, %rs3, %rs4}"},
       {"atom[.global].{add|min|max}.noftz.v8.{f16|bf16}",
        "{%rs1, %rs2, %rs3, %rs4, %rs5, %rs6, %rs7, %rs8}, [%rd1], {%rs1, %rs2, %rs3, %rs4, "
        "%rs5, %rs6, %rs7, %rs8}"},
       {"atom[.global].{add|min|max}.noftz.v2.{f16x2|bf16x2}", "{%r1, %r2}, [%rd1], {%r3, %r4}"},
       {"atom[.global].{add|min|max}.noftz.v4.{f16x2|bf16x2}",
        "{%r1, %r2, %r3, %r4}, [%rd1], {%r5, %r6, %r7, %r8}"}});
  table.add(
      "red", decodeAtomic,
      {{"red" RED_SEM MEMORY ".add.{u32|s32}", "[%rd1], %r2"},
       {"red" RED_SEM MEMORY ".add.u64", "[%rd1], %rd3"},
       {"red" RED_SEM MEMORY ".add.f32", "[%rd1], %f2"},
       {"red" RED_SEM MEMORY ".add.f64", "[%rd1], %fd2"},
       {"red" RED_SEM MEMORY ".add.noftz.{f16|bf16}", "[%rd1], %rs2"},
       {"red" RED_SEM MEMORY ".add.noftz.{f16x2|bf16x2}", "[%rd1], %r2"},
       {"red" RED_SEM MEMORY ".{min|max}.{u32|s32}", "[%rd1], %r2"},
       {"red" RED_SEM MEMORY ".{min|max}.{u64|s64}", "[%rd1], %rd3"},
       {"red" RED_SEM MEMORY ".{and|or|xor}.b32", "[%rd1], %r2"},
       {"red" RED_SEM MEMORY ".{and|or|xor}.b64", "[%rd1], %rd3"},
       {"red" RED_SEM MEMORY ".{inc|dec}.u32", "[%rd1], %r2"},
       {"red.global.add.L2::cache_hint.f32", "[%rd1], %f2, %rd2"},
       {"red" RED_SEM "[.global].add.v2.f32", "[%rd1], {%f3, %f4}"},
       {"red" RED_SEM "[.global].add.v4.f32", "[%rd1], {%f5, %f6, %f7, %f8}"},
       {"red[.global].{add|min|max}.noftz.v2.{f16|bf16}", "[%rd1], {%rs3, %rs4}"},
       {"red[.global].{add|min|max}.noftz.v4.{f16|bf16}", "[%rd1], {%rs1, %rs2, %rs3, %rs4}"},
       {"red[.global].{add|min|max}.noftz.v8.{f16|bf16}",
        "[%rd1], {%rs1, %rs2, %rs3, %rs4, %rs5, %rs6, %rs7, %rs8}"},
       {"red[.global].{add|min|max}.noftz.v2.{f16x2|bf16x2}", "[%rd1], {%r3, %r4}"},
       {"red[.global].{add|min|max}.noftz.v4.{f16x2|bf16x2}", "[%rd1], {%r5, %r6, %r7, %r8}"}});
  table.add(
      "multimem", refuseMultimem,
      {{"multimem.ld_reduce[.weak][.global].add.f32", "%f1, [%rd1]", multimem},
       {"multimem.ld_reduce.{relaxed|acquire}.gpu[.global].{add|min|max}.u32", "%r1, [%rd1]",
        multimem},
       {"multimem.st[.weak][.global].u32", "[%rd1], %r1", multimem},
       {"multimem.red.{relaxed|release}.gpu[.global].{add|min|max}.u32", "[%rd1], %r1", multimem}});
}

} // namespace ts::emu
