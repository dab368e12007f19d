// Links a parsed module: memory for its variables, frames for its functions, a decoded Op for every
// instruction. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Decode.h"

#include <algorithm>

namespace ts::emu {
namespace {

/// What a loop that waits for others, or for some time to pass, has in it.
bool isPoll(const ptx::Instruction &inst) {
  auto has = [&](std::initializer_list<std::string_view> modifiers) {
    return std::find_first_of(inst.parts.begin(), inst.parts.end(), modifiers.begin(),
                              modifiers.end()) != inst.parts.end();
  };
  const std::string &name = inst.parts.front();
  if (name == "nanosleep" || (name == "mbarrier" && has({"test_wait", "try_wait"})) ||
      (name == "ld" && has({"volatile", "relaxed", "acquire", "mmio"})))
    return true;
  return std::any_of(inst.operands.begin(), inst.operands.end(), [](const ptx::Operand &o) {
    return o.kind == ptx::Operand::Kind::Special &&
           (o.name.starts_with("%clock") || o.name.starts_with("%globaltimer"));
  });
}

uint64_t alignTo(uint64_t value, uint64_t align) {
  return align <= 1 ? value : (value + align - 1) / align * align;
}

/// Executing it reports what the decoder said; a module may hold instructions that never run.
class RefusedOp final : public Op {
public:
  explicit RefusedOp(std::string why) : why(std::move(why)) {}
  Step run(Exec &) const override { fault(FaultKind::Unsupported, "%s", why.c_str()); }

private:
  std::string why;
};

class Linker {
public:
  Linker(ptx::Module module, GlobalMemory &global, bool strict)
      : global(global), strict(strict), program(std::make_unique<Program>()) {
    program->module = std::move(module);
  }

  Result<std::unique_ptr<Program>> run() {
    placeVariables();
    if (Status status = initialise(); !status)
      return status.error();
    for (const ptx::Function &function : program->module.functions)
      program->functions.push_back(layOut(function));
    for (std::unique_ptr<Code> &code : program->functions)
      if (Status status = decodeBody(*code); !status)
        return status.error();
    return std::move(program);
  }

private:
  static bool isShared(const ptx::Variable &v) { return v.space == ptx::Space::Shared; }
  static bool isDynamic(const ptx::Variable &v) { return isShared(v) && (v.isExtern || !v.size); }

  uint32_t place(const ptx::Variable &v, uint64_t &offset) {
    offset = alignTo(offset, std::max<uint32_t>(v.align, 1));
    uint64_t at = offset;
    offset += v.size;
    return uint32_t(at);
  }

  void placeVariables() {
    for (const ptx::Variable &v : program->module.variables) {
      uint64_t address = 0;
      if (isDynamic(v))
        dynamicAlign = std::max(dynamicAlign, v.align);
      else if (isShared(v))
        address = place(v, shared);
      else if (!v.isExtern)
        address = global.allocate(std::max<uint64_t>(v.size, 1), std::max<uint32_t>(v.align, 16));
      program->variableAddress.push_back(address);
    }
    // Static variables of functions that are not entries are there in every launch.
    for (const ptx::Function &f : program->module.functions)
      if (!f.isEntry)
        for (const ptx::Variable &v : f.variables)
          if (isShared(v) && !isDynamic(v))
            functionShared[&v] = place(v, shared);
  }

  std::optional<uint64_t> addressOf(const std::string &symbol) {
    const auto &variables = program->module.variables;
    for (size_t i = 0; i < variables.size(); ++i)
      if (variables[i].name == symbol)
        return program->variableAddress[i];
    if (std::optional<size_t> i = functionNumber(program->module, symbol))
      return functionWindow + 16 * *i;
    return std::nullopt;
  }

  Status initialise() {
    for (size_t i = 0; i < program->module.variables.size(); ++i) {
      const ptx::Variable &v = program->module.variables[i];
      if (isShared(v) || v.isExtern || !v.size)
        continue;
      uint8_t *bytes = global.find(program->variableAddress[i], v.size);
      memset(bytes, 0, v.size); // what is not initialised in .global and .const is zero
      std::copy_n(v.init.data(), std::min<uint64_t>(v.init.size(), v.size), bytes);
      for (const ptx::Variable::Relocation &r : v.relocations) {
        std::optional<uint64_t> address = addressOf(r.symbol);
        if (!address)
          return Error{program->module.name + ": the initialiser of '" + v.name + "' names '" +
                       r.symbol + "', which is not defined in this module"};
        uint64_t value = *address + uint64_t(r.addend);
        if (r.bytes <= 8 && r.at + r.bytes <= v.size)
          memcpy(bytes + r.at, &value, r.bytes);
      }
    }
    return Done{};
  }

