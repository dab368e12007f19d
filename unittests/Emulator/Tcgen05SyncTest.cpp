// tcgen05.commit in every form, products under hostile schedules, and the rarer parts of the
// arithmetic: saturation, zero-column masks. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Tcgen05MmaKernel.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

TEST(Tcgen05Sync, CommitForms) {
  struct Form {
    unsigned group;
    const char *modifiers, *operands;
  };
  // The barrier by its shared and by its generic address; all CTAs of the mask get an arrival.
  for (const Form &f : {Form{1, ".shared::cluster.b64", "[%r422]"}, Form{1, ".b64", "[%rd50]"},
                        Form{1, ".shared::cluster.multicast::cluster.b64", "[%r422], 1"},
                        Form{1, ".multicast::cluster.b64", "[%rd50], 1"},
                        Form{2, ".shared::cluster.multicast::cluster.b64", "[%r422], 3"},
                        Form{2, ".shared::cluster.b64", "[%r422]"}, Form{2, ".b64", "[%rd50]"},
                        Form{2, ".multicast::cluster.b64", "[%rd50], %rs1"}}) {
    MmaCase c;
    c.n = 32;
    c.group = f.group;
    c.m = 128 * f.group;
    TensorKernel kernel = c.kernel();
    kernel.commits = false;
    kernel.body += "cvt.u64.u32 %rd50, %r422;\ncvta.shared.u64 %rd50, %rd50;\nmov.b16 %rs1, 3;\n"
                   "tcgen05.commit." +
                   kernel.groupName() + ".mbarrier::arrive::one" + f.modifiers + " " + f.operands +
                   ";\n";
    // Without multicast the peer would wait for ever: it gets an arrival through its own address.
    if (f.group == 2 && std::string(f.modifiers).find("multicast") == std::string::npos)
      kernel.body += "xor.b32 %r424, %r422, 0x1000000;\n"
                     "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 "
                     "[%r424];\n";
    EXPECT_EQ(c.compare(kernel, kernel.run()), "");
  }
}

TEST(Tcgen05Sync, CommitToMissingCta) {
  MmaCase c;
  c.n = 32;
  TensorKernel kernel = c.kernel();
  kernel.body += "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::"
                 "cluster.b64 [%r422], 2;\n";
  EXPECT_TRUE(kernel.run().faults(FaultKind::OutOfBounds));
}

TEST(Tcgen05Sync, CommitTracksWhatIsBefore) {
  // A second commit of the same thread is one more arrival.
  MmaCase c;
  c.n = 32;
  TensorKernel kernel = c.kernel();
  kernel.body += "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r422];\n";
  Ran ran = kernel.run();
  EXPECT_EQ(c.compare(kernel, ran), "");
}

TEST(Tcgen05Sync, CommitPublishesWhatWasAcquired) {
  // Warp 1 writes and hands over to warp 0, which commits without a product; then warp 2 writes.
  auto handOn = [](const std::string &beforeWait, const std::string &behindWait) {
    const std::string commit =
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r11];\n";
    auto wait = [](const char *barrier, const std::string &label) {
      return label + ":\nmbarrier.try_wait.parity.shared::cta.b64 %p5, [" + barrier +
             "], 0;\n@!%p5 bra " + label + ";\n";
    };
    auto placed = [&](std::string text) {
      if (size_t at = text.find("COMMIT"); at != std::string::npos)
        text.replace(at, 6, commit);
      return text;
    };
    ts::emu::test::Run run;
    run.globals = ".shared .align 8 .b64 first;\n.shared .align 8 .b64 second;\n"
                  ".shared .align 4 .b32 word;\n.shared .align 4 .b32 other;\n";
    run.body = "mov.u32 %r11, second;\nsetp.eq.u32 %p1, %r0, 0;\nsetp.eq.u32 %p2, %r0, 32;\n"
               "setp.eq.u32 %p3, %r0, 64;\n@%p1 mbarrier.init.shared::cta.b64 [first], 1;\n"
               "@%p1 mbarrier.init.shared::cta.b64 [second], 1;\nbar.sync 0;\n"
               "@%p1 bra multiplier;\n@%p2 bra writer;\n@%p3 bra again;\nbra end;\n"
               "writer:\nst.shared.b32 [word], 1;\nmbarrier.arrive.shared::cta.b64 _, [first];\n"
               "bra end;\nmultiplier:\n" +
               placed(beforeWait) + wait("first", "handed") + placed(behindWait) +
               "bra end;\nagain:\n" + wait("second", "on") +
               "st.shared.b32 [word], 2;\nst.shared.b32 [other], 2;\nend:\n";
    run.options.block = {96, 1, 1};
    return runPtx(run);
  };
  EXPECT_EQ(handOn("", "COMMIT").text(), "");
  // Neither what the thread acquires later, nor its own accesses, which no operation waits for.
  EXPECT_TRUE(handOn("COMMIT", "").faults(FaultKind::Race));
  EXPECT_TRUE(handOn("", "st.shared.b32 [other], 1;\nCOMMIT").faults(FaultKind::Race));
}

