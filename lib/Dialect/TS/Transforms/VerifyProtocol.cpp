// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-verify-protocol: declared pipelines against the protocol component (TS215 to TS223), warp
// ranges, registers and capacity. Features of the chip are in VerifyProtocolArch.cpp.
#include "VerifyProtocolImpl.h"
#include "ts/Analysis/Protocol/Completion.h"
#include "ts/Analysis/Schedule/BracketBytes.h"
#include "ts/Analysis/Schedule/IssuedCopies.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/IR/HardwareLimits.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"
#include "ts/Dialect/TS/Transforms/Passes.h"

namespace mlir::ts {
#define GEN_PASS_DEF_TSVERIFYPROTOCOL
#include "ts/Dialect/TS/Transforms/Passes.h.inc"
} // namespace mlir::ts

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using namespace ::ts::protocol;
using ::ts::CheckId;

static TaskOp findTask(KernelOp kernel, StringRef name) {
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
    if (name == task.getName() || name.starts_with((task.getName() + "[").str()))
      return task;
  return TaskOp();
}

//===-- TS215 to TS223 -----------------------------------------------------------------------===//

/// One note per copy of a phase, with its bytes.
static void noteCopies(InFlightDiagnostic &diag, ArrayRef<ProduceOp> works) {
  constexpr int kMaxNotes = 16;
  int notes = 0;
  for (ProduceOp work : works)
    work->walk([&](Operation *op) {
      if (auto bytes = copyBytes(op); bytes && notes++ < kMaxNotes)
        diag.attachNote(op->getLoc()) << "this copy brings " << *bytes << " bytes";
    });
  if (notes > kMaxNotes)
    diag.attachNote(works.front()->getLoc()) << "and " << notes - kMaxNotes << " more copies";
}

static SmallVector<ProduceOp> worksOf(Value resource, KernelOp kernel) {
  SmallVector<Value> targets = {resource};
  if (auto group = resource.getDefiningOp<PipelineGroupOp>())
    llvm::append_range(targets, group.getMembers());
  SmallVector<ProduceOp> works;
  kernel.walk([&](ProduceOp work) {
    if (llvm::is_contained(targets, work.getResource()))
      works.push_back(work);
  });
  return works;
}

/// `where` null: each finding stands at the resource that it names.
static void reportFindings(const std::vector<Finding> &findings, Operation *where, KernelOp kernel,
                           CheckReporter &reporter) {
  for (const Finding &finding : findings) {
    Operation *at = where ? where : kernel.getOperation();
    if (!where)
      for (Operation &op : kernel.getBodyBlock())
        if (op.getNumResults() == 1 && getResourceName(op.getResult(0)) == finding.resource)
          at = &op;
    InFlightDiagnostic diag = reporter.report(CheckId(finding.check), at);
    diag << finding.message;
    if (!finding.hint.empty())
      diag << "; " << finding.hint;
    if (!finding.derivation.empty())
      diag.attachNote(at->getLoc()) << "expected: " << finding.derivation;
    if (TaskOp task = findTask(kernel, finding.task))
      diag.attachNote(task.getLoc()) << "task '" << finding.task << "' takes part here";
    if (finding.check == 217 && at->getNumResults() == 1)
      noteCopies(diag, worksOf(at->getResult(0), kernel));
  }
}

