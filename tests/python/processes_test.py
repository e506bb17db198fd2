"""Processes and signals: fork, spawn, the end of the interpreter, KeyboardInterrupt."""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest

import leat

ON_CUDA = os.environ.get("LEAT_TEST_DEVICE", "cpu").startswith("cuda")

program = leat.program("y[i] = a[i] * 2 + k", name="shared")
eager = program(np.arange(4.0), 0, like="leat")  # a context is open, and an array exists, when tests fork


def work(argument):
    given, k, name = argument
    a = np.arange(4.0)
    with leat.device(name):
        return work_there(given, k, a)


def work_there(given, k, a):
    mine = leat.eval("y[i] = a[i] + k", a, k)
    return given(a, k).tolist(), program(a, k).tolist(), mine.tolist()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork with threads
def test_pools(method, monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None, raising=False)  # IPython's module has none
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.path.dirname(__file__), *sys.path]))
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map(work, [(program, k, "cpu" if method == "fork" else "auto") for k in range(4)])
    for k in range(4):
        first = (np.arange(4.0) * 2 + k).tolist()
        assert found[k] == (first, first, (np.arange(4.0) + k).tolist())
    assert program(np.arange(4.0), 1).tolist() == [1, 3, 5, 7]


def in_child(function, timeout_s=20):
    """Forks, and runs the function in the child, which must end by itself."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 3
        try:
            os.close(read)
            os.write(write, pickle.dumps(function()))
            status = 0
        except BaseException as error:
            os.write(write, pickle.dumps(error))
        finally:
            os._exit(status)
    os.close(write)
    deadline = time.monotonic() + timeout_s
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    with os.fdopen(read, "rb") as file:
        found = pickle.loads(file.read())
    if isinstance(found, BaseException):
        raise found
    return found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork():
    """The child opens contexts of its own. Arrays of the parent are not usable there, and their end does no harm."""
    result = program(np.arange(4.0), 1)
    held = program(np.arange(4.0), 1, like="leat")

    def child():  # a GPU, and sim with it, cannot be used in the child
        try:
            program(np.arange(4.0), 5)
        except leat.DeviceError as error:
            if "spawn" not in str(error):
                raise
        with leat.device("cpu"):
            return use_in_child()

    def use_in_child():
        nonlocal result, held
        found = [program(np.arange(4.0), 5).tolist(), result.tolist(), leat.eval("y = a + 1", 2)]
        try:
            program(held, 1)
        except Exception as error:
            found.append(type(error).__name__)
        for use in (lambda: held[1:], lambda: held.item(), lambda: held.T, lambda: held.reshape(2, 2)):
            try:
                use()
            except Exception:
                pass
        del result, held
        found.append(leat.program("y[i] = a[i]")(np.ones(2)).tolist())
        found.append(in_child(lambda: program(np.ones(1), 1, device="cpu").tolist()))
        return found

    found = in_child(child)
    assert found[:3] == [[5, 7, 9, 11], [1, 3, 5, 7], 3] and found[-2:] == [[1, 1], [3]]
    assert found[3] in ("ValueError", "SystemError", "Error", "DeviceError") and held.tolist() == [1, 3, 5, 7]
    assert program(np.arange(4.0), 1).tolist() == [1, 3, 5, 7]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_while_threads_run():
    stop, failures = threading.Event(), []

    def call():
        a = np.ones(20_000)
        while not stop.is_set():
            if program(a, 1)[-1] != 3:
                failures.append(1)
            leat.eval("y[i] = a[i] + 1", a)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert in_child(lambda: program(np.arange(2.0), 5, device="cpu").tolist()) == [5, 7]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures


@pytest.mark.filterwarnings("ignore")
def test_fork_while_notes_are_written():
    divide = leat.program("y[i] = a[i] // b[i]", device="cpu")
    ones, zeros, stop = np.ones(10, "i8"), np.zeros(10, "i8"), threading.Event()

    def call():
        while not stop.is_set():
            divide(ones, zeros)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(40):
            assert in_child(lambda: divide(ones, zeros)[0] == 0, timeout_s=5)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


# ---- the end of the interpreter: exit code 0, nothing on stderr


ENDINGS = {
    "globals": """
y = f(a, like="leat"); z = f(a); v = memoryview(y) if y.device == "cpu" else None; w = np.asarray(y.numpy()[::2])
""",
    "cycles": """
class Node: pass
node = Node(); node.self = node; node.y = f(a, like="leat"); node.f = f
""",
    "atexit": """
