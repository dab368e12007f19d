// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The prover against the explorer on generated schedules. The prover speaks of every trip count,
// tile and condition; the explorer decides the small ones one by one. A proof must hold in all of
// them, a refutation must be seen with the same kind of fault in one of them: the witness's own, if
// it is small enough.
#include "Cases.h"
#include "Driver.h"
#include "Refused.h"

#include "ts/Analysis/Prover/Prover.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

using namespace ts::oracle;
using ts::prover::FaultKind;

namespace {

struct Options : SeedOptions {
  size_t maxChoices = 10;
  int64_t maxTrips = -1; ///< proofs are also held against trip counts up to this
  bool shrink = false, cases = true;
};

ts::prover::Verdict prove(const Sample &sample) {
  ts::prover::Placement placement;
  for (const Place &place : sample.places)
    placement.allocations.push_back({place.offset, place.stride});
  return ts::prover::prove(sample.kernel, placement);
}

std::string kindOf(FaultKind kind) {
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
  return "?";
}

/// The choice that a witness names, where the explorer can be asked about it.
std::optional<Choice> witnessOf(const Sample &sample, const ts::prover::Fault &fault,
                                int64_t otherwise) {
  const std::string tilesOf = "number of tiles of", skipOf = "skip of";
  Choice known = choicesOf(sample.kernel, 10000).back(), choice;
  choice.drain = sample.choice.drain;
  bool named = false;
  for (const ts::prover::Choice &c : fault.choices)
    if (c.name.compare(0, tilesOf.size(), tilesOf) == 0) {
      choice.tiles = c.value;
      named = true;
    } else if (!named) {
      choice.tiles = std::max(choice.tiles, c.tile + 1);
    }
  if (choice.tiles > 6)
    return {};
  // What the witness leaves open may be anything; what a shorter list leaves open repeats its end.
  for (auto &[name, value] : known.args)
    choice.args[name] = otherwise;
  for (auto &[name, list] : known.perTile)
    choice.perTile[name].assign(size_t(std::max<int64_t>(choice.tiles, 1)), otherwise);
  for (auto &[name, list] : known.conditions)
    choice.conditions[name].assign(size_t(std::max<int64_t>(choice.tiles, 1)), true);
  if (!known.skipped.empty())
    choice.skipped.assign(size_t(std::max<int64_t>(choice.tiles, 1)), false);
  for (const ts::prover::Choice &c : fault.choices) {
    if (c.value > 24)
      return {};
    if (c.name.compare(0, tilesOf.size(), tilesOf) == 0)
      continue;
    size_t at = size_t(std::max<int64_t>(c.tile, 0));
    auto put = [&](auto &list, auto value) {
      for (size_t i = 0; i < list.size(); ++i)
        if (i == at || c.tile < 0)
          list[i] = value;
    };
    if (known.args.count(c.name))
      choice.args[c.name] = c.value;
    else if (known.perTile.count(c.name))
      put(choice.perTile[c.name], c.value);
    else if (known.conditions.count(c.name))
      put(choice.conditions[c.name], c.value != 0);
    else if (c.name.compare(0, skipOf.size(), skipOf) == 0)
      put(choice.skipped, c.value != 0);
    else
      return {};
  }
  return choice;
}

struct Comparison {
  enum Result { Agree, Disagree, Skipped } result = Agree;
  std::string prover, explorer, why;
};

class Differential {
public:
  explicit Differential(const Options &options) : options(options) {}

