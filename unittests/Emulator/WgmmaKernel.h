// A kernel of one warpgroup that runs wgmmas, for tests: copies an image of shared memory in, sets
// registers, multiplies, writes the accumulators out. Expected values are worked out here from the
// matrices as plain numbers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_UNITTESTS_EMULATOR_WGMMAKERNEL_H
#define TS_UNITTESTS_EMULATOR_WGMMAKERNEL_H

#include "MatrixLayout.h"
#include "RunPtx.h"

#include <string>

namespace ts::emu::test {

struct Operand {
  std::string name; // "f16"
  unsigned exponent = 0, mantissa = 0;
  unsigned bits = 16; // in memory
  bool isFloat() const { return exponent != 0; }
  bool isSigned() const { return isFloat() || name == "s8"; }

  uint32_t encode(double value) const {
    if (!isFloat())
      return uint32_t(int(value)) & (bits == 1 ? 1 : 0xff);
    uint32_t code = encodeFloat(value, exponent, mantissa);
    return name == "tf32" ? code << 13 : code;
  }
  unsigned instructionK() const { return 256 / bits; }
};
inline const Operand f16{"f16", 5, 10, 16}, bf16{"bf16", 8, 7, 16}, tf32{"tf32", 8, 10, 32},
    e4m3{"e4m3", 4, 3, 8}, e5m2{"e5m2", 5, 2, 8}, s8{"s8", 0, 0, 8}, u8{"u8", 0, 0, 8},
    b1{"b1", 0, 0, 1};

/// The PTX every kernel begins with: shared memory filled from the input, visible to the async
/// proxy; %r400 is its address, %r408 is 0,
/// %rd1 stays the input's.
inline std::string fillShared(unsigned bytes, bool proxyFence = true) {
  std::string text = "mov.u32 %r400, smem;\nmov.u32 %r408, 0;\nshl.b32 %r401, %r0, 4;\n"
                     "mov.b64 %rd40, {%r401, %r408};\nadd.s64 %rd40, %rd40, %rd1;\n"
                     "add.u32 %r401, %r401, %r400;\n";
  for (unsigned at = 0; at < bytes; at += 2048) // 16 bytes per thread
    text += "ld.global.v4.b32 {%r404, %r405, %r406, %r407}, [%rd40+" + std::to_string(at) +
            "];\nst.shared.v4.b32 [%r401+" + std::to_string(at) +
            "], {%r404, %r405, %r406, %r407};\n";
  return text + (proxyFence ? "fence.proxy.async;\n" : "") + "bar.sync 0;\n";
}

/// %rd<reg> = descriptor of the bytes at smem + offset.
inline std::string descriptor(unsigned reg, uint32_t offset, uint64_t bits) {
  std::string rd = "%rd" + std::to_string(reg);
  return "add.u32 %r403, %r400, " + std::to_string(offset) +
         ";\nshr.u32 %r403, %r403, 4;\nand.b32 %r403, %r403, 0x3fff;\nmov.b64 " + rd +
         ", {%r403, %r408};\nor.b64 " + rd + ", " + rd + ", " + std::to_string(bits) + ";\n";
}

inline std::string registerList(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", %r" : "%r") + std::to_string(first + i);
  return text + "}";
}

inline std::string waitAll() {
  return "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
}

/// Stores %r1 ... %r<count> of each thread behind each other.
inline std::string storeResults(unsigned count) {
  std::string text = "mul.lo.u32 %r401, %r0, " + std::to_string(count * 4) +
                     ";\nmov.b64 %rd40, {%r401, %r408};\nadd.s64 %rd40, %rd40, %rd0;\n";
  for (unsigned i = 0; i < count; ++i)
    text +=
        "st.global.b32 [%rd40+" + std::to_string(4 * i) + "], %r" + std::to_string(i + 1) + ";\n";
  return text;
}

