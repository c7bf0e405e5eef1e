"""Calls of our own functions per job, by folder and for the functions that are called most.

``python -m tools.benchmarks.calls WORKLOAD [OPTION ...] [--most N]``, the arguments of ``spillway run``

The run is played in this process, with a hook on every call (:func:`sys.setprofile`), so that the counts are the same
on every machine and in every run. Calls count while messages are exchanged: neither the reading of logs nor the writing
of summaries is included.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from spillway.experiments.cli import main as spillway
from spillway.schedulers.core.admission import Admission
from spillway.simulator.wire.broker import Simulation, SimulationResult
from tests.imports.graph import REPOSITORY


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=25, help="functions listed (25)")
    given, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        calls, compiled, jobs, rows = count([*arguments, "--workers", "1", "--no-plots", "--out", name])
    if not jobs:
        raise SystemExit("nothing was played in this process: name one workload, one policy, one model")
    ours = by_folder(calls)
    print(f"{jobs} jobs, {rows} rows of Batsim's table")
    print(f"calls of ours a job: {sum(ours.values()) / jobs:.1f}; C calls a job: {compiled / jobs:.1f}")
    for folder, number in ours.most_common():
        print(f"{folder:40} {number / jobs:8.2f}")
    for code, number in calls.most_common(given.most):
        print(f"{_place(code)}:{code.co_firstlineno} {code.co_qualname}".ljust(90) + f"{number / jobs:8.2f}")


def count(arguments: list[str]) -> tuple[Counter[CodeType], int, int, int]:
    """Calls of our functions while a run is simulated, calls of compiled ones, jobs, and rows of jobs and sub-jobs."""
    calls: Counter[CodeType] = Counter()
    others = rows = 0
    root = str(REPOSITORY / "spillway")

    def hook(frame: FrameType, event: str, _: Any) -> None:
        nonlocal others
        if event == "call" and frame.f_code.co_filename.startswith(root):
            calls[frame.f_code] += 1
        elif event == "c_call":
            others += 1

    played = Simulation.run

    def counted(simulation: Simulation) -> SimulationResult:
        nonlocal rows
        sys.setprofile(hook)
        try:
            result = played(simulation)
        finally:
            sys.setprofile(None)
        rows += simulation.outputs.jobs.totals.jobs
        return result

    Simulation.run = counted  # type: ignore[method-assign]
    try:
        if spillway(["run", *arguments]):
            raise SystemExit("the run failed")
    finally:
        Simulation.run = played  # type: ignore[method-assign]
    return calls, others, calls[Admission.read.__code__], rows


def by_folder(calls: Counter[CodeType]) -> Counter[str]:
    """Calls by the folder of the function's file."""
    found: Counter[str] = Counter()
    for code, number in calls.items():
        found[_place(code).parent.as_posix()] += number
    return found


def _place(code: CodeType) -> Path:
    return Path(code.co_filename).relative_to(REPOSITORY).relative_to("spillway")


if __name__ == "__main__":
    main()
