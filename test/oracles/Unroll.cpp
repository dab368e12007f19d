// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One agent after the other, for one choice: what each event appends, and the whole program.
#include "AgentWriter.h"

namespace ts::oracle {

void AgentWriter::event(StepId id, const Event &e) {
  using K = EventKind;
  switch (e.kind) {
  case K::TryAcquire:
    return ring(e, protocol::Op::TryAcquire);
  case K::Acquire:
    return ring(e, protocol::Op::Acquire);
  case K::Commit:
    return ring(e, protocol::Op::Commit);
  case K::TryWait:
    return ring(e, protocol::Op::TryWait);
  case K::Wait:
    return ring(e, protocol::Op::Wait);
  case K::Release:
    return ring(e, protocol::Op::Release);
  case K::FetchTile:
    if (rings.isRing(e.resource))
      fetch(e);
    return;
  case K::NextTile:
    if (!rings.isRing(e.resource))
      return;
    rings.perform(w, e.resource, protocol::Op::Wait);
    return rings.perform(w, e.resource, protocol::Op::Release);
  case K::Produce:
  case K::Consume:
    return work(id, e);
  case K::Access:
    return accesses(id, e, e.accesses, false);
  case K::WgmmaCommit:
    return group(OpKind::GroupCommit, GroupWgmma);
  case K::WgmmaWait:
    return group(OpKind::GroupWait, GroupWgmma, e.pending);
  case K::BulkCommit:
    return group(OpKind::GroupCommit, GroupBulk);
  case K::BulkWait:
    return group(OpKind::GroupWait, GroupBulk, e.pending);
  case K::CpAsyncCommit:
    return group(OpKind::GroupCommit, GroupCpAsync);
  case K::CpAsyncWait:
    return group(OpKind::GroupWait, GroupCpAsync, e.pending);
  case K::TmemWait:
    return group(OpKind::Close, heldTmem);
  case K::GridDepWait:
  case K::GridDepLaunch: {
    Micro op;
    op.kind = e.kind == K::GridDepWait ? OpKind::PdlWait : OpKind::PdlLaunch;
    return add(op);
  }
  case K::BarrierSync:
  case K::BarrierArrive:
    return named(namedBarrier(e.resource, 0), 32 * w.warps, times[{e.resource, 0}]++, true,
                 e.kind == K::BarrierSync);
  case K::Take:
  case K::Pass:
    return baton(e);
  case K::WarpSync:
  case K::Fence:
    return;
  case K::MbarrierArrive:
    return handArrive(e);
  case K::MbarrierWait:
    return handWait(e);
  case K::ClusterSync:
    return clusterSync();
  }
}

int AgentWriter::namedBarrier(int resource, int holder) {
  const Resource &r = kernel.resources[size_t(resource)];
  std::string name = r.name + "#" + std::to_string(holder) + "@" + std::to_string(w.cta);
  for (size_t b = 0; b < program.barriers.size(); ++b)
    if (program.barriers[b].name == name)
      return int(b);
  int64_t pair = 64 * w.warps;
  bool isBaton = r.kind == ResourceKind::Baton;
  program.barriers.push_back({name, w.cta, isBaton ? pair : std::max<int64_t>(r.count, 1), true,
                              isBaton && holder == r.first ? pair / 2 : 0});
  return int(program.barriers.size() - 1);
}

void AgentWriter::baton(const Event &e) {
  const Resource &r = kernel.resources[size_t(e.resource)];
  if (r.holders < 2)
    return fail("a baton with one holder");
  int me = task.replica;
  int to = e.kind == EventKind::Take ? me : int((me + 1) % r.holders);
  int64_t gen = times[{e.resource, 1 + (e.kind == EventKind::Pass)}]++;
  if (e.kind == EventKind::Pass && to == r.first)
    ++gen;
  named(namedBarrier(e.resource, to), 32 * w.warps, gen, true, e.kind == EventKind::Take);
}

namespace {

/// Copies without a byte number bring what their phase still lacks.
void completeBytes(Program &program) {
  std::map<std::pair<int, int64_t>, int64_t> missing;
  for (const Agent &agent : program.agents)
    for (const Micro &op : agent.ops) {
      if (op.kind == OpKind::Arrive && op.bytes)
        missing[{op.barrier, op.gen}] += op.bytes;
      if (op.kind == OpKind::Copy)
        for (const Target &target : op.targets)
          if (target.bytes > 0)
            missing[{target.barrier, target.gen}] -= target.bytes;
    }
  for (Agent &agent : program.agents)
    for (Micro &op : agent.ops)
      for (Target &target : op.targets)
        if (target.bytes < 0) {
          int64_t &rest = missing[{target.barrier, target.gen}];
          target.bytes = std::max<int64_t>(rest, 0);
          rest -= target.bytes;
        }
}

void build(const Kernel &kernel, const std::vector<Place> &places, const Choice &choice,
           Program &program, Rings &rings) {
  for (size_t t = 0; t < kernel.tasks.size(); ++t) {
    const Task &task = kernel.tasks[t];
    bool split = rings.splitsWarps(task);
    for (int cta = 0; cta < program.ctas; ++cta) {
      if (task.onlyCta && *task.onlyCta != cta)
        continue;
      for (int64_t warp = 0; warp < (split ? task.warps : 1); ++warp) {
        Writer writer;
        writer.agent = int(program.agents.size());
        writer.task = int(t);
        writer.cta = cta;
        writer.warp = int(warp);
        writer.warps = split ? 1 : task.warps;
        writer.splitWarps = split;
        std::string name = task.name;
        if (split)
          name += "." + std::to_string(warp);
        if (program.ctas > 1)
          name += "@" + std::to_string(cta);
        program.agents.push_back({name, int(t), cta, {}});
        AgentWriter(kernel, choice, program, rings, places, writer).run();
      }
    }
  }
  completeBytes(program);
  program.imbalanced = rings.imbalanced();
}

} // namespace

Program unroll(const Kernel &kernel, const std::vector<Place> &places, const Choice &choice) {
  Program program;
  Rings rings(kernel, program);
  if (places.size() < kernel.allocations.size())
    program.unsupported = "an allocation without a place";
  else
    build(kernel, places, choice, program, rings);
  rings.finish();
  finishHandBarriers(program);
  return program;
}

void inferCounts(Kernel &kernel, const Choice &choice) {
  Program program;
  Rings rings(kernel, program);
  build(kernel, std::vector<Place>(kernel.allocations.size()), choice, program, rings);
  for (size_t r = 0; r < kernel.resources.size(); ++r) {
    auto &pipeline = kernel.resources[r].pipeline;
    if (!pipeline || kernel.resources[r].kind == ResourceKind::Group)
      continue;
    for (bool full : {true, false}) {
      // What a group shares is the group's to count.
      if (rings.shares(int(r), full))
        continue;
      auto &count = full ? pipeline->producerCount : pipeline->consumerCount;
      if (int64_t n = rings.inferred(int(r), full); n && !count)
        count = n;
    }
  }
}

std::string Choice::str() const {
  std::string text = "tiles=" + std::to_string(tiles);
  for (auto &[name, n] : args)
    text += " " + name + "=" + std::to_string(n);
  for (auto &[name, list] : perTile) {
    text += " " + name + "=[";
    for (size_t i = 0; i < list.size(); ++i)
      text += (i ? "," : "") + std::to_string(list[i]);
    text += "]";
  }
  auto bits = [&](const std::string &name, const std::vector<bool> &list) {
    text += " " + name + "=";
    for (bool b : list)
      text += b ? '1' : '0';
  };
  for (auto &[name, list] : conditions)
    bits(name, list);
  if (!skipped.empty())
    bits("skipped", skipped);
  return text;
}

} // namespace ts::oracle
