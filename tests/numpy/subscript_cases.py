"""Computed subscripts beside bare ones whose loops could be merged, and defs' blocks, conditions and reductions in subscripts."""
import numpy as np
from caselib import begin, ok

i64 = np.int64


def made(*shape, t=i64): return (np.arange(np.prod(shape)) * 37 % 101).reshape(shape).astype(t)


def merged_maps():
    x = made(2, 3, 2)
    ok('y[z,k,j] = x[z,k,j%2] where j in 0..3', dict(x=x), y=x[:, :, [0, 1, 0]])
    x = made(4, 5, 3)
    ok('y[a,b,c] = x[a,b,(c+1)%3] + x[a,b,c]', dict(x=x), y=x[:, :, [1, 2, 0]] + x)
    ok('y[a,b,c] = x[a,b,min(c,1)] * 2 where c in 0..3', dict(x=x), y=x[:, :, [0, 1, 1]] * 2)
    ok('y[a,b,c] = x[a,b,clamp(c-1,0,2)] where c in 0..3', dict(x=x), y=x[:, :, [0, 0, 1]])
    ok('y[a,b,c] = x[a,b,c > 1 ? 0 : c] where c in 0..3', dict(x=x), y=x[:, :, [0, 1, 0]])
    ok('in p\ny[a,b,c] = x[a,b,p[c]%3]', dict(x=x, p=np.array([5, 0, 2])), y=x[:, :, [2, 0, 2]])
    x = made(2, 3, 4, 4, t=np.float32)
    ok('y[n,c,i,j] = x[n,c,i//2,j//2] where i in 0..8, j in 0..8', dict(x=x), y=x.repeat(2, 2).repeat(2, 3))
    x = made(2, 3, 5)
    ok('v[t,i,j] = x[t//2,i,j] where t in 0..4', dict(x=x), v=x.repeat(2, 0))
    ok('v[t,i,j] = x[i64(t > 2),i,j] where t in 0..4', dict(x=x), v=x[[0, 0, 0, 1]])
    ok('v[t,i,j] = x[1-t//2,i,j] - x[t%2,i,j] where t in 0..4', dict(x=x), v=x[[1, 1, 0, 0]] - x[[0, 1, 0, 1]])
    x = made(2, 1, 3, 1, 4)
    ok('y[a,b,c,d,e] = x[a,b,c,d,e%3] where e in 0..4', dict(x=x), y=x[..., [0, 1, 2, 0]])
    ok('y[a,b,c,d,e] = x[(a+1)%2,b,c,d,e] where a in 0..2', dict(x=x), y=x[[1, 0]])
    x = made(3, 700)
    ok('y[a,b,c] = x[a%3,b] + c where a in 0..4, c in 0..2', dict(x=x), y=x[[0, 1, 2, 0]][:, :, None] + np.arange(2))


def merged_updates():
    x = made(3, 4, 5); y = made(3, 4, 2); s = int(x[0, 0, 1]) % 2
    want = y.copy(); want[:, :, s] = x[:, :, 2]
    ok('in y\ny[a,b,x[0,0,1]%2] = x[a,b,2]', dict(x=x, y=y), y=want)
    want = y.copy(); want[:, :, 1] += x[:, :, 3]
    ok('in y\nn = i64(max(i,j,k: x[i,j,k])) % 2\ny[a,b,1-n] += x[a,b,3]', dict(x=np.minimum(x, 100), y=y), y=want)
    want = made(2, 6); m = want.copy(); want[:, 1:4] = x[:2, 0, 1:4]
    ok('in y, n\ny[a,b] = x[a,0,b] where a in 0..2, b in n[0]..n[1]', dict(x=x, y=m, n=np.array([1, 4])), y=want)


