// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-protocol))'
// TS231: columns that are not the program's to touch.

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @past_the_view() warps(4) {
    %c0 = arith.constant 0 : index
    %c48 = arith.constant 48 : index
    %t = ts.resource "t" tmem(c: memref<128x64xf32>)
    ts.task "read" warps(0, 4) reads(%t) {
      ts.consume %t "columns" (%c) {
        // expected-error @+1 {{[TS231] 'ts.tmem_load' reads columns 48 to 79, but the view 'memref<128x64xf32, #ts.tmem>' has columns 0 to 63; what lies behind belongs to another resource. Use a column of at most 32 or a narrower vector}}
        %v = ts.tmem_load %c[%c48] : memref<128x64xf32, #ts.tmem> -> vector<32xf32>
      }
    }
  }
}

// -----

// Columns 64 to 95 in the third iteration.
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @last_iteration() warps(4) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %v = arith.constant dense<0.0> : vector<32xf32>
    %t = ts.resource "t" tmem(c: memref<128x64xf32>)
    ts.task "clear" warps(0, 4) writes(%t) {
      ts.for %j = %c0 to %c3 {
        %column = arith.muli %j, %c32 : index
        ts.produce %t "columns" (%c) {
          // expected-error @+1 {{[TS231] 'ts.tmem_store' writes columns 64 to 95, but the view 'memref<128x64xf32, #ts.tmem>' has columns 0 to 63; what lies behind belongs to another resource. Use a column of at most 32 or a narrower vector}}
          ts.tmem_store %v to %c[%column] : vector<32xf32>, memref<128x64xf32, #ts.tmem>
        }
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @any_address() warps(4) {
    %c0 = arith.constant 0 : index
    ts.task "read" warps(0, 4) {
      %address = ts.info tmem_base : i32
      // expected-error @+1 {{[TS231] 'ts.tmem_view' takes any address, so nobody knows whether the columns behind it are allocated; use the stage views of a tmem resource, which the kernel allocates and frees}}
      %c = ts.tmem_view %address : memref<128x64xf32, #ts.tmem>
      %v = ts.tmem_load %c[%c0] : memref<128x64xf32, #ts.tmem> -> vector<32xf32>
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @view_after_commit(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(a: memref<128x64xbf16, #ts.smem<128>>, b: memref<128x64xbf16, #ts.smem<128>>)
    %acc = ts.resource "acc" tmem(c: memref<128x128xf32>) pipeline(umma_async, stages = 2)
    ts.task "mma" warps(0, 1) reads(%s) writes(%acc) {
      ts.for %i = %c0 to %n {
        %a, %b = ts.consume %s "operands" (%va, %vb) -> memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>> {
          ts.yield %va, %vb : memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
        }
        ts.acquire %acc
        // expected-note @+1 {{the view comes from here}}
        %c = ts.produce %acc "first" (%vc) -> memref<128x128xf32, #ts.tmem> {
          ts.umma %vc, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
          ts.yield %vc : memref<128x128xf32, #ts.tmem>
        }
        // expected-note @+1 {{committed here}}
        ts.commit %acc
        // expected-error @+1 {{[TS231] 'ts.umma' uses columns of 'acc' through a view that "first" gave out, but the stage was committed before, and belongs to the consumer until it is released; move this op in front of the commit}}
        ts.umma %c, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
      }
    }
    ts.task "drain" warps(4, 4) reads(%acc) {
      ts.for %i = %c0 to %n {
        ts.wait %acc
        ts.release %acc
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @two_cta_groups() warps(1) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %s = ts.resource "s" smem(a: memref<128x64xbf16, #ts.smem<128>>, b: memref<128x64xbf16, #ts.smem<128>>, h: memref<64x64xbf16, #ts.smem<128>>)
    %t = ts.resource "t" tmem(c: memref<128x128xf32>)
    ts.task "mma" warps(0, 1) reads(%s) writes(%t) {
      %a, %b, %h = ts.consume %s "operands" (%va, %vb, %vh) -> memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>, memref<64x64xbf16, #ts.smem<128>> {
        ts.yield %va, %vb, %vh : memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>, memref<64x64xbf16, #ts.smem<128>>
      }
      ts.produce %t "mma" (%c) {
        // expected-note @+1 {{cta_group 2 is here}}
        ts.umma %c, %a, %h {cta_group = 2 : i64} : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<64x64xbf16, #ts.smem<128>>
        // expected-error @+1 {{[TS231] cta_group is 1 here and 2 elsewhere in kernel 'two_cta_groups', but tensor memory is allocated and freed once, by one CTA or by both of a pair (PTX ISA 8.8, tcgen05: one cta_group per kernel); use one cta_group throughout}}
        ts.umma %c, %a, %b : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
      }
    }
  }
}

// -----

// All 64 columns, and no more: no finding.
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @right() warps(4) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %t = ts.resource "t" tmem(c: memref<128x64xf32>)
    ts.task "read" warps(0, 4) reads(%t) {
      ts.for %j = %c0 to %c2 {
        %column = arith.muli %j, %c32 : index
        ts.consume %t "columns" (%c) {
          %v = ts.tmem_load %c[%column] : memref<128x64xf32, #ts.tmem> -> vector<32xf32>
        }
      }
    }
  }
}
