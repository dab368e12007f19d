// fence and membar, and the fences between proxies. Source: PTX ISA, "membar/fence", and the
// memory consistency model. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MemoryModifiers.h"

namespace ts::emu {
namespace {

std::unique_ptr<Op> makeFence(bool acquire, bool release, bool async = false) {
  return makeOp([=](Exec &x) {
    if (acquire)
      fence(x, true, false);
    if (async)
      x.cluster.checker->proxyFence(x.warp.agent);
    if (release)
      fence(x, false, true);
    return Step::Next;
  });
}

void needScope(Decode &d) {
  if (d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0)
    d.refuse("expected a scope (.cta, .cluster, .gpu or .sys)");
}

std::unique_ptr<Op> decodeTensormap(Decode &d) {
  bool acquire = d.take("acquire");
  if (!acquire)
    d.need("release");
  needScope(d);
  d.end();
  if (!acquire) {
    d.needOperands(0, 0);
    return makeFence(false, true);
  }
  d.needOperands(2, 2);
  AddressOperand address = d.address(0);
  if (d.immediate(1) != 128)
    d.refuse("expected a size of 128, the size of a tensor map");
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane) && address.lane(x, lane) % 128)
        fault(FaultKind::Alignment, "the tensor map at 0x%llx is not aligned to 128 bytes",
              (unsigned long long)address.lane(x, lane));
    fence(x, true, false);
    return Step::Next;
  });
}

/// fence.{acquire|release}[.sync_restrict::...].scope: one half of acq_rel.
std::unique_ptr<Op> decodeHalf(Decode &d, bool acquire, bool async) {
  bool restricted =
      d.take(acquire ? "sync_restrict::shared::cluster" : "sync_restrict::shared::cta");
  if (async && !restricted)
    d.refuse("expected .sync_restrict::shared::%s", acquire ? "cluster" : "cta");
  if (restricted)
    d.need("cluster");
  else
    needScope(d);
  d.end();
  d.needOperands(0, 0);
  return makeFence(acquire, !acquire, async);
}

std::unique_ptr<Op> decodeFence(Decode &d) {
  if (d.take("acquire"))
    return decodeHalf(d, true, false);
  if (d.take("release"))
    return decodeHalf(d, false, false);
  if (d.takeOneOf({"sc", "acq_rel"}) >= 0 || d.more())
    needScope(d); // fence.scope is fence.acq_rel.scope
  else
    d.refuse("expected a memory order and a scope");
  d.end();
  d.needOperands(0, 0);
  return makeFence(true, true);
}

std::unique_ptr<Op> decodeMbarrierInit(Decode &d) {
  d.need("release");
  d.need("cluster");
  d.end();
  d.needOperands(0, 0);
  // It covers the mbarrier.init before it; those are seen by all as soon as they are made.
  return makeFence(false, false);
}

std::unique_ptr<Op> decodeProxy(Decode &d) {
  if (d.take("async::generic")) {
    bool acquire = d.take("acquire");
    if (!acquire)
      d.need("release");
    return decodeHalf(d, acquire, true);
  }
  if (d.take("tensormap::generic"))
    return decodeTensormap(d);
  bool alias = d.take("alias");
  if (!alias) {
    d.need("async");
    d.takeOneOf({"global", "shared::cta", "shared::cluster"});
  }
  d.end();
  d.needOperands(0, 0);
  return makeFence(false, false, !alias);
}

std::unique_ptr<Op> decodeMembar(Decode &d) {
  if (d.takeOneOf({"cta", "gl", "sys"}) < 0)
    d.refuse("expected .cta, .gl or .sys");
  d.end();
  d.needOperands(0, 0);
  return makeFence(true, true);
}

std::unique_ptr<Op> decodeMembarProxy(Decode &d) {
  d.need("alias");
  d.end();
  d.needOperands(0, 0);
  return makeFence(false, false);
}
} // namespace

void registerFences(DecoderTable &table) {
  table.add("fence", decodeFence,
            {{"fence[.sc|.acq_rel|.acquire|.release].{cta|cluster|gpu|sys}", ""},
             {"fence.acquire.sync_restrict::shared::cluster.cluster", ""},
             {"fence.release.sync_restrict::shared::cta.cluster", ""}});
  table.add("fence.mbarrier_init", decodeMbarrierInit,
            {{"fence.mbarrier_init.release.cluster", ""}});
  table.add("fence.proxy", decodeProxy,
            {{"fence.proxy.async[.global|.shared::cta|.shared::cluster]", ""},
             {"fence.proxy.alias", ""},
             {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", ""},
             {"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", ""},
             {"fence.proxy.tensormap::generic.release.{cta|cluster|gpu|sys}", ""},
             {"fence.proxy.tensormap::generic.acquire.{cta|cluster|gpu|sys}", "[%rd1], 128"}});
  table.add("membar", decodeMembar, {{"membar.{cta|gl|sys}", ""}});
  table.add("membar.proxy", decodeMembarProxy, {{"membar.proxy.alias", ""}});
}

} // namespace ts::emu
