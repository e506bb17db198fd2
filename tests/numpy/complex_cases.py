"""Complex numbers: types, every operation (also at zeros, infinities and NaN), reductions, assignments, and programs made of them."""
from caselib import *

REAL = ['bool', *INTS, 'f16', 'f32', 'f64']
EPS = {'c64': 3e-6, 'c128': 1e-14}
# Signed zeros, infinities, NaN, and magnitudes whose squares overflow or vanish.
ENDS = [0.0, -0.0, 1.0, -2.5, inf, -inf, nan, 1e300, -1e-300]


def numbers(t, *shape, seed=1):
    r = np.random.default_rng(seed)
    return (r.normal(size=shape) + 1j * r.normal(size=shape)).astype(COMPLEX[t])


def pairs(values, t='c128'):
    out = np.empty(len(values) ** 2, COMPLEX[t])
    out.real = np.repeat(values, len(values)); out.imag = np.tile(values, len(values))
    return out


def some(t):
    return np.array([0, 1, 1], DTYPES[t]) if t == 'bool' else np.array([1, 2, 3], DTYPES[t])


def promotion():
    for t in COMPLEX:
        z = numbers(t, 3)
        for u in REAL:
            x = some(u); ok('y[i] = z[i] + x[i]\nw[i] = x[i] * z[i]', dict(z=z, x=x), 1e-6 if t == 'c64' else 1e-14, y=z + x, w=x * z)
        for u in COMPLEX:
            w = numbers(u, 3, seed=2); ok('y[i] = z[i] - w[i]', dict(z=z, w=w), y=z - w)
    for u in REAL:
        x = some(u); ok('y[i] = x[i] * 2j\nv[i] = x[i] + 1j', dict(x=x), y=x * 2j, v=x + 1j)
    z = numbers('c64', 3)
    ok('y[i] = 2 * z[i]\nw[i] = z[i] * 0.5\nv[i] = z[i] - 2j\nu[i] = z[i] + a\nt[i] = z[i] * b', dict(z=z, a=2, b=0.5 - 1j),
       1e-6, y=2 * z, w=z * 0.5, v=z - 2j, u=z + 2, t=z * (0.5 - 1j))
    ok('y[i] = z[i] * i', dict(z=z), 1e-6, y=z * np.arange(3, dtype=np.float32))
    ok('s = 2j\nt = s * 3\nu = 1 + 0j', {}, s=np.complex128(2j), t=np.complex128(6j), u=np.complex128(1))
    ok('s = 1j\ny[i] = x[i] * s', dict(x=some('f32')), y=some('f32') * 1j)
    bf = np.array([1, 2, 3], bf16); ok('y[i] = x[i] * 2j', dict(x=bf), y=(bf.astype(np.float32) * np.complex64(2j)))


