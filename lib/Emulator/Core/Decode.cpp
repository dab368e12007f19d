// The services a decoder is given: modifiers from left to right, operands as sources and
// destinations, and refusal. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Decode.h"

#include <cstdarg>

namespace ts::emu {
namespace {

struct SpecialName {
  const char *name;
  SpecialReg reg;
};
constexpr SpecialName specialNames[] = {
    {"%tid.x", SpecialReg::TidX},
    {"%tid.y", SpecialReg::TidY},
    {"%tid.z", SpecialReg::TidZ},
    {"%ntid.x", SpecialReg::NtidX},
    {"%ntid.y", SpecialReg::NtidY},
    {"%ntid.z", SpecialReg::NtidZ},
    {"%ctaid.x", SpecialReg::CtaidX},
    {"%ctaid.y", SpecialReg::CtaidY},
    {"%ctaid.z", SpecialReg::CtaidZ},
    {"%nctaid.x", SpecialReg::NctaidX},
    {"%nctaid.y", SpecialReg::NctaidY},
    {"%nctaid.z", SpecialReg::NctaidZ},
    {"%laneid", SpecialReg::LaneId},
    {"%warpid", SpecialReg::WarpId},
    {"%nwarpid", SpecialReg::NWarpId},
    {"%smid", SpecialReg::SmId},
    {"%nsmid", SpecialReg::NSmId},
    {"%gridid", SpecialReg::GridId},
    {"%is_explicit_cluster", SpecialReg::IsExplicitCluster},
    {"%clusterid.x", SpecialReg::ClusterIdX},
    {"%clusterid.y", SpecialReg::ClusterIdY},
    {"%clusterid.z", SpecialReg::ClusterIdZ},
    {"%nclusterid.x", SpecialReg::NClusterIdX},
    {"%nclusterid.y", SpecialReg::NClusterIdY},
    {"%nclusterid.z", SpecialReg::NClusterIdZ},
    {"%cluster_ctaid.x", SpecialReg::ClusterCtaidX},
    {"%cluster_ctaid.y", SpecialReg::ClusterCtaidY},
    {"%cluster_ctaid.z", SpecialReg::ClusterCtaidZ},
    {"%cluster_nctaid.x", SpecialReg::ClusterNctaidX},
    {"%cluster_nctaid.y", SpecialReg::ClusterNctaidY},
    {"%cluster_nctaid.z", SpecialReg::ClusterNctaidZ},
    {"%cluster_ctarank", SpecialReg::ClusterCtaRank},
    {"%cluster_nctarank", SpecialReg::ClusterNctaRank},
    {"%lanemask_eq", SpecialReg::LaneMaskEq},
    {"%lanemask_le", SpecialReg::LaneMaskLe},
    {"%lanemask_lt", SpecialReg::LaneMaskLt},
    {"%lanemask_ge", SpecialReg::LaneMaskGe},
    {"%lanemask_gt", SpecialReg::LaneMaskGt},
    {"%clock", SpecialReg::Clock},
    {"%clock_hi", SpecialReg::ClockHi},
    {"%clock64", SpecialReg::Clock64},
    {"%globaltimer", SpecialReg::GlobalTimer},
    {"%globaltimer_lo", SpecialReg::GlobalTimerLo},
    {"%globaltimer_hi", SpecialReg::GlobalTimerHi},
    {"%dynamic_smem_size", SpecialReg::DynamicSmemSize},
    {"%total_smem_size", SpecialReg::TotalSmemSize},
    {"%aggr_smem_size", SpecialReg::AggrSmemSize},
    {"%reserved_smem_offset_begin", SpecialReg::ReservedSmem},
};

uint64_t truncate(uint64_t bits, ptx::Type type) {
  unsigned width = ptx::typeBits(type);
  return width >= 64 || width == 0 ? bits : bits & ((uint64_t(1) << width) - 1);
}

uint64_t literal(Decode &d, const ptx::Operand &operand, ptx::Type type) {
  bool wide = ptx::typeBits(type) == 64;
  if (operand.isF32) {
    if (type != ptx::Type::F64)
      return operand.bits;
    return std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(operand.bits))));
  }
  if (wide)
    return operand.bits;
  if (type == ptx::Type::F32 || type == ptx::Type::B32)
    return std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.bits)));
  d.refuse("a floating-point literal cannot be an operand of type .%s", ptx::typeName(type));
}

void broadcast(Src &src, uint64_t value) { src.constant.fill(value); }
} // namespace

