// Every spelling of the copies: state spaces, hints, groups and ranks are swept.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorReference.h"

using namespace ts;
using namespace ts::emu;
using namespace ts::emu::test;

namespace {

test::Run program(const std::string &body) {
  test::Run run;
  run.globals = ".shared .align 1024 .b8 smem[4096];\n.shared .align 8 .b64 bar;\n"
                ".shared .align 128 .b8 map[128];\n";
  run.options.block = {1, 1, 1};
  run.input = noise(8192);
  run.body = "mbarrier.init.shared.b64 [bar], 1;\n" + body;
  return run;
}
std::string expectTx(size_t bytes) {
  return "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(bytes) + ";\n";
}
const char *const drain = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";

/// A tensor of `rank` dimensions of u32, a box and a place in it.
struct Shape {
  TensorMapPlan plan;
  std::vector<int> start;
};
Shape shapeOf(size_t rank) {
  const uint64_t sizes[] = {8, 3, 4, 2, 3};
  const uint32_t box[] = {4, 2, 2, 2, 2};
  const int start[] = {4, 1, 2, 0, 1};
  return {planOf(ElementType::U32, {sizes, sizes + rank}, {box, box + rank}),
          {start, start + rank}};
}
} // namespace

TEST(CopyForms, CpAsync) {
  for (const char *cache : {"ca", "cg"})
    for (const char *space : {".shared", ".shared::cta"})
      for (const char *hint : {"", ".L2::cache_hint"})
        for (const char *prefetch : {"", ".L2::64B", ".L2::128B", ".L2::256B"}) {
          std::string form = std::string("cp.async.") + cache + space + ".global" + hint + prefetch;
          test::Run run = program(form + " [smem], [%rd1+16], 16" + (*hint ? ", %rd0" : "") +
                                  ";\ncp.async.commit_group;\ncp.async.wait_group 0;\n" +
                                  dumpShared("smem", 16));
          Ran ran = runPtx(run);
          ASSERT_TRUE(ran.ok()) << form << ran.text();
          EXPECT_TRUE(
              std::equal(ran.output.begin(), ran.output.begin() + 16, run.input.begin() + 16));
        }
  for (bool noinc : {false, true})
    for (const char *space : {"", ".shared", ".shared::cta"}) {
      std::string form = std::string("cp.async.mbarrier.arrive") + (noinc ? ".noinc" : "") + space +
                         ".b64 [" + (*space ? "bar" : "%rd5") + "];\n";
      test::Run run = program("mov.u64 %rd5, bar;\ncvta.shared.u64 %rd5, %rd5;\n"
                              "cp.async.ca.shared.global [smem], [%rd1], 16;\n" +
                              form + (noinc ? "" : "mbarrier.arrive.shared.b64 _, [bar];\n") +
                              waitBarrier("bar", 0, "W") + dumpShared("smem", 16));
      Ran ran = runPtx(run);
      ASSERT_TRUE(ran.ok()) << form << ran.text();
      EXPECT_TRUE(std::equal(ran.output.begin(), ran.output.begin() + 16, run.input.begin()));
    }
}

