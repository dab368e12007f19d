// Reads schedules in a line format and prints what the prover says about each. The format is that
// of the tests beside this file and nothing else's: one declaration or step per line, blocks end
// with `end`, several kernels per file. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Prover/Prover.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace ts;
using namespace ts::schedule;
namespace proto = ts::protocol;

namespace {

struct Case {
  Kernel kernel;
  prover::Placement placement;
  bool given = false;
};

[[noreturn]] void fail(int line, const std::string &what) {
  std::cerr << "line " << line << ": " << what << '\n';
  std::exit(2);
}

class Reader {
public:
  explicit Reader(std::istream &in) : in(in) {}

  /// False at the end of the file.
  bool next(Case &out) {
    current = Case();
    names.clear();
    if (!pendingKernel.empty()) {
      header(pendingKernel);
      pendingKernel.clear();
    }
    std::string text;
    while (std::getline(in, text)) {
      ++line;
      if (auto hash = text.find('#'); hash != std::string::npos)
        text.resize(hash);
      std::istringstream words(text);
      std::vector<std::string> w;
      for (std::string word; words >> word;)
        w.push_back(word);
      if (w.empty())
        continue;
      if (w[0] == "kernel" && current.given) {
        pendingKernel = w;
        break;
      }
      statement(w);
    }
    out = std::move(current);
    return out.given;
  }

private:
  int64_t number(const std::string &text) {
    size_t used = 0;
    int64_t value = 0;
    try {
      value = std::stoll(text, &used);
    } catch (const std::exception &) {
      used = 0;
    }
    if (used != text.size() || text.empty())
      fail(line, "'" + text + "' is not a number");
    return value;
  }
  int resource(const std::string &name) {
    auto it = names.find(name);
    if (it == names.end())
      fail(line, "no resource '" + name + "'");
    return it->second;
  }
  static std::optional<std::string> option(const std::vector<std::string> &w,
                                           const std::string &key) {
    for (const std::string &word : w)
      if (word.size() > key.size() && word.compare(0, key.size(), key) == 0 &&
          word[key.size()] == '=')
        return word.substr(key.size() + 1);
    return std::nullopt;
  }
  static bool flag(const std::vector<std::string> &w, const std::string &key) {
    return std::find(w.begin(), w.end(), key) != w.end();
  }
  const std::string &word(const std::vector<std::string> &w, size_t i) {
    if (i >= w.size())
      fail(line, "'" + w[0] + "' wants more words");
    return w[i];
  }

  void header(const std::vector<std::string> &w) {
    current.given = true;
    current.kernel.name = word(w, 1);
    if (auto cluster = option(w, "cluster"))
      current.kernel.cluster.shape = {number(*cluster), 1, 1};
    if (auto v = option(w, "v"))
      current.kernel.cluster.ctasPerMma = number(*v);
    current.kernel.tripsPerTile = flag(w, "trips_per_tile");
  }

  int addResource(const std::string &name, ResourceKind kind) {
    Resource resource;
    resource.name = name;
    resource.kind = kind;
    names[name] = int(current.kernel.resources.size());
    current.kernel.resources.push_back(std::move(resource));
    return names[name];
  }

