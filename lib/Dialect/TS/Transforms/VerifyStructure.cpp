// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-verify-structure: the rules of layer 1, one function each in the VerifyStructure*.cpp files,
// and how findings of any layer are reported.
#include "VerifyStructureImpl.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

namespace mlir::ts {
#define GEN_PASS_DEF_TSVERIFYSTRUCTURE
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

//===-- Reporting ----------------------------------------------------------------------------===//

/// The reason that the program gives for waiving `check` at `at` or around it.
static std::optional<StringRef> waiver(CheckId check, Operation *at) {
  std::string tag = ::ts::checkTag(check);
  for (Operation *op = at; op; op = op->getParentOp()) {
    if (auto waived = op->getAttrOfType<DictionaryAttr>(kWaiveAttr))
      if (auto reason = waived.getAs<StringAttr>(tag); reason && !reason.getValue().empty())
        return reason.getValue();
    if (isa<KernelOp>(op))
      break;
  }
  return std::nullopt;
}

InFlightDiagnostic CheckReporter::report(CheckId check, Operation *at) {
  if (auto reason = waiver(check, at)) {
    ++waivedCount;
    InFlightDiagnostic diag = at->emitRemark(::ts::checkPrefix(check));
    diag << "waived (" << *reason << "): ";
    return diag;
  }
  InFlightDiagnostic diag = plain(at);
  diag << ::ts::checkPrefix(check);
  return diag;
}

InFlightDiagnostic CheckReporter::plain(Operation *at) {
  ++count;
  if (!asErrors)
    return at->emitWarning();
  ++errors;
  return at->emitError();
}

InFlightDiagnostic CheckReporter::incomplete(CheckId check, Operation *at) {
  return at->emitWarning(::ts::checkPrefix(check)) << "not checked to the end: ";
}

FailureOr<bool> mlir::ts::parseSeverity(StringRef text, Operation *at) {
  if (text == "error")
    return true;
  if (text == "warn")
    return false;
  return at->emitError("unknown severity '") << text << "'; expected error or warn";
}

LogicalResult mlir::ts::checkKernels(gpu::GPUModuleOp module, StringRef severity,
                                     llvm::function_ref<void(KernelOp, CheckReporter &)> check) {
  FailureOr<bool> asErrors = parseSeverity(severity, module);
  if (failed(asErrors))
    return failure();
  CheckReporter reporter(*asErrors);
  for (auto kernel : module.getOps<KernelOp>())
    check(kernel, reporter);
  return failure(reporter.failed());
}

std::string mlir::ts::didYouMean(StringRef name, ArrayRef<StringRef> names) {
  StringRef best;
  unsigned least = std::max<unsigned>(2, name.size() / 3) + 1;
  for (StringRef candidate : names) {
    unsigned distance = name.edit_distance_insensitive(candidate, true, least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best.empty() ? std::string() : "; did you mean '" + best.str() + "'?";
}

//===-- View ---------------------------------------------------------------------------------===//

KernelView::KernelView(KernelOp kernel) : kernel(kernel) {
  for (Operation &op : kernel.getBodyBlock()) {
    if (auto task = dyn_cast<TaskOp>(op))
      tasks.push_back(task);
    if (auto edge = dyn_cast<DependsOp>(op))
      edges.push_back(edge);
    if (auto group = dyn_cast<PipelineGroupOp>(op))
      for (Value member : group.getMembers())
        groups[member] = group.getResult();
  }
  for (TaskOp task : tasks) {
    auto &list = uses[task];
    task.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == task || isa<PipelineGroupOp, AliasGroupOp, DependsOp, WorkQueueOp>(op))
        return;
      for (Value operand : op->getOperands())
        if (isa<ResourceType>(operand.getType()))
          list.push_back({op, operand});
    });
  }
}

SmallVector<Value> KernelView::related(Value resource) const {
  SmallVector<Value> result = {resource};
  if (Value group = groups.lookup(resource))
    result.push_back(group);
  if (auto group = resource.getDefiningOp<PipelineGroupOp>())
    llvm::append_range(result, group.getMembers());
  return result;
}

bool KernelView::reaches(Value upstream, Value downstream) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> worklist = {upstream};
  while (!worklist.empty()) {
    Value at = worklist.pop_back_val();
    for (Value near : related(at)) {
      if (near == downstream && near != upstream)
        return true;
      if (!seen.insert(near).second)
        continue;
      for (DependsOp edge : edges)
        if (llvm::is_contained(edge.getUpstream(), near) && edge.getDownstream() != near)
          worklist.push_back(edge.getDownstream());
    }
  }
  return false;
}

bool KernelView::hasSelfEdge(Value resource) const {
  return llvm::any_of(edges, [&](DependsOp edge) {
    return edge.getDownstream() == resource && llvm::is_contained(edge.getUpstream(), resource);
  });
}

bool mlir::ts::detail::isConsumerOp(Operation *op) {
  return isa<TryWaitOp, WaitOp, ReleaseOp, ConsumeOp>(op);
}
bool mlir::ts::detail::isProducerOp(Operation *op) {
  return isa<TryAcquireOp, AcquireOp, CommitOp, ProduceOp>(op);
}
bool mlir::ts::detail::isBarrierOp(Operation *op) {
  return isa<TryAcquireOp, AcquireOp, CommitOp, TryWaitOp, WaitOp, ReleaseOp>(op);
}
bool mlir::ts::detail::isAuxiliary(Operation *op) {
  if (auto produce = dyn_cast<ProduceOp>(op))
    return produce.getAux();
  if (auto consume = dyn_cast<ConsumeOp>(op))
    return consume.getAux();
  return false;
}

bool mlir::ts::detail::declares(TaskOp task, ValueRange list, Value resource,
                                const KernelView &view) {
  return llvm::any_of(view.related(resource),
                      [&](Value near) { return llvm::is_contained(list, near); });
}

std::string mlir::ts::detail::quoted(Value resource) {
  return "'" + getResourceName(resource).str() + "'";
}

//===-- Pass ---------------------------------------------------------------------------------===//

void mlir::ts::verifyStructure(KernelOp kernel, CheckReporter &reporter) {
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
    if (Operation *deep = tooDeep(task)) {
      reporter.report(CheckId::TS105, deep)
          << "nested more than " << ::ts::schedule::maxDepth << " regions deep in task '"
          << task.getName() << "', so its brackets cannot be followed; flatten the schedule";
      return;
    }
  KernelView view(kernel);
  checkLoops(view, reporter);
  checkRoles(view, reporter);
  checkDependencies(view, reporter);
  checkCoverage(view, reporter);
  checkBrackets(view, reporter);
  checkQueues(view, reporter);
  checkGuards(view, reporter);
  checkConditions(view, reporter);
  checkThreads(view, reporter);
  checkNames(view, reporter);
  checkValues(view, reporter);
  checkWritten(kernel, reporter);
  checkOperands(view, reporter);
  checkPingPong(view, reporter);
  checkSkips(view, reporter);
  checkPdl(view, reporter);
}

namespace {
struct TSVerifyStructure : public ::mlir::ts::impl::TSVerifyStructureBase<TSVerifyStructure> {
  using TSVerifyStructureBase::TSVerifyStructureBase;
  void runOnOperation() override {
    if (failed(checkKernels(getOperation(), severity, verifyStructure)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
