// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS111, TS217, TS223: memory that bodies read and nothing in the kernel writes. Whole allocations
// only, whatever the order: which bytes are written before which read is for the prover and the
// emulator.
#include "VerifyStructureImpl.h"
#include "ts/Analysis/Schedule/MemoryTrace.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

namespace {
/// An allocation: the resource and its number in it.
using AllocKey = std::pair<Operation *, unsigned>;

struct Uses {
  llvm::MapVector<AllocKey, Operation *> reads; ///< with the first op that reads
  llvm::DenseSet<AllocKey> writes;
  bool followed = true; ///< false: something may be written that is not known
};
} // namespace

static bool onChip(Type type) { return isSmem(type) || isTmem(type); }

static ArrayAttr allocsOf(Operation *resource) { return cast<ResourceOp>(resource).getAllocs(); }

/// Work without a body writes what it declares, and otherwise whatever its resource has.
static void addDeclared(Operation *work, Uses &uses) {
  auto resource = work->getOperand(0).getDefiningOp<ResourceOp>();
  if (!resource)
    return;
  auto effects = work->getAttrOfType<ArrayAttr>("effects");
  for (auto [number, alloc] : llvm::enumerate(allocsOf(resource).getAsRange<AllocAttr>())) {
    bool writes = !effects;
    if (effects)
      writes = llvm::any_of(effects.getAsRange<EffectAttr>(), [&](EffectAttr effect) {
        return effect.getWrite() &&
               (effect.getAlloc().empty() || effect.getAlloc() == alloc.getName());
      });
    if (writes)
      uses.writes.insert({resource, unsigned(number)});
  }
}

static void addAccesses(Operation *op, ValueEvaluator &evaluator, Uses &uses) {
  SmallVector<MemrefAccess> accesses = accessesOf(op, evaluator);
  // What an op with a region of its own does to its operands is not known.
  if (op->getNumRegions() && op->getDialect() && op->getDialect()->getNamespace() != "ts" &&
      op->getDialect()->getNamespace() != "scf")
    for (Value operand : op->getOperands())
      accesses.emplace_back().memref = operand, accesses.back().write = true;
  for (const MemrefAccess &access : accesses) {
    if (!isa<MemRefType>(access.memref.getType()) || !onChip(access.memref.getType()))
      continue;
    SmallVector<MemrefRoot> roots = traceMemref(access.memref, evaluator);
    if (roots.empty() && access.write)
      uses.followed = false;
    for (const MemrefRoot &root : roots) {
      Operation *resource = root.work ? root.resource().getDefiningOp() : nullptr;
      if (!isa_and_nonnull<ResourceOp>(resource) || root.index >= allocsOf(resource).size()) {
        uses.followed &= !access.write;
        continue;
      }
      if (access.write)
        uses.writes.insert({resource, root.index});
      else
        uses.reads.insert({{resource, root.index}, op});
    }
  }
}

static Uses collectUses(KernelOp kernel) {
  Uses uses;
  ValueEvaluator evaluator;
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
    task.walk([&](Operation *op) {
      bool declared = false;
      if (auto work = dyn_cast<ProduceOp>(op))
        declared = !work.hasBody();
      else if (auto work = dyn_cast<ConsumeOp>(op))
        declared = !work.hasBody();
      if (declared)
        addDeclared(op, uses);
      else
        addAccesses(op, evaluator, uses);
    });
  return uses;
}

/// Resources that may have bytes in common: of one alias group, or with a place that is pinned.
static llvm::EquivalenceClasses<Operation *> sharedMemory(KernelOp kernel) {
  llvm::EquivalenceClasses<Operation *> shared;
  Operation *pinned = nullptr;
  for (Operation &op : kernel.getBodyBlock()) {
    if (auto group = dyn_cast<AliasGroupOp>(op))
      for (Value member : group.getMembers())
        if (Operation *def = member.getDefiningOp())
          shared.unionSets(group.getMembers().front().getDefiningOp(), def);
    auto resource = dyn_cast<ResourceOp>(op);
    if (!resource)
      continue;
    shared.insert(&op);
    for (auto alloc : resource.getAllocs().getAsRange<AllocAttr>())
      if (alloc.getAt() >= 0) {
        shared.unionSets(pinned ? pinned : &op, &op);
        pinned = &op;
      }
  }
  return shared;
}

static void report(AllocKey key, Operation *reader, const Uses &uses, CheckReporter &reporter) {
  auto resource = cast<ResourceOp>(key.first);
  auto alloc = cast<AllocAttr>(resource.getAllocs()[key.second]);
  PipelineGroupOp group = groupOf(resource.getResult());
  bool fork = group && group.getMode() == GroupMode::Fork;
  bool copies = hasPipeline(resource.getResult()) &&
                hasTmaProducer(pipelineSpecOf(resource.getResult()).type);
  ResourceOp filled;
  if (fork)
    for (Value member : group.getMembers())
      if (auto other = member.getDefiningOp<ResourceOp>(); other && other != resource)
        for (unsigned number = 0; number < other.getAllocs().size() && !filled; ++number)
          if (uses.writes.contains({other, number}))
            filled = other;
  auto task = reader->getParentOfType<TaskOp>();
  auto diag = reporter.report(filled   ? CheckId::TS223
                              : copies ? CheckId::TS217
                                       : CheckId::TS111,
                              resource);
  diag << "nothing writes '" << alloc.getName() << "' of '" << resource.getName() << "', but '"
       << (task ? task.getName() : StringRef("a task")) << "' reads it, so it reads what another "
       << "kernel left there";
  if (filled)
    diag << "; the work of fork '" << group.getName() << "' writes '" << filled.getName()
         << "' only: give both the same memory with ts.alias_group, a phase for each";
  else if (copies)
    diag << "; copy into it between acquire and commit, or read the allocation that is copied to";
  else
    diag << "; store to it before it is read, or read the allocation that is written";
  diag.attachNote(reader->getLoc()) << "read here";
}

void mlir::ts::detail::checkWritten(KernelOp kernel, CheckReporter &reporter) {
  Uses uses = collectUses(kernel);
  if (!uses.followed)
    return;
  llvm::EquivalenceClasses<Operation *> shared = sharedMemory(kernel);
  llvm::DenseSet<Operation *> writtenResources;
  for (const AllocKey &key : uses.writes)
    writtenResources.insert(key.first);
  for (auto &[key, reader] : uses.reads) {
    if (uses.writes.contains(key))
      continue;
    auto members = shared.members(key.first);
    if (llvm::any_of(members, [&](Operation *other) {
          return other != key.first && writtenResources.contains(other);
        }))
      continue;
    report(key, reader, uses, reporter);
  }
}
