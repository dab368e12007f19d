// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides the offsets: pinned ones first, alias groups as one block each, the rest by falling
// alignment into the lowest gap; barriers and slots as one block behind the data. Named-barrier ids
// are here too. What there is to place is AllocateCollect.cpp.
#include "AllocateImpl.h"
#include "AllocatePlace.h"
#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ts;

int64_t Placement::getExtent() const { return satAdd(satMul(stride, stages - 1), size); }
int64_t Placement::getEnd() const { return satAdd(std::max<int64_t>(offset, 0), getExtent()); }

const Placement *AllocationPlan::find(Operation *owner, PlacementKind kind, int64_t index) const {
  for (const Placement &p : placements)
    if (p.owner == owner && p.kind == kind && p.index == index)
      return &p;
  return nullptr;
}

int64_t mlir::ts::getMaxDynamicSmem(StringRef chip) {
  // CUDA C++ Programming Guide, technical specifications per compute capability.
  constexpr int64_t kKiB = 1024;
  if (chip.starts_with("sm_12") || chip.starts_with("sm_86") || chip.starts_with("sm_89"))
    return 99 * kKiB;
  if (chip.starts_with("sm_80") || chip.starts_with("sm_87"))
    return 163 * kKiB;
  return 227 * kKiB;
}

int64_t mlir::ts::getMaxTmemColumns(StringRef chip) {
  return chip.empty() || chip.starts_with("sm_10") || chip.starts_with("sm_11") ? kTmemColumns : 0;
}

namespace {
constexpr int64_t kMinTmemColumns = 32;

class Planner {
public:
  Planner(PlanBuilder &builder, ArrayRef<UserStorage> storage)
      : builder(builder), plan(builder.plan), storage(storage) {
    for (const UserStorage &user : storage)
      plan.placements[user.placement].pinned = true;
  }

  void run() {
    placeData(/*tmem=*/false);
    placeData(/*tmem=*/true);
    placeUserStorage();
    placeBarrierBlock();
    checkOverlaps();
    checkUnderBarriers();
    checkCapacity();
  }

private:
  using Members = SmallVector<Placement *>;
  /// What is placed as one block: one allocation, or an alias group's members in this memory.
  struct Unit {
    Members members;
    int64_t size = 0, align = 1;
    bool fixed = false; ///< a member is pinned: the block starts at the lowest pinned place
  };

  /// Falling alignment; equals keep the order of the plan, whose elements these point into.
  static bool byAlignment(const Placement *a, const Placement *b) {
    return std::pair(-a->align, a) < std::pair(-b->align, b);
  }

  /// Lays out one phase from `base`: pinned members stay, the others fill the gaps. Returns the
  /// end.
  static int64_t layOutPhase(ArrayRef<Placement *> members, int64_t base) {
    Occupancy used;
    for (Placement *p : members)
      if (p->pinned)
        used.add(p->offset, p->getEnd());
    Members open = llvm::filter_to_vector(members, [](Placement *p) { return !p->pinned; });
    llvm::sort(open, byAlignment);
    for (Placement *p : open) {
      p->offset = used.lowestFit(p->getExtent(), p->align, base);
      used.add(p->offset, p->getEnd());
    }
    return used.getEnd();
  }

  static int64_t layOut(ArrayRef<Placement *> members, int64_t base) {
    llvm::MapVector<int64_t, Members> phases;
    for (Placement *p : members)
      phases[p->phase].push_back(p);
    int64_t end = base;
    for (auto &[phase, list] : phases)
      end = std::max(end, layOutPhase(list, base));
    return end;
  }

  void placeData(bool tmem) {
    SmallVector<Unit> units;
    llvm::DenseMap<Operation *, size_t> groups;
    for (Placement &p : plan.placements) {
      if (p.kind != PlacementKind::Data || p.tmem != tmem)
        continue;
      if (p.aliasGroup) {
        auto [it, inserted] = groups.try_emplace(p.aliasGroup, units.size());
        if (inserted)
          units.emplace_back();
        units[it->second].members.push_back(&p);
      } else {
        units.emplace_back().members.push_back(&p);
      }
    }

    Occupancy used;
    for (Unit &unit : units) {
      int64_t base = kSaturated;
      for (Placement *p : unit.members) {
        unit.align = std::max(unit.align, p->align);
        if (p->pinned) {
          unit.fixed = true;
          base = std::min(base, p->offset);
        }
      }
      if (unit.fixed)
        used.add(base, layOut(unit.members, base));
      else
        unit.size = layOut(unit.members, 0);
    }
    // Falling alignment leaves no padding between blocks; tensor memory keeps the program's order,
    // which is what people expect to find in a column map.
    if (!tmem)
      llvm::sort(units, [](const Unit &a, const Unit &b) {
        return std::pair(-a.align, a.members.front()) < std::pair(-b.align, b.members.front());
      });
    for (Unit &unit : units) {
      if (unit.fixed)
        continue;
      int64_t base = used.lowestFit(unit.size, unit.align);
      int64_t end = layOut(unit.members, base);
      used.add(base, end);
    }
    (tmem ? tmemUsed : smemUsed) = used;
  }

