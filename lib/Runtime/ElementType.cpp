// Element types: names, sizes and exact conversions. The small floating formats are described by
// three numbers each and share one encoder and one decoder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/ElementType.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

using namespace ts;

namespace {
struct TypeInfo {
  ElementType type;
  const char *name;
  int bits;
};
constexpr TypeInfo infos[] = {
    {ElementType::F64, "f64", 64},      {ElementType::F32, "f32", 32},
    {ElementType::F16, "f16", 16},      {ElementType::BF16, "bf16", 16},
    {ElementType::F8E4M3, "f8e4m3", 8}, {ElementType::F8E5M2, "f8e5m2", 8},
    {ElementType::F8E8M0, "f8e8m0", 8}, {ElementType::F4E2M1, "f4e2m1", 4},
    {ElementType::I64, "i64", 64},      {ElementType::I32, "i32", 32},
    {ElementType::I16, "i16", 16},      {ElementType::I8, "i8", 8},
    {ElementType::U64, "ui64", 64},     {ElementType::U32, "ui32", 32},
    {ElementType::U16, "ui16", 16},     {ElementType::U8, "ui8", 8},
};

/// A binary floating format: sign, exponent field, fraction field.
struct FloatFormat {
  int fractionBits;
  int minExponent; // of the smallest normal number, as a power of two
  int maxExponent; // of the largest finite number
  double maxFinite;
  bool hasInfinity; // f8e4m3 has none: its largest exponent holds numbers and a single NaN
  bool hasNan = true;
};

FloatFormat formatOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return {52, -1022, 1023, std::numeric_limits<double>::max(), true};
  case ElementType::F32:
    return {23, -126, 127, static_cast<double>(std::numeric_limits<float>::max()), true};
  case ElementType::F16:
    return {10, -14, 15, 65504.0, true};
  case ElementType::BF16:
    return {7, -126, 127, 0x1.fep127, true};
  case ElementType::F8E4M3:
    return {3, -6, 8, 448.0, false};
  case ElementType::F8E5M2:
    return {2, -14, 15, 57344.0, true};
  case ElementType::F8E8M0:
    return {0, -127, 127, 0x1p127, false};
  case ElementType::F4E2M1:
    return {1, 0, 2, 6.0, false, false};
  default:
    assert(false && "not a floating type");
    return {};
  }
}

/// The distance between neighbouring numbers of the format around a finite `value`.
double ulp(const FloatFormat &format, double value) {
  int exponent = format.minExponent;
  if (value != 0)
    exponent = std::clamp(std::ilogb(value), format.minExponent, format.maxExponent);
  return std::ldexp(1.0, exponent - format.fractionBits);
}

/// Encodes into a format of at most 16 bits.
uint32_t encode(const FloatFormat &format, int bits, double value) {
  uint32_t sign = std::signbit(value) ? 1u << (bits - 1) : 0;
  uint32_t infinity = ((1u << (bits - 1)) - 1) & ~((1u << format.fractionBits) - 1);
  // Without a NaN it is the code of the largest number, where overflows go too.
  uint32_t nan =
      format.hasInfinity ? infinity | 1u << (format.fractionBits - 1) : (1u << (bits - 1)) - 1;
  if (std::isnan(value))
    return sign | nan;
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | (format.hasInfinity ? infinity : nan);
  // Both steps are exact: dividing by a power of two, and rint's rounding to nearest even.
  double step = ulp(format, magnitude);
  double units = std::nearbyint(magnitude / step);
  double rounded = units * step;
  if (rounded > format.maxFinite)
    return sign | (format.hasInfinity ? infinity : nan);
  if (rounded == 0)
    return sign;
  int exponent = std::max(std::ilogb(rounded), format.minExponent);
  auto scaled = static_cast<uint32_t>(std::ldexp(rounded, format.fractionBits - exponent)); // exact
  uint32_t one = 1u << format.fractionBits;
  // A subnormal has no implicit one, and an exponent field of zero.
  uint32_t field = scaled >= one ? static_cast<uint32_t>(exponent - format.minExponent + 1) : 0;
  return sign | field << format.fractionBits | (scaled & (one - 1));
}

