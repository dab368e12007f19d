// ld, st and their kin: every type, vector, space, order and hint; bounds, alignment, races.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

std::vector<uint8_t> pattern(size_t size) { // with and without sign bits
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = uint8_t(i * 73 + 0x91);
  return bytes;
}

uint64_t littleEndian(const std::vector<uint8_t> &bytes, size_t at, unsigned size) {
  uint64_t value = 0;
  memcpy(&value, bytes.data() + at, size);
  return value;
}

uint64_t signExtended(uint64_t value, unsigned bytes) {
  unsigned shift = 64 - 8 * bytes;
  return uint64_t(int64_t(value << shift) >> shift);
}

struct TypeCase {
  const char *name;
  unsigned bytes;
  bool isSigned, isFloat;
};
constexpr TypeCase types[] = {
    {"b8", 1, false, false},  {"u8", 1, false, false},  {"s8", 1, true, false},
    {"b16", 2, false, false}, {"u16", 2, false, false}, {"s16", 2, true, false},
    {"b32", 4, false, false}, {"u32", 4, false, false}, {"s32", 4, true, false},
    {"b64", 8, false, false}, {"u64", 8, false, false}, {"s64", 8, true, false},
    {"f32", 4, false, true},  {"f64", 8, false, true}};

/// The register kinds a type may be loaded into; the first is its own.
std::string registerFor(const TypeCase &type, unsigned bytes) {
  if (type.isFloat)
    return bytes == 4 ? "%f" : "%fd";
  return bytes == 8 ? "%rd1" : bytes == 4 ? "%r1" : "%rs"; // %rd1n, %r1n are free
}

std::string vectorOf(const std::string &reg, unsigned n) {
  std::string text = n > 1 ? "{" : "";
  for (unsigned i = 0; i < n; ++i)
    text += (i ? ", " : "") + reg + std::to_string(i);
  return text + (n > 1 ? "}" : "");
}

Run oneLane(std::string body) {
  test::Run run;
  run.body = std::move(body);
  run.options.block = {1, 1, 1};
  run.input = pattern(256);
  return run;
}

void expectOk(const Ran &ran, const std::string &what) {
  EXPECT_TRUE(ran.ok()) << what << "\n" << ran.text();
}
} // namespace

TEST(LoadStore, EveryTypeIntoEveryWidth) {
  for (const TypeCase &type : types)
    for (unsigned width : {2u, 4u, 8u}) {
      if (width < type.bytes || (type.isFloat && width != type.bytes))
        continue;
      std::string reg = registerFor(type, width) + "2";
      std::string ld = std::string("ld.global.") + type.name;
      Ran ran = runPtx(oneLane(ld + " " + reg + ", [%rd1+16];\nst.global.b" +
                               std::to_string(8 * width) + " [%rd0], " + reg + ";"));
      expectOk(ran, ld);
      uint64_t value = littleEndian(pattern(256), 16, type.bytes);
      if (type.isSigned)
        value = signExtended(value, type.bytes);
      if (width < 8)
        value &= (uint64_t(1) << 8 * width) - 1;
      EXPECT_EQ(littleEndian(ran.output, 0, width), value) << ld << " to " << reg;
      EXPECT_EQ(ran.output[width], 0);
    }
}

