// Lane loops for ops that compute each lane's result from that lane's operands: what the scalar
// families are made of. Plain loops over all 32 lanes, so that the compiler vectorises the usual
// case of a full mask. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_OPS_LANES_H
#define TS_EMULATOR_OPS_LANES_H

#include "../Core/Decode.h"

#include <type_traits>

namespace ts::emu {

/// The low bits of a register slot as a value of type T, and back (zero-extended).
template <class T> inline T fromSlot(uint64_t slot) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(uint32_t(slot));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(slot);
  else
    return T(slot);
}
template <class T> inline uint64_t toSlot(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else
    return uint64_t(std::make_unsigned_t<T>(value));
}

/// to[lane] = f(lane) for the lanes of `mask`. A full mask goes through a buffer: a destination may
/// be one of the sources, which would keep the loop from being vectorised.
template <class F> inline void setLanes(uint32_t mask, uint64_t *to, F f) {
  if (mask == ~0u) {
    uint64_t results[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane)
      results[lane] = f(lane);
    memcpy(to, results, sizeof results);
    return;
  }
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (mask >> lane & 1)
      to[lane] = f(lane);
}

/// An Op that sets d = f(a...), slots in and out.
template <class F> std::unique_ptr<Op> lanewise(Dst d, Src a, F f) {
  return makeOp([=](Exec &x) {
    uint64_t out[warpSize], bufferA[warpSize];
    const uint64_t *from = a.lanes(x, bufferA);
    uint64_t *to = d.lanes(x, out);
    setLanes(x.mask, to, [=](unsigned lane) { return f(from[lane]); });
    return Step::Next;
  });
}
template <class F> std::unique_ptr<Op> lanewise(Dst d, Src a, Src b, F f) {
  return makeOp([=](Exec &x) {
    uint64_t out[warpSize], bufferA[warpSize], bufferB[warpSize];
    const uint64_t *fromA = a.lanes(x, bufferA), *fromB = b.lanes(x, bufferB);
    uint64_t *to = d.lanes(x, out);
    setLanes(x.mask, to, [=](unsigned lane) { return f(fromA[lane], fromB[lane]); });
    return Step::Next;
  });
}
template <class F> std::unique_ptr<Op> lanewise(Dst d, Src a, Src b, Src c, F f) {
  return makeOp([=](Exec &x) {
    uint64_t out[warpSize], bufferA[warpSize], bufferB[warpSize], bufferC[warpSize];
    const uint64_t *fromA = a.lanes(x, bufferA), *fromB = b.lanes(x, bufferB),
                   *fromC = c.lanes(x, bufferC);
    uint64_t *to = d.lanes(x, out);
    setLanes(x.mask, to, [=](unsigned lane) { return f(fromA[lane], fromB[lane], fromC[lane]); });
    return Step::Next;
  });
}

/// The same with typed values: f(T, ...) -> any integer or floating type.
template <class T, class F> std::unique_ptr<Op> typed(Dst d, Src a, F f) {
  return lanewise(d, a, [f](uint64_t x) { return toSlot(f(fromSlot<T>(x))); });
}
template <class T, class F> std::unique_ptr<Op> typed(Dst d, Src a, Src b, F f) {
  return lanewise(
      d, a, b, [f](uint64_t x, uint64_t y) { return toSlot(f(fromSlot<T>(x), fromSlot<T>(y))); });
}
template <class T, class F> std::unique_ptr<Op> typed(Dst d, Src a, Src b, Src c, F f) {
  return lanewise(d, a, b, c, [f](uint64_t x, uint64_t y, uint64_t z) {
    return toSlot(f(fromSlot<T>(x), fromSlot<T>(y), fromSlot<T>(z)));
  });
}

inline uint64_t maskOf(unsigned bits) {
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

} // namespace ts::emu

#endif // TS_EMULATOR_OPS_LANES_H
