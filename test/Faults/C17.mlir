// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C17: the response of the hardware queue is multicast, and each CTA's barrier has to be armed for it. The scheduler's acquire arms those of all CTAs; a program cannot arm its own only, but it can pin a wrong count.

// OUT: one_cta: proven for every number of tiles of 'tiles' >= 1: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @one_cta(%n: index) warps(8) {
    %q = ts.work_queue "tiles" clc over(%n)
    ts.task "sched" warps(0, 1) reads(%q) writes(%q) {
      ts.tile_loop %q (%m) {
        ts.acquire %q
        ts.fetch_tile %q
        ts.commit %q
        ts.next_tile %q
      }
    }
    ts.task "work" warps(4, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.next_tile %q
      }
    }
  }
}

// -----

// OUT: two_ctas: proven for every number of tiles of 'tiles' >= 1: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @two_ctas(%n: index) warps(8) cluster(2, 1, 1) {
    %q = ts.work_queue "tiles" clc over(%n)
    ts.task "sched" warps(0, 1) reads(%q) writes(%q) {
      ts.tile_loop %q (%m) {
        ts.acquire %q
        ts.fetch_tile %q
        ts.commit %q
        ts.next_tile %q
      }
    }
    ts.task "work" warps(4, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.next_tile %q
      }
    }
  }
}

// -----

// The scheduler in CTA 0 only: the other CTA's tasks read the response too.
// OUT: pinned_scheduler: proven for every number of tiles of 'tiles' >= 1: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @pinned_scheduler(%n: index) warps(8) cluster(2, 1, 1) {
    %q = ts.work_queue "tiles" clc over(%n)
    ts.task "sched" warps(0, 1) only_cta(0) reads(%q) writes(%q) {
      ts.tile_loop %q (%m) {
        ts.acquire %q
        ts.fetch_tile %q
        ts.commit %q
        ts.next_tile %q
      }
    }
    ts.task "work" warps(4, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.next_tile %q
      }
    }
  }
}

// -----

// Half of the response is expected.
// ERR: error: [TS216] bytes of 'tiles' are 8, expected 16 per phase: the barrier completes before all data is there; write 16, or leave the bytes out to have them inferred
// ERR: note: expected: one 16-byte response per stage
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @half_a_response(%n: index) warps(8) cluster(2, 1, 1) {
    %q = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 2, num_bytes = 8)
    ts.task "sched" warps(0, 1) reads(%q) writes(%q) {
      ts.tile_loop %q (%m) {
        ts.acquire %q
        ts.fetch_tile %q
        ts.commit %q
        ts.next_tile %q
      }
    }
    ts.task "work" warps(4, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.next_tile %q
      }
    }
  }
}

// -----

// Empty slots count the readers of one CTA.
// ERR: error: [TS215] consumer count of 'tiles' is 160, expected 320 arrivals per phase by 'release': the barrier completes too early; write 320, or leave the count out to have it inferred
// ERR: note: expected: 1 warp x 32 threads of 'sched' x 2 CTAs + 4 warps x 32 threads of 'work' x 2 CTAs = 320
gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @readers_of_one_cta(%n: index) warps(8) cluster(2, 1, 1) {
    %q = ts.work_queue "tiles" clc over(%n) pipeline(clc_fetch_async, stages = 2, consumer_count = 160)
    ts.task "sched" warps(0, 1) reads(%q) writes(%q) {
      ts.tile_loop %q (%m) {
        ts.acquire %q
        ts.fetch_tile %q
        ts.commit %q
        ts.next_tile %q
      }
    }
    ts.task "work" warps(4, 4) reads(%q) {
      ts.tile_loop %q (%m) {
        ts.next_tile %q
      }
    }
  }
}
