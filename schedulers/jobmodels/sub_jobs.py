"""Dynamic sub-jobs: what replaces a job in Batsim's books, named, registered and executed.

The sub-jobs of job ``w0!15`` live in a workload of their own, ``w0%15``: ``w0%15!0``, ``w0%15!1`` and so on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from schedulers.wire.messages import ExecuteJob, JsonObject, RegisterJob, RegisterProfile, Request

SHORTEST_WALLTIME_S = 1e-6
"""Batsim prints walltimes with six decimals and aborts on 0: less than this is no time at all."""


@dataclass(slots=True)
class SubJobs:
    """The sub-jobs of one job.

    Attributes
    ----------
    workload
        Name of their workload.
    reuse
        Whether a profile may be used twice; else Batsim forgets it with its job, and it is registered anew.
    deadline_s
        When the job's walltime is over; infinite without one.
    count
        Sub-jobs so far.
    """

    workload: str
    reuse: bool
    deadline_s: float = math.inf
    count: int = 0
    _profiles: dict[str, str] = field(default_factory=dict)
    _registered: int = 0

    @classmethod
    def of(cls, job_id: str, reuse: bool, deadline_s: float) -> SubJobs:
        """Sub-jobs of a job by its id."""
        return cls(job_id.replace("!", "%"), reuse, deadline_s)

    def overdue(self, now_s: float) -> bool:
        """Whether no time is left."""
        return self.deadline_s - now_s < SHORTEST_WALLTIME_S

    def run(
        self,
        key: str,
        profile: JsonObject,
        hosts: tuple[int, ...],
        storage: dict[str, int] | None,
        now_s: float,
        requests: list[Request],
    ) -> str:
        """Register and execute a sub-job; append the requests and return its id.

        Parameters
        ----------
        key
            Stands for the profile: the same key always comes with the same profile.
        profile
            What it does.
        hosts
            Batsim ids of its hosts, ascending.
        storage
            Storage mapping of the execution.
        """
        name = self._profiles.get(key)
        if name is None or not self.reuse:
            name = f"{key}_{self._registered}"
            self._registered += 1
            self._profiles[key] = name
            requests.append(RegisterProfile(now_s, self.workload, name, profile))
        sub_id = f"{self.workload}!{self.count}"
        self.count += 1
        walltime = self.deadline_s - now_s if self.deadline_s < math.inf else -1
        job = {"profile": name, "id": sub_id, "res": len(hosts), "walltime": walltime, "subtime": now_s}
        requests.append(RegisterJob(now_s, sub_id, job))
        requests.append(ExecuteJob(now_s, sub_id, hosts, storage_mapping=storage))
        return sub_id
