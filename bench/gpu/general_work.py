"""A work of the general GPU benchmark: a Leat program, its inputs at four sizes, its values, and the peers' ways. general_works.py
lists the works. No library except NumPy is imported here: a peer's way is a function of the library's module and of a dictionary of its
arrays."""
import math
import re

import numpy as np

SIZES = ('dry', 'small', 'odd', 'huge')  # dry: only values, on any device
STORED = {'bool': '?', 'i8': 'i1', 'i16': 'i2', 'i32': 'i4', 'i64': 'i8', 'u8': 'u1', 'u16': 'u2', 'f16': 'f2', 'bf16': 'u2', 'f32': 'f4',
          'f64': 'f8', 'c64': 'c8', 'c128': 'c16'}  # NumPy's type of the elements; NumPy has no bf16
LEAT = {'i8': 'int8', 'i16': 'int16', 'i32': 'int32', 'i64': 'int64', 'u8': 'uint8', 'u16': 'uint16', 'f16': 'float16', 'bf16': 'bfloat16',
        'f32': 'float32', 'f64': 'float64', 'c64': 'complex64', 'c128': 'complex128', 'bool': 'bool'}
TOLERANCE = {'f16': 6e-3, 'bf16': 5e-2, 'f32': 2e-4, 'c64': 2e-4, 'f64': 1e-9, 'c128': 1e-9}
CLUSTER_BYTES = 8 * 227 << 10  # the shared memory of a portable cluster

# The classes: a work is ok if it takes at most `of_peer` times the best peer or `of_floor` times the floor.
GOALS = {'reductions': dict(of_peer=1.10, of_floor=1.1), 'sums': dict(of_peer=1.10, of_floor=1 / 0.6), 'products': dict(of_peer=1.05, of_floor=None),
         'windows': dict(of_peer=1.10, of_floor=1.1), 'maps': dict(of_peer=1.10, of_floor=1.08)}
OF_BYTES = 1.2  # of_floor of sums with reuse that the bytes bound
WORKS = []


def number(text, size):
    """An extent in terms of the names of a size: n+1, 2*m."""
    return int(text) if text.isdigit() else eval(text, {}, dict(size))


class Input:
    """One input: `x f32 n m+1`. `f32+` has positive values only; `i64<n` subscripts from 0 to n."""

    def __init__(self, text, turn):
        self.name, kind, *self.extents = text.split()
        self.dtype, self.above, self.below = re.fullmatch(r'(\w+)(\+?)(?:<(.*))?', kind).groups()
        self.turn = turn

    def shape(self, size): return tuple(number(e, size) for e in self.extents)

    def needs(self, size):
        """The elements of the pool that it is made from."""
        return self.turn * 4099 + math.prod(self.shape(size)) * (2 if self.dtype in ('c64', 'c128') else 1)

    def make(self, pool, size):
        """The input as NumPy stores it, from a pool of normally distributed f32."""
        shape = self.shape(size)
        flat = pool[self.turn * 4099:self.needs(size)]
        if self.below:
            bits = np.ascontiguousarray(flat).view(np.uint32).astype(np.uint64) * np.uint64(2654435761)
            return ((bits >> np.uint64(7)) % np.uint64(number(self.below, size))).astype(STORED[self.dtype]).reshape(shape)
        if self.above:
            flat = np.abs(flat) + np.float32(0.25)
        if self.dtype == 'bf16':
            return (np.ascontiguousarray(flat).view(np.uint32) >> 16).astype(np.uint16).reshape(shape)
        if self.dtype == 'bool':
            return (flat > 0).reshape(shape)
        if self.dtype in ('c64', 'c128'):
            return np.ascontiguousarray(flat.astype('f4' if self.dtype == 'c64' else 'f8')).view(STORED[self.dtype]).reshape(shape)
        if self.dtype[0] in 'iu':
            scale, middle = {'u8': (40, 128), 'i8': (30, 0), 'i16': (3000, 0)}.get(self.dtype, (100, 0))
            limits = np.iinfo(STORED[self.dtype])
            return np.clip(flat * np.float32(scale) + np.float32(middle), limits.min, limits.max).astype(STORED[self.dtype]).reshape(shape)
        return np.ascontiguousarray(flat).astype(STORED[self.dtype], copy=False).reshape(shape)


