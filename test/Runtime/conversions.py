# RUN: %python %s %t %fake_driver
# Every conversion of an element: values that sit on, next to and between the numbers of the narrow type
# go in as f64 and come out as bits, which have to be those of an independent reference in Python.
import math
import os
import struct
import sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from rt import Tool, copy_manifest, read_npy, write_npy


def decode(bits, width, fraction, bias, infinities):
    """The exact value of a code, or None for NaN and infinity."""
    sign = -1 if bits >> (width - 1) else 1
    field = (bits >> fraction) & ((1 << (width - 1 - fraction)) - 1)
    low = bits & ((1 << fraction) - 1)
    top = (1 << (width - 1 - fraction)) - 1
    if field == top and (infinities or low == (1 << fraction) - 1):
        return None
    if field == 0:
        return sign * Fraction(low) * Fraction(2) ** (1 - bias - fraction)
    return sign * (low + (1 << fraction)) * Fraction(2) ** (field - bias - fraction)


def encoder(width, fraction, bias, infinities):
    positive = [(decode(b, width, fraction, bias, infinities), b) for b in range(1 << (width - 1))]
    positive = [(v, b) for v, b in positive if v is not None]
    values = [v for v, _ in positive]
    step = values[-1] - values[-2]
    overflow = (0x7F if not infinities else (((1 << (width - 1 - fraction)) - 1) << fraction))

    def encode(x):
        sign = (1 << (width - 1)) if math.copysign(1, x) < 0 else 0
        x = abs(Fraction(x))
        if x >= values[-1] + step / 2:  # the tie goes to the even neighbour, which is out of range
            even_top = positive[-1][1] % 2 == 0
            if x > values[-1] + step / 2 or not even_top:
                return sign | overflow
        import bisect
        i = bisect.bisect_left(values, x)
        near = positive[max(i - 1, 0) : i + 1]
        # Nearest, and of two equally near ones the even code.
        return sign | min(near, key=lambda p: (abs(p[0] - x), p[1] % 2))[1]

    return encode, values


TYPES = {"bf16": (16, 7, 127, True, "V2"), "f16": (16, 10, 15, True, "f2"),
         "f8e4m3": (8, 3, 7, False, "u1"), "f8e5m2": (8, 2, 15, True, "u1")}

tool = Tool(sys.argv[1], sys.argv[2])
for name, (width, fraction, bias, infinities, code) in TYPES.items():
    encode, values = encoder(width, fraction, bias, infinities)
    stride = max(1, len(values) // 2000)
    inputs = []
    for low, high in zip(values[::stride], values[1::stride]):
        middle = (low + high) / 2
        for x in (low, middle, middle * (1 + Fraction(1, 2**50)), middle * (1 - Fraction(1, 2**50))):
            inputs += [float(x), -float(x)]
    top = float(values[-1])
    inputs += [top, top * 1.01, top * 1.5, top * 4, 1e300, -1e300, 5e-324, 0.0, -0.0, float("inf"), float("-inf")]
    inputs = [x for x in inputs if math.isfinite(x)]
    copy_manifest("m.json", name, rank=1)
    write_npy("in.npy", "f8", (len(inputs),), inputs)
    rc, out, err = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=@in.npy", "--array", f"D={0}",
                            "--scalar", "alpha=1", "--out", "A=out.npy")
    tool.expect(name, rc == 0 and "rounded from f64 to " + name in out, (rc, out, err))
    if rc:
        continue
    found_code, shape, bits = read_npy("out.npy")
    if code == "f2":
        bits = [struct.unpack("<H", struct.pack("<e", b))[0] for b in bits]
    wrong = [(x, hex(b), hex(encode(x))) for x, b in zip(inputs, bits) if b != encode(x)]
    tool.expect(name, found_code == code and shape == (len(inputs),) and not wrong, (found_code, len(wrong), wrong[:3]))

    # Bits survive a round trip through the file untouched.
    if code != "f2":
        rc, out, err = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=@out.npy", "--array", "D=0",
                                "--scalar", "alpha=1", "--out", "A=again.npy")
        tool.expect(name, rc == 0 and open("again.npy", "rb").read() == open("out.npy", "rb").read(), (rc, out, err))

# Powers of two have no sign, no zero and no fraction; every code below NaN is one.
powers = [(2.0**e, e + 127) for e in range(-127, 128)] + [(3.1 * 2.0**e, e + 129) for e in range(-120, 120)]
powers += [(2.9, 128), (3.0, 128), (6.0, 130), (0.0, 0), (1e-300, 0), (2.0**127 * 1.6, 255), (-1.0, 255), (float("inf"), 255)]
copy_manifest("m.json", "f8e8m0", rank=1)
write_npy("in.npy", "f8", (len(powers),), [x for x, _ in powers])
rc, out, err = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=@in.npy", "--array", "D=0", "--scalar", "alpha=1",
                        "--out", "A=out.npy")
tool.expect("f8e8m0", rc == 0 and read_npy("out.npy") == ("u1", (len(powers),), [b for _, b in powers]), (rc, out, err))

# Two elements to a byte are no NumPy type: values come rounded from wider ones, and do not go back.
copy_manifest("m.json", "f4e2m1", rank=1)
for code, ok in (("f4", True), ("u1", False), ("i4", False)):
    write_npy("in.npy", code, (4,), [1, 2, 3, 5])
    rc, out, err = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=@in.npy", "--array", "D=0", "--scalar", "alpha=1")
    tool.expect("f4e2m1", (rc == 0 and "rounded from f32 to f4e2m1" in out) if ok else
                (rc == 1 and f"holds elements of type {code}, but array 'A' is f4e2m1" in err), (rc, out, err))
rc, out, err = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=4:ints(1)", "--array", "D=0", "--scalar", "alpha=1",
                        "--out", "A=out.npy")
tool.expect("f4e2m1", rc == 1 and "array 'A' is f4e2m1, which NumPy files cannot hold" in err, (rc, out, err))

# Integers are copied, never converted from floats.
for name, code in {"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "ui8": "u1", "ui16": "u2", "ui32": "u4", "ui64": "u8"}.items():
    size = int(code[1]) * 8
    values = [0, 1, 2 ** (size - 1) - 1] + ([-1, -(2 ** (size - 1))] if code[0] == "i" else [2**size - 1])
    copy_manifest("m.json", name, rank=1)
    write_npy("in.npy", code, (len(values),), values)
    args = ["k.ptx", "--manifest", "m.json", "--array", "A=@in.npy", "--array", "D=0", "--scalar", "alpha=1", "--out", "A=out.npy"]
    rc, out, err = tool.run(*args)
    tool.expect(name, rc == 0 and read_npy("out.npy") == (code, (len(values),), values), (rc, out, err))
    write_npy("in.npy", "f4", (1,), [1.0])
    rc, out, err = tool.run(*args)
    tool.expect(name, rc == 1 and f"holds elements of type f4, but array 'A' is {name}" in err, (rc, out, err))
tool.done()
