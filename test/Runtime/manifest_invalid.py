# RUN: %python %s %t %fake_driver
# Broken manifests: each mutation of a good one has to end in one sentence that names the file, the field
# and what is wrong there; 300 random cuts and byte changes must never crash or hang.
import copy
import json
import os
import random
import sys

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
sys.path.insert(0, INPUTS)
from rt import Tool  # noqa: E402

GOOD = json.load(open(os.path.join(INPUTS, "gemm.json")))
tool = Tool(sys.argv[1], sys.argv[2])
DELETE = object()


def dry(text):
    open("m.json", "w").write(text)
    return tool.run("--manifest", "m.json", "--dry-run", "--array", "A=128x64", "--array", "B=256x64", "--array", "D=128x256")


def mutated(path, value):
    manifest = copy.deepcopy(GOOD)
    place = manifest
    for key in path[:-1]:
        place = place[key]
    if value is DELETE:
        del place[path[-1]]
    elif isinstance(place, list) and path[-1] == len(place):
        place.append(value)
    else:
        place[path[-1]] = value
    return json.dumps(manifest)


K = ("kernels", 0)
A = K + ("args", 0)
CASES = [
    (("version",), DELETE, "version: is missing"),
    (("version",), 2, "version: is 2, this tool reads version 1"),
    (("version",), "1", "version: expected an integer, found a string"),
    (("version",), 1.5, "version: expected an integer, found a fraction"),
    (("kernels",), [], "kernels: has no kernel"),
    (("kernels",), {}, "kernels: expected a list, found an object"),
    (("kernels", 1), GOOD["kernels"][0], "kernels[1].name: 'gemm' is there twice"),
    (("kernels", 0), 7, "kernels[0]: expected an object, found a number"),
    (("surplus",), 1, "surplus: is no field of manifest version 1"),
    (K + ("name",), DELETE, "kernels[0].name: is missing"),
    (K + ("name",), "", "kernels[0].name: is empty"),
    (K + ("arch",), "gfx90", "kernels[0].arch: expected a name like sm_90a, found 'gfx90'"),
    (K + ("surplus",), 1, "kernels[0].surplus: is no field of manifest version 1"),
    (K + ("args",), None, "kernels[0].args: expected a list, found null"),
    (A + ("kind",), "texture", "kernels[0].args[0].kind: expected 'tensor_map', 'buffer' or 'scalar', found 'texture'"),
    (A + ("element",), "bf17", "kernels[0].args[0].element: unknown type 'bf17'"),
    (A + ("element",), DELETE, "kernels[0].args[0].element: is missing"),
    (A + ("rank",), 6, "kernels[0].args[0].rank: is 6, expected 1 to 5"),
    (A + ("rank",), 99999999999999999999, "kernels[0].args[0].rank: expected an integer, found a fraction"),
    (A + ("rank",), 18446744073709551615, "kernels[0].args[0].rank: is 18446744073709551615, expected 1 to 5"),
    (A + ("rank",), -1, "kernels[0].args[0].rank: is -1, expected 1 to 5"),
    (A + ("box",), [64], "kernels[0].args[0].box: expected 2 numbers, found 1"),
    (A + ("box",), [64, 512], "kernels[0].args[0].box[1]: is 512, expected 1 to 256"),
    (A + ("box",), [64, "x"], "kernels[0].args[0].box[1]: expected an integer, found a string"),
    (A + ("swizzle",), 48, "kernels[0].args[0].swizzle: expected one of 0, 32, 64, 128, found 48"),
    (A + ("interleave",), 8, "kernels[0].args[0].interleave: expected one of 0, 16, 32, found 8"),
    (A + ("l2_promotion",), 32, "kernels[0].args[0].l2_promotion: expected one of 0, 64, 128, 256, found 32"),
    (A + ("element_strides",), [1, 9], "kernels[0].args[0].element_strides[1]: is 9, expected 1 to 8"),
    (A + ("fill",), "one", "kernels[0].args[0].fill: expected 'zero' or 'nan', found 'one'"),
    (A + ("access",), "all", "kernels[0].args[0].access: expected 'read', 'write' or 'readwrite', found 'all'"),
    (A + ("align",), 16, "kernels[0].args[0].align: is no field of manifest version 1"),
    (A + ("name",), "B", "kernels[0].args[1].name: 'B' is there twice"),
    (K + ("args", 3, "type"), "f32", "kernels[0].args[3].value: only integer scalars can be derived"),
    (K + ("args", 3, "value"), "ceildiv(dim(A, 0), tile)", "kernels[0].args[3].value: 'ceildiv(dim(A, 0), tile)' uses 'tile', which is no argument"),
    (K + ("args", 3, "value"), 3, "kernels[0].args[3].value: expected a string, found a number"),
    (K + ("params", 0, "kind"), "map", "kernels[0].params[0].kind: expected 'tensor_map', 'pointer' or 'value', found 'map'"),
    (K + ("params", 0, "arg"), "tiles_m", "kernels[0].params[0].arg: expected the name of an array argument, found 'tiles_m'"),
    (K + ("params", 0, "value"), "1", "kernels[0].params[0].value: is no field of manifest version 1"),
    (K + ("params", 3, "type"), "f32", "kernels[0].params[3].value: expected the name of a scalar argument of type f32, found 'dim(A, 1)'"),
    (K + ("params", 3, "value"), "dim(A, 1", "kernels[0].params[3].value: column 9 of 'dim(A, 1': expected ')', found the end"),
    (K + ("grid",), ["1"], "kernels[0].grid: expected 3 expressions, found 1"),
    (K + ("grid", 1), 1, "kernels[0].grid[1]: expected a string, found a number"),
    (K + ("block",), [1024, 2, 1], "kernels[0].block: has 2048 threads, more than 1024"),
    (K + ("block",), [0, 1, 1], "kernels[0].block[0]: is 0, expected 1 to 1024"),
    (K + ("cluster",), [8, 4, 1], "kernels[0].cluster: has more than 16 CTAs"),
    (K + ("dynamic_smem",), -1, "kernels[0].dynamic_smem: is -1, expected 0 to 1048576"),
    (K + ("pdl",), 1, "kernels[0].pdl: expected true or false, found a number"),
    (K + ("min_trips",), [], "kernels[0].min_trips: expected an object, found a list"),
    (K + ("min_trips",), {"A": 1}, "kernels[0].min_trips.A: is no integer scalar argument"),
    (K + ("min_trips",), {"tiles_k": -1}, "kernels[0].min_trips.tiles_k: is -1, expected 0 to 2147483647"),
    (K + ("events", 0, "op"), 4, "kernels[0].events[0].op: expected a string, found a number"),
    (K + ("events", 0, "line"), 4, "kernels[0].events[0].line: is no field of manifest version 1"),
]
rc, out, err = dry(json.dumps(GOOD))
tool.expect("unchanged", rc == 0, (rc, out, err))
for path, value, message in CASES:
    rc, out, err = dry(mutated(path, value))
    tool.expect(path, (rc, err) == (1, f"ts-run: error: [TS502] m.json: {message}\n"), (rc, out, err))

