// wmma: whole matrices through fragments whose layout PTX leaves open. Here element i of a lane is
// element (lane * elements per lane + i) of the matrix row by row, modulo its size (fragments of
// some shapes hold every element more than once). Source: PTX ISA, "Matrix multiply-accumulate
// operation using wmma instructions". The arithmetic is MatrixCore's. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "Mma.h"

#include "../Matrix/MatrixCore.h"

#include <charconv>
#include <cmath>

namespace ts::emu {
namespace {

struct Element {
  const char *name;
  unsigned bits;
  Num format; // of floats
  bool isFloat, isSigned;
  const char *shapes;
};
constexpr const char *tall = "m16n16k16 m8n32k16 m32n8k16";
constexpr Element elements[] = {
    {"f16", 16, Num::F16, true, true, tall},         {"bf16", 16, Num::BF16, true, true, tall},
    {"tf32", 32, Num::TF32, true, true, "m16n16k8"}, {"f64", 64, Num::F64, true, true, "m8n8k4"},
    {"s8", 8, Num::S8, false, true, tall},           {"u8", 8, Num::U8, false, false, tall},
    {"s4", 4, Num::S8, false, true, "m8n8k32"},      {"u4", 4, Num::U8, false, false, "m8n8k32"},
    {"b1", 1, Num::U8, false, false, "m8n8k128"},    {"f32", 32, Num::F32, true, true, ""},
    {"s32", 32, Num::S32, false, true, ""},
};

const Element *takeElement(Decode &d) {
  for (const Element &element : elements)
    if (d.take(element.name))
      return &element;
  return nullptr;
}

struct Shape {
  unsigned m = 0, n = 0, k = 0;
  std::string name;
  bool take(Decode &d) {
    std::string_view part = d.peek();
    const char *at = part.data(), *end = at + part.size();
    for (auto [letter, number] : {std::pair{'m', &m}, {'n', &n}, {'k', &k}}) {
      if (at == end || *at != letter)
        return false;
      std::from_chars_result parsed = std::from_chars(at + 1, end, *number);
      if (parsed.ec != std::errc())
        return false;
      at = parsed.ptr;
    }
    name = part;
    return at == end && d.take(name);
  }
  bool goesWith(const Element &element) const {
    std::string all = " " + std::string(element.shapes) + " ";
    return all.find(" " + name + " ") != std::string::npos;
  }
};

/// The matrix behind a fragment: which elements a lane's registers hold.
struct Fragment {
  const Element *element = nullptr;
  unsigned rows = 0, columns = 0, registers = 0;

  unsigned perRegister() const { return element->bits >= 32 ? 1 : 32 / element->bits; }
  unsigned index(unsigned lane, unsigned r, unsigned i) const {
    return ((lane * registers + r) * perRegister() + i) % (rows * columns);
  }
  static uint64_t mask(unsigned bits) {
    return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  }
  uint64_t get(uint64_t slot, unsigned i) const {
    return slot >> (i * element->bits) & mask(element->bits);
  }
};

/// Registers of a fragment; f16 operands are the ones that hold elements twice or more.
unsigned registersOf(const Element &element, unsigned rows, unsigned columns, bool operand) {
  if (operand && element.format == Num::F16 && element.isFloat && element.bits == 16)
    return 8;
  return std::max(1u, rows * columns * std::min(element.bits, 32u) / 1024);
}

struct Access {
  Fragment fragment;
  bool columnMajor = false, hasStride = false;
  Space space = Space::Generic;
  AddressOperand address;
  Src stride;
  std::vector<Dst> to;   // load
  std::vector<Src> from; // store

  /// Address of an element in bits behind the base.
  uint64_t offsetBits(const Exec &x, unsigned index) const {
    unsigned row = index / fragment.columns, column = index % fragment.columns;
    uint64_t leading = hasStride     ? uint32_t(stride.uniform(x))
                       : columnMajor ? fragment.rows
                                     : fragment.columns;
    return (columnMajor ? column * leading + row : row * leading + column) * fragment.element->bits;
  }

