#!/usr/bin/env bash
# Runs compiled kernels over lists of shapes and prints one line per run, then "N passed, N failed".
#
#   utils/gpu/accept.sh [--ts-run FILE] [--kernels FOLDER] [--emulator] LIST...
#
# With --emulator the .ptx of each kernel runs in the emulator, and --repeat of the lists means nothing.
# Made for a machine that has a GPU and a driver but not our build: carry ts-run and the kernels with
# their manifests in .gpu/ (utils/gpu/pack.sh fills it). A list is read line by line:
#
#   source examples/gemm_sm90.mlir     what the kernels of the following lines are compiled from
#   kernel gemm_sm90.cubin gemm_f32    the kernel of the following lines; the name only where the
#                                      file has several
#   check D = A @ B.T                  its check
#   array A={M}x{K}                    one line for each array; {M} is replaced by the shape's M
#   option --repeat 3                  passed to every run of this kernel
#   inexact                            the check leaves room for rounding even with integers
#   shape M=128 N=256 K=64 [A:stride0=72 ...]   two runs: small integers exactly, normal data in bounds
#   refuse M=128 N=256 K=65 : TEXT     has to be refused with a message that contains TEXT
#
# Exit status 0 if nothing failed. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
ts_run=$root/.gpu/ts-run
[ -x "$ts_run" ] || ts_run=$root/build/bin/ts-run
kernels=$root/.gpu
lists=()
device=cuda
while [ $# -gt 0 ]; do
  case $1 in
    --ts-run) ts_run=$2; shift ;;
    --kernels) kernels=$2; shift ;;
    --emulator) device=emulator ;;
    -*) echo "error: unknown option '$1'"; exit 1 ;;
    *) lists+=("$1") ;;
  esac
  shift
done
[ "${#lists[@]}" -gt 0 ] || lists=("$root/utils/gpu/hopper.list")
[ -x "$ts_run" ] || { echo "error: there is no ts-run at $ts_run"; exit 1; }

passed=0 failed=0
report() { # PASS|FAIL what detail
  [ "$1" = PASS ] && passed=$((passed + 1)) || failed=$((failed + 1))
  printf '%s %s: %s\n' "$1" "$2" "$3"
}

# Fills `args` with the options and arrays of a shape: KEY=VALUE words replace {KEY}, NAME:part words pad.
array_args() {
  local template word value extra
  args=()
  for value in "${options[@]}"; do
    for word in "$@"; do
      [[ $word = *:* ]] || value=${value//"{${word%%=*}}"/${word#*=}}
    done
    args+=("$value")
  done
  for template in "${arrays[@]}"; do
    value=$template extra=
    for word in "$@"; do
      case $word in
        *:*) [ "${word%%:*}" = "${template%%=*}" ] && extra+=":${word#*:}" ;;
        *=*) value=${value//"{${word%%=*}}"/${word#*=}} ;;
      esac
    done
    args+=(--array "$value$extra")
  done
}

run_shape() {
  local init output status what flags
  array_args "$@"
  for init in ints normal; do
    flags=(--init "$init")
    [ "$init $exact" = "ints yes" ] && flags+=(--exact)
    output=$("$ts_run" --device="$device" "$kernels/$kernel" "${args[@]}" --check "$check" "${flags[@]}" 2>&1)
    status=$?
    what="$kernel${name:+ $name} $* $init"
    # Nothing checked is nothing passed.
    if [ $status -eq 0 ] && grep -qF "$check: ok" <<<"$output"; then
      report PASS "$what" "$(tr '\n' ' ' <<<"$output")"
    else
      report FAIL "$what" "exit $status, $(tr '\n' ' ' <<<"$output")"
    fi
  done
}

run_refusal() {
  local words=${1%% : *} text=${1#* : } output status split
  read -ra split <<<"$words"
  array_args "${split[@]}"
  output=$("$ts_run" --device="$device" "$kernels/$kernel" "${args[@]}" 2>&1)
  status=$?
  if [ $status -eq 1 ] && [ "$(wc -l <<<"$output")" -eq 1 ] && grep -qF -- "$text" <<<"$output"; then
    report PASS "$kernel${name:+ $name} $words refused" "$output"
  else
    report FAIL "$kernel${name:+ $name} $words refused" "exit $status, $(tr '\n' ' ' <<<"$output")"
  fi
}

for list in "${lists[@]}"; do
  [ -r "$list" ] || { echo "error: cannot read $list"; exit 1; }
  kernel="" name="" check="" exact=yes arrays=() options=()
  while read -r word rest || [ -n "$word" ]; do
    case $word in
      '' | '#'* | source) ;; # a source is what test/Emulator/schedules.py compiles
      kernel)
        read -r kernel name <<<"$rest"
        [ $device = cuda ] || kernel=${kernel%.cubin}
        [ $device = cuda ] || kernel=${kernel%.ptx}.ptx
        # A GPU takes either; a list for both says .ptx.
        [ $device = emulator ] || [ -e "$kernels/$kernel" ] || [ ! -e "$kernels/${kernel%.ptx}.cubin" ] ||
          kernel=${kernel%.ptx}.cubin
        check="" exact=yes arrays=() options=(${name:+--kernel "$name"})
        [ -e "$kernels/$kernel" ] || { report FAIL "$kernel" "is not in $kernels"; kernel=""; } ;;
      check) check=$rest ;;
      inexact) exact=no ;;
      array) arrays+=("$rest") ;;
      option)
        read -ra words <<<"$rest"
        [ "$device ${words[0]}" = "emulator --repeat" ] || options+=("${words[@]}") ;;
      shape) read -ra words <<<"$rest"; [ -z "$kernel" ] || run_shape "${words[@]}" ;;
      refuse) [ -z "$kernel" ] || run_refusal "$rest" ;;
      *) echo "error: $list: unknown word '$word'"; exit 1 ;;
    esac
  done <"$list"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
