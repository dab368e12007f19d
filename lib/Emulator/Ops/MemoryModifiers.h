// The modifiers that loads, stores, atomics and prefetches share: memory order, scope, state space,
// cache hints. Hints change nothing that a program can see; they are checked for spelling only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_OPS_MEMORYMODIFIERS_H
#define TS_EMULATOR_OPS_MEMORYMODIFIERS_H

#include "../Core/Decode.h"

namespace ts::emu {

/// `.global`, `.shared::cluster`, ...; Generic if none comes next. `param` is true for .param and
/// its variants, whose space depends on the operand (Decode::paramSpace).
inline Space takeSpace(Decode &d, bool *param = nullptr) {
  if (param && (d.take("param::entry") || d.take("param::func") || d.take("param"))) {
    *param = true;
    return Space::Param;
  }
  if (d.take("global"))
    return Space::Global;
  if (d.take("shared") || d.take("shared::cta"))
    return Space::SharedCta;
  if (d.take("shared::cluster"))
    return Space::SharedCluster;
  if (d.take("local"))
    return Space::Local;
  if (d.take("const"))
    return Space::Const;
  return Space::Generic;
}

inline bool takeScope(Decode &d) { return d.takeOneOf({"cta", "cluster", "gpu", "sys"}) >= 0; }
inline void needScope(Decode &d) {
  if (!takeScope(d))
    d.refuse("expected a scope (.cta, .cluster, .gpu or .sys) behind the memory order");
}

struct CacheHints {
  bool nonCoherent = false; // .nc
  bool policy = false;      // .L2::cache_hint: one more operand
};
/// All hints that come next, in any order.
inline CacheHints takeHints(Decode &d) {
  CacheHints hints;
  for (;;) {
    if (d.take("nc"))
      hints.nonCoherent = true;
    else if (d.take("L2::cache_hint"))
      hints.policy = true;
    else if (d.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal",
                          "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
                          "L1::no_allocate", "L2::evict_normal", "L2::evict_first",
                          "L2::evict_last", "L2::64B", "L2::128B", "L2::256B"}) < 0)
      return hints;
  }
}

/// `.v2`, `.v4`, `.v8`, or 1.
inline unsigned takeVector(Decode &d) {
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  return vector < 0 ? 1 : 2u << vector;
}

void registerAtomics(DecoderTable &table);     // Atomic.cpp
void registerFences(DecoderTable &table);      // Fence.cpp
void registerAsyncStores(DecoderTable &table); // LoadStoreAsync.cpp
void registerMemoryHints(DecoderTable &table); // LoadStoreHints.cpp

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_MEMORYMODIFIERS_H
