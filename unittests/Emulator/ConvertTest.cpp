// cvt between integers and floats in every rounding, against 128-bit integers and quadruple
// precision. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FormTest.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
using Int = __int128;

struct IntType {
  const char *name;
  unsigned bits;
  bool isSigned;
  char shape() const { return bits <= 16 ? 'h' : bits == 32 ? 'r' : 'd'; }
  Int low() const { return isSigned ? -(Int(1) << (bits - 1)) : 0; }
  Int high() const { return (Int(1) << (bits - isSigned)) - 1; }
  Int value(uint64_t raw) const {
    Int v = raw & ((Int(1) << bits) - 1);
    return isSigned && v > high() ? v - (Int(1) << bits) : v;
  }
};
const IntType intTypes[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                            {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                            {"u64", 64, false}, {"s64", 64, true}};

unsigned registerBits(char shape) {
  return shape == 'b' ? 8 : shape == 'h' ? 16 : shape == 'r' ? 32 : 64;
}

/// A result in a register: what does not fit is cut off, signed ones are extended.
uint64_t inRegister(Int value, const IntType &to, char shape) {
  Int v = to.value(uint64_t(value));
  unsigned bits = registerBits(shape);
  return uint64_t(v) & (bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
}

Int clampTo(Int v, const IntType &to) { return std::min(std::max(v, to.low()), to.high()); }

struct FloatType {
  const char *name;
  Format f;
  char shape;
};
const FloatType floatTypes[] = {{"f16", formatF16, 'h'},
                                {"bf16", formatBF16, 'h'},
                                {"f32", formatF32, 'r'},
                                {"f64", {11, 52}, 'd'}};
bool named(const FloatType &t, const char *name) { return std::string(t.name) == name; }

struct NamedMode {
  const char *name;
  Mode mode;
};
const NamedMode integerModes[] = {
    {".rni", Mode::Nearest}, {".rzi", Mode::Zero}, {".rmi", Mode::Down}, {".rpi", Mode::Up}};
const NamedMode floatModes[] = {
    {".rn", Mode::Nearest}, {".rz", Mode::Zero}, {".rm", Mode::Down}, {".rp", Mode::Up}};

constexpr Quad huge = 0x1p1500L; // stands for infinity

Quad rounded(Quad v, Mode mode) {
  if (v > Quad(1e30) || v < Quad(-1e30))
    return v;
  Int whole = Int(v); // towards zero
  Quad rest = v - Quad(whole);
  bool negative = v < 0;
  Quad part = negative ? -rest : rest;
  bool away = mode == Mode::Nearest ? part > 0.5 || (part == 0.5 && whole & 1)
              : mode == Mode::Up    ? !negative && part > 0
              : mode == Mode::Down  ? negative && part > 0
                                    : false;
  return Quad(whole) + (away ? (negative ? -1 : 1) : 0);
}

uint64_t nanOf(const FloatType &t) {
  return t.shape == 'h' ? 0x7fff : t.shape == 'r' ? 0x7fffffff : 0x7ff8000000000000;
}
bool isTiny(const FloatType &t, uint64_t bits) { return named(t, "f32") && !(bits & 0x7f800000); }

Operands integerOperands(uint64_t seed) {
  Operands in = floatOperands({11, 52}, seed);
  const uint64_t edges[] = {0,      1,      0x7f,       0x80,       0xff,       0x100,       0x7fff,
                            0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, ~uint64_t(0)};
  for (unsigned i = 0; i < 26; ++i)
    in.a[i] = i < 13 ? edges[i] : uint64_t(0) - edges[i - 13];
  for (unsigned i = 26; i < 32; ++i)
    in.a[i] *= 0x9e3779b97f4a7c15;
  return in;
}
} // namespace

TEST(Convert, IntegersToIntegers) {
  std::vector<FormCase> forms;
  for (const IntType &to : intTypes)
    for (const IntType &from : intTypes) {
      // Also into and from wider registers, as PTX allows.
      for (char wide : {to.shape(), 'd'}) {
        std::string shape = {wide, from.shape()};
        forms.push_back(
            {std::string("cvt.") + to.name + "." + from.name, shape,
             [=](uint64_t a, uint64_t, uint64_t) { return inRegister(from.value(a), to, wide); }});
        if (from.low() < to.low() || from.high() > to.high())
          forms.push_back({std::string("cvt.sat.") + to.name + "." + from.name, shape,
                           [=](uint64_t a, uint64_t, uint64_t) {
                             return inRegister(clampTo(from.value(a), to), to, wide);
                           }});
      }
    }
  runForms(forms, integerOperands(300));
}

TEST(Convert, FloatsToIntegers) {
  for (const FloatType &from : floatTypes) {
    std::vector<FormCase> forms;
    for (const IntType &to : intTypes)
      for (const NamedMode &mode : integerModes)
        for (bool ftz : {false, true})
          for (bool sat : {false, true}) {
            if ((ftz && !named(from, "f32")) || (sat && named(from, "bf16")))
              continue;
            Mode m = mode.mode;
            forms.push_back({std::string("cvt") + mode.name + (ftz ? ".ftz" : "") +
                                 (sat ? ".sat" : "") + "." + to.name + "." + from.name,
                             {to.shape(), from.shape},
                             [=](uint64_t a, uint64_t, uint64_t) {
                               Decoded d = decode(from.f, a);
                               bool wide = to.bits == 64 || from.shape == 'd';
                               if (d.nan)
                                 return inRegister(wide ? Int(1) << (to.bits - 1) : Int(0), to,
                                                   to.shape());
                               Quad v = d.infinite ? Quad(d.negative ? -1e40 : 1e40) : d.value;
                               if (ftz && isTiny(from, a))
                                 v = 0;
                               v = rounded(v, m);
                               Int result = v >= Quad(to.high())  ? to.high()
                                            : v <= Quad(to.low()) ? to.low()
                                                                  : Int(v);
                               return inRegister(result, to, to.shape());
                             }});
          }
    for (unsigned seed = 310; seed < 316; ++seed)
      runForms(forms, floatOperands(from.f, seed));
  }
}

TEST(Convert, IntegersToFloats) {
  std::vector<FormCase> forms;
  for (const FloatType &to : floatTypes)
    for (const IntType &from : intTypes)
      for (const NamedMode &mode : floatModes)
        for (bool ftz : {false, true})
          for (bool sat : {false, true}) {
            if ((ftz && !named(to, "f32")) || (sat && named(to, "bf16")))
              continue;
            Mode m = mode.mode;
            forms.push_back({std::string("cvt") + mode.name + (ftz ? ".ftz" : "") +
                                 (sat ? ".sat" : "") + "." + to.name + "." + from.name,
                             {to.shape, from.shape()},
                             [=](uint64_t a, uint64_t, uint64_t) {
                               Int v = from.value(a);
                               if (sat)
                                 v = std::min<Int>(std::max<Int>(v, 0), 1);
                               return encode(to.f, Quad(v), m);
                             }});
          }
  runForms(forms, integerOperands(320));
}

TEST(Convert, FloatsToFloats) {
  for (const FloatType &from : floatTypes) {
    std::vector<FormCase> forms;
    for (const FloatType &to : floatTypes) {
      bool same = named(to, from.name);
      bool narrow = !same && (to.shape == from.shape || to.f.mantissa < from.f.mantissa);
      auto add = [&](const std::string &modifiers, Mode m, bool integral, bool ftz, bool sat,
                     bool relu, bool finite) {
        forms.push_back({"cvt" + modifiers + "." + to.name + "." + from.name,
                         {to.shape, from.shape},
                         [=](uint64_t a, uint64_t, uint64_t) {
                           Decoded d = decode(from.f, a);
                           if (d.nan && !sat && named(from, "f16") && named(to, "f64") && !integral)
                             return (a & 0x8000) << 48 | uint64_t(0x7ff80000) << 32 |
                                    (a & 0x3ff) << 42; // the payload stays, as on an H200
                           if (d.nan)
                             return sat ? uint64_t(0) : nanOf(to);
                           Quad v = d.infinite ? (d.negative ? -huge : huge) : d.value;
                           bool negative = d.negative;
                           if (ftz && isTiny(from, a))
                             v = 0;
                           if (integral && !d.infinite)
                             v = rounded(v, m);
                           if ((sat || relu) && negative)
                             v = 0, negative = false;
                           if (sat && v > 1)
                             v = 1;
                           uint64_t bits;
                           if (v == huge || v == -huge) { // infinity stays one
                             uint64_t all = (uint64_t(1) << to.f.exponent) - 1;
                             bits = (all << to.f.mantissa) - finite;
                             bits |= uint64_t(negative) << (to.f.exponent + to.f.mantissa);
                           } else {
                             bits = encode(to.f, v, m, finite, negative);
                           }
                           if (ftz && isTiny(to, bits))
                             bits &= 0x80000000;
                           return bits;
                         }});
      };
      bool hasFtz = named(from, "f32") || named(to, "f32");
      bool involvesBf16 = named(from, "bf16") || named(to, "bf16");
      for (bool ftz : {false, true})
        for (bool sat : {false, true}) {
          if ((ftz && !hasFtz) || (sat && involvesBf16) ||
              (ftz && (named(to, "bf16")) && from.shape != 'r'))
            continue;
          std::string flags = std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : "");
          if (narrow && !(ftz && named(to, "bf16")))
            for (const NamedMode &mode : floatModes)
              add(mode.name + flags, mode.mode, false, ftz, sat, false, false);
          if (!narrow)
            add(flags, Mode::Nearest, false, ftz, sat, false, false);
          if (same)
            for (const NamedMode &mode : integerModes)
              add(mode.name + flags, mode.mode, true, ftz, sat, false, false);
        }
      if (named(from, "bf16") && named(to, "f16"))
        add("", Mode::Nearest, false, false, false, false, false);
      if (named(from, "f32") && to.shape == 'h')
        for (const NamedMode &mode : {floatModes[0], floatModes[1]})
          for (bool relu : {false, true})
            for (bool finite : {false, true})
              add(mode.name + std::string(relu ? ".relu" : "") + (finite ? ".satfinite" : ""),
                  mode.mode, false, false, false, relu, finite);
    }
    for (unsigned seed = 330; seed < 340; ++seed)
      runForms(forms, floatOperands(from.f, seed));
  }
}

