// The state of the machine: launch, clusters, CTAs, warps and the splits of diverged lanes, with
// mbarriers and engines. Plain data plus what keeps it consistent; no instruction semantics.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_STATE_H
#define TS_EMULATOR_CORE_STATE_H

#include "../Check/Checker.h"
#include "Undefined.h"
#include "ts/Emulator/Emulator.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace ts::emu {

inline constexpr unsigned warpSize = 32;

class Op;
struct Machine; // one launch; Machine.h
struct Cluster;
struct Cta;
struct Warp;
class Engines;      // Engine.h
struct AsyncGroups; // Engines/Copy.h
struct WgmmaState;  // Matrix/Wgmma.h

/// A decoded function. Entry i stands for instruction i of the PTX body.
struct CodeEntry {
  std::unique_ptr<Op> op;
  int32_t guard = -1;
  bool guardNegated = false;
  uint32_t index = 0, form = 0; // in Code::entries; in Program::forms, for coverage
  bool polls = false;           // looks at what others change, or at the time: of a waiting loop
  ptx::Loc loc;
  const ptx::Instruction *source = nullptr;
  Flow flow;
  std::string refused; // why the decoder does not take it; executing it says so
};
struct Program;
struct Code {
  const Program *program = nullptr;
  const ptx::Function *function = nullptr;
  std::vector<CodeEntry> entries;
  uint32_t numRegisters = 0;            // 128-bit registers take two
  std::vector<uint32_t> registerSlot;   // ptx register -> first slot
  uint32_t localBytes = 0;              // .local and .param variables of a frame, per lane
  std::vector<uint32_t> variableOffset; // of Function::variables in the frame (local, param) or in
                                        // the CTA's static shared memory
  std::vector<uint32_t> paramOffset, returnOffset; // entry: in the parameter buffer; else frame
  uint32_t paramBytes = 0;                         // entry
  /// Entry: where the dynamic shared memory begins (behind the static variables), and its
  /// alignment.
  uint32_t dynamicOffset = 0;
};
struct Program {
  ptx::Module module;
  std::vector<std::unique_ptr<Code>> functions; // like module.functions
  std::vector<uint64_t>
      variableAddress;            // of module.variables: global/const address, or shared offset
  std::vector<std::string> forms; // names of instruction forms that occur
};

/// What a split waits for; only for reports and for deciding that nothing can move.
enum class WaitKind : uint8_t {
  None,
  Mbarrier,
  NamedBarrier,
  ClusterBarrier,
  WarpSync,
  Group,
  Tensor,
  Memory,
  Grid,
  Other
};
struct Wait {
  WaitKind kind = WaitKind::None;
  uint64_t subject = 0; // shared address of an mbarrier, id of a named barrier, ...
  uint32_t lanes = 0;   // that are here
  std::string text;     // "mbarrier smem_full[2]+0x28, parity 1: phase 4, 1 of 3 arrivals pending"
};

struct Frame {
  const Code *code = nullptr;
  std::shared_ptr<Frame> caller;
  uint32_t returnPc = 0;
  uint32_t entered = 0; // lanes that called; they return together or one split after the other
  std::vector<uint64_t> regs; // slot * 32 + lane
  uint32_t localBase = 0;     // of the frame in each lane's local memory
  uint32_t dynamicBytes = 0;  // behind the frame's own: alloca
  /// Registers that an engine writes or reads (wgmma accumulators, tcgen05.ld results): the name of
  /// the instruction that has to be waited for, by slot.
  uint32_t numInFlight = 0;
  std::unordered_map<uint32_t, const char *> inFlight;
  UndefinedRegisters undefined;
};

/// Lanes of a warp that run together.
struct Split {
  uint32_t mask = 0;
  uint32_t pc = 0;
  std::shared_ptr<Frame> frame;
  bool blocked = false;
  bool giveUp = false;    // time limit of a try_wait
  uint64_t blockedAt = 0; // Cluster::events when it blocked
  uint64_t resume = 0;    // op's own memory between runs of one blocked execution; 0 at first
  uint32_t backEdges = 0;
  Wait wait;
};

enum class SpecialReg : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  IsExplicitCluster,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtaRank,
  ClusterNctaRank,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
  DynamicSmemSize,
  TotalSmemSize,
  AggrSmemSize,
  ReservedSmem,
  Envreg,
  Pm,
};

struct HistoryEntry {
  const CodeEntry *code = nullptr;
  uint32_t mask = 0;
  uint64_t when = 0; // Cluster::steps
};

