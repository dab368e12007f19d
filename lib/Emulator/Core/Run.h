// Moves one cluster: which warp or engine goes next, one instruction or piece at a time, until it
// is done, faulty, or waits for something outside. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_CORE_RUN_H
#define TS_EMULATOR_CORE_RUN_H

#include "Engine.h"
#include "Fault.h"
#include "Machine.h"
#include "Watch.h"

namespace ts::emu {

class Tracer;

class ClusterRun {
public:
  enum class Outcome {
    Running, // used its quantum
    Waiting, // nothing moves until another launch or cluster does something
    Done,
    Faulty,
  };
  ClusterRun(Machine &machine, uint64_t clusterId, std::vector<uint8_t> &executedForms,
             Tracer *tracer);
  ~ClusterRun();

  /// Waiting, too, when the cluster has changed nothing for the idle limit and cannot by itself.
  /// That is found anew for each `key`, a number for the state of the other clusters' memory, and
  /// after `patience` more steps at the earliest.
  Outcome run(uint64_t quantum, uint64_t key, uint64_t patience);
  /// Moves with every change of state that others can see.
  uint64_t lastChange() const { return cluster->lastChange; }
  /// Of a cluster that has changed nothing for long: where it loops. Empty otherwise.
  std::string loopText() const;
  Report hangReport() const;

  uint64_t id() const { return cluster->id; }
  uint64_t steps() const { return cluster->steps; }
  uint64_t instructions = 0;
  unsigned actors() const;
  std::vector<Report> faults, warnings;

private:
  struct WarpRef {
    Warp *warp;
    size_t place = 0; // Steered: how far this warp is in the list
  };
  bool runWarp(WarpRef &ref, unsigned limit); // whether anything was executed
  /// Executes the split's next instruction; false if it blocked.
  bool stepSplit(Warp &warp, Split &split);
  bool stepEngine(Engines::Choice choice);
  bool moveFair(size_t exceptActor);
  bool moveRandom();
  bool moveSteered();
  bool moveUnlisted();
  bool moveListed();
  bool moveEngines(bool late);
  /// How a warp's next instruction stands to the list of places.
  enum class Listed { No, Next, Later };
  Listed listed(const WarpRef &ref, const Split &split) const;
  bool idle() const;
  bool standsStill(uint64_t key, uint64_t patience);
  bool giveUpRound();
  bool triesGiveUp(const CodeEntry &entry);
  bool waitsOutside() const;
  bool letsDependentGo();
  void report(FaultException fault, const Site &site, const Warp *warp);
  void ctaEnds(Cta &cta);
  bool finished() const;
  void history(const Warp &warp, Report &report) const;

  Machine &machine;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<Watch> watch; // once it has been idle for long
  std::vector<WarpRef> warps;
  std::vector<uint8_t> &executedForms;
  Tracer *tracer;
  uint64_t random;
  size_t turn = 0;      // fair: which actor is next
  size_t steeredAt = 0; // place of the list that comes next
  size_t engineTurn = 0;
  bool dependentGoes = false; // it was told once that a dependent grid may begin
  unsigned giveUps = 0;       // rounds of giving up without any change in between
  uint64_t giveUpChange = 0;
  std::vector<Engines::Choice> choices;
};

/// The text of a hang: every blocked warp with what it waits for, the barriers' states, the
/// engines.
Report describeHang(const Cluster &cluster, bool livelock);
/// The place of the first lanes that are not blocked.
std::string describeLoop(const Cluster &cluster);

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_RUN_H
