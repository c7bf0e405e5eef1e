"""Jobs and decisions per CPU second, peak memory and growth with the length of the log: one table, to be run again.

``make bench``, or ``python -m tests.benchmarks.bench [--jobs 1000,10000,100000,1000000] [--engines fixed,fluid]
[--policies easy] [--budget SECONDS] [--accasim PYTHON]``

Each row is one command ``spillway run`` on a log of the generator ``kth-like`` (the shape of the KTH SP2 log, seed 0)
and the machine of the thesis. CPU seconds are those of all its processes, from the command line to the summary, the
start of the program included. ``growth`` is the exponent from the row above: 1 is proportional to the number of jobs.
A row that would take more CPU seconds than ``--budget`` in proportion to the one before is left out, and said to be.

Where AccaSim is installed (never a dependency; ``--accasim`` names a Python with it) a row shows it under EASY, with
the same submissions, nodes, requested and execution times, and no burst buffers or places.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.process_tree import Spent, measured
from tests.imports.graph import REPOSITORY

ACCASIM = Path(__file__).with_name("accasim_play.py")
ROW = "{:12} {:8} {:9,} {:9.1f} {:9,.0f} {:>12} {:7,.0f} {:7.2f}"


class Row(NamedTuple):
    """What a row is about, what it cost, and how many messages the scheduler answered (0: not known)."""

    policy: str
    engine: str
    jobs: int
    spent: Spent
    decisions: float = 0.0


def main() -> None:
    """Print the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="1000,10000,100000,1000000")
    parser.add_argument("--engines", default="fixed,fluid")
    parser.add_argument("--policies", default="easy")
    parser.add_argument(
        "--budget", type=float, default=600.0, help="most CPU seconds that a row is expected to take (600)"
    )
    parser.add_argument("--accasim", default=sys.executable, metavar="PYTHON", help="a Python with AccaSim (this one)")
    given = parser.parse_args()
    accasim = given.accasim if _has_accasim(given.accasim) else ""
    print(
        f"{'policy':12} {'engine':8} {'jobs':>9} {'CPU s':>9} {'jobs/s':>9} {'decisions/s':>12} {'MB':>7} {'growth':>7}"
    )
    before: dict[tuple[str, str], Row] = {}
    for policy in given.policies.split(","):
        for engine in given.engines.split(","):
            for jobs in sorted(int(text) for text in given.jobs.split(",")):
                last = before.get((policy, engine))
                expected_s = last.spent.cpu_s * jobs / last.jobs if last is not None else 0.0
                if expected_s > given.budget:
                    print(f"{policy:12} {engine:8} {jobs:9,} left out: about {expected_s:,.0f} CPU s (--budget)")
                    continue
                for row in _run(policy, engine, jobs, accasim if engine == "fixed" else ""):
                    _show(row, before.get((row.policy, row.engine)))
                    before[row.policy, row.engine] = row
    if not accasim:
        print("AccaSim is not installed: no row of it (--accasim PYTHON; pip install accasim into an environment)")
    print(f"load of the machine at the end: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


def _show(row: Row, before: Row | None) -> None:
    jobs, cpu_s = row.jobs, row.spent.cpu_s
    growth = math.log(cpu_s / before.spent.cpu_s) / math.log(jobs / before.jobs) if before is not None else math.nan
    decisions = f"{row.decisions / cpu_s:,.0f}" if row.decisions else "-"
    peak = row.spent.peak_bytes / 1e6
    print(ROW.format(row.policy, row.engine, jobs, cpu_s, jobs / cpu_s, decisions, peak, growth), flush=True)


def _has_accasim(python: str) -> bool:
    """Whether a Python finds AccaSim; it is not loaded, as its import fails on current Pythons."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('accasim') is None)"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def _run(policy: str, engine: str, jobs: int, accasim: str) -> Iterator[Row]:
    """What a run costs, and the same jobs in AccaSim where there is a Python with it."""
    with tempfile.TemporaryDirectory() as name:
        out, printed = Path(name) / "out", Path(name) / "printed.txt"
        command = [sys.executable, "run_experiments.py", "run", "--workload", f"kth-like:jobs={jobs}"]
        command += ["--platform", "thesis", "--policy", policy, "--engine", engine, "--no-plots", "--no-site"]
        spent = measured([*command, "--out", str(out)], REPOSITORY, {}, printed)
        (timings,) = out.glob("*/timings.json")
        yield Row(policy, engine, jobs, spent, float(json.loads(timings.read_text())["decisions"]))
        if accasim:
            nodes = len(json.loads((timings.parent / "machine.json").read_text())["nodes"])
            script = [accasim, str(ACCASIM), str(timings.parent / "jobs.csv"), str(nodes), name]
            yield Row("easy", "AccaSim", jobs, measured(script, REPOSITORY, {}, printed))


if __name__ == "__main__":
    main()
