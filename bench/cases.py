"""Cases of the benchmark. A case has a program, its inputs, and a method for each peer that returns functions without arguments, one for
each good way to write the same. All are checked, and the fastest counts. This file has the cases that are bound by memory."""
import numpy as np

THREADS = 2
half, quarter = np.float32(0.5), np.float32(0.25)
CASES = []


def register(c): CASES.append(c); return c


class Case:
    """label: the name in the table. text: Leat's program. results: the names of its results. tolerance: relative to the largest value."""
    label = text = ''
    results = ('y',)
    tolerance = 2e-5
    rough = {}                                                    # tolerances of peers with less exact sums: {peer: tolerance}

    def inputs(self, log2):
        """{name: array or number}."""
        raise NotImplementedError

    def moved(self, v):
        """Bytes that must be read or written: each array once."""
        return sum(a.nbytes for a in v.values() if isinstance(a, np.ndarray))

    def check(self, k, got, want, tolerance): return np.allclose(got, want, rtol=tolerance, atol=tolerance * float(np.abs(want).max()))

    def peers(self): return {p: getattr(self, p) for p in ('numpy', 'numexpr', 'numba', 'jax') if hasattr(self, p)}


def numexpr_run(text, v, out=None, **more):
    """A prepared numexpr expression over v's names."""
    import numexpr as ne
    ne.set_num_threads(THREADS)
    return lambda: ne.evaluate(text, {**v, **more}, out=out)


def jitted(f, *arrays, **options):
    """f of JAX arrays, compiled; waits for the result."""
    import jax, jax.numpy as jnp
    jax.config.update('jax_enable_x64', True)                     # otherwise 64-bit inputs become 32-bit
    held = [jnp.asarray(a) for a in arrays]; g = jax.jit(f, **options)
    return lambda: jax.block_until_ready(g(*held))


def five(log2):
    r = np.random.default_rng(0)
    return {k: r.random(1 << log2, dtype=np.float32) + half for k in 'abcde'}


