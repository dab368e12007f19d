// The arithmetic of atomic operations. Source: PTX ISA, atom and red. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "AtomicUpdate.h"

#include "../Numbers/SmallFloats.h"

#include <cmath>

namespace ts::emu {
namespace {
using ptx::Type;

bool isHalf(Type type) {
  return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 || type == Type::BF16x2;
}

/// One f16 or bf16 element. Sums and selections of two are exact in double.
uint64_t half(AtomicKind kind, Num format, uint64_t old, uint64_t b) {
  double x = toDouble(format, old), y = toDouble(format, b);
  if (kind == AtomicKind::Add)
    return fromDouble(format, x + y);
  // As min and max are: the operand that is a number, -0 below +0.
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) ? (std::isnan(y) ? 0x7fff : b) : old;
  bool oldIsLess = x < y || (x == y && std::signbit(x));
  return (kind == AtomicKind::Min) == oldIsLess ? old : b;
}

uint64_t halves(AtomicKind kind, Type type, uint64_t old, uint64_t b) {
  Num format = type == Type::F16 || type == Type::F16x2 ? Num::F16 : Num::BF16;
  uint64_t low = half(kind, format, old & 0xffff, b & 0xffff);
  if (type == Type::F16 || type == Type::BF16)
    return low;
  return low | half(kind, format, old >> 16 & 0xffff, b >> 16 & 0xffff) << 16;
}

float flushed(float value, bool flush) {
  return flush && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

uint64_t integer(AtomicKind kind, Type type, uint64_t old, uint64_t b) {
  unsigned bits = ptx::typeBits(type);
  uint64_t mask = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  bool less = old < b;
  if (ptx::isSigned(type)) {
    unsigned shift = 64 - bits;
    less = int64_t(old << shift) < int64_t(b << shift);
  }
  switch (kind) {
  case AtomicKind::Add:
    return (old + b) & mask;
  case AtomicKind::Min:
    return less ? old : b;
  case AtomicKind::Max:
    return less ? b : old;
  case AtomicKind::And:
    return old & b;
  case AtomicKind::Or:
    return old | b;
  case AtomicKind::Xor:
    return old ^ b;
  case AtomicKind::Inc:
    return old >= b ? 0 : old + 1;
  case AtomicKind::Dec:
    return old == 0 || old > b ? b : old - 1;
  default:
    return b;
  }
}
} // namespace

bool atomicExists(AtomicKind kind, Type type, bool vector) {
  if (vector)
    return (type == Type::F32 && kind == AtomicKind::Add) ||
           (isHalf(type) && kind <= AtomicKind::Max);
  switch (kind) {
  case AtomicKind::Add:
    return type == Type::U32 || type == Type::S32 || type == Type::U64 || type == Type::F32 ||
           type == Type::F64 || isHalf(type);
  case AtomicKind::Min:
  case AtomicKind::Max:
    return type == Type::U32 || type == Type::S32 || type == Type::U64 || type == Type::S64;
  case AtomicKind::And:
  case AtomicKind::Or:
  case AtomicKind::Xor:
    return type == Type::B32 || type == Type::B64;
  case AtomicKind::Inc:
  case AtomicKind::Dec:
    return type == Type::U32;
  case AtomicKind::Exch:
    return type == Type::B32 || type == Type::B64 || type == Type::B128;
  case AtomicKind::Cas:
    return type == Type::B16 || type == Type::B32 || type == Type::B64 || type == Type::B128;
  }
  return false;
}

Wide atomicUpdate(AtomicKind kind, Type type, Wide old, Wide b, Wide c, bool flush) {
  if (kind == AtomicKind::Cas)
    return old == b ? c : old;
  if (kind == AtomicKind::Exch)
    return b;
  if (isHalf(type))
    return {halves(kind, type, old.low, b.low), 0};
  if (type == Type::F32) {
    float x = flushed(std::bit_cast<float>(uint32_t(old.low)), flush);
    float y = flushed(std::bit_cast<float>(uint32_t(b.low)), flush);
    float sum = x + y;
    if (std::isnan(sum))
      return {0x7fffffff, 0};
    return {std::bit_cast<uint32_t>(flushed(sum, flush)), 0};
  }
  if (type == Type::F64)
    return {std::bit_cast<uint64_t>(std::bit_cast<double>(old.low) + std::bit_cast<double>(b.low)),
            0};
  return {integer(kind, type, old.low, b.low), 0};
}

} // namespace ts::emu
