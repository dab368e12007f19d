// Check 23: pipeline groups are consistent, and the counts of their members and shared barriers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ValidateImpl.h"

#include <algorithm>

namespace ts::protocol {

namespace {

struct GroupCheck {
  const GroupSpec &group;
  std::vector<Finding> &findings;

  void add(std::string message, std::string hint, std::string expected = "",
           std::string task = "") {
    findings.push_back({223, group.name, std::move(task), std::move(message), std::move(expected),
                        "", std::move(hint)});
  }

  std::string title() const {
    return std::string(name(group.mode)) + " group " + quote(group.name);
  }

  void alike() {
    const PipelineSpec &first = group.members.front().spec;
    for (const GroupMember &member : group.members) {
      const PipelineSpec &spec = member.spec;
      if (spec.stages != first.stages)
        add("members of " + title() + " have different stages: " + quote(first.name) + " has " +
                std::to_string(first.stages) + ", " + quote(spec.name) + " has " +
                std::to_string(spec.stages),
            "give all members the same number of stages", std::to_string(first.stages));
      bool consumers = sharesBarrier(group.mode, Barrier::Empty);
      bool producers = sharesBarrier(group.mode, Barrier::Full);
      if (consumers && consumerKind(spec.type) != consumerKind(first.type))
        add("members of " + title() + " share their empty barriers, but " + quote(first.name) +
                " is " + std::string(name(first.type)) + " and " + quote(spec.name) + " is " +
                std::string(name(spec.type)) + ": their consumers arrive in different ways",
            "group members whose consumers are of one kind");
      if (producers && producerKind(spec.type) != producerKind(first.type))
        add("members of " + title() + " share their full barriers, but " + quote(first.name) +
                " is " + std::string(name(first.type)) + " and " + quote(spec.name) + " is " +
                std::string(name(spec.type)) + ": their producers arrive in different ways",
            "group members whose producers are of one kind");
      if (producers && spec.asyncLoad != first.asyncLoad)
        add("members of " + title() + " share their full barriers, but only one of " +
                quote(first.name) + " and " + quote(spec.name) + " arrives through cp.async",
            "use the same async producer op for all members");
      for (Op op : {Op::Acquire, Op::Commit, Op::Wait, Op::Release}) {
        bool shared = sideOf(op) == Side::Producer ? producers : consumers;
        if (shared && spec.stride(op) != first.stride(op))
          add("members of " + title() + " have different interleave strides for '" +
                  std::string(name(op)) + "': " + std::to_string(first.stride(op)) + " and " +
                  std::to_string(spec.stride(op)),
              "use one stride on the side that the group collapses",
              std::to_string(first.stride(op)));
      }
    }
  }

  /// The closing op of the collapsed side stands for all members, so it is written once.
  void collapsedOp() {
    Op closing = group.mode == GroupMode::Fork ? Op::Commit : Op::Release;
    std::string op = "'" + std::string(name(closing)) + "'";
    for (const GroupMember &member : group.members)
      for (const TaskRole &role : member.by.of(closing))
        add("task " + quote(role.task) + " executes " + op + " on member " +
                quote(member.spec.name) + " of " + title() + ", expected it on the group only",
            "write the op once, on " + quote(group.name), "", role.task);
    if (group.mode == GroupMode::FusedMerge)
      return;
    for (Op other : {Op::Acquire, Op::Commit, Op::Wait, Op::Release})
      if (other != closing)
        for (const TaskRole &role : group.by.of(other))
          add("task " + quote(role.task) + " executes '" + std::string(name(other)) + "' on " +
                  title() + ", which shares no barrier for it",
              "write it on each member; only " + op + " stands on the group", "", role.task);
  }

  void routes(const ClusterSpec &cluster) {
    const PipelineSpec &first = group.members.front().spec;
    if (CtaGrid(first, cluster).size() == 1)
      return;
    for (const GroupMember &member : group.members) {
      for (Op op : {Op::Acquire, Op::Commit, Op::Release}) {
        auto mine = actionFor(member.spec, cluster, op).arrive;
        auto theirs = actionFor(first, cluster, op).arrive;
        bool shared = sharesBarrier(group.mode,
                                    sideOf(op) == Side::Producer ? Barrier::Full : Barrier::Empty);
        if (shared && mine && theirs &&
            (mine->target != theirs->target || mine->leaderOnly != theirs->leaderOnly))
          add("members of " + title() + " share barriers across a cluster, but '" +
                  std::string(name(op)) + "' of " + quote(first.name) + " reaches " +
                  std::string(name(theirs->target)) + " and that of " + quote(member.spec.name) +
                  " " + std::string(name(mine->target)),
              "group members whose arrivals go to the same CTAs");
      }
    }
  }
};

} // namespace

std::vector<Finding> validate(const GroupSpec &group, const ClusterSpec &cluster) {
  std::vector<Finding> findings;
  GroupCheck check{group, findings};
  if (group.members.size() < 2) {
    check.add(check.title() + " has " + std::to_string(group.members.size()) +
                  (group.members.size() == 1 ? " member" : " members") + ", expected at least 2",
              "add members, or use a plain pipeline", "2");
    return findings;
  }
  for (const GroupMember &member : group.members)
    if (member.spec.stages < 1)
      return validate(member.spec, cluster, member.by);
  check.alike();
  check.collapsedOp();
  check.routes(cluster);
  // What is wrong with a member on its own mostly follows from that.
  if (!findings.empty())
    return findings;
  for (const GroupMember &member : group.members) {
    Participants by = member.by;
    for (Op op : {Op::Acquire, Op::Commit, Op::Wait, Op::Release})
      if (by.of(op).empty())
        by.of(op) = group.by.of(op);
    checkSignalling(member.spec, by, findings);
    checkInterleave(member.spec, cluster, by, findings);
    checkEngines(member.spec, findings);
    checkRouting(member.spec, cluster, by, findings);
  }
  if (!findings.empty())
    return findings;
  GroupCounts counts = expectedCounts(group, cluster);
  for (size_t i = 0; i < group.members.size(); ++i)
    compareCounts(group.members[i].spec, counts.members[i], findings);
  // The group itself declares nothing, but its sums can exceed what a barrier counts.
  compareCounts(groupPipeline(group, cluster), counts.shared, findings);
  return findings;
}

} // namespace ts::protocol
