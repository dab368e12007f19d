// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value, what it is computed from, and what that is computed from, as a graph that is written
// from the value on: each node once, operands before users, numbered in the order of their first
// use. Loops make cycles: a value that is carried around one is a node with a first value and a
// next one, written behind what uses it. So the text says nothing of names, places and whatever
// else the loop or the task computes, and is as long as the computation, however often a value is
// used.
#include "ts/Analysis/Schedule/ValueStructure.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::ts;

static constexpr int kMaxNesting = 128;   // of operands that are not written yet
static constexpr size_t kMaxText = 16384; // a longer computation is not compared

bool mlir::ts::isOnlyRead(BlockArgument argument) {
  SmallVector<Value> work = {argument};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isa<memref::LoadOp, vector::LoadOp, memref::DimOp, CpAsyncOp, BulkLoadOp>(user))
        continue;
      if (!isa<ViewLikeOpInterface>(user))
        return false;
      llvm::append_range(work, user->getResults());
    }
  }
  return true;
}

namespace {
using Name = std::optional<std::string>;

class Writer {
public:
  explicit Writer(ValueEvaluator &evaluator) : evaluator(evaluator), out(result.text) {}

  std::optional<ValueStructure> write(Value value) {
    Name name = nameOf(value, 0);
    if (!name)
      return std::nullopt;
    out << "= " << *name << "\n";
    for (size_t i = 0; i < carried.size(); ++i) { // grows
      Carried value = carried[i];
      Name loop = loopName(value.loop), first = nameOf(value.first, 0),
           next = nameOf(value.next, 0);
      if (!loop || !first || !next)
        return std::nullopt;
      out << "carried " << i << " by " << *loop << ": " << *first << ", " << *next << "\n";
    }
    if (result.text.size() > kMaxText)
      return std::nullopt;
    return result;
  }

private:
  struct Carried {
    Operation *loop;
    Value first, next;
  };

  Name nameOf(Value value, int depth) {
    if (auto it = names.find(value); it != names.end())
      return it->second;
    if (depth > kMaxNesting || result.text.size() > kMaxText)
      return std::nullopt;
    Name name;
    if (auto number = value.getType().isIntOrIndex() ? evaluator.evaluate(value) : std::nullopt)
      name = std::to_string(*number);
    else if (auto arg = dyn_cast<BlockArgument>(value))
      name = argument(arg, depth);
    else
      name = resultOf(cast<OpResult>(value), depth);
    if (name)
      names[value] = *name;
    return name;
  }

  Name carry(BlockArgument arg, Operation *loop, Value first, Value next) {
    carried.push_back({loop, first, next});
    return names[arg] = "carried " + std::to_string(carried.size() - 1);
  }

  Name argument(BlockArgument arg, int depth) {
    Operation *parent = arg.getOwner()->getParentOp();
    unsigned index = arg.getArgNumber();
    if (isa_and_nonnull<KernelOp>(parent))
      return "argument " + std::to_string(index);
    if (auto tiles = dyn_cast_or_null<TileLoopOp>(parent)) {
      result.perTile = true;
      unsigned coords = tiles.getBody().getNumArguments() - unsigned(tiles.getInits().size());
      if (index < coords)
        return (getResourceName(tiles.getQueue()) + "[" + Twine(index) + "]").str();
      return carry(arg, tiles, tiles.getInits()[index - coords],
                   tiles.getBodyBlock().getTerminator()->getOperand(index - coords));
    }
    if (auto loop = dyn_cast_or_null<scf::ForOp>(parent)) {
      if (index > 0)
        return carry(arg, loop, loop.getInits()[index - 1], loop.getYieldedValues()[index - 1]);
      Name name = loopName(loop);
      return name ? Name("index of " + *name) : std::nullopt;
    }
    if (auto loop = dyn_cast_or_null<scf::WhileOp>(parent)) {
      if (arg.getOwner() == loop.getAfterBody()) // what the condition hands on
        return nameOf(loop.getConditionOp().getArgs()[index], depth + 1);
      return carry(arg, loop, loop.getInits()[index], loop.getYieldOp()->getOperand(index));
    }
    return std::nullopt; // a loop of the schedule
  }

