// tcgen05.cp, from shared memory to tensor memory, and tcgen05.shift, one row down within a quarter
// of the lanes. Both are asynchronous, in the order of the issuing warp's mma operations.
// The source of a copy is a K-major matrix as the descriptor of an operand describes it: a row of
// 16 or 32 bytes for each lane. What the figures of PTX ISA leave to the reader agrees with the
// copy traits of CUTLASS (C++): .4x256b goes to one lane in each quarter. Source: PTX ISA, "Tensor
// Memory Data Movement Instructions". SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Descriptors.h"
#include "MatrixCore.h"
#include "Tcgen05.h"

namespace ts::emu::tcgen05 {
namespace {

constexpr unsigned quarter = 32, wordsPerChunk = 4;

enum class CopyShape : uint8_t { C128x256b, C4x256b, C128x128b, C64x128b02, C64x128b01, C32x128b };
enum class Source : uint8_t { Plain, SixBits, FourBits };

struct CopyForm {
  CopyShape shape = CopyShape::C128x256b;
  Source source = Source::Plain;
  unsigned group = 1;

  unsigned rows() const {
    constexpr unsigned rows[] = {128, 4, 128, 64, 64, 32};
    return rows[unsigned(shape)];
  }
  unsigned chunks() const { return shape <= CopyShape::C4x256b ? 2 : 1; }
  unsigned columns() const { return chunks() * wordsPerChunk; }
  /// Bytes that are read of a chunk of 16; the rest is padding.
  unsigned chunkBytes() const {
    return source == Source::Plain ? 16 : source == Source::SixBits ? 12 : 8;
  }
  /// Lanes (from the address) that row `row` goes to.
  std::vector<unsigned> lanes(unsigned row) const {
    switch (shape) {
    case CopyShape::C4x256b:
      return {row * quarter};
    case CopyShape::C64x128b02: // quarters 0 and 2 get the same, 1 and 3
      return {row, row + 64};
    case CopyShape::C64x128b01: // quarters 0 and 1, 2 and 3
      return {row % quarter + row / quarter * 64, row % quarter + row / quarter * 64 + quarter};
    case CopyShape::C32x128b:
      return {row, row + 32, row + 64, row + 96};
    default:
      return {row};
    }
  }
};

/// 16 elements of 4 or 6 bits become bytes: 4 bits go to the middle, 6 bits to the low end.
void expand(Source source, const uint8_t *from, uint8_t *to) {
  if (source == Source::Plain) {
    memcpy(to, from, operandChunkBytes);
    return;
  }
  unsigned bits = source == Source::SixBits ? 6 : 4;
  for (unsigned i = 0; i < 16; ++i) {
    unsigned bit = i * bits;
    unsigned two = from[bit / 8] | (bit % 8 + bits > 8 ? unsigned(from[bit / 8 + 1]) << 8 : 0);
    unsigned value = two >> bit % 8 & ((1u << bits) - 1);
    to[i] = uint8_t(bits == 4 ? value << 2 : value);
  }
}

class CopyOp final : public AsyncOp {
public:
  CopyOp(CopyForm form, std::vector<Cta *> ctas, std::vector<uint32_t> sources, TmemAddress to)
      : form(form), ctas(std::move(ctas)), sources(std::move(sources)), to(to) {}
  unsigned pieces() const override { return 2; }
  void perform(unsigned piece) override {
    unsigned half = form.rows() / 2;
    for (Cta *cta : ctas)
      for (unsigned row = piece * half; row < (piece + 1) * half; ++row)
        for (unsigned c = 0; c < form.chunks(); ++c) {
          uint8_t bytes[operandChunkBytes];
          expand(form.source, cta->shared.data() + sources[row * form.chunks() + c], bytes);
          for (unsigned lane : form.lanes(row))
            memcpy(&cta->tmem.cell(to.lane + lane, to.column + c * wordsPerChunk), bytes,
                   sizeof bytes);
        }
  }

private:
  CopyForm form;
  std::vector<Cta *> ctas;
  std::vector<uint32_t> sources; // of the chunks
  TmemAddress to;
};

struct Copy {
  CopyForm form;
  AddressOperand address;
  Src descriptor;

  Step operator()(Exec &x) const {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        issue(x, lane);
    x.cluster.changed();
    return Step::Next;
  }