TEST(CopyForms, Bulk) {
  for (const char *space : {"shared::cta", "shared::cluster"})
    for (const char *hint : {"", ".L2::cache_hint"}) {
      std::string form =
          std::string("cp.async.bulk.") + space + ".global.mbarrier::complete_tx::bytes" + hint;
      test::Run run =
          program(expectTx(48) + form + " [smem], [%rd1+16], 48, [bar]" + (*hint ? ", %rd0" : "") +
                  ";\n" + waitBarrier("bar", 0, "W") + dumpShared("smem", 48));
      Ran ran = runPtx(run);
      ASSERT_TRUE(ran.ok()) << form << ran.text();
      EXPECT_TRUE(std::equal(ran.output.begin(), ran.output.begin() + 48, run.input.begin() + 16));
    }
  // 64-bit minima and maxima in both signs.
  for (const char *hint : {"", ".L2::cache_hint"})
    for (const char *op : {"min.s64", "max.u64", "min.u64", "max.s64"}) {
      bool wantsNegative = op[4] == 's' ? op[1] == 'i' : op[1] == 'a';
      test::Run run =
          program("mov.b64 %rd5, -1;\nst.shared.b64 [smem], %rd5;\nst.shared.b64 [smem+8], 7;\n"
                  "st.global.b64 [%rd0], 7;\nst.global.b64 [%rd0+8], %rd5;\nfence.proxy.async;\n"
                  "cp.reduce.async.bulk.global.shared::cta.bulk_group" +
                  std::string(hint) + "." + op + " [%rd0], [smem], 16" + (*hint ? ", %rd1" : "") +
                  ";\n" + drain);
      Ran ran = runPtx(run);
      ASSERT_TRUE(ran.ok()) << op << ran.text();
      EXPECT_EQ(ran.at<int64_t>(0), wantsNegative ? -1 : 7) << op;
      EXPECT_EQ(ran.at<int64_t>(1), wantsNegative ? -1 : 7) << op;
    }
}

TEST(CopyForms, TensorLoads) {
  for (size_t rank = 1; rank <= 5; ++rank) {
    Shape shape = shapeOf(rank);
    size_t bytes = boxBytes(shape.plan, shape.start);
    for (const char *space : {"shared::cta", "shared::cluster"})
      for (const char *tile : {"", ".tile"})
        for (const char *multicast : {"", ".multicast::cluster"})
          for (const char *group : {"", ".cta_group::1", ".cta_group::2"})
            for (const char *hint : {"", ".L2::cache_hint"}) {
              if (*multicast && std::string(space) == "shared::cta")
                continue;
              std::string form = "cp.async.bulk.tensor." + std::to_string(rank) + "d." + space +
                                 ".global" + tile + ".mbarrier::complete_tx::bytes" + multicast +
                                 group + hint;
              test::Run run =
                  program(expectTx(bytes) + "mov.b16 %rs1, 1;\n" + form + " [smem], [%rd2, " +
                          coordinates(shape.start) + "], [bar]" + (*multicast ? ", %rs1" : "") +
                          (*hint ? ", %rd1" : "") + ";\n" + waitBarrier("bar", 0, "W") +
                          dumpShared("smem", bytes));
              run.maps.push_back({shape.plan});
              Ran ran = runPtx(run);
              ASSERT_TRUE(ran.ok()) << form << ran.text();
              for (const BoxElement &e : boxOf(shape.plan, shape.start))
                for (size_t b = 0; b < 4; ++b)
                  ASSERT_EQ(ran.output[e.box + b], e.inside ? run.input[e.global + b] : 0) << form;
            }
  }
}

TEST(CopyForms, TensorGather) {
  TensorMapPlan plan = planOf(ElementType::U32, {16, 8}, {8, 1});
  for (const char *space : {"shared::cta", "shared::cluster"})
    for (const char *multicast : {"", ".multicast::cluster"})
      for (const char *group : {"", ".cta_group::1", ".cta_group::2"})
        for (const char *hint : {"", ".L2::cache_hint"}) {
          if (*multicast && std::string(space) == "shared::cta")
            continue;
          std::string form = std::string("cp.async.bulk.tensor.2d.") + space +
                             ".global.tile::gather4.mbarrier::complete_tx::bytes" + multicast +
                             group + hint;
          test::Run run = program(expectTx(128) + "mov.b16 %rs1, 1;\n" + form +
                                  " [smem], [%rd2, {8, 7, 2, 5, 0}], [bar]" +
                                  (*multicast ? ", %rs1" : "") + (*hint ? ", %rd1" : "") + ";\n" +
                                  waitBarrier("bar", 0, "W") + dumpShared("smem", 128));
          run.maps.push_back({plan});
          Ran ran = runPtx(run);
          ASSERT_TRUE(ran.ok()) << form << ran.text();
          const size_t rows[] = {7, 2, 5, 0};
          for (size_t i = 0; i < 128; ++i)
            ASSERT_EQ(ran.output[i], run.input[rows[i / 32] * 64 + 32 + i % 32]) << form;
        }
}

