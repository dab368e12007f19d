// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Enums and attributes of the `ts` dialect. What a pipeline type *means* is not here but in
// ts/Analysis/Protocol.
#ifndef TS_ATTRS_TD
#define TS_ATTRS_TD

include "ts/Dialect/TS/IR/TSDialect.td"

class TS_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::ts";
  let genSpecializedAttr = 0;
}
class TS_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<TS_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def TS_PipelineType : TS_Enum<"PipelineType", "producer and consumer kinds of a pipeline", [
  I32EnumAttrCase<"AsyncAsync", 0, "async_async">,
  I32EnumAttrCase<"TmaAsync", 1, "tma_async">,
  I32EnumAttrCase<"TmaUmma", 2, "tma_umma">,
  I32EnumAttrCase<"UmmaAsync", 3, "umma_async">,
  I32EnumAttrCase<"AsyncUmma", 4, "async_umma">,
  I32EnumAttrCase<"UmmaUmma", 5, "umma_umma">,
  I32EnumAttrCase<"ClcFetchAsync", 6, "clc_fetch_async">]>;

def TS_Space : TS_Enum<"Space", "where a resource lives", [
  I32EnumAttrCase<"Gmem", 0, "gmem">, I32EnumAttrCase<"Smem", 1, "smem">,
  I32EnumAttrCase<"Tmem", 2, "tmem">, I32EnumAttrCase<"Barrier", 3, "barrier">]>;
def TS_SpaceAttr : TS_EnumAttr<TS_Space, "space">;

def TS_ProducerOp : TS_Enum<"ProducerOp", "how async producer threads arrive", [
  I32EnumAttrCase<"Thread", 0, "thread">, I32EnumAttrCase<"Load", 1, "load">]>;

def TS_GroupMode : TS_Enum<"GroupMode", "which side of a pipeline group is shared", [
  I32EnumAttrCase<"Merge", 0, "merge">, I32EnumAttrCase<"Fork", 1, "fork">,
  I32EnumAttrCase<"FusedMerge", 2, "fused_merge">]>;
def TS_GroupModeAttr : TS_EnumAttr<TS_GroupMode, "group_mode">;

def TS_QueueKind : TS_Enum<"QueueKind", "how a work queue hands out tiles", [
  I32EnumAttrCase<"Static", 0, "static">, I32EnumAttrCase<"Clc", 1, "clc">]>;
def TS_QueueKindAttr : TS_EnumAttr<TS_QueueKind, "queue_kind">;

def TS_GuardKind : TS_Enum<"GuardKind", "which iterations of the enclosing loop a guard selects", [
  I32EnumAttrCase<"First", 0, "first">, I32EnumAttrCase<"Last", 1, "last">,
  I32EnumAttrCase<"Every", 2, "every">, I32EnumAttrCase<"NotFirst", 3, "not_first">,
  I32EnumAttrCase<"NotLast", 4, "not_last">]>;
def TS_GuardKindAttr : TS_EnumAttr<TS_GuardKind, "guard_kind">;

def TS_InfoKind : TS_Enum<"InfoKind", "what ts.info reports", [
  I32EnumAttrCase<"Thread", 0, "thread">, I32EnumAttrCase<"Warp", 1, "warp">,
  I32EnumAttrCase<"Lane", 2, "lane">, I32EnumAttrCase<"CtaRank", 3, "cta_rank">,
  I32EnumAttrCase<"Stage", 4, "stage">, I32EnumAttrCase<"Barrier", 5, "barrier">,
  I32EnumAttrCase<"SmemBase", 6, "smem_base">, I32EnumAttrCase<"TmemBase", 7, "tmem_base">,
  I32EnumAttrCase<"LoopOffset", 8, "loop_offset">, I32EnumAttrCase<"LoopStart", 9, "loop_start">,
  I32EnumAttrCase<"LoopEnd", 10, "loop_end">, I32EnumAttrCase<"LoopStep", 11, "loop_step">,
  I32EnumAttrCase<"InFlight", 12, "in_flight">, I32EnumAttrCase<"Replica", 13, "replica">,
  I32EnumAttrCase<"CallIndex", 14, "call_index">]>;
