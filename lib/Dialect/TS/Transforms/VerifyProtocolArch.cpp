// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TS227 and TS228: which chip has which feature, as one table. A chip that is not known at all is
// reported by the compiler driver (TS405, TS406), not here.
#include "VerifyProtocolImpl.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/Transforms/Chips.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;
using ::ts::CheckId;

namespace {
enum ChipBit : unsigned {
  Sm90 = 1,
  Sm90a = 2,
  Sm100a = 4,
  Sm100f = 8,
  Sm103a = 16,
  Sm120a = 32,
  Hopper = Sm90 | Sm90a,
  DataCentreBlackwell = Sm100a | Sm100f | Sm103a,
  FromSm90 = Hopper | DataCentreBlackwell | Sm120a
};
struct ChipName {
  StringLiteral name;
  ChipBit bit;
};
constexpr ChipName kChips[] = {{"sm_90", Sm90},     {"sm_90a", Sm90a},   {"sm_100a", Sm100a},
                               {"sm_100f", Sm100f}, {"sm_103a", Sm103a}, {"sm_120a", Sm120a}};

template <typename... Ops> bool isOp(Operation *op) { return isa<Ops...>(op); }

static bool usesTmem(Operation *op) {
  auto resource = dyn_cast<ResourceOp>(op);
  return resource && resource.getSpace() == Space::Tmem;
}
static bool isUmmaPipeline(Operation *op) {
  auto resource = dyn_cast<ResourceOp>(op);
  return resource && resource.getPipeline() &&
         ::ts::protocol::hasUmmaSide(protocolTypeOf(*resource.getPipeline()));
}
static bool isHardwareQueue(Operation *op) {
  auto queue = dyn_cast<WorkQueueOp>(op);
  return queue && queue.getKind() == QueueKind::Clc;
}
static bool gathers(Operation *op) {
  if (auto load = dyn_cast<TmaLoadOp>(op))
    return !load.getGather().empty();
  auto store = dyn_cast<TmaStoreOp>(op);
  return store && !store.getScatter().empty();
}
static bool hasRegisters(Operation *op) {
  auto task = dyn_cast<TaskOp>(op);
  return task && task.getRegisters();
}
static bool hasCluster(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  return kernel && kernel.getClusterSize() > 1;
}

/// One row per feature; the first op of a kernel that matches is named.
struct Feature {
  StringLiteral name;
  bool (*matches)(Operation *op);
  unsigned chips;
  StringLiteral instead; ///< what other chips use, or ""
};
constexpr Feature kFeatures[] = {
    {"tensor memory", usesTmem, DataCentreBlackwell,
     "accumulate in registers with wgmma on sm_90a"},
    {"tcgen05 matrix operations (UMMA)", isOp<UmmaOp>, DataCentreBlackwell,
     "use ts.wgmma on sm_90a"},
    {"tcgen05 copies and tensor memory accesses",
     isOp<TmemCopyOp, TmemLoadOp, TmemStoreOp, TmemWaitOp>, DataCentreBlackwell, ""},
    {"pipeline with a UMMA side", isUmmaPipeline, DataCentreBlackwell,
     "use tma_async or async_async"},
    {"cluster launch control (a clc queue)", isHardwareQueue, DataCentreBlackwell,
     "use a static queue"},
    {"row gather and scatter of TMA", gathers, DataCentreBlackwell, "copy row by row"},
    {"wgmma", isOp<WgmmaOp, WgmmaCommitOp, WgmmaWaitOp>, Sm90a, "use ts.umma and tensor memory"},
    {"TMA", isOp<TmaLoadOp, TmaStoreOp, TmaPrefetchOp, BulkLoadOp, BulkStoreOp>, FromSm90, ""},
    {"replacing fields of a tensor map", isOp<TensorMapReplaceOp>, FromSm90 & ~Sm90, ""},
    {"register budgets (setmaxnreg)", hasRegisters, FromSm90 & ~Sm90, "leave the budgets out"},
    {"clusters", hasCluster, FromSm90, ""},
    {"griddepcontrol", isOp<GridDepWaitOp, GridDepLaunchOp>, FromSm90, ""}};
} // namespace

