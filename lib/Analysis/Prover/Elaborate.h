// Shared by the parts of elaboration: rings with their barriers, and the builder of one agent's
// code. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_PROVER_ELABORATE_H
#define TS_PROVER_ELABORATE_H

#include "Program.h"
#include "ts/Analysis/Protocol/Protocol.h"

#include <map>

namespace ts::prover {

namespace proto = ::ts::protocol;
namespace sched = ::ts::schedule;

/// A pipeline as its operations see it. Groups and their members are rings of their own that share
/// barriers.
struct Ring {
  int resource = -1;
  proto::PipelineSpec spec;
  proto::Participants by;
  int64_t stages = 1;
  int unit = -1;
  int group = -1, member = -1; ///< ring of the group and number in it
  bool isGroup = false;
  std::vector<int> full, empty; ///< first barrier by CTA, -1 for none
  int64_t bytes = 0;            ///< expected per phase
  int64_t armers = 1;           ///< arming arrivals that share them
  int barrier(bool isFull, int cta) const { return (isFull ? full : empty)[size_t(cta)]; }
};

/// Key of a family of accesses.
struct FamilyKey {
  int cta, allocation, agent, channel, resource, task, step;
  int64_t offset, size;
  bool write, exact;
  int partBase = -1;
  int64_t partOffset = 0, partSize = 0, partStride = 0, parts = 1;
  int places = -1; ///< number of the access's places
  auto operator<=>(const FamilyKey &) const = default;
};

/// What the conflict table needs beside Family.
struct FamilyMemory {
  bool exact = true, declared = false;
  int channel = 0;
  int places = -1;
};

/// Byte counts are clamped here; sums of absurd ones must not overflow.
constexpr int64_t mostBytes = int64_t(1) << 40;

/// Asynchronous channels of one agent.
enum Channel : int { Sync, Umma, Tma, Bulk, Wgmma, CpAsync, TmemLoad, Held };
/// What the closing op of one side of a ring ends: declared work of an engine.
inline Channel heldBy(int ring, proto::Side side) {
  return Channel(Held + 2 * ring + (side == proto::Side::Consumer));
}

class Elaborator {
public:
  Elaborator(const sched::Kernel &kernel, const Placement &placement, const Options &options,
             bool widen)
      : kernel(kernel), placement(placement), options(options), widen(widen) {}
  Program run();

private:
  friend class TaskElaborator;

  void findCluster();
  void addRings();
  void addParticipants();
  void finishRing(Ring &ring);
  void addRingBarriers(Ring &ring, bool isFull);
  void addOtherBarriers();
  void addAgents();
  void numberRows();
  void finishEpochs();
  void addConflicts();
  void addExitMasks();
  void addRelevance();
  void computeLiveness(Agent &agent);
  void rotateUnits();

  int addBarrier(BarrierInfo info) {
    program.barriers.push_back(std::move(info));
    return int(program.barriers.size()) - 1;
  }
  int addFamily(Family family);
  int arrivalFamily(int barrier, int64_t stages, int agent, bool async);
  int waitFamily(int barrier, int64_t stages, int agent);
  int accessFamily(const FamilyKey &key, bool async, bool declared, int accessIndex);
  /// Number of a place that run-time numbers decide.
  int partBase(const std::string &base) {
    return partBases.try_emplace(base, int(partBases.size())).first->second;
  }
  /// Number of a list of places; -1 where they are not known.
  int placesOf(const sched::Access &access) {
    if (!access.placesKnown)
      return -1;
    return places.try_emplace(access.places, int(places.size())).first->second;
  }
  int symbolFor(const sched::Bound &bound, bool tile, int queue);
  /// The symbol that stands for a long constant and the constant's distance to it.
  std::pair<int, int64_t> symbolForConstant(int64_t trips);
  void refuse(std::string why) {
    if (program.refused.empty())
      program.refused = std::move(why);
  }
  void assume(std::string what);
  /// The least common multiple of two periods; refuses what no search would come around.
  int64_t commonPeriod(int64_t a, int64_t b);
  proto::GroupSpec groupSpec(int resource) const;

