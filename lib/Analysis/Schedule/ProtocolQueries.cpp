// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills the protocol component's input structs from the IR.
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Analysis/Schedule/BracketBytes.h"
#include "ts/Analysis/Schedule/MemoryTrace.h"

using namespace mlir;
using namespace mlir::ts;
using namespace ::ts::protocol;
using POp = ::ts::protocol::Op;

static KernelOp kernelOf(Value resource) {
  Operation *def = resource.getDefiningOp();
  return def ? def->getParentOfType<KernelOp>() : KernelOp();
}

static PipelineAttr pipelineAttrOf(Value resource) {
  if (auto op = resource.getDefiningOp<ResourceOp>())
    return op.getPipeline().value_or(PipelineAttr());
  if (auto op = resource.getDefiningOp<WorkQueueOp>())
    return op.getPipeline().value_or(PipelineAttr());
  return PipelineAttr();
}

bool mlir::ts::hasPipeline(Value resource) {
  if (auto queue = resource.getDefiningOp<WorkQueueOp>())
    return queue.getKind() == QueueKind::Clc;
  return pipelineAttrOf(resource) || resource.getDefiningOp<PipelineGroupOp>();
}

PipelineGroupOp mlir::ts::groupOf(Value resource) {
  for (Operation *user : resource.getUsers())
    if (auto group = dyn_cast<PipelineGroupOp>(user))
      return group;
  return PipelineGroupOp();
}

//===-- Cluster ------------------------------------------------------------------------------===//

ClusterSpec mlir::ts::clusterSpecOf(KernelOp kernel) {
  ClusterSpec spec;
  for (auto [to, from] : llvm::zip(spec.shape, kernel.getCluster()))
    to = from;
  // Two CTAs share an MMA where a tcgen05 op says so; a declared layout comes first.
  kernel.walk([&](Operation *op) {
    if (auto attr = pipelineAttrOf(op->getNumResults() ? op->getResult(0) : Value());
        attr && attr.getCtaLayout().size() == 4 && !spec.layout) {
      LayoutVmnk layout;
      llvm::copy(attr.getCtaLayout(), layout.begin());
      spec.layout = layout;
      spec.ctasPerMma = layout[0];
    }
    if (auto umma = dyn_cast<UmmaOp>(op))
      spec.ctasPerMma = std::max(spec.ctasPerMma, int64_t(umma.getCtaGroup()));
    if (auto copy = dyn_cast<TmemCopyOp>(op))
      spec.ctasPerMma = std::max(spec.ctasPerMma, int64_t(copy.getCtaGroup()));
  });
  return spec;
}

//===-- Pipeline -----------------------------------------------------------------------------===//

static std::optional<int64_t> declared(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

static SignalSet signalsOf(Signalling set) { return SignalSet(unsigned(set)); }

static PipelineSpec specOfAttr(PipelineAttr attr) {
  PipelineSpec spec;
  spec.type = protocolTypeOf(attr);
  spec.stages = attr.getStages();
  spec.numBytes = declared(attr.getNumBytes());
  spec.producerCount = declared(attr.getProducerCount());
  spec.consumerCount = declared(attr.getConsumerCount());
  spec.producerSignal = signalsOf(attr.getProducerSignal());
  spec.consumerSignal = signalsOf(attr.getConsumerSignal());
  if (auto wait = attr.getConsumerWaitSignal())
    spec.consumerWaitSignal = signalsOf(*wait);
  spec.advanceOnAcquire = attr.getAdvanceOnAcquire();
  spec.advanceOnWait = attr.getAdvanceOnWait();
  spec.interleave = attr.getStrides();
  spec.asyncLoad = attr.getProducerOp() == ProducerOp::Load;
  if (attr.getMcast().size() == 2)
    spec.multicast = {attr.getMcast()[0] != 0, attr.getMcast()[1] != 0};
  spec.bytesPerWarpPerCta = declared(attr.getBytesPerWarpPerCta());
  if (attr.getCtaLayout().size() == 4) {
    LayoutVmnk layout;
    llvm::copy(attr.getCtaLayout(), layout.begin());
    spec.ctaLayout = layout;
  }
  return spec;
}

/// Engines of both sides, from every op whose memref operand is a stage view of `resource`.
static void addEngines(Value resource, PipelineSpec &spec) {
  SideAccess producer, consumer;
  ValueEvaluator evaluator;
  KernelOp kernel = kernelOf(resource);
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>())
    task.walk([&](Operation *op) {
      for (const MemrefAccess &access : accessesOf(op, evaluator))
        for (const MemrefRoot &root : traceMemref(access.memref, evaluator)) {
          if (root.resource() != resource)
            continue;
          SideAccess &side = root.side() == Side::Producer ? producer : consumer;
          (access.write ? side.writes : side.reads) |= access.engine;
        }
      if (auto effects = op->getAttrOfType<ArrayAttr>("effects"))
        if (isa<ProduceOp, ConsumeOp>(op) && op->getOperand(0) == resource)
          for (auto effect : effects.getAsRange<EffectAttr>()) {
            static constexpr Engine kEngines[] = {EngineGeneric, EngineCpAsync, EngineTma,
                                                  EngineTma,     EngineWgmma,   EngineUmma,
                                                  EngineUtccp,   EngineClc};
            SideAccess &side = isa<ProduceOp>(op) ? producer : consumer;
            Engine engine = kEngines[unsigned(effect.getEngine())];
            (effect.getWrite() ? side.writes : side.reads) |= engine;
          }
    });
  if (producer.any())
    spec.producerAccess = producer;
  if (consumer.any())
    spec.consumerAccess = consumer;
}

