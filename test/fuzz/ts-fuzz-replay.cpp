// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replays models of kernels through prover, protocol component, steady-state model and every
// report, and then mutants of each: quantities made absurd, steps dropped, doubled and swapped. Any
// verdict is fine; what counts is that none of it crashes, hangs or does what a sanitizer stops.
#include "ModelText.h"

#include "ts/Analysis/Protocol/Validate.h"
#include "ts/Analysis/Prover/Prover.h"
#include "ts/Analysis/Reports/Formats.h"
#include "ts/Analysis/Reports/Text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

using namespace ts;
using json = nlohmann::json;

namespace {

prover::Placement placementOf(const reports::KernelInput &input) {
  prover::Placement placement;
  placement.allocations.resize(input.kernel.allocations.size());
  for (const schedule::Resource &resource : input.kernel.resources)
    for (int index : resource.allocations)
      for (const reports::MemoryItem &item : input.memory.items)
        if (item.name == resource.name + "." + input.kernel.allocations[size_t(index)].name)
          placement.allocations[size_t(index)] = {item.offset, item.stride};
  return placement;
}

/// Everything that is made of one model; the size of the text, so that none of it is optimised out.
size_t replay(reports::KernelInput input, const prover::Options &options) {
  size_t size = schedule::print(input.kernel).size();
  std::vector<protocol::PipelineSpec> pipelines;
  for (const schedule::Resource &resource : input.kernel.resources)
    if (resource.pipeline) {
      pipelines.push_back(*resource.pipeline);
      for (const protocol::Finding &finding :
           protocol::validate(*resource.pipeline, input.kernel.cluster, {}))
        size += finding.message.size();
    }
  size += protocol::checkClusterLayouts(pipelines, input.kernel.cluster).size();
  input.verdict = prover::prove(input.kernel, placementOf(input), options);
  reports::Models models = {reports::modelSteadyState(input)};
  size += reports::formatText(input, models[0]).size();
  reports::Input all;
  all.kernels.push_back(std::move(input));
  size += reports::formatJson(all, models).size() + reports::formatSarif(all).size();
  size += reports::formatPerfetto(all, models).size() + reports::formatHtml(all, models).size();
  return size;
}

//--- Mutants ------------------------------------------------------------------------------------

/// Numbers that a program may choose, over all of 64 bits: the verifiers of the ops come first and
/// keep most of them small, but nothing here relies on that. Indices into the model's own lists are
/// the builder's to get right, and stay.
constexpr const char *quantities[] = {"stages",
                                      "numBytes",
                                      "producerCount",
                                      "consumerCount",
                                      "bytesPerWarpPerCta",
                                      "scale",
                                      "offset",
                                      "min",
                                      "bytes",
                                      "columns",
                                      "size",
                                      "stride",
                                      "count",
                                      "shift",
                                      "period",
                                      "pending",
                                      "expect",
                                      "own",
                                      "alongN",
                                      "alongM",
                                      "warps",
                                      "firstWarp",
                                      "constantTrips",
                                      "divisor",
                                      "holders",
                                      "first",
                                      "minTrips",
                                      "registers",
                                      "onlyCta",
                                      "remoteCta",
                                      "stageBytes",
                                      "ctasPerMma",
                                      "align",
                                      "at",
                                      "id"};
/// Lists of such numbers.
constexpr const char *lists[] = {"interleave", "shape", "layout", "ctaLayout"};

template <size_t N> bool among(const char *const (&names)[N], const std::string &name) {
  return std::find(names, names + N, name) != names + N;
}

class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  json mutate(json model) {
    for (size_t n = 1 + random() % 3; n > 0; --n)
      random() % 2 ? quantity(model) : step(model);
    return model;
  }

private:
  void collect(json &at, std::vector<json *> &found) {
    for (auto &[name, value] : at.items()) {
      if (at.is_object() && value.is_number_integer() && among(quantities, name))
        found.push_back(&value);
      if (value.is_array() && among(lists, name))
        for (json &item : value)
          if (item.is_number_integer())
            found.push_back(&item);
      if (value.is_structured())
        collect(value, found);
    }
  }

