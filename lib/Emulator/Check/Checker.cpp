// Judges accesses by happens-before. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Checker.h"

#include "../Core/Address.h"
#include "../Core/Fault.h"
#include "LaneOrder.h"
#include "Shadow.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ts::emu {
namespace {

constexpr size_t maxRecords = 1 << 20; // then those no longer in use are dropped
constexpr uint32_t tmemLanes = 128, tmemColumns = 512;

bool strong(AccessKind kind) {
  return kind == AccessKind::Atomic || kind == AccessKind::AtomicRead ||
         kind == AccessKind::AtomicWrite;
}
struct Agent {
  uint32_t time = 0;
  const char *engine = nullptr; // null: a warp
  uint64_t issuer = 0;          // of a channel
  unsigned cta = 0;             // of a warp
};

/// What an access touches, for messages.
struct Where {
  bool tmem = false;
  unsigned cta = 0;
  uint32_t begin = 0, end = 0; // cells
  std::string str() const {
    if (tmem)
      return format("tensor memory, lane %u, column %u of CTA %u", begin / tmemColumns,
                    begin % tmemColumns, cta);
    return format("shared memory, bytes 0x%x to 0x%x (smem+0x%x) of CTA %u", begin, end - 1,
                  begin - sharedReserved, cta);
  }
};
} // namespace

const char *verbOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
  case AccessKind::AtomicRead:
    return "read";
  case AccessKind::Atomic:
    return "atomic update";
  default:
    return "write";
  }
}

struct Checker::Impl {
  unsigned ctas, warpsPerCta;
  bool races, uninitialised;
  std::vector<Agent> agents;
  std::vector<Clock> clocks; // of warps
  std::map<std::tuple<uint32_t, uint64_t, uint64_t>, AgentId> channels;
  std::vector<Site> sites;
  Records records;
  std::vector<std::vector<uint32_t>> sharedShadow; // by CTA
  std::vector<std::vector<uint32_t>> tmemShadow;   // empty until used
  std::unordered_map<uint64_t, Clock> released;    // by address
  LaneOrder lanes;
  std::vector<Report> warnings;
  std::set<std::pair<uint32_t, uint32_t>> warned;

  Site siteOf(const Touch &touch) const {
    Site site = sites[touch.site];
    if (const char *engine = agents[touch.event.agent].engine)
      site.engine = engine;
    return site;
  }

  Note noteOf(const Touch &touch, const char *text) const { return {siteOf(touch), text}; }

  void check(const Access &a, const Record &record, const Where &where, bool strictTensor);
  bool repeats(const Access &a, const Record &record) const;
  void conflict(const Access &a, const Touch &other, const Where &where);
  void warn(const Access &a, FaultKind kind, std::string message, const Touch *other);
  void tensorWarning(const Access &a, const Touch &other, const Where &where, bool strict);
  void apply(std::vector<uint32_t> &shadow, uint32_t begin, uint32_t end, const Access &a,
             Where where, bool strictTensor);
  void collectIfLarge();
  void checkLanes(const Access &a, SharedRange range);

  Impl(unsigned ctas, unsigned warpsPerCta)
      : ctas(ctas), warpsPerCta(warpsPerCta), lanes(ctas, size_t(ctas) * warpsPerCta) {}
};

Checker::Checker(unsigned ctas, unsigned warpsPerCta, uint32_t sharedBytes, bool races,
                 bool uninitialised)
    : impl(std::make_unique<Impl>(ctas, warpsPerCta)) {
  impl->races = races;
  impl->uninitialised = uninitialised;
  for (unsigned cta = 0; cta < ctas; ++cta)
    for (unsigned w = 0; w < warpsPerCta; ++w)
      impl->agents.push_back({0, nullptr, 0, cta});
  impl->clocks.resize(impl->agents.size());
  if (races || uninitialised)
    impl->sharedShadow.assign(ctas, std::vector<uint32_t>(sharedBytes, Records::undefined));
  impl->tmemShadow.resize(ctas);
  impl->sites.emplace_back();
}

Checker::~Checker() = default;

AgentId Checker::warpAgent(unsigned cta, unsigned warp) const {
  return cta * impl->warpsPerCta + warp;
}

