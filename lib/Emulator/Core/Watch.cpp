// Recurrence of a warp's private state, by Brent's cycle search. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "Watch.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ts::emu {
namespace {
constexpr uint64_t firstPower = 64;  // steps before the first state is saved anew
constexpr uint64_t pollGap = 10'000; // steps of a group that polls between two polls, at most

/// The frame that is `depth` calls out of the innermost one.
const Frame *frameAt(const Split &split, uint32_t depth) {
  const Frame *frame = split.frame.get();
  while (depth-- && frame)
    frame = frame->caller.get();
  return frame;
}
} // namespace

/// Calls sink(word, place) for each word of the state, until it returns false; `place` is null for
/// what is no register.
template <class Sink> bool LaneState::visit(const Warp &warp, uint32_t lanes, Sink &&sink) {
  for (uint32_t s = 0; s < warp.splits.size(); ++s) {
    const Split &split = warp.splits[s];
    if (!(split.mask & lanes))
      continue;
    uint32_t depth = 0;
    for (const Frame *frame = split.frame.get(); frame; frame = frame->caller.get(), ++depth) {
      if (!sink(uint64_t(std::bit_cast<uintptr_t>(frame->code)), nullptr) ||
          !sink(uint64_t(frame->returnPc) << 32 | frame->dynamicBytes, nullptr))
        return false;
      for (uint32_t slot = 0; slot < frame->code->numRegisters; ++slot)
        for (uint32_t left = split.mask; left; left &= left - 1) {
          Place place{s, depth, slot, uint32_t(std::countr_zero(left))};
          if (!sink(frame->regs[size_t(slot) * warpSize + place.lane], &place))
            return false;
        }
      // Marks of undefined lanes are few and seldom.
      for (uint32_t mark : frame->undefined.lanes)
        if (!sink(mark & split.mask, nullptr))
          return false;
    }
  }
  if (!sink(warp.carry & lanes, nullptr))
    return false;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const uint8_t *bytes = warp.local.data() + size_t(std::countr_zero(left)) * warp.localBytes;
    for (uint32_t at = 0; at < warp.localBytes; at += 8) {
      uint64_t word = 0;
      memcpy(&word, bytes + at, std::min<uint32_t>(8, warp.localBytes - at));
      if (!sink(word, nullptr))
        return false;
    }
  }
  return true;
}

void LaneState::save(const Warp &warp, uint32_t lanes) {
  words.clear();
  places.clear();
  hint.reset();
  for (const Split &split : warp.splits)
    if (split.mask & lanes)
      places.push_back({split.mask, split.pc});
  visit(warp, lanes, [&](uint64_t word, const Place *) {
    words.push_back(word);
    return true;
  });
}

bool LaneState::differsAtHint(const Warp &warp) const {
  if (!hint)
    return false;
  const auto &[place, value] = *hint;
  if (place.split >= warp.splits.size())
    return false;
  const Frame *frame = frameAt(warp.splits[place.split], place.frame);
  return frame && place.slot < frame->code->numRegisters &&
         frame->regs[size_t(place.slot) * warpSize + place.lane] != value;
}

bool LaneState::equals(const Warp &warp, uint32_t lanes) const {
  size_t n = 0;
  for (const Split &split : warp.splits)
    if (split.mask & lanes) {
      if (n >= places.size() || places[n] != std::pair(split.mask, split.pc))
        return false;
      ++n;
    }
  if (n != places.size() || differsAtHint(warp))
    return false;
  size_t at = 0;
  bool same = visit(warp, lanes, [&](uint64_t word, const Place *place) {
    if (at < words.size() && words[at] == word)
      return ++at, true;
    if (place && at < words.size())
      hint = {*place, words[at]};
    return false;
  });
  return same && at == words.size();
}

void Watch::restart(uint64_t newKey, uint64_t steps) {
  if (newKey == key)
    return;
  key = newKey;
  verdictFrom = cluster.steps + steps;
  groups.clear();
}

Watch::Group &Watch::groupOf(const Warp &warp, uint32_t lanes) {
  std::vector<Group> &all = groups[&warp];
  // Lanes that are together now, or were before they parted, are one group.
  uint32_t together = lanes;
  for (bool grown = true; grown;) {
    grown = false;
    auto add = [&](uint32_t mask) {
      grown |= (mask & together) && (mask & ~together);
      if (mask & together)
        together |= mask;
    };
    for (const Group &group : all)
      add(group.lanes);
    for (const Split &split : warp.splits)
      add(split.mask);
  }
  for (Group &group : all)
    if (group.lanes == together)
      return group;
  std::erase_if(all, [&](const Group &group) { return group.lanes & together; });
  return all.emplace_back(together);
}

void Watch::compare(const Warp &warp, Group &group) {
  if (++group.sinceSaved <= group.power) {
    group.cameBack = group.power > firstPower && group.saved.equals(warp, group.lanes);
    return;
  }
  group.power = std::max(firstPower, 2 * group.power);
  group.sinceSaved = 0;
  if (group.power > firstPower)
    group.saved.save(warp, group.lanes);
}

void Watch::stepped(const Warp &warp, uint32_t lanes, bool polled) {
  lanes &= warp.alive();
  if (!lanes)
    return;
  Group &group = groupOf(warp, lanes);
  ++group.steps;
  if (polled)
    group.polledAt = group.steps;
  // A state is large; it is looked at only where the verdict depends on it.
  if (!group.cameBack && !polls(group))
    compare(warp, group);
}

bool Watch::polls(const Group &group) {
  return group.polledAt && group.steps - group.polledAt <= pollGap;
}

bool Watch::standsStill() const {
  if (cluster.steps < verdictFrom)
    return false;
  for (const std::unique_ptr<Cta> &cta : cluster.ctas)
    for (const std::unique_ptr<Warp> &warp : cta->warps)
      for (const Split &split : warp->splits) {
        if (!split.mask || (split.blocked && split.blockedAt == cluster.events && !split.giveUp))
          continue;
        auto known = groups.find(warp.get());
        if (known == groups.end())
          return false;
        bool seen = false;
        for (const Group &group : known->second)
          seen |= (group.lanes & split.mask) == split.mask && (group.cameBack || polls(group));
        if (!seen)
          return false;
      }
  return true;
}

} // namespace ts::emu
