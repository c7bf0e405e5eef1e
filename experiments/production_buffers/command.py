"""``spillway study production-buffers``: how long nodes idle while data moves, and what it costs to let them go."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from experiments import kept, summary
from experiments.arguments import Parser, add_running
from experiments.lock import results_folder
from experiments.production_buffers.points import BASELINE, LIVES, NAME, Scope, play, prepare
from experiments.spec import DEFAULT_TAU_S
from inputs.arguments import positive

RESULTS = Path("results") / NAME
POLICIES = ("easy", "conservative", "plan")
MINUTES = (0.0, 10.0, 30.0, 60.0)
JOBS, SEEDS = 120, 5
FAILURES = 1
"""Exit code when a run failed."""

DESCRIPTION = (
    "Lives of burst buffers x policies x time of staging on Tuolumne's 1,152 nodes and 72 rabbits: node-hours held "
    "idle while data moves, waits, and what it costs in buffer-hours. Finished runs are kept: the same command goes on "
    "where it stopped."
)
EPILOG = "Fewer than five seeds have no intervals."
EXAMPLES = """
spillway study production-buffers --quick
spillway study production-buffers --policy easy --life slurm
"""


def command(options: argparse.Namespace) -> int:
    """Run the command; return the exit code (0: all runs finished, 1: a run failed)."""
    console = Console(width=200) if not sys.stdout.isatty() else Console()
    scope = _scope(options)
    with results_folder(options.out) as out:
        return _evaluate(scope, options, out, console)


def _evaluate(scope: Scope, options: argparse.Namespace, out: Path, console: Console) -> int:
    runs = prepare(scope, out, console)
    outcome = play(runs, scope.jobs, out, options, console)
    from experiments.production_buffers import figures, report
    from experiments.production_buffers.measures import measure

    table = {point: measure(out / run.id) for point, run in runs.items() if run.id not in outcome.failed}
    summary.write_tables(summary.collect(runs.values(), out, DEFAULT_TAU_S), out)
    report.show(table, console)
    for path in report.write(table, out):
        console.print(f"table: {path}", markup=False, highlight=False, soft_wrap=True)
    for path in figures.draw(table, out / "figures"):
        console.print(f"figure: {path}", markup=False, highlight=False, soft_wrap=True)
    kept.remind(outcome.old, console)
    for run, cause in outcome.failed.items():
        console.print(f"failed {run}: {cause} (see {out / run})", markup=False, highlight=False, soft_wrap=True)
    return FAILURES if outcome.failed else 0


def _scope(options: argparse.Namespace) -> Scope:
    quick = options.quick
    return Scope(
        lives=tuple(dict.fromkeys((BASELINE, *(options.life or LIVES)))),
        policies=tuple(dict.fromkeys(options.policy or (POLICIES[:1] if quick else POLICIES))),
        minutes=tuple(dict.fromkeys(options.minutes or ((0.0, 30.0) if quick else MINUTES))),
        seeds=tuple(range(options.seeds or (2 if quick else SEEDS))),
        jobs=options.jobs or (40 if quick else JOBS),
    )


def add_arguments(parser: Parser) -> None:
    """Add what the study takes."""
    add = parser.add_argument_group("what is played").add_argument
    add("--quick", action="store_true", help="40 jobs, two seeds, EASY, staging of 0 and 30 minutes")
    add("--jobs", type=positive, metavar="N", help=f"jobs of a workload ({JOBS}, quick: 40)")
    add("--seeds", type=positive, metavar="N", help=f"number of workloads ({SEEDS}, quick: 2)")
    add("--minutes", action="append", type=_minutes, metavar="N", help="least times of a staging (0, 10, 30, 60)")
    add(
        "--life",
        action="append",
        metavar="NAME[:KEY=VALUE,...]",
        help=f"lives that are held against {BASELINE} ({', '.join(LIVES[1:])})",
    )
    add(
        "--policy",
        action="append",
        metavar="NAME[:KEY=VALUE,...]",
        help=f"policies ({', '.join(POLICIES)}; quick: {POLICIES[0]})",
    )
    add_running(parser, RESULTS)


def _minutes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 60:
        raise argparse.ArgumentTypeError(f"expected minutes from 0 to 60, got {text!r}")
    return value