AgentId Checker::channelAgent(uint32_t engine, uint64_t issuer, uint64_t tag, const char *name) {
  auto [it, isNew] =
      impl->channels.try_emplace({engine, issuer, tag}, AgentId(impl->agents.size()));
  if (isNew)
    impl->agents.push_back({0, name, issuer, 0});
  return it->second;
}

unsigned Checker::numAgents() const { return unsigned(impl->agents.size()); }
Clock &Checker::clock(AgentId warp) { return impl->clocks[warp]; }

Event Checker::newEvent(AgentId agent) {
  Event event{agent, ++impl->agents[agent].time};
  if (agent < impl->clocks.size()) {
    Clock &clock = impl->clocks[agent];
    clock.order.learn(event);
    clock.tensor.learn(event); // its own tcgen05 accesses are told by channel events
  }
  return event;
}

Event Checker::lastEvent(AgentId agent) const { return {agent, impl->agents[agent].time}; }

uint32_t Checker::addSite(const Site &site) {
  impl->sites.push_back(site);
  return uint32_t(impl->sites.size() - 1);
}
const Site &Checker::site(uint32_t id) const { return impl->sites[id]; }

void Checker::Impl::conflict(const Access &a, const Touch &other, const Where &where) {
  const Agent &mine = agents[a.event.agent], &theirs = agents[other.event.agent];
  std::string by = theirs.engine ? format("the %s by %s", verbOf(other.kind), theirs.engine)
                                 : format("the %s by another warp", verbOf(other.kind));
  std::string advice =
      theirs.engine ? "wait for its completion (mbarrier, wait_group, tcgen05.wait or commit) first"
                    : "put a barrier or an mbarrier arrive and wait between them";
  const char *subject = mine.engine ? mine.engine : "this warp";
  faultWith(FaultKind::Race, {noteOf(other, "the other access is here")},
            "race: the %s by %s and %s touch the same %s, and nothing orders them; %s",
            verbOf(a.kind), subject, by.c_str(), where.str().c_str(), advice.c_str());
}

void Checker::Impl::tensorWarning(const Access &a, const Touch &other, const Where &where,
                                  bool strict) {
  std::string message =
      format("%s is accessed after a tcgen05 operation of another thread that is ordered by thread "
             "synchronisation only; expected tcgen05.fence::before_thread_sync there and "
             "tcgen05.fence::after_thread_sync here",
             where.str().c_str());
  if (strict)
    faultWith(FaultKind::TensorFence, {noteOf(other, "the other access is here")}, "%s",
              message.c_str());
  warn(a, FaultKind::TensorFence, std::move(message), &other);
}

void Checker::Impl::warn(const Access &a, FaultKind kind, std::string message, const Touch *other) {
  if (!warned.insert({a.site, other ? other->site : a.site}).second || warnings.size() >= 16)
    return;
  Report report;
  report.kind = kind;
  report.message = std::move(message);
  report.site = sites[a.site];
  if (other)
    report.notes = {noteOf(*other, "the other access is here")};
  report.isWarning = true;
  warnings.push_back(std::move(report));
}

/// A store of what is already there, where another warp's ordinary store put it: whichever comes
/// last, nobody sees a difference. The earlier one stays the one to know.
bool Checker::Impl::repeats(const Access &a, const Record &record) const {
  const Touch &write = record.write;
  return a.kind == AccessKind::SameWrite && write.event.time &&
         (write.kind == AccessKind::Write || write.kind == AccessKind::SameWrite) &&
         write.proxy == Proxy::Generic && !agents[write.event.agent].engine &&
         !a.known->order.knows(write.event);
}

