// wgmma.mma_async: every form, every layout, numbers worked out in WgmmaKernel.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../lib/Emulator/Core/Decode.h"
#include "WgmmaKernel.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

TileLayout layout(unsigned swizzle, bool kMajor = true) {
  TileLayout tile;
  tile.swizzle = swizzle;
  tile.kMajor = kMajor;
  return tile;
}

constexpr unsigned swizzles[] = {0, 32, 64, 128};

/// All N of a kind; A alternates between descriptor and registers, layouts change with N.
void everyN(WgmmaCase c, bool integerN) {
  for (unsigned n = 8; n <= 256; n += 8) {
    if (integerN && n > 32 && n % 16)
      continue;
    unsigned turn = n / 8 + unsigned(c.a.name.size() + c.b.name[1]);
    c.n = n;
    c.layoutA = layout(swizzles[turn % 4]);
    c.layoutB = layout(swizzles[(turn / 4) % 4]);
    if (c.sparse && c.layoutB.swizzle == 32) // B takes 64 bytes of K
      c.layoutB.swizzle = 64;
    c.registersA = turn % 2;
    c.accumulate = turn % 3 == 0;
    EXPECT_EQ(c.compare(c.run()), "");
  }
}
} // namespace

TEST(Wgmma, EveryShapeOf16Bits) {
  everyN({f16, f16, "f32"}, false);
  everyN({f16, f16, "f16"}, false);
  everyN({bf16, bf16, "f32"}, false);
}

TEST(Wgmma, EveryShapeOfTf32) { everyN({tf32, tf32, "f32"}, false); }

TEST(Wgmma, EveryShapeOfFp8) {
  for (const Operand &a : {e4m3, e5m2})
    for (const Operand &b : {e4m3, e5m2})
      for (const char *d : {"f32", "f16"})
        everyN({a, b, d}, false);
}

TEST(Wgmma, EveryShapeOfIntegers) {
  for (const Operand &a : {s8, u8})
    for (const Operand &b : {s8, u8})
      for (unsigned saturate : {0u, 1u, 2u}) {
        WgmmaCase c{a, b, "s32"};
        c.satBefore = saturate == 1;
        c.satBehind = saturate == 2;
        everyN(c, true);
      }
}

TEST(Wgmma, EveryShapeOfBits) { everyN({b1, b1, "s32"}, true); }

TEST(Wgmma, SwizzlesAndMajorness) {
  for (unsigned swizzle : swizzles)
    for (bool kMajorA : {true, false})
      for (bool kMajorB : {true, false})
        for (unsigned n : {64u, 128u, 256u})
          for (const Operand &type : {f16, bf16}) {
            WgmmaCase c{type, type, "f32", n, /*steps=*/4};
            c.layoutA = layout(swizzle, kMajorA);
            c.layoutB = layout(swizzle, kMajorB);
            EXPECT_EQ(c.compare(c.run()), "")
                << "swizzle " << swizzle << " A " << kMajorA << " B " << kMajorB;
          }
}

TEST(Wgmma, StepsInsideTheAtom) { // A in registers, other element sizes, boxes behind each other
  for (unsigned swizzle : swizzles)
    for (const Operand &type : {tf32, e4m3, s8, b1}) {
      WgmmaCase c{type, type, type.isFloat() ? "f32" : "s32", 32, /*steps=*/6};
      c.layoutA = c.layoutB = layout(swizzle);
      c.accumulate = true;
      EXPECT_EQ(c.compare(c.run()), "") << "swizzle " << swizzle;
      c.registersA = true;
      EXPECT_EQ(c.compare(c.run()), "") << "swizzle " << swizzle << " registers";
    }
}

TEST(Wgmma, Negation) {
  for (int a : {1, -1})
    for (int b : {1, -1}) {
      WgmmaCase c{bf16, bf16, "f32", 16};
      c.signA = a;
      c.signB = b;
      c.accumulate = true;
      EXPECT_EQ(c.compare(c.run()), "");
    }
}

//===-- Sparse A -----------------------------------------------------------------------------===//

TEST(Wgmma, EveryShapeOfSparse) {
  for (unsigned selector : {0u, 1u})
    for (WgmmaCase c : {WgmmaCase{f16, f16, "f32"}, WgmmaCase{f16, f16, "f16"},
                        WgmmaCase{bf16, bf16, "f32"}, WgmmaCase{tf32, tf32, "f32"}}) {
      c.sparse = true;
      c.selector = selector;
      everyN(c, false);
    }
  for (const Operand &a : {e4m3, e5m2})
    for (const Operand &b : {e4m3, e5m2})
      for (const char *d : {"f32", "f16"}) {
        WgmmaCase c{a, b, d};
        c.sparse = true;
        everyN(c, false);
      }
}

TEST(Wgmma, EveryShapeOfSparseIntegers) {
  for (const Operand &a : {s8, u8})
    for (const Operand &b : {s8, u8})
      for (unsigned saturate : {0u, 1u, 2u}) {
        WgmmaCase c{a, b, "s32"};
        c.sparse = true;
        c.satBefore = saturate == 1;
        c.satBehind = saturate == 2;
        everyN(c, true);
      }
}

