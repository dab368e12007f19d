// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch manifest of a kernel: what the launcher has to pass and may rely on. Its format is
// docs/manifest.schema.json; reading it is ts/Runtime/Manifest.
#include "ScheduleLowering.h"

#include "ts/Analysis/Schedule/Values.h"
#include "ts/Dialect/TS/Transforms/Allocation.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ts;
namespace json = llvm::json;

/// Element types under the names the runtime uses ("bf16", "f8e4m3", "i32", "index").
static std::string typeName(Type type) {
  if (type.isIndex())
    return "index";
  if (isa<Float8E4M3FNType>(type))
    return "f8e4m3";
  if (isa<Float8E5M2Type>(type))
    return "f8e5m2";
  if (isa<Float8E8M0FNUType>(type))
    return "f8e8m0";
  if (isa<Float4E2M1FNType>(type))
    return "f4e2m1";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

namespace {
/// Whether a kernel argument is read and written, over all its uses through views, and the
/// alignment in bytes that copies of several elements want.
struct Uses {
  bool read = false, write = false;
  int64_t align = 1;
};
} // namespace

static constexpr int64_t kBulkAlignment = 16;

static Uses usesOf(Value value) {
  Uses uses;
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value v = work.pop_back_val();
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (auto store = dyn_cast<TmaStoreOp>(user)) {
        uses.write = true;
        uses.read |= store.getReduce().has_value();
      } else if (isa<TmaLoadOp, TmaPrefetchOp>(user)) {
        uses.read = true;
      } else if (auto store = dyn_cast<BulkStoreOp>(user)) {
        (store.getDst() == v ? uses.write : uses.read) = true;
        uses.align = std::max(uses.align, kBulkAlignment);
      } else if (isa<BulkLoadOp>(user)) {
        uses.read = true;
        uses.align = std::max(uses.align, kBulkAlignment);
      } else if (auto copy = dyn_cast<CpAsyncOp>(user)) {
        uses.read = true;
        uses.align = std::max<int64_t>(uses.align, copy.getBytes());
      } else if (auto effects = dyn_cast<MemoryEffectOpInterface>(user);
                 effects && !isa<TSDialect>(user->getDialect())) {
        uses.write |= effects.getEffectOnValue<MemoryEffects::Write>(v).has_value();
        uses.read |= effects.getEffectOnValue<MemoryEffects::Read>(v).has_value();
        // What a vector.store or memref.load promises of its address holds for the first element
        // too.
        if (auto promised = user->getAttrOfType<IntegerAttr>("alignment"))
          uses.align = std::max(uses.align, promised.getInt());
        if (isa<ViewLikeOpInterface>(user))
          llvm::append_range(work, user->getResults());
      } else {
        uses.read = true;
      }
    }
  }
  return uses;
}

/// Arguments n of which a loop runs n + 1 times or the like: the proof holds where they are not
/// negative. (n trips of a negative n are none, and need no such rule.)
static llvm::StringSet<> countedFromZero(KernelOp kernel) {
  llvm::StringSet<> result;
  kernel.walk([&](TaskOp task) {
    ValueEvaluator values({std::nullopt, std::nullopt, 0});
    task.walk([&](ForOp loop) {
      auto lower = values.bound(loop.getLower()), upper = values.bound(loop.getUpper());
      if (upper.kind == ::ts::schedule::Bound::Kind::Argument && needsNoNegative(upper, lower))
        result.insert(upper.symbol);
    });
  });
  return result;
}

static StringRef accessName(Uses uses) {
  if (uses.write)
    return uses.read ? "readwrite" : "write";
  return "read";
}

static std::string location(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  return "";
}

