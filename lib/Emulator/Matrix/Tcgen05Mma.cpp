// tcgen05.mma and its .ws form: modifiers and operands. Every active lane issues an operation of
// its own, as on hardware. Of the .sp forms the block-scaled and the shifted ones are listed
// and refused. Source: PTX ISA, "tcgen05.mma" and its .sp, .ws and .ws.sp. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "Tcgen05Multiply.h"

namespace ts::emu::tcgen05 {
namespace {

constexpr const char *sparseNote = "tcgen05.mma.sp with .block_scale or .ashift is not executed";

class MultiplyOp final : public AsyncOp {
public:
  explicit MultiplyOp(MmaWork work) : work(std::move(work)) {}
  void perform(unsigned) override { tcgen05::perform(work); }

private:
  MmaWork work;
};

struct Mma {
  MmaForm form;
  AddressOperand d, aAddress, scaleA, scaleB, metadata;
  Src aDescriptor, bDescriptor, instruction, enableD, columnMask;
  std::vector<Src> disabled;
  unsigned scaleD = 0;
  bool hasColumnMask = false;

  Step operator()(Exec &x) const {
    uint32_t enabled = enableD.predicate(x);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        issue(x, lane, enabled >> lane & 1);
    x.cluster.changed();
    return Step::Next;
  }

