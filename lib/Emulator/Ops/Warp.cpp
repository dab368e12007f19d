// Operations among the lanes of a warp: shfl, vote, match, redux, elect, activemask. Source: PTX
// ISA, "shfl.sync" and "Parallel Synchronization and Communication Instructions". SPDX-License-
// Identifier: Apache-2.0 WITH LLVM-exception
#include "../Core/Decode.h"

#include <cmath>

namespace ts::emu {
namespace {

/// The membership mask of a .sync instruction. Lanes may come with different masks; each lane has
/// to be in its own.
struct Members {
  Src mask;

  /// Calls body(lanes) for every group that names the same members, when all of them are here;
  /// false to block. Lanes that have ended are not waited for, as on hardware.
  template <class F> bool groups(Exec &x, F body) const {
    uint64_t scratch[warpSize];
    const uint64_t *masks = mask.lanes(x, scratch);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      if (!(masks[lane] >> lane & 1))
        fault(FaultKind::Divergence,
              "lane %u executes this with the member mask 0x%08x, in which it is not", lane,
              uint32_t(masks[lane]));
      if (!x.converged(uint32_t(masks[lane]) & x.warp.alive()))
        return false;
    }
    for (uint32_t left = x.mask; left;) {
      auto members = uint32_t(masks[std::countr_zero(left)]);
      uint32_t group = 0;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if ((left >> lane & 1) && uint32_t(masks[lane]) == members)
          group |= 1u << lane;
      left &= ~group;
      body(group);
    }
    return true;
  }
};

[[noreturn]] void refuseOld(Decode &d) {
  d.refuse("the form without .sync does not exist for sm_70 and later; use .sync with a mask");
}

void needSync(Decode &d) {
  if (!d.take("sync"))
    refuseOld(d);
}

/// `d` or `d|p`.
void resultAndPredicate(Decode &d, const ptx::Operand &operand, Dst &result, Dst &predicate) {
  if (operand.kind == ptx::Operand::Kind::Pair) {
    result = d.dst(operand.items[0]);
    predicate = d.dst(operand.items[1]);
    if (!predicate.sink && predicate.type != ptx::Type::Pred)
      d.refuse("expected a predicate behind |");
  } else {
    result = d.dst(operand);
  }
}

enum class Shuffle { Up, Down, Bfly, Idx };

/// Where lane `lane` reads from, and whether that is in range (else it reads itself).
unsigned shuffleSource(Shuffle mode, unsigned lane, uint32_t b, uint32_t c, bool &inRange) {
  uint32_t clamp = c & 31, segment = c >> 8 & 31;
  b &= 31;
  unsigned maxLane = (lane & segment) | (clamp & ~segment), minLane = lane & segment;
  int from = 0;
  switch (mode) {
  case Shuffle::Up:
    from = int(lane) - int(b);
    inRange = from >= int(maxLane);
    break;
  case Shuffle::Down:
    from = int(lane + b);
    inRange = from <= int(maxLane);
    break;
  case Shuffle::Bfly:
    from = int(lane ^ b);
    inRange = from <= int(maxLane);
    break;
  case Shuffle::Idx:
    from = int(minLane | (b & ~segment));
    inRange = from <= int(maxLane);
    break;
  }
  return inRange ? unsigned(from) : lane;
}

std::unique_ptr<Op> decodeShuffle(Decode &d) {
  needSync(d);
  int mode = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (mode < 0)
    d.refuse("expected .up, .down, .bfly or .idx");
  d.need("b32");
  d.end();
  d.needOperands(5, 5);
  Dst result, predicate;
  resultAndPredicate(d, d.operand(0), result, predicate);
  Src a = d.src(1, ptx::Type::B32), b = d.src(2, ptx::Type::B32), c = d.src(3, ptx::Type::B32);
  Members members{d.src(4, ptx::Type::B32)};
  return makeOp([=](Exec &x) {
    uint64_t scratch[3][warpSize], values[warpSize], out[warpSize];
    uint32_t inRangeLanes = 0;
    bool here = members.groups(x, [&](uint32_t group) {
      std::copy_n(a.lanes(x, scratch[0]), warpSize, values); // the result may be the same register
      const uint64_t *delta = b.lanes(x, scratch[1]), *bounds = c.lanes(x, scratch[2]);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        if (!(group >> lane & 1))
          continue;
        bool inRange = false;
        unsigned from = shuffleSource(Shuffle(mode), lane, uint32_t(delta[lane]),
                                      uint32_t(bounds[lane]), inRange);
        // A lane outside the mask gives no defined value: poison, which shows if it is used.
        out[lane] = group >> from & 1 ? uint32_t(values[from]) : 0xffffffffu;
        inRangeLanes |= uint32_t(inRange) << lane;
      }
    });
    if (!here)
      return Step::Blocked;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        result.set(x, lane, out[lane]);
    predicate.setPredicate(x, inRangeLanes);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeVote(Decode &d) {
  needSync(d);
  int mode = d.takeOneOf({"all", "any", "uni", "ballot"});
  if (mode < 0)
    d.refuse("expected .all, .any, .uni or .ballot");
  d.need(mode == 3 ? "b32" : "pred");
  d.end();
  d.needOperands(3, 3);
  Dst result = d.dst(0);
  Src value = d.predicate(1);
  Members members{d.src(2, ptx::Type::B32)};
  return makeOp([=](Exec &x) {
    uint32_t holds = value.predicate(x), yes = 0;
    uint64_t ballots[warpSize] = {};
    bool here = members.groups(x, [&](uint32_t group) {
      uint32_t votes = holds & group;
      bool answer = mode == 0   ? votes == group
                    : mode == 1 ? votes != 0
                                : votes == 0 || votes == group;
      yes |= answer ? group : 0;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (group >> lane & 1)
          ballots[lane] = votes;
    });
    if (!here)
      return Step::Blocked;
    if (mode != 3)
      result.setPredicate(x, yes);
    else
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (x.active(lane))
          result.set(x, lane, ballots[lane]);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeMatch(Decode &d) {
  int mode = d.takeOneOf({"any", "all"});
  if (mode < 0)
    d.refuse("expected .any or .all");
  needSync(d);
  int type = d.takeOneOf({"b32", "b64"});
  if (type < 0)
    d.refuse("expected .b32 or .b64");
  d.end();
  d.needOperands(3, 3);
  Dst result, predicate;
  resultAndPredicate(d, d.operand(0), result, predicate);
  if (mode == 0 && d.operand(0).kind == ptx::Operand::Kind::Pair)
    d.refuse("match.any has no predicate result");
  Src value = d.src(1, type ? ptx::Type::B64 : ptx::Type::B32);
  Members members{d.src(2, ptx::Type::B32)};
  return makeOp([=](Exec &x) {
    uint64_t scratch[warpSize], out[warpSize];
    const uint64_t *values = value.lanes(x, scratch);
    uint32_t yes = 0;
    bool here = members.groups(x, [&](uint32_t group) {
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        if (!(group >> lane & 1))
          continue;
        uint32_t same = 0;
        for (unsigned other = 0; other < warpSize; ++other)
          if ((group >> other & 1) && values[other] == values[lane])
            same |= 1u << other;
        bool all = same == group;
        out[lane] = mode == 0 || all ? same : 0;
        yes |= uint32_t(all) << lane;
      }
    });
    if (!here)
      return Step::Blocked;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        result.set(x, lane, out[lane]);
    predicate.setPredicate(x, yes);
    return Step::Next;
  });
}

struct Redux {
  int operation; // add, min, max, and, or, xor
  ptx::Type type;
  bool absolute, nan;
  Dst result;
  Src value;
  Members members;

  uint32_t combine(uint32_t a, uint32_t b) const {
    switch (operation) {
    case 0:
      return a + b;
    case 1:
    case 2: {
      bool less = type == ptx::Type::S32 ? int32_t(a) < int32_t(b) : a < b;
      return less == (operation == 1) ? a : b;
    }
    case 3:
      return a & b;
    case 4:
      return a | b;
    default:
      return a ^ b;
    }
  }

  /// min and max of f32: NaN loses unless .NaN asks that it wins; -0 is below +0.
  uint32_t combineFloat(uint32_t bitsA, uint32_t bitsB) const {
    auto a = std::bit_cast<float>(bitsA), b = std::bit_cast<float>(bitsB);
    if (std::isnan(a) || std::isnan(b)) {
      if (nan || (std::isnan(a) && std::isnan(b)))
        return 0x7fffffff;
      return std::isnan(a) ? bitsB : bitsA;
    }
    bool less = a < b || (a == b && std::signbit(a));
    return less == (operation == 1) ? bitsA : bitsB;
  }

  Step operator()(Exec &x) const {
    uint64_t scratch[warpSize], out[warpSize];
    const uint64_t *values = value.lanes(x, scratch);
    bool isFloat = type == ptx::Type::F32;
    auto read = [&](unsigned lane) {
      return uint32_t(values[lane]) & (absolute ? 0x7fffffffu : ~0u);
    };
    bool here = members.groups(x, [&](uint32_t group) {
      auto first = unsigned(std::countr_zero(group));
      uint32_t total = read(first);
      if (isFloat && std::isnan(std::bit_cast<float>(total)))
        total = 0x7fffffff;
      for (unsigned lane = first + 1; lane < warpSize; ++lane)
        if (group >> lane & 1)
          total = isFloat ? combineFloat(total, read(lane)) : combine(total, read(lane));
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (group >> lane & 1)
          out[lane] = total;
    });
    if (!here)
      return Step::Blocked;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        result.set(x, lane, out[lane]);
    return Step::Next;
  }
};

std::unique_ptr<Op> decodeRedux(Decode &d) {
  needSync(d);
  Redux op{};
  op.operation = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  if (op.operation < 0)
    d.refuse("expected .add, .min, .max, .and, .or or .xor");
  op.absolute = d.take("abs");
  op.nan = d.take("NaN");
  op.type = d.needType();
  d.end();
  bool ordered = op.operation == 1 || op.operation == 2, bits = op.operation >= 3;
  bool fits = op.type == ptx::Type::F32 ? ordered
              : op.type == ptx::Type::B32
                  ? bits
                  : !bits && (op.type == ptx::Type::U32 || op.type == ptx::Type::S32);
  if (!fits || ((op.absolute || op.nan) && op.type != ptx::Type::F32))
    d.refuse("the operation does not exist for type .%s", ptx::typeName(op.type));
  d.needOperands(3, 3);
  op.result = d.dst(0);
  op.value = d.src(1, op.type);
  op.members = {d.src(2, ptx::Type::B32)};
  return makeOp(op);
}

std::unique_ptr<Op> decodeElect(Decode &d) {
  needSync(d);
  d.end();
  d.needOperands(2, 2);
  Dst result, predicate;
  resultAndPredicate(d, d.operand(0), result, predicate);
  if (predicate.sink)
    d.refuse("expected a predicate to say who is elected");
  Members members{d.src(1, ptx::Type::B32)};
  return makeOp([=](Exec &x) {
    uint32_t elected = 0;
    bool here = members.groups(x, [&](uint32_t group) {
      auto leader = unsigned(std::countr_zero(group));
      elected |= 1u << leader;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (group >> lane & 1)
          result.set(x, lane, leader);
    });
    if (!here)
      return Step::Blocked;
    predicate.setPredicate(x, elected);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeActiveMask(Decode &d) {
  d.need("b32");
  d.end();
  d.needOperands(1, 1);
  Dst result = d.dst(0);
  return makeOp([=](Exec &x) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane))
        result.set(x, lane, x.mask);
    return Step::Next;
  });
}
} // namespace

void registerWarp(DecoderTable &table) {
  table.add("shfl", decodeShuffle,
            {{"shfl.sync.{up|down|bfly|idx}.b32", "%r1, %r2, %r3, %r4, -1"},
             {"shfl.sync.{up|down|bfly|idx}.b32", "%r1|%p1, %r2, 1, 31, %r4"}});
  table.add(
      "vote", decodeVote,
      {{"vote.sync.{all|any|uni}.pred", "%p1, %p2, -1"}, {"vote.sync.ballot.b32", "%r1, %p2, -1"}});
  table.add("match", decodeMatch,
            {{"match.any.sync.b32", "%r1, %r2, -1"},
             {"match.any.sync.b64", "%r1, %rd2, -1"},
             {"match.all.sync.b32", "%r1|%p1, %r2, -1"},
             {"match.all.sync.b64", "%r1|%p1, %rd2, -1"}});
  table.add("redux", decodeRedux,
            {{"redux.sync.{add|min|max}.{u32|s32}", "%r1, %r2, -1"},
             {"redux.sync.{and|or|xor}.b32", "%r1, %r2, -1"},
             {"redux.sync.{min|max}[.abs][.NaN].f32", "%f1, %f2, -1"}});
  table.add("elect", decodeElect, {{"elect.sync", "%r1|%p1, -1"}});
  table.add("activemask", decodeActiveMask, {{"activemask.b32", "%r1"}});
}

} // namespace ts::emu
