"""What the tests of the Python package share: the device, and importing libraries that may be absent.

LEAT_TEST_DEVICE (cpu, sim, cuda) is where programs run that name no device.
"""

import gc
import os
import sys

import pytest

DEVICE = os.environ.get("LEAT_TEST_DEVICE", "cpu")
DEVICE = "cuda:0" if DEVICE == "cuda" else DEVICE
os.environ["LEAT_DEVICE"] = DEVICE
if DEVICE.startswith("cuda"):
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
else:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")


is_asan = "asan" in os.environ.get("LD_PRELOAD", "")  # freed memory is not used again at once


@pytest.fixture
def not_with_asan():
    if is_asan:
        pytest.skip("not with AddressSanitizer")


@pytest.fixture
def device():
    return DEVICE


@pytest.fixture
def references():
    """Objects appended to it must have as many references after the test as when they were appended."""
    held = []

    class References:
        def add(self, *objects):
            for one in objects:
                held.append([one, None])
            for pair in held[-len(objects):]:
                pair[1] = sys.getrefcount(pair[0])

    yield References()
    gc.collect()
    for k in range(len(held)):
        before = held[k][1]
        assert sys.getrefcount(held[k][0]) <= before, f"object {k} is held"


@pytest.fixture
def run_python():
    """Runs a script in another process; it must exit with 0 and write nothing to stderr. Returns its output."""
    import subprocess

    def run(script, timeout_s=60, status=0, **variables):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout_s,
                              env={**os.environ, **variables})
        assert done.returncode == status, done.stderr + done.stdout
        assert status or done.stderr == "", done.stderr
        return done.stdout

    return run
