// The tolerance formula; the reasoning is in the header.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/Tolerance.h"

#include <cmath>

using namespace ts;

double ts::sumBound(double terms, double magnitude) {
  return 2 * std::sqrt(terms) * 0x1p-24 * magnitude;
}

double ts::operationBound(int operations, double value, bool hasProduct, ElementType output) {
  bool narrow = elementBits(output) < 32 && isFloat(output) && !hasProduct;
  return operations * halfUlp(narrow ? output : ElementType::F32, value);
}

double ts::roundingsBound(double squares) { return 4 * std::sqrt(squares); }

double ts::relativeRounding(ElementType type) { return halfUlp(type, 1); }

double ts::allowedError(ElementType output, double reference, double bound) {
  if (bound == 0)
    return std::fabs(roundToElement(output, reference) - reference);
  return bound + halfUlp(output, std::fabs(reference) + bound);
}

bool ts::withinTolerance(ElementType output, double result, double reference, double bound) {
  if (std::isnan(reference) || std::isnan(bound))
    return std::isnan(result);
  if (std::isinf(reference))
    return result == reference;
  if (bound == 0) // -0 and 0 are the same number
    return result == roundToElement(output, reference) ||
           (std::isnan(result) && std::isnan(roundToElement(output, reference)));
  if (std::isinf(result)) {
    double reach = std::fabs(reference) + allowedError(output, reference, bound);
    return reach > maxFinite(output) && std::signbit(result) == std::signbit(reference);
  }
  return std::fabs(result - reference) <= allowedError(output, reference, bound);
}
