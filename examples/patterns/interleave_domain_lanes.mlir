// Domain lanes: sibling tasks that split a loop. Each starts at its lane and steps by the stride, and
// takes the stages lane, lane + stride, ... of pipelines that all of them share; their number of warps
// differs from the stride, which tells this from warp lanes. Both kernels compute D = A * |A| on tiles of
// 128 x 32, even tiles in one task and odd tiles in another. Tiles come in pairs, as the loops of the
// siblings make equally many steps.
//   ts-compile examples/patterns/interleave_domain_lanes.mlir --arch=sm_90a -o d.ptx
//   ts-run d.ptx --kernel consumers --array A=300x32 --array D=300x32 --check 'D = A * abs(A)'
!map = !ts.tensor_map<?x?xf32, box = 128x32, swizzle = 128>
!tile = memref<128x32xf32, #ts.smem<128>>
!row = vector<32xf32>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  // A stride for each role: one dense task loads for both siblings, one stores for both.
  ts.kernel @consumers(%A: !map, %D: !map, %tiles: index = 2 * ceildiv(dim(%A, 0), 256)) warps(10) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %src = ts.resource "gmem_a" gmem
    %in = ts.resource "smem_in" smem(x: !tile) pipeline(tma_async, stages = 4, interleave = (1, 1, 2, 2))
    %out = ts.resource "smem_out" smem(y: !tile) pipeline(async_async, stages = 2, interleave = (2, 2, 1, 1))
    %dst = ts.resource "gmem_d" gmem
    ts.depends %in on %src
    ts.depends %out on %in
    ts.depends %dst on %out

    ts.task "load" warps(8, 1) reads(%src) writes(%in) {
      ts.for %i = %c0 to %tiles {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %i, %c128 : index
          ts.yield %r : index
        }
        ts.acquire %in
        ts.produce %in "load" (%x) {
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
        }
        ts.commit %in
      }
    }

    ts.task "even" warps(0, 4) reads(%in) writes(%out) {
      %t = ts.info thread : index
      ts.for %i = %c0 to %tiles step %c2 {
        ts.wait %in
        %v = ts.consume %in "read" (%x) -> !row {
          %a = vector.load %x[%t, %c0] : !tile, !row
          ts.yield %a : !row
        }
        ts.acquire %out
        ts.produce %out "write" (%y) {
          %abs = math.absf %v : !row
          %r = arith.mulf %v, %abs : !row
          vector.store %r, %y[%t, %c0] : !tile, !row
        }
        ts.commit %out
        ts.release %in
      }
    }

    ts.task "odd" warps(4, 4) reads(%in) writes(%out) {
      %t = ts.info thread : index
      ts.for %i = %c1 to %tiles step %c2 {
        ts.wait %in
        %v = ts.consume %in "read" (%x) -> !row {
          %a = vector.load %x[%t, %c0] : !tile, !row
          ts.yield %a : !row
        }
        ts.acquire %out
        ts.produce %out "write" (%y) {
          %abs = math.absf %v : !row
          %r = arith.mulf %v, %abs : !row
          vector.store %r, %y[%t, %c0] : !tile, !row
        }
        ts.commit %out
        ts.release %in
      }
    }

    ts.task "store" warps(9, 1) reads(%out) writes(%dst) {
      ts.for %i = %c0 to %tiles {
        %row = arith.muli %i, %c128 : index
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

  // One stride for all roles: the replicas of each task are the lanes.
  ts.kernel @all_roles(%A: !map, %D: !map, %tiles: index = 2 * ceildiv(dim(%A, 0), 256)) warps(12) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %src = ts.resource "gmem_a" gmem
    %in = ts.resource "smem_in" smem(x: !tile) pipeline(tma_async, stages = 4, interleave = 2)
    %out = ts.resource "smem_out" smem(y: !tile) pipeline(async_async, stages = 2, interleave = 2)
    %dst = ts.resource "gmem_d" gmem
    ts.depends %in on %src
    ts.depends %out on %in
    ts.depends %dst on %out

    ts.task "load" warps(8, 2) replicas(2) (%me) reads(%src) writes(%in) {
      ts.for %i = %me to %tiles step %c2 {
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %i, %c128 : index
          ts.yield %r : index
        }
        ts.acquire %in
        ts.produce %in "load" (%x) {
          ts.tma_load %A[%row, %c0] to %x : !map, !tile
        }
        ts.commit %in
      }
    }

    ts.task "square" warps(0, 8) replicas(2) (%me) reads(%in) writes(%out) {
      %t = ts.info thread : index
      ts.for %i = %me to %tiles step %c2 {
        ts.wait %in
        %v = ts.consume %in "read" (%x) -> !row {
          %a = vector.load %x[%t, %c0] : !tile, !row
          ts.yield %a : !row
        }
        ts.acquire %out
        ts.produce %out "write" (%y) {
          %abs = math.absf %v : !row
          %r = arith.mulf %v, %abs : !row
          vector.store %r, %y[%t, %c0] : !tile, !row
        }
        ts.commit %out
        ts.release %in
      }
    }

    ts.task "store" warps(10, 2) replicas(2) (%me) reads(%out) writes(%dst) {
      ts.for %i = %me to %tiles step %c2 {
        %row = arith.muli %i, %c128 : index
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
