// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call each to register the dialects and the passes that our tools, the plugin, the Python
// module and embedding compilers need.
#ifndef TS_INITALL_H
#define TS_INITALL_H

namespace mlir {
class DialectRegistry;
namespace ts {
/// `ts` and every dialect its pipelines read or create, with their LLVM conversion interfaces.
void registerAllTSDialects(DialectRegistry &registry);
/// Every pass of ours and the pipelines ts-verify, ts-lower, ts-to-llvm.
void registerTSPasses();
} // namespace ts
} // namespace mlir

#endif
