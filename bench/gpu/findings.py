"""Is what leat's findings promise true? For each pair of programs in findings/: the one before the advice is traced, and the gain
that the rule of its name predicts is compared with what the one after it gains, both run without tracing.

    findings.py --build build/gpu [--only small_grid,compiling] [--repeats 3] [--json FILE]

A table to stdout; exit status 1 if fewer than nine of ten are within 25 % (a pair whose library is not here is left out)."""
import argparse
import datetime
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WITHIN, NEEDED = 0.25, 0.9


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--build', default='build/gpu', help='folder of the leat command')
    p.add_argument('--only', default='', help='pairs, by the start of their names')
    p.add_argument('--repeats', type=int, default=3)
    p.add_argument('--json', default='', help='a file')
    p.add_argument('--seconds', type=int, default=120, help='the longest that one program may take')
    return p.parse_args()


def took_ns(o, path, way):
    out = subprocess.run([sys.executable, path, way], capture_output=True, text=True, timeout=o.seconds)
    if out.returncode:
        raise RuntimeError(out.stderr.strip().splitlines()[-1] if out.stderr.strip() else 'status %d' % out.returncode)
    return int(re.search(r'^took_ns (\d+)$', out.stdout, re.M).group(1))


def findings(o, path):
    """What the traced program before the advice is told."""
    leat = os.path.join(o.build, 'leat')
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, 'pair.trace')
        subprocess.run([leat, 'trace', '-o', trace, '--from-start', 'off', sys.executable, path, 'before'],
                       capture_output=True, text=True, timeout=2 * o.seconds, check=True)
        report = subprocess.run([leat, 'report', trace, '--findings', '--json'], capture_output=True, text=True, check=True)
        return json.loads(report.stdout)['findings']


def in_ns(text):
    number, unit = text.split()
    return float(number) * {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}[unit]


def predicted_ns(rule, finding):
    """The gain; for a wait that is blamed, which claims none, how much of the clock's time is not its own."""
    if rule != 'blamed-wait':
        return finding['gain_ns']
    return in_ns(re.search(r': ([\d.]+ \w+) of its', finding['title']).group(1))


def measure(o, path):
    name = os.path.basename(path)[:-3]
    rule = name.rsplit('_', 1)[0].replace('_', '-')
    before = statistics.median(took_ns(o, path, 'before') for _ in range(o.repeats))
    after = statistics.median(took_ns(o, path, 'after') for _ in range(o.repeats))
    told = findings(o, path)
    row = {'pair': name, 'rule': rule, 'before_ns': before, 'after_ns': after, 'gain_ns': before - after,
           'all': [(f['rule'], f['gain_ns']) for f in told]}
    ours = [f for f in told if f['rule'] == rule]
    if ours:
        row.update(predicted_ns=predicted_ns(rule, ours[0]), title=ours[0]['title'])
        row['off'] = row['predicted_ns'] / row['gain_ns'] - 1 if row['gain_ns'] > 0 else float('inf')
    return row


def show(row):
    def ms(key): return '%10.3f' % (row[key] / 1e6) if key in row else '%10s' % '-'
    if 'error' in row:
        print('%-26s %s' % (row['pair'], row['error']))
        return
    off = '%+5.0f %%' % (100 * row['off']) if 'off' in row else 'not found'
    good = 'off' in row and abs(row['off']) <= WITHIN
    print('%-26s %s %s %s %s  %-9s %s' % (row['pair'], ms('before_ns'), ms('after_ns'), ms('gain_ns'), ms('predicted_ns'), off,
                                          'ok' if good else 'NO'))
    print('    ' + row.get('title', 'found instead: ' + ', '.join('%s %.1f ms' % (r, g / 1e6) for r, g in row['all'])), flush=True)


def has_library(path):
    library = os.path.basename(path)[:-3].rsplit('_', 1)[1]
    return subprocess.run([sys.executable, '-c', 'import ' + library], capture_output=True).returncode == 0


def main():
    o = options()
    os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'
    paths = [p for p in sorted(glob.glob(os.path.join(HERE, 'findings', '*_*.py')))
             if os.path.basename(p).startswith(tuple(o.only.split(',')))]
    print('%s: gains that findings predict beside those that come; ms, medians of %d' % (datetime.date.today(), o.repeats))
    print('%-26s %10s %10s %10s %10s' % ('pair', 'before', 'after', 'gain', 'predicted'))
    rows = []
    for path in paths:
        if not has_library(path):
            print('%-26s its library is not here' % os.path.basename(path)[:-3])
            continue
        try:
            rows.append(measure(o, path))
        except (RuntimeError, subprocess.SubprocessError, AttributeError, ValueError, KeyError) as error:
            rows.append({'pair': os.path.basename(path)[:-3], 'error': 'failed: %s' % error})
        show(rows[-1])
    if o.json:
        with open(o.json, 'w') as file:
            for row in rows:
                file.write(json.dumps(row) + '\n')
    good = sum('off' in row and abs(row['off']) <= WITHIN for row in rows)
    print('%d of %d within %d %%' % (good, len(rows), 100 * WITHIN))
    sys.exit(0 if rows and good >= NEEDED * len(rows) else 1)


main()
