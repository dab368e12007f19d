// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "ts/Analysis/Reports/Collect.h"

#include "ts/Analysis/Schedule/Builder.h"
#include "ts/Analysis/Schedule/ProtocolQueries.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;
namespace reports = ::ts::reports;
namespace protocol = ::ts::protocol;
namespace schedule = ::ts::schedule;

reports::Place mlir::ts::reportPlace(Location location) {
  reports::Place place;
  if (auto file = location->findInstanceOf<FileLineColLoc>()) {
    place.file = file.getFilename().str();
    place.line = file.getLine();
    place.column = file.getColumn();
  }
  return place;
}

//===-- Memory and threads -------------------------------------------------------------------===//

static const char *kindName(PlacementKind kind) {
  switch (kind) {
  case PlacementKind::Data:
    return "data";
  case PlacementKind::FullBarriers:
    return "full barriers";
  case PlacementKind::EmptyBarriers:
    return "empty barriers";
  case PlacementKind::Responses:
    return "queue responses";
  case PlacementKind::Mbarrier:
    return "mbarrier";
  case PlacementKind::TmemSlot:
    return "tensor memory address";
  }
  llvm_unreachable("covered above");
}

static reports::MemoryMap collectMemory(KernelOp kernel) {
  AllocationPlan plan = planAllocation(kernel);
  reports::MemoryMap map;
  map.valid = plan.valid;
  map.smemBytes = plan.smemBytes;
  map.smemLimit = plan.smemLimit;
  map.tmemUsed = plan.tmemUsed;
  map.tmemColumns = plan.tmemColumns;
  map.tmemLimit = plan.tmemLimit;
  for (const Placement &placement : plan.placements) {
    reports::MemoryItem item;
    item.name = placement.name;
    item.kind = kindName(placement.kind);
    item.tmem = placement.tmem;
    item.pinned = placement.pinned;
    item.offset = placement.offset;
    item.size = placement.size;
    item.stride = placement.stride;
    item.stages = placement.stages;
    item.extent = placement.getExtent();
    item.align = placement.align;
    if (auto group = dyn_cast_or_null<AliasGroupOp>(placement.aliasGroup)) {
      item.aliasGroup = group.getName().str();
      item.phase = placement.phase;
    }
    map.items.push_back(std::move(item));
  }
  return map;
}

//===-- Barriers -----------------------------------------------------------------------------===//

static void collectBarriers(const ScheduleModel &model, reports::KernelInput &input) {
  const schedule::Kernel &kernel = model.kernel;
  auto add = [&](int resource, int64_t stages, const protocol::ExpectedCounts &counts, bool full,
                 bool empty, bool bytes) {
    if (full) {
      reports::BarrierUse use{resource, protocol::Barrier::Full, stages, counts.fullArrivals, {}};
      if (bytes)
        use.bytes = counts.fullBytes;
      input.barriers.push_back(std::move(use));
    }
    if (empty)
      input.barriers.push_back(
          {resource, protocol::Barrier::Empty, stages, counts.emptyArrivals, {}});
  };
  for (size_t index = 0; index < kernel.resources.size(); ++index) {
    const schedule::Resource &resource = kernel.resources[index];
    Operation *op = model.opAt(resource.loc);
    if (!resource.pipeline || resource.group >= 0 || op->getNumResults() != 1)
      continue;
    if (auto group = dyn_cast<PipelineGroupOp>(op)) {
      protocol::GroupCounts counts = expectedCounts(groupSpecOf(group), kernel.cluster);
      bool fullShared = sharesBarrier(resource.mode, protocol::Barrier::Full);
      bool emptyShared = sharesBarrier(resource.mode, protocol::Barrier::Empty);
      bool bytes = false;
      for (size_t i = 0; i < resource.members.size() && i < counts.members.size(); ++i) {
        int number = resource.members[i];
        const auto &spec = kernel.resources[size_t(number)].pipeline;
        if (!spec)
          continue;
        bytes |= countsBytes(spec->type);
        add(number, spec->stages, counts.members[i], !fullShared, !emptyShared,
            countsBytes(spec->type));
      }
      add(int(index), resource.pipeline->stages, counts.shared, fullShared, emptyShared, bytes);
      continue;
    }
    Value value = op->getResult(0);
    add(int(index), resource.pipeline->stages,
        expectedCounts(resolvedSpecOf(value), kernel.cluster, participantsOf(value)), true, true,
        countsBytes(resource.pipeline->type));
  }
}

