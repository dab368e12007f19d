// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C50: barrier ids that collide, are reserved or out of range.

// (a) All threads of the kernel are expected, the four warps of one task come.
// ERR: error: [TS229] named barrier 'b' counts 256 threads, but the tasks that sync and arrive at it have 128: it never completes; give the count 128
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @all_threads_in_a_task() warps(8) {
    %b = ts.named_barrier "b" threads(256)
    ts.task "four" warps(0, 4) {
      ts.barrier_sync %b
    }
    ts.task "others" warps(4, 4) {
    }
  }
}

// -----

// ERR: error: 'ts.named_barrier' op a named barrier has an id from 1 to 15 (PTX ISA 8.8, barrier.cta; 0 is the barrier of the whole CTA), found 0; leave it out to have one assigned
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @reserved() warps(4) {
    %b = ts.named_barrier "b" threads(128) id(0)
    ts.task "four" warps(0, 4) {
      ts.barrier_sync %b
    }
  }
}

// -----

// (c)
// ERR: error: 'ts.named_barrier' op a named barrier has an id from 1 to 15 (PTX ISA 8.8, barrier.cta; 0 is the barrier of the whole CTA), found 17; leave it out to have one assigned
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @out_of_range() warps(4) {
    %b = ts.named_barrier "b" threads(128) id(17)
    ts.task "four" warps(0, 4) {
      ts.barrier_sync %b
    }
  }
}

// -----

// (b) Eight pairs need sixteen ids.
// ERR: error: [TS229] no named barrier left for 'order7': it needs 2, and 1 of the 15 (ids 1 to 15) are free; give barriers that are never used at the same time one id
// ERR: note: 'order0' takes 2 ids
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @eight_pairs(%n: index) warps(16) {
    %c0 = arith.constant 0 : index
    %b0 = ts.baton "order0" holders(2)
    %b1 = ts.baton "order1" holders(2)
    %b2 = ts.baton "order2" holders(2)
    %b3 = ts.baton "order3" holders(2)
    %b4 = ts.baton "order4" holders(2)
    %b5 = ts.baton "order5" holders(2)
    %b6 = ts.baton "order6" holders(2)
    %b7 = ts.baton "order7" holders(2)
    ts.task "pair" warps(0, 2) replicas(2) (%r) {
      ts.for %i = %c0 to %n {
        ts.take %b0
        ts.pass %b0
        ts.take %b1
        ts.pass %b1
        ts.take %b2
        ts.pass %b2
        ts.take %b3
        ts.pass %b3
        ts.take %b4
        ts.pass %b4
        ts.take %b5
        ts.pass %b5
        ts.take %b6
        ts.pass %b6
        ts.take %b7
        ts.pass %b7
      }
    }
  }
}

// -----

// Seven pairs fit; the ids are the compiler's.
// OUT: seven_pairs: proven for every n: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @seven_pairs(%n: index) warps(16) {
    %c0 = arith.constant 0 : index
    %b0 = ts.baton "order0" holders(2)
    %b1 = ts.baton "order1" holders(2)
    %b2 = ts.baton "order2" holders(2)
    %b3 = ts.baton "order3" holders(2)
    %b4 = ts.baton "order4" holders(2)
    %b5 = ts.baton "order5" holders(2)
    %b6 = ts.baton "order6" holders(2)
    ts.task "pair" warps(0, 2) replicas(2) (%r) {
      ts.for %i = %c0 to %n {
        ts.take %b0
        ts.pass %b0
        ts.take %b1
        ts.pass %b1
        ts.take %b2
        ts.pass %b2
        ts.take %b3
        ts.pass %b3
        ts.take %b4
        ts.pass %b4
        ts.take %b5
        ts.pass %b5
        ts.take %b6
        ts.pass %b6
      }
    }
  }
}

// -----

// Two barriers pinned to one id, both in use at the same time.
// ERR: error: [TS229] named barriers 'a' and 'b' share id 1, but not the same tasks use both, so they can be in use at the same time; leave the ids out to have them assigned
// ERR: note: task 'one' uses 'a'
// ERR: note: task 'two' uses 'b'
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @one_id_twice(%n: index) warps(8) {
    %c0 = arith.constant 0 : index
    %a = ts.named_barrier "a" threads(128) id(1)
    %b = ts.named_barrier "b" threads(128) id(1)
    ts.task "one" warps(0, 4) {
      ts.for %i = %c0 to %n {
        ts.barrier_sync %a
      }
    }
    ts.task "two" warps(4, 4) {
      ts.for %i = %c0 to %n {
        ts.barrier_sync %b
      }
    }
  }
}
