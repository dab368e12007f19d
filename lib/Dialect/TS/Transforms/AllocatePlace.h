// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interval arithmetic of the allocator: saturating sums and lowest-fit placement. Knows no ops.
#ifndef TS_LIB_DIALECT_TS_TRANSFORMS_ALLOCATEPLACE_H
#define TS_LIB_DIALECT_TS_TRANSFORMS_ALLOCATEPLACE_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>

namespace mlir::ts {
/// Larger than any memory; sums stop here, so that no size a program can write wraps around.
inline constexpr int64_t kSaturated = int64_t(1) << 60;

inline int64_t satAdd(int64_t a, int64_t b) { return a >= kSaturated - b ? kSaturated : a + b; }
inline int64_t satMul(int64_t a, int64_t b) { return a && b > kSaturated / a ? kSaturated : a * b; }
inline int64_t alignUp(int64_t value, int64_t align) {
  if (value >= kSaturated - align)
    return kSaturated;
  return (value + align - 1) / align * align;
}

/// Occupied parts of one memory: half-open intervals, sorted by start. They may overlap.
class Occupancy {
public:
  void add(int64_t begin, int64_t end) {
    auto at = std::upper_bound(parts.begin(), parts.end(), std::pair(begin, end));
    parts.insert(at, {begin, end});
  }
  /// Lowest aligned place from `from` on where `size` is free.
  int64_t lowestFit(int64_t size, int64_t align, int64_t from = 0) const {
    int64_t at = alignUp(from, align);
    for (auto [begin, end] : parts) {
      if (end <= at)
        continue;
      if (begin >= satAdd(at, size))
        break;
      at = alignUp(end, align);
    }
    return at;
  }
  int64_t getEnd() const {
    int64_t end = 0;
    for (auto part : parts)
      end = std::max(end, part.second);
    return end;
  }

private:
  llvm::SmallVector<std::pair<int64_t, int64_t>> parts;
};
} // namespace mlir::ts

#endif
