// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-prove))'
// TS308: no thread reaches beyond the buffer that it indexes, where its index is known.

// Five warps, and a row for each thread of four.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+1 {{help: keep the index at 0 to 127: end the loop there, give the task fewer threads, put the access under an scf.if of the index, or make the buffer larger}}
  ts.kernel @threads(%n: index) warps(5) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %x = ts.resource "x" smem(v: memref<128xf32>)
    ts.task "fill" warps(0, 5) writes(%x) {
      %t = ts.info thread : index
      ts.produce %x "fill" (%v) {
        // expected-error @+1 {{[TS308] bounds: thread 128 (warp 4 of 'fill') writes 'v' at index 128 of dimension 0, where it has 0 to 127: something else lies there}}
        memref.store %one, %v[%t] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// The same, but for the threads that have a row; and a loop that ends in time.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @inside(%n: index) warps(5) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1.0 : f32
    %x = ts.resource "x" smem(v: memref<128x8xf32>)
    ts.task "fill" warps(0, 5) writes(%x) {
      %t = ts.info thread : index
      %has = arith.cmpi ult, %t, %c128 : index
      ts.produce %x "fill" (%v) {
        scf.if %has {
          scf.for %i = %c0 to %c8 step %c1 {
            memref.store %one, %v[%t, %i] : memref<128x8xf32, #ts.smem>
          }
        }
      }
    }
  }
}

// -----

// A column more than a row has, which is the first one of the next row; from a task that only reads.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+1 {{help: keep the index at 0 to 7: end the loop there}}
  ts.kernel @loop(%k: index) warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %x = ts.resource "x" smem(v: memref<32x8xf32>) pipeline(async_async, stages = 2)
    ts.depends %x on %g
    ts.task "fill" warps(0, 1) reads(%g) writes(%x) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %x
        ts.produce %x "fill" declared
        ts.commit %x
      }
    }
    ts.task "read" warps(1, 1) reads(%x) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %k {
        ts.wait %x
        ts.consume %x "read" (%v) {
          scf.for %c = %c0 to %c9 step %c1 {
            // expected-error @+1 {{[TS308] bounds: thread 0 (warp 0 of 'read') reads 'v' at index 8 of dimension 1, where it has 0 to 7: something else lies there}}
            %f = memref.load %v[%lane, %c] : memref<32x8xf32, #ts.smem>
          }
        }
        ts.release %x
      }
    }
  }
}

// -----

// A view whose offset the warp decides: its second half lies behind the stage.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+1 {{help: keep the offsets of the view and the indices inside of the buffer, let fewer threads do this, or make the buffer larger}}
  ts.kernel @view(%n: index) warps(2) {
    %c48 = arith.constant 48 : index
    %one = arith.constant 1.0 : f32
    %x = ts.resource "x" smem(v: memref<64xf32>)
    ts.task "fill" warps(0, 2) writes(%x) {
      %warp = ts.info warp : index
      %lane = ts.info lane : index
      %from = arith.muli %warp, %c48 : index
      ts.produce %x "fill" (%v) {
        %s = memref.subview %v[%from] [32] [1] : memref<64xf32, #ts.smem> to memref<32xf32, strided<[1], offset: ?>, #ts.smem>
        // expected-error @+1 {{[TS308] bounds: thread 48 (warp 1 of 'fill') writes 'v' at bytes 256 to 259, where one stage has 0 to 255: something else lies there}}
        memref.store %one, %s[%lane] : memref<32xf32, strided<[1], offset: ?>, #ts.smem>
      }
    }
  }
}

// -----

// Memory of the other CTA ends where one's own does.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+1 {{help: keep the index at 0 to 31}}
  ts.kernel @peer(%n: index) warps(2) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %x = ts.resource "x" smem(v: memref<32xf32>)
    ts.task "fill" warps(0, 2) only_cta(1) writes(%x) {
      %t = ts.info thread : index
      ts.cluster_sync
      ts.produce %x "fill" (%v) {
        // expected-error @+1 {{[TS308] bounds: thread 32 (warp 1 of 'fill') writes 'v' at index 32 of dimension 0}}
        ts.dsmem_store %one to %v[%t] cta(%c0) : f32, memref<32xf32, #ts.smem>
      }
      ts.cluster_sync
    }
    ts.task "meet" warps(0, 2) only_cta(0) {
      ts.cluster_sync
      ts.cluster_sync
    }
  }
}
