// The element types of arrays and scalars outside the compiler: their spelling, their size and the
// exact conversion of one element from and to double. Conversions to a narrower type round once, to
// nearest with ties to even, straight from double, so no value is rounded twice.
// Elements of four bits lie two to a byte, the first in the low half. Six-bit types are not here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_ELEMENTTYPE_H
#define TS_RUNTIME_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace ts {

enum class ElementType {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  F8E8M0, // powers of two: an exponent and nothing else; scales of mxfp8 and mxfp4
  F4E2M1,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
};

/// As manifests spell them: f32, bf16, f8e4m3, f4e2m1, i32, ui8, ...; signless integers count as
/// signed.
std::optional<ElementType> parseElementType(std::string_view name);
const char *elementTypeName(ElementType type);

int64_t elementBits(ElementType type);
/// Bytes of so many consecutive elements that begin at a whole byte.
int64_t elementBytes(ElementType type, int64_t count);
int64_t elementSize(ElementType type); // bytes that one element alone takes
bool isFloat(ElementType type);
bool isSigned(ElementType type);
bool hasNan(ElementType type);

/// The value of the element at `from` (any alignment). 64-bit integers beyond 2^53 lose digits.
double loadElement(ElementType type, const void *from);

/// Rounds `value` to the type and writes it to `to`. Integers saturate; a NaN becomes zero there.
/// Floating types overflow to infinity, f8e4m3 and f8e8m0 (which have none) to NaN, f4e2m1 (which
/// has no NaN either) to its largest number, which it also takes for NaN. f8e8m0 has no sign and no
/// zero: negative numbers become NaN, and zero the smallest power of two. A four-bit element goes
/// to the low half of the byte, and the other half becomes zero.
void storeElement(ElementType type, void *to, double value);

/// The same for element `index` of consecutive ones that begin at `base`; neighbours keep their
/// bits.
double loadElementAt(ElementType type, const void *base, int64_t index);
void storeElementAt(ElementType type, void *base, int64_t index, double value);

/// What storing and loading makes of `value`.
double roundToElement(ElementType type, double value);

/// Half the distance between neighbours of the type around `value`: the most that one rounding to
/// nearest moves it. Zero for integers.
double halfUlp(ElementType type, double value);

/// The largest finite value of the type.
double maxFinite(ElementType type);

} // namespace ts

#endif // TS_RUNTIME_ELEMENTTYPE_H
