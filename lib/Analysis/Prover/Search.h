// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search over trip counts, tiles and conditions: normalised quiescent states, fewest iterations
// first. Verdicts are made of its results in Prove.cpp.
#ifndef TS_PROVER_SEARCH_H
#define TS_PROVER_SEARCH_H

#include "Normalise.h"

#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace ts::prover {

/// One outcome on the way from the start to a state.
struct Outcome {
  int parent = -1;
  bool value = false;
  Choice choice;
  int serial = -1; ///< of a trip count
};

/// Over normalised quiescent states, fewest iterations first: the first fault is a smallest one.
class Search {
public:
  Search(const Program &program, const Options &options)
      : program(program), options(options), machine(program, options), normaliser(machine) {}

  enum class Result { Safe, Fault, Cut };
  Result run();

  Machine &engine() { return machine; }
  Fault takeFault();
  bool consistent() const;
  size_t states() const { return visited.size(); }
  /// Class mode, after a safe run: whether every exit of the class symbol's loops lay on a cycle of
  /// lockstep rounds, and the common length of these cycles.
  bool cyclic = true;
  int64_t period = 1;
  std::string why;
  int64_t covered = -1; ///< all runs with this many iterations in all were looked at

private:
  /// A choice still to be made, on a state that its two outcomes share.
  struct Node {
    std::shared_ptr<State> state;
    Decision decision;
    bool value = false;
    int outcome = -1;
    int64_t cost = 0; ///< iterations decided so far
  };

  bool settle(State &&state, int outcome, int64_t cost);
  bool goesOn(const State &state, const Decision &decision, int outcome) const;
  bool launchWide(const std::string &symbol) const;
  void finishRace(State &state, int &outcome);
  void probe(const State &state, const Decision &decision);
  std::vector<Outcome> path(int outcome) const;
  std::vector<Choice> choices(int outcome, bool &same) const;
  void replay(int outcome, Fault &fault);

  const Program &program;
  const Options &options;
  Machine machine;
  Normaliser normaliser;
  std::deque<Node> queue;
  std::vector<Outcome> outcomes;
  std::unordered_set<Digest, DigestHash> visited;
  int faultAt = -1;
  std::unordered_map<Digest, int64_t, DigestHash> cycles; ///< 0: on none
};

} // namespace ts::prover

#endif
