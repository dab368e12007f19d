// Accesses to global memory as the order of grids sees them (programmatic dependent launch). SPDX-
// License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../Check/GridOrder.h"
#include "Exec.h"
#include "Machine.h"

namespace ts::emu {
namespace {
[[noreturn]] void overlap(const Exec &x, const GridOrder::Conflict &conflict) {
  FaultException race;
  race.kind = FaultKind::Race;
  race.message =
      format("race: the %s by this grid and the %s by the grid before it touch the same global "
             "memory (%s), and nothing orders them: with griddepcontrol.launch_dependents this one "
             "may begin before all that the other wrote can be seen; put griddepcontrol.wait "
             "before this access",
             verbOf(conflict.dependent), verbOf(conflict.primary),
             x.machine.global->describe(conflict.address).c_str());
  race.notes.push_back({conflict.primarySite, "the other access is here, in the grid before"});
  race.site = conflict.dependentSite;
  throw std::move(race);
}

void tell(const Exec &x, GridOrder &order, GridOrder::Side side, uint64_t address, uint64_t bytes,
          AccessKind kind) {
  auto conflict = order.access(side, kind, address, bytes, &x.code, [&] { return x.site(); });
  if (conflict)
    overlap(x, *conflict);
}
} // namespace

void tellGlobal(const Exec &x, uint64_t address, uint64_t bytes, AccessKind kind) {
  const Machine &machine = x.machine;
  if (machine.withDependent)
    tell(x, *machine.withDependent, GridOrder::Side::Primary, address, bytes, kind);
  // A grid before that does not let this one go early has ended, and then all of it is known.
  if (machine.withPrimary && *machine.previousReleases &&
      !x.clock().order.knows(x.cluster.primaryEnd))
    tell(x, *machine.withPrimary, GridOrder::Side::Dependent, address, bytes, kind);
}

void learnPrimary(const Exec &x, Clock &clock) {
  if (x.machine.withPrimary)
    clock.order.learn(x.cluster.primaryEnd);
}

void acquireGlobal(const Exec &x, uint64_t address, Clock &clock) {
  if (x.machine.withPrimary && x.machine.withPrimary->released(address))
    learnPrimary(x, clock);
}

void releaseGlobal(const Exec &x, uint64_t address) {
  if (x.machine.withDependent)
    x.machine.withDependent->release(address);
}

} // namespace ts::emu
