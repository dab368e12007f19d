// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work primitives: what a work body can do beside any arith / scf / vector / memref / gpu op.
// size: one table of small op definitions; split by unit (TMA, UMMA, wgmma) would only scatter it.
#ifndef TS_WORK_OPS_TD
#define TS_WORK_OPS_TD

include "ts/Dialect/TS/IR/TSTypes.td"

// Issued by one elected thread of the executing warp (of the task for UMMA).
def TS_SingleThread : NativeOpTrait<"SingleThread"> { let cppNamespace = "::mlir::ts"; }
// Needs all threads of the warp (or warpgroup) converged.
def TS_WarpCollective : NativeOpTrait<"WarpCollective"> { let cppNamespace = "::mlir::ts"; }

class TS_Work<string mnemonic, list<Trait> traits = []> : TS_Op<mnemonic, traits # [TS_Ordered]>;

//===-- Information --------------------------------------------------------------------------===//

// Reads the schedule's position: the same kind means another value in another loop or work op, so
// upstream passes must not merge, hoist or sink it.
def TS_InfoOp : TS_Op<"info", [MemoryEffects<[MemRead<TS_ScheduleOrder>]>]> {
  let summary = "stage info and thread identity, in any schedule or work body";
  let description = [{
    `thread`, `warp`, `lane` count from the start of the replica. `stage` is the slot's stage of the
    enclosing work op's resource, `barrier` the address of its full barrier, `in_flight` the number
    of stages this side holds open, `loop_*` describe the innermost enclosing domain loop.

    ```mlir
    ts.task "t" warps(0, 4) {
      %t = ts.info thread : index
    }
    ```
  }];
  let arguments = (ins TS_InfoKindAttr:$kind);
  let results = (outs AnyTypeOf<[Index, I32]>:$result);
  let assemblyFormat = "`` $kind attr-dict `:` type($result)";
}

