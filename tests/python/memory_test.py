"""leat.asarray, load, save, pinned memory, devices and synchronize, on the device LEAT_TEST_DEVICE."""

import errno
import gc
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import leat

DEVICE = os.environ.get("LEAT_TEST_DEVICE", "cpu")
ON_CPU = DEVICE == "cpu"

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES += ["float16", "float32", "float64", "complex64", "complex128"]


# ---- asarray


@pytest.mark.parametrize("dtype", TYPES)
def test_asarray_keeps_elements(dtype):
    x = (np.arange(24).reshape(2, 3, 4) % 5).astype(dtype)
    for view in (x, x[:, ::-1], x.T, x[1, 2, 3:], x[:0]):
        a = leat.asarray(view, device=DEVICE)
        assert a.shape == view.shape and a.device.startswith(DEVICE)
        assert np.array_equal(a.numpy(), view)


def test_asarray_shares_host_memory_on_the_cpu():
    x = np.arange(6.0).reshape(2, 3)
    a = leat.asarray(x, device="cpu")
    x[1, 2] = 40
    assert a.numpy()[1, 2] == 40
    x.flags.writeable = False
    assert not leat.asarray(x, device="cpu").numpy().flags.writeable


def test_asarray_keeps_the_memory_alive():
    class Owner(np.ndarray):
        pass

    x = np.arange(6.0).view(Owner)
    gone = weakref.ref(x)
    a = leat.asarray(x, device="cpu")
    view = a[1:]
    del x, a
    gc.collect()
    assert gone() is not None and view.tolist() == [1, 2, 3, 4, 5]
    del view
    gc.collect()
    assert gone() is None


def test_asarray_copies_where_asked():
    x = np.arange(6.0)
    a = leat.asarray(x, device="cpu", copy=True)
    x[0] = 7
    assert a.numpy()[0] == 0
    leat.asarray(x, device="cpu", copy=False)
    with pytest.raises(ValueError, match="copy"):
        leat.asarray(x, dtype="f32", device="cpu", copy=False)
    with pytest.raises(ValueError, match="copy"):
        leat.asarray(3, copy=False)
    with pytest.raises(ValueError, match="copy"):
        leat.asarray([1, 2], device="cpu", copy=False)


def test_asarray_of_an_array_is_that_array():
    a = leat.asarray([1.0, 2.0], device=DEVICE)
    assert leat.asarray(a) is a
    assert leat.asarray(a, dtype="f64", device=DEVICE) is a
    copy = leat.asarray(a, copy=True)
    assert copy is not a and copy.tolist() == [1, 2]
    assert leat.asarray(a, device="cpu").device == "cpu"


def test_asarray_converts_types():
    x = np.array([[1.5, -2.0], [0.0, 100.0]])
    for dtype, name in (("f32", "float32"), (np.int32, "int32"), ("c64", "complex64"), (np.dtype("f2"), "float16")):
        got = leat.asarray(np.trunc(x), dtype=dtype, device=DEVICE).numpy()
        assert got.dtype == name and np.array_equal(got, np.trunc(x).astype(name))
    assert leat.asarray(x, dtype=bool, device=DEVICE).tolist() == [[True, True], [False, True]]
    assert leat.asarray(np.float64(2.5), dtype="f32", device=DEVICE).dtype == "f32"
    with pytest.raises(TypeError, match="element type"):
        leat.asarray(x, dtype="f23")


INTEGERS = [name for name in TYPES if "int" in name]
FLOATS = [name for name in TYPES if "float" in name]


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS, "bool"][::4 if DEVICE == "sim" else 1])
def test_asarray_keeps_values(source):
    """An integer type takes its own values, and nothing else."""
    limits = {f(name) + k for name in INTEGERS for f in (lambda n: np.iinfo(n).min, lambda n: np.iinfo(n).max) for k in (-1, 0, 1)}
    if source in INTEGERS:
        values = [v for v in sorted(limits) if np.iinfo(source).min <= v <= np.iinfo(source).max]
    else:
        values = [False, True] if source == "bool" else [0.5, -0.0, np.nan, np.inf, -np.inf, *sorted(limits)]
    with np.errstate(over="ignore"):
        x = np.array(values).astype(source) if source in FLOATS else np.array(values, dtype=source)
    for target in INTEGERS[::3] if DEVICE == "sim" else INTEGERS:  # sim compiles a kernel for each pair
        of_target = [v == v and abs(v) != np.inf and v == int(v) and np.iinfo(target).min <= int(v) <= np.iinfo(target).max
                     for v in x.tolist()]
        good = x[of_target]
        assert leat.asarray(good, dtype=target, device=DEVICE).tolist() == [int(v) for v in good.tolist()]
        for bad in x[np.logical_not(of_target)][::5]:
            for one in (bad, np.array([0, bad], dtype=source)):
                with pytest.raises(ValueError, match="is not an integer of that type"):
                    leat.asarray(one, dtype=target, device=DEVICE)