import atexit
atexit.register(lambda: f(a).sum())
atexit.register(lambda: leat.eval("y = a + 1", 2))
""",
    "at the very end": """
class Late:
    def __init__(self): self.f, self.a, self.y = f, a, f(a, like="leat")
    def __del__(self):
        try: self.f(self.a)
        except Exception: pass
late = Late(); sys.modules["late"] = late
""",
    "capsules": """
y = f(a, like="leat", device="cpu"); capsule = y.__dlpack__(max_version=(1, 0)); old = y.__dlpack__()
n = np.from_dlpack(y)
""",
    "daemon": """
import threading
def run():
    while True: f(a)
for _ in range(3): threading.Thread(target=run, daemon=True).start()
import time; time.sleep(0.2)
""",
    "a long run in a daemon": """
import threading, time
slow = leat.program("y[i] = sum(k: sin(b[i] * b[k]))", device="cpu"); b = np.random.rand(50_000)
slow(b[:10])
class Late:
    def __init__(self): self.sleep, self.f, self.a = time.sleep, slow, b[:2000]
    def __del__(self): self.sleep(0.2); self.f(self.a)
sys.modules["late"] = Late()
threading.Thread(target=lambda: slow(b), daemon=True).start()
time.sleep(0.2)
""",
    "threads": """
import threading
threads = [threading.Thread(target=lambda: [f(a) for _ in range(50)]) for _ in range(4)]
for t in threads: t.start()
""",
    "streams": """
s = leat.Stream(); e = leat.Event(); e.record(s); s.wait(e); s.synchronize()
""",
    "unused": "",
    "only imported": "sys.exit(0)",
    "os._exit": "import os; os._exit(0)",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_endings(name, run_python):
    run_python("import sys, leat, numpy as np\n"
               "f = leat.program('y[i] = a[i] * 2'); a = np.arange(1000.0); f(a)\n" + ENDINGS[name])


def test_reload(run_python):
    run_python("import sys, leat, importlib; old = leat.eval('y = 1')\n"
               "importlib.reload(leat); assert leat.eval('y = 2') == 2\n"
               "del sys.modules['leat']; import leat; assert leat.eval('y = 3') == 3")


def test_import_needs_no_numpy(run_python):
    run_python("import sys, leat; assert 'numpy' not in sys.modules; p = leat.program('y = a + 1')\n"
               "assert int(p(1, like='leat')) == 2 and bytes(p(1, like='leat', device='cpu'))[0] == 2\n"
               "assert 'numpy' not in sys.modules")


def test_no_numpy_at_all(run_python):
    run_python("import sys, array; sys.modules['numpy'] = None\nimport leat\n"
               "try: leat.eval('y = 1')\nexcept ImportError: pass\nelse: raise SystemExit(1)\n"
               "y = array.array('d', [0, 0]); leat.eval('y[i] = a[i] + 1', array.array('d', [1, 2]), out=y)\n"
               "assert y.tolist() == [2, 3] and float(leat.eval('y = 1.5', like='leat')) == 1.5")


# ---- KeyboardInterrupt


LONG = """
import os, signal, sys, threading, time
import leat, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
long = leat.program(TEXT)
short = leat.program("y[i] = a[i] + 1")
a = np.ones(SIZE)
long(a, 1)
def interrupt():
    time.sleep(0.3)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
for turn in range(2):
    sent = []
    threading.Thread(target=interrupt).start()
    try:
        long(a, 10**9)
        raise SystemExit("was not interrupted")
    except KeyboardInterrupt:
        late = time.monotonic() - sent[0]
        assert late < (LIMIT if turn else 10), f"{late} s late"  # the first run may wait for sim's compiler
    assert short(a)[-1] == 2 and long(a, 1).shape == a.shape
