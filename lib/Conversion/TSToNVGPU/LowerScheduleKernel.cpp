// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns one ts.kernel into a gpu.func: parameters, shared-memory base, barrier initialisation,
// tensor-memory lifetime, register reallocation and the dispatch of warps to tasks. The schedules
// themselves are lowered by LowerScheduleTask.cpp.
#include "LowerScheduleKernel.h"
#include "LowerScheduleTask.h"
#include "ScheduleLowering.h"

#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::ts;
namespace proto = ::ts::protocol;

InFlightDiagnostic mlir::ts::emitUnsupported(Operation *op) {
  return op->emitError("[TS404] the lowering cannot express this yet: ");
}

namespace {

constexpr int64_t kThreadsPerWarp = 32;
constexpr int64_t kWarpsPerGroup = 4;
constexpr int64_t kRegistersPerCta = 65536;
constexpr int64_t kMaxThreadRegisters = 256; // 255 usable

int64_t intAttr(Operation *op, StringRef name, int64_t otherwise = 0) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : otherwise;
}

class KernelLowering {
public:
  KernelLowering(OpBuilder &b, KernelOp kernel) : b(b), kernel(kernel) { values.kernel = kernel; }
  LogicalResult run();

private:
  void makeFunction();
  void mapArguments();
  LogicalResult collectPipelines();
  LogicalResult cloneKernelLevel();
  void identifyThread(Emitter &e);
  void initialise(Emitter &e);
  LogicalResult dispatch(Emitter &e);
  LogicalResult dispatchTasks(Emitter &e, ArrayRef<TaskOp> tasks);
  void finish(Emitter &e);
  void passBatons(Emitter &e, TaskOp task);

  OpBuilder &b;
  KernelOp kernel;
  KernelValues values;
  gpu::GPUFuncOp func;
  SmallVector<TaskOp> tasks;
  int64_t threads = 0;
};

} // namespace

//===-- Signature ----------------------------------------------------------------------------===//

