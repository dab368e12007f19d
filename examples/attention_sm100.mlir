// O = softmax(scale * Q K^T) V on Blackwell, bf16 in and out, f32 inside: attention forward, full or causal.
// Q and O are heads x queries x 128, K and V are (heads / g) x keys x 128: `heads` counts the heads of all
// batches, and g neighbouring heads of Q share one of K and V. With `causal` = 1 query i sees keys 0 to i.
// `scale` has to be positive. Any numbers of queries and keys: tails are masked; without keys O is zero.
//
// The two-softmax shape of the documentation: keys come in tiles of 64; one softmax task takes the even
// ones and one the odd ones, as lanes of the same score and probability pipelines, each with its own
// row maximum and its own accumulator in tensor memory. A correction task rescales an accumulator
// between two products when its maximum moved, and in the end joins both. Tiles come in pairs, so
// that the lanes keep in step over work tiles. Persistent: loads run ahead into the next tile.
//   ts-compile examples/attention_sm100.mlir --arch=sm_100a -o a.ptx
//   ts-run a.ptx --scalar scale=0.0883883 --scalar causal=1
//     --array Q=2x200x128 --array K=2x300x128 --array V=2x300x128 --array O=2x200x128
!map_q = !ts.tensor_map<?x?x128xbf16, box = 1x128x64, swizzle = 128>
!map = !ts.tensor_map<?x?x128xbf16, box = 1x64x64, swizzle = 128>
!map_o = !ts.tensor_map<?x?x128xbf16, box = 1x32x64, swizzle = 128>
!q = memref<2x128x64xbf16, #ts.smem<128>>
!kv = memref<2x64x64xbf16, #ts.smem<128>>
!box_q = memref<128x64xbf16, strided<[64, 1]>, #ts.smem<128>>
!box_q1 = memref<128x64xbf16, strided<[64, 1], offset: 8192>, #ts.smem<128>>
!box = memref<64x64xbf16, strided<[64, 1]>, #ts.smem<128>>
!box1 = memref<64x64xbf16, strided<[64, 1], offset: 4096>, #ts.smem<128>>
!scores = memref<128x64xf32, #ts.tmem>
!probs = memref<128x64xbf16, #ts.tmem>
!acc = memref<128x128xf32, #ts.tmem>
!stats = memref<128x2xf32, #ts.smem>
!stage = memref<4x2x32x64xbf16, #ts.smem<128>>
!piece = memref<32x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>