void Checker::Impl::check(const Access &a, const Record &record, const Where &where,
                          bool strictTensor) {
  bool reads = a.kind != AccessKind::Write && a.kind != AccessKind::AtomicWrite &&
               a.kind != AccessKind::SameWrite;
  if (uninitialised && reads && !record.defined) {
    const Touch &stored = record.write;
    if (a.undefined && a.undefined->what.empty()) {
      a.undefined->what = where.str();
      a.undefined->stored = stored.event.time ? stored.site : 0;
    } else if (!a.undefined) {
      std::vector<Note> notes;
      if (stored.event.time)
        notes.push_back(noteOf(stored, "an undefined value was stored here"));
      faultWith(FaultKind::Uninitialised, std::move(notes), "%s",
                undefinedText(where.str(), stored.event.time).c_str());
    }
  }
  if (!races)
    return;
  const Touch &write = record.write;
  if (write.event.time) {
    if (!a.known->order.knows(write.event)) {
      if (!(strong(a.kind) && strong(write.kind)) && !repeats(a, record))
        conflict(a, write, where);
    } else if (a.proxy == Proxy::Async && reads && write.proxy == Proxy::Generic &&
               !a.known->proxy.knows(write.event) && agents[write.event.agent].engine) {
      // cp.async: by the letter a fence is due, but kernels in daily use do without.
      warn(a, FaultKind::ProxyFence,
           where.str() + " were written by cp.async and are read by an asynchronous engine without "
                         "fence.proxy.async behind the wait for the copies",
           &write);
    } else if (a.proxy == Proxy::Async && reads && write.proxy == Proxy::Generic &&
               !a.known->proxy.knows(write.event)) {
      faultWith(FaultKind::ProxyFence, {noteOf(write, "written here")},
                "%s were written by ordinary stores and are read by an asynchronous engine without "
                "a proxy fence in between; put fence.proxy.async behind the stores, before the "
                "synchronisation with the thread that issues this",
                where.str().c_str());
    } else if (a.proxy == Proxy::Async && write.proxy == Proxy::Generic &&
               !a.known->proxy.knows(write.event) && !agents[write.event.agent].engine) {
      // Which of the two stays is not said without a fence; no kernel is known to suffer from it.
      warn(a, FaultKind::ProxyFence,
           where.str() + " were written by ordinary stores and are overwritten by an asynchronous "
                         "engine without fence.proxy.async behind the stores",
           &write);
    } else if (a.proxy == Proxy::Tensor && !a.known->tensor.knows(write.event)) {
      tensorWarning(a, write, where, strictTensor);
    }
  }
  if (!writes(a.kind))
    return;
  for (const Touch &read : record.reads) {
    if (!a.known->order.knows(read.event)) {
      if (!(strong(a.kind) && strong(read.kind)))
        conflict(a, read, where);
    } else if (a.proxy == Proxy::Tensor && !a.known->tensor.knows(read.event)) {
      tensorWarning(a, read, where, strictTensor);
    }
  }
}

void Checker::Impl::apply(std::vector<uint32_t> &shadow, uint32_t begin, uint32_t end,
                          const Access &a, Where where, bool strictTensor) {
  const Touch touch{a.event, a.kind, a.proxy, a.site};
  for (uint32_t i = begin; i < end;) {
    uint32_t id = shadow[i], j = i + 1;
    while (j < end && shadow[j] == id)
      ++j;
    where.begin = i;
    where.end = j;
    check(a, records[id], where, strictTensor);
    if (a.undefined && uninitialised && !records[id].defined)
      for (uint32_t k = i; k < j && k - begin < 32; ++k)
        a.undefined->bytes |= 1u << (k - begin);
    uint32_t next = repeats(a, records[id]) ? id : records.after(id, touch);
    std::fill(shadow.begin() + i, shadow.begin() + j, next);
    i = j;
  }
}

/// Races that the clocks do not see, since a warp is one agent to them.
void Checker::Impl::checkLanes(const Access &a, SharedRange range) {
  const std::vector<uint32_t> &shadow = sharedShadow[range.cta];
  const char *engine = agents[a.event.agent].engine;
  auto lane = unsigned(a.lane);
  if (a.kind == AccessKind::Read) {
    std::optional<LaneOrder::Other> other = lanes.unordered(a.warp, lane, range);
    if (!other)
      return;
    std::string reader = engine ? format("the read by %s, which lane %u starts,", engine, lane)
                                : format("the read by lane %u", lane);
    faultWith(FaultKind::Race,
              {noteOf(records[shadow[other->at]].write, "the other access is here")},
              "race: %s and the write by lane %u of the same warp touch the same %s, and nothing "
              "orders the lanes; put bar.warp.sync (__syncwarp) between them",
              reader.c_str(), other->lane,
              Where{false, range.cta, other->at, other->at + 1}.str().c_str());
  }
  if (engine || !writes(a.kind))
    return;
  size_t end = std::min<size_t>(size_t(range.begin) + range.size, shadow.size());
  for (size_t i = range.begin; i < end; ++i)
    for (const Touch &read : records[shadow[i]].reads)
      if (uint32_t knowing = lanes.knowing(a.warp, read.event); !(knowing >> lane & 1))
        faultWith(FaultKind::Race, {noteOf(read, "the other access is here")},
                  "race: the write by lane %u and the read by %s touch the same %s; only the lanes "
                  "0x%08x have waited for it, and nothing orders the others behind them: put "
                  "bar.warp.sync (__syncwarp) behind the wait",
                  lane, agents[read.event.agent].engine,
                  Where{false, range.cta, uint32_t(i), uint32_t(i) + 1}.str().c_str(), knowing);
  if (a.kind == AccessKind::Write || a.kind == AccessKind::SameWrite)
    lanes.wrote(a.warp, lane, range, uint32_t(shadow.size()));
  else
    lanes.forget(range);
}

