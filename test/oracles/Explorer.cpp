// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Breadth-first search over every interleaving of a Program. The machine has real mbarriers: a
// phase bit, a pending count and a transaction count; the number of completed phases and the
// generation that each operation is meant for are tags beside it, which only decide whether a fault
// happened.
//
// Reductions, each exact: operations that only begin something (accesses, copies, tensor core work,
// commits) are executed together with the barrier operation before them, since they are always
// enabled, nothing else can notice them, and whatever they begin may last arbitrarily long. For the
// same reason an access counts as open until its agent's next release (an arrival of its own: a
// wait only acquires), and asynchronous work until the arrival that tracks it: an arrival that an
// engine makes later says nothing about the plain accesses of the thread that set it off. Nothing
// else is reduced.
#include "ExplorerImpl.h"

#include <algorithm>
#include <cstring>

namespace ts::oracle {

void Explorer::fault(Kind kind, const std::string &what) {
  if (kind == Kind::Overrun) {
    verdict.kinds &= 1u << unsigned(Kind::Bytes);
    stop = true;
  }
  if (!verdict.has(kind))
    verdict.witness[unsigned(kind)] = what + "\n" + trace();
  verdict.kinds |= 1u << unsigned(kind);
}

void Explorer::complete(int b) {
  Word *w = &cur[barrier(b)];
  if (w[1] != 0 || w[2] != 0)
    return;
  w[0] += 1;
  w[1] = Word(p.barriers[size_t(b)].count);
  if (p.barriers[size_t(b)].named)
    return;
  for (const Waiter &waiter : waiters[size_t(b)])
    if (cur[size_t(waiter.agent)] <= waiter.at && waiter.gen + 2 <= w[0] &&
        code[size_t(waiter.agent)].visible[size_t(waiter.at)]->kind == OpKind::Wait)
      return fault(Kind::Overrun, place(b, w[0] - 1) + " completes before " +
                                      p.agents[size_t(waiter.agent)].name + " waited for " +
                                      std::to_string(waiter.gen));
}

void Explorer::arrive(int b, int64_t gen, int64_t count, const std::string &who) {
  if (waiters[size_t(b)].empty())
    return;
  Word *w = &cur[barrier(b)];
  if (w[0] != gen)
    return fault(Kind::Overrun,
                 who + " arrives on " + place(b, gen) + " in generation " + std::to_string(w[0]));
  if (w[1] < count)
    return fault(Kind::Overrun, who + " arrives on " + place(b, gen) + " with " +
                                    std::to_string(count) + ", " + std::to_string(w[1]) +
                                    " pending");
  w[1] = Word(w[1] - count);
  complete(b);
}

void Explorer::bytes(int b, int64_t gen, Word amount, const std::string &who) {
  if (waiters[size_t(b)].empty())
    return;
  Word *w = &cur[barrier(b)];
  if (w[0] != gen)
    return fault(Kind::Overrun, who + " completes bytes of " + place(b, gen) + " in generation " +
                                    std::to_string(w[0]));
  w[2] = Word(w[2] - amount);
  complete(b);
}

/// Checks access `id`, beginning now, against all that is open. False once the search must stop.
bool Explorer::opens(int agent, int id, const std::vector<int> &held, bool viaUmma) {
  const AccessInfo &a = p.accesses[size_t(id)];
  auto meet = [&](int other) {
    const AccessInfo &b = p.accesses[size_t(other)];
    if (other != id && overlaps(a, b))
      fault(Kind::Race, a.text + " meets " + b.text);
  };
  for (int other : held)
    meet(other);
  for (size_t o = 0; o < p.agents.size(); ++o) {
    const AgentCode &theirs = code[o];
    if (int(o) != agent)
      for (int other : theirs.segments[size_t(cur[o])].open)
        meet(other);
    for (int c = 0; c < 2; ++c) {
      if (int(o) == agent && c == 0 && viaUmma)
        continue;
      int issued = int(o) == agent ? ownIssued[c] : theirs.channelBefore[c][size_t(cur[o])];
      for (int k = cur[channel(int(o), c)]; k < issued; ++k)
        for (int other : theirs.channelOps[c][size_t(k)]->accesses)
          meet(other);
    }
  }
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].channel < 0 && cur[itemAt(int(i))] > 0)
      for (int other : items[i].target->accesses)
        meet(other);
  if (a.cta != p.agents[size_t(agent)].cta && exited(a.cta))
    fault(Kind::Exit, a.text + " touches memory of a CTA that has exited");
  return !stop;
}

