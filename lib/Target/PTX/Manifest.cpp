// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "ts/Target/PTX/Manifest.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "ts/Support/Checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::ts;
namespace json = llvm::json;

/// Checks one kernel's object: a manifest that disagrees with the PTX would launch the kernel with
/// shifted parameters.
static LogicalResult checkKernel(FunctionOpInterface function, const json::Object &kernel) {
  auto error = [&] {
    return function.emitError() << ::ts::checkPrefix(::ts::CheckId::TS502) << "the '"
                                << manifestAttrName << "' of kernel '" << function.getName()
                                << "' ";
  };
  std::optional<llvm::StringRef> name = kernel.getString("name");
  if (!name || *name != function.getName())
    return error() << "is for another kernel: '" << name.value_or("") << "'";
  const json::Array *params = kernel.getArray("params");
  if (!params)
    return error() << "has no array 'params'";
  if (params->size() != function.getNumArguments())
    return error() << "lists " << params->size() << " parameters, the function has "
                   << function.getNumArguments();
  return success();
}

FailureOr<std::string> mlir::ts::collectManifest(gpu::GPUModuleOp module) {
  json::Array kernels;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    auto text = function->getAttrOfType<StringAttr>(manifestAttrName);
    if (!text)
      continue;
    llvm::Expected<json::Value> value = json::parse(text.getValue());
    if (!value) {
      function.emitError() << ::ts::checkPrefix(::ts::CheckId::TS502) << "the '" << manifestAttrName
                           << "' of kernel '" << function.getName()
                           << "' is no JSON: " << llvm::toString(value.takeError());
      return failure();
    }
    const json::Object *kernel = value->getAsObject();
    if (!kernel) {
      function.emitError() << ::ts::checkPrefix(::ts::CheckId::TS502) << "the '" << manifestAttrName
                           << "' of kernel '" << function.getName() << "' is no JSON object";
      return failure();
    }
    if (failed(checkKernel(function, *kernel)))
      return failure();
    kernels.push_back(std::move(*value));
  }
  if (kernels.empty())
    return std::string();
  json::Value document = json::Object{{"version", 1}, {"kernels", std::move(kernels)}};
  return llvm::formatv("{0:2}\n", document).str();
}
