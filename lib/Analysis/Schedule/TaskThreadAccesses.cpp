// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bytes each thread of a task touches in one operation.
#include "TaskThreads.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
namespace proto = ::ts::protocol;

static constexpr size_t kMostPieces = 1024;

static int64_t bitsOf(Type element) {
  if (element.isIntOrFloat())
    return element.getIntOrFloatBitWidth();
  return element.isIndex() ? 64 : 0;
}

//===-- Views --------------------------------------------------------------------------------===//

/// Whether the warps of the task take stages of their own with `op`: one lane each.
bool TaskThreads::warpLanes(int resource, proto::Op op) const {
  const auto &pipeline = context.model.kernel.resources[size_t(resource)].pipeline;
  return pipeline && warps > 1 && pipeline->stride(op) == int64_t(warps);
}

/// The stage that work of one side is given. With lanes it is told as that of the first warp, the
/// others being `laneOffset` behind it: no two warps ever meet in one.
ThreadView TaskThreads::stageOf(int resource, bool producer) {
  const auto &pipeline = context.model.kernel.resources[size_t(resource)].pipeline;
  ThreadView view;
  view.known = true;
  view.offset = ThreadNumber::constant(0);
  if (!pipeline)
    return view;
  const RingSide &side =
      rings[{resource, producer ? proto::Side::Producer : proto::Side::Consumer}];
  bool early = producer ? pipeline->advanceOnAcquire : pipeline->advanceOnWait;
  proto::Op op = producer ? (early ? proto::Op::Acquire : proto::Op::Commit)
                          : (early ? proto::Op::Wait : proto::Op::Release);
  int64_t use = std::max<int64_t>(0, early ? side.opens - 1 : side.closes);
  view.slot =
      use * std::max<int64_t>(1, pipeline->stride(op)) % std::max<int64_t>(1, pipeline->stages);
  view.lanes = warpLanes(resource, op);
  // A task on both sides may meet its other warps' stages there.
  auto lists = [&](ValueRange list) {
    return llvm::any_of(list, [&](Value value) { return context.resourceOf(value) == resource; });
  };
  if (view.lanes && lists(task.getReads()) && lists(task.getWrites()))
    view.lanes = view.known = false;
  return view;
}

ThreadNumber TaskThreads::laneOffset(int64_t stageBits) const {
  ThreadNumber offset{true, false, {}, {}};
  for (unsigned thread = 0; thread < warps * 32; ++thread)
    offset.numbers.push_back(thread / 32 * std::max<int64_t>(1, stageBits));
  return offset;
}

void TaskThreads::bodyViews(Operation *op) {
  int resource = context.resourceOf(op->getOperand(0));
  if (resource < 0)
    return;
  const auto &entry = context.model.kernel.resources[size_t(resource)];
  ThreadView view = stageOf(resource, isa<ProduceOp>(op));
  for (BlockArgument arg : op->getRegion(0).front().getArguments())
    if (isa<MemRefType>(arg.getType()) && arg.getArgNumber() < entry.allocations.size()) {
      view.allocation = entry.allocations[arg.getArgNumber()];
      ThreadView own = view;
      if (!context.model.kernel.allocations[size_t(view.allocation)].staged) {
        own.slot = 0;
        own.lanes = false;
      }
      views[arg] = own;
    }
}

ThreadView TaskThreads::viewOf(Value memref) {
  auto it = views.find(memref);
  return it == views.end() ? ThreadView() : it->second;
}

void TaskThreads::subview(memref::SubViewOp op) {
  ThreadView view = viewOf(op.getSource());
  SmallVector<int64_t> strides;
  int64_t base;
  MemRefType type = op.getSourceType();
  int64_t bits = bitsOf(type.getElementType());
  view.known &= bits > 0 && succeeded(type.getStridesAndOffset(strides, base));
  for (size_t i = 0; view.known && i < strides.size(); ++i) {
    // Rows of tensor memory are lanes: every row spans the same columns.
    if (isTmem(type) && i == 0 && strides.size() == 2)
      continue;
    ThreadNumber offset = values->get(op.getMixedOffsets()[i]);
    if (ShapedType::isDynamic(strides[i])) {
      view.known = false;
      break;
    }
    view.offset = values->add(view.offset, values->scale(offset, strides[i] * bits));
    view.known = view.offset.known;
  }
  views[op.getResult()] = view;
}

