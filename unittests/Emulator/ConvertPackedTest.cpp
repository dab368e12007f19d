// cvt of pairs and quadruples: fp8, fp6, fp4 and ue8m0. Narrow formats are tried with every value,
// wide ones with a value from every interval between two results. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "FormTest.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
struct Narrow {
  const char *name;
  Format f;
  unsigned bits, stride; // in the pair
  char shape;            // of the pair
  uint64_t nan() const { return f.infinity || f.topNaN ? 0x7f : (1u << (bits - 1)) - 1; }
};
const Narrow narrows[] = {{"e4m3", formatE4M3, 8, 8, 'h'},
                          {"e5m2", formatE5M2, 8, 8, 'h'},
                          {"e3m2", formatE3M2, 6, 8, 'h'},
                          {"e2m3", formatE2M3, 6, 8, 'h'},
                          {"e2m1", formatE2M1, 4, 4, 'b'}};

/// With .satfinite, as the conversions to these formats always have.
uint64_t narrowed(const Narrow &n, const Format &from, uint64_t bits, bool relu) {
  Decoded d = decode(from, bits);
  if (d.nan)
    return n.nan();
  if (relu && d.negative)
    return 0;
  Quad huge = power(300);
  return encode(n.f, d.infinite ? (d.negative ? -huge : huge) : d.value, Mode::Nearest, true,
                d.negative);
}

/// f32 inputs around everything a format can tell apart.
std::vector<uint64_t> around(const Narrow &n) {
  std::vector<uint64_t> values = {0x7f800000, 0x7fc00000, 0x00000001, 0x7f7fffff, 0x33800000};
  for (unsigned low = 0; low + 1 < 1u << (n.bits - 1); ++low) {
    Decoded a = decode(n.f, low), b = decode(n.f, low + 1);
    if (a.nan || b.nan || a.infinite)
      continue;
    Quad top = b.infinite ? a.value * Quad(1.25) : b.value;
    for (Quad part : {Quad(0), Quad(0.25), Quad(0.5), Quad(0.75)})
      values.push_back(bitsOf(float(a.value + (top - a.value) * part)));
  }
  values.push_back(bitsOf(float(decode(n.f, n.nan() - 1).value) * 1.07f));
  values.push_back(bitsOf(1e6f));
  size_t positive = values.size();
  for (size_t i = 0; i < positive; ++i)
    values.push_back(values[i] | 0x80000000);
  return values;
}

void runAll(const std::vector<FormCase> &forms, const std::vector<uint64_t> &a,
            const std::vector<uint64_t> &b) {
  for (size_t at = 0; at < a.size(); at += 32) {
    Operands in;
    for (size_t i = 0; i < 32; ++i) {
      in.a[i] = a[(at + i) % a.size()];
      in.b[i] = b[(at + i) * 7 % b.size()];
    }
    runForms(forms, in);
  }
}

std::vector<uint64_t> everyValue() {
  std::vector<uint64_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  return all;
}
} // namespace

TEST(ConvertPacked, NarrowFromF32) {
  for (const Narrow &n : narrows) {
    std::vector<FormCase> forms;
    for (bool relu : {false, true})
      for (const char *order : {".satfinite.relu", ".relu.satfinite"})
        forms.push_back(
            {std::string("cvt.rn") + (relu ? order : ".satfinite") + "." + n.name + "x2.f32",
             {n.shape, 'r', 'r'},
             [=](uint64_t a, uint64_t b, uint64_t) {
               return narrowed(n, formatF32, a, relu) << n.stride | narrowed(n, formatF32, b, relu);
             }});
    runAll(forms, around(n), around(n));
  }
}

TEST(ConvertPacked, NarrowFromF16) {
  for (const Narrow &n : narrows) {
    if (n.bits == 6)
      continue; // ptxas has no such form
    std::vector<FormCase> forms;
    for (bool relu : {false, true})
      forms.push_back(
          {std::string("cvt.rn.satfinite") + (relu ? ".relu" : "") + "." + n.name + "x2.f16x2",
           {n.shape, 'r'},
           [=](uint64_t a, uint64_t, uint64_t) {
             return narrowed(n, formatF16, a >> 16 & 0xffff, relu) << n.stride |
                    narrowed(n, formatF16, a & 0xffff, relu);
           }});
    std::vector<uint64_t> values;
    for (uint64_t v = 0; v < 65536; v += 10)
      values.push_back(v << 16 | (v + 5));
    runAll(forms, values, values);
  }
}

TEST(ConvertPacked, F16FromNarrow) {
  for (const Narrow &n : narrows) {
    std::vector<FormCase> forms;
    for (bool relu : {false, true})
      forms.push_back({std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + n.name + "x2",
                       {'r', n.shape},
                       [=](uint64_t a, uint64_t, uint64_t) {
                         auto one = [&](uint64_t bits) -> uint64_t {
                           Decoded d = decode(n.f, bits & ((1u << n.bits) - 1));
                           if (d.nan)
                             return 0x7fff;
                           if (relu && d.negative)
                             return 0;
                           if (d.infinite)
                             return d.negative ? 0xfc00 : 0x7c00;
                           return encode(formatF16, d.value, Mode::Nearest, false, d.negative);
                         };
                         return one(a >> n.stride) << 16 | one(a);
                       }});
    std::vector<uint64_t> values;
    for (uint64_t v = 0; v < 1u << n.bits; ++v)
      values.push_back(v << n.stride | (v * 5 + 3) % (1u << n.bits));
    runAll(forms, values, values);
  }
}