struct Warp {
  Cta *cta = nullptr;
  unsigned index = 0;
  AgentId agent = 0;
  uint32_t valid = 0;  // lanes that exist
  uint32_t exited = 0; // lanes that have ended
  uint32_t alive() const { return valid & ~exited; }
  std::vector<Split> splits;            // disjoint masks, together alive()
  std::vector<uint8_t> local;           // lane-major: lane * localBytes
  uint32_t localBytes = 0;              // per lane
  std::vector<uint8_t> localUndefined;  // 1 + origin for undefined bytes; empty before the first
  std::array<HistoryEntry, 16> history; // ring
  uint32_t historyNext = 0;
  uint64_t instructions = 0;
  uint32_t registers = 0; // setmaxnreg
  std::vector<UndefinedOrigin> undefinedOrigins;
  uint32_t carry = 0;                         // CC.CF of add.cc and its kin, a bit per lane
  std::shared_ptr<AsyncGroups> cpAsync, bulk; // made on first use
  uint32_t tcgen05Behind = 0; // its last event before the newest tcgen05.mma, cp or shift
  uint64_t tmemIssued = 0, tmemDone = 0; // tcgen05.ld and st, which take place in order
  ClockVector initsKnown;                // mbarrier.init published by relaxed cluster barriers
  // barrier.cluster: lanes that have arrived at the open generation, and that have not waited since
  uint32_t clusterArrived = 0, clusterPending = 0;
  std::unordered_map<const CodeEntry *, uint32_t> sites; // registered with the checker
  /// What its last fence makes its relaxed stores publish, and what its relaxed loads have seen
  /// published since the last fence.
  Clock fenced, observed;
};

/// One mbarrier object. Bit-exact contents do not matter to programs, so the state lives here,
/// keyed by (cta, offset); the 8 bytes in memory hold a marker so that overwriting is noticed.
struct Mbarrier {
  bool live = false;
  uint32_t count = 0;             // arrivals a phase expects
  uint32_t pending = 0;           // still missing in the open phase
  int64_t tx = 0;                 // bytes outstanding in the open phase
  uint64_t phase = 0;             // completed phases
  uint32_t site = 0;              // of the init
  uint32_t armed = 0, filled = 0; // sites of the last expect_tx and of the last bytes that came
  Event init;                     // whoever uses it has to know this
  Clock opening;                  // joined by the arrivals of the open phase
  Clock completed;                // of the last completed phase (with all before it)
  /// Places (checker sites) that arrived in the open and in the last phase, for the hang report.
  std::vector<uint32_t> arrivedSites, lastArrivedSites;
  uint32_t maxArrivals = 0; // to notice dropped and late arrivals
};

struct NamedBarrier {
  uint32_t expected = 0; // threads; 0 when idle
  bool everyone = false; // without a count: all threads of the CTA that have not exited
  uint32_t arrived = 0;
  uint64_t generation = 0;
  Clock opening, completed;
  uint32_t redAnd = 1, redOr = 0, redPopc = 0, redAndDone = 1, redOrDone = 0, redPopcDone = 0;
  std::vector<uint32_t> sites;
};

/// TMEM of a CTA: 128 lanes x 512 columns of 32 bits, and who allocated which columns.
struct Tmem {
  static constexpr unsigned lanes = 128, columns = 512;
  std::vector<uint32_t> cells; // lane * columns + column; empty until the first allocation
  struct Allocation {
    uint32_t column = 0, columns = 0;
    uint32_t site = 0;
    unsigned group = 1; // cta_group
  };
  std::vector<Allocation> allocations;
  bool permitGiven = false; // relinquish_alloc_permit
  uint32_t lastColumns = 0; // of the last tcgen05.alloc
  /// The allocation instructions this CTA has begun, in order: with cta_group::2 the n-th of one
  /// CTA of a pair meets the n-th of the other.
  struct Collective {
    enum class Kind : uint8_t { Alloc, Dealloc, Relinquish } kind = Kind::Alloc;
    uint32_t column = 0, columns = 0;
    Warp *warp = nullptr;
    uint32_t site = 0;
    bool done = false;
  };
  std::deque<Collective> collectives;
  uint32_t &cell(unsigned lane, unsigned column) { return cells[lane * columns + column]; }
};

struct Cta {
  Cluster *cluster = nullptr;
  unsigned rank = 0; // in the cluster
  uint32_t id[3] = {0, 0, 0};
  std::vector<uint8_t> shared; // sharedReserved + static + dynamic
  std::vector<std::unique_ptr<Warp>> warps;
  std::unordered_map<uint32_t, Mbarrier> mbarriers; // by offset
  std::array<NamedBarrier, 16> named;
  Tmem tmem;
  std::shared_ptr<WgmmaState> wgmma; // null before the first wgmma
  unsigned warpsAlive = 0;
  uint64_t linearId = 0;
  uint32_t dynamicOffset = 0;      // of the dynamic shared memory
  bool releasedDependents = false; // griddepcontrol.launch_dependents
};

struct ClusterBarrier {
  uint64_t generation = 0;
  Clock opening, completed;
  /// Relaxed arrivals publish nothing but mbarrier.init (fence.mbarrier_init before them).
  ClockVector openingInits, completedInits;
};

struct Cluster {
  Machine *machine = nullptr;
  uint64_t id = 0; // linear in the grid of clusters
  std::vector<std::unique_ptr<Cta>> ctas;
  ClusterBarrier barrier;
  Event primaryEnd; // the grid before has ended; whoever has waited for it knows
  std::vector<Event> launchControlFailed; // of requests that found nothing to cancel
  std::unique_ptr<Checker> checker;
  std::unique_ptr<Engines> engines;
  /// Counts everything that may let a blocked split go on: arrivals, completions, exits, ...
  uint64_t events = 0;
  uint64_t steps = 0;      // warp instructions and engine pieces so far
  uint64_t lastChange = 0; // `steps` at the last change of state that others can see
  void changed() {         // call it on every such change
    ++events;
    lastChange = steps;
  }
  Cta &cta(unsigned rank) { return *ctas[rank]; }
};

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_STATE_H
