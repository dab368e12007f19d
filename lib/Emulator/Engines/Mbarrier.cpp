// mbarrier instructions: which barrier, whose arrival, what order they give. The transitions are in
// Core/Barriers.cpp. Source: PTX ISA, mbarrier. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "../Core/Barriers.h"
#include "../Core/Decode.h"

namespace ts::emu {
namespace {

/// .sem.scope, the state space and .b64; ptxas takes them in any order.
struct Modifiers {
  bool relaxed = false, scoped = false;
  Space space = Space::Generic;
};

Modifiers modifiers(Decode &d, const char *ordered, bool remote) {
  Modifiers m;
  bool sem = false, space = false, typed = false;
  while (d.more()) {
    if (!sem && ordered && d.take(ordered)) {
      sem = true;
    } else if (!sem && d.take("relaxed")) {
      sem = m.relaxed = true;
    } else if (!m.scoped && (d.take("cta") || d.take("cluster"))) {
      m.scoped = true;
    } else if (!space && (d.take("shared::cta") || d.take("shared"))) {
      space = true;
      m.space = Space::SharedCta;
    } else if (!space && remote && d.take("shared::cluster")) {
      space = true;
      m.space = Space::SharedCluster;
    } else if (d.take("b64")) {
      typed = true;
      break;
    } else {
      break;
    }
  }
  d.end();
  if (!typed)
    d.refuse("expected .b64 as the last modifier");
  if (sem != m.scoped)
    d.refuse("an ordering (.release, .acquire, .relaxed) and its scope come together");
  return m;
}

/// An arrival at a peer's barrier is an access to its memory: the peer must not have ended.
void tellPeer(Exec &x, const SharedPlace &place, bool relaxed) {
  if (relaxed || place.cta == &x.cta)
    return;
  Checker &checker = *x.cluster.checker;
  Access access;
  access.kind = AccessKind::Atomic;
  access.event = checker.lastEvent(x.warp.agent);
  access.known = &x.clock();
  access.site = x.siteId();
  checker.shared(access, {place.cta->rank, place.offset, 8});
}

/// One arrival of one lane; `expect` first.
struct Arrive {
  AddressOperand address;
  Modifiers m;
  Dst state;
  Src count, bytes;
  bool hasCount = false, expects = false, drop = false, noComplete = false;

  /// All lanes at one barrier without a token: one transition instead of 32.
  bool together(Exec &x) const {
    if (!state.sink || expects || noComplete)
      return false;
    uint64_t at = address.uniform(x);
    uint64_t total = 0;
    for (unsigned lane = x.firstLane(); lane < warpSize; ++lane)
      if (x.active(lane)) {
        if (address.lane(x, lane) != at)
          return false;
        total += hasCount ? uint32_t(count.lane(x, lane)) : 1;
        if (hasCount && !uint32_t(count.lane(x, lane)))
          return false;
      }
    SharedPlace place = resolveShared(x, m.space, at, 8, 8, "mbarrier.arrive");
    Mbarrier &barrier = mbarrierFor(x.warp, *place.cta, place.offset, "mbarrier.arrive");
    if (total > barrier.pending)
      return false;
    tellPeer(x, place, m.relaxed);
    mbarrierArrive(*place.cta, place.offset, uint32_t(total), m.relaxed ? x.warp.fenced : x.clock(),
                   x.siteId(), drop);
    return true;
  }

