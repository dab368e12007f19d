// Works out a launch: scalars, minimum trip counts, grid and parameters.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/LaunchPlan.h"

#include "ts/Support/Checks.h"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ts;

namespace {
constexpr int64_t maxGridX = 0x7FFFFFFF;
constexpr int64_t maxGridYZ = 0xFFFF;

bool isTruth(int64_t value) { return value == 0 || value == 1; }

bool fits(ElementType type, int64_t value) {
  if (type == ElementType::U64)
    return value >= 0;
  if (type == ElementType::I64)
    return true;
  int bits = static_cast<int>(elementSize(type)) * 8;
  return isSigned(type) ? value >= -(int64_t(1) << (bits - 1)) && value < int64_t(1) << (bits - 1)
                        : value >= 0 && value < int64_t(1) << bits;
}

const char *typeName(ElementType type, bool isFlag) {
  return isFlag ? "i1" : elementTypeName(type);
}

std::vector<uint8_t> encode(const ScalarValue &value) {
  std::vector<uint8_t> bytes(static_cast<size_t>(elementSize(value.type)));
  if (isFloat(value.type))
    storeElement(value.type, bytes.data(), value.real);
  else
    std::memcpy(bytes.data(), &value.integer, bytes.size()); // little-endian, like the device
  return bytes;
}

/// The values of all scalars: given ones, and derived ones on demand.
class Scalars {
public:
  Scalars(const ManifestKernel &kernel, const LaunchInputs &inputs)
      : kernel(kernel), inputs(inputs) {
    env.scalar = [this](const std::string &name) { return integer(name); };
    env.dim = [this](const std::string &name, unsigned i) { return extent(name, i, false); };
    env.stride = [this](const std::string &name, unsigned i) { return extent(name, i, true); };
    env.sms = inputs.sms;
  }

  /// The value, computed once; nothing after an error, which `error` keeps.
  const ScalarValue *get(const ManifestArg &arg) {
    if (auto found = values.find(arg.name); found != values.end())
      return found->second ? &*found->second : nullptr;
    auto &slot = values[arg.name]; // empty while it is computed, so that a cycle ends here
    if (!arg.value) {
      auto given = inputs.scalars.find(arg.name);
      if (given == inputs.scalars.end()) {
        fail("scalar '" + arg.name + "' of type " + typeName(arg.element, arg.isFlag) +
             " has no value; give one with --scalar " + arg.name + "=...");
        return nullptr;
      }
      if (arg.isFlag && !isTruth(given->second.integer)) {
        fail("scalar '" + arg.name + "' of type i1 is " + std::to_string(given->second.integer) +
             ", expected 0 or 1");
        return nullptr;
      }
      slot = given->second;
      return &*slot;
    }
    std::optional<int64_t> value = evaluate(*arg.value, "scalar '" + arg.name + "'");
    if (!value)
      return nullptr;
    if (!fits(arg.element, *value) || (arg.isFlag && !isTruth(*value))) {
      fail("scalar '" + arg.name + "' = " + arg.value->str() + " is " + std::to_string(*value) +
           ", which does not fit " + typeName(arg.element, arg.isFlag));
      return nullptr;
    }
    values[arg.name] = ScalarValue{arg.element, *value, 0};
    return &*values[arg.name];
  }

  std::optional<int64_t> evaluate(const LaunchExpr &expr, const std::string &what) {
    std::string message;
    std::optional<int64_t> value = expr.evaluate(env, message);
    if (!value)
      fail(what + " = " + expr.str() + ": " + message); // an inner failure came first and stays
    return value;
  }

  std::string error;

private:
  void fail(const std::string &message) {
    if (error.empty())
      error = message;
  }
  std::optional<int64_t> integer(const std::string &name) {
    const ManifestArg *arg = kernel.findArg(name);
    if (!arg || arg->isArray() || isFloat(arg->element))
      return std::nullopt;
    auto found = values.find(name);
    if (found != values.end() && !found->second)
      fail("scalar '" + name + "' is derived from itself");
    const ScalarValue *value = get(*arg);
    return value ? std::optional(value->integer) : std::nullopt;
  }
  std::optional<int64_t> extent(const std::string &name, unsigned i, bool stride) {
    auto found = inputs.arrays.find(name);
    if (found == inputs.arrays.end() || i >= found->second.shape.size())
      return std::nullopt;
    return stride ? found->second.strides[i] : found->second.shape[i];
  }