TEST(ConvertPacked, PairsOfHalves) {
  std::vector<FormCase> forms;
  for (bool isBf16 : {false, true})
    for (bool zero : {false, true})
      for (bool relu : {false, true})
        for (bool finite : {false, true}) {
          Format f = isBf16 ? formatBF16 : formatF16;
          auto one = [=](uint64_t bits) -> uint64_t {
            Decoded d = decode(formatF32, bits);
            if (d.nan)
              return 0x7fff;
            if (relu && d.negative)
              return 0;
            if (d.infinite)
              return (isBf16 ? 0x7f80 : 0x7c00) - finite + (d.negative ? 0x8000 : 0);
            return encode(f, d.value, zero ? Mode::Zero : Mode::Nearest, finite, d.negative);
          };
          forms.push_back(
              {std::string("cvt") + (zero ? ".rz" : ".rn") + (relu ? ".relu" : "") +
                   (finite ? ".satfinite" : "") + (isBf16 ? ".bf16x2" : ".f16x2") + ".f32",
               "rrr", [=](uint64_t a, uint64_t b, uint64_t) { return one(a) << 16 | one(b); }});
        }
  for (unsigned seed = 400; seed < 410; ++seed)
    runForms(forms, floatOperands(formatF32, seed));
}

TEST(ConvertPacked, Powers) {
  std::vector<FormCase> forms;
  for (bool up : {false, true})
    for (bool finite : {false, true}) {
      // Of the magnitude: its exponent, one more for something left over when it goes up.
      auto one = [=](uint64_t bits) -> uint64_t {
        Decoded d = decode(formatF32, bits);
        if (d.nan)
          return 0xff;
        if (d.infinite)
          return finite ? 0xfe : 0xff;
        Quad v = d.negative ? -d.value : d.value;
        for (int e = -127; e <= 127; ++e)
          if (up ? v <= power(e) : v < power(e + 1))
            return uint64_t(e + 127);
        return finite ? 0xfe : 0xff;
      };
      std::string modifiers =
          std::string("cvt") + (up ? ".rp" : ".rz") + (finite ? ".satfinite" : "");
      forms.push_back({modifiers + ".ue8m0x2.f32", "hrr",
                       [=](uint64_t a, uint64_t b, uint64_t) { return one(a) << 8 | one(b); }});
      forms.push_back({modifiers + ".ue8m0x2.bf16x2", "hr", [=](uint64_t a, uint64_t, uint64_t) {
                         return one(a & 0xffff0000) << 8 | one(a << 16 & 0xffffffff);
                       }});
    }
  for (unsigned seed = 410; seed < 420; ++seed)
    runForms(forms, floatOperands(formatF32, seed));
  std::vector<FormCase> back;
  back.push_back({"cvt.rn.bf16x2.ue8m0x2", "rh", [](uint64_t a, uint64_t, uint64_t) {
                    auto one = [](uint64_t e) -> uint64_t {
                      return e == 0xff ? 0x7fff
                                       : encode(formatBF16, power(int(e) - 127), Mode::Nearest);
                    };
                    return one(a >> 8 & 0xff) << 16 | one(a & 0xff);
                  }});
  std::vector<uint64_t> all = everyValue();
  all.resize(2048);
  for (uint64_t &v : all)
    v = v * 32 + v % 32;
  runAll(back, all, all);
}

