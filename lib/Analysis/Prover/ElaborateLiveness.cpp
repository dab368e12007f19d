// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which slot variables an agent may still read, before each instruction.
#include "Elaborate.h"

namespace ts::prover {

/// Conservative backward liveness of the slot variables, so that stale ones do not tell states
/// apart.
void Elaborator::computeLiveness(Agent &agent) {
  size_t words = (agent.variables.size() + 63) / 64;
  agent.live.assign(agent.code.size() + 1, Bits(words, 0));
  if (words == 0)
    return;
  auto use = [](Bits &bits, int variable) {
    if (variable >= 0)
      setBit(bits.data(), variable);
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t at = agent.code.size(); at-- > 0;) {
      const Instr &instr = agent.code[at];
      Bits live =
          instr.op == Op::Jump || instr.op == Op::Next ? Bits(words, 0) : agent.live[at + 1];
      if (instr.target >= 0)
        orInto(live.data(), agent.live[size_t(instr.target)].data(), words);
      switch (instr.op) {
      case Op::Enter:
      case Op::Head:
      case Op::Guard:
        use(live, agent.loops[size_t(instr.a)].carried);
        break;
      case Op::Bind:
        clearBit(live.data(), instr.a);
        use(live, instr.b);
        break;
      case Op::Advance:
        // Counting a counter nobody reads does not make it live.
        break;
      case Op::Wait:
        use(live, agent.waits[size_t(instr.a)].slot);
        use(live, agent.waits[size_t(instr.a)].tried);
        break;
      case Op::Try: {
        const WaitSpec &spec = agent.waits[size_t(instr.a)];
        if (spec.tried >= 0)
          clearBit(live.data(), spec.tried);
        use(live, spec.slot);
        break;
      }
      case Op::Arrive:
        use(live, agent.arrives[size_t(instr.a)].slot);
        break;
      case Op::Issue:
        use(live, agent.issues[size_t(instr.a)].slot);
        use(live, agent.issues[size_t(instr.a)].onlyIf);
        break;
      case Op::Access:
        use(live, agent.accesses[size_t(instr.a)].slot);
        use(live, agent.accesses[size_t(instr.a)].barrierSlot);
        break;
      case Op::HandArrive:
      case Op::HandWait:
        use(live, agent.hands[size_t(instr.a)].waited);
        break;
      default:
        break;
      }
      if (live != agent.live[at]) {
        agent.live[at] = std::move(live);
        changed = true;
      }
    }
  }
}

} // namespace ts::prover