//===-- Amounts ------------------------------------------------------------------------------===//

static int64_t vectorBytes(Type type) {
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.getElementType().isIntOrFloat())
    return vector.getNumElements() * vector.getElementTypeBitWidth() / 8;
  return type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

static reports::Amount amountOf(Operation *op) {
  constexpr int64_t lanes = 32, wgmmaRows = 64;
  reports::Amount amount;
  llvm::TypeSwitch<Operation *>(op)
      // rows x (columns x depth x bytes of an element): the bracket is the size of B. With two
      // CTAs, each has half of B and half of the rows, and multiplies with all of B.
      .Case([&](UmmaOp mma) {
        auto d = cast<MemRefType>(mma.getD().getType());
        if (d.getRank() >= 2)
          amount.matrix = double(d.getDimSize(d.getRank() - 2)) *
                          double(getBytes(cast<MemRefType>(mma.getB().getType()))) *
                          double(mma.getCtaGroup());
      })
      .Case([&](WgmmaOp mma) {
        auto task = op->getParentOfType<TaskOp>();
        int64_t groups = task ? std::max<int64_t>(task.getWarpsPerReplica() / 4, 1) : 1;
        amount.matrix =
            double(wgmmaRows * groups) * double(getBytes(cast<MemRefType>(mma.getB().getType())));
      })
      .Case<TmaStoreOp, BulkStoreOp>(
          [&](auto store) { amount.bytes = getBytes(cast<MemRefType>(store.getSrc().getType())); })
      .Case([&](FragmentStoreOp store) {
        amount.bytes = getBytes(cast<MemRefType>(store.getDst().getType()));
      })
      .Case([&](TmemLoadOp load) {
        Type type = load.getResult().getType();
        if (auto async = dyn_cast<AsyncType>(type))
          type = async.getValueType();
        amount.columns = (vectorBytes(type) + 3) / 4;
      })
      .Case([&](TmemStoreOp store) {
        amount.columns = (vectorBytes(store.getValue().getType()) + 3) / 4;
      })
      .Case<vector::StoreOp>([&](auto store) {
        amount.bytes = lanes * vectorBytes(store.getValueToStore().getType());
      })
      .Case<memref::StoreOp>([&](auto store) {
        amount.bytes = lanes * vectorBytes(store.getValueToStore().getType());
      })
      .Case<vector::LoadOp, memref::LoadOp>(
          [&](auto load) { amount.bytes = lanes * vectorBytes(load.getResult().getType()); });
  return amount;
}

//===-- All of it ----------------------------------------------------------------------------===//

std::optional<reports::KernelInput> mlir::ts::collectReport(KernelOp kernel) {
  // The verifier tells what is wrong; here it only means that a part is missing.
  ScopedDiagnosticHandler silence(kernel.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<ScheduleModel> model = buildSchedule(kernel);
  if (failed(model))
    return std::nullopt;
  reports::KernelInput input;
  for (Operation *op : model->places)
    input.places.push_back(reportPlace(op->getLoc()));
  for (size_t loc = 0; loc < model->places.size(); ++loc)
    if (reports::Amount amount = amountOf(model->places[loc]);
        amount.matrix > 0 || amount.bytes >= 0 || amount.columns >= 0)
      input.amounts[schedule::LocId(loc)] = amount;
  collectBarriers(*model, input);
  input.memory = collectMemory(kernel);
  WarpPlan warps = planWarps(kernel);
  input.warps.launchWarps = warps.launchWarps;
  input.warps.registers.assign(warps.registers.begin(), warps.registers.end());
  input.kernel = std::move(model->kernel);
  return input;
}
