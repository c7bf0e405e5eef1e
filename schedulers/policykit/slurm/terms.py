"""Constant terms of a job's priority, from its request: site, size, partition, QOS, TRES, nice.

A job that may run in several partitions has the tier and the factor of the best of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from spillway.schedulers.model.job import CPUS_FIELD, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.site import Partition, Site, cpus_of_nodes

_MOST_NICE = 2_147_483_645
PLAYED_FLAGS = frozenset(
    {
        *("FAIR_TREE", "ACCRUE_ALWAYS", "CALCULATE_RUNNING"),
        *("NO_NORMAL_ALL", "NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS"),
    }
)
"""Flags (``PriorityFlags``) that are played; ``CALCULATE_RUNNING`` is for running jobs, without priorities here."""

_EVERYWHERE = Partition("", tier=0, factor=0)
"""Partition of a job without one."""


class FixedTerms(NamedTuple):
    """Weighted terms of a job, and the tier of its partition.

    Attributes
    ----------
    size, allocated_size
        By the CPUs that it requests, and by those that it gets with its whole nodes.
    """

    site: float
    size: float
    allocated_size: float
    partition: float
    qos: float
    nice: float
    tres: float
    tier: int


class _Amounts(NamedTuple):
    """Nodes of a partition, and their CPUs."""

    nodes: int
    cpus: int


class Terms:
    """The terms of a site's jobs.

    Parameters
    ----------
    site
        The site, with weights, partitions and qualities of service.
    machine
        Sizes are relative to this machine.
    qos_of
        The QOS of a job.
    """

    def __init__(self, site: Site, machine: Machine, qos_of: Callable[[Job], str]) -> None:
        self._weights = site.weights
        cpus = cpus_of_nodes(site, machine.width)
        self._whole = _Amounts(machine.width, sum(cpus))
        self._partitions = site.partitions
        self._amounts = [
            _Amounts(len(partition.nodes), sum(cpus[node] for node in partition.nodes))
            for partition in machine.partitions
        ]
        self._several_cpus = bool(site.cpus)
        self._partition_part = relative(site, "PART", (partition.factor for partition in site.partitions))
        self._qos = {qos.name: qos.priority for qos in site.qos}
        self._qos_part = relative(site, "QOS", self._qos.values())
        self._qos_of = qos_of
        self._licenses = {license_.name: (place, license_.count) for place, license_ in enumerate(site.licenses)}
        self._buffer_bytes = sum(storage.capacity_bytes for storage in machine.storages)
        played = {name: share for name in site.weights.tres if (share := self._share_of(name)) is not None}
        self._tres = [(site.weights.tres[name], share) for name, share in played.items()]
        not_played = ", ".join(name for name in site.weights.tres if name not in played)
        self._assumed = [f"not played, with TRES factors of 0: {not_played}"] if not_played else []
        self._assumed += [f"not played: {flag}" for flag in site.weights.flags if flag not in PLAYED_FLAGS]

    def of(self, job: Job, place: int | None = None) -> tuple[FixedTerms, list[str]]:
        """Terms of a job in the partition at ``place`` or in the best of its own, and assumptions as texts."""
        weights, assumed = self._weights, [*self._assumed]
        partition, amounts = self._best_of(job.partitions if place is None else (place,))
        nice = max(-_MOST_NICE, min(_whole(job, "nice"), _MOST_NICE))
        fixed = FixedTerms(
            site=float(_whole(job, "site_factor")),
            size=weights.size * self._size(job, self._cpus(job)),
            allocated_size=weights.size * self._size(job, job.nodes * _part(amounts.cpus, amounts.nodes)),
            partition=weights.partition * self._partition_part(partition.factor),
            qos=weights.qos * self._qos_factor(job, assumed),
            nice=float(nice),
            tres=sum((weight * min(share(job, amounts), 1.0) for weight, share in self._tres), 0.0),
            tier=partition.tier,
        )
        return fixed, assumed

    def _best_of(self, partitions: tuple[int, ...]) -> tuple[Partition, _Amounts]:
        """The best of some partitions, and its nodes and CPUs."""
        if not partitions:
            return _EVERYWHERE, self._whole
        best = max(partitions, key=lambda one: (self._partitions[one].tier, self._partitions[one].factor))
        return self._partitions[best], self._amounts[best]

    def _qos_factor(self, job: Job, assumed: list[str]) -> float:
        name = self._qos_of(job)
        if name not in self._qos and self._weights.qos:
            assumed.append(f"the site has no QOS {name!r}: the factor is 0")
        return self._qos_part(self._qos.get(name, 0))

    def _cpus(self, job: Job) -> int:
        """CPUs that a job requests: one for each of its nodes if it states no number, or the site has none."""
        return max(_whole(job, CPUS_FIELD), job.nodes) if self._several_cpus else job.nodes

    def _size(self, job: Job, cpus: float) -> float:
        """Factor of size: mean of the shares of nodes and of CPUs; relative to the walltime the larger one counts."""
        shares = _part(job.nodes, self._whole.nodes), _part(cpus, self._whole.cpus)
        share = min(sum(shares) / 2.0, 1.0)
        if self._weights.small_relative_to_time:
            share = max(shares) / max(math.ceil(job.walltime_s / 60.0), 1) if job.walltime_s < math.inf else 0.0
        return max(1.0 - share, 0.0) if self._weights.favor_small else share

    def _share_of(self, resource: str) -> Callable[[Job, _Amounts], float] | None:
        """Function for a job's share of a resource in a partition; ``None`` for a resource not played."""
        kind, _, name = resource.partition("/")
        if kind == "node":
            return lambda job, amounts: _part(job.nodes, amounts.nodes)
        if kind == "cpu":
            return lambda job, amounts: _part(self._cpus(job), amounts.cpus)
        if kind == "bb":
            return lambda job, _: _part(job.bb_bytes * job.requests, self._buffer_bytes)
        if kind == "license" and name in self._licenses:
            place, count = self._licenses[name]
            return lambda job, _: _part(job.pools[place] if place < len(job.pools) else 0, count)
        return None


def relative(site: Site, what: str, values: Iterable[int]) -> Callable[[int], float]:
    """Function from a value to a factor: relative to the largest value, or (``NO_NORMAL_...``) unchanged."""
    if not {"NO_NORMAL_ALL", f"NO_NORMAL_{what}"}.isdisjoint(site.weights.flags):
        return float
    most = max(values, default=0)
    return lambda value: _part(value, most)


def _whole(job: Job, field: str) -> int:
    value: Any = job.extras.get(field)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _part(value: float, whole: float) -> float:
    return value / whole if whole > 0 else 0.0
