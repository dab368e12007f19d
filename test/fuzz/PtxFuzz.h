// One PTX text through the emulator: parse, decode, and launch every entry with a tiny grid and an
// instruction limit. Any outcome is fine but a crash, a hang or what a sanitizer stops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_TEST_FUZZ_PTXFUZZ_H
#define TS_TEST_FUZZ_PTXFUZZ_H

#include <string_view>

namespace ts::fuzz {

/// The number of launches that were tried.
unsigned runPtxText(std::string_view text);

} // namespace ts::fuzz

#endif // TS_TEST_FUZZ_PTXFUZZ_H
