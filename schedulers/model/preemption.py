"""Rules of preemption at a site: which jobs may preempt which running ones, and how and when these end.

By tier of partitions (``preempt/partition_prio``): a job that runs in a partition of a higher tier preempts those in
partitions of lower tiers. By QOS (``preempt/qos``): a job preempts those with a QOS that its own one lists. The
preempted job's partition or QOS, else the site, states how it ends, and its grace time.

References
----------
SchedMD, *Preemption*; *slurm.conf*: ``PreemptType``, ``PreemptMode``, ``PreemptExemptTime``, ``GraceTime``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.charging import Charging
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.site import Site

KINDS = ("partition_prio", "qos")
"""Kinds of preemption, as sites state them (``Scheduler.preempt``)."""

SUSPEND = "suspend"
REQUEUE = "requeue"
_MODES = ("cancel", REQUEUE, SUSPEND)
"""Modes of preemption."""

YOUNGEST_FIRST = "preempt_youngest_first"
"""Parameter of the site's scheduler: the youngest jobs are preempted first, whatever their tier or QOS."""


class SuspendedState(NamedTuple):
    """State of a suspended job for its next part (:attr:`spillway.schedulers.model.job.Job.left`).

    Attributes
    ----------
    allocation
        Its allocation, with which it continues; until then other jobs may use only its nodes.
    whole
        The job as it was submitted: with all of its work and its walltime.
    """

    allocation: Allocation
    whole: Job


class Group(NamedTuple):
    """Rules of preemption of a running job, from its partition or QOS.

    Attributes
    ----------
    name
        Name of the partition, or of the QOS.
    rank
        The partition's tier, or the QOS' priority: lower ones are preempted first.
    mode
        ``off``, ``cancel``, ``requeue`` or ``suspend``.
    grace_s, exempt_s
        Grace time of a preempted job, and time from its start in which it is not preempted (s).
    """

    name: str
    rank: int
    mode: str
    grace_s: float
    exempt_s: float


class Preemption:
    """The rules of preemption at a site.

    Parameters
    ----------
    site
        Its partitions, QOS and scheduler.
    suspend
        Mode that is played where the site suspends jobs: ``suspend``, ``cancel``, ``requeue`` or ``off``; "": not
        stated, these jobs are not preempted.

    Attributes
    ----------
    active
        Whether any job may preempt another one.
    requeues
        Whether some jobs are submitted anew: requeued, or suspended (each part is a job of the simulator).
    suspends
        Whether some jobs are suspended.
    suspended
        Partitions and QOS that suspend jobs, in words, if ``suspend`` does not state a mode.
    youngest_first
        Whether the youngest jobs are preempted first of all.
    """

    def __init__(self, site: Site, suspend: str = "") -> None:
        scheduler = site.scheduler
        self._by_qos = scheduler.preempt == "qos"
        self._exempt_s = scheduler.exempt_s
        self._charging = Charging(site)
        self._qos = {qos.name: qos for qos in site.qos}
        self._partitions = site.partitions
        self._nodes = [
            frozenset(parse_intervals(partition.nodes)) if partition.nodes else None for partition in site.partitions
        ]
        stated = [(qos.name, qos.preempts) for qos in (site.qos if self._by_qos else site.partitions)]
        modes = {name: mode or scheduler.preempts or "off" for name, mode in stated}
        self.suspended = [
            f"{'QOS' if self._by_qos else 'partition'} {name}"
            for name, mode in modes.items()
            if mode == SUSPEND and not suspend and scheduler.preempt in KINDS
        ]
        self._modes: Mapping[str, str] = {name: suspend if mode == SUSPEND else mode for name, mode in modes.items()}
        victims = {name for name, mode in self._modes.items() if mode in _MODES}
        self._lowest = min((partition.tier for partition in site.partitions if partition.name in victims), default=None)
        lists = {qos.name: [name for name in qos.preempt if name in victims] for qos in site.qos}
        self._heights = {name: _height(name, lists) for name in lists}
        self.active = scheduler.preempt in KINDS and (
            any(self._heights.values())
            if self._by_qos
            else self._lowest is not None and any(partition.tier > self._lowest for partition in site.partitions)
        )
        self.suspends = self.active and SUSPEND in self._modes.values()
        self.requeues = self.suspends or (self.active and REQUEUE in self._modes.values())
        self.youngest_first = YOUNGEST_FIRST in scheduler.others

    def height(self, job: Job) -> int:
        """Rank of a job among those that may preempt others, which come first; 0: it may preempt no other job."""
        if self._by_qos:
            return self._heights.get(self._qos_of(job), 0)
        tier = max((self._partitions[place].tier for place in job.partitions), default=0)
        return tier - self._lowest if self._lowest is not None and tier > self._lowest else 0

    def ways(self, job: Job) -> Iterator[tuple[int, ...]]:
        """Each of a waiting job's partitions separately, higher tiers first; () if it has no partitions."""
        if not job.partitions:
            yield ()
        for place in sorted(job.partitions, key=lambda place: -self._partitions[place].tier):
            yield (place,)

    def group(self, job: Job, nodes: tuple[int, ...]) -> Group:
        """The rules for a job that runs on these nodes; of several partitions, of the one with the highest tier."""
        qos = self._qos.get(self._qos_of(job))
        exempt_s = qos.exempt_s if qos is not None and qos.exempt_s else self._exempt_s
        if self._by_qos:
            if qos is None:
                return Group("", 0, "off", 0.0, exempt_s)
            return Group(qos.name, qos.priority, self._modes[qos.name], qos.grace_s, exempt_s)
        there = [place for place in job.partitions if (own := self._nodes[place]) is None or own.issuperset(nodes)]
        if not there:
            return Group("", 0, "off", 0.0, exempt_s)
        one = max((self._partitions[place] for place in there), key=lambda partition: partition.tier)
        return Group(one.name, one.tier, self._modes[one.name], one.grace_s, exempt_s)

    def may(self, job: Job, partitions: tuple[int, ...], group: Group) -> bool:
        """Whether a job that is to run in these partitions may preempt jobs of a group."""
        if group.mode not in _MODES:
            return False
        if self._by_qos:
            own = self._qos.get(self._qos_of(job))
            return own is not None and group.name in own.preempt
        return any(self._partitions[place].tier > group.rank for place in partitions)

    def _qos_of(self, job: Job) -> str:
        return self._charging.qos(job.account, job.user, job.qos)


def _height(name: str, lists: Mapping[str, list[str]]) -> int:
    """Length of the longest chain of QOS of which each preempts the next; the lists have no circle."""
    return max((1 + _height(below, lists) for below in lists[name]), default=0)
