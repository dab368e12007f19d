// setp, set and slct: every comparison of every type, alone and combined. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "FormTest.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
const char *const ordered[] = {"eq", "ne", "lt", "le", "gt", "ge"};
const char *const unordered[] = {"equ", "neu", "ltu", "leu", "gtu", "geu"};

template <class T> bool holds(std::string op, T a, T b) {
  bool nan = a != a || b != b;
  if (op == "num" || op == "nan")
    return (op == "nan") == nan;
  if (op == "lo" || op == "ls" || op == "hi" || op == "hs")
    op = op == "lo" ? "lt" : op == "ls" ? "le" : op == "hi" ? "gt" : "ge";
  if (op.size() == 3) {
    if (nan)
      return true;
    op.pop_back();
  }
  if (nan)
    return false;
  return op == "eq"   ? a == b
         : op == "ne" ? a != b
         : op == "lt" ? a < b
         : op == "le" ? a <= b
         : op == "gt" ? a > b
                      : a >= b;
}

using Compare = std::function<bool(uint64_t, uint64_t)>;

struct CompareType {
  std::string name;
  char shape;
  enum { Bits, Signed, Unsigned, Float } kind;
  bool hasFtz = false;
  std::function<bool(const std::string &, bool, uint64_t, uint64_t)> holds;
};

float halfValue(const Format &f, uint64_t bits, bool ftz) {
  Decoded d = decode(f, bits & 0xffff);
  if (d.nan)
    return NAN;
  if (d.infinite)
    return d.negative ? -INFINITY : INFINITY;
  return ftz && (bits & 0x7c00) == 0 ? 0.0f : float(d.value);
}

template <class T>
CompareType integer(const char *name, char shape, decltype(CompareType::kind) k) {
  return {name, shape, k, false, [](const std::string &op, bool, uint64_t a, uint64_t b) {
            return holds(op, T(a), T(b));
          }};
}

std::vector<CompareType> integerTypes() {
  return {integer<uint16_t>("b16", 'h', CompareType::Bits),
          integer<uint16_t>("u16", 'h', CompareType::Unsigned),
          integer<int16_t>("s16", 'h', CompareType::Signed),
          integer<uint32_t>("b32", 'r', CompareType::Bits),
          integer<uint32_t>("u32", 'r', CompareType::Unsigned),
          integer<int32_t>("s32", 'r', CompareType::Signed),
          integer<uint64_t>("b64", 'd', CompareType::Bits),
          integer<uint64_t>("u64", 'd', CompareType::Unsigned),
          integer<int64_t>("s64", 'd', CompareType::Signed)};
}
CompareType half(const std::string &name, const Format &f) {
  return {name, 'h', CompareType::Float, f.mantissa == 10,
          [f](const std::string &op, bool ftz, uint64_t a, uint64_t b) {
            return holds(op, halfValue(f, a, ftz), halfValue(f, b, ftz));
          }};
}
CompareType f32Type() {
  return {"f32", 'r', CompareType::Float, true,
          [](const std::string &op, bool ftz, uint64_t a, uint64_t b) {
            auto flush = [&](uint64_t bits) { return ftz && !(bits & 0x7f800000) ? 0 : bits; };
            return holds(op, as<float>(flush(a)), as<float>(flush(b)));
          }};
}
CompareType f64Type() {
  return {"f64", 'd', CompareType::Float, false,
          [](const std::string &op, bool, uint64_t a, uint64_t b) {
            return holds(op, as<double>(a), as<double>(b));
          }};
}

std::vector<std::string> comparisons(const CompareType &type) {
  std::vector<std::string> ops(ordered, ordered + (type.kind == CompareType::Bits ? 2 : 6));
  if (type.kind == CompareType::Unsigned)
    ops.insert(ops.end(), {"lo", "ls", "hi", "hs"});
  if (type.kind == CompareType::Float) {
    ops.insert(ops.end(), unordered, unordered + 6);
    ops.insert(ops.end(), {"num", "nan"});
  }
  return ops;
}

bool combine(const std::string &boolOp, bool t, bool c) {
  return boolOp == "and" ? t && c : boolOp == "or" ? t || c : boolOp == "xor" ? t != c : t;
}

/// Every setp and set of a type.
std::vector<FormCase> formsOf(const CompareType &type) {
  std::vector<FormCase> forms;
  for (const std::string &op : comparisons(type))
    for (std::string boolOp : {"", "and", "or", "xor"})
      for (bool ftz : {false, true}) {
        if (ftz && !type.hasFtz)
          continue;
        std::string modifiers =
            "." + op + (boolOp.empty() ? "" : "." + boolOp) + (ftz ? ".ftz" : "");
        auto compare = type.holds;
        auto test = [=](uint64_t a, uint64_t b) { return compare(op, ftz, a, b); };
        std::string sources(2, type.shape);
        bool pair = type.shape != 'h' || type.kind != CompareType::Float;
        std::string third = boolOp.empty() ? "" : "n";
        forms.push_back({"setp" + modifiers + "." + type.name,
                         (pair ? "p|" : "p") + sources + third,
                         [=](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                           bool t = test(a, b), given = !(c & 1);
                           return uint64_t(combine(boolOp, t, given)) |
                                  (pair ? uint64_t(combine(boolOp, !t, given)) << 1 : 0);
                         }});
        struct Result {
          const char *name;
          char shape;
          uint64_t one;
        };
        bool isHalf = type.kind == CompareType::Float && type.shape == 'h';
        for (Result r : {Result{"u32", 'r', 0xffffffff}, Result{"s32", 'r', 0xffffffff},
                         Result{"f32", 'r', 0x3f800000}, Result{"f16", 'h', 0x3c00},
                         Result{"bf16", 'h', 0x3f80}, Result{"u16", 'h', 0xffff},
                         Result{"s16", 'h', 0xffff}}) {
          std::string name = r.name;
          if ((isHalf && name == "f32") || (!isHalf && r.one == 0xffff) ||
              (ftz && name == "bf16") || (type.name == "bf16" && name == "f16"))
            continue;
          forms.push_back({"set" + modifiers + "." + name + "." + type.name,
                           r.shape + sources + (boolOp.empty() ? "" : "p"),
                           [=](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                             return combine(boolOp, test(a, b), c & 1) ? r.one : 0;
                           }});
        }
      }
  return forms;
}

