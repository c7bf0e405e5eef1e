"""Play of one strategy on one drawn workload: in the study's own calendar, or by the product."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from spillway.base.options import Value
from spillway.experiments.studies.jeannot.calendar import Direct, Traces
from spillway.experiments.studies.jeannot.calendar import play as play_calendar
from spillway.experiments.studies.jeannot.measures import measure, stretches
from spillway.experiments.studies.points import Point, Values
from spillway.platforms.catalogue import platform_from
from spillway.platforms.model import Platform
from spillway.protocol.messages import BatsimConfig, SimulationBegins
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Passes
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
from spillway.simulator.world.machines import Machines
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
    """Play a point in the study's calendar."""
    found, protocol = drawn(point), protocol_of(point)
    traces = play_direct(point, found.workload)
    return measure(traces, protocol.processors, protocol.bandwidth) | {"io_load": found.load}


def by_the_product(point: Point) -> Values:
    """Play a point by the product's simulator; return the values that follow from its records."""
    records = play_product(point, drawn(point).workload)
    return stretches([(record.job, record.start_s, record.end_s) for record in records], protocol_of(point).processors)


def same(point: Point) -> Point:
    """The point with the usual values on axes without effect on its family or strategy."""
    family = point.text("family")
    idle = [*(("sizes",) if family[0] == "M" else ("durations", "limit"))]
    idle += ["shares"] * family.endswith("BN") + ["list"] * (point["policy"] != "LS")
    return point.replaced(**{name: USUAL[name] for name in idle})


def excerpt(point: Point) -> Point:
    """The point with few jobs and the volumes of the formulas: four jobs with 2,048 nodes take the product a second."""
    return point.replaced(jobs=10 if point.text("family")[0] == "M" else 4, literal=True)


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


def play_direct(point: Point, workload: Workload) -> Traces:
    """Play a workload without sub-jobs (:mod:`spillway.experiments.studies.jeannot.calendar`)."""
    gate = make_gate(IoControl(point.text("io_control")), IoOrder(point.text("io_order")))
    execution = Direct(gate, protocol_of(point).bandwidth)
    session = Session(_policy(point), execution, passes=Passes(estimator=Requested()))
    play_calendar(session, execution, begins(protocol_of(point).platform), workload)
    return execution.traces


def play_product(point: Point, workload: Workload) -> list[JobRecord]:
    """Play a workload by the product's direct player and its simulator."""
    from spillway.simulator.engines.fluid import FluidEngine

    records: list[JobRecord] = []
    gate = make_gate(IoControl(point.text("io_control")), IoOrder(point.text("io_order")))
    runtime = ProgramRuntime(Sequenced(), gate, 0, records.append)
    session = Session(_policy(point), runtime, passes=Passes(estimator=Requested()))
    platform = _platform(protocol_of(point).platform)
    data = {
        "nb_res": workload.nb_res,
        "jobs": [{**job.to_object(), "id": job.name} for job in workload.jobs],
        "profiles": workload.profiles,
    }
    options = SimulationOptions(dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
    with FluidEngine(platform) as engine:
        Simulation(platform, [workload_from_object(data)], engine, InProcessLink(session), options).run()
    return records


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


@lru_cache(maxsize=2)
def begins(name: str) -> SimulationBegins:
    """The simulator's first message, which describes a platform."""
    machines = Machines(_platform(name), {})
    return SimulationBegins(0.0, machines.compute_infos, machines.storage_infos, BatsimConfig())
