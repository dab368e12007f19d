// Integer arithmetic. Source: PTX ISA, "Integer Arithmetic Instructions". Where PTX leaves a result
// open: division by zero gives all ones, the remainder of it the dividend.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Arithmetic.h"
#include "IntegerTypes.h"

namespace ts::emu {

using ptx::Type;

bool hasPart(const Decode &d, std::string_view part) {
  return std::find(d.inst.parts.begin(), d.inst.parts.end(), part) != d.inst.parts.end();
}

namespace {

int32_t clampS32(int64_t value) {
  return int32_t(std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX));
}

template <class T> T wrap(Unsigned<T> value) { return T(value); }

template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
template <class T> T mulHigh(T a, T b) {
  if constexpr (sizeof(T) == 8)
    return T((Wide<T>(a) * b) >> 64);
  else
    return T((std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>(a) * b) >>
             (8 * sizeof(T)));
}
template <class T> auto mulWide(T a, T b) {
  if constexpr (sizeof(T) == 2)
    return std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>(Unsigned<T>(a) *
                                                                      Unsigned<T>(b));
  else
    return std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>(a) * b;
}

struct Three {
  Dst d;
  Src a, b;
};
Three three(Decode &d, Type type) {
  d.end();
  d.needOperands(3, 3);
  return {d.dst(0), d.src(1, type), d.src(2, type)};
}

enum class Half { Low, High, Wide };
Half needHalf(Decode &d) {
  int half = d.takeOneOf({"lo", "hi", "wide"});
  if (half < 0)
    d.refuse("expected .lo, .hi or .wide");
  return Half(half);
}
Type widened(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  default:
    return Type::S64;
  }
}

template <bool subtract> std::unique_ptr<Op> decodeAddSub(Decode &d) {
  if (d.take("cc"))
    return decodeCarryAdd(d, subtract, false);
  bool isSigned;
  if (!subtract && takePair(d, isSigned)) {
    Three o = three(d, Type::B32);
    return pairs<uint16_t>(o.d, o.a, o.b, [](uint16_t a, uint16_t b) { return uint16_t(a + b); });
  }
  bool saturate = d.take("sat");
  Type type = d.needType();
  Three o = three(d, type);
  if (saturate) {
    if (type != Type::S32)
      d.refuse(".sat exists for .s32 only");
    return typed<int32_t>(o.d, o.a, o.b, [](int32_t a, int32_t b) {
      return clampS32(subtract ? int64_t(a) - b : int64_t(a) + b);
    });
  }
  return forIntegers(d, type, [&]<class T>(T) {
    return typed<T>(o.d, o.a, o.b, [](T a, T b) {
      using U = Unsigned<T>;
      return wrap<T>(subtract ? U(a) - U(b) : U(a) + U(b));
    });
  });
}

std::unique_ptr<Op> decodeMul24(Decode &d) {
  int high = d.takeOneOf({"lo", "hi"});
  bool isSigned = d.take("s32");
  if (high < 0 || (!isSigned && !d.take("u32")))
    d.refuse("expected .lo or .hi, and .u32 or .s32");
  Three o = three(d, Type::U32);
  return typed<uint32_t>(o.d, o.a, o.b, [=](uint32_t a, uint32_t b) {
    int64_t x = isSigned ? int32_t(a << 8) >> 8 : int64_t(a & 0xffffff);
    int64_t y = isSigned ? int32_t(b << 8) >> 8 : int64_t(b & 0xffffff);
    return uint32_t(high ? x * y >> 16 : x * y);
  });
}