std::optional<size_t> functionNumber(const ptx::Module &module, std::string_view name) {
  std::optional<size_t> declaration;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].name != name)
      continue;
    if (!module.functions[i].isDeclaration)
      return i;
    declaration = i;
  }
  return declaration;
}

bool Decode::take(std::string_view modifier) {
  if (peek() != modifier || !more())
    return false;
  ++next;
  return true;
}

int Decode::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  int i = 0;
  for (std::string_view m : modifiers) {
    if (take(m))
      return i;
    ++i;
  }
  return -1;
}

std::optional<ptx::Type> Decode::takeType() {
  if (!more())
    return std::nullopt;
  ptx::Type type = ptx::parseType(peek());
  if (type == ptx::Type::None)
    return std::nullopt;
  ++next;
  return type;
}

ptx::Type Decode::needType() {
  if (std::optional<ptx::Type> type = takeType())
    return *type;
  if (more())
    refuse("expected a type, found .%s", inst.parts[next].c_str());
  refuse("expected a type behind the last modifier");
}

void Decode::need(std::string_view modifier) {
  if (take(modifier))
    return;
  if (more())
    refuse("expected .%.*s, found .%s", int(modifier.size()), modifier.data(),
           inst.parts[next].c_str());
  refuse("expected .%.*s behind the last modifier", int(modifier.size()), modifier.data());
}

void Decode::end() {
  if (more())
    refuse("modifier .%s is not executed here", inst.parts[next].c_str());
}

const ptx::Operand &Decode::operand(size_t i) const {
  if (i >= inst.operands.size())
    const_cast<Decode *>(this)->refuse("expected at least %zu operands, found %zu", i + 1,
                                       inst.operands.size());
  return inst.operands[i];
}

void Decode::needOperands(size_t least, size_t most) {
  if (numOperands() < least || numOperands() > most)
    refuse("expected %zu to %zu operands, found %zu", least, most, numOperands());
}

Src Decode::src(const ptx::Operand &operand, ptx::Type type) {
  using Kind = ptx::Operand::Kind;
  Src src;
  switch (operand.kind) {
  case Kind::Register:
    src.kind = Src::Kind::Reg;
    src.reg = code.registerSlot[operand.reg];
    src.negated = operand.negated;
    if (operand.negated && code.function->registers[operand.reg].type != ptx::Type::Pred)
      refuse("'%s' is negated, but only predicates can be",
             code.function->registers[operand.reg].name.c_str());
    return src;
  case Kind::Immediate:
    broadcast(src, truncate(operand.bits, type));
    return src;
  case Kind::Float:
    broadcast(src, literal(*this, operand, type));
    return src;
  case Kind::Special: {
    if (operand.name == "WARP_SZ") {
      broadcast(src, warpSize);
      return src;
    }
    for (const SpecialName &s : specialNames)
      if (operand.name == s.name) {
        src.kind = Src::Kind::Special;
        src.special = s.reg;
        return src;
      }
    if (operand.name.rfind("%envreg", 0) == 0 || operand.name.rfind("%pm", 0) == 0) {
      broadcast(src, 0); // without a driver or counters behind them they read as zero
      return src;
    }
    refuse("the special register %s is not known here", operand.name.c_str());
  }
  case Kind::Symbol: {
    uint64_t offset = uint64_t(operand.offset);
    if (operand.isParam || operand.isReturn) {
      const auto &offsets = operand.isParam ? code.paramOffset : code.returnOffset;
      if (!code.function->isEntry)
        src.kind = Src::Kind::Local;
      broadcast(src, offsets[size_t(operand.variable)] + offset);
      return src;
    }
    if (operand.variable >= 0 && operand.isLocalVariable) {
      const ptx::Variable &v = code.function->variables[size_t(operand.variable)];
      bool shared = v.space == ptx::Space::Shared;
      src.kind = !shared                 ? Src::Kind::Local
                 : v.isExtern || !v.size ? Src::Kind::DynamicShared
                                         : Src::Kind::Shared;
      broadcast(src, code.variableOffset[size_t(operand.variable)] + offset);
      return src;
    }
    if (operand.variable >= 0) {
      const ptx::Variable &v = program.module.variables[size_t(operand.variable)];
      if (v.space == ptx::Space::Shared)
        src.kind = v.isExtern || !v.size ? Src::Kind::DynamicShared : Src::Kind::Shared;
      else if (v.isExtern)
        refuse("'%s' is declared .extern and defined nowhere in this module", v.name.c_str());
      broadcast(src, program.variableAddress[size_t(operand.variable)] + offset);
      return src;
    }
    if (std::optional<size_t> i = functionNumber(program.module, operand.name)) {
      broadcast(src, functionWindow + 16 * *i);
      return src;
    }
    refuse("'%s' is not the name of a variable, parameter or function", operand.name.c_str());
  }
  default:
    refuse("expected a register, an immediate or the name of a variable as operand");
  }
}

