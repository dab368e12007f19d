# RUN: %python %s ts-opt
"""Places random kernels and checks the result by arithmetic of its own: alignment, no overlap but
the allowed ones, everything inside, and no more padding than an aligned packing can need."""
import random
import re
import subprocess
import sys

KERNELS = 60
SPANS = (0, 32, 64, 128)


def natural(swizzle):
    return swizzle * 8 if swizzle else 16


def make_kernel(rng, number):
    """Text of a kernel and, per resource name, what was asked for."""
    resources, lines, cursor = {}, [], rng.choice((0, 0, 4096))
    for r in range(rng.randint(1, 8)):
        stages, allocs, text = rng.choice((1, 1, 2, 3, 5)), [], []
        for a in range(rng.randint(1, 3)):
            swizzle, rows = rng.choice(SPANS), rng.randint(1, 9)
            inner = swizzle or rng.randint(1, 200)
            space = f", #ts.smem<{swizzle}>" if swizzle else ""
            align = rng.choice((0, 0, 0, 64, 1024))
            need = max(align, natural(swizzle))
            staged = rng.random() < 0.8
            item = f"x{a}: memref<{rows}x{inner}xi8{space}>"
            item += "" if staged else " unstaged"
            item += f" align {align}" if align else ""
            at = None
            if rng.random() < 0.15:
                at = (cursor + need - 1) // need * need
                cursor = at + 8192
                item += f" at {at}"
            allocs.append({"size": rows * inner, "align": need, "at": at,
                           "stages": stages if staged else 1})
            text.append(item)
        pipeline = f" pipeline(async_async, stages = {stages})" if stages > 1 else ""
        lines.append(f'    %r{r} = ts.resource "r{r}" smem({", ".join(text)}){pipeline}')
        resources[f"r{r}"] = {"allocs": allocs, "stages": stages, "group": None, "phase": None}
    free = [n for n in resources if all(a["at"] is None for a in resources[n]["allocs"])]
    if len(free) >= 2 and rng.random() < 0.7:
        members = rng.sample(free, rng.randint(2, len(free)))
        cut = rng.randint(1, len(members) - 1)
        for i, name in enumerate(members):
            resources[name].update(group="g", phase=int(i >= cut))
        operands = ", ".join("%" + name for name in members)
        lines.append(f'    ts.alias_group "g" ({operands}) phases [{cut}, {len(members) - cut}]')
    return f"  ts.kernel @k{number}() warps(1) {{\n" + "\n".join(lines) + "\n  }\n", resources


def parts_of(resources, text):
    """(begin, end, pinned, group, phase, what) of every allocation and barrier array."""
    for name, wanted in resources.items():
        line = re.search(rf'ts\.resource "{name}" .*', text).group(0)

        def numbers(key):
            return [int(v) for v in re.search(rf"{key} = array<i64: ([-0-9, ]+)>", line).group(1).split(",")]

        offsets, strides = numbers("ts.offsets"), numbers("ts.strides")
        for i, alloc in enumerate(wanted["allocs"]):
            assert offsets[i] % alloc["align"] == 0, (name, i, "not aligned")
            assert strides[i] % alloc["align"] == 0, (name, i, "stage not aligned")
            assert alloc["stages"] == 1 or strides[i] >= alloc["size"], (name, i, "stages overlap")
            assert alloc["at"] in (None, offsets[i]), (name, i, "not where it was pinned")
            end = offsets[i] + strides[i] * (alloc["stages"] - 1) + alloc["size"]
            yield (offsets[i], end, alloc["at"] is not None, wanted["group"], wanted["phase"], f"{name}.x{i}")
        for side in ("full", "empty"):
            found = re.search(rf"ts\.{side}_offset = (\d+)", line)
            assert bool(found) == (wanted["stages"] > 1), (name, side)
            if found:
                begin = int(found.group(1))
                assert begin % 8 == 0
                yield (begin, begin + 8 * wanted["stages"], False, None, None, f"{name}.{side}")


def check(resources, text):
    total = int(re.search(r"ts\.smem_bytes = (\d+)", text).group(1))
    parts = sorted(parts_of(resources, text))
    for i, a in enumerate(parts):
        assert a[1] <= total, (a, "outside of", total)
        for b in parts[i + 1:]:
            if b[0] >= a[1] or (a[2] and b[2]):
                continue
            assert a[3] and a[3] == b[3] and a[4] != b[4], ("overlap", a, b)
    if not any(p[2] for p in parts):
        room = sum(p[1] - p[0] for p in parts) + sum(a["align"] for r in resources.values() for a in r["allocs"])
        assert total <= room + 16, ("padding", total, room)


def main():
    for seed in range(4):
        rng = random.Random(seed)
        kernels = [make_kernel(rng, i) for i in range(KERNELS)]
        source = "gpu.module @m {\n" + "".join(text for text, _ in kernels) + "}\n"
        run = subprocess.run([sys.argv[1], "-", "--pass-pipeline=builtin.module(gpu.module(ts-allocate))"],
                             input=source, capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, run.stderr
        outputs = run.stdout.split("ts.kernel @")[1:]
        assert len(outputs) == KERNELS
        for (_, resources), text in zip(kernels, outputs):
            check(resources, text)


if __name__ == "__main__":
    main()
