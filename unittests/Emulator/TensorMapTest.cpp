// Tensor maps: their encoding, the rules, and kernels that change them. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "../../lib/Emulator/Engines/TensorMap.h"
#include "TensorReference.h"

using namespace ts;
using namespace ts::emu;
using namespace ts::emu::test;

namespace {

TensorMap encoded(const TensorMapPlan &plan, uint64_t address = 0x1000) {
  Result<ParamBytes> bytes = Device::encodeTensorMap(plan, address);
  EXPECT_TRUE(bool(bytes)) << bytes.error().message;
  TensorMap map;
  EXPECT_EQ(bytes->size(), 128u);
  memcpy(static_cast<void *>(&map), bytes->data(), sizeof map);
  return map;
}

std::string refused(const TensorMapPlan &plan, uint64_t address = 0x1000) {
  Result<ParamBytes> bytes = Device::encodeTensorMap(plan, address);
  return bytes ? "" : bytes.error().message;
}

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

const char *const globals =
    ".shared .align 1024 .b8 smem[4096];\n.shared .align 128 .b8 map[128];\n"
    ".shared .align 8 .b64 bar;\n";
} // namespace

TEST(TensorMap, Encoding) {
  TensorMap map = encoded(planOf(ElementType::BF16, {100, 7, 3}, {64, 4, 2}, 128, {256, 4096}));
  EXPECT_EQ(map.elementType, 10); // .bf16 of tensormap.replace
  EXPECT_EQ(map.rank, 3);
  EXPECT_EQ(map.swizzle, 3);
  EXPECT_EQ(map.address, 0x1000u);
  EXPECT_EQ(map.sizes[0], 100u);
  EXPECT_EQ(map.sizes[2], 3u);
  EXPECT_EQ(map.box[1], 4u);
  EXPECT_EQ(map.strides[0], 256u);
  EXPECT_EQ(map.strides[1], 4096u);
  EXPECT_EQ(encoded(planOf(ElementType::F8E4M3, {32}, {16})).elementType, 0);
  EXPECT_EQ(encoded(planOf(ElementType::I32, {32}, {16})).elementType, 3);
  EXPECT_EQ(encoded(planOf(ElementType::F32, {32}, {16}, 64)).elementType, 7);
}

TEST(TensorMap, Rules) {
  TensorMapPlan good = planOf(ElementType::F16, {64, 8}, {32, 4}, 64);
  EXPECT_EQ(refused(good), "");
  EXPECT_TRUE(contains(refused(good, 0x1008), "not a multiple of 16"));
  TensorMapPlan plan = good;
  plan.strides[0] = 136;
  EXPECT_TRUE(contains(refused(plan), "the stride of dimension 1 is 136 bytes"));
  plan = good;
  plan.box[0] = 12;
  EXPECT_TRUE(contains(refused(plan), "expected a multiple of 16 bytes"));
  plan.box[0] = 64;
  EXPECT_TRUE(contains(refused(plan), "more than the 64 of the swizzle"));
  plan.box[0] = 512;
  EXPECT_TRUE(contains(refused(plan), "expected 1 to 256"));
  plan = good;
  plan.swizzle = 48;
  EXPECT_TRUE(contains(refused(plan), "expected 0, 32, 64 or 128"));
  plan = good;
  plan.elementStrides[1] = 9;
  EXPECT_TRUE(contains(refused(plan), "expected 1 to 8"));
  plan = good;
  plan.interleave = 16;
  EXPECT_TRUE(contains(refused(plan), "interleave"));
  plan = planOf(ElementType::I32, {64}, {16});
  plan.fillNan = true;
  EXPECT_TRUE(contains(refused(plan), "NaN fill"));
  plan.strides.push_back(4);
  EXPECT_TRUE(contains(refused(plan), "rank 1"));
  EXPECT_TRUE(contains(refused({}), "rank 0"));
}

TEST(TensorMap, SwizzledAddresses) {
  // By hand from the tables: row 3 of a 128-byte swizzle keeps chunk 5 at place 6.
  EXPECT_EQ(swizzleAddress(3, 0, 3 * 128 + 5 * 16 + 7), 3u * 128 + 6 * 16 + 7);
  EXPECT_EQ(swizzleAddress(3, 0, 8 * 128 + 5 * 16), 8u * 128 + 5 * 16);
  EXPECT_EQ(swizzleAddress(2, 0, 2 * 128 + 16), 2u * 128 + 3 * 16);
  EXPECT_EQ(swizzleAddress(2, 0, 4 * 128 + 16), 4u * 128 + 16);
  EXPECT_EQ(swizzleAddress(1, 0, 128 + 2 * 16), 128u + 3 * 16);
  EXPECT_EQ(swizzleAddress(1, 0, 256 + 2 * 16), 256u + 2 * 16);
  EXPECT_EQ(swizzleAddress(3, 1, 128), 128u + 32);
  EXPECT_EQ(swizzleAddress(3, 3, 128 + 16), 128u + 64 + 16);
  EXPECT_EQ(swizzleAddress(0, 0, 12345), 12345u);
  for (uint32_t mode = 0; mode < 4; ++mode) // each is its own inverse
    for (uint32_t a = 0; a < 2048; a += 8)
      EXPECT_EQ(swizzleAddress(uint8_t(mode), 0, swizzleAddress(uint8_t(mode), 0, a)), a);
}

