// tcgen05.mma: kinds x major-ness x swizzle x M and N, D of one and of two CTAs, A in tensor
// memory, accumulation. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tcgen05MmaKernel.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

MmaCase f16Case(unsigned m = 128, unsigned n = 64) {
  MmaCase c;
  c.m = m;
  c.n = n;
  return c;
}

MmaCase kindCase(const char *kind, const Operand &a, const Operand &b) {
  MmaCase c;
  c.kind = kind;
  c.a = a;
  c.b = b;
  if (c.kind == "i8")
    c.d = "s32";
  return c;
}

TEST(Tcgen05Mma, SwizzlesAndMajorness) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u})
    for (bool kMajorA : {true, false})
      for (bool kMajorB : {true, false}) {
        MmaCase c = f16Case();
        c.swizzleA = swizzle;
        c.swizzleB = swizzle == 128 ? 64 : 128;
        c.kMajorA = kMajorA;
        c.kMajorB = kMajorB;
        EXPECT_EQ(c.check(), "");
      }
}

TEST(Tcgen05Mma, SizesOfOneCta) {
  for (unsigned m : {64u, 128u})
    for (unsigned n : {8u, 24u, 128u, 256u})
      EXPECT_EQ(f16Case(m, n).check(), "");
  MmaCase upper = f16Case(64, 32);
  upper.laneOffset = 16;
  EXPECT_EQ(upper.check(), "");
}

TEST(Tcgen05Mma, Kinds) {
  EXPECT_EQ(kindCase("f16", bf16, bf16).check(), "");
  EXPECT_EQ(kindCase("tf32", tf32, tf32).check(), "");
  for (const Operand &a : {e4m3, e5m2, e3m2, e2m3, e2m1})
    for (const Operand &b : {e4m3, e3m2, e2m1})
      EXPECT_EQ(kindCase("f8f6f4", a, b).check(), "");
  for (const Operand &a : {s8, u8})
    EXPECT_EQ(kindCase("i8", a, s8).check(), "");
}

TEST(Tcgen05Mma, TransposedBytes) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
    MmaCase c = kindCase("f8f6f4", e4m3, e5m2);
    c.kMajorA = c.kMajorB = false;
    c.swizzleA = c.swizzleB = swizzle;
    EXPECT_EQ(c.check(), "");
    c = kindCase("i8", s8, u8);
    c.kMajorA = c.kMajorB = false;
    c.swizzleA = c.swizzleB = swizzle;
    EXPECT_EQ(c.check(), "");
  }
}

TEST(Tcgen05Mma, ResultTypes) {
  MmaCase c = f16Case();
  c.d = "f16";
  c.accumulate = true;
  EXPECT_EQ(c.check(), "");
  c = kindCase("f8f6f4", e4m3, e4m3);
  c.d = "f16";
  EXPECT_EQ(c.check(), "");
}

TEST(Tcgen05Mma, AccumulatesScalesNegates) {
  MmaCase c = f16Case();
  c.accumulate = true;
  EXPECT_EQ(c.check(), "");
  c.steps = 1; // D * 2^-s enters the first instruction
  c.scaleD = 3;
  EXPECT_EQ(c.check(), "");
  c.scaleD = 0;
  c.negateA = true;
  EXPECT_EQ(c.check(), "");
  c.negateB = true;
  EXPECT_EQ(c.check(), "");
  MmaCase i = kindCase("i8", s8, s8);
  i.accumulate = true;
  EXPECT_EQ(i.check(), "");
}

TEST(Tcgen05Mma, DisabledLanes) {
  MmaCase c = f16Case(128, 32);
  c.disabled = {0xf0f0f0f0, 1, 0, 0x80000000};
  c.accumulate = true;
  EXPECT_EQ(c.check(), "");
  c = f16Case(256, 32);
  c.group = 2;
  c.disabled = {1, 2, 3, 4, 5, 6, 7, 0xffffffff};
  c.accumulate = true;
  EXPECT_EQ(c.check(), "");
}

TEST(Tcgen05Mma, CollectorHints) {
  for (const char *hint : {"fill", "use", "lastuse", "discard"}) {
    MmaCase c = f16Case(128, 16);
    c.suffix = std::string(".collector::a::") + hint;
    EXPECT_EQ(c.check(), "");
  }
}

TEST(Tcgen05Mma, PairsOfCtas) {
  for (unsigned m : {128u, 256u})
    for (unsigned n : {32u, 128u, 256u}) {
      MmaCase c = f16Case(m, n);
      c.group = 2;
      EXPECT_EQ(c.check(), "");
    }
  MmaCase c = kindCase("tf32", tf32, tf32);
  c.group = 2;
  EXPECT_EQ(c.check(), "");
  c = kindCase("f8f6f4", e5m2, e2m1);
  c.group = 2;
  EXPECT_EQ(c.check(), "");
  c = kindCase("i8", u8, s8);
  c.group = 2;
  c.kMajorB = false;
  EXPECT_EQ(c.check(), "");
}

