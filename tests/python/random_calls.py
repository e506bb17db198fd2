"""Random calls against NumPy: `python tests/python/random_calls.py 100000 [seed]`.

Each call, drawn by hypothesis, takes one of a dozen small programs and random dtypes, shapes, strides, byte orders, ways to pass arguments,
out=, like= and sometimes a mistake, compares the results with NumPy's, and the reference counts of all arguments with
those before. pytest runs a sample (random_calls_test.py).
"""

import sys
import warnings

import hypothesis
import numpy as np
from hypothesis import HealthCheck, given, settings, strategies

import leat

warnings.simplefilter("ignore")
REAL = ["f4", "f8"]
EXACT = ["i2", "i4", "i8", "u1", "u4", "f4", "f8"]


class Case:
    """A program, what NumPy makes of the same inputs, the ranks and dtypes of its inputs, and sizes they share."""

    def __init__(self, text, oracle, shapes, dtypes=EXACT, numbers=()):
        self.program = leat.program(text)
        self.oracle, self.shapes, self.dtypes, self.numbers = oracle, shapes, dtypes, numbers


CASES = [
    Case("y[...] = a[...] + b[...]", lambda a, b: (a + b,), ["nm", "nm"]),
    Case("y[i,j] = a[i,j] * b[j]", lambda a, b: (a * b,), ["nm", "m"]),
    Case("y[i] = sum(j: a[i,j])", lambda a: (a.sum(1, dtype="f8"),), ["nm"], ["f8"]),
    Case("y[j,i] = a[i,j]", lambda a: (a.T,), ["nm"], EXACT + ["bool", "c8", "c16", "f2"]),
    Case("y = sum(i: a[i]); z = max(i: a[i])", lambda a: (a.sum(), a.max(initial=-np.inf)), ["n"], ["f8"]),
    Case("y[i] = k * a[i] + b[i]", lambda k, a, b: (k * a + b,), ["", "n", "n"], REAL, (0,)),
    Case("in a[n]; y[i] = a[n-1-i]", lambda a: (a[::-1],), ["n"], EXACT + ["bool", "c16"]),
    Case("y[i,j] = sum(k: a[i,k] * b[k,j])", lambda a, b: (a @ b,), ["nk", "km"], ["f8"]),
    Case("y[i] = a[i] > b[i] ? a[i] : b[i]", lambda a, b: (np.where(a > b, a, b),), ["n", "n"]),
    Case("y[i] = a[i-1] + a[i+1] else a[i]", lambda a: (neighbors(a),), ["n"], REAL),
    Case("y[i,j,k] = a[i,j,k] - b[i,j,k]", lambda a, b: (a - b,), ["nmk", "nmk"]),
    Case("y[i] = f64(a[i]) + 0.5; z[i] = f32(y[i]); out y, z",
         lambda a: (a.astype("f8") + 0.5, (a.astype("f8") + 0.5).astype("f4")), ["n"]),
    Case("y = a; z = a * 2; out y, z", lambda a: (a, a * a.dtype.type(2)), [""], REAL),
]


def neighbors(a):
    y = a.copy()
    if len(a) > 2:
        y[1:-1] = a[:-2] + a[2:]
    return y


def make_input(r, shape, dtype):
    """An array with these extents and random strides, alignment, byte order and writability."""
    rank, kind = len(shape), r.randrange(10)
    steps = [r.choice([1, 1, 1, 2, -1, -3]) for _ in shape]
    base = np.empty([n * abs(s) for n, s in zip(shape, steps)], dtype)
    base[...] = np.random.default_rng(r.getrandbits(32)).integers(-5 if dtype[0] not in "u?b" else 0, 20, base.shape)
    a = base[(..., *(slice(None, None, s) for s in steps))]
    if kind == 0 and rank > 1:
        a = np.asfortranarray(a)
    elif kind == 1:
        a = a.astype(a.dtype.newbyteorder(">"))
    elif kind == 2:
        room = np.zeros(a.size * a.itemsize + 1, "u1")[1:].view(dtype).reshape(a.shape)
        room[...] = a
        a = room
    elif kind == 3 and rank and shape[0] > 0:
        a = np.broadcast_to(a[:1], shape)
    elif kind == 4:
        a.flags.writeable = False
    return a


def as_passed(r, value):
    """The same elements as another kind of object."""
    kind = r.randrange(12)
    if kind == 0:
        return memoryview(value)
    if kind == 1 and value.ndim and value.dtype.isnative and value.flags.aligned:
        return leat.eval("y[...] = a[...]", value, like="leat")
    if kind == 2 and value.ndim == 0:
        return value[()]
    if kind == 3 and value.ndim:
        return value.view(np.recarray)
    return value


