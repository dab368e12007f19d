// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Emulate.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include <unistd.h>

using namespace ts;
using emu::RunReport;
using emu::Schedule;
using json = nlohmann::json;

namespace {
constexpr unsigned maxTold = 3;        // failing runs in full; the others have a line each
constexpr double defaultTimeout = 600; // s
constexpr auto progressEvery = std::chrono::seconds(3);

std::string text(const char *format, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

bool sameBytes(const Emulation::Arrays &a, const Emulation::Arrays &b) {
  for (const auto &[name, array] : a)
    if (array.image() != b.at(name).image())
      return false;
  return true;
}
} // namespace

emu::LaunchOptions Emulation::launchOptions(const Schedule &schedule) const {
  emu::LaunchOptions launch;
  launch.schedule = schedule;
  launch.threads = options.threads;
  launch.residentCtas = static_cast<unsigned>(sms);
  launch.checkRaces = !options.noRaceCheck;
  launch.checkUninitialised = !options.noUndefinedCheck;
  launch.strictTcgen05Fences = options.strictTensorFences;
  launch.traceFile = options.traceFile;
  launch.timeoutSeconds = options.timeoutSeconds.value_or(defaultTimeout);
  launch.stepLimit = options.maxSteps;
  std::ostream *out = &log;
  launch.print = [out](std::string_view printed) {
    out->write(printed.data(), std::ptrdiff_t(printed.size()));
  };
  if (options.progress || isatty(STDERR_FILENO)) {
    auto begun = std::chrono::steady_clock::now(), lastTold = begun;
    launch.progress = [=, always = options.progress](const emu::Progress &progress) mutable {
      auto now = std::chrono::steady_clock::now();
      if (now - lastTold < progressEvery && !(always && lastTold == begun))
        return;
      lastTold = now;
      std::cerr << text("ts-run: %s: %.1f million instructions, %llu of %llu clusters\n",
                        scheduleText(schedule).c_str(), double(progress.instructions) * 1e-6,
                        static_cast<unsigned long long>(progress.clustersDone),
                        static_cast<unsigned long long>(progress.clusters));
    };
  }
  return launch;
}

Result<bool> Emulation::run(const Arrays &given, Arrays &last, const Judge &judge) {
  for (const Schedule &schedule : options.schedules->fixed)
    if (Status status = runOne(schedule, given, last, judge); !status)
      return status.error();
  if (options.schedules->everyVictim) {
    Schedule schedule;
    schedule.kind = Schedule::Kind::Adversarial;
    // The first run says how many actors there are; another may show more channels.
    do {
      if (Status status = runOne(schedule, given, last, judge); !status)
        return status.error();
    } while (++schedule.victim < actors);
  }
  summarise();
  if (options.jsonReport)
    printJson();
  return counts.failed == 0;
}

Status Emulation::runOne(const Schedule &schedule, const Arrays &given, Arrays &last,
                         const Judge &judge) {
  last = given;
  Result<RunReport> ran = emu::runOnEmulator(ptx, options.kernelFile, plans, last,
                                             launchOptions(schedule), unsigned(sms));
  if (!ran)
    return ran.error();
  const emu::LaunchResult &result = ran->result;
  Judgement judged;
  bool ok = result.ok();
  if (ok && !(firstGood && sameBytes(last, *firstGood))) {
    Result<Judgement> found = judge(last);
    if (!found)
      return found.error();
    judged = std::move(*found);
    ok = judged.ok;
    if (ok && !firstGood && options.schedules->several())
      firstGood = last;
  }
  ++counts.runs;
  counts.instructions += result.instructions;
  counts.seconds += ran->seconds;
  actors = std::max(actors, result.actors);
  tell(schedule, *ran, judged, ok);
  if (!ok && counts.failed++ == 0)
    counts.firstFailed = scheduleText(schedule);
  return Done{};
}

void Emulation::tell(const Schedule &schedule, const RunReport &report, const Judgement &judged,
                     bool ok) {
  const emu::LaunchResult &result = report.result;
  const std::string how = scheduleText(schedule);
  if (options.jsonReport) {
    json record = {{"schedule", how},
                   {"ok", ok},
                   {"instructions", result.instructions},
                   {"seconds", report.seconds},
                   {"actors", result.actors},
                   {"stopped", result.stopped},
                   {"checks", judged.lines}};
    record["faults"] = json::parse(emu::toJson(result.faults));
    record["warnings"] = json::parse(emu::toJson(result.warnings));
    records.push_back(record.dump(-1, ' ', false, json::error_handler_t::replace));
    return;
  }
  bool first = counts.runs == 1;
  bool full = !ok && told < maxTold;
  if (options.schedules->several() && !ok)
    std::cerr << "ts-run: schedule " << how << ": "
              << (!result.faults.empty()    ? result.faults.front().id()
                  : !result.stopped.empty() ? std::string("given up")
                                            : std::string("a check failed"))
              << "\n";
  if (full) {
    ++told;
    for (const emu::Report &fault : result.faults)
      std::cerr << fault.str();
    if (!result.stopped.empty())
      std::cerr << "ts-run: error: '" << name << "': " << result.stopped
                << "; --timeout and --max-steps set the limits\n";
  }
  if (first)
    for (const emu::Report &warning : result.warnings)
      std::cerr << warning.str(/*withHistory=*/false, "warning");
  if (first || full)
    for (const std::string &line : judged.lines)
      log << line << "\n";
}

void Emulation::summarise() const {
  if (options.jsonReport || nothingToLaunch(plans))
    return;
  std::string cost = text("%llu instructions in %.2f s",
                          static_cast<unsigned long long>(counts.instructions), counts.seconds);
  if (counts.runs == 1) {
    const Schedule *only =
        options.schedules->fixed.empty() ? nullptr : &options.schedules->fixed[0];
    std::string how;
    if (only && only->kind != Schedule::Kind::Fair)
      how = ", schedule " + scheduleText(*only);
    log << "emulator: " << cost << how << "\n";
    return;
  }
  log << "emulator: " << counts.runs << " schedules (" << actors << " actors), ";
  if (counts.failed)
    log << counts.failed << " of them FAILED, the first is --schedule=" << counts.firstFailed;
  else
    log << "all ok";
  log << "; " << cost << "\n";
}

void Emulation::printJson() const {
  std::cout << "{\"kernel\": " << json(name).dump()
            << ", \"ok\": " << (counts.failed ? "false" : "true") << ", \"runs\": [";
  for (size_t i = 0; i < records.size(); ++i)
    std::cout << (i ? ",\n" : "\n") << records[i];
  std::cout << "]}\n";
}
