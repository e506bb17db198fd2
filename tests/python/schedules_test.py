"""Random schedules of CuPy, PyTorch and Leat on a GPU: arrays go from one library to another, in streams of their own, are used at
once and dropped at once. All values are whole numbers, so that any wrong order shows as a wrong value.

    python schedules_test.py 10000 [SEED]
"""

import os
import random
import sys

import numpy as np
import pytest

if os.environ.get("LEAT_TEST_DEVICE", "cpu") != "cuda" and __name__ != "__main__":
    pytest.skip("needs a GPU", allow_module_level=True)
cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")
import leat  # noqa: E402

SIZES = (1, 37, 1000, 100_000)
double = leat.program("y[i] = 2 * x[i] + 1")
add = leat.program("y[i] = a[i] + b[i]")
both = leat.program("s[i] = a[i] + b[i]\nd[i] = a[i] - b[i]\nout s, d")


class Cupy:
    def __init__(self):
        self.streams = [cupy.cuda.Stream.null] + [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
        self.slow = cupy.ones((2500, 2500), "f4")

    def inside(self, stream):
        return self.streams[stream]

    def make(self, values):
        return cupy.asarray(values)

    def delay(self):
        cupy.matmul(self.slow, self.slow)

    def host(self, array, stream):
        return cupy.asnumpy(array, stream=self.streams[stream])

    def empty(self, count):
        return cupy.empty(count)

    def scribble(self, count):
        """Writes into memory that was freed last, if the stream may use it."""
        self.empty(count).fill(-7)


class Torch:
    def __init__(self):
        self.streams = [torch.cuda.default_stream()] + [torch.cuda.Stream() for _ in range(2)]
        self.slow = torch.ones(2500, 2500, device="cuda")

    def inside(self, stream):
        return torch.cuda.stream(self.streams[stream])

    def make(self, values):
        return torch.from_numpy(values).cuda()

    def delay(self):
        self.slow @ self.slow

    def host(self, array, stream):
        with self.inside(stream):
            return array.cpu().numpy()

    def empty(self, count):
        return torch.empty(count, dtype=torch.float64, device="cuda")

    def scribble(self, count):
        self.empty(count).fill_(-7)


class Schedule:
    """`live` has (library, stream, array, values): the array is used by that library in that stream only."""

    def __init__(self, libraries, rng):
        self.libraries, self.rng, self.live = libraries, rng, []
        self.count = rng.choice(SIZES)

    def pick(self, library=None, stream=None):
        fit = [one for one in self.live if (library is None or one[0] is library) and (stream is None or one[1] == stream)]
        return self.rng.choice(fit) if fit else self.make(library, stream)

    def keep(self, library, stream, array, values):
        self.live.append((library, stream, array, values))
        return self.live[-1]

    def make(self, library=None, stream=None):
        library = library or self.rng.choice(self.libraries)
        stream = self.rng.randrange(3) if stream is None else stream
        values = np.arange(self.count) * float(self.rng.randrange(1, 9))
        with library.inside(stream):
            return self.keep(library, stream, library.make(values), values)

    def call(self):
        library, stream, x, values = self.pick()
        with library.inside(stream):
            self.keep(library, stream, double(x), 2 * values + 1)

    def call_out(self):
        library, stream, x, values = self.pick()
        with library.inside(stream):
            y = library.empty(self.count)
            assert double(x, out=y) is y
            self.keep(library, stream, y, 2 * values + 1)

    def use_at_once(self):
        """A kernel of the library behind a slow one reads a result that is dropped as soon as it is enqueued."""
        library, stream, x, values = self.pick()
        with library.inside(stream):
            library.delay()
            self.keep(library, stream, double(double(x)) + 5, 4 * values + 8)

    def two_results(self):
        library, stream, a, values = self.pick()
        b, other = self.pick(library, stream)[2:]
        with library.inside(stream):
            s, d = both(a, b)
            self.keep(library, stream, s, values + other)
            self.keep(library, stream, d, values - other)

    def other_stream(self):
        """The call runs in another stream than the library's current one, which goes on with the result."""
        library, stream, x, values = self.pick()
        other = library.streams[self.rng.randrange(3)]
        with library.inside(stream):
            library.delay()
            late = x + 0  # ready only after the slow kernel
            y = double(late, stream=other)
            del late  # its memory is the library's again, in the stream
            library.scribble(self.count)
            self.keep(library, stream, y * 3, 3 * (2 * values + 1))

    def across(self):
        """Arrays of both libraries, each ready in a stream of its own."""
        a_library, a_stream, a, a_values = self.pick(self.libraries[0])
        b_library, b_stream, b, b_values = self.pick(self.libraries[1])
        first = self.rng.random() < 0.5
        with a_library.inside(a_stream), b_library.inside(b_stream):
            (b_library if first else a_library).delay()  # in the stream that the call does not run in
            late = (b if first else a) + 0
            y = add(a, late) if first else add(b, late)
            del late
            (b_library if first else a_library).scribble(self.count)
            self.keep(*((a_library, a_stream) if first else (b_library, b_stream)), y, a_values + b_values)

    def through_leat(self):
        """A leat.Array between the two: Leat orders it."""
        library, stream, x, values = self.pick()
        to = self.rng.choice(self.libraries)
        to_stream = self.rng.randrange(3)
        with library.inside(stream):
            library.delay()
            y = double(double(x, like="leat"))
        with to.inside(to_stream):
            made = (cupy if isinstance(to, Cupy) else torch).from_dlpack(y)
            del y
            self.keep(to, to_stream, made + 1, 4 * values + 4)

    def from_host(self):
        library, stream, x, values = self.pick()
        host = np.arange(self.count) * 2.0
        with library.inside(stream):
            y = add(x, host)
            host[:] = -1  # the call has read it
            self.keep(library, stream, y, values + np.arange(self.count) * 2.0)

    def drop(self):
        if self.live:
            self.live.pop(self.rng.randrange(len(self.live)))

    def run(self):
        steps = (self.make, self.call, self.call, self.call_out, self.use_at_once, self.use_at_once, self.two_results,
                 self.other_stream, self.across, self.through_leat, self.from_host, self.drop, self.drop)
        for _ in range(self.rng.randrange(2, 12)):
            self.rng.choice(steps)()
        for library, stream, array, values in self.live:
            assert np.array_equal(library.host(array, stream), values)


def run_schedules(count, seed):
    libraries = [Cupy(), Torch()]
    for k in range(count):
        try:
            Schedule(libraries, random.Random(seed + k)).run()
        except Exception:
            print("schedule of seed", seed + k)
            raise


def test_schedules():
    run_schedules(int(os.environ.get("LEAT_SCHEDULES", "500")), 1)


if __name__ == "__main__":
    run_schedules(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(sys.argv[1], "schedules passed")
