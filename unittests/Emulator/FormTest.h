// Runs instruction forms on 32 sets of operands at once, a set per lane, and compares every result
// with what a function of the test says. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_FORMTEST_H
#define TS_UNITTESTS_EMULATOR_FORMTEST_H

#include "RunPtx.h"

#include <cfenv>
#include <cmath>

namespace ts::emu::test {

/// Operands of lane i: a[i], b[i], c[i]; narrower registers hold their low bits, predicates bit 0.
struct Operands {
  std::array<uint64_t, 32> a{}, b{}, c{};
};

struct FormCase {
  std::string op;
  /// Destination and sources: b 8, h 16, r 32, d 64 bits, p predicate, n negated predicate; |
  /// before the second of a pair of predicates. Sources are a, b, c in this order.
  std::string shape;
  std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)> expected; // q in bit 1 with a pair
};

inline std::string formRegister(char shape, unsigned index) {
  const char *prefix = shape == 'b'   ? "%rb"
                       : shape == 'h' ? "%rs"
                       : shape == 'r' ? "%r"
                       : shape == 'd' ? "%rd"
                       : shape == 'n' ? "!%p"
                                      : "%p";
  return prefix + std::to_string(index);
}

inline void runSome(const FormCase *cases, size_t count, const Operands &in) {
  std::string body = ".reg .b8 %rb<32>;\nmul.wide.u32 %rd2, %r0, 24;\nadd.u64 %rd3, %rd1, %rd2;\n"
                     "mul.wide.u32 %rd2, %r0, 8;\nadd.u64 %rd4, %rd0, %rd2;\n";
  for (unsigned i = 0; i < 3; ++i) {
    std::string at = "[%rd3+" + std::to_string(8 * i) + "];\n", n = std::to_string(10 + i);
    body += "ld.global.b64 %rd" + n + ", " + at + "ld.global.b32 %r" + n + ", " + at +
            "ld.global.b16 %rs" + n + ", " + at + "ld.global.b8 %rb" + n + ", " + at +
            "and.b32 %r9, %r" + n + ", 1;\nsetp.ne.u32 %p" + n + ", %r9, 0;\n";
  }
  for (size_t n = 0; n < count; ++n) {
    const FormCase &form = cases[n];
    std::string operands;
    unsigned source = 10;
    bool pair = false, first = true;
    for (char c : form.shape) {
      if (c == '|') {
        pair = true;
        operands += "|%p21";
        continue;
      }
      operands += (first ? "" : ", ") + formRegister(c, first ? 20 : source++);
      first = false;
    }
    body += form.op + " " + operands + ";\n";
    std::string at = "[%rd4+" + std::to_string(256 * n) + "], ";
    char d = form.shape[0];
    if (d == 'p') {
      body += "selp.b32 %r20, 1, 0, %p20;\n";
      if (pair)
        body += "selp.b32 %r21, 2, 0, %p21;\nor.b32 %r20, %r20, %r21;\n";
      d = 'r';
    }
    body += std::string("st.global.b") +
            (d == 'b'   ? "8 "
             : d == 'h' ? "16 "
             : d == 'r' ? "32 "
                        : "64 ") +
            at + formRegister(d, 20) + ";\n";
  }
  Run run;
  run.body = body;
  run.outputBytes = 256 * count;
  std::vector<uint64_t> input;
  for (unsigned lane = 0; lane < 32; ++lane)
    input.insert(input.end(), {in.a[lane], in.b[lane], in.c[lane]});
  run.input = bytesOf(input);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (size_t n = 0; n < count; ++n)
    for (unsigned lane = 0; lane < 32; ++lane)
      ASSERT_EQ(ran.at<uint64_t>(32 * n + lane),
                cases[n].expected(in.a[lane], in.b[lane], in.c[lane]))
          << std::hex << cases[n].op << " of 0x" << in.a[lane] << ", 0x" << in.b[lane] << ", 0x"
          << in.c[lane];
}

inline void runForms(const std::vector<FormCase> &cases, const Operands &in) {
  for (size_t at = 0; at < cases.size() && !::testing::Test::HasFailure(); at += 256)
    runSome(cases.data() + at, std::min<size_t>(256, cases.size() - at), in);
}

