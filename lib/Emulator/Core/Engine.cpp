// The queues of asynchronous operations. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Engine.h"

#include "Exec.h"
#include "Random.h"

#include <bit>

namespace ts::emu {
namespace {
struct Item {
  std::unique_ptr<AsyncOp> op;
  std::vector<bool> done; // by piece
  unsigned left = 0;
};
struct Channel {
  ChannelKey key;
  bool ordered = false;
  std::deque<Item> items;
};
} // namespace

const char *engineName(EngineKind kind) {
  switch (kind) {
  case EngineKind::TmaLoad:
    return "TMA load";
  case EngineKind::BulkStore:
    return "bulk store";
  case EngineKind::CpAsync:
    return "cp.async";
  case EngineKind::Wgmma:
    return "wgmma";
  case EngineKind::Tcgen05:
    return "tcgen05";
  case EngineKind::Tcgen05Arrival:
    return "tcgen05.commit";
  case EngineKind::TmemLoad:
    return "tcgen05.ld";
  case EngineKind::TmemStore:
    return "tcgen05.st";
  case EngineKind::Clc:
    return "cluster launch control";
  case EngineKind::AsyncStore:
    return "asynchronous store";
  }
  return "";
}

struct Engines::Impl {
  Cluster &cluster;
  std::deque<Channel> channels; // operations issue others while one is being finished
  size_t unfinished = 0;

  Channel &channel(const ChannelKey &key, bool ordered) {
    for (Channel &c : channels)
      if (c.key == key)
        return c;
    channels.push_back({key, ordered, {}});
    return channels.back();
  }
};

Engines::Engines(Cluster &cluster) : impl(new Impl{cluster, {}, 0}) {}
Engines::~Engines() = default;

void Engines::issue(ChannelKey key, bool ordered, std::unique_ptr<AsyncOp> op) {
  Item item;
  item.left = std::max(1u, op->pieces());
  item.done.assign(item.left, false);
  item.op = std::move(op);
  Channel &channel = impl->channel(key, ordered);
  channel.ordered |= ordered;
  channel.items.push_back(std::move(item));
  ++impl->unfinished;
}

bool Engines::idle() const { return impl->unfinished == 0; }

unsigned Engines::outstanding(ChannelKey key) const {
  for (const Channel &c : impl->channels)
    if (c.key == key)
      return unsigned(c.items.size());
  return 0;
}

void Engines::choices(std::vector<Choice> &out, uint64_t *random) const {
  out.clear();
  for (uint32_t c = 0; c < impl->channels.size(); ++c) {
    const Channel &channel = impl->channels[c];
    if (channel.items.empty())
      continue;
    size_t candidates = channel.ordered ? 1 : channel.items.size();
    // Arrivals of commits that were held back: the newest goes first, so that older ones are late.
    size_t start = channel.key.kind == EngineKind::Tcgen05Arrival ? candidates - 1 : 0;
    if (random && candidates > 1)
      start = nextRandom(*random) % candidates;
    for (size_t k = 0; k < candidates; ++k) {
      size_t i = (start + k) % candidates;
      const Item &item = channel.items[i];
      if (!item.op->ready())
        continue;
      size_t first = random ? nextRandom(*random) % item.done.size() : 0;
      while (item.done[first])
        first = (first + 1) % item.done.size();
      out.push_back({c, uint32_t(i), uint32_t(first)});
      break;
    }
  }
}

void Engines::step(Choice choice) {
  Channel &channel = impl->channels[choice.channel];
  Item &item = channel.items[choice.position];
  item.op->perform(choice.piece);
  item.done[choice.piece] = true;
  if (--item.left)
    return;
  std::unique_ptr<AsyncOp> op = std::move(item.op);
  channel.items.erase(channel.items.begin() + std::ptrdiff_t(choice.position));
  --impl->unfinished;
  op->finish();
  impl->cluster.changed();
}

const AsyncOp *Engines::peek(Choice choice) const {
  return impl->channels[choice.channel].items[choice.position].op.get();
}

const ChannelKey &Engines::key(uint32_t channel) const { return impl->channels[channel].key; }
unsigned Engines::numChannels() const { return unsigned(impl->channels.size()); }

std::vector<Note> Engines::describe() const {
  std::vector<Note> notes;
  for (const Channel &channel : impl->channels)
    for (const Item &item : channel.items) {
      Note note;
      note.site.engine = engineName(channel.key.kind);
      if (item.op->code) {
        note.site.ptxLine = item.op->code->loc.ptxLine;
        note.site.instruction = item.op->code->source->opcode;
      }
      if (item.op->warp) {
        note.site.warp = int32_t(item.op->warp->index);
        note.site.ctaRank = item.op->warp->cta->rank;
      }
      note.text = format("%s: %zu of %zu pieces done", engineName(channel.key.kind),
                         item.done.size() - item.left, item.done.size());
      if (notes.size() < 32)
        notes.push_back(std::move(note));
    }
  return notes;
}

} // namespace ts::emu