  void statement(const std::vector<std::string> &w) {
    const std::string &op = w[0];
    if (op == "kernel")
      return header(w);
    if (!current.given)
      fail(line, "'kernel' comes first");
    Kernel &kernel = current.kernel;
    if (op == "ring") {
      proto::PipelineSpec spec;
      spec.name = word(w, 1);
      bool known = false;
      for (unsigned i = 0; i < proto::numPipelineTypes; ++i)
        if (proto::name(proto::PipelineType(i)) == word(w, 2)) {
          spec.type = proto::PipelineType(i);
          known = true;
        }
      if (!known)
        fail(line, "no pipeline type '" + w[2] + "'");
      if (auto v = option(w, "stages"))
        spec.stages = number(*v);
      if (auto v = option(w, "bytes"))
        spec.numBytes = number(*v);
      if (auto v = option(w, "producer"))
        spec.producerCount = number(*v);
      if (auto v = option(w, "consumer"))
        spec.consumerCount = number(*v);
      if (auto v = option(w, "interleave")) {
        std::istringstream parts(*v);
        std::string part;
        for (size_t i = 0; i < 4 && std::getline(parts, part, ','); ++i)
          spec.interleave[i] = number(part);
      }
      spec.advanceOnWait = flag(w, "advance_on_wait");
      spec.advanceOnAcquire = flag(w, "advance_on_acquire");
      spec.asyncLoad = flag(w, "async_load");
      if (flag(w, "task_warp_leader"))
        spec.producerSignal = proto::SignalTaskWarpLeader;
      if (flag(w, "leader_produces"))
        spec.producerSignal = proto::SignalCtaLeader;
      if (flag(w, "leader_consumes"))
        spec.consumerSignal = proto::SignalCtaLeader;
      if (flag(w, "wgmma_reads"))
        spec.consumerAccess = proto::SideAccess{proto::EngineWgmma, 0};
      if (flag(w, "no_multicast"))
        spec.multicast = {false, false};
      if (flag(w, "local"))
        spec.ctaLayout = proto::LayoutVmnk{1, 1, 1, 1};
      spec.space = flag(w, "tmem") ? proto::Space::Tmem : proto::Space::Smem;
      kernel.resources[size_t(addResource(w[1], ResourceKind::Memory))].pipeline = spec;
    } else if (op == "buffer") {
      addResource(word(w, 1), ResourceKind::Memory);
    } else if (op == "alloc") {
      Allocation alloc;
      alloc.resource = resource(word(w, 1));
      alloc.name = word(w, 2);
      bool tmem = word(w, 3) == "tmem";
      alloc.space = tmem ? MemorySpace::Tmem : MemorySpace::Smem;
      (tmem ? alloc.columns : alloc.bytes) = number(word(w, 4));
      alloc.staged = !flag(w, "unstaged");
      prover::Placed placed;
      if (auto at = option(w, "at")) {
        placed.offset = number(*at);
        placed.stride = number(w[4]);
      }
      if (auto stride = option(w, "stride"))
        placed.stride = number(*stride);
      kernel.resources[size_t(alloc.resource)].allocations.push_back(
          int(kernel.allocations.size()));
      kernel.allocations.push_back(std::move(alloc));
      current.placement.allocations.push_back(placed);
    } else if (op == "group") {
      int id = addResource(word(w, 1), ResourceKind::Group);
      Resource &group = kernel.resources[size_t(id)];
      const std::string &mode = word(w, 2);
      group.mode = mode == "merge"  ? proto::GroupMode::Merge
                   : mode == "fork" ? proto::GroupMode::Fork
                                    : proto::GroupMode::FusedMerge;
      for (size_t i = 3; i < w.size(); ++i) {
        int member = resource(w[i]);
        kernel.resources[size_t(id)].members.push_back(member);
        kernel.resources[size_t(member)].group = id;
        kernel.resources[size_t(id)].pipeline = kernel.resources[size_t(member)].pipeline;
      }
    } else if (op == "queue") {
      int id = addResource(word(w, 1), ResourceKind::Queue);
      Resource &queue = kernel.resources[size_t(id)];
      queue.clc = flag(w, "clc");
      queue.skips = flag(w, "skips");
      if (queue.clc) {
        proto::PipelineSpec spec;
        spec.name = w[1];
        spec.type = proto::PipelineType::ClcFetchAsync;
        spec.stages = option(w, "stages") ? number(*option(w, "stages")) : 1;
        queue.pipeline = spec;
      }
    } else if (op == "mbarrier" || op == "named" || op == "baton") {
      int id = addResource(word(w, 1), op == "mbarrier" ? ResourceKind::Mbarrier
                                       : op == "named"  ? ResourceKind::NamedBarrier
                                                        : ResourceKind::Baton);
      Resource &entry = kernel.resources[size_t(id)];
      (op == "baton" ? entry.holders : entry.count) = number(word(w, 2));
    } else if (op == "pdl") {
      addResource(word(w, 1), ResourceKind::Pdl);
    } else if (op == "task") {
      Task task;
      task.name = task.source = word(w, 1);
      task.warps = number(word(w, 2));
      if (auto v = option(w, "cta"))
        task.onlyCta = number(*v);
      if (auto v = option(w, "replica")) {
        task.replica = int(number(*v));
        task.name += "[" + *v + "]";
      }
      kernel.tasks.push_back(std::move(task));
      open.clear();
    } else {
      step(w);
    }
  }

