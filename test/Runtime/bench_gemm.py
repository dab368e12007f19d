# RUN: env LD_LIBRARY_PATH=%fake_driver %python %s %ts_src %t 2>&1
# The launching half of utils/gpu/bench_gemm.py on the driver over host memory, with a torch that has just
# what that half asks for: the same manifest has to give the same launch as in ts-run.
import ctypes
import os
import shutil
import struct
import sys
import types

root, scratch = sys.argv[1:]
os.makedirs(scratch, exist_ok=True)
torch = types.ModuleType("torch")
torch.bfloat16, torch.float16, torch.float32 = "bf16", "f16", "f32"
torch.cuda = types.SimpleNamespace(
    current_stream=lambda: types.SimpleNamespace(cuda_stream=0),
    get_device_properties=lambda i: types.SimpleNamespace(multi_processor_count=4))
sys.modules["torch"] = torch
sys.path.insert(0, os.path.join(root, "utils", "gpu"))
import bench_gemm  # noqa: E402


class Tensor:
    def __init__(self, shape, size):
        self.shape, self.size = shape, size
        self.data = (ctypes.c_uint8 * (shape[0] * shape[1] * size))()

    def stride(self, i=None):
        strides = (self.shape[1], 1)
        return strides if i is None else strides[i]

    def dim(self):
        return 2

    def element_size(self):
        return self.size

    def data_ptr(self):
        return ctypes.addressof(self.data)


shutil.copy(os.path.join(root, "test", "Runtime", "Inputs", "gemm.json"), os.path.join(scratch, "gemm.json"))
open(os.path.join(scratch, "gemm.cubin"), "w").write("x")
kernel = bench_gemm.Kernel(os.path.join(scratch, "gemm.cubin"), None, None)
assert kernel.outputs() == ["D"]
m, n, k = 200, 300, 64
a, b, d = Tensor((m, k), 2), Tensor((n, k), 2), Tensor((m, n), 4)


def value(i):
    return i * 37 % 5 - 2


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0] >> 16


for tensor in (a, b):
    count = tensor.shape[0] * k
    struct.pack_into(f"<{count}H", tensor.data, 0, *[bits(value(i)) for i in range(count)])
tensors = {"A": a, "B": b, "D": d}
assert kernel.evaluate("min(tiles_m * tiles_n, sms())", tensors) == 4
assert kernel.evaluate("tiles_k + stride(A, 0)", tensors) == 65
kernel.prepare(tensors)()
result = struct.unpack(f"<{m * n}f", d.data)
for i in (0, 7, m - 1):
    for j in (0, 150, n - 1):
        assert result[i * n + j] == sum(value(i * k + x) * value(j * k + x) for x in range(k)), (i, j)
print("as expected")