TEST(CopyForms, TensorStoresAndReductions) {
  const char *reductions[] = {"", "add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (size_t rank = 1; rank <= 5; ++rank) {
    Shape shape = shapeOf(rank);
    size_t bytes = boxBytes(shape.plan, shape.start);
    for (const char *op : reductions)
      for (const char *tile : {"", ".tile"})
        for (const char *hint : {"", ".L2::cache_hint"}) {
          std::string form = std::string("cp.") + (*op ? "reduce." : "") + "async.bulk.tensor." +
                             std::to_string(rank) + "d.global.shared::cta" + (*op ? "." : "") + op +
                             tile + ".bulk_group" + hint;
          test::Run run = program(fillFromInput("smem", bytes) + "fence.proxy.async;\n" + form +
                                  " [%rd2, " + coordinates(shape.start) + "], [smem]" +
                                  (*hint ? ", %rd1" : "") + ";\n" + drain);
          run.maps.push_back({shape.plan, true});
          Ran ran = runPtx(run);
          ASSERT_TRUE(ran.ok()) << form << ran.text();
          for (const BoxElement &e : boxOf(shape.plan, shape.start)) {
            uint32_t source = 0, result = 0;
            memcpy(&source, &run.input[e.box], 4);
            // The destination was zero. `dec` wraps to the source, `inc` counts below it.
            std::string name = op;
            if (name == "inc")
              result = source ? 1 : 0;
            else if (name != "min" && name != "and")
              result = source;
            if (e.inside) {
              ASSERT_EQ(ran.at<uint32_t>(e.global / 4), result) << form;
            }
          }
        }
  }
  TensorMapPlan plan = planOf(ElementType::U32, {16, 8}, {8, 1});
  test::Run run = program(fillFromInput("smem", 128) +
                          "fence.proxy.async;\ncp.async.bulk.tensor.2d.global.shared::cta.tile::"
                          "scatter4.bulk_group.L2::cache_hint [%rd2, {8, 7, 2, 5, 0}], [smem], "
                          "%rd1;\n" +
                          drain);
  run.maps.push_back({plan, true});
  Ran ran = runPtx(run);
  ASSERT_TRUE(ran.ok()) << ran.text();
  const size_t rows[] = {7, 2, 5, 0};
  for (size_t i = 0; i < 128; ++i)
    EXPECT_EQ(ran.output[rows[i / 32] * 64 + 32 + i % 32], run.input[i]);
}

TEST(CopyForms, TensorPrefetches) {
  std::string body;
  test::Run run = program("");
  for (size_t rank = 1; rank <= 5; ++rank) {
    Shape shape = shapeOf(rank);
    run.maps.push_back({shape.plan});
    for (const char *tile : {"", ".tile"})
      for (const char *hint : {"", ".L2::cache_hint"})
        body += "cp.async.bulk.prefetch.tensor." + std::to_string(rank) + "d.L2.global" + tile +
                hint + " [%rd" + std::to_string(1 + rank) + ", " + coordinates(shape.start) + "]" +
                (*hint ? ", %rd1" : "") + ";\n";
  }
  run.maps.push_back({planOf(ElementType::U32, {16, 8}, {8, 1})});
  for (const char *hint : {"", ".L2::cache_hint"})
    body += std::string("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4") + hint +
            " [%rd7, {8, 7, 2, 5, 0}]" + (*hint ? ", %rd1" : "") + ";\n";
  run.body = body;
  Ran ran = runPtx(run);
  EXPECT_TRUE(ran.ok()) << ran.text();
}

