"""``spillway study herbein``: the evaluation of Herbein et al. from the log to tables and figures."""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from experiments import kept, provenance
from experiments.arguments import Parser, add_running
from experiments.errors import SpecError
from experiments.folders import make_folder, write_json
from experiments.herbein.pace import STEADY_GAP_S, Pace, pace_of
from experiments.herbein.published import AWARE, IGNORANT, PROVISIONINGS
from experiments.herbein.run import ENGINES, NODES, Point, file_of, look, read, run_to_file, summary
from experiments.lock import results_folder
from experiments.side_by_side import side_by_side
from schedulers.policies import POLICIES
from schedulers.timeline.placement import NodeOrder
from workloads.herbein import (
    CHANGES_PER_JOB,
    PAPER_JOBS,
    PAPER_STATE_CHANGE_S,
    HerbeinModel,
    HerbeinOptions,
    draw_herbein,
    fit_herbein,
)
from workloads.load import load_log
from workloads.streams_command import MIXES
from workloads.workload import Workload

SIZE_FACTOR = 1.5
"""What sizes of the log are multiplied with: Atlas has 1,152 nodes, CTS-1 3,888. At the pace that the paper states
this brings about the contention that it states; with 1 there is too little, with 2 the work alone takes longer than
the paper's tests (docs/herbein.md has the figures)."""

LOCAL_LOG = "data/swf/LLNL-Atlas-2006-2.1-cln.swf.xz"
PUBLIC_LOG = "LLNL-Atlas-2006-2.1-cln"

DESCRIPTION = "I/O-ignorant and I/O-aware scheduling on CTS-1 with four file systems (Herbein et al. 2016)."
EXAMPLES = """
spillway study herbein --quick
spillway study herbein --policy easy --mix constant
"""


def command(options: argparse.Namespace) -> int:
    """Run the command; finished runs are kept, so that it goes on where it stopped."""
    options = _complete(options)
    console = Console(width=200)
    with results_folder(options.out) as out:
        _evaluate(options, out, console)
    return 0


def _evaluate(options: argparse.Namespace, out: Path, console: Console) -> None:
    begin = time.perf_counter()
    make_folder(out / "runs")
    options.old = []
    model = _model(options.log)
    paces = _paces(model, options, console)
    done = _run_all(_points(options), paces, options, console)
    console.print(f"{len(done)} runs, {time.perf_counter() - begin:.0f} s", highlight=False)
    _report(done, out, console)
    _show_paces(model, paces, options, console)
    if options.growth:
        _growth(model, _options(options, 0, "constant", paces), out, console)
    kept.remind(options.old, console)


def add_arguments(parser: Parser) -> None:
    """Add what the study takes."""
    add = parser.add_argument_group("what is played").add_argument
    add("--quick", action="store_true", help="fewer jobs (400), one seed, EASY only, no growth")
    add("--jobs", type=int, metavar="N", help="jobs per workload (2500, quick: 400)")
    add("--seeds", type=int, metavar="N", help="number of workloads (3, quick: 1)")
    add("--policy", action="append", default=[], metavar="NAME", help="policies (default: easy and fcfs, quick: easy)")
    add = parser.add_argument_group("workloads").add_argument
    add("--log", default="", metavar="FILE|NAME", help=f"log to fit (default: {PUBLIC_LOG}, or below SPILLWAY_DATA)")
    add("--mix", action="append", default=[], choices=list(MIXES), help="I/O rates (default: constant)")
    add(
        "--mean-gap",
        type=float,
        metavar="S",
        help="time between submissions (default: so that job states change "
        f"every {PAPER_STATE_CHANGE_S} s, found for each seed)",
    )
    add(
        "--size-factor",
        type=float,
        default=SIZE_FACTOR,
        metavar="F",
        help="what the log's sizes are multiplied with (%(default)s)",
    )
    add = parser.add_argument_group("machine").add_argument
    add("--contention", action="append", default=[], choices=list(ENGINES), help="models (default: waterfill-mb)")
    add("--foreign", type=float, default=0.0, metavar="SHARE", help="share of the file system kept for others' traffic")
    add("--node-order", choices=[order.value for order in NodeOrder], default="first-fit", help="placement (first-fit)")
    add("--no-growth", dest="growth", action="store_false", help="do not measure 1,000 to 64,000 nodes")
    add_running(parser, Path("results/herbein"))


