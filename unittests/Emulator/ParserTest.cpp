// The PTX parser: what it reads, and that bad text gives a place and a sentence. Values from the
// PTX ISA's chapters on syntax. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Emulator/Ptx.h"

#include <gtest/gtest.h>

using namespace ts::ptx;

namespace {
constexpr const char *header = ".version 8.8\n.target sm_100a, debug\n.address_size 64\n";

Module parsed(const std::string &text) {
  ts::Result<Module> module = parse(header + text, "t.ptx");
  EXPECT_TRUE(bool(module)) << (module ? "" : module.error().message);
  return module ? std::move(*module) : Module();
}

/// The error of a text, "" if there is none.
std::string errorOf(const std::string &text) {
  ts::Result<Module> module = parse(text, "t.ptx");
  return module ? "" : module.error().message;
}

Function body(const std::string &text) {
  Module module = parsed(".visible .entry k(.param .u64 a, .param .align 64 .b8 map[128])\n{\n"
                         ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;\n" +
                         text + "\n}\n");
  return module.functions.empty() ? Function() : module.functions.front();
}
} // namespace

TEST(Parser, HeaderAndEntry) {
  Module module = parsed(".visible .entry k(.param .u64 a, .param .align 64 .b8 map[128])\n"
                         ".maxntid 384, 1, 1\n.reqnctapercluster 2\n.explicitcluster\n{ ret; }\n");
  EXPECT_EQ(module.version, "8.8");
  EXPECT_EQ(module.target, "sm_100a");
  ASSERT_EQ(module.targetOptions.size(), 1u);
  const Function *k = module.find("k");
  ASSERT_TRUE(k);
  EXPECT_TRUE(k->isEntry);
  ASSERT_EQ(k->params.size(), 2u);
  EXPECT_EQ(k->params[1].size, 128u);
  EXPECT_EQ(k->params[1].align, 64u);
  EXPECT_EQ(k->maxntid[0], 384u);
  EXPECT_EQ(k->reqnctapercluster[0], 2u);
  EXPECT_TRUE(k->explicitCluster);
}

TEST(Parser, OpcodesAreSplitAtDots) {
  Function f =
      body("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
           " [%r0], [map, {%r1, %r2}], [%r3];");
  ASSERT_EQ(f.body.size(), 1u);
  const Instruction &inst = f.body[0];
  EXPECT_EQ(inst.parts,
            (std::vector<std::string>{"cp", "async", "bulk", "tensor", "2d", "shared::cluster",
                                      "global", "tile", "mbarrier::complete_tx::bytes"}));
  ASSERT_EQ(inst.operands.size(), 3u);
  const Operand &map = inst.operands[1];
  EXPECT_EQ(map.kind, Operand::Kind::Address);
  ASSERT_EQ(map.items.size(), 2u);
  EXPECT_TRUE(map.items[0].isParam);
  EXPECT_EQ(map.items[1].kind, Operand::Kind::Vector);
}

TEST(Parser, Literals) {
  Function f = body("mov.b32 %r0, 0x1F; mov.b32 %r0, 017; mov.b32 %r0, 0b101; mov.b32 %r0, -1;"
                    "mov.f32 %f0, 0f3F800000; mov.f32 %f0, -0f3F800000; mov.f32 %f0, 1.5;"
                    "mov.b64 %rd0, 18446744073709551615U;");
  ASSERT_EQ(f.body.size(), 8u);
  auto bits = [&](size_t i) { return f.body[i].operands[1].bits; };
  EXPECT_EQ(bits(0), 31u);
  EXPECT_EQ(bits(1), 15u);
  EXPECT_EQ(bits(2), 5u);
  EXPECT_EQ(bits(3), ~uint64_t(0));
  EXPECT_EQ(bits(4), 0x3f800000u);
  EXPECT_TRUE(f.body[4].operands[1].isF32);
  EXPECT_EQ(bits(5), 0xbf800000u);
  EXPECT_EQ(bits(6), 0x3ff8000000000000u);
  EXPECT_EQ(bits(7), ~uint64_t(0));
}

