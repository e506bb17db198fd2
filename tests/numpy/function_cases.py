"""Functions over every type."""
import math
import scipy.special as sp
from caselib import *

RTOL = {'f16': 1.5e-3, 'bf16': 1.2e-2, 'f32': 1.5e-6, 'f64': 8e-15}
ANY = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.5, 10.0, -10.0, 0.001, inf, -inf, nan]
NARROW = [0.0, 0.5, -0.5, 1.0, -1.0, 0.25, -0.875, 2.0, -2.0, nan]
ONE = {'sqrt': (np.sqrt, ANY), 'rsqrt': (lambda x: 1 / np.sqrt(x), ANY[2:]), 'cbrt': (np.cbrt, ANY), 'exp': (np.exp, ANY), 'exp2': (np.exp2, ANY),
       'expm1': (np.expm1, ANY), 'log': (np.log, ANY), 'log2': (np.log2, ANY), 'log10': (np.log10, ANY), 'log1p': (np.log1p, ANY),
       'sin': (np.sin, ANY), 'cos': (np.cos, ANY), 'tan': (np.tan, ANY), 'asin': (np.arcsin, NARROW), 'acos': (np.arccos, NARROW),
       'atan': (np.arctan, ANY), 'sinh': (np.sinh, ANY), 'cosh': (np.cosh, ANY), 'tanh': (np.tanh, ANY), 'asinh': (np.arcsinh, ANY),
       'acosh': (np.arccosh, [1.0, 1.5, 2.0, 10.0, 0.5, inf, nan]), 'atanh': (np.arctanh, NARROW), 'erf': (sp.erf, ANY),
       'erfc': (sp.erfc, [0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, inf, -inf, nan]),
       'lgamma': (sp.gammaln, [0.5, 1.0, 2.0, 3.5, 10.0, 0.125, inf, nan]),
       'tgamma': (sp.gamma, [0.5, 1.0, 2.0, 3.5, 5.0, -1.5, -0.5, inf, nan])}
TWO = {'atan2': np.arctan2, 'hypot': np.hypot}


def of(t, f, *xs):
    """f in f64 (of one or more values), rounded to the float type that a function of t has in the language."""
    r = to_float(t)
    return f(*(x.astype(np.float64) for x in xs)).astype(np.float32 if r == 'bf16' else DTYPES[r]).astype(DTYPES[r])


def floats():
    begin('functions', 'Functions over every type: of integers and bools in f64, of floats in their own type.')
    for t in TYPES:
        for part in (list(ONE)[:13], list(ONE)[13:]):
            ins, outs, text = {}, {}, []
            for n in part:
                f, v = ONE[n]
                if not is_float(t): v = sorted({int(abs(k)) for k in v if math.isfinite(k)} & ({0, 1} if t == 'bool' or n in ('atanh',) else {0, 1, 2, 3, 10}))
                if n in ('lgamma', 'acosh') and not is_float(t): v = [k for k in v if k >= 1] or [1]
                if n == 'tgamma' and not is_float(t): v = [k for k in v if k >= 1] or [1]
                a = arr(t, v); ins['x_' + n] = a; outs['y_' + n] = of(t, f, a)
                text.append('y_%s[i] = %s(x_%s[i])' % (n, n, n))
            ok('\n'.join(text), ins, RTOL[to_float(t)], **outs)
        a = arr(t, [0, 1, 1, 0]) if not is_float(t) else arr(t, [0.0, 1.0, -1.5, 3.0, inf, nan])
        b = arr(t, [1, 0, 1, 1]) if not is_float(t) else arr(t, [1.0, -1.0, 2.0, -4.0, 1.0, 1.0])
        ok('\n'.join('%s[i] = %s(a[i], b[i])' % ('y_' + n, n) for n in TWO), dict(a=a, b=b), RTOL[to_float(t)],
           **{'y_' + n: of(t, f, a, b) for n, f in TWO.items()})


