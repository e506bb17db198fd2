"""Operators over all pairs of types: values and result types; weak numbers; casts."""
from fractions import Fraction
from caselib import *

LEFT = {'i': [0, 1, -1, 7, -7, 100, 'max', 'min', 5, 'max', 3, 'min'], 'u': [0, 1, 200, 7, 6, 100, 'max', 'max', 5, 'max', 3, 0],
        'f': [0.0, 1.0, -1.0, 7.5, -7.5, 100.0, inf, -inf, nan, 2.5, 3.0, -0.75], 'b': [0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0]}
RIGHT = {'i': [3, 0, 2, 2, 2, -3, 'max', -1, 9, 1, -1, 3], 'u': [3, 0, 2, 2, 2, 7, 'max', 1, 9, 3, 70, 3],
         'f': [2.0, 0.0, 0.5, 2.5, 2.0, -3.0, 2.0, 4.0, 1.0, nan, -2.0, 3.0], 'b': [1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1]}


def values(table, t):
    v = table['b' if t == 'bool' else 'f' if is_float(t) else t[0]]
    if is_int(t): low, high = ends(t); v = [low if x == 'min' else high if x == 'max' else x for x in v]
    return arr(t, v)


def as_ints(x): return [int(v) for v in x.reshape(-1).tolist()]


def int_power(a, b): return 0 if b < 0 else pow(a, b, 1 << 64) if b > 64 else a ** b     # NumPy refuses a negative power


def int_op(op, x, y, t):
    """Integers: they wrap; division by zero gives 0; shifts past the width give 0, or -1 for a negative one to the right."""
    bits = DTYPES[t].itemsize * 8
    f = {'+': lambda a, b: a + b, '-': lambda a, b: a - b, '*': lambda a, b: a * b, '//': lambda a, b: a // b if b else 0,
         '%': lambda a, b: a % b if b else 0, '**': int_power, '&': lambda a, b: a & b, '|': lambda a, b: a | b, '^': lambda a, b: a ^ b,
         '<<': lambda a, b: a << b if 0 <= b < bits else 0, '>>': lambda a, b: a >> b if 0 <= b < bits else -1 if a < 0 else 0}[op]
    out = arr(t, [wrap(f(a, b), t) for a, b in zip(as_ints(cast(x, t)), as_ints(cast(y, t)))])
    check_numpy(op, cast(x, t), cast(y, t), out, bits)
    return out


NUMPY = {'+': np.add, '-': np.subtract, '*': np.multiply, '/': np.true_divide, '//': np.floor_divide, '%': np.remainder, '**': np.power,
         '&': np.bitwise_and, '|': np.bitwise_or, '^': np.bitwise_xor, '<<': np.left_shift, '>>': np.right_shift, '<': np.less,
         '<=': np.less_equal, '>': np.greater, '>=': np.greater_equal, '==': np.equal, '!=': np.not_equal}


def check_numpy(op, x, y, out, bits):
    """Checks that NumPy gives the same where both define a result."""
    low = np.iinfo(x.dtype).min
    same = np.ones(x.shape, bool)
    if op in ('//', '%'): same = (y != 0) & ~((x == low) & (y.astype(object) == -1))
    if op in ('<<', '>>'): same = (y >= 0) & (y.astype(object) < bits)
    if op == '**': same = y.astype(object) >= 0
    assert np.array_equal(NUMPY[op](x[same], y[same]), out[same]), (op, x, y, out)


def bool_op(op, x, y): return {'+': x | y, '|': x | y, '*': x & y, '&': x & y, '^': x ^ y}[op]


def float_op(op, x, y, t):
    """f16 and bf16 are computed in f32 and rounded when assigned."""
    c = DTYPES[computed(t)]
    return NUMPY[op](x.astype(c), y.astype(c)).astype(DTYPES[t])


def compare(op, x, y, t):
    if is_float(t) and not (is_int(NAMES[x.dtype]) and is_int(NAMES[y.dtype])): x, y = x.astype(DTYPES[computed(t)]), y.astype(DTYPES[computed(t)])
    else: x, y = np.array(x.tolist(), object), np.array(y.tolist(), object)      # integers by their values
    return NUMPY[op](x, y).astype(bool)