/// Copies that bring more than a stage holds write some of its bytes twice. Only where the bytes
/// are those of copies that are there, not declared ones.
static void checkRoom(ResourceOp op, const PipelineSpec &spec, const ClusterSpec &cluster,
                      KernelOp kernel, CheckReporter &reporter) {
  Expected bytes = expectedBytes(spec, cluster, participantsOf(op.getResult()));
  SmallVector<ProduceOp> works = worksOf(op.getResult(), kernel);
  CtaGrid grid(spec, cluster);
  if (!bytes.fromCopies || int64_t(bytes.perCta.size()) != grid.size() ||
      llvm::any_of(works, [](ProduceOp work) { return !work.getAux() && !work.hasBody(); }))
    return;
  int64_t stage = 0;
  for (auto alloc : op.getAllocs().getAsRange<AllocAttr>())
    if (isSmem(alloc.getType()))
      stage = std::min<int64_t>(stage + getBytes(alloc.getType()), int64_t(1) << 40);
  SmallVector<int64_t> room(grid.size(), 0);
  for (int64_t cta = 0; cta < grid.size(); ++cta)
    room[::ts::protocol::completionCta(spec, grid, cta)] += stage;
  for (int64_t cta = 0; cta < grid.size(); ++cta) {
    if (!stage || bytes.perCta[cta] <= room[cta])
      continue;
    auto diag = reporter.report(CheckId::TS217, op);
    diag
        << "the copies of one phase bring " << bytes.perCta[cta] << " bytes to '" << op.getName()
        << "', whose stage has " << room[cta]
        << ", so some bytes are written twice, in no order; copy each byte once, by multicast each "
           "CTA its part";
    diag.attachNote(op.getLoc()) << "expected: " << bytes.derivation;
    noteCopies(diag, works);
    return;
  }
}

/// A copy that completes on the barrier of another CTA has to be one of the pair.
static void checkPairCopies(Value resource, const PipelineSpec &spec, const ClusterSpec &cluster,
                            KernelOp kernel, CheckReporter &reporter) {
  CtaGrid grid(spec, cluster);
  if (grid.pairSize() != 2 || ::ts::protocol::completionCta(spec, grid, 1) == 1)
    return;
  for (ProduceOp work : worksOf(resource, kernel))
    work.walk([&](TmaLoadOp load) {
      if (load.getCtaGroup() != 2)
        reporter.report(CheckId::TS218, load)
            << "this copy has cta_group = " << load.getCtaGroup()
            << ", but the copies of a pair complete on its leader's barrier, which only a copy "
               "with "
               "cta_group = 2 can do (PTX ISA 8.8, cp.async.bulk.tensor)";
    });
}

void mlir::ts::detail::checkPipelines(KernelOp kernel, CheckReporter &reporter) {
  ClusterSpec cluster = clusterSpecOf(kernel);
  std::vector<PipelineSpec> all;
  for (Operation &op : kernel.getBodyBlock()) {
    if (auto group = dyn_cast<PipelineGroupOp>(op)) {
      reportFindings(validate(groupSpecOf(group), cluster), group, kernel, reporter);
      continue;
    }
    if (!isa<ResourceOp, WorkQueueOp>(op) || !hasPipeline(op.getResult(0)))
      continue;
    Value resource = op.getResult(0);
    PipelineSpec spec = pipelineSpecOf(resource);
    all.push_back(spec);
    if (hasTmaProducer(spec.type))
      checkPairCopies(resource, spec, cluster, kernel, reporter);
    // Members are validated with their group.
    if (groupOf(resource))
      continue;
    std::vector<Finding> findings = validate(spec, cluster, participantsOf(resource));
    reportFindings(findings, &op, kernel, reporter);
    if (auto def = dyn_cast<ResourceOp>(op); def && findings.empty() && hasTmaProducer(spec.type))
      checkRoom(def, spec, cluster, kernel, reporter);
  }
  reportFindings(checkClusterLayouts(all, cluster), nullptr, kernel, reporter);
}

//===-- TS217 over paths ---------------------------------------------------------------------===//

static int64_t total(const IssuedBytes &bytes) { return bytes.own + bytes.alongN + bytes.alongM; }

