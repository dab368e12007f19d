// Who of a warp wrote what since its lanes met. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "LaneOrder.h"

namespace ts::emu {

void LaneOrder::synchronised(AgentId warp) {
  partial[warp].clear();
  if (++intervals[warp] < 1u << intervalBits)
    return;
  intervals[warp] = 1; // older codes would look like new ones
  for (std::vector<uint32_t> &cta : written)
    for (uint32_t &code : cta)
      if (code >> (intervalBits + laneBits) == warp)
        code = 0;
}

void LaneOrder::wrote(AgentId warp, unsigned lane, SharedRange range, uint32_t sharedBytes) {
  std::vector<uint32_t> &cta = written[range.cta];
  if (cta.empty())
    cta.resize(sharedBytes);
  size_t end = std::min<size_t>(size_t(range.begin) + range.size, cta.size());
  for (size_t i = range.begin; i < end; ++i)
    cta[i] = codeOf(warp, lane, intervals[warp]);
}

void LaneOrder::forget(SharedRange range) {
  std::vector<uint32_t> &cta = written[range.cta];
  size_t end = std::min<size_t>(size_t(range.begin) + range.size, cta.size());
  for (size_t i = range.begin; i < end; ++i)
    cta[i] = 0;
}

std::optional<LaneOrder::Other> LaneOrder::unordered(AgentId warp, unsigned lane,
                                                     SharedRange range) const {
  const std::vector<uint32_t> &cta = written[range.cta];
  uint32_t own = codeOf(warp, lane, intervals[warp]);
  size_t end = std::min<size_t>(size_t(range.begin) + range.size, cta.size());
  for (size_t i = range.begin; i < end; ++i)
    if (cta[i] != own && ((cta[i] ^ own) & ~laneMask) == 0)
      return Other{cta[i] >> intervalBits & ((1u << laneBits) - 1), uint32_t(i)};
  return std::nullopt;
}

void LaneOrder::learned(AgentId warp, uint32_t lanes, AgentId engine, uint32_t from, uint32_t to) {
  if (from >= to)
    return;
  std::vector<Knowledge> &known = partial[warp];
  constexpr size_t enough = 64; // a warp without any synchronisation: the oldest are let go
  if (known.size() >= enough)
    known.erase(known.begin());
  known.push_back({engine, from, to, lanes});
}

uint32_t LaneOrder::knowing(AgentId warp, Event event) const {
  uint32_t lanes = ~0u;
  for (const Knowledge &k : partial[warp])
    if (k.engine == event.agent && event.time > k.from && event.time <= k.to)
      lanes = k.lanes;
  return lanes;
}

} // namespace ts::emu
