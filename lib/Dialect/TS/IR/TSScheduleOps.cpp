// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, printing and local verification of the ops a schedule is made of. Bracketing, coverage
// and the other rules over a whole task are ts-verify's.
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::ts;

/// Reports a region that does not end in a ts.yield of `types`.
static LogicalResult verifyYield(Operation *op, Region &region, TypeRange types, StringRef what) {
  if (!region.hasOneBlock())
    return op->emitOpError("the ") << what << " region has exactly one block";
  Block &block = region.front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError("the ") << what << " region ends in ts.yield";
  if (yield.getOperandTypes() == types)
    return success();
  auto diag = op->emitOpError("the ") << what << " region yields (" << yield.getOperandTypes()
                                      << "), expected (" << types << ")";
  diag.attachNote(yield.getLoc()) << "yielded here";
  return diag;
}

/// Optional `-> type, type` or `-> (type, type)`.
static ParseResult parseResultTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  if (failed(parser.parseOptionalArrow()))
    return success();
  if (failed(parser.parseOptionalLParen()))
    return parser.parseTypeList(types);
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  return failure(parser.parseTypeList(types) || parser.parseRParen());
}

//===-- produce, consume ---------------------------------------------------------------------===//

static ParseResult parseWork(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  OpAsmParser::UnresolvedOperand resource;
  SMLoc resourceLoc = parser.getCurrentLocation();
  StringAttr label;
  if (parser.parseOperand(resource) ||
      parser.resolveOperand(resource, ResourceType::get(b.getContext()), result.operands) ||
      parser.parseAttribute(label, "label", result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("aux")))
    result.addAttribute("aux", b.getUnitAttr());
  SmallVector<OpAsmParser::Argument> args;
  if (parser.parseArgumentList(args, AsmParser::Delimiter::OptionalParen))
    return failure();
  if (!args.empty()) {
    auto def = result.operands.front().getDefiningOp<ResourceOp>();
    if (!def)
      return parser.emitError(resourceLoc,
                              "stage views need the resource's definition (a ts.resource) before "
                              "this line");
    SmallVector<Type> views = def.getViewTypes();
    if (views.size() != args.size())
      return parser.emitError(resourceLoc, "the body names ")
             << args.size() << " stage views, but resource '"
             << getResourceName(result.operands.front()) << "' has " << views.size()
             << " allocations; name all of them or none";
    for (auto [arg, type] : llvm::zip(args, views))
      arg.type = type;
  }
  if (succeeded(parser.parseOptionalKeyword("uses"))) {
    SmallVector<OpAsmParser::UnresolvedOperand> uses;
    SmallVector<Type> types;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseLParen() || parser.parseOperandList(uses) || parser.parseColonTypeList(types) ||
        parser.parseRParen() || parser.resolveOperands(uses, types, loc, result.operands))
      return failure();
  }
  SmallVector<Type> types;
  if (parseResultTypes(parser, types))
    return failure();
  result.addTypes(types);
  Region *body = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("declared"))) {
    if (succeeded(parser.parseOptionalKeyword("bytes"))) {
      int64_t bytes;
      if (parser.parseLParen() || parser.parseInteger(bytes) || parser.parseRParen())
        return failure();
      result.addAttribute("bytes", b.getI64IntegerAttr(bytes));
    }
    ArrayAttr effects;
    if (succeeded(parser.parseOptionalKeyword("effects")) &&
        parser.parseAttribute(effects, "effects", result.attributes))
      return failure();
    return parser.parseOptionalAttrDict(result.attributes);
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, args))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  OpBuilder builder(b.getContext());
  Block &block = body->front();
  if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>()) {
    builder.setInsertionPointToEnd(&block);
    YieldOp::create(builder, result.location);
  }
  return success();
}

template <typename Op> static void printWork(OpAsmPrinter &printer, Op op) {
  printer << ' ' << op.getResource() << ' ' << op.getLabelAttr();
  if (op.getAux())
    printer << " aux";
  if (op.hasBody() && op.getBody().getNumArguments()) {
    printer << " (";
    llvm::interleaveComma(op.getBody().getArguments(), printer,
                          [&](BlockArgument arg) { printer << arg; });
    printer << ')';
  }
  if (!op.getUses().empty())
    printer << " uses(" << op.getUses() << " : " << op.getUses().getTypes() << ')';
  printer.printOptionalArrowTypeList(op.getResultTypes());
  SmallVector<StringRef> elided = {"label", "aux", "bytes", "effects"};
  if (op.hasBody()) {
    if (op.getBytes() || op.getEffects())
      elided.resize(2);
    printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
    printer << ' ';
    printer.printRegion(op.getBody(), /*printEntryBlockArgs=*/false,
                        /*printBlockTerminators=*/op->getNumResults() != 0);
    return;
  }
  printer << " declared";
  if (op.getBytes())
    printer << " bytes(" << *op.getBytes() << ')';
  if (op.getEffects())
    printer << " effects " << op.getEffectsAttr();
  printer.printOptionalAttrDict(op->getAttrs(), elided);
}

