// Tensor stores, scatters and reductions; copies between the CTAs of a cluster.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorReference.h"

using namespace ts;
using namespace ts::emu;
using namespace ts::emu::test;

namespace {

const char *const globals = ".shared .align 1024 .b8 smem[8192];\n.shared .align 8 .b64 bar;\n";
std::string waitAll() { return "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"; }

/// Fills shared memory from the input, and stores the box to the output.
test::Run storeProgram(const TensorMapPlan &plan, const std::vector<int> &start, size_t bytes,
                       const std::string &form = "", const std::string &operands = "") {
  test::Run run;
  run.globals = globals;
  run.options.block = {1, 1, 1};
  run.input = noise(bytes, 7);
  run.outputBytes = 8192;
  run.maps.push_back({plan, true});
  run.body = fillFromInput("smem", bytes) + "fence.proxy.async.shared::cta;\n" +
             (form.empty() ? "cp.async.bulk.tensor." + std::to_string(plan.sizes.size()) +
                                 "d.global.shared::cta.tile.bulk_group"
                           : form) +
             " [%rd2, " + coordinates(start) + "], [smem]" + operands + ";\n" + waitAll();
  return run;
}

void check(const TensorMapPlan &plan, const std::vector<int> &start, const std::string &form = "",
           const std::string &operands = "") {
  size_t bytes = boxBytes(plan, start), width = size_t(elementSize(plan.element));
  test::Run run = storeProgram(plan, start, bytes, form, operands);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  std::vector<uint8_t> expected(run.outputBytes, 0);
  for (const BoxElement &e : boxOf(plan, start))
    for (size_t b = 0; e.inside && b < width; ++b)
      expected[e.global + b] = run.input[placeOf(tableOf(plan.swizzle), 0, e.box + b)];
  EXPECT_EQ(ran.output, expected);
}

#define EXPECT_FAULT(RAN, KIND, TEXT)                                                              \
  do {                                                                                             \
    const Ran &ran_ = (RAN);                                                                       \
    EXPECT_TRUE(ran_.faults(FaultKind::KIND)) << ran_.text();                                      \
    EXPECT_NE(ran_.text().find(TEXT), std::string::npos) << ran_.text();                           \
  } while (false)
} // namespace

