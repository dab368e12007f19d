// createpolicy: an opaque cache policy. Caches are not modelled, so the value only has to be the
// same for the same policy. Source: PTX ISA, createpolicy. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Lanes.h"
#include "Move.h"

namespace ts::emu {
namespace {

using ptx::Type;

// What a policy looks like: not what hardware makes of it.
uint64_t policyValue(int primary, int secondary) {
  return uint64_t(0x10) << 56 | uint64_t(primary + 1) << 8 | uint64_t(secondary + 1);
}

std::unique_ptr<Op> constantOp(Decode &d, uint64_t value) {
  Dst to = d.dst(0);
  return makeOp([=](Exec &x) {
    uint64_t out[warpSize];
    setLanes(x.mask, to.lanes(x, out), [=](unsigned) { return value; });
    return Step::Next;
  });
}

// The parts are "L2::evict_last" and so on: a dot separates them, a double colon does not.
int takePriority(Decode &d) {
  return d.takeOneOf(
      {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
}

std::unique_ptr<Op> decodePolicy(Decode &d) {
  int kind = d.takeOneOf({"fractional", "range", "cvt"});
  if (kind < 0)
    d.refuse("expected .fractional, .range or .cvt");
  if (kind == 2) {
    d.need("L2");
    d.need("b64");
    d.end();
    d.needOperands(2, 2);
    return lanewise(d.dst(0), d.src(1, Type::B64), [](uint64_t a) { return a; });
  }
  if (kind == 1)
    d.take("global");
  int primary = takePriority(d);
  if (primary < 0)
    d.refuse("expected a priority");
  int secondary = d.takeOneOf({"L2::evict_first", "L2::evict_unchanged"});
  d.need("b64");
  d.end();
  if (kind == 0)
    d.needOperands(1, 2);
  else
    d.needOperands(4, 4);
  return constantOp(d, policyValue(primary, secondary));
}
} // namespace

void registerPolicies(DecoderTable &table) {
  table.add("createpolicy", decodePolicy,
            {{"createpolicy.fractional.{L2::evict_last|L2::evict_normal|L2::evict_first|"
              "L2::evict_unchanged}[.L2::evict_first|.L2::evict_unchanged].b64",
              "%rd1, 0.5"},
             {"createpolicy.range[.global].{L2::evict_last|L2::evict_normal|L2::evict_first|"
              "L2::evict_unchanged}[.L2::evict_first|.L2::evict_unchanged].b64",
              "%rd1, [%rd2], 0x100, 0x200"},
             {"createpolicy.cvt.L2.b64", "%rd1, %rd2"}});
}

} // namespace ts::emu
