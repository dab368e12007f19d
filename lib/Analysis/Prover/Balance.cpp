// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Balance.h"
#include "Counts.h"
#include "ts/Analysis/Protocol/Protocol.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ts::prover {

namespace proto = ::ts::protocol;
namespace sched = ::ts::schedule;

namespace {

/// Uses by one agent in one role of a ring.
struct Role {
  int agent = -1, step = -1;
  int64_t lane = 0;
  Poly count;
};

struct RingKey {
  int resource = -1, cta = 0;
  auto operator<=>(const RingKey &) const = default;
};

/// One side of a comparison: an agent, or the agents of all lanes together.
struct Counted {
  proto::Op op = proto::Op::Acquire;
  std::vector<const Role *> roles; ///< the first is the place of a message
  Poly count;
};

class Balance {
public:
  explicit Balance(const Program &program) : program(program), counts(program) {}
  std::optional<Fault> run();

private:
  struct Open {
    int loop;
    std::vector<GuardUse> guards;
  };

  void walk(int agent, size_t pc, size_t end);
  void note(int agent, size_t pc);
  void addIdle(int agent);
  void compare(const RingKey &ring, const Counted &a, const Counted &b);
  void judge(const RingKey &ring, const std::array<std::vector<Role>, 8> &roles);
  std::string clause(const Counted &side) const;
  std::string agents(const Counted &side) const;

  const Program &program;
  Counts counts;
  std::map<RingKey, std::array<std::vector<Role>, 8>> rings;
  std::vector<Open> open;
  std::vector<Poly> conditions;
  std::optional<Fault> best;
  int64_t bestCost = 0;
};

} // namespace

/// The agent's code between two places, which no jump leaves.
void Balance::walk(int a, size_t pc, size_t end) {
  const Agent &agent = program.agents[size_t(a)];
  while (pc < end) {
    const Instr &instr = agent.code[pc];
    switch (instr.op) {
    case Op::Head:
      open.push_back({instr.a, {}});
      walk(a, pc + 1, size_t(instr.target) - 1);
      open.pop_back();
      pc = size_t(instr.target);
      continue;
    case Op::Guard:
    case Op::Branch: {
      size_t other = size_t(instr.target), after = other;
      const Instr &last = agent.code[other - 1];
      bool two = other - 1 > pc && last.op == Op::Jump && last.step == instr.step;
      if (two)
        after = size_t(last.target);
      for (bool otherwise : {false, true}) {
        size_t from = otherwise ? other : pc + 1, to = otherwise ? after : two ? other - 1 : other;
        if (from >= to)
          continue;
        if (instr.op == Op::Branch) {
          conditions.push_back(counts.condition(instr.a, (instr.b != 0) != otherwise));
          walk(a, from, to);
          conditions.pop_back();
          continue;
        }
        auto loop = std::find_if(open.begin(), open.end(),
                                 [&](const Open &entry) { return entry.loop == instr.a; });
        size_t at = size_t(loop - open.begin());
        if (at == open.size())
          continue;
        open[at].guards.push_back({sched::GuardKind(instr.b), instr.c, otherwise});
        walk(a, from, to);
        open[at].guards.pop_back();
      }
      pc = after;
      continue;
    }
    case Op::Advance:
      note(a, pc);
      break;
    default:
      break;
    }
    ++pc;
  }
}

/// A use of a ring is what takes a role to its next slot: an acquire that the commit closes is none
/// of its own.
void Balance::note(int a, size_t pc) {
  const Agent &agent = program.agents[size_t(a)];
  const Instr &instr = agent.code[pc];
  if (instr.step < 0)
    return;
  const sched::Event &event = program.stepOf(agent, instr.step).event;
  std::optional<proto::Op> op = sched::barrierOp(event.kind);
  if (!op || event.resource < 0)
    return;
  const sched::Resource &resource = program.kernel->resources[size_t(event.resource)];
  if (resource.kind == sched::ResourceKind::Queue || !resource.pipeline)
    return;
  Role role;
  role.agent = a;
  role.step = instr.step;
  if (resource.pipeline->stride(*op) > 1)
    role.lane = agent.variables[size_t(instr.a)].start;
  role.count = counts.constant(1);
  for (const Open &loop : open)
    role.count =
        counts.product(role.count, counts.passes(agent.loops[size_t(loop.loop)], loop.guards));
  for (const Poly &condition : conditions)
    role.count = counts.product(role.count, condition);
  // What is done to a group is done to each of its members.
  std::vector<int> touched = {event.resource};
  if (resource.kind == sched::ResourceKind::Group)
    touched = resource.members;
  for (int member : touched) {
    std::vector<Role> &roles = rings[{member, agent.cta}][size_t(*op)];
    auto known = std::find_if(roles.begin(), roles.end(), [&](const Role &other) {
      return other.agent == a && other.lane == role.lane;
    });
    if (known == roles.end())
      roles.push_back(role);
    else
      known->count = counts.sum(known->count, role.count);
  }
}