  void issue(Exec &x, unsigned lane, bool accumulate) const {
    MmaWork work;
    work.form = form;
    work.ctas = ctasOfGroup(x, form.group, "tcgen05.mma");
    work.shape = decodeInstruction(form, uint32_t(instruction.lane(x, lane)));
    work.d = tmemAddress(d.lane(x, lane));
    work.path = dataPath(form, work.shape, work.d.lane);
    work.bLayout = sharedLayout(bDescriptor.lane(x, lane));
    if (form.aInTmem)
      work.a = tmemAddress(aAddress.lane(x, lane));
    else
      work.aLayout = sharedLayout(aDescriptor.lane(x, lane));
    if (isBlockScaled(form.kind)) {
      // Programs keep the scale factor id in the two highest bits of these addresses.
      work.scaleA = tmemAddress(scaleA.lane(x, lane) & 0x3fffffff);
      work.scaleB = tmemAddress(scaleB.lane(x, lane) & 0x3fffffff);
    }
    if (form.sparse)
      work.metadata = tmemAddress(metadata.lane(x, lane));
    work.accumulate = accumulate;
    work.scaleD = scaleD;
    for (size_t i = 0; i < disabled.size(); ++i)
      work.disabled[i] = uint32_t(disabled[i].lane(x, lane));
    if (hasColumnMask)
      work.mask = decodeColumnMask(columnMask.lane(x, lane), work.shape);
    checkOperands(work);
    Pipeline pipeline(x);
    tellFootprint(x, work, pipeline);
    auto op = std::make_unique<MultiplyOp>(std::move(work));
    op->code = &x.code;
    op->warp = &x.warp;
    op->lane = lane;
    x.cluster.engines->issue(Pipeline::channel(x.warp), true, std::move(op));
  }
};

MmaKind takeKind(Decode &d, bool weightStationary) {
  int kind = d.takeOneOf({"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8", "kind::mxf8f6f4",
                          "kind::mxf4", "kind::mxf4nvf4"});
  if (kind < 0)
    d.refuse("expected .kind:: and one of f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4");
  if (weightStationary && isBlockScaled(MmaKind(kind)))
    d.refuse("the block-scaled kinds do not exist with .ws");
  return MmaKind(kind);
}

void takeScaleVectors(Decode &d, MmaForm &form) {
  if (!isBlockScaled(form.kind))
    return;
  d.need("block_scale");
  int size = d.takeOneOf({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"});
  bool mixed = form.kind == MmaKind::MXF8F6F4;
  switch (size) {
  case -1:
    if (form.kind == MmaKind::MXF4NVF4)
      d.refuse("expected .scale_vec::2X, .scale_vec::4X, .block16 or .block32 with "
               ".kind::mxf4nvf4");
    [[fallthrough]];
  case 4:
    form.scaleVectors = mixed ? 1 : 2;
    break;
  case 3:
    form.scaleVectors = 4;
    break;
  default:
    form.scaleVectors = 1u << size;
  }
  bool fits = mixed                            ? form.scaleVectors == 1
              : form.kind == MmaKind::MXF4NVF4 ? form.scaleVectors >= 2
                                               : form.scaleVectors == 2;
  if (!fits)
    d.refuse("this number of scale factors does not exist with .kind::%s", mmaKindName(form.kind));
}

/// Which buffers there are differs; what they are for does not matter here.
void takeCollector(Decode &d, const MmaForm &form) {
  std::string_view part = d.peek();
  if (part.rfind("collector::", 0) != 0)
    return;
  bool known = false;
  for (const char *buffer : form.weightStationary
                                ? std::initializer_list<const char *>{"b0", "b1", "b2", "b3"}
                                : std::initializer_list<const char *>{"a"})
    for (const char *use : {"fill", "use", "lastuse", "discard"}) {
      if (form.ashift && (use[0] == 'f' || use[0] == 'u'))
        continue;
      known |= d.take(format("collector::%s::%s", buffer, use));
    }
  if (!known)
    d.refuse("the collector usage .%s does not exist here", std::string(part).c_str());
}

std::unique_ptr<Op> decodeMma(Decode &d) {
  Mma op;
  op.form.weightStationary = d.take("ws");
  op.form.sparse = d.take("sp");
  op.form.group = takeGroup(d);
  if (op.form.weightStationary && op.form.group != 1)
    d.refuse("tcgen05.mma.ws exists with .cta_group::1 only");
  op.form.kind = takeKind(d, op.form.weightStationary);
  takeScaleVectors(d, op.form);
  op.form.ashift = !op.form.weightStationary && !isBlockScaled(op.form.kind) && d.take("ashift");
  if (op.form.sparse && (op.form.ashift || isBlockScaled(op.form.kind)))
    d.refuse("%s", sparseNote);
  takeCollector(d, op.form);
  d.end();

  size_t next = 0;
  op.d = d.address(next++);
  op.form.aInTmem = d.operand(next).kind == ptx::Operand::Kind::Address;
  if (op.form.aInTmem)
    op.aAddress = d.address(next++);
  else
    op.aDescriptor = d.src(next++, ptx::Type::B64);
  if (op.form.ashift && !op.form.aInTmem)
    d.refuse(".ashift needs matrix A in tensor memory");
  op.bDescriptor = d.src(next++, ptx::Type::B64);
  if (op.form.sparse)
    op.metadata = d.address(next++);
  op.instruction = d.src(next++, ptx::Type::B32);
  if (isBlockScaled(op.form.kind)) {
    op.scaleA = d.address(next++);
    op.scaleB = d.address(next++);
  } else if (!op.form.weightStationary && d.operand(next).kind == ptx::Operand::Kind::Vector) {
    op.disabled = d.sources(d.operand(next++), ptx::Type::B32);
    if (op.disabled.size() != 4 * op.form.group)
      d.refuse("expected %u registers of disabled lanes, found %zu", 4 * op.form.group,
               op.disabled.size());
  }
  op.enableD = d.predicate(next++);
  if (next < d.numOperands() && op.form.weightStationary) {
    op.hasColumnMask = true;
    op.columnMask = d.src(next++, ptx::Type::B64);
  } else if (next < d.numOperands()) {
    if (op.form.kind != MmaKind::F16 && op.form.kind != MmaKind::TF32)
      d.refuse("scaling of D exists with .kind::f16 and .kind::tf32 only");
    uint64_t scale = d.immediate(next++);
    if (scale > 15)
      d.refuse("D can be scaled by 2^0 to 2^-15, found 2^-%llu", (unsigned long long)scale);
    op.scaleD = unsigned(scale);
  }
  d.needOperands(next, next);
  return makeOp(std::move(op));
}
} // namespace

#define TS_GROUP "{cta_group::1|cta_group::2}"
#define TS_PLAIN "{kind::f16|kind::tf32|kind::f8f6f4|kind::i8}"
#define TS_COLLECTOR                                                                               \
  "[.collector::a::fill|.collector::a::use|.collector::a::lastuse|.collector::a::discard]"
#define TS_COLLECTOR_B                                                                             \
  "[.collector::b0::fill|.collector::b0::use|.collector::b0::lastuse|.collector::b0::discard|"     \
  ".collector::b1::fill|.collector::b1::use|.collector::b1::lastuse|.collector::b1::discard|"      \
  ".collector::b2::fill|.collector::b2::use|.collector::b2::lastuse|.collector::b2::discard|"      \
  ".collector::b3::fill|.collector::b3::use|.collector::b3::lastuse|.collector::b3::discard]"
#define TS_SHIFTED "[.collector::a::lastuse|.collector::a::discard]"

void registerMma(DecoderTable &table) {
  table.add(
      "tcgen05.mma", decodeMma,
      {
          {"tcgen05.mma." TS_GROUP "." TS_PLAIN TS_COLLECTOR, "[%r1], %rd1, %rd2, %r2, %p1"},
          {"tcgen05.mma." TS_GROUP "." TS_PLAIN TS_COLLECTOR, "[%r1], [%r3], %rd2, %r2, %p1"},
          {"tcgen05.mma." TS_GROUP "." TS_PLAIN ".ashift" TS_SHIFTED,
           "[%r1], [%r3], %rd2, %r2, %p1"},
          {"tcgen05.mma.cta_group::1." TS_PLAIN TS_COLLECTOR,
           "[%r1], %rd1, %rd2, %r2, {%r4, %r5, %r6, %r7}, %p1"},
          {"tcgen05.mma.cta_group::2." TS_PLAIN TS_COLLECTOR,
           "[%r1], %rd1, %rd2, %r2, {%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}, %p1"},
          {"tcgen05.mma." TS_GROUP ".{kind::f16|kind::tf32}" TS_COLLECTOR,
           "[%r1], %rd1, %rd2, %r2, %p1, 3"},
          {"tcgen05.mma." TS_GROUP
           ".kind::mxf8f6f4.block_scale[.scale_vec::1X|.block32]" TS_COLLECTOR,
           "[%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1"},
          {"tcgen05.mma." TS_GROUP ".kind::mxf4.block_scale[.scale_vec::2X|.block32]" TS_COLLECTOR,
           "[%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1"},
          {"tcgen05.mma." TS_GROUP
           ".kind::mxf4nvf4.block_scale.{scale_vec::2X|scale_vec::4X|block16|block32}" TS_COLLECTOR,
           "[%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1"},
          {"tcgen05.mma." TS_GROUP
           ".kind::mxf8f6f4.block_scale[.scale_vec::1X|.block32]" TS_COLLECTOR,
           "[%r1], [%r5], %rd2, %r2, [%r3], [%r4], %p1"},
          {"tcgen05.mma." TS_GROUP ".kind::mxf4.block_scale[.scale_vec::2X|.block32]" TS_COLLECTOR,
           "[%r1], [%r5], %rd2, %r2, [%r3], [%r4], %p1"},
          {"tcgen05.mma." TS_GROUP
           ".kind::mxf4nvf4.block_scale.{scale_vec::2X|scale_vec::4X|block16|block32}" TS_COLLECTOR,
           "[%r1], [%r5], %rd2, %r2, [%r3], [%r4], %p1"},
          {"tcgen05.mma.ws.cta_group::1." TS_PLAIN TS_COLLECTOR_B, "[%r1], %rd1, %rd2, %r2, %p1"},
          {"tcgen05.mma.ws.cta_group::1." TS_PLAIN TS_COLLECTOR_B, "[%r1], [%r3], %rd2, %r2, %p1"},
          {"tcgen05.mma.ws.cta_group::1." TS_PLAIN, "[%r1], %rd1, %rd2, %r2, %p1, %rd3"},
          // Sparse A.
          {"tcgen05.mma.sp." TS_GROUP "." TS_PLAIN TS_COLLECTOR,
           "[%r1], %rd1, %rd2, [%r3], %r2, %p1"},
          {"tcgen05.mma.sp." TS_GROUP "." TS_PLAIN TS_COLLECTOR,
           "[%r1], [%r4], %rd2, [%r3], %r2, %p1"},
          {"tcgen05.mma.sp.cta_group::1." TS_PLAIN TS_COLLECTOR,
           "[%r1], %rd1, %rd2, [%r3], %r2, {%r4, %r5, %r6, %r7}, %p1"},
          {"tcgen05.mma.sp.cta_group::2." TS_PLAIN TS_COLLECTOR,
           "[%r1], %rd1, %rd2, [%r3], %r2, {%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}, %p1"},
          {"tcgen05.mma.sp." TS_GROUP ".{kind::f16|kind::tf32}" TS_COLLECTOR,
           "[%r1], %rd1, %rd2, [%r3], %r2, %p1, 3"},
          {"tcgen05.mma.ws.sp.cta_group::1." TS_PLAIN TS_COLLECTOR_B,
           "[%r1], %rd1, %rd2, [%r3], %r2, %p1"},
          {"tcgen05.mma.ws.sp.cta_group::1." TS_PLAIN TS_COLLECTOR_B,
           "[%r1], [%r4], %rd2, [%r3], %r2, %p1"},
          {"tcgen05.mma.ws.sp.cta_group::1." TS_PLAIN, "[%r1], %rd1, %rd2, [%r3], %r2, %p1, %rd3"},
          {"tcgen05.mma.sp." TS_GROUP "." TS_PLAIN ".ashift" TS_SHIFTED,
           "[%r1], [%r4], %rd2, [%r3], %r2, %p1", sparseNote},
          {"tcgen05.mma.sp." TS_GROUP
           ".kind::mxf8f6f4.block_scale[.scale_vec::1X|.block32]" TS_COLLECTOR,
           "[%r1], %rd1, %rd2, [%r3], %r2, [%r5], [%r6], %p1", sparseNote},
          {"tcgen05.mma.sp." TS_GROUP
           ".kind::mxf4.block_scale[.scale_vec::2X|.block32]" TS_COLLECTOR,
           "[%r1], %rd1, %rd2, [%r3], %r2, [%r5], [%r6], %p1", sparseNote},
          {"tcgen05.mma.sp." TS_GROUP
           ".kind::mxf4nvf4.block_scale.{scale_vec::2X|scale_vec::4X|block16|block32}" TS_COLLECTOR,
           "[%r1], %rd1, %rd2, [%r3], %r2, [%r5], [%r6], %p1", sparseNote},
      });
}

#undef TS_GROUP
#undef TS_PLAIN
#undef TS_COLLECTOR
#undef TS_COLLECTOR_B
#undef TS_SHIFTED

} // namespace ts::emu::tcgen05
