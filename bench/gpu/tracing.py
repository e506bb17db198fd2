"""What tracing costs on this GPU, and whether programs run under it as they do without it.

    tracing.py --build build/gpu [--only cost|examples] [--repeats 5] [--keep FOLDER]

Cost: tracing/launches.c and launches.py, untraced and traced in turns, against the goals: 1.5 us a launch, 3 us with the source's line,
3 % of the wall time of kernels of about 6 us, where launching takes the host less than that. `callbacks` is what CUPTI's calls of
the recorder cost by themselves. Examples: what tracing/example_*.py print and their exit status, untraced and traced;
what is recorded of them has to add up and to name their lines. A table to stdout; exit status 1 if anything is missed."""
import argparse
import datetime
import glob
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, 'tracing')
LAUNCH_US, SOURCE_US, SHARE = 1.5, 3.0, 0.03
KERNELS = 20_000  # of about 6 us, in launches.c and launches.py
LAUNCHES = 30_000 + 500 + 40 * 500 + 3 * KERNELS  # of a program in all
AHEAD = 1.1  # the host is ahead of kernels that take so much longer than its launches
NUMBAS = '/doc_examples/'  # where the examples are that come with Numba
LEAST_LINES = 1  # of an example: so many its trace has to name


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default='build/gpu', help='folder of the leat command')
    p.add_argument('--only', default='', choices=('', 'cost', 'examples'))
    p.add_argument('--repeats', type=int, default=5)
    p.add_argument('--keep', default='', help='a folder, for the traces and their reports')
    p.add_argument('--seconds', type=int, default=120, help='the longest that one program may take')
    return p.parse_args()


def has_library(name):
    return importlib.util.find_spec(name) is not None


def leat(o):
    return os.path.join(o.build, 'leat')


# ---- what it costs

def figures(o, command, more):
    """What a program of launches says, by name. more: environment."""
    out = subprocess.run(command, capture_output=True, text=True, timeout=o.seconds, env=dict(os.environ, **more))
    if out.returncode:
        raise RuntimeError(out.stderr.strip().splitlines()[-1] if out.stderr.strip() else 'status %d' % out.returncode)
    return {name: float(value) for name, value in re.findall(r'^(\w+_ns) ([\d.]+)$', out.stdout, re.M)}


def callbacks_alone(o, folder):
    """The recorder's environment in which CUPTI calls it at each launch, and it does nothing. `leat trace` sets no such thing."""
    recorder = glob.glob(os.path.join(o.build, '**', 'libleat_trace.so'), recursive=True)
    parts = os.path.join(folder, 'parts')
    os.makedirs(parts, exist_ok=True)
    return {'CUDA_INJECTION64_PATH': os.path.abspath(recorder[0]), 'LEAT_TRACE_FOLDER': parts, 'LEAT_TRACE_SOURCE': 'empty'} if recorder else None


def own_ns(trace):
    """What the recorder measured of its own time in the program's threads: the last number of a trace."""
    with open(trace, 'rb') as file:
        file.seek(-8, os.SEEK_END)
        return int.from_bytes(file.read(8), 'little')


def in_turns(o, name, command, folder):
    """Of each way to run the command, each figure's median."""
    file = os.path.join(folder, 'cost_%s.trace' % name)
    trace = [leat(o), 'trace', '-o', file]
    ways = {'untraced': ([], {}), 'no source': (trace + ['--no-source'], {}), 'callbacks': ([], callbacks_alone(o, folder)), 'source': (trace, {})}
    told = {way: [] for way in ways if ways[way][1] is not None}
    for _ in range(o.repeats):
        for way in told:
            before, more = ways[way]
            told[way].append(figures(o, before + command, more))
    medians = {way: {figure: statistics.median(one[figure] for one in all_) for figure in all_[0]} for way, all_ in told.items()}
    medians['source']['own_ns'] = own_ns(file) / LAUNCHES
    return medians


def judge(good):
    return 'ok' if good else 'MISSED'


def show_way(name, way, told, most_us):
    """Prints a row; whether it reaches its goals. Kernels count where the host keeps ahead of them, traced and untraced. Without
    most_us nothing is asked of it."""
    untraced = told['untraced']
    more_us = (told[way]['launch_ns'] - untraced['launch_ns']) / 1e3
    share = told[way]['kernels_ns'] / untraced['kernels_ns'] - 1
    ahead = AHEAD * told[way]['launch_ns'] < untraced['kernels_ns'] / KERNELS
    fits, fast = most_us is None or more_us <= most_us, share <= SHARE or not ahead or most_us is None
    goal = '' if most_us is None else 'at most %.1f   %-7s' % (most_us, judge(fits))
    kernels_goal = '' if most_us is None else 'at most %.0f   %s' % (100 * SHARE, judge(fast)) if ahead else 'the host is behind'
    print('%-8s %-10s %9.3f %9.3f %+8.3f us  %-21s %9.2f %9.2f %+7.1f %%  %s' %
          (name, way, untraced['launch_ns'] / 1e3, told[way]['launch_ns'] / 1e3, more_us, goal,
           untraced['kernels_ns'] / 1e6, told[way]['kernels_ns'] / 1e6, 100 * share, kernels_goal), flush=True)
    return fits and fast


def show_cost(name, told):
    """Prints a program's rows; whether they reach their goals."""
    goals = {'no source': LAUNCH_US, 'callbacks': None, 'source': SOURCE_US}
    good = all([show_way(name, way, told, most_us) for way, most_us in goals.items() if way in told])
    print('%-19s the recorder itself: %.3f us a launch' % ('', told['source']['own_ns'] / 1e3), flush=True)
    return good


