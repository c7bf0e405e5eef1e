"""Messages to a session, as a simulator would send them."""

from __future__ import annotations

from typing import Any

from spillway.protocol.messages import (
    BatsimConfig,
    JobCompleted,
    JobState,
    JobSubmitted,
    ResourceInfo,
    SimulationBegins,
)


def begins(nodes: int = 4, config: BatsimConfig | None = None, *storages: ResourceInfo) -> SimulationBegins:
    """A machine of equal nodes, and these storage nodes."""
    infos = tuple(ResourceInfo(number, f"n{number}") for number in range(nodes))
    return SimulationBegins(0.0, infos, storages, config or BatsimConfig())


def submitted(
    number: int, nodes: int, at: float = 0.0, *, walltime: float = 10.0, profile: dict[str, Any] | None = None,
    **fields: Any,
) -> JobSubmitted:  # fmt: skip
    """A job of the first workload; further fields are the job's own."""
    job_id = f"w0!{number}"
    wire = {"id": job_id, "subtime": at, "res": nodes, "walltime": walltime, "profile": "p"}
    return JobSubmitted(at, job_id, wire | fields, profile)


def completed(number: int, at: float, alloc: tuple[int, ...] = ()) -> JobCompleted:
    """A success."""
    return JobCompleted(at, f"w0!{number}", JobState.COMPLETED_SUCCESSFULLY, 0, alloc)