static void checkPhases(Value resource, TaskOp task, KernelOp kernel, const PipelineSpec &spec,
                        const ClusterSpec &cluster, CheckReporter &reporter) {
  bool perWarp = spec.stride(::ts::protocol::Op::Acquire) > 1 &&
                 spec.stride(::ts::protocol::Op::Acquire) == task.getWarpsPerReplica();
  PhaseBytes bytes = bytesPerPhase(resource, task, 0, perWarp, spec, cluster);
  if (bytes.phases.empty())
    return;
  auto silent = llvm::find_if(bytes.phases, [](const auto &phase) { return phase.works.empty(); });
  if (bytes.phases.size() == 1) {
    if (silent == bytes.phases.end())
      return;
    reporter.report(CheckId::TS217, silent->acquire)
        << "task '" << task.getName() << "' acquires '" << getResourceName(resource)
        << "', whose barrier counts the bytes of copies, but issues no copy into it, so the phase "
           "never completes; issue the copy between acquire and commit, or use async_async for "
           "stores by threads";
    return;
  }
  // Work without a body may leave its bytes open; that it is there on one path only counts.
  if (!bytes.known) {
    if (silent == bytes.phases.end())
      return;
    auto diag = reporter.report(CheckId::TS217, silent->acquire);
    diag
        << "task '" << task.getName() << "' fills '" << getResourceName(resource)
        << "' on one path and issues nothing on another, but its barrier expects the same bytes in "
           "every phase; do the work on every path between acquire and commit";
    if (!silent->path.empty())
      diag.attachNote(silent->acquire->getLoc()) << "nothing on the path with " << silent->path;
    return;
  }
  llvm::sort(bytes.phases,
             [](const auto &a, const auto &b) { return total(a.bytes) < total(b.bytes); });
  const PhaseBytes::Phase &least = bytes.phases.front(), &most = bytes.phases.back();
  auto diag = reporter.report(CheckId::TS217, least.acquire);
  diag << "the copies of task '" << task.getName() << "' into '" << getResourceName(resource)
       << "' add up to " << total(least.bytes) << " bytes on one path and to " << total(most.bytes)
       << " on another, but the barrier expects one number for every phase; issue the same copies "
          "on "
          "every path between acquire and commit";
  for (const PhaseBytes::Phase *phase : {&least, &most}) {
    auto &note = diag.attachNote(phase->acquire->getLoc());
    note << total(phase->bytes) << " bytes";
    if (!phase->path.empty())
      note << " on the path with " << phase->path;
  }
  noteCopies(diag, most.works);
}

void mlir::ts::detail::checkIssuedBytes(KernelOp kernel, CheckReporter &reporter) {
  ClusterSpec cluster = clusterSpecOf(kernel);
  for (Operation &op : kernel.getBodyBlock()) {
    if (!isa<ResourceOp, PipelineGroupOp>(op) || !hasPipeline(op.getResult(0)))
      continue;
    PipelineSpec spec = pipelineSpecOf(op.getResult(0));
    if (!hasTmaProducer(spec.type))
      continue;
    // A fork is armed once for all members.
    PipelineGroupOp group = groupOf(op.getResult(0));
    if (group && group.getMode() == GroupMode::Fork)
      continue;
    for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
      checkPhases(op.getResult(0), task, kernel, spec, cluster, reporter);
  }
}

//===-- TS224 --------------------------------------------------------------------------------===//

/// The first op of `task` that acts on whole warpgroups, and whether it needs all four warps.
static Operation *warpgroupOp(TaskOp task, bool &whole) {
  Operation *found = nullptr;
  whole = false;
  task.walk([&](Operation *op) {
    if (isa<WgmmaOp, FragmentStoreOp, FragmentLoadOp>(op)) {
      whole = true;
      found = op;
      return WalkResult::interrupt();
    }
    if (!found && isa<TmemLoadOp, TmemStoreOp>(op))
      found = op;
    return WalkResult::advance();
  });
  return found;
}

