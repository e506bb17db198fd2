"""Runs each example of examples/python in a process of its own. Skips those whose libraries are not installed."""

import ast
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.environ.get("LEAT_TEST_DEVICE") == "sim", reason="they choose their device")
FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"
EXAMPLES = sorted(FOLDER.glob("*.py"))
OPTIONAL = {"cupy"}  # an example that imports it runs without it, too
ARGUMENTS = {"image_pipeline.py": ["SOURCE", "result.png"], "numpy_hot_expression.py": ["2000", "50"]}
SOURCE = FOLDER.parents[1] / "docs" / "hillshade.png"


def imported_names(path):
    """The top-level names of the modules that the file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.partition(".")[0])
    return names


def test_the_examples_are_found():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_fewer_than_60_lines(path):
    assert len(path.read_text().splitlines()) < 60


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path):
    for name in sorted(imported_names(path) - OPTIONAL):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    arguments = [str(SOURCE) if word == "SOURCE" else word for word in ARGUMENTS.get(path.name, [])]
    command, settings = [sys.executable, str(path), *arguments], {**os.environ, "LEAT_DEVICE": "cpu"}
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), "an example prints what it did"
