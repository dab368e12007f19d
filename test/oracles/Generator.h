// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small schedules by seed: drawn as they should be, then more than half of them broken by one or
// two mutations. Which of them really are broken is for the explorer to say.
#ifndef TS_TEST_ORACLES_GENERATOR_H
#define TS_TEST_ORACLES_GENERATOR_H

#include "Maker.h"

namespace ts::oracle {

/// splitmix64: the same numbers on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// 0 .. n-1
  int64_t below(int64_t n) { return int64_t(next() % uint64_t(n < 1 ? 1 : n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T> T pick(std::initializer_list<T> list) {
    return list.begin()[below(int64_t(list.size()))];
  }

private:
  uint64_t state;
};

struct Generated {
  Sample sample;
  std::string shape;                  ///< which pattern was drawn
  std::vector<std::string> mutations; ///< names of what was done to it, with the place
};

/// What a schedule is to contain beside rings, a bit each.
enum Feature : unsigned { FeatureGroups = 1, FeatureHand = 2, FeatureCluster = 4 };

/// Without features the schedules of a seed stay what they were before there were any.
Generated generate(uint64_t seed, unsigned features = 0);
/// A valid or (by construction) broken schedule with one of the features.
Generated drawFeature(Random &random, unsigned features);
/// The valid schedule of a seed.
Generated draw(Random &random);
/// One random mutation; its name, or nothing where it found no place. `wanted` fixes the operator.
std::string mutate(Sample &sample, Random &random, int wanted = -1);
const std::vector<std::string> &mutationNames();
/// One of those that need a barrier which a body names: parity, count, drop, move, elect.
std::string mutateHand(Sample &sample, Random &random);

/// Everything that the kernel leaves open, small: trip counts, tiles, conditions, skips. At most
/// `limit` choices, spread over all of them.
std::vector<Choice> choicesOf(const schedule::Kernel &kernel, size_t limit);

/// Larger ones: `maxTrips` + 1 choices whose trip counts are 0 .. maxTrips in turn, and for tile
/// loops as many random lists of tiles, trip counts, conditions and skips.
std::vector<Choice> largeChoices(const schedule::Kernel &kernel, Random &random, int64_t maxTrips);

/// Removes steps that no list names and renumbers the rest.
void compact(schedule::Task &task);
/// Smaller samples for which `holds` is still true, until none is.
Sample shrink(Sample sample, const std::function<bool(const Sample &)> &holds);

std::string print(const Generated &generated);

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_GENERATOR_H
