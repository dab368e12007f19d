// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch manifest of a lowered module. The lowering leaves on each kernel a string attribute
// with the JSON object of that kernel; here they are checked against the functions and put into one
// document (schema: docs/manifest.schema.json). Reading a manifest is the runtime's business.
#ifndef TS_TARGET_PTX_MANIFEST_H
#define TS_TARGET_PTX_MANIFEST_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include <string>

namespace mlir::ts {

/// Attribute on a lowered kernel (gpu.func or llvm.func): the JSON object of the kernel as text.
inline constexpr llvm::StringLiteral manifestAttrName = "ts.manifest";

/// {"version": 1, "kernels": [...]} of all kernels of the module, or an empty string if none has
/// the attribute. A text that is no JSON or does not fit its function is an error.
FailureOr<std::string> collectManifest(gpu::GPUModuleOp module);

} // namespace mlir::ts

#endif // TS_TARGET_PTX_MANIFEST_H
