// Reading of the modifiers of memory instructions. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "MemoryModifiers.h"

namespace ts::emu {
namespace {

bool takeSpace(Decode &d, MemoryModifiers &m) {
  int space = d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster", "local", "const",
                           "param", "param::entry", "param::func"});
  if (space < 0)
    return false;
  static constexpr Space spaces[] = {Space::Global,        Space::SharedCta, Space::SharedCta,
                                     Space::SharedCluster, Space::Local,     Space::Const};
  if (m.hasSpace)
    d.refuse("two state spaces");
  m.hasSpace = true;
  m.isParam = space >= 6;
  m.space = m.isParam ? Space::Param : spaces[space];
  return true;
}

bool takeOrder(Decode &d, MemoryModifiers &m) {
  int order = d.takeOneOf({"weak", "relaxed", "acquire", "release", "acq_rel", "volatile"});
  if (order < 0)
    return false;
  if (m.hasOrder)
    d.refuse("two memory orders");
  m.hasOrder = true;
  m.isVolatile = order == 5;
  // volatile is as relaxed at system scope.
  m.order = m.isVolatile ? Order::Relaxed : Order(order);
  return true;
}

bool takeHint(Decode &d, MemoryModifiers &m) {
  if (d.take("nc"))
    return m.nonCoherent = true;
  if (d.take("L2::cache_hint"))
    return m.policy = true;
  return d.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal",
                      "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
                      "L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::64B",
                      "L2::128B", "L2::256B"}) >= 0;
}

bool takeOther(Decode &d, MemoryModifiers &m, std::initializer_list<std::string_view> operations) {
  if (d.takeOneOf({"cta", "cluster", "gpu", "sys"}) >= 0) {
    if (std::exchange(m.hasScope, true))
      d.refuse("two scopes");
    return true;
  }
  if (unsigned vector = takeVector(d)) {
    m.vector = vector;
    return true;
  }
  if (d.take("noftz"))
    return m.noftz = true;
  if (d.take("mmio"))
    return m.isMmio = true;
  int operation = d.takeOneOf(operations);
  if (operation >= 0) {
    if (std::exchange(m.operation, operation) >= 0)
      d.refuse("two operations");
    return true;
  }
  if (std::optional<ptx::Type> type = d.takeType()) {
    if (std::exchange(m.type, *type) != ptx::Type::None)
      d.refuse("two types");
    return true;
  }
  return false;
}
} // namespace

void MemoryModifiers::take(Decode &d, std::initializer_list<std::string_view> operations) {
  while (d.more())
    if (!takeSpace(d, *this) && !takeOrder(d, *this) && !takeHint(d, *this) &&
        !takeOther(d, *this, operations))
      break;
  d.end();
  if (type == ptx::Type::None)
    d.refuse("expected a type");
  if (isMmio && order != Order::Relaxed && order != Order::Acquire && order != Order::Release)
    d.refuse("expected .relaxed and .sys with .mmio");
}

} // namespace ts::emu