std::string mlir::ts::manifestOf(KernelOp kernel, int64_t threads) {
  json::Array args, params, grid, events;
  json::Object minTrips;
  auto names = llvm::to_vector(kernel.getArgNames().getAsValueRange<StringAttr>());
  auto exprs = llvm::to_vector(kernel.getArgExprs().getAsValueRange<StringAttr>());
  llvm::StringSet<> fromZero = countedFromZero(kernel);
  for (auto [i, arg] : llvm::enumerate(kernel.getBody().getArguments())) {
    StringRef name = names[i];
    Type type = arg.getType();
    auto value = [&](const Twine &expr) {
      params.push_back(json::Object{{"kind", "value"}, {"type", "i64"}, {"value", expr.str()}});
    };
    if (auto map = dyn_cast<TensorMapType>(type)) {
      SmallVector<int64_t> strides(map.getElementStrides());
      if (strides.empty())
        strides.assign(map.getRank(), 1);
      json::Object entry{{"name", name},
                         {"kind", "tensor_map"},
                         {"element", typeName(map.getElementType())},
                         {"rank", map.getRank()},
                         {"box", json::Array(map.getBox())},
                         {"swizzle", int64_t(map.getSwizzle())},
                         {"interleave", int64_t(map.getInterleave())},
                         {"element_strides", json::Array(strides)},
                         {"fill", stringifyTensorMapFill(map.getFill())},
                         {"l2_promotion", int64_t(map.getL2Promotion())},
                         {"access", accessName(usesOf(arg))}};
      if (llvm::any_of(arg.getUsers(), [](Operation *user) {
            auto load = dyn_cast<TmaLoadOp>(user);
            return load && isPadded(load.getDst().getType());
          }))
        entry["padded"] = true;
      args.push_back(std::move(entry));
      params.push_back(json::Object{{"kind", "tensor_map"}, {"arg", name}});
    } else if (auto memref = dyn_cast<MemRefType>(type)) {
      Uses uses = usesOf(arg);
      Type element = memref.getElementType();
      int64_t bytes = element.isIndex() ? 8 : std::max(1u, element.getIntOrFloatBitWidth() / 8);
      args.push_back(json::Object{{"name", name},
                                  {"kind", "buffer"},
                                  // A truth value in memory is a byte that is 0 or 1.
                                  {"element", element.isInteger(1) ? "i8"
                                              : element.isIndex()  ? "i64"
                                                                   : typeName(element)},
                                  {"rank", memref.getRank()},
                                  {"access", accessName(uses)},
                                  {"align", std::max(bytes, uses.align)}});
      params.push_back(json::Object{{"kind", "pointer"}, {"arg", name}});
      for (int64_t d = 0; d < memref.getRank(); ++d)
        if (memref.isDynamicDim(d))
          value("dim(" + name + ", " + Twine(d) + ")");
      SmallVector<int64_t> strides;
      int64_t offset;
      (void)memref.getStridesAndOffset(strides, offset);
      if (!memref.getLayout().isIdentity())
        for (auto [d, stride] : llvm::enumerate(strides))
          if (ShapedType::isDynamic(stride))
            value("stride(" + name + ", " + Twine(d) + ")");
    } else {
      json::Object entry{{"name", name}, {"kind", "scalar"}, {"type", typeName(type)}};
      if (!exprs[i].empty())
        entry["value"] = exprs[i];
      args.push_back(std::move(entry));
      params.push_back(json::Object{
          {"kind", "value"}, {"type", type.isIndex() ? "i64" : typeName(type)}, {"value", name}});
    }
    if (kernel.getArgMins()[i] || fromZero.contains(name))
      minTrips[name] = kernel.getArgMins()[i];
  }

  for (StringRef expr : kernel.getGrid().getAsValueRange<StringAttr>())
    grid.push_back(expr);
  if (grid.empty()) {
    // A persistent kernel takes every SM, but no more clusters than tiles; with cluster launch
    // control, a cluster per tile, of which the running ones take over; without a queue, one
    // cluster.
    std::string tiles;
    bool dynamic = false;
    kernel.getBody().walk([&](WorkQueueOp queue) {
      if (!tiles.empty())
        return;
      dynamic = queue.getKind() == QueueKind::Clc;
      for (Value count : queue.getTiles()) {
        std::string text;
        APInt constant;
        if (auto arg = dyn_cast<BlockArgument>(count))
          text = names[arg.getArgNumber()].str();
        else if (auto op = count.getDefiningOp<arith::ConstantOp>())
          text = std::to_string(cast<IntegerAttr>(op.getValue()).getInt());
        tiles += (tiles.empty() ? "" : " * ") + (text.empty() ? "sms()" : text);
      }
    });
    ArrayRef<int64_t> shape = kernel.getCluster();
    std::string room = kernel.getClusterSize() == 1
                           ? "sms()"
                           : "max(1, div(sms(), " + std::to_string(kernel.getClusterSize()) + "))";
    std::string clusters = tiles.empty() ? "1"
                           : dynamic     ? tiles
                                         : "min(" + tiles + ", " + room + ")";
    if (shape.size() == 3 && kernel.getClusterSize() > 1) {
      grid.push_back(std::to_string(shape[0]) + " * " + clusters);
      grid.push_back(std::to_string(shape[1]));
      grid.push_back(std::to_string(shape[2]));
    } else {
      grid.push_back(clusters);
    }
  }
  while (grid.size() < 3)
    grid.push_back("1");

  bool pdl = false;
  kernel.getBody().walk([&](Operation *op) {
    pdl |= isa<PdlOp>(op);
    StringRef what = llvm::TypeSwitch<Operation *, StringRef>(op)
                         .Case<AcquireOp>([](auto) { return "acquire"; })
                         .Case<CommitOp>([](auto) { return "commit"; })
                         .Case<WaitOp>([](auto) { return "wait"; })
                         .Case<ReleaseOp>([](auto) { return "release"; })
                         .Default([](Operation *) { return ""; });
    if (what.empty())
      return;
    auto task = op->getParentOfType<TaskOp>();
    std::string at = location(op->getLoc());
    events.push_back(json::Object{{"label", at},
                                  {"op", what},
                                  {"resource", getResourceName(op->getOperand(0))},
                                  {"task", task ? task.getName() : StringRef()},
                                  {"loc", at}});
  });
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kSmemBytesAttr);
  json::Object root{{"name", kernel.getSymName()},
                    {"arch", kernel.getChip()},
                    {"args", std::move(args)},
                    {"params", std::move(params)},
                    {"grid", std::move(grid)},
                    {"block", json::Array{threads, 1, 1}},
                    {"cluster", json::Array(kernel.getCluster())},
                    {"dynamic_smem", bytes ? bytes.getInt() : 0},
                    {"pdl", pdl},
                    {"min_trips", std::move(minTrips)},
                    {"events", std::move(events)}};
  std::string text;
  llvm::raw_string_ostream os(text);
  os << json::Value(std::move(root));
  return text;
}
