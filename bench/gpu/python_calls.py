"""Measures Leat's Python package on a GPU: the host time of a call with CuPy, PyTorch, Leat's, JAX and Numba arrays, beside those
libraries' own ways, and the first result of a new Python process beside the command's. Each library has a process of its own, in which
all ways run in turns. Prints a table with the goals. The exit status is 1 if Leat cannot be measured.

    python_calls.py --package FOLDER --command build/gpu/leat       FOLDER: where pip installed the wheel (--target)
    python_calls.py ... --device cpu --libraries leat,torch,jax     a rehearsal without a GPU

A new context's compiling thread compiles the interpreter of programs after about five seconds, for about eight more, unless that is in
the cache of compiled code. Each process therefore warms up for --warm seconds, and then until it uses no more processor time."""
import argparse
import contextlib
import datetime
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import timeit

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = ['leat', 'cupy', 'torch', 'jax', 'numba']
TEXT = 'y[i] = x[i] + x[i] + x[i] + x[i] + x[i]'
N = 1000
GOAL_US, GOAL_RATIO = 4.0, 1.15
STARTS, LONGEST_S = 11, 150
SETTLE_S = 30  # the most that a process waits for its own threads


def five_times(x):
    return x + x + x + x + x


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--package', default='', help='a folder that contains leat; default: the installed package')
    p.add_argument('--command', default='', help='the leat command, for the first result')
    p.add_argument('--device', default='cuda', help="Leat's: cuda, or cpu, sim without a GPU")
    p.add_argument('--libraries', default=','.join(LIBRARIES), help='of %s' % ','.join(LIBRARIES))
    p.add_argument('--repeats', type=int, default=11)
    p.add_argument('--calls', type=int, default=5000, help='in each repeat, before it waits for the GPU')
    p.add_argument('--warm', type=float, default=8, help='seconds')
    p.add_argument('--json', default='', help='a file')
    p.add_argument('--child', default='', help=argparse.SUPPRESS)
    return p.parse_args()


# ---- in the process of one library

class Ways:
    """What is measured in this process. around: a context manager that is entered for each repeat, such as a stream's."""

    def __init__(self, names):
        import leat
        self.names, self.made, self.failed = {**names, 'f': leat.program(TEXT), 'leat': leat}, [], []
        self.wait = leat.synchronize

    def add(self, label, statement, goal=None, around=contextlib.nullcontext(), result=None):
        """Checks the statement's value, or that of the name `result`, and times it later."""
        try:
            with around:
                value = eval(statement, self.names)
                self.wait()
                value = self.names[result] if result else value
                self.check(value)
            self.made.append((label, timeit.Timer(statement, globals=self.names), goal, around))
        except Exception as e:
            self.failed.append((label, '%s: %s' % (type(e).__name__, (str(e).strip() or '-').split('\n')[0][:200])))

    def check(self, value):
        for way in ('get', 'copy_to_host', 'cpu', 'numpy'):
            if hasattr(value, way):
                value = getattr(value, way)()
        if [float(v) for v in value[:3]] != [0, 5, 10] or float(value[N - 1]) != 5 * (N - 1):
            raise ValueError('the result is wrong: %r' % value[:3])


def leat_ways(o):
    import array
    import leat
    on = leat.device(o.device)
    with on:
        x = leat.asarray(memoryview(array.array('f', range(N))), device=o.device)
        ways = Ways({'x': x, 'y': leat.asarray(memoryview(array.array('f', [0] * N)), device=o.device), 'stream': leat.Stream(device=o.device)})
    ways.add('leat.Array: f(x, out=y)', 'f(x, out=y)', GOAL_US)
    ways.add('leat.Array: f(x, out=y, stream=s)', 'f(x, out=y, stream=stream)', GOAL_US)
    ways.add('leat.Array: f(x)', 'f(x)')
    ways.add('leat.Array: eval(text, x, out=y)', 'leat.eval(%r, x, out=y)' % TEXT)
    return 'leat ' + leat.__version__, ways


