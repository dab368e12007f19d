// RUN: not %prove %s > /dev/null 2> %t.err
// RUN: %check ERR %s --input-file=%t.err
// Threads of one task that touch the same bytes without an order of their own. The tasks as a whole
// are ordered. Layer 3 alone: for some of them layer 2 has a word too.

// late_meeting
// ERR: error: [TS302] race: threads 32 and 0 of 'store' touch byte 4096 of 'x' and nothing in the task orders them
// ERR: write of 'x' by thread 32 (warp 1 of 'store')
// ERR: read of 'x' by thread 0 (warp 0 of 'store')
// ERR: help: insert ts.barrier_sync on a named barrier of the task's 128 threads between the two
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @late_meeting(%D: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %acc = ts.resource "acc" tmem(c: memref<128x32xf32, #ts.tmem>) pipeline(umma_async, stages = 2)
    %s = ts.resource "s" gmem(x: !tile)
    ts.depends %acc on %g
    ts.depends %s on %acc
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "mma" warps(4, 1) reads(%g) writes(%acc) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %acc
        ts.produce %acc "mma" declared
        ts.commit %acc
      }
    }
    ts.task "store" warps(0, 4) reads(%acc) writes(%s) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lead = arith.cmpi eq, %w, %c0 : index
      ts.for %i = %c0 to %k {
        ts.wait %acc
        %r = ts.consume %acc "load" (%c) -> vector<32xf32> {
          %l = ts.tmem_load %c[%c0] : memref<128x32xf32, #ts.tmem> -> vector<32xf32>
          ts.yield %l : vector<32xf32>
        }
        ts.release %acc
        ts.produce %s "st" (%x) {
          scf.if %lead {
            ts.bulk_wait 0 read
          }
          ts.barrier_sync %bar
          vector.store %r, %x[%t, %c0] : !tile, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          scf.if %lead {
            ts.tma_store %x to %D[%c0, %c0] : !tile, !map
            ts.bulk_commit
          }
        }
      }
    }
  }
}

// -----

// no_meeting_after_bulk_wait
// ERR: error: [TS302] race: threads 0 and 32 of 'store' touch byte 4096
// ERR: read of 'x' by thread 0 (warp 0 of 'store'), in flight until its thread waits for it
// ERR: write of 'x' by thread 32
// ERR: between the two, after the wait for the first
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @no_meeting_after_bulk_wait(%D: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %acc = ts.resource "acc" tmem(c: memref<128x32xf32, #ts.tmem>) pipeline(umma_async, stages = 2)
    %s = ts.resource "s" gmem(x: !tile)
    ts.depends %acc on %g
    ts.depends %s on %acc
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "mma" warps(4, 1) reads(%g) writes(%acc) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %acc
        ts.produce %acc "mma" declared
        ts.commit %acc
      }
    }
    ts.task "store" warps(0, 4) reads(%acc) writes(%s) {
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lead = arith.cmpi eq, %w, %c0 : index
      ts.for %i = %c0 to %k {
        ts.wait %acc
        %r = ts.consume %acc "load" (%c) -> vector<32xf32> {
          %l = ts.tmem_load %c[%c0] : memref<128x32xf32, #ts.tmem> -> vector<32xf32>
          ts.yield %l : vector<32xf32>
        }
        ts.release %acc
        ts.produce %s "st" (%x) {
          scf.if %lead {
            ts.bulk_wait 0 read
          }
          vector.store %r, %x[%t, %c0] : !tile, vector<32xf32>
          ts.fence proxy_async_shared
          ts.barrier_sync %bar
          scf.if %lead {
            ts.tma_store %x to %D[%c0, %c0] : !tile, !map
            ts.bulk_commit
          }
        }
      }
    }
  }
}

// -----

