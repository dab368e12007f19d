// mma.sync: matrix products of one warp with operands in registers. Source: PTX ISA, "Matrix
// multiply-accumulate operation using mma instruction". Sums of 16-bit and tf32 products in f32 are
// AlignedSum's, which is what an H200 does; the others are MatrixCore's (products exact, their sum
// in double, one rounding to D's format; f64 is a chain of fused multiply-adds along K).
//
// Fragments, all shapes but m8n8k4 of f16: with lane = 4 g + t and registers of 32 bits (of 64 for
// f64), register r of A holds word t + 4 (r / h) of row g + 8 (r % h), where h is M / 8 and a row
// is K elements packed into words; register r of B holds word t + 4 r of column g; element i of C
// and D is at row g + 8 (i / 2), column 2 t + i % 2. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Mma.h"

#include "../Matrix/AlignedSum.h"
#include "../Matrix/MatrixCore.h"
#include "../Numbers/Exact.h"

#include <charconv>
#include <cmath>

namespace ts::emu {
namespace {

enum class Family : uint8_t { Float, Int, Bit, F64 };

struct Element {
  const char *name;
  Family family;
  unsigned bits;
  Num format; // Float and the 8-bit integers
  bool isSigned;
  const char *shapes; // separated by spaces
};
constexpr Element elements[] = {
    {"f16", Family::Float, 16, Num::F16, true, "m16n8k8 m16n8k16"},
    {"bf16", Family::Float, 16, Num::BF16, true, "m16n8k8 m16n8k16"},
    {"tf32", Family::Float, 32, Num::TF32, true, "m16n8k4 m16n8k8"},
    {"e4m3", Family::Float, 8, Num::E4M3, true, "m16n8k16 m16n8k32"},
    {"e5m2", Family::Float, 8, Num::E5M2, true, "m16n8k16 m16n8k32"},
    {"s8", Family::Int, 8, Num::S8, true, "m8n8k16 m16n8k16 m16n8k32"},
    {"u8", Family::Int, 8, Num::U8, false, "m8n8k16 m16n8k16 m16n8k32"},
    {"s4", Family::Int, 4, Num::S8, true, "m8n8k32 m16n8k32 m16n8k64"},
    {"u4", Family::Int, 4, Num::U8, false, "m8n8k32 m16n8k32 m16n8k64"},
    {"b1", Family::Bit, 1, Num::U8, false, "m8n8k128 m16n8k128 m16n8k256"},
    {"f64", Family::F64, 64, Num::F64, true, "m8n8k4 m16n8k4 m16n8k8 m16n8k16"},
};

struct Mma {
  unsigned m = 0, k = 0; // N is 8
  const Element *a = nullptr, *b = nullptr;
  bool halfAccumulator = false; // D and C are f16
  bool saturate = false, exclusiveOr = false;
  Round round = Round::Nearest;
  MmaOperands operands;

  unsigned words() const { return k * a->bits / 32; } // of a row of A

  /// A and B as rows and columns of packed words.
  void gather(Exec &x, std::vector<uint32_t> &rows, std::vector<uint32_t> &columns) const {
    unsigned width = words(), high = m / 8;
    rows.resize(size_t(m) * width);
    columns.resize(size_t(8) * width);
    uint64_t scratch[warpSize];
    for (unsigned r = 0; r < operands.a.size(); ++r) {
      const uint64_t *lanes = operands.a[r].lanes(x, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane)
        rows[(lane / 4 + 8 * (r % high)) * width + lane % 4 + 4 * (r / high)] =
            uint32_t(lanes[lane]);
    }
    for (unsigned r = 0; r < operands.b.size(); ++r) {
      const uint64_t *lanes = operands.b[r].lanes(x, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane)
        columns[lane / 4 * width + lane % 4 + 4 * r] = uint32_t(lanes[lane]);
    }
  }

  /// f(row, column, bits of the element of C) -> bits of D, for 32-bit elements or f16 pairs.
  template <class F> void accumulate(Exec &x, F f) const {
    std::vector<std::array<uint64_t, warpSize>> results(operands.d.size());
    uint64_t scratch[warpSize];
    for (unsigned r = 0; r < operands.d.size(); ++r) {
      const uint64_t *lanes = operands.c[r].lanes(x, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        unsigned g = lane / 4, column = lane % 4 * 2;
        if (halfAccumulator) {
          uint64_t low = f(g + 8 * r, column, lanes[lane] & 0xffff);
          results[r][lane] = low | f(g + 8 * r, column + 1, lanes[lane] >> 16 & 0xffff) << 16;
        } else {
          results[r][lane] = f(g + 8 * (r / 2), column + r % 2, lanes[lane]);
        }
      }
    }
    for (unsigned r = 0; r < operands.d.size(); ++r)
      std::copy_n(results[r].data(), warpSize, operands.d[r].lanes(x, scratch));
  }

