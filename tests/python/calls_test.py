"""How programs are called, and what they are as objects."""

import concurrent.futures
import copy
import gc
import inspect
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import leat

axpy = leat.program("y[i] = k * a[i] + b[i]", name="axpy")
with_default = leat.program("in a, eps = 0.5\ny[i] = a[i] + eps")
a, b = np.arange(3.0), np.ones(3)


def test_names():
    assert axpy.inputs == ("k", "a", "b") and axpy.results == ("y",) and axpy.name == "axpy"
    assert axpy.text == "y[i] = k * a[i] + b[i]" and axpy.device is None and axpy.optional == ()
    assert repr(axpy) == "<leat.Program axpy: (k, a, b) -> (y)>"
    assert with_default.optional == ("eps",)
    with pytest.raises(AttributeError):
        axpy.text = ""
    with pytest.raises(TypeError):
        leat.Program()


def test_positions_and_names():
    for y in (axpy(2, a, b), axpy(2, a, b=b), axpy(b=b, a=a, k=2), axpy(*[2, a], **{"b": b})):
        assert y.tolist() == [1, 3, 5]
    name = "".join(["a"])  # not interned
    assert axpy(2, b=b, **{name + "": a}).tolist() == [1, 3, 5]


WRONG = [
    (lambda: axpy(2, a), "axpy is missing the argument 'b'"),
    (lambda: axpy(), "'k'"),
    (lambda: axpy(2, a, b, b), "takes 3 arguments.*got 4"),
    (lambda: axpy(2, a, b, a=a), "two values for 'a'"),
    (lambda: axpy(2, a, b, c=a), "no input 'c'; its inputs are"),
    (lambda: axpy(2, a, b, i=a), "no input 'i'"),
    (lambda: axpy(2, a, b, y=a), "no input 'y'"),
    (lambda: leat.eval(), "text"),
    (lambda: leat.eval(3), "text"),
    (lambda: leat.eval(b"y = 1"), "text"),
    (lambda: leat.program(), "text"),
    (lambda: leat.program("y = 1", "name"), "argument"),
    (lambda: leat.program("y = 1", name=3), "name must be a string"),
    (lambda: leat.program("y = 1", device=3), "device must be a string"),
    (lambda: axpy(2, a, b, device=3), "device must be a string"),
    (lambda: axpy(2, a, b, stream="x"), "stream must be"),
]


@pytest.mark.parametrize("k", range(len(WRONG)))
def test_wrong_calls(k):
    with pytest.raises(TypeError, match=WRONG[k][1]):
        WRONG[k][0]()
    assert axpy(2, a, b).tolist() == [1, 3, 5]


def test_options_of_none():
    assert axpy(2, a, b, out=None, device=None, stream=None, like=None).tolist() == [1, 3, 5]


def test_defaults():
    assert with_default(a).tolist() == [0.5, 1.5, 2.5]
    assert with_default(a, 2).tolist() == [2, 3, 4]
    assert with_default(a).tolist() == [0.5, 1.5, 2.5]
    assert with_default(a, eps=np.float64(3)).tolist() == [3, 4, 5]
    assert with_default(a=a).tolist() == [0.5, 1.5, 2.5]
    with pytest.raises(TypeError):
        with_default(a, "x")
    with pytest.raises(leat.ShapeError):
        with_default(a, np.ones(4))
    assert with_default(a).tolist() == [0.5, 1.5, 2.5]
    sized = leat.program("in a[n], n\ny[i] = a[i] + n")
    assert "n" in sized.optional and sized(a).tolist() == [3, 4, 5] and sized(a, 3).tolist() == [3, 4, 5]
    with pytest.raises(leat.ShapeError, match="n"):
        sized(a, 4)
    assert sized(np.ones(2)).tolist() == [3, 3]


def test_names_of_options():
    program = leat.program("y = device + 2 * like + 3 * stream")
    assert program.inputs == ("device", "like", "stream")
    assert program(1, 2, 3) == 14 and program(device=1, like=2, stream=3) == 14
    y = np.zeros((), "i8")
    assert program(1, 2, 3, out=y) is y and y == 14
    assert leat.eval("y = text + self", 1, self=2) == 3


