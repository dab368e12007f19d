// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of one role: schedule ops, loops, branches, and the events inside work bodies.
#include "BuilderImpl.h"
#include "TaskThreads.h"
#include "ts/Analysis/Schedule/IssuedCopies.h"
#include "ts/Analysis/Schedule/ValueStructure.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using namespace ::ts::schedule;
using StepKindT = ::ts::schedule::StepKind;

TaskBuilder::TaskBuilder(KernelContext &context, TaskOp task, int64_t replica, Task &out)
    : context(context), task(task), replica(replica), out(out), conditions(task, replica) {}

LogicalResult TaskBuilder::run() {
  out.body = block(task.getBodyBlock(), Place());
  if (overflow)
    return task.emitError("task '") << task.getName() << "' has more than " << maxSteps
                                    << " steps; the analyses do not follow that";
  for (Step &step : out.steps)
    for (Access &access : step.event.accesses)
      if (access.via < -1) {
        auto it = works.find(pendingViews[size_t(-2 - access.via)]);
        access.via = it == works.end() ? -1 : it->second;
      }
  addPhaseBytes();
  TaskThreads(context, task, replica, out, works, conditions).run();
  return success();
}

void TaskBuilder::addPhaseBytes() {
  llvm::DenseMap<Value, std::optional<::ts::protocol::IssuedBytes>> known;
  for (Step &step : out.steps) {
    if (step.kind != StepKindT::Event || step.event.kind != EventKind::Acquire)
      continue;
    Value resource = context.model.opAt(step.loc)->getOperand(0);
    auto [it, fresh] = known.try_emplace(resource);
    if (fresh && hasPipeline(resource))
      it->second = issuedPerPhase(resource, task, replica);
    if (it->second)
      step.event.issued.alternatives = {*it->second};
  }
}

StepId TaskBuilder::add(StepKindT kind, Operation *op, const Place &place,
                        std::vector<StepId> &list) {
  if (out.steps.size() >= maxSteps)
    overflow = true;
  StepId id = StepId(out.steps.size());
  Step &step = out.steps.emplace_back();
  step.kind = kind;
  step.parent = place.parent;
  step.loc = context.place(op);
  list.push_back(id);
  return id;
}

Event &TaskBuilder::event(EventKind kind, Operation *op, Value resource, const Place &place,
                          std::vector<StepId> &list) {
  Event &result = step(add(StepKindT::Event, op, place, list)).event;
  result.kind = kind;
  result.elected = place.elected;
  if (resource)
    result.resource = context.resourceOf(resource);
  return result;
}

std::vector<StepId> TaskBuilder::block(Block &ops, const Place &place) {
  std::vector<StepId> list;
  for (Operation &op : ops) {
    if (overflow)
      break;
    operation(&op, place, list);
  }
  return list;
}

void TaskBuilder::operation(Operation *op, const Place &place, std::vector<StepId> &list) {
  if (scheduleOp(op, place, list) || workEvent(op, place, list))
    return;
  if (isa<ProduceOp, ConsumeOp>(op))
    return work(op, place, list);
  if (isScheduleLoop(op))
    return loop(op, place, list);
  if (auto branchOp = dyn_cast<scf::IfOp>(op))
    return branch(op, branchOp.getCondition(), place, list);
  accesses(op, place, list);
  if (isa<FragmentMapOp>(op))
    return;
  Place inside = place;
  inside.elected |= isa<ElectOp>(op);
  for (Region &region : op->getRegions())
    for (Block &nested : region)
      llvm::append_range(list, block(nested, inside));
}

//===-- Schedule ops -------------------------------------------------------------------------===//

