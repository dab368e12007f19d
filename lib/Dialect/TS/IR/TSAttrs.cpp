// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, printing and local verification of the dialect's attributes. Whether a pipeline's counts
// fit its tasks is not judged here but by ts-verify, from the Protocol component.
#include "ts/Dialect/TS/IR/MatrixTile.h"
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;

#include "ts/Dialect/TS/IR/TSEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ts/Dialect/TS/IR/TSAttrs.cpp.inc"

void TSDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ts/Dialect/TS/IR/TSAttrs.cpp.inc"
      >();
}

Attribute SmemSpaceAttr::parse(AsmParser &parser, Type) {
  unsigned swizzle = 0;
  bool padded = false;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLess())) {
    if (parser.parseInteger(swizzle))
      return {};
    if (succeeded(parser.parseOptionalComma())) {
      if (parser.parseKeyword("padded"))
        return {};
      padded = true;
    }
    if (parser.parseGreater())
      return {};
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), swizzle, padded);
}

void SmemSpaceAttr::print(AsmPrinter &printer) const {
  if (getSwizzle() || getPadded())
    printer << '<' << getSwizzle() << (getPadded() ? ", padded" : "") << '>';
}

LogicalResult SmemSpaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned swizzle,
                                    bool padded) {
  if (padded && swizzle != 0 && swizzle != 128)
    return emitError() << "padded memory has no swizzle or one of 128 bytes (CUDA driver, "
                          "16U4_ALIGN16B), found "
                       << swizzle;
  if (!llvm::is_contained({0u, 32u, 64u, 128u}, swizzle))
    return emitError() << "swizzle " << swizzle
                       << " does not exist; expected 0, 32, 64 or 128 bytes";
  return success();
}

//===-- alloc --------------------------------------------------------------------------------===//

Attribute AllocAttr::parse(AsmParser &parser, Type) {
  std::string name;
  MemRefType type;
  int64_t align = 0, at = -1;
  bool staged = true;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&name) || parser.parseColon() ||
      parser.parseType(type))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key))
      return {};
    if (key == "unstaged") {
      staged = false;
      continue;
    }
    if (key != "align" && key != "at")
      return parser.emitError(keyLoc, "unknown field '")
                 << key << "' of an allocation; expected align, at or unstaged",
             Attribute();
    if (parser.parseEqual() || parser.parseInteger(key == "align" ? align : at))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return AllocAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), name,
                               type, align, at, staged);
}

void AllocAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getName() << "\" : " << getType();
  if (getAlign())
    printer << ", align = " << getAlign();
  if (getAt() >= 0)
    printer << ", at = " << getAt();
  if (!getStaged())
    printer << ", unstaged";
  printer << '>';
}

LogicalResult AllocAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                MemRefType type, int64_t align, int64_t at, bool) {
  if (name.empty())
    return emitError() << "an allocation needs a name";
  if (!type.hasStaticShape())
    return emitError() << "allocation '" << name << "' has the dynamic type " << type
                       << "; shared and tensor memory are laid out at compile time, so every "
                          "dimension must be a number";
  if (!type.getElementType().isIntOrFloat())
    return emitError() << "allocation '" << name << "' has element type " << type.getElementType()
                       << "; expected an integer or a float";
  if (!type.getLayout().isIdentity())
    return emitError() << "allocation '" << name
                       << "' has a layout; give the swizzle in the memory space instead, as in "
                          "memref<128x64xbf16, #ts.smem<128>>";
  if (int64_t bits = getElementBits(type.getElementType());
      isPadded(type) && bits != 4 && bits != 6)
    return emitError() << "allocation '" << name << "' is padded, which is for elements of 4 or 6 "
                       << "bits, found " << type.getElementType() << "; use #ts.smem without it";
  if (getBytes(type) == 0)
    return emitError() << "allocation '" << name << "' is empty";
  if (align && (align < 0 || !llvm::isPowerOf2_64(align) || align > 65536))
    return emitError() << "alignment " << align << " of allocation '" << name
                       << "' is not a power of two up to 65536";
  if (at < -1)
    return emitError() << "allocation '" << name << "' cannot be placed at " << at;
  return success();
}

//===-- pipeline -----------------------------------------------------------------------------===//

