// mma.sync.m8n8k4 with f16 operands: lanes 4 q to 4 q + 3 and 16 + 4 q to 19 + 4 q compute a
// product of their own, for q from 0 to 3. Source: PTX ISA, "Matrix Fragments for mma.m8n8k4 with
// .f16 floating point type". SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Mma.h"

#include "../Matrix/MatrixCore.h"

namespace ts::emu {
namespace {

struct MmaQuads {
  bool columnMajorA, columnMajorB, floatD, floatC;
  MmaOperands operands;

  /// Row and column of element i of C or D in a lane.
  static std::pair<unsigned, unsigned> placeOf(bool isFloat, unsigned lane, unsigned i) {
    unsigned high = lane < 16 ? 0 : 4;
    if (!isFloat)
      return {lane % 4 + high, i};
    return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
  }

  Step operator()(Exec &x) const {
    if (!wholeWarp(x))
      return Step::Blocked;
    double a[4][8][4], b[4][4][8], c[4][8][8];
    uint64_t scratch[warpSize];
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned lane = 0; lane < warpSize; ++lane)
        for (unsigned half = 0; half < 2; ++half) {
          unsigned q = lane % 16 / 4, i = 2 * r + half, high = lane < 16 ? 0 : 4;
          double left =
              toDouble(Num::F16, operands.a[r].lanes(x, scratch)[lane] >> 16 * half & 0xffff);
          double right =
              toDouble(Num::F16, operands.b[r].lanes(x, scratch)[lane] >> 16 * half & 0xffff);
          if (columnMajorA)
            a[q][i + high][lane % 4] = left;
          else
            a[q][lane % 4 + high][i] = left;
          if (columnMajorB)
            b[q][i][lane % 4 + high] = right;
          else
            b[q][lane % 4][i + high] = right;
        }
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned i = 0; i < 8; ++i) {
        uint64_t bits = operands.c[floatC ? i : i / 2].lane(x, lane);
        auto [row, column] = placeOf(floatC, lane, i);
        c[lane % 16 / 4][row][column] = floatC ? double(std::bit_cast<float>(uint32_t(bits)))
                                               : toDouble(Num::F16, bits >> i % 2 * 16 & 0xffff);
      }
    for (const Dst &dst : operands.d)
      dst.lanes(x, scratch); // faults if an engine still owns it
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned i = 0; i < 8; ++i) {
        unsigned q = lane % 16 / 4;
        auto [row, column] = placeOf(floatD, lane, i);
        double sum = 0;
        for (unsigned k = 0; k < 4; ++k)
          sum += a[q][row][k] * b[q][k][column];
        double before = c[q][row][column];
        if (floatD) {
          operands.d[i].set(x, lane, std::bit_cast<uint32_t>(accumulateF32(before, sum)));
        } else {
          uint64_t bits = uint64_t(accumulateF16(before, sum)) << i % 2 * 16;
          const Dst &to = operands.d[i / 2];
          to.set(x, lane, i % 2 && !to.sink ? (x.reg(to.reg)[lane] & 0xffff) | bits : bits);
        }
      }
    return Step::Next;
  }
};
} // namespace

std::unique_ptr<Op> decodeMmaQuads(Decode &d, bool columnMajorA, bool columnMajorB, bool floatD,
                                   bool floatC) {
  if (floatC && !floatD)
    d.refuse("D has to be f32 where C is");
  MmaOperands operands = takeMmaOperands(d, floatD ? 8 : 4, 2, 2, floatC ? 8 : 4);
  return makeOp(MmaQuads{columnMajorA, columnMajorB, floatD, floatC, std::move(operands)});
}

} // namespace ts::emu
