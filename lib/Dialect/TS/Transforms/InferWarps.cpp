// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warps that fill a started warpgroup, and the register budget that the tasks of a warpgroup share.
// Whether warp ranges overlap or stand where an instruction wants them is the verifier's check.
#include "ts/Dialect/TS/IR/HardwareLimits.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ts;

namespace {
constexpr int64_t kWarpgroupWarps = 4;
constexpr int64_t kRegisterFile = 64 * 1024; // per SM, so per CTA at most
constexpr int64_t kRegisterStep = 8;         // allocation unit per thread
constexpr int64_t kMaxThreadRegisters = 256; // 255 usable

bool needsWarpgroups(KernelOp kernel) {
  auto result = kernel.walk([](Operation *op) {
    if (auto task = dyn_cast<TaskOp>(op); task && task.getRegisters())
      return WalkResult::interrupt();
    return isa<WgmmaOp, TmemLoadOp, TmemStoreOp>(op) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
  });
  return result.wasInterrupted();
}
} // namespace

WarpPlan mlir::ts::planWarps(KernelOp kernel, EmitDiagnostic emit) {
  WarpPlan plan;
  plan.launchWarps = kernel.getNumWarps();
  if (!needsWarpgroups(kernel))
    return plan;
  plan.launchWarps = llvm::alignTo(plan.launchWarps, kWarpgroupWarps);
  int64_t groups = plan.launchWarps / kWarpgroupWarps;

  SmallVector<int64_t> registers(groups, 0);
  TaskOp first;
  for (auto task : kernel.getBodyBlock().getOps<TaskOp>()) {
    if (!task.getRegisters())
      continue;
    if (!first)
      first = task;
    int64_t begin = int64_t(task.getFirstWarp()), end = begin + int64_t(task.getNumWarps());
    for (int64_t group = begin / kWarpgroupWarps; group * kWarpgroupWarps < end; ++group)
      if (group < groups)
        registers[group] = std::max<int64_t>(registers[group], *task.getRegisters());
  }
  if (!first)
    return plan;
  // setmaxnreg stands once before the branch of a task, so the warpgroups of one task have one
  // budget.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto task : kernel.getBodyBlock().getOps<TaskOp>()) {
      int64_t begin = int64_t(task.getFirstWarp()) / kWarpgroupWarps;
      int64_t last =
          (int64_t(task.getFirstWarp()) + int64_t(task.getNumWarps()) - 1) / kWarpgroupWarps;
      for (int64_t group = begin + 1; group <= last && group < groups; ++group)
        if (registers[group] != registers[group - 1]) {
          registers[group] = registers[group - 1] =
              std::max(registers[group], registers[group - 1]);
          changed = true;
        }
    }
  }
  plan.registers = registers;

  // setmaxnreg takes from and gives to what the launch handed out. ptxas compiles a kernel with
  // setmaxnreg for all registers that its thread count allows.
  int64_t threads = plan.launchWarps * kWarpSize;
  plan.entryRegisters =
      std::min(kMaxThreadRegisters, kRegisterFile / threads / kRegisterStep * kRegisterStep);
  int64_t sum = 0;
  std::string text;
  for (int64_t budget : registers) {
    int64_t held = budget ? budget : plan.entryRegisters;
    sum += held;
    text += (text.empty() ? "" : " + ") + std::to_string(held);
  }
  int64_t pool = plan.entryRegisters * groups;
  if (sum <= pool)
    return plan;
  plan.valid = false;
  InFlightDiagnostic diag = emit ? emit(first) : emitError(first->getLoc());
  diag << "[TS225] the register budgets of the " << groups << " warpgroup(s) of kernel '"
       << kernel.getSymName() << "' add up to " << text << " = " << sum
       << " per thread, but the launch hands out " << plan.entryRegisters << " to each of "
       << threads << " threads, " << pool
       << " over all warpgroups, so setmaxnreg would wait for ever; lower the budgets by "
       << sum - pool << " in all";
  return plan;
}
