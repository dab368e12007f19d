// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,ts-prove))' -o /dev/null
// What the rules of a grouped GEMM over tiles that the device finds forbid. The first kernel is right.

!a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @right(%A: !a, %B: !b, %offsets: memref<?xi32>, %groups: index, %n: index, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %src = ts.resource "src" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %dst = ts.resource "dst" gmem
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %left = scf.for %g = %c0 to %groups step %c1 iter_args(%l = %t) -> index {
        %next = arith.addi %g, %c1 : index
        %from = memref.load %offsets[%g] : memref<?xi32>
        %to = memref.load %offsets[%next] : memref<?xi32>
        %rows32 = arith.subi %to, %from : i32
        %rows = arith.index_cast %rows32 : i32 to index
        %tiles = arith.ceildivsi %rows, %c128 : index
        %new = arith.subi %l, %tiles : index
        scf.yield %new : index
      }
      %beyond = arith.cmpi sge, %left, %c0 : index
      ts.yield %beyond : i1
    }
    ts.depends %ab on %src
    ts.depends %dst on %ab
    ts.task "load" warps(0, 1) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%t) {
        ts.skippable {
          ts.consume %src "coords" aux {
          }
          ts.for %i = %c0 to %k {
            ts.acquire %ab
            ts.produce %ab "load" (%x, %y) {
              ts.tma_load %A[%t, %i] to %x : !a, !tile
              ts.tma_load %B[%c0, %c0, %i] to %y : !b, !tile
            }
            ts.commit %ab
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "mma" warps(4, 8) replicas(2) (%wg) reads(%ab, %queue) writes(%dst) {
      %row_wg = arith.muli %wg, %c64 : index
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.tile_loop %queue (%t) {
        ts.skippable {
          %zero = ts.wgmma_zero : !acc
          %acc = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
            ts.wait %ab
            %x, %y = ts.consume %ab "operands" (%va, %vb) -> !rows, !tile {
              %rows = memref.subview %va[%row_wg, 0] [64, 64] [1, 1] : !tile to !rows
              ts.yield %rows, %vb : !rows, !tile
            }
            %issued = ts.wgmma %x, %y, %c : !rows, !tile, !acc
            ts.wgmma_commit
            %next = ts.wgmma_wait 1, %issued : !acc -> !acc
            ts.guard not_first {
              ts.release %ab
            }
            ts.yield %next : !acc
          }
          %sum = ts.wgmma_wait 0, %acc : !acc -> !frag
          ts.when %some is true {
            ts.release %ab
          }
          ts.produce %dst "add" aux {
          }
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// Tiles beyond the last group are loaded, and nobody takes them.
!a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: wait for what is outstanding at the end of the task, or meet at a cluster barrier}}
  ts.kernel @loaded(%A: !a, %B: !b, %offsets: memref<?xi32>, %groups: index, %n: index, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %src = ts.resource "src" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %dst = ts.resource "dst" gmem
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %left = scf.for %g = %c0 to %groups step %c1 iter_args(%l = %t) -> index {
        %next = arith.addi %g, %c1 : index
        %from = memref.load %offsets[%g] : memref<?xi32>
        %to = memref.load %offsets[%next] : memref<?xi32>
        %rows32 = arith.subi %to, %from : i32
        %rows = arith.index_cast %rows32 : i32 to index
        %tiles = arith.ceildivsi %rows, %c128 : index
        %new = arith.subi %l, %tiles : index
        scf.yield %new : index
      }
      %beyond = arith.cmpi sge, %left, %c0 : index
      ts.yield %beyond : i1
    }
    ts.depends %ab on %src
    ts.depends %dst on %ab
    ts.task "load" warps(0, 1) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%t) {
          ts.consume %src "coords" aux {
          }
          ts.for %i = %c0 to %k {
            ts.acquire %ab
            ts.produce %ab "load" (%x, %y) {
              // expected-error @+1 {{[TS305] exit when number of tiles of 'tiles' = 1, skip of 'tiles' is true in tile 0, k = 1: a write of 'ab.a' stage 0, bytes [0, 16384), asynchronous, by 'load' can be outstanding when the CTA exits}}
              ts.tma_load %A[%t, %i] to %x : !a, !tile
              ts.tma_load %B[%c0, %c0, %i] to %y : !b, !tile
            }
            ts.commit %ab
          }
        ts.next_tile %queue
      }
    }
    ts.task "mma" warps(4, 8) replicas(2) (%wg) reads(%ab, %queue) writes(%dst) {
      %row_wg = arith.muli %wg, %c64 : index
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.tile_loop %queue (%t) {
        ts.skippable {
          %zero = ts.wgmma_zero : !acc
          %acc = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
            ts.wait %ab
            %x, %y = ts.consume %ab "operands" (%va, %vb) -> !rows, !tile {
              %rows = memref.subview %va[%row_wg, 0] [64, 64] [1, 1] : !tile to !rows
              ts.yield %rows, %vb : !rows, !tile
            }
            %issued = ts.wgmma %x, %y, %c : !rows, !tile, !acc
            ts.wgmma_commit
            %next = ts.wgmma_wait 1, %issued : !acc -> !acc
            ts.guard not_first {
              // expected-note @+1 {{the roles of ring 'ab' are not balanced: 'load' commits it k times per tile, 'mma[0]' releases it -k * (skip of 'tiles') + k times per tile}}
              ts.release %ab
            }
            ts.yield %next : !acc
          }
          %sum = ts.wgmma_wait 0, %acc : !acc -> !frag
          ts.when %some is true {
            ts.release %ab
          }
          ts.produce %dst "add" aux {
          }
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The last stage of a tile is kept: no tile behind the first few finds a free one.
!a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @kept(%A: !a, %B: !b, %offsets: memref<?xi32>, %groups: index, %n: index, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %src = ts.resource "src" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %dst = ts.resource "dst" gmem
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %left = scf.for %g = %c0 to %groups step %c1 iter_args(%l = %t) -> index {
        %next = arith.addi %g, %c1 : index
        %from = memref.load %offsets[%g] : memref<?xi32>
        %to = memref.load %offsets[%next] : memref<?xi32>
        %rows32 = arith.subi %to, %from : i32
        %rows = arith.index_cast %rows32 : i32 to index
        %tiles = arith.ceildivsi %rows, %c128 : index
        %new = arith.subi %l, %tiles : index
        scf.yield %new : index
      }
      %beyond = arith.cmpi sge, %left, %c0 : index
      ts.yield %beyond : i1
    }
    ts.depends %ab on %src
    ts.depends %dst on %ab
    ts.task "load" warps(0, 1) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%t) {
        ts.skippable {
          ts.consume %src "coords" aux {
          }
          ts.for %i = %c0 to %k {
            ts.acquire %ab
            ts.produce %ab "load" (%x, %y) {
              ts.tma_load %A[%t, %i] to %x : !a, !tile
              ts.tma_load %B[%c0, %c0, %i] to %y : !b, !tile
            }
            ts.commit %ab
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "mma" warps(4, 8) replicas(2) (%wg) reads(%ab, %queue) writes(%dst) {
      %row_wg = arith.muli %wg, %c64 : index
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.tile_loop %queue (%t) {
        ts.skippable {
          %zero = ts.wgmma_zero : !acc
          %acc = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
            // expected-error @+2 {{[TS105] wait number 5 for 'ab' without a release, but it has 4 stage(s), so nothing more can arrive; release earlier or add stages}}
            // expected-note @+1 {{on the path with the loop runs: yes, first iteration: no, last iteration: no, the tile is skipped: no, k > 0: yes, first iteration: no, last iteration: no}}
            ts.wait %ab
            %x, %y = ts.consume %ab "operands" (%va, %vb) -> !rows, !tile {
              %rows = memref.subview %va[%row_wg, 0] [64, 64] [1, 1] : !tile to !rows
              ts.yield %rows, %vb : !rows, !tile
            }
            %issued = ts.wgmma %x, %y, %c : !rows, !tile, !acc
            ts.wgmma_commit
            %next = ts.wgmma_wait 1, %issued : !acc -> !acc
            ts.guard not_first {
              ts.release %ab
            }
            ts.yield %next : !acc
          }
          %sum = ts.wgmma_wait 0, %acc : !acc -> !frag
          ts.produce %dst "add" aux {
          }
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The last stage of a tile is given back also where there was none.
!a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @none_held(%A: !a, %B: !b, %offsets: memref<?xi32>, %groups: index, %n: index, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %src = ts.resource "src" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %dst = ts.resource "dst" gmem
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %left = scf.for %g = %c0 to %groups step %c1 iter_args(%l = %t) -> index {
        %next = arith.addi %g, %c1 : index
        %from = memref.load %offsets[%g] : memref<?xi32>
        %to = memref.load %offsets[%next] : memref<?xi32>
        %rows32 = arith.subi %to, %from : i32
        %rows = arith.index_cast %rows32 : i32 to index
        %tiles = arith.ceildivsi %rows, %c128 : index
        %new = arith.subi %l, %tiles : index
        scf.yield %new : index
      }
      %beyond = arith.cmpi sge, %left, %c0 : index
      ts.yield %beyond : i1
    }
    ts.depends %ab on %src
    ts.depends %dst on %ab
    ts.task "load" warps(0, 1) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%t) {
        ts.skippable {
          ts.consume %src "coords" aux {
          }
          ts.for %i = %c0 to %k {
            ts.acquire %ab
            ts.produce %ab "load" (%x, %y) {
              ts.tma_load %A[%t, %i] to %x : !a, !tile
              ts.tma_load %B[%c0, %c0, %i] to %y : !b, !tile
            }
            ts.commit %ab
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "mma" warps(4, 8) replicas(2) (%wg) reads(%ab, %queue) writes(%dst) {
      %row_wg = arith.muli %wg, %c64 : index
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.tile_loop %queue (%t) {
        ts.skippable {
          %zero = ts.wgmma_zero : !acc
          %acc = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
            ts.wait %ab
            %x, %y = ts.consume %ab "operands" (%va, %vb) -> !rows, !tile {
              %rows = memref.subview %va[%row_wg, 0] [64, 64] [1, 1] : !tile to !rows
              ts.yield %rows, %vb : !rows, !tile
            }
            %issued = ts.wgmma %x, %y, %c : !rows, !tile, !acc
            ts.wgmma_commit
            %next = ts.wgmma_wait 1, %issued : !acc -> !acc
            ts.guard not_first {
              ts.release %ab
            }
            ts.yield %next : !acc
          }
          %sum = ts.wgmma_wait 0, %acc : !acc -> !frag
          // expected-error @+2 {{[TS105] release of 'ab' without an open wait in task 'mma'; every release closes one wait}}
          // expected-note @+1 {{on the path with the loop runs: yes, first iteration: yes, last iteration: yes, the tile is skipped: no, k > 0: no}}
          ts.release %ab
          ts.produce %dst "add" aux {
          }
        }
        ts.next_tile %queue
      }
    }
  }
}

// -----

// The operands are given back while the products still read them.
!a = !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>
!b = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!tile = memref<128x64xbf16, #ts.smem<128>>
!rows = memref<64x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!acc = !ts.wgmma<64x128xf32>
!frag = !ts.fragment<64x128xf32>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-note @+2 {{the steps of one run that ends there:}}
  // expected-note @+1 {{help: make the second access wait for the first: close its bracket before, or let the ring order them}}
  ts.kernel @early(%A: !a, %B: !b, %offsets: memref<?xi32>, %groups: index, %n: index, %k: index) warps(12) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %src = ts.resource "src" gmem
    %ab = ts.resource "ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 4, advance_on_wait)
    %dst = ts.resource "dst" gmem
    %queue = ts.work_queue "tiles" static over(%n) skip(%t) {
      %left = scf.for %g = %c0 to %groups step %c1 iter_args(%l = %t) -> index {
        %next = arith.addi %g, %c1 : index
        %from = memref.load %offsets[%g] : memref<?xi32>
        %to = memref.load %offsets[%next] : memref<?xi32>
        %rows32 = arith.subi %to, %from : i32
        %rows = arith.index_cast %rows32 : i32 to index
        %tiles = arith.ceildivsi %rows, %c128 : index
        %new = arith.subi %l, %tiles : index
        scf.yield %new : index
      }
      %beyond = arith.cmpi sge, %left, %c0 : index
      ts.yield %beyond : i1
    }
    ts.depends %ab on %src
    ts.depends %dst on %ab
    ts.task "load" warps(0, 1) reads(%src, %queue) writes(%ab) {
      ts.tile_loop %queue (%t) {
        ts.skippable {
          ts.consume %src "coords" aux {
          }
          ts.for %i = %c0 to %k {
            ts.acquire %ab
            ts.produce %ab "load" (%x, %y) {
              // expected-error @+2 {{[TS302] race when skip of 'tiles' is false in tile 0, k >= 5: 'load' and 'mma[0]' touch the same memory and nothing orders them}}
              // expected-note @+1 {{write of 'ab.a' stage 0, bytes [0, 16384), asynchronous, by 'load'}}
              ts.tma_load %A[%t, %i] to %x : !a, !tile
              ts.tma_load %B[%c0, %c0, %i] to %y : !b, !tile
            }
            ts.commit %ab
          }
        }
        ts.next_tile %queue
      }
    }
    ts.task "mma" warps(4, 8) replicas(2) (%wg) reads(%ab, %queue) writes(%dst) {
      %row_wg = arith.muli %wg, %c64 : index
      %some = arith.cmpi sgt, %k, %c0 : index
      ts.tile_loop %queue (%t) {
        ts.skippable {
          %zero = ts.wgmma_zero : !acc
          %acc = ts.for %i = %c0 to %k iter(%c = %zero : !acc) {
            ts.wait %ab
            %x, %y = ts.consume %ab "operands" (%va, %vb) -> !rows, !tile {
              %rows = memref.subview %va[%row_wg, 0] [64, 64] [1, 1] : !tile to !rows
              ts.yield %rows, %vb : !rows, !tile
            }
            // expected-note @+1 {{read of 'ab.a' stage 0, bytes [0, 8192), asynchronous, by 'mma[0]'}}
            %issued = ts.wgmma %x, %y, %c : !rows, !tile, !acc
            ts.wgmma_commit
            %next = ts.wgmma_wait 1, %issued : !acc -> !acc
            ts.release %ab
            ts.yield %next : !acc
          }
          %sum = ts.wgmma_wait 0, %acc : !acc -> !frag
          ts.produce %dst "add" aux {
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
