// Allocations of a device. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Machine.h"

#include "Fault.h"

#include "Address.h"

namespace ts::emu {
namespace {
constexpr uint64_t guardGap = 1 << 16; // so that an overrun does not land in a neighbour
}

uint64_t GlobalMemory::globalStart() { return globalBase; }

uint64_t GlobalMemory::allocate(uint64_t bytes, uint64_t align) {
  align = std::max<uint64_t>(align, 16);
  uint64_t address = (next + align - 1) / align * align;
  Block block;
  block.size = bytes;
  block.bytes = std::make_unique<uint8_t[]>(std::max<uint64_t>(bytes, 1));
  std::fill_n(block.bytes.get(), bytes, uint8_t(0xff));
  blocks.emplace(address, std::move(block));
  next = address + bytes + guardGap;
  return address;
}

void GlobalMemory::free(uint64_t address) { blocks.erase(address); }

uint8_t *GlobalMemory::find(uint64_t address, uint64_t bytes) {
  auto it = blocks.upper_bound(address);
  if (it == blocks.begin())
    return nullptr;
  --it;
  uint64_t offset = address - it->first;
  if (offset > it->second.size || bytes > it->second.size - offset)
    return nullptr;
  return it->second.bytes.get() + offset;
}

GlobalMemory::Span GlobalMemory::around(uint64_t address) {
  auto it = blocks.upper_bound(address);
  if (it == blocks.begin())
    return {};
  --it;
  return {it->first, it->second.size, it->second.bytes.get()};
}

std::string GlobalMemory::describe(uint64_t address) const {
  auto it = blocks.upper_bound(address);
  std::string best = "no allocation is near";
  uint64_t distance = uint64_t(1) << 32;
  if (it != blocks.end() && it->first - address < distance) {
    distance = it->first - address;
    best = format("%llu bytes before an allocation of %llu bytes", (unsigned long long)distance,
                  (unsigned long long)it->second.size);
  }
  if (it != blocks.begin()) {
    --it;
    uint64_t end = it->first + it->second.size;
    if (address < end)
      return format("at byte %llu of an allocation of %llu bytes",
                    (unsigned long long)(address - it->first), (unsigned long long)it->second.size);
    if (address - end < distance)
      best = format("%llu bytes behind the end of an allocation of %llu bytes",
                    (unsigned long long)(address - end), (unsigned long long)it->second.size);
  }
  return best;
}

} // namespace ts::emu
