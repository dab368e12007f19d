# RUN: %python %s %ts_src %ts_bin
# The steady-state model against what can be said without it: shares by stage count equal the ratio of
# the cycle times of programs that really have so many stages; one ring with one user on each side obeys
# the textbook law; a ring that is released only after the loop needs as many stages as iterations.
import json
import os
import re
import subprocess
import sys

root, bin_dir = sys.argv[1:]


def model(text, kernel=0):
    run = subprocess.run([os.path.join(bin_dir, "ts-compile"), "-", "--arch=sm_100a", "--report=json", "--verify-only"],
                         input=text, capture_output=True, text=True)
    return json.loads(run.stdout)["kernels"][kernel]["model"]


gemm = open(os.path.join(root, "examples", "gemm_sm100.mlir")).read()
staged = {s: model(re.sub(r"stages = 4", "stages = %d" % s, gemm)) for s in (1, 2, 3, 4, 5)}
full = min(m["cycles"] for m in staged.values())
ring = next(r for r in staged[4]["rings"] if r["resource"] == "smem_ab")
assert ring["declared"] == 4 and ring["waiter"] == "mma" and ring["deadlock_free"] == 1
for rate in ring["rates"]:
    really = full / staged[rate["stages"]]["cycles"]
    assert abs(rate["share"] - really) < 0.005, (rate, really)
assert ring["full_rate"] == min(s for s, m in staged.items() if m["cycles"] <= full / 0.995)
# Slower with fewer stages, and then the ring is what is critical.
assert staged[1]["cycles"] > staged[2]["cycles"] > staged[3]["cycles"]
assert staged[1]["critical_rings"] == ["smem_ab"] and not staged[5]["critical_rings"]
# 128 x 128 x 64 bf16: 256 cycles of the tensor core against 512 of 32 KiB through the copy unit.
units = {u["name"]: u["busy"] for u in staged[5]["units"]}
assert abs(units["tma load"] - 1) < 0.01 and abs(units["tensor core"] - 0.5) < 0.01, units

copy = open(os.path.join(root, "examples", "copy_tma.mlir")).read()
one = next(r for r in model(copy)["rings"] if r["resource"] == "smem_tile")
# Round trip over stages: with S stages, S tiles are on their way.
first = one["rates"][0]["share"]
for rate in one["rates"]:
    assert abs(rate["share"] - min(1, rate["stages"] * first)) < 0.005, one

late = """
gpu.module @m {
  ts.kernel @late(%%n: index) warps(2) {
    %%c0 = arith.constant 0 : index
    %%e = arith.constant %d : index
    %%ab = ts.resource "ab" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.task "fill" warps(0, 1) writes(%%ab) {
      ts.for %%k = %%c0 to %%e {
        ts.acquire %%ab
        ts.produce %%ab "fill" declared
        ts.commit %%ab
      }
    }
    ts.task "drain" warps(1, 1) reads(%%ab) {
      ts.for %%k = %%c0 to %%e {
        ts.wait %%ab
        ts.consume %%ab "take" declared
      }
      ts.for %%j = %%c0 to %%e {
        ts.release %%ab
      }
    }
  }
}
"""
for trips in (3, 6):
    dead = model(late % trips)
    assert dead["deadlock"] and dead["cycles"] is None and dead["critical_rings"] == ["ab"], dead
    assert dead["rings"][0]["deadlock_free"] == trips and dead["rings"][0]["share"] == 0, dead