static void addMemory(ResourceOp op, PipelineSpec &spec) {
  bool smem = false, tmem = false;
  int64_t bytes = 0;
  auto uses = op.getProducerUses();
  for (auto alloc : op.getAllocs().getAsRange<AllocAttr>()) {
    smem |= isSmem(alloc.getType());
    tmem |= isTmem(alloc.getType());
    bool produced = !uses || llvm::any_of(uses->getAsValueRange<StringAttr>(),
                                          [&](StringRef use) { return use == alloc.getName(); });
    if (isSmem(alloc.getType()) && alloc.getStaged() && produced)
      bytes = std::min<int64_t>(bytes + getBytes(alloc.getType()), int64_t(1) << 48);
  }
  spec.space = smem && tmem ? ::ts::protocol::Space::SmemAndTmem
               : smem       ? ::ts::protocol::Space::Smem
               : tmem       ? ::ts::protocol::Space::Tmem
                            : ::ts::protocol::Space::None;
  if (smem)
    spec.stageBytes = bytes;
}

/// Whether pins put allocations of both on the same shared memory.
static bool pinnedTogether(ResourceOp a, ResourceOp b) {
  auto endOf = [](ResourceOp op, AllocAttr alloc) {
    constexpr int64_t limit = int64_t(1) << 28; // beyond any shared memory; keeps the sum in range
    int64_t bytes = std::min(getBytes(alloc.getType()), limit);
    int64_t stages = std::min(alloc.getStaged() ? op.getStages() : 1, limit);
    // Stages stand at multiples of their alignment.
    return std::min(alloc.getAt(), limit) +
           (stages > 1 ? stages * int64_t(llvm::alignTo(bytes, 1024)) : bytes);
  };
  return llvm::any_of(a.getAllocs().getAsRange<AllocAttr>(), [&](AllocAttr x) {
    return llvm::any_of(b.getAllocs().getAsRange<AllocAttr>(), [&](AllocAttr y) {
      return x.getAt() >= 0 && y.getAt() >= 0 && isSmem(x.getType()) && isSmem(y.getType()) &&
             x.getAt() < endOf(b, y) && y.getAt() < endOf(a, x);
    });
  });
}

/// Number of the phase of `group` that `resource` belongs to; -1 if to none.
static int64_t phaseOf(AliasGroupOp group, Value resource) {
  int64_t first = 0;
  for (auto [phase, count] : llvm::enumerate(group.getPhases())) {
    if (llvm::is_contained(group.getMembers().slice(first, count), resource))
      return int64_t(phase);
    first += count;
  }
  return -1;
}

/// Engines of the resources that lie on the memory of `op`: pinned there, or another phase of its
/// alias group.
static void addOverlaid(ResourceOp op, PipelineSpec &spec) {
  Block &declarations = kernelOf(op.getResult()).getBodyBlock();
  for (auto other : declarations.getOps<ResourceOp>()) {
    bool shares = pinnedTogether(op, other);
    for (auto group : declarations.getOps<AliasGroupOp>()) {
      int64_t mine = phaseOf(group, op.getResult()), theirs = phaseOf(group, other.getResult());
      shares |= mine >= 0 && theirs >= 0 && mine != theirs;
    }
    if (other == op || !shares)
      continue;
    PipelineAttr attr = pipelineAttrOf(other.getResult());
    PipelineSpec there = attr ? specOfAttr(attr) : PipelineSpec();
    addEngines(other.getResult(), there);
    for (Side side : {Side::Producer, Side::Consumer})
      spec.overlaid |= accessOf(there, side).any();
  }
}

std::optional<::ts::protocol::CtaMask> mlir::ts::reachedAlong(TmaLoadOp load, int64_t cta,
                                                              const ::ts::protocol::CtaGrid &grid) {
  std::optional<StringRef> along = load.getAlong();
  if (!along)
    return std::nullopt;
  return grid.peers(cta, {*along == "n", *along == "m"});
}

PipelineSpec mlir::ts::pipelineSpecOf(Value resource) {
  if (auto group = resource.getDefiningOp<PipelineGroupOp>()) {
    PipelineSpec spec = groupPipeline(groupSpecOf(group), clusterSpecOf(kernelOf(resource)));
    spec.name = getResourceName(resource).str();
    return spec;
  }
  PipelineSpec spec;
  if (PipelineAttr attr = pipelineAttrOf(resource)) {
    spec = specOfAttr(attr);
  } else if (resource.getDefiningOp<WorkQueueOp>()) {
    spec.type = ::ts::protocol::PipelineType::ClcFetchAsync;
    spec.stages = kDefaultQueueStages;
  }
  spec.name = getResourceName(resource).str();
  if (auto op = resource.getDefiningOp<ResourceOp>()) {
    addMemory(op, spec);
    addEngines(resource, spec);
    addOverlaid(op, spec);
  }
  return spec;
}

