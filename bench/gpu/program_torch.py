"""PyTorch's part of the GPU benchmark: eager, and with torch.compile; f32 products in f32."""
import time

import numpy as np
import torch


class Events:
    """Times by events. buffer: two arrays on the device."""

    def ahead(self):
        for _ in range(16):
            self.buffer[0].copy_(self.buffer[1])

    def mark(self):
        e = torch.cuda.Event(enable_timing=True)
        e.record()
        return e

    def between_us(self, a, b): return a.elapsed_time(b) * 1e3


class Torch(Events):
    is_leat = False

    def __init__(self, o, z):
        torch.backends.cuda.matmul.allow_tf32 = False
        self.version = 'torch %s, numpy %s' % (torch.__version__, np.__version__)
        self.compile_until = time.perf_counter() + (0.7 * o.seconds if not o.quick else 0)  # it takes seconds each time
        self.device = torch.device('cuda')
        self.buffer = [torch.zeros(1 << 26, dtype=torch.uint8, device=self.device) for _ in range(2)]

    def compiles(self): return time.perf_counter() < self.compile_until

    def load(self, a): return torch.from_numpy(np.array(a)).to(self.device)

    def view(self, pool, spec): return pool[spec.start:spec.start + spec.count].reshape(spec.shape)

    def fetch(self, made): return [made.cpu().numpy()]

    def done(self): torch.cuda.empty_cache()

    def wait(self): torch.cuda.synchronize()

    def both(self, f, *arrays, eager=True):
        if eager:
            yield 'eager', lambda: f(*arrays)
        if self.compiles():
            compiled = torch.compile(f, dynamic=False)
            yield 'compile', lambda: compiled(*arrays)

    def ways(self, case, v):
        f = getattr(self, case.key, None) or getattr(self, case.key.split('_')[0])
        return f(v)

    def add5(self, v): return self.both(lambda x: x + x + x + x + x, v['x'])

    def normalise(self, v): return self.both(lambda a: a / a.sum(), v['a'])

    def sum(self, v): return self.both(lambda x: x.sum(), v['x'])

    def softmax(self, v): return self.both(lambda x: torch.softmax(x, 1), v['x'])

    def norm(self, v):
        eps = v['eps']
        return self.both(lambda x, g, b: torch.nn.functional.layer_norm(x, x.shape[1:], g, b, eps), v['x'], v['g'], v['b'])

    def stencil(self, v):
        def f(a):
            y = torch.zeros_like(a)
            y[1:-1, 1:-1] = (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 5
            return y
        return self.both(f, v['a'])

    def columns(self, v): return self.both(lambda a: a.sum(0), v['a'])

    def cumsum(self, v): yield 'eager', lambda: torch.cumsum(v['x'], 0)

    def histogram(self, v):
        yield 'bincount', lambda: torch.bincount(v['b'], minlength=256)

    def transpose(self, v): return self.both(lambda a, b: a + b.T, v['a'], v['b'])

    def options(self, v):
        r, vol = v['r'], v['v']

        def f(S, X, t):
            d = (torch.log(S / X) + (r + vol * vol / 2) * t) / (vol * torch.sqrt(t))
            cdf = lambda z: 0.5 * (1 + torch.erf(z * 0.7071067811865476))
            return S * cdf(d) - X * torch.exp(-r * t) * cdf(d - vol * torch.sqrt(t))
        return self.both(f, v['S'], v['X'], v['t'])

    def bodies(self, v):
        eps, p, m = v['eps'], v['p'], v['m']

        def direct(own, p, m):
            d = [p[None, :, e] - own[:, None, e] for e in range(3)]
            q = eps + d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
            w = m / (q * torch.sqrt(q))
            return torch.stack([(w * c).sum(1) for c in d], 1)

        def product(own, p, m):
            q = eps + sum((p[None, :, e] - own[:, None, e]) ** 2 for e in range(3))
            w = m / (q * torch.sqrt(q))
            return w @ p - w.sum(1, keepdim=True) * own

        def strips(f): return lambda: torch.cat([f(p[k:k + 8192], p, m) for k in range(0, len(p), 8192)])
        yield 'eager, strips of a product', strips(product)
        if self.compiles():
            yield 'compile, fused sums', strips(torch.compile(direct, dynamic=False))

    def matmul(self, v): yield 'eager', lambda: v['A'] @ v['B']

    def discount(self, v): return self.both(lambda mul, disc: mul * disc, v['mul'], v['disc'])

    def discount_memory(self, v):
        mul, disc = torch.from_numpy(v['mul']), torch.from_numpy(v['disc'])
        yield 'to, *, cpu', lambda: (mul.to(self.device) * disc.to(self.device)).cpu()

    def new_expressions(self):
        if not self.compiles():
            return
        x = torch.ones(1000, device=self.device)
        torch.compile(lambda x: x * 3)(x)
        start = time.perf_counter()
        torch.compile(lambda x: (x * 1.25 + 7) / (x + 0.75) - x)(x)
        self.wait()
        yield 'arithmetic', (time.perf_counter() - start) * 1e3


def open_peer(o, z): return Torch(o, z)
