#!/usr/bin/env python3
"""The file-size rule: prints files that want to be two, fails on those over 800 lines without a reason.

A .cpp, .td, .py or .mlir over 500 lines or a .h over 300 is named; over 800 lines the first 30 must
say why, as `size: REASON`. Looks at tracked files only; generated documents and reference data are
exempt.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import subprocess
import sys

SOFT = {"h": 300, "cpp": 500, "td": 500, "py": 500, "mlir": 500, "def": 500, "sh": 500}
HARD = 800
EXEMPT = ("test/cases/", "docs/generated/")


def main():
    names = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout
    offenders = 0
    for name in names.splitlines():
        suffix = name.rsplit(".", 1)[-1]
        if suffix not in SOFT or name.startswith(EXEMPT):
            continue
        try:
            with open(name, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except FileNotFoundError:  # deleted in the work tree, not yet committed
            continue
        if len(lines) <= SOFT[suffix]:
            continue
        reason = re.search(r"size: (.+)", "\n".join(lines[:30]))
        if len(lines) > HARD and not reason:
            offenders += 1
            print(f"{name}: {len(lines)} lines; split it, or give the reason as `size: ...` in its header")
        else:
            print(f"note: {name}: {len(lines)} lines" + (f" (size: {reason.group(1)})" if reason else ""))
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main())
