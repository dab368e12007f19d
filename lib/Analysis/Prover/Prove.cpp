// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search over trip counts, tiles and conditions, and the verdict that comes of it.
#include "Machine.h"
#include "Normalise.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace ts::prover {

std::string_view name(Verdict::Kind kind) {
  constexpr std::string_view names[] = {"proven", "proven up to a bound", "refuted", "unknown"};
  return names[unsigned(kind)];
}

std::string_view name(FaultKind kind) {
  switch (kind) {
  case FaultKind::Deadlock:
    return "deadlock";
  case FaultKind::Race:
    return "race";
  case FaultKind::Overrun:
    return "overrun";
  case FaultKind::Bytes:
    return "bytes";
  case FaultKind::Exit:
    return "exit";
  case FaultKind::Pdl:
    return "pdl";
  case FaultKind::Imbalance:
    return "imbalance";
  }
  return "";
}

std::string_view name(Rule rule) {
  constexpr std::string_view names[] = {"", "A1", "A2", "W1", "W2", "X"};
  return names[unsigned(rule)];
}

namespace {

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

} // namespace

/// A race is reported unless an overrun on the shortest way to the end makes the run meaningless.
void Search::finishRace(State &state, int &outcome) {
  size_t limit = machine.steps + 200000;
  while (!machine.fault && machine.decision().kind != Decision::Kind::None &&
         machine.steps < limit) {
    Decision decision = machine.decision();
    bool value = machine.forced(state, decision).value_or(false);
    outcomes.push_back({outcome, value, machine.describe(state, decision, value),
                        decision.kind == Decision::Kind::Trip ? decision.trip : -1});
    outcome = int(outcomes.size()) - 1;
    machine.decide(state, decision, value);
    machine.run(state);
  }
  if (!machine.fault && machine.decision().kind == Decision::Kind::None)
    machine.judgeEnd(state);
  if (!machine.fault)
    machine.fault = *state.race;
}

/// Does a loop over the class symbol, about to stop here, come back to this very state when it goes
/// on instead? Then it could stop as well any number of such rounds later.
void Search::probe(const State &state, const Decision &decision) {
  constexpr int64_t rounds = 16;
  const Trip *trip = machine.findTrip(state, decision.trip);
  if (!trip || trip->symbol != machine.classSymbol)
    return;
  if (trip->cap == 0) {
    cyclic = false;
    return;
  }
  State next = state;
  machine.collectGarbage(next);
  Digest start = normaliser.digest(next);
  auto [it, fresh] = cycles.try_emplace(start, 0);
  if (fresh) {
    for (int64_t i = 1; i <= rounds; ++i) {
      machine.decide(next, decision, true);
      machine.run(next);
      if (machine.fault || machine.decision().kind != Decision::Kind::Trip ||
          machine.decision().trip != decision.trip)
        break;
      machine.collectGarbage(next);
      if (normaliser.digest(next) == start) {
        cycles[start] = i;
        break;
      }
    }
    machine.fault.reset();
    // Leave the machine as it was found: parked at this decision.
    State again = state;
    machine.run(again);
  }
  int64_t found = cycles[start];
  cyclic &= found > 0;
  if (found > 0)
    period = std::lcm(period, found);
}

/// Runs on until a real choice, the end or a fault. False: a fault.
bool Search::settle(State &&state, int outcome, int64_t cost) {
  machine.run(state);
  while (!machine.fault && machine.decision().kind != Decision::Kind::None) {
    Decision decision = machine.decision();
    std::optional<bool> value = machine.forced(state, decision);
    if (!value)
      break;
    if (!*value && cyclic)
      probe(state, decision);
    outcomes.push_back({outcome, *value, machine.describe(state, decision, *value),
                        decision.kind == Decision::Kind::Trip ? decision.trip : -1});
    outcome = int(outcomes.size()) - 1;
    machine.decide(state, decision, *value);
    machine.run(state);
    if (machine.steps > options.maxSteps)
      break;
  }
  if (machine.steps > options.maxSteps)
    return true;
  // A race stands for every longer run too, unless something worse comes of it.
  const int raceAt = outcome;
  const std::shared_ptr<const Fault> race = state.race;
  if (!machine.fault && race)
    finishRace(state, outcome);
  if (!machine.fault && machine.decision().kind == Decision::Kind::None)
    machine.judgeEnd(state);
  if (machine.fault) {
    faultAt = race && machine.fault->kind == race->kind ? raceAt : outcome;
    return false;
  }
  if (machine.decision().kind == Decision::Kind::None)
    return true;
  machine.collectGarbage(state);
  if (!visited.insert(normaliser.digest(state)).second)
    return true;
  // Stopping costs nothing, going on one iteration: the first fault is one of the smallest counts.
  Decision decision = machine.decision();
  auto shared = std::make_shared<State>(std::move(state));
  queue.push_front({shared, decision, false, outcome, cost});
  Node more{std::move(shared), decision, true, outcome, cost};
  if (decision.kind == Decision::Kind::Trip) {
    ++more.cost;
    queue.push_back(std::move(more));
  } else {
    queue.push_front(std::move(more));
  }
  return true;
}

