// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, printing and local verification of the ops that stand in a kernel; the kernel itself is
// in TSKernelOp.cpp. Rules that need more than one op (dependency backing, warp overlap, capacity)
// are ts-verify's.
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::ts;

//===-- resource -----------------------------------------------------------------------------===//

static MemRefType withSpace(MemRefType type, Space space) {
  if (type.getMemorySpace())
    return type;
  Attribute attr;
  if (space == Space::Smem)
    attr = SmemSpaceAttr::get(type.getContext(), 0);
  else if (space == Space::Tmem)
    attr = TmemSpaceAttr::get(type.getContext());
  return MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(), attr);
}

ParseResult ResourceOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  StringAttr name;
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(name, "name", result.attributes))
    return failure();
  SMLoc spaceLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  auto space = symbolizeSpace(word);
  if (!space)
    return parser.emitError(spaceLoc, "unknown space '")
           << word << "'; expected gmem, smem, tmem or barrier";
  result.addAttribute("space", SpaceAttr::get(b.getContext(), *space));

  SmallVector<Attribute> allocs;
  auto parseAlloc = [&]() -> ParseResult {
    StringRef allocName;
    MemRefType type;
    int64_t align = 0, at = -1;
    bool staged = true;
    SMLoc allocLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&allocName) || parser.parseColon() || parser.parseType(type))
      return failure();
    while (true) {
      if (succeeded(parser.parseOptionalKeyword("unstaged"))) {
        staged = false;
      } else if (succeeded(parser.parseOptionalKeyword("align"))) {
        if (parser.parseInteger(align))
          return failure();
      } else if (succeeded(parser.parseOptionalKeyword("at"))) {
        if (parser.parseInteger(at))
          return failure();
      } else {
        break;
      }
    }
    auto alloc = AllocAttr::getChecked([&] { return parser.emitError(allocLoc); }, b.getContext(),
                                       allocName, withSpace(type, *space), align, at, staged);
    if (!alloc)
      return failure();
    allocs.push_back(alloc);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen, parseAlloc))
    return failure();
  result.addAttribute("allocs", b.getArrayAttr(allocs));

  if (succeeded(parser.parseOptionalKeyword("pipeline"))) {
    if (parser.parseLParen())
      return failure();
    PipelineAttr pipeline = PipelineAttr::parseFields(parser);
    if (!pipeline || parser.parseRParen())
      return failure();
    result.addAttribute("pipeline", pipeline);
  }
  for (StringRef key : {"producer_uses", "consumer_uses"})
    if (succeeded(parser.parseOptionalKeyword(key))) {
      SmallVector<Attribute> uses;
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
            StringRef use;
            if (parser.parseKeyword(&use))
              return failure();
            uses.push_back(b.getStringAttr(use));
            return success();
          }))
        return failure();
      result.addAttribute(key, b.getArrayAttr(uses));
    }
  auto type = ResourceType::get(b.getContext());
  if (succeeded(parser.parseOptionalKeyword("barriers"))) {
    OpAsmParser::UnresolvedOperand storage;
    StringAttr alloc;
    if (parser.parseLParen() || parser.parseOperand(storage) || parser.parseColon() ||
        parser.parseAttribute(alloc, "barrier_alloc", result.attributes) || parser.parseRParen() ||
        parser.resolveOperand(storage, type, result.operands))
      return failure();
  }
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  (void)loc;
  result.addTypes(type);
  return success();
}

void ResourceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << ' ' << stringifySpace(getSpace());
  if (!getAllocs().empty()) {
    printer << '(';
    llvm::interleaveComma(getAllocs().getAsRange<AllocAttr>(), printer, [&](AllocAttr alloc) {
      printer.printKeywordOrString(alloc.getName());
      printer << ": " << alloc.getType();
      if (!alloc.getStaged())
        printer << " unstaged";
      if (alloc.getAlign())
        printer << " align " << alloc.getAlign();
      if (alloc.getAt() >= 0)
        printer << " at " << alloc.getAt();
    });
    printer << ')';
  }
  if (getPipeline()) {
    printer << " pipeline(";
    getPipeline()->printFields(printer);
    printer << ')';
  }
  auto uses = [&](StringRef key, std::optional<ArrayAttr> names) {
    if (!names)
      return;
    printer << ' ' << key << '(';
    llvm::interleaveComma(names->getAsValueRange<StringAttr>(), printer,
                          [&](StringRef name) { printer.printKeywordOrString(name); });
    printer << ')';
  };
  uses("producer_uses", getProducerUses());
  uses("consumer_uses", getConsumerUses());
  if (getBarrierStorage())
    printer << " barriers(" << getBarrierStorage() << " : " << getBarrierAllocAttr() << ')';
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"name", "space", "allocs", "pipeline", "producer_uses", "consumer_uses", "barrier_alloc"});
}

