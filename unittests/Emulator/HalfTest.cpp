// f16 and bf16 arithmetic, alone and in pairs, against quadruple precision rounded once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FormTest.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
struct HalfCase {
  Format f;
  std::string_view name;
  uint16_t one;
  uint16_t infinity() const { return f.mantissa == 10 ? 0x7c00 : 0x7f80; }
  bool isNaN(uint16_t v) const { return (v & 0x7fff) > infinity(); }
};
constexpr HalfCase f16{formatF16, "f16", 0x3c00}, bf16{formatBF16, "bf16", 0x3f80};

struct HalfModifiers {
  bool ftz = false, sat = false, relu = false;
};

uint16_t arithmetic(const HalfCase &h, const std::string &op, HalfModifiers m, uint16_t a,
                    uint16_t b, uint16_t c) {
  auto flush = [&](uint16_t v) { return uint16_t(m.ftz && !(v & 0x7c00) ? v & 0x8000 : v); };
  a = flush(a);
  b = flush(b);
  c = flush(c);
  if (op == "sub" && !h.isNaN(b))
    b ^= 0x8000;
  // a * b + c; a sum has a factor of one.
  uint16_t second = op == "mul" || op == "fma" ? b : h.one;
  uint16_t third = op == "add" || op == "sub" ? b : op == "fma" ? c : 0;
  Decoded x = decode(h.f, a), y = decode(h.f, second), z = decode(h.f, third);
  bool productNegative = x.negative != y.negative;
  bool productInfinite = x.infinite || y.infinite;
  bool invalid = (x.infinite && y.value == 0 && !y.infinite) ||
                 (y.infinite && x.value == 0 && !x.infinite) ||
                 (productInfinite && z.infinite && productNegative != z.negative);
  uint16_t result;
  if (x.nan || y.nan || z.nan || invalid)
    result = 0x7fff;
  else if (productInfinite || z.infinite)
    result = h.infinity() | ((productInfinite ? productNegative : z.negative) ? 0x8000 : 0);
  else {
    Quad product = x.value * y.value, sum = product + z.value;
    bool negativeZero = op == "mul" ? productNegative : productNegative && z.negative;
    result = uint16_t(encode(h.f, op == "mul" ? product : sum, Mode::Nearest, false, negativeZero));
  }
  if (m.sat)
    result = h.isNaN(result) || result & 0x8000 ? 0 : std::min(result, h.one);
  if (m.relu && result & 0x8000)
    result = 0;
  return flush(result);
}

using Scalar1 = std::function<uint16_t(uint16_t, uint16_t, uint16_t)>;

/// The form and its x2 form.
void addBoth(std::vector<FormCase> &forms, const std::string &modifiers, const HalfCase &h,
             size_t operands, const Scalar1 &f) {
  forms.push_back({modifiers + "." + std::string(h.name), std::string(operands, 'h'),
                   [=](uint64_t a, uint64_t b, uint64_t c) {
                     return uint64_t(f(uint16_t(a), uint16_t(b), uint16_t(c)));
                   }});
  forms.push_back({modifiers + "." + std::string(h.name) + "x2", std::string(operands, 'r'),
                   [=](uint64_t a, uint64_t b, uint64_t c) {
                     return uint64_t(f(uint16_t(a), uint16_t(b), uint16_t(c))) |
                            uint64_t(f(uint16_t(a >> 16), uint16_t(b >> 16), uint16_t(c >> 16)))
                                << 16;
                   }});
}

Operands pairsOf(const Format &f, uint64_t seed) {
  // bf16 sums over the whole range do not fit quadruple precision.
  bool moderate = f.mantissa == 7 && seed % 2;
  Operands in = floatOperands(f, seed, moderate), high = floatOperands(f, seed + 1000, moderate);
  for (unsigned i = 0; i < 32; ++i) {
    in.a[i] |= high.a[i] << 16;
    in.b[i] |= high.b[i] << 16;
    in.c[i] |= high.c[i] << 16;
  }
  return in;
}
} // namespace

