// Tensor maps: encoding of a launch's plan, the rules that the hardware has for one, and the
// swizzles. Source: PTX ISA, "Tensors"; CUDA driver API, cuTensorMapEncodeTiled.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorMap.h"

#include "../Core/Fault.h"
#include "ts/Emulator/Emulator.h"

#include <cstring>

namespace ts::emu {
namespace {

struct Element {
  const char *name;
  uint8_t bits;
  bool isFloat;
};
constexpr Element elements[] = {
    {"u8", 8, false},       {"u16", 16, false},  {"u32", 32, false},      {"s32", 32, false},
    {"u64", 64, false},     {"s64", 64, false},  {"f16", 16, true},       {"f32", 32, true},
    {"f32.ftz", 32, true},  {"f64", 64, true},   {"bf16", 16, true},      {"tf32", 32, true},
    {"tf32.ftz", 32, true}, {"b4x16", 4, false}, {"b4x16_p64", 4, false}, {"b6x16_p32", 6, false},
};
constexpr uint8_t numElements = sizeof elements / sizeof *elements;

constexpr uint32_t swizzleSpan[] = {0, 32, 64, 128};

uint8_t elementNumber(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 9;
  case ElementType::F32:
    return 7;
  case ElementType::F16:
    return 6;
  case ElementType::BF16:
    return 10;
  case ElementType::I64:
    return 5;
  case ElementType::U64:
    return 4;
  case ElementType::I32:
    return 3;
  case ElementType::U32:
    return 2;
  case ElementType::I16:
  case ElementType::U16:
    return 1;
  case ElementType::F4E2M1:
    return elementB4x16;
  default:
    return 0; // bytes: fp8 too
  }
}
} // namespace

unsigned elementBits(uint8_t type) { return type < numElements ? elements[type].bits : 0; }
const char *elementTypeName(uint8_t type) {
  return type < numElements ? elements[type].name : "unknown";
}

uint32_t swizzleAddress(uint8_t swizzle, uint8_t atomicity, uint32_t a) {
  switch (swizzle) {
  case 1: // 16-byte chunks of 32 bytes: bit 4 with bit 7
    return a ^ (a >> 3 & 0x10);
  case 2: // bits 4-5 with bits 7-8
    return a ^ (a >> 3 & 0x30);
  case 3:
    switch (atomicity) {
    case 0: // bits 4-6 with bits 7-9
      return a ^ (a >> 3 & 0x70);
    case 1: // 32-byte chunks: bits 5-6 with bits 7-8
      return a ^ (a >> 2 & 0x60);
    case 2: // and the halves of 16 bytes in every other line of 128
      return a ^ (a >> 2 & 0x60) ^ (a >> 4 & 0x8);
    default: // 64-byte chunks: bit 6 with bit 7
      return a ^ (a >> 1 & 0x40);
    }
  default:
    return a;
  }
}

