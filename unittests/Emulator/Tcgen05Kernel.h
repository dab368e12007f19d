// A kernel around tcgen05 instructions, for tests: fills shared memory and tensor memory from the
// input, runs what the test wants in one thread, waits for its commit, and writes tensor memory out
// cell by cell. Layouts are written here from the tables of the PTX ISA.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_TCGEN05KERNEL_H
#define TS_UNITTESTS_EMULATOR_TCGEN05KERNEL_H

#include "WgmmaKernel.h"

namespace ts::emu::test {

/// Per CTA: bytes of shared memory and words of tensor memory, lane after lane.
struct TensorKernel {
  unsigned group = 1;    // CTAs
  unsigned columns = 32; // of tensor memory
  std::vector<std::vector<uint8_t>> shared;
  std::vector<std::vector<uint32_t>> tmem;
  std::vector<bool> columnGiven; // which columns are written before
  /// By one thread of CTA 0: %r400 is the address of the shared memory, %r410 of tensor memory.
  std::string body;
  bool commits = true;
  /// By all threads behind that: %r411 is the address of the warp's lanes, %rd46 where
  /// `extraWords` words of this thread go.
  std::string everyone;
  unsigned extraWords = 0;
  bool frees = true;
  LaunchOptions options; // schedule and checks; the shape of the launch is filled in

  explicit TensorKernel(unsigned columns = 32, unsigned group = 1, unsigned sharedBytes = 2048)
      : group(group), columns(columns), shared(group, std::vector<uint8_t>(sharedBytes, 0)),
        tmem(group, std::vector<uint32_t>(128 * size_t(columns), 0)), columnGiven(columns, false) {
    options.checkUninitialised = false; // cells that no test writes are read out, too
  }

