# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches: what is refused and what the refusal says, dtypes, tensors of other libraries, schedules, faults."""
import linecache

import numpy as np
import pytest

import mlir_ts
from copy_tma import copy_tma
from mlir_ts import Buffer, Index, LaunchError, Scalar, TensorMap, dsl, kernel
from mlir_ts.task_scheduling import (MemoryResource, PipelineConfig, SmemAllocation, Task, TaskManager, consumer_work,
                                     producer_work, schedule)


class Source(MemoryResource):
    @consumer_work
    def read(self, stage_info):
        return dsl.load(self.array, dsl.info("lane", results="index"))


class Target(MemoryResource):
    offset = 0

    @producer_work
    def store(self, stage_info, *, x):
        dsl.store(x, self.array, dsl.info("lane", results="index") + self.offset)  # the store


def copier(element, offset=0, scalars=False):
    """A kernel of one warp that copies 32 elements; with scalars it wants some."""
    def body(A, D):
        source, target = Source(name="a"), Target(name="d")
        source.array, target.array, target.offset = A, D, offset

        @schedule
        def run():
            target.store(x=source.read())
        TaskManager([Task(name="copy", warp_idx=0, src_resources=[source], dst_resources=[target], schedule=run())],
                    {target: [source]})

    @kernel(arch="sm_90a")
    def copy(A: Buffer(element, (32,)), D: Buffer(element, (32,))):
        body(A, D)

    @kernel(arch="sm_90a")
    def scaled(A: Buffer(element, (32,)), D: Buffer(element, (32,)), alpha: Scalar("f32"), n: Index(min=2)):
        body(A, D)
    return scaled if scalars else copy


class Tile(MemoryResource):
    def get_smem_requirements(self):
        return [SmemAllocation("x", self.type, swizzle=128)]

    @producer_work
    def load(self, stage_info):
        dsl.tma_load(self.source, stage_info.x, coords=(0, 0))

    @consumer_work
    def view(self, stage_info):
        return stage_info.x


class Out(MemoryResource):
    @producer_work
    def store(self, stage_info, *, x):
        dsl.tma_store(x, self.target, coords=(0, 0))
        dsl.bulk_commit()
        dsl.bulk_wait(0, read=True)


class Where(MemoryResource):
    @consumer_work
    def coords(self, stage_info):
        dsl.warp_sync()


def tiles(element, box, arch="sm_90a"):
    """A kernel that copies one tile by TMA."""
    array = TensorMap(element, box=box, swizzle=128)

    @kernel(arch=arch)
    def copy_tile(A: array, D: array):
        where, out = Where(name="a"), Out(name="d")
        tile = Tile(name="tile", pipeline_config=PipelineConfig.create_tma_async_pipeline_cfg(num_stages=1))
        tile.type, tile.source, out.target = f"{box[0]}x{box[1]}x{element}", A, D

        @schedule
        def load():
            where.coords()
            tile.acquire()
            tile.load()
            tile.commit()

        @schedule
        def store():
            tile.wait()
            out.store(x=tile.view())
            tile.release()
        TaskManager([Task(name="load", warp_idx=0, src_resources=[where], dst_resources=[tile], schedule=load()),
                     Task(name="store", warp_idx=1, src_resources=[tile], dst_resources=[out], schedule=store())],
                    {tile: [where], out: [tile]})
    return copy_tile


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


class OnDevice:
    """What a CUDA tensor shows of itself; nothing looks at the memory before it is refused."""

    def __init__(self, shape, typestr="<f4", address=1 << 20, read_only=False):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (address, read_only),
                                         "strides": None, "version": 3}


A, D = floats(64, 32), np.zeros((64, 32), np.float32)
READ_ONLY = D.copy()
READ_ONLY.flags.writeable = False