def binary(op, x, y):
    """op over arrays of any types, or None where the language has no such operation."""
    t = promote(NAMES[x.dtype], NAMES[y.dtype])
    if op in ('<', '<=', '>', '>=', '==', '!='): return compare(op, x, y, t)
    if op in ('&&', '||'): a, b = cast(x, 'bool'), cast(y, 'bool'); return a & b if op == '&&' else a | b
    if op == '/': t = to_float(t)
    if t == 'bool' and op in ('+', '*', '&', '|', '^'): return bool_op(op, x, y)
    if t == 'bool': t = 'i64'                   # all other arithmetic converts bools to i64
    if op in ('<<', '>>') and is_float(t) and is_int(NAMES[x.dtype]) and is_int(NAMES[y.dtype]): t = NAMES[x.dtype]   # a count of any type
    if is_float(t): return None if op in ('&', '|', '^', '<<', '>>') else float_op(op, x, y, t)
    return int_op(op, x, y, t)


OPS = {'add': '+', 'sub': '-', 'mul': '*', 'div': '/', 'quo': '//', 'rem': '%', 'power': '**', 'band': '&', 'bor': '|', 'bxor': '^',
       'shl': '<<', 'shr': '>>', 'lt': '<', 'le': '<=', 'gt': '>', 'ge': '>=', 'eq': '==', 'ne': '!=', 'land': '&&', 'lor': '||'}
LOOSE = {'f16': 2e-3, 'bf16': 1.6e-2, 'f32': 1e-6, 'f64': 4e-15}


def pairs():
    for ta in TYPES:
        begin('operators_' + ta, 'Every operator with a left operand of %s, for every type on the right.' % ta)
        for tb in TYPES:
            x, y = values(LEFT, ta), values(RIGHT, tb)
            made = {n: binary(op, x, y) for n, op in OPS.items()}
            t = promote(ta, tb)
            made['low'], made['high'] = chosen(x, y, t)
            made['pick'] = np.where(cast(x, 'bool'), cast(x, t), cast(y, t))
            text = ['%s[i] = a[i] %s b[i]' % (n, op) for n, op in OPS.items() if made[n] is not None]
            text += ['low[i] = min(a[i], b[i])', 'high[i] = max(a[i], b[i])', 'pick[i] = a[i] ? a[i] : b[i]']
            power = NAMES[made['power'].dtype]
            ok('\n'.join(text), dict(a=x, b=y), {'power': LOOSE[power]} if power in LOOSE else None,
               **{n: v for n, v in made.items() if v is not None})
            for n in ('band', 'shl'):
                if made[n] is None: bad('y[i] = a[i] %s b[i]' % OPS[n], dict(a=x, b=y), OPS[n])


def chosen(x, y, t):
    x, y = cast(x, t), cast(y, t)
    return np.minimum(x, y), np.maximum(x, y)


