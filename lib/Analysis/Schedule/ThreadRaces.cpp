// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadRaces.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::ts;
using namespace mlir::ts::detail;

ThreadRaces::ThreadRaces(ThreadValues &values, unsigned warps,
                         std::function<std::string(int)> nameOf, ::ts::schedule::Task &task,
                         std::function<int32_t(Operation *)> place,
                         std::function<bool(int, int)> overlaid)
    : values(values), warpCount(warps), nameOf(std::move(nameOf)), task(task),
      place(std::move(place)), overlaid(std::move(overlaid)) {
  restart();
}

void ThreadRaces::restart() {
  now = 1;
  branches = 0;
  live.clear();
  sure.assign(warpCount, KnownTimes(warpCount, 0));
  maybe = sure;
  lanesMet.assign(warpCount, 0);
  for (auto &counts : groups)
    counts.assign(warpCount, 0);
}

//===-- Order --------------------------------------------------------------------------------===//

Knowledge ThreadRaces::knowledge(const llvm::BitVector &warps) {
  ++now;
  Knowledge result{KnownTimes(warpCount, 0), KnownTimes(warpCount, 0)};
  for (unsigned warp : warps.set_bits()) {
    for (unsigned of = 0; of < warpCount; ++of) {
      result.sure[of] = std::max(result.sure[of], sure[warp][of]);
      result.maybe[of] = std::max(result.maybe[of], maybe[warp][of]);
    }
    result.sure[warp] = result.maybe[warp] = now;
  }
  return result;
}

void ThreadRaces::learn(const llvm::BitVector &warps, const Knowledge &what, bool certain) {
  ++now;
  for (unsigned warp : warps.set_bits())
    for (unsigned of = 0; of < warpCount; ++of) {
      maybe[warp][of] = std::max(maybe[warp][of], what.maybe[of]);
      if (certain)
        sure[warp][of] = std::max(sure[warp][of], what.sure[of]);
    }
  forget();
}

void ThreadRaces::meet(const llvm::BitVector &warps, bool certain) {
  learn(warps, knowledge(warps), certain);
  if (certain)
    meetLanes(warps);
}

void ThreadRaces::meetLanes(const llvm::BitVector &warps) {
  ++now;
  for (unsigned warp : warps.set_bits())
    lanesMet[warp] = now;
}

void ThreadRaces::learnLanes(const llvm::BitVector &warps, const Knowledge &what) {
  for (unsigned warp : warps.set_bits())
    if (warp < what.lanes.size())
      lanesMet[warp] = std::max(lanesMet[warp], what.lanes[warp]);
}

ThreadRaces::Certain ThreadRaces::leaveWay(const Certain &to) {
  Certain end{std::move(sure), std::move(lanesMet)};
  sure = to.sure;
  lanesMet = to.lanesMet;
  return end;
}

void ThreadRaces::leaveBranch(const Certain &one, const Certain &other) {
  --branches;
  for (unsigned who = 0; who < warpCount; ++who) {
    for (unsigned of = 0; of < warpCount; ++of)
      sure[who][of] = std::min(one.sure[who][of], other.sure[who][of]);
    lanesMet[who] = std::min(one.lanesMet[who], other.lanesMet[who]);
  }
}

void ThreadRaces::commitGroup(Completion kind, const llvm::BitVector &warps) {
  for (unsigned warp : warps.set_bits())
    ++groups[unsigned(kind)][warp];
}

void ThreadRaces::waitGroups(Completion kind, int64_t pending, const llvm::BitVector &warps) {
  ++now;
  for (ThreadAccess &access : live) {
    if (access.completion != kind || access.end != kNever)
      continue;
    int warp = access.warps.find_first();
    // With nothing left in flight, wgmma and cp.async end without a group of their own too.
    int64_t closed = groups[unsigned(kind)][size_t(warp)];
    if (warps.test(unsigned(warp)) &&
        (access.group < closed - pending || (pending == 0 && kind != Completion::Bulk)))
      access.end = now;
  }
  ++now;
}

void ThreadRaces::forget() {
  if (branches > 0)
    return;
  llvm::erase_if(live, [&](const ThreadAccess &access) {
    for (unsigned of : access.warps.set_bits()) {
      if (lanesOpen(access, of))
        return false;
      for (unsigned who = 0; who < warpCount; ++who)
        if (who != of && !knows(sure, who, of, access))
          return false;
    }
    return true;
  });
}