void Explorer::exitOf(int cta) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (cur[itemAt(int(i))] <= 0)
      continue;
    const Item &item = items[i];
    bool touches = item.target->barrier >= 0 && p.barriers[size_t(item.target->barrier)].cta == cta;
    for (int access : item.target->accesses)
      touches |= p.accesses[size_t(access)].cta == cta;
    if (touches)
      return fault(Kind::Exit, "CTA " + std::to_string(cta) + " exits before an engine of " +
                                   p.agents[size_t(item.agent)].name + " has arrived");
  }
  auto open = [&](int access) {
    const AccessInfo &a = p.accesses[size_t(access)];
    if (a.cta == cta && a.engine)
      fault(Kind::Exit, "CTA " + std::to_string(cta) + " exits before " + a.text + " has ended");
  };
  for (size_t o = 0; o < p.agents.size(); ++o) {
    for (int access :
         finished(cur.data(), int(o)) ? code[o].left : code[o].segments[size_t(cur[o])].open)
      if (p.accesses[size_t(access)].via == Via::Group ||
          p.accesses[size_t(access)].via == Via::Held)
        open(access);
    for (int c = 0; c < 2; ++c)
      for (int k = cur[channel(int(o), c)]; k < code[o].channelBefore[c][size_t(cur[o])]; ++k)
        for (int access : code[o].channelOps[c][size_t(k)]->accesses)
          open(access);
  }
}

/// The agent has arrived at its next segment: begin what the segment begins.
void Explorer::enter(int agent) {
  const AgentCode &mine = code[size_t(agent)];
  const Segment &segment = mine.segments[size_t(cur[size_t(agent)])];
  for (int c = 0; c < 2; ++c)
    ownIssued[c] = cur[size_t(agent)] ? mine.channelBefore[c][size_t(cur[size_t(agent)] - 1)] : 0;
  for (size_t i = 0; i < segment.ops.size() && !stop; ++i) {
    const Micro &op = *segment.ops[i];
    for (int access : op.accesses)
      if (!opens(agent, access, segment.heldBefore[i], op.kind == OpKind::Umma))
        break;
    if (op.kind == OpKind::Umma || op.kind == OpKind::CpAsync)
      ++ownIssued[channelOf(op.kind)];
    for (size_t t = 0; t < op.targets.size() && !stop; ++t) {
      for (int access : op.targets[t].accesses)
        if (!opens(agent, access, segment.heldBefore[i], false))
          break;
      int item = itemOf.at({&op, t});
      cur[itemAt(item)] = op.kind == OpKind::Copy ? 2 : 1;
      int to = op.targets[t].barrier;
      if (to >= 0 && p.barriers[size_t(to)].cta != p.agents[size_t(agent)].cta &&
          exited(p.barriers[size_t(to)].cta))
        fault(Kind::Exit, p.agents[size_t(agent)].name + " signals a CTA that has exited");
    }
  }
  if (!stop && finished(cur.data(), agent) && exited(p.agents[size_t(agent)].cta))
    exitOf(p.agents[size_t(agent)].cta);
}

bool Explorer::enabled(const Word *s, int agent) const {
  if (finished(s, agent))
    return false;
  const Micro &op = *code[size_t(agent)].visible[size_t(s[agent])];
  if (op.kind != OpKind::Wait)
    return true;
  if (op.hint >= 0 && (s[hints() + size_t(agent)] >> op.hint & 1))
    return true;
  Word c = s[barrier(op.barrier)];
  if (p.barriers[size_t(op.barrier)].named)
    return c > op.gen;
  return (c & 1) != (op.gen & 1);
}

/// Executes `step` on a copy of `from` into `cur`. False: nothing follows it.
bool Explorer::apply(const Word *from, Step step) {
  cur.assign(from, from + width);
  taken = step;
  if (step.item >= 0) {
    const Item &item = items[size_t(step.item)];
    const std::string who = "an engine of " + p.agents[size_t(item.agent)].name;
    Word &status = cur[itemAt(step.item)];
    status = status > 1 ? Word(status - 1) : Word(-1);
    if (item.channel >= 0) {
      Word &done = cur[channel(item.agent, item.channel)];
      done = std::max(done, Word(item.prefix));
      arrive(item.target->barrier, item.target->gen, item.op->count, who);
    } else if (item.target->barrier >= 0) {
      bytes(item.target->barrier, item.target->gen, item.piece, who);
    }
    return !stop;
  }
  const Agent &agent = p.agents[size_t(step.agent)];
  const Micro &op = *code[size_t(step.agent)].visible[size_t(cur[size_t(step.agent)])];
  Word &hint = cur[hints() + size_t(step.agent)];
  // The agent leaves its place first: the wait in hand is not one that is still to come.
  cur[size_t(step.agent)] += 1;
  switch (op.kind) {
  case OpKind::Wait:
    if (op.hint >= 0 && (hint >> op.hint & 1)) {
      hint = Word(hint & ~(1 << op.hint));
      break;
    }
    if (Word c = cur[barrier(op.barrier)];
        !p.barriers[size_t(op.barrier)].named && c != op.gen + 1) {
      fault(Kind::Overrun, agent.name + "'s wait for " + place(op.barrier, op.gen) +
                               " passes with " + std::to_string(c) + " completed");
      return false;
    }
    break;
  case OpKind::Try: {
    Word c = cur[barrier(op.barrier)];
    if (step.outcome) {
      if (c != op.gen + 1) {
        fault(Kind::Overrun, agent.name + "'s try for " + place(op.barrier, op.gen) +
                                 " passes with " + std::to_string(c) + " completed");
        return false;
      }
      hint = Word(hint | 1 << op.hint);
    } else {
      hint = Word(hint & ~(1 << op.hint));
    }
    break;
  }
  case OpKind::Arrive:
    if (p.barriers[size_t(op.barrier)].cta != agent.cta &&
        exited(p.barriers[size_t(op.barrier)].cta))
      fault(Kind::Exit,
            agent.name + " arrives on " + place(op.barrier, op.gen) + " of a CTA that has exited");
    cur[barrier(op.barrier) + 2] = Word(cur[barrier(op.barrier) + 2] + 2 * op.bytes / unit);
    if (cur[barrier(op.barrier)] != op.gen)
      cur[barrier(op.barrier) + 2] = Word(cur[barrier(op.barrier) + 2] - 2 * op.bytes / unit);
    arrive(op.barrier, op.gen, op.count, agent.name);
    break;
  case OpKind::PdlWait:
    cur[pdl(agent.cta)] = 1;
    break;
  case OpKind::PdlLaunch:
    if (anyPdlWait && !cur[pdl(agent.cta)])
      fault(Kind::Pdl, agent.name + " launches dependents before any wait of its CTA");
    break;
  default:
    break;
  }
  if (stop)
    return false;
  enter(step.agent);
  return !stop;
}

