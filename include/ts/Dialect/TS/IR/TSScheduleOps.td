// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops a schedule is made of: brackets, work, loops, guards, conditions, queue and PDL steps.
#ifndef TS_SCHEDULE_OPS_TD
#define TS_SCHEDULE_OPS_TD

include "ts/Dialect/TS/IR/TSTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class TS_PipelineStepOp<string mnemonic, string what> : TS_Op<mnemonic, [TS_Ordered]> {
  let summary = what;
  let arguments = (ins TS_ResourceType:$resource);
  let assemblyFormat = "$resource attr-dict";
}

def TS_AcquireOp : TS_PipelineStepOp<"acquire", "producer: wait for a free stage"> {
  let description = [{
    Waits until the stage's previous contents were released, then arms the transaction bytes where
    the producer is TMA or CLC. Opens the bracket that `ts.commit` closes.

    ```mlir
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      ts.try_acquire %r
      ts.acquire %r
      ts.commit %r
    }
    ```
  }];
}
def TS_CommitOp : TS_PipelineStepOp<"commit", "producer: the stage's contents are complete"> {
  let description = [{Arrives on the full barrier in the way of the producer kind; a TMA or CLC engine arrives by itself. See `ts.acquire`.}];
}
def TS_WaitOp : TS_PipelineStepOp<"wait", "consumer: wait for a full stage"> {
  let description = [{Opens the bracket that `ts.release` closes. See `ts.release`.}];
}
def TS_ReleaseOp : TS_PipelineStepOp<"release", "consumer: the stage may be overwritten"> {
  let description = [{
    Arrives on the empty barrier in the way of the consumer kind.

    ```mlir
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) reads(%r) {
      ts.try_wait %r
      ts.wait %r
      ts.release %r
    }
    ```
  }];
}
def TS_TryAcquireOp : TS_PipelineStepOp<"try_acquire", "one non-blocking probe for the following acquire"> {
  let description = [{Its result is a hint that the next `ts.acquire` of this task on this resource uses to skip the blocking loop.}];
}
def TS_TryWaitOp : TS_PipelineStepOp<"try_wait", "one non-blocking probe for the following wait"> {
  let description = [{Its result is a hint that the next `ts.wait` of this task on this resource uses to skip the blocking loop.}];
}

class TS_WorkOp<string mnemonic, string what> : TS_Op<mnemonic, [TS_Ordered]> {
  let summary = what;
  let arguments = (ins TS_ResourceType:$resource, StrAttr:$label, UnitAttr:$aux,
                       Variadic<AnyType>:$uses,
                       OptionalAttr<TypedArrayAttrBase<TS_EffectAttr, "effects">>:$effects,
                       OptionalAttr<I64Attr>:$bytes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool hasBody() { return !getBody().empty(); }
  }];
}
def TS_ProduceOp : TS_WorkOp<"produce", "work that writes a resource"> {
  let description = [{
    The body's arguments are the stage views of the resource's allocations, in order (all or none).
    `aux` marks helper work without memory access. Without a body (`declared`) the accesses, engine
    and bytes are declared; such a program is verified and refused by the lowering.

    ```mlir
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) writes(%r) {
      ts.acquire %r
      ts.produce %r "fill" (%x) {
        %c0 = arith.constant 0 : index
        %f = arith.constant 1.0 : f32
        memref.store %f, %x[%c0] : memref<64xf32, #ts.smem>
      }
      ts.produce %r "later" declared effects [#ts.effect<write "x">]
      ts.commit %r
    }
    ```
  }];
}
def TS_ConsumeOp : TS_WorkOp<"consume", "work that reads a resource"> {
  let description = [{
    As `ts.produce`, on the consumer's stage. Yields the values that other work of the task uses.

    ```mlir
    %r = ts.resource "r" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "t" warps(0, 1) reads(%r) {
      ts.wait %r
      %v = ts.consume %r "first" (%x) -> f32 {
        %c0 = arith.constant 0 : index
        %f = memref.load %x[%c0] : memref<64xf32, #ts.smem>
        ts.yield %f : f32
      }
      ts.release %r
    }
    ```
  }];
}

def TS_YieldOp : TS_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region of a ts op and gives its results";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def TS_ForOp : TS_Op<"for", [RecursiveMemoryEffects, AttrSizedOperandSegments,
                             SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a domain loop: upper bound exclusive, zero trips allowed, any nesting";
  let description = [{
    Bounds are `index` values; constants and kernel arguments are trip counts the prover treats
    symbolically, values computed from tile coordinates are per-tile. `unroll n` asks for unrolling.
    Loop-carried values are the seeds' task-local variables that live across iterations.

    C1: one result and one yielded value per carried value. C2: a constant step is not 0.

    ```mlir
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    ts.task "t" warps(0, 1) {
      %r = ts.for %i = %c0 to %c8 iter(%a = %c0 : index) {
        %n = arith.addi %a, %i : index
        ts.yield %n : index
      }
    }
    ```
  }];
  let arguments = (ins Index:$lower, Index:$upper, Optional<Index>:$step, Variadic<AnyType>:$inits,
                       OptionalAttr<I64Attr>:$unroll);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
    ::mlir::BlockArgument getInductionVar() { return getBody().getArgument(0); }
  }];
}

