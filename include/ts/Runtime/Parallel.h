// Splits a range of independent work over the cores of the machine.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_PARALLEL_H
#define TS_RUNTIME_PARALLEL_H

#include <cstdint>
#include <functional>

namespace ts {

/// Calls body(begin, end) for pieces that cover [0, count); pieces are at least `grain` long but
/// for the last one, and run concurrently. The pieces must not depend on each other.
void parallelFor(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)> &body);

} // namespace ts

#endif // TS_RUNTIME_PARALLEL_H
