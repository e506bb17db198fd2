"""Text: lines, numbers, precedence, names, defs, results, limits, and errors in a program's text."""
from caselib import *

i64, f64 = np.int64, np.float64
X = dict(x=arr('f64', [3, -1, 2, 5]))
x = X['x']
TRUE = np.bool_(True)


def lines_and_numbers():
    begin('text', 'Lines, comments, numbers and precedence.')
    for text in ('y[i] = (x[i]\n + x[i]\n)', 'y[i] = x[i]\n  + x[i]', 'y[i] = x[i] +   # a comment\n\n   # another\n x[i]', 'y[i] = x[i] + x[i];', '; ;y[i]=2*x[i] ; # end',
                 'in\tx\n\ty[i]\t=\tx[i]*2', 'y [i] = x [i] * 2', 'y[\ni\n] = max(x[i],\n -1000) * 2', 'y[i] = x[i] > 0\n ? x[i] * 2\n : x[i] * 2', 'y[i] = x[i] * 2\r\n'):
        ok(text, X, y=x * 2)
    ok('o[i] = x[i-1]\n  else 0', X, o=arr('f64', [0, 3, -1, 2]))
    ok('o[i] = x[i-1]\n  else 0\n  where i in 0..3', X, o=arr('f64', [0, 3, -1]))
    ok('y = 1  # caf\u00e9 \u2014 \u03b1', {}, y=i64(1))
    for text, value in (('2.0**-1', f64(.5)), ('10 - 3 - 2', i64(5)), ('1 << 2 + 1', i64(8)), ('1 | 6 ^ 3 & 2', i64(1 | (6 ^ (3 & 2)))), ('!0 == 1', TRUE), ('0 ? 1 : 0 ? 2 : 3', i64(3)),
                        ('1 + 2 < 4 && 1 < 2', TRUE), ('(1 == 1) == 1', TRUE), ('-2**2', i64(-4)), ('2**3**2', i64(512)), ('2 + 3 * 4', i64(14)), ('7 // 2 * 2', i64(6)), ('-7 % 3', i64(2)),
                        ('1 || 0 && 0', TRUE), ('6 & 3 == 2', np.bool_((6 & 3) == 2)), ('~5', i64(-6)), ('1.+2', f64(3)), ('.5e1', f64(5)), ('1e-2', f64(.01)), ('0xff', i64(255)), ('1E3', f64(1000)),
                        ('8 / 4 / 2', f64(1)), ('-1 >> 1', i64(-1)), ('1 < 2 ? 10 : 20', i64(10)), ('true + true', np.bool_(True)), ('true - true', i64(0)), ('inf - inf', f64(nan)), ('--3', i64(3)),
                        ('!3', np.bool_(False)), ('2 ** 0.5', f64(2 ** .5)), ('9007199254740993', i64(9007199254740993)), ('pi', f64(np.pi))):
        ok('y = ' + text, {}, 1e-15 if '0.5' in text or 'e-2' in text else None, y=value)
    ok('y[i] = i*0x10 where i in 0..3', {}, y=arr('i64', [0, 16, 32]))
    for text, word in (('y = 0x', ''), ('y = (', ''), ('y = 1 +', ''), ('y[i] = x[i] +* 2', ''), ('', ''), ('# only a comment', ''), ('y = 1 2', ''), ('y = 1..2', ''), ('y == 3', ''), ('= 3', ''), ('y[i = x[i]', ''),
                       ('y = $', ''), ('y = 3 @ 4', '@'), ('a[i] = x[i] b[i] = x[i]', 'b'), ('y = "text"', ''), ('y = 1e', ''), ('in 3', ''), ('y[] = 3', ''), ('edge x', ''), ('y = sum(k)', '')):
        bad(text, X if 'x[' in text else {}, *word.split())
    bad('y[i] = 0 <= x[i] <= 1 ? 1 : 0', X, 'chain')
    bad('a[i] = x[i] * wrong1\nb[i] = x[i] + wrong2', X, 'wrong1', 'wrong2', code=2)


