// Warp lanes: one set of stages shared by the warps of a task, warp i taking stages i, i + stride, ...
// so that each works at its own pace and no two touch the same stage. The task has as many warps as the
// stride. All kernels compute D = A * |A| on tiles of 32 x 32, with warps that take every fourth tile.
//   ts-compile examples/patterns/interleave_warp_lanes.mlir --arch=sm_90a -o w.ptx
//   ts-run w.ptx --kernel all_roles --array A=300x32 --array D=300x32 --check 'D = A * abs(A)'
!map = !ts.tensor_map<?x?xf32, box = 32x32, swizzle = 128>
!tile = memref<32x32xf32, #ts.smem<128>>
!row = vector<32xf32>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  // One stride for all roles: the warps of each task own lanes 0 to 3 of both pipelines.
  ts.kernel @all_roles(%A: !map, %D: !map, %rounds: index = ceildiv(dim(%A, 0), 128)) warps(12) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %src = ts.resource "gmem_a" gmem
    %in = ts.resource "smem_in" smem(x: !tile) pipeline(tma_async, stages = 8, interleave = 4)
    %out = ts.resource "smem_out" smem(y: !tile) pipeline(async_async, stages = 4, interleave = 4)
    %dst = ts.resource "gmem_d" gmem
    ts.depends %in on %src
    ts.depends %out on %in
    ts.depends %dst on %out

    ts.task "load" warps(8, 4) reads(%src) writes(%in) {
      %w = ts.info warp : index
      ts.for %i = %c0 to %rounds {
        %row = ts.consume %src "row" -> index {
          %first = arith.muli %i, %c4 : index
          %tile = arith.addi %first, %w : index
          %r = arith.muli %tile, %c32 : index
          ts.yield %r : index
        }
        ts.acquire %in
        ts.produce %in "load" (%x) {
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
        }
        ts.commit %in
      }
    }

    ts.task "square" warps(0, 4) reads(%in) writes(%out) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %rounds {
        ts.wait %in
        %v = ts.consume %in "read" (%x) -> !row {
          %a = vector.load %x[%lane, %c0] : !tile, !row
          ts.yield %a : !row
        }
        ts.release %in
        ts.acquire %out
        ts.produce %out "write" (%y) {
          %abs = math.absf %v : !row
          %r = arith.mulf %v, %abs : !row
          vector.store %r, %y[%lane, %c0] : !tile, !row
        }
        ts.commit %out
      }
    }

    ts.task "store" warps(4, 4) reads(%out) writes(%dst) {
      %w = ts.info warp : index
      ts.for %i = %c0 to %rounds {
        %first = arith.muli %i, %c4 : index
        %tile = arith.addi %first, %w : index
        %row = arith.muli %tile, %c32 : index
        ts.wait %out
        %view = ts.consume %out "tile" (%y) -> !tile {
          ts.yield %y : !tile
        }
        ts.produce %dst "store" {
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %view to %D[%row, %c0] : !tile, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %out
      }
    }
  }

  // A stride for each role. One dense warp loads and one dense warp gives the stages back, when it
  // has stored what the four warps in between made of them: these only wait, so that the position
  // of the waits (stride 4) and that of the releases (stride 1) are two, which advance_on_wait says.
  ts.kernel @one_role(%A: !map, %D: !map, %rounds: index = ceildiv(dim(%A, 0), 128)) warps(6) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %tiles = arith.muli %rounds, %c4 : index
    %src = ts.resource "gmem_a" gmem
    %in = ts.resource "smem_in" smem(x: !tile) pipeline(tma_async, stages = 8, advance_on_wait, interleave = (1, 1, 4, 1))
    %out = ts.resource "smem_out" smem(y: !tile) pipeline(async_async, stages = 4, interleave = (4, 4, 1, 1))
    %dst = ts.resource "gmem_d" gmem
    ts.depends %in on %src
    ts.depends %out on %in
    ts.depends %dst on %out

    ts.task "load" warps(4, 1) reads(%src) writes(%in) {
      ts.for %i = %c0 to %tiles {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %i, %c32 : index
          ts.yield %r : index
        }
        ts.acquire %in
        ts.produce %in "load" (%x) {
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
        }
        ts.commit %in
      }
    }

    ts.task "square" warps(0, 4) reads(%in) writes(%out) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %rounds {
        ts.wait %in
        %v = ts.consume %in "read" (%x) -> !row {
          %a = vector.load %x[%lane, %c0] : !tile, !row
          ts.yield %a : !row
        }
        ts.acquire %out
        ts.produce %out "write" (%y) {
          %abs = math.absf %v : !row
          %r = arith.mulf %v, %abs : !row
          vector.store %r, %y[%lane, %c0] : !tile, !row
        }
        ts.commit %out
      }
    }

    ts.task "store" warps(5, 1) reads(%in, %out) writes(%dst) {
      ts.for %i = %c0 to %tiles {
        %row = arith.muli %i, %c32 : index
        ts.wait %out
        ts.release %in
        %view = ts.consume %out "tile" (%y) -> !tile {
          ts.yield %y : !tile
        }
        ts.produce %dst "store" {
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %view to %D[%row, %c0] : !tile, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %out
      }
    }
  }

  // The same on the producer side: four warps acquire and write stages of their own, and one dense warp
  // commits them in order, when each says that it is done.
  ts.kernel @one_commit(%A: !map, %D: !map, %rounds: index = ceildiv(dim(%A, 0), 128)) warps(7) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %tiles = arith.muli %rounds, %c4 : index
    %src = ts.resource "gmem_a" gmem
    %in = ts.resource "smem_in" smem(x: !tile) pipeline(tma_async, stages = 8, interleave = (1, 1, 4, 4))
    %out = ts.resource "smem_out" smem(y: !tile) pipeline(async_async, stages = 8, advance_on_acquire, interleave = (4, 1, 1, 1))
    %done = ts.resource "done" barrier pipeline(async_async, stages = 4, interleave = (4, 4, 1, 1))
    %dst = ts.resource "gmem_d" gmem
    ts.depends %in on %src
    ts.depends %out on %in
    ts.depends %done on %in
    ts.depends %out on %done
    ts.depends %dst on %out

    ts.task "load" warps(4, 1) reads(%src) writes(%in) {
      ts.for %i = %c0 to %tiles {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %i, %c32 : index
          ts.yield %r : index
        }
        ts.acquire %in
        ts.produce %in "load" (%x) {
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
        }
        ts.commit %in
      }
    }

    ts.task "square" warps(0, 4) reads(%in) writes(%out, %done) {
      %lane = ts.info lane : index
      ts.for %i = %c0 to %rounds {
        ts.wait %in
        %v = ts.consume %in "read" (%x) -> !row {
          %a = vector.load %x[%lane, %c0] : !tile, !row
          ts.yield %a : !row
        }
        ts.release %in
        ts.acquire %out
        ts.produce %out "write" (%y) {
          %abs = math.absf %v : !row
          %r = arith.mulf %v, %abs : !row
          vector.store %r, %y[%lane, %c0] : !tile, !row
        }
        ts.acquire %done
        ts.commit %done
      }
    }

    ts.task "publish" warps(5, 1) reads(%done) writes(%out) {
      ts.for %i = %c0 to %tiles {
        ts.wait %done
        ts.commit %out
        ts.release %done
      }
    }

    ts.task "store" warps(6, 1) reads(%out) writes(%dst) {
      ts.for %i = %c0 to %tiles {
        %row = arith.muli %i, %c32 : index
        ts.wait %out
        %view = ts.consume %out "tile" (%y) -> !tile {
          ts.yield %y : !tile
        }
        ts.produce %dst "store" {
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %view to %D[%row, %c0] : !tile, !map
          ts.bulk_commit
          ts.bulk_wait 0 read
        }
        ts.release %out
      }
    }
  }
}
