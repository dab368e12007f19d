// The canonical run: executes agents until each is done, blocked on a barrier or in need of a
// choice, and checks A1, A2, W1, W2, byte balance, races and the exit on the way. It makes no
// choices and knows nothing of normal forms. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_PROVER_MACHINE_H
#define TS_PROVER_MACHINE_H

#include "Program.h"

#include <array>
#include <memory>

namespace ts::prover {

/// Nesting of loops whose counters tell apart two visits of an inner loop.
constexpr int maxContext = 6;
/// An agent this far behind is frozen: its own position counts, not the distance.
constexpr int64_t maxLag = 12;
/// Trip counts up to here are remembered for agents that have not come to the loop yet; beyond,
/// such an agent meets a count of its own.
constexpr int64_t keptTrips = maxLag;

struct Frame {
  int64_t i = 0;
  int64_t total = -1; ///< -1: as far as its trip count is known
  int32_t trip = -1;  ///< serial of the trip count while total is -1
};

/// The trip count of one visit of the loops over one symbol.
struct Trip {
  int32_t serial = 0;
  int32_t symbol = 0;
  int32_t occurrence = 0;
  int32_t depth = 0; ///< entries of `context` in use
  int64_t tile = -1; ///< that the visit belongs to
  std::array<int64_t, maxContext> context{};
  int64_t cap = 0; ///< the count is at least this
  int64_t decided = -1;
};

/// Value of a condition, or of "above `limit`" of a symbol, in one tile or for the launch (tile
/// -1).
struct Known {
  int32_t what = 0;
  bool symbol = false;
  bool value = false;
  int64_t tile = -1;
  int64_t limit = 0;
};

struct BarrierState {
  int64_t completed = 0;
  int64_t pending = 1;
  int64_t tx = 0;
  int64_t armed = 0, issued = 0; ///< bytes of the open phase
  bool waited = false;           ///< somebody has looked at it in this run
  bool broken = false;           ///< a rule failed before: see State::held
};

enum class Status : uint8_t { Ready, Waiting, Done };

struct State {
  std::vector<int32_t> pc;
  std::vector<Status> status;
  std::vector<Frame> frames;
  std::vector<int64_t> variables;
  std::vector<BarrierState> barriers;
  Bits rows, active;
  /// Plain accesses since the last release of their own thread, of agents that engines arrive for:
  /// an engine's arrival does not order them.
  Bits fresh;
  std::vector<Trip> trips;
  std::vector<Known> known;
  int32_t nextSerial = 0;
  /// First race or early launch; an overrun after it counts more.
  std::shared_ptr<const Fault> race;
  /// Faults of barriers that nobody has waited for yet, by barrier: they count once somebody does.
  std::vector<std::pair<int32_t, std::shared_ptr<const Fault>>> held;
};

/// What an agent cannot go on without.
struct Decision {
  enum class Kind : uint8_t { None, Trip, Condition } kind = Kind::None;
  int trip = -1; ///< serial
  int condition = -1;
  int64_t tile = -1;
  std::array<int64_t, maxContext + 1> position{};
  int depth = 0;
  int agent = -1;
};

const Known *lookUp(const State &state, int condition, int64_t tile);
/// Whether a symbol is above `limit`, as far as the answers given so far say.
std::optional<bool> isAbove(const State &state, int symbol, int64_t limit, int64_t tile);
/// Where a symbol is the same for everybody.
inline int64_t scopeOf(const Symbol &symbol, int64_t tile) { return symbol.perTile ? tile : -1; }

class Machine {
public:
  Machine(const Program &program, const Options &options);

  State initial() const;
  /// Runs to quiescence. False: a fault other than a race was found (take it from fault()).
  bool run(State &state);
  /// After run(): what agents are parked at; nothing if all are done or stuck.
  const Decision &decision() const { return best; }
  bool allDone(const State &state) const;
  /// Judges a state in which nobody can go on: exit rule, byte balance, deadlock.
  void judgeEnd(State &state);

  /// Applies an outcome: trip counts take 0 (stop here) or 1 (at least one more).
  void decide(State &state, const Decision &decision, bool value) const;
  Choice describe(const State &state, const Decision &decision, bool value) const;
  /// A decision whose outcome is settled already (a declared minimum, a fixed trip count).
  std::optional<bool> forced(const State &state, const Decision &decision) const;

