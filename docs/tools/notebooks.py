"""Runs the notebooks of the documentation; ``python -m docs.tools.notebooks`` keeps their new outputs."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from spillway.base.arguments import tell

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
PATIENCE_S = 300


def executed(path: Path, folder: Path) -> NotebookNode:
    """Run a notebook in a kernel of its own in ``folder``; raise CellExecutionError where a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    found = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with mock.patch.dict(os.environ, {"PYTHONPATH": found, "JUPYTER_PLATFORM_DIRS": "1"}):
        NotebookClient(notebook, timeout=PATIENCE_S, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of the run
    return notebook


def answers(notebook: NotebookNode) -> list[str]:
    """Values of the cells' last expressions, as text; without printed output, which has times of this machine."""
    return [
        output["data"]["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]


def keep() -> None:
    """Run all notebooks and keep their outputs."""
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)
        tell("\n  ".join((path.name, *answers(nbformat.read(path, as_version=4)))))


if __name__ == "__main__":
    sys.exit(keep())