SmallVector<Type> ResourceOp::getViewTypes() {
  SmallVector<Type> types;
  // The parser asks before anything was verified.
  if (ArrayAttr allocs = getAllocsAttr())
    for (Attribute attr : allocs)
      if (auto alloc = dyn_cast<AllocAttr>(attr))
        types.push_back(alloc.getType());
  return types;
}

LogicalResult ResourceOp::verify() {
  llvm::StringSet<> names;
  for (auto alloc : getAllocs().getAsRange<AllocAttr>()) {
    if (!names.insert(alloc.getName()).second)
      return emitOpError("allocation name '") << alloc.getName() << "' is used twice";
    bool fits = getSpace() == Space::Smem   ? isSmem(alloc.getType())
                : getSpace() == Space::Tmem ? isSmem(alloc.getType()) || isTmem(alloc.getType())
                : getSpace() == Space::Gmem ? isSmem(alloc.getType())
                                            : false;
    if (!fits)
      return emitOpError("allocation '")
             << alloc.getName() << "' of type " << alloc.getType() << " does not fit a "
             << stringifySpace(getSpace())
             << " resource; smem takes #ts.smem, tmem takes #ts.tmem (or #ts.smem beside it), gmem "
                "only #ts.smem scratch, barrier none";
    if (unsigned swizzle = getSwizzle(alloc.getType())) {
      ArrayRef<int64_t> shape = alloc.getType().getShape();
      int64_t inner =
          getBytes(MemRefType::get(shape.take_back(), alloc.getType().getElementType(),
                                   MemRefLayoutAttrInterface(), alloc.getType().getMemorySpace()));
      if (inner != swizzle)
        return emitOpError("[TS228] the innermost dimension of allocation '")
               << alloc.getName() << "' is " << inner << " bytes, expected the swizzle span of "
               << swizzle << " bytes; split the tile into panels of that width";
    }
    if (isTmem(alloc.getType())) {
      if (alloc.getType().getRank() != 2 || alloc.getType().getShape()[0] > 128)
        return emitOpError("tensor memory allocation '")
               << alloc.getName() << "' is rows x columns with at most 128 rows (lanes), found "
               << alloc.getType();
    }
  }
  for (auto uses : {getProducerUses(), getConsumerUses()})
    if (uses)
      for (StringRef use : uses->getAsValueRange<StringAttr>())
        if (!names.contains(use))
          return emitOpError("role uses allocation '") << use << "', which this resource lacks";
  if (getSpace() == Space::Gmem && getPipeline())
    return emitOpError("a gmem resource has no pipeline; guard the shared memory that is filled "
                       "from it instead");
  if ((getBarrierStorage() != nullptr) != getBarrierAlloc().has_value())
    return emitOpError("barriers(...) needs both a resource and the name of its allocation");
  if (getBarrierStorage() && !getPipeline())
    return emitOpError("barriers(...) places a pipeline's barriers, but there is no pipeline");
  return success();
}

//===-- work queue ---------------------------------------------------------------------------===//

ParseResult WorkQueueOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  StringAttr name;
  StringRef word;
  if (parser.parseAttribute(name, "name", result.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  auto kind = symbolizeQueueKind(word);
  if (!kind)
    return parser.emitError(loc, "unknown queue kind '") << word << "'; expected static or clc";
  result.addAttribute("kind", QueueKindAttr::get(b.getContext(), *kind));
  SmallVector<OpAsmParser::UnresolvedOperand> tiles, throttle;
  if (parser.parseKeyword("over") || parser.parseOperandList(tiles, AsmParser::Delimiter::Paren))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("group"))) {
    int64_t group;
    if (parser.parseLParen() || parser.parseInteger(group) || parser.parseRParen())
      return failure();
    result.addAttribute("group", b.getI64IntegerAttr(group));
  }
  if (succeeded(parser.parseOptionalKeyword("pipeline"))) {
    if (parser.parseLParen())
      return failure();
    PipelineAttr pipeline = PipelineAttr::parseFields(parser);
    if (!pipeline || parser.parseRParen())
      return failure();
    result.addAttribute("pipeline", pipeline);
  }
  if (succeeded(parser.parseOptionalKeyword("throttle")) &&
      (parser.parseLParen() || parser.parseOperand(throttle.emplace_back()) ||
       parser.parseRParen()))
    return failure();
  auto type = ResourceType::get(b.getContext());
  if (parser.resolveOperands(tiles, b.getIndexType(), result.operands) ||
      parser.resolveOperands(throttle, type, result.operands))
    return failure();
  result.addAttribute("operandSegmentSizes",
                      b.getDenseI32ArrayAttr({int32_t(tiles.size()), int32_t(throttle.size())}));
  Region *skip = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("skip"))) {
    SmallVector<OpAsmParser::Argument> args;
    if (parser.parseArgumentList(args, AsmParser::Delimiter::Paren))
      return failure();
    for (auto &arg : args)
      arg.type = b.getIndexType();
    if (parser.parseRegion(*skip, args))
      return failure();
  }
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.addTypes(type);
  return success();
}

void WorkQueueOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << ' ' << stringifyQueueKind(getKind()) << " over(" << getTiles()
          << ')';
  if (getGroup() != 1)
    printer << " group(" << getGroup() << ')';
  if (getPipeline()) {
    printer << " pipeline(";
    getPipeline()->printFields(printer);
    printer << ')';
  }
  if (getThrottle())
    printer << " throttle(" << getThrottle() << ')';
  if (!getSkip().empty()) {
    printer << " skip(";
    llvm::interleaveComma(getSkip().getArguments(), printer,
                          [&](BlockArgument arg) { printer << arg; });
    printer << ") ";
    printer.printRegion(getSkip(), /*printEntryBlockArgs=*/false);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"name", "kind", "group", "pipeline", "operandSegmentSizes"});
}

LogicalResult WorkQueueOp::verify() {
  if (getTiles().empty() || getTiles().size() > 3)
    return emitOpError("a work queue runs over one to three tile counts, found ")
           << getTiles().size();
  if (getGroup() < 1 || getGroup() > (1 << 20))
    return emitOpError("group ") << int64_t(getGroup()) << " is outside 1..2^20";
  if (getKind() == QueueKind::Static && getPipeline())
    return emitOpError("a static queue needs no pipeline: every CTA computes its tiles itself");
  if (getPipeline() && getPipeline()->getType() != PipelineType::ClcFetchAsync)
    return emitOpError("a clc queue is guarded by a clc_fetch_async pipeline, found ")
           << stringifyPipelineType(getPipeline()->getType());
  if (!getSkip().empty()) {
    Block &block = getSkip().front();
    auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
    if (!getSkip().hasOneBlock() || block.getNumArguments() != getTiles().size() || !yield ||
        yield.getNumOperands() != 1 || !yield.getOperand(0).getType().isInteger(1))
      return emitOpError("the skip region takes one index per tile dimension and yields one i1");
  }
  return success();
}

//===-- small declarations -------------------------------------------------------------------===//

LogicalResult BatonOp::verify() {
  if (getHolders() < 2 || getHolders() > 15)
    return emitOpError("a baton has 2 to 15 holders (one named barrier each), found ")
           << int64_t(getHolders());
  if (getFirst() >= getHolders())
    return emitOpError("first holder ")
           << int64_t(getFirst()) << " is outside 0.." << getHolders() - 1;
  return success();
}

LogicalResult DependsOp::verify() {
  if (getUpstream().empty())
    return emitOpError("names no upstream resource; write 'ts.depends %x on %y'");
  return success();
}

LogicalResult AliasGroupOp::verify() {
  int64_t sum = 0;
  for (int64_t count : getPhases()) {
    if (count < 1 || count > int64_t(getMembers().size()))
      return emitOpError("phase with ") << count << " members; every phase names at least one";
    sum += count;
  }
  if (sum != int64_t(getMembers().size()) || getPhases().size() < 2)
    return emitOpError("phases ") << getPhasesAttr() << " do not split the " << getMembers().size()
                                  << " members into at least two phases";
  for (Value member : getMembers())
    if (auto resource = member.getDefiningOp<ResourceOp>(); !resource)
      return emitOpError("every member is the result of a ts.resource");
  return success();
}

