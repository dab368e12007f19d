// Names, side kinds, default engines and the cluster grid of the protocol's input structs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Protocol/Types.h"

#include <algorithm>
#include <utility>

namespace ts::protocol {

namespace {
struct TypeRow {
  std::string_view name;
  SideKind producer, consumer;
};
constexpr TypeRow typeTable[numPipelineTypes] = {
    {"async_async", SideKind::Async, SideKind::Async},
    {"tma_async", SideKind::Tma, SideKind::Async},
    {"tma_umma", SideKind::Tma, SideKind::Umma},
    {"umma_async", SideKind::Umma, SideKind::Async},
    {"async_umma", SideKind::Async, SideKind::Umma},
    {"umma_umma", SideKind::Umma, SideKind::Umma},
    {"clc_fetch_async", SideKind::Clc, SideKind::Async},
};

std::string joinBits(unsigned set, const std::pair<unsigned, std::string_view> *rows, size_t count,
                     std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (!(set & rows[i].first))
      continue;
    if (!text.empty())
      text += separator;
    text += rows[i].second;
  }
  return text.empty() ? "none" : text;
}
} // namespace

SideKind producerKind(PipelineType type) { return typeTable[unsigned(type)].producer; }
SideKind consumerKind(PipelineType type) { return typeTable[unsigned(type)].consumer; }
std::string_view name(PipelineType type) { return typeTable[unsigned(type)].name; }

unsigned roleIndex(Op op) {
  constexpr unsigned index[] = {0, 0, 1, 2, 2, 3};
  return index[unsigned(op)];
}

std::string_view name(Op op) {
  constexpr std::string_view names[] = {"try_acquire", "acquire", "commit",
                                        "try_wait",    "wait",    "release"};
  return names[unsigned(op)];
}

std::string_view name(Barrier barrier) { return barrier == Barrier::Full ? "full" : "empty"; }

std::string_view name(GroupMode mode) {
  constexpr std::string_view names[] = {"merge", "fork", "fused_merge"};
  return names[unsigned(mode)];
}

std::string signalName(SignalSet set) {
  constexpr std::pair<unsigned, std::string_view> rows[] = {
      {SignalAll, "all"},
      {SignalCtaLeader, "cta_leader"},
      {SignalTaskWarpLeader, "task_warp_leader"}};
  return joinBits(set, rows, std::size(rows), " | ");
}

std::string engineNames(EngineSet set) {
  constexpr std::pair<unsigned, std::string_view> rows[] = {
      {EngineGeneric, "generic"},     {EngineCpAsync, "cp.async"},     {EngineTma, "tma"},
      {EngineUmma, "umma"},           {EngineUtccp, "tcgen05.cp"},     {EngineWgmma, "wgmma"},
      {EngineTmemLoad, "tcgen05.ld"}, {EngineTmemStore, "tcgen05.st"}, {EngineClc, "clc"}};
  return joinBits(set, rows, std::size(rows), " + ");
}

bool PipelineSpec::interleaved() const {
  return std::any_of(interleave.begin(), interleave.end(), [](int64_t n) { return n > 1; });
}

SideAccess defaultAccess(const PipelineSpec &spec, Side side) {
  SideAccess access;
  SideKind kind = side == Side::Producer ? producerKind(spec.type) : consumerKind(spec.type);
  if (spec.space == Space::None && kind == SideKind::Async)
    return access;
  bool smem = spec.space == Space::Smem || spec.space == Space::SmemAndTmem;
  bool tmem = spec.space == Space::Tmem || spec.space == Space::SmemAndTmem;
  EngineSet &set = side == Side::Producer ? access.writes : access.reads;
  switch (kind) {
  case SideKind::Tma:
    set = EngineTma;
    break;
  case SideKind::Umma:
    set = EngineUmma;
    break;
  case SideKind::Clc:
    set = EngineClc;
    break;
  case SideKind::Async:
    if (producerKind(spec.type) == SideKind::Umma)
      set = EngineTmemLoad;
    else if (side == Side::Producer)
      set = (smem ? (spec.asyncLoad ? EngineCpAsync : EngineGeneric) : 0) |
            (tmem ? EngineTmemStore : 0);
    else
      set = (smem ? EngineGeneric : 0) | (tmem ? EngineTmemLoad : 0);
    break;
  }
  return access;
}

SideAccess accessOf(const PipelineSpec &spec, Side side) {
  const auto &given = side == Side::Producer ? spec.producerAccess : spec.consumerAccess;
  return given ? *given : defaultAccess(spec, side);
}

CtaGrid::CtaGrid(const PipelineSpec &spec, const ClusterSpec &cluster) {
  LayoutVmnk wanted;
  if (spec.ctaLayout) {
    wanted = *spec.ctaLayout;
  } else if (cluster.layout) {
    wanted = *cluster.layout;
  } else {
    int64_t v = cluster.ctasPerMma;
    if (v < 1 || cluster.shape[0] % v != 0) {
      ok = false;
      return;
    }
    wanted = {v, cluster.shape[0] / v, cluster.shape[1], cluster.shape[2]};
  }
  int64_t total = 1;
  for (int64_t extent : wanted) {
    if (extent < 1 || extent > maxCtas || (total *= extent) > maxCtas) {
      ok = false;
      return;
    }
  }
  dims = wanted;
  count = total;
}

LayoutVmnk CtaGrid::coord(int64_t cta) const {
  LayoutVmnk result;
  for (size_t i = 0; i < 4; ++i) {
    result[i] = cta % dims[i];
    cta /= dims[i];
  }
  return result;
}

CtaMask CtaGrid::pairOf(int64_t cta) const {
  return ((CtaMask(1) << dims[0]) - 1) << pairLeader(cta);
}

CtaMask CtaGrid::peers(int64_t cta, const std::array<bool, 2> &multicast) const {
  LayoutVmnk mine = coord(cta);
  CtaMask mask = CtaMask(1) << cta;
  for (int64_t other = 0; other < count; ++other) {
    LayoutVmnk theirs = coord(other);
    if (theirs[0] != mine[0] || theirs[3] != mine[3])
      continue;
    if ((multicast[0] && theirs[1] == mine[1]) || (multicast[1] && theirs[2] == mine[2]))
      mask |= CtaMask(1) << other;
  }
  return mask;
}

CtaMask CtaGrid::peerPairs(int64_t cta, const std::array<bool, 2> &multicast) const {
  CtaMask direct = peers(cta, multicast), mask = 0;
  for (int64_t other = 0; other < count; ++other)
    if (direct >> other & 1)
      mask |= pairOf(other);
  return mask;
}

const std::vector<TaskRole> &Participants::of(Op op) const {
  const std::vector<TaskRole> *lists[] = {&acquire, &commit, &wait, &release};
  return *lists[roleIndex(op)];
}

std::vector<TaskRole> &Participants::of(Op op) {
  return const_cast<std::vector<TaskRole> &>(std::as_const(*this).of(op));
}

} // namespace ts::protocol
