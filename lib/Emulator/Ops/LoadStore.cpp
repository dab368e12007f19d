// ld, ldu and st in every state space. Source: PTX ISA, "Data Movement and Conversion
// Instructions". SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MemoryModifiers.h"

namespace ts::emu {
namespace {

/// A loaded element as the destination register holds it: signed ones are extended to its width.
uint64_t widen(uint64_t value, unsigned bytes, bool isSigned, ptx::Type to) {
  if (!isSigned || bytes == 8)
    return value;
  unsigned shift = 64 - 8 * bytes;
  value = uint64_t(int64_t(value << shift) >> shift);
  unsigned width = ptx::typeBits(to);
  return width >= 64 ? value : value & ((uint64_t(1) << width) - 1);
}

struct Shape {
  Space space = Space::Generic;
  Order order = Order::Weak;
  unsigned elementBytes = 0, elements = 1;
  bool isSigned = false;
  AddressOperand address;
};

/// An allocation of global memory, looked up once for all lanes of a plain access.
class GlobalSpan {
public:
  /// The bytes if a plain access there needs nothing but a copy; null: take the long way.
  uint8_t *find(const Exec &x, const Shape &shape, uint64_t address, unsigned bytes) {
    if (shape.order != Order::Weak || address % std::bit_floor(bytes) || address < globalBase ||
        shape.space > Space::Global || x.machine.ordersGrids())
      return nullptr;
    if (!tried) {
      tried = true;
      block = x.machine.global->around(address);
    }
    uint64_t offset = address - block.address;
    return offset < block.size && bytes <= block.size - offset ? block.bytes + offset : nullptr;
  }

private:
  bool tried = false;
  GlobalMemory::Span block;
};

struct Load {
  Shape shape;
  std::vector<Dst> to;

  void mark(Exec &x, unsigned lane, const UndefinedRead &read) const {
    Exec one = x;
    one.mask = 1u << lane;
    uint32_t origin = undefinedOrigin(x, read);
    for (size_t i = 0; i < to.size(); ++i) {
      uint32_t own = ((1u << shape.elementBytes) - 1) << i * shape.elementBytes;
      if (to[i].sink || !(read.bytes & own))
        continue;
      setUndefined(one, to[i].reg, one.mask, origin);
      if (shape.elementBytes == 16)
        setUndefined(one, to[i].reg + 1, one.mask, origin);
    }
  }

  Step operator()(Exec &x) const {
    uint64_t scratch[warpSize];
    const uint64_t *base = shape.address.base.lanes(x, scratch);
    for (const Dst &dst : to)
      if (!dst.sink && x.split.frame->numInFlight)
        dst.checkInFlight(x);
    unsigned bytes = shape.elementBytes, all = bytes * shape.elements;
    GlobalSpan span;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      alignas(16) uint8_t buffer[32];
      uint64_t address = base[lane] + uint64_t(shape.address.offset);
      UndefinedRead undefined;
      if (const uint8_t *plain = span.find(x, shape, address, all))
        memcpy(buffer, plain, all);
      else
        load(x, lane, shape.space, address, all, buffer, shape.order, &undefined);
      for (size_t i = 0; i < to.size(); ++i) {
        if (to[i].sink)
          continue;
        uint64_t value[2] = {0, 0};
        memcpy(value, buffer + i * bytes, bytes);
        if (bytes == 16) {
          x.reg(to[i].reg)[lane] = value[0];
          x.reg(to[i].reg + 1)[lane] = value[1];
        } else {
          x.reg(to[i].reg)[lane] = widen(value[0], bytes, shape.isSigned, to[i].type);
        }
      }
      if (undefined.bytes) [[unlikely]]
        mark(x, lane, undefined);
    }
    return Step::Next;
  }
};

struct Store {
  Shape shape;
  std::vector<Src> from;
  std::vector<bool> written; // `_` leaves an element as it is
  bool holes = false;

  void mark(Exec &x, unsigned lane, uint64_t address) const {
    for (size_t i = 0; i < from.size(); ++i)
      if (written[i] && from[i].kind == Src::Kind::Reg &&
          (undefinedLanes(x, from[i].reg) >> lane & 1))
        storedUndefined(x, lane, shape.space, address + i * shape.elementBytes, shape.elementBytes,
                        from[i].reg);
  }

