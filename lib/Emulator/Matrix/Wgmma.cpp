// Decoding of the wgmma family. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions"; ptxas 13.0 for which forms exist (.satfinite stands before or behind the types).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Wgmma.h"

#include "../Core/Decode.h"

#include <charconv>

namespace ts::emu {
namespace {

struct TypeName {
  const char *name;
  Num format;
  unsigned k;
};
constexpr TypeName floatTypes[] = {{"f16", Num::F16, 16},
                                   {"bf16", Num::BF16, 16},
                                   {"tf32", Num::TF32, 8},
                                   {"e4m3", Num::E4M3, 32},
                                   {"e5m2", Num::E5M2, 32}};
constexpr TypeName integerTypes[] = {{"s8", Num::S8, 32}, {"u8", Num::U8, 32}};

/// Integer kinds have fewer shapes.
bool isIntegerN(unsigned n) { return n <= 32 ? n % 8 == 0 : n % 16 == 0; }

/// "m64n128k16".
void decodeShape(Decode &d, WgmmaForm &form) {
  std::string_view shape = d.peek();
  const char *at = shape.data(), *end = at + shape.size();
  auto number = [&](char letter, unsigned &value) {
    if (at == end || *at != letter)
      return false;
    auto [next, error] = std::from_chars(at + 1, end, value);
    at = next;
    return error == std::errc();
  };
  unsigned m = 0;
  if (!number('m', m) || !number('n', form.n) || !number('k', form.k) || at != end ||
      m != wgmmaRows || form.n % 8 || form.n < 8 || form.n > 256)
    d.refuse("expected a shape .m64nNkK with N a multiple of 8 up to 256, found .%.*s",
             int(shape.size()), shape.data());
  d.take(shape);
}

template <size_t count> const TypeName *takeTypeName(Decode &d, const TypeName (&types)[count]) {
  for (const TypeName &type : types)
    if (d.take(type.name))
      return &type;
  return nullptr;
}

void decodeTypes(Decode &d, WgmmaForm &form) {
  form.saturate = d.take("satfinite");
  unsigned k = 0;
  if (d.take("s32")) {
    form.d = Num::S32;
    if (!isIntegerN(form.n))
      d.refuse("integer wgmma has no shape with N = %u", form.n);
    if (!form.sparse && d.take("b1")) {
      d.need("b1");
      d.need("and");
      d.need("popc");
      form.oneBit = true;
      k = 256;
      if (form.saturate)
        d.refuse(".satfinite does not go with .b1");
    } else {
      const TypeName *a = takeTypeName(d, integerTypes), *b = takeTypeName(d, integerTypes);
      if (!a || !b)
        d.refuse("expected .s8 or .u8 for A and B");
      form.a = a->format;
      form.b = b->format;
      k = a->k;
      form.saturate |= d.take("satfinite");
    }
  } else {
    if (form.saturate)
      d.refuse(".satfinite is for integer kinds");
    bool half = d.take("f16");
    if (!half)
      d.need("f32");
    form.d = half ? Num::F16 : Num::F32;
    const TypeName *a = takeTypeName(d, floatTypes), *b = takeTypeName(d, floatTypes);
    if (!a || !b)
      d.refuse("expected the types of A and B");
    bool eight = a->k == 32;
    if (a != b && !(eight && b->k == 32))
      d.refuse("A is .%s and B is .%s; expected the same type", a->name, b->name);
    if (half && !eight && a->format != Num::F16)
      d.refuse("D is .f16, which does not go with .%s", a->name);
    form.a = a->format;
    form.b = b->format;
    k = a->k;
  }
  if (form.sparse)
    k *= 2;
  if (form.k != k)
    d.refuse("expected K = %u for these types, found %u", k, form.k);
}

/// Slots of 32-bit registers.
std::vector<uint32_t> registers(Decode &d, size_t operand, size_t count, const char *what) {
  const ptx::Operand &o = d.operand(operand);
  if (o.kind != ptx::Operand::Kind::Vector || o.items.size() != count)
    d.refuse("expected a vector of %zu registers as %s", count, what);
  std::vector<uint32_t> slots;
  for (const ptx::Operand &item : o.items) {
    Dst reg = d.dst(item);
    if (reg.sink || ptx::typeBits(reg.type) != 32)
      d.refuse("expected 32-bit registers as %s", what);
    slots.push_back(reg.reg);
  }
  return slots;
}

bool sign(Decode &d, size_t operand) {
  auto value = int64_t(d.immediate(operand));
  if (value != 1 && value != -1)
    d.refuse("operand %zu: expected 1 or -1", operand + 1);
  return value < 0;
}

bool transpose(Decode &d, size_t operand) {
  uint64_t value = d.immediate(operand);
  if (value > 1)
    d.refuse("operand %zu: expected 0 or 1", operand + 1);
  return value == 1;
}

std::unique_ptr<Op> decodeAnyMma(Decode &d, bool sparse) {
  WgmmaForm form;
  form.sparse = sparse;
  d.need("sync");
  d.need("aligned");
  decodeShape(d, form);
  decodeTypes(d, form);
  d.end();
  form.dSlots = registers(d, 0, form.d == Num::F16 ? form.n / 4 : form.n / 2, "D");
  bool inRegisters = d.operand(1).kind == ptx::Operand::Kind::Vector;
  if (inRegisters)
    form.aSlots = registers(d, 1, 4, "A");
  else
    form.descA = d.src(1, ptx::Type::B64);
  form.descB = d.src(2, ptx::Type::B64);
  size_t next = 3;
  if (sparse) {
    if (d.operand(next).kind != ptx::Operand::Kind::Register)
      d.refuse("expected a register with sparsity metadata");
    form.metadata = d.src(next++, ptx::Type::B32);
    uint64_t selector = d.immediate(next++);
    if (selector > (numBits(form.a) == 8 ? 0 : 1))
      d.refuse("sparsity selector %llu: expected 0%s", (unsigned long long)selector,
               numBits(form.a) == 8 ? "" : " or 1");
    form.selector = unsigned(selector);
  }
  form.scaleD = d.predicate(next++);
  if (!form.integer()) {
    form.negate = sign(d, next) != sign(d, next + 1);
    next += 2;
    if (numBits(form.a) == 16) {
      if (!inRegisters)
        form.transposeA = transpose(d, next++);
      form.transposeB = transpose(d, next++);
    }
  }
  d.needOperands(next, next);
  return makeOp([form = std::move(form)](Exec &x) {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    wgmmaIssue(x, form);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeMma(Decode &d) { return decodeAnyMma(d, false); }
std::unique_ptr<Op> decodeSparse(Decode &d) { return decodeAnyMma(d, true); }

std::unique_ptr<Op> decodeFence(Decode &d) {
  d.need("sync");
  d.need("aligned");
  d.end();
  d.needOperands(0, 0);
  return makeOp([](Exec &x) {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    wgmmaFence(x);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeCommit(Decode &d) {
  d.need("sync");
  d.need("aligned");
  d.end();
  d.needOperands(0, 0);
  return makeOp([](Exec &x) {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    wgmmaCommit(x);
    return Step::Next;
  });
}

std::unique_ptr<Op> decodeWait(Decode &d) {
  d.need("sync");
  d.need("aligned");
  d.end();
  d.needOperands(1, 1);
  uint64_t pending = d.immediate(0);
  return makeOp([pending](Exec &x) {
    if (!x.converged(x.warp.alive()))
      return Step::Blocked;
    return wgmmaWait(x, pending) ? Step::Next : Step::Blocked;
  });
}

//===-- Forms for the coverage table ---------------------------------------------------------===//

const char *keep(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text)).c_str();
}

std::string vectorOf(const char *prefix, unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return text + "}";
}

/// A kind with all its N: `types` behind the shape, A as descriptor and, where it may be, in
/// registers.
void addForms(DecoderTable &table, const char *name, unsigned k, const char *types, bool integerN,
              const char *tailDescriptor, const char *tailRegister) {
  bool half = std::string_view(types).rfind(".f16.", 0) == 0;
  bool floats = std::string_view(types).rfind(".f32.", 0) == 0;
  for (unsigned n = 8; n <= 256; n += 8) {
    if (integerN && !isIntegerN(n))
      continue;
    std::string pattern = std::string(name) + ".sync.aligned.m64n" + std::to_string(n) + "k" +
                          std::to_string(k) + types;
    std::string d = vectorOf(floats ? "%f" : "%r", 0, half ? n / 4 : n / 2);
    table.addForm({keep(pattern), keep(d + ", %rd1, %rd2, " + tailDescriptor)});
    table.addForm(
        {keep(pattern), keep(d + ", " + vectorOf("%r", 300, 4) + ", %rd2, " + tailRegister)});
  }
}
} // namespace

void registerWgmma(DecoderTable &table) {
  table.add("wgmma.mma_async", decodeMma, {});
  const char *mma = "wgmma.mma_async";
  const char *bothTransposed = "%p1, 1, -1, 0, 1", *oneTransposed = "%p1, 1, -1, 1";
  for (const char *types : {".f32.f16.f16", ".f16.f16.f16", ".f32.bf16.bf16"})
    addForms(table, mma, 16, types, false, bothTransposed, oneTransposed);
  addForms(table, mma, 8, ".f32.tf32.tf32", false, "%p1, 1, -1", "%p1, 1, -1");
  for (const char *types : {".f32.{e4m3|e5m2}.{e4m3|e5m2}", ".f16.{e4m3|e5m2}.{e4m3|e5m2}"})
    addForms(table, mma, 32, types, false, "%p1, 1, -1", "%p1, 1, -1");
  for (const char *types : {"[.satfinite].s32.{s8|u8}.{s8|u8}", ".s32.{s8|u8}.{s8|u8}.satfinite"})
    addForms(table, mma, 32, types, true, "%p1", "%p1");
  addForms(table, mma, 256, ".s32.b1.b1.and.popc", true, "%p1", "%p1");

  table.add("wgmma.mma_async.sp", decodeSparse, {});
  const char *sparse = "wgmma.mma_async.sp";
  const char *spBoth = "%r310, 0, %p1, 1, -1, 0, 1", *spOne = "%r310, 0, %p1, 1, -1, 1";
  const char *spPlain = "%r310, 0, %p1, 1, -1", *spInteger = "%r310, 0, %p1";
  for (const char *types : {".f32.f16.f16", ".f16.f16.f16", ".f32.bf16.bf16"})
    addForms(table, sparse, 32, types, false, spBoth, spOne);
  addForms(table, sparse, 16, ".f32.tf32.tf32", false, spPlain, spPlain);
  for (const char *types : {".f32.{e4m3|e5m2}.{e4m3|e5m2}", ".f16.{e4m3|e5m2}.{e4m3|e5m2}"})
    addForms(table, sparse, 64, types, false, spPlain, spPlain);
  for (const char *types : {"[.satfinite].s32.{s8|u8}.{s8|u8}", ".s32.{s8|u8}.{s8|u8}.satfinite"})
    addForms(table, sparse, 64, types, true, spInteger, spInteger);

  table.add("wgmma.fence", decodeFence, {{"wgmma.fence.sync.aligned", ""}});
  table.add("wgmma.commit_group", decodeCommit, {{"wgmma.commit_group.sync.aligned", ""}});
  table.add("wgmma.wait_group", decodeWait, {{"wgmma.wait_group.sync.aligned", "0"}});
}

} // namespace ts::emu
