"""Reductions that use totals of others, down columns and over middle axes: softmax, variances, layer norms, log-sums of exponentials,
places of the greatest. Extents around powers of two, of one element, and longer than what a thread keeps. Sums are exact; functions
such as exp are not."""
from caselib import *
from reduction_cases import tree, chain, sample

SHAPES = [(1, 1), (1, 5), (2, 3), (33, 8), (65, 3), (130, 1), (17, 9), (7, 34)]
MIDDLE = [(2, 1, 3), (3, 5, 4), (2, 31, 3), (1, 64, 5), (4, 9, 1)]


def mean(x): return tree(x, np.add) / x.dtype.type(len(x))


def variance(x): d = x - mean(x); return mean(d * d)


def grid(t, shape, seed): return (np.round(sample('f64', shape, seed) * 64) / 64).astype(DTYPES[t])


def softmax(x): e = np.exp((x - x.max(0)).astype(np.float64)); return e / e.sum(0)


def columns(a):
    t = a.dtype.type; tolerance = 1e-5 if a.dtype == np.float32 else 1e-12
    ok('y[j] = mean(i: (a[i,j] - mean(k: a[k,j])) ** 2)', dict(a=a), y=variance(a))
    ok('y[i,j] = (a[i,j] - mean(k: a[k,j])) / sqrt(mean(k: (a[k,j] - mean(l: a[l,j])) ** 2) + 0.5)', dict(a=a), y=(a - mean(a)) / np.sqrt(variance(a) + t(0.5)))
    ok('y[i,j] = exp(a[i,j] - max(k: a[k,j])) / sum(k: exp(a[k,j] - max(l: a[l,j])))', dict(a=a), tolerance, y=softmax(a).astype(a.dtype))
    ok('y[j] = max(i: a[i,j]) + log(sum(i: exp(a[i,j] - max(k: a[k,j]))))', dict(a=a), tolerance, y=(np.log(np.exp((a - a.max(0)).astype(np.float64)).sum(0)) + a.max(0)).astype(a.dtype))
    ok('m[j] = mean(i: a[i,j])\nd[i,j] = a[i,j] - m[j]\nv[j] = mean(i: d[i,j] ** 2)\ny[i,j] = d[i,j] / sqrt(v[j] + 0.5)', dict(a=a), y=(a - mean(a)) / np.sqrt(variance(a) + t(0.5)))
    text = 'e[i,j] = exp(a[i,j] - max(k: a[k,j]))\ny[i,j] = e[i,j] / sum(k: e[k,j])'
    ok(text if len(a) % 2 else 'm[j] = max(i: a[i,j])\ne[i,j] = exp(a[i,j] - m[j])\ns[j] = sum(i: e[i,j])\ny[i,j] = e[i,j] / s[j]', dict(a=a), tolerance, y=softmax(a).astype(a.dtype))
    at = a.argmax(0)
    ok('y[i,j] = a[i,j] - argmax(k: a[k,j]) + max(k: abs(a[k,j]))', dict(a=a), y=a.astype(np.float64) - at + np.abs(a).max(0))


def gains(a, gain):
    d = a - mean(a); y = d * gain[:, None]
    ok('y[i,j] = (a[i,j] - mean(k: a[k,j])) * gain[i]', dict(a=a, gain=gain), y=y)
    ok('y[j] = sum(i: (a[i,j] - mean(k: a[k,j])) * gain[i])', dict(a=a, gain=gain), y=chain(d, np.broadcast_to(gain[:, None], d.shape)))
    top = np.abs(d).max(0); s = tree(d / top, np.add)
    ok('y[i,j] = (a[i,j] - mean(k: a[k,j])) / max(k: abs(a[k,j] - mean(l: a[l,j]))) - sum(k: (a[k,j] - mean(l: a[l,j])) / max(m: abs(a[m,j] - mean(l: a[l,j]))))',
       dict(a=a), y=d / top - s)


def middle(a):
    b = np.moveaxis(a, 1, 0); y = (b - mean(b)) / np.sqrt(variance(b) + a.dtype.type(0.5))
    ok('y[b,i,j] = (a[b,i,j] - mean(k: a[b,k,j])) / sqrt(mean(k: (a[b,k,j] - mean(l: a[b,l,j])) ** 2) + 0.5)', dict(a=a), y=np.moveaxis(y, 0, 1))
    ok('d[b,i,j] = a[b,i,j] - mean(k: a[b,k,j])\ny[b,i,j] = d[b,i,j] / max(k: abs(d[b,k,j]))', dict(a=a), y=np.moveaxis((b - mean(b)) / np.abs(b - mean(b)).max(0), 0, 1))
    ok('y[b,j] = mean(i: (a[b,i,j] - mean(k: a[b,k,j])) ** 2)', dict(a=a), y=variance(b))
    ok('y[j,b] = mean(i: (a[b,i,j] - mean(k: a[b,k,j])) ** 2)', dict(a=a), y=variance(b).T)


def whole(t, shape):
    """Integers: all is exact, in any order."""
    a = sample('i32', shape, 5); low = a.min(0).astype(np.int64); s = (a - low).sum(0)
    ok('y[i,j] = a[i,j] * sum(k: a[k,j] - min(l: a[l,j])) + any(k: a[k,j] > 11)', dict(a=a.astype(DTYPES[t])), y=a * s + (a > 11).any(0))


