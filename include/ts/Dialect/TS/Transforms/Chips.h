// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which chips have what a kernel uses, by the table of TS227 and TS228. Not what a chip is for the
// backend: that is Target/PTX/Chip.h.
#ifndef TS_DIALECT_TS_TRANSFORMS_CHIPS_H
#define TS_DIALECT_TS_TRANSFORMS_CHIPS_H

#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {

/// The chips on which TS227 and TS228 find nothing in the kernel, oldest first.
SmallVector<StringRef> chipsFor(KernelOp kernel);

} // namespace mlir::ts

#endif