TEST(Convert, TF32) {
  std::vector<FormCase> forms;
  auto add = [&](const std::string &modifiers, Mode m, bool relu, bool finite) {
    forms.push_back({"cvt" + modifiers + ".tf32.f32", "rr", [=](uint64_t a, uint64_t, uint64_t) {
                       Decoded d = decode(formatF32, a);
                       if (d.nan)
                         return uint64_t(0x7fffffff);
                       if (relu && d.negative)
                         return uint64_t(0);
                       if (d.infinite)
                         return uint64_t(d.negative) << 31 |
                                (finite ? uint64_t(0x7f7fe000) : 0x7f800000);
                       return encode(formatTF32, d.value, m, finite, d.negative) << 13;
                     }});
  };
  for (bool finite : {false, true}) {
    std::string f = finite ? ".satfinite" : "";
    add(".rna" + f, Mode::Away, false, finite);
    for (std::string relu : {"", ".relu"}) {
      add(".rn" + relu + f, Mode::Nearest, !relu.empty(), finite);
      add(".rz" + relu + f, Mode::Zero, !relu.empty(), finite);
    }
  }
  for (unsigned seed = 350; seed < 356; ++seed) {
    Operands in = floatOperands(formatF32, seed);
    for (unsigned i = 0; i < 32; i += 4)
      in.a[i] = (in.a[i] & ~uint64_t(0x1fff)) | 0x1000; // ties
    runForms(forms, in);
  }
}

