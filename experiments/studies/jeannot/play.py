"""Play of one strategy on one drawn workload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from spillway.base.options import Value
from spillway.experiments.studies.jeannot.measures import Execution, measure
from spillway.experiments.studies.points import Point, Values
from spillway.experiments.studies.simulation import platform, simulate
from spillway.schedulers.assembly import Estimates, Settings, assemble
from spillway.schedulers.jobmodels.gates import IoControl, IoOrder
from spillway.schedulers.jobmodels.operations import OperationSequence
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.policies import find_policy
from spillway.schedulers.policykit.view import Policy
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.models.jeannot import PROTOCOLS, JeannotOptions, JobProtocol, WorkloadDraw, draw_jeannot

STRATEGIES: Mapping[str, tuple[str, Mapping[str, Value]]] = {
    "LS": ("list", {}),
    "Random": ("pack", {"order": "random"}),
    "Max": ("pack", {"order": "longest"}),
    "Char": ("pack", {"order": "characteristic"}),
}
"""The paper's four strategies: policy and options."""

BACKFILLING: Mapping[str, Mapping[str, Value]] = {
    "reserve": {},
    "greedy": {"depth": 0},
    "none": {"backfilling": False, "depth": 0},
}
"""Meanings of backfilling for a list: one reservation (EASY), no reservation, or no job overtakes."""


def play(point: Point) -> Values:
    """Play a point and measure its execution."""
    found, protocol = drawn(point), protocol_of(point)
    return measure(execute(point, found.workload), protocol.processors, protocol.bandwidth) | {"io_load": found.load}


def policies(point: Point) -> tuple[str]:
    """The policy of a point's strategy."""
    return (STRATEGIES[point.text("policy")][0],)


def protocol_of(point: Point) -> JobProtocol:
    """Machine of a point's family."""
    return PROTOCOLS[point.text("family")[0]]


def drawn(point: Point) -> WorkloadDraw:
    """A point's workload; strategies and seeds share the draws of all readings."""
    return draw_jeannot(
        JeannotOptions(
            family=point.text("family"),
            load=point.number("load"),
            jobs=point.whole("jobs"),
            seed=point.whole("seed"),
            volume=point.text("volume"),
            sizes=point.text("sizes"),
            kinds=point.text("kinds"),
            shares=point.text("shares"),
            durations=point.text("durations"),
            limit=point.text("limit"),
            literal=bool(point["literal"]),
        )
    )


def execute(point: Point, workload: Workload) -> Execution:
    """Play a workload under a point's strategy and turns at the file system."""
    records: list[JobRecord] = []
    turns = Settings(
        estimates=Estimates.REQUESTED,
        io_control=IoControl(point.text("io_control")),
        io_order=IoOrder(point.text("io_order")),
    )
    session = assemble(_policy(point), turns, OperationSequence(), on_record=records.append)
    machine = platform(protocol_of(point).platform)
    with TemporaryDirectory() as folder:
        prefix = f"{folder}/out"
        simulate(session, workload, machine, export=prefix, dynamic_jobs=True, profile_reuse=True)
        return Execution.of(records, Path(f"{prefix}_jobs.csv"))


def _policy(point: Point) -> Policy:
    name, options = STRATEGIES[point.text("policy")]
    further: Mapping[str, Value] = {"constraint": point.text("constraint")}
    if name == "list":
        further = BACKFILLING[point.text("list")]
    return find_policy(name).build({**options, **further})
