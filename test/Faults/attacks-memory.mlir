// RUN: not %judge %s > /dev/null 2> %t.err
// RUN: %check ERR %s --input-file=%t.err
// Programs written to get a wrong schedule past the verifier: two tasks in one role, replicas on one
// scratch, batons and named barriers that do not add up, conditions and loops of one side only.

// ERR: error: [TS302] race when k {{>?=}} 2: 'a' and 'c' touch the same memory and nothing orders them
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @alias_live(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 1)
    ts.depends %r on %g
    %t = ts.resource "t" smem(x: memref<64xf32>) pipeline(async_async, stages = 1)
    ts.depends %t on %r
    ts.alias_group "al" (%r, %t) phases [1, 1]
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "b" warps(1, 1) reads(%r) writes(%t) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.acquire %t
        ts.consume %r "r" declared
        ts.produce %t "w" declared
        ts.commit %t
        ts.release %r
      }
    }
    ts.task "c" warps(2, 1) reads(%t) {
      ts.for %i = %c0 to %k {
        ts.wait %t
        ts.consume %t "r" declared
        ts.release %t
      }
    }
  }
}

// -----

// ERR: error: [TS302] race when k {{>?=}} 2: 'c' and 'c' touch the same memory and nothing orders them
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @bulk_wait_after_write(%A: !map, %D: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    %s = ts.resource "s" gmem(y: !buf)
    ts.depends %s on %r
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !buf
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(1, 1) reads(%r) writes(%s) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        %v = ts.consume %r "t" (%x) -> !buf {
          ts.yield %x : !buf
        }
        ts.produce %s "copy" (%y) {
          %l = ts.info lane : index
          %q = vector.load %v[%l, %c0] : !buf, vector<32xf32>
          vector.store %q, %y[%l, %c0] : !buf, vector<32xf32>
          ts.bulk_wait 0 read
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %y to %D[%c0, %c0] : !buf, !map
          ts.bulk_commit
        }
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS302] race when k {{>?=}} 2: 'c' and 'c' touch the same memory and nothing orders them
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @gap_scratch_tma(%A: !map, %D: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    %s = ts.resource "s" gmem(y: !buf)
    ts.depends %s on %r
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          ts.tma_load %A[%c0, %c0] to %x : !map, !buf
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(1, 1) reads(%r) writes(%s) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        %v = ts.consume %r "t" (%x) -> !buf {
          ts.yield %x : !buf
        }
        ts.produce %s "copy" (%y) {
          %l = ts.info lane : index
          %q = vector.load %v[%l, %c0] : !buf, vector<32xf32>
          vector.store %q, %y[%l, %c0] : !buf, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %y to %D[%c0, %c0] : !buf, !map
          ts.bulk_commit
        }
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS302] race when k {{>?=}} 1: 'c' and 'c' touch the same memory and nothing orders them
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!p = memref<32x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @half_views_overlap(%D: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %z = arith.constant dense<0.0> : vector<32xf32>
    %g = ts.resource "g" gmem
    %s = ts.resource "s" gmem(y: memref<64x32xf32, #ts.smem<128>>)
    ts.depends %s on %g
    ts.task "c" warps(1, 1) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      %l = ts.info lane : index
      ts.for %i = %c0 to %k {
        ts.produce %s "copy" (%y) {
          %c32 = arith.constant 16 : index
          %a = memref.subview %y[%c0, 0] [32, 32] [1, 1] : memref<64x32xf32, #ts.smem<128>> to !p
          %b = memref.subview %y[%c32, 0] [32, 32] [1, 1] : memref<64x32xf32, #ts.smem<128>> to !p
          ts.bulk_wait 1 read
          vector.store %z, %a[%l, %c0] : !p, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %a to %D[%c0, %c0] : !p, !map
          ts.bulk_commit
          ts.bulk_wait 1 read
          vector.store %z, %b[%l, %c0] : !p, vector<32xf32>
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %b to %D[%c0, %c0] : !p, !map
          ts.bulk_commit
        }
      }
    }
  }
}

// -----

