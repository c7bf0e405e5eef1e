"""Which jobs of a site may preempt which running ones, how these end, and when.

By tier of partitions (``preempt/partition_prio``): a job that runs in a partition of a higher tier preempts those in
partitions of lower tiers. By QOS (``preempt/qos``): a job preempts those whose QOS its own one lists. How the preempted
job ends, and the time that it has left, are stated by its partition or QOS, else by the site.

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
"""What preempts, as sites state it (``Scheduler.preempt``)."""

SUSPEND = "suspend"
REQUEUE = "requeue"
_MODES = ("cancel", REQUEUE, SUSPEND)
"""How jobs make room."""

YOUNGEST_FIRST = "preempt_youngest_first"
"""Parameter of the site's scheduler: the youngest jobs are preempted first, whatever their tier or QOS."""


class Suspended(NamedTuple):
    """What a suspended job is given for its next part (:attr:`spillway.schedulers.model.job.Job.left`).

    Attributes
    ----------
    allocation
        What it had, and goes on with: of this only its nodes are used by others till then.
    whole
        The job as it was submitted: with all of its work and its walltime.
    """

    allocation: Allocation
    whole: Job


class Group(NamedTuple):
    """What a running job's partition or QOS says of its preemption.

    Attributes
    ----------
    name
        Of the partition, or the QOS.
    rank
        The partition's tier, or the QOS' priority: lower ones are preempted first.
    mode
        ``off``, ``cancel``, ``requeue`` or ``suspend``.
    grace_s, exempt_s
        Time that a preempted job has left, and time from its start in which it is not preempted (s).
    """

    name: str
    rank: int
    mode: str
    grace_s: float
    exempt_s: float


class Preemption:
    """The rules of a site.

    Parameters
    ----------
    site
        Its partitions, QOS and scheduler.
    suspend
        What is played where a job would be suspended: ``suspend``, ``cancel``, ``requeue`` or ``off``; "": nothing can
        be.

    Attributes
    ----------
    active
        Whether any job may preempt another one.
    requeues
        Whether some jobs are submitted anew: requeued, or suspended, whose parts are jobs of the simulator.
    suspends
        Whether some jobs are suspended.
    suspended
        Partitions and QOS whose jobs would be suspended, in words, where ``suspend`` does not say what is played.
    youngest_first
        Whether the youngest jobs are preempted first of all.
    """

    def __init__(self, site: Site, suspend: str = "") -> None:
        scheduler = site.scheduler
        self._by_qos = scheduler.preempt == "qos"
        self._exempt_s = scheduler.exempt_s
        self._charging = Charging(site)
        self._qos = {one.name: one for one in site.qos}
        self._partitions = site.partitions
        self._nodes = [frozenset(parse_intervals(one.nodes)) if one.nodes else None for one in site.partitions]
        stated = [(one.name, one.preempts) for one in (site.qos if self._by_qos else site.partitions)]
        modes = {name: mode or scheduler.preempts or "off" for name, mode in stated}
        self.suspended = [
            f"{'QOS' if self._by_qos else 'partition'} {name}"
            for name, mode in modes.items()
            if mode == SUSPEND and not suspend and scheduler.preempt in KINDS
        ]
        self._modes: Mapping[str, str] = {name: suspend if mode == SUSPEND else mode for name, mode in modes.items()}
        victims = {name for name, mode in self._modes.items() if mode in _MODES}
        self._lowest = min((one.tier for one in site.partitions if one.name in victims), default=None)
        lists = {one.name: [name for name in one.preempt if name in victims] for one in site.qos}
        self._heights = {name: _height(name, lists) for name in lists}
        self.active = scheduler.preempt in KINDS and (
            any(self._heights.values())
            if self._by_qos
            else self._lowest is not None and any(one.tier > self._lowest for one in site.partitions)
        )
        self.suspends = self.active and SUSPEND in self._modes.values()
        self.requeues = self.suspends or (self.active and REQUEUE in self._modes.values())
        self.youngest_first = YOUNGEST_FIRST in scheduler.others

    def height(self, job: Job) -> int:
        """Rank of a job among those that may preempt others, which are looked at first; 0: it may preempt no other."""
        if self._by_qos:
            return self._heights.get(self._qos_of(job), 0)
        tier = max((self._partitions[place].tier for place in job.partitions), default=0)
        return tier - self._lowest if self._lowest is not None and tier > self._lowest else 0

    def ways(self, job: Job) -> Iterator[tuple[int, ...]]:
        """Each of a waiting job's partitions alone, higher tiers first; () where the site has none."""
        if not job.partitions:
            yield ()
        for place in sorted(job.partitions, key=lambda place: -self._partitions[place].tier):
            yield (place,)

    def group(self, job: Job, nodes: tuple[int, ...]) -> Group:
        """What holds for a job that runs on these nodes: of several partitions of the one with the highest tier."""
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