Src Decode::predicate(size_t i) {
  const ptx::Operand &o = operand(i);
  if (o.kind == ptx::Operand::Kind::Register) {
    if (code.function->registers[o.reg].type != ptx::Type::Pred)
      refuse("operand %zu: expected a predicate, found '%s'", i + 1,
             code.function->registers[o.reg].name.c_str());
  } else if (o.kind != ptx::Operand::Kind::Immediate) {
    refuse("operand %zu: expected a predicate", i + 1);
  }
  return src(o, ptx::Type::Pred);
}

Dst Decode::dst(const ptx::Operand &operand) {
  Dst dst;
  if (operand.kind == ptx::Operand::Kind::Sink)
    return dst;
  if (operand.kind != ptx::Operand::Kind::Register || operand.negated)
    refuse("expected a register (or _) as destination");
  dst.sink = false;
  dst.reg = code.registerSlot[operand.reg];
  dst.type = code.function->registers[operand.reg].type;
  return dst;
}

AddressOperand Decode::address(const ptx::Operand &operand) {
  if (operand.kind != ptx::Operand::Kind::Address || operand.items.empty())
    refuse("expected an address in brackets");
  AddressOperand address;
  address.base = src(operand.items[0], ptx::Type::B64);
  address.offset = operand.offset;
  return address;
}

std::vector<Src> Decode::sources(const ptx::Operand &operand, ptx::Type type) {
  std::vector<Src> result;
  if (operand.kind != ptx::Operand::Kind::Vector)
    return {src(operand, type)};
  for (const ptx::Operand &item : operand.items)
    result.push_back(src(item, type));
  return result;
}

std::vector<Dst> Decode::destinations(const ptx::Operand &operand) {
  std::vector<Dst> result;
  if (operand.kind != ptx::Operand::Kind::Vector)
    return {dst(operand)};
  for (const ptx::Operand &item : operand.items)
    result.push_back(dst(item));
  return result;
}

uint64_t Decode::immediate(size_t i) {
  const ptx::Operand &o = operand(i);
  if (o.kind != ptx::Operand::Kind::Immediate)
    refuse("operand %zu: expected an integer constant", i + 1);
  return o.bits;
}

uint32_t Decode::label(size_t i) {
  const ptx::Operand &o = operand(i);
  if (o.kind != ptx::Operand::Kind::Label)
    refuse("operand %zu: expected a label of this function", i + 1);
  return uint32_t(o.bits);
}

Space Decode::paramSpace(const ptx::Operand &operand) {
  bool symbol = !operand.items.empty() && operand.items[0].kind == ptx::Operand::Kind::Symbol;
  if (symbol)
    return operand.items[0].isParam && code.function->isEntry ? Space::Param : Space::Local;
  return code.function->isEntry ? Space::Param : Space::Local;
}

void Decode::refuse(const char *text, ...) {
  va_list args;
  va_start(args, text);
  char buffer[512];
  vsnprintf(buffer, sizeof buffer, text, args);
  va_end(args);
  throw DecodeError{buffer};
}

void DecoderTable::add(const char *name, Decoder decoder, std::initializer_list<Form> forms) {
  entries.emplace_back(name, decoder);
  allForms.insert(allForms.end(), forms.begin(), forms.end());
}

Decoder DecoderTable::find(const ptx::Instruction &inst, size_t &parts) const {
  Decoder best = nullptr;
  size_t bestLength = 0;
  for (const auto &[name, decoder] : entries) {
    if (name.size() < bestLength || inst.opcode.compare(0, name.size(), name) != 0)
      continue;
    if (inst.opcode.size() > name.size() && inst.opcode[name.size()] != '.')
      continue;
    best = decoder;
    bestLength = name.size();
    parts = 1 + size_t(std::count(name.begin(), name.end(), '.'));
  }
  return best;
}

const DecoderTable &decoderTable() {
  static const DecoderTable table = [] {
    DecoderTable t;
    registerControl(t);
    registerInteger(t);
    registerFloat(t);
    registerConversions(t);
    registerMoves(t);
    registerMemory(t);
    registerWarp(t);
    registerMma(t);
    registerMbarrier(t);
    registerCopies(t);
    registerClc(t);
    registerWgmma(t);
    registerTcgen05(t);
    registerTcgen05Data(t);
    return t;
  }();
  return table;
}

} // namespace ts::emu
