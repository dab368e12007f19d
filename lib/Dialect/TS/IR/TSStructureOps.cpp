// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, printing and local verification of the ops that declare a kernel. Rules that need more
// than one op (dependency backing, warp overlap, capacity) are ts-verify's.
#include "ts/Dialect/TS/IR/TS.h"
#include "ts/Support/LaunchExpr.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::ts;

//===-- Launch expressions in the text form --------------------------------------------------===//

namespace {
/// Reads a launch expression token by token (the MLIR lexer has no raw text) into `text`, dropping
/// the '%' of argument names; the one parser of LaunchExpr judges the result.
class ExprReader {
public:
  explicit ExprReader(OpAsmParser &parser) : parser(parser) {}

  ParseResult read(std::string &text) {
    SMLoc loc = parser.getCurrentLocation();
    if (sum(0))
      return failure();
    ::ts::LaunchExprError error;
    auto expr = ::ts::LaunchExpr::parse(out, error);
    if (!expr)
      return parser.emitError(loc, "launch expression '") << out << "': " << error.message;
    text = expr->str();
    return success();
  }

private:
  static constexpr int kMaxDepth = 64;

  ParseResult sum(int depth) {
    if (product(depth))
      return failure();
    while (true) {
      if (succeeded(parser.parseOptionalPlus()))
        out += " + ";
      else if (succeeded(parser.parseOptionalMinus()))
        out += " - ";
      else
        return success();
      if (product(depth))
        return failure();
    }
  }

  ParseResult product(int depth) {
    if (factor(depth))
      return failure();
    while (succeeded(parser.parseOptionalStar())) {
      out += " * ";
      if (factor(depth))
        return failure();
    }
    return success();
  }

  ParseResult factor(int depth) {
    if (depth > kMaxDepth)
      return parser.emitError(parser.getCurrentLocation(),
                              "launch expression is nested more than 64 deep");
    int64_t number;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      if (failed(*parsed))
        return failure();
      out += std::to_string(number);
      return success();
    }
    OpAsmParser::UnresolvedOperand operand;
    parsed = parser.parseOptionalOperand(operand, /*allowResultNumber=*/false);
    if (parsed.has_value()) {
      if (failed(*parsed))
        return failure();
      out += operand.name.drop_front().str();
      return success();
    }
    if (succeeded(parser.parseOptionalLParen())) {
      out += '(';
      if (sum(depth + 1) || parser.parseRParen())
        return failure();
      out += ')';
      return success();
    }
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&word)))
      return parser.emitError(loc, "expected a launch expression: an integer, an argument, or "
                                   "dim, stride, sms, ceildiv, div, mod, min, max");
    out += word.str();
    if (failed(parser.parseOptionalLParen()))
      return success();
    out += '(';
    if (failed(parser.parseOptionalRParen())) {
      if (sum(depth + 1))
        return failure();
      while (succeeded(parser.parseOptionalComma())) {
        out += ", ";
        if (sum(depth + 1))
          return failure();
      }
      if (parser.parseRParen())
        return failure();
    }
    out += ')';
    return success();
  }

  OpAsmParser &parser;
  std::string out;
};
} // namespace

