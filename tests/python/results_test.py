"""What a call returns: the library of the inputs, out=, like=, scalars, several results, and who owns the memory."""

import gc
import os
import sys
import tracemalloc

import numpy as np
import pytest

import leat

double = leat.program("y[...] = a[...] + a[...]")
two = leat.program("y[i] = a[i] + 1; z[i] = a[i] * y[i]\nout y, z")
same = leat.program("y[i] = a[i]")


def test_types():
    assert type(double(np.ones(2))) is np.ndarray
    assert type(double(np.ones(2), like="leat")) is leat.Array
    assert type(double(np.ones(2), like=np)) is np.ndarray
    assert type(double(np.ones(2), like=double(np.ones(2), like="leat"))) is leat.Array
    assert type(double(double(np.ones(2), like="leat"))) is leat.Array
    assert type(double(double(np.ones(2), like="leat"), like="numpy")) is np.ndarray
    assert type(leat.eval("y = a + b", 1, 2)) is np.int64
    with pytest.raises(ValueError, match="like is 'pandas'"):
        double(np.ones(2), like="pandas")


def test_scalars():
    for dtype in ["bool", "i1", "u8", "f2", "f4", "f8", "c8", "c16"]:
        y = leat.eval("y = a[1]", np.array([0, 1], dtype))
        assert type(y) is np.dtype(dtype).type and y == 1
    y = leat.eval("y = a + 1", 2, like="leat")
    assert type(y) is leat.Array and y.shape == () and int(y) == 3


def test_several():
    y, z = two(np.arange(3.0))
    assert y.tolist() == [1, 2, 3] and z.tolist() == [0, 2, 6]
    total, y = leat.eval("total = sum(i: a[i]); y[i] = 2 * a[i]", np.arange(3.0))
    assert type(total) is np.float64 and total == 3 and y.tolist() == [0, 2, 4]


def test_writable_and_dense():
    y = double(np.asfortranarray(np.ones((3, 4))))
    assert y.flags.writeable and y.flags.c_contiguous and y.flags.aligned
    y[0, 0] = 7
    assert y[0, 0] == 7


# ---- out=


def test_out():
    y, z = np.zeros(3), np.zeros(3)
    assert double(np.arange(3.0), out=y) is y and y.tolist() == [0, 2, 4]
    assert double(np.arange(3.0), out=(y,)) is y and double(np.arange(3.0), out={"y": y}) is y
    assert double(np.arange(3.0), out=[y]) is y
    found = two(np.arange(3.0), out=[None, z])
    assert type(found) is tuple and found[1] is z and found[0].tolist() == two(np.arange(3.0))[0].tolist()
    found = two(np.arange(3.0), out=(y, z))
    assert found[0] is y and found[1] is z and z.tolist() == [0, 2, 6]
    found = two(np.arange(3.0), out={"z": z})
    assert found[0] is not y and found[1] is z
    found = two(np.arange(3.0), out=(None, z))
    assert found[0].tolist() == [1, 2, 3] and found[1] is z
    assert type(two(np.arange(3.0), out=None)) is tuple
    assert two(np.arange(3.0), out={})[0].tolist() == [1, 2, 3]


def test_out_rank_0():
    y = np.zeros(())
    assert leat.eval("y = sum(i: a[i])", np.ones(3), out=y) is y and y == 3
    a = np.zeros(4)
    leat.eval("y = sum(i: a[i])", np.ones(3), out=a[1:2].reshape(()))
    assert a.tolist() == [0, 3, 0, 0]


@pytest.mark.parametrize("cut", [np.s_[::-1], np.s_[1::2], np.s_[:, 2], np.s_[::-2, ::3]])
def test_out_views(cut):
    whole = np.zeros((8, 9))
    view = whole[cut]
    a = np.arange(view.size, dtype=float).reshape(view.shape)
    assert double(a, out=view) is view
    expected = np.zeros((8, 9))
    expected[cut] = a * 2
    assert np.array_equal(whole, expected)


