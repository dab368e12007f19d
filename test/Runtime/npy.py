# RUN: %python %s %t %fake_driver
# .npy files: orders and versions that are read, the layout that is written, and files that are broken.
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from rt import Tool, copy_manifest, read_npy, write_npy

tool = Tool(sys.argv[1], sys.argv[2])
copy_manifest("m.json", "f32")


def copy(shape, *options, source="in.npy"):
    return tool.run("k.ptx", "--manifest", "m.json", "--array", f"A=@{source}{''.join(options)}", "--array",
                    f"D={shape}", "--scalar", "alpha=1", "--out", "D=out.npy", "--check", "D = A")


values = [float(i) for i in range(12)]
for version in (1, 2, 3):
    write_npy("in.npy", "f4", (3, 4), values, version=version)
    rc, out, err = copy("3x4")
    tool.expect(f"version {version}", rc == 0 and read_npy("out.npy") == ("f4", (3, 4), values), (rc, out, err))

columns = [values[r * 4 + c] for c in range(4) for r in range(3)]
write_npy("in.npy", "f4", (3, 4), columns, order="F")
rc, out, err = copy("3x4")
tool.expect("Fortran order", rc == 0 and read_npy("out.npy")[2] == values, (rc, out, err))

write_npy("in.npy", "f4", (3, 4), values)
rc, out, err = copy("3x4:stride0=8", ":stride0=20")
tool.expect("padded rows", rc == 0 and read_npy("out.npy")[2] == values, (rc, out, err))
rc, out, err = copy("3x4", ":3x4")
tool.expect("shape and file", rc == 0, (rc, out, err))
rc, out, err = copy("3x4", ":6x4")
tool.expect("other shape", rc == 1 and "in.npy: has shape 3x4, but array 'A' is 6x4" in err, (rc, out, err))

with open("in.npy", "rb") as stream:
    done = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=@-", "--array", "D=3x4", "--scalar", "alpha=1",
                    "--check", "D = A", stdin=stream)
    tool.expect("standard input", done[0] == 0 and "D = A: ok, 12 compared (all), exact" in done[1], done)

good = open("in.npy", "rb").read()
header_length = struct.unpack("<H", good[8:10])[0]


def with_header(text):
    text = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + good[10 + header_length :]


BROKEN = [
    (b"", "is no .npy file"),
    (b"PK\x03\x04" + good, "is no .npy file"),
    (good[:6] + b"\x07" + good[7:], "has .npy format version 7, expected 1, 2 or 3"),
    (good[:30], "ends inside its header"),
    (good[:-1], "ends after 47 bytes of data, expected 48"),
    (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + good[10:], "has a header of 4294967295 bytes"),
    (with_header("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 4)}"), "holds elements of type '>f4'"),
    (with_header("{'descr': '<f3', 'fortran_order': False, 'shape': (3, 4)}"), "holds elements of type '<f3'"),
    (with_header("{'descr': '<c8', 'fortran_order': False, 'shape': (3, 4)}"), "holds elements of type '<c8'"),
    (with_header("{'descr': '|O', 'fortran_order': False, 'shape': (3, 4)}"), "holds elements of type '|O'"),
    (with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}"), "has a header that is no plain array"),
    (with_header("{'descr': '<f4', 'fortran_order': False}"), "has a header that is no plain array"),
    (with_header("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3, 4)}"), "has a header that is no plain array"),
    (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4)}"), "has a header that is no plain array"),
    (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"), "has a header that is no plain array"),
    (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 8)}"), "has the impossible shape"),
    (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000)}"), "ends after 48 bytes of data"),
    (with_header("{" * 5000), "has a header that is no plain array"),
]
for data, message in BROKEN:
    open("bad.npy", "wb").write(data)
    rc, out, err = copy("3x4", source="bad.npy")
    tool.expect(data[:40], rc == 1 and err.startswith("ts-run: error: bad.npy: " + message), (rc, out, err))
rc, out, err = copy("3x4", source="absent.npy")
tool.expect("no file", rc == 1 and err == "ts-run: error: absent.npy: cannot be read: No such file or directory\n", err)
rc, out, err = tool.run("k.ptx", "--manifest", "m.json", "--array", "A=3x4", "--array", "D=3x4", "--scalar", "alpha=1",
                        "--out", "D=/nowhere/d.npy")
tool.expect("no folder", rc == 1 and "/nowhere/d.npy: cannot be written: No such file or directory" in err, err)
tool.done()