gpu.module @attention attributes {ts.chip = "sm_100a"} {
  ts.kernel @attention(%Q: !map_q, %K: !map, %V: !map, %O: !map_o,
                       %scale: f32, %causal: index,
                       %heads: index = dim(%Q, 0),
                       %group: index = max(1, div(dim(%Q, 0), max(1, dim(%K, 0)))),
                       %tiles: index = ceildiv(dim(%Q, 1), 128),
                       %keys: index = dim(%K, 1),
                       %tile_step: index = 128 * causal,
                       %tile_base: index = keys + causal * (128 - keys),
                       %row_base: index = keys + causal * (1 - keys)) warps(14) flush_denormals {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %false = arith.constant false
    %all_lanes = arith.constant -1 : i32
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    // Exponentials are powers of two.
    %log2e = arith.constant 1.44269504 : f32
    %scale2 = arith.mulf %scale, %log2e : f32

    %src = ts.resource "gmem_qkv" gmem
    %q = ts.resource "smem_q" smem(q: !q) pipeline(tma_umma, stages = 2)
    %k = ts.resource "smem_k" smem(k: !kv) pipeline(tma_umma, stages = 3)
    %v = ts.resource "smem_v" smem(v: !kv) pipeline(tma_umma, stages = 3)
    %s = ts.resource "scores" tmem(s: !scores) pipeline(umma_async, stages = 2, interleave = (1, 1, 2, 2))
    %p = ts.resource "probs" tmem(p: !probs) pipeline(async_umma, stages = 2, interleave = (2, 2, 1, 1))
    %stats = ts.resource "stats" smem(x: !stats) pipeline(async_async, stages = 2, interleave = (2, 2, 1, 1))
    // One stage for each lane; the correction changes it in place.
    %o = ts.resource "tmem_o" tmem(o: !acc) pipeline(umma_async, stages = 2, advance_on_wait)
    %dst = ts.resource "gmem_o" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%heads, %tiles)
    ts.depends %q on %src
    ts.depends %k on %src
    ts.depends %v on %src
    ts.depends %s on %q
    ts.depends %s on %k
    ts.depends %p on %s
    ts.depends %stats on %s
    ts.depends %o on %p
    ts.depends %o on %v
    ts.depends %o on %o
    ts.depends %dst on %o
    ts.depends %dst on %stats

    ts.task "load" warps(13, 1) reads(%src, %queue) writes(%q, %k, %v) {
      ts.tile_loop %queue (%h, %m) {
        %first = arith.muli %m, %tile_step : index
        %end = arith.addi %first, %tile_base : index
        %seen = arith.minsi %end, %keys : index
        %up = arith.addi %seen, %c127 : index
        %pairs = arith.divui %up, %c128 : index
        %n = arith.muli %pairs, %c2 : index
        %row, %h_kv = ts.consume %src "coords" -> index, index {
          %r = arith.muli %m, %c128 : index
          %shared = arith.divui %h, %group : index
          ts.yield %r, %shared : index, index
        }
        ts.acquire %q
        ts.produce %q "load_q" (%view) {
          %low = memref.subview %view[0, 0, 0] [1, 128, 64] [1, 1, 1] : !q to !box_q
          %high = memref.subview %view[1, 0, 0] [1, 128, 64] [1, 1, 1] : !q to !box_q1
          ts.tma_load %Q[%h, %row, %c0] to %low : !map_q, !box_q
          ts.tma_load %Q[%h, %row, %c64] to %high : !map_q, !box_q1
        }
        ts.commit %q
        ts.for %j = %c0 to %n {
          %key = arith.muli %j, %c64 : index
          ts.acquire %k
          ts.produce %k "load_k" (%view) {
            %low = memref.subview %view[0, 0, 0] [1, 64, 64] [1, 1, 1] : !kv to !box
            %high = memref.subview %view[1, 0, 0] [1, 64, 64] [1, 1, 1] : !kv to !box1
            ts.tma_load %K[%h_kv, %key, %c0] to %low : !map, !box
            ts.tma_load %K[%h_kv, %key, %c64] to %high : !map, !box1
          }
          ts.commit %k
          ts.acquire %v
          ts.produce %v "load_v" (%view) {
            %low = memref.subview %view[0, 0, 0] [1, 64, 64] [1, 1, 1] : !kv to !box
            %high = memref.subview %view[1, 0, 0] [1, 64, 64] [1, 1, 1] : !kv to !box1
            ts.tma_load %V[%h_kv, %key, %c0] to %low : !map, !box
            ts.tma_load %V[%h_kv, %key, %c64] to %high : !map, !box1
          }
          ts.commit %v
        }
        ts.next_tile %queue
      }
    }

    // The scores of a tile are asked for two tiles ahead of its probabilities: while one softmax task
    // works, the tensor core multiplies for the other.
    ts.task "mma" warps(12, 1) reads(%q, %k, %v, %p, %queue) writes(%s, %o) {
      ts.tile_loop %queue (%h, %m) {
        %first = arith.muli %m, %tile_step : index
        %end = arith.addi %first, %tile_base : index
        %seen = arith.minsi %end, %keys : index
        %up = arith.addi %seen, %c127 : index
        %pairs = arith.divui %up, %c128 : index
        ts.wait %q
        %vq = ts.consume %q "q" (%view) -> !q {
          ts.yield %view : !q
        }
        %any = arith.cmpi sgt, %pairs, %c0 : index
        ts.when %any is true {
          ts.for %lane = %c0 to %c2 {
            ts.wait %k
            %vk = ts.consume %k "k" (%view) -> !kv {
              ts.yield %view : !kv
            }
            ts.acquire %s
            ts.produce %s "q_k" (%c) {
              ts.umma %c, %vq, %vk accumulate(%false) : !scores, !q, !kv
            }
            ts.commit %s
            ts.release %k
          }
        }
        ts.for %i = %c1 to %pairs {
          %more = arith.cmpi ne, %i, %c1 : index
          ts.for %lane = %c0 to %c2 {
            ts.wait %k
            %vk = ts.consume %k "k" (%view) -> !kv {
              ts.yield %view : !kv
            }
            ts.acquire %s
            ts.produce %s "q_k" (%c) {
              ts.umma %c, %vq, %vk accumulate(%false) : !scores, !q, !kv
            }
            ts.commit %s
            ts.release %k
            ts.wait %v
            %vv = ts.consume %v "v" (%view) -> !kv {
              ts.yield %view : !kv
            }
            ts.wait %p
            %vp = ts.consume %p "p" (%view) -> !probs {
              ts.yield %view : !probs
            }
            ts.acquire %o
            ts.produce %o "p_v" (%c) {
              ts.umma %c, %vp, %vv accumulate(%more) transpose_b : !acc, !probs, !kv
            }
            ts.commit %o
            ts.release %p
            ts.release %v
          }
        }
        %more = arith.cmpi ne, %pairs, %c1 : index
        ts.when %any is true {
          ts.for %lane = %c0 to %c2 {
            ts.wait %v
            %vv = ts.consume %v "v" (%view) -> !kv {
              ts.yield %view : !kv
            }
            ts.wait %p
            %vp = ts.consume %p "p" (%view) -> !probs {
              ts.yield %view : !probs
            }
            ts.acquire %o
            ts.produce %o "p_v" (%c) {
              ts.umma %c, %vp, %vv accumulate(%more) transpose_b : !acc, !probs, !kv
            }
            ts.commit %o
            ts.release %p
            ts.release %v
          }
        }
        ts.release %q
        ts.next_tile %queue
      }
    }

    ts.task "softmax" warps(0, 8) replicas(2) (%lane) reads(%s, %queue) writes(%p, %stats) {
      %t = ts.info thread : index
      ts.tile_loop %queue (%h, %m) {
        %first = arith.muli %m, %tile_step : index
        %end = arith.addi %first, %tile_base : index
        %seen = arith.minsi %end, %keys : index
        %up = arith.addi %seen, %c127 : index
        %pairs = arith.divui %up, %c128 : index
        %n = arith.muli %pairs, %c2 : index
        // Keys that the first row of the tile, and this thread's, sees.
        %row_first = arith.addi %first, %row_base : index
        %all_see = arith.minsi %row_first, %keys : index
        %t_step = arith.muli %t, %causal : index
        %row_end = arith.addi %row_first, %t_step : index
        %mine = arith.minsi %row_end, %keys : index
        %max, %sum = ts.for %j = %lane to %n step %c2 iter(%max = %lowest : f32, %sum = %zero : f32) {
          %key = arith.muli %j, %c64 : index
          ts.wait %s
          %raw = ts.consume %s "scores" (%view) -> vector<64xf32> {
            %x = ts.tmem_load %view[%c0] : !scores -> vector<64xf32>
            ts.yield %x : vector<64xf32>
          }
          ts.release %s
          %past = arith.addi %key, %c64 : index
          %partial = arith.cmpi sgt, %past, %all_see : index
          %x = scf.if %partial -> vector<64xf32> {
            %left = arith.subi %mine, %key : index
            %limit = vector.broadcast %left : index to vector<64xindex>
            %column = vector.step : vector<64xindex>
            %visible = arith.cmpi slt, %column, %limit : vector<64xindex>
            %none = vector.broadcast %lowest : f32 to vector<64xf32>
            %y = arith.select %visible, %raw, %none : vector<64xi1>, vector<64xf32>
            scf.yield %y : vector<64xf32>
          } else {
            scf.yield %raw : vector<64xf32>
          }
          %new = vector.reduction <maximumf>, %x, %max : vector<64xf32> into f32
          // A row that saw no key yet has no maximum to subtract.
          %blind = arith.cmpf oeq, %new, %lowest : f32
          %from = arith.select %blind, %zero, %new : f32
          %down = arith.subf %max, %from : f32
          %down2 = arith.mulf %down, %scale2 : f32
          %factor = math.exp2 %down2 : f32
          ts.acquire %stats
          ts.produce %stats "factor" (%view) {
            memref.store %factor, %view[%t, %c0] : !stats
          }
          ts.commit %stats
          %from2 = arith.mulf %from, %scale2 : f32
          %neg = arith.negf %from2 : f32
          %shift = vector.broadcast %neg : f32 to vector<64xf32>
          %scales = vector.broadcast %scale2 : f32 to vector<64xf32>
          %exponent = vector.fma %x, %scales, %shift : vector<64xf32>
          %e = math.exp2 %exponent : vector<64xf32>
          %narrow = arith.truncf %e : vector<64xf32> to vector<64xbf16>
          ts.acquire %p
          ts.produce %p "probs" (%view) {
            ts.tmem_store %narrow to %view[%c0] : vector<64xbf16>, !probs
          }
          ts.commit %p
          %old = arith.mulf %sum, %factor : f32
          %total = vector.reduction <add>, %e, %old : vector<64xf32> into f32
          ts.yield %new, %total : f32, f32
        }
        ts.acquire %stats
        ts.produce %stats "max_sum" (%view) {
          memref.store %max, %view[%t, %c0] : !stats
          memref.store %sum, %view[%t, %c1] : !stats
        }
        ts.commit %stats
        ts.next_tile %queue
      }
    }

    ts.task "correction" warps(8, 4) reads(%o, %stats, %queue) writes(%dst) {
      %t = ts.info thread : index
      %warp = ts.info warp : index
      %thread_lane = ts.info lane : index
      %row_warp = arith.muli %warp, %c32 : index
      ts.tile_loop %queue (%h, %m) {
        %first = arith.muli %m, %tile_step : index
        %end = arith.addi %first, %tile_base : index
        %seen = arith.minsi %end, %keys : index
        %up = arith.addi %seen, %c127 : index
        %pairs = arith.divui %up, %c128 : index
        %any = arith.cmpi sgt, %pairs, %c0 : index
        ts.when %any is true {
          // Nothing to rescale yet.
          ts.for %lane = %c0 to %c2 {
            ts.wait %stats
            ts.release %stats
          }
        }
        ts.for %i = %c1 to %pairs {
          ts.for %lane = %c0 to %c2 {
            ts.wait %stats
            %factor = ts.consume %stats "factor" (%view) -> f32 {
              %x = memref.load %view[%t, %c0] : !stats
              ts.yield %x : f32
            }
            ts.release %stats
            ts.wait %o
            ts.consume %o "rescale" (%view) {
              %f = vector.broadcast %factor : f32 to vector<32xf32>
              %moved = arith.cmpf one, %factor, %one : f32
              %needed = nvvm.vote.sync any %all_lanes, %moved -> i1
              scf.if %needed {
                ts.for %c = %c0 to %c4 {
                  %column = arith.muli %c, %c32 : index
                  %x = ts.tmem_load %view[%column] : !acc -> vector<32xf32>
                  %y = arith.mulf %x, %f : vector<32xf32>
                  ts.tmem_store %y to %view[%column] : vector<32xf32>, !acc
                }
              }
            }
            ts.release %o
          }
        }
        ts.wait %stats
        %max0, %sum0 = ts.consume %stats "even" (%view) -> f32, f32 {
          %x = memref.load %view[%t, %c0] : !stats
          %y = memref.load %view[%t, %c1] : !stats
          ts.yield %x, %y : f32, f32
        }
        ts.release %stats
        ts.wait %stats
        %max1, %sum1 = ts.consume %stats "odd" (%view) -> f32, f32 {
          %x = memref.load %view[%t, %c0] : !stats
          %y = memref.load %view[%t, %c1] : !stats
          ts.yield %x, %y : f32, f32
        }
        ts.release %stats
        %w0, %w1 = ts.consume %stats "weights" aux uses(%max0, %sum0, %max1, %sum1 : f32, f32, f32, f32) -> f32, f32 {
          %max = arith.maximumf %max0, %max1 : f32
          %blind = arith.cmpf oeq, %max, %lowest : f32
          %from = arith.select %blind, %zero, %max : f32
          %d0 = arith.subf %max0, %from : f32
          %d1 = arith.subf %max1, %from : f32
          %e0 = arith.mulf %d0, %scale2 : f32
          %e1 = arith.mulf %d1, %scale2 : f32
          %f0 = math.exp2 %e0 : f32
          %f1 = math.exp2 %e1 : f32
          %s0 = arith.mulf %sum0, %f0 : f32
          %s1 = arith.mulf %sum1, %f1 : f32
          %sum = arith.addf %s0, %s1 : f32
          %divisor = arith.select %blind, %one, %sum : f32
          %r = arith.divf %one, %divisor : f32
          %x = arith.mulf %f0, %r : f32
          %y = arith.mulf %f1, %r : f32
          ts.yield %x, %y : f32, f32
        }
        %row_tile = arith.muli %m, %c128 : index
        %row = arith.addi %row_tile, %row_warp : index
        ts.when %any is true {
          ts.wait %o
          %o0 = ts.consume %o "even" (%view) -> !acc {
            ts.yield %view : !acc
          }
          ts.wait %o
          ts.for %half = %c0 to %c2 {
            %col = arith.muli %half, %c64 : index
            ts.produce %dst "wait" {
              ts.bulk_wait 1 read
              ts.warp_sync
            }
            ts.for %c = %c0 to %c2 {
              %at = arith.muli %c, %c32 : index
              %column = arith.addi %col, %at : index
              %y = ts.consume %o "join" (%o1) -> vector<32xf32> {
                %x0 = ts.tmem_load %o0[%column] : !acc -> vector<32xf32>
                %x1 = ts.tmem_load %o1[%column] : !acc -> vector<32xf32>
                %b0 = vector.broadcast %w0 : f32 to vector<32xf32>
                %b1 = vector.broadcast %w1 : f32 to vector<32xf32>
                %p0 = arith.mulf %x0, %b0 : vector<32xf32>
                %p1 = vector.fma %x1, %b1, %p0 : vector<32xf32>
                ts.yield %p1 : vector<32xf32>
              }
              ts.produce %dst "convert" (%stage) {
                %piece = memref.subview %stage[%warp, %half, 0, 0] [1, 1, 32, 64] [1, 1, 1, 1] : !stage to !piece
                %narrow = arith.truncf %y : vector<32xf32> to vector<32xbf16>
                vector.store %narrow, %piece[%thread_lane, %at] : !piece, vector<32xbf16>
              }
            }
            ts.guard last {
              ts.release %o
              ts.release %o
            }
            ts.produce %dst "store" (%stage) {
              %piece = memref.subview %stage[%warp, %half, 0, 0] [1, 1, 32, 64] [1, 1, 1, 1] : !stage to !piece
              ts.fence proxy_async_shared
              ts.warp_sync
              ts.tma_store %piece to %O[%h, %row, %col] : !piece, !map_o
              ts.bulk_commit
            }
          }
        }
        ts.when %any is false {
          ts.for %half = %c0 to %c2 {
            %col = arith.muli %half, %c64 : index
            ts.produce %dst "zeros" (%stage) {
              %piece = memref.subview %stage[%warp, %half, 0, 0] [1, 1, 32, 64] [1, 1, 1, 1] : !stage to !piece
              %zeros = arith.constant dense<0.0> : vector<64xbf16>
              ts.bulk_wait 1 read
              ts.warp_sync
              vector.store %zeros, %piece[%thread_lane, %c0] : !piece, vector<64xbf16>
              ts.fence proxy_async_shared
              ts.warp_sync
              ts.tma_store %piece to %O[%h, %row, %col] : !piece, !map_o
              ts.bulk_commit
            }
          }
        }
        ts.next_tile %queue
      }
    }
  }
}