  void quantity(json &model) {
    std::vector<json *> found;
    collect(model["kernel"], found);
    if (found.empty())
      return;
    json *value = found[random() % found.size()];
    constexpr int64_t absurd[] = {0,
                                  1,
                                  2,
                                  3,
                                  7,
                                  33,
                                  64,
                                  1000,
                                  1024,
                                  1025,
                                  65537,
                                  -1,
                                  -2,
                                  -1000,
                                  1 << 20,
                                  100000000,
                                  2147483647,
                                  2147483648,
                                  -(1LL << 31),
                                  1LL << 40,
                                  1LL << 52,
                                  1LL << 62,
                                  -(1LL << 62),
                                  INT64_MAX,
                                  INT64_MAX - 1,
                                  INT64_MIN,
                                  INT64_MIN + 1};
    int64_t old = value->get<int64_t>();
    switch (random() % 4) {
    case 0:
      *value = int64_t(random()) >> (random() % 64);
      break;
    case 1:
      if (old > 0 && old < 1000000) {
        *value = old + int64_t(random() % 3) - 1;
        break;
      }
      [[fallthrough]];
    default:
      *value = absurd[random() % std::size(absurd)];
    }
  }

  void step(json &model) {
    json &kernel = model["kernel"];
    if (!kernel.contains("tasks") || kernel["tasks"].empty())
      return;
    json &task = kernel["tasks"][random() % kernel["tasks"].size()];
    std::vector<json *> bodies;
    if (task.contains("body"))
      bodies.push_back(&task["body"]);
    if (task.contains("steps"))
      for (json &s : task["steps"])
        if (s.contains("body"))
          bodies.push_back(&s["body"]);
    if (bodies.empty())
      return;
    json &body = *bodies[random() % bodies.size()];
    if (body.empty())
      return;
    size_t at = random() % body.size();
    if (random() % 2)
      body.erase(body.begin() + std::ptrdiff_t(at));
    else
      std::swap(body[at], body[random() % body.size()]);
  }

  std::mt19937_64 random;
};

int usage() {
  std::fprintf(stderr, "usage: ts-fuzz-replay [--mutants N] [--seed S] MODELS...\n");
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t seed = 1, mutants = 0;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--mutants" && i + 1 < argc)
      mutants = std::strtoull(argv[++i], nullptr, 10);
    else if (arg == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (arg[0] == '-')
      return usage();
    else
      files.push_back(arg);
  }
  prover::Options quick;
  quick.maxStates = 300;
  quick.maxSteps = 60000;
  size_t models = 0, changed = 0, size = 0;
  for (const std::string &file : files) {
    std::ifstream in(file);
    if (!in) {
      std::fprintf(stderr, "error: cannot read '%s'\n", file.c_str());
      return 2;
    }
    for (std::string line; std::getline(in, line); ++models) {
      json text = json::parse(line);
      reports::KernelInput input = fuzz::readModel(text);
      if (fuzz::writeModel(input) != text) {
        std::fprintf(stderr, "error: '%s' of '%s' changes when it is read and written\n",
                     input.kernel.name.c_str(), file.c_str());
        return 1;
      }
      size += replay(std::move(input), {});
      Mutator mutator(seed + models);
      for (uint64_t n = 0; n < mutants; ++n, ++changed) {
        json mutant = mutator.mutate(text);
        // For the one that is at fault when this run ends here.
        reports::KernelInput changedInput = fuzz::readModel(mutant);
        if (const char *last = std::getenv("TS_FUZZ_LAST"))
          std::ofstream(last) << fuzz::writeModel(changedInput).dump() << '\n';
        size += replay(std::move(changedInput), quick);
      }
    }
  }
  std::printf("%zu models, %zu mutants, %zu bytes of reports\n", models, changed, size);
  return 0;
}
