"""leat.Array: its attributes, views, the buffer protocol, elements."""

import array
import copy as copy_module
import ctypes
import gc
import pickle
import weakref

import numpy as np
import pytest

import leat

DTYPES = {"bool": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "l", "u1": "B", "u2": "H", "u4": "I", "u8": "L",
          "f2": "e", "f4": "f", "f8": "d", "c8": "Zf", "c16": "Zd"}
copy = leat.program("y[...] = a[...]", device="cpu")
scalar = leat.program("y = a", device="cpu")


def of(value, device="cpu"):
    """A leat.Array with these elements."""
    value = np.asarray(value)
    return (copy if value.ndim else scalar)(value, like="leat", device=device)


def numbers(*shape, dtype="f8"):
    return (np.arange(int(np.prod(shape))) % 100).astype(dtype).reshape(shape)


def test_attributes(device):
    for dtype in DTYPES:
        a = of(numbers(3, 4, dtype=dtype), device)
        size = np.dtype(dtype).itemsize
        assert (a.shape, a.ndim, a.size, a.itemsize, a.nbytes) == ((3, 4), 2, 12, size, 12 * size)
        assert a.strides == (4 * size, size) and a.device == device and len(a) == 3
        assert np.dtype(a.dtype if a.dtype == "bool" else np.dtype(dtype)) == np.dtype(dtype)
    assert repr(of(numbers(3, 4), device)) == f"<leat.Array f64[3,4] on {device}>"
    assert repr(of(1.0, device)) == f"<leat.Array f64[] on {device}>"
    with pytest.raises(AttributeError):
        of([1.0]).shape = (1,)
    with pytest.raises(TypeError):
        leat.Array()
    with pytest.raises(TypeError):
        len(of(1.0))


def test_elements(device):
    for value in (True, -3, 2.5, 3 - 2j, np.float32(0.1), np.float16(0.1), np.uint64(2**64 - 1)):
        a = of(value, device)
        assert a.item() == np.asarray(value).item() and type(a.item()) is type(np.asarray(value).item())
        assert bool(a) is True and a.tolist() == np.asarray(value).item()
    assert float(of(2.5, device)) == 2.5 and int(of(2.5, device)) == 2 and float(of([[7]], device)) == 7
    assert not of(0.0, device) and not of([[False]], device)
    for wrong in (lambda a: a.item(), float, int, bool):
        with pytest.raises((TypeError, ValueError)):
            wrong(of([1.0, 2.0], device))
        with pytest.raises((TypeError, ValueError)):
            wrong(of(np.zeros((0, 2)), device))
    with pytest.raises(TypeError):
        float(of(1j))
    n = of(2, device)
    assert list(range(n)) == [0, 1] and "abc"[n] == "c" and hex(n) == "0x2" and of(numbers(4), device)[n].item() == 2
    for wrong in (of(2.0, device), of([2], device), of(True, device)):
        with pytest.raises(TypeError, match="index"):
            range(wrong)
    m = of(numbers(2, 3), device)
    for key, shape, value in (((1, 2), (), 5), ((1, ..., 2), (), 5), ((1,), (3,), None), ((..., 2), (2,), None)):
        part = m[key]
        assert part.shape == shape and (value is None or float(part) == int(part) == part[...].item() == part[()].item() == value)
    with pytest.raises(OverflowError):
        int(of(np.inf))
    assert of(numbers(2, 3), device).tolist() == numbers(2, 3).tolist()
    assert of(numbers(2, 3), device)[::-1, 1].tolist() == [4, 1]


def test_bfloat16(device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = of(numbers(2, 3).astype(ml_dtypes.bfloat16), device)
    assert a.dtype == "bf16" and a.numpy().dtype == ml_dtypes.bfloat16 and a[1, 2].item() == 5.0
    assert a.T[1].tolist() == [1, 4] and np.asarray(a[1]).dtype == ml_dtypes.bfloat16 if device == "cpu" else True
    with pytest.raises(BufferError):
        memoryview(a)


def test_numpy(device):
    for dtype in DTYPES:
        expected = numbers(3, 4, dtype=dtype)
        a = of(expected, device)
        assert np.array_equal(a.numpy(), expected) and a.numpy().dtype == expected.dtype
        assert np.array_equal(a.T[1:, ::-1].numpy(), expected.T[1:, ::-1])
    a = of(numbers(3), "cpu")
    a.numpy()[1] = 7
    assert a.tolist() == [0, 7, 2]
    assert np.asarray(a, dtype="f4").dtype == np.float32 and np.array(a) is not a
    own = np.array(a)
    own[0] = 9
    assert a.tolist() == [0, 7, 2]
    assert np.add(a, a).tolist() == [0, 14, 4]


# ---- pickling


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_pickle(dtype, device):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    expected = numbers(3, 4, dtype=dtype)
    for a in (of(expected, device), of(expected, device).T, of(expected, device)[1, 2], of(expected, device)[:0]):
        for back in (pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(a, 5)), copy_module.deepcopy(a)):
            assert isinstance(back, leat.Array) and back.device == device and back.dtype == a.dtype
            assert back.shape == a.shape and back.tolist() == a.tolist()
    a = of(numbers(3), "cpu")
    back = copy_module.deepcopy(a)
    np.asarray(back)[0] = 9
    assert a.tolist() == [0, 1, 2] and copy_module.copy(a).tolist() == [0, 1, 2]