def operations():
    for t in COMPLEX:
        z, w, e = numbers(t, 9), numbers(t, 9, seed=2), EPS[t]
        ok('y[i] = z[i] + w[i]\nv[i] = z[i] - w[i]\nu[i] = -z[i]', dict(z=z, w=w), y=z + w, v=z - w, u=-z)
        ok('y[i] = z[i] * w[i]\nv[i] = z[i] / w[i]', dict(z=z, w=w), e, y=z * w, v=z / w)
        ok('y[i] = re(z[i])\nv[i] = im(z[i])\nu[i] = conj(z[i])\na[i] = abs(z[i])', dict(z=z), dict(a=e), y=z.real, v=z.imag, u=z.conj(), a=abs(z))
        ok('y[i] = exp(z[i])\nv[i] = sqrt(z[i])', dict(z=z), e, y=np.exp(z), v=np.sqrt(z))
        ok('y[i] = z[i] ** w[i]', dict(z=z, w=w), 10 * e, y=z ** w)
        for n in (-7, -2, -1, 0, 1, 2, 3, 5, 10, 0.5, 1.5, 2.0):
            ok('y[i] = z[i] ** %r' % n, dict(z=z), 10 * e, y=z ** n)
        k = np.arange(-4, 5, dtype=np.int32 if t == 'c128' else np.int8)
        ok('y[i] = z[i] ** k[i]\nv[i] = k[i] ** z[i]' if t == 'c128' else 'y[i] = z[i] ** k[i]', dict(z=z, k=k), 10 * e,
           **(dict(y=z ** k, v=k ** z) if t == 'c128' else dict(y=z ** k)))
        v = np.where(np.arange(9) % 2, z, w)
        ok('y[i] = z[i] == v[i]\nu[i] = z[i] != v[i]\na[i] = z[i] == 1', dict(z=z, v=v), y=z == v, u=z != v, a=z == 1)
        ok('y[i] = z[i] ? z[i] : 5\nv[i] = i % 2 ? z[i] : 1j', dict(z=np.where(np.arange(9) % 3, z, 0)), y=np.where(np.arange(9) % 3, z, 5),
           v=np.where(np.arange(9) % 2, np.where(np.arange(9) % 3, z, 0), 1j))
        ok('y[i] = !z[i]\nv[i] = z[i] && 1\nu[i] = bool(z[i])', dict(z=arr_c(t, [0, 1j, nan, -0.0, 2])), y=np.array([1, 0, 0, 1, 0], bool),
           v=np.array([0, 1, 1, 0, 1], bool), u=np.array([0, 1, 1, 0, 1], bool))
        ok('y[i] = c64(z[i])\nv[i] = c128(z[i])\nu[i] = f32(z[i])', dict(z=z), y=z.astype(np.complex64), v=z.astype(np.complex128), u=z.real.astype(np.float32))
    x, n = np.array([1.5, -2.0, 3.0]), np.array([3, -4, 5], np.int16)
    ok('y[i] = c128(x[i], n[i])\nv[i] = c64(x[i], 1)\nu[i] = c128(n[i])\nt[i] = c64(n[i], x[i])', dict(x=x, n=n), y=x + 1j * n,
       v=(x + 1j).astype(np.complex64), u=n.astype(np.complex128), t=(n + 1j * x).astype(np.complex64))
    ok('y[i] = re(x[i])\nv[i] = im(x[i])\nu[i] = conj(x[i])\nt[i] = re(n[i])', dict(x=x, n=n), y=x, v=x * 0.0 + 0.0, u=x, t=n.astype(np.float64))
    for t in ('f16', 'f32'): ok('y[i] = re(x[i])\nv[i] = im(x[i])', dict(x=arr(t, [1, 2])), y=arr(t, [1, 2]), v=arr(t, [0, 0]))


def arr_c(t, values): return np.array(values, COMPLEX[t])


def ends():
    z = pairs(ENDS); k = len(z)
    ok('y[i] = -z[i]\nv[i] = conj(z[i])\nu[i] = abs(z[i])', dict(z=z), dict(u=1e-14), y=-z, v=z.conj(), u=abs(z))
    root = np.sqrt(z); ok('y[i] = sqrt(z[i])', dict(z=z), 1e-14, y=root)
    e = np.array([0.0, -0.0, 1.0, -2.5, inf, -inf, nan, 710.0]); a = pairs(e)
    with_sign = np.isfinite(a.imag) | np.isfinite(a.real)
    a = a[with_sign | (a.real == inf)]; ok('y[i] = exp(z[i])', dict(z=a), 1e-12, y=np.exp(a))
    small = pairs([0.0, -0.0, 1.0, -2.5, 1e300, -1e-300, 1e-310])
    for d in (2 - 3j, 3 + 0j, 1j, 1e300 + 1e300j, 1e-300 - 1e-300j, 1e-300 + 1j, 0j, complex(-0.0, 0.0)):
        ok('y[i] = z[i] / d', dict(z=small, d=np.complex128(d)), 1e-12, y=small / np.complex128(d))
    ok('y[i] = 1 / z[i]', dict(z=small), 1e-12, y=1 / small)
    f = pairs([0.0, -0.0, 1.0, -2.0, inf, nan]); g = np.roll(f, 7)
    ok('y[i] = z[i] * w[i]\nv[i] = z[i] + w[i]\nu[i] = z[i] == w[i]', dict(z=f, w=g), 1e-14, y=f * g, v=f + g, u=f == g)
    zero = np.zeros(4, np.complex128); p = np.array([0, 2, 1 + 1j, 0.5])
    ok('y[i] = z[i] ** w[i]', dict(z=zero, w=p), y=zero ** p)
    powers_at_ends()
    q = np.sqrt(pairs([1e308, 1e-308, 1e-320, 0.0])); ok('y[i] = sqrt(z[i])', dict(z=pairs([1e308, 1e-308, 1e-320, 0.0])), 1e-11, y=q)
    s = pairs([3e38, 1e-38, 1e-44, 0.0], 'c64'); ok('y[i] = sqrt(z[i])', dict(z=s), 1e-3, y=np.sqrt(s.astype(np.complex128)).astype(np.complex64))


