// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes and limits of the hardware that the ops' verifiers check. What differs from chip to chip
// (capacities, features) is not here.
#ifndef TS_DIALECT_TS_IR_HARDWARELIMITS_H
#define TS_DIALECT_TS_IR_HARDWARELIMITS_H

#include <cstdint>

namespace mlir::ts {
inline constexpr int64_t kWarpSize = 32;
inline constexpr int64_t kMaxThreads = 1024;

// Named barriers; id 0 is the one of the whole CTA.
inline constexpr int64_t kMinNamedBarrier = 1;
inline constexpr int64_t kMaxNamedBarrier = 15;

// mbarrier object: 20-bit pending and transaction counts.
inline constexpr int64_t kMaxMbarrierCount = (1 << 20) - 1;

// Copies.
inline constexpr int64_t kBulkGranularity = 16;
inline constexpr int64_t kTmaSmemAlignment = 128;
inline constexpr int64_t kPaddedBox = 128; // elements in a row of padded ones
inline constexpr int64_t kGatherRows = 4;
inline constexpr int64_t kTensorMapBytes = 128;
inline constexpr int64_t kMaxTensorRank = 5;

// Matrix descriptors: core matrices of 8 rows of 16 bytes; a swizzle atom is 8 rows of its span.
inline constexpr int64_t kCoreMatrixRows = 8;
inline constexpr int64_t kCoreMatrixRowBytes = 16;

// One tensor-core instruction takes 32 bytes of K, whatever the element type; byte-padded formats
// (f8f6f4) take 32 elements.
inline constexpr int64_t kMmaKBits = 256;
inline constexpr int64_t kMmaKPadded = 32;
inline constexpr int64_t kMaxMmaN = 256;

// wgmma and its register tiles.
inline constexpr int64_t kWgmmaM = 64;
inline constexpr int64_t kWgmmaNStep = 8;
inline constexpr int64_t kWarpTileRows = 16;
inline constexpr int64_t kRowsPerThread = 2; // r and r + 8 of its warp's 16

// Tensor memory.
inline constexpr int64_t kTmemLanes = 128;
inline constexpr int64_t kTmemColumns = 512;
inline constexpr int64_t kTmemColumnBits = 32;
inline constexpr int64_t kMaxTmemLoadColumns = 128;
} // namespace mlir::ts

#endif