  uint32_t &cell(unsigned cta, unsigned lane, unsigned column) {
    columnGiven[column] = true;
    return tmem[cta][size_t(lane) * columns + column];
  }
  std::string groupName() const { return "cta_group::" + std::to_string(group); }
  Ran run() const;
  uint32_t extra(const Ran &ran, unsigned thread, unsigned word) const {
    return ran.at<uint32_t>(size_t(group) * 128 * columns + size_t(thread) * extraWords + word);
  }
  uint32_t result(const Ran &ran, unsigned cta, unsigned lane, unsigned column) const {
    return ran.at<uint32_t>((size_t(cta) * 128 + lane) * columns + column);
  }
};

inline Ran TensorKernel::run() const {
  auto num = [](size_t n) { return std::to_string(n); };
  size_t sharedBytes = (shared[0].size() + 2047) / 2048 * 2048;
  Run run;
  run.globals = ".shared .align 1024 .b8 smem[" + num(sharedBytes) +
                "];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 slot;\n";
  for (const std::vector<uint8_t> &bytes : shared) {
    run.input.insert(run.input.end(), bytes.begin(), bytes.end());
    run.input.resize((run.input.size() + sharedBytes - 1) / sharedBytes * sharedBytes, 0);
  }
  size_t tmemStart = run.input.size();
  for (const std::vector<uint32_t> &words : tmem) {
    std::vector<uint8_t> bytes = bytesOf(words);
    run.input.insert(run.input.end(), bytes.begin(), bytes.end());
  }
  run.outputBytes = size_t(group) * 128 * (columns + extraWords) * 4;
  run.options = options;
  run.options.threads = 1;
  run.options.block = {128, 1, 1};
  run.options.grid = run.options.cluster = {group, 1, 1};

  std::string &text = run.body;
  std::string sync = group == 2 ? "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                                : "bar.sync 0;\n";
  text = "mov.u32 %r420, %cluster_ctarank;\nmov.u64 %rd42, %rd1;\n"
         "mul.wide.u32 %rd43, %r420, " +
         num(sharedBytes) + ";\nadd.s64 %rd1, %rd1, %rd43;\n" + fillShared(unsigned(sharedBytes)) +
         "shr.u32 %r421, %r0, 5;\nsetp.ne.u32 %p20, %r421, 0;\nsetp.ne.u32 %p21, %r0, 0;\n"
         "mov.u32 %r422, bar;\nmov.u32 %r423, slot;\n"
         "@%p20 bra allocated;\ntcgen05.alloc." +
         groupName() + ".sync.aligned.shared::cta.b32 [%r423], " + num(columns) +
         ";\n"
         "tcgen05.relinquish_alloc_permit." +
         groupName() +
         ".sync.aligned;\nallocated:\n"
         "@%p21 bra initialised;\nmbarrier.init.shared.b64 [%r422], 1;\n"
         "fence.mbarrier_init.release.cluster;\ninitialised:\n"
         "tcgen05.fence::before_thread_sync;\n" +
         sync +
         "tcgen05.fence::after_thread_sync;\n"
         "ld.shared.b32 %r410, [%r423];\n"
         // %r411: this warp's lanes; %rd44 and %rd45: this thread's words in and out.
         "shl.b32 %r411, %r421, 21;\nadd.u32 %r411, %r411, %r410;\n"
         "shl.b32 %r412, %r420, 7;\nadd.u32 %r412, %r412, %r0;\n"
         "mul.wide.u32 %rd44, %r412, " +
         num(4 * columns) +
         ";\n"
         "add.s64 %rd45, %rd44, %rd0;\nadd.s64 %rd44, %rd44, %rd42;\n";
  bool any = false;
  for (unsigned c = 0; c < columns; ++c)
    if (columnGiven[c]) {
      any = true;
      text += "ld.global.b32 %r413, [%rd44+" + num(tmemStart + 4 * c) +
              "];\n"
              "add.u32 %r414, %r411, " +
              num(c) + ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r414], {%r413};\n";
    }
  if (any)
    text += "tcgen05.wait::st.sync.aligned;\n";
  text += "tcgen05.fence::before_thread_sync;\n" + sync + "tcgen05.fence::after_thread_sync;\n";
  if (!body.empty()) {
    text += "setp.ne.u32 %p22, %r420, 0;\nor.pred %p22, %p22, %p21;\n@%p22 bra issued;\n" + body;
    if (commits)
      text += "tcgen05.commit." + groupName() + ".mbarrier::arrive::one.shared::cluster" +
              (group == 2 ? ".multicast::cluster.b64 [%r422], 3;\n" : ".b64 [%r422];\n");
    text += "issued:\nwaiting:\n"
            "mbarrier.try_wait.parity.shared.b64 %p23, [%r422], 0;\n@!%p23 bra waiting;\n"
            "tcgen05.fence::after_thread_sync;\n";
  }
  if (!everyone.empty())
    text += "mul.wide.u32 %rd46, %r412, " + num(4 * extraWords) +
            ";\nadd.s64 %rd46, %rd46, %rd0;\n" + "add.s64 %rd46, %rd46, " +
            num(size_t(group) * 128 * columns * 4) + ";\n" + everyone;
  for (unsigned c = 0; c < columns; c += 32) {
    text += "add.u32 %r414, %r411, " + num(c) + ";\ntcgen05.ld.sync.aligned.32x32b.x32.b32 " +
            registerList(1, 32) + ", [%r414];\ntcgen05.wait::ld.sync.aligned;\n";
    for (unsigned i = 0; i < 32; ++i)
      text += "st.global.b32 [%rd45+" + num(4 * (c + i)) + "], %r" + num(1 + i) + ";\n";
  }
  text += "tcgen05.fence::before_thread_sync;\n" + sync + "tcgen05.fence::after_thread_sync;\n";
  if (frees)
    text += "@%p20 bra freed;\ntcgen05.dealloc." + groupName() + ".sync.aligned.b32 %r410, " +
            num(columns) + ";\nfreed:\n";
  return runPtx(run);
}

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_TCGEN05KERNEL_H
