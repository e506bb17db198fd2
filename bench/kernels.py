"""The second part of the benchmark: kernels from practice. As in cases.py, each peer's code is as fast as we can write it. If there are
several ways, all are run, and the fastest counts."""
import numpy as np
from cases import Case, half, jitted, numexpr_run, of, quarter, register, rows


@register
class BlackScholes(Case):
    label = 'Black-Scholes'
    text = '''def cdf(z) = 0.5 * (1 + erf(z * 0.7071067811865476))
d[i] = (log(S[i]/X[i]) + (r + v*v/2)*t[i]) / (v*sqrt(t[i]))
y[i] = S[i]*cdf(d[i]) - X[i]*exp(-r*t[i])*cdf(d[i] - v*sqrt(t[i]))'''
    r, v = 0.03, 0.25
    def inputs(self, log2):
        g = np.random.default_rng(0); n = 1 << log2; f = np.float32
        return dict(S=g.random(n, f) * 90 + 10, X=g.random(n, f) * 90 + 10, t=g.random(n, f) * 2 + quarter, r=self.r, v=self.v)
    def moved(self, v): return 4 * v['S'].nbytes
    def numpy(self, v):
        S, X, t = v['S'], v['X'], v['t']; f = np.float32; r, s = f(self.r), f(self.v); c = [f(q) for q in (1.061405429, 1.453152027, 1.421413741, 0.284496736, 0.254829592)]
        def cdf(d):                                               # NumPy has no erf: Abramowitz and Stegun, 7.1.26
            z = np.abs(d); z *= f(0.7071067811865476); q = z * f(0.3275911); q += f(1); np.divide(f(1), q, out=q); p = q * c[0]
            for k, sign in ((1, -1), (2, 1), (3, -1), (4, 1)): p += f(sign) * c[k]; p *= q
            np.multiply(z, z, out=z); np.negative(z, out=z); np.exp(z, out=z); p *= z; np.subtract(f(1), p, out=p)
            np.copysign(p, d, out=p); p += f(1); p *= half
            return p
        def part(S, X, t):
            q = np.sqrt(t); q *= s; d = S / X; np.log(d, out=d); d += (r + s * s / f(2)) * t; d /= q; a = cdf(d); a *= S; d -= q; b = cdf(d); b *= X; b *= np.exp(t * -r); a -= b
            return a
        def tiles():
            o = np.empty_like(S)
            for k in range(0, len(S), 1 << 14): w = slice(k, k + (1 << 14)); o[w] = part(S[w], X[w], t[w])
            return o
        return [lambda: part(S, X, t), tiles]
    def numexpr(self, v):
        import numexpr as ne
        f = np.float32; c = {'k%d' % i: f(q) for i, q in enumerate((0.3275911, 1.061405429, 1.453152027, 1.421413741, 0.284496736, 0.254829592, 0.7071067811865476, 1, 0.5))}
        def cdf(d):
            z = '(abs(%s)*k6)' % d; t = '(k7/(k7+k0*%s))' % z
            return 'where({0} < k9, k7-{1}, {1})'.format(d, '(k7-k8*(((((k1*{0}-k2)*{0})+k3)*{0}-k4)*{0}+k5)*{0}*exp(-{1}*{1}))'.format(t, z))
        c.update(k9=f(0), rr=f(self.r), s=f(self.v), q=f(self.r + self.v * self.v / 2)); d = '((log(S/X)+q*t)/(s*sqrt(t)))'; e = '(%s-s*sqrt(t))' % d
        names = {**{k: v[k] for k in 'SXt'}, **c}
        def two():
            d1 = numexpr_run('(log(S/X)+q*t)/(s*sqrt(t))', names)(); return numexpr_run('S*%s-X*exp(-rr*t)*%s' % (cdf('d'), cdf('(d-s*sqrt(t))')), names, d=d1)()
        ways = [numexpr_run('S*%s-X*exp(-rr*t)*%s' % (cdf(d), cdf(e)), names), two]
        if 'erf' in getattr(ne.necompiler, 'functions', {}): ways.append(numexpr_run('k8*(S*(k7+erf(k6*%s))-X*exp(-rr*t)*(k7+erf(k6*%s)))' % (d, e), names))
        return ways
    def numba(self, v): import numba_kernels; return of(numba_kernels.black_scholes, v)
    def jax(self, v):
        import jax.numpy as jnp
        from jax.scipy.special import erf
        cdf = lambda z: 0.5 * (1 + erf(z * 0.7071067811865476)); r, s = self.r, self.v
        def f(S, X, t): d = (jnp.log(S / X) + (r + s * s / 2) * t) / (s * jnp.sqrt(t)); return S * cdf(d) - X * jnp.exp(-r * t) * cdf(d - s * jnp.sqrt(t))
        return [jitted(f, v['S'], v['X'], v['t'])]