//===-- Meeting ------------------------------------------------------------------------------===//

void ThreadRaces::access(ThreadAccess access) {
  if (exhausted() || access.threads.none())
    return;
  access.begin = access.end = ++now;
  if (access.completion != Completion::AtOnce) {
    access.end = kNever;
    access.group = groups[unsigned(access.completion)][size_t(access.warps.find_first())];
  }
  // The later of two equal accesses is the one that is harder to order.
  ThreadAccess *same = nullptr;
  for (ThreadAccess &other : live) {
    work += 8;
    bool shared = other.allocation != access.allocation;
    if (shared ? !overlaid(other.allocation, access.allocation)
               : other.slot != access.slot && other.slot >= 0 && access.slot >= 0)
      continue;
    bool equal = !shared && other.slot == access.slot && other.op == access.op &&
                 other.write == access.write && other.offset.known == access.offset.known &&
                 other.offset.terms == access.offset.terms &&
                 other.offset.numbers == access.offset.numbers && other.pieces == access.pieces &&
                 other.threads == access.threads && other.conditions == access.conditions &&
                 other.completion == Completion::AtOnce && access.completion == Completion::AtOnce;
    if (other.write || access.write)
      compare(other, access);
    if (equal)
      same = &other;
  }
  // Threads of one access may meet each other as well.
  if (access.write)
    compare(access, access);
  if (same)
    *same = std::move(access);
  else
    live.push_back(std::move(access));
}

std::vector<ThreadRaces::Piece> ThreadRaces::expand(const ThreadAccess &access) {
  std::vector<Piece> result;
  for (unsigned thread : access.threads.set_bits()) {
    int64_t at = access.offset.known ? access.offset.of(thread) : 0;
    for (auto [begin, size] : access.pieces)
      result.push_back({at + begin, at + begin + size, thread});
  }
  work += int64_t(result.size()) * 4;
  llvm::sort(result, [](const Piece &a, const Piece &b) {
    return std::tie(a.begin, a.thread) < std::tie(b.begin, b.thread);
  });
  return result;
}

void ThreadRaces::compare(const ThreadAccess &a, const ThreadAccess &b) {
  bool self = &a == &b;
  // Two operations of one engine, and the parts of one declared call, are not the threads'
  // business.
  if (a.declared && b.declared && a.op == b.op)
    return;
  if (self && a.engine)
    return;
  if (a.write && b.write && a.constant && a.constant == b.constant)
    return;
  for (auto [symbol, value] : a.conditions)
    if (llvm::is_contained(b.conditions, std::pair(symbol, !value)))
      return;
  auto open = [&](unsigned s, unsigned t, const std::vector<KnownTimes> &clock) {
    if (a.byLanes && b.byLanes && s % 4 != t % 4)
      return false;
    return self || !knows(clock, t, s, a);
  };
  // Of a copy that a warp's own thread has waited for, only this thread knows that it is over.
  auto lanes = [&](unsigned warp) {
    bool waited = a.completion == Completion::Bulk && a.end != kNever;
    return !b.engine && (!a.engine || waited) && (self || lanesOpen(a, warp));
  };
  bool anyWarps = false, anyLanes = false;
  for (unsigned s : a.warps.set_bits()) {
    for (unsigned t : b.warps.set_bits())
      anyWarps |= s != t && open(s, t, sure);
    anyLanes |= b.warps.test(s) && lanes(s);
  }
  if (!anyWarps && !anyLanes)
    return;
  // How far apart the two lie, beyond what each thread's number says.
  bool overlay = a.allocation != b.allocation;
  bool exact = !overlay && a.slot >= 0 && b.slot >= 0 && !a.undecided && !b.undecided &&
               !a.declared && !b.declared;
  int64_t low = 0, high = 0;
  bool bounded = !overlay && a.offset.known && b.offset.known;
  if (bounded) {
    ThreadNumber x = a.offset, y = b.offset;
    x.numbers = y.numbers = {0};
    ThreadNumber distance = values.add(y, x, -1);
    bounded = distance.known;
    for (const auto &term : distance.terms) {
      exact = false;
      auto range = values.range(term.symbol);
      if (!range || std::abs(term.scale) > (int64_t(1) << 30)) {
        bounded = false;
        break;
      }
      int64_t p = range->first * term.scale, q = range->second * term.scale;
      low += std::min(p, q);
      high += std::max(p, q);
    }
  }
  exact &= bounded;
  if (!bounded) // it may be anywhere
    low = -kNever, high = kNever;
  // Two conditions of which nothing says that they hold together.
  SmallVector<std::pair<int, bool>> both(a.conditions.begin(), a.conditions.end());
  for (auto condition : b.conditions)
    if (!llvm::is_contained(both, condition))
      both.push_back(condition);
  exact &= both.size() <= 1;

  std::vector<Piece> x = expand(a), y = expand(b);
  int64_t longest = 0;
  for (const Piece &piece : x)
    longest = std::max(longest, piece.end - piece.begin);
  const Piece *p = nullptr, *q = nullptr;
  bool certain = false;
  // What orders warps behind a wait orders their lanes: they are told of first.
  bool copy = a.completion == Completion::Bulk;
  int told = 0, most = copy && anyWarps ? 3 : 2;
  for (const Piece &mine : y) {
    auto it = std::lower_bound(x.begin(), x.end(), mine.begin + low - longest,
                               [](const Piece &piece, int64_t at) { return piece.begin < at; });
    for (; it != x.end() && it->begin < mine.end + high; ++it) {
      if (++work > kMostWork)
        return;
      if (it->end <= mine.begin + low || it->thread == mine.thread)
        continue;
      unsigned s = it->thread / 32, t = mine.thread / 32;
      bool sureOpen, surelyRaces;
      if (s == t) {
        sureOpen = surelyRaces = lanes(s);
      } else {
        sureOpen = open(s, t, sure);
        surelyRaces = open(s, t, maybe);
      }
      if (!sureOpen)
        continue;
      // Lanes of one warp: only what is certain is told.
      if (s == t && !exact)
        continue;
      if (int rank = surelyRaces ? 2 + (copy && s != t) : 1; rank > told) {
        p = &*it;
        q = &mine;
        certain = surelyRaces;
        told = rank;
      }
      if (told == most)
        break;
    }
    if (told == most)
      break;
  }
  if (p && certain && exact)
    return report(a, b, *p, *q);
  if (p)
    return assume(a, b);
  if (!self && (a.offset.sampled || b.offset.sampled))
    assume(a, b);
}

