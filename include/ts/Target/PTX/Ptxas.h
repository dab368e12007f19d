// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding and running ptxas, NVIDIA's assembler, and what it says about a kernel: registers,
// spills, shared memory, remarks. The rest of the project works without it.
#ifndef TS_TARGET_PTX_PTXAS_H
#define TS_TARGET_PTX_PTXAS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <string>
#include <vector>

namespace mlir::ts {

struct PtxasKernel {
  std::string name;
  unsigned registers = 0, barriers = 0;
  unsigned stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0;
  unsigned sharedBytes = 0; ///< static shared memory only
};

struct PtxasMessage {
  enum class Severity { Remark, Warning, Error };
  Severity severity = Severity::Remark;
  std::string id; ///< "C7508" for the performance remarks, else empty
  std::string text;
  unsigned ptxLine = 0; ///< 0: no line given
  /// Where the PTX line comes from according to its `.loc`; line 0: unknown.
  std::string file;
  unsigned line = 0, column = 0;
};

struct PtxasResult {
  bool assembled = false;
  std::vector<PtxasKernel> kernels;
  std::vector<PtxasMessage> messages;
  std::string cubin; ///< bytes, if assembled
};

/// Where to look for ptxas.
struct PtxasSearch {
  std::string option;  ///< value of --ptxas, or empty
  std::string toolDir; ///< folder of the running tool: the project's .venv is searched from there
};

/// Path of the ptxas to use: --ptxas, TS_PTXAS, CUDA_HOME/bin, PATH, then the nvidia-cuda-nvcc
/// package in the project's .venv or the active Python. A path that was given explicitly and is no
/// program is an error, not a reason to look on.
llvm::Expected<std::string> findPtxas(const PtxasSearch &search);

/// Assembles `ptx`. An error means that ptxas could not be run; what ptxas itself objects to is in
/// the result. Once `cancelled` is set, ptxas is killed and an error comes back.
llvm::Expected<PtxasResult> runPtxas(llvm::StringRef program, llvm::StringRef ptx,
                                     llvm::StringRef chip,
                                     const std::atomic<bool> *cancelled = nullptr);

/// Reads the output of `ptxas -v`; `ptx` serves to map PTX lines to source lines.
void parsePtxasOutput(llvm::StringRef output, llvm::StringRef ptx, PtxasResult &result);

} // namespace mlir::ts

#endif // TS_TARGET_PTX_PTXAS_H
