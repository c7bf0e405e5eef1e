"""Sub-jobs, which replace a job in the simulator's registry: their names and their needs.

The sub-jobs of job ``w0!15`` are in a workload of their own, ``w0%15``: ``w0%15!0``, ``w0%15!1`` and so on; profiles
are named by their kind, ``delay_profile_0``. Each sub-job is registered and executed by messages of its own
(``core/session/sub_jobs.hpp``).
"""

from __future__ import annotations

from spillway.base.errors import RemoteProtocolError
from spillway.protocol.messages import BatsimConfig

SHORTEST_WALLTIME_S = 1e-6
"""Batsim prints walltimes with six decimals and aborts on 0: shorter times count as 0."""

SEPARATOR = "%"
"""Replaces the ``!`` of a job's id in the name of the job's own workload."""


def require_dynamic_jobs(config: BatsimConfig, what: str) -> None:
    """Refuse a simulator that takes no sub-jobs.

    Raises :class:`RemoteProtocolError`, which says ``what`` needs them, and the remedy.
    """
    if not config.dynamic_jobs_enabled:
        raise RemoteProtocolError(
            f"{what} needs dynamic jobs: {config.dynamic_jobs_remedy}", "$.events[0].data.config.dynamic-jobs-enabled"
        )


def owner_of(workload: str) -> str:
    """Id of the job to which a workload of sub-jobs belongs; "" for an ordinary workload."""
    return workload.replace(SEPARATOR, "!", 1) if SEPARATOR in workload else ""