  Step operator()(Exec &x) const {
    if (!wholeWarp(x))
      return Step::Blocked;
    uint64_t base = address.uniform(x), scratch[warpSize];
    unsigned bits = fragment.element->bits, bytes = std::max(bits / 8, 1u);
    for (unsigned r = 0; r < fragment.registers; ++r) {
      uint64_t sink[warpSize];
      uint64_t *lanes = to.empty() ? nullptr : to[r].lanes(x, sink);
      const uint64_t *values = to.empty() ? from[r].lanes(x, scratch) : nullptr;
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        uint64_t slot = 0;
        for (unsigned i = 0; i < fragment.perRegister(); ++i) {
          uint64_t at = offsetBits(x, fragment.index(lane, r, i));
          if (values) {
            uint64_t value = fragment.get(values[lane], i);
            store(x, lane, space, base + at / 8, bytes, &value);
          } else {
            uint64_t value = 0;
            load(x, lane, space, base + at / 8, bytes, &value);
            value = value >> at % 8 & Fragment::mask(bits);
            slot |= value << i * bits;
          }
        }
        if (lanes)
          lanes[lane] = slot;
      }
    }
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeAccess(Decode &d, bool isLoad) {
  int which = isLoad ? d.takeOneOf({"a", "b", "c"}) : d.take("d") ? 3 : -1;
  if (which < 0)
    d.refuse("expected .a, .b, .c or .d");
  d.need("sync");
  d.need("aligned");
  Access op;
  Shape shape;
  bool shaped = shape.take(d);
  int layout = d.takeOneOf({"row", "col"});
  if (layout < 0 || !(shaped || shape.take(d)))
    d.refuse("expected a layout and a shape");
  op.columnMajor = layout == 1;
  int space = d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster"});
  op.space = space < 0    ? Space::Generic
             : space == 0 ? Space::Global
             : space == 3 ? Space::SharedCluster
                          : Space::SharedCta;
  Fragment &f = op.fragment;
  f.element = takeElement(d);
  d.end();
  if (!f.element)
    d.refuse("expected a type of element");
  bool operand = which < 2;
  f.rows = which == 1 ? shape.k : shape.m;
  f.columns = which == 0 ? shape.k : shape.n;
  std::string_view type = f.element->name;
  bool fits = operand ? shape.goesWith(*f.element)
                      : type == "f16" || type == "f32" || type == "s32" || type == "f64";
  if (!fits)
    d.refuse("shape .%s does not exist for type .%s", shape.name.c_str(), f.element->name);
  if (operand && f.element->bits < 8 && (which == 0) == op.columnMajor)
    d.refuse("expected A by rows and B by columns for elements below a byte");
  f.registers = registersOf(*f.element, f.rows, f.columns, operand);
  size_t count = d.numOperands();
  d.needOperands(2, 3);
  op.address = d.address(isLoad ? 1 : 0);
  op.hasStride = count == 3;
  if (op.hasStride)
    op.stride = d.src(2, ptx::Type::B32);
  if (isLoad)
    op.to = d.destinations(d.operand(0));
  else
    op.from = d.sources(d.operand(1), ptx::Type::B32);
  if ((isLoad ? op.to.size() : op.from.size()) != f.registers)
    d.refuse("expected %u registers", f.registers);
  return makeOp(std::move(op));
}

struct Multiply {
  Shape shape;
  Fragment a, b, c, d;
  bool saturate = false, exclusiveOr = false;
  MmaOperands operands;

  static void gather(Exec &x, const Fragment &f, const std::vector<Src> &from,
                     std::vector<uint64_t> &matrix) {
    uint64_t scratch[warpSize];
    matrix.resize(size_t(f.rows) * f.columns);
    for (unsigned r = 0; r < f.registers; ++r) {
      const uint64_t *lanes = from[r].lanes(x, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane)
        for (unsigned i = 0; i < f.perRegister(); ++i)
          matrix[f.index(lane, r, i)] = f.get(lanes[lane], i);
    }
  }
  static int64_t integer(const Element &element, uint64_t bits) {
    unsigned shift = 64 - element.bits;
    return element.isSigned ? int64_t(bits << shift) >> shift : int64_t(bits);
  }

