// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists what a kernel has to place: allocations, barriers, responses, the TMEM slot, with sizes and
// alignments. Deciding the offsets is AllocatePlan.cpp.
#include "AllocateImpl.h"
#include "AllocatePlace.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::ts;

int64_t mlir::ts::getNaturalAlignment(MemRefType type, bool usedByTma) {
  // A swizzle pattern repeats every eight lines of its span, and the address bits choose the line.
  if (unsigned swizzle = getSwizzle(type))
    return int64_t(swizzle) * kCoreMatrixRows;
  return usedByTma ? kTmaSmemAlignment : kBulkGranularity;
}

namespace {
using AllocKey = std::pair<Operation *, int64_t>;

/// The allocation behind a memref inside a work body: the body's block argument, through views.
std::optional<AllocKey> findAllocation(Value memref) {
  while (memref) {
    if (auto arg = dyn_cast<BlockArgument>(memref)) {
      Operation *parent = arg.getOwner()->getParentOp();
      Value resource;
      if (auto produce = dyn_cast<ProduceOp>(parent))
        resource = produce.getResource();
      else if (auto consume = dyn_cast<ConsumeOp>(parent))
        resource = consume.getResource();
      if (!resource || !resource.getDefiningOp())
        return std::nullopt;
      return AllocKey(resource.getDefiningOp(), arg.getArgNumber());
    }
    // Views (subview, cast, reinterpret) have their source as the first operand.
    Operation *def = memref.getDefiningOp();
    if (!def->getNumOperands() || !isa<MemRefType>(def->getOperand(0).getType()))
      return std::nullopt;
    memref = def->getOperand(0);
  }
  return std::nullopt;
}

/// Allocations that tensor copies address; those of a resource without bodies by their declaration.
llvm::DenseSet<AllocKey> findTmaAllocations(KernelOp kernel) {
  llvm::DenseSet<AllocKey> result;
  auto add = [&](Value memref) {
    if (auto key = findAllocation(memref))
      result.insert(*key);
  };
  auto addDeclared = [&](Value resource, std::optional<ArrayAttr> effects) {
    auto def = resource.getDefiningOp<ResourceOp>();
    if (!def || !effects)
      return;
    for (auto effect : effects->getAsRange<EffectAttr>())
      if (effect.getEngine() == EngineKind::Tma)
        for (auto [i, alloc] : llvm::enumerate(def.getAllocs().getAsRange<AllocAttr>()))
          if (effect.getAlloc().empty() || effect.getAlloc() == alloc.getName())
            result.insert({def, i});
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<TmaLoadOp>(op))
      add(load.getDst());
    else if (auto store = dyn_cast<TmaStoreOp>(op))
      add(store.getSrc());
    else if (auto replace = dyn_cast<TensorMapReplaceOp>(op))
      add(replace.getMap());
    else if (auto produce = dyn_cast<ProduceOp>(op))
      addDeclared(produce.getResource(), produce.getEffects());
    else if (auto consume = dyn_cast<ConsumeOp>(op))
      addDeclared(consume.getResource(), consume.getEffects());
  });
  return result;
}

class Collector {
public:
  Collector(PlanBuilder &builder, SmallVectorImpl<UserStorage> &storage)
      : builder(builder), storage(storage), tma(findTmaAllocations(builder.kernel)) {}

  void run() {
    builder.kernel.walk([&](PipelineGroupOp group) { addGroup(group); });
    builder.kernel.walk([&](AliasGroupOp group) { addAliasGroup(group); });
    builder.kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto resource = dyn_cast<ResourceOp>(op))
        addResource(resource);
      else if (auto queue = dyn_cast<WorkQueueOp>(op))
        addQueue(queue);
      else if (auto mbarrier = dyn_cast<MbarrierOp>(op))
        add(op, PlacementKind::Mbarrier, mbarrier.getName(), "", kMbarrierBytes, 1, kMbarrierBytes);
    });
    bool usesTmem = llvm::any_of(builder.plan.placements, [](auto &p) { return p.tmem; });
    if (usesTmem)
      add(builder.kernel, PlacementKind::TmemSlot, "tmem address", "", 4, 1, 4);
  }