def test_no_inputs():
    program = leat.program("y[i] = i * i where i in 0..4")
    assert program.inputs == () and program().tolist() == [0, 1, 4, 9]
    assert leat.eval("y = 2**10 + 1") == 1025
    with pytest.raises(TypeError, match="takes 0 arguments"):
        program(1)


def test_many():
    names = [f"a{k}" for k in range(40)]
    program = leat.program("y = " + " + ".join(f"{k + 1} * {name}" for k, name in enumerate(names)))
    assert program(*range(40)) == sum((k + 1) * k for k in range(40))
    assert program(**{name: k for k, name in enumerate(names)}) == sum((k + 1) * k for k in range(40))
    results = leat.program("\n".join(f"z{k} = a + {k}" for k in range(40)))
    assert results(1) == tuple(k + 1 for k in range(40))
    out = {f"z{k}": np.zeros((), "i8") for k in range(0, 40, 3)}
    assert results(1, out=out)[3] is out["z3"] and out["z39"] == 40


def test_eval_remembers():
    for k in range(600):
        leat.eval(f"y = {k % 300} + a", 1) if k % 50 == 0 else leat.program(f"y = {k}")
    assert leat.eval("y = 3 + a", 1) == 4


# ---- as objects


def test_pickle():
    for program in (axpy, leat.program("y = 1", device="cpu")):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(program, protocol))
            assert again == program and again.name == program.name and again.device == program.device
    assert pickle.loads(pickle.dumps(axpy))(2, a, b).tolist() == [1, 3, 5]
    assert copy.copy(axpy) == axpy and copy.deepcopy([axpy])[0](2, a, b).tolist() == [1, 3, 5]


def test_compare():
    again = leat.program(axpy.text)
    assert again == axpy and hash(again) == hash(axpy) and len({again, axpy}) == 1
    assert leat.program(axpy.text, device="cpu") != axpy and axpy != axpy.text and axpy != with_default
    with pytest.raises(TypeError):
        axpy < again


def test_signature():
    pytest.importorskip("leat._signature")
    assert list(inspect.signature(axpy).parameters)[:3] == ["k", "a", "b"]


def test_is_callable():
    assert callable(axpy) and not inspect.isclass(axpy)
    assert list(map(axpy, [1, 2], [a, a], [b, b]))[1].tolist() == [1, 3, 5]


# ---- devices


def test_device(device):
    assert axpy(2, a, b, device=device, like="leat").device == device
    assert axpy(2, a, b, like="leat").device == device  # by LEAT_DEVICE
    assert axpy(2, a, b, device="cpu", like="leat").device == "cpu"
    fixed = leat.program(axpy.text, device="cpu")
    assert fixed(2, a, b, like="leat").device == "cpu" and fixed.device == "cpu"
    assert fixed(2, a, b, device=device, like="leat").device == device


def test_device_blocks(device):
    other = leat.device(device)
    assert repr(other) == f"leat.device('{device}')"
    with leat.device("cpu"):
        assert axpy(2, a, b, like="leat").device == "cpu"
        with other as entered:
            assert entered is other
            assert axpy(2, a, b, like="leat").device == device
            assert axpy(2, a, b, device="cpu", like="leat").device == "cpu"
            with pytest.raises(RuntimeError, match="entered"):
                other.__enter__()
        assert axpy(2, a, b, like="leat").device == "cpu"
        found = []
        thread = threading.Thread(target=lambda: found.append(axpy(2, a, b, like="leat").device))
        thread.start()
        thread.join()
        assert found == [device]  # a choice holds for its thread
    with pytest.raises(ZeroDivisionError):
        with leat.device("cpu"):
            1 // 0
    assert axpy(2, a, b, like="leat").device == device


def test_wrong_devices():
    for name in ("gpu", "", "cpu:1", "x" * 200, "cuda:x", "Cpu", "cpu\0x"):
        with pytest.raises((leat.DeviceError, ValueError)):
            axpy(2, a, b, device=name)
        with pytest.raises((leat.DeviceError, ValueError)):
            leat.device(name)
    with pytest.raises(TypeError):
        leat.device(3)
    assert axpy(2, a, b).tolist() == [1, 3, 5]


