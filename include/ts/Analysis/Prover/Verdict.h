// What the prover says about a kernel: proven, proven up to a bound, refuted with a witness, or
// unknown with the reason. The four are never merged. No text layout here (see the clients).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_PROVER_VERDICT_H
#define TS_ANALYSIS_PROVER_VERDICT_H

#include "ts/Analysis/Schedule/Model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ts::prover {

/// The numbers are those of the checks: TS301 and so on.
enum class FaultKind : unsigned {
  Deadlock = 301,
  Race = 302,
  Overrun = 303,
  Bytes = 304,
  Exit = 305,
  Pdl = 306,
  Imbalance = 307,
  Bounds = 308
};

/// The conformance rule that an overrun breaks.
enum class Rule : uint8_t { None, A1, A2, W1, W2, X };

/// One value that the witness fixes: a trip count, a condition, a skipped tile.
struct Choice {
  std::string name;
  int64_t value = 0;
  bool atLeast = false; ///< the fault stands for this and every larger value
  int64_t tile = -1;    ///< tile it belongs to, -1: the whole launch
  bool isTrip = false;  ///< a trip count, not a condition
};

/// One executed step of the witness run; the table has one column per agent.
struct WitnessStep {
  int agent = -1;
  schedule::LocId loc = -1;
  std::string text; ///< "acquire ab #4"
  bool blocked = false;
};

struct BlockedAgent {
  int agent = -1;
  schedule::LocId loc = -1;
  std::string waitsFor; ///< "a free stage of 'ab' (use 4, stage 0 of 4)"
  /// The step elsewhere that would let it go on, if there is one, and why it does not come.
  int wakerAgent = -1;
  schedule::LocId wakerLoc = -1;
  std::string waker;
};

/// One side of a race or of an imbalance; also an imbalance that another fault comes of.
struct AccessSite {
  int agent = -1;
  schedule::LocId loc = -1;
  std::string text; ///< "write of smem_ab.a by tma, stage 0, bytes [0, 16384)"
};

struct Fault {
  FaultKind kind = FaultKind::Deadlock;
  Rule rule = Rule::None;
  std::string message; ///< one clause, lower case, no full stop
  std::string help;    ///< what to do about this one; empty: what the kind suggests
  int agent = -1;
  schedule::LocId loc = -1;
  std::vector<AccessSite> sites;
  std::vector<BlockedAgent> blocked;
  std::vector<Choice> choices;
  std::vector<WitnessStep> steps;
  /// "tiles_k >= 5" or "tiles_k = 0"; empty where the fault needs no particular value.
  std::string when;
  /// Smallest value of a trip count from which on the kernel is safe.
  std::optional<int64_t> safeFrom;
  std::string safeSymbol;
};

struct Statistics {
  size_t agents = 0, barriers = 0, instructions = 0, epochs = 0;
  size_t states = 0, steps = 0;
};

struct Verdict {
  enum class Kind : uint8_t { Proven, ProvenUpTo, Refuted, Unknown };
  Kind kind = Kind::Unknown;
  std::string reason;                   ///< of Unknown; why the bound of ProvenUpTo
  int64_t bound = 0;                    ///< of ProvenUpTo: largest trip count that was covered
  std::optional<Fault> fault;           ///< of Refuted
  std::vector<std::string> symbols;     ///< trip counts and choices that the proof ranges over
  std::vector<std::string> assumptions; ///< what was taken for granted, one clause each
  std::vector<std::string> agents;      ///< names of the columns
  Statistics statistics;
};

std::string_view name(Verdict::Kind kind);
std::string_view name(FaultKind kind);
std::string_view name(Rule rule);

} // namespace ts::prover

#endif // TS_ANALYSIS_PROVER_VERDICT_H
