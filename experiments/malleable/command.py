"""``spillway study malleable``: the evaluation of Singh & Carretero, and malleable jobs on a whole machine."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console

from experiments import kept
from experiments.arguments import Parser, add_running
from experiments.errors import SpecError
from experiments.lock import results_folder
from experiments.malleable import four, machine
from experiments.malleable.cells import Scope, cells_of, run_all

RESULTS = Path("results") / "malleable"
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
FAILURES = 1
"""Exit code when a run failed."""

DESCRIPTION = (
    "Malleability and I/O control (Singh & Carretero 2019): use cases A to D, the four applications, "
    "and a whole machine with 0 to 100 % malleable jobs. Finished runs are kept: the same command goes on where "
    "it stopped."
)
EPILOG = "The log is KTH's below SPILLWAY_DATA; without it, or with --log kth-like, a generated one."
EXAMPLES = """
spillway study malleable --quick
spillway study malleable --no-machine
"""


def command(options: argparse.Namespace) -> int:
    """Run the command; return the exit code (0: all runs finished, 1: a run failed)."""
    console = Console(width=200) if not sys.stdout.isatty() else Console()
    scope = _scope(options)
    with results_folder(options.out) as out:
        return _evaluate(scope, options, out, console)


def _evaluate(scope: Scope, options: argparse.Namespace, out: Path, console: Console) -> int:
    begin = time.perf_counter()
    cells = list(cells_of(scope))
    results, failures, old = run_all(cells, out / "runs", options.workers, console, rerun=options.rerun)
    console.print(f"{len(results)} runs, {time.perf_counter() - begin:.0f} s", highlight=False)
    from experiments.malleable import figures, report

    judged = report.show(results, console)
    for path in report.write(results, judged, out):
        console.print(f"table: {path}", markup=False, highlight=False, soft_wrap=True)
    for path in figures.draw(results, out / "figures"):
        console.print(f"figure: {path}", markup=False, highlight=False, soft_wrap=True)
    kept.remind(old, console)
    for failure in failures:
        console.print(f"failed {failure}", markup=False, highlight=False, soft_wrap=True)
    return FAILURES if failures else 0


def _scope(options: argparse.Namespace) -> Scope:
    quick = options.quick
    for name in ("jobs", "seeds", "machine_seeds", "workers"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise SpecError(f"--{name.replace('_', '-')} must be at least 1, got {value}")
    controls = options.control or (["none", "both"] if quick else list(machine.CONTROLS))
    return Scope(
        seeds=options.seeds or (3 if quick else 5),
        totals=four.TOTALS,
        four_seeds=options.seeds or (1 if quick else 3),
        log=machine.source_of(options.log),
        jobs=options.jobs or (300 if quick else 1000),
        shares=(0.0, 0.5, 1.0) if quick else SHARES,
        controls=[] if options.no_machine else controls,
        machine_seeds=options.machine_seeds or (1 if quick else 3),
        policies=options.policy or ["easy"],
    )


def add_arguments(parser: Parser) -> None:
    """Add what the study takes."""
    add = parser.add_argument_group("what is played").add_argument
    add("--quick", action="store_true", help="fewer seeds, jobs (300), shares (0, 50, 100 %%) and controls")
    add(
        "--seeds",
        type=int,
        metavar="N",
        help="seeds of the paper's experiments (use cases 5, four applications 3; quick: 3, 1)",
    )
    add = parser.add_argument_group("whole machine").add_argument
    add("--jobs", type=int, metavar="N", help="its jobs (1000, quick: 300)")
    add("--machine-seeds", type=int, metavar="N", help="parts of the log, and seeds (3, quick: 1)")
    add("--control", action="append", choices=list(machine.CONTROLS), help="controls (all)")
    add("--policy", action="append", metavar="NAME", help="queue policies (easy)")
    add("--log", default="", metavar="FILE|NAME", help="its log")
    add("--no-machine", action="store_true", help="leave the whole machine out")
    add_running(parser, RESULTS)
