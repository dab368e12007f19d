// Bitwise logic and shifts. Source: PTX ISA, "Logic and Shift Instructions".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IntegerTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

enum class Logic { And, Or, Xor };

template <Logic logic> uint64_t apply(uint64_t a, uint64_t b) {
  return logic == Logic::And ? a & b : logic == Logic::Or ? a | b : a ^ b;
}

void needBits(Decode &d, Type type) {
  if (type != Type::B16 && type != Type::B32 && type != Type::B64)
    d.refuse("expected .b16, .b32 or .b64, found .%s", ptx::typeName(type));
}

template <Logic logic> std::unique_ptr<Op> decodeLogic(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(3, 3);
  Dst to = d.dst(0);
  if (type == Type::Pred) {
    Src a = d.predicate(1), b = d.predicate(2);
    return makeOp([=](Exec &x) {
      to.setPredicate(x, uint32_t(apply<logic>(a.predicate(x), b.predicate(x))));
      return Step::Next;
    });
  }
  needBits(d, type);
  return lanewise(to, d.src(1, type), d.src(2, type), &apply<logic>);
}

std::unique_ptr<Op> decodeNot(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  Dst to = d.dst(0);
  if (type == Type::Pred) {
    Src a = d.predicate(1);
    return makeOp([=](Exec &x) {
      to.setPredicate(x, ~a.predicate(x));
      return Step::Next;
    });
  }
  needBits(d, type);
  uint64_t mask = maskOf(ptx::typeBits(type));
  return lanewise(to, d.src(1, type), [mask](uint64_t a) { return ~a & mask; });
}

std::unique_ptr<Op> decodeCnot(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  needBits(d, type);
  return lanewise(d.dst(0), d.src(1, type), [](uint64_t a) { return uint64_t(a == 0); });
}

uint32_t lookUp(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    uint32_t here = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    result |= table >> i & 1 ? here : 0;
  }
  return result;
}

std::unique_ptr<Op> decodeLop3(Decode &d) {
  int combine = d.takeOneOf({"or", "and"});
  d.need("b32");
  d.end();
  size_t operands = combine < 0 ? 5 : 6;
  d.needOperands(operands, operands);
  Dst to, holds;
  const ptx::Operand &result = d.operand(0);
  if (combine < 0) {
    to = d.dst(0);
  } else {
    if (result.kind != ptx::Operand::Kind::Pair)
      d.refuse("expected a register and a predicate (d|p) as destination");
    to = d.dst(result.items[0]);
    holds = d.dst(result.items[1]);
  }
  auto table = uint32_t(d.immediate(4));
  if (table > 255)
    d.refuse("the look-up table has 8 bits, found 0x%x", table);
  Src a = d.src(1, Type::B32), b = d.src(2, Type::B32), c = d.src(3, Type::B32);
  if (combine < 0)
    return typed<uint32_t>(to, a, b, c, [table](uint32_t x, uint32_t y, uint32_t z) {
      return lookUp(x, y, z, table);
    });
  Src q = d.predicate(5);
  return makeOp([=](Exec &x) {
    uint64_t out[warpSize], bufferA[warpSize], bufferB[warpSize], bufferC[warpSize];
    const uint64_t *fromA = a.lanes(x, bufferA), *fromB = b.lanes(x, bufferB),
                   *fromC = c.lanes(x, bufferC);
    uint64_t *slot = to.lanes(x, out);
    uint32_t given = q.predicate(x), nonZero = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      slot[lane] =
          lookUp(uint32_t(fromA[lane]), uint32_t(fromB[lane]), uint32_t(fromC[lane]), table);
      nonZero |= uint32_t(slot[lane] != 0) << lane;
    }
    holds.setPredicate(x, combine == 0 ? nonZero | given : nonZero & given);
    return Step::Next;
  });
}

// Amounts beyond the width shift everything out: they are clamped, not wrapped.
std::unique_ptr<Op> decodeShl(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(3, 3);
  needBits(d, type);
  uint64_t mask = maskOf(ptx::typeBits(type));
  return lanewise(d.dst(0), d.src(1, type), d.src(2, Type::U32), [mask](uint64_t a, uint64_t n) {
    n = uint32_t(n);
    return n > 63 ? 0 : a << n & mask;
  });
}

