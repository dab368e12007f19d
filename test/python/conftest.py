# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the package that was built (build/python) and the examples."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.environ.get("TS_PYTHON_PACKAGE", os.path.join(ROOT, "build", "python")))
sys.path.insert(0, os.path.join(ROOT, "python", "examples"))
