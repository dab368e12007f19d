// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipeline groups, as PROTOCOL.md has them: which barriers the members have in common, who arms a
// fork. And how many arrivals a phase gets, shared or not. The rest of a ring is in Rings.cpp.
#include "Rings.h"

#include <algorithm>

namespace ts::oracle {

using namespace protocol;
using schedule::ResourceKind;
using schedule::Task;

const std::vector<int> &Rings::membersOf(int resource) const {
  static const std::vector<int> none;
  const auto &entry = kernel.resources[size_t(resource)];
  return entry.kind == ResourceKind::Group ? entry.members : none;
}

bool Rings::shares(int resource, bool full) const {
  int group = kernel.resources[size_t(resource)].group;
  if (group < 0)
    return false;
  GroupMode mode = kernel.resources[size_t(group)].mode;
  return mode == GroupMode::FusedMerge || (mode == GroupMode::Fork) == full;
}

/// A group's own operations work like a member's; where only some members are released by every
/// thread, the group is.
std::optional<PipelineSpec> Rings::specOf(int resource) const {
  const std::vector<int> &members = membersOf(resource);
  if (members.empty())
    return kernel.resources[size_t(resource)].pipeline;
  std::optional<PipelineSpec> result;
  for (int member : members) {
    const auto &spec = kernel.resources[size_t(member)].pipeline;
    if (!spec)
      continue;
    bool threads =
        spec->type == PipelineType::AsyncAsync || spec->type == PipelineType::UmmaAsync ||
        (spec->type == PipelineType::TmaAsync && spec->releaseStyle == ReleaseStyle::PerThread);
    if (!result || threads)
      result = spec;
    if (threads)
      break;
  }
  if (result)
    result->producerCount = result->consumerCount = result->numBytes = std::nullopt;
  return result;
}

bool Rings::closes(const Writer &writer, int resource, Side which) const {
  for (int r : {resource, kernel.resources[size_t(std::max(resource, 0))].group})
    if (auto it = writer.cursors.find({r, which});
        r >= 0 && it != writer.cursors.end() && it->second.closes)
      return true;
  return false;
}

/// The members of a fork are filled by one bracket: the last acquire of a slot arms for all. Those
/// of a fused merge arm one by one.
void Rings::armFork(Writer &writer, int resource, int64_t slot) {
  int group = rings[size_t(resource)].group;
  auto &ops = program.agents[size_t(writer.agent)].ops;
  if (kernel.resources[size_t(group)].mode != GroupMode::Fork)
    return arm(writer, resource, slot);
  auto &[armed, members] = writer.armed[{group, slot}];
  members.insert(resource);
  // The bracket has been closed before.
  if (auto it = writer.cursors.find({group, Side::Producer});
      it != writer.cursors.end() && it->second.close > slot)
    program.strayFork = true;
  for (size_t at : armed)
    ops[at] = {OpKind::Close, -1, 0, 0, 0, -1, -1, {}, {}};
  armed.clear();
  size_t first = ops.size();
  arm(writer, resource, slot);
  for (size_t at = first; at < ops.size(); ++at)
    armed.push_back(at);
}

void Rings::checkForks(const Writer &writer) const {
  for (auto &[key, armed] : writer.armed)
    for (int member : membersOf(key.first))
      if (auto it = writer.cursors.find({member, Side::Producer});
          it != writer.cursors.end() && it->second.opens && !armed.second.count(member))
        program.strayFork = true;
}

/// Counts of the shared barriers: one arrival of everybody whose task has the operation.
void Rings::finishGroup(int resource) {
  GroupMode mode = kernel.resources[size_t(resource)].mode;
  std::map<int, int64_t> sums;
  size_t scratch = program.agents.size();
  for (size_t t = 0; t < kernel.tasks.size(); ++t) {
    const Task &task = kernel.tasks[t];
    std::set<std::pair<int, Op>> ops;
    for (const auto &step : task.steps) {
      int r = step.event.resource;
      auto op = schedule::barrierOp(step.event.kind);
      if (step.kind != schedule::StepKind::Event || !op || r < 0 ||
          (r != resource && rings[size_t(r)].group != resource))
        continue;
      // Armed once, whichever member is the last.
      bool once = mode == GroupMode::Fork && *op == Op::Acquire;
      if (!once || std::none_of(ops.begin(), ops.end(),
                                [](const auto &known) { return known.second == Op::Acquire; }))
        ops.insert({r, *op});
    }
    bool split = splitsWarps(task);
    for (int cta = 0; cta < program.ctas; ++cta)
      for (int64_t warp = 0; warp < (split ? task.warps : 1); ++warp) {
        if (task.onlyCta && *task.onlyCta != cta)
          continue;
        Writer writer;
        writer.agent = int(scratch);
        writer.task = int(t);
        writer.cta = cta;
        writer.warp = int(warp);
        writer.warps = split ? 1 : task.warps;
        program.agents.emplace_back();
        for (auto [r, op] : ops) {
          if (op == Op::Acquire)
            arm(writer, r, 0);
          else if (op == Op::Commit)
            commit(writer, r, 0);
          else if (op == Op::Release)
            release(writer, r, 0);
        }
        for (const Micro &op : program.agents.back().ops) {
          if (op.kind == OpKind::Arrive)
            sums[op.barrier] += op.count;
          for (const Target &target : op.targets)
            sums[target.barrier] += op.count;
        }
        program.agents.resize(scratch);
      }
  }
  for (int cta = 0; cta < program.ctas; ++cta)
    for (int64_t stage = 0; stage < spec(resource).stages; ++stage)
      for (bool full : {true, false}) {
        auto at = [&](int64_t slot) {
          return full ? fullBarrier(resource, cta, slot) : emptyBarrier(resource, cta, slot);
        };
        program.barriers[size_t(at(stage))].count = std::max<int64_t>(1, sums[at(0)]);
      }
}

int64_t Rings::inferred(int resource, bool full) const {
  std::map<int, int64_t> sums;
  for (const Agent &agent : program.agents)
    for (const Micro &op : agent.ops) {
      if (op.kind == OpKind::Arrive && op.gen == 0)
        sums[op.barrier] += op.count;
      if (op.kind == OpKind::UmmaCommit || op.kind == OpKind::CpAsyncArrive)
        for (const Target &target : op.targets)
          if (target.gen == 0)
            sums[target.barrier] += op.count;
    }
  int64_t best = 0;
  for (int cta = 0; cta < program.ctas && !best; ++cta)
    best = sums[full ? fullBarrier(resource, cta, 0) : emptyBarrier(resource, cta, 0)];
  return best;
}

void Rings::finish() {
  for (size_t r = 0; r < rings.size(); ++r) {
    if (!rings[r].spec)
      continue;
    if (!membersOf(int(r)).empty()) {
      finishGroup(int(r));
      continue;
    }
    const PipelineSpec &s = *rings[r].spec;
    int64_t counts[2];
    for (bool full : {true, false}) {
      std::optional<int64_t> declared = full ? s.producerCount : s.consumerCount;
      counts[full] = std::max<int64_t>(1, declared ? *declared : inferred(int(r), full));
    }
    for (int cta = 0; cta < program.ctas; ++cta)
      for (int64_t stage = 0; stage < s.stages; ++stage) {
        for (bool full : {true, false})
          if (!shares(int(r), full))
            program
                .barriers[size_t(full ? fullBarrier(int(r), cta, stage)
                                      : emptyBarrier(int(r), cta, stage))]
                .count = counts[full];
      }
  }
}

} // namespace ts::oracle
