// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of register tiles, ldmatrix and stmatrix, and the syntax of ts.fragment_map. Products
// of tiles are in TSMatrixOps.cpp.
#include "ts/Dialect/TS/IR/HardwareLimits.h"
#include "ts/Dialect/TS/IR/MatrixTile.h"
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::ts;

static LogicalResult checkSmem(Operation *op, Type type, StringRef what) {
  if (isSmem(type))
    return success();
  return op->emitOpError() << what << " lies in shared memory (#ts.smem), found " << type;
}

//===-- fragment_map, fragment_reduce --------------------------------------------------------===//

/// Of an input of ts.fragment_map, the type of one element; null where it can be no input.
static Type elementOfInput(Type type) {
  if (auto fragment = dyn_cast<FragmentType>(type))
    return fragment.getElementType();
  auto rows = dyn_cast<VectorType>(type);
  bool fits = rows && !rows.isScalable() && rows.getShape() == ArrayRef<int64_t>{kRowsPerThread};
  return fits ? rows.getElementType() : Type();
}

// ts.fragment_map %f, %rows (%x, %y) at (%i, %j) : type(f), type(rows) -> type { ... }
// The types stand before the region because they give the types of its arguments.
ParseResult FragmentMapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<OpAsmParser::Argument> args, place;
  SmallVector<Type> types;
  Type resultType;
  if (parser.parseOperandList(inputs))
    return failure();
  SMLoc argsLoc = parser.getCurrentLocation();
  if (parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("at"))) {
    SMLoc placeLoc = parser.getCurrentLocation();
    if (parser.parseArgumentList(place, OpAsmParser::Delimiter::Paren))
      return failure();
    if (place.size() != 2)
      return parser.emitError(placeLoc, "found ")
             << place.size() << " names after 'at', expected the row and the column";
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseColon())
    return failure();
  SMLoc typesLoc = parser.getCurrentLocation();
  if ((!inputs.empty() && parser.parseTypeList(types)) || parser.parseArrow() ||
      parser.parseType(resultType))
    return failure();
  if (args.size() != inputs.size())
    return parser.emitError(argsLoc, "found ")
           << args.size() << " region arguments, expected one per input, " << inputs.size();
  if (types.size() != inputs.size())
    return parser.emitError(typesLoc, "found ")
           << types.size() << " types, expected one per input, " << inputs.size();
  for (auto [arg, type] : llvm::zip_equal(args, types)) {
    arg.type = elementOfInput(type);
    if (!arg.type)
      return parser.emitError(typesLoc, "an input of ts.fragment_map is a !ts.fragment or a vector "
                                        "of two rows, found ")
             << type;
  }
  for (OpAsmParser::Argument &arg : place) {
    arg.type = parser.getBuilder().getI32Type();
    args.push_back(arg);
  }
  if (parser.resolveOperands(inputs, types, typesLoc, result.operands) ||
      parser.parseRegion(*result.addRegion(), args))
    return failure();
  ensureTerminator(*result.regions.front(), parser.getBuilder(), result.location);
  result.addTypes(resultType);
  return success();
}

