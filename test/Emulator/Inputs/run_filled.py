# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a kernel with bodies by ts-fill-bodies: run_filled.py TS-RUN FOLDER/NAME TRIPS prints its
exit status and the words that consumers found wrong."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import crosscheck

ts_run, kernel, trips = sys.argv[1:]
folder = os.path.dirname(kernel)
options = crosscheck.arguments(kernel + ".json", folder, int(trips), 1)
run = subprocess.run([ts_run, kernel + ".ptx", *options], capture_output=True, text=True)
wrong = [hex(word) for word in crosscheck.read_i32(os.path.join(folder, "fill_report.npy")) if word]
print("exit", run.returncode, "wrong", wrong, run.stderr[:400])