bool TaskBuilder::scheduleOp(Operation *op, const Place &place, std::vector<StepId> &list) {
  auto kind = llvm::TypeSwitch<Operation *, std::optional<EventKind>>(op)
                  .Case([](TryAcquireOp) { return EventKind::TryAcquire; })
                  .Case([](AcquireOp) { return EventKind::Acquire; })
                  .Case([](CommitOp) { return EventKind::Commit; })
                  .Case([](TryWaitOp) { return EventKind::TryWait; })
                  .Case([](WaitOp) { return EventKind::Wait; })
                  .Case([](ReleaseOp) { return EventKind::Release; })
                  .Case([](FetchTileOp) { return EventKind::FetchTile; })
                  .Case([](NextTileOp) { return EventKind::NextTile; })
                  .Case([](GridDepWaitOp) { return EventKind::GridDepWait; })
                  .Case([](GridDepLaunchOp) { return EventKind::GridDepLaunch; })
                  .Case([](TakeOp) { return EventKind::Take; })
                  .Case([](PassOp) { return EventKind::Pass; })
                  .Default(std::nullopt);
  if (kind) {
    event(*kind, op, op->getOperand(0), place, list);
    return true;
  }
  Place inside = place;
  if (auto guard = dyn_cast<GuardOp>(op)) {
    StepId id = inside.parent = add(StepKindT::Guard, op, place, list);
    step(id).guard = {::ts::schedule::GuardKind(unsigned(guard.getKind())),
                      int64_t(guard.getPeriod()), place.guardedLoop};
  } else if (auto when = dyn_cast<WhenOp>(op)) {
    StepId id = inside.parent = add(StepKindT::When, op, place, list);
    Condition condition = conditions.values().condition(when.getCondition());
    condition.expected = when.getExpected();
    if (when.getKey()) {
      condition.key = when.getKey()->str();
      condition.userKey = condition.shared = true;
      auto structure = structureOf(when.getCondition(), conditions.values());
      condition.origin =
          structure
              ? structure->digest()
              : "?" + std::to_string(conditions.condition(when.getCondition(), std::nullopt, op));
    }
    condition.ctas = trueOn(when.getCondition());
    step(id).condition = condition;
  } else if (isa<SkippableOp>(op)) {
    inside.parent = add(StepKindT::Skippable, op, place, list);
  } else {
    return false;
  }
  auto body = block(op->getRegion(0).front(), inside);
  step(inside.parent).body = std::move(body);
  if (op->getNumRegions() > 1 && !op->getRegion(1).empty()) {
    auto orelse = block(op->getRegion(1).front(), inside);
    step(inside.parent).orelse = std::move(orelse);
  }
  return true;
}

void TaskBuilder::loop(Operation *op, const Place &place, std::vector<StepId> &list) {
  Loop info;
  ValueEvaluator &values = conditions.values();
  if (auto tiles = dyn_cast<TileLoopOp>(op)) {
    info.kind = LoopKind::Tile;
    info.queue = context.resourceOf(tiles.getQueue());
  } else if (auto domain = dyn_cast<ForOp>(op)) {
    info.lower = values.bound(domain.getLower());
    info.upper = values.upperBound(domain.getUpper(), info.lower);
    if (domain.getStep())
      info.step = values.bound(domain.getStep());
    if (auto start = values.carriedStart(domain)) {
      info.lower = Bound::constant(*start);
      info.carriesOn = true;
    }
  } else if (auto inner = dyn_cast<scf::ForOp>(op)) {
    info.kind = LoopKind::Inner;
    info.lower = values.bound(inner.getLowerBound());
    info.upper = values.upperBound(inner.getUpperBound(), info.lower);
    info.step = values.bound(inner.getStep());
  }
  if (info.kind != LoopKind::Tile) {
    info.constantTrips = conditions.constantTrips(op);
    info.minTrips = conditions.minTrips(op);
  }
  StepId id = add(StepKindT::Loop, op, place, list);
  step(id).loop = info;
  loops[op] = id;
  Place inside = place;
  inside.parent = id;
  if (info.kind != LoopKind::Inner)
    inside.guardedLoop = id;
  auto body = block(op->getRegion(0).front(), inside);
  // A loop of accesses is one larger access: its order does not matter to anybody else.
  if (info.kind == LoopKind::Inner && onlyAccesses(body)) {
    list.pop_back();
    llvm::append_range(list, body);
    return;
  }
  step(id).body = std::move(body);
}

void TaskBuilder::branch(Operation *op, Value condition, const Place &place,
                         std::vector<StepId> &list) {
  Region &then = op->getRegion(0), &orelse = op->getRegion(1);
  auto splice = [&](Region &region, const Place &inside) {
    if (!region.empty())
      llvm::append_range(list, block(region.front(), inside));
  };
  if (auto known = conditions.values().evaluate(condition))
    return splice(*known ? then : orelse, place);
  if (dependsOnThread(condition)) {
    Place some = place;
    some.elected = true;
    splice(then, some);
    return splice(orelse, some);
  }
  StepId id = add(StepKindT::Branch, op, place, list);
  step(id).condition = conditions.values().condition(condition);
  step(id).condition.ctas = trueOn(condition);
  Place inside = place;
  inside.parent = id;
  auto body = block(then.front(), inside);
  std::vector<StepId> other;
  if (!orelse.empty())
    other = block(orelse.front(), inside);
  if (place.inWork && onlyAccesses(body) && onlyAccesses(other)) {
    list.pop_back();
    llvm::append_range(list, body);
    llvm::append_range(list, other);
    return;
  }
  step(id).body = std::move(body);
  step(id).orelse = std::move(other);
}

bool TaskBuilder::onlyAccesses(const std::vector<StepId> &list) const {
  return llvm::all_of(list, [&](StepId id) {
    const Step &step = out.steps[size_t(id)];
    return step.kind == StepKindT::Event && step.event.kind == EventKind::Access;
  });
}