TEST(LoadStore, VectorsOfEveryTypeAndSpace) {
  for (const TypeCase &type : types)
    for (unsigned n : {1u, 2u, 4u, 8u}) {
      unsigned size = type.bytes * n;
      if (size > 32 || (n == 8 && type.bytes != 4))
        continue;
      std::string vec = n > 1 ? ".v" + std::to_string(n) : "";
      std::string reg = vectorOf(registerFor(type, std::max(type.bytes, 2u)), n);
      for (const char *space :
           {"global", "shared", "shared::cta", "shared::cluster", "local", "generic"}) {
        bool global = std::string_view(space) == "global", generic = *space == 'g' && !global;
        if (size > 16 && !global && !generic)
          continue;
        std::string ss = generic ? "" : std::string(".") + space;
        std::string place = global || generic ? "[%rd0+64]" : *space == 'l' ? "[lv+32]" : "[sv+32]";
        std::string tail = vec + "." + type.name + " ";
        test::Run run = oneLane(".shared .align 32 .b8 sv[128];\n.local .align 32 .b8 lv[128];\n"
                                "ld.global" +
                                tail + reg + ", [%rd1+32];\nst" + ss + tail + place + ", " + reg +
                                ";\nld" + ss + tail + reg + ", " + place + ";\nst.global" + tail +
                                "[%rd0], " + reg + ";");
        Ran ran = runPtx(run);
        expectOk(ran, run.body);
        std::vector<uint8_t> in = pattern(256);
        EXPECT_EQ(memcmp(ran.output.data(), in.data() + 32, size), 0) << run.body;
        EXPECT_EQ(ran.output[size], 0);
      }
    }
}

TEST(LoadStore, Registers128Bits) {
  for (const char *ss : {".global", ""}) {
    test::Run run = oneLane(std::string("ld") + ss + ".b128 %rq0, [%rd1+16];\nst" + ss +
                            ".b128 [%rd0], %rq0;\nld.relaxed.gpu.global.b128 %rq1, [%rd0];\n"
                            "st.release.gpu.global.b128 [%rd0+16], %rq1;");
    Ran ran = runPtx(run);
    expectOk(ran, run.body);
    EXPECT_EQ(memcmp(ran.output.data(), pattern(256).data() + 16, 16), 0);
    EXPECT_EQ(memcmp(ran.output.data() + 16, pattern(256).data() + 16, 16), 0);
  }
  Ran shared = runPtx(oneLane(".shared .align 16 .b8 sv[32];\nld.global.b128 %rq0, [%rd1];\n"
                              "st.shared.b128 [sv+16], %rq0;\nld.shared.b128 %rq1, [sv+16];\n"
                              "st.global.b128 [%rd0], %rq1;"));
  expectOk(shared, "shared");
  EXPECT_EQ(memcmp(shared.output.data(), pattern(256).data(), 16), 0);
}

TEST(LoadStore, OrdersScopesAndHints) {
  std::vector<std::string> loads = {"ld.weak.global",
                                    "ld.volatile.global",
                                    "ld.volatile",
                                    "ld.mmio.relaxed.sys.global",
                                    "ld.global.relaxed.gpu",
                                    "ldu.global",
                                    "ldu",
                                    "ld.global.nc",
                                    "ld.global.ca.nc",
                                    "ld.volatile.global.L2::64B"};
  std::vector<std::string> stores = {"st.weak.global", "st.volatile.global", "st.volatile",
                                     "st.mmio.relaxed.sys.global"};
  for (const char *scope : {"cta", "cluster", "gpu", "sys"})
    for (const char *ss : {".global", ""}) {
      for (const char *order : {"relaxed", "acquire"})
        loads.push_back(std::string("ld.") + order + "." + scope + ss);
      for (const char *order : {"relaxed", "release"})
        stores.push_back(std::string("st.") + order + "." + scope + ss);
    }
  for (const char *hint : {"ca", "cg", "cs", "lu", "cv", "L1::evict_normal", "L1::evict_unchanged",
                           "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B",
                           "L2::128B", "L2::256B", "L1::evict_last.L2::128B"}) {
    loads.push_back(std::string("ld.global.") + hint);
    if (*hint == 'L')
      loads.push_back(std::string("ld.global.nc.") + hint);
  }
  for (const char *hint : {"wb", "cg", "cs", "wt", "L1::evict_normal", "L1::evict_unchanged",
                           "L1::evict_first", "L1::evict_last", "L1::no_allocate"})
    stores.push_back(std::string("st.global.") + hint);
  std::string body;
  unsigned at = 0;
  for (const std::string &ld : loads)
    body += ld + ".b32 %r1, [%rd1+" + std::to_string(at % 256) + "];\nst.global.b32 [%rd0+" +
            std::to_string(at) + "], %r1;\n",
        at += 4;
  for (const std::string &st : stores)
    body += "ld.global.b32 %r1, [%rd1+" + std::to_string(at % 256) + "];\n" + st + ".b32 [%rd0+" +
            std::to_string(at) + "], %r1;\n",
        at += 4;
  body += "ld.global.L1::evict_last.L2::cache_hint.L2::256B.b32 %r1, [%rd1], %rd1;\n"
          "ld.global.cg.L2::cache_hint.b32 %r1, [%rd1], %rd1;\n"
          "st.global.L1::no_allocate.L2::cache_hint.b32 [%rd0], %r1, %rd1;\n"
          "ld.global.L1::evict_last.L2::evict_first.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, "
          "[%rd1];\nst.global.L2::evict_last.v4.b64 [%rd0], {%rd2,%rd2,%rd2,%rd2};\n";
  // The last store wrote %rd2, which is zero, over the first eight words.
  test::Run run = oneLane(body);
  Ran ran = runPtx(run);
  expectOk(ran, "orders");
  for (unsigned i = 32; i < at; i += 4)
    EXPECT_EQ(littleEndian(ran.output, i, 4), littleEndian(pattern(256), i % 256, 4)) << i / 4;
}

