// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory map of a kernel as text. Only prints; the numbers are the plan's.
#include "ts/Dialect/TS/Transforms/Allocation.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ts;

static void formatMemory(llvm::raw_ostream &os, const AllocationPlan &plan, bool tmem) {
  SmallVector<const Placement *> rows;
  for (const Placement &p : plan.placements)
    if (p.tmem == tmem && p.offset >= 0)
      rows.push_back(&p);
  llvm::sort(rows,
             [](auto *a, auto *b) { return std::pair(a->offset, a) < std::pair(b->offset, b); });
  if (rows.empty())
    return;
  os << "    offset        size  stages  padding  name\n";
  int64_t end = 0;
  for (const Placement *p : rows) {
    int64_t gap = std::max<int64_t>(0, p->offset - end);
    end = std::max(end, p->getEnd());
    os << llvm::format("%10lld  %10lld  %6lld  %7lld  ", (long long)p->offset,
                       (long long)p->getExtent(), (long long)p->stages, (long long)gap)
       << p->name;
    if (p->pinned)
      os << "  pinned";
    if (p->aliasGroup)
      os << "  phase " << p->phase << " of '" << cast<AliasGroupOp>(p->aliasGroup).getName() << "'";
    os << '\n';
  }
}

std::string mlir::ts::formatMemoryMap(const AllocationPlan &plan, StringRef kernelName) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "shared memory of @" << kernelName << ": " << plan.smemBytes << " of " << plan.smemLimit
     << " bytes\n";
  formatMemory(os, plan, /*tmem=*/false);
  if (plan.tmemUsed) {
    os << "tensor memory of @" << kernelName << ": " << plan.tmemUsed << " of " << plan.tmemLimit
       << " columns, " << plan.tmemColumns << " allocated\n";
    formatMemory(os, plan, /*tmem=*/true);
  }
  return text;
}
