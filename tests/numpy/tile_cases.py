"""Values that an outer loop would compute again are computed once, into a tile: distances of all pairs, outer products, transposed reads.
Also scatters whose lanes run over an index before the last one. All results are exact."""
from caselib import *
from reduction_cases import chain, tree


def mixed(shape, salt): k = np.arange(int(np.prod(shape))) + salt; return (((k * 7919) % 1009).astype(np.float32) / np.float32(64)).reshape(shape)


def distances(x, c): d = np.moveaxis(x[:, None, :] - c[None], 2, 0); return chain(d, d)


def cases():
    begin('tiles', __doc__.replace('\n', ' '))
    for rows, centres, width in ((530, 3, 3), (40, 9, 5), (7, 70, 1), (1, 2, 4)):
        x, c = mixed((rows, width), 1), mixed((centres, width), 5); d = distances(x, c)
        ok('lab[i] = argmin(c: sum(d: (x[i,d] - cen[c,d])**2))', dict(x=x, cen=c), lab=d.argmin(1))
        ok('near[i] = min(c: sum(d: (x[i,d] - cen[c,d])**2))\nfar[c] = max(i: sum(d: (x[i,d] - cen[c,d])**2))', dict(x=x, cen=c), near=d.min(1), far=d.max(0))
        ok('t[i] = sum(c: sum(d: (x[i,d] - cen[c,d])**2))', dict(x=x, cen=c), t=tree(d.T.copy(), np.add))
    for n in (5, 90):
        p, m = mixed((n, 3), 3), mixed((n,), 9); q = distances(p, p); w = m[None] / (np.float32(0.5) + np.sqrt(q.T))
        ok('w[i,j] = m[j] / (0.5 + sqrt(sum(e: (p[j,e] - p[i,e])**2)))\ny[i,d] = sum(j: w[i,j] * (p[j,d] - p[i,d]))', dict(p=p, m=m),
           y=np.stack([chain(w.T.copy(), (p[None, :, d] - p[:, None, d]).T.copy()) for d in range(3)], 1))
    a, b = mixed((30,), 2), mixed((70,), 8)
    ok('y[i,j] = a[i] * sqrt(sqrt(b[j]) + sqrt(b[j] + 1))', dict(a=a, b=b), y=a[:, None] * np.sqrt(np.sqrt(b) + np.sqrt(b + np.float32(1))))
    for width in (3, 20, 70):
        a, b = mixed((9, width), 4), mixed((40, width), 6)
        ok('y[i,j] = sum(k: abs(a[i,k] - b[j,k]))', dict(a=a, b=b), y=chain(np.moveaxis(abs(a[:, None] - b[None]), 2, 0)))
    for rows, width in ((530, 3), (20, 2), (3, 140)):
        x = mixed((rows, width), 7); bin = (np.arange(rows) * 7 % 5); s = np.zeros((5, width), np.float32)
        for k in range(rows): s[bin[k]] += x[k]
        ok('out s: f32[5, len(x,1)]\ns[b[i],d] += x[i,d]', dict(x=x, b=bin), s=s)
        last = np.zeros((width, 5), np.float32)
        for k in range(rows): last[:, bin[k]] = x[k]
        ok('out s: f32[len(x,1), 5]\ns[d,b[i]] = x[i,d]', dict(x=x, b=bin), s=last)
        both = np.zeros((5, width), np.float32)
        for k in range(rows): both[bin[k], np.arange(width)[::-1]] += x[k]
        ok('out s: f32[5, len(x,1)]\ns[b[i], len(x,1) - 1 - d] += x[i,d]', dict(x=x, b=bin), s=both)
        once = np.zeros(5, np.float32)
        for k in range(rows):
            for d in range(width): once[bin[k]] += x[k, d]
        ok('out s: f32[5]\ns[b[i]] += x[i,d] where i in 0..len(x,0), d in 0..len(x,1)', dict(x=x, b=bin), s=once)
