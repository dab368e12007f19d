// Addresses: cvta between generic and state spaces, isspacep, mapa and getctarank. Encodings are
// Address.h's. Source: PTX ISA, "Data Movement and Conversion". SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "Lanes.h"
#include "Move.h"

namespace ts::emu {
namespace {

using ptx::Type;

constexpr const char *wideOnly = "generic addresses have 64 bits";

std::optional<Space> takeSpace(Decode &d) {
  switch (d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster", "local", "const",
                       "param", "param::entry"})) {
  case 0:
    return Space::Global;
  case 1:
  case 2:
    return Space::SharedCta;
  case 3:
    return Space::SharedCluster;
  case 4:
    return Space::Local;
  case 5:
    return Space::Const;
  case 6:
  case 7:
    return Space::Param;
  default:
    return std::nullopt;
  }
}

/// 0 for spaces whose addresses are generic addresses already.
uint64_t windowOf(Space space) {
  switch (space) {
  case Space::SharedCta:
  case Space::SharedCluster:
    return sharedWindow;
  case Space::Local:
    return localWindow;
  case Space::Param:
    return paramWindow;
  default:
    return 0;
  }
}

std::unique_ptr<Op> decodeCvta(Decode &d) {
  bool to = d.take("to");
  std::optional<Space> space = takeSpace(d);
  if (!space)
    d.refuse("expected a state space");
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  if (type != Type::U64)
    d.refuse("%s; there is no form with .%s", wideOnly, ptx::typeName(type));
  uint64_t window = windowOf(*space);
  Dst dst = d.dst(0);
  Src src = d.src(1, type);
  if (to)
    return lanewise(dst, src, [window](uint64_t a) { return a - window; });
  if (*space != Space::SharedCta)
    return lanewise(dst, src, [window](uint64_t a) { return window + a; });
  // An address without a rank is the own CTA's; a generic address has to say which it is.
  return makeOp([=](Exec &x) {
    uint64_t out[warpSize], scratch[warpSize];
    const uint64_t *from = src.lanes(x, scratch);
    uint64_t *slot = dst.lanes(x, out);
    uint64_t own = sharedAddress(x.cta.rank, 0);
    setLanes(x.mask, slot, [=](unsigned lane) {
      uint64_t a = from[lane];
      return sharedWindow + (a >> sharedRankShift ? a : a | own);
    });
    return Step::Next;
  });
}

bool isConstVariable(const Program &program, uint64_t address) {
  for (size_t i = 0; i < program.module.variables.size(); ++i) {
    const ptx::Variable &v = program.module.variables[i];
    if (v.space == ptx::Space::Const && address - program.variableAddress[i] < v.size)
      return true;
  }
  return false;
}

bool isIn(const Exec &x, Space space, uint64_t address) {
  switch (space) {
  case Space::SharedCta: {
    uint64_t rank = (address & (windowSize - 1)) >> sharedRankShift;
    return inWindow(address, sharedWindow) && rank == x.cta.rank;
  }
  case Space::SharedCluster:
    return inWindow(address, sharedWindow);
  case Space::Local:
    return inWindow(address, localWindow);
  case Space::Param:
    return inWindow(address, paramWindow);
  case Space::Const:
    return isConstVariable(*x.machine.program, address);
  default:
    return address >= globalBase && !isConstVariable(*x.machine.program, address);
  }
}

std::unique_ptr<Op> decodeIsspacep(Decode &d) {
  std::optional<Space> space = takeSpace(d);
  if (!space)
    d.refuse("expected a state space");
  d.end();
  d.needOperands(2, 2);
  Dst dst = d.dst(0);
  Src src = d.src(1, Type::U64);
  Space s = *space;
  return makeOp([=](Exec &x) {
    uint64_t scratch[warpSize];
    const uint64_t *from = src.lanes(x, scratch);
    uint32_t holds = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (x.active(lane) && isIn(x, s, from[lane]))
        holds |= 1u << lane;
    dst.setPredicate(x, holds);
    return Step::Next;
  });
}

[[noreturn]] void noShared(const char *what, uint64_t address) {
  fault(FaultKind::OutOfBounds, "%s of 0x%llx, which is not a generic address of shared memory",
        what, (unsigned long long)address);
}

std::unique_ptr<Op> decodeMapa(Decode &d) {
  bool generic = !d.take("shared::cluster");
  Type type = d.needType();
  d.end();
  d.needOperands(3, 3);
  if (type != Type::U64 && (generic || type != Type::U32))
    d.refuse("%s; there is no mapa of type .%s here", wideOnly, ptx::typeName(type));
  Dst dst = d.dst(0);
  Src src = d.src(1, type), rank = d.src(2, Type::U32);
  return makeOp([=](Exec &x) {
    uint64_t bufferA[warpSize], bufferR[warpSize];
    const uint64_t *from = src.lanes(x, bufferA), *to = rank.lanes(x, bufferR);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      uint64_t a = from[lane], r = to[lane];
      if (r >= x.cluster.ctas.size())
        fault(FaultKind::OutOfBounds, "mapa to CTA %llu of a cluster of %zu", (unsigned long long)r,
              x.cluster.ctas.size());
      // A variable of shared memory names its offset; as a generic operand it is one all the same.
      uint64_t base = generic && src.kind == Src::Kind::Reg ? sharedWindow : 0;
      if (base && !inWindow(a, sharedWindow))
        noShared("mapa", a);
      uint64_t mapped = sharedAddress(unsigned(r), uint32_t(a) & sharedOffsetMask);
      dst.set(x, lane, generic ? sharedWindow + mapped : mapped);
    }
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeGetctarank(Decode &d) {
  bool generic = !d.take("shared::cluster");
  Type type = d.needType();
  d.end();
  d.needOperands(2, 2);
  if (type != Type::U64 && (generic || type != Type::U32))
    d.refuse("%s; there is no getctarank of type .%s here", wideOnly, ptx::typeName(type));
  Dst dst = d.dst(0);
  Src src = d.src(1, type);
  bool check = generic && src.kind == Src::Kind::Reg;
  return makeOp([=](Exec &x) {
    uint64_t scratch[warpSize];
    const uint64_t *from = src.lanes(x, scratch);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      if (check && !inWindow(from[lane], sharedWindow))
        noShared("getctarank", from[lane]);
      dst.set(x, lane, uint32_t(from[lane]) >> sharedRankShift);
    }
    return Step::Next;
  });
}

} // namespace

void registerAddresses(DecoderTable &table) {
  table.add("cvta", decodeCvta,
            {{"cvta[.to].{global|shared|shared::cta|shared::cluster|local|const|param|param::entry}"
              ".u64",
              "%rd1, %rd2"}});
  table.add("isspacep", decodeIsspacep,
            {{"isspacep.{global|shared|shared::cta|shared::cluster|local|const|param|param::entry}",
              "%p1, %rd1"}});
  table.add("mapa", decodeMapa,
            {{"mapa[.shared::cluster].u64", "%rd1, %rd2, %r1"},
             {"mapa.shared::cluster.u32", "%r1, %r2, %r3"},
             {"mapa.u32", "%r1, %r2, %r3", wideOnly}});
  table.add("getctarank", decodeGetctarank,
            {{"getctarank[.shared::cluster].u64", "%r1, %rd2"},
             {"getctarank.shared::cluster.u32", "%r1, %r2"},
             {"getctarank.u32", "%r1, %r2", wideOnly}});
}

} // namespace ts::emu
