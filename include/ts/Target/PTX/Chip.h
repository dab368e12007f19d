// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chips that PTX is emitted for, and what the emission needs to know of each: the PTX version
// and which groups of instructions exist. Limits of the hardware (shared memory, tensor memory)
// belong to the protocol and the allocation, not here.
#ifndef TS_TARGET_PTX_CHIP_H
#define TS_TARGET_PTX_CHIP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::ts {

struct Chip {
  llvm::StringLiteral name;       ///< "sm_100a"
  llvm::StringLiteral ptxFeature; ///< "+ptx88"
  bool wgmma;                     ///< warpgroup MMA (Hopper only)
  bool tcgen05;                   ///< tensor memory and UMMA
  bool clusterLaunchControl;      ///< work queue in hardware
};

/// All chips, by rising number.
llvm::ArrayRef<Chip> knownChips();

/// The chip of that name, or null.
const Chip *findChip(llvm::StringRef name);

/// "sm_90a, sm_100a, ...", for messages.
std::string knownChipNames();

/// The group of instructions that the chip lacks for `instruction` (an LLVM intrinsic's name
/// without "llvm.nvvm.", or PTX text), or an empty string if nothing is known against it. `chips`
/// then names the chips that have it.
llvm::StringRef missingFeature(const Chip &chip, llvm::StringRef instruction, std::string &chips);

} // namespace mlir::ts

#endif // TS_TARGET_PTX_CHIP_H