TEST(LoadStore, SharedOrders) {
  for (const char *order : {"volatile.shared", "relaxed.cta.shared::cta", "relaxed.cluster.shared",
                            "relaxed.cluster.shared::cluster", "relaxed.gpu.shared::cta"}) {
    test::Run run = oneLane(std::string(".shared .align 4 .b32 sv[4];\nst.") + order +
                            ".b32 [sv+4], 77;\nld." + order +
                            ".b32 %r1, [sv+4];\n"
                            "st.global.b32 [%rd0], %r1;");
    Ran ran = runPtx(run);
    expectOk(ran, run.body);
    EXPECT_EQ(ran.at<uint32_t>(0), 77u);
  }
}

TEST(LoadStore, SinksAndLiterals) {
  Ran ran = runPtx(
      oneLane("ld.global.v8.b32 {%r1,_,%r2,%r3,%r4,%r5,%r6,_}, [%rd1];\n"
              "st.global.v8.b32 [%rd0], {%r1,_,%r2,%r3,%r4,%r5,%r6,_};\n"
              "st.global.f32 [%rd0+64], 0f40490FDB;\nst.global.f64 [%rd0+72], 0d400921FB54442D18;\n"
              "st.global.u8 [%rd0+80], 513;\nst.global.s16 [%rd0+82], -2;\n"
              "st.global.v2.b32 [%rd0+88], {7, -1};"));
  expectOk(ran, "sinks");
  std::vector<uint8_t> in = pattern(256);
  for (unsigned i = 0; i < 8; ++i)
    EXPECT_EQ(ran.at<uint32_t>(i), i == 1 || i == 7 ? 0u : littleEndian(in, 4 * i, 4)) << i;
  EXPECT_EQ(ran.at<float>(16), 3.14159274f);
  EXPECT_EQ(ran.at<double>(9), 3.14159265358979312);
  EXPECT_EQ(ran.output[80], 1);
  EXPECT_EQ(ran.output[81], 0);
  EXPECT_EQ(ran.at<int16_t>(41), -2);
  EXPECT_EQ(ran.at<uint32_t>(22), 7u);
  EXPECT_EQ(ran.at<uint32_t>(23), 0xffffffffu);
}

