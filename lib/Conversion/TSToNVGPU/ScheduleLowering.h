// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parts of ts-lower-schedule share: the kernel's values (shared memory, thread identity),
// and the class that lowers one task. The pass itself is LowerSchedule.cpp.
#ifndef TS_LIB_CONVERSION_TSTONVGPU_SCHEDULELOWERING_H
#define TS_LIB_CONVERSION_TSTONVGPU_SCHEDULELOWERING_H

#include "Emit.h"

#include "mlir/IR/IRMapping.h"
#include "ts/Analysis/Protocol/Protocol.h"
#include "ts/Dialect/TS/IR/TS.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::ts {

/// One resource with a pipeline (or a group), as the lowering sees it.
struct LoweredPipeline {
  ::ts::protocol::PipelineSpec spec;
  ::ts::protocol::Participants by;
  int64_t fullOffset = 0, emptyOffset = 0; // of the barrier arrays, in dynamic shared memory
  /// A side that a group shares is initialised once, with the group.
  bool ownsFull = true, ownsEmpty = true;
  Value group;                                      // of a member
  unsigned member = 0;                              // its number there
  std::optional<::ts::protocol::GroupSpec> members; // of a group
};

/// Values and tables of one kernel, made by its prologue.
struct KernelValues {
  KernelOp kernel;
  IRMapping mapping;        // kernel arguments and kernel-level values
  Value smem;               // !llvm.ptr<3>, start of dynamic shared memory
  Value smemBytes;          // the same as memref<?xi8, workgroup>
  Value tmemBase;           // i32, none without tensor memory
  Value thread, warp, lane; // i32, in the CTA; `warp` is warp-uniform
  Value ctaRank;            // i32, in the cluster; none outside of clusters
  int64_t ctaGroup = 1;     // CTAs that issue matrix products together, 1 or 2
  llvm::DenseMap<Value, LoweredPipeline> pipelines;
  ::ts::protocol::ClusterSpec cluster;
  llvm::DenseSet<Operation *> notLastAcquire; // of a bracket of a fork group
  llvm::DenseSet<Operation *>
      warned; // matrix operations whose loop may leave accumulators unwritten
};

/// On the gpu.func and then llvm.func: numbers of the parameters that are tensor maps.
inline constexpr llvm::StringLiteral kTensorMapArgsAttr = "ts.tensor_map_args";

/// On the same functions: single-precision denormals are flushed, function-wide.
inline constexpr llvm::StringLiteral kFlushDenormalsAttr = "ts.flush_denormals";

/// On an scf.for made from a ts.for that asks for unrolling: the factor.
inline constexpr llvm::StringLiteral kUnrollAttr = "ts.unroll";

/// Why a kernel cannot be lowered: an error [TS404] at `op`.
InFlightDiagnostic emitUnsupported(Operation *op);

/// Lowers one task's schedule at the builder's insertion point; the task's warps execute it.
LogicalResult lowerTask(OpBuilder &b, KernelValues &values, TaskOp task);

/// Condition under which the accumulators a TMEM resource's consumers read were ever written, for
/// producers that overwrite in the first iteration of a loop whose trip count may be zero; null
/// when they always are. `b` is where the kernel's arguments are visible.
Value writtenCondition(OpBuilder &b, KernelValues &values, Value resource);

/// The same for the accumulators in `loaded`, the result of a tensor memory load or of the work
/// around it. Fails with an error at `at` where they may belong to several resources.
FailureOr<Value> writtenCondition(OpBuilder &b, KernelValues &values, Operation *at, Value loaded);

/// The kernel's entry in the launch manifest, as JSON text (docs/manifest.schema.json).
std::string manifestOf(KernelOp kernel, int64_t threads);

} // namespace mlir::ts

#endif
