// mbarrier transitions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Barriers.h"

#include "Address.h"
#include "Fault.h"
#include "Machine.h"

#include <cstring>

namespace ts::emu {
namespace {

constexpr uint64_t marker = 0x5453'4d42'4152'5249; // what the object's 8 bytes hold while it lives
constexpr size_t maxSites = 64;

void touch(Mbarrier &barrier, uint32_t site) {
  if (barrier.arrivedSites.size() < maxSites)
    barrier.arrivedSites.push_back(site);
}

std::string name(const Cta &cta, uint32_t offset) {
  std::string text = format("mbarrier smem+0x%x", offset - sharedReserved);
  if (cta.cluster->ctas.size() > 1)
    text += format(" of CTA %u", cta.rank);
  return text;
}

void completeIfDone(Cta &cta, Mbarrier &barrier) {
  cta.cluster->changed();
  if (barrier.pending || barrier.tx)
    return;
  // What an earlier phase knew stays known: whoever waits for this one may not have waited for
  // that.
  barrier.completed.joinAll(barrier.opening);
  barrier.opening = {};
  barrier.pending = barrier.count;
  barrier.lastArrivedSites = std::exchange(barrier.arrivedSites, {});
  ++barrier.phase;
}

void takeArrivals(Cta &cta, uint32_t offset, Mbarrier &barrier, uint32_t arrivals, bool drop) {
  if (arrivals > barrier.pending)
    fault(
        FaultKind::BarrierArrival,
        "%s: %u arrival%s in phase %llu, which waits for %u more of %u; another agent arrives too "
        "often, or the count given to mbarrier.init is too small",
        name(cta, offset).c_str(), arrivals, arrivals == 1 ? "" : "s",
        (unsigned long long)barrier.phase, barrier.pending, barrier.count);
  barrier.pending -= arrivals;
  if (!drop)
    return;
  if (arrivals >= barrier.count)
    fault(FaultKind::BarrierArrival,
          "mbarrier.arrive_drop of %u leaves the %s without any arrivals to wait for (it has %u); "
          "expected mbarrier.arrive for the last ones",
          arrivals, name(cta, offset).c_str(), barrier.count);
  barrier.count -= arrivals;
}
} // namespace

Mbarrier &mbarrierAt(Cta &cta, uint32_t offset, const char *what) {
  auto it = cta.mbarriers.find(offset);
  if (it == cta.mbarriers.end())
    fault(FaultKind::BarrierState,
          "%s at smem+0x%x, where no mbarrier has been initialised; expected mbarrier.init before "
          "it, published to this thread (barrier, or fence.mbarrier_init and a cluster barrier)",
          what, offset - sharedReserved);
  if (!it->second.live)
    fault(FaultKind::BarrierState, "%s on the %s after mbarrier.inval", what,
          name(cta, offset).c_str());
  uint64_t bytes = 0;
  memcpy(&bytes, cta.shared.data() + offset, sizeof bytes);
  if (bytes != marker)
    fault(FaultKind::BarrierState,
          "%s on the %s, whose 8 bytes have been overwritten; other data lies over it", what,
          name(cta, offset).c_str());
  return it->second;
}

Mbarrier &mbarrierFor(Warp &warp, Cta &cta, uint32_t offset, const char *what) {
  Mbarrier &barrier = mbarrierAt(cta, offset, what);
  Checker &checker = *cta.cluster->checker;
  if (cta.cluster->machine->options->checkRaces &&
      !checker.clock(warp.agent).order.knows(barrier.init) && !warp.initsKnown.knows(barrier.init))
    faultWith(FaultKind::BarrierState, {{checker.site(barrier.site), "initialised here"}},
              "%s on the %s, whose mbarrier.init nothing orders before this; expected a barrier in "
              "between (bar.sync; fence.mbarrier_init and a cluster barrier for other CTAs)",
              what, name(cta, offset).c_str());
  return barrier;
}

void mbarrierInit(Cta &cta, uint32_t offset, uint32_t count, uint32_t site, Event init) {
  if (count < 1 || count > maxMbarrierCount)
    fault(FaultKind::BarrierState, "mbarrier.init with a count of %u; expected 1 to %u", count,
          maxMbarrierCount);
  Mbarrier &barrier = cta.mbarriers[offset];
  if (barrier.live && barrier.pending != barrier.count)
    fault(FaultKind::BarrierState,
          "mbarrier.init of the %s, which is in use (%u of %u arrivals pending); expected "
          "mbarrier.inval first",
          name(cta, offset).c_str(), barrier.pending, barrier.count);
  barrier = {};
  barrier.live = true;
  barrier.count = barrier.pending = count;
  barrier.site = site;
  barrier.init = init;
  memcpy(cta.shared.data() + offset, &marker, sizeof marker);
  cta.cluster->checker->define({cta.rank, offset, sizeof marker});
  cta.cluster->changed();
}

void mbarrierInval(Cta &cta, uint32_t offset) {
  Mbarrier &barrier = mbarrierAt(cta, offset, "mbarrier.inval");
  barrier.live = false;
}

void mbarrierExpectTx(Cta &cta, uint32_t offset, int64_t bytes, uint32_t site) {
  Mbarrier &barrier = mbarrierAt(cta, offset, "expect_tx");
  barrier.armed = site;
  barrier.tx += bytes;
  if (barrier.tx > maxMbarrierTx || barrier.tx < -maxMbarrierTx)
    fault(FaultKind::BarrierBytes, "%s: %lld bytes outstanding; the limit is %lld",
          name(cta, offset).c_str(), (long long)barrier.tx, (long long)maxMbarrierTx);
  completeIfDone(cta, barrier);
}

uint64_t mbarrierArrive(Cta &cta, uint32_t offset, uint32_t arrivals, const Clock &from,
                        uint32_t site, bool drop) {
  Mbarrier &barrier = mbarrierAt(cta, offset, "mbarrier.arrive");
  uint64_t phase = barrier.phase;
  takeArrivals(cta, offset, barrier, arrivals, drop);
  barrier.opening.joinAll(from);
  touch(barrier, site);
  completeIfDone(cta, barrier);
  return phase;
}

void mbarrierCompleteTx(Cta &cta, uint32_t offset, int64_t bytes, Event from, uint32_t site) {
  Mbarrier &barrier = mbarrierAt(cta, offset, "complete_tx");
  barrier.tx -= bytes;
  barrier.opening.order.learn(from);
  barrier.opening.proxy.learn(from);
  touch(barrier, site);
  barrier.filled = site;
  if (barrier.tx < -maxMbarrierTx)
    fault(FaultKind::BarrierBytes, "%s: %lld more bytes have arrived than are expected",
          name(cta, offset).c_str(), (long long)-barrier.tx);
  completeIfDone(cta, barrier);
}

uint64_t mbarrierArriveAsync(Cta &cta, uint32_t offset, uint32_t arrivals, Event from,
                             const Clock *more, uint32_t site, bool pendingIncrement) {
  Mbarrier &barrier = mbarrierAt(cta, offset, "an asynchronous arrive");
  uint64_t phase = barrier.phase;
  if (pendingIncrement)
    barrier.pending += arrivals;
  takeArrivals(cta, offset, barrier, arrivals, false);
  if (from.time) {
    barrier.opening.order.learn(from);
    barrier.opening.tensorOffered.learn(from); // a commit implies the fence before
  }
  if (more)
    barrier.opening.joinAll(*more);
  touch(barrier, site);
  completeIfDone(cta, barrier);
  return phase;
}

void mbarrierAwaitMore(Cta &cta, uint32_t offset, uint32_t arrivals) {
  Mbarrier &barrier = mbarrierAt(cta, offset, "cp.async.mbarrier.arrive");
  if (barrier.pending + arrivals > maxMbarrierCount)
    fault(FaultKind::BarrierArrival, "%s: more than %u arrivals are awaited in one phase",
          name(cta, offset).c_str(), maxMbarrierCount);
  barrier.pending += arrivals;
}

bool mbarrierTestPhase(Cta &cta, uint32_t offset, uint64_t phase, Clock *to) {
  Mbarrier &barrier = mbarrierAt(cta, offset, "a wait");
  if (barrier.phase == phase)
    return false;
  if (barrier.phase != phase + 1)
    fault(FaultKind::BarrierState,
          "%s: a wait for phase %llu, but phase %llu is open; a state can be waited for in its own "
          "phase and the next one only",
          name(cta, offset).c_str(), (unsigned long long)phase, (unsigned long long)barrier.phase);
  if (to)
    to->acquire(barrier.completed);
  return true;
}

bool mbarrierTestParity(Cta &cta, uint32_t offset, unsigned parity, Clock *to) {
  Mbarrier &barrier = mbarrierAt(cta, offset, "a wait");
  // The phase with this parity is over if the open one has the other parity.
  if ((barrier.phase & 1) == (parity & 1))
    return false;
  if (to)
    to->acquire(barrier.completed);
  return true;
}

std::string mbarrierText(const Cta &cta, uint32_t offset) {
  auto it = cta.mbarriers.find(offset);
  if (it == cta.mbarriers.end())
    return name(cta, offset) + ": not initialised";
  const Mbarrier &b = it->second;
  return format("%s: phase %llu is open, %u of %u arrivals pending, %lld bytes outstanding",
                name(cta, offset).c_str(), (unsigned long long)b.phase, b.pending, b.count,
                (long long)b.tx);
}

std::vector<Note> mbarrierArrivals(const Cta &cta, uint32_t offset) {
  std::vector<Note> notes;
  auto it = cta.mbarriers.find(offset);
  if (it == cta.mbarriers.end())
    return notes;
  const Checker &checker = *cta.cluster->checker;
  const Mbarrier &b = it->second;
  std::vector<uint32_t> missing = b.lastArrivedSites;
  for (uint32_t site : b.arrivedSites) {
    notes.push_back({checker.site(site), "arrived in the open phase"});
    auto same = std::find(missing.begin(), missing.end(), site);
    if (same != missing.end())
      missing.erase(same);
  }
  for (uint32_t site : missing)
    notes.push_back({checker.site(site), "arrived in the phase before, not yet in this one"});
  return notes;
}

void mbarriersAtExit(Cta &cta) {
  for (auto &[offset, barrier] : cta.mbarriers)
    if (barrier.live && barrier.tx != 0) {
      const Checker &checker = *cta.cluster->checker;
      std::vector<Note> notes;
      if (barrier.armed)
        notes.push_back({checker.site(barrier.armed), "bytes were expected here last"});
      if (barrier.filled)
        notes.push_back({checker.site(barrier.filled), "bytes came from here last"});
      faultWith(
          FaultKind::BarrierBytes, std::move(notes),
          "the CTA ends while the %s has %lld bytes outstanding: %s; expected bytes and issued "
          "bytes have to balance in every phase, and the last ones have to be waited for",
          name(cta, offset).c_str(), (long long)barrier.tx,
          barrier.tx > 0 ? "more were expected than have arrived" : "more arrived than expected");
    }
}

} // namespace ts::emu
