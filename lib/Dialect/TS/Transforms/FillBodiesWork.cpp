// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-fill-bodies, one body: what each engine does to perform an access, and the comparison of what
// threads read. The products of the matrix engine are in FillBodiesMatrix.cpp.
#include "FillBodies.h"

#include "ts/Dialect/TS/IR/HardwareLimits.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::fill;
namespace proto = ::ts::protocol;

static constexpr int64_t kWordBytes = 4;
static constexpr int64_t kMaxBox = 256; // elements in one dimension of a TMA box
static constexpr int64_t kLoadColumns = 32;

BodyWriter::BodyWriter(TaskFiller &task, const Ring &ring, Operation *op)
    : b(op->getLoc(), op->getContext()), task(task), kernel(task.kernel), ring(ring), op(op),
      side(isa<ProduceOp>(op) ? proto::Side::Producer : proto::Side::Consumer) {
  body = &op->getRegion(0).emplaceBlock();
  ResourceOp def = ring.op;
  if (def && !op->hasAttr("aux"))
    for (Type type : def.getViewTypes())
      body->addArgument(type, op->getLoc());
  b.setInsertionPointToEnd(body);
}

Value BodyWriter::index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
Value BodyWriter::i32(int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
}

LogicalResult BodyWriter::refuse(const Twine &why) {
  return op->emitError("[TS404] ts-fill-bodies cannot give \"")
         << op->getAttrOfType<StringAttr>("label").getValue() << "\" of '"
         << getResourceName(op->getOperand(0)) << "' a body: " << why;
}

/// `byCta[rank]` of the CTA that executes the body.
Value BodyWriter::ofThisCta(ArrayRef<int64_t> byCta, Type type) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  Value result = number(byCta[0]);
  if (llvm::all_equal(byCta))
    return result;
  Value rank = InfoOp::create(b, b.getIndexType(), InfoKind::CtaRank);
  for (size_t cta = 1; cta < byCta.size(); ++cta) {
    Value here = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank, index(int64_t(cta)));
    result = arith::SelectOp::create(b, here, number(byCta[cta]), result);
  }
  return result;
}

/// `shape` elements of a byte array from `offset`.
Value BodyWriter::bytes(Value view, Value offset, ArrayRef<int64_t> shape, Type element) {
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                              cast<MemRefType>(view.getType()).getMemorySpace());
  return memref::ViewOp::create(b, type, view, offset, ValueRange());
}

//===-- Patterns -----------------------------------------------------------------------------===//

Value BodyWriter::row() {
  if (rowValue)
    return rowValue;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(body);
  if (!ring.spec) {
    rowValue = i32(ring.index % kPatterns);
    return rowValue;
  }
  // slot = generation * stages + stage; which stage it is, the lowering says.
  Counter counter = task.counterOf(ring, side);
  Value count =
      counter.slot ? Value(LLVM::LoadOp::create(b, b.getI32Type(), counter.slot)) : i32(0);
  Value generation = arith::DivSIOp::create(b, count, i32(counter.perGeneration));
  Value stage = InfoOp::create(b, b.getI32Type(), InfoKind::Stage);
  Value slot =
      arith::AddIOp::create(b, arith::MulIOp::create(b, generation, i32(ring.spec->stages)), stage);
  Value shifted = arith::AddIOp::create(b, slot, i32(5 * ring.index));
  rowValue = arith::AndIOp::create(b, shifted, i32(kPatterns - 1));
  return rowValue;
}

Value BodyWriter::expected() {
  if (wordValue)
    return wordValue;
  Value number = row();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(number);
  wordValue = arith::MulIOp::create(b, arith::AddIOp::create(b, number, i32(1)), i32(0x01010101));
  return wordValue;
}