  uint64_t result(const std::vector<uint64_t> &left, const std::vector<uint64_t> &right,
                  uint64_t before, unsigned row, unsigned column) const {
    auto at = [&](unsigned i) {
      return std::pair{left[row * shape.k + i], right[i * shape.n + column]};
    };
    if (a.element->bits == 64) {
      auto sum = std::bit_cast<double>(before);
      for (unsigned i = 0; i < shape.k; ++i)
        sum =
            std::fma(std::bit_cast<double>(at(i).first), std::bit_cast<double>(at(i).second), sum);
      return std::bit_cast<uint64_t>(sum);
    }
    if (a.element->isFloat) {
      double sum = 0;
      for (unsigned i = 0; i < shape.k; ++i)
        sum += toDouble(a.element->format, operandBits(at(i).first)) *
               toDouble(b.element->format, operandBits(at(i).second));
      double c0 = toDouble(c.element->format, before);
      return d.element->bits == 16 ? accumulateF16(c0, sum)
                                   : std::bit_cast<uint32_t>(accumulateF32(c0, sum));
    }
    int64_t sum = 0;
    for (unsigned i = 0; i < shape.k; ++i) {
      int64_t p = integer(*a.element, at(i).first), q = integer(*b.element, at(i).second);
      sum += a.element->bits > 1 ? p * q : exclusiveOr ? p ^ q : p & q;
    }
    return uint32_t(accumulateS32(int32_t(uint32_t(before)), int32_t(sum), saturate));
  }
  /// tf32 takes no part of the low 13 bits.
  uint64_t operandBits(uint64_t bits) const {
    return a.element->format == Num::TF32 ? bits & 0xffffe000u : bits;
  }

