"""Wrong schedule files and the message that each must get; then mutants of a right one."""
import os
import random
import subprocess
import sys

root, scratch = sys.argv[1:3]
TOOL = os.path.join(root, "utils/import_schedule.py")

BASE = """kernel: k
resources:
- {name: g, space: gmem}
- name: r
  space: smem
  smem: [{alloc: a, bytes: 64}]
  pipeline: {type: AsyncAsync, stages: 2}
- name: q
  space: work_queue
  scheduler: StaticPersistent
groups: []
alias_groups: []
depends:
- {downstream: r, upstream: [g]}
tasks:
- name: t
  warps: [0, 1]
  src: [g, q]
  dst: [r]
  schedule:
  - loop:
      kind: domain
      bounds: [0, n, 1]
      body:
      - {op: acquire, res: r}
      - {op: produce, res: r, label: fill}
      - {op: commit, res: r}
"""


def change(old, new):
    assert BASE.count(old) == 1, old
    return BASE.replace(old, new)


STEP = "      - {op: produce, res: r, label: fill}\n"
CASES = [
    ("", "f.yaml: error: [TS601] the file is empty"),
    ("kernel: [", "f.yaml:1:10: error: [TS601] no YAML: expected the node content, but found '<stream end>'"),
    ("a: !!python/object:os.system x", "f.yaml:1:4: error: [TS601] no YAML: could not determine a constructor"),
    ("- 1", "f.yaml:1:1: error: [TS602] expected a mapping for the schedule, found a list"),
    ("kernel: k", "f.yaml:1:1: error: [TS602] the schedule lacks the key 'resources'"),
    ("&a [*a]", "an alias that contains itself"),
    ("[" * 80 + "]" * 80, "error: [TS602] more than 64 levels of nesting"),
    (change("kernel: k", "kernel: k\nkernel: l"), "f.yaml:2:1: error: [TS602] key 'kernel' stands twice"),
    (change("\ngroups: []", "\ngroup: []"), "f.yaml:11:1: error: [TS602] unknown key 'group' of the schedule; expected one of kernel, "
     "resources, tasks, cluster, groups, alias_groups, smem_extra, depends, dma_consumer_release_labels; did you mean 'groups'?"),
    (change("space: gmem", "space: gemm"), "error: [TS602] unknown 'space' 'gemm'; expected one of gmem, smem, tmem, none, smem+tmem, "
     "gmem+smem_scratch, barrier_only, work_queue, pdl_wait, pdl_launch; did you mean 'gmem'?"),
    (change("type: AsyncAsync", "type: Async"), "unknown 'type' 'Async'; expected one of AsyncAsync"),
    (change("stages: 2", "stages: two"), "error: [TS602] expected a number for 'stages', found 'two'"),
    (change("stages: 2", "stages: 0"), "error: [TS602] 'stages' is 0; expected at least 1"),
    (change("stages: 2", "stages: 2, depth: 3"), "unknown key 'depth' of 'pipeline'; expected one of type, stages, num_bytes"),
    (change("stages: 2", "stages: 2, interleave: [1, 2]"), "expected 4 numbers for 'interleave', found 2"),
    (change("stages: 2", "stages: 2, signalling: {producer: All|Nobody}"),
     "unknown signalling 'Nobody'; expected All, CtaLeader, TaskWarpLeader, joined by |"),
    (change("stages: 2", "stages: 2, advance_on_wait: yes please"), "expected true or false for 'advance_on_wait', found 'yes please'"),
    (change("smem: [{alloc: a, bytes: 64}]", "tmem: [{alloc: a, columns: 64}]"), "'r' is in space smem, but has tensor memory"),
    (change("bytes: 64", "bytes: -64"), "is -64; expected at least 1"),
    (change("  scheduler: StaticPersistent\n", ""), "'q': a work_queue, and nothing else, has a scheduler"),
    (change("{name: g, space: gmem}", "{name: r, space: gmem}"), "error: [TS603] 'r' is defined twice; the first is at"),
    (change("\ngroups: []", "\ngroups: [{name: m, mode: Merge, members: [r, x]}]"), "[TS603] group 'm' has the unknown member 'x'"),
    (change("\ngroups: []", "\ngroups: [{name: m, mode: Join, members: [r]}]"), "unknown 'mode' 'Join'; expected one of Merge, Fork, FusedMerge"),
    (change("  pipeline: {", "  pipeline_group: m\n  pipeline: {"), "[TS603] 'r' says it is in the group 'm', which does not exist"),
    (change("alias_groups: []", "alias_groups: [{space: smem, phases: [[{alloc: a, bytes: 32}], [{alloc: b, bytes: 8}]]}]"),
     "[TS603] allocation 'a' has the size 32 in the alias group and 64 at its resource"),
    (change("upstream: [g]", "upstream: [h]"), "[TS603] unknown resource 'h'; --complete declares what a fragment leaves out"),
    (change("upstream: [g]}", "upstream: [g]}\ndma_consumer_release_labels: [{upstream: g, downstream: q, labels: []}]"),
     "[TS603] labels of an edge 'q' <- 'g' that 'depends' does not have"),
    (change("warps: [0, 1]", "warps: [0]"), "expected [first, count] for 'warps', found 1 entries"),
    (change("warps: [0, 1]", "warps: [0, 0]"), "is 0; expected at least 1"),
    (change("src: [g, q]", "src: [g, x]"), "[TS603] unknown resource 'x'"),
    (BASE + BASE[BASE.index("- name: t"):], "[TS603] task 't' is defined twice"),
    (change("kind: domain", "kind: spiral"), "unknown 'kind' 'spiral'; expected one of domain, work_tile"),
    (change("bounds: [0, n, 1]", "bounds: [0, n]"), "expected [start, end, step] for 'bounds', found 2 entries"),
    (change("      bounds: [0, n, 1]\n", ""), "a domain loop lacks the key 'bounds'"),
    (change("kind: domain", "kind: work_tile"), "a work_tile loop lacks the key 'queue'"),
    (change("bounds: [0, n, 1]", "bounds: [0, {per_tile: f}, 1]"), "f.yaml:21:5: error: [TS604] the bound 'f' is evaluated per work "
     "tile, but no work_tile loop stands around this one"),
    (change("bounds: [0, n, 1]", "bounds: [0, n, 1]\n      queue: q"), "a domain loop has no 'queue'"),
    (change("{op: acquire, res: r}", "{op: aquire, res: r}"), "f.yaml:25:10: error: [TS602] unknown 'op' 'aquire'; expected one of "
     "try_acquire, acquire, commit, try_wait, wait, release, produce, consume; did you mean 'acquire'?"),
    (change("{op: acquire, res: r}", "{op: acquire, res: s}"), "f.yaml:25:9: error: [TS603] unknown resource 's'"),
    (change("{op: acquire, res: r}", "{op: acquire, res: r, label: x}"), "a acquire op has no 'label'; only produce and consume do"),
    (change("{op: acquire, res: r}", "{op: acquire, res: r, via_group: m}"), "[TS603] 'r' is no member of a group 'm'"),
    (change(STEP, "      - {op: produce, res: r}\n"), "a produce op lacks the key 'label'"),
    (change(STEP, "      - {op: produce, res: r, label: f, uses: {x: [1]}}\n"),
     "expected $resource.value or a constant for 'x', found a list"),
    (change(STEP, "      - {op: produce, res: r, label: f, uses: {x: $g.y}}\n"),
     "[TS603] task 't' reads $g.y, which no work call of this task returns"),
    (change(STEP, "      - {op: produce, res: r, label: f, returns: [x, x]}\n"), "a value is returned twice"),
    (change("  - loop:\n", "  - {op: produce, res: r, label: f, uses: {x: $g.y}}\n  - {op: consume, res: g, label: c, returns: [y]}\n  - loop:\n"),
     "f.yaml:21:5: error: [TS603] task 't' reads $g.y before anything has returned it"),
    (change(STEP, "      - guard: sometimes\n        body: []\n"), "unknown 'guard' 'sometimes'; expected one of first_iter, last_iter, every"),
    (change(STEP, "      - guard: {every: [4, 2]}\n        body: []\n"), "[TS604] a guard 'every n' starts at iteration 0 in ts text; the file "
     "asks for 2; start the loop there, or use 'when' on a condition"),
    (change(STEP, "      - guard: every\n        body: []\n"), "a guard 'every' lacks its period: every: [n, 0]"),
    (change(STEP, "      - when: {cond: n > 3, is: true}\n        body: []\n"), "[TS604] the condition 'n > 3' is no value of the schedule; a "
     "'when' asks for a value that a work call returned ($resource.name)"),
    (change(STEP, "      - {loop: {kind: domain, bounds: [0, 1, 1], body: []}, guard: last_iter}\n"),
     "a schedule step is one of op, loop, guard, when or skippable, found loop and guard"),
    (change(STEP, "      - skippable: [{op: consume, res: g, label: c, returns: [y]}]\n      - {op: produce, res: r, label: f, uses: {x: $g.y}}\n"),
     "[TS604] $g.y is returned inside a skippable region and read after it or for the next tile; ts.skippable hands no values on"),
    (change(STEP, "      - {op: wait, res: q}\n"), "[TS604] 'wait' of the queue 'q' stands alone; wait, consume and release of a queue are one "
     "step in ts text (ts.next_tile)"),
    (change("space: work_queue\n  scheduler: StaticPersistent", "space: pdl_wait").replace("src: [g, q]", "src: [g]").replace(
        STEP, "      - {op: wait, res: q}\n"), "[TS604] a pdl_wait resource has no wait"),
    (change("  scheduler: StaticPersistent\n", "  scheduler: StaticPersistent\n  pipeline: {type: ClcFetchAsync, stages: 2}\n"),
     "[TS604] 'q' is static, so it has no pipeline"),
]


