// Host arrays: layout, poison, fillings.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/HostArray.h"

#include "ts/Runtime/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numbers>

using namespace ts;

namespace {
// One array of a launch; far above any GPU's memory, far below any overflow of our arithmetic.
constexpr int64_t maxImageBytes = int64_t(1) << 40;

/// The mixing function of splitmix64: a well distributed 64-bit number for each counter value.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

double unitInterval(uint64_t bits) { // (0, 1]
  return (static_cast<double>(bits >> 11) + 1) * 0x1p-53;
}

template <typename F> void fillWith(HostArray &array, F value) {
  // Elements that share a byte are written one after the other.
  int64_t count = array.elementCount(), grain = elementBits(array.type()) < 8 ? count : 1 << 16;
  parallelFor(count, std::max<int64_t>(grain, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      array.store(i, value(i));
  });
}
} // namespace

int64_t ArrayLayout::elementCount() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0; // before multiplying: the other extents may be absurd
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::vector<int64_t> ts::contiguousStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    if (__builtin_mul_overflow(strides[i], std::max<int64_t>(shape[i], 1), &strides[i - 1]))
      strides[i - 1] = std::numeric_limits<int64_t>::max(); // HostArray::create refuses it
  return strides;
}

std::string ts::shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "a scalar" : text;
}

std::string ts::indexText(const std::vector<int64_t> &shape, int64_t linear) {
  std::string text = ")";
  for (size_t i = shape.size(); i-- > 0;) {
    text = std::to_string(linear % shape[i]) + text;
    linear /= shape[i];
    if (i)
      text = ", " + text;
  }
  return "(" + text;
}

/// The bytes from the first element to behind the last one, or what is wrong with the layout.
static Result<int64_t> spanOf(const std::string &name, ElementType type,
                              const ArrayLayout &layout) {
  int64_t size = elementSize(type), inByte = std::max<int64_t>(8 / elementBits(type), 1);
  int64_t span = 1; // in elements
  bool empty = std::find(layout.shape.begin(), layout.shape.end(), 0) != layout.shape.end();
  for (size_t i = 0; i < layout.shape.size(); ++i) {
    int64_t extent = layout.shape[i], stride = layout.strides[i], reach;
    if (extent < 0)
      return Error{"array '" + name + "': dimension " + std::to_string(i) + " is negative"};
    if (stride < 0)
      return Error{"array '" + name + "': stride " + std::to_string(i) + " is negative"};
    bool innermost = i + 1 == layout.shape.size();
    if (!empty && inByte > 1 && extent > 1 && (innermost ? stride != 1 : stride % inByte != 0))
      return Error{"array '" + name + "': stride " + std::to_string(i) + " is " +
                   std::to_string(stride) + " elements of " + elementTypeName(type) + "; " +
                   (innermost ? "elements of less than a byte lie side by side, so it has to be 1"
                              : "rows begin at whole bytes, so it has to be a multiple of " +
                                    std::to_string(inByte))};
    if (__builtin_mul_overflow(std::max<int64_t>(extent - 1, 0), stride, &reach) ||
        __builtin_add_overflow(span, reach, &span) || span > maxImageBytes / size)
      return Error{"array '" + name + "' of " + shapeText(layout.shape) +
                   " elements does not fit memory"};
  }
  // Walking from the fastest dimension out, each stride has to clear everything inside it.
  std::vector<size_t> order(layout.shape.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return layout.strides[a] < layout.strides[b]; });
  int64_t inner = 1;
  for (size_t i : order) {
    if (empty || layout.shape[i] <= 1)
      continue;
    if (layout.strides[i] < inner)
      return Error{"array '" + name + "': stride " + std::to_string(i) + " is " +
                   std::to_string(layout.strides[i]) +
                   " elements, so elements overlap; it has to be " + std::to_string(inner) +
                   " or more"};
    inner = layout.strides[i] * (layout.shape[i] - 1) + inner;
  }
  return empty ? 0 : elementBytes(type, span);
}

Status HostArray::check(const std::string &name, ElementType type, const ArrayLayout &layout) {
  if (Result<int64_t> span = spanOf(name, type, layout); !span)
    return span.error();
  return Done{};
}

