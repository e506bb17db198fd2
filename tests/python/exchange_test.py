"""DLPack both ways: producers that behave and misbehave, and what leat.Array hands out."""

import ctypes
import gc
import os
import sys
import threading

import numpy as np
import pytest

import leat

ON_CUDA = os.environ.get("LEAT_TEST_DEVICE", "cpu").startswith("cuda")

double = leat.program("y[...] = a[...] + a[...]")
copy = leat.program("y[...] = a[...]", device="cpu")


def of(value):
    return copy(np.asarray(value), like="leat")


# ---- a producer in Python: its tensors count their deletions


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Old(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Producer:
    """Hands out tensors over a NumPy array. Nothing frees them but their deleter, which `counts` lists."""

    def __init__(self, array, versioned=True, device=(1, 0), **changes):
        self.array, self.versioned, self.device, self.counts, self.kept = array, versioned, device, [], []
        self.changes = changes

    def tensor(self):
        rank, size = self.array.ndim, self.array.itemsize
        extents, steps = (ctypes.c_int64 * 9)(*self.array.shape), (ctypes.c_int64 * 9)(
            *[stride // size for stride in self.array.strides])
        self.kept += [extents, steps]
        made = Tensor(self.array.ctypes.data, self.device[0], self.device[1], rank, CODES[self.array.dtype.kind],
                      8 * size, 1, extents, steps, 0)
        for name, value in self.changes.items():
            if hasattr(Tensor, name):
                setattr(made, name, value)
        return made

    def managed(self, versioned):
        counts = self.counts

        def delete(address):
            counts.append(address)

        deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(delete)
        address = ctypes.cast(deleter, ctypes.c_void_p).value
        if versioned:
            made = Versioned(self.changes.get("major", 1), 0, None, address, self.changes.get("flags", 0), self.tensor())
        else:
            made = Old(self.tensor(), None, address)
        self.kept += [deleter, made]
        return made

    def capsule(self, versioned):
        """Like any producer's: an unused capsule frees its tensor."""
        name = b"dltensor_versioned" if versioned else b"dltensor"
        managed = self.managed(versioned)

        def destroy(capsule):
            if is_valid(capsule, name):
                ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))

        destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(destroy)
        self.kept.append(destructor)
        return new_capsule(ctypes.addressof(managed), name, ctypes.cast(destructor, ctypes.c_void_p).value)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None):
        assert stream is None
        return self.capsule(self.versioned and max_version is not None and max_version[0] >= 1)


class OldProducer(Producer):
    def __dlpack__(self, stream=None):
        return self.capsule(False)


@pytest.mark.parametrize("kind", [Producer, OldProducer])
def test_producers(kind, references):
    for array in (np.arange(6.0), np.arange(6.0)[::-2], np.arange(6, dtype="i2").reshape(2, 3).T, np.array([True]),
                  np.zeros((0, 3)), np.ones((2, 2), "c8")):
        producer = kind(array)
        references.add(producer, array)
        for k in range(3):
            y = double(producer)
            assert len(producer.counts) == k + 1 and len(set(producer.counts)) == k + 1
            assert type(y) is np.ndarray and np.array_equal(y, array + array) and y.dtype == (array + array).dtype
    assert leat.eval("y = a", kind(np.array(5.0))) == 5
    assert type(double(kind(np.ones(2)), like="leat")) is leat.Array


def test_offset_and_no_strides():
    a = np.arange(6.0)
    assert double(Producer(a, data=a.ctypes.data - 16, byte_offset=16)).tolist() == (a * 2).tolist()
    dense = Producer(a.reshape(2, 3), strides=ctypes.POINTER(ctypes.c_int64)())
    assert np.array_equal(double(dense), a.reshape(2, 3) * 2)


@pytest.mark.parametrize("kind", [Producer, OldProducer])
def test_out_into_a_producer(kind):
    target = kind(np.zeros(3))
    assert double(np.arange(3.0), out=target) is target and target.array.tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="'y'.*read-only"):
        double(np.arange(3.0), out=Producer(np.zeros(3), flags=1))
    assert double(Producer(np.arange(3.0), flags=1)).tolist() == [0, 2, 4]


def raising(error):
    def fail(self, **names):
        raise error
    return fail


def returning(value):
    return lambda self, **names: value


def used():
    producer = Producer(np.arange(3.0))
    capsule = producer.capsule(True)
    set_name(capsule, b"used_dltensor_versioned")
    used.kept = producer
    return capsule


