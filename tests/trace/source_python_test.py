"""Compares the Python lines that the recorder finds with those of the interpreter at the same moment.

usage: source_python_test.py PROBE; exit status 77: this version of Python is not supported."""

import ctypes
import sys
import threading

sys.dont_write_bytecode = True
from source_probe import MOST_FRAMES, NATIVE, Probe, frames

probe = Probe(sys.argv[1])
expected = []
tell = probe.callback_type(lambda: expected.append(frames(sys._getframe(1))))
checked = 0


def here(*_):
    """Captures, and asks the interpreter inside the same call. Its own frame is the innermost."""
    return probe.library.probe_capture_and_call(probe.probe, tell)


def check(source):
    global checked
    want = expected.pop()
    found = probe.chain(source)
    assert found == want, "\nfound    %s\nexpected %s" % (found, want)
    assert not expected
    checked += 1
    return found


def nested_functions():
    def outer():
        def inner():
            return here()

        return inner()

    check(outer())


def lambdas_and_methods():
    class Thing:
        def method(self):
            return (lambda: here())()

        @classmethod
        def of_class(cls):
            return cls().method()

        @staticmethod
        def static():
            return Thing.of_class()

        @property
        def value(self):
            return Thing.static()

        def __add__(self, other):
            return self.value

        def __enter__(self):
            return self + self

        def __exit__(self, *_):
            return None

    with Thing() as source:
        check(source)
    assert sorted([3], key=lambda _: len(check(Thing() + 1))) == [3]


def code_without_a_file():
    names = {"here": here}
    exec("def f():\n    x = 1\n\n    return here()\n\nsource = f()", names)
    assert check(names["source"])[1][1] == "<string>"
    check(eval("here()", names))
    exec(compile("\n" * 40 + "source = (\n\n  here())", "a file that is not there: ä€😀 \udc80", "exec"), names)
    probe.take()
    expected[:] = [[(f, file.replace("\udc80", "\ufffd"), line) for f, file, line in expected[0]]]
    check(names["source"])
    names = {"here": here}
    exec("class Größe:\n  def 名前(self):\n    return here()\nsource = Größe().名前()", names)
    check(names["source"])
    exec(compile("source = here()", "x" * 5000, "exec"), names)
    found = probe.chain(names["source"])
    assert expected.pop()[1][1][:990] == found[1][1][:990] and len(found[1][1]) <= 1000


def generators_and_coroutines():
    def numbers():
        yield here()
        check(here())
        yield from more()

    def more():
        check(here())
        yield 2

    async def soon():
        check(here())
        return await later()

    async def later():
        return here()

    steps = numbers()
    check(next(steps))
    assert next(steps) == 2
    check(sum(here() for _ in range(1)))
    check([here() for _ in range(1)][0])
    try:
        soon().send(None)
    except StopIteration as stop:
        check(stop.value)


def lines_of_calls():
    check(
        here(
            1,
            2,
        )
    )
    source = (
        0
        + here(
            "a",
        )
        + 0
    )
    check(source)
    check([0, here()][1] if True else here())
    for _ in range(2):
        check(here()); check(here())
    try:
        raise ValueError
    except ValueError:
        check(here())
    finally:
        check(here())
    while True:
        if check(here()):
            break
    check(
        max(
            here(),
            0))  # fmt: skip
    # many lines in between, so that a step needs more than one entry
    exec("a = [\n" + "1,\n" * 700 + "]\nsource = here()\n" + "\n" * 300 + "other = here()", globals())
    second = expected.pop()
    check(globals()["source"])
    expected.append(second)
    check(globals()["other"])


def deep_recursion():
    def down(depth):
        return here() if depth == 0 else down(depth - 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)
    for depth in (1, MOST_FRAMES - 1, MOST_FRAMES, MOST_FRAMES + 1, 1000):
        check(down(depth))
    assert len(probe.chain(down(1000))) == MOST_FRAMES
    expected.pop()
    sys.setrecursionlimit(limit)


def code_that_comes_and_goes():
    """Code objects at the same address, one after the other, that differ only in their lines."""
    for k in range(300):
        names = {"here": here}
        exec("\n" * (k % 7) + "def f(x):\n" + "    x += 1\n" * (k % 5) + "    return here()\nsource = f(1)", names)
        check(names["source"])
        del names


def the_same_place_is_the_same_source():
    probe.take()
    before = len(probe.sources), len(probe.texts)
    numbers = {here() for _ in range(100)}
    probe.take()
    assert len(numbers) == 1 and len(probe.sources) <= before[0] + 6, numbers
    del expected[:]


def who_calls_from_python(names):
    return [probe.capture(probe.probe) for _ in names]


def many_threads():
    """Captures while another thread holds the GIL. No capture waits, and all agree."""
    found = {}

    def work(name):
        found[name] = who_calls_from_python(range(3000))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = {number for some in found.values() for number in some}
    assert len(numbers) == 1 and 0 not in numbers, numbers
    names = [place[0] for place in probe.chain(numbers.pop())]
    assert any(name.endswith("who_calls_from_python") for name in names[:2]), names


def the_gil_is_never_needed():
    """A capture succeeds while another thread holds the GIL until the capture is done."""
    library = ctypes.PyDLL(sys.argv[1])  # keeps the GIL
    library.probe_wait.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.probe_wait.restype = ctypes.c_int
    probe.library.probe_capture_late.argtypes = [ctypes.c_void_p]
    results = []
    thread = threading.Thread(target=lambda: results.append(probe.library.probe_capture_late(probe.probe)))
    thread.start()
    came_through = library.probe_wait(probe.probe, 100000)
    thread.join()
    assert came_through, "the capture waited for the GIL"
    places = probe.chain(results[0])
    assert places[0][0].endswith("<lambda>") and places[0][2] > 0, places


def no_python_no_frames():
    """A thread that Python did not start has no Python frames."""
    probe.library.probe_capture_apart.argtypes = [ctypes.c_void_p]
    assert probe.library.probe_capture_apart(probe.probe) == 0


def native_code_below_python():
    """Without Python sources, the interpreter's C functions are the callers."""
    native = Probe(sys.argv[1], NATIVE)
    source = native.capture(native.probe)
    native.take()
    if source:
        assert native.sources[source][4] == 1
    native.free()


def main():
    name = probe.language().decode()
    assert name == "Python " + sys.version.split()[0].rstrip("+"), name
    probe.take()
    if probe.notes:
        assert not probe.capture(probe.probe)
        print("skipped: %s: %s" % (name, probe.notes[0]))
        return 77
    for test in (
        nested_functions,
        lambdas_and_methods,
        code_without_a_file,
        generators_and_coroutines,
        lines_of_calls,
        deep_recursion,
        code_that_comes_and_goes,
        the_same_place_is_the_same_source,
        many_threads,
        the_gil_is_never_needed,
        no_python_no_frames,
        native_code_below_python,
    ):
        test()
        assert not expected, test.__name__
    assert not probe.notes, probe.notes
    print("%s: %d captures as the interpreter says" % (name, checked))
    return 0


sys.exit(main())
