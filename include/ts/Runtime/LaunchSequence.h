// Kernels of one manifest that are launched one after the other on arrays that they share by name.
// What each launch is stands in LaunchPlan.h. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_RUNTIME_LAUNCHSEQUENCE_H
#define TS_RUNTIME_LAUNCHSEQUENCE_H

#include "ts/Runtime/LaunchPlan.h"

namespace ts {

struct LaunchSequence {
  std::vector<const ManifestKernel *> kernels; // in the order of the launches
  /// The arguments of all of them, each name once; nothing else of it means anything but the name.
  /// An array that the first kernel to take it only writes is written by the sequence, even if a
  /// later one reads it.
  ManifestKernel joined;

  /// A plan for each kernel, or the first rule that is broken.
  Result<std::vector<LaunchPlan>> plan(const LaunchInputs &inputs) const;
};

/// `names` separated by commas; empty for the only kernel of the manifest. The manifest stays
/// alive as long as the result.
Result<LaunchSequence> findSequence(const Manifest &manifest, const std::string &names);

/// The scalars of all plans by name. One that differs between the kernels is none of the sequence.
std::map<std::string, ScalarValue> commonScalars(const std::vector<LaunchPlan> &plans);

/// Whether no kernel of the sequence has anything to do.
bool nothingToLaunch(const std::vector<LaunchPlan> &plans);

} // namespace ts

#endif // TS_RUNTIME_LAUNCHSEQUENCE_H
