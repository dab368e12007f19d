// Functions: their directives, scopes, statements and operands. SPDX-License-Identifier: Apache-2.0
// WITH LLVM-exception
#include "Parser.h"

#include <algorithm>
#include <cstring>

namespace ts::ptx {
namespace {
constexpr uint64_t maxRegisters = 1 << 20; // of a function; a frame has 256 bytes for each
constexpr size_t maxInstructions = 1 << 24;
constexpr size_t maxScopes = 256;
constexpr unsigned maxDepth = 16; // of operands

constexpr const char *dimensioned[] = {"%tid",           "%ntid",          "%ctaid",
                                       "%nctaid",        "%clusterid",     "%nclusterid",
                                       "%cluster_ctaid", "%cluster_nctaid"};

std::vector<std::string> split(const std::string &opcode) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= opcode.size();) {
    size_t dot = std::min(opcode.find('.', at), opcode.size());
    parts.push_back(opcode.substr(at, dot - at));
    at = dot + 1;
  }
  return parts;
}
} // namespace

void Parser::parseFunction(bool isEntry) {
  Function f;
  f.isEntry = isEntry;
  f.loc = loc;
  f.loc.ptxLine = token.line;
  if (!isEntry && token.is('('))
    f.returns = parseParameters();
  f.name = word("the name of a function");
  if (token.is('('))
    f.params = parseParameters();
  parseFunctionDirectives(f);
  if (accept(';')) {
    f.isDeclaration = true;
  } else {
    expect('{', "before the body of a function");
    parseBody(f);
  }
  module.functions.push_back(std::move(f));
}

std::array<uint32_t, 3> Parser::parseTriple() {
  std::array<uint32_t, 3> triple = {0, 0, 0};
  for (size_t i = 0; i < 3; ++i) {
    triple[i] = uint32_t(integer("a number"));
    if (!accept(','))
      break;
  }
  return triple;
}

void Parser::parseFunctionDirectives(Function &f) {
  while (token.kind == Token::Kind::Directive) {
    if (acceptDirective("maxntid"))
      f.maxntid = parseTriple();
    else if (acceptDirective("reqntid"))
      f.reqntid = parseTriple();
    else if (acceptDirective("reqnctapercluster"))
      f.reqnctapercluster = parseTriple();
    else if (acceptDirective("minnctapersm"))
      f.minnctapersm = uint32_t(integer("a number"));
    else if (acceptDirective("maxnctapersm"))
      integer("a number");
    else if (acceptDirective("maxnreg"))
      f.maxnreg = uint32_t(integer("a number"));
    else if (acceptDirective("maxclusterrank"))
      f.maxclusterrank = uint32_t(integer("a number"));
    else if (acceptDirective("explicitcluster"))
      f.explicitCluster = true;
    else if (acceptDirective("pragma"))
      skipStatement();
    else if (!acceptDirective("noreturn") && !acceptDirective("blocksareclusters") &&
             !acceptDirective("unified"))
      fail("the directive '." + std::string(token.text) + "' of a function is not known here");
  }
}

void Parser::openScope() {
  if (scopes.size() >= maxScopes)
    fail("blocks are nested more than " + std::to_string(maxScopes) + " deep");
  scopes.emplace_back();
}

void Parser::parseBody(Function &f) {
  registerCount = 0;
  loc = {};
  scopes.clear();
  openScope();
  for (size_t i = 0; i < f.params.size(); ++i) // found by findVariable through the function
    if (f.params[i].name.empty())
      fail("a parameter of a function with a body has no name");
  while (!scopes.empty())
    parseStatement(f);
}

const uint32_t *Parser::findRegister(const std::string &name) const {
  for (size_t i = scopes.size(); i-- > 0;)
    if (auto it = scopes[i].registers.find(name); it != scopes[i].registers.end())
      return &it->second;
  return nullptr;
}

const uint32_t *Parser::findVariable(const std::string &name) const {
  for (size_t i = scopes.size(); i-- > 0;)
    if (auto it = scopes[i].variables.find(name); it != scopes[i].variables.end())
      return &it->second;
  return nullptr;
}

void Parser::resolveLabels(Operand &operand, const Scope &scope, bool &left) const {
  for (Operand &item : operand.items)
    resolveLabels(item, scope, left);
  if (operand.kind != Operand::Kind::Symbol || operand.variable >= 0)
    return;
  auto it = scope.labels.find(operand.name);
  if (it == scope.labels.end()) {
    left = true;
    return;
  }
  operand.kind = Operand::Kind::Label;
  operand.bits = it->second;
}

void Parser::closeScope(Function &f) {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (uint32_t i : scope.open) {
    bool left = false;
    for (Operand &operand : f.body[i].operands)
      resolveLabels(operand, scope, left);
    if (left && !scopes.empty())
      scopes.back().open.push_back(i);
  }
  for (auto &[name, labels] : scope.targets) {
    std::vector<uint32_t> targets;
    for (const std::string &label : labels) {
      auto it = scope.labels.find(label);
      if (it == scope.labels.end())
        fail("'" + label + "' of a .branchtargets list is not a label");
      targets.push_back(it->second);
    }
    f.branchTargets[name] = std::move(targets);
  }
  if (scopes.empty())
    f.labels.insert(scope.labels.begin(), scope.labels.end());
}

