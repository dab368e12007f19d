# Shared by scripts/test, scripts/demo and scripts/docs: installs what is missing and builds.
# Sourced, not run. Everything here may be repeated: what is already there is left alone.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

ts_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ts_root" || exit 1

ts_packages=(
  cmake ninja-build git python3 python3-venv python3-psutil
  clang-22 clang-format-22 clang-tidy-22 lld-22 libclang-rt-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  nlohmann-json3-dev libgtest-dev pybind11-dev python3-dev
)
# What the Python tests and checks need from PyPI; ptxas comes from there as well where the machine has none.
ts_pypi=(numpy pytest pyyaml ruff==0.17.5)
ts_build=$ts_root/build
ts_bin=$ts_build/bin
ts_python=python3
# The extension module is for the Python that .venv comes from, whatever python3 is in PATH.
[ -x /usr/bin/python3 ] && ts_cmake_python=-DPython3_EXECUTABLE=/usr/bin/python3

say() { printf '== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Prints those of its arguments that dpkg does not know as installed.
ts_missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

ts_install_packages() {
  command -v dpkg-query >/dev/null || {
    say "not a Debian system: taking for granted that LLVM/MLIR 22, CMake, Ninja, nlohmann-json and gtest are there"
    return 0
  }
  local missing sudo=()
  mapfile -t missing < <(ts_missing_packages "${ts_packages[@]}")
  [ "${#missing[@]}" -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing and only root can install them: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update &&
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log"
    die "apt-get could not install ${missing[*]}; its last lines stand above"
  fi
  rm -f "$log"
}

# "13.0" of a ptxas, or nothing.
ts_ptxas_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'; }

# Sets ts_ptxas to the first ptxas of at least 13.0, in the search order of ts-compile.
ts_find_ptxas() {
  local candidate version
  ts_ptxas=
  for candidate in "${TS_PTXAS:-}" "${CUDA_HOME:+$CUDA_HOME/bin/ptxas}" "$(command -v ptxas)" \
    /usr/local/cuda/bin/ptxas "$ts_root"/.venv/lib/python*/site-packages/nvidia/*/bin/ptxas; do
    [ -n "$candidate" ] && [ -x "$candidate" ] || continue
    version=$(ts_ptxas_version "$candidate")
    if [ -n "$version" ] && [ "${version%%.*}" -ge 13 ]; then
      ts_ptxas=$candidate
      export TS_PTXAS=$candidate
      return 0
    fi
  done
  return 1
}

# A virtual environment with the Python packages of the tests, and ptxas where the machine has none.
# Without network the build still works; what then cannot run is named.
ts_install_python() {
  local wanted=("${ts_pypi[@]}") stamp=$ts_root/.venv/ts-installed log
  ts_find_ptxas || wanted+=(nvidia-cuda-nvcc==13.0.88)
  if [ ! -x .venv/bin/python ]; then
    say "creating .venv"
    /usr/bin/python3 -m venv .venv || die "python3 -m venv failed; on Debian the package python3-venv brings it"
  fi
  ts_python=$ts_root/.venv/bin/python
  if [ "$(cat "$stamp" 2>/dev/null)" != "${wanted[*]}" ]; then
    say "installing ${wanted[*]} into .venv"
    log=$(mktemp)
    if "$ts_python" -m pip install --quiet "${wanted[@]}" >"$log" 2>&1; then
      echo "${wanted[*]}" >"$stamp"
      ts_find_ptxas
      # The next run finds ptxas in .venv and would otherwise ask for the shorter list.
      [[ $ts_ptxas == "$ts_root"/.venv/* ]] && echo "${ts_pypi[*]}" >"$stamp"
    else
      tail -n 5 "$log"
      say "pip could not install ${wanted[*]}: what needs them (Python tests and style, without ptxas cubin output) cannot run"
    fi
    rm -f "$log"
  fi
  if [ -n "$ts_ptxas" ]; then
    say "ptxas $(ts_ptxas_version "$ts_ptxas"): $ts_ptxas"
  else
    say "no ptxas of at least 13.0: everything up to PTX works, assembling does not"
  fi
}

# ts_build_preset PRESET DIR [TARGET...]: configures when needed and builds.
ts_build_preset() {
  local preset=$1 dir=$2 log start=$SECONDS
  shift 2
  mkdir -p "$dir"
  log=$dir/build.log
  if [ ! -f "$dir/build.ninja" ]; then
    say "configuring $preset in ${dir#"$ts_root"/}"
    cmake --preset "$preset" ${ts_cmake_python:+"$ts_cmake_python"} >"$log" 2>&1 || { tail -n 30 "$log"; echo "error: cmake failed; the whole output is in $log"; return 1; }
  fi
  say "building ${*:-everything} in ${dir#"$ts_root"/}"
  if ! ninja -C "$dir" "$@" >"$log" 2>&1; then
    grep -v '^\[' "$log" | tail -n 60
    echo "error: the build failed; the whole output is in $log"
    return 1
  fi
  say "built in $((SECONDS - start)) s"
}
