"""Measurements for the goals of speed in another tree of the repository and in this one, and their ratio.

``python -m tools.benchmarks.beside BASE [--rows whole,many,tiny,pass,window,slurm] [--repeat N]``

``BASE`` is another checkout, compiled (:mod:`tools.benchmarks.same_jobs`). Each row is measured in both
trees one after the other; the least of ``--repeat`` measurements counts. Tables of jobs are compared.

``whole``   the whole KTH log, IO-Aware, ``plan-square`` and ``sjf-easy``, times without contention included
``many``    its 28,453 jobs Alloc-Only, ``easy``, engine ``fixed``
``tiny``    ten jobs, ``easy``, engines ``fixed`` and ``fluid``: seconds of real time to the end of the command, and CPU
``pass``    a pass of plan-based scheduling by jobs that wait (:mod:`tools.benchmarks.plan_load` of each tree)
``window``  choices of a window that are proven best (:mod:`tools.benchmarks.window_load` of each tree)
``slurm``   500 jobs of Eagle, 2,000 of a large site, under Slurm's schedulers (:mod:`tools.benchmarks.site_load`)

CPU seconds are those of all processes of the command; ``MB`` is the largest process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.imports.graph import REPOSITORY
from tools.benchmarks import site_load
from tools.benchmarks.same_jobs import THESIS, differences, play

WHOLE = "kth/KTH-SP2-1996-2.1-cln-{}-from-parts.json.xz"
ROW = "{:44} {:>12} {:>12} {:>7}  {}"


class Figures(NamedTuple):
    """Measurements of one tree: named numbers, each with its format; and a table of jobs, if there is one."""

    numbers: Mapping[str, tuple[float, str]]
    jobs: bytes = b""


def main() -> None:
    """Print the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--repeat", type=int, default=1)
    given = parser.parse_args()
    print(ROW.format("", "base", "this tree", "ratio", ""))
    with tempfile.TemporaryDirectory() as name:
        for row in given.rows.split(","):
            for title, measure in ROWS[row](Path(name)):
                trees = given.base.resolve(), REPOSITORY
                found = [[measure(tree) for tree in trees] for _ in range(given.repeat)]
                _show(title, [one for one, _ in found], [one for _, one in found])
    print(f"load of the machine at the end: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


def _show(title: str, base: list[Figures], new: list[Figures]) -> None:
    remark = f"jobs.csv {differences(base[0].jobs, new[0].jobs)}" if new[0].jobs else ""
    for name, (_, form) in new[0].numbers.items():
        before, after = (min(one.numbers[name][0] for one in found) for found in (base, new))
        ratio = f"{before / after:.2f}" if after else "-"
        print(ROW.format(f"{title}: {name}", format(before, form), format(after, form), ratio, remark), flush=True)
        remark = ""


Row = tuple[str, Callable[[Path], Figures]]


def _run(
    work: Path, log: str, *options: str, wall: bool = False, machine: Sequence[str] = THESIS
) -> Callable[[Path], Figures]:
    """Measure ``spillway run`` on a log, and a machine."""

    def measure(tree: Path) -> Figures:
        table, spent = play(work, tree, log, options, machine)
        if wall:
            return Figures({"real time, s": (spent.wall_s, ".2f"), "CPU s": (spent.cpu_s, ".2f")}, table)
        return Figures({"CPU s": (spent.cpu_s, ".1f"), "MB": (spent.peak_bytes / 1e6, ".0f")}, table)

    return measure


def _log(kind: str) -> str:
    return str(Path(os.environ["SPILLWAY_DATA"]) / "data" / WHOLE.format(kind))


def _whole(work: Path) -> Iterator[Row]:
    for policy in ("plan-square", "sjf-easy"):
        yield f"whole log, IO-Aware, {policy}", _run(work, _log("io-aware"), "--policy", policy, "--model", "io")


def _many(work: Path) -> Iterator[Row]:
    yield "28,453 jobs, easy, fixed", _run(work, _log("alloc-only"), "--policy", "easy", "--engine", "fixed")


def _tiny(work: Path) -> Iterator[Row]:
    for engine in ("fixed", "fluid"):
        options = "--policy", "easy", "--engine", engine
        yield f"10 jobs, easy, {engine}", _run(work, "kth-like:jobs=10", *options, wall=True)


def _pass(_: Path) -> Iterator[Row]:
    def measure(tree: Path) -> Figures:
        chains = "--chains" in (tree / "tools" / "benchmarks" / "plan_load.py").read_text()  # older trees only
        lines = _lines_of(tree, "plan_load", *(("--chains", "1") if chains else ()))
        table = next(index for index, line in enumerate(lines) if "pass, CPU ms" in line)
        rows = [line.split() for line in lines[table + 1 :] if line.split()]
        return Figures({f"{row[0]} waiting, CPU ms": (float(row[2]), ".1f") for row in rows})

    yield "plan pass, 189 evaluations", measure


def _window(_: Path) -> Iterator[Row]:
    def measure(tree: Path) -> Figures:
        lines = _lines_of(tree, "window_load", "--method", "bb", "--size", "40", "--size", "60")
        rows = [line.split() for line in lines if line.split()[1:2] == ["bb"] and line.split()[0] == "1.0"]
        return Figures(
            {f"{row[2]} jobs, proven %": (float(row[3].rstrip("%")), ".1f") for row in rows}
            | {f"{row[2]} jobs, longest ms": (float(row[6]), ".1f") for row in rows}
        )

    yield "window", measure


def _slurm(work: Path) -> Iterator[Row]:
    eagle = Path(os.environ["SPILLWAY_DATA"]) / "data" / "sites" / "slurm" / "eagle-sample-1000.csv"
    options = "--engine", "fixed", "--no-uncontended"
    for order, first in (("fcfs", 500), ("wfp3", 500)):
        given = "--policy", f"slurm-backfill:order={order}", "--first", str(first), *options
        yield f"{first} of Eagle, order={order}", _run(work, str(eagle), *given, machine=("--nodes", "352"))
    site, log = site_load.write(work, 2000, 600_000, 0.95)
    named = "--fields", "swf", "--site", str(site), "--burst-buffer-total", "0"
    policy = "slurm-backfill:order=multifactor"
    yield "2,000 jobs of a site", _run(work, str(log), "--policy", policy, *named, *options, machine=())


def _lines_of(tree: Path, module: str, *options: str) -> list[str]:
    command = [sys.executable, "-m", f"tools.benchmarks.{module}", *options]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.run(
        command, cwd=tree, env=environment, check=True, capture_output=True, text=True
    ).stdout.splitlines()


ROWS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    "whole": _whole,
    "many": _many,
    "tiny": _tiny,
    "pass": _pass,
    "window": _window,
    "slurm": _slurm,
}


if __name__ == "__main__":
    main()
