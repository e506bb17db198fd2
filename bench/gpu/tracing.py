"""What tracing costs on this GPU, and whether programs run under it as they do without it.

    tracing.py --build build/gpu [--only cost|examples|variants] [--repeats 5] [--keep FOLDER]

Cost: tracing/launches.c and launches.py, untraced and traced in turns by processes that start together, against the goals: 1.5 us a
launch, 3 us with the source's line, 3 % of the wall time of kernels of about 6 us, where launching takes the host less than that.
`callbacks` is what CUPTI's calls of the recorder cost by themselves. Variants, only where they are asked for: other ways to use CUPTI.
Examples: what tracing/example_*.py print and their exit status, untraced and traced; what is recorded of them has to add up and to name
their lines. A table to stdout; exit status 1 if anything is missed."""
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
from concurrent.futures import ThreadPoolExecutor

import waiting

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, 'tracing')
LAUNCH_US, SOURCE_US, SHARE = 1.5, 3.0, 0.03
KERNELS = 10_000  # of about 6 us, in launches.c and launches.py
PROCESSES = 2  # for each way to run, in turns
AT_ONCE = 3  # examples
TIMES = {'example_jax': 3}  # traced so often: records of copies broke most runs
LEFT_OUT = 'copies and sets are not recorded'  # what a note may say of a program with XLA, where CUPTI is older than 13.2
LAST_LINES, MOST_OF_LINE = 8, 200  # what is shown of a program that failed
AHEAD = 1.1  # the host is ahead of kernels that take so much longer than its launches
NUMBAS = '/doc_examples/'  # where the examples are that come with Numba
LEAST_LINES = 1  # of an example: so many its trace has to name
FAILURES = (RuntimeError, KeyError, IndexError, OSError, subprocess.SubprocessError)


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default='build/gpu', help='folder of the leat command')
    p.add_argument('--only', default='', choices=('', 'cost', 'examples', 'variants'))
    p.add_argument('--repeats', type=int, default=5)
    p.add_argument('--keep', default='', help='a folder, for the traces and their reports')
    p.add_argument('--seconds', type=int, default=120, help='the longest that one program may take')
    return p.parse_args()


def has_library(name):
    return importlib.util.find_spec(name) is not None


def leat(o):
    return os.path.join(o.build, 'leat')


# ---- what it costs

def injected(o, folder, **more):
    """The environment in which CUDA loads the recorder, as `leat trace` sets it, and what the latter never sets."""
    recorder = glob.glob(os.path.join(o.build, '**', 'libleat_trace.so'), recursive=True)[0]
    parts = os.path.join(folder, 'parts')
    os.makedirs(parts, exist_ok=True)
    return dict(more, CUDA_INJECTION64_PATH=os.path.abspath(recorder), LEAT_TRACE_FOLDER=parts)


def ways_to_run(o, folder, name):
    """By name: (what stands before the command, environment)."""
    traced = [leat(o), 'trace', '-o', os.path.join(folder, 'cost_%s.%%d.trace' % name)]
    return {'untraced': ([], {}), 'no source': (traced + ['--no-source'], {}),
            'callbacks': ([], injected(o, folder, LEAT_TRACE_SOURCE='empty')), 'source': (traced, {})}


PLACES, KERNEL, CALLS = '8:9:37', '10', '4:5'  # kinds of CUPTI's records
OTHER_KINDS = {'copies': '1:22', 'sets': '2', 'graphs': '51', 'memory': '49', 'overheads': '17', 'compiling': '52', 'NVTX': '11:12'}


def variants_to_run(o, folder):
    """Other ways to use CUPTI, each beside the one that `leat trace` uses; src/trace/recorder/recorder.c says what they are."""
    def tries(words, source='1'): return ([], injected(o, folder, LEAT_TRACE_CUPTI=words, LEAT_TRACE_SOURCE=source))
    return {'untraced': ([], {}), 'source': tries(''), 'no source': tries('', '0'), 'nothing': tries('only:' + PLACES, '0'),
            'callbacks alone': tries('only:' + PLACES, 'empty'), 'kernels alone': tries('only:%s:%s' % (PLACES, KERNEL), '0'),
            'calls alone': tries('only:%s:%s' % (PLACES, CALLS), '0'), 'kernels+calls': tries('only:%s:%s:%s' % (PLACES, KERNEL, CALLS), '0'),
            'all calls': tries('all', '0'),
            **{'and ' + kind: tries('only:%s:%s:%s:%s' % (PLACES, KERNEL, CALLS, number), '0') for kind, number in OTHER_KINDS.items()}}


