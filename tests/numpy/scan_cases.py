"""Scans: prefix and suffix reductions of every kind and type, along every axis, with any start and end, and in larger expressions. Floats
have the blocked order of device/cpu/kernels/kernels_scans.c, which is implemented here again."""
from caselib import *
from reduction_cases import tree

GROUP, CHUNK = 16, 16384
f32, f64, i64 = np.float32, np.float64, np.int64


def totals(x, op):
    """All prefixes of a float row in the fixed order."""
    out = np.empty_like(x); before = None; join = lambda a, b: b if a is None else op(a, b)
    for c in range(0, len(x), CHUNK):
        inside = None
        for g in range(c, min(c + CHUNK, len(x)), GROUP):
            group = x[g:min(g + GROUP, c + CHUNK)]
            for j in range(len(group)): out[g + j] = join(before, join(inside, tree(group[:j + 1], op)))
            inside = join(inside, tree(group, op))
        before = join(before, inside)
    return out


def prefix(name, x):
    """Inclusive: element i is the reduction of x[0..i]."""
    t = NAMES[x.dtype]; n = len(x)
    if name in ('sum', 'prod'):
        op = np.add if name == 'sum' else np.multiply
        if is_float(t): return totals(x.astype(DTYPES[computed(t)]), op).astype(DTYPES[t])
        return op.accumulate(x.astype(np.uint64 if t[0] == 'u' else i64))
    if name in ('min', 'max'): return (np.minimum if name == 'min' else np.maximum).accumulate(x)
    if name in ('any', 'all'): return (np.logical_or if name == 'any' else np.logical_and).accumulate(x != 0)
    if name == 'mean': return (prefix('sum', x if is_float(t) else x.astype(f64)).astype(DTYPES[to_float(t)]) / np.arange(1, n + 1).astype(DTYPES[to_float(t)])).astype(DTYPES[to_float(t)])
    return np.array([(x[:i + 1].argmin() if name == 'argmin' else x[:i + 1].argmax()) for i in range(n)], i64)


def nothing(name, t):
    low, high = (-inf, inf) if is_float(t) else (False, True) if t == 'bool' else ends(t)
    return {'sum': 0, 'prod': 1, 'min': high, 'max': low, 'any': False, 'all': True, 'mean': nan, 'argmin': -1, 'argmax': -1}[name]


def suffix(name, x):
    n = len(x)
    if name[:3] == 'arg': return np.array([i + (x[i:].argmin() if name == 'argmin' else x[i:].argmax()) for i in range(n)], i64)
    return prefix(name, x[::-1])[::-1]


def exclusive(name, x, y): return np.concatenate([np.array([nothing(name, NAMES[x.dtype])], y.dtype), y[:-1]])


NAMES_OF = ('sum', 'prod', 'min', 'max', 'any', 'all', 'mean', 'argmin', 'argmax')


def row(t, n, name, seed=3):
    r = np.random.default_rng(seed)
    if t == 'bool': return r.random(n) < (0.97 if name == 'all' else 0.03)
    if is_float(t): return cast(r.choice([0.5, 1, 2, -1], n) if name == 'prod' else np.round(r.standard_normal(n) * 64) / 8, t)
    low, high = ends(t); return r.integers(max(low, -9), min(high, 9) + 1, n).astype(DTYPES[t])


