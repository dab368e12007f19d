#!/usr/bin/env bash
# Runs every case of .gpu/agreement on the GPU and writes the buffers to $OUT (default: .gpu/recorded). Each case
# has a process of its own, so that a failing one does not take the others along.
#   utils/gpu/emulator_agreement/run_gpu.sh [NAME ...]
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -u
root=$(cd "$(dirname "$0")/../../.." && pwd)
out=${OUT:-$root/.gpu/recorded}
mkdir -p "$out"
cd "$root/.gpu/agreement" || exit 1
passed=0
failed=0
for launches in *.json; do
  name=${launches%.json}
  [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
  for case in $("$root/.gpu/ts-ptx-run" "$name.ptx" "$launches" --list); do
    if message=$("$root/.gpu/ts-ptx-run" "$name.ptx" "$launches" --case "$case" --device cuda --out "$out" 2>&1); then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAIL $case: $message"
    fi
  done
done
(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true) > "$out/device.txt"
echo "$passed ran, $failed failed on $(cat "$out/device.txt")"
[ "$failed" -eq 0 ]
