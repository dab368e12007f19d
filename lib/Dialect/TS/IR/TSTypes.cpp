// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, printing and verification of the dialect's types.
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ts;

#define GET_TYPEDEF_CLASSES
#include "ts/Dialect/TS/IR/TSTypes.cpp.inc"

void TSDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ts/Dialect/TS/IR/TSTypes.cpp.inc"
      >();
}

static void printDims(AsmPrinter &printer, ArrayRef<int64_t> dims) {
  llvm::interleave(
      dims, printer.getStream(),
      [&](int64_t dim) {
        if (ShapedType::isDynamic(dim))
          printer << '?';
        else
          printer << dim;
      },
      "x");
}

//===-- tensor_map ---------------------------------------------------------------------------===//

Type TensorMapType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, box, strides;
  Type element;
  unsigned swizzle = 0, interleave = 0, l2 = 256;
  TensorMapFill fill = TensorMapFill::Zero;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(element))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    ParseResult ok = success();
    if (key == "box")
      ok = parser.parseDimensionList(box, false, /*withTrailingX=*/false);
    else if (key == "element_strides")
      ok = parser.parseDimensionList(strides, false, false);
    else if (key == "swizzle")
      ok = parser.parseInteger(swizzle);
    else if (key == "interleave")
      ok = parser.parseInteger(interleave);
    else if (key == "l2")
      ok = parser.parseInteger(l2);
    else if (key == "fill") {
      StringRef word;
      if (parser.parseKeyword(&word))
        return {};
      auto value = symbolizeTensorMapFill(word);
      if (!value)
        return parser.emitError(keyLoc, "fill of a tensor map is 'zero' or 'nan', found '")
                   << word << "'",
               Type();
      fill = *value;
    } else {
      return parser.emitError(keyLoc, "unknown field '")
                 << key
                 << "' of a tensor map; expected box, swizzle, interleave, fill, l2 or "
                    "element_strides",
             Type();
    }
    if (ok)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return TensorMapType::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                   shape, element, box, swizzle, interleave, fill, l2, strides);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << '<';
  printDims(printer, getShape());
  printer << 'x' << getElementType() << ", box = ";
  printDims(printer, getBox());
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  if (getInterleave())
    printer << ", interleave = " << getInterleave();
  if (getFill() != TensorMapFill::Zero)
    printer << ", fill = " << stringifyTensorMapFill(getFill());
  if (getL2Promotion() != 256)
    printer << ", l2 = " << getL2Promotion();
  if (!getElementStrides().empty()) {
    printer << ", element_strides = ";
    printDims(printer, getElementStrides());
  }
  printer << '>';
}

LogicalResult TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<int64_t> shape, Type element, ArrayRef<int64_t> box,
                                    unsigned swizzle, unsigned interleave, TensorMapFill,
                                    unsigned l2, ArrayRef<int64_t> strides) {
  if (shape.empty() || shape.size() > 5)
    return emitError() << "a tensor map has 1 to 5 dimensions (CUDA driver, "
                          "cuTensorMapEncodeTiled), found "
                       << shape.size();
  if (box.size() != shape.size())
    return emitError() << "the box has " << box.size() << " dimensions, the tensor map "
                       << shape.size() << "; give one box size per dimension, slowest first";
  if (!element.isIntOrFloat())
    return emitError() << "element type " << element
                       << " of a tensor map is neither an integer nor a float";
  if (!llvm::is_contained({0u, 32u, 64u, 128u}, swizzle))
    return emitError() << "swizzle " << swizzle
                       << " does not exist; expected 0, 32, 64 or 128 bytes";
  if (!llvm::is_contained({0u, 16u, 32u}, interleave))
    return emitError() << "interleave " << interleave
                       << " does not exist; expected 0, 16 or 32 bytes";
  if (!llvm::is_contained({0u, 64u, 128u, 256u}, l2))
    return emitError() << "L2 promotion " << l2
                       << " does not exist; expected 0, 64, 128 or 256 bytes";
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "element_strides has " << strides.size() << " entries, expected "
                       << shape.size();
  for (auto [i, dim] : llvm::enumerate(box))
    if (dim < 1 || dim > 256)
      return emitError() << "[TS228] box size " << dim << " in dimension " << i
                         << " is outside 1..256 (CUDA driver, cuTensorMapEncodeTiled); split the "
                            "copy into several boxes";
  int64_t inner = box.back() * element.getIntOrFloatBitWidth();
  if (inner % 128)
    return emitError() << "[TS228] the box's innermost dimension is " << inner / 8
                       << " bytes, expected a multiple of 16 bytes";
  if (swizzle && inner > int64_t(swizzle) * 8)
    return emitError() << "[TS228] the box's innermost dimension is " << inner / 8
                       << " bytes, more than the swizzle span of " << swizzle
                       << " bytes; use a box of at most "
                       << int64_t(swizzle) * 8 / element.getIntOrFloatBitWidth() << " elements";
  for (int64_t stride : strides)
    if (stride < 1 || stride > 8)
      return emitError() << "[TS228] element stride " << stride << " is outside 1..8";
  return success();
}

int64_t TensorMapType::getBoxBytes() const {
  int64_t bits = getElementType().getIntOrFloatBitWidth();
  for (int64_t dim : getBox())
    bits *= dim;
  return bits / 8;
}

//===-- tiles in registers -------------------------------------------------------------------===//

template <typename T> static Type parseTile(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, false) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return T::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, element);
}

template <typename T> static void printTile(AsmPrinter &printer, T type) {
  printer << '<';
  printDims(printer, type.getShape());
  printer << 'x' << type.getElementType() << '>';
}

static LogicalResult verifyTile(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> shape, Type element) {
  if (shape.size() != 2 || shape[0] != 64)
    return emitError() << "a warpgroup's register tile is 64 x N (PTX ISA 8.8, wgmma), found "
                       << shape.size() << " dimensions"
                       << (shape.empty() ? std::string() : ", first " + std::to_string(shape[0]));
  if (shape[1] < 8 || shape[1] > 256 || shape[1] % 8)
    return emitError()
           << "N of a warpgroup's register tile is a multiple of 8 from 8 to 256, found "
           << shape[1];
  if (!element.isIntOrFloat())
    return emitError() << "element type " << element
                       << " of a register tile is neither an integer nor a float";
  return success();
}

Type WgmmaType::parse(AsmParser &parser) { return parseTile<WgmmaType>(parser); }
void WgmmaType::print(AsmPrinter &printer) const { printTile(printer, *this); }
LogicalResult WgmmaType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> shape, Type element) {
  return verifyTile(emitError, shape, element);
}

Type FragmentType::parse(AsmParser &parser) { return parseTile<FragmentType>(parser); }
void FragmentType::print(AsmPrinter &printer) const { printTile(printer, *this); }
LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type element) {
  return verifyTile(emitError, shape, element);
}
