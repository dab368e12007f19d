// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of ts-verify-protocol.
#ifndef TS_LIB_DIALECT_TS_TRANSFORMS_VERIFYPROTOCOLIMPL_H
#define TS_LIB_DIALECT_TS_TRANSFORMS_VERIFYPROTOCOLIMPL_H

#include "ts/Dialect/TS/Transforms/Verify.h"

namespace mlir::ts::detail {

void checkPipelines(KernelOp kernel, CheckReporter &reporter);                   // TS215 to TS223
void checkIssuedBytes(KernelOp kernel, CheckReporter &reporter);                 // TS217 over paths
void checkWarpRanges(KernelOp kernel, CheckReporter &reporter);                  // TS224
void checkCapacity(KernelOp kernel, bool lacksFeature, CheckReporter &reporter); // TS225, TS226
void checkNamedBarriers(KernelOp kernel, CheckReporter &reporter);               // TS229
void checkBarrierStorage(KernelOp kernel, CheckReporter &reporter);              // TS230
void checkFootprints(KernelOp kernel, CheckReporter &reporter);                  // TS102
void checkTmemUse(KernelOp kernel, CheckReporter &reporter);                     // TS231
void checkFences(KernelOp kernel, CheckReporter &reporter);                      // TS232
void checkTileOrder(KernelOp kernel, CheckReporter &reporter);                   // TS233
void checkArchitecture(KernelOp kernel, CheckReporter &reporter);                // TS227, TS228

} // namespace mlir::ts::detail

#endif