// loop_carried
// ERR: error: [TS302] race: threads 127 and 0 of 'a' touch byte 0 of 'x'
// ERR: read of 'x' by thread 127 (warp 3 of 'a')
// ERR: write of 'x' by thread 0 (warp 0 of 'a')
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @loop_carried(%k: index, %f: f32) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.for %i = %c0 to %k {
        ts.produce %s "st" (%x) {
          memref.store %f, %x[%t] : memref<128xf32, #ts.smem>
          ts.barrier_sync %bar
          %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
        }
      }
    }
  }
}

// -----

// write_after_read
// ERR: error: [TS302] race: threads 127 and 0 of 'a' touch byte 0 of 'x'
// ERR: read of 'x' by thread 127 (warp 3 of 'a')
// ERR: write of 'x' by thread 0 (warp 0 of 'a')
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @write_after_read(%f: f32) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        memref.store %f, %x[%t] : memref<128xf32, #ts.smem>
        ts.barrier_sync %bar
        %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
        memref.store %f, %x[%t] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// meets_in_loop_only
// ERR: error: [TS302] race: threads 0 and 127 of 'a' touch byte 0 of 'x'
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @meets_in_loop_only(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    %bar = ts.named_barrier "bar" threads(128)
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        memref.store %one, %x[%t] : memref<128xf32, #ts.smem>
      }
      ts.for %i = %c0 to %k {
        ts.barrier_sync %bar
      }
      ts.produce %s "ld" (%x) {
        %v = memref.load %x[%o] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// elected_write
// ERR: error: [TS302] race: threads 0 and 1 of 'a' touch byte 0 of 'x'
// ERR: help: insert ts.warp_sync between the two
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @elected_write(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.produce %s "st" (%x) {
        ts.elect {
          memref.store %one, %x[%c0] : memref<128xf32, #ts.smem>
        }
        %v = memref.load %x[%c0] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// all_write_one
// ERR: error: [TS302] race: threads 1 and 0 of 'a' touch byte 0 of 'x'
// ERR: help: let the threads write different parts, or one of them write
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @all_write_one(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<128xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      %c128 = arith.constant 128 : index
      ts.produce %s "st" (%x) {
        %n = arith.index_cast %t : index to i32
        %f = arith.sitofp %n : i32 to f32
        memref.store %f, %x[%c0] : memref<128xf32, #ts.smem>
      }
    }
  }
}

// -----

// same_lanes
// ERR: error: [TS302] race: threads 0 and 128 of 'a' touch column 0 of 'x'
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @same_lanes(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" tmem(x: memref<128x32xf32, #ts.tmem>)
    ts.depends %s on %g
    ts.task "a" warps(0, 8) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      %z = arith.constant dense<0.0> : vector<32xf32>
      %c4 = arith.constant 4 : index
      %low = arith.cmpi ult, %w, %c4 : index
      ts.produce %s "st" (%x) {
        scf.if %low {
          ts.tmem_store %z to %x[%c0] : vector<32xf32>, memref<128x32xf32, #ts.tmem>
        } else {
          %v = ts.tmem_load %x[%c0] : memref<128x32xf32, #ts.tmem> -> vector<32xf32>
        }
      }
    }
  }
}

// -----

// three_uses_of_two
// ERR: error: [TS302] race: threads 127 and 0 of 'a' touch byte 512 of 'x'
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @three_uses_of_two(%k: index, %f: f32) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %bar = ts.named_barrier "bar" threads(128)
    %s = ts.resource "s" smem(x: memref<2x128xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 4) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %t = ts.info thread : index
      %w = ts.info warp : index
      %lane = ts.info lane : index
      %o = arith.subi %c127, %t : index
      ts.for %i = %c0 to %k {
        %h = arith.remui %i, %c2 : index
        %n = arith.addi %i, %c1 : index
        %h2 = arith.remui %n, %c2 : index
        ts.produce %s "st" (%x) {
          memref.store %f, %x[%h, %t] : memref<2x128xf32, #ts.smem>
          ts.barrier_sync %bar
          %v = memref.load %x[%h2, %o] : memref<2x128xf32, #ts.smem>
        }
      }
    }
  }
}