std::unique_ptr<Op> decodeShr(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(3, 3);
  Dst to = d.dst(0);
  Src a = d.src(1, type), n = d.src(2, Type::U32);
  if (type == Type::B16 || type == Type::B32 || type == Type::B64)
    return lanewise(to, a, n, [](uint64_t v, uint64_t by) {
      return uint32_t(by) > 63 ? 0 : v >> uint32_t(by);
    });
  return forIntegers(d, type, [&]<class T>(T) {
    return lanewise(to, a, n, [](uint64_t v, uint64_t by) {
      uint32_t amount = uint32_t(by);
      if constexpr (std::is_signed_v<T>)
        return toSlot(T(int64_t(T(v)) >> std::min(amount, 63u)));
      return amount > 63 ? 0 : v >> amount;
    });
  });
}

std::unique_ptr<Op> decodeShf(Decode &d) {
  int right = d.takeOneOf({"l", "r"});
  if (right < 0)
    d.refuse("expected .l or .r");
  bool clamp = needClampOrWrap(d);
  d.need("b32");
  d.end();
  d.needOperands(4, 4);
  return typed<uint32_t>(d.dst(0), d.src(1, Type::B32), d.src(2, Type::B32), d.src(3, Type::U32),
                         [=](uint32_t low, uint32_t high, uint32_t c) {
                           uint32_t n = clamp ? std::min(c, 32u) : c & 31;
                           uint64_t both = uint64_t(high) << 32 | low;
                           return right ? uint32_t(both >> n) : uint32_t(both << n >> 32);
                         });
}
} // namespace

void registerIntegerLogic(DecoderTable &table) {
  table.add("and", decodeLogic<Logic::And>,
            {{"and.pred", "%p1, %p2, %p3"},
             {"and.b16", "%rs1, %rs2, %rs3"},
             {"and.b32", "%r1, %r2, %r3"},
             {"and.b64", "%rd1, %rd2, %rd3"}});
  table.add("or", decodeLogic<Logic::Or>,
            {{"or.pred", "%p1, %p2, %p3"},
             {"or.b16", "%rs1, %rs2, %rs3"},
             {"or.b32", "%r1, %r2, %r3"},
             {"or.b64", "%rd1, %rd2, %rd3"}});
  table.add("xor", decodeLogic<Logic::Xor>,
            {{"xor.pred", "%p1, %p2, %p3"},
             {"xor.b16", "%rs1, %rs2, %rs3"},
             {"xor.b32", "%r1, %r2, %r3"},
             {"xor.b64", "%rd1, %rd2, %rd3"}});
  table.add("not", decodeNot,
            {{"not.pred", "%p1, %p2"},
             {"not.b16", "%rs1, %rs2"},
             {"not.b32", "%r1, %r2"},
             {"not.b64", "%rd1, %rd2"}});
  table.add("cnot", decodeCnot,
            {{"cnot.b16", "%rs1, %rs2"}, {"cnot.b32", "%r1, %r2"}, {"cnot.b64", "%rd1, %rd2"}});
  table.add("lop3", decodeLop3,
            {{"lop3.b32", "%r1, %r2, %r3, %r4, 0x3f"},
             {"lop3.{or|and}.b32", "%r1|%p1, %r2, %r3, %r4, 0x3f, %p2"}});
  table.add("shl", decodeShl,
            {{"shl.b16", "%rs1, %rs2, %r3"},
             {"shl.b32", "%r1, %r2, %r3"},
             {"shl.b64", "%rd1, %rd2, %r3"}});
  table.add("shr", decodeShr,
            {{"shr.{b16|u16|s16}", "%rs1, %rs2, %r3"},
             {"shr.{b32|u32|s32}", "%r1, %r2, %r3"},
             {"shr.{b64|u64|s64}", "%rd1, %rd2, %r3"}});
  table.add("shf", decodeShf, {{"shf.{l|r}.{wrap|clamp}.b32", "%r1, %r2, %r3, %r4"}});
}

} // namespace ts::emu
