// The happens-before bookkeeping of one cluster: agents and their clocks, and a byte-accurate
// shadow of shared memory and TMEM. Instructions tell it what they access and what orders what; it
// reports races, missing fences and reads of memory nobody wrote. It moves no data. SPDX-License-
// Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CHECK_CHECKER_H
#define TS_EMULATOR_CHECK_CHECKER_H

#include "Clock.h"
#include "ts/Emulator/Report.h"

#include <memory>

namespace ts::emu {

enum class Proxy : uint8_t {
  Generic, // ordinary loads, stores, atomics, ldmatrix
  Async,   // TMA, bulk copies, wgmma and tcgen05 reading shared memory
  Tensor,  // tcgen05 on TMEM
};
/// The atomic ones do not race with each other: atom, red, and strong (volatile, relaxed, acquire,
/// release) loads and stores.
/// SameWrite is an ordinary store that leaves the bytes as they are: with another ordinary store it
/// is no race that anybody could see.
enum class AccessKind : uint8_t { Read, Write, Atomic, AtomicRead, AtomicWrite, SameWrite };
/// "read", "write" or "atomic update"; for messages.
const char *verbOf(AccessKind kind);

inline bool writes(AccessKind kind) {
  return kind == AccessKind::Write || kind == AccessKind::Atomic ||
         kind == AccessKind::AtomicWrite || kind == AccessKind::SameWrite;
}

struct SharedRange {
  unsigned cta = 0; // rank in the cluster
  uint32_t begin = 0, size = 0;
};
struct TmemRange {
  unsigned cta = 0;
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0; // columns of 32 bits
};

/// What a load found where nothing defined is.
struct UndefinedRead {
  uint32_t bytes = 0;  // mask, relative to the first; of the first 32
  uint32_t stored = 0; // site of the store that put an undefined value there; 0: there was none
  std::string what;    // the first such place; empty: all is defined
  uint32_t first = 0;  // site of the first read where this one is of local memory, else 0
};

/// An access in flight: what it is, which event ends it, what its issuer knew.
struct Access {
  AccessKind kind = AccessKind::Read;
  Proxy proxy = Proxy::Generic;
  Event event;                  // from newEvent(agent); later accesses need to know it
  const Clock *known = nullptr; // of the agent that issued it
  uint32_t site = 0;            // from addSite
  /// For loads into registers, which may discard the value: undefined bytes are told here. Null:
  /// reading them is a fault.
  UndefinedRead *undefined = nullptr;
  /// The lane of `warp` that accesses, or that starts the engine which does; -1: all lanes
  /// together.
  int lane = -1;
  AgentId warp = 0;
};

/// "<what> are read, but nothing has been written there"
std::string undefinedText(const std::string &what, bool stored);

class Checker {
public:
  /// `warps` agents per CTA exist from the start: agent = cta * warps + warp.
  Checker(unsigned ctas, unsigned warpsPerCta, uint32_t sharedBytes, bool races,
          bool uninitialised);
  ~Checker();

  AgentId warpAgent(unsigned cta, unsigned warp) const;
  /// The agent of a channel, made on first use. Keys are the caller's (engine, issuer, tag).
  /// `name` is for reports (engineName).
  AgentId channelAgent(uint32_t engine, uint64_t issuer, uint64_t tag, const char *name);
  unsigned numAgents() const;

  /// The agent's own clock (warps only; channels have none of their own).
  Clock &clock(AgentId warp);
  /// The agent's next event. For a warp it is known to itself at once.
  Event newEvent(AgentId agent);
  Event lastEvent(AgentId agent) const;

  /// Remembers a place for reports; equal places share a number.
  uint32_t addSite(const Site &site);
  const Site &site(uint32_t id) const;

  /// Both report through fault() on a race, missing fence or uninitialised read. Async and Tensor
  /// accesses are told at issue with their whole footprint: the interval in which they may happen
  /// begins there and ends with what publishes `access.event`.
  void shared(const Access &access, SharedRange range);
  void tmem(const Access &access, TmemRange range);

  /// Memory whose content is given (launch) or void again (freed TMEM).
  void define(SharedRange range);
  void undefine(SharedRange range);
  void undefine(TmemRange range);
  /// What has just been written there is undefined itself.
  void spoil(SharedRange range);
  void spoil(TmemRange range);
  bool defined(unsigned cta, uint32_t lane, uint32_t column) const; // of tensor memory

  /// Release/acquire through an address in global or shared memory (atomics, flags).
  void release(uint64_t address, const Clock &clock);
  void acquire(uint64_t address, Clock &clock);

  /// The lanes of a warp have met, in a way that orders their accesses to memory.
  void warpSynchronised(AgentId warp);
  /// Only `lanes` of the warp, whose clock knew the engine's events up to `before`, have waited for
  /// more of them.
  void lanesLearned(AgentId warp, uint32_t lanes, AgentId engine, uint32_t before);

  /// fence.proxy.async by a warp; tcgen05.fence::before/after_thread_sync; tcgen05.wait::ld/st.
  void proxyFence(AgentId warp);
  void tensorFenceBefore(AgentId warp);
  void tensorFenceAfter(AgentId warp);

  /// Accesses to a CTA's memory by others that its own warps do not know at their end; the report
  /// is an EarlyExit fault.
  void ctaExits(unsigned cta);

  std::vector<Report> takeWarnings();
  bool strictTensorFences = false;

  struct Impl;

private:
  std::unique_ptr<Impl> impl;
};

} // namespace ts::emu

#endif // TS_EMULATOR_CHECK_CHECKER_H
