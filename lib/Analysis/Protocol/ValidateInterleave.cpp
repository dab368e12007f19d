// Check 21 (interleaved pipelines) and check 22 (one cluster layout per kernel).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ValidateImpl.h"

#include <algorithm>
#include <map>

namespace ts::protocol {

namespace {

constexpr Op roles[] = {Op::Acquire, Op::Commit, Op::Wait, Op::Release};

std::string layoutText(const LayoutVmnk &l) {
  return "(" + std::to_string(l[0]) + ", " + std::to_string(l[1]) + ", " + std::to_string(l[2]) +
         ", " + std::to_string(l[3]) + ")";
}

std::string warpCount(int64_t warps) {
  return std::to_string(warps) + (warps == 1 ? " warp" : " warps");
}

struct Interleave {
  const PipelineSpec &spec;
  const Participants &by;
  std::vector<Finding> &findings;

  void add(std::string message, std::string hint, std::string expected = "",
           std::string derivation = "", std::string task = "") {
    findings.push_back({221, spec.name, std::move(task), std::move(message), std::move(expected),
                        std::move(derivation), std::move(hint)});
  }

  /// False where the strides themselves make no sense and nothing else should be said.
  bool strides() {
    for (Op op : roles) {
      int64_t n = spec.stride(op);
      if (n < 1 || n > spec.stages || spec.stages % n != 0) {
        add("interleave stride " + std::to_string(n) + " of '" + std::string(name(op)) + "' on " +
                quote(spec.name) + " does not divide its " + std::to_string(spec.stages) +
                " stages",
            "use a stride that divides the stages, or change the stages");
        return false;
      }
    }
    return true;
  }

  void types(const CtaGrid &grid) {
    auto wide = [&](Op a, Op b) { return spec.stride(a) > 1 || spec.stride(b) > 1; };
    bool producer = wide(Op::Acquire, Op::Commit), consumer = wide(Op::Wait, Op::Release);
    std::string type(name(spec.type));
    if ((spec.type == PipelineType::UmmaUmma || spec.type == PipelineType::ClcFetchAsync) &&
        (producer || consumer))
      add(quote(spec.name) + " is interleaved, but " + type + " does not support lanes",
          "use interleave stride 1", "1");
    else if (spec.type == PipelineType::UmmaAsync && producer)
      add("producer of " + quote(spec.name) +
              " is interleaved, but umma_async supports lanes on its consumer side only",
          "use stride 1 for acquire and commit", "1");
    else if (spec.type == PipelineType::AsyncUmma && consumer)
      add("consumer of " + quote(spec.name) +
              " is interleaved, but async_umma supports lanes on its producer side only",
          "use stride 1 for wait and release", "1");
    else if (spec.type == PipelineType::TmaAsync && grid.size() > 1)
      add(quote(spec.name) + " is interleaved over a cluster of " + std::to_string(grid.size()) +
              " CTAs, but tma_async supports lanes within one CTA only",
          "use interleave stride 1, or give the pipeline a layout of one CTA", "1");
  }

  void splitRoles(Op open, Op close, bool flag, const char *flagName) {
    if (spec.stride(open) == spec.stride(close))
      return;
    std::string pair = "'" + std::string(name(open)) + "' and '" + std::string(name(close)) + "'";
    std::string strides = "strides " + std::to_string(spec.stride(open)) + " and " +
                          std::to_string(spec.stride(close));
    if (!flag)
      add(pair + " of " + quote(spec.name) + " have " + strides + ", but share one cursor",
          std::string("set ") + flagName + ", or use equal strides");
    for (const TaskRole &a : by.of(open))
      for (const TaskRole &b : by.of(close))
        if (a.task == b.task)
          add("task " + quote(a.task) + " executes " + pair + " of " + quote(spec.name) +
                  ", whose " + strides + " differ",
              "let one task open and another one close, or use equal strides", "", "", a.task);
    for (Op op : {open, close})
      for (const TaskRole &role : by.of(op))
        if (laneMode(role, spec.stride(op)) == LaneMode::Domain)
          add("task " + quote(role.task) + " takes its lane of " + quote(spec.name) +
                  " from its loop's start, but " + pair + " have " + strides,
              "use equal strides on a side with domain lanes", "", "", role.task);
  }