def own_ns(trace):
    """What the recorder measured of its own time in the program's threads: the last number of a trace."""
    with open(trace, 'rb') as file:
        file.seek(-8, os.SEEK_END)
        return int.from_bytes(file.read(8), 'little')


def ask_in_turns(o, programs):
    """Of each way, each figure's values: a round asks each once."""
    told = {way: {'launch_ns': [], 'kernels_ns': []} for way in programs}
    for turn in range(o.repeats * PROCESSES):
        for way, several in programs.items():
            program = several[turn % PROCESSES]
            told[way]['launch_ns'].append(program.told('launch'))
            told[way]['kernels_ns'].append(program.told('kernels'))
    return told


def in_turns(o, commands, ways_of):
    """Of each command, by name, and each of its ways: the values of its figures, and launches in all. All start together."""
    def start(command, way, k): return waiting.Program([word.replace('%d', str(k)) for word in way[0]] + command, o.seconds, way[1])
    programs = {name: {way: [start(command, how, k) for k in range(PROCESSES)] for way, how in ways_of(name).items()}
                for name, command in commands.items()}
    several = [program for ways in programs.values() for same in ways.values() for program in same]
    for program in several:
        program.ask('count')
    for program in several:
        program.answer()
    told = {name: ask_in_turns(o, ways) for name, ways in programs.items()}
    for name, ways in programs.items():
        for way, same in ways.items():
            told[name][way]['launches'] = [program.told('count') for program in same]
    waiting.end_all(several)
    return told


def judge(good):
    return 'ok' if good else 'MISSED'


def middle(told, way, figure):
    return statistics.median(told[way][figure])


def show_way(name, way, told, most_us):
    """Prints a row; whether it reaches its goals. Kernels count where the host keeps ahead of them, traced and untraced. Without
    most_us nothing is asked of it."""
    launch_ns, plain_ns = middle(told, way, 'launch_ns'), middle(told, 'untraced', 'launch_ns')
    kernels_ns, plain_kernels_ns = middle(told, way, 'kernels_ns'), middle(told, 'untraced', 'kernels_ns')
    least_us = (min(told[way]['launch_ns']) - min(told['untraced']['launch_ns'])) / 1e3
    more_us, share = (launch_ns - plain_ns) / 1e3, kernels_ns / plain_kernels_ns - 1
    ahead = AHEAD * launch_ns < plain_kernels_ns / KERNELS
    fits, fast = most_us is None or more_us <= most_us, share <= SHARE or not ahead or most_us is None
    goal = '' if most_us is None else 'at most %.1f   %-7s' % (most_us, judge(fits))
    kernels_goal = '' if most_us is None else 'at most %.0f   %s' % (100 * SHARE, judge(fast)) if ahead else 'the host is behind'
    print('%-8s %-15s %8.3f %8.3f %+7.3f us %+7.3f  %-21s %8.2f %8.2f %+7.1f %%  %s' %
          (name, way, plain_ns / 1e3, launch_ns / 1e3, more_us, least_us, goal,
           plain_kernels_ns / 1e6, kernels_ns / 1e6, 100 * share, kernels_goal), flush=True)
    return fits and fast


def show_head(o, what):
    print('%s, medians of %d: us for a launch of an empty kernel; ms for %d kernels of about 6 us; least: between the smallest' %
          (what, o.repeats * PROCESSES, KERNELS))
    print('%-8s %-15s %8s %8s %8s %9s %23s %8s %8s' % ('from', 'recorded', 'untraced', 'traced', 'more', 'least', '', 'untraced', 'traced'))


def show_cost(name, told, folder):
    """Prints a program's rows; whether they reach their goals."""
    goals = {'no source': LAUNCH_US, 'callbacks': None, 'source': SOURCE_US}
    good = all([show_way(name, way, told, most_us) for way, most_us in goals.items()])
    own = [own_ns(os.path.join(folder, 'cost_%s.%d.trace' % (name, k))) / count for k, count in enumerate(told['source']['launches'])]
    print('%-24s the recorder itself: %.3f us a launch' % ('', statistics.median(own) / 1e3), flush=True)
    return good


def commands_of_launches(folder):
    program = os.path.join(folder, 'launches')
    subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-D_GNU_SOURCE', os.path.join(FOLDER, 'launches.c'), '-o', program, '-ldl'], check=True)
    return {'C': [program], **({'CuPy': [sys.executable, os.path.join(FOLDER, 'launches.py')]} if has_library('cupy') else {})}


def cost(o, folder):
    show_head(o, 'cost')
    try:
        told = in_turns(o, commands_of_launches(folder), lambda name: ways_to_run(o, folder, name))
        return all([show_cost(name, ways, folder) for name, ways in told.items()])
    except FAILURES as error:
        print('failed: %s' % error)
        return False


