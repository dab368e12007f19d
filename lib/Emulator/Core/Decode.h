// From a PTX instruction to an Op: what a family's decoder is given, and the table in which
// families register. A decoder has to look at every modifier and operand: what it does not know
// exactly it refuses (never guesses). SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_DECODE_H
#define TS_EMULATOR_CORE_DECODE_H

#include "Exec.h"
#include "Machine.h"

#include <algorithm>

namespace ts::emu {

struct DecodeError {
  std::string message; // "modifier .foo is not executed", "expected 3 operands, found 2"
};

class Decode {
public:
  Decode(const Program &program, const Code &code, const ptx::Instruction &inst)
      : program(program), code(code), inst(inst) {}
  const Program &program;
  const Code &code;
  const ptx::Instruction &inst;

  // Modifiers, read from left to right. Position 0 is the first part ("ld"); a decoder begins
  // behind the name under which it is registered.
  bool more() const { return next < inst.parts.size(); }
  std::string_view peek() const { return more() ? std::string_view(inst.parts[next]) : ""; }
  bool take(std::string_view modifier); // consumes it if it comes next
  /// The index of the one that comes next, consumed; -1 if none does.
  int takeOneOf(std::initializer_list<std::string_view> modifiers);
  std::optional<ptx::Type> takeType(); // if a type comes next
  ptx::Type needType();                // else refuses
  void need(std::string_view modifier);
  /// Refuses if a modifier is left. Call it before returning an Op.
  void end();
  void skipTo(size_t part) { next = part; }

  // Operands.
  size_t numOperands() const { return inst.operands.size(); }
  const ptx::Operand &operand(size_t i) const; // refuses if missing
  void needOperands(size_t least, size_t most);
  /// Immediates and float literals are converted for an instruction of type `type` (f32 literal for
  /// f32, double to f64, integers truncated to its width).
  Src src(const ptx::Operand &operand, ptx::Type type);
  Src src(size_t i, ptx::Type type) { return src(operand(i), type); }
  Src predicate(size_t i); // a predicate register, possibly negated, or constant
  Dst dst(const ptx::Operand &operand);
  Dst dst(size_t i) { return dst(operand(i)); }
  AddressOperand address(const ptx::Operand &operand); // also of variables and parameters
  AddressOperand address(size_t i) { return address(operand(i)); }
  /// Elements of a vector operand, or the operand alone.
  std::vector<Src> sources(const ptx::Operand &operand, ptx::Type type);
  std::vector<Dst> destinations(const ptx::Operand &operand);
  uint64_t immediate(size_t i); // refuses a register
  /// The space of an operand of ld.param / st.param: Param for parameters of the entry, Local for
  /// those of functions and of calls, which live in the frame.
  Space paramSpace(const ptx::Operand &operand);
  uint32_t label(size_t i);

  [[noreturn]] void refuse(const char *format, ...) __attribute__((format(printf, 2, 3)));

private:
  size_t next = 0;
};

/// Number of the function of that name in the module; its definition where it is declared as well.
std::optional<size_t> functionNumber(const ptx::Module &module, std::string_view name);

using Decoder = std::unique_ptr<Op> (*)(Decode &);

class DecoderTable {
public:
  /// `name` is a dotted prefix ("cp.async.bulk"); the longest registered prefix decodes. `forms`
  /// are the family's instruction forms for the coverage table: alternatives in braces, options in
  /// brackets: "add[.sat].{u16|u32|s32}". `operands` is a sample operand list, used by the table to
  /// try each form: "%r1, %r2, %r3" (registers are declared by their names: %p pred, %rs b16, %r
  /// b32, %rd b64, %f f32, %fd f64, %rq b128).
  struct Form {
    const char *pattern;
    const char *operands;
    const char *note = nullptr; // for forms that are not executed: why; they refuse with it
  };
  void add(const char *name, Decoder decoder, std::initializer_list<Form> forms);

  /// One more form of a family that has too many to write down; the strings have to stay.
  void addForm(Form form) { allForms.push_back(form); }

  const std::vector<std::pair<std::string, Decoder>> &decoders() const { return entries; }
  const std::vector<Form> &forms() const { return allForms; }
  Decoder find(const ptx::Instruction &inst, size_t &parts) const;

private:
  std::vector<std::pair<std::string, Decoder>> entries;
  std::vector<Form> allForms;
};

/// All families. Each lives in its own files and registers itself here.
const DecoderTable &decoderTable();
void registerControl(DecoderTable &table); // Core: bra, call, ret, exit, bar, barrier.cluster, ...
void registerInteger(DecoderTable &table); // Ops
void registerFloat(DecoderTable &table);
void registerConversions(DecoderTable &table);
void registerMoves(DecoderTable &table);    // mov, selp, prmt, cvta, special registers, ...
void registerMemory(DecoderTable &table);   // ld, st, atom, red, prefetch, fence, membar
void registerWarp(DecoderTable &table);     // shfl, vote, match, redux, elect, activemask
void registerMma(DecoderTable &table);      // mma.sync, ldmatrix, stmatrix, movmatrix
void registerMbarrier(DecoderTable &table); // Engines
void registerCopies(DecoderTable &table);   // cp.async, cp.async.bulk, tensor copies, tensormap
void registerClc(DecoderTable &table);      // clusterlaunchcontrol, griddepcontrol, setmaxnreg
void registerWgmma(DecoderTable &table);    // Matrix
void registerTcgen05(DecoderTable &table);
void registerTcgen05Data(DecoderTable &table); // ld, st, cp, shift

/// Links a module; faults and unknown instructions stay with their entries (executing one reports
/// it) unless `strict`, which makes the first an error.
Result<std::unique_ptr<Program>> decode(ptx::Module module, GlobalMemory &global, bool strict);

template <class F> class LambdaOp final : public Op {
public:
  explicit LambdaOp(F f) : f(std::move(f)) {}
  Step run(Exec &x) const override { return f(x); }

private:
  F f;
};
/// An Op from a callable Step(Exec &).
template <class F> std::unique_ptr<Op> makeOp(F f) {
  return std::make_unique<LambdaOp<F>>(std::move(f));
}

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_DECODE_H