  Step operator()(Exec &x) const {
    if (!wholeWarp(x))
      return Step::Blocked;
    std::vector<uint64_t> left, right, sums;
    gather(x, a, operands.a, left);
    gather(x, b, operands.b, right);
    gather(x, c, operands.c, sums);
    for (unsigned i = 0; i < sums.size(); ++i)
      sums[i] = result(left, right, sums[i], i / shape.n, i % shape.n);
    uint64_t sink[warpSize];
    for (unsigned r = 0; r < d.registers; ++r) {
      uint64_t *lanes = operands.d[r].lanes(x, sink);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        lanes[lane] = 0;
        for (unsigned i = 0; i < d.perRegister(); ++i)
          lanes[lane] |= sums[d.index(lane, r, i)] << i * d.element->bits;
      }
    }
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeMultiply(Decode &d) {
  Multiply op;
  int bitOperation = d.takeOneOf({"xor", "and"});
  if (bitOperation >= 0)
    d.need("popc");
  op.exclusiveOr = bitOperation == 0;
  d.need("sync");
  d.need("aligned");
  if (d.takeOneOf({"row", "col"}) < 0 || d.takeOneOf({"row", "col"}) < 0 || !op.shape.take(d))
    d.refuse("expected the layouts of A and B and a shape");
  if (d.take("rn") || d.takeOneOf({"rz", "rm", "rp"}) >= 0)
    d.refuse("rounding modes of wmma are not executed");
  std::vector<const Element *> types;
  while (const Element *type = takeElement(d))
    types.push_back(type);
  op.saturate = d.take("satfinite");
  d.end();
  static const Element *half = elements;
  if (types.size() == 2) // the f16 form names D and C only
    types = {types[0], half, half, types[1]};
  if (types.size() != 4)
    d.refuse("expected the types of D, A, B and C");
  const Element &a = *types[1], &b = *types[2];
  bool sameKind = a.isFloat ? &a == &b : a.bits == b.bits && !b.isFloat;
  std::string_view typeD = types[0]->name, typeC = types[3]->name;
  bool sums = a.bits == 64 ? typeD == "f64" && typeC == "f64"
              : !a.isFloat ? typeD == "s32" && typeC == "s32"
              : &a == half
                  ? (typeD == "f16" || typeD == "f32") && (typeC == "f16" || typeC == "f32")
                  : typeD == "f32" && typeC == "f32";
  if (!sameKind || !sums || !op.shape.goesWith(a) || (a.bits == 1) != (bitOperation >= 0) ||
      (op.saturate && (a.isFloat || a.bits == 1)))
    d.refuse("these types do not go together with shape .%s", op.shape.name.c_str());
  const Shape &s = op.shape;
  op.a = {&a, s.m, s.k, registersOf(a, s.m, s.k, true)};
  op.b = {&b, s.k, s.n, registersOf(b, s.k, s.n, true)};
  op.c = {types[3], s.m, s.n, registersOf(*types[3], s.m, s.n, false)};
  op.d = {types[0], s.m, s.n, registersOf(*types[0], s.m, s.n, false)};
  op.operands = takeMmaOperands(d, op.d.registers, op.a.registers, op.b.registers, op.c.registers);
  return makeOp(std::move(op));
}

std::unique_ptr<Op> decodeWmma(Decode &d) {
  if (d.take("load"))
    return decodeAccess(d, true);
  if (d.take("store"))
    return decodeAccess(d, false);
  d.need("mma");
  return decodeMultiply(d);
}
} // namespace

#define R2 "{%r1, %r2}"
#define R4 "{%r1, %r2, %r3, %r4}"
#define R8 "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"
#define F8 "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}"
#define TALL "{m16n16k16|m8n32k16|m32n8k16}"
#define LAYOUT "{row|col}"
#define SPACE "[.global|.shared]"

void registerWmma(DecoderTable &table) {
  table.add(
      "wmma", decodeWmma,
      {{"wmma.load.{a|b}.sync.aligned." LAYOUT "." TALL SPACE ".f16", R8 ", [%rd1]"},
       {"wmma.load.{a|b}.sync.aligned." LAYOUT ".m16n16k16" SPACE ".bf16", R4 ", [%rd1], %r9"},
       {"wmma.load.{a|b}.sync.aligned." LAYOUT ".m16n16k16" SPACE ".{s8|u8}", R2 ", [%rd1], %r9"},
       {"wmma.load.{a|b}.sync.aligned." LAYOUT ".m16n16k8" SPACE ".tf32", R4 ", [%rd1], %r9"},
       {"wmma.load.{a|b}.sync.aligned." LAYOUT ".m8n8k4" SPACE ".f64", "{%fd1}, [%rd1], %r9"},
       {"wmma.load.a.sync.aligned.row.m8n8k32" SPACE ".{s4|u4}", "{%r1}, [%rd1], %r9"},
       {"wmma.load.b.sync.aligned.col.m8n8k32" SPACE ".{s4|u4}", "{%r1}, [%rd1], %r9"},
       {"wmma.load.a.sync.aligned.row.m8n8k128" SPACE ".b1", "{%r1}, [%rd1], %r9"},
       {"wmma.load.b.sync.aligned.col.m8n8k128" SPACE ".b1", "{%r1}, [%rd1], %r9"},
       {"wmma.load.c.sync.aligned." LAYOUT "." TALL SPACE ".f16", R4 ", [%rd1], %r9"},
       {"wmma.load.c.sync.aligned." LAYOUT "." TALL SPACE ".f32", F8 ", [%rd1], %r9"},
       {"wmma.load.c.sync.aligned." LAYOUT "." TALL SPACE ".s32", R8 ", [%rd1], %r9"},
       {"wmma.load.c.sync.aligned." LAYOUT ".m8n8k4" SPACE ".f64", "{%fd1, %fd2}, [%rd1], %r9"},
       {"wmma.store.d.sync.aligned." LAYOUT "." TALL SPACE ".f16", "[%rd1], " R4 ", %r9"},
       {"wmma.store.d.sync.aligned." LAYOUT "." TALL SPACE ".f32", "[%rd1], " F8 ", %r9"},
       {"wmma.store.d.sync.aligned." LAYOUT "." TALL SPACE ".s32", "[%rd1], " R8 ", %r9"},
       {"wmma.mma.sync.aligned." LAYOUT "." LAYOUT "." TALL ".f32.f32", F8 ", " R8 ", " R8 ", " F8},
       {"wmma.mma.sync.aligned." LAYOUT "." LAYOUT "." TALL ".f16.f16", R4 ", " R8 ", " R8 ", " R4},
       {"wmma.mma.sync.aligned." LAYOUT "." LAYOUT "." TALL ".f32.f16", F8 ", " R8 ", " R8 ", " R4},
       {"wmma.mma.sync.aligned." LAYOUT "." LAYOUT "." TALL ".f16.f32", R4 ", " R8 ", " R8 ", " F8},
       {"wmma.mma.sync.aligned." LAYOUT "." LAYOUT ".m16n16k16.f32.bf16.bf16.f32",
        F8 ", " R4 ", " R4 ", " F8},
       {"wmma.mma.sync.aligned." LAYOUT "." LAYOUT ".m16n16k8.f32.tf32.tf32.f32",
        F8 ", " R4 ", " R4 ", " F8},
       {"wmma.mma.sync.aligned." LAYOUT "." LAYOUT ".m8n8k4.f64.f64.f64.f64",
        "{%fd1, %fd2}, {%fd3}, {%fd4}, {%fd1, %fd2}"},
       {"wmma.mma.sync.aligned." LAYOUT "." LAYOUT ".m16n16k16.s32.{s8.s8|u8.u8}.s32[.satfinite]",
        R8 ", " R2 ", " R2 ", " R8},
       {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.{s4.s4|u4.u4}.s32[.satfinite]",
        R2 ", {%r3}, {%r4}, " R2},
       {"wmma.mma.{xor|and}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
        R2 ", {%r3}, {%r4}, " R2}});
}

} // namespace ts::emu