def test_arrays_of_another_device(device):
    there = axpy(2, a, b, like="leat")
    here = axpy(2, a, b, device="cpu", like="leat")
    assert axpy(2, there, here, like="numpy").tolist() == [3, 9, 15]
    if device != "cpu":
        with pytest.raises(leat.DeviceError, match=f"'a' is on {device}"):
            axpy(2, there, b, device="cpu")
        with pytest.raises(leat.DeviceError, match=f"'y' is on {device}"):
            axpy(2, a, b, out=there, device="cpu")


def test_weak_references():
    program = leat.program("y = 1")
    weak = weakref.ref(program)
    assert weak() is program
    del program
    gc.collect()
    assert weak() is None


def test_leat_device(run_python):
    script = "import leat; print(leat.eval('y = 1', like='leat').device)"
    assert run_python(script, LEAT_DEVICE="cpu") == "cpu\n"
    assert run_python(script, LEAT_DEVICE="auto") == "cpu\n"
    assert run_python(script, LEAT_DEVICE="") == "cpu\n"
    script = """
import os
import leat
os.environ["LEAT_DEVICE"] = "cpu"
first = [leat.eval("y = 1", like="leat", device=device).device for device in ORDER]
os.environ["LEAT_DEVICE"] = "toaster"
assert first == [leat.eval("y = 1", like="leat", device=device).device for device in ORDER] == ["cpu"] * len(first)
"""
    for order in ('[None, "auto"]', '["auto", None]'):
        run_python(script.replace("ORDER", order))
    script = "import leat; print(leat.eval('y = 1', like='leat').device)"
    run_python(script.replace("print", "import sys; sys.stderr = None; print"), LEAT_DEVICE="gpu", status=1)


# ---- threads


def test_threads():
    program = leat.program("s[i] = sum(j: x[i,j]) * k; t = sum(i: s[i])\nout s, t")
    inputs = [np.full((7, 50), float(k)) for k in range(16)]
    failures = []
    barrier = threading.Barrier(16)

    def work(k):
        barrier.wait()
        for turn in range(20):
            s, t = program(inputs[k], turn)
            if not (s == 50 * k * turn).all() or t != 350 * k * turn:
                failures.append((k, turn))
            if turn % 7 == 0:
                try:
                    program([], 1)
                except TypeError as error:
                    if "'x'" not in str(error):
                        failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_futures():
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        texts = [f"y[i] = a[i] * {k % 5} + 1" for k in range(100)]
        found = list(pool.map(lambda text: leat.eval(text, a), texts))
    assert all(found[k].tolist() == (a * (k % 5) + 1).tolist() for k in range(100))


def test_blocks_out_of_order(device):
    def place():
        return leat.eval("y[i] = a[i]", np.ones(2), like="leat").device

    before, outer, inner = place(), leat.device("sim"), leat.device("cpu")
    with outer:
        assert place() == "sim"
        with pytest.raises(RuntimeError, match="already entered"):
            outer.__enter__()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="reverse order"):
        outer.__exit__(None, None, None)
    assert place() == "cpu"
    with pytest.raises(RuntimeError, match="already entered"):
        outer.__enter__()
    inner.__exit__(None, None, None)
    assert place() == before
    with pytest.raises(RuntimeError, match="not entered"):
        outer.__exit__(None, None, None)
    with outer:
        caught = []

        def end():
            try:
                outer.__exit__(None, None, None)
            except RuntimeError as error:
                caught.append(str(error))

        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        assert "in this thread" in caught[0] and place() == "sim"
    assert place() == before


def test_eval_remembers_the_texts_used_last():
    texts = [f"y[i] = a[i] * {k}" for k in range(400)]
    a = np.ones(2)

    def is_remembered(k):
        return sys.getrefcount(texts[k]) > sys.getrefcount(fresh)

    fresh = "".join(["y[i] = a[i]", " * 1000"])
    for k in range(300):
        leat.eval(texts[k], a)
        assert leat.eval(texts[0], a).tolist() == [0, 0]
    assert is_remembered(0) and not is_remembered(1) and not is_remembered(44)
    assert all(is_remembered(k) for k in range(45, 300)) and not is_remembered(300)
