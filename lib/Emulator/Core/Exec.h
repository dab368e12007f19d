// What an instruction sees when it runs: its lanes, operands and the machine around it. Every
// instruction family of lib/Emulator is written against this header and State.h. SPDX-License-
// Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_EXEC_H
#define TS_EMULATOR_CORE_EXEC_H

#include "Address.h"
#include "Fault.h"
#include "State.h"

#include <array>
#include <bit>
#include <cstring>

namespace ts::emu {

enum class Step : uint8_t {
  Next,    // done; continue behind it
  Jump,    // the op has set the pc of the lanes itself (branches, calls, exits)
  Blocked, // not done: run it again when something has changed (Exec::wait says what it waits for)
};

/// One execution of one instruction by one split of a warp. `mask` has the lanes whose guard holds.
struct Exec {
  Machine &machine;
  Cluster &cluster;
  Cta &cta;
  Warp &warp;
  Split &split;
  const CodeEntry &code;
  uint32_t mask = 0;

  bool active(unsigned lane) const { return mask >> lane & 1; }
  unsigned firstLane() const { return std::countr_zero(mask); }

  /// Lanes of a register of the current frame.
  uint64_t *reg(uint32_t r) const { return split.frame->regs.data() + size_t(r) * warpSize; }

  /// The place, for reports and for the checker.
  Site site() const;
  uint32_t siteId() const; // registered with the cluster's checker

  Clock &clock() const; // the warp's

  /// Marks what a Blocked step waits for; shown when the kernel hangs.
  void wait(WaitKind kind, uint64_t subject, std::string text) const;
  /// Whether the machine asks a blocked potentially-blocking try to give up (time limit reached).
  bool timedOut() const { return split.giveUp; }

  /// For `.aligned` / `.sync` ops with a membership mask. Blocks until all of `members` are at this
  /// instruction in one split; a member that exited or waits elsewhere for good is a Divergence
  /// fault, raised by the machine. Use: `if (!x.converged(members)) return Step::Blocked;`
  /// `members` = warp.alive() for `.aligned` ops without a mask.
  bool converged(uint32_t members) const;
};

/// A decoded instruction.
class Op {
public:
  virtual ~Op() = default;
  virtual Step run(Exec &x) const = 0;
};

/// An operand that is read: register, immediate (broadcast), special register, or the address of a
/// variable that depends on the CTA (shared) or the frame (local).
class Src {
public:
  enum class Kind : uint8_t { Reg, Const, Special, Shared, DynamicShared, Local };
  Kind kind = Kind::Const;
  bool negated = false; // predicates only
  uint32_t reg = 0;
  SpecialReg special{};
  std::array<uint64_t, warpSize> constant{}; // all lanes equal; the offset of an address

  /// 32 values, zero-extended to 64 bits as registers are. Special registers are computed into
  /// `scratch`. Registers that an engine is still writing fault here.
  const uint64_t *lanes(const Exec &x, uint64_t *scratch) const {
    if (kind == Kind::Reg) {
      if (x.split.frame->numInFlight) [[unlikely]]
        checkInFlight(x);
      return x.reg(reg);
    }
    if (kind == Kind::Const)
      return constant.data();
    return computedLanes(x, scratch);
  }
  uint64_t lane(const Exec &x, unsigned l) const {
    uint64_t scratch[warpSize];
    return lanes(x, scratch)[l];
  }
  /// The value in the first active lane: for operands that have to be uniform.
  uint64_t uniform(const Exec &x) const { return lane(x, x.firstLane()); }
  /// Lanes (of all 32) where a predicate operand holds.
  uint32_t predicate(const Exec &x) const;

private:
  const uint64_t *computedLanes(const Exec &x, uint64_t *scratch) const;
  void checkInFlight(const Exec &x) const;
};

/// A register that is written, or nothing (`_`).
class Dst {
public:
  bool sink = true;
  uint32_t reg = 0;
  ptx::Type type = ptx::Type::None; // of the register
  /// Where to put results: the register's lanes, or `scratch` for a sink. Write active lanes only.
  uint64_t *lanes(const Exec &x, uint64_t *scratch) const {
    if (sink)
      return scratch;
    if (x.split.frame->numInFlight) [[unlikely]]
      checkInFlight(x);
    return x.reg(reg);
  }
  void set(const Exec &x, unsigned lane, uint64_t value) const {
    if (!sink)
      x.reg(reg)[lane] = value;
  }
  void setPredicate(const Exec &x, uint32_t lanesTrue) const; // active lanes only
  void checkInFlight(const Exec &x) const;
};

/// `[base + offset]`.
struct AddressOperand {
  Src base;
  int64_t offset = 0;
  uint64_t lane(const Exec &x, unsigned l) const { return base.lane(x, l) + uint64_t(offset); }
  uint64_t uniform(const Exec &x) const { return lane(x, x.firstLane()); }
};

/// Loads and stores as a lane sees them. `space` is the instruction's; generic addresses are
/// resolved. They check bounds (OutOfBounds), natural alignment of `bytes` (Alignment), and tell
/// the checker about shared memory (Proxy::Generic). Sizes are 1 to 32.
/// `strong`: volatile, relaxed, acquire or release; such accesses do not race with each other.
void load(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, void *to,
          bool strong = false);
void store(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, const void *from,
           bool strong = false);
/// The same with memory order: acquire and release through the address are told to the checker,
/// and fences before or behind relaxed accesses count (fence() below).
enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcquireRelease };
/// With `undefined`, bytes that hold nothing defined are told there instead of being a fault.
void load(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, void *to,
          Order order, UndefinedRead *undefined = nullptr);
void store(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, const void *from,
           Order order);
/// fence, membar: what relaxed loads have seen becomes known, and later relaxed stores publish what
/// is known here.
void fence(Exec &x, bool acquire, bool release);
/// Read-modify-write of 1 to 16 bytes, atomic towards other clusters; `update` gets the old bytes
/// and changes them in place. acquire/release order is told to the checker.
void atomic(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes,
            const std::function<void(void *)> &update, bool acquire, bool release);

/// A shared address (any form: shared::cta, shared::cluster, generic) resolved.
struct SharedPlace {
  Cta *cta = nullptr;
  uint32_t offset = 0;
  uint8_t *bytes = nullptr;
};
/// Faults if the `size` bytes are not inside the shared memory of a CTA of this cluster.
SharedPlace resolveShared(const Exec &x, Space space, uint64_t address, uint32_t size,
                          uint32_t align, const char *what);
/// Host address of global (or const, or entry-parameter) bytes; faults outside allocations.
uint8_t *resolveGlobal(Machine &machine, uint64_t address, uint64_t size, uint32_t align,
                       bool write, const char *what);

/// For the order of grids that may overlap: accesses to global memory, by the instruction itself or
/// by the engine that it starts, and what makes the grid before known.
void tellGlobal(const Exec &x, uint64_t address, uint64_t bytes, AccessKind kind);
void learnPrimary(const Exec &x, Clock &clock); // it has ended
void acquireGlobal(const Exec &x, uint64_t address, Clock &clock);
void releaseGlobal(const Exec &x, uint64_t address);

/// For `mov` between registers: compilers rename accumulators of a wgmma that is still in flight.
/// True if `from` is in flight and the copy has been put off until its value is there; `to` is in
/// flight from then on.
bool deferMove(Exec &x, uint32_t from, uint32_t to); // Matrix/WgmmaState.cpp

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_EXEC_H
