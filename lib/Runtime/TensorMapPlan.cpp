// The rules of a tiled tensor map, each with its sentence. The driver checks most of them too, but
// says only "invalid argument".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/LaunchPlan.h"

#include <algorithm>

using namespace ts;

namespace {
constexpr int64_t strideUnit = 16;                // bytes; 32 with interleave 32
constexpr int64_t strideLimit = int64_t(1) << 40; // bytes
constexpr int64_t paddedBox = 128;                // elements
constexpr int64_t sizeLimit = int64_t(1) << 32;   // elements
} // namespace

Result<TensorMapPlan> ts::planTensorMap(const ManifestArg &arg, const ArrayLayout &layout) {
  auto bad = [&](const std::string &what) {
    return Error{"tensor map of '" + arg.name + "': " + what};
  };
  auto text = [](int64_t value) { return std::to_string(value); };
  TensorMapPlan map;
  map.element = arg.element;
  map.swizzle = arg.swizzle;
  map.interleave = arg.interleave;
  map.l2Promotion = arg.l2Promotion;
  map.fillNan = arg.fillNan;
  map.padded = arg.padded;
  int64_t bits = elementBits(arg.element), rank = layout.rank(), last = rank - 1;
  int64_t unit = arg.interleave == 32 || arg.padded ? 32 : strideUnit;
  map.empty = layout.elementCount() == 0;

  int64_t inner = elementBytes(arg.element, arg.box[last]);
  std::string size = bits < 8 ? text(bits) + " bits" : text(bits / 8);
  if (arg.padded && arg.box[last] != paddedBox)
    return bad("the innermost box dimension is " + text(arg.box[last]) +
               " padded elements, expected " + text(paddedBox));
  if (arg.padded && layout.shape[last] % paddedBox != 0)
    return bad("the innermost dimension is " + text(layout.shape[last]) +
               ", and padded elements need a multiple of " + text(paddedBox));
  if (arg.interleave == 0 && inner % 16 != 0)
    return bad("the innermost box dimension is " + text(arg.box[last]) + " x " + size + " = " +
               text(inner) + " bytes, no multiple of 16");
  if (arg.interleave == 0 && arg.swizzle != 0 && inner > arg.swizzle)
    return bad("the innermost box dimension is " + text(arg.box[last]) + " x " + size + " = " +
               text(inner) + " bytes, more than the " + text(arg.swizzle) + " of its swizzle");
  if (arg.interleave != 0 && rank < 3)
    return bad("interleave " + text(arg.interleave) + " needs rank 3 or more, found " + text(rank));
  for (int64_t i = 0; i < rank; ++i)
    if (arg.box[i] < 1 || arg.box[i] > 256)
      return bad("box dimension " + text(i) + " is " + text(arg.box[i]) + ", expected 1 to 256");

  if (layout.offsetBytes % unit != 0)
    return bad("the array begins " + text(layout.offsetBytes) +
               " bytes after an aligned address, no multiple of " + text(unit));
  if (layout.shape[last] > 1 && layout.strides[last] != 1)
    return bad("the innermost dimension has stride " + text(layout.strides[last]) +
               ", TMA needs it contiguous");
  for (int64_t i = last; i >= 0; --i) {
    if (layout.shape[i] > sizeLimit)
      return bad("dimension " + text(i) + " is " + text(layout.shape[i]) + ", more than 2^32");
    if (i == last && bits < 8 && layout.shape[i] * bits % 8 != 0)
      return bad("the innermost dimension is " + text(layout.shape[i]) + " x " + size +
                 ", and TMA needs whole bytes");
    map.sizes.push_back(static_cast<uint64_t>(std::max<int64_t>(layout.shape[i], 1)));
    map.box.push_back(static_cast<uint32_t>(arg.box[i]));
    map.elementStrides.push_back(static_cast<uint32_t>(arg.elementStrides[i]));
  }
  for (int64_t i = last - 1; i >= 0; --i) {
    int64_t stride =
        elementBytes(arg.element, layout.strides[i]); // no overflow: the array fits memory
    // The step to a neighbour that is not there is free, so any legal one will do.
    if (map.empty || layout.shape[i] <= 1)
      stride = (std::max(stride, unit) + unit - 1) / unit * unit;
    if (stride % unit != 0) {
      int64_t step = std::max<int64_t>(unit * 8 / bits, 1);
      return bad("row stride " + text(i) + " is " + text(layout.strides[i]) + " x " + size + " = " +
                 text(stride) + " bytes, and TMA needs a multiple of " + text(unit) +
                 " bytes; pad the rows, e.g. --array " + arg.name + "=" + shapeText(layout.shape) +
                 ":stride" + text(i) + "=" + text((layout.strides[i] + step - 1) / step * step));
    }
    if (stride >= strideLimit)
      return bad("row stride " + text(i) + " is " + text(stride) + " bytes, more than 2^40");
    map.strides.push_back(static_cast<uint64_t>(stride));
  }
  return map;
}