TEST(Parser, GuardsPairsAndOffsets) {
  Function f = body("@!%p1 ld.param.u64 %rd0, [a+8]; shfl.sync.bfly.b32 %r0|%p0, %r1, 1, 31, -1;"
                    "ld.global.v4.b32 {%r0, %r1, %r2, _}, [%rd0+-16]; mov.u32 %r0, %tid.x;");
  ASSERT_EQ(f.body.size(), 4u);
  EXPECT_TRUE(f.body[0].guardNegated);
  EXPECT_EQ(f.registers[size_t(f.body[0].guard)].name, "%p1");
  EXPECT_EQ(f.body[0].operands[1].offset, 8);
  EXPECT_EQ(f.body[1].operands[0].kind, Operand::Kind::Pair);
  EXPECT_EQ(f.body[2].operands[0].items[3].kind, Operand::Kind::Sink);
  EXPECT_EQ(f.body[2].operands[1].offset, -16);
  EXPECT_EQ(f.body[3].operands[1].kind, Operand::Kind::Special);
  EXPECT_EQ(f.body[3].operands[1].name, "%tid.x");
}

TEST(Parser, ScopesHaveTheirOwnNames) {
  Function f = body("{ .reg .b32 x; mov.u32 x, 1; again: bra again; }\n"
                    "{ .reg .b32 x; mov.u32 x, 2; again: bra again; }\nbra end;\nend: ret;");
  ASSERT_EQ(f.body.size(), 6u);
  EXPECT_NE(f.body[0].operands[0].reg, f.body[2].operands[0].reg);
  EXPECT_EQ(f.body[1].operands[0].bits, 1u);
  EXPECT_EQ(f.body[3].operands[0].bits, 3u);
  EXPECT_EQ(f.body[4].operands[0].bits, 5u);
}

TEST(Parser, BranchTargets) {
  Function f = body("L: .branchtargets A, B;\nbrx.idx %r0, L;\nA: ret;\nB: ret;");
  ASSERT_TRUE(f.branchTargets.count("L"));
  EXPECT_EQ(f.branchTargets["L"], (std::vector<uint32_t>{1, 2}));
}

TEST(Parser, VariablesAndInitialisers) {
  Module module = parsed(".global .align 8 .u32 a[3] = {1, 2, 0x10};\n"
                         ".const .f32 c = 0f40000000;\n.global .u64 p = a+4;\n"
                         ".global .u64 g = generic(a);\n.extern .shared .align 128 .b8 dyn[];\n"
                         ".global .v4 .f32 v;\n.global .b8 text[4] = {97, 98};\n");
  ASSERT_EQ(module.variables.size(), 7u);
  EXPECT_EQ(module.variables[0].size, 12u);
  EXPECT_EQ(module.variables[0].init, (std::vector<uint8_t>{1, 0, 0, 0, 2, 0, 0, 0, 16, 0, 0, 0}));
  EXPECT_EQ(module.variables[1].init, (std::vector<uint8_t>{0, 0, 0, 0x40}));
  ASSERT_EQ(module.variables[2].relocations.size(), 1u);
  EXPECT_EQ(module.variables[2].relocations[0].symbol, "a");
  EXPECT_EQ(module.variables[2].relocations[0].addend, 4);
  EXPECT_TRUE(module.variables[3].relocations[0].generic);
  EXPECT_TRUE(module.variables[4].isExtern);
  EXPECT_EQ(module.variables[4].size, 0u);
  EXPECT_EQ(module.variables[5].size, 16u);
  EXPECT_EQ(module.variables[6].size, 4u);
}

TEST(Parser, Locations) {
  Module module = parsed(".file 1 \"dir/a.mlir\"\n.visible .entry k()\n{\n.loc 1 12 3\nret;\n"
                         ".loc 1 13 4, function_name $L, inlined_at 1 12 3\nret;\n}\n");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(module.files[1], "dir/a.mlir");
  EXPECT_EQ(module.functions[0].body[0].loc.line, 12u);
  EXPECT_EQ(module.functions[0].body[0].loc.ptxLine, 8u);
  EXPECT_EQ(module.functions[0].body[1].loc.column, 4u);
}

