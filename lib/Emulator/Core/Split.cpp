// Diverged lanes: how branches, calls, returns and exits divide a warp's splits, and how splits
// that meet again are one again. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Split.h"

#include "Exec.h"
#include "Machine.h"

namespace ts::emu {
namespace {
constexpr uint32_t maxLocalBytes = 512 * 1024; // per thread, as on hardware

/// A frame takes some stack even without variables of its own, so endless recursion ends; and inner
/// frames begin behind outer ones, which pickSplit relies on.
uint32_t frameBytes(const Code &code) {
  // A multiple of 16: variables of the next frame are aligned from its base.
  return code.localBytes + 16 + 4 * (std::min<uint32_t>(code.numRegisters, 255) & ~3u);
}

/// The lanes `lanes` leave `split` and go on at `pc` in `frame`.
void depart(Warp &warp, Split &split, uint32_t lanes, uint32_t pc,
            const std::shared_ptr<Frame> &frame) {
  split.mask &= ~lanes;
  Split fresh;
  fresh.mask = lanes;
  fresh.pc = pc;
  fresh.frame = frame;
  fresh.backEdges = split.backEdges;
  warp.splits.push_back(std::move(fresh));
}

void growLocal(Warp &warp, uint32_t bytes) {
  if (bytes > maxLocalBytes)
    fault(FaultKind::Trap, "stack overflow: a thread needs %u bytes of local memory, and has %u",
          bytes, maxLocalBytes);
  uint32_t size = std::max<uint32_t>(bytes, 2 * warp.localBytes);
  auto grow = [&](std::vector<uint8_t> &bytes, uint8_t fill) {
    std::vector<uint8_t> grown(size_t(size) * warpSize, fill);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      std::copy_n(bytes.data() + size_t(lane) * warp.localBytes, warp.localBytes,
                  grown.data() + size_t(lane) * size);
    bytes = std::move(grown);
  };
  grow(warp.local, 0xff);
  if (!warp.localUndefined.empty())
    grow(warp.localUndefined, 0);
  warp.localBytes = size;
}
} // namespace

std::shared_ptr<Frame> enterFrame(Warp &warp, const Code &code, std::shared_ptr<Frame> caller,
                                  uint32_t returnPc, uint32_t lanes) {
  auto frame = std::make_shared<Frame>();
  frame->code = &code;
  frame->returnPc = returnPc;
  frame->entered = lanes;
  frame->localBase =
      caller ? caller->localBase + frameBytes(*caller->code) + caller->dynamicBytes : 0;
  frame->caller = std::move(caller);
  frame->regs.assign(size_t(code.numRegisters) * warpSize, 0);
  if (uint32_t need = frame->localBase + code.localBytes; need > warp.localBytes)
    growLocal(warp, need);
  return frame;
}

uint32_t growFrame(Warp &warp, Frame &frame, uint64_t bytes, uint64_t align) {
  uint64_t end = frame.localBase + frame.code->localBytes + frame.dynamicBytes;
  uint64_t at = (end + align - 1) / align * align;
  uint64_t top = (at + std::min<uint64_t>(bytes, maxLocalBytes + 1) + 15) / 16 * 16;
  if (top > warp.localBytes)
    growLocal(warp, uint32_t(top));
  frame.dynamicBytes += uint32_t(top - end);
  return uint32_t(at);
}

void branch(Exec &x, uint32_t taken, uint32_t target) {
  Split &split = x.split;
  bool back = target <= split.pc;
  if (taken == split.mask) {
    split.pc = target;
  } else if (taken == 0) {
    ++split.pc;
    return;
  } else {
    depart(x.warp, split, taken, target, split.frame);
    ++split.pc;
  }
  if (back)
    for (Split &s : x.warp.splits)
      if (s.mask & taken)
        ++s.backEdges;
}

void branchTable(Exec &x, const std::array<uint32_t, warpSize> &targets) {
  uint32_t left = x.mask;
  while (left) {
    uint32_t target = targets[size_t(std::countr_zero(left))];
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if ((left >> lane & 1) && targets[lane] == target)
        lanes |= 1u << lane;
    left &= ~lanes;
    bool back = target <= x.code.index;
    if (lanes == x.split.mask) {
      x.split.pc = target;
      x.split.backEdges += back;
    } else {
      depart(x.warp, x.split, lanes, target, x.split.frame);
      x.warp.splits.back().backEdges += back;
    }
  }
  if (x.split.mask & ~x.mask && x.mask) // lanes whose guard is false
    ++x.split.pc;
}

void exitLanes(Exec &x, uint32_t lanes) {
  x.warp.exited |= lanes;
  x.split.mask &= ~lanes;
  if (x.split.mask)
    ++x.split.pc;
  barriersAfterExit(x.cta);
  x.cluster.changed();
}

namespace {
/// Lanes enter a function; the others of the split stay in front of the call.
void callLanes(Exec &x, uint32_t lanes, const Code &callee,
               const std::vector<uint32_t> &argumentOffsets) {
  const std::shared_ptr<Frame> caller = x.split.frame;
  std::shared_ptr<Frame> frame = enterFrame(x.warp, callee, caller, x.split.pc + 1, lanes);
  for (size_t i = 0; i < argumentOffsets.size() && i < callee.paramOffset.size(); ++i) {
    uint64_t bytes = callee.function->params[i].size;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (lanes >> lane & 1)
        copyLocal(x, lane, frame->localBase + callee.paramOffset[i],
                  caller->localBase + argumentOffsets[i], bytes);
  }
  if (lanes == x.split.mask) {
    x.split.pc = 0;
    x.split.frame = std::move(frame);
  } else {
    depart(x.warp, x.split, lanes, 0, frame);
  }
}
} // namespace

void call(Exec &x, const Code &callee, const std::vector<uint32_t> &argumentOffsets,
          const std::vector<uint32_t> &) {
  std::array<const Code *, warpSize> callees;
  callees.fill(&callee);
  callTable(x, callees, argumentOffsets);
}

void callTable(Exec &x, const std::array<const Code *, warpSize> &callees,
               const std::vector<uint32_t> &argumentOffsets) {
  bool someStay = x.split.mask & ~x.mask; // lanes whose guard is false
  uint32_t left = x.mask;
  while (left) {
    const Code *callee = callees[size_t(std::countr_zero(left))];
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if ((left >> lane & 1) && callees[lane] == callee)
        lanes |= 1u << lane;
    left &= ~lanes;
    callLanes(x, lanes, *callee, argumentOffsets);
  }
  if (someStay)
    ++x.split.pc;
}

void returnLanes(Exec &x, uint32_t lanes) {
  std::shared_ptr<Frame> frame = x.split.frame;
  if (!frame->caller) {
    exitLanes(x, lanes);
    return;
  }
  const std::shared_ptr<Frame> &caller = frame->caller;
  // The call instruction in front of the return place says where results go.
  const CodeEntry &site = caller->code->entries[frame->returnPc - 1];
  const std::vector<uint32_t> results = callResults(*caller->code, *site.source);
  for (size_t i = 0; i < results.size() && i < frame->code->returnOffset.size(); ++i) {
    uint64_t bytes = frame->code->function->returns[i].size;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (lanes >> lane & 1)
        copyLocal(x, lane, caller->localBase + results[i],
                  frame->localBase + frame->code->returnOffset[i], bytes);
  }
  uint32_t pc = frame->returnPc;
  if (lanes == x.split.mask) {
    x.split.frame = caller;
    x.split.pc = pc;
  } else {
    depart(x.warp, x.split, lanes, pc, caller);
    ++x.split.pc;
  }
}

void tidySplits(Warp &warp) {
  std::vector<Split> &splits = warp.splits;
  std::erase_if(splits, [](const Split &s) { return s.mask == 0; });
  if (splits.size() < 2)
    return;
  for (size_t i = 0; i < splits.size(); ++i)
    for (size_t j = i + 1; j < splits.size();) {
      Split &a = splits[i], &b = splits[j];
      // One that has already arrived somewhere keeps to itself until it is through.
      if (a.pc != b.pc || a.frame != b.frame || a.resume || b.resume) {
        ++j;
        continue;
      }
      a.mask |= b.mask;
      a.blocked = false;
      a.wait = {};
      a.giveUp = a.giveUp && b.giveUp;
      a.backEdges = std::min(a.backEdges, b.backEdges);
      splits.erase(splits.begin() + std::ptrdiff_t(j));
    }
}

Split *pickSplit(Warp &warp, uint64_t events) {
  constexpr uint32_t patience = 64; // loop iterations before a sibling gets its turn
  Split *best = nullptr;
  auto before = [](const Split &a, const Split &b) {
    bool tiredA = a.backEdges > patience, tiredB = b.backEdges > patience;
    if (tiredA != tiredB)
      return tiredB;
    if (a.frame->localBase != b.frame->localBase) // inner calls first: they come back
      return a.frame->localBase > b.frame->localBase;
    return a.pc < b.pc;
  };
  bool allTired = true;
  for (Split &s : warp.splits) {
    if (s.blocked && s.blockedAt == events && !s.giveUp)
      continue;
    allTired &= s.backEdges > patience;
    if (!best || before(s, *best))
      best = &s;
  }
  if (best && allTired)
    for (Split &s : warp.splits)
      s.backEdges = 0;
  return best;
}

} // namespace ts::emu
