"""``spillway study gang``: the evaluation of Zhang et al. from the drawn workloads to tables and figures."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console

from experiments import kept
from experiments.arguments import Parser, add_running
from experiments.folders import make_folder, write_json
from experiments.gang.grid import FIGURES, Grid
from experiments.gang.measure import Table
from experiments.gang.run import (
    MIGRATE,
    NEXT_QUANTUM,
    Point,
    file_of,
    look,
    policy_of,
    read,
    run_to_file,
    setting_of,
    summarise,
    workload_options,
)
from experiments.kept import Found
from experiments.lock import results_folder
from experiments.side_by_side import side_by_side
from inputs.arguments import positive, seconds
from schedulers.timesharing.migration import MigrationStart
from workloads.batsim_json import write_batsim
from workloads.gang import INTENSITIES, MEAN_GAP_S, MEAN_TIMES_S, as_workload, draw_gang

QUICK = Grid(times_s=(1861, 2482, 3102), seeds=(0, 1), jobs=1500)
FULL = Grid(seeds=(0, 1, 2, 3, 4))

DESCRIPTION = (
    "Gang scheduling for I/O-intensive workloads, with and without regard to where files lie (Zhang, "
    "Yang, Sivasubramaniam, Moreira 2003)."
)
EXAMPLES = """
spillway study gang --quick
spillway study gang --write-workload gang.json --intensity 0.5
"""


def command(options: argparse.Namespace) -> int:
    """Run the command; finished runs are kept, so that it goes on where it stopped."""
    console = Console(width=200)
    if options.verify is not None:
        return _verify(options, console)
    if options.write_workload is not None:
        return _write_workload(options, console)
    grid = _grid(options)
    with results_folder(options.out) as out:
        return _evaluate(grid, out, options, console)


def _evaluate(grid: Grid, out: Path, options: argparse.Namespace, console: Console) -> int:
    begin = time.perf_counter()
    points, runs = grid.points(options.figure or FIGURES), make_folder(out / "runs")
    old = _run_all(points, runs, options, console)
    found = {point: read(file_of(point, runs)) for point in points}
    wall_s, cpu_s = time.perf_counter() - begin, sum(summary.cpu_s for summary in found.values())
    longest_s = max(summary.cpu_s for summary in found.values())
    console.print(
        f"{len(found)} runs in {wall_s:.0f} s (CPU time of the runs, kept ones included: {cpu_s:.0f} s, the longest "
        f"{longest_s:.1f} s)",
        highlight=False,
    )
    _report(Table(grid, found), options, out, console)
    kept.remind(old, console)
    return 0


def add_arguments(parser: Parser) -> None:
    """Add what the study takes."""
    add = parser.add_argument_group("what is played").add_argument
    add("--quick", action="store_true", help="1,500 jobs, two workloads, three loads (a minute)")
    add("--figure", type=int, action="append", choices=FIGURES, help="figure to repeat; may be repeated (all)")
    add("--jobs", type=positive, metavar="N", help="jobs per workload (10000, quick: 1500)")
    add("--seeds", type=positive, metavar="N", help="number of workloads (5, quick: 2)")
    add(
        "--time",
        type=positive,
        action="append",
        metavar="S",
        help="mean execution time; may be repeated (nine, quick: 3)",
    )
    add("--gap", type=seconds, default=MEAN_GAP_S, metavar="S", help="mean time between submissions (%(default)g s)")
    add = parser.add_argument_group("machine").add_argument
    add("--layout", choices=("contiguous", "scattered"), default="contiguous", help="how files lie (%(default)s)")
    add(
        "--migration-start", choices=[start.value for start in MigrationStart], default=NEXT_QUANTUM,
        help="when a migrated job restarts: with the next time slice, as published, or inside the running one "
        "(%(default)s)",
    )  # fmt: skip
    add = parser.add_argument_group("checks and files").add_argument
    add(
        "--verify", type=positive, nargs="?", const=1000, metavar="JOBS",
        help="play one workload (1000 jobs, Migrate-IOGS) through the protocol quantum by quantum as well, and compare",
    )  # fmt: skip
    add(
        "--write-workload", type=Path, metavar="FILE",
        help="write the workload of the highest load (seed 0) for other policies and for Batsim",
    )  # fmt: skip
    add(
        "--intensity", type=_share, action="append", metavar="X",
        help="I/O intensity of the workload that is written; several: equally likely (0.5; the paper has "
        f"{', '.join(map(str, INTENSITIES))})",
    )  # fmt: skip
    add_running(parser, Path("results/gang"))


def _grid(options: argparse.Namespace) -> Grid:
    grid = QUICK if options.quick else FULL
    return replace(
        grid,
        times_s=tuple(sorted(set(options.time))) if options.time else grid.times_s,
        seeds=tuple(range(options.seeds)) if options.seeds else grid.seeds,
        jobs=options.jobs or grid.jobs,
        mean_gap_s=options.gap,
        layout=options.layout,
        migration_start=options.migration_start,
    )


def _run_all(points: list[Point], folder: Path, options: argparse.Namespace, console: Console) -> list[Found]:
    """Run what is missing; return what is left of other code."""
    found = {point: look(point, folder) for point in points}
    todo = kept.choose(found, console, rerun=options.rerun)
    for number, point, _ in side_by_side(partial(run_to_file, folder=folder), todo, options.workers):
        console.print(f"[{number}/{len(todo)}] {point.id}", markup=False, highlight=False)
    return kept.left(found, todo)


def _report(table: Table, options: argparse.Namespace, out: Path, console: Console) -> None:
    from experiments.gang import figures, report

    report.show_means(table, console)
    rule = "" if options.migration_start == NEXT_QUANTUM else f"-{options.migration_start}"
    folder = make_folder(out / f"{options.layout}-gap{options.gap:g}-n{table.grid.jobs}{rule}")
    console.print(f"verdicts: {report.show_statements(table, console, folder / 'statements.json')}", highlight=False)
    console.print(f"table: {report.write_runs(table.results, folder / 'runs.csv')}", highlight=False)
    write_json(folder / "grid.json", msgspec.to_builtins(table.grid))
    for path in figures.draw(table, options.figure or FIGURES, folder):
        console.print(f"figure: {path}", highlight=False)


def _verify(options: argparse.Namespace, console: Console) -> int:
    """Compare the aggregate with the protocol; exit code 1 where they differ."""
    from experiments.gang.aggregate import run_gang
    from experiments.gang.wire import run_on_wire

    point = Point(
        policy=MIGRATE, mean_time_s=MEAN_TIMES_S[-4], mix="mixed", seed=1, jobs=options.verify, layout=options.layout,
        mean_gap_s=options.gap, migration_start=options.migration_start,
    )  # fmt: skip
    drawn, policy = workload_options(point), policy_of(point)
    jobs = draw_gang(drawn)
    marks = [time.perf_counter()]
    aggregate = run_gang(jobs, setting_of(policy, drawn.nodes))
    marks.append(time.perf_counter())
    wire = run_on_wire(jobs, policy)
    marks.append(time.perf_counter())
    same = sum(
        one == other
        for one, other in zip(
            zip(aggregate.start_us, aggregate.end_us, aggregate.local, strict=True),
            zip(wire.start_us, wire.end_us, wire.local, strict=True),
            strict=True,
        )
    )
    found = summarise(jobs, aggregate, policy, drawn.nodes)
    console.print(
        f"{point.id}: start, end and place equal for {same} of {len(jobs)} jobs; migrations {aggregate.migrations} and "
        f"{wire.migrations}; slowdown {found.slowdown:.4f}, {found.local} local; aggregate "
        f"{marks[1] - marks[0]:.2f} s, protocol {marks[2] - marks[1]:.2f} s",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    return 0 if aggregate == wire else 1


def _write_workload(options: argparse.Namespace, console: Console) -> int:
    grid = _grid(options)
    drawn = replace(
        workload_options(grid.point(MIGRATE, grid.times_s[-1], "0.5", 0)),
        intensities=tuple(options.intensity or (0.5,)),
    )
    write_batsim(as_workload(draw_gang(drawn), drawn.nodes), options.write_workload)
    console.print(f"workload: {options.write_workload}", highlight=False)
    return 0


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 0 and below 1, got {text!r}")
    return value