  const ManifestKernel &kernel;
  const LaunchInputs &inputs;
  LaunchEnv env;
  std::map<std::string, std::optional<ScalarValue>> values;
};

/// Whether some parameter passes a stride of the array, so that the kernel can follow padded rows.
bool passesStrides(const ManifestKernel &kernel, const std::string &array) {
  for (const ManifestParam &param : kernel.params)
    if (param.value)
      for (const LaunchExpr::Reference &ref : param.value->references())
        if (ref.kind == LaunchExpr::Reference::Kind::Stride && ref.name == array)
          return true;
  return false;
}

Status checkArrays(const ManifestKernel &kernel, const LaunchInputs &inputs) {
  for (const ManifestArg &arg : kernel.args) {
    if (!arg.isArray())
      continue;
    auto found = inputs.arrays.find(arg.name);
    if (found == inputs.arrays.end())
      return Error{"array '" + arg.name + "' is missing; give it with --array " + arg.name +
                   "=..."};
    const ArrayLayout &layout = found->second;
    if (layout.rank() != arg.rank)
      return Error{"array '" + arg.name + "' is " + shapeText(layout.shape) + ", but '" +
                   kernel.name + "' takes an array of rank " + std::to_string(arg.rank)};
    if (arg.kind == ManifestArg::Kind::Buffer && layout.elementCount() > 0 &&
        layout.strides != contiguousStrides(layout.shape) && !passesStrides(kernel, arg.name))
      return Error{"array '" + arg.name + "' has gaps between its rows, but '" + kernel.name +
                   "' takes it without: no parameter passes its strides"};
    if (arg.kind == ManifestArg::Kind::Buffer && layout.offsetBytes % arg.align != 0)
      return Error{"array '" + arg.name + "' begins " + std::to_string(layout.offsetBytes) +
                   " bytes after an aligned address, but '" + kernel.name +
                   "' needs it aligned to " + std::to_string(arg.align) + " bytes"};
  }
  return Done{};
}

std::string triple(const std::array<int64_t, 3> &values) {
  return std::to_string(values[0]) + " x " + std::to_string(values[1]) + " x " +
         std::to_string(values[2]);
}

template <typename T> std::string listText(const std::vector<T> &values) {
  std::string text;
  for (T value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}
} // namespace

std::string ScalarValue::str() const {
  if (!isFloat(type))
    return std::to_string(integer);
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", real);
  return text;
}

Result<ScalarValue> ts::parseScalar(ElementType type, const std::string &text) {
  ScalarValue value;
  value.type = type;
  char *end = nullptr;
  errno = 0;
  if (isFloat(type)) {
    value.real = roundToElement(type, std::strtod(text.c_str(), &end));
    if (text.empty() || *end || std::isspace(static_cast<unsigned char>(text[0])))
      return Error{"'" + text + "' is no number"};
    return value;
  }
  value.integer = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || std::isspace(static_cast<unsigned char>(text[0])))
    return Error{"'" + text + "' is no integer"};
  if (errno == ERANGE || !fits(type, value.integer))
    return Error{text + " does not fit " + elementTypeName(type)};
  return value;
}

static Result<LaunchPlan> plan(const ManifestKernel &kernel, const LaunchInputs &inputs) {
  if (Status status = checkArrays(kernel, inputs); !status)
    return status.error();
  Scalars scalars(kernel, inputs);
  LaunchPlan plan;
  plan.kernel = kernel.name;
  plan.arch = kernel.arch;
  plan.block = kernel.block;
  plan.cluster = kernel.cluster;
  plan.dynamicSmem = kernel.dynamicSmem;
  plan.pdl = kernel.pdl;

  for (const ManifestArg &arg : kernel.args) {
    if (arg.isArray())
      continue;
    const ScalarValue *value = scalars.get(arg);
    if (!value)
      return Error{scalars.error};
    plan.scalars.emplace_back(arg.name, *value);
  }

  for (size_t i = 0; i < 3; ++i) {
    std::optional<int64_t> extent =
        scalars.evaluate(kernel.grid[i], "grid dimension " + std::to_string(i));
    if (!extent)
      return Error{scalars.error};
    int64_t limit = i == 0 ? maxGridX : maxGridYZ;
    if (*extent < 0 || *extent > limit)
      return Error{"grid dimension " + std::to_string(i) + " = " + kernel.grid[i].str() + " is " +
                   std::to_string(*extent) + ", expected 0 to " + std::to_string(limit)};
    if (*extent % kernel.cluster[i] != 0)
      return Error{"grid dimension " + std::to_string(i) + " = " + kernel.grid[i].str() + " is " +
                   std::to_string(*extent) + ", no multiple of the cluster's " +
                   std::to_string(kernel.cluster[i])};
    plan.grid[i] = *extent;
  }

  // A kernel that is not launched runs no loop, so its minimum trip counts do not matter.
  for (const auto &[name, least] : kernel.minTrips) {
    const ScalarValue *value = scalars.get(*kernel.findArg(name));
    if (!plan.nothingToLaunch() && value && value->integer < least)
      return Error{"'" + name + "' is " + value->str() + ", but '" + kernel.name +
                   "' is only right for " + std::to_string(least) + " or more"};
  }

  for (const ManifestParam &param : kernel.params) {
    LaunchParam out;
    out.kind = param.kind;
    out.arg = param.arg;
    if (param.kind == ManifestParam::Kind::TensorMap) {
      Result<TensorMapPlan> map =
          planTensorMap(*kernel.findArg(param.arg), inputs.arrays.at(param.arg));
      if (!map)
        return map.error();
      out.map = *map;
    } else if (param.kind == ManifestParam::Kind::Value) {
      std::string what = "parameter " + std::to_string(plan.params.size());
      out.value.type = param.type;
      if (!param.value) {
        out.value = *scalars.get(*kernel.findArg(param.floatName));
      } else {
        std::optional<int64_t> value = scalars.evaluate(*param.value, what);
        if (!value)
          return Error{scalars.error};
        if (!fits(param.type, *value) || (param.isFlag && !isTruth(*value)))
          return Error{what + " = " + param.value->str() + " is " + std::to_string(*value) +
                       ", which does not fit " + typeName(param.type, param.isFlag)};
        out.value.integer = *value;
      }
      out.bytes = encode(out.value);
    }
    plan.params.push_back(std::move(out));
  }
  return plan;
}

