// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The class that lowers one task: LowerScheduleTask.cpp walks its ops, LowerScheduleStep.cpp emits
// pipeline operations, LowerScheduleWork.cpp work bodies, LowerScheduleControl.cpp loops and
// branches. Pipeline positions are values in `state`, carried through loops and branches.
#ifndef TS_LIB_CONVERSION_TSTONVGPU_LOWERSCHEDULETASK_H
#define TS_LIB_CONVERSION_TSTONVGPU_LOWERSCHEDULETASK_H

#include "ScheduleLowering.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ts {

/// The pipeline operation that `op` is, with the resource it names.
std::optional<std::pair<Value, ::ts::protocol::Op>> protocolStep(Operation &op);

/// Adds a group and its members to the kernel's pipelines.
LogicalResult collectGroup(KernelValues &values, PipelineGroupOp group);

/// Finds the acquires of fork groups that another one follows in their bracket: a fork is armed at
/// the last.
LogicalResult markLastAcquires(KernelValues &values);

/// A queue that cluster launch control fills.
bool isDynamicQueue(Value queue);

/// Positions of one task in one side of one ring, as indices into TaskLowering::state. Stages and
/// parities are i32, hints i1. `opened` is the stage of the last opening op when that moves on.
struct SideState {
  int opening = -1; // stage; parity is the next one
  int closing = -1;
  int opened = -1;
  int hint = -1;
  bool opens = false, closes = false;
};

struct LoopInfo {
  Value iv, lower, upper, step; // index; no upper bound where the loop does not know it
};

class TaskLowering {
public:
  TaskLowering(OpBuilder &b, KernelValues &kernel, TaskOp task)
      : b(b), kernel(kernel), task(task), mapping(kernel.mapping) {}

  LogicalResult run();

private:
  using Key = std::pair<Value, ::ts::protocol::Side>;

