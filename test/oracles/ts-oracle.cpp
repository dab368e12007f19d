// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Driver of the brute-force explorer: its own known cases, and generated schedules by seed.
#include "Cases.h"
#include "Driver.h"

#include <cstdio>

using namespace ts::oracle;

namespace {

int runCases(bool verbose) {
  int failed = 0;
  size_t states = 0;
  std::vector<Case> cases = knownCases();
  for (const Case &known : cases) {
    Verdict verdict = explore(known.program());
    states += verdict.states;
    bool ok = verdict.summary() == known.expected;
    failed += !ok;
    if (verbose || !ok)
      std::printf("%s %s: %s, expected %s (%zu states)\n", ok ? "ok  " : "FAIL", known.name.c_str(),
                  verdict.summary().c_str(), known.expected.c_str(), verdict.states);
    if (!ok)
      printWitness(verdict);
  }
  std::printf("%zu cases, %d failed, %zu states\n", cases.size(), failed, states);
  return failed != 0;
}

struct Options : SeedOptions {
  bool program = false;
  std::string shrinkTo; ///< verdict to keep
};

int runSeeds(const Options &options) {
  std::map<std::string, int> verdicts, shapes, tooLarge, unsupported;
  std::map<std::string, std::map<std::string, int>> byMutation;
  size_t states = 0;
  int broken = 0;
  Contents contents;
  forEachSeed(options, [&](const std::string &title, Generated g) {
    Sample &sample = g.sample;
    Program program = unroll(sample.kernel, sample.places, sample.choice);
    Verdict verdict = explore(program, options.maxStates);
    states += verdict.states;
    ++verdicts[verdict.judged()   ? verdict.summary()
               : verdict.tooLarge ? "too large"
                                  : "unsupported"];
    if (!verdict.unsupported.empty())
      ++unsupported[verdict.unsupported];
    if (verdict.tooLarge)
      ++tooLarge[g.shape];
    ++shapes[g.shape + (g.mutations.empty() ? verdict.safe() ? " drawn, safe" : " drawn, not safe"
                                            : " mutated")];
    broken += verdict.judged() && !verdict.safe();
    contents.add(sample.kernel);
    for (const std::string &mutation : g.mutations)
      ++byMutation[mutation.substr(0, mutation.find(' '))][verdict.summary()];
    bool wanted = !options.shrinkTo.empty() && verdict.summary() == options.shrinkTo;
    if (wanted)
      sample = shrink(sample, [&](const Sample &s) {
        return explore(unroll(s.kernel, s.places, s.choice), options.maxStates).summary() ==
               options.shrinkTo;
      });
    if (options.print || wanted) {
      std::printf("%s\n%s", title.c_str(), print(g).c_str());
      if (options.program)
        std::printf("%s", print(program).c_str());
      std::printf("verdict %s (%zu states)\n", verdict.summary().c_str(), verdict.states);
      printWitness(verdict);
    }
  });
  std::printf("%lld schedules, %d broken, %s, %zu states\n", (long long)options.count, broken,
              contents.str().c_str(), states);
  for (auto &[name, n] : verdicts)
    std::printf("  %-24s %d\n", name.c_str(), n);
  for (auto &[name, n] : shapes)
    std::printf("  %-36s %d\n", name.c_str(), n);
  for (auto &[name, n] : tooLarge)
    std::printf("  too large: %-25s %d\n", name.c_str(), n);
  for (auto &[name, n] : unsupported)
    std::printf("  unsupported: %-23s %d\n", name.c_str(), n);
  for (auto &[name, kinds] : byMutation) {
    std::printf("  %-14s", name.c_str());
    for (auto &[kind, n] : kinds)
      std::printf(" %s %d", kind.c_str(), n);
    std::printf("\n");
  }
  return 0;
}

int usage() {
  std::fprintf(stderr,
               "usage: ts-oracle --cases [--verbose]\n"
               "       ts-oracle %s\n"
               "                 [--program] [--shrink VERDICT]\n",
               Arguments::usage());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  options.maxStates = 200000;
  bool cases = false;
  Arguments arguments(argc, argv);
  while (arguments.next()) {
    if (arguments.is("--cases"))
      cases = true;
    else if (arguments.is("--program"))
      options.program = true;
    else if (!arguments.is("--shrink", options.shrinkTo) && !arguments.isSeedOption(options))
      return usage();
  }
  return cases ? runCases(options.verbose) : runSeeds(options);
}