def unary():
    begin('unary', 'Operators and rounding functions of one operand, over every type.')
    for t in TYPES:
        v = {'bool': [0, 1]}.get(t) or ([0.0, 1.5, -2.5, 0.5, -0.5, 3.0, -3.75, 2.5, inf, -inf, nan] if is_float(t) else [0, 1, 5, ends(t)[1], ends(t)[0]])
        x = arr(t, v); s = 'i64' if t == 'bool' else t
        y = cast(x, s); outs = dict(yes=~cast(x, 'bool'), minus=None, size=None, way=None)
        if is_float(t):
            f = y.astype(DTYPES[computed(t)]); back = lambda z: z.astype(DTYPES[t])
            outs.update(minus=back(-f), size=back(np.abs(f)), way=back(np.sign(f)), down=back(np.floor(f)), up=back(np.ceil(f)),
                        cut=back(np.trunc(f)), near=back(np.round(f)), bad=np.isnan(f), huge=np.isinf(f), fine=np.isfinite(f))
        else:
            n = as_ints(y)
            outs.update(minus=arr(s, [wrap(-k, s) for k in n]), size=arr(s, [wrap(abs(k), s) for k in n]),
                        way=arr(s, [(k > 0) - (k < 0) for k in n]), down=y, up=y, cut=y, near=y,
                        bad=np.zeros(len(v), bool), huge=np.zeros(len(v), bool), fine=np.ones(len(v), bool),
                        turned=~x if t == 'bool' else arr(t, [wrap(~k, t) for k in n]))
        text = 'yes[i] = !a[i]\nminus[i] = -a[i]\nsize[i] = abs(a[i])\nway[i] = sign(a[i])\ndown[i] = floor(a[i])\nup[i] = ceil(a[i])\n' \
               'cut[i] = trunc(a[i])\nnear[i] = round(a[i])\nbad[i] = isnan(a[i])\nhuge[i] = isinf(a[i])\nfine[i] = isfinite(a[i])'
        if 'turned' in outs: text += '\nturned[i] = ~a[i]'
        else: bad('y[i] = ~a[i]', dict(a=x), '~')
        ok(text, dict(a=x), **outs)
    for t in INTS:
        x = arr(t, [0, 1, 7, ends(t)[1], ends(t)[0]]); bits = DTYPES[t].itemsize * 8
        ok('y[i] = i64(popcount(a[i]))', dict(a=x), y=arr('i64', [bin(k & ((1 << bits) - 1)).count('1') for k in as_ints(x)]))
    bad('y[i] = popcount(a[i])', dict(a=arr('f32', [1])), 'popcount')


def casts():
    begin('casts', 'Every type cast to every type: integers wrap, floats saturate and NaN gives 0, to bool means nonzero.')
    for s in TYPES:
        v = [0, 1] if s == 'bool' else [0.0, -0.0, 1.0, 2.75, -2.75, 0.25, 100.0, -100.0, 300.0, -40000.0, inf, -inf, nan] if is_float(s) else \
            [0, 1, 2, 100, ends(s)[1], ends(s)[0], ends(s)[1] // 2 + 1, ends(s)[1] - 1]
        if s in ('f32', 'f64'): v += [1e10, -1e10, 1e20, -1e20, 3e9, 2147483648.0, 70000.0, 65504.0]
        x = arr(s, v)
        ok('\n'.join('to_%s[i] = %s(a[i])' % (t, t) for t in TYPES), dict(a=x), **{'to_' + t: rounded(x, t) for t in TYPES})
    ok('y = u8(300)\nz = i8(-1.5)\nw = f32(1) / 3\nv = bool(2)\nu = u64(-1)', {}, y=arr('u8', 44), z=arr('i8', -1), w=arr('f32', np.float32(1) / 3),
       v=arr('bool', True), u=arr('u64', 2**64 - 1))


PRECISION = {'f16': (11, -14), 'bf16': (8, -126), 'f32': (24, -126)}    # bits; the exponent of the least normal number


def once(v, t):
    """The value of t nearest to an exact number (int or Fraction), ties to even. NumPy's cast to bf16 rounds to f32 first."""
    bits, least = PRECISION[t]
    if v == 0: return 0.0
    size = abs(Fraction(v))
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2)**exponent > size: exponent -= 1
    unit = Fraction(2)**(max(exponent, least) - bits + 1)
    count = round(size / unit)      # Python's round is half to even
    value = float(count * unit) if count * unit < Fraction(2)**(1 - least + 1) else inf
    return -value if v < 0 else value


def near_ties(t):
    """Numbers so close to the midpoint of two neighbours of t that f32 cannot distinguish them from it; also subnormal ones."""
    bits, least = PRECISION[t]
    scales = [0, 5, 1 - least - bits + 1, least - bits + 1, least - bits - 1]
    units = [Fraction(2)**k for k in scales]
    middles = [(2 * n + 1) * u / 2 for u in units for n in (2**(bits - 1), 2**(bits - 1) + 1, 2**bits - 1)] + [units[-2] / 2, units[-2] * 3 / 2]
    return [float(s * m * (1 + d)) for s, d in ((1, Fraction(0)), (1, Fraction(1, 2**40)), (-1, Fraction(-1, 2**40)), (1, Fraction(-1, 2**51)))
            for m in middles]


