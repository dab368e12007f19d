// Families that are not in the tree yet. Each line goes when its family comes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Core/Decode.h"

namespace ts::emu {
void registerFloat(DecoderTable &) {}
} // namespace ts::emu