TEST(Wgmma, SparseLayouts) {
  for (bool kMajorA : {true, false})
    for (bool kMajorB : {true, false})
      for (unsigned swizzle : {64u, 128u}) {
        WgmmaCase c{bf16, bf16, "f32", 64, /*steps=*/2};
        c.sparse = true;
        c.selector = 1;
        c.layoutA = layout(swizzle, kMajorA);
        c.layoutB = layout(swizzle, kMajorB);
        EXPECT_EQ(c.compare(c.run()), "") << swizzle << kMajorA << kMajorB;
      }
}

//===-- Numbers at the edges -----------------------------------------------------------------===//

namespace {
/// m64n8k32 on bytes that are all `a` and `b`, on D = `start`; the first result.
uint32_t integerEdge(const std::string &types, uint8_t a, uint8_t b, uint32_t start) {
  test::Run run;
  run.target = "sm_90a";
  run.globals = ".shared .align 1024 .b8 smem[4096];";
  run.input.assign(4096, a);
  std::fill(run.input.begin() + 2048, run.input.end(), b);
  run.options.block = {128, 1, 1};
  uint64_t bits = uint64_t(8) << 16 | uint64_t(16) << 32;
  run.body = fillShared(4096) + descriptor(20, 0, bits) + descriptor(21, 2048, bits);
  for (unsigned i = 1; i <= 4; ++i)
    run.body += "mov.u32 %r" + std::to_string(i) + ", " + std::to_string(start) + ";\n";
  run.body += "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k32." + types +
              " {%r1, %r2, %r3, %r4}, %rd20, %rd21, 1;\n" + waitAll() + storeResults(4);
  Ran ran = runPtx(run);
  EXPECT_TRUE(ran.ok()) << ran.text();
  return ran.at<uint32_t>(5);
}
} // namespace

TEST(Wgmma, IntegersWrapOrSaturate) {
  EXPECT_EQ(integerEdge("s32.u8.u8", 255, 255, 0), 32u * 255 * 255);
  EXPECT_EQ(integerEdge("s32.s8.u8", 255, 255, 0), uint32_t(-32 * 255));
  EXPECT_EQ(integerEdge("s32.u8.s8", 255, 128, 0), uint32_t(-32 * 255 * 128));
  EXPECT_EQ(integerEdge("s32.u8.u8", 1, 1, 0x7ffffff0), 0x80000010u);
  EXPECT_EQ(integerEdge("s32.u8.u8.satfinite", 1, 1, 0x7ffffff0), 0x7fffffffu);
  EXPECT_EQ(integerEdge("s32.s8.u8.satfinite", 255, 1, 0x80000010), 0x80000000u);
}

namespace {
/// "a[.b].{c|d}" written out.
std::vector<std::string> writtenOut(const std::string &pattern) {
  size_t open = pattern.find_first_of("[{");
  if (open == std::string::npos)
    return {pattern};
  size_t close = pattern.find_first_of("]}", open);
  std::string inner = pattern.substr(open + 1, close - open - 1);
  std::vector<std::string> all;
  if (pattern[open] == '[')
    inner += "|";
  for (size_t at = 0; at <= inner.size();) {
    size_t bar = std::min(inner.find('|', at), inner.size());
    for (std::string &text : writtenOut(pattern.substr(0, open) + inner.substr(at, bar - at) +
                                        pattern.substr(close + 1)))
      all.push_back(std::move(text));
    at = bar + 1;
  }
  return all;
}
} // namespace

TEST(Wgmma, FormsOfTheTableDecode) {
  test::Run run;
  run.target = "sm_90a";
  unsigned count = 0;
  for (const DecoderTable::Form &form : decoderTable().forms())
    if (std::string_view(form.pattern).rfind("wgmma", 0) == 0)
      for (const std::string &text : writtenOut(form.pattern)) {
        run.body += text + " " + form.operands + ";\n";
        ++count;
      }
  EXPECT_GT(count, 1000u);
  if (const char *path = getenv("TS_WRITE_WGMMA_FORMS")) { // for ptxas
    FILE *file = fopen(path, "w");
    fputs(ptxModule(run).c_str(), file);
    fclose(file);
  }
  Device device;
  ts::Result<unsigned> module = device.load(ptxModule(run), "forms.ptx", /*strict=*/true);
  EXPECT_TRUE(module) << module.error().message;
}

TEST(Wgmma, DecodesOnlyWhatExists) {
  auto refused = [](const std::string &text) {
    test::Run run;
    run.target = "sm_90a";
    run.options.block = {128, 1, 1};
    run.body = text;
    return runPtx(run).faults(FaultKind::Unsupported);
  };
  EXPECT_TRUE(refused("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 " + registerList(1, 20) +
                      ", %rd1, %rd2, 1;"));
  EXPECT_TRUE(refused("wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r1, %r2}, %rd1, %rd2, "
                      "1, 1, 1, 0, 0;"));
  EXPECT_TRUE(refused("wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {%r1, %r2, %r3, %r4}, "
                      "%rd1, %rd2, 1, 1, 1, 0, 0;"));
  EXPECT_TRUE(refused("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc "
                      "{%r1, %r2, %r3, %r4}, %rd1, %rd2, 1;"));
  EXPECT_TRUE(refused("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2}, %rd1, %rd2, "
                      "1, 1, 1, 0, 0;"));
}
