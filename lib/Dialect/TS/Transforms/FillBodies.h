// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The classes behind ts-fill-bodies: KernelFiller knows the kernel's rings and the arguments that
// bodies need, TaskFiller walks one task, BodyWriter writes one body. What a declared call accesses
// is decided as in the schedule model (lib/Analysis/Schedule/BuilderAccess.cpp).
#ifndef TS_LIB_DIALECT_TS_TRANSFORMS_FILLBODIES_H
#define TS_LIB_DIALECT_TS_TRANSFORMS_FILLBODIES_H

#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ts::fill {

/// Patterns repeat after this many slots: more than any ring is deep, few enough for small tables.
inline constexpr int64_t kPatterns = 32;
/// One instruction's K in bytes; an A tile of 128 rows.
inline constexpr int64_t kStepBytes = 32;
inline constexpr int64_t kTileBytes = 128 * kStepBytes;

/// One access of a declared call: bytes of a shared-memory allocation, or the columns of one in
/// tensor memory.
struct Access {
  unsigned alloc = 0;
  bool write = false;
  ::ts::protocol::Engine engine = ::ts::protocol::EngineGeneric;
  int64_t offset = 0, size = 0;
  /// Of a multicast copy: along which dimensions of the cluster its CTAs each bring a part of it.
  std::array<bool, 2> multicast = {false, false};
};

struct Ring {
  ResourceOp op;
  std::optional<::ts::protocol::PipelineSpec> spec;
  int64_t index = 0;           ///< among the kernel's resources; shifts its patterns
  SmallVector<TaskOp> writers; ///< tasks that produce it with a body to be
  bool partly = false;         ///< a call declares effects, so not every word is written
  int64_t stageBytes = 0;      ///< of the allocations that its producer touches
  int64_t written = 0;         ///< of these, filled by a copy engine

  ResourceOp getOp() const { return op; } ///< ops' accessors are not const
  AllocAttr alloc(unsigned i) const { return cast<AllocAttr>(getOp().getAllocs()[i]); }
  bool tmem(unsigned i) const { return isTmem(alloc(i).getType()); }
};

class KernelFiller {
public:
  KernelFiller(KernelOp kernel, bool remarks) : kernel(kernel), remarks(remarks) {}

  LogicalResult run();

  Ring *ringOf(Value resource);
  SmallVector<Access> accessesOf(Operation *work, const Ring &ring);
  /// Tensor map of a table whose row r, split into `rows` lines of `width` bytes, holds r + 1.
  Value table(int64_t rows, int64_t width);
  /// The same for cp.async: one line of 16 bytes per row.
  Value lines() { return argument("fill_lines", lineType()); }
  /// Where copies out of shared memory go.
  Value sink() { return argument("fill_sink", sinkType()); }
  Value report() { return argument("fill_report", reportType()); }
  Value operand(OpBuilder &b, Operation *before, int64_t bytes);
  int64_t nextReport() { return reports++; }
  int64_t ctasPerMma() const { return cluster.ctasPerMma; }
  const ::ts::protocol::ClusterSpec &getCluster() const { return cluster; }
  /// CTAs that a multicast copy into the ring reaches along these dimensions.
  int64_t peersOf(const Ring &ring, std::array<bool, 2> multicast) const;
  void remark(Operation *at, const Twine &text) const {
    if (remarks)
      at->emitRemark() << "ts-fill-bodies: " << text;
  }

private:
  LogicalResult collect();
  void flatten(ResourceOp resource);
  void lendMemory(Ring &ring);
  Value argument(StringRef name, Type type);
  Type lineType();
  Type reportType();
  Type sinkType();

  KernelOp kernel;
  bool remarks;
  ::ts::protocol::ClusterSpec cluster;
  llvm::MapVector<Value, Ring> rings;
  llvm::StringMap<Value> arguments;
  ResourceOp operands; ///< scratch for products without an operand at hand
  int64_t reports = 0;
};

/// Position of one side of one ring (or group) in a task, counted in thread-private memory.
struct Counter {
  Value slot;                ///< pointer to i32: openings so far, minus one
  int64_t perGeneration = 1; ///< slots of this thread in one pass over the ring
};

class TaskFiller {
public:
  TaskFiller(KernelFiller &kernel, TaskOp task) : kernel(kernel), task(task) {}

  LogicalResult run();

  KernelFiller &kernel;
  TaskOp task;

  Counter counterOf(const Ring &ring, ::ts::protocol::Side side);
  /// Warps of the task work on one stage together, or each on its own.
  bool lanePerWarp(const Ring &ring, ::ts::protocol::Side side);
  /// Bytes of the current stage that copies of this bracket have covered.
  int64_t &covered(Value resource) { return filled[resource]; }
  /// Views of stages that a matrix operation at `op` has to read.
  LogicalResult operandsOf(ProduceOp op, SmallVectorImpl<Value> &views);

private:
  LogicalResult block(Block &block);
  LogicalResult operation(Operation &op);
  LogicalResult work(Operation &op);
  void step(Operation &op);
  void notRead(Value resource);
  SmallVector<Value> membersOf(Value resource);
  bool readByMatrix(const Ring &ring, ArrayRef<Access> accesses);
  bool clipMulticast(ProduceOp op, const Ring &ring, int64_t size,
                     SmallVectorImpl<Access> &accesses);
  LogicalResult passOn(ConsumeOp op, const Ring &ring, ArrayRef<Access> accesses);

  llvm::MapVector<std::pair<Value, int>, Counter> counters;
  llvm::SetVector<Value> held;                      ///< consumed stages
  llvm::MapVector<Value, Operation *> unread;       ///< declared reads that no product has made yet
  llvm::MapVector<Value, Operation *> early;        ///< of these, reads of stages that are not held
  llvm::DenseMap<Value, SmallVector<Value>> passed; ///< result of a consume -> its stage's views
  llvm::DenseMap<Value, int64_t> filled;
};

/// Writes the body of one work op.
class BodyWriter {
public:
  BodyWriter(TaskFiller &task, const Ring &ring, Operation *op);

  LogicalResult write(ArrayRef<Access> accesses, ArrayRef<Value> operands);
  /// Reads by threads what a matrix engine is declared to read.
  void readByThreads(ArrayRef<Access> accesses);
  Block *getBlock() { return body; }
  ImplicitLocOpBuilder b;

private:
  LogicalResult access(const Access &access, ArrayRef<Value> operands);
  LogicalResult copyByTma(const Access &access);
  LogicalResult storeByBulk(const Access &access);
  void copyLine(Value view, const Access &access, bool asynchronous);
  void compare(Value view, const Access &access);
  LogicalResult tensorMemory(const Access &access, Value view);
  LogicalResult multiply(Value d, ArrayRef<Value> operands);
  LogicalResult copyToTensorMemory(Value d, ArrayRef<Value> operands);
  void complain(Value wrong, Value found);
  Value expected(); ///< i32: the slot's byte in every byte
  Value row();      ///< i32: the slot's row of the tables
  LogicalResult refuse(const Twine &why);
  Value ofThisCta(ArrayRef<int64_t> byCta, Type type);

  Value index(int64_t value);
  Value i32(int64_t value);
  Value bytes(Value view, Value offset, ArrayRef<int64_t> shape, Type element);

  TaskFiller &task;
  KernelFiller &kernel;
  const Ring &ring;
  Operation *op;
  ::ts::protocol::Side side;
  Block *body = nullptr;
  Value rowValue, wordValue, thread;
  int64_t threads = 0;
  bool checked = false;
  int64_t id = -1;
};

} // namespace mlir::ts::fill

#endif