static ParseResult parseInts(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

static FailureOr<Signalling> parseSignalling(AsmParser &parser) {
  auto result = static_cast<Signalling>(0);
  do {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    auto bit = symbolizeSignalling(word);
    if (!bit)
      return parser.emitError(loc, "unknown signalling '")
             << word << "'; expected all, cta_leader or task_warp_leader";
    result = result | *bit;
  } while (succeeded(parser.parseOptionalVerticalBar()));
  return result;
}

PipelineAttr PipelineAttr::parseFields(AsmParser &parser) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return {};
  auto type = symbolizePipelineType(word);
  if (!type)
    return parser.emitError(loc, "unknown pipeline type '")
               << word
               << "'; expected async_async, tma_async, tma_umma, umma_async, async_umma, umma_umma "
                  "or clc_fetch_async",
           PipelineAttr();
  int64_t stages = -1, bytes = -1, producers = -1, consumers = -1, perWarp = -1;
  Signalling producerSignal = Signalling::All, consumerSignal = Signalling::All;
  std::optional<Signalling> waitSignal;
  bool onWait = false, onAcquire = false;
  SmallVector<int64_t> interleave, mcast, layout;
  ProducerOp producerOp = ProducerOp::Thread;
  llvm::StringMap<int64_t *> numbers = {{"stages", &stages},
                                        {"num_bytes", &bytes},
                                        {"producer_count", &producers},
                                        {"consumer_count", &consumers},
                                        {"bytes_per_warp_per_cta", &perWarp}};
  llvm::StringMap<SmallVector<int64_t> *> lists = {{"mcast", &mcast}, {"cta_layout", &layout}};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key))
      return {};
    if (key == "advance_on_wait" || key == "advance_on_acquire") {
      (key == "advance_on_wait" ? onWait : onAcquire) = true;
      continue;
    }
    if (parser.parseEqual())
      return {};
    if (auto it = numbers.find(key); it != numbers.end()) {
      SMLoc valueLoc = parser.getCurrentLocation();
      if (parser.parseInteger(*it->second))
        return {};
      if (*it->second < 0)
        return parser.emitError(valueLoc, "field '")
                   << key << "' of a pipeline cannot be negative; leave it out to infer it",
               PipelineAttr();
    } else if (auto it = lists.find(key); it != lists.end()) {
      if (parseInts(parser, *it->second))
        return {};
    } else if (key == "interleave") {
      int64_t one;
      OptionalParseResult parsed = parser.parseOptionalInteger(one);
      if (parsed.has_value() ? failed(*parsed) : bool(parseInts(parser, interleave)))
        return {};
      if (parsed.has_value())
        interleave.assign(4, one);
    } else if (key == "producer_op") {
      if (parser.parseKeyword(&word))
        return {};
      auto op = symbolizeProducerOp(word);
      if (!op)
        return parser.emitError(keyLoc, "producer_op is 'thread' or 'load', found '")
                   << word << "'",
               PipelineAttr();
      producerOp = *op;
    } else if (key == "producer_signal" || key == "consumer_signal" ||
               key == "consumer_wait_signal") {
      FailureOr<Signalling> value = parseSignalling(parser);
      if (failed(value))
        return {};
      if (key == "producer_signal")
        producerSignal = *value;
      else if (key == "consumer_signal")
        consumerSignal = *value;
      else
        waitSignal = value;
    } else {
      return parser.emitError(keyLoc, "unknown field '")
                 << key
                 << "' of a pipeline; expected stages, num_bytes, producer_count, consumer_count, "
                    "producer_signal, consumer_signal, consumer_wait_signal, advance_on_wait, "
                    "advance_on_acquire, interleave, producer_op, bytes_per_warp_per_cta, mcast or "
                    "cta_layout",
             PipelineAttr();
    }
  }
  if (stages < 0)
    return parser.emitError(loc, "a pipeline needs its depth: add 'stages = N'"), PipelineAttr();
  return PipelineAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), *type,
                                  stages, bytes, producers, consumers, producerSignal,
                                  consumerSignal, waitSignal, onWait, onAcquire, interleave,
                                  producerOp, perWarp, mcast, layout);
}

void PipelineAttr::printFields(AsmPrinter &printer) const {
  printer << stringifyPipelineType(getType()) << ", stages = " << getStages();
  auto number = [&](StringRef key, int64_t value) {
    if (value >= 0)
      printer << ", " << key << " = " << value;
  };
  auto list = [&](StringRef key, ArrayRef<int64_t> values) {
    if (values.empty())
      return;
    printer << ", " << key << " = (";
    llvm::interleaveComma(values, printer);
    printer << ')';
  };
  auto signal = [&](StringRef key, Signalling value) {
    printer << ", " << key << " = " << stringifySignalling(value);
  };
  number("num_bytes", getNumBytes());
  number("producer_count", getProducerCount());
  number("consumer_count", getConsumerCount());
  if (getProducerSignal() != Signalling::All)
    signal("producer_signal", getProducerSignal());
  if (getConsumerSignal() != Signalling::All)
    signal("consumer_signal", getConsumerSignal());
  if (getConsumerWaitSignal())
    signal("consumer_wait_signal", *getConsumerWaitSignal());
  if (getAdvanceOnWait())
    printer << ", advance_on_wait";
  if (getAdvanceOnAcquire())
    printer << ", advance_on_acquire";
  if (!getInterleave().empty() && llvm::all_equal(getInterleave()))
    number("interleave", getInterleave().front());
  else
    list("interleave", getInterleave());
  if (getProducerOp() != ProducerOp::Thread)
    printer << ", producer_op = " << stringifyProducerOp(getProducerOp());
  number("bytes_per_warp_per_cta", getBytesPerWarpPerCta());
  list("mcast", getMcast());
  list("cta_layout", getCtaLayout());
}