Operands integerOperands(uint64_t seed) {
  Operands in = floatOperands({11, 52}, seed);
  for (unsigned i = 0; i < 32; i += 3)
    in.b[i] = in.a[i];
  return in;
}
} // namespace

TEST(MoveCompare, Integers) {
  for (const CompareType &type : integerTypes())
    runForms(formsOf(type), integerOperands(3));
}

TEST(MoveCompare, Floats) {
  auto withEqual = [](Operands in) {
    for (unsigned i = 0; i < 32; i += 5)
      in.b[i] = in.a[i];
    return in;
  };
  runForms(formsOf(f32Type()), withEqual(floatOperands(formatF32, 4)));
  runForms(formsOf(f64Type()), withEqual(floatOperands({11, 52}, 5)));
  runForms(formsOf(half("f16", formatF16)), withEqual(floatOperands(formatF16, 6)));
  runForms(formsOf(half("bf16", formatBF16)), withEqual(floatOperands(formatBF16, 7)));
}

TEST(MoveCompare, Pairs) {
  for (bool isBf16 : {false, true}) {
    Format f = isBf16 ? formatBF16 : formatF16;
    CompareType type = half("", f);
    type.name = isBf16 ? "bf16x2" : "f16x2";
    Operands low = floatOperands(f, 8), high = floatOperands(f, 9), in;
    for (unsigned i = 0; i < 32; ++i) {
      in.a[i] = high.a[i] << 16 | low.a[i];
      in.b[i] = high.b[i] << 16 | low.b[i];
      in.c[i] = i & 1;
    }
    std::vector<FormCase> forms;
    uint64_t one = isBf16 ? 0x3f80 : 0x3c00;
    for (const std::string &op : comparisons(type))
      for (std::string boolOp : {"", "and", "or", "xor"})
        for (bool ftz : {false, true}) {
          if (ftz && isBf16)
            continue;
          std::string modifiers =
              "." + op + (boolOp.empty() ? "" : "." + boolOp) + (ftz ? ".ftz" : "");
          auto compare = type.holds;
          auto both = [=](uint64_t a, uint64_t b, bool c, uint64_t unit, unsigned shift) {
            return (combine(boolOp, compare(op, ftz, a, b), c) ? unit : 0) |
                   (combine(boolOp, compare(op, ftz, a >> 16, b >> 16), c) ? unit << shift : 0);
          };
          std::string third = boolOp.empty() ? "" : "p";
          forms.push_back(
              {"setp" + modifiers + "." + type.name, "p|rr" + third,
               [=](uint64_t a, uint64_t b, uint64_t c) { return both(a, b, c & 1, 1, 1); }});
          forms.push_back(
              {"set" + modifiers + "." + type.name + "." + type.name, "rrr" + third,
               [=](uint64_t a, uint64_t b, uint64_t c) { return both(a, b, c & 1, one, 16); }});
          for (const char *word : {".u32.", ".s32."}) // a mask of the halves
            forms.push_back({"set" + modifiers + word + type.name, "rrr" + third,
                             [=](uint64_t a, uint64_t b, uint64_t c) {
                               return both(a, b, c & 1, 0xffff, 16);
                             }});
        }
    runForms(forms, in);
  }
}

TEST(MoveCompare, Slct) {
  std::vector<FormCase> forms;
  for (const auto &[names, shape, mask] :
       {std::tuple{std::vector<std::string>{"b16", "u16", "s16"}, 'h', uint64_t(0xffff)},
        {{"b32", "u32", "s32", "f32"}, 'r', uint64_t(0xffffffff)},
        {{"b64", "u64", "s64", "f64"}, 'd', ~uint64_t(0)}})
    for (const std::string &name : names) {
      std::string shapes = std::string(3, shape) + "r";
      uint64_t keep = mask;
      forms.push_back({"slct." + name + ".s32", shapes, [=](uint64_t a, uint64_t b, uint64_t c) {
                         return (int32_t(c) >= 0 ? a : b) & keep;
                       }});
      for (std::string ftz : {"", ".ftz"})
        forms.push_back(
            {"slct" + ftz + "." + name + ".f32", shapes, [=](uint64_t a, uint64_t b, uint64_t c) {
               bool tiny = !ftz.empty() && !(c & 0x7f800000);
               return ((tiny || as<float>(c) >= 0 ? a : b) & keep);
             }});
    }
  runForms(forms, floatOperands(formatF32, 10));
  runForms(forms, floatOperands(formatF32, 11));
}
