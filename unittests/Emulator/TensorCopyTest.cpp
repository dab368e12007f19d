// Tensor loads, stores and reductions against an element-by-element reference.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorReference.h"

using namespace ts;
using namespace ts::emu;
using namespace ts::emu::test;

namespace {

const char *const globals = ".shared .align 1024 .b8 smem[16384];\n.shared .align 8 .b64 bar;\n";

struct Load {
  TensorMapPlan plan;
  std::vector<int> start;
  std::string form;  // of the instruction; derived if empty
  size_t offset = 0; // in shared memory
  std::function<void(ParamBytes &)> change = nullptr;
  size_t expect = 0;         // bytes; the box if 0
  std::string operands = {}; // behind the barrier
};

test::Run loadProgram(const Load &load, std::vector<uint8_t> input) {
  size_t bytes = load.expect ? load.expect : boxBytes(load.plan, load.start);
  std::string form = load.form;
  if (form.empty())
    form = "cp.async.bulk.tensor." + std::to_string(load.plan.sizes.size()) +
           "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  test::Run run;
  run.globals = globals;
  run.options.block = {1, 1, 1};
  run.input = std::move(input);
  run.outputBytes = 16384;
  run.maps.push_back({load.plan, false, 0, load.change});
  run.body = "mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;\n"
             "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
             std::to_string(bytes) + ";\n" + form + " [smem+" + std::to_string(load.offset) +
             "], [%rd2, " + coordinates(load.start) + "], [bar]" + load.operands + ";\n" +
             waitBarrier("bar", 0, "W");
  return run;
}

/// Runs the load, and compares shared memory with the reference.
void check(const Load &load, const SwizzleTable *table = nullptr) {
  uint64_t extent = load.plan.sizes[0] * uint64_t(elementSize(load.plan.element));
  for (size_t i = 1; i < load.plan.sizes.size(); ++i)
    extent = std::max(extent, load.plan.sizes[i] * load.plan.strides[i - 1]);
  std::vector<uint8_t> input = noise(extent);
  size_t bytes = boxBytes(load.plan, load.start), width = size_t(elementSize(load.plan.element));
  test::Run run = loadProgram(load, input);
  run.body += dumpShared("smem", bytes, load.offset);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  const SwizzleTable &t = table ? *table : tableOf(load.plan.swizzle);
  size_t wrong = 0;
  for (const BoxElement &e : boxOf(load.plan, load.start))
    for (size_t b = 0; b < width; ++b) {
      uint8_t fill = load.plan.fillNan ? (b % 2 ? 0x7f : 0xf7) : 0;
      uint8_t expected = e.inside ? input[e.global + b] : fill;
      wrong += ran.output[placeOf(t, load.offset, e.box + b)] != expected;
    }
  EXPECT_EQ(wrong, 0u) << "of " << bytes << " bytes, swizzle " << load.plan.swizzle;
}

#define EXPECT_FAULT(RAN, KIND, TEXT)                                                              \
  do {                                                                                             \
    const Ran &ran_ = (RAN);                                                                       \
    EXPECT_TRUE(ran_.faults(FaultKind::KIND)) << ran_.text();                                      \
    EXPECT_NE(ran_.text().find(TEXT), std::string::npos) << ran_.text();                           \
  } while (false)
} // namespace

TEST(TensorLoad, EveryRank) {
  check({planOf(ElementType::F32, {100}, {32}), {36}, ""});
  check({planOf(ElementType::BF16, {64, 20}, {16, 4}), {8, 3}, ""});
  check({planOf(ElementType::I8, {32, 6, 5}, {16, 3, 2}), {16, 2, 1}, ""});
  check({planOf(ElementType::F64, {8, 4, 3, 5}, {4, 2, 2, 3}), {2, 1, 1, 2}, ""});
  check({planOf(ElementType::F16, {16, 3, 4, 2, 3}, {8, 2, 2, 2, 2}), {8, 1, 2, 0, 1}, ""});
}