def powers_at_ends():
    """Powers of infinities, NaN and zeros: with arrays as exponents as np.power, which multiplies as in C's annex G, and with literals."""
    z = pairs([0.0, -0.0, 1.0, -2.5, inf, -inf, nan])
    exponents = [0, 1, 2, 3, 4, -1, -3, 0.5, -2.5, 150, 1j, 2 - 0.5j, complex(-1, -0.0), inf, -inf, nan, complex(0, inf), complex(inf, nan)]
    w = np.repeat(np.array(exponents, np.complex128), len(z)); many = np.tile(z, len(exponents))
    ok('y[i] = z[i] ** w[i]', dict(z=many, w=w), 1e-12, y=np.power(many, w))
    x = np.repeat([1.0, 2.0, 3.0, 5.0, -1.0, 0.5, inf], len(z)); some_z = np.tile(z, 7)
    ok('y[i] = z[i] ** x[i]\nv[i] = x[i] ** z[i]', dict(z=some_z, x=x), 1e-12, y=np.power(some_z, x), v=np.power(x, some_z))
    k = np.repeat(np.array([1, 2, 3, 7, -2], np.int32), len(z))
    ok('y[i] = z[i] ** k[i]', dict(z=z[np.arange(len(k)) % len(z)], k=k), 1e-12, y=np.power(z[np.arange(len(k)) % len(z)], k))
    one = np.ones(len(z), np.complex64); ok('y[i] = z[i] ** w[i]', dict(z=z.astype(np.complex64), w=one), y=np.power(z.astype(np.complex64), one))
    for n in (-3, -2, -1, 1, 2, 3, 4, 6): ok('y[i] = z[i] ** %d' % n, dict(z=z), 1e-12, y=z ** n)


def reductions():
    for t in COMPLEX:
        z, e = numbers(t, 5, 70), 10 * EPS[t]
        ok('s = sum(i,j: z[i,j])\nr[i] = sum(j: z[i,j])\nc[j] = sum(i: z[i,j])', dict(z=z), dict(s=1e-4 if t == 'c64' else 1e-12, r=1e-4 if t == 'c64' else 1e-12, c=e), s=z.sum(), r=z.sum(1), c=z.sum(0))
        ok('m[i] = mean(j: z[i,j])\na = any(i,j: z[i,j])\nb[i] = all(j: z[i,j] - z[i,0])', dict(z=z), 1e-4 if t == 'c64' else 1e-12, m=z.mean(1), a=True, b=np.zeros(5, bool))
        q = z[:, :5]; ok('p[i] = sum(j in 0..i+1: z[i,j])', dict(z=q), e, p=np.array([q[k, :k + 1].sum() for k in range(5)]))
        ok('c[j] = sum(k in 0..j+1: z[k])', dict(z=z[0]), 1e-4 if t == 'c64' else 1e-12, c=np.cumsum(z[0]))
        a, b = numbers(t, 4, 6), numbers(t, 6, 3, seed=2)
        ok('c[i,j] = sum(k: a[i,k] * b[k,j])', dict(a=a, b=b), e, c=a @ b)
        ok('n = sqrt(sum(i,j: re(a[i,j] * conj(a[i,j]))))', dict(a=a), e, n=np.sqrt((a * a.conj()).real.sum()))
        ok('y[...] = 2j * z[...] - w[...]', dict(z=a, w=a[0]), e, y=2j * a - a[0])
        ok('s = sum(...: z[...])', dict(z=a), e, s=a.sum())
    ok('s = sum(i: z[i])\nm = mean(i: z[i])', dict(z=np.empty(0, np.complex128)), s=np.complex128(0), m=np.complex128(complex(nan, nan)))
    ok('s = sum(i: x[i] * 1j)', dict(x=some('f32')), s=np.complex64(6j))