  void lanes(Op op) {
    int64_t n = spec.stride(op);
    if (n <= 1 || by.of(op).empty())
      return;
    std::string opName = "'" + std::string(name(op)) + "'";
    std::map<int64_t, std::vector<const TaskRole *>> siblings;
    for (const TaskRole &role : by.of(op)) {
      switch (laneMode(role, n)) {
      case LaneMode::Unknown: {
        std::string loop = role.domainStart && role.domainStep
                               ? "its loop starts at " + std::to_string(*role.domainStart) +
                                     " with step " + std::to_string(*role.domainStep)
                               : "its loop has no constant start and step";
        add("task " + quote(role.task) + " executes " + opName + " of " + quote(spec.name) +
                " with stride " + std::to_string(n) + ", but has " + warpCount(role.warps) +
                " and " + loop,
            "give the task " + std::to_string(n) +
                " warps (one lane each), or make one task per "
                "lane with loop start 0 to " +
                std::to_string(n - 1) + " and step " + std::to_string(n),
            std::to_string(n) + " warps", "", role.task);
        return;
      }
      case LaneMode::Domain:
        siblings[domainLane(role, n)].push_back(&role);
        break;
      case LaneMode::Warp:
      case LaneMode::Single:
        break;
      }
    }
    if (siblings.empty())
      return;
    std::string missing;
    // The stride may be absurd; naming a few missing lanes is enough.
    for (int64_t lane = 0; lane < n && missing.size() < 40; ++lane)
      if (!siblings.count(lane))
        missing += (missing.empty() ? "" : ", ") + std::to_string(lane);
    for (const auto &[lane, tasks] : siblings)
      if (tasks.size() > 1)
        add("tasks " + quote(tasks[0]->task) + " and " + quote(tasks[1]->task) + " both own lane " +
                std::to_string(lane) + " of " + quote(spec.name),
            "start each sibling's loop at a lane of its own", "", "", tasks[1]->task);
    if (!missing.empty())
      add("nobody executes " + opName + " of " + quote(spec.name) + " on lane " + missing + " of " +
              std::to_string(n),
          "add a sibling task whose loop starts at that lane", std::to_string(n) + " sibling tasks",
          std::to_string(n) + " lanes with a sibling task each, found " +
              std::to_string(siblings.size()));
    const TaskRole *first = siblings.begin()->second.front();
    for (const auto &[lane, tasks] : siblings)
      if (tasks.front()->warps != first->warps)
        add("lanes of " + quote(spec.name) + " differ: " + quote(first->task) + " has " +
                warpCount(first->warps) + ", " + quote(tasks.front()->task) + " has " +
                std::to_string(tasks.front()->warps),
            "give every sibling task the same number of warps: all stages expect one count",
            std::to_string(first->warps), "", tasks.front()->task);
  }
};

} // namespace

void checkInterleave(const PipelineSpec &spec, const ClusterSpec &cluster, const Participants &by,
                     std::vector<Finding> &findings) {
  Interleave check{spec, by, findings};
  if (!check.strides())
    return;
  if (!spec.interleaved())
    return;
  check.types(CtaGrid(spec, cluster));
  check.splitRoles(Op::Acquire, Op::Commit, spec.advanceOnAcquire, "advance_on_acquire");
  check.splitRoles(Op::Wait, Op::Release, spec.advanceOnWait, "advance_on_wait");
  // Where the same tasks open and close, the closing op would repeat what the opening one says.
  auto sameTasks = [&](Op a, Op b) {
    return std::equal(by.of(a).begin(), by.of(a).end(), by.of(b).begin(), by.of(b).end(),
                      [](const TaskRole &x, const TaskRole &y) {
                        return x.task == y.task && x.warps == y.warps &&
                               x.domainStart == y.domainStart && x.domainStep == y.domainStep;
                      });
  };
  for (auto [open, close] :
       {std::pair(Op::Acquire, Op::Commit), std::pair(Op::Wait, Op::Release)}) {
    size_t before = findings.size();
    check.lanes(open);
    if (findings.size() == before || !sameTasks(open, close))
      check.lanes(close);
  }
}

std::vector<Finding> checkClusterLayouts(const std::vector<PipelineSpec> &pipelines,
                                         const ClusterSpec &cluster) {
  std::vector<Finding> findings;
  auto add = [&](const PipelineSpec &spec, std::string message, std::string hint,
                 std::string expected = "", std::string derivation = "") {
    findings.push_back({222, spec.name, "", std::move(message), std::move(expected),
                        std::move(derivation), std::move(hint)});
  };
  // Saturating: every caller's nonsense shape is simply "too many".
  int64_t ctas = 1;
  for (int64_t extent : cluster.shape)
    ctas = extent < 1 || extent > maxCtas ? maxCtas + 1 : std::min(ctas * extent, maxCtas + 1);
  const PipelineSpec *first = nullptr;
  for (const PipelineSpec &spec : pipelines) {
    CtaGrid grid(spec, cluster);
    std::string shape = std::to_string(cluster.shape[0]) + " x " +
                        std::to_string(cluster.shape[1]) + " x " + std::to_string(cluster.shape[2]);
    if (!grid.valid() || ctas > maxCtas) {
      add(spec,
          "cluster layout of " + quote(spec.name) + " is not valid: " +
              (spec.ctaLayout ? layoutText(*spec.ctaLayout) : "derived from cluster " + shape),
          "use positive extents whose product is the cluster's number of CTAs, with the first "
          "one dividing the cluster's first dimension");
      return findings;
    }
    // A pipeline that no CTA shares with another may be laid out as one CTA.
    if (grid.size() != ctas && grid.size() != 1)
      add(spec,
          "cluster layout " + layoutText(grid.layout()) + " of " + quote(spec.name) + " covers " +
              std::to_string(grid.size()) + " CTAs, but the cluster is " + shape,
          "write the cluster's layout, or leave it out", std::to_string(ctas) + " CTAs");
    if (!first) {
      first = &spec;
      continue;
    }
    CtaGrid known(*first, cluster);
    if (known.layout() != grid.layout())
      add(spec,
          "cluster layout of " + quote(spec.name) + " is " + layoutText(grid.layout()) +
              ", but that of " + quote(first->name) + " is " + layoutText(known.layout()),
          "use one layout for all pipelines of the kernel", layoutText(known.layout()));
  }
  return findings;
}

} // namespace ts::protocol