TEST(CopyForms, TensorMapFields) {
  // A map in global memory becomes another one field by field; a load through it shows all of them.
  TensorMapPlan plan = planOf(ElementType::F16, {64, 6, 3}, {32, 8, 2}, 64, {256, 2048});
  plan.elementStrides = {1, 2, 1};
  plan.fillNan = true;
  const std::vector<int> start{16, 1, 1};
  size_t bytes = boxBytes(plan, start);
  const char *scopes[] = {"cta", "cluster", "gpu", "sys"};
  for (int i = 0; i < 8; ++i) {
    const std::string space = i % 2 ? ".global" : "";
    auto replace = [&](const std::string &field, const std::string &rest,
                       const char *type = "b32") {
      return "tensormap.replace.tile." + field + space + ".b1024." + type + " [%rd10], " + rest +
             ";\n";
    };
    std::string copy;
    for (int at = 0; at < 128; at += 16)
      copy += "ld.param.v4.b32 {%r60, %r61, %r62, %r63}, [map0+" + std::to_string(at) +
              "];\nst.shared.v4.b32 [map+" + std::to_string(at) + "], {%r60, %r61, %r62, %r63};\n";
    test::Run run = program(
        "add.u64 %rd10, %rd0, 3072;\nadd.u64 %rd11, %rd1, 512;\nmov.b64 %rd12, 256;\n"
        "mov.b64 %rd13, 2048;\n" +
        copy + "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release." +
        scopes[i / 2] + ".sync.aligned [%rd10], [map], 128;\n" +
        replace("global_address", "%rd11", "b64") + replace("rank", "2") +
        replace("box_dim", "0, 32") + replace("box_dim", "1, 8") + replace("box_dim", "2, 2") +
        replace("global_dim", "0, 64") + replace("global_dim", "1, 6") +
        replace("global_dim", "2, 3") + replace("global_stride", "0, %rd12", "b64") +
        replace("global_stride", "1, %rd13", "b64") + replace("element_stride", "1, 2") +
        replace("elemtype", "6") + replace("interleave_layout", "0") +
        replace("swizzle_mode", "2") + replace("swizzle_atomicity", "0") +
        replace("fill_mode", "1") + expectTx(bytes) +
        "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [smem], "
        "[%rd10, " +
        coordinates(start) + "], [bar];\n" + waitBarrier("bar", 0, "W") +
        dumpShared("smem", bytes));
    run.maps.push_back({planOf(ElementType::I8, {64}, {16})});
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    for (const BoxElement &e : boxOf(plan, start))
      for (size_t b = 0; b < 2; ++b) {
        uint8_t expected = e.inside ? run.input[512 + e.global + b] : (b ? 0x7f : 0xf7);
        ASSERT_EQ(ran.output[placeOf(table64, 0, e.box + b)], expected);
      }
  }
}

TEST(CopyForms, LaunchControlByGenericAddress) {
  for (const char *multicast : {"", ".multicast::cluster::all"}) {
    test::Run run = program(
        "mov.u64 %rd5, bar;\ncvta.shared.u64 %rd5, %rd5;\nmov.u64 %rd6, smem;\n"
        "cvta.shared.u64 %rd6, %rd6;\n" +
        expectTx(16) + "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes" +
        multicast + ".b128 [%rd6], [%rd5];\n" + waitBarrier("bar", 0, "W") +
        "ld.shared.b128 %rq1, [smem];\n"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %rq1;\n"
        "mov.u32 %r1, %ctaid.z;\n@!%p2 bra END;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r2, %rq1;\n"
        "add.u32 %r3, %r1, %r2;\nst.global.b32 [%rd0], %r3;\nEND:\n");
    run.options.grid = {1, 1, 2};
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    EXPECT_EQ(ran.at<uint32_t>(0), 1u); // CTA 0 took over CTA 1
  }
  Ran alone = runPtx(program("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\n"));
  EXPECT_TRUE(alone.ok()) << alone.text();
}
