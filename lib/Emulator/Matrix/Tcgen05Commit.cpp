// tcgen05.commit, which lets an mbarrier track the operations of a thread, and tcgen05.fence.
// Source: PTX ISA, "TensorCore 5th Generation Async Synchronization Operations" and "Specialized
// Synchronization Operations". SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05.h"

#include "../Core/Barriers.h"

namespace ts::emu::tcgen05 {
namespace {

/// The signal on the mbarriers. That of one commit may come later than that of a later one: a
/// commit is ordered behind the operations that it tracks, and behind nothing else (PTX ISA,
/// "Implicitly pipelined tcgen05 Instructions").
class ArrivalOp final : public AsyncOp {
public:
  ArrivalOp(std::vector<Cta *> ctas, uint32_t offset, Clock publishes, uint32_t site)
      : ctas(std::move(ctas)), offset(offset), publishes(std::move(publishes)), site(site) {}
  void perform(unsigned) override {}
  void finish() override {
    for (Cta *cta : ctas) {
      if (cta->warpsAlive == 0)
        fault(FaultKind::EarlyExit,
              "tcgen05.commit arrives at an mbarrier of CTA %u, which has exited: its memory may "
              "belong to the next CTA by now; %s",
              cta->rank,
              cta == warp->cta ? "wait for the phase before the last warp exits"
                               : "a CTA has to stay until its peers' arrivals have come");
      mbarrierArriveAsync(*cta, offset, 1, event, &publishes, site);
    }
  }

private:
  std::vector<Cta *> ctas;
  uint32_t offset;
  Clock publishes;
  uint32_t site;
};

/// Waits in the issuing warp's channel behind everything it tracks.
class CommitOp final : public AsyncOp {
public:
  explicit CommitOp(std::unique_ptr<ArrivalOp> arrival) : arrival(std::move(arrival)) {}
  void perform(unsigned) override {}
  void finish() override {
    Cluster &cluster = *arrival->warp->cta->cluster;
    ChannelKey channel{EngineKind::Tcgen05Arrival, arrival->warp->agent, 0};
    cluster.engines->issue(channel, false, std::move(arrival));
  }

private:
  std::unique_ptr<ArrivalOp> arrival;
};

struct Commit {
  unsigned group;
  Space space;
  AddressOperand barrier;
  bool multicast;
  Src mask;

  Step operator()(Exec &x) const {
    ctasOfGroup(x, group, "tcgen05.commit");
    Pipeline pipeline(x);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        issue(x, lane, pipeline);
    return Step::Next;
  }

  void issue(Exec &x, unsigned lane, const Pipeline &pipeline) const {
    SharedPlace place =
        resolveShared(x, space, barrier.lane(x, lane), 8, 8, "the mbarrier of tcgen05.commit");
    std::vector<Cta *> ctas = {place.cta};
    if (multicast) {
      ctas.clear();
      auto bits = uint32_t(mask.lane(x, lane));
      for (unsigned rank = 0; rank < 16; ++rank) {
        if (!(bits >> rank & 1))
          continue;
        if (rank >= x.cluster.ctas.size())
          fault(FaultKind::OutOfBounds,
                "tcgen05.commit with the CTA mask 0x%x in a cluster of %zu CTAs", bits,
                x.cluster.ctas.size());
        ctas.push_back(&x.cluster.cta(rank));
      }
    }
    auto arrival = std::make_unique<ArrivalOp>(std::move(ctas), place.offset, pipeline.published(),
                                               x.siteId());
    arrival->code = &x.code;
    arrival->warp = &x.warp;
    arrival->lane = lane;
    auto op = std::make_unique<CommitOp>(std::move(arrival));
    op->code = &x.code;
    op->warp = &x.warp;
    op->lane = lane;
    x.cluster.engines->issue(Pipeline::channel(x.warp), true, std::move(op));
    x.cluster.changed();
  }
};

std::unique_ptr<Op> decodeCommit(Decode &d) {
  Commit op{};
  op.group = takeGroup(d);
  d.need("mbarrier::arrive::one");
  op.space = d.take("shared::cluster") ? Space::SharedCluster : Space::Generic;
  op.multicast = d.take("multicast::cluster");
  d.need("b64");
  d.end();
  d.needOperands(op.multicast ? 2 : 1, op.multicast ? 2 : 1);
  op.barrier = d.address(0);
  if (op.multicast)
    op.mask = d.src(1, ptx::Type::B16);
  return makeOp(op);
}

std::unique_ptr<Op> decodeFence(Decode &d) {
  int which = d.takeOneOf({"fence::before_thread_sync", "fence::after_thread_sync"});
  if (which < 0)
    d.refuse("expected tcgen05.fence::before_thread_sync or ::after_thread_sync");
  d.end();
  d.needOperands(0, 0);
  return makeOp([which](Exec &x) {
    if (which == 0)
      x.cluster.checker->tensorFenceBefore(x.warp.agent);
    else
      x.cluster.checker->tensorFenceAfter(x.warp.agent);
    return Step::Next;
  });
}
} // namespace

void registerCommit(DecoderTable &table) {
  table.add(
      "tcgen05.commit", decodeCommit,
      {{"tcgen05.commit.{cta_group::1|cta_group::2}.mbarrier::arrive::one.shared::cluster.b64",
        "[%r1]"},
       {"tcgen05.commit.{cta_group::1|cta_group::2}.mbarrier::arrive::one.b64", "[%rd1]"},
       {"tcgen05.commit.{cta_group::1|cta_group::2}.mbarrier::arrive::one.shared::cluster."
        "multicast::cluster.b64",
        "[%r1], %rs1"},
       {"tcgen05.commit.{cta_group::1|cta_group::2}.mbarrier::arrive::one.multicast::cluster."
        "b64",
        "[%rd1], %rs1"}});
  table.add("tcgen05.fence::before_thread_sync",
            [](Decode &d) {
              d.skipTo(1);
              return decodeFence(d);
            },
            {{"tcgen05.fence::before_thread_sync", ""}});
  table.add("tcgen05.fence::after_thread_sync",
            [](Decode &d) {
              d.skipTo(1);
              return decodeFence(d);
            },
            {{"tcgen05.fence::after_thread_sync", ""}});
}

} // namespace ts::emu::tcgen05
