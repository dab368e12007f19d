// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Driver of the brute-force explorer: its own known cases, and generated schedules by seed.
#include "Cases.h"
#include "Generator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ts::oracle;

namespace {

void printWitness(const Verdict &verdict) {
  for (unsigned k = 0; k < numKinds; ++k)
    if (verdict.has(Kind(k)))
      std::printf("%s: %s", name(Kind(k)), verdict.witness[k].c_str());
}

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

struct Options {
  uint64_t seed = 1;
  int64_t count = 100;
  size_t maxStates = 200000;
  bool print = false, program = false;
  const char *shrinkTo = nullptr; ///< verdict to keep
};

int runSeeds(const Options &options) {
  std::map<std::string, int> verdicts, shapes, tooLarge, unsupported;
  std::map<std::string, std::map<std::string, int>> byMutation;
  size_t states = 0;
  int broken = 0, clusters = 0;
  for (int64_t i = 0; i < options.count; ++i) {
    Generated g = generate(options.seed + uint64_t(i));
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
    clusters += program.ctas > 1;
    for (const std::string &mutation : g.mutations)
      ++byMutation[mutation.substr(0, mutation.find(' '))][verdict.summary()];
    if (options.shrinkTo && verdict.summary() == options.shrinkTo)
      sample = shrink(sample, [&](const Sample &s) {
        return explore(unroll(s.kernel, s.places, s.choice), options.maxStates).summary() ==
               options.shrinkTo;
      });
    if (options.print || (options.shrinkTo && verdict.summary() == options.shrinkTo)) {
      std::printf("seed %llu\n%s", (unsigned long long)(options.seed + uint64_t(i)),
                  print(g).c_str());
      if (options.program)
        std::printf("%s", print(program).c_str());
      std::printf("verdict %s (%zu states)\n", verdict.summary().c_str(), verdict.states);
      printWitness(verdict);
    }
  }
  std::printf("%lld schedules, %d broken, %d in clusters, %zu states\n", (long long)options.count,
              broken, clusters, states);
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
  std::fprintf(stderr, "usage: ts-oracle --cases [--verbose]\n"
                       "       ts-oracle [--seed S] [--count N] [--max-states M] [--print]\n"
                       "                 [--program] [--shrink VERDICT]\n");
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  bool cases = false, verbose = false;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    bool more = i + 1 < argc;
    if (arg == "--cases")
      cases = true;
    else if (arg == "--verbose")
      verbose = true;
    else if (arg == "--print")
      options.print = true;
    else if (arg == "--program")
      options.program = true;
    else if (arg == "--seed" && more)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (arg == "--count" && more)
      options.count = std::strtoll(argv[++i], nullptr, 10);
    else if (arg == "--max-states" && more)
      options.maxStates = std::strtoull(argv[++i], nullptr, 10);
    else if (arg == "--shrink" && more)
      options.shrinkTo = argv[++i];
    else
      return usage();
  }
  return cases ? runCases(verbose) : runSeeds(options);
}