def single_roundings():
    """A cast from f64 and wide integers rounds once, not to f32 first: as a cast, an assignment, an initial value, a number, a literal."""
    for t in ('f16', 'bf16'):
        v = near_ties(t) + [36783.9981, 65519.999999, 65520.0, 3.4e38, 1e39]
        x = arr('f64', v); y = np.array([once(Fraction(q), t) for q in v])
        if t == 'f16': assert np.array_equal(x.astype(np.float16).astype(np.float64), y)
        y = y.astype(DTYPES[t])
        ok('y[i] = %s(x[i])\nout z: %s[len(x,0)]\nz[i] = x[i]\ndef f(v) { var s: %s = v; return s }\nw[i] = f(x[i])\n'
           'out u: f64[len(x,0)]\neach i { var s: %s; s = x[i]; u[i] = s }' % (t, t, t, t), dict(x=x), y=y, z=y, w=y, u=y.astype(np.float64))
        n = 36783.9981 if t == 'f16' else 1.00390625001; one = arr(t, once(Fraction(n), t))
        ok('in p: %s\ny = %s(%r)\nz = %s(n)\nvar w: %s = %r\nu = p\nedge x fill(n)\nv[i] = x[i-1] where i in 0..2' % (t, t, n, t, t, n),
           dict(x=arr(t, [1, 2]), n=n, p=n), y=one, z=one, w=one, u=one, v=arr(t, [one, 1]))
    for s in ('i32', 'u32', 'i64', 'u64'):
        top = ends(s)[1].bit_length()
        v = [(2 * n + 1 << k) + d for k in (top - 26, top - 17, 16) for n in (128, 129, 255) for d in (0, 1, -1)]
        v += [ends(s)[0], ends(s)[1], 2049, 65519, 65520, 16777217] + [-q for q in v if s[0] == 'i']
        v = [q for q in v if ends(s)[0] <= q <= ends(s)[1]]
        ok('\n'.join('to_%s[i] = %s(x[i])' % (t, t) for t in PRECISION), dict(x=arr(s, v)),
           **{'to_' + t: np.array([once(q, t) for q in v]).astype(DTYPES[t]) for t in PRECISION})
    x = arr('f64', [1.1, -0.3, 1e-40, 1e39, 7.0, 1 / 3, 16777217.0, 2.5e-45])
    ok('y[i] = f64(f32(x[i]))', dict(x=x), y=x.astype(np.float32).astype(np.float64))


def rounded(x, t):
    """To bf16 through f32. For these values the additional rounding never differs from NumPy's cast from f64."""
    out = cast(x, t)
    if t == 'bf16': assert np.array_equal(out.astype(np.float64), x.astype(np.float32).astype(bf16).astype(np.float64), equal_nan=True)
    return out


def weak_type(t, kind):
    """The type of an array of t with a weak integer, an index or a weak float as the other operand."""
    if kind == 'float': return t if is_float(t) else 'f64'
    if t == 'bool': return 'i64'
    return promote('i64', t) if kind == 'index' and is_int(t) else t


