// The schedule model: a kernel as plain data, for the verifier, the prover and the reports. Tasks
// are trees of steps in an arena, so that no walk and no destructor has to recurse. It knows
// neither MLIR (Builder.h fills it in) nor what a barrier operation means (ts/Analysis/Protocol).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_SCHEDULE_MODEL_H
#define TS_ANALYSIS_SCHEDULE_MODEL_H

#include "ts/Analysis/Protocol/Types.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ts::schedule {

using LocId = int32_t;  ///< opaque place in the source, -1 for none; Builder.h maps it back
using StepId = int32_t; ///< index into Task::steps

/// Nesting that is followed; deeper programs are refused with a message.
constexpr int maxDepth = 64;
/// Steps of one task (replicas counted once each) that are followed.
constexpr size_t maxSteps = size_t(1) << 20;

//--- Values -------------------------------------------------------------------------------------

/// scale * symbol + offset. Equal symbols mean equal run-time values: the same launch argument, the
/// same expression over one tile's coordinates.
struct Bound {
  enum class Kind : uint8_t { Constant, Argument, PerTile, Unknown };
  Kind kind = Kind::Constant;
  int64_t scale = 0;
  int64_t offset = 0;
  std::string symbol;
  std::optional<int64_t> min; ///< declared smallest value of the symbol

  static Bound constant(int64_t value) { return {Kind::Constant, 0, value, "", {}}; }
  bool isConstant() const { return kind == Kind::Constant; }
  bool operator==(const Bound &) const = default;
};

/// What a `when` asks. `key` is the user's correlation key or the canonical text of the condition;
/// `positive` is set where the condition is "this trip count is above zero".
struct Condition {
  std::string key;
  bool userKey = false;
  bool shared = false; ///< same value in all tasks (launch argument, tile, key)
  bool expected = true;
  std::optional<Bound> positive;
  std::optional<uint64_t> ctas; ///< it asks for the CTA's rank: ranks for which it is true
  /// With a user's key: where equal, the values are equal because they come about in the same way;
  /// "?..." means nothing beyond one warp.
  std::string origin;
};

/// Operand of a hand-written mbarrier wait: ((scale * k + offset) / divisor) mod 2 for iteration k
/// of `loop`, or a carried value that starts at `offset` and flips with every iteration.
struct Parity {
  enum class Kind : uint8_t { Constant, Linear, Flips, Unknown };
  Kind kind = Kind::Unknown;
  StepId loop = -1;
  int64_t scale = 0, offset = 0, divisor = 1;
  std::string text; ///< of an unknown one
};

//--- Memory -------------------------------------------------------------------------------------

enum class MemorySpace : uint8_t { Global, Smem, Tmem };

struct Allocation {
  std::string name;
  int resource = -1; ///< -1: a kernel argument in global memory
  MemorySpace space = MemorySpace::Smem;
  int64_t bytes = 0;   ///< of one stage; shared and global memory
  int64_t columns = 0; ///< of one stage; tensor memory
  unsigned swizzle = 0;
  int64_t align = 0;
  int64_t at = -1; ///< pinned place, or -1
  bool staged = true;
  LocId loc = -1;
};

/// A part of a stage that is chosen at run time. Two accesses of one role with the same `base` lie
/// at `offset` from the same unknown place; of `count` parts, `stride` apart, the iterations choose
/// number ((sum of scale * iteration + shift) / divisor) mod count.
struct Part {
  bool known = false;
  std::string base;
  int64_t offset = 0, size = 0;
  int64_t count = 1, stride = 0;
  std::vector<std::pair<StepId, int64_t>> terms; ///< loop and scale
  int64_t shift = 0, divisor = 1;
  bool operator==(const Part &) const = default;
};

/// Bytes of a stage that one warp of a role touches, in one iteration of the loops around.
struct WarpPlace {
  int cta = 0, warp = 0;
  int64_t begin = 0, size = 0;
  bool sure = false; ///< it gets there, and touches or may touch every one of the bytes
  auto operator<=>(const WarpPlace &) const = default;
};

/// One access of an engine to the stage that a work call sees.
struct Access {
  int allocation = -1;
  int64_t offset = 0; ///< bytes, or columns of tensor memory, within one stage
  int64_t size = 0;
  bool exact = true; ///< false: the whole stage stands for an unknown part
  Part part;         ///< what is known of that part
  bool placesKnown = false;
  std::vector<WarpPlace> places; ///< where it is known for each warp and CTA
  /// CTAs that a copy reaches, by the CTA that issues it, if they are known.
  std::vector<protocol::CtaMask> lands;
  bool write = false;
  protocol::Engine engine = protocol::EngineGeneric;
  /// The work call whose stage view is used and its side: an operand may come from an earlier
  /// consume, then the slot is the one of that call.
  protocol::Side side = protocol::Side::Consumer;
  StepId via = -1;
  bool carried = false;  ///< the view came over a loop back edge: the slot of an earlier iteration
  bool remote = false;   ///< in a peer CTA's memory
  bool inFlight = false; ///< a tensor memory load that only a later wait completes
  LocId loc = -1;
};

/// Bytes that copies bring to the full barrier, per path; summed over the warps of the task. Of a
/// work call those of its own copies; of an acquire those of its whole phase, if they are known and
/// the same in all phases.
struct IssuedBytes {
  bool known = true;                               ///< false: depends on values that are not known
  std::vector<protocol::IssuedBytes> alternatives; ///< distinct; empty means none issued
};

//--- Steps --------------------------------------------------------------------------------------

