"""Two GPUs in one process: arrays stay where they are, the other libraries' current device stays as it was, and each GPU has its own
streams. Needs two GPUs."""

import os
import threading

import numpy as np
import pytest

if os.environ.get("LEAT_TEST_DEVICE", "cpu") != "cuda":
    pytest.skip("needs GPUs", allow_module_level=True)
import leat  # noqa: E402

if sum(info.device.startswith("cuda") and info.usable for info in leat.devices()) < 2:
    pytest.skip("needs two GPUs", allow_module_level=True)
torch = pytest.importorskip("torch")
cupy = pytest.importorskip("cupy")
double = leat.program("y[i] = 2 * a[i] + 1")
add = leat.program("y[i] = a[i] + b[i]")


@pytest.mark.parametrize("ordinal", [0, 1])
def test_torch(ordinal):
    a = torch.arange(100_000, dtype=torch.float32, device=f"cuda:{ordinal}")
    for _ in range(40):  # later launches are kept ones
        y = double(a)
    assert y.device == a.device and torch.equal(y, 2 * a + 1)
    assert double(a, out=y) is y and torch.equal(y, 2 * a + 1)
    assert torch.cuda.current_device() == 0


@pytest.mark.parametrize("ordinal", [0, 1])
def test_cupy(ordinal):
    with cupy.cuda.Device(ordinal):
        a = cupy.arange(100_000, dtype="f4")
        assert (double(a) == 2 * a + 1).all()
    y = double(a)  # the other device may be current
    assert y.device.id == ordinal and cupy.cuda.Device().id == 0
    with cupy.cuda.Device(ordinal):
        assert (y == 2 * a + 1).all()


def test_streams():
    for turn in range(50):
        outputs = []
        for ordinal in (0, 1):
            with torch.cuda.device(ordinal), torch.cuda.stream(torch.cuda.Stream(ordinal)):
                a = torch.full((1 << 20,), float(turn), device=f"cuda:{ordinal}")
                for _ in range(5):
                    a = double(a)
                outputs.append(a + 1)
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)
        for y in outputs:
            assert (y == 32 * turn + 32).all().item()


def test_cupy_streams():
    """An array's own GPU counts, not the one that is current in CuPy."""
    streams = []
    for ordinal in (0, 1):
        with cupy.cuda.Device(ordinal):
            streams.append(cupy.cuda.Stream(non_blocking=True))
    for ordinal in (0, 1):
        with cupy.cuda.Device(ordinal), streams[ordinal]:
            a = cupy.arange(1 << 20, dtype="f4")
            for other in (1, 0):
                with cupy.cuda.Device(other), streams[other]:
                    y = double(double(a))
                    assert y.device.id == ordinal
            streams[ordinal].synchronize()
            leat.synchronize(f"cuda:{ordinal}")
            assert (y == 4 * a + 3).all()


def test_mixed():
    a, b = (torch.ones(3, device=f"cuda:{ordinal}") for ordinal in (0, 1))
    with pytest.raises(leat.DeviceError, match="'b' is on cuda:1, but the program runs on cuda:0"):
        add(a, b)
    with pytest.raises(leat.DeviceError, match="'y'|'a'"):
        double(a, out=b)
    assert add(a, np.ones(3)).tolist() == [2] * 3 and add(np.ones(3), b).device == b.device


def test_host_arrays():
    a = np.arange(1000, dtype="f4")
    for device in ("cuda:0", "cuda:1"):
        assert np.array_equal(double(a, device=device), 2 * a + 1)
        y = leat.asarray(a, device=device)
        assert str(y.device).startswith(device) and np.array_equal(double(y).numpy(), 2 * a + 1)
        t = torch.from_dlpack(y)
        assert str(t.device) == device and t.sum().item() == a.sum()


def test_from_one_to_the_other():
    a = leat.asarray(np.arange(1000, dtype="f4"), device="cuda:0")
    b = leat.asarray(a, device="cuda:1")
    assert str(b.device).startswith("cuda:1") and np.array_equal(b.numpy(), a.numpy())
    t = torch.arange(1000.0, device="cuda:1")
    assert np.array_equal(leat.asarray(t, device="cuda:0").numpy(), np.arange(1000))


def test_a_thread_for_each():
    failures = []

    def run(ordinal):
        try:
            torch.cuda.set_device(ordinal)
            a = torch.arange(10_000, dtype=torch.float32, device=f"cuda:{ordinal}")
            for _ in range(300):
                assert torch.equal(double(a), 2 * a + 1)
            assert torch.cuda.current_device() == ordinal
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=run, args=(ordinal % 2,)) for ordinal in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_kernels():
    text = 'extern "C" __global__ void f(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1; }'
    for ordinal in (0, 1):
        x = torch.arange(100.0, device=f"cuda:{ordinal}")
        y = torch.zeros_like(x)
        leat.Module(text, device=f"cuda:{ordinal}")["f"][1, 128](y, x, 100)
        assert torch.equal(y, x + 1)
