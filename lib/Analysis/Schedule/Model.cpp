// Names, trip counts and the text form of the schedule model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Schedule/Model.h"
#include "ts/Support/Saturating.h"

#include <algorithm>

namespace ts::schedule {

namespace {

std::string number(int64_t n) { return std::to_string(n); }

/// upper - lower, or nothing on overflow; the same for the rest.
std::optional<int64_t> evaluate(const Bound &bound, int64_t symbolValue) {
  int64_t product, sum;
  if (bound.isConstant())
    return bound.offset;
  if (bound.kind == Bound::Kind::Unknown ||
      __builtin_mul_overflow(bound.scale, symbolValue, &product) ||
      __builtin_add_overflow(product, bound.offset, &sum))
    return std::nullopt;
  return sum;
}

} // namespace

std::optional<int64_t> Loop::trips(int64_t symbolValue) const {
  if (constantTrips)
    return constantTrips;
  bool sameSymbol = lower.isConstant() || upper.isConstant() || lower.symbol == upper.symbol;
  auto from = evaluate(lower, symbolValue), to = evaluate(upper, symbolValue);
  if (!sameSymbol || !from || !to || !step.isConstant() || step.offset <= 0)
    return std::nullopt;
  int64_t span;
  if (__builtin_sub_overflow(*to, *from, &span))
    return std::nullopt;
  return span <= 0 ? 0 : (span - 1) / step.offset + 1;
}

std::string toString(const Bound &bound) {
  if (bound.isConstant())
    return number(bound.offset);
  std::string text = bound.kind == Bound::Kind::Unknown ? "?" + bound.symbol : bound.symbol;
  if (bound.scale != 1)
    text = number(bound.scale) + " * " + text;
  if (bound.offset > 0)
    text += " + " + number(bound.offset);
  if (bound.offset < 0)
    text += " - " + number(bound.offset).substr(1);
  return text;
}

std::string_view name(EventKind kind) {
  switch (kind) {
  case EventKind::TryAcquire:
    return "try_acquire";
  case EventKind::Acquire:
    return "acquire";
  case EventKind::Commit:
    return "commit";
  case EventKind::TryWait:
    return "try_wait";
  case EventKind::Wait:
    return "wait";
  case EventKind::Release:
    return "release";
  case EventKind::FetchTile:
    return "fetch_tile";
  case EventKind::NextTile:
    return "next_tile";
  case EventKind::GridDepWait:
    return "griddep_wait";
  case EventKind::GridDepLaunch:
    return "griddep_launch";
  case EventKind::Take:
    return "take";
  case EventKind::Pass:
    return "pass";
  case EventKind::Produce:
    return "produce";
  case EventKind::Consume:
    return "consume";
  case EventKind::Access:
    return "access";
  case EventKind::BarrierSync:
    return "barrier_sync";
  case EventKind::BarrierArrive:
    return "barrier_arrive";
  case EventKind::MbarrierArrive:
    return "mbarrier_arrive";
  case EventKind::MbarrierWait:
    return "mbarrier_wait";
  case EventKind::ClusterSync:
    return "cluster_sync";
  case EventKind::WgmmaCommit:
    return "wgmma_commit";
  case EventKind::WgmmaWait:
    return "wgmma_wait";
  case EventKind::BulkCommit:
    return "bulk_commit";
  case EventKind::BulkWait:
    return "bulk_wait";
  case EventKind::CpAsyncCommit:
    return "cp_async_commit";
  case EventKind::CpAsyncWait:
    return "cp_async_wait";
  case EventKind::TmemWait:
    return "tmem_wait";
  case EventKind::WarpSync:
    return "warp_sync";
  case EventKind::Fence:
    return "fence";
  }
  return "?";
}

std::string_view name(GuardKind kind) {
  switch (kind) {
  case GuardKind::First:
    return "first";
  case GuardKind::Last:
    return "last";
  case GuardKind::Every:
    return "every";
  case GuardKind::NotFirst:
    return "not_first";
  case GuardKind::NotLast:
    return "not_last";
  }
  return "?";
}

std::optional<protocol::Op> barrierOp(EventKind kind) {
  if (kind <= EventKind::Release)
    return protocol::Op(unsigned(kind));
  return std::nullopt;
}

//--- Printing -----------------------------------------------------------------------------------

namespace {

class Printer {
public:
  explicit Printer(const Kernel &kernel) : kernel(kernel) {}

