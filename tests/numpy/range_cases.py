"""Ranges: bare subscripts, offsets with every edge mode, windows, strides, reversals, gathers, triangles, ranges from data."""
from caselib import *

MODES = ['clamp', 'wrap', 'mirror', 'symmetric']


def moved(k, n, mode):
    """The element that the edge mode reads for index k of an axis of n elements."""
    if mode == 'clamp': return min(max(k, 0), n - 1)
    if mode == 'wrap': return k % n
    if mode == 'symmetric': k %= 2 * n; return k if k < n else 2 * n - 1 - k
    if n == 1: return 0
    k %= 2 * n - 2; return k if k < n else 2 * n - 2 - k


def at(x, k, mode, fill=0):
    """x read at index k of its first axis."""
    n = len(x)
    if 0 <= k < n: return x[k]
    return np.full(x.shape[1:], fill, x.dtype)[()] if mode == 'fill' else x[moved(k, n, mode)]


def edges():
    begin('edges', 'Stencils with every edge mode, near and far beyond the border.')
    for n in (1, 2, 3, 5, 9):
        x = arr('f32', np.arange(n) * 3 + 1)
        for mode in MODES + ['fill']:
            name = 'fill(-7)' if mode == 'fill' else mode
            for shifts in ((-1, 1), (-2, 3), (-n - 1, n + 2), (-2 * n - 1, 3 * n)):
                text = 'edge x %s\n' % name + '\n'.join('y%d[i] = x[i%+d]' % (q, s) for q, s in enumerate(shifts)) + '\nz[i] = x[i%+d] + 10*x[i] + 100*x[i%+d]' % shifts
                ys = [arr('f32', [at(x, i + s, mode, -7) for i in range(n)]) for s in shifts]
                ok(text, dict(x=x), y0=ys[0], y1=ys[1], z=ys[0] + 10 * x + 100 * ys[1])
        if n > 1:
            for mode in MODES: assert np.array_equal(np.pad(x, n - 1, {'clamp': 'edge', 'wrap': 'wrap', 'mirror': 'reflect', 'symmetric': 'symmetric'}[mode]),
                                                     [at(x, k, mode) for k in range(1 - n, 2 * n - 1)])
    two = np.arange(20, dtype=np.float64).reshape(4, 5)
    for mode in MODES + ['fill']:
        f = lambda a, b: np.array([[at(at(two, i + a, mode, 5), j + b, mode, 5) for j in range(5)] for i in range(4)])
        ok('edge m %s\ny[i,j] = m[i-1,j-1] + 10*m[i+1,j] + 100*m[i,j+2] + m[i-3,j+1]' % ('fill(5)' if mode == 'fill' else mode), dict(m=two),
           y=f(-1, -1) + 10 * f(1, 0) + 100 * f(0, 2) + f(-3, 1))
        ok('edge m %s\ny[i,j] = sum(a in -1..2, b in -2..3: m[i+a, j+b])' % ('fill(5)' if mode == 'fill' else mode), dict(m=two),
           y=sum(f(a, b) for a in (-1, 0, 1) for b in (-2, -1, 0, 1, 2)))
    big = arr('i32', (np.arange(3000) * 7919) % 1000)
    for mode in MODES:
        s = np.array([at(big, i - 5, mode) for i in range(3000)], np.int64) + 2 * np.array([at(big, i + 5, mode) for i in range(3000)])
        ok('x[i] = i32((i * 7919) %% 1000) where i in 0..3000\nedge x %s\ny[i] = x[i-5] + 2 * x[i+5]\ns = sum(i: y[i] * (i %% 7))\nh[i] = y[i] where i in 0..8\nt[i] = y[2990+i] where i in 0..10' % mode,
           {}, s=np.int64((s * (np.arange(3000) % 7)).sum()), h=arr('i32', s[:8]), t=arr('i32', s[2990:]))


X = arr('f64', [3, -1, 2, 5])