  Step operator()(Exec &x) const {
    uint64_t scratch[warpSize], scratches[8][warpSize];
    const uint64_t *base = shape.address.base.lanes(x, scratch);
    const uint64_t *values[8] = {};
    for (size_t i = 0; i < from.size(); ++i)
      values[i] = from[i].lanes(x, scratches[i]);
    unsigned bytes = shape.elementBytes, all = bytes * shape.elements;
    GlobalSpan span;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      alignas(16) uint8_t buffer[32];
      for (size_t i = 0; i < from.size(); ++i) {
        uint64_t value[2] = {values[i][lane], 0};
        if (bytes == 16 && from[i].kind == Src::Kind::Reg)
          value[1] = values[i][lane + warpSize]; // the second slot lies behind the first
        memcpy(buffer + i * bytes, value, bytes);
      }
      uint64_t address = base[lane] + uint64_t(shape.address.offset);
      if (holes) {
        for (size_t i = 0; i < from.size(); ++i)
          if (written[i])
            store(x, lane, shape.space, address + i * bytes, bytes, buffer + i * bytes,
                  shape.order);
      } else if (uint8_t *plain = span.find(x, shape, address, all)) {
        if (memcmp(plain, buffer, all) != 0)
          x.cluster.lastChange = x.cluster.steps;
        memcpy(plain, buffer, all);
      } else {
        store(x, lane, shape.space, address, all, buffer, shape.order);
      }
      if (x.split.frame->undefined.count) [[unlikely]]
        mark(x, lane, address);
    }
    return Step::Next;
  }
};

Shape takeShape(Decode &d, bool isLoad, size_t addressAt, MemoryModifiers &m) {
  m.take(d);
  Shape shape;
  shape.order = m.order;
  shape.space = m.space;
  shape.elements = m.vector;
  if (m.order == (isLoad ? Order::Release : Order::Acquire) || m.order == Order::AcquireRelease)
    d.refuse("this memory order does not go with a %s", isLoad ? "load" : "store");
  if (m.order != Order::Weak && !m.isVolatile && !m.hasScope)
    d.refuse("expected a scope (.cta, .cluster, .gpu or .sys) with the memory order");
  unsigned bits = ptx::typeBits(m.type);
  if (bits < 8 || m.noftz)
    d.refuse("type .%s cannot be loaded or stored like this", ptx::typeName(m.type));
  shape.elementBytes = bits / 8;
  shape.isSigned = ptx::isSigned(m.type);
  if (shape.elementBytes * shape.elements > 32)
    d.refuse("a vector of %u bytes; expected at most 32", shape.elementBytes * shape.elements);
  shape.address = d.address(addressAt);
  if (m.isParam)
    shape.space = d.paramSpace(d.operand(addressAt));
  if (!isLoad && shape.space == Space::Const)
    d.refuse("constant memory is read-only");
  d.needOperands(m.policy ? 3 : 2, m.policy ? 3 : 2);
  if (m.policy)
    d.src(2, ptx::Type::B64);
  return shape;
}

void checkWidth(Decode &d, const Dst &dst, const Shape &shape) {
  if (!dst.sink && (ptx::typeBits(dst.type) < shape.elementBytes * 8 ||
                    (shape.elementBytes == 16) != (dst.type == ptx::Type::B128)))
    d.refuse("a register of type .%s does not hold %u bytes", ptx::typeName(dst.type),
             shape.elementBytes);
}

std::unique_ptr<Op> decodeLoad(Decode &d) {
  Load op;
  MemoryModifiers m;
  op.shape = takeShape(d, true, 1, m);
  op.to = d.destinations(d.operand(0));
  if (op.to.size() != op.shape.elements)
    d.refuse("expected %u destination registers, found %zu", op.shape.elements, op.to.size());
  for (const Dst &dst : op.to)
    checkWidth(d, dst, op.shape);
  return makeOp(std::move(op));
}

