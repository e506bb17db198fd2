"""Numba's part of the GPU benchmark: kernels as its users write them, and the discount workload sliced in four ways."""
import math
import time
import warnings

import numpy as np

for name, value in {'row_stack': 'vstack', 'in1d': 'isin', 'trapz': 'trapezoid'}.items():  # removed in new versions of NumPy
    if not hasattr(np, name):
        setattr(np, name, getattr(np, value))
import numba
from numba import cuda, float32, guvectorize, int64, vectorize

THREADS, TILE = 256, 32


def blocks(count, threads=THREADS): return min(-(-count // threads), 132 * 32)


@cuda.jit
def add5(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = x[i] + x[i] + x[i] + x[i] + x[i]


@cuda.jit
def divide(a, total, y):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        y[i] = a[i] / total[0]


@cuda.reduce
def total(a, b): return a + b


@cuda.jit(device=True)
def over_block(part, value, largest):
    """The sum, or the maximum, of one value of each thread."""
    t = cuda.threadIdx.x
    part[t] = value
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            part[t] = max(part[t], part[t + half]) if largest else part[t] + part[t + half]
        cuda.syncthreads()
        half //= 2
    value = part[0]
    cuda.syncthreads()
    return value


@cuda.jit
def softmax(x, y):
    part = cuda.shared.array(THREADS, float32)
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        top = float32(-math.inf)
        for k in range(cuda.threadIdx.x, x.shape[1], THREADS):
            top = max(top, x[row, k])
        top = over_block(part, top, True)
        sum_ = float32(0)
        for k in range(cuda.threadIdx.x, x.shape[1], THREADS):
            sum_ += math.exp(x[row, k] - top)
        sum_ = over_block(part, sum_, False)
        for k in range(cuda.threadIdx.x, x.shape[1], THREADS):
            y[row, k] = math.exp(x[row, k] - top) / sum_


@cuda.jit
def stencil(a, y):
    j, i = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        if i > 0 and j > 0 and i < a.shape[0] - 1 and j < a.shape[1] - 1:
            y[i, j] = (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * float32(0.2)
        else:
            y[i, j] = 0


@cuda.jit
def columns(a, y, rows):
    j, first = cuda.grid(1), cuda.blockIdx.y * rows
    if j < a.shape[1]:
        sum_ = float32(0)
        for i in range(first, min(first + rows, a.shape[0])):
            sum_ += a[i, j]
        cuda.atomic.add(y, j, sum_)


@cuda.jit
def histogram(b, h):
    own = cuda.shared.array(256, int64)
    own[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), b.size, cuda.gridsize(1)):
        cuda.atomic.add(own, b[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(h, cuda.threadIdx.x, own[cuda.threadIdx.x])


@cuda.jit
def transpose(a, b, y):
    tile = cuda.shared.array((TILE, TILE + 1), float32)
    n, tx, ty = a.shape[0], cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE
    for k in range(ty, TILE, 8):
        row, column = cuda.blockIdx.x * TILE + k, i + tx
        if row < n and column < n:
            tile[k, tx] = b[row, column]
    cuda.syncthreads()
    for k in range(ty, TILE, 8):
        if i + k < n and j < n:
            y[i + k, j] = a[i + k, j] + tile[tx, k]


@cuda.jit(device=True)
def normal_cdf(z): return float32(0.5) * (float32(1) + math.erf(z * float32(0.7071067811865476)))


@cuda.jit
def options(S, X, t, r, v, call):
    for i in range(cuda.grid(1), S.size, cuda.gridsize(1)):
        root = v * math.sqrt(t[i])
        d = (math.log(S[i] / X[i]) + (r + v * v * float32(0.5)) * t[i]) / root
        call[i] = S[i] * normal_cdf(d) - X[i] * math.exp(-r * t[i]) * normal_cdf(d - root)


@cuda.jit
def bodies(p, m, eps, acc):
    tile = cuda.shared.array((THREADS, 4), float32)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, p.shape[0]
    own = min(i, n - 1)
    x, y, z = p[own, 0], p[own, 1], p[own, 2]
    ax = ay = az = float32(0)
    for first in range(0, n, THREADS):
        if first + t < n:
            for e in range(3):
                tile[t, e] = p[first + t, e]
            tile[t, 3] = m[first + t]
        cuda.syncthreads()
        for k in range(min(THREADS, n - first)):
            dx, dy, dz = tile[k, 0] - x, tile[k, 1] - y, tile[k, 2] - z
            q = eps + dx * dx + dy * dy + dz * dz
            w = tile[k, 3] / (q * math.sqrt(q))
            ax += w * dx
            ay += w * dy
            az += w * dz
        cuda.syncthreads()
    if i < n:
        acc[i, 0], acc[i, 1], acc[i, 2] = ax, ay, az


# ---- the discount workload: the slicing decides what runs in parallel

def discount_versions():
    target = {'target': 'cuda'}

    @guvectorize(['void(float64[:,:], float64[:,:,:], float64[:,:,:])'], '(m,o),(n,m,o)->(n,m,o)', **target)
    def whole(mul, disc, cv):
        for t in range(disc.shape[0]):
            for i in range(disc.shape[1]):
                for j in range(disc.shape[2]):
                    cv[t, i, j] = mul[i, j] * disc[t, i, j]

    @vectorize(['float64(float64, float64)'], **target)
    def elements(a, b): return a * b

    @guvectorize(['void(float64[:,:], float64[:,:], float64[:,:])'], '(m,o),(m,o)->(m,o)', **target)
    def over_rows(mul, disc, cv):
        for i in range(disc.shape[0]):
            for j in range(disc.shape[1]):
                cv[i, j] = mul[i, j] * disc[i, j]

    @guvectorize(['void(float64[:], float64[:,:], float64[:,:])'], '(o),(m,o)->(m,o)', **target)
    def over_columns(mul, disc, cv):
        for t in range(disc.shape[0]):
            for j in range(disc.shape[1]):
                cv[t, j] = mul[j] * disc[t, j]
    return whole, elements, over_rows, over_columns


class Numba:
    is_leat = False

    def __init__(self, o, z):
        warnings.simplefilter('ignore')
        self.version = 'numba %s, numpy %s' % (numba.__version__, np.__version__)
        self.buffer, self.made = [cuda.device_array(1 << 26, np.uint8) for _ in range(2)], []

    def load(self, a): return cuda.to_device(np.ascontiguousarray(a))

    def view(self, pool, spec): return pool[spec.start:spec.start + spec.count].reshape(spec.shape)

    def fetch(self, made): return [made if isinstance(made, np.ndarray) else made.copy_to_host()]

    def done(self): pass

    def wait(self): cuda.synchronize()

    def ahead(self):
        for _ in range(16):
            self.buffer[0].copy_to_device(self.buffer[1])

    def mark(self):
        e = cuda.event()
        e.record()
        return e

    def between_us(self, a, b): return a.elapsed_time(b) * 1e3

    def ways(self, case, v):
        f = getattr(self, case.key, None) or getattr(self, case.key.split('_')[0], None)
        return f(v) if f else []

    def into(self, shape, kernel, grid, block, *arguments, dtype=np.float32):
        y = cuda.device_array(shape, dtype)
        launch = kernel[grid, block]

        def run():
            launch(*arguments, y)
            return y
        return run

    def add5(self, v): yield 'kernel', self.into(v['x'].shape, add5, blocks(v['x'].size), THREADS, v['x'])

    def normalise(self, v):
        a, s = v['a'], cuda.device_array(1, np.float32)
        second = self.into(a.shape, divide, blocks(a.size), THREADS, a, s)

        def run():
            total(a, res=s)
            return second()
        yield 'reduce, kernel', run

    def sum(self, v):
        s = cuda.device_array(1, np.float32)

        def run():
            total(v['x'], res=s)
            return s.reshape(())
        yield 'reduce', run

    def softmax(self, v): yield 'kernel', self.into(v['x'].shape, softmax, min(v['x'].shape[0], 132 * 64), THREADS, v['x'])

    def stencil(self, v):
        n = v['a'].shape[0]
        yield 'kernel', self.into(v['a'].shape, stencil, (-(-n // 64), -(-n // 4)), (64, 4), v['a'])

    def columns(self, v):
        n, strips = v['a'].shape[0], 64
        y, zeros = cuda.device_array(n, np.float32), cuda.to_device(np.zeros(n, np.float32))

        def run():
            y.copy_to_device(zeros)
            columns[(-(-n // THREADS), strips), THREADS](v['a'], y, -(-n // strips))
            return y
        yield 'kernel', run

    def histogram(self, v):
        h, zeros = cuda.device_array(256, np.int64), cuda.to_device(np.zeros(256, np.int64))

        def run():
            h.copy_to_device(zeros)
            histogram[132 * 8, 256](v['b'], h)
            return h
        yield 'kernel', run

    def transpose(self, v):
        tiles = -(-v['a'].shape[0] // TILE)
        yield 'kernel', self.into(v['a'].shape, transpose, (tiles, tiles), (TILE, 8), v['a'], v['b'])

    def options(self, v):
        n = v['S'].size
        yield 'kernel', self.into(n, options, blocks(n), THREADS, v['S'], v['X'], v['t'], np.float32(v['r']), np.float32(v['v']))

    def bodies(self, v):
        n = v['p'].shape[0]
        yield 'kernel', self.into((n, 3), bodies, -(-n // THREADS), THREADS, v['p'], v['m'], np.float32(v['eps']))

    def discount(self, v):
        whole, elements, over_rows, over_columns = discount_versions()
        mul, disc = v['mul'], v['disc']
        full = cuda.to_device(np.ascontiguousarray(np.broadcast_to(mul.copy_to_host(), disc.shape)))
        by_column = cuda.to_device(np.ascontiguousarray(disc.copy_to_host().transpose(1, 0, 2)))
        out, turned = (cuda.device_array(s, np.float64) for s in (disc.shape, by_column.shape))
        yield 'guvectorize, 3-D', lambda: (whole(mul, disc, out), out)[1]
        yield 'vectorize', lambda: (elements(full, disc, out=out), out)[1]
        yield 'guvectorize over rows', lambda: (over_rows(mul, disc, out), out)[1]
        yield 'guvectorize over columns', lambda: Turned((over_columns(mul, by_column, turned), turned)[1])

    def discount_memory(self, v):
        whole, elements, over_rows, over_columns = discount_versions()
        mul, disc = v['mul'], v['disc']
        full, by_column = np.ascontiguousarray(np.broadcast_to(mul, disc.shape)), np.ascontiguousarray(disc.transpose(1, 0, 2))
        yield 'guvectorize, 3-D', lambda: whole(mul, disc)
        yield 'vectorize', lambda: elements(full, disc)
        yield 'guvectorize over rows', lambda: over_rows(mul, disc)
        yield 'guvectorize over columns', lambda: over_columns(mul, by_column).transpose(1, 0, 2)

    def new_expressions(self):
        x = cuda.to_device(np.ones(1000, np.float32))
        add5[1, 32](x, cuda.device_array(1000, np.float32))
        start = time.perf_counter()

        @cuda.jit
        def fresh(x, y):
            i = cuda.grid(1)
            if i < x.size:
                y[i] = (x[i] * float32(1.25) + float32(7)) / (x[i] + float32(0.75)) - x[i]
        fresh[4, 256](x, cuda.device_array(1000, np.float32))
        cuda.synchronize()
        yield 'arithmetic', (time.perf_counter() - start) * 1e3


class Turned:
    """A result whose first two axes are exchanged in memory."""

    def __init__(self, made): self.made = made

    def copy_to_host(self): return self.made.copy_to_host().transpose(1, 0, 2)


def open_peer(o, z): return Numba(o, z)
