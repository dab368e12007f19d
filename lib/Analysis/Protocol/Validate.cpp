// Checks 15 to 22 on one pipeline and on the cluster layouts of a kernel's pipelines.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Protocol/Validate.h"
#include "ValidateImpl.h"

#include <algorithm>
#include <bit>

namespace ts::protocol {

namespace {

void add(std::vector<Finding> &findings, int check, const PipelineSpec &spec, std::string message,
         std::string hint, std::string expected = "", std::string derivation = "",
         std::string task = "") {
  findings.push_back({check, spec.name, std::move(task), std::move(message), std::move(expected),
                      std::move(derivation), std::move(hint)});
}

std::string perCtaText(const Expected &expected) {
  std::string text;
  for (size_t cta = 0; cta < expected.perCta.size(); ++cta)
    if (expected.perCta[cta])
      text += (text.empty() ? "" : ", ") + std::to_string(expected.perCta[cta]) + " on CTA " +
              std::to_string(cta);
  return text;
}

void compareArrivals(const PipelineSpec &spec, Barrier barrier, std::optional<int64_t> declared,
                     const Expected &expected, const std::vector<Expected> &alternatives,
                     std::vector<Finding> &findings) {
  bool full = barrier == Barrier::Full;
  std::string what = std::string(full ? "producer" : "consumer") + " count of " + quote(spec.name);
  std::string op(name(arrivingOp(spec.type, barrier)));
  if (declared && (*declared < 1 || *declared > maxPhaseCount)) {
    add(findings, 215, spec,
        what + " is " + std::to_string(*declared) + ", but a barrier counts 1 to " +
            std::to_string(maxPhaseCount) + " arrivals per phase",
        "leave the count out to have it inferred",
        expected.value ? std::to_string(*expected.value) : "", expected.derivation);
    return;
  }
  if (!expected.value)
    return;
  if (*expected.value > maxPhaseCount) {
    add(findings, 215, spec,
        std::to_string(*expected.value) + " arrivals per phase on the " +
            std::string(name(barrier)) + " barriers of " + quote(spec.name) +
            " exceed the limit of " + std::to_string(maxPhaseCount),
        "let one elected thread arrive for many", "", expected.derivation);
    return;
  }
  if (!declared)
    return;
  if (!expected.uniform) {
    add(findings, 215, spec,
        what + " is " + std::to_string(*declared) + ", but CTAs differ: " + perCtaText(expected),
        "leave the count out: it is then initialised per CTA", perCtaText(expected),
        expected.derivation);
    return;
  }
  bool alternative = std::any_of(alternatives.begin(), alternatives.end(),
                                 [&](const Expected &e) { return e.value == declared; });
  // Zero arrivals is the routing check's finding: here it would only repeat it.
  if (declared == expected.value || alternative || *expected.value == 0)
    return;
  std::string also;
  for (const Expected &e : alternatives)
    if (e.value)
      also += " or " + std::to_string(*e.value) + " (" + e.derivation + ")";
  std::string effect = *declared > *expected.value ? "the barrier never completes"
                                                   : "the barrier completes too early";
  add(findings, 215, spec,
      what + " is " + std::to_string(*declared) + ", expected " + std::to_string(*expected.value) +
          (*expected.value == 1 ? " arrival" : " arrivals") + " per phase by '" + op +
          "': " + effect,
      "write " + std::to_string(*expected.value) + also +
          ", or leave the count out to have it inferred",
      std::to_string(*expected.value), expected.derivation);
}

void compareBytes(const PipelineSpec &spec, const Expected &expected,
                  std::vector<Finding> &findings) {
  auto declared = spec.numBytes;
  if (!countsBytes(spec.type)) {
    if (declared && *declared != 0)
      add(findings, 216, spec,
          "bytes of " + quote(spec.name) + " are " + std::to_string(*declared) + ", but " +
              std::string(name(spec.type)) + " pipelines have no transaction bytes",
          "remove the byte count, or use a pipeline type with a TMA producer", "0",
          expected.derivation);
    return;
  }
  if (declared && (*declared < 1 || *declared > maxPhaseCount)) {
    add(findings, 216, spec,
        "bytes of " + quote(spec.name) + " are " + std::to_string(*declared) +
            ", but a barrier counts 1 to " + std::to_string(maxPhaseCount) + " bytes per phase",
        *declared < 1 ? "leave the bytes out to have them inferred"
                      : "copy less per stage and use more stages",
        expected.value ? std::to_string(*expected.value) : "", expected.derivation);
    return;
  }
  if (expected.value && *expected.value > maxPhaseCount) {
    add(findings, 216, spec,
        std::to_string(*expected.value) + " bytes per phase of " + quote(spec.name) +
            " exceed the limit of " + std::to_string(maxPhaseCount),
        "copy less per stage and use more stages", "", expected.derivation);
    return;
  }
  if (!declared || !expected.value)
    return;
  // The size of a stage in memory is no evidence against a declared count: packed elements (fp4,
  // fp6) take more room in shared memory than their copies transfer.
  bool wrong = expected.uniform ? declared != expected.value : true;
  if (!wrong || expected.assumed)
    return;
  bool leaderRule = !expected.fromCopies && spec.bytesPerWarpPerCta && hasTmaProducer(spec.type);
  int check = expected.fromCopies ? 217 : leaderRule ? 218 : 216;
  std::string found = expected.uniform ? std::to_string(*expected.value) : perCtaText(expected);
  std::string effect = *declared > *expected.value
                           ? "the barrier never completes"
                           : "the barrier completes before all data is there";
  add(findings, check, spec,
      "bytes of " + quote(spec.name) + " are " + std::to_string(*declared) + ", expected " + found +
          " per phase: " + effect,
      expected.fromCopies ? "write " + found + ", leave the bytes out, or change the copies"
                          : "write " + found + ", or leave the bytes out to have them inferred",
      found, expected.derivation);
}

} // namespace

void compareCounts(const PipelineSpec &spec, const ExpectedCounts &counts,
                   std::vector<Finding> &findings) {
  compareArrivals(spec, Barrier::Full, spec.producerCount, counts.fullArrivals, {}, findings);
  compareArrivals(spec, Barrier::Empty, spec.consumerCount, counts.emptyArrivals,
                  counts.emptyAlternatives, findings);
  compareBytes(spec, counts.fullBytes, findings);
}

/// The bytes that one warp is declared to bring, against what the copies of all are known to bring.
static void compareRouted(const PipelineSpec &spec, const ClusterSpec &cluster,
                          const Participants &by, const Expected &bytes,
                          std::vector<Finding> &findings) {
  if (!bytes.fromCopies || !bytes.value || !hasTmaProducer(spec.type))
    return;
  // A multicast copy counts where it lands, and without a leader each CTA counts its own.
  CtaGrid grid(spec, cluster);
  bool routed = grid.size() == 1 || spec.type == PipelineType::TmaUmma ||
                (spec.producerSignal & SignalCtaLeader);
  for (const TaskRole &role : by.acquire)
    routed &= role.issued && !role.issued->alongN && !role.issued->alongM;
  Expected declared = routedBytes(spec, cluster, by);
  if (!routed || !declared.value || declared.value == bytes.value)
    return;
  add(findings, 218, spec,
      "bytes per warp and CTA of " + quote(spec.name) + " are " +
          std::to_string(*spec.bytesPerWarpPerCta) + ", together " +
          std::to_string(*declared.value) + ", but the copies bring " +
          std::to_string(*bytes.value) + " per phase",
      "write the bytes that one warp of one CTA copies per stage, or leave them out",
      std::to_string(*bytes.value), declared.derivation + "; copied: " + bytes.derivation);
}

void checkEngines(const PipelineSpec &spec, std::vector<Finding> &findings) {
  struct Row {
    SideKind kind;
    EngineSet tracked;
    std::string_view how;
  };
  // What the arrivals of each kind of side can stand for. Threads may drive wgmma and bulk stores:
  // they wait for the group before they arrive.
  constexpr Row producers[] = {
      {SideKind::Async, EngineGeneric | EngineCpAsync | EngineTmemStore | EngineWgmma,
       "an arrive of its threads"},
      {SideKind::Tma, EngineTma | EngineGeneric, "the bytes of bulk copies"},
      {SideKind::Umma, EngineUmma | EngineUtccp, "tcgen05.commit"},
      {SideKind::Clc, EngineClc, "the bytes of the response"}};
  constexpr Row consumers[] = {
      {SideKind::Async,
       EngineGeneric | EngineTma | EngineWgmma | EngineTmemLoad | EngineTmemStore | EngineCpAsync,
       "an arrive of its threads"},
      {SideKind::Umma, EngineUmma | EngineUtccp, "tcgen05.commit"}};
  auto check = [&](const std::optional<SideAccess> &access, SideKind kind, const Row *rows,
                   size_t count, bool producer) {
    if (!access)
      return;
    for (size_t i = 0; i < count; ++i) {
      if (rows[i].kind != kind)
        continue;
      // Only what a producer writes is handed over; only what a consumer touches is given back.
      EngineSet used = producer ? access->writes : access->any();
      EngineSet lost = used & ~rows[i].tracked;
      if (lost)
        add(findings, 215, spec,
            quote(spec.name) + " is " + std::string(name(spec.type)) + ", but its " +
                (producer ? "producer" : "consumer") + " works through " + engineNames(lost) +
                ", whose end " + std::string(rows[i].how) + " does not wait for",
            "choose the pipeline type whose " + std::string(producer ? "producer" : "consumer") +
                " is what touches the memory");
    }
  };
  check(spec.producerAccess, producerKind(spec.type), producers, std::size(producers), true);
  check(spec.consumerAccess, consumerKind(spec.type), consumers, std::size(consumers), false);
}

void checkRouting(const PipelineSpec &spec, const ClusterSpec &cluster, const Participants &by,
                  std::vector<Finding> &findings) {
  CtaGrid grid(spec, cluster);
  if (!grid.valid())
    return;
  if (spec.bytesPerWarpPerCta && !hasTmaProducer(spec.type))
    add(findings, 218, spec,
        "bytes per warp and CTA are declared for " + quote(spec.name) + ", but " +
            std::string(name(spec.type)) + " pipelines have no TMA producer",
        "remove the bytes per warp and CTA");
  else if (spec.bytesPerWarpPerCta && *spec.bytesPerWarpPerCta < 1)
    add(findings, 218, spec,
        "bytes per warp and CTA of " + quote(spec.name) + " are " +
            std::to_string(*spec.bytesPerWarpPerCta) + ", expected a positive number",
        "write the bytes that one warp of one CTA copies per stage");

  for (Barrier barrier : {Barrier::Full, Barrier::Empty}) {
    Op waits = barrier == Barrier::Full ? Op::Wait : Op::Acquire;
    Op arrives = arrivingOp(spec.type, barrier);
    if (by.of(arrives).empty())
      continue;
    Expected expected = expectedArrivals(spec, cluster, by, barrier);
    for (const TaskRole &role : by.of(waits)) {
      CtaMask silent = 0, waiting = waitingCtas(spec, cluster, waits, role);
      for (int64_t cta = 0; cta < grid.size(); ++cta)
        if ((waiting >> cta & 1) && expected.perCta[size_t(cta)] == 0)
          silent |= CtaMask(1) << cta;
      if (!silent)
        continue;
      bool umma = (barrier == Barrier::Full ? consumerKind(spec.type) : producerKind(spec.type)) ==
                  SideKind::Umma;
      std::string side = barrier == Barrier::Full ? "consumer" : "producer";
      std::string others;
      for (const TaskRole &from : by.of(arrives))
        others += (others.empty() ? "" : ", ") + quote(from.task);
      add(findings, 218, spec,
          "task " + quote(role.task) + " waits on the " + std::string(name(barrier)) +
              " barriers of " + quote(spec.name) + " in CTA " +
              std::to_string(std::countr_zero(silent)) + ", where no '" +
              std::string(name(arrives)) + "' of " + others + " arrives",
          umma && grid.pairSize() > 1
              ? "one CTA of a pair issues the MMAs: set the " + side +
                    "'s signalling to cta_leader, or pin " + quote(role.task) + " to the leader CTA"
              : "let " + others +
                    " run on every CTA that waits, or restrict the wait to the "
                    "leader CTA",
          "", "arrivals per CTA: " + (perCtaText(expected).empty() ? "none" : perCtaText(expected)),
          role.task);
    }
  }

  // Bytes that land where nobody waits are lost: the mirror image, for copies only, since a plain
  // arrival that nobody waits for does no harm.
  if (hasTmaProducer(spec.type) && !by.acquire.empty() && !by.wait.empty()) {
    Expected expected = expectedArrivals(spec, cluster, by, Barrier::Full);
    CtaMask waited = 0;
    for (const TaskRole &role : by.wait)
      waited |= waitingCtas(spec, cluster, Op::Wait, role);
    for (int64_t cta = 0; cta < grid.size(); ++cta) {
      if (expected.perCta[size_t(cta)] == 0 || (waited >> cta & 1))
        continue;
      add(findings, 218, spec,
          "copies of " + quote(by.acquire.front().task) + " into " + quote(spec.name) +
              " complete in CTA " + std::to_string(cta) + ", where " + quote(by.wait.front().task) +
              " does not wait",
          "let a consumer wait on every CTA that arms its barriers, or pin the producer", "",
          "arrivals per CTA: " + perCtaText(expected), by.acquire.front().task);
      break;
    }
  }

  // cp.async arrivals stay in their CTA: each CTA's copies need a waiter of their own.
  if (spec.asyncLoad && spec.type == PipelineType::AsyncUmma && grid.pairSize() > 1 &&
      !by.wait.empty()) {
    CtaMask produced = 0, waited = 0;
    for (const TaskRole &role : by.commit)
      produced |= arrivingCtas(spec, cluster, Op::Commit, role);
    for (const TaskRole &role : by.wait)
      waited |= waitingCtas(spec, cluster, Op::Wait, role);
    CtaMask missed = produced & ~waited;
    if (missed)
      add(findings, 218, spec,
          "cp.async copies of CTA " + std::to_string(std::countr_zero(missed)) + " into " +
              quote(spec.name) + " arrive on that CTA's own barrier, and nobody waits there",
          "add a task that waits on every CTA and signals an async_umma proxy resource, and let "
          "the MMA wait for the proxy",
          "", "cp.async.mbarrier.arrive is local; the leader learns nothing about its peer");
  }
}

void checkSignalling(const PipelineSpec &spec, const Participants &by,
                     std::vector<Finding> &findings) {
  auto legal = [&](SignalSet set, const char *role, bool leaderWarpAllowed) {
    bool mixed = (set & SignalAll) && set != SignalAll;
    if (set == 0 || set > 7 || mixed)
      add(findings, 219, spec,
          std::string(role) + " signalling of " + quote(spec.name) + " is " + signalName(set) +
              (mixed ? ", but all does not combine with anything" : ", which names nobody"),
          "write all, cta_leader, task_warp_leader or cta_leader | task_warp_leader");
    else if ((set & SignalTaskWarpLeader) && !leaderWarpAllowed)
      add(findings, 219, spec,
          std::string(role) + " signalling of " + quote(spec.name) + " is " + signalName(set) +
              ", but task_warp_leader is for the producer of a TMA "
              "pipeline only (this is " +
              std::string(name(spec.type)) + ")",
          "write all or cta_leader");
  };
  legal(spec.producerSignal, "producer", hasTmaProducer(spec.type));
  legal(spec.consumerSignal, "consumer", false);
  if (spec.consumerWaitSignal)
    legal(*spec.consumerWaitSignal, "consumer wait", false);
  if ((spec.producerSignal & SignalTaskWarpLeader) &&
      (spec.stride(Op::Acquire) > 1 || spec.stride(Op::Commit) > 1))
    add(findings, 219, spec,
        "producer of " + quote(spec.name) +
            " is interleaved and signals through "
            "task_warp_leader, but with lanes each warp arms its own stages",
        "use all, or interleave stride 1 on the producer side");

  if (!spec.consumerWaitSignal)
    return;
  if (*spec.consumerWaitSignal == spec.consumerSignal)
    add(findings, 220, spec,
        "consumer wait signalling of " + quote(spec.name) + " is " +
            signalName(spec.consumerSignal) + ", the same as the release side's",
        "remove the override, or give wait and release different signalling");
  if (by.wait.empty() || by.release.empty())
    return;
  auto has = [](const std::vector<TaskRole> &list, const TaskRole &role) {
    return std::any_of(list.begin(), list.end(),
                       [&](const TaskRole &r) { return r.task == role.task; });
  };
  bool waitOnly = std::any_of(by.wait.begin(), by.wait.end(),
                              [&](const TaskRole &r) { return !has(by.release, r); });
  bool releaseOnly = std::any_of(by.release.begin(), by.release.end(),
                                 [&](const TaskRole &r) { return !has(by.wait, r); });
  if (!waitOnly || !releaseOnly)
    add(findings, 220, spec,
        "consumer wait signalling of " + quote(spec.name) + " is set, but '" +
            by.wait.front().task + "' both waits and releases: there is no split consumer",
        "remove the override, or let one task wait and another one release", "", "",
        by.wait.front().task);
}

std::vector<Finding> validate(const PipelineSpec &spec, const ClusterSpec &cluster,
                              const Participants &by) {
  std::vector<Finding> findings;
  if (spec.stages < 1) {
    add(findings, 215, spec,
        quote(spec.name) + " has " + std::to_string(spec.stages) + " stages, expected at least 1",
        "give the pipeline one stage or more", "1");
    return findings;
  }
  checkSignalling(spec, by, findings);
  checkInterleave(spec, cluster, by, findings);
  checkEngines(spec, findings);
  checkRouting(spec, cluster, by, findings);
  // A wrong lane or signalling set would only show up again as a wrong count.
  bool countable = std::none_of(findings.begin(), findings.end(),
                                [](const Finding &f) { return f.check == 219 || f.check == 221; });
  if (countable) {
    ExpectedCounts counts = expectedCounts(spec, cluster, by);
    compareCounts(spec, counts, findings);
    compareRouted(spec, cluster, by, counts.fullBytes, findings);
  }
  return findings;
}

} // namespace ts::protocol
