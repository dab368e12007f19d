// O = softmax(scale * Q K^T) V on Hopper, bf16 in and out, f32 inside: attention forward, full or causal,
// head dimensions 128 and 64.
// Q and O are heads x queries x D, K and V are (heads / g) x keys x D: `heads` counts the heads of all
// batches, and g neighbouring heads of Q share one of K and V. With `causal` = 1 query i sees keys 0 to i.
// `scale` has to be positive. Any numbers of queries and keys; without keys O is zero.
//
// A tile is 128 queries of one head, 64 for each of two warpgroups. Three loading warps fill a ring each,
// K and V with rings of their own, since they are given back at different times. The last block of keys
// comes first and is the only one that needs a mask. In the loop a warpgroup issues S = Q K^T of a block
// and O += P V of the block before, hands the baton to the other warpgroup, and does its softmax under
// both warpgroups' products (with heads of 64 that is faster without the baton). P stays in registers:
// the columns of S are the k columns of the next product, lane by lane. Every other head takes its tiles
// backwards if causal, so that a CTA gets long and short ones.
//
//   ts-compile examples/attention_sm90.mlir --arch=sm_90a -o a.ptx
//   ts-run a.ptx --kernel attention_d128 --scalar scale=0.0883883 --scalar causal=0
//     --array Q=2x200x128 --array K=2x300x128 --array V=2x300x128 --array O=2x200x128
//     --check 'S = scale * (Q @ transpose(K, 0, 2, 1)); E = exp(S - max(S, axis=2, keepdims=True));
//              O = (bf16(E) @ V) / sum(E, axis=2, keepdims=True)'
!map = !ts.tensor_map<?x?x?xbf16, box = 1x128x64, swizzle = 128>
!map_o = !ts.tensor_map<?x?x?xbf16, box = 1x16x64, swizzle = 128>
!s_acc = !ts.wgmma<64x128xf32>
!s = !ts.fragment<64x128xf32>
!p = !ts.fragment<64x128xbf16>
!rows = vector<2xf32>
!panel0 = memref<128x64xbf16, strided<[64, 1]>, #ts.smem<128>>
!panel1 = memref<128x64xbf16, strided<[64, 1], offset: 8192>, #ts.smem<128>>
!piece = memref<16x64xbf16, strided<[64, 1], offset: ?>, #ts.smem<128>>
!stage = memref<8x2x16x64xbf16, #ts.smem<128>>
!tile128 = memref<2x128x64xbf16, #ts.smem<128>>
!q_rows128 = memref<2x64x64xbf16, strided<[8192, 64, 1], offset: ?>, #ts.smem<128>>
!o_acc128 = !ts.wgmma<64x128xf32>
!o128 = !ts.fragment<64x128xf32>
!tile64 = memref<1x128x64xbf16, #ts.smem<128>>
!q_rows64 = memref<1x64x64xbf16, strided<[8192, 64, 1], offset: ?>, #ts.smem<128>>
!o_acc64 = !ts.wgmma<64x64xf32>
!o64 = !ts.fragment<64x64xf32>