  void one(Exec &x, unsigned lane) const {
    SharedPlace place = resolveShared(x, m.space, address.lane(x, lane), 8, 8, "mbarrier.arrive");
    if (!state.sink && place.cta != &x.cta)
      fault(FaultKind::BarrierState,
            "mbarrier.arrive on a barrier of CTA %u returns a state, but only barriers of the "
            "thread's own CTA have one; write _ as destination",
            place.cta->rank);
    Mbarrier &barrier = mbarrierFor(x.warp, *place.cta, place.offset, "mbarrier.arrive");
    uint32_t arrivals = hasCount ? uint32_t(count.lane(x, lane)) : 1;
    if (arrivals < 1 || arrivals > maxMbarrierCount)
      fault(FaultKind::BarrierArrival, "mbarrier.arrive with a count of %u; expected 1 to %u",
            arrivals, maxMbarrierCount);
    if (expects)
      mbarrierExpectTx(*place.cta, place.offset, int64_t(uint32_t(bytes.lane(x, lane))),
                       x.siteId());
    uint64_t token = mbarrierToken(barrier);
    tellPeer(x, place, m.relaxed);
    uint64_t phase = mbarrierArrive(*place.cta, place.offset, arrivals,
                                    m.relaxed ? x.warp.fenced : x.clock(), x.siteId(), drop);
    if (noComplete && barrier.phase != phase)
      fault(FaultKind::BarrierArrival,
            "mbarrier.arrive.noComplete completes phase %llu; expected arrivals of others to be "
            "missing, or mbarrier.arrive without .noComplete",
            (unsigned long long)phase);
    state.set(x, lane, token);
  }

  Step operator()(Exec &x) const {
    if (!together(x))
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (x.active(lane))
          one(x, lane);
    x.cluster.checker->newEvent(x.warp.agent);
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeArrive(Decode &d) {
  Arrive op;
  op.drop = d.inst.parts[1] == "arrive_drop";
  op.expects = d.take("expect_tx");
  op.noComplete = !op.expects && d.take("noComplete");
  op.m = modifiers(d, "release", true);
  if (op.noComplete && (op.m.relaxed || op.m.space == Space::SharedCluster))
    d.refuse(".noComplete goes with .release.cta on barriers of the own CTA only");
  size_t most = 3, least = op.expects || op.noComplete ? 3 : 2;
  d.needOperands(least, most);
  op.state = d.dst(0);
  if (op.m.space == Space::SharedCluster && !op.state.sink)
    d.refuse("an arrive on a shared::cluster barrier returns nothing; write _ as destination");
  op.address = d.address(1);
  if (d.numOperands() == 3) {
    (op.expects ? op.bytes : op.count) = d.src(2, ptx::Type::B32);
    op.hasCount = !op.expects;
  }
  return makeOp(op);
}

std::unique_ptr<Op> decodeTx(Decode &d) {
  bool expects = d.inst.parts[1] == "expect_tx";
  Modifiers m = modifiers(d, nullptr, true);
  d.needOperands(2, 2);
  AddressOperand address = d.address(0);
  Src bytes = d.src(1, ptx::Type::B32);
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      const char *what = expects ? "mbarrier.expect_tx" : "mbarrier.complete_tx";
      SharedPlace place = resolveShared(x, m.space, address.lane(x, lane), 8, 8, what);
      auto n = int64_t(uint32_t(bytes.lane(x, lane)));
      mbarrierFor(x.warp, *place.cta, place.offset, what);
      if (expects)
        mbarrierExpectTx(*place.cta, place.offset, n, x.siteId());
      else // relaxed: it publishes nothing
        mbarrierCompleteTx(*place.cta, place.offset, n, Event{x.warp.agent, 0}, x.siteId());
    }
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeInit(Decode &d) {
  bool init = d.inst.parts[1] == "init";
  Modifiers m = modifiers(d, nullptr, false);
  if (m.relaxed || m.scoped)
    d.refuse("mbarrier.%s has no ordering", d.inst.parts[1].c_str());
  d.needOperands(init ? 2 : 1, init ? 2 : 1);
  AddressOperand address = d.address(0);
  Src count = init ? d.src(1, ptx::Type::B32) : Src();
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      const char *what = init ? "mbarrier.init" : "mbarrier.inval";
      SharedPlace place = resolveShared(x, m.space, address.lane(x, lane), 8, 8, what);
      if (place.cta != &x.cta)
        fault(FaultKind::BarrierState, "%s of a barrier of CTA %u; expected one of the own CTA",
              what, place.cta->rank);
      if (init)
        mbarrierInit(*place.cta, place.offset, uint32_t(count.lane(x, lane)), x.siteId(),
                     x.cluster.checker->lastEvent(x.warp.agent));
      else
        mbarrierInval(*place.cta, place.offset);
    }
    return Step::Next;
  });
}

struct MbarrierWait {
  bool blocking, parity, relaxed;
  Space space;
  Dst done;
  AddressOperand address;
  Src which;