def merged_reductions():
    x = made(3, 4, 5)
    ok('s = sum(i in 0..3, j in 0..4, k in 0..7: x[i,j,k%5])', dict(x=x), s=i64(x[:, :, [0, 1, 2, 3, 4, 0, 1]].sum()))
    ok('s = max(i in 0..6, j in 0..4, k in 0..5: x[i//2,j,k] - x[0,j,k])', dict(x=x), s=i64((x - x[0]).max()))
    ok('y[a] = sum(b, c: x[a,b,c] * x[(a+1)%3,b,c])', dict(x=x), y=(x * x[[1, 2, 0]]).sum((1, 2)))
    ok('y[a] = sum(b in 0..4, c in 0..5: x[a,b,c] * x[a,b,4-c%2])', dict(x=x), y=(x * x[:, :, [4, 3, 4, 3, 4]]).sum((1, 2)))
    ok('k[a,b] = argmax(c: x[a,b,(c+2)%5] + 0*x[a,b,c])', dict(x=x), k=x[:, :, [2, 3, 4, 0, 1]].argmax(2))
    ok('y[a,b,c] = sum(k in 0..c+1: x[a,b,(2*k)%5]) where c in 0..5', dict(x=x), y=np.cumsum(x[:, :, [0, 2, 4, 1, 3]], 2))
    ok('y[a,b,c] = sum(k in 0..b+1: x[a%2,k,c]) where a in 0..3', dict(x=x), y=np.cumsum(x, 1)[[0, 1, 0]])


def reductions_in_subscripts():
    x = made(8, 8, 4)
    at = np.array([max(x[k, i, 0] for k in range(8)) % 4 for i in range(8)])
    ok('v[i] = x[i,0,i64(max(k in 0..8, m in 0..8: x[k,i,0])) % 4]', dict(x=x), v=x[np.arange(8), 0, at])
    total = x.sum((0, 1)); at = total % 8
    ok('v[c] = x[sum(k, m: x[k,m,c]) % 8,c,1] where c in 0..4', dict(x=x), v=np.array([x[at[c], c, 1] for c in range(4)]))
    ok('v[i,c] = x[i,sum(k in 0..8, m in 0..8: x[k,m%3,c]) % 8,c]', dict(x=x),
       v=np.array([[x[i, x[:, [0, 1, 2, 0, 1, 2, 0, 1], c].sum() % 8, c] for c in range(4)] for i in range(8)]))
    h = np.zeros((3, 4), i64)
    for i in range(8):
        for c in range(4): h[x[i, :, c].sum() % 3, c] += x[i, c, 0]
    ok('out h: i64[3,4]\nh[sum(k: x[i,k,c]) % 3, c] += x[i,c,0] where i in 0..8, c in 0..4', dict(x=x), h=h)
    n = np.array([0, 3, 8, 1]); h = np.zeros(5, i64)
    for c in range(4): h[x[:n[c], 0, c].sum() % 5] += c + 1
    ok('in n\nout h: i64[5]\nh[sum(k in 0..n[c]: x[k,0,c]) % 5] += c + 1', dict(x=x, n=n), h=h)
    y = np.array([x[:, :, 0].sum() % 4 + sum(x[k, m, 1] for k in range(i + 1) for m in range(8)) for i in range(8)])
    ok('y[i] = sum(k, m: x[k,m,0]) % 4 + sum(k in 0..i+1, m in 0..8: x[k,m,1])', dict(x=x), y=y)


def bodies():
    x = made(3, 4, 5)
    want = np.zeros((3, 4, 2), i64); want[:, :, 0] = x[:, :, 1]; want[:, :, 1] = x[:, :, 3] + 1
    ok('out y: i64[3,4,2]\neach a in 0..3, b in 0..4 {\n  y[a,b,0] = x[a,b,1]\n  y[a,b,1] = x[a,b,(1+2)%5] + 1\n}', dict(x=x), y=want)
    want = x[:, :, [1, 2, 3, 4, 0]].sum(2)
    ok('out y: i64[3,4]\neach a in 0..3, b in 0..4 {\n  s = 0\n  for c in 0..5 { s += x[a,b,(c+1)%5] }\n  y[a,b] = s\n}', dict(x=x), y=want)
    n = np.array([1, 0, 5, 2]); want = np.zeros((3, 4, 5), i64)
    for b in range(4): want[:, b, :n[b]] = x[:, b, :n[b]] * 2
    ok('in n\nout y: i64[3,4,5]\neach a in 0..3, b in 0..4 {\n  for c in 0..n[b] { y[a,b,c] = x[a,b,c] * 2 }\n}', dict(x=x, n=n), y=want)
    want = np.zeros((3, 4, 5), i64)
    for b in range(4): want[:, :, b] = x[:, :, b] if n[b] else 0
    ok('in n\nout y: i64[3,4,5]\neach z in 0..3, a in 0..4, b in 0..4 {\n  for c in 0..n[b] { y[z,a,b] = x[z,a,b%5] }\n}', dict(x=x, n=n), y=want)


