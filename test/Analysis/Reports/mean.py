# RUN: %python %s %ts_bin/ts-reports-test
# Maximum cycle ratio and earliest times against enumeration of all simple cycles and plain relaxation,
# on random graphs: with several components, without cycles, with cycles that hold no token.
import random
import subprocess
import sys
from fractions import Fraction

random.seed(20240611)


def graph():
    nodes = random.randint(1, 6)
    edges = []
    for _ in range(random.randint(0, 12)):
        tokens = random.choice([0, 0, 0, 1, 1, 2, 3]) if random.random() < 0.95 else -1
        edges.append((random.randrange(nodes), random.randrange(nodes), random.randint(0, 40), tokens))
    return nodes, edges


def cycles(nodes, edges):
    """Weight and tokens of every simple cycle, found from its smallest node."""
    def extend(start, node, seen, weight, tokens):
        for a, b, w, t in edges:
            if a != node:
                continue
            if b == start:
                yield weight + w, tokens + t
            elif b > start and b not in seen:
                yield from extend(start, b, seen | {b}, weight + w, tokens + t)

    for start in range(nodes):
        yield from extend(start, start, {start}, 0, 0)


def times(nodes, edges, count):
    """Bellman-Ford over all occurrences."""
    result = [[0] * nodes for _ in range(count)]
    changed = True
    while changed:
        changed = False
        for k in range(count):
            for a, b, w, t in edges:
                if 0 <= k - t < count and result[k - t][a] + w > result[k][b]:
                    result[k][b] = result[k - t][a] + w
                    changed = True
    return [time for row in result for time in row]


graphs = [graph() for _ in range(3000)]
lines = ["%d;%s" % (n, ";".join("%d %d %d %d" % e for e in edges)) for n, edges in graphs]
answers = subprocess.run(
    [sys.argv[1], "mean"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
).stdout.splitlines()
assert len(answers) == len(graphs)
seen = {"cyclic": 0, "acyclic": 0, "deadlock": 0}
for (nodes, edges), line, answer in zip(graphs, lines, answers):
    kind, weight, tokens, closed, *got = answer.split()
    found = list(cycles(nodes, edges))
    seen[kind] += 1
    assert closed == "closed", (line, answer)
    if any(t <= 0 for _, t in found):
        assert kind == "deadlock" and int(tokens) <= 0 and not got, (line, answer)
        continue
    if not found:
        assert kind == "acyclic", (line, answer)
    else:
        best = max(Fraction(w, t) for w, t in found)
        assert kind == "cyclic" and Fraction(int(weight), int(tokens)) == best, (line, answer, best)
    assert [int(time) for time in got] == times(nodes, edges, 4), (line, answer)
assert min(seen.values()) > 100, seen