template <typename Op> static LogicalResult verifyWork(Op op) {
  if (op.getBytes() && int64_t(*op.getBytes()) < 0)
    return op.emitOpError("declares a negative number of bytes: ") << int64_t(*op.getBytes());
  if (op.getBytes() && *op.getBytes() > (1 << 20) - 1)
    return op.emitOpError("declares ")
           << *op.getBytes()
           << " bytes; an mbarrier phase tracks at most 2^20 - 1 (PTX ISA 8.8, mbarrier)";
  auto def = op.getResource().template getDefiningOp<ResourceOp>();
  // A definition that stands further down is not verified yet.
  if (op.getEffects() && def && def.getAllocsAttr()) {
    for (auto effect : op.getEffects()->template getAsRange<EffectAttr>()) {
      AllocAttr named;
      for (Attribute attr : def.getAllocs())
        if (auto alloc = dyn_cast<AllocAttr>(attr); alloc && alloc.getName() == effect.getAlloc())
          named = alloc;
      if (effect.getAlloc().empty())
        continue;
      if (!named)
        return op.emitOpError("effect on allocation '")
               << effect.getAlloc() << "', which resource '" << getResourceName(op.getResource())
               << "' lacks";
      // Offset and size may be absurd: subtract only what is known to lie within the stage.
      int64_t total = getBytes(named.getType()), offset = effect.getOffset();
      bool inside = offset >= 0 && offset <= total && effect.getSize() <= total - offset;
      if (!inside) {
        auto diag = op.emitOpError("effect on bytes from ") << offset;
        if (effect.getSize() >= 0)
          diag << ", " << effect.getSize() << " of them,";
        return diag << " leaves allocation '" << effect.getAlloc() << "' of " << total
                    << " bytes per stage";
      }
    }
  }
  if (!op.hasBody())
    return success();
  Region &body = op.getBody();
  if (body.getNumArguments() != 0) {
    if (!def)
      return op.emitOpError("has stage views, but its resource is not the result of a ts.resource");
    SmallVector<Type> views = def.getViewTypes();
    if (TypeRange(views) != body.getArgumentTypes())
      return op.emitOpError("the body's arguments are the stage views (")
             << views << ") of resource '" << getResourceName(op.getResource()) << "', found ("
             << body.getArgumentTypes() << ")";
  }
  return verifyYield(op, body, op.getResultTypes(), "work");
}

ParseResult ProduceOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseWork(parser, result);
}
void ProduceOp::print(OpAsmPrinter &printer) { printWork(printer, *this); }
LogicalResult ProduceOp::verify() { return verifyWork(*this); }
ParseResult ConsumeOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseWork(parser, result);
}
void ConsumeOp::print(OpAsmPrinter &printer) { printWork(printer, *this); }
LogicalResult ConsumeOp::verify() { return verifyWork(*this); }

//===-- for ----------------------------------------------------------------------------------===//

/// `iter(%a = %init : type, ...)`; appends the region arguments and resolves the inits.
static ParseResult parseCarried(OpAsmParser &parser, OperationState &result,
                                SmallVectorImpl<OpAsmParser::Argument> &args, int32_t &count) {
  count = 0;
  if (failed(parser.parseOptionalKeyword("iter")))
    return success();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    OpAsmParser::Argument arg;
    OpAsmParser::UnresolvedOperand init;
    if (parser.parseArgument(arg) || parser.parseEqual() || parser.parseOperand(init) ||
        parser.parseColonType(arg.type) || parser.resolveOperand(init, arg.type, result.operands))
      return failure();
    args.push_back(arg);
    result.addTypes(arg.type);
    ++count;
    return success();
  });
}