def cupy_ways(o):
    import cupy
    x = cupy.arange(N, dtype='f4')
    stream = cupy.cuda.Stream(non_blocking=True)
    ways = Ways({'x': x, 'y': cupy.empty_like(x), 'stream': stream, 'fused': cupy.fuse()(five_times),
                 'elementwise': cupy.ElementwiseKernel('T x', 'T y', 'y = x + x + x + x + x', 'five')})
    ways.wait = cupy.cuda.Device().synchronize
    ways.wait()  # the other stream does not wait for the default stream
    ways.add('cupy: f(x, out=y)', 'f(x, out=y)', GOAL_US)
    ways.add('cupy: f(x, out=y) in another stream', 'f(x, out=y)', GOAL_US, stream)
    ways.add('cupy: f(x, out=y, stream=s)', 'f(x, out=y, stream=stream)')
    ways.add('cupy: f(x)', 'f(x)')
    ways.add('    cupy.fuse', 'fused(x)')
    ways.add('    cupy.ElementwiseKernel, into y', 'elementwise(x, y)')
    return 'cupy ' + cupy.__version__, ways


def torch_ways(o):
    import torch
    on = 'cuda' if o.device == 'cuda' else 'cpu'
    x = torch.arange(N, dtype=torch.float32, device=on)
    ways = Ways({'x': x, 'y': torch.empty_like(x)})
    ways.add('torch: f(x, out=y)', 'f(x, out=y)', GOAL_US)
    if on == 'cuda':
        ways.wait = torch.cuda.synchronize
        ways.wait()
        stream = torch.cuda.Stream()
        ways.names['stream'] = stream
        ways.add('torch: f(x, out=y) in another stream', 'f(x, out=y)', GOAL_US, torch.cuda.stream(stream))
        ways.add('torch: f(x, out=y, stream=s)', 'f(x, out=y, stream=stream)')
    ways.add('torch: f(x)', 'f(x)')
    ways.names.update(compiled=torch.compile(five_times, dynamic=False))
    ways.add('    torch.compile', 'compiled(x)')
    ways.add('    torch: x + x + x + x + x', 'x + x + x + x + x')
    return 'torch ' + torch.__version__, ways


def jax_ways(o):
    os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'
    import jax
    x = jax.numpy.arange(N, dtype='float32')
    ways = Ways({'x': x, 'jitted': jax.jit(five_times)})
    leat_waits = ways.wait

    def wait():
        leat_waits()
        ways.names['jitted'](x).block_until_ready()
    ways.wait = wait
    ways.add('jax: f(x)', 'f(x)')
    ways.add('    jax.jit', 'jitted(x)')
    return 'jax ' + jax.__version__, ways


def numba_ways(o):
    import numpy as np
    for name, value in {'row_stack': 'vstack', 'in1d': 'isin', 'trapz': 'trapezoid'}.items():  # removed in new versions of NumPy
        if not hasattr(np, name):
            setattr(np, name, getattr(np, value))
    import numba
    from numba import cuda

    @cuda.jit
    def five(x, y):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            y[i] = x[i] + x[i] + x[i] + x[i] + x[i]
    x = cuda.to_device(np.arange(N, dtype=np.float32))
    ways = Ways({'x': x, 'y': cuda.device_array_like(x), 'five': five[4, 256]})
    ways.wait = cuda.synchronize
    ways.add('numba: f(x, out=y)', 'f(x, out=y)')
    ways.add('numba: f(x)', 'f(x)')
    ways.add('    numba.cuda.jit, into y', 'five(x, y)', result='y')
    try:
        ways.names['ufunc'] = numba.vectorize(['f4(f4)'], target="cuda")(five_times)
    except Exception as e:
        ways.failed.append(('    numba.vectorize', '%s: %s' % (type(e).__name__, str(e).split('\n')[0][:200])))
    else:
        ways.add('    numba.vectorize, out=y', 'ufunc(x, out=y)')
    return 'numba %s' % numba.__version__, ways


