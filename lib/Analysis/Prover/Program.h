// A kernel made flat: agents that run linear code on numbered barriers, and numbered epochs (last
// accesses, arrivals, passed waits) whose knowledge the machine tracks as bits. Everything that can
// be looked up is computed here once, so that a step of the machine allocates nothing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_PROVER_PROGRAM_H
#define TS_PROVER_PROGRAM_H

#include "Bits.h"
#include "ts/Analysis/Prover/Prover.h"

namespace ts::prover {

enum class Op : uint8_t {
  Enter,  ///< push the frame of loop `a`
  Head,   ///< one more iteration of loop `a`, or go to `target`
  Next,   ///< count the iteration, go to `target`
  Guard,  ///< of loop `a`, kind `b`, period `c`; where it does not hold, go to `target`
  Branch, ///< condition `a` equals `b`, else go to `target`
  Jump,
  Wait, ///< specification `a` in waits
  Try,
  Arrive,     ///< in arrives
  Issue,      ///< in issues: bytes complete on full barriers
  Access,     ///< in accesses
  Bind,       ///< variable `a` := variable `b` (+ `c`)
  Advance,    ///< variable `a` += `c`
  HandArrive, ///< in hands
  HandWait,
  GroupCommit, ///< queue `a` closes its open group
  GroupWait,   ///< queue `a`: all but the last `b` groups are known; `c`: their reads only
  Flush,       ///< everything in queue `a` is known
  PdlWait,
  PdlLaunch,
  Done
};

struct Instr {
  Op op = Op::Done;
  int32_t a = -1, b = 0, c = 0;
  int32_t target = -1;
  int32_t step = -1; ///< in the task's steps
};

/// Bits of one family of epochs: one per stage (and per generation mod 3 for arrivals).
struct Family {
  enum class Kind : uint8_t { Read, Write, Arrival, Wait, Pdl };
  Kind kind = Kind::Read;
  int base = 0, stages = 1;
  int unit = -1;    ///< rotation unit, -1: never rotated
  int barrier = -1; ///< barrier of stage 0, for arrivals and waits
  int agent = -1;
  int cta = 0;
  bool async = false;  ///< ends later than it is issued
  bool remote = false; ///< by an agent of another CTA
  int allocation = -1;
  int64_t offset = 0, size = 0;
  /// With a place that run-time numbers decide: which, and the bytes from there on. The stages of
  /// such a family are parts of one stage when `partStride` is set.
  int partBase = -1;
  int64_t partOffset = 0, partSize = 0, partStride = 0;
  int task = -1, step = -1; ///< the access, for messages
  int accessIndex = -1;
  int width() const { return kind == Kind::Arrival ? 3 * stages : stages; }
};

struct BarrierInfo {
  enum class Kind : uint8_t { Full, Empty, Hand, Named };
  Kind kind = Kind::Full;
  int cta = 0, resource = -1, stage = 0, stages = 1;
  int unit = -1;
  int64_t count = 1;
  int64_t preArrived = 0;
  std::vector<int> arrivals; ///< epochs of the sources, for generation 0 mod 3
  std::vector<int> waits;    ///< epochs of the waiters
  std::vector<int> users;    ///< agents that wait or arrive
};

/// A slot counter, or another number an agent keeps; relative to the ring it belongs to.
struct Variable {
  int unit = -1;
  int64_t stages = 1;
  int64_t start = 0;
  int resource = -1;
  bool absolute = false; ///< a number of its own, not a slot
};

struct WaitSpec {
  int barrier = -1; ///< of stage 0
  int64_t stages = 1;
  int offset = 0;    ///< generation waited for, relative to the slot's
  int slot = -1;     ///< variable
  int64_t ahead = 0; ///< drains look at later slots
  int epoch = -1;    ///< of stage 0, one per stage
  int tried = -1;    ///< variable with the slot that was probed, -1: never probed
  bool drain = false;
  int resource = -1;
  bool producer = false;
};

struct ArriveSpec {
  struct Target {
    int barrier = -1, epoch = -1;
    int64_t bytes = 0; ///< armed
  };
  std::vector<Target> targets;
  int64_t count = 1;
  int64_t stages = 1;
  int slot = -1;
  int queue = -1;      ///< pending accesses that the arrival waits for
  bool async = false;  ///< arrives later, by an engine
  bool copies = false; ///< by cp.async: says nothing about other accesses of the thread
  bool full = false;
  int resource = -1;
};

struct IssueSpec {
  struct Target {
    int barrier = -1, epoch = -1;
    int64_t bytes = 0;
  };
  std::vector<Target> targets;
  int64_t stages = 1;
  int slot = -1;
  int onlyIf = -1; ///< variable that must equal the slot (work was issued in this bracket)
  int resource = -1;
};

struct AccessSpec {
  int family = -1;
  int64_t stages = 1;
  int slot = -1;             ///< variable, -1: unstaged
  int queue = -1;            ///< where it is pending, -1: ends at once
  std::vector<int> barriers; ///< of stage 0: phases that publish it (bulk copies into the stage)
  int64_t barrierStages = 1;
  int barrierSlot = -1;
  /// Instead of a slot: ((sum of scale * iteration + shift) / divisor) mod stages.
  std::vector<std::pair<int, int64_t>> parts; ///< loops of the agent, with their scale
  int64_t partShift = 0, partDivisor = 1;
};

struct HandSpec {
  int barrier = -1, epoch = -1;
  int64_t count = 0; ///< arrivals, 0: only waits
  int64_t bytes = 0;
  bool waits = false; ///< after arriving
  int waited = -1;    ///< variable: generation being waited for
  int waitEpoch = -1;
  schedule::Parity parity;
  bool parityWait = false;
  int loop = -1; ///< of the agent, for the parity
};

struct Symbol {
  std::string name;
  bool perTile = false;
  bool tiles = false; ///< number of tiles of a queue
  int64_t min = 0;
  int64_t modulus = 1;   ///< of the loop steps
  int64_t limits = 1;    ///< bit l: somebody asks whether it is above l; above 0 counts always
  bool constant = false; ///< stands for a large constant
  schedule::Bound bound;
};

struct LoopInfo {
  int symbol = -1; ///< -1: constant
  int64_t constant = 0;
  schedule::Loop loop; ///< trips(symbol value)
  int depth = 0;       ///< frame number
  int occurrence = 0;  ///< among the loops of this symbol in one iteration around
  int exitPc = 0;
  int64_t modulus = 1; ///< of the counter, for periodic guards and parities
  bool first = false;  ///< guards or parities look at the position
  bool tile = false;
  bool widened = false; ///< a long constant: symbol + offset
  int64_t offset = 0;
  int carried = -1; ///< variable with the start, where that goes on from tile to tile
  int64_t trips(int64_t value) const;
  /// Where the bounds are known but the start is carried: trips from there, and the next start.
  int64_t tripsFrom(int64_t start, int64_t value) const;
  int64_t nextStart(int64_t start, int64_t value) const;

private:
  int64_t end(int64_t value) const;
};

/// "n > limit" is followed up to here; a larger limit is a condition of its own.
constexpr int64_t maxLimit = 8;

struct ConditionInfo {
  std::string name;
  bool perTile = true;
  bool free = false; ///< every evaluation is a choice of its own
  int symbol = -1;   ///< "symbol > limit" of this symbol
  int64_t limit = 0; ///< at most maxLimit
};

struct Queue {
  enum class Kind : uint8_t { Order, Groups };
  Kind kind = Kind::Order;
  int row = -1; ///< Order: one row. Groups: open group, then the last `depth`, then the rest
  int depth = 0;
  int rows() const { return kind == Kind::Order ? 1 : depth + 2; }
};

struct Agent {
  std::string name;
  int task = -1, cta = 0, warps = 1;
  bool leader = true;
  int lane = -1; ///< warp within the task where each has its own slots
  std::vector<Instr> code;
  std::vector<LoopInfo> loops;
  int frames = 0, frameBase = 0; ///< deepest nesting; first frame in the state
  int variableBase = 0;
  std::vector<Variable> variables;
  std::vector<Queue> queues;
  std::vector<WaitSpec> waits;
  std::vector<ArriveSpec> arrives;
  std::vector<IssueSpec> issues;
  std::vector<AccessSpec> accesses;
  std::vector<HandSpec> hands;
  std::vector<Bits> live; ///< live variables before each instruction
  int pdlEpoch = -1;
};

struct EpochInfo {
  int family = -1;
  int16_t stage = 0;
  int8_t generation = 0;
};

struct Unit {
  bool rotates = true;
  int64_t stages = 1;
};

struct Program {
  const schedule::Kernel *kernel = nullptr;
  int ctas = 1;
  std::vector<Agent> agents;
  std::vector<BarrierInfo> barriers;
  std::vector<Family> families;
  std::vector<EpochInfo> epochs;
  std::vector<Symbol> symbols;
  std::vector<ConditionInfo> conditions;
  std::vector<Unit> units;
  size_t words = 1; ///< of a row
  int rows = 0;     ///< agents first, then queues, then two per barrier
  int barrierRow = 0;
  std::vector<Bits> conflicts;   ///< by epoch: accesses that must be known; empty for the others
  std::vector<Bits> relevant;    ///< by agent: epochs that some check of its own asks for
  std::vector<Bits> ownAccesses; ///< by agent: accesses of its threads that end at once
  std::vector<Bits> exitMask;    ///< by CTA
  std::vector<Bits> pdlWaits;    ///< by CTA
  Bits sourceReads;              ///< reads by bulk stores: what wait_group.read ends
  bool anyPdlWait = false;
  int frameCount = 0, variableCount = 0;
  std::vector<std::string> assumptions;
  std::string refused; ///< why the kernel cannot be judged, if so

  const schedule::Step &stepOf(const Agent &agent, int step) const {
    return kernel->tasks[size_t(agent.task)].steps[size_t(step)];
  }
  schedule::LocId locOf(const Agent &agent, int step) const {
    return step < 0 ? kernel->tasks[size_t(agent.task)].loc : stepOf(agent, step).loc;
  }
};

/// With `widen`, long constant loops become trip counts of any length from `widenedMin`: what holds
/// for all of them holds for the constant, at a cost that does not depend on it.
Program elaborate(const schedule::Kernel &kernel, const Placement &placement,
                  const Options &options, bool widen);
constexpr int64_t widenedFrom = 64, widenedMin = 24;

std::string describeBarrier(const Program &program, int barrier);
/// "k = 2, causal is true in tile 0", without what any launch has.
std::string describeChoices(const std::vector<Choice> &choices);
std::string describeAccess(const Program &program, int family, int stage);
std::string describeInstr(const Program &program, const Agent &agent, const Instr &instr,
                          int64_t slot);

} // namespace ts::prover

#endif