def names():
    begin('names', 'Inputs, sizes, results, defs, reserved words.')
    ok('in x[n]\ny[i] = x[n-1-i]', X, y=x[::-1])
    ok('in a[n,m], b[m,n]\ny[i,j] = a[i,j] + b[j,i] + n*10 + m', dict(a=np.zeros((2, 3)), b=np.ones((3, 2))), y=np.full((2, 3), 24.))
    ok('in m[2,2]\ny[i] = m[i,0]', dict(m=arr('f64', [[3, 2], [1, 0]])), y=arr('f64', [3, 1]))
    ok('in a[n], b[n+1]\ny[i] = a[i] + b[i+1]', dict(a=arr('f64', [1, 2]), b=arr('f64', [1, 2, 3])), y=arr('f64', [3, 5]))
    ok('in x: f64[n], k: i64\ny[i] = x[i] * k', dict(X, k=i64(2)), y=x * 2)
    ok('def sq(z) = z * z\ny[i] = sq(x[i] + 1)', X, y=(x + 1)**2)
    ok('def tot(a) = sum(k: x[k] * a)\ny[k] = tot(w[k])', dict(X, w=arr('f64', [1, 2])), y=arr('f64', [9, 18]))
    ok('def g(a) = a + 1\ndef f(a) = g(g(a)) * 2\ny = f(f(1))', {}, y=i64(16))
    ok('def c() = 4\ny = c() + 1', {}, y=i64(5))
    ok('s = 2\ndef f(a) = a * s\ny[i] = f(x[i])', X, y=x * 2)
    ok('def d(f, i) = f[i]\na[j] = d(x, j)\nb[j] = d(x, 3-j)', X, a=x, b=x[::-1])
    ok('def avg(f, i, r) = sum(k in 0-r..r+1: f[i+k]) / (2*r+1)\nedge x clamp\ny[i] = avg(x, i, 1)', X, 1e-14, y=np.convolve(np.pad(x, 1, 'edge'), np.ones(3), 'valid') / 3)
    ok('def mix(a, b, t) = a + (b - a) * t\ny[i] = mix(x[i], 10, 0.5)', X, y=x + (10 - x) * .5)
    ok('k = argmax(i: x[i])\ny = x[k]', X, y=f64(5))
    ok('first[i] = x[i] + 1\nsecond[i] = first[i] * 2', X, second=(x + 1) * 2, first=x + 1)
    for word in 'max sum mean argmin any pi inf nan true false f32 bool c128 in for where by'.split(): bad('%s = 3' % word, {})
    bad('y[sum] = x[sum]', X, 'sum')
    bad('y[i] = x[i+k]', X, 'k')
    bad('e[i] = x[i]\ns = sum(e: x[e])', X, 'e')
    bad('y = x', X, 'x')
    bad('y[i] = x[i,0]', X, 'x')
    bad('in n\ny[i] = n[i]', dict(n=3), 'n')
    bad('in x: f32[n]\ny[i] = x[i]', X, 'f32')
    bad('in m[n,n]\ny[i] = m[i,i]', dict(m=arr('f64', [[1, 2]])), 'm')
    bad('in x[n], w[n-1]\ny[i] = x[i+1] - w[i]', dict(X, w=arr('f64', [1, 2])), 'w')
    bad('def f(a) = g(a)\ndef g(a) = a\ny = f(1)', {}, 'g')
    bad('def f(a) = f(a)\ny = f(1)', {}, 'f')
    bad('def f(a, a) = a\ny = f(1, 2)', {}, 'a')
    bad('def f(a) = a\ny = f(1, 2)', {}, 'f')
    bad('y[i] = x[i] * m[i]\nb[i] = frob(x[i])', dict(X, m=arr('f64', [[1]])), 'frob')
    bad('y[i] = x[i] * k', X, 'k', code=2)
    bad('y[i] = x[i] + w[i]', X, 'w', code=2)
    bad('y[i] = x[i]', dict(X, extra=1), 'extra', code=2)
    ok('y = 0\nfor t in 0..3 { y = t }', {}, y=2)
    bad('y = 0\nwhile y < 1 { y = 1 }', {}, 'no', 'result')
    ok('y = 0\nif 1 { y = 1 }', {}, y=1)
    same = arr('f64', [3, -1, 2, 5]); ok('in x\nout y: f64[4]\neach i { y[i] = x[i] }', dict(x=same), y=same)
    ok('def f(a) { return a }\ny = f(1)', {}, y=1)
    ok('var s = sum(k in 0..3: 3)\nvar t = sum(k: x[k])\nvar u = sum(k in 0..2: x[k])\nout r: f64[3]\nr[0] = s\nr[1] = t\nr[2] = u', dict(x=arr('f64', [1, 2, 3, 4])), r=arr('f64', [9, 10, 3]))