def _complete(options: argparse.Namespace) -> argparse.Namespace:
    """Fill in what is not given; ``--quick`` changes it."""
    options.jobs = (400 if options.quick else PAPER_JOBS) if options.jobs is None else options.jobs
    options.seeds = (1 if options.quick else 3) if options.seeds is None else options.seeds
    options.policy = options.policy or (["easy"] if options.quick else ["easy", "fcfs"])
    options.contention = options.contention or ["waterfill-mb"]
    options.mix = options.mix or ["constant"]
    options.growth = options.growth and not options.quick
    for name in ("jobs", "seeds", "workers"):
        if getattr(options, name) < 1:
            raise SpecError(f"--{name} must be at least 1, got {getattr(options, name)}")
    for name in ("mean_gap", "size_factor"):
        value = getattr(options, name)
        if value is not None and not 0 < value < math.inf:
            raise SpecError(f"--{name.replace('_', '-')} must be a number above 0, got {value:g}")
    if not 0 <= options.foreign < 1:
        raise SpecError(f"--foreign must be at least 0 and below 1, got {options.foreign:g}")
    unknown = [name for name in options.policy if name not in POLICIES]
    if unknown:
        raise SpecError(f"--policy: unknown policy {unknown[0]!r}; known: {', '.join(POLICIES)}")
    for name in ("policy", "contention", "mix"):  # given twice counts once
        setattr(options, name, list(dict.fromkeys(getattr(options, name))))
    return options


def _points(options: argparse.Namespace) -> list[Point]:
    grid = itertools.product(
        range(options.seeds), options.mix, options.contention, options.policy, PROVISIONINGS, (IGNORANT, AWARE)
    )
    return [
        Point(
            platform=platform, policy=policy, scheduler=scheduler, contention=contention, seed=seed, mix=mix,
            foreign_share=options.foreign if scheduler == AWARE else 0.0, node_order=options.node_order,
        )
        for seed, mix, contention, policy, platform, scheduler in grid
    ]  # fmt: skip


def _options(options: argparse.Namespace, seed: int, mix: str, paces: Mapping[int, Pace]) -> HerbeinOptions:
    gap_s = paces[seed].gap_s if seed in paces else options.mean_gap or STEADY_GAP_S
    return HerbeinOptions(
        jobs=options.jobs, seed=seed, size_factor=options.size_factor, rates=MIXES[mix], mean_gap_s=gap_s
    )


@lru_cache(maxsize=1)
def _model(log: str) -> HerbeinModel:
    """The model of a log: a file, a public log, or by default Atlas from the reference data or the public archive."""
    folder = os.environ.get("SPILLWAY_DATA", "")
    local = Path(folder) / LOCAL_LOG
    source = log or (str(local) if folder and local.is_file() else PUBLIC_LOG)
    return fit_herbein(load_log(source)[0])


def _paces(model: HerbeinModel, options: argparse.Namespace, console: Console) -> dict[int, Pace]:
    """The paper's pace for every seed, unless the time between submissions is given; each kept in a file."""
    if options.mean_gap is not None:
        return {}
    folder = make_folder(options.out / "paces")
    drawn = {seed: _options(options, seed, "constant", {}) for seed in range(options.seeds)}
    keys = {seed: draw_herbein(model, one).checksum for seed, one in drawn.items()}
    files = {seed: folder / f"seed{seed}_{key[:8]}.json" for seed, key in keys.items()}
    code = provenance.code("easy", pace_of.__module__)
    found = {seed: kept.look(files[seed], key, code) for seed, key in keys.items()}
    todo = kept.choose(found, console, rerun=options.rerun, what="paces")
    options.old += kept.left(found, todo)
    for _, one, pace in side_by_side(partial(pace_of, model), [drawn[seed] for seed in todo], options.workers):
        kept.keep(files[one.seed], keys[one.seed], code, pace)
        console.print(f"seed {one.seed}: pace found", highlight=False)
    return {seed: kept.read(file, Pace) for seed, file in files.items()}