void Parser::parseStatement(Function &f) {
  if (token.kind == Token::Kind::End)
    fail("the body of '" + f.name + "' has no end");
  if (accept('{'))
    return openScope();
  if (accept('}'))
    return closeScope(f);
  if (accept(';'))
    return;
  if (token.kind == Token::Kind::Directive) {
    bool isExtern = false;
    parseLinking(isExtern);
    if (acceptDirective("reg"))
      return parseRegisters(f);
    if (acceptDirective("loc"))
      return parseLoc();
    if (acceptDirective("file"))
      return parseFile();
    if (acceptDirective("pragma"))
      return skipStatement();
    if (acceptDirective("section"))
      return skipSection();
    if (Space space = spaceOf(token.text); space != Space::None) {
      take();
      return parseLocalVariables(f, space, isExtern);
    }
    fail("the directive '." + std::string(token.text) + "' is not known inside a function");
  }
  int32_t guard = -1;
  bool negated = false;
  if (accept('@')) {
    negated = accept('!');
    Token at = token;
    const std::string name = word("a predicate behind '@'");
    const uint32_t *reg = findRegister(name);
    if (!reg || f.registers[*reg].type != Type::Pred)
      fail(at, "'" + name + "' is not a predicate register");
    guard = int32_t(*reg);
  }
  if (token.kind != Token::Kind::Word)
    fail("expected an instruction or a label, found '" + std::string(token.text) + "'");
  // The modifiers of an opcode follow its first word without a space.
  Token first = token;
  parseInstruction(f, first, guard, negated);
}

void Parser::parseRegisters(Function &f) {
  Variable shape = parseShape();
  do {
    Token at = token;
    const std::string name = word("the name of a register");
    uint64_t count = 1;
    bool several = accept('<');
    if (several) {
      count = integer("the number of registers");
      expect('>', "behind the number of registers");
    }
    if (count > maxRegisters - registerCount)
      fail(at, "more than " + std::to_string(maxRegisters) + " registers in one function");
    registerCount += count;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string full = several ? name + std::to_string(i) : name;
      scopes.back().registers[full] = uint32_t(f.registers.size());
      f.registers.push_back({full, shape.type});
    }
    if (shape.size > std::max(1u, typeBits(shape.type) / 8))
      fail(at, "vector registers are not known here");
  } while (accept(','));
  expect(';', "behind registers");
}

void Parser::parseLocalVariables(Function &f, Space space, bool isExtern) {
  size_t before = f.variables.size();
  std::vector<Variable> fresh;
  parseVariables(space, isExtern, fresh);
  expect(';', "behind a variable");
  for (Variable &v : fresh) {
    if (space == Space::Global || space == Space::Const) { // static: of the module, in effect
      moduleVariables[v.name] = uint32_t(module.variables.size());
      module.variables.push_back(std::move(v));
      continue;
    }
    scopes.back().variables[v.name] = uint32_t(before++);
    f.variables.push_back(std::move(v));
  }
}

void Parser::parseLoc() {
  loc.file = uint32_t(integer("the number of a file"));
  loc.line = uint32_t(integer("a line"));
  loc.column = uint32_t(integer("a column"));
  while (accept(',')) { // function_name label, inlined_at file line column
    word("function_name or inlined_at");
    while (token.kind == Token::Kind::Integer || token.kind == Token::Kind::Word || token.is('+')) {
      // A label may be followed by the next statement's opcode only behind a complete location.
      bool number = token.kind == Token::Kind::Integer;
      take();
      if (!number && !token.is('+'))
        break;
      if (number && token.kind != Token::Kind::Integer)
        break;
    }
  }
}

void Parser::parseLabelled(Function &f, const std::string &label) {
  std::string name = label;
  if (acceptDirective("branchtargets")) {
    std::vector<std::string> targets;
    do
      targets.push_back(word("a label"));
    while (accept(','));
    expect(';', "behind .branchtargets");
    scopes.back().targets.emplace_back(std::move(name), std::move(targets));
    return;
  }
  if (atDirective("callprototype") || atDirective("calltargets"))
    return skipStatement();
  if (!scopes.back().labels.emplace(name, uint32_t(f.body.size())).second)
    fail("the label '" + name + "' is there twice");
}

