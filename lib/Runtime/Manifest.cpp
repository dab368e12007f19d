// Reader of launch manifests. Strict: an unknown field, a field of the wrong kind and a reference
// to an argument that is not there are errors, because a launch with a misread manifest computes
// rubbish. The only file of the libraries that includes the JSON library. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/Manifest.h"

#include "ts/Support/Checks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

using namespace ts;
using Json = nlohmann::json;

namespace {
constexpr int64_t knownVersion = 1;
constexpr int64_t maxRank = 5; // of a tensor map
constexpr int64_t maxInt32 = 0x7FFFFFFF;

/// A place in the JSON tree together with its name for messages. The first error sticks, and every
/// getter returns something harmless after it, so that readers need no check after each field.
class Reader {
public:
  Reader(const std::string &file) : file(file) {}

  void fail(const std::string &where, const std::string &what) {
    if (message.empty())
      message = file + ": " + (where.empty() ? "the file" : where) + ": " + what;
  }
  bool failed() const { return !message.empty(); }
  const std::string &error() const { return message; }

private:
  const std::string &file;
  std::string message;
};

const char *kindName(const Json &json) {
  switch (json.type()) {
  case Json::value_t::object:
    return "an object";
  case Json::value_t::array:
    return "a list";
  case Json::value_t::string:
    return "a string";
  case Json::value_t::boolean:
    return "a truth value";
  case Json::value_t::null:
    return "null";
  default:
    return "a number";
  }
}

class Object {
public:
  Object(Reader &reader, const Json &json, std::string where)
      : reader(reader), json(json), where(std::move(where)) {
    if (!json.is_object())
      reader.fail(this->where, std::string("expected an object, found ") + kindName(json));
  }

  std::string at(const std::string &key) const { return where.empty() ? key : where + "." + key; }
  void fail(const std::string &key, const std::string &what) { reader.fail(at(key), what); }

  /// Whether an optional field is there.
  bool has(const char *key) {
    known.insert(key);
    return json.is_object() && json.contains(key);
  }

  /// The field, or null after an error.
  const Json *get(const char *key) {
    known.insert(key);
    if (!json.is_object())
      return nullptr;
    auto found = json.find(key);
    if (found == json.end()) {
      fail(key, "is missing");
      return nullptr;
    }
    return &*found;
  }

  std::string string(const char *key) {
    const Json *field = get(key);
    if (!field)
      return {};
    if (!field->is_string()) {
      fail(key, std::string("expected a string, found ") + kindName(*field));
      return {};
    }
    auto text = field->get<std::string>();
    if (text.empty())
      fail(key, "is empty");
    return text;
  }
  std::string stringOr(const char *key, const char *otherwise) {
    return !has(key) ? otherwise : string(key);
  }

  int64_t integer(const char *key, int64_t low, int64_t high) {
    const Json *field = get(key);
    return field ? toInteger(*field, at(key), low, high) : low;
  }
  int64_t integerOr(const char *key, int64_t low, int64_t high, int64_t otherwise) {
    return !has(key) ? otherwise : integer(key, low, high);
  }

  bool boolOr(const char *key, bool otherwise) {
    if (!has(key))
      return otherwise;
    const Json *field = get(key);
    if (field && !field->is_boolean())
      fail(key, std::string("expected true or false, found ") + kindName(*field));
    return field && field->is_boolean() && field->get<bool>();
  }

  /// One of a few numbers (`otherwise` included), for sizes the hardware has a code for.
  int64_t choiceOr(const char *key, std::initializer_list<int64_t> choices, int64_t otherwise) {
    int64_t value = integerOr(key, 0, maxInt32, otherwise);
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
      std::string list;
      for (int64_t choice : choices)
        list += (list.empty() ? "" : ", ") + std::to_string(choice);
      fail(key, "expected one of " + list + ", found " + std::to_string(value));
    }
    return value;
  }

  const Json &list(const char *key) {
    static const Json none = Json::array();
    const Json *field = get(key);
    if (field && !field->is_array())
      fail(key, std::string("expected a list, found ") + kindName(*field));
    return field && field->is_array() ? *field : none;
  }

  std::vector<int64_t> integers(const char *key, size_t count, int64_t low, int64_t high) {
    std::vector<int64_t> result;
    const Json &field = list(key);
    if (field.size() != count)
      fail(key,
           "expected " + std::to_string(count) + " numbers, found " + std::to_string(field.size()));
    for (size_t i = 0; i < field.size(); ++i)
      result.push_back(toInteger(field[i], at(key) + "[" + std::to_string(i) + "]", low, high));
    result.resize(count, low);
    return result;
  }

