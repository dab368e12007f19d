// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks one role as its threads run it, several times with other trip counts, and leaves in
// Task::threads where two of its own threads touch the same bytes without an order. What other
// tasks do, and when engines complete for the task as a whole, is the prover's business.
#ifndef TS_LIB_ANALYSIS_SCHEDULE_TASKTHREADS_H
#define TS_LIB_ANALYSIS_SCHEDULE_TASKTHREADS_H

#include "BuilderImpl.h"
#include "ThreadRaces.h"

#include "llvm/ADT/MapVector.h"

#include <set>

namespace mlir::ts::detail {

/// A memref as the threads see it.
struct ThreadView {
  int allocation = -1;
  int64_t slot = 0;
  bool known = false;  ///< where in the stage
  ThreadNumber offset; ///< bits from the start of the stage
  bool lanes = false;  ///< every warp has a stage of its own; `slot` is that of the first
};

class TaskThreads {
public:
  using StepMap = llvm::DenseMap<Operation *, ::ts::schedule::StepId>;
  TaskThreads(KernelContext &context, TaskOp task, int64_t replica, ::ts::schedule::Task &out,
              const StepMap &works, PathConditions &conditions);
  void run();

private:
  /// Who executes, and under which conditions.
  struct Scope {
    llvm::BitVector threads;
    bool elected = false;   ///< one thread of each warp
    bool undecided = false; ///< not known for which threads, or how often
    SmallVector<std::pair<int, bool>, 2> conditions;
    bool first = true, last = true;
    int64_t index = 0;
    /// Whether who comes here meets here, and whether everybody comes here.
    bool certain() const { return !undecided; }
    bool always() const { return !undecided && conditions.empty(); }
  };
  /// One side of a ring.
  struct RingSide {
    int64_t opens = 0, closes = 0;
    std::vector<Knowledge> closed;
  };
  struct BarrierState {
    llvm::BitVector warps, waiting;
    std::optional<Knowledge> knowledge;
    bool certain = true;
  };

  bool worthIt();
  bool overlaid(int a, int b) const;
  void walkOnce();
  void block(Block &ops, const Scope &scope);
  void operation(Operation *op, const Scope &scope);
  bool control(Operation *op, const Scope &scope);
  void branch(Operation *op, const ThreadNumber &condition, bool expected, const Scope &scope);
  void alternatives(Operation *op, bool taken, const Scope &scope);
  void loop(Operation *op, const Scope &scope);
  void iterate(Operation *op, const Scope &scope, int64_t trips, unsigned leading,
               llvm::function_ref<void(int64_t, Scope &)> bind, ValueRange inits, bool exact);
  void results(Operation *op, Block &from);
  void bind(Value to, Value from, bool counts = false);
  bool synchronise(Operation *op, const Scope &scope);
  void ringOp(::ts::protocol::Op op, Value resource, const Scope &scope);
  void ringOp(::ts::protocol::Op op, int resource, const Scope &scope);
  void barrier(Value resource, bool sync, const Scope &scope);
  bool warpLanes(int resource, ::ts::protocol::Op op) const;
  ThreadView stageOf(int resource, bool producer);
  ThreadNumber laneOffset(int64_t stageBits) const;
  void bodyViews(Operation *op);
  void declaredWork(Operation *op, const Scope &scope);
  ThreadView viewOf(Value memref);
  void subview(memref::SubViewOp op);
  void accesses(Operation *op, const Scope &scope);
  void whole(Operation *op, Value memref, bool write, ThreadAccess access);
  void element(Operation *op, Value memref, ValueRange indices, VectorType vector, bool write,
               ThreadAccess access);
  void indicesInside(MemRefType type, ValueRange indices, ThreadAccess access, int allocation);
  void remote(Operation *op, Value memref, ValueRange indices, bool write, const Scope &scope);
  void finish(ThreadAccess access, const ThreadView &view);
  void remember(const ThreadAccess &access);
  void electedArrival(MbarrierArriveOp op, const Scope &scope);
  bool waitsFor(Value barrier, int allocation, bool writes);
  void untraced(Value memref, bool write, const ThreadAccess &access);
  ThreadAccess start(Operation *op, const Scope &scope, bool together) const;
  llvm::BitVector warpsOf(const llvm::BitVector &threads) const;
  static bool piecesOf(MemRefType type, ArrayRef<int64_t> shape, bool tmem,
                       std::vector<std::pair<int64_t, int64_t>> &out);

  KernelContext &context;
  TaskOp task;
  int64_t replica;
  ::ts::schedule::Task &out;
  const StepMap &works;
  PathConditions &conditions;
  unsigned warps;
  std::optional<ThreadValues> values;
  std::optional<ThreadRaces> races;
  llvm::DenseMap<Value, ThreadView> views;
  std::map<std::pair<int, ::ts::protocol::Side>, RingSide> rings;
  llvm::DenseMap<Value, BarrierState> barriers;
  llvm::DenseMap<Value, Knowledge> arrived; ///< hand-written mbarriers and batons
  int64_t trips = 0, steps = 0;             ///< of loops whose count the launch decides
  int skippedTiles = 0;                     ///< of this walk: none, every second, all
  /// By operation: the last access in which the lanes of a warp act each for itself, in this walk.
  llvm::MapVector<Operation *, ThreadAccess> byLane;
  /// By barrier: allocations that some task touches after a wait for it, and whether to write.
  std::optional<std::set<std::tuple<void *, int, bool>>> waited;
  bool writesAndReads = false;        ///< only then its threads can surprise each other
  bool cut = false;                   ///< a walk was too long
  Operation *skipped = nullptr;       ///< a loop that makes no trip in this walk
  SmallVector<Operation *> openLoops; ///< whose count the launch decides
};

} // namespace mlir::ts::detail

#endif
