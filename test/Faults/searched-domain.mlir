// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// A number of steps that each task finds for itself: by a search over an array, from where the search of the
// tile before ended. It is one number in both tasks because it comes about in the same way, although one of
// them finds out more on its way; and it is not where the searches differ.
!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// OUT: searched: proven for every
gpu.module @searched_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @searched(%A: !map, %counts: memref<?xi32>, %n: index, %groups: index, %all: index) warps(2) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %no = arith.constant false
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3, advance_on_wait)
    %q = ts.work_queue "q" static over(%all)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      ts.tile_loop %q (%i) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %first, %steps = ts.consume %src "domain" -> index, index, index {
          %g, %base = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index) {
            %some = arith.cmpi slt, %g, %groups : index
            %on, %next = scf.if %some -> (i1, index) {
              %tiles32 = memref.load %counts[%g] : memref<?xi32>
              %tiles = arith.index_cast %tiles32 : i32 to index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %i, %next : index
              scf.yield %behind, %next : i1, index
            } else {
              scf.yield %no, %base : i1, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept : index, index
          } do {
          ^bb0(%g: index, %base: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %exists = arith.cmpi slt, %g, %groups : index
          %steps = arith.select %exists, %n, %c0 : index
          ts.yield %g, %base, %steps : index, index, index
        }
        ts.for %k = %c0 to %steps {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%first, %k] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
        ts.yield %group, %first : index, index
      }
    }
    ts.task "use" warps(1, 1) reads(%src, %x, %q) {
      ts.tile_loop %q (%i) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %first, %steps = ts.consume %src "domain" -> index, index, index {
          %g, %base, %last = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index, index) {
            %some = arith.cmpi slt, %g, %groups : index
            %on, %next, %last = scf.if %some -> (i1, index, index) {
              %tiles32 = memref.load %counts[%g] : memref<?xi32>
              %tiles = arith.index_cast %tiles32 : i32 to index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %i, %next : index
              scf.yield %behind, %next, %tiles : i1, index, index
            } else {
              scf.yield %no, %base, %c0 : i1, index, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept, %last : index, index, index
          } do {
          ^bb0(%g: index, %base: index, %last: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %exists = arith.cmpi slt, %g, %groups : index
          %steps = arith.select %exists, %n, %c0 : index
          ts.yield %g, %base, %steps : index, index, index
        }
        ts.for %k = %c0 to %steps {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.guard not_first {
            ts.release %x
          }
        }
        %any = arith.cmpi sgt, %steps, %c0 : index
        ts.when %any is true {
          ts.release %x
        }
        ts.next_tile %q
        ts.yield %group, %first : index, index
      }
    }
  }
}

// -----

