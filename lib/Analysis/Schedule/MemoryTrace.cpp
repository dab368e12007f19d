// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One table of what each work primitive accesses, and the backward walk from a memref operand to
// the stage view or kernel argument that it is part of.
#include "ts/Analysis/Schedule/MemoryTrace.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;
using namespace ::ts::protocol;

//===-- Accesses -----------------------------------------------------------------------------===//

static std::pair<int64_t, int64_t> columnsAt(Value column, Type vector, ValueEvaluator &evaluator) {
  auto start = evaluator.evaluate(column);
  if (auto async = dyn_cast<AsyncType>(vector))
    vector = async.getValueType();
  auto type = dyn_cast<VectorType>(vector);
  if (!start || !type || !type.getElementType().isIntOrFloat())
    return {0, -1};
  int64_t bits = type.getNumElements() * int64_t(type.getElementTypeBitWidth());
  return {*start, (bits + 31) / 32};
}

SmallVector<MemrefAccess> mlir::ts::accessesOf(Operation *op, ValueEvaluator &evaluator) {
  SmallVector<MemrefAccess> result;
  auto add = [&](Value memref, bool write, Engine engine, bool remote = false) {
    if (isa<MemRefType>(memref.getType()))
      result.push_back({memref, write, engine, remote, std::nullopt});
  };
  auto addColumns = [&](Value memref, bool write, Engine engine, Value column, Type vector) {
    add(memref, write, engine);
    auto [start, count] = columnsAt(column, vector, evaluator);
    if (count >= 0 && !result.empty())
      result.back().columns = {start, count};
  };
  bool known =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case([&](TmaLoadOp o) { return add(o.getDst(), true, EngineTma), true; })
          .Case([&](TmaStoreOp o) { return add(o.getSrc(), false, EngineTma), true; })
          .Case([&](BulkLoadOp o) {
            add(o.getSrc(), false, EngineTma);
            return add(o.getDst(), true, EngineTma), true;
          })
          .Case([&](BulkStoreOp o) {
            add(o.getSrc(), false, EngineTma);
            return add(o.getDst(), true, EngineTma), true;
          })
          .Case([&](TensorMapReplaceOp o) { return add(o.getMap(), true, EngineGeneric), true; })
          .Case([&](CpAsyncOp o) {
            add(o.getSrc(), false, EngineCpAsync);
            return add(o.getDst(), true, EngineCpAsync), true;
          })
          .Case([&](UmmaOp o) {
            add(o.getD(), true, EngineUmma);
            add(o.getA(), false, EngineUmma);
            add(o.getB(), false, EngineUmma);
            for (Value scale : o.getScales())
              add(scale, false, EngineUmma);
            return true;
          })
          .Case([&](TmemCopyOp o) {
            add(o.getSrc(), false, EngineUtccp);
            return add(o.getDst(), true, EngineUtccp), true;
          })
          .Case([&](TmemLoadOp o) {
            addColumns(o.getSrc(), false, EngineTmemLoad, o.getColumn(), o.getResult().getType());
            return true;
          })
          .Case([&](TmemStoreOp o) {
            addColumns(o.getDst(), true, EngineTmemStore, o.getColumn(), o.getValue().getType());
            return true;
          })
          .Case([&](WgmmaOp o) {
            add(o.getA(), false, EngineWgmma);
            return add(o.getB(), false, EngineWgmma), true;
          })
          .Case([&](FragmentStoreOp o) { return add(o.getDst(), true, EngineGeneric), true; })
          .Case([&](FragmentLoadOp o) { return add(o.getSrc(), false, EngineGeneric), true; })
          .Case([&](LdMatrixOp o) { return add(o.getSrc(), false, EngineGeneric), true; })
          .Case([&](StMatrixOp o) { return add(o.getDst(), true, EngineGeneric), true; })
          .Case([&](DsmemLoadOp o) { return add(o.getSrc(), false, EngineGeneric, true), true; })
          .Case([&](DsmemStoreOp o) { return add(o.getDst(), true, EngineGeneric, true), true; })
          .Default(false);
  if (known || isa<TSDialect>(op->getDialect()) || op->getNumRegions() != 0)
    return result;

  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (auto &instance : instances)
      if (Value value = instance.getValue())
        if (isa<MemoryEffects::Read, MemoryEffects::Write>(instance.getEffect()))
          add(value, isa<MemoryEffects::Write>(instance.getEffect()), EngineGeneric);
    // A raw pointer leaves our sight: it may be used either way.
    if (isa<memref::ExtractAlignedPointerAsIndexOp>(op)) {
      add(op->getOperand(0), false, EngineGeneric);
      add(op->getOperand(0), true, EngineGeneric);
    }
    return result;
  }
  for (Value operand : op->getOperands()) {
    add(operand, false, EngineGeneric);
    add(operand, true, EngineGeneric);
  }
  return result;
}

