#!/usr/bin/env python3
"""Compiles the CUDA C++ kernels of a folder to PTX and writes the launch files beside them.

  build.py --arch sm_90a FOLDER [NAME ...]

A launch is described where its kernel stands, in comment lines `//@ {...}` (JSON, may go on over several
such lines); they are the "cases" of NAME.json as ts-ptx-run reads them. A case names its kernel as
"entry"; without one, it is the case's name. Needs nvcc 13.0; the tests read only what it wrote.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import json
import os
import re
import subprocess
import sys


def cases_of(source):
    text = "".join(re.findall(r"^//@(.*\n)", source, flags=re.M))
    cases, decoder, at = [], json.JSONDecoder(), 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return cases
        case, at = decoder.raw_decode(text, at)
        if "launches" not in case:
            case.setdefault("entry", case["name"])
        cases.append(case)


def write_cases(path, cases):
    lines = ",\n".join(json.dumps(case) for case in cases)
    with open(path, "w") as file:
        file.write('{"cases": [\n' + lines + "\n]}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--arch", required=True)
    parser.add_argument("--nvcc", default="/usr/local/cuda/bin/nvcc")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    os.chdir(folder)
    failed = 0
    for source in sorted(glob.glob("*.cu")):
        name = source[:-3]
        if options.names and name not in options.names:
            continue
        run = subprocess.run([options.nvcc, "-arch=" + options.arch, "-std=c++17", "-ptx", "-lineinfo", "-Wno-deprecated-gpu-targets",
                              source, "-o", name + ".ptx"], capture_output=True, text=True)
        if run.returncode:
            print(f"{source}:\n{run.stdout}{run.stderr}")
            failed = 1
            continue
        with open(name + ".ptx") as file:
            ptx = file.read()
        ptx = ptx.replace(folder + "/", "")
        ptx = re.sub(r'(\.file\s+\d+ ")[^"]*/([^"/]+")', r"\1\2", ptx)
        with open(name + ".ptx", "w") as file:
            file.write(ptx)
        run = subprocess.run([os.path.join(os.path.dirname(options.nvcc), "ptxas"), "-arch=" + options.arch, name + ".ptx", "-o", os.devnull],
                             capture_output=True, text=True)
        if run.returncode:
            print(f"{name}.ptx:\n{run.stdout}{run.stderr}")
            failed = 1
        with open(source) as file:
            write_cases(name + ".json", cases_of(file.read()))
    return failed


if __name__ == "__main__":
    sys.exit(main())
