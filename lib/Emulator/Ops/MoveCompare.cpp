// setp, set and slct: comparisons of every type, alone or combined with a predicate. Source: PTX
// ISA, "Comparison and Selection Instructions" and "Half Precision Comparison Instructions".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../Numbers/Rounding.h"
#include "Lanes.h"
#include "Move.h"

namespace ts::emu {
namespace {

using ptx::Type;

// How two values can stand to each other; a comparison accepts some of these.
constexpr uint8_t less = 1, equal = 2, greater = 4, unordered = 8;

struct Comparison {
  const char *name;
  uint8_t accepts;
  enum { Any, Unsigned, Floating } where;
};
constexpr Comparison comparisons[] = {
    {"eq", equal, Comparison::Any},
    {"ne", less | greater, Comparison::Any},
    {"lt", less, Comparison::Any},
    {"le", less | equal, Comparison::Any},
    {"gt", greater, Comparison::Any},
    {"ge", greater | equal, Comparison::Any},
    {"lo", less, Comparison::Unsigned},
    {"ls", less | equal, Comparison::Unsigned},
    {"hi", greater, Comparison::Unsigned},
    {"hs", greater | equal, Comparison::Unsigned},
    {"equ", equal | unordered, Comparison::Floating},
    {"neu", less | greater | unordered, Comparison::Floating},
    {"ltu", less | unordered, Comparison::Floating},
    {"leu", less | equal | unordered, Comparison::Floating},
    {"gtu", greater | unordered, Comparison::Floating},
    {"geu", greater | equal | unordered, Comparison::Floating},
    {"num", less | equal | greater, Comparison::Floating},
    {"nan", unordered, Comparison::Floating},
};

/// Lanes in which the comparison holds.
using Compare = uint32_t (*)(const uint64_t *a, const uint64_t *b, uint8_t accepts);

template <class Value>
uint32_t compareLanes(const uint64_t *a, const uint64_t *b, uint8_t accepts) {
  uint8_t holds[warpSize];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    auto x = Value::of(a[lane]), y = Value::of(b[lane]);
    uint8_t stands = x < y ? less : x == y ? equal : x > y ? greater : unordered;
    holds[lane] = (stands & accepts) != 0;
  }
  uint32_t result = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    result |= uint32_t(holds[lane]) << lane;
  return result;
}

template <class T> struct Plain {
  static T of(uint64_t slot) { return fromSlot<T>(slot); }
};
struct FlushedFloat {
  static float of(uint64_t slot) {
    auto bits = uint32_t(slot);
    return std::bit_cast<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
  }
};
template <unsigned shift, bool flush> struct HalfAt {
  static float of(uint64_t slot) {
    auto bits = uint16_t(slot >> shift);
    return halfToFloat(flush && !(bits & 0x7c00) ? bits & 0x8000 : bits);
  }
};
template <unsigned shift> struct BfloatAt {
  static float of(uint64_t slot) { return bf16ToFloat(uint16_t(slot >> shift)); }
};

struct Comparer {
  Compare low = nullptr, high = nullptr; // high: of the second half of a pair
};

Comparer comparerOf(Decode &d, Type type, bool ftz) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return {compareLanes<Plain<uint16_t>>};
  case Type::S16:
    return {compareLanes<Plain<int16_t>>};
  case Type::B32:
  case Type::U32:
    return {compareLanes<Plain<uint32_t>>};
  case Type::S32:
    return {compareLanes<Plain<int32_t>>};
  case Type::B64:
  case Type::U64:
    return {compareLanes<Plain<uint64_t>>};
  case Type::S64:
    return {compareLanes<Plain<int64_t>>};
  case Type::F32:
    return {ftz ? compareLanes<FlushedFloat> : compareLanes<Plain<float>>};
  case Type::F64:
    return {compareLanes<Plain<double>>};
  case Type::F16:
    return {ftz ? compareLanes<HalfAt<0, true>> : compareLanes<HalfAt<0, false>>};
  case Type::F16x2:
    return {ftz ? compareLanes<HalfAt<0, true>> : compareLanes<HalfAt<0, false>>,
            ftz ? compareLanes<HalfAt<16, true>> : compareLanes<HalfAt<16, false>>};
  case Type::BF16:
    return {compareLanes<BfloatAt<0>>};
  case Type::BF16x2:
    return {compareLanes<BfloatAt<0>>, compareLanes<BfloatAt<16>>};
  default:
    d.refuse("values of type .%s cannot be compared", ptx::typeName(type));
  }
}