void KernelLowering::makeFunction() {
  MLIRContext *ctx = b.getContext();
  SmallVector<Type> types;
  SmallVector<int64_t> mapArgs;
  auto ptr = LLVM::LLVMPointerType::get(ctx);
  auto plain = [&](Type type) { types.push_back(type); };
  for (BlockArgument arg : kernel.getBody().getArguments()) {
    if (isa<TensorMapType>(arg.getType())) {
      mapArgs.push_back(types.size());
      types.push_back(ptr);
    } else if (auto memref = dyn_cast<MemRefType>(arg.getType())) {
      plain(ptr);
      SmallVector<int64_t> strides;
      int64_t offset;
      (void)memref.getStridesAndOffset(strides, offset);
      for (size_t i = 0; i < memref.getNumDynamicDims(); ++i)
        plain(b.getI64Type());
      if (!memref.getLayout().isIdentity())
        for (int64_t stride : strides)
          if (ShapedType::isDynamic(stride))
            plain(b.getI64Type());
    } else if (arg.getType().isIndex()) {
      plain(b.getI64Type());
    } else {
      plain(arg.getType());
    }
  }
  func =
      gpu::GPUFuncOp::create(b, kernel.getLoc(), kernel.getSymName(), b.getFunctionType(types, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  // gpu.func refuses grid constants; ts-finalize-kernels marks these later.
  func->setAttr(kTensorMapArgsAttr, b.getDenseI64ArrayAttr(mapArgs));
  int64_t warps = intAttr(kernel, kLaunchWarpsAttr, kernel.getNumWarps());
  threads = warps * kThreadsPerWarp;
  func->setAttr("nvvm.maxntid", b.getDenseI32ArrayAttr({int32_t(threads)}));
  // Without this ptxas ignores setmaxnreg (C7508).
  func->setAttr("nvvm.minctasm", b.getI32IntegerAttr(1));
  if (kernel.getClusterSize() > 1)
    func->setAttr("nvvm.cluster_dim",
                  b.getDenseI32ArrayAttr(SmallVector<int32_t>(kernel.getCluster())));
  if (kernel.getFlushDenormals())
    func->setAttr(kFlushDenormalsAttr, b.getUnitAttr());
  func->setAttr("ts.manifest", b.getStringAttr(manifestOf(kernel, threads)));
  b.setInsertionPointToStart(&func.getBody().front());
}

void KernelLowering::mapArguments() {
  Emitter e(b, kernel.getLoc());
  LLVMTypeConverter converter(b.getContext());
  unsigned next = 0;
  auto take = [&] { return func.getArgument(next++); };
  for (BlockArgument arg : kernel.getBody().getArguments()) {
    Type type = arg.getType();
    if (isa<TensorMapType>(type)) {
      values.mapping.map(
          arg, UnrealizedConversionCastOp::create(b, e.loc, type, ValueRange{take()}).getResult(0));
    } else if (auto memref = dyn_cast<MemRefType>(type)) {
      Type structType = converter.convertType(memref);
      MemRefDescriptor desc = MemRefDescriptor::poison(b, e.loc, structType);
      Value base = take();
      desc.setAllocatedPtr(b, e.loc, base);
      desc.setAlignedPtr(b, e.loc, base);
      auto number = [&](int64_t value) -> Value {
        return LLVM::ConstantOp::create(b, e.loc, b.getI64Type(), b.getI64IntegerAttr(value));
      };
      desc.setOffset(b, e.loc, number(0));
      SmallVector<int64_t> strides;
      int64_t offset;
      (void)memref.getStridesAndOffset(strides, offset);
      SmallVector<Value> sizes;
      for (int64_t i = 0; i < memref.getRank(); ++i) {
        sizes.push_back(memref.isDynamicDim(i) ? Value(take()) : number(memref.getDimSize(i)));
        desc.setSize(b, e.loc, i, sizes.back());
      }
      if (memref.getLayout().isIdentity()) {
        Value stride = number(1);
        for (int64_t i = memref.getRank() - 1; i >= 0; --i) {
          desc.setStride(b, e.loc, i, stride);
          if (i)
            stride = LLVM::MulOp::create(b, e.loc, stride, sizes[i]);
        }
      } else {
        for (auto [i, stride] : llvm::enumerate(strides))
          desc.setStride(b, e.loc, i,
                         ShapedType::isDynamic(stride) ? Value(take()) : number(stride));
      }
      values.mapping.map(
          arg, UnrealizedConversionCastOp::create(b, e.loc, type, ValueRange{desc}).getResult(0));
    } else if (type.isIndex()) {
      values.mapping.map(arg, arith::IndexCastOp::create(b, e.loc, b.getIndexType(), take()));
    } else {
      values.mapping.map(arg, take());
    }
  }
}

//===-- Declarations -------------------------------------------------------------------------===//

LogicalResult KernelLowering::collectPipelines() {
  values.cluster = clusterSpecOf(kernel);
  // Groups first: members are placed with their group.
  for (auto group : kernel.getBodyBlock().getOps<PipelineGroupOp>())
    if (failed(collectGroup(values, group)))
      return failure();
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (!isa<ResourceOp, WorkQueueOp>(op))
      return WalkResult::advance();
    Value resource = op->getResult(0);
    if (!hasPipeline(resource) || values.pipelines.contains(resource))
      return WalkResult::advance();
    LoweredPipeline pipeline;
    pipeline.spec = resolvedSpecOf(resource);
    pipeline.by = participantsOf(resource);
    pipeline.fullOffset = intAttr(op, kFullOffsetAttr, -1);
    pipeline.emptyOffset = intAttr(op, kEmptyOffsetAttr, -1);
    if (pipeline.fullOffset < 0 || pipeline.emptyOffset < 0) {
      op->emitError("'") << getResourceName(resource)
                         << "' has no place for its barriers; run ts-allocate before "
                            "ts-lower-schedule";
      return WalkResult::interrupt();
    }
    if (!pipeline.spec.producerCount || !pipeline.spec.consumerCount) {
      op->emitError("the arrival counts of '")
          << getResourceName(resource)
          << "' are not known: no task executes both sides of its pipeline; give producer_count "
             "and consumer_count, or complete the schedule";
      return WalkResult::interrupt();
    }
    int64_t seen = proto::CtaGrid(pipeline.spec, values.cluster).size();
    if (seen != 1 && seen != kernel.getClusterSize()) {
      emitUnsupported(op) << "a pipeline over " << seen << " of the " << kernel.getClusterSize()
                          << " CTAs of a cluster ('" << getResourceName(resource)
                          << "'); give it a cta_layout of one CTA, or of all";
      return WalkResult::interrupt();
    }
    values.pipelines[resource] = std::move(pipeline);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (failed(markLastAcquires(values)))
    return failure();
  values.ctaGroup = values.cluster.ctasPerMma;
  kernel.getBody().walk([&](Operation *op) {
    if (auto umma = dyn_cast<UmmaOp>(op))
      values.ctaGroup = umma.getCtaGroup();
    else if (auto copy = dyn_cast<TmemCopyOp>(op))
      values.ctaGroup = copy.getCtaGroup();
  });
  return success();
}

LogicalResult KernelLowering::cloneKernelLevel() {
  for (Operation &op : kernel.getBodyBlock().without_terminator()) {
    if (auto task = dyn_cast<TaskOp>(op)) {
      tasks.push_back(task);
      continue;
    }
    if (isa<TSDialect>(op.getDialect()))
      continue; // declarations: read through the tables above
    bool steps = op.walk([](Operation *nested) {
                     return isa<TSDialect>(nested->getDialect()) ? WalkResult::interrupt()
                                                                 : WalkResult::advance();
                   }).wasInterrupted();
    if (steps)
      return emitUnsupported(&op) << "schedule operations inside '" << op.getName()
                                  << "' outside of tasks";
    b.clone(op, values.mapping);
  }
  return success();
}

//===-- Prologue -----------------------------------------------------------------------------===//

void KernelLowering::identifyThread(Emitter &e) {
  values.thread = NVVM::ThreadIdXOp::create(b, e.loc, b.getI32Type());
  Value warp = arith::ShRUIOp::create(b, e.loc, values.thread, e.i32(5));
  // Through lane 0, so that the compiler knows it to be uniform in the warp.
  values.warp = NVVM::ShflOp::create(b, e.loc, b.getI32Type(), e.i32(-1), warp, e.i32(0), e.i32(31),
                                     NVVM::ShflKind::idx, UnitAttr());
  values.lane = e.bitAnd(values.thread, e.i32(31));
  if (kernel.getClusterSize() > 1)
    values.ctaRank = NVVM::ClusterId::create(b, e.loc, b.getI32Type());
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), AffineMap(), space);
  values.smemBytes = gpu::DynamicSharedMemoryOp::create(b, e.loc, bytes);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, e.loc, values.smemBytes);
  Value wide = arith::IndexCastOp::create(b, e.loc, b.getI64Type(), address);
  values.smem = LLVM::IntToPtrOp::create(b, e.loc, e.sharedPtr(), wide);
}

