// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "IRFixes.h"
#include "ts/Support/Checks.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir::ts;

static constexpr unsigned sharedAddressSpace = 3;
static constexpr uint64_t dynamicSharedAlignment = 1024;

static bool isKernel(const Function &function) {
  return function.getCallingConv() == CallingConv::PTX_Kernel ||
         function.hasFnAttribute("nvvm.kernel");
}

void mlir::ts::fixDeviceIR(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setConvergent();
    if (!isKernel(function))
      function.setLinkage(GlobalValue::InternalLinkage);
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction); call && call->isInlineAsm())
        call->setConvergent();
  }
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == sharedAddressSpace && global.isDeclaration() &&
        global.getAlign().valueOrOne().value() < dynamicSharedAlignment)
      global.setAlignment(Align(dynamicSharedAlignment));
}

static CallSite siteOf(const Instruction &instruction) {
  CallSite site;
  site.function = instruction.getFunction()->getName();
  if (const DILocation *location = instruction.getDebugLoc().get()) {
    // The innermost location is where the op stands; inlinedAt would name the helper's caller.
    SmallString<128> path(location->getDirectory());
    sys::path::append(path, location->getFilename());
    site.file = path.str();
    site.line = location->getLine();
    site.column = location->getColumn();
  }
  return site;
}

/// What the instruction asks of the hardware: an intrinsic's name or assembly text, else nothing.
static StringRef instructionText(const CallBase &call) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return assembly->getAsmString();
  if (const Function *callee = call.getCalledFunction(); callee && callee->isIntrinsic())
    return callee->getName();
  return {};
}

/// The call of `global` that is easiest to point at.
static CallSite firstUse(const GlobalValue &global) {
  for (const User *user : global.users())
    if (auto *instruction = dyn_cast<Instruction>(user))
      return siteOf(*instruction);
  return {};
}

/// What to use in place of a math intrinsic that the backend can only turn into a library call, or
/// nothing. The approximate forms of sine, cosine and tangent are instructions.
static StringRef replacementOf(const CallBase &call) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::exp:
  case Intrinsic::exp10:
  case Intrinsic::pow:
    return "exp2 of the scaled argument";
  case Intrinsic::log:
  case Intrinsic::log2:
  case Intrinsic::log10:
    return "the intrinsic llvm.nvvm.lg2.approx.f, scaled";
  case Intrinsic::sin:
  case Intrinsic::cos:
  case Intrinsic::tanh:
    return cast<FPMathOperator>(call).hasApproxFunc() ? ""
                                                      : "the same op with the fast-math flag 'afn'";
  case Intrinsic::tan:
  case Intrinsic::asin:
  case Intrinsic::acos:
  case Intrinsic::atan:
  case Intrinsic::atan2:
  case Intrinsic::sinh:
  case Intrinsic::cosh:
    return "a polynomial of your own";
  default:
    return {};
  }
}

bool mlir::ts::checkDeviceIR(const Module &module, const Chip &chip, ReportFn report) {
  bool good = true;
  StringSet<> reported;
  std::string chips;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<CallBase>(&instruction);
      if (!call)
        continue;
      if (StringRef other = replacementOf(*call); !other.empty()) {
        good = false;
        report(siteOf(instruction),
               formatv("{0}'{1}' needs a device library and none is linked; use {2}",
                       ::ts::checkPrefix(::ts::CheckId::TS408),
                       call->getCalledFunction()->getName(), other));
        continue;
      }
      StringRef feature = missingFeature(chip, instructionText(*call), chips);
      if (feature.empty() || !reported.insert(feature).second)
        continue;
      good = false;
      report(siteOf(instruction),
             formatv("{0}'{1}' does not exist on {2}; it exists on {3}",
                     ::ts::checkPrefix(::ts::CheckId::TS227), feature, chip.name, chips));
    }
  for (const Function &function : module) {
    // vprintf is the one function that the CUDA driver itself provides for device printing.
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty() ||
        function.getName() == "vprintf")
      continue;
    good = false;
    const char *text =
        function.getName().starts_with("__nv_")
            ? "{0}'{1}' of CUDA's device library is called, and no device library is linked: use "
              "an "
              "op with an instruction of its own (nvvm, or llvm.call_intrinsic of llvm.nvvm.*) or "
              "define the function in the gpu.module"
            : "{0}function '{1}' is called and nobody defines it; define it in the gpu.module";
    report(firstUse(function),
           formatv(text, ::ts::checkPrefix(::ts::CheckId::TS408), function.getName()));
  }
  for (const GlobalVariable &global : module.globals()) {
    if (!global.isDeclaration() || global.use_empty() ||
        global.getAddressSpace() == sharedAddressSpace)
      continue;
    good = false;
    report(firstUse(global),
           formatv("{0}variable '{1}' is used and nobody defines it; only dynamic "
                   "shared memory may be external",
                   ::ts::checkPrefix(::ts::CheckId::TS408), global.getName()));
  }
  return good;
}

StringMap<CallSite> mlir::ts::collectIntrinsicCalls(const Module &module) {
  StringMap<CallSite> calls;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *callee = call->getCalledFunction(); callee && callee->isIntrinsic())
          calls.try_emplace(callee->getName(), siteOf(instruction));
  return calls;
}
