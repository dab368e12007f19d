// Word-wise operations on rows of bits: the knowledge matrix is one flat array of such rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_PROVER_BITS_H
#define TS_PROVER_BITS_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ts::prover {

using Word = uint64_t;
using Bits = std::vector<Word>;

inline void setBit(Word *row, int bit) { row[bit >> 6] |= Word(1) << (bit & 63); }
inline void clearBit(Word *row, int bit) { row[bit >> 6] &= ~(Word(1) << (bit & 63)); }
inline bool testBit(const Word *row, int bit) { return row[bit >> 6] >> (bit & 63) & 1; }
inline void orInto(Word *to, const Word *from, size_t words) {
  for (size_t i = 0; i < words; ++i)
    to[i] |= from[i];
}
template <typename Fn> void forEachBit(const Word *row, size_t words, Fn fn) {
  for (size_t i = 0; i < words; ++i)
    for (Word rest = row[i]; rest; rest &= rest - 1)
      fn(int(i * 64) + std::countr_zero(rest));
}

/// 128 bits, summed over the parts of a state in any order.
struct Digest {
  uint64_t a = 0, b = 0;
  bool operator==(const Digest &) const = default;
  static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  void add(uint64_t tag, uint64_t value) {
    uint64_t x = mix(tag * 0x9e3779b97f4a7c15ull + mix(value + 0x632be59bd9b4e019ull));
    a += x;
    b += mix(x + 0xd1b54a32d192ed03ull);
  }
};
struct DigestHash {
  size_t operator()(const Digest &d) const { return size_t(d.a ^ (d.b << 1)); }
};

} // namespace ts::prover

#endif
