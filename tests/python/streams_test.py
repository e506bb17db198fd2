"""Streams: those of other libraries, and leat.Stream without a device."""

import threading

import pytest

import leat
from conftest import DEVICE

needs_cuda = pytest.mark.skipif(not DEVICE.startswith("cuda"), reason="needs a GPU")


def test_default_device():
    if DEVICE != "cpu":
        assert leat.Stream().device == DEVICE
    else:
        usable = [each.device for each in leat.devices() if each.device.startswith("cuda") and each.usable]
        assert leat.Stream().device == (usable + ["cpu"])[0]
    with leat.device("cpu"):
        assert leat.Stream().device == "cpu"
    leat.Event().record()


# A library like CuPy, whose arrays are in the memory of leat.Arrays, and whose current stream the test sets.
LIBRARY = """
import sys, types, leat, numpy as np
asked, current = 0, None
def get_current_stream(*device):
    global asked
    asked += 1
    return current
cupy, cuda = types.ModuleType("cupy"), types.ModuleType("cupy.cuda")
cupy.cuda, cuda.get_current_stream = cuda, get_current_stream
sys.modules.update({"cupy": cupy, "cupy.cuda": cuda})
module = leat.Module('extern "C" __global__ void where(const float *x, unsigned long long *y) {'
                     ' *y = (unsigned long long)x; }', device="cuda:0")
def address(x):
    y = leat.asarray(np.zeros(1, "u8"), device="cuda:0")
    module["where"][1, 1](x, y)
    return int(y.numpy()[0])
class ndarray:
    __cuda_array_interface__ = None
    def __init__(self, x):
        self.x, self.shape, self.strides, self.dtype = x, x.shape, x.strides, np.dtype("f4")
        self._c_contiguous = True
        self.data = types.SimpleNamespace(ptr=address(x), device_id=0)
ndarray.__module__ = "cupy"
class Stream:
    def __init__(self, end=None):
        self.stream, self.end = leat.Stream(device="cuda:0"), end
        self.ptr = self.stream.ptr
    def __del__(self):
        if self.end: self.end()
Stream.__module__ = "cupy.cuda.stream"
x = ndarray(leat.asarray(np.ones(8, "f4"), device="cuda:0"))
out = ndarray(leat.asarray(np.zeros(8, "f4"), device="cuda:0"))
f = leat.program("y[i] = a[i] + 1")
def check():
    assert out.x.tolist() == [2] * 8, out.x.tolist()
"""


@needs_cuda
def test_current_stream_is_asked_for_once_by_call(run_python):
    run_python(LIBRARY + """
current = Stream()
held = leat.asarray(x)
for count in (2, 3):
    current = Stream()
    f(x, out=out)
    assert asked == count
check()
""")


@needs_cuda
def test_more_streams_than_are_kept(run_python):
    """A stream that is let go may run Python code, which calls again; streams in use stay."""
    run_python(LIBRARY + """
depth = ended = 0
def end():
    global depth, ended, current
    ended += 1
    if depth < 3:
        depth += 1
        current = Stream()
        f(x, out=out, stream=Stream(end))
        depth -= 1
held = []
for k in range(300):
    current = Stream(end)
    f(x, out=out, stream=Stream(end))
    if k < 100:
        held.append(leat.asarray(x))
assert ended > 300
check()
""")


@needs_cuda
def test_streams_of_others_are_not_kept():
    torch = pytest.importorskip("torch")
    a, program = torch.ones(1000, device="cuda"), leat.program("y[i] = a[i] + 1")
    for _ in range(100):
        stream = leat.Stream(device=DEVICE)  # its address is soon that of another
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.ptr)):
            y = program(a)
            program(y, out=y)
        stream.synchronize()
        assert float(y.sum()) == 3000
    del y


@needs_cuda
def test_threads_share_streams():
    torch = pytest.importorskip("torch")
    program, wrong = leat.program("y[i] = a[i] + 1"), []
    streams = [torch.cuda.Stream() for _ in range(4)]

    def call():
        a = torch.ones(1000, device="cuda")
        torch.cuda.synchronize()
        for k in range(200):
            with torch.cuda.stream(streams[k % 4]):
                if float(program(program(a)).sum()) != 3000:
                    wrong.append(k)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
