// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-fill-bodies, one task: walks it in program order, knows which stages are held and which
// declared reads of a matrix engine still wait for the product that makes them.
#include "FillBodies.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::fill;
namespace proto = ::ts::protocol;

LogicalResult TaskFiller::run() {
  if (failed(block(task.getBodyBlock())))
    return failure();
  while (!unread.empty())
    notRead(unread.back().first);
  return success();
}

void TaskFiller::notRead(Value resource) {
  auto it = unread.find(resource);
  if (it == unread.end())
    return;
  kernel.remark(it->second, Twine("no product of task '") + task.getName() + "' follows before '" +
                                getResourceName(resource) +
                                "' is released, so this stage is not read");
  unread.erase(it);
}

LogicalResult TaskFiller::block(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(operation(op)))
      return failure();
  return success();
}

LogicalResult TaskFiller::operation(Operation &op) {
  if (isa<ProduceOp, ConsumeOp>(op))
    return op.getRegion(0).empty() ? work(op) : success();
  step(op);
  for (Region &region : op.getRegions())
    for (Block &nested : region)
      if (failed(block(nested)))
        return failure();
  return success();
}

//===-- Brackets -----------------------------------------------------------------------------===//

SmallVector<Value> TaskFiller::membersOf(Value resource) {
  if (auto group = resource.getDefiningOp<PipelineGroupOp>())
    return llvm::to_vector(group.getMembers());
  return {resource};
}

void TaskFiller::step(Operation &op) {
  if (isa<WaitOp, ReleaseOp, AcquireOp>(op))
    for (Value member : membersOf(op.getOperand(0))) {
      if (isa<WaitOp>(op)) {
        held.insert(member);
      } else if (isa<ReleaseOp>(op)) {
        held.remove(member);
        notRead(member);
      } else {
        // Several tasks that fill one stage take its bytes in the order of the tasks.
        Ring *ring = kernel.ringOf(member);
        auto at = ring ? llvm::find(ring->writers, task) : nullptr;
        filled[member] =
            ring && ring->writers.size() > 1 && at != ring->writers.end()
                ? (at - ring->writers.begin()) * ring->written / int64_t(ring->writers.size())
                : 0;
      }
    }
}

bool TaskFiller::lanePerWarp(const Ring &ring, proto::Side side) {
  if (!ring.spec)
    return false;
  proto::Op opening = side == proto::Side::Producer ? proto::Op::Acquire : proto::Op::Wait;
  int64_t stride = ring.spec->stride(opening);
  return stride > 1 && stride == task.getWarpsPerReplica();
}

Counter TaskFiller::counterOf(const Ring &ring, proto::Side side) {
  // The operations that move this side of the ring, or of the group that it stands in.
  auto moves = [&](Value resource, bool opening) {
    SmallVector<Operation *> ops;
    task.walk([&](Operation *op) {
      bool fits = side == proto::Side::Producer ? (opening ? isa<AcquireOp>(op) : isa<CommitOp>(op))
                                                : (opening ? isa<WaitOp>(op) : isa<ReleaseOp>(op));
      if (fits && op->getOperand(0) == resource)
        ops.push_back(op);
    });
    return ops;
  };
  Value resource = ring.getOp().getResult();
  SmallVector<Operation *> ops;
  bool opening = true;
  for (Value candidate : {resource, groupOf(resource) ? groupOf(resource).getResult() : Value()}) {
    if (!candidate)
      continue;
    for (bool opens : {true, false}) {
      if (!ops.empty())
        continue;
      ops = moves(candidate, opens);
      opening = opens;
      resource = candidate;
    }
  }
  auto [it, isNew] = counters.try_emplace({resource, int(side)});
  Counter &counter = it->second;
  if (!isNew || ops.empty())
    return counter;
  proto::Op by = side == proto::Side::Producer ? (opening ? proto::Op::Acquire : proto::Op::Commit)
                                               : (opening ? proto::Op::Wait : proto::Op::Release);
  counter.perGeneration =
      std::max<int64_t>(1, ring.spec->stages / std::max<int64_t>(1, ring.spec->stride(by)));
  // In the kernel, so that it lands in the function's entry block and becomes a register.
  OpBuilder b(task);
  Location loc = task.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value size = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1));
  counter.slot = LLVM::AllocaOp::create(b, loc, pointer, b.getI32Type(), size);
  b.setInsertionPointToStart(&task.getBodyBlock());
  Value start = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(opening ? -1 : 0));
  LLVM::StoreOp::create(b, loc, start, counter.slot);
  for (Operation *op : ops) {
    b.setInsertionPointAfter(op);
    Value one = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1));
    Value before = LLVM::LoadOp::create(b, loc, b.getI32Type(), counter.slot);
    LLVM::StoreOp::create(b, loc, arith::AddIOp::create(b, loc, before, one), counter.slot);
  }
  return counter;
}

//===-- Operands of products -----------------------------------------------------------------===//

bool TaskFiller::readByMatrix(const Ring &ring, ArrayRef<Access> accesses) {
  return ring.spec && llvm::any_of(accesses, [](const Access &access) {
           return !access.write &&
                  (access.engine == proto::EngineUmma || access.engine == proto::EngineUtccp);
         });
}

