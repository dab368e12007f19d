// Groups, pieces and completion of asynchronous copies. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Copy.h"

#include <bit>

namespace ts::emu {

std::vector<std::shared_ptr<AsyncGroup>> AsyncGroups::open(uint32_t lanes) {
  std::vector<std::shared_ptr<AsyncGroup>> result;
  std::shared_ptr<AsyncGroup> fresh;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    if (!opened[lane]) {
      if (!fresh)
        fresh = std::make_shared<AsyncGroup>();
      opened[lane] = fresh;
    }
    if (std::find(result.begin(), result.end(), opened[lane]) == result.end())
      result.push_back(opened[lane]);
  }
  return result;
}

void AsyncGroups::commit(uint32_t lanes) {
  open(lanes); // a commit without operations makes an empty group
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (lanes >> lane & 1)
      committed[lane].push_back(std::move(opened[lane]));
}

bool AsyncGroups::wait(uint32_t lanes, uint64_t allowed, bool reads, Clock &clock) {
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(lanes >> lane & 1) || committed[lane].size() <= allowed)
      continue;
    for (size_t i = 0; i < committed[lane].size() - allowed; ++i)
      if (reads ? committed[lane][i]->reading : committed[lane][i]->running)
        return false;
  }
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(lanes >> lane & 1) || committed[lane].size() <= allowed)
      continue;
    size_t waited = committed[lane].size() - allowed;
    for (size_t i = 0; i < waited; ++i)
      if (committed[lane][i]->last.time)
        clock.order.learn(committed[lane][i]->last);
    while (waited-- && !committed[lane].front()->running)
      committed[lane].pop_front();
  }
  return true;
}

uint32_t AsyncGroups::pending(uint32_t lanes, bool reads) const {
  uint32_t most = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (lanes >> lane & 1)
      most = std::max(
          most, uint32_t(std::count_if(committed[lane].begin(), committed[lane].end(),
                                       [&](auto &g) { return reads ? g->reading : g->running; })));
  return most;
}

AsyncGroups &cpAsyncGroups(Warp &warp) {
  if (!warp.cpAsync)
    warp.cpAsync = std::make_shared<AsyncGroups>();
  return *warp.cpAsync;
}

AsyncGroups &bulkGroups(Warp &warp) {
  if (!warp.bulk)
    warp.bulk = std::make_shared<AsyncGroups>();
  return *warp.bulk;
}

void prepare(AsyncOp &op, const Exec &x, unsigned lane, ChannelKey channel) {
  Checker &checker = *x.cluster.checker;
  op.code = &x.code;
  op.warp = &x.warp;
  op.lane = lane;
  op.event = checker.newEvent(checker.channelAgent(uint32_t(channel.kind), channel.issuer,
                                                   channel.tag, engineName(channel.kind)));
}

void footprint(const Exec &x, const AsyncOp &op, AccessKind kind, Proxy proxy,
               const SharedPlace &place, uint32_t bytes) {
  Access access;
  access.kind = kind;
  access.proxy = proxy;
  access.event = op.event;
  access.known = &x.clock();
  access.site = x.siteId();
  access.lane = int(op.lane);
  access.warp = x.warp.agent;
  x.cluster.checker->shared(access, {place.cta->rank, place.offset, bytes});
}

void LoadOp::perform(unsigned piece) {
  uint32_t middle = chunks / 2;
  uint32_t begin = piece == 0 ? 0 : middle;
  uint32_t end = piece == 0 && pieces() > 1 ? middle : chunks;
  move(begin, end);
  // Only the last piece publishes the operation: a phase that completes with bytes of another one
  // does not say that this one is done.
  bool last = ++done == pieces();
  mbarrierCompleteTx(*barrier.cta, barrier.offset, int64_t(end - begin) * chunkTx,
                     last ? event : Event{event.agent, 0}, site);
}

void StoreOp::perform(unsigned) {
  auto half = uint32_t(data.size() / 2 / 16 * 16);
  switch (done++) {
  case 0:
    return read(0, half);
  case 1:
    read(half, uint32_t(data.size()));
    for (const std::shared_ptr<AsyncGroup> &group : groups)
      --group->reading;
    return warp->cta->cluster->changed();
  default:
    return write(done - 3);
  }
}

void StoreOp::finish() {
  for (const std::shared_ptr<AsyncGroup> &group : groups)
    --group->running;
}

void StoreOp::join(std::vector<std::shared_ptr<AsyncGroup>> to) {
  groups = std::move(to);
  for (const std::shared_ptr<AsyncGroup> &group : groups) {
    ++group->reading;
    ++group->running;
    group->last = event;
  }
}

ChannelKey loadChannel(const Warp &warp, const SharedPlace &barrier) {
  return {EngineKind::TmaLoad, warp.agent, sharedAddress(barrier.cta->rank, barrier.offset)};
}

ChannelKey storeChannel(const Warp &warp) { return {EngineKind::BulkStore, warp.agent, 0}; }

std::vector<unsigned> multicastRanks(const Exec &x, uint64_t mask, const char *what) {
  std::vector<unsigned> ranks;
  mask &= 0xffff;
  for (unsigned rank = 0; mask >> rank; ++rank)
    if (mask >> rank & 1)
      ranks.push_back(rank);
  if (!ranks.empty() && ranks.back() >= x.cluster.ctas.size())
    fault(FaultKind::OutOfBounds,
          "%s with a CTA mask of 0x%llx, which names CTA %u of a cluster of %zu; expected ranks of "
          "this cluster only",
          what, (unsigned long long)mask, ranks.back(), x.cluster.ctas.size());
  return ranks;
}

SharedPlace sameOffset(const Exec &x, const SharedPlace &place, unsigned rank) {
  return resolveShared(x, Space::SharedCluster, sharedAddress(rank, place.offset), 1, 1,
                       "a multicast copy");
}

} // namespace ts::emu
