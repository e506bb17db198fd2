"""Reductions whose bounds depend on the element: rows of a triangle, rows of sparse matrices, and bounds from data."""
from caselib import *


def lengths(r, n, most):
    """Rows of all sizes: empty ones, short ones, and some of several thousand terms."""
    a = r.integers(0, 40, n); a[::7] = 0; a[3] = most; a[n // 2] = 1024; a[n // 2 + 1] = 1025
    return np.concatenate([[0], np.cumsum(a)]).astype(np.int64)


def each(p, f, empty): return np.array([f(slice(p[i], p[i + 1])) if p[i + 1] > p[i] else empty for i in range(len(p) - 1)])


def sparse():
    r = np.random.default_rng(11); p = lengths(r, 60, 2100); n = int(p[-1])
    where = ' where i in 0..len(p,0)-1'
    for t, of in (('f32', 'i64'), ('f64', 'i32'), ('i32', 'i32'), ('f16', 'i64')):
        wide = 'f8' if t[0] == 'f' else 'i8'
        a = arr(t, r.integers(-8, 9, n) * (1 if t == 'i32' else 0.25)); x = arr(t, r.integers(-8, 9, 50)); c = arr('i32', r.integers(0, 50, n)); q = arr(of, p)
        out = lambda v: v.astype(DTYPES['i64' if t == 'i32' else t])
        if t != 'f16':
            ok('y[i] = sum(k in p[i]..p[i+1]: a[k] * x[c[k]])' + where, dict(p=q, a=a, x=x, c=c), y=out(each(p, lambda s: (a[s].astype(wide) * x[c[s]]).sum(), 0)))
        ok('y[i] = max(k in p[i]..p[i+1]: a[k]) where i in 0..2', dict(p=arr(of, [3, 900, 1000]), a=a), y=np.array([a[3:900].max(), a[900:1000].max()]))
        ok('y[i] = any(k in p[i]..p[i+1]: a[k] > x[i])' + where.replace('len(p,0)-1', '50'), dict(p=q[:51], a=a, x=x), y=np.array([(a[p[i]:p[i + 1]] > x[i]).any() for i in range(50)]))
    a = arr('f64', r.integers(-99, 99, n))
    ok('y[i] = p[i] < p[i+1] ? argmin(k in p[i]..p[i+1]: a[k]) : -1' + where, dict(p=p, a=a), y=each(p, lambda s: s.start + a[s].argmin(), -1))
    ok('m[i] = sum(k in p[i]..p[i+1]: a[k]) / (p[i+1] - p[i] + 1)' + where + '\nv[i] = sum(k in p[i]..p[i+1]: (a[k] - m[i])**2) - m[i]' + where, dict(p=p, a=a), 1e-12,
       m=each(p, lambda s: a[s].sum() / (s.stop - s.start + 1), 0), v=each(p, lambda s: ((a[s] - a[s].sum() / (s.stop - s.start + 1))**2).sum() - a[s].sum() / (s.stop - s.start + 1), 0))
    ok('y[i] = sum(k in p[i]..p[i+1]: a[k]) + 2 * sum(k in p[i]..p[i+1]: abs(a[k])) - max(k in 0..9: a[k])' + where, dict(p=p, a=a), y=each(p, lambda s: a[s].sum() + 2 * abs(a[s]).sum() - a[:9].max(), -a[:9].max()))
    ok('y[i] = i % 3 == 0 ? sum(k in p[i]..p[i+1]: a[k]) : 7' + where, dict(p=p, a=a), y=np.where(np.arange(60) % 3 == 0, each(p, lambda s: a[s].sum(), 0), 7))
    m = arr('f32', r.integers(-8, 9, (n, 3)))
    ok('y[i,j] = sum(k in p[i]..p[i+1]: m[k,j])' + where, dict(p=p, m=m), y=np.array([m[p[i]:p[i + 1]].sum(0) for i in range(60)]))
    back = p.copy(); back[9], back[10] = back[10], back[9] # low above high: no terms
    ok('y[i] = sum(k in p[i]..p[i+1]: a[k])' + where, dict(p=back, a=a), y=np.array([a[back[i]:max(back[i], back[i + 1])].sum() for i in range(60)]))
    for at, bad_value in ((20, n + 5), (40, 10**6), (21, -1)):
        q = p.copy(); q[at] = bad_value
        bad('y[i] = sum(k in p[i]..p[i+1]: a[k])' + where, dict(p=q, a=a), 'a', code=6)
    c = arr('i32', r.integers(0, 50, n)); c[p[30] + 3] = 50; c[p[50]] = -7; c[p[53] - 1] = 99
    bad('y[i] = sum(k in p[i]..p[i+1]: a[k] * x[c[k]])' + where, dict(p=p, a=a, x=arr('f64', range(50)), c=c), '50', code=6)


def triangles():
    r = np.random.default_rng(12)
    for n in (1, 33, 70):
        m = arr('f32', r.integers(-8, 9, (n, n)) * 0.25); x = arr('f32', r.integers(-8, 9, n)); d = m.astype('f8'); low = np.tril(d); i = np.arange(n)
        ok('y[i] = sum(j in 0..i+1: m[i,j])', dict(m=m), y=low.sum(1).astype('f4'))
        ok('y[i] = sum(j in i..len(m,1): m[j,i])', dict(m=m), y=low.sum(0).astype('f4'))
        ok('y[i] = sum(j in 0..i: m[i,j] * x[j])', dict(m=m, x=x), y=(np.tril(d, -1) @ x).astype('f4'))
        ok('y[i] = max(j in i..len(m,1): abs(m[i,j] - m[j,i]))', dict(m=m), y=np.array([abs(m[k, k:] - m[k:, k]).max() for k in range(n)]))
        ok('e = sum(i: sum(j in i+1..len(x,0): abs(x[i] - x[j])))', dict(x=x), e=np.float32(sum(abs(x[k] - x[k + 1:]).sum() for k in range(n))))
        ok('y[i] = sum(j in 0..i+1: m[i,j]) - sum(j: m[i,j]) + sum(j in i..len(m,1): m[i,j])', dict(m=m), y=np.diag(m).copy())
        ok('y[i] = prod(j in i..i+3: x[j % len(x,0)]) where i in 0..len(x,0)', dict(x=x), y=(x[i] * x[(i + 1) % n] * x[(i + 2) % n]).astype('f4'))
        ok('out y: f32[len(m,0)]\nfor t in 0..3 { y[i] = sum(j in t..len(m,1): m[i,j]) }', dict(m=m), y=m[:, 2:].astype('f8').sum(1).astype('f4'))
    w = arr('f32', r.integers(-8, 9, 2500) * 0.25)
    ok('y[i] = sum(j in 0..1000*i+99: w[j] * w[j+1]) where i in 0..3', dict(w=w), y=np.array([(w[:k].astype('f8') * w[1:k + 1]).sum() for k in (99, 1099, 2099)]).astype('f4'))
    ok('y[i] = sum(j in 0..1000*i+99: abs(w[j] - w[i])) where i in 0..3', dict(w=w), y=np.array([abs(w[:k].astype('f8') - w[i]).sum() for i, k in enumerate((99, 1099, 2099))]).astype('f4'))


def cases():
    begin('ragged', 'Reductions whose bounds depend on the element: triangles, rows of sparse matrices, and bounds that are wrong.')
    sparse(); triangles()
