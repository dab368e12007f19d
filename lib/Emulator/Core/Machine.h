// One launch: the grid's clusters, the scheduler that moves them, global memory. Owned by Core; the
// instruction families use only what stands here as a service. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_MACHINE_H
#define TS_EMULATOR_CORE_MACHINE_H

#include "State.h"

#include <atomic>

namespace ts::emu {

/// Global memory of a device: allocations with guard gaps between them.
class GlobalMemory {
public:
  uint64_t allocate(uint64_t bytes, uint64_t align);
  void free(uint64_t address);
  uint8_t *find(uint64_t address, uint64_t bytes); // null: not inside one allocation
  struct Span {
    uint64_t address = 0, size = 0;
    uint8_t *bytes = nullptr;
  };
  Span around(uint64_t address); // the allocation that begins at or before it; empty if none does
  /// The allocation around or nearest to an address, for messages: "12 bytes behind an allocation
  /// of 4096 bytes".
  std::string describe(uint64_t address) const;
  std::mutex atomics; // read-modify-writes of different clusters take it

private:
  struct Block {
    uint64_t size = 0;
    std::unique_ptr<uint8_t[]> bytes;
  };
  std::map<uint64_t, Block> blocks;
  uint64_t next = globalStart();
  static uint64_t globalStart();
};

/// Work of the grid that has not started: CTAs are handed out by cluster, in order; CLC takes from
/// the same queue.
class GridQueue {
public:
  explicit GridQueue(uint64_t clusters) : total(clusters) {}
  /// The next cluster's linear id, or nothing.
  std::optional<uint64_t> take();
  /// The same for a running kernel (clusterlaunchcontrol.try_cancel): it will never be started.
  std::optional<uint64_t> cancel();
  bool empty() const { return nextCluster >= total; }
  uint64_t total;
  std::atomic<uint64_t> cancelled{0};

private:
  std::atomic<uint64_t> nextCluster{0};
};

/// griddepcontrol.launch_dependents by a CTA, counted once.
void releaseDependents(Cta &cta);

class GridOrder; // Check/GridOrder.h
class Tracer;

struct Machine {
  Tracer *tracer = nullptr; // null: no trace is wanted
  const Program *program = nullptr;
  const Code *entry = nullptr;
  const LaunchOptions *options = nullptr;
  std::vector<uint8_t> params; // as the kernel reads them
  GlobalMemory *global = nullptr;
  unsigned sms = 132;
  GridQueue *queue = nullptr;
  uint32_t gridClusters[3] = {1, 1, 1};
  // griddepcontrol across a sequence of launches
  const std::atomic<bool> *previousDone = nullptr; // null: there is none to wait for
  std::atomic<bool> done{false};                   // all of this launch has ended
  bool hasDependent = false;                       // a launch that may begin before this one ends
  std::atomic<bool> releases{false};               // a CTA of this launch said launch_dependents
  const std::atomic<bool> *previousReleases = nullptr;
  /// Null where grids cannot overlap, or races are not looked for.
  std::shared_ptr<GridOrder> withPrimary, withDependent;
  bool ordersGrids() const { return withPrimary || withDependent; }
  std::atomic<uint64_t> ctasReleased{0}; // CTAs that said launch_dependents or ended
  uint64_t totalCtas = 0;
  std::mutex printing;
  void print(std::string_view text); // device printf
};

std::unique_ptr<Cluster> makeCluster(Machine &machine, uint64_t id);

/// Exits may complete barriers that wait for everyone who is left.
void barriersAfterExit(Cta &cta);

/// What is wrong with a CTA's barriers and tensor memory when its last warp exits: faults.
void mbarriersAtExit(Cta &cta); // Barriers.cpp
void tmemAtExit(Cta &cta);

/// Branches: lanes of `taken` go to `target`, the other lanes of the split go on behind it.
void branch(struct Exec &x, uint32_t taken, uint32_t target);
/// Lanes of x.mask go each to its own target (brx.idx).
void branchTable(Exec &x, const std::array<uint32_t, warpSize> &targets);
void exitLanes(Exec &x, uint32_t lanes);
/// Enters `callee`: copies `arguments` (frame offsets in the caller) into its parameters.
void call(Exec &x, const Code &callee, const std::vector<uint32_t> &argumentOffsets,
          const std::vector<uint32_t> &returnOffsets);
/// The same where each lane has its function; those with the same one go together.
void callTable(Exec &x, const std::array<const Code *, warpSize> &callees,
               const std::vector<uint32_t> &argumentOffsets);
void returnLanes(Exec &x, uint32_t lanes);

/// A function that the system provides (vprintf, __assertfail): arguments and results are in the
/// caller's frame, per lane, at the given offsets. Null if there is none of that name.
using Builtin = void (*)(Exec &x, const std::vector<uint32_t> &arguments,
                         const std::vector<uint32_t> &results);
Builtin findBuiltin(std::string_view name);
/// Bytes of a lane's local memory (frames, spills, call parameters).
uint8_t *localBytes(Exec &x, unsigned lane, uint64_t offset, uint64_t bytes);
void copyLocal(Exec &x, unsigned lane, uint32_t to, uint32_t from, uint64_t bytes);

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_MACHINE_H
