"""The cases of the GPU benchmark: for each case Leat's program, its inputs, the expected result, and the goal. program_PEER.py has the
peers' code under the key of the case. This file uses no library except the array module `xp`."""
import math

import numpy as np

EIGHT = 'eight new kernels: times the slowest alone'

CASES = []


class Sizes:
    """The sizes of the cases. Tiny cases only check results; their sizes are odd, those of the large ones are powers of two."""

    def __init__(self, tiny):
        self.n, self.side, self.call = (10007, 97, 1000) if tiny else (1 << 28, 16384, 1000)
        self.short, self.long = ((7, 1024), (3, 5000)) if tiny else ((1 << 18, 1024), (1 << 12, 65536))
        self.options, self.bodies, self.matrix = (1003, 129, 67) if tiny else (1 << 26, 65536, 4096)
        self.discount = (3, 7, 5) if tiny else (100, 4000, 5)


class Input:
    """A part of a pool from `start` on, with a shape; axes: as a transposed view."""

    def __init__(self, pool, shape, start=0, axes=None):
        self.pool, self.shape, self.start, self.axes = pool, shape, start, axes
        self.count = math.prod(shape)

    def of(self, pool):
        """Returns it as a view of an array like NumPy's."""
        a = pool[self.start:self.start + self.count].reshape(self.shape)
        return a if self.axes is None else a.transpose(self.axes)


def pools(z):
    """{name: (type, elements, function that makes elements from an offset on)}: flat arrays that contain the inputs."""
    rows, columns, n = z.discount
    large = max(z.n, z.side ** 2, math.prod(z.short), math.prod(z.long), 2 * z.matrix ** 2)

    def uniform(seed, scale=1, least=0):
        return lambda at, count: np.random.default_rng((seed, at)).random(count, np.float32) * np.float32(scale) + np.float32(least)

    def counted(at, count): return np.arange(at, at + count, dtype=np.float64)
    return {
        'random': ('f4', large, uniform(1)),
        'more': ('f4', z.side ** 2, uniform(2)),
        'bytes': ('u1', z.n, lambda at, count: np.frombuffer(np.random.default_rng((3, at)).bytes(count), np.uint8)),
        'spot': ('f4', z.options, uniform(4, 90, 10)),
        'strike': ('f4', z.options, uniform(5, 90, 10)),
        'years': ('f4', z.options, uniform(6, 2, 0.1)),
        'bodies': ('f4', 4 * z.bodies, uniform(7)),
        'multiplier': ('f8', columns * n, counted),
        'discount': ('f8', rows * columns * n, counted),
    }


class Case:
    """clock: 'device' (events around it), 'enqueue' or 'wait' (the host's, per call), 'memory' (the host's, from host memory and
    back). goal: (what, factor): what is 'limit' (the bytes' time), 'peer' (the best), a peer's name, 'us', or '' for none.
    passes: inputs that are read more than once, {input: times}. bounded: by memory. like: a case whose peers' figures also
    count for this one; natural: converts Leat's result to that case's form; axes: of this case's views."""

    def __init__(self, key, label, text, inputs, expected, results=('y',), tolerance=1e-5, clock='device', goal=('', 0),
                 passes=(), bounded=True, like=None, axes=None, natural=lambda a: a):
        self.key, self.label, self.text, self.inputs, self.expected = key, label, text, inputs, expected
        self.results, self.tolerance, self.clock, self.goal, self.passes = results, tolerance, clock, goal, dict(passes)
        self.bounded, self.like, self.axes, self.natural = bounded, like, axes, natural
        CASES.append(self)


# ---- the values, for any array module; v holds the case's inputs by name