def test_asarray_of_a_number_that_does_not_fit():
    for value, dtype in ((300, "uint8"), (-1, "u32"), (2**63, "int64"), (1.5, int), (float("nan"), "i16")):
        with pytest.raises(ValueError):
            leat.asarray(value, dtype=dtype)
    with pytest.raises(TypeError, match="c128 cannot become f64"):
        leat.asarray([1j], dtype=float)


def test_dtypes_that_mean_something_else_to_numpy(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(2))
    for name, advice in (("i8", "int64.*int8"), ("u8", "uint64.*uint8"), ("f16", "longdouble.*float16")):
        for call in (lambda: leat.asarray([1], dtype=name), lambda: leat.pinned_empty(3, name),
                     lambda: leat.load(tmp_path / "x.npy", dtype=np.str_(name))):
            with pytest.raises(TypeError, match=f'"{name}" is {advice}'):
                call()
        assert leat.asarray([1], dtype=leat.dtype(name)).dtype == name == leat.dtype(name).name


@pytest.mark.parametrize("name", TYPES)
def test_dtype(name):
    one = leat.asarray(np.ones(2, name), device=DEVICE).dtype
    assert np.dtype(one) == name == np.dtype(name) and np.zeros(1, dtype=one).dtype == name
    assert leat.dtype(name) is leat.dtype(np.dtype(name)) is leat.dtype(str(one)) is leat.dtype(one) is one
    assert one == np.dtype(name) and np.dtype(name) == one and one == np.dtype(name).type and one != np.dtype
    assert one == str(one) and str(one) == one and one != "f33" and hash(one) == hash(str(one)) and one != 3
    texts = {name, np.dtype(name).str, np.dtype(name).name, "=" + np.dtype(name).char} - {"i8", "u8"}
    assert all(one == text and text == one and not one != text for text in texts)
    for wrong in ("f4,f4", ">i4", ">f8", "text", "", "a\0b", "\ud800", "torch." + name, None, np.ones(2, name)[0]):
        assert not one == wrong and one != wrong
    assert one.itemsize == np.dtype(name).itemsize and one.name == str(one) and repr(one) == f"leat.dtype('{one}')"
    assert pickle.loads(pickle.dumps(one)) is one
    with pytest.raises(TypeError):
        one < one
    with pytest.raises(TypeError, match="element type"):
        leat.dtype("text")


def test_asarray_of_numbers_and_lists():
    for value, dtype in ((True, "bool"), (3, "i64"), (2**63, "u64"), (2.5, "f64"), (1 + 2j, "c128")):
        a = leat.asarray(value, device=DEVICE)
        assert a.dtype == dtype and a.shape == () and a.numpy() == value
    a = leat.asarray([[1, 2], [3, 4]], device=DEVICE)
    assert a.dtype == "i64" and a.tolist() == [[1, 2], [3, 4]]


def test_asarray_refuses():
    with pytest.raises(TypeError, match="'x'"):
        leat.asarray("text")
    with pytest.raises(TypeError, match="'x'"):
        leat.asarray(np.array(["a", "b"]))
    with pytest.raises(TypeError):
        leat.asarray([1], "f32")
    with pytest.raises(leat.DeviceError):
        leat.asarray([1], device="toaster")


def test_asarray_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    a, p = leat.asarray(x, device="cpu"), leat.pinned(x)
    x[0, 0] = 9
    assert a.numpy()[0, 0] == p[0, 0] == 9
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is not None and a.tolist()[1] == [3, 4, 5]
    del a, p
    gc.collect()
    assert gone() is None
    x = torch.arange(6.0).reshape(2, 3)
    if DEVICE.startswith("cuda"):
        x = x.cuda()
        x[0, 0] = 9
        a = leat.asarray(x)
        assert a.device.startswith("cuda") and a.__cuda_array_interface__["data"][0] == x.data_ptr()
        leat.eval("y[i,j] = 2 * x[i,j]", x=a, out=a)
        leat.synchronize()
        assert x.tolist() == [[18, 2, 4], [6, 8, 10]]


def test_asarray_as_input_and_target():
    with leat.device(DEVICE):
        a, y = leat.asarray(np.arange(5.0)), leat.asarray(np.zeros(5))
        leat.eval("y[i] = 2 * a[i]", a=a, out=y)
        assert y.tolist() == [0, 2, 4, 6, 8]


