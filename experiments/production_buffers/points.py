"""The points of the study, and their runs in one folder of results."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from experiments import folders, machines
from experiments.grid import expand
from experiments.inputs import Inputs
from experiments.policies import typed
from experiments.pool import Pool
from experiments.production_buffers.jobs import draw
from experiments.runner import Outcome, run_all
from experiments.sessions import refuse_combinations
from experiments.single import Task, execute
from experiments.spec import DEFAULT_TAU_S, Campaign, ModelSpec, PlatformSpec, PolicySpec, RunSpec, WorkloadSpec
from schedulers.options import Value
from schedulers.plugins import split_spec
from workloads.batsim_json import write_batsim
from workloads.machine_facts import MachineFacts

BASELINE = "with-nodes"
LIVES = (BASELINE, "slurm", "two-reservations", "standby")
MACHINE = PlatformSpec(source="tuolumne")
NAME = "production-buffers"
ASSUMED = (
    "ASSUMED: sizes and runtimes as of KTH's log with sizes times 12, requests of buffers by the thesis's law with a "
    "mean of 0.5 TB per node, times of staging as swept; bandwidths of the machine are chosen"
)
MODEL = ModelSpec(name="io", options={"max_phases": 1})
"""Jobs compute in one piece: checkpoints would be the same under every life."""


class Place(NamedTuple):
    """A kind of buffer, and where it lies.

    Attributes
    ----------
    stripes
        Storage nodes that a job's buffer is striped over; 0: a request per node.
    order
        Setting ``storage_order``.
    words
        For tables.
    """

    stripes: int
    order: str
    words: str


STRIPED = "striped"
PLACES = {
    STRIPED: Place(8, "least-loaded", "a buffer per job, striped over 8 rabbits, the least loaded ones"),
    "rack": Place(0, "rack", "a buffer per node, on the rabbit of its own rack, else the job waits"),
    "nearest": Place(0, "nearest", "a buffer per node, on the nearest rabbit with enough free"),
}


@dataclass(frozen=True, order=True)
class Point:
    """What one run is about.

    Attributes
    ----------
    place
        Key of :data:`PLACES`.
    life
        Of burst buffers, as ``--bb-life`` takes it.
    policy
        As ``--policy`` takes it.
    minutes
        Least time of a stage-in, and of a stage-out.
    seed
        Of the jobs.
    """

    place: str
    life: str
    policy: str
    minutes: float
    seed: int


@dataclass(frozen=True)
class Scope:
    """The grid.

    Attributes
    ----------
    lives, policies, minutes, seeds
        Its axes, as in :class:`Point`, all with striped buffers; :data:`BASELINE` is what other lives are held against.
    jobs
        Of a workload.
    """

    lives: tuple[str, ...]
    policies: tuple[str, ...]
    minutes: tuple[float, ...]
    seeds: tuple[int, ...]
    jobs: int

    def points(self) -> list[Point]:
        """All points.

        The other places of buffers are compared with the first policy and the longest staging, where nodes and
        buffers are given together: the rack of a buffer that is given first says nothing on where its nodes will be.
        """
        grid = itertools.product(self.lives, self.policies, self.minutes, self.seeds)
        others = itertools.product(list(PLACES)[1:], (BASELINE,), self.policies[:1], (max(self.minutes),), self.seeds)
        return [Point(STRIPED, *axes) for axes in grid] + [Point(*axes) for axes in others]


def prepare(scope: Scope, root: Path, console: Console) -> dict[Point, RunSpec]:
    """Draw the workloads into the folder, and list the runs of all points.

    Raises
    ------
    SpecError, OptionError
        A policy or a life is unknown, or both cannot be combined.
    """
    points = scope.points()
    policies = {point: _policy(point) for point in points}
    refuse_combinations(policies.values(), (MODEL,))
    console.print(f"note: {ASSUMED}", markup=False, highlight=False, soft_wrap=True)
    inputs = Inputs(folders.make_folder(root), lambda text: None)  # loads of the same jobs, file by file
    facts = machines.load(MACHINE).facts
    drawn, made = folders.make_folder(root / "drawn"), set[Path]()
    runs: dict[Point, RunSpec] = {}
    for point, policy in policies.items():
        path = _drawn(point, scope.jobs, facts, drawn, made)
        campaign = Campaign(
            name=NAME,
            workloads=(WorkloadSpec(source=str(path), name=path.stem),),
            policies=(policy,),
            platforms=(MACHINE,),
            models=(MODEL,),
            seeds=(point.seed,),
        )
        pairs = inputs.pairs(campaign.workloads, campaign.platforms, MODEL, point.seed)
        [runs[point]] = expand(campaign, {(MODEL.label, point.seed): pairs})
    return runs


def play(
    runs: Mapping[Point, RunSpec], jobs: int, root: Path, options: argparse.Namespace, console: Console
) -> Outcome:
    """Run what has not run yet."""
    tasks = [Task(run, root, DEFAULT_TAU_S, uncontended=False) for run in runs.values()]
    return run_all(tasks, Pool(execute, options.workers), console, lambda run: jobs, rerun=options.rerun)


def _policy(point: Point) -> PolicySpec:
    name, options = split_spec(point.policy)
    settings: dict[str, Value] = {"bb_life": point.life, "storage_order": PLACES[point.place].order}
    label = f"{point.policy} {point.life} {point.place}"
    return typed(PolicySpec(policy=name, options=dict(options), session=settings, label=label))


def _drawn(point: Point, jobs: int, facts: MachineFacts, folder: Path, made: set[Path]) -> Path:
    """The file of a point's jobs, written unless it was ``made`` already."""
    covers, stripes = split_spec(point.life)[0] == BASELINE, PLACES[point.place].stripes
    name = f"s{point.seed}-{point.minutes:g}min" + f"-k{stripes}" * bool(stripes) + "-covered" * covers
    path = folder / f"{name}.json"
    if path not in made:
        write_batsim(draw(jobs, point.seed, point.minutes, facts, covers_staging=covers, stripes=stripes), path)
        made.add(path)
    return path
