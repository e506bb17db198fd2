"""What can be passed to a program: arrays of NumPy and of Python itself, numbers, and what is refused."""

import array
import ctypes
import enum
import fractions
import os

import numpy as np
import pytest

import leat

double = leat.program("y[...] = a[...] + a[...]")
scalar = leat.program("y = a + a")
DTYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def numbers(dtype, *shape):
    count = int(np.prod(shape))
    return (np.arange(count) % 7).astype(dtype).reshape(shape)


def refuse(kind, words, value, program=double, **options):
    with pytest.raises(kind) as caught:
        program(value, **options)
    assert "'a'" in str(caught.value) or options, caught.value
    assert words in str(caught.value), caught.value


@pytest.mark.parametrize("dtype", DTYPES + ["g", "q", "l", "L", "Q"])
def test_dtypes(dtype):
    a = numbers(dtype, 3, 5)
    if dtype == "g":
        return refuse(TypeError, f"'{a.dtype}'", a)
    expected = a + a
    y = double(a)
    assert type(y) is np.ndarray and y.dtype == expected.dtype and y.dtype.char == np.dtype(y.dtype.name).char
    assert np.array_equal(y, expected)


LAYOUTS = {
    "dense": lambda a: a,
    "fortran": np.asfortranarray,
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-1],
    "sliced": lambda a: a[1::2, 2:],
    "column": lambda a: a[:, 3],
    "zero stride": lambda a: np.broadcast_to(a[0], a.shape),
    "zero stride of one": lambda a: np.broadcast_to(a[0, 0], (2, 3)),
    "extents of 1": lambda a: a[None, 2:3, :, None],
    "empty": lambda a: a[:0],
    "empty inside": lambda a: a[:, 5:5],
    "rank 8": lambda a: a[None, :, None, None, :, None, None, None],
    "windows": lambda a: np.lib.stride_tricks.sliding_window_view(a, (2, 2)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", "c16"])
def test_layouts(layout, dtype):
    a = LAYOUTS[layout](numbers(dtype, 6, 8))
    before = a.copy()
    assert np.array_equal(double(a), a + a)
    assert np.array_equal(a, before)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_is_read_as_its_buffer(layout, dtype):
    a = LAYOUTS[layout](numbers(dtype, 6, 8))
    fields, buffer = (np.asarray(leat.asarray(x, device="cpu", copy=False)) for x in (a, memoryview(a)))
    assert fields.dtype == buffer.dtype == a.dtype and np.array_equal(fields, a) and np.array_equal(buffer, a)
    assert a.size == 0 or fields.ctypes.data == buffer.ctypes.data == a.ctypes.data
    for extent, *strides in zip(a.shape, a.strides, fields.strides, buffer.strides):
        assert extent <= 1 or a.size == 0 or len(set(strides)) == 1


def test_rank_9():
    refuse(ValueError, "9 axes", np.ones((1,) * 9))


def unaligned(dtype, count):
    size = np.dtype(dtype).itemsize
    return np.frombuffer(bytearray(count * size + 1), "u1")[1:].view(dtype)


@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c8", "c16"])
def test_unaligned_is_copied(dtype):
    a = unaligned(dtype, 5)
    a[:] = [1, 2, 3, 4, 5]
    assert not a.flags.aligned or dtype[0] == "c"
    assert np.array_equal(double(a), a + a)
    with pytest.raises(ValueError, match="'y'.*not aligned"):
        double(np.ones(5, dtype), out=a)


def test_fields():
    records = np.zeros(4, dtype=[("a", "i1"), ("b", "f8"), ("c", "f4", (2,))])
    records["b"] = [1, 2, 3, 4]
    records["c"] = 3
    assert np.array_equal(double(records["b"]), [2, 4, 6, 8])
    assert np.array_equal(double(records["c"]), np.full((4, 2), 6, "f4"))
    aligned = np.zeros(4, dtype=[("a", "f4"), ("b", "f4")])
    aligned["b"] = 1
    double(aligned["b"], out=aligned["a"])
    assert aligned["a"].tolist() == [2, 2, 2, 2] and aligned["b"].tolist() == [1, 1, 1, 1]
    refuse(TypeError, "('b', '<f8')", records)


@pytest.mark.parametrize("dtype", ["i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_other_byte_order(dtype):
    a = numbers(dtype, 3, 4).astype(np.dtype(dtype).newbyteorder(">"))
    y = double(a.T)
    assert np.array_equal(y, a.T + a.T) and y.dtype == np.dtype(dtype)
    with pytest.raises(ValueError, match="'y'.*byte order"):
        double(a, out=a)


def test_read_only():
    a = np.arange(4.0)
    a.flags.writeable = False
    assert np.array_equal(double(a), a + a)
    with pytest.raises(ValueError, match="'y'.*read-only"):
        double(a, out=a)


def test_rank_0():
    assert scalar(np.array(3.5)) == 7 and scalar(np.array([3])[0]) == 6
    assert isinstance(scalar(np.array(3, "f4")), np.float32)


STRONG = [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64,
          np.complex64, np.complex128]


@pytest.mark.filterwarnings("ignore::leat.LeatWarning")
@pytest.mark.parametrize("kind", STRONG)
def test_numpy_scalars_are_strong(kind):
    y = leat.eval("y[i] = x[i] + a", x=np.ones(2, "i1"), a=kind(1))
    expected = np.ones(2, "i1") + np.ones(1, kind)
    assert y.dtype == expected.dtype and np.array_equal(y, expected)


class Count(int):
    pass


class Level(enum.IntEnum):
    THREE = 3


class Real(float):
    pass


class Pair(complex):
    pass


@pytest.mark.parametrize("value", [3, 3.5, True, Count(3), Level.THREE, Real(2.5)])
def test_python_numbers_are_weak(value):
    for dtype in ["f4", "f2", "f8"]:
        y = leat.eval("y[i] = x[i] * a", x=np.ones(2, dtype), a=value)
        assert y.dtype == dtype and np.array_equal(y, np.ones(2, dtype) * np.dtype(dtype).type(value))


def test_complex_numbers():
    y = leat.eval("y[i] = x[i] * a", x=np.ones(2, "f4"), a=1 + 2j)
    assert y.dtype == np.complex64 and y[0] == 1 + 2j
    assert scalar(Pair(1, 2)) == 2 + 4j


def test_large_integers():
    assert scalar(2**62) == 2**63 - 2**63 + leat.eval("y = a * 2", 2**62)
    assert leat.eval("y = a", 2**64 - 1) == 2**64 - 1 and leat.eval("y = a", -2**63) == -2**63
    refuse(OverflowError, "64 bits", 2**64, scalar)
    refuse(OverflowError, "64 bits", -2**63 - 1, scalar)
    refuse(OverflowError, "64 bits", 10**400, scalar)
    with pytest.raises(leat.ShapeError, match="300"):
        leat.eval("y[i] = x[i] + a", x=np.ones(2, "u1"), a=300)


def test_nan_and_infinity():
    assert np.isnan(scalar(float("nan"))) and scalar(float("-inf")) == float("-inf")


REFUSED = {
    "list": ([1.0, 2.0], "numpy.asarray"),
    "tuple": ((1, 2), "numpy.asarray"),
    "None": (None, "NoneType"),
    "str": ("12", "str"),
    "dict": ({}, "dict"),
    "range": (range(3), "range"),
    "fraction": (fractions.Fraction(1, 2), "Fraction"),
    "class": (int, "type"),
    "object": (np.array([None, 1]), "'object'"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), 'x.view("int64")'),
    "date": (np.datetime64("2020"), "datetime64"),
    "duration": (np.timedelta64(3, "s"), "timedelta64"),
    "text": (np.array(["ab"]), "'<U2'"),
    "bytes text": (np.array([b"ab"]), "'|S2'"),
    "longdouble": (np.longdouble(1), f"'{np.dtype('g')}'"),
    "clongdouble": (np.clongdouble(1), f"'{np.dtype('G')}'"),
    "record": (np.zeros(2, "i4,f4")[0], "[('f0', '<i4')"),
    "void": (np.void(b"abc"), "'|V3'"),
    "masked": (np.ma.array([1, 2], mask=[0, 1]), "filled"),
    "letters": (array.array("u", "ab"), "'w'"),
    "pointers": ((ctypes.c_void_p * 2)(), "'"),
    "released": (memoryview(b"ab"), "released"),
}
REFUSED["released"][0].release()


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    refuse(TypeError, REFUSED[name][1], REFUSED[name][0])
    refuse(TypeError, REFUSED[name][1], REFUSED[name][0])  # the way is remembered


class Masked(np.ma.MaskedArray):
    pass


def test_masked_subclass():
    refuse(TypeError, "filled", Masked([1, 2], mask=[0, 1]))


class Tagged(np.ndarray):
    pass


def test_subclasses():
    assert np.array_equal(double(np.arange(4.0).view(Tagged)), np.arange(4) * 2)
    assert np.array_equal(double(np.arange(3).view(np.recarray)), [0, 2, 4])


def test_memmap(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5.0))
    assert np.array_equal(double(np.load(tmp_path / "a.npy", mmap_mode="r")), np.arange(5) * 2)


def test_buffers_of_python():
    assert double(b"abc").tolist() == [194, 196, 198] and double(b"abc").dtype == np.uint8
    assert double(bytearray(b"ab")).tolist() == [194, 196]
    for code in "bBhHiIlLqQfd":
        a = array.array(code, [1, 2, 3])
        assert np.array_equal(double(a), np.array(a) * 2)
    y = array.array("d", [0, 0, 0])
    assert double(np.arange(3.0), out=y) is y and y.tolist() == [0, 2, 4]
    assert double(memoryview(np.arange(6.0).reshape(2, 3))[::-1]).tolist() == [[6, 8, 10], [0, 2, 4]]
    with pytest.raises(ValueError, match="'y'.*read-only"):
        double(np.zeros(2, "u1"), out=b"ab")


def test_ctypes():
    a = (ctypes.c_float * 3 * 2)()
    a[1][2] = 5
    assert double(a).tolist() == [[0, 0, 0], [0, 0, 10]]
    assert scalar(ctypes.c_int32(4)) == 8
    assert double((ctypes.c_int32.__ctype_be__ * 2)(1, 2)).tolist() == [2, 4]


def test_indirect_buffers():
    """PIL-style buffers have pointers to rows, which _testbuffer makes."""
    testbuffer = pytest.importorskip("_testbuffer")
    pointers = testbuffer.ndarray(list(range(6)), shape=[2, 3], format="i", flags=testbuffer.ND_PIL)
    refuse(TypeError, "cannot read", pointers)
    plain = testbuffer.ndarray(list(range(6)), shape=[2, 3], format="i")
    assert double(plain).tolist() == [[0, 2, 4], [6, 8, 10]]
    assert scalar(testbuffer.ndarray([3], shape=[], format="i")) == 6


def test_exporter_is_locked_only_during_the_call():
    a = bytearray(b"abc")
    double(a)
    a.extend(b"def")  # BufferError if a view were held
    with pytest.raises(leat.ShapeError):
        leat.eval("y[i] = a[i] + b[i]", a, np.ones(3))
    a.extend(b"ghi")


def test_references(references):
    a, x, y = np.arange(4.0), np.float32(2), np.zeros(4)
    references.add(a, x, y)
    for value in (a, a.astype(">f8"), x, [1]):
        for _ in range(3):
            try:
                double(value, out=y)
            except (TypeError, ValueError):
                pass


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3)
    y = double(a.T[::-1])
    assert y.dtype == ml_dtypes.bfloat16 and np.array_equal(y, a.T[::-1] + a.T[::-1])
    out = np.zeros((2, 3), ml_dtypes.bfloat16)
    assert double(a, out=out) is out and np.array_equal(out, a + a)
    assert leat.eval("y[i] = x[i] * a", x=np.ones(2, ml_dtypes.bfloat16), a=ml_dtypes.bfloat16(3)).dtype == a.dtype
    assert isinstance(leat.eval("y = a[1,2]", a), ml_dtypes.bfloat16)
    assert leat.eval("y = f32(a[1,2])", a) == 5
    refuse(TypeError, "cannot read", np.zeros(2, ml_dtypes.float8_e4m3fn))
    locked = np.zeros((2, 3), ml_dtypes.bfloat16)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="'y'.*read-only"):
        double(a, out=locked)


