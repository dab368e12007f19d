// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and the tensor prefetch: tiles between global
// and shared memory by tensor maps. Source: PTX ISA, "Tensor copy". SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "TensorTile.h"

namespace ts::emu {
namespace {

class TensorLoad final : public LoadOp {
public:
  TensorLoad(SharedPlace to, SharedPlace barrier, std::shared_ptr<const TensorTile> tile,
             uint32_t site)
      : LoadOp(to, barrier, tile->sharedBytes() / 16, tile->chunkTx(), site),
        tile(std::move(tile)) {}

  void move(uint32_t begin, uint32_t end) override {
    uint8_t row[TensorTile::maxRowBytes];
    uint32_t bytes = tile->rowBytes(), perRow = bytes / 16;
    for (uint32_t r = begin / perRow; r * perRow < end; ++r) {
      uint32_t from = std::max(begin, r * perRow) - r * perRow;
      uint32_t last = std::min(end, (r + 1) * perRow) - r * perRow;
      tile->load(r, row);
      if (tile->plain()) {
        memcpy(to.bytes + size_t(r) * bytes + size_t(from) * 16, row + size_t(from) * 16,
               size_t(last - from) * 16);
        continue;
      }
      for (uint32_t c = from; c < last; ++c) {
        uint32_t at = tile->swizzled(to.offset, r * bytes + c * 16);
        uint8_t *chunk = to.cta->shared.data() + (at & ~15u);
        bool flip = at & 8;
        memcpy(chunk + (flip ? 8 : 0), row + size_t(c) * 16, 8);
        memcpy(chunk + (flip ? 0 : 8), row + size_t(c) * 16 + 8, 8);
      }
    }
  }

private:
  std::shared_ptr<const TensorTile> tile;
};

class TensorStore final : public StoreOp {
public:
  TensorStore(SharedPlace from, std::shared_ptr<const TensorTile> tile,
              std::optional<std::pair<Reduction, ReduceType>> reducing, GlobalMemory &global)

      : StoreOp(from, tile->sharedBytes()), tile(std::move(tile)), reducing(reducing),
        global(global) {}

  void read(uint32_t begin, uint32_t end) override {
    for (uint32_t at = begin; at < end; at += 16)
      memcpy(data.data() + at, from.cta->shared.data() + tile->swizzled(from.offset, at), 16);
  }
  void write(unsigned half) override {
    uint32_t middle = tile->rows() / 2;
    uint32_t begin = half ? middle : 0, end = half ? tile->rows() : middle;
    std::unique_lock lock(global.atomics, std::defer_lock);
    if (reducing)
      lock.lock();
    for (uint32_t r = begin; r < end; ++r) {
      const uint8_t *row = data.data() + size_t(r) * tile->rowBytes();
      if (reducing)
        tile->reduce(r, row, reducing->first, reducing->second);
      else
        tile->store(r, row);
    }
  }

private:
  std::shared_ptr<const TensorTile> tile;
  std::optional<std::pair<Reduction, ReduceType>> reducing;
  GlobalMemory &global;
};

/// What a reduction takes an element type for; bit operations do not mind signs.
ReduceType reduceTypeOf(const TensorMap &map, Reduction op, const char *what) {
  constexpr int none = -1;
  constexpr int types[] = {none,
                           none,
                           int(ReduceType::U32),
                           int(ReduceType::S32),
                           int(ReduceType::U64),
                           int(ReduceType::S64),
                           int(ReduceType::F16),
                           int(ReduceType::F32),
                           int(ReduceType::F32Ftz),
                           none,
                           int(ReduceType::BF16),
                           none,
                           none,
                           none,
                           none,
                           none};
  int type = map.elementType < std::size(types) ? types[map.elementType] : none;
  if (op >= Reduction::And && type >= int(ReduceType::U32) && type <= int(ReduceType::S64))
    type = int(type <= int(ReduceType::S32) ? ReduceType::B32 : ReduceType::B64);
  if (type == none || !reduceAllowed(op, ReduceType(type), false))
    fault(FaultKind::Descriptor, "%s: there is no reduction .%s of elements of type %s", what,
          reductionNames[size_t(op)], elementTypeName(map.elementType));
  return ReduceType(type);
}

struct TensorCopy {
  enum class Way { Load, Store, Prefetch } way = Way::Load;
  unsigned rank = 1;
  bool fourRows = false, multicast = false, pair = false;
  Space toSpace = Space::SharedCluster;
  std::optional<Reduction> reduction;
  AddressOperand map, shared, barrier;
  std::vector<Src> coordinates;
  Src mask;
  const char *what = "cp.async.bulk.tensor";

