// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verdicts: the general search, classes of launch values where it is not enough, and bounds.
#include "Balance.h"
#include "Search.h"

#include <algorithm>
#include <numeric>

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
  case FaultKind::Bounds:
    return "bounds";
  }
  return "";
}

std::string_view name(Rule rule) {
  constexpr std::string_view names[] = {"", "A1", "A2", "W1", "W2", "X"};
  return names[unsigned(rule)];
}

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
      // Beyond `most` it closes no more; what is beyond need not be exact.
      period = search.cyclic ? std::min(std::lcm(period, search.period), most + 1) : 1;
      if (closed >= period) {
        verdict.kind = Verdict::Kind::Proven;
        return true;
      }
    }
  }
  return false;
}

/// By the search alone; `imbalance` is what stands beside it.
Verdict decide(const schedule::Kernel &kernel, const Placement &placement, const Options &options,
               std::optional<Fault> &imbalance, bool widen = true) {
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
  imbalance = findImbalance(program);
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
    Verdict exact = decide(kernel, placement, options, imbalance, false);
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

/// An imbalance is the verdict where nothing comes of it, and the cause where something does.
Verdict judge(const schedule::Kernel &kernel, const Placement &placement, const Options &options) {
  std::optional<Fault> imbalance;
  Verdict verdict = decide(kernel, placement, options, imbalance);
  if (!imbalance)
    return verdict;
  if (verdict.kind != Verdict::Kind::Refuted) {
    verdict.kind = Verdict::Kind::Refuted;
    verdict.reason.clear();
    verdict.fault = std::move(imbalance);
    return verdict;
  }
  // Neither the bytes of a copy nor the order of grids depends on how often a ring is used.
  Fault &fault = *verdict.fault;
  if (fault.kind != FaultKind::Bytes && fault.kind != FaultKind::Pdl)
    fault.sites.push_back({imbalance->agent, imbalance->loc, std::move(imbalance->message)});
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
      Verdict verdict = judge(kernel, placement, again);
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

/// What the builder found among the threads of each task: a race or an index outside of its buffer
/// refutes what is otherwise fine, the rest is assumed. Replicas of a task say the same once.
void addThreadFindings(const schedule::Kernel &kernel, Verdict &verdict) {
  for (size_t number = 0; number < kernel.tasks.size(); ++number)
    for (const schedule::ThreadFinding &finding : kernel.tasks[number].threads) {
      if (!finding.race && !finding.outside) {
        if (std::find(verdict.assumptions.begin(), verdict.assumptions.end(), finding.text) ==
            verdict.assumptions.end())
          verdict.assumptions.push_back(finding.text);
        continue;
      }
      if (verdict.kind == Verdict::Kind::Refuted)
        continue;
      Fault fault;
      fault.kind = finding.outside ? FaultKind::Bounds : FaultKind::Race;
      fault.message = finding.text;
      fault.help = finding.help;
      fault.loc = finding.second;
      for (auto [loc, text] : {std::pair(finding.first, &finding.firstText),
                               std::pair(finding.second, &finding.secondText)})
        if (!text->empty())
          fault.sites.push_back({-1, loc, *text});
      verdict.kind = Verdict::Kind::Refuted;
      verdict.reason.clear();
      verdict.fault = std::move(fault);
    }
}

} // namespace

Verdict prove(const schedule::Kernel &kernel, const Placement &placement, const Options &options) {
  Verdict verdict = judge(kernel, placement, options);
  if (verdict.fault && options.findSafeMinimum)
    findSafeMinimum(kernel, placement, options, *verdict.fault);
  addThreadFindings(kernel, verdict);
  return verdict;
}

} // namespace ts::prover
