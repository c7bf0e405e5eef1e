"""Limits of accounts, users and QOS that apply to a job.

Limits of one kind are searched in the QOS of the job's partition, the job's own QOS, its user in its account, and the
accounts above, in this order: the first one found applies. Only limits of groups apply at all accounts above. The job
is charged to the others, too: they limit jobs that have no such QOS. A job that may run in partitions with several QOS
must keep the limits of each of them. A site that does not enforce limits (``AccountingStorageEnforce``) has no limits.

References
----------
SchedMD, *Resource Limits* (hierarchy; ``GrpTRES``, ``GrpJobs``, ``MaxTRES``, ``MaxWall``, ``MaxJobs``, ``MaxTRESPU``,
``MaxSubmit``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from spillway.schedulers.model.charging import Charging
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import CountedPool
from spillway.schedulers.model.site import Site
from spillway.schedulers.model.site_parts import Limits

_Number = TypeVar("_Number", int, float)


class _Owner(NamedTuple):
    """Owner of limits: its kind (``QOS``, ``account``, ``user``), its name, and for a user the account."""

    what: str
    name: str
    account: str = ""

    def __str__(self) -> str:
        return f"{self.what} {self.name}" + (f" in account {self.account}" if self.account else "")


class Bound(NamedTuple):
    """A limit on jobs together, and the amount that one job adds.

    Attributes
    ----------
    pool
        The limit; the same for all users with an equal limit each.
    whose
        Identifies the jobs that count together.
    amount
        Amount of this job.
    applies
        Whether it limits this job, or the job is only charged.
    """

    pool: CountedPool
    whose: tuple[str, ...]
    amount: int
    applies: bool


class _LimitOf(Protocol):
    def __call__(self, limits: Limits, group: str) -> int | None:
        """The limit of a group, the first word of its field's name; ``None`` for no limit."""


class _Kind(NamedTuple):
    """A quantity with limits: its name, its limit, its amount in a job."""

    name: str
    of: _LimitOf
    amount: Callable[[Job], int]


def _entry(field: str, name: str, limits: Limits) -> int | None:
    most: int | None = getattr(limits, field).get(name)
    return most


def _jobs(limits: Limits, group: str) -> int | None:
    most: int | None = getattr(limits, f"{group}_jobs")
    return most


def _submitted(limits: Limits, group: str) -> int | None:
    most: int | None = getattr(limits, f"{group}_submitted")
    return most


def _nodes(limits: Limits, group: str) -> int | None:
    most: int | None = getattr(limits, f"{group}_tres").get("node")
    return most


def _gpus(limits: Limits, group: str) -> int | None:
    most: int | None = getattr(limits, f"{group}_tres").get("gres/gpu")
    return most


_RUNNING = (
    _Kind("jobs", _jobs, lambda job: 1),
    _Kind("nodes", _nodes, lambda job: job.nodes),
    _Kind("GPUs", _gpus, lambda job: job.nodes * job.gpus),
)
_SUBMITTED = (_Kind("waiting and running jobs", _submitted, lambda job: 1),)

_EACH = {"user": "a user", "account": "an account"}
"""Groups with a limit for each member: the first word of the limits' names, and the words for messages."""


