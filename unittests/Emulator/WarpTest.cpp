// Operations among lanes: shfl, vote, match, redux, elect, activemask; lanes that are missing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunPtx.h"

#include <bit>
#include <cmath>

using namespace ts::emu;
using namespace ts::emu::test;

namespace {

std::vector<uint32_t> values() {
  std::vector<uint32_t> v(32);
  for (uint32_t i = 0; i < 32; ++i)
    v[i] = (i * 2654435761u) ^ 0x5bd1e995u;
  return v;
}

/// %r1 holds the lane's input; %r2 (or %p1) goes to the output, 0 or 1 for a predicate.
Ran lanes(const std::string &body, const std::vector<uint32_t> &input, bool predicate = false) {
  test::Run run;
  run.body = "mul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd3, %rd2, %rd1;\nadd.u64 %rd4, %rd2, %rd0;\n"
             "ld.global.u32 %r1, [%rd3];\nmov.u32 %r2, 0;\n" +
             body + (predicate ? "selp.u32 %r2, 1, 0, %p1;\n" : "") +
             "st.global.u32 [%rd4], %r2;\n";
  run.input = bytesOf(input);
  return runPtx(run);
}

void expectLanes(const Ran &ran, const std::string &what,
                 const std::function<uint32_t(uint32_t)> &expected) {
  ASSERT_TRUE(ran.ok()) << what << ran.text();
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(ran.at<uint32_t>(lane), expected(lane)) << what << " lane " << lane;
}
} // namespace

// As the CUDA guide describes __shfl_*_sync with a width: segments of `width` lanes.
TEST(Warp, ShuffleInSegments) {
  std::vector<uint32_t> v = values();
  for (uint32_t width : {32u, 16u, 8u, 2u})
    for (uint32_t delta : {0u, 1u, 3u, 7u, 17u}) {
      uint32_t segment = (32 - width) << 8;
      auto run = [&](const char *mode, uint32_t c, bool predicate) {
        return lanes("shfl.sync." + std::string(mode) + ".b32 " + "%r2|%p1, %r1, " +
                         std::to_string(delta) + ", " + std::to_string(c) + ", -1;\n",
                     v, predicate);
      };
      auto first = [&](uint32_t lane) { return lane / width * width; };
      for (bool predicate : {false, true}) {
        auto expected = [&](uint32_t lane, bool inside, uint32_t from) {
          return predicate ? uint32_t(inside) : v[inside ? from : lane];
        };
        expectLanes(run("up", segment, predicate), "up", [&](uint32_t lane) {
          return expected(lane, lane >= first(lane) + delta, lane - delta);
        });
        expectLanes(run("down", segment | 31, predicate), "down", [&](uint32_t lane) {
          return expected(lane, lane + delta < first(lane) + width, lane + delta);
        });
        expectLanes(run("bfly", segment | 31, predicate), "bfly", [&](uint32_t lane) {
          return expected(lane, (lane ^ delta) < first(lane) + width, lane ^ delta);
        });
        expectLanes(run("idx", segment | 31, predicate), "idx", [&](uint32_t lane) {
          return expected(lane, true, first(lane) + delta % width);
        });
      }
    }
}

TEST(Warp, ShuffleFromALaneOutsideTheMaskIsPoison) {
  Ran ran = lanes("setp.lt.u32 %p2, %r0, 16;\n@%p2 shfl.sync.down.b32 %r2, %r1, 8, 31, 0xffff;\n",
                  values());
  expectLanes(ran, "half", [](uint32_t lane) {
    return lane >= 16 ? 0 : lane < 8 ? values()[lane + 8] : 0xffffffffu;
  });
}

TEST(Warp, TwoHalvesWithTheirOwnMasks) {
  Ran ran = lanes("setp.lt.u32 %p2, %r0, 16;\nselp.b32 %r3, 0xffff, 0xffff0000, %p2;\n"
                  "shfl.sync.bfly.b32 %r2, %r1, 1, 31, %r3;\nvote.sync.ballot.b32 %r4, %p2, %r3;\n"
                  "add.u32 %r2, %r2, %r4;\n",
                  values());
  expectLanes(ran, "halves",
              [](uint32_t lane) { return values()[lane ^ 1] + (lane < 16 ? 0xffffu : 0); });
}