Search::Result Search::run() {
  if (!settle(machine.initial(), -1, 0))
    return Result::Fault;
  while (!queue.empty()) {
    if (visited.size() > options.maxStates || machine.steps > options.maxSteps) {
      why = "the search visits more than " + std::to_string(options.maxStates) + " states";
      return Result::Cut;
    }
    Node node = std::move(queue.front());
    queue.pop_front();
    outcomes.push_back({node.outcome, node.value,
                        machine.describe(*node.state, node.decision, node.value),
                        node.decision.kind == Decision::Kind::Trip ? node.decision.trip : -1});
    State next = node.state.use_count() == 1 ? std::move(*node.state) : *node.state;
    machine.decide(next, node.decision, node.value);
    covered = node.cost - 1;
    if (!settle(std::move(next), int(outcomes.size()) - 1, node.cost))
      return Result::Fault;
  }
  if (machine.steps > options.maxSteps) {
    why = "the search takes more than " + std::to_string(options.maxSteps) + " steps";
    return Result::Cut;
  }
  return Result::Safe;
}

std::vector<Outcome> Search::path(int outcome) const {
  std::vector<Outcome> result;
  for (; outcome >= 0; outcome = outcomes[size_t(outcome)].parent)
    result.push_back(outcomes[size_t(outcome)]);
  std::reverse(result.begin(), result.end());
  return result;
}

/// The values that a path fixes; `same` tells whether equal symbols got equal values everywhere.
std::vector<Choice> Search::choices(int outcome, bool &same) const {
  same = true;
  std::vector<std::pair<int, Choice>> bySerial;
  for (const Outcome &step : path(outcome)) {
    if (step.serial < 0) {
      bySerial.push_back({-1, step.choice});
      continue;
    }
    auto it = std::find_if(bySerial.begin(), bySerial.end(),
                           [&](const auto &entry) { return entry.first == step.serial; });
    if (it == bySerial.end()) {
      bySerial.push_back({step.serial, step.choice});
    } else {
      // A count that was settled for some and is still open for others.
      same &= it->second.atLeast;
      it->second = step.choice;
    }
  }
  std::vector<Choice> result;
  for (auto &[serial, choice] : bySerial) {
    auto symbol = std::find_if(program.symbols.begin(), program.symbols.end(),
                               [&](const Symbol &s) { return s.name == choice.name; });
    if (choice.isTrip && symbol != program.symbols.end() && !symbol->perTile)
      choice.tile = -1;
    auto known = std::find_if(result.begin(), result.end(), [&](const Choice &c) {
      return c.name == choice.name && c.tile == choice.tile;
    });
    if (known == result.end()) {
      result.push_back(choice);
      continue;
    }
    if (!choice.isTrip)
      continue;
    // Two visits of one symbol have to agree.
    const Choice a = *known;
    const Choice &b = choice;
    bool agree = a.atLeast && b.atLeast ? true
                 : a.atLeast            ? b.value >= a.value
                 : b.atLeast            ? a.value >= b.value
                                        : a.value == b.value;
    same &= agree;
    if (a.atLeast)
      *known = b.atLeast && b.value < a.value ? a : b;
  }
  for (size_t s = 0; s < program.symbols.size(); ++s)
    if (machine.fixed[s] >= 0)
      result.push_back({program.symbols[s].name, machine.fixed[s], false, -1, true});
  return result;
}

bool Search::consistent() const {
  bool same = true;
  choices(faultAt, same);
  return same;
}

void Search::replay(int outcome, Fault &fault) {
  Machine again(program, options);
  again.fixed = machine.fixed;
  again.classSymbol = machine.classSymbol;
  again.classValue = machine.classValue;
  again.tripBound = machine.tripBound;
  again.log = &fault.steps;
  State state = again.initial();
  again.run(state);
  for (const Outcome &step : path(outcome)) {
    if (again.fault || again.decision().kind == Decision::Kind::None)
      break;
    Decision decision = again.decision();
    again.decide(state, decision, step.value);
    again.run(state);
  }
  if (!again.fault && !state.race && again.decision().kind == Decision::Kind::None)
    again.judgeEnd(state);
}

