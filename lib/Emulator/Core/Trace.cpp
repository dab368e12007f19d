// Writes the trace. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Trace.h"

#include "Fault.h"

#include <cstdio>

namespace ts::emu {
namespace {
constexpr size_t maxSlices = 2'000'000; // a few hundred megabytes of JSON
constexpr uint64_t engineTracks = 1000;

uint64_t processOf(const Warp &warp) { return warp.cta->linearId; }

bool matters(const CodeEntry &code) { // to others than the warp itself
  static const char *const prefixes[] = {"mbarrier", "bar",   "tcgen05", "wgmma",
                                         "cp.",      "fence", "clust",   "grid",
                                         "st.",      "atom",  "red.",    "setmaxnreg"};
  for (const char *prefix : prefixes)
    if (code.source->opcode.rfind(prefix, 0) == 0)
      return true;
  return false;
}

std::string escape(const std::string &text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}
} // namespace

Tracer::Tracer(std::string file) : file(std::move(file)) {}

void Tracer::add(Slice slice) {
  if (slices.size() < maxSlices)
    slices.push_back(std::move(slice));
  else
    truncated = true;
}

void Tracer::blocked(const Warp &warp, const CodeEntry &code, uint64_t step) {
  std::lock_guard lock(mutex);
  waiting.try_emplace({processOf(warp), warp.index}, &code, step);
}

void Tracer::executed(const Warp &warp, const CodeEntry &code, uint64_t step, bool wasBlocked) {
  std::lock_guard lock(mutex);
  if (wasBlocked) {
    auto it = waiting.find({processOf(warp), warp.index});
    if (it != waiting.end() && it->second.first == &code) {
      add({processOf(warp), warp.index, &code, it->second.second, step + 1, true, {}});
      waiting.erase(it);
      return;
    }
  }
  if (matters(code))
    add({processOf(warp), warp.index, &code, step, step + 1, false, {}});
}

void Tracer::engine(const ChannelKey &channel, const Cluster &cluster, const CodeEntry *code,
                    uint64_t step) {
  std::lock_guard lock(mutex);
  uint64_t process = cluster.ctas.front()->linearId;
  uint64_t thread = engineTracks * (1 + uint64_t(channel.kind)) + channel.issuer % engineTracks;
  auto [name, isNew] = threads.try_emplace(thread);
  if (isNew) { // issuers are agents: the warps of all CTAs of the cluster, counted through
    uint64_t warps = std::max<uint64_t>(1, cluster.ctas.front()->warps.size());
    name->second = format("%s, warp %llu", engineName(channel.kind),
                          (unsigned long long)(channel.issuer % warps));
    if (cluster.ctas.size() > 1)
      name->second += format(" of rank %llu", (unsigned long long)(channel.issuer / warps));
  }
  add({process, thread, code, step, step + 1, false, engineName(channel.kind)});
}

Status Tracer::write() {
  FILE *out = fopen(file.c_str(), "w");
  if (!out)
    return Error{"cannot write the trace '" + file + "'"};
  fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
  std::map<std::pair<uint64_t, uint64_t>, bool> named;
  const char *separator = "";
  for (const Slice &slice : slices) {
    if (!std::exchange(named[{slice.process, slice.thread}], true)) {
      auto name = threads.find(slice.thread);
      fprintf(out,
              "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%llu,\"tid\":%llu,\"args\":{"
              "\"name\":\"%s\"}},\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%llu,\"args\":{"
              "\"name\":\"CTA %llu\"}}",
              separator, (unsigned long long)slice.process, (unsigned long long)slice.thread,
              name != threads.end() ? escape(name->second).c_str()
                                    : format("warp %llu", (unsigned long long)slice.thread).c_str(),
              (unsigned long long)slice.process, (unsigned long long)slice.process);
      separator = ",\n";
    }
    std::string name = slice.code ? slice.code->source->opcode : slice.name;
    fprintf(
        out,
        "%s{\"ph\":\"X\",\"name\":\"%s%s\",\"cat\":\"%s\",\"ts\":%llu,\"dur\":%llu,\"pid\":%llu,"
        "\"tid\":%llu,\"args\":{\"ptx line\":%u,\"line\":%u}}",
        separator, slice.waiting ? "wait: " : "", escape(name).c_str(),
        slice.waiting ? "wait" : "step", (unsigned long long)slice.begin,
        (unsigned long long)(slice.end - slice.begin), (unsigned long long)slice.process,
        (unsigned long long)slice.thread, slice.code ? slice.code->loc.ptxLine : 0,
        slice.code ? slice.code->loc.line : 0);
    separator = ",\n";
  }
  fprintf(out, "\n],\"otherData\":{\"truncated\":%s}}\n", truncated ? "true" : "false");
  bool failed = ferror(out) != 0;
  if (fclose(out) != 0 || failed)
    return Error{"cannot write the trace '" + file + "'"};
  return Done{};
}

} // namespace ts::emu
