"""Measures what tracing costs on this GPU, and checks that traced programs run as untraced ones do.

    tracing.py --build build/gpu [--only cost|examples|variants] [--repeats 3] [--keep FOLDER]

Cost: compares tracing/launches.c and launches.py, untraced and traced, with the goals: 1.5 us per launch, 3 us with the source line, 3 %
of the wall time of kernels that follow each other about every 7 us, if launching takes the host less than that. The speed of kernels
differs between processes by more than these goals, traced or not, and stays the same within a process. There are therefore many
processes, in waves that start in random order and are asked in turns; each counts once, by the median of its turns. A goal is reached, or
missed, if the 95 % interval of the mean lies on one side of it; otherwise the result is unclear. `CUPTI alone` is
tracing/kernel_records.c, which only records kernels. `callbacks` is the cost of CUPTI's calls of the recorder. Kernels are launched from C
only: the additional time is the device's. Variants, only on request: other ways to use CUPTI.
Examples: compares the output and exit status of tracing/example_*.py, untraced and traced. The sums of their traces must be consistent, and
the traces must name their lines. Prints a table; the exit status is 1 if a goal is missed."""
import argparse
import datetime
import glob
import importlib.util
import json
import os
import random
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
WAVES = 4
PROCESSES = {'C': 4, 'CuPy': 1}  # processes of a wave, for each way to run
VARIANTS_PROCESSES = {'C': 2, 'CuPy': 1}  # there are many more ways
COST_S, VARIANTS_S = 40, 120  # skips a wave that would exceed this time in total, except the second
FIGURES = {'C': ('launch', 'kernel'), 'CuPy': ('launch',)}
REFERENCE = 'CUPTI alone'
DRAWS = 4000
HEAD = '%-34s untraced  recorded      more'
AT_ONCE = 3  # examples
TIMES = {'example_jax': 3}  # traced this often: records of copies broke most runs
LEFT_OUT = 'copies and sets are not recorded'  # an allowed note for a program with XLA and CUPTI before 13.2
LAST_LINES, MOST_OF_LINE = 8, 200  # output of a failed program that is shown
AHEAD = 1.1  # the host is ahead if kernels take this much longer than its launches
NUMBAS = '/doc_examples/'  # the module with Numba's own examples
LEAST_LINES = 1  # lines of an example that its trace must name
FAILURES = (RuntimeError, KeyError, IndexError, OSError, subprocess.SubprocessError)


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default='build/gpu', help='folder of the leat command')
    p.add_argument('--only', default='', choices=('', 'cost', 'examples', 'variants'))
    p.add_argument('--repeats', type=int, default=3, help='turns of each process')
    p.add_argument('--keep', default='', help='a folder, for the traces and their reports')
    p.add_argument('--seconds', type=int, default=120, help='the longest that one program may take')
    return p.parse_args()


def has_library(name):
    return importlib.util.find_spec(name) is not None


def leat(o):
    return os.path.join(o.build, 'leat')


# ---- cost

def injected(o, folder, **more):
    """The environment in which CUDA loads the recorder, as `leat trace` sets it, with variables that `leat trace` never sets."""
    recorder = glob.glob(os.path.join(o.build, '**', 'libleat_trace.so'), recursive=True)[0]
    parts = os.path.join(folder, 'parts')
    os.makedirs(parts, exist_ok=True)
    return dict(more, CUDA_INJECTION64_PATH=os.path.abspath(recorder), LEAT_TRACE_FOLDER=parts)


def ways_to_run(o, folder, name):
    """By name: (prefix of the command, environment)."""
    def traced(kind, *more): return ([leat(o), 'trace', '-o', os.path.join(folder, 'cost_%s_%s.%%d.trace' % (name, kind)), *more], {})
    return {'untraced': ([], {}), 'no source': traced('plain', '--no-source'),
            'callbacks': ([], injected(o, folder, LEAT_TRACE_SOURCE='empty')), 'source': traced('source')}


PLACES, KERNEL, CALLS = '8:9:37', '10', '4:5'  # kinds of CUPTI's records
OTHER_KINDS = {'copies': '1:22', 'sets': '2', 'graphs': '51', 'memory': '49', 'overheads': '17', 'compiling': '52', 'NVTX': '11:12'}


def variants_to_run(o, folder):
    """Other ways to use CUPTI than the one of `leat trace`; src/trace/recorder/recorder.c describes them."""
    def tries(words, source='1'): return ([], injected(o, folder, LEAT_TRACE_CUPTI=words, LEAT_TRACE_SOURCE=source))
    return {'untraced': ([], {}), 'source': tries(''), 'no source': tries('', '0'), 'nothing': tries('only:' + PLACES, '0'),
            'callbacks alone': tries('only:' + PLACES, 'empty'), 'kernels alone': tries('only:%s:%s' % (PLACES, KERNEL), '0'),
            'calls alone': tries('only:%s:%s' % (PLACES, CALLS), '0'), 'kernels+calls': tries('only:%s:%s:%s' % (PLACES, KERNEL, CALLS), '0'),
            'all calls': tries('all', '0'),
            **{'and ' + kind: tries('only:%s:%s:%s:%s' % (PLACES, KERNEL, CALLS, number), '0') for kind, number in OTHER_KINDS.items()}}