TEST(LoadStore, ConstantsParametersAndGenericForms) {
  test::Run run =
      oneLane("ld.const.u32 %r1, [cv+4];\nst.global.u32 [%rd0], %r1;\n"
              "mov.u64 %rd2, cv;\ncvta.const.u64 %rd2, %rd2;\nld.u32 %r1, [%rd2+8];\n"
              "st.u32 [%rd0+4], %r1;\nld.const.v2.s16 {%r1, %r2}, [cv+12];\n"
              "st.v2.b32 [%rd0+8], {%r1, %r2};\nld.param::entry.b64 %rd3, [in];\n"
              "ld.global.b32 %r3, [%rd3];\nst.global.b32 [%rd0+16], %r3;\n"
              "ld.param.v2.b32 {%r4, %r5}, [out];\nst.global.v2.b32 [%rd0+24], {%r4, %r5};\n"
              "st.global.b64 [%rd0+32], %rd0;\nld.global.b32 %r6, [%rd1].unified;\nst.global.b32 "
              "[%rd0+40], %r6;");
  run.globals = ".const .align 8 .b32 cv[4] = {1, 2, 3, 0x8001ffff};\n";
  Ran ran = runPtx(run);
  expectOk(ran, "const");
  EXPECT_EQ(ran.at<uint32_t>(0), 2u);
  EXPECT_EQ(ran.at<uint32_t>(1), 3u);
  EXPECT_EQ(ran.at<int32_t>(2), -1);
  EXPECT_EQ(ran.at<int32_t>(3), -32767);
  EXPECT_EQ(ran.at<uint32_t>(4), littleEndian(pattern(256), 0, 4));
  EXPECT_EQ(ran.at<uint64_t>(3), ran.at<uint64_t>(4));
  EXPECT_EQ(ran.at<uint32_t>(10), littleEndian(pattern(256), 0, 4));
}

TEST(LoadStore, LanesHaveTheirOwnLocalMemory) {
  Ran ran = runPtx(".local .align 8 .b8 lv[16];\nst.local.u32 [lv+8], %r0;\n"
                   "mov.u64 %rd2, lv;\ncvta.local.u64 %rd3, %rd2;\nld.u32 %r1, [%rd3+8];\n"
                   "mul.wide.u32 %rd4, %r0, 4;\nadd.u64 %rd4, %rd4, %rd0;\n"
                   "st.global.u32 [%rd4], %r1;");
  expectOk(ran, "local");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(ran.at<uint32_t>(i), i);
}

TEST(LoadStore, AllocaAndTheStack) {
  Ran ran = runPtx("stacksave.u64 %rd5;\nalloca.u64 %rd2, 64;\nalloca.u64 %rd3, 24, 32;\n"
                   "st.local.u32 [%rd2+60], %r0;\nst.local.u32 [%rd3], 9;\n"
                   "ld.local.u32 %r1, [%rd2+60];\nsub.u64 %rd6, %rd3, %rd2;\n"
                   "stackrestore.u64 %rd5;\nstacksave.u32 %r7;\nalloca.u32 %r8, 40;\n"
                   "stackrestore.u32 %r7;\nalloca.u64 %rd7, 8;\nsub.u64 %rd7, %rd7, %rd2;\n"
                   "mul.wide.u32 %rd4, %r0, 32;\nadd.u64 %rd4, %rd4, %rd0;\n"
                   "st.global.u32 [%rd4], %r1;\nst.global.u64 [%rd4+8], %rd6;\n"
                   "st.global.u64 [%rd4+16], %rd7;");
  expectOk(ran, "alloca");
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(ran.at<uint32_t>(8 * i), i);
    EXPECT_GE(ran.at<uint64_t>(4 * i + 1), 64u);
    EXPECT_EQ(ran.at<uint64_t>(4 * i + 2), 0u) << "restored stack begins where it did";
  }
}