  void issue(Exec &x, unsigned lane) const {
    std::vector<Cta *> ctas = ctasOfGroup(x, form.group, "tcgen05.cp");
    TmemAddress to = tmemAddress(address.lane(x, lane));
    bool anyLane = form.shape == CopyShape::C4x256b;
    if (anyLane ? to.lane >= quarter : to.lane != 0)
      fault(FaultKind::TensorMemory, "tcgen05.cp to lane %u of tensor memory; expected %s", to.lane,
            anyLane ? "a lane below 32" : "lane 0");
    SmemLayout layout = sharedLayout(descriptor.lane(x, lane));
    std::vector<uint32_t> chunks;
    operandChunks(layout, true, form.rows(), form.chunks() * operandChunkBytes, 8, chunks);
    Pipeline pipeline(x);
    Clock known = pipeline.known(Role::Fill);
    Event event = pipeline.newEvent(Role::Fill);
    Checker &checker = *x.cluster.checker;
    for (const Cta *cta : ctas) {
      checkColumns(*cta, to.column, form.columns(), form.group, "tcgen05.cp");
      checkChunks(cta->shared, chunks, "the source of tcgen05.cp");
      Access read{AccessKind::Read, Proxy::Async, event, &known, x.siteId()};
      read.lane = int(lane);
      read.warp = x.warp.agent;
      for (auto [begin, size] : operandRanges(chunks, form.chunkBytes()))
        checker.shared(read, {cta->rank, begin, size});
      const Access write{AccessKind::Write, Proxy::Tensor, event, &known, x.siteId()};
      if (!anyLane)
        checker.tmem(write, {cta->rank, 0, Tmem::lanes, to.column, form.columns()});
      else
        for (unsigned row = 0; row < form.rows(); ++row)
          checker.tmem(write, {cta->rank, to.lane + row * quarter, 1, to.column, form.columns()});
    }
    pipeline.issued();
    auto op = std::make_unique<CopyOp>(form, std::move(ctas), std::move(chunks), to);
    op->code = &x.code;
    op->warp = &x.warp;
    op->lane = lane;
    op->event = event;
    x.cluster.engines->issue(Pipeline::channel(x.warp), true, std::move(op));
  }
};

std::unique_ptr<Op> decodeCopy(Decode &d) {
  Copy op{};
  op.form.group = takeGroup(d);
  int shape = d.takeOneOf({"128x256b", "4x256b", "128x128b", "64x128b", "32x128b"});
  if (shape < 0)
    d.refuse("expected the shape .128x256b, .4x256b, .128x128b, .64x128b or .32x128b");
  op.form.shape = CopyShape(shape);
  if (shape == 3) {
    int pairs = d.takeOneOf({"warpx2::02_13", "warpx2::01_23"});
    if (pairs < 0)
      d.refuse("expected .warpx2::02_13 or .warpx2::01_23 behind .64x128b");
    op.form.shape = pairs == 0 ? CopyShape::C64x128b02 : CopyShape::C64x128b01;
  } else if (shape == 4) {
    d.need("warpx4");
    op.form.shape = CopyShape::C32x128b;
  }
  if (d.take("b8x16")) {
    int source = d.takeOneOf({"b6x16_p32", "b4x16_p64"});
    if (source < 0)
      d.refuse("expected .b6x16_p32 or .b4x16_p64 behind .b8x16");
    op.form.source = source == 0 ? Source::SixBits : Source::FourBits;
  }
  d.end();
  d.needOperands(2, 2);
  op.address = d.address(0);
  op.descriptor = d.src(1, ptx::Type::B64);
  return makeOp(op);
}

constexpr unsigned shiftColumns = 8; // 32 bytes

class ShiftOp final : public AsyncOp {
public:
  ShiftOp(std::vector<Cta *> ctas, TmemAddress at) : ctas(std::move(ctas)), at(at) {}
  void perform(unsigned) override {
    for (Cta *cta : ctas)
      for (unsigned lane = at.lane; lane + 1 < at.lane + quarter; ++lane)
        memcpy(&cta->tmem.cell(lane, at.column), &cta->tmem.cell(lane + 1, at.column),
               shiftColumns * sizeof(uint32_t));
  }

private:
  std::vector<Cta *> ctas;
  TmemAddress at;
};

struct Shift {
  unsigned group;
  AddressOperand address;

  Step operator()(Exec &x) const {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        issue(x, lane);
    x.cluster.changed();
    return Step::Next;
  }

  void issue(Exec &x, unsigned lane) const {
    std::vector<Cta *> ctas = ctasOfGroup(x, group, "tcgen05.shift");
    TmemAddress at = tmemAddress(address.lane(x, lane));
    if (at.lane % quarter || at.lane >= Tmem::lanes)
      fault(FaultKind::TensorMemory,
            "tcgen05.shift from lane %u of tensor memory; expected a multiple of 32 below 128",
            at.lane);
    Pipeline pipeline(x);
    Clock known = pipeline.known(Role::Fill);
    Event event = pipeline.newEvent(Role::Fill);
    for (const Cta *cta : ctas) {
      checkColumns(*cta, at.column, shiftColumns, group, "tcgen05.shift");
      Access access{AccessKind::Read, Proxy::Tensor, event, &known, x.siteId()};
      x.cluster.checker->tmem(access,
                              {cta->rank, at.lane + 1, quarter - 1, at.column, shiftColumns});
      access.kind = AccessKind::Write;
      // Its own reads come first.
      known.order.learn(event);
      known.tensor.learn(event);
      x.cluster.checker->tmem(access, {cta->rank, at.lane, quarter - 1, at.column, shiftColumns});
    }
    pipeline.issued();
    auto op = std::make_unique<ShiftOp>(std::move(ctas), at);
    op->code = &x.code;
    op->warp = &x.warp;
    op->lane = lane;
    op->event = event;
    x.cluster.engines->issue(Pipeline::channel(x.warp), true, std::move(op));
  }
};

std::unique_ptr<Op> decodeShift(Decode &d) {
  Shift op{};
  bool down = d.take("down"); // ptxas takes both orders
  op.group = takeGroup(d);
  if (!down)
    d.need("down");
  d.end();
  d.needOperands(1, 1);
  op.address = d.address(0);
  return makeOp(op);
}
} // namespace

void registerCopy(DecoderTable &table) {
  table.add("tcgen05.cp", decodeCopy,
            {{"tcgen05.cp.{cta_group::1|cta_group::2}.{128x256b|4x256b|128x128b|"
              "64x128b.warpx2::02_13|64x128b.warpx2::01_23|32x128b.warpx4}"
              "[.b8x16.b6x16_p32|.b8x16.b4x16_p64]",
              "[%r1], %rd1"}});
  table.add("tcgen05.shift", decodeShift,
            {{"tcgen05.shift.{cta_group::1|cta_group::2}.down", "[%r1]"},
             {"tcgen05.shift.down.{cta_group::1|cta_group::2}", "[%r1]"}});
}

} // namespace ts::emu::tcgen05
