"""The runs behind the thesis's figures: all of one campaign folder, done in any order, kept for the next time."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from experiments import folders, kept
from experiments.arguments import executor_of
from experiments.grid import expand
from experiments.inputs import Inputs, Tell
from experiments.runner import Outcome, run_all
from experiments.single import Task
from experiments.spec import DEFAULT_TAU_S, Campaign, PlatformSpec, PolicySpec, RunSpec, WorkloadSpec
from experiments.thesis.inputs import ThesisInputs, find_inputs
from experiments.thesis.models import Model
from experiments.thesis.variants import ALIASES, FULL, SPLIT, is_random, spec_of

MACHINE = PlatformSpec(source="thesis")
SEEDS = 3
"""Seeds of what is random: one seed of annealing moves the mean over the parts by some per cent."""

MODELS = {"alloc": (Model.ALLOC,), "io": (Model.IO,), "both": (Model.ALLOC, Model.IO)}
FAILURES = 1
"""Exit code when a run failed."""


@dataclass(frozen=True)
class Scope:
    """How much of the evaluation is repeated.

    Attributes
    ----------
    models
        Job models.
    parts
        Numbers of the parts of the split workloads, 0 to 15.
    full
        Whether the whole log is run in one as well.
    seeds
        Seeds of the schedules that depend on them (at least one). The others, and all full workloads, run with the
        first.
    """

    models: tuple[Model, ...]
    parts: tuple[int, ...]
    full: bool
    seeds: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Prepared:
    """What is to be run.

    Attributes
    ----------
    runs
        The runs: samples and parts first, full workloads last.
    jobs
        Jobs of each workload, by path of its file.
    inputs
        Where each model's workloads came from.
    """

    runs: tuple[RunSpec, ...]
    jobs: Mapping[str, int]
    inputs: Mapping[Model, ThesisInputs]

    @property
    def original(self) -> bool:
        """Whether the workloads are the published files."""
        return all(found.original for found in self.inputs.values())


def prepare(scope: Scope, root: Path, data: Path | None, console: Console) -> Prepared:
    """Find or draw the workloads and list the runs.

    Parameters
    ----------
    scope
        What is wanted.
    root
        The campaign's folder, which is made.
    data
        Folder of the published inputs; see :func:`experiments.thesis.inputs.find_inputs`.
    console
        Where notes are printed.

    Raises
    ------
    SpecError, WorkloadError
        The inputs cannot be had.
    """
    inputs = Inputs(folders.make_folder(root), teller(console))
    found = {model: find_inputs(model, scope.parts, data, root) for model in scope.models}
    if not all(sources.original for sources in found.values()):
        teller(console)("the published inputs are not here (--data): drawn anew, so only statistics can be compared")
    runs: list[RunSpec] = []
    for model, sources in found.items():
        split = (*sources.samples, *sources.parts.values())
        runs += grid(inputs, split, [MACHINE], model, SPLIT, scope.seeds)
    if scope.full:
        for model, sources in found.items():
            runs += grid(inputs, [sources.full], [MACHINE], model, FULL[model], scope.seeds[:1])
    return Prepared(tuple(runs), {run.workload.path: inputs.jobs(run.workload) for run in runs}, found)


def grid(
    inputs: Inputs,
    workloads: Sequence[WorkloadSpec],
    platforms: Sequence[PlatformSpec],
    model: Model,
    names: Sequence[str],
    seeds: Sequence[int],
) -> list[RunSpec]:
    """List the runs of published schedules on workloads: one seed for what depends on none, all for the others."""
    specs = [spec_of(name) for name in names if name not in ALIASES]
    fixed = [spec for spec in specs if not is_random(spec.label)]
    random = [spec for spec in specs if is_random(spec.label)]
    return [
        *cross(inputs, workloads, platforms, model, fixed, seeds[:1]),
        *cross(inputs, workloads, platforms, model, random, seeds),
    ]


def cross(
    inputs: Inputs,
    workloads: Sequence[WorkloadSpec],
    platforms: Sequence[PlatformSpec],
    model: Model,
    policies: Sequence[PolicySpec],
    seeds: Sequence[int],
) -> list[RunSpec]:
    """List the runs of all policies on all workloads with all seeds."""
    if not policies or not workloads:
        return []
    campaign = Campaign(
        name="thesis",
        workloads=tuple(workloads),
        platforms=tuple(platforms),
        policies=tuple(policies),
        models=(model.spec,),
        seeds=tuple(seeds),
    )
    pairs = {(model.spec.label, seed): inputs.pairs(workloads, platforms, model.spec, seed) for seed in seeds}
    return list(expand(campaign, pairs))


def teller(console: Console) -> Tell:
    """Print notes as plain lines."""
    return lambda text: console.print(f"note: {text}", markup=False, highlight=False, soft_wrap=True)


def run(
    runs: Sequence[RunSpec], jobs: Mapping[str, int], root: Path, options: argparse.Namespace, console: Console
) -> Outcome:
    """Run what is not finished yet; with ``--report`` nothing.

    Raises
    ------
    Interrupted
        The user stopped it; what is finished stays.
    """
    if options.report:
        found = {one.id: kept.look_at_run(root / one.id, one) for one in runs}
        return Outcome(old=kept.left(found, ()))
    tasks = [Task(one, root, DEFAULT_TAU_S) for one in runs]
    executor = executor_of(options)
    return run_all(tasks, executor, console, lambda one: jobs.get(one.workload.path, 0), rerun=options.rerun)


def report_failures(outcome: Outcome, root: Path, console: Console) -> int:
    """Print what other code made and what failed; return the exit code."""
    kept.remind(outcome.old, console)
    for run, cause in outcome.failed.items():
        console.print(f"failed {run}: {cause} (see {root / run})", markup=False, highlight=False, soft_wrap=True)
    return FAILURES if outcome.failed else 0