def test_out_of_leat():
    y = double(np.zeros(3), like="leat")
    assert double(np.arange(3.0), out=y) is y and y.tolist() == [0, 2, 4]
    view = double(np.zeros(6), like="leat")[::2]
    double(np.arange(3.0), out=view)
    assert view.tolist() == [0, 2, 4]


BAD_OUT = [
    (leat.ShapeError, "'y'", lambda: np.zeros(4)),
    (leat.ShapeError, "'y'.*f64.*f32", lambda: np.zeros(3, "f4")),
    (leat.ShapeError, "'y'", lambda: np.zeros((3, 1))),
    (ValueError, "'y'.*read-only", lambda: np.broadcast_to(0.0, (3,))),
    (TypeError, "list of 1", lambda: [1.0, 2.0, 3.0]),
    (TypeError, "'y'.*list", lambda: [[1.0, 2.0, 3.0]]),
    (TypeError, "'y'.*int", lambda: 3),
    (ValueError, "'y'.*read-only", lambda: np.float64(3)),
    (TypeError, "tuple or list of 1", lambda: (np.zeros(3), np.zeros(3))),
    (TypeError, "tuple or list of 1", lambda: ()),
    (ValueError, "no result 'q'", lambda: {"q": np.zeros(3)}),
    (ValueError, "no result 1", lambda: {1: np.zeros(3)}),
    (Exception, "'y'.*overlap", lambda: np.lib.stride_tricks.as_strided(np.zeros(3), (3,), (0,))),
]


@pytest.mark.parametrize("k", range(len(BAD_OUT)))
def test_bad_out(k):
    kind, words, make = BAD_OUT[k]
    with pytest.raises(kind, match=words) as caught:
        double(np.arange(3.0), out=make())
    assert not isinstance(caught.value, SystemError)
    assert double(np.arange(3.0)).tolist() == [0, 2, 4]


def test_one_out_twice():
    y = np.zeros(3)
    with pytest.raises((ValueError, TypeError), match="'[yz]'"):
        two(np.arange(3.0), out=(y, y))


def test_out_is_an_input():
    a = np.arange(4.0)
    assert double(a, out=a) is a and a.tolist() == [0, 2, 4, 6]
    shift = leat.program("y[i] = a[i-1] + a[i+1] else 0")
    a = np.arange(6.0)
    expected = shift(a)
    shift(a, out=a)
    assert np.array_equal(a, expected)
    a = np.arange(6.0)
    leat.eval("in a[n]\ny[i] = a[n-1-i]", a, out=a)
    assert a.tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("source,target", [(np.s_[:-1], np.s_[1:]), (np.s_[1:], np.s_[:-1]), (np.s_[::2], np.s_[:4]),
                                           (np.s_[:4], np.s_[3::-1])])
def test_out_overlaps_an_input(source, target):
    a = np.arange(8.0)
    expected = a.copy()
    expected[target] = a[source] * 2
    double(a[source], out=a[target])
    assert np.array_equal(a, expected)


def test_out_overlaps_two_inputs():
    a = np.arange(8.0)
    expected = a[:7] - a[1:]
    assert leat.eval("y[i] = b[i] - c[i]", a[:7], a[1:], out=a[1:]).tolist() == expected.tolist()


def test_out_dict_that_changes():
    """Its arrays stay alive, and an array that changes the dict does no harm."""
    import threading

    class Meddling:
        def __array__(self, dtype=None, copy=None):
            out.clear()
            return np.arange(3.0)

    for _ in range(20):
        out = {"y": np.zeros(3)}
        double(Meddling(), out=out)
    big = np.ones(200_000)
    out, stop = {"y": np.zeros(200_000)}, False

    def meddle():
        while not stop:
            out["y"] = np.zeros(200_000)

    thread = threading.Thread(target=meddle)
    thread.start()
    try:
        for _ in range(50):
            assert double(big, out=out)[-1] == 2
    finally:
        stop = True
        thread.join()


# ---- memory