double decode(const FloatFormat &format, int bits, uint32_t code) {
  uint32_t fraction = code & ((1u << format.fractionBits) - 1);
  uint32_t magnitude = code & ((1u << (bits - 1)) - 1);
  uint32_t field = magnitude >> format.fractionBits;
  uint32_t topField = ((1u << (bits - 1)) - 1) >> format.fractionBits;
  double result;
  if (format.hasNan &&
      (format.hasInfinity ? field == topField : magnitude == (1u << (bits - 1)) - 1))
    result = format.hasInfinity && fraction == 0 ? std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<double>::quiet_NaN();
  else if (field == 0)
    result = std::ldexp(fraction, format.minExponent - format.fractionBits);
  else
    result = std::ldexp(fraction + (1u << format.fractionBits),
                        static_cast<int>(field) - 1 + format.minExponent - format.fractionBits);
  return code >> (bits - 1) ? -result : result;
}

/// A power of two has no fraction, and its exponent field no room for anything but a NaN.
uint8_t encodePower(double value) {
  constexpr uint8_t nan = 0xff;
  if (std::isnan(value) || std::isinf(value) || value < 0)
    return nan;
  constexpr int lowest = -127;
  if (value <= std::ldexp(1.0, lowest))
    return 0;
  int exponent = std::ilogb(value);
  double ratio = std::ldexp(value, -exponent); // 1 <= ratio < 2
  if (ratio > 1.5 || (ratio == 1.5 && (exponent - lowest) % 2))
    ++exponent;
  return exponent > 127 ? nan : static_cast<uint8_t>(exponent - lowest);
}

double decodePower(uint8_t code) {
  return code == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}

template <typename T> double loadAs(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return static_cast<double>(value);
}

template <typename T> void storeInteger(void *to, double value) {
  constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  T result = 0;
  double whole = std::nearbyint(value);
  if (whole >= static_cast<double>(high))
    result = high;
  else if (whole <= static_cast<double>(low))
    result = low;
  else if (!std::isnan(whole))
    result = static_cast<T>(whole);
  std::memcpy(to, &result, sizeof(T));
}
} // namespace

std::optional<ElementType> ts::parseElementType(std::string_view name) {
  if (name.size() > 2 && name.substr(0, 2) == "si")
    name.remove_prefix(1);
  for (const TypeInfo &info : infos)
    if (name == info.name)
      return info.type;
  return std::nullopt;
}

const char *ts::elementTypeName(ElementType type) { return infos[static_cast<int>(type)].name; }
int64_t ts::elementBits(ElementType type) { return infos[static_cast<int>(type)].bits; }
int64_t ts::elementBytes(ElementType type, int64_t count) {
  int64_t bits = elementBits(type);
  return bits < 8 ? (count * bits + 7) / 8 : count * (bits / 8);
}
int64_t ts::elementSize(ElementType type) { return elementBytes(type, 1); }
bool ts::isFloat(ElementType type) { return type <= ElementType::F4E2M1; }
bool ts::isSigned(ElementType type) {
  return type < ElementType::U64 && type != ElementType::F8E8M0;
}
bool ts::hasNan(ElementType type) { return isFloat(type) && type != ElementType::F4E2M1; }