def assignments():
    z, w = numbers('c128', 6), numbers('c128', 6, seed=2)
    ok('z[i] = z[i] * w[i]', dict(z=z, w=w), 1e-14, z=z * w)
    ok('z[i] *= w[i]\nw[i] /= z[i]', dict(z=z, w=w), 1e-13, z=z * w, w=w / (z * w))
    ok('z[i] += w[i] * z[i]\nz[i] -= conj(z[i])', dict(z=z, w=w), 1e-13, z=(z + w * z) - (z + w * z).conj())
    ok('z[i] = conj(z[5-i])', dict(z=z), z=z[::-1].conj())
    ok('z[i] *= 2\nw[2*i+1] *= 1j where i in 0..3', dict(z=z, w=w), 1e-15, z=z * 2, w=np.where(np.arange(6) % 2, w * 1j, w))
    ok('s = 0.0\ns += z[0]\ns = s * s + 1\ns *= s\nt = s / 2j', dict(z=z), 1e-13, s=(z[0] ** 2 + 1) ** 2, t=(z[0] ** 2 + 1) ** 2 / 2j)
    ok('out y: c64[4], x: c128[2] = 1j\ny[0] = z[1]\ny[3] = 2', dict(z=z), y=np.array([z[1], 0, 0, 2]).astype(np.complex64), x=np.full(2, 1j))
    ok('out y[3]\ny[i] = z[i] where i in 0..3', dict(z=z), y=z[:3])
    b = np.array([0, 2, 2, 1, 0, 2]); h = np.zeros(3, np.complex128); np.add.at(h, b, z)
    ok('out h: c128[3]\nh[b[i]] += z[i]', dict(z=z, b=b), 1e-14, h=h)
    ok('out h: c128[3]\nh[b[i]] = z[i]', dict(z=z, b=b), h=np.array([z[4], z[3], z[5]]))
    ok('out t: c128\nt += z[i]', dict(z=z), 1e-14, t=z.sum())
    ok('y[i] = z[i-1] + z[i+1] else 1j', dict(z=z), y=np.concatenate([[1j], z[:-2] + z[2:], [1j]]))
    ok('edge z wrap\ny[i] = z[i+1]', dict(z=z), y=np.roll(z, -1))
    ok('edge z fill(2 - 1j)\ny[i] = z[i-1]\nedge z fill(x[0])\nv[i] = z[i-1]', dict(z=z, x=np.array([7.0])), y=np.concatenate([[2 - 1j], z[:-1]]), v=np.concatenate([[7], z[:-1]]))
    ok('def mul(a, b) = a * b\ny[i] = mul(z[i], mul(z[i], z[i]))', dict(z=z), 1e-14, y=z * (z * z))
    ok('in z: c128[n], a = 1j, k: c64 = 2\ny[i] = z[i] * a * k * n', dict(z=z), 1e-14, y=z * 1j * 2 * 6)
    ok('in a: c64\ny = a + 1', dict(a=2.5), y=np.complex64(3.5))
    ok('in a: c64\ny = a * a', dict(a=1 + 2j), y=np.complex64(-3 + 4j))
    ok('y[i] = x[i] * a', dict(x=np.array([1, 2], np.float32), a=0 - 1.5j), y=np.array([-1.5j, -3j], np.complex64) + 0)
    ok('y[i] = z[p[i]]', dict(z=z, p=b), y=z[b])
    one = np.exp(0.1j); ok('y = ' + ' * '.join(['z'] * 600), dict(z=np.complex128(one)), 1e-12, y=one ** 600)   # shared, not repeated
    ok('y = ' + ' / '.join(['1'] + ['z'] * 100), dict(z=np.complex128(one)), 1e-12, y=one ** -100)
    results('y[i] = z[i] * 2', dict(z=z), 'y')