TEST(Convert, Pack) {
  std::vector<FormCase> forms;
  for (auto [name, bits, isSigned] : {std::tuple{"u2", 2u, false},
                                      {"s2", 2u, true},
                                      {"u4", 4u, false},
                                      {"s4", 4u, true},
                                      {"u8", 8u, false},
                                      {"s8", 8u, true},
                                      {"u16", 16u, false},
                                      {"s16", 16u, true}}) {
    IntType to{name, bits, isSigned};
    uint64_t mask = (uint64_t(1) << bits) - 1;
    bool more = bits < 16;
    forms.push_back({std::string("cvt.pack.sat.") + name + ".s32" + (more ? ".b32" : ""),
                     more ? "rrrr" : "rrr", [=](uint64_t a, uint64_t b, uint64_t c) {
                       auto one = [&](uint64_t v) {
                         return uint64_t(clampTo(Int(int32_t(v)), to)) & mask;
                       };
                       uint64_t packed = one(a) << to.bits | one(b);
                       return (packed | (more ? c << (2 * to.bits) : 0)) & 0xffffffff;
                     }});
  }
  Operands in = integerOperands(360);
  for (unsigned i = 0; i < 32; ++i)
    in.b[i] = in.a[(i * 7 + 3) % 32];
  runForms(forms, in);
}