  Comparison compare(const Sample &sample) {
    Comparison c;
    auto start = std::chrono::steady_clock::now();
    ts::prover::Verdict verdict = prove(sample);
    proverSeconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    using V = ts::prover::Verdict::Kind;
    if (c.why = refused(sample.kernel); !c.why.empty()) {
      c.prover = "any";
      c.result = Comparison::Skipped;
      return c;
    }
    if (verdict.kind == V::Unknown) {
      c.prover = "unknown";
      c.why = verdict.reason;
      c.result = Comparison::Skipped;
      return c;
    }
    c.prover = verdict.kind == V::Proven       ? "proven"
               : verdict.kind == V::ProvenUpTo ? "proven up to a bound"
                                               : kindOf(verdict.fault->kind);
    // Whether the prover's own witness is among the choices.
    bool witnessed = true;
    std::vector<Choice> choices = choicesOf(sample.kernel, options.maxChoices);
    if (choices.size() < options.maxChoices || verdict.kind == V::Refuted)
      choices.insert(choices.begin(), sample.choice);
    if (verdict.kind == V::Refuted)
      for (int64_t otherwise : {0, 1}) {
        if (std::optional<Choice> witness = witnessOf(sample, *verdict.fault, otherwise))
          choices.insert(choices.begin(), *witness);
        else
          witnessed = false;
      }
    if (options.maxTrips >= 0) {
      if (verdict.kind == V::Refuted) {
        c.result = Comparison::Skipped;
        c.why = "only proofs are held against larger trip counts";
        return c;
      }
      Random random(options.seed);
      choices = largeChoices(sample.kernel, random, options.maxTrips);
    }
    bool skipped = false, seen = false;
    for (const Choice &choice : choices) {
      Program program = unroll(sample.kernel, sample.places, choice);
      Verdict truth = explore(program, options.maxStates);
      if (program.strayTry || program.strayFork) {
        c.prover = "any";
        c.why = program.strayTry ? "a try before another slot's blocking op (check 105)"
                                 : "a fork's bracket without some of its members (check 105)";
        c.result = Comparison::Skipped;
        return c;
      }
      // Two rules broken at once: either may be named, as long as it really happens.
      if (verdict.kind == V::Refuted && truth.has(Kind::Bytes) && c.prover != "bytes")
        truth = explore(program, options.maxStates, true);
      states += truth.states;
      if (!truth.judged()) {
        skipped = true;
        c.explorer = truth.summary();
        continue;
      }
      if (verdict.kind == V::Refuted) {
        std::string summary = "+" + truth.summary() + "+";
        if (summary.find("+" + c.prover + "+") != std::string::npos ||
            (c.prover == "imbalance" && truth.safe() && program.imbalanced)) {
          seen = true;
          break;
        }
        if (!truth.safe())
          c.explorer = truth.summary() + " for " + choice.str();
        continue;
      }
      bool within = verdict.kind == V::Proven;
      if (!within) {
        within = true;
        for (auto &[name, n] : choice.args)
          within &= n <= verdict.bound;
        for (auto &[name, list] : choice.perTile)
          for (int64_t n : list)
            within &= n <= verdict.bound;
      }
      if (within && (!truth.safe() || program.imbalanced)) {
        c.explorer = (truth.safe() ? "imbalance" : truth.summary()) + " for " + choice.str();
        c.result = Comparison::Disagree;
        return c;
      }
    }
    if (verdict.kind == V::Refuted && !seen) {
      c.result = skipped || !witnessed ? Comparison::Skipped : Comparison::Disagree;
      c.why = skipped ? "too large" : "the witness is too long";
      if (c.explorer.empty())
        c.explorer = "safe";
    }
    if (verdict.kind != V::Refuted && skipped)
      ++partly;
    return c;
  }

