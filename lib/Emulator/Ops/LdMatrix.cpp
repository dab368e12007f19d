// ldmatrix, stmatrix and movmatrix: small matrices between shared memory and the registers of a
// warp. Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix" and what follows it; byte
// order of the 8-bit forms checked against CUTLASS's copy traits for SM100.
//
// Every matrix is rows of 16 bytes, whose addresses lanes 0 to 7 (or 0 to 15 for 16 rows) give for
// the first, the next ones for the second, and so on. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "MemoryModifiers.h"
#include "Mma.h"

namespace ts::emu {
namespace {

constexpr unsigned rowBytes = 16;

enum class Source : uint8_t { Plain, Six, Four }; // what a row of 16 elements holds

/// A row as the fragment sees it: 6- and 4-bit elements in the low bits of a byte each.
void expand(Source source, uint8_t (&row)[rowBytes]) {
  if (source == Source::Plain)
    return;
  unsigned bits = source == Source::Six ? 6 : 4;
  uint8_t out[rowBytes];
  for (unsigned i = 0; i < rowBytes; ++i) {
    unsigned bit = i * bits, two = row[bit / 8] | unsigned(row[bit / 8 + 1]) << 8;
    out[i] = uint8_t(two >> bit % 8 & ((1u << bits) - 1));
  }
  memcpy(row, out, rowBytes);
}

/// Which byte of which row of its matrix byte `b` of a lane's register `r` is. `rows` 16 has two
/// registers per matrix.
struct Place {
  unsigned row, byte;
};
Place placeOf(bool bytes, bool transposed, unsigned lane, unsigned r, unsigned b) {
  unsigned g = lane / 4, t = lane % 4;
  if (!transposed) // a row is held by four lanes
    return {g, 4 * t + b};
  if (!bytes) // elements of two bytes: row 2 t + element, column g
    return {2 * t + b / 2, 2 * g + b % 2};
  return {4 * t + b, g + 8 * r};
}

struct LoadMatrix {
  unsigned matrices, rows;
  bool bytes, transposed;
  Source source;
  Space space;
  AddressOperand address;
  std::vector<Dst> to;

  Step operator()(Exec &x) const {
    if (!wholeWarp(x))
      return Step::Blocked;
    uint64_t scratch[warpSize];
    const uint64_t *base = address.base.lanes(x, scratch);
    uint8_t data[warpSize][rowBytes];
    uint32_t undefined[warpSize] = {}, origin = 0, any = 0; // bytes of a row
    for (unsigned i = 0; i < matrices * rows; ++i) {
      UndefinedRead read;
      load(x, i, space, base[i] + uint64_t(address.offset), rowBytes, data[i], Order::Weak, &read);
      if (read.bytes) [[unlikely]] {
        any = 1;
        undefined[i] = source == Source::Plain ? read.bytes : 0xffff;
        origin = undefinedOrigin(x, read);
      }
      expand(source, data[i]);
    }
    uint64_t sink[warpSize];
    unsigned registers = rows / 8; // per matrix
    for (unsigned r = 0; r < to.size(); ++r) {
      uint64_t *lanes = to[r].lanes(x, sink);
      uint32_t undefinedLanes = 0;
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        uint32_t value = 0;
        for (unsigned b = 0; b < 4; ++b) {
          Place place = placeOf(bytes, transposed, lane, r % registers, b);
          unsigned row = r / registers * rows + place.row;
          value |= uint32_t(data[row][place.byte]) << 8 * b;
          undefinedLanes |= (undefined[row] >> place.byte & 1) << lane;
        }
        lanes[lane] = value;
      }
      if (any && !to[r].sink) [[unlikely]]
        setUndefined(x, to[r].reg, undefinedLanes, origin);
    }
    return Step::Next;
  }
};

struct StoreMatrix {
  unsigned matrices;
  bool bytes, transposed;
  Space space;
  AddressOperand address;
  std::vector<Src> from;

