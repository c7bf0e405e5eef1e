"""Points that are runs of the product, like those of a campaign: in their own folders, here or on a Dask cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rich.console import Console

from spillway.analysis.document.terminal import say
from spillway.base.options import Value as Setting
from spillway.experiments.campaign.grid import expand
from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.campaign.workers.pool import Executor
from spillway.experiments.campaign.workers.runner import Outcome, run_all
from spillway.experiments.run import folders
from spillway.experiments.run.sessions import model_spec, parse_policy, refuse_combinations
from spillway.experiments.run.spec import (
    Campaign,
    Engine,
    ModelSpec,
    PlatformSpec,
    PolicySpec,
    RunSpec,
    Task,
    WorkloadSpec,
)
from spillway.experiments.studies.points import Point, Values
from spillway.workloads.batsim.json_file import write_batsim
from spillway.workloads.batsim.workload import Workload

NAMED = ("workload", "platform", "policy", "model", "engine", "seed")
"""Axes that are parts of a campaign; any other is a setting of the session."""


def summary_of(folder: Path) -> dict[str, float]:
    """Summary of a run (``metrics.json``): waits, slowdowns, utilisations."""
    read = folders.read_json(folder / "metrics.json")
    return {name: float(value) for name, value in read.items() if isinstance(value, int | float)}


_DRAWN: set[Path] = set()


def drawn_once(folder: Path, name: str, draw: Callable[[], Workload]) -> WorkloadSpec:
    """A workload that is drawn into a folder, once in a process: a file that other code left there is replaced."""
    path = folder / f"{name}.json"
    if path not in _DRAWN or not path.exists():
        write_batsim(draw(), path)
        _DRAWN.add(path)
    return WorkloadSpec(source=str(path), name=name)


@dataclass(frozen=True)
class Product:
    """Points that are runs of the product, like those of a campaign.

    The axes ``workload``, ``platform``, ``policy``, ``model`` and ``engine`` are spelled as on the command line,
    ``seed`` is the run's, and any other axis except those of ``own`` is a setting of the session.

    Attributes
    ----------
    workload
        Makes a point's workload, given the folder for drawn files; ``None``: the axis ``workload`` names it.
    platform
        Makes a point's machine; ``None``: the axis ``platform`` names it.
    policy
        Makes a point's policy; ``None``: the axis ``policy`` and the settings name it.
    measure
        Reads the measured values from a run's folder; default: its ``metrics.json``.
    own
        Axes that only ``workload``, ``platform`` and ``policy`` use.
    """

    workload: Callable[[Point, Path], WorkloadSpec] | None = None
    platform: Callable[[Point], PlatformSpec] | None = None
    policy: Callable[[Point], PolicySpec] | None = None
    measure: Callable[[Path], Values] = summary_of
    own: tuple[str, ...] = ()


def prepare(play: Product, points: Sequence[Point], root: Path, console: Console) -> dict[Point, RunSpec]:
    """List the runs of some points, and prepare their inputs in the folder; a refusal leaves nothing there.

    Raises
    ------
    SpecError, OptionError
        A policy, model, platform or workload does not exist, or they cannot be combined.
    """
    policies = {point: play.policy(point) if play.policy else _policy(point, play.own) for point in points}
    models = {text: model_spec(text) for text in {str(point.get("model")): None for point in points}}
    for name, model in models.items():
        refuse_combinations([spec for point, spec in policies.items() if point.get("model") == name], (model,))
    with folders.preparing(root, root / folders.INPUTS, root / "drawn"):
        return _prepared(play, points, policies, models, root, console)


def _prepared(
    play: Product,
    points: Sequence[Point],
    policies: Mapping[Point, PolicySpec],
    models: Mapping[str, ModelSpec],
    root: Path,
    console: Console,
) -> dict[Point, RunSpec]:
    inputs = Inputs(folders.make_folder(root), cache(lambda text: say(console, f"note: {text}")))  # once for all points
    drawn = folders.make_folder(root / "drawn")
    runs: dict[Point, RunSpec] = {}
    for point in points:
        source = play.workload(point, drawn) if play.workload else WorkloadSpec(source=point.text("workload"))
        platform = play.platform(point) if play.platform else PlatformSpec(source=str(point.get("platform", "thesis")))
        seed, model = point.whole("seed") if "seed" in dict(point.axes) else 0, models[str(point.get("model"))]
        campaign = Campaign(
            name=root.name,
            workloads=(source,),
            policies=(policies[point],),
            platforms=(platform,),
            models=(model,),
            seeds=(seed,),
            engine=Engine(point.get("engine", Engine.FLUID.value)),
        )
        pairs = inputs.pairs(campaign.workloads, campaign.platforms, model, seed)
        [runs[point]] = expand(campaign, {(model.label, seed): pairs})
    return runs


def play_all(
    runs: Mapping[Point, RunSpec], root: Path, executor: Executor[Task], console: Console, *, rerun: bool
) -> Outcome:
    """Do the runs that are not finished; points with the same run share it."""
    tasks = {run.id: Task(run, root) for run in runs.values()}
    return run_all(list(tasks.values()), executor, console, rerun=rerun)


def measured(play: Product, runs: Mapping[Point, RunSpec], outcome: Outcome, root: Path) -> dict[Point, Values]:
    """Measured values at the points with finished runs; infinite and undefined values are left out."""
    found: dict[Point, Values] = {}
    for point, run in runs.items():
        if run.id not in outcome.failed:
            values = play.measure(root / run.id)
            found[point] = {name: value for name, value in values.items() if math.isfinite(value)}
    return found


def _policy(point: Point, own: Sequence[str]) -> PolicySpec:
    settings: dict[str, Setting] = {axis: value for axis, value in point.axes if axis not in NAMED and axis not in own}
    label = " ".join([point.text("policy"), *(f"{axis}={value}" for axis, value in settings.items())])
    return parse_policy(point.text("policy"), session=settings, label=label)
