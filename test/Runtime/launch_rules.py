# RUN: %python %s %t %fake_driver
# A launch that breaks a rule is refused with one sentence and exit status 1; the command line too.
import json
import os
import sys

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
sys.path.insert(0, INPUTS)
from rt import Tool  # noqa: E402

tool = Tool(sys.argv[1], sys.argv[2])
GEMM = json.load(open(os.path.join(INPUTS, "gemm.json")))


def dry(manifest, *args):
    json.dump(manifest, open("m.json", "w"))
    return tool.run("--manifest", "m.json", "--dry-run", *args)


def arrays(a="128x64", b="256x64", d="128x256"):
    return ["--array", "A=" + a, "--array", "B=" + b, "--array", "D=" + d]


def with_arg(index, **fields):
    manifest = json.loads(json.dumps(GEMM))
    manifest["kernels"][0]["args"][index].update(fields)
    return manifest


def with_kernel(**fields):
    manifest = json.loads(json.dumps(GEMM))
    manifest["kernels"][0].update(fields)
    return manifest


RULE = "ts-run: error: [TS503] "
MAP_A = RULE + "tensor map of 'A': "
CASES = [
    (GEMM, arrays(a="128x65"), MAP_A + "row stride 0 is 65 x 2 = 130 bytes, and TMA needs a multiple of 16 bytes; pad the rows, e.g. --array A=128x65:stride0=72"),
    (GEMM, arrays(a="128x64:stride0=68"), MAP_A + "row stride 0 is 68 x 2 = 136 bytes, and TMA needs a multiple of 16 bytes; pad the rows, e.g. --array A=128x64:stride0=72"),
    (GEMM, arrays(d="128x254"), RULE + "tensor map of 'D': row stride 0 is 254 x 4 = 1016 bytes, and TMA needs a multiple of 16 bytes; pad the rows, e.g. --array D=128x254:stride0=256"),
    (GEMM, arrays(a="128x64:offset=8"), MAP_A + "the array begins 8 bytes after an aligned address, no multiple of 16"),
    (GEMM, arrays(a="128x64:stride1=2:stride0=128"), MAP_A + "the innermost dimension has stride 2, TMA needs it contiguous"),
    (with_arg(0, box=[128, 128]), arrays(), MAP_A + "the innermost box dimension is 128 x 2 = 256 bytes, more than the 128 of its swizzle"),
    (with_arg(0, box=[128, 60]), arrays(), MAP_A + "the innermost box dimension is 60 x 2 = 120 bytes, no multiple of 16"),
    (with_arg(0, interleave=16, swizzle=0), arrays(), MAP_A + "interleave 16 needs rank 3 or more, found 2"),
    (with_arg(0, element="f4e2m1", box=[128, 256]), arrays(a="128x80"), MAP_A + "row stride 0 is 80 x 4 bits = 40 bytes, and TMA needs a multiple of 16 bytes; pad the rows, e.g. --array A=128x80:stride0=96"),
    (with_arg(0, element="f4e2m1", box=[128, 256], swizzle=64), arrays(a="128x64"), MAP_A + "the innermost box dimension is 256 x 4 bits = 128 bytes, more than the 64 of its swizzle"),
    (with_arg(0, element="f4e2m1", box=[128, 256]), arrays(a="128x65:stride0=96"), MAP_A + "the innermost dimension is 65 x 4 bits, and TMA needs whole bytes"),
    (GEMM, arrays(a="4294967297x64:stride0=64", b="256x64"), MAP_A + "dimension 0 is 4294967297, more than 2^32"),
    (with_kernel(min_trips={"tiles_k": 2}), arrays(), RULE + "'tiles_k' is 1, but 'gemm' is only right for 2 or more"),
    (with_kernel(grid=["tiles_m - 2", "1", "1"]), arrays(), RULE + "grid dimension 0 = tiles_m - 2 is -1, expected 0 to 2147483647"),
    (with_kernel(grid=["1", "70000", "1"]), arrays(), RULE + "grid dimension 1 = 70000 is 70000, expected 0 to 65535"),
    (with_kernel(cluster=[2, 1, 1]), arrays(), RULE + "grid dimension 0 = min(tiles_m * tiles_n, sms()) is 1, no multiple of the cluster's 2"),
    (with_arg(3, type="i8", value="dim(A, 0) + 1"), arrays(), RULE + "scalar 'tiles_m' = dim(A, 0) + 1 is 129, which does not fit i8"),
    (with_arg(3, type="i1", value="dim(A, 0)"), arrays(), RULE + "scalar 'tiles_m' = dim(A, 0) is 128, which does not fit i1"),
    (with_kernel(params=[{"kind": "value", "type": "i1", "value": "2"}]), arrays(), RULE + "parameter 0 = 2 is 2, which does not fit i1"),
    (with_kernel(params=[{"kind": "value", "type": "i32", "value": "dim(A, 0) * 100000000"}]), arrays(), RULE + "parameter 0 = dim(A, 0) * 100000000 is 12800000000, which does not fit i32"),
    (GEMM, arrays()[:4], RULE + "array 'D' is missing; give it with --array D=..."),
    (GEMM, arrays(a="128"), RULE + "array 'A' is 128, but 'gemm' takes an array of rank 2"),
    (GEMM, arrays(a="128x64:stride0=32"), "ts-run: error: array 'A': stride 0 is 32 elements, so elements overlap; it has to be 64 or more"),
    (GEMM, arrays(a="9223372036854775807x64"), "ts-run: error: array 'A' of 9223372036854775807x64 elements does not fit memory"),
    (GEMM, arrays(a="128x64:stride2=8"), "ts-run: error: --array A: there is no dimension 2 in 128x64"),
    (GEMM, arrays(a="ints(3)"), "ts-run: error: --array A: there is no shape; give one, e.g. --array A=128x64"),
    (GEMM, arrays(d="128x256:zeros"), "ts-run: error: --array D: 'gemm' only writes this array, so it takes no values, unless its "
     "--check names what it held before, as in 'D = where(A > 0, A, D)'"),
    (GEMM, arrays(a="128x64:foo"), "ts-run: error: --array A=128x64:foo: 'foo' is no shape (128x64), @FILE.npy, normal(SEED), ints(SEED), zeros, ones, full(VALUE), values(A, ..), magnitudes, strideN=ELEMENTS or offset=BYTES"),
    (GEMM, arrays() + ["--init", "values(1)"], "ts-run: error: --init values(1): expected normal, ints, zeros, ones or full(VALUE)"),
    (GEMM, arrays() + ["--array", "E=2x2"], "ts-run: error: --array E: 'gemm' has no such array; it takes A, B, D"),
    (GEMM, arrays() + ["--array", "E"], "ts-run: error: --array E: expected NAME=SHAPE, NAME=@FILE.npy or the like"),
    (GEMM, arrays() + ["--scalar", "tiles_k=3"], "ts-run: error: --scalar tiles_k: 'tiles_k' is derived, as ceildiv(dim(A, 1), 64)"),
    (GEMM, arrays() + ["--scalar", "beta=3"], "ts-run: error: --scalar beta: 'gemm' has no such scalar; it takes none"),
    (GEMM, arrays() + ["--out", "E=x.npy"], "ts-run: error: --out E: 'gemm' has no such array; it takes A, B, D"),
    (GEMM, arrays() + ["--kernel", "conv"], "ts-run: error: the manifest has no kernel 'conv'; it has gemm"),
    (GEMM, arrays() + ["--device", "tpu"], "ts-run: error: --device tpu: expected cuda or emulator"),
    (GEMM, arrays() + ["--repeat", "x"], "ts-run: error: --repeat x: expected an integer of 0 or more"),
    (GEMM, arrays() + ["--repeat"], "ts-run: error: --repeat wants a value"),
    (GEMM, arrays() + ["--init", "random"], "ts-run: error: --init random: expected normal, ints, zeros, ones or full(VALUE)"),
    (GEMM, arrays() + ["--frobnicate"], "ts-run: error: unknown option '--frobnicate'; --help lists them"),
    (GEMM, arrays() + ["a.ptx", "b.ptx"], "ts-run: error: there are two kernel files, 'a.ptx' and 'b.ptx'"),
]
rc, out, err = dry(GEMM, *arrays())
tool.expect("unchanged", rc == 0, (rc, out, err))
for manifest, args, message in CASES:
    rc, out, err = dry(manifest, *args)
    tool.expect(args, (rc, out, err) == (1, "", message + "\n"), (rc, out, err))

