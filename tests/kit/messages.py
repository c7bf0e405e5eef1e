"""Messages to a session, as a simulator would send them."""

from typing import Any

from spillway.platforms.model import Platform
from spillway.protocol import messages as m
from spillway.simulator.world.machines import Machines


def begins(nodes: int = 4, config: m.BatsimConfig | None = None, *storages: m.ResourceInfo) -> m.SimulationBegins:
    """A machine of equal nodes, and these storage nodes."""
    infos = tuple(m.ResourceInfo(number, f"n{number}") for number in range(nodes))
    return m.SimulationBegins(0.0, infos, storages, config or m.BatsimConfig())


def submitted(
    number: int, nodes: int, at: float = 0.0, *, walltime: float = 10.0, profile: dict[str, Any] | None = None,
    **fields: Any,
) -> m.JobSubmitted:  # fmt: skip
    """A job of the first workload; further fields are the job's own."""
    job_id = f"w0!{number}"
    wire = {"id": job_id, "subtime": at, "res": nodes, "walltime": walltime, "profile": "p"}
    return m.JobSubmitted(at, job_id, wire | fields, profile)


def completed(number: int, at: float, alloc: tuple[int, ...] = ()) -> m.JobCompleted:
    """A success."""
    return m.JobCompleted(at, f"w0!{number}", m.JobState.COMPLETED_SUCCESSFULLY, 0, alloc)


def begins_on(platform: Platform) -> m.SimulationBegins:
    """A platform as the simulator states it."""
    machines = Machines(platform, {})
    return m.SimulationBegins(0.0, machines.compute_infos, machines.storage_infos)
