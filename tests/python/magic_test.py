"""%%leat in a real IPython shell, and the signatures that help and editors show."""

import inspect
import os
import pydoc
import subprocess
import sys

import numpy as np
import pytest

import leat

pytest.importorskip("IPython")


@pytest.fixture(scope="module")
def only_shell():
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.tempdir import TemporaryDirectory

    with TemporaryDirectory() as folder:
        shell = InteractiveShell.instance(ipython_dir=folder)
        shell.run_line_magic("colors", "nocolor")
        shell.run_cell("%load_ext leat")
        yield shell
        shell.history_manager.end_session()
        InteractiveShell.clear_instance()


@pytest.fixture
def shell(only_shell):
    only_shell.reset(new_session=False)
    only_shell.user_ns["a"] = np.arange(4.0)
    return only_shell


def run(shell, *lines):
    return shell.run_cell("\n".join(lines), store_history=True)


def test_results_become_variables(shell):
    result = run(shell, "%%leat", "y[i] = 2 * a[i]", "s = sum(i: a[i])", "out y, s")
    assert result.success and result.result is None
    np.testing.assert_array_equal(shell.user_ns["y"], [0, 2, 4, 6])
    assert shell.user_ns["s"] == 6
    assert run(shell, "%%leat", "t = s + y[3]").success and shell.user_ns["t"] == 12


def test_options(shell):
    assert run(shell, "%%leat --device sim --like leat", "y[i] = a[i]").success
    assert repr(shell.user_ns["y"]) == "<leat.Array f64[4] on sim>"
    assert "4 points" in run(shell, "%%leat --show plan --device cpu", "z[i] = a[i] + 1").result
    assert "__global__" in run(shell, "%%leat --show cuda", "z[i] = a[i] + 1").result
    assert "z" not in shell.user_ns


def test_explain_displays_the_account_and_has_results(shell, capsys):
    result = run(shell, "%%leat --explain", "y[i] = a[i] + 1")
    assert type(result.result) is leat.Account and shell.user_ns["y"][3] == 4
    assert capsys.readouterr().out.count("Would help: ") == 1  # displayed, not printed besides


def test_missing_variables_are_named(shell, capsys):
    for name in ("q", "In"):  # IPython's own variables are not the notebook's
        result = run(shell, "%%leat", f"y[i] = {name}[i]")
        assert type(result.error_in_exec) is NameError
        assert f"the cell reads '{name}', but there is no variable" in capsys.readouterr().out


def shown(shell, capsys, *lines):
    result = run(shell, *lines)
    assert not result.success
    return capsys.readouterr().out.strip("\n").splitlines()


def test_program_errors_are_shown_as_syntax_errors_of_the_cell(shell, capsys):
    theirs = shown(shell, capsys, "1", "y = = 2")
    ours = shown(shell, capsys, "%%leat", "y = = 2")
    cell = f"  Cell In[{shell.execution_count - 1}], line 2"
    assert ours[:3] == [cell, "    y = = 2", "        ^"]
    assert theirs[1:3] == ours[1:3] and theirs[0].endswith(", line 2") and len(theirs) == len(ours) == 4
    assert ours[3].startswith("ProgramError: ")


def test_an_error_at_the_end_of_the_cell_is_at_its_last_line(shell, capsys):
    ours = shown(shell, capsys, "%%leat", "y[i] = (a[i]", "")
    assert ours[1:3] == ["    y[i] = (a[i]", " " * 16 + "^"]


def test_all_errors_have_the_lines_of_the_cell(shell, capsys):
    words = "\n".join(shown(shell, capsys, "%%leat", "y = 3 3", "z = 4 4"))
    assert "line 2\n" in words and "1 more error:" in words and "cell:3:7: error" in words