/// One product over `steps` instructions along K.
struct WgmmaCase {
  Operand a, b;
  std::string d = "f32"; // or f16, s32
  unsigned n = 8, steps = 1;
  TileLayout layoutA = {}, layoutB = {}; // shapes are filled in
  bool registersA = false;
  bool satBefore = false, satBehind = false;
  int signA = 1, signB = 1;
  bool accumulate = false; // onto a given D; else the first step overwrites it
  double scale = 1;        // of the elements
  bool sparse = false;     // A stores two of four elements (one of two in tf32)
  unsigned selector = 0;   // which lanes of four give the metadata

  unsigned stepK() const { return a.instructionK() * (sparse ? 2 : 1); }
  unsigned k() const { return steps * stepK(); }
  unsigned storedK() const { return steps * a.instructionK(); }
  unsigned results() const { return d == "f16" ? n / 4 : n / 2; }
  std::string instruction() const {
    std::string text = std::string("wgmma.mma_async") + (sparse ? ".sp" : "") +
                       ".sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(stepK());
    if (satBefore)
      text += ".satfinite";
    text += "." + d + "." + a.name + "." + b.name + (a.bits == 1 ? ".and.popc" : "");
    return text + (satBehind ? ".satfinite" : "");
  }
  bool oneOfTwo() const { return a.bits == 32; }
  /// Where the stored element s of a row of A stands.
  unsigned position(unsigned row, unsigned s) const {
    if (!sparse)
      return s;
    unsigned chunk = oneOfTwo() ? s : s / 2, seed = row * 7 + chunk * 5 + row / 8;
    if (oneOfTwo())
      return chunk * 2 + seed % 2;
    static constexpr unsigned pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    return chunk * 4 + pairs[seed % 6][s % 2];
  }
  double storedA(unsigned row, unsigned s) const {
    return value(a, row * 5 + position(row, s) * 3 + row / 8);
  }
  double valueA(unsigned row, unsigned j) const {
    for (unsigned s = sparse ? j / 4 * 2 : j; s < storedK() && s <= j; ++s)
      if (position(row, s) == j)
        return storedA(row, s);
    return 0;
  }
  /// The metadata of one instruction in a lane. 8-bit elements: the lane's row (eight further for
  /// odd lanes), half of K by the lane's second bit. Others: only the two lanes the selector names
  /// count, each has a half of K for row lane / 4 and, above, for the row eight further.
  uint32_t metadata(unsigned thread, unsigned step) const {
    unsigned lane = thread % 32, row = thread / 32 * 16 + lane / 4, perChunk = oneOfTwo() ? 1 : 2;
    unsigned chunks = a.instructionK() / perChunk, first = step * chunks;
    auto nibble = [&](unsigned of, unsigned chunk) -> uint32_t {
      unsigned p = position(of, chunk * perChunk);
      if (oneOfTwo())
        return p % 2 ? 0xe : 0x4;
      return p % 4 | position(of, chunk * 2 + 1) % 4 << 2;
    };
    uint32_t bits = 0;
    if (a.bits == 8) {
      for (unsigned c = 0; c < 8; ++c)
        bits |= nibble(row + lane % 2 * 8, first + (lane & 2 ? 8 : 0) + c) << 4 * c;
      return bits;
    }
    if (lane / 2 % 2 != selector)
      return 0xffffffff; // is not read
    for (unsigned c = 0; c < 4; ++c) {
      unsigned chunk = first + lane % 2 * 4 + c;
      bits |= nibble(row, chunk) << 4 * c | nibble(row + 8, chunk) << (16 + 4 * c);
    }
    return bits;
  }
  double valueB(unsigned row, unsigned j) const { return value(b, row * 3 + j * 7 + row / 8 + 1); }
  double valueD(unsigned row, unsigned column) const {
    return double(int((row * 3 + column * 5) % 17) - 8);
  }
  double expected(unsigned row, unsigned column) const {
    double sum = accumulate ? valueD(row, column) : 0;
    for (unsigned j = 0; j < k(); ++j)
      sum += signA * signB * valueA(row, j) * valueB(column, j);
    return sum;
  }

