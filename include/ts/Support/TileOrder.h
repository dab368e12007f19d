// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built-in order of work tiles: which tile a linear number stands for. One formula over any
// arithmetic: the lowering builds instructions with it, the verifier and the tests compute numbers.
#ifndef TS_SUPPORT_TILEORDER_H
#define TS_SUPPORT_TILEORDER_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ts {

/// Coordinates of tile number `t` among `tiles` (one to three counts, slowest first): the last two
/// dimensions in groups of `group` rows, walked column by column within a group. `Math` has add,
/// sub, mul, divu, minu and constant on unsigned 32-bit numbers.
template <typename Math, typename Number>
std::vector<Number> decodeTile(Math &math, Number t, const std::vector<Number> &tiles,
                               int64_t group) {
  std::vector<Number> coords(tiles.size());
  if (tiles.size() == 1) {
    coords[0] = t;
    return coords;
  }
  size_t m = tiles.size() - 2;
  Number rows = tiles[m], cols = tiles[m + 1];
  if (m == 1) {
    Number plane = math.mul(rows, cols);
    coords[0] = math.divu(t, plane);
    t = math.sub(t, math.mul(coords[0], plane));
  }
  if (group == 1) {
    coords[m] = math.divu(t, cols);
    coords[m + 1] = math.sub(t, math.mul(coords[m], cols));
    return coords;
  }
  Number size = math.constant(group);
  Number perGroup = math.mul(cols, size);
  Number number = math.divu(t, perGroup);
  Number rest = math.sub(t, math.mul(number, perGroup));
  Number first = math.mul(number, size);
  // The last group may have fewer rows.
  Number height = math.minu(math.sub(rows, first), size);
  coords[m + 1] = math.divu(rest, height);
  coords[m] = math.add(first, math.sub(rest, math.mul(coords[m + 1], height)));
  return coords;
}

/// Why the order does not visit each tile of the grid exactly once: names the two work ids that
/// meet in one tile, or the one that leaves the grid. The grid has at most 2^20 tiles.
std::optional<std::string> findTileOrderFault(const std::vector<uint32_t> &tiles, int64_t group);

} // namespace ts

#endif