TEST(Warp, Vote) {
  std::vector<uint32_t> v = values();
  uint32_t odd = 0;
  for (uint32_t i = 0; i < 32; ++i)
    odd |= (v[i] & 1) << i;
  std::string set = "and.b32 %r3, %r1, 1;\nsetp.ne.u32 %p2, %r3, 0;\n";
  expectLanes(lanes(set + "vote.sync.ballot.b32 %r2, %p2, -1;\n", v), "ballot",
              [=](uint32_t) { return odd; });
  expectLanes(lanes(set + "vote.sync.ballot.b32 %r2, !%p2, -1;\n", v), "not",
              [=](uint32_t) { return ~odd; });
  auto vote = [&](const char *mode, const char *condition) {
    return lanes(std::string("setp.") + condition + ";\nvote.sync." + mode +
                     ".pred %p1, %p2, -1;\n",
                 v, true);
  };
  struct Case {
    const char *mode, *condition;
    uint32_t expected;
  };
  for (const Case &c : std::initializer_list<Case>{{"all", "lt.u32 %p2, %r0, 32", 1},
                                                   {"all", "lt.u32 %p2, %r0, 31", 0},
                                                   {"any", "eq.u32 %p2, %r0, 7", 1},
                                                   {"any", "gt.u32 %p2, %r0, 40", 0},
                                                   {"uni", "gt.u32 %p2, %r0, 40", 1},
                                                   {"uni", "lt.u32 %p2, %r0, 32", 1},
                                                   {"uni", "lt.u32 %p2, %r0, 3", 0}})
    expectLanes(vote(c.mode, c.condition), c.mode, [&](uint32_t) { return c.expected; });
}

TEST(Warp, Match) {
  std::vector<uint32_t> v(32);
  for (uint32_t i = 0; i < 32; ++i)
    v[i] = i % 3;
  auto same = [](uint32_t lane) {
    uint32_t mask = 0;
    for (uint32_t i = lane % 3; i < 32; i += 3)
      mask |= 1u << i;
    return mask;
  };
  expectLanes(lanes("match.any.sync.b32 %r2, %r1, -1;\n", v), "any", same);
  expectLanes(lanes("mul.wide.u32 %rd5, %r1, 1;\nshl.b64 %rd5, %rd5, 40;\n"
                    "match.any.sync.b64 %r2, %rd5, -1;\n",
                    v),
              "any64", same);
  expectLanes(lanes("match.all.sync.b32 %r2|%p1, %r1, -1;\n", v), "all",
              [](uint32_t) { return 0; });
  std::vector<uint32_t> equal(32, 77);
  expectLanes(lanes("match.all.sync.b32 %r2|%p1, %r1, -1;\n", equal), "all",
              [](uint32_t) { return ~0u; });
  expectLanes(lanes("match.all.sync.b32 %r2|%p1, %r1, -1;\n", equal, true), "all",
              [](uint32_t) { return 1; });
  expectLanes(lanes("mul.wide.u32 %rd5, %r1, 1;\nmatch.all.sync.b64 %r2|%p1, %rd5, -1;\n", v, true),
              "all64", [](uint32_t) { return 0; });
}

TEST(Warp, Redux) {
  std::vector<uint32_t> v = values();
  struct Case {
    const char *op;
    std::function<uint32_t(uint32_t, uint32_t)> f;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"add.u32", [](uint32_t a, uint32_t b) { return a + b; }},
           {"add.s32", [](uint32_t a, uint32_t b) { return a + b; }},
           {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
           {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
           {"min.s32",
            [](uint32_t a, uint32_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); }},
           {"max.s32",
            [](uint32_t a, uint32_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); }},
           {"and.b32", [](uint32_t a, uint32_t b) { return a & b; }},
           {"or.b32", [](uint32_t a, uint32_t b) { return a | b; }},
           {"xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; }}}) {
    uint32_t all = v[0];
    for (uint32_t i = 1; i < 32; ++i)
      all = c.f(all, v[i]);
    expectLanes(lanes(std::string("redux.sync.") + c.op + " %r2, %r1, -1;\n", v), c.op,
                [=](uint32_t) { return all; });
  }
}