  Step operator()(Exec &x) const {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        issue(x, lane);
    return Step::Next;
  }

  void issue(Exec &x, unsigned lane) const {
    TensorMap read;
    memcpy(static_cast<void *>(&read),
           resolveGlobal(x.machine, map.lane(x, lane), 128, 64, false, "the tensor map of a copy"),
           sizeof read);
    if (read.magic == TensorMap::expectedMagic && read.rank != rank)
      fault(FaultKind::Descriptor, "%s: the instruction has %u dimensions, the tensor map %u", what,
            rank, read.rank);
    int32_t at[5] = {};
    for (size_t i = 0; i < coordinates.size(); ++i)
      at[i] = int32_t(uint32_t(coordinates[i].lane(x, lane)));
    auto tile = std::make_shared<const TensorTile>(x.machine, read, at, fourRows ? at + 1 : nullptr,
                                                   way == Way::Store, what);
    if (x.machine.ordersGrids() && way != Way::Prefetch)
      for (uint32_t row = 0; row < tile->rows(); ++row)
        if (auto [address, bytes] = tile->rowBytesAt(row); bytes)
          tellGlobal(x, address, bytes,
                     way == Way::Load ? AccessKind::Read
                     : reduction      ? AccessKind::Atomic
                                      : AccessKind::Write);
    if (way == Way::Load)
      load(x, lane, tile);
    else if (way == Way::Store)
      store(x, lane, read, std::move(tile));
  }

  void load(Exec &x, unsigned lane, const std::shared_ptr<const TensorTile> &tile) const {
    uint32_t bytes = tile->sharedBytes();
    SharedPlace place = resolveShared(x, toSpace, shared.lane(x, lane), bytes, 128, what);
    SharedPlace signal = resolveShared(x, toSpace, barrier.lane(x, lane), 8, 8, what);
    std::vector<unsigned> ranks{place.cta->rank};
    if (multicast)
      ranks = multicastRanks(x, mask.lane(x, lane), what);
    else if (pair ? place.cta->rank / 2 != signal.cta->rank / 2
                  : place.cta->rank != signal.cta->rank)
      fault(FaultKind::BarrierState,
            "%s writes to CTA %u, but its mbarrier is in CTA %u; expected %s", what,
            place.cta->rank, signal.cta->rank,
            pair ? "one of the same pair" : "the same one (or .cta_group::2 and the pair's other)");
    unsigned parity = signal.cta->rank % 2;
    for (unsigned rank : ranks) {
      if (multicast) {
        place = sameOffset(x, place, rank);
        signal = sameOffset(x, signal, pair ? rank / 2 * 2 + parity : rank);
      }
      mbarrierFor(x.warp, *signal.cta, signal.offset, what);
      auto op = std::make_unique<TensorLoad>(place, signal, tile, x.siteId());
      ChannelKey channel = loadChannel(x.warp, signal);
      prepare(*op, x, lane, channel);
      footprint(x, *op, AccessKind::Write, Proxy::Async, place, bytes);
      x.cluster.engines->issue(channel, false, std::move(op));
    }
  }