def programs():
    z = numbers('c128', 32)
    ok('n = len(z, 0)\ny[k] = sum(i: z[i] * exp(-2j * pi * (i*k % n) / n)) where k in 0..n', dict(z=z), 1e-12, y=np.fft.fft(z))
    text = ('n = len(x, 0)\nm = n / 2\nvar h: i64 = n / 2\nvar s: i64 = 1\nvar a: c128[n]\na[i] = x[i]\n').replace('n / 2', 'n // 2')
    text += 'while h > 0 {\n  b[k] = (k // s % 2 == 0) ? a[k // (2*s) * s + k % s] + a[k // (2*s) * s + k % s + n // 2] * exp(-1j * pi * (k % s) / s) ' \
            ': a[k // (2*s) * s + k % s] - a[k // (2*s) * s + k % s + n // 2] * exp(-1j * pi * (k % s) / s) where k in 0..n\n'
    text += '  a[k] = b[k]\n  s = s * 2\n  h = h // 2\n}\nout y: c128[n]\ny[i] = a[i]'
    ok(text.replace('m = n // 2\n', ''), dict(x=z), 1e-11, y=np.fft.fft(z))
    c = np.array([[complex(3 * x / 16 - 2, 2 * y / 8 - 1) for x in range(16)] for y in range(8)])
    def steps(c):
        z = 0j; k = 0
        while k < 40 and z.real ** 2 + z.imag ** 2 <= 4: z = z * z + c; k += 1
        return k
    want = np.vectorize(steps)(c).astype(np.int64)
    ok('def mandel(c, n) {\n  z = 0j; k = 0\n  while k < n && abs(z) <= 2 { z = z*z + c; k += 1 }\n  return k\n}\nit[y,x] = mandel(c128(3*x/16 - 2, 2*y/8 - 1), 40) where y in 0..8, x in 0..16',
       {}, it=want)
    ok('out it: i64[8,16]\neach y in 0..8, x in 0..16 {\n  c = c128(3*x/16 - 2, 2*y/8 - 1); var z: c128; k = 0\n  while k < 40 && abs(z) <= 2 { z *= z; z += c; k += 1 }\n  it[y,x] = k\n}',
       {}, it=want)
    ok('def last(c) {\n  z = c\n  for t in 0..3 { z = z*z + c }\n  return z\n}\ny[i] = last(z[i] / 2)', dict(z=z), 1e-12, y=((((z/2)**2 + z/2)**2 + z/2)**2 + z/2))
    ok('s = 0j\nfor t in 0..5 { s = s * 0.5 + z[t] }', dict(z=z), 1e-13, s=((((z[0] / 2 + z[1]) / 2 + z[2]) / 2 + z[3]) / 2 + z[4]))
    u = z[:8]
    ok('for t in 0..4 { z[i] = z[i]*z[i] / (1 + abs(z[i])) }', dict(z=u), 1e-11, z=turn(u, 4))
    ok('out y: c128[8]\neach i { s = 0j; for j in 0..8 { s += z[j] * z[i] }; y[i] = s; y[i] *= 2 }', dict(z=u), 1e-12, y=u.sum() * u * 2)
    ok('var s: c128\nif any(i: im(z[i])) { s = z[0] } else { s = z[1] }', dict(z=u), s=u[0])
    x, y = (numbers('c64', 9, 100, seed=k) for k in (3, 4))
    z = y.copy(); z[1:, 1:] = y[:-1, :-1] - x[1:, 1:]
    ok('v[i,j] = c64(y[i,j])\ny[i,j] = c64(v[i-1,j-1] - x[i,j]) where i in 1..len(x,0), j in 1..len(x,1)\nw[i,j] = y[i,j] - x[i,j]', dict(x=x, y=y),
       v=y, y=z, w=z - x)


def turn(z, n):
    for _ in range(n): z = z * z / (1 + abs(z))
    return z


def errors():
    z = dict(z=numbers('c128', 3))
    for text in ('y[i] = z[i] < 1', 'y[i] = 1 >= z[i]', 'y[i] = max(z[i], 1)', 'y[i] = clamp(z[i], 0, 1)', 'y = max(i: z[i])', 'y = argmin(i: z[i])',
                 'z[i] min= 1', 'y = 1j\ny max= 2'):
        bad(text, z, 'complex')
    for text in ('y[i] = sin(z[i])', 'y[i] = floor(z[i])', 'y[i] = isnan(z[i])', 'y[i] = z[i] % 2', 'y[i] = z[i] // 2', 'y[i] = sign(z[i])'):
        bad(text, z, 'is not defined for complex numbers')
    bad('y[i] = z[i] & 1', z, 'needs integers, not c128')
    bad('out y: f64[3]\ny[i] = z[i]', z, "assigning c128 to 'y' (f64)", 're(...)')
    bad('out y: i32[3]\ny[i] = z[i]', z, "assigning c128 to 'y' (i32)")
    bad('x[i] += z[i]', dict(z, x=np.zeros(3)), "assigning c128 to 'x' (f64)")
    bad('y = c128(z[0], 1)', z, 'must be real')
    bad('y = c128(1, 2, 3)', {}, "'c128' takes")
    bad('y = re(1, 2)', {}, "'re' takes 1 argument")
    bad('y[i] = x[2j]', dict(x=np.zeros(3)), 'must be an integer')
    bad('y = sum(i in 0..2j: 1)', {}, 'must be an integer')
    bad('edge x fill(2j)\ny[i] = x[i-1]', dict(x=np.zeros(3)), 'filled with c128')
    bad('in a: f64\ny = a', dict(a=1 + 2j), 'complex')
    bad('in z: f64[n]\ny[i] = z[i]', z, 'c128', 'declared f64')
    bad('y[i] = z[i] * w[i]', dict(z, w=np.zeros(4)), 'axis')
    bad('y[i] = im(z[i+1]) where i in 0..3', z, 'z axis 0')


def cases():
    begin('complex', 'Complex numbers.')
    promotion(); operations(); ends(); reductions(); assignments(); programs(); errors()
