"""Compares the manifest of manifest.mlir with what its kernels say."""
import json
import sys

manifest = json.load(open(sys.argv[1]))
kernels = {kernel["name"]: kernel for kernel in manifest["kernels"]}


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: found {json.dumps(found)}, expected {json.dumps(wanted)}")


expect("version", manifest["version"], 1)
expect("kernels", sorted(kernels), ["everything", "plain", "single"])
k = kernels["everything"]
args = {arg["name"]: arg for arg in k["args"]}
expect("argument order", [arg["name"] for arg in k["args"]],
       ["A", "S", "X", "Y", "Z", "tiles_m", "tiles_n", "alpha", "seed"])
expect("A", args["A"], {"name": "A", "kind": "tensor_map", "element": "bf16", "rank": 2, "box": [8, 64],
                        "swizzle": 128, "interleave": 0, "element_strides": [1, 1], "fill": "zero",
                        "l2_promotion": 256, "access": "read"})
expect("S", args["S"], {"name": "S", "kind": "tensor_map", "element": "f32", "rank": 2, "box": [8, 8],
                        "swizzle": 0, "interleave": 0, "element_strides": [2, 1], "fill": "nan",
                        "l2_promotion": 128, "access": "read"})
# A store that promises more alignment than the element's asks it of the array.
expect("X", args["X"], {"name": "X", "kind": "buffer", "element": "f32", "rank": 2, "access": "write", "align": 8})
expect("Y", args["Y"], {"name": "Y", "kind": "buffer", "element": "f16", "rank": 2, "access": "readwrite", "align": 2})
# Sixteen bytes at a time want sixteen bytes of alignment.
expect("Z", args["Z"], {"name": "Z", "kind": "buffer", "element": "i32", "rank": 1, "access": "readwrite", "align": 16})
expect("tiles_m", args["tiles_m"], {"name": "tiles_m", "kind": "scalar", "type": "index", "value": "ceildiv(dim(A, 0), 8)"})
expect("alpha", args["alpha"], {"name": "alpha", "kind": "scalar", "type": "f32"})


def value(text, type="i64"):
    return {"kind": "value", "type": type, "value": text}


expect("params", k["params"], [
    {"kind": "tensor_map", "arg": "A"}, {"kind": "tensor_map", "arg": "S"},
    {"kind": "pointer", "arg": "X"}, value("dim(X, 0)"),
    {"kind": "pointer", "arg": "Y"}, value("dim(Y, 0)"), value("dim(Y, 1)"), value("stride(Y, 0)"),
    {"kind": "pointer", "arg": "Z"},
    value("tiles_m"), value("tiles_n"), value("alpha", "f32"), value("seed", "i32")])
expect("arch", k["arch"], "sm_90a")
expect("grid", k["grid"], ["min(tiles_m * tiles_n, sms())", "1", "1"])
expect("block", k["block"], [96, 1, 1])
expect("cluster", k["cluster"], [1, 1, 1])
expect("pdl", k["pdl"], True)
expect("min_trips", k["min_trips"], {"tiles_m": 1})
if k["dynamic_smem"] < 2 * 8 * 64 * 2 + 2 * 16 + 512:
    sys.exit(f"dynamic_smem: {k['dynamic_smem']} bytes do not hold two stages, four barriers and the scratch")
expect("events", [(event["op"], event["resource"], event["task"]) for event in k["events"]],
       [("acquire", "ring", "load"), ("commit", "ring", "load"), ("wait", "ring", "use"), ("release", "ring", "use")])
for event in k["events"]:
    if "manifest.mlir:" not in event["loc"]:
        sys.exit(f"event {event} has no place in the source")

expect("plain grid", kernels["plain"]["grid"], ["n", "2", "1"])
expect("plain pdl", kernels["plain"]["pdl"], False)
expect("single grid", kernels["single"]["grid"], ["1", "1", "1"])
expect("single block", kernels["single"]["block"], [32, 1, 1])
