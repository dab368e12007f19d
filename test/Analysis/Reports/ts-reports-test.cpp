// Test tool of the reports. `mean`: reads event graphs, one per line as "nodes; from to weight
// tokens; ...", and prints kind, weight and tokens of the critical cycle and the earliest times.
// `VERDICT FORMAT`: a small kernel with a verdict of that kind in that format, so that every form
// of every verdict is tested whatever the prover says today. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "ts/Analysis/Reports/Formats.h"
#include "ts/Analysis/Reports/Text.h"

#include <cstdio>
#include <iostream>
#include <sstream>

using namespace ts;
using namespace ts::reports;
using prover::Verdict;

//--- Event graphs -------------------------------------------------------------------------------

static bool connected(const EventGraph &graph, const CycleMean &mean) {
  for (size_t i = 0; i < mean.cycle.size(); ++i) {
    size_t next = (i + 1) % mean.cycle.size();
    if (graph.edges[size_t(mean.cycle[i])].to != graph.edges[size_t(mean.cycle[next])].from)
      return false;
  }
  return true;
}

static int means() {
  static constexpr const char *kinds[] = {"cyclic", "acyclic", "deadlock", "cut"};
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    EventGraph graph;
    std::string part;
    std::getline(in, part, ';');
    graph.nodes = std::stoi(part);
    while (std::getline(in, part, ';')) {
      EventEdge edge;
      if (!(std::istringstream(part) >> edge.from >> edge.to >> edge.weight >> edge.tokens))
        return 1;
      graph.edges.push_back(edge);
    }
    CycleMean mean = maximumCycleMean(graph);
    std::cout << kinds[size_t(mean.kind)] << " " << mean.weight << " " << mean.tokens << " "
              << (connected(graph, mean) ? "closed" : "open");
    constexpr int count = 4;
    std::vector<int64_t> times = earliestTimes(graph, count);
    for (int64_t time : times)
      std::cout << " " << time;
    std::cout << "\n";
  }
  return 0;
}

//--- Kernels ------------------------------------------------------------------------------------

static schedule::StepId add(schedule::Task &task, schedule::EventKind kind, int resource,
                            schedule::StepId parent, schedule::LocId loc) {
  schedule::Step step;
  step.event.kind = kind;
  step.event.resource = resource;
  step.parent = parent;
  step.loc = loc;
  task.steps.push_back(step);
  return schedule::StepId(task.steps.size() - 1);
}

static schedule::StepId addLoop(schedule::Task &task) {
  schedule::Step step;
  step.kind = schedule::StepKind::Loop;
  step.loop.upper = {schedule::Bound::Kind::Argument, 1, 0, "tiles_k", 2};
  task.steps.push_back(step);
  return schedule::StepId(task.steps.size() - 1);
}

/// 'load' fills a ring that 'mma' empties once, after its loop.
static KernelInput demo() {
  using schedule::EventKind;
  KernelInput input;
  for (unsigned line = 1; line < 9; ++line)
    input.places.push_back({"dir with space/<demo>.mlir", line, line + 10});
  schedule::Kernel &kernel = input.kernel;
  kernel.name = "demo";
  kernel.chip = "sm_90a";
  kernel.warps = 2;
  kernel.loc = 0;
  schedule::Resource ring;
  ring.name = "ab";
  ring.loc = 1;
  ring.pipeline.emplace();
  ring.pipeline->stages = 4;
  ring.pipeline->type = protocol::PipelineType::AsyncAsync;
  kernel.resources.push_back(ring);
  schedule::Task load, mma;
  load.name = load.source = "load";
  load.loc = 2;
  schedule::StepId loop = addLoop(load);
  load.body = {loop};
  load.steps[size_t(loop)].body = {add(load, EventKind::Acquire, 0, loop, 3),
                                   add(load, EventKind::Commit, 0, loop, 4)};
  mma.name = mma.source = "mma";
  mma.firstWarp = 1;
  mma.loc = 5;
  loop = addLoop(mma);
  mma.body = {loop, add(mma, EventKind::Release, 0, -1, 7)};
  mma.steps[size_t(loop)].body = {add(mma, EventKind::Wait, 0, loop, 6)};
  kernel.tasks = {load, mma};
  BarrierUse full;
  full.resource = 0;
  full.stages = 4;
  full.arrivals.value = 32;
  full.arrivals.derivation = "1 warp x 32 threads of 'load' = 32";
  input.barriers.push_back(full);
  MemoryItem item;
  item.name = "ab.full";
  item.kind = "full barriers";
  item.offset = 0;
  item.size = item.stride = 8;
  item.stages = 4;
  item.extent = 32;
  input.memory.items.push_back(item);
  input.memory.smemBytes = 32;
  input.memory.smemLimit = 232448;
  input.warps.launchWarps = 4;
  input.warps.registers = {168, 40, 168};
  input.proverMilliseconds = 3.14;
  return input;
}