static void printCarried(OpAsmPrinter &printer, ValueRange args, ValueRange inits) {
  if (inits.empty())
    return;
  printer << " iter(";
  llvm::interleaveComma(llvm::zip(args, inits), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
            << std::get<1>(pair).getType();
  });
  printer << ')';
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> args(1);
  OpAsmParser::UnresolvedOperand lower, upper, step;
  args[0].type = b.getIndexType();
  if (parser.parseArgument(args[0]) || parser.parseEqual() || parser.parseOperand(lower) ||
      parser.parseKeyword("to") || parser.parseOperand(upper) ||
      parser.resolveOperand(lower, b.getIndexType(), result.operands) ||
      parser.resolveOperand(upper, b.getIndexType(), result.operands))
    return failure();
  int32_t hasStep = 0, carried = 0;
  if (succeeded(parser.parseOptionalKeyword("step"))) {
    hasStep = 1;
    if (parser.parseOperand(step) || parser.resolveOperand(step, b.getIndexType(), result.operands))
      return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("unroll"))) {
    int64_t unroll;
    if (parser.parseLParen() || parser.parseInteger(unroll) || parser.parseRParen())
      return failure();
    result.addAttribute("unroll", b.getI64IntegerAttr(unroll));
  }
  if (parseCarried(parser, result, args, carried) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr({1, 1, hasStep, carried}));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args))
    return failure();
  ensureTerminator(*body, b, result.location);
  return success();
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getInductionVar() << " = " << getLower() << " to " << getUpper();
  if (getStep())
    printer << " step " << getStep();
  if (getUnroll())
    printer << " unroll(" << *getUnroll() << ')';
  printCarried(printer, getBodyBlock().getArguments().drop_front(), getInits());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"operandSegmentSizes", "unroll"});
  printer << ' ';
  printer.printRegion(getBody(), false, !getInits().empty());
}

static LogicalResult verifyCarried(Operation *op, Region &body, ValueRange inits,
                                   unsigned leadingArgs) {
  if (body.getNumArguments() != leadingArgs + inits.size())
    return op->emitOpError("the body takes ")
           << leadingArgs << " index argument(s) and one per carried value, found "
           << body.getNumArguments() << " for " << inits.size() << " carried values";
  for (BlockArgument arg : body.getArguments().take_front(leadingArgs))
    if (!arg.getType().isIndex())
      return op->emitOpError("body argument ")
             << arg.getArgNumber() << " is an index, found " << arg.getType();
  if (op->getResultTypes() != inits.getTypes() ||
      TypeRange(body.getArguments().drop_front(leadingArgs)) != inits.getTypes())
    return op->emitOpError("carried values have the types (")
           << inits.getTypes() << "), but the body takes ("
           << TypeRange(body.getArguments().drop_front(leadingArgs)) << ") and the results are ("
           << op->getResultTypes() << ") (C1)";
  return verifyYield(op, body, op->getResultTypes(), "loop");
}

LogicalResult ForOp::verify() {
  if (failed(verifyCarried(*this, getBody(), getInits(), 1)))
    return failure();
  APInt step;
  if (getStep() && matchPattern(getStep(), m_ConstantInt(&step)) && step.isZero())
    return emitOpError("[TS101] the step is 0, so the loop never ends; give a positive step (C2)");
  if (getStep() && matchPattern(getStep(), m_ConstantInt(&step)) && step.isNegative())
    return emitOpError("[TS101] the step is ")
           << step.getSExtValue() << "; loops count upwards, give a positive step (C2)";
  if (getUnroll() && (*getUnroll() < 1 || *getUnroll() > 1024))
    return emitOpError("unroll factor ") << int64_t(*getUnroll()) << " is outside 1..1024";
  return success();
}

//===-- tile_loop ----------------------------------------------------------------------------===//

ParseResult TileLoopOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  OpAsmParser::UnresolvedOperand queue;
  if (parser.parseOperand(queue) ||
      parser.resolveOperand(queue, ResourceType::get(b.getContext()), result.operands))
    return failure();
  SmallVector<OpAsmParser::Argument> args;
  if (parser.parseArgumentList(args, AsmParser::Delimiter::OptionalParen))
    return failure();
  for (auto &arg : args)
    arg.type = b.getIndexType();
  int32_t carried;
  if (parseCarried(parser, result, args, carried) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args))
    return failure();
  ensureTerminator(*body, b, result.location);
  return success();
}

void TileLoopOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getQueue();
  unsigned coords = getBody().getNumArguments() - getInits().size();
  if (coords) {
    printer << " (";
    llvm::interleaveComma(getBody().getArguments().take_front(coords), printer,
                          [&](BlockArgument arg) { printer << arg; });
    printer << ')';
  }
  printCarried(printer, getBody().getArguments().drop_front(coords), getInits());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), false, !getInits().empty());
}

LogicalResult TileLoopOp::verify() {
  auto queue = getQueue().getDefiningOp<WorkQueueOp>();
  if (!queue)
    return emitOpError("runs over a work queue; its operand is not the result of a ts.work_queue");
  if (getBody().getNumArguments() < getInits().size())
    return emitOpError("the body lacks an argument per carried value");
  unsigned coords = getBody().getNumArguments() - getInits().size();
  if (coords != 0 && coords != queue.getTiles().size())
    return emitOpError("names ") << coords << " tile coordinates, but queue '"
                                 << getResourceName(getQueue()) << "' has "
                                 << queue.getTiles().size()
                                 << " dimensions; name all of them or none";
  return verifyCarried(*this, getBody(), getInits(), coords);
}