  Step &add(StepKind kind, bool block) {
    if (current.kernel.tasks.empty())
      fail(line, "steps belong to a task");
    Task &task = current.kernel.tasks.back();
    StepId id = StepId(task.steps.size());
    Step &step = task.steps.emplace_back();
    step.kind = kind;
    step.parent = open.empty() ? -1 : open.back();
    step.loc = line;
    (open.empty() ? task.body : task.steps[size_t(open.back())].body).push_back(id);
    if (block)
      open.push_back(id);
    return task.steps[size_t(id)];
  }
  StepId enclosingLoop() {
    const Task &task = current.kernel.tasks.back();
    for (auto it = open.rbegin(); it != open.rend(); ++it)
      if (task.steps[size_t(*it)].kind == StepKind::Loop)
        return *it;
    return -1;
  }

  Bound bound(const std::string &text) {
    if (text.find_first_not_of("0123456789") == std::string::npos)
      return Bound::constant(number(text));
    Bound result;
    result.kind = text[0] == '@' ? Bound::Kind::PerTile : Bound::Kind::Argument;
    result.scale = 1;
    std::string rest = text;
    if (auto star = rest.find('*'); star != std::string::npos) {
      result.scale = number(rest.substr(0, star));
      rest = rest.substr(star + 1);
    }
    if (auto sign = rest.find_first_of("+-"); sign != std::string::npos) {
      result.offset = number(rest.substr(sign + 1)) * (rest[sign] == '-' ? -1 : 1);
      rest.resize(sign);
    }
    if (auto colon = rest.find(':'); colon != std::string::npos) {
      result.min = number(rest.substr(colon + 1));
      rest.resize(colon);
    }
    result.symbol = rest;
    return result;
  }

  void work(const std::vector<std::string> &w, bool produces) {
    int r = resource(word(w, 1));
    bool body = flag(w, "body");
    Step &step = add(StepKind::Event, body);
    Event &event = step.event;
    event.kind = produces ? EventKind::Produce : EventKind::Consume;
    event.resource = r;
    event.aux = flag(w, "aux");
    event.declared = !body;
    event.label = w[1];
    StepId id = StepId(current.kernel.tasks.back().steps.size()) - 1;
    lastWork[{r, produces}] = id;
    if (auto v = option(w, "issues"))
      event.issued.alternatives.push_back({number(*v), 0, 0});
    if (body || event.aux || flag(w, "nothing"))
      return;
    const Resource &entry = current.kernel.resources[size_t(r)];
    proto::SideAccess engines{};
    (produces ? engines.writes : engines.reads) = proto::EngineGeneric;
    if (entry.pipeline)
      engines = proto::accessOf(*entry.pipeline,
                                produces ? proto::Side::Producer : proto::Side::Consumer);
    for (int a : entry.allocations)
      for (unsigned bit = 1; bit <= proto::EngineClc; bit <<= 1)
        for (bool write : {false, true})
          if ((write ? engines.writes : engines.reads) & bit)
            event.accesses.push_back(makeAccess(a, write, proto::Engine(bit), produces, id));
  }
  Access makeAccess(int allocation, bool write, proto::Engine engine, bool produces, StepId via) {
    const Allocation &alloc = current.kernel.allocations[size_t(allocation)];
    Access access;
    access.allocation = allocation;
    access.write = write;
    access.engine = engine;
    access.side = produces ? proto::Side::Producer : proto::Side::Consumer;
    access.size = alloc.space == MemorySpace::Tmem ? alloc.columns : alloc.bytes;
    access.via = via;
    access.loc = line;
    return access;
  }

  /// access read|write RES.ALLOC ENGINE [offset=] [size=] [part] [producer] [carried]
  void access(const std::vector<std::string> &w) {
    std::string place = word(w, 2);
    auto dot = place.find('.');
    if (dot == std::string::npos)
      fail(line, "an access names resource.allocation");
    int r = resource(place.substr(0, dot)), found = -1;
    for (int a : current.kernel.resources[size_t(r)].allocations)
      if (current.kernel.allocations[size_t(a)].name == place.substr(dot + 1))
        found = a;
    if (found < 0)
      fail(line, "no allocation '" + place + "'");
    static const std::map<std::string, proto::Engine> engines = {
        {"generic", proto::EngineGeneric}, {"cp_async", proto::EngineCpAsync},
        {"tma", proto::EngineTma},         {"umma", proto::EngineUmma},
        {"wgmma", proto::EngineWgmma},     {"tmem_load", proto::EngineTmemLoad}};
    auto engine = engines.find(word(w, 3));
    if (engine == engines.end())
      fail(line, "no engine '" + w[3] + "'");
    bool produces = flag(w, "producer");
    auto via = lastWork.find({r, produces});
    Access result = makeAccess(found, w[1] == "write", engine->second, produces,
                               via == lastWork.end() ? -1 : via->second);
    if (auto v = option(w, "offset"))
      result.offset = number(*v);
    if (auto v = option(w, "size"))
      result.size = number(*v);
    result.exact = !flag(w, "part");
    result.carried = flag(w, "carried");
    Step &step = add(StepKind::Event, false);
    step.event.kind = EventKind::Access;
    step.event.accesses.push_back(result);
  }