Attribute PipelineAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  PipelineAttr attr = parseFields(parser);
  if (!attr || parser.parseGreater())
    return {};
  return attr;
}

void PipelineAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printFields(printer);
  printer << '>';
}

std::array<int64_t, 4> PipelineAttr::getStrides() const {
  if (getInterleave().empty())
    return {1, 1, 1, 1};
  return {getInterleave()[0], getInterleave()[1], getInterleave()[2], getInterleave()[3]};
}

LogicalResult PipelineAttr::verify(function_ref<InFlightDiagnostic()> emitError, PipelineType,
                                   int64_t stages, int64_t, int64_t producers, int64_t consumers,
                                   Signalling, Signalling, std::optional<Signalling>, bool, bool,
                                   ArrayRef<int64_t> interleave, ProducerOp, int64_t,
                                   ArrayRef<int64_t> mcast, ArrayRef<int64_t> layout) {
  // Two barriers of 8 bytes per stage in at most 227 KiB of shared memory.
  constexpr int64_t kMaxStages = 1024;
  constexpr int64_t kMaxArrivals = (1 << 20) - 1;
  if (stages < 1 || stages > kMaxStages)
    return emitError() << "a pipeline has 1 to " << kMaxStages << " stages, found " << stages;
  for (int64_t count : {producers, consumers})
    if (count == 0 || count > kMaxArrivals)
      return emitError() << "an mbarrier takes 1 to " << kMaxArrivals
                         << " arrivals per phase (PTX ISA 8.8, mbarrier), found " << count;
  if (!interleave.empty() && interleave.size() != 4)
    return emitError() << "interleave is one stride or four (producer acquire, producer commit, "
                          "consumer wait, consumer release), found "
                       << interleave.size();
  for (int64_t stride : interleave)
    if (stride < 1)
      return emitError() << "interleave stride " << stride << " is not positive";
  if (!mcast.empty() && mcast.size() != 2)
    return emitError() << "mcast gives the multicast modes in M and N, found " << mcast.size()
                       << " numbers";
  if (!layout.empty() && layout.size() != 4)
    return emitError() << "cta_layout gives (V, M, N, K), found " << layout.size() << " numbers";
  // A mode of 0 says that the operand is not multicast.
  for (int64_t mode : mcast)
    if (mode < 0 || mode > 16)
      return emitError() << "a multicast mode is 0 to 16, found " << mode;
  for (int64_t count : layout)
    if (count < 1 || count > 16)
      return emitError() << "cta_layout counts CTAs of a cluster: expected 1 to 16, found "
                         << count;
  return success();
}

//===-- effect -------------------------------------------------------------------------------===//

Attribute EffectAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  std::string name;
  int64_t offset = 0, size = -1;
  EngineKind engine = EngineKind::Thread;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  if (word != "read" && word != "write")
    return parser.emitError(loc, "an effect is 'read' or 'write', found '") << word << "'",
           Attribute();
  bool write = word == "write";
  (void)parser.parseOptionalString(&name);
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    if (key == "offset" || key == "size") {
      if (parser.parseInteger(key == "offset" ? offset : size))
        return {};
    } else if (key == "engine") {
      if (parser.parseKeyword(&word))
        return {};
      auto value = symbolizeEngineKind(word);
      if (!value)
        return parser.emitError(keyLoc, "unknown engine '")
                   << word << "'; expected thread, cp_async, tma, bulk, wgmma, umma, utccp or clc",
               Attribute();
      engine = *value;
    } else {
      return parser.emitError(keyLoc, "unknown field '")
                 << key << "' of an effect; expected offset, size or engine",
             Attribute();
    }
  }
  if (parser.parseGreater())
    return {};
  return EffectAttr::get(parser.getContext(), name, write, offset, size, engine);
}

void EffectAttr::print(AsmPrinter &printer) const {
  printer << '<' << (getWrite() ? "write" : "read");
  if (!getAlloc().empty())
    printer << " \"" << getAlloc() << '"';
  if (getOffset())
    printer << ", offset = " << getOffset();
  if (getSize() >= 0)
    printer << ", size = " << getSize();
  if (getEngine() != EngineKind::Thread)
    printer << ", engine = " << stringifyEngineKind(getEngine());
  printer << '>';
}