def inner(shape):
    """Reductions of reductions: for a device, the inner ones are stages of their own where that is less work. Integers: all is exact."""
    a = sample('i32', shape, 7).astype(np.int64); n = len(a); s = a.sum(1); m = a.max(1); p = sample('i32', (n,), 8).astype(np.int64)
    data = dict(a=a, p=p)
    ok('y = max(i: sum(j: a[i,j]))', dict(a=a), y=s.max())
    ok('m[i] = max(j: a[i,j])\nl[i] = m[i] + sum(j: (a[i,j] - m[i]) ** 2) - a[i,abs(p[i]) % len(a,1)]\ny = sum(i: l[i])', data,
       y=(m + ((a - m[:, None]) ** 2).sum(1) - a[np.arange(n), np.abs(p) % a.shape[1]]).sum())
    ok('y = sum(i,j: a[i,j] * sum(k: a[i,k]))', dict(a=a), y=(s * s).sum())
    ok('y[j] = sum(i: a[i,j] * (max(k: a[i,k]) + i))', dict(a=a), y=(a * (m + np.arange(n))[:, None]).sum(0))
    ok('out h: i64[3]\nh[i % 3] += sum(j: a[i,j])', dict(a=a), h=np.array([s[k::3].sum() for k in range(3)]))
    ok('y = sum(i: p[i] > 0 ? sum(j: a[i,j]) : -1)', data, y=np.where(p > 0, s, -1).sum())
    ok('y = sum(i: max(j in 0..i%len(a,1)+1: a[i,j]))', dict(a=a), y=sum(a[i, :i % a.shape[1] + 1].max() for i in range(n)))
    ok('y = sum(i: sum(j: sum(k: a[k,j]) * a[i,j]) * sum(j: a[i,j]))', dict(a=a), y=((a.sum(0) * a).sum(1) * s).sum())


def cases():
    begin('chains_of_reductions', __doc__.replace('\n', ' '))
    for n, shape in enumerate(SHAPES):
        a = grid('f64' if n % 3 == 2 else 'f32', shape, n)
        columns(a); gains(a, grid('f32', shape[:1], n + 50).astype(a.dtype)) if shape[0] > 1 else None
        whole('i32' if n % 2 else 'i64', shape)
    # what is read is no input, and is in memory in another order
    a = grid('f32', (20, 30), 60); b = a.T * np.float32(2)
    ok('b[j,i] = a[i,j] * 2\ny[i,j] = b[j,i] - mean(k: b[k,i])', dict(a=a), y=(b - mean(b)).T)
    ok('c[i,j] = a[i,j] + 1\nd[i,j] = c[i,j] - mean(k: c[k,j])\ny[i,j] = d[i,j] / max(k: abs(d[k,j])) + c[i,j]', dict(a=a),
       y=(a + 1 - mean(a + 1)) / np.abs(a + 1 - mean(a + 1)).max(0) + (a + 1))
    for n, shape in enumerate(MIDDLE): middle(grid('f64' if n % 2 else 'f32', shape, n + 20))
    # f16 in memory, f32 in the arithmetic
    a = (sample('i32', (37, 18), 3) / 4).astype(np.float16); b = a.astype(np.float32)
    ok('y[j] = mean(i: (f32(a[i,j]) - mean(k: f32(a[k,j]))) ** 2)', dict(a=a), y=variance(b))
    ok('y[i,j] = f16(f32(a[i,j]) - mean(k: f32(a[k,j])))', dict(a=a), y=(b - mean(b)).astype(np.float16))
    # long columns, of which a thread has several or one; results of few bytes
    for shape in ((300, 12), (300, 9)):
        a = sample('i32', shape, 11).astype(np.float32); top = a.max(0)
        ok('y[i,j] = a[i,j] > max(k: a[k,j]) / 2', dict(a=a), y=a > top / 2)
        ok('y[i,j] = f16(a[i,j] - max(k: a[k,j]))', dict(a=a), y=(a - top).astype(np.float16))
        ok('t[j] = max(k: a[k,j])\ny[i,j] = a[i,j] == t[j] ? i8(1) : i8(0)', dict(a=a), y=(a == top).astype(np.int8))
        ok('b[i,j] = a[i,j] > 0\ny[i,j] = b[i,j] && !all(k: b[k,j])', dict(a=a), y=(a > 0) & ~(a > 0).all(0))
    # a quotient that a total and the values need is kept, though its type is not that of what is read
    for t in ('f16', 'i16', 'i32', 'f64'):
        for shape in ((37, 18), (3, 70), (70, 3)):
            a = sample('i32', shape, 7).astype(DTYPES[t]); b = a.astype(np.float32); e, f = 1 / (1 + np.abs(b - b.max(0))), 1 / (1 + np.abs(b.T - b.max(1)))
            ok('e[i,j] = 1 / (1 + abs(f32(a[i,j]) - max(k: f32(a[k,j]))))\ny[i,j] = e[i,j] / sum(k: e[k,j])', dict(a=a), y=e / tree(e, np.add))
            ok('e[i,j] = 1 / (1 + abs(f32(a[i,j]) - max(k: f32(a[i,k]))))\ny[i,j] = f16(e[i,j] / sum(k: e[i,k]))', dict(a=a), y=(f / tree(f, np.add)).T.astype(np.float16))
    # a target in place, of which totals are read; values out of the range of numbers; a total that is 0, -0.0 or nan
    a = sample('f32', (40, 6), 9); ok('a[i,j] = a[i,j] - mean(k: a[k,j])', dict(a=a), a=a - mean(a))
    z = np.zeros((9, 4), np.float32); z[:, 1] = -0.0; z[3, 2] = nan; z[:, 3] = [1, -1, 2, -2, 0, inf, 3, 4, 5]
    ok('y[i,j] = a[i,j] / sum(k: a[k,j] - max(l: a[l,j]))', dict(a=z), y=z / tree(z - z.max(0), np.add))
    for shape in ((1, 1), (5, 70), (70, 9)): inner(shape)
