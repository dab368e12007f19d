// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The declarations of a kernel: resources, allocations, dependencies, groups, roles.
#include "BuilderImpl.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
namespace sched = ::ts::schedule;

static void addAllocations(KernelContext &context, ResourceOp op, int index) {
  sched::Kernel &kernel = context.model.kernel;
  for (auto alloc : op.getAllocs().getAsRange<AllocAttr>()) {
    MemRefType type = alloc.getType();
    sched::Allocation entry;
    entry.name = alloc.getName().str();
    entry.resource = index;
    entry.space = isTmem(type) ? sched::MemorySpace::Tmem : sched::MemorySpace::Smem;
    entry.bytes = getBytes(type);
    if (isTmem(type)) {
      int64_t bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 32;
      entry.columns = (std::min<int64_t>(type.getShape().back(), 1 << 20) * bits + 31) / 32;
    }
    entry.swizzle = getSwizzle(type);
    entry.align = alloc.getAlign();
    entry.at = alloc.getAt();
    entry.staged = alloc.getStaged();
    entry.loc = context.place(op);
    kernel.resources[size_t(index)].allocations.push_back(int(kernel.allocations.size()));
    kernel.allocations.push_back(std::move(entry));
  }
}

static void addResources(KernelContext &context) {
  sched::Kernel &kernel = context.model.kernel;
  context.kernel.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isa<ResourceType>(op->getResult(0).getType()))
      return;
    int index = int(kernel.resources.size());
    context.resources[op->getResult(0)] = index;
    sched::Resource entry;
    entry.name = getResourceName(op->getResult(0)).str();
    entry.loc = context.place(op);
    if (auto resource = dyn_cast<ResourceOp>(op)) {
      entry.gmem = resource.getSpace() == Space::Gmem;
      entry.barrierOnly = resource.getSpace() == Space::Barrier;
    } else if (auto queue = dyn_cast<WorkQueueOp>(op)) {
      entry.kind = sched::ResourceKind::Queue;
      entry.clc = queue.getKind() == QueueKind::Clc;
      entry.skips = !queue.getSkip().empty();
    } else if (isa<PdlOp>(op)) {
      entry.kind = sched::ResourceKind::Pdl;
    } else if (auto baton = dyn_cast<BatonOp>(op)) {
      entry.kind = sched::ResourceKind::Baton;
      entry.holders = baton.getHolders();
      entry.first = baton.getFirst();
    } else if (auto barrier = dyn_cast<NamedBarrierOp>(op)) {
      entry.kind = sched::ResourceKind::NamedBarrier;
      entry.count = barrier.getThreads();
      if (barrier.getId())
        entry.id = *barrier.getId();
    } else if (auto barrier = dyn_cast<MbarrierOp>(op)) {
      entry.kind = sched::ResourceKind::Mbarrier;
      entry.count = barrier.getCount();
    } else if (auto group = dyn_cast<PipelineGroupOp>(op)) {
      entry.kind = sched::ResourceKind::Group;
      entry.mode = ::ts::protocol::GroupMode(unsigned(group.getMode()));
    }
    if (hasPipeline(op->getResult(0)))
      entry.pipeline = pipelineSpecOf(op->getResult(0));
    kernel.resources.push_back(std::move(entry));
    if (auto resource = dyn_cast<ResourceOp>(op))
      addAllocations(context, resource, index);
  });
  // Operands may name resources that stand anywhere before, so these links come second.
  for (auto [value, index] : context.resources) {
    sched::Resource &entry = kernel.resources[size_t(index)];
    if (auto group = value.getDefiningOp<PipelineGroupOp>())
      for (Value member : group.getMembers())
        if (int number = context.resourceOf(member); number >= 0) {
          entry.members.push_back(number);
          kernel.resources[size_t(number)].group = index;
        }
    if (auto queue = value.getDefiningOp<WorkQueueOp>(); queue && queue.getThrottle())
      entry.throttle = context.resourceOf(queue.getThrottle());
  }
}

static void addGlobals(KernelContext &context) {
  sched::Kernel &kernel = context.model.kernel;
  for (BlockArgument arg : context.kernel.getBody().getArguments()) {
    if (!isa<TensorMapType, MemRefType>(arg.getType()))
      continue;
    sched::Allocation entry;
    entry.name =
        cast<StringAttr>(context.kernel.getArgNames()[arg.getArgNumber()]).getValue().str();
    entry.space = sched::MemorySpace::Global;
    entry.loc = context.place(context.kernel);
    context.globals[arg] = int(kernel.allocations.size());
    kernel.allocations.push_back(std::move(entry));
  }
}

static void addRelations(KernelContext &context) {
  sched::Kernel &kernel = context.model.kernel;
  context.kernel.walk([&](Operation *op) {
    if (auto depends = dyn_cast<DependsOp>(op)) {
      for (Value upstream : depends.getUpstream())
        kernel.dependencies.push_back({context.resourceOf(depends.getDownstream()),
                                       context.resourceOf(upstream), depends.getOrdering(),
                                       context.place(op)});
    } else if (auto alias = dyn_cast<AliasGroupOp>(op)) {
      sched::AliasGroup group;
      group.name = alias.getName().str();
      group.loc = context.place(op);
      size_t next = 0;
      for (int64_t count : alias.getPhases()) {
        auto &phase = group.phases.emplace_back();
        for (int64_t i = 0; i < count && next < alias.getMembers().size(); ++i)
          phase.push_back(context.resourceOf(alias.getMembers()[next++]));
      }
      kernel.aliasGroups.push_back(std::move(group));
    }
  });
}

FailureOr<ScheduleModel> mlir::ts::buildSchedule(KernelOp op) {
  ScheduleModel model;
  KernelContext context(op, model);
  context.place(op);
  sched::Kernel &kernel = model.kernel;
  kernel.name = op.getSymName().str();
  kernel.chip = op.getChip().str();
  kernel.warps = op.getNumWarps();
  kernel.cluster = clusterSpecOf(op);
  kernel.tripsPerTile = op.getTripsPerTile();
  kernel.loc = 0;
  for (auto task : op.getBodyBlock().getOps<TaskOp>())
    if (Operation *deep = tooDeep(task))
      return deep->emitError("nested more than ")
             << sched::maxDepth << " regions deep in task '" << task.getName()
             << "'; the analyses do not follow that";
  addResources(context);
  addGlobals(context);
  addRelations(context);
  for (auto task : op.getBodyBlock().getOps<TaskOp>())
    for (int64_t replica = 0; replica < int64_t(task.getReplicas()); ++replica) {
      sched::Task entry;
      entry.source = task.getName().str();
      entry.name = entry.source;
      entry.replica = int(replica);
      entry.replicas = int(task.getReplicas());
      if (entry.replicas > 1)
        entry.name += "[" + std::to_string(replica) + "]";
      entry.warps = task.getWarpsPerReplica();
      entry.firstWarp = task.getFirstWarp() + replica * entry.warps;
      if (task.getRegisters())
        entry.registers = *task.getRegisters();
      if (task.getOnlyCta())
        entry.onlyCta = *task.getOnlyCta();
      entry.loc = context.place(task);
      for (Value resource : task.getReads())
        entry.reads.push_back(context.resourceOf(resource));
      for (Value resource : task.getWrites())
        entry.writes.push_back(context.resourceOf(resource));
      if (failed(TaskBuilder(context, task, replica, entry).run()))
        return failure();
      kernel.tasks.push_back(std::move(entry));
    }
  return model;
}