class SiteLimits:
    """The limits of a site.

    Parameters
    ----------
    site
        Its accounts, QOS, and partitions with a QOS of their own.
    """

    def __init__(self, site: Site) -> None:
        self._charging = Charging(site)
        self._partition_qos = tuple(partition.qos for partition in site.partitions)
        stated = {
            _Owner("user", association.user, association.account)
            if association.user
            else _Owner("account", association.account): association.limits
            for association in site.associations
        } | {_Owner("QOS", qos.name): qos.limits for qos in site.qos}
        enforced = site.scheduler.enforces_limits
        self._limits = {owner: limits for owner, limits in stated.items() if enforced and limits != Limits()}

    def __bool__(self) -> bool:
        """Whether there are limits."""
        return bool(self._limits)

    def exceeded(self, job: Job) -> str | None:
        """The limit per job that a job exceeds: the inequality, and the owner of the limit."""
        for name, words, amount in (("node", "nodes", job.nodes), ("gres/gpu", "GPUs", job.nodes * job.gpus)):
            for owner, most, applies in self._stated(job, partial(_entry, "job_tres", name)):
                if applies and amount > most:
                    return f"{amount} {words} > {most}, the most of a job of {owner}"
            for owner, least, applies in self._stated(job, partial(_entry, "job_least_tres", name)):
                if applies and amount < least:
                    return f"{amount} {words} < {least}, the fewest of a job of {owner}"
        for owner, longest_s, applies in self._stated(job, lambda limits: limits.job_longest_s):
            if applies and math.inf > job.walltime_s > longest_s and not job.default_walltime:
                return f"walltime {job.walltime_s:.10g} s > {longest_s:.10g} s, the longest of a job of {owner}"
        return None

    def longest_s(self, job: Job) -> float:
        """Longest walltime that its limits allow a job (s): that of a job that states no walltime, as in Slurm."""
        stated = self._stated(job, lambda limits: limits.job_longest_s)
        return min((longest_s for _, longest_s, applies in stated if applies), default=math.inf)

    def running(self, job: Job) -> Iterator[Bound]:
        """Limits that a job is charged to while it runs."""
        return self._bounds(job, _RUNNING)

    def submitted(self, job: Job) -> Iterator[Bound]:
        """Limits that a job is charged to from its submission to its end."""
        return self._bounds(job, _SUBMITTED)

    def _bounds(self, job: Job, kinds: Iterable[_Kind]) -> Iterator[Bound]:
        account = self._charging.account(job.account, job.user)
        names = {"user": job.user, "account": account}
        for kind in kinds:
            amount = kind.amount(job)
            for owner, most, applies in self._stated(job, partial(kind.of, group="group"), everywhere=True):
                yield Bound(
                    CountedPool(f"{kind.name} of {owner}", most, overdrawn=True), (str(owner),), amount, applies
                )
            for group, words in _EACH.items():
                if not names[group]:
                    continue
                for owner, most, applies in self._stated(job, partial(kind.of, group=group)):
                    of_whom = "" if owner.what == "user" else f" of {owner}"
                    where = "" if owner.what == "QOS" else account
                    pool = CountedPool(f"{kind.name} of {words}{of_whom}", most, overdrawn=True)
                    yield Bound(pool, (group, str(owner), where, names[group]), amount, applies)

    def _stated(
        self, job: Job, of: Callable[[Limits], _Number | None], *, everywhere: bool = False
    ) -> Iterator[tuple[_Owner, _Number, bool]]:
        """Limits of a kind to which a job is charged, with their owners, and whether they apply to it.

        ``everywhere``: the limits of all its accounts apply, not only the nearest.
        """
        account = self._charging.account(job.account, job.user)
        above = [_Owner("user", job.user, account)] if account and job.user else []
        above += [_Owner("account", parent) for parent in self._charging.above(account)]
        own = self._charging.qos(job.account, job.user, job.qos)
        found: dict[_Owner, _Number] = {}
        applying: set[_Owner] = set()
        for partition in {self._partition_qos[place]: None for place in job.partitions} or {"": None}:
            named = [_Owner("QOS", name) for name in (partition, own) if name]
            qos: list[tuple[_Owner, _Number]] = list(self._of(named, of))
            accounts: list[tuple[_Owner, _Number]] = list(self._of(above, of))[: None if everywhere else 1]
            found.update(qos + accounts)
            applying.update(owner for owner, _ in qos[:1] or accounts)
        return ((owner, most, owner in applying) for owner, most in found.items())

    def _of(self, owners: Iterable[_Owner], of: Callable[[Limits], _Number | None]) -> Iterator[tuple[_Owner, _Number]]:
        """The limits among some owners, in their order; owners without one are left out."""
        for owner in owners:
            most = of(self._limits[owner]) if owner in self._limits else None
            if most is not None:
                yield owner, most