def warm_up(ways, seconds):
    """Calls in turns for so long, then waits until the process's threads are idle, and returns (the s that this took, whether they are)."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        for _, timer, _, around in ways.made:
            with around:
                timer.timeit(20)
        ways.wait()
        time.sleep(0.01)
    until = time.monotonic() + SETTLE_S
    idle = False
    while not idle and time.monotonic() < until:
        before = time.process_time()
        time.sleep(0.25)
        idle = time.process_time() - before < 0.02
    return time.monotonic() - begun, idle


def child(o):
    version, ways = globals()[o.child + '_ways'](o)
    took, idle = warm_up(ways, o.warm)
    print(json.dumps({'version': version, 'warm_s': took, 'idle': idle}))
    times, order = {label: [] for label, *_ in ways.made}, random.Random(0)
    for _ in range(o.repeats):
        for label, timer, _, around in order.sample(ways.made, len(ways.made)):
            with around:
                timer.timeit(50)
                ways.wait()
                times[label].append(timer.timeit(o.calls) / o.calls * 1e6)
                ways.wait()
    for label, _, goal, _ in ways.made:
        print(json.dumps({'way': label, 'us': statistics.median(times[label]), 'best_us': min(times[label]), 'goal_us': goal}))
    for label, why in ways.failed:
        print(json.dumps({'way': label, 'failed': why}))
    sys.stdout.flush()
    os._exit(0)  # some libraries' exit handlers fail when others share the GPU


# ---- all libraries

def work(o, name, env):
    """The lines that a library's process prints."""
    line = [sys.executable, os.path.abspath(__file__), '--child', name, '--device', o.device, '--repeats', str(o.repeats),
            '--calls', str(o.calls), '--warm', str(o.warm)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, env=env, timeout=LONGEST_S)
        out, code, said = done.stdout, done.returncode, done.stderr
    except subprocess.TimeoutExpired as e:
        out, code, said = e.stdout or b'', 'no end after %d s' % LONGEST_S, ''
        out = out.decode() if isinstance(out, bytes) else out
    made = [json.loads(text) for text in out.splitlines() if text.startswith('{')]
    why = said.strip().split('\n')[-1][:200]
    if why.startswith('ModuleNotFoundError'):
        return [{'library': name, 'missing': why}]
    return [{'library': name, **x} for x in made] + ([{'library': name, 'failed': '%s: %s' % (code, why)}] if code else [])


def call_rows(lines):
    rows = ['%-42s%9s%9s' % ('host time of a call, us', 'median', 'best')]
    for x in lines:
        label = x.get('way') or x['library']
        if 'missing' in x:
            rows.append('%-42s not here' % label)
        elif 'failed' in x:
            rows.append('%-42s FAILED: %s' % (label, x['failed']))
        elif 'way' in x:
            goal = x['goal_us']
            said = '' if goal is None else '   (goal: at most %g)   %s' % (goal, 'ok' if x['us'] <= goal else 'FALLS SHORT')
            rows.append('%-42s%9.2f%9.2f%s' % (label, x['us'], x['best_us'], said))
    return rows + ['']


# ---- new processes

LEAT_ALONE = """
import time; begun = time.perf_counter()
import leat
y = leat.eval(%r, leat.load('x.npy', like='leat', device=%r), device=%r)
leat.synchronize()
took = time.perf_counter() - begun
leat.save('y.npy', y)
print(took * 1e3)"""
WITH_NUMPY = """
import time; begun = time.perf_counter()
import leat, numpy as np
y = leat.eval(%r, np.load('x.npy'), device=%r)
took = time.perf_counter() - begun
np.save('y.npy', y)
print(took * 1e3)"""
COMMAND, JUDGED = 'leat run', 'python, Leat alone'


def fresh_environment(o, folder):
    """The interpreter of a new virtual environment with Leat and NumPy. What the packages of this machine's environment do whenever
    Python starts (coverage, redirected imports: 60 ms on one machine) is not Leat's."""
    import numpy
    base = getattr(sys, '_base_executable', sys.executable)
    subprocess.run([base, '-m', 'venv', '--without-pip', folder], check=True, timeout=60)
    python = os.path.join(folder, 'bin', 'python')
    packages = subprocess.run([python, '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], check=True, capture_output=True,
                              text=True).stdout.strip()
    others = os.path.dirname(os.path.dirname(numpy.__file__))
    for name in ['numpy', 'numpy.libs']:
        if os.path.exists(os.path.join(others, name)):
            os.symlink(os.path.join(others, name), os.path.join(packages, name))
    if o.package:
        with open(os.path.join(packages, 'leat.pth'), 'w') as f:
            f.write(os.path.abspath(o.package))
    return python


def processes(o, fresh):
    """{what: command line}. Those that use Leat read x.npy and write y.npy. fresh: the interpreter of a new environment."""
    here, alone = [sys.executable, '-c'], LEAT_ALONE % (TEXT, o.device, o.device)
    return {COMMAND: [os.path.abspath(o.command), 'run', '--device', o.device, '-e', TEXT, 'x=x.npy', '-o', 'y=y.npy'],
            JUDGED: [fresh, '-c', alone],
            'python, with NumPy': [fresh, '-c', WITH_NUMPY % (TEXT, o.device)],
            'python -c pass': [fresh, '-c', 'pass'],
            'python -c "import numpy"': [fresh, '-c', 'import numpy'],
            "Leat alone, in this machine's environment": here + [alone],
            "python -c pass, in this machine's": here + ['pass']}


def spend(line, folder, env):
    """(ms from the start of the process to its end, ms that it reports or None)."""
    import numpy as np
    path = os.path.join(folder, 'y.npy')
    if os.path.exists(path):
        os.remove(path)
    begun = time.perf_counter()
    done = subprocess.run(line, capture_output=True, text=True, env=env, cwd=folder, timeout=60)
    ms = (time.perf_counter() - begun) * 1e3
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split('\n')[-1][:200])
    if 'y.npy' in ' '.join(line) and not (np.load(path) == 5 * np.arange(N)).all():
        raise RuntimeError('the result is wrong')
    said = done.stdout.split()
    return ms, float(said[0]) if said and line[1] == '-c' else None


