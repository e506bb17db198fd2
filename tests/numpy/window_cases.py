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


def cases():
    begin('windows_totals', 'Minima, maxima, sums of integers and so on of windows, with NaN and zeros of both signs. Most results are exact.')
    rows(); planes(); several(); nested()
    begin('windows_narrow', 'Windows of images narrower than a warp, with each edge mode, types and strides; and axes in another order of which one is short.')
    narrow()