static ConsumeOp makeViews(OpBuilder &b, Operation *before, const Ring &ring) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(before);
  ResourceOp def = ring.op;
  SmallVector<Type> types = def.getViewTypes();
  auto consume = ConsumeOp::create(b, before->getLoc(), types, def.getResult(), "fill_operands",
                                   /*aux=*/false, ValueRange(), ArrayAttr(), IntegerAttr());
  Block &body = consume.getBody().emplaceBlock();
  SmallVector<Location> locs(types.size(), before->getLoc());
  body.addArguments(types, locs);
  b.setInsertionPointToEnd(&body);
  YieldOp::create(b, before->getLoc(), body.getArguments());
  return consume;
}

static size_t viewCount(Value resource) {
  auto def = resource.getDefiningOp<ResourceOp>();
  return def.getViewTypes().size();
}

LogicalResult TaskFiller::operandsOf(ProduceOp op, SmallVectorImpl<Value> &views) {
  llvm::SmallPtrSet<Value, 4> named;
  // First the stages that the call's own operands speak of: an earlier one may still be held.
  for (Value use : op.getUses()) {
    auto it = passed.find(use);
    auto consume = use.getDefiningOp<ConsumeOp>();
    if (it == passed.end() || !consume)
      continue;
    auto at = early.find(consume.getResource());
    bool isEarly = at != early.end() && at->second == consume;
    if (!isEarly && !held.contains(consume.getResource()))
      continue;
    named.insert(consume.getResource());
    for (Value view : it->second)
      if (!llvm::is_contained(views, view))
        views.push_back(view);
    unread.erase(consume.getResource());
  }
  // Then what was declared to be read and has not been.
  SmallVector<Value> rest;
  for (auto &[resource, consume] : unread)
    if (held.contains(resource) && !named.contains(resource))
      rest.push_back(resource);
  // A stage that is not held is the one that was read.
  for (auto &[resource, consume] : early)
    if (!named.contains(resource) && consume->getBlock() == op->getBlock())
      llvm::append_range(views, consume->getResults().take_back(viewCount(resource)));
  early.clear();
  // A product needs something to multiply: what is held, then.
  if (views.empty() && rest.empty())
    for (Value resource : held)
      if (Ring *ring = kernel.ringOf(resource);
          ring && ring->spec && proto::consumerKind(ring->spec->type) == proto::SideKind::Umma)
        rest.push_back(resource);
  OpBuilder b(op);
  for (Value resource : rest) {
    auto consume = makeViews(b, op, *kernel.ringOf(resource));
    llvm::append_range(views, consume.getResults());
    unread.erase(resource);
  }
  return success();
}

/// Gives a consume whose reads a matrix engine makes later the views of its stage as results.
LogicalResult TaskFiller::passOn(ConsumeOp op, const Ring &ring, ArrayRef<Access> accesses) {
  OpBuilder b(op);
  ResourceOp def = ring.op;
  SmallVector<Type> types(op.getResultTypes());
  size_t count = types.size();
  SmallVector<Type> viewTypes = def.getViewTypes();
  llvm::append_range(types, viewTypes);
  auto next = ConsumeOp::create(b, op.getLoc(), types, op.getResource(), op.getLabel(), op.getAux(),
                                op.getUses(), ArrayAttr(), IntegerAttr());
  next->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  BodyWriter writer(*this, ring, next);
  Block *body = writer.getBlock();
  SmallVector<Value> views;
  for (BlockArgument arg : body->getArguments())
    views.push_back(arg);
  // Where no wait has opened the stage, the declared read is unordered here, whatever a later wait
  // orders. A product has nowhere to put its result yet, so threads read.
  bool isEarly = !held.contains(op.getResource());
  if (isEarly) {
    kernel.remark(op, "read by threads, since no wait has opened the stage before");
    writer.readByThreads(accesses);
  }
  if (failed(writer.write({}, views)))
    return failure();
  for (auto [from, to] : llvm::zip(op.getResults(), next.getResults()))
    from.replaceAllUsesWith(to);
  SmallVector<Value> stage(llvm::drop_begin(next.getResults(), count));
  for (Value result : next.getResults().take_front(count))
    passed[result] = stage;
  (isEarly ? early : unread)[op.getResource()] = next;
  op.erase();
  return success();
}

//===-- Work ---------------------------------------------------------------------------------===//

/// The part of `accesses` in bytes [begin, begin + size) of the stage.
static SmallVector<Access> clip(ArrayRef<Access> accesses, int64_t begin, int64_t size) {
  SmallVector<Access> result;
  int64_t at = 0;
  for (Access access : accesses) {
    int64_t from = std::max(begin, at), to = std::min(begin + size, at + access.size);
    at += access.size;
    if (from >= to)
      continue;
    access.offset += from - (at - access.size);
    access.size = to - from;
    result.push_back(access);
  }
  return result;
}

