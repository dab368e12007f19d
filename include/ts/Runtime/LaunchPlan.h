// One launch, worked out: the manifest's expressions evaluated for given arrays and scalars, and
// every rule of the launch checked. Whoever launches (CUDA driver, emulator, Python) only has to
// fill in addresses. Nothing here touches a device. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_RUNTIME_LAUNCHPLAN_H
#define TS_RUNTIME_LAUNCHPLAN_H

#include "ts/Runtime/HostArray.h"
#include "ts/Runtime/Manifest.h"

#include <map>

namespace ts {

/// The value of a scalar argument; integers and floats each use their own field.
struct ScalarValue {
  ElementType type = ElementType::I64;
  int64_t integer = 0;
  double real = 0;

  std::string str() const;
};

/// Parses a number of the given type; an integer has to fit, a float is rounded to the type.
Result<ScalarValue> parseScalar(ElementType type, const std::string &text);

struct LaunchInputs {
  std::map<std::string, ArrayLayout> arrays;  // one for every array argument
  std::map<std::string, ScalarValue> scalars; // one for every scalar that is not derived
  std::optional<int64_t> sms;                 // multiprocessors of the device
};

/// A tiled tensor map in the driver's order: innermost dimension first, strides in bytes and none
/// for the innermost dimension.
struct TensorMapPlan {
  ElementType element = ElementType::F32;
  std::vector<uint64_t> sizes;
  std::vector<uint64_t> strides;
  std::vector<uint32_t> box;
  std::vector<uint32_t> elementStrides;
  int64_t swizzle = 0, interleave = 0, l2Promotion = 0;
  bool fillNan = false, padded = false;
  /// The array has no elements. No map describes that, so sizes of zero stand here as one; the
  /// kernel never loads through such a map, but its address has to be valid.
  bool empty = false;
};

struct LaunchParam {
  ManifestParam::Kind kind = ManifestParam::Kind::Value;
  std::string arg;            // of a tensor map or pointer
  TensorMapPlan map;          // of a tensor map
  ScalarValue value;          // of a value
  std::vector<uint8_t> bytes; // of a value: as the kernel reads it
};

struct LaunchPlan {
  std::string kernel, arch;
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  int64_t dynamicSmem = 0;
  bool pdl = false;
  std::vector<LaunchParam> params;
  std::vector<std::pair<std::string, ScalarValue>> scalars; // all of them, in the manifest's order

  /// Whether some grid dimension is zero; drivers refuse such a launch, and there is nothing to do.
  bool nothingToLaunch() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }
};

/// Evaluates and checks; an error says which rule the launch breaks.
Result<LaunchPlan> planLaunch(const ManifestKernel &kernel, const LaunchInputs &inputs);

/// The tensor map of an argument over an array; an error names the broken rule of the hardware.
Result<TensorMapPlan> planTensorMap(const ManifestArg &arg, const ArrayLayout &layout);

/// Evaluates an expression of the caller's own (`2 * dim(A, 0)`) in the names of a planned launch.
Result<int64_t> evaluateFor(const LaunchPlan &plan, const LaunchInputs &inputs,
                            const std::string &text);

/// The plan for people: what `ts-run --dry-run` prints.
std::string describe(const LaunchPlan &plan);

} // namespace ts

#endif // TS_RUNTIME_LAUNCHPLAN_H
