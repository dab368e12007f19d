# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedule files (YAML, schema in test/cases/README.md) to `ts` text. See import_schedule.py."""