TEST(TensorLoad, Swizzles) {
  check({planOf(ElementType::F16, {64, 40}, {16, 24}, 32), {16, 5}, ""});
  check({planOf(ElementType::F16, {64, 40}, {32, 24}, 64), {32, 5}, ""});
  check({planOf(ElementType::F16, {128, 40}, {64, 24}, 128), {64, 5}, ""});
  check({planOf(ElementType::F32, {64, 40}, {32, 17}, 128), {0, 9}, ""});
  // The pattern follows addresses, not the box.
  check({planOf(ElementType::F16, {64, 40}, {16, 24}, 32), {0, 0}, "", 128});
  check({planOf(ElementType::F16, {64, 40}, {32, 24}, 64), {0, 0}, "", 384});
  check({planOf(ElementType::F16, {128, 40}, {64, 24}, 128), {0, 0}, "", 640});
  // Three dimensions.
  check({planOf(ElementType::BF16, {64, 6, 4}, {64, 4, 2}, 128), {0, 1, 1}, ""});
}

TEST(TensorLoad, SwizzleByHand) {
  // 128-byte swizzle: chunk 0 of row 1 lies at place 1 of line 1, that of row 7 at place 7.
  TensorMapPlan plan = planOf(ElementType::I8, {128, 8}, {128, 8}, 128);
  std::vector<uint8_t> input(1024);
  for (size_t i = 0; i < 1024; ++i)
    input[i] = uint8_t(i / 128 * 16 + i % 128 / 16); // row, chunk
  test::Run run = loadProgram({plan, {0, 0}, ""}, input);
  run.body += dumpShared("smem", 1024);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_EQ(ran.output[1 * 128 + 1 * 16], 0x10);
  EXPECT_EQ(ran.output[1 * 128], 0x11);
  EXPECT_EQ(ran.output[7 * 128 + 7 * 16 + 15], 0x70);
  EXPECT_EQ(ran.output[5 * 128 + 3 * 16], 0x56);
}

TEST(TensorLoad, SwizzleAtoms) {
  for (int atom = 1; atom <= 3; ++atom) {
    auto change = [atom](ParamBytes &bytes) { bytes[7] = uint8_t(atom); };
    Load load{planOf(ElementType::F16, {64, 40}, {64, 16}, 128), {0, 3}, "", 0, change};
    if (atom != 2) {
      check(load, atom == 1 ? &table128Atom32 : &table128Atom64);
      continue;
    }
    // The same as with 32-byte atoms, but the 8-byte halves change places in every other line.
    std::vector<uint8_t> input = noise(128 * 40);
    test::Run run = loadProgram(load, input);
    run.body += dumpShared("smem", 128 * 16);
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    size_t wrong = 0;
    for (size_t at = 0; at < 128 * 16; ++at) {
      size_t place = placeOf(table128Atom32, 0, at);
      if (place / 128 % 2)
        place ^= 8;
      wrong += ran.output[place] != input[3 * 128 + at];
    }
    EXPECT_EQ(wrong, 0u);
  }
}

TEST(TensorLoad, OutOfBounds) {
  TensorMapPlan plan = planOf(ElementType::F32, {20, 10}, {16, 8}, 64);
  for (const std::vector<int> &start :
       {std::vector<int>{-4, -2}, {12, 6}, {20, 0}, {0, -8}, {100, 100}, {-16, 3}, {-12, -7}})
    check({plan, start, ""});
  plan.fillNan = true;
  check({plan, {-4, 5}, ""});
  plan = planOf(ElementType::BF16, {24, 10}, {16, 4});
  plan.fillNan = true;
  check({plan, {16, 8}, ""});
  check({planOf(ElementType::F16, {8, 3, 4}, {8, 4, 6}), {-8, -1, -2}, ""});
}

TEST(TensorLoad, Strides) {
  // Padded rows, and planes in another order.
  check({planOf(ElementType::F32, {30, 10}, {32, 4}, 128, {128}), {0, 8}, ""});
  check({planOf(ElementType::F16, {16, 4, 6}, {16, 2, 3}, 0, {192, 32}), {0, 1, 2}, ""});
  // Every third row, every second plane.
  TensorMapPlan plan = planOf(ElementType::F16, {16, 12, 5}, {16, 9, 4});
  plan.elementStrides = {1, 3, 2};
  check({plan, {0, 1, 0}, ""});
  check({plan, {0, 5, 3}, ""});
  check({plan, {0, -2, -1}, ""});
}

