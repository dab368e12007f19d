// The shadow of a memory: for every cell (a byte of shared memory, a 32-bit cell of TMEM) the
// number of a record that says who wrote it last and who has read it since. Records are shared and
// never changed: an access maps the record of a cell to another one, so a range with one history
// costs one look-up. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CHECK_SHADOW_H
#define TS_EMULATOR_CHECK_SHADOW_H

#include "Checker.h"

#include <unordered_map>
#include <vector>

namespace ts::emu {

struct Touch {
  Event event; // time 0: nobody
  AccessKind kind = AccessKind::Read;
  Proxy proxy = Proxy::Generic;
  uint32_t site = 0;
};

struct Record {
  bool defined = false;
  Touch write;
  std::vector<Touch> reads; // since the write, one per agent
};

class Records {
public:
  static constexpr uint32_t undefined = 0, given = 1; // nobody wrote; contents from outside

  Records();
  const Record &operator[](uint32_t id) const { return records[id]; }
  /// The record of a cell with record `from` after the access.
  uint32_t after(uint32_t from, const Touch &touch);
  /// The record of a cell with record `from` whose content is undefined after all.
  uint32_t spoiled(uint32_t from);
  size_t size() const { return records.size(); }
  /// Keeps the records that the shadows use, renumbers them there.
  void collect(const std::vector<std::vector<uint32_t> *> &shadows);

private:
  struct Key {
    uint32_t from, agent, time, site;
    uint8_t kind, proxy;
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &k) const {
      uint64_t h = (uint64_t(k.from) << 32 | k.agent) * 0x9e3779b97f4a7c15u;
      h ^= (uint64_t(k.time) << 32 | k.site) * 0xbf58476d1ce4e5b9u;
      h ^= uint64_t(k.kind * 8 + k.proxy) * 0x94d049bb133111ebu;
      return size_t(h ^ (h >> 29));
    }
  };
  std::vector<Record> records;
  std::unordered_map<Key, uint32_t, Hash> transitions;
};

} // namespace ts::emu

#endif // TS_EMULATOR_CHECK_SHADOW_H
