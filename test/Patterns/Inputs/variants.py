#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong variants of an example: each is refused with the check that it breaks.

A test file holds, beside its RUN line,

  example ping_pong.mlir [KERNEL]     what the following variants change (in that kernel only)
  list ping_pong.list                 where the arrays of its runs stand
  variant TS301 [emulator]: WHAT      starts a variant
  says TEXT                           part of an error of this check
  = line                              a hunk: lines that stay, go and come, found by their text without
  - line                              indentation; it has to fit exactly one place; `...` starts
  + line                              another hunk

The example itself has to be accepted. A variant can also be `unknown`: not refuted, but not proven.
With `emulator` the variant is also compiled unverified, and has to fail in the emulator under one of a
few schedules: what is forbidden does go wrong.
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Emulator"))
import schedules  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PIPELINE = ("builtin.module(gpu.module(ts-verify-structure,ts-verify-protocol,ts-allocate,"
            "ts-prove{summary=true timing=false}))")


class Variant:
    def __init__(self, example, kernel, runs, check, emulator, what):
        self.example, self.kernel, self.runs = example, kernel, runs
        self.check, self.emulator, self.what = check, emulator, what
        self.says, self.hunks = "", [[]]


def read(path):
    variants, example, kernel, runs = [], "", "", ""
    for number, line in enumerate(open(path), 1):
        line = line.strip()
        word, _, rest = line.partition(" ")
        match = re.fullmatch(r"variant (TS\d+|unknown)( emulator)?: (.+)", line)
        if match:
            variants.append(Variant(example, kernel, runs, match.group(1), bool(match.group(2)), match.group(3)))
        elif word == "example":
            example, _, kernel = rest.partition(" ")
        elif word == "list":
            runs = rest
        elif word == "says" and variants:
            variants[-1].says = rest
        elif word == "..." and variants:
            variants[-1].hunks.append([])
        elif word in ("=", "-", "+") and variants:
            variants[-1].hunks[-1].append((word, rest.strip()))
        elif variants and line and not line.startswith("#"):
            sys.exit(f"error: {path}:{number}: cannot read '{line}'")
    return variants


def apply(lines, variant):
    """The example's lines with the hunks applied, each at the one place that it fits."""
    first, last = 0, len(lines)
    if variant.kernel:
        first = next(i for i, line in enumerate(lines) if re.match(rf"\s*ts.kernel @{variant.kernel}\b", line))
        last = next((i for i in range(first + 1, last) if re.match(r"\s*ts.kernel @", lines[i])), last)
    for hunk in variant.hunks:
        old = [text for sign, text in hunk if sign != "+"]
        fits = [i for i in range(first, last) if [line.strip() for line in lines[i:i + len(old)]] == old]
        if len(fits) != 1:
            sys.exit(f"error: '{variant.what}': a hunk fits {len(fits)} places:\n" + "\n".join(old))
        new, at = [], fits[0]
        for sign, text in hunk:
            if sign == "+":
                new.append("      " + text + "\n")
            else:
                new += [lines[at]] if sign == "=" else []
                at += 1
        lines = lines[:fits[0]] + new + lines[at:]
        last += len(new) - len(old)
    return lines


def fails_in_emulator(args, variant, path):
    base = os.path.join(args.work, "variant")
    arch = re.search(r'ts.chip = "(\w+)"', open(path).read()).group(1)
    command = [os.path.join(args.bin, "ts-compile"), path, "--verify=off", "--arch=" + arch, "-o", base + ".ptx"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return "does not compile unverified:\n" + done.stderr
    for kernel in schedules.read_list(os.path.join(ROOT, "utils", "gpu", "lists", variant.runs)):
        if variant.kernel and variant.kernel not in kernel.name.split(","):
            continue
        for shape in kernel.shapes:
            for schedule in ("fair", "random:1-5", "adversarial"):
                command = [os.path.join(args.bin, "ts-run"), base + ".ptx", "--init", "ints", "--check",
                           kernel.check, "--schedule", schedule, "--timeout", "20"]
                command += ["--exact"] if kernel.exact else []
                command += ["--kernel", kernel.name] if kernel.name else []
                command += schedules.array_options(kernel, shape)
                if subprocess.run(command, capture_output=True, text=True).returncode == 1:
                    return ""
    return "runs without a fault in the emulator"


def judge(args, variant, path):
    """What is wrong with how a variant is refused, or ""."""
    command = [os.path.join(args.bin, "ts-opt"), "--pass-pipeline=" + PIPELINE, path, "-o", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True)
    errors = re.findall(r"error: (.*)", done.stderr)
    if variant.check == "unknown":
        verdict = re.search(r"^\w+: unknown: (.*)", done.stdout, re.M)
        said = verdict and variant.says and variant.says in verdict.group(1)
        return "" if said else "is not unknown for the reason given:\n" + done.stdout + done.stderr
    if done.returncode == 0 or not errors:
        return "is accepted:\n" + done.stdout
    errors = [e for e in errors if f"[{variant.check}] " in e]
    if not errors:
        return "is refused with another check:\n" + done.stderr
    if not variant.says or not any(variant.says in e for e in errors):
        return f"is refused in other words than '{variant.says}':\n" + "\n".join(errors)
    return fails_in_emulator(args, variant, path) if variant.emulator else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    variants, failed = read(args.test), 0
    for example in sorted({v.example for v in variants}):
        path = os.path.join(ROOT, "examples", "patterns", example)
        command = [os.path.join(args.bin, "ts-opt"), "--pass-pipeline=" + PIPELINE, path, "-o", os.devnull]
        if subprocess.run(command, capture_output=True).returncode != 0:
            print(f"FAIL {example} is refused itself")
            failed += 1
    for number, variant in enumerate(variants):
        lines = open(os.path.join(ROOT, "examples", "patterns", variant.example)).readlines()
        path = os.path.join(args.work, f"{number}.mlir")
        with open(path, "w") as file:
            file.writelines(apply(lines, variant))
        wrong = judge(args, variant, path)
        failed += bool(wrong)
        print(f"{'FAIL' if wrong else 'PASS'} {variant.check} {variant.what}" + (f": {wrong}" if wrong else ""))
    print(f"{len(variants)} variants, {failed} failed")
    sys.exit(0 if variants and not failed else 1)


if __name__ == "__main__":
    main()
