"""Runs the Python code of docs/PYTHON.md and README.md, in order, in one namespace: the fenced blocks and the rows of its tables.

- A statement `expression  # -> text` must have a value whose repr is the text, but for white space.
- A block ```python gpu, and a row whose last column ends with "(GPU)", run only where CuPy finds a GPU.
- A block ```python sim runs only where the device sim can be used.
- A block ```python raises must raise the exception that its last comment names, as in `# ShapeError: ...`.
- If the second column of a row is a NumPy expression, its value must equal that of the third column.
"""

import ast
import os
import pathlib
import re
import warnings

import numpy as np
import pytest

import leat

DEVICE = {"cuda": "cuda:0"}.get(os.environ.get("LEAT_TEST_DEVICE", "cpu"), "cpu")
pytestmark = pytest.mark.skipif(os.environ.get("LEAT_TEST_DEVICE") == "sim", reason="the page is about cpu and cuda")
ROOT = pathlib.Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*) ?(.*)$")
ROW = re.compile(r"^\|(.+)\|(.+)\| `(.+)`( \(GPU\))? \|$")


def pieces_of(text):
    """(line, kind, code): the blocks of Python, with the words after `python` as the kind, and the rows of tables."""
    fence, begin, code, pieces = None, 0, [], []
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if match and fence is None:
            fence, begin, code = match, number + 1, []
        elif fence is not None and line == "```":
            if fence[1] == "python":
                pieces.append((begin, fence[2], "\n".join(code)))
            fence = None
        elif fence is not None:
            code.append(line)
        elif row := ROW.match(line.replace(r"\|", "\0")):
            there, here, gpu = (row[k].replace("\0", "|") if row[k] else "" for k in (2, 3, 4))
            pieces.append((number, "row gpu" if gpu else "row", (there.strip().strip("`"), here)))
    return pieces


PAGES = [ROOT / "docs" / "PYTHON.md", ROOT / "README.md"]
PIECES = [(f"{page.stem}:{piece[0]}", *piece[1:]) for page in PAGES for piece in pieces_of(page.read_text())
          if page.stem == "PYTHON" or not piece[1].startswith("row")]  # fmt: skip
SPACE = {}


def has_gpu():
    try:
        import cupy

        return cupy.cuda.is_available()
    except ImportError:
        return False


def check_value(node, lines, value):
    comment = lines[node.end_lineno - 1][node.end_col_offset :].strip()
    if comment.startswith("# -> "):
        assert " ".join(repr(value).replace(f"on {DEVICE}>", "on cpu>").split()) == comment[5:]


def run(code):
    """Runs the code, and returns the value of its last statement if that is an expression."""
    value = None
    for node in ast.parse(code).body:
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), "page", "eval"), SPACE)
            check_value(node, code.splitlines(), value)
        else:
            exec(compile(ast.Module([node], []), "page", "exec"), SPACE)
    return value


def compare(here, there):
    if isinstance(there, tuple):
        assert len(here) == len(there)
        for mine, theirs in zip(here, there):
            compare(mine, theirs)
        return
    np.testing.assert_allclose(np.asarray(here), there, rtol=1e-5, atol=1e-6)


def check_row(there, here):
    value = run(here)
    if there.startswith(("np.", "(np.")):
        compare(value, eval(there, SPACE))


def check_raises(code):
    name = re.findall(r"^# (\w+): (.*)$", code, re.M)[-1]
    with pytest.raises(Exception, match=re.escape(name[1])) as caught:
        run(code)
    assert type(caught.value).__name__ == name[0]


@pytest.mark.parametrize("kind, code", [piece[1:] for piece in PIECES], ids=[piece[0] for piece in PIECES])
def test_piece(kind, code, tmp_path_factory, monkeypatch):
    if not SPACE:
        SPACE["folder"] = tmp_path_factory.mktemp("docs")
    if "gpu" in kind and not has_gpu():
        pytest.skip("needs a GPU and CuPy")
    if "sim" in kind and not any(device.device == "sim" and device.usable for device in leat.devices()):
        pytest.skip("needs the device sim")
    for name in set(re.findall(r"import (torch|jax|ml_dtypes|pandas|PIL)\b", str(code))):
        pytest.importorskip(name)
    monkeypatch.setenv("LEAT_DEVICE", "cpu")  # a page for readers without a setting
    monkeypatch.chdir(SPACE["folder"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", leat.LeatWarning)
        if kind.startswith("row"):
            check_row(*code)
        elif "raises" in kind:
            check_raises(code)
        else:
            run(code)


def test_there_are_at_least_30_rows():
    assert sum(kind.startswith("row") for _, kind, _ in PIECES) >= 30