std::string Balance::agents(const Counted &side) const {
  std::string result;
  for (const Role *role : side.roles)
    result += (result.empty()              ? "'"
               : role == side.roles.back() ? " and '"
                                           : ", '") +
              program.agents[size_t(role->agent)].name + "'";
  return result;
}

std::string Balance::clause(const Counted &side) const {
  bool many = side.roles.size() > 1;
  std::string verb = side.op == proto::Op::Acquire  ? "acquire"
                     : side.op == proto::Op::Commit ? "commit"
                     : side.op == proto::Op::Wait   ? "wait"
                                                    : "release";
  return agents(side) + " " + verb + (many ? " " : "s ") +
         (side.op == proto::Op::Wait ? "for it " : "it ") + counts.describe(side.count);
}

/// Looks for the smallest values for which the two counts differ.
void Balance::compare(const RingKey &ring, const Counted &a, const Counted &b) {
  Poly difference = counts.sum(a.count, b.count, true);
  if (difference.empty())
    return;
  std::vector<bool> symbols(program.symbols.size()), conditions(program.conditions.size());
  counts.variables(difference, symbols, conditions);
  std::vector<size_t> which, flags;
  for (size_t s = 0; s < symbols.size(); ++s)
    if (symbols[s])
      which.push_back(s);
  for (size_t c = 0; c < conditions.size(); ++c)
    if (conditions[c])
      flags.push_back(c);
  // All combinations of so many values of each; fewer where there are many symbols.
  constexpr int64_t most = 1 << 16;
  int64_t width = counts.samples(difference);
  size_t flagCount = std::min<size_t>(flags.size(), 8);
  int64_t combinations = int64_t(1) << flagCount;
  while (width > 2) {
    int64_t all = combinations;
    for (size_t i = 0; i < which.size() && all <= most; ++i)
      all *= width;
    if (all <= most)
      break;
    --width;
  }
  Valuation at{{}, std::vector<bool>(program.conditions.size(), true)};
  for (const Symbol &symbol : program.symbols)
    at.symbols.push_back(symbol.min);
  std::optional<Valuation> found;
  int64_t cost = 0;
  std::vector<int64_t> digits(which.size(), 0);
  for (;;) {
    int64_t here = std::accumulate(digits.begin(), digits.end(), int64_t(0));
    if (!found || here < cost)
      for (int64_t bits = 0; bits < combinations; ++bits) {
        for (size_t i = 0; i < flagCount; ++i)
          at.conditions[flags[i]] = !(bits >> i & 1);
        for (size_t i = 0; i < which.size(); ++i)
          at.symbols[which[i]] = program.symbols[which[i]].min + digits[i];
        if (counts.evaluate(difference, at) != 0) {
          found = at;
          cost = here;
          break;
        }
      }
    size_t i = 0;
    while (i < which.size() && ++digits[i] >= width)
      digits[i++] = 0;
    if (i == which.size())
      break;
  }
  if (!found || (best && bestCost <= cost))
    return;
  Fault fault;
  fault.kind = FaultKind::Imbalance;
  const std::string &name = program.kernel->resources[size_t(ring.resource)].name;
  fault.message = "the roles of ring '" + name + "'" +
                  (program.ctas > 1 ? " in CTA " + std::to_string(ring.cta) : std::string()) +
                  " are not balanced: " + clause(a) + ", " + clause(b);
  for (const Counted *side : {&a, &b}) {
    const Agent &agent = program.agents[size_t(side->roles[0]->agent)];
    sched::LocId loc = program.locOf(agent, side->roles[0]->step);
    int64_t uses = counts.evaluate(side->count, *found);
    fault.sites.push_back(
        {side->roles[0]->agent, loc, clause(*side) + ": " + std::to_string(uses) + " in this run"});
  }
  // The role that does less is where to look.
  bool fewer = counts.evaluate(a.count, *found) < counts.evaluate(b.count, *found);
  fault.agent = fault.sites[fewer ? 0 : 1].agent;
  fault.loc = fault.sites[fewer ? 0 : 1].loc;
  for (size_t s : which) {
    // For every larger value too?
    Valuation later = *found;
    bool all = true;
    for (int64_t i = 0; i < counts.samples(difference) && all; ++i, ++later.symbols[s])
      all = counts.evaluate(difference, later) != 0;
    fault.choices.push_back({program.symbols[s].name, found->symbols[s], all, -1, true});
  }
  for (size_t c : flags)
    fault.choices.push_back({program.conditions[c].name, found->conditions[c], false,
                             program.conditions[c].perTile ? 0 : -1, false});
  fault.when = describeChoices(fault.choices);
  best = std::move(fault);
  bestCost = cost;
}

