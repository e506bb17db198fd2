"""Executes examples/python/tour.ipynb in an IPython shell. Cells with the tag raises-exception must fail, all others
must not."""

import json
import os
import pathlib

import pytest

pytest.importorskip("IPython")
pytestmark = pytest.mark.skipif(os.environ.get("LEAT_TEST_DEVICE") == "sim", reason="takes long there, and it runs some cells on sim")
NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples" / "python" / "tour.ipynb"


def cells_of(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.fixture
def shell(tmp_path, monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.chdir(tmp_path)
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(ipython_dir=str(tmp_path))
    shell.run_line_magic("colors", "nocolor")
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def test_the_tour_runs(shell, capsys):
    pictures, failures, falses = 0, [], []
    for cell in cells_of(NOTEBOOK):
        source = "".join(cell["source"])
        result = shell.run_cell(source, store_history=True)
        written = capsys.readouterr()
        raises = "raises-exception" in cell["metadata"].get("tags", [])
        assert result.success != raises, f"{source}\n{written.out}{written.err}"
        failures += [written.out] if raises else []
        pictures += hasattr(result.result, "_repr_html_")
        falses += [source] if str(result.result).endswith("False)") or str(result.result) == "False" else []
    assert pictures == 2 and falses == []
    syntax, shape, cell = failures
    assert "^\nProgramError: " in syntax and "ShapeError: " in shape and "^\nProgramError: " in cell


def test_the_tour_is_stored_without_outputs():
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells_of(NOTEBOOK))
