// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The JSON report; its schema is docs/report.schema.json.
#include "ts/Analysis/Reports/Formats.h"
#include "ts/Analysis/Reports/Json.h"
#include "ts/Analysis/Reports/Text.h"

namespace ts::reports {

using namespace schedule;
using prover::Verdict;

namespace {

Json placeJson(const Place &place) {
  if (!place.known())
    return {};
  return Json::object().set("file", place.file).set("line", place.line).set("column", place.column);
}

Json listJson(const std::vector<std::string> &list) {
  Json array = Json::array();
  for (const std::string &item : list)
    array.push(item);
  return array;
}

template <typename T> Json optionalJson(const std::optional<T> &value) {
  return value ? Json(*value) : Json();
}

/// Declared smallest trip counts, by symbol.
Json minTripsJson(const Kernel &kernel) {
  std::map<std::string, int64_t> minima;
  for (const Task &task : kernel.tasks)
    for (const Step &step : task.steps)
      if (step.kind == StepKind::Loop)
        for (const Bound *bound : {&step.loop.lower, &step.loop.upper})
          if (!bound->isConstant() && !bound->symbol.empty()) {
            int64_t &known = minima[bound->symbol];
            known = std::max(known, bound->min.value_or(0));
          }
  Json object = Json::object();
  for (const auto &[symbol, value] : minima)
    object.set(symbol, value);
  return object;
}

class FaultWriter {
public:
  explicit FaultWriter(const KernelInput &input) : input(input), verdict(*input.verdict) {}

  Json witness() const {
    const prover::Fault &fault = *verdict.fault;
    Json choices = Json::array(), steps = Json::array(), blocked = Json::array();
    for (const prover::Choice &choice : fault.choices) {
      Json entry = Json::object();
      entry.set("name", choice.name).set("value", choice.value).set("at_least", choice.atLeast);
      entry.set("trip_count", choice.isTrip);
      if (choice.tile >= 0)
        entry.set("tile", choice.tile);
      choices.push(std::move(entry));
    }
    for (const prover::WitnessStep &step : fault.steps)
      steps.push(Json::object()
                     .set("task", agent(step.agent))
                     .set("text", step.text)
                     .set("blocked", step.blocked)
                     .set("location", placeJson(input.place(step.loc))));
    for (const prover::BlockedAgent &entry : fault.blocked) {
      Json one = Json::object();
      one.set("task", agent(entry.agent)).set("waits_for", entry.waitsFor);
      one.set("location", placeJson(input.place(entry.loc)));
      if (!entry.waker.empty())
        one.set("waker", Json::object()
                             .set("task", agent(entry.wakerAgent))
                             .set("text", entry.waker)
                             .set("location", placeJson(input.place(entry.wakerLoc))));
      blocked.push(std::move(one));
    }
    return Json::object()
        .set("tasks", listJson(verdict.agents))
        .set("choices", std::move(choices))
        .set("steps", std::move(steps))
        .set("blocked", std::move(blocked));
  }

