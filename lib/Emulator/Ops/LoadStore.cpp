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

struct Load {
  Shape shape;
  std::vector<Dst> to;

  Step operator()(Exec &x) const {
    uint64_t scratch[warpSize];
    const uint64_t *base = shape.address.base.lanes(x, scratch);
    for (const Dst &dst : to)
      dst.lanes(x, scratch == base ? nullptr : scratch); // faults if an engine still owns it
    unsigned bytes = shape.elementBytes;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      alignas(16) uint8_t buffer[32];
      load(x, lane, shape.space, base[lane] + uint64_t(shape.address.offset),
           bytes * shape.elements, buffer, shape.order);
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
    }
    return Step::Next;
  }
};

struct Store {
  Shape shape;
  std::vector<Src> from;

  Step operator()(Exec &x) const {
    uint64_t scratch[warpSize], scratches[8][warpSize];
    const uint64_t *base = shape.address.base.lanes(x, scratch);
    const uint64_t *values[8] = {};
    for (size_t i = 0; i < from.size(); ++i)
      values[i] = from[i].lanes(x, scratches[i]);
    unsigned bytes = shape.elementBytes;
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
      store(x, lane, shape.space, base[lane] + uint64_t(shape.address.offset),
            bytes * shape.elements, buffer, shape.order);
    }
    return Step::Next;
  }
};

Order takeOrder(Decode &d, bool isLoad) {
  if (d.take("weak"))
    return Order::Weak;
  if (d.take("volatile"))
    return Order::Relaxed; // as relaxed at system scope
  bool mmio = d.take("mmio");
  Order order = Order::Weak;
  if (d.take("relaxed"))
    order = Order::Relaxed;
  else if (isLoad && d.take("acquire"))
    order = Order::Acquire;
  else if (!isLoad && d.take("release"))
    order = Order::Release;
  if (order != Order::Weak)
    needScope(d);
  else if (mmio)
    d.refuse("expected a memory order and .sys behind .mmio");
  return order;
}

/// Everything up to the type; `hasPolicy` operands are checked by the caller.
Shape takeShape(Decode &d, bool isLoad, size_t addressAt, CacheHints &hints) {
  Shape shape;
  shape.order = takeOrder(d, isLoad);
  bool param = false;
  shape.space = takeSpace(d, &param);
  hints = takeHints(d);
  shape.elements = takeVector(d);
  ptx::Type type = d.needType();
  d.end();
  unsigned bits = ptx::typeBits(type);
  if (bits < 8)
    d.refuse("type .%s cannot be loaded or stored", ptx::typeName(type));
  shape.elementBytes = bits / 8;
  shape.isSigned = ptx::isSigned(type);
  if (shape.elementBytes * shape.elements > 32)
    d.refuse("a vector of %u bytes; expected at most 32", shape.elementBytes * shape.elements);
  shape.address = d.address(addressAt);
  if (param)
    shape.space = d.paramSpace(d.operand(addressAt));
  if (!isLoad && shape.space == Space::Const)
    d.refuse("constant memory is read-only");
  return shape;
}

void takePolicy(Decode &d, const CacheHints &hints) {
  d.needOperands(hints.policy ? 3 : 2, hints.policy ? 3 : 2);
  if (hints.policy)
    d.src(2, ptx::Type::B64);
}

void checkWidth(Decode &d, const Dst &dst, const Shape &shape) {
  if (!dst.sink && (ptx::typeBits(dst.type) < shape.elementBytes * 8 ||
                    (shape.elementBytes == 16) != (dst.type == ptx::Type::B128)))
    d.refuse("a register of type .%s does not hold %u bytes", ptx::typeName(dst.type),
             shape.elementBytes);
}

std::unique_ptr<Op> decodeLoad(Decode &d) {
  Load op;
  CacheHints hints;
  op.shape = takeShape(d, true, 1, hints);
  takePolicy(d, hints);
  op.to = d.destinations(d.operand(0));
  if (op.to.size() != op.shape.elements)
    d.refuse("expected %u destination registers, found %zu", op.shape.elements, op.to.size());
  for (const Dst &dst : op.to)
    checkWidth(d, dst, op.shape);
  return makeOp(std::move(op));
}

std::unique_ptr<Op> decodeStore(Decode &d) {
  Store op;
  CacheHints hints;
  op.shape = takeShape(d, false, 0, hints);
  takePolicy(d, hints);
  static constexpr ptx::Type types[] = {ptx::Type::B8, ptx::Type::B16, ptx::Type::B32,
                                        ptx::Type::B64, ptx::Type::B128};
  ptx::Type type = types[std::countr_zero(op.shape.elementBytes)];
  // A float literal needs to know whether it is stored as f32 or f64.
  ptx::Type named = ptx::parseType(d.inst.parts.back());
  op.from = d.sources(d.operand(1), named == ptx::Type::F64 ? named : type);
  if (op.from.size() != op.shape.elements)
    d.refuse("expected %u values, found %zu", op.shape.elements, op.from.size());
  return makeOp(std::move(op));
}
} // namespace

void registerMemory(DecoderTable &table) {
  table.add("ld", decodeLoad, {{"ld{.global|.shared}.u32", "%r1, [%rd1]"}});
  table.add("ldu", decodeLoad, {{"ldu.global.u32", "%r1, [%rd1]"}});
  table.add("st", decodeStore, {{"st{.global|.shared}.u32", "[%rd1], %r1"}});
}

} // namespace ts::emu
