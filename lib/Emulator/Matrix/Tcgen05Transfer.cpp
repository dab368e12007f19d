// tcgen05.ld, st and wait: between registers and tensor memory. Data moves when the engine comes to
// it: registers of a load belong to it until tcgen05.wait::ld, tensor memory of a store is written
// some time before tcgen05.wait::st. Loads and stores of one warp take place in order (PTX ISA,
// "Pipelined tcgen05 instructions", 11 to 13). Which cell goes to which register of which lane:
// PTX ISA, "Data Movement Shape"; the figures agree with the copy traits of CUTLASS (C++).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05.h"

namespace ts::emu::tcgen05 {
namespace {

enum class Shape : uint8_t { S32x32b, S16x64b, S16x128b, S16x256b, S16x32bx2 };
constexpr const char *loadName = "tcgen05.ld";

struct Form {
  Shape shape = Shape::S32x32b;
  unsigned repeats = 1;
  bool pack = false;       // two 16-bit columns per register
  unsigned halfOffset = 0; // 16x32bx2: columns between the two halves
  unsigned registersPerRepeat() const {
    return shape == Shape::S16x128b ? 2 : shape == Shape::S16x256b ? 4 : 1;
  }
  unsigned columnsPerRepeat() const { // in units of registers
    switch (shape) {
    case Shape::S16x64b:
      return 2;
    case Shape::S16x128b:
      return 4;
    case Shape::S16x256b:
      return 8;
    default:
      return 1;
    }
  }
  unsigned registers() const { return registersPerRepeat() * repeats; }
  unsigned lanes() const { return shape == Shape::S32x32b ? 32 : 16; }
  /// Columns of one contiguous access.
  unsigned columns() const { return columnsPerRepeat() * repeats * (pack ? 2 : 1); }
  bool inHalves() const { return shape == Shape::S16x32bx2; }

  /// Lane and column, counted from the address, of a register of a thread.
  TmemAddress cell(unsigned thread, unsigned reg) const {
    unsigned scale = pack ? 2 : 1;
    unsigned repeat = reg / registersPerRepeat(), part = reg % registersPerRepeat();
    switch (shape) {
    case Shape::S32x32b:
      return {thread, repeat * scale};
    case Shape::S16x64b:
      return {thread / 4 + thread % 2 * 8, (repeat * 2 + thread / 2 % 2) * scale};
    case Shape::S16x128b:
      return {thread / 4 + part * 8, (repeat * 4 + thread % 4) * scale};
    case Shape::S16x256b:
      return {thread / 4 + part / 2 * 8, (repeat * 8 + thread % 4 * 2 + part % 2) * scale};
    case Shape::S16x32bx2:
      break;
    }
    return {thread % 16, repeat * scale + (thread >= 16 ? halfOffset : 0)};
  }
};

TmemAddress checkPlace(Exec &x, const Form &form, uint64_t address, const char *what) {
  TmemAddress at = tmemAddress(address);
  unsigned first = x.warp.index % 4 * 32;
  bool ownLanes = at.lane == first || (form.lanes() == 16 && at.lane == first + 16);
  if (!ownLanes)
    fault(
        FaultKind::TensorMemory,
        "%s of warp %u takes the lanes from %u on; warp %u of a warpgroup reaches the lanes %u to "
        "%u only, expected lane %u%s in bits 16 to 31 of the address",
        what, x.warp.index, at.lane, x.warp.index % 4, first, first + 31, first,
        form.lanes() == 16 ? format(" or %u", first + 16).c_str() : "");
  checkColumns(x.cta, at.column, form.columns(), 0, what);
  if (form.inHalves())
    checkColumns(x.cta, at.column + form.halfOffset, form.columns(), 0, what);
  return at;
}

class TransferOp : public AsyncOp {
public:
  TransferOp(Exec &x, const Form &form, TmemAddress at)
      : form(form), at(at), number(x.warp.tmemIssued++) {
    code = &x.code;
    warp = &x.warp;
    mask = x.mask;
  }
  bool ready() const override { return warp->tmemDone == number; }
  void finish() override { ++warp->tmemDone; }

protected:
  uint32_t &cellOf(TmemAddress offset, unsigned next = 0) {
    return warp->cta->tmem.cell(at.lane + offset.lane, at.column + offset.column + next);
  }
  Form form;
  TmemAddress at;
  uint64_t number;
  uint32_t mask;
};

class LoadOp final : public TransferOp {
public:
  LoadOp(Exec &x, const Form &form, TmemAddress at, std::vector<Dst> to)
      : TransferOp(x, form, at), frame(x.split.frame), to(std::move(to)) {}
  void perform(unsigned) override {
    for (unsigned r = 0; r < to.size(); ++r) {
      if (to[r].sink)
        continue;
      uint64_t *lanes = frame->regs.data() + size_t(to[r].reg) * warpSize;
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        if (!(mask >> lane & 1))
          continue;
        TmemAddress offset = form.cell(lane, r);
        uint32_t value = cellOf(offset);
        if (form.pack)
          value = (value & 0xffff) | cellOf(offset, 1) << 16;
        lanes[lane] = value;
      }
    }
  }

private:
  std::shared_ptr<Frame> frame;
  std::vector<Dst> to;
};

class StoreOp final : public TransferOp {
public:
  StoreOp(Exec &x, const Form &form, TmemAddress at, std::vector<uint32_t> values)
      : TransferOp(x, form, at), values(std::move(values)) {}
  void perform(unsigned) override {
    for (unsigned r = 0; r < form.registers(); ++r)
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        if (!(mask >> lane & 1))
          continue;
        TmemAddress offset = form.cell(lane, r);
        uint32_t value = values[r * warpSize + lane];
        if (form.pack) {
          cellOf(offset) = value & 0xffff;
          cellOf(offset, 1) = value >> 16;
        } else {
          cellOf(offset) = value;
        }
      }
  }

private:
  std::vector<uint32_t> values;
};

