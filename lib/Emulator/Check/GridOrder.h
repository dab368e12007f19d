// Global memory of two grids of which the second may begin before the first has ended: which bytes
// each has touched, and what conflicts. Not for conflicts inside of one grid, and not for who has
// waited: the caller tells only those accesses of the dependent grid that are behind no wait.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CHECK_GRIDORDER_H
#define TS_EMULATOR_CHECK_GRIDORDER_H

#include "Checker.h"

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace ts::emu {

class GridOrder {
public:
  enum class Side : uint8_t { Primary, Dependent };
  struct Conflict {
    uint64_t address = 0;
    AccessKind primary{}, dependent{}; // Read, Write, AtomicRead or Atomic
    Site primarySite, dependentSite;
  };

  /// The first byte of the range at which the access conflicts with one of the other grid.
  /// Instructions are told apart by `code`; `site` is asked for the first access of each.
  std::optional<Conflict> access(Side side, AccessKind kind, uint64_t address, uint64_t bytes,
                                 const void *code, const std::function<Site()> &site);

  /// Flags: the primary grid has released through an address; whoever acquires there knows it.
  void release(uint64_t address);
  bool released(uint64_t address) const;

private:
  static constexpr unsigned kinds = 4; // as in Conflict
  static constexpr uint64_t pageBytes = 4096;
  /// By side and kind, the site of the first such access, 0 if there was none.
  using Record = std::array<uint32_t, 2 * kinds>;
  using Page = std::array<uint32_t, pageBytes>; // numbers of records

  uint32_t siteOf(const void *code, Side side, unsigned kind, const std::function<Site()> &site);
  uint32_t after(uint32_t from, Side side, unsigned kind, uint32_t site);

  mutable std::mutex mutex;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  std::vector<Record> records{Record{}};
  std::map<Record, uint32_t> numbers{{Record{}, 0}};
  std::vector<Site> sites{Site{}};
  std::map<std::pair<const void *, unsigned>, uint32_t> siteNumbers;
  std::unordered_set<uint64_t> flags;
};

} // namespace ts::emu

#endif // TS_EMULATOR_CHECK_GRIDORDER_H
