// A cluster of CTAs as it stands before its first instruction. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "Engine.h"
#include "Machine.h"
#include "Split.h"

#include "Address.h"
#include "Fault.h"

#include <bit>
#include <cstdio>

namespace ts::emu {

std::optional<uint64_t> GridQueue::take() {
  uint64_t id = nextCluster.fetch_add(1);
  if (id < total)
    return id;
  nextCluster.store(total); // never wraps, however often it is asked
  return std::nullopt;
}

std::optional<uint64_t> GridQueue::cancel() {
  std::optional<uint64_t> id = take();
  cancelled += id.has_value();
  return id;
}

void Machine::print(std::string_view text) {
  std::lock_guard lock(printing);
  if (options->print)
    options->print(text);
  else
    fwrite(text.data(), 1, text.size(), stdout);
}

void releaseDependents(Cta &cta) {
  if (cta.releasedDependents)
    return;
  cta.releasedDependents = true;
  ++cta.cluster->machine->ctasReleased;
}

std::unique_ptr<Cluster> makeCluster(Machine &machine, uint64_t id) {
  const LaunchOptions &options = *machine.options;
  auto cluster = std::make_unique<Cluster>();
  cluster->machine = &machine;
  cluster->id = id;
  uint32_t threads = options.block[0] * options.block[1] * options.block[2];
  uint32_t warps = (threads + warpSize - 1) / warpSize;
  const auto &shape = options.cluster;
  uint32_t ctas = shape[0] * shape[1] * shape[2];
  uint32_t sharedBytes = machine.entry->dynamicOffset + options.dynamicSmem;
  cluster->checker = std::make_unique<Checker>(ctas, warps, sharedBytes, options.checkRaces,
                                               options.checkUninitialised);
  cluster->checker->strictTensorFences = options.strictTcgen05Fences;
  cluster->engines = std::make_unique<Engines>(*cluster);
  if (machine.withPrimary)
    cluster->primaryEnd =
        cluster->checker->newEvent(cluster->checker->channelAgent(~0u, 0, 0, "the grid before"));
  const uint64_t at[3] = {id % machine.gridClusters[0],
                          id / machine.gridClusters[0] % machine.gridClusters[1],
                          id / machine.gridClusters[0] / machine.gridClusters[1]};
  for (uint32_t rank = 0; rank < ctas; ++rank) {
    auto cta = std::make_unique<Cta>();
    cta->cluster = cluster.get();
    cta->rank = rank;
    const uint32_t within[3] = {rank % shape[0], rank / shape[0] % shape[1],
                                rank / shape[0] / shape[1]};
    for (unsigned d = 0; d < 3; ++d)
      cta->id[d] = uint32_t(at[d]) * shape[d] + within[d];
    cta->linearId = cta->id[0] + uint64_t(options.grid[0]) *
                                     (cta->id[1] + uint64_t(options.grid[1]) * cta->id[2]);
    cta->shared.assign(sharedBytes, 0xff); // poison: NaN in every floating type
    cta->dynamicOffset = machine.entry->dynamicOffset;
    cta->warpsAlive = warps;
    for (uint32_t w = 0; w < warps; ++w) {
      auto warp = std::make_unique<Warp>();
      warp->cta = cta.get();
      warp->index = w;
      warp->agent = cluster->checker->warpAgent(rank, w);
      cluster->checker->newEvent(warp->agent); // time 0 is before everything
      uint32_t lanes = std::min(threads - w * warpSize, warpSize);
      warp->valid = lanes == warpSize ? ~0u : (1u << lanes) - 1;
      warp->splits.reserve(warpSize + 1); // splits stay where they are while an op runs
      Split split;
      split.mask = warp->valid;
      split.frame = enterFrame(*warp, *machine.entry, nullptr, 0, warp->valid);
      warp->splits.push_back(std::move(split));
      cta->warps.push_back(std::move(warp));
    }
    cluster->ctas.push_back(std::move(cta));
  }
  return cluster;
}

} // namespace ts::emu
