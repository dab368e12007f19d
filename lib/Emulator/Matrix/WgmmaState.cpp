// Issue, groups and waits of wgmma; registers in flight. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Wgmma.h"

#include "../Core/Machine.h"

namespace ts::emu {
namespace {

constexpr const char *inFlightName = "wgmma.mma_async";

class WgmmaAsync final : public AsyncOp {
public:
  WgmmaAsync(std::shared_ptr<WgmmaRecord> record, Cta &cta) : record(std::move(record)), cta(cta) {}
  bool ready() const override { return record->issued == (1u << warpgroupWarps) - 1; }
  void perform(unsigned) override {
    wgmmaPerform(*record, cta.shared);
    for (const WgmmaRecord::Move &move : record->moves) {
      uint64_t *regs = record->frames[move.warp]->regs.data();
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (move.mask >> lane & 1)
          regs[size_t(move.to) * warpSize + lane] = regs[size_t(move.from) * warpSize + lane];
    }
  }
  void finish() override { record->done = true; }

private:
  std::shared_ptr<WgmmaRecord> record;
  Cta &cta;
};

unsigned warpInGroup(const Exec &x) { return x.warp.index % warpgroupWarps; }

void markInFlight(Frame &frame, const std::vector<uint32_t> &slots) {
  for (uint32_t slot : slots)
    frame.inFlight.try_emplace(slot, inFlightName);
  frame.numInFlight = uint32_t(frame.inFlight.size());
}

void describeOperands(const Exec &x, WgmmaRecord &record) {
  const WgmmaForm &form = *record.form;
  unsigned bits = form.elementBits(), k = form.elementsK();
  std::vector<uint32_t> chunks;
  operandChunks(wgmmaLayout(record.descB), !form.transposeB, form.n, k, bits, chunks);
  checkChunks(x.cta.shared, chunks, "wgmma operand B");
  record.rangesB = operandRanges(chunks, operandChunkBytes);
  if (!form.aSlots.empty())
    return;
  k = form.storedK();
  operandChunks(wgmmaLayout(record.descA), !form.transposeA, wgmmaRows, k, bits, chunks);
  checkChunks(x.cta.shared, chunks, "wgmma operand A");
  // A warp reads the rows it computes: kernels whose warps write their own rows of A rely on that.
  unsigned minor = form.transposeA ? k : wgmmaRows, major = unsigned(chunks.size()) / minor;
  for (unsigned w = 0; w < warpgroupWarps; ++w) {
    std::vector<uint32_t> mine;
    for (unsigned i = 0; i < minor; ++i)
      for (unsigned j = 0; j < major; ++j) {
        unsigned row = form.transposeA ? j * (128 / bits) : i;
        if (row / wgmmaWarpRows == w)
          mine.push_back(chunks[size_t(i) * major + j]);
      }
    record.rangesA[w] = operandRanges(mine, operandChunkBytes);
  }
}

/// The record that a warp's next wgmma belongs to: that of its sibling warps, or a new one.
std::shared_ptr<WgmmaRecord> joinRecord(Exec &x, Warpgroup &group, const WgmmaForm &form) {
  WgmmaWarp &warp = group.warps[warpInGroup(x)];
  uint64_t descA = form.aSlots.empty() ? form.descA.uniform(x) : 0;
  uint64_t descB = form.descB.uniform(x);
  uint32_t scale = form.scaleD.predicate(x) & x.mask;
  if (scale && scale != x.mask)
    fault(FaultKind::Divergence,
          "scale-d of wgmma.mma_async differs between lanes (0x%08x); "
          "expected one value in the whole warpgroup",
          scale);
  uint64_t number = warp.count++;
  if (number - group.first < group.records.size()) {
    std::shared_ptr<WgmmaRecord> record = group.records[number - group.first];
    if (record->code != &x.code)
      fault(FaultKind::Divergence,
            "wgmma number %llu of this warpgroup is the one at PTX line %u in another warp; "
            "expected the same instruction in all four warps",
            (unsigned long long)number, record->code->loc.ptxLine);
    if (record->descA != descA || record->descB != descB || record->accumulate != (scale != 0))
      fault(FaultKind::Divergence,
            "wgmma.mma_async has descriptors 0x%llx, 0x%llx and scale-d %d here, but 0x%llx, "
            "0x%llx and %d in another warp of the warpgroup; expected the same in all four",
            (unsigned long long)descA, (unsigned long long)descB, scale != 0,
            (unsigned long long)record->descA, (unsigned long long)record->descB,
            record->accumulate);
    return record;
  }
  auto record = std::make_shared<WgmmaRecord>();
  record->form = &form;
  record->code = &x.code;
  record->descA = descA;
  record->descB = descB;
  record->accumulate = scale != 0;
  describeOperands(x, *record);
  uint64_t issuer = x.warp.agent - warpInGroup(x);
  Checker &checker = *x.cluster.checker;
  record->event = checker.newEvent(
      checker.channelAgent(uint32_t(EngineKind::Wgmma), issuer, 0, engineName(EngineKind::Wgmma)));
  group.records.push_back(record);
  auto op = std::make_unique<WgmmaAsync>(record, x.cta);
  op->code = &x.code;
  op->warp = &x.warp;
  op->event = record->event;
  x.cluster.engines->issue({EngineKind::Wgmma, issuer, 0}, true, std::move(op));
  return record;
}

void checkRegisters(const Exec &x, WgmmaWarp &warp, const WgmmaForm &form) {
  if (!warp.fenced)
    fault(FaultKind::TensorFence, "the first wgmma.mma_async of this warp has no wgmma.fence "
                                  "before it; registers written before may not be visible to it");
  const Frame &frame = *x.split.frame;
  for (uint32_t slot : form.aSlots)
    for (const WgmmaIssue &issue : warp.pending)
      if (issue.record->frames[warpInGroup(x)].get() == &frame &&
          std::find(issue.record->form->dSlots.begin(), issue.record->form->dSlots.end(), slot) !=
              issue.record->form->dSlots.end())
        fault(FaultKind::TensorFence,
              "operand A of wgmma.mma_async is in a register that the wgmma at PTX line %u still "
              "writes; wait for it first (wgmma.wait_group)",
              issue.record->code->loc.ptxLine);
  if (warp.known.empty() || warp.knownFrame != &frame)
    return;
  auto changed = [&](const std::vector<uint32_t> &slots) {
    for (uint32_t slot : slots) {
      auto it = warp.known.find(slot);
      if (it != warp.known.end() && !frame.inFlight.contains(slot) &&
          memcmp(it->second.data(), x.reg(slot), sizeof it->second) != 0)
        return true;
    }
    return false;
  };
  if (changed(form.dSlots) || changed(form.aSlots))
    fault(FaultKind::TensorFence,
          "registers of wgmma.mma_async have been written since the last wgmma.fence; put "
          "wgmma.fence between the writes and the instruction");
}

/// Siblings that ended without issuing what this warp waits for will never do so.
void checkSiblings(const Exec &x, const WgmmaRecord &record) {
  unsigned first = x.warp.index - warpInGroup(x);
  for (unsigned w = 0; w < warpgroupWarps; ++w)
    if (!(record.issued >> w & 1) && !x.cta.warps[first + w]->alive())
      fault(FaultKind::Divergence,
            "warp %u of the warpgroup has exited without the wgmma.mma_async at PTX line %u, which "
            "needs all four warps",
            first + w, record.code->loc.ptxLine);
}
} // namespace

Warpgroup &warpgroupOf(const Exec &x, const char *what) {
  unsigned index = x.warp.index / warpgroupWarps;
  if ((index + 1) * warpgroupWarps > x.cta.warps.size())
    fault(
        FaultKind::Divergence,
        "%s by warp %u, but its warpgroup (warps %u to %u) is not complete: the CTA has %zu warps",
        what, x.warp.index, index * warpgroupWarps, index * warpgroupWarps + 3, x.cta.warps.size());
  if (x.mask != ~0u)
    fault(FaultKind::Divergence, "%s with lanes 0x%08x; expected all 32 of the warp", what, x.mask);
  if (!x.cta.wgmma)
    x.cta.wgmma = std::make_shared<WgmmaState>();
  return x.cta.wgmma->groups[index];
}

void wgmmaFence(Exec &x) {
  WgmmaWarp &warp = warpgroupOf(x, "wgmma.fence").warps[warpInGroup(x)];
  warp.fenced = true;
  warp.known.clear();
}

void wgmmaIssue(Exec &x, const WgmmaForm &form) {
  Warpgroup &group = warpgroupOf(x, "wgmma.mma_async");
  unsigned w = warpInGroup(x);
  WgmmaWarp &warp = group.warps[w];
  checkRegisters(x, warp, form);
  std::shared_ptr<WgmmaRecord> record = joinRecord(x, group, form);

  // Told by each warp with what it knows itself: the hardware need not wait for the last of them.
  Checker &checker = *x.cluster.checker;
  Access access{AccessKind::Read, Proxy::Async, record->event, &x.clock(), x.siteId()};
  for (const WgmmaRecord::Ranges *ranges : {&record->rangesA[w], &record->rangesB})
    for (auto [begin, size] : *ranges)
      checker.shared(access, {x.cta.rank, begin, size});

  record->frames[w] = x.split.frame;
  if (form.sparse) {
    uint64_t scratch[warpSize];
    const uint64_t *lanes = form.metadata.lanes(x, scratch);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      record->metadata[w][lane] = uint32_t(lanes[lane]);
  }
  record->issued |= 1u << w;
  while (!group.records.empty() && group.records.front()->issued == (1u << warpgroupWarps) - 1) {
    group.records.pop_front();
    ++group.first;
  }
  std::vector<uint32_t> slots = form.dSlots;
  slots.insert(slots.end(), form.aSlots.begin(), form.aSlots.end());
  markInFlight(*x.split.frame, slots);
  warp.pending.push_back({std::move(record), warp.groups, std::move(slots)});
  x.cluster.changed();
}

void wgmmaCommit(Exec &x) { ++warpgroupOf(x, "wgmma.commit_group").warps[warpInGroup(x)].groups; }

bool wgmmaWait(Exec &x, uint64_t allowed) {
  Warpgroup &group = warpgroupOf(x, "wgmma.wait_group");
  unsigned w = warpInGroup(x);
  WgmmaWarp &warp = group.warps[w];
  uint64_t upTo = warp.groups > allowed ? warp.groups - allowed : 0;
  unsigned ready = 0;
  for (const WgmmaIssue &issue : warp.pending) {
    if (issue.group >= upTo)
      break;
    if (!issue.record->done) {
      checkSiblings(x, *issue.record);
      x.wait(WaitKind::Group, 0,
             format("wgmma groups: the wgmma.mma_async at PTX line %u is not complete (issued by "
                    "%d of 4 warps)",
                    issue.record->code->loc.ptxLine, std::popcount(issue.record->issued)));
      return false;
    }
    ++ready;
  }
  Frame &frame = *x.split.frame;
  if (warp.knownFrame != &frame)
    warp.known.clear();
  warp.knownFrame = &frame;
  std::vector<std::shared_ptr<Frame>> frames;
  for (; ready; --ready) {
    WgmmaIssue &issue = warp.pending.front();
    x.clock().order.learn(issue.record->event);
    const std::shared_ptr<Frame> &owner = issue.record->frames[w];
    for (uint32_t slot : issue.slots) {
      owner->inFlight.erase(slot);
      if (owner.get() == &frame)
        memcpy(warp.known[slot].data(), x.reg(slot), warpSize * sizeof(uint64_t));
    }
    frames.push_back(owner);
    warp.pending.pop_front();
  }
  for (const WgmmaIssue &issue : warp.pending) // chains keep their accumulators
    markInFlight(*issue.record->frames[w], issue.slots);
  for (const std::shared_ptr<Frame> &owner : frames)
    owner->numInFlight = uint32_t(owner->inFlight.size());
  return true;
}

bool deferMove(Exec &x, uint32_t from, uint32_t to) {
  if (!x.split.frame->inFlight.contains(from) || !x.cta.wgmma)
    return false;
  auto group = x.cta.wgmma->groups.find(x.warp.index / warpgroupWarps);
  if (group == x.cta.wgmma->groups.end())
    return false;
  unsigned w = warpInGroup(x);
  std::deque<WgmmaIssue> &pending = group->second.warps[w].pending;
  auto touches = [](const WgmmaIssue &issue, uint32_t slot) {
    return std::find(issue.slots.begin(), issue.slots.end(), slot) != issue.slots.end();
  };
  // Behind the last operation that has to do with either of the two: the channel is in order.
  for (auto issue = pending.rbegin(); issue != pending.rend(); ++issue) {
    if (issue->record->frames[w] != x.split.frame ||
        (!touches(*issue, from) && !touches(*issue, to)))
      continue;
    if (issue->record->done)
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        if (x.active(lane))
          x.reg(to)[lane] = x.reg(from)[lane];
      }
    else
      issue->record->moves.push_back({w, x.mask, from, to});
    if (!touches(*issue, to))
      issue->slots.push_back(to);
    markInFlight(*x.split.frame, {to});
    return true;
  }
  return false;
}

} // namespace ts::emu
