// Reading and writing of operands whose values depend on place and time: special registers,
// addresses of shared and local variables, registers that an engine still owns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Exec.h"
#include "Machine.h"

namespace ts::emu {
namespace {

uint64_t clusterWide(const Exec &x, SpecialReg reg, const std::array<uint32_t, 3> &cluster) {
  const std::array<uint32_t, 3> &grid = x.machine.options->grid;
  auto dim = [&](SpecialReg first) { return size_t(reg) - size_t(first); };
  auto within = [&](SpecialReg first) { return size_t(reg) >= size_t(first) && dim(first) < 3; };
  if (within(SpecialReg::NtidX))
    return x.machine.options->block[dim(SpecialReg::NtidX)];
  if (within(SpecialReg::CtaidX))
    return x.cta.id[dim(SpecialReg::CtaidX)];
  if (within(SpecialReg::NctaidX))
    return grid[dim(SpecialReg::NctaidX)];
  if (within(SpecialReg::ClusterIdX))
    return x.cta.id[dim(SpecialReg::ClusterIdX)] / cluster[dim(SpecialReg::ClusterIdX)];
  if (within(SpecialReg::NClusterIdX))
    return grid[dim(SpecialReg::NClusterIdX)] / cluster[dim(SpecialReg::NClusterIdX)];
  if (within(SpecialReg::ClusterCtaidX))
    return x.cta.id[dim(SpecialReg::ClusterCtaidX)] % cluster[dim(SpecialReg::ClusterCtaidX)];
  if (within(SpecialReg::ClusterNctaidX))
    return cluster[dim(SpecialReg::ClusterNctaidX)];
  switch (reg) {
  case SpecialReg::WarpId:
    return x.warp.index;
  case SpecialReg::NWarpId:
    return 64;
  case SpecialReg::SmId:
    return x.cta.linearId % x.machine.sms;
  case SpecialReg::NSmId:
    return x.machine.sms;
  case SpecialReg::IsExplicitCluster:
    return x.machine.entry->function->explicitCluster || x.cluster.ctas.size() > 1;
  case SpecialReg::ClusterCtaRank:
    return x.cta.rank;
  case SpecialReg::ClusterNctaRank:
    return x.cluster.ctas.size();
  case SpecialReg::Clock:
  case SpecialReg::GlobalTimerLo:
    return uint32_t(x.cluster.steps);
  case SpecialReg::ClockHi:
  case SpecialReg::GlobalTimerHi:
    return x.cluster.steps >> 32;
  case SpecialReg::Clock64:
  case SpecialReg::GlobalTimer:
    return x.cluster.steps;
  case SpecialReg::DynamicSmemSize:
    return x.machine.options->dynamicSmem;
  case SpecialReg::TotalSmemSize:
  case SpecialReg::AggrSmemSize:
    return x.cta.shared.size();
  default:
    return 0;
  }
}
} // namespace

const uint64_t *Src::computedLanes(const Exec &x, uint64_t *scratch) const {
  switch (kind) {
  case Kind::Shared:
    std::fill_n(scratch, warpSize, sharedAddress(x.cta.rank, 0) + constant[0]);
    return scratch;
  case Kind::DynamicShared:
    std::fill_n(scratch, warpSize, sharedAddress(x.cta.rank, x.cta.dynamicOffset) + constant[0]);
    return scratch;
  case Kind::Local:
    std::fill_n(scratch, warpSize, x.split.frame->localBase + constant[0]);
    return scratch;
  default:
    break;
  }
  const std::array<uint32_t, 3> &block = x.machine.options->block;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint32_t thread = x.warp.index * warpSize + lane;
    uint32_t bit = 1u << lane;
    uint64_t &value = scratch[lane];
    switch (special) {
    case SpecialReg::TidX:
      value = thread % block[0];
      break;
    case SpecialReg::TidY:
      value = thread / block[0] % block[1];
      break;
    case SpecialReg::TidZ:
      value = thread / block[0] / block[1];
      break;
    case SpecialReg::LaneId:
      value = lane;
      break;
    case SpecialReg::LaneMaskEq:
      value = bit;
      break;
    case SpecialReg::LaneMaskLt:
      value = bit - 1;
      break;
    case SpecialReg::LaneMaskLe:
      value = bit | (bit - 1);
      break;
    case SpecialReg::LaneMaskGe:
      value = ~(bit - 1);
      break;
    case SpecialReg::LaneMaskGt:
      value = uint32_t(~(bit | (bit - 1)));
      break;
    default: {
      uint64_t common = clusterWide(x, special, x.machine.options->cluster);
      std::fill_n(scratch, warpSize, common);
      return scratch;
    }
    }
    value = uint32_t(value);
  }
  return scratch;
}

uint32_t Src::predicate(const Exec &x) const {
  uint64_t scratch[warpSize];
  const uint64_t *values = lanes(x, scratch);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    result |= uint32_t(values[lane] & 1) << lane;
  return negated ? ~result : result;
}

namespace {
[[noreturn]] void inFlightFault(const char *writer) {
  fault(FaultKind::TensorFence,
        "a register is used while %s may still read or write it; wait for it first (%s)", writer,
        std::string_view(writer).rfind("wgmma", 0) == 0 ? "wgmma.wait_group" : "tcgen05.wait::ld");
}
} // namespace

void Src::checkInFlight(const Exec &x) const {
  auto it = x.split.frame->inFlight.find(reg);
  if (it != x.split.frame->inFlight.end())
    inFlightFault(it->second);
}

void Dst::checkInFlight(const Exec &x) const {
  auto it = x.split.frame->inFlight.find(reg);
  if (it != x.split.frame->inFlight.end())
    inFlightFault(it->second);
}

void Dst::setPredicate(const Exec &x, uint32_t lanesTrue) const {
  if (sink)
    return;
  uint64_t *to = x.reg(reg);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (x.active(lane))
      to[lane] = lanesTrue >> lane & 1;
}

Clock &Exec::clock() const { return cluster.checker->clock(warp.agent); }

Site Exec::site() const {
  Site site;
  const ptx::Module &module = machine.program->module;
  auto file = module.files.find(code.loc.file);
  if (file != module.files.end())
    site.file = file->second;
  site.line = code.loc.line;
  site.column = code.loc.column;
  site.ptxLine = code.loc.ptxLine;
  site.instruction = code.source->opcode;
  std::copy_n(cta.id, 3, site.cta);
  site.ctaRank = cta.rank;
  site.warp = int32_t(warp.index);
  site.lanes = mask;
  return site;
}

uint32_t Exec::siteId() const {
  auto [it, isNew] = warp.sites.try_emplace(&code, 0);
  if (isNew)
    it->second = cluster.checker->addSite(site());
  return it->second;
}

void Exec::wait(WaitKind kind, uint64_t subject, std::string text) const {
  split.wait = {kind, subject, mask, std::move(text)};
}

bool Exec::converged(uint32_t members) const {
  if ((mask & members) == members)
    return true;
  wait(WaitKind::WarpSync, members,
       format("lanes 0x%08x of the warp at this instruction; here are 0x%08x", members, mask));
  return false;
}

} // namespace ts::emu
