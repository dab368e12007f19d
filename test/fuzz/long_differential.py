"""The long run of prover against explorer: blocks of seeds on all processors, with progress and a judgement.

  long_differential.py --bin build/bin --compared 20000 --seed 99001
  long_differential.py --bin build/bin --compared 5000 --seed 300001 --max-trips 16 --max-states 40000

Goes on until as many schedules were compared as asked for (what the explorer finds too large does not count). Fails
on a disagreement, on a block that crashes or hangs, where less than half of the schedules are broken, none is in a
cluster, or a kind of verdict is missing (the last three not with --max-trips, which holds proofs only).
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import time

KINDS = ("bytes", "deadlock", "exit", "overrun", "pdl", "proven", "race")
SUMMARY = re.compile(r"^(\d+) compared, (\d+) refuted.*?(\d+) in clusters.*: (\d+) disagreements", re.M)
BLOCK, LIMIT = 250, 3000  # seeds, seconds


def block(options, seed):
    command = [os.path.join(options.bin, "ts-differential"), "--seed", str(seed), "--count", str(BLOCK), "--no-cases"]
    for name in ("max_trips", "max_states"):
        if getattr(options, name) is not None:
            command += ["--" + name.replace("_", "-"), str(getattr(options, name))]
    start = time.monotonic()
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        return seed, result.stdout, result.returncode, result.stderr[-2000:], time.monotonic() - start
    except subprocess.TimeoutExpired:
        return seed, "", -1, f"still running after {LIMIT} s", time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--compared", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--max-trips", type=int)
    parser.add_argument("--max-states", type=int)
    options = parser.parse_args()
    jobs = os.cpu_count() or 1
    total, agreed, skipped, faults = collections.Counter(), collections.Counter(), collections.Counter(), []
    start, seed = time.monotonic(), options.seed
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = set()
        while total["compared"] < options.compared or running:
            while total["compared"] < options.compared and len(running) < jobs:
                running.add(pool.submit(block, options, seed))
                seed += BLOCK
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                first, printed, status, error, seconds = future.result()
                summary = SUMMARY.search(printed)
                if not summary:
                    faults.append(f"seeds {first} to {first + BLOCK - 1}: status {status}, no summary: {error}")
                    print(faults[-1], flush=True)
                    continue
                for name, number in zip(("compared", "refuted", "clusters", "disagreements"), summary.groups()):
                    total[name] += int(number)
                for name, number in re.findall(r"^  agree +(.*?) +(\d+)$", printed, re.M):
                    agreed[name] += int(number)
                for name, number in re.findall(r"^  skipped +(.*?) +(\d+)$", printed, re.M):
                    skipped[name] += int(number)
                for line in re.findall(r"^DISAGREE seed.*$", printed, re.M):
                    faults.append(line)
                    print(line, flush=True)
                print(f"seeds {first} to {first + BLOCK - 1}: {summary.group(1)} compared in {seconds:.0f} s; in all "
                      f"{total['compared']} of {options.compared} after {(time.monotonic() - start) / 60:.1f} min, "
                      f"{len(faults)} faults", flush=True)
            # Every block failing would go on for ever.
            if len(faults) >= 50:
                print("given up after 50 faults", flush=True)
                options.compared = 0
    for what, counter in (("agree", agreed), ("skipped", skipped)):
        for name, number in sorted(counter.items()):
            print(f"  {what:<8} {name:<24} {number}")
    print(f"{total['compared']} compared, {total['refuted']} refuted, {total['clusters']} in clusters, seeds "
          f"{options.seed} to {seed - 1}: {len(faults)} disagreements or crashes")
    if options.max_trips is None:
        missing = [kind for kind in KINDS if not agreed[kind]]
        if 2 * total["refuted"] < total["compared"] or not total["clusters"] or missing:
            faults.append("")
            print(f"not the mixture that was asked for; kinds without a schedule: {', '.join(missing) or 'none'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