TEST(Tcgen05Sync, Schedules) {
  for (unsigned group : {1u, 2u}) {
    MmaCase c;
    c.n = 32;
    c.group = group;
    c.m = 128 * group;
    c.tmemA = true;
    TensorKernel kernel = c.kernel();
    Ran fair = kernel.run();
    ASSERT_EQ(c.compare(kernel, fair), "");
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      kernel.options.schedule.kind = Schedule::Kind::Random;
      kernel.options.schedule.seed = seed;
      EXPECT_EQ(c.compare(kernel, kernel.run()), "");
    }
    for (unsigned victim = 0; victim < fair.result.actors; ++victim) {
      kernel.options.schedule.kind = Schedule::Kind::Adversarial;
      kernel.options.schedule.victim = victim;
      EXPECT_EQ(c.compare(kernel, kernel.run()), "");
    }
  }
}

TEST(Tcgen05Sync, ScaleFactorsByCopy) {
  // cp and the mma that reads what it wrote need nothing between them.
  MmaCase c;
  c.kind = "mxf8f6f4";
  c.suffix = ".block_scale";
  c.a = c.b = e4m3;
  c.vectors = 1;
  c.steps = 1;
  TensorKernel kernel = c.kernel();
  unsigned column = c.columnOfScales(0, false), start = unsigned(kernel.shared[0].size());
  // The four words of a lane beside each other, 32 lanes in core matrices of 8: by hand.
  kernel.shared[0].resize(start + 512);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned word = 0; word < 4; ++word) {
      uint32_t value = kernel.cell(0, lane, column + word);
      memcpy(kernel.shared[0].data() + start + lane * 16 + word * 4, &value, 4);
      for (unsigned quarter = 0; quarter < 4; ++quarter)
        kernel.cell(0, quarter * 32 + lane, column + word) = 0;
    }
  TileLayout tile;
  tile.swizzle = 0;
  tile.rows = 32;
  tile.k = 16;
  tile.bits = 8;
  kernel.body = descriptor(30, start, tcgen05Bits(tile)) + "add.u32 %r415, %r410, " +
                std::to_string(column) +
                ";\ntcgen05.cp.cta_group::1.32x128b.warpx4 [%r415], %rd30;\n" + kernel.body;
  Ran ran = kernel.run();
  EXPECT_EQ(c.compare(kernel, ran), "");
  EXPECT_TRUE(ran.result.warnings.empty());
}

TEST(Tcgen05Sync, Saturation) {
  for (bool saturate : {false, true}) {
    MmaCase c;
    c.kind = "i8";
    c.a = c.b = s8;
    c.d = "s32";
    c.steps = 1;
    c.n = 16;
    c.saturate = saturate;
    c.accumulate = true;
    TensorKernel kernel = c.kernel();
    // D close to its limits.
    for (unsigned row = 0; row < 128; ++row)
      for (unsigned column = 0; column < 16; ++column)
        kernel.cell(0, row, column) = row % 2 ? 0x7ffffffe : 0x80000001;
    Ran ran = kernel.run();
    ASSERT_EQ(ran.text(), "");
    for (unsigned row = 0; row < 128; ++row)
      for (unsigned column = 0; column < 16; ++column) {
        int64_t exact = (row % 2 ? 0x7ffffffell : -0x7fffffffll) + int64_t(c.product(row, column));
        int64_t clamped = std::min<int64_t>(std::max<int64_t>(exact, INT32_MIN), INT32_MAX);
        ASSERT_EQ(kernel.result(ran, 0, row, column), uint32_t(saturate ? clamped : exact));
      }
  }
}

/// The examples of the PTX ISA, "Zero-Column Mask Descriptor": lowest bits last, as printed there.
std::vector<bool> columns(const std::string &period, unsigned count, unsigned skipped = 0) {
  std::vector<bool> bits;
  for (unsigned i = 0; i < count; ++i)
    bits.push_back(period[period.size() - 1 - (i + skipped) % period.size()] == '1');
  return bits;
}

TEST(Tcgen05Sync, ColumnMasks) {
  auto descriptorOf = [](std::array<unsigned, 4> start, unsigned first, unsigned shift) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 4; ++i)
      bits |= uint64_t(start[i]) << 8 * i;
    return bits | uint64_t(first) << 32 | uint64_t(1) << 39 | uint64_t(2) << 40 |
           uint64_t(3) << 48 | uint64_t(shift) << 56;
  };
  MmaCase c;
  c.ws = true;
  c.n = 64;
  c.m = 128;
  c.maskDescriptor = descriptorOf({0, 0, 0, 0}, 0, 0); // ... 111 0000 111 0000
  c.zeroColumns = columns("1110000", 64);
  EXPECT_EQ(c.check(), "");
  c.m = 64;
  c.maskDescriptor = descriptorOf({0, 0, 0, 0}, 1, 0); // ... 111 0000 111 and 111 0000
  c.zeroColumns = columns("0000111", 32);
  std::vector<bool> second = columns("1110000", 32);
  c.zeroColumns.insert(c.zeroColumns.end(), second.begin(), second.end());
  EXPECT_EQ(c.check(), "");
  c.m = 32;
  c.n = 128;
  c.shift = 2;
  c.maxShift = 1; // 8
  c.maskDescriptor = descriptorOf({0, 1, 2, 1}, 3, 2);
  c.zeroColumns = columns("0000111", 32);
  for (const auto &part :
       {columns("0000111", 32, 1), columns("1110000", 32, 2), columns("1110000", 32, 1)})
    c.zeroColumns.insert(c.zeroColumns.end(), part.begin(), part.end());
  EXPECT_EQ(c.check(), "");
  c.maxShift = 0;
  EXPECT_TRUE(c.kernel().run().faults(FaultKind::Descriptor));
}

} // namespace
