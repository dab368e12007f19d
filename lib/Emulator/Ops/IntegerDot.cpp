// Dot products of packed bytes and halves; the scalar and SIMD video instructions are known but not
// executed. Source: PTX ISA, dp4a, dp2a, "Video Instructions". SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "IntegerTypes.h"

namespace ts::emu {
namespace {

using ptx::Type;

bool needSigned(Decode &d) {
  int kind = d.takeOneOf({"u32", "s32"});
  if (kind < 0)
    d.refuse("expected .u32 or .s32");
  return kind == 1;
}

uint32_t element(uint32_t packed, unsigned at, unsigned bits, bool isSigned) {
  uint32_t raw = packed >> at << (32 - bits);
  return isSigned ? uint32_t(int32_t(raw) >> (32 - bits)) : raw >> (32 - bits);
}

std::unique_ptr<Op> decodeDp4a(Decode &d) {
  bool signedA = needSigned(d), signedB = needSigned(d);
  d.end();
  d.needOperands(4, 4);
  return typed<uint32_t>(d.dst(0), d.src(1, Type::B32), d.src(2, Type::B32), d.src(3, Type::B32),
                         [=](uint32_t a, uint32_t b, uint32_t c) {
                           for (unsigned i = 0; i < 32; i += 8)
                             c += element(a, i, 8, signedA) * element(b, i, 8, signedB);
                           return c;
                         });
}

std::unique_ptr<Op> decodeDp2a(Decode &d) {
  int high = d.takeOneOf({"lo", "hi"});
  if (high < 0)
    d.refuse("expected .lo or .hi");
  bool signedA = needSigned(d), signedB = needSigned(d);
  d.end();
  d.needOperands(4, 4);
  unsigned first = high ? 16 : 0;
  return typed<uint32_t>(d.dst(0), d.src(1, Type::B32), d.src(2, Type::B32), d.src(3, Type::B32),
                         [=](uint32_t a, uint32_t b, uint32_t c) {
                           for (unsigned i = 0; i < 2; ++i)
                             c += element(a, 16 * i, 16, signedA) *
                                  element(b, first + 8 * i, 8, signedB);
                           return c;
                         });
}

constexpr const char *noVideo = "video instructions are not executed";
std::unique_ptr<Op> decodeVideo(Decode &d) { d.refuse("%s", noVideo); }
} // namespace

void registerIntegerDot(DecoderTable &table) {
  table.add("dp4a", decodeDp4a, {{"dp4a.{u32|s32}.{u32|s32}", "%r1, %r2, %r3, %r4"}});
  table.add("dp2a", decodeDp2a, {{"dp2a.{lo|hi}.{u32|s32}.{u32|s32}", "%r1, %r2, %r3, %r4"}});
  table.add("vadd", decodeVideo,
            {{"vadd.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3", noVideo}});
  table.add("vsub", decodeVideo,
            {{"vsub.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3", noVideo}});
  table.add("vabsdiff", decodeVideo,
            {{"vabsdiff.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3", noVideo}});
  table.add("vmin", decodeVideo,
            {{"vmin.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3", noVideo}});
  table.add("vmax", decodeVideo,
            {{"vmax.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3", noVideo}});
  table.add("vshl", decodeVideo,
            {{"vshl.{u32|s32}.{u32|s32}.u32[.sat].{clamp|wrap}", "%r1, %r2, %r3", noVideo}});
  table.add("vshr", decodeVideo,
            {{"vshr.{u32|s32}.{u32|s32}.u32[.sat].{clamp|wrap}", "%r1, %r2, %r3", noVideo}});
  table.add("vmad", decodeVideo,
            {{"vmad.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vset", decodeVideo,
            {{"vset.{u32|s32}.{u32|s32}.{eq|ne|lt|le|gt|ge}", "%r1, %r2, %r3", noVideo}});
  table.add("vadd2", decodeVideo,
            {{"vadd2.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vsub2", decodeVideo,
            {{"vsub2.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vavrg2", decodeVideo,
            {{"vavrg2.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vabsdiff2", decodeVideo,
            {{"vabsdiff2.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vmin2", decodeVideo,
            {{"vmin2.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vmax2", decodeVideo,
            {{"vmax2.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vset2", decodeVideo,
            {{"vset2.{u32|s32}.{u32|s32}.{eq|ne|lt|le|gt|ge}", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vadd4", decodeVideo,
            {{"vadd4.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vsub4", decodeVideo,
            {{"vsub4.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vavrg4", decodeVideo,
            {{"vavrg4.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vabsdiff4", decodeVideo,
            {{"vabsdiff4.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vmin4", decodeVideo,
            {{"vmin4.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vmax4", decodeVideo,
            {{"vmax4.{u32|s32}.{u32|s32}.{u32|s32}[.sat]", "%r1, %r2, %r3, %r4", noVideo}});
  table.add("vset4", decodeVideo,
            {{"vset4.{u32|s32}.{u32|s32}.{eq|ne|lt|le|gt|ge}", "%r1, %r2, %r3, %r4", noVideo}});
}

} // namespace ts::emu