AgentId transferAgent(Exec &x, EngineKind kind) {
  return x.cluster.checker->channelAgent(uint32_t(kind), x.warp.agent, 0, engineName(kind));
}

/// Tells the checker; both directions know the warp's loads and stores before.
Event tell(Exec &x, const Form &form, TmemAddress at, EngineKind kind, UndefinedRead &undefined) {
  Checker &checker = *x.cluster.checker;
  Clock known = x.clock();
  for (EngineKind before : {EngineKind::TmemLoad, EngineKind::TmemStore}) {
    Event last = checker.lastEvent(transferAgent(x, before));
    known.order.learn(last);
    known.tensor.learn(last);
  }
  Event event = checker.newEvent(transferAgent(x, kind));
  Access access{kind == EngineKind::TmemLoad ? AccessKind::Read : AccessKind::Write, Proxy::Tensor,
                event, &known, x.siteId()};
  if (kind == EngineKind::TmemLoad)
    access.undefined = &undefined;
  checker.tmem(access, {x.cta.rank, at.lane, form.lanes(), at.column, form.columns()});
  if (form.inHalves())
    checker.tmem(access,
                 {x.cta.rank, at.lane, form.lanes(), at.column + form.halfOffset, form.columns()});
  return event;
}

struct Transfer {
  Form form;
  bool isLoad;
  AddressOperand address;
  std::vector<Dst> to;
  std::vector<Src> from;

