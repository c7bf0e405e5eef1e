"""Inputs and measures of the thesis's conclusions: its own workloads and schedules, to the letter or corrected."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from analysis.metrics import bounded_slowdown, makespan_s, slowdown
from analysis.tables import read_run
from experiments.policies import typed
from experiments.spec import PolicySpec, WorkloadSpec
from experiments.studies.points import Point, Values
from experiments.studies.product import summary_of
from experiments.thesis.inputs import PARTS, ThesisInputs, find_inputs
from experiments.thesis.models import Model
from experiments.thesis.variants import spec_of

CORRECTED = " corrected"
"""End of the name of a schedule whose reserved jobs start when their reservation begins, as the text has it."""

MINUTE_S = 60.0
PUBLISHED_STORAGE_BYTES = 12 * 5e9
"""Capacity that the published figure of storage utilisation divides by; the machine has 12 x 40 GB."""

WIDE_NODES = 48
"""Half of the machine: from here on a job counts as wide (taken: the thesis gives no number)."""


def workload(point: Point, folder: Path) -> WorkloadSpec:
    """The thesis's file of a part or of the whole log: the published one where it is here, else drawn anew."""
    found = _inputs(Model.of(point.text("model")), folder)
    name = point.text("workload")
    return found.full if name == "full" else found.parts[int(name.removeprefix("part-"))]


def policy(point: Point) -> PolicySpec:
    """The schedule of a published name, to the letter of the published code unless it is corrected."""
    name = point.text("policy")
    if name == "plan-start" + CORRECTED:
        return PolicySpec(policy="plan-start", options=spec_of("plan-sum-0").options, label=name)
    if not name.endswith(CORRECTED):
        return spec_of(name)
    spec = spec_of(name.removesuffix(CORRECTED))
    options = {key: str(value) for key, value in spec.options.items()} | {"literal_depth": "false"}
    return typed(PolicySpec(policy=spec.policy, options=dict(options), literal=True, label=name))


def measure(folder: Path) -> Values:
    """The run's summary, the tails of its waits, and two figures as the thesis worked them out.

    ``storage_utilisation_published`` has the bytes per node without the number of nodes, over 12 x 5 GB in place of
    12 x 40 GB (Figures 4.3 and 4.15); ``mean_bounded_slowdown_60s`` the bound of Figure 4.41.
    """
    ran = read_run(folder).ran()
    waits, wide = ran.wait_s, ran.nodes >= WIDE_NODES
    return summary_of(folder) | {
        "wide_wait_s": float(waits[wide].mean()) if wide.any() else float("nan"),
        "narrow_wait_s": float(waits[~wide].mean()),
        "mean_slowdown": float(slowdown(ran).mean()),
        "mean_bounded_slowdown_60s": float(bounded_slowdown(ran, MINUTE_S).mean()),
        "storage_utilisation_published": float(
            ran.bb_bytes @ ran.execution_s / (PUBLISHED_STORAGE_BYTES * makespan_s(ran))
        ),
    }


@lru_cache(maxsize=4)
def _inputs(model: Model, folder: Path) -> ThesisInputs:
    return find_inputs(model, range(PARTS), None, folder)
