// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "Work.h"

#include "ts/Support/Saturating.h"

#include <algorithm>

namespace ts::reports {

using namespace schedule;
namespace p = protocol;

std::string_view name(Unit unit) {
  static constexpr std::string_view names[] = {
      "threads", "tensor core", "tma load", "tma store", "cp.async", "cluster launch control"};
  return names[size_t(unit)];
}

namespace {

/// What the accesses of one step amount to.
struct Moved {
  p::EngineSet engines = 0;
  bool writesStage = false; ///< something in shared or tensor memory
  bool readsGlobal = false;
  int64_t smem = 0; ///< bytes
  int64_t columns = 0;
  int64_t operands = 0; ///< bytes that a matrix instruction reads from shared memory
  bool exact = true;    ///< all parts of stages are known
};

Moved sum(const KernelInput &input, const std::vector<Access> &accesses) {
  Moved moved;
  for (const Access &access : accesses) {
    if (access.allocation < 0 || size_t(access.allocation) >= input.kernel.allocations.size())
      continue;
    moved.engines |= access.engine;
    int64_t size = std::max<int64_t>(access.size, 0);
    switch (input.kernel.allocations[size_t(access.allocation)].space) {
    case MemorySpace::Global:
      moved.readsGlobal |= !access.write;
      break;
    case MemorySpace::Smem:
      moved.exact &= access.exact;
      moved.smem = saturatingAdd(moved.smem, size);
      moved.writesStage |= access.write;
      if (!access.write)
        moved.operands = saturatingAdd(moved.operands, size);
      break;
    case MemorySpace::Tmem:
      moved.columns = saturatingAdd(moved.columns, size);
      moved.writesStage |= access.write;
      break;
    }
  }
  return moved;
}

/// Sums over all events of some periods stay within 64 bits.
int64_t cycles(double amount, int64_t perCycle) {
  constexpr double most = double(int64_t(1) << 40);
  return int64_t(std::clamp(amount / double(perCycle), 1.0, most));
}

} // namespace

std::vector<Job> jobsOf(const KernelInput &input, const Latencies &latencies, const Task &task,
                        const Step &step) {
  std::vector<Job> jobs;
  const Event &event = step.event;
  if (event.kind == EventKind::FetchTile)
    return {{Unit::Scheduler, latencies.issue, latencies.clcLatency}};
  if (event.accesses.empty()) {
    if (event.declared)
      jobs.push_back({Unit::Threads, latencies.work, 0});
    return jobs;
  }
  Moved moved = sum(input, event.accesses);
  auto known = input.amounts.find(step.loc);
  Amount amount = known == input.amounts.end() ? Amount() : known->second;
  if (amount.columns >= 0)
    moved.columns = amount.columns;
  if (!moved.exact && amount.bytes >= 0)
    moved.smem = saturatingMultiply(amount.bytes, task.warps);

  if (moved.engines & (p::EngineUmma | p::EngineWgmma))
    jobs.push_back({Unit::Tensor,
                    amount.matrix > 0 ? cycles(amount.matrix, latencies.matrixRate)
                                      : cycles(double(moved.operands), latencies.smemBytes),
                    latencies.matrixLatency});
  else if (moved.engines & p::EngineUtccp)
    jobs.push_back(
        {Unit::Tensor, cycles(double(moved.smem), latencies.smemBytes), latencies.matrixLatency});
  if (moved.engines & p::EngineTma) {
    bool load = moved.writesStage;
    jobs.push_back({load ? Unit::TmaLoad : Unit::TmaStore,
                    cycles(double(moved.smem), latencies.tmaBytes),
                    load ? latencies.tmaLatency : latencies.tmaStore});
  }
  if (moved.engines & p::EngineCpAsync)
    jobs.push_back(
        {Unit::CpAsync, cycles(double(moved.smem), latencies.tmaBytes), latencies.cpAsyncLatency});
  if (moved.engines & p::EngineClc)
    jobs.push_back({Unit::Scheduler, latencies.issue, latencies.clcLatency});
  if (moved.engines & (p::EngineTmemLoad | p::EngineTmemStore))
    jobs.push_back({Unit::Threads,
                    latencies.tmemLatency + cycles(double(moved.columns), latencies.tmemColumns),
                    0});
  if (moved.engines & p::EngineGeneric) {
    // Loads and stores of global memory go through the same port as bulk copies.
    int64_t time = moved.smem ? cycles(double(moved.smem), latencies.smemBytes) : 0;
    if (moved.readsGlobal)
      time += latencies.cpAsyncLatency;
    jobs.push_back({Unit::Threads, time, 0});
  }
  return jobs;
}

} // namespace ts::reports