static std::string chipNames(unsigned chips) {
  SmallVector<StringRef> names;
  for (const ChipName &chip : kChips)
    if (chips & chip.bit)
      names.push_back(chip.name);
  return llvm::join(names, ", ");
}

/// Narrow element formats in memory and matrix kinds that not all chips of a family have: each that
/// `chip` lacks, with what is wrong.
static void forEachMisfit(KernelOp kernel, ChipName chip,
                          function_ref<void(Operation *, const Twine &)> misfit) {
  for (auto [i, arg] : llvm::enumerate(kernel.getBody().getArguments())) {
    auto map = dyn_cast<TensorMapType>(arg.getType());
    if (!map || !map.getElementType().isIntOrFloat() || (chip.bit & ~Hopper))
      continue;
    if (map.getElementType().getIntOrFloatBitWidth() < 8) {
      std::string type;
      llvm::raw_string_ostream(type) << '\'' << map.getElementType() << '\'';
      misfit(kernel, "tensor map '%" + cast<StringAttr>(kernel.getArgNames()[i]).getValue() +
                         "' has the sub-byte element type " + type + ", which TMA of " + chip.name +
                         " does not have; use one of " + chipNames(FromSm90 & ~Hopper) +
                         ", or describe the array as bytes");
    }
  }
  llvm::DenseSet<Type> seen;
  kernel.walk([&](UmmaOp umma) {
    auto type = cast<MemRefType>(umma.getA().getType()).getElementType();
    if (!type.isInteger(8) || chip.bit == Sm100a || !(chip.bit & DataCentreBlackwell) ||
        !seen.insert(type).second)
      return;
    misfit(umma, "8-bit integer operands of tcgen05.mma (kind::i8) exist on sm_100a, not on " +
                     chip.name + "; convert to an 8-bit float format or compile for sm_100a");
  });
}

/// The ops that use a feature, in order.
static SmallVector<Operation *> usersOf(const Feature &feature, KernelOp kernel) {
  SmallVector<Operation *> users;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (feature.matches(op))
      users.push_back(op);
  });
  return users;
}

SmallVector<StringRef> mlir::ts::chipsFor(KernelOp kernel) {
  unsigned chips = ~0U;
  for (const Feature &feature : kFeatures)
    if (!usersOf(feature, kernel).empty())
      chips &= feature.chips;
  SmallVector<StringRef> names;
  for (const ChipName &chip : kChips) {
    bool fits = chips & chip.bit;
    forEachMisfit(kernel, chip, [&](Operation *, const Twine &) { fits = false; });
    if (fits)
      names.push_back(chip.name);
  }
  return names;
}

void mlir::ts::detail::checkArchitecture(KernelOp kernel, CheckReporter &reporter) {
  const ChipName *chip =
      llvm::find_if(kChips, [&](const ChipName &known) { return known.name == kernel.getChip(); });
  if (chip == std::end(kChips))
    return;
  for (const Feature &feature : kFeatures) {
    if (feature.chips & chip->bit)
      continue;
    SmallVector<Operation *> users = usersOf(feature, kernel);
    if (users.empty())
      continue;
    auto diag = reporter.report(CheckId::TS227, users.front());
    diag << chip->name << " has no " << feature.name << "; compile for one of "
         << chipNames(feature.chips);
    if (!feature.instead.empty())
      diag << ", or " << feature.instead;
    if (users.size() > 1)
      diag.attachNote(users.front()->getLoc())
          << "and " << users.size() - 1 << " more use(s) in kernel '" << kernel.getSymName() << "'";
  }
  forEachMisfit(kernel, *chip, [&](Operation *at, const Twine &what) {
    reporter.report(CheckId::TS228, at) << what;
  });
}