  /// Where byte `b` of a lane's register goes.
  Place placeIn(unsigned lane, unsigned b) const {
    unsigned g = lane / 4, t = lane % 4;
    // 16 x 8 elements of a byte: as an accumulator of mma, stored column by column.
    return bytes ? Place{2 * t + b % 2, g + 8 * (b / 2)} : placeOf(false, transposed, lane, 0, b);
  }

  Step operator()(Exec &x) const {
    if (!wholeWarp(x))
      return Step::Blocked;
    uint64_t scratch[warpSize], values[warpSize];
    const uint64_t *base = address.base.lanes(x, scratch);
    for (unsigned m = 0; m < matrices; ++m) {
      const uint64_t *lanes = from[m].lanes(x, values);
      uint32_t undefined = from[m].kind == Src::Kind::Reg ? emu::undefinedLanes(x, from[m].reg) : 0;
      uint8_t data[8][rowBytes];
      for (unsigned lane = 0; lane < warpSize; ++lane)
        for (unsigned b = 0; b < 4; ++b) {
          Place place = placeIn(lane, b);
          data[place.row][place.byte] = uint8_t(lanes[lane] >> 8 * b);
        }
      for (unsigned i = 0; i < 8; ++i)
        store(x, m * 8 + i, space, base[m * 8 + i] + uint64_t(address.offset), rowBytes, data[i]);
      for (unsigned lane = 0; undefined && lane < warpSize; ++lane)
        for (unsigned b = 0; undefined >> lane & 1 && b < 4; ++b) {
          Place place = placeIn(lane, b);
          storedUndefined(x, lane, space,
                          base[m * 8 + place.row] + uint64_t(address.offset) + place.byte, 1,
                          from[m].reg);
        }
    }
    return Step::Next;
  }
};

unsigned takeCount(Decode &d) {
  int count = d.takeOneOf({"x1", "x2", "x4"});
  if (count < 0)
    d.refuse("expected .x1, .x2 or .x4");
  return 1u << count;
}

void needAligned(Decode &d) {
  d.need("sync");
  d.need("aligned");
}

std::unique_ptr<Op> decodeLoadMatrix(Decode &d) {
  needAligned(d);
  LoadMatrix op{};
  int shape = d.takeOneOf({"m8n8", "m16n16", "m8n16"});
  if (shape < 0)
    d.refuse("expected .m8n8, .m16n16 or .m8n16");
  op.matrices = takeCount(d);
  op.rows = shape == 1 ? 16 : 8;
  op.transposed = d.take("trans");
  op.space = takeSharedCta(d);
  op.bytes = shape != 0;
  if (shape == 0) {
    d.need("b16");
  } else if (d.take("b8x16")) {
    int source = d.takeOneOf({"b6x16_p32", "b4x16_p64"});
    if (source < 0)
      d.refuse("expected .b6x16_p32 or .b4x16_p64 behind .b8x16");
    op.source = source == 0 ? Source::Six : Source::Four;
  } else if (shape == 1) {
    d.need("b8");
  } else {
    d.refuse("expected .b8x16 with .m8n16");
  }
  if ((shape == 1) != op.transposed && shape != 0)
    d.refuse(shape == 1 ? "expected .trans with .m16n16" : ".m8n16 cannot be transposed");
  if (shape == 1 && op.matrices > 2)
    d.refuse("expected .x1 or .x2 with .m16n16");
  d.end();
  d.needOperands(2, 2);
  op.to = d.destinations(d.operand(0));
  if (op.to.size() != op.matrices * op.rows / 8)
    d.refuse("expected %u registers, found %zu", op.matrices * op.rows / 8, op.to.size());
  op.address = d.address(1);
  return makeOp(std::move(op));
}

std::unique_ptr<Op> decodeStoreMatrix(Decode &d) {
  needAligned(d);
  StoreMatrix op{};
  op.bytes = d.take("m16n8");
  if (!op.bytes)
    d.need("m8n8");
  op.matrices = takeCount(d);
  op.transposed = d.take("trans");
  op.space = takeSharedCta(d);
  d.need(op.bytes ? "b8" : "b16");
  if (op.bytes && !op.transposed)
    d.refuse("expected .trans with .m16n8");
  d.end();
  d.needOperands(2, 2);
  op.address = d.address(0);
  op.from = d.sources(d.operand(1), ptx::Type::B32);
  if (op.from.size() != op.matrices)
    d.refuse("expected %u registers, found %zu", op.matrices, op.from.size());
  return makeOp(std::move(op));
}

std::unique_ptr<Op> decodeMoveMatrix(Decode &d) {
  needAligned(d);
  d.need("m8n8");
  d.need("trans");
  d.need("b16");
  d.end();
  d.needOperands(2, 2);
  Dst to = d.dst(0);
  Src from = d.src(1, ptx::Type::B32);
  return makeOp([=](Exec &x) {
    if (!wholeWarp(x))
      return Step::Blocked;
    uint64_t scratch[warpSize], out[warpSize];
    const uint64_t *values = from.lanes(x, scratch);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      out[lane] = 0;
      for (unsigned e = 0; e < 2; ++e) { // element (row, column) of the result is (column, row)
        unsigned row = lane % 4 * 2 + e, column = lane / 4;
        uint64_t element = values[row * 4 + column / 2] >> column % 2 * 16 & 0xffff;
        out[lane] |= element << 16 * e;
      }
    }
    std::copy_n(out, warpSize, to.lanes(x, scratch));
    return Step::Next;
  });
}
} // namespace

