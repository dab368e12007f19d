// What the prover does not take on: numbers beyond which its own arithmetic, or the time it takes,
// would have no bound. Op verifiers keep most of them out; this is not where they are explained to
// the author of a kernel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_PROVER_LIMITS_H
#define TS_PROVER_LIMITS_H

#include "ts/Analysis/Prover/Prover.h"

namespace ts::prover {

constexpr int64_t mostStages = 1024; ///< of one ring; the barriers' room in shared memory ends near
constexpr int64_t mostPending = 64;  ///< groups that a wait may leave in flight
constexpr int64_t mostHolders = 1024; ///< of one baton

/// Why the kernel is not judged, or nothing. Within the limits a sum of a few products of two of
/// its numbers fits 64 bits.
std::string beyondLimits(const schedule::Kernel &kernel, const Placement &placement,
                         const Options &options);

} // namespace ts::prover

#endif // TS_PROVER_LIMITS_H
