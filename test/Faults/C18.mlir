// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C18: the scheduler's slot is released before it is read.

// ERR: error: [TS105] work 'read' reads 'sch' outside of wait and release in task 'epi', when the stage may be overwritten; put it between them, or mark it 'aux' if it touches no memory
// ERR: note: on the path with k > 0: yes, first iteration: yes, last iteration: yes
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @release_first(%k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %sch = ts.resource "sch" smem(id: memref<4xi32>) pipeline(async_async, stages = 3)
    ts.depends %sch on %g
    ts.task "scheduler" warps(0, 1) reads(%g) writes(%sch) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sch
        ts.produce %sch "answer" declared
        ts.commit %sch
      }
    }
    ts.task "epi" warps(4, 4) reads(%sch) {
      ts.for %i = %c0 to %k {
        ts.wait %sch
        ts.release %sch
        %v = ts.consume %sch "read" (%x) -> i32 {
          %r = memref.load %x[%c0] : memref<4xi32, #ts.smem>
          ts.yield %r : i32
        }
      }
    }
  }
}

// -----

// OUT: read_first: proven for every k: no deadlock, no race, no overrun, clean exit
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @read_first(%k: index) warps(8) {
    %c0 = arith.constant 0 : index
    %g = ts.resource "g" gmem
    %sch = ts.resource "sch" smem(id: memref<4xi32>) pipeline(async_async, stages = 3)
    ts.depends %sch on %g
    ts.task "scheduler" warps(0, 1) reads(%g) writes(%sch) {
      ts.consume %g "nothing" aux {
      }
      ts.for %i = %c0 to %k {
        ts.acquire %sch
        ts.produce %sch "answer" declared
        ts.commit %sch
      }
    }
    ts.task "epi" warps(4, 4) reads(%sch) {
      ts.for %i = %c0 to %k {
        ts.wait %sch
        %v = ts.consume %sch "read" (%x) -> i32 {
          %r = memref.load %x[%c0] : memref<4xi32, #ts.smem>
          ts.yield %r : i32
        }
        ts.release %sch
      }
    }
  }
}
