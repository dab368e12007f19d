// Reads launch files. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchFile.h"

#include <nlohmann/json.hpp>

#include <cstring>

using namespace ts;
using Json = nlohmann::ordered_json;

namespace {
constexpr uint64_t largestBuffer = uint64_t(1) << 32;

std::runtime_error bad(const std::string &what) { return std::runtime_error(what); }

ElementType typeOf(const std::string &name) {
  // PTX and C spell unsigned types u32; manifests spell them ui32.
  std::string spelled =
      name.size() > 1 && name[0] == 'u' && name[1] != 'i' ? "ui" + name.substr(1) : name;
  if (std::optional<ElementType> type = parseElementType(spelled))
    return *type;
  throw bad("unknown type '" + name + "'");
}

std::array<uint32_t, 3> shapeOf(const Json &json, std::array<uint32_t, 3> shape) {
  if (json.is_null())
    return shape;
  shape = {1, 1, 1};
  if (!json.is_array() || json.size() > 3)
    throw bad("a shape is a list of up to three numbers");
  for (size_t i = 0; i < json.size(); ++i)
    shape[i] = json[i].get<uint32_t>();
  return shape;
}

const Json &field(const Json &json, const char *name) {
  static const Json none;
  auto found = json.find(name);
  return found == json.end() ? none : *found;
}

void refuseUnknown(const Json &json, std::initializer_list<const char *> known, const char *what) {
  for (const auto &[key, value] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw bad(std::string("unknown field '") + key + "' of " + what);
}

template <typename T> std::vector<T> listOf(const Json &json) {
  return json.is_null() ? std::vector<T>() : json.get<std::vector<T>>();
}

size_t findBuffer(const Case &test, const std::string &name) {
  for (size_t i = 0; i < test.buffers.size(); ++i)
    if (test.buffers[i].name == name)
      return i;
  throw bad("no buffer '" + name + "'");
}

Param tensorMap(const Json &json, const Case &test) {
  refuseUnknown(json,
                {"map", "offset", "type", "sizes", "strides", "box", "element_strides", "swizzle",
                 "interleave", "l2", "fill"},
                "a tensor map");
  Param param;
  param.kind = Param::Kind::TensorMap;
  param.buffer = findBuffer(test, json.at("map").get<std::string>());
  param.offset = json.value("offset", uint64_t(0));
  TensorMapPlan &map = param.map;
  map.element = typeOf(json.at("type").get<std::string>());
  map.sizes = json.at("sizes").get<std::vector<uint64_t>>();
  map.box = json.at("box").get<std::vector<uint32_t>>();
  map.strides = listOf<uint64_t>(field(json, "strides"));
  map.elementStrides = listOf<uint32_t>(field(json, "element_strides"));
  size_t rank = map.sizes.size();
  if (rank < 1 || rank > 5 || map.box.size() != rank)
    throw bad("a tensor map has 1 to 5 sizes and as many box sizes");
  if (map.elementStrides.empty())
    map.elementStrides.assign(rank, 1);
  uint64_t elements = 1;
  for (size_t i = 0; i + 1 < rank && map.strides.size() + 1 < rank; ++i)
    map.strides.push_back(static_cast<uint64_t>(
        elementBytes(map.element, static_cast<int64_t>(elements *= map.sizes[i]))));
  if (map.strides.size() != rank - 1 || map.elementStrides.size() != rank)
    throw bad("a tensor map of rank r has r - 1 strides (bytes) and r element_strides");
  map.swizzle = json.value("swizzle", 0);
  map.interleave = json.value("interleave", 0);
  map.l2Promotion = json.value("l2", 0);
  map.fillNan = json.value("fill", "zero") == "nan";
  return param;
}

Param parseParam(const Json &json, const Case &test) {
  Param param;
  if (json.is_string() || json.contains("buffer")) {
    param.kind = Param::Kind::Pointer;
    param.buffer = findBuffer(test, json.is_string() ? json.get<std::string>()
                                                     : json["buffer"].get<std::string>());
    param.offset = json.is_string() ? 0 : json.value("offset", uint64_t(0));
    return param;
  }
  if (json.contains("map"))
    return tensorMap(json, test);
  if (!json.is_object() || json.size() != 1)
    throw bad("a parameter is a buffer's name, {\"TYPE\": VALUE} or {\"map\": ...}");
  ElementType type = typeOf(json.begin().key());
  param.bytes.resize(static_cast<size_t>(elementSize(type)));
  if (json.begin()->is_number_integer() && !isFloat(type)) {
    uint64_t bits = json.begin()->is_number_unsigned()
                        ? json.begin()->get<uint64_t>()
                        : static_cast<uint64_t>(json.begin()->get<int64_t>());
    std::memcpy(param.bytes.data(), &bits, param.bytes.size());
  } else {
    storeElement(type, param.bytes.data(), json.begin()->get<double>());
  }
  return param;
}

Launch parseLaunch(const Json &json, const Case &test) {
  Launch launch;
  launch.entry = json.at("entry").get<std::string>();
  launch.grid = shapeOf(field(json, "grid"), launch.grid);
  launch.block = shapeOf(field(json, "block"), launch.block);
  launch.cluster = shapeOf(field(json, "cluster"), launch.cluster);
  launch.dynamicSmem = json.value("dynamic_smem", 0u);
  launch.pdl = json.value("pdl", false);
  for (const Json &param : field(json, "params"))
    launch.params.push_back(parseParam(param, test));
  return launch;
}

Case parseCase(const Json &json, const std::string &folder) {
  refuseUnknown(json,
                {"name", "entry", "grid", "block", "cluster", "dynamic_smem", "pdl", "params",
                 "buffers", "launches", "reason", "source"},
                "a case");
  Case test;
  test.name = json.at("name").get<std::string>();
  for (const auto &[name, buffer] : field(json, "buffers").items()) {
    refuseUnknown(buffer, {"type", "count", "init", "seed", "low", "high", "compare"}, "a buffer");
    Buffer made;
    made.name = name;
    made.output = buffer.contains("compare");
    uint64_t count = buffer.at("count").get<uint64_t>();
    ElementType type = typeOf(buffer.at("type").get<std::string>());
    if (count > largestBuffer / 8)
      throw bad("buffer '" + name + "' is too large");
    Status filled = fillBuffer(
        made.bytes, type, count, buffer.value("init", made.output ? "poison" : "bits"),
        buffer.value("seed", 1u), buffer.value("low", 0.0), buffer.value("high", 0.0), folder);
    if (!filled)
      throw bad("buffer '" + name + "': " + filled.error().message);
    test.buffers.push_back(std::move(made));
  }
  if (json.contains("launches"))
    for (const Json &launch : json["launches"])
      test.launches.push_back(parseLaunch(launch, test));
  else
    test.launches.push_back(parseLaunch(json, test));
  return test;
}
} // namespace

Result<std::vector<Case>> parseLaunchFile(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  std::vector<Case> cases;
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash), at;
  try {
    Json json = Json::parse(*text);
    for (const Json &entry : json.at("cases")) {
      at = "case " +
           (entry.contains("name") ? entry["name"].dump() : std::to_string(cases.size())) + ": ";
      cases.push_back(parseCase(entry, folder));
    }
  } catch (const std::exception &error) { // of the JSON library, and our own above
    return Error{path + ": " + at + error.what()};
  }
  return cases;
}