# ---- objects that only tell about their memory


class Interface:
    def __init__(self, array, **changes):
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **changes}


class Converting:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


def test_array_interface():
    assert double(Interface(np.arange(3.0))).tolist() == [0, 2, 4]
    assert double(Interface(np.arange(3, dtype=">i4"))).tolist() == [0, 2, 4]
    with pytest.raises(TypeError, match="'y'.*cannot be written"):
        double(np.ones(3), out=Interface(np.arange(3.0)))
    refuse(TypeError, "cannot be read", Interface(np.arange(3.0), typestr="nonsense"))


def test_array_method():
    assert double(Converting(np.arange(3.0)[::-1])).tolist() == [4, 2, 0]
    refuse(TypeError, "ZeroDivisionError: oh", Converting(ZeroDivisionError("oh\nsecond line")))
    refuse(TypeError, "cannot be read", Converting([1, 2]))
    with pytest.raises(TypeError) as caught:
        double(Converting(ZeroDivisionError("oh")))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(KeyboardInterrupt):
        double(Converting(KeyboardInterrupt()))
    with pytest.raises(MemoryError):
        double(Converting(MemoryError()))


def test_many_types():
    """More types than ways to resolve them are remembered."""
    for k in range(200):
        kind = type(f"Converting{k}", (Converting,), {})
        assert double(kind(np.full(2, float(k)))).tolist() == [2 * k, 2 * k]


