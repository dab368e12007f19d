// tensormap.replace and tensormap.cp_fenceproxy: kernels that change tensor maps. Source: PTX ISA,
// tensormap.replace, tensormap.cp_fenceproxy. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Copy.h"
#include "TensorMap.h"

namespace ts::emu {
namespace {

enum Field {
  Address,
  Rank,
  Box,
  Size,
  Stride,
  ElementStride,
  ElementType_,
  Interleave,
  Swizzle,
  Atomicity,
  Fill
};

void replace(TensorMap &map, Field field, uint64_t ordinal, uint64_t value) {
  auto limit = [&](uint64_t most) {
    if (value > most)
      fault(FaultKind::Descriptor, "tensormap.replace with the value %llu; expected at most %llu",
            (unsigned long long)value, (unsigned long long)most);
  };
  switch (field) {
  case Address:
    map.address = value;
    break;
  case Rank:
    limit(4);
    map.rank = uint8_t(value + 1);
    break;
  case Box:
    limit(256);
    map.box[ordinal] = uint16_t(value);
    break;
  case Size:
    map.sizes[ordinal] = uint32_t(value);
    map.empty = 0;
    break;
  case Stride:
    map.strides[ordinal] = value;
    break;
  case ElementStride:
    limit(8);
    map.elementStrides[ordinal] = uint8_t(value);
    break;
  case ElementType_:
    map.elementType = uint8_t(value);
    break;
  case Interleave:
    map.interleave = uint8_t(value);
    break;
  case Swizzle:
    map.swizzle = uint8_t(value);
    break;
  case Atomicity:
    map.swizzleAtomicity = uint8_t(value);
    break;
  case Fill:
    map.fillNan = uint8_t(value);
    break;
  }
}

/// The 128 bytes as ordinary memory, told to the checker as a read and a write of the lane.
void change(Exec &x, unsigned lane, Space space, uint64_t address, Field field, uint64_t ordinal,
            uint64_t value) {
  if (address % 64)
    fault(FaultKind::Alignment, "a tensor map at 0x%llx; expected a multiple of 64",
          (unsigned long long)address);
  uint8_t bytes[128];
  for (unsigned i = 0; i < 128; i += 16)
    load(x, lane, space, address + i, 16, bytes + i);
  TensorMap map;
  memcpy(static_cast<void *>(&map), bytes, sizeof map);
  if (map.magic != TensorMap::expectedMagic)
    fault(FaultKind::Descriptor,
          "tensormap.replace: there is no tensor map at 0x%llx; expected a copy of the 128 bytes "
          "that the host made",
          (unsigned long long)address);
  replace(map, field, ordinal, value);
  memcpy(bytes, static_cast<const void *>(&map), sizeof map);
  for (unsigned i = 0; i < 128; i += 16)
    store(x, lane, space, address + i, 16, bytes + i);
}

std::unique_ptr<Op> decodeReplace(Decode &d) {
  d.need("tile");
  int field = d.takeOneOf({"global_address", "rank", "box_dim", "global_dim", "global_stride",
                           "element_stride", "elemtype", "interleave_layout", "swizzle_mode",
                           "swizzle_atomicity", "fill_mode"});
  if (field < 0)
    d.refuse("expected the field to replace");
  Space space = d.take("global")        ? Space::Global
                : d.take("shared::cta") ? Space::SharedCta
                                        : Space::Generic;
  d.need("b1024");
  bool wide = field == Address || field == Stride;
  d.need(wide ? "b64" : "b32");
  d.end();
  bool ordered = field >= Box && field <= ElementStride;
  d.needOperands(ordered ? 3 : 2, ordered ? 3 : 2);
  AddressOperand address = d.address(0);
  uint64_t ordinal = ordered ? d.immediate(1) : 0;
  if (ordinal > (field == Stride ? 3 : 4))
    d.refuse("there is no dimension %llu here", (unsigned long long)ordinal);
  Src value = d.src(ordered ? 2 : 1, wide ? ptx::Type::B64 : ptx::Type::B32);
  if (field >= ElementType_) {
    constexpr uint64_t most[] = {15, 2, 3, 3, 1};
    uint64_t v = d.immediate(1);
    if (v > most[field - ElementType_])
      d.refuse("the value %llu of this field does not exist (or not on this target)",
               (unsigned long long)v);
  }
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        change(x, lane, space, address.lane(x, lane), Field(field), ordinal, value.lane(x, lane));
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeCopyFence(Decode &d) {
  for (const char *part : {"global", "shared::cta", "tensormap::generic", "release"})
    d.need(part);
  if (d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0)
    d.refuse("expected a scope");
  d.need("sync");
  d.need("aligned");
  d.end();
  d.needOperands(3, 3);
  AddressOperand to = d.address(0), from = d.address(1);
  if (d.immediate(2) != 128)
    d.refuse("expected a size of 128");
  return makeOp([=](Exec &x) {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    // The warp copies together.
    unsigned lane = x.firstLane();
    uint64_t target = to.lane(x, lane), source = from.lane(x, lane);
    if (target % 128 || source % 128)
      fault(FaultKind::Alignment,
            "tensormap.cp_fenceproxy from 0x%llx to 0x%llx; expected multiples of 128",
            (unsigned long long)source, (unsigned long long)target);
    uint8_t bytes[16];
    for (unsigned i = 0; i < 128; i += 16) {
      load(x, lane, Space::SharedCta, source + i, 16, bytes);
      store(x, lane, Space::Global, target + i, 16, bytes);
    }
    return Step::Next;
  });
}
} // namespace

void registerTensorMaps(DecoderTable &table) {
  table.add(
      "tensormap.replace", decodeReplace,
      {{"tensormap.replace.tile.global_address[.global].b1024.b64", "[%rd1], %rd2"},
       {"tensormap.replace.tile.global_address.shared::cta.b1024.b64", "[%r1], %rd2"},
       {"tensormap.replace.tile.rank[.global].b1024.b32", "[%rd1], %r2"},
       {"tensormap.replace.tile.rank.shared::cta.b1024.b32", "[%r1], %r2"},
       {"tensormap.replace.tile.{box_dim|global_dim|element_stride}[.global].b1024.b32",
        "[%rd1], 1, %r2"},
       {"tensormap.replace.tile.{box_dim|global_dim|element_stride}.shared::cta.b1024.b32",
        "[%r1], 1, %r2"},
       {"tensormap.replace.tile.global_stride[.global].b1024.b64", "[%rd1], 1, %rd2"},
       {"tensormap.replace.tile.global_stride.shared::cta.b1024.b64", "[%r1], 1, %rd2"},
       {"tensormap.replace.tile.{elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_"
        "mode}[.global].b1024.b32",
        "[%rd1], 1"},
       {"tensormap.replace.tile.{elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_"
        "mode}.shared::cta.b1024.b32",
        "[%r1], 1"}});
  table.add("tensormap.cp_fenceproxy", decodeCopyFence,
            {{"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{cta|cluster|"
              "gpu|sys}.sync.aligned",
              "[%rd1], [%r1], 128"}});
}

void registerCopies(DecoderTable &table) {
  registerCpAsync(table);
  registerBulkCopies(table);
  registerTensorCopies(table);
  registerTensorMaps(table);
}

} // namespace ts::emu