std::string wrongInTensorMap(const TensorMap &m) {
  if (m.elementType >= numElements)
    return format("element type %u does not exist", m.elementType);
  if (m.rank < 1 || m.rank > 5)
    return format("a rank of %u; expected 1 to 5", m.rank);
  if (m.interleave)
    return format("%u-byte interleave is not executed here; expected none", m.interleave * 16);
  if (m.swizzle > 3)
    return m.swizzle == 4 ? "96-byte swizzle does not exist on this target"
                          : format("swizzle mode %u does not exist", m.swizzle);
  if (m.swizzleAtomicity > 3 || (m.swizzleAtomicity && m.swizzle != 3))
    return "a swizzle atomicity other than 16 bytes goes with 128-byte swizzle only";
  bool padded = m.elementType == elementB4x16P64 || m.elementType == elementB6x16P32;
  bool small = m.elementType >= elementB4x16;
  uint32_t align = padded ? 32 : 16;
  if (m.address % align)
    return format("the address 0x%llx is not a multiple of %u", (unsigned long long)m.address,
                  align);
  for (unsigned i = 0; i < m.rank; ++i) {
    if (m.sizes[i] == 0)
      return format("size %u is 0", i);
    if (m.box[i] < 1 || m.box[i] > 256)
      return format("box %u is %u; expected 1 to 256", i, m.box[i]);
    if (m.elementStrides[i] < 1 || m.elementStrides[i] > 8)
      return format("element stride %u is %u; expected 1 to 8", i, m.elementStrides[i]);
    if (i > 0 && (m.strides[i - 1] % align || m.strides[i - 1] >> 40))
      return format("the stride of dimension %u is %llu bytes; expected a multiple of %u below "
                    "2^40",
                    i, (unsigned long long)m.strides[i - 1], align);
  }
  uint32_t rowBits = m.box[0] * elementBits(m.elementType);
  if (rowBits % 128)
    return format("a row of the box has %u bits (%u of %s); expected a multiple of 16 bytes",
                  rowBits, m.box[0], elementTypeName(m.elementType));
  if (padded) {
    if (m.box[0] != 128)
      return format("a row of the box has %u elements of %s; expected 128", m.box[0],
                    elementTypeName(m.elementType));
    if (m.sizes[0] % 128)
      return format("size 0 is %u elements of %s; expected a multiple of 128", m.sizes[0],
                    elementTypeName(m.elementType));
    if ((m.swizzle && m.swizzle != 3) || m.swizzleAtomicity == 2)
      return format("%s goes with no swizzle or 128-byte swizzle", elementTypeName(m.elementType));
  }
  if (m.fillNan && (small || !elements[m.elementType].isFloat))
    return format("NaN fill of elements of type %s", elementTypeName(m.elementType));
  uint32_t rowBytes = padded ? m.box[0] : rowBits / 8;
  uint32_t span = swizzleSpan[m.swizzle];
  if (span && rowBytes > span)
    return format("a row of the box has %u bytes, more than the %u of the swizzle", rowBytes, span);
  return {};
}

Result<ParamBytes> Device::encodeTensorMap(const TensorMapPlan &plan, uint64_t address) {
  size_t rank = plan.sizes.size();
  if (rank < 1 || rank > 5)
    return Error{format("a tensor map of rank %zu; expected 1 to 5", rank)};
  if (plan.box.size() != rank || plan.elementStrides.size() != rank ||
      plan.strides.size() + 1 != rank)
    return Error{format("a tensor map of rank %zu has %zu box sizes, %zu element strides and %zu "
                        "strides; expected %zu, %zu and %zu",
                        rank, plan.box.size(), plan.elementStrides.size(), plan.strides.size(),
                        rank, rank, rank - 1)};
  TensorMap map;
  map.elementType = plan.padded ? uint8_t(elementB4x16P64) : elementNumber(plan.element);
  map.rank = uint8_t(rank);
  switch (plan.swizzle) {
  case 0:
    map.swizzle = 0;
    break;
  case 32:
    map.swizzle = 1;
    break;
  case 64:
    map.swizzle = 2;
    break;
  case 128:
    map.swizzle = 3;
    break;
  default:
    return Error{
        format("a swizzle of %lld bytes; expected 0, 32, 64 or 128", (long long)plan.swizzle)};
  }
  map.interleave = uint8_t(plan.interleave / 16);
  map.fillNan = plan.fillNan;
  map.empty = plan.empty;
  map.address = address;
  for (size_t i = 0; i < rank; ++i) {
    map.sizes[i] = uint32_t(std::min<uint64_t>(plan.sizes[i], 0xffffffff));
    map.box[i] = uint16_t(std::min<uint32_t>(plan.box[i], 0xffff));
    map.elementStrides[i] = uint8_t(std::min<uint32_t>(plan.elementStrides[i], 255));
    if (i)
      map.strides[i - 1] = plan.strides[i - 1];
  }
  if (std::string wrong = wrongInTensorMap(map); !wrong.empty())
    return Error{"tensor map: " + wrong};
  ParamBytes bytes(128, 0);
  memcpy(bytes.data(), &map, sizeof map);
  return bytes;
}

} // namespace ts::emu
