// libFuzzer's entry: TS_ENABLE_FUZZERS=ON, then ts-fuzz-ptx CORPUS. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "PtxFuzz.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ts::fuzz::runPtxText({reinterpret_cast<const char *>(data), size});
  return 0;
}