int Explorer::find(const std::vector<Word> &state) {
  uint64_t h = 1469598103934665603ull;
  for (Word w : state)
    h = (h ^ uint16_t(w)) * 1099511628211ull;
  h ^= h >> 29;
  if (table.size() < 2 * (parent.size() + 1)) {
    std::vector<int> old(std::max<size_t>(1024, table.size() * 2), -1);
    old.swap(table);
    for (int id : old)
      if (id >= 0) {
        uint64_t g = 1469598103934665603ull;
        for (size_t i = 0; i < width; ++i)
          g = (g ^ uint16_t(arena[size_t(id) * width + i])) * 1099511628211ull;
        g ^= g >> 29;
        size_t slot = g & (table.size() - 1);
        while (table[slot] >= 0)
          slot = (slot + 1) & (table.size() - 1);
        table[slot] = id;
      }
  }
  size_t slot = h & (table.size() - 1);
  for (; table[slot] >= 0; slot = (slot + 1) & (table.size() - 1))
    if (!std::memcmp(&arena[size_t(table[slot]) * width], state.data(), width * sizeof(Word)))
      return -1;
  int id = int(parent.size());
  table[slot] = id;
  arena.insert(arena.end(), state.begin(), state.end());
  parent.push_back(expanding);
  how.push_back(taken);
  return id;
}

void Explorer::search() {
  cur.assign(width, 0);
  for (size_t b = 0; b < p.barriers.size(); ++b)
    cur[barrier(int(b)) + 1] = Word(p.barriers[b].count - p.barriers[b].arrived);
  for (size_t a = 0; a < p.agents.size() && !stop; ++a)
    enter(int(a));
  if (stop)
    return;
  find(cur);
  std::vector<Word> from(width);
  for (size_t s = 0; s < parent.size() && !stop; ++s) {
    if (parent.size() > maxStates) {
      verdict.tooLarge = true;
      return;
    }
    std::copy_n(&arena[s * width], width, from.begin());
    expanding = int(s);
    bool any = false, all = true;
    auto go = [&](Step step) {
      any = true;
      if (!stop && apply(from.data(), step))
        find(cur);
    };
    for (size_t a = 0; a < p.agents.size() && !stop; ++a) {
      all &= finished(from.data(), int(a));
      if (!enabled(from.data(), int(a)))
        continue;
      const Micro &op = *code[a].visible[size_t(from[a])];
      go({int(a), -1, false});
      if (op.kind == OpKind::Try && (from[barrier(op.barrier)] & 1) != (op.gen & 1))
        go({int(a), -1, true});
    }
    for (size_t i = 0; i < items.size() && !stop; ++i)
      if (from[itemAt(int(i))] > 0)
        go({-1, int(i), false});
    if (any || all || stop)
      continue;
    taken = {};
    std::string what = "blocked:";
    for (size_t a = 0; a < p.agents.size(); ++a)
      if (!finished(from.data(), int(a)))
        what += " " + p.agents[a].name + " at " + describe(*code[a].visible[size_t(from[a])]) + ";";
    fault(Kind::Deadlock, what);
  }
}

Verdict Explorer::run() {
  verdict.unsupported = p.unsupported;
  if (verdict.unsupported.empty())
    compile();
  if (verdict.unsupported.empty() && checkBytes() && verdict.unsupported.empty())
    search();
  verdict.states = parent.size();
  return verdict;
}

Verdict explore(const Program &program, size_t maxStates, bool pastBytes) {
  return Explorer(program, maxStates, pastBytes).run();
}

} // namespace ts::oracle
