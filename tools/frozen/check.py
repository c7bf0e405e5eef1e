"""Plays of many frozen runs, and how they compare with the table or with another checkout."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, zip_longest
from pathlib import Path

from tools.frozen.play import JOBS, MESSAGES, Digests, play
from tools.frozen.recipe import parse

_ROOT = Path(__file__).parents[2]
_MOST = 5
"""Differences shown."""

_WIDTH = 2000
"""Characters of a line that are shown."""

Outcome = Digests | str
"""Digests of a play, or the cause of its failure."""


def outcome_of(name: str) -> Outcome:
    """Play a recipe in a folder of its own; any exception is a failure."""
    with tempfile.TemporaryDirectory(prefix="frozen-") as folder:
        try:
            return play(parse(name), Path(folder))
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def play_all(names: Iterable[str], processes: int) -> dict[str, Outcome]:
    """Play recipes in processes that begin with nothing loaded; results in the order of the names."""
    names = list(names)
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(names)), mp_context=fresh) as pool:
        return dict(zip(names, pool.map(outcome_of, names), strict=True))


def moved(expected: Digests, outcome: Outcome) -> str:
    """What moved: names of columns, or the cause of a failure; "": the run is equal."""
    if isinstance(outcome, str):
        return outcome
    pairs = zip(Digests._fields, expected, outcome, strict=True)
    return " and ".join(column for column, before, now in pairs if before != now)


def report(expected: Mapping[str, Digests], outcomes: Mapping[str, Outcome]) -> int:
    """Print which runs moved; return 1 if there are any."""
    found = {name: what for name, outcome in outcomes.items() if (what := moved(expected[name], outcome))}
    for name, what in found.items():
        print(f"moved  {name}: {what}")
    print(f"{len(outcomes) - len(found)} runs equal, {len(found)} moved; {_cpu_s():.0f} CPU s")
    return 1 if found else 0


def _cpu_s() -> float:
    return sum(os.times()[:4])


def first_differences(name: str, base: Path, folder: Path) -> Iterator[str]:
    """Play a recipe here and in another checkout; yield the first lines of its tables that differ."""
    trees = {"base": base.resolve(), "here": _ROOT}
    for label, tree in trees.items():
        own = tree / ".venv" / "bin" / "python"
        program = str(own) if own.exists() else sys.executable
        command = [program, "-m", "tools.frozen", "play", name, "--out", str(folder / label)]
        environment = os.environ | {"PYTHONPATH": str(tree)}
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        yield f"{label}: {(done.stdout + done.stderr).strip()[-_WIDTH:]}"
        if done.returncode:
            return
    for table in (JOBS, MESSAGES):
        lines = [_lines(folder / label / table) for label in trees]
        pairs = enumerate(zip_longest(*lines, fillvalue="(nothing)"), 1)
        different = ((number, pair) for number, pair in pairs if pair[0] != pair[1])
        shown = list(islice(different, _MOST))
        yield f"{table}: " + (f"first lines that differ, of {max(map(len, lines))}" if shown else "equal")
        if shown and table == JOBS and lines[0]:
            yield f"       {lines[0][0]}"
        for number, pair in shown:
            yield from (f"{number:5} {label} {line[:_WIDTH]}" for label, line in zip(trees, pair, strict=True))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