def whole_rows():
    for t in ('bool', 'i8', 'u16', 'i32', 'i64', 'u64', 'f32', 'f64'):
        for name in NAMES_OF:
            if (t == 'bool') != (name in ('any', 'all')) and t == 'bool': continue
            x = row(t, 45, name); p, s = prefix(name, x), suffix(name, x)
            if name == 'mean': s = (suffix('sum', x if is_float(t) else x.astype(f64)) / np.arange(45, 0, -1)).astype(p.dtype)
            ok('a[i] = %s(k in 0..i+1: x[k])\nb[i] = %s(k in 0..i: x[k]) where i in 0..len(x,0)\nc[i] = %s(k in i..len(x,0): x[k])' % (name, name, name), dict(x=x),
               a=p, b=exclusive(name, x, p), c=s)
    for t in ('f16', 'bf16'):
        x = row(t, 40, 'sum'); ok('y[i] = sum(k in 0..i+1: x[k])', dict(x=x), y=cast(totals(x.astype(f32), np.add), t))
    for n in (1, 2, 16, 17, 1030):
        x = (np.random.default_rng(n).random(n) + 0.1).astype(f32)
        ok('y[i] = sum(k in 0..i+1: x[k])\nz[i] = sum(k in i..len(x,0): x[k])', dict(x=x), y=totals(x, np.add), z=totals(x[::-1].copy(), np.add)[::-1])
    ok('y[i] = sum(k in 0..i+1: x[k])\nm[i] = mean(k in 0..i: x[k]) where i in 0..len(x,0)', dict(x=arr('f32', [])), y=arr('f32', []), m=arr('f32', []))
    ok('y[i] = sum(k in 0..i+1: x[k])', dict(x=arr('f64', [-0.0, -0.0, 0.0])), y=arr('f64', [-0.0, -0.0, 0.0]))
    ok('y[i] = max(k in 0..i+1: x[k])\nz[i] = min(k in i..5: x[k])\na[i] = argmax(k in 0..i+1: x[k])', dict(x=arr('f64', [1, 3, nan, 2, 5])),
       y=arr('f64', [1, 3, nan, nan, nan]), z=arr('f64', [nan, nan, nan, 2, 5]), a=np.array([0, 1, 2, 2, 2]))


