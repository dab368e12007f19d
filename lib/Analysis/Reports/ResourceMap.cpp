// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resources, what their barriers count and why, and where everything lies.
#include "ts/Analysis/Reports/Text.h"
#include "ts/Support/Saturating.h"

#include <algorithm>
#include <cstdio>

namespace ts::reports {

using namespace schedule;
namespace p = protocol;

std::string formatBytes(int64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  char text[32];
  if (bytes % 1024 == 0)
    snprintf(text, sizeof text, "%lld KiB", static_cast<long long>(bytes / 1024));
  else
    snprintf(text, sizeof text, "%.1f KiB", double(bytes) / 1024);
  return text;
}

namespace {

std::string spaceOf(const KernelInput &input, const Resource &resource) {
  static constexpr std::string_view kinds[] = {"",         "queue", "pdl", "baton", "named barrier",
                                               "mbarrier", "group"};
  if (resource.kind != ResourceKind::Memory)
    return resource.kind == ResourceKind::Queue ? (resource.clc ? "clc queue" : "static queue")
                                                : std::string(kinds[size_t(resource.kind)]);
  std::string text = resource.gmem ? "gmem" : resource.barrierOnly ? "barrier" : "";
  for (auto [space, name] : {std::pair(MemorySpace::Smem, "smem"), {MemorySpace::Tmem, "tmem"}})
    if (std::any_of(resource.allocations.begin(), resource.allocations.end(), [&](int index) {
          return input.kernel.allocations[size_t(index)].space == space;
        }))
      text += (text.empty() ? "" : " + ") + std::string(name);
  return text.empty() ? "none" : text;
}

std::string valueOf(const p::Expected &expected) {
  return expected.value ? std::to_string(*expected.value) : "?";
}

std::string resources(const KernelInput &input) {
  std::vector<std::vector<std::string>> rows{
      {"resource", "space", "pipeline", "stages", "full", "bytes", "empty"}};
  for (size_t r = 0; r < input.kernel.resources.size(); ++r) {
    const Resource &resource = input.kernel.resources[r];
    std::string full = "-", bytes = "-", empty = "-";
    for (const BarrierUse &use : input.barriers) {
      if (use.resource != int(r))
        continue;
      (use.barrier == p::Barrier::Full ? full : empty) = valueOf(use.arrivals);
      if (use.bytes)
        bytes = valueOf(*use.bytes);
    }
    std::string pipeline = "-", stages = "-";
    if (resource.pipeline) {
      pipeline = resource.kind == ResourceKind::Group
                     ? std::string(p::name(resource.mode))
                     : std::string(p::name(resource.pipeline->type));
      stages = std::to_string(resource.pipeline->stages);
    }
    rows.push_back({resource.name, spaceOf(input, resource), pipeline, stages, full, bytes, empty});
  }
  return alignColumns(rows, "  ");
}

std::string derivations(const KernelInput &input) {
  std::vector<std::vector<std::string>> rows;
  for (const BarrierUse &use : input.barriers) {
    std::string barrier =
        input.resourceName(use.resource) + "." + std::string(p::name(use.barrier));
    auto row = [&](const p::Expected &expected, const char *unit) {
      rows.push_back({barrier, valueOf(expected) + " " + unit + (expected.value == 1 ? "" : "s"),
                      expected.derivation});
      if (!expected.uniform) {
        std::string list;
        for (int64_t value : expected.perCta)
          list += (list.empty() ? "by CTA: " : ", ") + std::to_string(value);
        rows.push_back({"", "", list});
      }
    };
    row(use.arrivals, "arrival");
    if (use.bytes)
      row(*use.bytes, "byte");
  }
  return rows.empty() ? "" : "  counts\n" + alignColumns(rows, "    ");
}

std::string memory(const KernelInput &input, bool tmem) {
  const MemoryMap &map = input.memory;
  std::vector<const MemoryItem *> items;
  for (const MemoryItem &item : map.items)
    if (item.tmem == tmem)
      items.push_back(&item);
  if (items.empty())
    return "";
  std::sort(items.begin(), items.end(), [](const MemoryItem *a, const MemoryItem *b) {
    return a->offset != b->offset ? a->offset < b->offset : a->name < b->name;
  });
  std::vector<std::vector<std::string>> rows;
  for (const MemoryItem *item : items) {
    std::string remark = item->kind;
    if (item->pinned)
      remark += ", pinned";
    if (!item->aliasGroup.empty())
      remark += ", phase " + std::to_string(item->phase) + " of alias group " + item->aliasGroup;
    std::string place = item->offset < 0
                            ? "no place"
                            : std::to_string(item->offset) + ".." +
                                  std::to_string(saturatingAdd(item->offset, item->extent));
    rows.push_back({place, item->name,
                    std::to_string(item->stages) + " x " + std::to_string(item->size), remark});
  }
  std::string head = tmem ? "tensor memory, columns: " + std::to_string(map.tmemColumns) + " of " +
                                std::to_string(map.tmemLimit) + ", " +
                                std::to_string(map.tmemUsed) + " used"
                          : "shared memory, bytes: " + formatBytes(map.smemBytes) + " of " +
                                formatBytes(map.smemLimit);
  return "  " + head + (map.valid ? "" : " (does not fit)") + "\n" + alignColumns(rows, "    ");
}

} // namespace

std::string formatResourceMap(const KernelInput &input) {
  return input.kernel.name + ": resources\n" + resources(input) + derivations(input) +
         memory(input, false) + memory(input, true);
}

} // namespace ts::reports
