// What the reports are made of, as plain data: the schedule model, where things lie, what the
// barriers count, what the prover said. Collect.h fills it in from a ts.kernel; nothing is computed
// here and nothing is printed (see Text.h, Formats.h).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_REPORTS_INPUT_H
#define TS_ANALYSIS_REPORTS_INPUT_H

#include "ts/Analysis/Protocol/Counts.h"
#include "ts/Analysis/Prover/Verdict.h"
#include "ts/Analysis/Schedule/Model.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ts::reports {

/// A place in the source; line 0 where there is none.
struct Place {
  std::string file;
  unsigned line = 0, column = 0;

  bool known() const { return line != 0; }
  std::string text() const; ///< "gemm.mlir:38:11", or "unknown location"
};

//--- Memory -------------------------------------------------------------------------------------

/// One thing with a place: bytes of shared memory or columns of tensor memory.
struct MemoryItem {
  std::string name; ///< "smem_ab.a", "smem_ab.full"
  std::string kind; ///< "data", "full barriers", ...
  bool tmem = false, pinned = false;
  int64_t offset = -1, size = 0, stride = 0, stages = 1, extent = 0, align = 1;
  std::string aliasGroup;
  int64_t phase = -1;
};

struct MemoryMap {
  bool valid = true; ///< false: something does not fit
  std::vector<MemoryItem> items;
  int64_t smemBytes = 0, smemLimit = 0;
  int64_t tmemUsed = 0, tmemColumns = 0, tmemLimit = 0;
};

//--- Barriers -----------------------------------------------------------------------------------

/// The mbarriers of one side of a resource or group.
struct BarrierUse {
  int resource = -1;
  protocol::Barrier barrier = protocol::Barrier::Full;
  int64_t stages = 1;
  protocol::Expected arrivals;
  std::optional<protocol::Expected> bytes; ///< of full barriers that count bytes
};

//--- Threads ------------------------------------------------------------------------------------

struct WarpUse {
  int64_t launchWarps = 0;        ///< padding included
  std::vector<int64_t> registers; ///< per warpgroup, 0 = not asked; empty if nobody asks
};

/// Said by ptxas about the compiled kernel.
struct Usage {
  int64_t registers = 0, spillStores = 0, spillLoads = 0, stack = 0, staticSmem = 0, barriers = 0;
};

//--- A kernel -----------------------------------------------------------------------------------

/// What the types of an operation say about its cost and its accesses do not, by place.
struct Amount {
  double matrix = 0;    ///< multiply-adds x bytes of an operand element: tensor cores have one rate
  int64_t bytes = -1;   ///< that one warp moves, for accesses to an unknown part of a stage
  int64_t columns = -1; ///< of tensor memory, all warps together
};
using Amounts = std::map<schedule::LocId, Amount>;

struct KernelInput {
  schedule::Kernel kernel;
  std::vector<Place> places; ///< by LocId
  MemoryMap memory;
  std::vector<BarrierUse> barriers;
  WarpUse warps;
  Amounts amounts;
  std::optional<Usage> usage;
  std::optional<prover::Verdict> verdict; ///< nothing: the prover was not run
  bool checksFailed = false;              ///< because a check of layer 1 or 2 failed
  double proverMilliseconds = 0;
  std::vector<std::string> waived; ///< checks that the program waives, with their reasons

  const Place &place(schedule::LocId loc) const;
  const std::string &resourceName(int index) const;
};

//--- Diagnostics --------------------------------------------------------------------------------

struct Note {
  std::string message;
  Place place;
};

struct Diagnostic {
  enum class Severity : uint8_t { Note, Remark, Warning, Error };
  Severity severity = Severity::Error;
  unsigned check = 0;  ///< 301 for [TS301], 0 for none
  std::string message; ///< without the id
  Place place;
  std::vector<Note> notes;
};

std::string_view name(Diagnostic::Severity severity);

/// Everything that one run of the compiler has to tell.
struct Input {
  std::string tool = "ts-compile", toolVersion;
  std::string source; ///< the file that was read
  std::string arch;
  bool failed = false; ///< an error other than the prover's: nothing was proven on this program
  std::vector<KernelInput> kernels;
  std::vector<Diagnostic> diagnostics;
};

} // namespace ts::reports

#endif // TS_ANALYSIS_REPORTS_INPUT_H
