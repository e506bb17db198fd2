"""JAX's part of the GPU benchmark: everything under jit, f32 products in f32. JAX has no device events, so times are the host's, over
several calls and one wait."""
import os
import time

os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

jax.config.update('jax_enable_x64', True)
jax.config.update('jax_default_matmul_precision', 'highest')


def normal_cdf(z): return 0.5 * (1 + jax.scipy.special.erf(z * 0.7071067811865476))


class Jax:
    is_leat = False

    def __init__(self, o, z):
        self.version = 'jax %s, jaxlib %s, numpy %s' % (jax.__version__, jaxlib.__version__, np.__version__)
        self.last = jnp.zeros(1)

    def load(self, a): return jnp.asarray(np.asarray(a))

    def view(self, pool, spec): return spec.of(pool)

    def fetch(self, made): return [np.asarray(made)]

    def done(self): self.last = jnp.zeros(1)

    def wait(self): self.last.block_until_ready()

    def jitted(self, f, *arrays):
        """wait() waits for the last result, because a device runs calls in order."""
        compiled = jax.jit(f)

        def run():
            self.last = compiled(*arrays)
            return self.last
        return run

    def ways(self, case, v):
        f = getattr(self, case.key, None) or getattr(self, case.key.split('_')[0])
        yield from f(case, v)

    def discount_memory(self, case, v):
        compiled = jax.jit(lambda mul, disc: mul * disc)
        yield 'jit', lambda: np.asarray(compiled(v['mul'], v['disc']))

    def simple(self, case, v):
        arrays = {name: a for name, a in v.items() if not isinstance(a, float)}
        numbers = {name: a for name, a in v.items() if isinstance(a, float)}
        yield 'jit', self.jitted(lambda *a: case.expected(jnp, {**dict(zip(arrays, a)), **numbers}), *arrays.values())

    add5 = normalise = sum = softmax = norm = columns = cumsum = transpose = matmul = discount = simple

    def stencil(self, case, v):
        def f(a):
            inner = (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 5
            return jnp.pad(inner, 1)
        yield 'jit', self.jitted(f, v['a'])

    def histogram(self, case, v): yield 'jit bincount', self.jitted(lambda b: jnp.bincount(b, length=256), v['b'])

    def options(self, case, v):
        r, vol = v['r'], v['v']

        def f(S, X, t):
            d = (jnp.log(S / X) + (r + vol * vol / 2) * t) / (vol * jnp.sqrt(t))
            return S * normal_cdf(d) - X * jnp.exp(-r * t) * normal_cdf(d - vol * jnp.sqrt(t))
        yield 'jit', self.jitted(f, v['S'], v['X'], v['t'])

    def bodies(self, case, v):
        eps = v['eps']

        def strip(own, p, m):
            q = eps + sum((p[:, e] - own[:, e, None]) ** 2 for e in range(3))
            w = m / (q * jnp.sqrt(q))
            return w @ p - w.sum(1, keepdims=True) * own

        def direct(own, p, m):
            d = [p[:, e] - own[:, e, None] for e in range(3)]
            q = eps + d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
            w = m / (q * jnp.sqrt(q))
            return jnp.stack([(w * c).sum(1) for c in d], 1)

        def whole(f, size):
            def run(p, m):
                n = len(p) - len(p) % size if len(p) >= size else 0
                parts = [jax.lax.map(lambda own: f(own, p, m), p[:n].reshape(-1, size, 3)).reshape(n, 3)] if n else []
                return jnp.concatenate(parts + ([f(p[n:], p, m)] if n < len(p) else []))
            return run
        yield 'jit, fused sums', self.jitted(whole(direct, 8192), v['p'], v['m'])
        yield 'jit, strips of a product', self.jitted(whole(strip, 8192), v['p'], v['m'])

    def new_expressions(self):
        x, rows = jnp.ones(1000, jnp.float32), jnp.ones((8, 128), jnp.float32)
        jax.jit(lambda x: x * 3)(x).block_until_ready()

        def options(x):
            d = (jnp.log(x / 1.25) + (0.05 + 0.3 * 0.3 / 2) * x) / (0.3 * jnp.sqrt(x))
            return x * normal_cdf(d) - 1.25 * jnp.exp(-0.05 * x) * normal_cdf(d - 0.3 * jnp.sqrt(x))

        def softmax(x):
            e = jnp.exp(x * 1.25 - x.max(1, keepdims=True))
            return e / e.sum(1, keepdims=True)
        for what, f, a in (('arithmetic', lambda x: (x * 1.25 + 7) / (x + 0.75) - x, x), ('softmax', softmax, rows),
                           ('Black-Scholes', options, x)):
            start = time.perf_counter()
            jax.jit(f)(a).block_until_ready()
            yield what, (time.perf_counter() - start) * 1e3


def open_peer(o, z): return Jax(o, z)
