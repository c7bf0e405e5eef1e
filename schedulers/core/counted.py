"""Counted pools: how much a job holds of each, and why it can never have it.

A pool is a count for the whole machine, of which a job holds its amount from its start to its end: a site's licenses,
and what the jobs of an account (with those below it) or of a QOS may have together.

References
----------
SchedMD, *Licenses Guide* (local licenses, ``--licenses=NAME:COUNT,...``); *Resource Limits* (``GrpTRES``, ``GrpJobs``,
``MaxTRES``, ``MaxWall``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from spillway.base.errors import shown
from spillway.schedulers.model.charging import Charging
from spillway.schedulers.model.job import LICENSES_FIELD, Job
from spillway.schedulers.model.machine import CountedPool
from spillway.schedulers.model.site import Site
from spillway.schedulers.model.site_parts import Limits

_REQUEST = re.compile(r"\s*([^\s,:]+)\s*(?::\s*(\d{1,10}))?\s*", re.ASCII)

_Owner = tuple[str, str]
"""``account`` or ``QOS``, and its name."""


class _Group(NamedTuple):
    """A pool of a group of jobs: place among the pools, and the amount of a job of the group."""

    place: int
    amount: Callable[[Job], int]


class Counted:
    """The counted pools of a site, and what jobs hold of them.

    Attributes
    ----------
    pools
        Licenses, then limits of groups.
    """

    def __init__(self, site: Site) -> None:
        self._charging = Charging(site)
        found = [CountedPool(f"license {license.name}", license.count, license=True) for license in site.licenses]
        self._licenses = {license.name: place for place, license in enumerate(site.licenses)}
        self._groups: dict[_Owner, list[_Group]] = {}
        self._limits: dict[_Owner, Limits] = {}
        for owner, limits in _limited(site):
            self._limits[owner] = limits
            for what, count, amount in _counts(limits):
                self._groups.setdefault(owner, []).append(_Group(len(found), amount))
                found.append(CountedPool(f"{what} of {' '.join(owner)}", count))
        self.pools = tuple(found)

    def assign(self, job: Job) -> tuple[Job, str | None]:
        """The job with its amounts, and why it can never have them (``None`` where it can).

        Where a site has no licenses, those that a job names count for nothing.
        """
        if not job.nodes or not (self.pools or self._limits):
            return job, None
        amounts = [0] * len(self.pools)
        reason = self._read_licenses(job, amounts) if self._licenses else None
        for owner in self._owners(job):
            reason = reason or _exceeded(job, self._limits[owner], owner) if owner in self._limits else reason
            for group in self._groups.get(owner, ()):
                amounts[group.place] += group.amount(job)
        for pool, amount in zip(self.pools, amounts, strict=True):
            if reason is None and amount > pool.count:
                reason = f"{amount} > {pool.count} of {pool.name}"
        if reason is not None:
            return job, reason
        return msgspec.structs.replace(job, pools=tuple(amounts) if any(amounts) else ()), None

    def _owners(self, job: Job) -> Iterator[_Owner]:
        """The groups that a job belongs to."""
        for account in self._charging.above(self._charging.account(job.account, job.user)):
            yield "account", account
        yield "QOS", self._charging.qos(job.account, job.user, job.qos)

    def _read_licenses(self, job: Job, amounts: list[int]) -> str | None:
        """Add the licenses that a job names; what is wrong with them."""
        text = job.extras.get(LICENSES_FIELD)
        for part in str(text).split(",") if text else ():
            found = _REQUEST.fullmatch(part)
            if found is None:
                expected = "name:count, several separated by commas"
                return f"its field {LICENSES_FIELD!r} must be {expected}; got {shown(text)}"
            if found[1] not in self._licenses:
                return f"license {shown(found[1])} is unknown; the site has {', '.join(self._licenses)}"
            amounts[self._licenses[found[1]]] += int(found[2] or 1)
        return None


def _limited(site: Site) -> Iterator[tuple[_Owner, Limits]]:
    """Accounts and QOS with limits of all their jobs, or of each."""
    for one in site.associations:
        if not one.user and one.limits != Limits():
            yield ("account", one.account), one.limits
    for qos in site.qos:
        if qos.limits != Limits():
            yield ("QOS", qos.name), qos.limits


def _counts(limits: Limits) -> Iterator[tuple[str, int, Callable[[Job], int]]]:
    """What a group may have at a time: of what, how much, and the amount of a job."""
    if limits.group_jobs is not None:
        yield "jobs", limits.group_jobs, lambda _job: 1
    if "node" in limits.group_tres:
        yield "nodes", limits.group_tres["node"], lambda job: job.nodes


def _exceeded(job: Job, limits: Limits, owner: _Owner) -> str | None:
    """The limit of a single job that it exceeds."""
    most, least = limits.job_tres.get("node"), limits.job_least_tres.get("node", 0)
    who = " ".join(owner)
    if most is not None and job.nodes > most:
        return f"{job.nodes} nodes > {most}, the most of a job of {who}"
    if job.nodes < least:
        return f"{job.nodes} nodes < {least}, the fewest of a job of {who}"
    if limits.job_longest_s is not None and math.inf > job.walltime_s > limits.job_longest_s:
        return f"walltime {job.walltime_s:.10g} s > {limits.job_longest_s:.10g} s, the longest of a job of {who}"
    return None