TEST(TensorStore, Boxes) {
  check(planOf(ElementType::F32, {100}, {32}), {68});
  check(planOf(ElementType::F16, {64, 20}, {16, 4}, 32), {16, 18});
  check(planOf(ElementType::BF16, {64, 20}, {64, 8}, 128), {0, 5});
  check(planOf(ElementType::F16, {64, 20}, {32, 8}, 64), {48, 5},
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint", ", %rd1");
  check(planOf(ElementType::I8, {32, 6, 5}, {16, 3, 2}), {16, 4, 4});
  check(planOf(ElementType::F32, {8, 4, 3, 5}, {4, 2, 2, 3}), {4, 3, 1, 2});
  check(planOf(ElementType::F16, {16, 3, 4, 2, 3}, {8, 2, 2, 2, 2}), {8, 1, 2, 0, 1});
  TensorMapPlan plan = planOf(ElementType::F16, {16, 12}, {16, 9});
  plan.elementStrides = {1, 3};
  check(plan, {0, 4});
}

TEST(TensorStore, ClippedEndsTakeTheirChunkAlong) {
  // Rows of 33 floats, 144 bytes apart: element 33 to 35 of a row lie in the last chunk of 16 bytes
  // and are overwritten too (measured on an H200); nothing behind them is.
  TensorMapPlan plan = planOf(ElementType::F32, {33, 4}, {32, 4}, 128, {160});
  test::Run run = storeProgram(plan, {32, 0}, 512);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (size_t row = 0; row < 4; ++row)
    for (size_t i = 0; i < 32; ++i) {
      uint8_t expected = i < 16 ? run.input[placeOf(table128, 0, row * 128 + i)] : 0;
      EXPECT_EQ(ran.output[row * 160 + 128 + i], expected) << row << " " << i;
    }
}

TEST(TensorStore, Scatter4) {
  TensorMapPlan plan = planOf(ElementType::F16, {128, 20}, {64, 1}, 128);
  test::Run run = storeProgram(plan, {64, 3, 19, 20, 0}, 512,
                               "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_"
                               "group");
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  std::vector<uint8_t> expected(run.outputBytes, 0);
  const size_t rows[] = {3, 19, 20, 0};
  for (size_t i = 0; i < 512; ++i)
    if (rows[i / 128] < 20)
      expected[rows[i / 128] * 256 + 128 + i % 128] = run.input[placeOf(table128, 0, i)];
  EXPECT_EQ(ran.output, expected);
}

TEST(TensorStore, SixBitElementsArePacked) {
  // b6p2x16: the low six bits of each byte, packed.
  auto change = [](ParamBytes &bytes) { bytes[4] = 15; };
  test::Run run = storeProgram(planOf(ElementType::I8, {128, 2}, {128, 2}, 0, {96}), {0, 0}, 256);
  run.maps[0].change = change;
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (size_t i = 0; i < 256; ++i) {
    size_t bit = i % 128 * 6, at = i / 128 * 96 + bit / 8;
    uint32_t two = uint32_t(ran.output[at]) | uint32_t(ran.output[at + 1]) << 8;
    ASSERT_EQ(two >> (bit % 8) & 63, run.input[i] & 63u) << i;
  }
  run.maps[0].change = [](ParamBytes &bytes) { bytes[4] = 14; };
  EXPECT_FAULT(runPtx(run), Descriptor, "can only be loaded");
}

TEST(TensorStore, Reductions) {
  struct Case {
    const char *op;
    ElementType type;
    uint64_t old, add, expected;
  };
  const Case cases[] = {
      {"add", ElementType::U32, 0xffffffff, 2, 1},
      {"add", ElementType::I32, 5, uint32_t(-7), uint32_t(-2)},
      {"add", ElementType::U64, 0xffffffff, 1, 0x100000000},
      {"add", ElementType::F32, 0x3f800000, 0x40000000, 0x40400000}, // 1 + 2 = 3
      {"add", ElementType::F16, 0x3c00, 0x1000, 0x3c00},             // 1 + 2^-11: tie, to even
      {"add", ElementType::F16, 0x0001, 0x0001, 0x0002},             // subnormals stay
      {"add", ElementType::BF16, 0x3f80, 0x3f80, 0x4000},            // 1 + 1
      {"min", ElementType::I32, 3, uint32_t(-3), uint32_t(-3)},
      {"min", ElementType::U32, 3, uint32_t(-3), 3},
      {"max", ElementType::I64, 1, uint64_t(-1), 1},
      {"max", ElementType::U64, 1, uint64_t(-1), uint64_t(-1)},
      {"min", ElementType::F16, 0x3c00, 0xbc00, 0xbc00},
      {"max", ElementType::BF16, 0x3f80, 0xbf80, 0x3f80},
      {"max", ElementType::F16, 0x7e00, 0x3c00, 0x3c00}, // a NaN loses
      {"inc", ElementType::U32, 6, 7, 7},
      {"inc", ElementType::U32, 7, 7, 0},
      {"dec", ElementType::U32, 0, 7, 7},
      {"dec", ElementType::U32, 8, 7, 7},
      {"dec", ElementType::U32, 5, 7, 4},
      {"and", ElementType::U32, 12, 10, 8},
      {"or", ElementType::U32, 12, 10, 14},
      {"xor", ElementType::U64, 12, 10, 6},
  };
  for (const Case &c : cases) {
    auto width = size_t(elementSize(c.type));
    TensorMapPlan plan = planOf(c.type, {64 / width, 4}, {uint32_t(64 / width), 2}, 0, {64});
    test::Run run = storeProgram(plan, {0, 3}, 128,
                                 std::string("cp.reduce.async.bulk.tensor.2d.global.shared::cta.") +
                                     c.op + ".tile.bulk_group");
    for (size_t i = 0; i < 128 / width; ++i)
      memcpy(&run.input[i * width], &c.add, width);
    // The old values: a row of the input first copied to the output.
    std::string old;
    for (size_t i = 0; i < 64 / width; ++i)
      old += "mov.b64 %rd9, " + std::to_string(int64_t(c.old)) + ";\nst.global.b" +
             std::to_string(width * 8) + " [%rd0+" + std::to_string(192 + i * width) + "], " +
             (width == 8   ? "%rd9"
              : width == 4 ? "%r9"
                           : "%rs9") +
             ";\n";
    std::string narrow = "mov.b32 %r9, " + std::to_string(uint32_t(c.old)) + ";\nmov.b16 %rs9, " +
                         std::to_string(uint16_t(c.old)) + ";\n";
    run.body = narrow + old + run.body;
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << c.op << ran.text();
    for (size_t i = 0; i < 64 / width; ++i) {
      uint64_t value = 0;
      memcpy(&value, &ran.output[192 + i * width], width);
      ASSERT_EQ(value, c.expected) << c.op << " " << ts::elementTypeName(c.type) << " " << i;
    }
    EXPECT_EQ(ran.output[256], 0) << "outside of the tensor";
  }
  test::Run bad = storeProgram(planOf(ElementType::F32, {16, 4}, {16, 2}), {0, 0}, 128,
                               "cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.bulk_group");
  EXPECT_FAULT(runPtx(bad), Descriptor, "no reduction .min of elements of type f32");
}

TEST(TensorStore, Faults) {
  TensorMapPlan plan = planOf(ElementType::F16, {64, 20}, {16, 4});
  EXPECT_FAULT(runPtx(storeProgram(plan, {-1, 0}, 128)), OutOfBounds, "negative coordinate");
  EXPECT_FAULT(runPtx(storeProgram(plan, {0, -1}, 128)), OutOfBounds, "negative coordinate");
  EXPECT_FAULT(runPtx(storeProgram(plan, {4, 0}, 128)), Alignment,
               "innermost coordinate 4 of elements of 16 bits");
  test::Run run = storeProgram(plan, {0, 0}, 128);
  size_t at = run.body.find("fence.proxy.async");
  test::Run unfenced = run;
  unfenced.body.erase(at, unfenced.body.find('\n', at) - at);
  EXPECT_FAULT(runPtx(unfenced), ProxyFence, "fence.proxy.async");
  // Shared memory is written again before the store has read it.
  test::Run early = run;
  early.body.replace(early.body.find(waitAll()), waitAll().size(),
                     "st.shared.b32 [smem], 1;\n" + waitAll());
  EXPECT_FAULT(runPtx(early), Race, "bulk store");
  early.body.replace(early.body.find(waitAll()), waitAll().size(),
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 1;\n");
  test::Run late = run;
  late.body.replace(late.body.find(waitAll()), waitAll().size(),
                    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
                    "st.shared.b32 [smem], 1;\n");
  Ran ran = runPtx(late);
  EXPECT_TRUE(ran.ok()) << ran.text();
  test::Run gone = run;
  gone.body.replace(gone.body.find(waitAll()), waitAll().size(), "");
  EXPECT_FAULT(runPtx(gone), EarlyExit, "bulk store");
}

TEST(TensorCluster, MulticastReachesEveryCtaOfTheMask) {
  // CTA 1 loads to CTAs 0 and 2 of four; each expects and waits for its own barrier.
  TensorMapPlan plan = planOf(ElementType::F16, {64, 20}, {64, 8}, 128);
  test::Run run;
  run.globals = globals;
  run.options.block = {1, 1, 1};
  run.options.grid = run.options.cluster = {4, 1, 1};
  run.input = noise(64 * 2 * 20);
  run.maps.push_back({plan});
  run.body =
      "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p2, %r1, 1;\nand.b32 %r2, %r1, 1;\n"
      "setp.eq.u32 %p3, %r2, 0;\n"
      "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.b16 %rs1, 5;\n"
      "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;\n"
      "@%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
      "multicast::cluster [smem], [%rd2, {0, 4}], [bar], %rs1;\n@!%p3 bra END;\n" +
      waitBarrier("bar", 0, "W") + "mul.wide.u32 %rd5, %r1, 512;\nadd.u64 %rd0, %rd0, %rd5;\n" +
      dumpShared("smem", 1024) + "END:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (size_t cta : {0, 2})
    for (size_t i = 0; i < 1024; ++i)
      ASSERT_EQ(ran.output[cta * 512 + placeOf(table128, 0, i)], run.input[4 * 128 + i]);
  size_t at = run.body.find("mov.b16 %rs1, 5");
  run.body[at + 14] = '9' - 0;
  run.body.replace(at, 15, "mov.b16 %rs1, 16");
  EXPECT_FAULT(runPtx(run), OutOfBounds, "names CTA 4 of a cluster of 4");
}

TEST(TensorCluster, PairsSignalTheLeader) {
  // .cta_group::2: both CTAs load their halves, the bytes count at the even CTA's barrier (the
  // address with bit 24 cleared).
  TensorMapPlan plan = planOf(ElementType::F16, {64, 20}, {64, 8}, 128);
  test::Run run;
  run.globals = globals;
  run.options.block = {1, 1, 1};
  run.options.grid = run.options.cluster = {2, 1, 1};
  run.input = noise(64 * 2 * 20);
  run.maps.push_back({plan});
  run.body = "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p2, %r1, 0;\nmov.u32 %r3, bar;\n"
             "and.b32 %r3, %r3, 0xfeffffff;\nmul.lo.u32 %r4, %r1, 8;\n"
             "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
             "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
             "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;\n"
             "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
             "cta_group::2 [smem], [%rd2, {0, %r4}], [%r3];\n@!%p2 bra NEXT;\n" +
             waitBarrier("bar", 0, "W") +
             "NEXT:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
             "mul.wide.u32 %rd5, %r1, 1024;\nadd.u64 %rd0, %rd0, %rd5;\n" +
             dumpShared("smem", 1024) + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  for (size_t cta : {0, 1})
    for (size_t i = 0; i < 1024; ++i)
      ASSERT_EQ(ran.output[cta * 1024 + placeOf(table128, 0, i)], run.input[cta * 1024 + i]);
  size_t at = run.body.find(".cta_group::2");
  run.body.erase(at, 13);
  EXPECT_FAULT(runPtx(run), BarrierState, "its mbarrier is in CTA 0");
}

TEST(TensorPrefetch, DoesNothingButCheck) {
  TensorMapPlan plan = planOf(ElementType::F16, {64, 20}, {64, 8}, 128);
  test::Run run;
  run.globals = globals;
  run.options.block = {1, 1, 1};
  run.input = noise(64 * 2 * 20);
  run.maps.push_back({plan});
  run.body = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd2, {0, 4}];\n"
             "cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint [%rd2, {0, 4}], %rd1;\n";
  Ran ran = runPtx(run);
  EXPECT_TRUE(ran.ok()) << ran.text();
  run.body = "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%rd2, {0}];\n";
  EXPECT_FAULT(runPtx(run), Descriptor, "1 dimensions");
}