def variants(o, folder):
    show_head(o, 'variants')
    for name, command in commands_of_launches(folder).items():
        for ways in in_turns(o, {name: command}, lambda _: variants_to_run(o, folder)).values():
            for way in ways:
                show_way(name, way, ways, None)
    return True


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
    if len([line for line in ours if LEFT_OUT.encode() not in line]) != 1:
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
    notes = [note for note in whole['notes'] if LEFT_OUT not in note]
    if whole['lost'] or whole['errors'] or notes:
        wrong.append('%d lost, %s %s' % (whole['lost'], notes, whole['errors']))
    operations = told_by(o, trace, '--trace')['operations']
    def is_own(source): return os.path.basename(program) + ':' in source or NUMBAS in source
    named = [one['source'] for one in operations if is_own(one.get('source', ''))]
    lines = set(named) | {source for finding in whole['findings'] for source in finding['sources'] if is_own(source)}
    if len(lines) < LEAST_LINES:
        wrong.append('%d of its lines are named' % len(lines))
    told = '%d operations, %d %% of them right from its lines; %d lines named' % (len(operations), 100 * len(named) // max(len(operations), 1), len(lines))
    return wrong, told + ('; without copies' if len(notes) < len(whole['notes']) else '')


def keep(o, trace, name, texts):
    for ending, text in texts.items():
        with open(os.path.join(o.keep, name + ending), 'wb') as file:
            file.write(text)
    with open(os.path.join(o.keep, name + '.txt'), 'w') as file:
        subprocess.run([leat(o), 'report', trace], stdout=file, stderr=subprocess.STDOUT)


def last_lines(stderr):
    """Of a program that failed, without leat's."""
    lines = [line for line in stderr.decode(errors='replace').splitlines() if line.strip() and not line.startswith('leat: ')]
    return ['    | ' + line[:MOST_OF_LINE] for line in lines[-LAST_LINES:]]


def example_traced(o, path, trace, plain, plain_s):
    """Whether all is well with an example that is traced once, and its row and more in lines."""
    name, command = os.path.basename(path)[:-3], [sys.executable, path]
    traced, traced_s = run(o, [leat(o), 'trace', '-o', trace] + command)
    wrong, told = differences(plain, traced), ''
    try:
        more, told = recorded(o, trace, path)
        wrong += more
    except (subprocess.SubprocessError, ValueError, KeyError) as error:
        wrong.append('no report: %s' % error)
    if o.keep:
        keep(o, trace, name, {'.plain.out': plain.stdout, '.plain.err': plain.stderr, '.traced.out': traced.stdout, '.traced.err': traced.stderr})
    lines = ['%-18s %6.1f s, traced %6.1f s  %-6s %s' % (name, plain_s, traced_s, judge(not wrong), told)] + ['    ' + text for text in wrong]
    if 'stderr differs' in wrong:
        lines += last_lines(traced.stderr)
    return not wrong, lines


def example(o, path, folder):
    """Whether all is well with an example, and its rows and more in lines."""
    name, good, lines = os.path.basename(path)[:-3], True, []
    plain, plain_s = run(o, [sys.executable, path])
    for _ in range(TIMES.get(name, 1)):
        is_good, more = example_traced(o, path, os.path.join(o.keep or folder, name + '.trace'), plain, plain_s)
        good, lines = good and is_good, lines + more
    return good, lines


def tried(o, path, folder):
    """example, whatever happens."""
    name = os.path.basename(path)[:-3]
    if not has_library(name.split('_')[1]):
        return True, ['%-18s its library is not here' % name]
    try:
        return example(o, path, folder)
    except (subprocess.SubprocessError, OSError) as error:
        return False, ['%-18s failed: %s' % (name, error)]


def examples(o, folder):
    print('programs untraced and traced, %d at once: the same bytes to stdout and stderr (but for leat\'s line), the same exit status' % AT_ONCE)
    good = True
    paths = sorted(glob.glob(os.path.join(FOLDER, 'example_*.py')))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for is_good, lines in pool.map(lambda path: tried(o, path, folder), paths):
            print('\n'.join(lines), flush=True)
            good &= is_good
    return good


def main():
    o, start = options(), time.perf_counter()
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
    print('%s: what tracing costs and changes' % datetime.date.today())
    good = True
    with tempfile.TemporaryDirectory() as folder:
        if o.only in ('', 'cost'):
            good &= cost(o, folder)
        if o.only == 'variants':
            good &= variants(o, folder)
        if o.only in ('', 'examples'):
            good &= examples(o, folder)
    print('%.0f s in all' % (time.perf_counter() - start))
    sys.exit(0 if good else 1)


main()