def own_ns(trace):
    """The recorder's own time in the program's threads, as it measured it: the last number of a trace."""
    with open(trace, 'rb') as file:
        file.seek(-8, os.SEEK_END)
        return int.from_bytes(file.read(8), 'little')


def compiled(folder, name, *flags):
    path = os.path.join(folder, name)
    subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-D_GNU_SOURCE', os.path.join(FOLDER, name + '.c'), '-o', path, *flags, '-ldl'], check=True)
    return path


def commands_of_launches(folder):
    return {'C': [compiled(folder, 'launches')],
            **({'CuPy': [sys.executable, os.path.join(FOLDER, 'launches.py')]} if has_library('cupy') else {})}


def cupti_alone(o, folder, command):
    """A way to run, with the library that the recorder finds."""
    program = waiting.Program(command, o.seconds, injected(o, folder))
    try:
        program.told('count')
        with open('/proc/%d/maps' % program.process.pid) as file:
            found = re.search(r'(/.*/libcupti\.so.*)', file.read())
    finally:
        program.end()
    if not found:
        raise RuntimeError('the recorder finds no CUPTI')
    probe = compiled(folder, 'kernel_records', '-shared', '-fPIC')
    return [], {'CUDA_INJECTION64_PATH': os.path.abspath(probe), 'KERNEL_RECORDS_CUPTI': found.group(1)}


class Launches(waiting.Program):
    """A process of launches.c or launches.py: the number-th that runs this way."""
    def __init__(self, o, commands, ways, name, way, number):
        before, more = ways[name][way]
        super().__init__([word.replace('%d', str(number)) for word in before] + commands[name], o.seconds, more)
        self.name, self.way, self.number, self.turns = name, way, number, {figure: [] for figure in FIGURES[name]}

    def tell(self, told):
        for figure, values in self.turns.items():
            told[figure].append(statistics.median(values))
        told['launches'][self.number] = self.told('count')


def one_wave(o, commands, ways, numbers, told):
    """Adds its measurements to told."""
    wanted = [(name, way, number) for name in commands for way in ways[name] for number in numbers[name]]
    wave = [Launches(o, commands, ways, *one) for one in random.sample(wanted, len(wanted))]
    try:
        for program in wave:
            program.ask('count')
        for program in wave:
            program.answer()
        asked = [(program, figure) for program in wave for figure in program.turns]
        for _ in range(o.repeats):
            for program, figure in random.sample(asked, len(asked)):
                program.turns[figure].append(program.told(figure))
        for program in wave:
            program.tell(told[program.name][program.way])
    finally:
        waiting.end_all(wave)


def in_waves(o, commands, ways, processes, most_s):
    """For each command, by name, and each way to run it: by figure, the median of each process, and the number of launches by process."""
    told = {name: {way: {'launches': {}, **{figure: [] for figure in FIGURES[name]}} for way in ways[name]} for name in commands}
    start = time.perf_counter()
    for wave in range(WAVES):
        if wave > 1 and (time.perf_counter() - start) * (wave + 1) / wave > most_s:
            print('late: %d waves of %d' % (wave, WAVES), flush=True)
            break
        one_wave(o, commands, ways, {name: range(wave * count, (wave + 1) * count) for name, count in processes.items()}, told)
    return told