bool mlir::ts::mayAccessMemory(Operation *op) {
  ValueEvaluator evaluator;
  return !accessesOf(op, evaluator).empty();
}

//===-- Roots --------------------------------------------------------------------------------===//

Value MemrefRoot::resource() const {
  if (auto produce = dyn_cast_or_null<ProduceOp>(work))
    return produce.getResource();
  if (auto consume = dyn_cast_or_null<ConsumeOp>(work))
    return consume.getResource();
  return Value();
}

Side MemrefRoot::side() const {
  return isa_and_nonnull<ProduceOp>(work) ? Side::Producer : Side::Consumer;
}

namespace {
/// A window in bits from the start of the view it was cut from; tensor memory counts columns.
struct Window {
  int64_t begin = 0, size = -1; ///< size -1: all of it
  bool exact = true;
  RelativeWindow relative;
};

struct Item {
  Value value;
  Window window;
  bool carried;
};
} // namespace

/// Extent of a view: bytes for shared and global memory, columns for tensor memory.
static int64_t extentOf(MemRefType type) {
  if (!type.hasStaticShape())
    return -1;
  if (isTmem(type)) {
    int64_t bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 32;
    return (type.getShape().back() * bits + 31) / 32;
  }
  return getBytes(type);
}

/// Where `view` lies within its source, as bytes or columns.
static Window windowOf(memref::SubViewOp view, ValueEvaluator &evaluator) {
  MemRefType source = view.getSourceType();
  bool tmem = isTmem(source);
  SmallVector<int64_t> strides;
  int64_t base;
  Window unknown{0, -1, false, {}};
  unknown.relative.known = false;
  Window result = unknown;
  RelativeWindow relative;
  bool exact = true;
  if (failed(source.getStridesAndOffset(strides, base)) || !source.getElementType().isIntOrFloat())
    return unknown;
  int64_t begin = 0, last = 0;
  for (auto [i, size] : llvm::enumerate(view.getMixedSizes())) {
    OpFoldResult offset = view.getMixedOffsets()[i], step = view.getMixedStrides()[i];
    auto number = [&](OpFoldResult part) -> std::optional<int64_t> {
      if (auto value = dyn_cast<Value>(part))
        return evaluator.evaluate(value);
      return cast<IntegerAttr>(cast<Attribute>(part)).getInt();
    };
    auto o = number(offset), s = number(size), t = number(step);
    if (!o && !tmem && !ShapedType::isDynamic(strides[i])) {
      // Chosen at run time: by a number that stays, or by the position in a ring.
      exact = false;
      Value value = cast<Value>(offset);
      int64_t bytes = strides[i] * getStoredBits(source) / 8;
      if (std::string fixed = fixedIndex(value); !fixed.empty()) {
        relative.base += "+" + std::to_string(bytes) + "*" + fixed;
      } else if (auto index = periodicIndex(value, evaluator); index && !relative.index) {
        relative.index = std::move(index);
        relative.stride = bytes;
      } else {
        return unknown;
      }
      o = 0;
    }
    constexpr int64_t kBig = int64_t(1) << 40;
    if (!o || !s || !t || ShapedType::isDynamic(strides[i]) || *s < 1 || *o < 0 || *o > kBig ||
        *s > kBig || *t < 0 || *t > kBig || strides[i] < 0 || strides[i] > kBig)
      return unknown;
    // Rows of tensor memory are lanes: every row spans the same columns.
    int64_t stride = tmem && i == 0 && source.getRank() == 2 ? 0 : strides[i];
    int64_t from, steps, to;
    if (llvm::MulOverflow(*o, stride, from) || llvm::MulOverflow(*s - 1, *t, steps) ||
        llvm::MulOverflow(steps, stride, to) || llvm::AddOverflow(begin, from, begin) ||
        llvm::AddOverflow(last, to, last) || begin > kBig || last > kBig)
      return unknown;
  }
  int64_t bits = getStoredBits(source), unit = tmem ? 32 : 8;
  int64_t first = begin * bits / unit;
  relative.begin = first;
  relative.size = ((begin + last + 1) * bits + unit - 1) / unit - first;
  if (exact)
    result = {first, relative.size, true, {}};
  result.relative = std::move(relative);
  return result;
}

