// From the 64 bits of a matrix descriptor to addresses. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Descriptors.h"

#include "../Core/Fault.h"

#include <algorithm>

namespace ts::emu {
namespace {

constexpr uint32_t windowMask = 0x3ffff; // addresses of a descriptor have 18 bits

uint32_t field(uint64_t descriptor, unsigned low, unsigned bits) {
  return uint32_t(descriptor >> low & ((uint64_t(1) << bits) - 1));
}

void expect(uint64_t descriptor, unsigned low, unsigned bits, uint32_t value, const char *kind) {
  uint32_t found = field(descriptor, low, bits);
  if (found == value)
    return;
  const char *hint = low == 14 || low == 30
                         ? "; the field below it has 14 bits: was an address or offset shifted "
                           "right by 4 and masked to 18 bits before?"
                     : low == 46 && value == 1 ? "; a descriptor for wgmma has 0 there"
                                               : "";
  fault(FaultKind::Descriptor,
        "the %s matrix descriptor 0x%016llx has 0x%x in bits %u to %u; expected 0x%x%s", kind,
        (unsigned long long)descriptor, found, low, low + bits - 1, value, hint);
}

SmemLayout commonFields(uint64_t descriptor, const char *kind) {
  expect(descriptor, 14, 2, 0, kind);
  expect(descriptor, 30, 2, 0, kind);
  SmemLayout layout;
  layout.start = field(descriptor, 0, 14) << 4;
  layout.leading = field(descriptor, 16, 14) << 4;
  layout.stride = field(descriptor, 32, 14) << 4;
  layout.base = field(descriptor, 49, 3);
  return layout;
}

/// The pattern is a function of the address: rows of 128 bytes, counted from where the pattern
/// begins (the base offset says so if that is not a multiple of its size).
uint32_t swizzled(const SmemLayout &layout, uint32_t address) {
  address &= windowMask;
  uint32_t row = ((address >> 7) - layout.base) & 7;
  if (layout.atomicity32)
    return address ^ (row & 3) << 5;
  return address ^ (row & ((1u << layout.swizzle) - 1)) << 4;
}

/// K contiguous. Rows come in groups of eight that lie behind each other in the pattern; without
/// swizzle the leading offset leads to the next chunk of a row, with swizzle chunks are neighbours.
void kMajorChunks(const SmemLayout &layout, unsigned rows, unsigned perRow,
                  std::vector<uint32_t> &chunks) {
  uint32_t span = layout.span();
  uint32_t inRow = layout.start & (span - 1);
  uint32_t end = inRow + perRow * operandChunkBytes;
  if (layout.swizzle && !layout.absolute && end > span)
    fault(FaultKind::Descriptor,
          "a K-major operand with %u-byte swizzle starts at byte %u of its rows and takes %u bytes "
          "along K, which passes the end of the swizzle span; expected start and size within it",
          span, inRow, perRow * operandChunkBytes);
  for (unsigned row = 0; row < rows; ++row) {
    uint32_t rowOffset = row % 8 * span + row / 8 * layout.stride;
    for (unsigned j = 0; j < perRow; ++j) {
      uint32_t address = layout.start + rowOffset;
      if (!layout.swizzle)
        address += j * layout.leading;
      else if (inRow + j * operandChunkBytes < span || !layout.absolute)
        address += j * operandChunkBytes;
      else // the part behind the span has an address of its own
        address = layout.leading + rowOffset + inRow + j * operandChunkBytes - span;
      chunks.push_back(swizzled(layout, address));
    }
  }
}

/// M or N contiguous. One row of the pattern is one K index; groups of eight (four with 32-byte
/// atoms) are a stride apart, what lies beyond the span along MN is a leading offset away. Without
/// swizzle the two offsets change places.
void mnMajorChunks(const SmemLayout &layout, unsigned k, unsigned perColumn,
                   std::vector<uint32_t> &chunks) {
  uint32_t span = layout.span(), chunksInSpan = span / operandChunkBytes;
  unsigned group = layout.atomicity32 ? 4 : 8;
  uint32_t alongMn = layout.swizzle ? layout.leading : layout.stride;
  uint32_t alongK = layout.swizzle ? layout.stride : layout.leading;
  for (unsigned kk = 0; kk < k; ++kk)
    for (unsigned j = 0; j < perColumn; ++j) {
      uint32_t address = layout.start + kk % group * span + kk / group * alongK +
                         j % chunksInSpan * operandChunkBytes + j / chunksInSpan * alongMn;
      chunks.push_back(swizzled(layout, address));
    }
}
} // namespace

SmemLayout wgmmaLayout(uint64_t descriptor) {
  SmemLayout layout = commonFields(descriptor, "wgmma");
  expect(descriptor, 46, 3, 0, "wgmma");
  expect(descriptor, 52, 10, 0, "wgmma");
  constexpr uint8_t modes[] = {0, 3, 2, 1};
  layout.swizzle = modes[field(descriptor, 62, 2)];
  return layout;
}

SmemLayout tcgen05Layout(uint64_t descriptor) {
  SmemLayout layout = commonFields(descriptor, "tcgen05");
  expect(descriptor, 46, 3, 1, "tcgen05");
  expect(descriptor, 53, 8, 0, "tcgen05");
  layout.absolute = field(descriptor, 52, 1);
  switch (uint32_t mode = field(descriptor, 61, 3)) {
  case 0:
    break;
  case 1:
    layout.swizzle = 3;
    layout.atomicity32 = true;
    break;
  case 2:
    layout.swizzle = 3;
    break;
  case 4:
    layout.swizzle = 2;
    break;
  case 6:
    layout.swizzle = 1;
    break;
  default:
    fault(FaultKind::Descriptor,
          "the tcgen05 matrix descriptor 0x%016llx has swizzle mode %u (bits 61 to 63); expected 0 "
          "(none), 1 (128 bytes in atoms of 32), 2 (128), 4 (64) or 6 (32)",
          (unsigned long long)descriptor, mode);
  }
  if (layout.absolute && (layout.swizzle != 3 || layout.atomicity32 || layout.base))
    fault(FaultKind::Descriptor,
          "the tcgen05 matrix descriptor 0x%016llx has an absolute leading address (bit 52); that "
          "needs 128-byte swizzle (mode 2) and a base offset of 0",
          (unsigned long long)descriptor);
  return layout;
}

void operandChunks(const SmemLayout &layout, bool kMajor, unsigned rows, unsigned k, unsigned bits,
                   std::vector<uint32_t> &chunks) {
  unsigned perChunk = 128 / bits;
  unsigned major = kMajor ? k : rows;
  if (major % perChunk)
    fault(FaultKind::Descriptor,
          "an operand has %u elements of %u bits along its major dimension (%s); expected a "
          "multiple of %u (16 bytes)",
          major, bits, kMajor ? "K" : "M or N", perChunk);
  if (layout.atomicity32 && kMajor)
    fault(FaultKind::Descriptor,
          "128-byte swizzle with 32-byte atoms (mode 1) is for MN-major operands; this one is "
          "K-major");
  if (layout.absolute && !kMajor)
    fault(FaultKind::Descriptor,
          "an absolute leading address (bit 52) is for K-major operands; this one is MN-major");
  chunks.clear();
  chunks.reserve(size_t(rows) * k / perChunk);
  if (kMajor)
    kMajorChunks(layout, rows, k / perChunk, chunks);
  else
    mnMajorChunks(layout, k, rows / perChunk, chunks);
}

void operandOffsets(const SmemLayout &layout, bool kMajor, unsigned rows, unsigned k, unsigned bits,
                    std::vector<uint32_t> &offsets) {
  std::vector<uint32_t> chunks;
  operandChunks(layout, kMajor, rows, k, bits, chunks);
  unsigned perChunk = 128 / bits;
  offsets.resize(size_t(rows) * k);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned j = 0; j < k; ++j) {
      unsigned along = kMajor ? j : row;
      size_t chunk = kMajor ? size_t(row) * (k / perChunk) + j / perChunk
                            : size_t(j) * (rows / perChunk) + row / perChunk;
      offsets[size_t(row) * k + j] = chunks[chunk] + along % perChunk * bits / 8;
    }
}

std::vector<std::pair<uint32_t, uint32_t>> operandRanges(const std::vector<uint32_t> &offsets,
                                                         unsigned elementBytes) {
  std::vector<uint32_t> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  for (uint32_t offset : sorted) {
    if (!ranges.empty() && offset <= ranges.back().first + ranges.back().second)
      ranges.back().second =
          std::max(ranges.back().second, offset + elementBytes - ranges.back().first);
    else
      ranges.emplace_back(offset, elementBytes);
  }
  return ranges;
}

} // namespace ts::emu