void Checker::Impl::collectIfLarge() {
  if (records.size() < maxRecords)
    return;
  std::vector<std::vector<uint32_t> *> all;
  for (std::vector<uint32_t> &shadow : sharedShadow)
    all.push_back(&shadow);
  for (std::vector<uint32_t> &shadow : tmemShadow)
    all.push_back(&shadow);
  records.collect(all);
}

void Checker::shared(const Access &access, SharedRange range) {
  if (impl->sharedShadow.empty())
    return;
  std::vector<uint32_t> &shadow = impl->sharedShadow[range.cta];
  uint32_t begin = std::min<uint32_t>(range.begin, uint32_t(shadow.size()));
  uint32_t end = uint32_t(std::min<uint64_t>(uint64_t(begin) + range.size, shadow.size()));
  if (access.lane >= 0 && impl->races)
    impl->checkLanes(access, range);
  impl->apply(shadow, begin, end, access, {false, range.cta, 0, 0}, strictTensorFences);
  impl->collectIfLarge();
}

void Checker::tmem(const Access &access, TmemRange range) {
  if (!impl->races && !impl->uninitialised)
    return;
  std::vector<uint32_t> &shadow = impl->tmemShadow[range.cta];
  if (shadow.empty())
    shadow.assign(size_t(tmemLanes) * tmemColumns, Records::undefined);
  uint32_t lanes = std::min(range.lane + range.lanes, tmemLanes);
  uint32_t columns = std::min(range.column + range.columns, tmemColumns);
  for (uint32_t lane = range.lane; lane < lanes; ++lane)
    impl->apply(shadow, lane * tmemColumns + range.column, lane * tmemColumns + columns, access,
                {true, range.cta, 0, 0}, strictTensorFences);
  impl->collectIfLarge();
}

void Checker::define(SharedRange range) {
  if (impl->sharedShadow.empty())
    return;
  std::vector<uint32_t> &shadow = impl->sharedShadow[range.cta];
  uint64_t end = std::min<uint64_t>(uint64_t(range.begin) + range.size, shadow.size());
  for (uint64_t i = range.begin; i < end; ++i)
    shadow[i] = Records::given;
}

void Checker::undefine(SharedRange range) {
  if (impl->sharedShadow.empty())
    return;
  std::vector<uint32_t> &shadow = impl->sharedShadow[range.cta];
  uint64_t end = std::min<uint64_t>(uint64_t(range.begin) + range.size, shadow.size());
  for (uint64_t i = range.begin; i < end; ++i)
    shadow[i] = Records::undefined;
}

void Checker::undefine(TmemRange range) {
  std::vector<uint32_t> &shadow = impl->tmemShadow[range.cta];
  if (shadow.empty())
    return;
  for (uint32_t lane = range.lane; lane < std::min(range.lane + range.lanes, tmemLanes); ++lane)
    for (uint32_t c = range.column; c < std::min(range.column + range.columns, tmemColumns); ++c)
      shadow[size_t(lane) * tmemColumns + c] = Records::undefined;
}

void Checker::spoil(SharedRange range) {
  if (impl->sharedShadow.empty())
    return;
  std::vector<uint32_t> &shadow = impl->sharedShadow[range.cta];
  uint64_t end = std::min<uint64_t>(uint64_t(range.begin) + range.size, shadow.size());
  for (uint64_t i = range.begin; i < end; ++i)
    shadow[i] = impl->records.spoiled(shadow[i]);
}

