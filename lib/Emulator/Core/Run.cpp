// The step loop of a cluster and its schedules. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Run.h"

#include "Exec.h"
#include "Random.h"
#include "Split.h"
#include "Trace.h"

#include <algorithm>
#include <bit>

namespace ts::emu {
namespace {
constexpr unsigned fairTurn = 64;       // instructions of a warp before the next actor
constexpr unsigned randomTurn = 16;     // at most, in a random schedule
constexpr uint64_t pollPatience = 5000; // idle steps before a held warp moves beside pollers
constexpr unsigned maxGiveUps = 10'000; // rounds in which every try_wait gives up, before it is a
                                        // hang: a loop may probe without needing the answer

uint64_t mix(uint64_t seed, uint64_t id) { // never zero
  uint64_t z = seed * 0x9e3779b97f4a7c15u + id * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;
  z ^= z >> 31;
  return z | 1;
}
} // namespace

ClusterRun::ClusterRun(Machine &machine, uint64_t clusterId, std::vector<uint8_t> &executedForms,
                       Tracer *tracer)
    : machine(machine), cluster(makeCluster(machine, clusterId)), executedForms(executedForms),
      tracer(tracer), random(mix(machine.options->schedule.seed, clusterId)) {
  for (const std::unique_ptr<Cta> &cta : cluster->ctas)
    for (const std::unique_ptr<Warp> &warp : cta->warps)
      warps.push_back({warp.get(), 0});
}

ClusterRun::~ClusterRun() = default;

unsigned ClusterRun::actors() const {
  return unsigned(warps.size()) + cluster->engines->numChannels();
}

bool ClusterRun::idle() const {
  return cluster->steps - cluster->lastChange > machine.options->idleLimit;
}

// A cluster without a change may still be computing: it has to be shown that it does not.
bool ClusterRun::standsStill(uint64_t key, uint64_t patience) {
  if (!idle()) {
    watch.reset();
    return false;
  }
  if (!watch || !watch->holds())
    watch = std::make_unique<Watch>(*cluster);
  watch->restart(key, patience);
  return watch->standsStill();
}

std::string ClusterRun::loopText() const {
  if (!idle())
    return "";
  return format("; nothing but registers has changed for %llu steps: %s",
                (unsigned long long)(cluster->steps - cluster->lastChange),
                describeLoop(*cluster).c_str());
}

Report ClusterRun::hangReport() const {
  Report report = describeHang(*cluster, true);
  for (const WarpRef &ref : warps)
    if (ref.warp->alive() && report.history.empty())
      history(*ref.warp, report);
  return report;
}

bool ClusterRun::finished() const {
  for (const std::unique_ptr<Cta> &cta : cluster->ctas)
    if (cta->warpsAlive)
      return false;
  return cluster->engines->idle();
}

ClusterRun::Outcome ClusterRun::run(uint64_t quantum, uint64_t key, uint64_t patience) {
  uint64_t end = cluster->steps + quantum;
  if (waitsOutside()) // another launch may have ended since
    ++cluster->events;
  const Schedule &schedule = machine.options->schedule;
  while (cluster->steps < end) {
    if (finished()) {
      warnings = cluster->checker->takeWarnings();
      return Outcome::Done;
    }
    bool moved = false;
    uint64_t events = cluster->events;
    switch (schedule.kind) {
    case Schedule::Kind::Fair:
      moved = moveFair(SIZE_MAX);
      break;
    case Schedule::Kind::Adversarial:
      moved = moveFair(schedule.victim);
      break;
    case Schedule::Kind::Random:
      moved = moveRandom();
      break;
    case Schedule::Kind::Steered:
      moved = moveSteered();
      break;
    }
    if (!faults.empty())
      return Outcome::Faulty;
    // A step may arrive somewhere and block behind that: whoever waits for it goes on.
    if (letsDependentGo())
      return Outcome::Running;
    if (moved || cluster->events != events) {
      if (standsStill(key, patience))
        return Outcome::Waiting;
      continue;
    }
    if (waitsOutside())
      return Outcome::Waiting;
    if (giveUpRound())
      continue;
    Report report = describeHang(*cluster, false);
    for (const WarpRef &ref : warps)
      if (ref.warp->alive() && report.history.empty())
        history(*ref.warp, report);
    faults.push_back(std::move(report));
    return Outcome::Faulty;
  }
  return Outcome::Running;
}

/// Whether the last CTA has just let the dependent grid go: the caller starts it before this one
/// ends.
bool ClusterRun::letsDependentGo() {
  if (!machine.hasDependent || dependentGoes || machine.ctasReleased != machine.totalCtas)
    return false;
  dependentGoes = true;
  return true;
}

// Actors are the warps, then the engine channels in the order of their first use.
bool ClusterRun::moveFair(size_t except) {
  if (cluster->steps - cluster->lastChange > pollPatience)
    except = SIZE_MAX; // the others only poll
  size_t numWarps = warps.size();
  size_t total = numWarps + cluster->engines->numChannels();
  cluster->engines->choices(choices, nullptr);
  for (size_t k = 0; k < total; ++k) {
    size_t actor = (turn + k) % total;
    if (actor == except)
      continue;
    bool moved = false;
    if (actor < numWarps) {
      moved = runWarp(warps[actor], fairTurn);
    } else {
      for (const Engines::Choice &choice : choices)
        if (choice.channel + numWarps == actor)
          moved = stepEngine(choice);
    }
    if (moved || !faults.empty()) {
      turn = actor + 1;
      return true;
    }
  }
  if (except < numWarps)
    return runWarp(warps[except], 1);
  for (const Engines::Choice &choice : choices)
    if (choice.channel + numWarps == except)
      return stepEngine(choice);
  return false;
}

bool ClusterRun::moveRandom() {
  cluster->engines->choices(choices, &random);
  size_t total = warps.size() + choices.size();
  size_t start = nextRandom(random) % total;
  for (size_t k = 0; k < total; ++k) {
    size_t actor = (start + k) % total;
    bool moved = actor < warps.size()
                     ? runWarp(warps[actor], 1 + unsigned(nextRandom(random) % randomTurn))
                     : stepEngine(choices[actor - warps.size()]);
    if (moved || !faults.empty())
      return true;
  }
  return false;
}

ClusterRun::Listed ClusterRun::listed(const WarpRef &ref, const Split &split) const {
  const std::vector<Schedule::Place> &places = machine.options->schedule.places;
  const CodeEntry &code = split.frame->code->entries[split.pc];
  for (size_t i = std::max(ref.place, steeredAt); i < places.size(); ++i) {
    const Schedule::Place &place = places[i];
    if (place.cta != ref.warp->cta->rank || place.warp != ref.warp->index)
      continue;
    if (place.ptxLine != code.loc.ptxLine)
      return Listed::No;
    return i == steeredAt ? Listed::Next : Listed::Later;
  }
  return Listed::No;
}

bool ClusterRun::moveUnlisted() {
  for (size_t k = 0; k < warps.size(); ++k) {
    WarpRef &ref = warps[(turn + k) % warps.size()];
    Split *split = pickSplit(*ref.warp, cluster->events);
    if (!split || listed(ref, *split) != Listed::No)
      continue;
    if (runWarp(ref, 1) || !faults.empty())
      return turn = (turn + k + 1) % warps.size(), true;
  }
  return false;
}

bool ClusterRun::moveListed() {
  for (WarpRef &ref : warps) {
    Split *split = pickSplit(*ref.warp, cluster->events);
    if (!split || listed(ref, *split) != Listed::Next)
      continue;
    bool moved = runWarp(ref, 1);
    if (moved) {
      ref.place = ++steeredAt;
      cluster->lastChange = cluster->steps;
    }
    return moved || !faults.empty();
  }
  return false;
}

bool ClusterRun::moveEngines(bool late) {
  const std::vector<uint32_t> &lines = machine.options->schedule.late;
  // A queue shows one operation at a time: where some have to be held back, others are drawn.
  for (unsigned draws = lines.empty() || late ? 1 : 16; draws; --draws) {
    cluster->engines->choices(choices, lines.empty() || late ? nullptr : &random);
    for (size_t k = 0; k < choices.size(); ++k) {
      const Engines::Choice &choice = choices[engineTurn++ % choices.size()];
      const CodeEntry *code = cluster->engines->peek(choice)->code;
      // What a commit tracks goes on; it is its arrival that may be late.
      bool held = !late && code &&
                  cluster->engines->key(choice.channel).kind != EngineKind::Tcgen05 &&
                  std::binary_search(lines.begin(), lines.end(), code->loc.ptxLine);
      if (!held)
        return stepEngine(choice);
    }
  }
  return false;
}

// Who is at no place of the list goes first, so that a probe looks as early as it can; then the
// list's next place. A place that nobody reaches is skipped.
bool ClusterRun::moveSteered() {
  const Schedule &schedule = machine.options->schedule;
  bool polling = cluster->steps - cluster->lastChange > pollPatience;
  bool follows = steeredAt < schedule.places.size();
  if (!schedule.lateEngines && moveEngines(/*late=*/false))
    return true;
  if (!(polling && follows) && moveUnlisted())
    return true;
  if (follows && schedule.places[steeredAt].settled && moveEngines(/*late=*/false))
    return true;
  if (moveListed() || (schedule.lateEngines && moveEngines(/*late=*/false)) ||
      moveEngines(/*late=*/true))
    return true;
  if (!follows)
    return false;
  ++steeredAt;
  cluster->lastChange = cluster->steps;
  return true;
}

bool ClusterRun::runWarp(WarpRef &ref, unsigned limit) {
  bool any = false;
  Warp &warp = *ref.warp;
  // Groups of lanes that turn out to be blocked do not count: others of the warp may go on.
  for (unsigned n = 0; n < limit && warp.alive();) {
    Split *split = pickSplit(warp, cluster->events);
    if (!split)
      break;
    const Code &code = *split->frame->code;
    const bool polls = split->pc < code.entries.size() && code.entries[split->pc].polls;
    const uint32_t lanes = split->mask, executed = warp.historyNext;
    const bool stepped = stepSplit(warp, *split);
    any |= stepped;
    n += stepped;
    tidySplits(warp);
    if (watch && stepped) [[unlikely]]
      watch->stepped(warp, lanes, polls && warp.historyNext != executed);
    if (!faults.empty())
      break;
  }
  return any;
}

/// Whether a try_wait that has to wait comes back with false instead. The hardware may do that
/// after a time of its own choosing, so a program has to cope: in some of the runs it happens
/// often.
bool ClusterRun::triesGiveUp(const CodeEntry &entry) {
  const Schedule &schedule = machine.options->schedule;
  switch (schedule.kind) {
  case Schedule::Kind::Steered:
    return std::binary_search(schedule.probes.begin(), schedule.probes.end(), entry.loc.ptxLine);
  case Schedule::Kind::Random:
    return nextRandom(random) % 4 == 0;
  case Schedule::Kind::Adversarial:
    return nextRandom(random) % 8 == 0;
  default:
    return false;
  }
}

bool ClusterRun::stepSplit(Warp &warp, Split &split) {
  const Code &code = *split.frame->code;
  static const CodeEntry none;
  Exec x{machine,   *cluster, *warp.cta,
         warp,      split,    split.pc < code.entries.size() ? code.entries[split.pc] : none,
         split.mask};
  uint32_t before = warp.alive();
  try {
    if (split.pc >= code.entries.size()) { // off the end: as if there were a ret
      returnLanes(x, split.mask);
    } else {
      const CodeEntry &entry = x.code;
      if (entry.guard >= 0) {
        if (split.frame->undefined.count) [[unlikely]]
          checkGuard(x);
        const uint64_t *lanes = x.reg(uint32_t(entry.guard));
        uint32_t holds = 0;
        for (unsigned lane = 0; lane < warpSize; ++lane)
          holds |= uint32_t(lanes[lane] & 1) << lane;
        x.mask &= entry.guardNegated ? ~holds : holds;
      }
      if (!x.mask) {
        ++split.pc;
        ++cluster->steps;
        return true;
      }
      Step step = split.frame->undefined.count ? runWithUndefined(x) : entry.op->run(x);
      if (step == Step::Blocked) {
        if (tracer && !split.blocked)
          tracer->blocked(warp, entry, cluster->steps);
        split.blocked = true;
        split.blockedAt = cluster->events;
        split.giveUp = split.wait.kind == WaitKind::Mbarrier && triesGiveUp(entry);
        return false;
      }
      executedForms[entry.form] = 1;
      HistoryEntry &slot = warp.history[warp.historyNext++ % warp.history.size()];
      slot = {&entry, x.mask, cluster->steps};
      if (tracer)
        tracer->executed(warp, entry, cluster->steps, split.blocked);
      split.blocked = false;
      split.resume = 0;
      split.giveUp = false;
      split.wait.kind = WaitKind::None;
      if (step == Step::Next)
        ++split.pc;
    }
    ++cluster->steps;
    ++instructions;
    ++warp.instructions;
    if (before && !warp.alive() && --warp.cta->warpsAlive == 0)
      ctaEnds(*warp.cta);
  } catch (FaultException &e) {
    Site site;
    if (&x.code != &none)
      site = x.site();
    if (&x.code != &none && e.kind == FaultKind::Trap)
      executedForms[x.code.form] = 1; // that is what it does
    report(std::move(e), site, &warp);
  }
  return true;
}

void ClusterRun::ctaEnds(Cta &cta) {
  releaseDependents(cta);
  mbarriersAtExit(cta);
  tmemAtExit(cta);
  cluster->checker->ctaExits(cta.rank);
  cluster->changed();
}

bool ClusterRun::stepEngine(Engines::Choice choice) {
  const AsyncOp *op = cluster->engines->peek(choice);
  Warp *warp = op->warp;
  const CodeEntry *code = op->code;
  uint32_t lane = op->lane;
  if (tracer)
    tracer->engine(cluster->engines->key(choice.channel), *cluster, code, cluster->steps);
  try {
    cluster->engines->step(choice);
    ++cluster->steps;
    cluster->lastChange = cluster->steps;
  } catch (FaultException &e) {
    Site site;
    if (warp && code) {
      Split spare; // sites do not look at it
      Exec x{machine, *cluster, *warp->cta, *warp, spare, *code, 1u << lane};
      site = x.site();
    }
    site.engine = engineName(cluster->engines->key(choice.channel).kind);
    report(std::move(e), site, warp);
  }
  return true;
}

bool ClusterRun::waitsOutside() const {
  for (const WarpRef &ref : warps)
    for (const Split &split : ref.warp->splits)
      if (split.blocked && split.wait.kind == WaitKind::Grid)
        return true;
  return false;
}

// A try_wait comes back with false after a time limit; programs that do something else then get
// their chance. Programs that only try again have not moved, and that is the hang.
bool ClusterRun::giveUpRound() {
  if (giveUpChange != cluster->events) {
    giveUpChange = cluster->events;
    giveUps = 0;
  }
  if (++giveUps > maxGiveUps)
    return false;
  bool any = false;
  for (const WarpRef &ref : warps)
    for (Split &split : ref.warp->splits)
      if (split.blocked && split.wait.kind == WaitKind::Mbarrier)
        any = split.giveUp = true;
  return any;
}

void ClusterRun::history(const Warp &warp, Report &report) const {
  const ptx::Module &module = machine.program->module;
  uint32_t count = std::min<uint32_t>(warp.historyNext, uint32_t(warp.history.size()));
  for (uint32_t i = 0; i < count; ++i) {
    const HistoryEntry &entry = warp.history[(warp.historyNext - count + i) % warp.history.size()];
    Note note;
    auto file = module.files.find(entry.code->loc.file);
    if (file != module.files.end())
      note.site.file = file->second;
    note.site.line = entry.code->loc.line;
    note.site.column = entry.code->loc.column;
    note.site.ptxLine = entry.code->loc.ptxLine;
    note.site.instruction = entry.code->source->opcode;
    note.site.warp = int32_t(warp.index);
    note.site.ctaRank = warp.cta->rank;
    std::copy_n(warp.cta->id, 3, note.site.cta);
    note.site.lanes = entry.mask;
    note.text = format("step %llu", (unsigned long long)entry.when);
    report.history.push_back(std::move(note));
  }
}

void ClusterRun::report(FaultException fault, const Site &site, const Warp *warp) {
  Report r;
  r.kind = fault.kind;
  r.message = std::move(fault.message);
  r.notes = std::move(fault.notes);
  r.site = fault.site ? *fault.site : site;
  if (warp)
    history(*warp, r);
  faults.push_back(std::move(r));
}

} // namespace ts::emu