def default_results():
    begin('results', 'Default results, if no names are requested.')
    w = dict(w=arr('f64', [1, 2]))
    results('first[i] = x[i] + 1\nsecond[i] = x[i] * 2', X, 'first second')
    results('first[i] = x[i] + 1\nsecond[i] = first[i] * 2', X, 'second')
    results('w[i] = w[i] + 1\ntotal = sum(i: w[i])', w, 'w total')
    results('w[i] += 1', w, 'w')
    results('t[i] = w[i]\nt[i] += 1', w, 't')
    results('out b: f64[2], a: f64[2]\na[i] = w[i]\nb[i] = a[i]\nc[i] = b[i]', w, 'b a')
    results('a[i] = w[i]\nb[i] = a[i]\nout a', w, 'a')
    results('in w\nout w\nw[0] = 7\nv[i] = w[i]', w, 'w')
    results('var t: f64[2]\nt[i] = w[i]\ny[i] = t[i]', w, 'y')
    results('s = 1; t = s + 1; u = 3', {}, 't u')
    results('def f(a) = a + 1\ny = f(1)', {}, 'y')
    bad('in w\nedge w clamp', w)


def pipelines():
    """Programs of several statements, as people write them."""
    begin('pipelines', 'Programs of several statements, compared with NumPy.')
    r = np.random.default_rng(11)
    a = r.random((300, 7)); mu = a.mean(0); cc = (a - mu).T @ (a - mu) / 299
    ok('in data[n, m]\nmu[j] = mean(i: data[i,j])\nd[i,j] = data[i,j] - mu[j]\ncov[i,j] = sum(k: d[k,i] * d[k,j]) / (n - 1)\nsd[j] = sqrt(cov[j,j])\ncorr[i,j] = cov[i,j] / (sd[i] * sd[j])', dict(data=a), 1e-11,
       mu=mu, cov=cc, corr=np.corrcoef(a.T))
    A, B, C, D = (r.integers(-4, 5, s).astype(f64) for s in ((5, 6), (6, 4), (4, 7), (7, 3)))
    ok('E[i,j] = sum(k: A[i,k] * B[k,j])\nF[i,j] = sum(k: C[i,k] * D[k,j])\nG[i,j] = sum(k: E[i,k] * F[k,j])', dict(A=A, B=B, C=C, D=D), G=A @ B @ C @ D)
    w = r.random(3000).astype(np.float32)
    ok('lo = min(i: w[i])\nhi = max(i: w[i])\nu[i] = (w[i] - lo) / (hi - lo)\nn = sum(i: u[i] > 0.5)\nk = argmax(i: w[i])\nt = w[k]\nc[i] = u[i] where i in 0..10', dict(w=w), dict(c=1e-6),
       n=i64((((w - w.min()) / (w.max() - w.min())) > .5).sum()), k=i64(w.argmax()), t=w.max(), c=((w - w.min()) / (w.max() - w.min()))[:10])
    f = r.random((4, 6, 5)).astype(np.float32)
    ok('s[i,k] = sum(j: f[i,j,k])\nt[j] = sum(i,k: f[i,j,k] * s[i,k])\nu[i,j,k] = f[i,j,k] / (1 + s[i,k]) + t[j]', dict(f=f), 2e-6, t=np.einsum('ijk,ik->j', f.astype(f64), f.astype(f64).sum(1)).astype(np.float32),
       u=(f.astype(f64) / (1 + f.astype(f64).sum(1))[:, None] + np.einsum('ijk,ik->j', f.astype(f64), f.astype(f64).sum(1))[None, :, None]).astype(np.float32))


def cases():
    lines_and_numbers(); names(); default_results(); pipelines()
