// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of the `ts` dialect.
#ifndef TS_TYPES_TD
#define TS_TYPES_TD

include "ts/Dialect/TS/IR/TSAttrs.td"

def TS_ResourceType : TS_Type<"Resource", "resource"> {
  let summary = "handle of a resource; everything known about it stands on its defining op";
}

def TS_TensorMapType : TS_Type<"TensorMap", "tensor_map"> {
  let summary = "TMA descriptor of a global tensor";
  let description = [{
    `shape` and `box` are in array order (slowest dimension first) and in elements. The box's
    innermost dimension is at most the swizzle span. Made by the launcher from the array's shape
    and strides and passed as a grid constant (CUDA driver, cuTensorMapEncodeTiled).
    Example: `!ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        ArrayRefParameter<"int64_t">:$box,
                        DefaultValuedParameter<"unsigned", "0">:$swizzle,
                        DefaultValuedParameter<"unsigned", "0">:$interleave,
                        DefaultValuedParameter<"TensorMapFill", "TensorMapFill::Zero">:$fill,
                        DefaultValuedParameter<"unsigned", "256">:$l2Promotion,
                        OptionalArrayRefParameter<"int64_t">:$elementStrides);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// Bytes one box moves: what complete_tx reports (packed element size).
    int64_t getBoxBytes() const;
  }];
}

class TS_TileType<string name, string mnemonic> : TS_Type<name, mnemonic> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def TS_WgmmaType : TS_TileType<"Wgmma", "wgmma"> {
  let summary = "accumulators of a warpgroup that matrix operations may still be writing";
  let description = [{
    M x N in registers of 128 threads, N/2 per thread for M = 64. Nothing can read the elements:
    `ts.wgmma_wait 0` turns it into a `!ts.fragment`. May be carried over loop back edges.
  }];
}
def TS_FragmentType : TS_TileType<"Fragment", "fragment"> {
  let summary = "a readable tile in the registers of a warpgroup, in wgmma's accumulator layout";
  let description = [{
    Thread t of the warpgroup holds, for each 8-column group j, elements (row, 8j + 2(t mod 4) + {0,1})
    for rows 16(t div 32) + (t mod 32) div 4 and 8 further (PTX ISA 8.8, wgmma register fragments).
  }];
}

def TS_AsyncType : TS_Type<"Async", "async"> {
  let summary = "a value that an asynchronous TMEM load is still writing";
  let parameters = (ins "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $valueType `>`";
}

#endif
