// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the explorer runs: one straight-line list of operations per agent (a task, or one warp of
// it, on one CTA), with every loop unrolled and every condition decided, and the memory accesses
// that they open. It knows mbarriers, engines and bytes, but no pipelines (Unroll.h) and no
// interleavings (Explorer.h). Hand-written programs in this form are the explorer's own tests.
#ifndef TS_TEST_ORACLES_PROGRAM_H
#define TS_TEST_ORACLES_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace ts::oracle {

/// Who performs an access, as far as it matters for order.
enum class Via : uint8_t {
  Thread, ///< over before the agent's next operation
  Held,   ///< of a thread, but open until a Close of the same key
  Group,  ///< asynchronous, ended by GroupWait of the same group kind
  Copy,   ///< asynchronous, ended by the bytes that it brings to a barrier
  Umma,   ///< asynchronous, ended by tcgen05.commit of the same agent
  CpAsync ///< asynchronous, ended by cp.async.mbarrier.arrive of the same agent
};

struct AccessInfo {
  int cta = 0;   ///< whose memory
  int space = 0; ///< disjoint address spaces
  int64_t begin = 0, end = 0;
  bool write = false;
  bool engine = false; ///< must have ended when the CTA exits
  Via via = Via::Thread;
  int agent = -1, task = -1;
  int64_t part = -1; ///< accesses of one task with equal part >= 0 are disjoint by warp
  std::string text;
};

enum class OpKind : uint8_t {
  Wait,          ///< parity wait on `barrier` for `gen`
  Try,           ///< one try_wait for it; on success the next Wait with the same hint is skipped
  Arrive,        ///< `count` arrivals on `barrier` meant for `gen`, after expect_tx(`bytes`)
  Open,          ///< a Thread, Held or Group access begins
  Close,         ///< Held accesses of `key` have ended
  GroupCommit,   ///< closes the open group of kind `key`
  GroupWait,     ///< all but the last `count` groups of kind `key` have ended
  Copy,          ///< asynchronous copies, one per target
  Umma,          ///< a tensor core operation begins
  UmmaCommit,    ///< an arrival on each target once all earlier Umma of the agent have ended
  CpAsync,       ///< a cp.async begins
  CpAsyncArrive, ///< likewise for CpAsync, with `count` arrivals
  PdlWait,
  PdlLaunch
};

struct Target {
  int barrier = -1;
  int64_t gen = 0;
  int64_t bytes = 0;
  std::vector<int> accesses;
};

struct Micro {
  OpKind kind = OpKind::Wait;
  int barrier = -1;
  int64_t gen = 0;
  int64_t count = 1;
  int64_t bytes = 0;
  int hint = -1; ///< Try and Wait: number of the hint within the agent, below 16
  int key = 0;
  std::vector<int> accesses;
  std::vector<Target> targets;
};

struct Agent {
  std::string name;
  int task = -1, cta = 0;
  std::vector<Micro> ops;
};

struct Barrier {
  std::string name;
  int cta = 0;
  int64_t count = 1;
  /// A named barrier: a sync cannot miss the generation that it arrived in.
  bool named = false;
  int64_t arrived = 0; ///< of generation 0, before anything runs
  bool hand = false;   ///< operations do not say which phase they are meant for
};

struct Program {
  std::vector<Agent> agents;
  std::vector<Barrier> barriers;
  std::vector<AccessInfo> accesses;
  int ctas = 1;
  /// Set where the source says something that the oracle has no meaning for.
  std::string unsupported;
  /// Roles of some ring use different numbers of slots.
  bool imbalanced = false;
  /// A try is followed by the blocking op of another slot.
  bool strayTry = false;
  /// A bracket of a fork acquires other members than the task does: which one arms is not said.
  bool strayFork = false;
};

//--- Verdicts -----------------------------------------------------------------------------------

enum class Kind : uint8_t { Bytes, Overrun, Deadlock, Race, Exit, Pdl };
constexpr unsigned numKinds = 6;
const char *name(Kind kind);

struct Verdict {
  bool tooLarge = false;
  std::string unsupported;
  unsigned kinds = 0; ///< bit per Kind; what follows an overrun is not looked at
  std::string witness[numKinds];
  size_t states = 0;

  bool has(Kind kind) const { return kinds >> unsigned(kind) & 1; }
  bool judged() const { return !tooLarge && unsupported.empty(); }
  bool safe() const { return judged() && !kinds; }
  std::string summary() const;
};

/// All interleavings of `program`, at most `maxStates` states. Where the bytes of some phase do not
/// balance, that is the verdict, and what happens beside it is only looked for with `pastBytes`.
Verdict explore(const Program &program, size_t maxStates = 400000, bool pastBytes = false);

std::string print(const Program &program);

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_PROGRAM_H
