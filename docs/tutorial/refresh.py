# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renews what the pages show of the programs: their text, what they print, and what a mistake makes them print.

    PYTHONPATH=build/python python docs/tutorial/refresh.py [--check]

In a page, `<!-- program step1.py -->` is followed by the program, `<!-- prints step1.py 2 -->` by the first two lines
that it prints, and `<!-- mistake step1.py 4 -->` by a diff of whole lines, written by hand, and four lines of the
exception that the changed program ends with (all of them without a number). test/python/test_tutorial.py compares.
Not a part of the tutorial.
"""
import difflib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = re.compile(r"(<!-- program (\S+) -->\n```python\n)(.*?)(```\n)", re.DOTALL)
PRINTS = re.compile(r"(<!-- prints (\S+) (\d+) -->\n```text\n)(.*?)(```\n)", re.DOTALL)
MISTAKE = re.compile(r"(<!-- mistake (\S+)(?: (\d+))? -->\n```diff\n(.*?)```\n.*?```text\n)(.*?)(```\n)", re.DOTALL)


def pages():
    """The pages of the steps, in order."""
    return sorted(HERE.glob("step*.md"))


def changed(name, diff):
    """The text of a program with a diff of whole lines applied: '-' is there once and goes, '+' comes in its place."""
    lines = diff.splitlines()
    old = "".join(line[1:] + "\n" for line in lines if not line.startswith("+"))
    new = "".join(line[1:] + "\n" for line in lines if not line.startswith("-"))
    text = (HERE / name).read_text()
    if text.count(old) != 1:
        raise ValueError(f"{name} has the lines of the mistake {text.count(old)} times, expected once:\n{old}")
    return text.replace(old, new)


def run(name, text=None):
    """Exit status and lines of a program; of one that fails, the exception at its end. Places are 'step1.py:12'."""
    with tempfile.TemporaryDirectory() as folder:
        for program in HERE.glob("step*.py"):
            shutil.copy(program, folder)
        if text is not None:
            pathlib.Path(folder, name).write_text(text)
        package = pathlib.Path(importlib.util.find_spec("mlir_ts").origin).absolute().parents[1]
        done = subprocess.run([sys.executable, name], cwd=folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": str(package)})
        told = done.stdout + done.stderr if done.returncode == 0 else done.stderr
        told = told.replace(folder + "/", "")
    if done.returncode:
        start = re.search(r"^[\w.]+(Error|Fault): ", told, re.MULTILINE)
        told = told[start.start():] if start else told
    told = re.sub(r"(\.py:\d+):0:", r"\1:", told)  # there are no columns
    told = re.sub(r" +\([\d.]+ ms\)", "", told)
    told = re.sub(r"PTX line \d+", "PTX line ...", told)
    return done.returncode, told.splitlines()


def shown(lines, count):
    """The first lines, and '...' where some are left out."""
    count = int(count) if count else len(lines)
    return "".join(line.rstrip() + "\n" for line in [*lines[:count], *(["..."] if count < len(lines) else [])])


def expect(fails, name, text=None):
    """What a program prints that works, or fails with an exception of mlir_ts."""
    status, lines = run(name, text)
    if bool(status) != fails or fails and not lines[0].startswith("mlir_ts.errors."):
        what = f"{name} {'with its mistake' if fails else 'as it is'}"
        raise RuntimeError(f"{what} ended with {status}:\n" + "\n".join(lines))
    return lines


def renew(text):
    """The page as it should be."""
    text = PROGRAM.sub(lambda m: m[1] + (HERE / m[2]).read_text() + m[4], text)
    text = PRINTS.sub(lambda m: m[1] + shown(expect(False, m[2]), m[3]) + m[5], text)
    return MISTAKE.sub(lambda m: m[1] + shown(expect(True, m[2], changed(m[2], m[4])), m[3]) + m[6], text)


def drift(page):
    """What is not as it should be in a page, as a diff; '' if nothing is."""
    old, new = page.read_text(), renew(page.read_text())
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), page.name, "renewed"))


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        found = "".join(map(drift, pages()))
        print(found, end="")
        sys.exit(bool(found))
    for each in pages():
        each.write_text(renew(each.read_text()))
