"""Memory that fails: each allocation of the extension and the library, once, in making and calling programs."""

import ctypes
import os
import shutil
import subprocess
import sys

import pytest

SCRIPT = r'''
import ctypes, gc, sys
import numpy as np
import leat

library = ctypes.CDLL(sys.argv[1])
library.fail_count.restype = ctypes.c_long
with open("/proc/self/maps") as file:
    lines = [line.split() for line in file if "_leat.abi3.so" in line and " r-xp " in line]
ranges = [int(text, 16) for line in lines for text in line[0].split("-")]
library.fail_in(ctypes.c_uint64(min(ranges)), ctypes.c_uint64(max(ranges)))

a, big, y, out = np.arange(5.0), np.arange(5, dtype=">f8"), np.zeros(5), {"y": np.zeros(5)}
names = [f"a{k}" for k in range(20)]
many = leat.program("y = " + "+".join(names))
add = leat.program("y[i] = a[i] + 1; z = sum(i: y[i])\nout y, z")
held = add(a, like="leat")[0]
scenes = {
    "first call": lambda k: leat.program(f"y[i] = a[i] * {k} + 1")(a),
    "eval": lambda k: leat.eval(f"y[i] = a[i] * {k} + 2", a),
    "call": lambda k: add(a),
    "swapped": lambda k: add(big),
    "out": lambda k: add(a, out=out),
    "many": lambda k: many(*range(20)),
    "array": lambda k: (held[1:3], held.T, held.reshape(5, 1), held.numpy(), held.tolist()),
    "dlpack": lambda k: np.from_dlpack(add(a, like="leat", device="cpu")[0]),
    "capsule": lambda k: add(a, like="leat", device="cpu")[0].__dlpack__(),
    "error": lambda k: failing(lambda: leat.program(f"y = foo{k}(1)"), SyntaxError),
    "data": lambda k: failing(lambda: leat.eval("y[i] = a[p[i]]", a, np.array([9])), IndexError),
    "threads": lambda k: add.__reduce__(),
}

def failing(call, kind):
    try:
        call()
    except kind:
        return
    raise AssertionError("no exception")

watched = [a, big, y, out, out["y"], many, add, held]
failures = 0
for name, scene in scenes.items():
    scene(10**6)
    gc.collect()
    before = [sys.getrefcount(one) for one in watched]
    number = 1
    while number < 3000:
        reached = (name, number)
        library.fail_after(number)
        try:
            scene(number + 1000 * len(name))
        except MemoryError:
            failures += 1
        finally:
            made = library.fail_count()
            library.fail_after(0)
        if made < number:
            break
        number += 1 if number < 60 else 7
    scene(10**7)
    gc.collect()
    after = [sys.getrefcount(one) for one in watched]
    assert before == after, (name, before, after)
    assert add(a)[0].tolist() == [1, 2, 3, 4, 5], name
print(failures)
'''


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler")
    target = tmp_path_factory.mktemp("fail") / "fail_memory.so"
    source = os.path.join(os.path.dirname(__file__), "fail_memory.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", target, source], check=True)
    try:
        ctypes.CDLL(str(target))
    except OSError:
        pytest.skip("not with this C library")
    return str(target)


def test_each_allocation(not_with_asan, preloaded, device):
    if device != "cpu":
        pytest.skip("the driver that sim simulates has no failures of its own here")
    done = subprocess.run([sys.executable, "-c", SCRIPT, preloaded], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "LD_PRELOAD": preloaded})
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    assert done.stderr == "" and int(done.stdout) > 100, (done.stderr, done.stdout)


OBJECTS = r'''
import gc, sys
import numpy as np
import leat
from _testcapi import set_nomemory, remove_mem_hooks

a, big, y, out = np.arange(5.0), np.arange(5, dtype=">f8"), np.zeros(5), {"y": np.zeros(5)}
add = leat.program("y[i] = a[i] + 1; z = sum(i: y[i])\nout y, z")
held = add(a, like="leat")[0]
scenes = [lambda: add(a), lambda: add(big), lambda: add(a, out=out), lambda: add(a=a, like="leat"),
          lambda: leat.eval("y[i] = a[i] + 1", a), lambda: leat.program("y[i] = a[i] + 2"), lambda: held[1:, None],
          lambda: held.numpy(), lambda: held.tolist(), lambda: held.T, lambda: repr(held), lambda: repr(add),
          lambda: held.__dlpack__(max_version=(1, 0)) if held.device == "cpu" else None, lambda: add.__reduce__(),
          lambda: leat.program("y = foo(1)"), lambda: add([1]), lambda: add(a, b=1), lambda: add(a, device="gpu"),
          lambda: leat.eval("y[i] = a[p[i]]", a, big), lambda: leat.device("cpu"), lambda: memoryview(held)]
watched = [a, big, y, out, out["y"], add, held]
failures = 0

def attempt(scene, start):
    """With allocation number `start` failing, which may also be one of this function's own."""
    set_nomemory(start, start + 1)
    try: scene()
    finally: remove_mem_hooks()

for scene in scenes:
    for _ in range(2):
        try: scene()
        except Exception: pass
    gc.collect()
    before = [sys.getrefcount(one) for one in watched]
    for start in range(120):
        try:
            attempt(scene, start)
        except MemoryError:
            remove_mem_hooks()
            failures += 1
        except Exception as error:
            # "... returned NULL without setting an exception"; Python 3.11 itself fails otherwise without memory for a frame
            assert not isinstance(error, SystemError) or "returned" not in str(error), error
            error = None
    gc.collect()
    assert [sys.getrefcount(one) for one in watched] == before
    assert add(a)[0].tolist() == [1, 2, 3, 4, 5]
print(failures)
'''


def test_each_object(run_python):
    """Each allocation of a Python object fails once."""
    pytest.importorskip("_testcapi")
    assert int(run_python(OBJECTS)) > 100
