"""The notebooks of the documentation run, and show their results."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from docs.tools.notebooks import NOTEBOOKS, answers, executed


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path) -> None:
    """Every cell runs; the answers are those that are kept in it (``python -m docs.tools.notebooks``)."""
    given = answers(executed(path, tmp_path))
    assert given
    assert {code for code in given if code.isdecimal()} <= {"0"}  # exit codes of commands
    assert given == answers(nbformat.read(path, as_version=4))
