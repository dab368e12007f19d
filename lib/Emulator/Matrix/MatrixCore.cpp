// Decoding of operand tiles and native products. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "MatrixCore.h"

#include "../Core/Address.h"
#include "../Core/Fault.h"

#include <array>
#include <cstring>

namespace ts::emu {
namespace {

/// Values of all codes of a format, made once.
template <Num format, size_t codes> const float *valueTable() {
  static const std::vector<float> table = [] {
    std::vector<float> values(codes);
    for (size_t code = 0; code < codes; ++code)
      values[code] = toFloat(format, code);
    return values;
  }();
  return table.data();
}

const float *byteTable(Num format) {
  switch (format) {
  case Num::E4M3:
    return valueTable<Num::E4M3, 256>();
  case Num::E5M2:
    return valueTable<Num::E5M2, 256>();
  case Num::UE8M0:
    return valueTable<Num::UE8M0, 256>();
  case Num::UE4M3:
    return valueTable<Num::UE4M3, 256>();
  case Num::E3M2:
    return valueTable<Num::E3M2, 64>();
  case Num::E2M3:
    return valueTable<Num::E2M3, 64>();
  default:
    return valueTable<Num::E2M1, 16>();
  }
}

template <class T> T read(const uint8_t *bytes, unsigned i) {
  T value;
  memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

/// Calls `chunk(index of the first element along the major dimension, other index, bytes)`.
template <class F>
void forChunks(std::span<const uint8_t> shared, const SmemLayout &layout, bool kMajor,
               unsigned rows, unsigned k, unsigned bits, const char *what, F chunk) {
  thread_local std::vector<uint32_t> chunks;
  operandChunks(layout, kMajor, rows, k, bits, chunks);
  checkChunks(shared, chunks, what);
  unsigned perChunk = 128 / bits, minor = kMajor ? rows : k, major = (kMajor ? k : rows) / perChunk;
  const uint32_t *address = chunks.data();
  for (unsigned i = 0; i < minor; ++i)
    for (unsigned j = 0; j < major; ++j)
      chunk(j * perChunk, i, shared.data() + *address++);
}

template <class T>
void load(std::span<const uint8_t> shared, const SmemLayout &layout, bool kMajor, unsigned rows,
          unsigned k, unsigned bits, Num format, const char *what, std::vector<T> &out) {
  out.resize(size_t(rows) * k);
  unsigned perChunk = 128 / bits;
  T *to = out.data();
  forChunks(shared, layout, kMajor, rows, k, bits, what,
            [&](unsigned along, unsigned other, const uint8_t *bytes) {
              if (kMajor) {
                decodeElements(format, bytes, perChunk, to + size_t(other) * k + along);
                return;
              }
              T values[32];
              decodeElements(format, bytes, perChunk, values);
              for (unsigned e = 0; e < perChunk; ++e)
                to[size_t(along + e) * k + other] = values[e];
            });
}
} // namespace

unsigned storedBits(Num format, Packing packing) {
  return packing == Packing::Padded16 ? 8 : numBits(format);
}

void decodeElements(Num format, const uint8_t *bytes, unsigned count, float *out) {
  switch (format) {
  case Num::BF16:
    for (unsigned i = 0; i < count; ++i)
      out[i] = std::bit_cast<float>(uint32_t(read<uint16_t>(bytes, i)) << 16);
    return;
  case Num::F16: {
    const float *table = valueTable<Num::F16, 65536>();
    for (unsigned i = 0; i < count; ++i)
      out[i] = table[read<uint16_t>(bytes, i)];
    return;
  }
  case Num::TF32: // the low 13 bits do not take part
    for (unsigned i = 0; i < count; ++i)
      out[i] = std::bit_cast<float>(read<uint32_t>(bytes, i) & 0xffffe000u);
    return;
  case Num::F32:
    for (unsigned i = 0; i < count; ++i)
      out[i] = read<float>(bytes, i);
    return;
  case Num::E2M1: {
    const float *table = byteTable(format);
    for (unsigned i = 0; i < count; ++i)
      out[i] = table[bytes[i / 2] >> i % 2 * 4 & 0xf];
    return;
  }
  case Num::E3M2:
  case Num::E2M3: {
    const float *table = byteTable(format);
    for (unsigned i = 0; i < count; ++i) { // six bits span at most two bytes
      unsigned bit = i * 6, byte = bit / 8;
      unsigned two = bytes[byte] | (bit % 8 > 2 ? unsigned(bytes[byte + 1]) << 8 : 0);
      out[i] = table[two >> bit % 8 & 0x3f];
    }
    return;
  }
  case Num::S8:
    for (unsigned i = 0; i < count; ++i)
      out[i] = float(int8_t(bytes[i]));
    return;
  case Num::U8:
    for (unsigned i = 0; i < count; ++i)
      out[i] = float(bytes[i]);
    return;
  case Num::E4M3:
  case Num::E5M2:
  case Num::UE8M0:
  case Num::UE4M3: {
    const float *table = byteTable(format);
    for (unsigned i = 0; i < count; ++i)
      out[i] = table[bytes[i]];
    return;
  }
  case Num::F64:
  case Num::S32:
    break;
  }
  fault(FaultKind::Unsupported, "elements of %u bits are no operands of a matrix unit",
        numBits(format));
}

void decodeElements(Num format, const uint8_t *bytes, unsigned count, int32_t *out) {
  for (unsigned i = 0; i < count; ++i)
    out[i] = format == Num::S8 ? int32_t(int8_t(bytes[i])) : int32_t(bytes[i]);
}

void checkChunks(std::span<const uint8_t> shared, std::span<const uint32_t> chunks,
                 const char *what) {
  for (uint32_t address : chunks)
    if (address < sharedReserved || address + operandChunkBytes > shared.size())
      fault(FaultKind::OutOfBounds,
            "%s: its descriptor leads to shared address 0x%x, but the CTA's shared memory is 0x%x "
            "to 0x%zx; check start address and offsets of the descriptor",
            what, address, sharedReserved, shared.size());
}

void loadOperand(std::span<const uint8_t> shared, const SmemLayout &layout, bool kMajor,
                 unsigned rows, unsigned k, Num format, Packing packing, const char *what,
                 std::vector<float> &out) {
  load(shared, layout, kMajor, rows, k, storedBits(format, packing), format, what, out);
}

void loadOperand(std::span<const uint8_t> shared, const SmemLayout &layout, bool kMajor,
                 unsigned rows, unsigned k, Num format, const char *what,
                 std::vector<int32_t> &out) {
  load(shared, layout, kMajor, rows, k, 8, format, what, out);
}

void loadBits(std::span<const uint8_t> shared, const SmemLayout &layout, unsigned rows, unsigned k,
              const char *what, std::vector<uint32_t> &out) {
  unsigned words = k / 32;
  out.resize(size_t(rows) * words);
  forChunks(shared, layout, true, rows, words, 32, what,
            [&](unsigned along, unsigned row, const uint8_t *bytes) {
              memcpy(out.data() + size_t(row) * words + along, bytes, operandChunkBytes);
            });
}

// Two rows by eight columns stay in registers over all of K; B is turned so that columns are
// neighbours.
template <class In>
void multiply(const In *a, const In *b, unsigned m, unsigned n, unsigned k, double *sums) {
  constexpr unsigned width = 8, height = 2;
  unsigned blocks = (n + width - 1) / width;
  thread_local std::vector<double> turned, rows;
  turned.assign(size_t(blocks) * width * k, 0.0); // [block][k][width]
  for (unsigned j = 0; j < n; ++j)
    for (unsigned kk = 0; kk < k; ++kk)
      turned[(size_t(j / width) * k + kk) * width + j % width] = double(b[size_t(j) * k + kk]);
  rows.resize(size_t(k) * height);
  for (unsigned i = 0; i < m; i += height) {
    unsigned high = std::min(height, m - i);
    for (unsigned kk = 0; kk < k; ++kk)
      for (unsigned h = 0; h < height; ++h)
        rows[kk * height + h] = h < high ? double(a[size_t(i + h) * k + kk]) : 0.0;
    for (unsigned block = 0; block < blocks; ++block) {
      double acc[height][width] = {};
      const double *columns = turned.data() + size_t(block) * k * width;
      for (unsigned kk = 0; kk < k; ++kk)
        for (unsigned h = 0; h < height; ++h)
          for (unsigned w = 0; w < width; ++w)
            acc[h][w] += rows[kk * height + h] * columns[kk * width + w];
      unsigned wide = std::min(width, n - block * width);
      for (unsigned h = 0; h < high; ++h)
        memcpy(sums + size_t(i + h) * n + block * width, acc[h], wide * sizeof(double));
    }
  }
}
template void multiply<float>(const float *, const float *, unsigned, unsigned, unsigned, double *);
template void multiply<double>(const double *, const double *, unsigned, unsigned, unsigned,
                               double *);

void multiply(const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k,
              int32_t *sums) {
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (unsigned kk = 0; kk < k; ++kk)
        sum += a[size_t(i) * k + kk] * b[size_t(j) * k + kk];
      sums[size_t(i) * n + j] = sum;
    }
}

void multiplyBits(const uint32_t *a, const uint32_t *b, unsigned m, unsigned n, unsigned k,
                  int32_t *sums) {
  unsigned words = k / 32;
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (unsigned w = 0; w < words; ++w)
        sum += std::popcount(a[size_t(i) * words + w] & b[size_t(j) * words + w]);
      sums[size_t(i) * n + j] = sum;
    }
}

} // namespace ts::emu