  int run() {
    std::map<std::string, int> agreed, skipped, disagreed;
    int64_t broken = 0, checked = 0;
    Contents contents;
    std::set<std::string> kinds;
    auto one = [&](const std::string &title, Generated g) {
      Comparison c = compare(g.sample);
      if (c.result == Comparison::Skipped) {
        ++skipped[c.prover + ": " + c.why];
      } else {
        ++checked;
        ++(c.result == Comparison::Agree
               ? agreed
               : disagreed)[c.result == Comparison::Agree
                                ? c.prover
                                : c.prover + " / " + c.explorer.substr(0, c.explorer.find(' '))];
        broken += c.prover.substr(0, 6) != "proven";
        contents.add(g.sample.kernel);
        kinds.insert(c.prover);
      }
      if (options.verbose)
        std::printf("%s: %s %s\n", title.c_str(), c.prover.c_str(), c.why.c_str());
      if (c.result != Comparison::Disagree)
        return;
      std::printf("DISAGREE %s: prover %s, explorer %s\n", title.c_str(), c.prover.c_str(),
                  c.explorer.c_str());
      if (!options.print)
        return;
      if (options.shrink) {
        std::string kind = c.prover, truth = c.explorer.substr(0, c.explorer.find(' '));
        g.sample = shrink(g.sample, [&](const Sample &s) {
          Comparison next = compare(s);
          return next.result == Comparison::Disagree && next.prover == kind &&
                 next.explorer.substr(0, next.explorer.find(' ')) == truth;
        });
        c = compare(g.sample);
      }
      std::printf("%sprover %s, explorer %s\n", print(g).c_str(), c.prover.c_str(),
                  c.explorer.c_str());
      ts::prover::Verdict verdict = prove(g.sample);
      if (verdict.fault) {
        std::printf("  %s\n", verdict.fault->message.c_str());
        for (auto &site : verdict.fault->sites)
          std::printf("  at %s\n", site.text.c_str());
        for (auto &choice : verdict.fault->choices)
          std::printf("  with %s = %lld tile %lld\n", choice.name.c_str(), (long long)choice.value,
                      (long long)choice.tile);
      }
      std::vector<Choice> choices = choicesOf(g.sample.kernel, 200);
      choices.insert(choices.begin(), g.sample.choice);
      for (const Choice &choice : choices) {
        Verdict truth =
            explore(unroll(g.sample.kernel, g.sample.places, choice), options.maxStates);
        if (truth.safe() || !truth.judged())
          continue;
        printWitness(truth, "explorer " + choice.str() + ", ");
        break;
      }
    };
    for (const Case &known : knownCases())
      if (options.cases && known.sample && known.sample->choice.drain)
        one("case " + known.name, {*known.sample, known.name, {}});
    forEachSeed(options, one);
    int wrong = 0;
    for (auto &[name, n] : disagreed)
      wrong += n;
    std::printf("%lld compared, %lld refuted (%lld %%), %zu verdicts, %s, %lld proofs over some "
                "choices only, "
                "%zu explorer states, prover %.2f s: %d disagreements\n",
                (long long)checked, (long long)broken,
                (long long)(checked ? 100 * broken / checked : 0), kinds.size(),
                contents.str().c_str(), (long long)partly, states, proverSeconds, wrong);
    for (auto &[name, n] : agreed)
      std::printf("  agree    %-24s %d\n", name.c_str(), n);
    for (auto &[name, n] : disagreed)
      std::printf("  DISAGREE %-24s %d\n", name.c_str(), n);
    for (auto &[name, n] : skipped)
      std::printf("  skipped  %-24s %d\n", name.c_str(), n);
    return wrong != 0;
  }

private:
  const Options &options;
  double proverSeconds = 0;
  size_t states = 0;
  int64_t partly = 0;
};

int usage() {
  std::fprintf(stderr,
               "usage: ts-differential %s\n"
               "                       [--max-choices C] [--max-trips T] [--shrink] [--no-cases]\n",
               Arguments::usage());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  Arguments arguments(argc, argv);
  uint64_t choices = options.maxChoices;
  while (arguments.next()) {
    if (arguments.is("--shrink"))
      options.shrink = options.print = true;
    else if (arguments.is("--no-cases"))
      options.cases = false;
    else if (!arguments.is("--max-trips", options.maxTrips) &&
             !arguments.is("--max-choices", choices) && !arguments.isSeedOption(options))
      return usage();
  }
  options.maxChoices = size_t(choices);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  return Differential(options).run();
}
