// Arithmetic of f32, f64, f32x2 and of f32 with narrow operands, against the host's own in the same
// rounding mode; and of f16 and bf16, against quadruple precision. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "FormTest.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
struct HostMode {
  const char *name;
  int mode;
};
const HostMode hostModes[] = {{"", FE_TONEAREST},
                              {".rn", FE_TONEAREST},
                              {".rz", FE_TOWARDZERO},
                              {".rm", FE_DOWNWARD},
                              {".rp", FE_UPWARD}};

/// f() under a rounding mode of the host.
template <class T, class F> T under(int mode, F f) {
  fesetround(mode);
  volatile T result = f();
  fesetround(FE_TONEAREST);
  return result;
}

template <class T> T hostOp(const std::string &op, int mode, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  return under<T>(mode, [&]() -> T {
    if (op == "add")
      return x + y;
    if (op == "sub")
      return x - y;
    if (op == "mul")
      return x * y;
    if (op == "div")
      return x / y;
    if (op == "rcp")
      return T(1) / x;
    if (op == "sqrt")
      return std::sqrt(x);
    return std::fma(x, y, z);
  });
}

uint32_t flush(uint64_t bits, bool ftz) {
  return uint32_t(ftz && !(bits & 0x7f800000) ? bits & 0x80000000 : bits);
}

uint64_t finish(float value, bool ftz, bool sat) {
  if (sat)
    value = value != value || value < 0 ? 0 : value > 1 ? 1 : value;
  if (sat && value == 0)
    value = 0;
  return value != value ? 0x7fffffff : flush(bitsOf(value), ftz);
}

uint64_t f32Op(const std::string &op, int mode, bool ftz, bool sat, uint64_t a, uint64_t b,
               uint64_t c) {
  return finish(hostOp(op, mode, as<float>(flush(a, ftz)), as<float>(flush(b, ftz)),
                       as<float>(flush(c, ftz))),
                ftz, sat);
}

uint64_t f64Op(const std::string &op, int mode, uint64_t a, uint64_t b, uint64_t c) {
  double value = hostOp(op, mode, as<double>(a), as<double>(b), as<double>(c));
  return bitsOf(value);
}

std::string sourcesOf(const std::string &op, char shape) {
  size_t count = op == "fma" || op == "mad" ? 4 : op == "rcp" || op == "sqrt" ? 2 : 3;
  return std::string(count, shape);
}
} // namespace