  Step operator()(Exec &x) const {
    uint32_t complete = 0;
    // What a relaxed wait has seen counts from the next fence on.
    Clock *clock = relaxed ? &x.warp.observed : &x.clock();
    uint64_t lastAddress = ~uint64_t(0), lastWhich = 0;
    bool last = false;
    SharedPlace place;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      uint64_t at = address.lane(x, lane), value = which.lane(x, lane);
      if (at != lastAddress || value != lastWhich) {
        place = resolveShared(x, space, at, 8, 8, "a wait on an mbarrier");
        if (place.cta != &x.cta)
          fault(FaultKind::BarrierState,
                "a wait on an mbarrier of CTA %u; threads can wait on barriers of their own CTA "
                "only (others can be arrived at)",
                place.cta->rank);
        mbarrierFor(x.warp, *place.cta, place.offset, "a wait");
        last = parity
                   ? mbarrierTestParity(*place.cta, place.offset, unsigned(value & 1), clock)
                   : mbarrierTestPhase(*place.cta, place.offset, mbarrierTokenPhase(value), clock);
        lastAddress = at;
        lastWhich = value;
      }
      complete |= uint32_t(last) << lane;
    }
    // Lanes that may go on do not wait for those that may not.
    if (blocking && !complete && !x.timedOut()) {
      if (!x.split.blocked) // the text is made once
        x.wait(WaitKind::Mbarrier, sharedAddress(place.cta->rank, place.offset),
               format("mbarrier smem+0x%x of CTA %u, %s", place.offset - sharedReserved,
                      place.cta->rank,
                      parity
                          ? (lastWhich & 1 ? "parity 1" : "parity 0")
                          : format("phase %llu", (unsigned long long)mbarrierTokenPhase(lastWhich))
                                .c_str()));
      return Step::Blocked;
    }
    done.setPredicate(x, complete);
    if (complete) // lanes may have met there
      x.cluster.checker->warpSynchronised(x.warp.agent);
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeWait(Decode &d) {
  MbarrierWait op{};
  op.blocking = d.inst.parts[1] == "try_wait";
  op.parity = d.take("parity");
  Modifiers m = modifiers(d, "acquire", false);
  op.relaxed = m.relaxed;
  op.space = m.space;
  d.needOperands(3, op.blocking ? 4 : 3);
  op.done = d.dst(0);
  op.address = d.address(1);
  op.which = d.src(2, op.parity ? ptx::Type::B32 : ptx::Type::B64);
  if (d.numOperands() == 4)
    d.src(3, ptx::Type::B32); // a time limit: a hint
  return makeOp(op);
}

std::unique_ptr<Op> decodePendingCount(Decode &d) {
  d.need("b64");
  d.end();
  d.needOperands(2, 2);
  Dst count = d.dst(0);
  Src state = d.src(1, ptx::Type::B64);
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        count.set(x, lane, mbarrierTokenPending(state.lane(x, lane)));
    return Step::Next;
  });
}
} // namespace