def TS_InfoKindAttr : TS_EnumAttr<TS_InfoKind, "info_kind">;

def TS_FenceKind : TS_Enum<"FenceKind", "fences a hand-written body may need", [
  I32EnumAttrCase<"ProxyAsyncShared", 0, "proxy_async_shared">,
  I32EnumAttrCase<"ProxyAsync", 1, "proxy_async">,
  I32EnumAttrCase<"TcgenBefore", 2, "tcgen05_before">, I32EnumAttrCase<"TcgenAfter", 3, "tcgen05_after">,
  I32EnumAttrCase<"MbarrierInit", 4, "mbarrier_init">, I32EnumAttrCase<"Cluster", 5, "cluster">,
  I32EnumAttrCase<"Cta", 6, "cta">, I32EnumAttrCase<"Gpu", 7, "gpu">]>;
def TS_FenceKindAttr : TS_EnumAttr<TS_FenceKind, "fence_kind">;

def TS_ReduceKind : TS_Enum<"ReduceKind", "reduction of a TMA or bulk store", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Inc", 3, "inc">, I32EnumAttrCase<"Dec", 4, "dec">, I32EnumAttrCase<"And", 5, "and">,
  I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">]>;
def TS_ReduceKindAttr : TS_EnumAttr<TS_ReduceKind, "reduce_kind">;

def TS_Fill : TS_Enum<"TensorMapFill", "what TMA returns out of bounds", [
  I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"Nan", 1, "nan">]>;

def TS_EngineKind : TS_Enum<"EngineKind", "which engine performs a declared work call", [
  I32EnumAttrCase<"Thread", 0, "thread">, I32EnumAttrCase<"CpAsync", 1, "cp_async">,
  I32EnumAttrCase<"Tma", 2, "tma">, I32EnumAttrCase<"Bulk", 3, "bulk">,
  I32EnumAttrCase<"Wgmma", 4, "wgmma">, I32EnumAttrCase<"Umma", 5, "umma">,
  I32EnumAttrCase<"Utccp", 6, "utccp">, I32EnumAttrCase<"Clc", 7, "clc">]>;

// Signalling: a set; `all` stands alone.
def TS_Signalling : I32BitEnumAttr<"Signalling", "threads that execute a side's barrier operations", [
  I32BitEnumAttrCaseBit<"All", 0, "all">, I32BitEnumAttrCaseBit<"CtaLeader", 1, "cta_leader">,
  I32BitEnumAttrCaseBit<"TaskWarpLeader", 2, "task_warp_leader">]> {
  let cppNamespace = "::mlir::ts";
  let genSpecializedAttr = 0;
  let separator = "|";
}

