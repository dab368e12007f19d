// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS230: nothing but barrier operations touches barriers, and barriers by hand are declared, so
// that the compiler initialises and publishes them. What lies on them is the allocation's
// (AllocatePlan), whether they complete the prover's. TS102: a body keeps to the allocations that
// its role is declared to use.
#include "VerifyProtocolImpl.h"
#include "ts/Analysis/Schedule/MemoryTrace.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

namespace {
/// An allocation of the user's that holds barriers.
struct Storage {
  mutable ResourceOp resource; // op handles are pointers whose accessors are not const
  unsigned index;
  mutable ResourceOp user; ///< whose barriers are in it
};
} // namespace

static SmallVector<Storage> storagesOf(KernelOp kernel) {
  SmallVector<Storage> result;
  for (auto user : kernel.getBodyBlock().getOps<ResourceOp>()) {
    if (!user.getBarrierStorage() || !user.getBarrierAllocAttr())
      continue;
    auto resource = user.getBarrierStorage().getDefiningOp<ResourceOp>();
    if (!resource)
      continue;
    for (auto [i, alloc] : llvm::enumerate(resource.getAllocs().getAsRange<AllocAttr>()))
      if (alloc.getName() == user.getBarrierAllocAttr().getValue())
        result.push_back({resource, unsigned(i), user});
  }
  return result;
}

static std::string nameOf(const Storage &storage) {
  auto alloc = cast<AllocAttr>(storage.resource.getAllocs()[storage.index]);
  return ("'" + storage.resource.getName() + "." + alloc.getName() + "'").str();
}

/// Work that reads or writes barrier storage as if it were data.
static void checkAccesses(KernelOp kernel, ArrayRef<Storage> storages, CheckReporter &reporter) {
  if (storages.empty())
    return;
  auto report = [&](Operation *op, const Storage &storage, bool write) {
    auto diag = reporter.report(CheckId::TS230, op);
    diag << "'" << op->getName() << "' " << (write ? "writes" : "reads") << " " << nameOf(storage)
         << ", which holds the barriers of '" << storage.user.getName()
         << "'; only barrier operations may touch an mbarrier, so keep the data in another "
            "allocation";
    diag.attachNote(storage.user.getLoc()) << "the barriers are placed there by this";
  };
  ValueEvaluator evaluator({0, 0, 0});
  kernel.walk([&](Operation *op) {
    for (const MemrefAccess &access : accessesOf(op, evaluator))
      for (const MemrefRoot &root : traceMemref(access.memref, evaluator))
        for (const Storage &storage : storages)
          if (root.resource() == storage.resource.getResult() && root.index == storage.index)
            return report(op, storage, access.write);
    std::optional<ArrayAttr> effects;
    if (auto produce = dyn_cast<ProduceOp>(op))
      effects = produce.getEffects();
    else if (auto consume = dyn_cast<ConsumeOp>(op))
      effects = consume.getEffects();
    if (!effects)
      return;
    for (auto effect : effects->getAsRange<EffectAttr>())
      for (const Storage &storage : storages)
        if (op->getOperand(0) == storage.resource.getResult() &&
            effect.getAlloc() ==
                cast<AllocAttr>(storage.resource.getAllocs()[storage.index]).getName())
          return report(op, storage, effect.getWrite());
  });
}

/// Barriers that a body makes for itself, and arrivals at CTAs that do not exist.
static void checkByHand(KernelOp kernel, CheckReporter &reporter) {
  int64_t ctas = kernel.getClusterSize();
  kernel.walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (name.starts_with("nvvm.mbarrier.init") || name == "nvgpu.mbarrier.init" ||
        name == "nvgpu.mbarrier.create") {
      reporter.report(CheckId::TS230, op)
          << "'" << name
          << "' initialises a barrier inside a task, where the other tasks may use it before and "
             "nothing publishes it; declare it with 'ts.mbarrier' in the kernel, which is "
             "initialised "
             "and published before any task runs";
      return;
    }
    Value peer;
    if (auto load = dyn_cast<DsmemLoadOp>(op))
      peer = load.getCta();
    else if (auto store = dyn_cast<DsmemStoreOp>(op))
      peer = store.getCta();
    if (peer) {
      ValueEvaluator evaluator;
      auto rank = evaluator.evaluate(peer);
      if (rank && (*rank < 0 || *rank >= ctas))
        reporter.report(CheckId::TS230, op)
            << "reaches into the shared memory of CTA " << *rank << ", but the cluster of kernel '"
            << kernel.getSymName() << "' has " << ctas
            << " CTA(s), numbered from 0; name a CTA of the cluster, or give the kernel a larger "
               "one";
      return;
    }
    auto arrive = dyn_cast<MbarrierArriveOp>(op);
    if (!arrive || !arrive.getCta())
      return;
    ValueEvaluator evaluator;
    auto rank = evaluator.evaluate(arrive.getCta());
    if (!rank || (*rank >= 0 && *rank < ctas))
      return;
    reporter.report(CheckId::TS230, op)
        << "arrives at '" << getResourceName(arrive.getBarrier()) << "' of CTA " << *rank
        << ", but the cluster of kernel '" << kernel.getSymName() << "' has " << ctas
        << " CTA(s), numbered from 0; what lies at that address is no initialised barrier. Name a "
           "CTA "
           "of the cluster, or give the kernel a larger one";
  });
}

void mlir::ts::detail::checkBarrierStorage(KernelOp kernel, CheckReporter &reporter) {
  checkAccesses(kernel, storagesOf(kernel), reporter);
  checkByHand(kernel, reporter);
}

//===-- TS102: allocations of a role ---------------------------------------------------------===//

void mlir::ts::detail::checkFootprints(KernelOp kernel, CheckReporter &reporter) {
  ValueEvaluator evaluator;
  kernel.getBodyBlock().walk([&](Operation *op) {
    for (const MemrefAccess &access : accessesOf(op, evaluator))
      for (const MemrefRoot &root : traceMemref(access.memref, evaluator)) {
        Value value = root.work ? root.resource() : Value();
        auto resource = value ? value.getDefiningOp<ResourceOp>() : ResourceOp();
        if (!resource || root.index >= resource.getAllocs().size())
          continue;
        bool produces = root.side() == ::ts::protocol::Side::Producer;
        auto uses = produces ? resource.getProducerUses() : resource.getConsumerUses();
        StringRef name = cast<AllocAttr>(resource.getAllocs()[root.index]).getName();
        if (!uses || llvm::is_contained(uses->getAsValueRange<StringAttr>(), name))
          continue;
        auto diag = reporter.report(CheckId::TS102, op);
        diag << "'" << op->getName() << "' " << (access.write ? "writes '" : "reads '") << name
             << "' of '" << resource.getName() << "', but " << (produces ? "producer" : "consumer")
             << "_uses of the resource leaves it out; add it there, or touch what the role has";
        diag.attachNote(resource.getLoc()) << "declared here";
      }
  });
}
