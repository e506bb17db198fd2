"""Forces between bodies: the expensive part is the same for each of a few axes. All results are exact."""
import numpy as np
from caselib import begin, ok
from reduction_cases import chain, tree
from tile_cases import distances, mixed

PULL = 'm[j] / (1 + sum(e: (p[j,e] - p[i,e])**2))**1.5 * (p[j,d] - p[i,d])'


def pull(p, m, x=None):
    """[i,d]"""
    r = p.dtype.type(1) + distances(p if x is None else x, p if x is None else x).T; w = m[:, None] / (r * np.sqrt(r))
    return np.stack([chain(w, p[:, None, d] - p[None, :, d]) for d in range(p.shape[1])], 1)


def cases():
    begin('bodies', __doc__)
    for n, axes, t in ((30, 1, 'f4'), (30, 3, 'f4'), (70, 3, 'f4'), (30, 3, 'f8'), (26, 4, 'f8')):
        p, m = mixed((n, axes), 3).astype(t), mixed((n,), 9).astype(t)
        ok(f'a[i,d] = sum(j: {PULL})', dict(p=p, m=m), a=pull(p, m))
    p, m, x = mixed((40, 3), 3), mixed((40,), 9), mixed((40, 5), 5); a = pull(p, m); half = np.float32(0.5)
    ok(f'a[d,i] = sum(j: {PULL})\nb[i] = a[0,i] - a[2,i]', dict(p=p, m=m), a=a.T.copy(), b=a[:, 0] - a[:, 2])
    ok(f'a[i,d] = 0.5 * sum(j: {PULL}) + p[i,d]', dict(p=p, m=m), a=half * a + p)
    ok(f'out a: f32[40,3]\na[i,d] = sum(j: {PULL}) where i in 5..30', dict(p=p, m=m), a=np.where(((np.arange(40) >= 5) & (np.arange(40) < 30))[:, None], a, np.float32(0)))
    apart = PULL.replace('p[j,e] - p[i,e]', 'x[j,e] - x[i,e]')
    ok(f'x[i,e] = y[i,e] * 2 + 1\nlong = sum(i,e: x[i,e])\na[i,d] = sum(j: {apart})', dict(p=p, m=m, y=(x - 1) * half), long=tree(x.reshape(-1), np.add), a=pull(p, m, x))
    v, q = np.zeros_like(p), p
    for _ in range(3): v = v + half * pull(q, m); q = q + half * v
    ok('v[i,d] = p[i,d] * 0\nfor t in 0..3 {\n  v[i,d] = v[i,d] + 0.5 * sum(j: %s)\n  p[i,d] = p[i,d] + 0.5 * v[i,d]\n}\nq[i,d] = p[i,d]' % PULL, dict(p=p, m=m), q=q)
    q = p
    for _ in range(3): q = q + half * pull(q, m)
    ok('for t in 0..3 { p[i,d] = p[i,d] + 0.5 * sum(j: %s) }\nq[i,d] = p[i,d]' % PULL, dict(p=p, m=m), q=q)