  /// Barriers in allocations of the user's stand behind each other in the order of their resources.
  void placeUserStorage() {
    llvm::DenseMap<Placement *, int64_t> filled;
    for (UserStorage user : storage) {
      Placement &p = plan.placements[user.placement];
      Placement *target = nullptr;
      for (Placement &candidate : plan.placements)
        if (candidate.owner == user.storage && candidate.kind == PlacementKind::Data &&
            candidate.name == (user.storage.getName() + "." + user.alloc.getValue()).str())
          target = &candidate;
      auto fail = [&]() -> InFlightDiagnostic {
        p.offset = 0;
        return builder.report(p.owner)
               << "[TS230] barriers '" << p.name << "' cannot go into '" << user.storage.getName()
               << "." << user.alloc.getValue() << "': ";
      };
      if (!target) {
        fail() << "'" << user.storage.getName() << "' has no allocation of that name";
        continue;
      }
      if (target->tmem) {
        fail() << "mbarriers live in shared memory, and this is tensor memory";
        continue;
      }
      if (target->stages > 1) {
        fail() << "it has one copy per stage; declare it 'unstaged'";
        continue;
      }
      if (target->aliasGroup) {
        fail() << "alias group '" << cast<AliasGroupOp>(target->aliasGroup).getName()
               << "' lets other phases overwrite it";
        continue;
      }
      int64_t &at = filled[target];
      if (satAdd(at, p.getExtent()) > target->size) {
        fail() << "it has " << target->size << " bytes, of which " << at
               << " are taken, and they need " << p.getExtent() << " (8 for each of " << p.stages
               << " stages)";
        continue;
      }
      p.offset = target->offset + at;
      at += p.getExtent();
      stored.push_back({&p, target});
    }
  }

  /// Responses first (16-byte aligned), then barriers, then the 4-byte slot: no padding inside.
  void placeBarrierBlock() {
    Members block;
    for (Placement &p : plan.placements)
      if (p.kind != PlacementKind::Data && !p.pinned)
        block.push_back(&p);
    if (block.empty())
      return;
    llvm::sort(block, byAlignment);
    int64_t size = layOutPhase(block, 0);
    int64_t base = smemUsed.lowestFit(size, block.front()->align);
    smemUsed.add(base, layOutPhase(block, base));
  }

  /// Pinned allocations may overlap each other (the prover sees it) and phases of one alias group
  /// do; anything else that ends up on top of another is a fault of the pins.
  void checkOverlaps() {
    Members fixed;
    for (Placement &p : plan.placements)
      if (p.kind == PlacementKind::Data)
        fixed.push_back(&p);
    llvm::sort(fixed, [](Placement *a, Placement *b) {
      return std::pair(a->offset, a) < std::pair(b->offset, b);
    });
    for (auto [i, a] : llvm::enumerate(fixed))
      for (Placement *b : ArrayRef(fixed).drop_front(i + 1)) {
        if (b->offset >= a->getEnd())
          break;
        bool phases = a->aliasGroup && a->aliasGroup == b->aliasGroup && a->phase != b->phase;
        if (a->tmem != b->tmem || phases || (a->pinned && b->pinned))
          continue;
        Placement *loose = a->pinned ? b : a, *other = a->pinned ? a : b;
        auto diag = builder.report(loose->owner)
                    << "[TS226] allocation '" << loose->name << "' has to lie on '" << other->name
                    << "' from " << b->offset
                    << ", because its alias group starts at a pinned place; move the pinned "
                       "allocations apart, or pin both if the overlap is wanted";
        diag.attachNote(other->owner->getLoc()) << "'" << other->name << "' is here";
        return;
      }
  }

  /// Barriers live as long as the kernel: nothing but their own storage may lie under them.
  void checkUnderBarriers() {
    for (auto [barriers, home] : stored)
      for (Placement &data : plan.placements) {
        if (data.kind != PlacementKind::Data || data.tmem || &data == home ||
            data.offset >= barriers->getEnd() || barriers->offset >= data.getEnd())
          continue;
        auto diag = builder.report(data.owner)
                    << "[TS230] allocation '" << data.name << "' lies on the barriers '"
                    << barriers->name << "' at bytes " << barriers->offset << " to "
                    << barriers->getEnd()
                    << ", whose state every store into it overwrites; pin it elsewhere, or let the "
                       "compiler place it";
        diag.attachNote(barriers->owner->getLoc())
            << "'" << barriers->name << "' lie in '" << home->name << "'";
        break;
      }
  }

