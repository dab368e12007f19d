// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small choices of a kernel, and the shrinker, which takes parts away while something holds.
#include "Generator.h"

#include <algorithm>
#include <set>

namespace ts::oracle {

using namespace schedule;

std::vector<Choice> choicesOf(const Kernel &kernel, size_t limit) {
  std::set<std::string> args, perTile, keys;
  bool tiles = false, skips = false;
  auto note = [&](const Bound &bound) {
    if (bound.kind == Bound::Kind::Argument)
      args.insert(bound.symbol);
    if (bound.kind == Bound::Kind::PerTile)
      perTile.insert(bound.symbol);
  };
  for (const Task &task : kernel.tasks)
    for (const Step &step : task.steps) {
      if (step.kind == StepKind::Loop) {
        tiles |= step.loop.kind == LoopKind::Tile;
        note(step.loop.lower);
        note(step.loop.upper);
      }
      skips |= step.kind == StepKind::Skippable;
      if (step.kind == StepKind::When || step.kind == StepKind::Branch) {
        if (step.condition.positive)
          note(*step.condition.positive);
        else if (!step.condition.ctas)
          keys.insert(step.condition.key);
      }
    }
  std::vector<Choice> list;
  for (int64_t count = tiles ? 0 : 1; count <= (tiles ? 2 : 1); ++count) {
    // One digit per value that is free.
    struct Digit {
      int64_t size;
      std::function<void(Choice &, int64_t)> set;
    };
    std::vector<Digit> digits;
    for (const std::string &name : args)
      digits.push_back({tiles ? 3 : 4, [name](Choice &c, int64_t v) { c.args[name] = v; }});
    for (int64_t t = 0; t < std::max<int64_t>(count, 1); ++t) {
      for (const std::string &name : perTile)
        digits.push_back({3, [name](Choice &c, int64_t v) { c.perTile[name].push_back(v); }});
      for (const std::string &name : keys)
        digits.push_back({2, [name](Choice &c, int64_t v) { c.conditions[name].push_back(v); }});
      if (skips)
        digits.push_back({2, [](Choice &c, int64_t v) { c.skipped.push_back(v); }});
    }
    int64_t total = 1;
    for (const Digit &digit : digits)
      total *= digit.size;
    for (int64_t i = 0; i < total; ++i) {
      Choice choice;
      choice.tiles = count;
      int64_t rest = i;
      for (const Digit &digit : digits) {
        digit.set(choice, rest % digit.size);
        rest /= digit.size;
      }
      list.push_back(choice);
    }
  }
  if (list.size() <= limit)
    return list;
  std::vector<Choice> some;
  for (size_t i = 0; i < limit; ++i)
    some.push_back(list[i * (list.size() - 1) / std::max<size_t>(limit - 1, 1)]);
  return some;
}

std::vector<Choice> largeChoices(const Kernel &kernel, Random &random, int64_t maxTrips) {
  Choice shape = choicesOf(kernel, 100000).back();
  bool tiles = shape.tiles > 1;
  std::vector<Choice> list;
  for (int64_t n = 0; n <= maxTrips; ++n) {
    Choice choice;
    choice.tiles = tiles ? random.below(6) : 1;
    for (auto &[name, value] : shape.args)
      choice.args[name] = tiles ? random.below(5) : n;
    for (int64_t t = 0; t < std::max<int64_t>(choice.tiles, 1); ++t) {
      for (auto &[name, values] : shape.perTile)
        choice.perTile[name].push_back(random.below(5));
      for (auto &[name, values] : shape.conditions)
        choice.conditions[name].push_back(random.chance(50));
      if (!shape.skipped.empty())
        choice.skipped.push_back(random.chance(40));
    }
    list.push_back(choice);
  }
  return list;
}

namespace {

std::vector<Sample> smaller(const Sample &sample) {
  std::vector<Sample> list;
  const Kernel &k = sample.kernel;
  auto copy = [&]() -> Kernel & {
    list.push_back(sample);
    return list.back().kernel;
  };
  for (size_t t = 0; t < k.tasks.size(); ++t)
    if (k.tasks.size() > 1) {
      Kernel &next = copy();
      next.tasks.erase(next.tasks.begin() + int64_t(t));
    }
  for (size_t t = 0; t < k.tasks.size(); ++t)
    for (size_t s = 0; s < k.tasks[t].steps.size(); ++s) {
      StepId id = StepId(s);
      // Without the step; or, for one with a body, with the body in its place.
      for (bool splice : {false, true}) {
        const Step &step = k.tasks[t].steps[s];
        if (splice && (step.kind == StepKind::Event || step.kind == StepKind::Loop))
          continue;
        Task &task = copy().tasks[t];
        auto edit = [&](std::vector<StepId> &ids) {
          auto it = std::find(ids.begin(), ids.end(), id);
          if (it == ids.end())
            return;
          it = ids.erase(it);
          if (splice)
            ids.insert(it, step.body.begin(), step.body.end());
        };
        edit(task.body);
        for (Step &other : task.steps) {
          edit(other.body);
          edit(other.orelse);
        }
        compact(task);
      }
    }
  for (size_t r = 0; r < k.resources.size(); ++r) {
    const auto &pipeline = k.resources[r].pipeline;
    // The members of a group have as many stages as the group.
    int group = k.resources[r].kind == ResourceKind::Group ? int(r) : k.resources[r].group;
    if (pipeline && pipeline->stages > 1 && (group < 0 || group == int(r)))
      for (Resource &other : copy().resources)
        if (&other == &list.back().kernel.resources[r] || (group >= 0 && other.group == group))
          other.pipeline->stages -= 1;
    if (pipeline && pipeline->advanceOnWait)
      copy().resources[r].pipeline->advanceOnWait = false;
    if (pipeline && pipeline->advanceOnAcquire)
      copy().resources[r].pipeline->advanceOnAcquire = false;
  }
  for (auto &[name, value] : sample.choice.args)
    if (value > 0) {
      list.push_back(sample);
      list.back().choice.args[name] -= 1;
    }
  if (sample.choice.tiles > 1) {
    list.push_back(sample);
    list.back().choice.tiles -= 1;
  }
  for (auto &[name, values] : sample.choice.perTile)
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] > 0) {
        list.push_back(sample);
        list.back().choice.perTile[name][i] -= 1;
      }
  return list;
}

} // namespace