def softmax(xp, v):
    e = xp.exp(v['x'] - v['x'].max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def layer_norm(xp, v):
    x = v['x']
    centred = x - x.mean(1, keepdims=True)
    return centred / xp.sqrt((centred * centred).mean(1, keepdims=True) + v['eps']) * v['g'] + v['b']


def stencil(xp, v):
    a = v['a']
    y = xp.zeros_like(a)
    y[1:-1, 1:-1] = (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 5
    return y


def normal_cdf(xp, z):
    if xp is np:
        return 0.5 * (1 + np.vectorize(math.erf, otypes=[np.float64])(z * 0.7071067811865476))
    from cupyx.scipy.special import ndtr
    return ndtr(z)


def black_scholes(xp, v):
    S, X, t, r, vol = v['S'], v['X'], v['t'], v['r'], v['v']
    d = (xp.log(S / X) + (r + vol * vol / 2) * t) / (vol * xp.sqrt(t))
    return S * normal_cdf(xp, d) - X * xp.exp(-r * t) * normal_cdf(xp, d - vol * xp.sqrt(t))


def bodies(xp, v):
    """Computed in strips, so that no matrix of all pairs is stored."""
    p, m = v['p'], v['m']
    acc = xp.empty_like(p)
    for k in range(0, len(p), 4096):
        own = p[k:k + 4096]
        q = v['eps'] + sum((p[:, e] - own[:, e, None]) ** 2 for e in range(3))
        w = m / (q * xp.sqrt(q))
        acc[k:k + 4096] = w @ p - w.sum(1, keepdims=True) * own
    return acc


def histogram(xp, v): return xp.bincount(v['b'], minlength=256)


def product(xp, v): return v['mul'] * v['disc']


# ---- the cases

def written(n):
    """2^28; 16,384."""
    return '2^%d' % (n.bit_length() - 1) if n >= 1 << 20 and n & (n - 1) == 0 else format(n, ',')


def fill(z):
    """The cases for these sizes."""
    of_n, of_square = ', ' + written(z.n), ', ' + written(z.side) + '^2'
    CASES.clear()
    x = Input('random', (z.n,))
    square = Input('random', (z.side, z.side))
    five = 'y[i] = x[i] + x[i] + x[i] + x[i] + x[i]'
    add5 = lambda xp, v: v['x'] + v['x'] + v['x'] + v['x'] + v['x']
    Case('add5', 'x+x+x+x+x' + of_n, five, {'x': x}, add5, goal=('limit', 1.05))
    small = {'x': Input('random', (z.call,))}
    Case('add5_call', 'x+x+x+x+x, n = 1,000, enqueue', five, small, add5, clock='enqueue', goal=('us', 4), bounded=False)
    Case('add5_call_wait', 'x+x+x+x+x, n = 1,000, with a wait', five, small, add5, clock='wait', goal=('peer', 1), bounded=False)
    Case('normalise', 'a/sum(a)' + of_n, 'y[i] = a[i] / sum(k: a[k])', {'a': x}, lambda xp, v: v['a'] / v['a'].sum(),
         goal=('limit', 1.05), passes={'a': 2})
    Case('sum', 'sum' + of_n, 's = sum(i: x[i])', {'x': x}, lambda xp, v: v['x'].sum(), ('s',), goal=('peer', 1.02))
    for key, shape in ('short', z.short), ('long', z.long):
        rows = Input('random', shape)
        Case('softmax_' + key, 'softmax, rows of %s' % format(shape[1], ','),
             'e[i,j] = exp(x[i,j] - max(k: x[i,k]))\ny[i,j] = e[i,j] / sum(k: e[i,k])', {'x': rows}, softmax, goal=('limit', 1.08))
        gain = {'g': Input('more', shape[1:]), 'b': Input('more', shape[1:], z.side)}
        Case('norm_' + key, 'layer norm, rows of %s' % format(shape[1], ','),
             'mu[i] = mean(j: x[i,j])\nva[i] = mean(j: (x[i,j] - mu[i])**2)\n'
             'y[i,j] = (x[i,j] - mu[i]) / sqrt(va[i] + eps) * g[j] + b[j]',
             {'x': rows, 'eps': 1e-5, **gain}, layer_norm, goal=('limit', 1.08), tolerance=1e-4)
    Case('stencil', '5-point stencil' + of_square, 'y[i,j] = (a[i,j] + a[i-1,j] + a[i+1,j] + a[i,j-1] + a[i,j+1]) / 5 else 0',
         {'a': square}, stencil, goal=('limit', 1.1))
    Case('columns', 'column sums' + of_square, 's[j] = sum(i: a[i,j])', {'a': square}, lambda xp, v: v['a'].sum(0), ('s',),
         goal=('limit', 1.1))
    Case('cumsum', 'cumulative sum' + of_n, 'c[i] = sum(k in 0..i+1: x[k])', {'x': x}, lambda xp, v: xp.cumsum(v['x']), ('c',),
         tolerance=1e-4, goal=('cupy', 1.15))
    Case('histogram', 'histogram, 256 bins' + of_n, 'out h: i64[256]\nh[b[i]] += 1', {'b': Input('bytes', (z.n,))}, histogram, ('h',),
         tolerance=0, goal=('cupy', 1))
    Case('transpose', 'a + transposed b' + of_square, 'y[i,j] = a[i,j] + b[j,i]', {'a': square, 'b': Input('more', (z.side, z.side))},
         lambda xp, v: v['a'] + v['b'].T, goal=('limit', 1.15))
    Case('options', 'Black-Scholes' + ', ' + written(z.options), 'def cdf(z) = 0.5 * (1 + erf(z * 0.7071067811865476))\n'
         'd[i] = (log(S[i]/X[i]) + (r + v*v/2)*t[i]) / (v*sqrt(t[i]))\n'
         'call[i] = S[i]*cdf(d[i]) - X[i]*exp(-r*t[i])*cdf(d[i] - v*sqrt(t[i]))',
         {'S': Input('spot', (z.options,)), 'X': Input('strike', (z.options,)), 't': Input('years', (z.options,)),
          'r': 0.05, 'v': 0.3},
         black_scholes, ('call',), tolerance=1e-4, goal=('peer', 1))
    Case('bodies', 'N-body' + ', ' + written(z.bodies),
         'acc[i,d] = sum(j: m[j] / (eps + sum(e: (p[j,e] - p[i,e])**2))**1.5 * (p[j,d] - p[i,d]))',
         {'p': Input('bodies', (z.bodies, 3)), 'm': Input('bodies', (z.bodies,), 3 * z.bodies), 'eps': 0.01}, bodies, ('acc',),
         tolerance=1e-3, goal=('peer', 1), bounded=False)
    a, b = Input('random', (z.matrix, z.matrix)), Input('random', (z.matrix, z.matrix), z.matrix ** 2)
    Case('matmul', 'matmul f32' + ', ' + written(z.matrix), 'C[i,j] = sum(k: A[i,k] * B[k,j])', {'A': a, 'B': b},
         lambda xp, v: v['A'] @ v['B'], ('C',), goal=('peer', 1.02), bounded=False)
    discounts(z)
    return list(CASES)


def discounts(z):
    """One workload over the same arrays, written in several ways."""
    rows, columns, n = z.discount
    disc, mul = Input('discount', (rows, columns, n)), Input('multiplier', (columns, n))
    plain = dict(expected=product, tolerance=0, goal=('limit', 1.2))
    both = {'mul': mul, 'disc': disc}
    Case('discount', 'discount, 3-D', 'cv[t,i,j] = mul[i,j] * disc[t,i,j]', both, results=('cv',), **plain)
    Case('discount_names', 'discount, other names and order', 'cv[i,k,a] = disc[i,k,a] * mul[k,a]', both, results=('cv',),
         like='discount', **plain)
    Case('discount_rows', 'discount, `...` over rows', 'cv[...,j] = mul[...,j] * disc[...,j]', both, results=('cv',),
         like='discount', **plain)
    Case('discount_columns', 'discount, over columns as views', 'cv[j,t,i] = mul[j,i] * disc[j,t,i]',
         {'mul': Input('multiplier', (columns, n), axes=(1, 0)), 'disc': Input('discount', z.discount, axes=(2, 0, 1))},
         expected=lambda xp, v: v['mul'][:, None, :] * v['disc'], results=('cv',), tolerance=0, goal=('limit', 1.2),
         like='discount', axes=(2, 0, 1), natural=lambda a: a.transpose(1, 2, 0))
    whole = lambda a: a.reshape(z.discount)
    flat = {'mul': Input('multiplier', (columns * n,)), 'disc': Input('discount', (rows, columns * n))}
    Case('discount_flat', 'discount, flattened', 'cv[t,k] = mul[k] * disc[t,k]', flat, results=('cv',), like='discount',
         natural=whole, **plain)
    Case('discount_modulo', 'discount, one axis and %', 'cv[k] = mul[k % len(mul,0)] * disc[k]',
         {'mul': flat['mul'], 'disc': Input('discount', (rows * columns * n,))}, results=('cv',), like='discount',
         natural=whole, expected=lambda xp, v: v['disc'] * xp.tile(v['mul'], rows), tolerance=0)
    Case('discount_memory', 'discount, host memory and back', 'cv[t,i,j] = mul[i,j] * disc[t,i,j]', both, results=('cv',),
         expected=product, tolerance=0, clock='memory', goal=('peer', 1))
