// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry of the kernel-level part of ts-lower-schedule.
#ifndef TS_LIB_CONVERSION_TSTONVGPU_LOWERSCHEDULEKERNEL_H
#define TS_LIB_CONVERSION_TSTONVGPU_LOWERSCHEDULEKERNEL_H

#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {
/// Creates a gpu.func of the kernel's name before it. The kernel stays; the caller erases it.
LogicalResult lowerKernel(OpBuilder &b, KernelOp kernel);
} // namespace mlir::ts

#endif
