#!/usr/bin/env python3
"""Counts a lit run and judges its skips; prints "passed failed" on its last line.

Reads the JSON that `lit --output` writes. A skip counts as a failure when the machine has what the
test asks for, so that a test cannot fall silent. Not for running tests: scripts/test does that.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import json
import os
import re

# No test here is expected to fail, and none may pass by being repeated: XFAIL, XPASS and FLAKYPASS
# are failures like any other.
PASSING = {"PASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}
FILTERED = {"EXCLUDED"}


def excuse(feature, args):
    """Why a test that needs `feature` may be skipped here, or None if it may not."""
    if feature == "gpu" and not os.path.exists("/dev/nvidiactl"):
        return "no CUDA device"
    if feature == "ptxas" and not args.ptxas and not os.environ.get("CI"):
        return "no ptxas of at least 13.0"
    if feature == "long" and not args.full:
        return "a long run, see --full"
    return None


def missing_features(output):
    match = re.search(r"unavailable features: (.*)", output)
    return [f.strip() for f in match.group(1).split(",")] if match else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", help="JSON file written by lit --output")
    parser.add_argument("--ptxas", default="", help="the assembler that was found, if any")
    parser.add_argument("--full", action="store_true", help="long tests were asked for")
    args = parser.parse_args()

    with open(args.results, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    passed, failed = 0, 0
    skips = collections.Counter()
    for test in tests:
        if test["code"] in FILTERED:
            continue
        if test["code"] in PASSING:
            passed += 1
        elif test["code"] in SKIPPED:
            features = missing_features(test.get("output", ""))
            reasons = [excuse(feature, args) for feature in features]
            if features and all(reasons):
                skips[", ".join(sorted(set(reasons)))] += 1
            else:
                failed += 1
                need = ", ".join(f for f, r in zip(features, reasons) if not r) or "nothing named"
                print(f"skipped although it could run: {test['name']} (needs {need})")
        else:
            failed += 1
            print(f"{test['code']}: {test['name']}")
    for reason, count in sorted(skips.items()):
        print(f"skipped {count}: {reason}")
    if passed + failed + sum(skips.values()) == 0:
        print("lit ran no test")
        failed = 1
    print(passed, failed)


if __name__ == "__main__":
    main()
