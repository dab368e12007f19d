// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trace event JSON: one process per kernel, one track per task and per unit.
#include "ts/Analysis/Reports/Formats.h"
#include "ts/Analysis/Reports/Json.h"
#include "ts/Analysis/Reports/Text.h"

namespace ts::reports {

namespace {

class TraceWriter {
public:
  Json events = Json::array();

  void nameProcess(int process, const std::string &text) {
    events.push(metadata("process_name", process, 0, "name", text));
  }
  void nameTrack(int process, int track, const std::string &text) {
    events.push(metadata("thread_name", process, track, "name", text));
    events.push(metadata("thread_sort_index", process, track, "sort_index", int64_t(track)));
  }
  void slice(int process, int track, const std::string &text, const char *category, int64_t start,
             int64_t length, const Place &place) {
    Json args = Json::object();
    if (place.known())
      args.set("location", place.text());
    events.push(Json::object()
                    .set("ph", "X")
                    .set("name", text)
                    .set("cat", category)
                    .set("pid", process)
                    .set("tid", track)
                    .set("ts", start)
                    .set("dur", length)
                    .set("args", std::move(args)));
  }

private:
  static Json metadata(const char *what, int process, int track, const char *key, Json value) {
    return Json::object()
        .set("ph", "M")
        .set("name", what)
        .set("pid", process)
        .set("tid", track)
        .set("args", Json::object().set(key, std::move(value)));
  }
};

void writeWitness(TraceWriter &trace, int process, const KernelInput &input) {
  const prover::Verdict &verdict = *input.verdict;
  const prover::Fault &fault = *verdict.fault;
  trace.nameProcess(process, input.kernel.name + ": counter-example, " +
                                 std::string(prover::name(fault.kind)) + " (one step = 1 us)");
  for (size_t agent = 0; agent < verdict.agents.size(); ++agent)
    trace.nameTrack(process, int(agent) + 1, verdict.agents[agent]);
  constexpr int64_t blockedLength = 10;
  int64_t end = 0;
  for (const prover::WitnessStep &step : fault.steps)
    end += !step.blocked;
  int64_t time = 0;
  for (const prover::WitnessStep &step : fault.steps) {
    if (step.agent < 0)
      continue;
    // Who blocks does so until the end.
    trace.slice(process, step.agent + 1, step.text, step.blocked ? "blocked" : "step", time,
                step.blocked ? end - time + blockedLength : 1, input.place(step.loc));
    time += !step.blocked;
  }
}

void writeModel(TraceWriter &trace, int process, const KernelInput &input,
                const SteadyState &model) {
  trace.nameProcess(process,
                    input.kernel.name + ": model of " + model.chip + " (one cycle = 1 us)");
  for (size_t track = 0; track < model.run.tracks.size(); ++track)
    trace.nameTrack(process, int(track) + 1, model.run.tracks[track].name);
  for (int period = 0; period < model.shown; ++period)
    for (const Interval &interval : model.run.intervals) {
      size_t base = size_t(period) * size_t(model.run.graph.nodes);
      int64_t start = model.times[base + size_t(interval.from)];
      int64_t length =
          interval.to < 0 ? interval.length : model.times[base + size_t(interval.to)] - start;
      if (length > 0)
        trace.slice(process, interval.track + 1, interval.label,
                    interval.waiting                                  ? "blocked"
                    : model.run.tracks[size_t(interval.track)].engine ? "unit"
                                                                      : "step",
                    start, length, input.place(interval.loc));
    }
}

} // namespace

std::string formatPerfetto(const Input &input, const Models &models) {
  TraceWriter trace;
  for (size_t k = 0; k < input.kernels.size(); ++k) {
    const KernelInput &kernel = input.kernels[k];
    int process = int(k) + 1;
    if (kernel.verdict && kernel.verdict->fault && !kernel.verdict->fault->steps.empty())
      writeWitness(trace, process, kernel);
    else if (k < models.size() && models[k].valid() && !models[k].times.empty())
      writeModel(trace, process, kernel, models[k]);
    else
      trace.nameProcess(process, kernel.kernel.name + ": nothing to show");
  }
  return Json::object()
             .set("displayTimeUnit", "ns")
             .set("traceEvents", std::move(trace.events))
             .dump(0) +
         "\n";
}

} // namespace ts::reports
