"""Helpers that write the cases of tests/programs/: types by the language's names, arrays, conversion rules, and the writer."""
import math, os
import numpy as np
import ml_dtypes

np.seterr(all='ignore')
bf16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {'bool': np.dtype(np.bool_), 'i8': np.dtype(np.int8), 'i16': np.dtype(np.int16), 'i32': np.dtype(np.int32),
          'i64': np.dtype(np.int64), 'u8': np.dtype(np.uint8), 'u16': np.dtype(np.uint16), 'u32': np.dtype(np.uint32),
          'u64': np.dtype(np.uint64), 'f16': np.dtype(np.float16), 'bf16': bf16, 'f32': np.dtype(np.float32),
          'f64': np.dtype(np.float64)}
COMPLEX = {'c64': np.dtype(np.complex64), 'c128': np.dtype(np.complex128)}
NAMES = {v: k for k, v in {**DTYPES, **COMPLEX}.items()}
TYPES = list(DTYPES)
INTS = [t for t in TYPES if t[0] in 'iu']
FLOATS = ['f16', 'bf16', 'f32', 'f64']
inf, nan = math.inf, math.nan


def is_int(t): return t in INTS
def is_float(t): return t in FLOATS
def ends(t): i = np.iinfo(DTYPES[t]); return int(i.min), int(i.max)


def promote(a, b):
    """NumPy's rule. NumPy has no bf16, so that row is Leat's: with f16 or a 16-bit integer f32, with an 8-bit integer bf16."""
    if 'bf16' not in (a, b): return NAMES[np.promote_types(DTYPES[a], DTYPES[b])]
    o = b if a == 'bf16' else a
    return {'bool': 'bf16', 'i8': 'bf16', 'u8': 'bf16', 'bf16': 'bf16', 'f16': 'f32', 'i16': 'f32', 'u16': 'f32', 'f32': 'f32'}.get(o, 'f64')


def to_float(t):
    """The type of a float function of t. NumPy takes f16 for 8-bit integers; the language takes f64 for all."""
    return t if is_float(t) else 'f64'


def computed(t):
    """The type that arithmetic on t runs in."""
    return 'f32' if t in ('f16', 'bf16') else t


def wrap(value, t):
    """A Python integer converted to t, modulo its width."""
    low, high = ends(t); return (int(value) - low) % (high - low + 1) + low


def saturate(value, t):
    """Float to integer: the language saturates and converts NaN to 0; C and NumPy leave both undefined."""
    if math.isnan(value): return 0
    low, high = ends(t)
    return low if value <= low else high if value >= high else int(value)


def cast(x, t):
    """An array as type t, by the language's rules."""
    x = np.asarray(x); s = NAMES[x.dtype]
    if s == t: return x
    if t == 'bool': return np.array([bool(v != 0) for v in x.reshape(-1).tolist()], np.bool_).reshape(x.shape)
    if is_int(t) and s != 'bool':
        f = wrap if is_int(s) else saturate
        return np.array([f(v, t) for v in x.astype(np.float64 if is_float(s) else x.dtype).reshape(-1).tolist()], DTYPES[t]).reshape(x.shape)
    return x.astype(DTYPES[t])


def arr(t, values):
    return np.array(values, DTYPES[t])


FILES = {}      # file's name: its cases' texts
CURRENT = [None]
COUNT = [0]


def begin(file, title):
    CURRENT[0] = FILES.setdefault(file, ['# %s\n# Written by tests/numpy/programs.py; change it there.\n' % title])


def number(v):
    if isinstance(v, (bool, np.bool_)): return '1' if v else '0'
    if isinstance(v, (int, np.integer)): return str(int(v))
    v = float(v)
    if math.isnan(v): return 'nan'
    if math.isinf(v): return 'inf' if v > 0 else '-inf'
    return repr(int(v)) if v == int(v) and abs(v) < 1e15 and not (v == 0 and math.copysign(1, v) < 0) else repr(v)


def lines(values, width=110):
    out, line = [], ''
    for v in values:
        if line and len(line) + len(v) + 1 > width: out.append(line); line = v
        else: line = line + ' ' + v if line else v
    return out + [line] if line else out


def array_lines(kind, name, a, rtol=None):
    a = np.asarray(a)
    head = ' '.join(['==', kind, name, NAMES[a.dtype], *map(str, a.shape)] + (['rtol', '%g' % rtol] if rtol else []))
    if a.dtype.kind == 'c': a = np.ascontiguousarray(a).reshape(-1).view(DTYPES['f32' if a.dtype == COMPLEX['c64'] else 'f64'])
    return [head] + lines([number(v) for v in a.reshape(-1)])


def emit(text, ins, tail):
    out = ['== program', text.strip('\n')]
    for k, v in ins.items(): out += array_lines('in', k, v) if isinstance(v, (np.ndarray, np.generic)) else ['== scalar %s %s' % (k, scalar(v))]
    CURRENT[0].append('\n'.join(out + tail + ['== end', '']))
    COUNT[0] += 1


def scalar(v):
    """A number as a caller writes it: without a point it is an integer."""
    if isinstance(v, bool): return 'true' if v else 'false'
    if isinstance(v, complex): return '{!r}{}{!r}j'.format(v.real, '+' if math.copysign(1, v.imag) > 0 else '', v.imag)
    return str(v) if isinstance(v, int) else repr(float(v))


def ok(text, ins=None, rtol=None, **outs):
    """A program, its inputs (arrays, NumPy scalars for rank 0, Python numbers for the caller's), and its results; rtol: for all, or
    by name."""
    tail = []
    for k, v in outs.items():
        r = rtol.get(k) if isinstance(rtol, dict) else rtol
        tail += array_lines('out', k, v if isinstance(v, (np.ndarray, np.generic)) else np.array(v), r)
    emit(text, ins or {}, tail)


def results(text, ins, names):
    """A program and the names of its default results, in order."""
    emit(text, ins or {}, ['== results ' + names])


def bad(text, ins=None, *words, code=1):
    """A program that must end in an error whose text contains all words: 1 program or shapes, 2 a missing input, 6 the data."""
    emit(text, ins or {}, ['== error %d %s' % (code, ' '.join(words))])


def write_all():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'programs')
    for file, parts in FILES.items():
        with open(os.path.join(folder, file + '.txt'), 'w') as f: f.write('\n'.join(parts))
    print('%d cases in %d files' % (COUNT[0], len(FILES)))
