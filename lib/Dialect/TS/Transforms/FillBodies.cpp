// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-fill-bodies: the pass, and what bodies share over a kernel: rings, arguments, scratch.
#include "FillBodies.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"
#include "ts/Dialect/TS/IR/MatrixTile.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ts {
#define GEN_PASS_DEF_TSFILLBODIES
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::fill;
namespace proto = ::ts::protocol;

static bool isDeclared(Operation *op) {
  return isa<ProduceOp, ConsumeOp>(op) && op->getRegion(0).empty();
}

//===-- Rings --------------------------------------------------------------------------------===//

/// Bodies see shared memory as bytes and tensor memory as 32-bit columns, whatever the elements.
void KernelFiller::flatten(ResourceOp resource) {
  MLIRContext *ctx = resource.getContext();
  SmallVector<Attribute> allocs;
  for (auto alloc : resource.getAllocs().getAsRange<AllocAttr>()) {
    MemRefType type = alloc.getType();
    int64_t align = alloc.getAlign();
    if (isTmem(type)) {
      int64_t bits = getElementBits(type.getElementType());
      type = MemRefType::get({type.getDimSize(0), type.getDimSize(1) * bits / kTmemColumnBits},
                             IntegerType::get(ctx, 32), MemRefLayoutAttrInterface(),
                             type.getMemorySpace());
    } else {
      // What the swizzle of the tiles asked for stays asked for.
      align = std::max<int64_t>(align, getSwizzle(type) * kCoreMatrixRows);
      type = MemRefType::get({getBytes(type)}, IntegerType::get(ctx, 8),
                             MemRefLayoutAttrInterface(), SmemSpaceAttr::get(ctx, 0));
    }
    allocs.push_back(
        AllocAttr::get(ctx, alloc.getName(), type, align, alloc.getAt(), alloc.getStaged()));
  }
  resource.setAllocsAttr(ArrayAttr::get(ctx, allocs));
}

/// A ring whose memory the schedule does not declare gets some, so that its engines have something
/// to move: the bytes that its barriers count, or the smallest operand of a product.
void KernelFiller::lendMemory(Ring &ring) {
  ResourceOp resource = ring.op;
  bool tmem = resource.getSpace() == Space::Tmem;
  if (!ring.spec || !resource.getAllocs().empty() || (!tmem && resource.getSpace() != Space::Smem))
    return;
  MLIRContext *ctx = resource.getContext();
  static constexpr int64_t kColumns = 32;
  proto::CtaGrid grid(*ring.spec, cluster);
  bool pair = proto::consumerKind(ring.spec->type) == proto::SideKind::Umma;
  int64_t bytes = kTileBytes;
  if (proto::hasTmaProducer(ring.spec->type) && ring.spec->numBytes)
    bytes = *ring.spec->numBytes / (pair ? int64_t(grid.pairSize()) : 1);
  auto type = tmem ? MemRefType::get({kTmemLanes, kColumns}, IntegerType::get(ctx, 32),
                                     MemRefLayoutAttrInterface(), TmemSpaceAttr::get(ctx))
                   : MemRefType::get({bytes}, IntegerType::get(ctx, 8), MemRefLayoutAttrInterface(),
                                     SmemSpaceAttr::get(ctx, 0));
  auto alloc = AllocAttr::get(ctx, (resource.getName() + ".fill").str(), type,
                              tmem ? 0 : kTmaSmemAlignment, -1, true);
  resource.setAllocsAttr(ArrayAttr::get(ctx, Attribute(alloc)));
  // What its engines are is derived from the space, so it is asked again.
  ring.spec = pipelineSpecOf(resource.getResult());
  remark(resource, "'" + resource.getName() + "' declares no memory and gets " +
                       (tmem ? Twine(kColumns) + " columns" : Twine(bytes) + " bytes") +
                       " per stage");
}

