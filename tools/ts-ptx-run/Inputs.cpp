// Deterministic contents of buffers: the same bytes on every machine, and simple enough that a
// test's own reference can make them again. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchFile.h"

#include <cstring>

using namespace ts;

namespace {
/// A mixing of index and seed in which every output bit depends on every input bit.
uint32_t hash(uint32_t index, uint32_t seed) {
  uint32_t x = index * 0x9E3779B9u + seed * 0x85EBCA6Bu;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ x >> 16;
}
} // namespace

Status fillBuffer(std::vector<uint8_t> &bytes, ElementType type, uint64_t count,
                  const std::string &init, uint32_t seed, double low, double high,
                  const std::string &folder) {
  bytes.assign(static_cast<size_t>(elementBytes(type, static_cast<int64_t>(count))), 0);
  if (init == "zero")
    return Done{};
  if (init == "poison") {
    std::fill(bytes.begin(), bytes.end(), uint8_t(0xCD));
    return Done{};
  }
  if (init == "bits") {
    for (size_t i = 0; i < bytes.size(); i += 4) {
      uint32_t word = hash(static_cast<uint32_t>(i / 4), seed);
      std::memcpy(&bytes[i], &word, std::min<size_t>(4, bytes.size() - i));
    }
    return Done{};
  }
  if (init == "ramp" || init == "ints" || init == "uniform" || init == "linear") {
    for (uint64_t i = 0; i < count; ++i) {
      double unit = hash(static_cast<uint32_t>(i), seed) * 0x1p-32, value = low + double(i);
      if (init == "ints")
        value = low + double(int64_t(unit * (high - low + 1)));
      else if (init == "uniform")
        value = low + unit * (high - low);
      else if (init == "linear")
        value = low + (high - low) * double(i) / double(count > 1 ? count - 1 : 1);
      storeElementAt(type, bytes.data(), static_cast<int64_t>(i), value);
    }
    return Done{};
  }
  if (init.rfind("file:", 0) == 0) {
    std::string path = init.substr(5);
    Result<std::string> text = readFile(path[0] == '/' ? path : folder + "/" + path);
    if (!text)
      return text.error();
    if (text->size() != bytes.size())
      return Error{path + " has " + std::to_string(text->size()) + " bytes, the buffer " +
                   std::to_string(bytes.size())};
    std::memcpy(bytes.data(), text->data(), bytes.size());
    return Done{};
  }
  return Error{"unknown init '" + init +
               "': expected zero, poison, bits, ints, uniform, ramp, linear or file:NAME"};
}
