"""The notebooks run from the first cell to the last, and show what they are meant to show."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.project.tree import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))


def executed(path: Path, folder: Path) -> Any:
    """The notebook of a percent script with its outputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tools, none of ours
        import jupytext
        import nbclient

        notebook = jupytext.read(path)
        client = nbclient.NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(folder)}})
        return client.execute()


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    shown = outputs(executed(path, tmp_path))
    kinds = {kind for output in shown for kind in output.get("data", ())}
    assert "image/png" in kinds
    if path.stem == "first_kernel":
        assert any("<iframe" in output.get("data", {}).get("text/html", "") for output in shown)
        (error,) = (output for output in shown if output.output_type == "error")
        assert error.ename == "KernelTypeError"
        assert any("sorted(x)[0]" in line for line in error.traceback)
    else:
        assert not [output for output in shown if output.output_type == "error"]