  std::unique_ptr<Code> layOut(const ptx::Function &function) {
    auto code = std::make_unique<Code>();
    code->program = program.get();
    code->function = &function;
    for (const ptx::Register &r : function.registers) {
      code->registerSlot.push_back(code->numRegisters);
      code->numRegisters += r.type == ptx::Type::B128 ? 2 : 1;
    }
    uint64_t local = 0, params = 0, ownShared = shared;
    uint32_t align = dynamicAlign;
    for (const ptx::Variable &v : function.params)
      code->paramOffset.push_back(place(v, function.isEntry ? params : local));
    for (const ptx::Variable &v : function.returns)
      code->returnOffset.push_back(place(v, local));
    for (const ptx::Variable &v : function.variables) {
      uint32_t at = 0;
      if (isDynamic(v))
        align = std::max(align, v.align);
      else if (isShared(v))
        at = function.isEntry ? place(v, ownShared) : functionShared[&v];
      else
        at = place(v, local);
      code->variableOffset.push_back(at);
    }
    // Shared offsets count from the first byte behind the system's.
    for (size_t i = 0; i < function.variables.size(); ++i)
      if (isShared(function.variables[i]) && !isDynamic(function.variables[i]))
        code->variableOffset[i] += sharedReserved;
    code->localBytes = uint32_t(alignTo(local, 16));
    code->paramBytes = uint32_t(params);
    code->dynamicOffset = uint32_t(alignTo(sharedReserved + ownShared, align));
    if (program->functions.empty())
      shiftModuleShared();
    return code;
  }

  void shiftModuleShared() {
    for (size_t i = 0; i < program->module.variables.size(); ++i) {
      const ptx::Variable &v = program->module.variables[i];
      if (isShared(v) && !isDynamic(v))
        program->variableAddress[i] += sharedReserved;
    }
  }

  Status decodeBody(Code &code) {
    const DecoderTable &table = decoderTable();
    std::unordered_map<std::string, uint32_t> formIds;
    for (size_t i = 0; i < program->forms.size(); ++i)
      formIds[program->forms[i]] = uint32_t(i);
    code.entries.resize(code.function->body.size());
    for (size_t i = 0; i < code.function->body.size(); ++i) {
      const ptx::Instruction &inst = code.function->body[i];
      CodeEntry &entry = code.entries[i];
      entry.guard = inst.guard < 0 ? -1 : int32_t(code.registerSlot[size_t(inst.guard)]);
      entry.guardNegated = inst.guardNegated;
      entry.index = uint32_t(i);
      entry.loc = inst.loc;
      entry.source = &inst;
      entry.flow = flowOf(code, inst);
      auto [form, isNew] = formIds.try_emplace(inst.opcode, uint32_t(program->forms.size()));
      if (isNew)
        program->forms.push_back(inst.opcode);
      entry.form = form->second;
      entry.polls = isPoll(inst);
      std::string why;
      try {
        entry.op = decodeOne(table, code, inst);
      } catch (const DecodeError &error) {
        why = inst.opcode + ": " + error.message;
      }
      if (entry.op)
        continue;
      if (strict)
        return Error{program->module.name + ":" + std::to_string(inst.loc.ptxLine) + ": " + why};
      entry.refused = why;
      entry.op = std::make_unique<RefusedOp>(std::move(why));
    }
    return Done{};
  }

  std::unique_ptr<Op> decodeOne(const DecoderTable &table, const Code &code,
                                const ptx::Instruction &inst) {
    size_t parts = 0;
    Decoder decoder = table.find(inst, parts);
    if (!decoder)
      throw DecodeError{"the emulator does not know this instruction; nothing is guessed"};
    Decode d(*program, code, inst);
    d.skipTo(parts);
    return decoder(d);
  }

  GlobalMemory &global;
  bool strict;
  std::unique_ptr<Program> program;
  uint64_t shared = 0; // static variables of the module and of functions that are not entries
  uint32_t dynamicAlign = 16;
  std::unordered_map<const ptx::Variable *, uint32_t> functionShared;
};
} // namespace

Result<std::unique_ptr<Program>> decode(ptx::Module module, GlobalMemory &global, bool strict) {
  return Linker(std::move(module), global, strict).run();
}

} // namespace ts::emu
