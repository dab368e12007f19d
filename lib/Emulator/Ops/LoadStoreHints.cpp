// Prefetches and cache hints, which do nothing here, discard, and the stack: alloca, stacksave,
// stackrestore. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../Core/Split.h"
#include "MemoryModifiers.h"

namespace ts::emu {
namespace {

std::unique_ptr<Op> nothing() {
  return makeOp([](Exec &) { return Step::Next; });
}

std::unique_ptr<Op> decodePrefetch(Decode &d) {
  bool uniform = d.inst.parts[0] == "prefetchu";
  if (uniform) {
    d.need("L1");
  } else {
    int space = d.takeOneOf({"global", "local", "const", "param"});
    bool tensormap = d.take("tensormap");
    if (!tensormap &&
        (space > 1 || d.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"}) < 0))
      d.refuse("expected .L1, .L2 or .tensormap");
  }
  d.end();
  d.needOperands(1, 1);
  d.address(0);
  return nothing();
}

std::unique_ptr<Op> decodeApplyPriority(Decode &d) {
  d.take("global");
  d.need("L2::evict_normal");
  d.end();
  d.needOperands(2, 2);
  d.address(0);
  if (d.immediate(1) != 128)
    d.refuse("expected a size of 128");
  return nothing();
}

// What is discarded holds nothing in particular afterwards; here it reads as the poison of fresh
// memory.
std::unique_ptr<Op> decodeDiscard(Decode &d) {
  d.take("global");
  d.need("L2");
  d.end();
  d.needOperands(2, 2);
  AddressOperand address = d.address(0);
  if (d.immediate(1) != 128)
    d.refuse("expected a size of 128");
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        memset(resolveGlobal(x.machine, address.lane(x, lane), 128, 128, true, "discard"), 0xff,
               128);
    return Step::Next;
  });
}

// The stack of a frame grows for all its lanes alike: by the largest size that one of them asks.
std::unique_ptr<Op> decodeAlloca(Decode &d) {
  int type = d.takeOneOf({"u32", "u64"});
  if (type < 0)
    d.refuse("expected .u32 or .u64");
  d.end();
  d.needOperands(2, 3);
  Dst pointer = d.dst(0);
  Src size = d.src(1, type ? ptx::Type::B64 : ptx::Type::B32);
  uint64_t align = d.numOperands() == 3 ? d.immediate(2) : 8;
  if (!std::has_single_bit(align) || align > 4096)
    d.refuse("expected a power of two up to 4096 as alignment");
  return makeOp([=](Exec &x) {
    uint64_t most = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        most = std::max(most, size.lane(x, lane));
    uint32_t at = growFrame(x.warp, *x.split.frame, most, align);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        pointer.set(x, lane, at);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeStack(Decode &d) {
  bool save = d.inst.parts[0] == "stacksave";
  int type = d.takeOneOf({"u32", "u64"});
  if (type < 0)
    d.refuse("expected .u32 or .u64");
  d.end();
  d.needOperands(1, 1);
  Dst to = save ? d.dst(0) : Dst();
  Src from = save ? Src() : d.src(0, ptx::Type::B64);
  return makeOp([=](Exec &x) {
    Frame &frame = *x.split.frame;
    uint32_t top = frame.localBase + frame.code->localBytes;
    if (save) {
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (x.active(lane))
          to.set(x, lane, top + frame.dynamicBytes);
      return Step::Next;
    }
    uint64_t value = from.uniform(x);
    if (value < top || value > top + frame.dynamicBytes)
      fault(FaultKind::Trap, "stackrestore of 0x%llx, which no stacksave of this function gave",
            (unsigned long long)value);
    // Diverged siblings may still use what they allocated in this frame.
    if (x.mask == x.warp.alive())
      frame.dynamicBytes = uint32_t(value - top);
    return Step::Next;
  });
}
} // namespace

void registerMemoryHints(DecoderTable &table) {
  table.add("prefetch", decodePrefetch,
            {{"prefetch[.global|.local].{L1|L2}", "[%rd1]"},
             {"prefetch.global.{L2::evict_last|L2::evict_normal}", "[%rd1]"},
             {"prefetch[.const|.param].tensormap", "[%rd1]"}});
  table.add("prefetchu", decodePrefetch, {{"prefetchu.L1", "[%rd1]"}});
  table.add("applypriority", decodeApplyPriority,
            {{"applypriority[.global].L2::evict_normal", "[%rd1], 128"}});
  table.add("discard", decodeDiscard, {{"discard[.global].L2", "[%rd1], 128"}});
  table.add("alloca", decodeAlloca,
            {{"alloca.u64", "%rd1, 16"}, {"alloca.u32", "%r1, 16"}, {"alloca.u64", "%rd1, 16, 8"}});
  table.add("stacksave", decodeStack, {{"stacksave.u64", "%rd1"}, {"stacksave.u32", "%r1"}});
  table.add("stackrestore", decodeStack,
            {{"stackrestore.u64", "%rd1"}, {"stackrestore.u32", "%r1"}});
}

} // namespace ts::emu
