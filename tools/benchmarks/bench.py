"""Jobs and decisions per CPU second, peak memory and growth with the length of the log: one table, to be run again.

``make bench``, or ``python -m tools.benchmarks.bench [--log FILE.swf] [--jobs 1000,10000,100000] [--million]
[--beside 1,30] [--engines fixed,fluid] [--policies easy] [--budget SECONDS] [--accasim PYTHON]``

Each row is one command ``spillway run`` on the first jobs of a log, repeated if it has fewer, on the machine of the
thesis; with ``--beside 30`` on that many such logs at a time and a machine larger by this factor
(:mod:`tools.benchmarks.long_log`). The log is the KTH SP2 log if the reference data are available (``SPILLWAY_DATA``),
else one of the generator ``kth-like`` (its shape). CPU seconds are those of all processes, from the command line to the
summary, the start of the program and the reading of the log included. ``growth`` is the exponent from the row above: 1
is proportional to the number of jobs. A row that would take more CPU seconds than ``--budget`` in proportion to the one
before is left out and reported; a million jobs take long, and are only played with ``--million``.

If AccaSim is installed (never a dependency; ``--accasim`` names a Python with it), a row shows it under EASY, with
the same submissions, nodes, requested and execution times, and no burst buffers or places.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spillway.workloads.load import load_log
from spillway.workloads.swf import SwfLog, write_swf
from tests.imports.graph import REPOSITORY
from tools.benchmarks.long_log import long_log
from tools.benchmarks.process_tree import CommandCost, measured

ACCASIM = Path(__file__).with_name("accasim_play.py")
ROW = "{:12} {:8} {:>6} {:9,} {:9.1f} {:9,.0f} {:>12} {:7,.0f} {:7.2f}"
HEAD = "{:12} {:8} {:>6} {:>9} {:>9} {:>9} {:>12} {:>7} {:>7}"
NODES = 96
"""Compute nodes of the thesis's machine."""

MILLION = 1_000_000
KTH = Path("data", "kth", "KTH-SP2-1996-2.1-cln.swf.xz")
"""Place of the log in the reference data."""


class Case(NamedTuple):
    """Contents of a row; ``beside`` is the number of logs that run at a time, and the factor of the machine's size."""

    policy: str
    engine: str
    beside: int
    jobs: int


class Row(NamedTuple):
    """Cost of a case, and number of messages that the scheduler answered (0: not known)."""

    case: Case
    spent: CommandCost
    decisions: float = 0.0


def main() -> None:
    """Print the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", default=_default_log(), metavar="FILE.swf|GENERATOR", help="the log to repeat")
    parser.add_argument("--jobs", default="1000,10000,100000")
    parser.add_argument("--million", action="store_true", help="also 1,000,000 jobs, without --budget")
    parser.add_argument("--beside", default="1,30", metavar="N,...", help="logs at a time, and factor of the machine")
    parser.add_argument("--engines", default="fixed,fluid")
    parser.add_argument("--policies", default="easy")
    parser.add_argument(
        "--budget", type=float, default=600.0, help="most CPU seconds that a row is expected to take (600)"
    )
    parser.add_argument("--accasim", default=sys.executable, metavar="PYTHON", help="a Python with AccaSim (this one)")
    given = parser.parse_args()
    accasim = given.accasim if _has_accasim(given.accasim) else ""
    log, name = load_log(given.log)
    print(f"{name}: {len(log.records):,} jobs, repeated where a row has more")
    print(HEAD.format("policy", "engine", "beside", "jobs", "CPU s", "jobs/s", "decisions/s", "MB", "growth"))
    numbers = sorted({*map(int, given.jobs.split(",")), *([MILLION] if given.million else [])})
    axes = (given.policies.split(","), given.engines.split(","), map(int, given.beside.split(",")), numbers)
    before: dict[tuple[str, str, int], Row] = {}
    for case in itertools.starmap(Case, itertools.product(*axes)):
        last = before.get(case[:3])
        expected_s = last.spent.cpu_s * case.jobs / last.case.jobs if last is not None else 0.0
        if expected_s > given.budget and case.jobs != MILLION:
            print(f"{' '.join(map(str, case))}: left out: about {expected_s:,.0f} CPU s (--budget)")
            continue
        for row in _run(case, log, accasim if case.engine == "fixed" and case.beside == 1 else ""):
            _show(row, before.get(row.case[:3]))
            before[row.case[:3]] = row
    if not accasim:
        print("AccaSim is not installed: no row of it (--accasim PYTHON; pip install accasim into an environment)")
    print(f"load of the machine at the end: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


def _default_log() -> str:
    """The KTH SP2 log if the reference data are available, else a generated one of its shape and length."""
    path = Path(os.environ.get("SPILLWAY_DATA", "")) / KTH
    return str(path) if path.is_file() else "kth-like:jobs=28000"


def _show(row: Row, before: Row | None) -> None:
    case, cpu_s = row.case, row.spent.cpu_s
    growth = math.nan
    if before is not None:
        growth = math.log(cpu_s / before.spent.cpu_s) / math.log(case.jobs / before.case.jobs)
    decisions = f"{row.decisions / cpu_s:,.0f}" if row.decisions else "-"
    print(ROW.format(*case, cpu_s, case.jobs / cpu_s, decisions, row.spent.peak_bytes / 1e6, growth), flush=True)


def _has_accasim(python: str) -> bool:
    """Whether a Python finds AccaSim; it is not loaded, as its import fails on current Pythons."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('accasim') is None)"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def _run(case: Case, log: SwfLog, accasim: str) -> Iterator[Row]:
    """Cost of a run, and of the same jobs in AccaSim if a Python has it."""
    with tempfile.TemporaryDirectory() as name:
        out, printed, source = (Path(name) / part for part in ("out", "printed.txt", "log.swf"))
        write_swf(long_log(log, case.jobs, case.beside), source)
        command = [sys.executable, "run_experiments.py", "run", "--workload", str(source), "--policy", case.policy]
        command += ["--engine", case.engine, "--no-plots", "--no-replay", "--out", str(out)]
        command += ["--nodes", str(NODES * case.beside)] if case.beside > 1 else ["--platform", "thesis"]
        spent = measured(command, REPOSITORY, {}, printed)
        (timings,) = out.glob("*/timings.json")
        yield Row(case, spent, float(json.loads(timings.read_text())["decisions"]))
        if accasim:
            nodes = len(json.loads((timings.parent / "machine.json").read_text())["nodes"])
            script = [accasim, str(ACCASIM), str(timings.parent / "jobs.csv"), str(nodes), name]
            yield Row(Case("easy", "AccaSim", 1, case.jobs), measured(script, REPOSITORY, {}, printed))


if __name__ == "__main__":
    main()
