// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass ts-finalize-kernels: attributes that only llvm.func and llvm.mlir.global can carry.
#include "ScheduleLowering.h"

#include "ts/Dialect/TS/Transforms/Allocation.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

namespace mlir::ts {
#define GEN_PASS_DEF_TSFINALIZEKERNELS
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

using namespace mlir;
using namespace mlir::ts;

namespace {
constexpr int64_t kTensorMapBytes = 128, kTensorMapAlignment = 64;
constexpr unsigned kSharedSpace = 3;

struct FinalizeKernelsPass : public mlir::ts::impl::TSFinalizeKernelsBase<FinalizeKernelsPass> {
  void runOnOperation() override {
    Builder b(&getContext());
    getOperation().walk([&](LLVM::LLVMFuncOp func) {
      auto maps = func->getAttrOfType<DenseI64ArrayAttr>(kTensorMapArgsAttr);
      if (!maps)
        return;
      auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), kTensorMapBytes);
      for (int64_t i : maps.asArrayRef()) {
        func.setArgAttr(i, "llvm.byval", TypeAttr::get(bytes));
        func.setArgAttr(i, "llvm.align", b.getI64IntegerAttr(kTensorMapAlignment));
        func.setArgAttr(i, "nvvm.grid_constant", b.getUnitAttr());
      }
      func->removeAttr(kTensorMapArgsAttr);
      if (func->removeAttr(kFlushDenormalsAttr))
        func.setPassthroughAttr(b.getArrayAttr(
            b.getStrArrayAttr({"denormal-fp-math-f32", "preserve-sign,preserve-sign"})));
    });
    getOperation().walk([&](LLVM::GlobalOp global) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
      if (global.getAddrSpace() != kSharedSpace || !array || array.getNumElements() != 0)
        return;
      global.setLinkage(LLVM::Linkage::External);
      global.setAlignment(kSmemBaseAlignment);
    });
  }
};
} // namespace
