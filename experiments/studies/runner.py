"""Player of a study's points; valid results are reused (:mod:`spillway.experiments.campaign.folder.reuse`)."""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from spillway.analysis.document.terminal import say
from spillway.base.arguments import how
from spillway.base.plugins import OUTSIDE, module_from_file
from spillway.experiments.campaign.folder import reuse
from spillway.experiments.campaign.folder.reuse import KeptResult
from spillway.experiments.campaign.workers import signals
from spillway.experiments.campaign.workers.pool import Executor, Pool, Report, RunEnd, RunFailure
from spillway.experiments.run import codehash
from spillway.experiments.run.errors import Interruption
from spillway.experiments.run.folders import make_folder
from spillway.experiments.run.spec import Task
from spillway.experiments.studies import product
from spillway.experiments.studies.points import Point, Values
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.study import ComputedPoints, Study
from spillway.schedulers.policies import find_policy

_EVERY_S = 20.0
"""Time between two lines of progress without a terminal (s)."""


@dataclass
class PointResults:
    """Outcome of the points.

    Attributes
    ----------
    values
        Values by point, for finished points.
    failed
        Causes by point, for failed points.
    old
        Kept results of other code.
    folders
        Folders of finished runs of the product, by point.
    """

    values: dict[Point, Values] = field(default_factory=dict)
    failed: dict[Point, str] = field(default_factory=dict)
    old: list[KeptResult] = field(default_factory=list)
    folders: dict[Point, Path] = field(default_factory=dict)

    def and_also(self, other: PointResults) -> PointResults:
        """The outcomes of both."""
        return PointResults(
            self.values | other.values,
            self.failed | other.failed,
            self.old + other.old,
            self.folders | other.folders,
        )


@dataclass(frozen=True)
class _Function:
    """A function by its place, so that a worker process finds it also in a user's file."""

    file: Path | None
    module: str
    name: str

    def __call__(self, point: Point) -> Values:
        module = module_from_file(self.file, "study") if self.file else importlib.import_module(self.module)
        found: Values = getattr(module, self.name)(point)
        return found


def _named(function: Callable[[Point], Values]) -> _Function:
    module = sys.modules[function.__module__]
    outside = module.__name__.startswith(OUTSIDE) and module.__file__ is not None
    file = Path(str(module.__file__)) if outside else None
    return _Function(file, function.__module__, function.__name__)


@dataclass(frozen=True)
class _Item:
    """A point, with the request and the code that its result is kept with."""

    point: Point
    path: Path
    asked: Any = field(hash=False)
    code: str


def play_points(
    study: Study,
    points: Sequence[Point],
    root: Path,
    executor: Executor[Task],
    console: Console,
    *,
    workers: int,
    rerun: bool,
) -> PointResults:
    """Play all points of a study that have no result yet.

    Parameters
    ----------
    executor, workers
        Executor for runs of the product; number of processes for a faster player.
    rerun
        Whether to repeat results of other code.

    Raises
    ------
    Interruption
        A signal came; finished points stay.
    """
    if isinstance(study.play, Product):
        runs = product.prepare(study.play, points, root, console)
        outcome = product.play_all(runs, root, executor, console, rerun=rerun)
        failed = {point: outcome.failed[run.id] for point, run in runs.items() if run.id in outcome.failed}
        values = product.measured(study.play, runs, outcome, root)
        return PointResults(values, failed, outcome.old, folders={point: root / runs[point].id for point in values})
    played = _compute(study, study.play, points, root / "points", console, workers, rerun)
    played.values = {point: study.play.seen(point, values) for point, values in played.values.items()}
    return played


def _compute(
    study: Study,
    play: ComputedPoints,
    points: Sequence[Point],
    folder: Path,
    console: Console,
    workers: int,
    rerun: bool,
) -> PointResults:
    played_as = {point: _item(study, play, study.same(point), folder) for point in points}
    items = list(dict.fromkeys(played_as.values()))
    found = {item: reuse.look(item.path, item.asked, item.code) for item in items}
    todo = reuse.choose(found, console, rerun=rerun, what="points")
    played = PointResults(old=reuse.left(found, todo))
    batches = [tuple(todo[first : first + play.batch]) for first in range(0, len(todo), play.batch)]
    if batches:
        make_folder(folder)
        _play_batches(partial(_play_batch, _named(play.play)), batches, workers, played, console)
    values = {item: reuse.read(item.path, dict[str, float]) for item in items if _is_there(item, played)}
    played.values = {point: values[item] for point, item in played_as.items() if item in values}
    return played


def _play_batches(
    work: Callable[[tuple[_Item, ...], Report], None],
    batches: Sequence[tuple[_Item, ...]],
    workers: int,
    played: PointResults,
    console: Console,
) -> None:
    whole, done, said = sum(map(len, batches)), 0, time.monotonic()
    try:
        with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
            task = bar.add_task("points", total=whole)
            with closing(Pool(work, workers).run(batches)) as news_of:
                for batch, news in news_of:
                    if not isinstance(news, RunEnd | RunFailure):
                        continue
                    done += len(batch)
                    bar.update(task, completed=done)
                    if isinstance(news, RunFailure):
                        played.failed |= {item.point: news.cause for item in batch if not item.path.exists()}
                    if not console.is_terminal and (time.monotonic() - said > _EVERY_S or done == whole):
                        said = time.monotonic()
                        say(console, f"[{done}/{whole}] points")
    except KeyboardInterrupt as stop:
        number = signals.number_of(stop)
        raise Interruption(f"{how(number)}; repeat the command to go on", number) from None


def _play_batch(function: Callable[[Point], Values], batch: tuple[_Item, ...], report: Report) -> None:
    for item in batch:
        values = {name: value for name, value in function(item.point).items() if math.isfinite(value)}
        reuse.keep(item.path, item.asked, item.code, values)


def _item(study: Study, play: ComputedPoints, point: Point, folder: Path) -> _Item:
    asked = {"study": study.name, "point": [list(axis) for axis in point.axes], "inputs": play.inputs(point)}
    modules = [find_policy(name).cls.__module__ for name in play.policies(point)]
    return _Item(point, folder / f"{point.id}.json", asked, codehash.code_of(*modules, play.play.__module__))


def _is_there(item: _Item, played: PointResults) -> bool:
    return item.point not in played.failed and item.path.exists()