double ts::loadElement(ElementType type, const void *from) {
  switch (type) {
  case ElementType::F64:
    return loadAs<double>(from);
  case ElementType::F32:
    return static_cast<double>(loadAs<float>(from));
  case ElementType::BF16: { // the upper half of an f32: the common case gets the short way
    uint16_t code;
    std::memcpy(&code, from, 2);
    uint32_t wide = static_cast<uint32_t>(code) << 16;
    return loadAs<float>(&wide);
  }
  case ElementType::F16: {
    uint16_t code;
    std::memcpy(&code, from, 2);
    return decode(formatOf(type), 16, code);
  }
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
    return decode(formatOf(type), 8, *static_cast<const uint8_t *>(from));
  case ElementType::F8E8M0:
    return decodePower(*static_cast<const uint8_t *>(from));
  case ElementType::F4E2M1:
    return decode(formatOf(type), 4, *static_cast<const uint8_t *>(from) & 0xf);
  case ElementType::I64:
    return loadAs<int64_t>(from);
  case ElementType::I32:
    return loadAs<int32_t>(from);
  case ElementType::I16:
    return loadAs<int16_t>(from);
  case ElementType::I8:
    return loadAs<int8_t>(from);
  case ElementType::U64:
    return loadAs<uint64_t>(from);
  case ElementType::U32:
    return loadAs<uint32_t>(from);
  case ElementType::U16:
    return loadAs<uint16_t>(from);
  case ElementType::U8:
    return loadAs<uint8_t>(from);
  }
  return 0;
}

void ts::storeElement(ElementType type, void *to, double value) {
  switch (type) {
  case ElementType::F64:
    std::memcpy(to, &value, 8);
    return;
  case ElementType::F32: {
    float narrow = static_cast<float>(value); // the hardware rounds to nearest even
    std::memcpy(to, &narrow, 4);
    return;
  }
  case ElementType::F16:
  case ElementType::BF16: {
    auto code = static_cast<uint16_t>(encode(formatOf(type), 16, value));
    std::memcpy(to, &code, 2);
    return;
  }
  case ElementType::F8E4M3:
  case ElementType::F8E5M2: {
    auto code = static_cast<uint8_t>(encode(formatOf(type), 8, value));
    std::memcpy(to, &code, 1);
    return;
  }
  case ElementType::F8E8M0:
    *static_cast<uint8_t *>(to) = encodePower(value);
    return;
  case ElementType::F4E2M1:
    *static_cast<uint8_t *>(to) = static_cast<uint8_t>(encode(formatOf(type), 4, value));
    return;
  case ElementType::I64:
    return storeInteger<int64_t>(to, value);
  case ElementType::I32:
    return storeInteger<int32_t>(to, value);
  case ElementType::I16:
    return storeInteger<int16_t>(to, value);
  case ElementType::I8:
    return storeInteger<int8_t>(to, value);
  case ElementType::U64:
    return storeInteger<uint64_t>(to, value);
  case ElementType::U32:
    return storeInteger<uint32_t>(to, value);
  case ElementType::U16:
    return storeInteger<uint16_t>(to, value);
  case ElementType::U8:
    return storeInteger<uint8_t>(to, value);
  }
}

double ts::loadElementAt(ElementType type, const void *base, int64_t index) {
  const auto *bytes = static_cast<const uint8_t *>(base);
  if (elementBits(type) >= 8)
    return loadElement(type, bytes + index * elementSize(type));
  auto half = static_cast<uint8_t>(bytes[index / 2] >> index % 2 * 4);
  return loadElement(type, &half);
}

void ts::storeElementAt(ElementType type, void *base, int64_t index, double value) {
  auto *bytes = static_cast<uint8_t *>(base);
  if (elementBits(type) >= 8) {
    storeElement(type, bytes + index * elementSize(type), value);
    return;
  }
  uint8_t half;
  storeElement(type, &half, value);
  int shift = static_cast<int>(index % 2 * 4);
  uint8_t &byte = bytes[index / 2];
  byte = static_cast<uint8_t>((byte & 0xf0 >> shift) | half << shift);
}

double ts::roundToElement(ElementType type, double value) {
  unsigned char bytes[8];
  storeElement(type, bytes, value);
  return loadElement(type, bytes);
}

double ts::halfUlp(ElementType type, double value) {
  if (!isFloat(type) || !std::isfinite(value))
    return 0;
  return ulp(formatOf(type), value) / 2;
}

double ts::maxFinite(ElementType type) {
  if (isFloat(type))
    return formatOf(type).maxFinite;
  int bits = static_cast<int>(elementSize(type)) * 8 - (isSigned(type) ? 1 : 0);
  return std::ldexp(1.0, bits) - 1;
}
