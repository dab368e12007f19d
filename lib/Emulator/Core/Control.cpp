// Control flow: branches, calls, returns, exits, and what only passes time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Decode.h"
#include "Split.h"

namespace ts::emu {

void registerBarriers(DecoderTable &table);

namespace {

std::unique_ptr<Op> decodeBra(Decode &d) {
  d.take("uni");
  d.end();
  d.needOperands(1, 1);
  uint32_t target = d.label(0);
  return makeOp([target](Exec &x) {
    branch(x, x.mask, target);
    return Step::Jump;
  });
}

std::unique_ptr<Op> decodeBrx(Decode &d) {
  d.take("uni");
  d.end();
  d.needOperands(2, 2);
  Src index = d.src(0, ptx::Type::U32);
  auto list = d.code.function->branchTargets.find(d.operand(1).name);
  if (list == d.code.function->branchTargets.end())
    d.refuse("'%s' is not the label of a .branchtargets list", d.operand(1).name.c_str());
  std::vector<uint32_t> targets = list->second;
  return makeOp([=](Exec &x) {
    uint64_t scratch[warpSize];
    const uint64_t *values = index.lanes(x, scratch);
    std::array<uint32_t, warpSize> to{};
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!x.active(lane))
        continue;
      if (values[lane] >= targets.size())
        fault(FaultKind::Trap, "brx.idx with index %llu of a list of %zu targets",
              (unsigned long long)values[lane], targets.size());
      to[lane] = targets[values[lane]];
    }
    branchTable(x, to);
    return Step::Jump;
  });
}

struct CallShape {
  std::vector<uint32_t> results, arguments;
  const ptx::Operand *target = nullptr;
};

uint32_t frameOffset(const Code &code, const ptx::Operand &operand) {
  if (operand.kind != ptx::Operand::Kind::Symbol || operand.variable < 0)
    throw DecodeError{"expected the name of a .param variable as argument of a call"};
  auto index = size_t(operand.variable);
  uint32_t base = operand.isParam           ? code.paramOffset[index]
                  : operand.isReturn        ? code.returnOffset[index]
                  : operand.isLocalVariable ? code.variableOffset[index]
                                            : throw DecodeError{"expected a .param variable"};
  return base + uint32_t(operand.offset);
}

CallShape callShape(const Code &code, const ptx::Instruction &inst) {
  using Kind = ptx::Operand::Kind;
  CallShape shape;
  size_t i = 0;
  const std::vector<ptx::Operand> &operands = inst.operands;
  if (!operands.empty() && operands[0].kind == Kind::List)
    for (const ptx::Operand &item : operands[i++].items)
      shape.results.push_back(frameOffset(code, item));
  if (i >= operands.size())
    throw DecodeError{"expected a function to call"};
  shape.target = &operands[i++];
  if (i < operands.size() && operands[i].kind == Kind::List)
    for (const ptx::Operand &item : operands[i].items)
      shape.arguments.push_back(frameOffset(code, item));
  return shape;
}

const Code *functionNamed(const Program &program, const std::string &name) {
  const Code *declaration = nullptr;
  for (const std::unique_ptr<Code> &code : program.functions) {
    if (code->function->name != name)
      continue;
    if (!code->function->isDeclaration)
      return code.get();
    declaration = code.get();
  }
  return declaration;
}

std::unique_ptr<Op> decodeCall(Decode &d) {
  d.take("uni");
  d.end();
  CallShape shape = callShape(d.code, d.inst);
  if (shape.target->kind == ptx::Operand::Kind::Register) {
    Src pointer = d.src(*shape.target, ptx::Type::B64);
    const Program *program = &d.program;
    return makeOp([=](Exec &x) {
      uint64_t scratch[warpSize];
      const uint64_t *addresses = pointer.lanes(x, scratch);
      std::array<const Code *, warpSize> callees{};
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        if (!x.active(lane))
          continue;
        uint64_t address = addresses[lane], index = (address - functionWindow) / 16;
        if (!inWindow(address, functionWindow) || index >= program->functions.size() ||
            program->functions[index]->function->isDeclaration)
          fault(FaultKind::Trap, "call of 0x%llx, which is not the address of a function",
                (unsigned long long)address);
        callees[lane] = program->functions[index].get();
      }
      callTable(x, callees, shape.arguments);
      return Step::Jump;
    });
  }
  const std::string name = shape.target->name;
  const Code *callee = functionNamed(d.program, name);
  if (!callee)
    d.refuse("'%s' is not a function of this module", name.c_str());
  if (callee->function->isDeclaration) {
    Builtin builtin = findBuiltin(name);
    if (!builtin)
      d.refuse("'%s' is declared but not defined in this module, and the emulator does not provide "
               "it",
               name.c_str());
    return makeOp([=](Exec &x) {
      builtin(x, shape.arguments, shape.results);
      return Step::Next;
    });
  }
  return makeOp([=](Exec &x) {
    call(x, *callee, shape.arguments, shape.results);
    return Step::Jump;
  });
}

std::unique_ptr<Op> decodeReturn(Decode &d) {
  d.take("uni");
  d.end();
  return makeOp([](Exec &x) {
    returnLanes(x, x.mask);
    return Step::Jump;
  });
}

std::unique_ptr<Op> decodeExit(Decode &d) {
  d.end();
  return makeOp([](Exec &x) {
    exitLanes(x, x.mask);
    return Step::Jump;
  });
}

std::unique_ptr<Op> decodeTrap(Decode &d) {
  d.end();
  return makeOp([](Exec &) -> Step { fault(FaultKind::Trap, "the kernel stopped itself (trap)"); });
}

std::unique_ptr<Op> decodeNothing(Decode &d) {
  for (; d.more();)
    d.skipTo(d.inst.parts.size());
  return makeOp([](Exec &) { return Step::Next; });
}
} // namespace

std::vector<uint32_t> callResults(const Code &code, const ptx::Instruction &inst) {
  return callShape(code, inst).results;
}

void registerControl(DecoderTable &table) {
  table.add("bra", decodeBra, {{"bra[.uni]", "$here"}});
  table.add("brx.idx", decodeBrx, {{"brx.idx[.uni]", "%r1, $list"}});
  table.add("call", decodeCall, {{"call[.uni]", "callee"}});
  table.add("ret", decodeReturn, {{"ret[.uni]", ""}});
  table.add("exit", decodeExit, {{"exit", ""}});
  table.add("trap", decodeTrap, {{"trap", ""}});
  table.add("brkpt", decodeTrap, {{"brkpt", ""}});
  table.add("nanosleep", decodeNothing, {{"nanosleep.u32", "%r1"}});
  table.add("pmevent", decodeNothing, {{"pmevent", "1"}, {"pmevent.mask", "1"}});
  registerBarriers(table);
}

} // namespace ts::emu