REFUSED = {
    "dtype": ((A.astype(np.float64), D), {}, ["'A'", "float64", "f32, that is NumPy's float32"]),
    "rank": ((A[0], D), {}, ["'A'", "1 dimensions", "takes 2"]),
    "row stride": ((floats(64, 33), D), {}, ["'A'", "132", "multiple of 16", "a stride of 36 elements"]),
    "inner stride": ((floats(64, 64)[:, ::2], D), {}, ["'A'", "innermost", "stride 2", "contiguous"]),
    "column-major": ((A, np.asfortranarray(D)), {}, ["'D'", "innermost", "stride 64", "contiguous"]),
    "alignment": ((floats(64 * 36 + 1)[1:].reshape(64, 36), D), {}, ["'A'", "16"]),
    "negative strides": ((A[::-1], D), {}, ["'A'", "negative strides", "ascontiguousarray"]),
    "read-only": ((A, READ_ONLY), {}, ["'D' is read-only"]),
    "missing": ((A,), {}, ["'copy_tma' also wants D"]),
    "unknown": ((A, D), {"E": A}, ["no argument 'E'", "A, D"]),
    "misspelt": ((A,), {"d": D}, ["no argument 'd'", "A, D"]),
    "twice": ((A, D), {"D": D}, ["'D' of 'copy_tma' is given twice"]),
    "derived": ((A, D), {"tiles_m": 1}, ["no argument 'tiles_m'"]),
    "too many": ((A, D, D), {}, ["3 arrays", "takes 2: A, D"]),
    "no array": ((A.tolist(), D), {}, ["'A': a list is no array", "NumPy array"]),
    "mixed": ((A, OnDevice((64, 32))), {}, ["A on the host", "D on the cuda"]),
    "device memory in the emulator": ((OnDevice((64, 32)), OnDevice((64, 32))), {"device": "emulator"},
                                      ["the emulator takes arrays on the host"]),
    "device dtype": ((OnDevice((64, 32), "<f8"), OnDevice((64, 32))), {}, ["'A'", "float64", "float32"]),
    "device read-only": ((OnDevice((64, 32)), OnDevice((64, 32), read_only=True)), {}, ["'D' is read-only"]),
    "device": ((A, D), {"device": "tpu"}, ["device 'tpu'", "'emulator' or 'cuda'"]),
    "schedule": ((A, D), {"schedule": "randm:1"}, ["schedule 'randm:1'", "'random:SEED'"]),
    "schedule that is no text": ((A, D), {"schedule": 3}, ["schedule '3'", "'random:SEED'"]),
    "threads": ((A, D), {"threads": -1}, ["threads=-1: expected a whole number from 0"]),
    "half a thread": ((A, D), {"threads": 2.5}, ["threads=2.5: expected a whole number"]),
    "no multiprocessor": ((A, D), {"sms": 0}, ["sms=0: expected a whole number from 1"]),
    "timeout": ((A, D), {"timeout": "1 s"}, ["timeout='1 s': expected a number"]),
    "timeout that is none": ((A, D), {"timeout": float("nan")}, ["timeout=nan: expected a number"]),
    "trace": ((A, D), {"trace": 3}, ["trace=3: expected the name of a file"]),
    "grid": ((A, D), {"grid": (7, 1, 1)}, ["grid (7, 1, 1)", "(1, 1, 1)"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    arrays, options, says = REFUSED[name]
    with pytest.raises(LaunchError) as caught:
        copy_tma(*arrays, **options)
    for words in says:
        assert words in str(caught.value)
    assert caught.value.id == "TS503"
    assert caught.value.file == __file__ and "copy_tma(*arrays" in linecache.getline(__file__, caught.value.line)


def test_scalars():
    scaled = copier("f32", scalars=True)
    a, d = floats(32), np.zeros(32, np.float32)
    for options, says in (({}, "also wants alpha, n"), ({"alpha": 1.0}, "also wants n"),
                          ({"alpha": "one", "n": 2}, "'alpha': a str is no number"),
                          ({"alpha": 1.0, "n": 2.5}, "n"), ({"alpha": 1.0, "n": 1}, "2"),
                          ({"alpha": 1.0, "n": 2, "aplha": 3.0}, "did you mean 'alpha'?")):
        with pytest.raises(LaunchError, match=says.replace("?", r"\?")):
            scaled(a, d, **options)
    scaled(a, d, alpha=1.0, n=np.int64(2))
    assert (d == a).all()


DTYPES = [("f32", np.float32), ("f64", np.float64), ("f16", np.float16), ("bf16", np.uint16), ("i32", np.int32),
          ("i16", np.int16), ("i8", np.int8), ("i64", np.int64)]


@pytest.mark.parametrize("element, dtype", DTYPES)
def test_dtypes(element, dtype):
    a, d = np.arange(32).astype(dtype), np.zeros(32, dtype)
    copier(element)(a, d)
    assert (d == a).all()


@pytest.mark.parametrize("element, name", [("bf16", "bfloat16")])
def test_ml_dtypes(element, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.arange(32).astype(getattr(ml_dtypes, name))
    d = np.zeros_like(a)
    copier(element)(a, d)
    assert (d == a).all()


@pytest.mark.parametrize("element, width, arch", [("f8E4M3FN", 128, "sm_90a"), ("f8E5M2", 128, "sm_90a"),
                                                  ("f4E2M1FN", 256, "sm_100a")])
def test_small_floats_are_bytes(element, width, arch):
    per_byte = 2 if element.startswith("f4") else 1
    a = np.random.default_rng(1).integers(0, 256, (64, width // per_byte), np.uint8)
    d = np.zeros_like(a)
    tiles(element, (64, width), arch)(a, d)
    assert (d == a).all()


def test_tensors_of_other_libraries():
    class Tensor:
        """A host tensor that speaks DLPack, and nothing else."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()
    a, d = floats(64, 32), np.zeros((64, 32), np.float32)
    copy_tma(Tensor(a), Tensor(d))
    assert (d == a).all()
    with pytest.raises(LaunchError, match="float64"):
        copy_tma(Tensor(a.astype(np.float64)), Tensor(d))


@pytest.mark.parametrize("view", [lambda x: x[8:72, 16:48], lambda x: x[::2, :32], lambda x: x[5:6, 4:40]])
def test_views(view):
    """Rows that are apart, and windows that begin anywhere aligned; nothing beside the window is written."""
    a, d = floats(144, 64), np.full((144, 64), -1, np.float32)
    copy_tma(view(a), view(d))
    assert (view(d) == view(a)).all()
    view(d)[...] = -1
    assert (d == -1).all()


@pytest.mark.parametrize("shape", [(1, 4), (64, 32), (65, 36), (200, 100)])
@pytest.mark.parametrize("order", ["fair", "random:3", "adversarial:0", "adversarial:1"])
def test_schedules(shape, order):
    a, d = floats(*shape), np.zeros(shape, np.float32)
    told = copy_tma(a, d, schedule=order, grid=(-(-shape[0] // 64) * -(-shape[1] // 32), 1, 1))
    assert (d == a).all() and told.instructions > 0 and not told.warnings


def test_called_with_nothing():
    with pytest.raises(LaunchError, match="'copy' also wants A, D"):
        copier("f32")()
    launcher = copier("f32")(schedule="random:1")
    with pytest.raises(LaunchError, match="'copy' also wants A, D"):
        launcher()
    a, d = floats(32), np.zeros(32, np.float32)
    launcher(a, d)
    assert (d == a).all()


def test_a_kernel_without_arguments_runs():
    class Nothing(MemoryResource):
        @producer_work
        def do(self, stage_info):
            return

        @consumer_work
        def nothing(self, stage_info):
            return

    @kernel(arch="sm_90a", grid=("1",))
    def alone():
        source, target = Nothing(name="source"), Nothing(name="target")

        @schedule
        def run():
            source.nothing()
            target.do()
        TaskManager([Task(name="t", warp_idx=0, src_resources=[source], dst_resources=[target], schedule=run())],
                    {target: [source]})
    assert alone().instructions > 0 and alone(schedule="random:1").instructions > 0


def test_names_instead_of_positions():
    a, d = floats(64, 32), np.zeros((64, 32), np.float32)
    copy_tma(D=d, A=a)
    assert (d == a).all()


def test_a_fault_has_the_line():
    a, d = floats(32), np.zeros(32, np.float32)
    with pytest.raises(mlir_ts.KernelFault) as caught:
        copier("f32", offset=1 << 20)(a, d)
    fault = caught.value
    assert fault.id == "TS713" and fault.file == __file__
    assert "# the store" in linecache.getline(fault.file, fault.line)
    assert f"{fault.file}:{fault.line}:" in str(fault).splitlines()[0] and "[TS713]" in str(fault).splitlines()[0]
    assert fault.faults[0]["kind"] == "out-of-bounds"
    assert (d == 0).all()


def test_the_device_is_not_there():
    try:
        mlir_ts._core._cuda_device()
    except mlir_ts.EnvironmentError:
        with pytest.raises(mlir_ts.EnvironmentError):
            copy_tma(A, D.copy(), device="cuda")
    else:
        copied = D.copy()
        copy_tma(A, copied, device="cuda")
        assert (copied == A).all()


def test_a_time_limit():
    with pytest.raises(mlir_ts.Error, match="did not end within"):
        copy_tma(floats(2048, 1024), np.zeros((2048, 1024), np.float32), timeout=0.01)
