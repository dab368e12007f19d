// The bits of instruction descriptors. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05Instruction.h"

#include "../Core/Fault.h"

namespace ts::emu::tcgen05 {
namespace {

struct Bits {
  const MmaForm &form;
  uint32_t value;

  uint32_t field(unsigned low, unsigned bits) const { return value >> low & ((1u << bits) - 1); }
  [[noreturn]] void wrong(unsigned low, unsigned bits, const char *what,
                          const char *expected) const {
    fault(FaultKind::Descriptor,
          "the instruction descriptor 0x%08x of tcgen05.mma.kind::%s has %u in bits %u to %u (%s); "
          "expected %s",
          value, mmaKindName(form.kind), field(low, bits), low, low + bits - 1, what, expected);
  }
  void zero(unsigned low, unsigned bits, const char *what) const {
    if (field(low, bits))
      wrong(low, bits, what, "0");
  }
};

Num operandType(const Bits &bits, unsigned low, const char *what) {
  // Bit 12 belongs to the type of B in all kinds but the 4-bit ones.
  bool fourBits = bits.form.kind == MmaKind::MXF4 || bits.form.kind == MmaKind::MXF4NVF4;
  uint32_t code = bits.field(low, 3);
  switch (bits.form.kind) {
  case MmaKind::F16:
    if (code > 1)
      bits.wrong(low, 3, what, "0 (f16) or 1 (bf16)");
    return code ? Num::BF16 : Num::F16;
  case MmaKind::TF32:
    if (code != 2)
      bits.wrong(low, 3, what, "2 (tf32)");
    return Num::TF32;
  case MmaKind::I8:
    if (code > 1)
      bits.wrong(low, 3, what, "0 (unsigned) or 1 (signed)");
    return code ? Num::S8 : Num::U8;
  default:
    break;
  }
  if (fourBits) {
    if (code != 1)
      bits.wrong(low, 3, what, "1 (e2m1)");
    return Num::E2M1;
  }
  switch (code) {
  case 0:
    return Num::E4M3;
  case 1:
    return Num::E5M2;
  case 3:
    return Num::E2M3;
  case 4:
    return Num::E3M2;
  case 5:
    return Num::E2M1;
  default:
    bits.wrong(low, 3, what, "0 (e4m3), 1 (e5m2), 3 (e2m3), 4 (e3m2) or 5 (e2m1)");
  }
}

Num resultType(const Bits &bits, const MmaShape &shape) {
  uint32_t code = bits.field(4, 2);
  switch (bits.form.kind) {
  case MmaKind::TF32:
    if (code != 1)
      bits.wrong(4, 2, "type of D", "1 (f32)");
    return Num::F32;
  case MmaKind::I8:
    if (code != 2)
      bits.wrong(4, 2, "type of D", "2 (s32)");
    return Num::S32;
  default:
    if (code > 1)
      bits.wrong(4, 2, "type of D", "0 (f16) or 1 (f32)");
    if (code == 0 && (shape.a == Num::BF16 || shape.b == Num::BF16))
      bits.wrong(4, 2, "type of D, with bf16 operands", "1 (f32)");
    return code ? Num::F32 : Num::F16;
  }
}

[[noreturn]] void wrongSize(const Bits &bits, const MmaShape &shape, const char *expected) {
  const MmaForm &form = bits.form;
  fault(FaultKind::Descriptor,
        "tcgen05.mma%s.cta_group::%u.kind::%s with M = %u and N = %u (instruction descriptor "
        "0x%08x); expected %s",
        form.weightStationary ? ".ws" : "", form.group, mmaKindName(form.kind), shape.m, shape.n,
        bits.value, expected);
}

void checkSize(const Bits &bits, const MmaShape &shape) {
  const MmaForm &form = bits.form;
  unsigned m = shape.m, n = shape.n;
  if (form.weightStationary) {
    if ((m != 32 && m != 64 && m != 128) || (n != 64 && n != 128 && (n != 256 || form.sparse)))
      wrongSize(bits, shape,
                form.sparse ? "M of 32, 64 or 128 and N of 64 or 128"
                            : "M of 32, 64 or 128 and N of 64, 128 or 256");
    return;
  }
  if (form.group == 1) {
    if (isBlockScaled(form.kind) ? m != 128 : m != 64 && m != 128)
      wrongSize(bits, shape, isBlockScaled(form.kind) ? "M of 128" : "M of 64 or 128");
  } else if (m != 128 && m != 256) {
    wrongSize(bits, shape, "M of 128 or 256");
  }
  if (form.ashift && m / form.group != 128 && m != 128)
    wrongSize(bits, shape, "M of 128 or 256 with .ashift");
  unsigned step = 8 * form.group;
  if (form.kind == MmaKind::I8 && (form.group == 2 || n > 32))
    step *= 2;
  if (n == 0 || n > 256 || n % step)
    wrongSize(bits, shape,
              form.kind == MmaKind::I8
                  ? (form.group == 1 ? "N of 8, 16, 24, 32 or a multiple of 16 up to 256"
                                     : "N as a multiple of 32 up to 256")
              : form.group == 1 ? "N as a multiple of 8 up to 256"
                                : "N as a multiple of 16 up to 256");
  if (shape.transposeB && numBits(shape.b) <= 8 && n % (16 * form.group))
    wrongSize(bits, shape,
              form.group == 1 ? "N as a multiple of 16 with a transposed B of 8 bits"
                              : "N as a multiple of 32 with a transposed B of 8 bits");
}

void scaleFields(const Bits &bits, MmaShape &shape) {
  bits.zero(0, 2, "reserved");
  bits.zero(3, 1, "K = 128, which sm_100 does not have");
  bits.zero(6, 1, "reserved");
  bits.zero(24, 2, "reserved");
  bits.zero(26, 1, "128-lane scale factors, which sm_100 does not have");
  bits.zero(31, 1,
            bits.form.kind == MmaKind::MXF8F6F4 ? "K = 64, which sm_100 does not have"
                                                : "K = 96, which is of sm_103");
  bool ue8m0 = bits.field(23, 1);
  shape.scale = ue8m0 ? Num::UE8M0 : Num::UE4M3;
  if (!ue8m0 && bits.form.kind != MmaKind::MXF4NVF4)
    bits.wrong(23, 1, "type of the scale factors", "1 (ue8m0)");
  if (!ue8m0 && bits.form.scaleVectors == 2)
    bits.wrong(23, 1, "type of the scale factors with two per row", "1 (ue8m0)");
  shape.scaleIdB = bits.field(4, 2);
  shape.scaleIdA = bits.field(29, 2);
  // The id is the byte in the 32-bit word at which the factors begin.
  if (shape.scaleIdA % bits.form.scaleVectors)
    bits.wrong(29, 2, "scale factor id of A",
               bits.form.scaleVectors == 2 ? "0 or 2" : "0 with four factors per row");
  if (shape.scaleIdB % bits.form.scaleVectors)
    bits.wrong(4, 2, "scale factor id of B",
               bits.form.scaleVectors == 2 ? "0 or 2" : "0 with four factors per row");
}
} // namespace

const char *mmaKindName(MmaKind kind) {
  constexpr const char *names[] = {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  return names[unsigned(kind)];
}

MmaShape decodeInstruction(const MmaForm &form, uint32_t descriptor) {
  Bits bits{form, descriptor};
  MmaShape shape;
  if (!form.sparse)
    bits.zero(2, 1, "sparsity, of an instruction without .sp");
  else if (!bits.field(2, 1))
    bits.wrong(2, 1, "sparsity", "1 with .sp");
  shape.a = operandType(bits, 7, "type of A");
  shape.b = operandType(bits, 10, "type of B");
  shape.negateA = bits.field(13, 1);
  shape.negateB = bits.field(14, 1);
  shape.transposeA = bits.field(15, 1);
  shape.transposeB = bits.field(16, 1);
  shape.n = bits.field(17, 6) * 8;
  if (isBlockScaled(form.kind)) {
    shape.m = bits.field(27, 2) * 128;
    scaleFields(bits, shape);
  } else {
    if (!form.sparse)
      bits.zero(0, 2, "sparsity selector, of an instruction without .sp");
    else if (form.kind == MmaKind::I8 || form.kind == MmaKind::F8F6F4)
      bits.zero(0, 2, "sparsity selector");
    shape.selector = bits.field(0, 2);
    if (form.kind != MmaKind::I8)
      bits.zero(3, 1, "saturation, which is for kind::i8");
    shape.saturate = bits.field(3, 1);
    bits.zero(6, 1, "reserved");
    bits.zero(23, 1, "reserved");
    bits.zero(29, 1, "reserved");
    if (!form.weightStationary)
      bits.zero(30, 2, "maximum shift, which is for .ws");
    constexpr unsigned shifts[] = {0, 8, 16, 32};
    shape.maxShift = shifts[bits.field(30, 2)];
    shape.d = resultType(bits, shape);
    shape.m = bits.field(24, 5) * 16;
  }
  if (form.kind == MmaKind::I8 && (shape.negateA || shape.negateB))
    bits.wrong(13, 2, "negation of A or B", "0 for kind::i8");
  bool fourBits = form.kind == MmaKind::MXF4 || form.kind == MmaKind::MXF4NVF4;
  if (fourBits && (shape.transposeA || shape.transposeB))
    bits.wrong(15, 2, "transposition of A or B", "0 for the 4-bit kinds");
  if (shape.transposeA && form.aInTmem)
    bits.wrong(15, 1, "transposition of A", "0 when A is in tensor memory");
  shape.packing = fourBits ? Packing::Dense : Packing::Padded16;
  if (numBits(shape.a) > 8)
    shape.packing = Packing::Dense;
  // 32 bytes of a row of dense elements; 4- and 6-bit elements of the mixed kinds count as bytes.
  unsigned stored = fourBits ? 4 : std::max(8u, numBits(shape.a));
  shape.storedK = 256 / stored;
  shape.k = shape.storedK * (form.sparse ? 2 : 1);
  checkSize(bits, shape);
  return shape;
}

DataPath dataPath(const MmaForm &form, const MmaShape &shape, unsigned lane) {
  DataPath path;
  path.rows = shape.m / form.group;
  // Layouts A and D: 128 rows; B and E: 64 rows and half of the columns twice; G: 32 rows and a
  // quarter four times; F: 64 rows in every other half of 32 lanes.
  bool halfUsed = !form.weightStationary && form.group == 1 && path.rows == 64;
  unsigned copies = halfUsed ? 1 : 128 / path.rows;
  path.width = shape.n / copies;
  if (lane != 0 && !(halfUsed && lane == 16))
    fault(FaultKind::TensorMemory,
          "D or A of tcgen05.mma begins in lane %u of tensor memory; expected %s for M = %u", lane,
          halfUsed ? "0 or 16" : "0", shape.m);
  for (unsigned l = 0; l < 128; ++l) {
    path.row[l] = int16_t(l % path.rows);
    path.firstN[l] = uint16_t(l / path.rows * path.width);
    if (halfUsed) {
      path.row[l] = l % 32 / 16 == lane / 16 ? int16_t(l / 32 * 16 + l % 16) : int16_t(-1);
      path.firstN[l] = 0;
    }
  }
  return path;
}

ColumnMask decodeColumnMask(uint64_t descriptor, const MmaShape &shape) {
  auto field = [&](unsigned low, unsigned bits) {
    return unsigned(descriptor >> low & ((uint64_t(1) << bits) - 1));
  };
  if (field(36, 3) || field(62, 2))
    fault(FaultKind::Descriptor,
          "the zero-column mask descriptor 0x%016llx has reserved bits set (36 to 38, 62 and 63)",
          (unsigned long long)descriptor);
  ColumnMask mask;
  mask.zero.assign(shape.n, false);
  mask.shift = field(56, 6);
  unsigned limit = shape.m == 32 ? 16 : 32;
  if (mask.shift > limit || mask.shift > shape.maxShift)
    fault(FaultKind::Descriptor,
          "the zero-column mask descriptor shifts B by %u columns; the limit is %u for M = %u, and "
          "the instruction descriptor (bits 30 and 31) announces at most %u",
          mask.shift, limit, shape.m, shape.maxShift);
  if (!field(39, 1))
    return mask;
  unsigned skip = field(40, 8) + 1, use = field(48, 8) + 1;
  unsigned parts = 128 / shape.m, size = shape.n / parts;
  for (unsigned part = 0; part < parts; ++part) {
    bool skipsFirst = field(32 + part, 1);
    unsigned start = field(8 * part, 8);
    for (unsigned i = 0; i < size; ++i) {
      unsigned at = (start + i) % (skip + use);
      mask.zero[part * size + i] = skipsFirst ? at < skip : at >= use;
    }
  }
  return mask;
}

} // namespace ts::emu::tcgen05
