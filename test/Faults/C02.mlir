// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C02: a work-less tile arrives without waiting and laps its partner.

// ERR: error: [TS303] overrun when number of tiles of 'tiles' {{>?=}} 2, empty is true in tile 0, empty is true in tile 1: an arrival of 'compute' for use 1 of named barrier 'b' can come while use 0 is not complete
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @arrive_only(%n: index, %empty: i1) warps(8) {
    %q = ts.work_queue "tiles" static over(%n)
    %b = ts.named_barrier "b" threads(256)
    ts.task "compute" warps(0, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.when %empty is true key("empty") {
          ts.barrier_arrive %b
        } else {
          ts.barrier_sync %b
        }
        ts.next_tile %q
      }
    }
    ts.task "load" warps(4, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.barrier_sync %b
        ts.next_tile %q
      }
    }
  }
}

// -----

// OUT: sync_both: proven for every number of tiles of 'tiles', empty: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @sync_both(%n: index, %empty: i1) warps(8) {
    %q = ts.work_queue "tiles" static over(%n)
    %b = ts.named_barrier "b" threads(256)
    ts.task "compute" warps(0, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.when %empty is true key("empty") {
          ts.barrier_sync %b
        } else {
          ts.barrier_sync %b
        }
        ts.next_tile %q
      }
    }
    ts.task "load" warps(4, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.barrier_sync %b
        ts.next_tile %q
      }
    }
  }
}
