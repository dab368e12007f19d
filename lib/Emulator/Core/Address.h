// How addresses of every state space are encoded. Generic addresses carry the space in a window;
// shared addresses are 32 bits with the CTA's rank in the cluster above bit 24, as on hardware
// (kernels clear bit 24 to name the leader of a CTA pair). SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_CORE_ADDRESS_H
#define TS_EMULATOR_CORE_ADDRESS_H

#include <cstdint>

namespace ts::emu {

/// State space of an access as the instruction names it.
enum class Space : uint8_t { Generic, Global, SharedCta, SharedCluster, Local, Param, Const };

inline constexpr uint64_t windowSize = uint64_t(1) << 32;
inline constexpr uint64_t sharedWindow = uint64_t(0x7e10) << 32; // + shared::cluster address
inline constexpr uint64_t localWindow = uint64_t(0x7e20) << 32;  // + offset in the lane's memory
inline constexpr uint64_t paramWindow = uint64_t(0x7e30)
                                        << 32; // + offset in the entry's parameters
inline constexpr uint64_t functionWindow = uint64_t(0x7e40) << 32; // + 16 * function index
inline constexpr uint64_t globalBase = uint64_t(0x7f00) << 32;     // allocations, and const

inline bool inWindow(uint64_t address, uint64_t window) { return address - window < windowSize; }

/// The first bytes of a CTA's shared memory belong to the system, so offset 0 is never valid.
inline constexpr uint32_t sharedReserved = 1024;
inline constexpr uint32_t sharedRankShift = 24;
inline constexpr uint32_t sharedOffsetMask = (1u << sharedRankShift) - 1;

inline uint32_t sharedAddress(unsigned rank, uint32_t offset) {
  return (uint32_t(rank) << sharedRankShift) | offset;
}

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_ADDRESS_H
