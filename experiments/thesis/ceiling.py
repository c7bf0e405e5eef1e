"""What better predictions of runtimes could gain at most: plan policies with the runtime of every job known.

The runtimes are those that the jobs had under the published schedule to beat (first seed). Under another schedule
contention differs a little; but for that they are exact.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.names import slug
from experiments import folders
from experiments.inputs import Inputs
from experiments.prepared import checked
from experiments.spec import PlatformSpec, PolicySpec, WorkloadSpec
from experiments.thesis.models import Model
from experiments.thesis.results import Results
from experiments.thesis.variants import TO_BEAT

FIELD = "requested_s"
"""Field of a job that the setting ``estimates=requested`` reads."""

CLAIRVOYANT: tuple[PolicySpec, ...] = tuple(
    PolicySpec(
        policy=name, options={"expected": 1.0}, session={"estimates": "requested"}, label=f"{name}, runtimes known"
    )
    for name in ("plan", "plan-mean", "plan-sum")
)
"""Policies with known runtimes, which therefore plan with the whole of them."""


@dataclass(frozen=True)
class Battle:
    """A log under one job model: periods of it on which the policies meet."""

    log: str
    model: Model
    workloads: tuple[WorkloadSpec, ...]
    platform: PlatformSpec


def with_runtimes(battle: Battle, inputs: Inputs, results: Results, root: Path) -> tuple[WorkloadSpec, ...]:
    """Write copies of a log's periods whose jobs state how long they will take; leave out what has not run.

    Parameters
    ----------
    battle
        The log and its periods.
    inputs
        The campaign's input files.
    results
        The finished runs, those of the schedule to beat among them.
    root
        The campaign's folder; the copies go below it.
    """
    target = root / f"told-{slug(battle.log)}-{battle.model.value}"
    target.mkdir(parents=True, exist_ok=True)
    copies = []
    pairs = inputs.pairs(battle.workloads, [battle.platform], battle.model.spec, 0)
    for workload in {workload.path: workload for workload, _ in pairs}.values():
        name = workload.name
        if results.has(battle.model.value, name, TO_BEAT.label):
            copy = target / f"{slug(name)}.json"
            folders.write_text(
                copy, _with_durations(checked(root, workload), _durations_s(results, battle.model, name))
            )
            copies.append(WorkloadSpec(source=str(copy), name=name))
    return tuple(copies)


def _durations_s(results: Results, model: Model, workload: str) -> dict[str, float]:
    table = results.table(model.value, workload, TO_BEAT.label)
    rows = np.flatnonzero(np.isfinite(table.execution_s))
    names: Sequence[str] = table.job_id
    return {str(names[row]): float(table.execution_s[row]) for row in rows.tolist()}


def _with_durations(path: Path, durations_s: dict[str, float]) -> str:
    data = json.loads(path.read_text(encoding="utf-8"))
    for job in data["jobs"]:
        if str(job["id"]) in durations_s:
            job[FIELD] = durations_s[str(job["id"])]
    return json.dumps(data, separators=(",", ":"))