/// Visits what `value` is computed from.
template <typename Fn> static bool anySource(Value value, Fn matches) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    if (matches(op))
      return true;
    if (isa<arith::ArithDialect>(op->getDialect()))
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

bool TaskBuilder::dependsOnThread(Value value) {
  return anySource(value, [](Operation *op) {
    auto info = dyn_cast<InfoOp>(op);
    return (info && (info.getKind() == InfoKind::Thread || info.getKind() == InfoKind::Warp ||
                     info.getKind() == InfoKind::Lane)) ||
           isa<gpu::ThreadIdOp, gpu::LaneIdOp>(op);
  });
}

std::optional<uint64_t> TaskBuilder::trueOn(Value condition) {
  bool asks = anySource(condition, [](Operation *op) {
    auto info = dyn_cast<InfoOp>(op);
    return info && info.getKind() == InfoKind::CtaRank;
  });
  if (!asks)
    return std::nullopt;
  uint64_t mask = 0;
  for (int64_t cta = 0; cta < context.kernel.getClusterSize(); ++cta) {
    auto value = ValueEvaluator({cta, std::nullopt, replica}).evaluate(condition);
    if (!value)
      return std::nullopt;
    mask |= uint64_t(*value != 0) << cta;
  }
  return mask;
}

//===-- Work ---------------------------------------------------------------------------------===//

void TaskBuilder::work(Operation *op, const Place &place, std::vector<StepId> &list) {
  auto produce = dyn_cast<ProduceOp>(op);
  auto consume = dyn_cast<ConsumeOp>(op);
  Value resource = op->getOperand(0);
  bool hasBody = produce ? produce.hasBody() : consume.hasBody();
  StepId id;
  {
    Event &result =
        event(produce ? EventKind::Produce : EventKind::Consume, op, resource, place, list);
    id = list.back();
    works[op] = id;
    result.label = (produce ? produce.getLabel() : consume.getLabel()).str();
    result.aux = produce ? produce.getAux() : consume.getAux();
    result.declared = !hasBody;
  }
  const std::optional<::ts::protocol::PipelineSpec> *pipeline = nullptr;
  if (int index = context.resourceOf(resource); index >= 0)
    pipeline = &context.model.kernel.resources[size_t(index)].pipeline;
  if (produce && !produce.getAux() && pipeline && *pipeline && hasTmaProducer((*pipeline)->type))
    step(id).event.issued =
        issuedBy(produce, task, replica, false, **pipeline, context.model.kernel.cluster);
  if (!hasBody)
    return declaredAccesses(op, step(id).event);
  Place inside = place;
  inside.parent = id;
  inside.inWork = true;
  auto body = block(op->getRegion(0).front(), inside);
  step(id).body = std::move(body);
}

bool TaskBuilder::workEvent(Operation *op, const Place &place, std::vector<StepId> &list) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<BarrierSyncOp, BarrierArriveOp>([&](auto barrier) {
        event(isa<BarrierSyncOp>(op) ? EventKind::BarrierSync : EventKind::BarrierArrive, op,
              barrier.getBarrier(), place, list);
        return true;
      })
      .Case([&](MbarrierArriveOp arrive) {
        Event &result = event(EventKind::MbarrierArrive, op, arrive.getBarrier(), place, list);
        if (arrive.getExpect())
          result.expect = *arrive.getExpect();
        if (arrive.getCta()) {
          result.remote = true;
          result.remoteCta = conditions.values().evaluate(arrive.getCta());
        }
        return true;
      })
      .Case([&](MbarrierWaitOp wait) {
        Parity value = parity(wait.getParity(), place);
        event(EventKind::MbarrierWait, op, wait.getBarrier(), place, list).parity = value;
        return true;
      })
      .Case([&](ClusterSyncOp) {
        event(EventKind::ClusterSync, op, Value(), place, list);
        return true;
      })
      .Case([&](WgmmaCommitOp) {
        event(EventKind::WgmmaCommit, op, Value(), place, list);
        return true;
      })
      .Case([&](WgmmaWaitOp wait) {
        event(EventKind::WgmmaWait, op, Value(), place, list).pending = wait.getPending();
        return true;
      })
      .Case([&](BulkCommitOp) {
        event(EventKind::BulkCommit, op, Value(), place, list);
        return true;
      })
      .Case([&](BulkWaitOp wait) {
        Event &result = event(EventKind::BulkWait, op, Value(), place, list);
        result.pending = wait.getPending();
        result.readOnly = wait.getRead();
        return true;
      })
      .Case([&](CpAsyncCommitOp) {
        event(EventKind::CpAsyncCommit, op, Value(), place, list);
        return true;
      })
      .Case([&](CpAsyncWaitOp wait) {
        event(EventKind::CpAsyncWait, op, Value(), place, list).pending = wait.getPending();
        return true;
      })
      .Case([&](TmemWaitOp) {
        event(EventKind::TmemWait, op, Value(), place, list);
        return true;
      })
      .Case([&](WarpSyncOp) {
        event(EventKind::WarpSync, op, Value(), place, list);
        return true;
      })
      .Case([&](FenceOp fence) {
        event(EventKind::Fence, op, Value(), place, list).label =
            stringifyFenceKind(fence.getKind()).str();
        return true;
      })
      .Default(false);
}