def widened(a, dtype):
    """An input for the expected values: floats in f64."""
    if dtype == 'bf16':
        return from_bf16(a).astype(np.float64)
    return a.astype({'f': np.float64, 'c': np.complex128}.get(a.dtype.kind, a.dtype))


def from_bf16(a): return (a.astype(np.uint32) << 16).view(np.float32)


def comparable(a):
    """A result in a type that NumPy computes with: complex numbers as pairs."""
    a = np.ascontiguousarray(a)
    if a.dtype.kind == 'c':
        return a.view('f%d' % (a.itemsize // 2)).reshape(a.shape + (2,))
    if a.dtype.kind == 'b':
        return a.astype(np.uint8)
    return a if a.dtype.kind in 'iuf' and a.itemsize > 2 or a.dtype.kind in 'iu' else a.astype(np.float32)


class Work:
    """text: the program. inputs: `x f32 n m; w f32 m`. sizes: `n m: 37 29; 512 256; 3001 777; 16384 4096`, for SIZES in turn.
    expected(xp, v): the values with NumPy's functions, on f64; also CuPy's and JAX's first way. torch, cupy, jax: a function or
    {name: function} of the library's module and the arrays; None: no such way. compiled: the names of PyTorch's ways on which torch.compile is
    tried; default all.
    passes: {input: how often its bytes are read, as a function of the size}. moved: function of the size that gives the bytes read and
    written, where they are not those of the arrays. terms, issue: the number of terms and the instructions of one, {'fma': 1}, of the
    kinds that general_leat.py measures. winograd: cuDNN may choose it."""

    def __init__(self, key, group, text, inputs, sizes, expected, results='y', torch=None, cupy=None, jax=None, numbers=(), tolerance=None,
                 passes=(), moved=None, terms=None, issue=None, winograd=False, compiled=None, numpy_ways=True, of_peer=None):
        self.key, self.group, self.text, self.results, self.expected = key, group, text, results.split(), expected
        self.inputs = [Input(each.strip(), k) for k, each in enumerate(inputs.split(';'))]
        names, rows = sizes.split(':')
        self.sizes = {which: dict(zip(names.split(), map(int, row.split()))) for which, row in zip(SIZES, rows.split(';'))}
        self.torch, self.cupy, self.jax = ways(torch), ways(cupy), ways(jax)
        if numpy_ways:  # CuPy and JAX understand NumPy's functions
            self.cupy = {'expression': expected, **self.cupy}
            self.jax = {'jit': expected, **self.jax}
        self.numbers, self.passes, self.moved, self.terms, self.issue = dict(numbers), dict(passes), moved, terms, issue
        self.winograd, self.compiled = winograd, tuple(self.torch) if compiled is None else compiled
        kinds = [i.dtype for i in self.inputs]
        self.tolerance = max(TOLERANCE.get(k, 0) for k in kinds) if tolerance is None else tolerance
        self.goal = dict(GOALS[group], **({'of_peer': of_peer} if of_peer else {}))
        WORKS.append(self)

    def needs(self, which): return max(i.needs(self.sizes[which]) for i in self.inputs)

    def arrays(self, pool, which): return {i.name: i.make(pool, self.sizes[which]) for i in self.inputs}

    def values(self, arrays):
        """What NumPy computes."""
        made = self.expected(np, {**{i.name: widened(arrays[i.name], i.dtype) for i in self.inputs}, **self.numbers})
        return [np.asarray(a) for a in (made if isinstance(made, (tuple, list)) else (made,))]


def ways(given):
    if given is None:
        return {}
    return given if isinstance(given, dict) else {'eager': given}


def kernel(kind, *text, names, **how):
    """{kind: a way with CuPy's ElementwiseKernel or ReductionKernel of the arrays of those names}. It is made once."""
    made = []

    def f(cp, v):
        made or made.append(getattr(cp, kind)(*text))
        return made[0](*[v[n] for n in names.split()], **how)
    return {kind: f}


def again(times, length, width_bytes=32):
    """How often a chain of reductions must read its input: once if a strip of that many elements, each that wide, fits a cluster."""
    return lambda size: 1 if number(length, size) * width_bytes <= CLUSTER_BYTES else times


class Case:
    """A work at one size."""

    def __init__(self, work, which):
        self.work, self.which, self.size = work, which, work.sizes[which]
        self.name = '%s/%s' % (work.key, which)
        self.label = '%s, %s' % (work.key, ' '.join('%s=%d' % e for e in self.size.items()))