  std::string run() {
    const auto &shape = kernel.cluster.shape;
    line(0, "kernel " + kernel.name + " chip " + (kernel.chip.empty() ? "?" : kernel.chip) +
                " warps " + number(kernel.warps) + " cluster " + number(shape[0]) + "x" +
                number(shape[1]) + "x" + number(shape[2]) + " ctas_per_mma " +
                number(kernel.cluster.ctasPerMma) + (kernel.tripsPerTile ? " trips_per_tile" : ""));
    for (const Resource &resource : kernel.resources)
      print(resource);
    for (const AliasGroup &group : kernel.aliasGroups) {
      std::string text = "alias " + quoted(group.name);
      for (const auto &phase : group.phases) {
        text += " [";
        for (size_t i = 0; i < phase.size(); ++i)
          text += (i ? ", " : "") + resourceName(phase[i]);
        text += "]";
      }
      line(1, text);
    }
    for (const Dependency &edge : kernel.dependencies)
      line(1, "depends " + resourceName(edge.downstream) + " on " + resourceName(edge.upstream) +
                  (edge.ordering ? " ordering" : ""));
    for (const Task &task : kernel.tasks)
      print(task);
    return std::move(out);
  }

private:
  static std::string quoted(const std::string &text) { return "'" + text + "'"; }
  std::string resourceName(int index) const {
    return index >= 0 && size_t(index) < kernel.resources.size()
               ? kernel.resources[size_t(index)].name
               : "none";
  }
  void line(int depth, const std::string &text) {
    out.append(size_t(depth) * 2, ' ');
    out += text + "\n";
  }
  static std::string optional(const std::optional<int64_t> &value) {
    return value ? number(*value) : "inferred";
  }

  void print(const Resource &resource) {
    static constexpr std::string_view kinds[] = {"memory",        "queue",    "pdl",  "baton",
                                                 "named_barrier", "mbarrier", "group"};
    std::string text = "resource " + resource.name + " " +
                       std::string(resource.gmem          ? "gmem"
                                   : resource.barrierOnly ? "barrier"
                                                          : kinds[size_t(resource.kind)]);
    if (resource.kind == ResourceKind::Queue)
      text += std::string(resource.clc ? " clc" : " static") + (resource.skips ? " skip" : "");
    if (resource.kind == ResourceKind::Baton)
      text += " holders " + number(resource.holders) + " first " + number(resource.first);
    if (resource.count)
      text += " count " + number(resource.count);
    if (resource.kind == ResourceKind::Group) {
      text += " " + std::string(protocol::name(resource.mode));
      for (int member : resource.members)
        text += " " + resourceName(member);
    }
    if (resource.pipeline) {
      const protocol::PipelineSpec &spec = *resource.pipeline;
      text += " " + std::string(protocol::name(spec.type)) + " stages " + number(spec.stages) +
              " bytes " + optional(spec.numBytes) + " counts " + optional(spec.producerCount) +
              "/" + optional(spec.consumerCount);
      if (spec.interleaved())
        text += " interleave " + number(spec.interleave[0]) + "," + number(spec.interleave[1]) +
                "," + number(spec.interleave[2]) + "," + number(spec.interleave[3]);
    }
    line(1, text);
    for (int index : resource.allocations) {
      const Allocation &alloc = kernel.allocations[size_t(index)];
      bool tmem = alloc.space == MemorySpace::Tmem;
      line(2, "alloc " + alloc.name +
                  (tmem ? " tmem columns " + number(alloc.columns)
                        : " smem bytes " + number(alloc.bytes)) +
                  (alloc.swizzle ? " swizzle " + number(alloc.swizzle) : "") +
                  (alloc.staged ? "" : " unstaged"));
    }
  }

  void print(const Task &task) {
    std::string text = "task " + task.name + " warps " + number(task.firstWarp) + ".." +
                       number(saturatingAdd(task.firstWarp, saturatingAdd(task.warps, -1)));
    if (task.registers)
      text += " registers " + number(*task.registers);
    if (task.onlyCta)
      text += " only_cta " + number(*task.onlyCta);
    auto list = [&](const char *word, const std::vector<int> &resources) {
      if (resources.empty())
        return;
      text += std::string(" ") + word;
      for (int index : resources)
        text += " " + resourceName(index);
    };
    list("reads", task.reads);
    list("writes", task.writes);
    line(1, text);
    printSteps(task, task.body, 2);
  }

  /// Depth is bounded by maxDepth, which the builder enforces.
  void printSteps(const Task &task, const std::vector<StepId> &steps, int depth) {
    for (StepId id : steps) {
      const Step &step = task.steps[size_t(id)];
      line(depth, "#" + number(id) + " " + describe(task, step));
      if (step.kind == StepKind::Event)
        for (const Access &access : step.event.accesses)
          print(access, depth + 1);
      printSteps(task, step.body, depth + 1);
      if (!step.orelse.empty()) {
        line(depth, "else");
        printSteps(task, step.orelse, depth + 1);
      }
    }
  }

