"""What few programs have: fills with a value that needs loops, running totals that begin with several terms, places of extremes in every
third element, `else` with a costly value, a `while` that reads out of range, numbers of 16 bits, complex numbers at odd places, functions of
functions in rows that are kept. All results are exact, but for functions such as exp."""
from caselib import *
from reduction_cases import sample


def fills():
    x = arr('f32', [3, -1, 4, 1, -5, 9, 2, 6]); once = 'def f(a) { var s = 0.0; for k in 0..5 { s = s + a * k }; return s }\n'
    ok('out y: f32[9] = sum(j: x[j])\ny[2] = 1', dict(x=x), y=np.where(np.arange(9) == 2, 1, 19).astype(np.float32))
    ok('out y: i64[70] = argmax(j: x[j])\ny[2] = 1', dict(x=x), y=np.where(np.arange(70) == 2, 1, 5))
    ok(once + 'out y: f64[7] = f(x[1]) + max(j: x[j])\ny[2] = 3', dict(x=x), y=np.where(np.arange(7) == 2, 3, -10. + 9))
    ok('out y: f16[5] = sum(j: x[j])\ny[2] = 1', dict(x=x.astype(np.float16)), y=np.where(np.arange(5) == 2, 1, 19).astype(np.float16))
    for n in (0, 3): # the value is computed, whatever the size
        bad('in n\nout y: f32[n] = sum(j: x[c[j]])', dict(x=x, c=arr('i64', [1, 99]), n=n), 'x axis 0 (length 8)', 'subscript is 99', code=6)


def running():
    for t in ('f32', 'i32'):
        a = sample('i32', (5, 40), 3).astype(DTYPES[t])
        for name, f in (('max', np.max), ('argmin', lambda x: np.argmin(x) + 1)):
            make = lambda rows: np.array([[f(r) for r in row] for row in rows])
            y = make([[a[r, 1:i + 4] for i in range(30)] for r in range(5)]); ok('y[r,i] = %s(j in 1..i+4: a[r,j]) where i in 0..30' % name, dict(a=a), y=y.astype(np.int64 if name == 'argmin' else a.dtype))
        ok('y[r,i] = min(j in i..36: a[r,j]) where i in 0..30', dict(a=a), y=np.array([[a[r, i:36].min() for i in range(30)] for r in range(5)]))
        b = sample('i32', (9, 301), 5).astype(DTYPES[t]); ends = np.sort(sample('i32', (10,), 6).astype(np.int64) % 290)
        ok('y[i] = argmax(j in 3..300 by 2: b[i,j])', dict(b=b), y=3 + 2 * b[:, 3:300:2].argmax(1))
        ok('y[i,j] = b[i,j] * argmin(k in 3..300 by 2: b[i,k])', dict(b=b), y=(b * (3 + 2 * b[:, 3:300:2].argmin(1))[:, None]).astype(np.float64 if t == 'f32' else np.int64))
        ok('y = argmin(i in 2..300: c[i])', dict(c=b[7].copy()), y=np.int64(2 + b[7, 2:300].argmin()))
        ok('y[i] = argmax(p in e[i]..e[i+1]: c[p]) where i in 0..9', dict(c=b[3].copy(), e=ends), y=np.array([p + b[3, p:q].argmax() if p < q else -1 for p, q in zip(ends, ends[1:])]))


def conditions():
    x, z = sample('f32', (20,), 3), sample('f32', (20,), 4); c = np.arange(20) * 7 % 27
    ok('y[i] = x[i+1] else sum(k: z[k] * i)', dict(x=x, z=z), y=np.append(x[1:], np.float32((z.astype(np.float64) * 19).sum())), rtol=1e-5)
    ok('y[i] = x[i+1] else exp(z[i] / 3)', dict(x=x, z=z), y=np.append(x[1:], np.exp(z[-1] / 3)), rtol=1e-5)
    ok('def f(i) { var s = 0.0; var k = i; while s < 30 { s = s + abs(x[k]) + 1; k = k + 1 }; return s }\ny[i] = f(c[i]) else 7', dict(x=np.ones(20), c=c),
       y=np.array([30. if k <= 5 else 7. for k in c]))


def narrow():
    for t in ('f16', 'bf16'):
        x = (sample('i32', (300,), 5) % 3).astype(DTYPES[t]); top = x.astype(np.float32).max()
        ok('s = max(i: x[i])\ny[i] = x[i] + s', dict(x=x), s=DTYPES[t].type(top), y=(x.astype(np.float32) + top).astype(DTYPES[t]))
    n = 65; z = (sample('i32', (n,), 6) + 1j * sample('i32', (n,), 7)).astype(np.complex64); w = z[::-1].copy()
    ok('y[i] = z[i+1] + w[i] where i in 0..60', dict(z=z, w=w), y=z[1:61] + w[:60])
    ok('y[i] = conj(z[64-i]) - z[2*i] where i in 0..30', dict(z=z), y=z[64:34:-1].conj() - z[:60:2])
    m = z[:63].reshape(7, 9); ok('y[i,j] = m[i+1,j+1] - m[i,j] where i in 0..6, j in 0..8', dict(m=m), y=m[1:, 1:] - m[:-1, :-1])


def kept():
    for n in (33, 1000):
        x = sample('f32', (8, n), n); e = lambda a: np.exp(a / 9)
        ok('y[i] = sum(j: exp(exp(exp(x[i,j] / 9) / 9) / 9)) + max(j: x[i,j])', dict(x=x), y=(e(e(e(x.astype(np.float64)))).sum(1) + x.max(1)).astype(np.float32), rtol=1e-5)
        a = sample('i32', (n, 9), n); ok('y[i,j] = a[i,j] // (1 + abs(max(k: a[k,j])))', dict(a=a), y=a // (1 + np.abs(a.max(0))))


def scatters():
    k = np.arange(3000) * 7919 % 1009
    for t in ('i32', 'i16', 'u8', 'f64'):
        x = sample('i32', (3000,), 3).astype(DTYPES[t]); h = np.full(1009, 3, DTYPES[t]); np.maximum.at(h, k, x)
        ok('var h: %s[1009] = 3\nh[k[i]] max= x[i]\ny[i] = h[i]' % t, dict(x=x, k=k), y=h)


def cases():
    begin('rare', __doc__.replace('\n', ' ')); fills(); running(); conditions(); narrow(); kept(); scatters()