Result<LaunchPlan> ts::planLaunch(const ManifestKernel &kernel, const LaunchInputs &inputs) {
  Result<LaunchPlan> result = plan(kernel, inputs);
  if (!result)
    return Error{checkPrefix(CheckId::TS503) + result.error().message};
  return result;
}

Result<int64_t> ts::evaluateFor(const LaunchPlan &plan, const LaunchInputs &inputs,
                                const std::string &text) {
  LaunchExprError error;
  std::optional<LaunchExpr> expr = LaunchExpr::parse(text, error);
  if (!expr)
    return Error{"column " + std::to_string(error.column) + " of '" + text + "': " + error.message};
  auto extent = [&](const std::string &name, unsigned i,
                    std::vector<int64_t> ArrayLayout::*field) -> std::optional<int64_t> {
    auto found = inputs.arrays.find(name);
    if (found == inputs.arrays.end() || i >= (found->second.*field).size())
      return std::nullopt;
    return (found->second.*field)[i];
  };
  LaunchEnv env;
  env.sms = inputs.sms;
  env.dim = [&](const std::string &name, unsigned i) {
    return extent(name, i, &ArrayLayout::shape);
  };
  env.stride = [&](const std::string &name, unsigned i) {
    return extent(name, i, &ArrayLayout::strides);
  };
  env.scalar = [&](const std::string &name) -> std::optional<int64_t> {
    for (const auto &[known, value] : plan.scalars)
      if (known == name && !isFloat(value.type))
        return value.integer;
    return std::nullopt;
  };
  std::string message;
  std::optional<int64_t> value = expr->evaluate(env, message);
  if (!value)
    return Error{"'" + text + "': " + message};
  return *value;
}

std::string ts::describe(const LaunchPlan &plan) {
  std::string out = "kernel '" + plan.kernel + "' for " + plan.arch + "\n";
  out += "  grid " + triple(plan.grid) + ", block " + triple(plan.block) + ", cluster " +
         triple(plan.cluster) + ", dynamic smem " + std::to_string(plan.dynamicSmem) + " bytes" +
         (plan.pdl ? ", programmatic dependent launch" : "") + "\n";
  for (const auto &[name, value] : plan.scalars)
    out += "  scalar " + name + " = " + value.str() + " (" + elementTypeName(value.type) + ")\n";
  for (size_t i = 0; i < plan.params.size(); ++i) {
    const LaunchParam &param = plan.params[i];
    out += "  param " + std::to_string(i) + ": ";
    if (param.kind == ManifestParam::Kind::TensorMap) {
      const TensorMapPlan &map = param.map;
      out += "tensor map of " + param.arg + ", " + elementTypeName(map.element) + ", sizes " +
             listText(map.sizes) + ", strides " + listText(map.strides) + " bytes, box " +
             listText(map.box) + ", swizzle " + std::to_string(map.swizzle) +
             (map.empty ? ", over no elements" : "");
    } else if (param.kind == ManifestParam::Kind::Pointer) {
      out += "pointer to " + param.arg;
    } else {
      out += std::string(elementTypeName(param.value.type)) + " " + param.value.str();
    }
    out += "\n";
  }
  if (plan.nothingToLaunch())
    out += "  the grid is empty: nothing to launch\n";
  return out;
}