  void store(Exec &x, unsigned lane, const TensorMap &read,
             std::shared_ptr<const TensorTile> tile) const {
    uint32_t bytes = tile->sharedBytes();
    SharedPlace place = resolveShared(x, Space::SharedCta, shared.lane(x, lane), bytes, 128, what);
    std::optional<std::pair<Reduction, ReduceType>> reducing;
    if (reduction)
      reducing = {*reduction, reduceTypeOf(read, *reduction, what)};
    auto op = std::make_unique<TensorStore>(place, std::move(tile), reducing, *x.machine.global);
    prepare(*op, x, lane, storeChannel(x.warp));
    op->join(bulkGroups(x.warp).open(1u << lane));
    footprint(x, *op, AccessKind::Read, Proxy::Async, place, bytes);
    x.cluster.engines->issue(storeChannel(x.warp), false, std::move(op));
  }
};

} // namespace

std::unique_ptr<Op> decodeTensorCopy(Decode &d) {
  TensorCopy op;
  bool reduces = d.inst.parts[1] == "reduce";
  bool prefetches = d.inst.parts[3] == "prefetch";
  op.way = prefetches ? TensorCopy::Way::Prefetch : TensorCopy::Way::Load;
  if (reduces)
    op.what = "cp.reduce.async.bulk.tensor";
  if (prefetches)
    op.what = "cp.async.bulk.prefetch.tensor";
  // ptxas takes the modifiers in any order.
  bool hint = false, completes = false, grouped = false, dim = false;
  int to = -1, from = -1;
  while (d.more()) {
    if (!dim)
      if (int rank = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"}); rank >= 0) {
        dim = true;
        op.rank = unsigned(rank) + 1;
        continue;
      }
    if (std::string_view(d.peek()).rfind("im2col", 0) == 0)
      d.refuse("%s", im2colNote);
    if (to < 0 && (to = d.takeOneOf({"global", "shared::cta", "shared::cluster", "L2"})) >= 0) {
      from = d.takeOneOf({"global", "shared::cta"});
    } else if (reduces && !op.reduction) {
      int which = d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
      if (which < 0)
        d.refuse("expected a reduction (.add, .min, ...)");
      op.reduction = Reduction(which);
    } else if (d.take("tile")) {
    } else if (!reduces && (d.take("tile::gather4") || d.take("tile::scatter4"))) {
      op.fourRows = true;
    } else if (!completes && (d.take("mbarrier::complete_tx::bytes") || d.take("bulk_group"))) {
      completes = true;
    } else if (!op.multicast && to == 2 && d.take("multicast::cluster")) {
      op.multicast = true;
    } else if (!grouped && !prefetches && (d.take("cta_group::1") || d.take("cta_group::2"))) {
      grouped = true;
    } else if (!hint && d.take("L2::cache_hint")) {
      hint = true;
    } else {
      break;
    }
  }
  d.end();
  auto has = [&](const char *part) {
    const std::vector<std::string> &parts = d.inst.parts;
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  op.pair = has("cta_group::2");
  bool stores = to == 0;
  if (!dim || to < 0 || from != (stores ? 1 : 0) || (to == 3) != prefetches || (reduces && !stores))
    d.refuse("expected dimensions and a direction: .shared::cta.global, .shared::cluster.global or "
             ".global.shared::cta");
  if (stores)
    op.way = TensorCopy::Way::Store;
  if (!prefetches && !has(stores ? "bulk_group" : "mbarrier::complete_tx::bytes"))
    d.refuse("expected .%s", stores ? "bulk_group" : "mbarrier::complete_tx::bytes");
  if ((prefetches && completes) || (stores && grouped) ||
      (op.fourRows && (op.rank != 2 || has("tile::gather4") == stores)))
    d.refuse("these modifiers do not go together");
  op.toSpace = to == 1 ? Space::SharedCta : Space::SharedCluster;
  size_t n = 1 + !prefetches + (!prefetches && !stores) + op.multicast + hint;
  d.needOperands(n, n);
  const ptx::Operand &tensor = d.operand(stores || prefetches ? 0 : 1);
  op.map = d.address(tensor);
  if (tensor.items.size() != 2)
    d.refuse("expected [map, {coordinates}]");
  op.coordinates = d.sources(tensor.items[1], ptx::Type::S32);
  if (op.coordinates.size() != (op.fourRows ? 5 : op.rank))
    d.refuse("%zu coordinates; expected %u", op.coordinates.size(), op.fourRows ? 5 : op.rank);
  if (stores)
    op.shared = d.address(1);
  if (op.way == TensorCopy::Way::Load) {
    op.shared = d.address(0);
    op.barrier = d.address(2);
  }
  if (op.multicast)
    op.mask = d.src(3, ptx::Type::B16);
  return makeOp(op);
}

} // namespace ts::emu
