"""``spillway study jeannot``: the evaluation of Jeannot, Pallez and Vidal, from draws to verdicts and figures."""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console

from experiments import kept
from experiments.arguments import Parser, add_running
from experiments.codehash import code_of
from experiments.errors import SpecError
from experiments.folders import make_folder
from experiments.jeannot.run import (
    STRATEGIES,
    Point,
    Result,
    Strategy,
    file_of,
    look,
    play_direct,
    play_protocol,
    read,
    run_to_file,
)
from experiments.jeannot.selector import OBJECTIVES, PACK, Selector, evaluate, example, learn, measure_workload
from experiments.jeannot.variants import VARIANTS
from experiments.kept import Standing
from experiments.lock import results_folder
from experiments.side_by_side import side_by_side
from schedulers.jobmodels.gates import IoControl, IoOrder
from workloads.batsim_json import read_batsim
from workloads.jeannot import FAMILIES, PROTOCOLS, SIZES, VOLUMES

LOADS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
VARIANT_LOADS = (0.2, 0.8)
SELECTED = {name: STRATEGIES[name] for name in ("LS", PACK)}
SELECTOR, LEARNS = "selector.json", "experiments.jeannot.selector"
"""File of the selector, and the module that learns it."""

EVERY = 20
"""Points between two lines of progress."""

DESCRIPTION = "List and pack scheduling with exclusive I/O (Jeannot, Pallez, Vidal 2023)."
EXAMPLES = """
spillway study jeannot --quick
spillway study jeannot --recommend workload.json --bandwidth 1e9
"""


def command(options: argparse.Namespace) -> int:
    """Run the command; finished points are kept, so that it goes on where it stopped."""
    options = _complete(options)
    console = Console(width=210)
    if options.recommend:
        return _recommend(options, console)
    with results_folder(options.out):
        return _evaluate(options, console)