def test_copies_have_their_own_memory(device):
    for whole in (of(numbers(3, 4), device), leat.asarray(numbers(3, 4, dtype="u1"), device=device), of(2.5, device)):
        for a in (whole, whole.T, whole[..., None]):
            before = a.tolist()
            for back in (copy_module.copy(a), copy_module.deepcopy(a), copy_module.deepcopy([a, a])[1]):
                assert (back.device, back.dtype, back.shape, back.tolist()) == (device, a.dtype, a.shape, before)
                (copy if a.ndim else scalar)(np.full(a.shape, 9, a.dtype), out=back, device=device)
                assert back.tolist() != before and a.tolist() == before
    both = copy_module.deepcopy([whole, whole])
    assert both[0] is both[1]


def test_no_search_and_no_assignment(device):
    a = of(numbers(3, 4), device)
    with pytest.raises(TypeError, match=r"a\.numpy\(\)"):
        3.0 in a
    for key in (0, (1, 2), ..., "x"):
        with pytest.raises(TypeError, match="out=a" + (r".*a\.numpy\(\)" if device == "cpu" else r"\)$")):
            a[key] = 1
        with pytest.raises(TypeError, match="cannot be deleted"):
            del a[key]
    assert a.tolist() == numbers(3, 4).tolist()


def test_pickle_for_a_device_that_is_not_there():
    make, (elements, device, dtype) = of(numbers(3), "cpu").__reduce__()
    assert device == "cpu" and make(elements, "cuda:77", dtype).device.split(":")[0] in ("cuda", "cpu")
    for wrong in ((elements, "cpu", "f32"), (3, "cpu", dtype), ([1.0], "cpu", dtype), (elements, "cpu", "text")):
        with pytest.raises(TypeError):
            make(*wrong)


# ---- views


def test_reshape():
    a, expected = of(numbers(2, 3, 4)), numbers(2, 3, 4)
    for shape in ((24,), (6, 4), (-1, 12), (1, 2, 1, 3, 4), (2, 3, 4, 1)):
        assert np.array_equal(np.asarray(a.reshape(shape)), expected.reshape(shape))
        assert np.array_equal(np.asarray(a.reshape(*shape)), expected.reshape(shape))
    assert of([[5.0]]).reshape().shape == () and of([[5.0]]).reshape(()).shape == ()
    for wrong in ((5,), (-1, 7), (-1, -1), (2,) * 9, (-2, 12), (2**62, 4)):
        with pytest.raises((ValueError, leat.DeviceError)):
            a.reshape(wrong)
    for wrong in ("ab", [2, 3], None, 2.5):
        with pytest.raises(TypeError):
            a.reshape(wrong)
    with pytest.raises((ValueError, leat.DeviceError)):
        a.T.reshape(24)
    with pytest.raises(OverflowError):
        a.reshape(2**70)


def test_views_share_memory():
    a = of(numbers(4, 5))
    view = a[1:, ::2].T
    np.asarray(view)[0, 0] = -1
    assert np.asarray(a)[1, 0] == -1
    del a
    gc.collect()
    assert view.tolist()[0][0] == -1


def test_bad_subscripts():
    a = of(numbers(3, 4))
    for key in (3, -4, (0, 4), (0, 0, 0), (..., 0, ..., 0), (slice(None),) * 3):
        with pytest.raises(IndexError):
            a[key]
    for key in ("x", 1.5, True, [0, 1], np.array([0, 1]), np.array([True, False, True]), (0, "x")):
        with pytest.raises((TypeError, IndexError)):
            a[key]
    with pytest.raises(ValueError):
        a[::0]
    with pytest.raises(ValueError):
        a[(None,) * 7]
    with pytest.raises(IndexError):
        a[10**30]
    with pytest.raises(TypeError):
        a[0] = 1
    with pytest.raises(IndexError):
        of(1.0)[0]
    assert of(1.0)[()].shape == () and of(1.0)[...].shape == () and of(1.0)[None].shape == (1,)
    assert a[np.int64(1), np.uint8(2)].item() == 6