/// The bits of a box of `shape` elements at the end of the strides of `type`.
bool TaskThreads::piecesOf(MemRefType type, ArrayRef<int64_t> shape, bool tmem,
                           std::vector<std::pair<int64_t, int64_t>> &out) {
  SmallVector<int64_t> strides;
  int64_t base, bits = bitsOf(type.getElementType());
  if (bits == 0 || failed(type.getStridesAndOffset(strides, base)) || shape.size() > strides.size())
    return false;
  out = {{0, bits}};
  for (size_t back = 1; back <= shape.size(); ++back) {
    int64_t size = shape[shape.size() - back], stride = strides[strides.size() - back];
    if (tmem && back == strides.size() && strides.size() == 2)
      break;
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(stride) || size < 1 || stride < 0 ||
        size > (int64_t(1) << 30) || stride > (int64_t(1) << 30))
      return false;
    int64_t step = stride * bits;
    if (out.size() == 1 && step == out[0].second) {
      out[0].second *= size;
      continue;
    }
    if (size_t(size) * out.size() > kMostPieces)
      return false;
    std::vector<std::pair<int64_t, int64_t>> all;
    for (int64_t i = 0; i < size; ++i)
      for (auto [begin, length] : out)
        all.push_back({begin + i * step, length});
    out = std::move(all);
  }
  llvm::sort(out);
  return true;
}

//===-- Accesses -----------------------------------------------------------------------------===//

/// `together`: a warp acts as one, or one of its threads acts for it.
ThreadAccess TaskThreads::start(Operation *op, const Scope &scope, bool together) const {
  ThreadAccess access;
  access.op = op;
  access.undecided = scope.undecided;
  access.conditions = scope.conditions;
  access.threads = scope.threads;
  if (together || scope.elected) {
    access.threads.reset();
    int last = -1;
    for (unsigned thread : scope.threads.set_bits())
      if (int(thread / 32) != last) {
        last = int(thread / 32);
        access.threads.set(thread);
      }
  }
  access.warps = warpsOf(access.threads);
  return access;
}

void TaskThreads::finish(ThreadAccess access, const ThreadView &view) {
  const auto &allocation = context.model.kernel.allocations[size_t(view.allocation)];
  access.allocation = view.allocation;
  access.slot = view.slot;
  bool tmem = allocation.space == ::ts::schedule::MemorySpace::Tmem;
  int64_t bits = tmem ? allocation.columns * 32 : allocation.bytes * 8;
  if (!view.known || !access.offset.known || access.pieces.empty()) {
    access.offset = {};
    access.pieces = {{0, bits}};
    access.undecided = true;
  }
  if (!tmem)
    races->outside(access, bits);
  if (view.lanes)
    access.offset =
        access.offset.known ? values->add(access.offset, laneOffset(bits)) : laneOffset(bits);
  access.begin = access.end = races->tick();
  remember(access);
  races->access(std::move(access));
}

/// A view that control flow chose: any stage, any part of every buffer that it can be.
void TaskThreads::untraced(Value memref, bool write, const ThreadAccess &access) {
  for (const MemrefRoot &root : traceMemref(memref, conditions.values())) {
    int resource = root.work ? context.resourceOf(root.resource()) : -1;
    if (resource < 0)
      continue;
    const auto &allocations = context.model.kernel.resources[size_t(resource)].allocations;
    if (root.index >= allocations.size())
      continue;
    ThreadAccess one = access;
    one.write = write;
    ThreadView view;
    view.allocation = allocations[root.index];
    view.slot = -1;
    finish(std::move(one), view);
  }
}

void TaskThreads::whole(Operation *op, Value memref, bool write, ThreadAccess access) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  ThreadView view = viewOf(memref);
  if (!type || view.allocation < 0)
    return untraced(memref, write, access);
  access.write = write;
  access.offset = view.offset;
  if (!piecesOf(type, type.getShape(), isTmem(type), access.pieces))
    access.pieces.clear();
  finish(std::move(access), view);
}

void TaskThreads::indicesInside(MemRefType type, ValueRange indices, ThreadAccess access,
                                int allocation) {
  access.allocation = allocation;
  if (int64_t(indices.size()) != type.getRank())
    return;
  for (auto [i, index] : llvm::enumerate(indices))
    if (!type.isDynamicDim(unsigned(i)))
      races->outside(access, values->get(index), i, type.getDimSize(unsigned(i)));
}

/// Memory of another CTA: the task's own threads do not meet there, but its indices have to exist.
void TaskThreads::remote(Operation *op, Value memref, ValueRange indices, bool write,
                         const Scope &scope) {
  ThreadView view = viewOf(memref);
  if (view.allocation < 0)
    return;
  ThreadAccess access = start(op, scope, false);
  access.write = write;
  access.allocation = view.allocation;
  access.begin = access.end = races->tick();
  indicesInside(cast<MemRefType>(memref.getType()), indices, access, view.allocation);
  remember(access);
}

