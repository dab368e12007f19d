#!/usr/bin/env python3
"""Copies what run_gpu.sh wrote into the tree as the outputs that the emulator is compared with.

  record.py FOLDER [--to test/Emulator/cuda/expected]

Says which recorded outputs changed. FOLDER may hold some cases only; files of cases that no launch file has
any more are removed.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import json
import os

ROOT = os.path.dirname(os.path.abspath(__file__)) + "/../../.."
LARGEST = 16 << 10


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--to", default=os.path.join(ROOT, "test/Emulator/cuda/expected"))
    options = parser.parse_args()
    os.makedirs(options.to, exist_ok=True)
    new = sorted(name for name in os.listdir(options.folder) if name.endswith((".bin", ".txt")))
    cases = set()
    for path in glob.glob(os.path.join(ROOT, "test/Emulator/cuda/*.json")):
        with open(path) as file:
            cases |= {case["name"] for case in json.load(file)["cases"]}
    for name in sorted(os.listdir(options.to)):
        if name != "device.txt" and name.split(".")[0] not in cases:
            print("gone:", name)
            os.remove(os.path.join(options.to, name))
    for name in new:
        if name != "device.txt" and name.split(".")[0] not in cases:
            continue
        data, target = contents(os.path.join(options.folder, name)), os.path.join(options.to, name)
        if len(data) > LARGEST:
            print(f"too large: {name} has {len(data)} bytes, at most {LARGEST} go into the tree")
            continue
        if not os.path.exists(target):
            print("new:", name)
        elif contents(target) != data:
            print("changed:", name)
        with open(target, "wb") as file:
            file.write(data)


if __name__ == "__main__":
    main()
