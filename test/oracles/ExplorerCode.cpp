// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prepares a Program for the search: visible operations, what begins between them, what is open
// then, the byte sums; and words for witnesses. No interleavings here (Explorer.cpp).
#include "ExplorerImpl.h"

#include <algorithm>
#include <numeric>

namespace ts::oracle {

const char *name(Kind kind) {
  constexpr const char *names[] = {"bytes", "overrun", "deadlock", "race", "exit", "pdl"};
  return names[unsigned(kind)];
}

std::string Verdict::summary() const {
  if (!unsupported.empty())
    return "unsupported: " + unsupported;
  if (tooLarge)
    return "too large";
  std::string text;
  for (unsigned k = 0; k < numKinds; ++k)
    if (has(Kind(k)))
      text += (text.empty() ? "" : "+") + std::string(name(Kind(k)));
  return text.empty() ? "safe" : text;
}

void Explorer::compileAgent(int index) {
  const Agent &agent = p.agents[size_t(index)];
  AgentCode &out = code[size_t(index)];
  out.segments.emplace_back();
  std::vector<std::pair<int, int>> held;               // key, access
  std::map<int, std::vector<std::vector<int>>> groups; // kind -> groups, the last one open
  // What a thread did itself is over for everybody once it releases. A wait is an acquire: it does
  // not hold back what stands before it, so that an engine's arrival after it may come first.
  std::vector<int> unreleased;
  auto lingers = [&](int access) {
    if (!p.accesses[size_t(access)].engine)
      unreleased.push_back(access);
  };
  auto allOpen = [&] {
    std::vector<int> list;
    for (auto [key, access] : held)
      list.push_back(access);
    for (auto &[kind, list_] : groups)
      for (auto &group : list_)
        list.insert(list.end(), group.begin(), group.end());
    return list;
  };
  auto asynchronous = [&] {
    std::vector<int> list;
    for (int access : allOpen())
      if (p.accesses[size_t(access)].engine)
        list.push_back(access);
    return list;
  };
  auto visible = [&](const Micro &op) {
    Segment &segment = out.segments.back();
    std::vector<int> open = allOpen();
    segment.open.insert(segment.open.end(), open.begin(), open.end());
    std::sort(segment.open.begin(), segment.open.end());
    segment.open.erase(std::unique(segment.open.begin(), segment.open.end()), segment.open.end());
    if (op.kind == OpKind::Wait || op.kind == OpKind::Try)
      waiters[size_t(op.barrier)].push_back({index, int(out.visible.size()), op.gen});
    anyPdlWait |= op.kind == OpKind::PdlWait;
    for (int c = 0; c < 2; ++c)
      out.channelBefore[c].push_back(int(out.channelOps[c].size()));
    out.visible.push_back(&op);
    out.segments.emplace_back();
    if (op.kind == OpKind::Arrive)
      unreleased.clear();
    out.segments.back().open = unreleased;
  };
  for (const Micro &op : agent.ops) {
    if (isVisible(op.kind)) {
      visible(op);
      continue;
    }
    Segment &segment = out.segments.back();
    segment.ops.push_back(&op);
    segment.heldBefore.push_back(asynchronous());
    switch (op.kind) {
    case OpKind::Open:
      for (int access : op.accesses) {
        segment.open.push_back(access);
        const AccessInfo &info = p.accesses[size_t(access)];
        if (info.via == Via::Thread)
          lingers(access);
        if (info.via == Via::Held)
          held.push_back({op.key, access});
        else if (info.via == Via::Group) {
          auto &list = groups[op.key];
          if (list.empty())
            list.emplace_back();
          list.back().push_back(access);
        }
      }
      break;
    case OpKind::Close:
      for (auto [key, access] : held)
        if (key == op.key) {
          segment.open.push_back(access);
          lingers(access);
        }
      std::erase_if(held, [&](auto &entry) { return entry.first == op.key; });
      break;
    case OpKind::GroupCommit:
      groups[op.key].emplace_back();
      break;
    case OpKind::GroupWait: {
      auto &list = groups[op.key];
      // The last entry is the group not yet committed; the wait does not speak of it.
      if (list.empty())
        break;
      for (size_t done = 0; done + 1 + size_t(op.count) < list.size(); ++done) {
        segment.open.insert(segment.open.end(), list[done].begin(), list[done].end());
        list[done].clear();
      }
      break;
    }
    case OpKind::Umma:
    case OpKind::CpAsync:
      out.channelOps[channelOf(op.kind)].push_back(&op);
      break;
    case OpKind::Copy:
    case OpKind::UmmaCommit:
    case OpKind::CpAsyncArrive:
      for (size_t t = 0; t < op.targets.size(); ++t) {
        itemOf[{&op, t}] = int(items.size());
        Item item{index, &op, &op.targets[t], -1, 0, Word(op.targets[t].bytes / unit)};
        if (op.kind != OpKind::Copy) {
          item.channel = channelOf(op.kind);
          item.prefix = int(out.channelOps[item.channel].size());
        }
        items.push_back(item);
      }
      break;
    default:
      break;
    }
  }
  std::vector<int> open = out.left = allOpen();
  Segment &last = out.segments.back();
  last.open.insert(last.open.end(), open.begin(), open.end());
  std::sort(last.open.begin(), last.open.end());
  last.open.erase(std::unique(last.open.begin(), last.open.end()), last.open.end());
  for (int c = 0; c < 2; ++c)
    out.channelBefore[c].push_back(int(out.channelOps[c].size()));
}

void Explorer::compile() {
  int64_t gcd = 0;
  for (const Agent &agent : p.agents)
    for (const Micro &op : agent.ops) {
      gcd = std::gcd(gcd, op.bytes);
      for (const Target &target : op.targets)
        gcd = std::gcd(gcd, target.bytes);
    }
  unit = std::max<int64_t>(gcd, 1);
  code.resize(p.agents.size());
  waiters.resize(p.barriers.size());
  for (size_t a = 0; a < p.agents.size(); ++a)
    compileAgent(int(a));
  width = pdl(p.ctas);
  bool wide = false;
  for (const Barrier &barrier : p.barriers)
    wide |= barrier.count > 30000;
  if (items.size() > 4000 || p.agents.size() > 60 || wide)
    verdict.unsupported = "more agents, copies or arrivals than a state holds";
}

bool Explorer::checkBytes() {
  std::map<std::pair<int, int64_t>, std::pair<int64_t, int64_t>> sums;
  for (const Agent &agent : p.agents)
    for (const Micro &op : agent.ops) {
      // A phase that nobody waits for harms nobody.
      if (op.kind == OpKind::Arrive && op.bytes && !waiters[size_t(op.barrier)].empty())
        sums[{op.barrier, op.gen}].first += op.bytes;
      if (op.kind == OpKind::Copy)
        for (const Target &target : op.targets)
          if (target.barrier >= 0 && !waiters[size_t(target.barrier)].empty())
            sums[{target.barrier, target.gen}].second += target.bytes;
    }
  for (auto &[key, sum] : sums)
    if (2 * std::max(sum.first, sum.second) / unit > 30000) {
      verdict.unsupported = "byte numbers without a common divisor of their size";
      return false;
    }
  for (auto &[key, sum] : sums)
    if (sum.first != sum.second) {
      verdict.kinds |= 1u << unsigned(Kind::Bytes);
      verdict.witness[unsigned(Kind::Bytes)] = place(key.first, key.second) + ": " +
                                               std::to_string(sum.first) + " bytes expected, " +
                                               std::to_string(sum.second) + " issued\n";
      return pastBytes;
    }
  return true;
}

std::string Explorer::describe(const Micro &op) const {
  switch (op.kind) {
  case OpKind::Wait:
    return "wait " + place(op.barrier, op.gen);
  case OpKind::Try:
    return "try " + place(op.barrier, op.gen);
  case OpKind::Arrive:
    return "arrive " + std::to_string(op.count) + " on " + place(op.barrier, op.gen) +
           (op.bytes ? " expecting " + std::to_string(op.bytes) : "");
  case OpKind::PdlWait:
    return "grid_dep_wait";
  case OpKind::PdlLaunch:
    return "grid_dep_launch";
  default:
    return "begin";
  }
}

std::string Explorer::trace() const {
  std::vector<Step> steps;
  for (int s = expanding; s > 0; s = parent[size_t(s)])
    steps.push_back(how[size_t(s)]);
  std::reverse(steps.begin(), steps.end());
  if (expanding >= 0 && (taken.agent >= 0 || taken.item >= 0))
    steps.push_back(taken);
  std::string text;
  std::vector<size_t> at(p.agents.size());
  for (const Step &step : steps) {
    if (step.agent >= 0) {
      const Micro &op = *code[size_t(step.agent)].visible[at[size_t(step.agent)]++];
      text += "  " + p.agents[size_t(step.agent)].name + ": " + describe(op) +
              (op.kind == OpKind::Try ? step.outcome ? " (yes)" : " (no)" : "") + "\n";
    } else {
      const Item &item = items[size_t(step.item)];
      text += "  engine of " + p.agents[size_t(item.agent)].name + ": " +
              (item.channel < 0 ? "bytes" : "commit") + " on " +
              (item.target->barrier < 0 ? std::string("nothing")
                                        : place(item.target->barrier, item.target->gen)) +
              "\n";
    }
  }
  return text;
}

std::string print(const Program &program) {
  std::string text;
  for (const Barrier &barrier : program.barriers)
    text += "barrier " + barrier.name + " count " + std::to_string(barrier.count) + "\n";
  auto meant = [&](int barrier, int64_t gen) {
    return barrier < 0 ? std::string("nothing")
                       : program.barriers[size_t(barrier)].name + " g" + std::to_string(gen);
  };
  constexpr const char *kinds[] = {
      "wait", "try",  "arrive",      "open",     "close",           "group",    "groups-wait",
      "copy", "umma", "umma-commit", "cp.async", "cp.async-arrive", "pdl-wait", "pdl-launch"};
  for (const Agent &agent : program.agents) {
    text += "agent " + agent.name + "\n";
    for (const Micro &op : agent.ops) {
      text += "  " + std::string(kinds[unsigned(op.kind)]);
      if (op.barrier >= 0)
        text += " " + meant(op.barrier, op.gen);
      text += " count " + std::to_string(op.count);
      if (op.bytes)
        text += " expects " + std::to_string(op.bytes);
      for (const Target &target : op.targets) {
        text += " -> " + meant(target.barrier, target.gen) + " " + std::to_string(target.bytes);
        for (int access : target.accesses)
          text += " {" + program.accesses[size_t(access)].text + "}";
      }
      for (int access : op.accesses)
        text += " {" + program.accesses[size_t(access)].text + "}";
      text += "\n";
    }
  }
  return text;
}

} // namespace ts::oracle