  Ran run() const;
  /// The first difference, empty if there is none.
  std::string compare(const Ran &ran) const;

private:
  double value(const Operand &o, unsigned seed) const {
    if (o.bits == 1)
      return seed % 3 == 0;
    double v = double(seed % 7) - (o.isSigned() ? 3 : 0);
    return o.isFloat() ? v * scale / 2 : v;
  }
  static void put(std::vector<uint8_t> &bytes, size_t bit, uint32_t code, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i)
      bytes[(bit + i) / 8] = uint8_t((bytes[(bit + i) / 8] & ~(1u << (bit + i) % 8)) |
                                     (code >> i & 1) << (bit + i) % 8);
  }
};

inline Ran WgmmaCase::run() const {
  // b1 tiles are laid out as words of 32 bits.
  auto shaped = [&](TileLayout tile, const Operand &o, unsigned rows, unsigned elements) {
    tile.rows = rows;
    tile.bits = o.bits == 1 ? 32 : o.bits;
    tile.k = o.bits == 1 ? elements / 32 : elements;
    return tile;
  };
  TileLayout tileA = shaped(layoutA, a, 64, storedK()), tileB = shaped(layoutB, b, n, k());
  uint32_t startB = registersA ? 0 : (tileA.bytes() + 1023) / 1024 * 1024;
  uint32_t total = (startB + tileB.bytes() + 2047) / 2048 * 2048;
  std::vector<uint8_t> image(total, 0);
  auto place = [&](const TileLayout &tile, const Operand &o, uint32_t start, auto valueOf) {
    for (unsigned row = 0; row < tile.rows; ++row)
      for (unsigned j = 0; j < (o.bits == 1 ? tile.k * 32 : tile.k); ++j) {
        size_t bit = o.bits == 1 ? (size_t(start) + tile.at(row, j / 32)) * 8 + j % 32
                                 : (size_t(start) + tile.at(row, j)) * 8;
        put(image, bit, o.encode(valueOf(row, j)), o.bits);
      }
  };
  if (!registersA)
    place(tileA, a, 0, [&](unsigned row, unsigned j) { return storedA(row, j); });
  place(tileB, b, startB, [&](unsigned row, unsigned j) { return valueB(row, j); });

  // Registers of each thread behind the image: D first, then four of A per step.
  unsigned firstMetadata = results() + (registersA ? 4 * steps : 0);
  unsigned perThread = firstMetadata + (sparse ? steps : 0);
  std::vector<uint32_t> registers(128 * size_t(perThread), 0);
  for (unsigned thread = 0; thread < 128; ++thread) {
    unsigned warp = thread / 32, group = thread % 32 / 4, quad = thread % 4;
    uint32_t *mine = registers.data() + size_t(thread) * perThread;
    // D: pairs of columns 2 * quad, 2 * quad + 1 of the rows group and group + 8, eight columns on.
    for (unsigned i = 0; i < n / 2; ++i) {
      unsigned row = warp * 16 + group + (i & 2 ? 8 : 0), column = i / 4 * 8 + quad * 2 + (i & 1);
      double v = valueD(row, column);
      if (d == "f16")
        mine[i / 2] |= encodeFloat(v, 5, 10) << (i & 1 ? 16 : 0);
      else
        mine[i] = d == "f32" ? encodeFloat(v, 8, 23) : uint32_t(int(v));
    }
    for (unsigned step = 0; sparse && step < steps; ++step)
      mine[firstMetadata + step] = metadata(thread, step);
    if (!registersA)
      continue;
    // A: a0.. of the m16 x 32-byte fragments; registers alternate between rows group and group + 8,
    // the second pair is 16 bytes further along K; within them a quad's lanes hold 4 bytes each.
    unsigned perWord = 32 / a.bits;
    for (unsigned step = 0; step < steps; ++step)
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned e = 0; e < perWord; ++e) {
          unsigned row = warp * 16 + group + (r & 1 ? 8 : 0);
          unsigned j = step * a.instructionK() + (r / 2 * 4 + quad) * perWord + e;
          mine[results() + step * 4 + r] |= a.encode(storedA(row, j)) << (e * a.bits);
        }
  }
  Run run;
  run.target = "sm_90a";
  run.globals = ".shared .align 1024 .b8 smem[" + std::to_string(total) + "];";
  run.input = image;
  std::vector<uint8_t> tail = bytesOf(registers);
  run.input.insert(run.input.end(), tail.begin(), tail.end());
  run.outputBytes = 128 * size_t(results()) * 4;
  run.options.block = {128, 1, 1};

  std::string &body = run.body;
  body = fillShared(total);
  body += "mul.lo.u32 %r401, %r0, " + std::to_string(perThread * 4) +
          ";\nmov.b64 %rd40, {%r401, %r408};\nadd.s64 %rd40, %rd40, %rd1;\n";
  for (unsigned i = 0; i < perThread; ++i)
    body += "ld.global.b32 %r" + std::to_string(i + 1) + ", [%rd40+" +
            std::to_string(total + 4 * i) + "];\n";
  body += accumulate ? "mov.pred %p1, -1;\n" : "mov.pred %p1, 0;\n";
  body += "wgmma.fence.sync.aligned;\n";
  for (unsigned step = 0; step < steps; ++step) {
    unsigned jA = step * a.instructionK(), jB = step * stepK();
    if (a.bits == 1)
      jA /= 32, jB /= 32;
    std::string operandA = registersA ? registerList(results() + 1 + step * 4, 4) : "%rd20";
    if (!registersA)
      body += descriptor(20, tileA.stepStart(jA), wgmmaBits(tileA));
    body += descriptor(21, startB + tileB.stepStart(jB), wgmmaBits(tileB));
    body += instruction() + " " + registerList(1, results()) + ", " + operandA + ", %rd21, ";
    if (sparse)
      body +=
          "%r" + std::to_string(firstMetadata + 1 + step) + ", " + std::to_string(selector) + ", ";
    body += step ? "1" : "%p1";
    if (a.isFloat())
      body += ", " + std::to_string(signA) + ", " + std::to_string(signB);
    if (a.bits == 16 && !registersA)
      body += tileA.kMajor ? ", 0" : ", 1";
    if (a.bits == 16)
      body += tileB.kMajor ? ", 0" : ", 1";
    body += ";\n";
  }
  body += waitAll() + storeResults(results());
  return runPtx(run);
}