static Verdict verdictOf(const std::string &kind) {
  Verdict verdict;
  verdict.agents = {"load", "mma", "bystander"};
  verdict.symbols = {"tiles_m", "tiles_k"};
  if (kind == "proven") {
    verdict.kind = Verdict::Kind::Proven;
  } else if (kind == "bounded") {
    verdict.kind = Verdict::Kind::ProvenUpTo;
    verdict.symbols = {"tiles_k"};
    verdict.bound = 12;
    verdict.reason = "the state does not repeat";
  } else if (kind == "unknown") {
    verdict.reason = "parity of the wait depends on %x";
  } else {
    verdict.kind = Verdict::Kind::Refuted;
    prover::Fault fault;
    fault.agent = 0;
    fault.loc = 3;
    if (kind == "race") {
      fault.kind = prover::FaultKind::Race;
      fault.message = "'load' and 'mma' touch ab & \"more\" <at once>";
      fault.sites = {{0, 3, "write of 'ab' by 'load', stage 0"},
                     {1, 6, "read of 'ab' by 'mma', stage 0"}};
      fault.safeFrom = 2;
      fault.safeSymbol = "tiles_k";
    } else {
      fault.message = "'load' and 'mma' wait for each other";
      fault.when = "tiles_k >= 5";
      fault.choices = {{"tiles_k", 5, true, -1, true}};
      for (int use = 0; use < 4; ++use)
        for (int agent = 0; agent < 2; ++agent)
          fault.steps.push_back({agent, agent ? 6 : 3,
                                 (agent ? "wait ab #" : "acquire ab #") + std::to_string(use),
                                 false});
      fault.steps.push_back({0, 3, "acquire ab #4", true});
      fault.steps.push_back({1, 6, "wait ab #4", true});
      fault.blocked = {{0, 3, "a free stage of 'ab' (use 4, stage 0 of 4)", 1, 7,
                        "'mma' gives it back here, but first waits for use 4"},
                       {1, 6, "use 4 of 'ab'", 0, 4, "'load' commits it here"}};
    }
    verdict.fault = fault;
  }
  return verdict;
}

int main(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "mean")
    return means();
  if (argc != 3) {
    std::fprintf(stderr, "usage: ts-reports-test mean | VERDICT FORMAT\n");
    return 1;
  }
  std::string kind = argv[1], format = argv[2];
  Input input;
  input.toolVersion = "1";
  input.source = "<demo>.mlir";
  input.arch = "sm_90a";
  input.kernels.push_back(demo());
  KernelInput &kernel = input.kernels.front();
  if (kind == "waived") {
    kernel.waived = {"TS105 at demo.mlir:3:1: (because)"};
    kernel.verdict = verdictOf("proven");
  } else if (kind == "failed") {
    input.failed = kernel.checksFailed = true;
    input.diagnostics.push_back({Diagnostic::Severity::Error,
                                 215,
                                 "count is \xff wrong",
                                 kernel.places[1],
                                 {{"declared here", kernel.places[2]}}});
  } else if (kind != "none") {
    kernel.verdict = verdictOf(kind);
  }
  Models models{modelSteadyState(kernel)};
  std::string text = format == "summary"          ? formatSummary(kernel)
                     : format == "timeline"       ? formatTimeline(kernel)
                     : format == "short-timeline" ? formatTimeline(kernel, 4)
                     : format == "text"           ? formatText(kernel, models.front())
                     : format == "json"           ? formatJson(input, models)
                     : format == "sarif"          ? formatSarif(input)
                     : format == "perfetto"       ? formatPerfetto(input, models)
                                                  : formatHtml(input, models);
  std::fputs(text.c_str(), stdout);
  return 0;
}
