// Counts of pipeline groups: whose arrivals meet on the barriers that the members share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Protocol/Counts.h"

#include <algorithm>

namespace ts::protocol {

namespace {

constexpr Op blockingOps[] = {Op::Acquire, Op::Commit, Op::Wait, Op::Release};

/// Saturating: byte counts come from programs and may be absurd.
int64_t plus(int64_t a, int64_t b) {
  constexpr int64_t limit = int64_t(1) << 40;
  return std::clamp<int64_t>(a, 0, limit) + std::clamp<int64_t>(b, 0, limit);
}

/// A member's operations, with the group's own where the member has none of that kind.
Participants withGroupOps(const GroupSpec &group, const GroupMember &member) {
  Participants by = member.by;
  for (Op op : blockingOps)
    if (by.of(op).empty())
      by.of(op) = group.by.of(op);
  return by;
}

/// Everybody who touches the group, each task once per op; bytes of one task's copies add up.
Participants everybody(const GroupSpec &group) {
  Participants all = group.by;
  for (Op op : blockingOps) {
    std::vector<TaskRole> &list = all.of(op);
    // Operations on the group stand for the members' own: only without them do those count.
    if (!list.empty())
      continue;
    for (const GroupMember &member : group.members)
      for (const TaskRole &role : member.by.of(op)) {
        auto known = std::find_if(list.begin(), list.end(),
                                  [&](const TaskRole &r) { return r.task == role.task; });
        if (known == list.end()) {
          list.push_back(role);
        } else if (!known->issued) {
          known->issued = role.issued; // copies may be attributed to any one member
        } else if (role.issued) {
          known->issued->own = plus(known->issued->own, role.issued->own);
          known->issued->alongN = plus(known->issued->alongN, role.issued->alongN);
          known->issued->alongM = plus(known->issued->alongM, role.issued->alongM);
        }
      }
  }
  return all;
}

/// Which member's arrival style the shared empty barriers take: threads before elected lanes.
const GroupMember *strictest(const GroupSpec &group, const ClusterSpec &cluster) {
  for (const GroupMember &member : group.members) {
    PipelineSpec spec = resolveDeclared(member.spec, cluster, withGroupOps(group, member));
    Action release = actionFor(spec, cluster, Op::Release);
    if (release.arrive && release.arrive->who == Executor::EveryThread)
      return &member;
  }
  return &group.members.front();
}

void addInto(Expected &sum, const Expected &part, const std::string &member) {
  if (!sum.derivation.empty() && !sum.value)
    return; // one unknown part leaves the sum unknown
  std::string text = "'" + member + "' ";
  if (!part.value) {
    sum.value.reset();
    sum.derivation = text + "unknown: " + part.derivation;
    return;
  }
  text += std::to_string(*part.value);
  if (sum.perCta.empty()) {
    sum.value = part.value;
    sum.perCta = part.perCta;
    sum.derivation = text;
    sum.assumed = part.assumed;
    return;
  }
  sum.value = plus(*sum.value, *part.value);
  sum.assumed |= part.assumed;
  sum.uniform &= part.uniform;
  for (size_t i = 0; i < std::min(sum.perCta.size(), part.perCta.size()); ++i)
    sum.perCta[i] = plus(sum.perCta[i], part.perCta[i]);
  sum.derivation += " + " + text;
}

} // namespace

PipelineSpec groupPipeline(const GroupSpec &group, const ClusterSpec &cluster) {
  PipelineSpec spec;
  spec.name = group.name;
  if (group.members.empty())
    return spec;
  const GroupMember *model = strictest(group, cluster);
  spec = resolveDeclared(model->spec, cluster, withGroupOps(group, *model));
  spec.name = group.name;
  spec.producerCount = spec.consumerCount = spec.numBytes = spec.stageBytes = std::nullopt;
  SideAccess producer, consumer;
  EngineSet overlaid = 0;
  int64_t bytes = 0;
  for (const GroupMember &member : group.members) {
    SideAccess p = accessOf(member.spec, Side::Producer), c = accessOf(member.spec, Side::Consumer);
    producer = {EngineSet(producer.reads | p.reads), EngineSet(producer.writes | p.writes)};
    consumer = {EngineSet(consumer.reads | c.reads), EngineSet(consumer.writes | c.writes)};
    overlaid |= member.spec.overlaid;
    bytes += std::clamp<int64_t>(member.spec.stageBytes.value_or(0), 0, maxPhaseCount + 1);
  }
  spec.producerAccess = producer;
  spec.consumerAccess = consumer;
  spec.overlaid = overlaid;
  if (bytes > 0)
    spec.stageBytes = bytes;
  return spec;
}

Action memberAction(const GroupSpec &group, const ClusterSpec &cluster, size_t index, Op op,
                    bool lastAcquire) {
  PipelineSpec spec = group.members[index].spec;
  PipelineSpec whole = groupPipeline(group, cluster);
  // What the shared barrier orders is the access of all members' other sides.
  if (sharesBarrier(group.mode, Barrier::Empty))
    spec.producerAccess = sideOf(op) == Side::Consumer ? whole.producerAccess : spec.producerAccess;
  if (sharesBarrier(group.mode, Barrier::Full))
    spec.consumerAccess = sideOf(op) == Side::Producer ? whole.consumerAccess : spec.consumerAccess;
  Action action = actionFor(spec, cluster, op);
  Op closing = group.mode == GroupMode::Fork ? Op::Commit : Op::Release;
  if (op == closing) {
    action.arrive.reset();
    action.beforeArrive.clear();
    action.engineCompletes = false;
  } else if (group.mode == GroupMode::Fork && op == Op::Acquire && !lastAcquire) {
    action.arrive.reset();
  }
  return action;
}

GroupCounts expectedCounts(const GroupSpec &group, const ClusterSpec &cluster) {
  GroupCounts result;
  if (group.members.empty())
    return result;
  PipelineSpec whole = groupPipeline(group, cluster);
  Participants all = everybody(group);
  for (const GroupMember &member : group.members)
    result.members.push_back(expectedCounts(member.spec, cluster, withGroupOps(group, member)));

  if (sharesBarrier(group.mode, Barrier::Empty)) {
    result.shared.emptyArrivals = expectedArrivals(whole, cluster, all, Barrier::Empty);
    // The style is the group's, so a member may state its count per thread or per warp.
    for (size_t i = 0; i < group.members.size(); ++i) {
      const Expected &own = result.members[i].emptyArrivals;
      PipelineType type = group.members[i].spec.type;
      if (consumerKind(type) != SideKind::Async || type == PipelineType::TmaAsync || !own.value)
        continue;
      Expected perWarp = own;
      perWarp.value = *own.value / 32;
      for (int64_t &count : perWarp.perCta)
        count /= 32;
      perWarp.derivation = "one per warp of: " + own.derivation;
      result.members[i].emptyAlternatives.push_back(std::move(perWarp));
    }
  }
  if (group.mode == GroupMode::Fork) {
    // Armed once, at the last member's acquire, with the bytes of all copies of the bracket.
    result.shared.fullArrivals = expectedArrivals(whole, cluster, all, Barrier::Full);
    result.shared.fullBytes = expectedBytes(whole, cluster, all);
    for (ExpectedCounts &member : result.members) {
      member.fullArrivals = result.shared.fullArrivals;
      member.fullBytes = result.shared.fullBytes;
    }
  } else if (group.mode == GroupMode::FusedMerge) {
    for (size_t i = 0; i < group.members.size(); ++i) {
      addInto(result.shared.fullArrivals, result.members[i].fullArrivals,
              group.members[i].spec.name);
      // A member may declare bytes that nothing here can infer; the sum counts what it says.
      Expected bytes = result.members[i].fullBytes;
      if (!bytes.value && group.members[i].spec.numBytes) {
        bytes.value = group.members[i].spec.numBytes;
        bytes.perCta = {*bytes.value};
      }
      addInto(result.shared.fullBytes, bytes, group.members[i].spec.name);
    }
    for (Expected *sum : {&result.shared.fullArrivals, &result.shared.fullBytes})
      if (sum->value)
        sum->derivation += " = " + std::to_string(*sum->value);
  }
  return result;
}

std::optional<int64_t> sharedBytes(const GroupSpec &group, const GroupCounts &counts) {
  std::optional<int64_t> bytes = counts.shared.fullBytes.value;
  if (group.mode == GroupMode::Fork)
    for (const GroupMember &member : group.members)
      if (member.spec.numBytes)
        bytes = member.spec.numBytes;
  return bytes;
}

} // namespace ts::protocol
