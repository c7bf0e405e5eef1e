"""Kernels are compiled for right input only, and not silently."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from spillway.experiments.cli import warm

COMPILED = """
import atexit, sys
from types import ModuleType
def show():
    loaded = [name for name, module in sys.modules.items() if type(module) is ModuleType]
    slow = ("numba", "matplotlib", "pandas") + (("zmq", "ssl") if sys.argv[1] == "run" else ())
    print(*(n for n in loaded if n.endswith("_kernels") or n.startswith("spillway.simulator.engines.") or n in slow))
atexit.register(show)
from spillway.experiments.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs a command line; prints the loaded modules with kernels, and loaded packages that take long to load."""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("serve nonsense", "unknown policy 'nonsense'"),
        ("run --workload missing.swf", "missing.swf"),
        ("run --workload kth-like:jobs=5 --policy nonsense", "nonsense"),
        ("study jeannot --nonsense", "unknown option"),
    ],
)
def test_wrong_input_compiles_nothing(tmp_path: Path, line: str, words: str) -> None:
    """On an empty cache the answer is the one line about the error; no kernel and no slow package is loaded."""
    cache = tmp_path / "cache"
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, *line.split()],
        cwd=tmp_path,
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert "compiling" not in done.stderr
    assert set(done.stdout.split()) <= {"spillway.simulator.engines.base", "spillway.simulator.engines.by_name"}
    assert not list(cache.rglob("*.nbi"))


@pytest.fixture
def _empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(warm.scheduling, "_compile", list)


@pytest.mark.usefixtures("_empty")
def test_compiling_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line before it begins; then nothing more if there is no terminal."""
    written = io.StringIO()
    at_begin: list[str] = []
    monkeypatch.setattr(warm, "warm_up", lambda report, names: at_begin.append(written.getvalue()))
    warm.ensure(Console(file=written, width=40))
    assert at_begin == [f"{warm.scheduling.ANNOUNCEMENT}\n"] == [written.getvalue()]


@pytest.mark.usefixtures("_empty")
def test_a_terminal_sees_how_many_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line there changes with each module."""
    written = io.StringIO()
    monkeypatch.setattr(warm, "warm_up", lambda report, names: report(3, 9))
    warm.ensure(Console(file=written, width=120, force_terminal=True))
    assert "3 of 9" in written.getvalue()


def test_a_run_needs_the_kernels_of_its_policies_only() -> None:
    """Plans have kernels of their own; every run needs those of the timeline."""
    names = {policy: set(warm.needed([policy])) for policy in ("easy", "plan", "maxutil")}
    assert names["easy"] >= {
        "spillway.schedulers.timeline.fit_kernels",
        "spillway.schedulers.timeline.placement_kernels",
    }
    assert names["plan"] - names["easy"] == {
        "spillway.schedulers.timeline.apart_kernels",
        "spillway.schedulers.timeline.easy_kernels",
        "spillway.schedulers.timeline.plan_kernels",
    }
    assert names["maxutil"] - names["easy"] == {"spillway.schedulers.timeline.filling_kernels"}
    assert set(warm.needed(["easy", "plan"])) == names["easy"] | names["plan"]


def test_what_finds_place_for_lives_is_compiled_where_burst_buffers_have_them() -> None:
    """Plans have it in their own kernels."""
    plain = set(warm.needed(["easy"], ["with-nodes"]))
    assert set(warm.needed(["easy"], ["with-nodes", "two-reservations:margin=2"])) == plain | {warm.OF_LIVES}
    assert warm.OF_LIVES in warm.needed(["plan"], ["with-nodes"])


def test_what_is_compiled_is_not_announced() -> None:
    """With a full cache there is no line."""
    warm.ensure(Console(file=io.StringIO()))
    written = io.StringIO()
    warm.ensure(Console(file=written))
    assert written.getvalue() == ""