/// Notes the first byte that was found in the report; the highest word of all threads stays.
void BodyWriter::complain(Value wrong, Value found) {
  if (id < 0)
    id = kernel.nextReport();
  Value bad = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, wrong, i32(0));
  auto branch = scf::IfOp::create(b, bad, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value wanted = arith::ShLIOp::create(b, arith::AddIOp::create(b, row(), i32(1)), i32(8));
  Value code = arith::OrIOp::create(
      b, arith::OrIOp::create(b, wanted, arith::AndIOp::create(b, found, i32(0xff))), i32(1 << 16));
  memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::maxu, code, kernel.report(),
                              ValueRange(index(id)));
}

//===-- Threads ------------------------------------------------------------------------------===//

/// The thread's own pieces of a part of a stage: stored, filled by cp.async, or compared.
void BodyWriter::copyLine(Value view, const Access &access, bool asynchronous) {
  int64_t unit = access.size % kBulkGranularity == 0 && access.offset % kBulkGranularity == 0
                     ? kBulkGranularity
                 : access.size % kWordBytes == 0 && access.offset % kWordBytes == 0 ? kWordBytes
                                                                                    : 1;
  bool own = task.lanePerWarp(ring, side);
  int64_t together = own ? kWarpSize : task.task.getWarpsPerReplica() * kWarpSize;
  Value thread = InfoOp::create(b, b.getIndexType(), own ? InfoKind::Lane : InfoKind::Thread);
  // Tasks that write one stage between them share it by threads.
  bool lanes = ring.spec && ring.spec->stride(side == proto::Side::Producer ? proto::Op::Acquire
                                                                            : proto::Op::Wait) > 1;
  if (access.write && !lanes && ring.writers.size() > 1) {
    int64_t before = 0, all = 0;
    for (TaskOp writer : ring.writers) {
      if (writer == task.task)
        before = all;
      all += int64_t(writer.getNumWarps()) * kWarpSize;
    }
    if (task.task.getReplicas() > 1) {
      Value replica = InfoOp::create(b, b.getIndexType(), InfoKind::Replica);
      thread = arith::AddIOp::create(b, thread, arith::MulIOp::create(b, replica, index(together)));
    }
    thread = arith::AddIOp::create(b, thread, index(before));
    together = all;
  }
  Type element = unit == 1 ? Type(b.getI8Type()) : Type(b.getI32Type());
  int64_t width = unit == 1 ? 1 : kWordBytes, count = unit / width;
  auto vector = VectorType::get({count}, element);
  Value part = bytes(view, index(access.offset), {access.size / width}, element);
  Value word = !access.write && !checked ? Value() : expected();
  if (word && unit == 1)
    word = arith::TruncIOp::create(b, element, word);
  Value splat = word ? Value(vector::BroadcastOp::create(b, vector, word)) : Value();
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vector));
  SmallVector<Value> inits;
  if (!access.write)
    inits = {zero, zero};
  auto loop = scf::ForOp::create(b, arith::MulIOp::create(b, thread, index(count)),
                                 index(access.size / width), index(together * count), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    if (asynchronous) {
      Value byte = arith::AddIOp::create(b, arith::MulIOp::create(b, at, index(width)),
                                         index(access.offset));
      Value line = arith::IndexCastOp::create(b, b.getIndexType(), row());
      CpAsyncOp::create(b, kernel.lines(), ValueRange{line, index(0)}, view, ValueRange{byte},
                        uint64_t(unit), Value());
    } else if (access.write) {
      vector::StoreOp::create(b, splat, part, ValueRange(at));
    } else {
      Value loaded = vector::LoadOp::create(b, vector, part, ValueRange(at));
      Value wrong = loop.getRegionIterArg(0);
      if (splat)
        wrong = arith::OrIOp::create(b, wrong, arith::XOrIOp::create(b, loaded, splat));
      else // read all the same
        wrong = arith::XOrIOp::create(b, wrong, loaded);
      Value found = arith::OrIOp::create(b, loop.getRegionIterArg(1), loaded);
      scf::YieldOp::create(b, ValueRange{wrong, found});
    }
    if (access.write && !loop.getBody()->mightHaveTerminator())
      scf::YieldOp::create(b);
  }
  if (access.write)
    return;
  auto reduce = [&](Value values) {
    Value result = vector::ReductionOp::create(b, vector::CombiningKind::OR, values);
    return unit == 1 ? Value(arith::ExtUIOp::create(b, b.getI32Type(), result)) : result;
  };
  Value wrong = reduce(loop.getResult(0));
  if (!splat) {
    // Nothing to compare with: a word that no pattern makes keeps the loads alive.
    Value never = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, wrong, i32(0x7f0055aa));
    wrong = arith::ExtUIOp::create(b, b.getI32Type(), never);
  }
  complain(wrong, reduce(loop.getResult(1)));
}

