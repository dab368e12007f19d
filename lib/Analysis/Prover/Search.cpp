// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Search.h"

#include <algorithm>
#include <numeric>

namespace ts::prover {

/// Whether the visit that is to be decided goes on where it has to agree with what the path to
/// `outcome` says of the same trip count: a run with two counts for one value shows nothing.
bool Search::goesOn(const State &state, const Decision &decision, int outcome) const {
  if (decision.kind != Decision::Kind::Trip)
    return false;
  Choice here = machine.describe(state, decision, false);
  for (; outcome >= 0; outcome = outcomes[size_t(outcome)].parent) {
    const Outcome &step = outcomes[size_t(outcome)];
    if (step.serial >= 0 && step.serial != decision.trip && step.choice.name == here.name &&
        (step.choice.tile == here.tile || launchWide(here.name)) && here.value < step.choice.value)
      return true;
  }
  return false;
}

bool Search::launchWide(const std::string &symbol) const {
  return std::any_of(program.symbols.begin(), program.symbols.end(),
                     [&](const Symbol &s) { return s.name == symbol && !s.perTile && !s.tiles; });
}

/// A race is reported unless an overrun on the shortest way to the end makes the run meaningless.
void Search::finishRace(State &state, int &outcome) {
  size_t limit = machine.steps + 200000;
  while (!machine.fault && !machine.exhausted() &&
         machine.decision().kind != Decision::Kind::None && machine.steps < limit) {
    Decision decision = machine.decision();
    bool value = machine.forced(state, decision).value_or(goesOn(state, decision, outcome));
    outcomes.push_back({outcome, value, machine.describe(state, decision, value),
                        decision.kind == Decision::Kind::Trip ? decision.trip : -1});
    outcome = int(outcomes.size()) - 1;
    machine.decide(state, decision, value);
    machine.run(state);
  }
  if (!machine.fault && !machine.exhausted() && machine.decision().kind == Decision::Kind::None)
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
  const Digest control = normaliser.controlDigest(next);
  const Digest start = normaliser.digest(next);
  auto [it, fresh] = cycles.try_emplace(start, 0);
  if (fresh) {
    for (int64_t i = 1; i <= rounds; ++i) {
      machine.decide(next, decision, true);
      machine.run(next);
      if (machine.fault || machine.exhausted() || machine.decision().kind != Decision::Kind::Trip ||
          machine.decision().trip != decision.trip)
        break;
      machine.collectGarbage(next);
      if (normaliser.equals(next, control, start)) {
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
  while (!machine.fault && !machine.exhausted() &&
         machine.decision().kind != Decision::Kind::None) {
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
  }
  if (machine.exhausted())
    return true;
  // A race stands for every longer run too, unless something worse comes of it.
  const int raceAt = outcome;
  const std::shared_ptr<const Fault> race = state.race;
  if (!machine.fault && race)
    finishRace(state, outcome);
  if (!machine.fault && machine.decision().kind == Decision::Kind::None)
    machine.judgeEnd(state);
  if (machine.fault) {
    // What was settled after the race is part of it where it decides that nobody looks at a fault.
    bool early = race && machine.fault->kind == race->kind && state.held.empty();
    faultAt = early ? raceAt : outcome;
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
    if (visited.size() > options.maxStates || machine.exhausted()) {
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
  if (machine.exhausted()) {
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
    const Choice &a = *known;
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
    if (again.fault || again.exhausted() || again.decision().kind == Decision::Kind::None)
      break;
    Decision decision = again.decision();
    again.decide(state, decision, step.value);
    again.run(state);
  }
  if (!again.fault && !again.exhausted() && !state.race &&
      again.decision().kind == Decision::Kind::None)
    again.judgeEnd(state);
}

Fault Search::takeFault() {
  Fault fault = std::move(*machine.fault);
  machine.fault.reset();
  bool same;
  fault.choices = choices(faultAt, same);
  fault.when = describeChoices(fault.choices);
  if (options.witness)
    replay(faultAt, fault);
  return fault;
}

} // namespace ts::prover