void Parser::parseInstruction(Function &f, const Token &first, int32_t guard, bool negated) {
  std::string_view modifiers = lexer.modifiers();
  take();
  if (modifiers.empty() && guard < 0 && accept(':'))
    return parseLabelled(f, std::string(first.text));
  if (f.body.size() >= maxInstructions)
    fail("more than " + std::to_string(maxInstructions) + " instructions in one function");
  Instruction inst;
  inst.guard = guard;
  inst.guardNegated = negated;
  inst.opcode = std::string(first.text) + std::string(modifiers);
  inst.parts = split(inst.opcode);
  inst.loc = loc;
  inst.loc.ptxLine = first.line;
  if (!token.is(';')) {
    do
      inst.operands.push_back(parseOperand(f, 0));
    while (accept(','));
  }
  expect(';', ("behind the operands of " + inst.opcode).c_str());
  scopes.back().open.push_back(uint32_t(f.body.size()));
  f.body.push_back(std::move(inst));
}

void Parser::parseOffset(Operand &operand) {
  bool minus = token.is('-');
  if (!minus && !token.is('+'))
    return;
  take();
  if (accept('-'))
    minus = !minus;
  auto offset = int64_t(integer("an offset"));
  operand.offset = minus ? int64_t(0 - uint64_t(offset)) : offset;
}

Operand Parser::parseAddress(Function &f, unsigned depth) {
  Operand address;
  address.kind = Operand::Kind::Address;
  address.items.push_back(parseOperand(f, depth + 1));
  Operand &base = address.items[0];
  if (base.kind == Operand::Kind::Symbol || base.kind == Operand::Kind::Register)
    parseOffset(address);
  if (base.kind == Operand::Kind::Symbol) { // sym+8 was read with the symbol
    address.offset += base.offset;
    base.offset = 0;
  }
  while (accept(','))
    address.items.push_back(parseOperand(f, depth + 1));
  expect(']', "at the end of an address");
  acceptDirective("unified"); // [a].unified: where the memory is does not matter
  return address;
}

Operand Parser::parseName(Function &f) {
  Operand operand;
  operand.name = std::string(take().text);
  if (operand.name == "_") {
    operand.kind = Operand::Kind::Sink;
    return operand;
  }
  if (const uint32_t *reg = findRegister(operand.name)) {
    operand.kind = Operand::Kind::Register;
    operand.reg = *reg;
    return operand;
  }
  if (operand.name[0] == '%' || operand.name == "WARP_SZ") {
    operand.kind = Operand::Kind::Special;
    for (const char *base : dimensioned)
      if (operand.name == base && token.kind == Token::Kind::Directive && token.text.size() == 1)
        operand.name += "." + std::string(take().text);
    return operand;
  }
  operand.kind = Operand::Kind::Symbol;
  if (const uint32_t *variable = findVariable(operand.name)) {
    operand.variable = int32_t(*variable);
    operand.isLocalVariable = true;
  } else {
    for (size_t i = 0; i < f.params.size(); ++i)
      if (f.params[i].name == operand.name) {
        operand.variable = int32_t(i);
        operand.isParam = true;
      }
    for (size_t i = 0; i < f.returns.size(); ++i)
      if (f.returns[i].name == operand.name) {
        operand.variable = int32_t(i);
        operand.isReturn = true;
      }
    if (operand.variable < 0)
      if (auto it = moduleVariables.find(operand.name); it != moduleVariables.end())
        operand.variable = int32_t(it->second);
  }
  parseOffset(operand);
  return operand;
}

Operand Parser::parseOperand(Function &f, unsigned depth) {
  if (depth > maxDepth)
    fail("operands are nested too deeply");
  Operand operand;
  if (accept('{')) {
    operand.kind = Operand::Kind::Vector;
    if (accept('}'))
      return operand;
    do
      operand.items.push_back(parseOperand(f, depth + 1));
    while (accept(','));
    expect('}', "at the end of a vector");
    return operand;
  }
  if (accept('['))
    return parseAddress(f, depth);
  if (accept('(')) {
    operand.kind = Operand::Kind::List;
    if (accept(')'))
      return operand;
    do
      operand.items.push_back(parseOperand(f, depth + 1));
    while (accept(','));
    expect(')', "at the end of a list");
    return operand;
  }
  if (accept('!')) {
    operand = parseOperand(f, depth + 1);
    operand.negated = !operand.negated;
    return operand;
  }
  bool minus = accept('-');
  if (token.kind == Token::Kind::Integer) {
    operand.kind = Operand::Kind::Immediate;
    operand.bits = minus ? 0 - token.bits : token.bits;
    take();
    return operand;
  }
  if (token.kind == Token::Kind::Float) {
    operand.kind = Operand::Kind::Float;
    operand.bits = token.bits;
    operand.isF32 = token.isF32;
    if (minus)
      operand.bits ^= token.isF32 ? uint64_t(1) << 31 : uint64_t(1) << 63;
    take();
    return operand;
  }
  if (minus || token.kind != Token::Kind::Word)
    fail("expected an operand, found '" + std::string(token.text) + "'");
  operand = parseName(f);
  if (accept('|')) {
    Operand pair;
    pair.kind = Operand::Kind::Pair;
    pair.items.push_back(std::move(operand));
    pair.items.push_back(parseOperand(f, depth + 1));
    return pair;
  }
  return operand;
}

} // namespace ts::ptx