def test_identity_does_not_alias():
    a = np.arange(3.0)
    y = same(a)
    y[0] = 7
    a[1] = 8
    assert a.tolist() == [0, 8, 2] and y.tolist() == [7, 1, 2]
    b = same(a, like="leat")
    a[:] = 0
    assert b.tolist() == [0, 8, 2]
    c = same(b)
    double(b, out=c)
    assert b.tolist() == [0, 8, 2]
    y, z = leat.eval("y[i] = a[i]; z[i] = a[i]", np.arange(3.0))
    y[:] = 9
    assert z.tolist() == [0, 1, 2]


def test_input_that_is_set():
    a = np.arange(3.0)
    y = leat.eval("in a; a[i] = a[i] + 1", a)
    assert a.tolist() == [0, 1, 2] and y.tolist() == [1, 2, 3]
    assert leat.eval("in a; a[i] = a[i] + 1", a, out=a) is a and a.tolist() == [1, 2, 3]


def test_results_stay():
    kept = []
    for k in range(30):
        a = np.full(1000, float(k))
        kept.append(double(a))
        a[:] = -1
        del a
    gc.collect()
    assert all((y == 2 * k).all() for k, y in enumerate(kept))


def test_results_outlive_the_program():
    program = leat.program("y[i] = 3 * a[i]; z[i] = 5 * a[i]")
    y, z = program(np.ones(1000), like="leat")
    rows = np.asarray(z) if leat.eval("y=1", like="leat").device == "cpu" else z.numpy()
    del program, z
    gc.collect()
    leat.eval("y[i] = 0 * a[i]", np.ones(1000))
    assert set(y.tolist()) == {3.0} and (rows == 5).all()


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory_does_not_grow(device, not_with_asan):
    """Objects by tracemalloc, and all memory of the process."""
    a, y = np.ones(3000), np.zeros(3000)

    def call(count):
        for k in range(count):
            double(a)
            double(a.astype(">f8") if k % 10 == 0 else a[::-1], out=y)
            two(a, out={"z": y})
            double(a, like="leat")[1::2].numpy()
            for bad in ([1], np.ones(3, "g"), np.ones((1,) * 9)):
                if k % 5 == 0:
                    try:
                        double(bad)
                    except (TypeError, ValueError):
                        pass
            if k % 20 == 0:
                double(a, out=y).sum()
                try:
                    leat.program("y[i] = ")
                except SyntaxError:
                    pass
                leat.eval(f"y[i] = a[i] + {k % 100}", a) if device == "cpu" else None

    def settle():
        gc.collect()
        sys._clear_type_cache()  # it keeps the names of attributes that were asked for, up to 4,096

    rounds = 2000 if device == "cpu" else 100
    call(rounds // 2)
    settle()
    tracemalloc.start()
    call(rounds // 10)
    settle()
    objects, resident = tracemalloc.get_traced_memory()[0], resident_bytes()
    call(rounds // 10 * 5)
    settle()
    grown = tracemalloc.get_traced_memory()[0] - objects
    tracemalloc.stop()
    call(rounds)
    grown_bytes = resident_bytes() - resident
    assert grown < 8_000, grown
    assert grown_bytes < 6 << 20, grown_bytes


def test_references(references):
    a, y, z = np.arange(4.0), np.zeros(4), np.zeros(4)
    out = {"y": y, "z": z}
    pair = (y, z)
    b = double(a, like="leat")
    references.add(a, y, z, out, pair, b)
    for _ in range(10):
        two(a, out=out)
        two(a, out=pair)
        two(b, out=pair) if b.device == "cpu" else None
        double(a, like=b)
        with pytest.raises(ValueError):
            two(a, out={"y": y, "q": z})
        with pytest.raises(leat.ShapeError):
            two(np.ones(3), out=pair)
    del a, y, z, b


@pytest.mark.parametrize("like", [5, 2.5, [1], object()])
def test_like_is_no_library(like):
    with pytest.raises(TypeError, match="like must be"):
        leat.eval("y[i] = a[i]", np.ones(2), like=like)