std::unique_ptr<Op> decodeMad24(Decode &d) {
  int high = d.takeOneOf({"lo", "hi"});
  bool saturate = d.take("sat");
  bool isSigned = d.take("s32");
  if (high < 0 || (!isSigned && !d.take("u32")) || (saturate && (!isSigned || !high)))
    d.refuse("expected .lo or .hi, and .u32 or .s32; .sat with .hi and .s32 only");
  d.end();
  d.needOperands(4, 4);
  return typed<uint32_t>(d.dst(0), d.src(1, Type::U32), d.src(2, Type::U32), d.src(3, Type::U32),
                         [=](uint32_t a, uint32_t b, uint32_t c) {
                           int64_t x = isSigned ? int32_t(a << 8) >> 8 : int64_t(a & 0xffffff);
                           int64_t y = isSigned ? int32_t(b << 8) >> 8 : int64_t(b & 0xffffff);
                           int64_t product = high ? x * y >> 16 : x * y;
                           if (saturate)
                             return uint32_t(clampS32(int64_t(int32_t(product)) + int32_t(c)));
                           return uint32_t(product) + c;
                         });
}

std::unique_ptr<Op> decodeSad(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(4, 4);
  Dst to = d.dst(0);
  Src a = d.src(1, type), b = d.src(2, type), c = d.src(3, type);
  return forIntegers(d, type, [&]<class T>(T) {
    return typed<T>(to, a, b, c, [](T x, T y, T z) {
      using U = Unsigned<T>;
      return wrap<T>(U(z) + (x < y ? U(y) - U(x) : U(x) - U(y)));
    });
  });
}

template <class T> T quotient(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return wrap<T>(0 - Unsigned<T>(a));
  return T(a / b);
}
template <class T> T remainder(T a, T b) {
  if (b == 0)
    return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return 0;
  return T(a % b);
}

std::unique_ptr<Op> decodeRem(Decode &d) {
  Type type = d.needType();
  Three o = three(d, type);
  return forIntegers(d, type, [&]<class T>(T) { return typed<T>(o.d, o.a, o.b, &remainder<T>); });
}

template <bool absolute> std::unique_ptr<Op> decodeAbsNeg(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  if (!ptx::isSigned(type))
    d.refuse("expected a signed type, found .%s", ptx::typeName(type));
  Dst to = d.dst(0);
  Src a = d.src(1, type);
  return forIntegers(d, type, [&]<class T>(T) {
    return typed<T>(to, a,
                    [](T x) { return !absolute || x < 0 ? wrap<T>(0 - Unsigned<T>(x)) : x; });
  });
}

template <bool largest> std::unique_ptr<Op> decodeMinMax(Decode &d) {
  bool relu = d.take("relu");
  auto choose = []<class T>(T a, T b) { return largest ? std::max(a, b) : std::min(a, b); };
  bool isSigned;
  if (takePair(d, isSigned)) {
    relu |= d.take("relu");
    if (relu && !isSigned)
      d.refuse(".relu exists for signed types only");
    Three o = three(d, Type::B32);
    if (!isSigned)
      return pairs<uint16_t>(o.d, o.a, o.b, choose);
    int16_t least = relu ? 0 : INT16_MIN;
    return pairs<int16_t>(o.d, o.a, o.b, [choose, least](int16_t a, int16_t b) {
      return std::max(choose(a, b), least);
    });
  }
  Type type = d.needType();
  relu |= d.take("relu");
  Three o = three(d, type);
  if (relu) {
    if (type != Type::S32)
      d.refuse(".relu exists for .s32 and .s16x2 only");
    return typed<int32_t>(o.d, o.a, o.b,
                          [choose](int32_t a, int32_t b) { return std::max(choose(a, b), 0); });
  }
  return forIntegers(d, type, [&]<class T>(T) { return typed<T>(o.d, o.a, o.b, choose); });
}
} // namespace

std::unique_ptr<Op> decodeIntegerAdd(Decode &d) { return decodeAddSub<false>(d); }
std::unique_ptr<Op> decodeIntegerSub(Decode &d) { return decodeAddSub<true>(d); }
std::unique_ptr<Op> decodeIntegerAbs(Decode &d) { return decodeAbsNeg<true>(d); }
std::unique_ptr<Op> decodeIntegerNeg(Decode &d) { return decodeAbsNeg<false>(d); }
std::unique_ptr<Op> decodeIntegerMin(Decode &d) { return decodeMinMax<false>(d); }
std::unique_ptr<Op> decodeIntegerMax(Decode &d) { return decodeMinMax<true>(d); }

