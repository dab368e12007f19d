// What atom, red, red.async and their kin do to one element in memory: the operation without the
// access. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_OPS_ATOMICUPDATE_H
#define TS_EMULATOR_OPS_ATOMICUPDATE_H

#include "../Core/Decode.h"

namespace ts::emu {

enum class AtomicKind : uint8_t { Add, Min, Max, And, Or, Xor, Inc, Dec, Exch, Cas };
inline constexpr std::initializer_list<std::string_view> atomicNames = {
    "add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"};

/// An operand of up to 128 bits.
struct Wide {
  uint64_t low = 0, high = 0;
  bool operator==(const Wide &) const = default;
};

/// Whether PTX has the operation on this type (scalar; `vector` tells of .v2 to .v8).
bool atomicExists(AtomicKind kind, ptx::Type type, bool vector);

/// The new value of an element. `b` is the operand, `c` the new value of a compare-and-swap.
/// `flush`: f32 additions in global memory take and give subnormals as zeros.
Wide atomicUpdate(AtomicKind kind, ptx::Type type, Wide old, Wide b, Wide c, bool flush);

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_ATOMICUPDATE_H
