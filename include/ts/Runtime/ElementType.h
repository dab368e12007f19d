// The element types of arrays and scalars outside the compiler: their spelling, their size and the
// exact conversion of one element from and to double. Conversions to a narrower type round once, to
// nearest with ties to even, straight from double, so no value is rounded twice.
// Types of less than a byte (fp4, fp6) are not here: no array of the runtime holds them yet.
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
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
};

/// As manifests spell them: f32, bf16, f8e4m3, i32, ui8, ...; signless integers count as signed.
std::optional<ElementType> parseElementType(std::string_view name);
const char *elementTypeName(ElementType type);

int64_t elementSize(ElementType type); // in bytes
bool isFloat(ElementType type);
bool isSigned(ElementType type);

/// The value of the element at `from` (any alignment). 64-bit integers beyond 2^53 lose digits.
double loadElement(ElementType type, const void *from);

/// Rounds `value` to the type and writes it to `to`. Integers saturate; a NaN becomes zero there.
/// Floating types overflow to infinity, f8e4m3 (which has none) to NaN.
void storeElement(ElementType type, void *to, double value);

/// What storing and loading makes of `value`.
double roundToElement(ElementType type, double value);

/// Half the distance between neighbours of the type around `value`: the most that one rounding to
/// nearest moves it. Zero for integers.
double halfUlp(ElementType type, double value);

/// The largest finite value of the type.
double maxFinite(ElementType type);

} // namespace ts

#endif // TS_RUNTIME_ELEMENTTYPE_H
