#!/usr/bin/env bash
# Fills .gpu/ with what a machine with a GPU needs: ts-run and kernels for Hopper, compiled here.
#   utils/gpu/pack.sh [EXAMPLE.mlir | NAME.list ...]
# Of a list (utils/gpu/lists/*.list), what its `source` and `kernel` lines name.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
cd "$(dirname "$0")/../.."
mkdir -p .gpu
cp build/bin/ts-run .gpu/
[ $# -gt 0 ] || set -- examples/copy_threads.mlir examples/copy_tma.mlir examples/gemm_sm90.mlir \
  examples/gemm_sm90_cluster.mlir
declare -A done_already
compile() {
  [ -z "${done_already[$2]:-}" ] || return 0
  build/bin/ts-compile "$1" --arch=sm_90a -o ".gpu/$2.cubin"
  done_already[$2]=1
}
for file in "$@"; do
  case $file in
    *.list)
      source=
      while read -r word rest; do
        case $word in
          source) source=$rest ;;
          kernel)
            name=${rest%% *}
            compile "$source" "${name%.*}" ;;
        esac
      done <"$file" ;;
    *) compile "$file" "$(basename "$file" .mlir)" ;;
  esac
done
ls -l .gpu