# A kernel that is not launched runs no loop, so its minimum does not matter.
rc, out, err = dry(with_kernel(min_trips={"tiles_k": 2}), *arrays(a="0x64", d="0x256"))
tool.expect("empty grid", rc == 0, (rc, out, err))
# A single row has no stride to keep a rule.
rc, out, err = dry(GEMM, *arrays(a="1x65", b="256x72", d="1x256"))
tool.expect("one row", rc == 0 and "sizes [65, 1], strides [144] bytes" in out, (rc, out, err))

SCALE = ["--manifest", os.path.join(INPUTS, "scale.json"), "--dry-run", "--array", "Y=3000"]
for args, message in [
    (["--array", "X=3000"], RULE + "scalar 'alpha' of type f32 has no value; give one with --scalar alpha=..."),
    (["--array", "X=3000", "--scalar", "alpha=x"], "ts-run: error: --scalar alpha: 'x' is no number"),
    (["--array", "X=3000", "--scalar", "alpha"], "ts-run: error: --scalar alpha: expected NAME=VALUE"),
    (["--array", "X=3000", "--scalar", "alpha=1", "--scalar", "alpha=2"], "ts-run: error: --scalar alpha=2: 'alpha' is given twice"),
    (["--array", "X=3000:offset=4", "--scalar", "alpha=1"], RULE + "array 'X' begins 4 bytes after an aligned address, but 'scale' needs it aligned to 16 bytes"),
    (["--array", "X=3000:stride0=2", "--scalar", "alpha=1"], RULE + "array 'X' has gaps between its rows, but 'scale' takes it without: no parameter passes its strides"),
    (["--array", "X=1000", "--scalar", "alpha=1"], RULE + "'steps' is 1, but 'scale' is only right for 2 or more"),
]:
    rc, out, err = tool.run(*SCALE, *args)
    tool.expect(args, (rc, out, err) == (1, "", message + "\n"), (rc, out, err))

for args, message in [
    ([], "there is no kernel file; --help shows the usage"),
    (["-"], "a kernel from the standard input needs --manifest"),
    (["-", "--manifest", "-"], "the kernel and the manifest cannot both be the standard input"),
    (["x/gemm.ptx"], "[TS502] the launch manifest x/gemm.json: cannot be read: No such file or directory"),
    (["./gemm"], "[TS502] the launch manifest ./gemm.json: cannot be read: No such file or directory"),
]:
    rc, out, err = tool.run(*args)
    tool.expect(args, (rc, out, err) == (1, "", f"ts-run: error: {message}\n"), (rc, out, err))
rc, out, err = tool.run("--version")
tool.expect("version", rc == 0 and out.startswith("ts-run 0."), out)
rc, out, err = tool.run("--help")
tool.expect("help", rc == 0 and out.startswith("usage: ts-run") and "examples:" in out, out)
tool.done()
