// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds the copies of the work between two acquires along each path. The commit of a copy engine is
// optional and does nothing, so it does not end a phase here.
#include "ts/Analysis/Schedule/BracketBytes.h"
#include "ts/Analysis/Schedule/IssuedCopies.h"
#include "ts/Analysis/Schedule/PathWalker.h"

using namespace mlir;
using namespace mlir::ts;
using namespace ::ts::protocol;

namespace {
struct OpenPhase {
  Operation *acquire = nullptr;
  uint64_t members = 0; ///< of a fork, that are acquired
  bool known = true;
  int64_t own = 0, alongN = 0, alongM = 0;
  SmallVector<Operation *, 4> works;
  bool operator==(const OpenPhase &other) const = default;
};
} // namespace

PhaseBytes mlir::ts::bytesPerPhase(Value resource, TaskOp task, int64_t replica, bool perWarp,
                                   const PipelineSpec &spec, const ClusterSpec &cluster) {
  PhaseBytes result;
  if (tooDeep(task)) {
    result.known = false;
    return result;
  }
  SmallVector<Value> targets = {resource}, acquired = {resource};
  auto group = resource.getDefiningOp<PipelineGroupOp>();
  bool fork = group && group.getMode() == GroupMode::Fork;
  if (group)
    llvm::append_range(targets, group.getMembers());
  if (fork)
    llvm::append_range(acquired, group.getMembers());

  PathConditions conditions(task, replica);
  llvm::DenseMap<Operation *, ::ts::schedule::IssuedBytes> issued;
  constexpr size_t kMaxWorks = 64;

  auto record = [&](const OpenPhase &phase, const PathAssumptions &path) {
    if (!phase.acquire)
      return;
    ::ts::protocol::IssuedBytes bytes{phase.own, phase.alongN, phase.alongM};
    for (const PhaseBytes::Phase &known : result.phases)
      if (known.bytes.own == bytes.own && known.bytes.alongN == bytes.alongN &&
          known.bytes.alongM == bytes.alongM && known.known == phase.known &&
          known.works.empty() == phase.works.empty())
        return;
    PhaseBytes::Phase entry{
        bytes, cast<AcquireOp>(phase.acquire), {}, phase.known, conditions.describe(path)};
    for (Operation *work : phase.works)
      entry.works.push_back(cast<ProduceOp>(work));
    result.phases.push_back(std::move(entry));
  };
  auto visit = [&](Operation *op, const OpenPhase &state, const PathAssumptions &path,
                   SmallVectorImpl<OpenPhase> &out) {
    if (auto acquire = dyn_cast<AcquireOp>(op)) {
      uint64_t member = 0;
      if (fork)
        member =
            uint64_t(1) << (llvm::find(acquired, acquire.getResource()) - acquired.begin()) % 64;
      OpenPhase next = state;
      // The other members of a fork join the phase as long as nothing was issued into it.
      if (!fork || (state.members & member) || !state.works.empty()) {
        record(state, path);
        next = OpenPhase();
      }
      next.acquire = op;
      next.members |= member;
      out.push_back(next);
      return;
    }
    const auto &bytes = issued.find(op)->second;
    if (state.works.size() >= kMaxWorks)
      result.known = false;
    if (!state.acquire) {
      out.push_back(state);
      return;
    }
    if (!bytes.known || bytes.alternatives.empty()) {
      OpenPhase next = state;
      next.known &= bytes.known;
      if (!bytes.known && !llvm::is_contained(next.works, op))
        next.works.push_back(op);
      out.push_back(next);
      return;
    }
    for (const auto &one : bytes.alternatives) {
      OpenPhase next = state;
      next.own = std::min(next.own + one.own, int64_t(1) << 40);
      next.alongN = std::min(next.alongN + one.alongN, int64_t(1) << 40);
      next.alongM = std::min(next.alongM + one.alongM, int64_t(1) << 40);
      if (one.own || one.alongN || one.alongM)
        next.works.push_back(op);
      if (next.works.size() <= kMaxWorks)
        out.push_back(next);
    }
  };
  PathWalker<OpenPhase> walker(task, conditions, visit);
  task.walk([&](Operation *op) {
    if (auto acquire = dyn_cast<AcquireOp>(op);
        acquire && llvm::is_contained(acquired, acquire.getResource()))
      walker.markRelevant(op);
    if (auto work = dyn_cast<ProduceOp>(op);
        work && !work.getAux() && llvm::is_contained(targets, work.getResource())) {
      issued[op] = issuedBy(work, task, replica, perWarp, spec, cluster);
      walker.markRelevant(op);
    }
  });
  PathWalker<OpenPhase>::Nodes finals;
  if (!walker.run(OpenPhase(), finals))
    result.known = false;
  for (const auto &node : finals)
    record(node.state, node.path);
  for (const PhaseBytes::Phase &phase : result.phases)
    result.known &= phase.known;
  return result;
}