@register
class Mandelbrot(Case):
    label = 'Mandelbrot 1000^2, 50 turns'
    text = '''def mandel(cr, ci, n) {
  zr = 0.0; zi = 0.0; k = 0
  while k < n && zr*zr + zi*zi <= 4 { t = zr*zr - zi*zi + cr; zi = 2*zr*zi + ci; zr = t; k += 1 }
  return k
}
y[i,j] = mandel(3*j/W - 2, 2*i/H - 1, 50) where i in 0..H, j in 0..W'''
    tolerance = 0.05                                              # a point near the edge may escape one iteration sooner
    def inputs(self, log2): return dict(W=1000, H=1000)
    def moved(self, v): return 8 * v['W'] * v['H']
    def plane(self, v): return 3 * np.arange(v['W']) / v['W'] - 2, 2 * np.arange(v['H']) / v['H'] - 1
    def check(self, k, got, want, tolerance): return np.mean(got != want) < 1e-3
    def numpy(self, v):
        cr, ci = self.plane(v)
        def leaving():                                            # removes points that have escaped
            r, i = np.broadcast_to(cr, (len(ci), len(cr))).ravel(), np.repeat(ci, len(cr)); zr, zi = r.copy(), i.copy(); it = np.ones(len(r), np.int64); live = np.arange(len(r))
            for _ in range(49):
                a, b = zr * zr, zi * zi; stay = np.flatnonzero(a + b <= 4)
                if len(stay) < len(zr): live, r, i, zr, zi, a, b = live[stay], r[stay], i[stay], zr[stay], zi[stay], a[stay], b[stay]
                it[live] += 1; zi *= zr; zi *= 2; zi += i; np.subtract(a, b, out=zr); zr += r
            return it.reshape(len(ci), len(cr))
        def strips():                                             # keeps all points, a few rows at a time
            it = np.zeros((len(ci), len(cr)), np.int64)
            for k in range(0, len(ci), 8):
                i = ci[k:k + 8, None]; zr = np.zeros((len(i), len(cr))); zi = zr.copy(); o = it[k:k + 8]
                with np.errstate(all='ignore'):
                    for _ in range(50): a, b = zr * zr, zi * zi; o += a + b <= 4; zi *= zr; zi *= 2; zi += i; np.subtract(a, b, out=zr); zr += cr
            return it
        return [leaving, strips]
    def numexpr(self, v):
        cr, ci = self.plane(v); shape = (len(ci), len(cr)); r, i = np.broadcast_to(cr, shape).copy(), np.repeat(ci, len(cr)).reshape(shape)
        def whole():
            zr, zi, it = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
            with np.errstate(all='ignore'):
                for _ in range(50):
                    h = dict(a=zr, b=zi, r=r, i=i, n=it); it = numexpr_run('where(a*a+b*b<=4, n+1, n)', h)(); zr, zi = numexpr_run('a*a-b*b+r', h)(), numexpr_run('2*a*b+i', h)()
            return it
        return [whole]
    def numba(self, v): import numba_kernels; return of(numba_kernels.mandelbrot, v)
    def jax(self, v):
        import jax, jax.numpy as jnp
        cr, ci = self.plane(v)
        def f(cr, ci):
            z = jnp.zeros((len(ci), len(cr)))
            def turn(_, s): zr, zi, it = s; a, b = zr * zr, zi * zi; return a - b + cr, 2 * zr * zi + ci[:, None], it + (a + b <= 4)
            return jax.lax.fori_loop(0, 50, turn, (z, z, jnp.zeros(z.shape, jnp.int64)))[2]
        return [jitted(f, cr, ci)]


