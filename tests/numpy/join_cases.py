"""Statements that one kernel of a device may compute together."""
from caselib import *


def beside():
    """Reductions that no index of the result changes, of which another statement needs some indices only; and reductions with the same range, one
    of which is a number for the other."""
    r = np.random.default_rng(21)
    for n, m in ((1, 1), (5, 3), (40, 33)):
        x = arr('f32', r.integers(-8, 9, n)); w = arr('i64', r.integers(0, 2, (m, m)) + (m == 5)); all_of = (w > 0).all()
        z = np.broadcast_to(np.where(all_of, 2 * x, 0)[:, None, None], (n, 3, 2)).astype('f4')
        ok('y[i] = x[i] * 2\nz[i,j,k] = all(l, g: w[l,m-1-g] > 0) ? y[i] : 0 where j in 0..3, k in 0..2'.replace('m-1', str(m - 1)), dict(x=x, w=w), y=2 * x, z=z)
        ok('y[i] = x[i] * 2\nz[i,j] = sum(l: w[l,0]) + y[i] where j in 0..70', dict(x=x, w=w), y=2 * x, z=np.broadcast_to((w[:, 0].sum() + 2 * x)[:, None], (n, 70)).astype('f8'))
    for n in (1, 2, 9, 600):
        x = arr('i32', r.integers(-8, 9, n)); z = arr('i32', r.integers(-8, 9, 4)); t = [int(v) + int(x.max()) for v in z]
        w34 = arr('i64', r.integers(-8, 9, (3, 4)))
        pick = lambda v: int(z[v % 4]) * 2
        ok('def pick(a, v) = a[v % len(a,0)] * 2\ny[i] = argmin(k: x[k] + pick(z, max(l: x[l] + z[i])))', dict(x=x, z=z), y=np.array([(x + pick(v)).argmin() for v in t]))
        ok('def pick(a, v) = a[(v + 1) % len(a,0)] * 2\ny[i,j,k] = w[j,k] where i in 0..3\ny[j,j,i] = argmin(k: x[k] + pick(z, max(l: x[l] + z[i]))) + 0', dict(x=x, z=z, w=w34),
           y=np.array([[[(x + pick(t[i] + 1)).argmin() if h == j else w34[j, i] for i in range(4)] for j in range(3)] for h in range(3)]))
        ok('m[i] = max(l: x[l] + z[i])\ny[i] = argmax(k: x[k] * (m[i] % 3 - 1))', dict(x=x, z=z), y=np.array([(x * (v % 3 - 1)).argmax() for v in t]))


def cases():
    begin('joined', 'Statements that one kernel of a device may compute together, though one has fewer indices or needs the other\'s reduction.')
    beside()
