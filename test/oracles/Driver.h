// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ts-oracle and ts-differential have in common: their options about seeds, the schedules that
// these stand for, what was drawn, and how a witness is printed.
#ifndef TS_TEST_ORACLES_DRIVER_H
#define TS_TEST_ORACLES_DRIVER_H

#include "Generator.h"

namespace ts::oracle {

struct SeedOptions {
  uint64_t seed = 1;
  int64_t count = 100;
  size_t maxStates = 100000;
  unsigned features = 0; ///< Feature bits; none: rings only
  bool print = false, verbose = false;
};

/// The arguments of a tool, one after the other.
class Arguments {
public:
  Arguments(int argc, char **argv) : argc(argc), argv(argv) {}
  bool next();
  bool is(const char *flag) const { return current == flag; }
  /// An option with a value, given apart or behind '='.
  bool is(const char *option, std::string &value);
  bool is(const char *option, uint64_t &value);
  bool is(const char *option, int64_t &value);
  /// Whether it is one of SeedOptions.
  bool isSeedOption(SeedOptions &options);
  static const char *usage() {
    return "[--seed S] [--count N] [--max-states M] [--features=groups,hand,cluster] [--print] "
           "[--verbose]";
  }

private:
  int argc, at = 0;
  char **argv;
  std::string current;
};

/// Every schedule of the options' seeds, with "seed N".
void forEachSeed(const SeedOptions &options,
                 const std::function<void(const std::string &title, Generated)> &visit);

/// What schedules contain beside plain rings.
struct Contents {
  int64_t clusters = 0, groups = 0, hand = 0, named = 0;
  void add(const schedule::Kernel &kernel);
  std::string str() const;
};

/// One line per kind of fault, with the steps that lead there.
void printWitness(const Verdict &verdict, const std::string &before = "");

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_DRIVER_H
