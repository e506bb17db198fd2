"""The programs of examples/, read from their files, on small inputs."""
import os
from caselib import *

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples')
TESTED = set()


def example(name, ins, rtol=None, **outs):
    TESTED.add(name + '.leat')
    with open(os.path.join(FOLDER, name + '.leat')) as f: text = f.read()
    ok('\n'.join(l for l in text.split('\n') if not l.startswith('#')), ins, rtol, **outs)


def terrain():
    r = np.random.default_rng(11); z = r.integers(200, 1100, (23, 37)).astype(np.int16); h = z.astype(np.float64)
    p = np.pad(h * 2, 1, 'edge')
    east = (p[:-2, 2:] - p[:-2, :-2] + 2 * (p[1:-1, 2:] - p[1:-1, :-2]) + p[2:, 2:] - p[2:, :-2]) / (8 * 74.4)
    south = (p[2:, :-2] - p[:-2, :-2] + 2 * (p[2:, 1:-1] - p[:-2, 1:-1]) + p[2:, 2:] - p[:-2, 2:]) / (8 * 92.7)
    example('hillshade', dict(z=z), dict(p=2e-5, q=2e-5, height=None), p=east.astype(np.float32), q=south.astype(np.float32), height=(h * 2).astype(np.float32))
    g = np.exp(-.5 * ((np.arange(7) - 3) / 1.5)**2); g /= g.sum(); q = np.pad(h, ((0, 0), (3, 3)), 'reflect')
    along = sum(g[a] * q[:, a:a + 37] for a in range(7)); q = np.pad(along, ((3, 3), (0, 0)), 'reflect')
    example('smooth', dict(z=z, r=3), 2e-6, weight=g.astype(np.float32), soft=sum(g[a] * q[a:a + 23] for a in range(7)).astype(np.float32))
    low, high = h.min(), h.max(); b = np.minimum((256.0 * (h - low) / (high - low)).astype(np.int64), 255); c = np.bincount(b.reshape(-1), minlength=256).astype(np.int64)
    rows = np.arange(128)[:, None]; example('histogram', dict(z=z), low=z.min(), high=z.max(), counts=c, picture=np.where(128 * c > (127 - rows) * c.max(), 40, 255).astype(np.uint8))
    unit = (h - low).astype(np.float32) / np.float32(high - low); b = (np.float32(255) * unit).astype(np.int64); c = np.bincount(b.reshape(-1), minlength=256)
    example('normalise', dict(z=z), unit=unit, even=np.cumsum(c)[b].astype(np.float32) / np.float32(z.size), below=np.cumsum(c).astype(np.int64))


def arrays():
    r = np.random.default_rng(12); f = r.random
    mul, disc = f((4, 3)), f((5, 4, 3)); example('discount', dict(mul=mul, disc=disc), cv=mul * disc)
    x = f((2, 3, 5)); e = np.exp(x - x.max(-1, keepdims=True)); example('softmax', dict(x=x), 1e-13, y=e / e.sum(-1, keepdims=True))
    x, g, b = f((4, 6)), f(6), f(6); z = x - x.mean(1, keepdims=True)
    example('layer_norm', dict(x=x, g=g, b=b), 1e-11, y=z / np.sqrt((z**2).mean(1, keepdims=True) + 1e-5) * g + b)
    import scipy.special as sp
    S, X, t = f(5) + 1, f(5) + 1, f(5) + .1; cdf = lambda q: .5 * (1 + sp.erf(q * 0.7071067811865476)); d = (np.log(S / X) + (.02 + .045) * t) / (.3 * np.sqrt(t))
    example('black_scholes', dict(S=S, X=X, t=t, r=.02, v=.3), 1e-10, call=S * cdf(d) - X * np.exp(-.02 * t) * cdf(d - .3 * np.sqrt(t)))
    n, m = f((40, 3)), f((5, 3)); lab = ((n[:, None] - m)**2).sum(2).argmin(1); cnt = np.bincount(lab, minlength=5); tot = np.array([n[lab == k].sum(0) for k in range(5)])
    example('kmeans_step', dict(x=n, cen=m), dict(new=1e-12), lab=lab, new=np.where(cnt[:, None] > 0, tot / np.maximum(cnt, 1)[:, None], m), count=cnt)
    p, m = f((5, 3)), f(5); q = p[None] - p[:, None]; w = m[None] / (1e-2 + (q**2).sum(2))**1.5
    example('gravity', dict(p=p, m=m, eps=1e-2), 1e-10, acc=(w[:, :, None] * q).sum(1))
    u = f((9, 8)); v = u.copy(); v[1:-1, 1:-1] = u[1:-1, 1:-1] + .1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    example('heat', dict(u=u), 1e-13, v=v)
    val, x = np.arange(1., 6), arr('f64', [10, 100, 1000, 10000]); example('sparse', dict(row=arr('i64', [0, 2, 2, 5]), col=arr('i32', [1, 3, 0, 2, 3]), val=val, x=x), y=arr('f64', [20100, 0, 54030]))
    TESTED.add('discount_inputs.leat')
    with open(os.path.join(FOLDER, 'discount_inputs.leat')) as f_: text = f_.read().replace('out mul, disc', '')
    text = '\n'.join(l for l in text.split('\n') if not l.startswith('#')) + \
        'fine = all(i, j: mul[i,j] >= 1000 && mul[i,j] < 10000) && all(t, i, j: disc[t,i,j] > 0.1 && disc[t,i,j] <= 1)\nfirst = sum(i, j: disc[0,i,j])\nn = len(disc, 0)'
    ok(text, dict(years=4, contracts=6, branches=2), fine=np.bool_(True), first=np.float64(12), n=np.int64(4))


def cases():
    begin('examples', 'The programs of examples/ on small inputs.')
    terrain(); arrays()
    untested = {f for f in os.listdir(FOLDER) if f.endswith('.leat')} - TESTED
    assert not untested, untested
