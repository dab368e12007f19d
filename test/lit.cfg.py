# The lit suite: `.mlir`, `.test` and `.py` files below test/ and each example with RUN lines.
# Features that a test may ask for: ptxas (an assembler for sm_100a), gpu (TS_TEST_GPU=1 and a
# device), plugin (the pass plugin was built), long (--param long=1). scripts/test reports skips.
import glob
import os
import re
import shutil
import subprocess
import sys

import lit.formats

config.name = "MLIR-TS"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["Inputs", "cases", "mutate.py", "crosscheck.py", "crosscheck_mutants.py", "schedules.py", "steer.py", "fuzz", "lit.cfg.py", "lit.site.cfg.py.in", "CMakeLists.txt", "python", "gpu", "cuda", "foreign"]
config.test_source_root = os.path.join(config.ts_source_root, "test")
config.test_exec_root = os.path.join(config.ts_build_root, "test")


def find_ptxas():
    """The search order of ts-compile: TS_PTXAS, CUDA_HOME, PATH, the usual folder, PyPI's package."""
    candidates = [os.environ.get("TS_PTXAS")]
    if os.environ.get("CUDA_HOME"):
        candidates.append(os.path.join(os.environ["CUDA_HOME"], "bin", "ptxas"))
    candidates += [shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas"]
    candidates += glob.glob(
        os.path.join(config.ts_source_root, ".venv/lib/python*/site-packages/nvidia/*/bin/ptxas")
    )
    for path in candidates:
        if not path or not os.access(path, os.X_OK):
            continue
        try:
            text = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        release = re.search(r"release (\d+)\.(\d+)", text)
        if release and (int(release.group(1)), int(release.group(2))) >= (12, 9):
            return path
    return None


venv_python = os.path.join(config.ts_source_root, ".venv", "bin", "python")
python = venv_python if os.access(venv_python, os.X_OK) else sys.executable
ptxas = find_ptxas()
plugin = os.path.join(config.ts_lib_dir, "TSPlugin.so")

config.substitutions.append(("%llvm_prefix", os.path.dirname(config.llvm_bin_dir)))
config.substitutions.append(("%python", python))
config.substitutions.append(("%ts_plugin", plugin))
config.substitutions.append(("%ts_src", config.ts_source_root))
config.substitutions.append(("%ts_build", config.ts_build_root))
config.substitutions.append(("%ts_bin", config.ts_bin_dir))
config.substitutions.append(("%examples", os.path.join(config.ts_source_root, "examples")))
config.substitutions.append((r"\bmlir-opt-22\b", os.path.join(config.llvm_bin_dir, "mlir-opt")))

if ptxas:
    config.available_features.add("ptxas")
    config.environment["TS_PTXAS"] = ptxas
    config.substitutions.append((r"%ptxas\b", ptxas))
if config.ts_has_plugin:
    config.available_features.add("plugin")
if os.environ.get("TS_TEST_GPU") == "1":
    config.available_features.add("gpu")
if lit_config.params.get("long"):
    config.available_features.add("long")

# Our tools first, then FileCheck, not and split-file of the LLVM that we build against.
path = os.pathsep.join([config.ts_bin_dir, config.llvm_bin_dir, os.environ.get("PATH", "")])
config.environment["PATH"] = path
for name in ("CI", "CUDA_HOME", "HOME", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Colour codes and caches of the caller do not belong into what a test matches.
config.environment["NO_COLOR"] = "1"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=error"