  void floats(Exec &x) const {
    thread_local std::vector<uint32_t> rows, columns;
    gather(x, rows, columns);
    thread_local std::vector<float> left, right;
    left.resize(size_t(m) * k);
    right.resize(size_t(8) * k);
    decodeElements(a->format, reinterpret_cast<const uint8_t *>(rows.data()), m * k, left.data());
    decodeElements(b->format, reinterpret_cast<const uint8_t *>(columns.data()), 8 * k,
                   right.data());
    if (!halfAccumulator && a->bits != 8) {
      AlignedSum sum(left.data(), a->format, m, right.data(), b->format, 8, k, AlignedSum::wide);
      accumulate(x, [&](unsigned row, unsigned column, uint64_t c) -> uint64_t {
        return std::bit_cast<uint32_t>(sum(row, column, std::bit_cast<float>(uint32_t(c))));
      });
      return;
    }
    double sums[16 * 8];
    multiply(left.data(), right.data(), m, 8, k, sums);
    accumulate(x, [&](unsigned row, unsigned column, uint64_t c) -> uint64_t {
      double sum = sums[row * 8 + column];
      if (halfAccumulator)
        return accumulateF16(toDouble(Num::F16, c), sum);
      return std::bit_cast<uint32_t>(accumulateF32(std::bit_cast<float>(uint32_t(c)), sum));
    });
  }

  static void integers(const Element &element, const std::vector<uint32_t> &words, unsigned count,
                       std::vector<int32_t> &out) {
    out.resize(count);
    unsigned perWord = 32 / element.bits;
    for (unsigned i = 0; i < count; ++i) {
      uint32_t value = words[i / perWord] >> i % perWord * element.bits;
      unsigned shift = 32 - element.bits;
      out[i] =
          element.isSigned ? int32_t(value << shift) >> shift : int32_t(value << shift >> shift);
    }
  }

  void integers(Exec &x) const {
    thread_local std::vector<uint32_t> rows, columns;
    gather(x, rows, columns);
    int32_t sums[16 * 8];
    if (a->family == Family::Bit && !exclusiveOr) {
      multiplyBits(rows.data(), columns.data(), m, 8, k, sums);
    } else if (a->family == Family::Bit) {
      for (unsigned i = 0; i < m * 8; ++i) {
        sums[i] = 0;
        for (unsigned w = 0; w < words(); ++w)
          sums[i] += std::popcount(rows[i / 8 * words() + w] ^ columns[i % 8 * words() + w]);
      }
    } else {
      thread_local std::vector<int32_t> left, right;
      integers(*a, rows, m * k, left);
      integers(*b, columns, 8 * k, right);
      multiply(left.data(), right.data(), m, 8, k, sums);
    }
    accumulate(x, [&](unsigned row, unsigned column, uint64_t c) -> uint64_t {
      return uint32_t(accumulateS32(int32_t(uint32_t(c)), sums[row * 8 + column], saturate));
    });
  }

  void doubles(Exec &x) const {
    double left[16][16], right[8][16];
    uint64_t scratch[warpSize];
    unsigned high = m / 8;
    for (unsigned r = 0; r < operands.a.size(); ++r) {
      const uint64_t *lanes = operands.a[r].lanes(x, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane)
        left[lane / 4 + 8 * (r % high)][lane % 4 + 4 * (r / high)] =
            std::bit_cast<double>(lanes[lane]);
    }
    for (unsigned r = 0; r < operands.b.size(); ++r) {
      const uint64_t *lanes = operands.b[r].lanes(x, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane)
        right[lane / 4][lane % 4 + 4 * r] = std::bit_cast<double>(lanes[lane]);
    }
    accumulate(x, [&](unsigned row, unsigned column, uint64_t c) -> uint64_t {
      auto sum = std::bit_cast<double>(c);
      for (unsigned i = 0; i < k; ++i) {
        double p = left[row][i], q = right[column][i];
        if (round == Round::Nearest)
          sum = std::fma(p, q, sum);
        else
          sum = std::bit_cast<double>(roundExact(Num::F64, exactFma(p, q, sum, round), round));
      }
      return std::bit_cast<uint64_t>(sum);
    });
  }

