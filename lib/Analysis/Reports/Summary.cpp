// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verdict in one line, and the lines that go with it.
#include "ts/Analysis/Reports/Text.h"
#include "ts/Support/Checks.h"
#include "ts/Support/Saturating.h"

#include <algorithm>
#include <cstdio>

namespace ts::reports {

using prover::FaultKind;
using prover::Verdict;

std::string_view verdictWord(const std::optional<Verdict> &verdict) {
  if (!verdict)
    return "not_run";
  switch (verdict->kind) {
  case Verdict::Kind::Proven:
    return "proven";
  case Verdict::Kind::ProvenUpTo:
    return "proven_up_to";
  case Verdict::Kind::Refuted:
    return "refuted";
  case Verdict::Kind::Unknown:
    return "unknown";
  }
  return "unknown";
}

std::string faultTag(FaultKind kind) { return "TS" + std::to_string(unsigned(kind)); }

std::string formatPercent(double share) {
  char text[32];
  snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

static std::string joined(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &item : list)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string verdictLine(const KernelInput &input) {
  std::string text = input.kernel.name + ": ";
  if (!input.verdict)
    return text + (input.checksFailed ? "not proven: a check before the prover failed"
                                      : "not proven: the prover was not run");
  const Verdict &verdict = *input.verdict;
  std::string waived;
  if (!input.waived.empty())
    waived = ", " + std::to_string(input.waived.size()) +
             (input.waived.size() == 1 ? " check" : " checks") + " waived";
  std::string symbols = joined(verdict.symbols);
  switch (verdict.kind) {
  case Verdict::Kind::Proven: {
    text += "proven" + (symbols.empty() ? "" : " for every " + symbols) + waived +
            ": no deadlock, no race, no overrun, clean exit";
    break;
  }
  case Verdict::Kind::ProvenUpTo:
    text += "proven only up to " + (symbols.empty() ? "trip count" : symbols) + " = " +
            std::to_string(verdict.bound) + waived + ": " + verdict.reason;
    break;
  case Verdict::Kind::Unknown:
    text += "not proven, unknown" + waived + ": " + verdict.reason;
    break;
  case Verdict::Kind::Refuted:
    text += "refuted";
    if (const auto &fault = verdict.fault)
      text += ": [" + faultTag(fault->kind) + "] " + std::string(prover::name(fault->kind)) +
              (fault->when.empty() ? "" : " when " + fault->when) + ": " + fault->message;
    break;
  }
  if (input.proverMilliseconds > 0) {
    char time[32];
    snprintf(time, sizeof time, "   (%.1f ms)", input.proverMilliseconds);
    text += time;
  }
  return text;
}

std::string helpLine(const prover::Fault &fault) {
  if (fault.safeFrom) {
    std::string symbol = fault.safeSymbol.empty() ? "N" : fault.safeSymbol;
    std::string value = std::to_string(*fault.safeFrom);
    return "safe for every " + symbol + " >= " + value + ": declare min = " + value;
  }
  if (const CheckInfo *check = findCheck(faultTag(fault.kind)))
    return std::string(check->fix);
  return "";
}

/// Mbarriers in shared memory: those of pipelines and hand-written ones.
static int64_t countBarriers(const MemoryMap &memory) {
  int64_t count = 0;
  for (const MemoryItem &item : memory.items)
    if (item.kind == "full barriers" || item.kind == "empty barriers" || item.kind == "mbarrier")
      count = saturatingAdd(count, item.stages);
  return count;
}

std::string formatSummary(const KernelInput &input, const SteadyState *model, bool brief) {
  const auto &tasks = input.kernel.tasks;
  int64_t taskWarps = 0;
  for (const auto &task : tasks)
    taskWarps = saturatingAdd(taskWarps, std::max<int64_t>(task.warps, 0));
  int64_t launch = std::max(input.warps.launchWarps, input.kernel.warps);
  int64_t padding = std::max<int64_t>(launch - taskWarps, 0);
  std::string text = verdictLine(input) + "\n  tasks " + std::to_string(tasks.size());
  if (padding)
    text += " (+" + std::to_string(padding) + (padding == 1 ? " padding warp)" : " padding warps)");
  text += ", warps " + std::to_string(launch);
  std::string registers;
  for (int64_t count : input.warps.registers)
    if (count &&
        ("/" + registers + "/").find("/" + std::to_string(count) + "/") == std::string::npos)
      registers += (registers.empty() ? "" : "/") + std::to_string(count);
  if (!registers.empty())
    text += ", registers " + registers;
  const MemoryMap &memory = input.memory;
  text += "   SMEM " + formatBytes(memory.smemBytes) + " of " + formatBytes(memory.smemLimit);
  if (memory.tmemColumns)
    text += ", TMEM " + std::to_string(memory.tmemColumns) + " of " +
            std::to_string(memory.tmemLimit) + " columns";
  int64_t barriers = countBarriers(memory);
  text += ", " + std::to_string(barriers) + (barriers == 1 ? " barrier\n" : " barriers\n");
  if (input.verdict)
    for (const std::string &assumption : input.verdict->assumptions)
      text += "  assumed: " + assumption + "\n";
  for (const std::string &waiver : input.waived)
    text += "  waived: " + waiver + "\n";
  if (input.usage) {
    const Usage &usage = *input.usage;
    text += "  ptxas: " + std::to_string(usage.registers) + " registers, " +
            std::to_string(usage.spillStores) + " bytes spill stores, " +
            std::to_string(usage.spillLoads) + " bytes spill loads\n";
  }
  if (model)
    text += formatModel(input, *model, brief);
  return text;
}

std::string formatText(const KernelInput &input, const SteadyState &model) {
  std::string text = formatSummary(input, &model);
  std::string timeline = formatTimeline(input);
  if (!timeline.empty())
    text += "\n" + timeline;
  return text + "\n" + formatScheduleTable(input) + "\n" + formatResourceMap(input);
}

} // namespace ts::reports
