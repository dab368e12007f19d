// How each instruction hands definedness on, from its name and operands. What is not named here
// uses its operands. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "State.h"

#include <algorithm>
#include <string_view>

namespace ts::emu {
namespace {
using Kind = ptx::Operand::Kind;

/// Arithmetic and moves, lane by lane.
constexpr std::string_view eachLane[] = {
    "abs",    "add",   "addc",     "and",        "bfe",       "bfi",   "bfind", "bmsk",  "brev",
    "clz",    "cnot",  "copysign", "cos",        "cvt",       "cvta",  "div",   "dp2a",  "dp4a",
    "ex2",    "fma",   "fns",      "getctarank", "isspacep",  "lg2",   "lop3",  "mad",   "mad24",
    "madc",   "mapa",  "max",      "min",        "mov",       "mul",   "mul24", "neg",   "not",
    "or",     "popc",  "prmt",     "rcp",        "rem",       "rsqrt", "sad",   "set",   "setp",
    "shf",    "shl",   "shr",      "sin",        "slct",      "sqrt",  "sub",   "subc",  "szext",
    "tanh",   "testp", "vabsdiff", "vabsdiff2",  "vabsdiff4", "vadd",  "vadd2", "vadd4", "vavrg2",
    "vavrg4", "vmad",  "vmax",     "vmax2",      "vmax4",     "vmin",  "vmin2", "vmin4", "vset",
    "vset2",  "vset4", "vshl",     "vshr",       "vsub",      "vsub2", "vsub4", "xor"};
constexpr std::string_view acrossLanes[] = {"vote", "redux", "match", "movmatrix"};
/// A register in front is no result.
constexpr std::string_view noResult[] = {"bra",  "brx",       "call",       "ret",
                                         "exit", "nanosleep", "setmaxnreg", "stackrestore"};

template <size_t N> bool isOneOf(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(names, names + N, name) != names + N;
}

std::string_view part(const ptx::Instruction &inst, size_t i) {
  return i < inst.parts.size() ? std::string_view(inst.parts[i]) : std::string_view();
}

Flow::Kind kindOf(const ptx::Instruction &inst) {
  std::string_view name = part(inst, 0), second = part(inst, 1);
  if (isOneOf(name, eachLane))
    return Flow::Kind::Each;
  if (isOneOf(name, acrossLanes))
    return Flow::Kind::Warp;
  if (name == "selp")
    return Flow::Kind::Select;
  if (name == "shfl")
    return Flow::Kind::Shuffle;
  if (name == "wgmma" && second == "mma_async")
    return Flow::Kind::Wgmma;
  bool plainStore = name == "st" && second != "async" && second != "bulk";
  if (name == "ld" || name == "ldu" || plainStore || name == "ldmatrix" || name == "stmatrix" ||
      (name == "tcgen05" && (second == "ld" || second == "st")))
    return Flow::Kind::Own;
  return Flow::Kind::Use;
}

bool hasResult(const ptx::Instruction &inst) {
  std::string_view name = part(inst, 0), second = part(inst, 1);
  if (inst.operands.empty() || isOneOf(name, noResult))
    return false;
  if (name == "tcgen05")
    return second == "ld";
  if (name == "bar" || name == "barrier")
    return std::find(inst.parts.begin(), inst.parts.end(), "red") != inst.parts.end();
  Kind kind = inst.operands[0].kind;
  return kind == Kind::Register || kind == Kind::Vector || kind == Kind::Pair;
}

class Collector {
public:
  Collector(const Code &code, Flow &flow) : code(code), flow(flow) {}

  void collect(const ptx::Operand &operand, std::vector<uint32_t> &to) {
    if (operand.kind == Kind::Register) {
      uint32_t slot = code.registerSlot[operand.reg];
      to.push_back(slot);
      if (code.function->registers[operand.reg].type == ptx::Type::B128)
        to.push_back(slot + 1);
      return;
    }
    bool address = operand.kind == Kind::Address;
    for (const ptx::Operand &item : operand.items)
      collect(item, address ? flow.addresses : to);
  }

  /// The one register of an operand.
  uint32_t slot(const ptx::Operand &operand) {
    return operand.kind == Kind::Register ? code.registerSlot[operand.reg] : Flow::none;
  }

private:
  const Code &code;
  Flow &flow;
};
} // namespace

Flow flowOf(const Code &code, const ptx::Instruction &inst) {
  Flow flow;
  flow.kind = kindOf(inst);
  Collector c(code, flow);
  size_t first = 0;
  if (hasResult(inst))
    c.collect(inst.operands[first++], flow.to);
  const std::vector<ptx::Operand> &operands = inst.operands;
  if (flow.kind == Flow::Kind::Select && operands.size() == 4) {
    for (size_t i = 1; i < 4; ++i)
      flow.from.push_back(c.slot(operands[i]));
    flow.negated = operands[3].negated;
    return flow;
  }
  if (flow.kind == Flow::Kind::Select) // refused anyway
    flow.kind = Flow::Kind::Use;
  if (flow.kind == Flow::Kind::Shuffle && operands.size() > 1 &&
      operands[1].kind == Kind::Register) {
    flow.from.push_back(c.slot(operands[1]));
    first = 2;
  } else if (flow.kind == Flow::Kind::Shuffle) {
    flow.kind = Flow::Kind::Use; // the same constant for all
  }
  if (flow.kind == Flow::Kind::Wgmma) {
    flow.from = flow.to;
    bool sparse = part(inst, 2) == "sp";
    if (size_t at = sparse ? 5 : 3; at < operands.size()) {
      flow.condition = c.slot(operands[at]);
      flow.negated = operands[at].negated;
      flow.conditionConstant = operands[at].bits != 0;
    }
  }
  // A load's other operands (cache policies) have to be defined; what a store writes need not be.
  bool isUse = flow.kind == Flow::Kind::Use || flow.kind == Flow::Kind::Shuffle ||
               flow.kind == Flow::Kind::Wgmma;
  bool isOwn = flow.kind == Flow::Kind::Own;
  std::vector<uint32_t> ignored;
  for (size_t i = first; i < operands.size(); ++i)
    c.collect(operands[i], isUse ? flow.uses : isOwn ? ignored : flow.from);
  return flow;
}

} // namespace ts::emu
