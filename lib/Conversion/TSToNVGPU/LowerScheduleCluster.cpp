// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a cluster adds to a pipeline operation: which CTAs execute it, and arrivals on barriers of
// other CTAs. The masks are the Protocol component's; ranks are the hardware's, since its grid is
// numbered with v fastest, like the x dimension of a cluster.
#include "LowerScheduleTask.h"

#include "ts/Analysis/Protocol/Completion.h"

using namespace mlir;
using namespace mlir::ts;
namespace proto = ::ts::protocol;

proto::TaskRole TaskLowering::roleFor(const LoweredPipeline &pipeline, proto::Op op) {
  int64_t first = task.getFirstWarp(), end = first + int64_t(task.getNumWarps());
  for (const proto::TaskRole &role : pipeline.by.of(op))
    if (role.firstWarp >= first && role.firstWarp < end)
      return role;
  proto::TaskRole role;
  role.task = task.getName().str();
  if (task.getOnlyCta())
    role.pinnedCta = *task.getOnlyCta();
  return role;
}

/// Whether this CTA's rank is in `mask`; null: it is, whichever it is. A task that is pinned to one
/// CTA runs nowhere else, so nothing is asked there.
Value TaskLowering::inCtas(Emitter &e, proto::CtaMask mask) {
  int64_t size = kernel.kernel.getClusterSize();
  proto::CtaMask all = size >= 64 ? ~proto::CtaMask(0) : (proto::CtaMask(1) << size) - 1;
  if (task.getOnlyCta())
    all = proto::CtaMask(1) << *task.getOnlyCta();
  mask &= all;
  if (mask == all)
    return {};
  if (!mask)
    return e.boolean(false);
  if ((mask & (mask - 1)) == 0)
    return e.eq(kernel.ctaRank, e.i32(llvm::countr_zero(mask)));
  Value bit = arith::ShRUIOp::create(b, e.loc, e.i32(int64_t(mask)), kernel.ctaRank);
  return e.cmp(arith::CmpIPredicate::ne, e.bitAnd(bit, e.i32(1)), e.i32(0));
}

/// Whether this CTA makes the wait of `action`; null: it does.
Value TaskLowering::waitsHere(Emitter &e, const LoweredPipeline &pipeline,
                              const proto::Action &action) {
  if (!action.wait->leaderOnly)
    return {};
  return inCtas(e, proto::waitingCtas(pipeline.spec, kernel.cluster, action.op,
                                      roleFor(pipeline, action.op)));
}

/// `byCta[rank]` of this CTA, as a chain of selects (a cluster has at most 16 CTAs).
Value TaskLowering::ofThisCta(Emitter &e, ArrayRef<int64_t> byCta) {
  if (task.getOnlyCta() && *task.getOnlyCta() < byCta.size())
    return e.i32(byCta[*task.getOnlyCta()]);
  Value value = e.i32(byCta[0]);
  if (llvm::all_equal(byCta))
    return value;
  for (size_t cta = 1; cta < byCta.size(); ++cta)
    value = e.select(e.eq(kernel.ctaRank, e.i32(int64_t(cta))), e.i32(byCta[cta]), value);
  return value;
}

Value TaskLowering::both(Emitter &e, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return e.bitAnd(x, y);
}

SmallVector<proto::CtaMask> TaskLowering::targetsOf(const LoweredPipeline &pipeline,
                                                    proto::Barrier barrier) {
  SmallVector<proto::CtaMask> masks;
  for (int64_t cta = 0, e = kernel.kernel.getClusterSize(); cta < e; ++cta)
    masks.push_back(proto::targetMask(pipeline.spec, kernel.cluster, pipeline.by, barrier, cta));
  return masks;
}

Value TaskLowering::peerBarrier(Emitter &e, Value barrier, Value rank) {
  auto cluster = LLVM::LLVMPointerType::get(b.getContext(), /*addressSpace=*/7);
  return NVVM::MapaOp::create(b, e.loc, cluster, barrier, rank);
}

/// One arrival on the barrier of every CTA in the mask of this CTA.
void TaskLowering::arriveAtPeers(Emitter &e, Value barrier, ArrayRef<proto::CtaMask> masks,
                                 llvm::function_ref<void(Value)> arrive) {
  bool single = llvm::all_of(masks, [](proto::CtaMask m) { return llvm::has_single_bit(m); });
  if (single) {
    SmallVector<int64_t> ranks;
    for (proto::CtaMask mask : masks)
      ranks.push_back(llvm::countr_zero(mask));
    arrive(peerBarrier(e, barrier, ofThisCta(e, ranks)));
    return;
  }
  for (size_t target = 0; target < masks.size(); ++target) {
    proto::CtaMask from = 0;
    for (size_t cta = 0; cta < masks.size(); ++cta)
      if (masks[cta] >> target & 1)
        from |= proto::CtaMask(1) << cta;
    if (!from)
      continue;
    e.guarded(inCtas(e, from), [&] { arrive(peerBarrier(e, barrier, e.i32(int64_t(target)))); });
  }
}

/// The barrier that copies of this CTA complete on: of the pair's leader where it arms for both.
FailureOr<Value> TaskLowering::completionBarrier(Operation &op, const LoweredPipeline &pipeline,
                                                 Value barrier) {
  proto::CtaGrid grid(pipeline.spec, kernel.cluster);
  if (grid.size() == 1)
    return barrier;
  bool own = true, pair = true;
  for (int64_t cta = 0; cta < grid.size(); ++cta) {
    int64_t at = proto::completionCta(pipeline.spec, grid, cta);
    own &= at == cta;
    pair &= at == grid.pairLeader(cta) && grid.pairSize() == 2;
  }
  if (own)
    return barrier;
  if (!pair)
    return emitUnsupported(&op) << "a copy whose bytes complete on the barrier of CTA 0 ('"
                                << pipeline.spec.name
                                << "'); the hardware reports bytes to the CTA that receives them "
                                   "or to the leader of its "
                                   "MMA pair";
  // The leader is the even rank of the pair, and bit 24 of a shared address is the rank's lowest.
  Emitter e = at(op);
  Value address = LLVM::PtrToIntOp::create(b, e.loc, b.getI32Type(), barrier);
  return LLVM::IntToPtrOp::create(b, e.loc, e.sharedPtr(), e.bitAnd(address, e.i32(0xFEFFFFFF)))
      .getResult();
}