static std::string at(Operation *op) {
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    return std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
  return op->getName().getStringRef().str();
}

void ThreadRaces::assume(const ThreadAccess &a, const ThreadAccess &b) {
  bool overlay = a.allocation != b.allocation, calls = a.declared && b.declared;
  std::string buffer = "'" + nameOf(a.allocation) + "'" +
                       (overlay ? " and '" + nameOf(b.allocation) + "', which share memory," : "");
  // What a call without a body does is its author's word: one line for all of them.
  assume((calls ? "calls without a body leave each warp of '" : "warps of '") + task.source +
             (calls ? "' its own part of " : "' touch different parts of ") + buffer + " at " +
             at(a.op) + (a.op == b.op ? "" : " and at " + at(b.op)) +
             ", where no task barrier stands in between",
         a.op, b.op, calls ? -2 - a.allocation : a.allocation);
}

void ThreadRaces::assume(std::string what, Operation *first, Operation *second, int key) {
  if (!assumed.insert({key < -1 ? nullptr : second, key}).second)
    return;
  ::ts::schedule::ThreadFinding finding;
  finding.text = std::move(what);
  finding.first = place(first);
  finding.second = place(second);
  task.threads.push_back(std::move(finding));
}

/// Whether the numbers are those of the threads, and the threads those that come here.
static bool certain(const ThreadAccess &access, const ThreadNumber &number) {
  return number.plain() && !number.sampled && !access.undecided;
}

void ThreadRaces::tellOutside(const ThreadAccess &access, unsigned thread, std::string where,
                              std::string help) {
  if (!reported.insert({access.op, nullptr}).second)
    return;
  ::ts::schedule::ThreadFinding finding;
  finding.outside = true;
  finding.first = finding.second = place(access.op);
  finding.text = "thread " + std::to_string(thread) + " (warp " + std::to_string(thread / 32) +
                 " of '" + task.name + "') " + (access.write ? "writes" : "reads") + " '" +
                 nameOf(access.allocation) + "' " + std::move(where);
  finding.help = std::move(help);
  task.threads.push_back(std::move(finding));
}