def same_view(shape, steps):
    expected = numbers(*shape)
    a = of(expected)
    for step in steps:
        if step == "T":
            a, expected = a.T, expected.T
        else:
            try:
                wanted = expected[step]
            except IndexError:
                with pytest.raises(IndexError):
                    a[step]
                return
            a, expected = a[step], np.asarray(wanted)
        assert a.shape == expected.shape
        if expected.size:
            assert all(s == t for s, t, n in zip(a.strides, expected.strides, a.shape) if n > 1)
        assert np.array_equal(np.asarray(a), expected)


def test_views_as_numpy(device):
    """Chains of subscripts give the views that NumPy gives. The arrays are on the CPU."""
    if device != "cpu":
        pytest.skip("the same on every device")
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st

    extent = st.integers(0, 5)
    bound = st.one_of(st.none(), st.integers(-7, 7))
    one = st.one_of(st.integers(-5, 5), st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, 3, -1, -2, -4])),
                    st.just(...), st.none())
    key = st.one_of(one, st.lists(one, max_size=4).map(tuple), st.just("T"))

    @hypothesis.settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @hypothesis.given(st.lists(extent, max_size=3), st.lists(key, min_size=1, max_size=3))
    def check(shape, steps):
        new_axes = sum(step.count(None) if isinstance(step, tuple) else step is None for step in steps)
        hypothesis.assume(len(shape) + new_axes <= 8)
        hypothesis.assume(all(not isinstance(step, tuple) or step.count(...) < 2 for step in steps))
        same_view(shape, steps)

    check()


# ---- the buffer protocol


@pytest.mark.parametrize("dtype", DTYPES)
def test_memoryview(dtype):
    expected = numbers(3, 4, dtype=dtype)
    view = memoryview(of(expected))
    assert (view.format, view.shape, view.itemsize) == (DTYPES[dtype], (3, 4), expected.itemsize)
    assert view.strides == expected.strides and not view.readonly and view.c_contiguous
    assert view.tobytes() == expected.tobytes()
    back = np.asarray(view)
    assert back.dtype == expected.dtype and back.dtype.char == expected.dtype.char and np.array_equal(back, expected)


def test_memoryview_of_views():
    a, expected = of(numbers(3, 4)), numbers(3, 4)
    for cut in (np.s_[::-1], np.s_[:, 1], np.s_[1:1], np.s_[..., None], np.s_[1:2, ::2]):
        view = memoryview(a[cut])
        assert view.shape == expected[cut].shape and view.tobytes() == expected[cut].tobytes()
        assert view.c_contiguous == expected[cut].flags.c_contiguous
        assert view.f_contiguous == expected[cut].flags.f_contiguous
    assert memoryview(a.T).f_contiguous and not memoryview(a.T).c_contiguous


FLAGS = {"SIMPLE": 0, "WRITABLE": 1, "FORMAT": 4, "ND": 8, "STRIDES": 0x18, "C": 0x38, "F": 0x58, "ANY": 0x98,
         "INDIRECT": 0x118, "CONTIG": 0x9, "RECORDS": 0x1d, "RECORDS_RO": 0x1c, "FULL": 0x11d}


class Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]


def request(value, flags):
    """The fields that a request with these flags gets, or BufferError."""
    view = Buffer()
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int]
    try:
        get(value, ctypes.byref(view), flags)
    except (BufferError, ValueError):
        return None
    found = (view.len, view.itemsize, bool(view.readonly), view.format if flags & 4 else None,
             view.shape[:view.ndim] if flags & 8 else None, view.strides[:view.ndim] if flags & 0x18 == 0x18 else None)
    assert flags & 4 or not view.format
    assert flags & 8 or not view.shape
    assert flags & 0x18 == 0x18 or not view.strides
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    return found


@pytest.mark.parametrize("name", FLAGS)
def test_flags_as_numpy(name):
    """Each kind of request is granted and refused as NumPy does."""
    a, expected = of(numbers(3, 4)), numbers(3, 4)
    for cut in (np.s_[:], np.s_[::-1], np.s_[:, 1:3], np.s_[1:2], np.s_[:0], np.s_[:, :0], np.s_[::2, 1]):
        for mine, theirs in ((a[cut], expected[cut]), (a[cut].T, expected[cut].T)):
            granted, wanted = request(mine, FLAGS[name]), request(theirs, FLAGS[name])
            assert (granted is None) == (wanted is None), cut
            if granted and mine.size > 1:
                one = [k for k, n in enumerate(mine.shape) if n == 1]
                for found in (granted, wanted):
                    for k in one if found[5] else []:
                        found[5][k] = 0
                assert granted == wanted, cut


