// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of chips. A new chip is one line here.
#include "ts/Target/PTX/Chip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::ts;

// PTX 8.8 everywhere: sm_100a's default of 8.6 lacks the block-scaled forms, and ptxas 13.0 and
// later read 8.8.
static constexpr Chip chips[] = {
    {"sm_90a", "+ptx88", /*wgmma=*/true, /*tcgen05=*/false, /*clusterLaunchControl=*/false},
    {"sm_100a", "+ptx88", false, true, true},
    {"sm_100f", "+ptx88", false, true, true},
    {"sm_103a", "+ptx88", false, true, true},
    {"sm_120a", "+ptx88", false, false, true},
};

llvm::ArrayRef<Chip> mlir::ts::knownChips() { return chips; }

const Chip *mlir::ts::findChip(llvm::StringRef name) {
  const Chip *it = llvm::find_if(chips, [&](const Chip &chip) { return chip.name == name; });
  return it == std::end(chips) ? nullptr : it;
}

std::string mlir::ts::knownChipNames() {
  return llvm::join(llvm::map_range(chips, [](const Chip &chip) { return chip.name.str(); }), ", ");
}

namespace {
struct Feature {
  llvm::StringLiteral prefix; ///< how the instruction starts, dots only
  llvm::StringLiteral name;
  bool Chip::*present;
};
} // namespace

static constexpr Feature features[] = {
    {"wgmma.", "wgmma", &Chip::wgmma},
    {"tcgen05.", "tcgen05", &Chip::tcgen05},
    {"clusterlaunchcontrol.", "cluster launch control", &Chip::clusterLaunchControl},
};

llvm::StringRef mlir::ts::missingFeature(const Chip &chip, llvm::StringRef instruction,
                                         std::string &names) {
  for (const Feature &feature : features) {
    if (chip.*feature.present || !instruction.contains(feature.prefix))
      continue;
    auto having = llvm::make_filter_range(chips, [&](const Chip &c) { return c.*feature.present; });
    names = llvm::join(llvm::map_range(having, [](const Chip &c) { return c.name.str(); }), ", ");
    return feature.name;
  }
  return {};
}
