"""Inputs and measures of the thesis: its own workloads and schedules, literal or corrected."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from spillway.analysis.measures.metrics import bounded_slowdown, makespan_s
from spillway.analysis.tables.jobs import read_run
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.folders import read_json
from spillway.experiments.run.sessions import typed
from spillway.experiments.run.spec import PolicySpec, WorkloadSpec
from spillway.experiments.studies.points import Point, Values
from spillway.experiments.studies.product import summary_of
from spillway.experiments.studies.thesis.inputs import find_inputs, published_folder
from spillway.experiments.studies.thesis.schedules import CORRECTED, spec_of

TIMINGS = ("scheduler_cpu_s", "simulator_cpu_s")
MINUTE_S = 60.0
_PUBLISHED_STORAGE_BYTES = 12 * 5e9
"""Capacity that the published figure of storage utilisation divides by; the machine has 12 x 40 GB."""

_WIDE_NODES = 48
"""Fewest nodes of a wide job, half of the machine (assumed: the thesis gives no number)."""


def workload(point: Point, folder: Path) -> WorkloadSpec:
    """The thesis's file of a part or of the whole log: the published one if it is here, else drawn anew.

    Raises
    ------
    SpecError
        There is no workload of this name.
    """
    model, name = point.text("model"), point.text("workload")
    known = _inputs(model, _data(point), folder)
    if name not in known:
        raise SpecError(f"workload {name!r}: expected one of {', '.join(known)} with model {model}")
    return known[name]


def lacks(point: Point) -> str:
    """The reason why the inputs are not the published ones ("": they are)."""
    if published_folder(_data(point)) is not None:
        return ""
    return "the published inputs are not here (--data): they were drawn anew from the KTH log"


def policy(point: Point) -> PolicySpec:
    """The schedule of a published name, literally by the published code unless it is corrected."""
    name = point.text("policy")
    if name == "plan-start" + CORRECTED:
        return PolicySpec(policy="plan-start", options=spec_of("plan-sum-0").options, label=name)
    if not name.endswith(CORRECTED):
        return spec_of(name)
    spec = spec_of(name.removesuffix(CORRECTED))
    options = {key: str(value) for key, value in spec.options.items()} | {"literal_depth": "false"}
    return typed(PolicySpec(policy=spec.policy, options=dict(options), literal=True, label=name))


def measure(folder: Path) -> Values:
    """The run's summary, its CPU seconds, the waits of wide and narrow jobs, and two figures computed as in the thesis.

    ``storage_utilisation_published`` has the bytes per node without the number of nodes, over 12 x 5 GB in place of
    12 x 40 GB (Figures 4.3 and 4.15); ``mean_bounded_slowdown_60s`` the bound of Figure 4.41.
    """
    ran = read_run(folder).ran()
    timings = read_json(folder / "timings.json")
    waits, wide = ran.wait_s, ran.nodes >= _WIDE_NODES
    return summary_of(folder) | {
        **{name: float(timings[name]) for name in TIMINGS},
        "wide_wait_s": float(waits[wide].mean()) if wide.any() else float("nan"),
        "narrow_wait_s": float(waits[~wide].mean()),
        "mean_bounded_slowdown_60s": float(bounded_slowdown(ran, MINUTE_S).mean()),
        "storage_utilisation_published": float(
            ran.bb_bytes @ ran.execution_s / (_PUBLISHED_STORAGE_BYTES * makespan_s(ran))
        ),
    }


def _data(point: Point) -> Path | None:
    text = point.text("data")
    return Path(text) if text else None


@cache
def _inputs(model: str, data: Path | None, folder: Path) -> Mapping[str, WorkloadSpec]:
    return find_inputs(model, data, folder)