def test_buffers_keep_the_memory():
    a = of(numbers(1000))
    view = memoryview(a)
    del a
    gc.collect()
    for _ in range(5):
        of(np.zeros(1000))
    assert view[999] == 99
    held = np.frombuffer(of(numbers(1000)))
    gc.collect()
    assert held[42] == 42
    assert array.array("d", of(numbers(5)).tolist()).tolist() == [0, 1, 2, 3, 4]
    assert bytes(of(np.arange(3, dtype="u1"))) == b"\0\1\2"


def test_no_buffer_of_device_memory(device):
    if device == "cpu":
        pytest.skip("CPU memory has buffers")
    with pytest.raises(BufferError, match="numpy()"):
        memoryview(of(numbers(3), device))
    with pytest.raises(TypeError, match="numpy()"):
        np.asarray(of(numbers(3), device))


def test_result_arrays_allow_weak_references():
    y = copy(numbers(3))
    assert weakref.ref(y)() is y


def test_sequence_and_weak_references(device):
    a = leat.asarray(np.arange(6.0).reshape(2, 3), device=device)
    assert [part.tolist() for part in a] == [[0, 1, 2], [3, 4, 5]] and [x.item() for x in a[1]] == [3, 4, 5]
    assert len(list(leat.asarray(np.zeros((0, 3))))) == 0
    with pytest.raises(TypeError, match="rank 0"):
        iter(a[0, 0])
    weak = weakref.ref(a)
    assert weak() is a
    del a
    gc.collect()
    assert weak() is None


def test_complex():
    assert complex(of(np.array(1 + 2j))) == 1 + 2j and complex(of(np.array(3))) == 3
    with pytest.raises(TypeError, match="one element"):
        complex(of(np.ones(2)))


def test_buffer_of_rank_0():
    view, get = Buffer(), ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int]
    get(leat.asarray(np.array(1.5), device="cpu"), ctypes.byref(view), 0x118)  # PyBUF_FULL_RO | PyBUF_FORMAT
    assert view.ndim == 0 and not view.shape and not view.strides
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


def test_array_method():
    a = leat.asarray(np.arange(3.0), device="cpu")
    for copy in (1, True, np.True_, "yes"):
        assert not np.shares_memory(a.__array__(copy=copy), a.numpy())
        assert not np.shares_memory(a.__array__("f8", copy=copy), a.numpy())
    for copy in (0, False, None):
        assert np.shares_memory(a.__array__(copy=copy), a.numpy())
        assert np.shares_memory(a.__array__(np.dtype("f8"), copy=copy), a.numpy())
    assert a.__array__("f4").tolist() == [0, 1, 2] and a.__array__("f4", copy=1).dtype == np.float32
    for dtype in ("f4", ">f8"):
        with pytest.raises(ValueError, match="copy=False"):
            a.__array__(dtype, copy=False)


PRODUCTS = [
    ("c8", "y[i,j] = sum(k: x[i,k] * z[k,j])", "ik,kj->ij", (400, 410), (410, 420)),
    ("c16", "y[j,i] = sum(k: x[k,i] * z[j,k])", "ki,jk->ji", (410, 400), (420, 410)),
    ("c8", "y[i,j] = sum(k: conj(x[i,k]) * z[k,j])", "ik,kj->ij", (400, 410), (410, 420)),
    ("c8", "y[b,i,j] = sum(k: x[b,k,i] * z[k,b,j])", "bki,kbj->bij", (3, 220, 313), (220, 3, 330)),
]


@pytest.mark.parametrize("dtype, text, axes, first, second", PRODUCTS)
def test_products_of_complex_arrays(device, dtype, text, axes, first, second):
    """Large enough for a device's library, which multiplies complex numbers or copies of their parts. The sums are exact."""
    def of(shape, by):
        parts = np.arange(np.prod(shape)) * by % 11 - 5
        return (parts + 1j * parts[::-1]).reshape(shape).astype(dtype)

    x, z = of(first, 1), of(second, 7)
    expected = np.einsum(axes, x.conj() if "conj" in text else x, z, optimize=True)
    assert (np.asarray(leat.program(text)(x=x, z=z)) == expected).all()