TEST(Half, Arithmetic) {
  for (const HalfCase &h : {f16, bf16}) {
    std::vector<FormCase> forms;
    bool isF16 = h.name == "f16";
    for (std::string op : {"add", "sub", "mul", "fma"})
      for (std::string rn : {"", ".rn"})
        for (bool ftz : {false, true})
          for (int clamp : {0, 1, 2}) {
            HalfModifiers m{ftz, clamp == 1, clamp == 2};
            if ((rn.empty() && op == "fma") || (!isF16 && (ftz || m.sat)) ||
                (m.relu && op != "fma"))
              continue;
            addBoth(forms,
                    op + rn + (ftz ? ".ftz" : "") + (m.sat ? ".sat" : "") + (m.relu ? ".relu" : ""),
                    h, op == "fma" ? 4 : 3, [=](uint16_t a, uint16_t b, uint16_t c) {
                      return arithmetic(h, op, m, a, b, c);
                    });
          }
    for (unsigned seed = 101; seed < (isF16 ? 131 : 161); seed += isF16 ? 1 : 2)
      runForms(forms, pairsOf(h.f, seed));
  }
}

TEST(Half, MinMax) {
  for (const HalfCase &h : {f16, bf16}) {
    std::vector<FormCase> forms;
    bool isF16 = h.name == "f16";
    for (bool largest : {false, true})
      for (bool ftz : {false, true})
        for (bool nan : {false, true})
          for (bool xorsign : {false, true}) {
            if (ftz && !isF16)
              continue;
            auto f = [=](uint16_t a, uint16_t b, uint16_t) -> uint16_t {
              uint16_t sign = (a ^ b) & 0x8000;
              auto in = [&](uint16_t v) {
                v = ftz && !(v & 0x7c00) ? v & 0x8000 : v;
                return uint16_t(xorsign ? v & 0x7fff : v);
              };
              a = in(a);
              b = in(b);
              if ((nan && (h.isNaN(a) || h.isNaN(b))) || (h.isNaN(a) && h.isNaN(b)))
                return 0x7fff;
              uint16_t result;
              if (h.isNaN(a) || h.isNaN(b)) {
                result = h.isNaN(a) ? b : a;
              } else {
                Decoded x = decode(h.f, a), y = decode(h.f, b);
                Quad p = x.infinite ? Quad(x.negative ? -1e300 : 1e300) : x.value;
                Quad q = y.infinite ? Quad(y.negative ? -1e300 : 1e300) : y.value;
                bool aLess = p < q || (p == q && x.negative && !y.negative);
                result = aLess != largest ? a : b;
              }
              return xorsign ? uint16_t((result & 0x7fff) | sign) : result;
            };
            addBoth(forms,
                    std::string(largest ? "max" : "min") + (ftz ? ".ftz" : "") +
                        (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : ""),
                    h, 3, f);
          }
    for (unsigned seed = 200; seed < 210; seed += 2)
      runForms(forms, pairsOf(h.f, seed));
  }
}

TEST(Half, Signs) {
  for (const HalfCase &h : {f16, bf16}) {
    std::vector<FormCase> forms;
    for (bool ftz : {false, true}) {
      if (ftz && h.name != "f16")
        continue;
      auto flush = [=](uint16_t v) { return uint16_t(ftz && !(v & 0x7c00) ? v & 0x8000 : v); };
      std::string f = ftz ? ".ftz" : "";
      addBoth(forms, "abs" + f, h, 2, [=](uint16_t a, uint16_t, uint16_t) -> uint16_t {
        return h.isNaN(a) ? 0x7fff : flush(a) & 0x7fff; // as an H200 does it
      });
      addBoth(forms, "neg" + f, h, 2, [=](uint16_t a, uint16_t, uint16_t) -> uint16_t {
        return h.isNaN(a) ? 0x7fff : flush(a) ^ 0x8000;
      });
    }
    runForms(forms, pairsOf(h.f, 220));
  }
}