namespace {
/// Copies map 0 to shared memory, changes it there, and publishes it behind the output's first 2
/// KiB.
test::Run changed(const std::string &changes, const std::string &behind) {
  test::Run run;
  run.globals = globals;
  run.options.block = {32, 1, 1};
  run.input = noise(8192);
  run.outputBytes = 8192;
  // A map of another tensor altogether: one dimension of bytes.
  run.maps.push_back({planOf(ElementType::I8, {64}, {16})});
  std::string copy;
  for (int i = 0; i < 128; i += 16)
    copy += "ld.param.v4.b32 {%r60, %r61, %r62, %r63}, [map0+" + std::to_string(i) +
            "];\n@%p2 st.shared.v4.b32 [map+" + std::to_string(i) +
            "], {%r60, %r61, %r62, %r63};\n";
  run.body = "setp.eq.u32 %p2, %r0, 0;\nmov.b32 %r1, map;\nadd.u64 %rd10, %rd0, 4096;\n" + copy +
             changes +
             "bar.warp.sync -1;\n"
             "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
             "aligned [%rd10], [map], 128;\n"
             "fence.proxy.tensormap::generic.acquire.gpu [%rd10], 128;\n" +
             behind;
  return run;
}
std::string replace(const std::string &field, const std::string &rest, const char *type = "b32") {
  return "@%p2 tensormap.replace.tile." + field + ".shared::cta.b1024." + type + " [map], " + rest +
         ";\n";
}
/// To rows of 64 f16 (32 in a box), 8 planes of 16 rows.
std::string everyField() {
  return "add.u64 %rd11, %rd1, 512;\nmov.b64 %rd12, 256;\nmov.b64 %rd13, 2048;\nmov.b32 %r2, 2;\n"
         "mov.b32 %r3, 32;\nmov.b32 %r4, 8;\n" +
         replace("global_address", "%rd11", "b64") + replace("rank", "%r2") +
         replace("box_dim", "0, %r3") + replace("box_dim", "1, %r4") + replace("box_dim", "2, 2") +
         replace("global_dim", "0, 64") + replace("global_dim", "1, 6") +
         replace("global_dim", "2, 3") + replace("global_stride", "0, %rd12", "b64") +
         replace("global_stride", "1, %rd13", "b64") + replace("element_stride", "1, %r2") +
         replace("element_stride", "2, 1") + replace("elemtype", "6") +
         replace("interleave_layout", "0") + replace("swizzle_mode", "2") +
         replace("swizzle_atomicity", "0") + replace("fill_mode", "1");
}
} // namespace

TEST(TensorMap, ReplaceEveryField) {
  TensorMapPlan plan = planOf(ElementType::F16, {64, 6, 3}, {32, 8, 2}, 64, {256, 2048});
  plan.elementStrides = {1, 2, 1};
  plan.fillNan = true;
  const std::vector<int> start{16, 1, 1};
  size_t bytes = boxBytes(plan, start);
  test::Run run = changed(
      everyField(),
      "@!%p2 bra END;\nmbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
          std::to_string(bytes) +
          ";\ncp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [smem], "
          "[%rd10, " +
          coordinates(start) + "], [bar];\n" + waitBarrier("bar", 0, "W") +
          dumpShared("smem", bytes) + "END:\n");
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  size_t wrong = 0;
  for (const BoxElement &e : boxOf(plan, start))
    for (size_t b = 0; b < 2; ++b) {
      uint8_t expected = e.inside ? run.input[512 + e.global + b] : (b ? 0x7f : 0xf7);
      wrong += ran.output[placeOf(table64, 0, e.box + b)] != expected;
    }
  EXPECT_EQ(wrong, 0u);
}

TEST(TensorMap, ReplaceInGlobalMemory) {
  const std::string load = "@!%p2 bra END;\nmbarrier.init.shared.b64 [bar], 1;\n"
                           "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;\n"
                           "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::"
                           "bytes [smem], [%rd10, {16}], [bar];\n" +
                           waitBarrier("bar", 0, "W") + dumpShared("smem", 32) + "END:\n";
  test::Run run =
      changed("", "@%p2 tensormap.replace.tile.box_dim.global.b1024.b32 [%rd10], 0, 32;\n"
                  "@%p2 tensormap.replace.tile.fill_mode.b1024.b32 [%rd10], 0;\n" +
                      load);
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  EXPECT_TRUE(std::equal(ran.output.begin(), ran.output.begin() + 32, run.input.begin() + 16));
  auto fault = [&](const std::string &changes, FaultKind kind, const char *text) {
    Ran bad = runPtx(changed(changes, load));
    EXPECT_TRUE(bad.faults(kind)) << bad.text();
    EXPECT_TRUE(contains(bad.text(), text)) << bad.text();
  };
  fault(replace("swizzle_mode", "1") + replace("box_dim", "0, 64"), FaultKind::Descriptor,
        "more than the 32 of the swizzle");
  fault(replace("interleave_layout", "1"), FaultKind::Unsupported, "interleave");
  fault(replace("rank", "1"), FaultKind::Descriptor, "1 dimensions, the tensor map 2");
  fault(replace("rank", "5"), FaultKind::Descriptor, "expected at most 4");
  fault(replace("elemtype", "16"), FaultKind::Unsupported, "does not exist");
  fault(replace("swizzle_mode", "4"), FaultKind::Unsupported, "not on this target");
  fault("@%p2 st.shared.b32 [map], 0;\n" + replace("rank", "0"), FaultKind::Descriptor,
        "no tensor map");
  fault("@%p2 tensormap.replace.tile.rank.shared::cta.b1024.b32 [map+32], 0;\n",
        FaultKind::Alignment, "multiple of 64");
}
