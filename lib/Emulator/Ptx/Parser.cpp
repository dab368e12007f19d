// Module-level declarations. Source: PTX ISA, "Directives" and "State Spaces, Types, and
// Variables". SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Parser.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ts::ptx {
namespace {

struct TypeInfo {
  const char *name;
  Type type;
  unsigned bits;
};
constexpr TypeInfo types[] = {
    {"", Type::None, 0},          {"pred", Type::Pred, 1},    {"b8", Type::B8, 8},
    {"b16", Type::B16, 16},       {"b32", Type::B32, 32},     {"b64", Type::B64, 64},
    {"b128", Type::B128, 128},    {"u8", Type::U8, 8},        {"u16", Type::U16, 16},
    {"u32", Type::U32, 32},       {"u64", Type::U64, 64},     {"s8", Type::S8, 8},
    {"s16", Type::S16, 16},       {"s32", Type::S32, 32},     {"s64", Type::S64, 64},
    {"f16", Type::F16, 16},       {"f16x2", Type::F16x2, 32}, {"bf16", Type::BF16, 16},
    {"bf16x2", Type::BF16x2, 32}, {"f32", Type::F32, 32},     {"f32x2", Type::F32x2, 64},
    {"f64", Type::F64, 64},
};

constexpr uint64_t maxVariable = uint64_t(1) << 40;
constexpr unsigned maxDepth = 64;
} // namespace

unsigned typeBits(Type type) { return types[size_t(type)].bits; }
const char *typeName(Type type) { return types[size_t(type)].name; }
Type parseType(std::string_view name) {
  for (const TypeInfo &info : types)
    if (info.type != Type::None && name == info.name)
      return info.type;
  return Type::None;
}
bool isSigned(Type type) { return type >= Type::S8 && type <= Type::S64; }
bool isFloat(Type type) { return type >= Type::F16; }

const Function *Module::find(std::string_view name) const {
  for (const Function &f : functions)
    if (f.name == name && !f.isDeclaration)
      return &f;
  return nullptr;
}

Token Parser::take() {
  Token current = token;
  token = lexer.next();
  return current;
}

void Parser::fail(const Token &at, std::string message) {
  throw SyntaxError{at.line, at.column, std::move(message)};
}

bool Parser::accept(char c) {
  if (!token.is(c))
    return false;
  take();
  return true;
}

void Parser::expect(char c, const char *context) {
  if (accept(c))
    return;
  std::string found =
      token.kind == Token::Kind::End ? "the end of the text" : "'" + std::string(token.text) + "'";
  fail(std::string("expected '") + c + "' " + context + ", found " + found);
}

bool Parser::acceptDirective(std::string_view name) {
  if (!atDirective(name))
    return false;
  take();
  return true;
}

std::string Parser::word(const char *what) {
  if (token.kind != Token::Kind::Word)
    fail(std::string("expected ") + what + ", found '" + std::string(token.text) + "'");
  return std::string(take().text);
}

uint64_t Parser::integer(const char *what) {
  if (token.kind != Token::Kind::Integer)
    fail(std::string("expected ") + what + ", found '" + std::string(token.text) + "'");
  return take().bits;
}

Space Parser::spaceOf(std::string_view directive) {
  if (directive == "const")
    return Space::Const;
  if (directive == "global")
    return Space::Global;
  if (directive == "local")
    return Space::Local;
  if (directive == "param")
    return Space::Param;
  if (directive == "shared")
    return Space::Shared;
  return Space::None;
}

