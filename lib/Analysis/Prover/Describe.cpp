// Names of barriers, accesses and steps as messages and witness tables show them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"

namespace ts::prover {

static std::string number(int64_t n) { return std::to_string(n); }

std::string describeBarrier(const Program &program, int barrier) {
  const BarrierInfo &info = program.barriers[size_t(barrier)];
  std::string text;
  std::string name = info.resource < 0 ? std::string("the cluster")
                                       : program.kernel->resources[size_t(info.resource)].name;
  switch (info.kind) {
  case BarrierInfo::Kind::Full:
  case BarrierInfo::Kind::Empty:
    text = std::string("the ") + (info.kind == BarrierInfo::Kind::Full ? "full" : "empty") +
           " barrier of '" + name + "', stage " + number(info.stage);
    break;
  case BarrierInfo::Kind::Hand:
    text = "barrier '" + name + "'";
    break;
  case BarrierInfo::Kind::Named:
    text = info.resource < 0 ? "the cluster barrier" : "named barrier '" + name + "'";
    break;
  }
  if (program.ctas > 1 && info.resource >= 0)
    text += " of CTA " + number(info.cta);
  return text;
}

std::string describeChoices(const std::vector<Choice> &choices) {
  std::string text;
  for (const Choice &choice : choices) {
    // A launch that hands out any tile does; more than one is worth saying.
    bool tiles = choice.isTrip && choice.name.starts_with("number of tiles");
    if (choice.isTrip && choice.atLeast && choice.value <= (tiles ? 1 : 0))
      continue;
    if (!text.empty())
      text += ", ";
    if (choice.isTrip)
      text += choice.name + (choice.atLeast ? " >= " : " = ") + std::to_string(choice.value);
    else
      text += choice.name + (choice.value ? " is true" : " is false");
    if (choice.tile >= 0)
      text += " in tile " + std::to_string(choice.tile);
  }
  return text;
}

std::string describeAccess(const Program &program, int family, int stage) {
  const Family &f = program.families[size_t(family)];
  const schedule::Allocation &allocation = program.kernel->allocations[size_t(f.allocation)];
  std::string name = allocation.name;
  if (allocation.resource >= 0)
    name = program.kernel->resources[size_t(allocation.resource)].name + "." + name;
  std::string text =
      std::string(f.kind == Family::Kind::Write ? "write" : "read") + " of '" + name + "'";
  if (f.stages > 1)
    text += (f.partStride ? " part " : " stage ") + number(stage);
  text +=
      std::string(allocation.space == schedule::MemorySpace::Tmem ? ", columns [" : ", bytes [") +
      number(f.offset) + ", " + number(f.offset + f.size) + ")";
  if (f.async)
    text += ", asynchronous";
  if (program.ctas > 1)
    text += ", in CTA " + number(f.cta);
  return text + ", by '" + program.agents[size_t(f.agent)].name + "'";
}

std::string describeInstr(const Program &program, const Agent &agent, const Instr &instr,
                          int64_t slot) {
  std::string text;
  if (instr.step < 0) {
    text = "drain";
  } else {
    const schedule::Step &step = program.stepOf(agent, instr.step);
    text = step.kind == schedule::StepKind::Event ? std::string(schedule::name(step.event.kind))
                                                  : std::string("step");
    if (step.kind == schedule::StepKind::Event && step.event.resource >= 0)
      text += " " + program.kernel->resources[size_t(step.event.resource)].name;
    else if (instr.op == Op::Access)
      text = describeAccess(program, agent.accesses[size_t(instr.a)].family, 0);
  }
  if (slot >= 0)
    text += " #" + number(slot);
  return text;
}

} // namespace ts::prover
