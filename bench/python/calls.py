"""Measures what a call from Python costs: y = a + b*c on three f32 arrays, by Leat beside the C call of the same program on the same
memory, numexpr, Numba, NumPy and JAX, in one process on two threads. All run in turns, in a new order each time, so that drift and warm
caches favor none. The smallest size is measured in several processes, because where the arrays lie in memory makes a difference of up to
a tenth from one process to the next. Then measures `import leat` in new processes. bench/python/run.sh calls it.

    calls.py --library bench_python_call.so [--turns 15] [--no-file]"""
import argparse
import ctypes
import datetime
import importlib.metadata
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time
import timeit

THREADS = 2
if hasattr(os, 'sched_setaffinity'):  # before any library starts its threads
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
for limit in ('LEAT_THREADS', 'NUMEXPR_MAX_THREADS', 'NUMEXPR_NUM_THREADS', 'NUMBA_NUM_THREADS'):
    os.environ[limit] = str(THREADS)
os.environ['JAX_PLATFORMS'] = 'cpu'

import leat
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT, NUMBER_TEXT = 'y[i] = a[i] + b[i] * c[i]', 'in a, b, c; y[i] = a[i] + b * c[i]'
SIZES = [1_000, 100_000, 10_000_000]
PROCESSES = {1_000: 7}
STARTS = 21
SAMPLE_US, MOST_CALLS = 5_000, 2_000
C_CALL, C_BINDS, LEAT = 'C call, arrays kept', 'C call, binds the arrays again', 'leat: f(a, b, c, out=y)'
RE_EVALUATE, UFUNC = 'numexpr: re_evaluate, out=y', 'numba: parallel ufunc, out=y'
NUMPY_OUT, NUMPY_CHAIN = 'numpy: multiply and add, out=y', 'numpy: a + b*c'
MOST_OVER_C_US, MOST_IMPORT_MS = 1.0, 15


# ---- what is measured: {name: function of a number of calls that returns the us of one call}