struct Combined {
  Comparer comparer;
  uint8_t accepts = 0;
  int boolOp = -1; // and, or, xor
  Src a, b, c;

  uint32_t combine(uint32_t holds, uint32_t given) const {
    return boolOp < 0    ? holds
           : boolOp == 0 ? holds & given
           : boolOp == 1 ? holds | given
                         : holds ^ given;
  }
  /// The comparison (or that of the low halves), and that of the high halves or the negation.
  std::pair<uint32_t, uint32_t> operator()(const Exec &x) const {
    uint64_t bufferA[warpSize], bufferB[warpSize];
    const uint64_t *fromA = a.lanes(x, bufferA), *fromB = b.lanes(x, bufferB);
    uint32_t low = comparer.low(fromA, fromB, accepts);
    uint32_t second = comparer.high ? comparer.high(fromA, fromB, accepts) : ~low;
    uint32_t given = boolOp < 0 ? 0 : c.predicate(x);
    return {combine(low, given), combine(second, given)};
  }
};

struct Modifiers {
  const Comparison *comparison = nullptr;
  int boolOp = -1;
  bool ftz = false;
};
Modifiers takeModifiers(Decode &d) {
  Modifiers m;
  for (const Comparison &c : comparisons)
    if (!m.comparison && d.take(c.name))
      m.comparison = &c;
  if (!m.comparison)
    d.refuse("expected a comparison, found .%.*s", int(d.peek().size()), d.peek().data());
  m.ftz = d.take("ftz");
  m.boolOp = d.takeOneOf({"and", "or", "xor"});
  m.ftz |= d.take("ftz");
  return m;
}

Combined combined(Decode &d, const Modifiers &m, Type type) {
  d.end();
  size_t operands = m.boolOp < 0 ? 3 : 4;
  d.needOperands(operands, operands);
  bool isFloat = ptx::isFloat(type);
  bool isBits = type == Type::B16 || type == Type::B32 || type == Type::B64;
  bool isUnsigned = type == Type::U16 || type == Type::U32 || type == Type::U64;
  if ((m.comparison->where == Comparison::Unsigned && !isUnsigned) ||
      (m.comparison->where == Comparison::Floating && !isFloat) ||
      (isBits && m.comparison->accepts != equal && m.comparison->accepts != (less | greater)))
    d.refuse("there is no comparison .%s of type .%s", m.comparison->name, ptx::typeName(type));
  if (m.ftz && type != Type::F32 && type != Type::F16 && type != Type::F16x2)
    d.refuse("there is no .ftz of type .%s", ptx::typeName(type));
  Combined op;
  op.comparer = comparerOf(d, type, m.ftz);
  op.accepts = m.comparison->accepts;
  op.boolOp = m.boolOp;
  op.a = d.src(1, type);
  op.b = d.src(2, type);
  if (m.boolOp >= 0)
    op.c = d.predicate(3);
  return op;
}

std::unique_ptr<Op> decodeSetp(Decode &d) {
  Modifiers m = takeModifiers(d);
  Type type = d.needType();
  Combined op = combined(d, m, type);
  const ptx::Operand &result = d.operand(0);
  Dst p, q;
  if (result.kind == ptx::Operand::Kind::Pair) {
    p = d.dst(result.items[0]);
    q = d.dst(result.items[1]);
  } else {
    p = d.dst(result);
  }
  return makeOp([=](Exec &x) {
    auto [first, second] = op(x);
    p.setPredicate(x, first);
    q.setPredicate(x, second);
    return Step::Next;
  });
}

/// What `set` writes where the comparison holds.
uint64_t trueValue(Decode &d, Type type) {
  switch (type) {
  case Type::U16:
  case Type::S16:
    return 0xffff;
  case Type::U32:
  case Type::S32:
    return 0xffffffff;
  case Type::F32:
    return 0x3f800000;
  case Type::F16:
  case Type::F16x2:
    return 0x3c00;
  case Type::BF16:
  case Type::BF16x2:
    return 0x3f80;
  default:
    d.refuse("set has no result of type .%s", ptx::typeName(type));
  }
}