std::unique_ptr<Op> decodeIntegerMul(Decode &d) {
  Half half = needHalf(d);
  Type type = d.needType();
  Three o = three(d, type);
  return forIntegers(d, type, [&]<class T>(T) -> std::unique_ptr<Op> {
    if (half == Half::Low)
      return typed<T>(o.d, o.a, o.b,
                      [](T a, T b) { return wrap<T>(Unsigned<T>(a) * Unsigned<T>(b)); });
    if (half == Half::High)
      return typed<T>(o.d, o.a, o.b, &mulHigh<T>);
    if constexpr (sizeof(T) < 8)
      return typed<T>(o.d, o.a, o.b, &mulWide<T>);
    d.refuse("there is no mul.wide of 64 bits");
  });
}

std::unique_ptr<Op> decodeIntegerMad(Decode &d) {
  if (hasPart(d, "cc"))
    return decodeCarryMad(d, false);
  Half half = needHalf(d);
  bool saturate = d.take("sat");
  Type type = d.needType();
  d.end();
  d.needOperands(4, 4);
  if (saturate && (half != Half::High || type != Type::S32))
    d.refuse(".sat exists for mad.hi.s32 only");
  Dst to = d.dst(0);
  Src a = d.src(1, type), b = d.src(2, type);
  Src c = d.src(3, half == Half::Wide ? widened(type) : type);
  return forIntegers(d, type, [&]<class T>(T) -> std::unique_ptr<Op> {
    if (half == Half::Low)
      return typed<T>(to, a, b, c, [](T x, T y, T z) {
        return wrap<T>(Unsigned<T>(x) * Unsigned<T>(y) + Unsigned<T>(z));
      });
    if (half == Half::High)
      return typed<T>(to, a, b, c, [saturate](T x, T y, T z) {
        T high = mulHigh(x, y);
        if (saturate)
          return T(clampS32(int64_t(high) + int64_t(z)));
        return wrap<T>(Unsigned<T>(high) + Unsigned<T>(z));
      });
    if constexpr (sizeof(T) < 8)
      return lanewise(to, a, b, c, [](uint64_t x, uint64_t y, uint64_t z) {
        auto product = mulWide(T(x), T(y));
        using W = std::make_unsigned_t<decltype(product)>;
        return uint64_t(W(W(product) + W(z)));
      });
    d.refuse("there is no mad.wide of 64 bits");
  });
}

std::unique_ptr<Op> decodeIntegerDiv(Decode &d) {
  Type type = d.needType();
  Three o = three(d, type);
  return forIntegers(d, type, [&]<class T>(T) { return typed<T>(o.d, o.a, o.b, &quotient<T>); });
}