TEST(Parser, CommentsSectionsPragmas) {
  Module module =
      parsed("// one\n/* two\nlines */ .pragma \"nounroll\";\n"
             ".section .debug_abbrev\n{\n.b8 1\n.b8 2\n}\n.visible .entry k() { ret; }\n");
  EXPECT_TRUE(module.find("k"));
}

TEST(Parser, FunctionsAndCalls) {
  Module module = parsed(
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %r<2>; ld.param.b32 %r0, [in];\n"
      "st.param.b32 [out], %r0; ret; }\n"
      ".visible .entry k() { { .param .b32 p0; .param .b32 q0; call.uni (q0), twice, (p0); } ret; "
      "}");
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_TRUE(module.functions[0].isDeclaration);
  const Instruction &call = module.functions[2].body[0];
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[0].kind, Operand::Kind::List);
  EXPECT_EQ(call.operands[1].name, "twice");
  EXPECT_EQ(call.operands[1].variable, -1);
}

TEST(Parser, ErrorsNameThePlace) {
  EXPECT_EQ(errorOf(".version 8.8\n.entry k()\n{\n  mov.u32 %r1, 09;\n}").substr(0, 8), "t.ptx:4:");
  EXPECT_NE(errorOf(".entry k() {").find("has no end"), std::string::npos);
  EXPECT_NE(errorOf(".entry k() { /* }").find("comment"), std::string::npos);
  EXPECT_NE(errorOf(".entry k() { a: a: ret; }").find("twice"), std::string::npos);
  EXPECT_NE(errorOf(".entry k() { @%p0 ret; }").find("predicate"), std::string::npos);
  EXPECT_NE(errorOf(".entry k() { add.u32 %r1, ; }").find("operand"), std::string::npos);
  EXPECT_NE(errorOf(".global .u32 a[2] = {1, 2, 3};").find("longer"), std::string::npos);
  EXPECT_NE(errorOf("hello").find("expected a directive"), std::string::npos);
}

// Absurd sizes and depths are refused, they take neither memory nor stack.
TEST(Parser, LimitsHold) {
  EXPECT_NE(errorOf(".global .b8 a[99999999999999999];").find("2^40"), std::string::npos);
  EXPECT_NE(errorOf(".entry k() { .reg .b32 %r<4000000000>; }").find("registers"),
            std::string::npos);
  std::string deep(100000, '{');
  EXPECT_FALSE(errorOf(".entry k() {" + deep).empty());
  EXPECT_FALSE(errorOf(".global .b8 a[2] = " + deep).empty());
  EXPECT_FALSE(errorOf(".entry k() { foo " + deep).empty());
  EXPECT_FALSE(errorOf(".entry k() { foo " + std::string(100000, '[')).empty());
  EXPECT_FALSE(errorOf(".entry k() { foo " + std::string(100000, '!')).empty());
}

// Every prefix of a program, and the program with each byte changed: an error or not, never a
// crash.
TEST(Parser, SurvivesBrokenText) {
  const std::string text =
      std::string(header) +
      ".file 1 \"a\"\n.global .align 8 .u32 a[3] = {1, a+4, 0f3F800000};\n"
      ".visible .entry k(.param .u64 x)\n.maxntid 1,2,3\n{\n.reg .pred %p<2>;\n"
      ".reg .b64 %rd<2>;\n.loc 1 2 3\n@!%p1 ld.global.v2.b64 {%rd0, _}, [%rd1+-8];\n"
      "L: .branchtargets M;\nM: brx.idx %rd0, L;\nret;\n}\n";
  for (size_t i = 0; i < text.size(); ++i) {
    errorOf(text.substr(0, i));
    for (char c : {'\0', ' ', '{', '}', '"', '.', '9', '\xff', '%', ':'}) {
      std::string changed = text;
      changed[i] = c;
      errorOf(changed);
    }
  }
}