def TS_TileLoopOp : TS_Op<"tile_loop", [RecursiveMemoryEffects,
                                        SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the work-tile loop of a persistent task";
  let description = [{
    Runs its body once per tile that the queue hands to this CTA; block arguments are the tile
    coordinates, then the carried values. The body advances with exactly one `ts.next_tile`.

    ```mlir
    %c8 = arith.constant 8 : index
    %queue = ts.work_queue "tiles" static over(%c8, %c8) group(4)
    ts.task "t" warps(0, 1) reads(%queue) {
      ts.tile_loop %queue (%m, %n) {
        ts.next_tile %queue
      }
    }
    ```
  }];
  let arguments = (ins TS_ResourceType:$queue, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
  }];
}

// Ordered, since its meaning depends on the loop around it: an equal guard in an outer loop is
// another condition.
def TS_GuardOp : TS_Op<"guard", [TS_Ordered]> {
  let summary = "runs its region only in selected iterations of the innermost enclosing loop";
  let description = [{
    `first`, `last`, `not_first`, `not_last` or `every n` (iterations 0, n, 2n, ...). With results it
    needs an `else` region.

    ```mlir
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    ts.task "t" warps(0, 1) {
      ts.for %i = %c0 to %c8 {
        ts.guard every 2 {
        }
      }
    }
    ```
  }];
  let arguments = (ins TS_GuardKindAttr:$kind, DefaultValuedAttr<I64Attr, "1">:$period);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body, MaxSizedRegion<1>:$orelse);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def TS_WhenOp : TS_Op<"when", [RecursiveMemoryEffects]> {
  let summary = "runs its region when a run-time condition has a given value";
  let description = [{
    Conditions with the same `key` have the same value in every task of a tile (the prover relies on
    it; the launch value must really be shared). A condition of the form `trip count > 0` is
    recognised without a key.

    ```mlir
    ts.task "t" warps(0, 1) {
      %b = arith.constant true
      ts.when %b is true key("causal") {
      }
    }
    ```
  }];
  let arguments = (ins I1:$condition, DefaultValuedAttr<BoolAttr, "true">:$expected,
                       OptionalAttr<StrAttr>:$key);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body, MaxSizedRegion<1>:$orelse);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def TS_SkippableOp : TS_Op<"skippable", [RecursiveMemoryEffects,
                                         SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the part of a work-tile loop that a skipped tile leaves out";
  let description = [{
    The queue's skip predicate decides; the tile is still advanced outside of it.

    ```mlir
    %c8 = arith.constant 8 : index
    %queue = ts.work_queue "tiles" static over(%c8)
    ts.task "t" warps(0, 1) reads(%queue) {
      ts.tile_loop %queue (%m) {
        ts.skippable {
        }
        ts.next_tile %queue
      }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}

class TS_QueueStepOp<string mnemonic, string what> : TS_Op<mnemonic, [TS_Ordered]> {
  let summary = what;
  let arguments = (ins TS_ResourceType:$queue);
  let assemblyFormat = "$queue attr-dict";
  let hasVerifier = 1;
}
def TS_FetchTileOp : TS_QueueStepOp<"fetch_tile", "scheduler task: ask the hardware for the next tile (CLC)"> {
  let description = [{Between `ts.acquire` and `ts.commit` of the queue, in its one scheduler task.}];
}
def TS_NextTileOp : TS_QueueStepOp<"next_tile", "advance to the next work tile, once per iteration"> {
  let description = [{For a CLC queue: waits for the response, reads it, releases the slot.}];
}

def TS_GridDepWaitOp : TS_Op<"griddep_wait", [TS_Ordered]> {
  let summary = "wait for the results of the preceding grid (griddepcontrol.wait)";
  let arguments = (ins TS_ResourceType:$pdl);
  let assemblyFormat = "$pdl attr-dict";
}
def TS_GridDepLaunchOp : TS_Op<"griddep_launch", [TS_Ordered]> {
  let summary = "let the dependent grid start (griddepcontrol.launch_dependents)";
  let arguments = (ins TS_ResourceType:$pdl);
  let assemblyFormat = "$pdl attr-dict";
}
def TS_TakeOp : TS_Op<"take", [TS_Ordered]> {
  let summary = "wait for one's turn with a baton";
  let arguments = (ins TS_ResourceType:$baton);
  let assemblyFormat = "$baton attr-dict";
}
def TS_PassOp : TS_Op<"pass", [TS_Ordered]> {
  let summary = "hand a baton to the next replica";
  let arguments = (ins TS_ResourceType:$baton);
  let assemblyFormat = "$baton attr-dict";
}

#endif
