"""Sums of complex numbers inside sums, through defs. Each is computed once for both parts. The oracle is the same recursion in Python."""
import numpy as np
from caselib import begin, ok
from complex_cases import numbers

LINKS = 15  # a statement has 16 indices


def chain(first, link, count):
    f = first
    for k in range(count): f = link(f)
    return f


def text(first, link, count):
    """Defs f0 ... f<count>: `#` is the number of the def, `@` the number of the one before."""
    return '\n'.join([first] + [link.replace('#', str(k)).replace('@', str(k - 1)) for k in range(1, count + 1)]) + '\n'


def over(x, f): return np.array([f(z, i) for i, z in enumerate(x)])


def chains():
    x = numbers('c128', 3); m = numbers('c128', 3, 4, seed=2); n = np.array([2, 0, 3])
    half = lambda f: lambda z, i: sum(f(z / 2 + k * 0.1j, i) for k in range(2)) * (0.3 + 0.1j)
    want = over(x, chain(lambda z, i: z * (1 + 0.1j), half, 10))
    for link in ('def f#(z) = sum(k in 0..2: f@(z / 2 + k * 0.1j)) * (0.3 + 0.1j)',
                 'def f#(z) {\n  return sum(k in 0..2: f@(z / 2 + k * 0.1j)) * (0.3 + 0.1j)\n}',
                 'def f#(z) {\n  w = sum(k in 0..2: f@(z / 2 + k * 0.1j))\n  return w * (0.3 + 0.1j)\n}',
                 'def f#(z) {\n  var w = 2j\n  for t in 0..2 { w = sum(k in 0..2: f@(z / 2 + k * 0.1j)) }\n  return w * (0.3 + 0.1j)\n}'):
        count = 10 if 'for' not in link else 4
        y = want if count == 10 else over(x, chain(lambda z, i: z * (1 + 0.1j), half, count))
        ok(text('def f0(z) = z * (1 + 0.1j)', link, count) + 'y[i] = f%d(x[i])' % count, dict(x=x), 1e-12, y=y)
    one = lambda f: lambda z, i: f(z * 1j, i) + z
    ok(text('def f0(z) {\n  return z\n}', 'def f#(z) {\n  return mean(k in 0..1: f@(z * 1j)) + z\n}', LINKS) + f'y[i] = f{LINKS}(x[i])', dict(x=x), 1e-12,
       y=over(x, chain(lambda z, i: z, one, LINKS)))
    rows = lambda f: lambda z, i: sum((f(z * m[i, k], i) for k in range(n[i])), 0j) + z
    ok(text('def f0(z, i) = z * x[i]', 'def f#(z, i) = sum(k in 0..n[i]: f@(z * m[i,k], i)) + z', 4) + 'y[i] = f4(x[i], i)', dict(x=x, m=m, n=n), 1e-12,
       y=over(x, chain(lambda z, i: z * x[i], rows, 4)))
    chosen = lambda f: lambda z, i: sum(f(z - 0.2 * k, i) for k in range(3)) / 3 if z.real > 0.3 else z * 0.9j
    ok(text('def f0(z) = z + 0.5', 'def f#(z) = re(z) > 0.3 ? mean(k in 0..3: f@(z - 0.2 * k)) : z * 0.9j', 6) + 'y[i] = f6(x[i])', dict(x=x), 1e-12,
       y=over(x, chain(lambda z, i: z + 0.5, chosen, 6)))
    product = lambda f: lambda z, i: np.prod([sum(f(z + 0.1 * k - 0.2j * q, i) for q in range(2)) for k in range(2)])
    ok(text('def f0(z) = z / 2', 'def f#(z) = prod(k in 0..2: sum(q in 0..2: f@(z + 0.1 * k - 0.2j * q)))', 3) + 'y[i] = f3(x[i])', dict(x=x), 1e-12,
       y=over(x, chain(lambda z, i: z / 2, product, 3)))


def statements():
    x = numbers('c128', 4, seed=3); m = numbers('c128', 4, 5, seed=4)
    inner = [[[sum(m[i, q] * x[p] * (p + q * 1j) for q in range(p + 1)) * m[i, p] * r for p in range(3)] for r in range(3)] for i in range(4)]
    want = np.array([[sum(row) * (r - 1j) for r, row in enumerate(rows)] for rows in inner]).sum(axis=1)
    ok('y[i] = sum(r in 0..3: sum(p in 0..3: sum(q in 0..p+1: m[i,q] * x[p] * (p + q * 1j)) * m[i,p] * r) * (r - 1j))', dict(x=x, m=m), 1e-12, y=want)
    ok('y = sum(i: sum(r in 0..3: sum(p in 0..3: sum(q in 0..p+1: m[i,q] * x[p] * (p + q * 1j)) * m[i,p] * r) * (r - 1j)))', dict(x=x, m=m), 1e-12,
       y=want.sum())
    ok('out y: c128[4]\neach i {\n  s = sum(r in 0..3: sum(p in 0..3: sum(q in 0..p+1: m[i,q] * x[p] * (p + q * 1j)) * m[i,p] * r) * (r - 1j))\n  y[i] = s\n  y[i] += s\n}',
       dict(x=x, m=m), 1e-12, y=want * 2)


def masks():
    """Under a condition that is the same for all lanes, a def's block runs in the lanes of the sum around it."""
    x = np.array([1.6, 0.7, 1.1, 0.2, 2.1]); m = np.random.default_rng(5).uniform(-1, 1, (5, 4)); n = np.array([0, 3, 1, 2, 4])
    def g(z, i): return np.prod(z * m[i, 1:4]) + z
    def h(z, i): return sum((g(x[k] * z, i) for k in range(n[i])), 0.0) if z > 0.5 else z * 0.5
    ok('def g(z, i) {\n  var p = 1.0\n  for k in 1..4 { p = p * z * m[i,k] }\n  return p + z\n}\n'
       'def h(z, i) = z > 0.5 ? sum(k in 0..n[i]: g(x[k] * z, i)) : z * 0.5\n'
       'y[i] = sum(q in 0..3: h(x[q] * x[i], i))', dict(x=x, m=m, n=n), 1e-12,
       y=np.array([sum(h(x[q] * x[i], i) for q in range(3)) for i in range(5)]))


def cases():
    begin('nested_sums', 'Sums of complex numbers inside sums, through defs, and under conditions.')
    chains(); statements(); masks()
