"""Counted pools: the amounts that jobs hold, and the reasons why a job can never have its amounts.

A job holds its amount of a pool from its start to its end; an amount below 0 is charged whatever is left. Pools are a
site's licenses, the layers of its hierarchical resources (:mod:`.layers`), and limits on all jobs of an account (with
those below it), a QOS, or a user. The pool of a limit is created with the first job that counts there. After all its
jobs have ended, another user with the same limit takes it over, so that there are at most twice as many of these
pools as users with jobs at a time.

References
----------
SchedMD, *Licenses Guide* (local licenses, ``--licenses=NAME:COUNT,...``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from spillway.base.errors import shown
from spillway.schedulers.core.limits import Bound, SiteLimits
from spillway.schedulers.model.job import GPUS_FIELD, LICENSES_FIELD, Job, replaced
from spillway.schedulers.model.machine import CountedPool, NodeSet
from spillway.schedulers.model.site import Site

_REQUEST = re.compile(r"\s*([^\s,:]+)\s*(?::\s*(\d{1,10}))?\s*", re.ASCII)


@dataclass
class _Members:
    """Jobs that count together, by id, and the index of their pool (-1: no pool)."""

    jobs: set[str] = field(default_factory=set)
    place: int = -1


class CountedPools:
    """The counted pools of a site, and the amounts that jobs hold of them.

    Parameters
    ----------
    site
        Its licenses, accounts and QOS.
    layers
        Layers of its hierarchical resources, and pools of nodes by their GPUs.
    partitions
        The nodes of its partitions.
    alive
        Whether a job waits, is held by others, or holds anything, by its id.

    Attributes
    ----------
    pools
        Licenses, layers, then limits; further limits are appended as jobs come (:meth:`assign`).
    """

    def __init__(
        self,
        site: Site,
        layers: tuple[CountedPool, ...] = (),
        partitions: tuple[NodeSet, ...] = (),
        alive: Callable[[str], bool] = lambda job_id: True,
    ) -> None:
        self._alive = alive
        self._licenses: dict[str, list[int]] = {license_.name: [place] for place, license_ in enumerate(site.licenses)}
        self._partitions = partitions
        self._gpus: list[tuple[int, int, frozenset[int]]] = []
        for place, pool in enumerate(layers, len(site.licenses)):
            if pool.layer is not None and not pool.layer.mode:
                self._gpus.append((pool.count, place, pool.layer.nodes))
            elif pool.layer is not None:
                self._licenses.setdefault(pool.layer.resource, []).append(place)
        licenses = (CountedPool(f"license {license_.name}", license_.count, license=True) for license_ in site.licenses)
        self.pools = (*licenses, *layers)
        self._limits = SiteLimits(site)
        self._members: dict[CountedPool, dict[tuple[str, ...], _Members]] = {}
        self._spare: dict[CountedPool, list[int]] = {}

    def __bool__(self) -> bool:
        """Whether there is anything to count, or any limit."""
        return bool(self.pools or self._limits)

    def assign(self, job: Job) -> tuple[Job, str | None]:
        """Add a job's amounts; also return the reason why it can never have them, or ``None``.

        Its partitions must be assigned already. Where a site has no licenses, those that a job names are ignored.
        """
        if not job.nodes or not self:
            return job, None
        amounts: dict[int, int] = {}
        reason = self._read_licenses(job, amounts) if self._licenses else None
        reason = reason or self._read_gpus(job, amounts)
        if self._limits:
            job = self._with_walltime(job)
            reason = reason or self._limits.exceeded(job) or self._too_many(job)
            for bound in self._limits.running(job) if reason is None else ():
                amounts[self._place(job, bound)] = bound.amount if bound.applies else -bound.amount
        for place, amount in amounts.items():
            pool = self.pools[place]
            if reason is None and pool.layer is None and amount > pool.count:
                reason = f"{amount} > {pool.count} of {pool.name}"
        if reason is not None:
            return job, reason
        pools = tuple(amounts.get(place, 0) for place in range(len(self.pools))) if any(amounts.values()) else ()
        return replaced(job, pools=pools), None

    def _with_walltime(self, job: Job) -> Job:
        """The job with the longest walltime of its limits, if it states no walltime."""
        if job.walltime_s < math.inf and not job.default_walltime:
            return job
        walltime_s = min(job.walltime_s, self._limits.longest_s(job))
        return job if walltime_s == job.walltime_s else replaced(job, walltime_s=walltime_s, default_walltime=True)

    def goes_on(self, job_id: str, as_id: str) -> None:
        """Count a job that waits again under another id where it counted before."""
        for several in self._members.values():
            for members in several.values():
                if job_id in members.jobs:
                    members.jobs.add(as_id)

    def _too_many(self, job: Job) -> str | None:
        """The limit of waiting and running jobs that a job would exceed; ``None``: it counts from now on."""
        bounds = list(self._limits.submitted(job))
        found = [self._members.setdefault(bound.pool, {}).setdefault(bound.whose, _Members()) for bound in bounds]
        for bound, members in zip(bounds, found, strict=True):
            if len(members.jobs) >= bound.pool.count:
                members.jobs = set(filter(self._alive, members.jobs))
            if bound.applies and len(members.jobs) >= bound.pool.count:
                return f"it would be one more than {bound.pool.count} {bound.pool.name}"
        for members in found:
            members.jobs.add(job.id)
        return None

    def _place(self, job: Job, bound: Bound) -> int:
        """Index of the pool where a job counts for a bound; the first job takes over a spare pool or adds new ones."""
        pool = bound.pool
        several = self._members.setdefault(pool, {})
        members = several.get(bound.whose)
        if members is None:
            spare = self._spare.setdefault(pool, [])
            if not spare:
                spare += self._left(several)
            if not spare:
                more = max(1, len(several))
                spare += range(len(self.pools), len(self.pools) + more)
                self.pools += (pool,) * more
            members = several[bound.whose] = _Members(place=spare.pop(0))
        members.jobs.add(job.id)
        return members.place

    def _left(self, several: dict[tuple[str, ...], _Members]) -> list[int]:
        """Indices of pools without jobs that wait or run; they are free for others from now on."""
        for members in several.values():
            members.jobs = set(filter(self._alive, members.jobs))
        gone = [whose for whose, members in several.items() if not members.jobs]
        return [several.pop(whose).place for whose in gone]

    def _read_gpus(self, job: Job, amounts: dict[int, int]) -> str | None:
        """Restrict a job to nodes with enough GPUs, unless all nodes of its partitions have enough."""
        given = job.extras.get(GPUS_FIELD)
        if given is None:
            return None
        if type(given) is not int or given < 0:
            return f"its field {GPUS_FIELD!r} must be a whole number of at least 0, got {shown(given)}"
        enough = [(place, nodes) for most, place, nodes in self._gpus if most >= given]
        if not given or not self._gpus:
            return None
        if not enough:
            return f"{given} GPUs on each node > {self._gpus[-1][0]}, the most that a node has"
        place, nodes = enough[0]
        if not job.partitions or not all(self._partitions[partition].nodes <= nodes for partition in job.partitions):
            amounts[place] = 1
        return None

    def _read_licenses(self, job: Job, amounts: dict[int, int]) -> str | None:
        """Add the licenses and resources that a job names; return the error in the field, or ``None``."""
        text = job.extras.get(LICENSES_FIELD)
        for part in str(text).split(",") if text else ():
            found = _REQUEST.fullmatch(part)
            if found is None:
                expected = "name:count, several separated by commas"
                return f"its field {LICENSES_FIELD!r} must be {expected}; got {shown(text)}"
            if found[1] not in self._licenses:
                return f"license {shown(found[1])} is unknown; the site has {', '.join(self._licenses)}"
            for place in self._licenses[found[1]]:
                amounts[place] = amounts.get(place, 0) + int(found[2] or 1)
        return None