Parity TaskBuilder::parity(Value value, const Place &place) {
  Parity result;
  result.text = describeValue(value);
  if (auto number = conditions.values().evaluate(value)) {
    result.kind = Parity::Kind::Constant;
    result.offset = *number & 1;
    return result;
  }
  auto strip = [](Value v) {
    while (Operation *op = v.getDefiningOp()) {
      if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::TruncIOp, arith::ExtUIOp,
               arith::ExtSIOp>(op))
        break;
      v = op->getOperand(0);
    }
    return v;
  };
  auto constantOf = [&](Value v) { return conditions.values().evaluate(v); };
  Value v = strip(value);
  // A carried value that the loop flips.
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    Operation *loop = arg.getOwner()->getParentOp();
    auto domain = dyn_cast<ForOp>(loop);
    auto inner = dyn_cast<scf::ForOp>(loop);
    auto tiles = dyn_cast<TileLoopOp>(loop);
    ValueRange inits = domain  ? ValueRange(domain.getInits())
                       : inner ? ValueRange(inner.getInits())
                       : tiles ? ValueRange(tiles.getInits())
                               : ValueRange();
    // Before the carried values stand the induction variable or the coordinates of the tile.
    unsigned first = arg.getOwner()->getNumArguments() - inits.size();
    if (arg.getArgNumber() >= first && !inits.empty() && loops.count(loop)) {
      unsigned number = arg.getArgNumber() - first;
      Value next = strip(arg.getOwner()->getTerminator()->getOperand(number));
      auto flip = next.getDefiningOp<arith::XOrIOp>();
      auto start = constantOf(inits[number]);
      if (flip && start &&
          ((strip(flip.getLhs()) == v && constantOf(flip.getRhs()) == 1) ||
           (strip(flip.getRhs()) == v && constantOf(flip.getLhs()) == 1))) {
        result.kind = Parity::Kind::Flips;
        result.loop = loops[loop];
        result.offset = *start & 1;
        return result;
      }
    }
  }
  // ((scale * i + offset) / divisor) & 1
  auto isTwo = [](Operation *op) { return isa<arith::RemUIOp, arith::RemSIOp>(op); };
  Operation *op = v.getDefiningOp();
  if (op && op->getNumOperands() == 2 &&
      ((isa<arith::AndIOp>(op) && constantOf(op->getOperand(1)) == 1) ||
       (isTwo(op) && constantOf(op->getOperand(1)) == 2)))
    v = strip(op->getOperand(0));
  op = v.getDefiningOp();
  int64_t divisor = 1;
  if (isa_and_nonnull<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op))
    if (auto by = constantOf(op->getOperand(1)); by && *by > 0) {
      divisor = *by;
      v = strip(op->getOperand(0));
      op = v.getDefiningOp();
    }
  int64_t scale = 1, offset = 0;
  for (int hops = 0; op && hops < 4; ++hops, op = v.getDefiningOp()) {
    if (op->getNumOperands() != 2)
      break;
    auto number = constantOf(op->getOperand(1));
    int64_t part;
    if (!number)
      break;
    if (isa<arith::AddIOp>(op)) {
      if (llvm::MulOverflow(*number, scale, part) || llvm::AddOverflow(offset, part, offset))
        break;
    } else if (isa<arith::MulIOp>(op)) {
      if (llvm::MulOverflow(scale, *number, scale))
        break;
    } else {
      break;
    }
    v = strip(op->getOperand(0));
  }
  auto arg = dyn_cast<BlockArgument>(v);
  Operation *loop = arg ? arg.getOwner()->getParentOp() : nullptr;
  if (!arg || arg.getArgNumber() != 0 || !isa<ForOp, scf::ForOp>(loop) || !loops.count(loop))
    return result;
  const Loop &info = step(loops[loop]).loop;
  int64_t part;
  if (!info.lower.isConstant() || !info.step.isConstant() ||
      llvm::MulOverflow(scale, info.lower.offset, part) ||
      llvm::AddOverflow(offset, part, offset) || llvm::MulOverflow(scale, info.step.offset, scale))
    return result;
  result.kind = Parity::Kind::Linear;
  result.loop = loops[loop];
  result.scale = scale;
  result.offset = offset;
  result.divisor = divisor;
  return result;
}