def weak():
    begin('weak', 'Literals, numbers from the caller and indices with operands of every type.')
    for t in TYPES:
        v = [0, 1, 1, 0] if t == 'bool' else [1.5, -2.0, 0.25, 8.0] if is_float(t) else [1, 2, 100, 7]
        x = arr(t, v); whole, real, index = (weak_type(t, k) for k in ('whole', 'float', 'index'))
        k = np.arange(4)
        ints = lambda kind, f: (f(cast(x, kind).astype(DTYPES[computed(kind)]))).astype(DTYPES[kind]) if is_float(kind) else \
            arr(kind, [wrap(n, kind) for n in f(np.array(as_ints(x), object))])
        outs = dict(a=ints(whole, lambda q: q + 3), b=ints(whole, lambda q: 3 * q), c=ints(real, lambda q: q * 0.5 if is_float(real) else q),
                    d=ints(index, lambda q: q + k.astype(q.dtype)), e=ints(whole, lambda q: q + 2), f=ints(real, lambda q: q + 0.25),
                    g=ints(real, lambda q: q + (2 + 0.5)), h=ints(whole, lambda q: q - q + (7 // 2)), l=ints(index, lambda q: q + 4),
                    m=ints(real, lambda q: q + k.astype(q.dtype) / 4))
        text = 'a[i] = x[i] + 3\nb[i] = 3 * x[i]\nc[i] = x[i] * 0.5\nd[i] = x[i] + i\ne[i] = x[i] + n\nf[i] = x[i] + r\n' \
               'g[i] = x[i] + (2 + 0.5)\nh[i] = x[i] - x[i] + 7 // 2\nl[i] = x[i] + len(x, 0)\nm[i] = x[i] + i / 4'
        ok(text, dict(x=x, n=2, r=0.25), **outs)
        s = promote(t, 'f64')
        ok('y[i] = x[i] + s', dict(x=x, s=np.float64(2)), y=(x.astype(np.float64) + 2).astype(DTYPES[s]))
        if is_int(t):
            low, high = ends(t)
            bad('y[i] = x[i] + %d' % (high + 1), dict(x=x), str(high + 1))
            ok('y[i] = x[i] < %d\nz[i] = x[i] == %d' % (high + 1 if t not in ('i64', 'u64') else high, low - 1 if t not in ('i64', 'u64') else low),
               dict(x=x), y=np.ones(4, bool), z=np.zeros(4, bool) if t not in ('u64',) else x == 0)
    alone()


def alone():
    i64, f64 = np.int64, np.float64
    ok('a = 2\nb = 2.5\nc = 7 // 2\nd = 7 / 2\ne = -7 // 2\nf = -7 % 3\ng = 2**10\nh = 1 << 4\nl = true\nm = 3 > 2\no = 1e3\np = 0x1F\nq = .5',
       {}, a=i64(2), b=f64(2.5), c=i64(3), d=f64(3.5), e=i64(-4), f=i64(2), g=i64(1024), h=i64(16), l=np.bool_(True), m=np.bool_(True), o=f64(1000),
       p=i64(31), q=f64(.5))
    ok('y = n\nz = r\nw = t', dict(n=3, r=1.5, t=True), y=i64(3), z=f64(1.5), w=np.bool_(True))
    ok('s = 0.0\ns += x[i]', dict(x=arr('f32', [1, 2])), s=np.float32(3))
    ok('s = sum(i: x[i])\ny[i] = h[i] * s', dict(x=arr('f32', [1, 2]), h=arr('f16', [2])), y=arr('f32', [6]))
    ok('c[i] = true ? 1 : x[i]', dict(x=arr('i16', [1, 2])), c=arr('i16', [1, 1]))
    ok('y[i] = x[i] > 2 ? 1.5 : 0', dict(x=arr('f32', [1, 3])), y=arr('f64', [0, 1.5]))
    ok('y[i] = x[i] > 2 ? x[i] : 0', dict(x=arr('f32', [1, 3])), y=arr('f32', [0, 3]))
    ok('y[i] = x[i] * pi + inf * 0 ', dict(x=arr('f32', [1])), y=arr('f32', [nan]))
    ok('y[i] = a[i] < b[i]\nz[i] = a[i] + b[i]', dict(a=arr('i64', [-1, 2**62]), b=arr('u64', [2**63, 1])), y=arr('bool', [1, 0]),
       z=arr('f64', [-1.0 + 2.0**63, 2.0**62 + 1]))
    bad('y[i] = a[i] & b[i]', dict(a=arr('i64', [1]), b=arr('u64', [1])), '&')
    bad('y = 99999999999999999999', {}, '99999999999999999999')
    bad('y[i] = i8(x[i]) + 1000', dict(x=arr('i8', [1])), '1000')


def cases():
    pairs(); unary(); casts(); single_roundings(); weak()
