// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes schedule models by hand: the cases of Cases.cpp and what the generator draws. Shared
// memory is given out in order; two resources may be laid on each other. No MLIR, no checks.
#ifndef TS_TEST_ORACLES_MAKER_H
#define TS_TEST_ORACLES_MAKER_H

#include "Unroll.h"

#include <functional>

namespace ts::oracle {

/// A kernel with its memory laid out and the choice that a run is for.
struct Sample {
  schedule::Kernel kernel;
  std::vector<Place> places;
  Choice choice;
};

class Maker {
public:
  Sample sample;
  bool bodies = false;

  explicit Maker(std::string name) { sample.kernel.name = std::move(name); }
  schedule::Kernel &kernel() { return sample.kernel; }

  /// A ring with one allocation of `bytes` per stage. TMA rings expect all of them.
  int ring(protocol::PipelineType type, int64_t stages, int64_t bytes = 32);
  protocol::PipelineSpec &spec(int ring) { return *sample.kernel.resources[size_t(ring)].pipeline; }
  int plain(schedule::ResourceKind kind, std::string name);
  /// A resource with memory and no pipeline.
  int scratch(int64_t bytes);
  /// A pipeline group over rings of equal stage counts.
  int group(protocol::GroupMode mode, const std::vector<int> &members);
  /// A ring without memory of its own.
  int barrierOnly(protocol::PipelineType type, int64_t stages, std::optional<int64_t> bytes = {});
  /// A named barrier of `threads`, or a hand-written mbarrier of so many arrivals.
  int barrier(schedule::ResourceKind kind, std::string name, int64_t count);
  /// A wait on a hand-written mbarrier whose parity follows the innermost loop.
  void waitParity(int barrier, int64_t scale, int64_t offset, int64_t divisor = 1);
  void arriveByHand(int barrier, bool elected = false, std::optional<int64_t> cta = {});
  /// Lays the first stage of `upper` over that of `lower`.
  void alias(int lower, int upper);
  /// A cluster of two CTAs, as one MMA pair or as two MMAs.
  void pairOfCtas(int64_t ctasPerMma);

  int task(std::string name, int64_t warps = 1);
  schedule::Task &last() { return sample.kernel.tasks.back(); }

  using Body = std::function<void()>;
  schedule::StepId loop(const schedule::Bound &upper, const Body &body, int64_t lower = 0,
                        int64_t step = 1);
  void tiles(int queue, const Body &body);
  void guard(schedule::GuardKind kind, const Body &body, int64_t period = 1);
  void when(const std::string &key, const Body &body, bool expected = true);
  /// When the trip count is above zero.
  void whenRuns(const schedule::Bound &trips, const Body &body);
  void skippable(const Body &body);
  schedule::StepId event(schedule::EventKind kind, int resource);
  /// The whole stage by the engine that the ring's type implies. TMA producers have a body that
  /// issues `bytes` (all of num_bytes if left out); so has other work while `bodies` is set.
  schedule::StepId produce(int ring, std::optional<int64_t> bytes = {});
  schedule::StepId consume(int ring);
  /// An access of another engine, or to another stage, inside the last work call or apart.
  schedule::Access whole(int ring, bool write, protocol::Engine engine, schedule::StepId via);
  schedule::StepId access(const schedule::Access &access);
  /// Accesses of a work call, in its body if it has one.
  std::vector<schedule::Access> &accessesOf(schedule::StepId work);
  void acquireProduceCommit(int ring);
  void waitConsumeRelease(int ring);

  static schedule::Bound argument(const std::string &name, int64_t scale = 1, int64_t offset = 0);
  static schedule::Bound perTile(const std::string &name, int64_t scale = 1);

  /// Warps, reads and writes; fills in the arrival counts that are left out.
  Sample finish();

private:
  schedule::StepId add(schedule::StepKind kind);
  schedule::Step &step(schedule::StepId id) { return last().steps[size_t(id)]; }
  void inside(schedule::StepId id, const Body &body);
  void body(schedule::StepId id, const schedule::Access &what, bool written);

  schedule::StepId parent = -1;
  std::vector<schedule::StepId> loops;
  int64_t nextByte = 0, nextColumn = 0;
};

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_MAKER_H