void FragmentMapOp::print(OpAsmPrinter &printer) {
  auto printArguments = [&](auto arguments) {
    printer << '(';
    llvm::interleaveComma(arguments, printer,
                          [&](BlockArgument arg) { printer.printRegionArgument(arg, {}, true); });
    printer << ')';
  };
  auto arguments = getBody().getArguments();
  printer << ' ';
  printer.printOperands(getInputs());
  printer << (getInputs().empty() ? "" : " ");
  printArguments(arguments.take_front(getInputs().size()));
  if (arguments.size() > getInputs().size()) {
    printer << " at ";
    printArguments(arguments.drop_front(getInputs().size()));
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " : ";
  llvm::interleaveComma(getInputs().getTypes(), printer);
  printer << (getInputs().empty() ? "-> " : " -> ") << getResult().getType() << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FragmentMapOp::verify() {
  FragmentType result = getResult().getType();
  Block &block = getBody().front();
  size_t inputs = getInputs().size(), arguments = block.getNumArguments();
  if (arguments != inputs && arguments != inputs + 2)
    return emitOpError() << "region has " << arguments << " arguments, expected one per input, "
                         << inputs << ", and two more for the element's place if it is used";
  if (arguments == 0)
    return emitOpError(
        "needs a fragment to map over, or the element's place ('at') to make one of");
  for (Type type : getInputs().getTypes()) {
    if (!elementOfInput(type))
      return emitOpError() << "maps fragments and vectors of two rows, found " << type;
    if (auto fragment = dyn_cast<FragmentType>(type);
        fragment && fragment.getShape() != result.getShape())
      return emitOpError() << "maps element by element over one shape: found input " << type
                           << " and result " << result;
  }
  for (auto [arg, input] : llvm::zip(block.getArguments(), getInputs())) {
    Type expected = elementOfInput(input.getType());
    if (arg.getType() != expected)
      return emitOpError() << "region argument has type " << arg.getType()
                           << ", expected the element type " << expected << " of its input";
  }
  for (BlockArgument arg : block.getArguments().drop_front(inputs))
    if (!arg.getType().isInteger(32))
      return emitOpError() << "the element's place is two i32, found " << arg.getType();
  // A missing terminator is reported by the trait that asks for it.
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return success();
  if (yield.getValues().size() != 1 ||
      yield.getValues().front().getType() != result.getElementType()) {
    InFlightDiagnostic diag = emitOpError() << "region yields one element of the result, of type "
                                            << result.getElementType();
    diag.attachNote(yield.getLoc()) << "yields (" << yield.getValues().getTypes() << ") here";
    return diag;
  }
  return success();
}

LogicalResult FragmentReduceOp::verify() {
  if (!llvm::is_contained({ReduceKind::Add, ReduceKind::Min, ReduceKind::Max}, getKind()))
    return emitOpError() << "rows are reduced by add, min or max, found '"
                         << stringifyReduceKind(getKind()) << "'";
  Type element = elementOfInput(getValue().getType());
  if (!element)
    return emitOpError() << "reduces a !ts.fragment, or a vector of two rows that was reduced in "
                            "part, found "
                         << getValue().getType();
  if (!element.isF32() && !element.isInteger(32))
    return emitOpError() << "reduces f32 and i32, what threads exchange in one register, found "
                         << element << "; convert with ts.fragment_map";
  if (getPartial() && !isa<FragmentType>(getValue().getType()))
    return emitOpError(
        "'partial' leaves out the exchange between threads, which is all there is to "
        "do for a vector of rows; leave it out");
  auto expected = VectorType::get({kRowsPerThread}, element);
  if (getResult().getType() != expected)
    return emitOpError() << "gives one value for each of the thread's two rows, " << expected
                         << ", found " << getResult().getType();
  return success();
}

//===-- fragment_load, fragment_store --------------------------------------------------------===//

LogicalResult FragmentStoreOp::verify() {
  FragmentType fragment = getFragment().getType();
  MemRefType dst = getDst().getType();
  if (failed(checkSmem(*this, dst, "the destination")))
    return failure();
  if (!dst.hasStaticShape() || dst.getRank() != 2 || dst.getDimSize(0) != kWarpTileRows ||
      dst.getDimSize(1) % kWgmmaNStep || dst.getDimSize(1) == 0)
    return emitOpError() << "the destination is the warp's own " << kWarpTileRows
                         << " x C tile, C a multiple of " << kWgmmaNStep << " (" << kWarpTileRows
                         << " rows of each warp, PTX ISA 8.8, wgmma register fragments), found "
                         << dst;
  int64_t column = getColumn(), count = dst.getDimSize(1), total = fragment.getShape()[1];
  if (column < 0 || column % kWgmmaNStep || column > total - count)
    return emitOpError() << "column " << column << " and " << count
                         << " columns of the destination are outside " << fragment
                         << " or do not start at a multiple of " << kWgmmaNStep;
  Type from = fragment.getElementType(), to = dst.getElementType();
  bool floats = isa<FloatType>(from) && isa<FloatType>(to);
  bool wide = getElementBits(to) == 16 || getElementBits(to) == 32;
  if (from != to && (!floats || !from.isF32()))
    return emitOpError() << "stores " << from << " as " << to
                         << "; only f32 is converted, to a 16-bit float";
  if (!wide)
    return emitOpError() << "stores elements of 16 or 32 bits, found " << to;
  return success();
}

LogicalResult FragmentLoadOp::verify() {
  FragmentType result = getResult().getType();
  MemRefType src = getSrc().getType();
  if (failed(checkSmem(*this, src, "the source")))
    return failure();
  if (src.getElementType() != result.getElementType() || getElementBits(src.getElementType()) != 16)
    return emitOpError() << "loads 16-bit elements as they are (PTX ISA 8.8, ldmatrix), found "
                         << src << " and " << result;
  std::optional<MatrixTile> tile = getMatrixTile(src);
  if (!tile || tile->rows != result.getShape()[0] || tile->getCols() != result.getShape()[1])
    return emitOpError() << "the source stores the " << result.getShape()[0] << " x "
                         << result.getShape()[1] << " matrix of " << result
                         << " with static strides, found " << src;
  if (result.getShape()[1] % getWgmmaK(src.getElementType()))
    return emitOpError() << "K = " << result.getShape()[1] << " is no multiple of "
                         << getWgmmaK(src.getElementType())
                         << ", what one instruction takes (PTX ISA 8.8, wgmma.mma_async)";
  return success();
}

//===-- ldmatrix, stmatrix -------------------------------------------------------------------===//

static LogicalResult checkMatrices(Operation *op, MemRefType memory, size_t indices,
                                   VectorType registers, StringRef instr) {
  if (failed(checkSmem(op, memory, "the tile")))
    return failure();
  if (int64_t(indices) != memory.getRank())
    return op->emitOpError() << "found " << indices << " indices into " << memory
                             << ", expected one per dimension, " << memory.getRank();
  if (getElementBits(memory.getElementType()) != 16)
    return op->emitOpError() << "moves 8x8 matrices of 16-bit elements (PTX ISA 8.8, " << instr
                             << "), found " << memory;
  int64_t count = registers.getDimSize(0);
  if (registers.isScalable() || (count != 1 && count != 2 && count != 4))
    return op->emitOpError() << "moves 1, 2 or 4 matrices, one i32 register each (PTX ISA 8.8, "
                             << instr << "), found " << registers;
  return success();
}

LogicalResult LdMatrixOp::verify() {
  return checkMatrices(*this, getSrc().getType(), getIndices().size(),
                       cast<VectorType>(getResult().getType()), "ldmatrix");
}
LogicalResult StMatrixOp::verify() {
  return checkMatrices(*this, getDst().getType(), getIndices().size(),
                       cast<VectorType>(getValue().getType()), "stmatrix");
}