std::unique_ptr<Op> decodeSet(Decode &d) {
  Modifiers m = takeModifiers(d);
  Type to = d.needType(), type = d.needType();
  uint64_t one = trueValue(d, to);
  bool isHalf = type == Type::F16 || type == Type::BF16;
  bool pairs = type == Type::F16x2 || type == Type::BF16x2;
  bool wordOfPairs = pairs && (to == Type::U32 || to == Type::S32);
  if (wordOfPairs)
    one = 0xffff; // in each half of the word, by the pairs' halves
  bool toPairs = to == Type::F16x2 || to == Type::BF16x2;
  if ((toPairs && to != type) || (pairs && !toPairs && !wordOfPairs) ||
      (isHalf && to == Type::F32) || (m.ftz && to == Type::BF16) ||
      (to == Type::F16 && type == Type::BF16) || ((to == Type::U16 || to == Type::S16) && !isHalf))
    d.refuse("set has no result of type .%s from .%s", ptx::typeName(to), ptx::typeName(type));
  Combined op = combined(d, m, type);
  Dst dst = d.dst(0);
  return makeOp([=](Exec &x) {
    auto [first, second] = op(x);
    uint32_t low = first, high = pairs ? second : 0;
    uint64_t out[warpSize];
    setLanes(x.mask, dst.lanes(x, out), [=](unsigned lane) {
      return (low >> lane & 1 ? one : 0) | (high >> lane & 1 ? one << 16 : 0);
    });
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeSlct(Decode &d) {
  bool ftz = d.take("ftz");
  Type type = d.needType();
  bool isFloat = d.take("f32");
  if (!isFloat)
    d.need("s32");
  d.end();
  d.needOperands(4, 4);
  if (ptx::typeBits(type) < 16 || ptx::typeBits(type) > 64 || (ftz && !isFloat) ||
      (ptx::isFloat(type) && type != Type::F32 && type != Type::F64))
    d.refuse("there is no such form of slct");
  // With .ftz a subnormal selector counts as zero, which selects as any positive number does.
  return lanewise(d.dst(0), d.src(1, type), d.src(2, type),
                  d.src(3, isFloat ? Type::F32 : Type::S32),
                  [=](uint64_t a, uint64_t b, uint64_t c) {
                    if (!isFloat)
                      return int32_t(c) >= 0 ? a : b;
                    float f = ftz ? FlushedFloat::of(c) : fromSlot<float>(c);
                    return f >= 0 ? a : b;
                  });
}
} // namespace

void registerCompare(DecoderTable &table) {
  table.add(
      "setp", decodeSetp,
      {{"setp.{eq|ne}.b16", "%p1, %rs1, %rs2"},
       {"setp.{eq|ne}.{and|or|xor}.b16", "%p1|%p2, %rs1, %rs2, !%p3"},
       {"setp.{eq|ne|lt|le|gt|ge}.{u16|s16}", "%p1, %rs1, %rs2"},
       {"setp.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u16|s16}", "%p1|%p2, %rs1, %rs2, !%p3"},
       {"setp.{lo|ls|hi|hs}.u16", "%p1, %rs1, %rs2"},
       {"setp.{lo|ls|hi|hs}.{and|or|xor}.u16", "%p1|%p2, %rs1, %rs2, !%p3"},
       {"setp.{eq|ne}.b32", "%p1, %r1, %r2"},
       {"setp.{eq|ne}.{and|or|xor}.b32", "%p1|%p2, %r1, %r2, !%p3"},
       {"setp.{eq|ne|lt|le|gt|ge}.{u32|s32}", "%p1, %r1, %r2"},
       {"setp.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u32|s32}", "%p1|%p2, %r1, %r2, !%p3"},
       {"setp.{lo|ls|hi|hs}.u32", "%p1, %r1, %r2"},
       {"setp.{lo|ls|hi|hs}.{and|or|xor}.u32", "%p1|%p2, %r1, %r2, !%p3"},
       {"setp.{eq|ne}.b64", "%p1, %rd1, %rd2"},
       {"setp.{eq|ne}.{and|or|xor}.b64", "%p1|%p2, %rd1, %rd2, !%p3"},
       {"setp.{eq|ne|lt|le|gt|ge}.{u64|s64}", "%p1, %rd1, %rd2"},
       {"setp.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u64|s64}", "%p1|%p2, %rd1, %rd2, !%p3"},
       {"setp.{lo|ls|hi|hs}.u64", "%p1, %rd1, %rd2"},
       {"setp.{lo|ls|hi|hs}.{and|or|xor}.u64", "%p1|%p2, %rd1, %rd2, !%p3"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}[.ftz].f32", "%p1, %f1, %f2"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}[.ftz].f32",
        "%p1|%p2, %f1, %f2, !%p3"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.f64", "%p1, %fd1, %fd2"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.f64",
        "%p1|%p2, %fd1, %fd2, !%p3"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}[.ftz].f16", "%p1, %rs1, %rs2"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}[.ftz].f16",
        "%p1, %rs1, %rs2, !%p3"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.bf16", "%p1, %rs1, %rs2"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.bf16",
        "%p1, %rs1, %rs2, !%p3"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}[.ftz].f16x2",
        "%p1|%p2, %r1, %r2"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}[.ftz].f16x2",
        "%p1|%p2, %r1, %r2, %p3"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.bf16x2", "%p1|%p2, %r1, %r2"},
       {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.bf16x2",
        "%p1|%p2, %r1, %r2, %p3"}});
  table.add(
      "set", decodeSet,
      {{"set.{eq|ne}.{u32|s32|f32}.b16", "%r3, %rs1, %rs2"},
       {"set.{eq|ne}.{and|or|xor}.{u32|s32|f32}.b16", "%r3, %rs1, %rs2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge}.{u32|s32|f32}.{u16|s16}", "%r3, %rs1, %rs2"},
       {"set.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u32|s32|f32}.{u16|s16}", "%r3, %rs1, %rs2, %p1"},
       {"set.{lo|ls|hi|hs}.{u32|s32|f32}.u16", "%r3, %rs1, %rs2"},
       {"set.{lo|ls|hi|hs}.{and|or|xor}.{u32|s32|f32}.u16", "%r3, %rs1, %rs2, %p1"},
       {"set.{eq|ne}.{f16|bf16}.b16", "%rs3, %rs1, %rs2"},
       {"set.{eq|ne}.{and|or|xor}.{f16|bf16}.b16", "%rs3, %rs1, %rs2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge}.{f16|bf16}.{u16|s16}", "%rs3, %rs1, %rs2"},
       {"set.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{f16|bf16}.{u16|s16}", "%rs3, %rs1, %rs2, %p1"},
       {"set.{lo|ls|hi|hs}.{f16|bf16}.u16", "%rs3, %rs1, %rs2"},
       {"set.{lo|ls|hi|hs}.{and|or|xor}.{f16|bf16}.u16", "%rs3, %rs1, %rs2, %p1"},
       {"set.{eq|ne}.{u32|s32|f32}.b32", "%r3, %r1, %r2"},
       {"set.{eq|ne}.{and|or|xor}.{u32|s32|f32}.b32", "%r3, %r1, %r2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge}.{u32|s32|f32}.{u32|s32}", "%r3, %r1, %r2"},
       {"set.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u32|s32|f32}.{u32|s32}", "%r3, %r1, %r2, %p1"},
       {"set.{lo|ls|hi|hs}.{u32|s32|f32}.u32", "%r3, %r1, %r2"},
       {"set.{lo|ls|hi|hs}.{and|or|xor}.{u32|s32|f32}.u32", "%r3, %r1, %r2, %p1"},
       {"set.{eq|ne}.{f16|bf16}.b32", "%rs3, %r1, %r2"},
       {"set.{eq|ne}.{and|or|xor}.{f16|bf16}.b32", "%rs3, %r1, %r2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge}.{f16|bf16}.{u32|s32}", "%rs3, %r1, %r2"},
       {"set.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{f16|bf16}.{u32|s32}", "%rs3, %r1, %r2, %p1"},
       {"set.{lo|ls|hi|hs}.{f16|bf16}.u32", "%rs3, %r1, %r2"},
       {"set.{lo|ls|hi|hs}.{and|or|xor}.{f16|bf16}.u32", "%rs3, %r1, %r2, %p1"},
       {"set.{eq|ne}.{u32|s32|f32}.b64", "%r3, %rd1, %rd2"},
       {"set.{eq|ne}.{and|or|xor}.{u32|s32|f32}.b64", "%r3, %rd1, %rd2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge}.{u32|s32|f32}.{u64|s64}", "%r3, %rd1, %rd2"},
       {"set.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u32|s32|f32}.{u64|s64}", "%r3, %rd1, %rd2, %p1"},
       {"set.{lo|ls|hi|hs}.{u32|s32|f32}.u64", "%r3, %rd1, %rd2"},
       {"set.{lo|ls|hi|hs}.{and|or|xor}.{u32|s32|f32}.u64", "%r3, %rd1, %rd2, %p1"},
       {"set.{eq|ne}.{f16|bf16}.b64", "%rs3, %rd1, %rd2"},
       {"set.{eq|ne}.{and|or|xor}.{f16|bf16}.b64", "%rs3, %rd1, %rd2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge}.{f16|bf16}.{u64|s64}", "%rs3, %rd1, %rd2"},
       {"set.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{f16|bf16}.{u64|s64}", "%rs3, %rd1, %rd2, %p1"},
       {"set.{lo|ls|hi|hs}.{f16|bf16}.u64", "%rs3, %rd1, %rd2"},
       {"set.{lo|ls|hi|hs}.{and|or|xor}.{f16|bf16}.u64", "%rs3, %rd1, %rd2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}[.ftz].{u32|s32|f32}.f32",
        "%r3, %f1, %f2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}[.ftz].{u32|s32|f32}."
        "f32",
        "%r3, %f1, %f2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{u32|s32|f32}.f64",
        "%r3, %fd1, %fd2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.{u32|s32|f32}.f64",
        "%r3, %fd1, %fd2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}[.ftz].f16.f32", "%rs3, %f1, %f2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.bf16.f32", "%rs3, %f1, %f2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}[.ftz].f16.f32",
        "%rs3, %f1, %f2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.bf16.f32",
        "%rs3, %f1, %f2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{f16|bf16}.f64",
        "%rs3, %fd1, %fd2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.{f16|bf16}.f64",
        "%rs3, %fd1, %fd2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}[.ftz].{u32|s32}.f16",
        "%r3, %rs1, %rs2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}[.ftz].{u32|s32}.f16",
        "%r3, %rs1, %rs2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{u32|s32}.bf16",
        "%r3, %rs1, %rs2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.{u32|s32}.bf16",
        "%r3, %rs1, %rs2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}[.ftz].{u16|s16|f16}.f16",
        "%rs3, %rs1, %rs2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.bf16.f16", "%rs3, %rs1, %rs2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}[.ftz].{u16|s16|f16}."
        "f16",
        "%rs3, %rs1, %rs2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.bf16.f16",
        "%rs3, %rs1, %rs2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{u16|s16|bf16}.bf16",
        "%rs3, %rs1, %rs2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.{u16|s16|bf16}."
        "bf16",
        "%rs3, %rs1, %rs2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}[.ftz].{f16x2|u32|s32}.f16x2",
        "%r3, %r1, %r2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}[.ftz].{f16x2|u32|s32}"
        ".f16x2",
        "%r3, %r1, %r2, %p1"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{bf16x2|u32|s32}.bf16x2",
        "%r3, %r1, %r2"},
       {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{and|or|xor}.{bf16x2|u32|s32}."
        "bf16x2",
        "%r3, %r1, %r2, %p1"}});
  table.add("slct", decodeSlct,
            {{"slct.{b16|u16|s16}.s32", "%rs1, %rs2, %rs3, %r1"},
             {"slct.{b32|u32|s32|f32}.s32", "%r1, %r2, %r3, %r4"},
             {"slct.{b64|u64|s64|f64}.s32", "%rd1, %rd2, %rd3, %r1"},
             {"slct[.ftz].{b16|u16|s16}.f32", "%rs1, %rs2, %rs3, %f1"},
             {"slct[.ftz].{b32|u32|s32|f32}.f32", "%r1, %r2, %r3, %f1"},
             {"slct[.ftz].{b64|u64|s64|f64}.f32", "%rd1, %rd2, %rd3, %f1"}});
}

} // namespace ts::emu
