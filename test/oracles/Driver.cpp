// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part that the tools share.
#include "Driver.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace ts::oracle {

bool Arguments::next() {
  if (++at >= argc)
    return false;
  current = argv[at];
  return true;
}

bool Arguments::is(const char *option, std::string &value) {
  std::string name = option;
  if (current == name && at + 1 < argc) {
    value = argv[++at];
    return true;
  }
  if (current.compare(0, name.size() + 1, name + "=") != 0)
    return false;
  value = current.substr(name.size() + 1);
  return true;
}

bool Arguments::is(const char *option, uint64_t &value) {
  std::string text;
  if (!is(option, text))
    return false;
  char *end = nullptr;
  errno = 0;
  value = std::strtoull(text.c_str(), &end, 10);
  return !text.empty() && !*end && !errno && text[0] != '-';
}

bool Arguments::is(const char *option, int64_t &value) {
  uint64_t number = 0;
  if (!is(option, number) || number > uint64_t(INT64_MAX))
    return false;
  value = int64_t(number);
  return true;
}

static bool parseFeatures(const std::string &text, unsigned &features) {
  for (size_t from = 0; from <= text.size();) {
    size_t to = std::min(text.find(',', from), text.size());
    std::string name = text.substr(from, to - from);
    unsigned bit = name == "groups"    ? FeatureGroups
                   : name == "hand"    ? FeatureHand
                   : name == "cluster" ? FeatureCluster
                                       : 0u;
    if (!bit)
      return false;
    features |= bit;
    from = to + 1;
  }
  return true;
}

bool Arguments::isSeedOption(SeedOptions &options) {
  if (is("--print"))
    return options.print = true;
  if (is("--verbose"))
    return options.verbose = true;
  uint64_t states = 0;
  if (is("--max-states", states)) {
    options.maxStates = size_t(states);
    return true;
  }
  std::string features;
  if (is("--features", features))
    return parseFeatures(features, options.features);
  return is("--seed", options.seed) || is("--count", options.count);
}

void forEachSeed(const SeedOptions &options,
                 const std::function<void(const std::string &, Generated)> &visit) {
  for (int64_t i = 0; i < options.count; ++i) {
    uint64_t seed = options.seed + uint64_t(i);
    visit("seed " + std::to_string(seed), generate(seed, options.features));
  }
}

void Contents::add(const schedule::Kernel &kernel) {
  using schedule::EventKind;
  bool byHand = false, byName = false;
  for (const schedule::Task &task : kernel.tasks)
    for (const schedule::Step &step : task.steps)
      if (step.kind == schedule::StepKind::Event) {
        EventKind kind = step.event.kind;
        byHand |= kind == EventKind::MbarrierArrive || kind == EventKind::MbarrierWait;
        byName |= kind == EventKind::BarrierSync || kind == EventKind::BarrierArrive ||
                  kind == EventKind::ClusterSync;
      }
  bool grouped = std::any_of(kernel.resources.begin(), kernel.resources.end(),
                             [](const auto &r) { return r.kind == schedule::ResourceKind::Group; });
  clusters += kernel.cluster.shape[0] > 1;
  groups += grouped;
  hand += byHand;
  named += byName;
}

std::string Contents::str() const {
  return std::to_string(clusters) + " in clusters, " + std::to_string(groups) + " with groups, " +
         std::to_string(hand) + " with hand-written mbarriers, " + std::to_string(named) +
         " with named or cluster barriers";
}

void printWitness(const Verdict &verdict, const std::string &before) {
  for (unsigned k = 0; k < numKinds; ++k)
    if (verdict.has(Kind(k)))
      std::printf("%s%s: %s", before.c_str(), name(Kind(k)), verdict.witness[k].c_str());
}

} // namespace ts::oracle