// With a fraction f of the last place and random bits r (as a fraction), it goes up when f + r
// >= 1.
TEST(ConvertPacked, Stochastic) {
  struct Form {
    const char *op;
    const char *to; // register
    unsigned count, stride;
    Format f;
    unsigned randomBits;
  };
  for (const Form &form : {Form{"cvt.rs.f16x2.f32", "%r2", 2, 16, formatF16, 13},
                           Form{"cvt.rs.relu.f16x2.f32", "%r2", 2, 16, formatF16, 13},
                           Form{"cvt.rs.satfinite.f16x2.f32", "%r2", 2, 16, formatF16, 13},
                           Form{"cvt.rs.relu.satfinite.f16x2.f32", "%r2", 2, 16, formatF16, 13},
                           Form{"cvt.rs.bf16x2.f32", "%r2", 2, 16, formatBF16, 16},
                           Form{"cvt.rs.relu.bf16x2.f32", "%r2", 2, 16, formatBF16, 16},
                           Form{"cvt.rs.satfinite.bf16x2.f32", "%r2", 2, 16, formatBF16, 16},
                           Form{"cvt.rs.relu.satfinite.bf16x2.f32", "%r2", 2, 16, formatBF16, 16},
                           Form{"cvt.rs.satfinite.e4m3x4.f32", "%r2", 4, 8, formatE4M3, 16},
                           Form{"cvt.rs.relu.satfinite.e4m3x4.f32", "%r2", 4, 8, formatE4M3, 16},
                           Form{"cvt.rs.satfinite.e5m2x4.f32", "%r2", 4, 8, formatE5M2, 16},
                           Form{"cvt.rs.relu.satfinite.e5m2x4.f32", "%r2", 4, 8, formatE5M2, 16},
                           Form{"cvt.rs.satfinite.e3m2x4.f32", "%r2", 4, 8, formatE3M2, 16},
                           Form{"cvt.rs.relu.satfinite.e3m2x4.f32", "%r2", 4, 8, formatE3M2, 16},
                           Form{"cvt.rs.satfinite.e2m3x4.f32", "%r2", 4, 8, formatE2M3, 16},
                           Form{"cvt.rs.relu.satfinite.e2m3x4.f32", "%r2", 4, 8, formatE2M3, 16},
                           Form{"cvt.rs.satfinite.e2m1x4.f32", "%rs2", 4, 4, formatE2M1, 8},
                           Form{"cvt.rs.relu.satfinite.e2m1x4.f32", "%rs2", 4, 4, formatE2M1, 8}}) {
    // A value three quarters of the way from 1 to its neighbour, and a negative one.
    float unit = std::ldexp(1.0f, -int(form.f.mantissa));
    float values[4] = {1.0f + 0.75f * unit, -(1.0f + 0.75f * unit), 1.0f + 0.25f * unit, 1.0f};
    for (uint32_t random : {0u, 0xffffffffu, 0x0fff1fffu, 0x40404040u, 0x3f3f3f3fu, 0x03ff07ffu}) {
      char text[64];
      test::Run run;
      for (unsigned i = 0; i < 4; ++i) {
        snprintf(text, sizeof text, "mov.b32 %%f%u, 0x%08x;\n", i, unsigned(bitsOf(values[i])));
        run.body += text;
      }
      snprintf(text, sizeof text, "mov.b32 %%r1, 0x%08x;\n", random);
      run.body += text;
      run.body += std::string(form.op) + " " + form.to +
                  (form.count == 2 ? ", %f0, %f1, %r1;\n" : ", {%f0, %f1, %f2, %f3}, %r1;\n") +
                  "st.global.b" + (form.to[2] == 's' ? "16" : "32") + " [%rd0], " + form.to + ";\n";
      Ran ran = runPtx(run);
      ASSERT_TRUE(ran.ok()) << ran.text();
      bool relu = std::string(form.op).find("relu") != std::string::npos;
      for (unsigned n = 0; n < form.count; ++n) {
        unsigned i = form.count - 1 - n;
        uint32_t bits = form.count == 2    ? random >> (n ? 0 : 16) & 0xffff
                        : form.stride == 4 ? (n == 0   ? random >> 24
                                              : n == 1 ? random >> 8
                                              : n == 2 ? random >> 16
                                                       : random) &
                                                 0xff
                                           : random >> (n < 2 ? 16 : 0) & 0xffff;
        double r = double(bits & ((1u << form.randomBits) - 1)) / double(1u << form.randomBits);
        double fraction = n < 2 ? 0.75 : n == 2 ? 0.25 : 0.0;
        uint64_t expected = encode(form.f, Quad(1), Mode::Nearest) + (fraction + r >= 1);
        if (n == 1)
          expected = relu ? 0 : expected | uint64_t(1) << (form.f.exponent + form.f.mantissa);
        EXPECT_EQ(ran.at<uint32_t>(0) >> (i * form.stride) & ((uint64_t(1) << form.stride) - 1),
                  expected)
            << form.op << " value " << n << " random " << std::hex << random;
      }
    }
  }
}

TEST(ConvertPacked, RefusesWhatIsNoForm) {
  for (const char *body :
       {"cvt.rn.e4m3x2.f32 %rs1, %f1, %f2;", "cvt.rz.satfinite.e4m3x2.f32 %rs1, %f1, %f2;",
        "cvt.rn.satfinite.e4m3x2.bf16x2 %rs1, %r1;", "cvt.rn.bf16x2.e4m3x2 %r1, %rs1;",
        "cvt.rn.ue8m0x2.f32 %rs1, %f1, %f2;", "cvt.rm.f16x2.f32 %r1, %f1, %f2;",
        "cvt.rn.satfinite.s2f6x2.f32 %rs1, %f1, %f2;", "cvt.u32.f32 %r1, %f1;",
        "cvt.f32.u32 %f1, %r1;", "cvt.rn.u32.f32 %r1, %f1;", "cvt.rn.f32.f32 %f1, %f2;",
        "cvt.f16.f32 %rs1, %f1;", "cvt.ftz.u32.u16 %r1, %rs1;"})
    EXPECT_TRUE(runPtx(body).faults(FaultKind::Unsupported)) << body;
}