LogicalResult KernelFiller::collect() {
  cluster = clusterSpecOf(kernel);
  for (auto op : kernel.getBodyBlock().getOps<ResourceOp>()) {
    Ring &ring = rings[op.getResult()];
    ring.op = op;
    ring.index = rings.size() - 1;
    if (op.getPipeline())
      ring.spec = pipelineSpecOf(op.getResult());
  }
  for (auto &[resource, ring] : rings) {
    bool declared = false, written = false;
    for (Operation *user : resource.getUsers()) {
      if (!isa<ProduceOp, ConsumeOp>(user))
        continue;
      declared |= isDeclared(user);
      // Auxiliary work has no views of a stage, so its body says nothing about the memory.
      written |= !isDeclared(user) && !user->hasAttr("aux");
      if (isDeclared(user) && user->hasAttr("effects"))
        ring.partly = true;
      auto task = user->getParentOfType<TaskOp>();
      if (isa<ProduceOp>(user) && !user->hasAttr("aux") && !llvm::is_contained(ring.writers, task))
        ring.writers.push_back(task);
    }
    llvm::sort(ring.writers, [](TaskOp x, TaskOp y) { return x->isBeforeInBlock(y); });
    if (declared && !written) {
      lendMemory(ring);
      flatten(ring.op);
    }
    for (auto [i, alloc] : llvm::enumerate(ring.op.getAllocs().getAsRange<AllocAttr>()))
      if (!isTmem(alloc.getType()))
        ring.stageBytes += getBytes(alloc.getType());
    ring.written = ring.stageBytes;
    // Both CTAs of a pair count their bytes on the leader's barrier.
    if (ring.spec && proto::hasTmaProducer(ring.spec->type) && ring.spec->numBytes) {
      proto::CtaGrid grid(*ring.spec, cluster);
      bool pair = proto::consumerKind(ring.spec->type) == proto::SideKind::Umma;
      ring.written =
          std::min(ring.stageBytes, *ring.spec->numBytes / (pair ? int64_t(grid.pairSize()) : 1));
    }
  }
  return success();
}

Ring *KernelFiller::ringOf(Value resource) {
  auto it = rings.find(resource);
  return it == rings.end() ? nullptr : &it->second;
}

int64_t KernelFiller::peersOf(const Ring &ring, std::array<bool, 2> multicast) const {
  if (!ring.spec)
    return 1;
  proto::CtaGrid grid(*ring.spec, cluster);
  return llvm::popcount(uint64_t(grid.peers(0, multicast)));
}

SmallVector<Access> KernelFiller::accessesOf(Operation *work, const Ring &ring) {
  SmallVector<Access> result;
  if (work->hasAttr("aux"))
    return result;
  bool produces = isa<ProduceOp>(work);
  auto add = [&](unsigned index, bool write, proto::Engine engine, int64_t offset, int64_t size) {
    int64_t whole = getBytes(ring.alloc(index).getType());
    Access access{index, write, engine, offset, size < 0 ? whole - offset : size};
    // An engine of threads is named after the memory that it reaches.
    bool threads = engine == proto::EngineGeneric || engine == proto::EngineTmemLoad ||
                   engine == proto::EngineTmemStore;
    if (threads)
      access.engine = !ring.tmem(index) ? proto::EngineGeneric
                      : write           ? proto::EngineTmemStore
                                        : proto::EngineTmemLoad;
    bool known = llvm::any_of(result, [&](const Access &other) {
      return other.alloc == index && other.write == write && other.engine == access.engine &&
             other.offset == offset && other.size == access.size;
    });
    if (!known)
      result.push_back(access);
  };
  if (auto effects = work->getAttrOfType<ArrayAttr>("effects")) {
    static constexpr proto::Engine engines[] = {
        proto::EngineGeneric, proto::EngineCpAsync, proto::EngineTma,   proto::EngineTma,
        proto::EngineWgmma,   proto::EngineUmma,    proto::EngineUtccp, proto::EngineClc};
    for (auto effect : effects.getAsRange<EffectAttr>())
      for (unsigned i = 0; i < ring.getOp().getAllocs().size(); ++i)
        if (effect.getAlloc().empty() || effect.getAlloc() == ring.alloc(i).getName())
          add(i, effect.getWrite(), engines[unsigned(effect.getEngine())], effect.getOffset(),
              effect.getSize());
    return result;
  }
  proto::SideAccess engines{};
  (produces ? engines.writes : engines.reads) = proto::EngineGeneric;
  if (ring.spec)
    engines = proto::accessOf(*ring.spec, produces ? proto::Side::Producer : proto::Side::Consumer);
  ResourceOp def = ring.op;
  std::optional<ArrayAttr> uses = produces ? def.getProducerUses() : def.getConsumerUses();
  for (unsigned i = 0; i < def.getAllocs().size(); ++i) {
    if (uses && llvm::none_of(uses->getAsValueRange<StringAttr>(),
                              [&](StringRef use) { return use == ring.alloc(i).getName(); }))
      continue;
    for (unsigned bit = 1; bit <= proto::EngineClc; bit <<= 1) {
      if (engines.reads & bit)
        add(i, false, proto::Engine(bit), 0, -1);
      if (engines.writes & bit)
        add(i, true, proto::Engine(bit), 0, -1);
    }
  }
  return result;
}

