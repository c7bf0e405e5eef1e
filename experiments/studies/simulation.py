"""Simulations in this process: a scheduler and a workload on an engine, without a folder of results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from spillway.platforms.catalogue import platform_from
from spillway.platforms.model import Platform
from spillway.simulator.engines.by_name import Engine
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation, SimulationResult
from spillway.simulator.wire.links import Exchange, InProcessLink
from spillway.workloads.batsim.workload import Workload


@lru_cache(maxsize=8)
def platform(name: str) -> Platform:
    """A platform, which the points of a process share."""
    return platform_from(name)


def simulate(
    scheduler: Exchange,
    workload: Workload | Mapping[str, Any],
    machine: Platform,
    engine: Engine | None = None,
    **options: Any,
) -> SimulationResult:
    """Simulate a workload; jobs that can never start are an error.

    Parameters
    ----------
    workload
        A workload, or the object of a Batsim file.
    engine
        Runs the parallel tasks, and is closed afterwards; default: the fluid engine.
    options
        Of :class:`spillway.simulator.options.SimulationOptions`.
    """
    if isinstance(workload, Workload):
        jobs = [{**job.to_object(), "id": job.name} for job in workload.jobs]
        workload = {"nb_res": workload.nb_res, "jobs": jobs, "profiles": workload.profiles}
    read, chosen = workload_from_object(dict(workload)), SimulationOptions(fail_on_deadlock=True, **options)
    with engine or FluidEngine(machine) as playing:
        return Simulation(machine, [read], playing, InProcessLink(scheduler), chosen).run()