TEST(LoadStore, HintsDoNothingAndDiscardPoisons) {
  test::Run run =
      oneLane("prefetch.global.L1 [%rd1];\nprefetch.global.L2 [%rd1];\nprefetch.L1 [%rd1];\n"
              "prefetch.L2 [%rd1];\nprefetch.global.L2::evict_last [%rd1];\n"
              "prefetch.global.L2::evict_normal [%rd1];\nprefetchu.L1 [%rd1];\n"
              "prefetch.local.L1 [%rd1];\n"
              "prefetch.tensormap [%rd1];\napplypriority.global.L2::evict_normal [%rd1], 128;\n"
              "applypriority.L2::evict_normal [%rd1], 128;\n"
              "ld.global.u32 %r1, [%rd1];\ndiscard.global.L2 [%rd1], 128;\n"
              "ld.global.u32 %r2, [%rd1];\ndiscard.L2 [%rd1+128], 128;\n"
              "st.global.v2.b32 [%rd0], {%r1, %r2};");
  Ran ran = runPtx(run);
  expectOk(ran, "hints");
  EXPECT_EQ(ran.at<uint32_t>(0), littleEndian(pattern(256), 0, 4));
  EXPECT_EQ(ran.at<uint32_t>(1), 0xffffffffu);
}

TEST(LoadStore, BadAddressesAreNamed) {
  auto faults = [](const char *body, FaultKind kind, const char *text) {
    Ran ran = runPtx(oneLane(body));
    EXPECT_TRUE(ran.faults(kind)) << body << ran.text();
    EXPECT_NE(ran.text().find(text), std::string::npos) << ran.text();
  };
  faults("ld.global.u32 %r1, [%rd1+2];", FaultKind::Alignment, "multiple of 4");
  faults("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1+8];", FaultKind::Alignment, "multiple of 16");
  faults("ld.global.u32 %r1, [%rd1+256];", FaultKind::OutOfBounds, "256 bytes");
  faults("st.global.u8 [%rd0+-1], 0;", FaultKind::OutOfBounds, "before an allocation");
  faults("st.u32 [0], 0;", FaultKind::OutOfBounds, "writes 4 bytes");
  faults(".shared .b32 sv[4];\nld.shared.u32 %r1, [sv+16];", FaultKind::OutOfBounds, "shared");
  faults(".shared .b32 sv[4];\nld.shared.u32 %r1, [sv];\nst.global.u32 [%rd0], %r1;",
         FaultKind::Uninitialised, "nothing");
  faults(".local .b32 lv[4];\nld.local.u32 %r1, [lv+1048576];", FaultKind::OutOfBounds, "local");
  faults("ld.shared::cluster.u32 %r1, [0x5000400];", FaultKind::OutOfBounds, "CTA 5");
  faults("ld.param.u32 %r1, [out+64];", FaultKind::OutOfBounds, "parameters");
}

TEST(LoadStore, RefusedForms) {
  for (const char *body :
       {"ld.global.foo.u32 %r1, [%rd1];", "ld.acquire.global.u32 %r1, [%rd1];",
        "ld.release.gpu.global.u32 %r1, [%rd1];", "st.acquire.gpu.global.u32 [%rd1], %r1;",
        "ld.global.u64 %r1, [%rd1];", "ld.global.v2.u32 %r1, [%rd1];", "st.const.u32 [%rd1], %r1;",
        "ld.global.pred %p1, [%rd1];", "ld.global.global.u32 %r1, [%rd1];",
        "ld.global.L2::cache_hint.u32 %r1, [%rd1];", "ld.global.u32 %r1, [%rd1], %rd2;",
        "st.bulk.weak.shared::cta [%r1], 64, 1;", "prefetch.shared.L1 [%rd1];"}) {
    Ran ran = runPtx(oneLane(body));
    EXPECT_TRUE(ran.faults(FaultKind::Unsupported)) << body << ran.text();
  }
}

namespace {
/// Warp 0 does `first`, warp 1 `second`; `before` and `between` are done by both.
Ran twoWarps(const std::string &before, const std::string &first, const std::string &second,
             Schedule schedule = {}) {
  test::Run run;
  run.body = ".shared .align 16 .b32 data[32];\n.shared .align 8 .b32 flag[2];\n" + before +
             "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra SECOND;\n" + first + "bra END;\nSECOND:\n" +
             second + "END:\n";
  run.options.block = {64, 1, 1};
  run.options.schedule = std::move(schedule);
  return runPtx(run);
}
const char *initFlag = "setp.lt.u32 %p3, %r0, 32;\n@%p3 st.shared.u32 [flag], 0;\nbar.sync 0;\n";
std::string spin(const char *order) {
  return std::string("LOOP:\nld.") + order +
         ".u32 %r1, [flag];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra LOOP;\n";
}
const char *consume = "ld.shared.u32 %r2, [data];\nst.global.u32 [%rd0], %r2;\n";
} // namespace