//===-- kernel -------------------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  StringAttr symName;
  if (parser.parseSymbolName(symName, "sym_name", result.attributes))
    return failure();

  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Attribute> names, exprs;
  SmallVector<int64_t> mins;
  auto parseArg = [&]() -> ParseResult {
    OpAsmParser::Argument arg;
    if (parser.parseArgument(arg, /*allowType=*/true))
      return failure();
    std::string name = arg.ssaName.name.drop_front().str();
    if (succeeded(parser.parseOptionalKeyword("as")) && parser.parseString(&name))
      return failure();
    names.push_back(b.getStringAttr(name));
    std::string expr;
    if (succeeded(parser.parseOptionalEqual()) && ExprReader(parser).read(expr))
      return failure();
    exprs.push_back(b.getStringAttr(expr));
    int64_t min = 0;
    if (succeeded(parser.parseOptionalKeyword("min")) && parser.parseInteger(min))
      return failure();
    mins.push_back(min);
    args.push_back(arg);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseArg))
    return failure();

  int32_t warps;
  if (parser.parseKeyword("warps") || parser.parseLParen() || parser.parseInteger(warps) ||
      parser.parseRParen())
    return failure();
  SmallVector<int64_t> cluster;
  if (succeeded(parser.parseOptionalKeyword("cluster")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parser.parseInteger(cluster.emplace_back());
      }))
    return failure();
  if (cluster.empty())
    cluster.assign(3, 1);
  SmallVector<Attribute> grid;
  if (succeeded(parser.parseOptionalKeyword("grid")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        std::string expr;
        if (ExprReader(parser).read(expr))
          return failure();
        grid.push_back(b.getStringAttr(expr));
        return success();
      }))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("flush_denormals")))
    result.addAttribute("flush_denormals", b.getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("trips_per_tile")))
    result.addAttribute("trips_per_tile", b.getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("max_smem"))) {
    int64_t cap;
    if (parser.parseLParen() || parser.parseInteger(cap) || parser.parseRParen())
      return failure();
    result.addAttribute("max_dynamic_smem", b.getI64IntegerAttr(cap));
  }
  result.addAttribute("arg_names", b.getArrayAttr(names));
  result.addAttribute("arg_exprs", b.getArrayAttr(exprs));
  result.addAttribute("arg_mins", b.getDenseI64ArrayAttr(mins));
  result.addAttribute("num_warps", b.getI32IntegerAttr(warps));
  result.addAttribute("cluster", b.getDenseI64ArrayAttr(cluster));
  result.addAttribute("grid", b.getArrayAttr(grid));
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args))
    return failure();
  ensureTerminator(*body, b, result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  for (auto [i, arg] : llvm::enumerate(getBody().getArguments())) {
    printer << (i ? ", " : "");
    printer.printRegionArgument(arg);
    // The printer may not be free to use an argument's own name.
    std::string ssaName;
    llvm::raw_string_ostream os(ssaName);
    printer.printOperand(arg, os);
    StringAttr name = cast<StringAttr>(getArgNames()[i]);
    if (StringRef(ssaName).drop_front() != name.getValue())
      printer << " as " << name;
    StringRef expr = cast<StringAttr>(getArgExprs()[i]).getValue();
    if (!expr.empty())
      printer << " = " << expr;
    if (getArgMins()[i])
      printer << " min " << getArgMins()[i];
  }
  printer << ") warps(" << getNumWarps() << ')';
  if (getClusterSize() != 1) {
    printer << " cluster(";
    llvm::interleaveComma(getCluster(), printer);
    printer << ')';
  }
  if (!getGrid().empty()) {
    printer << " grid(";
    llvm::interleaveComma(getGrid(), printer,
                          [&](Attribute expr) { printer << cast<StringAttr>(expr).getValue(); });
    printer << ')';
  }
  if (getFlushDenormals())
    printer << " flush_denormals";
  if (getTripsPerTile())
    printer << " trips_per_tile";
  if (getMaxDynamicSmem())
    printer << " max_smem(" << int64_t(*getMaxDynamicSmem()) << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"sym_name", "arg_names", "arg_exprs", "arg_mins", "num_warps", "cluster",
                            "grid", "flush_denormals", "trips_per_tile", "max_dynamic_smem"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  // Called on unverified ops too.
  auto names = (*this)->getAttrOfType<ArrayAttr>("arg_names");
  if (!names || names.size() != region.getNumArguments())
    return;
  for (auto [arg, attr] : llvm::zip_equal(region.getArguments(), names))
    if (auto name = dyn_cast<StringAttr>(attr))
      setName(arg, name.getValue());
}

