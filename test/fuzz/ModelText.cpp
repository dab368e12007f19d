// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One list of fields per struct serves both directions.
#include "ModelText.h"

#include <map>
#include <stdexcept>
#include <type_traits>

using json = nlohmann::json;

namespace ts {

// The lists. Found by argument-dependent lookup, so each stands in the namespace of its struct.
namespace protocol {
template <typename V> void fields(V &v, SideAccess &x) {
  v("reads", x.reads);
  v("writes", x.writes);
}
template <typename V> void fields(V &v, PipelineSpec &x) {
  v("name", x.name);
  v("type", x.type);
  v("stages", x.stages);
  v("numBytes", x.numBytes);
  v("producerCount", x.producerCount);
  v("consumerCount", x.consumerCount);
  v("producerSignal", x.producerSignal);
  v("consumerSignal", x.consumerSignal);
  v("consumerWaitSignal", x.consumerWaitSignal);
  v("advanceOnAcquire", x.advanceOnAcquire);
  v("advanceOnWait", x.advanceOnWait);
  v("interleave", x.interleave);
  v("asyncLoad", x.asyncLoad);
  v("multicast", x.multicast);
  v("bytesPerWarpPerCta", x.bytesPerWarpPerCta);
  v("ctaLayout", x.ctaLayout);
  v("stageBytes", x.stageBytes);
  v("space", x.space);
  v("producerAccess", x.producerAccess);
  v("consumerAccess", x.consumerAccess);
  v("releaseStyle", x.releaseStyle);
  v("commitMask", x.commitMask);
}
template <typename V> void fields(V &v, ClusterSpec &x) {
  v("shape", x.shape);
  v("ctasPerMma", x.ctasPerMma);
  v("layout", x.layout);
}
template <typename V> void fields(V &v, IssuedBytes &x) {
  v("own", x.own);
  v("alongN", x.alongN);
  v("alongM", x.alongM);
}
template <typename V> void fields(V &v, Expected &x) {
  v("value", x.value);
  v("derivation", x.derivation);
  v("perCta", x.perCta);
  v("uniform", x.uniform);
  v("assumed", x.assumed);
  v("fromCopies", x.fromCopies);
}
} // namespace protocol

namespace schedule {
template <typename V> void fields(V &v, Bound &x) {
  v("kind", x.kind);
  v("scale", x.scale);
  v("offset", x.offset);
  v("symbol", x.symbol);
  v("min", x.min);
}
template <typename V> void fields(V &v, Condition &x) {
  v("key", x.key);
  v("userKey", x.userKey);
  v("shared", x.shared);
  v("expected", x.expected);
  v("positive", x.positive);
  v("ctas", x.ctas);
  v("origin", x.origin);
}
template <typename V> void fields(V &v, Parity &x) {
  v("kind", x.kind);
  v("loop", x.loop);
  v("scale", x.scale);
  v("offset", x.offset);
  v("divisor", x.divisor);
  v("text", x.text);
}
template <typename V> void fields(V &v, Allocation &x) {
  v("name", x.name);
  v("resource", x.resource);
  v("space", x.space);
  v("bytes", x.bytes);
  v("columns", x.columns);
  v("swizzle", x.swizzle);
  v("align", x.align);
  v("at", x.at);
  v("staged", x.staged);
  v("loc", x.loc);
}
template <typename V> void fields(V &v, Part &x) {
  v("known", x.known);
  v("base", x.base);
  v("offset", x.offset);
  v("size", x.size);
  v("count", x.count);
  v("stride", x.stride);
  v("terms", x.terms);
  v("shift", x.shift);
  v("divisor", x.divisor);
}
template <typename V> void fields(V &v, Access &x) {
  v("allocation", x.allocation);
  v("offset", x.offset);
  v("size", x.size);
  v("exact", x.exact);
  v("part", x.part);
  v("write", x.write);
  v("engine", x.engine);
  v("side", x.side);
  v("via", x.via);
  v("carried", x.carried);
  v("remote", x.remote);
  v("inFlight", x.inFlight);
  v("loc", x.loc);
}
template <typename V> void fields(V &v, IssuedBytes &x) {
  v("known", x.known);
  v("alternatives", x.alternatives);
}
template <typename V> void fields(V &v, Event &x) {
  v("kind", x.kind);
  v("resource", x.resource);
  v("label", x.label);
  v("aux", x.aux);
  v("declared", x.declared);
  v("elected", x.elected);
  v("accesses", x.accesses);
  v("issued", x.issued);
  v("pending", x.pending);
  v("readOnly", x.readOnly);
  v("expect", x.expect);
  v("remoteCta", x.remoteCta);
  v("remote", x.remote);
  v("parity", x.parity);
}
template <typename V> void fields(V &v, Loop &x) {
  v("kind", x.kind);
  v("queue", x.queue);
  v("lower", x.lower);
  v("upper", x.upper);
  v("step", x.step);
  v("constantTrips", x.constantTrips);
  v("minTrips", x.minTrips);
  v("carriesOn", x.carriesOn);
}
template <typename V> void fields(V &v, Guard &x) {
  v("kind", x.kind);
  v("period", x.period);
  v("loop", x.loop);
}
template <typename V> void fields(V &v, Step &x) {
  v("kind", x.kind);
  v("parent", x.parent);
  v("event", x.event);
  v("loop", x.loop);
  v("guard", x.guard);
  v("condition", x.condition);
  v("body", x.body);
  v("orelse", x.orelse);
  v("loc", x.loc);
}
template <typename V> void fields(V &v, Task &x) {
  v("name", x.name);
  v("source", x.source);
  v("replica", x.replica);
  v("replicas", x.replicas);
  v("firstWarp", x.firstWarp);
  v("warps", x.warps);
  v("registers", x.registers);
  v("onlyCta", x.onlyCta);
  v("reads", x.reads);
  v("writes", x.writes);
  v("steps", x.steps);
  v("body", x.body);
  v("loc", x.loc);
}
template <typename V> void fields(V &v, Resource &x) {
  v("name", x.name);
  v("kind", x.kind);
  v("gmem", x.gmem);
  v("barrierOnly", x.barrierOnly);
  v("pipeline", x.pipeline);
  v("allocations", x.allocations);
  v("group", x.group);
  v("members", x.members);
  v("mode", x.mode);
  v("clc", x.clc);
  v("skips", x.skips);
  v("throttle", x.throttle);
  v("holders", x.holders);
  v("first", x.first);
  v("count", x.count);
  v("id", x.id);
  v("loc", x.loc);
}
template <typename V> void fields(V &v, Dependency &x) {
  v("downstream", x.downstream);
  v("upstream", x.upstream);
  v("ordering", x.ordering);
  v("loc", x.loc);
}
template <typename V> void fields(V &v, AliasGroup &x) {
  v("name", x.name);
  v("phases", x.phases);
  v("loc", x.loc);
}
template <typename V> void fields(V &v, Kernel &x) {
  v("name", x.name);
  v("chip", x.chip);
  v("warps", x.warps);
  v("cluster", x.cluster);
  v("tripsPerTile", x.tripsPerTile);
  v("resources", x.resources);
  v("allocations", x.allocations);
  v("dependencies", x.dependencies);
  v("aliasGroups", x.aliasGroups);
  v("tasks", x.tasks);
  v("loc", x.loc);
}
} // namespace schedule

namespace reports {
template <typename V> void fields(V &v, Place &x) {
  v("file", x.file);
  v("line", x.line);
  v("column", x.column);
}
template <typename V> void fields(V &v, MemoryItem &x) {
  v("name", x.name);
  v("kind", x.kind);
  v("tmem", x.tmem);
  v("pinned", x.pinned);
  v("offset", x.offset);
  v("size", x.size);
  v("stride", x.stride);
  v("stages", x.stages);
  v("extent", x.extent);
  v("align", x.align);
  v("aliasGroup", x.aliasGroup);
  v("phase", x.phase);
}
template <typename V> void fields(V &v, MemoryMap &x) {
  v("valid", x.valid);
  v("items", x.items);
  v("smemBytes", x.smemBytes);
  v("smemLimit", x.smemLimit);
  v("tmemUsed", x.tmemUsed);
  v("tmemColumns", x.tmemColumns);
  v("tmemLimit", x.tmemLimit);
}
template <typename V> void fields(V &v, BarrierUse &x) {
  v("resource", x.resource);
  v("barrier", x.barrier);
  v("stages", x.stages);
  v("arrivals", x.arrivals);
  v("bytes", x.bytes);
}
template <typename V> void fields(V &v, WarpUse &x) {
  v("launchWarps", x.launchWarps);
  v("registers", x.registers);
}
template <typename V> void fields(V &v, Amount &x) {
  v("matrix", x.matrix);
  v("bytes", x.bytes);
  v("columns", x.columns);
}
/// What the compiler knows before the prover ran; the verdict is made anew.
template <typename V> void fields(V &v, KernelInput &x) {
  v("kernel", x.kernel);
  v("places", x.places);
  v("memory", x.memory);
  v("barriers", x.barriers);
  v("warps", x.warps);
  v("amounts", x.amounts);
}
} // namespace reports

namespace fuzz {
namespace {

template <typename T> json put(const T &value);
template <typename T> T get(const json &text);

struct Writer {
  json out = json::object();
  template <typename T> void operator()(const char *name, T &value) { out[name] = put(value); }
};
struct Reader {
  const json &in;
  size_t used = 0;
  template <typename T> void operator()(const char *name, T &value) {
    if (auto it = in.find(name); it != in.end()) {
      value = get<T>(*it);
      ++used;
    }
  }
};

template <typename T> struct IsOptional : std::false_type {};
template <typename T> struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T> struct IsArray : std::false_type {};
template <typename T, size_t N> struct IsArray<std::array<T, N>> : std::true_type {};
template <typename T> struct IsVector : std::false_type {};
template <typename T> struct IsVector<std::vector<T>> : std::true_type {};
template <typename T> struct IsPair : std::false_type {};
template <typename A, typename B> struct IsPair<std::pair<A, B>> : std::true_type {};
template <typename T> struct IsMap : std::false_type {};
template <typename A, typename B> struct IsMap<std::map<A, B>> : std::true_type {};

template <typename T> json put(const T &value) {
  if constexpr (std::is_enum_v<T>) {
    return int64_t(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (IsOptional<T>::value) {
    return value ? put(*value) : json();
  } else if constexpr (IsPair<T>::value) {
    return json::array({put(value.first), put(value.second)});
  } else if constexpr (IsArray<T>::value || IsVector<T>::value || IsMap<T>::value) {
    json list = json::array();
    for (const auto &item : value)
      list.push_back(put(item));
    return list;
  } else {
    Writer writer, standard;
    T copy = value, fresh;
    fields(writer, copy);
    fields(standard, fresh);
    for (auto &[name, text] : standard.out.items())
      if (writer.out[name] == text)
        writer.out.erase(name);
    return writer.out;
  }
}

template <typename T> T get(const json &text) {
  if constexpr (std::is_enum_v<T>) {
    return T(text.get<int64_t>());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return text.get<T>();
  } else if constexpr (IsOptional<T>::value) {
    return text.is_null() ? T() : T(get<typename T::value_type>(text));
  } else if constexpr (IsPair<T>::value) {
    return {get<typename T::first_type>(text.at(0)), get<typename T::second_type>(text.at(1))};
  } else if constexpr (IsArray<T>::value) {
    T list;
    for (size_t i = 0; i < list.size(); ++i)
      list[i] = get<typename T::value_type>(text.at(i));
    return list;
  } else if constexpr (IsMap<T>::value) {
    T map;
    for (const json &item : text)
      map[get<typename T::key_type>(item.at(0))] = get<typename T::mapped_type>(item.at(1));
    return map;
  } else if constexpr (IsVector<T>::value) {
    T list;
    list.reserve(text.size());
    for (const json &item : text)
      list.push_back(get<typename T::value_type>(item));
    return list;
  } else {
    T value;
    Reader reader{text};
    fields(reader, value);
    if (reader.used != text.size())
      throw std::runtime_error("a field that no struct has");
    return value;
  }
}

} // namespace

json writeModel(const reports::KernelInput &input) { return put(input); }
reports::KernelInput readModel(const json &text) { return get<reports::KernelInput>(text); }

} // namespace fuzz
} // namespace ts
