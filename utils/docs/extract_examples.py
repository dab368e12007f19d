#!/usr/bin/env python3
"""Prints every ```mlir example of the TableGen descriptions and hand-written documents as one input
for `ts-opt --split-input-file`, so that a test parses what the documentation shows.

An example is a whole module, or a fragment: one that starts with `ts.` or `%` is put into a kernel,
`#` into a module's attributes, `!` into a function type. A fragment may use `%A`, a bf16 tensor map
with boxes of 128x64, as the kernel's argument. A block that is not meant to parse is
tagged otherwise (``` alone). Each example is preceded by a comment with its file and line.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import glob
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ["include/ts/**/*.td", "README.md", "docs/*.md", "docs/guides/**/*.md"]


def first_code(text):
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("//"):
            return line.lstrip()
    return ""


def wrap(text):
    start = first_code(text)
    if start.startswith("ts.kernel"):
        return 'gpu.module @example attributes {ts.chip = "sm_100a"} {\n' + textwrap.indent(text, "  ") + "}\n"
    if start.startswith(("ts.", "%")):
        argument = ""
        if "%A" in text and not re.search(r"%A\s*=", text):
            argument = "%A: !ts.tensor_map<?x?xbf16, box = 128x64, swizzle = 128>"
        return ('gpu.module @example attributes {ts.chip = "sm_100a"} {\n'
                "  ts.kernel @example(" + argument + ") warps(8) {\n" + textwrap.indent(text, "    ") + "  }\n}\n")
    if start.startswith("#"):
        return "module attributes {example.attribute = " + text.strip() + "} {}\n"
    if start.startswith("!"):
        return "func.func private @example(" + text.strip() + ")\n"
    return text


def examples(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(r"^([ \t]*)```mlir\n(.*?)^[ \t]*```", text, flags=re.M | re.S):
        line = text.count("\n", 0, match.start(2)) + 1
        yield line, textwrap.dedent(match.group(2))


def main():
    blocks = []
    for pattern in SOURCES:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            name = os.path.relpath(path, ROOT)
            blocks += [f"// example of {name}:{line}\n{wrap(text)}" for line, text in examples(path)]
    if not blocks:
        sys.exit("error: no ```mlir example found")
    print("\n// -----\n\n".join(blocks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