  /// Of a scalar: there are `index`, and `i1`, which sets `isFlag`.
  ElementType scalarType(const char *key, bool &isFlag) {
    std::string name = string(key);
    isFlag = name == "i1";
    if (isFlag)
      return ElementType::U8;
    return name == "index" ? ElementType::I64 : type(key);
  }

  ElementType type(const char *key) {
    std::string name = string(key);
    std::optional<ElementType> type = parseElementType(name);
    if (!type)
      fail(key, "unknown type '" + name + "'");
    return type.value_or(ElementType::I64);
  }

  /// Complains about fields nobody asked for.
  void finish() {
    if (!json.is_object())
      return;
    for (const auto &[key, value] : json.items())
      if (!known.count(key))
        fail(key, "is no field of manifest version " + std::to_string(knownVersion));
  }

  Reader &reader;

private:
  int64_t toInteger(const Json &field, const std::string &name, int64_t low, int64_t high) {
    if (!field.is_number_integer()) {
      reader.fail(name, std::string("expected an integer, found ") +
                            (field.is_number() ? "a fraction" : kindName(field)));
      return low;
    }
    bool tooLarge =
        field.is_number_unsigned() && field.get<uint64_t>() > static_cast<uint64_t>(high);
    if (tooLarge || field.get<int64_t>() < low || field.get<int64_t>() > high) {
      reader.fail(name, "is " + field.dump() + ", expected " + std::to_string(low) + " to " +
                            std::to_string(high));
      return low;
    }
    return field.get<int64_t>();
  }

  const Json &json;
  std::string where;
  std::set<std::string> known;
};

std::string item(const std::string &list, size_t i) { return list + "[" + std::to_string(i) + "]"; }

/// The text for a message; nobody wants to read a page of it.
std::string quote(const std::string &text) {
  constexpr size_t enough = 100;
  return "'" + (text.size() > enough ? text.substr(0, enough) + "..." : text) + "'";
}

/// Parses an expression and checks every name in it against the arguments read so far.
std::optional<LaunchExpr> readExpr(Reader &reader, const std::string &where,
                                   const std::string &text, const ManifestKernel &kernel) {
  if (reader.failed())
    return std::nullopt;
  LaunchExprError error;
  std::optional<LaunchExpr> expr = LaunchExpr::parse(text, error);
  if (!expr) {
    reader.fail(where, "column " + std::to_string(error.column) + " of " + quote(text) + ": " +
                           error.message);
    return expr;
  }
  using Kind = LaunchExpr::Reference::Kind;
  for (const LaunchExpr::Reference &ref : expr->references()) {
    if (ref.kind == Kind::Sms)
      continue;
    const ManifestArg *arg = kernel.findArg(ref.name);
    std::string quoted = quote(text) + " uses '" + ref.name + "', which is ";
    if (!arg)
      reader.fail(where, quoted + "no argument");
    else if ((ref.kind == Kind::Scalar) == arg->isArray())
      reader.fail(where, quoted + (arg->isArray() ? "an array" : "a scalar"));
    else if (ref.kind == Kind::Scalar && isFloat(arg->element))
      reader.fail(where, quoted + "no integer");
    else if (arg->isArray() && ref.index >= arg->rank)
      reader.fail(where, quoted + "an array of rank " + std::to_string(arg->rank));
  }
  return expr;
}

ManifestArg readArg(Object object) {
  ManifestArg arg;
  arg.name = object.string("name");
  std::string kind = object.string("kind");
  if (kind == "scalar") {
    arg.kind = ManifestArg::Kind::Scalar;
    arg.element = object.scalarType("type", arg.isFlag);
    if (object.has("value")) // parsed once all arguments are known
      object.string("value");
    if (object.has("value") && isFloat(arg.element))
      object.fail("value", "only integer scalars can be derived");
    object.finish();
    return arg;
  }
  arg.kind = kind == "tensor_map" ? ManifestArg::Kind::TensorMap : ManifestArg::Kind::Buffer;
  if (kind != "tensor_map" && kind != "buffer")
    object.fail("kind", "expected 'tensor_map', 'buffer' or 'scalar', found '" + kind + "'");
  arg.element = object.type("element");
  std::string access = object.string("access");
  if (access == "write" || access == "readwrite")
    arg.access = access == "write" ? Access::Write : Access::ReadWrite;
  else if (access != "read")
    object.fail("access", "expected 'read', 'write' or 'readwrite', found '" + access + "'");
  if (arg.kind == ManifestArg::Kind::Buffer) {
    arg.rank = object.integer("rank", 0, 8);
    arg.align = object.integerOr("align", 1, 4096, elementSize(arg.element));
    if (arg.align & (arg.align - 1))
      object.fail("align", "is " + std::to_string(arg.align) + ", expected a power of two");
    object.finish();
    return arg;
  }
  arg.rank = object.integer("rank", 1, maxRank);
  auto rank = static_cast<size_t>(arg.rank);
  arg.box = object.integers("box", rank, 1, 256);
  arg.elementStrides.assign(rank, 1);
  if (object.has("element_strides"))
    arg.elementStrides = object.integers("element_strides", rank, 1, 8);
  arg.swizzle = object.choiceOr("swizzle", {0, 32, 64, 128}, 0);
  arg.interleave = object.choiceOr("interleave", {0, 16, 32}, 0);
  arg.l2Promotion = object.choiceOr("l2_promotion", {0, 64, 128, 256}, 0);
  std::string fill = object.stringOr("fill", "zero");
  arg.fillNan = fill == "nan";
  if (fill != "nan" && fill != "zero")
    object.fail("fill", "expected 'zero' or 'nan', found '" + fill + "'");
  if (arg.fillNan && !isFloat(arg.element))
    object.fail("fill", std::string("an array of ") + elementTypeName(arg.element) + " has no NaN");
  arg.padded = object.boolOr("padded", false);
  if (arg.padded && arg.element != ElementType::F4E2M1)
    object.fail("padded", std::string("elements of ") + elementTypeName(arg.element) +
                              " have no padded form here, f4e2m1 has");
  object.finish();
  return arg;
}