@pytest.mark.skipif(os.environ.get("LEAT_TEST_DEVICE") == "sim", reason="importing pandas takes seconds, and no device takes part")
def test_pandas():
    pandas = pytest.importorskip("pandas")
    assert double(pandas.Series([1, 2, 3])).tolist() == [2, 4, 6]
    assert double(pandas.DataFrame({"x": [1.0, 2], "y": [3, 4]})).tolist() == [[2, 6], [4, 8]]
    assert double(pandas.Series([1.5, 2], index=["p", "q"])).dtype == np.float64
    refuse(TypeError, "Leat does not have", pandas.Series(["a", "b"], dtype=object))
    refuse(TypeError, "'a'", pandas.Series(pandas.to_datetime(["2020-01-01"])))
    with pytest.raises(TypeError, match="'y'"):
        double(np.ones(2), out=pandas.Series([1.0, 2]))


def test_pillow():
    image = pytest.importorskip("PIL.Image").new("RGB", (4, 3), (1, 2, 3))
    y = double(image)
    assert y.shape == (3, 4, 3) and y.dtype == np.uint8 and y[0, 0].tolist() == [2, 4, 6]
    assert double(image.convert("L")).shape == (3, 4)
    assert double(image.convert("F")).dtype == np.float32


class Failing(type):
    """A type whose attributes fail the first time."""

    failure = None

    def __getattr__(cls, name):
        failure, Failing.failure = Failing.failure, None
        raise failure or AttributeError(name)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_failing_type(failure):
    class Value(metaclass=Failing):
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    Failing.failure = failure()
    with pytest.raises(failure):
        double(Value())
    assert double(Value()).tolist() == [2, 2, 2]  # nothing wrong was remembered
    Failing.failure = RuntimeError("broken")

    class Other(metaclass=Failing):
        pass

    with pytest.raises(TypeError, match="'a'.*broken"):
        double(Other())