TEST(Tcgen05Mma, AInTensorMemory) {
  for (unsigned m : {64u, 128u}) {
    MmaCase c = f16Case(m, 32);
    c.tmemA = true;
    EXPECT_EQ(c.check(), "");
  }
  for (unsigned m : {128u, 256u}) {
    MmaCase c = f16Case(m, 64);
    c.tmemA = true;
    c.group = 2;
    EXPECT_EQ(c.check(), "");
  }
  MmaCase c = kindCase("tf32", tf32, tf32);
  c.tmemA = true;
  EXPECT_EQ(c.check(), "");
  for (const Operand &a : {e4m3, e3m2, e2m3, e2m1}) {
    c = kindCase("f8f6f4", a, e4m3);
    c.tmemA = true;
    EXPECT_EQ(c.check(), "");
  }
  c = kindCase("i8", s8, u8);
  c.tmemA = true;
  EXPECT_EQ(c.check(), "");
}

TEST(Tcgen05Mma, ShiftedA) {
  for (const char *suffix : {".ashift", ".ashift.collector::a::lastuse"}) {
    MmaCase c = f16Case(128, 32);
    c.tmemA = c.ashift = true;
    c.suffix = suffix;
    EXPECT_EQ(c.check(), "");
  }
}

TEST(Tcgen05Mma, BlockScaled) {
  struct Form {
    const char *kind, *size;
    unsigned vectors;
    bool ue8m0;
  };
  for (const Form &f :
       {Form{"mxf8f6f4", "", 1, true}, Form{"mxf8f6f4", ".scale_vec::1X", 1, true},
        Form{"mxf8f6f4", ".block32", 1, true}, Form{"mxf4", "", 2, true},
        Form{"mxf4", ".scale_vec::2X", 2, true}, Form{"mxf4", ".block32", 2, true},
        Form{"mxf4nvf4", ".scale_vec::2X", 2, true}, Form{"mxf4nvf4", ".block32", 2, true},
        Form{"mxf4nvf4", ".scale_vec::4X", 4, true}, Form{"mxf4nvf4", ".scale_vec::4X", 4, false},
        Form{"mxf4nvf4", ".block16", 4, false}})
    for (unsigned group : {1u, 2u}) {
      bool four = std::string(f.kind) != "mxf8f6f4";
      MmaCase c = kindCase(f.kind, four ? e2m1 : e4m3, four ? e2m1 : e5m2);
      c.suffix = std::string(".block_scale") + f.size;
      c.vectors = f.vectors;
      c.ue8m0 = f.ue8m0;
      c.group = group;
      c.m = 128 * group;
      EXPECT_EQ(c.check(), "");
      c.n = 32 * group; // fewer columns than lanes of a quarter
      c.m = 128;
      c.tmemA = true;
      EXPECT_EQ(c.check(), "");
    }
  MmaCase mixed = kindCase("mxf8f6f4", e3m2, e2m1);
  mixed.suffix = ".block_scale";
  mixed.vectors = 1;
  mixed.n = 256;
  EXPECT_EQ(mixed.check(), "");
}

TEST(Tcgen05Mma, WeightStationary) {
  for (unsigned m : {32u, 64u, 128u})
    for (unsigned n : {64u, 128u, 256u}) {
      MmaCase c = f16Case(m, n);
      c.ws = true;
      EXPECT_EQ(c.check(), "");
    }
  MmaCase c = kindCase("i8", s8, s8);
  c.ws = true;
  c.m = 32;
  c.suffix = ".collector::b2::fill";
  EXPECT_EQ(c.check(), "");
  for (unsigned m : {32u, 64u}) {
    c = kindCase("f8f6f4", e4m3, e4m3);
    c.ws = c.tmemA = true;
    c.m = m;
    EXPECT_EQ(c.check(), "");
  }
  c = kindCase("tf32", tf32, tf32);
  c.ws = true;
  EXPECT_EQ(c.check(), "");
}

TEST(Tcgen05Mma, Sparse) {
  for (const char *kind : {"f16", "tf32", "f8f6f4", "i8"})
    for (unsigned group : {1u, 2u})
      for (bool tmemA : {false, true}) {
        std::string name = kind;
        const Operand &o = name == "f16" ? bf16 : name == "tf32" ? tf32 : name == "i8" ? s8 : e4m3;
        MmaCase c = kindCase(kind, o, o);
        c.sparse = true;
        c.tmemA = tmemA;
        c.group = group;
        c.m = 128 * group;
        c.steps = 1;
        EXPECT_EQ(c.check(), "");
      }
  for (unsigned m : {32u, 64u, 128u})
    for (const Operand &o : {f16, e5m2}) {
      MmaCase c = kindCase(o.bits == 16 ? "f16" : "f8f6f4", o, o);
      c.ws = c.sparse = true;
      c.m = m;
      c.steps = 2;
      EXPECT_EQ(c.check(), "");
    }
  MmaCase c = kindCase("f8f6f4", e3m2, e2m1);
  c.sparse = true;
  EXPECT_EQ(c.check(), "");
  c = f16Case();
  c.sparse = true;
  c.selector = 1;
  c.kMajorA = c.kMajorB = false;
  c.accumulate = true;
  EXPECT_EQ(c.check(), "");
}

} // namespace
