// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that declare a kernel: kernel, resources, queues, dependencies, groups, aliases, tasks.
#ifndef TS_STRUCTURE_OPS_TD
#define TS_STRUCTURE_OPS_TD

include "ts/Dialect/TS/IR/TSTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TS_KernelOp : TS_Op<"kernel", [Symbol, IsolatedFromAbove,
                                   DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
                                   SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a warp-specialised kernel: resources, dependencies and tasks";
  let description = [{
    Lives in a `gpu.module`. Arguments are tensor maps, global memrefs and scalars; a scalar may
    carry the expression over array dimensions that derives it at launch (`= ceildiv(dim(%A, 1), 64)`)
    and the smallest value a launch may give it (`min 1`). `grid(...)` are expressions too; without
    it a static queue launches one CTA per SM and tile, and a kernel without queue one CTA.
    An argument's name is its SSA name, or the one after its type, as in `%0: index as "n"`.

    C1: inside a `gpu.module`. C2: `warps` in 1..32. C3: expressions name arguments that exist.

    ```mlir
    gpu.module @m attributes {ts.chip = "sm_90a"} {
      ts.kernel @nothing(%n: index = 4 min 1) warps(1) {
        ts.task "idle" warps(0, 1) {
        }
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$arg_names,
                       StrArrayAttr:$arg_exprs, DenseI64ArrayAttr:$arg_mins,
                       I32Attr:$num_warps, DenseI64ArrayAttr:$cluster,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$grid,
                       UnitAttr:$flush_denormals, OptionalAttr<I64Attr>:$max_dynamic_smem,
                       UnitAttr:$trips_per_tile);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
    /// Chip named by the kernel or its module (`ts.chip`), empty if neither.
    ::llvm::StringRef getChip();
    int64_t getClusterSize();
  }];
}

// Stands directly in a kernel, so that every task can see it.
class TS_Declaration<string mnemonic, list<Trait> traits = []>
    : TS_Op<mnemonic, traits # [HasParent<"KernelOp">]>;

def TS_ResourceOp : TS_Declaration<"resource"> {
  let summary = "a communication object: memory and, optionally, the pipeline that guards it";
  let description = [{
    `gmem`, `smem(...)`, `tmem(...)` or `barrier`. Allocations are per stage. A resource without a
    pipeline is scratch (one stage, no barriers). `barriers(%r : "name")` places the pipeline's
    mbarriers (16 x stages bytes) in a named unstaged allocation of a resource of the user's.
    `producer_uses` / `consumer_uses` narrow the allocations a role touches.

    ```mlir
    %ab = ts.resource "smem_ab" smem(a: memref<128x64xbf16, #ts.smem<128>>,
                                     b: memref<128x64xbf16, #ts.smem<128>>)
            pipeline(tma_umma, stages = 4)
    %src = ts.resource "gmem_a" gmem
    ```
  }];
  let arguments = (ins StrAttr:$name, TS_SpaceAttr:$space,
                       TypedArrayAttrBase<TS_AllocAttr, "allocations">:$allocs,
                       OptionalAttr<TS_PipelineAttr>:$pipeline,
                       OptionalAttr<StrArrayAttr>:$producer_uses,
                       OptionalAttr<StrArrayAttr>:$consumer_uses,
                       Optional<TS_ResourceType>:$barrier_storage,
                       OptionalAttr<StrAttr>:$barrier_alloc);
  let results = (outs TS_ResourceType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getStages() { return getPipeline() ? getPipeline()->getStages() : 1; }
    /// Types of the stage views a work body gets, one per allocation.
    ::llvm::SmallVector<::mlir::Type> getViewTypes();
  }];
}

def TS_WorkQueueOp : TS_Declaration<"work_queue", [AttrSizedOperandSegments]> {
  let summary = "queue of work tiles of a persistent kernel";
  let description = [{
    `static` hands tile `cta + i * ctas` to a CTA, with clusters tile `cluster + i * clusters` to all
    CTAs of a cluster; `clc` asks the hardware for the next cluster (clusterlaunchcontrol, sm_100
    and later) and hands out tiles in the same way. `over` are the tile counts, slowest first; a linear
    tile number is decoded in groups of `group` tiles of the first dimension, so that neighbouring
    CTAs share operands in L2. `skip` is a per-tile predicate over the coordinates: a skipped
    tile runs no task's body.

    ```mlir
    %c8 = arith.constant 8 : index
    %queue = ts.work_queue "tiles" static over(%c8, %c8) group(8)
    ```
  }];
  let arguments = (ins StrAttr:$name, TS_QueueKindAttr:$kind, Variadic<Index>:$tiles,
                       Optional<TS_ResourceType>:$throttle,
                       DefaultValuedAttr<I64Attr, "1">:$group,
                       OptionalAttr<TS_PipelineAttr>:$pipeline);
  let regions = (region AnyRegion:$skip);
  let results = (outs TS_ResourceType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def TS_PdlOp : TS_Declaration<"pdl"> {
  let summary = "programmatic dependent launch, as a resource others can depend on";
  let description = [{
    ```mlir
    %pdl = ts.pdl "previous_grid"
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs TS_ResourceType:$result);
  let assemblyFormat = "$name attr-dict";
}

def TS_BatonOp : TS_Declaration<"baton"> {
  let summary = "ordering baton among the replicas of a task: take and pass in turn";
  let description = [{
    Replica `first` holds it at the start; `ts.take` waits for one's turn, `ts.pass` hands it to the
    next replica. Lowered to one named barrier per hand-over.

    ```mlir
    %order = ts.baton "softmax_order" holders(2) first(0)
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$holders, DefaultValuedAttr<I64Attr, "0">:$first);
  let results = (outs TS_ResourceType:$result);
  let assemblyFormat = "$name `holders` `(` $holders `)` (`first` `(` $first^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def TS_DependsOp : TS_Declaration<"depends"> {
  let summary = "edge(s) of the dependency graph: a resource and what it is made from";
  let description = [{
    A self-edge declares a ping-pong resource. `ordering` marks an edge that carries no data
    (throttles, credits, PDL).

    ```mlir
    %src = ts.resource "g" gmem
    %dst = ts.resource "d" gmem
    ts.depends %dst on %src
    ```
  }];
  let arguments = (ins TS_ResourceType:$downstream, Variadic<TS_ResourceType>:$upstream,
                       UnitAttr:$ordering);
  let assemblyFormat = "$downstream `on` $upstream (`ordering` $ordering^)? attr-dict";
  let hasVerifier = 1;
}

def TS_AliasGroupOp : TS_Declaration<"alias_group"> {
  let summary = "allocations of different phases that share one memory region";
  let description = [{
    Each phase is a list of whole resources whose allocations coexist; all phases start at the same
    offset. `phases` gives how many operands belong to each phase.

    ```mlir
    %s = ts.resource "s" smem(x: memref<64x64xf32>)
    %t = ts.resource "t" smem(y: memref<64x64xf32>)
    ts.alias_group "reuse" (%s, %t) phases [1, 1]
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<TS_ResourceType>:$members, DenseI64ArrayAttr:$phases);
  let assemblyFormat = "$name `(` $members `)` `phases` $phases attr-dict";
  let hasVerifier = 1;
}

def TS_PipelineGroupOp : TS_Declaration<"pipeline_group"> {
  let summary = "resources that share one side of their pipelines";
  let description = [{
    `merge`: a full barrier per member, one shared empty barrier; the consumer ops name the group.
    `fork`: one shared full barrier, an empty one per member; the producer's commit names the group.
    `fused_merge`: one of each, counts and bytes summed.

    ```mlir
    %a = ts.resource "a" smem(x: memref<64x64xbf16>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(y: memref<64x64xbf16>) pipeline(tma_async, stages = 2)
    %ab = ts.pipeline_group "ab" merge(%a, %b)
    ```
  }];
  let arguments = (ins StrAttr:$name, TS_GroupModeAttr:$mode, Variadic<TS_ResourceType>:$members);
  let results = (outs TS_ResourceType:$result);
  let assemblyFormat = "$name `` $mode `(` $members `)` attr-dict";
  let hasVerifier = 1;
}

def TS_TaskOp : TS_Op<"task", [AttrSizedOperandSegments, HasParent<"KernelOp">,
                               SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a contiguous warp range that runs one schedule";
  let description = [{
    `warps(first, count)`. `replicas(n)` splits the range into n sibling roles of count / n warps
    that run the same schedule; the block argument is the replica's index. `registers(n)` is the
    per-thread budget (setmaxnreg, whole warpgroups). `only_cta(r)` restricts it to one CTA of the
    cluster. Captures resources and kernel arguments; values do not leave a task.

    C1: `count` at least 1 and divisible by the replicas.

    ```mlir
    %src = ts.resource "g" gmem
    ts.task "load" warps(0, 4) replicas(2) (%r) registers(40) reads(%src) {
      ts.consume %src "coords" {
      }
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, I32Attr:$first_warp, I32Attr:$num_warps,
                       DefaultValuedAttr<I32Attr, "1">:$replicas,
                       OptionalAttr<I32Attr>:$registers, OptionalAttr<I32Attr>:$only_cta,
                       Variadic<TS_ResourceType>:$reads, Variadic<TS_ResourceType>:$writes);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
    int64_t getWarpsPerReplica() { return getNumWarps() / getReplicas(); }
  }];
}

#endif