LogicalResult BodyWriter::tensorMemory(const Access &access, Value view) {
  auto type = cast<MemRefType>(view.getType());
  int64_t columns = type.getDimSize(1), step = kLoadColumns;
  while (columns % step)
    step /= 2;
  auto vector = VectorType::get({step}, b.getI32Type());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vector));
  Value splat;
  if (access.write || checked)
    splat = vector::BroadcastOp::create(b, vector, expected());
  SmallVector<Value> inits;
  if (!access.write)
    inits = {zero, zero};
  auto loop = scf::ForOp::create(b, index(0), index(columns), index(step), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    if (access.write) {
      TmemStoreOp::create(b, splat, view, at);
    } else {
      Value loaded = TmemLoadOp::create(b, vector, view, at);
      // A product makes all columns equal, but which value it has no slot says.
      Value first =
          vector::BroadcastOp::create(b, vector, vector::ExtractOp::create(b, loaded, int64_t(0)));
      Value differs = arith::XOrIOp::create(b, loaded, splat ? splat : first);
      scf::YieldOp::create(b,
                           ValueRange{arith::OrIOp::create(b, loop.getRegionIterArg(0), differs),
                                      arith::OrIOp::create(b, loop.getRegionIterArg(1), loaded)});
    }
    if (access.write && !loop.getBody()->mightHaveTerminator())
      scf::YieldOp::create(b);
  }
  if (access.write)
    return success();
  auto reduce = [&](Value values) {
    return vector::ReductionOp::create(b, vector::CombiningKind::OR, values);
  };
  complain(reduce(loop.getResult(0)), reduce(loop.getResult(1)));
  return success();
}

//===-- Copies -------------------------------------------------------------------------------===//