def shifted():
    x = np.arange(1.0, 31.0); p = np.concatenate([[0], np.cumsum(x)]); S = lambda a, b: p[max(a, min(b, 30))] - p[a] if b > a else 0.0
    for text, at in (('k in 0..i-3', lambda i: (0, i - 3)), ('k in 4..i+1', lambda i: (4, i + 1)), ('k in i+2..len(x,0)', lambda i: (i + 2, 30)), ('k in i..20', lambda i: (i, 20)),
                     ('k in 0..len(x,0)-i', lambda i: (0, 30 - i)), ('k in len(x,0)-1-i..len(x,0)', lambda i: (29 - i, 30)), ('k in 3..(len(x,0)-i)-2', lambda i: (3, 28 - i)),
                     ('k in 29-i..26', lambda i: (29 - i, 26))):
        ok('y[i] = sum(%s: x[k]) where i in 0..len(x,0)' % text, dict(x=x), y=np.array([S(*at(i)) for i in range(30)]))
    ok('y[i] = sum(k in 0..i+w: x[k]) where i in 0..5', dict(x=x, w=4), y=np.array([S(0, i + 4) for i in range(5)]))
    ok('out y: f64[30]\ny[i] = sum(k in 2..i+1: x[k]) where i in 9..20', dict(x=x), y=np.array([S(2, i + 1) if 9 <= i < 20 else 0 for i in range(30)]))
    ok('out y: f64[30]\ny[i] = 2 * sum(k in 0..i+1: x[k]) where i in 1..20 by 3', dict(x=x), y=np.array([2 * S(0, i + 1) if i % 3 == 1 and i < 20 else 0 for i in range(30)]))
    ok('out y: i64[30]\ny[i] = argmax(k in 0..i+1: z[k]) where i in 12..30', dict(z=x % 7), y=np.array([(x[:i + 1] % 7).argmax() if i >= 12 else 0 for i in range(30)]))
    ok('out y: f64[60]\ny[2*i+1] = sum(k in 0..i+1: x[k])', dict(x=x), y=np.array([S(0, i // 2 + 1) if i % 2 else 0 for i in range(60)]))
    ok('in x\nx[i] = sum(k in 0..i+1: x[k])', dict(x=x), x=np.cumsum(x))
    bad('y[i] = sum(k in 0..i+3: x[k]) where i in 0..3', dict(x=arr('f64', [1, 2, 3])), 'x axis 0', code=6)


def axes():
    for t in ('i32', 'f32', 'f64'):
        for shape in ((1, 1), (3, 50), (50, 3), (33, 40), (40, 20)):
            m = np.random.default_rng(5).integers(-50, 50, shape).astype(DTYPES[t]); s = DTYPES[t] if is_float(t) else i64; M = m.astype(s)
            ok('a[i,j] = sum(k in 0..j+1: m[i,k])\nb[i,j] = sum(k in 0..i+1: m[k,j])\nc[i,j] = max(k in i..len(m,0): m[k,j])\nd[i,j] = min(k in j..len(m,1): m[i,k])\ne[j,i] = sum(k in 0..j+1: m[i,k])', dict(m=m),
               a=M.cumsum(1), b=M.cumsum(0), c=np.maximum.accumulate(m[::-1], 0)[::-1], d=np.minimum.accumulate(m[:, ::-1], 1)[:, ::-1], e=M.cumsum(1).T)
    m = np.random.default_rng(6).integers(-9, 9, (4, 5, 6)).astype(f64)
    for axis, text in enumerate(('sum(l in 0..i+1: m[l,j,k])', 'sum(l in 0..j+1: m[i,l,k])', 'sum(l in 0..k+1: m[i,j,l])')): ok('y[i,j,k] = ' + text, dict(m=m), y=m.cumsum(axis))
    ok('y[i,j] = sum(l in 0..i+1, k: m[l,j,k])\nz[i] = sum(l in 0..i+1, j, k: m[l,j,k])', dict(m=m), y=m.cumsum(0).sum(2), z=m.cumsum(0).sum((1, 2)))
    ok('t[i,j] = sum(k in 0..i+1: q[k,j])\ny[i,j] = sum(k in 0..j+1: t[i,k])', dict(q=m[0]), y=m[0].cumsum(0).cumsum(1))
    ok('y[i] = argmax(k in i..len(q,0): q[k,2])\nz[i,j] = argmin(k in i..len(q,0): q[k,j])', dict(q=m[0]), y=suffix('argmax', m[0][:, 2]), z=np.stack([suffix('argmin', m[0][:, j]) for j in range(6)], 1))


def expressions():
    r = np.random.default_rng(8); x = r.integers(1, 9, 40).astype(f64); w = r.integers(1, 5, 40).astype(f64); c = x.cumsum(); i = np.arange(40)
    ok('y[i] = sum(k in 0..i+1: x[k]) / (i + 1)', dict(x=x), y=c / (i + 1))
    ok('y[i] = sum(k in 0..i+1: x[k]*w[k]) / sum(k in 0..i+1: w[k])', dict(x=x, w=w), y=(x * w).cumsum() / w.cumsum())
    ok('y[i] = max(k in 0..i+1: x[k]) - x[i]\nd = max(i: max(k in 0..i+1: x[k]) - x[i])', dict(x=x), y=np.maximum.accumulate(x) - x, d=f64((np.maximum.accumulate(x) - x).max()))
    ok('y[i] = exp(x[i] - max(k in 0..i+1: x[k]))', dict(x=x), y=np.exp(x - np.maximum.accumulate(x)), rtol=1e-14)
    e = np.exp(x); ok('e[i] = exp(x[i])\ny[i] = e[i] / sum(k in 0..i+1: e[k])', dict(x=x), y=e / e.cumsum(), rtol=1e-13)
    ok('y[i] = sum(k in 0..i+1: x[k]) + sum(k in i..len(x,0): x[k])', dict(x=x), y=c + x[::-1].cumsum()[::-1])
    ok('y[i] = sum(k in 0..i+1: x[k] > 4 ? x[k] : 0)\nn[i] = sum(k in 0..i+1: x[k] > 4)', dict(x=x), y=np.where(x > 4, x, 0).cumsum(), n=(x > 4).cumsum())
    ok('y[i] = sum(k in 0..i+1: x[len(x,0)-1-k])\nz[i] = sum(k in 0..i+1: k*k)+0*x[i]', dict(x=x), y=x[::-1].cumsum(), z=(i * i).cumsum().astype(f64))
    ok('y[i] = i > 3 ? sum(k in 0..i-3: x[k]) : -1 where i in 0..len(x,0)', dict(x=x), y=np.where(i > 3, np.array([x[:max(q - 3, 0)].sum() for q in i]), -1))
    ok('y[i] = i < 10 ? sum(k in 0..i+31: x[k]) : 0 where i in 0..len(x,0)', dict(x=x), y=np.array([x[:q + 31].sum() if q < 10 else 0 for q in i]))
    ok('y[i] = x[i+1] - sum(k in 0..i+1: x[k]) else 0', dict(x=x), y=np.array([x[q + 1] - c[q] if q < 39 else 0 for q in i]))
    ok('edge x clamp\ny[i] = sum(k in 0..i+1: x[k-2]) where i in 0..len(x,0)', dict(x=x), y=x[np.maximum(i - 2, 0)].cumsum())
    ok('s = sum(i: x[i] * sum(k in 0..i: x[k]))', dict(x=x), s=f64((x * (c - x)).sum()))
    ok('y[i,j] = sum(k in 0..i+1: x[k]) * w[j]', dict(x=x[:5], w=w[:4]), y=np.outer(c[:5], w[:4]))
    ok('y[i] = sum(k in 0..i+1: x[p[k]])', dict(x=x, p=(i * 7 % 40)), y=x[i * 7 % 40].cumsum())
    bad('y[i] = sum(k in 0..i+1: x[p[k]])', dict(x=x, p=np.where(i == 20, 99, i)), '99', code=6)
    m = r.integers(0, 9, (6, 7)).astype(f64)
    ok('y[i] = sum(k in 0..i+1: x[k] / sum(l: x[l]))\nz[i] = sum(k in 0..i+1: max(l: m[k,l]))', dict(x=np.full(8, 2.0), m=m), y=(np.full(8, 2.0) / 16).cumsum(), z=m.max(1).cumsum())
    ok('c[i] = sum(k in 0..i+1: x[k])\ny[i] = c[i+3] - c[i] where i in 0..len(x,0)-3', dict(x=x), y=c[3:] - c[:-3])
    ok('def f(a, i) = sum(k in 0..i+1: a[k])\ny[i] = f(x, i) - f(w, i)\n', dict(x=x, w=w), y=c - w.cumsum())
    ok('y[i] = sum(k in 0..2*i: x[k]) where i in 0..20\nz[i] = sum(k in 0..i+1: x[k]*x[i-k])', dict(x=x), y=np.array([x[:2 * q].sum() for q in range(20)]), z=np.convolve(x, x)[:40])


def long_rows():
    for n in (20000, 150000):
        made = 'x[i] = f32(i * 31 %% 1009) / 1024 + 0.001 where i in 0..%d\n' % n; x = ((np.arange(n) * 31 % 1009).astype(f32) / f32(1024) + f32(0.001)).astype(f32)
        up, back = totals(x, np.add), totals(x[::-1].copy(), np.add)[::-1]; at = [0, 1, 15, 16, 17, 16383, 16384, 16400, n - 2, n - 1]
        ok(made + 'a[i] = sum(k in 0..i+1: x[k])\nb[i] = sum(k in i..len(x,0): x[k])\n' + ''.join('p%d = a[%d]; q%d = b[%d]\n' % (k, v, k, v) for k, v in enumerate(at)), {},
           **{'p%d' % k: up[v] for k, v in enumerate(at)}, **{'q%d' % k: back[v] for k, v in enumerate(at)})
    ok('x[i] = i %% 17 where i in 0..%d\nc[i] = sum(k in 0..i+1: x[k])\nd[i] = sum(k in i..len(x,0): x[k])\ns = sum(i: c[i] %% 1000 * (i %% 7))\nt = sum(i: d[i] %% 1000 * (i %% 7))\nl = c[%d]' % (1 << 22, (1 << 22) - 1), {},
       **big(1 << 22))
    ok('x[i] = f32(rand(7, i)) where i in 0..1000000\na[i] = sum(k in 0..i+1: x[k])\nb[i] = sum(k in 0..i+1: f64(x[k]))\ngood = max(i: abs(a[i] - b[i]) / b[i]) < 2e-6', {}, good=np.bool_(True))
    m = 'm[i,j] = f64((i * 7 + j * 3) % 11) where i in 0..3000, j in 0..300\n'; M = ((np.arange(3000)[:, None] * 7 + np.arange(300) * 3) % 11).astype(f64); j = np.arange(300)
    ok(m + 'a[i,j] = sum(k in 0..i+1: m[k,j])\nb[i,j] = sum(k in 0..j+1: m[i,k])\ns = sum(i, j: a[i,j] * (j % 5))\nt = sum(i, j: b[i,j] * (i % 5))', {},
       s=f64((M.cumsum(0) * (j % 5)).sum()), t=f64((M.cumsum(1) * (np.arange(3000) % 5)[:, None]).sum()))


def big(n):
    x = np.arange(n) % 17; c = x.cumsum(); d = x[::-1].cumsum()[::-1]; k = np.arange(n) % 7
    return dict(s=i64((c % 1000 * k).sum()), t=i64((d % 1000 * k).sum()), l=i64(c[-1]))


def cases():
    begin('scans', 'Prefix and suffix reductions'); whole_rows(); shifted(); axes(); expressions(); long_rows()
