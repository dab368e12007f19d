#!/usr/bin/env bash
# Fills .gpu/ with what a machine with a GPU needs: ts-run and the Hopper examples, compiled here.
#   utils/gpu/pack.sh [EXAMPLE.mlir ...]
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
cd "$(dirname "$0")/../.."
mkdir -p .gpu
cp build/bin/ts-run .gpu/
[ $# -gt 0 ] || set -- examples/copy_threads.mlir examples/copy_tma.mlir examples/gemm_sm90.mlir \
  examples/gemm_sm90_cluster.mlir
for file in "$@"; do
  build/bin/ts-compile "$file" --arch=sm_90a -o ".gpu/$(basename "$file" .mlir).cubin"
done
ls -l .gpu
