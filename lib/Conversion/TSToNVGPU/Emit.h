// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thin builder over arith / llvm / nvvm for the schedule lowering: constants, shared-memory
// addresses, mbarrier steps, thread predicates. Knows instructions, not pipelines.
#ifndef TS_LIB_CONVERSION_TSTONVGPU_EMIT_H
#define TS_LIB_CONVERSION_TSTONVGPU_EMIT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::ts {

class Emitter {
public:
  Emitter(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  OpBuilder &b;
  Location loc;

  //--- scalars
  Value i32(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value boolean(bool value) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(value)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value divu(Value x, Value y) { return arith::DivUIOp::create(b, loc, x, y); }
  Value remu(Value x, Value y) { return arith::RemUIOp::create(b, loc, x, y); }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value bitXor(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }
  Value cmp(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value eq(Value x, Value y) { return cmp(arith::CmpIPredicate::eq, x, y); }
  Value negate(Value x) { return bitXor(x, boolean(true)); }
  Value extend(Value x) { return arith::ExtUIOp::create(b, loc, b.getI32Type(), x); }
  Value toIndex(Value x) {
    return x.getType().isIndex() ? x : arith::IndexCastOp::create(b, loc, b.getIndexType(), x);
  }
  Value toI32(Value x) {
    return x.getType().isIndex() ? arith::IndexCastOp::create(b, loc, b.getI32Type(), x) : x;
  }
  /// `x` (index or i32) as the type a ts.info asks for.
  Value as(Type type, Value x) { return type.isIndex() ? toIndex(x) : toI32(x); }

  //--- addresses
  Type sharedPtr() { return LLVM::LLVMPointerType::get(b.getContext(), 3); }
  /// base + bytes, in shared memory.
  Value offset(Value base, Value bytes) {
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(bytes)});
  }
  Value offset(Value base, int64_t bytes) {
    if (!bytes)
      return base;
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
  }

  //--- structure
  void guarded(Value condition, llvm::function_ref<void()> body) {
    if (!condition) {
      body();
      return;
    }
    auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.thenBlock());
    body();
  }

  /// A value of one of two branches; of the first where there is no condition.
  Value choose(Value condition, Type type, llvm::function_ref<Value()> yes,
               llvm::function_ref<Value()> no) {
    if (!condition)
      return yes();
    auto op = scf::IfOp::create(b, loc, TypeRange{type}, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.thenBlock());
    scf::YieldOp::create(b, loc, yes());
    b.setInsertionPointToStart(op.elseBlock());
    scf::YieldOp::create(b, loc, no());
    return op.getResult(0);
  }

  //--- mbarriers
  Value tryWait(Value barrier, Value parity) {
    return NVVM::MBarrierTryWaitOp::create(b, loc, b.getI1Type(), barrier, parity, Value());
  }
  /// Blocks until the phase of `parity` has completed. A branch around a try_wait, not the op's own
  /// loop: ptxas schedules around it (FACTS B: 6 % on attention).
  void wait(Value barrier, Value parity) {
    auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&loop.getBefore());
    Value done = tryWait(barrier, parity);
    scf::ConditionOp::create(b, loc, negate(done), ValueRange());
    b.createBlock(&loop.getAfter());
    scf::YieldOp::create(b, loc);
  }
  void arrive(Value barrier) { NVVM::MBarrierArriveOp::create(b, loc, Type(), barrier, Value()); }
  void arriveExpectTx(Value barrier, Value bytes) {
    NVVM::MBarrierArriveExpectTxOp::create(b, loc, Type(), barrier, bytes, NVVM::MemScopeKind::CTA,
                                           false, Value());
  }
  /// At another CTA. The scope is left at its default: asking for the cluster's puts a fence of the
  /// whole GPU in front of every arrival (measured on an H200: GEMM by clusters 0.62 of cuBLAS
  /// instead of 1.00), and mbarriers order across a cluster without it (design paper PROTOCOL,
  /// scopes).
  void arriveRemote(Value barrier) {
    NVVM::MBarrierArriveOp::create(b, loc, Type(), barrier, Value());
  }
  void arriveExpectTxRemote(Value barrier, Value bytes) {
    NVVM::MBarrierArriveExpectTxOp::create(b, loc, Type(), barrier, bytes, NVVM::MemScopeKind::CTA,
                                           false, Value());
  }
  void syncCluster() {
    NVVM::ClusterArriveOp::create(b, loc, UnitAttr());
    NVVM::ClusterWaitOp::create(b, loc, UnitAttr());
  }
  void syncWarp() { NVVM::SyncWarpOp::create(b, loc, i32(-1)); }
  void syncCta() { NVVM::BarrierOp::create(b, loc); }
};

} // namespace mlir::ts

#endif
