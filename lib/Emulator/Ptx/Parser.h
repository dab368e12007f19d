// The parser's state, shared by the file of module-level declarations and the file of function
// bodies. Not for users: they call ts::ptx::parse. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_PTX_PARSER_H
#define TS_EMULATOR_PTX_PARSER_H

#include "Lexer.h"
#include "ts/Emulator/Ptx.h"

#include <unordered_map>

namespace ts::ptx {

class Parser {
public:
  Parser(std::string_view text, Module &module) : lexer(text), module(module) { take(); }
  void parseModule();

private:
  // Tokens.
  Token take(); // returns the current one, moves on
  [[noreturn]] void fail(std::string message) const { fail(token, std::move(message)); }
  [[noreturn]] static void fail(const Token &at, std::string message);
  bool accept(char c);
  void expect(char c, const char *context);
  bool acceptDirective(std::string_view name);
  std::string word(const char *what);
  uint64_t integer(const char *what);
  bool atDirective(std::string_view name) const {
    return token.kind == Token::Kind::Directive && token.text == name;
  }

  // Declarations (Parser.cpp).
  void parseTarget();
  void parseFile();
  void skipSection();
  void skipStatement();
  bool parseLinking(bool &isExtern);
  static Space spaceOf(std::string_view directive);
  /// Behind the space: type, name, dimensions, initialiser; several names separated by commas.
  void parseVariables(Space space, bool isExtern, std::vector<Variable> &into);
  Variable parseVariable(Space space, bool isExtern, const Variable &shape);
  Variable parseShape();
  void parseDimensions(Variable &v);
  void parseInitialiser(Variable &v, unsigned depth);
  void parseInitialValue(Variable &v);
  std::vector<Variable> parseParameters();

  // Functions (ParserBody.cpp).
  void parseFunction(bool isEntry);
  void parseFunctionDirectives(Function &f);
  std::array<uint32_t, 3> parseTriple();
  void parseBody(Function &f);
  void parseStatement(Function &f);
  void parseRegisters(Function &f);
  void parseLocalVariables(Function &f, Space space, bool isExtern);
  void parseLoc();
  void parseInstruction(Function &f, const Token &first, int32_t guard, bool negated);
  void parseLabelled(Function &f, const std::string &label);
  Operand parseOperand(Function &f, unsigned depth);
  Operand parseName(Function &f);
  Operand parseAddress(Function &f, unsigned depth);
  void parseOffset(Operand &operand);

  // Scopes of a body.
  struct Scope {
    std::unordered_map<std::string, uint32_t> registers; // index
    std::unordered_map<std::string, uint32_t> variables;
    std::unordered_map<std::string, uint32_t> labels;
    std::vector<std::pair<std::string, std::vector<std::string>>> targets;
    std::vector<uint32_t> open; // instructions with names that may be labels further down
  };
  void openScope();
  void closeScope(Function &f);
  void resolveLabels(Operand &operand, const Scope &scope, bool &left) const;
  const uint32_t *findRegister(const std::string &name) const;
  const uint32_t *findVariable(const std::string &name) const;
  void resolveSymbols(Operand &operand) const;

  Lexer lexer;
  Token token;
  Module &module;
  std::vector<Scope> scopes;
  std::unordered_map<std::string, uint32_t> moduleVariables;
  Loc loc; // of .loc
  uint64_t registerCount = 0;
};

} // namespace ts::ptx

#endif // TS_EMULATOR_PTX_PARSER_H
