// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory accesses of one role: from operands by use-def, from declared effects otherwise.
#include "BuilderImpl.h"
#include "ts/Analysis/Schedule/WarpPlaces.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using namespace ::ts::schedule;

void TaskBuilder::addAccess(Event &event, const Access &access) {
  for (const Access &known : event.accesses)
    if (known.allocation == access.allocation && known.offset == access.offset &&
        known.size == access.size && known.write == access.write && known.engine == access.engine &&
        known.via == access.via && known.carried == access.carried &&
        known.remote == access.remote && known.exact == access.exact && known.part == access.part &&
        known.placesKnown == access.placesKnown && known.places == access.places &&
        known.lands == access.lands)
      return;
  event.accesses.push_back(access);
}

/// The part of the stage that the view of `root` chooses, as far as loops of the model decide it.
Part TaskBuilder::partOf(const MemrefRoot &root) {
  Part part;
  const RelativeWindow &relative = root.relative;
  if (!relative.known || !root.work || root.carried || relative.size < 0)
    return part;
  part.base = relative.base;
  part.offset = relative.begin;
  part.size = relative.size;
  if (relative.index) {
    part.count = relative.index->count;
    part.stride = relative.stride;
    part.shift = relative.index->offset;
    part.divisor = relative.index->divisor;
    for (auto [loop, scale] : relative.index->terms) {
      auto it = loops.find(loop);
      if (it == loops.end())
        return Part();
      part.terms.push_back({it->second, scale});
    }
  }
  part.known = true;
  return part;
}

std::vector<Access> TaskBuilder::resolve(const MemrefAccess &memref, Operation *op) {
  std::vector<Access> result;
  const Kernel &kernel = context.model.kernel;
  for (const MemrefRoot &root : traceMemref(memref.memref, conditions.values())) {
    Access access;
    access.write = memref.write;
    access.engine = memref.engine;
    access.remote = memref.remote;
    access.loc = context.place(op);
    access.offset = root.offset;
    access.size = root.size;
    access.exact = root.exact;
    access.carried = root.carried;
    access.part = partOf(root);
    access.side = root.side();
    if (auto load = dyn_cast<TmemLoadOp>(op))
      access.inFlight = isa<AsyncType>(load.getResult().getType());
    if (isa<TmemLoadOp, TmemStoreOp>(op) || memref.columns)
      access.part = Part();
    if (memref.columns && root.exact) {
      access.offset += memref.columns->first;
      access.size = memref.columns->second;
    } else if (isa<TmemLoadOp, TmemStoreOp>(op)) {
      access.exact = false;
    }
    if (root.work) {
      int resource = context.resourceOf(root.resource());
      if (resource < 0)
        continue;
      const auto &allocs = kernel.resources[size_t(resource)].allocations;
      if (root.index >= allocs.size())
        continue;
      access.allocation = allocs[root.index];
      access.via = StepId(-2 - int64_t(pendingViews.size()));
      pendingViews.push_back(root.work);
      const Allocation &alloc = kernel.allocations[size_t(access.allocation)];
      const auto &pipeline = kernel.resources[size_t(resource)].pipeline;
      if (alloc.space == MemorySpace::Smem && !access.carried && !access.exact)
        if (auto places =
                warpPlaces(op, memref.memref, task, replica, context.kernel.getClusterSize(),
                           alloc.staged && pipeline && pipeline->stages > 1)) {
          access.placesKnown = true;
          access.places = std::move(*places);
        }
      if (auto load = dyn_cast<TmaLoadOp>(op))
        if (pipeline)
          access.lands =
              ctasReached(load, task, replica, ::ts::protocol::CtaGrid(*pipeline, kernel.cluster));
    } else {
      auto it = context.globals.find(context.kernel.getBody().getArgument(root.index));
      if (it == context.globals.end())
        continue;
      access.allocation = it->second;
      access.exact = false;
    }
    result.push_back(access);
  }
  return result;
}

