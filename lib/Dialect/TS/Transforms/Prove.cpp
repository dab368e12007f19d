// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-prove: layer 3 on every kernel of a module, with diagnostics at the ops that the model came
// from.
#include "ts/Dialect/TS/Transforms/Prove.h"
#include "ts/Analysis/Prover/Report.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

#include "llvm/Support/Format.h"
#include <chrono>

namespace mlir::ts {
#define GEN_PASS_DEF_TSPROVE
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

using namespace mlir;
using namespace mlir::ts;
namespace prover = ::ts::prover;

/// Stage 0 and stride of every allocation; what could not be placed overlaps nothing.
static prover::Placement placementOf(KernelOp kernel, const ScheduleModel &model) {
  prover::Placement result;
  result.allocations.resize(model.kernel.allocations.size());
  AllocationPlan plan;
  {
    // What does not fit is TS226's business.
    ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
    plan = planAllocation(kernel);
  }
  for (const ::ts::schedule::Resource &resource : model.kernel.resources)
    for (size_t i = 0; i < resource.allocations.size(); ++i)
      if (const Placement *place =
              plan.find(model.opAt(resource.loc), PlacementKind::Data, int64_t(i)))
        result.allocations[size_t(resource.allocations[i])] = {place->offset, place->stride};
  return result;
}

FailureOr<prover::Verdict> mlir::ts::proveSchedule(KernelOp kernel, const ScheduleModel &model,
                                                   const prover::Options &options) {
  return prover::prove(model.kernel, placementOf(kernel, model), options);
}

/// What to do about it, beyond what the message itself says.
static std::string helpFor(const prover::Verdict &verdict) {
  const prover::Fault &fault = *verdict.fault;
  if (fault.safeFrom)
    return "safe for every " + fault.safeSymbol + " >= " + std::to_string(*fault.safeFrom) +
           ": declare min = " + std::to_string(*fault.safeFrom);
  if (!fault.help.empty())
    return fault.help;
  switch (fault.kind) {
  case prover::FaultKind::Deadlock:
    return "move the release or commit in front of the wait that it feeds, or give the ring more "
           "stages";
  case prover::FaultKind::Race:
    return "make the second access wait for the first: close its bracket before, or let the ring "
           "order them";
  case prover::FaultKind::Overrun:
    return "let the task that is overtaken release the stage or wait for it, so that the ring "
           "cannot "
           "go on without it";
  case prover::FaultKind::Bytes:
    return "arm exactly the bytes that the copies of one stage bring, on every path";
  case prover::FaultKind::Exit:
    return "wait for what is outstanding at the end of the task, or meet at a cluster barrier";
  case prover::FaultKind::Pdl:
    return "put the griddepcontrol wait before the launch, in the same task or ordered by a ring";
  case prover::FaultKind::Bounds:
    return "keep the index inside of the buffer";
  case prover::FaultKind::Imbalance:
    break;
  }
  return "make the loops and guards of both roles run equally often over the ring";
}

void mlir::ts::reportVerdict(KernelOp kernel, const ScheduleModel &model,
                             const prover::Verdict &verdict, CheckReporter &reporter) {
  if (verdict.kind == prover::Verdict::Kind::Proven)
    return;
  std::string name = "kernel '" + kernel.getSymName().str() + "' ";
  if (verdict.kind != prover::Verdict::Kind::Refuted) {
    reporter.incomplete(::ts::CheckId::TS301, kernel)
        << name << (verdict.kind == prover::Verdict::Kind::Unknown ? "is not judged: " : "is ")
        << (verdict.kind == prover::Verdict::Kind::Unknown ? verdict.reason
                                                           : prover::summary(verdict));
    return;
  }
  const prover::Fault &fault = *verdict.fault;
  InFlightDiagnostic diag =
      reporter.report(::ts::CheckId(unsigned(fault.kind)), model.opAt(fault.loc));
  diag << prover::summary(verdict);
  if (fault.rule != prover::Rule::None)
    diag.attachNote() << "rule " << std::string(prover::name(fault.rule))
                      << " of the prover does not hold; what happens after it depends on the "
                         "interleaving";
  for (const prover::AccessSite &site : fault.sites)
    diag.attachNote(model.opAt(site.loc)->getLoc()) << site.text;
  for (const prover::BlockedAgent &blocked : fault.blocked) {
    diag.attachNote(model.opAt(blocked.loc)->getLoc())
        << "'" << verdict.agents[size_t(blocked.agent)] << "' waits for " << blocked.waitsFor;
    if (blocked.wakerAgent >= 0)
      diag.attachNote(model.opAt(blocked.wakerLoc)->getLoc()) << blocked.waker;
  }
  if (std::string table = prover::stepTable(verdict); !table.empty())
    diag.attachNote(kernel.getLoc()) << "the steps of one run that ends there:\n" << table;
  diag.attachNote(kernel.getLoc()) << "help: " << helpFor(verdict);
}

namespace {

struct ProvePass : public mlir::ts::impl::TSProveBase<ProvePass> {
  using TSProveBase::TSProveBase;

  void runOnOperation() override {
    FailureOr<bool> asErrors = parseSeverity(severity, getOperation());
    if (failed(asErrors))
      return signalPassFailure();
    CheckReporter reporter(*asErrors);
    prover::Options options;
    options.maxStates = size_t(std::max<int64_t>(1, maxStates));
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      FailureOr<ScheduleModel> model = buildSchedule(kernel);
      if (failed(model))
        return signalPassFailure();
      auto start = std::chrono::steady_clock::now();
      FailureOr<prover::Verdict> verdict = proveSchedule(kernel, *model, options);
      if (failed(verdict))
        return signalPassFailure();
      std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      reportVerdict(kernel, *model, *verdict, reporter);
      states += verdict->statistics.states;
      steps += verdict->statistics.steps;
      if (!summary)
        continue;
      llvm::outs() << kernel.getSymName() << ": " << prover::summary(*verdict);
      if (timing)
        llvm::outs() << llvm::format("   (%.1f ms, %zu states)", time.count(),
                                     verdict->statistics.states);
      llvm::outs() << '\n';
      for (const std::string &assumption : verdict->assumptions)
        llvm::outs() << "  assumed: " << assumption << '\n';
    }
    if (reporter.failed())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