inline std::string WgmmaCase::compare(const Ran &ran) const {
  if (!ran.ok())
    return instruction() + ": " + ran.text();
  for (unsigned thread = 0; thread < 128; ++thread) {
    unsigned warp = thread / 32, group = thread % 32 / 4, quad = thread % 4;
    for (unsigned i = 0; i < n / 2; ++i) {
      unsigned row = warp * 16 + group + (i & 2 ? 8 : 0), column = i / 4 * 8 + quad * 2 + (i & 1);
      auto word = ran.at<uint32_t>(size_t(thread) * results() + (d == "f16" ? i / 2 : i));
      uint32_t found = d == "f16" ? word >> (i & 1 ? 16 : 0) & 0xffff : word;
      double want = expected(row, column) + 0.0; // no -0
      uint32_t code = d == "f16"   ? encodeFloat(want, 5, 10)
                      : d == "f32" ? encodeFloat(want, 8, 23)
                                   : uint32_t(int(want));
      if (found != code)
        return instruction() + " row " + std::to_string(row) + " column " + std::to_string(column) +
               ": expected " + std::to_string(want) + " (" + std::to_string(code) + "), found " +
               std::to_string(found);
    }
  }
  return "";
}

} // namespace ts::emu::test

#endif // TS_UNITTESTS_EMULATOR_WGMMAKERNEL_H