# ---- pinned memory


def test_pinned_empty():
    with leat.device(DEVICE):
        x = leat.pinned_empty((3, 4), "f32")
        assert type(x) is np.ndarray and x.shape == (3, 4) and x.dtype == np.float32 and x.flags.writeable
        x[...] = np.arange(12).reshape(3, 4)
        assert np.array_equal(leat.eval("y[i,j] = x[i,j] + 1", x=x), x + 1)
        assert leat.pinned_empty(5).dtype == np.float64
        assert leat.pinned_empty([2, 0], np.int16).shape == (2, 0)
        assert leat.pinned_empty(()).shape == ()
        with pytest.raises(ValueError):
            leat.pinned_empty((1,) * 9)
        with pytest.raises(ValueError):
            leat.pinned_empty(-1)
        with pytest.raises(TypeError):
            leat.pinned_empty(2.5)


def test_pinned():
    with leat.device(DEVICE):
        x = np.arange(20000.0).reshape(100, 200)
        p = leat.pinned(x)
        p[0, 0] = 5
        assert x[0, 0] == 5 and p.shape == x.shape
        assert np.array_equal(leat.eval("y[i,j] = p[i,j] * 2", p=p), x * 2)
        if not ON_CPU:
            with pytest.raises(ValueError, match="already page-locked"):
                leat.pinned(x)
        del p
        p = leat.pinned(x[::-1, ::2])  # unlocked before, so it can be locked again
        assert np.array_equal(p, x[::-1, ::2])
        assert leat.pinned(np.zeros(0)).shape == (0,)
        for value in (3, [1.0], np.array([b"a"]), leat.asarray(np.ones(3, ">f8"), device="cpu", copy=True).device):
            with pytest.raises(TypeError):
                leat.pinned(value)


def test_pinned_keeps_the_memory_and_no_longer():
    class Owner(np.ndarray):
        pass

    x = np.arange(5000.0).view(Owner)
    gone = weakref.ref(x)
    with leat.device(DEVICE):
        part = leat.pinned(x)[10:]
    del x
    gc.collect()
    assert gone() is not None and part[0] == 10
    del part
    gc.collect()
    assert gone() is None


def test_pinned_ranges_of_many_threads():
    def work(seed):
        chosen = np.random.default_rng(seed)
        kept = []
        for _ in range(60):
            kept.append(leat.pinned_empty(int(chosen.integers(1, 4000)), "f32"))
            kept[-1][...] = seed
            if len(kept) > 8:
                kept.pop(int(chosen.integers(len(kept))))
            sums.append(float(leat.eval("s = sum(i: a[i])", a=kept[-1], device=DEVICE)) == seed * kept[-1].size)

    sums = []
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    with leat.device(DEVICE):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(sums) == 240 and all(sums)


# ---- files


def test_save_and_load(tmp_path):
    x = np.arange(6, dtype="f4").reshape(2, 3)
    for name in ("a.npy", "a.npz", "a.csv", "a.tsv"):
        path = tmp_path / name
        leat.save(path, leat.asarray(x, device=DEVICE))
        leat.save(str(path), x, sync=True)
        got = leat.load(os.fsencode(path), dtype="f32")
        assert type(got) is np.ndarray and got.dtype == np.float32 and np.array_equal(got, x)
    assert np.array_equal(np.load(tmp_path / "a.npy"), x)
    assert leat.load(tmp_path / "a.npy", dtype="i16").dtype == np.int16
    assert leat.load(tmp_path / "a.npy", like="leat").device == "cpu"
    a = leat.load(tmp_path / "a.npy", device=DEVICE, like="leat")
    assert isinstance(a, leat.Array) and a.device.startswith(DEVICE) and np.array_equal(a.numpy(), x)


def test_save_dict_and_key(tmp_path):
    path = tmp_path / "all.npz"
    leat.save(path, {"x": np.arange(3), "y": 2.5, "z": [[1.0]]})
    with np.load(path) as all_of_it:
        assert sorted(all_of_it) == ["x", "y", "z"] and all_of_it["y"] == 2.5
    assert leat.load(path, key="x").tolist() == [0, 1, 2]
    leat.save(path, np.ones(2), key="one")
    assert leat.load(path, key="one").tolist() == [1, 1]
    with pytest.raises(KeyError, match="has no array 'two'; it has: one"):
        leat.load(path, key="two")
    leat.save(path, {"x": np.arange(3), "y": 2.5})
    with pytest.raises(ValueError, match="key: .*has 2 arrays; name one of them: x, y"):
        leat.load(path)
    with pytest.raises(TypeError, match="names"):
        leat.save(path, {1: np.ones(2)})
    with pytest.raises(ValueError, match="no arrays"):
        leat.save(path, {})
    with pytest.raises(TypeError, match="'b'"):
        leat.save(path, {"b": "text"})


