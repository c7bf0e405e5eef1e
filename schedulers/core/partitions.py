"""Partitions: the nodes that a job may use, or the reason why it may use no partition.

A job names the partitions that it may run in (field ``partition``, several separated by commas) and runs on the nodes
of one of them. Partitions with limits that it exceeds are skipped; a job that no partition accepts is rejected, as by a
site's scheduler that checks limits at submission.

References
----------
SchedMD, *slurm.conf*: ``PartitionName`` and its limits, ``EnforcePartLimits=ANY``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from spillway.base.errors import OptionError, shown
from spillway.core import Placement, Timeline
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.charging import Charging
from spillway.schedulers.model.job import PARTITION_FIELD, Job, replaced
from spillway.schedulers.model.machine import Machine, NodeSet
from spillway.schedulers.model.site import Partition, Site


def node_sets(site: Site, nodes: int) -> tuple[NodeSet, ...]:
    """The nodes of each partition of a site, on a machine with ``nodes`` nodes.

    Raises
    ------
    OptionError
        The site has another number of nodes, or a partition has nodes that the machine does not have.
    """
    if site.nodes and site.nodes != nodes:
        raise OptionError(
            f"the site {shown(site.name)} has {site.nodes} nodes and the platform {nodes}: choose a platform with "
            f"{site.nodes} nodes, or another site file"
        )
    found = []
    for partition in site.partitions:
        places = parse_intervals(partition.nodes) if partition.nodes else range(nodes)
        if not places or places[-1] >= nodes:
            raise OptionError(
                f"partition {shown(partition.name)} has the nodes {shown(partition.nodes)}, the platform's are 0 to "
                f"{nodes - 1}: choose a platform with more nodes, or correct the site file"
            )
        found.append(NodeSet(partition.name, frozenset(places), partition.tier))
    return tuple(found)


class Partitions:
    """Finds the partitions of jobs.

    Parameters
    ----------
    site
        Its partitions, and the accounts and QOS of users.
    machine
        The machine, with the partitions' nodes in the same order.
    placement
        Choice of nodes and storage nodes for a request.
    """

    def __init__(self, site: Site, machine: Machine, placement: Placement) -> None:
        self._partitions = partitions = site.partitions
        self._charging = Charging(site)
        self._machine = machine
        self._places = {partition.name: place for place, partition in enumerate(partitions)}
        self._default = tuple(place for place, partition in enumerate(partitions) if partition.default)
        self._empty = Timeline(machine, 0.0, placement) if partitions else None

    def assign(self, job: Job) -> tuple[Job, str | None]:
        """Add the partitions that a job may use; also return the reason why it may use no partition, or ``None``.

        The job must be feasible on the machine as a whole.
        """
        if self._empty is None or not job.nodes:
            return job, None
        named = job.extras.get(PARTITION_FIELD)
        if named is None:
            places: Iterable[int] = self._default
            if not self._default:
                return job, f"it names no partition (field {PARTITION_FIELD!r}), and the site has no default partition"
        else:
            names = [name.strip() for name in str(named).split(",")]
            unknown = [name for name in names if name not in self._places]
            if unknown:
                known = ", ".join(self._places)
                return job, f"partition {shown(unknown[0])} is unknown; the site has {known}"
            places = [self._places[name] for name in names]
        usable, reasons = [], []
        for place in dict.fromkeys(places):
            reason = self._reason(job, place)
            if reason is None:
                usable.append(place)
            else:
                reasons.append(f"partition {self._partitions[place].name}: {reason}")
        if not usable:
            return job, "; ".join(reasons)
        if job.walltime_s == math.inf:
            default_s = max(self._default_s(place) for place in usable)
            job = replaced(job, walltime_s=default_s, default_walltime=default_s < math.inf)
        return replaced(job, partitions=tuple(usable)), None

    def _default_s(self, place: int) -> float:
        """Walltime of jobs that state no walltime (s)."""
        partition = self._partitions[place]
        default_s = partition.longest_s if partition.default_s is None else partition.default_s
        return math.inf if default_s is None else default_s

    def _reason(self, job: Job, place: int) -> str | None:
        """The reason why a job may not use a partition, now or ever; ``None`` if it may."""
        partition, nodes = self._partitions[place], len(self._machine.partitions[place].nodes)
        if not partition.accepting:
            return "it takes no jobs"
        barred = self._barred(partition, job)
        if barred is not None:
            return barred
        if partition.most_nodes is not None and job.nodes > partition.most_nodes:
            return f"{job.nodes} nodes > {partition.most_nodes}, the most of a job there"
        if job.nodes < partition.fewest_nodes:
            return f"{job.nodes} nodes < {partition.fewest_nodes}, the fewest of a job there"
        if partition.longest_s is not None and math.inf > job.walltime_s > partition.longest_s:
            return f"walltime {job.walltime_s:.10g} s > {partition.longest_s:.10g} s, the longest there"
        if job.nodes > nodes:
            return f"{job.nodes} nodes > {nodes}"
        if not job.bb_bytes and not job.io_rate and not any(job.pools):
            return None
        assert self._empty is not None
        if self._empty.fit_now(replaced(job, partitions=(place,)), 1.0) is None:
            return f"its {nodes} nodes cannot serve the job's burst buffer and bandwidth, even when all are free"
        return None

    def _barred(self, partition: Partition, job: Job) -> str | None:
        """The reason why a partition does not accept the job's account or QOS; ``None`` if it does.

        An account includes those below it; where a partition lists allowed accounts (or QOS), denied ones are ignored.
        """
        charging = self._charging
        account = charging.account(job.account, job.user)
        qos = charging.qos(job.account, job.user, job.qos)
        for what, value, own, only, never in (
            ("account", account, (account, *charging.above(account)), partition.accounts, partition.not_accounts),
            ("QOS", qos, (qos,), partition.only_qos, partition.not_qos),
        ):
            if only and not any(partition in only for partition in own):
                return f"it takes only jobs of the {what} {', '.join(only)}, not of {shown(value)}"
            if not only and any(partition in never for partition in own):
                return f"it takes no jobs of the {what} {shown(value)}"
        return None