def rows(log2): return {'x': five(log2)['a'].reshape(-1, 1 << min(12, log2 // 2))}


def of(f, v): return [lambda: f(*v.values())]


@register
class Add5(Case):
    label, text = 'a+b+c+d+e', 'y[i] = a[i] + b[i] + c[i] + d[i] + e[i]'
    def inputs(self, log2): return five(log2)
    def moved(self, v): return 6 * v['a'].nbytes
    def numpy(self, v):
        a, b, c, d, e = v.values()
        def in_place():
            o = a + b; o += c; o += d; o += e; return o
        return [lambda: a + b + c + d + e, in_place]
    def numexpr(self, v): return [numexpr_run('a+b+c+d+e', v)]
    def numba(self, v): import numba_peers; return of(numba_peers.add5, v)
    def jax(self, v): return [jitted(lambda a, b, c, d, e: a + b + c + d + e, *v.values())]


@register
class Poly(Case):
    label, text = '((a*b+c)*d-e)/(a*a+b*b+0.5)', 'y[i] = ((a[i]*b[i] + c[i])*d[i] - e[i]) / (a[i]*a[i] + b[i]*b[i] + 0.5)'
    def inputs(self, log2): return five(log2)
    def moved(self, v): return 6 * v['a'].nbytes
    def numpy(self, v):
        a, b, c, d, e = v.values()
        def in_place():
            o = a * b; o += c; o *= d; o -= e; q = a * a; t = b * b; q += t; q += half; o /= q; return o
        return [lambda: ((a * b + c) * d - e) / (a * a + b * b + half), in_place]
    def numexpr(self, v): return [numexpr_run('((a*b+c)*d-e)/(a*a+b*b+h)', v, h=half)]
    def numba(self, v): import numba_peers; return of(numba_peers.poly, v)
    def jax(self, v): return [jitted(lambda a, b, c, d, e: ((a * b + c) * d - e) / (a * a + b * b + half), *v.values())]


@register
class Trans(Case):
    label, text = 'exp(-a)*sin(b)+sqrt(c)*log(d)', 'y[i] = exp(-a[i])*sin(b[i]) + sqrt(c[i])*log(d[i])'
    def inputs(self, log2): v = five(log2); del v['e']; return v
    def moved(self, v): return 5 * v['a'].nbytes
    def numpy(self, v): a, b, c, d = v.values(); return [lambda: np.exp(-a) * np.sin(b) + np.sqrt(c) * np.log(d)]
    def numexpr(self, v): return [numexpr_run('exp(-a)*sin(b)+sqrt(c)*log(d)', v)]
    def numba(self, v): import numba_peers; return of(numba_peers.trans, v)
    def jax(self, v):
        import jax.numpy as jnp
        return [jitted(lambda a, b, c, d: jnp.exp(-a) * jnp.sin(b) + jnp.sqrt(c) * jnp.log(d), *v.values())]


@register
class Normalise(Case):
    label, text = 'a/sum(a)', 'y[i] = a[i] / sum(k: a[k])'
    rough = {'numexpr': 0.1}                                      # adds everything in one f32
    def inputs(self, log2): return {'a': five(log2)['a']}
    def moved(self, v): return 3 * v['a'].nbytes
    def numpy(self, v): a = v['a']; return [lambda: a / a.sum()]
    def numexpr(self, v): total = numexpr_run('sum(a)', v); return [lambda: numexpr_run('a/s', v, s=np.float32(total()))()]
    def numba(self, v): import numba_peers; return of(numba_peers.normalise, v)
    def jax(self, v): return [jitted(lambda a: a / a.sum(), *v.values())]


@register
class Sum(Case):
    label, text = 'sum(a)', 'y = sum(k: a[k])'
    rough = {'numexpr': 0.1}
    def inputs(self, log2): return {'a': five(log2)['a']}
    def numpy(self, v): a = v['a']; return [lambda: a.sum()]
    def numexpr(self, v): return [numexpr_run('sum(a)', v)]
    def numba(self, v): import numba_peers; return of(numba_peers.total, v)
    def jax(self, v): return [jitted(lambda a: a.sum(), *v.values())]


@register
class Softmax(Case):
    label, text = 'softmax of rows', 'e[i,j] = exp(x[i,j] - max(k: x[i,k]))\ny[i,j] = e[i,j] / sum(k: e[i,k])'
    def inputs(self, log2): return rows(log2)
    def moved(self, v): return 2 * v['x'].nbytes
    def numpy(self, v):
        x = v['x']
        def plain(): z = np.exp(x - x.max(1, keepdims=True)); return z / z.sum(1, keepdims=True)
        def in_place():
            z = x - x.max(1, keepdims=True); np.exp(z, out=z); z /= z.sum(1, keepdims=True); return z
        return [plain, in_place]
    def numba(self, v): import numba_peers; return of(numba_peers.softmax, v)
    def jax(self, v): import jax; return [jitted(lambda x: jax.nn.softmax(x, 1), *v.values())]


@register
class Stencil(Case):
    label, text = '4-point stencil, border 0', 'y[i,j] = (x[i-1,j] + x[i+1,j] + x[i,j-1] + x[i,j+1]) * 0.25 else 0'
    def inputs(self, log2): return rows(log2)
    def moved(self, v): return 2 * v['x'].nbytes
    def numpy(self, v):
        x = v['x']
        def plain():
            o = np.zeros_like(x); o[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * quarter; return o
        def in_place():
            o = np.zeros_like(x); q = o[1:-1, 1:-1]; np.add(x[:-2, 1:-1], x[2:, 1:-1], out=q); q += x[1:-1, :-2]; q += x[1:-1, 2:]; q *= quarter; return o
        return [plain, in_place]
    def numexpr(self, v):
        x = v['x']; s = dict(a=x[:-2, 1:-1], b=x[2:, 1:-1], c=x[1:-1, :-2], d=x[1:-1, 2:], q=quarter)
        def whole():
            o = np.zeros_like(x); numexpr_run('(a+b+c+d)*q', s, out=o[1:-1, 1:-1])(); return o
        return [whole]
    def numba(self, v): import numba_peers; return of(numba_peers.stencil, v)
    def jax(self, v):
        import jax.numpy as jnp
        return [jitted(lambda x: jnp.zeros_like(x).at[1:-1, 1:-1].set((x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * quarter), v['x'])]


@register
class Variance(Case):
    label, text = 'variance of rows', 'm[i] = mean(j: x[i,j])\ny[i] = mean(j: (x[i,j] - m[i])**2)'
    def inputs(self, log2): return rows(log2)
    def numpy(self, v):
        x = v['x']
        def by_dot():
            z = x - x.mean(1, keepdims=True); return np.vecdot(z, z) / x.dtype.type(x.shape[1])
        return [lambda: x.var(1), by_dot]
    def numba(self, v): import numba_peers; return of(numba_peers.variance, v)
    def jax(self, v): return [jitted(lambda x: x.var(1), v['x'])]