void ThreadRaces::outside(const ThreadAccess &access, const ThreadNumber &index, size_t number,
                          int64_t extent) {
  if (!certain(access, index))
    return;
  for (unsigned thread : access.threads.set_bits()) {
    int64_t at = index.of(thread);
    if (at >= 0 && at < extent)
      continue;
    std::string last = std::to_string(extent - 1);
    return tellOutside(access, thread,
                       "at index " + std::to_string(at) + " of dimension " +
                           std::to_string(number) + ", where it has 0 to " + last +
                           ": something else lies there",
                       "keep the index at 0 to " + last +
                           ": end the loop there, give the task fewer threads, put the access "
                           "under an scf.if of the index, or make the buffer larger");
  }
}

void ThreadRaces::outside(const ThreadAccess &access, int64_t bits) {
  if (!certain(access, access.offset) || access.pieces.empty())
    return;
  int64_t first = access.pieces.front().first, past = first;
  for (auto [from, size] : access.pieces)
    past = std::max(past, from + size);
  for (unsigned thread : access.threads.set_bits()) {
    int64_t at = access.offset.of(thread);
    if (at + first >= 0 && at + past <= bits)
      continue;
    return tellOutside(access, thread,
                       "at bytes " + std::to_string((at + first) / 8) + " to " +
                           std::to_string((at + past) / 8 - 1) + ", where one stage has 0 to " +
                           std::to_string(bits / 8 - 1) + ": something else lies there",
                       "keep the offsets of the view and the indices inside of the buffer, let "
                       "fewer threads do this, or make the buffer larger");
  }
}

void ThreadRaces::arrivesAlone(const ThreadAccess &access, unsigned warp, Operation *at,
                               StringRef barrier) {
  if (!lanesOpen(access, warp) || !reported.insert({access.op, at}).second)
    return;
  std::string of = " of warp " + std::to_string(warp) + " of '" + task.name + "'",
              did = " of '" + nameOf(access.allocation) + "'";
  ::ts::schedule::ThreadFinding finding;
  finding.race = true;
  finding.first = place(access.op);
  finding.second = place(at);
  finding.firstText = std::string(access.write ? "write" : "read") + did + " by the lanes" + of;
  finding.secondText = "arrival of one lane" + of + ", for whoever waits for '" + barrier.str() +
                       "' and then touches the same buffer";
  finding.text = "one lane" + of + " arrives on '" + barrier.str() +
                 "' and nothing says that the other lanes have " +
                 (access.write ? "written '" : "read '") + nameOf(access.allocation) + "' by then";
  finding.help = "insert ts.warp_sync between the two, in front of the ts.elect";
  task.threads.push_back(std::move(finding));
}

void ThreadRaces::report(const ThreadAccess &a, const ThreadAccess &b, const Piece &p,
                         const Piece &q) {
  if (!reported.insert({a.op, b.op}).second)
    return;
  bool tmem = a.byLanes || b.byLanes;
  auto site = [&](const ThreadAccess &access, unsigned thread) {
    return std::string(access.write ? "write" : "read") + " of '" + nameOf(access.allocation) +
           "' by thread " + std::to_string(thread) + " (warp " + std::to_string(thread / 32) +
           " of '" + task.name + "')" +
           (access.completion != Completion::AtOnce ? ", in flight until its thread waits for it"
                                                    : "");
  };
  ::ts::schedule::ThreadFinding finding;
  finding.race = true;
  finding.first = place(a.op);
  finding.second = place(b.op);
  finding.firstText = site(a, p.thread);
  finding.secondText = site(b, q.thread);
  bool sameWarp = p.thread / 32 == q.thread / 32;
  bool waited = sameWarp && a.completion != Completion::AtOnce;
  finding.text = "threads " + std::to_string(p.thread) + " and " + std::to_string(q.thread) +
                 " of '" + task.name + "' touch " + (tmem ? "column " : "byte ") +
                 std::to_string(std::max(p.begin, q.begin) / (tmem ? 32 : 8)) + " of '" +
                 nameOf(a.allocation) + "' and " +
                 (waited ? "no ts.warp_sync tells the second that the first has waited for its copy"
                         : "nothing in the task orders them");
  finding.help =
      &a == &b   ? "let the threads write different parts, or one of them write"
      : waited   ? "insert ts.warp_sync behind the wait for the copy"
      : sameWarp ? "insert ts.warp_sync between the two"
                 : "insert ts.barrier_sync on a named barrier of the task's " +
                       std::to_string(warpCount * 32) + " threads between the two" +
                       (a.completion != Completion::AtOnce ? ", after the wait for the first" : "");
  task.threads.push_back(std::move(finding));
}