@pytest.mark.filterwarnings("ignore:.*scaled:leat.LeatWarning")
def test_save_png(tmp_path):
    x = np.linspace(0, 1, 12).reshape(3, 4)
    for colormap, shape in ((None, (3, 4)), ("grey", (3, 4)), ("viridis", (3, 4, 3))):
        leat.save(tmp_path / "x.png", x, colormap=colormap)
        assert leat.load(tmp_path / "x.png").shape == shape
    with pytest.raises(ValueError, match="colormap"):
        leat.save(tmp_path / "x.png", x, colormap="jet")


@pytest.mark.filterwarnings("error")
def test_save_png_of_bool(tmp_path):
    for x in (np.ones((2, 3), bool), np.zeros((2, 3), bool), np.eye(3, dtype=bool)):
        leat.save(tmp_path / "x.png", leat.asarray(x, device=DEVICE))
        assert np.array_equal(leat.load(tmp_path / "x.png"), x * np.uint8(255))


def test_options_that_a_format_lacks(tmp_path):
    x = np.ones((2, 2))
    with pytest.raises(ValueError, match="key: only an .npz"):
        leat.save(tmp_path / "x.npy", x, key="a")
    with pytest.raises(ValueError, match="key: the arrays of a dict"):
        leat.save(tmp_path / "x.npz", {"a": x}, key="a")
    for name, value in (("x.npy", x), ("x.npz", {"a": x}), ("x.csv", x)):
        with pytest.raises(ValueError, match="colormap: only a .png"):
            leat.save(tmp_path / name, value, colormap="grey")
    with pytest.raises(ValueError, match="colormap: elements of type u8"):
        leat.save(tmp_path / "x.png", x.astype("u1"), colormap="viridis")
    assert not list(tmp_path.iterdir())
    leat.save(tmp_path / "x.npy", x)
    with pytest.raises(ValueError, match="key: .*is not an .npz file"):
        leat.load(tmp_path / "x.npy", key="a")


def test_arrays_that_a_format_cannot_hold(tmp_path):
    for name, value in (("x.png", np.ones(3)), ("x.png", np.ones((2, 2), complex)), ("x.csv", np.ones((2, 2, 2))),
                        ("x.tsv", np.ones(2, complex)), ("x.npy", {"a": np.ones(2)}), ("x", np.ones(2))):
        with pytest.raises(ValueError, match=name):
            leat.save(tmp_path / name, value)
    assert not list(tmp_path.iterdir())


def test_errors_of_files(tmp_path):
    missing = tmp_path / "nothing.npy"
    with pytest.raises(FileNotFoundError) as caught:
        leat.load(missing)
    assert caught.value.filename == str(missing)
    with pytest.raises(FileNotFoundError):
        leat.save(tmp_path / "no" / "folder.npy", np.ones(2))
    bad = tmp_path / "bad.npy"
    bad.write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(OSError, match="bad.npy") as caught:
        leat.load(bad)
    assert caught.value.filename == str(bad)
    with pytest.raises(ValueError, match="ending"):
        leat.save(tmp_path / "x.xyz", np.ones(2))
    with pytest.raises(IsADirectoryError):
        leat.load(tmp_path)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(IsADirectoryError):
        leat.save(tmp_path / "folder.npy", np.ones(2))
    (tmp_path / "full.npy").symlink_to("/dev/full")
    with pytest.raises(OSError) as caught:
        leat.save(tmp_path / "full.npy", np.ones(2))
    assert caught.value.errno == errno.ENOSPC and caught.value.filename == str(tmp_path / "full.npy")
    assert not (tmp_path / "x.xyz").exists()
    with pytest.raises(ValueError, match="null"):
        leat.load("a\0b")


def test_load_maps_large_files(tmp_path):
    np.save(tmp_path / "large.npy", np.arange(300_000.0))
    x = leat.load(tmp_path / "large.npy")
    (tmp_path / "large.npy").unlink()
    assert x[-1] == 299_999


# ---- devices