TEST(Float, F32) {
  std::vector<FormCase> forms;
  for (std::string op : {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"})
    for (const HostMode &mode : hostModes)
      for (bool ftz : {false, true})
        for (bool sat : {false, true}) {
          bool divides = op == "div" || op == "rcp" || op == "sqrt";
          if ((sat && divides) || (!mode.name[0] && (divides || op == "fma" || op == "mad")))
            continue;
          int host = mode.mode;
          forms.push_back({op + mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32",
                           sourcesOf(op, 'r'), [=](uint64_t a, uint64_t b, uint64_t c) {
                             return f32Op(op, host, ftz, sat, a, b, c);
                           }});
        }
  for (unsigned seed = 20; seed < 40; ++seed)
    runForms(forms, floatOperands(formatF32, seed));
}

TEST(Float, F64) {
  std::vector<FormCase> forms;
  for (std::string op : {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"})
    for (const HostMode &mode : hostModes) {
      bool needs = op != "add" && op != "sub" && op != "mul";
      if (!mode.name[0] && needs)
        continue;
      int host = mode.mode;
      forms.push_back(
          {op + mode.name + ".f64", sourcesOf(op, 'd'),
           [=](uint64_t a, uint64_t b, uint64_t c) { return f64Op(op, host, a, b, c); }});
    }
  for (unsigned seed = 40; seed < 50; ++seed) {
    Operands in = floatOperands({11, 52}, seed);
    auto number = [](uint64_t &bits) { // payloads of NaNs are left open
      if (as<double>(bits) != as<double>(bits))
        bits = 0x3ff0000000000000;
    };
    for (unsigned i = 0; i < 32; ++i) {
      number(in.a[i]);
      number(in.b[i]);
      number(in.c[i]);
      auto invalid = [&](double v) { return v != v; };
      double a = as<double>(in.a[i]), b = as<double>(in.b[i]), c = as<double>(in.c[i]);
      if (invalid(a + b) || invalid(a - b) || invalid(a * b) || invalid(std::fma(a, b, c)) ||
          invalid(a / b) || a < 0)
        in.a[i] = in.b[i] = 0x3ff8000000000000, in.c[i] = 1;
    }
    runForms(forms, in);
  }
}

TEST(Float, F32Pairs) {
  std::vector<FormCase> forms;
  for (std::string op : {"add", "sub", "mul", "fma"})
    for (const HostMode &mode : hostModes)
      for (bool ftz : {false, true}) {
        if (!mode.name[0] && op == "fma")
          continue;
        int host = mode.mode;
        forms.push_back({op + mode.name + (ftz ? ".ftz" : "") + ".f32x2", sourcesOf(op, 'd'),
                         [=](uint64_t a, uint64_t b, uint64_t c) {
                           return f32Op(op, host, ftz, false, a, b, c) |
                                  f32Op(op, host, ftz, false, a >> 32, b >> 32, c >> 32) << 32;
                         }});
      }
  Operands low = floatOperands(formatF32, 50), high = floatOperands(formatF32, 51);
  for (unsigned i = 0; i < 32; ++i) {
    low.a[i] |= high.a[i] << 32;
    low.b[i] |= high.b[i] << 32;
    low.c[i] |= high.c[i] << 32;
  }
  runForms(forms, low);
}

TEST(Float, MixedPrecision) {
  for (bool isBf16 : {false, true}) {
    std::vector<FormCase> forms;
    Format f = isBf16 ? formatBF16 : formatF16;
    auto wide = [f](uint64_t bits) {
      Decoded d = decode(f, bits & 0xffff);
      return d.nan                        ? NAN
             : d.infinite                 ? (d.negative ? -INFINITY : INFINITY)
             : d.value == 0 && d.negative ? -0.0f
                                          : float(d.value);
    };
    for (std::string op : {"add", "sub", "fma"})
      for (const HostMode &mode : hostModes)
        for (bool sat : {false, true}) {
          bool fma = op == "fma";
          if (!mode.name[0] && fma)
            continue;
          int host = mode.mode;
          forms.push_back(
              {op + mode.name + (sat ? ".sat" : "") + ".f32." + (isBf16 ? "bf16" : "f16"),
               fma ? "rhhr" : "rhr", [=](uint64_t a, uint64_t b, uint64_t c) {
                 float second = fma ? wide(b) : as<float>(b);
                 return finish(hostOp(op, host, wide(a), second, as<float>(c)), false, sat);
               }});
        }
    Operands in = floatOperands(formatF32, 60), narrow = floatOperands(f, 61);
    for (unsigned i = 0; i < 32; ++i) {
      in.a[i] = narrow.a[i];
      in.b[i] = (in.b[i] & 0xffff0000) | narrow.b[i];
    }
    runForms(forms, in);
  }
}

namespace {
/// What min and max say of two values whose NaNs, signs and order are known.
template <class T>
uint64_t chosen(bool largest, bool nan, uint64_t a, uint64_t b, T x, T y, uint64_t canonical) {
  if ((x != x && y != y) || (nan && (x != x || y != y)))
    return canonical;
  if (x != x)
    return b;
  if (y != y)
    return a;
  bool aLess = x < y || (x == 0 && y == 0 && std::signbit(x) && !std::signbit(y));
  return aLess != largest ? a : b;
}
} // namespace

TEST(Float, MinMaxF32) {
  std::vector<FormCase> forms;
  for (bool largest : {false, true})
    for (bool ftz : {false, true})
      for (bool nan : {false, true})
        for (bool abs : {false, true}) {
          auto one = [=](uint64_t bits) {
            uint32_t v = flush(bits, ftz);
            return abs ? v & 0x7fffffff : v;
          };
          auto two = [=](uint64_t a, uint64_t b) {
            return chosen(largest, nan, a, b, as<float>(a), as<float>(b), 0x7fffffff);
          };
          std::string name =
              std::string(largest ? "max" : "min") + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "");
          forms.push_back({name + (abs ? ".xorsign.abs" : "") + ".f32", "rrr",
                           [=](uint64_t a, uint64_t b, uint64_t) {
                             uint64_t result = two(one(a), one(b));
                             if (abs && result != 0x7fffffff)
                               result = (result & 0x7fffffff) | ((a ^ b) & 0x80000000);
                             return result;
                           }});
          forms.push_back({name + (abs ? ".abs" : "") + ".f32", "rrrr",
                           [=](uint64_t a, uint64_t b, uint64_t c) {
                             return two(two(one(a), one(b)), one(c));
                           }});
        }
  for (unsigned seed = 70; seed < 76; ++seed) {
    Operands in = floatOperands(formatF32, seed);
    auto canonical = [](uint64_t &v) { v = (v & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : v; };
    for (unsigned i = 0; i < 32; ++i) {
      canonical(in.a[i]);
      canonical(in.b[i]);
      canonical(in.c[i]);
    }
    runForms(forms, in);
  }
}

TEST(Float, SignsAndClasses) {
  std::vector<FormCase> forms;
  for (bool ftz : {false, true}) {
    std::string f = ftz ? ".ftz" : "";
    forms.push_back({"abs" + f + ".f32", "rr", [=](uint64_t a, uint64_t, uint64_t) {
                       bool nan = as<float>(a) != as<float>(a); // as an H200 does it
                       return uint64_t(nan ? 0x7fffffff : flush(a, ftz) & 0x7fffffff);
                     }});
    forms.push_back({"neg" + f + ".f32", "rr", [=](uint64_t a, uint64_t, uint64_t) {
                       bool nan = as<float>(a) != as<float>(a);
                       return uint64_t(nan ? 0x7fffffff : flush(a, ftz) ^ 0x80000000);
                     }});
  }
  forms.push_back({"copysign.f32", "rrr", [](uint64_t a, uint64_t b, uint64_t) {
                     return bitsOf(std::copysign(as<float>(b), as<float>(a)));
                   }});
  auto test = [](const std::string &op, auto v) {
    int kind = std::fpclassify(v);
    return uint64_t(op == "finite"       ? std::isfinite(v)
                    : op == "infinite"   ? std::isinf(v)
                    : op == "number"     ? !std::isnan(v)
                    : op == "notanumber" ? std::isnan(v)
                    : op == "normal"     ? kind == FP_NORMAL || kind == FP_ZERO
                                         : kind == FP_SUBNORMAL);
  };
  std::vector<FormCase> wide;
  for (std::string op : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    forms.push_back({"testp." + op + ".f32", "pr",
                     [=](uint64_t a, uint64_t, uint64_t) { return test(op, as<float>(a)); }});
    wide.push_back({"testp." + op + ".f64", "pd",
                    [=](uint64_t a, uint64_t, uint64_t) { return test(op, as<double>(a)); }});
  }
  runForms(forms, floatOperands(formatF32, 80));
  uint64_t sign = uint64_t(1) << 63;
  wide.push_back({"abs.f64", "dd", [=](uint64_t a, uint64_t, uint64_t) { return a & ~sign; }});
  wide.push_back({"neg.f64", "dd", [=](uint64_t a, uint64_t, uint64_t) { return a ^ sign; }});
  wide.push_back({"copysign.f64", "ddd",
                  [=](uint64_t a, uint64_t b, uint64_t) { return (a & sign) | (b & ~sign); }});
  Operands in = floatOperands({11, 52}, 81);
  runForms(wide, in);
  std::vector<FormCase> order;
  for (bool largest : {false, true})
    order.push_back({largest ? "max.f64" : "min.f64", "ddd", [=](uint64_t a, uint64_t b, uint64_t) {
                       return chosen(largest, false, a, b, as<double>(a), as<double>(b),
                                     0x7ff8000000000000);
                     }});
  runForms(order, in);
}

TEST(Float, Immediates) {
  Ran ran = runPtx("add.f32 %f1, 0f3FC00000, 0f3F000000;\nmul.f64 %fd1, 0d4000000000000000, 1.5;\n"
                   "fma.rn.f32 %f2, %f1, %f1, 0f3F800000;\nst.global.f32 [%rd0], %f1;\n"
                   "st.global.f32 [%rd0+4], %f2;\nst.global.f64 [%rd0+8], %fd1;\n");
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.at<float>(0), 2.0f);
  EXPECT_EQ(ran.at<float>(1), 5.0f);
  EXPECT_EQ(ran.at<double>(1), 3.0);
}

TEST(Float, RefusesWhatIsNoForm) {
  for (const char *op : {"add.sat.f64", "add.rz.f16", "add.sat.bf16", "div.f32", "sqrt.f32",
                         "max.abs.f32", "fma.f32", "tanh.approx.ftz.f32", "ex2.approx.bf16"})
    EXPECT_TRUE(runPtx(std::string(op) + " %f1, %f2, %f3;").faults(FaultKind::Unsupported)) << op;
}
