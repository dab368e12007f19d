// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GridOrder.h"

namespace ts::emu {
namespace {
constexpr AccessKind kindOf[] = {AccessKind::Read, AccessKind::Write, AccessKind::AtomicRead,
                                 AccessKind::Atomic};

unsigned numberOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
    return 0;
  case AccessKind::Write:
  case AccessKind::SameWrite:
    return 1;
  case AccessKind::AtomicRead:
    return 2;
  case AccessKind::Atomic:
  case AccessKind::AtomicWrite:
    return 3;
  }
  return 0;
}

bool conflicts(unsigned a, unsigned b) {
  bool atomic = a >= 2 && b >= 2, reads = a % 2 == 0 && b % 2 == 0;
  return !atomic && !reads;
}
} // namespace

uint32_t GridOrder::siteOf(const void *code, Side side, unsigned kind,
                           const std::function<Site()> &site) {
  auto [it, isNew] =
      siteNumbers.try_emplace({code, unsigned(side) * kinds + kind}, uint32_t(sites.size()));
  if (isNew)
    sites.push_back(site());
  return it->second;
}

uint32_t GridOrder::after(uint32_t from, Side side, unsigned kind, uint32_t site) {
  Record record = records[from];
  uint32_t &mine = record[unsigned(side) * kinds + kind];
  if (mine)
    return from; // the first of its kind stands for all
  mine = site;
  auto [it, isNew] = numbers.try_emplace(record, uint32_t(records.size()));
  if (isNew)
    records.push_back(record);
  return it->second;
}

std::optional<GridOrder::Conflict> GridOrder::access(Side side, AccessKind accessKind,
                                                     uint64_t address, uint64_t bytes,
                                                     const void *code,
                                                     const std::function<Site()> &site) {
  std::lock_guard lock(mutex);
  const unsigned kind = numberOf(accessKind);
  const unsigned others = side == Side::Primary ? kinds : 0;
  const uint32_t mine = siteOf(code, side, kind, site);
  Page *page = nullptr;
  uint32_t from = ~0u, to = 0; // neighbours mostly have one history
  for (uint64_t at = address; at != address + bytes; ++at) {
    if (!page || at % pageBytes == 0) {
      std::unique_ptr<Page> &slot = pages[at / pageBytes];
      if (!slot)
        slot = std::make_unique<Page>();
      page = slot.get();
    }
    uint32_t &cell = (*page)[at % pageBytes];
    if (cell != from) {
      from = cell;
      for (unsigned other = 0; other < kinds; ++other) {
        uint32_t theirs = records[from][others + other];
        if (!theirs || !conflicts(kind, other))
          continue;
        if (side == Side::Primary)
          return Conflict{at, kindOf[kind], kindOf[other], sites[mine], sites[theirs]};
        return Conflict{at, kindOf[other], kindOf[kind], sites[theirs], sites[mine]};
      }
      to = after(from, side, kind, mine);
    }
    cell = to;
  }
  return std::nullopt;
}

void GridOrder::release(uint64_t address) {
  std::lock_guard lock(mutex);
  flags.insert(address);
}

bool GridOrder::released(uint64_t address) const {
  std::lock_guard lock(mutex);
  return flags.contains(address);
}

} // namespace ts::emu
