// What to say when nothing moves: every blocked warp and what it waits for, the barriers' states
// and who arrived, the engines' queues. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Barriers.h"
#include "Exec.h"
#include "Run.h"

#include <algorithm>
#include <set>

namespace ts::emu {
namespace {

Site siteOf(const Warp &warp, const Split &split, const ptx::Module &module) {
  Site site;
  const Code &code = *split.frame->code;
  if (split.pc < code.entries.size()) {
    const CodeEntry &entry = code.entries[split.pc];
    auto file = module.files.find(entry.loc.file);
    if (file != module.files.end())
      site.file = file->second;
    site.line = entry.loc.line;
    site.column = entry.loc.column;
    site.ptxLine = entry.loc.ptxLine;
    site.instruction = entry.source->opcode;
  }
  std::copy_n(warp.cta->id, 3, site.cta);
  site.ctaRank = warp.cta->rank;
  site.warp = int32_t(warp.index);
  site.lanes = split.blocked && split.wait.lanes ? split.wait.lanes : split.mask;
  return site;
}

/// Lanes that wait for lanes which can never come: they have exited, or wait for each other at
/// different places. Where the missing ones wait for something else, that is the reason.
bool isDivergent(const Warp &warp, const Split &split) {
  if (!split.blocked || split.wait.kind != WaitKind::WarpSync)
    return false;
  uint32_t missing = uint32_t(split.wait.subject) & ~split.mask;
  for (const Split &other : warp.splits)
    if ((other.mask & missing) && !(other.blocked && other.wait.kind == WaitKind::WarpSync))
      return false;
  return true;
}

/// Which of the waiting lanes to show first: the ones nearest to the cause.
unsigned interest(const Split &split) {
  if (!split.blocked)
    return 2;
  switch (split.wait.kind) {
  case WaitKind::Mbarrier:
    return 5;
  case WaitKind::NamedBarrier:
  case WaitKind::ClusterBarrier:
    return 3;
  case WaitKind::WarpSync:
    return 1;
  default:
    return 4;
  }
}
/// Warps that were to arrive at the barrier of a wait, as far as the phase before shows it.
std::set<const Warp *> awaited(const Cluster &cluster, const Wait &wait) {
  std::set<const Warp *> warps;
  const Cta &cta = *cluster.ctas[wait.subject >> sharedRankShift];
  auto it = cta.mbarriers.find(uint32_t(wait.subject & sharedOffsetMask));
  if (it == cta.mbarriers.end())
    return warps;
  std::vector<uint32_t> sites = it->second.lastArrivedSites;
  for (uint32_t site : it->second.arrivedSites)
    if (auto same = std::find(sites.begin(), sites.end(), site); same != sites.end())
      sites.erase(same);
  for (uint32_t id : sites) {
    const Site &site = cluster.checker->site(id);
    if (site.warp >= 0)
      warps.insert(cluster.ctas[site.ctaRank]->warps[size_t(site.warp)].get());
  }
  return warps;
}

/// The wait at which a chain of waits ends: others wait for its warp, and nobody who is left has
/// arrived at its barrier before. Null if there is none, or no chain.
const Split *endOfChain(const Cluster &cluster) {
  std::vector<std::pair<const Warp *, const Split *>> waits;
  for (const std::unique_ptr<Cta> &cta : cluster.ctas)
    for (const std::unique_ptr<Warp> &warp : cta->warps)
      for (const Split &split : warp->splits)
        if (split.mask && split.blocked && split.wait.kind == WaitKind::Mbarrier)
          waits.push_back({warp.get(), &split});
  std::set<const Warp *> needed;
  std::vector<bool> ends;
  for (const auto &[warp, split] : waits) {
    bool end = true;
    for (const Warp *other : awaited(cluster, split->wait))
      if (other != warp && other->alive()) {
        end = false;
        needed.insert(other);
      }
    ends.push_back(end);
  }
  for (size_t i = 0; i < waits.size(); ++i)
    if (ends[i] && needed.contains(waits[i].first))
      return waits[i].second;
  return nullptr;
}
} // namespace

std::string describeLoop(const Cluster &cluster) {
  for (const std::unique_ptr<Cta> &cta : cluster.ctas)
    for (const std::unique_ptr<Warp> &warp : cta->warps)
      for (const Split &split : warp->splits)
        if (split.mask && !split.blocked) {
          const Site site = siteOf(*warp, split, cluster.machine->program->module);
          std::string source =
              site.file.empty() ? "" : site.file + ":" + std::to_string(site.line) + ", ";
          return format("warp %d of CTA rank %u goes round at %sPTX line %u", site.warp,
                        site.ctaRank, source.c_str(), site.ptxLine);
        }
  return "all lanes wait";
}

Report describeHang(const Cluster &cluster, bool livelock) {
  const ptx::Module &module = cluster.machine->program->module;
  Report report;
  report.kind = FaultKind::Hang;
  unsigned blocked = 0, shown = 0;
  const Split *divergent = nullptr, *end = endOfChain(cluster);
  for (const std::unique_ptr<Cta> &cta : cluster.ctas)
    for (const std::unique_ptr<Warp> &warp : cta->warps)
      for (const Split &split : warp->splits) {
        if (!split.mask)
          continue;
        Note note;
        note.site = siteOf(*warp, split, module);
        if (split.blocked && split.wait.kind != WaitKind::None) {
          note.text = "waits for " + split.wait.text;
          if (!divergent && isDivergent(*warp, split)) {
            divergent = &split;
            report.site = note.site;
          }
        } else {
          note.text = "goes round and round here";
        }
        unsigned rank = &split == end ? ~0u : interest(split);
        if (!divergent && rank > shown) {
          report.site = note.site;
          shown = rank;
        }
        ++blocked;
        if (report.notes.size() < 64)
          report.notes.push_back(std::move(note));
      }
  if (divergent) {
    report.kind = FaultKind::Divergence;
    report.message =
        format("the lanes of a warp do not meet: this instruction wants lanes 0x%08llx together, "
               "0x%08x are here and the others have exited or wait elsewhere; take it out of the "
               "divergent branch, or give it the mask of the lanes that execute it",
               (unsigned long long)divergent->wait.subject, divergent->wait.lanes);
    return report;
  }
  if (blocked == 0) { // all warps have ended, an engine's operation never becomes ready
    report.message = "all warps have ended, but asynchronous operations cannot complete";
  } else if (livelock) {
    report.message = format("hang: nothing has changed for %llu steps, and %u group%s of lanes go "
                            "on polling or wait",
                            (unsigned long long)(cluster.steps - cluster.lastChange), blocked,
                            blocked == 1 ? "" : "s");
  } else {
    report.message =
        format("hang: all that is left of the cluster waits (%u group%s of lanes), and "
               "no engine has work",
               blocked, blocked == 1 ? "" : "s");
  }
  for (const std::unique_ptr<Cta> &cta : cluster.ctas) {
    for (const auto &[offset, barrier] : cta->mbarriers) {
      bool waitedFor = false;
      for (const Note &note : report.notes)
        waitedFor |=
            note.text.find(format("smem+0x%x", offset - sharedReserved)) != std::string::npos;
      if (!barrier.live || !waitedFor || report.notes.size() > 96)
        continue;
      Note note;
      std::copy_n(cta->id, 3, note.site.cta);
      note.site.ctaRank = cta->rank;
      note.text = mbarrierText(*cta, offset);
      report.notes.push_back(std::move(note));
      for (Note &who : mbarrierArrivals(*cta, offset))
        report.notes.push_back(std::move(who));
    }
  }
  for (Note &note : cluster.engines->describe())
    report.notes.push_back(std::move(note));
  return report;
}

} // namespace ts::emu
