"""The type stubs agree with the package (stubtest), and a program that uses all of it is clean by mypy --strict."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import leat

pytest.importorskip("mypy")
pytestmark = pytest.mark.skipif(os.environ.get("LEAT_TEST_DEVICE") == "sim", reason="takes seconds, and no device takes part")

SAMPLE = """
import array
import leat
import numpy as np

double: leat.Program = leat.program("y[i] = 2 * a[i]", name="double", device="cpu")
a = np.arange(4.0)
y = double(a, out=None, stream=leat.Stream(), like="leat")
double(a=a, out={"y": a}, like=np, device="sim")
leat.eval("y[i] = a[i] + b", array.array("d", [1.0]), b=2, stream=1)
account: leat.Account = double.explain(a)
words: list[str] = [account.text, double.show(), double.show("ptx", a, arch="sm_90").upper(), *double.inputs, *double.results]
picture: str = account._repr_html_()
costs = account.json["ledger"]

with leat.device("sim") as inside:
    x: leat.Array = leat.asarray([1, 2, 3], dtype=np.float32, copy=True)
row: leat.Array = x.T.reshape(1, -1)[0, ..., None, ::-1]
n: int = x.ndim + len(x) + x.shape[0] + x.nbytes
number = float(x[0]) + int(x[1]) + bool(x[2])
back = [x.numpy(), x.item, x.tolist(), x.dtype.name.upper(), np.from_dlpack(x), memoryview(x)]
leat.save("y.png", a, colormap="viridis")
loaded = leat.load("x.npz", key="x", device="cpu")
pinned = leat.pinned(leat.pinned_empty((2, 3), dtype="f32"))
for info in leat.devices(measure=False):
    print(info.name, info.memory_bytes / 1e9, info.usable or info.reason)
stream, event = leat.Stream(device="cpu"), leat.Event()
event.record(stream)
stream.wait(event)
event.synchronize()
elapsed: float = event.elapsed_ms(event)
leat.synchronize()
leat.show_progress(False)
module = leat.Module("...", names=["scale<float>"], macros=("N=3",), device="sim")
kernel: leat.Kernel = module["scale<float>"]
kernel[4, (32, 2), stream, 1024](x, 2.0, cooperative=True)
constants: list[str] = [parameter.name for parameter in kernel.parameters if parameter.is_const]
try:
    leat.program("y = = 2")
except leat.ProgramError as error:
    where = (error.lineno, error.offset, [one["message"] for one in error.errors])
except (leat.ShapeError, leat.DataError, leat.DeviceError) as other:
    both: leat.Error = other
"""

WRONG = """
import leat
leat.program(1)
leat.eval("y = a", a=1).anything
leat.program("y = a", device=2)
leat.asarray(1)[1.5]
leat.asarray(1)[0] = 1
leat.program("y = a").explain(1).verdict
leat.nothing
"""


def run(tmp_path, *arguments):
    folder = pathlib.Path(leat.__file__).absolute().parent.parent
    variables = {**os.environ, "MYPY_CACHE_DIR": str(tmp_path / arguments[0])}  # two at once spoil a common one
    if folder.name != "site-packages":  # a build folder
        variables |= {"PYTHONPATH": str(folder), "MYPYPATH": str(folder)}
    return subprocess.Popen([sys.executable, "-m", *arguments], env=variables, cwd=tmp_path, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Of stubtest and of mypy for the two programs, which run at once: each takes seconds."""
    folder = tmp_path_factory.mktemp("stubs")
    (folder / "sample.py").write_text(SAMPLE)
    (folder / "wrong.py").write_text(WRONG)
    # Before Python 3.12, the buffer protocol has no method.
    (folder / "allowed.txt").write_text(r"leat\.Array\.__buffer__" if sys.version_info < (3, 12) else "")
    started = [run(folder, "mypy.stubtest", "leat", "--concise", "--allowlist", "allowed.txt"), run(folder, "mypy", "--strict", "sample.py", "wrong.py")]
    said = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 1], said  # 1: the second program has mistakes
    return said


def test_stubs_agree_with_the_package(outputs):
    assert outputs[0] in ("", "Success: no issues found in 1 module\n")


def test_a_strict_program_is_clean(outputs):
    assert "sample.py" not in outputs[1]


def test_mistakes_are_found(outputs):
    assert [int(line) for line in re.findall(r"wrong\.py:(\d+): error", outputs[1])] == [3, 5, 6, 7, 8, 9]


def test_public_functions_have_docstrings():
    public = [name for name in dir(leat) if not name.startswith("_")]
    assert "eval" in public
    for name in public:
        assert getattr(leat, name).__doc__, name