//===-- Participants -------------------------------------------------------------------------===//

/// Start and step of the innermost domain loop around `op`, as one replica sees them.
static void addDomain(Operation *op, TaskOp task, int64_t replica, TaskRole &role) {
  for (Operation *parent = op->getParentOp(); parent && parent != task;
       parent = parent->getParentOp())
    if (auto loop = dyn_cast<ForOp>(parent)) {
      ValueEvaluator evaluator({std::nullopt, std::nullopt, replica});
      role.domainStart = evaluator.carriedStart(loop);
      if (!role.domainStart)
        role.domainStart = evaluator.evaluate(loop.getLower());
      role.domainStep =
          loop.getStep() ? evaluator.evaluate(loop.getStep()) : std::optional<int64_t>(1);
      return;
    }
}

std::optional<::ts::protocol::IssuedBytes> mlir::ts::issuedPerPhase(Value resource, TaskOp task,
                                                                    int64_t replica) {
  Value declares = resource;
  if (auto group = resource.getDefiningOp<PipelineGroupOp>()) {
    if (group.getMembers().empty())
      return std::nullopt;
    declares = group.getMembers().front();
  }
  PipelineAttr attr = pipelineAttrOf(declares);
  if (!attr || !hasTmaProducer(protocolTypeOf(attr)))
    return std::nullopt;
  PipelineSpec spec = specOfAttr(attr);
  int64_t stride = spec.stride(POp::Acquire);
  PhaseBytes bytes =
      bytesPerPhase(resource, task, replica, stride > 1 && stride == task.getWarpsPerReplica(),
                    spec, clusterSpecOf(kernelOf(resource)));
  // A member of a group may leave the copies to another one.
  bool elsewhere = groupOf(resource) && !bytes.phases.empty() && bytes.phases[0].works.empty();
  if (!bytes.known || bytes.phases.size() != 1 || elsewhere)
    return std::nullopt;
  return bytes.phases.front().bytes;
}

Participants mlir::ts::participantsOf(Value resource) {
  Participants result;
  KernelOp kernel = kernelOf(resource);
  if (!kernel)
    return result;
  bool clc = resource.getDefiningOp<WorkQueueOp>() && hasPipeline(resource);

  for (auto task : kernel.getBodyBlock().getOps<TaskOp>()) {
    // The first op of each kind gives the domain; a task is listed once per kind.
    Operation *first[4] = {};
    task.walk([&](Operation *op) {
      auto note = [&](POp kind) {
        Operation *&slot = first[roleIndex(kind)];
        if (!slot)
          slot = op;
      };
      if (op->getNumOperands() == 0 || op->getOperand(0) != resource)
        return;
      if (isa<AcquireOp>(op))
        note(POp::Acquire);
      else if (isa<CommitOp>(op))
        note(POp::Commit);
      else if (isa<WaitOp>(op))
        note(POp::Wait);
      else if (isa<ReleaseOp>(op))
        note(POp::Release);
      else if (clc && isa<NextTileOp>(op))
        note(POp::Wait), note(POp::Release);
    });
    for (int64_t replica = 0; replica < int64_t(task.getReplicas()); ++replica) {
      TaskRole role;
      role.task = task.getName().str();
      if (task.getReplicas() > 1)
        role.task += "[" + std::to_string(replica) + "]";
      role.warps = task.getWarpsPerReplica();
      role.firstWarp = task.getFirstWarp() + replica * role.warps;
      if (task.getOnlyCta())
        role.pinnedCta = *task.getOnlyCta();
      for (POp kind : {POp::Acquire, POp::Commit, POp::Wait, POp::Release}) {
        Operation *op = first[roleIndex(kind)];
        if (!op)
          continue;
        TaskRole entry = role;
        addDomain(op, task, replica, entry);
        if (kind == POp::Acquire)
          entry.issued = issuedPerPhase(resource, task, replica);
        result.of(kind).push_back(entry);
      }
    }
  }
  return result;
}

GroupSpec mlir::ts::groupSpecOf(PipelineGroupOp group) {
  GroupSpec spec;
  spec.name = group.getName().str();
  spec.mode = ::ts::protocol::GroupMode(unsigned(group.getMode()));
  for (Value member : group.getMembers())
    spec.members.push_back({pipelineSpecOf(member), participantsOf(member)});
  spec.by = participantsOf(group.getResult());
  return spec;
}

PipelineSpec mlir::ts::resolvedSpecOf(Value resource) {
  return resolveDeclared(pipelineSpecOf(resource), clusterSpecOf(kernelOf(resource)),
                         participantsOf(resource));
}
