"""Memory of the embedded simulator: of IO-Aware jobs that have ended, and of simulations that nobody holds any more."""

import gc
import tracemalloc
import weakref

import pytest

from spillway.platforms.catalogue import resolve_platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import JobSubmitted, Message, RegisterProfile, Reply
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink
from tests.kit.specs import session_spec
from tests.simulator.worlds import GivenDurations, Scheduler, greedy, jobs, small_platform

BEFORE, JOBS = 240, 96
"""Multiples of the number of jobs packed at a time."""


def test_an_ended_io_aware_job_leaves_little() -> None:
    """Its four profiles may be named again: they are packed. Includes the memory of the session (0.2 kB)."""
    session = session_spec("easy", model="io", model_options={"phase_target": 4e9}).session()
    traced: list[int] = []
    profiles = 0

    def handle(message: Message) -> Reply:
        nonlocal profiles
        reply = session.handle(message)
        profiles += sum(isinstance(request, RegisterProfile) for request in reply.events)
        for event in message.events:
            if isinstance(event, JobSubmitted) and event.job_id in (f"w0!{BEFORE}", f"w0!{BEFORE + JOBS}"):
                gc.collect()
                traced.append(tracemalloc.get_traced_memory()[0])
        return reply

    rows = [
        {"id": str(n), "subtime": 100.0 * n, "res": 2, "walltime": 3600, "bb": 10_000 + 7 * n, "profile": f"p{n % 9}"}
        for n in range(BEFORE + JOBS + 1)
    ]
    work = {f"p{n}": {"type": "parallel_homogeneous", "cpu": 1e10 + n, "com": 0} for n in range(9)}
    platform = parse_platform(resolve_platform("tiny"))
    with FluidEngine(platform) as engine:
        simulation = Simulation(
            platform,
            [workload_from_object({"nb_res": 4, "jobs": rows, "profiles": work})],
            engine,
            InProcessLink(handle),
            SimulationOptions(dynamic_jobs=True, profile_reuse=True),
        )
        tracemalloc.start()
        try:
            simulation.run()
        finally:
            tracemalloc.stop()
    assert profiles == 4 * len(rows)
    assert (traced[1] - traced[0]) / JOBS < 500


class _Later(Scheduler):
    """A scheduler without a reply."""

    def exchange(self, message: Message) -> Reply | None:  # type: ignore[override]
        """Keep a message."""
        return None


@pytest.mark.parametrize("waits", [False, True])
def test_a_simulation_is_let_go(waits: bool) -> None:
    """Its two halves, compiled and in Python, refer to each other: the collector sees the circle."""
    scheduler = _Later(greedy) if waits else Scheduler(greedy)
    simulation = Simulation(
        small_platform(), [workload_from_object(jobs({}))], GivenDurations(), scheduler, SimulationOptions()
    )
    assert (simulation.begin() is None) is waits
    part = weakref.ref(simulation.power)
    del simulation
    gc.collect()
    assert part() is None