def _evaluate(options: argparse.Namespace, console: Console) -> int:
    folder: Path = options.out / _slug(options)
    folder.mkdir(parents=True, exist_ok=True)
    options.old = []
    points = _grid(options, options.family, options.load, range(options.draws))
    cells = _run(points, options, STRATEGIES, "grid", console)
    _report(cells, folder, console, figures=options.figures)
    if options.check:
        last, step = len(points) - 1, max(1, options.check - 1)
        _check([points[index * last // step] for index in range(min(options.check, len(points)))], console)
    if options.selector:
        _selector(options, cells, points, folder, console)
    if options.variants:
        _variants(options, folder, console)
    kept.remind(options.old, console)
    return 0


def add_arguments(parser: Parser) -> None:
    """Add what the study takes."""
    add = parser.add_argument_group("what is played").add_argument
    add("--quick", action="store_true", help="three loads, three draws, no variants, no selector")
    add("--family", action="append", default=[], choices=FAMILIES, help="families of workloads (all)")
    add(
        "--load",
        action="append",
        default=[],
        type=float,
        metavar="A",
        help="I/O loads (0.2 to 0.8, quick: 0.2 0.5 0.8)",
    )
    add("--draws", type=int, metavar="N", help="workloads per family and load (10, quick: 3)")
    add("--jobs", type=int, default=100, metavar="N", help="jobs per workload (%(default)s)")
    add = parser.add_argument_group("machine").add_argument
    add("--io-control", choices=[one.value for one in IoControl], default="exclusive", help="exclusive or shared I/O")
    add(
        "--io-order", choices=[one.value for one in IoOrder], default="fifo", help="order at the I/O node (%(default)s)"
    )
    add = parser.add_argument_group("workloads").add_argument
    add("--volume", choices=VOLUMES, default="", help="how volumes follow from shares (M: proportional, U: whole)")
    add("--sizes", choices=SIZES, default="formula", help="sizes of the uniform protocol (%(default)s)")
    add("--literal", action="store_true", help="leave volumes as the printed formulas give them")
    add("--mean-gap", type=float, default=0.0, metavar="S", help="mean time between submissions (0: all at once)")
    add = parser.add_argument_group("what is made of it").add_argument
    add("--check", type=int, metavar="N", help="play N points over the protocol too and compare (2)")
    add("--no-variants", dest="variants", action="store_false", help="do not repeat with other modelling choices")
    add("--no-selector", dest="selector", action="store_false", help="do not learn and judge the selector")
    add("--no-figures", dest="figures", action="store_false", help="draw no figures")
    add = parser.add_argument_group("recommendation, in place of the study").add_argument
    add("--recommend", type=Path, metavar="FILE", help="measure a Batsim workload and recommend list or packs")
    add(
        "--bandwidth",
        type=float,
        metavar="B",
        help="with --recommend: bytes/s of the file system (default: the family's)",
    )
    add_running(parser, Path("results/jeannot"))


def _complete(options: argparse.Namespace) -> argparse.Namespace:
    """Fill in what is not given; ``--quick`` changes it."""
    quick = options.quick
    options.family = list(dict.fromkeys(options.family)) or list(FAMILIES)
    options.load = sorted(set(options.load)) or ([0.2, 0.5, 0.8] if quick else list(LOADS))
    options.draws = 3 if options.draws is None and quick else 10 if options.draws is None else options.draws
    options.check = (1 if quick else 2) if options.check is None else options.check
    options.variants = options.variants and not quick
    options.selector = options.selector and not quick
    for name, least in (("draws", 1), ("jobs", 1), ("workers", 1), ("check", 0), ("mean_gap", 0)):
        if getattr(options, name) < least:
            raise SpecError(f"--{name.replace('_', '-')} must be at least {least}, got {getattr(options, name)}")
    if not all(0 < load <= 1 for load in options.load):
        raise SpecError(f"--load must be above 0 and at most 1, got {', '.join(f'{load:g}' for load in options.load)}")
    return options


def _grid(
    options: argparse.Namespace, families: Iterable[str], loads: Iterable[float], draws: Iterable[int]
) -> list[Point]:
    return [
        Point(
            family=family, alpha=load, seed=seed, jobs=options.jobs, volume=options.volume, sizes=options.sizes,
            literal=options.literal, mean_gap_s=options.mean_gap, io_control=options.io_control,
            io_order=options.io_order,
        )
        for seed, family, load in itertools.product(draws, families, loads)
    ]  # fmt: skip


def _slug(options: argparse.Namespace) -> str:
    """Folder of the tables and figures of these settings."""
    order = f"-{options.io_order}" if options.io_control == "exclusive" else ""
    extra = ["literal"] * options.literal + [text for text in (options.volume,) if text]
    extra += ["sizes-uniform"] * (options.sizes == "uniform") + ["quick"] * options.quick
    extra += [f"{options.jobs}-jobs"] * (options.jobs != 100) + [f"gap-{options.mean_gap:g}"] * (options.mean_gap > 0)
    return "-".join([options.io_control + order, *extra])


def _one(point: Point, folder: Path, strategies: Mapping[str, Strategy]) -> float:
    """Run a point in a worker; return the CPU seconds that it took."""
    begin = time.process_time()
    run_to_file(point, folder, strategies)
    return time.process_time() - begin


def _run(
    points: Sequence[Point],
    options: argparse.Namespace,
    strategies: Mapping[str, Strategy],
    what: str,
    console: Console,
) -> dict[tuple[str, float, int], Result]:
    """Run points that are missing in worker processes; results by family, load and draw."""
    folder = make_folder(options.out / "runs" / "-".join(strategies).lower())
    begin, cpu_s = time.perf_counter(), 0.0
    found = {point: look(point, folder, strategies) for point in points}
    todo = kept.choose(found, console, rerun=options.rerun, what=f"points ({what})")
    options.old += kept.left(found, todo)
    work = partial(_one, folder=folder, strategies=strategies)
    for done, _, took_s in side_by_side(work, todo, options.workers):
        cpu_s += took_s
        if done % EVERY == 0 or done == len(todo):
            left_s = (time.perf_counter() - begin) / done * (len(todo) - done)
            _say(console, f"[{done}/{len(todo)}] {what}, about {left_s:.0f} s left")
    runs = len(todo) * len(strategies)
    _say(console, f"{what}: {runs} runs, {time.perf_counter() - begin:.0f} s, {cpu_s:.0f} s of CPU time")
    return {(point.family, point.alpha, point.seed): read(file_of(point, folder)) for point in points}


def _report(cells: dict[tuple[str, float, int], Result], folder: Path, console: Console, *, figures: bool) -> None:
    from experiments.jeannot import report
    from experiments.jeannot.verdicts import judge

    report.show_loads(cells, console)
    report.show_outcomes(cells, console)
    report.show_stated(cells, console)
    verdicts = judge(cells)
    report.show_verdicts(verdicts, console)
    written = [report.runs(cells, folder), report.write_verdicts(verdicts, folder / "verdicts.csv")]
    if figures:
        from experiments.jeannot.figures import draw

        written += draw(cells, folder / "figures")
    for path in written:
        _say(console, f"written: {path}")


def _check(points: Sequence[Point], console: Console) -> None:
    """Play some points over the protocol as well: dynamic jobs in the embedded simulator."""
    for point in points:
        small = msgspec.structs.replace(point, jobs=min(point.jobs, 25), literal=True)
        workload = small.draw().workload
        direct = {job.id: (start, end) for job, start, end, _ in play_direct(small, STRATEGIES["LS"], workload).jobs}
        records = play_protocol(small, STRATEGIES["LS"], workload)
        apart = max(
            max(abs(direct[record.job.id][0] - record.start_s), abs(direct[record.job.id][1] - record.end_s))
            for record in records
        )
        span = max(record.end_s for record in records)
        operations = sum(record.operations for record in records)
        _say(
            console,
            f"check {small.id}: {operations} operations over the protocol; starts and ends differ by at most "
            f"{apart:.2g} s in {span:.0f} s",
        )


def _variants(options: argparse.Namespace, folder: Path, console: Console) -> None:
    from experiments.jeannot import report
    from experiments.jeannot.verdicts import judge

    results = {}
    base = _grid(options, options.family, VARIANT_LOADS, range(max(1, options.draws // 2)))
    for name, variant in VARIANTS.items():
        results[name] = _run([variant.apply(point) for point in base], options, STRATEGIES, f"variant {name}", console)
    found = {name: judge(cells) for name, cells in results.items()}
    report.show_variants(found, results, console)
    _say(console, f"written: {report.write_variants(found, folder / 'variants.csv')}")


def _selector(
    options: argparse.Namespace,
    known: Mapping[tuple[str, float, int], Result],
    points: Sequence[Point],
    folder: Path,
    console: Console,
) -> None:
    """Learn from the grid, judge on draws that nothing was learned from."""
    from experiments.jeannot import report

    held_out = _grid(options, options.family, options.load, range(1000, 1000 + max(1, options.draws // 2)))
    fresh = _run(held_out, options, SELECTED, "selector, held out", console)

    def examples(chosen: Sequence[Point], cells: Mapping[tuple[str, float, int], Result]) -> list[object]:
        return [
            example(point.draw().workload, point.protocol.bandwidth, cells[point.family, point.alpha, point.seed])
            for point in chosen
        ]

    selector = learn(examples(points, known))  # type: ignore[arg-type]
    judged = evaluate(selector, examples(held_out, fresh))  # type: ignore[arg-type]
    report.show_selector(judged, len(points), console)
    path = folder / SELECTOR
    kept.keep(path, SELECTOR, code_of(LEARNS), {"judged": judged, "selector": selector})
    _say(console, f"written: {path}")


def _recommend(options: argparse.Namespace, console: Console) -> int:
    """Measure a workload and recommend one of the two."""
    path: Path = options.out / _slug(options) / SELECTOR
    found = kept.look(path, SELECTOR, code_of(LEARNS))
    if found.standing in (Standing.MISSING, Standing.NO_RESULT):
        raise SpecError(f"{path} is missing or was changed: the selector is learned by 'spillway study jeannot' first")
    kept.remind(kept.left({path: found}, ()), console, what="selectors")
    selector = kept.read(path, _Learned).selector
    workload = read_batsim(options.recommend)
    bandwidth = options.bandwidth or _bandwidth_for(workload.nb_res)
    features = measure_workload(workload, bandwidth)
    for name, value in msgspec.structs.asdict(features).items():
        _say(console, f"{name.replace('_', ' ')}: {value:.3f}")
    for objective in OBJECTIVES:
        predicted = selector.models[objective].predict(features)
        _say(
            console,
            f"for the {objective}: {selector.recommend(features, objective)} "
            f"(packs over list, predicted: {100 * (2.718281828459045**predicted - 1):+.1f} %)",
        )
    return 0


class _Learned(msgspec.Struct):
    selector: Selector


def _bandwidth_for(nodes: int) -> float:
    found = [protocol.bandwidth for protocol in PROTOCOLS.values() if protocol.processors == nodes]
    if not found:
        raise SpecError(f"the file system's bandwidth is not known for a machine of {nodes} nodes: give --bandwidth")
    return found[0]


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