LogicalResult PipelineGroupOp::verify() {
  if (getMembers().size() < 2)
    return emitOpError("a pipeline group has at least two members, found ") << getMembers().size();
  for (Value member : getMembers()) {
    auto resource = member.getDefiningOp<ResourceOp>();
    if (!resource || !resource.getPipeline())
      return emitOpError("member '")
             << getResourceName(member) << "' is no ts.resource with a pipeline";
  }
  return success();
}

//===-- task ---------------------------------------------------------------------------------===//

ParseResult TaskOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  StringAttr name;
  int32_t first, count;
  if (parser.parseAttribute(name, "name", result.attributes) || parser.parseKeyword("warps") ||
      parser.parseLParen() || parser.parseInteger(first) || parser.parseComma() ||
      parser.parseInteger(count) || parser.parseRParen())
    return failure();
  result.addAttribute("first_warp", b.getI32IntegerAttr(first));
  result.addAttribute("num_warps", b.getI32IntegerAttr(count));
  SmallVector<OpAsmParser::Argument> args;
  if (succeeded(parser.parseOptionalKeyword("replicas"))) {
    int32_t replicas;
    if (parser.parseLParen() || parser.parseInteger(replicas) || parser.parseRParen() ||
        parser.parseLParen() || parser.parseArgument(args.emplace_back()) || parser.parseRParen())
      return failure();
    args.back().type = b.getIndexType();
    result.addAttribute("replicas", b.getI32IntegerAttr(replicas));
  }
  for (auto [key, attr] : {std::pair("registers", "registers"), std::pair("only_cta", "only_cta")})
    if (succeeded(parser.parseOptionalKeyword(key))) {
      int32_t value;
      if (parser.parseLParen() || parser.parseInteger(value) || parser.parseRParen())
        return failure();
      result.addAttribute(attr, b.getI32IntegerAttr(value));
    }
  auto type = ResourceType::get(b.getContext());
  std::array<int32_t, 2> segments{};
  constexpr StringLiteral kRoles[] = {"reads", "writes"};
  for (auto [i, key] : llvm::enumerate(kRoles)) {
    SmallVector<OpAsmParser::UnresolvedOperand> operands;
    if (succeeded(parser.parseOptionalKeyword(key)) &&
        (parser.parseOperandList(operands, AsmParser::Delimiter::Paren) ||
         parser.resolveOperands(operands, type, result.operands)))
      return failure();
    segments[i] = operands.size();
  }
  result.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args))
    return failure();
  ensureTerminator(*body, b, result.location);
  return success();
}

void TaskOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << " warps(" << getFirstWarp() << ", " << getNumWarps() << ')';
  if (getBody().getNumArguments())
    printer << " replicas(" << getReplicas() << ") (" << getBody().getArgument(0) << ')';
  if (getRegisters())
    printer << " registers(" << *getRegisters() << ')';
  if (getOnlyCta())
    printer << " only_cta(" << *getOnlyCta() << ')';
  if (!getReads().empty())
    printer << " reads(" << getReads() << ')';
  if (!getWrites().empty())
    printer << " writes(" << getWrites() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"name", "first_warp", "num_warps", "replicas",
                                            "registers", "only_cta", "operandSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

LogicalResult TaskOp::verify() {
  int32_t warps = getNumWarps(), replicas = getReplicas();
  if (warps < 1 || warps > 32 || int32_t(getFirstWarp()) < 0 || getFirstWarp() > 31)
    return emitOpError("warps(")
           << int32_t(getFirstWarp()) << ", " << warps
           << ") is no warp range of a CTA; give (first warp, number of warps) within 0..31";
  if (replicas < 1 || warps % replicas)
    return emitOpError("the ") << warps << " warps do not divide into " << replicas
                               << " replicas (C1)";
  if (getBody().getNumArguments() > 1 ||
      (getBody().getNumArguments() == 1 && !getBody().getArgument(0).getType().isIndex()) ||
      (getBody().getNumArguments() == 0 && replicas != 1))
    return emitOpError("the body takes the replica's index exactly when there are replicas");
  if (getRegisters() &&
      (int32_t(*getRegisters()) < 24 || *getRegisters() > 256 || *getRegisters() % 8))
    return emitOpError("register budget ")
           << int32_t(*getRegisters())
           << " is not a multiple of 8 from 24 to 256 (PTX ISA 8.8, setmaxnreg)";
  if (getOnlyCta() && (int32_t(*getOnlyCta()) < 0 || *getOnlyCta() > 15))
    return emitOpError("only_cta(") << int32_t(*getOnlyCta()) << ") is no CTA rank of a cluster";
  return success();
}
