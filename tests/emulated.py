"""A device made of NumPy and of the kernels' own source, compiled for the CPU: what a GPU would compute, one thread at a time.

Its arithmetic is that of the compiler, without fused multiply-adds unless they are planted.
"""

import ctypes
import re
import shutil
import subprocess
from contextlib import contextmanager
from functools import cache, partial

import numpy as np

from spinney.curators.gpu import chunks, device, rows

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
#: What CUDA brings: a block has one thread, so that threads never wait for each other.
PRELUDE = """
#include <cmath>
using std::fabs; using std::sqrt; using std::floor; using std::trunc; using std::fmin; using std::fmax;
struct float4 { float x, y, z, w; };
struct Place { long long x, y; };
static Place threadIdx = {0, 0}, blockIdx = {0, 0}, blockDim = {1, 1}, gridDim = {1, 1};
#define __global__
#define __device__ static
#define __shared__ static
static void __syncthreads() {}
template <class T> static T atomicAdd(T *place, T more) { T old = *place; *place += more; return old; }
extern "C" void place_block(long long x, long long y, long long blocks, long long columns) {
    blockIdx = {x, y};
    gridDim = {blocks, columns};
}
"""


@cache
def library(folder, *options):
    """Return the kernels, compiled for the CPU."""
    made = folder / f"kernels{'-'.join(options)}.so"
    source = made.with_suffix(".cpp")
    source.write_text(PRELUDE + device.SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", *options, source, "-o", made], check=True)
    return ctypes.CDLL(str(made))


def as_c(argument):
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)
    assert type(argument) in (int, float), type(argument)
    return ctypes.c_longlong(argument) if type(argument) is int else ctypes.c_double(argument)


class EmulatedLane:
    def send(self, rows, target):
        device.write(rows, target)

    def begin(self, mark):
        pass

    def end(self):
        pass


class EmulatedDevice(device.Device):
    def __init__(self, folder, fused=False, blocks=3, memory=2**34):
        options = ("-mfma", "-O2", "-ffp-contract=fast") if fused else ("-ffp-contract=off",)
        self._kernels, self._blocks, self.memory = library(folder, *options), blocks, memory
        self.launched = []

    def launch(self, name, rows, *arguments, columns=1):
        self.launched.append(name)
        given = [as_c(argument) for argument in arguments]
        source = device.SOURCE.read_text(encoding="utf-8")
        declared = re.search(rf"void {name}\((.*?)\)", source, re.S)[1].split(",")
        for one, argument in zip(declared, arguments, strict=True):  # as CUDA reads them
            kind = np.ndarray if "*" in one else float if "double" in one else int
            assert type(argument) is kind, (name, one)
        for x in range(self._blocks):
            for y in range(min(columns, 2)):
                self._kernels.place_block(*map(ctypes.c_longlong, (x, y, self._blocks, min(columns, 2))))
                getattr(self._kernels, name)(*given)

    def empty(self, shape, dtype):
        return np.full(shape, 77, dtype)  # what nobody wrote is seen

    def zeros(self, shape):
        return np.zeros(shape, np.int64)

    def put(self, array):
        return np.array(array, order="C")

    def get(self, array):
        return array.copy()

    def floats(self, rows):
        dtype = rows.dtype if rows.dtype in (np.float32, np.float64) else np.float32 if rows.dtype == np.float16 else np.float64
        return np.ascontiguousarray(rows, dtype=dtype)

    def mark(self):
        return None

    def lane(self):
        return EmulatedLane()

    def free(self):
        pass


def resident(folder, array, groups=None, **options):
    """Return the rows of an array as if it lay on a device."""
    return rows.CudaRows(EmulatedDevice(folder, **options), chunks.HostBatches(array, groups), None, True)


@contextmanager
def sending(folder, monkeypatch, **options):
    """Let rows be sent to an emulated device."""
    with monkeypatch.context() as patch:
        patch.setattr(rows, "opened_device", partial(EmulatedDevice, folder, **options))
        yield
