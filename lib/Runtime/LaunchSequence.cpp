// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/LaunchSequence.h"

#include <algorithm>
#include <set>

using namespace ts;

/// What a sequence does to an array that its launches before did `first` to.
static Access joinAccess(Access first, Access next) {
  return first == Access::Read && next != Access::Read ? Access::ReadWrite : first;
}

static Status join(ManifestKernel &joined, const ManifestKernel &kernel) {
  for (const ManifestArg &arg : kernel.args) {
    auto same = std::find_if(joined.args.begin(), joined.args.end(),
                             [&](const ManifestArg &known) { return known.name == arg.name; });
    if (same == joined.args.end()) {
      joined.args.push_back(arg);
      continue;
    }
    auto differ = [&](const std::string &how) {
      return Error{"'" + kernel.name + "' takes '" + arg.name + "' " + how +
                   " than the kernel before it; give them different names"};
    };
    if (same->isArray() != arg.isArray() || same->rank != arg.rank)
      return differ("as something else");
    if (same->element != arg.element)
      return differ("with other elements");
    if (!arg.isArray()) {
      if (same->value.has_value() != arg.value.has_value())
        return differ("in another way");
      continue;
    }
    // Whoever writes through a tensor map may touch the padding of a row.
    bool writesByMap = arg.kind == ManifestArg::Kind::TensorMap && arg.access != Access::Read;
    if (writesByMap || same->access == Access::Read)
      same->kind = arg.kind;
    same->access = joinAccess(same->access, arg.access);
  }
  return Done{};
}

Result<LaunchSequence> ts::findSequence(const Manifest &manifest, const std::string &names) {
  LaunchSequence sequence;
  for (size_t begin = 0; begin <= names.size();) {
    size_t end = std::min(names.find(',', begin), names.size());
    if (end == begin && !names.empty())
      return Error{"--kernel " + names + ": there is no name at column " +
                   std::to_string(begin + 1)};
    Result<const ManifestKernel *> found = manifest.findKernel(names.substr(begin, end - begin));
    if (!found)
      return found.error();
    const ManifestKernel &kernel = **found;
    sequence.joined.name += (begin ? ", " : "") + kernel.name;
    if (Status status = join(sequence.joined, kernel); !status)
      return status.error();
    sequence.kernels.push_back(&kernel);
    begin = end + 1;
  }
  return sequence;
}

Result<std::vector<LaunchPlan>> LaunchSequence::plan(const LaunchInputs &inputs) const {
  std::vector<LaunchPlan> plans;
  for (const ManifestKernel *kernel : kernels) {
    Result<LaunchPlan> planned = planLaunch(*kernel, inputs);
    if (!planned)
      return planned.error();
    plans.push_back(std::move(*planned));
  }
  return plans;
}

std::map<std::string, ScalarValue> ts::commonScalars(const std::vector<LaunchPlan> &plans) {
  std::map<std::string, ScalarValue> common;
  std::set<std::string> differ;
  for (const LaunchPlan &plan : plans)
    for (const auto &[name, value] : plan.scalars) {
      auto [it, isNew] = common.try_emplace(name, value);
      if (!isNew && it->second.str() != value.str())
        differ.insert(name);
    }
  for (const std::string &name : differ)
    common.erase(name);
  return common;
}

bool ts::nothingToLaunch(const std::vector<LaunchPlan> &plans) {
  return std::all_of(plans.begin(), plans.end(),
                     [](const LaunchPlan &plan) { return plan.nothingToLaunch(); });
}