def test_devices():
    found = leat.devices()
    cpu = found[0]
    assert isinstance(cpu, leat.DeviceInfo) and cpu.kind == cpu.device == "cpu" and cpu.usable and cpu.reason == ""
    assert cpu.memory_bytes > 2**20 and cpu.threads >= 1 and cpu.simd in ("baseline", "avx2", "avx512")
    assert repr(cpu).startswith("<cpu: ") and "GiB" in repr(cpu)
    assert found[-1].device == "sim"
    for info in found:
        assert info.usable or info.reason in repr(info)
    with pytest.raises(AttributeError):
        cpu.name = "x"
    assert leat.devices(measure=True)[0].copy_bytes_per_second > 0


def test_synchronize():
    leat.asarray([1.0], device=DEVICE)
    assert leat.synchronize() is None
    assert leat.synchronize(DEVICE) is None
    with pytest.raises(leat.DeviceError):
        leat.synchronize("toaster")

# ---- long runs


def run_on_terminal(text):
    """Runs Python with standard error on a terminal; returns what the terminal got."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    folder = str(pathlib.Path(leat.__file__).parent.parent)
    child = subprocess.Popen([sys.executable, "-c", text], stderr=theirs,
                             env={**os.environ, "PYTHONPATH": folder})
    os.close(theirs)
    got = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        got += part
    assert child.wait() == 0
    return got


LONG = """
import leat, time
f = leat.program("in n; var c = 0; while c < n { c += 1 }; steps = c", name="slow.leat")
def seconds(n):
    start = time.perf_counter()
    f(n)
    return time.perf_counter() - start
n = 20000
f(n)  # starts the device
while (took := seconds(n)) < 0.5:
    n = int(n * 0.6 / took)
n = int(n * 1.9 / took)  # every later run takes more than a second, also if the machine is less busy then
leat.show_progress(True)
seconds(n)
"""


def test_partly_pinned():
    """Only what lies in the page-locked range altogether is taken as page-locked."""
    n = 300000
    a, out = np.arange(float(n)), np.zeros(n)
    add_one = leat.program("y[i] = a[i] + 1")
    first, second = leat.pinned(a[:10]), leat.pinned(out[:10])
    for part in (a, a[:5], a[9::-1], a[5:], first):
        assert np.array_equal(add_one(part), part + 1)
    add_one(a, out=out)
    assert np.array_equal(out, a + 1) and np.array_equal(second, out[:10])


@pytest.mark.parametrize("dtype", ["foo.f32", "numpy.float32", "'f32'", "f32>", "class f32", 5, "O", "M8[s]", "f4,i4"])
def test_no_dtype(dtype):
    with pytest.raises(TypeError, match="not an element type"):
        leat.asarray([1, 2], dtype=dtype)


def test_dtypes():
    for dtype in ("f32", "float32", "f4", np.float32, np.dtype("f4"), np.dtype("<f4"), "<f4"):
        assert leat.asarray([1, 2], dtype=dtype).dtype == "f32", dtype
    for dtype in (float, int, bool, complex):
        assert leat.pinned_empty(2, dtype).dtype == np.dtype(dtype)
    assert leat.asarray([1], dtype="|u1").dtype == "u8"
    for dtype in (">f4", np.dtype(">f8")):
        with pytest.raises(TypeError, match="byte order"):
            leat.asarray([1, 2], dtype=dtype)


class Interrupted:
    def __str__(self):
        raise KeyboardInterrupt


def test_interrupted_dtype():
    with pytest.raises(KeyboardInterrupt):
        leat.asarray([1, 2], dtype=Interrupted())


@pytest.mark.skipif(os.environ.get("LEAT_TEST_DEVICE") == "sim", reason="takes seconds, and no device takes part")
def test_progress():
    """The line of a run, and of an explained one, appears after a second and is erased; that of the next run is drawn."""
    shown = run_on_terminal(LONG + "f.explain(n); import os; os.write(2, b'====')\n"
                            "g = leat.program(f.text, name='next.leat'); g(n)\n")
    first, last = shown.split(b"====")
    assert first.startswith(b"\r\x1b[Kslow.leat, 1.") and first.endswith(b" s\r\x1b[K") and last.endswith(b" s\r\x1b[K")
    assert not re.search(rb"slow\.leat, [\d.]+ s(?!\r\x1b\[K)", first)
    assert len(drawn_runs(first, b"slow")) == 3 and len(drawn_runs(last, b"next")) == 1


def drawn_runs(shown, name):
    """The seconds shown for each run of a program; each begins anew after a second."""
    runs = []
    for seconds in map(float, re.findall(name + rb"\.leat, ([\d.]+) s", shown)):
        if not runs or seconds < runs[-1][-1]:
            assert 1 <= seconds < 2
            runs.append([])
        runs[-1].append(seconds)
    return runs