Result<HostArray> HostArray::create(std::string name, ElementType type, ArrayLayout layout) {
  Result<int64_t> span = spanOf(name, type, layout);
  if (!span)
    return span.error();
  HostArray array;
  array.arrayName = std::move(name);
  array.elementType = type;
  int64_t total = 2 * guardBytes + layout.offsetBytes + *span;
  array.arrayLayout = std::move(layout);
  try {
    array.bytes.assign(static_cast<size_t>(total), poisonByte);
  } catch (const std::bad_alloc &) {
    return environmentError("no memory on this machine for array '" + array.arrayName + "' of " +
                            std::to_string(total) + " bytes");
  }
  return array;
}

int64_t HostArray::elementOffset(int64_t linear) const {
  int64_t offset = 0;
  for (size_t i = arrayLayout.shape.size(); i-- > 0;) {
    offset += linear % arrayLayout.shape[i] * arrayLayout.strides[i];
    linear /= arrayLayout.shape[i];
  }
  return offset;
}

void HostArray::forEachRow(const std::function<void(int64_t linear, int64_t offset)> &body) const {
  int64_t inner = rowLength();
  for (int64_t linear = 0, total = elementCount(); linear < total; linear += inner)
    body(linear, byteOffset(linear));
}

int64_t HostArray::countPoisoned(int64_t &first) const {
  static constexpr uint8_t poison[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  int64_t size = elementSize(elementType), inner = rowLength(), count = 0;
  int64_t step = size * (arrayLayout.shape.empty() ? 1 : arrayLayout.strides.back());
  forEachRow([&](int64_t linear, int64_t offset) {
    for (int64_t i = 0; i < inner; ++i, offset += step)
      if (std::memcmp(&bytes[offset], poison, static_cast<size_t>(size)) == 0 && count++ == 0)
        first = linear + i;
  });
  return count;
}

int64_t HostArray::countStrayWrites(int64_t &where, int64_t rowChunk) const {
  // Marking the elements costs a second image, but needs no assumption about the strides.
  std::vector<uint8_t> isElement(bytes.size(), 0);
  int64_t size = elementSize(elementType), inner = rowLength(), count = 0;
  int64_t step = size * (arrayLayout.shape.empty() ? 1 : arrayLayout.strides.back());
  forEachRow([&](int64_t, int64_t offset) {
    if (step == size) {
      // Rows start on a chunk where chunks matter, so their ends round up from there.
      int64_t length = (elementBytes(elementType, inner) + rowChunk - 1) / rowChunk * rowChunk;
      length = std::min(length, static_cast<int64_t>(bytes.size()) - offset);
      std::memset(&isElement[offset], 1, static_cast<size_t>(length));
    } else {
      for (int64_t i = 0; i < inner; ++i)
        std::memset(&isElement[offset + i * step], 1, static_cast<size_t>(size));
    }
  });
  for (size_t i = 0; i < bytes.size(); ++i)
    if (!isElement[i] && bytes[i] != poisonByte && count++ == 0)
      where = static_cast<int64_t>(i) - dataOffset();
  return count;
}

void ts::fillNormal(HostArray &array, uint64_t seed, bool magnitudes) {
  uint64_t key = mix(seed);
  bool powers = array.type() == ElementType::F8E8M0;
  fillWith(array, [=](int64_t i) {
    // Box and Muller: two even numbers make a normal one.
    double radius = std::sqrt(-2 * std::log(unitInterval(mix(key + 2 * static_cast<uint64_t>(i)))));
    double angle = 2 * std::numbers::pi * unitInterval(mix(key + 2 * static_cast<uint64_t>(i) + 1));
    double value = radius * std::cos(angle);
    return powers ? std::exp2(std::nearbyint(value)) : magnitudes ? std::fabs(value) : value;
  });
}

void ts::fillInts(HostArray &array, uint64_t seed, int64_t largest, bool magnitudes) {
  // Unsigned types take the upper half only, so that nothing saturates.
  bool upper = magnitudes || !isSigned(array.type()), powers = array.type() == ElementType::F8E8M0;
  int64_t low = upper ? 0 : -largest;
  uint64_t key = mix(seed), choices = static_cast<uint64_t>(largest - low) + 1;
  fillWith(array, [=](int64_t i) {
    auto value = static_cast<double>(
        low + static_cast<int64_t>(mix(key + static_cast<uint64_t>(i)) % choices));
    return powers ? std::exp2(value) : value;
  });
}

void ts::fillConstant(HostArray &array, double value) {
  fillWith(array, [value](int64_t) { return value; });
}