private:
  size_t add(Operation *owner, PlacementKind kind, StringRef name, StringRef part, int64_t size,
             int64_t stages, int64_t align) {
    Placement &p = builder.plan.placements.emplace_back();
    p.owner = owner;
    p.kind = kind;
    p.name = part.empty() ? name.str() : (name + "." + part).str();
    p.size = size;
    p.stages = stages;
    p.align = align;
    p.stride = stages > 1 ? alignUp(size, align) : 0;
    return builder.plan.placements.size() - 1;
  }

  void addBarriers(Operation *owner, StringRef name, int64_t stages, bool full, bool empty) {
    if (full)
      add(owner, PlacementKind::FullBarriers, name, "full", kMbarrierBytes, stages, kMbarrierBytes);
    if (empty)
      add(owner, PlacementKind::EmptyBarriers, name, "empty", kMbarrierBytes, stages,
          kMbarrierBytes);
  }

  /// The side(s) that the members share have their barriers on the group (PROTOCOL, Groups).
  void addGroup(PipelineGroupOp group) {
    bool full = group.getMode() != GroupMode::Merge, empty = group.getMode() != GroupMode::Fork;
    int64_t stages = 1;
    for (Value member : group.getMembers()) {
      auto resource = member.getDefiningOp<ResourceOp>();
      if (!resource)
        continue;
      stages = std::max(stages, resource.getStages());
      for (auto [shares, owners, side] :
           {std::tuple(full, &fullOwner, "full"), std::tuple(empty, &emptyOwner, "empty")}) {
        if (!shares)
          continue;
        auto [it, inserted] = owners->try_emplace(resource, group);
        if (!inserted && it->second == group)
          builder.report(group) << "[TS223] pipeline group '" << group.getName() << "' names '"
                                << resource.getName() << "' twice; name each member once";
        else if (!inserted)
          builder.report(group) << "[TS223] the " << side << " barriers of '" << resource.getName()
                                << "' are shared by pipeline group '"
                                << cast<PipelineGroupOp>(it->second).getName()
                                << "' already; a side belongs to one group, so take the resource "
                                   "out of '"
                                << group.getName() << "'";
      }
    }
    addBarriers(group, group.getName(), stages, full, empty);
  }

  void addAliasGroup(AliasGroupOp group) {
    size_t next = 0;
    for (auto [phase, count] : llvm::enumerate(group.getPhases()))
      for (int64_t i = 0; i < count && next < group.getMembers().size(); ++i) {
        Operation *member = group.getMembers()[next++].getDefiningOp();
        auto [it, inserted] = aliases.try_emplace(member, std::pair(group, phase));
        if (!inserted)
          builder.report(group)
              << "'" << getResourceName(member->getResult(0)) << "' stands in "
              << (it->second.first == group ? "two places of alias group '" : "alias groups '")
              << it->second.first.getName()
              << (it->second.first == group ? "" : ("' and '" + group.getName()).str())
              << "'; a resource has one place, so name it in one phase of one group";
      }
  }

  void addResource(ResourceOp resource) {
    for (auto [i, alloc] : llvm::enumerate(resource.getAllocs().getAsRange<AllocAttr>()))
      addAllocation(resource, i, alloc);
    if (!resource.getPipeline())
      return;
    bool full = !fullOwner.contains(resource), empty = !emptyOwner.contains(resource);
    size_t first = builder.plan.placements.size();
    addBarriers(resource, resource.getName(), resource.getStages(), full, empty);
    Value user = resource.getBarrierStorage();
    if (!user)
      return;
    auto def = user.getDefiningOp<ResourceOp>();
    if (!def) {
      builder.report(resource) << "[TS230] barriers of '" << resource.getName()
                               << "' go into an allocation of a ts.resource, but '"
                               << getResourceName(user) << "' is none";
      return;
    }
    for (size_t i = first; i < builder.plan.placements.size(); ++i)
      storage.push_back({i, def, resource.getBarrierAllocAttr()});
  }

  void addAllocation(ResourceOp resource, int64_t index, AllocAttr alloc) {
    MemRefType type = alloc.getType();
    bool tmem = isTmem(type);
    int64_t stages = alloc.getStaged() ? resource.getStages() : 1;
    int64_t size, align;
    if (tmem) {
      int64_t bits = satMul(type.getShape().back(), type.getElementTypeBitWidth());
      size = alignUp(bits, kTmemColumnBits) / kTmemColumnBits;
      align = std::max<int64_t>(alloc.getAlign(), kTmemColumnAlignment);
    } else {
      size = getBytes(type);
      bool usedByTma = tma.contains({resource, index}) || isTmaFilled(resource);
      align = std::max(alloc.getAlign(), getNaturalAlignment(type, usedByTma));
    }
    if (!tmem && alloc.getAlign() > kSmemBaseAlignment)
      builder.report(resource) << "[TS228] allocation '" << resource.getName() << "."
                               << alloc.getName() << "' asks for alignment " << alloc.getAlign()
                               << ", but dynamic shared memory itself starts at a multiple of "
                               << kSmemBaseAlignment << "; ask for at most that";
    Placement &p = builder.plan.placements[add(resource, PlacementKind::Data, resource.getName(),
                                               alloc.getName(), size, stages, align)];
    p.index = index;
    p.tmem = tmem;
    if (auto it = aliases.find(resource); it != aliases.end())
      std::tie(p.aliasGroup, p.phase) =
          std::pair<Operation *, int64_t>(it->second.first, it->second.second);
    if (alloc.getAt() < 0)
      return;
    p.pinned = true;
    p.offset = std::min(alloc.getAt(), kSaturated);
    if (p.offset % align)
      builder.report(resource) << "[TS228] allocation '" << p.name << "' is pinned at "
                               << alloc.getAt() << ", which is no multiple of " << align
                               << (tmem ? " columns" : " bytes") << ", the alignment that its "
                               << (alloc.getAlign() == align ? "'align'"
                                   : tmem                    ? "memory"
                                                             : "swizzle or engine")
                               << " asks for; pin it at " << p.offset / align * align << " or "
                               << alignUp(p.offset, align);
  }

  static bool isTmaFilled(ResourceOp resource) {
    std::optional<PipelineAttr> pipeline = resource.getPipeline();
    return pipeline && ::ts::protocol::hasTmaProducer(protocolTypeOf(*pipeline));
  }

  void addQueue(WorkQueueOp queue) {
    if (queue.getKind() != QueueKind::Clc)
      return;
    int64_t stages = queue.getPipeline() ? queue.getPipeline()->getStages() : kDefaultQueueStages;
    addBarriers(queue, queue.getName(), stages, true, true);
    add(queue, PlacementKind::Responses, queue.getName(), "response", kClcResponseBytes, stages,
        kClcResponseBytes);
  }

  // Keeps every view on a 16-byte lane boundary, as scale factors and 128-bit accesses want it.
  static constexpr int64_t kTmemColumnAlignment = 4;

  PlanBuilder &builder;
  SmallVectorImpl<UserStorage> &storage;
  llvm::DenseSet<AllocKey> tma;
  llvm::DenseMap<Operation *, Operation *> fullOwner, emptyOwner;
  llvm::DenseMap<Operation *, std::pair<AliasGroupOp, int64_t>> aliases;
};
} // namespace

void mlir::ts::collectPlacements(PlanBuilder &builder, SmallVectorImpl<UserStorage> &storage) {
  Collector(builder, storage).run();
}