void TaskBuilder::accesses(Operation *op, const Place &place, std::vector<StepId> &list) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return;
  std::vector<Access> found;
  for (const MemrefAccess &memref : accessesOf(op, conditions.values()))
    llvm::append_range(found, resolve(memref, op));
  // The descriptor stands for the global array behind it.
  auto global = [&](Value map, bool write) {
    auto it = context.globals.find(map);
    if (it == context.globals.end())
      return;
    Access access;
    access.allocation = it->second;
    access.size = -1;
    access.exact = false;
    access.write = write;
    access.engine = ::ts::protocol::EngineTma;
    access.loc = context.place(op);
    found.push_back(access);
  };
  if (auto load = dyn_cast<TmaLoadOp>(op))
    global(load.getMap(), false);
  if (auto store = dyn_cast<TmaStoreOp>(op))
    global(store.getMap(), true);
  if (found.empty())
    return;
  // Plain loads and stores that follow each other are one event.
  auto plain = [](const Access &access) {
    return access.engine == ::ts::protocol::EngineGeneric && !access.remote;
  };
  if (llvm::all_of(found, plain) && !list.empty()) {
    Step &last = step(list.back());
    if (last.kind == StepKind::Event && last.event.kind == EventKind::Access &&
        last.event.elected == place.elected && llvm::all_of(last.event.accesses, plain)) {
      for (const Access &access : found)
        addAccess(last.event, access);
      return;
    }
  }
  Event &result = event(EventKind::Access, op, Value(), place, list);
  for (const Access &access : found)
    addAccess(result, access);
}

void TaskBuilder::declaredAccesses(Operation *op, Event &event) {
  if (event.aux || event.resource < 0)
    return;
  bool produces = isa<ProduceOp>(op);
  const Kernel &kernel = context.model.kernel;
  const Resource &resource = kernel.resources[size_t(event.resource)];
  auto add = [&](int allocation, bool write, ::ts::protocol::Engine engine, int64_t offset,
                 int64_t size) {
    const Allocation &alloc = kernel.allocations[size_t(allocation)];
    bool tmem = alloc.space == MemorySpace::Tmem;
    Access access;
    access.allocation = allocation;
    access.write = write;
    access.engine = engine;
    access.side = produces ? ::ts::protocol::Side::Producer : ::ts::protocol::Side::Consumer;
    access.loc = context.place(op);
    access.offset = tmem ? 0 : offset;
    access.size = tmem ? alloc.columns : size < 0 ? alloc.bytes - offset : size;
    access.exact = !tmem;
    access.via = StepId(-2 - int64_t(pendingViews.size()));
    pendingViews.push_back(op);
    addAccess(event, access);
  };
  if (auto effects = op->getAttrOfType<ArrayAttr>("effects")) {
    using namespace ::ts::protocol;
    static constexpr Engine kEngines[] = {EngineGeneric, EngineCpAsync, EngineTma,   EngineTma,
                                          EngineWgmma,   EngineUmma,    EngineUtccp, EngineClc};
    for (auto effect : effects.getAsRange<EffectAttr>())
      for (int allocation : resource.allocations)
        if (effect.getAlloc().empty() ||
            effect.getAlloc() == kernel.allocations[size_t(allocation)].name)
          add(allocation, effect.getWrite(), kEngines[unsigned(effect.getEngine())],
              effect.getOffset(), effect.getSize());
    return;
  }
  // Nothing declared: the whole stage, by the engines that the pipeline type implies.
  auto def = op->getOperand(0).getDefiningOp<ResourceOp>();
  std::optional<ArrayAttr> uses;
  if (def)
    uses = produces ? def.getProducerUses() : def.getConsumerUses();
  ::ts::protocol::SideAccess engines{};
  (produces ? engines.writes : engines.reads) = ::ts::protocol::EngineGeneric;
  if (resource.pipeline)
    engines = accessOf(*resource.pipeline,
                       produces ? ::ts::protocol::Side::Producer : ::ts::protocol::Side::Consumer);
  for (int allocation : resource.allocations) {
    const std::string &name = kernel.allocations[size_t(allocation)].name;
    if (uses && llvm::none_of(uses->getAsValueRange<StringAttr>(),
                              [&](StringRef use) { return use == name; }))
      continue;
    for (unsigned bit = 1; bit <= ::ts::protocol::EngineClc; bit <<= 1) {
      if (engines.reads & bit)
        add(allocation, false, ::ts::protocol::Engine(bit), 0, -1);
      if (engines.writes & bit)
        add(allocation, true, ::ts::protocol::Engine(bit), 0, -1);
    }
  }
}
