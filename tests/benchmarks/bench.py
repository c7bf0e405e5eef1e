"""Jobs and decisions per CPU second, peak memory and growth with the length of the log: one table, to be run again.

``make bench``, or ``python -m tests.benchmarks.bench [--jobs 1000,10000,100000,1000000] [--engines fixed,fluid]
[--policies easy]``

Each row is one command ``spillway run`` on a log of the generator ``kth-like`` (the shape of the KTH SP2 log, seed 0)
and the machine of the thesis. CPU seconds are those of all its processes, from the command line to the summary, the
start of the program included. ``growth`` is the exponent from the row above: 1 is proportional to the number of jobs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.process_tree import Spent, measured
from tests.imports.graph import REPOSITORY


def main() -> None:
    """Print the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="1000,10000,100000,1000000")
    parser.add_argument("--engines", default="fixed,fluid")
    parser.add_argument("--policies", default="easy")
    given = parser.parse_args()
    print(
        f"{'policy':12} {'engine':8} {'jobs':>9} {'CPU s':>9} {'jobs/s':>9} {'decisions/s':>12} {'MB':>7} {'growth':>7}"
    )
    for policy in given.policies.split(","):
        for engine in given.engines.split(","):
            before: tuple[int, float] | None = None
            for jobs in sorted(int(text) for text in given.jobs.split(",")):
                spent, decisions = _run(policy, engine, jobs)
                growth = math.log(spent.cpu_s / before[1]) / math.log(jobs / before[0]) if before else math.nan
                before = jobs, spent.cpu_s
                print(
                    f"{policy:12} {engine:8} {jobs:9,} {spent.cpu_s:9.1f} {jobs / spent.cpu_s:9,.0f} "
                    f"{decisions / spent.cpu_s:12,.0f} {spent.peak_bytes / 1e6:7,.0f} {growth:7.2f}",
                    flush=True,
                )
    print(f"load of the machine at the end: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


def _run(policy: str, engine: str, jobs: int) -> tuple[Spent, float]:
    """What a run costs, and how many messages its scheduler answered."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        command = [sys.executable, "run_experiments.py", "run", "--workload", f"kth-like:jobs={jobs}"]
        command += ["--platform", "thesis", "--policy", policy, "--engine", engine, "--no-plots", "--no-site"]
        spent = measured([*command, "--out", str(out)], REPOSITORY, {}, Path(name) / "printed.txt")
        (timings,) = out.glob("*/timings.json")
        return spent, float(json.loads(timings.read_text())["decisions"])


if __name__ == "__main__":
    main()