void Parser::parseModule() {
  while (token.kind != Token::Kind::End) {
    if (acceptDirective("version")) {
      module.version = std::string(take().text);
    } else if (acceptDirective("target")) {
      parseTarget();
    } else if (acceptDirective("address_size")) {
      module.addressSize = unsigned(integer("32 or 64"));
    } else if (acceptDirective("file")) {
      parseFile();
    } else if (acceptDirective("section")) {
      skipSection();
    } else if (acceptDirective("loc")) {
      parseLoc();
    } else if (acceptDirective("pragma") || acceptDirective("alias")) {
      skipStatement();
    } else if (accept(';')) {
      continue;
    } else {
      bool isExtern = false;
      bool linked = parseLinking(isExtern);
      if (acceptDirective("entry")) {
        parseFunction(true);
      } else if (acceptDirective("func")) {
        parseFunction(false);
      } else if (token.kind == Token::Kind::Directive && spaceOf(token.text) != Space::None) {
        Space space = spaceOf(take().text);
        size_t before = module.variables.size();
        parseVariables(space, isExtern, module.variables);
        for (size_t i = before; i < module.variables.size(); ++i)
          moduleVariables[module.variables[i].name] = uint32_t(i);
        expect(';', "behind a variable");
      } else {
        fail(std::string("expected a directive ") +
             (linked ? "(.entry, .func or a variable) behind its linkage" : "of a module") +
             ", found '" + std::string(token.text) + "'");
      }
    }
  }
  for (Function &f : module.functions)
    for (Instruction &inst : f.body)
      for (Operand &operand : inst.operands)
        resolveSymbols(operand);
}

void Parser::resolveSymbols(Operand &operand) const {
  for (Operand &item : operand.items)
    resolveSymbols(item);
  if (operand.kind != Operand::Kind::Symbol || operand.variable >= 0)
    return;
  auto it = moduleVariables.find(operand.name);
  if (it != moduleVariables.end())
    operand.variable = int32_t(it->second);
}

void Parser::parseTarget() {
  module.target = word("the name of a target");
  while (accept(','))
    module.targetOptions.push_back(word("a target option"));
}

void Parser::parseFile() {
  auto number = uint32_t(integer("the number of a file"));
  if (token.kind != Token::Kind::String)
    fail("expected the name of a file in quotes");
  module.files[number] = std::string(take().text);
  while (accept(','))
    integer("a time stamp or size");
}

void Parser::skipSection() {
  take();
  expect('{', "behind .section");
  unsigned depth = 1;
  while (depth) {
    if (token.kind == Token::Kind::End)
      fail("a .section has no end");
    if (token.is('{'))
      ++depth;
    if (token.is('}'))
      --depth;
    take();
  }
}

void Parser::skipStatement() {
  while (!accept(';')) {
    if (token.kind == Token::Kind::End)
      fail("a statement has no ';'");
    take();
  }
}

bool Parser::parseLinking(bool &isExtern) {
  bool any = false;
  while (true) {
    if (acceptDirective("extern"))
      isExtern = true;
    else if (!acceptDirective("visible") && !acceptDirective("weak") && !acceptDirective("common"))
      return any;
    any = true;
  }
}

// [.align N] [.attribute(...)] [.v2|.v4] .type
Variable Parser::parseShape() {
  Variable v;
  uint32_t vector = 1;
  while (token.kind == Token::Kind::Directive) {
    if (acceptDirective("align")) {
      Token at = token;
      uint64_t align = integer("an alignment");
      if (!std::has_single_bit(align) || align > 1 << 20)
        fail(at, "an alignment has to be a power of two");
      v.align = uint32_t(align);
    } else if (acceptDirective("attribute")) {
      expect('(', "behind .attribute");
      while (!accept(')')) {
        if (token.kind == Token::Kind::End)
          fail(".attribute has no ')'");
        take();
      }
    } else if (atDirective("v2") || atDirective("v4") || atDirective("v8")) {
      vector = uint32_t(take().text[1] - '0');
    } else if (acceptDirective("texref") || acceptDirective("samplerref") ||
               acceptDirective("surfref")) {
      fail("textures, samplers and surfaces are not known here");
    } else {
      v.type = parseType(token.text);
      if (v.type == Type::None)
        fail("expected a type, found '." + std::string(token.text) + "'");
      take();
      break;
    }
  }
  if (v.type == Type::None)
    fail("expected the type of a variable");
  v.size = std::max(1u, typeBits(v.type) / 8) * uint64_t(vector);
  v.align = std::max<uint32_t>(v.align, uint32_t(std::min<uint64_t>(v.size, 16)));
  return v;
}

void Parser::parseVariables(Space space, bool isExtern, std::vector<Variable> &into) {
  Variable shape = parseShape();
  do
    into.push_back(parseVariable(space, isExtern, shape));
  while (accept(','));
}

