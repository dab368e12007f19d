// The arithmetic of check expressions on whole tensors. Private to the evaluator.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_LIB_RUNTIME_CHECKARITH_H
#define TS_LIB_RUNTIME_CHECKARITH_H

#include "ts/Runtime/CheckExpr.h"

#include <atomic>

namespace ts {

/// Whether f32 sums of such values are exact (see Tolerance.h).
bool isIntegral(double value);

/// result = op(operands) with broadcasting; the result's shape is set already.
void applyElementwise(CheckExpr::Op op, const std::vector<CheckTensor> &operands,
                      CheckTensor &result, bool hasProduct, ElementType output);

/// result = operand, each value rounded to `type` somewhere in the kernel.
void roundTensor(ElementType type, const CheckTensor &operand, CheckTensor &result);

/// Makes the noise a part of the bound: it is not independent any more.
void foldNoise(CheckTensor &tensor);

/// Sum or maximum over the middle dimension of operand seen as [.., reduced, inner].
void reduceTensor(bool maximum, double initial, const CheckTensor &operand, int64_t reduced,
                  int64_t inner, CheckTensor &result);

/// result = a @ b over the last two dimensions, the others broadcast.
void multiply(const CheckTensor &a, const CheckTensor &b, CheckTensor &result);

} // namespace ts

#endif // TS_LIB_RUNTIME_CHECKARITH_H
