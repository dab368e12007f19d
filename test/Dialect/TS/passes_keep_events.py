# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Property: no sequence of upstream passes changes the ordered sequence of a program's protocol
# events and asynchronous ops. Read off the generic form: every ts op that is not pure, with the
# regions it stands in, the resources it names and its label.
# RUN: %python %s %examples %S/ops.mlir %S/ops-work.mlir %S/effects.mlir
import glob
import os
import random
import re
import subprocess
import sys

PASSES = ["canonicalize", "cse", "loop-invariant-code-motion", "sccp", "control-flow-sink",
          "int-range-optimizations"]
ROUNDS = int(os.environ.get("TS_PASS_ROUNDS", "4"))
LENGTH = 6

# Ops without effects may go, merge and move; ops with regions count through what they contain.
# fragment_map and fragment_reduce, like any other arithmetic, are pure.
PURE = {"ts.info", "ts.wgmma_zero", "ts.wgmma_start", "ts.fragment_map", "ts.fragment_reduce", "ts.tmem_view", "ts.yield"}
REGIONS = {"ts.kernel", "ts.task", "ts.for", "ts.tile_loop", "ts.guard", "ts.when", "ts.skippable",
           "ts.elect", "ts.produce", "ts.consume"}
COUNTED_REGIONS = {"ts.kernel", "ts.task", "ts.produce", "ts.consume"}

OP = re.compile(r'^\s*(?:(%\w+)(?::\d+)? = )?"([\w.]+)"\(([^)]*)\)(.*)$')
VALUE = re.compile(r"%\w+")
STRING = re.compile(r'\b(name|label|sym_name|shape|field) = "([^"]*)"')


def events(text):
    """The sequence of (regions around it, op, names of its operands, its own names and enums)."""
    names, path, found, stack = {}, [], [], []
    for line in text.splitlines():
        match = OP.match(line)
        op = None
        if match:
            result, op, operands, rest = match.groups()
            own = tuple(value for _, value in STRING.findall(rest.split(" : ")[0]))
            if result and own:
                names[result] = own[0]
            used = tuple(names[v] for v in VALUE.findall(operands) if v in names)
            kinds = tuple(re.findall(r"#ts<(\w+ \w+)>", rest))
            numbers = tuple(re.findall(r"(\w+ = -?\d+) : i\d+", rest))
            keep = op.startswith("ts.") and op not in PURE
            if keep and (op not in REGIONS or op in COUNTED_REGIONS):
                found.append((tuple(path), op, used, own, kinds, numbers))
        # Regions open at the end of an op's line and close at the start of one.
        if line.lstrip().startswith("})") or line.lstrip().startswith("}, {"):
            if stack and stack.pop():
                path.pop()
        if line.rstrip().endswith("({") and op:
            stack.append(op in REGIONS)
            if op in REGIONS:
                path.append(op)
        elif line.lstrip().startswith("}, {"):
            stack.append(True)
            path.append("else")
    if stack:
        raise RuntimeError("regions do not balance: the reader of the generic form is wrong")
    return found


def run(arguments, source):
    done = subprocess.run(["ts-opt", *arguments, "-mlir-print-op-generic", "-"], input=source,
                          capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"ts-opt {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def difference(before, after):
    for index, (left, right) in enumerate(zip(before, after)):
        if left != right:
            return f"event {index}: was {left}, is {right}"
    return f"{len(before)} events became {len(after)}; first beyond: {(before + after)[min(len(before), len(after))]}"


def check_reader():
    """The reader must see what it is there to see."""
    line = '"ts.{}"(%0) : (!ts.resource) -> ()'
    head = '%0 = "ts.resource"() <{name = "r"}> : () -> !ts.resource\n'
    a, b = line.format("acquire"), line.format("commit")
    base = events(head + a + "\n" + b)
    assert len(base) == 3 and base[1] == ((), "ts.acquire", ("r",), (), (), ()), base
    assert base != events(head + b + "\n" + a), "a swap is not seen"
    assert base != events(head + a), "a loss is not seen"
    inside = '"ts.for"(%0) ({{\n{}\n}}) : () -> ()'
    assert events(head + inside.format(a)) != events(head + a), "a move out of a loop is not seen"


def main():
    check_reader()
    files = []
    for argument in sys.argv[1:]:
        files += sorted(glob.glob(argument + "/*.mlir")) if os.path.isdir(argument) else [argument]
    if not files:
        sys.exit("no input files")
    total = 0
    for path in files:
        with open(path) as handle:
            source = run([], handle.read())
        before = events(source)
        if not before:
            sys.exit(f"{path}: no events found; the reader of the generic form is wrong")
        for seed in range(ROUNDS):
            rng = random.Random(f"{os.path.basename(path)} {seed}")
            flags = ["-" + rng.choice(PASSES) for _ in range(LENGTH)]
            after = events(run(flags, source))
            if after != before:
                sys.exit(f"{path}: {' '.join(flags)} changed the events\n{difference(before, after)}")
        total += len(before)
        print(f"{os.path.basename(path)}: {len(before)} events kept by {ROUNDS} pass sequences")
    print(f"{len(files)} files, {total} events")


main()