TEST(Warp, ReduxOfFloats) {
  std::vector<uint32_t> v(32);
  for (uint32_t i = 0; i < 32; ++i)
    v[i] = std::bit_cast<uint32_t>(float(int(i * 7 % 32) - 20)); // -20 to 11
  auto run = [&](const char *op) {
    return lanes(std::string("mov.b32 %f1, %r1;\nredux.sync.") + op +
                     ".f32 %f2, %f1, -1;\nmov.b32 %r2, %f2;\n",
                 v);
  };
  auto bits = [](float f) { return std::bit_cast<uint32_t>(f); };
  auto expect = [&](const char *op, uint32_t expected) {
    expectLanes(run(op), op, [=](uint32_t) { return expected; });
  };
  expect("min", bits(-20));
  expect("max", bits(11));
  expect("min.abs", bits(0));
  expect("max.abs", bits(20));
  expect("max.NaN", bits(11));
  v[5] = 0x7fc00001;
  expect("min", bits(-20));
  expect("max.NaN", 0x7fffffff);
  expect("min.abs.NaN", 0x7fffffff);
  expect("max.abs.NaN", 0x7fffffff);
  expect("min.NaN", 0x7fffffff);
  v.assign(32, 0x80000000);
  v[9] = 0;
  expect("min", 0x80000000);
  expect("max", 0);
}

TEST(Warp, ElectAndActiveMask) {
  expectLanes(lanes("elect.sync %r2|%p1, -1;\n", values(), true), "elect",
              [](uint32_t lane) { return lane == 0; });
  Ran ran = lanes("setp.ge.u32 %p2, %r0, 5;\n@%p2 elect.sync %r2|%p1, 0xffffffe0;\n"
                  "@%p2 activemask.b32 %r3;\n@%p2 add.u32 %r2, %r2, %r3;\n",
                  values());
  expectLanes(ran, "leader", [](uint32_t lane) { return lane < 5 ? 0u : 5u + 0xffffffe0u; });
  expectLanes(lanes("elect.sync _|%p1, -1;\n", values(), true), "elect",
              [](uint32_t lane) { return lane == 0; });
}

TEST(Warp, DivergedLanesMeetAtASync) {
  // One half takes a detour; both meet at the vote behind it.
  Ran ran = lanes("setp.lt.u32 %p2, %r0, 16;\n@%p2 bra DETOUR;\nmov.u32 %r3, 1;\nbra MEET;\n"
                  "DETOUR:\nmov.u32 %r3, 2;\nmov.u32 %r3, 3;\nMEET:\n"
                  "redux.sync.add.u32 %r2, %r3, -1;\n",
                  values());
  expectLanes(ran, "meet", [](uint32_t) { return 16 + 48; });
}

TEST(Warp, MissingLanesAreDivergence) {
  Ran ran = lanes("setp.lt.u32 %p2, %r0, 16;\n@%p2 bra A;\nbar.sync 0;\nbra B;\nA:\n"
                  "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nB:\n",
                  values());
  EXPECT_TRUE(ran.faults(FaultKind::Divergence)) << ran.text();
  ran = lanes("shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xfffe;\n", values());
  EXPECT_TRUE(ran.faults(FaultKind::Divergence)) << ran.text();
  EXPECT_NE(ran.text().find("lane 0"), std::string::npos);
}

TEST(Warp, LanesThatHaveEndedAreNotWaitedFor) {
  Ran ran = lanes("setp.lt.u32 %p2, %r0, 8;\n@%p2 exit;\nmov.u32 %r3, 1;\n"
                  "redux.sync.add.u32 %r2, %r3, -1;\n",
                  values());
  expectLanes(ran, "left", [](uint32_t lane) { return lane < 8 ? 0 : 24; });
}

TEST(Warp, FormsWithoutSyncAreRefused) {
  for (const char *body :
       {"shfl.bfly.b32 %r1, %r2, 1, 31;", "vote.all.pred %p1, %p2;", "vote.ballot.b32 %r1, %p1;",
        "shfl.sync.bfly.u32 %r1, %r2, 1, 31, -1;", "redux.sync.add.f32 %f1, %f2, -1;",
        "redux.sync.min.abs.u32 %r1, %r2, -1;", "match.any.sync.b32 %r1|%p1, %r2, -1;"})
    EXPECT_TRUE(runPtx(std::string(body)).faults(FaultKind::Unsupported)) << body;
}
