// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Schedules.h"

#include "ts/Runtime/Npy.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

using namespace ts;
using emu::Schedule;
using json = nlohmann::json;

namespace {
constexpr uint64_t maxSeeds = 100000; // of one range
constexpr uint64_t randomSeeds = 20;  // of --all-schedules
constexpr size_t maxPlaces = 1 << 20;

bool parseCount(const std::string &text, uint64_t &value) {
  char *end = nullptr;
  errno = 0;
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0])))
    return false;
  value = std::strtoull(text.c_str(), &end, 10);
  return !*end && errno == 0;
}

Schedule make(Schedule::Kind kind, uint64_t number = 0) {
  Schedule schedule;
  schedule.kind = kind;
  if (kind == Schedule::Kind::Adversarial)
    schedule.victim = static_cast<unsigned>(number);
  else
    schedule.seed = number;
  return schedule;
}

/// A number of one place; an error says which.
Status readNumber(const json &place, const char *key, bool wanted, uint32_t &to) {
  auto it = place.find(key);
  if (it == place.end() && !wanted)
    return Done{};
  if (it == place.end() || !it->is_number_unsigned() || it->get<uint64_t>() > UINT32_MAX)
    return Error{std::string("'") + key + "' has to be a number"};
  to = it->get<uint32_t>();
  return Done{};
}
} // namespace

Result<ScheduleSet> parseSchedule(const std::string &text) {
  ScheduleSet set;
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  uint64_t first = 0, last = 0;
  if (text == "fair") {
    set.fixed.push_back(make(Schedule::Kind::Fair));
  } else if (text == "adversarial") {
    set.everyVictim = true;
  } else if (kind == "adversarial" && parseCount(rest, first) && first <= UINT32_MAX) {
    set.fixed.push_back(make(Schedule::Kind::Adversarial, first));
  } else if (kind == "random" && parseCount(rest, first)) {
    set.fixed.push_back(make(Schedule::Kind::Random, first));
  } else if (size_t dash = rest.find('-'); kind == "random" && dash != std::string::npos &&
                                           parseCount(rest.substr(0, dash), first) &&
                                           parseCount(rest.substr(dash + 1), last)) {
    if (first > last || last - first >= maxSeeds)
      return Error{"--schedule " + text + ": expected FIRST up to LAST, at most " +
                   std::to_string(maxSeeds) + " seeds"};
    for (uint64_t seed = first;; ++seed) {
      set.fixed.push_back(make(Schedule::Kind::Random, seed));
      if (seed == last)
        break;
    }
  } else {
    return Error{"--schedule " + text +
                 ": expected fair, random:SEED, random:FIRST-LAST, adversarial or adversarial:K"};
  }
  return set;
}

ScheduleSet allSchedules() {
  ScheduleSet set;
  set.fixed.push_back(make(Schedule::Kind::Fair));
  for (uint64_t seed = 1; seed <= randomSeeds; ++seed)
    set.fixed.push_back(make(Schedule::Kind::Random, seed));
  set.everyVictim = true;
  return set;
}

Result<ScheduleSet> readSteering(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return Error{"--steer: " + text.error().message};
  auto bad = [&](const std::string &what) { return Error{"--steer " + path + ": " + what}; };
  json root = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  json list = root.is_object() ? root.value("places", json::array()) : root;
  if (!list.is_array())
    return bad("expected a JSON list of {\"cta\": RANK, \"warp\": WARP, \"ptx_line\": LINE}");
  if (list.size() > maxPlaces)
    return bad("more than " + std::to_string(maxPlaces) + " places");
  Schedule schedule = make(Schedule::Kind::Steered);
  for (size_t i = 0; i < list.size(); ++i) {
    Schedule::Place place;
    std::string at = "[" + std::to_string(i) + "]: ";
    if (!list[i].is_object())
      return bad(at + "expected {\"cta\": RANK, \"warp\": WARP, \"ptx_line\": LINE}");
    for (const Status &status : {readNumber(list[i], "cta", false, place.cta),
                                 readNumber(list[i], "warp", true, place.warp),
                                 readNumber(list[i], "ptx_line", true, place.ptxLine)})
      if (!status)
        return bad(at + status.error().message);
    place.settled = list[i].contains("settled") && list[i]["settled"] == true;
    schedule.places.push_back(place);
  }
  if (root.is_object()) {
    for (auto [key, lines] : {std::pair("probes", &schedule.probes), {"late", &schedule.late}}) {
      json given = root.value(key, json::array());
      if (!given.is_array() || given.size() > maxPlaces)
        return bad("expected \"" + std::string(key) + "\" to be a list of at most " +
                   std::to_string(maxPlaces) + " PTX lines");
      for (const json &line : given) {
        if (!line.is_number_unsigned() || line > UINT32_MAX)
          return bad("expected PTX lines in \"" + std::string(key) + "\", found " + line.dump());
        lines->push_back(line);
      }
      std::sort(lines->begin(), lines->end());
    }
    json engines = root.contains("engines") ? root["engines"] : json("first");
    if (engines != "first" && engines != "last")
      return bad("expected \"engines\" to be \"first\" or \"last\", found " + engines.dump());
    schedule.lateEngines = engines == "last";
  }
  ScheduleSet set;
  set.fixed.push_back(std::move(schedule));
  return set;
}

std::string scheduleText(const Schedule &schedule) {
  switch (schedule.kind) {
  case Schedule::Kind::Fair:
    return "fair";
  case Schedule::Kind::Random:
    return "random:" + std::to_string(schedule.seed);
  case Schedule::Kind::Adversarial:
    return "adversarial:" + std::to_string(schedule.victim);
  case Schedule::Kind::Steered:
    return "steered along " + std::to_string(schedule.places.size()) + " places";
  }
  return {};
}