/// Copies of `size` bytes by each CTA that fill more than that, since each brings a part of what
/// several receive: all of the stage along the one dimension in which it has peers, or the first
/// buffer along n and the second along m, as the operands of a product. Reduces `accesses` to what
/// is filled; false where the bytes do not say so.
bool TaskFiller::clipMulticast(ProduceOp op, const Ring &ring, int64_t size,
                               SmallVectorImpl<Access> &accesses) {
  if (!ring.spec || kernel.peersOf(ring, ring.spec->multicast) == 1)
    return false;
  std::array<bool, 2> flags = ring.spec->multicast;
  std::array<bool, 2> along[] = {{flags[0], false}, {false, flags[1]}};
  bool both = kernel.peersOf(ring, along[0]) > 1 && kernel.peersOf(ring, along[1]) > 1;
  bool single = true;
  task.walk([&](ProduceOp other) {
    single &= other == op || other.getAux() || other.getResource() != op.getResource();
  });
  int64_t from = covered(op.getResource()), at = 0, left = size, filled = 0;
  auto dimensions = [&](size_t number) {
    if (accesses.size() == 1 && !both)
      return flags;
    return number < 2 ? along[number] : std::array<bool, 2>{};
  };
  auto take = [&](auto &&dimensionsOf) {
    SmallVector<Access> taken;
    bool spread = false;
    at = filled = 0;
    left = size;
    for (auto [number, access] : llvm::enumerate(accesses)) {
      at += access.size;
      if (at - access.size < from || !left)
        continue;
      Access part = access;
      part.multicast = dimensionsOf(number);
      int64_t peers = kernel.peersOf(ring, part.multicast);
      if (access.size % peers || access.size / peers > left)
        return false;
      left -= access.size / peers;
      filled += access.size;
      spread |= peers > 1;
      taken.push_back(part);
    }
    // Calls beside this one fill the other buffers.
    if (left || !spread || (!single && taken.size() > 1))
      return false;
    accesses.assign(taken.begin(), taken.end());
    covered(op.getResource()) = from + filled;
    return true;
  };
  if (take(dimensions))
    return true;
  return single && !both && take([&](size_t) { return flags; });
}

LogicalResult TaskFiller::work(Operation &op) {
  Value resource = op.getOperand(0);
  Ring *ring = kernel.ringOf(resource);
  if (!ring) { // a queue, or something without memory
    Ring none;
    BodyWriter writer(*this, none, &op);
    return writer.write({}, {});
  }
  SmallVector<Access> accesses = kernel.accessesOf(&op, *ring);
  if (auto consume = dyn_cast<ConsumeOp>(op); consume && readByMatrix(*ring, accesses))
    return passOn(consume, *ring, accesses);
  bool tma = llvm::any_of(accesses, [](auto &a) { return a.engine == proto::EngineTma; });
  if (auto bytes = op.getAttrOfType<IntegerAttr>("bytes"); bytes && tma && !op.hasAttr("effects")) {
    int64_t size = bytes.getInt(), pair = kernel.ctasPerMma();
    if (size > ring->stageBytes && size == ring->stageBytes * pair)
      size = ring->stageBytes; // of both CTAs
    int64_t &from = covered(resource);
    if (size == ring->written || !isa<ProduceOp>(op) ||
        !clipMulticast(cast<ProduceOp>(op), *ring, size, accesses)) {
      if (from + size > ring->stageBytes)
        return op.emitError("[TS404] the copies into a stage of '")
               << getResourceName(resource) << "' declare " << from + size
               << " bytes, but the stage has " << ring->stageBytes << " in each CTA";
      accesses = clip(accesses, from, size);
      from += size;
    }
  }
  // One warp reaches a quarter of tensor memory; memory that no pipeline guards is filled by the
  // copy engine of the task that multiplies.
  for (Access &access : accesses)
    if (access.engine == proto::EngineUmma && access.write && ring->spec &&
        proto::producerKind(ring->spec->type) == proto::SideKind::Umma &&
        proto::consumerKind(ring->spec->type) == proto::SideKind::Umma) {
      access.engine = proto::EngineUtccp; // what such a pipeline is for
    } else if (access.engine == proto::EngineTmemStore && task.getWarpsPerReplica() < 4 &&
               !ring->spec) {
      access.engine = proto::EngineUtccp;
      kernel.remark(&op, "written by tcgen05.cp, since the task's warps cannot reach all lanes");
    }
  bool matrix = llvm::any_of(accesses, [](const Access &access) {
    return access.write &&
           (access.engine == proto::EngineUmma || access.engine == proto::EngineUtccp);
  });
  SmallVector<Value> operands;
  if (auto produce = dyn_cast<ProduceOp>(op); produce && matrix) {
    if (failed(operandsOf(produce, operands)))
      return failure();
    bool smem = llvm::any_of(operands, [](Value view) { return isSmem(view.getType()); });
    if (!smem) {
      OpBuilder b(&op);
      operands.push_back(kernel.operand(b, &op, kTileBytes));
      kernel.remark(&op,
                    "no stage in shared memory is held here, so unwritten scratch is an operand");
    }
  }
  BodyWriter writer(*this, *ring, &op);
  return writer.write(accesses, operands);
}
