"""Helpers of the Python tests of ts-run: .npy files without NumPy, manifests, running the tool."""

import json
import os
import struct
import subprocess
import sys

FORMATS = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b",
           "u8": "Q", "u4": "I", "u2": "H", "u1": "B", "V2": "H", "V1": "B"}


def write_npy(path, code, shape, values, order="C", version=1):
    """`values` are numbers (bit patterns for V2 and V1), row-major for order C."""
    mark = "|" if code[1] == "1" else "<"
    header = repr({"descr": mark + code, "fortran_order": order == "F", "shape": tuple(shape)})
    header = (header + " ").encode() + b"\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY" + bytes([version, 0]))
        out.write(struct.pack("<H" if version == 1 else "<I", len(header)) + header)
        out.write(struct.pack("<%d%s" % (len(values), FORMATS[code]), *values))


def read_npy(path):
    """(code, shape, values), after checking what every reader of .npy files relies on."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    assert (10 + length) % 64 == 0 and data[9 + length : 10 + length] == b"\n"
    header = eval(data[10 : 10 + length], {})
    assert set(header) == {"descr", "fortran_order", "shape"} and not header["fortran_order"]
    code = header["descr"][1:]
    count = 1
    for extent in header["shape"]:
        count *= extent
    return code, header["shape"], list(struct.unpack("<%d%s" % (count, FORMATS[code]), data[10 + length :]))


def copy_manifest(path, element, rank=2, extra=()):
    """The fake driver's copy kernel from A to D, with further arrays (name, element, rank) that the
    kernel does not touch and checks can read. Tensor maps of the fake only know f32 shapes of rank 2."""
    def array(name, element, rank, access):
        return {"name": name, "kind": "buffer", "element": element, "rank": rank, "access": access}
    args = [array("A", element, rank, "read"), array("D", element, rank, "write")]
    if element == "f32" and rank == 2:
        for arg in args:
            arg.update(kind="tensor_map", box=[4, 4])
        params = [{"kind": "tensor_map", "arg": "A"}, {"kind": "tensor_map", "arg": "D"}]
    else:
        params = []
    args += [array(name, kind, r, "read") for name, kind, r in extra]
    args += [{"name": "alpha", "kind": "scalar", "type": "f32"}]
    kernel = {"name": "copy", "arch": "sm_90a", "args": args, "params": params,
              "grid": ["1" if params else "0", "1", "1"], "block": [32, 1, 1]}
    json.dump({"version": 1, "kernels": [kernel]}, open(path, "w"))


class Tool:
    """ts-run against the fake driver, in a scratch folder."""

    def __init__(self, scratch, driver):
        os.makedirs(scratch, exist_ok=True)
        os.chdir(scratch)
        open("k.ptx", "w").write("// a kernel\n")
        self.env = dict(os.environ, LD_LIBRARY_PATH=driver)
        self.failures = 0

    def run(self, *args, stdin=None):
        done = subprocess.run(["ts-run", "--device=cuda", *args], capture_output=True, text=True, env=self.env, timeout=120, stdin=stdin)
        err = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("fake: "))
        return done.returncode, done.stdout, err

    def expect(self, what, condition, found=""):
        if not condition:
            self.failures += 1
            print(f"FAILED {what}: {found}")

    def done(self):
        print("all as expected" if not self.failures else f"{self.failures} failures")
        sys.exit(1 if self.failures else 0)
