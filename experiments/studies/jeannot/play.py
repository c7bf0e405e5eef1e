"""Play of one strategy on one drawn workload."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from spillway.base.options import Value
from spillway.experiments.studies.jeannot.measures import Execution, measure
from spillway.experiments.studies.points import Point, Values
from spillway.platforms.catalogue import platform_from
from spillway.platforms.model import Platform
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.jobmodels.gates import IoControl, IoOrder, make_gate
from spillway.schedulers.jobmodels.operations import Sequenced
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.policies import find_policy
from spillway.schedulers.policykit.estimates import Requested
from spillway.schedulers.policykit.view import Policy
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink
from spillway.workloads.jeannot import PROTOCOLS, Drawn, JeannotOptions, JobProtocol, draw_jeannot
from spillway.workloads.workload import Workload

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

USUAL = {
    "volume": "proportional",
    "sizes": "uniform",
    "shares": "variance",
    "durations": "deviation",
    "limit": "long",
    "list": "reserve",
}
"""The study's own reading."""


def play(point: Point) -> Values:
    """Play a point and measure its execution."""
    found, protocol = drawn(point), protocol_of(point)
    return measure(execute(point, found.workload), protocol.processors, protocol.bandwidth) | {"io_load": found.load}


def same(point: Point) -> Point:
    """The point with the usual values on axes without effect on its family or strategy."""
    family = point.text("family")
    idle = [*(("sizes",) if family[0] == "M" else ("durations", "limit"))]
    idle += ["shares"] * family.endswith("BN") + ["list"] * (point["policy"] != "LS")
    return point.replaced(**{name: USUAL[name] for name in idle})


def policies(point: Point) -> tuple[str]:
    """The policy of a point's strategy."""
    return (STRATEGIES[point.text("policy")][0],)


def protocol_of(point: Point) -> JobProtocol:
    """Machine of a point's family."""
    return PROTOCOLS[point.text("family")[0]]


def drawn(point: Point) -> Drawn:
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
    from spillway.simulator.engines.native import FluidEngine

    records: list[JobRecord] = []
    gate = make_gate(IoControl(point.text("io_control")), IoOrder(point.text("io_order")))
    runtime = ProgramRuntime(Sequenced(), gate, 0, records.append)
    session = Session(_policy(point), runtime, terms=Terms(estimator=Requested()))
    platform = _platform(protocol_of(point).platform)
    data = {
        "nb_res": workload.nb_res,
        "jobs": [{**job.to_object(), "id": job.name} for job in workload.jobs],
        "profiles": workload.profiles,
    }
    with TemporaryDirectory() as folder, FluidEngine(platform) as engine:
        prefix = Path(folder) / "out"
        options = SimulationOptions(str(prefix), dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
        Simulation(platform, [workload_from_object(data)], engine, InProcessLink(session), options).run()
        return Execution.of(records, Path(f"{prefix}_jobs.csv"))


def _policy(point: Point) -> Policy:
    name, options = STRATEGIES[point.text("policy")]
    further: Mapping[str, Value] = {"constraint": point.text("constraint")}
    if name == "list":
        further = BACKFILLING[point.text("list")]
    return find_policy(name).build({**options, **further})


@lru_cache(maxsize=2)
def _platform(name: str) -> Platform:
    """A platform, which the runs of a process share."""
    return platform_from(name)
