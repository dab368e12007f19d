// Loads, stores and atomics of single lanes, and the addresses of engines: every access of the
// machine to memory is resolved and checked here. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Exec.h"
#include "Machine.h"

namespace ts::emu {
namespace {

const char *spaceName(Space space) {
  switch (space) {
  case Space::Generic:
    return "generic";
  case Space::Global:
    return "global";
  case Space::SharedCta:
    return "shared";
  case Space::SharedCluster:
    return "shared::cluster";
  case Space::Local:
    return "local";
  case Space::Param:
    return "parameter";
  case Space::Const:
    return "constant";
  }
  return "";
}

void checkAlignment(uint64_t address, uint32_t align, const char *what) {
  if (align && address % align)
    fault(FaultKind::Alignment, "%s at address 0x%llx, which is not a multiple of %u bytes", what,
          (unsigned long long)address, align);
}

/// Where a lane's access lands.
struct Target {
  Space space;
  uint8_t *bytes;
  SharedPlace shared;
};

Target resolve(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, bool write,
               const char *what) {
  // Vectors are aligned as a whole, up to 32 bytes.
  uint32_t align = std::bit_floor(bytes);
  if (space == Space::Generic) {
    if (inWindow(address, sharedWindow))
      space = Space::SharedCluster;
    else if (inWindow(address, localWindow))
      space = Space::Local;
    else if (inWindow(address, paramWindow))
      space = Space::Param;
    else
      space = Space::Global;
  }
  Target target{space, nullptr, {}};
  switch (space) {
  case Space::SharedCta:
  case Space::SharedCluster:
    target.shared = resolveShared(x, space, address, bytes, align, what);
    target.bytes = target.shared.bytes;
    return target;
  case Space::Local:
    if (inWindow(address, localWindow))
      address -= localWindow;
    checkAlignment(address, align, what);
    target.bytes = localBytes(x, lane, address, bytes);
    return target;
  case Space::Param: {
    if (inWindow(address, paramWindow))
      address -= paramWindow;
    if (write)
      fault(FaultKind::OutOfBounds, "%s to the kernel's parameters, which are read-only", what);
    checkAlignment(address, align, what);
    std::vector<uint8_t> &params = x.machine.params;
    if (address > params.size() || bytes > params.size() - address)
      fault(FaultKind::OutOfBounds, "%s at byte %llu of the kernel's parameters, which have %zu",
            what, (unsigned long long)address, params.size());
    target.bytes = params.data() + address;
    return target;
  }
  default:
    target.bytes = resolveGlobal(x.machine, address, bytes, align, write, what);
    return target;
  }
}

void tell(Exec &x, unsigned lane, const Target &target, uint64_t address, unsigned bytes,
          AccessKind kind, UndefinedRead *undefined = nullptr) {
  if (!target.shared.cta) {
    if (target.space == Space::Global && x.machine.ordersGrids())
      tellGlobal(x, address, bytes, kind);
    return;
  }
  Checker &checker = *x.cluster.checker;
  Access access;
  access.kind = kind;
  access.proxy = Proxy::Generic;
  access.event = checker.lastEvent(x.warp.agent);
  access.known = &checker.clock(x.warp.agent);
  access.site = x.siteId();
  access.undefined = undefined;
  access.lane = int(lane);
  access.warp = x.warp.agent;
  checker.shared(access, {target.shared.cta->rank, target.shared.offset, bytes});
}

/// A spilled value that was undefined; what is told of it is where it had been read first.
void loadUndefinedLocal(const Exec &x, const Target &target, unsigned bytes, UndefinedRead &read) {
  const uint8_t *marks = x.warp.localUndefined.data() + (target.bytes - x.warp.local.data());
  for (unsigned i = 0; i < bytes; ++i)
    if (marks[i]) {
      const UndefinedOrigin &origin = x.warp.undefinedOrigins[marks[i] - 1u];
      read = {read.bytes | 1u << i, origin.stored, origin.what, origin.site};
    }
}

/// The place as one number, whatever form of address was used.
uint64_t placeOf(const Target &target, uint64_t address) {
  if (!target.shared.cta)
    return address;
  return sharedWindow + sharedAddress(target.shared.cta->rank, target.shared.offset);
}

// A relaxed load takes over nothing by itself: the next fence does (fence-fence synchronisation of
// the PTX memory model). Likewise a relaxed store publishes what a fence before it covers.
void acquireThrough(Exec &x, uint64_t place, Order order) {
  bool acquires = order == Order::Acquire || order == Order::AcquireRelease;
  x.cluster.checker->acquire(place, acquires ? x.clock() : x.warp.observed);
  acquireGlobal(x, place, acquires ? x.clock() : x.warp.observed);
  if (acquires)
    x.cluster.checker->warpSynchronised(x.warp.agent);
}

void releaseThrough(Exec &x, uint64_t place, Order order) {
  Checker &checker = *x.cluster.checker;
  if (order == Order::Release || order == Order::AcquireRelease) {
    checker.release(place, x.clock());
    checker.newEvent(x.warp.agent);
    releaseGlobal(x, place);
  } else if (!x.warp.fenced.order.empty()) {
    checker.release(place, x.warp.fenced);
    releaseGlobal(x, place);
  }
}

std::string laneText(const char *verb, unsigned lane, unsigned bytes, Space space) {
  return format("lane %u %s %u byte%s of %s memory", lane, verb, bytes, bytes == 1 ? "" : "s",
                spaceName(space));
}
} // namespace

SharedPlace resolveShared(const Exec &x, Space space, uint64_t address, uint32_t size,
                          uint32_t align, const char *what) {
  uint64_t given = address;
  if (inWindow(address, sharedWindow))
    address -= sharedWindow;
  if (address >> 32)
    fault(FaultKind::OutOfBounds,
          "%s at 0x%llx, which is not a shared-memory address: shared addresses have 32 bits (use "
          "cvta.to.shared or mapa)",
          what, (unsigned long long)given);
  checkAlignment(address, align, what);
  unsigned rank = unsigned(address >> sharedRankShift);
  auto offset = uint32_t(address & sharedOffsetMask);
  Cta *cta = &x.cta;
  if (space == Space::SharedCta) {
    if (rank != 0 && rank != x.cta.rank)
      fault(FaultKind::OutOfBounds,
            "%s at 0x%llx in shared::cta, but that address is in CTA %u of the cluster and this is "
            "CTA %u; use shared::cluster",
            what, (unsigned long long)given, rank, x.cta.rank);
  } else {
    if (rank >= x.cluster.ctas.size())
      fault(FaultKind::OutOfBounds, "%s at 0x%llx: CTA %u of a cluster of %zu", what,
            (unsigned long long)given, rank, x.cluster.ctas.size());
    cta = x.cluster.ctas[rank].get();
    if (cta->warpsAlive == 0)
      fault(FaultKind::EarlyExit,
            "%s in the shared memory of CTA %u, which has exited; a CTA has to stay (cluster "
            "barrier) until its peers are done with its memory",
            what, rank);
  }
  if (offset < sharedReserved || offset > cta->shared.size() || size > cta->shared.size() - offset)
    fault(FaultKind::OutOfBounds,
          "%s of %u bytes at 0x%llx: the CTA's shared memory is 0x%x to 0x%zx (%zu bytes; is the "
          "dynamic size of the launch right?)",
          what, size, (unsigned long long)given, sharedReserved, cta->shared.size(),
          cta->shared.size() - sharedReserved);
  return {cta, offset, cta->shared.data() + offset};
}

uint8_t *resolveGlobal(Machine &machine, uint64_t address, uint64_t size, uint32_t align,
                       bool write, const char *what) {
  checkAlignment(address, align, what);
  if (inWindow(address, paramWindow) && !write) {
    uint64_t offset = address - paramWindow;
    if (offset <= machine.params.size() && size <= machine.params.size() - offset)
      return machine.params.data() + offset;
  }
  uint8_t *bytes = machine.global->find(address, size);
  if (!bytes)
    fault(FaultKind::OutOfBounds, "%s of %llu bytes at 0x%llx: %s", what, (unsigned long long)size,
          (unsigned long long)address, machine.global->describe(address).c_str());
  return bytes;
}

uint8_t *localBytes(Exec &x, unsigned lane, uint64_t offset, uint64_t bytes) {
  if (offset > x.warp.localBytes || bytes > x.warp.localBytes - offset)
    fault(FaultKind::OutOfBounds,
          "%llu bytes at byte %llu of local memory, which has %u per thread",
          (unsigned long long)bytes, (unsigned long long)offset, x.warp.localBytes);
  return x.warp.local.data() + size_t(lane) * x.warp.localBytes + offset;
}

void load(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, void *to,
          bool strong) {
  load(x, lane, space, address, bytes, to, strong ? Order::Relaxed : Order::Weak);
}

void store(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, const void *from,
           bool strong) {
  store(x, lane, space, address, bytes, from, strong ? Order::Relaxed : Order::Weak);
}

void load(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, void *to,
          Order order, UndefinedRead *undefined) {
  Target target;
  try {
    target = resolve(x, lane, space, address, bytes, false, "a load");
  } catch (FaultException &e) {
    e.message = laneText("reads", lane, bytes, space) + ": " + e.message;
    throw;
  }
  if (target.space == Space::Local && undefined && !x.warp.localUndefined.empty())
    loadUndefinedLocal(x, target, bytes, *undefined);
  if (order == Order::Weak) {
    tell(x, lane, target, address, bytes, AccessKind::Read, undefined);
    memcpy(to, target.bytes, bytes);
    return;
  }
  acquireThrough(x, placeOf(target, address), order);
  tell(x, lane, target, address, bytes, AccessKind::AtomicRead, undefined);
  if (target.space == Space::Global) {
    std::lock_guard lock(x.machine.global->atomics);
    memcpy(to, target.bytes, bytes);
  } else {
    memcpy(to, target.bytes, bytes);
  }
}

void store(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes, const void *from,
           Order order) {
  Target target;
  try {
    target = resolve(x, lane, space, address, bytes, true, "a store");
  } catch (FaultException &e) {
    e.message = laneText("writes", lane, bytes, space) + ": " + e.message;
    throw;
  }
  bool strong = order != Order::Weak;
  bool same = memcmp(target.bytes, from, bytes) == 0;
  tell(x, lane, target, address, bytes,
       strong ? AccessKind::AtomicWrite
       : same ? AccessKind::SameWrite
              : AccessKind::Write);
  std::unique_lock<std::mutex> lock;
  if (strong && target.space == Space::Global)
    lock = std::unique_lock(x.machine.global->atomics);
  if (target.space == Space::Local && !x.warp.localUndefined.empty())
    std::fill_n(x.warp.localUndefined.data() + (target.bytes - x.warp.local.data()), bytes, 0);
  if (target.space != Space::Local && !same)
    x.cluster.lastChange = x.cluster.steps;
  memcpy(target.bytes, from, bytes);
  if (strong)
    releaseThrough(x, placeOf(target, address), order);
}

void storedUndefined(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes,
                     uint32_t slot) {
  Target target = resolve(x, lane, space, address, bytes, true, "a store");
  if (target.shared.cta) {
    x.cluster.checker->spoil(SharedRange{target.shared.cta->rank, target.shared.offset, bytes});
    return;
  }
  if (target.space != Space::Local)
    usedUndefined(x, slot, undefinedLanes(x, slot), "is stored to global memory here");
  std::vector<uint8_t> &marks = x.warp.localUndefined;
  marks.resize(x.warp.local.size());
  uint32_t origin = x.split.frame->undefined.origin[slot];
  std::fill_n(marks.data() + (target.bytes - x.warp.local.data()), bytes,
              uint8_t(std::min<uint32_t>(origin + 1, 255)));
}

void copyLocal(Exec &x, unsigned lane, uint32_t to, uint32_t from, uint64_t bytes) {
  uint8_t *target = localBytes(x, lane, to, bytes), *source = localBytes(x, lane, from, bytes);
  memcpy(target, source, bytes);
  if (x.warp.localUndefined.empty())
    return;
  uint8_t *marks = x.warp.localUndefined.data();
  memcpy(marks + (target - x.warp.local.data()), marks + (source - x.warp.local.data()), bytes);
}

void atomic(Exec &x, unsigned lane, Space space, uint64_t address, unsigned bytes,
            const std::function<void(void *)> &update, bool acquire, bool release) {
  Target target;
  try {
    target = resolve(x, lane, space, address, bytes, true, "an atomic operation");
  } catch (FaultException &e) {
    e.message = laneText("updates", lane, bytes, space) + ": " + e.message;
    throw;
  }
  uint64_t place = placeOf(target, address);
  acquireThrough(x, place, acquire ? Order::Acquire : Order::Relaxed);
  tell(x, lane, target, address, bytes, AccessKind::Atomic);
  if (target.shared.cta) {
    update(target.bytes);
  } else {
    std::lock_guard lock(x.machine.global->atomics);
    update(target.bytes);
  }
  releaseThrough(x, place, release ? Order::Release : Order::Relaxed);
  x.cluster.changed();
}

void fence(Exec &x, bool acquire, bool release) {
  Clock &clock = x.clock();
  x.cluster.checker->warpSynchronised(x.warp.agent); // lanes may have met through a flag
  if (acquire) {
    clock.order.join(x.warp.observed.order);
    clock.proxy.join(x.warp.observed.proxy);
    clock.tensorTaken.join(x.warp.observed.tensorTaken);
    x.warp.observed = {};
  }
  if (release) {
    x.warp.fenced.joinAll(clock);
    x.cluster.checker->newEvent(x.warp.agent); // accesses behind the fence are newer
  }
}

} // namespace ts::emu
