#!/usr/bin/env python3
"""Compiles kernels.py for sm_100a without a GPU and writes PTX and launch facts beside it.

  python3 -m venv /tmp/venv && /tmp/venv/bin/pip install triton==3.5.1
  /tmp/venv/bin/python compile.py [NAME ...]

The launch facts (threads, shared and tensor memory, hidden parameters) go to NAME.meta.json; check.py
and the tests read only the PTX and these facts, so Triton is needed for making them new, not for testing.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import re
import sys

os.environ.setdefault("TRITON_CACHE_DIR", "/tmp/triton-cache")
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels

HERE = os.path.dirname(os.path.abspath(__file__))
P16 = [["tt.divisibility", 16]]

# name: (function, signature, constants, options). A signature type "*bf16:16" is 16-byte aligned.
VARIANTS = {
    "gemm": (kernels.gemm, ["*bf16:16", "*bf16:16", "*fp32:16", "i32:16", "i32:16", "i32:16", "i32:16"],
             dict(BM=128, BN=64, BK=64), dict(num_warps=4, num_stages=3)),
    "gemm_f16_256": (kernels.gemm, ["*fp16:16", "*fp16:16", "*fp32:16", "i32:16", "i32:16", "i32:16", "i32:16"],
                     dict(BM=128, BN=128, BK=32), dict(num_warps=8, num_stages=2)),
    "gemm_tf32": (kernels.gemm, ["*fp32:16", "*fp32:16", "*fp32:16", "i32:16", "i32:16", "i32:16", "i32:16"],
                  dict(BM=128, BN=64, BK=32), dict(num_warps=4, num_stages=2)),
    "gemm_fp8": (kernels.gemm, ["*fp8e4nv:16", "*fp8e4nv:16", "*fp32:16", "i32:16", "i32:16", "i32:16", "i32:16"],
                 dict(BM=128, BN=64, BK=128), dict(num_warps=4, num_stages=2)),
    "gemm_persistent": (kernels.gemm_persistent,
                        ["tensordesc<bf16[128,64]>", "tensordesc<bf16[64,64]>", "tensordesc<bf16[128,64]>", "i32", "i32", "i32"],
                        dict(BM=128, BN=64, BK=64, WS=False), dict(num_warps=4, num_stages=3)),
    "gemm_persistent_ws": (kernels.gemm_persistent,
                        ["tensordesc<bf16[128,64]>", "tensordesc<bf16[64,64]>", "tensordesc<bf16[128,64]>", "i32", "i32", "i32"],
                        dict(BM=128, BN=64, BK=64, WS=True), dict(num_warps=4, num_stages=3)),
    "gemm_ws": (kernels.gemm_ws, ["tensordesc<bf16[128,64]>", "tensordesc<bf16[64,64]>", "tensordesc<bf16[128,64]>", "i32"],
                dict(BM=128, BN=64, BK=64), dict(num_warps=4, num_stages=3)),
    "attention": (kernels.attention, ["*bf16:16", "*bf16:16", "*bf16:16", "*fp32:16", "fp32", "i32:16", "i32:16"],
                  dict(D=64, BM=128, BN=64), dict(num_warps=4, num_stages=2)),
    "gemm_mxf8": (kernels.gemm_scaled, ["*fp8e4nv:16", "*fp8e4nv:16", "*u8:16", "*u8:16", "*fp32:16", "i32:16"],
                  dict(BM=128, BN=128, BK=128, PACK=1, GROUP=32, FORMAT="e4m3"), dict(num_warps=4, num_stages=2)),
    "gemm_mxf4": (kernels.gemm_scaled, ["*u8:16", "*u8:16", "*u8:16", "*u8:16", "*fp32:16", "i32:16"],
                  dict(BM=128, BN=128, BK=128, PACK=2, GROUP=32, FORMAT="e2m1"), dict(num_warps=4, num_stages=2)),
    "gemm_nvf4": (kernels.gemm_scaled, ["*u8:16", "*u8:16", "*fp8e4nv:16", "*fp8e4nv:16", "*fp32:16", "i32:16"],
                  dict(BM=128, BN=128, BK=128, PACK=2, GROUP=16, FORMAT="e2m1"), dict(num_warps=4, num_stages=2)),
    "reduction": (kernels.reduction, ["*fp32:16", "*fp32:16", "i32"], dict(B=1024), dict(num_warps=4)),
    "softmax": (kernels.softmax, ["*fp32:16", "*fp32:16", "i32"], dict(B=512), dict(num_warps=4)),
}


def build(name):
    function, types, constants, options = VARIANTS[name]
    names = [p.name for p in function.params]
    signature, attributes, values = {}, {}, {}
    for i, parameter in enumerate(names):
        if parameter in constants:
            signature[parameter] = "constexpr"
            values[(i,)] = constants[parameter]
            continue
        signature[parameter], _, aligned = types[i].partition(":")
        if aligned:
            attributes[(i,)] = P16
    source = ASTSource(fn=function, signature=signature, constexprs=values, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 100, 32), options=options)
    ptx = compiled.asm["ptx"]
    here = HERE + os.sep
    ptx = ptx.replace(here, "").replace(HERE, ".")
    ptx = re.sub(r'(\.file\s+\d+ ")[^"]*/(triton/language/)', r"\1\2", ptx)
    ptx = re.sub(r"\n\t?\.section\t?\.debug.*?\n\t?\}", "", ptx, flags=re.S)
    with open(os.path.join(HERE, name + ".ptx"), "w") as file:
        file.write(ptx.rstrip() + "\n")
    m = compiled.metadata
    facts = {
        "entry": m.name, "threads": 32 * m.num_warps, "shared": m.shared, "tmem": getattr(m, "tmem_size", 0),
        "global_scratch": m.global_scratch_size, "profile_scratch": getattr(m, "profile_scratch_size", 0),
        "cluster": list(m.cluster_dims) if hasattr(m, "cluster_dims") else [1, 1, 1],
        "triton": triton.__version__,
    }
    meta = getattr(m, "tensordesc_meta", None)
    if meta:
        facts["tensordesc"] = [dict(x) if isinstance(x, dict) else x for x in meta]
    reqntid = re.search(r"\.reqntid (\d+)", ptx)
    if reqntid:
        facts["threads"] = int(reqntid.group(1))
    with open(os.path.join(HERE, name + ".meta.json"), "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")
    print(f"{name}: {len(ptx)} bytes, {facts}")


if __name__ == "__main__":
    failed = 0
    for name in sys.argv[1:] or VARIANTS:
        try:
            build(name)
        except Exception as error:  # the others are still of use
            failed = 1
            print(f"{name}: {type(error).__name__}: {str(error)[:1500]}")
    sys.exit(failed)