  void print(const Access &access, int depth) {
    const Allocation *alloc =
        access.allocation >= 0 ? &kernel.allocations[size_t(access.allocation)] : nullptr;
    std::string where = alloc ? resourceOf(*alloc) + alloc->name : "unknown memory";
    bool tmem = alloc && alloc->space == MemorySpace::Tmem;
    line(depth,
         std::string(access.write ? "write " : "read ") + where +
             (access.size < 0 ? " all"
                              : (tmem ? " columns [" : " bytes [") + number(access.offset) + ", " +
                                    number(saturatingAdd(access.offset, access.size)) + ")") +
             (access.exact ? "" : " part") + " by " + protocol::engineNames(access.engine) +
             (access.via >= 0 ? " via #" + number(access.via) : "") +
             (access.carried ? " carried" : "") + (access.remote ? " remote" : "") +
             (access.inFlight ? " in_flight" : ""));
  }
  std::string resourceOf(const Allocation &alloc) const {
    return alloc.resource < 0 ? "" : resourceName(alloc.resource) + ".";
  }

  std::string describe(const Task &task, const Step &step) {
    switch (step.kind) {
    case StepKind::Event:
      return describe(step.event);
    case StepKind::Loop: {
      const Loop &loop = step.loop;
      if (loop.kind == LoopKind::Tile)
        return "tile_loop " + resourceName(loop.queue);
      return std::string(loop.kind == LoopKind::Inner ? "inner_loop " : "loop ") +
             toString(loop.lower) + " to " + toString(loop.upper) + " step " + toString(loop.step) +
             (loop.constantTrips ? " trips " + number(*loop.constantTrips)
                                 : " min_trips " + number(loop.minTrips)) +
             (loop.carriesOn ? " carries on" : "");
    }
    case StepKind::Guard:
      return "guard " + std::string(name(step.guard.kind)) +
             (step.guard.kind == GuardKind::Every ? " " + number(step.guard.period) : "") +
             " of #" + number(step.guard.loop);
    case StepKind::When:
    case StepKind::Branch: {
      const Condition &condition = step.condition;
      return std::string(step.kind == StepKind::When ? "when " : "branch ") +
             (condition.positive ? toString(*condition.positive) + " > 0" : condition.key) +
             " is " + (condition.expected ? "true" : "false") + (condition.userKey ? " key" : "") +
             (condition.shared ? " shared" : "") +
             (condition.ctas ? " ctas " + number(int64_t(*condition.ctas)) : "");
    }
    case StepKind::Skippable:
      return "skippable";
    }
    return "?";
  }

  std::string describe(const Event &event) {
    std::string text(name(event.kind));
    if (event.resource >= 0)
      text += " " + resourceName(event.resource);
    if (!event.label.empty())
      text += " " + quoted(event.label);
    if (event.aux)
      text += " aux";
    if (event.declared)
      text += " declared";
    if (event.elected)
      text += " elected";
    switch (event.kind) {
    case EventKind::WgmmaWait:
    case EventKind::BulkWait:
    case EventKind::CpAsyncWait:
      text += " " + number(event.pending) + (event.readOnly ? " read" : "");
      break;
    default:
      break;
    }
    if (event.expect)
      text += " expect " + number(*event.expect);
    if (event.remote)
      text += " cta " + (event.remoteCta ? number(*event.remoteCta) : std::string("?"));
    if (event.parity)
      text += " parity " + describe(*event.parity);
    if (!event.issued.known)
      text += " issues ? bytes";
    for (const protocol::IssuedBytes &bytes : event.issued.alternatives) {
      if (event.kind == EventKind::Acquire)
        break; // the same as its works'
      int64_t total = saturatingAdd(bytes.own, saturatingAdd(bytes.alongN, bytes.alongM));
      if (total || event.issued.alternatives.size() > 1)
        text += " issues " + number(total) + " bytes" +
                (bytes.alongN || bytes.alongM ? " multicast" : "");
    }
    return text;
  }

  static std::string describe(const Parity &parity) {
    switch (parity.kind) {
    case Parity::Kind::Constant:
      return number(parity.offset);
    case Parity::Kind::Linear:
      return "(" + number(parity.scale) + " * k + " + number(parity.offset) + ") / " +
             number(parity.divisor) + " mod 2 of #" + number(parity.loop);
    case Parity::Kind::Flips:
      return "flips from " + number(parity.offset) + " in #" + number(parity.loop);
    case Parity::Kind::Unknown:
      return "? " + parity.text;
    }
    return "?";
  }

  const Kernel &kernel;
  std::string out;
};

} // namespace

std::string print(const Kernel &kernel) { return Printer(kernel).run(); }

} // namespace ts::schedule