def TS_SmemSpaceAttr : TS_Attr<"SmemSpace", "smem"> {
  let summary = "shared memory, with the swizzle its tiles are stored in";
  let description = [{
    Memory space of stage views. `swizzle` is the span in bytes (0, 32, 64 or 128) of the XOR
    pattern that TMA, UMMA and wgmma share: within each span, the 16-byte chunk index is XORed with
    the 128-byte line number (PTX ISA 8.8, "Tensor swizzle modes"). The innermost dimension of a
    swizzled tile is exactly `swizzle` bytes.

    `padded`: elements of 4 or 6 bits lie 16 to 16 bytes, packed at their start, as the f8f6f4 kinds
    of UMMA read them and as TMA writes them there (CUDA driver, 16U4_ALIGN16B and 16U6_ALIGN16B).
    Each counts as a byte of memory, but a copy still reports packed bytes. Only `ts.tma_load`
    writes such memory and only `ts.umma` reads it.
    Example: `memref<128x128xf4E2M1FN, #ts.smem<128, padded>>`.
  }];
  let parameters = (ins DefaultValuedParameter<"unsigned", "0">:$swizzle,
                        DefaultValuedParameter<"bool", "false">:$padded);
  let builders = [AttrBuilder<(ins "unsigned":$swizzle), "return $_get($_ctxt, swizzle, false);">];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TS_TmemSpaceAttr : TS_Attr<"TmemSpace", "tmem"> {
  let summary = "tensor memory: 128 lanes (rows) by columns of 32 bits";
}

def TS_AllocAttr : TS_Attr<"Alloc", "alloc"> {
  let summary = "one named allocation of a resource";
  let description = [{
    `type` is the shape of one stage. `align` (bytes; 0 = derived), `at` pins the place (byte offset
    in the CTA's dynamic shared memory, or first TMEM column; -1 = the allocator places it),
    `staged = false` gives one copy instead of one per stage.
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::MemRefType":$type,
                        DefaultValuedParameter<"int64_t", "0">:$align,
                        DefaultValuedParameter<"int64_t", "-1">:$at,
                        DefaultValuedParameter<"bool", "true">:$staged);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TS_PipelineAttr : TS_Attr<"Pipeline", "pipeline"> {
  let summary = "barrier protocol that guards a resource";
  let description = [{
    Every field but the type and `stages` may be left out: -1 means "inferred" for counts and bytes.
    Counts are mbarrier arrivals per phase, `num_bytes` the transaction bytes per stage and phase.
    `interleave` gives the strides of (producer acquire, producer commit, consumer wait, consumer
    release). `mcast` are the TMA multicast modes in M and N, `cta_layout` is (V, M, N, K).

    ```mlir
    "test.op"() {p = #ts.pipeline<tma_umma, stages = 4, interleave = 4>} : () -> ()
    ```
  }];
  let parameters = (ins
    "PipelineType":$type, "int64_t":$stages,
    DefaultValuedParameter<"int64_t", "-1">:$numBytes,
    DefaultValuedParameter<"int64_t", "-1">:$producerCount,
    DefaultValuedParameter<"int64_t", "-1">:$consumerCount,
    DefaultValuedParameter<"Signalling", "Signalling::All">:$producerSignal,
    DefaultValuedParameter<"Signalling", "Signalling::All">:$consumerSignal,
    DefaultValuedParameter<"std::optional<Signalling>", "std::nullopt">:$consumerWaitSignal,
    DefaultValuedParameter<"bool", "false">:$advanceOnWait,
    DefaultValuedParameter<"bool", "false">:$advanceOnAcquire,
    OptionalArrayRefParameter<"int64_t">:$interleave,
    DefaultValuedParameter<"ProducerOp", "ProducerOp::Thread">:$producerOp,
    DefaultValuedParameter<"int64_t", "-1">:$bytesPerWarpPerCta,
    OptionalArrayRefParameter<"int64_t">:$mcast,
    OptionalArrayRefParameter<"int64_t">:$ctaLayout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Parses `type, stages = n, key = value...` (without brackets), as `pipeline(...)` of a
    /// resource and `#ts.pipeline<...>` both write it.
    static PipelineAttr parseFields(::mlir::AsmParser &parser);
    void printFields(::mlir::AsmPrinter &printer) const;
    /// Strides of (acquire, commit, wait, release); all 1 when not interleaved.
    std::array<int64_t, 4> getStrides() const;
  }];
}

def TS_EffectAttr : TS_Attr<"Effect", "effect"> {
  let summary = "one declared memory access of a work call without a body";
  let description = [{
    `alloc` names an allocation of the resource (empty = all of it), `write` says read or write,
    `offset`/`size` are bytes within one stage (size -1 = to the end), `engine` performs it.
  }];
  let parameters = (ins StringRefParameter<>:$alloc, "bool":$write,
                        DefaultValuedParameter<"int64_t", "0">:$offset,
                        DefaultValuedParameter<"int64_t", "-1">:$size,
                        DefaultValuedParameter<"EngineKind", "EngineKind::Thread">:$engine);
  let hasCustomAssemblyFormat = 1;
}

#endif