void KernelLowering::initialise(Emitter &e) {
  SmallVector<std::pair<int64_t, int64_t>> inits; // offset, count
  // In the order of the text, not of a hash table.
  kernel.getBody().walk([&](Operation *op) {
    if (auto barrier = dyn_cast<MbarrierOp>(op))
      inits.push_back({intAttr(op, kMbarrierOffsetAttr), int64_t(barrier.getCount())});
    if (op->getNumResults() != 1 || !values.pipelines.contains(op->getResult(0)))
      return;
    const LoweredPipeline &pipeline = values.pipelines[op->getResult(0)];
    for (int64_t s = 0; s < pipeline.spec.stages; ++s) {
      if (pipeline.ownsFull)
        inits.push_back({pipeline.fullOffset + 8 * s, *pipeline.spec.producerCount});
      if (pipeline.ownsEmpty)
        inits.push_back({pipeline.emptyOffset + 8 * s, *pipeline.spec.consumerCount});
    }
  });
  int64_t columns = intAttr(kernel, kTmemColumnsAttr);
  bool cluster = kernel.getClusterSize() > 1;
  if (inits.empty() && !columns && !cluster)
    return;
  if (!inits.empty())
    e.guarded(e.eq(values.thread, e.i32(0)), [&] {
      for (auto [offset, count] : inits)
        NVVM::MBarrierInitOp::create(b, e.loc, e.offset(values.smem, offset), e.i32(count),
                                     Value());
      NVVM::FenceMbarrierInitOp::create(b, e.loc);
    });
  // No CTA may arrive at a peer's barriers before they are there.
  auto sync = [&] { cluster ? e.syncCluster() : e.syncCta(); };
  if (!columns) {
    sync();
    return;
  }
  NVVM::CTAGroupKind group =
      values.ctaGroup == 2 ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
  Value slot = e.offset(values.smem, intAttr(kernel, kTmemSlotAttr));
  e.guarded(e.eq(values.warp, e.i32(0)), [&] {
    // Thread 0 comes from the branch above; the allocation wants the whole warp.
    e.syncWarp();
    NVVM::Tcgen05AllocOp::create(b, e.loc, slot, e.i32(columns), group);
    NVVM::Tcgen05RelinquishAllocPermitOp::create(b, e.loc, group);
  });
  NVVM::Tcgen05FenceOp::create(b, e.loc, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  sync();
  NVVM::Tcgen05FenceOp::create(b, e.loc, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  values.tmemBase = LLVM::LoadOp::create(b, e.loc, b.getI32Type(), slot, 4);
}

//===-- Dispatch -----------------------------------------------------------------------------===//

void KernelLowering::passBatons(Emitter &e, TaskOp task) {
  // The first holder's turn is handed to it by the replica before it, once, at the start.
  llvm::SmallPtrSet<Operation *, 4> seen;
  task.getBody().walk([&](TakeOp take) {
    auto baton = take.getBaton().getDefiningOp<BatonOp>();
    if (!baton || !seen.insert(baton).second)
      return;
    auto ids = baton->getAttrOfType<DenseI64ArrayAttr>(kBarrierIdsAttr);
    if (!ids || ids.empty())
      return;
    int64_t holders = baton.getHolders();
    int64_t giver = (int64_t(baton.getFirst()) + holders - 1) % holders;
    int64_t perReplica = task.getWarpsPerReplica();
    Value replica = e.divu(e.sub(values.warp, e.i32(task.getFirstWarp())), e.i32(perReplica));
    e.guarded(e.eq(replica, e.i32(giver)), [&] {
      LLVM::CallIntrinsicOp::create(
          b, e.loc, b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
          ValueRange{e.i32(ids[baton.getFirst()]), e.i32(2 * kThreadsPerWarp * perReplica)});
    });
  });
}

LogicalResult KernelLowering::dispatchTasks(Emitter &e, ArrayRef<TaskOp> list) {
  for (TaskOp task : list) {
    Emitter at(b, task.getLoc());
    Value first = at.i32(task.getFirstWarp());
    // One unsigned comparison: warp - first < count.
    Value inside =
        at.cmp(arith::CmpIPredicate::ult, at.sub(values.warp, first), at.i32(task.getNumWarps()));
    if (task.getOnlyCta() && values.ctaRank)
      inside = at.bitAnd(inside, at.eq(values.ctaRank, at.i32(*task.getOnlyCta())));
    LogicalResult result = success();
    at.guarded(inside, [&] {
      passBatons(at, task);
      result = lowerTask(b, values, task);
    });
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult KernelLowering::dispatch(Emitter &e) {
  auto registers = kernel->getAttrOfType<DenseI64ArrayAttr>(kRegistersAttr);
  if (!registers || llvm::all_of(registers.asArrayRef(), [](int64_t n) { return n == 0; }))
    return dispatchTasks(e, tasks);

  // setmaxnreg speaks for whole warpgroups: one branch per run of warpgroups that share tasks.
  int64_t groups = registers.size();
  SmallVector<int64_t> segmentOf(groups);
  for (int64_t g = 0; g < groups; ++g)
    segmentOf[g] = g;
  for (TaskOp task : tasks) {
    int64_t from = task.getFirstWarp() / kWarpsPerGroup;
    int64_t to = (task.getFirstWarp() + task.getNumWarps() - 1) / kWarpsPerGroup;
    for (int64_t g = from + 1; g <= to && g < groups; ++g)
      for (int64_t h = groups - 1; h >= 0; --h)
        if (segmentOf[h] == segmentOf[g] && segmentOf[h] != segmentOf[from])
          segmentOf[h] = segmentOf[from];
  }
  // What each thread has at entry under the launch bounds; ptxas rounds down to a multiple of 8.
  int64_t atEntry = std::min(kRegistersPerCta / threads / 8 * 8, kMaxThreadRegisters);
  SmallVector<int64_t> starts;
  for (int64_t g = 0; g < groups; ++g)
    if (g == 0 || segmentOf[g] != segmentOf[g - 1])
      starts.push_back(g);

  std::function<LogicalResult(unsigned)> emitSegment = [&](unsigned s) -> LogicalResult {
    int64_t from = starts[s], to = s + 1 < starts.size() ? starts[s + 1] : groups;
    SmallVector<TaskOp> inside;
    for (TaskOp task : tasks)
      if (int64_t(task.getFirstWarp()) >= from * kWarpsPerGroup &&
          int64_t(task.getFirstWarp()) < to * kWarpsPerGroup)
        inside.push_back(task);
    auto body = [&]() -> LogicalResult {
      int64_t wanted = registers[from];
      if (wanted && wanted != atEntry)
        NVVM::SetMaxRegisterOp::create(b, e.loc, uint32_t(wanted),
                                       wanted < atEntry ? NVVM::SetMaxRegisterAction::decrease
                                                        : NVVM::SetMaxRegisterAction::increase);
      return dispatchTasks(e, inside);
    };
    if (s + 1 == starts.size())
      return body();
    Value here = e.cmp(arith::CmpIPredicate::ult, values.warp, e.i32(to * kWarpsPerGroup));
    auto branch = scf::IfOp::create(b, e.loc, here, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    if (failed(body()))
      return failure();
    b.setInsertionPointToStart(branch.elseBlock());
    return emitSegment(s + 1);
  };
  return emitSegment(0);
}

void KernelLowering::finish(Emitter &e) {
  bool cluster = kernel.getClusterSize() > 1;
  // Peers may still arrive at our barriers or write our memory until all are here.
  if (cluster && !values.tmemBase)
    e.syncCluster();
  if (values.tmemBase) {
    // Every use has ended when all warps (of both CTAs of a pair) are here; the allocating warp
    // frees.
    NVVM::Tcgen05FenceOp::create(b, e.loc, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
    cluster ? e.syncCluster() : e.syncCta();
    NVVM::Tcgen05FenceOp::create(b, e.loc, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    e.guarded(e.eq(values.warp, e.i32(0)), [&] {
      auto tmem = LLVM::LLVMPointerType::get(b.getContext(), 6);
      Value address = LLVM::IntToPtrOp::create(b, e.loc, tmem, values.tmemBase);
      NVVM::Tcgen05DeallocOp::create(b, e.loc, address, e.i32(intAttr(kernel, kTmemColumnsAttr)),
                                     values.ctaGroup == 2 ? NVVM::CTAGroupKind::CTA_2
                                                          : NVVM::CTAGroupKind::CTA_1);
    });
  }
  gpu::ReturnOp::create(b, e.loc);
}

LogicalResult KernelLowering::run() {
  if (!kernel->hasAttr(kSmemBytesAttr))
    return kernel.emitError("memory is not placed yet; run ts-allocate before ts-lower-schedule");
  for (BlockArgument arg : kernel.getBody().getArguments())
    if (auto memref = dyn_cast<MemRefType>(arg.getType());
        memref && !memref.getElementType().isIntOrIndexOrFloat())
      return emitUnsupported(kernel) << "arrays of " << memref.getElementType();
  if (failed(collectPipelines()))
    return failure();
  b.setInsertionPoint(kernel);
  makeFunction();
  Emitter e(b, kernel.getLoc());
  mapArguments();
  if (failed(cloneKernelLevel()))
    return failure();
  identifyThread(e);
  initialise(e);
  if (failed(dispatch(e)))
    return failure();
  finish(e);
  return success();
}

LogicalResult mlir::ts::lowerKernel(OpBuilder &b, KernelOp kernel) {
  return KernelLowering(b, kernel).run();
}
