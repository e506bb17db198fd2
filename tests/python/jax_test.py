"""Arrays of JAX on the CPU."""

import gc
import sys

import numpy as np
import pytest

import leat

jax = pytest.importorskip("jax")
jnp = jax.numpy
double = leat.program("y[...] = a[...] + a[...]")


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "uint8", "uint32", "float16", "bfloat16", "float32",
                                   "complex64"])
def test_dtypes(dtype):
    a = jnp.arange(3).astype(dtype)
    y = double(a)
    assert isinstance(y, jax.Array) and y.dtype == a.dtype and np.array_equal(np.asarray(y), np.asarray(a + a))


def test_results():
    a = jnp.arange(6.0).reshape(2, 3)
    assert np.array_equal(np.asarray(double(a)), np.asarray(a + a))
    assert type(double(a, like="numpy")) is np.ndarray and isinstance(double(np.ones(3, "f4"), like="jax"), jax.Array)
    assert isinstance(double(np.ones(3, "f4"), like=jnp), jax.Array) and isinstance(double(np.ones(3, "f4"), like=a), jax.Array)
    y = leat.eval("y = a[1,2]", a)
    assert isinstance(y, jax.Array) and y.shape == () and y == 5
    assert leat.eval("y[i] = a[i] * b", jnp.ones(2, "float32"), jnp.float32(3)).tolist() == [3, 3]


def test_read_only():
    a = jnp.arange(3.0)
    before = np.asarray(a).copy()
    for _ in range(2):
        with pytest.raises(ValueError, match="'y'.*JAX"):
            double(np.ones(3, "f4"), out=a)
    assert np.array_equal(np.asarray(a), before)
    y = leat.eval("y[i] = a[i]", a, like="numpy")
    y[:] = 7
    assert np.array_equal(np.asarray(a), before)


def calls_of(function):
    """The names of the Python functions that the function calls."""
    names = []
    sys.setprofile(lambda frame, event, value: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        function()
    finally:
        sys.setprofile(None)
    return names


@pytest.mark.skipif(jnp.ones(1).device.platform != "cpu", reason="for arrays on the CPU")
def test_memory_is_taken_by_the_buffer_protocol():
    """__dlpack__ of JAX takes several microseconds."""
    a, y = jnp.arange(12.0).reshape(3, 4), np.zeros((3, 4), "f4")
    double(a, out=y)
    assert "__dlpack__" not in calls_of(lambda: double(a, out=y)) and np.array_equal(y, a + a)
    b, z = a.astype("bfloat16"), leat.asarray(a.astype("bfloat16"), copy=True)  # the protocol has no bf16
    double(b, out=z)
    assert "__dlpack__" in calls_of(lambda: double(b, out=z)) and z.tolist() == (a + a).tolist()
    for view in (a.T, a[:, 1:3], a[0], a[2, 1], a[:0]):
        assert np.array_equal(double(view, like="numpy") if view.ndim else leat.eval("y = a + a", view, like="numpy"), view + view)


def test_deleted():
    a = jnp.arange(3.0)
    held = leat.asarray(a)
    a.delete()
    assert held.tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="'a'.*deleted"):
        double(a)


def test_tracers():
    with pytest.raises(TypeError, match="'a'"):
        jax.jit(lambda x: double(x))(jnp.ones(3))
    with pytest.raises(TypeError, match="'a'"):
        double(jax.random.key(0))


def test_immutable():
    """An array of Leat over the memory of an array of JAX may not be written either."""
    given = jnp.arange(3.0)
    made = leat.asarray(given, device="cpu" if given.device.platform == "cpu" else None)
    with pytest.raises(ValueError, match="read-only"):
        double(np.ones(3, "f4"), out=made, device=made.device)
    with pytest.raises((ValueError, RuntimeError, TypeError)):  # read-only, or in a GPU's memory
        np.asarray(made)[0] = 77
    assert given.tolist() == [0, 1, 2]


def test_memory():
    a = jnp.arange(1000.0)
    y = double(a)
    del a
    gc.collect()
    for _ in range(5):
        double(jnp.zeros(1000))
    assert y[999] == 1998
    shared = jax.dlpack.from_dlpack(leat.eval("y[i] = a[i]", np.arange(5, dtype="f4"), like="leat", device="cpu"))
    gc.collect()
    assert shared.tolist() == [0, 1, 2, 3, 4]


def test_deleted():
    a = jnp.ones(3)
    a.delete()
    with pytest.raises((TypeError, ValueError), match="'a'"):
        double(a)


def test_references(references):
    a = jnp.ones(3)
    references.add(a)
    for _ in range(10):
        double(a)
        with pytest.raises(ValueError):
            double(np.ones(3, "f4"), out=a)


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap, lambda f: jax.grad(lambda x: f(x).sum())])
def test_transformations_name_the_callback(transform):
    for x in (jnp.ones(3), jnp.ones((2, 3))):
        with pytest.raises(TypeError, match="TracerArrayConversionError.*\nhelp: .*jax.pure_callback"):
            transform(lambda x: double(x))(x)
        with pytest.raises(TypeError, match="jax.pure_callback"):
            transform(double)(x)
    y = jax.jit(lambda x: jax.pure_callback(double, jax.ShapeDtypeStruct(x.shape, x.dtype), x))(jnp.ones(3))
    assert y.tolist() == [2, 2, 2]