TEXTS = [
    ("", "m.json: is no valid JSON at line 1, column 1"),
    ("{", "m.json: is no valid JSON at line 1, column 2"),
    ('{"version": 1,\n "kernels": [}', "m.json: is no valid JSON at line 2, column 14"),
    ("[1]", "m.json: the file: expected an object, found a list"),
    ('{"version": 1, "kernels": ["\xff"]}'.encode("latin1").decode("latin1"), "m.json: kernels[0]: expected an object, found a string"),
    ("[" * 100000, "m.json: is no valid JSON at line 1, column 100001"),
]
for text, message in TEXTS:
    rc, out, err = dry(text)
    tool.expect(text[:20], (rc, err) == (1, f"ts-run: error: [TS502] {message}\n"), (rc, out, err))
rc, out, err = tool.run("--manifest", "absent.json", "--dry-run")
tool.expect("absent", (rc, err) == (1, "ts-run: error: [TS502] the launch manifest absent.json: cannot be read: No such file or directory\n"), err)
rc, out, err = tool.run("--manifest", "..", "--dry-run")
tool.expect("a folder", rc == 1 and "the launch manifest ..: is a folder" in err, err)

random.seed(7)
good = json.dumps(GOOD)
for i in range(300):
    text = list(good)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(text))
        choice = random.randrange(3)
        if choice == 0:
            text = text[: max(at, 1)]
        elif choice == 1:
            text[at] = random.choice('{}[]",:0-9eE.x \\')
        else:
            text[at : at + random.randrange(20)] = []
    rc, out, err = dry("".join(text))
    tool.expect(f"mutant {i}", rc in (0, 1) and (rc == 0) == (err == "") and err.count("\n") <= 1, (rc, err))
tool.done()