@register
class LayerNorm(Case):
    label = 'layer norm'
    text = '''in eps = 1e-5
m[i] = mean(j: x[i,j])
s[i] = mean(j: (x[i,j] - m[i])**2)
y[i,j] = (x[i,j] - m[i]) / sqrt(s[i] + eps) * g[j] + b[j]'''
    def inputs(self, log2):
        v = rows(log2); r = np.random.default_rng(1); n = v['x'].shape[1]
        return dict(x=v['x'], g=r.random(n, np.float32), b=r.random(n, np.float32))
    def moved(self, v): return 2 * v['x'].nbytes
    def numpy(self, v):
        x, g, b = v.values()
        def part(x, o):
            np.subtract(x, x.mean(1, keepdims=True), out=o); s = np.vecdot(o, o)[:, None] / np.float32(x.shape[1]); o /= np.sqrt(s + np.float32(1e-5)); o *= g; o += b; return o
        def tiles():
            o = np.empty_like(x); step = max(1, (1 << 16) // x.shape[1])
            for k in range(0, len(x), step): part(x[k:k + step], o[k:k + step])
            return o
        return [lambda: part(x, np.empty_like(x)), tiles]
    def numexpr(self, v):
        x, g, b = v.values()
        def f(): m = x.mean(1, keepdims=True); s = np.sqrt(x.var(1, keepdims=True) + np.float32(1e-5)); return numexpr_run('(x-m)/s*g+b', v, m=m, s=s)()
        return [f]
    def numba(self, v): import numba_kernels; return of(numba_kernels.layer_norm, v)
    def jax(self, v):
        import jax, jax.numpy as jnp
        return [jitted(lambda x, g, b: (x - x.mean(1, keepdims=True)) * jax.lax.rsqrt(x.var(1, keepdims=True) + 1e-5) * g + b, *v.values())]


@register
class LogSumExp(Case):
    label, text = 'logsumexp of rows', 'y[i] = max(j: x[i,j]) + log(sum(j: exp(x[i,j] - max(k: x[i,k]))))'
    def inputs(self, log2): return rows(log2)
    def numpy(self, v):
        x = v['x']
        def part(x): m = x.max(1); z = x - m[:, None]; np.exp(z, out=z); return m + np.log(z.sum(1))
        def tiles(): step = max(1, (1 << 16) // x.shape[1]); return np.concatenate([part(x[k:k + step]) for k in range(0, len(x), step)])
        return [lambda: part(x), tiles]
    def numexpr(self, v):
        x = v['x']
        def f(): m = x.max(1); return m + np.log(numexpr_run('exp(x-m)', v, m=m[:, None])().sum(1))
        return [f]
    def numba(self, v): import numba_kernels; return of(numba_kernels.logsumexp, v)
    def jax(self, v): import jax; return [jitted(lambda x: jax.nn.logsumexp(x, 1), v['x'])]


@register
class CumulativeSum(Case):
    label, text = 'cumulative sum, f64', 'y[i] = sum(k in 0..i+1: x[k])'
    tolerance = 1e-12
    def inputs(self, log2): return {'x': np.random.default_rng(0).random(1 << log2)}
    def moved(self, v): return 2 * v['x'].nbytes
    def numpy(self, v): x = v['x']; return [lambda: np.cumsum(x), lambda: np.add.accumulate(x)]
    def numba(self, v): import numba_kernels; return [lambda: numba_kernels.cumulative(v['x']), lambda: numba_kernels.cumulative_parts(v['x'])]
    def jax(self, v):
        import jax.numpy as jnp
        return [jitted(jnp.cumsum, v['x'])]


class Histogram(Case):
    text = 'out y: i64[256]\ny[b[i]] += 1'
    tolerance = 0
    def inputs(self, log2): return {'b': np.random.default_rng(0).integers(0, 256, 1 << log2).astype(self.type)}
    def numba(self, v): import numba_kernels; return of(numba_kernels.histogram, v)
    def jax(self, v): import jax.numpy as jnp; return [jitted(lambda b: jnp.bincount(b, length=256), v['b'])]


@register
class HistogramWide(Histogram):
    label, type = 'histogram, 256 bins, i64', np.int64
    def numpy(self, v): b = v['b']; return [lambda: np.bincount(b, minlength=256)]


@register
class HistogramBytes(Histogram):
    label, type = 'histogram, 256 bins, u8', np.uint8
    def numpy(self, v):
        b = v['b']
        def pairs(): c = np.bincount(b.view(np.uint16), minlength=65536).reshape(256, 256); return c.sum(0) + c.sum(1)
        def pair_tiles():
            c = np.zeros(65536, np.int64); w = b.view(np.uint16)
            for k in range(0, len(w), 1 << 18): c += np.bincount(w[k:k + (1 << 18)], minlength=65536)
            c = c.reshape(256, 256); return c.sum(0) + c.sum(1)
        return [lambda: np.bincount(b, minlength=256), pairs, pair_tiles]


@register
class KMeans(Case):
    label = 'k-means step, 64 centres of 16'
    text = '''lab[i] = argmin(c: sum(d: (x[i,d] - cen[c,d])**2))
out sm: f64[len(cen,0), len(x,1)], cnt: i64[len(cen,0)]
sm[lab[i],d] += x[i,d]
cnt[lab[i]] += 1'''
    results = ('lab', 'sm', 'cnt')
    def inputs(self, log2): r = np.random.default_rng(0); return dict(x=r.random((1 << (log2 - 4), 16), np.float32), cen=r.random((64, 16), np.float32))
    def check(self, k, got, want, tolerance): return np.mean(got != want) < 1e-4 if k == 'lab' else np.allclose(got, want, rtol=1e-3)
    def numpy(self, v):
        x, cen = v.values(); factor, square = np.ascontiguousarray(-2 * cen.T), (cen * cen).sum(1); every = np.arange(len(cen))
        def labels(step, sums):
            lab = np.empty(len(x), np.int64); d = np.empty((step, len(cen)), np.float32); total = np.zeros(cen.shape)
            for k in range(0, len(x), step):
                w = x[k:k + step]; q = d[:len(w)]; np.matmul(w, factor, out=q); q += square; l = lab[k:k + step]; q.argmin(1, out=l)
                if sums: total += (l == every[:, None]).astype(np.float32) @ w
            return lab, total
        def by_counts():
            lab, _ = labels(1 << 12, False); return lab, np.stack([np.bincount(lab, x[:, d], len(cen)) for d in range(x.shape[1])], 1), np.bincount(lab, minlength=len(cen))
        def by_product(): lab, sm = labels(1 << 12, True); return lab, sm, np.bincount(lab, minlength=len(cen))
        return [by_counts, by_product]
    def numba(self, v): import numba_kernels; return of(numba_kernels.kmeans, v)
    def jax(self, v):
        import jax, jax.numpy as jnp
        def f(x, cen):
            lab = jnp.argmin((cen * cen).sum(1) - 2 * x @ cen.T, 1)
            return lab, jax.ops.segment_sum(x, lab, len(cen)), jnp.bincount(lab, length=len(cen))
        return [jitted(f, *v.values())]


@register
class NBody(Case):
    label = 'N-body, 4,096'
    text = '''w[i,j] = m[j] / (eps + sum(e: (p[j,e] - p[i,e])**2))**1.5
y[i,d] = sum(j: w[i,j] * (p[j,d] - p[i,d]))'''
    tolerance = 1e-4
    def inputs(self, log2): r = np.random.default_rng(0); n = 4096 if log2 >= 24 else 1 << (log2 // 2); return dict(p=r.random((n, 3), np.float32), m=r.random(n, np.float32), eps=0.01)
    def numpy(self, v):
        p, m, eps = v['p'], v['m'], np.float32(v['eps']); x = [np.ascontiguousarray(p[:, k]) for k in range(3)]; turned = np.ascontiguousarray(-2 * p.T); square = (p * p).sum(1) + eps
        def tiles(distance):
            o = np.empty_like(p)
            for k in range(0, len(p), 16):
                t = slice(k, k + 16); q = distance(t); w = np.sqrt(q); w *= q; np.divide(m, w, out=w); o[t] = w @ p - w.sum(1, keepdims=True) * p[t]
            return o
        def direct(t):
            q = x[0] - x[0][t, None]; q *= q
            for k in (1, 2): d = x[k] - x[k][t, None]; d *= d; q += d
            q += eps; return q
        def product(t): q = p[t] @ turned; q += square; q += (square[t] - eps)[:, None]; return q
        return [lambda: tiles(direct), lambda: tiles(product)]
    def numexpr(self, v):
        p = v['p']; x = [np.ascontiguousarray(p[:, k]) for k in range(3)]; h = {'x%d' % k: x[k] for k in range(3)}; h.update({'y%d' % k: x[k][:, None] for k in range(3)}); h['e'] = np.float32(v['eps']); h['m'] = v['m']
        def f():
            q = numexpr_run('e+(x0-y0)**2+(x1-y1)**2+(x2-y2)**2', h)(); w = numexpr_run('m/(q*sqrt(q))', h, q=q)(); return w @ p - w.sum(1, keepdims=True) * p
        return [f]
    def numba(self, v): import numba_kernels; return of(numba_kernels.nbody, v)
    def jax(self, v):
        import jax.numpy as jnp
        eps = v['eps']
        def f(p, m): d = p[None] - p[:, None]; q = eps + (d * d).sum(2); w = m / (q * jnp.sqrt(q)); return (w[:, :, None] * d).sum(1)
        return [jitted(f, v['p'], v['m'])]


@register
class Jacobi(Case):
    label = 'Jacobi 2048^2, 100 steps'
    text = '''out u
for step in 0..100 {
  w[i,j] = (u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1]) / 4 else u[i,j]
  u[i,j] = w[i,j]
}'''
    results = ('u',)
    def inputs(self, log2): n = 2048 if log2 >= 24 else 1 << (log2 // 2); return {'u': np.random.default_rng(0).random((n, n), np.float32)}
    def moved(self, v): return 200 * v['u'].nbytes
    def numpy(self, v):
        u = v['u']
        def sweep(a, b, rows):
            for k in range(1, len(a) - 1, rows):
                e = min(k + rows, len(a) - 1); o = b[k:e, 1:-1]; np.add(a[k - 1:e - 1, 1:-1], a[k + 1:e + 1, 1:-1], out=o); o += a[k:e, :-2]; o += a[k:e, 2:]; o *= quarter
        def steps(rows):
            a, b = u.copy(), u.copy()
            for _ in range(100): sweep(a, b, rows); a, b = b, a
            return a
        return [lambda: steps(1 << 30), lambda: steps(16), lambda: steps(64)]
    def numexpr(self, v):
        u = v['u']; slices = lambda a: dict(a=a[:-2, 1:-1], b=a[2:, 1:-1], c=a[1:-1, :-2], d=a[1:-1, 2:], q=quarter)
        def steps():
            a, b = u.copy(), u.copy()
            for _ in range(100): numexpr_run('(a+b+c+d)*q', slices(a), out=b[1:-1, 1:-1])(); a, b = b, a
            return a
        return [steps]
    def numba(self, v): import numba_kernels; return of(numba_kernels.jacobi, v)
    def jax(self, v):
        import jax
        step = lambda _, u: u.at[1:-1, 1:-1].set((u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * quarter)
        return [jitted(lambda u: jax.lax.fori_loop(0, 100, step, u), v['u'])]


@register
class Heat(Case):
    label = 'heat 2^20, 1,000 steps'
    text = 'out u\nfor step in 0..1000 { u[i] = u[i] + k*(u[i-1] - 2*u[i] + u[i+1]) else u[i] }'
    results = ('u',)
    def inputs(self, log2): return {'u': np.random.default_rng(0).random(1 << min(20, log2 - 2), np.float32), 'k': 0.25}
    def moved(self, v): return 2000 * v['u'].nbytes
    def numpy(self, v):
        u, k = v['u'], np.float32(v['k']); own = np.float32(1 - 2 * v['k'])
        def sweep(a, b, q): np.add(a[:-2], a[2:], out=b[1:-1]); b[1:-1] *= k; np.multiply(a[1:-1], own, out=q); b[1:-1] += q
        def steps():
            a, b, q = u.copy(), u.copy(), np.empty_like(u[2:])
            for _ in range(1000): sweep(a, b, q); a, b = b, a
            return a
        def tiles(size, turns):                                   # several steps on a tile with a margin, while it is in the cache
            a, b = u.copy(), u.copy(); n = len(u)
            for _ in range(1000 // turns):
                for at in range(0, n, size):
                    low, high = max(0, at - turns), min(n, at + size + turns); p, q, t = a[low:high].copy(), a[low:high].copy(), np.empty(high - low - 2, np.float32)
                    for _ in range(turns): sweep(p, q, t); p, q = q, p
                    b[at:at + size] = p[at - low:at - low + size]
                a, b = b, a
            return a
        return [steps, lambda: tiles(1 << 14, 50), lambda: tiles(1 << 16, 50)]
    def numexpr(self, v):
        u = v['u']; h = dict(k=np.float32(v['k']), q=np.float32(1 - 2 * v['k']))
        def steps():
            a, b = u.copy(), u.copy()
            for _ in range(1000): numexpr_run('q*b+k*(a+c)', h, out=b[1:-1], a=a[:-2], b=a[1:-1], c=a[2:])(); a, b = b, a
            return a
        return [steps]
    def numba(self, v): import numba_kernels; return of(numba_kernels.heat, v)
    def jax(self, v):
        import jax
        k = np.float32(v['k']); step = lambda _, u: u.at[1:-1].set(u[1:-1] + k * (u[:-2] - 2 * u[1:-1] + u[2:]))
        return [jitted(lambda u: jax.lax.fori_loop(0, 1000, step, u), v['u'])]


@register
class Convolution(Case):
    label, text = '3x3 convolution, 3840x2160', 'y[i,j] = sum(a,b: w[a,b] * x[i+a-1,j+b-1]) else 0'
    def inputs(self, log2): r = np.random.default_rng(0); shape = (2160, 3840) if log2 >= 24 else (96, 128); return dict(x=r.random(shape, np.float32), w=r.random((3, 3), np.float32))
    def moved(self, v): return 2 * v['x'].nbytes
    def numpy(self, v):
        x, w = v.values()
        def part(x, o):
            q = np.empty_like(o); h, l = o.shape
            for a in range(3):
                for b in range(3):
                    s = x[a:a + h, b:b + l]
                    if a + b: np.multiply(s, w[a, b], out=q); o += q
                    else: np.multiply(s, w[a, b], out=o)
        def tiles(rows):
            o = np.zeros_like(x)
            for k in range(1, len(x) - 1, rows): e = min(k + rows, len(x) - 1); part(x[k - 1:e + 1], o[k:e, 1:-1])
            return o
        def windows():
            o = np.zeros_like(x); np.einsum('ijab,ab->ij', np.lib.stride_tricks.sliding_window_view(x, (3, 3)), w, out=o[1:-1, 1:-1]); return o
        return [lambda: tiles(1 << 30), lambda: tiles(8), windows]
    def numexpr(self, v):
        x, w = v.values(); h = {'w%d' % k: w.flat[k] for k in range(9)}; h.update({'x%d' % (3 * a + b): x[a:len(x) - 2 + a, b:x.shape[1] - 2 + b] for a in range(3) for b in range(3)})
        def f(): o = np.zeros_like(x); numexpr_run('+'.join('w%d*x%d' % (k, k) for k in range(9)), h, out=o[1:-1, 1:-1])(); return o
        return [f]
    def numba(self, v): import numba_kernels; return of(numba_kernels.convolve, v)
    def jax(self, v):
        import jax, jax.numpy as jnp
        def library(x, w): return jax.lax.conv_general_dilated(x[None, None, :, :], w[None, None, :, :], (1, 1), 'VALID')[0, 0]
        def by_hand(x, w): return sum(w[a, b] * x[a:x.shape[0] - 2 + a, b:x.shape[1] - 2 + b] for a in range(3) for b in range(3))
        return [jitted(lambda x, w: jnp.zeros_like(x).at[1:-1, 1:-1].set(g(x, w)), x, w) for g in (library, by_hand) for x, w in [tuple(v.values())]]


@register
class BatchedMatVec(Case):
    label, text = 'batched matrix * vector, 128^2', 'y[b,i] = sum(j: A[b,i,j] * x[b,j])'
    def inputs(self, log2): r = np.random.default_rng(0); n = 1 << (log2 - 14); return dict(A=r.random((n, 128, 128), np.float32), x=r.random((n, 128), np.float32))
    def numpy(self, v): A, x = v.values(); return [lambda: (A @ x[..., None])[..., 0], lambda: np.matvec(A, x), lambda: np.vecdot(A, x[:, None, :]), lambda: np.einsum('bij,bj->bi', A, x)]
    def numba(self, v): import numba_kernels; return of(numba_kernels.batched, v)
    def jax(self, v): import jax.numpy as jnp; return [jitted(lambda A, x: jnp.einsum('bij,bj->bi', A, x), *v.values()), jitted(lambda A, x: (A * x[:, None, :]).sum(2), *v.values())]


@register
class Sparse(Case):
    label, text = 'CSR matrix * vector, 16 a row', 'y[i] = sum(p in row[i]..row[i+1]: val[p] * x[col[p]]) where i in 0..len(row,0)-1'
    def inputs(self, log2):
        r = np.random.default_rng(0); n = 1 << (log2 - 4); lengths = r.integers(12, 21, n); row = np.zeros(n + 1, np.int64); np.cumsum(lengths, out=row[1:])
        return dict(row=row, col=r.integers(0, n, row[-1]).astype(np.int32), val=r.random(row[-1], np.float32), x=r.random(n, np.float32))
    def numpy(self, v):
        row, col, val, x = v.values(); wide = col.astype(np.int64); number = np.repeat(np.arange(len(row) - 1), np.diff(row))
        def tiles(step):
            o = np.empty(len(row) - 1, np.float32)
            for k in range(0, len(o), step): e = min(k + step, len(o)); s = slice(row[k], row[e]); q = x.take(wide[s], mode='clip'); q *= val[s]; np.add.reduceat(q, row[k:e] - row[k], out=o[k:e])
            return o
        return [lambda: np.add.reduceat(val * x[wide], row[:-1]), lambda: tiles(1 << 12), lambda: tiles(1 << 16), lambda: np.bincount(number, val * x[wide]).astype(np.float32)]
    def numba(self, v): import numba_kernels; return of(numba_kernels.sparse, v)
    def jax(self, v):
        import jax
        row, col, val, x = v.values(); number = np.repeat(np.arange(len(row) - 1), np.diff(row)).astype(np.int32); n = len(row) - 1
        return [jitted(lambda number, col, val, x: jax.ops.segment_sum(val * x[col], number, n, indices_are_sorted=True), number, col, val, x)]


@register
class MatMul(Case):
    label, text = 'matmul 2,048', 'y[i,j] = sum(k: A[i,k] * B[k,j])'
    def inputs(self, log2): r = np.random.default_rng(0); n = 1 << min(11, log2 // 2); return dict(A=r.random((n, n), np.float32), B=r.random((n, n), np.float32))
    def moved(self, v): return 3 * v['A'].nbytes
    def numpy(self, v): A, B = v.values(); return [lambda: A @ B]
    def numba(self, v): import numba_kernels; return of(numba_kernels.matmul, v)
    def jax(self, v): return [jitted(lambda A, B: A @ B, *v.values())]