TEST(LoadStore, PlainAccessesOfTwoWarpsRace) {
  EXPECT_TRUE(twoWarps("", "st.shared.u32 [data], 5;\n", consume).faults(FaultKind::Race));
  Ran ordered = twoWarps("", "st.shared.u32 [data], 5;\nbar.sync 0;\n",
                         std::string("bar.sync 0;\n") + consume);
  expectOk(ordered, "barrier");
  EXPECT_EQ(ordered.at<uint32_t>(0), 5u);
  EXPECT_TRUE(twoWarps(initFlag, "st.shared.u32 [flag], 1;\n", spin("volatile.shared"))
                  .faults(FaultKind::Race))
      << "a plain store races with a strong load";
}

TEST(LoadStore, ReleaseAndAcquireOrder) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Schedule random = randomSchedule(seed);
    Ran ran = twoWarps(initFlag, "st.shared.u32 [data], 5;\nst.release.cta.shared.u32 [flag], 1;\n",
                       spin("acquire.cta.shared") + consume, random);
    expectOk(ran, "release/acquire");
    EXPECT_EQ(ran.at<uint32_t>(0), 5u);
    EXPECT_TRUE(twoWarps(initFlag,
                         "st.shared.u32 [data], 5;\nst.relaxed.cta.shared.u32 [flag], 1;\n",
                         spin("acquire.cta.shared") + consume, random)
                    .faults(FaultKind::Race))
        << "a relaxed store publishes nothing";
    EXPECT_TRUE(twoWarps(initFlag,
                         "st.shared.u32 [data], 5;\nst.release.cta.shared.u32 [flag], 1;\n",
                         spin("relaxed.cta.shared") + consume, random)
                    .faults(FaultKind::Race))
        << "a relaxed load takes nothing over";
  }
}

TEST(LoadStore, AsyncStoresAreSeenThroughTheirBarrier) {
  struct Case {
    const char *op, *values;
    unsigned bytes;
    uint64_t expected;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32", "%r20", 4, 41},
           {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64", "%rd20", 8, 42},
           {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.s32", "{%r20, %r21}", 8,
            41 | uint64_t(43) << 32},
           {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32",
            "{%r20, %r21, %r20, %r21}", 16, 41 | uint64_t(43) << 32},
           {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64", "{%rd20, %rd20}", 16,
            42},
           {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
            "%r20", 4, 41 + 100},
           {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s64",
            "%rd20", 8, 42 + 100},
           {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32",
            "%r20", 4, 41},
           {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32",
            "%r20", 4, 100},
           {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32",
            "%r20", 4, 0},
           {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.dec.u32",
            "%r20", 4, 41},
           {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32",
            "%r20", 4, 41 ^ 100}}) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      test::Run run;
      // CTA 0 stores into CTA 1 and completes a barrier there.
      run.body = ".shared .align 16 .b64 data[2];\n.shared .align 8 .b64 bar;\n"
                 "mov.u32 %r20, 41;\nmov.u32 %r21, 43;\nmov.u64 %rd20, 42;\nmov.u64 %rd21, 100;\n"
                 "mov.u32 %r5, %cluster_ctarank;\nsetp.eq.u32 %p1, %r5, 0;\n"
                 "@!%p1 st.shared.u64 [data], %rd21;\n@!%p1 st.shared.u64 [data+8], 0;\n"
                 "@!%p1 mbarrier.init.shared.b64 [bar], 1;\n"
                 "@!%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], " +
                 std::to_string(c.bytes) +
                 ";\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                 "mov.u32 %r6, data;\nmapa.shared::cluster.u32 %r6, %r6, 1;\n"
                 "mov.u32 %r7, bar;\nmapa.shared::cluster.u32 %r7, %r7, 1;\n@%p1 " +
                 c.op + " [%r6], " + c.values +
                 ", [%r7];\n@%p1 bra END;\n"
                 "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n"
                 "ld.shared.u64 %rd10, [data];\nst.global.u64 [%rd0], %rd10;\nEND:\n"
                 "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
      run.options.grid = run.options.cluster = {2, 1, 1};
      run.options.block = {1, 1, 1};
      run.options.schedule = randomSchedule(seed);
      Ran ran = runPtx(run);
      expectOk(ran, c.op);
      EXPECT_EQ(c.bytes == 4 ? ran.at<uint32_t>(0) : ran.at<uint64_t>(0), c.expected) << c.op;
    }
  }
}