void registerLdMatrix(DecoderTable &table) {
#define SHARED "[.shared|.shared::cta]"
  table.add(
      "ldmatrix", decodeLoadMatrix,
      {{"ldmatrix.sync.aligned.m8n8.x1[.trans]" SHARED ".b16", "{%r1}, [%rd1]"},
       {"ldmatrix.sync.aligned.m8n8.x2[.trans]" SHARED ".b16", "{%r1, %r2}, [%rd1]"},
       {"ldmatrix.sync.aligned.m8n8.x4[.trans]" SHARED ".b16", "{%r1, %r2, %r3, %r4}, [%rd1]"},
       {"ldmatrix.sync.aligned.m16n16.x1.trans" SHARED ".{b8|b8x16.b6x16_p32|b8x16.b4x16_p64}",
        "{%r1, %r2}, [%rd1]"},
       {"ldmatrix.sync.aligned.m16n16.x2.trans" SHARED ".{b8|b8x16.b6x16_p32|b8x16.b4x16_p64}",
        "{%r1, %r2, %r3, %r4}, [%rd1]"},
       {"ldmatrix.sync.aligned.m8n16.x1" SHARED ".b8x16.{b6x16_p32|b4x16_p64}", "{%r1}, [%rd1]"},
       {"ldmatrix.sync.aligned.m8n16.x2" SHARED ".b8x16.{b6x16_p32|b4x16_p64}",
        "{%r1, %r2}, [%rd1]"},
       {"ldmatrix.sync.aligned.m8n16.x4" SHARED ".b8x16.{b6x16_p32|b4x16_p64}",
        "{%r1, %r2, %r3, %r4}, [%rd1]"}});
  table.add(
      "stmatrix", decodeStoreMatrix,
      {{"stmatrix.sync.aligned.m8n8.x1[.trans]" SHARED ".b16", "[%rd1], {%r1}"},
       {"stmatrix.sync.aligned.m8n8.x2[.trans]" SHARED ".b16", "[%rd1], {%r1, %r2}"},
       {"stmatrix.sync.aligned.m8n8.x4[.trans]" SHARED ".b16", "[%rd1], {%r1, %r2, %r3, %r4}"},
       {"stmatrix.sync.aligned.m16n8.x1.trans" SHARED ".b8", "[%rd1], {%r1}"},
       {"stmatrix.sync.aligned.m16n8.x2.trans" SHARED ".b8", "[%rd1], {%r1, %r2}"},
       {"stmatrix.sync.aligned.m16n8.x4.trans" SHARED ".b8", "[%rd1], {%r1, %r2, %r3, %r4}"}});
  table.add("movmatrix", decodeMoveMatrix, {{"movmatrix.sync.aligned.m8n8.trans.b16", "%r1, %r2"}});
}

} // namespace ts::emu