TEST(TensorLoad, Forms) {
  TensorMapPlan plan = planOf(ElementType::F16, {64, 20}, {16, 4});
  check({plan, {8, 3}, "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"});
  check({plan,
         {8, 3},
         "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.cta_group::1"
         ".L2::cache_hint",
         0,
         nullptr,
         0,
         ", %rd1"});
  check({plan,
         {8, 3},
         "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2"
         ".L2::cache_hint",
         0,
         nullptr,
         0,
         ", %rd1"});
  check({plan,
         {8, 3},
         "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.tile"});
}

TEST(TensorLoad, Gather4) {
  TensorMapPlan plan = planOf(ElementType::F16, {128, 20}, {64, 1}, 128);
  std::vector<uint8_t> input = noise(128 * 2 * 20);
  for (const char *space : {"shared::cluster", "shared::cta"}) {
    Load load{plan,
              {64, 7, 19, 0, 20},
              std::string("cp.async.bulk.tensor.2d.") + space +
                  ".global.tile::gather4.mbarrier::complete_tx::bytes",
              0,
              nullptr,
              512};
    test::Run run = loadProgram(load, input);
    run.body += dumpShared("smem", 512);
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    const int rows[] = {7, 19, 0, 20};
    for (size_t i = 0; i < 512; ++i) {
      int row = rows[i / 128];
      uint8_t expected = row < 20 ? input[size_t(row) * 256 + 128 + i % 128] : 0;
      ASSERT_EQ(ran.output[placeOf(table128, 0, i)], expected) << i;
    }
  }
  EXPECT_FAULT(runPtx(loadProgram({planOf(ElementType::F16, {128, 20}, {64, 4}),
                                   {64, 7, 19, 0, 20},
                                   "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
                                   "mbarrier::complete_tx::bytes",
                                   0,
                                   nullptr,
                                   512},
                                  input)),
               Descriptor, "whose box has one row");
}

TEST(TensorLoad, PaddedSmallTypes) {
  // 128 elements of 4 (6) bits: 64 (96) bytes of global memory become 128 of shared memory, each
  // sixteen elements followed by padding. Transactions count what is copied.
  for (int type : {13, 14, 15}) {
    size_t bits = type == 15 ? 6 : 4, rowGlobal = 256 * bits / 8;
    std::vector<uint8_t> input = noise(rowGlobal * 8);
    auto change = [&](ParamBytes &bytes) {
      bytes[4] = uint8_t(type);
      bytes[6] = type == 13 ? 2 : 3;
      uint32_t sizes[2] = {256, 8};
      uint16_t box[2] = {128, 4};
      uint64_t stride = rowGlobal;
      memcpy(&bytes[24], sizes, 8);
      memcpy(&bytes[44], box, 4);
      memcpy(&bytes[64], &stride, 8);
    };
    size_t copied = 128 * bits / 8, chunk = type == 13 ? 16 : 16 * bits / 8;
    Load load{
        planOf(ElementType::I8, {256, 8}, {128, 4}, 128), {128, 5}, "", 0, change, copied * 4};
    test::Run run = loadProgram(load, input);
    size_t rowShared = copied / chunk * 16;
    run.body += dumpShared("smem", rowShared * 4);
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    size_t wrong = 0;
    for (size_t row = 0; row < 4; ++row)
      for (size_t i = 0; i < copied; ++i) {
        size_t at = row * rowShared + i / chunk * 16 + i % chunk;
        uint8_t expected = 5 + row < 8 ? input[(5 + row) * rowGlobal + copied + i] : 0;
        wrong += ran.output[placeOf(type == 13 ? table64 : table128, 0, at)] != expected;
      }
    EXPECT_EQ(wrong, 0u) << type;
    if (type != 13) {
      load.start = {64, 0};
      EXPECT_FAULT(runPtx(loadProgram(load, input)), Alignment, "multiple of 128");
    }
  }
}