  Step operator()(Exec &x) const {
    if (!wholeWarp(x))
      return Step::Blocked;
    if (a->family == Family::F64)
      doubles(x);
    else if (a->family == Family::Float)
      floats(x);
    else
      integers(x);
    return Step::Next;
  }
};

const Element *takeElement(Decode &d) {
  for (const Element &element : elements)
    if (d.take(element.name))
      return &element;
  d.refuse("type .%.*s is no operand of mma here", int(d.peek().size()), d.peek().data());
}

bool hasShape(const Element &element, const std::string &shape) {
  std::string all = " " + std::string(element.shapes) + " ";
  return all.find(" " + shape + " ") != std::string::npos;
}

/// "m16n8k16".
bool parseShape(std::string_view shape, unsigned &m, unsigned &n, unsigned &k) {
  const char *at = shape.data(), *end = at + shape.size();
  for (auto [letter, number] : {std::pair{'m', &m}, {'n', &n}, {'k', &k}}) {
    if (at == end || *at != letter)
      return false;
    std::from_chars_result parsed = std::from_chars(at + 1, end, *number);
    if (parsed.ec != std::errc())
      return false;
    at = parsed.ptr;
  }
  return at == end;
}

int takeRound(Decode &d) { return d.takeOneOf({"rn", "rz", "rm", "rp"}); }

std::unique_ptr<Op> decodeMma(Decode &d) {
  d.need("sync");
  d.need("aligned");
  std::string shape(d.peek());
  unsigned n = 0;
  Mma op;
  if (!parseShape(shape, op.m, n, op.k))
    d.refuse("expected a shape (.m16n8k16, ...)");
  d.take(shape);
  int rowA = d.takeOneOf({"row", "col"}), rowB = d.takeOneOf({"row", "col"});
  if (rowA < 0 || rowB < 0)
    d.refuse("expected the layouts of A and B (.row.col)");
  int round = takeRound(d);
  op.saturate = d.take("satfinite");
  // On the targets here this kind has the fp8 types only, and is the form without a kind.
  bool f8f6f4 = d.take("kind::f8f6f4");
  if (d.peek().substr(0, 6) == "kind::" || d.peek() == "block_scale")
    d.refuse("%s", mmaKinds);
  int dType = d.takeOneOf({"f16", "f32", "s32", "f64"});
  if (dType < 0)
    d.refuse("expected the type of D");
  op.a = takeElement(d);
  op.b = takeElement(d);
  int cType = d.takeOneOf({"f16", "f32", "s32", "f64"});
  if (shape == "m8n8k4" && op.a->family != Family::F64) {
    if (op.a->format != Num::F16 || op.b != op.a || dType > 1 || cType > 1 || cType < 0)
      d.refuse("m8n8k4 exists for f16 and f64 only");
    d.end();
    return decodeMmaQuads(d, rowA == 1, rowB == 1, dType == 1, cType == 1);
  }
  if (rowA != 0 || rowB != 1)
    d.refuse("expected .row.col with this shape");
  if (op.a->family == Family::Bit) {
    int operation = d.takeOneOf({"xor", "and"});
    if (operation < 0)
      d.refuse("expected .xor or .and behind .b1 operands");
    op.exclusiveOr = operation == 0;
    d.need("popc");
  }
  if (op.a->family == Family::F64 && round < 0)
    round = takeRound(d);
  d.end();
  static constexpr Round rounds[] = {Round::Nearest, Round::Zero, Round::Down, Round::Up};
  if (round >= 0 && op.a->family != Family::F64)
    d.refuse("a rounding mode goes with f64 only");
  op.round = rounds[std::max(round, 0)];
  bool fp8 = op.a->family == Family::Float && op.a->bits == 8;
  if (f8f6f4 && (!fp8 || op.k != 32))
    d.refuse(".kind::f8f6f4 goes with .m16n8k32 and .e4m3 or .e5m2");
  bool mixed = fp8 || (op.a->family == Family::Int && op.a->bits == op.b->bits &&
                       op.b->family == Family::Int);
  if (op.a->bits != op.b->bits || op.a->family != op.b->family || (!mixed && op.a != op.b))
    d.refuse("A of type .%s does not go with B of type .%s", op.a->name, op.b->name);
  int expected = op.a->family == Family::F64 ? 3 : op.a->family == Family::Float ? 1 : 2;
  op.halfAccumulator = dType == 0 && (fp8 || op.a->format == Num::F16) && expected == 1;
  if (cType != dType || (dType != expected && !op.halfAccumulator))
    d.refuse("these types of C and D do not go with operands of type .%s", op.a->name);
  if (op.saturate && op.a->family != Family::Int)
    d.refuse(".satfinite goes with integers only");
  if (n != 8 || !hasShape(*op.a, shape))
    d.refuse("shape .%s does not exist for type .%s", shape.c_str(), op.a->name);
  unsigned registerBits = op.a->family == Family::F64 ? 64 : 32;
  unsigned perColumn = op.k * op.a->bits / registerBits / 4;
  unsigned inD = op.m / 8 * (op.halfAccumulator ? 1 : 2);
  op.operands = takeMmaOperands(d, inD, op.m / 8 * perColumn, perColumn, inD);
  return makeOp(std::move(op));
}

std::unique_ptr<Op> refuseSparse(Decode &d) { d.refuse("%s", mmaSparse); }
} // namespace

bool wholeWarp(const Exec &x) {
  if (x.warp.alive() != ~0u)
    fault(FaultKind::Divergence,
          "a matrix instruction of the whole warp, but only lanes 0x%08x of it are there; expected "
          "32 threads, none of which has exited",
          x.warp.alive());
  return x.converged(~0u);
}

MmaOperands takeMmaOperands(Decode &d, unsigned inD, unsigned inA, unsigned inB, unsigned inC) {
  d.needOperands(4, 4);
  MmaOperands o;
  o.d = d.destinations(d.operand(0));
  o.a = d.sources(d.operand(1), ptx::Type::B32);
  o.b = d.sources(d.operand(2), ptx::Type::B32);
  o.c = d.sources(d.operand(3), ptx::Type::F32);
  if (o.d.size() != inD || o.a.size() != inA || o.b.size() != inB || o.c.size() != inC)
    d.refuse("expected %u, %u, %u and %u registers, found %zu, %zu, %zu and %zu", inD, inA, inB,
             inC, o.d.size(), o.a.size(), o.b.size(), o.c.size());
  return o;
}

#define D2 "{%r1, %r2}"
#define D4 "{%r1, %r2, %r3, %r4}"
#define F4 "{%f1, %f2, %f3, %f4}"
#define DD4 "{%fd1, %fd2, %fd3, %fd4}"

void registerMma(DecoderTable &table) {
  table.add(
      "mma", decodeMma,
      {{"mma.sync.aligned.m16n8k8.row.col.f32.{f16.f16|bf16.bf16}.f32", F4 ", " D2 ", {%r3}, " F4},
       {"mma.sync.aligned.m16n8k16.row.col.f32.{f16.f16|bf16.bf16}.f32",
        F4 ", " D4 ", " D2 ", " F4},
       {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", D2 ", " D2 ", {%r3}, " D2},
       {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", D2 ", " D4 ", " D2 ", " D2},
       {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", F4 ", " D2 ", {%r3}, " F4},
       {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", F4 ", " D4 ", " D2 ", " F4},
       {"mma.sync.aligned.m16n8k16.row.col.f32.{e4m3|e5m2}.{e4m3|e5m2}.f32",
        F4 ", " D2 ", {%r3}, " F4},
       {"mma.sync.aligned.m16n8k32.row.col[.kind::f8f6f4].f32.{e4m3|e5m2}.{e4m3|e5m2}.f32",
        F4 ", " D4 ", " D2 ", " F4},
       {"mma.sync.aligned.m16n8k16.row.col.f16.{e4m3|e5m2}.{e4m3|e5m2}.f16",
        D2 ", " D2 ", {%r3}, " D2},
       {"mma.sync.aligned.m16n8k32.row.col[.kind::f8f6f4].f16.{e4m3|e5m2}.{e4m3|e5m2}.f16",
        D2 ", " D4 ", " D2 ", " D2},
       {"mma.sync.aligned.m8n8k16.row.col[.satfinite].s32.{s8|u8}.{s8|u8}.s32",
        D2 ", {%r3}, {%r4}, " D2},
       {"mma.sync.aligned.m16n8k16.row.col[.satfinite].s32.{s8|u8}.{s8|u8}.s32",
        D4 ", " D2 ", {%r3}, " D4},
       {"mma.sync.aligned.m16n8k32.row.col[.satfinite].s32.{s8|u8}.{s8|u8}.s32",
        D4 ", " D4 ", " D2 ", " D4},
       {"mma.sync.aligned.m8n8k32.row.col[.satfinite].s32.{s4|u4}.{s4|u4}.s32",
        D2 ", {%r3}, {%r4}, " D2},
       {"mma.sync.aligned.m16n8k32.row.col[.satfinite].s32.{s4|u4}.{s4|u4}.s32",
        D4 ", " D2 ", {%r3}, " D4},
       {"mma.sync.aligned.m16n8k64.row.col[.satfinite].s32.{s4|u4}.{s4|u4}.s32",
        D4 ", " D4 ", " D2 ", " D4},
       {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.{xor|and}.popc", D2 ", {%r3}, {%r4}, " D2},
       {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.{xor|and}.popc",
        D4 ", " D2 ", {%r3}, " D4},
       {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{xor|and}.popc",
        D4 ", " D4 ", " D2 ", " D4},
       {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64[.rn|.rz|.rm|.rp]",
        "{%fd1, %fd2}, {%fd3}, {%fd4}, {%fd1, %fd2}"},
       {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64[.rn|.rz|.rm|.rp]",
        DD4 ", {%fd5, %fd6}, {%fd7}, " DD4},
       {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64[.rn|.rz|.rm|.rp]",
        DD4 ", " DD4 ", {%fd5, %fd6}, " DD4},
       {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64[.rn|.rz|.rm|.rp]",
        DD4 ", {%fd1, %fd2, %fd3, %fd4, %fd5, %fd6, %fd7, %fd8}, " DD4 ", " DD4},
       {"mma.sync.aligned.m8n8k4.{row|col}.{row|col}.f16.f16.f16.f16",
        D4 ", {%r5, %r6}, {%r7, %r8}, " D4},
       {"mma.sync.aligned.m8n8k4.{row|col}.{row|col}.f32.f16.f16.f16",
        "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r5, %r6}, {%r7, %r8}, " D4},
       {"mma.sync.aligned.m8n8k4.{row|col}.{row|col}.f32.f16.f16.f32",
        "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r5, %r6}, {%r7, %r8}, {%f1, %f2, %f3, %f4, "
        "%f5, %f6, %f7, %f8}"}});
  static constexpr std::initializer_list<DecoderTable::Form> sparse = {
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k16.row.col.f32.{f16.f16|bf16.bf16}.f32",
       F4 ", " D2 ", {%r3, %r4}, " F4 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k32.row.col.f32.{f16.f16|bf16.bf16}.f32",
       F4 ", " D4 ", " D4 ", " F4 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
       D2 ", " D2 ", {%r3, %r4}, " D2 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k32.row.col.f16.f16.f16.f16",
       D2 ", " D4 ", " D4 ", " D2 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
       F4 ", " D2 ", {%r3, %r4}, " F4 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
       F4 ", " D4 ", " D4 ", " F4 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k64.row.col.f32.{e4m3|e5m2}.{e4m3|e5m2}.f32",
       F4 ", " D4 ", " D4 ", " F4 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k32.row.col[.satfinite].s32.{s8|u8}.{s8|u8}."
       "s32",
       D4 ", " D2 ", " D2 ", " D4 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k64.row.col[.satfinite].s32.{s8|u8}.{s8|u8}."
       "s32",
       D4 ", " D4 ", " D4 ", " D4 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k64.row.col[.satfinite].s32.{s4|u4}.{s4|u4}."
       "s32",
       D4 ", " D2 ", " D2 ", " D4 ", %r5, 0", mmaSparse},
      {"mma.sp[::ordered_metadata].sync.aligned.m16n8k128.row.col[.satfinite].s32.{s4|u4}.{s4|u4}"
       ".s32",
       D4 ", " D4 ", " D4 ", " D4 ", %r5, 0", mmaSparse}};
  table.add("mma.sp", refuseSparse, sparse);
  table.add("mma.sp::ordered_metadata", refuseSparse, {});
  registerLdMatrix(table);
  registerWmma(table);
}

} // namespace ts::emu