void Checker::spoil(TmemRange range) {
  std::vector<uint32_t> &shadow = impl->tmemShadow[range.cta];
  if (shadow.empty())
    return;
  for (uint32_t lane = range.lane; lane < std::min(range.lane + range.lanes, tmemLanes); ++lane)
    for (uint32_t c = range.column; c < std::min(range.column + range.columns, tmemColumns); ++c)
      shadow[size_t(lane) * tmemColumns + c] =
          impl->records.spoiled(shadow[size_t(lane) * tmemColumns + c]);
}

bool Checker::defined(unsigned cta, uint32_t lane, uint32_t column) const {
  const std::vector<uint32_t> &shadow = impl->tmemShadow[cta];
  return shadow.empty() || impl->records[shadow[size_t(lane) * tmemColumns + column]].defined;
}

std::string undefinedText(const std::string &what, bool stored) {
  return what + (stored ? " are read, but only undefined values have been written there"
                        : " are read, but nothing has been written there");
}

void Checker::release(uint64_t address, const Clock &clock) {
  impl->released[address].joinAll(clock);
}

void Checker::acquire(uint64_t address, Clock &clock) {
  auto it = impl->released.find(address);
  if (it != impl->released.end())
    clock.acquire(it->second);
}

void Checker::warpSynchronised(AgentId warp) { impl->lanes.synchronised(warp); }

void Checker::lanesLearned(AgentId warp, uint32_t lanes, AgentId engine, uint32_t before) {
  impl->lanes.learned(warp, lanes, engine, before, impl->clocks[warp].order[engine]);
}

void Checker::proxyFence(AgentId warp) {
  Clock &clock = impl->clocks[warp];
  clock.proxy.join(clock.order);
  newEvent(warp); // stores behind the fence are newer than what it covers
}

void Checker::tensorFenceBefore(AgentId warp) {
  Clock &clock = impl->clocks[warp];
  clock.tensorOffered.join(clock.tensor);
}

void Checker::tensorFenceAfter(AgentId warp) {
  Clock &clock = impl->clocks[warp];
  clock.tensor.join(clock.tensorTaken);
}

void Checker::ctaExits(unsigned cta) {
  if (!impl->races)
    return;
  ClockVector known;
  for (unsigned w = 0; w < impl->warpsPerCta; ++w)
    known.join(impl->clocks[warpAgent(cta, w)].order);
  auto own = [&](const Touch &touch) {
    const Agent &agent = impl->agents[touch.event.agent];
    return !agent.engine && agent.cta == cta;
  };
  auto judge = [&](const Touch &touch, const Where &where) {
    if (!touch.event.time || own(touch) || known.knows(touch.event))
      return;
    const Agent &agent = impl->agents[touch.event.agent];
    faultWith(FaultKind::EarlyExit, {impl->noteOf(touch, "the access is here")},
              "CTA %u ends while %s may still %s %s; %s", cta,
              agent.engine ? agent.engine : "a warp of a peer CTA",
              writes(touch.kind) ? "write" : "read", where.str().c_str(),
              agent.engine ? "wait for the operation before the last warp exits"
                           : "let the CTAs meet (barrier.cluster) before they exit");
  };
  std::set<uint32_t> seen;
  auto scan = [&](const std::vector<uint32_t> &shadow, Where where) {
    for (uint32_t i = 0; i < shadow.size();) {
      uint32_t id = shadow[i], j = i + 1;
      while (j < shadow.size() && shadow[j] == id)
        ++j;
      if (id > Records::given && seen.insert(id).second) {
        where.begin = i;
        where.end = j;
        judge(impl->records[id].write, where);
        for (const Touch &read : impl->records[id].reads)
          judge(read, where);
      }
      i = j;
    }
  };
  if (!impl->sharedShadow.empty())
    scan(impl->sharedShadow[cta], {false, cta, 0, 0});
  scan(impl->tmemShadow[cta], {true, cta, 0, 0});
}

std::vector<Report> Checker::takeWarnings() { return std::exchange(impl->warnings, {}); }

} // namespace ts::emu