!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// ERR: error: [TS30
// ERR: are not balanced: 'load' commits it select(cmpi slt(while#
gpu.module @other_search_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @other_search(%A: !map, %counts: memref<?xi32>, %n: index, %groups: index, %all: index) warps(2) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %no = arith.constant false
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3, advance_on_wait)
    %q = ts.work_queue "q" static over(%all)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      ts.tile_loop %q (%i) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %first, %steps = ts.consume %src "domain" -> index, index, index {
          %g, %base = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index) {
            %some = arith.cmpi slt, %g, %groups : index
            %on, %next = scf.if %some -> (i1, index) {
              %tiles32 = memref.load %counts[%g] : memref<?xi32>
              %tiles = arith.index_cast %tiles32 : i32 to index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %i, %next : index
              scf.yield %behind, %next : i1, index
            } else {
              scf.yield %no, %base : i1, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept : index, index
          } do {
          ^bb0(%g: index, %base: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %exists = arith.cmpi slt, %g, %groups : index
          %steps = arith.select %exists, %n, %c0 : index
          ts.yield %g, %base, %steps : index, index, index
        }
        ts.for %k = %c0 to %steps {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%first, %k] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
        ts.yield %group, %first : index, index
      }
    }
    ts.task "use" warps(1, 1) reads(%src, %x, %q) {
      ts.tile_loop %q (%i) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %first, %steps = ts.consume %src "domain" -> index, index, index {
          %g, %base, %last = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index, index) {
            %some = arith.cmpi slt, %g, %groups : index
            %on, %next, %last = scf.if %some -> (i1, index, index) {
              %tiles32 = memref.load %counts[%g] : memref<?xi32>
              %tiles = arith.index_cast %tiles32 : i32 to index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sgt, %i, %next : index
              scf.yield %behind, %next, %tiles : i1, index, index
            } else {
              scf.yield %no, %base, %c0 : i1, index, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept, %last : index, index, index
          } do {
          ^bb0(%g: index, %base: index, %last: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %exists = arith.cmpi slt, %g, %groups : index
          %steps = arith.select %exists, %n, %c0 : index
          ts.yield %g, %base, %steps : index, index, index
        }
        ts.for %k = %c0 to %steps {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.guard not_first {
            ts.release %x
          }
        }
        %any = arith.cmpi sgt, %steps, %c0 : index
        ts.when %any is true {
          ts.release %x
        }
        ts.next_tile %q
        ts.yield %group, %first : index, index
      }
    }
  }
}

// -----

!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// ERR: error: [TS30
// ERR: are not balanced: 'load' commits it select(cmpi slt(while#
gpu.module @other_start_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @other_start(%A: !map, %counts: memref<?xi32>, %n: index, %groups: index, %all: index) warps(2) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %no = arith.constant false
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3, advance_on_wait)
    %q = ts.work_queue "q" static over(%all)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      ts.tile_loop %q (%i) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %first, %steps = ts.consume %src "domain" -> index, index, index {
          %g, %base = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index) {
            %some = arith.cmpi slt, %g, %groups : index
            %on, %next = scf.if %some -> (i1, index) {
              %tiles32 = memref.load %counts[%g] : memref<?xi32>
              %tiles = arith.index_cast %tiles32 : i32 to index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %i, %next : index
              scf.yield %behind, %next : i1, index
            } else {
              scf.yield %no, %base : i1, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept : index, index
          } do {
          ^bb0(%g: index, %base: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %exists = arith.cmpi slt, %g, %groups : index
          %steps = arith.select %exists, %n, %c0 : index
          ts.yield %g, %base, %steps : index, index, index
        }
        ts.for %k = %c0 to %steps {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%first, %k] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
        ts.yield %group, %first : index, index
      }
    }
    ts.task "use" warps(1, 1) reads(%src, %x, %q) {
      ts.tile_loop %q (%i) iter(%g0 = %c1 : index, %base0 = %c0 : index) {
        %group, %first, %steps = ts.consume %src "domain" -> index, index, index {
          %g, %base, %last = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index, index) {
            %some = arith.cmpi slt, %g, %groups : index
            %on, %next, %last = scf.if %some -> (i1, index, index) {
              %tiles32 = memref.load %counts[%g] : memref<?xi32>
              %tiles = arith.index_cast %tiles32 : i32 to index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %i, %next : index
              scf.yield %behind, %next, %tiles : i1, index, index
            } else {
              scf.yield %no, %base, %c0 : i1, index, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept, %last : index, index, index
          } do {
          ^bb0(%g: index, %base: index, %last: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %exists = arith.cmpi slt, %g, %groups : index
          %steps = arith.select %exists, %n, %c0 : index
          ts.yield %g, %base, %steps : index, index, index
        }
        ts.for %k = %c0 to %steps {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.guard not_first {
            ts.release %x
          }
        }
        %any = arith.cmpi sgt, %steps, %c0 : index
        ts.when %any is true {
          ts.release %x
        }
        ts.next_tile %q
        ts.yield %group, %first : index, index
      }
    }
  }
}

// -----