  void step(const std::vector<std::string> &w) {
    const std::string &op = w[0];
    static const std::map<std::string, EventKind> plain = {
        {"try_acquire", EventKind::TryAcquire},
        {"acquire", EventKind::Acquire},
        {"commit", EventKind::Commit},
        {"try_wait", EventKind::TryWait},
        {"wait", EventKind::Wait},
        {"release", EventKind::Release},
        {"fetch", EventKind::FetchTile},
        {"next_tile", EventKind::NextTile},
        {"griddep_wait", EventKind::GridDepWait},
        {"griddep_launch", EventKind::GridDepLaunch},
        {"take", EventKind::Take},
        {"pass", EventKind::Pass},
        {"sync", EventKind::BarrierSync},
        {"arrive", EventKind::BarrierArrive},
        {"mb_arrive", EventKind::MbarrierArrive}};
    static const std::map<std::string, EventKind> bare = {{"cluster_sync", EventKind::ClusterSync},
                                                          {"wgmma_commit", EventKind::WgmmaCommit},
                                                          {"bulk_commit", EventKind::BulkCommit},
                                                          {"cp_commit", EventKind::CpAsyncCommit},
                                                          {"tmem_wait", EventKind::TmemWait}};
    static const std::map<std::string, EventKind> groups = {{"wgmma_wait", EventKind::WgmmaWait},
                                                            {"bulk_wait", EventKind::BulkWait},
                                                            {"cp_wait", EventKind::CpAsyncWait}};
    if (auto it = plain.find(op); it != plain.end()) {
      int r = resource(word(w, 1));
      Event &event = add(StepKind::Event, false).event;
      event.kind = it->second;
      event.resource = r;
      event.elected = flag(w, "elected");
    } else if (auto it2 = bare.find(op); it2 != bare.end()) {
      add(StepKind::Event, false).event.kind = it2->second;
    } else if (auto it3 = groups.find(op); it3 != groups.end()) {
      Event &event = add(StepKind::Event, false).event;
      event.kind = it3->second;
      event.pending = number(word(w, 1));
      event.readOnly = flag(w, "read");
    } else if (op == "produce" || op == "consume") {
      work(w, op == "produce");
    } else if (op == "access") {
      access(w);
    } else if (op == "mb_wait") {
      int r = resource(word(w, 1));
      StepId loop = enclosingLoop();
      Event &event = add(StepKind::Event, false).event;
      event.kind = EventKind::MbarrierWait;
      event.resource = r;
      Parity parity;
      const std::string &kind = word(w, 2);
      parity.kind = kind == "linear"    ? Parity::Kind::Linear
                    : kind == "flips"   ? Parity::Kind::Flips
                    : kind == "unknown" ? Parity::Kind::Unknown
                                        : Parity::Kind::Constant;
      parity.scale = 1;
      parity.text = kind;
      parity.loop = loop;
      if (parity.kind == Parity::Kind::Constant)
        parity.offset = number(kind);
      if (auto v = option(w, "offset"))
        parity.offset = number(*v);
      if (auto v = option(w, "divisor"))
        parity.divisor = number(*v);
      event.parity = parity;
    } else if (op == "for" || op == "tile") {
      Step &step = add(StepKind::Loop, true);
      if (op == "tile") {
        step.loop.kind = LoopKind::Tile;
        step.loop.queue = resource(word(w, 1));
        return;
      }
      step.loop.lower = option(w, "from") ? bound(*option(w, "from")) : Bound::constant(0);
      step.loop.upper = bound(word(w, 1));
      if (auto v = option(w, "step"))
        step.loop.step = Bound::constant(number(*v));
      if (step.loop.lower.isConstant() && step.loop.upper.isConstant())
        step.loop.constantTrips = step.loop.trips(0);
    } else if (op == "guard") {
      StepId loop = enclosingLoop();
      Step &step = add(StepKind::Guard, true);
      const std::string &kind = word(w, 1);
      step.guard.kind = kind == "first"       ? GuardKind::First
                        : kind == "last"      ? GuardKind::Last
                        : kind == "every"     ? GuardKind::Every
                        : kind == "not_first" ? GuardKind::NotFirst
                                              : GuardKind::NotLast;
      if (step.guard.kind == GuardKind::Every)
        step.guard.period = number(word(w, 2));
      step.guard.loop = loop;
    } else if (op == "when") {
      Step &step = add(StepKind::When, true);
      step.condition.key = word(w, 1);
      step.condition.shared = !flag(w, "unshared");
      step.condition.expected = !flag(w, "false");
      if (auto v = option(w, "positive"))
        step.condition.positive = bound(*v);
    } else if (op == "skippable") {
      add(StepKind::Skippable, true);
    } else if (op == "end") {
      if (open.empty())
        fail(line, "nothing to end");
      open.pop_back();
    } else {
      fail(line, "unknown word '" + op + "'");
    }
  }