void registerMbarrier(DecoderTable &table) {
  table.add("mbarrier.init", decodeInit,
            {{"mbarrier.init.b64", "[%rd1], %r1"},
             {"mbarrier.init.{shared|shared::cta}.b64", "[%r1], 1"}});
  table.add(
      "mbarrier.inval", decodeInit,
      {{"mbarrier.inval.b64", "[%rd1]"}, {"mbarrier.inval.{shared|shared::cta}.b64", "[%r1]"}});
  table.add(
      "mbarrier.arrive", decodeArrive,
      {{"mbarrier.arrive[.{release|relaxed}.{cta|cluster}].b64", "%rd1, [%rd2]"},
       {"mbarrier.arrive[.{release|relaxed}.{cta|cluster}].{shared|shared::cta}.b64",
        "%rd1, [%r1], %r2"},
       {"mbarrier.arrive[.{release|relaxed}.{cta|cluster}].shared::cluster.b64", "_, [%r1], %r2"},
       {"mbarrier.arrive.expect_tx[.{release|relaxed}.{cta|cluster}].b64", "%rd1, [%rd2], %r1"},
       {"mbarrier.arrive.expect_tx[.{release|relaxed}.{cta|cluster}].{shared|shared::cta}."
        "b64",
        "%rd1, [%r1], %r2"},
       {"mbarrier.arrive.expect_tx[.{release|relaxed}.{cta|cluster}].shared::cluster.b64",
        "_, [%r1], %r2"},
       {"mbarrier.arrive.noComplete[.release.cta].b64", "%rd1, [%rd2], %r1"},
       {"mbarrier.arrive.noComplete[.release.cta].{shared|shared::cta}.b64", "%rd1, [%r1], %r2"}});
  table.add(
      "mbarrier.arrive_drop", decodeArrive,
      {{"mbarrier.arrive_drop[.{release|relaxed}.{cta|cluster}].b64", "%rd1, [%rd2]"},
       {"mbarrier.arrive_drop[.{release|relaxed}.{cta|cluster}].{shared|shared::cta}.b64",
        "%rd1, [%r1], %r2"},
       {"mbarrier.arrive_drop[.{release|relaxed}.{cta|cluster}].shared::cluster.b64",
        "_, [%r1], %r2"},
       {"mbarrier.arrive_drop.expect_tx[.{release|relaxed}.{cta|cluster}].b64",
        "%rd1, [%rd2], %r1"},
       {"mbarrier.arrive_drop.expect_tx[.{release|relaxed}.{cta|cluster}].{shared|shared::cta}."
        "b64",
        "%rd1, [%r1], %r2"},
       {"mbarrier.arrive_drop.expect_tx[.{release|relaxed}.{cta|cluster}].shared::cluster.b64",
        "_, [%r1], %r2"},
       {"mbarrier.arrive_drop.noComplete[.release.cta].b64", "%rd1, [%rd2], %r1"},
       {"mbarrier.arrive_drop.noComplete[.release.cta].{shared|shared::cta}.b64",
        "%rd1, [%r1], %r2"}});
  table.add("mbarrier.expect_tx", decodeTx,
            {{"mbarrier.expect_tx[.relaxed.{cta|cluster}].b64", "[%rd1], %r1"},
             {"mbarrier.expect_tx[.relaxed.{cta|cluster}].{shared|shared::cta|shared::cluster}.b64",
              "[%r1], %r2"}});
  table.add(
      "mbarrier.complete_tx", decodeTx,
      {{"mbarrier.complete_tx[.relaxed.{cta|cluster}].b64", "[%rd1], %r1"},
       {"mbarrier.complete_tx[.relaxed.{cta|cluster}].{shared|shared::cta|shared::cluster}.b64",
        "[%r1], %r2"}});
  table.add(
      "mbarrier.test_wait", decodeWait,
      {{"mbarrier.test_wait[.{acquire|relaxed}.{cta|cluster}].b64", "%p1, [%rd1], %rd2"},
       {"mbarrier.test_wait[.{acquire|relaxed}.{cta|cluster}].{shared|shared::cta}.b64",
        "%p1, [%r1], %rd2"},
       {"mbarrier.test_wait.parity[.{acquire|relaxed}.{cta|cluster}].b64", "%p1, [%rd1], %r2"},
       {"mbarrier.test_wait.parity[.{acquire|relaxed}.{cta|cluster}].{shared|shared::cta}."
        "b64",
        "%p1, [%r1], %r2"}});
  table.add("mbarrier.try_wait", decodeWait,
            {{"mbarrier.try_wait[.{acquire|relaxed}.{cta|cluster}].b64", "%p1, [%rd1], %rd2"},
             {"mbarrier.try_wait[.{acquire|relaxed}.{cta|cluster}].{shared|shared::cta}.b64",
              "%p1, [%r1], %rd2, %r3"},
             {"mbarrier.try_wait.parity[.{acquire|relaxed}.{cta|cluster}].b64", "%p1, [%rd1], %r2"},
             {"mbarrier.try_wait.parity[.{acquire|relaxed}.{cta|cluster}].{shared|shared::cta}.b64",
              "%p1, [%r1], %r2, %r3"}});
  table.add("mbarrier.pending_count", decodePendingCount,
            {{"mbarrier.pending_count.b64", "%r1, %rd1"}});
}

} // namespace ts::emu
