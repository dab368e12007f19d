// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `ts` dialect itself and the base classes its attributes, types and ops share.
#ifndef TS_DIALECT_TD
#define TS_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TS_Dialect : Dialect {
  let name = "ts";
  let cppNamespace = "::mlir::ts";
  let summary = "Task scheduling: warp-specialised asynchronous GPU kernels as declared schedules";
  let description = [{
    A `ts.kernel` declares *resources* (communication objects in global, shared or tensor memory),
    the *pipelines* that guard them, the *dependencies* between them, and *tasks*: warp ranges that
    each run one *schedule* of acquire / commit and wait / release brackets around work.
    No barrier, phase, byte count, fence, descriptor or warp branch is written by hand; each can be
    pinned by an attribute, and what is pinned is checked.

    Verification (`ts-verify`) reads the same protocol table that the lowering emits from, so a
    schedule that verifies cannot be lowered to a different protocol.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class TS_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<TS_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}
class TS_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<TS_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}
class TS_Op<string mnemonic, list<Trait> traits = []> : Op<TS_Dialect, mnemonic, traits>;

// Everything that is an event of the protocol, or starts or awaits asynchronous work, reads and
// writes this one ordering resource, so that no upstream pass reorders, merges or drops it.
def TS_ScheduleOrder : Resource<"::mlir::ts::ScheduleOrder">;
def TS_Ordered : MemoryEffects<[MemRead<TS_ScheduleOrder>, MemWrite<TS_ScheduleOrder>]>;

#endif