LogicalResult FetchTileOp::verify() {
  if (!getQueue().getDefiningOp<WorkQueueOp>())
    return emitOpError("needs a work queue; its operand is not the result of a ts.work_queue");
  return success();
}
LogicalResult NextTileOp::verify() {
  if (!getQueue().getDefiningOp<WorkQueueOp>())
    return emitOpError("needs a work queue; its operand is not the result of a ts.work_queue");
  return success();
}

//===-- guard, when --------------------------------------------------------------------------===//

static ParseResult parseBranches(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  SmallVector<Type> types;
  if (parseResultTypes(parser, types) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addTypes(types);
  Region *body = result.addRegion();
  Region *orelse = result.addRegion();
  auto parseRegion = [&](Region *region) -> ParseResult {
    if (parser.parseRegion(*region))
      return failure();
    if (region->empty())
      region->emplaceBlock();
    Block &block = region->front();
    if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>()) {
      OpBuilder builder(b.getContext());
      builder.setInsertionPointToEnd(&block);
      YieldOp::create(builder, result.location);
    }
    return success();
  };
  if (parseRegion(body))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("else")))
    return parseRegion(orelse);
  return success();
}

static void printBranches(OpAsmPrinter &printer, Operation *op, Region &body, Region &orelse,
                          ArrayRef<StringRef> elided) {
  printer.printOptionalArrowTypeList(op->getResultTypes());
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << ' ';
  printer.printRegion(body, false, op->getNumResults() != 0);
  if (orelse.empty())
    return;
  printer << " else ";
  printer.printRegion(orelse, false, op->getNumResults() != 0);
}

static LogicalResult verifyBranches(Operation *op, Region &body, Region &orelse) {
  if (body.getNumArguments())
    return op->emitOpError("the region takes no arguments");
  if (failed(verifyYield(op, body, op->getResultTypes(), "then")))
    return failure();
  if (orelse.empty()) {
    if (op->getNumResults())
      return op->emitOpError("has results, so it needs an else region that yields them where the "
                             "first does not run");
    return success();
  }
  if (orelse.getNumArguments())
    return op->emitOpError("the else region takes no arguments");
  return verifyYield(op, orelse, op->getResultTypes(), "else");
}

ParseResult GuardOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  auto kind = symbolizeGuardKind(word);
  if (!kind)
    return parser.emitError(loc, "unknown guard '")
           << word << "'; expected first, last, not_first, not_last or every";
  result.addAttribute("kind", GuardKindAttr::get(b.getContext(), *kind));
  int64_t period;
  if (*kind == GuardKind::Every) {
    if (parser.parseInteger(period))
      return failure();
    result.addAttribute("period", b.getI64IntegerAttr(period));
  }
  return parseBranches(parser, result);
}

void GuardOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyGuardKind(getKind());
  if (getKind() == GuardKind::Every)
    printer << ' ' << getPeriod();
  printBranches(printer, *this, getBody(), getOrelse(), {"kind", "period"});
}

LogicalResult GuardOp::verify() {
  // The period is an i64: keep it where stage arithmetic cannot overflow.
  if (int64_t(getPeriod()) < 1 || int64_t(getPeriod()) > (1 << 20))
    return emitOpError("[TS108] period ")
           << int64_t(getPeriod()) << " of 'every' is outside 1..2^20";
  return verifyBranches(*this, getBody(), getOrelse());
}

ParseResult WhenOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  OpAsmParser::UnresolvedOperand condition;
  if (parser.parseOperand(condition) ||
      parser.resolveOperand(condition, b.getI1Type(), result.operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("is"))) {
    bool expected = succeeded(parser.parseOptionalKeyword("true"));
    if (!expected && parser.parseKeyword("false"))
      return failure();
    result.addAttribute("expected", b.getBoolAttr(expected));
  }
  if (succeeded(parser.parseOptionalKeyword("key"))) {
    StringAttr key;
    if (parser.parseLParen() || parser.parseAttribute(key, "key", result.attributes) ||
        parser.parseRParen())
      return failure();
  }
  return parseBranches(parser, result);
}

void WhenOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCondition() << " is " << (getExpected() ? "true" : "false");
  if (getKey())
    printer << " key(" << getKeyAttr() << ')';
  printBranches(printer, *this, getBody(), getOrelse(), {"expected", "key"});
}

LogicalResult WhenOp::verify() { return verifyBranches(*this, getBody(), getOrelse()); }