def _run_all(
    points: list[Point], paces: Mapping[int, Pace], options: argparse.Namespace, console: Console
) -> dict[Point, Path]:
    """Run what is missing, and return the files of all points, in their order."""
    model, folder = _model(options.log), options.out / "runs"
    workloads = {
        (seed, mix): draw_herbein(model, _options(options, seed, mix, paces))
        for seed, mix in dict.fromkeys((point.seed, point.mix) for point in points)
    }
    found = {point: look(point, workloads[point.seed, point.mix], folder) for point in points}
    todo = kept.choose(found, console, rerun=options.rerun)
    options.old += kept.left(found, todo)
    missing = [(point, workloads[point.seed, point.mix]) for point in todo]
    for number, (point, _), _ in side_by_side(partial(_run_one, folder=folder), missing, options.workers):
        console.print(f"[{number}/{len(missing)}] {point.id}", markup=False, highlight=False)
    return {point: file_of(point, workloads[point.seed, point.mix], folder) for point in points}


def _run_one(what: tuple[Point, Workload], folder: Path) -> None:
    run_to_file(*what, folder)


def _show_paces(model: HerbeinModel, paces: Mapping[int, Pace], options: argparse.Namespace, console: Console) -> None:
    """Print for every seed how the workload was scaled, and its load on the machine."""
    if not paces:
        return
    title = f"Workloads: {options.jobs} jobs, sizes x {options.size_factor:g}"
    table = Table(title=title, title_justify="left")
    for heading in ("seed", "mean time between submissions (s)", "between state changes (s) (published)", "work"):
        table.add_column(heading)
    for seed, pace in paces.items():
        workload = draw_herbein(model, _options(options, seed, "constant", paces))
        work = sum(job.res * float(workload.profiles[job.profile]["cpu"]) / 1e9 for job in workload.jobs)
        share = work / (NODES * CHANGES_PER_JOB * len(workload.jobs) * pace.change_s)
        table.add_row(
            str(seed), f"{pace.gap_s:.1f}", f"{pace.change_s:.2f} ({PAPER_STATE_CHANGE_S})", f"{100 * share:.0f} %"
        )
    console.print(table)
    console.print(
        "note: state changes are measured under EASY with a perfectly provisioned file system, four per job; work is "
        "that of all jobs, as a share of what the whole machine can do in that time.",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    if not all(pace.reached for pace in paces.values()):
        console.print(
            "note: where the published pace cannot be met, the nearest one is taken; where the work or a single job "
            f"takes too long for it, submissions come every {STEADY_GAP_S:g} s.",
            highlight=False, soft_wrap=True,
        )  # fmt: skip


def _report(done: dict[Point, Path], out: Path, console: Console) -> None:
    from experiments.herbein import figures, report

    results = {point: read(path) for point, path in done.items()}
    rows = {point: summary(result) for point, result in results.items()}
    report.show(rows, console)
    console.print(f"table: {report.write(rows, out)}", highlight=False)
    for front in dict.fromkeys((point.policy, point.mix, point.contention) for point in rows):
        chosen = [point for point in rows if (point.policy, point.mix, point.contention) == front]
        folder = out / "figures" / "-".join(front)
        for path in figures.draw({p: results[p] for p in chosen}, {p: rows[p] for p in chosen}, folder):
            console.print(f"figure: {path}", highlight=False)


def _growth(model: HerbeinModel, drawn: HerbeinOptions, out: Path, console: Console) -> None:
    from experiments.herbein.growth import SIZES, decision_times

    table = Table(title="EASY's decision time by size of the machine (ms)", title_justify="left")
    found = {}
    for nodes, scheduler in itertools.product(SIZES, (IGNORANT, AWARE)):
        found[f"{nodes} {scheduler}"] = decision_times(model, nodes, scheduler, drawn)
        console.print(f"{nodes} nodes, I/O-{scheduler}: measured", highlight=False)
    names = list(next(iter(found.values())))
    for heading in ("nodes", *names):
        table.add_column(heading.removesuffix("_s").replace("_", " "))
    for name, values in found.items():
        table.add_row(name, *(f"{values[column] * (1000 if column.endswith('_s') else 1):.4g}" for column in names))
    console.print(table)
    write_json(out / "growth.json", found)
    console.print(
        "note: CPU time of the thread unless stated; the first message describes the machine.", highlight=False
    )