  Json locations() const {
    const prover::Fault &fault = *verdict.fault;
    Json list = Json::array();
    auto add = [&](const char *role, int agentIndex, const std::string &text, LocId loc) {
      list.push(Json::object()
                    .set("role", role)
                    .set("task", agent(agentIndex))
                    .set("message", text)
                    .set("location", placeJson(input.place(loc))));
    };
    add("fault", fault.agent, fault.message, fault.loc);
    for (const prover::BlockedAgent &blocked : fault.blocked)
      add("blocked", blocked.agent, "waits for " + blocked.waitsFor, blocked.loc);
    for (const prover::AccessSite &site : fault.sites)
      add("access", site.agent, site.text, site.loc);
    return list;
  }

private:
  std::string agent(int index) const {
    return index >= 0 && size_t(index) < verdict.agents.size() ? verdict.agents[size_t(index)] : "";
  }
  const KernelInput &input;
  const Verdict &verdict;
};

/// The part that stands both at the top and in each kernel.
void setVerdict(Json &object, const KernelInput &input) {
  const auto &verdict = input.verdict;
  const prover::Fault *fault = verdict && verdict->fault ? &*verdict->fault : nullptr;
  object.set("verdict", verdictWord(verdict));
  object.set("kind", fault ? Json(prover::name(fault->kind)) : Json());
  object.set("id", fault ? Json(faultTag(fault->kind)) : Json());
  object.set("min_trips", minTripsJson(input.kernel));
  object.set("witness", fault ? FaultWriter(input).witness() : Json());
  object.set("locations", fault ? FaultWriter(input).locations() : Json::array());
}

Json expectedJson(const protocol::Expected &expected) {
  Json perCta = Json::array();
  for (int64_t value : expected.perCta)
    perCta.push(value);
  return Json::object()
      .set("value", optionalJson(expected.value))
      .set("derivation", expected.derivation)
      .set("per_cta", std::move(perCta));
}

Json resourcesJson(const KernelInput &input) {
  Json list = Json::array();
  for (size_t r = 0; r < input.kernel.resources.size(); ++r) {
    const Resource &resource = input.kernel.resources[r];
    Json entry = Json::object();
    entry.set("name", resource.name).set("location", placeJson(input.place(resource.loc)));
    if (resource.pipeline)
      entry.set("pipeline", protocol::name(resource.pipeline->type))
          .set("stages", resource.pipeline->stages);
    for (const BarrierUse &use : input.barriers)
      if (use.resource == int(r)) {
        Json barrier = expectedJson(use.arrivals);
        if (use.bytes)
          barrier.set("bytes", expectedJson(*use.bytes));
        entry.set(std::string(protocol::name(use.barrier)), std::move(barrier));
      }
    list.push(std::move(entry));
  }
  return list;
}

Json memoryJson(const MemoryMap &memory) {
  Json items = Json::array();
  for (const MemoryItem &item : memory.items) {
    Json entry = Json::object();
    entry.set("name", item.name).set("kind", item.kind).set("space", item.tmem ? "tmem" : "smem");
    entry.set("offset", item.offset).set("size", item.size).set("stages", item.stages);
    entry.set("stride", item.stride).set("extent", item.extent);
    if (!item.aliasGroup.empty())
      entry.set("alias_group", item.aliasGroup).set("phase", item.phase);
    items.push(std::move(entry));
  }
  return Json::object()
      .set("fits", memory.valid)
      .set("smem_bytes", memory.smemBytes)
      .set("smem_limit", memory.smemLimit)
      .set("tmem_columns", memory.tmemColumns)
      .set("tmem_limit", memory.tmemLimit)
      .set("items", std::move(items));
}

Json modelJson(const KernelInput &input, const SteadyState &model) {
  if (!model.problem.empty())
    return Json::object().set("is_model", true).set("problem", model.problem);
  Json resources = Json::array(), units = Json::array(), rings = Json::array();
  for (int resource : model.criticalResources)
    resources.push(input.resourceName(resource));
  for (const EngineLoad &load : model.engines)
    units.push(Json::object().set("name", load.engine).set("busy", load.share));
  for (const RingModel &ring : model.rings) {
    Json rates = Json::array();
    for (const StageRate &rate : ring.rates)
      rates.push(Json::object().set("stages", rate.stages).set("share", rate.share));
    rings.push(Json::object()
                   .set("resource", input.resourceName(ring.resource))
                   .set("waiter", ring.waiter.empty() ? Json() : Json(ring.waiter))
                   .set("declared", ring.declared)
                   .set("share", ring.share)
                   .set("deadlock_free", optionalJson(ring.deadlockFree))
                   .set("full_rate", optionalJson(ring.fullRate))
                   .set("rates", std::move(rates)));
  }
  return Json::object()
      .set("is_model", true)
      .set("chip", model.chip)
      .set("deadlock", model.deadlock)
      .set("cycles", model.deadlock ? Json() : Json(model.cycles))
      .set("period", model.run.persistent ? "tile" : "launch")
      .set("iterations", model.run.trips)
      .set("critical_rings", std::move(resources))
      .set("critical_tracks", listJson(model.criticalTracks))
      .set("units", std::move(units))
      .set("rings", std::move(rings))
      .set("left_out", listJson(model.run.ignored));
}

Json tasksJson(const KernelInput &input) {
  Json list = Json::array();
  for (const Task &task : input.kernel.tasks)
    list.push(Json::object()
                  .set("name", task.name)
                  .set("first_warp", task.firstWarp)
                  .set("warps", task.warps)
                  .set("registers", optionalJson(task.registers))
                  .set("location", placeJson(input.place(task.loc))));
  return list;
}

Json kernelJson(const KernelInput &input, const SteadyState *model) {
  Json object = Json::object();
  object.set("name", input.kernel.name).set("summary", verdictLine(input));
  setVerdict(object, input);
  if (const auto &verdict = input.verdict) {
    object.set("reason", verdict->reason.empty() ? Json() : Json(verdict->reason));
    object.set("bound", verdict->kind == Verdict::Kind::ProvenUpTo ? Json(verdict->bound) : Json());
    object.set("symbols", listJson(verdict->symbols));
    object.set("assumptions", listJson(verdict->assumptions));
    object.set("milliseconds", input.proverMilliseconds);
    if (const auto &fault = verdict->fault) {
      object.set("when", fault->when.empty() ? Json() : Json(fault->when));
      object.set("safe_from", optionalJson(fault->safeFrom));
      object.set("help", helpLine(*fault));
    }
  }
  object.set("waived", listJson(input.waived));
  if (!input.kernel.tasks.empty()) {
    object.set("tasks", tasksJson(input)).set("launch_warps", input.warps.launchWarps);
    object.set("resources", resourcesJson(input)).set("memory", memoryJson(input.memory));
    if (model)
      object.set("model", modelJson(input, *model));
  }
  if (const auto &usage = input.usage)
    object.set("usage", Json::object()
                            .set("registers", usage->registers)
                            .set("spill_stores", usage->spillStores)
                            .set("spill_loads", usage->spillLoads)
                            .set("stack", usage->stack)
                            .set("static_smem", usage->staticSmem)
                            .set("barriers", usage->barriers));
  return object;
}

Json diagnosticJson(const Diagnostic &diagnostic) {
  Json notes = Json::array();
  for (const Note &note : diagnostic.notes)
    notes.push(Json::object().set("message", note.message).set("location", placeJson(note.place)));
  return Json::object()
      .set("severity", name(diagnostic.severity))
      .set("id", diagnostic.check ? Json("TS" + std::to_string(diagnostic.check)) : Json())
      .set("message", diagnostic.message)
      .set("location", placeJson(diagnostic.place))
      .set("notes", std::move(notes));
}

/// Worse verdicts first.
int rank(const KernelInput &kernel) {
  if (!kernel.verdict)
    return 1;
  switch (kernel.verdict->kind) {
  case Verdict::Kind::Refuted:
    return 4;
  case Verdict::Kind::Unknown:
    return 3;
  case Verdict::Kind::ProvenUpTo:
    return 2;
  case Verdict::Kind::Proven:
    return 0;
  }
  return 3;
}

} // namespace

std::string formatJson(const Input &input, const Models &models) {
  Json report = Json::object();
  report.set("version", 1);
  report.set("tool", Json::object().set("name", input.tool).set("version", input.toolVersion));
  report.set("source", input.source).set("arch", input.arch);
  const KernelInput *worst = nullptr;
  for (const KernelInput &kernel : input.kernels)
    if (!worst || rank(kernel) > rank(*worst))
      worst = &kernel;
  if (input.failed) {
    // The first error speaks for the run.
    Json locations = Json::array(), id;
    for (const Diagnostic &diagnostic : input.diagnostics)
      if (diagnostic.severity == Diagnostic::Severity::Error) {
        if (diagnostic.check && id.empty())
          id = "TS" + std::to_string(diagnostic.check);
        if (locations.empty())
          locations.push(Json::object()
                             .set("role", "error")
                             .set("task", "")
                             .set("message", diagnostic.message)
                             .set("location", placeJson(diagnostic.place)));
      }
    report.set("verdict", "error").set("kind", "check").set("id", std::move(id));
    report.set("min_trips", worst ? minTripsJson(worst->kernel) : Json::object());
    report.set("witness", Json()).set("locations", std::move(locations));
  } else if (worst) {
    setVerdict(report, *worst);
  } else {
    setVerdict(report, KernelInput());
  }
  Json kernels = Json::array(), diagnostics = Json::array();
  for (size_t k = 0; k < input.kernels.size(); ++k)
    kernels.push(kernelJson(input.kernels[k], k < models.size() ? &models[k] : nullptr));
  for (const Diagnostic &diagnostic : input.diagnostics)
    diagnostics.push(diagnosticJson(diagnostic));
  report.set("kernels", std::move(kernels)).set("diagnostics", std::move(diagnostics));
  return report.dump() + "\n";
}

} // namespace ts::reports