gpu.module @attention attributes {ts.chip = "sm_90a"} {
  ts.kernel @attention_d128(%Q: !map, %K: !map, %V: !map, %O: !map_o, %scale: f32, %causal: index,
                   %heads: index = dim(%Q, 0),
                   %group: index = max(1, div(dim(%Q, 0), max(1, dim(%K, 0)))),
                   %tiles: index = ceildiv(dim(%Q, 1), 128),
                   %keys: index = dim(%K, 1),
                   %blocks: index = ceildiv(dim(%K, 1), 128)) warps(12) flush_denormals {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_qkv" gmem
    %q = ts.resource "smem_q" smem(q: !tile128) pipeline(tma_async, stages = 2)
    %k = ts.resource "smem_k" smem(k: !tile128) pipeline(tma_async, stages = 2)
    %v = ts.resource "smem_v" smem(v: !tile128) pipeline(tma_async, stages = 2)
    %dst = ts.resource "gmem_o" gmem(stage: !stage)
    %order = ts.baton "products" holders(2) first(0)
    %queue = ts.work_queue "tiles" static over(%heads, %tiles)
    ts.depends %q on %src
    ts.depends %k on %src
    ts.depends %v on %src
    ts.depends %dst on %q, %k, %v

    ts.task "load_q" warps(0, 1) registers(24) reads(%src, %queue) writes(%q) {
      %is_causal = arith.cmpi sgt, %causal, %c0 : index
      %tiles_less = arith.subi %tiles, %c1 : index
      ts.tile_loop %queue (%head, %tile) {
        %flip = arith.andi %head, %causal : index
        %back = arith.subi %tiles_less, %tile : index
        %is_back = arith.cmpi sgt, %flip, %c0 : index
        %m = arith.select %is_back, %back, %tile : index
        %seen = arith.addi %m, %c1 : index
        %few = arith.minsi %seen, %blocks : index
        %n = arith.select %is_causal, %few, %blocks : index
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.acquire %q
        ts.produce %q "load" (%view) {
          %part0 = memref.subview %view[0, 0, 0] [1, 128, 64] [1, 1, 1] : !tile128 to !panel0
          ts.tma_load %Q[%head, %row, %c0] to %part0 : !map, !panel0
          %part1 = memref.subview %view[1, 0, 0] [1, 128, 64] [1, 1, 1] : !tile128 to !panel1
          ts.tma_load %Q[%head, %row, %c64] to %part1 : !map, !panel1
        }
        ts.commit %q
        ts.next_tile %queue
      }
    }

    ts.task "load_k" warps(1, 1) registers(24) reads(%src, %queue) writes(%k) {
      %is_causal = arith.cmpi sgt, %causal, %c0 : index
      %tiles_less = arith.subi %tiles, %c1 : index
      ts.tile_loop %queue (%head, %tile) {
        %flip = arith.andi %head, %causal : index
        %back = arith.subi %tiles_less, %tile : index
        %is_back = arith.cmpi sgt, %flip, %c0 : index
        %m = arith.select %is_back, %back, %tile : index
        %seen = arith.addi %m, %c1 : index
        %few = arith.minsi %seen, %blocks : index
        %n = arith.select %is_causal, %few, %blocks : index
        %shared = ts.consume %src "head" -> index {
          %h = arith.divui %head, %group : index
          ts.yield %h : index
        }
        ts.for %i = %c0 to %n {
          %done = arith.addi %i, %c1 : index
          %block = arith.subi %n, %done : index
          %row = arith.muli %block, %c128 : index
          ts.acquire %k
          ts.produce %k "load" (%view) {
            %part0 = memref.subview %view[0, 0, 0] [1, 128, 64] [1, 1, 1] : !tile128 to !panel0
            ts.tma_load %K[%shared, %row, %c0] to %part0 : !map, !panel0
            %part1 = memref.subview %view[1, 0, 0] [1, 128, 64] [1, 1, 1] : !tile128 to !panel1
            ts.tma_load %K[%shared, %row, %c64] to %part1 : !map, !panel1
          }
          ts.commit %k
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_v" warps(2, 1) registers(24) reads(%src, %queue) writes(%v) {
      %is_causal = arith.cmpi sgt, %causal, %c0 : index
      %tiles_less = arith.subi %tiles, %c1 : index
      ts.tile_loop %queue (%head, %tile) {
        %flip = arith.andi %head, %causal : index
        %back = arith.subi %tiles_less, %tile : index
        %is_back = arith.cmpi sgt, %flip, %c0 : index
        %m = arith.select %is_back, %back, %tile : index
        %seen = arith.addi %m, %c1 : index
        %few = arith.minsi %seen, %blocks : index
        %n = arith.select %is_causal, %few, %blocks : index
        %shared = ts.consume %src "head" -> index {
          %h = arith.divui %head, %group : index
          ts.yield %h : index
        }
        ts.for %i = %c0 to %n {
          %done = arith.addi %i, %c1 : index
          %block = arith.subi %n, %done : index
          %row = arith.muli %block, %c128 : index
          ts.acquire %v
          ts.produce %v "load" (%view) {
            %part0 = memref.subview %view[0, 0, 0] [1, 128, 64] [1, 1, 1] : !tile128 to !panel0
            ts.tma_load %V[%shared, %row, %c0] to %part0 : !map, !panel0
            %part1 = memref.subview %view[1, 0, 0] [1, 128, 64] [1, 1, 1] : !tile128 to !panel1
            ts.tma_load %V[%shared, %row, %c64] to %part1 : !map, !panel1
          }
          ts.commit %v
        }
        ts.next_tile %queue
      }
    }

    ts.task "attend" warps(4, 8) replicas(2) (%wg) registers(240) reads(%q, %k, %v, %queue) writes(%dst) {
      %is_causal = arith.cmpi sgt, %causal, %c0 : index
      %tiles_less = arith.subi %tiles, %c1 : index
      %no = arith.constant false
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %masked = arith.constant -1.0e30 : f32
      %log2e = arith.constant 1.44269502 : f32
      %to_log2 = arith.mulf %scale, %log2e : f32
      %to_log2_rows = vector.broadcast %to_log2 : f32 to !rows
      %zero_rows = arith.constant dense<0.0> : !rows
      %one_rows = arith.constant dense<1.0> : !rows
      %warp = ts.info warp : index
      %wg4 = arith.muli %wg, %c4 : index
      %slot = arith.addi %wg4, %warp : index
      %row_wg = arith.muli %wg, %c64 : index
      %row_warp = arith.muli %slot, %c16 : index
      %row_wg32 = arith.index_cast %row_wg : index to i32
      %keys32 = arith.index_cast %keys : index to i32
      %s_none = ts.wgmma_zero : !s_acc
      ts.tile_loop %queue (%head, %tile) {
        %flip = arith.andi %head, %causal : index
        %back = arith.subi %tiles_less, %tile : index
        %is_back = arith.cmpi sgt, %flip, %c0 : index
        %m = arith.select %is_back, %back, %tile : index
        %seen = arith.addi %m, %c1 : index
        %few = arith.minsi %seen, %blocks : index
        %n = arith.select %is_causal, %few, %blocks : index
        %some = arith.cmpi sgt, %n, %c0 : index
        %row_tile = arith.muli %m, %c128 : index
        ts.wait %q
        %qv = ts.consume %q "rows" (%view) -> !q_rows128 {
          %mine = memref.subview %view[0, %row_wg, 0] [2, 64, 64] [1, 1, 1] : !tile128 to !q_rows128
          ts.yield %mine : !q_rows128
        }
        // The last block: keys from the limit on, and those behind the query, do not count.
        %max0, %sum0, %p0 = ts.when %some is true -> !rows, !rows, !p {
          ts.wait %k
          %kv = ts.consume %k "keys" (%view) -> !tile128 {
            ts.yield %view : !tile128
          }
          %issued = ts.wgmma %qv, %kv, %s_none accumulate(%no) : !q_rows128, !tile128, !s_acc
          ts.wgmma_commit
          %all = ts.wgmma_wait 0, %issued : !s_acc -> !s
          ts.release %k
          %last = arith.subi %n, %c1 : index
          %first_key = arith.muli %last, %c128 : index
          %first_key32 = arith.index_cast %first_key : index to i32
          %row_tile32 = arith.index_cast %row_tile : index to i32
          %limit = arith.subi %keys32, %first_key32 : i32
          %row_block = arith.subi %row_tile32, %first_key32 : i32
          %row_first = arith.addi %row_block, %row_wg32 : i32
          %scores = ts.fragment_map %all (%x) at (%i, %j) : !s -> !s {
            %one32 = arith.constant 1 : i32
            %query = arith.addi %row_first, %i : i32
            %seen_keys = arith.addi %query, %one32 : i32
            %fewer = arith.minsi %seen_keys, %limit : i32
            %end = arith.select %is_causal, %fewer, %limit : i32
            %counts = arith.cmpi slt, %j, %end : i32
            %y = arith.select %counts, %x, %masked : f32
            ts.yield %y : f32
          }
          %max = ts.fragment_reduce max %scores : !s -> !rows
          %shift = arith.mulf %max, %to_log2_rows : !rows
          %e = ts.fragment_map %scores, %shift (%x, %b) : !s, !rows -> !s {
            %minus = arith.negf %b : f32
            %y = math.fma %x, %to_log2, %minus : f32
            %z = math.exp2 %y : f32
            ts.yield %z : f32
          }
          %sum = ts.fragment_reduce add %e partial : !s -> !rows
          %p = ts.fragment_map %e (%x) : !s -> !p {
            %y = arith.truncf %x : f32 to bf16
            ts.yield %y : bf16
          }
          ts.yield %max, %sum, %p : !rows, !rows, !p
        } else {
          %p = ts.fragment_map () at (%i, %j) : -> !p {
            %y = arith.constant 0.0 : bf16
            ts.yield %y : bf16
          }
          ts.yield %zero_rows, %zero_rows, %p : !rows, !rows, !p
        }
        %o0 = ts.fragment_map () at (%i, %j) : -> !o128 {
          ts.yield %zero : f32
        }
        %max_n, %sum_n, %o_n, %p_n = ts.for %i = %c1 to %n
            iter(%max = %max0 : !rows, %sum = %sum0 : !rows, %o = %o0 : !o128, %p = %p0 : !p) {
          ts.wait %k
          ts.take %order
          %kv = ts.consume %k "keys" (%view) -> !tile128 {
            ts.yield %view : !tile128
          }
          %s_issued = ts.wgmma %qv, %kv, %s_none accumulate(%no) : !q_rows128, !tile128, !s_acc
          ts.wgmma_commit
          ts.wait %v
          %vv = ts.consume %v "values" (%view) -> !tile128 {
            ts.yield %view : !tile128
          }
          %o_start = ts.wgmma_start %o : !o128 -> !o_acc128
          %o_issued = ts.wgmma %p, %vv, %o_start transpose_b : !p, !tile128, !o_acc128
          ts.wgmma_commit
          ts.pass %order
          %scores = ts.wgmma_wait 1, %s_issued : !s_acc -> !s
          ts.release %k
          %block_max = ts.fragment_reduce max %scores : !s -> !rows
          %max_next = arith.maximumf %max, %block_max : !rows
          %less = arith.subf %max, %max_next : !rows
          %scaled = arith.mulf %less, %to_log2_rows : !rows
          %alpha = math.exp2 %scaled : !rows
          %shift = arith.mulf %max_next, %to_log2_rows : !rows
          %e = ts.fragment_map %scores, %shift (%x, %b) : !s, !rows -> !s {
            %minus = arith.negf %b : f32
            %y = math.fma %x, %to_log2, %minus : f32
            %z = math.exp2 %y : f32
            ts.yield %z : f32
          }
          %block_sum = ts.fragment_reduce add %e partial : !s -> !rows
          %sum_next = math.fma %sum, %alpha, %block_sum : !rows
          %o_done, %p_done = ts.wgmma_wait 0, %o_issued, %p : !o_acc128, !p -> !o128, !p
          ts.release %v
          %p_next = ts.fragment_map %e (%x) : !s -> !p {
            %y = arith.truncf %x : f32 to bf16
            ts.yield %y : bf16
          }
          %o_next = ts.fragment_map %o_done, %alpha (%x, %a) : !o128, !rows -> !o128 {
            %y = arith.mulf %x, %a : f32
            ts.yield %y : f32
          }
          ts.yield %max_next, %sum_next, %o_next, %p_next : !rows, !rows, !o128, !p
        }
        ts.release %q
        %o_all = ts.when %some is true -> !o128 {
          ts.wait %v
          %vv = ts.consume %v "values" (%view) -> !tile128 {
            ts.yield %view : !tile128
          }
          %o_start = ts.wgmma_start %o_n : !o128 -> !o_acc128
          %o_issued = ts.wgmma %p_n, %vv, %o_start transpose_b : !p, !tile128, !o_acc128
          ts.wgmma_commit
          %o_done, %p_done = ts.wgmma_wait 0, %o_issued, %p_n : !o_acc128, !p -> !o128, !p
          ts.release %v
          ts.yield %o_done : !o128
        } else {
          ts.yield %o_n : !o128
        }
        // Without keys the sum is zero, and so is the result.
        %sum_row = ts.fragment_reduce add %sum_n : !rows -> !rows
        %none = arith.cmpf oeq, %sum_row, %zero_rows : !rows
        %reciprocal = arith.divf %one_rows, %sum_row : !rows
        %factor = arith.select %none, %zero_rows, %reciprocal : vector<2xi1>, !rows
        %result = ts.fragment_map %o_all, %factor (%x, %f) : !o128, !rows -> !o128 {
          %y = arith.mulf %x, %f : f32
          ts.yield %y : f32
        }
        %row = arith.addi %row_tile, %row_warp : index
        ts.produce %dst "store" (%stage) {
          %s0 = memref.subview %stage[%slot, 0, 0, 0] [1, 1, 16, 64] [1, 1, 1, 1] : !stage to !piece
          %s1 = memref.subview %stage[%slot, 1, 0, 0] [1, 1, 16, 64] [1, 1, 1, 1] : !stage to !piece
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %result column 0 to %s0 : !o128, !piece
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s0 to %O[%head, %row, %c0] : !piece, !map_o
          ts.bulk_commit
          ts.bulk_wait 1 read
          ts.warp_sync
          ts.fragment_store %result column 64 to %s1 : !o128, !piece
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s1 to %O[%head, %row, %c64] : !piece, !map_o
          ts.bulk_commit
        }
        ts.next_tile %queue
      }
    }
  }


  ts.kernel @attention_d64(%Q: !map, %K: !map, %V: !map, %O: !map_o, %scale: f32, %causal: index,
                   %heads: index = dim(%Q, 0),
                   %group: index = max(1, div(dim(%Q, 0), max(1, dim(%K, 0)))),
                   %tiles: index = ceildiv(dim(%Q, 1), 128),
                   %keys: index = dim(%K, 1),
                   %blocks: index = ceildiv(dim(%K, 1), 128)) warps(12) flush_denormals {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %src = ts.resource "gmem_qkv" gmem
    %q = ts.resource "smem_q" smem(q: !tile64) pipeline(tma_async, stages = 2)
    %k = ts.resource "smem_k" smem(k: !tile64) pipeline(tma_async, stages = 4)
    %v = ts.resource "smem_v" smem(v: !tile64) pipeline(tma_async, stages = 4)
    %dst = ts.resource "gmem_o" gmem(stage: !stage)
    %queue = ts.work_queue "tiles" static over(%heads, %tiles)
    ts.depends %q on %src
    ts.depends %k on %src
    ts.depends %v on %src
    ts.depends %dst on %q, %k, %v

    ts.task "load_q" warps(0, 1) registers(24) reads(%src, %queue) writes(%q) {
      %is_causal = arith.cmpi sgt, %causal, %c0 : index
      %tiles_less = arith.subi %tiles, %c1 : index
      ts.tile_loop %queue (%head, %tile) {
        %flip = arith.andi %head, %causal : index
        %back = arith.subi %tiles_less, %tile : index
        %is_back = arith.cmpi sgt, %flip, %c0 : index
        %m = arith.select %is_back, %back, %tile : index
        %seen = arith.addi %m, %c1 : index
        %few = arith.minsi %seen, %blocks : index
        %n = arith.select %is_causal, %few, %blocks : index
        %row = ts.consume %src "row" -> index {
          %r = arith.muli %m, %c128 : index
          ts.yield %r : index
        }
        ts.acquire %q
        ts.produce %q "load" (%view) {
          %part0 = memref.subview %view[0, 0, 0] [1, 128, 64] [1, 1, 1] : !tile64 to !panel0
          ts.tma_load %Q[%head, %row, %c0] to %part0 : !map, !panel0
        }
        ts.commit %q
        ts.next_tile %queue
      }
    }

    ts.task "load_k" warps(1, 1) registers(24) reads(%src, %queue) writes(%k) {
      %is_causal = arith.cmpi sgt, %causal, %c0 : index
      %tiles_less = arith.subi %tiles, %c1 : index
      ts.tile_loop %queue (%head, %tile) {
        %flip = arith.andi %head, %causal : index
        %back = arith.subi %tiles_less, %tile : index
        %is_back = arith.cmpi sgt, %flip, %c0 : index
        %m = arith.select %is_back, %back, %tile : index
        %seen = arith.addi %m, %c1 : index
        %few = arith.minsi %seen, %blocks : index
        %n = arith.select %is_causal, %few, %blocks : index
        %shared = ts.consume %src "head" -> index {
          %h = arith.divui %head, %group : index
          ts.yield %h : index
        }
        ts.for %i = %c0 to %n {
          %done = arith.addi %i, %c1 : index
          %block = arith.subi %n, %done : index
          %row = arith.muli %block, %c128 : index
          ts.acquire %k
          ts.produce %k "load" (%view) {
            %part0 = memref.subview %view[0, 0, 0] [1, 128, 64] [1, 1, 1] : !tile64 to !panel0
            ts.tma_load %K[%shared, %row, %c0] to %part0 : !map, !panel0
          }
          ts.commit %k
        }
        ts.next_tile %queue
      }
    }

    ts.task "load_v" warps(2, 1) registers(24) reads(%src, %queue) writes(%v) {
      %is_causal = arith.cmpi sgt, %causal, %c0 : index
      %tiles_less = arith.subi %tiles, %c1 : index
      ts.tile_loop %queue (%head, %tile) {
        %flip = arith.andi %head, %causal : index
        %back = arith.subi %tiles_less, %tile : index
        %is_back = arith.cmpi sgt, %flip, %c0 : index
        %m = arith.select %is_back, %back, %tile : index
        %seen = arith.addi %m, %c1 : index
        %few = arith.minsi %seen, %blocks : index
        %n = arith.select %is_causal, %few, %blocks : index
        %shared = ts.consume %src "head" -> index {
          %h = arith.divui %head, %group : index
          ts.yield %h : index
        }
        ts.for %i = %c0 to %n {
          %done = arith.addi %i, %c1 : index
          %block = arith.subi %n, %done : index
          %row = arith.muli %block, %c128 : index
          ts.acquire %v
          ts.produce %v "load" (%view) {
            %part0 = memref.subview %view[0, 0, 0] [1, 128, 64] [1, 1, 1] : !tile64 to !panel0
            ts.tma_load %V[%shared, %row, %c0] to %part0 : !map, !panel0
          }
          ts.commit %v
        }
        ts.next_tile %queue
      }
    }

    ts.task "attend" warps(4, 8) replicas(2) (%wg) registers(240) reads(%q, %k, %v, %queue) writes(%dst) {
      %is_causal = arith.cmpi sgt, %causal, %c0 : index
      %tiles_less = arith.subi %tiles, %c1 : index
      %no = arith.constant false
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %masked = arith.constant -1.0e30 : f32
      %log2e = arith.constant 1.44269502 : f32
      %to_log2 = arith.mulf %scale, %log2e : f32
      %to_log2_rows = vector.broadcast %to_log2 : f32 to !rows
      %zero_rows = arith.constant dense<0.0> : !rows
      %one_rows = arith.constant dense<1.0> : !rows
      %warp = ts.info warp : index
      %wg4 = arith.muli %wg, %c4 : index
      %slot = arith.addi %wg4, %warp : index
      %row_wg = arith.muli %wg, %c64 : index
      %row_warp = arith.muli %slot, %c16 : index
      %row_wg32 = arith.index_cast %row_wg : index to i32
      %keys32 = arith.index_cast %keys : index to i32
      %s_none = ts.wgmma_zero : !s_acc
      ts.tile_loop %queue (%head, %tile) {
        %flip = arith.andi %head, %causal : index
        %back = arith.subi %tiles_less, %tile : index
        %is_back = arith.cmpi sgt, %flip, %c0 : index
        %m = arith.select %is_back, %back, %tile : index
        %seen = arith.addi %m, %c1 : index
        %few = arith.minsi %seen, %blocks : index
        %n = arith.select %is_causal, %few, %blocks : index
        %some = arith.cmpi sgt, %n, %c0 : index
        %row_tile = arith.muli %m, %c128 : index
        ts.wait %q
        %qv = ts.consume %q "rows" (%view) -> !q_rows64 {
          %mine = memref.subview %view[0, %row_wg, 0] [1, 64, 64] [1, 1, 1] : !tile64 to !q_rows64
          ts.yield %mine : !q_rows64
        }
        // The last block: keys from the limit on, and those behind the query, do not count.
        %max0, %sum0, %p0 = ts.when %some is true -> !rows, !rows, !p {
          ts.wait %k
          %kv = ts.consume %k "keys" (%view) -> !tile64 {
            ts.yield %view : !tile64
          }
          %issued = ts.wgmma %qv, %kv, %s_none accumulate(%no) : !q_rows64, !tile64, !s_acc
          ts.wgmma_commit
          %all = ts.wgmma_wait 0, %issued : !s_acc -> !s
          ts.release %k
          %last = arith.subi %n, %c1 : index
          %first_key = arith.muli %last, %c128 : index
          %first_key32 = arith.index_cast %first_key : index to i32
          %row_tile32 = arith.index_cast %row_tile : index to i32
          %limit = arith.subi %keys32, %first_key32 : i32
          %row_block = arith.subi %row_tile32, %first_key32 : i32
          %row_first = arith.addi %row_block, %row_wg32 : i32
          %scores = ts.fragment_map %all (%x) at (%i, %j) : !s -> !s {
            %one32 = arith.constant 1 : i32
            %query = arith.addi %row_first, %i : i32
            %seen_keys = arith.addi %query, %one32 : i32
            %fewer = arith.minsi %seen_keys, %limit : i32
            %end = arith.select %is_causal, %fewer, %limit : i32
            %counts = arith.cmpi slt, %j, %end : i32
            %y = arith.select %counts, %x, %masked : f32
            ts.yield %y : f32
          }
          %max = ts.fragment_reduce max %scores : !s -> !rows
          %shift = arith.mulf %max, %to_log2_rows : !rows
          %e = ts.fragment_map %scores, %shift (%x, %b) : !s, !rows -> !s {
            %minus = arith.negf %b : f32
            %y = math.fma %x, %to_log2, %minus : f32
            %z = math.exp2 %y : f32
            ts.yield %z : f32
          }
          %sum = ts.fragment_reduce add %e partial : !s -> !rows
          %p = ts.fragment_map %e (%x) : !s -> !p {
            %y = arith.truncf %x : f32 to bf16
            ts.yield %y : bf16
          }
          ts.yield %max, %sum, %p : !rows, !rows, !p
        } else {
          %p = ts.fragment_map () at (%i, %j) : -> !p {
            %y = arith.constant 0.0 : bf16
            ts.yield %y : bf16
          }
          ts.yield %zero_rows, %zero_rows, %p : !rows, !rows, !p
        }
        %o0 = ts.fragment_map () at (%i, %j) : -> !o64 {
          ts.yield %zero : f32
        }
        %max_n, %sum_n, %o_n, %p_n = ts.for %i = %c1 to %n
            iter(%max = %max0 : !rows, %sum = %sum0 : !rows, %o = %o0 : !o64, %p = %p0 : !p) {
          ts.wait %k
          %kv = ts.consume %k "keys" (%view) -> !tile64 {
            ts.yield %view : !tile64
          }
          %s_issued = ts.wgmma %qv, %kv, %s_none accumulate(%no) : !q_rows64, !tile64, !s_acc
          ts.wgmma_commit
          ts.wait %v
          %vv = ts.consume %v "values" (%view) -> !tile64 {
            ts.yield %view : !tile64
          }
          %o_start = ts.wgmma_start %o : !o64 -> !o_acc64
          %o_issued = ts.wgmma %p, %vv, %o_start transpose_b : !p, !tile64, !o_acc64
          ts.wgmma_commit
          %scores = ts.wgmma_wait 1, %s_issued : !s_acc -> !s
          ts.release %k
          %block_max = ts.fragment_reduce max %scores : !s -> !rows
          %max_next = arith.maximumf %max, %block_max : !rows
          %less = arith.subf %max, %max_next : !rows
          %scaled = arith.mulf %less, %to_log2_rows : !rows
          %alpha = math.exp2 %scaled : !rows
          %shift = arith.mulf %max_next, %to_log2_rows : !rows
          %e = ts.fragment_map %scores, %shift (%x, %b) : !s, !rows -> !s {
            %minus = arith.negf %b : f32
            %y = math.fma %x, %to_log2, %minus : f32
            %z = math.exp2 %y : f32
            ts.yield %z : f32
          }
          %block_sum = ts.fragment_reduce add %e partial : !s -> !rows
          %sum_next = math.fma %sum, %alpha, %block_sum : !rows
          %o_done, %p_done = ts.wgmma_wait 0, %o_issued, %p : !o_acc64, !p -> !o64, !p
          ts.release %v
          %p_next = ts.fragment_map %e (%x) : !s -> !p {
            %y = arith.truncf %x : f32 to bf16
            ts.yield %y : bf16
          }
          %o_next = ts.fragment_map %o_done, %alpha (%x, %a) : !o64, !rows -> !o64 {
            %y = arith.mulf %x, %a : f32
            ts.yield %y : f32
          }
          ts.yield %max_next, %sum_next, %o_next, %p_next : !rows, !rows, !o64, !p
        }
        ts.release %q
        %o_all = ts.when %some is true -> !o64 {
          ts.wait %v
          %vv = ts.consume %v "values" (%view) -> !tile64 {
            ts.yield %view : !tile64
          }
          %o_start = ts.wgmma_start %o_n : !o64 -> !o_acc64
          %o_issued = ts.wgmma %p_n, %vv, %o_start transpose_b : !p, !tile64, !o_acc64
          ts.wgmma_commit
          %o_done, %p_done = ts.wgmma_wait 0, %o_issued, %p_n : !o_acc64, !p -> !o64, !p
          ts.release %v
          ts.yield %o_done : !o64
        } else {
          ts.yield %o_n : !o64
        }
        // Without keys the sum is zero, and so is the result.
        %sum_row = ts.fragment_reduce add %sum_n : !rows -> !rows
        %none = arith.cmpf oeq, %sum_row, %zero_rows : !rows
        %reciprocal = arith.divf %one_rows, %sum_row : !rows
        %factor = arith.select %none, %zero_rows, %reciprocal : vector<2xi1>, !rows
        %result = ts.fragment_map %o_all, %factor (%x, %f) : !o64, !rows -> !o64 {
          %y = arith.mulf %x, %f : f32
          ts.yield %y : f32
        }
        %row = arith.addi %row_tile, %row_warp : index
        ts.produce %dst "store" (%stage) {
          %s0 = memref.subview %stage[%slot, 0, 0, 0] [1, 1, 16, 64] [1, 1, 1, 1] : !stage to !piece
          ts.bulk_wait 0 read
          ts.warp_sync
          ts.fragment_store %result column 0 to %s0 : !o64, !piece
          ts.fence proxy_async_shared
          ts.warp_sync
          ts.tma_store %s0 to %O[%head, %row, %c0] : !piece, !map_o
          ts.bulk_commit
        }
        ts.next_tile %queue
      }
    }
  }
}