  /// A loop is known by what decides how often it runs.
  Name loopName(Operation *loop) {
    if (auto it = loops.find(loop); it != loops.end())
      return it->second;
    std::string name = loops[loop] = "loop " + std::to_string(loops.size());
    std::string text;
    if (auto tiles = dyn_cast<TileLoopOp>(loop)) {
      text = "tiles of " + getResourceName(tiles.getQueue()).str();
    } else if (auto count = dyn_cast<scf::ForOp>(loop)) {
      Name lower = nameOf(count.getLowerBound(), 0), upper = nameOf(count.getUpperBound(), 0),
           step = nameOf(count.getStep(), 0);
      if (!lower || !upper || !step)
        return std::nullopt;
      text = (Twine(count.getUnsignedCmp() ? "unsigned " : "") + *lower + " to " + *upper +
              " step " + *step)
                 .str();
    } else {
      Name again = nameOf(cast<scf::WhileOp>(loop).getConditionOp().getCondition(), 0);
      if (!again)
        return std::nullopt;
      text = "while " + *again;
    }
    out << name << ": " << text << "\n";
    return name;
  }

  /// "%n", written as `text`.
  Name define(const Twine &text) {
    std::string name = "%" + std::to_string(defined++);
    out << name << ": " << text << "\n";
    return name;
  }

  Name resultOf(OpResult value, int depth) {
    Operation *op = value.getOwner();
    unsigned index = value.getResultNumber();
    if (isa<ProduceOp, ConsumeOp>(op)) { // the region runs in place
      auto yield =
          op->getRegion(0).empty() ? YieldOp() : dyn_cast<YieldOp>(op->getRegion(0).front().back());
      return yield && index < yield->getNumOperands() ? nameOf(yield->getOperand(index), depth + 1)
                                                      : std::nullopt;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Name condition = nameOf(branch.getCondition(), depth + 1),
           yes = nameOf(branch.thenYield()->getOperand(index), depth + 1),
           no = nameOf(branch.elseYield()->getOperand(index), depth + 1);
      return condition && yes && no ? define(*condition + " ? " + *yes + " : " + *no)
                                    : std::nullopt;
    }
    if (isa<scf::ForOp, scf::WhileOp>(op)) {
      auto loop = dyn_cast<scf::WhileOp>(op);
      Value last = loop ? loop.getConditionOp().getArgs()[index]
                        : cast<scf::ForOp>(op).getRegionIterArgs()[index];
      Name name = loopName(op), inside = nameOf(last, depth + 1);
      return name && inside ? define(*inside + " after " + *name) : std::nullopt;
    }
    return plain(value, depth);
  }

  /// The same operands give the same result, in whichever thread.
  Name plain(OpResult value, int depth) {
    Operation *op = value.getOwner();
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      auto array = dyn_cast<BlockArgument>(load.getMemref());
      if (!array || !isa_and_nonnull<KernelOp>(array.getOwner()->getParentOp()) ||
          !isOnlyRead(array))
        return std::nullopt;
    } else if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumRegions()) {
      return std::nullopt;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << op->getName().getStringRef() << "." << value.getResultNumber()
           << op->getAttrDictionary() << value.getType();
    for (Value operand : op->getOperands()) {
      Name name = nameOf(operand, depth + 1);
      if (!name)
        return std::nullopt;
      stream << " " << *name;
    }
    return define(text);
  }

  ValueEvaluator &evaluator;
  ValueStructure result;
  llvm::raw_string_ostream out;
  DenseMap<Value, std::string> names;
  DenseMap<Operation *, std::string> loops;
  SmallVector<Carried> carried;
  int defined = 0;
};
} // namespace

std::string ValueStructure::digest() const {
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true);
}

std::optional<ValueStructure> mlir::ts::structureOf(Value value, ValueEvaluator &evaluator) {
  return Writer(evaluator).write(value);
}