!map = !ts.tensor_map<?x?xf32, box = 16x32, swizzle = 128>
!tile = memref<16x32xf32, #ts.smem<128>>
// The kernel writes what the other task counts by.
// ERR: error: [TS105] release of
// ERR: error: [TS105] wait number 4 for
gpu.module @written_module attributes {ts.chip = "sm_90a"} {
  ts.kernel @written(%A: !map, %counts: memref<?xi32>, %n: index, %groups: index, %all: index) warps(2) trips_per_tile {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %no = arith.constant false
    %src = ts.resource "a" gmem
    %x = ts.resource "x" smem(x: !tile) pipeline(tma_async, stages = 3, advance_on_wait)
    %q = ts.work_queue "q" static over(%all)
    ts.depends %x on %src
    ts.task "load" warps(0, 1) reads(%src, %q) writes(%x) {
      ts.tile_loop %q (%i) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %first, %steps = ts.consume %src "domain" -> index, index, index {
          %g, %base = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index) {
            %some = arith.cmpi slt, %g, %groups : index
            %on, %next = scf.if %some -> (i1, index) {
              %tiles32 = memref.load %counts[%g] : memref<?xi32>
              %tiles = arith.index_cast %tiles32 : i32 to index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %i, %next : index
              scf.yield %behind, %next : i1, index
            } else {
              scf.yield %no, %base : i1, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept : index, index
          } do {
          ^bb0(%g: index, %base: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %exists = arith.cmpi slt, %g, %groups : index
          %steps = arith.select %exists, %n, %c0 : index
          ts.yield %g, %base, %steps : index, index, index
        }
        ts.for %k = %c0 to %steps {
          ts.acquire %x
          ts.produce %x "load" (%v) {
            ts.tma_load %A[%first, %k] to %v : !map, !tile
          }
          ts.commit %x
        }
        ts.next_tile %q
        ts.yield %group, %first : index, index
      }
    }
    %out = ts.resource "out" gmem
    ts.depends %out on %x
    ts.task "use" warps(1, 1) reads(%src, %x, %q) writes(%out) {
      ts.tile_loop %q (%i) iter(%g0 = %c0 : index, %base0 = %c0 : index) {
        %group, %first, %steps = ts.consume %src "domain" -> index, index, index {
          %g, %base, %last = scf.while (%g = %g0, %base = %base0) : (index, index) -> (index, index, index) {
            %some = arith.cmpi slt, %g, %groups : index
            %on, %next, %last = scf.if %some -> (i1, index, index) {
              %tiles32 = memref.load %counts[%g] : memref<?xi32>
              %tiles = arith.index_cast %tiles32 : i32 to index
              %next = arith.addi %base, %tiles : index
              %behind = arith.cmpi sge, %i, %next : index
              scf.yield %behind, %next, %tiles : i1, index, index
            } else {
              scf.yield %no, %base, %c0 : i1, index, index
            }
            %kept = arith.select %on, %next, %base : index
            scf.condition(%on) %g, %kept, %last : index, index, index
          } do {
          ^bb0(%g: index, %base: index, %last: index):
            %g1 = arith.addi %g, %c1 : index
            scf.yield %g1, %base : index, index
          }
          %exists = arith.cmpi slt, %g, %groups : index
          %steps = arith.select %exists, %n, %c0 : index
          ts.yield %g, %base, %steps : index, index, index
        }
        ts.for %k = %c0 to %steps {
          ts.wait %x
          ts.consume %x "use" (%v) {
          }
          ts.produce %out "write" {
            %zero = arith.constant 0 : i32
            memref.store %zero, %counts[%k] : memref<?xi32>
          }
          ts.guard not_first {
            ts.release %x
          }
        }
        %any = arith.cmpi sgt, %steps, %c0 : index
        ts.when %any is true {
          ts.release %x
        }
        ts.next_tile %q
        ts.yield %group, %first : index, index
      }
    }
  }
}
