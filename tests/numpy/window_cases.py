"""Totals of windows: minima, maxima, sums, products, any and all of few elements, many of which are the neighbours' elements, too.
Most results are exact."""
from caselib import *

SPECIAL = [0.0, -0.0, 1.5, np.nan, -np.inf, -2.0, np.inf, 0.25]


def values(t, count, seed):
    r = np.random.default_rng(seed)
    if t == 'bool': return r.integers(0, 3, count) > 0
    if t[0] in 'iu': return arr(t, r.integers(0 if t[0] == 'u' else -3, 4, count))
    x = r.integers(-8, 9, count) * 0.5
    x[r.integers(0, count, count // 8)] = r.choice(SPECIAL, count // 8)
    return arr(t, x)


def lower(a, b):
    """NaN if there is one; -0.0 is lower than 0.0."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where((a < b) | ((a == b) & np.signbit(a)), a, b))


def total(f, parts):
    """Of arrays, element by element; in the type that the language's reduction has."""
    t = NAMES[parts[0].dtype]; real = t[0] in 'fb' and t != 'bool'
    wide = t if real else 'u64' if t[0] == 'u' else 'i64'
    if f in ('any', 'all'): return (np.logical_or if f == 'any' else np.logical_and).reduce([p != 0 for p in parts])
    if f in ('min', 'max') and real:
        sign = 1 if f == 'min' else -1; y = sign * parts[0].astype(np.float64)
        for p in parts[1:]: y = lower(y, sign * p.astype(np.float64))
        return arr(t, sign * y)
    if f in ('min', 'max'): return (np.minimum if f == 'min' else np.maximum).reduce(parts)
    y = parts[0].astype(DTYPES[wide])
    for p in parts[1:]: y = y + p if f == 'sum' else y * p
    return y.astype(DTYPES[wide])


def rows():
    for seed, t in enumerate(DTYPES):
        x = values(t, 150, seed)
        for f in ('min', 'max', 'any', 'all') if t[0] in 'fb' and t != 'bool' else ('min', 'max', 'sum', 'prod', 'any', 'all'):
            ok('y[i] = %s(k in 0..5: x[i+k])' % f, dict(x=x), y=total(f, [x[k:k + 146] for k in range(5)]))
    x = values('f32', 150, 50)
    ok('y[i] = max(k in 0..6: x[i+3*k])', dict(x=x), y=total('max', [x[3 * k:3 * k + 135] for k in range(6)]))
    ok('y[i] = min(k in 0..6: abs(x[i+k]) * w[k])', dict(x=x, w=arr('f32', [1, 2, .5, -1, 0, 4])),
       y=total('min', [(np.abs(x[k:k + 145]) * w).astype(np.float32) for k, w in enumerate(arr('f32', [1, 2, .5, -1, 0, 4]))]))
    ok('y[i] = max(k in 0..4: x[i+k]) - min(k in 0..4: x[i+k])', dict(x=x),
       y=total('max', [x[k:k + 147] for k in range(4)]) - total('min', [x[k:k + 147] for k in range(4)]))
    ok('y[i] = max(k in 0..4: x[4*i+k])', dict(x=x), y=total('max', [x[k:148:4] for k in range(4)]))


MODES = {'clamp': 'edge', 'mirror': 'reflect', 'wrap': 'wrap', 'symmetric': 'symmetric'}


def narrow():
    """Images whose rows are shorter than a warp, so that every thread is near an edge; with strides, and several planes."""
    for k, (n, m) in enumerate(((7, 7), (14, 14), (5, 28), (28, 56), (33, 31), (8, 57))):
        for mode in list(MODES) + ['fill(2)']:
            t, s = ('f32', 'u8', 'f16', 'i16', 'f64')[(k + len(mode)) % 5], 1 + (k + len(mode)) % 2
            x = values(t, 3 * n * m, k).reshape(3, n, m); wide = [(0, 0), (1, 1), (2, 2)]
            p = np.pad(x, wide, constant_values=2) if mode == 'fill(2)' else np.pad(x, wide, MODES[mode])
            rows, columns = (n + s - 1) // s, (m + s - 1) // s
            ok('edge x %s\ny[c,i,j] = max(a in 0..3, b in 0..5: x[c,%d*i+a-1,%d*j+b-2]) where i in 0..%d, j in 0..%d' % (mode, s, s, rows, columns),
               dict(x=x), y=total('max', [p[:, a:a + s * rows - s + 1:s, b:b + s * columns - s + 1:s] for a in range(3) for b in range(5)]))
    for t in ('u8', 'f16', 'f32', 'c64'):
        x = (values('i16', 2 * 9 * 32 * 3, 3) if t == 'c64' else values(t, 2 * 9 * 32 * 3, 3)).reshape(2, 9, 32, 3)
        x = (x.astype(np.complex64) * np.complex64(1 + 2j)) if t == 'c64' else x
        ok('y[b,c,i,j] = x[b,i,j,c]', dict(x=x), y=np.ascontiguousarray(x.transpose(0, 3, 1, 2)))
        ok('y[i,b,j,c] = x[b,i,j,c]', dict(x=x), y=np.ascontiguousarray(x.transpose(1, 0, 2, 3)))
        ok('y[j,c,b,i] = x[b,i,j,c]', dict(x=x), y=np.ascontiguousarray(x.transpose(2, 3, 0, 1)))


def planes():
    for t, f, w in (('f32', 'min', 3), ('f64', 'max', 5), ('u8', 'max', 5), ('f16', 'max', 3), ('i32', 'sum', 3), ('bool', 'any', 3)):
        m = values(t, 23 * 37, w).reshape(23, 37); padded = np.pad(m, w // 2, 'edge')
        ok('edge m clamp\ny[i,j] = %s(a in -%d..%d, b in -%d..%d: m[i+a,j+b])' % (f, w // 2, w // 2 + 1, w // 2, w // 2 + 1), dict(m=m),
           y=total(f, [padded[a:a + 23, b:b + 37] for a in range(w) for b in range(w)]))
    m = values('f32', 24 * 36, 9).reshape(24, 36)
    ok('y[i,j] = max(a in 0..2, b in 0..2: m[2*i+a,2*j+b])', dict(m=m), y=total('max', [m[a::2, b::2] for a in range(2) for b in range(2)]))
    ok('y[i,j] = min(a in 0..7: m[i+a,j])', dict(m=m), y=total('min', [m[a:a + 18] for a in range(7)]))
    ok('y[i,j] = max(a in 0..3: m[i+a,j]) + m[i+1,j]', dict(m=m), y=total('max', [m[a:a + 22] for a in range(3)]) + m[1:23])


def several():
    """Of one array, by one kernel on a device."""
    m = values('f32', 23 * 37, 4).reshape(23, 37); small = np.nan_to_num(m, nan=2, posinf=3, neginf=-3)
    parts = [m[a:a + 21, b:b + 35] for a in range(3) for b in range(3)]; few = [small[a:a + 21, b:b + 35] for a in range(3) for b in range(3)]
    both = ('y[i,j] = max(a in 0..3, b in 0..3: m[i+a,j+b])\n'
            'z[i,j] = min(a in 0..3, b in 0..3: m[i+a,j+b])')
    ok(both, dict(m=m), y=total('max', parts), z=total('min', parts))
    ok('y[i,j] = max(a in 0..3, b in 0..3: m[i+a,j+b])\nz[i,j] = m[i+1,j+1] - y[i,j]', dict(m=small), y=total('max', few), z=small[1:22, 1:36] - total('max', few))
    ok('y[i,j] = sum(a in 0..3, b in 0..3: m[i+a,j+b])\nz[i,j] = sum(a in 0..3, b in 0..3: m[i+a,j+b]**2)', dict(m=small),
       y=np.sum(few, 0, np.float64).astype('f4'), z=np.sum([p.astype('f8')**2 for p in few], 0).astype('f4'))
    ok('y[i,j] = sum(a in 0..3, b in 0..3: m[i+a,j+b])\nz[i,j] = max(a in 0..3, b in 0..3: m[i+a,j+b] - y[i,j])', dict(m=small),
       y=np.sum(few, 0, np.float64).astype('f4'), z=np.max([p - np.sum(few, 0, np.float64).astype('f4') for p in few], 0))


def nested():
    """Inexact: a product inside of a sum must not become a term that a multiply-add adds. On devices the bytes are compared with the CPU's."""
    x = np.random.default_rng(5).standard_normal(90).astype('f4'); d = x.astype('f8'); n = 80
    at = lambda k: d[k:k + n]
    inner = np.prod([at(b) for b in range(3)], 0)
    ok('y[i] = sum(a in 0..5: prod(b in 0..2: x[i+a+b])) where i in 0..80', dict(x=x), 1e-4, y=sum(at(a) * at(a + 1) for a in range(5)).astype('f4'))
    ok('y[i] = sum(a in 0..5: x[i+a] * prod(b in 0..3: x[i+b])) where i in 0..80', dict(x=x), 1e-4, y=sum(at(a) * inner for a in range(5)).astype('f4'))
    ok('y[i] = sum(a in 0..5, b in 0..3: (x[i+a+b] - sum(c in 0..3: x[i+c]))**2) where i in 0..80', dict(x=x), 1e-4,
       y=sum((at(a + b) - sum(at(c) for c in range(3)))**2 for a in range(5) for b in range(3)).astype('f4'))


MODES = {'clamp': 'edge', 'wrap': 'wrap', 'mirror': 'reflect', 'symmetric': 'symmetric', 'fill(0)': 'constant'}


def walks():
    """Windows through which a thread walks for several elements at once: of more terms than a chunk of a sum, along rows and down columns, with
    strides, gaps and reversals. On devices the bytes are compared with the CPU's."""
    r = np.random.default_rng(6)
    m = arr('f32', r.integers(-8, 9, (41, 70)) * 0.25); d = m.astype('f8'); w = arr('f32', r.integers(-8, 9, (7, 9)) * 0.25); v = w.astype('f8')
    part = lambda a, b, rows, columns, by=1: d[a:a + rows * by:by, b:b + columns * by:by][:rows, :columns]
    ok('y[i,j] = sum(p, q: m[i+p,j+q] * w[p,q])', dict(m=m, w=w),
       y=sum(part(p, q, 35, 62) * v[p, q] for p in range(7) for q in range(9)).astype('f4'))
    ok('y[i,j] = sum(p, q: abs(m[i+p,j+q] - w[p,q]))', dict(m=m, w=w),
       y=sum(abs(part(p, q, 35, 62) - v[p, q]) for p in range(7) for q in range(9)).astype('f4'))
    n = r.standard_normal((20, 37)).astype('f4'); g = n.astype('f8')
    ok('y[i,j] = sum(p, q: abs(n[i+p,j+q] - w[p,q]))', dict(n=n, w=w), 1e-5,
       y=sum(abs(g[p:p + 14, q:q + 29] - v[p, q]) for p in range(7) for q in range(9)).astype('f4'))
    ok('y[i,j] = sum(k in 0..15, q in 0..7: n[i+k,j+q]**2)', dict(n=n), 1e-5,
       y=sum(g[p:p + 6, q:q + 31]**2 for p in range(15) for q in range(7)).astype('f4'))
    ok('y[i,j] = sum(q, p: m[i+p,j+q] * w[p,q])', dict(m=m, w=w),
       y=sum(part(p, q, 35, 62) * v[p, q] for p in range(7) for q in range(9)).astype('f4'))
    ok('y[i,j] = sum(p, q: m[i-p+6,j-q+8] * w[p,q]) where i in 0..35, j in 0..62', dict(m=m, w=w),
       y=sum(part(6 - p, 8 - q, 35, 62) * v[p, q] for p in range(7) for q in range(9)).astype('f4'))
    ok('y[i,j] = sum(p, q: m[2*i+p,2*j+q] * w[p,q]) where i in 0..18, j in 0..31', dict(m=m, w=w),
       y=sum(part(p, q, 18, 31, 2) * v[p, q] for p in range(7) for q in range(9)).astype('f4'))
    ok('y[i,j] = sum(p, q: m[i+2*p,j+3*q] * w[p,q]) where i in 0..29, j in 0..46', dict(m=m, w=w),
       y=sum(part(2 * p, 3 * q, 29, 46) * v[p, q] for p in range(7) for q in range(9)).astype('f4'))
    for t in ('f32', 'f64', 'f16', 'bf16'):
        x = arr(t, r.integers(-8, 9, 50 * 24).reshape(50, 24) * 0.25); e = x.astype('f8')
        ok('y[i,j] = sum(k in 0..40: x[i+k,j])', dict(x=x), y=arr(t, sum(e[k:k + 11] for k in range(40))))
        ok('y[i,j] = sum(k in 2..12 by 3: x[i,j+k]) where j in 0..13', dict(x=x), y=arr(t, sum(e[:, k:k + 13] for k in range(2, 12, 3))))
    b = r.integers(-8, 9, (3, 20, 40)) * 0.25; c = r.integers(-8, 9, (5, 5)) * 0.25
    ok('y[b,i,j] = sum(p, q: x[b,i+p,j+q] * w[p,q])', dict(x=b, w=c), y=sum(b[:, p:p + 16, q:q + 36] * c[p, q] for p in range(5) for q in range(5)))
    ok('y[b,i] = sum(k: x[b,i+k] * w[k])', dict(x=b[0], w=c[0]), y=sum(b[0][:, k:k + 36] * c[0, k] for k in range(5)))
    for edge, mode in MODES.items():
        padded = np.pad(d, 3, mode)
        ok('edge m %s\ny[i,j] = sum(p in 0..6, q in 0..7: m[i+p-3,j+q-3] * w[p,q])' % edge, dict(m=m, w=w),
           y=sum(padded[p:p + 41, q:q + 70] * v[p, q] for p in range(6) for q in range(7)).astype('f4'))
    mean = sum(part(p, q, 37, 66) for p in range(5) for q in range(5)) / 25
    text = 'u[i,j] = mean(p in 0..5, q in 0..5: m[i+p,j+q])\ny[i,j] = mean(p in 0..5, q in 0..5: (m[i+p,j+q] - u[i,j])**2)'
    ok(text, dict(m=m), 1e-4, y=(sum((part(p, q, 37, 66) - mean)**2 for p in range(5) for q in range(5)) / 25).astype('f4'))
    top = np.max([part(p, q, 39, 68) for p in range(3) for q in range(3)], 0)
    ok('y[i,j] = log(sum(p in 0..3, q in 0..3: exp(m[i+p,j+q] - max(a in 0..3, b in 0..3: m[i+a,j+b])))) * m[i+1,j+1]', dict(m=m), 1e-4,
       y=(np.log(sum(np.exp(part(p, q, 39, 68) - top) for p in range(3) for q in range(3))) * part(1, 1, 39, 68)).astype('f4'))
    ok('y[i,j] = sum(p in 0..5, q in 0..5: m[i+p,j+q]**2 * exp(-(m[i+p,j+q] - m[i+2,j+2])**2))', dict(m=m), 1e-4,
       y=sum(part(p, q, 37, 66)**2 * np.exp(-(part(p, q, 37, 66) - part(2, 2, 37, 66))**2) for p in range(5) for q in range(5)).astype('f4'))
    z = r.integers(-9, 9, (19, 45)).astype('i2')
    ok('y[i,j] = max(p in 0..9, q in 0..4: z[i+p,j+q]) - min(p in 0..9, q in 0..4: z[i+p,j+q])', dict(z=z),
       y=total('max', [z[p:p + 11, q:q + 42] for p in range(9) for q in range(4)]) - total('min', [z[p:p + 11, q:q + 42] for p in range(9) for q in range(4)]))
    cube = r.integers(0, 9, (9, 12, 40)).astype('u1')
    ok('y[h,i,j] = sum(r in 0..3, p in 0..3, q in 0..3: x[h+r,i+p,j+q])', dict(x=cube),
       y=total('sum', [cube[k:k + 7, p:p + 10, q:q + 38] for k in range(3) for p in range(3) for q in range(3)]))


def across():
    """Sums whose index moves along another axis than the results' neighbours do, but no farther in memory than some of these: rows are short."""
    r = np.random.default_rng(7)
    whole = lambda t, *shape: arr(t, r.integers(-8, 9, shape) * 0.25)
    for t in ('f64', 'f32', 'i32'):
        for n, e in ((5, 3), (7, 2), (4, 6), (9, 8)):
            w = whole(t, n, n); p = whole(t, n, e); m = whole(t, n)
            ok('y[i,d] = sum(j: w[i,j] * (p[j,d] - p[i,d]))', dict(w=w, p=p), y=np.sum(w[:, :, None] * (p[None] - p[:, None]), 1).astype(DTYPES['i64' if t == 'i32' else t]))
            ok('y[i,d] = max(j: m[j] * abs(p[j,d] - p[i,d]))', dict(m=m, p=p), y=np.max(m[None, :, None] * abs(p[None] - p[:, None]), 1))
            if t == 'i32': continue
            ok('y[i,j] = i == j ? 1 : sum(k: p[k,i] * p[k,j])', dict(p=p), y=np.where(np.eye(e) > 0, 1, p.T @ p).astype(DTYPES[t]))
            ok('t[i,j] = sum(k: w[i,k] * p[k,j])\ny[i,j] = sum(k: t[i,k] * q[k,j]) + b[i,j]', dict(w=w, p=p[:, :min(n, e)], q=w[:min(n, e)], b=w), y=(w @ p[:, :min(n, e)] @ w[:min(n, e)] + w).astype(DTYPES[t]))
    v = whole('f32', 5)
    for shape in ((4, 9, 3), (3, 7, 2), (2, 8, 4)):
        x = whole('f32', *shape); h, m, c = shape
        ok('y[i,j,c] = sum(q: x[i,j+q,c] * v[q])', dict(x=x, v=v), y=sum(x[:, q:q + m - 4] * v[q] for q in range(5)).astype('f4'))
        ok('y[i,j,c] = max(q in 0..3: x[i,j,q]) - x[i,j,c] where c in 0..%d' % c if c >= 3 else 'y[i,j,c] = max(q in 0..2: x[i,j,q]) - x[i,j,c]',
           dict(x=x), y=x[:, :, :min(c, 3)].max(2)[:, :, None] - x)
        ok('y[i,c] = sum(q in 0..2: x[i,q,c] * v[q])', dict(x=x, v=v), y=(x[:, 0] * v[0] + x[:, 1] * v[1]).astype('f4'))
        for edge, mode in MODES.items():
            z = np.pad(x, ((0, 0), (2, 2), (0, 0)), mode)
            ok('edge x %s\ny[i,j,c] = sum(q: x[i,j+q-2,c] * v[q])' % edge, dict(x=x, v=v), y=sum(z[:, q:q + m] * v[q] for q in range(5)).astype('f4'))
    for n, m in ((11, 3), (9, 5), (7, 8)):
        x = whole('f32', n, m); z = np.pad(x, ((0, 3), (0, 6)))
        ok('y[i,j] = sum(p in 0..4: x[i+p,j] * v[p])', dict(x=x, v=v), y=sum(x[p:p + n - 3] * v[p] for p in range(4)).astype('f4'))
        ok('edge x fill(0)\ny[i,j] = sum(p in 0..4: x[i+p,j+p])  where i in 0..%d, j in 0..%d' % (n, m), dict(x=x), y=sum(z[p:p + n, p:p + m] for p in range(4)).astype('f4'))
        ok('edge x fill(0)\ny[i,j] = max(p in 0..4: x[i+p,j+2*p]) where i in 0..%d, j in 0..%d' % (n, m), dict(x=x), y=np.max([z[p:p + n, 2 * p:2 * p + m] for p in range(4)], 0))


def cases():
    begin('windows_across', 'Sums whose index moves along another axis than the results\' neighbours do, but no farther in memory: rows are short.')
    across()
    begin('windows_totals', 'Minima, maxima, sums of integers and so on of windows, with NaN and zeros of both signs. Most results are exact.')
    rows(); planes(); several(); nested()
    begin('windows_walks', 'Windows of many terms, of which a thread of a device computes several totals at once.')
    walks()
    begin('windows_narrow', 'Windows of images narrower than a warp, with each edge mode, types and strides; and axes in another order of which one is short.')
    narrow()