void TaskThreads::element(Operation *op, Value memref, ValueRange indices, VectorType vector,
                          bool write, ThreadAccess access) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  ThreadView view = viewOf(memref);
  if (!type || view.allocation < 0)
    return untraced(memref, write, access);
  SmallVector<int64_t> strides;
  int64_t base, bits = bitsOf(type.getElementType());
  access.write = write;
  access.offset = view.offset;
  indicesInside(type, indices, access, view.allocation);
  bool good = view.known && bits > 0 && succeeded(type.getStridesAndOffset(strides, base)) &&
              strides.size() == indices.size();
  for (size_t i = 0; good && i < strides.size(); ++i) {
    good = !ShapedType::isDynamic(strides[i]);
    if (good)
      access.offset =
          values->add(access.offset, values->scale(values->get(indices[i]), strides[i] * bits));
  }
  SmallVector<int64_t> shape;
  if (vector)
    llvm::append_range(shape, vector.getShape());
  if (!good || (vector && bitsOf(vector.getElementType()) != bits) ||
      !piecesOf(type, shape, false, access.pieces))
    access.pieces.clear();
  finish(std::move(access), view);
}

void TaskThreads::accesses(Operation *op, const Scope &scope) {
  auto vectorOf = [](Value value) { return dyn_cast<VectorType>(value.getType()); };
  auto columns = [&](Value memref, Value column, Type type, bool write) {
    ThreadView view = viewOf(memref);
    ThreadAccess access = start(op, scope, true);
    access.write = write;
    access.byLanes = true;
    if (view.allocation < 0)
      return untraced(memref, write, access);
    if (auto async = dyn_cast<AsyncType>(type))
      type = async.getValueType();
    access.offset = values->add(view.offset, values->scale(values->get(column), 32));
    if (auto vector = dyn_cast<VectorType>(type); vector && bitsOf(vector.getElementType()) > 0)
      access.pieces = {
          {0, (vector.getNumElements() * bitsOf(vector.getElementType()) + 31) / 32 * 32}};
    finish(std::move(access), view);
  };
  auto matrices = [&](Value memref, ValueRange indices, VectorType registers, bool write) {
    // Eight lanes give the rows of each matrix, sixteen bytes a row.
    ThreadAccess access = start(op, scope, false);
    for (unsigned thread : scope.threads.set_bits())
      if (int64_t(thread % 32) >= registers.getNumElements() * 8)
        access.threads.reset(thread);
    auto type = cast<MemRefType>(memref.getType());
    auto row = VectorType::get({128 / std::max<int64_t>(1, bitsOf(type.getElementType()))},
                               type.getElementType());
    element(op, memref, indices, row, write, std::move(access));
  };
  auto storing = [&](Value value) {
    ThreadAccess access = start(op, scope, false);
    Operation *from = value.getDefiningOp();
    if (from ? from->hasTrait<OpTrait::ConstantLike>()
             : isa<KernelOp>(value.getParentBlock()->getParentOp()))
      access.constant = value;
    return access;
  };
  bool known =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case([&](memref::LoadOp o) {
            element(op, o.getMemRef(), o.getIndices(), {}, false, start(op, scope, false));
            return true;
          })
          .Case([&](memref::StoreOp o) {
            element(op, o.getMemRef(), o.getIndices(), {}, true, storing(o.getValueToStore()));
            return true;
          })
          .Case([&](vector::LoadOp o) {
            element(op, o.getBase(), o.getIndices(), vectorOf(o.getResult()), false,
                    start(op, scope, false));
            return true;
          })
          .Case([&](vector::StoreOp o) {
            element(op, o.getBase(), o.getIndices(), vectorOf(o.getValueToStore()), true,
                    storing(o.getValueToStore()));
            return true;
          })
          .Case([&](LdMatrixOp o) {
            matrices(o.getSrc(), o.getIndices(), cast<VectorType>(o.getResult().getType()), false);
            return true;
          })
          .Case([&](StMatrixOp o) {
            matrices(o.getDst(), o.getIndices(), cast<VectorType>(o.getValue().getType()), true);
            return true;
          })
          .Case([&](CpAsyncOp o) {
            ThreadAccess access = start(op, scope, false);
            access.completion = Completion::CpAsync;
            auto type = cast<MemRefType>(o.getDst().getType());
            int64_t bits = std::max<int64_t>(1, bitsOf(type.getElementType()));
            element(op, o.getDst(), o.getDstIndices(),
                    VectorType::get({std::max<int64_t>(1, int64_t(o.getBytes()) * 8 / bits)},
                                    type.getElementType()),
                    true, std::move(access));
            return true;
          })
          .Case([&](TmemLoadOp o) {
            columns(o.getSrc(), o.getColumn(), o.getResult().getType(), false);
            return true;
          })
          .Case([&](TmemStoreOp o) {
            columns(o.getDst(), o.getColumn(), o.getValue().getType(), true);
            return true;
          })
          .Case([&](FragmentStoreOp o) {
            return whole(op, o.getDst(), true, start(op, scope, true)), true;
          })
          .Case([&](FragmentLoadOp o) {
            // Sixteen rows for each warp of a warpgroup.
            ThreadView view = viewOf(o.getSrc());
            auto type = cast<MemRefType>(o.getSrc().getType());
            SmallVector<int64_t> strides;
            int64_t base;
            ThreadAccess access = start(op, scope, true);
            if (view.allocation >= 0 && type.getRank() == 2 &&
                succeeded(type.getStridesAndOffset(strides, base)) &&
                !ShapedType::isDynamic(strides[0]) &&
                piecesOf(type, {16, type.getShape()[1]}, false, access.pieces)) {
              ThreadNumber rows{true, false, {}, {}};
              for (unsigned thread = 0; thread < values->size(); ++thread)
                rows.numbers.push_back(thread / 32 % 4 * 16);
              access.offset = values->add(
                  view.offset, values->scale(rows, strides[0] * bitsOf(type.getElementType())));
              finish(std::move(access), view);
            } else {
              whole(op, o.getSrc(), false, start(op, scope, true));
            }
            return true;
          })
          .Case([&](DsmemLoadOp o) {
            return remote(op, o.getSrc(), o.getIndices(), false, scope), true;
          })
          .Case([&](DsmemStoreOp o) {
            return remote(op, o.getDst(), o.getIndices(), true, scope), true;
          })
          .Default(false);
  if (known)
    return;
  for (const MemrefAccess &memref : accessesOf(op, conditions.values())) {
    if (memref.remote)
      continue;
    bool engine = (memref.engine & (proto::EngineTma | proto::EngineUmma | proto::EngineUtccp |
                                    proto::EngineWgmma)) != 0;
    ThreadAccess access = start(op, scope, engine);
    access.engine = engine;
    if (memref.engine & (proto::EngineUmma | proto::EngineUtccp)) {
      // One thread of the task drives the tensor core.
      int first = access.threads.find_first();
      access.threads.reset();
      access.threads.set(unsigned(first));
      access.warps = warpsOf(access.threads);
    }
    if (isa<TmaStoreOp, BulkStoreOp>(op))
      access.completion = Completion::Bulk;
    if (isa<WgmmaOp>(op))
      access.completion = Completion::Wgmma;
    // Of other operations nothing is known but which buffer they get.
    if (!engine && !isa<TSDialect>(op->getDialect()))
      access.undecided = true;
    whole(op, memref.memref, memref.write, std::move(access));
  }
}

