"""Limits of accounts, users and QOS: which of them hold for a job.

Of limits of one kind the QOS of the job's partition comes first, then the job's own QOS, then its user in its account
and the accounts above: the first that states one counts. Only limits of groups count at all accounts above. A job that
may run in partitions with several QOS is held to the limits of each of them. A site that enforces no limits
(``AccountingStorageEnforce``) has none.

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
    """Whose limits: what it is (``QOS``, ``account``, ``user``), its name, and for a user the account."""

    what: str
    name: str
    account: str = ""

    def __str__(self) -> str:
        return f"{self.what} {self.name}" + (f" in account {self.account}" if self.account else "")


class Bound(NamedTuple):
    """What jobs may have together, and what a job adds to it.

    Attributes
    ----------
    pool
        The count; the same for all users that have as much each.
    whose
        Whose jobs count.
    amount
        Of this job.
    """

    pool: CountedPool
    whose: tuple[str, ...]
    amount: int


class _LimitOf(Protocol):
    def __call__(self, limits: Limits, group: str) -> int | None:
        """The limit of a group, the first word of its field's name; ``None`` for no limit."""


class _Kind(NamedTuple):
    """Something that limits count: its name, the limit, the amount of a job."""

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
"""Groups of which each has as much: the first word of the limits' names, and how it is said."""


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
            _Owner("user", one.user, one.account) if one.user else _Owner("account", one.account): one.limits
            for one in site.associations
        } | {_Owner("QOS", one.name): one.limits for one in site.qos}
        enforced = site.scheduler.enforces_limits
        self._limits = {owner: limits for owner, limits in stated.items() if enforced and limits != Limits()}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._limits)

    def exceeded(self, job: Job) -> str | None:
        """The limit of a single job that it exceeds: the inequality, and whose limit it is."""
        for name, words, amount in (("node", "nodes", job.nodes), ("gres/gpu", "GPUs", job.nodes * job.gpus)):
            for owner, most in self._stated(job, partial(_entry, "job_tres", name)):
                if amount > most:
                    return f"{amount} {words} > {most}, the most of a job of {owner}"
            for owner, least in self._stated(job, partial(_entry, "job_least_tres", name)):
                if amount < least:
                    return f"{amount} {words} < {least}, the fewest of a job of {owner}"
        for owner, longest_s in self._stated(job, lambda limits: limits.job_longest_s):
            if math.inf > job.walltime_s > longest_s:
                return f"walltime {job.walltime_s:.10g} s > {longest_s:.10g} s, the longest of a job of {owner}"
        return None

    def running(self, job: Job) -> Iterator[Bound]:
        """What a job counts against while it runs."""
        return self._bounds(job, _RUNNING)

    def submitted(self, job: Job) -> Iterator[Bound]:
        """What a job counts against from its submission to its end."""
        return self._bounds(job, _SUBMITTED)

    def _bounds(self, job: Job, kinds: Iterable[_Kind]) -> Iterator[Bound]:
        account = self._charging.account(job.account, job.user)
        names = {"user": job.user, "account": account}
        for kind in kinds:
            amount = kind.amount(job)
            for owner, most in self._stated(job, partial(kind.of, group="group"), everywhere=True):
                yield Bound(CountedPool(f"{kind.name} of {owner}", most), (str(owner),), amount)
            for group, words in _EACH.items():
                if not names[group]:
                    continue
                for owner, most in self._stated(job, partial(kind.of, group=group)):
                    of_whom = "" if owner.what == "user" else f" of {owner}"
                    where = "" if owner.what == "QOS" else account
                    pool = CountedPool(f"{kind.name} of {words}{of_whom}", most)
                    yield Bound(pool, (group, str(owner), where, names[group]), amount)

    def _stated(
        self, job: Job, of: Callable[[Limits], _Number | None], *, everywhere: bool = False
    ) -> Iterable[tuple[_Owner, _Number]]:
        """Whose limit of a kind holds for a job, and how much it is.

        ``everywhere``: of the accounts all count, not only the nearest.
        """
        account = self._charging.account(job.account, job.user)
        above = [_Owner("user", job.user, account)] if account and job.user else []
        above += [_Owner("account", one) for one in self._charging.above(account)]
        own = self._charging.qos(job.account, job.user, job.qos)
        found: dict[_Owner, _Number] = {}
        for partition in {self._partition_qos[place]: None for place in job.partitions} or {"": None}:
            qos = [_Owner("QOS", name) for name in (partition, own) if name]
            stated = list(self._of(qos, of))[:1] or list(self._of(above, of))[: None if everywhere else 1]
            found.update(stated)
        return found.items()

    def _of(self, owners: Iterable[_Owner], of: Callable[[Limits], _Number | None]) -> Iterator[tuple[_Owner, _Number]]:
        """Those of some owners that state a limit, in their order."""
        for owner in owners:
            most = of(self._limits[owner]) if owner in self._limits else None
            if most is not None:
                yield owner, most
