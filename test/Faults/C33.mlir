// RUN: not %judge %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
// RUN: %check ERR %s --input-file=%t.err
// C33: the epilogue's staging lies over the operand ring; the peer CTA's multicast waits for its own epilogue only.

// ERR: error: [TS302] race when number of tiles of 'tiles' {{>?=}} 2: 'load (CTA 0)' and 'compute (CTA 1)' touch the same memory and nothing orders them
// ERR: note: write of 'ab.a', bytes [0, 8192), asynchronous, in CTA 1, by 'load (CTA 0)'
// ERR: note: write of 'c.c', bytes [0, 8192), in CTA 1, by 'compute (CTA 1)'
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!tile = memref<64x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @overlay(%A: !map, %n: index) warps(5) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 3 : i16
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_async, stages = 1)
    %c = ts.resource "c" smem(c: memref<64x64xbf16>)
    %free = ts.resource "free" barrier pipeline(async_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %c on %ab
    ts.depends %free on %g
    ts.alias_group "reuse" (%ab, %c) phases [1, 1]

    ts.task "load" warps(4, 1) reads(%q, %g) writes(%ab, %free) {
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.consume %g "coords" {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %free
        ts.commit %free
        ts.acquire %ab
        ts.produce %ab "copy" (%x) {
          %h = memref.subview %x[%row, 0] [32, 64] [1, 1] : !tile to !half
          ts.tma_load %A[%row, %c0] to %h multicast(%both) : !map, !half
        }
        ts.commit %ab
        ts.next_tile %q
      }
    }
    ts.task "compute" warps(0, 4) reads(%q, %ab, %free, %c) writes(%c) {
      ts.tile_loop %q (%m) {
        ts.wait %free
        ts.wait %ab
        ts.consume %ab "operands" declared
        ts.release %ab
        ts.produce %c "write" declared
        ts.consume %c "read" declared
        ts.release %free
        ts.next_tile %q
      }
    }
  }
}

// -----

// Without the overlay.
// OUT: apart: proven for every number of tiles of 'tiles': no deadlock, no race, no overrun, clean exit
// OUT-NOT: addresses at run time
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!tile = memref<64x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @apart(%A: !map, %n: index) warps(5) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 3 : i16
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_async, stages = 1)
    %c = ts.resource "c" smem(c: memref<64x64xbf16>)
    %free = ts.resource "free" barrier pipeline(async_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %c on %ab
    ts.depends %free on %g

    ts.task "load" warps(4, 1) reads(%q, %g) writes(%ab, %free) {
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.consume %g "coords" {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %free
        ts.commit %free
        ts.acquire %ab
        ts.produce %ab "copy" (%x) {
          %h = memref.subview %x[%row, 0] [32, 64] [1, 1] : !tile to !half
          ts.tma_load %A[%row, %c0] to %h multicast(%both) : !map, !half
        }
        ts.commit %ab
        ts.next_tile %q
      }
    }
    ts.task "compute" warps(0, 4) reads(%q, %ab, %free, %c) writes(%c) {
      ts.tile_loop %q (%m) {
        ts.wait %free
        ts.wait %ab
        ts.consume %ab "operands" declared
        ts.release %ab
        ts.produce %c "write" declared
        ts.consume %c "read" declared
        ts.release %free
        ts.next_tile %q
      }
    }
  }
}

// -----

// The operands' slot is given back behind the epilogue, in both CTAs.
// OUT: counted_over_both: proven for every number of tiles of 'tiles': no deadlock, no race, no overrun, clean exit
// OUT-NOT: addresses at run time
!map = !ts.tensor_map<?x?xbf16, box = 32x64, swizzle = 128>
!half = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!tile = memref<64x64xbf16, #ts.smem<128>>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @counted_over_both(%A: !map, %n: index) warps(5) cluster(2, 1, 1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %both = arith.constant 3 : i16
    %q = ts.work_queue "tiles" static over(%n)
    %g = ts.resource "g" gmem
    %ab = ts.resource "ab" smem(a: !tile) pipeline(tma_async, stages = 1)
    %c = ts.resource "c" smem(c: memref<64x64xbf16>)
    %free = ts.resource "free" barrier pipeline(async_async, stages = 1)
    ts.depends %ab on %g
    ts.depends %c on %ab
    ts.depends %free on %g
    ts.alias_group "reuse" (%ab, %c) phases [1, 1]

    ts.task "load" warps(4, 1) reads(%q, %g) writes(%ab, %free) {
      %rank = ts.info cta_rank : index
      %row = arith.muli %rank, %c32 : index
      ts.consume %g "coords" {
      }
      ts.tile_loop %q (%m) {
        ts.acquire %free
        ts.commit %free
        ts.acquire %ab
        ts.produce %ab "copy" (%x) {
          %h = memref.subview %x[%row, 0] [32, 64] [1, 1] : !tile to !half
          ts.tma_load %A[%row, %c0] to %h multicast(%both) : !map, !half
        }
        ts.commit %ab
        ts.next_tile %q
      }
    }
    ts.task "compute" warps(0, 4) reads(%q, %ab, %free, %c) writes(%c) {
      ts.tile_loop %q (%m) {
        ts.wait %free
        ts.wait %ab
        ts.consume %ab "operands" declared
        ts.produce %c "write" declared
        ts.consume %c "read" declared
        ts.release %ab
        ts.release %free
        ts.next_tile %q
      }
    }
  }
}
