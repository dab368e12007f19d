// The grid: clusters are started in order and moved by a few host threads. A thread keeps several
// clusters when one needs the others to go on (flags in global memory). SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "Grid.h"

#include "../Check/GridOrder.h"
#include "Run.h"
#include "Trace.h"

#include <chrono>
#include <set>
#include <thread>

namespace ts::emu {
namespace {

constexpr uint64_t longQuantum = 50'000; // steps before a thread looks at another cluster

struct Launch {
  GridLaunch spec;
  GridQueue queue{0};
  Machine machine;
  std::atomic<uint64_t> clustersDone{0};
  std::vector<uint8_t> executed; // forms
};

/// Finds out that nothing in any cluster can move. Each says so for itself, for the key that it ran
/// under; whatever changes makes a new key, and what was said before counts no more.
class Standstill {
public:
  uint64_t key() {
    std::lock_guard lock(mutex);
    return current;
  }
  void moved() {
    std::lock_guard lock(mutex);
    current = (current | 1) + 1;
    proofs = 0;
  }
  /// Once all have said it they are asked again, and look longer then.
  static bool again(uint64_t key) { return key & 1; }
  /// A cluster cannot move; `last` is the key for which it said so before. True if that is all of
  /// the `running` ones, asked twice.
  bool proved(uint64_t &last, uint64_t key, int64_t running) {
    std::lock_guard lock(mutex);
    if (key != current)
      return false;
    if (last != key)
      ++proofs;
    last = key;
    if (proofs < running)
      return false;
    if (again(key))
      return true;
    ++current;
    proofs = 0;
    return false;
  }

private:
  std::mutex mutex;
  uint64_t current = 2; // even: asked for the first time
  int64_t proofs = 0;
};

class Grids {
public:
  Grids(std::vector<GridLaunch> specs, GlobalMemory &global, unsigned sms) {
    Machine *previous = nullptr;
    for (GridLaunch &spec : specs) {
      auto launch = std::make_unique<Launch>();
      const LaunchOptions &o = *spec.options;
      Machine &m = launch->machine;
      uint64_t clusters = 1;
      for (unsigned d = 0; d < 3; ++d) {
        m.gridClusters[d] = o.grid[d] / o.cluster[d];
        clusters *= m.gridClusters[d];
      }
      launch->queue.total = clusters;
      m.program = spec.program;
      m.entry = spec.entry;
      m.options = spec.options;
      m.params = spec.params;
      m.global = &global;
      m.sms = sms;
      m.queue = &launch->queue;
      m.previousDone = o.pdl && previous ? &previous->done : nullptr;
      if (m.previousDone) {
        previous->hasDependent = true;
        m.previousReleases = &previous->releases;
        if (o.checkRaces && previous->options->checkRaces)
          m.withPrimary = previous->withDependent = std::make_shared<GridOrder>();
      }
      m.totalCtas = clusters * o.cluster[0] * o.cluster[1] * o.cluster[2];
      m.done = clusters == 0;
      launch->executed.assign(spec.program->forms.size(), 0);
      launch->spec = std::move(spec);
      previous = &launch->machine;
      launches.push_back(std::move(launch));
    }
    const LaunchOptions &first = *launches.front()->spec.options;
    if (!first.traceFile.empty())
      tracer = std::make_unique<Tracer>(first.traceFile);
    unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    uint64_t most = 0;
    for (const auto &launch : launches)
      most = std::max(most, launch->queue.total);
    threads = first.threads ? first.threads : cores;
    threads = unsigned(std::clamp<uint64_t>(threads, 1, std::max<uint64_t>(most, 1)));
    if (tracer)
      threads = 1;
    quantum = longQuantum;
    if (first.stepLimit)
      quantum = std::clamp<uint64_t>(first.stepLimit / threads, 1, longQuantum);
    uint64_t perCluster = uint64_t(first.cluster[0]) * first.cluster[1] * first.cluster[2];
    resident = std::max<uint64_t>(1, first.residentCtas / perCluster / threads);
  }

  LaunchResult run() {
    std::vector<std::thread> workers;
    try {
      for (unsigned i = 1; i < threads; ++i)
        workers.emplace_back([this] { guardedWork(); });
    } catch (const std::system_error &) {
      threads = unsigned(workers.size()) + 1; // the machine has no more: fewer do it too
    }
    guardedWork();
    for (std::thread &worker : workers)
      worker.join();
    return collect();
  }

private:
  struct Active {
    Launch *launch;
    std::unique_ptr<ClusterRun> run;
    std::vector<uint8_t> executed;
    bool stuck = false;     // cannot move by itself
    uint64_t saidStuck = 0; // key for which it said so
  };