Variable Parser::parseVariable(Space space, bool isExtern, const Variable &shape) {
  Variable v = shape;
  v.space = space;
  v.isExtern = isExtern;
  Token at = token;
  v.name = word("the name of a variable");
  if (token.is('<')) // .param .b32 p<4>: several of one type; each has its own name
    fail(at, "parameterized names of variables are not known here");
  parseDimensions(v);
  if (accept('=')) {
    if (v.size == 0)
      fail("an initialiser for a variable without a size");
    parseInitialiser(v, 0);
    if (v.init.size() > v.size)
      fail(at, "the initialiser is longer than the variable");
  }
  return v;
}

void Parser::parseDimensions(Variable &v) {
  while (accept('[')) {
    if (accept(']')) {
      v.size = 0;
      continue;
    }
    Token at = token;
    uint64_t n = integer("the length of an array");
    if (n && v.size > maxVariable / n)
      fail(at, "an array of more than 2^40 bytes");
    v.size *= n;
    expect(']', "behind the length of an array");
  }
}

void Parser::parseInitialiser(Variable &v, unsigned depth) {
  if (depth > maxDepth)
    fail("an initialiser is nested too deeply");
  if (!accept('{')) {
    parseInitialValue(v);
    return;
  }
  if (accept('}'))
    return;
  do
    parseInitialiser(v, depth + 1);
  while (accept(','));
  expect('}', "at the end of an initialiser");
}

void Parser::parseInitialValue(Variable &v) {
  unsigned bytes = std::max(1u, typeBits(v.type) / 8);
  uint64_t value = 0;
  if (v.init.size() + bytes > v.size)
    fail("the initialiser is longer than the variable");
  bool minus = accept('-');
  if (token.kind == Token::Kind::Integer) {
    value = minus ? 0 - token.bits : token.bits;
    take();
    if (token.is('('))
      fail("masked addresses in initialisers are not known here");
  } else if (token.kind == Token::Kind::Float) {
    double d = token.isF32 ? std::bit_cast<float>(uint32_t(token.bits))
                           : std::bit_cast<double>(token.bits);
    d = minus ? -d : d;
    value = v.type == Type::F32 ? std::bit_cast<uint32_t>(float(d)) : std::bit_cast<uint64_t>(d);
    take();
  } else {
    Variable::Relocation r;
    r.at = v.init.size();
    r.bytes = bytes;
    r.symbol = word("a value or a name");
    if (r.symbol == "generic" && accept('(')) {
      r.generic = true;
      r.symbol = word("the name of a variable");
      expect(')', "behind generic(...)");
    }
    if (accept('+'))
      r.addend = int64_t(integer("an offset"));
    v.relocations.push_back(std::move(r));
  }
  for (unsigned i = 0; i < bytes; ++i)
    v.init.push_back(i < 8 ? uint8_t(value >> (8 * i)) : 0);
}

// (.param .type [.ptr ...] name[dims], ...), possibly empty
std::vector<Variable> Parser::parseParameters() {
  std::vector<Variable> params;
  expect('(', "before parameters");
  if (accept(')'))
    return params;
  do {
    Space space = Space::Param;
    if (acceptDirective("reg"))
      fail("parameters in registers are not known here; use .param");
    if (!acceptDirective("param"))
      fail("expected .param");
    Variable v = parseShape();
    if (acceptDirective("ptr")) {
      while (token.kind == Token::Kind::Directive) {
        if (acceptDirective("align"))
          integer("an alignment");
        else
          take(); // the space it points to
      }
    }
    v.space = space;
    v.name = token.kind == Token::Kind::Word ? std::string(take().text) : "";
    parseDimensions(v);
    params.push_back(std::move(v));
  } while (accept(','));
  expect(')', "behind parameters");
  return params;
}

Result<Module> parse(std::string_view text, std::string name) {
  Module module;
  module.name = std::move(name);
  try {
    Parser(text, module).parseModule();
  } catch (const SyntaxError &error) {
    return Error{module.name + ":" + std::to_string(error.line) + ":" +
                 std::to_string(error.column) + ": " + error.message};
  }
  return module;
}

} // namespace ts::ptx
