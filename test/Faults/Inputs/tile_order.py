"""Evaluates the tile loop of lowered kernels (standard input): every tile exactly once, on many grids.

Reads only what the decode is made of: integer arithmetic between the head of the loop and the store
that takes the coordinates. Anything else that the coordinates depend on is an error.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import itertools
import re
import sys

OPS = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "minui": min,
    "shrui": lambda a, b: a >> b,
}


def evaluate(lines, values):
    for line in lines:
        match = re.match(r"\s*(%\S+) = (\S+) (.*?)(?: :.*)?$", line)
        if not match:
            continue
        result, op, rest = match.groups()
        if op == "arith.constant" and re.fullmatch(r"-?\d+", rest):
            values[result] = int(rest)
            continue
        operands = [values.get(name) for name in re.findall(r"%[\w-]+", rest)]
        if None in operands or not op.startswith("arith."):
            continue
        op = op[len("arith.") :]
        if op == "index_cast":
            values[result] = operands[0]
        elif op == "select":
            values[result] = operands[1] if operands[0] else operands[2]
        elif op == "cmpi" and rest.startswith("ult"):
            values[result] = operands[0] < operands[1]
        elif op in OPS:
            values[result] = OPS[op](*operands)


def check(name, text):
    lines = text.splitlines()
    loop = next(i for i, line in enumerate(lines) if "scf.for" in line)
    store = next(i for i, line in enumerate(lines) if "memref.store" in line)
    iv, begin, end, step = re.search(r"scf.for (\S+) = (\S+) to (\S+) step (\S+)", lines[loop]).groups()
    coordinates = re.findall(r"%[\w-]+", re.search(r"\[(.*?)\]", lines[store]).group(1))
    sizes = re.findall(r"(%arg\d+): i64", lines[0])[-len(coordinates) :]
    grids = 0
    for tiles in itertools.product((1, 2, 3, 5, 8, 12, 17), repeat=len(coordinates)):
        for ctas in (1, 3):
            seen = []
            for cta in range(ctas):
                values = dict(zip(sizes, tiles))
                for line in lines[:loop]:
                    if "sreg.ctaid.x" in line or "sreg.nctaid.x" in line:
                        values[line.split("=")[0].strip()] = ctas if "nctaid" in line else cta
                    evaluate([line], values)
                for tile in range(values[begin], values[end], values[step]):
                    inner = dict(values, **{iv: tile})
                    evaluate(lines[loop + 1 : store], inner)
                    seen.append(tuple(inner[c] for c in coordinates))
            wanted = list(itertools.product(*(range(n) for n in tiles)))
            if sorted(seen) != wanted:
                sys.exit(f"{name}: grid {tiles} of {ctas} CTAs: {len(seen)} visits of {len(set(seen))} tiles")
            grids += 1
    return grids


def main():
    kernels = re.split(r"gpu\.func @", sys.stdin.read())[1:]
    for kernel in kernels:
        name = kernel.split("(")[0]
        print(f"{name}: {check(name, kernel)} grids, every tile once")
    if len(kernels) != 3:
        sys.exit(f"expected 3 kernels, found {len(kernels)}")


if __name__ == "__main__":
    main()