TEST(TensorLoad, Faults) {
  TensorMapPlan plan = planOf(ElementType::F16, {64, 20}, {16, 4});
  std::vector<uint8_t> input = noise(64 * 2 * 20);
  Load load{plan, {8, 3}, ""};
  load.offset = 64;
  EXPECT_FAULT(runPtx(loadProgram(load, input)), Alignment, "multiple of 128");
  load.offset = 16384;
  EXPECT_FAULT(runPtx(loadProgram(load, input)), OutOfBounds, "shared memory");
  load.offset = 0;
  load.form = "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes";
  load.start = {0, 0, 0};
  load.expect = 128;
  EXPECT_FAULT(runPtx(loadProgram(load, input)), Descriptor, "has 3 dimensions, the tensor map 2");
  load = {plan, {8, 3}, "", 0, [](ParamBytes &bytes) { bytes[0] ^= 1; }};
  EXPECT_FAULT(runPtx(loadProgram(load, input)), Descriptor, "no tensor map");
  load.change = [](ParamBytes &bytes) { bytes[8] = 1; };
  EXPECT_FAULT(runPtx(loadProgram(load, input)), Unsupported, "interleave");
  load.change = [](ParamBytes &bytes) { bytes[10] = 1; };
  EXPECT_FAULT(runPtx(loadProgram(load, input)), Descriptor, "without elements");
  load.change = nullptr;
  load.plan.sizes[1] = 40; // more rows than memory has
  load.start = {0, 18};
  EXPECT_FAULT(runPtx(loadProgram(load, input)), OutOfBounds, "allocation");
  load.plan.swizzle = 128; // half as wide as the swizzle
  EXPECT_FAULT(runPtx(loadProgram(load, input)), Unsupported, "as wide as the swizzle");
  load = {plan, {8, 3}, "", 0, nullptr, 64};
  test::Run run = loadProgram(load, input);
  run.body += "nanosleep.u32 100;\n";
  EXPECT_FAULT(runPtx(run), EarlyExit, "TMA load"); // the phase ends before the copy does
  load.form = "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes";
  load.start = {0, 0, 0};
  load.operands = ", {%rs1}";
  EXPECT_FAULT(runPtx(loadProgram(load, input)), Unsupported, "im2col");
}

TEST(TensorLoad, RowsBeginAtMultiplesOfSixteenBytes) {
  // Measured on an H200: anything else is an illegal instruction.
  for (int start : {1, 7, -1, 36})
    EXPECT_FAULT(
        runPtx(loadProgram({planOf(ElementType::F16, {64, 20}, {16, 4}), {start, 3}, ""}, {})),
        Alignment, "innermost coordinate " + std::to_string(start) + " of elements of 16 bits");
  EXPECT_FAULT(runPtx(loadProgram({planOf(ElementType::F32, {100}, {32}), {2}, ""}, {})), Alignment,
               "begins 8.0 bytes into a row; expected innermost coordinate times element size to "
               "be a multiple of 16 bytes");
  EXPECT_FAULT(runPtx(loadProgram({planOf(ElementType::F64, {8, 4}, {4, 4}, 32), {1, 0}, ""}, {})),
               Alignment, "elements of 64 bits");
  check({planOf(ElementType::F16, {64, 20}, {16, 4}), {56, 3}, ""});
  check({planOf(ElementType::F64, {8, 4}, {4, 4}, 32), {2, -1}, ""});
}

TEST(TensorLoad, ReadBeforeCompletionIsARace) {
  TensorMapPlan plan = planOf(ElementType::F16, {64, 20}, {16, 4});
  test::Run run = loadProgram({plan, {8, 3}, ""}, noise(64 * 2 * 20));
  size_t wait = run.body.find("W:");
  run.body.insert(wait, "ld.shared.b32 %r1, [smem];\n");
  EXPECT_FAULT(runPtx(run), Race, "TMA load");
}
