// The launch manifest: what ts-compile writes beside a kernel so that anyone can launch it. The
// format is described by docs/manifest.schema.json and docs/running.md.
// Says what a kernel wants; what a particular launch gives it is in LaunchPlan.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_MANIFEST_H
#define TS_RUNTIME_MANIFEST_H

#include "ts/Runtime/ElementType.h"
#include "ts/Runtime/Result.h"
#include "ts/Support/LaunchExpr.h"

#include <array>
#include <string>
#include <vector>

namespace ts {

enum class Access { Read, Write, ReadWrite };

struct ManifestArg {
  enum class Kind { TensorMap, Buffer, Scalar };
  std::string name;
  Kind kind = Kind::Scalar;

  // Tensor maps and buffers.
  ElementType element = ElementType::F32; // also the type of a scalar
  int64_t rank = 0;
  Access access = Access::Read;
  int64_t align = 1; // of a buffer's first element, in bytes

  // Tensor maps; everything in array order, outermost dimension first.
  std::vector<int64_t> box;
  std::vector<int64_t> elementStrides;
  int64_t swizzle = 0;     // 0, 32, 64 or 128 bytes
  int64_t interleave = 0;  // 0, 16 or 32 bytes
  int64_t l2Promotion = 0; // 0, 64, 128 or 256 bytes
  bool padded = false;     // elements of less than a byte lie 16 to 16 bytes in shared memory
  bool fillNan = false;    // what a load finds outside the array: zeros, or NaN

  // Scalars: derived if there is a value, else the caller's to give.
  bool isFlag = false; // of type i1: a byte that is 0 or 1
  std::optional<LaunchExpr> value;

  bool isArray() const { return kind != Kind::Scalar; }
};

/// One parameter of the PTX entry.
struct ManifestParam {
  enum class Kind { TensorMap, Pointer, Value };
  Kind kind = Kind::Value;
  std::string arg;                     // of a tensor map or pointer
  ElementType type = ElementType::I64; // of a value
  bool isFlag = false;                 // an i1 value: a byte that is 0 or 1
  std::optional<LaunchExpr> value;     // of an integer value
  std::string floatName;               // of a floating value: the scalar argument it is
};

/// Where an operation of the schedule went: connects labels in the PTX with the source.
struct ManifestEvent {
  std::string label, op, resource, task, loc;
};

struct ManifestKernel {
  std::string name;
  std::string arch;
  std::vector<ManifestArg> args;
  std::vector<ManifestParam> params;
  std::vector<LaunchExpr> grid; // three
  std::array<int64_t, 3> block = {1, 1, 1};
  std::array<int64_t, 3> cluster = {1, 1, 1};
  int64_t dynamicSmem = 0;
  bool pdl = false;
  std::vector<std::pair<std::string, int64_t>> minTrips; // scalar argument, smallest value
  std::vector<ManifestEvent> events;

  const ManifestArg *findArg(const std::string &name) const;
};

struct Manifest {
  std::vector<ManifestKernel> kernels;

  /// The kernel called `name`, or the only one if `name` is empty.
  Result<const ManifestKernel *> findKernel(const std::string &name) const;
};

/// Parses and checks a manifest. `path` is only for messages, each of which names the file and the
/// field: "gemm.json: kernels[0].args[2].box: expected 2 numbers, found 1".
Result<Manifest> parseManifest(const std::string &text, const std::string &path);

/// Reads a whole file; "-" is the standard input.
Result<std::string> readFile(const std::string &path);

} // namespace ts

#endif // TS_RUNTIME_MANIFEST_H
