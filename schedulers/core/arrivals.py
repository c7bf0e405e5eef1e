"""Checks of messages that the core does not make itself: the machine at the begin, progress of killed jobs.

A peer that keeps Batsim's rules passes every check. Some messages that Batsim never sends are accepted because they
change nothing: a machine that becomes unavailable (or available) again, the end of static jobs a second time, a call
that was not requested (one more pass of the policy), the acknowledgement of a sub-job a second time, messages of jobs,
answers about energy.
"""

from __future__ import annotations

from spillway.base.errors import RemoteProtocolError, shown
from spillway.protocol.limits import LONGEST_NAME
from spillway.protocol.messages import JobKilled, SimulationBegins, TaskProgress


def check_begin(event: SimulationBegins) -> list[int]:
    """Ids of the machine's hosts; refuse a machine without nodes, duplicate ids and names that are too long.

    Raises
    ------
    RemoteProtocolError
        The machine is not one that Batsim describes.
    """
    infos = (*event.compute_resources, *event.storage_resources)
    if not event.compute_resources:
        raise RemoteProtocolError("expected at least one compute resource", "$.compute_resources")
    resources = sorted({info.id for info in infos})
    if len(resources) < len(infos) or resources[0] < 0:
        raise RemoteProtocolError("the ids of resources must be whole numbers of at least 0, each once", "$")
    for info in infos:
        if not 0 < len(info.name) <= LONGEST_NAME:
            raise RemoteProtocolError(
                f"expected the name of a resource of 1 to {LONGEST_NAME} characters, got {shown(info.name)}", "$"
            )
    return resources


def check_progress(event: JobKilled) -> None:
    """Refuse progress outside of 0 to 1, or of jobs that the event does not name."""
    for job_id, progress in event.progress.items():
        if job_id not in event.job_ids:
            raise RemoteProtocolError(f"progress of {shown(job_id)}, which was not killed", "$.job_progress")
        task: TaskProgress | None = progress
        while task is not None:
            if task.progress is not None and not 0.0 <= task.progress <= 1.0:
                raise RemoteProtocolError(
                    f"expected a progress from 0 to 1 of {shown(job_id)}, got {task.progress!r}",
                    "$.job_progress",
                )
            task = task.current_task