void Balance::judge(const RingKey &ring, const std::array<std::vector<Role>, 8> &roles) {
  std::optional<Counted> first;
  // Commit and release before the waits: where all differ, they say it best.
  for (proto::Op op :
       {proto::Op::Commit, proto::Op::Release, proto::Op::Acquire, proto::Op::Wait}) {
    const std::vector<Role> &all = roles[size_t(op)];
    Counted whole{op, {}, {}};
    for (const Role &role : all) {
      auto same = std::find_if(whole.roles.begin(), whole.roles.end(),
                               [&](const Role *other) { return other->lane == role.lane; });
      if (same != whole.roles.end()) {
        compare(ring, {op, {*same}, (*same)->count}, {op, {&role}, role.count});
        continue;
      }
      whole.roles.push_back(&role);
      whole.count = counts.sum(whole.count, role.count);
    }
    if (whole.roles.empty())
      continue;
    if (first)
      compare(ring, *first, whole);
    else
      first = std::move(whole);
  }
}

/// There is no code for a loop that never runs; its role is one all the same, with no uses.
void Balance::addIdle(int a) {
  const Agent &agent = program.agents[size_t(a)];
  const sched::Task &task = program.kernel->tasks[size_t(agent.task)];
  for (size_t id = 0; id < task.steps.size(); ++id) {
    const sched::Step &step = task.steps[id];
    std::optional<proto::Op> op = sched::barrierOp(step.event.kind);
    if (step.kind != sched::StepKind::Event || !op || step.event.resource < 0)
      continue;
    bool never = false, elsewhere = false;
    for (int up = step.parent; up >= 0; up = task.steps[size_t(up)].parent) {
      const sched::Step &outer = task.steps[size_t(up)];
      never |= outer.kind == sched::StepKind::Loop && outer.loop.constantTrips.value_or(1) <= 0;
      elsewhere |= outer.condition.ctas.has_value();
    }
    const sched::Resource &resource = program.kernel->resources[size_t(step.event.resource)];
    if (!never || elsewhere || resource.kind == sched::ResourceKind::Queue || !resource.pipeline)
      continue;
    bool opens = *op == proto::Op::Acquire || *op == proto::Op::Wait, closes = !opens;
    for (const sched::Step &other : task.steps)
      if (auto second = sched::barrierOp(other.event.kind);
          second && other.kind == sched::StepKind::Event &&
          other.event.resource == step.event.resource &&
          proto::sideOf(*second) == proto::sideOf(*op))
        closes |= *second == proto::Op::Commit || *second == proto::Op::Release;
    if (!proto::cursorRule(*resource.pipeline, *op, opens, closes).advances)
      continue;
    std::vector<int> touched = {step.event.resource};
    if (resource.kind == sched::ResourceKind::Group)
      touched = resource.members;
    for (int member : touched) {
      std::vector<Role> &roles = rings[{member, agent.cta}][size_t(*op)];
      if (std::none_of(roles.begin(), roles.end(), [&](const Role &r) { return r.agent == a; }))
        roles.push_back({a, int(id), 0, {}});
    }
  }
}

std::optional<Fault> Balance::run() {
  for (size_t a = 0; a < program.agents.size(); ++a) {
    walk(int(a), 0, program.agents[a].code.size());
    addIdle(int(a));
  }
  for (const auto &[ring, roles] : rings)
    judge(ring, roles);
  return std::move(best);
}

std::optional<Fault> findImbalance(const Program &program) { return Balance(program).run(); }

} // namespace ts::prover