def modes():
    begin('edge_rules', 'The scope of edge modes; else; fill together with else; which elements are read.')
    E = lambda text, ins, **o: ok(text, ins, **{k: np.asarray(v, np.float64) for k, v in o.items()})
    x = dict(x=X)
    E('edge x wrap\nedge x clamp\ny[i] = x[i-1]', x, y=[3, 3, -1, 2])
    E('a[i] = x[i-1] else 9\nedge x clamp\nb[i] = x[i-1]', x, a=[9, 3, -1, 2], b=[3, 3, -1, 2])
    E('edge x wrap\nedge x none\ny[i] = x[i-1] else 0', x, y=[0, 3, -1, 2])
    E('edge a wrap\ny[i] = a[i-1] + b[i-1] else 0', dict(a=arr('f64', [1, 2, 3]), b=arr('f64', [10, 20, 30])), y=[0, 11, 22])
    E('edge a, b clamp\ny[i] = a[i-1] + b[i+1]', dict(a=arr('f64', [1, 2, 3]), b=arr('f64', [10, 20, 30])), y=[21, 31, 32])
    E('edge x clamp\ny[i] = x[idx[i]]', dict(x=X, idx=arr('i64', [-5, 9, 1])), y=[3, 5, -1])
    E('y[i] = x[idx[i]] else -1', dict(x=X, idx=arr('i64', [-5, 9, 1])), y=[-1, -1, -1])
    E('edge x fill(2.5)\ny[i] = x[idx[i]]', dict(x=X, idx=arr('i32', [-5, 9, 3])), y=[2.5, 2.5, 5])
    E('y[i] = x[i-1] else w[i]', dict(x=X, w=arr('f64', [1, 2])), y=[1, 3])
    E('y[i] = x[i+1] - x[i-1] else x[i]', x, y=[3, -1, 6, 5])
    E('edge x clamp\ndef d(f, i) = f[i+1] - f[i-1]\ny[i] = d(x, i)', x, y=[-4, -1, 6, 3])
    E('def d(f, i) = f[i+1] - f[i-1]\na[i] = d(x, i) else 0\nb[i] = d(w, i) else 1', dict(x=X, w=arr('f64', [1, 4, 9])), a=[0, -1, 6, 0], b=[1, 8, 1])
    E('y[i] = x[i] > 0 ? x[i-1] : -9 else 7', x, y=[7, -9, -1, 2])
    E('y[i] = i > 0 && x[i-1] > 0 ? 1.0 : 0.0', x, y=[0, 1, 0, 1])
    E('y[i] = i == 0 || x[i-1] > 0 ? 1.0 : 0.0', x, y=[1, 1, 0, 1])
    E('y[i] = i < 3 ? x[i+1] : 100', x, y=[-1, 2, 5, 100])
    E('o[i,j] = (a[i-1,j] + a[i+1,j] + a[i,j-1] + a[i,j+1]) / 4 else 0', dict(a=np.arange(16.).reshape(4, 4)),
      o=[[0, 0, 0, 0], [0, 5, 6, 0], [0, 9, 10, 0], [0, 0, 0, 0]])
    E('o[i,j] = a[i-1,j] + a[i,j-1] else 0', dict(a=np.zeros((0, 3))), o=np.zeros((0, 3)))
    E('o[i,j] = a[i-1,j] + a[i,j-1] else 0', dict(a=np.ones((1, 3))), o=np.zeros((1, 3)))
    E('edge x wrap\ny[i] = x[i] + x[i-1]', dict(x=np.zeros(0)), y=np.zeros(0))
    E('def ddx(f, y, x) = (f[y,x+1] - f[y,x-1]) / (2*dx)\ng[y,x] = ddx(u, y, x) else 0', dict(u=arr('f64', [[1, 2, 4, 8], [0, 5, 0, 5]]), dx=.5),
      g=[[0, 3, 6, 0], [0, 0, 0, 0]])
    E('v[i] = u[i] + k*(u[i-1] - 2*u[i] + u[i+1]) else u[i]', dict(u=arr('f64', [4, 0, 8, 0]), k=.25), v=[4, 3, 4, 0])
    E('v[i] = u[i-1] + u[i+1] else 0\nw[i] = v[i-1] + v[i+1] else 0', dict(u=arr('f64', [1, 2, 3, 4, 5])), w=[0, 6, 12, 6, 0])
    E('edge u, v wrap\nv[i] = u[i-1] + u[i+1]\nw[i] = v[i-1] + v[i+1]', dict(u=arr('f64', [1, 2, 3, 4, 5])), w=wrapped())
    E('in k\ny[i] = x[i-k] else 0', dict(x=X, k=2), y=[0, 0, 3, -1])
    E('y[i] = sum(k in 0..3: x[i+k]) else 0', x, y=[4, 6, 0, 0])
    bad('y[i] = x[i-1]', x, 'x', '-1')
    bad('y[i] = x[i+1]', x, 'x', '4')
    bad('y[i] = i > -1 ? x[i-1] : 0', x, 'x', '-1', code=6)
    bad('edge x sideways\ny[i] = x[i]', x, 'sideways')


