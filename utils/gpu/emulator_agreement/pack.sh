#!/usr/bin/env bash
# Fills .gpu/agreement with what the comparison of emulator and GPU needs on a machine that has a GPU
# but no build: ts-ptx-run, the PTX of test/Emulator/cuda and its launch files.
#   utils/gpu/emulator_agreement/pack.sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
cd "$(dirname "$0")/../../.."
rm -rf .gpu/agreement
mkdir -p .gpu/agreement
cp build/bin/ts-ptx-run .gpu/
cp test/Emulator/cuda/*.ptx test/Emulator/cuda/*.json .gpu/agreement/
du -sh .gpu/agreement .gpu/ts-ptx-run