def run(text):
    path = os.path.join(scratch, "f.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return subprocess.run([sys.executable, TOOL, path, "-o", os.path.join(scratch, "f.mlir")],
                          capture_output=True, text=True, cwd=scratch)


failures = []
if (good := run(BASE)).returncode:
    failures.append(f"the base is refused: {good.stderr}")
for text, message in CASES:
    done = run(text)
    first = done.stderr.splitlines()[-1] if done.stderr else ""
    if done.returncode != 1 or message not in done.stderr or "Traceback" in done.stderr:
        failures.append(f"expected '{message}', got status {done.returncode}: {first}")
if failures:
    sys.exit("\n".join(failures))
print("all refused as expected:", len(CASES))

# Mutants run in this process: a failure must be an ImportFailure.
sys.path.insert(0, os.path.join(root, "utils"))
from schedule_import import complete, copies, emit, reader, trips  # noqa: E402
from schedule_import.model import ImportFailure  # noqa: E402

source = open(os.path.join(root, "test/Import/Inputs/everything.yaml"), encoding="utf-8").read()
words = sorted(set(source.replace(":", " ").replace(",", " ").split())) + ["[", "]", "{", "}", "&a", "*a", "-1", "~", "1e9", "''"]
rng = random.Random(1)
refused = 0
for _ in range(600):
    tokens = source.split(" ")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(tokens))
        kind = rng.randrange(4)
        if kind == 0:
            tokens[at] = rng.choice(words)
        elif kind == 1:
            del tokens[at]
        elif kind == 2:
            tokens[at:at] = tokens[max(0, at - rng.randint(1, 30)):at]
        else:
            tokens[at] = tokens[at][: len(tokens[at]) // 2]
    text = " ".join(tokens)[: rng.choice((None, None, None, rng.randint(1, len(source))))]
    try:
        schedule = reader.read("f.yaml", text)
        if rng.random() < 0.5:
            complete.complete(schedule)
        copies.fill_in(schedule)
        trips.per_tile(schedule)
        trips.generalise(schedule)
        emit.KernelText(schedule, 1).text()
    except ImportFailure:
        refused += 1
if refused < 300:
    sys.exit(f"only {refused} of 600 mutants are refused")
print("mutants: no crash,", refused, "refused")
