// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Limits.h"

namespace ts::prover {

using namespace schedule;

namespace {

/// Collects the first number that is out of range.
class Limits {
public:
  explicit Limits(const Kernel &kernel) : kernel(kernel) {}

  void run() {
    for (int64_t extent : kernel.cluster.shape)
      range(extent, 0, protocol::maxCtas, "an extent of the cluster");
    for (const Resource &resource : kernel.resources)
      check(resource);
    for (const Allocation &allocation : kernel.allocations) {
      if (allocation.space == MemorySpace::Global)
        continue;
      size(allocation.bytes, "the size of '" + allocation.name + "' in bytes");
      size(allocation.columns, "the size of '" + allocation.name + "' in columns");
    }
    for (const Task &task : kernel.tasks) {
      owner = " of '" + task.name + "'";
      range(task.warps, 0, 1024, "the number of warps" + owner);
      for (const Step &step : task.steps)
        check(step);
    }
  }

  void check(const Placement &placement) {
    for (const Placed &placed : placement.allocations) {
      size(placed.offset, "the place of an allocation");
      size(placed.stride, "the distance of two stages of an allocation");
    }
  }

  void check(const Options &options) {
    for (const auto &[name, least] : options.minima)
      range(least, 0, wordMax, "the smallest value of '" + name + "'");
  }

  std::string reason;

private:
  static constexpr int64_t wordMax = (int64_t(1) << 31) - 1; ///< also the limit of declared minima
  static constexpr int64_t factorMax = int64_t(1) << 24;
  static constexpr int64_t byteMax = int64_t(1) << 40;

  /// "beyond 2^31" where the limit is a power of two that nobody reads in decimals.
  static std::string text(int64_t limit) {
    if (limit == wordMax)
      return "2^31";
    return limit == factorMax ? "2^24" : limit == byteMax ? "2^40" : std::to_string(limit);
  }

  void range(int64_t value, int64_t low, int64_t high, const std::string &what) {
    if (!reason.empty() || (value >= low && value <= high))
      return;
    reason = what + ", " + std::to_string(value) + ", is ";
    reason += value > high   ? "beyond " + text(high)
              : low == -high ? "beyond -" + text(high)
                             : "below " + std::to_string(low);
  }
  void number(int64_t value, const std::string &what) { range(value, -wordMax, wordMax, what); }
  void size(int64_t value, const std::string &what) { range(value, -byteMax, byteMax, what); }

  void check(const Bound &bound) {
    range(bound.scale, -factorMax, factorMax, "the factor of a loop bound" + owner);
    number(bound.offset, "the loop bound" + owner);
    if (bound.min)
      range(*bound.min, INT64_MIN, wordMax, "the smallest value of '" + bound.symbol + "'");
  }

  void check(const Resource &resource) {
    const std::string of = " of '" + resource.name + "'";
    range(resource.holders, 0, mostHolders, "the number of holders" + of);
    number(resource.first, "the first holder" + of);
    number(resource.count, "the arrival count" + of);
    if (!resource.pipeline)
      return;
    const protocol::PipelineSpec &spec = *resource.pipeline;
    range(spec.stages, 1, mostStages, "the number of stages" + of);
    for (int64_t stride : spec.interleave)
      range(stride, 0, mostStages, "the interleave stride" + of);
    number(spec.producerCount.value_or(0), "the producer count" + of);
    number(spec.consumerCount.value_or(0), "the consumer count" + of);
  }

  void check(const Access &access) {
    if (access.allocation >= 0 && size_t(access.allocation) < kernel.allocations.size() &&
        kernel.allocations[size_t(access.allocation)].space == MemorySpace::Global)
      return;
    size(access.offset, "the offset of an access" + owner);
    size(access.size, "the size of an access" + owner);
    if (!access.part.known)
      return;
    const Part &part = access.part;
    size(part.offset, "the offset of a part" + owner);
    size(part.size, "the size of a part" + owner);
    size(part.stride, "the distance of two parts" + owner);
    range(part.count, 0, wordMax, "the number of parts" + owner);
    number(part.shift, "the number of a part" + owner);
    range(part.divisor, 0, wordMax, "the divisor of a part's number" + owner);
    for (const auto &[loop, scale] : part.terms)
      range(scale, -factorMax, factorMax, "the factor of a part's number" + owner);
  }

  void check(const Event &event) {
    range(event.pending, 0, mostPending, "the number of groups that a wait" + owner + " leaves");
    for (const Access &access : event.accesses)
      check(access);
    if (event.parity) {
      number(event.parity->scale, "the factor of a parity" + owner);
      number(event.parity->offset, "the offset of a parity" + owner);
      number(event.parity->divisor, "the divisor of a parity" + owner);
    }
  }

  void check(const Step &step) {
    switch (step.kind) {
    case StepKind::Event:
      return check(step.event);
    case StepKind::Loop:
      check(step.loop.lower);
      check(step.loop.upper);
      check(step.loop.step);
      number(step.loop.constantTrips.value_or(0), "the trip count of a loop" + owner);
      return;
    case StepKind::Guard:
      return number(step.guard.period, "the period of a guard" + owner);
    case StepKind::When:
    case StepKind::Branch:
      if (step.condition.positive)
        check(*step.condition.positive);
      return;
    case StepKind::Skippable:
      return;
    }
  }

  const Kernel &kernel;
  std::string owner;
};

} // namespace

std::string beyondLimits(const Kernel &kernel, const Placement &placement, const Options &options) {
  Limits limits(kernel);
  limits.run();
  limits.check(placement);
  limits.check(options);
  return std::move(limits.reason);
}

} // namespace ts::prover