def TS_ElectOp : TS_Op<"elect", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "region executed by one thread of each warp";
  let description = [{
    ```mlir
    ts.task "t" warps(0, 1) {
      ts.elect {
      }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}

def TS_WarpSyncOp : TS_Work<"warp_sync", [TS_WarpCollective]> {
  let summary = "converges and orders the threads of a warp";
  let assemblyFormat = "attr-dict";
}

def TS_FenceOp : TS_Work<"fence"> {
  let summary = "a fence by hand; the ones the protocol needs are emitted without it";
  let description = [{
    ```mlir
    ts.task "t" warps(0, 1) {
      ts.fence proxy_async_shared
    }
    ```
  }];
  let arguments = (ins TS_FenceKindAttr:$kind);
  let assemblyFormat = "`` $kind attr-dict";
}

//===-- TMA and bulk copies ------------------------------------------------------------------===//

def TS_TmaLoadOp : TS_Work<"tma_load", [TS_SingleThread, AttrSizedOperandSegments]> {
  let summary = "copy one box of a global tensor into a stage, completing on its full barrier";
  let description = [{
    Coordinates are element offsets in array order (slowest first); parts out of bounds are filled.
    The barrier is the one of the enclosing `ts.produce`. With `gather` the first coordinate is
    replaced by four row indices, the box is one row and the destination has four.

    `along = "n"` sends the copy to every CTA of the cluster that has the same m (operand A of a
    matrix product), `along = "m"` to every CTA with the same n (operand B); who that is follows from
    the pipeline's cluster layout. `multicast` gives the mask of the receiving CTAs by hand instead.

    ```mlir
    %a = ts.resource "a" smem(x: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    %c0 = arith.constant 0 : index
    ts.task "t" warps(0, 1) writes(%a) {
      ts.acquire %a
      ts.produce %a "load" (%x) {
        ts.tma_load %A[%c0, %c0] to %x : !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>, memref<128x64xbf16, #ts.smem<128>>
      }
      ts.commit %a
    }
    ```
  }];
  let arguments = (ins TS_TensorMapType:$map, Variadic<Index>:$coords, AnyMemRef:$dst,
                       Optional<I16>:$multicast, Variadic<Index>:$gather,
                       Optional<AnyType>:$barrier,
                       DefaultValuedAttr<I64Attr, "1">:$cta_group, OptionalAttr<StrAttr>:$along);
  let assemblyFormat = [{
    $map `[` $coords `]` `to` $dst (`multicast` `(` $multicast^ `)`)? (`gather` `(` $gather^ `)`)?
    (`barrier` `(` $barrier^ `:` type($barrier) `)`)? attr-dict `:` qualified(type($map)) `,` type($dst)
  }];
  let hasVerifier = 1;
}

def TS_TmaStoreOp : TS_Work<"tma_store", [TS_SingleThread, AttrSizedOperandSegments]> {
  let summary = "copy a tile of shared memory into one box of a global tensor";
  let description = [{
    Belongs to the issuing thread's current bulk group (`ts.bulk_commit`). Parts out of bounds are
    not written. `reduce` combines instead of overwriting; `scatter` gives four row indices.
  }];
  let arguments = (ins AnyMemRef:$src, TS_TensorMapType:$map, Variadic<Index>:$coords,
                       Variadic<Index>:$scatter, OptionalAttr<TS_ReduceKindAttr>:$reduce);
  let assemblyFormat = [{
    $src `to` $map `[` $coords `]` (`scatter` `(` $scatter^ `)`)? (`reduce` `` $reduce^)?
    attr-dict `:` type($src) `,` qualified(type($map))
  }];
  let hasVerifier = 1;
}

def TS_TmaPrefetchOp : TS_Work<"tma_prefetch", [TS_SingleThread]> {
  let summary = "prefetch one box into L2; without coordinates, the descriptor itself";
  let arguments = (ins TS_TensorMapType:$map, Variadic<Index>:$coords);
  let assemblyFormat = "$map (`[` $coords^ `]`)? attr-dict `:` qualified(type($map))";
  let hasVerifier = 1;
}

def TS_BulkLoadOp : TS_Work<"bulk_load", [TS_SingleThread, AttrSizedOperandSegments]> {
  let summary = "contiguous copy from global into shared memory, completing on the full barrier";
  let description = [{The whole destination view is filled; its bytes are a multiple of 16.}];
  let arguments = (ins AnyMemRef:$src, Variadic<Index>:$indices, AnyMemRef:$dst,
                       Optional<AnyType>:$barrier);
  let assemblyFormat = [{
    $src `[` $indices `]` `to` $dst (`barrier` `(` $barrier^ `:` type($barrier) `)`)? attr-dict
    `:` type($src) `,` type($dst)
  }];
  let hasVerifier = 1;
}
def TS_BulkStoreOp : TS_Work<"bulk_store", [TS_SingleThread]> {
  let summary = "contiguous copy from shared memory to global; belongs to a bulk group";
  let arguments = (ins AnyMemRef:$src, AnyMemRef:$dst, Variadic<Index>:$indices);
  let assemblyFormat = "$src `to` $dst `[` $indices `]` attr-dict `:` type($src) `,` type($dst)";
  let hasVerifier = 1;
}
def TS_BulkCommitOp : TS_Work<"bulk_commit", [TS_SingleThread]> {
  let summary = "close the issuing thread's bulk group";
  let assemblyFormat = "attr-dict";
}
def TS_BulkWaitOp : TS_Work<"bulk_wait", [TS_SingleThread]> {
  let summary = "wait until at most `pending` bulk groups are in flight (`read`: their sources are read)";
  let arguments = (ins I64Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
  let hasVerifier = 1;
}
def TS_TensorMapReplaceOp : TS_Work<"tensormap_replace", [TS_SingleThread]> {
  let summary = "change one field of a tensor map that lies in shared memory";
  let arguments = (ins AnyMemRef:$map, StrAttr:$field, AnyTypeOf<[I32, I64]>:$value,
                       DefaultValuedAttr<I64Attr, "0">:$ordinal);
  let assemblyFormat = "$map $field `,` $value attr-dict `:` type($map) `,` type($value)";
  let hasVerifier = 1;
}

//===-- cp.async -----------------------------------------------------------------------------===//

def TS_CpAsyncOp : TS_Work<"cp_async", [AttrSizedOperandSegments]> {
  let summary = "each thread copies 4, 8 or 16 bytes from global to shared memory asynchronously";
  let description = [{With `valid`, only that many elements are read, the rest is zero-filled.}];
  let arguments = (ins AnyMemRef:$src, Variadic<Index>:$src_indices, AnyMemRef:$dst,
                       Variadic<Index>:$dst_indices, I64Attr:$bytes, Optional<Index>:$valid);
  let assemblyFormat = [{
    $src `[` $src_indices `]` `to` $dst `[` $dst_indices `]` `,` $bytes (`valid` $valid^)? attr-dict
    `:` type($src) `,` type($dst)
  }];
  let hasVerifier = 1;
}
def TS_CpAsyncCommitOp : TS_Work<"cp_async_commit"> {
  let summary = "close the thread's cp.async group";
  let assemblyFormat = "attr-dict";
}
def TS_CpAsyncWaitOp : TS_Work<"cp_async_wait"> {
  let summary = "wait until at most `pending` cp.async groups are in flight";
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 1;
}

//===-- UMMA (tcgen05) and tensor memory -----------------------------------------------------===//

def TS_UmmaOp : TS_Work<"umma", [TS_SingleThread, AttrSizedOperandSegments]> {
  let summary = "D[m, n] (+)= sum over k of A[m, k] * B[n, k] on tensor memory (tcgen05.mma)";
  let description = [{
    A is M x K in shared or tensor memory, B is N x K in shared memory, both K-major;
    `transpose_a` / `transpose_b`: the tile is stored K x M / K x N (MN-major). `accumulate` false
    overwrites D. All k steps of the tile are issued, in order. Completion is what the commit of D's
    pipeline and the release of A's and B's track. `scales` are TMEM views of block scales.

    Rows in shared memory are exactly one swizzle span (16 bytes without swizzle); a wider tile is
    stored in panels side by side, `memref<panels x rows x span>`. With `cta_group = 2` each CTA
    names its own half: half of D's rows and A's, half of B's rows; D's columns are all of N.

    Narrow floats of 8, 6 and 4 bits mix; those of less than a byte lie in shared memory padded
    (`#ts.smem<128, padded>`), unless both are f4 with scales (kinds mxf4 and mxf4nvf4).

    C1: M is 64 or 128 (256 with `cta_group = 2`), N a multiple of 8 up to 256 (16 for M = 128).

    ```mlir
    %a = ts.resource "a" smem(x: memref<128x64xbf16, #ts.smem<128>>, y: memref<128x64xbf16, #ts.smem<128>>) pipeline(tma_umma, stages = 2)
    %d = ts.resource "d" tmem(c: memref<128x128xf32>) pipeline(umma_async, stages = 1)
    %t = arith.constant true
    ts.task "t" warps(0, 1) reads(%a) writes(%d) {
      ts.acquire %d
      ts.wait %a
      %x, %y = ts.consume %a "operands" (%va, %vb) -> memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>> {
        ts.yield %va, %vb : memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
      }
      ts.produce %d "mma" (%c) {
        ts.umma %c, %x, %y accumulate(%t) : memref<128x128xf32, #ts.tmem>, memref<128x64xbf16, #ts.smem<128>>, memref<128x64xbf16, #ts.smem<128>>
      }
      ts.release %a
      ts.commit %d
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$d, AnyMemRef:$a, AnyMemRef:$b, Optional<I1>:$accumulate,
                       Variadic<AnyMemRef>:$scales, UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       DefaultValuedAttr<I64Attr, "1">:$cta_group, OptionalAttr<StrAttr>:$kind);
  let assemblyFormat = [{
    $d `,` $a `,` $b (`accumulate` `(` $accumulate^ `)`)?
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict
    `:` type($d) `,` type($a) `,` type($b)
  }];
  let hasVerifier = 1;
}

def TS_TmemCopyOp : TS_Work<"tmem_copy", [TS_SingleThread]> {
  let summary = "shared memory to tensor memory (tcgen05.cp, UTCCP)";
  let description = [{
    Completes through tcgen05.commit, never through a store wait. `shape` is "128x256b", "4x256b",
    "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23" or "32x128b.warpx4".
    A source without swizzle is taken byte by byte in order, core matrices of 8 rows of 16 bytes. Of
    a swizzled one, a tile like an operand of `ts.umma` with the shape's number of rows, row r goes
    to lane r. A larger source is several copies, to the columns behind.
  }];
  let arguments = (ins AnyMemRef:$src, AnyMemRef:$dst, StrAttr:$shape,
                       DefaultValuedAttr<I64Attr, "1">:$cta_group);
  let assemblyFormat = "$src `to` $dst $shape attr-dict `:` type($src) `,` type($dst)";
  let hasVerifier = 1;
}

def TS_TmemLoadOp : TS_Work<"tmem_load", [TS_WarpCollective]> {
  let summary = "each thread reads its row's columns from tensor memory (tcgen05.ld 32x32b)";
  let description = [{
    Thread t of the warpgroup gets `column ... column + N - 1` of row t: `vector<NxT>` ready to use,
    or `!ts.async<vector<NxT>>` still in flight until `ts.tmem_wait`.
  }];
  let arguments = (ins AnyMemRef:$src, Index:$column);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$src `[` $column `]` attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}
def TS_TmemWaitOp : TS_Work<"tmem_wait", [TS_WarpCollective]> {
  let summary = "wait for TMEM loads; the values come out readable";
  let arguments = (ins Variadic<TS_AsyncType>:$values);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$values attr-dict `:` type($values) `->` type($results)";
  let hasVerifier = 1;
}
def TS_TmemStoreOp : TS_Work<"tmem_store", [TS_WarpCollective]> {
  let summary = "each thread writes its row's columns to tensor memory (tcgen05.st 32x32b)";
  let description = [{Ordered before the next commit of this thread by the fences the protocol emits.}];
  let arguments = (ins AnyVectorOfNonZeroRank:$value, AnyMemRef:$dst, Index:$column);
  let assemblyFormat = "$value `to` $dst `[` $column `]` attr-dict `:` type($value) `,` type($dst)";
  let hasVerifier = 1;
}

//===-- wgmma --------------------------------------------------------------------------------===//

def TS_WgmmaZeroOp : TS_Op<"wgmma_zero", [Pure]> {
  let summary = "zero accumulators to start a chain of wgmma from";
  let results = (outs TS_WgmmaType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}
def TS_WgmmaStartOp : TS_Op<"wgmma_start", [Pure]> {
  let summary = "accumulators that start from a fragment";
  let arguments = (ins TS_FragmentType:$fragment);
  let results = (outs TS_WgmmaType:$result);
  let assemblyFormat = "$fragment attr-dict `:` qualified(type($fragment)) `->` qualified(type($result))";
  let hasVerifier = 1;
}
def TS_WgmmaOp : TS_Work<"wgmma", [TS_WarpCollective,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "D[m, n] += sum over k of A[m, k] * B[n, k], issued, not awaited (wgmma.mma_async)";
  let description = [{
    A is 64 x K in shared memory (K-major; `transpose_a`: stored K x 64) or a register fragment,
    B is N x K in shared memory (`transpose_b`: stored K x N). `accumulate` false overwrites. All k
    steps of the tile are issued. The result stays in flight until a `ts.wgmma_wait`; A's and B's
    stages must not be released before.

    C1: M is 64; N a multiple of 8 up to 256; the swizzle span is the tile's inner dimension.
  }];
  let arguments = (ins AnyType:$a, AnyMemRef:$b, TS_WgmmaType:$acc, Optional<I1>:$accumulate,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs TS_WgmmaType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`accumulate` `(` $accumulate^ `)`)? (`transpose_a` $transpose_a^)?
    (`transpose_b` $transpose_b^)? attr-dict `:` type($a) `,` type($b) `,` qualified(type($acc))
  }];
  let hasVerifier = 1;
}
def TS_WgmmaCommitOp : TS_Work<"wgmma_commit", [TS_WarpCollective]> {
  let summary = "close the warpgroup's current wgmma group";
  let assemblyFormat = "attr-dict";
}
def TS_WgmmaWaitOp : TS_Work<"wgmma_wait", [TS_WarpCollective]> {
  let summary = "wait until at most `pending` wgmma groups are in flight";
  let description = [{
    Carries accumulators in and out, so that nothing reads them earlier. Those whose group is surely
    complete may become fragments: all with `pending` 0, else those written by a `ts.wgmma` of the
    same block with more than `pending` `ts.wgmma_commit` between it and the wait. Others stay
    `!ts.wgmma`. Register operands of A that groups in flight read are passed too, or their
    registers may be overwritten before.
  }];
  let arguments = (ins I64Attr:$pending, Variadic<AnyType>:$values);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$pending (`,` $values^ `:` type($values) `->` type($results))? attr-dict";
  let hasVerifier = 1;
}

//===-- Fragments, matrices ------------------------------------------------------------------===//

def TS_FragmentMapOp : TS_Op<"fragment_map", [RecursiveMemoryEffects,
                                              SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "element-wise arithmetic on fragments of one shape";
  let description = [{
    The region gets one element of each input and yields one element of the result. An input of type
    `vector<2xT>` has one value for each of the thread's two rows (as `ts.fragment_reduce` gives it),
    and the region gets that of the element's row. `at (%row, %column)` adds the element's place in
    the 64 x N tile as two i32, for masks; with it, no input is needed.

    ```mlir
    ts.task "t" warps(0, 4) {
      %z = ts.wgmma_zero : !ts.wgmma<64x64xf32>
      %f = ts.wgmma_wait 0, %z : !ts.wgmma<64x64xf32> -> !ts.fragment<64x64xf32>
      %m = ts.fragment_reduce max %f : !ts.fragment<64x64xf32> -> vector<2xf32>
      %h = ts.fragment_map %f, %m (%x, %top) : !ts.fragment<64x64xf32>, vector<2xf32> -> !ts.fragment<64x64xbf16> {
        %d = arith.subf %x, %top : f32
        %y = arith.truncf %d : f32 to bf16
        ts.yield %y : bf16
      }
      %lower = ts.fragment_map %h (%x) at (%row, %column) : !ts.fragment<64x64xbf16> -> !ts.fragment<64x64xbf16> {
        %zero = arith.constant 0.0 : bf16
        %keep = arith.cmpi sle, %column, %row : i32
        %y = arith.select %keep, %x, %zero : bf16
        ts.yield %y : bf16
      }
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs TS_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the region gets the element's row and column behind the inputs' elements.
    bool hasPlace() { return getBody().front().getNumArguments() == getInputs().size() + 2; }
  }];
}
def TS_FragmentReduceOp : TS_Op<"fragment_reduce", [NoMemoryEffect, TS_WarpCollective]> {
  let summary = "sum, minimum or maximum of each row of a fragment";
  let description = [{
    The result has one value for each of the thread's two rows, r and r + 8; the four threads that
    share a row get the same. `partial`: each thread combines its own quarter of the row only; such
    values are combined later by the same op on the vector, which is cheaper in a loop.

    ```mlir
    ts.task "t" warps(0, 4) {
      %z = ts.wgmma_zero : !ts.wgmma<64x64xf32>
      %f = ts.wgmma_wait 0, %z : !ts.wgmma<64x64xf32> -> !ts.fragment<64x64xf32>
      %p = ts.fragment_reduce add %f partial : !ts.fragment<64x64xf32> -> vector<2xf32>
      %s = ts.fragment_reduce add %p : vector<2xf32> -> vector<2xf32>
    }
    ```
  }];
  let arguments = (ins TS_ReduceKindAttr:$kind, AnyType:$value, UnitAttr:$partial);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    `` $kind $value (`partial` $partial^)? attr-dict `:` qualified(type($value)) `->` type($result)
  }];
  let hasVerifier = 1;
}
def TS_FragmentStoreOp : TS_Work<"fragment_store", [TS_WarpCollective]> {
  let summary = "each warp stores its 16 rows of some columns of a fragment, converting the type";
  let description = [{
    `dst` is the executing warp's own 16 x C tile of shared memory; columns `column ... column + C - 1`
    are stored, by stmatrix for 16-bit elements. Follow with `ts.fence proxy_async_shared` and
    `ts.warp_sync` before a TMA store reads it.
  }];
  let arguments = (ins TS_FragmentType:$fragment, I64Attr:$column, AnyMemRef:$dst);
  let assemblyFormat = "$fragment `column` $column `to` $dst attr-dict `:` qualified(type($fragment)) `,` type($dst)";
  let hasVerifier = 1;
}
def TS_FragmentLoadOp : TS_Work<"fragment_load", [TS_WarpCollective]> {
  let summary = "a warpgroup loads a 64 x K tile of shared memory as a register operand (ldmatrix)";
  let arguments = (ins AnyMemRef:$src);
  let results = (outs TS_FragmentType:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` qualified(type($result))";
  let hasVerifier = 1;
}
def TS_LdMatrixOp : TS_Work<"ldmatrix", [TS_WarpCollective]> {
  let summary = "warp-wide load of 8x8 matrices of 16-bit elements (PTX ldmatrix)";
  let arguments = (ins AnyMemRef:$src, Variadic<Index>:$indices, UnitAttr:$transpose);
  let results = (outs VectorOfRankAndType<[1], [I32]>:$result);
  let assemblyFormat = "$src `[` $indices `]` (`transpose` $transpose^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}
def TS_StMatrixOp : TS_Work<"stmatrix", [TS_WarpCollective]> {
  let summary = "warp-wide store of 8x8 matrices of 16-bit elements (PTX stmatrix)";
  let arguments = (ins VectorOfRankAndType<[1], [I32]>:$value, AnyMemRef:$dst, Variadic<Index>:$indices,
                       UnitAttr:$transpose);
  let assemblyFormat = "$value `to` $dst `[` $indices `]` (`transpose` $transpose^)? attr-dict `:` type($value) `,` type($dst)";
  let hasVerifier = 1;
}

//===-- Barriers by hand, clusters -----------------------------------------------------------===//

def TS_NamedBarrierOp : TS_Op<"named_barrier", [HasParent<"KernelOp">]> {
  let summary = "a hardware named barrier as a resource; the compiler assigns ids not pinned";
  let arguments = (ins StrAttr:$name, I64Attr:$threads, OptionalAttr<I64Attr>:$id);
  let results = (outs TS_ResourceType:$result);
  let assemblyFormat = "$name `threads` `(` $threads `)` (`id` `(` $id^ `)`)? attr-dict";
  let hasVerifier = 1;
}
def TS_BarrierSyncOp : TS_Work<"barrier_sync", [TS_WarpCollective]> {
  let summary = "arrive at a named barrier and wait for all its threads";
  let arguments = (ins TS_ResourceType:$barrier);
  let assemblyFormat = "$barrier attr-dict";
  let hasVerifier = 1;
}
def TS_BarrierArriveOp : TS_Work<"barrier_arrive", [TS_WarpCollective]> {
  let summary = "arrive at a named barrier without waiting";
  let arguments = (ins TS_ResourceType:$barrier);
  let assemblyFormat = "$barrier attr-dict";
  let hasVerifier = 1;
}
def TS_MbarrierOp : TS_Op<"mbarrier", [HasParent<"KernelOp">]> {
  let summary = "a hand-written mbarrier: storage, initialisation and publication are the compiler's";
  let arguments = (ins StrAttr:$name, I64Attr:$count);
  let results = (outs TS_ResourceType:$result);
  let assemblyFormat = "$name `count` `(` $count `)` attr-dict";
  let hasVerifier = 1;
}
def TS_MbarrierArriveOp : TS_Work<"mbarrier_arrive"> {
  let summary = "each executing thread arrives; `expect` adds transaction bytes; `cta` names a peer";
  let arguments = (ins TS_ResourceType:$barrier, OptionalAttr<I64Attr>:$expect, Optional<Index>:$cta);
  let assemblyFormat = "$barrier (`expect` $expect^)? (`cta` `(` $cta^ `)`)? attr-dict";
  let hasVerifier = 1;
}
def TS_MbarrierWaitOp : TS_Work<"mbarrier_wait"> {
  let summary = "wait until the phase of the given parity has completed";
  let arguments = (ins TS_ResourceType:$barrier, I32:$parity);
  let assemblyFormat = "$barrier `parity` $parity attr-dict";
  let hasVerifier = 1;
}
def TS_DsmemLoadOp : TS_Work<"dsmem_load"> {
  let summary = "read an element of a peer CTA's shared memory";
  let arguments = (ins AnyMemRef:$src, Variadic<Index>:$indices, Index:$cta);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$src `[` $indices `]` `cta` `(` $cta `)` attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}
def TS_DsmemStoreOp : TS_Work<"dsmem_store"> {
  let summary = "write an element of a peer CTA's shared memory";
  let arguments = (ins AnyType:$value, AnyMemRef:$dst, Variadic<Index>:$indices, Index:$cta);
  let assemblyFormat = "$value `to` $dst `[` $indices `]` `cta` `(` $cta `)` attr-dict `:` type($value) `,` type($dst)";
  let hasVerifier = 1;
}
def TS_ClusterSyncOp : TS_Work<"cluster_sync", [TS_WarpCollective]> {
  let summary = "barrier over all threads of the cluster";
  let assemblyFormat = "attr-dict";
}

//===-- Made by the lowering -----------------------------------------------------------------===//

def TS_TmemViewOp : TS_Op<"tmem_view", [Pure]> {
  let summary = "a TMEM view at a run-time address; made by the lowering, not written by users";
  let arguments = (ins I32:$address);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$address attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
