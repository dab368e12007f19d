// mov, selp, slct and prmt: values go from register to register, vectors are packed and unpacked.
// Source: PTX ISA, "Data Movement and Conversion" and "Comparison and Selection".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Move.h"

#include "Lanes.h"

namespace ts::emu {
namespace {

using ptx::Type;

bool isMovable(Type type) {
  return type != Type::B8 && type != Type::U8 && type != Type::S8 && type != Type::F16x2 &&
         type != Type::BF16x2 && type != Type::F32x2 && type != Type::F16 && type != Type::BF16;
}

/// A 128-bit value is two slots: the second half is register slot + 1.
Src upperHalf(Src src) {
  src.reg += 1;
  return src;
}
Dst upperHalf(Dst dst) {
  dst.reg += 1;
  return dst;
}

void copyLanes(Exec &x, const Dst &d, const Src &s, uint64_t keep) {
  if (x.split.frame->numInFlight && s.kind == Src::Kind::Reg && !d.sink &&
      deferMove(x, s.reg, d.reg))
    return;
  uint64_t out[warpSize], scratch[warpSize];
  const uint64_t *from = s.lanes(x, scratch);
  uint64_t *to = d.lanes(x, out);
  setLanes(x.mask, to, [=](unsigned lane) { return from[lane] & keep; });
}

// Elements of `bits` each go into 1 slot, or into the 2 of a 128-bit register.
std::unique_ptr<Op> decodePack(Decode &d, unsigned total) {
  const ptx::Operand &vector = d.operand(1);
  size_t count = vector.items.size();
  unsigned bits = count ? total / unsigned(count) : 0;
  if ((count != 2 && count != 4) || bits < 8)
    d.refuse("a vector of %zu elements cannot be packed into %u bits", count, total);
  std::vector<Src> sources = d.sources(vector, bits == 8    ? Type::B8
                                               : bits == 16 ? Type::B16
                                               : bits == 32 ? Type::B32
                                                            : Type::B64);
  Dst to = d.dst(0);
  unsigned perSlot = std::min(total, 64u) / bits;
  return makeOp([=](Exec &x) {
    // All elements are read before anything is written: the destination may be one of them.
    uint64_t value[2][warpSize] = {};
    for (size_t i = 0; i < sources.size(); ++i) {
      uint64_t scratch[warpSize];
      const uint64_t *from = sources[i].lanes(x, scratch);
      uint64_t *half = value[i / perSlot];
      unsigned shift = unsigned(i % perSlot) * bits;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        half[lane] |= (from[lane] & maskOf(bits)) << shift;
    }
    for (size_t i = 0; i < (total > 64 ? 2u : 1u); ++i) {
      uint64_t out[warpSize];
      uint64_t *slot = (i ? upperHalf(to) : to).lanes(x, out);
      const uint64_t *half = value[i];
      setLanes(x.mask, slot, [=](unsigned lane) { return half[lane]; });
    }
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeUnpack(Decode &d, Type type) {
  unsigned total = ptx::typeBits(type);
  std::vector<Dst> to = d.destinations(d.operand(0));
  unsigned bits = to.empty() ? 0 : total / unsigned(to.size());
  if ((to.size() != 2 && to.size() != 4) || bits < 8)
    d.refuse("%u bits cannot be unpacked into a vector of %zu elements", total, to.size());
  Src from = d.src(1, type == Type::B128 ? Type::B64 : type);
  if (total > 64 && from.kind != Src::Kind::Reg)
    d.refuse("expected a 128-bit register to unpack");
  unsigned perSlot = std::min(total, 64u) / bits;
  return makeOp([=](Exec &x) {
    uint64_t value[2][warpSize];
    for (size_t i = 0; i < (total > 64 ? 2u : 1u); ++i) {
      uint64_t scratch[warpSize];
      std::copy_n((i ? upperHalf(from) : from).lanes(x, scratch), warpSize, value[i]);
    }
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i].sink)
        continue;
      uint64_t out[warpSize];
      uint64_t *slot = to[i].lanes(x, out);
      const uint64_t *half = value[i / perSlot];
      unsigned shift = unsigned(i % perSlot) * bits;
      setLanes(x.mask, slot, [=](unsigned lane) { return half[lane] >> shift & maskOf(bits); });
    }
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeMov(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  if (!isMovable(type))
    d.refuse("there is no mov of type .%s", ptx::typeName(type));
  if (d.operand(1).kind == ptx::Operand::Kind::Vector)
    return decodePack(d, ptx::typeBits(type));
  if (d.operand(0).kind == ptx::Operand::Kind::Vector)
    return decodeUnpack(d, type);
  Dst to = d.dst(0);
  if (type == Type::Pred) {
    bool isSpecial = d.operand(1).kind == ptx::Operand::Kind::Special; // %is_explicit_cluster
    Src from = isSpecial ? d.src(1, type) : d.predicate(1);
    return makeOp([=](Exec &x) {
      to.setPredicate(x, from.predicate(x));
      return Step::Next;
    });
  }
  if (type == Type::B128) {
    Src from = d.src(1, Type::B64);
    if (from.kind != Src::Kind::Reg)
      d.refuse("expected a 128-bit register");
    return makeOp([=](Exec &x) {
      copyLanes(x, to, from, ~uint64_t(0));
      copyLanes(x, upperHalf(to), upperHalf(from), ~uint64_t(0));
      return Step::Next;
    });
  }
  Src from = d.src(1, type);
  uint64_t keep = maskOf(ptx::typeBits(type));
  return makeOp([=](Exec &x) {
    copyLanes(x, to, from, keep);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeSelp(Decode &d) {
  Type type = d.needType();
  d.end();
  d.needOperands(4, 4);
  if (!isMovable(type) || type == Type::Pred || type == Type::B128)
    d.refuse("there is no selp of type .%s", ptx::typeName(type));
  Dst to = d.dst(0);
  Src a = d.src(1, type), b = d.src(2, type), p = d.predicate(3);
  return makeOp([=](Exec &x) {
    uint64_t out[warpSize], bufferA[warpSize], bufferB[warpSize];
    const uint64_t *fromA = a.lanes(x, bufferA), *fromB = b.lanes(x, bufferB);
    uint64_t *slot = to.lanes(x, out);
    uint32_t holds = p.predicate(x);
    setLanes(x.mask, slot,
             [=](unsigned lane) { return holds >> lane & 1 ? fromA[lane] : fromB[lane]; });
    return Step::Next;
  });
}

} // namespace

void registerMoves(DecoderTable &table) {
  table.add("mov", decodeMov,
            {{"mov.pred", "%p1, %p2"},
             {"mov.{b16|u16|s16}", "%rs1, %rs2"},
             {"mov.{b32|u32|s32|f32}", "%r1, %r2"},
             {"mov.{b64|u64|s64|f64}", "%rd1, %rd2"},
             {"mov.b128", "%rq1, %rq2"},
             {"mov.b32", "%r1, {%rs1, %rs2}"},
             {"mov.b64", "%rd1, {%r1, %r2}"},
             {"mov.b64", "%rd1, {%rs1, %rs2, %rs3, %rs4}"},
             {"mov.b128", "%rq1, {%rd1, %rd2}"},
             {"mov.b128", "%rq1, {%r1, %r2, %r3, %r4}"}});
  table.add("selp", decodeSelp,
            {{"selp.{b16|u16|s16}", "%rs1, %rs2, %rs3, %p1"},
             {"selp.{b32|u32|s32|f32}", "%r1, %r2, %r3, %p1"},
             {"selp.{b64|u64|s64|f64}", "%rd1, %rd2, %rd3, %p1"}});
  registerAddresses(table);
  registerCompare(table);
  registerPolicies(table);
}

} // namespace ts::emu
