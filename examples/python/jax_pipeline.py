"""A JAX pipeline with a step that JAX is slow at: a recurrence along the rows, between two functions of jax.jit.

Arrays go to Leat and back through DLPack, without copies. Inside jax.jit, jax.pure_callback calls the program.
"""

import jax
import jax.numpy as jnp
import numpy as np

import leat

# A filter that follows each row slowly when it rises and fast when it falls.
envelope = leat.program("""
in x, rise = 0.02, fall = 0.5
out y: f32[len(x, 0), len(x, 1)]
each r {
    s = 0.0
    for t in 0..len(x, 1) {
        s = s + (x[r,t] > s ? rise : fall) * (x[r,t] - s)
        y[r,t] = s
    }
}
""")


@jax.jit
def prepare(x):
    return jnp.abs(x - x.mean(axis=1, keepdims=True))


@jax.jit
def summarize(y):
    return y.mean(axis=1), y.max(axis=1)


@jax.jit
def inside_jit(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    y = jax.pure_callback(lambda x: envelope(np.asarray(x)), shape, prepare(x), vmap_method="expand_dims")
    return summarize(y)


def envelope_numpy(x, rise=0.02, fall=0.5):
    y, s = np.empty_like(x), np.zeros(len(x), x.dtype)
    for t in range(x.shape[1]):
        s = s + np.where(x[:, t] > s, np.float32(rise), np.float32(fall)) * (x[:, t] - s)
        y[:, t] = s
    return y


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(1), (64, 5000), jnp.float32)
    y = envelope(prepare(x))
    assert isinstance(y, jax.Array)  # a result is of the library of the inputs
    np.testing.assert_allclose(y, envelope_numpy(np.asarray(prepare(x))), rtol=1e-4, atol=1e-6)
    mean, highest = summarize(y)
    np.testing.assert_allclose(inside_jit(x)[0], mean, rtol=1e-5)
    print(f"the envelopes of {len(x)} rows: mean {mean.mean():.3f}, highest {highest.max():.3f}, inside jax.jit the same")
