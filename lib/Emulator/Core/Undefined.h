// Values that nobody has defined, followed through registers as far as they go: what was read from
// shared or tensor memory before anything was written there is only wrong once it is used as an
// address, decides a branch, reaches global memory or enters a matrix unit. Here is the bookkeeping
// of registers and local memory; that of shared and tensor memory is the checker's. SPDX-License-
// Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_UNDEFINED_H
#define TS_EMULATOR_CORE_UNDEFINED_H

#include "../Check/Checker.h"
#include "ts/Emulator/Ptx.h"

#include <cstdint>
#include <vector>

namespace ts::emu {

struct Code;
struct Exec;
enum class Order : uint8_t;
enum class Space : uint8_t;
enum class Step : uint8_t;

/// How an instruction hands definedness on, by register slots.
struct Flow {
  enum class Kind : uint8_t {
    Use,     // its operands have to be defined
    Each,    // a lane of the result is as undefined as that lane of the operands
    Select,  // from = {chosen if true, chosen if false, predicate}
    Shuffle, // from = {the value that is exchanged}
    Warp,    // an undefined lane makes all lanes of the result undefined
    Wgmma,   // from = accumulators, read if `condition` holds
    Own,     // loads and stores say themselves which bytes are undefined
  };
  static constexpr uint32_t none = ~0u;
  Kind kind = Kind::Use;
  bool negated = false;          // the predicate of Select, the condition of Wgmma
  uint32_t condition = none;     // Wgmma: slot of scale-d
  bool conditionConstant = true; // without a slot
  std::vector<uint32_t> to, from;
  std::vector<uint32_t> uses;      // have to be defined in any case
  std::vector<uint32_t> addresses; // the same, and are addresses
};
Flow flowOf(const Code &code, const ptx::Instruction &inst);

/// Where an undefined value was read.
struct UndefinedOrigin {
  uint32_t site = 0;   // checker's
  uint32_t stored = 0; // site of the store that put an undefined value there; 0: there was none
  std::string what;    // the place
};

/// Registers of a frame with undefined lanes.
struct UndefinedRegisters {
  uint32_t count = 0;           // slots with a lane
  std::vector<uint32_t> lanes;  // by slot; empty before the first
  std::vector<uint32_t> origin; // by slot: in Warp::undefinedOrigins
};

/// Runs x.code in a frame that has undefined registers.
Step runWithUndefined(Exec &x);
/// Faults if the guard is undefined in a lane of x.mask.
void checkGuard(Exec &x);

/// A load has found undefined bytes: number of the origin, for the functions below.
uint32_t undefinedOrigin(Exec &x, const UndefinedRead &read);
void setUndefined(Exec &x, uint32_t slot, uint32_t lanes, uint32_t origin);
/// Lanes of x.mask in which a register is undefined.
uint32_t undefinedLanes(const Exec &x, uint32_t slot);
/// The bytes that a lane has just stored are undefined (the value of `slot`). A fault in global
/// memory; elsewhere they are marked.
void storedUndefined(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes,
                     uint32_t slot);
/// The undefined value of a register is used; `how` is for people: "is used as an address here".
[[noreturn]] void usedUndefined(const Exec &x, uint32_t slot, uint32_t lanes, const char *how);

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_UNDEFINED_H