  std::optional<Fault> fault;
  std::vector<WitnessStep> *log = nullptr;
  size_t steps = 0;
  /// Whether to give up. run() may then stop anywhere, so that decision() means nothing.
  bool exhausted() const {
    return steps > options.maxSteps ||
           (options.cancelled && options.cancelled->load(std::memory_order_relaxed));
  }

  /// Class mode: every visit of the loops over `classSymbol` runs `classValue` times.
  int classSymbol = -1;
  int64_t classValue = 0;

  /// Exact mode: trip counts of launch symbols are given, per-tile ones are bounded.
  std::vector<int64_t> fixed;
  int64_t tripBound = -1;

  const Program &program;
  /// Innermost loop around each instruction, by agent; -1 for none.
  std::vector<std::vector<int32_t>> loopAt;
  std::vector<std::vector<int32_t>> loopParent;

  Word *row(State &state, int r) const { return state.rows.data() + size_t(r) * program.words; }
  const Word *row(const State &state, int r) const {
    return state.rows.data() + size_t(r) * program.words;
  }
  int openRow(int barrier) const { return program.barrierRow + 2 * barrier; }
  int lastRow(int barrier) const { return program.barrierRow + 2 * barrier + 1; }
  int64_t tileOf(const State &state, int agent) const;
  /// Trips of an agent's loop for one value of its symbol, from where it starts in this tile.
  int64_t trips(const State &state, int agent, const LoopInfo &info, int64_t value) const;
  const Trip *findTrip(const State &state, int serial) const;
  /// Whether somebody has yet to come to the visit that `trip` stands for.
  bool awaited(const State &state, const Trip &trip) const;
  void collectGarbage(State &state) const;

private:
  enum class Outcome : uint8_t { Next, Blocked, Parked, Fault };

  bool runAgent(State &state, int a);
  Outcome step(State &state, int a, const Instr &instr);
  Outcome head(State &state, int a, const Instr &instr);
  Outcome guard(State &state, int a, const Instr &instr);
  Outcome branch(State &state, int a, const Instr &instr);
  Outcome wait(State &state, int a, const Instr &instr, bool probe);
  Outcome arrive(State &state, int a, const Instr &instr);
  Outcome issue(State &state, int a, const Instr &instr);
  Outcome access(State &state, int a, const Instr &instr);
  Outcome handArrive(State &state, int a, const Instr &instr);
  Outcome handWait(State &state, int a, const Instr &instr);
  void groupWait(State &state, int a, const Instr &instr);
  void enter(State &state, int a, const Instr &instr);
  /// The symbol has this value in the visit that `frame` is in.
  void settle(State &state, int a, const LoopInfo &info, Frame &frame, int64_t value) const;
  bool complete(State &state, int barrier, int a, const Instr &instr);
  bool defer(State &state, int barrier);
  bool looksAt(State &state, int barrier);
  void publish(State &state, int a, int barrier, bool engine) const;
  void released(State &state, int a) const;
  bool land(State &state, int a, const Instr &instr, int barrier, int64_t generation,
            const char *what);
  void park(const State &state, int a, int loop, Decision decision);
  bool knows(const State &state, int a, int barrier, int64_t generation) const;
  void forget(State &state, int bit) const;
  /// Forgets the epochs in `retired` for good.
  void retire(State &state);
  void recordArrival(State &state, int a, int barrier, int epoch, bool async) const;
  void passed(State &state, int a, int barrier, int64_t generation, int epoch) const;
  bool hasPassed(const State &state, const Trip &trip, int a, int loop, bool orInside) const;
  int context(const State &state, int a, int loop, std::array<int64_t, maxContext> &out) const;
  void blame(FaultKind kind, Rule rule, int a, const Instr &instr, std::string message);
  void walkStuck(State &state);
  void nameWaker(const State &state, int barrier, BlockedAgent &blocked) const;
  bool mayStillIssue(const State &state, int barrier) const;
  void describeBlocked(const State &state, Fault &result) const;
  void write(const State &state, int a, const Instr &instr, bool blocked = false) const;
  bool badBytes(const State &state, int barrier, int a, const Instr &instr);

  const Options &options;
  std::vector<bool> engines; ///< by agent: engines arrive for it
  Decision best;
  std::vector<int> retired;                                             ///< scratch of complete()
  std::vector<std::vector<std::vector<std::pair<int, int>>>> loopsOver; ///< [symbol][occurrence]
};

} // namespace ts::prover

#endif
