"""A small run on disk."""

from pathlib import Path

import pytest

from spillway.analysis.tables.jobs import JobTable, read_run
from tests.analysis.samples import write_run


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """Folder of the run that :mod:`tests.analysis.samples` describes."""
    return write_run(tmp_path / "run")


@pytest.fixture
def table(run_folder: Path) -> JobTable:
    """The run as a table."""
    return read_run(run_folder)