def test_errors_of_a_run_are_shown_without_internals(shell, capsys):
    result = run(shell, "%%leat", "", "  y[i] = a[i+1]")
    assert type(result.error_in_exec) is leat.ShapeError
    words = capsys.readouterr().out.strip("\n").splitlines()
    assert words[0] == f"  Cell In[{shell.execution_count - 1}], line 3" and words[1].startswith("ShapeError: line 3 of cell: ")
    assert words[2:4] == ["      y[i] = a[i+1]", "             ^^^^^^"] and len(words) <= 5
    for option, cell, kind in (("", "y[i] = q[i]", "NameError"), ("", "y[i] = a[i+100]", "ShapeError"), ("--device cpu:7", "y[i] = a[i]", "")):
        words = shown(shell, capsys, f"%%leat {option}", cell)
        assert words[0].startswith("  Cell In[") and len(words) <= 5 and kind in words[1], words


def test_errors_of_arguments_keep_their_traceback(shell, capsys):
    class Broken:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **options):
            raise RuntimeError("broken")

    shell.user_ns["a"] = Broken()
    assert 'raise RuntimeError("broken")' in "\n".join(shown(shell, capsys, "%%leat", "y[i] = a[i]"))


def test_wrong_options(shell, capsys):
    assert not run(shell, "%%leat --wrong", "y = 1").success
    assert "unrecognized arguments: --wrong" in capsys.readouterr().err


def test_the_notebook_shows_a_picture(shell):
    account = run(shell, "%%leat --explain", "y[i] = a[i] + 1").result
    formats, _ = shell.display_formatter.format(account, include=["text/html"])
    assert "leat-account" in formats["text/html"]


# ---- signatures


def test_signature():
    program = leat.program("y[i] = a[i] * b")
    assert str(inspect.signature(program)) == "(a, b, *, out=None, stream=None, device=None, like=None)"


def test_signature_with_names_that_python_reserves():
    program = leat.program("y = lambda * c + device")
    assert str(inspect.signature(program)) == "(lambda, /, c, device, *, out=None, stream=None, like=None)"


def test_signature_of_optional_inputs():
    from leat import _signature

    class Program:
        inputs, optional = ("a", "b", "c"), ("b",)

    assert str(_signature.of(Program)) == "(a, b=<default>, *, c, out=None, stream=None, device=None, like=None)"


def test_help_shows_the_signature_and_the_text():
    program = leat.program("in x, k = 2\ny[i] = x[i] * k", name="scale")
    words = pydoc.plain(pydoc.render_doc(program))
    for part in ("scale(x, k=<default>, *, out=None", ") -> y\n", "    in x, k = 2\n", "    y[i] = x[i] * k\n", "A checked program."):
        assert part in words
    assert leat.Program.__doc__.startswith("A checked program.")


def test_signature_of_the_class():
    assert leat.Program.__signature__ is None
    try:
        inspect.signature(leat.Program)
    except ValueError:
        pass  # what it raises for a class that has none


def test_star_import_keeps_the_eval_of_python():
    names = {}
    exec("from leat import *", names)
    assert "eval" not in names and names["program"] is leat.program
    assert {*leat.__all__, "Account", "Text", "eval", "load_ipython_extension"} == {n for n in dir(leat) if n[0] != "_"}


def test_the_module_runs_the_command(tmp_path):
    command = tmp_path / "leat"
    command.write_text('#!/bin/sh\necho "command: $*"\n')
    command.chmod(0o755)
    code = "import runpy, sys; from importlib import metadata; metadata.distribution = lambda name: type('D', (), {'files': None}); "
    code += "sys.argv = ['leat', 'run', 'x y']; runpy.run_module('leat', run_name='__main__')"
    for path, wanted in ((tmp_path, (0, "command: run x y\n")), (tmp_path / "none", (1, ""))):
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PATH": str(path)})
        assert (ran.returncode, ran.stdout) == wanted and (ran.returncode == 0 or "is not installed" in ran.stderr)


def test_importing_leat_imports_none_of_this():
    code = "import sys, leat; print(*(n for n in sys.modules if n.startswith('leat') or n in ('inspect', 'json', 'html')))"
    printed = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True,
                             env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert sorted(printed.stdout.split()) == ["leat", "leat._leat"]