def compare(values, others, what):
    """what of the means, and its 95 % interval when processes are resampled, one fewer than there are, so that few processes do not
    look more alike than they are."""
    draw = random.Random(1)
    def mean(few): return statistics.fmean(draw.choices(few, k=len(few) - 1))
    drawn = sorted(what(mean(values), mean(others)) for _ in range(DRAWS))
    return what(statistics.fmean(values), statistics.fmean(others)), drawn[DRAWS // 40], drawn[-1 - DRAWS // 40]


def more_us(ns, plain_ns): return (ns - plain_ns) / 1e3


def more_ns(ns, plain_ns): return ns - plain_ns


def share(ns, plain_ns): return 100 * (ns / plain_ns - 1)


def judge(good):
    return 'ok' if good else 'MISSED'


def judge_between(low, high, most):
    return 'unclear' if low <= most < high else judge(high <= most)


def show_launch(name, way, told, most_us):
    """Prints a row. Returns whether it may reach its goal; without most_us there is none."""
    ns, plain_ns = told[way]['launch'], told['untraced']['launch']
    more, low, high = compare(ns, plain_ns, more_us)
    verdict = '' if most_us is None else judge_between(low, high, most_us)
    print('%-8s %-15s %9d %9.3f %9.3f %+9.3f  [%+6.3f %+6.3f]  %s' %
          (name, way, len(ns), statistics.fmean(plain_ns) / 1e3, statistics.fmean(ns) / 1e3, more, low, high,
           verdict and 'at most %.1f   %s' % (most_us, verdict)), flush=True)
    return verdict != 'MISSED'


def show_kernel(name, way, told, is_judged):
    """As show_launch. It counts only if the host stays ahead of the kernels, traced and untraced."""
    ns, plain_ns = told[way]['kernel'], told['untraced']['kernel']
    more, low, high = compare(ns, plain_ns, share)
    is_ahead = AHEAD * statistics.fmean(told[way]['launch']) < statistics.fmean(plain_ns)
    verdict = judge_between(low, high, 100 * SHARE) if is_judged and is_ahead else ''
    words = 'the host is behind' if not is_ahead else verdict and 'at most %.0f     %s' % (100 * SHARE, verdict)
    beyond = '' if way == REFERENCE else '%+5.0f  [%+4.0f %+4.0f]' % compare(ns, told[REFERENCE]['kernel'], more_ns)
    print('%-8s %-15s %9d %9.0f %9.0f %+9.0f  %+6.2f  [%+6.2f %+6.2f]  %-20s %s' %
          (name, way, len(ns), statistics.fmean(plain_ns), statistics.fmean(ns), statistics.fmean(ns) - statistics.fmean(plain_ns),
           more, low, high, words, beyond), flush=True)
    return verdict != 'MISSED'


def show(o, what, told, goals):
    """Prints the rows of all commands. Returns whether all goals may be reached."""
    print('%s: means over this many processes of the medians of %d turns; [95 %% interval of the mean]' %
          (what, o.repeats))
    print(HEAD % 'us for a launch of an empty kernel')
    rows = [(name, way, ways) for name, ways in told.items() for way in ways if way != 'untraced']
    good = [show_launch(*row, goals.get(row[1])) for row in rows]
    print('%s  %6s %38s   more than %s' % (HEAD % 'ns from one kernel to the next', '%', '', REFERENCE))
    return all(good + [show_kernel(*row, row[1] in goals) for row in rows if 'kernel' in FIGURES[row[0]]])


def cost(o, folder):
    try:
        commands = commands_of_launches(folder)
        ways = {name: ways_to_run(o, folder, name) for name in commands}
        ways['C'] = {REFERENCE: cupti_alone(o, folder, commands['C']), **ways['C']}
        told = in_waves(o, commands, ways, PROCESSES, COST_S)
        good = show(o, 'cost', told, {'no source': LAUNCH_US, 'source': SOURCE_US})
        for name in told:
            own = [own_ns(os.path.join(folder, 'cost_%s_source.%d.trace' % (name, k))) / count
                   for k, count in told[name]['source']['launches'].items()]
            print('the recorder\'s own time in %s\'s thread: %.3f us a launch' % (name, statistics.fmean(own) / 1e3), flush=True)
        return good
    except FAILURES as error:
        print('failed: %s' % error)
        return False


def variants(o, folder):
    commands = commands_of_launches(folder)
    ways = {name: variants_to_run(o, folder) for name in commands}
    ways['C'] = {REFERENCE: cupti_alone(o, folder, commands['C']), **ways['C']}
    return show(o, 'variants', in_waves(o, commands, ways, VARIANTS_PROCESSES, VARIANTS_S), {})


# ---- programs whose output must be the same

def without_times(text):
    """XLA's log lines begin with a time and a thread, which differ from run to run."""
    return re.sub(rb'(?m)^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ', rb'\1 ', text)


def run(o, command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, timeout=o.seconds)
    return done, time.perf_counter() - start


def differences(plain, traced):
    """The changes caused by tracing, in words. Leat's own lines, which say where the trace is, do not count."""
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
    """Errors in the trace, in words, and a few of its figures."""
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
    """Output of a failed program, without Leat's lines."""
    lines = [line for line in stderr.decode(errors='replace').splitlines() if line.strip() and not line.startswith('leat: ')]
    return ['    | ' + line[:MOST_OF_LINE] for line in lines[-LAST_LINES:]]


def example_traced(o, path, trace, plain, plain_s):
    """Whether an example that is traced once succeeded, with its row and details in lines."""
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
    """Whether an example succeeded, with its rows and details in lines."""
    name, good, lines = os.path.basename(path)[:-3], True, []
    plain, plain_s = run(o, [sys.executable, path])
    for _ in range(TIMES.get(name, 1)):
        is_good, more = example_traced(o, path, os.path.join(o.keep or folder, name + '.trace'), plain, plain_s)
        good, lines = good and is_good, lines + more
    return good, lines


def tried(o, path, folder):
    """example, with exceptions caught."""
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
