"""Squares of differences: distances of points, their minimum, differences that are used twice. The numbers are not exact, so the order
of operations is observable."""
from caselib import *
from reduction_cases import chain


def sevenths(t, count, seed): return (((np.arange(count) * seed % 1009) - 500) / 7).astype(DTYPES[t].type)


def squares(a, b): d = a.T[:, :, None] - b.T[:, None, :]; return chain(d, d)


def cases():
    begin('distances', __doc__.replace('\n', ' '))
    for t in ('f32', 'f64'):
        for d in (1, 2, 3, 4, 5, 16, 17):
            x, c = sevenths(t, 37 * d, 7919).reshape(37, d), sevenths(t, 5 * d, 104729).reshape(5, d); far = squares(x, c)
            ok('y[i,j] = sum(e: (x[i,e] - c[j,e])**2)', dict(x=x, c=c), y=far)
            ok('y[i,j] = sum(e: (c[j,e] - x[i,e])**2)', dict(x=x, c=c), y=far)
            ok('y[j,i] = sum(e: (x[i,e] - c[j,e])**2)', dict(x=x, c=c), y=far.T)
            ok('y[i] = argmin(j: sum(e: (x[i,e] - c[j,e])**2))', dict(x=x, c=c), y=far.argmin(1))
            ok('y[i] = min(j: sum(e: (x[i,e] - c[j,e])**2))', dict(x=x, c=c), y=far.min(1))
        u, v, z = sevenths(t, 70, 7919), sevenths(t, 70, 104729), DTYPES[t].type
        ok('y[i] = (u[i] - v[i])**2', dict(u=u, v=v), y=(u - v) ** 2)
        ok('q[i] = (u[i] - v[i])**2\ny[i] = u[i] + q[i]\nz[i] = q[i] + u[i]\nw[i] = q[i] - u[i]', dict(u=u, v=v), y=u + (u - v) ** 2, z=(u - v) ** 2 + u, w=(u - v) ** 2 - u)
        ok('d[i] = u[i] - v[i]\nq[i] = d[i] * d[i]\ny[i] = q[i] + d[i]', dict(u=u, v=v), y=(u - v) ** 2 + (u - v))
        ok('q[i] = (u[i] - v[3])**2\nr[i] = (v[3] - v[i])**2\ny[i] = q[i] + r[i]', dict(u=u, v=v), y=(u - v[3]) ** 2 + (v[3] - v) ** 2)
        ok('y[i] = (u[i] - u[i])**2 + (3 - u[i])**2', dict(u=u), y=(z(3) - u) ** 2)
        ok('d[i] = u[i] - v[i]\ny[i] = d[i] * d[i]', dict(u=u, v=v), y=(u - v) ** 2, d=u - v)
        far = z(0) * u
        for k in range(3): far = far + (u - v[k]) ** 2
        ok('out y: %s[len(u, 0)]\neach i { s = 0 * u[i]; for k in 0..3 { q = (u[i] - v[k])**2; s = s + q }; y[i] = s }' % t, dict(u=u, v=v), y=far)