def choosing():
    begin('choosing', 'min, max, fmin, fmax, clamp, fma: min and max return NaN for NaN, fmin and fmax ignore it.')
    for t in TYPES:
        a = arr(t, [1, 0, 1, 1]) if not is_float(t) else arr(t, [1.0, nan, 3.0, nan, -2.0])
        b = arr(t, [0, 0, 1, 0]) if not is_float(t) else arr(t, [2.0, 2.0, nan, nan, -3.0])
        fl = lambda f: f(a.astype(np.float64), b.astype(np.float64)).astype(DTYPES[t]) if is_float(t) else f(a, b)
        ok('w[i] = min(a[i], b[i])\nx[i] = max(a[i], b[i])\ny[i] = fmin(a[i], b[i])\nz[i] = fmax(a[i], b[i])', dict(a=a, b=b),
           w=fl(np.minimum), x=fl(np.maximum), y=fl(np.fmin), z=fl(np.fmax))
        if t == 'bool': continue
        c = arr(t, [0, 1, 5, 9, 100])
        ok('y[i] = clamp(c[i], 1, 9)', dict(c=c), y=np.clip(c.astype(np.float64), 1, 9).astype(DTYPES[t]))
        p, q, r = arr(t, [1, 2, 3]), arr(t, [4, 5, 6]), arr(t, [7, 8, 9]); f = to_float(t)
        ok('y[i] = fma(p[i], q[i], r[i])', dict(p=p, q=q, r=r), y=arr(f, [11, 18, 27]))
    one = np.float32(1 + 2**-12)
    ok('y = fma(a, a, b)', dict(a=one, b=np.float32(-1)), y=np.float32(np.float64(one) * np.float64(one) - 1))
    ok('y[i] = max(a[i], 0)\nz[i] = min(1.5, h[i])', dict(a=arr('i8', [-3, 4]), h=arr('f16', [1, 2])), y=arr('i8', [0, 4]), z=arr('f16', [1, 1.5]))
    ok('y[i] = clamp(x[i], lo[i], hi[i])', dict(x=arr('f32', [1, 5, -4]), lo=arr('f64', [2, 2, -1]), hi=arr('i32', [3, 3, 3])), y=arr('f64', [2, 3, -1]))


def weak_arguments():
    begin('functions_weak', 'Functions of literals, sizes and indices.')
    f64 = np.float64
    ok('a = sqrt(4)\nb = exp(0)\nc = floor(2.5)\nd = abs(-3)\ne = max(2, 3)\nf = max(2, 3.5)\ng = round(2.5)\nh = atan2(0, 1)\nl = sign(-2)', {},
       a=f64(2), b=f64(1), c=f64(2), d=np.int64(3), e=np.int64(3), f=f64(3.5), g=f64(2), h=f64(0), l=np.int64(-1))
    ok('y[i] = sqrt(i) where i in 0..5', {}, 1e-14, y=np.sqrt(np.arange(5.0)))
    ok('y[i] = x[i] * sqrt(i)', dict(x=arr('f32', [1, 2, 3])), 1e-6, y=(np.float32([1, 2, 3]) * np.sqrt(np.arange(3, dtype=np.float32))))
    ok('y[i] = x[i] / len(x, 0)\nz = len(x, -1)', dict(x=arr('f32', [1, 2, 3, 4])), y=arr('f32', [.25, .5, .75, 1]), z=np.int64(4))
    ok('y = len(m, 0) * 10 + len(m, 1)\nz = len(m, -1)', dict(m=np.zeros((2, 3))), y=np.int64(23), z=np.int64(3))
    bad('y = sqrt(1, 2)', {}, 'sqrt')
    bad('y = sqrt()', {}, 'sqrt')
    bad('y = frobnicate(1)', {}, 'frobnicate')
    bad('y = len(x, 5)\nz[i] = x[i]', dict(x=arr('f32', [1])), 'len')
    n = 2500
    x = (np.arange(n) % 89 - 44) / np.float32(16)
    ok('x[i] = f32(i %% 89 - 44) / 16 where i in 0..%d\ny[i] = exp(-x[i]*x[i]) * sin(x[i])\ns = max(i: y[i])\nt = min(i: y[i])\nk = argmax(i: x[i])' % n,
       {}, {'y': 2e-6, 's': 2e-6, 't': 2e-6}, y=(np.exp(-x.astype(f64)**2) * np.sin(x.astype(f64))).astype(np.float32),
       s=np.float32((np.exp(-x.astype(f64)**2) * np.sin(x.astype(f64))).max()), t=np.float32((np.exp(-x.astype(f64)**2) * np.sin(x.astype(f64))).min()),
       k=np.int64(np.argmax(x)))


def cases():
    floats(); choosing(); weak_arguments()