/// The window `inner` of a view that covers `outer` of its source, as a window of the source.
static Window compose(const Window &inner, const Window &outer) {
  Window result;
  if (!outer.exact)
    result = {0, -1, false, {}};
  else if (!inner.exact && inner.size < 0)
    result = {outer.begin, outer.size, false, {}};
  else
    result = {outer.begin + inner.begin, inner.size < 0 ? outer.size : inner.size, inner.exact, {}};
  const RelativeWindow &a = inner.relative, &b = outer.relative;
  RelativeWindow &both = result.relative;
  both.known = a.known && b.known && !(a.index && b.index);
  if (!both.known)
    return result;
  both.base = b.base + a.base;
  both.begin = b.begin + a.begin;
  both.size = a.size < 0 ? b.size : a.size;
  both.index = a.index ? a.index : b.index;
  both.stride = a.index ? a.stride : b.stride;
  return result;
}

SmallVector<MemrefRoot> mlir::ts::traceMemref(Value memref, ValueEvaluator &evaluator) {
  SmallVector<MemrefRoot> roots;
  SmallVector<Item> worklist{{memref, Window(), false}};
  llvm::SmallPtrSet<void *, 16> seen;
  auto push = [&](Value value, const Window &window, bool carried) {
    worklist.push_back({value, window, carried});
  };
  auto yielded = [](Region &region, unsigned number) -> Value {
    if (region.empty() || region.front().empty())
      return Value();
    Operation *yield = &region.front().back();
    return yield->hasTrait<OpTrait::IsTerminator>() && number < yield->getNumOperands()
               ? yield->getOperand(number)
               : Value();
  };
  while (!worklist.empty()) {
    Item item = worklist.pop_back_val();
    if (!item.value || !seen.insert(item.value.getAsOpaquePointer()).second)
      continue;
    auto finish = [&](Operation *work, unsigned index) {
      MemrefRoot root;
      root.work = work;
      root.index = index;
      root.carried = item.carried;
      int64_t extent = extentOf(cast<MemRefType>(item.value.getType()));
      root.exact = item.window.exact;
      root.offset = item.window.size < 0 ? 0 : item.window.begin;
      root.size = item.window.size < 0 ? extent : item.window.size;
      root.relative = item.window.relative;
      if (root.relative.size < 0)
        root.relative.size = extent;
      roots.push_back(root);
    };
    if (auto arg = dyn_cast<BlockArgument>(item.value)) {
      Operation *parent = arg.getOwner()->getParentOp();
      unsigned number = arg.getArgNumber();
      if (isa_and_nonnull<ProduceOp, ConsumeOp, KernelOp>(parent)) {
        if (isa<MemRefType>(arg.getType()))
          finish(isa<KernelOp>(parent) ? nullptr : parent, number);
        continue;
      }
      unsigned leading = 0;
      ValueRange inits;
      if (auto loop = dyn_cast_or_null<ForOp>(parent))
        inits = loop.getInits(), leading = 1;
      else if (auto loop = dyn_cast_or_null<TileLoopOp>(parent))
        inits = loop.getInits(), leading = loop.getBody().getNumArguments() - inits.size();
      else if (auto loop = dyn_cast_or_null<scf::ForOp>(parent))
        inits = loop.getInits(), leading = 1;
      if (number >= leading && number - leading < inits.size()) {
        push(inits[number - leading], item.window, item.carried);
        push(yielded(parent->getRegion(0), number - leading), item.window, true);
      }
      continue;
    }
    Operation *op = item.value.getDefiningOp();
    unsigned number = cast<OpResult>(item.value).getResultNumber();
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      push(view.getSource(), compose(item.window, windowOf(view, evaluator)), item.carried);
    } else if (isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
                   memref::MemorySpaceCastOp>(op)) {
      push(op->getOperand(0), item.window, item.carried);
    } else if (isa<memref::ReinterpretCastOp, memref::ViewOp, memref::ReshapeOp>(op)) {
      Window unknown{0, -1, false, {}};
      unknown.relative.known = false;
      push(op->getOperand(0), unknown, item.carried);
    } else if (isa<arith::SelectOp>(op)) {
      push(op->getOperand(1), item.window, item.carried);
      push(op->getOperand(2), item.window, item.carried);
    } else if (isa<ForOp, TileLoopOp, scf::ForOp>(op)) {
      ValueRange inits = isa<ForOp>(op)        ? ValueRange(cast<ForOp>(op).getInits())
                         : isa<TileLoopOp>(op) ? ValueRange(cast<TileLoopOp>(op).getInits())
                                               : ValueRange(cast<scf::ForOp>(op).getInits());
      push(inits[number], item.window, item.carried);
      push(yielded(op->getRegion(0), number), item.window, item.carried);
    } else if (isa<GuardOp, WhenOp, scf::IfOp, ProduceOp, ConsumeOp>(op)) {
      for (Region &region : op->getRegions())
        push(yielded(region, number), item.window, item.carried);
    }
  }
  return roots;
}
