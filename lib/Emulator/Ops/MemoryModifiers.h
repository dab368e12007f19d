// The modifiers that loads, stores, atomics and prefetches share: memory order, scope, state space,
// cache hints. Hints change nothing that a program can see; they are checked for spelling only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_OPS_MEMORYMODIFIERS_H
#define TS_EMULATOR_OPS_MEMORYMODIFIERS_H

#include "../Core/Decode.h"

namespace ts::emu {

/// What has been read of an instruction's modifiers. ptxas takes most of them in any order
/// (`ld.global.relaxed.gpu`, `red.global.v4.f32.add`), so they are read as a set.
struct MemoryModifiers {
  Space space = Space::Generic;
  bool hasSpace = false, isParam = false;
  /// Weak where none is given; `hasOrder` tells it from an explicit .weak.
  Order order = Order::Weak;
  bool hasOrder = false, isVolatile = false, isMmio = false, hasScope = false;
  bool nonCoherent = false; // .nc
  bool policy = false;      // .L2::cache_hint: one more operand
  unsigned vector = 1;
  bool noftz = false;
  ptx::Type type = ptx::Type::None;
  int operation = -1; // index into the names given to take()

  /// Reads all that is left; refuses what is unknown, doubled or contradictory.
  void take(Decode &d, std::initializer_list<std::string_view> operations = {});
};

/// `.v2`, `.v4`, `.v8`, or 0 if none comes next.
inline unsigned takeVector(Decode &d) {
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  return vector < 0 ? 0 : 2u << vector;
}
/// `.shared`, `.shared::cta` or nothing (generic), as the matrix instructions take it.
inline Space takeSharedCta(Decode &d) {
  return d.takeOneOf({"shared", "shared::cta"}) >= 0 ? Space::SharedCta : Space::Generic;
}

void registerAtomics(DecoderTable &table);     // Atomic.cpp
void registerFences(DecoderTable &table);      // Fence.cpp
void registerAsyncStores(DecoderTable &table); // LoadStoreAsync.cpp
void registerMemoryHints(DecoderTable &table); // LoadStoreHints.cpp

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_MEMORYMODIFIERS_H
