// How the tensor cores of sm_90a add up products, as measured on an H200 (test/Emulator/cuda, the
// *_random cases; fitted bit for bit): all products of one instruction and the accumulator are
// brought to the largest exponent among them, cut off `bits` places below it, added exactly, and
// the sum is cut off to the result's fraction. A product's exponent is the sum of its factors'
// exponents. Not for sums that come out exact anyway: MatrixCore's multiply is faster.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_MATRIX_ALIGNEDSUM_H
#define TS_EMULATOR_MATRIX_ALIGNEDSUM_H

#include "../Numbers/SmallFloats.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ts::emu {

/// The products of the rows of A (m x k) and of B (n x k) of one instruction.
class AlignedSum {
public:
  /// What is kept of each addend below the largest exponent, and of the result below its own.
  struct Precision {
    unsigned addend, result;
  };
  static constexpr Precision fp8 = {13, 13}, wide = {25, 23};

  AlignedSum(const float *a, Num typeA, unsigned m, const float *b, Num typeB, unsigned n,
             unsigned k, Precision precision);
  /// d plus the products of row `row` of A and row `column` of B.
  float operator()(unsigned row, unsigned column, float d) const;

private:
  /// A factor as mantissa * 2^(exponent - fraction); zero has mantissa 0 and a very small exponent.
  struct Factor {
    int32_t mantissa, exponent;
  };
  static constexpr int fraction = 10, none = -10000; // f16 and tf32 have the longest fractions
  void split(const float *values, Num type, size_t count, std::vector<Factor> &factors);

  const float *a, *b;
  unsigned k;
  Precision precision;
  bool finite = true;
  std::vector<Factor> factorsA, factorsB;
};

} // namespace ts::emu

#endif // TS_EMULATOR_MATRIX_ALIGNEDSUM_H
