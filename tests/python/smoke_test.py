"""The installed package: it imports, has the version of its metadata, and brings the command."""

import array
import importlib.metadata
import os
import subprocess
import sys
import sysconfig

import pytest

import leat


def run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


def installed(path):
    """A file that the wheel put below the environment's prefix."""
    files = [os.path.realpath(file.locate()) for file in importlib.metadata.files("leat")]
    found = [file for file in files if file.endswith(path)]
    assert found, f"the wheel brought no {path}"
    return found[0]


def test_version():
    assert leat.__version__ == importlib.metadata.version("leat")
    assert leat.__version__ in run(installed("/bin/leat"), "--version")


def test_import_needs_no_other_package():
    code = "import sys, leat; print(sorted(n for n in ('numpy', 'ml_dtypes') if n in sys.modules))"
    assert run(sys.executable, "-c", code).strip() == "[]"


def test_eval(device):
    pytest.importorskip("numpy")  # the result is an array of NumPy
    got = leat.eval("y[i] = 2 * a[i]", a=array.array("d", [1, 2, 3]), device=device)
    assert list(memoryview(got)) == [2, 4, 6]


def test_command_is_in_the_environment(tmp_path):
    command = installed("/bin/leat")
    assert os.path.dirname(command) == os.path.realpath(sysconfig.get_path("scripts"))
    program = "y[i] = i * i where i in 0..4"
    assert run(command, "run", "-e", program, "-o", "y=y.npz", cwd=tmp_path) == ""
    assert "14" in run(command, "run", "-e", "s = sum(i: y[i])", "y=y.npz", cwd=tmp_path)


def test_trace_finds_its_recorder(tmp_path):
    """Nothing is recorded without a GPU; a missing recorder would be an error."""
    installed("/lib/leat/libleat_trace.so")
    command = [installed("/bin/leat"), "trace", "-o", "a.trace", sys.executable, "-c", "print('ran')"]
    assert "ran" in run(*command, cwd=tmp_path)