void compact(Task &task) {
  std::vector<StepId> to(task.steps.size(), -1);
  std::vector<Step> kept;
  std::function<void(std::vector<StepId> &, StepId)> walk = [&](std::vector<StepId> &list,
                                                                StepId parent) {
    for (StepId &id : list) {
      StepId old = id;
      id = to[size_t(old)] = StepId(kept.size());
      kept.push_back(task.steps[size_t(old)]);
      kept.back().parent = parent;
      std::vector<StepId> body = kept[size_t(id)].body, orelse = kept[size_t(id)].orelse;
      walk(body, id);
      walk(orelse, id);
      kept[size_t(id)].body = body;
      kept[size_t(id)].orelse = orelse;
    }
  };
  walk(task.body, -1);
  auto renumber = [&](StepId &id) { id = id < 0 || size_t(id) >= to.size() ? -1 : to[size_t(id)]; };
  for (Step &step : kept) {
    renumber(step.guard.loop);
    if (step.event.parity)
      renumber(step.event.parity->loop);
    std::erase_if(step.event.accesses, [&](Access &access) {
      bool had = access.via >= 0;
      renumber(access.via);
      return had && access.via < 0;
    });
  }
  task.steps = std::move(kept);
}

Sample shrink(Sample sample, const std::function<bool(const Sample &)> &holds) {
  for (bool again = true; again;) {
    again = false;
    for (Sample &next : smaller(sample))
      if (holds(next)) {
        sample = std::move(next);
        again = true;
        break;
      }
  }
  return sample;
}

} // namespace ts::oracle
