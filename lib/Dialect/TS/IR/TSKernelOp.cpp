// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, printing and local verification of ts.kernel, launch expressions included.
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
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     [&] { return parser.parseInteger(cluster.emplace_back()); }))
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
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"sym_name", "arg_names", "arg_exprs", "arg_mins",
                                            "num_warps", "cluster", "grid", "flush_denormals",
                                            "trips_per_tile", "max_dynamic_smem"});
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
        return emitOpError("argument '%")
               << name << "' is in memory space " << memref.getMemorySpace()
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
        return emitOpError() << what << ": '" << ref.name << "' in launch expression '" << text
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
      return emitOpError("argument '%")
             << name << "' is no integer scalar, so no expression derives it";
    if (failed(checkExpr(text, "argument '%" + name + "'")))
      return failure();
  }
  for (auto text : getGrid().getAsValueRange<StringAttr>())
    if (failed(checkExpr(text, "grid")))
      return failure();
  for (auto [i, min] : llvm::enumerate(getArgMins()))
    // Beyond 2^31 nothing runs to its end, and sums of trip counts would not fit any more.
    if (min < 0 || min > INT32_MAX || (min && !args[i].getType().isIndex()))
      return emitOpError("'min' of argument '%") << cast<StringAttr>(getArgNames()[i]).getValue()
                                                 << "' is a smallest trip count: it needs an index "
                                                    "argument and a number from 0 to 2^31 - 1";
  return success();
}