def calls():
    ok('def f(v) { c = 3; b = c; b = 0; return b }\nout h: i64[9]\nh[f(i)] += 1 where i in 0..4', h=np.array([4] + [0] * 8))
    def f(v):
        c = b = 3
        if v > 2: b = v; c = b + 1
        d = c
        while b > 0: b -= 2; d += 1
        return (b + d) % 9
    text = ('def f(v) {\n  c = 3; b = c\n  if v > 2 { b = v; c = b + 1 }\n  d = i64(f32(c) * 1.0)\n'
            '  while b > 0 { b -= 2; d += 1 }\n  return (b + d) % 9\n}\n')
    h = np.zeros(9, i64); q = np.zeros(9, np.float32)
    for i in range(4): h[f(i)] += 1
    for i in range(7): q[f(i)] = max(q[f(i)], f(f(i)))
    ok(text + 'out h: i64[9], q: f32[9]\nh[f(i)] += 1 where i in 0..4\nq[f(i)] max= f(f(i)) where i in 0..7', h=h, q=q)
    x = made(5); h = np.zeros(3, i64)
    for b in range(5): h[x[b % 5] % 3] += b
    ok('def g(a) {\n  u = a % 3\n  return x[a%5] % 3\n}\nout h: i64[3]\nh[g(b)] += b where b in 0..5', dict(x=x), h=h)
    x = made(4, 6); y = made(4, 6) * 2; want = y.copy()
    for i in range(4): want[i, f(i) % 6] = x[i, f(i) % 6]
    ok('in y\n' + text + 'y[i,f(i)%6] = x[i,f(i)%6] where i in 0..4', dict(x=x, y=y), y=want)
    h = np.zeros((9, 3), i64)
    for i in range(7):
        for j in range(3): h[f(f(i) + j), j] = i
    ok(text + 'out h: i64[9,3]\nh[f(f(i)+j),j] = i where i in 0..7, j in 0..3', h=h)
    ok(text + 'out h: i64[9]\neach i in 0..7 { if i > 1 { h[f(i)] += f(i+1) } }', h=np.bincount([f(i) for i in range(2, 7)], [f(i + 1) for i in range(2, 7)], 9).astype(i64))


def named_without_effect():
    """A subscript may name an index and not depend on it."""
    ok('out h: i64[4]\nh[true ? j : i] = i where i in 0..3, j in 0..4', h=np.array([2, 2, 2, 2]))
    ok('out h: i64[4]\nh[true ? j : i] += i where i in 0..3, j in 0..4', h=np.array([3, 3, 3, 3]))
    ok('var h: f64[4] = 48\nout h\nh[true ? j : i] /= i + 2 where i in 0..3, j in 0..4', h=np.array([2.0] * 4))
    ok('def f(a) { u = a; return 1 }\nout h: i64[2,4]\nh[f(i),j] = i + j where i in 0..3, j in 0..4', h=np.array([[0, 0, 0, 0], [2, 3, 4, 5]]))


def cases():
    begin('computed_subscripts', 'Computed subscripts beside bare ones whose loops could be merged; calls, conditions and reductions in subscripts.')
    merged_maps()
    merged_updates()
    merged_reductions()
    reductions_in_subscripts()
    bodies()
    calls()
    named_without_effect()
