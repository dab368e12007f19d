// The arithmetic of cp.reduce.async.bulk. Source: PTX ISA, cp.reduce.async.bulk.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../Numbers/SmallFloats.h"
#include "Copy.h"

#include <cmath>

namespace ts::emu {
namespace {

template <class T> T integer(Reduction op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case Reduction::Add:
    return T(U(a) + U(b));
  case Reduction::Min:
    return std::min(a, b);
  case Reduction::Max:
    return std::max(a, b);
  case Reduction::Inc:
    return a >= b ? T(0) : T(a + 1);
  case Reduction::Dec:
    return a == 0 || a > b ? b : T(a - 1);
  case Reduction::And:
    return a & b;
  case Reduction::Or:
    return a | b;
  case Reduction::Xor:
    return a ^ b;
  }
  return a;
}

uint16_t half(Reduction op, Num format, uint16_t a, uint16_t b) {
  double x = toDouble(format, a), y = toDouble(format, b);
  if (op == Reduction::Add) // exact in double, rounded once
    return uint16_t(fromDouble(format, x + y));
  // min and max take the number if the other one is none; -0 is below +0.
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y) ? uint16_t(0x7fff) : std::isnan(x) ? b : a;
  bool aIsLess = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return (op == Reduction::Min) == aIsLess ? a : b;
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

template <class T, class F> void each(uint8_t *to, const uint8_t *from, size_t count, F f) {
  for (size_t i = 0; i < count; ++i) {
    T a, b;
    memcpy(&a, to + i * sizeof(T), sizeof(T));
    memcpy(&b, from + i * sizeof(T), sizeof(T));
    a = f(a, b);
    memcpy(to + i * sizeof(T), &a, sizeof(T));
  }
}
} // namespace

unsigned reduceBytes(ReduceType type) {
  switch (type) {
  case ReduceType::F16:
  case ReduceType::BF16:
    return 2;
  case ReduceType::U64:
  case ReduceType::S64:
  case ReduceType::F64:
  case ReduceType::B64:
    return 8;
  default:
    return 4;
  }
}

bool reduceAllowed(Reduction op, ReduceType type, bool toShared) {
  using T = ReduceType;
  auto is = [&](std::initializer_list<T> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  switch (op) {
  case Reduction::Add:
    return is({T::U32, T::S32, T::U64}) ||
           (!toShared && is({T::F16, T::BF16, T::F32, T::F32Ftz, T::F64}));
  case Reduction::Min:
  case Reduction::Max:
    return is({T::U32, T::S32}) || (!toShared && is({T::U64, T::S64, T::F16, T::BF16}));
  case Reduction::Inc:
  case Reduction::Dec:
    return type == T::U32;
  default:
    return type == T::B32 || (!toShared && type == T::B64);
  }
}

void reduce(Reduction op, ReduceType type, uint8_t *to, const uint8_t *from, size_t count) {
  switch (type) {
  case ReduceType::U32:
  case ReduceType::B32:
    return each<uint32_t>(to, from, count,
                          [=](uint32_t a, uint32_t b) { return integer(op, a, b); });
  case ReduceType::S32:
    return each<int32_t>(to, from, count, [=](int32_t a, int32_t b) { return integer(op, a, b); });
  case ReduceType::U64:
  case ReduceType::B64:
    return each<uint64_t>(to, from, count,
                          [=](uint64_t a, uint64_t b) { return integer(op, a, b); });
  case ReduceType::S64:
    return each<int64_t>(to, from, count, [=](int64_t a, int64_t b) { return integer(op, a, b); });
  case ReduceType::F16:
  case ReduceType::BF16: {
    Num format = type == ReduceType::F16 ? Num::F16 : Num::BF16;
    return each<uint16_t>(to, from, count,
                          [=](uint16_t a, uint16_t b) { return half(op, format, a, b); });
  }
  case ReduceType::F32:
    return each<float>(to, from, count, [](float a, float b) { return a + b; });
  case ReduceType::F32Ftz:
    return each<float>(to, from, count,
                       [](float a, float b) { return flushed(flushed(a) + flushed(b)); });
  case ReduceType::F64:
    return each<double>(to, from, count, [](double a, double b) { return a + b; });
  }
}

} // namespace ts::emu