  //--- LowerScheduleTask.cpp
  bool runsInOneThread();
  LogicalResult lowerBody();
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation &op);
  LogicalResult lowerBaton(Operation &op, BatonOp baton, bool take);
  LogicalResult lowerNamedBarrier(Operation &op, NamedBarrierOp barrier);
  LogicalResult lowerMbarrier(Operation &op, MbarrierOp barrier);
  LogicalResult lowerElect(ElectOp op);

  //--- LowerScheduleStep.cpp
  LogicalResult collectSides();
  void collectMutated(Operation &op, llvm::SetVector<int> &vars);
  FailureOr<Value> firstSlot(Value resource, ::ts::protocol::Op step);
  LogicalResult lowerStep(Operation &op, Value resource, ::ts::protocol::Op step);
  LogicalResult arm(Operation &op, const LoweredPipeline &pipeline,
                    const ::ts::protocol::ArriveStep &arrive, Value barrier);
  LogicalResult lowerArrival(Operation &op, const LoweredPipeline &pipeline,
                             const ::ts::protocol::Action &action, Value stage);
  FailureOr<Value> armedBytes(Operation &op, const LoweredPipeline &pipeline, bool perWarp);
  void fence(::ts::protocol::Fence fence);
  void drain();
  Value currentStage(Value resource, ::ts::protocol::Side side);
  Value barrierAddress(const LoweredPipeline &pipeline, ::ts::protocol::Barrier which, Value stage);
  /// Condition under which this thread is the one that acts; null: it is.
  Value executes(::ts::protocol::Executor who);
  /// Brings a warp together that an elected lane may have left behind.
  void converge();
  bool needsWarp(Operation &op);

  //--- LowerScheduleCluster.cpp
  ::ts::protocol::TaskRole roleFor(const LoweredPipeline &pipeline, ::ts::protocol::Op op);
  Value inCtas(Emitter &e, ::ts::protocol::CtaMask mask);
  Value waitsHere(Emitter &e, const LoweredPipeline &pipeline,
                  const ::ts::protocol::Action &action);
  Value ofThisCta(Emitter &e, ArrayRef<int64_t> byCta);
  static Value both(Emitter &e, Value x, Value y);
  SmallVector<::ts::protocol::CtaMask> targetsOf(const LoweredPipeline &pipeline,
                                                 ::ts::protocol::Barrier barrier);
  Value peerBarrier(Emitter &e, Value barrier, Value rank);
  void arriveAtPeers(Emitter &e, Value barrier, ArrayRef<::ts::protocol::CtaMask> masks,
                     llvm::function_ref<void(Value)> arrive);
  FailureOr<Value> completionBarrier(Operation &op, const LoweredPipeline &pipeline, Value barrier);

  //--- LowerScheduleGroup.cpp
  /// What `op` does on this pipeline; `at` tells several acquires of one bracket apart.
  ::ts::protocol::Action actionOf(const LoweredPipeline &pipeline, ::ts::protocol::Op op,
                                  Operation *at = nullptr);

  //--- LowerScheduleQueue.cpp
  Value firstTile(Emitter &e);
  Value responseAddress(Emitter &e, Value queue, Value stage);
  LogicalResult lowerFetchTile(FetchTileOp op);
  LogicalResult lowerNextTile(NextTileOp op);
  LogicalResult lowerDynamicTiles(TileLoopOp op, WorkQueueOp queue, ArrayRef<Value> tiles);

  //--- LowerScheduleWork.cpp
  LogicalResult lowerWork(Operation &op, Value resource, Region &body, ::ts::protocol::Side side);
  Value stageView(Operation &op, ResourceOp resource, unsigned index, Value stage);
  LogicalResult lowerInfo(InfoOp op);
  Value inFlight(Operation &op);
  FailureOr<Value> multicastMask(TmaLoadOp load);
  FailureOr<Value> copyBarrier(Operation &op);
  LogicalResult cloneOp(Operation &op);
  LogicalResult cloneElected(Operation &op);
  LogicalResult cloneNested(Operation &op);
  Value zeroUnless(Value written, Value loaded);

  //--- LowerScheduleControl.cpp
  LogicalResult lowerFor(ForOp op);
  LogicalResult lowerTileLoop(TileLoopOp op);
  LogicalResult lowerTile(TileLoopOp op, WorkQueueOp queue, ArrayRef<Value> tiles, Value tile);
  /// Emits `op` as an scf.for with its carried values and the positions it moves; `body` fills it.
  LogicalResult lowerLoop(Operation &op, LoopInfo info, ValueRange inits, Block &from,
                          unsigned firstCarried, Attribute unroll,
                          llvm::function_ref<LogicalResult(Value)> body);
  LogicalResult lowerBranch(Operation &op, Value condition, Region &body, Region *orelse);
  Value guardCondition(GuardOp op);

  int newVar(Value init) {
    state.push_back(init);
    return state.size() - 1;
  }
  Emitter at(Operation &op) { return Emitter(b, op.getLoc()); }
  SmallVector<Value> stateValues(ArrayRef<int> vars) {
    return llvm::map_to_vector(vars, [&](int var) { return state[var]; });
  }
  void setState(ArrayRef<int> vars, ValueRange values) {
    for (auto [var, value] : llvm::zip(vars, values))
      state[var] = value;
  }
  SmallVector<Value> mapped(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return mapping.lookupOrDefault(v); });
  }

  OpBuilder &b;
  KernelValues &kernel;
  TaskOp task;
  IRMapping mapping;
  SmallVector<Value> state;
  llvm::MapVector<Key, SideState> sides;
  SmallVector<LoopInfo> loops;
  Value warp;       // i32, within the replica
  Value thread;     // i32, within the replica
  Value replica;    // i32
  Value laneLeader; // i1: one lane per warp; null when the task runs in a single thread
  Value taskLeader; // i1: one thread of the replica; null likewise
  Value skipTile;   // i1, inside a tile loop with a skip predicate
  int nextTile = -1, nextValid = -1; // state of the dynamic tile loop: i32, i1
  bool singleThread = false;
  bool diverged = false;    // an elected lane may still be on its way
  bool ummaPerWarp = false; // every warp owns a lane of a ring and issues its own matrix operations
  bool asyncTmemLoads = false, bulkStores = false;
  // The work op being inlined, for ts.info and the barrier of copies.
  Value workResource;
  ::ts::protocol::Side workSide = ::ts::protocol::Side::Producer;
  int64_t callIndex = 0;
};

} // namespace mlir::ts

#endif
