// What the emulator found wrong, as data; and as text with the source line first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_REPORT_H
#define TS_EMULATOR_REPORT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ts::emu {

/// One class of fault each; ids TS7nn of Checks.def in this order, TS701 first.
enum class FaultKind : uint8_t {
  Hang,           // every warp blocked, or nothing changes any more
  Race,           // conflicting accesses that nothing orders
  ProxyFence,     // generic write read by an async engine without fence.proxy.async
  TensorFence,    // tcgen05 access without wait::ld/st or fence before/after thread sync
  BarrierArrival, // more arrivals than the phase expects
  BarrierBytes,   // transaction bytes that do not balance: at exit or beyond the limits
  BarrierState,   // use before init, after inval, or of memory that is no barrier
  TensorMemory,   // not allocated, used after free, wrong lanes, not freed at exit
  LaunchControl,  // CLC request after a failed one, response read too early
  EarlyExit,      // a CTA exits while a peer still arrives at or accesses its memory
  Descriptor,     // impossible layout or instruction descriptor
  Alignment,      // misaligned access
  OutOfBounds,    // outside every allocation
  Uninitialised,  // shared or tensor memory read before anything was written
  Unsupported,    // an instruction the emulator does not execute
  Divergence,     // .aligned or .sync with lanes missing
  Trap,           // trap, assertion, stack overflow, division of the kernel's own making
  Launch,         // the launch itself is impossible (too much shared memory, ...)
};
inline constexpr unsigned numFaultKinds = unsigned(FaultKind::Launch) + 1;

/// Where: source line by .loc, PTX line, CTA, warp and lanes.
struct Site {
  std::string file; // of the source; empty without .loc
  uint32_t line = 0, column = 0;
  uint32_t ptxLine = 0;
  std::string instruction; // as it stands in the PTX, shortened
  uint32_t cta[3] = {0, 0, 0};
  uint32_t ctaRank = 0; // in its cluster
  int32_t warp = -1;    // -1: not a warp
  uint32_t lanes = 0;   // mask
  std::string engine;   // "TMA load", "tcgen05.mma"; empty for the warp itself
};

struct Note {
  Site site;
  std::string text;
};

struct Report {
  FaultKind kind = FaultKind::Hang;
  std::string message; // what is wrong, expected and found, how to mend it
  Site site;
  std::vector<Note> notes;   // the other access, who should have arrived, ...
  bool isWarning = false;    // the kernel went on
  std::vector<Note> history; // the last steps of the warp(s) involved, oldest first
  std::string id() const;    // "TS702"
  /// For people; as an error or a warning, whatever it is, or with another word.
  std::string str(bool withHistory = true, const char *severity = nullptr) const;
};

/// [{"id":..,"kind":..,"message":..,"site":{..},"notes":[..]}]
std::string toJson(const std::vector<Report> &reports);
/// The short name of its check: "data-race".
std::string_view kindName(FaultKind kind);

} // namespace ts::emu

#endif // TS_EMULATOR_REPORT_H