def python(statement, names, calls_each=1):
    """Times a statement as timeit does, without garbage collection."""
    timer = timeit.Timer(statement, globals=names)
    return lambda count: timer.timeit(-(-count // calls_each)) / (-(-count // calls_each) * calls_each) * 1e6


def c_calls(path, names):
    library = ctypes.CDLL(path)
    library.bench_prepare.restype = ctypes.c_char_p
    library.bench_run.restype = ctypes.c_double
    arrays = [names[k] for k in 'abcy']
    wrong = library.bench_prepare(TEXT.encode(), ctypes.c_int64(len(arrays[0])), (ctypes.c_void_p * 4)(*[x.ctypes.data for x in arrays]))
    if wrong:
        raise RuntimeError('the C call: ' + wrong.decode())
    run = lambda bind: lambda count: library.bench_run(ctypes.c_int64(count), bind) / count / 1e3
    return {C_CALL: run(0), C_BINDS: run(1)}


def leat_ways(names):
    names.update(f=leat.program(TEXT), g=leat.program(NUMBER_TEXT), leat=leat, text=TEXT, scalar=np.float32(2.5))
    names.update({k * 2: leat.asarray(names[k]) for k in 'abcy'})
    return {LEAT: ('f(a, b, c, out=y)', 'y'),
            'leat: f(a=a, b=b, c=c, out=y)': ('f(a=a, b=b, c=c, out=y)', 'y'),
            'leat: other arrays in each call': ('f(a, b, c, out=y); f(d, e, h, out=z)', 'y', 2),
            'leat: f(a, b, c), a new array': ('f(a, b, c)', None),
            'leat: leat.Arrays, out=': ('f(aa, bb, cc, out=yy)', None),
            'leat: a number for b, out=y': ('g(a, 2.5, c, out=y)', 'number'),
            'leat: np.float32 for b, out=y': ('g(a, scalar, c, out=y)', 'number'),
            'leat: eval(text, a, b, c, out=y)': ('leat.eval(text, a, b, c, out=y)', 'y'),
            'leat: eval(text, a, b, c)': ('leat.eval(text, a, b, c)', None)}


def numpy_ways(names):
    names.update(np=np)
    return {NUMPY_OUT: ('np.multiply(b, c, out=y); np.add(a, y, out=y)', 'y'), NUMPY_CHAIN: ('a + b*c', None)}


def numexpr_ways(names):
    import numexpr
    names.update(numexpr=numexpr, arguments={k: names[k] for k in 'abcy'},
                 compiled=numexpr.NumExpr('a + b*c', [(k, float) for k in 'abc']))
    return {'numexpr: evaluate, out=y': ("numexpr.evaluate('a + b*c', local_dict=arguments, out=y)", 'y'),
            RE_EVALUATE: ('numexpr.re_evaluate(local_dict=arguments)', 'y'),
            'numexpr: NumExpr object, out=y': ('compiled(a, b, c, out=y, ex_uses_vml=False)', 'y')}


def numba_ways(names):
    import numba
    loop = 'def loop(a, b, c, y):\n    for i in prange(len(y)): y[i] = a[i] + b[i] * c[i]'
    exec(loop, made := {'prange': numba.prange})
    names.update(ufunc=numba.vectorize(['f4(f4, f4, f4)'], target='parallel')(lambda a, b, c: a + b * c),
                 one_thread=numba.njit(made['loop']), threads=numba.njit(parallel=True)(made['loop']))
    return {UFUNC: ('ufunc(a, b, c, out=y)', 'y'),
            'numba: njit loop into y': ('one_thread(a, b, c, y)', 'y'),
            'numba: parallel njit loop into y': ('threads(a, b, c, y)', 'y')}


def jax_ways(names):
    import jax
    names.update(jitted=jax.jit(lambda a, b, c: a + b * c), ja=jax.numpy.asarray(names['a']), jb=jax.numpy.asarray(names['b']),
                 jc=jax.numpy.asarray(names['c']))
    return {'jax: jit, with a wait': ('jitted(ja, jb, jc).block_until_ready()', None)}


def check(name, statement, result, names):
    """Runs the statement and compares its result with NumPy's in f64."""
    b = 2.5 if result == 'number' else names['b'].astype(np.float64)
    names['y'][:] = 0
    if result:
        exec(statement, names)
    got = np.asarray(names['y'] if result else eval(statement, names))
    if not np.allclose(got, names['a'] + b * names['c'].astype(np.float64), rtol=1e-6, atol=1e-7):
        raise RuntimeError(name + ': the result is wrong')


def prepare(path, n):
    """All ways for arrays of n elements, checked."""
    draw = np.random.default_rng(n)
    names = {k: draw.random(n, np.float32) for k in 'abcdehyz'}
    here = {}
    for ways in (leat_ways, numexpr_ways, numba_ways, numpy_ways, jax_ways):
        try:
            found = ways(names)
        except ImportError:
            continue
        for name, (statement, result, *each) in found.items():
            check(name, statement, result, names)
            here[name] = python(statement, names, *each)
    names['y'][:] = 0
    made = c_calls(path, names)
    for way in made.values():
        way(1)
    if not np.allclose(names['y'], names['a'] + names['b'] * names['c']):
        raise RuntimeError('the C call: the result is wrong')
    return {**made, **here}


# ---- measuring

def settle():
    """Waits until the process's threads are idle: some libraries' threads spin for a while after a call, on cores that the next needs."""
    for _ in range(100):
        before = time.process_time()
        time.sleep(0.002)
        if time.process_time() - before < 0.0005:
            return


def measure(path, n, turns):
    """{name: us of one call, once for each turn}."""
    ways = prepare(path, n)
    counts = {}
    for name, way in ways.items():
        way(5)
        counts[name] = max(1, min(MOST_CALLS, int(SAMPLE_US / min(way(5) for _ in range(5)))))
    times, order = {name: [] for name in ways}, random.Random(n)
    for _ in range(turns):
        for name, way in order.sample(list(ways.items()), len(ways)):
            settle()
            way(1 + counts[name] // 10)
            times[name].append(way(counts[name]))
    return times


def measure_in_processes(o, n):
    """The same, of new processes one after the other."""
    times = {}
    for _ in range(PROCESSES.get(n, 1)):
        done = subprocess.run([sys.executable, os.path.abspath(__file__), '--library', o.library, '--turns', str(o.turns), '--size', str(n)],
                              stdout=subprocess.PIPE, text=True, check=True)
        for name, more in json.loads(done.stdout).items():
            times.setdefault(name, []).extend(more)
    return times


def starts():
    """{statement: ms of a new process that runs it}, in turns."""
    statements = ['pass', 'import leat', 'import numpy', 'import numpy, leat']
    times = {s: [] for s in statements}
    for k in range(STARTS + 1):
        for s in statements if k % 2 else reversed(statements):
            begin = time.perf_counter()
            subprocess.run([sys.executable, '-I', '-c', s], check=True)
            if k:  # the first brings the files into memory
                times[s].append((time.perf_counter() - begin) * 1e3)
    subprocess.run([sys.executable, '-I', '-c', "import leat, sys; assert 'numpy' not in sys.modules"], check=True)
    return times


# ---- the text

def said_by(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=HERE).stdout.strip().split('\n')[0]
    except OSError:
        return ''


def cpu_name():
    try:
        with open('/proc/cpuinfo') as f:
            return re.search(r'model name\s*: (.*)', f.read()).group(1).strip()
    except (OSError, AttributeError):
        return platform.machine()


def header(o, before):
    versions = ['leat ' + leat.__version__, 'python ' + platform.python_version()]
    for name in ('numpy', 'numexpr', 'numba', 'jax'):
        try:
            versions.append('%s %s' % (name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            versions.append(name + ' -')
    commit = said_by(['git', 'rev-parse', '--short', 'HEAD'])
    first = '%s, %s, %d of %d cores, Linux %s' % (datetime.date.today().isoformat(), cpu_name(), len(os.sched_getaffinity(0)),
                                                  os.cpu_count(), platform.release())
    return [first + (', commit ' + commit if commit else ''), ', '.join(versions),
            'y = a + b*c, f32, %d threads; %d turns, in a new order each, in %d processes for n = %s; us of a call'
            % (THREADS, o.turns, PROCESSES[SIZES[0]], format(SIZES[0], ',')),
            'load average %.1f before, %.1f after' % (before, os.getloadavg()[0]), '']


def table(by_size):
    rows = ['%-34s' % 'n =' + ''.join('%22s' % format(n, ',') for n in by_size),
            '%-34s' % '' + '%11s%11s' % ('median', 'best') * len(by_size)]
    for name in next(iter(by_size.values())):
        cells = ''.join('%11.2f%11.2f' % (statistics.median(t[name]), min(t[name])) for t in by_size.values())
        rows.append('%-34s%s' % (name, cells))
    return rows + ['']


def judged(words, good): return '%-94s%s' % (words, 'ok' if good else 'FALLS SHORT')


def goals(times, start_times):
    middle = {name: statistics.median(t) for name, t in times.items()}
    us, over = middle[LEAT], middle[LEAT] - middle[C_CALL]
    rows = ['goals, by the medians; calls of n = %s' % format(SIZES[0], ','),
            judged('%s: %.2f us more than the C call (goal: at most %g)' % (LEAT, over, MOST_OVER_C_US), over <= MOST_OVER_C_US),
            '%s: %.2f us more than the C call that binds the arrays again' % (LEAT, us - middle[C_BINDS])]
    for peer in (RE_EVALUATE, UFUNC, NUMPY_OUT, NUMPY_CHAIN):
        if peer in middle:
            rows.append(judged('%s: %.2f us, %s: %.2f us (goal: less)' % (LEAT, us, peer, middle[peer]), us < middle[peer]))
        else:
            rows.append('%s: not here   not judged' % peer)
    over = {s: statistics.median(ms - of_pass for ms, of_pass in zip(t, start_times['pass'])) for s, t in start_times.items()}
    words = 'import leat: %.1f ms (goal: at most %d); python -c pass takes %.1f ms' % (
        over['import leat'], MOST_IMPORT_MS, statistics.median(start_times['pass']))
    rows += ['', 'a new process, beside one that does nothing; median of %d in turns' % STARTS,
             judged(words, over['import leat'] <= MOST_IMPORT_MS),
             'import numpy: %.1f ms; import numpy, leat: %.1f ms' % (over['import numpy'], over['import numpy, leat'])]
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--library', required=True, help='bench_python_call.so')
    p.add_argument('--turns', type=int, default=15, help='in each process')
    p.add_argument('--size', type=int, help=argparse.SUPPRESS)
    p.add_argument('--no-file', action='store_true', help='print only')
    o = p.parse_args()
    if o.size:
        print(json.dumps(measure(o.library, o.size, o.turns)))
        return
    before = os.getloadavg()[0]
    start_times = starts()
    by_size = {n: measure_in_processes(o, n) for n in SIZES}
    text = '\n'.join(header(o, before) + table(by_size) + goals(by_size[SIZES[0]], start_times)) + '\n'
    print(text, end='')
    if not o.no_file:
        name = '%s-python-%s.txt' % (datetime.date.today().isoformat(), re.sub(r'[^a-z0-9]+', '-', cpu_name().lower()).strip('-'))
        path = os.path.join(HERE, '..', 'results', name)
        with open(path, 'w') as f:
            f.write(text)
        print('\nwritten to ' + os.path.relpath(path))


if __name__ == '__main__':
    main()