enum class EventKind : uint8_t {
  TryAcquire,
  Acquire,
  Commit,
  TryWait,
  Wait,
  Release,
  FetchTile,
  NextTile,
  GridDepWait,
  GridDepLaunch,
  Take,
  Pass,
  Produce,
  Consume, ///< a work call; its sub-steps stand in Step::body
  Access,  ///< engine or thread accesses inside work or at task level
  BarrierSync,
  BarrierArrive,
  MbarrierArrive,
  MbarrierWait,
  ClusterSync,
  WgmmaCommit,
  WgmmaWait,
  BulkCommit,
  BulkWait,
  CpAsyncCommit,
  CpAsyncWait,
  TmemWait,
  WarpSync,
  Fence
};

struct Event {
  EventKind kind = EventKind::Access;
  int resource = -1;
  std::string label; ///< of a work call; kind of a fence
  bool aux = false;
  bool declared = false; ///< work without a body
  bool elected = false;  ///< executed by some threads only: an elected one, or under a thread test
  std::vector<Access> accesses;
  IssuedBytes issued;
  int64_t pending = 0;              ///< groups that may stay in flight
  bool readOnly = false;            ///< bulk_wait read: only the sources are done
  std::optional<int64_t> expect;    ///< transaction bytes of a hand-written arrive
  std::optional<int64_t> remoteCta; ///< rank of the peer that an arrive goes to, if constant
  bool remote = false;              ///< goes to a peer
  std::optional<Parity> parity;     ///< of a hand-written wait
};

enum class LoopKind : uint8_t { Domain, Tile, Inner };

struct Loop {
  LoopKind kind = LoopKind::Domain;
  int queue = -1;
  Bound lower, upper, step = Bound::constant(1);
  /// Trip count where all bounds are constant.
  std::optional<int64_t> constantTrips;
  int64_t minTrips = 0; ///< what the declared minima guarantee
  /// The first iteration of a tile follows the last step of the tile before: `lower` is the start
  /// in the first tile, (start - upper) mod step that of the next. Then `constantTrips` is not set.
  bool carriesOn = false;
  /// Number of trips for one value of the bound's symbol; nothing if it is not computable from it.
  std::optional<int64_t> trips(int64_t symbolValue) const;
};

enum class GuardKind : uint8_t { First, Last, Every, NotFirst, NotLast };

struct Guard {
  GuardKind kind = GuardKind::First;
  int64_t period = 1;
  StepId loop = -1; ///< the loop it speaks of, -1: none (a fault of check 108)
};

enum class StepKind : uint8_t { Event, Loop, Guard, When, Skippable, Branch };

struct Step {
  StepKind kind = StepKind::Event;
  StepId parent = -1;
  Event event;
  Loop loop;
  Guard guard;
  Condition condition; ///< When, Branch (scf.if inside work)
  std::vector<StepId> body, orelse;
  LocId loc = -1;
};

/// What threads of one task do to each other or to what lies beyond their buffer: a race, an index
/// outside, or what had to be taken for granted.
struct ThreadFinding {
  bool race = false;
  bool outside = false; ///< one thread reaches beyond its buffer
  std::string text;     ///< one clause
  std::string help;
  LocId first = -1, second = -1;
  std::string firstText, secondText; ///< the two accesses of a race
};

/// One role: a task, or one replica of it.
struct Task {
  std::string name;   ///< "softmax[1]" for a replica
  std::string source; ///< as written
  int replica = 0, replicas = 1;
  int64_t firstWarp = 0, warps = 1;
  std::optional<int64_t> registers, onlyCta;
  std::vector<int> reads, writes;
  std::vector<Step> steps;
  std::vector<StepId> body;
  std::vector<ThreadFinding> threads; ///< order among its own threads, decided by the builder
  LocId loc = -1;
};

//--- Kernel -------------------------------------------------------------------------------------

enum class ResourceKind : uint8_t { Memory, Queue, Pdl, Baton, NamedBarrier, Mbarrier, Group };

struct Resource {
  std::string name;
  ResourceKind kind = ResourceKind::Memory;
  bool gmem = false, barrierOnly = false;
  std::optional<protocol::PipelineSpec> pipeline;
  std::vector<int> allocations;
  int group = -1;           ///< pipeline group it is a member of
  std::vector<int> members; ///< of a group
  protocol::GroupMode mode = protocol::GroupMode::Merge;
  bool clc = false, skips = false; ///< queue
  int throttle = -1;               ///< queue
  int64_t holders = 0, first = 0;  ///< baton
  int64_t count = 0;               ///< threads of a named barrier, arrivals of an mbarrier
  std::optional<int64_t> id;       ///< pinned named barrier
  LocId loc = -1;
};

struct Dependency {
  int downstream = -1, upstream = -1;
  bool ordering = false;
  LocId loc = -1;
};

struct AliasGroup {
  std::string name;
  std::vector<std::vector<int>> phases; ///< resources
  LocId loc = -1;
};

struct Kernel {
  std::string name, chip;
  int64_t warps = 1;
  protocol::ClusterSpec cluster;
  bool tripsPerTile = false;
  std::vector<Resource> resources;
  std::vector<Allocation> allocations;
  std::vector<Dependency> dependencies;
  std::vector<AliasGroup> aliasGroups;
  std::vector<Task> tasks;
  LocId loc = -1;
};

/// The model as text, one step a line; what --test-print-schedule prints.
std::string print(const Kernel &kernel);
std::string toString(const Bound &bound);
std::string_view name(EventKind kind);
std::string_view name(GuardKind kind);

/// The barrier operation that an event is, if it is one of the six.
std::optional<protocol::Op> barrierOp(EventKind kind);

} // namespace ts::schedule

#endif // TS_ANALYSIS_SCHEDULE_MODEL_H