def make_target(r, result):
    """An array for a result, with random strides; or one that cannot be written, and the class of the error."""
    kind = r.randrange(12)
    result = np.asarray(result)
    if kind == 0:
        return np.zeros(tuple(n + 1 for n in result.shape) or (1,), result.dtype), ValueError
    if kind == 1:
        return np.zeros(result.shape, "i1" if result.dtype != "i1" else "f8"), ValueError
    if kind == 2:
        target = np.zeros(result.shape, result.dtype)
        target.flags.writeable = False
        return target, ValueError
    if kind == 3:
        return [0], TypeError
    steps = [r.choice([1, 1, 2, -1]) for _ in result.shape]
    base = np.zeros([n * abs(s) for n, s in zip(result.shape, steps)], result.dtype)
    return base[(..., *(slice(None, None, s) for s in steps))], None


def matches(found, wanted):
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return False
    if wanted.dtype.kind in "fc":
        return np.allclose(found, wanted, rtol=1e-5, atol=1e-5)
    return np.array_equal(found, wanted)


MISTAKES = [(lambda values: values + [1] * 3, TypeError), (lambda values: values[:-1], TypeError),
            (lambda values: values[:-1] + [[1, 2]], TypeError), (lambda values: values[:-1] + [None], TypeError),
            (lambda values: values[:-1] + [np.array(["x"])], TypeError)]


def call(r, case, values, options):
    program = case.program
    by_position = r.randint(0, len(values))
    named = list(zip(program.inputs[by_position:], values[by_position:]))
    r.shuffle(named)
    return program(*values[:by_position], **dict(named), **options)


def make_options(r, case, wanted):
    options, failure, targets = {}, None, [None] * len(wanted)
    if r.random() < 0.3:
        for k in range(len(wanted)):
            if r.random() < 0.7:
                targets[k], error = make_target(r, wanted[k])
                failure = failure or error
                if error and failure is not error:
                    failure = (ValueError, TypeError)
        names = case.program.results
        options["out"] = (tuple(targets) if r.random() < 0.5 else
                          {name: target for name, target in zip(names, targets) if target is not None})
        if len(targets) == 1 and targets[0] is not None and not isinstance(targets[0], list) and r.random() < 0.5:
            options["out"] = targets[0]
    if r.random() < 0.2:
        options["like"] = r.choice(["numpy", "leat", np])
    return options, failure, targets


def check(results, wanted, targets, where):
    if len(wanted) == 1:
        results = (results,)
    assert len(results) == len(wanted), where
    for found, expected, target in zip(results, wanted, targets):
        assert target is None or found is target, where
        plain = found.numpy() if isinstance(found, leat.Array) else found
        assert matches(plain, expected), (where, plain, expected)


def one_call(r):
    case = r.choice(CASES)
    sizes = {name: r.choice([0, 1, 2, 3, 5, 8, 17]) if name != "k" else r.choice([1, 2, 7]) for name in "nmk"}
    arrays = []
    dtype = r.choice(case.dtypes)
    for k, names in enumerate(case.shapes):
        if k in case.numbers and r.random() < 0.5:
            arrays.append(r.choice([2, 0.5, True, np.float32(3)]))
        else:
            arrays.append(make_input(r, tuple(sizes[name] for name in names), dtype))
    plain = [np.asarray(a).astype(np.asarray(a).dtype.newbyteorder("=")) if isinstance(a, np.ndarray) else a for a in arrays]
    wanted = case.oracle(*plain)
    values = [as_passed(r, a) if isinstance(a, np.ndarray) else a for a in arrays]
    options, failure, targets = make_options(r, case, wanted)
    if r.random() < 0.1:
        change, failure = r.choice(MISTAKES)
        values = change(values)
        failure = (failure, ValueError)
    watched = [*arrays, *values, *targets, options, options.get("out")]
    del arrays
    where = (case.program.text, [(type(v), getattr(v, "dtype", None), getattr(v, "shape", None)) for v in values], options)
    before = [sys.getrefcount(one) for one in watched]
    try:
        if len(values) > len(case.program.inputs):
            results = case.program(*values, **options)
        else:
            results = call(r, case, values, options)
    except (TypeError, ValueError) as error:
        assert failure and isinstance(error, failure), (where, error)
    else:
        assert not failure, where
        check(results, wanted, targets, where)
        del results
    after = [sys.getrefcount(one) for one in watched]
    for one, a, b in zip(watched, before, after):
        assert a == b or isinstance(one, (int, float, bool, type(None), str)), (where, type(one), a, b)


def run(count, seed):
    """Hypothesis draws every choice, and cuts a call that fails down to a simple one. Returns the number of calls."""
    made = 0

    @hypothesis.seed(seed)
    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategies.randoms(use_true_random=False))
    def each(r):
        nonlocal made
        one_call(r)
        made += 1

    each()
    return made


if __name__ == "__main__":
    print(run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1), "random calls agree with NumPy")