/// The accesses that a call without a body declares. Which warp does which part is its author's
/// claim; only against other operations of the task it has to be taken for granted.
void TaskThreads::declaredWork(Operation *op, const Scope &scope) {
  auto it = works.find(op);
  if (it == works.end() || warps == 1)
    return;
  const auto &event = out.steps[size_t(it->second)].event;
  ThreadView stage;
  if (event.resource >= 0)
    stage = stageOf(event.resource, isa<ProduceOp>(op));
  for (const auto &declared : event.accesses) {
    if (declared.allocation < 0)
      continue;
    const auto &allocation = context.model.kernel.allocations[size_t(declared.allocation)];
    if (allocation.space == ::ts::schedule::MemorySpace::Global)
      continue;
    // Engines run on their own; the prover orders them against the task.
    if (declared.engine & (proto::EngineTma | proto::EngineUmma | proto::EngineUtccp |
                           proto::EngineWgmma | proto::EngineClc))
      continue;
    bool tmem = allocation.space == ::ts::schedule::MemorySpace::Tmem;
    ThreadAccess access = start(op, scope, true);
    access.declared = true;
    access.write = declared.write;
    access.byLanes = tmem;
    access.allocation = declared.allocation;
    access.slot = allocation.staged ? stage.slot : 0;
    int64_t unit = tmem ? 32 : 8;
    access.offset = ThreadNumber::constant(declared.offset * unit);
    if (stage.lanes && allocation.staged)
      access.offset = values->add(
          access.offset, laneOffset(tmem ? allocation.columns * 32 : allocation.bytes * 8));
    access.pieces = {{0, std::max<int64_t>(1, declared.size) * unit}};
    races->access(std::move(access));
  }
}