"""
LOOPS = {
    "while": ("in u, n; t = 0; while t < n { u[i] = 0.5 * u[i] + 0.25; t = t + (u[0] > 5 ? 2 : 1) }; out u", 1000),
    "steps": ("in u, n; for t in 0..n { u[i] = 0.5 * u[i] + 0.25 }", 1000),
    "one kernel": ("in a, n; y[i] = sum(k in 0..n: sin(a[i] + k))", 8),
    "each": ("in a, n; out y: f64[len(a,0)]; each i { s = a[i]; for k in 0..n { s = sin(s) + 1 }; y[i] = s }", 8),
}


@pytest.mark.parametrize("name", LOOPS)
def test_interrupt(name, run_python, device):
    if device not in ("cpu", "sim") and name != "while":
        pytest.skip("a kernel that a GPU has started runs to its end")
    text, size = LOOPS[name]
    run_python(LONG.replace("TEXT", repr(text)).replace("SIZE", str(size)).replace("LIMIT", "1.0"))


WAITS = """
import os, signal, threading, time
import leat, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)
module = leat.Module(r'''
extern "C" __global__ void slow(double *y, long long n) { for (long long k = 0; k < n; k++) y[0] = sqrt(y[0] + k); y[1] += 1; }
''', device="sim")
stream, event, first = leat.Stream(device="sim"), leat.Event(device="sim"), leat.Event(device="sim")
y, other = leat.asarray(np.zeros(2), device="sim"), leat.asarray(np.ones(2), device="sim")
slow = module["slow"]
def record():
    event.record(stream)
    event.synchronize()
def elapsed():
    first.record(stream)
    event.record(stream)
    first.elapsed_ms(event)
waits = [lambda: y.numpy(), lambda: float(y[0]), stream.synchronize, record, elapsed, leat.synchronize, lambda: leat.synchronize("sim"),
         lambda: leat.save(PATH, y), lambda: leat.save(PATH + ".npz", {"y": y}), lambda: leat.asarray(y, device="cpu"), lambda: leat.asarray(y, dtype="f32", device="cpu")]
def interrupt():
    time.sleep(0.1)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
n = 1 << 20
while True:  # a launch that takes a sixth of a second at least
    start = time.monotonic()
    slow[1, 1, stream](y, n)
    stream.synchronize()
    if time.monotonic() - start > 0.17:
        break
    n *= 2
y = leat.asarray(np.zeros(2), device="sim")
for count, wait in enumerate(waits):
    sent = []
    thread = threading.Thread(target=interrupt)
    for _ in range(2):
        slow[1, 1, stream](y, n)
    thread.start()
    try:
        wait()
        raise SystemExit(f"wait {count} was not interrupted")
    except KeyboardInterrupt:
        assert time.monotonic() - sent[0] < 1, f"wait {count} is late"
    thread.join()
    stream.synchronize()
    assert y.numpy()[1] == 2 * count + 2, "the work goes on"
"""


def test_interrupted_waits(run_python, device, tmp_path):
    """Ctrl-C ends every kind of wait at once. What has been enqueued is done all the same, so that no result is wrong."""
    if device != "sim":
        pytest.skip("on sim")
    run_python(WAITS.replace("PATH", repr(str(tmp_path / "y.npy"))), timeout_s=300)


ENDLESS = """
import os, signal, sys, threading, time
import leat, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)
module = leat.Module('extern "C" __global__ void endless(double *y) { for (long long k = 0;; k++) y[0] = k; }', device="sim")
y = leat.asarray(np.zeros(4), device="sim")
module["endless"][1, 1](y)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try: y.numpy(); raise SystemExit("was not interrupted")
except KeyboardInterrupt: pass
"""


def test_exit_with_an_endless_kernel(run_python, device):
    if device != "sim":
        pytest.skip("on sim")
    run_python(ENDLESS)


def test_events_without_a_stream(run_python, device):
    """They are in the stream of calls and launches without one."""
    if device == "cpu":
        pytest.skip("no streams")
    y, f = leat.asarray(np.ones(1 << 20), device=device), leat.program("y[i] = sin(a[i])")

    def elapsed(calls):
        before, after = leat.Event(device=device), leat.Event(device=device)
        before.record()
        for _ in range(calls):
            f(y)
        after.record()
        return before.elapsed_ms(after)

    elapsed(1)  # compiles
    assert elapsed(40) > 5 * elapsed(4) > 0


def test_handler_that_raises(run_python, device):
    """Any exception of a signal handler ends the run, and is raised."""
    if device not in ("cpu", "sim"):
        pytest.skip("see test_interrupt")
    run_python("""
import signal, leat, numpy as np
def handler(number, frame): raise ZeroDivisionError("from the handler")
signal.signal(signal.SIGALRM, handler)
long = leat.program("in u, n; for t in 0..n { u[i] = 0.5 * u[i] + 0.25 }")
long(np.ones(100), 1)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try: long(np.ones(100), 10**9); raise SystemExit("not interrupted")
except ZeroDivisionError as error: assert "handler" in str(error)
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.05)
long(np.ones(1000), 500_000)
""")
