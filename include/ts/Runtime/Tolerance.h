// The one place that says how far a kernel's result may be from the reference. The reference is
// computed in double precision from the very inputs of the kernel; each of its values carries a
// bound on what a kernel may lose on the way, built by the functions below, and a result is right
// if
//
//   |result - reference| <= bound + one rounding to the output's type.
//
// A bound of zero means that the kernel has no freedom: the result has to be the correctly rounded
// reference. That is so for copies, and for sums and products of integers as long as the sum of the
// magnitudes stays within 2^24, which f32 holds exactly in any order of summation.
//
// Nobody widens these per test. If a kernel cannot keep them, it is the kernel that is wrong, or
// the argument written beside the function. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_TOLERANCE_H
#define TS_RUNTIME_TOLERANCE_H

#include "ts/Runtime/ElementType.h"

namespace ts {

/// Integers up to here, and their sums, are exact in f32.
inline constexpr double exactIntegerLimit = 0x1p24;

/// The bound of a sum of `terms` products a[k] b[k] accumulated in f32:
/// 2 sqrt(terms) 2^-24 sum |a[k]| |b[k]|, `magnitude` being the last factor.
double sumBound(double terms, double magnitude);

/// The bound of `operations` elementary operations with the result `value`: one rounding each, to
/// f32 where the expression has a matrix product (the work then follows an f32 accumulator), and to
/// the output's type where it has none (such kernels compute in that type).
double operationBound(int operations, double value, bool hasProduct, ElementType output);

/// The bound of a product whose factors were rounded to a narrow type on the way, as an attention
/// kernel rounds its probabilities. Each term is off by at most so much, independently of the
/// others; `squares` is the sum of the squares of that. Four times the root: roundings are uniform
/// within their largest error e, so they have the variance e^2 / 3, and Hoeffding's inequality for
/// their sum leaves one in 10^10 outside. The linear sum of all e would hide that a key was left
/// out.
double roundingsBound(double squares);

/// The most that rounding to `type` changes a value, in parts of it: the kernel may round it at
/// another scale than the expression.
double relativeRounding(ElementType type);

/// What exp, and other functions without a correctly rounded instruction, count as.
inline constexpr int functionOperations = 4;

/// The largest distance from `reference` that is still right.
double allowedError(ElementType output, double reference, double bound);

/// Whether `result` is right. NaN has to be NaN and infinity the same infinity; an overflow of the
/// output's type is right where the bound reaches past its largest number.
bool withinTolerance(ElementType output, double result, double reference, double bound);

} // namespace ts

#endif // TS_RUNTIME_TOLERANCE_H