ManifestParam readParam(Object object, const ManifestKernel &kernel) {
  ManifestParam param;
  std::string kind = object.string("kind");
  if (kind == "value") {
    param.type = object.scalarType("type", param.isFlag);
    std::string text = object.string("value");
    if (!isFloat(param.type)) {
      param.value = readExpr(object.reader, object.at("value"), text, kernel);
    } else {
      param.floatName = text;
      const ManifestArg *arg = kernel.findArg(text);
      if (!arg || arg->isArray() || arg->element != param.type)
        object.fail("value", "expected the name of a scalar argument of type " +
                                 std::string(elementTypeName(param.type)) + ", found '" + text +
                                 "'");
    }
    object.finish();
    return param;
  }
  param.kind = kind == "tensor_map" ? ManifestParam::Kind::TensorMap : ManifestParam::Kind::Pointer;
  if (kind != "tensor_map" && kind != "pointer")
    object.fail("kind", "expected 'tensor_map', 'pointer' or 'value', found '" + kind + "'");
  param.arg = object.string("arg");
  const ManifestArg *arg = kernel.findArg(param.arg);
  if (!arg || !arg->isArray())
    object.fail("arg", "expected the name of an array argument, found '" + param.arg + "'");
  else if (kind == "tensor_map" && arg->kind != ManifestArg::Kind::TensorMap)
    object.fail("arg", "'" + param.arg + "' is a buffer, so it has no tensor map");
  object.finish();
  return param;
}

ManifestKernel readKernel(Object object) {
  Reader &reader = object.reader;
  ManifestKernel kernel;
  kernel.name = object.string("name");
  kernel.arch = object.string("arch");
  if (kernel.arch.substr(0, 3) != "sm_")
    object.fail("arch", "expected a name like sm_90a, found '" + kernel.arch + "'");

  const Json &args = object.list("args");
  for (size_t i = 0; i < args.size() && !reader.failed(); ++i) {
    ManifestArg arg = readArg({reader, args[i], item(object.at("args"), i)});
    if (kernel.findArg(arg.name))
      reader.fail(item(object.at("args"), i) + ".name", "'" + arg.name + "' is there twice");
    kernel.args.push_back(std::move(arg));
  }
  // Derived scalars may use any argument, later ones included; cycles show when they are evaluated.
  for (size_t i = 0; i < args.size() && !reader.failed(); ++i)
    if (args[i].contains("value"))
      kernel.args[i].value = readExpr(reader, item(object.at("args"), i) + ".value",
                                      args[i]["value"].get<std::string>(), kernel);

  const Json &params = object.list("params");
  for (size_t i = 0; i < params.size() && !reader.failed(); ++i)
    kernel.params.push_back(readParam({reader, params[i], item(object.at("params"), i)}, kernel));

  const Json &grid = object.list("grid");
  if (grid.size() != 3)
    object.fail("grid", "expected 3 expressions, found " + std::to_string(grid.size()));
  for (size_t i = 0; i < grid.size() && !reader.failed(); ++i) {
    if (!grid[i].is_string()) {
      reader.fail(item(object.at("grid"), i),
                  std::string("expected a string, found ") + kindName(grid[i]));
      break;
    }
    std::optional<LaunchExpr> expr =
        readExpr(reader, item(object.at("grid"), i), grid[i].get<std::string>(), kernel);
    if (expr)
      kernel.grid.push_back(*expr);
  }
  std::vector<int64_t> block = object.integers("block", 3, 1, 1024);
  std::copy(block.begin(), block.end(), kernel.block.begin());
  if (block[0] * block[1] * block[2] > 1024)
    object.fail("block", "has " + std::to_string(block[0] * block[1] * block[2]) +
                             " threads, more than 1024");
  if (object.has("cluster")) {
    std::vector<int64_t> cluster = object.integers("cluster", 3, 1, 16);
    std::copy(cluster.begin(), cluster.end(), kernel.cluster.begin());
    if (cluster[0] * cluster[1] * cluster[2] > 16)
      object.fail("cluster", "has more than 16 CTAs");
  }
  kernel.dynamicSmem = object.integerOr("dynamic_smem", 0, int64_t(1) << 20, 0);
  kernel.pdl = object.boolOr("pdl", false);

  if (object.has("min_trips")) {
    const Json &json = *object.get("min_trips");
    Object trips(reader, json, object.at("min_trips"));
    for (auto it = json.begin(); json.is_object() && it != json.end(); ++it) {
      const std::string &name = it.key();
      const ManifestArg *arg = kernel.findArg(name);
      if (!arg || arg->isArray() || isFloat(arg->element))
        trips.fail(name, "is no integer scalar argument");
      kernel.minTrips.emplace_back(name, trips.integer(name.c_str(), 0, maxInt32));
    }
  }
  if (object.has("events")) {
    const Json &events = object.list("events");
    for (size_t i = 0; i < events.size() && !reader.failed(); ++i) {
      Object event(reader, events[i], item(object.at("events"), i));
      kernel.events.push_back({event.string("label"), event.string("op"),
                               event.stringOr("resource", ""), event.stringOr("task", ""),
                               event.stringOr("loc", "")});
      event.finish();
    }
  }
  object.finish();
  return kernel;
}

