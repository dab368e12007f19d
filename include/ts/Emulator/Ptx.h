// PTX as text turned into a tree: what a module declares and the instructions of its functions,
// names resolved, nothing interpreted. Not for the meaning of an instruction (the decoders of
// lib/Emulator) and not a checker of PTX: ptxas is that. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_PTX_H
#define TS_EMULATOR_PTX_H

#include "ts/Runtime/Result.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ts::ptx {

/// The types that declare registers and variables and that suffix instructions.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F32x2,
  F64,
};

unsigned typeBits(Type type); // Pred is 1, None 0
/// "b32", "f16x2", ...; without the dot. None when it is not the name of a type.
Type parseType(std::string_view name);
const char *typeName(Type type);
bool isSigned(Type type);
bool isFloat(Type type);

enum class Space : uint8_t { None, Const, Global, Local, Param, Shared };

/// Where an instruction comes from. `file` is a key of Module::files, 0 without `.loc`.
struct Loc {
  uint32_t ptxLine = 0;
  uint32_t file = 0, line = 0, column = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    Register,  // reg
    Immediate, // bits, two's complement
    Float,     // bits of an f32 (0f..., isF32) or f64 (0d..., 1.5)
    Symbol,    // name (variable or function) + offset; `variable` where it is one
    Label,     // bits: index of the instruction it stands before
    Special,   // name with its % and suffix: %tid.x
    Vector,    // items
    Address,   // items[0] the base (Register, Symbol or Immediate) + offset; further items follow
               // the comma: tensor coordinates are one Vector
    Pair,      // items[0] | items[1]: shfl's register and predicate
    Sink,      // _
    List,      // items in parentheses: call arguments
  };
  Kind kind = Kind::Sink;
  bool negated = false; // !%p, or a minus before a register
  bool isF32 = false;
  uint32_t reg = 0; // index into Function::registers
  /// Symbol: index into Function::variables (isLocalVariable) or Module::variables; -1 for a
  /// function, a parameter (isParam: index into Function::params) or an unknown name.
  int32_t variable = -1;
  bool isLocalVariable = false, isParam = false, isReturn = false;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::string name;
  std::vector<Operand> items;
};

struct Instruction {
  int32_t guard = -1; // predicate register, or -1
  bool guardNegated = false;
  std::string opcode;             // "cp.async.bulk.commit_group"
  std::vector<std::string> parts; // split at dots: "shared::cluster" stays one part
  std::vector<Operand> operands;
  Loc loc;
};

/// A variable in any space, or a parameter. Initialisers are bytes with relocations in them.
struct Variable {
  struct Relocation {
    uint64_t at = 0; // byte offset of the 8-byte (or 4-byte) address
    unsigned bytes = 8;
    std::string symbol;
    int64_t addend = 0;
    bool generic = false; // generic(symbol)
  };
  std::string name;
  Space space = Space::None;
  Type type = Type::None; // of an element
  uint64_t size = 0;      // in bytes; 0 for `[]`
  uint32_t align = 1;
  bool isExtern = false;
  std::vector<uint8_t> init; // empty: not initialised
  std::vector<Relocation> relocations;
};

struct Register {
  std::string name; // with its %
  Type type = Type::None;
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool isDeclaration = false;
  std::vector<Variable> params;  // space Param
  std::vector<Variable> returns; // of a .func
  std::vector<Register> registers;
  /// Variables declared in the body, renamed where nested scopes repeat a name: local memory,
  /// static shared memory and the .param variables of call sequences.
  std::vector<Variable> variables;
  std::vector<Instruction> body;
  std::map<std::string, uint32_t> labels;                     // of the outermost scope
  std::map<std::string, std::vector<uint32_t>> branchTargets; // .branchtargets lists, resolved
  std::array<uint32_t, 3> maxntid = {0, 0, 0}, reqntid = {0, 0, 0}, reqnctapercluster = {0, 0, 0};
  uint32_t minnctapersm = 0, maxnreg = 0, maxclusterrank = 0;
  bool explicitCluster = false;
  Loc loc;
};

struct Module {
  std::string name; // of the file, for messages
  std::string version, target;
  std::vector<std::string> targetOptions;
  unsigned addressSize = 64;
  std::map<uint32_t, std::string> files; // .file numbers and paths
  std::vector<Variable> variables;       // of module scope
  std::vector<Function> functions;

  const Function *find(std::string_view name) const;
};

/// "name:line:column: what is wrong" as the error. Never crashes, whatever the text.
Result<Module> parse(std::string_view text, std::string name);

} // namespace ts::ptx

#endif // TS_EMULATOR_PTX_H