//===-- Arguments ----------------------------------------------------------------------------===//

Type KernelFiller::lineType() {
  MLIRContext *ctx = kernel.getContext();
  return MemRefType::get({ShapedType::kDynamic, kBulkGranularity}, IntegerType::get(ctx, 8));
}
Type KernelFiller::sinkType() {
  return MemRefType::get({ShapedType::kDynamic}, IntegerType::get(kernel.getContext(), 8));
}
Type KernelFiller::reportType() {
  return MemRefType::get({ShapedType::kDynamic}, IntegerType::get(kernel.getContext(), 32));
}

Value KernelFiller::argument(StringRef name, Type type) {
  Value &value = arguments[name];
  if (value)
    return value;
  Builder b(kernel.getContext());
  auto append = [&](ArrayAttr list, StringRef text) {
    SmallVector<Attribute> values(list.begin(), list.end());
    values.push_back(b.getStringAttr(text));
    return b.getArrayAttr(values);
  };
  kernel.setArgNamesAttr(append(kernel.getArgNames(), name));
  kernel.setArgExprsAttr(append(kernel.getArgExprs(), ""));
  SmallVector<int64_t> mins(kernel.getArgMins());
  mins.push_back(0);
  kernel.setArgMins(mins);
  value = kernel.getBody().addArgument(type, kernel.getLoc());
  return value;
}

Value KernelFiller::table(int64_t rows, int64_t width) {
  MLIRContext *ctx = kernel.getContext();
  int64_t dynamic = ShapedType::kDynamic;
  auto type = TensorMapType::get(ctx, {dynamic, dynamic}, IntegerType::get(ctx, 8), {rows, width},
                                 /*swizzle=*/0, /*interleave=*/0, TensorMapFill::Zero,
                                 /*l2Promotion=*/256, {});
  return argument(("fill_" + Twine(rows) + "x" + Twine(width)).str(), type);
}

Value KernelFiller::operand(OpBuilder &b, Operation *before, int64_t bytes) {
  Location loc = before->getLoc();
  MLIRContext *ctx = kernel.getContext();
  auto type = MemRefType::get({2 * kTileBytes}, IntegerType::get(ctx, 8),
                              MemRefLayoutAttrInterface(), SmemSpaceAttr::get(ctx, 0));
  if (!operands) {
    OpBuilder top(rings.front().second.op);
    auto alloc = AllocAttr::get(ctx, "operand", type, kTmaSmemAlignment, -1, true);
    operands = ResourceOp::create(top, loc, "fill_operand", Space::Smem, top.getArrayAttr({alloc}),
                                  PipelineAttr(), ArrayAttr(), ArrayAttr(), Value(), StringAttr());
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(before);
  auto consume = ConsumeOp::create(b, loc, TypeRange(type), operands.getResult(), "fill_operand",
                                   /*aux=*/false, ValueRange(), ArrayAttr(), IntegerAttr());
  Block &body = consume.getBody().emplaceBlock();
  b.setInsertionPointToEnd(&body);
  YieldOp::create(b, loc, ValueRange(body.addArgument(type, loc)));
  return consume.getResult(0);
}

//===-- The pass -----------------------------------------------------------------------------===//

LogicalResult KernelFiller::run() {
  bool any = false;
  kernel.walk([&](Operation *op) { any |= isDeclared(op); });
  if (!any)
    return success();
  for (StringRef name : kernel.getArgNames().getAsValueRange<StringAttr>())
    if (name.starts_with("fill_"))
      return kernel.emitError("[TS404] argument '")
             << name << "' has a name that ts-fill-bodies gives to its own; rename it";
  if (failed(collect()))
    return failure();
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
    if (failed(TaskFiller(*this, task).run()))
      return failure();
  return success();
}

namespace {
struct FillBodies : mlir::ts::impl::TSFillBodiesBase<FillBodies> {
  using TSFillBodiesBase::TSFillBodiesBase;
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (failed(KernelFiller(kernel, remarks).run()))
        return signalPassFailure();
  }
};
} // namespace
