// RUN: ts-opt %s --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove{summary=true timing=false}))' -o /dev/null | FileCheck %s
// The acquire of a fork group's last member is written as two, under opposite guards: the group is
// armed at whichever of them runs.
// CHECK: fork_load_gemm_act: proven for every mnk_2_64_1_64
module {
  gpu.module @schedule attributes {ts.chip = "sm_100a"} {
    ts.kernel @fork_load_gemm_act(%mnk_2_64_1_64: index) warps(8) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %0 = ts.resource "gmem_a" gmem
      %1 = ts.resource "smem_a_gemm" smem(smem_a: memref<16384xi8, #ts.smem> align 128) pipeline(tma_umma, stages = 4, num_bytes = 16384, producer_count = 1, consumer_count = 1, cta_layout = (1, 1, 1, 1))
      %2 = ts.resource "smem_a_act" barrier pipeline(tma_async, stages = 4, num_bytes = 16384, producer_count = 1, consumer_count = 1, cta_layout = (1, 1, 1, 1))
      %3 = ts.resource "gmem_b" gmem
      %4 = ts.resource "smem_b" smem(smem_b: memref<2048xi8, #ts.smem> align 128) pipeline(tma_umma, stages = 4, num_bytes = 2048, producer_count = 1, consumer_count = 1, cta_layout = (1, 1, 1, 1))
      %5 = ts.resource "tmem_c" tmem(tmem_acc: memref<128x16xi32, #ts.tmem>) pipeline(umma_async, stages = 1, producer_count = 1, consumer_count = 128, cta_layout = (1, 1, 1, 1))
      %6 = ts.resource "gmem_d" gmem
      %7 = ts.resource "gmem_relu_d" gmem
      %8 = ts.resource "tmem_ptr_i32" smem(tmem_ptr_i32: memref<4xi8, #ts.smem>)
      %9 = ts.pipeline_group "fork_sync" fork(%1, %2)
      ts.depends %1 on %0
      ts.depends %4 on %3
      ts.depends %5 on %1, %4
      ts.depends %6 on %5
      ts.depends %7 on %2
      ts.task "LoadA" warps(4, 1) registers(160) reads(%0) writes(%1, %2) {
        ts.produce %1 "init_load_state" aux declared
        ts.consume %0 "init_tile_coords" aux declared
        ts.for %arg0 = %c0 to %mnk_2_64_1_64 {
          %10:2 = ts.consume %0 "compute_coords" -> (index, index) declared
          ts.try_acquire %1
          ts.acquire %1
          ts.try_acquire %2
          ts.guard not_last {
          ts.acquire %2
          }
          ts.guard last {
          ts.acquire %2
          }
          ts.produce %1 "load" uses(%10#0, %10#1 : index, index) declared bytes(16384) {use_names = ["coord_m", "coord_k"]}
          ts.commit %9
        }
      }
      ts.task "LoadB" warps(5, 1) registers(160) reads(%3) writes(%4) {
        ts.produce %4 "init_load_state" aux declared
        ts.consume %3 "init_tile_coords" aux declared
        ts.for %arg0 = %c0 to %mnk_2_64_1_64 {
          %10:2 = ts.consume %3 "compute_coords" -> (index, index) declared
          ts.try_acquire %4
          ts.acquire %4
          ts.produce %4 "load" uses(%10#0, %10#1 : index, index) declared bytes(2048) {use_names = ["coord_n", "coord_k"]}
          ts.commit %4
        }
      }
      ts.task "MmaTask" warps(6, 1) registers(160) reads(%1, %4) writes(%5) {
        ts.consume %1 "init_descriptor_state" aux declared
        ts.consume %4 "init_descriptor_state" aux declared
        ts.produce %5 "init_mma_state" aux declared
        ts.try_acquire %5
        ts.acquire %5
        ts.for %arg0 = %c0 to %mnk_2_64_1_64 {
          ts.try_wait %1
          ts.wait %1
          ts.try_wait %4
          ts.wait %4
          %10 = ts.consume %1 "build_descriptor" -> index declared
          %11 = ts.consume %4 "build_descriptor" -> index declared
          ts.produce %5 "mma" uses(%10, %11 : index, index) declared {use_names = ["desc_a_base", "desc_b_base"]}
          ts.release %1
          ts.release %4
        }
        ts.commit %5
      }
      ts.task "StoreD" warps(0, 4) registers(160) reads(%5) writes(%6) {
        ts.consume %5 "init_store_state" aux declared
        ts.for %arg0 = %c0 to %mnk_2_64_1_64 {
        }
        ts.try_wait %5
        ts.wait %5
        %10 = ts.consume %5 "load_acc" -> index declared
        ts.produce %6 "store" uses(%10 : index) declared {use_names = ["t2r_rmem"]}
        ts.release %5
      }
      ts.task "StoreReLU" warps(7, 1) registers(160) reads(%2) writes(%7) {
        ts.consume %2 "init_activation_state" aux declared
        ts.for %arg0 = %c0 to %mnk_2_64_1_64 {
          ts.try_wait %2
          ts.wait %2
          %10 = ts.consume %2 "load_activation" -> index declared
          ts.produce %7 "store" uses(%10 : index) declared {use_names = ["relu_rmem"]}
          ts.release %2
        }
      }
    }
  }
}
