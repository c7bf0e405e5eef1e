"""Admission of jobs: reads their messages, adds the bandwidth that the job model needs, and checks feasibility."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spillway.core import PublishedTimeline, read_job
from spillway.protocol.limits import LATEST_S
from spillway.schedulers.core.counted_pools import CountedPools
from spillway.schedulers.core.demand import Demand
from spillway.schedulers.core.feasible import Limits
from spillway.schedulers.core.layers import Layers
from spillway.schedulers.core.partitions import Partitions
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import BufferRequests, Pool, as_request, buffer_requests_of
from spillway.schedulers.model.site import FAILS_FIELD
from spillway.schedulers.model.site_parts import Scheduler
from spillway.schedulers.model.staging import staging_of


class Admission:
    """Reads submitted jobs and finds those that can never run.

    Parameters
    ----------
    machine
        Resources of the empty machine.
    profiles
        Static profiles by workload and name.
    terms
        Settings of the session.
    refuses
        The reason why the job model cannot play a job, where the terms have none; ``None`` where it can.
    counted
        The site's counted pools, which are those of the machine.
    """

    def __init__(
        self,
        machine: Machine,
        profiles: Mapping[str, Mapping[str, dict[str, Any]]],
        terms: Terms,
        refuses: Callable[[Job], str | None],
        counted: CountedPools,
    ) -> None:
        placement, site = terms.placement, terms.site
        self._machine = machine
        self._profiles = profiles
        self._limits = Limits(machine, placement)
        self._assign: list[Callable[[Job], tuple[Job, str | None]]] = []
        if site is not None and site.partitions:
            self._assign.append(Partitions(site, machine, placement).assign)
        if counted:
            self._assign.append(counted.assign)
        if any(pool.layer for pool in machine.pools):
            self._assign.append(Layers(machine, placement).assign)
        if site is not None and (site.buffers.setup_s or site.buffers.teardown_s or site.buffers.failing):
            self._assign.append(self._set_up)
        self._scheduler = site.scheduler if site is not None else Scheduler()
        if self._scheduler.grace_s:
            self._assign.append(self._with_grace)
        self._published = issubclass(terms.timeline, PublishedTimeline)
        self._terms = terms
        self._unplayable = terms.unplayable or refuses
        self._most_bytes_per_s = math.inf
        if terms.demand is not None and terms.demand.from_storages:
            self._most_bytes_per_s = min((link.capacity_bytes_per_s for link in machine.links), default=math.inf)
        self._jobs = 0
        self._buffers_requested = False
        self._endless = 0

    def read(
        self, job_id: str, fields: dict[str, Any], profile: dict[str, Any] | None, time_s: float, number: int
    ) -> tuple[Job, str | None]:
        """Read a submitted job; also return the reason why its bandwidth cannot be computed, or ``None``.

        Parameters
        ----------
        job_id, fields, profile, time_s
            As JOB_SUBMITTED has them; ``None``: the static profile that the job names.
        number
            Rank of the job.

        Raises
        ------
        RemoteProtocolError
            A field has the wrong type or is out of range; the error names its place.
        """
        if profile is None:
            workload = job_id.split("!", 1)[0]
            profile = self._profiles.get(workload, {}).get(str(fields.get("profile")))
        job = read_job(job_id, fields, profile, number, time_s, self._machine.granule_bytes)
        if self._terms.lives is not None:
            job = replaced(job, lives=self._terms.lives(job))
        self._jobs += 1
        if job.bb_bytes:
            self._buffers_requested = True
        if job.walltime_s == math.inf and fields.get("walltime", -1) > 0:
            self._endless += 1
        demand = self._terms.demand
        if demand is None or not job.nodes:  # a job without nodes transfers nothing
            return job, None
        return self._with_demand(job, demand)

    def admitted(self, job: Job, pool: Pool) -> tuple[Job, str | None]:
        """Add a job's partitions and amounts of counted pools; also return why it can never run, or ``None``.

        Its requests of persistent buffers enter the pool.
        """
        requests = buffer_requests_of(job, self._machine.granule_bytes) if job.extras else None
        reason = None if requests is None else self._pool_reason(job, requests, pool)
        if reason is None and (job.nodes or job.id not in pool.requests):  # a job without nodes is not played
            reason = self._unplayable(job) or self._limits.infeasible_reason(job)
            for assign in self._assign:
                if reason is None:
                    job, reason = assign(job)
        return job, reason

    def _set_up(self, job: Job) -> tuple[Job, None]:
        """Add the site's set-up and tear-down to the least times of a job's staging, where the model plays these; a
        buffer that cannot be made has no staging."""
        if not job.bb_bytes:
            return job, None
        assert self._terms.site is not None
        buffers, staging = self._terms.site.buffers, staging_of(job)
        fails = bool(job.extras.get(FAILS_FIELD)) or drawn(job.id, buffers.failing_seed) < buffers.failing
        in_s = 0.0 if fails else staging.in_s
        added: dict[str, Any] = {
            "stage_in_s": in_s + buffers.setup_s,
            "stage_out_s": staging.out_s + buffers.teardown_s,
        }
        added |= {FAILS_FIELD: True} if fails else {}
        profile = {name: value for name, value in job.profile.items() if name not in added}
        longer = replaced(job, extras={**job.extras, **added}, profile=profile)
        return (job if self._unplayable(longer) else longer), None

    def _with_grace(self, job: Job) -> tuple[Job, None]:
        """Let a job with a default walltime run beyond it; others state their own walltime and limit.

        Under ``cons_tres`` with an ``OverTimeLimit`` Slurm expects an overdue job to end at its kill, until it is told
        to end; else a second later (measured, 22.05).
        """
        if job.default_walltime:
            job = replaced(job, grace_s=self._scheduler.grace_s)
        if job.grace_s and self._scheduler.over_s and self._scheduler.select == "cons_tres":
            job = replaced(job, over_s=job.grace_s)
        return job, None

    def warnings(self) -> Iterable[str]:
        """Warnings about the workload as a whole."""
        storages = len(self._machine.storages)
        if storages and self._jobs and not self._buffers_requested:
            yield (
                f"the machine has {storages} burst buffers, but the {self._jobs} jobs requested no burst buffer; "
                "Batsim 5 drops the field 'bb': see spillway workload convert --batsim 5, and docs/batsim.md"
            )
        if self._endless:
            yield f"walltimes of {self._endless} jobs are above {LATEST_S:.0f} s (272 years) and were ignored"

    def _with_demand(self, job: Job, demand: Demand) -> tuple[Job, str | None]:
        """Add the bandwidth that the job model needs; also return the reason why it cannot be computed, or ``None``."""
        try:
            most = self._most_bytes_per_s / job.nodes
            io_rate = demand(job, self._terms.estimator.estimate_s(job), most)
        except ValueError as error:
            return job, str(error)
        return (job if io_rate == job.io_rate else replaced(job, io_rate=io_rate)), None

    def _pool_reason(self, job: Job, requests: BufferRequests, pool: Pool) -> str | None:
        """Record a job's requests of persistent buffers; return the reason why they can never be met, or ``None``."""
        pool.requests[job.id] = requests
        self._buffers_requested = True
        if self._published:
            return "persistent buffers and the published experiment's rules exclude each other"
        if job.bb_bytes and not job.nodes:
            return "a job without nodes creates and destroys persistent buffers, it has no burst buffer of its own"
        for creation in requests.creates:
            reason = self._limits.infeasible_reason(as_request(job, creation))
            if reason is not None:
                return f"persistent buffer {creation.name}: {reason}"
        return None


def drawn(job_id: str, seed: int) -> float:
    """A number from 0 to 1 for a job, the same in every run: its id's FNV-1a hash, mixed as SplitMix64 does."""
    state = seed
    for byte in job_id.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ state >> shift) * factor % 2**64
    return (state ^ state >> 31) / 2**64
