"""The points of the study, and their runs in one folder of results."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from experiments import folders, machines
from experiments.grid import expand
from experiments.inputs import Inputs
from experiments.pool import Pool
from experiments.production_buffers.jobs import draw
from experiments.runner import Outcome, run_all
from experiments.single import Task, execute
from experiments.spec import DEFAULT_TAU_S, Campaign, ModelSpec, PlatformSpec, PolicySpec, RunSpec, WorkloadSpec
from schedulers.plugins import split_spec
from workloads.batsim_json import write_batsim

BASELINE = "with-nodes"
LIVES = (BASELINE, "slurm", "two-reservations", "standby")
MACHINE = PlatformSpec(source="tuolumne")
MODEL = ModelSpec(name="io", options={"max_phases": 1})
"""Jobs compute in one piece: checkpoints would be the same under every life."""


@dataclass(frozen=True, order=True)
class Point:
    """What one run is about.

    Attributes
    ----------
    life
        Of burst buffers, as ``--bb-life`` takes it.
    policy
        As ``--policy`` takes it.
    minutes
        Least time of a stage-in, and of a stage-out.
    seed
        Of the jobs.
    """

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
        Its axes, as in :class:`Point`; the first life is what the others are held against.
    jobs
        Of a workload.
    """

    lives: tuple[str, ...]
    policies: tuple[str, ...]
    minutes: tuple[float, ...]
    seeds: tuple[int, ...]
    jobs: int


def prepare(scope: Scope, root: Path, console: Console) -> dict[Point, RunSpec]:
    """Draw the workloads into the folder, and list the runs of all points.

    Raises
    ------
    SpecError, OptionError
        A policy or a life is unknown, or both cannot be combined.
    """
    inputs = Inputs(folders.make_folder(root), lambda text: console.print(f"note: {text}", markup=False))
    facts = machines.load(MACHINE).facts
    policies = [_policy(scope.policies, life) for life in scope.lives]
    drawn = root / "drawn"
    drawn.mkdir(exist_ok=True)
    runs: dict[Point, RunSpec] = {}
    for seed, minutes, (life, specs) in itertools.product(
        scope.seeds, scope.minutes, zip(scope.lives, policies, strict=True)
    ):
        covers = split_spec(life)[0] == BASELINE
        path = drawn / f"s{seed}-{minutes:g}min{'-covered' if covers else ''}.json"
        write_batsim(draw(scope.jobs, seed, minutes, facts, covers_staging=covers), path)
        workload = WorkloadSpec(source=str(path), name=path.stem)
        campaign = Campaign("production-buffers", (workload,), specs, (MACHINE,), (MODEL,), (seed,))
        pairs = inputs.pairs(campaign.workloads, campaign.platforms, MODEL, seed)
        for policy, run in zip(scope.policies, expand(campaign, {(MODEL.label, seed): pairs}), strict=True):
            runs[Point(life, policy, minutes, seed)] = run
    return runs


def play(runs: Mapping[Point, RunSpec], jobs: int, root: Path, options: argparse.Namespace, console: Console) -> Outcome:
    """Run what has not run yet."""
    tasks = [Task(run, root, DEFAULT_TAU_S, uncontended=False) for run in runs.values()]
    return run_all(tasks, Pool(execute, options.workers), console, lambda run: jobs, rerun=options.rerun)


def _policy(policies: Sequence[str], life: str) -> tuple[PolicySpec, ...]:
    found = []
    for text in policies:
        name, options = split_spec(text)
        found.append(PolicySpec(policy=name, options=dict(options), session={"bb_life": life}, label=f"{text} {life}"))
    return tuple(found)