def first_results(o, env, lines):
    """All processes in turns, with a filled cache of compiled code."""
    import numpy as np
    rows = ['a new process from start to end, ms; medians of %d in turns, warm cache of compiled code; python in a new environment' % STARTS]
    middle, parts = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, 'x.npy'), np.arange(N, dtype=np.float32))
        all_lines, spent, what = {}, {}, 'a new environment'
        try:
            all_lines = processes(o, fresh_environment(o, os.path.join(folder, 'python')))
            for k in range(-2, STARTS):
                for what, line in all_lines.items() if k % 2 else reversed(all_lines.items()):
                    took = spend(line, folder, env)
                    if k >= 0:
                        spent.setdefault(what, []).append(took)
        except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as e:
            lines.append({'first': what, 'failed': str(e)})
            return rows + ['%-42s FAILED: %s' % (what, e)]
    for what in all_lines:
        took = spent[what]
        middle[what] = statistics.median(ms for ms, _ in took)
        parts[what] = statistics.median(part for _, part in took) if took[0][1] is not None else None
        lines.append({'first': what, 'ms': middle[what], 'to_result_ms': parts[what]})
    for what, ms in middle.items():
        said = ', %.1f from import to result' % parts[what] if parts[what] is not None else ''
        if what == JUDGED:
            ratio = ms / middle[COMMAND]
            said += '   %.2f x %s (goal: at most %g)   %s' % (ratio, COMMAND, GOAL_RATIO, 'ok' if ratio <= GOAL_RATIO else 'FALLS SHORT')
        rows.append('%-42s%9.1f%s' % (what, ms, said))
    return rows


# ---- the text

def said_by(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=HERE).stdout.strip().split('\n')[0]
    except (OSError, subprocess.TimeoutExpired):
        return ''


def header(o, lines, before):
    gpu = said_by(['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader']) if o.device == 'cuda' else o.device
    commit = os.environ.get('LEAT_COMMIT', '') or said_by(['git', 'rev-parse', '--short', 'HEAD'])
    warm = ['%s %.0f s%s' % (x['library'], x['warm_s'], '' if x['idle'] else ' (still busy)') for x in lines if 'warm_s' in x]
    return ['%s, %s, %d cores%s' % (datetime.date.today().isoformat(), gpu, os.cpu_count(), ', commit ' + commit if commit else ''),
            '; '.join([x['version'] for x in lines if 'version' in x]) + '; python ' + platform.python_version(),
            'x+x+x+x+x of %s f32; %d repeats of %s calls in turns, and a wait after each; a process for each library'
            % (format(N, ','), o.repeats, format(o.calls, ',')),
            'warmed up until the compiling thread was idle: ' + ', '.join(warm),
            'load average %.1f before, %.1f after' % (before, os.getloadavg()[0]), '']


def main():
    o = options()
    if o.package:
        sys.path.insert(0, os.path.abspath(o.package))
    if o.child:
        return child(o)
    before, lines, cache = os.getloadavg()[0], [], tempfile.mkdtemp(prefix='leat-bench-')
    env = {**os.environ, 'LEAT_CACHE_DIR': cache}
    if o.package:
        env['PYTHONPATH'] = os.pathsep.join([os.path.abspath(o.package)] + [p for p in [os.environ.get('PYTHONPATH')] if p])
    try:
        for name in o.libraries.split(','):
            lines += work(o, name, env)
            print('%s: done' % name, file=sys.stderr, flush=True)
        rows = call_rows(lines) + (first_results(o, env, lines) if o.command else [])
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    print('\n'.join(header(o, lines, before) + rows))
    if o.json:
        with open(o.json, 'w') as f:
            f.writelines(json.dumps(x) + '\n' for x in lines)
    return 1 if any('failed' in x and (x['library'] == 'leat' if 'library' in x else True) for x in lines) else 0


if __name__ == '__main__':
    sys.exit(main())