std::unique_ptr<Op> decodeStore(Decode &d) {
  Store op;
  MemoryModifiers m;
  op.shape = takeShape(d, false, 0, m);
  const ptx::Operand &values = d.operand(1);
  bool vector = values.kind == ptx::Operand::Kind::Vector;
  for (size_t i = 0; i < (vector ? values.items.size() : 1); ++i) {
    const ptx::Operand &item = vector ? values.items[i] : values;
    bool hole = vector && item.kind == ptx::Operand::Kind::Sink;
    op.from.push_back(hole ? Src() : d.src(item, m.type));
    op.written.push_back(!hole);
    op.holes |= hole;
  }
  if (op.from.size() != op.shape.elements)
    d.refuse("expected %u values, found %zu", op.shape.elements, op.from.size());
  return makeOp(std::move(op));
}
} // namespace

#define EVICT                                                                                      \
  ".L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate"
#define SCOPES "{cta|cluster|gpu|sys}"

void registerMemory(DecoderTable &table) {
  table.add(
      "ld", decodeLoad,
      {{"ld[.weak][.global]{.b8|.u8|.s8}", "%rs1, [%rd1]"},
       {"ld[.weak][.global]{.b16|.u16|.s16}", "%rs1, [%rd1]"},
       {"ld[.weak][.global]{.b32|.u32|.s32}", "%r1, [%rd1]"},
       {"ld[.weak][.global]{.b64|.u64|.s64}", "%rd2, [%rd1]"},
       {"ld[.weak][.global].f32", "%f1, [%rd1]"},
       {"ld[.weak][.global].f64", "%fd1, [%rd1]"},
       {"ld[.weak][.global].b128", "%rq1, [%rd1]"},
       {"ld[.weak][.global].v2{.b8|.b16|.u8|.u16|.s8|.s16}", "{%rs1, %rs2}, [%rd1]"},
       {"ld[.weak][.global].v2{.b32|.u32|.s32}", "{%r1, %r2}, [%rd1]"},
       {"ld[.weak][.global].v2{.b64|.u64|.s64}", "{%rd2, %rd3}, [%rd1]"},
       {"ld[.weak][.global].v2.f32", "{%f1, %f2}, [%rd1]"},
       {"ld[.weak][.global].v2.f64", "{%fd1, %fd2}, [%rd1]"},
       {"ld[.weak][.global].v4{.b8|.b16|.u8|.u16|.s8|.s16}", "{%rs1, %rs2, %rs3, %rs4}, [%rd1]"},
       {"ld[.weak][.global].v4{.b32|.u32|.s32}", "{%r1, %r2, %r3, %r4}, [%rd1]"},
       {"ld[.weak][.global].v4.f32", "{%f1, %f2, %f3, %f4}, [%rd1]"},
       {"ld[.global].v4{.b64|.u64|.s64}", "{%rd2, %rd3, %rd4, %rd5}, [%rd1]"},
       {"ld[.global].v4.f64", "{%fd1, %fd2, %fd3, %fd4}, [%rd1]"},
       {"ld[.global].v8{.b32|.u32|.s32}", "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1]"},
       {"ld[.global].v8.f32", "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, _}, [%rd1]"},
       {"ld.global[.L1::evict_first|.L1::evict_last]{.L2::evict_normal|.L2::evict_first|.L2::"
        "evict_last}.v8.b32",
        "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}{.b8|.u8|.s8|.b16|.u16|.s16}", "%rs1, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}{.b32|.u32|.s32}", "%r2, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}{.b64|.u64|.s64}", "%rd2, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}.f32", "%f1, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}.f64", "%fd1, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}.b128", "%rq1, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}.v2.b32", "{%r2, %r3}, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}.v2.b64", "{%rd2, %rd3}, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}.v4.b32", "{%r2, %r3, %r4, %r5}, [%r1]"},
       {"ld{.shared|.shared::cta|.shared::cluster}.v4.f32", "{%f1, %f2, %f3, %f4}, [%r1]"},
       {"ld{.local|.const}{.b8|.u8|.s8|.b16|.u16|.s16}", "%rs1, [%rd1]"},
       {"ld{.local|.const}{.b32|.u32|.s32}", "%r1, [%rd1]"},
       {"ld{.local|.const}{.b64|.u64|.s64}", "%rd2, [%rd1]"},
       {"ld{.local|.const}.f32", "%f1, [%rd1]"},
       {"ld{.local|.const}.f64", "%fd1, [%rd1]"},
       {"ld{.local|.const}.v4.f32", "{%f1, %f2, %f3, %f4}, [%rd1]"},
       {"ld{.param|.param::entry}{.b8|.u8|.s8|.b16|.u16|.s16}", "%rs1, [out]"},
       {"ld{.param|.param::entry}{.b32|.u32|.s32}", "%r1, [out]"},
       {"ld{.param|.param::entry}{.b64|.u64|.s64}", "%rd1, [out]"},
       {"ld{.param|.param::entry}.f32", "%f1, [out]"},
       {"ld{.param|.param::entry}.f64", "%fd1, [out]"},
       {"ld[.global]{.ca|.cg|.cs|.lu|.cv}[.L2::64B|.L2::128B|.L2::256B].b32", "%r1, [%rd1]"},
       {"ld[.global]{.ca|.cg|.cs}.L2::cache_hint.b32", "%r1, [%rd1], %rd2"},
       {"ld[.global]{" EVICT "}[.L2::64B|.L2::128B|.L2::256B].b32", "%r1, [%rd1]"},
       {"ld[.global][" EVICT "].L2::cache_hint[.L2::64B|.L2::128B|.L2::256B].b32",
        "%r1, [%rd1], %rd2"},
       {"ld.global[.ca|.cg|.cs].nc.b32", "%r1, [%rd1]"},
       {"ld.global.nc{" EVICT "}[.L2::64B|.L2::128B|.L2::256B].v4.f32",
        "{%f1, %f2, %f3, %f4}, [%rd1]"},
       {"ld.global.nc.v8.b32", "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1]"},
       {"ld.volatile[.global].b32", "%r1, [%rd1]"},
       {"ld.volatile{.shared|.shared::cta|.shared::cluster}.b32", "%r2, [%r1]"},
       {"ld.volatile[.global].v4.b32", "{%r1, %r2, %r3, %r4}, [%rd1]"},
       {"ld{.relaxed|.acquire}." SCOPES "[.global].b32", "%r1, [%rd1]"},
       {"ld{.relaxed|.acquire}." SCOPES "[.global].b64", "%rd2, [%rd1]"},
       {"ld{.relaxed|.acquire}." SCOPES "[.global].b128", "%rq1, [%rd1]"},
       {"ld{.relaxed|.acquire}." SCOPES "{.shared::cta|.shared::cluster}.b32", "%r2, [%r1]"},
       {"ld.mmio.relaxed.sys[.global].b32", "%r1, [%rd1]"}});
  table.add("ldu", decodeLoad,
            {{"ldu[.global]{.b8|.u8|.s8|.b16|.u16|.s16}", "%rs1, [%rd1]"},
             {"ldu[.global]{.b32|.u32|.s32}", "%r1, [%rd1]"},
             {"ldu[.global]{.b64|.u64|.s64}", "%rd2, [%rd1]"},
             {"ldu[.global].f32", "%f1, [%rd1]"},
             {"ldu[.global].f64", "%fd1, [%rd1]"},
             {"ldu[.global].v2.f32", "{%f1, %f2}, [%rd1]"},
             {"ldu[.global].v4.f32", "{%f1, %f2, %f3, %f4}, [%rd1]"}});
  table.add(
      "st", decodeStore,
      {{"st[.weak][.global]{.b8|.u8|.s8|.b16|.u16|.s16}", "[%rd1], %rs1"},
       {"st[.weak][.global]{.b32|.u32|.s32}", "[%rd1], %r1"},
       {"st[.weak][.global]{.b64|.u64|.s64}", "[%rd1], %rd2"},
       {"st[.weak][.global].f32", "[%rd1], %f1"},
       {"st[.weak][.global].f64", "[%rd1], %fd1"},
       {"st[.weak][.global].b128", "[%rd1], %rq1"},
       {"st[.weak][.global].v2{.b8|.b16|.u8|.u16|.s8|.s16}", "[%rd1], {%rs1, %rs2}"},
       {"st[.weak][.global].v2{.b32|.u32|.s32}", "[%rd1], {%r1, %r2}"},
       {"st[.weak][.global].v2{.b64|.u64|.s64}", "[%rd1], {%rd2, %rd3}"},
       {"st[.weak][.global].v2.f32", "[%rd1], {%f1, %f2}"},
       {"st[.weak][.global].v2.f64", "[%rd1], {%fd1, %fd2}"},
       {"st[.weak][.global].v4{.b8|.b16|.u8|.u16|.s8|.s16}", "[%rd1], {%rs1, %rs2, %rs3, %rs4}"},
       {"st[.weak][.global].v4{.b32|.u32|.s32}", "[%rd1], {%r1, %r2, %r3, %r4}"},
       {"st[.weak][.global].v4.f32", "[%rd1], {%f1, %f2, %f3, %f4}"},
       {"st[.global].v4{.b64|.u64|.s64}", "[%rd1], {%rd2, %rd3, %rd4, %rd5}"},
       {"st[.global].v8{.b32|.u32|.s32}", "[%rd1], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"},
       {"st[.global].v8.f32", "[%rd1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, _}"},
       {"st{.shared|.shared::cta|.shared::cluster}{.b8|.u8|.s8|.b16|.u16|.s16}", "[%r1], %rs1"},
       {"st{.shared|.shared::cta|.shared::cluster}{.b32|.u32|.s32}", "[%r1], %r2"},
       {"st{.shared|.shared::cta|.shared::cluster}{.b64|.u64|.s64}", "[%r1], %rd2"},
       {"st{.shared|.shared::cta|.shared::cluster}.f32", "[%r1], %f1"},
       {"st{.shared|.shared::cta|.shared::cluster}.f64", "[%r1], %fd1"},
       {"st{.shared|.shared::cta|.shared::cluster}.b128", "[%r1], %rq1"},
       {"st{.shared|.shared::cta|.shared::cluster}.v2.b32", "[%r1], {%r2, %r3}"},
       {"st{.shared|.shared::cta|.shared::cluster}.v2.b64", "[%r1], {%rd2, %rd3}"},
       {"st{.shared|.shared::cta|.shared::cluster}.v4.b32", "[%r1], {%r2, %r3, %r4, %r5}"},
       {"st{.shared|.shared::cta|.shared::cluster}.v4.f32", "[%r1], {%f1, %f2, %f3, %f4}"},
       {"st.local{.b8|.u8|.s8|.b16|.u16|.s16}", "[%rd1], %rs1"},
       {"st.local{.b32|.u32|.s32}", "[%rd1], %r1"},
       {"st.local{.b64|.u64|.s64}", "[%rd1], %rd2"},
       {"st.local.f32", "[%rd1], %f1"},
       {"st.local.v4.f32", "[%rd1], {%f1, %f2, %f3, %f4}"},
       {"st[.global]{.wb|.cg|.cs|.wt}.b32", "[%rd1], %r1"},
       {"st[.global]{.wb|.cg|.cs}.L2::cache_hint.b32", "[%rd1], %r1, %rd2"},
       {"st[.global]{" EVICT "}.b32", "[%rd1], %r1"},
       {"st[.global][" EVICT "].L2::cache_hint.b32", "[%rd1], %r1, %rd2"},
       {"st.volatile[.global].b32", "[%rd1], %r1"},
       {"st.volatile{.shared|.shared::cta|.shared::cluster}.b32", "[%r1], %r2"},
       {"st.volatile[.global].v4.b32", "[%rd1], {%r1, %r2, %r3, %r4}"},
       {"st{.relaxed|.release}." SCOPES "[.global].b32", "[%rd1], %r1"},
       {"st{.relaxed|.release}." SCOPES "[.global].b64", "[%rd1], %rd2"},
       {"st{.relaxed|.release}." SCOPES "[.global].b128", "[%rd1], %rq1"},
       {"st{.relaxed|.release}." SCOPES "{.shared::cta|.shared::cluster}.b32", "[%r1], %r2"},
       {"st.mmio.relaxed.sys[.global].b32", "[%rd1], %r1"}});
  registerAtomics(table);
  registerFences(table);
  registerAsyncStores(table);
  registerMemoryHints(table);
}

} // namespace ts::emu