void mlir::ts::detail::checkWarpRanges(KernelOp kernel, CheckReporter &reporter) {
  auto tasks = llvm::to_vector(kernel.getBodyBlock().getOps<TaskOp>());
  int64_t warps = kernel.getNumWarps();
  for (auto [i, task] : llvm::enumerate(tasks)) {
    int64_t first = task.getFirstWarp(), count = task.getNumWarps();
    if (first + count > warps)
      reporter.report(CheckId::TS224, task)
          << "task '" << task.getName() << "' runs on warps " << first << " to "
          << first + count - 1 << ", but kernel '" << kernel.getSymName() << "' has " << warps
          << " (0 to " << warps - 1 << "); move the task or raise the kernel's warps to "
          << first + count;
    for (TaskOp other : ArrayRef(tasks).take_front(i)) {
      int64_t otherFirst = other.getFirstWarp(), otherCount = other.getNumWarps();
      int64_t begin = std::max(first, otherFirst);
      int64_t end = std::min(first + count, otherFirst + otherCount);
      bool apart =
          task.getOnlyCta() && other.getOnlyCta() && *task.getOnlyCta() != *other.getOnlyCta();
      if (begin >= end || apart)
        continue;
      auto diag = reporter.report(CheckId::TS224, task);
      diag << "tasks '" << other.getName() << "' and '" << task.getName() << "' share ";
      if (end - begin == 1)
        diag << "warp " << begin;
      else
        diag << "warps " << begin << " to " << end - 1;
      diag << ", where they would run one after the other; give each task warps of its own";
      diag.attachNote(other.getLoc()) << "task '" << other.getName() << "' has warps " << otherFirst
                                      << " to " << otherFirst + otherCount - 1;
    }
    if (task.getOnlyCta() && int64_t(*task.getOnlyCta()) >= kernel.getClusterSize())
      reporter.report(CheckId::TS224, task)
          << "task '" << task.getName() << "' runs on CTA " << *task.getOnlyCta()
          << " of the cluster only, which has " << kernel.getClusterSize() << " CTA(s)";
    bool whole;
    Operation *collective = warpgroupOp(task, whole);
    if (!collective)
      continue;
    int64_t each = task.getWarpsPerReplica();
    if (first % 4 == 0 && (task.getReplicas() == 1 || each % 4 == 0) && (!whole || each % 4 == 0))
      continue;
    auto diag = reporter.report(CheckId::TS224, task);
    diag << "task '" << task.getName() << "' uses '" << collective->getName()
         << "', which acts on four warps from a multiple of four on, but has "
         << (task.getReplicas() > 1 ? "replicas of " : "") << each << " warp(s) from warp " << first
         << " on; use warps(" << (first + 3) / 4 * 4 << ", "
         << std::max<int64_t>((each + 3) / 4, 1) * 4 * int64_t(task.getReplicas()) << ")";
    diag.attachNote(collective->getLoc()) << "used here";
  }
}

//===-- TS225, TS226 -------------------------------------------------------------------------===//

void mlir::ts::detail::checkCapacity(KernelOp kernel, bool lacksFeature, CheckReporter &reporter) {
  auto emit = [&](Operation *op) { return reporter.plain(op); };
  planWarps(kernel, emit);
  // Where the chip lacks a memory altogether, its size says nothing more.
  if (!lacksFeature)
    planAllocation(kernel, emit);
}

//===-- Pass ---------------------------------------------------------------------------------===//

void mlir::ts::verifyProtocol(KernelOp kernel, CheckReporter &reporter) {
  int64_t before = reporter.findings();
  checkArchitecture(kernel, reporter);
  bool lacksFeature = reporter.findings() != before;
  checkWarpRanges(kernel, reporter);
  checkPipelines(kernel, reporter);
  checkIssuedBytes(kernel, reporter);
  checkNamedBarriers(kernel, reporter);
  checkCapacity(kernel, lacksFeature, reporter);
  checkBarrierStorage(kernel, reporter);
  checkFootprints(kernel, reporter);
  checkTmemUse(kernel, reporter);
  checkFences(kernel, reporter);
  checkTileOrder(kernel, reporter);
}

namespace {
struct TSVerifyProtocol : public ::mlir::ts::impl::TSVerifyProtocolBase<TSVerifyProtocol> {
  using TSVerifyProtocolBase::TSVerifyProtocolBase;
  void runOnOperation() override {
    if (failed(checkKernels(getOperation(), severity, verifyProtocol)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