  /// The registers that get undefined cells: what the engine brings later is known by now.
  void markLoad(Exec &x, TmemAddress at, const UndefinedRead &read) const {
    uint32_t origin = undefinedOrigin(x, read);
    const Checker &checker = *x.cluster.checker;
    for (unsigned r = 0; r < to.size(); ++r) {
      uint32_t lanes = 0;
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        TmemAddress cell = form.cell(lane, r);
        for (unsigned c = 0; c < (form.pack ? 2u : 1u); ++c)
          if (!checker.defined(x.cta.rank, at.lane + cell.lane, at.column + cell.column + c))
            lanes |= 1u << lane;
      }
      if (!to[r].sink)
        setUndefined(x, to[r].reg, lanes, origin);
    }
  }

  void markStore(Exec &x, TmemAddress at) const {
    for (unsigned r = 0; r < from.size(); ++r) {
      uint32_t lanes = from[r].kind == Src::Kind::Reg ? undefinedLanes(x, from[r].reg) : 0;
      for (unsigned lane = 0; lanes && lane < warpSize; ++lane) {
        TmemAddress cell = form.cell(lane, r);
        if (lanes >> lane & 1)
          x.cluster.checker->spoil(TmemRange{x.cta.rank, at.lane + cell.lane, 1,
                                             at.column + cell.column, form.pack ? 2u : 1u});
      }
    }
  }

  Step operator()(Exec &x) const {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    const char *what = isLoad ? loadName : "tcgen05.st";
    TmemAddress at = checkPlace(x, form, uniform(x, address, "the address in tensor memory"), what);
    EngineKind kind = isLoad ? EngineKind::TmemLoad : EngineKind::TmemStore;
    std::unique_ptr<AsyncOp> op;
    if (isLoad) {
      Frame &frame = *x.split.frame;
      for (const Dst &dst : to)
        if (!dst.sink)
          frame.inFlight[dst.reg] = loadName;
      frame.numInFlight = uint32_t(frame.inFlight.size());
      op = std::make_unique<LoadOp>(x, form, at, to);
    } else {
      std::vector<uint32_t> values(from.size() * warpSize);
      uint64_t scratch[warpSize];
      for (size_t r = 0; r < from.size(); ++r) {
        const uint64_t *lanes = from[r].lanes(x, scratch);
        for (unsigned lane = 0; lane < warpSize; ++lane)
          values[r * warpSize + lane] = uint32_t(lanes[lane]);
      }
      op = std::make_unique<StoreOp>(x, form, at, std::move(values));
    }
    UndefinedRead undefined;
    op->event = tell(x, form, at, kind, undefined);
    if (!undefined.what.empty()) [[unlikely]]
      markLoad(x, at, undefined);
    if (!isLoad && x.split.frame->undefined.count) [[unlikely]]
      markStore(x, at);
    x.cluster.engines->issue({kind, x.warp.agent, 0}, true, std::move(op));
    x.cluster.changed();
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeTransfer(Decode &d) {
  Transfer op{};
  op.isLoad = d.inst.parts[1] == "ld";
  d.need("sync");
  d.need("aligned");
  int shape = d.takeOneOf({"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
  if (shape < 0)
    d.refuse("expected the shape .32x32b, .16x64b, .16x128b, .16x256b or .16x32bx2");
  op.form.shape = Shape(shape);
  int repeats = d.takeOneOf({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  if (repeats < 0)
    d.refuse("expected a repeat factor, .x1 to .x128");
  op.form.repeats = 1u << repeats;
  op.form.pack = d.take(op.isLoad ? "pack::16b" : "unpack::16b");
  d.need("b32");
  d.end();
  if (op.form.registers() > 128)
    d.refuse("the shape has no repeat factor .x%u", op.form.repeats);
  size_t extra = op.form.inHalves() ? 1 : 0;
  d.needOperands(2 + extra, 2 + extra);
  op.address = d.address(op.isLoad ? 1 : 0);
  if (extra)
    op.form.halfOffset = unsigned(d.immediate(op.isLoad ? 2 : 1));
  size_t count = 0;
  if (op.isLoad) {
    op.to = d.destinations(d.operand(0));
    count = op.to.size();
  } else {
    op.from = d.sources(d.operand(1 + extra), ptx::Type::B32);
    count = op.from.size();
  }
  if (count != op.form.registers())
    d.refuse("expected %u registers, found %zu", op.form.registers(), count);
  return makeOp(std::move(op));
}

/// The registers of the loads are the program's again.
void land(Frame &frame) {
  std::erase_if(frame.inFlight, [](const auto &entry) { return entry.second == loadName; });
  frame.numInFlight = uint32_t(frame.inFlight.size());
}

std::unique_ptr<Op> decodeWait(Decode &d) {
  bool loads = d.inst.parts[1] == "wait::ld";
  d.need("sync");
  d.need("aligned");
  d.end();
  d.needOperands(0, 0);
  return makeOp([loads](Exec &x) {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    EngineKind kind = loads ? EngineKind::TmemLoad : EngineKind::TmemStore;
    unsigned left = x.cluster.engines->outstanding({kind, x.warp.agent, 0});
    if (left) {
      x.wait(WaitKind::Tensor, 0,
             format("%u tcgen05.%s of this warp to complete", left, loads ? "ld" : "st"));
      return Step::Blocked;
    }
    if (loads)
      for (Frame *frame = x.split.frame.get(); frame; frame = frame->caller.get())
        land(*frame);
    Event last = x.cluster.checker->lastEvent(transferAgent(x, kind));
    x.clock().order.learn(last);
    x.clock().tensor.learn(last);
    return Step::Next;
  });
}
} // namespace

namespace {
/// The forms of both directions; their vectors have 1 to 128 registers.
void addTransferForms(DecoderTable &table) {
  static std::deque<std::string> texts; // forms point to them
  auto keep = [](std::string text) { return texts.emplace_back(std::move(text)).c_str(); };
  auto add = [&](const char *shapes, unsigned repeats, unsigned registers, const char *half) {
    std::string vector;
    for (unsigned r = 0; r < registers; ++r)
      vector += format("%s%%r%u", r ? ", " : "{", r + 1);
    vector += "}";
    table.addForm({keep(format("tcgen05.ld.sync.aligned.%s.x%u[.pack::16b].b32", shapes, repeats)),
                   keep(vector + ", [%r200]" + half)});
    table.addForm(
        {keep(format("tcgen05.st.sync.aligned.%s.x%u[.unpack::16b].b32", shapes, repeats)),
         keep(format("[%%r200]%s, ", half) + vector)});
  };
  for (unsigned repeats = 1; repeats <= 128; repeats *= 2) {
    add("{32x32b|16x64b}", repeats, repeats, "");
    add("16x32bx2", repeats, repeats, ", 16");
    if (repeats <= 64)
      add("16x128b", repeats, 2 * repeats, "");
    if (repeats <= 32)
      add("16x256b", repeats, 4 * repeats, "");
  }
}
} // namespace

void registerTransfer(DecoderTable &table) {
  table.add("tcgen05.ld", decodeTransfer, {});
  table.add("tcgen05.st", decodeTransfer, {});
  addTransferForms(table);
  table.add("tcgen05.wait::ld", decodeWait, {{"tcgen05.wait::ld.sync.aligned", ""}});
  table.add("tcgen05.wait::st", decodeWait, {{"tcgen05.wait::st.sync.aligned", ""}});
}

} // namespace ts::emu::tcgen05
