"""One library's part of the general GPU benchmark, in a process of its own: python3 general_worker.py NAME FOLDER ... (general.py starts
it). Runs, checks and times every way that a work has for the library, and prints one line of JSON for each work and size. Leat runs
first and leaves fingerprints of its results in FOLDER; a peer's way counts if its values agree with them."""
import argparse
import importlib
import os
import sys
import time

import numpy as np

import general_work
import general_works
from program_worker import SHORT_US, Timer, agree, fingerprint, say, told

IN_GRAPH = ', in a graph'  # short ways are also measured as a CUDA graph, because the host may be slower than the device


def options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('name')
    p.add_argument('folder')
    p.add_argument('--cases', default='', help='work/size,work/size')
    p.add_argument('--repeats', type=int, default=15)
    p.add_argument('--seconds', type=float, default=100, help='no further case is begun after them')
    p.add_argument('--quick', action='store_true')
    p.add_argument('--dry', action='store_true', help='values only')
    p.add_argument('--library', default='', help='libleat.so')
    p.add_argument('--device', default='cuda')
    o = p.parse_args()
    o.tiny = o.dry
    return o


def shown(arrays): return fingerprint([general_work.comparable(a) for a in arrays])


class Worker:
    def __init__(self, peer, o):
        self.peer, self.o, self.timer = peer, o, Timer(peer, o.repeats)
        self.pool = np.load(os.path.join(o.folder, 'pool.npy'), mmap_mode='r')

    def path(self, case): return os.path.join(self.o.folder, case.name.replace('/', '-') + '.npz')

    def expected(self, case, arrays):
        """The values to compare with: Leat's, or NumPy's for Leat itself, if that takes little time; and whose they are."""
        if not self.peer.is_leat and os.path.exists(self.path(case)):
            return dict(np.load(self.path(case))), 'Leat'
        if self.o.dry or case.which == 'small':
            return shown(case.work.values(arrays)), 'NumPy'
        return None, None

    def check(self, made, want, case):
        """Raises an error if the values differ."""
        said = agree(made, want[0], case.work.tolerance)
        if said:
            raise ValueError('WRONG, differs from %s: %s' % (want[1], said))

    def case(self, case):
        start, work, times, errors, uncounted = time.perf_counter(), case.work, {}, {}, []
        arrays = work.arrays(self.pool, case.which)
        want = self.expected(case, arrays)
        floors = {}
        for label, f, counts in self.peer.ways(work, self.peer.prepare(work, arrays)):
            try:
                made = shown(self.peer.fetch(f()))
                if want[0] is not None:
                    self.check(made, want, case)
                if self.peer.is_leat:
                    np.savez(self.path(case), **made)
                times[label] = None if self.o.dry else self.timer.device(f)
                if times[label] and times[label] < SHORT_US and hasattr(self.peer, 'captured'):
                    try:
                        in_graph = label + IN_GRAPH
                        times[in_graph] = self.timer.graph(f, lambda made: want[0] is None or self.check(shown(self.peer.fetch(made)), want, case))
                    except Exception as e:
                        times.pop(in_graph, None)
                        errors[in_graph] = told(e)
                if self.peer.is_leat and agree(shown(self.peer.fetch(f())), made, 0):
                    raise ValueError('WRONG: the runs that were timed made other values than the first one')
                if not counts:
                    uncounted += [way for way in (label, label + IN_GRAPH) if way in times]
            except Exception as e:  # if one way fails, the others still run
                times.pop(label, None)
                errors[label] = told(e)
        for what in ('bytes', 'issue') if self.peer.is_leat and times and not self.o.dry and self.o.device != 'cpu' else ():
            try:
                floors[what] = self.peer.floor(what, case, self.timer)
            except Exception as e:
                errors['floor by ' + what] = told(e)
        floors = {what: us for what, us in floors.items() if us}
        say(case=case.name, peer=self.o.name, ways=times, errors=errors, uncounted=uncounted, floors=floors, size=case.size,
            left_out=getattr(self.peer, 'left_out', []), compared=want[1], seconds=round(time.perf_counter() - start, 2))


def main():
    o = options()
    started = time.perf_counter()
    peer = importlib.import_module('general_' + o.name).open_peer(o)
    say(peer=o.name, version=peer.version)
    worker = Worker(peer, o)
    if peer.is_leat and not o.dry and o.device == 'cuda':
        try:
            say(peer=o.name, measured=peer.measured(worker.timer))
        except Exception as e:
            say(peer=o.name, measured='rates FAILED, ' + told(e))
    wanted = {name: k for k, name in enumerate(o.cases.split(','))}
    cases = [general_work.Case(w, which) for w in general_works.works() for which in w.sizes if '%s/%s' % (w.key, which) in wanted]
    for case in sorted(cases, key=lambda c: wanted[c.name]):
        failed = 'no time left' if time.perf_counter() - started > o.seconds else None
        try:
            failed or worker.case(case)
        except Exception as e:
            failed = told(e)
        if failed:
            say(case=case.name, peer=o.name, ways={}, errors={'': failed}, uncounted=[], floors={}, size=case.size, compared=None, seconds=0)
        peer.done()


if __name__ == '__main__':
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    main()
