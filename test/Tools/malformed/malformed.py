"""Malformed inputs never crash or hang the tools, and are never accepted with a broken result.

Each input goes through `ts-opt --ts-verify` and `ts-compile` to PTX. A run fails when the tool dies by
a signal, takes longer than the limit, refuses without an `error:`, or accepts and writes something
that is no module, no PTX or no manifest. A mutated program may still be right: exit 0 alone is fine.

RUN: %python %s --seed 20261129 --count 216 --work %t %examples/*.mlir
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys

import mutate

LIMIT = 30  # seconds for one run; a GEMM compiles in under one
CRASH = re.compile(r"LLVM ERROR|Stack dump|PLEASE submit a bug report|Assertion .* failed|terminate called")


class Fault(Exception):
    """What a tool did wrong, as one sentence."""


def run(command):
    try:
        result = subprocess.run(command, capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        raise Fault(f"hangs: still running after {LIMIT} s") from None
    text = result.stderr.decode(errors="replace")
    if result.returncode < 0 or result.returncode >= 128:
        raise Fault(f"died with status {result.returncode}: {text[-400:]}")
    if CRASH.search(text):
        raise Fault(f"crashed inside: {text[-400:]}")
    # What is too large to be judged is neither right nor wrong: a warning, and a status of its own.
    unjudged = result.returncode == 3 and "warning: [TS301] not checked to the end" in text
    if result.returncode != 0 and not unjudged and "error:" not in text:
        raise Fault(f"exit status {result.returncode} without an error: {text[-400:]!r}")
    return result.returncode


def check_opt(path):
    output = path + ".opt.mlir"
    status = run(["ts-opt", "--ts-verify", path, "-o", output])
    if status == 0:
        try:
            again = run(["ts-opt", output, "-o", os.devnull])
        except Fault as fault:
            raise Fault(f"its output {fault}") from None
        if again != 0:
            raise Fault("accepts the input and prints a module that does not parse")
    return status


def check_compile(path):
    base = os.path.splitext(path)[0]
    status = run(["ts-compile", path, "-o", base + ".ptx"])
    if status not in (0, 1, 2, 3, 4):
        raise Fault(f"exit status {status} is none of 0 to 4")
    if status == 0:
        with open(base + ".ptx", encoding="utf-8") as file:
            ptx = file.read()
        if not re.search(r"^\.version \d", ptx, re.M) or ptx.count("{") != ptx.count("}"):
            raise Fault("accepts the input and writes broken PTX")
        with open(base + ".json", encoding="utf-8") as file:
            kernels = json.load(file)["kernels"]
        missing = [k["name"] for k in kernels if f".entry {k['name']}(" not in ptx]
        if missing:
            raise Fault(f"the manifest names {missing}, the PTX has no such entry")
    return status


def check(path):
    """The faults of both tools on one input, and whether either accepted it."""
    faults, accepted = [], False
    for tool, function in (("ts-opt", check_opt), ("ts-compile", check_compile)):
        try:
            accepted |= function(path) == 0
        except (Fault, OSError, ValueError, KeyError) as fault:
            faults.append(f"{tool} on {path}: {fault}")
    return faults, accepted


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--work", required=True, help="folder for the inputs; they stay for a look")
    parser.add_argument("examples", nargs="+")
    args = parser.parse_args()

    shutil.rmtree(args.work, ignore_errors=True)
    os.makedirs(args.work)
    examples = []
    for path in sorted(args.examples):
        with open(path, "rb") as file:
            examples.append((os.path.splitext(os.path.basename(path))[0], file.read()))
    paths = []
    for name, data in mutate.inputs(random.Random(args.seed), examples, args.count):
        paths.append(os.path.join(args.work, name + ".mlir"))
        with open(paths[-1], "wb") as file:
            file.write(data)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, paths))
    faults = [fault for found, _ in results for fault in found]
    accepted = sum(ok for _, ok in results)
    print("\n".join(faults))
    print(f"{len(paths)} inputs, {accepted} of them still right, {len(faults)} faults")
    # All accepted would mean that the mutations no longer reach the programs.
    return 1 if faults or accepted > len(paths) * 3 // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