TEST(LoadStore, AsyncStoreWithoutItsBarrierRaces) {
  test::Run run;
  run.body = ".shared .align 16 .b64 data[2];\n.shared .align 8 .b64 bar;\n"
             "mbarrier.init.shared.b64 [bar], 1;\n"
             "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 4;\n"
             "mov.u32 %r6, data;\nmov.u32 %r7, bar;\n"
             "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], 1, [%r7];\n"
             "ld.shared.u32 %r1, [data];\n";
  run.options.block = {1, 1, 1};
  EXPECT_TRUE(runPtx(run).faults(FaultKind::Race));
}

TEST(LoadStore, GlobalAsyncForms) {
  Ran ran = runPtx(oneLane("st.async.release.gpu.global.u32 [%rd0], 3;\n"
                           "st.async.release.sys.global.b64 [%rd0+8], 4;\n"
                           "st.async.mmio.release.sys.global.u32 [%rd0+16], 5;\n"
                           "st.async.release.gpu.global.b8 [%rd0+20], 6;\n"
                           "red.async.release.gpu.global.add.u32 [%rd0], 10;\n"
                           "red.async.mmio.release.sys.global.add.u32 [%rd0+16], 10;\n"
                           "red.async.release.sys.global.add.s64 [%rd0+8], -1;\n"));
  expectOk(ran, "global");
  EXPECT_EQ(ran.at<uint32_t>(0), 13u);
  EXPECT_EQ(ran.at<uint64_t>(1), 3u);
  EXPECT_EQ(ran.at<uint32_t>(4), 15u);
  EXPECT_EQ(ran.at<uint32_t>(5), 6u);
}

TEST(LoadStore, BulkInitialisation) {
  Ran ran =
      runPtx(oneLane(".shared .align 16 .b64 data[8];\nst.shared.u64 [data+40], -1;\n"
                     "mov.u32 %r1, data;\nst.bulk.weak.shared::cta [%r1], 40, 0;\n"
                     "ld.shared.u64 %rd2, [data+32];\nld.shared.u64 %rd3, [data+40];\n"
                     "st.global.v2.u64 [%rd0], {%rd2, %rd3};\n"
                     "mov.u64 %rd4, data;\ncvta.shared.u64 %rd5, %rd4;\n"
                     "mov.u64 %rd6, 64;\nst.bulk [%rd5], %rd6, 0;\nst.bulk.weak [%rd5], %rd6, 0;\n"
                     "st.bulk.shared::cta [%r1], %rd6, 0;\n"
                     "ld.shared.u64 %rd3, [data+40];\nst.global.u64 [%rd0+16], %rd3;\n"
                     "st.global.u64 [%rd0+24], -1;"));
  expectOk(ran, "bulk");
  EXPECT_EQ(ran.at<uint64_t>(0), 0u);
  EXPECT_EQ(ran.at<int64_t>(1), -1);
  EXPECT_EQ(ran.at<int64_t>(2), 0);
  EXPECT_TRUE(runPtx(oneLane(".shared .align 16 .b64 data[8];\nmov.u32 %r1, data;\n"
                             "st.bulk.weak.shared::cta [%r1], 12, 0;"))
                  .faults(FaultKind::Alignment));
}