  bool mayStart(size_t index) const {
    if (index == 0)
      return true;
    const Machine &previous = launches[index - 1]->machine;
    if (launches[index]->spec.options->pdl)
      return previous.done || previous.ctasReleased == previous.totalCtas;
    return std::all_of(launches.begin(), launches.begin() + std::ptrdiff_t(index),
                       [](const auto &l) { return l->machine.done.load(); });
  }

  std::unique_ptr<Active> startNext() {
    for (size_t i = 0; i < launches.size(); ++i) {
      if (!mayStart(i))
        break;
      Launch &launch = *launches[i];
      ++runningClusters; // before it is missing in the queue: see nothingMoves
      std::optional<uint64_t> id = launch.queue.take();
      if (!id) {
        --runningClusters;
        continue;
      }
      auto active = std::make_unique<Active>();
      active->launch = &launch;
      standstill.moved();
      active->executed.assign(launch.executed.size(), 0);
      active->run =
          std::make_unique<ClusterRun>(launch.machine, *id, active->executed, tracer.get());
      return active;
    }
    return nullptr;
  }

  /// A dependent grid may begin beside its predecessor. It does so at once: what it does too early
  /// would go unnoticed if the predecessor ended first.
  bool dependentMayStart() const {
    for (size_t i = 1; i < launches.size(); ++i)
      if (!launches[i - 1]->machine.done && mayStart(i) && !launches[i]->queue.empty())
        return true;
    return false;
  }

  bool allStarted() const {
    return std::all_of(launches.begin(), launches.end(),
                       [](const auto &l) { return l->machine.done.load(); });
  }

  // A cluster takes memory of its own: shared and tensor memory, registers, the checker's shadow.
  void guardedWork() {
    try {
      work();
    } catch (const std::bad_alloc &) {
      std::lock_guard lock(mutex);
      Report report;
      report.kind = FaultKind::Launch;
      report.message = "this machine has no memory left for another cluster of the launch; try "
                       "fewer threads, or a smaller resident grid";
      if (faults.empty())
        faults.push_back(std::move(report));
      stop = true;
    }
  }

  void work() {
    std::vector<std::unique_ptr<Active>> active;
    size_t turn = 0;
    while (!stop) {
      bool allStuck = std::all_of(active.begin(), active.end(), [](auto &a) { return a->stuck; });
      // Otherwise another cluster is needed only when those at hand do not get on by themselves.
      if (active.empty() || ((allStuck || dependentMayStart()) && active.size() < resident)) {
        if (std::unique_ptr<Active> next = startNext()) {
          active.push_back(std::move(next));
          turn = active.size() - 1;
        } else if (active.empty()) {
          if (allStarted())
            return;
          std::this_thread::yield(); // other threads finish the predecessor
          continue;
        }
      }
      turn %= active.size();
      Active &a = *active[turn];
      uint64_t before = a.run->instructions, change = a.run->lastChange();
      uint64_t key = standstill.key();
      ClusterRun::Outcome outcome = a.run->run(
          quantum, key, Standstill::again(key) ? a.launch->spec.options->idleLimit / 8 : 0);
      uint64_t more = a.run->instructions - before;
      if (outcome == ClusterRun::Outcome::Done) {
        retire(a);
        active.erase(active.begin() + std::ptrdiff_t(turn));
        tell(more, nullptr);
        continue;
      }
      tell(more, a.run.get());
      if (outcome == ClusterRun::Outcome::Faulty) {
        fail(a, std::move(a.run->faults));
        return;
      }
      if (a.run->lastChange() != change)
        standstill.moved();
      a.stuck = outcome == ClusterRun::Outcome::Waiting;
      if (a.stuck && nothingMoves(a, key)) {
        fail(a, {a.run->hangReport()});
        return;
      }
      ++turn;
    }
  }

  // A stuck cluster is hung when none of any thread can move and none is left to start.
  bool nothingMoves(Active &a, uint64_t key) {
    int64_t running = runningClusters;
    if (uint64_t(running) < resident * threads)
      for (size_t i = 0; i < launches.size(); ++i)
        if (mayStart(i) && !launches[i]->queue.empty())
          return false;
    return standstill.proved(a.saidStuck, key, running);
  }

