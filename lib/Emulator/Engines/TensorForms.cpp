// The forms of the tensor copies, for the coverage table. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Copy.h"

namespace ts::emu {

#define TS_LOADS(DIM, AT)                                                                          \
  {"cp.async.bulk.tensor." DIM ".{shared::cta|shared::cluster}.global[.tile].mbarrier::complete_"  \
   "tx::bytes[.{cta_group::1|cta_group::2}]",                                                      \
   "[%r1], [%rd1, {" AT "}], [%r7]"},                                                              \
      {"cp.async.bulk.tensor." DIM ".{shared::cta|shared::cluster}.global[.tile].mbarrier::"       \
       "complete_tx::bytes[.{cta_group::1|cta_group::2}].L2::cache_hint",                          \
       "[%r1], [%rd1, {" AT "}], [%r7], %rd2"},                                                    \
      {"cp.async.bulk.tensor." DIM ".shared::cluster.global[.tile].mbarrier::complete_tx::bytes."  \
       "multicast::cluster[.{cta_group::1|cta_group::2}]",                                         \
       "[%r1], [%rd1, {" AT "}], [%r7], %rs1"},                                                    \
      {"cp.async.bulk.tensor." DIM ".shared::cluster.global[.tile].mbarrier::complete_tx::bytes."  \
       "multicast::cluster[.{cta_group::1|cta_group::2}].L2::cache_hint",                          \
       "[%r1], [%rd1, {" AT "}], [%r7], %rs1, %rd2"}
#define TS_STORES(DIM, AT)                                                                         \
  {"cp.async.bulk.tensor." DIM ".global.shared::cta[.tile].bulk_group",                            \
   "[%rd1, {" AT "}], [%r7]"},                                                                     \
      {"cp.async.bulk.tensor." DIM ".global.shared::cta[.tile].bulk_group.L2::cache_hint",         \
       "[%rd1, {" AT "}], [%r7], %rd2"}
#define TS_IM2COL(DIM, AT, OFFSETS)                                                                \
  {"cp.async.bulk.tensor." DIM ".{shared::cta|shared::cluster}.global.im2col.mbarrier::complete_"  \
   "tx::bytes",                                                                                    \
   "[%r1], [%rd1, {" AT "}], [%r7], {" OFFSETS "}", im2colNote},                                   \
      {"cp.async.bulk.tensor." DIM ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes."  \
       "multicast::cluster",                                                                       \
       "[%r1], [%rd1, {" AT "}], [%r7], {" OFFSETS "}, %rs4", im2colNote},                         \
      {"cp.async.bulk.tensor." DIM ".{shared::cta|shared::cluster}.global.{im2col::w|im2col::w::"  \
       "128}.mbarrier::complete_tx::bytes",                                                        \
       "[%r1], [%rd1, {" AT "}], [%r7], {%rs1, %rs2}", im2colNote},                                \
      {"cp.async.bulk.tensor." DIM ".shared::cluster.global.{im2col::w|im2col::w::128}.mbarrier::" \
       "complete_tx::bytes.multicast::cluster",                                                    \
       "[%r1], [%rd1, {" AT "}], [%r7], {%rs1, %rs2}, %rs4", im2colNote},                          \
  {                                                                                                \
    "cp.async.bulk.tensor." DIM ".global.shared::cta.im2col_no_offs.bulk_group",                   \
        "[%rd1, {" AT "}], [%r7]", im2colNote                                                      \
  }
#define TS_REDUCTIONS(DIM, AT)                                                                     \
  {"cp.reduce.async.bulk.tensor." DIM ".global.shared::cta.{add|min|max|inc|dec|and|or|xor}[."     \
   "tile].bulk_group",                                                                             \
   "[%rd1, {" AT "}], [%r7]"},                                                                     \
      {"cp.reduce.async.bulk.tensor." DIM ".global.shared::cta.{add|min|max|inc|dec|and|or|xor}[." \
       "tile].bulk_group.L2::cache_hint",                                                          \
       "[%rd1, {" AT "}], [%r7], %rd2"}
#define TS_REDUCE_IM2COL(DIM, AT)                                                                  \
  {"cp.reduce.async.bulk.tensor." DIM ".global.shared::cta.{add|min|max|inc|dec|and|or|xor}.im2"   \
   "col_no_offs.bulk_group",                                                                       \
   "[%rd1, {" AT "}], [%r7]", im2colNote}
#define TS_PREFETCH(DIM, AT)                                                                       \
  {"cp.async.bulk.prefetch.tensor." DIM ".L2.global[.tile]", "[%rd1, {" AT "}]"},                  \
      {"cp.async.bulk.prefetch.tensor." DIM ".L2.global[.tile].L2::cache_hint",                    \
       "[%rd1, {" AT "}], %rd2"}
#define TS_PREFETCH_IM2COL(DIM, AT, OFFSETS)                                                       \
  {"cp.async.bulk.prefetch.tensor." DIM ".L2.global.im2col", "[%rd1, {" AT "}], {" OFFSETS "}",    \
   im2colNote},                                                                                    \
  {                                                                                                \
    "cp.async.bulk.prefetch.tensor." DIM ".L2.global.{im2col::w|im2col::w::128}",                  \
        "[%rd1, {" AT "}], {%rs1, %rs2}", im2colNote                                               \
  }

#define TS_1 "%r2"
#define TS_2 "%r2, %r3"
#define TS_3 "%r2, %r3, %r4"
#define TS_4 "%r2, %r3, %r4, %r5"
#define TS_5 "%r2, %r3, %r4, %r5, %r6"

void registerTensorCopies(DecoderTable &table) {
  table.add(
      "cp.async.bulk.tensor", decodeTensorCopy,
      {TS_LOADS("1d", TS_1),
       TS_LOADS("2d", TS_2),
       TS_LOADS("3d", TS_3),
       TS_LOADS("4d", TS_4),
       TS_LOADS("5d", TS_5),
       TS_STORES("1d", TS_1),
       TS_STORES("2d", TS_2),
       TS_STORES("3d", TS_3),
       TS_STORES("4d", TS_4),
       TS_STORES("5d", TS_5),
       {"cp.async.bulk.tensor.2d.{shared::cta|shared::cluster}.global.tile::gather4.mbarrier::"
        "complete_tx::bytes[.{cta_group::1|cta_group::2}]",
        "[%r1], [%rd1, {" TS_5 "}], [%r7]"},
       {"cp.async.bulk.tensor.2d.{shared::cta|shared::cluster}.global.tile::gather4.mbarrier::"
        "complete_tx::bytes[.{cta_group::1|cta_group::2}].L2::cache_hint",
        "[%r1], [%rd1, {" TS_5 "}], [%r7], %rd2"},
       {"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes."
        "multicast::cluster[.{cta_group::1|cta_group::2}]",
        "[%r1], [%rd1, {" TS_5 "}], [%r7], %rs1"},
       {"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes."
        "multicast::cluster[.{cta_group::1|cta_group::2}].L2::cache_hint",
        "[%r1], [%rd1, {" TS_5 "}], [%r7], %rs1, %rd2"},
       {"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group",
        "[%rd1, {" TS_5 "}], [%r7]"},
       {"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group.L2::cache_hint",
        "[%rd1, {" TS_5 "}], [%r7], %rd2"},
       TS_IM2COL("3d", TS_3, "%rs1"),
       TS_IM2COL("4d", TS_4, "%rs1, %rs2"),
       TS_IM2COL("5d", TS_5, "%rs1, %rs2, %rs3")});
  table.add("cp.reduce.async.bulk.tensor", decodeTensorCopy,
            {TS_REDUCTIONS("1d", TS_1), TS_REDUCTIONS("2d", TS_2), TS_REDUCTIONS("3d", TS_3),
             TS_REDUCTIONS("4d", TS_4), TS_REDUCTIONS("5d", TS_5), TS_REDUCE_IM2COL("3d", TS_3),
             TS_REDUCE_IM2COL("4d", TS_4), TS_REDUCE_IM2COL("5d", TS_5)});
  table.add("cp.async.bulk.prefetch.tensor", decodeTensorCopy,
            {TS_PREFETCH("1d", TS_1),
             TS_PREFETCH("2d", TS_2),
             TS_PREFETCH("3d", TS_3),
             TS_PREFETCH("4d", TS_4),
             TS_PREFETCH("5d", TS_5),
             {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4", "[%rd1, {" TS_5 "}]"},
             {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4.L2::cache_hint",
              "[%rd1, {" TS_5 "}], %rd2"},
             TS_PREFETCH_IM2COL("3d", TS_3, "%rs1"),
             TS_PREFETCH_IM2COL("4d", TS_4, "%rs1, %rs2"),
             TS_PREFETCH_IM2COL("5d", TS_5, "%rs1, %rs2, %rs3")});
}

} // namespace ts::emu
