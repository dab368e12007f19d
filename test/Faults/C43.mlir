// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C43: a CTA leaves while its peer still reads its memory or arrives on its barrier.

// ERR: error: [TS305] exit: a read of 'x.x', bytes [0, 256), in CTA 0, by 't (CTA 1)' can be outstanding when CTA 0 exits
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @read_of_the_gone() warps(1) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = ts.resource "x" smem(x: memref<64xf32>)
    %g = ts.resource "g" gmem
    ts.depends %x on %g
    ts.task "t" warps(0, 1) reads(%g, %x) writes(%x) {
      %rank = ts.info cta_rank : index
      %peer = arith.subi %c1, %rank : index
      %one = arith.constant 1.0 : f32
      ts.consume %g "nothing" aux {
      }
      ts.produce %x "fill" (%v) {
        memref.store %one, %v[%c0] : memref<64xf32, #ts.smem>
      }
      ts.cluster_sync
      ts.consume %x "peer" (%v) {
        %r = ts.dsmem_load %v[%c0] cta(%peer) : memref<64xf32, #ts.smem> -> f32
      }
    }
  }
}

// -----

// OUT: meet_at_the_end: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @meet_at_the_end() warps(1) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = ts.resource "x" smem(x: memref<64xf32>)
    %g = ts.resource "g" gmem
    ts.depends %x on %g
    ts.task "t" warps(0, 1) reads(%g, %x) writes(%x) {
      %rank = ts.info cta_rank : index
      %peer = arith.subi %c1, %rank : index
      %one = arith.constant 1.0 : f32
      ts.consume %g "nothing" aux {
      }
      ts.produce %x "fill" (%v) {
        memref.store %one, %v[%c0] : memref<64xf32, #ts.smem>
      }
      ts.cluster_sync
      ts.consume %x "peer" (%v) {
        %r = ts.dsmem_load %v[%c0] cta(%peer) : memref<64xf32, #ts.smem> -> f32
      }
      ts.cluster_sync
    }
  }
}

// -----

// Nobody in CTA 0 waits for the arrival.
// ERR: error: [TS305] exit: an arrival of 't (CTA 1)' on barrier 'bar' of CTA 0 can be outstanding when CTA 0 exits
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @arrival_at_the_gone() warps(1) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = ts.resource "x" smem(x: memref<64xf32>)
    %g = ts.resource "g" gmem
    ts.depends %x on %g
    %bar = ts.mbarrier "bar" count(1)
    ts.task "t" warps(0, 1) reads(%g) writes(%x) {
      %rank = ts.info cta_rank : index
      %zero = arith.constant 0 : i32
      %lead = arith.cmpi eq, %rank, %c0 : index
      ts.consume %g "nothing" aux {
      }
      ts.produce %x "nothing" aux {
      }
      ts.when %lead is false {
        ts.elect {
          ts.mbarrier_arrive %bar cta(%c0)
        }
      } else {
      }
    }
  }
}

// -----

// OUT: waited_for: proven: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @waited_for() warps(1) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = ts.resource "x" smem(x: memref<64xf32>)
    %g = ts.resource "g" gmem
    ts.depends %x on %g
    %bar = ts.mbarrier "bar" count(1)
    ts.task "t" warps(0, 1) reads(%g) writes(%x) {
      %rank = ts.info cta_rank : index
      %zero = arith.constant 0 : i32
      %lead = arith.cmpi eq, %rank, %c0 : index
      ts.consume %g "nothing" aux {
      }
      ts.produce %x "nothing" aux {
      }
      ts.when %lead is false {
        ts.elect {
          ts.mbarrier_arrive %bar cta(%c0)
        }
      } else {
        ts.mbarrier_wait %bar parity %zero
      }
    }
  }
}