  const sched::Kernel &kernel;
  const Placement &placement;
  const Options &options;
  const bool widen;
  Program program;
  std::vector<Ring> rings;
  std::vector<int> ringOf;                       ///< by resource
  std::vector<proto::Participants> participants; ///< by resource
  std::map<int, proto::GroupSpec> groups;
  std::map<std::tuple<int, int, bool>, int> arrivalFamilies;
  std::map<std::pair<int, int>, int> waitFamilies;
  std::map<FamilyKey, int> accessFamilies;
  std::map<std::string, int> partBases;
  std::map<std::vector<sched::WarpPlace>, int> places;
  std::vector<FamilyMemory> memory; ///< by family
  std::map<std::string, int> symbols;
  std::map<int64_t, int> constants; ///< symbols of long constants
  std::map<std::pair<std::string, bool>, int> conditions;
  std::map<std::string, std::string>
      keyOrigins; ///< where the value of a user's key was first seen from
  std::map<std::pair<int, int>, int> handBarriers; ///< (resource, cta): first barrier
  int clusterBarrier = -1;
};

/// Compiles one task for one CTA and one of its independently waiting groups of warps.
class TaskElaborator {
public:
  TaskElaborator(Elaborator &context, int agent) : c(context), agentIndex(agent) {}
  void run();

private:
  struct Side {
    int opening = -1, closing = -1, opened = -1, tried = -1, produced = -1;
    bool opens = false, closes = false, probes = false, shared = false;
  };
  using Steps = std::vector<sched::StepId>;

  void collectSides(const Steps &steps);
  void markLastOfBracket();
  void makeSide(int ring, proto::Side which, Side &side);
  /// Of declared work by an engine: the closing op of its ring where the task has one.
  Channel endOfDeclared(const sched::Event &event) const;
  bool holds(int resource, proto::Side side) const;
  void block(const Steps &steps, int depth);
  void step(sched::StepId id, int depth);
  void event(sched::StepId id, int depth);
  void barrierOp(sched::StepId id, int resource, proto::Op op);
  void waitFor(const Ring &ring, const Side &side, const proto::WaitStep &wait, sched::StepId id,
               int64_t ahead, bool drain);
  void arriveAt(const Ring &ring, const Side &side, const proto::ArriveStep &arrive, proto::Op op,
                sched::StepId id);
  void work(sched::StepId id, int depth);
  bool choosePart(const sched::Access &access, AccessSpec &spec, FamilyKey &key);
  void access(sched::StepId id, const sched::Event &event, bool declared);
  void issueKnown(const Ring &ring, const Side &side, sched::StepId id,
                  const proto::IssuedBytes &bytes);
  void issueDeclared(const Ring &ring, const Side &side, sched::StepId id);
  void addIssue(const Ring &ring, const std::vector<int64_t> &perCta, int slot, int onlyIf,
                sched::StepId id);
  std::vector<int64_t> issuedPerCta(const Ring &ring, const proto::IssuedBytes &bytes) const;
  std::vector<int64_t> declaredPerCta(const Ring &ring) const;
  void loop(sched::StepId id, int depth);
  /// Number of a condition: one for all that have the same key, inside or outside tile loops.
  int conditionFor(const std::string &key, const std::string &name);
  void hand(sched::StepId id);
  void baton(sched::StepId id, bool take);
  void drains();
  bool relevant(const Steps &steps) const;
  bool executes(proto::Executor who) const;
  int64_t countFor(proto::Executor who) const;
  int currentSlot(int resource, proto::Side side);
  int viewOf(sched::StepId id);
  int variable(int unit, int64_t stages, int64_t start, int resource);
  int queue(Channel channel);
  int emit(Op op, int step, int a = -1, int b = 0, int cc = 0);
  Agent &agent() { return c.program.agents[size_t(agentIndex)]; }
  const Agent &agent() const { return c.program.agents[size_t(agentIndex)]; }
  const sched::Task &task() const { return c.kernel.tasks[size_t(agent().task)]; }
  const sched::Step &at(sched::StepId id) const { return task().steps[size_t(id)]; }
  proto::TaskRole role(sched::StepId id) const;
  int enclosing(sched::StepId id, bool domain) const;

  Elaborator &c;
  int agentIndex;
  std::map<std::pair<int, proto::Side>, Side> sides; ///< by ring
  std::map<sched::StepId, int> views;                ///< slot variable of a work call
  std::map<sched::StepId, int> loopNumber;
  std::map<int, int> queues; ///< by channel
  std::map<std::pair<sched::StepId, int>, int> occurrences;
  std::vector<bool> lastAcquire, lastProduce; ///< by step: of its bracket
  bool tileLoop = false;
  int queueDepth(Channel channel) const;
};

proto::TaskRole roleOf(const sched::Task &task, sched::StepId id);

} // namespace ts::prover

#endif
