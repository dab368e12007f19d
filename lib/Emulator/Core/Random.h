// The generator behind random schedules: small, and the same on every machine. SPDX-License-
// Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_RANDOM_H
#define TS_EMULATOR_CORE_RANDOM_H

#include <cstdint>

namespace ts::emu {

/// xorshift64; the state is never zero.
inline uint64_t nextRandom(uint64_t &state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_RANDOM_H
