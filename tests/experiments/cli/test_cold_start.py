"""A command line that is wrong is answered at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOADED = """
import atexit, sys
def show():
    slow = ("matplotlib", "pandas") + (("zmq", "ssl") if sys.argv[1] == "run" else ())
    print(*(n for n in sys.modules if n in slow))
atexit.register(show)
from spillway.experiments.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs a command line; prints the loaded packages that take long to load."""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("serve nonsense", "unknown policy 'nonsense'"),
        ("run --workload missing.swf", "missing.swf"),
        ("run --workload kth-like:jobs=5 --policy nonsense", "nonsense"),
        ("study jeannot --nonsense", "unknown option"),
    ],
)
def test_wrong_input_loads_nothing_slow(tmp_path: Path, line: str, words: str) -> None:
    """The answer is the one line about the error; no slow package is loaded."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *line.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout.split() == []
