"""Every check of layers 1 and 2 and of the emulator has a test that expects its message, and a page that shows both.

Usage: every_check.py SOURCE_ROOT. Prints what is missing; fails if anything is. That the tests pass
is the suite's, that the pages are current is `scripts/docs --check`.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re
import sys

root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "utils", "docs"))
import gen_docs  # noqa: E402  (needs the path above)

LAYERS = list(range(101, 115)) + list(range(215, 234)) + list(range(701, 719))
folder = os.path.join(root, "test", "Checks")
with open(os.path.join(root, "docs", "generated", "checks.md"), encoding="utf-8") as file:
    pages = {int(part[:3]): part for part in re.split(r'^### <a id="ts', file.read(), flags=re.M)[1:]}

missing = []
ids = [check[0] for check in gen_docs.read_checks() if check[0] < 300 or check[0] > 700]
if ids != LAYERS:
    missing.append(f"Checks.def has {ids}, expected {LAYERS}")
for check in ids:
    tag = f"[TS{check}]"
    path = os.path.join(folder, f"TS{check}.{'mlir' if check < 700 else 'ptx'}")
    if not os.path.exists(path):
        missing.append(f"TS{check}: no {os.path.relpath(path, root)}")
    else:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if not any(tag in line and re.match(r"\s*// *(expected-|[A-Z-]+:)", line) for line in lines):
            missing.append(f"TS{check}: its test expects no message with {tag}")
        if not any(line.startswith("// RUN:") for line in lines):
            missing.append(f"TS{check}: its test runs nothing")
    page = pages.get(check, "")
    for what in (tag, "```\n"):
        if what not in page:
            missing.append(f"TS{check}: its page in docs/generated/checks.md lacks {what}; run scripts/docs")
for name in sorted(os.listdir(folder)):
    match = re.match(r"TS(\d+)", name)
    if match and not 300 <= int(match.group(1)) < 700 and int(match.group(1)) not in ids:
        missing.append(f"{name}: no such check in Checks.def")
print("\n".join(missing) or f"{len(ids)} checks, all with test and page")
sys.exit(bool(missing))
