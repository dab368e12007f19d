// Records and their transitions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Shadow.h"

namespace ts::emu {
Records::Records() {
  records.resize(2);
  records[given].defined = true;
}

uint32_t Records::after(uint32_t from, const Touch &touch) {
  bool write = writes(touch.kind);
  // What was before a write does not matter to what comes behind it.
  Key key{write ? ~0u : from, touch.event.agent,   touch.event.time,
          touch.site,         uint8_t(touch.kind), uint8_t(touch.proxy)};
  auto [it, isNew] = transitions.try_emplace(key, uint32_t(records.size()));
  if (!isNew)
    return it->second;
  Record record;
  if (write) {
    record.defined = true;
    record.write = touch;
  } else {
    record = records[from];
    bool found = false;
    for (Touch &read : record.reads)
      if (read.event.agent == touch.event.agent && read.proxy == touch.proxy &&
          read.kind == touch.kind) {
        read = touch; // a later one of the same agent: whoever knows it knows the earlier one
        found = true;
      }
    if (!found)
      record.reads.push_back(touch);
  }
  records.push_back(std::move(record));
  return it->second;
}

uint32_t Records::spoiled(uint32_t from) {
  if (!records[from].defined)
    return from;
  constexpr uint8_t mark = 0xff; // no kind of access
  auto [it, isNew] = transitions.try_emplace({from, 0, 0, 0, mark, 0}, uint32_t(records.size()));
  if (isNew) {
    Record record = records[from];
    record.defined = false;
    records.push_back(std::move(record));
  }
  return it->second;
}

void Records::collect(const std::vector<std::vector<uint32_t> *> &shadows) {
  std::vector<uint32_t> renumbered(records.size(), 0);
  std::vector<Record> kept(2);
  kept[given].defined = true;
  renumbered[given] = given;
  for (std::vector<uint32_t> *shadow : shadows)
    for (uint32_t &id : *shadow) {
      if (id > given && renumbered[id] == 0) {
        renumbered[id] = uint32_t(kept.size());
        kept.push_back(std::move(records[id]));
      }
      id = renumbered[id];
    }
  records = std::move(kept);
  transitions.clear();
}

} // namespace ts::emu