def cost(o, folder):
    program = os.path.join(folder, 'launches')
    subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-D_GNU_SOURCE', os.path.join(FOLDER, 'launches.c'), '-o', program, '-ldl'], check=True)
    print('cost, medians of %d: us for a launch of an empty kernel; ms for %d kernels of about 6 us' % (o.repeats, KERNELS))
    print('%-8s %-10s %9s %9s %8s %24s %9s %9s' % ('from', 'recorded', 'untraced', 'traced', 'more', '', 'untraced', 'traced'))
    commands = {'C': [program]}
    if has_library('cupy'):
        commands['CuPy'] = [sys.executable, os.path.join(FOLDER, 'launches.py')]
    good = True
    for name, command in commands.items():
        try:
            good &= show_cost(name, in_turns(o, name, command, folder))
        except (RuntimeError, KeyError, subprocess.SubprocessError) as error:
            print('%-8s failed: %s' % (name, error))
            good = False
    return good


# ---- programs that print the same

def without_times(text):
    """Log lines of XLA's begin with a time and a thread: they differ from run to run."""
    return re.sub(rb'(?m)^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ', rb'\1 ', text)


def run(o, command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, timeout=o.seconds)
    return done, time.perf_counter() - start


def differences(plain, traced):
    """What tracing changed, in words; leat's own lines do not count, which say where the trace is."""
    stderr, ours = [], []
    for line in traced.stderr.splitlines(True):
        (ours if line.startswith(b'leat: ') else stderr).append(line)
    found = []
    if plain.returncode != traced.returncode:
        found.append('exit status %d, traced %d' % (plain.returncode, traced.returncode))
    if plain.stdout != traced.stdout:
        found.append('stdout differs')
    if without_times(plain.stderr) != without_times(b''.join(stderr)):
        found.append('stderr differs')
    if len(ours) != 1:
        found.append('leat says ' + b' '.join(ours).decode(errors='replace').strip())
    if not plain.stdout or plain.returncode:
        found.append('failed: ' + (plain.stderr.decode(errors='replace').strip().splitlines() or ['no output'])[-1])
    return found


def told_by(o, trace, *words):
    out = subprocess.run([leat(o), 'report', trace, *words, '--json'], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def recorded(o, trace, program):
    """What is wrong with the trace, in words; and a few figures of it."""
    whole, wrong = told_by(o, trace), []
    for device in whole['devices']:
        if device['busy_ns'] + device['idle_ns'] != device['wall_ns'] or sum(device['idle'].values()) != device['idle_ns']:
            wrong.append('the sums of %s do not close' % device['device'])
    if whole['lost'] or whole['errors'] or whole['notes']:
        wrong.append('%d lost, %s %s' % (whole['lost'], whole['notes'], whole['errors']))
    operations = told_by(o, trace, '--trace')['operations']
    def is_own(source): return os.path.basename(program) + ':' in source or NUMBAS in source
    named = [one['source'] for one in operations if is_own(one.get('source', ''))]
    lines = set(named) | {source for finding in whole['findings'] for source in finding['sources'] if is_own(source)}
    if len(lines) < LEAST_LINES:
        wrong.append('%d of its lines are named' % len(lines))
    return wrong, '%d operations, %d %% of them right from its lines; %d lines named' % (len(operations), 100 * len(named) // max(len(operations), 1), len(lines))


def keep(o, trace, name, texts):
    for ending, text in texts.items():
        with open(os.path.join(o.keep, name + ending), 'wb') as file:
            file.write(text)
    with open(os.path.join(o.keep, name + '.txt'), 'w') as file:
        subprocess.run([leat(o), 'report', trace], stdout=file, stderr=subprocess.STDOUT)


def example(o, path, folder):
    """Prints an example's row; whether all is well."""
    name = os.path.basename(path)[:-3]
    command, trace = [sys.executable, path], os.path.join(o.keep or folder, name + '.trace')
    plain, plain_s = run(o, command)
    traced, traced_s = run(o, [leat(o), 'trace', '-o', trace] + command)
    wrong, told = differences(plain, traced), ''
    try:
        more, told = recorded(o, trace, path)
        wrong += more
    except (subprocess.SubprocessError, ValueError, KeyError) as error:
        wrong.append('no report: %s' % error)
    if o.keep:
        keep(o, trace, name, {'.plain.out': plain.stdout, '.plain.err': plain.stderr, '.traced.out': traced.stdout, '.traced.err': traced.stderr})
    print('%-16s %6.1f s, traced %6.1f s  %-6s %s' % (name, plain_s, traced_s, judge(not wrong), told), flush=True)
    for text in wrong:
        print('    ' + text, flush=True)
    return not wrong


def examples(o, folder):
    print('programs untraced and traced: the same bytes to stdout and stderr (but for leat\'s line), the same exit status')
    good = True
    for path in sorted(glob.glob(os.path.join(FOLDER, 'example_*.py'))):
        library = os.path.basename(path)[:-3].split('_')[1]
        if not has_library(library):
            print('%-16s its library is not here' % os.path.basename(path)[:-3])
            continue
        try:
            good &= example(o, path, folder)
        except subprocess.SubprocessError as error:
            print('%-16s failed: %s' % (os.path.basename(path)[:-3], error))
            good = False
    return good


def main():
    o, start = options(), time.perf_counter()
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
    print('%s: what tracing costs and changes' % datetime.date.today())
    good = True
    with tempfile.TemporaryDirectory() as folder:
        if o.only != 'examples':
            good &= cost(o, folder)
        if o.only != 'cost':
            good &= examples(o, folder)
    print('%.0f s in all' % (time.perf_counter() - start))
    sys.exit(0 if good else 1)


main()