Fault Search::takeFault() {
  Fault fault = std::move(*machine.fault);
  machine.fault.reset();
  bool same;
  fault.choices = choices(faultAt, same);
  for (const Choice &choice : fault.choices) {
    // A launch that hands out any tile does; more than one is worth saying.
    bool tiles = choice.isTrip && choice.name.starts_with("number of tiles");
    if (choice.isTrip && choice.atLeast && choice.value <= (tiles ? 1 : 0))
      continue;
    if (!fault.when.empty())
      fault.when += ", ";
    if (choice.isTrip)
      fault.when += choice.name + (choice.atLeast ? " >= " : " = ") + std::to_string(choice.value);
    else
      fault.when += choice.name + (choice.value ? " is true" : " is false");
    if (choice.tile >= 0)
      fault.when += " in tile " + std::to_string(choice.tile);
  }
  if (options.witness)
    replay(faultAt, fault);
  return fault;
}

//--- Verdicts -----------------------------------------------------------------------------------

namespace {

/// The general search is given up for classes of launch values beyond this size.
constexpr size_t statesBeforeClasses = 200;

void fillStatistics(Verdict &verdict, const Program &program, Search &search) {
  verdict.statistics.agents = program.agents.size();
  verdict.statistics.barriers = program.barriers.size();
  verdict.statistics.epochs = program.epochs.size();
  for (const Agent &agent : program.agents)
    verdict.statistics.instructions += agent.code.size();
  verdict.statistics.states += search.states();
  verdict.statistics.steps += search.engine().steps;
}

/// Every launch value up to a bound, each on its own: where the general search had to let two loops
/// over one value run apart and found a fault only there.
void searchBounded(const Program &program, const Options &options, Verdict &verdict) {
  std::vector<size_t> launch;
  bool perTile = false;
  for (size_t s = 0; s < program.symbols.size(); ++s) {
    if (program.symbols[s].tiles)
      continue;
    if (program.symbols[s].perTile)
      perTile = true;
    else
      launch.push_back(s);
  }
  int64_t bound = options.maxBound;
  if (launch.size() + perTile > 1)
    bound = std::max<int64_t>(2, bound / int64_t(2 * (launch.size() + perTile)));
  verdict.bound = bound;
  std::vector<int64_t> values(launch.size(), 0);
  for (size_t i = 0; i < launch.size(); ++i)
    values[i] = program.symbols[launch[i]].min;
  for (;;) {
    Search search(program, options);
    search.engine().tripBound = perTile ? std::min<int64_t>(bound, 4) : bound;
    for (size_t i = 0; i < launch.size(); ++i)
      search.engine().fixed[launch[i]] = values[i];
    Search::Result result = search.run();
    verdict.statistics.states += search.states();
    verdict.statistics.steps += search.engine().steps;
    if (result == Search::Result::Fault) {
      verdict.kind = Verdict::Kind::Refuted;
      verdict.fault = search.takeFault();
      return;
    }
    if (result == Search::Result::Cut) {
      verdict.kind = Verdict::Kind::Unknown;
      verdict.reason = search.why;
      return;
    }
    size_t i = 0;
    for (; i < launch.size(); ++i) {
      if (++values[i] <= program.symbols[launch[i]].min + bound)
        break;
      values[i] = program.symbols[launch[i]].min;
    }
    if (i == launch.size())
      break;
  }
  verdict.kind = Verdict::Kind::ProvenUpTo;
  verdict.reason = "loops over one value run one after the other and have to agree on it";
}

/// One launch value that all tiles and loops share: its values one by one, until a full period of
/// them closes (every loop could have gone round once more and been in the same state). False:
/// undecided.
bool searchClasses(const Program &program, const Options &options, Verdict &verdict) {
  constexpr int64_t most = 48;
  for (size_t s = 0; s < program.symbols.size(); ++s) {
    const Symbol &symbol = program.symbols[s];
    if (symbol.tiles || symbol.perTile)
      continue;
    int64_t period = 1, closed = 0;
    for (int64_t value = symbol.min; value <= symbol.min + most; ++value) {
      Search search(program, options);
      search.engine().classSymbol = int(s);
      search.engine().classValue = value;
      Search::Result result = search.run();
      verdict.statistics.states += search.states();
      verdict.statistics.steps += search.engine().steps;
      if (result == Search::Result::Cut)
        break;
      if (result == Search::Result::Fault) {
        if (!search.consistent())
          break;
        verdict.kind = Verdict::Kind::Refuted;
        verdict.fault = search.takeFault();
        return true;
      }
      closed = search.cyclic ? closed + 1 : 0;
      period = search.cyclic ? std::lcm(period, search.period) : 1;
      if (closed >= period) {
        verdict.kind = Verdict::Kind::Proven;
        return true;
      }
    }
  }
  return false;
}

Verdict decide(const schedule::Kernel &kernel, const Placement &placement, const Options &options,
               bool widen = true) {
  Verdict verdict;
  Program program = elaborate(kernel, placement, options, widen);
  bool widened = std::any_of(program.symbols.begin(), program.symbols.end(),
                             [](const Symbol &symbol) { return symbol.constant; });
  for (const Agent &agent : program.agents)
    verdict.agents.push_back(agent.name);
  if (!program.refused.empty()) {
    verdict.reason = program.refused;
    return verdict;
  }
  verdict.assumptions = program.assumptions;
  for (const Symbol &symbol : program.symbols)
    if (!symbol.constant)
      verdict.symbols.push_back(
          symbol.name + (symbol.min > 0 ? " >= " + std::to_string(symbol.min) : std::string()));
  for (const ConditionInfo &condition : program.conditions)
    if (condition.symbol < 0)
      verdict.symbols.push_back(condition.name);
  // Tiles with a trip count each are the harder case; where the launch fixes it, try that soon.
  bool launch =
      std::any_of(program.symbols.begin(), program.symbols.end(), [](const Symbol &symbol) {
        return !symbol.tiles && !symbol.perTile && !symbol.constant;
      });
  Options first = options;
  if (launch)
    first.maxStates = std::min(first.maxStates, statesBeforeClasses);
  std::optional<Search> general(std::in_place, program, first);
  Search::Result result = general->run();
  fillStatistics(verdict, program, *general);
  if (launch && !widened &&
      (result == Search::Result::Cut ||
       (result == Search::Result::Fault && !general->consistent()))) {
    if (searchClasses(program, options, verdict))
      return verdict;
    if (result == Search::Result::Cut) {
      general.emplace(program, options);
      result = general->run();
      fillStatistics(verdict, program, *general);
    }
  }
  Search &search = *general;
  // What fails for some long loop need not fail for this one.
  if (widened && result != Search::Result::Safe) {
    Verdict exact = decide(kernel, placement, options, false);
    exact.statistics.states += verdict.statistics.states;
    exact.statistics.steps += verdict.statistics.steps;
    return exact;
  }
  switch (result) {
  case Search::Result::Safe:
    verdict.kind = Verdict::Kind::Proven;
    break;
  case Search::Result::Cut:
    verdict.reason = search.why;
    if (search.covered > 0) {
      verdict.kind = Verdict::Kind::ProvenUpTo;
      verdict.bound = search.covered;
      verdict.reason += "; the bound counts the iterations of all loops and tiles together";
    }
    break;
  case Search::Result::Fault:
    if (!search.consistent()) {
      searchBounded(program, options, verdict);
      break;
    }
    verdict.kind = Verdict::Kind::Refuted;
    verdict.fault = search.takeFault();
    break;
  }
  return verdict;
}

/// Smallest declared minimum of one trip count with which the kernel is safe.
void findSafeMinimum(const schedule::Kernel &kernel, const Placement &placement,
                     const Options &options, Fault &fault) {
  constexpr int64_t tries = 8;
  constexpr size_t mostSteps = 300000; // it is only a hint
  size_t steps = 0;
  for (const Choice &choice : fault.choices) {
    if (!choice.isTrip || choice.name.starts_with("number of tiles"))
      continue;
    Options again = options;
    again.findSafeMinimum = again.witness = false;
    again.minima.push_back({choice.name, 0});
    int64_t from = choice.value + 1;
    for (int64_t least = from; least < from + tries && steps < mostSteps; ++least) {
      again.minima.back().second = least;
      Verdict verdict = decide(kernel, placement, again);
      steps += verdict.statistics.steps;
      if (verdict.kind == Verdict::Kind::Proven) {
        fault.safeFrom = least;
        fault.safeSymbol = choice.name;
        return;
      }
      if (verdict.kind != Verdict::Kind::Refuted)
        break;
      // Jump to behind the next unsafe value.
      for (const Choice &next : verdict.fault->choices)
        if (next.name == choice.name && next.isTrip) {
          if (next.atLeast)
            least = from + tries;
          else
            least = std::max(least, next.value);
        }
    }
  }
}

} // namespace

Verdict prove(const schedule::Kernel &kernel, const Placement &placement, const Options &options) {
  Verdict verdict = decide(kernel, placement, options);
  if (verdict.fault && options.findSafeMinimum)
    findSafeMinimum(kernel, placement, options, *verdict.fault);
  return verdict;
}

} // namespace ts::prover