LogicalResult BodyWriter::copyByTma(const Access &access) {
  if (access.size % kBulkGranularity || access.offset % kTmaSmemAlignment)
    return refuse("TMA copies multiples of 16 bytes to multiples of 128, here " +
                  Twine(access.size) + " bytes to byte " + Twine(access.offset) + " of '" +
                  ring.alloc(access.alloc).getName() + "'");
  if (!ring.spec)
    return refuse("a copy completes on the full barrier of a pipeline, and '" +
                  getResourceName(op->getOperand(0)) + "' has none");
  proto::CtaGrid grid(*ring.spec, kernel.getCluster());
  // Every warp issues its share, also where one arms for all: a warp that waits for a stage without
  // filling it is tied to nothing and may fall a lap behind.
  int64_t peers = kernel.peersOf(ring, access.multicast);
  int64_t warps = task.task.getWarpsPerReplica(), size = access.size / peers;
  bool own = task.lanePerWarp(ring, side);
  bool shared = warps > 1 && !own && size % (warps * kTmaSmemAlignment) == 0;
  Value warp;
  if (warps > 1 && !own)
    warp = InfoOp::create(b, b.getIndexType(), InfoKind::Warp);
  Value base = index(access.offset), mask;
  if (peers > 1) {
    if (size % kTmaSmemAlignment)
      return refuse("each of " + Twine(peers) + " CTAs would bring " + Twine(size) + " bytes of '" +
                    ring.alloc(access.alloc).getName() +
                    "' to all of them, no multiple of 128 (PTX ISA 8.8, cp.async.bulk.tensor)");
    // This CTA's part is the one of its number among its peers.
    SmallVector<int64_t> parts, masks;
    for (int64_t cta = 0; cta < grid.size(); ++cta) {
      uint64_t reached = grid.peers(cta, access.multicast);
      masks.push_back(int16_t(reached));
      parts.push_back(size * llvm::popcount(reached & ((uint64_t(1) << cta) - 1)));
    }
    base = arith::AddIOp::create(b, base, ofThisCta(parts, b.getIndexType()));
    mask = ofThisCta(masks, b.getI16Type());
  }
  if (shared) {
    size /= warps;
    base = arith::AddIOp::create(b, base, arith::MulIOp::create(b, warp, index(size)));
  }
  OpBuilder::InsertionGuard guard(b);
  Value number = row();
  if (warp && !shared) {
    Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warp, index(0));
    auto branch = scf::IfOp::create(b, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  bool pair = grid.pairSize() == 2 && proto::consumerKind(ring.spec->type) == proto::SideKind::Umma;
  number = arith::IndexCastOp::create(b, b.getIndexType(), number);
  for (int64_t done = 0; done < size;) {
    int64_t rest = size - done, width = std::min(rest, kMaxBox);
    while (rest % width || width % kBulkGranularity)
      --width;
    int64_t rows = std::min(rest / width, kMaxBox);
    Value at = arith::AddIOp::create(b, base, index(done));
    Value tile = bytes(body->getArgument(access.alloc), at, {rows, width}, b.getI8Type());
    Value first = arith::MulIOp::create(b, number, index(rows));
    TmaLoadOp::create(b, kernel.table(rows, width), ValueRange{first, index(0)}, tile, mask,
                      ValueRange(), Value(), uint64_t(pair ? 2 : 1), StringAttr());
    done += rows * width;
  }
  return success();
}

/// Copies the bytes out, to memory that nobody reads, and waits until they are read.
LogicalResult BodyWriter::storeByBulk(const Access &access) {
  if (access.size % kBulkGranularity || access.offset % kBulkGranularity)
    return refuse("bulk copies take multiples of 16 bytes, here " + Twine(access.size) +
                  " bytes at " + Twine(access.offset));
  OpBuilder::InsertionGuard guard(b);
  if (task.task.getWarpsPerReplica() > 1 && !task.lanePerWarp(ring, side)) {
    Value warp = InfoOp::create(b, b.getIndexType(), InfoKind::Warp);
    Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warp, index(0));
    auto branch = scf::IfOp::create(b, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  Value part =
      bytes(body->getArgument(access.alloc), index(access.offset), {access.size}, b.getI8Type());
  BulkStoreOp::create(b, part, kernel.sink(), ValueRange(index(0)));
  BulkCommitOp::create(b);
  BulkWaitOp::create(b, uint64_t(0), /*read=*/true);
  return success();
}

//===-- Bodies -------------------------------------------------------------------------------===//

LogicalResult BodyWriter::access(const Access &access, ArrayRef<Value> operands) {
  Value view = body->getArgument(access.alloc);
  auto type = cast<MemRefType>(view.getType());
  bool tmem = isTmem(type);
  if (!type.getElementType().isInteger(tmem ? 32 : 8) || getSwizzle(type))
    return refuse("other calls of '" + getResourceName(op->getOperand(0)) + "' have bodies, so '" +
                  ring.alloc(access.alloc).getName() +
                  "' cannot be seen as plain bytes; fill all calls or none");
  switch (access.engine) {
  case proto::EngineGeneric:
    copyLine(view, access, /*asynchronous=*/false);
    return success();
  case proto::EngineCpAsync:
    if (tmem || access.size % kBulkGranularity || access.offset % kBulkGranularity)
      return refuse("cp.async fills shared memory in pieces of 16 bytes, found " +
                    Twine(access.size) + " bytes at " + Twine(access.offset));
    copyLine(view, access, /*asynchronous=*/true);
    return success();
  case proto::EngineTma:
    if (access.write && !tmem)
      return copyByTma(access);
    if (tmem)
      return refuse("TMA does not reach tensor memory");
    return storeByBulk(access);
  case proto::EngineTmemLoad:
  case proto::EngineTmemStore:
    if (task.task.getWarpsPerReplica() % 4)
      kernel.remark(op, "its warps reach only their own quarters of tensor memory");
    return tensorMemory(access, view);
  case proto::EngineUmma:
    if (access.write && tmem)
      return multiply(view, operands);
    if (access.write)
      kernel.remark(op, "products end in tensor memory, so '" + ring.alloc(access.alloc).getName() +
                            "' is not written");
    return success();
  case proto::EngineUtccp:
    if (access.write && tmem)
      return copyToTensorMemory(view, operands);
    return success();
  case proto::EngineWgmma:
    if (access.write || tmem)
      return refuse("wgmma reads shared memory and writes registers");
    kernel.remark(op, "read by threads, not by wgmma, whose tiles the declaration does not give");
    copyLine(view, access, /*asynchronous=*/false);
    return success();
  case proto::EngineClc:
    return success(); // ts.fetch_tile
  }
  return success();
}

void BodyWriter::readByThreads(ArrayRef<Access> accesses) {
  OpBuilder::InsertionGuard guard(b);
  // The products of a pair of CTAs are its leader's, and so is this read.
  if (kernel.ctasPerMma() > 1) {
    Value rank = InfoOp::create(b, b.getIndexType(), InfoKind::CtaRank);
    Value odd = arith::RemUIOp::create(b, rank, index(kernel.ctasPerMma()));
    Value leads = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, odd, index(0));
    auto branch = scf::IfOp::create(b, leads, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  int64_t at = 0;
  for (Access part : accesses) {
    Value view = body->getArgument(part.alloc);
    int64_t filled = std::clamp<int64_t>(ring.written - at, 0, part.size);
    at += part.size;
    part.size = filled;
    if (!part.write && part.size && !isTmem(view.getType()))
      copyLine(view, part, /*asynchronous=*/false);
  }
}

/// With accesses: performs them. Without: an empty body that yields the zeros and `operands`.
LogicalResult BodyWriter::write(ArrayRef<Access> accesses, ArrayRef<Value> operands) {
  checked = ring.spec && !ring.partly && side == proto::Side::Consumer &&
            proto::producerKind(ring.spec->type) != proto::SideKind::Umma;
  int64_t at = 0;
  for (Access part : accesses) {
    bool read =
        !part.write && (part.engine == proto::EngineGeneric || part.engine == proto::EngineWgmma);
    // Bytes that no copy fills are not compared, hence not read either: they have no contents.
    if (read && checked && at + part.size > ring.written) {
      kernel.remark(op, "bytes from " + Twine(ring.written) +
                            " of the stage are never filled and not read");
      part.size = std::max<int64_t>(0, ring.written - at);
    }
    at += part.size;
    // No product fills shared memory: it is the consumer's own, which writes it first.
    if (read && ring.spec && !checked && !ring.partly) {
      Access fill = part;
      fill.write = true;
      if (failed(access(fill, operands)))
        return failure();
      checked = true;
      LogicalResult compared = access(part, operands);
      checked = false;
      if (failed(compared))
        return failure();
      continue;
    }
    if (part.size && failed(access(part, operands)))
      return failure();
  }
  SmallVector<Value> results;
  size_t passed = accesses.empty() ? operands.size() : 0;
  for (Type type : llvm::drop_end(op->getResultTypes(), passed)) {
    TypedAttr zero = b.getZeroAttr(type);
    if (!zero)
      return refuse("its result has type " + [&] {
        std::string text;
        llvm::raw_string_ostream(text) << type;
        return text;
      }() + ", for which there is no value to give; return numbers");
    results.push_back(arith::ConstantOp::create(b, zero));
  }
  if (passed)
    llvm::append_range(results, operands);
  YieldOp::create(b, results);
  op->removeAttr("bytes");
  op->removeAttr("effects");
  return success();
}