def wrapped():
    u = np.arange(1., 6); s = lambda q: np.roll(q, 1) + np.roll(q, -1); return s(s(u))


def windows():
    begin('windows', 'Windows, strides and reversals: the largest range that keeps every subscript inside.')
    x = np.arange(1., 12); n = len(x); m = np.arange(42.).reshape(6, 7)
    for w in (1, 2, 3, 11): ok('y[i] = sum(k in 0..w: x[i+k])', dict(x=x, w=w), y=np.array([x[i:i + w].sum() for i in range(n - w + 1)]))
    ok('y[i] = sum(k in 0..w: x[i+k])', dict(x=x, w=12), y=np.zeros(0))
    for s in (1, 2, 3, 5): ok('y[i] = x[%d*i]' % s, dict(x=x), y=x[::s]); ok('y[i] = x[%d*i] + x[%d*i+%d]' % (s, s, s - 1), dict(x=x), y=x[:n - s + 1:s] + x[s - 1::s][:len(x[:n - s + 1:s])])
    ok('y[i] = x[len(x,0)-1-i]', dict(x=x), y=x[::-1])
    ok('in x[n]\ny[i] = x[n-1-i] + x[i]', dict(x=x), y=x[::-1] + x)
    ok('y[i] = x[10-2*i]', dict(x=x), y=x[10::-2])
    ok('y[i] = max(a in 0..2: x[2*i+a])', dict(x=x), y=np.maximum(x[0:10:2], x[1:10:2]))
    ok('y[i,j] = max(a in 0..2, b in 0..3: m[2*i+a, 2*j+b])', dict(m=m), y=np.array([[m[2*i:2*i+2, 2*j:2*j+3].max() for j in range(3)] for i in range(3)]))
    ok('y[i,j] = sum(a in 0..3, b in 0..2: m[i+a, j+b] * w[a,b])', dict(m=m, w=arr('f64', [[1, 2], [0, -1], [3, 1]])),
       y=np.array([[(m[i:i+3, j:j+2] * [[1, 2], [0, -1], [3, 1]]).sum() for j in range(6)] for i in range(4)]))
    ok('y[i] = sum(k: w[k] * x[i+k])', dict(x=x, w=arr('f64', [1, -2, 1])), y=np.convolve(x, [1, -2, 1], 'valid'))
    ok('edge x clamp\ny[i] = sum(k in -1..2: x[i+k])', dict(x=x), y=np.convolve(np.pad(x, 1, 'edge'), np.ones(3), 'valid'))
    ok('edge x mirror\ny[i] = mean(k in -2..3: x[i+k])', dict(x=x), 1e-14, y=np.convolve(np.pad(x, 2, 'reflect'), np.ones(5), 'valid') / 5)
    ok('edge m wrap\ny[i,j] = sum(a in -1..2, b in -1..2: a == 0 && b == 0 ? 0.0 : m[i+a,j+b])', dict(m=m),
       y=sum(np.roll(m, (-a, -b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b))
    ok('y[i] = a[2*i] + b[3*i]', dict(a=arr('f64', [1, 2, 3, 4, 5]), b=arr('f64', [10, 20, 30, 40])), y=arr('f64', [11, 43]))
    ok('y[i] = x[i] + w[i+1]', dict(x=x[:4].copy(), w=x[:5].copy()), y=x[:4] + x[1:5])
    ok('y[j,i] = m[i,j]', dict(m=m), y=m.T)
    ok('y[i] = m[i,i]', dict(m=m[:6, :6].copy()), y=np.diag(m[:6, :6]))
    ok('y[i,j] = m[5-i, 6-j]', dict(m=m), y=m[::-1, ::-1])
    ok('y[i] = x[i//2] where i in 0..8', dict(x=x), y=np.repeat(x, 2)[:8])
    ok('y[i] = x[i%3] where i in 0..8', dict(x=x), y=x[np.arange(8) % 3])
    ok('y[i,j] = x[i*3+j] where i in 0..2, j in 0..3', dict(x=x), y=x[:6].reshape(2, 3))
    ok('y[b,i,j] = sum(k: a[b,i,k] * c[b,k,j])', dict(a=m[:, :6].reshape(3, 3, 4).copy(), c=m[:, :4].reshape(3, 4, 2).copy()),
       y=m[:, :6].reshape(3, 3, 4) @ m[:, :4].reshape(3, 4, 2))
    big = (np.arange(5000) * 7919) % 1000
    ok('x[i] = (i * 7919) % 1000 where i in 0..5000\ny[i] = sum(k in 0..100: x[2*i+k])\ns = max(i: y[i])\nn = sum(i: y[i] > -1)\nh[i] = y[i] where i in 0..5', {},
       s=np.int64(max(big[2*i:2*i+100].sum() for i in range(2451))), n=np.int64(2451), h=arr('i64', [big[2*i:2*i+100].sum() for i in range(5)]))
    bad('y[i] = sum(k in -1..2: x[i+k])', dict(x=x), 'y')
    bad('y[i] = 3.0', {}, 'i', 'range')
    bad('y[i,j] = x[i]', dict(x=x), 'j', 'range')
    bad('y[i] = x[i*i]', dict(x=x), 'i', 'range')
    bad('y[i] = x[-i]', dict(x=x), 'x')
    bad('y = x[11]', dict(x=x), 'x', '11')
    bad('y[i] = a[i] + b[i]', dict(a=x, b=x[:3].copy()), 'b')


def explicit():
    begin('where', 'Explicit ranges, triangles, running sums, and ranges that come from data.')
    x = np.arange(1., 7); n = 6; m = np.arange(30.).reshape(5, 6)
    ok('y[i] = 3 where i in 0..2', {}, y=arr('i64', [3, 3]))
    ok('y[i] = x[i] where i in 0..0', dict(x=x), y=np.zeros(0))
    ok('out y: i64[5]\ny[i] = 7 where i in 1..5 by 2', {}, y=arr('i64', [0, 7, 0, 7, 0]))
    ok('out y: f64[6]\ny[i] = x[i] where i in 1..3', dict(x=x), y=arr('f64', [0, 2, 3, 0, 0, 0]))
    ok('out y: f64[6]\ny[i] = x[i+100] where i in 3..3', dict(x=x), y=np.zeros(6))
    ok('c[i] = sum(k in 0..i+1: x[k])', dict(x=x), c=np.cumsum(x))
    ok('c[i] = sum(k in 0..i: x[k])', dict(x=x), c=np.cumsum(x) - x)
    ok('c[i] = sum(k in i..len(x,0): x[k])', dict(x=x), c=np.cumsum(x[::-1])[::-1])
    ok('c[i] = prod(k in 0..i+1: x[k])\nd[i] = max(k in 0..i+1: w[k])\ne[i] = argmax(k in 0..i+1: w[k])', dict(x=x, w=arr('f64', [3, 1, 4, 1, 5, 9])),
       c=np.cumprod(x), d=arr('f64', [3, 3, 4, 4, 5, 9]), e=arr('i64', [0, 0, 2, 2, 4, 5]))
    ok('c[i,j] = sum(k in 0..j+1: m[i,k])', dict(m=m), c=np.cumsum(m, 1))
    ok('c[i] = sum(k in 0..i+1: x[i-k] * x[k])', dict(x=x), c=np.convolve(x, x)[:6])
    ok('x[i] = i % 17 where i in 0..2000\nc[i] = sum(k in 0..i+1: x[k])\ns = sum(i: c[i])\nl = c[1999]', {},
       s=np.int64(np.cumsum(np.arange(2000) % 17).sum()), l=np.int64((np.arange(2000) % 17).sum()))
    ok('in m\nm[i,j] = 0 where j in 0..i', dict(m=np.ones((4, 4))), m=np.triu(np.ones((4, 4))))
    ok('out t: f64[4,4]\nt[i,j] = i + 10.0*j where i in 0..4, j in i..4', {}, t=np.triu(np.add.outer(np.arange(4.), 10 * np.arange(4.))))
    ok('s = 0.0\ns += x[i] * x[j] where i in 0..3, j in 0..i', dict(x=x), s=np.float64(1*2 + 1*3 + 2*3))
    ok('y[i] = sum(j in i+1..len(x,0): x[j] - x[i])', dict(x=x), y=np.array([(x[i+1:] - x[i]).sum() for i in range(6)]))
    row, col, val = arr('i64', [0, 2, 2, 5]), arr('i32', [1, 3, 0, 2, 3]), arr('f64', [1, 2, 3, 4, 5])
    v = arr('f64', [10, 100, 1000, 10000])
    spmv = 'y[i] = sum(p in row[i]..row[i+1]: val[p] * x[col[p]]) where i in 0..len(row,0)-1'
    ok(spmv, dict(row=row, col=col, val=val, x=v), y=arr('f64', [20100, 0, 54030]))
    bad(spmv, dict(row=arr('i64', [0, 2, 2, 6]), col=col, val=val, x=v), code=6)
    bad(spmv, dict(row=row, col=arr('i32', [1, 4, 0, 2, 3]), val=val, x=v), 'x', '4', code=6)
    ok('y[i] = sum(k in 0..n[i]: x[k])', dict(x=x, n=arr('i64', [0, 3, 6, -2])), y=arr('f64', [0, 6, 21, 0]))
    ok('y[i,j] = i*10 + j where i in 0..2, j in 0..3', {}, y=arr('i64', [[0, 1, 2], [10, 11, 12]]))
    ok('in n\ny[i] = i * n where i in 0..n', dict(n=4), y=arr('i64', [0, 4, 8, 12]))
    ok('y[i] = x[i] where i in 0..n', dict(x=x, n=3), y=x[:3])
    ok('n = argmax(i: x[i])\ny = x[n]\nz[i] = x[i] where i in 0..n', dict(x=arr('f64', [1, 2, 9, 3])), y=np.float64(9), z=arr('f64', [1, 2]))
    bad('y[i] = x[i] where i in 0..4 by 0', dict(x=x), 'by')
    bad('y[i] = x[i] where i in 0..1.5', dict(x=x))
    bad('y[i] = x[i] where i in 1..3', dict(x=x), 'y')
    bad('y[i] = x[i+1] + sum(k in 3..3: x[k])', dict(x=x), 'x')
    bad('y[i] = x[i] where i in 0..7', dict(x=x), 'x')


def gathers():
    begin('gathers', 'Subscripts from data.')
    x = arr('f64', [3, -1, 2, 5]); m = np.arange(12.).reshape(3, 4)
    for t in INTS: ok('y[i] = x[idx[i]]', dict(x=x, idx=arr(t, [3, 1, 0, 3])), y=arr('f64', [5, -1, 3, 5]))
    for t in TYPES:
        v = arr(t, [0, 1, 1, 0]); ok('y[i] = x[idx[i]]', dict(x=v, idx=arr('i64', [3, 1, 0, 2, 2])), y=v[[3, 1, 0, 2, 2]])
    ok('y[b,i] = x[b, idx[b,i]]', dict(x=m, idx=arr('i64', [[1, 1], [0, 3], [2, 0]])), y=np.take_along_axis(m, np.array([[1, 1], [0, 3], [2, 0]]), 1))
    ok('y[i,j] = m[idx[i], j]', dict(m=m, idx=arr('i64', [2, 0, 2, 1])), y=m[[2, 0, 2, 1]])
    ok('y[i,j] = m[i, idx[j]]', dict(m=m, idx=arr('i64', [3, 3, 0])), y=m[:, [3, 3, 0]])
    ok('y[i] = m[a[i], b[i]]', dict(m=m, a=arr('i64', [0, 2, 1]), b=arr('u8', [3, 0, 1])), y=m[[0, 2, 1], [3, 0, 1]])
    ok('y[i] = x[p[q[i]]]', dict(x=x, p=arr('i64', [3, 2, 1, 0]), q=arr('i64', [0, 0, 3])), y=arr('f64', [5, 5, 3]))
    ok('y[i] = sum(k: x[idx[i,k]] * w[k])', dict(x=x, idx=arr('i64', [[0, 1], [3, 3]]), w=arr('f64', [1, 10])), y=arr('f64', [-7, 55]))
    ok('y[i] = x[(idx[i] + 1) % 4]', dict(x=x, idx=arr('i64', [3, 1, -1])), y=arr('f64', [3, 2, 3]))
    ok('y[i] = ok1[i] ? x[idx[i]] : 0', dict(x=x, ok1=arr('bool', [1, 0, 1]), idx=arr('i64', [3, 99, 0])), y=arr('f64', [5, 0, 3]))
    n = 3000; idx = (np.arange(n) * 7) % n
    ok('x[i] = i * 3 where i in 0..3000\nidx[i] = (i * 7) % 3000 where i in 0..3000\ny[i] = x[idx[i]]\ns = sum(i: y[i] * (i % 5))', {},
       s=np.int64((idx * 3 * (np.arange(n) % 5)).sum()))
    bad('y[i] = x[idx[i]]', dict(x=x, idx=arr('i64', [-1, 2])), 'x', '-1', code=6)
    bad('y[i] = x[idx[i]]', dict(x=x, idx=arr('u64', [2**63, 2])), 'x', code=6)
    bad('y[i] = x[idx[i]]', dict(x=x, idx=arr('i64', [0, 4])), 'x', '4', code=6)
    bad('y[i] = m[i, idx[i]]', dict(m=m, idx=arr('i64', [0, 4, 0])), 'm', '4', code=6)
    bad('y[i] = x[x[i]]', dict(x=x), 'x')


def layouts():
    begin('dots', '`...`: any number of leading axes, which broadcast; results of any rank.')
    r = np.random.default_rng(5); a, b = np.arange(6.).reshape(2, 3), np.arange(3.)
    for s, t in (((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((2, 1), (3,)), ((4, 1, 3), (2, 1)), ((0, 3), (1, 3)), ((1,), (0,)),
                 ((1, 1, 1), (2, 3, 4)), ((2, 2, 1, 2), (2, 1, 2, 2))):
        p, q = r.integers(0, 50, s).astype(np.float32), r.integers(0, 50, t).astype(np.float32)
        p, q = np.asarray(p), np.asarray(q)
        ok('y[...] = a[...] + 2 * b[...]', dict(a=p, b=q), y=np.asarray(p + 2 * q))
    for shape in ((4,), (3, 4), (2, 3, 4), (0, 4), (3, 0)):
        x = r.integers(-5, 6, shape).astype(np.float64)
        if shape[-1]: ok('y[...,j] = x[...,j] - max(k: x[...,k])', dict(x=x), y=x - x.max(-1, keepdims=True))
        ok('s = sum(...: x[...])\nt[...] = sum(j: x[...,j])', dict(x=x), s=np.float64(x.sum()), t=np.asarray(x.sum(-1)))
        ok('y[j] = sum(...: x[...,j])', dict(x=x), y=x.sum(tuple(range(x.ndim - 1))))
    ok('y[...,i] = a[...,i] * w[i]', dict(a=arr('f64', [[1, 2], [3, 4]]), w=arr('f64', [10, 100])), y=arr('f64', [[10, 200], [30, 400]]))
    ok('y[...,i,j] = sum(k: a[...,i,k] * b[...,k,j])', dict(a=np.arange(12.).reshape(2, 2, 3), b=np.arange(6.).reshape(3, 2)), y=np.arange(12.).reshape(2, 2, 3) @ np.arange(6.).reshape(3, 2))
    ok('y[...,i] = m[...,i,0]', dict(m=a), y=a[:, 0])
    ok('cv[t,i,j] = mul[i,j] * disc[t,i,j]', dict(mul=a, disc=np.arange(24.).reshape(4, 2, 3)), cv=a * np.arange(24.).reshape(4, 2, 3))
    ok('y[i,j] = a[i] * b[j]', dict(a=b + 1, b=b), y=np.outer(b + 1, b))
    ok('y[a,b,c,d,e,f,g,h] = x[a,b,c,d,e,f,g,h] * 2', dict(x=np.arange(8.).reshape(1, 2, 1, 2, 1, 2, 1, 1)), y=np.arange(8.).reshape(1, 2, 1, 2, 1, 2, 1, 1) * 2)
    ok('y[k,j,i] = x[i,j,k]', dict(x=np.arange(24, dtype=np.int16).reshape(2, 3, 4)), y=np.arange(24, dtype=np.int16).reshape(2, 3, 4).T)
    bad('y[i,...] = m[i,...]', dict(m=a), '...')
    bad('y[...] = a[...] + b[...]', dict(a=arr('f64', [1, 2]), b=b))
    bad('y[i] = a[i,j,k,l,m,n,o,p,q]', dict(a=b), 'a')


def cases():
    edges(); modes(); windows(); explicit(); gathers(); layouts()
