// Families that are not in the tree yet. Each line goes when its family comes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Core/Decode.h"

namespace ts::emu {
void registerInteger(DecoderTable &) {}
void registerFloat(DecoderTable &) {}
void registerConversions(DecoderTable &) {}
void registerCopies(DecoderTable &) {}
void registerClc(DecoderTable &) {}
Result<ParamBytes> Device::encodeTensorMap(const TensorMapPlan &, uint64_t) {
  return Error{"tensor maps are not in the tree yet"};
}
Builtin findBuiltin(std::string_view) { return nullptr; }
} // namespace ts::emu
