// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where everything in a CTA's shared and tensor memory goes: the plan that `ts-allocate` records as
// attributes, the verifier checks (TS226, TS229, TS230) and the reports print. Says nothing about
// what the barriers count (ts/Analysis/Protocol) or how they are initialised (the lowering).
#ifndef TS_DIALECT_TS_TRANSFORMS_ALLOCATION_H
#define TS_DIALECT_TS_TRANSFORMS_ALLOCATION_H

#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/IR/TS.h"

#include <string>

namespace mlir::ts {

//===-- What ts-allocate records -------------------------------------------------------------===//

// On ts.resource, array<i64>, one entry per allocation. Shared memory: byte offset of stage 0 in
// the CTA's dynamic shared memory, bytes from stage to stage. Tensor memory: columns. Stride 0:
// unstaged.
inline constexpr llvm::StringLiteral kOffsetsAttr = "ts.offsets";
inline constexpr llvm::StringLiteral kStridesAttr = "ts.strides";
// i64, byte offset of `stages` mbarriers of 8 bytes. On the op that owns that side's barriers: the
// resource or clc queue, or the ts.pipeline_group for the side that its members share.
inline constexpr llvm::StringLiteral kFullOffsetAttr = "ts.full_offset";
inline constexpr llvm::StringLiteral kEmptyOffsetAttr = "ts.empty_offset";
// On a clc ts.work_queue, i64: `stages` responses of 16 bytes.
inline constexpr llvm::StringLiteral kResponseOffsetAttr = "ts.response_offset";
// On ts.mbarrier, i64.
inline constexpr llvm::StringLiteral kMbarrierOffsetAttr = "ts.mbarrier_offset";
// On ts.named_barrier (one id) and ts.baton (one id per holder), array<i64> of ids 1..15.
inline constexpr llvm::StringLiteral kBarrierIdsAttr = "ts.barrier_ids";
// On ts.kernel, i64: dynamic shared memory in bytes; TMEM columns to allocate (power of two from
// 32, or 0); byte offset of the 4-byte slot that tcgen05.alloc writes (only with TMEM columns).
inline constexpr llvm::StringLiteral kSmemBytesAttr = "ts.smem_bytes";
inline constexpr llvm::StringLiteral kTmemColumnsAttr = "ts.tmem_columns";
inline constexpr llvm::StringLiteral kTmemSlotAttr = "ts.tmem_slot";

// On ts.kernel, recorded by ts-infer-pipelines. i64: warps to launch, padding included. array<i64>:
// registers per thread of each warpgroup (setmaxnreg), 0 where nobody asks; absent if nobody does.
inline constexpr llvm::StringLiteral kLaunchWarpsAttr = "ts.launch_warps";
inline constexpr llvm::StringLiteral kRegistersAttr = "ts.registers";

inline constexpr int64_t kMbarrierBytes = 8;
inline constexpr int64_t kClcResponseBytes = 16;
/// Alignment that the dynamic shared memory itself must have: the largest that a placement needs.
inline constexpr int64_t kSmemBaseAlignment = 1024;

//===-- The plan -----------------------------------------------------------------------------===//

enum class PlacementKind { Data, FullBarriers, EmptyBarriers, Responses, Mbarrier, TmemSlot };

/// One thing with a place. Shared memory counts in bytes, tensor memory in columns.
struct Placement {
  Operation *owner = nullptr; ///< resource, queue, group, mbarrier; the kernel for the TMEM slot
  int64_t index = 0;          ///< Data: number of the allocation
  PlacementKind kind = PlacementKind::Data;
  bool tmem = false;
  std::string name;    ///< "smem_ab.a", "smem_ab.full"
  int64_t offset = -1; ///< of stage 0
  int64_t size = 0;    ///< of one stage
  int64_t stride = 0;  ///< from stage to stage, 0 with one stage
  int64_t stages = 1;
  int64_t align = 1;
  bool pinned = false; ///< `at`, or in storage of the user's
  Operation *aliasGroup = nullptr;
  int64_t phase = -1; ///< of the alias group

  int64_t getExtent() const; ///< all stages; saturates far above any capacity
  int64_t getEnd() const;
};

struct AllocationPlan {
  bool valid = true; ///< false: something was reported
  SmallVector<Placement> placements;
  SmallVector<std::pair<Operation *, SmallVector<int64_t>>> barrierIds;
  int64_t smemBytes = 0, smemLimit = 0;
  int64_t tmemUsed = 0, tmemColumns = 0, tmemLimit = 0;
  int64_t tmemSlot = -1;

  const Placement *find(Operation *owner, PlacementKind kind, int64_t index = 0) const;
};

using EmitDiagnostic = llvm::function_ref<InFlightDiagnostic(Operation *)>;

/// Places everything of a kernel. Reports through `emit` (errors without one); a plan that is not
/// valid still has every placement that could be made, so that a report can show it.
AllocationPlan planAllocation(KernelOp kernel, EmitDiagnostic emit = nullptr);

/// The plan as a table, like a linker map; ends with a newline.
std::string formatMemoryMap(const AllocationPlan &plan, StringRef kernelName);

//===-- Warps and registers ------------------------------------------------------------------===//

struct WarpPlan {
  bool valid = true;
  int64_t launchWarps = 0;        ///< num_warps, or rounded up to whole warpgroups
  SmallVector<int64_t> registers; ///< per warpgroup, 0 = no setmaxnreg; empty if nobody asks
  int64_t entryRegisters = 0;     ///< per thread that a launch hands out when somebody asks
};

/// Warps to launch and the register budget of each warpgroup; reports TS225 through `emit`.
WarpPlan planWarps(KernelOp kernel, EmitDiagnostic emit = nullptr);

//===-- Limits -------------------------------------------------------------------------------===//

/// Dynamic shared memory that one CTA may have on the chip, in bytes; tensor memory columns.
/// An unknown or empty chip gets the largest (the verifier names unknown chips).
int64_t getMaxDynamicSmem(StringRef chip);
int64_t getMaxTmemColumns(StringRef chip);

/// Alignment in bytes that the swizzle and the engines of an allocation ask for, without the
/// user's.
int64_t getNaturalAlignment(MemRefType type, bool usedByTma);
} // namespace mlir::ts

#endif