void registerInteger(DecoderTable &table) {
  table.add("add", byType<decodeIntegerAdd, decodeFloatAdd>,
            {{"add.{u16|s16}", "%rs1, %rs2, %rs3"},
             {"add.{u32|s32}", "%r1, %r2, %r3"},
             {"add.{u64|s64}", "%rd1, %rd2, %rd3"},
             {"add.sat.s32", "%r1, %r2, %r3"},
             {"add.{u16x2|s16x2}", "%r1, %r2, %r3"},
             {"add.cc.{u32|s32}", "%r1, %r2, %r3"},
             {"add.cc.{u64|s64}", "%rd1, %rd2, %rd3"}});
  table.add("sub", byType<decodeIntegerSub, decodeFloatSub>,
            {{"sub.{u16|s16}", "%rs1, %rs2, %rs3"},
             {"sub.{u32|s32}", "%r1, %r2, %r3"},
             {"sub.{u64|s64}", "%rd1, %rd2, %rd3"},
             {"sub.sat.s32", "%r1, %r2, %r3"},
             {"sub.cc.{u32|s32}", "%r1, %r2, %r3"},
             {"sub.cc.{u64|s64}", "%rd1, %rd2, %rd3"}});
  table.add("mul", byType<decodeIntegerMul, decodeFloatMul>,
            {{"mul.{lo|hi}.{u16|s16}", "%rs1, %rs2, %rs3"},
             {"mul.{lo|hi}.{u32|s32}", "%r1, %r2, %r3"},
             {"mul.{lo|hi}.{u64|s64}", "%rd1, %rd2, %rd3"},
             {"mul.wide.{u16|s16}", "%r1, %rs2, %rs3"},
             {"mul.wide.{u32|s32}", "%rd1, %r2, %r3"}});
  table.add("mad", byType<decodeIntegerMad, decodeFloatMad>,
            {{"mad.{lo|hi}.{u16|s16}", "%rs1, %rs2, %rs3, %rs4"},
             {"mad.{lo|hi}.{u32|s32}", "%r1, %r2, %r3, %r4"},
             {"mad.{lo|hi}.{u64|s64}", "%rd1, %rd2, %rd3, %rd4"},
             {"mad.wide.{u16|s16}", "%r1, %rs2, %rs3, %r4"},
             {"mad.wide.{u32|s32}", "%rd1, %r2, %r3, %rd4"},
             {"mad.hi.sat.s32", "%r1, %r2, %r3, %r4"},
             {"mad.{lo|hi}.cc.{u32|s32}", "%r1, %r2, %r3, %r4"},
             {"mad.{lo|hi}.cc.{u64|s64}", "%rd1, %rd2, %rd3, %rd4"}});
  table.add("mul24", decodeMul24, {{"mul24.{lo|hi}.{u32|s32}", "%r1, %r2, %r3"}});
  table.add("mad24", decodeMad24,
            {{"mad24.{lo|hi}.{u32|s32}", "%r1, %r2, %r3, %r4"},
             {"mad24.hi.sat.s32", "%r1, %r2, %r3, %r4"}});
  table.add("sad", decodeSad,
            {{"sad.{u16|s16}", "%rs1, %rs2, %rs3, %rs4"},
             {"sad.{u32|s32}", "%r1, %r2, %r3, %r4"},
             {"sad.{u64|s64}", "%rd1, %rd2, %rd3, %rd4"}});
  table.add("div", byType<decodeIntegerDiv, decodeFloatDiv>,
            {{"div.{u16|s16}", "%rs1, %rs2, %rs3"},
             {"div.{u32|s32}", "%r1, %r2, %r3"},
             {"div.{u64|s64}", "%rd1, %rd2, %rd3"}});
  table.add("rem", decodeRem,
            {{"rem.{u16|s16}", "%rs1, %rs2, %rs3"},
             {"rem.{u32|s32}", "%r1, %r2, %r3"},
             {"rem.{u64|s64}", "%rd1, %rd2, %rd3"}});
  table.add("abs", byType<decodeIntegerAbs, decodeFloatAbs>,
            {{"abs.s16", "%rs1, %rs2"}, {"abs.s32", "%r1, %r2"}, {"abs.s64", "%rd1, %rd2"}});
  table.add("neg", byType<decodeIntegerNeg, decodeFloatNeg>,
            {{"neg.s16", "%rs1, %rs2"}, {"neg.s32", "%r1, %r2"}, {"neg.s64", "%rd1, %rd2"}});
  table.add("min", byType<decodeIntegerMin, decodeFloatMin>,
            {{"min.{u16|s16}", "%rs1, %rs2, %rs3"},
             {"min[.relu].s32", "%r1, %r2, %r3"},
             {"min.{u32|u16x2}", "%r1, %r2, %r3"},
             {"min[.relu].s16x2", "%r1, %r2, %r3"},
             {"min.{u64|s64}", "%rd1, %rd2, %rd3"}});
  table.add("max", byType<decodeIntegerMax, decodeFloatMax>,
            {{"max.{u16|s16}", "%rs1, %rs2, %rs3"},
             {"max[.relu].s32", "%r1, %r2, %r3"},
             {"max.{u32|u16x2}", "%r1, %r2, %r3"},
             {"max[.relu].s16x2", "%r1, %r2, %r3"},
             {"max.{u64|s64}", "%rd1, %rd2, %rd3"}});
  registerIntegerCarry(table);
  registerIntegerBits(table);
  registerIntegerLogic(table);
  registerIntegerDot(table);
}

} // namespace ts::emu
