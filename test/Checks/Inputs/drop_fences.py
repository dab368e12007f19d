"""Writes the examples once for each proxy fence, and each meeting behind one, that is left out.

Usage: drop_fences.py EXAMPLE... Prints modules for --split-input-file, a comment line with their
number last.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

mutants = []
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for i, line in enumerate(lines):
        if line.strip() != "ts.fence proxy_async_shared":
            continue
        assert lines[i + 1].strip() == "ts.warp_sync"
        for drop in (i, i + 1):
            mutants.append("\n".join(lines[:drop] + lines[drop + 1:]))
print("\n// -----\n".join(mutants))
print(f"// {len(mutants)} mutants")
