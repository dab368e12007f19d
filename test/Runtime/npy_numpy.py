# REQUIRES: numpy
# RUN: %python %s %t %fake_driver
# Files exchanged with NumPy itself, in both directions, for all its types that we know.
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from rt import Tool, copy_manifest

tool = Tool(sys.argv[1], sys.argv[2])
rng = np.random.default_rng(1)
NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "int16": "i16",
         "int8": "i8", "uint64": "ui64", "uint32": "ui32", "uint16": "ui16", "uint8": "ui8"}
for numpy_name, name in NAMES.items():
    for shape in ((), (7,), (3, 5), (2, 3, 4), (0, 4)):
        for order in "CF":
            array = np.asarray(rng.integers(0, 100, shape).astype(numpy_name), order=order)
            np.save("in.npy", array)
            # The fake driver's copy kernel knows f32 only, so D stays unwritten here; X is what is looked at.
            copy_manifest("m.json", name, rank=len(shape), extra=[("X", name, len(shape))])
            text = "x".join(map(str, shape))
            if not shape or (name == "f32" and len(shape) == 2):
                continue  # no way to spell D's shape; the real copy is tested below
            rc, out, err = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=@in.npy", "--array", f"D={text}",
                                    "--array", "X=@in.npy", "--scalar", "alpha=1", "--out", "X=out.npy")
            back = np.load("out.npy") if not err and rc == (name[0] == "f" and array.size > 0) else None
            tool.expect((name, shape, order), back is not None and back.dtype == array.dtype
                        and back.shape == array.shape and (back == array).all(), (rc, out, err))
copy_manifest("m.json", "f32")
for order in "CF":
    array = np.asarray(rng.standard_normal((37, 20)).astype("f4"), order=order)
    np.save("in.npy", array)
    rc, out, err = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=@in.npy", "--array", "D=37x20:stride0=24",
                            "--scalar", "alpha=1", "--check", "D = A", "--out", "D=out.npy")
    tool.expect("copy", rc == 0 and (np.load("out.npy") == array).all(), (rc, out, err))
tool.done()
