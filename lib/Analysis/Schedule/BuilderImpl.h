// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parts of the schedule builder share: the declarations of one kernel and the builder of
// one role's steps.
#ifndef TS_LIB_ANALYSIS_SCHEDULE_BUILDERIMPL_H
#define TS_LIB_ANALYSIS_SCHEDULE_BUILDERIMPL_H

#include "ts/Analysis/Schedule/Builder.h"
#include "ts/Analysis/Schedule/MemoryTrace.h"
#include "ts/Analysis/Schedule/PathWalker.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"

namespace mlir::ts::detail {

/// Resources, allocations and places, by IR entity.
struct KernelContext {
  KernelContext(KernelOp kernel, ScheduleModel &model) : kernel(kernel), model(model) {}

  KernelOp kernel;
  ScheduleModel &model;
  llvm::DenseMap<Value, int> resources;
  llvm::DenseMap<Value, int> globals; ///< allocation of a kernel argument
  llvm::DenseMap<Operation *, ::ts::schedule::LocId> places;

  ::ts::schedule::LocId place(Operation *op) {
    auto [it, fresh] = places.try_emplace(op, ::ts::schedule::LocId(model.places.size()));
    if (fresh)
      model.places.push_back(op);
    return it->second;
  }
  int resourceOf(Value value) const {
    auto it = resources.find(value);
    return it == resources.end() ? -1 : it->second;
  }
};

/// Builds the steps of one replica of one task.
class TaskBuilder {
public:
  TaskBuilder(KernelContext &context, TaskOp task, int64_t replica, ::ts::schedule::Task &out);
  LogicalResult run();

private:
  /// Tells acquires what the copies of their phase bring.
  void addPhaseBytes();
  using StepId = ::ts::schedule::StepId;
  /// Where a step is added: its list, its parent, and what surrounds it.
  struct Place {
    StepId parent = -1;
    StepId guardedLoop = -1;
    bool elected = false;
    bool inWork = false;
  };

  std::vector<StepId> block(Block &ops, const Place &place);
  void operation(Operation *op, const Place &place, std::vector<StepId> &list);
  bool scheduleOp(Operation *op, const Place &place, std::vector<StepId> &list);
  bool workEvent(Operation *op, const Place &place, std::vector<StepId> &list);
  void work(Operation *op, const Place &place, std::vector<StepId> &list);
  void loop(Operation *op, const Place &place, std::vector<StepId> &list);
  void branch(Operation *op, Value condition, const Place &place, std::vector<StepId> &list);
  void accesses(Operation *op, const Place &place, std::vector<StepId> &list);
  void declaredAccesses(Operation *op, ::ts::schedule::Event &event);
  void addAccess(::ts::schedule::Event &event, const ::ts::schedule::Access &access);
  ::ts::schedule::Part partOf(const MemrefRoot &root);
  std::vector<::ts::schedule::Access> resolve(const MemrefAccess &access, Operation *op);
  ::ts::schedule::Parity parity(Value value, const Place &place);
  /// Whether all that the steps do is touch memory.
  bool onlyAccesses(const std::vector<StepId> &list) const;
  bool dependsOnThread(Value value);
  std::optional<uint64_t> trueOn(Value condition);

  StepId add(::ts::schedule::StepKind kind, Operation *op, const Place &place,
             std::vector<StepId> &list);
  ::ts::schedule::Event &event(::ts::schedule::EventKind kind, Operation *op, Value resource,
                               const Place &place, std::vector<StepId> &list);
  ::ts::schedule::Step &step(StepId id) { return out.steps[size_t(id)]; }

  KernelContext &context;
  TaskOp task;
  int64_t replica;
  ::ts::schedule::Task &out;
  PathConditions conditions;
  llvm::DenseMap<Operation *, StepId> works, loops;
  SmallVector<Operation *> pendingViews; ///< work ops that `via` refers to before all are built
  bool overflow = false;
};

} // namespace mlir::ts::detail

#endif
