// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brackets of a pipeline group: a fork is armed at the last acquire of a bracket, which is what
// protocol::memberAction asks for. Both the prover and the lowering have it from here.
#ifndef TS_ANALYSIS_SCHEDULE_BRACKETS_H
#define TS_ANALYSIS_SCHEDULE_BRACKETS_H

#include "ts/Analysis/Schedule/Model.h"

namespace ts::schedule {

/// By step of `task`: false for an acquire of a group, or of a member, that another one follows in
/// the same bracket. Of acquires that exclude each other, each is the last where it runs.
std::vector<bool> lastAcquires(const Kernel &kernel, const Task &task);

} // namespace ts::schedule

#endif // TS_ANALYSIS_SCHEDULE_BRACKETS_H
