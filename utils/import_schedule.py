#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns a schedule file (YAML; schema in test/cases/README.md) into `ts` text whose work has no bodies.

Such a program verifies and is proven like any other; the lowering asks for the bodies. What ts text cannot
say is an error or a note, never dropped. Example:

  utils/import_schedule.py test/cases/schedules/03_gemm_simple_fp16.yaml -o gemm.mlir --min-trips 1
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from schedule_import import complete, copies, emit, reader, trips  # noqa: E402
from schedule_import.model import FILE, ImportFailure, Pos  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the schedule file, - for standard input")
    parser.add_argument("-o", "--output", default="-", help="the .mlir file (default: standard output)")
    parser.add_argument("--min-trips", type=int, default=0, metavar="N",
                        help="smallest trip count of loops whose end is known at run time (default 0)")
    parser.add_argument("--complete", action="store_true",
                        help="for fragments: add partner tasks, brackets and names that are left out")
    parser.add_argument("--fixed-bounds", action="store_true",
                        help="where every loop ends at a number, keep the numbers instead of a run-time symbol")
    arguments = parser.parse_args()
    if arguments.min_trips < 0:
        parser.error(f"--min-trips {arguments.min_trips}: expected 0 or more")
    try:
        import yaml  # noqa: F401
    except ImportError:
        print("error: reading schedule files needs PyYAML; install it (pip install pyyaml) or use the Python of "
              "the environment that scripts/demo makes", file=sys.stderr)
        return 4
    name = "<stdin>" if arguments.file == "-" else arguments.file
    try:
        try:
            text = sys.stdin.read() if arguments.file == "-" else open(arguments.file, encoding="utf-8").read()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
            raise ImportFailure(FILE, Pos(name), f"cannot read the file: {reason}") from error
        schedule = reader.read(name, text)
        if arguments.complete:
            complete.complete(schedule)
        copies.fill_in(schedule)
        trips.per_tile(schedule)
        if not arguments.fixed_bounds:
            trips.generalise(schedule)
        kernel = emit.KernelText(schedule, arguments.min_trips)
        result = kernel.text()
    except ImportFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    for note in kernel.notes:
        print(note, file=sys.stderr)
    if arguments.output == "-":
        sys.stdout.write(result)
        return 0
    try:
        with open(arguments.output, "w", encoding="utf-8") as out:
            out.write(result)
    except OSError as error:
        print(f"error: cannot write '{arguments.output}': {error.strerror}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
