// Cluster launch control (requests, responses), grid dependencies and setmaxnreg. Source: PTX ISA,
// clusterlaunchcontrol, griddepcontrol, setmaxnreg. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Copy.h"

#include <bit>

namespace ts::emu {
namespace {

/// The 16 bytes of a response are opaque; here: the first CTA's coordinates and a mark.
struct Response {
  uint32_t ctaid[3] = {0, 0, 0};
  uint32_t mark = failedMark;
  static constexpr uint32_t failedMark = 0xc1c0'0000, canceledMark = 0xc1c0'0001;
};
static_assert(sizeof(Response) == 16);

/// What the CTAs of a multicast request share: the queue is asked once.
struct Request {
  bool asked = false;
  Response response;

  const Response &ask(Machine &machine) {
    if (asked)
      return response;
    asked = true;
    std::optional<uint64_t> id = machine.queue->cancel();
    if (!id)
      return response;
    response.mark = Response::canceledMark;
    uint64_t rest = *id;
    for (unsigned d = 0; d < 3; ++d) {
      response.ctaid[d] = uint32_t(rest % machine.gridClusters[d]) * machine.options->cluster[d];
      rest /= machine.gridClusters[d];
    }
    // Its CTAs will never say launch_dependents, and they will never end.
    machine.ctasReleased += uint64_t(machine.options->cluster[0]) * machine.options->cluster[1] *
                            machine.options->cluster[2];
    return response;
  }
};

class TryCancel final : public AsyncOp {
public:
  TryCancel(SharedPlace to, SharedPlace barrier, std::shared_ptr<Request> request, uint32_t site)
      : to(to), barrier(barrier), request(std::move(request)), site(site) {}
  void perform(unsigned) override {
    Cluster &cluster = *to.cta->cluster;
    const Response &response = request->ask(*cluster.machine);
    memcpy(to.bytes, &response, sizeof response);
    if (response.mark == Response::failedMark)
      cluster.launchControlFailed.push_back(event);
    mbarrierCompleteTx(*barrier.cta, barrier.offset, sizeof response, event, site);
  }

private:
  SharedPlace to, barrier;
  std::shared_ptr<Request> request;
  uint32_t site;
};

std::unique_ptr<Op> decodeTryCancel(Decode &d) {
  d.take("async");
  Space space = d.take("shared::cta") ? Space::SharedCta : Space::Generic;
  d.need("mbarrier::complete_tx::bytes");
  bool multicast = d.take("multicast::cluster::all");
  d.need("b128");
  d.end();
  d.needOperands(2, 2);
  AddressOperand to = d.address(0), barrier = d.address(1);
  return makeOp([=](Exec &x) {
    const char *what = "clusterlaunchcontrol.try_cancel";
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      for (Event failed : x.cluster.launchControlFailed)
        if (x.clock().order.knows(failed))
          fault(FaultKind::LaunchControl,
                "another request after one that failed: this thread has seen that no cluster is "
                "left; expected the loop to end when is_canceled is false");
      SharedPlace place = resolveShared(x, space, to.lane(x, lane), 16, 16, what);
      SharedPlace signal = resolveShared(x, space, barrier.lane(x, lane), 8, 8, what);
      if (place.cta != &x.cta || signal.cta != &x.cta)
        fault(FaultKind::LaunchControl,
              "%s with a response or mbarrier in CTA %u; expected both in the own CTA", what,
              (place.cta != &x.cta ? place : signal).cta->rank);
      auto request = std::make_shared<Request>();
      for (const std::unique_ptr<Cta> &cta : x.cluster.ctas) {
        if (!multicast && cta.get() != &x.cta)
          continue;
        SharedPlace there = sameOffset(x, place, cta->rank);
        SharedPlace bar = sameOffset(x, signal, cta->rank);
        mbarrierFor(x.warp, *cta, bar.offset, what);
        auto op = std::make_unique<TryCancel>(there, bar, request, x.siteId());
        ChannelKey channel{EngineKind::Clc, x.warp.agent, sharedAddress(cta->rank, bar.offset)};
        prepare(*op, x, lane, channel);
        footprint(x, *op, AccessKind::Write, Proxy::Async, there, 16);
        x.cluster.engines->issue(channel, true, std::move(op));
      }
    }
    return Step::Next;
  });
}

Response responseOf(const Exec &x, uint32_t slot, unsigned lane) {
  uint64_t halves[2] = {x.reg(slot)[lane], x.reg(slot + 1)[lane]};
  Response response;
  memcpy(&response, halves, sizeof response);
  if (response.mark != Response::canceledMark && response.mark != Response::failedMark)
    fault(FaultKind::LaunchControl,
          "clusterlaunchcontrol.query_cancel of 16 bytes that are no response; expected those that "
          "try_cancel wrote, loaded after its mbarrier completed");
  return response;
}

std::unique_ptr<Op> decodeQuery(Decode &d) {
  bool canceled = d.take("is_canceled");
  int dim = canceled ? -1
                     : d.takeOneOf({"get_first_ctaid::x", "get_first_ctaid::y",
                                    "get_first_ctaid::z", "get_first_ctaid"});
  if (!canceled && dim < 0)
    d.refuse("expected .is_canceled or .get_first_ctaid");
  if (canceled)
    d.need("pred");
  else if (dim == 3)
    d.need("v4");
  if (!canceled)
    d.need("b32");
  d.need("b128");
  d.end();
  d.needOperands(2, 2);
  std::vector<Dst> to = d.destinations(d.operand(0));
  if (to.size() != (dim == 3 ? 4 : 1))
    d.refuse("expected %u destinations, found %zu", dim == 3 ? 4 : 1, to.size());
  const ptx::Operand &o = d.operand(1);
  if (o.kind != ptx::Operand::Kind::Register ||
      d.code.function->registers[o.reg].type != ptx::Type::B128)
    d.refuse("expected a .b128 register");
  uint32_t slot = d.code.registerSlot[o.reg];
  return makeOp([=](Exec &x) {
    uint32_t holds = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      Response response = responseOf(x, slot, lane);
      bool is = response.mark == Response::canceledMark;
      holds |= uint32_t(is) << lane;
      if (canceled)
        continue;
      // Of a request that failed the place is undefined. No fault: LLVM asks for it before it looks
      // at the answer, and drops it. Whoever uses it finds a place that no grid has.
      for (unsigned i = 0; i < to.size(); ++i) {
        uint32_t place = dim == 3 ? (i < 3 ? response.ctaid[i] : 0) : response.ctaid[dim];
        to[i].set(x, lane, is ? place : 0xffffffff);
      }
    }
    if (canceled)
      to[0].setPredicate(x, holds);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeGridControl(Decode &d) {
  bool wait = d.take("wait");
  if (!wait)
    d.need("launch_dependents");
  d.end();
  d.needOperands(0, 0);
  return makeOp([=](Exec &x) {
    if (!wait) {
      x.machine.releases = true;
      releaseDependents(x.cta);
      return Step::Next;
    }
    if (x.machine.previousDone && !*x.machine.previousDone) {
      x.wait(WaitKind::Grid, 0, "the end of the launches before this one (griddepcontrol.wait)");
      return Step::Blocked;
    }
    learnPrimary(x, x.clock());
    return Step::Next;
  });
}

constexpr uint32_t registerFile = 65536, warpgroupWarps = 4;

/// Registers per thread that a launch gives: .maxnreg, or what the file allows.
uint32_t launchRegisters(const Exec &x) {
  const ptx::Function &f = *x.machine.entry->function;
  if (f.maxnreg)
    return f.maxnreg;
  // Whole warps, in steps of 8.
  uint32_t threads = uint32_t(x.cta.warps.size()) * warpSize;
  return std::min<uint32_t>(registerFile / threads / 8 * 8, 255);
}

std::unique_ptr<Op> decodeSetMax(Decode &d) {
  int inc = d.takeOneOf({"dec", "inc"});
  if (inc < 0)
    d.refuse("expected .inc or .dec");
  d.need("sync");
  d.need("aligned");
  d.need("u32");
  d.end();
  d.needOperands(1, 1);
  auto wanted = uint32_t(d.immediate(0));
  if (wanted < 24 || wanted > 256 || wanted % 8)
    d.refuse("%u registers; expected a multiple of 8 from 24 to 256", wanted);
  return makeOp([=](Exec &x) {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    uint32_t launched = launchRegisters(x);
    auto now = [&](const Warp &warp) { return warp.registers ? warp.registers : launched; };
    uint32_t mine = now(x.warp);
    // Without .maxnreg a warp begins with as many registers as ptxas chose, which nobody knows
    // here.
    bool known = x.warp.registers || x.machine.entry->function->maxnreg;
    if (known && (inc ? wanted < mine : wanted > mine))
      fault(FaultKind::Launch,
            "setmaxnreg.%s to %u registers per thread, but the warp has %u; expected %s",
            inc ? "inc" : "dec", wanted, mine, inc ? "more" : "fewer");
    // The CTA's pool is what it was launched with; other warps may give back down to 24.
    uint32_t held = 0, least = 0;
    for (const std::unique_ptr<Warp> &warp : x.cta.warps) {
      if (warp.get() != &x.warp)
        held += now(*warp);
      bool sameGroup = warp->index / warpgroupWarps == x.warp.index / warpgroupWarps;
      least += sameGroup ? wanted : 24;
    }
    uint32_t pool = (launched + 7) / 8 * 8 * uint32_t(x.cta.warps.size());
    if (inc && least > pool)
      fault(FaultKind::Launch,
            "setmaxnreg.inc to %u registers per thread can never succeed: the CTA was launched "
            "with %u for each thread of its %zu warps",
            wanted, launched, x.cta.warps.size());
    if (inc && wanted + held > pool) {
      x.wait(WaitKind::Other, 0,
             format("%u registers per thread (setmaxnreg.inc): of the CTA's %u, the other warps "
                    "hold %u",
                    wanted, pool, held));
      return Step::Blocked;
    }
    x.warp.registers = inc ? wanted : std::min(wanted, mine);
    x.cluster.changed();
    return Step::Next;
  });
}
} // namespace

void registerClc(DecoderTable &table) {
  table.add("clusterlaunchcontrol.try_cancel", decodeTryCancel,
            {{"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes[."
              "multicast::cluster::all].b128",
              "[%r1], [%r2]"},
             {"clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes[.multicast::"
              "cluster::all].b128",
              "[%rd1], [%rd2]"}});
  table.add("clusterlaunchcontrol.query_cancel", decodeQuery,
            {{"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", "%p1, %rq1"},
             {"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128",
              "{%r1, %r2, %r3, %r4}, %rq1"},
             {"clusterlaunchcontrol.query_cancel.{get_first_ctaid::x|get_first_ctaid::y|get_first_"
              "ctaid::z}.b32.b128",
              "%r1, %rq1"}});
  table.add("griddepcontrol", decodeGridControl, {{"griddepcontrol.{wait|launch_dependents}", ""}});
  table.add("setmaxnreg", decodeSetMax, {{"setmaxnreg.{inc|dec}.sync.aligned.u32", "32"}});
}

} // namespace ts::emu
