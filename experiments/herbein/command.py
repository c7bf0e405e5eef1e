"""``run_experiments.py herbein``: the evaluation of Herbein et al. from the log to tables and figures."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.table import Table

from experiments.errors import SpecError
from experiments.herbein.published import AWARE, IGNORANT, PROVISIONINGS
from experiments.herbein.run import ENGINES, Point, read, run_to_file, summary
from workloads.herbein import CONSTANT_RATES, DIVERSE_RATES, HerbeinModel, HerbeinOptions, draw_herbein, fit_herbein
from workloads.load import load_log

MIXES = {"constant": CONSTANT_RATES, "diverse": DIVERSE_RATES}
SIZE_FACTOR = 2.0
"""Atlas has 1,152 nodes, CTS-1 3,888: sizes are doubled, and stay powers of two."""

LOCAL_LOG = "data/swf/LLNL-Atlas-2006-2.1-cln.swf.xz"
PUBLIC_LOG = "LLNL-Atlas-2006-2.1-cln"


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise SpecError(f"{message} (see {self.prog} --help)")


def command(arguments: Sequence[str]) -> int:
    """Run the command; finished runs are kept, so that it goes on where it stopped."""
    options = _complete(_parser().parse_args(arguments))
    console = Console(width=200)
    out: Path = options.out
    runs = out / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    points = _points(options)
    drawn = _options(options, 0, "constant")
    begin = time.perf_counter()
    done = _run_all(points, options, runs, console)
    console.print(f"{len(done)} runs, {time.perf_counter() - begin:.0f} s", highlight=False)
    _report(done, out, console)
    if options.growth:
        _growth(_model(options.log), drawn, out, console)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="run_experiments.py herbein",
        description="I/O-ignorant and I/O-aware scheduling on CTS-1 with four file systems (Herbein et al. 2016).",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer jobs (400), one seed, EASY only, no growth")
    add("--jobs", type=int, metavar="N", help="jobs per workload (2500, quick: 400)")
    add("--seeds", type=int, metavar="N", help="number of workloads (3, quick: 1)")
    add("--policy", action="append", default=[], metavar="NAME", help="policies (default: easy and fcfs, quick: easy)")
    add("--contention", action="append", default=[], choices=list(ENGINES), help="models (default: waterfill-mb)")
    add("--mix", action="append", default=[], choices=list(MIXES), help="I/O rates (default: constant)")
    add("--mean-gap", type=float, metavar="S", help="time between submissions (default: 4 x 31.7 s)")
    add("--size-factor", type=float, default=SIZE_FACTOR, metavar="F", help="what the log's sizes are multiplied with")
    add("--log", default="", metavar="FILE|NAME", help=f"log to fit (default: {PUBLIC_LOG}, or below SPILLWAY_DATA)")
    add("--no-growth", dest="growth", action="store_false", help="do not measure 1,000 to 64,000 nodes")
    add("--workers", type=int, default=max(1, len(os.sched_getaffinity(0))), metavar="N", help="runs at a time")
    add("--out", type=Path, default=Path("results/herbein"), metavar="DIR", help="folder of the results (%(default)s)")
    return parser


def _complete(options: argparse.Namespace) -> argparse.Namespace:
    """Fill in what is not given; ``--quick`` changes it."""
    options.jobs = options.jobs or (400 if options.quick else 2500)
    options.seeds = options.seeds or (1 if options.quick else 3)
    options.policy = options.policy or (["easy"] if options.quick else ["easy", "fcfs"])
    options.contention = options.contention or ["waterfill-mb"]
    options.mix = options.mix or ["constant"]
    options.growth = options.growth and not options.quick
    for name in ("jobs", "seeds", "workers"):
        if getattr(options, name) < 1:
            raise SpecError(f"--{name} must be at least 1, got {getattr(options, name)}")
    return options


def _points(options: argparse.Namespace) -> list[Point]:
    grid = itertools.product(
        range(options.seeds), options.mix, options.contention, options.policy, PROVISIONINGS, (IGNORANT, AWARE)
    )
    return [
        Point(platform=platform, policy=policy, scheduler=scheduler, contention=contention, seed=seed, mix=mix)
        for seed, mix, contention, policy, platform, scheduler in grid
    ]


def _options(options: argparse.Namespace, seed: int, mix: str) -> HerbeinOptions:
    drawn = HerbeinOptions(jobs=options.jobs, seed=seed, size_factor=options.size_factor, rates=MIXES[mix])
    return drawn if options.mean_gap is None else replace(drawn, mean_gap_s=options.mean_gap)


@lru_cache(maxsize=1)
def _model(log: str) -> HerbeinModel:
    """The model of a log: a file, a public log, or by default Atlas from the reference data or the public archive."""
    local = Path(os.environ.get("SPILLWAY_DATA", "")) / LOCAL_LOG
    source = log or (str(local) if local.is_file() else PUBLIC_LOG)
    return fit_herbein(load_log(source)[0])


def _one(point: Point, options: argparse.Namespace, folder: Path) -> Path:
    workload = draw_herbein(_model(options.log), _options(options, point.seed, point.mix))
    return run_to_file(point, workload, folder)


def _run_all(points: list[Point], options: argparse.Namespace, runs: Path, console: Console) -> dict[Point, Path]:
    key = f"{options.jobs}-{options.size_factor:g}-{options.mean_gap or 0:g}"
    folder = runs / key
    folder.mkdir(exist_ok=True)
    done: dict[str, Path] = {}
    with ProcessPoolExecutor(options.workers) as pool:
        waiting = {pool.submit(_one, point, options, folder): point for point in points}
        for finished in as_completed(waiting):
            point = waiting[finished]
            done[point.id] = finished.result()
            console.print(f"[{len(done)}/{len(points)}] {point.id}", markup=False, highlight=False)
    return {point: done[point.id] for point in points}


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

    table = Table(title="EASY's decision time by size of the machine (s)", title_justify="left")
    found = {
        f"{nodes} {scheduler}": decision_times(model, nodes, scheduler, drawn)
        for nodes, scheduler in itertools.product(SIZES, (IGNORANT, AWARE))
    }
    names = list(next(iter(found.values())))
    for heading in ("nodes", *names):
        table.add_column(heading)
    for name, values in found.items():
        table.add_row(name, *(f"{values[column]:.5g}" for column in names))
    console.print(table)
    (out / "growth.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
