// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enumerates a tile order on one grid with the 32-bit arithmetic of the device.
#include "ts/Support/TileOrder.h"

#include <algorithm>

namespace ts {

namespace {
struct DeviceMath {
  bool dividedByZero = false;

  uint32_t constant(int64_t value) const { return static_cast<uint32_t>(value); }
  uint32_t add(uint32_t a, uint32_t b) const { return a + b; }
  uint32_t sub(uint32_t a, uint32_t b) const { return a - b; }
  uint32_t mul(uint32_t a, uint32_t b) const { return a * b; }
  uint32_t minu(uint32_t a, uint32_t b) const { return std::min(a, b); }
  uint32_t divu(uint32_t a, uint32_t b) {
    dividedByZero |= b == 0;
    return b ? a / b : 0;
  }
};

std::string listed(const std::vector<uint32_t> &numbers, const char *separator) {
  std::string text;
  for (uint32_t number : numbers)
    text += (text.empty() ? "" : separator) + std::to_string(number);
  return text;
}
} // namespace

std::optional<std::string> findTileOrderFault(const std::vector<uint32_t> &tiles, int64_t group) {
  uint64_t total = 1;
  for (uint32_t count : tiles)
    total *= count;
  constexpr uint32_t nobody = ~uint32_t(0);
  std::vector<uint32_t> owner(total, nobody);
  std::string grid = "in a grid of " + listed(tiles, " x ") + " tiles ";
  for (uint32_t id = 0; id < total; ++id) {
    DeviceMath math;
    std::vector<uint32_t> coords = decodeTile(math, id, tiles, group);
    if (math.dividedByZero)
      return grid + "the decoding of work id " + std::to_string(id) + " divides by zero";
    uint64_t place = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (coords[i] >= tiles[i])
        return grid + "work id " + std::to_string(id) + " becomes (" + listed(coords, ", ") +
               "), which is no tile";
      place = place * tiles[i] + coords[i];
    }
    if (owner[place] != nobody)
      return grid + "work ids " + std::to_string(owner[place]) + " and " + std::to_string(id) +
             " both become (" + listed(coords, ", ") + ")";
    owner[place] = id;
  }
  return std::nullopt;
}

} // namespace ts