BROKEN = {
    "raises": (dict(__dlpack__=raising(BufferError("no memory today"))), "no memory today"),
    "raises nothing Leat knows": (dict(__dlpack__=raising(ZeroDivisionError("oh"))), "ZeroDivisionError: oh"),
    "raises TypeError": (dict(__dlpack__=raising(TypeError("oh"))), "TypeError: oh"),
    "device raises": (dict(__dlpack_device__=raising(RuntimeError("lost"))), "lost"),
    "device is no pair": (dict(__dlpack_device__=returning(3)), "two numbers"),
    "device has words": (dict(__dlpack_device__=returning(("cpu", 0))), "'a'"),
    "no capsule": (dict(__dlpack__=returning(None)), "capsule"),
    "a number": (dict(__dlpack__=returning(42)), "capsule"),
    "used": (dict(__dlpack__=lambda self, **names: used()), "unused"),
    "other capsule": (dict(__dlpack__=lambda self, **names: sys.modules["datetime"].datetime_CAPI), "capsule"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_producers(name):
    import datetime  # noqa: F401

    changes, words = BROKEN[name]
    kind = type("Broken", (Producer,), changes)
    for _ in range(3):
        with pytest.raises(TypeError, match="'a'") as caught:
            double(kind(np.arange(3.0)))
        assert words in str(caught.value)
    assert double(np.ones(2)).tolist() == [2, 2]


def test_exceptions_that_pass():
    for error in (KeyboardInterrupt(), MemoryError(), SystemExit()):
        with pytest.raises(type(error)):
            double(type("Broken", (Producer,), dict(__dlpack__=raising(error)))(np.ones(2)))


WRONG = {
    "version 2": dict(major=2),
    "version 0": dict(major=0),
    "no type": dict(code=3, bits=64),
    "bits": dict(bits=24),
    "lanes": dict(lanes=4),
    "float8": dict(code=10, bits=8),
    "rank 9": dict(ndim=9),
    "rank -1": dict(ndim=-1),
    "negative extent": dict(shape=ctypes.cast((ctypes.c_int64 * 1)(-1), ctypes.POINTER(ctypes.c_int64))),
    "no shape": dict(shape=ctypes.POINTER(ctypes.c_int64)()),
    "no data": dict(data=None),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tensors(name):
    producer = Producer(np.arange(3.0), **WRONG[name])
    with pytest.raises((TypeError, ValueError), match="'a'"):
        double(producer)
    assert len(producer.counts) == 1


def test_device_that_lies():
    """Memory whose capsule names another device than __dlpack_device__, and devices that Leat does not have."""
    class Lying(Producer):
        def __dlpack_device__(self):
            return (1, 0)

    if not ON_CUDA:  # there it would be an illegal address
        with pytest.raises((leat.DeviceError, TypeError)):
            double(Lying(np.ones(3), device=(2, 0)))
    with pytest.raises((leat.DeviceError, TypeError)):
        double(Producer(np.ones(3), device=(2, 99)))
    for kind in (4, 7, 10, 99):
        with pytest.raises((leat.DeviceError, TypeError), match="'a'"):
            double(Producer(np.ones(3), device=(kind, 0)))


# ---- what leat.Array hands out


def test_numpy_from_dlpack():
    for dtype in ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        expected = np.arange(12).astype(dtype).reshape(3, 4)
        a = of(expected)
        assert a.__dlpack_device__() == (1, 0)
        for mine, theirs in ((a, expected), (a.T, expected.T), (a[::-2, 1:], expected[::-2, 1:]), (a[1, 2], expected[1, 2])):
            back = np.from_dlpack(mine)
            assert back.dtype == expected.dtype and np.array_equal(back, theirs)
    shared = of(np.arange(3.0))
    np.from_dlpack(shared)[1] = 7
    assert shared.tolist() == [0, 7, 2]


def test_capsules(references):
    a = of(np.arange(5.0))
    references.add(a)
    for arguments, name in ((dict(), "dltensor"), (dict(max_version=(1, 0)), "dltensor_versioned"),
                            (dict(max_version=(1, 99)), "dltensor_versioned"), (dict(max_version=(9, 0)), "dltensor_versioned"),
                            (dict(max_version=(0, 8)), "dltensor"), (dict(max_version=None), "dltensor"),
                            (dict(stream=None), "dltensor"), (dict(dl_device=(1, 0)), "dltensor"),
                            (dict(copy=False), "dltensor"), (dict(copy=None), "dltensor")):
        capsule = a.__dlpack__(**arguments)
        assert f'"{name}"' in repr(capsule)
        assert get_pointer(capsule, name.encode())
        del capsule  # unused
    for wrong, kind in ((dict(copy=True), BufferError), (dict(dl_device=(2, 0)), BufferError),
                        (dict(max_version=1), TypeError), (dict(max_version=("a", 0)), TypeError),
                        (dict(max_version=(1,)), TypeError), (dict(dl_device=3), (TypeError, BufferError)),
                        (dict(dl_device=("cpu", 0)), TypeError), (dict(other=1), TypeError)):
        with pytest.raises(kind):
            a.__dlpack__(**wrong)
    with pytest.raises(TypeError):
        a.__dlpack__(None)


def test_capsule_keeps_the_memory():
    a = of(np.arange(1000.0))
    capsule = a.__dlpack__(max_version=(1, 0))
    del a
    gc.collect()
    for _ in range(5):
        of(np.zeros(1000))

    class Holder:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **names):
            return capsule

    assert double(Holder())[999] == 1998
    with pytest.raises(TypeError, match="unused"):  # the tensor has been taken out of it
        double(Holder())
    capsule = of(np.arange(1000.0)).__dlpack__(max_version=(1, 0))
    back = np.from_dlpack(Holder())
    assert back[999] == 999
    with pytest.raises(TypeError, match="unused"):
        double(Holder())
    capsule = of(np.arange(1000.0)).__dlpack__(max_version=(1, 0))
    kept = leat.asarray(Holder())
    with pytest.raises((TypeError, ValueError, BufferError)):
        np.from_dlpack(Holder())
    del capsule
    gc.collect()
    assert back[500] == 500 and kept[500].item() == 500


def test_deleters_on_other_threads():
    """A consumer may free a tensor on a thread that does not hold the GIL."""
    deleter_of = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # ctypes releases the GIL while it calls
    a = of(np.arange(1000.0))

    def take():
        capsule = a.__dlpack__(max_version=(1, 0))
        address = get_pointer(capsule, b"dltensor_versioned")
        set_name(capsule, b"used_dltensor_versioned")
        return address, Versioned.from_address(address).deleter

    taken = [take() for _ in range(200)]
    del a
    gc.collect()
    threads = [threading.Thread(target=lambda part: [deleter_of(d)(t) for t, d in part], args=(taken[k::4],))
               for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_read_only_is_passed_on(tmp_path):
    load = getattr(leat, "load", None)
    if not load:
        pytest.skip("no leat.load")
    np.save(tmp_path / "a.npy", np.arange(100_000.0))
    a = load(tmp_path / "a.npy", device="cpu") if "device" in str(load.__doc__) else load(str(tmp_path / "a.npy"))
    if getattr(a, "device", "") != "cpu":
        pytest.skip("not on the CPU")
    if memoryview(a).readonly:
        with pytest.raises(BufferError):
            a.__dlpack__()
        assert not np.from_dlpack(a).flags.writeable
        with pytest.raises(ValueError, match="'y'"):
            double(np.arange(100_000.0), out=a)


def test_no_dlpack_of_sim(device):
    if device != "sim":
        pytest.skip("for sim")
    with pytest.raises((BufferError, leat.DeviceError)):
        np.from_dlpack(double(np.ones(3), like="leat"))
    with pytest.raises(AttributeError):
        double(np.ones(3), like="leat").__cuda_array_interface__


def test_no_cuda_interface():
    assert not hasattr(of(np.ones(3)), "__cuda_array_interface__")


# ---- a library with a table of C functions that exports managed tensors only


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p),
                ("export", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))),
                ("import_", ctypes.c_void_p), ("describe", ctypes.c_void_p), ("current_stream", ctypes.c_void_p)]


def export_managed(value, out):
    out[0] = ctypes.addressof(value.managed(True))
    return 0


TABLE_NAME = b"dlpack_exchange_api"  # the capsule keeps the address
TABLE = Table(1, 3, None, None, Table._fields_[4][1](export_managed), None, None, None)


class TableProducer(Producer):
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(TABLE), TABLE_NAME, None)
    __dlpack__ = None


def test_table(references):
    producer = TableProducer(np.arange(3.0))
    references.add(producer)
    assert double(producer).tolist() == [0, 2, 4] and len(producer.counts) == 1
    with pytest.raises(TypeError, match="'a'.*DLPack 2"):
        double(TableProducer(np.arange(3.0), major=2))


def test_no_shape():
    with pytest.raises((TypeError, ValueError), match="'a'.*shape is NULL"):
        double(Producer(np.arange(3.0), shape=None))
