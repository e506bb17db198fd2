"""CuPy's part of the GPU benchmark: what its public interface offers without user-written kernels in CUDA C: array expressions, cupy.fuse
and ElementwiseKernel."""
import time

import numpy as np
import cupy as cp
from cupyx.scipy.special import softmax as library_softmax

FIVE = ', '.join('T x%d' % k for k in range(5))


def element(inputs, output, text, name, **more): return cp.ElementwiseKernel(inputs, output, text, name, **more)


class CuPy:
    is_leat = False

    def __init__(self, o, z):
        runtime = cp.cuda.runtime.runtimeGetVersion()
        self.version = 'cupy %s (CUDA %d.%d), numpy %s' % (cp.__version__, runtime // 1000, runtime % 1000 // 10, np.__version__)
        self.buffer = cp.zeros(1 << 26, cp.uint8), cp.zeros(1 << 26, cp.uint8)

    def load(self, a): return cp.asarray(a)

    def view(self, pool, spec): return spec.of(pool)

    def fetch(self, made): return [cp.asnumpy(made)]

    def done(self): cp.get_default_memory_pool().free_all_blocks()

    def wait(self): cp.cuda.Device().synchronize()

    def ahead(self):
        for _ in range(16):
            cp.copyto(*self.buffer)

    def mark(self):
        e = cp.cuda.Event()
        e.record()
        return e

    def between_us(self, a, b): return cp.cuda.get_elapsed_time(a, b) * 1e3

    def ways(self, case, v):
        if case.key == 'discount_memory':
            yield 'asarray, *, asnumpy', lambda: cp.asnumpy(cp.asarray(v['mul']) * cp.asarray(v['disc']))
            return
        yield 'expression', lambda: case.expected(cp, v)
        more = getattr(self, case.key.split('_')[0], None)
        if more:
            yield from more(v, case)

    def add5(self, v, case):
        fused = cp.fuse(kernel_name='five_fused')(lambda x: x + x + x + x + x)
        kernel = element('T x', 'T y', 'y = x + x + x + x + x', 'five')
        x = v['x']
        yield 'fuse', lambda: fused(x)
        yield 'ElementwiseKernel', lambda: kernel(x)

    def normalise(self, v, case):
        kernel, a = element('T a, T s', 'T y', 'y = a / s', 'by_sum'), v['a']
        yield 'sum, ElementwiseKernel', lambda: kernel(a, a.sum())

    def softmax(self, v, case):
        fused = cp.fuse(kernel_name='shares')(lambda e, s: e / s)
        powers = element('T x, T m', 'T e', 'e = exp(x - m)', 'powers')
        x = v['x']

        def pieces():
            e = powers(x, x.max(1, keepdims=True))
            return fused(e, e.sum(1, keepdims=True))
        yield 'cupyx softmax', lambda: library_softmax(x, axis=1)
        yield 'max, ElementwiseKernel, sum, fuse', pieces

    def norm(self, v, case):
        square = cp.ReductionKernel('T x, T mu', 'T y', '(x - mu) * (x - mu)', 'a + b', 'y = a', '0', 'squares')
        last = element('T x, T mu, T q, T g, T b, T eps, T n', 'T y', 'y = (x - mu) / sqrt(q / n + eps) * g + b', 'layer')
        x, n = v['x'], np.float32(v['x'].shape[1])

        def pieces():
            mu = x.mean(1, keepdims=True)
            return last(x, mu, square(x, mu, axis=1, keepdims=True), v['g'], v['b'], np.float32(v['eps']), n)
        yield 'mean, ReductionKernel, ElementwiseKernel', pieces

    def stencil(self, v, case):
        kernel, a = element(FIVE, 'T y', 'y = (x0 + x1 + x2 + x3 + x4) / 5', 'stencil'), v['a']

        def run():
            y = cp.zeros_like(a)
            kernel(a[1:-1, 1:-1], a[:-2, 1:-1], a[2:, 1:-1], a[1:-1, :-2], a[1:-1, 2:], y[1:-1, 1:-1])
            return y
        yield 'ElementwiseKernel', run

    def histogram(self, v, case):
        b = v['b']
        yield 'histogram', lambda: cp.histogram(b, 256, (0, 256))[0]

    def transpose(self, v, case):
        kernel = element('T a, T b', 'T y', 'y = a + b', 'transposed')
        yield 'ElementwiseKernel', lambda: kernel(v['a'], v['b'].T)

    def options(self, v, case):
        kernel = element('T S, T X, T t, T r, T v', 'T c', '''T root = v * sqrt(t), d = (log(S / X) + (r + v * v / 2) * t) / root;
            c = S * normcdf(d) - X * exp(-r * t) * normcdf(d - root)''', 'options')
        r, vol = np.float32(v['r']), np.float32(v['v'])
        yield 'ElementwiseKernel', lambda: kernel(v['S'], v['X'], v['t'], r, vol)

    def bodies(self, v, case):
        weights = element('T px, T py, T pz, T qx, T qy, T qz, T m, T eps', 'T w',
                          'T d = eps + (px-qx)*(px-qx) + (py-qy)*(py-qy) + (pz-qz)*(pz-qz); w = m / (d * sqrt(d))', 'weights')
        p, m, eps = v['p'], v['m'], np.float32(v['eps'])
        columns = [cp.ascontiguousarray(p[:, k]) for k in range(3)]

        def run():
            acc = cp.empty_like(p)
            for k in range(0, len(p), 8192):
                own = p[k:k + 8192]
                w = weights(*columns, *[c[k:k + 8192, None] for c in columns], m, eps)
                acc[k:k + 8192] = w @ p - w.sum(1, keepdims=True) * own
            return acc
        yield 'ElementwiseKernel, strips of a product', run

    def new_expressions(self):
        x = cp.ones(1000, cp.float32)
        rows = cp.ones((8, 128), cp.float32)
        element('T x', 'T y', 'y = x * 3', 'any')(x)  # loads NVRTC
        vol = np.float32(0.3)
        fused = cp.fuse(kernel_name='some_fused')(lambda x: (x * 1.25 + 7) / (x + 0.75) - x)
        text = '''T root = v * sqrt(x), d = (log(x / T(1.25)) + (T(0.05) + v * v / 2) * x) / root;
            c = x * normcdf(d) - T(1.25) * exp(T(-0.05) * x) * normcdf(d - root)'''
        for what, f in (('arithmetic, fuse', lambda: fused(x)),
                        ('arithmetic', lambda: element('T x', 'T y', 'y = (x * T(1.25) + 7) / (x + T(0.75)) - x', 'some')(x)),
                        ('softmax', lambda: library_softmax(rows * np.float32(1.25), axis=1)),
                        ('Black-Scholes', lambda: element('T x, T v', 'T c', text, 'price')(x, vol))):
            start = time.perf_counter()
            f()
            self.wait()
            yield what, (time.perf_counter() - start) * 1e3


def open_peer(o, z): return CuPy(o, z)