// ERR: error: [TS218] task 'c' waits on the full barriers of 'r' in CTA 1, where no 'acquire' of 'a' arrives; let 'a' run on every CTA that waits, or restrict the wait to the leader CTA
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @multicast_one_side(%A: !map, %k: index) warps(12) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) only_cta(0) reads(%g) writes(%r) {
      %rank = ts.info cta_rank : index
      %lead = arith.cmpi eq, %rank, %c0 : index
      %both = arith.constant 3 : i16
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          ts.tma_load %A[%c0, %c0] to %x multicast(%both) : !map, !buf
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS217] the copies of one phase bring 8192 bytes to 'r', whose stage has 4096, so some bytes are written twice
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @multicast_unequal(%A: !map, %k: index) warps(12) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      %both = arith.constant 3 : i16
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          ts.tma_load %A[%c0, %c0] to %x multicast(%both) : !map, !buf
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// Both CTAs copy to the same place in both.
// ERR: error: [TS302] race when k {{>?=}} 1: 'a (CTA 1)' and 'a (CTA 0)' touch the same memory and nothing orders them
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @multicast_twice(%A: !map, %k: index) warps(12) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf, y: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      %both = arith.constant 3 : i16
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x, %y) {
          ts.tma_load %A[%c0, %c0] to %x multicast(%both) : !map, !buf
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS303] overrun when k {{>?=}} 1: use 0 of the empty barrier of 'r', stage 0 can complete before 'a' has seen use -1
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @release_only_noproxy(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2, advance_on_wait)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "w" warps(1, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
      }
    }
    ts.task "rel" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS302] race when k >= 1: 'a[1]' and 'a[0]' touch the same memory and nothing orders them
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @replica_scratch(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<64xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 2) replicas(2) (%rep) reads(%g, %s) writes(%s) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.produce %s "w" (%x) {
          %l = ts.info lane : index
          memref.store %one, %x[%l] : memref<64xf32, #ts.smem>
        }
        ts.consume %s "r" (%x) {
          %l = ts.info lane : index
          %v = memref.load %x[%l] : memref<64xf32, #ts.smem>
        }
      }
    }
  }
}

// -----

// ERR: error: [TS217] the copies of task 'a' into 'r' add up to 0 bytes on one path and to 4096 on another, but the barrier expects one number for every phase; issue the same copies on every path between acquire and commit
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!buf = memref<32x32xf32, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @scf_skip_commit(%A: !map, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          %b = arith.cmpi eq, %i, %c0 : index
          scf.if %b {
            ts.tma_load %A[%c0, %c0] to %x : !map, !buf
          }
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS302] race: 'b' and 'a' touch the same memory and nothing orders them
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @scratch_two_tasks(%k: index) warps(12) {
    %g = ts.resource "g" gmem
    %s = ts.resource "s" smem(x: memref<64xf32>)
    ts.depends %s on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%s) {
      ts.consume %g "n" aux {
      }
      ts.produce %s "w" declared
    }
    ts.task "b" warps(1, 1) reads(%s) {
      ts.consume %s "r" declared
    }
  }
}

// -----

// ERR: error: [TS107] reads the stage of 'r' that 'first' saw, but task 'c' has released it before; move the release behind this op
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @stale_view(%k: index min 1) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    %d = ts.resource "d" gmem
    ts.depends %d on %r
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) writes(%d) {
      ts.wait %r
      %v0 = ts.consume %r "first" (%x) -> memref<64xf32, #ts.smem> {
        ts.yield %x : memref<64xf32, #ts.smem>
      }
      ts.release %r
      %l = ts.for %i = %c1 to %k iter(%old = %v0 : memref<64xf32, #ts.smem>) {
        ts.wait %r
        %v = ts.consume %r "n" (%x) -> memref<64xf32, #ts.smem> {
          ts.yield %x : memref<64xf32, #ts.smem>
        }
        ts.produce %d "use" {
          %q = memref.load %old[%c0] : memref<64xf32, #ts.smem>
        }
        ts.release %r
        ts.yield %v : memref<64xf32, #ts.smem>
      }
    }
  }
}

// -----

// ERR: error: [TS217] bytes of 'r' are 4096, expected 3072 per phase: the barrier never completes; write 3072, leave the bytes out, or change the copies
!buf = memref<32x32xf32, #ts.smem<128>>
!q = memref<8x32xf32, strided<[32, 1], offset: ?>, #ts.smem<128>>
!mq = !ts.tensor_map<?x?xf32, box = 8x32, swizzle = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @three_quarters(%A: !mq, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: !buf) pipeline(tma_async, stages = 2, num_bytes = 4096)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "ld" (%x) {
          %c8 = arith.constant 8 : index
          %n = arith.constant 3 : index
          scf.for %j = %c0 to %n step %c1 {
            %o = arith.muli %j, %c8 : index
            %h = memref.subview %x[%o, 0] [8, 32] [1, 1] : !buf to !q
            ts.tma_load %A[%o, %c0] to %h : !mq, !q
          }
        }
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}

// -----

// ERR: error: [TS302] race when k {{>?=}} 1: 'b' and 'a' touch the same memory and nothing orders them
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @two_producers(%k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %r on %g
    ts.task "a" warps(0, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "b" warps(1, 1) reads(%g) writes(%r) {
      ts.consume %g "n" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %r
        ts.produce %r "w" declared
        ts.commit %r
      }
    }
    ts.task "c" warps(2, 1) reads(%r) {
      ts.for %i = %c0 to %k {
        ts.wait %r
        ts.consume %r "r" declared
        ts.release %r
      }
    }
  }
}
