"""Sub-jobs, which replace a job in the simulator's registry: named, registered and executed only here.

The sub-jobs of job ``w0!15`` are in a workload of their own, ``w0%15``: ``w0%15!0``, ``w0%15!1`` and so on; profiles
are named by their kind, ``delay_profile_0``. On Batsim's wire each sub-job is registered and executed by messages of
its own; a simulator in the same process takes all sub-jobs of an operation in one request
(:class:`spillway.protocol.messages.RunSubJobs`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import msgspec

from spillway.base.errors import RemoteProtocolError
from spillway.protocol.messages import (
    BatsimConfig,
    ExecuteJob,
    JsonObject,
    RegisterJob,
    RegisterProfile,
    Request,
    RunSubJobs,
)
from spillway.schedulers.jobmodels.transfers import Task

SHORTEST_WALLTIME_S = 1e-6
"""Batsim prints walltimes with six decimals and aborts on 0: shorter times count as 0."""

SEPARATOR = "%"
"""Replaces the ``!`` of a job's id in the name of the job's own workload."""

NO_WALLTIME = -1.0


def require_dynamic_jobs(config: BatsimConfig, what: str) -> None:
    """Refuse a simulator that takes no sub-jobs.

    Raises :class:`RemoteProtocolError`, which says ``what`` needs them, and the remedy.
    """
    if not config.dynamic_jobs_enabled:
        raise RemoteProtocolError(
            f"{what} needs dynamic jobs: {config.dynamic_jobs_remedy}", "$.events[0].data.config.dynamic-jobs-enabled"
        )


class SubJobs(msgspec.Struct, eq=False):
    """The sub-jobs of one job.

    Attributes
    ----------
    workload
        Name of their workload.
    reuse
        Whether a profile may be used twice; otherwise Batsim deletes it with its job, and it is registered anew.
    deadline_s
        End of the job's walltime (s); infinity without a walltime.
    direct
        Whether the simulator is in the same process.
    count
        Number of sub-jobs so far.
    """

    workload: str
    reuse: bool = True
    deadline_s: float = math.inf
    direct: bool = False
    count: int = 0
    _profiles: dict[Hashable, tuple[str, JsonObject]] = msgspec.field(default_factory=dict)
    _kinds: dict[str, int] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, job_id: str, *, reuse: bool = True, deadline_s: float = math.inf, direct: bool = False) -> SubJobs:
        """Sub-jobs of a job by its id."""
        return cls(job_id.replace("!", SEPARATOR), reuse, deadline_s, direct)

    def overdue(self, now_s: float) -> bool:
        """Whether no time is left."""
        return self.deadline_s - now_s < SHORTEST_WALLTIME_S

    def run(
        self, profile: JsonObject, tasks: Sequence[Task], walltime_s: float, now_s: float, requests: list[Request]
    ) -> list[str]:
        """Run a profile as sub-jobs side by side: append the requests, return the ids.

        Parameters
        ----------
        walltime_s
            Time that they may take; infinity for no limit.
        """
        first = self.count
        self.count = first + len(tasks)
        prefix = self.workload + "!"
        ids = [f"{prefix}{number}" for number in range(first, self.count)]
        walltime = walltime_s if walltime_s < math.inf else NO_WALLTIME
        name, known = self._name(profile)
        if self.direct:
            requests.append(RunSubJobs(now_s, self.workload, name, profile, walltime, ids, tasks, known))
            return ids
        if not known:
            requests.append(RegisterProfile(now_s, self.workload, name, profile))
        for sub_id, task in zip(ids, tasks, strict=True):
            job: JsonObject = {
                "profile": name, "id": sub_id, "res": len(task.hosts), "walltime": walltime, "subtime": now_s
            }  # fmt: skip
            requests.append(RegisterJob(now_s, sub_id, job))
        for sub_id, task in zip(ids, tasks, strict=True):
            requests.append(ExecuteJob(now_s, sub_id, task.hosts, storage_mapping=task.storage))
        return ids

    def _name(self, profile: JsonObject) -> tuple[str, bool]:
        """Name of a profile, and whether it is registered already."""
        key = profile_key(profile)
        found = self._profiles.get(key)
        if found is not None and self.reuse:
            return found[0], True
        kind = profile["type"]
        number = self._kinds.get(kind, 0)
        self._kinds[kind] = number + 1
        name = f"{kind}_profile_{number}"
        self._profiles[key] = (name, profile)  # kept, so that its id() stays its own
        return name, False


def profile_key(profile: JsonObject) -> Hashable:
    """Key of a profile, equal for equal profiles; profiles with lists or objects count by identity."""
    if "cpu" in profile:
        return id(profile)
    key = tuple(profile.items())
    try:
        hash(key)
    except TypeError:
        return id(profile)
    return key


def owner_of(workload: str) -> str:
    """Id of the job to which a workload of sub-jobs belongs; "" for an ordinary workload."""
    return workload.replace(SEPARATOR, "!", 1) if SEPARATOR in workload else ""