int64_t KernelOp::getClusterSize() {
  int64_t size = 1;
  for (int64_t dim : getCluster())
    size *= dim;
  return size;
}

StringRef KernelOp::getChip() {
  if (auto chip = (*this)->getAttrOfType<StringAttr>(kChipAttr))
    return chip.getValue();
  for (Operation *op = (*this)->getParentOp(); op; op = op->getParentOp())
    if (auto chip = op->getAttrOfType<StringAttr>(kChipAttr))
      return chip.getValue();
  return "";
}

LogicalResult KernelOp::verify() {
  if (!isa_and_nonnull<gpu::GPUModuleOp>((*this)->getParentOp()))
    return emitOpError("belongs into a gpu.module (C1); wrap it as in "
                       "'gpu.module @m attributes {ts.chip = \"sm_90a\"} { ... }'");
  if (getNumWarps() < 1 || getNumWarps() > 32)
    return emitOpError("a CTA has 1 to 32 warps (1024 threads), found ") << int32_t(getNumWarps());
  auto args = getBody().getArguments();
  if (getArgNames().size() != args.size() || getArgExprs().size() != args.size() ||
      getArgMins().size() != args.size())
    return emitOpError("arg_names, arg_exprs and arg_mins need one entry for each of the ")
           << args.size() << " arguments";
  if (getCluster().size() != 3)
    return emitOpError("cluster gives three dimensions (x, y, z), found ") << getCluster().size();
  int64_t clusterSize = 1;
  for (int64_t dim : getCluster()) {
    if (dim < 1 || dim > 16)
      return emitOpError("cluster dimension ") << dim << " is outside 1..16";
    clusterSize *= dim;
  }
  if (clusterSize > 16)
    return emitOpError("a cluster has at most 16 CTAs, found ") << clusterSize;
  if (getGrid().size() > 3)
    return emitOpError("a grid has up to three dimensions, found ") << getGrid().size();

  for (Operation &op : getBodyBlock().without_terminator())
    if (isa_and_nonnull<TSDialect>(op.getDialect()) &&
        !isa<ResourceOp, WorkQueueOp, PdlOp, BatonOp, DependsOp, AliasGroupOp, PipelineGroupOp,
             TaskOp, NamedBarrierOp, MbarrierOp>(op))
      return op.emitOpError("is a step of a schedule and stands outside any ts.task; no warp would "
                            "execute it");

  llvm::StringSet<> scalars, arrays;
  for (auto [arg, name] : llvm::zip(args, getArgNames().getAsValueRange<StringAttr>())) {
    Type type = arg.getType();
    if (name.empty() || scalars.contains(name) || arrays.contains(name))
      return emitOpError("argument names must be distinct and not empty, found '") << name << "'";
    if (isa<TensorMapType>(type)) {
      arrays.insert(name);
    } else if (auto memref = dyn_cast<MemRefType>(type)) {
      if (memref.getMemorySpace())
        return emitOpError("argument '%") << name << "' is in memory space "
                                          << memref.getMemorySpace()
                                          << "; kernel arguments are global memory, without a space";
      SmallVector<int64_t> strides;
      int64_t offset;
      if (failed(memref.getStridesAndOffset(strides, offset)))
        return emitOpError("argument '%") << name << "' has a layout that is not strided";
      arrays.insert(name);
    } else if (type.isIndex() || type.isIntOrFloat()) {
      scalars.insert(name);
    } else {
      return emitOpError("argument '%")
             << name << "' has type " << type
             << "; a kernel takes tensor maps, memrefs, index, integers and floats";
    }
  }
  auto rankOf = [&](StringRef name) -> int64_t {
    for (auto [arg, argName] : llvm::zip(args, getArgNames().getAsValueRange<StringAttr>()))
      if (argName == name) {
        if (auto map = dyn_cast<TensorMapType>(arg.getType()))
          return map.getRank();
        return cast<MemRefType>(arg.getType()).getRank();
      }
    return 0;
  };
  auto checkExpr = [&](StringRef text, const Twine &what) -> LogicalResult {
    ::ts::LaunchExprError error;
    auto expr = ::ts::LaunchExpr::parse(text, error);
    if (!expr)
      return emitOpError() << what << ": launch expression '" << text << "' is wrong at column "
                           << error.column << ": " << error.message;
    for (const auto &ref : expr->references()) {
      using Kind = ::ts::LaunchExpr::Reference::Kind;
      if (ref.kind == Kind::Scalar && !scalars.contains(ref.name))
        return emitOpError() << what << ": '" << ref.name
                             << "' in launch expression '" << text
                             << "' is no scalar argument of this kernel (C3)";
      if (ref.kind == Kind::Dim || ref.kind == Kind::Stride) {
        if (!arrays.contains(ref.name))
          return emitOpError() << what << ": '" << ref.name << "' in launch expression '" << text
                               << "' is no array argument of this kernel (C3)";
        if (int64_t(ref.index) >= rankOf(ref.name))
          return emitOpError() << what << ": '" << ref.name << "' has " << rankOf(ref.name)
                               << " dimensions, '" << text << "' asks for number " << ref.index;
      }
    }
    return success();
  };
  for (auto [i, text] : llvm::enumerate(getArgExprs().getAsValueRange<StringAttr>())) {
    StringRef name = cast<StringAttr>(getArgNames()[i]).getValue();
    if (text.empty())
      continue;
    if (!scalars.contains(name) || !(args[i].getType().isIndex() || args[i].getType().isInteger()))
      return emitOpError("argument '%") << name
                                        << "' is no integer scalar, so no expression derives it";
    if (failed(checkExpr(text, "argument '%" + name + "'")))
      return failure();
  }
  for (auto text : getGrid().getAsValueRange<StringAttr>())
    if (failed(checkExpr(text, "grid")))
      return failure();
  for (auto [i, min] : llvm::enumerate(getArgMins()))
    if (min < 0 || (min && !args[i].getType().isIndex()))
      return emitOpError("'min' of argument '%")
             << cast<StringAttr>(getArgNames()[i]).getValue()
             << "' is a smallest trip count: it needs an index argument and a number from 0";
  return success();
}

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
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"name", "space", "allocs", "pipeline", "producer_uses",
                                 "consumer_uses", "barrier_alloc"});
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
      int64_t inner = getBytes(MemRefType::get(shape.take_back(), alloc.getType().getElementType()));
      if (inner != swizzle)
        return emitOpError("[TS228] the innermost dimension of allocation '")
               << alloc.getName() << "' is " << inner << " bytes, expected the swizzle span of "
               << swizzle << " bytes; split the tile into panels of that width";
    }
    if (isTmem(alloc.getType())) {
      if (alloc.getType().getRank() != 2 || alloc.getType().getShape()[0] > 128)
        return emitOpError("tensor memory allocation '")
               << alloc.getName()
               << "' is rows x columns with at most 128 rows (lanes), found " << alloc.getType();
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
    return emitOpError("first holder ") << int64_t(getFirst()) << " is outside 0.." << getHolders() - 1;
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
    return emitOpError("phases ")
           << getPhasesAttr() << " do not split the " << getMembers().size()
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
      return emitOpError("member '") << getResourceName(member)
                                     << "' is no ts.resource with a pipeline";
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
  if (getRegisters() && (int32_t(*getRegisters()) < 24 || *getRegisters() > 256 ||
                         *getRegisters() % 8))
    return emitOpError("register budget ")
           << int32_t(*getRegisters())
           << " is not a multiple of 8 from 24 to 256 (PTX ISA 8.8, setmaxnreg)";
  if (getOnlyCta() && (int32_t(*getOnlyCta()) < 0 || *getOnlyCta() > 15))
    return emitOpError("only_cta(") << int32_t(*getOnlyCta()) << ") is no CTA rank of a cluster";
  return success();
}