  void retire(Active &a) {
    Launch &launch = *a.launch;
    std::lock_guard lock(mutex);
    merge(a);
    if (++launch.clustersDone + launch.queue.cancelled == launch.queue.total)
      launch.machine.done = true;
    standstill.moved();
    --runningClusters;
  }

  void merge(Active &a) {
    for (size_t i = 0; i < a.executed.size(); ++i)
      a.launch->executed[i] |= a.executed[i];
    actors = std::max(actors, a.run->actors());
    for (Report &warning : a.run->warnings)
      // Once for a place: other warps and clusters say the same.
      if (warnings.size() < 16 && seen.insert(warning.id() + warning.site.instruction +
                                              std::to_string(warning.site.ptxLine))
                                      .second)
        warnings.push_back(std::move(warning));
  }

  void fail(Active &a, std::vector<Report> reports) {
    std::lock_guard lock(mutex);
    merge(a);
    if (faults.empty() || a.run->id() < faultyCluster) {
      faults = std::move(reports);
      faultyCluster = a.run->id();
    }
    stop = true;
  }

  void tell(uint64_t more, const ClusterRun *run) {
    uint64_t now = instructions += more;
    const LaunchOptions &options = *launches.front()->spec.options;
    auto time = std::chrono::steady_clock::now();
    std::chrono::duration<double> passed = time - begun;
    if (options.stepLimit && now >= options.stepLimit)
      giveUp(format("step limit reached: it did not end within %llu warp instructions",
                    (unsigned long long)options.stepLimit) +
             (run ? run->loopText() : ""));
    if (options.timeoutSeconds > 0 && passed.count() > options.timeoutSeconds)
      giveUp(format("time limit reached: it did not end within %g s (%llu warp instructions)",
                    options.timeoutSeconds, (unsigned long long)now) +
             (run ? run->loopText() : ""));
    if (options.cancelled && options.cancelled())
      giveUp("it was interrupted");
    if (!options.progress)
      return;
    std::lock_guard lock(mutex);
    if (time - lastTold < std::chrono::milliseconds(500))
      return;
    lastTold = time;
    Progress progress;
    progress.instructions = now;
    for (const auto &launch : launches) {
      progress.clusters += launch->queue.total;
      progress.clustersDone += launch->clustersDone + launch->queue.cancelled;
    }
    options.progress(progress);
  }

  void giveUp(std::string why) {
    std::lock_guard lock(mutex);
    if (stopped.empty())
      stopped = std::move(why);
    stop = true;
  }

  LaunchResult collect() {
    LaunchResult result;
    bool ended = std::all_of(launches.begin(), launches.end(),
                             [](const auto &l) { return l->machine.done.load(); });
    if (faults.empty() && !ended) // the limit was reached by the very last step otherwise
      result.stopped = stopped;
    result.faults = std::move(faults);
    result.warnings = std::move(warnings);
    result.instructions = instructions;
    result.actors = actors;
    std::set<std::string> forms;
    for (const auto &launch : launches)
      for (size_t i = 0; i < launch->executed.size(); ++i)
        if (launch->executed[i])
          forms.insert(launch->spec.program->forms[i]);
    result.forms.assign(forms.begin(), forms.end());
    if (tracer)
      if (Status status = tracer->write(); !status) {
        Report report;
        report.kind = FaultKind::Launch;
        report.message = status.error().message;
        result.faults.push_back(std::move(report));
      }
    return result;
  }

  std::vector<std::unique_ptr<Launch>> launches;
  std::unique_ptr<Tracer> tracer;
  std::atomic<unsigned> threads{1};
  uint64_t resident = 1, quantum = longQuantum;
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> instructions{0};
  std::atomic<int64_t> runningClusters{0};
  Standstill standstill;
  std::mutex mutex; // of what follows
  std::vector<Report> faults, warnings;
  std::string stopped;
  std::set<std::string> seen;
  uint64_t faultyCluster = 0;
  unsigned actors = 0;
  std::chrono::steady_clock::time_point lastTold{};
};
} // namespace

LaunchResult runGrids(std::vector<GridLaunch> launches, GlobalMemory &global, unsigned sms) {
  return Grids(std::move(launches), global, sms).run();
}

} // namespace ts::emu
