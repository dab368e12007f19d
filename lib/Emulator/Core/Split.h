// What the run loop needs of a warp's splits; branches and calls are in Machine.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_SPLIT_H
#define TS_EMULATOR_CORE_SPLIT_H

#include "State.h"

namespace ts::emu {

std::shared_ptr<Frame> enterFrame(Warp &warp, const Code &code, std::shared_ptr<Frame> caller,
                                  uint32_t returnPc, uint32_t lanes);
/// alloca: that many more bytes in each lane's part of the frame; returns their local address.
uint32_t growFrame(Warp &warp, Frame &frame, uint64_t bytes, uint64_t align);
/// Frame offsets of a call's result variables (call (results), f, (arguments)).
std::vector<uint32_t> callResults(const Code &code, const ptx::Instruction &inst);
/// Drops empty splits and joins those at the same place of the same frame.
void tidySplits(Warp &warp);
/// The split to run next: lowest place first, so that lanes meet again behind a branch; one that
/// loops for long lets its siblings pass. Null if all are blocked and nothing has changed.
Split *pickSplit(Warp &warp, uint64_t events);

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_SPLIT_H