  void checkCapacity() {
    KernelOp kernel = builder.kernel;
    StringRef chip = kernel.getChip();
    plan.smemLimit = getMaxDynamicSmem(chip);
    std::string limitName = chip.empty() ? "the largest chip" : chip.str();
    if (auto cap = kernel.getMaxDynamicSmem(); cap && int64_t(*cap) < plan.smemLimit) {
      plan.smemLimit = std::max<int64_t>(0, int64_t(*cap));
      limitName = "max_smem of the kernel";
    }
    plan.smemBytes = alignUp(smemUsed.getEnd(), kBulkGranularity);
    plan.tmemLimit = getMaxTmemColumns(chip);
    plan.tmemUsed = tmemUsed.getEnd();
    if (plan.tmemUsed > 0)
      plan.tmemColumns = std::max<int64_t>(kMinTmemColumns, llvm::PowerOf2Ceil(plan.tmemUsed));
    if (const Placement *slot = plan.find(kernel, PlacementKind::TmemSlot))
      plan.tmemSlot = slot->offset;

    auto size = [](int64_t bytes) {
      return bytes >= kSaturated ? std::string("far too many") : std::to_string(bytes);
    };
    auto attachMap = [&](InFlightDiagnostic &diag) {
      diag.attachNote(kernel.getLoc()) << formatMemoryMap(plan, kernel.getSymName());
    };
    if (plan.smemBytes > plan.smemLimit) {
      auto diag =
          builder.report(kernel)
          << "[TS226] kernel '" << kernel.getSymName() << "' needs " << size(plan.smemBytes)
          << " bytes of dynamic shared memory, but " << limitName << " gives at most "
          << plan.smemLimit
          << " to one CTA; use fewer stages or smaller tiles, or put allocations that do not "
             "live at the same time into an alias group";
      attachMap(diag);
    }
    if (plan.tmemUsed && !plan.tmemLimit) {
      builder.report(kernel) << "[TS227] kernel '" << kernel.getSymName()
                             << "' has allocations in tensor memory, which " << chip
                             << " lacks; compile for sm_100a or sm_103a";
    } else if (plan.tmemColumns > plan.tmemLimit) {
      auto diag = builder.report(kernel)
                  << "[TS226] kernel '" << kernel.getSymName() << "' needs " << size(plan.tmemUsed)
                  << " columns of tensor memory, but there are " << plan.tmemLimit
                  << "; use fewer stages or narrower tiles, or put allocations that do not live at "
                     "the same time into an alias group";
      attachMap(diag);
    }
  }

  PlanBuilder &builder;
  AllocationPlan &plan;
  ArrayRef<UserStorage> storage;
  SmallVector<std::pair<Placement *, Placement *>> stored; ///< barriers, and what they lie in
  Occupancy smemUsed, tmemUsed;
};
} // namespace

void mlir::ts::assignBarrierIds(PlanBuilder &builder) {
  std::array<bool, kMaxNamedBarrier + 1> taken{};
  taken[0] = true; // __syncthreads
  SmallVector<std::pair<Operation *, int64_t>> wanted;
  builder.kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto barrier = dyn_cast<NamedBarrierOp>(op)) {
      if (auto id = barrier.getId()) {
        // Sharing a pinned id is the user's choice; whether the uses meet is the verifier's check.
        taken[*id] = true;
        builder.plan.barrierIds.push_back({op, {int64_t(*id)}});
      } else {
        wanted.push_back({op, 1});
      }
    } else if (auto baton = dyn_cast<BatonOp>(op)) {
      wanted.push_back({op, int64_t(baton.getHolders())});
    }
  });
  for (auto [op, count] : wanted) {
    SmallVector<int64_t> ids;
    for (int64_t id = kMinNamedBarrier; id <= kMaxNamedBarrier && int64_t(ids.size()) < count; ++id)
      if (!taken[id])
        ids.push_back(id);
    if (int64_t(ids.size()) < count) {
      InFlightDiagnostic diag = builder.report(op);
      diag << "[TS229] no named barrier left for '"
           << cast<StringAttr>(op->getAttr("name")).getValue() << "': it needs " << count
           << ", and " << ids.size() << " of the " << kMaxNamedBarrier
           << " (ids 1 to 15) are free; give barriers that are never used at the "
              "same time one id";
      for (auto &[user, held] : builder.plan.barrierIds)
        diag.attachNote(user->getLoc())
            << "'" << cast<StringAttr>(user->getAttr("name")).getValue() << "' takes "
            << held.size() << (held.size() == 1 ? " id" : " ids");
      return;
    }
    for (int64_t id : ids)
      taken[id] = true;
    builder.plan.barrierIds.push_back({op, std::move(ids)});
  }
}

AllocationPlan mlir::ts::planAllocation(KernelOp kernel, EmitDiagnostic emit) {
  AllocationPlan plan;
  PlanBuilder builder{kernel, plan, emit};
  SmallVector<UserStorage> storage;
  collectPlacements(builder, storage);
  Planner(builder, storage).run();
  assignBarrierIds(builder);
  return plan;
}