template <class T> T as(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T> uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

// --- Number formats by their definition, in quadruple precision ----------------------------------

using Quad = __float128;

struct Format {
  unsigned exponent, mantissa;
  bool infinity = true; // and NaNs; else the largest exponent holds numbers
  bool topNaN = false;  // without infinity: all ones are NaN
  int bias() const { return (1 << (exponent - 1)) - 1; }
};
inline constexpr Format formatF16{5, 10}, formatBF16{8, 7}, formatTF32{8, 10}, formatF32{8, 23},
    formatE4M3{4, 3, false, true}, formatE5M2{5, 2}, formatE3M2{3, 2, false},
    formatE2M3{2, 3, false}, formatE2M1{2, 1, false};

inline Quad power(int exponent) {
  constexpr int limit = 2200;
  static const std::vector<Quad> table = [] {
    std::vector<Quad> powers(2 * limit + 1, 1);
    for (int i = 1; i <= limit; ++i) {
      powers[size_t(limit + i)] = powers[size_t(limit + i - 1)] * 2;
      powers[size_t(limit - i)] = powers[size_t(limit - i + 1)] / 2;
    }
    return powers;
  }();
  return table.at(size_t(limit + exponent));
}

struct Decoded {
  bool nan = false, infinite = false, negative = false;
  Quad value = 0; // with sign
};
inline Decoded decode(const Format &f, uint64_t bits) {
  Decoded d;
  unsigned width = f.exponent + f.mantissa;
  uint64_t m = bits & ((uint64_t(1) << f.mantissa) - 1);
  uint64_t e = bits >> f.mantissa & ((uint64_t(1) << f.exponent) - 1);
  bool top = e == (uint64_t(1) << f.exponent) - 1;
  d.negative = bits >> width & 1;
  d.nan = top && ((f.infinity && m) || (f.topNaN && m == (uint64_t(1) << f.mantissa) - 1));
  d.infinite = top && f.infinity && !m;
  Quad unit = power(1 - f.bias() - int(f.mantissa));
  d.value = e ? unit * Quad((uint64_t(1) << f.mantissa) + m) * power(int(e) - 1) : unit * Quad(m);
  if (d.negative)
    d.value = -d.value;
  return d;
}

enum class Mode { Nearest, Zero, Down, Up, Away };

/// The encoding of a finite value; overflow goes to the largest with `finite`.
inline uint64_t encode(const Format &f, Quad value, Mode mode, bool finite = false,
                       bool negativeZero = false) {
  bool negative = value < 0 || (value == 0 && negativeZero);
  Quad v = value < 0 ? -value : value;
  int exponent = 0;
  std::frexp((long double)v, &exponent);
  if (v == 0 || v < power(1 - f.bias()))
    exponent = 1 - f.bias();
  else
    exponent -= v < power(exponent - 1) ? 2 : 1;
  exponent = std::min(exponent, f.bias() + 2);
  Quad q = v / power(exponent - int(f.mantissa));
  auto whole = uint64_t(q > 9e18 ? Quad(9e18) : q);
  Quad rest = q - Quad(whole);
  bool up = mode == Mode::Nearest ? rest > 0.5 || (rest == 0.5 && whole & 1)
            : mode == Mode::Away  ? rest >= 0.5
            : mode == Mode::Up    ? rest > 0 && !negative
            : mode == Mode::Down  ? rest > 0 && negative
                                  : false;
  whole += up;
  // whole * 2^(exponent - mantissa): a carry runs into the exponent by itself.
  uint64_t bits = whole + (uint64_t(exponent - 1 + f.bias()) << f.mantissa);
  uint64_t all = (uint64_t(1) << (f.exponent + f.mantissa)) - 1;
  uint64_t infinity = all - ((uint64_t(1) << f.mantissa) - 1);
  uint64_t largest = f.infinity ? infinity - 1 : f.topNaN ? all - 1 : all;
  if (bits > largest) {
    bool toLargest = finite || mode == Mode::Zero || (mode == Mode::Up && negative) ||
                     (mode == Mode::Down && !negative);
    bits = toLargest || !f.infinity ? largest : infinity;
  }
  return bits | uint64_t(negative) << (f.exponent + f.mantissa);
}

/// Bit patterns that matter, and random ones.
inline Operands floatOperands(const Format &f, uint64_t seed, bool moderate = false) {
  Operands in;
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  auto random = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  unsigned width = f.exponent + f.mantissa;
  uint64_t infinity = ((uint64_t(1) << f.exponent) - 1) << f.mantissa;
  uint64_t special[] = {0,
                        1,
                        infinity,
                        infinity + 1,
                        infinity - 1,
                        uint64_t(f.bias()) << f.mantissa,
                        uint64_t(1) << f.mantissa,
                        (uint64_t(1) << f.mantissa) - 1};
  auto value = [&]() -> uint64_t {
    uint64_t sign = (random() >> 20 & 1) << width;
    if (random() % 4 == 0 && !moderate)
      return special[random() % 8] | sign;
    uint64_t bits = random() & ((uint64_t(1) << width) - 1);
    if (moderate || random() % 2) // near one, so that sums cancel and integers are in range
      bits = (bits & ((uint64_t(1) << f.mantissa) - 1)) |
             uint64_t(f.bias() - 4 + int(random() % 12)) << f.mantissa;
    return bits | sign;
  };
  for (unsigned i = 0; i < 32; ++i) {
    in.a[i] = value();
    in.b[i] = value();
    in.c[i] = value();
  }
  return in;
}

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_FORMTEST_H
