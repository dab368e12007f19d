// mbarrier state transitions, the only place that changes an Mbarrier: instructions and engines
// call these. Source: PTX ISA, mbarrier. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_BARRIERS_H
#define TS_EMULATOR_CORE_BARRIERS_H

#include "State.h"

namespace ts::emu {

inline constexpr uint32_t maxMbarrierCount = (1u << 20) - 1;
inline constexpr int64_t maxMbarrierTx = (int64_t(1) << 20) - 1;

/// The opaque state of mbarrier.arrive: the open phase and its pending arrivals.
inline uint64_t mbarrierToken(const Mbarrier &barrier) {
  return barrier.phase << 20 | barrier.pending;
}
inline uint64_t mbarrierTokenPhase(uint64_t token) { return token >> 20; }
inline uint32_t mbarrierTokenPending(uint64_t token) { return token & maxMbarrierCount; }

/// The live barrier at (cta, offset); a BarrierState fault if there is none or its bytes were
/// overwritten. `what` is the instruction for the message.
Mbarrier &mbarrierAt(Cta &cta, uint32_t offset, const char *what);
/// The same for an instruction of `warp`, which has to be ordered behind mbarrier.init.
Mbarrier &mbarrierFor(Warp &warp, Cta &cta, uint32_t offset, const char *what);
/// `init` is the event of the initialising warp.
void mbarrierInit(Cta &cta, uint32_t offset, uint32_t count, uint32_t site, Event init);
void mbarrierInval(Cta &cta, uint32_t offset);
void mbarrierExpectTx(Cta &cta, uint32_t offset, int64_t bytes, uint32_t site);
/// `from` is what the arriving side hands over; `site` where it arrives. `drop` lowers the count of
/// the following phases. Returns the phase it arrived in (the state token).
uint64_t mbarrierArrive(Cta &cta, uint32_t offset, uint32_t arrivals, const Clock &from,
                        uint32_t site, bool drop = false);
/// By an engine: `from` is its event (learned by whoever waits).
void mbarrierCompleteTx(Cta &cta, uint32_t offset, int64_t bytes, Event from, uint32_t site);
/// An arrival that publishes an engine event (tcgen05.commit, cp.async) besides `from`.
uint64_t mbarrierArriveAsync(Cta &cta, uint32_t offset, uint32_t arrivals, Event from,
                             const Clock *more, uint32_t site, bool pendingIncrement = false);
/// cp.async.mbarrier.arrive without .noinc: one more arrival is awaited in the open phase.
void mbarrierAwaitMore(Cta &cta, uint32_t offset, uint32_t arrivals);
/// True when the phase with this parity (or this number) has completed; joins its clock into `to`.
bool mbarrierTestParity(Cta &cta, uint32_t offset, unsigned parity, Clock *to);
bool mbarrierTestPhase(Cta &cta, uint32_t offset, uint64_t phase, Clock *to);
/// "mbarrier smem+0x40 of CTA 1: phase 3 open, 2 of 4 arrivals pending, 128 bytes outstanding"
/// Offsets are given as programs count them: from the first byte behind the system's.
std::string mbarrierText(const Cta &cta, uint32_t offset);
/// For a hang: who has arrived in the open phase, and who arrived in the phase before but not yet
/// in this one (those are the suspects).
std::vector<Note> mbarrierArrivals(const Cta &cta, uint32_t offset);

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_BARRIERS_H
