// An array of a launch in host memory: shape, strides, and an image of the whole device allocation
// with guard bytes before and behind the data. Everything that is not an element of the array -
// guards, gaps between padded rows - and every element nobody has filled holds the poison byte
// 0xFF, which is a NaN in every floating type that has one. That is how unwritten elements and
// stray writes show. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_HOSTARRAY_H
#define TS_RUNTIME_HOSTARRAY_H

#include "ts/Runtime/ElementType.h"
#include "ts/Runtime/Result.h"

#include <functional>
#include <string>
#include <vector>

namespace ts {

/// Shape and strides of an array, outermost dimension first, strides in elements; the data begins
/// `offsetBytes` after an address that is a multiple of HostArray::guardBytes. Elements of less
/// than a byte are contiguous in the innermost dimension, and every row begins at a whole byte.
struct ArrayLayout {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t offsetBytes = 0;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elementCount() const;
};

/// The strides of an array without gaps.
std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &shape);

/// "128x64", or "a scalar" without dimensions.
std::string shapeText(const std::vector<int64_t> &shape);

class HostArray {
public:
  static constexpr int64_t guardBytes = 1024;
  static constexpr uint8_t poisonByte = 0xFF;

  /// Whether such an array can exist: its layout must not overlap itself nor be absurdly large.
  static Status check(const std::string &name, ElementType type, const ArrayLayout &layout);

  /// A poisoned array, after the same checks.
  static Result<HostArray> create(std::string name, ElementType type, ArrayLayout layout);

  const std::string &name() const { return arrayName; }
  ElementType type() const { return elementType; }
  const ArrayLayout &layout() const { return arrayLayout; }
  int64_t elementCount() const { return arrayLayout.elementCount(); }

  std::vector<uint8_t> &image() { return bytes; }
  const std::vector<uint8_t> &image() const { return bytes; }
  /// Where the first element stands in the image.
  int64_t dataOffset() const { return guardBytes + arrayLayout.offsetBytes; }

  /// Where the element with this row-major number stands in the image; the byte it is in, if
  /// smaller.
  int64_t byteOffset(int64_t linear) const {
    return dataOffset() + elementOffset(linear) * elementBits(elementType) / 8;
  }
  double load(int64_t linear) const { return loadAt(elementOffset(linear)); }
  /// The element so many strides of one from the first.
  double loadAt(int64_t offset) const {
    return loadElementAt(elementType, &bytes[static_cast<size_t>(dataOffset())], offset);
  }
  void store(int64_t linear, double value) {
    storeElementAt(elementType, &bytes[static_cast<size_t>(dataOffset())], elementOffset(linear),
                   value);
  }

  /// How many elements still hold nothing but poison, and the row-major number of the first. Means
  /// "never written" for types with a NaN only: an integer -1 looks the same.
  int64_t countPoisoned(int64_t &first) const;

  /// The number of bytes outside the elements that are not poison any more; `where` is the distance
  /// of the first of them from the first element. With `rowChunk`, the tail of a row up to the next
  /// multiple of that many bytes may be written: TMA stores whole 16-byte chunks (docs/running.md).
  int64_t countStrayWrites(int64_t &where, int64_t rowChunk = 1) const;

private:
  HostArray() = default;
  int64_t elementOffset(int64_t linear) const;
  int64_t rowLength() const { return arrayLayout.shape.empty() ? 1 : arrayLayout.shape.back(); }
  /// Calls body with the number and the place of the first element of each innermost row.
  void forEachRow(const std::function<void(int64_t linear, int64_t offset)> &body) const;

  std::string arrayName;
  ElementType elementType = ElementType::F32;
  ArrayLayout arrayLayout;
  std::vector<uint8_t> bytes;
};

/// Seeded fillings. The value of an element depends on the seed and its row-major number only, so
/// it does not change with strides or with the number of threads. Types without a sign take
/// magnitudes (f8e8m0: two to the power of the random number; of ints, of its magnitude), and with
/// `magnitudes` all types do.
void fillNormal(HostArray &array, uint64_t seed, bool magnitudes = false); // mean 0, deviation 1
/// -largest .. largest, evenly; magnitudes: 0 .. largest.
void fillInts(HostArray &array, uint64_t seed, int64_t largest, bool magnitudes = false);
void fillConstant(HostArray &array, double value);

/// "(3, 17)" for a row-major element number.
std::string indexText(const std::vector<int64_t> &shape, int64_t linear);

} // namespace ts

#endif // TS_RUNTIME_HOSTARRAY_H