  std::istream &in;
  int line = 0;
  Case current;
  std::map<std::string, int> names;
  std::vector<StepId> open;
  std::map<std::pair<int, bool>, StepId> lastWork;
  std::vector<std::string> pendingKernel;
};

void printFault(const prover::Verdict &verdict, bool steps) {
  const prover::Fault &fault = *verdict.fault;
  std::cout << prover::name(fault.kind);
  if (fault.rule != prover::Rule::None)
    std::cout << " [" << prover::name(fault.rule) << "]";
  if (!fault.when.empty())
    std::cout << " when " << fault.when;
  std::cout << ": " << fault.message << " (line " << fault.loc << ")\n";
  for (const prover::AccessSite &site : fault.sites)
    std::cout << "  access: " << site.text << " (line " << site.loc << ")\n";
  for (const prover::BlockedAgent &blocked : fault.blocked) {
    std::cout << "  blocked: '" << verdict.agents[size_t(blocked.agent)] << "' waits for "
              << blocked.waitsFor << " (line " << blocked.loc << ")\n";
    if (blocked.wakerAgent >= 0)
      std::cout << "    " << blocked.waker << " (line " << blocked.wakerLoc << ")\n";
  }
  if (fault.safeFrom)
    std::cout << "  safe for every " << fault.safeSymbol << " >= " << *fault.safeFrom
              << ": declare min = " << *fault.safeFrom << '\n';
  if (steps)
    for (const prover::WitnessStep &step : fault.steps)
      std::cout << "  step: " << verdict.agents[size_t(step.agent)] << ": " << step.text
                << (step.blocked ? " *" : "") << '\n';
}

} // namespace

int main(int argc, char **argv) {
  bool steps = false, statistics = false;
  std::string file;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--steps")
      steps = true;
    else if (arg == "--stats")
      statistics = true;
    else
      file = arg;
  }
  std::ifstream in(file);
  if (!in) {
    std::cerr << "cannot read '" << file << "'\n";
    return 2;
  }
  Reader reader(in);
  for (Case next; reader.next(next);) {
    auto start = std::chrono::steady_clock::now();
    prover::Verdict verdict = prover::prove(next.kernel, next.placement);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    std::cout << next.kernel.name << ": " << prover::name(verdict.kind);
    if (verdict.fault) {
      std::cout << ": ";
      printFault(verdict, steps);
    } else {
      if (verdict.kind == prover::Verdict::Kind::ProvenUpTo)
        std::cout << " " << verdict.bound;
      if (!verdict.reason.empty())
        std::cout << ": " << verdict.reason;
      std::cout << '\n';
    }
    for (const std::string &assumption : verdict.assumptions)
      std::cout << "  assumed: " << assumption << '\n';
    if (statistics)
      std::cout << "  states " << verdict.statistics.states << " steps " << verdict.statistics.steps
                << " agents " << verdict.statistics.agents << " epochs "
                << verdict.statistics.epochs << " ms " << time.count() << '\n';
  }
  return 0;
}