/// The line and column, both from 1, of a byte of the text.
std::string placeOf(const std::string &text, size_t byte) {
  byte = std::min(byte ? byte - 1 : 0, text.size());
  size_t line = 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + byte, '\n'));
  size_t begin = byte ? text.rfind('\n', byte - 1) : std::string::npos;
  size_t column = begin == std::string::npos ? byte + 1 : byte - begin;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}
} // namespace

const ManifestArg *ManifestKernel::findArg(const std::string &name) const {
  for (const ManifestArg &arg : args)
    if (arg.name == name)
      return &arg;
  return nullptr;
}

Result<const ManifestKernel *> Manifest::findKernel(const std::string &name) const {
  std::string names;
  for (const ManifestKernel &kernel : kernels) {
    if (kernel.name == name || (name.empty() && kernels.size() == 1))
      return &kernel;
    names += (names.empty() ? "" : ", ") + kernel.name;
  }
  if (name.empty())
    return Error{"the manifest has several kernels; choose one with --kernel: " + names};
  return Error{"the manifest has no kernel '" + name + "'; it has " + names};
}

static Result<Manifest> parse(const std::string &text, const std::string &path) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error &error) {
    return Error{path + ": is no valid JSON at " + placeOf(text, error.byte)};
  } catch (const Json::exception &error) {
    return Error{path + ": is no valid JSON: " + error.what()};
  }
  Reader reader(path);
  Manifest manifest;
  Object root(reader, json, "");
  int64_t version = root.integer("version", 0, maxInt32);
  if (!reader.failed() && version != knownVersion)
    root.fail("version", "is " + std::to_string(version) + ", this tool reads version " +
                             std::to_string(knownVersion));
  const Json &kernels = root.list("kernels");
  if (kernels.empty())
    root.fail("kernels", "has no kernel");
  for (size_t i = 0; i < kernels.size() && !reader.failed(); ++i) {
    manifest.kernels.push_back(readKernel({reader, kernels[i], item("kernels", i)}));
    for (size_t k = 0; k < i; ++k)
      if (manifest.kernels[k].name == manifest.kernels[i].name)
        reader.fail(item("kernels", i) + ".name",
                    "'" + manifest.kernels[i].name + "' is there twice");
  }
  root.finish();
  if (reader.failed())
    return Error{reader.error()};
  return manifest;
}

Result<Manifest> ts::parseManifest(const std::string &text, const std::string &path) {
  Result<Manifest> result = parse(text, path);
  if (!result)
    return Error{checkPrefix(CheckId::TS502) + result.error().message};
  return result;
}

Result<std::string> ts::readFile(const std::string &path) {
  std::ostringstream out;
  if (path == "-") {
    out << std::cin.rdbuf();
    return out.str();
  }
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error{path + ": cannot be read: " + std::strerror(errno)};
  if (std::filesystem::is_directory(path))
    return Error{path + ": is a folder"};
  out << in.rdbuf(); // an empty file sets failbit only
  if (out.bad())
    return Error{path + ": cannot be read"};
  return out.str();
}
