"""Pack scheduling: jobs in packs that start together, one pack after the other; later jobs fill a pack's idle nodes.

Jobs join a pack in some order: each must find free nodes, and must not raise the pack's average I/O bandwidth (bytes of
all its jobs over its duration) above that of the file system, nor the average over one link (an I/O node's, say) above
the link's. Where the nodes given by the rule of placement are below a link without average bandwidth left, the job gets
other nodes. Filling one pack after the other from the same order is the paper's first fit into existing packs, as the
nodes and bandwidth left in a pack for a job depend only on the jobs before it. So packs need not be planned ahead, and
jobs may arrive at any time.

References
----------
Jeannot, Pallez, Vidal, *IO-aware Job-Scheduling*, IJHPCA 2023 (DOI 10.1177/10943420231175854), sections "I/O-aware
Pack-Scheduling", "Variants for building packs", "Backfilling".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from spillway.base.options import option
from spillway.core import Resource
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.operations import operations_of
from spillway.schedulers.policykit.passes import start_on
from spillway.schedulers.policykit.view import View

_NOTEBOOK = "pack"
_SLACK = 1e-9
"""Relative rounding error that the constraint on averages allows."""


class PackJob(NamedTuple):
    """A job with the values by which packs are built.

    Attributes
    ----------
    job
        The job.
    duration_s
        Expected duration.
    io_bytes
        Bytes that it transfers: those of its operations, else its average rate times its duration.
    characteristic_s
        Mean time from one transfer to the next: a compute phase and the I/O phase after it.
    """

    job: Job
    duration_s: float
    io_bytes: float
    characteristic_s: float


@dataclass(slots=True)
class RunningPack:
    """The running pack.

    Attributes
    ----------
    start_s, end_s
        Start, and expected end of its last job.
    io_bytes
        Bytes of all its jobs.
    members
        Ids of its jobs, the backfilled among them.
    transfers
        Nodes and bytes per node of each job with transfers.
    loads
        Bytes of all its jobs that cross each link.
    """

    start_s: float
    end_s: float
    io_bytes: float = 0.0
    members: set[str] = field(default_factory=set)
    transfers: list[tuple[tuple[int, ...], float]] = field(default_factory=list)
    loads: dict[int, float] = field(default_factory=dict)

    def add(self, facts: PackJob, nodes: tuple[int, ...], machine: Machine, now_s: float) -> None:
        """Add a job that starts in the pack, on these nodes."""
        self.end_s = max(self.end_s, now_s + facts.duration_s)
        self.io_bytes += facts.io_bytes
        self.members.add(facts.job.id)
        if facts.io_bytes:
            self.transfers.append((nodes, facts.io_bytes / len(nodes)))
            for link, size in loads(machine, nodes, facts.io_bytes).items():
                self.loads[link] = self.loads.get(link, 0.0) + size

    def duration_with(self, facts: PackJob, now_s: float) -> float:
        """Duration of the pack with one more job."""
        return max(self.end_s, now_s + facts.duration_s) - self.start_s


Key = Callable[[PackJob], float]

ORDERS: Mapping[str, Key] = {
    "random": lambda facts: facts.job.number,
    "longest": lambda facts: -facts.duration_s,
    "characteristic": lambda facts: facts.characteristic_s,
}
"""Orders in which packs are built: as submitted (the paper's Random: no sorting), longest first (Max), shortest
characteristic time first (Char)."""

_CONSTRAINTS = ("average", "strict", "none")


@dataclass(frozen=True)
class Pack:
    """Start jobs in packs; the next pack starts when the last job of the running pack has ended."""

    source: ClassVar[str] = "Jeannot, Pallez, Vidal 2023, I/O-aware Pack-Scheduling"

    order: str = option("longest", choices=tuple(ORDERS), help="order in which jobs are put into packs")
    constraint: str = option(
        "average",
        choices=_CONSTRAINTS,
        help="bound on a pack's I/O by the file system's bandwidth: on the average over the pack, or on the sum of the "
        "jobs' average rates at every time",
    )
    backfilling: bool = option(True, help="whether later jobs fill nodes that idle until the pack's expected end")

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass: fill the running pack, or start the next."""
        if not view.queue:
            return
        pack: RunningPack | None = view.notebook.get(_NOTEBOOK)
        at_work = {*(running.job.id for running in view.running), *view.held}  # also those that stage in
        if pack is None or at_work.isdisjoint(pack.members):
            view.notebook[_NOTEBOOK] = pack = RunningPack(view.now_s, view.now_s)
            yield from self._start(view, pack, math.inf, Role.STARTED)
        elif self.backfilling and view.now_s < pack.end_s:
            yield from self._start(view, pack, pack.end_s, Role.BACKFILLED)
        elif view.notes is not None:
            for job in view.queue:
                view.notes.write(job.id, Role.PASSED_OVER, Binding.ORDER)

    def _start(self, view: View, pack: RunningPack, latest_s: float, role: Role) -> Iterator[Start]:
        """Start in order the jobs that fit beside the pack's jobs and are expected to end by ``latest_s``."""
        averaging = self.constraint == "average"
        covering = Resource.ALL if self.constraint == "strict" else ~Resource.BANDWIDTH
        bandwidth = _file_system_bandwidth(view.machine) if averaging else math.inf
        free = view.timeline.free_nodes_now()
        for fact in sorted(_facts(view), key=lambda one: (ORDERS[self.order](one), one.job.number)):
            job, binding = fact.job, Binding.NODES
            if job.nodes <= free or job.lives is not None:
                binding = Binding.ORDER
                if view.now_s + fact.duration_s <= latest_s:
                    binding = Binding.BANDWIDTH
                    if admits(pack, fact, view.now_s, bandwidth):
                        allocation = view.timeline.fit_now(job, fact.duration_s, covering)
                        if allocation is None:
                            binding = Binding.RESERVATION
                        elif averaging:
                            allocation = _within_averages(view, pack, fact, allocation)
                        if allocation is not None:
                            pack.add(fact, allocation.nodes, view.machine, view.now_s)
                            yield start_on(view, job, allocation, role)
                            free = view.timeline.free_nodes_now()
                            continue
            if view.notes is not None:
                view.notes.write(job.id, Role.PASSED_OVER, binding)
            elif free == 0 and not view.stages_first:
                return


def admits(pack: RunningPack, facts: PackJob, now_s: float, bandwidth: float) -> bool:
    """Whether a pack's average bandwidth stays within the file system's with one more job; always for the first one."""
    if not pack.members or bandwidth == math.inf:
        return True
    return pack.io_bytes + facts.io_bytes <= bandwidth * pack.duration_with(facts, now_s) * (1 + _SLACK)


def _within_averages(view: View, pack: RunningPack, facts: PackJob, allocation: Allocation) -> Allocation | None:
    """Allocation of a job that exceeds no link's average: as placed, else on other nodes, else ``None``.

    The first job of a pack starts as placed, as it may exceed the averages.
    """
    if not facts.io_bytes or all(link.parent < 0 for link in view.machine.links):
        return allocation  # the file system's own average is already checked
    duration_s = pack.duration_with(facts, view.now_s)
    if carries(view.machine, pack, facts, allocation.nodes, duration_s):
        return allocation
    other = _elsewhere(view, pack, facts, duration_s)
    if other is not None and carries(view.machine, pack, facts, other.nodes, duration_s):
        return other
    return None if pack.members else allocation


def carries(machine: Machine, pack: RunningPack, facts: PackJob, nodes: tuple[int, ...], duration_s: float) -> bool:
    """Whether every link's average over a pack of this duration stays within its bandwidth with one more job."""
    return all(
        pack.loads.get(link, 0.0) + size <= machine.links[link].capacity_bytes_per_s * duration_s * (1 + _SLACK)
        for link, size in loads(machine, nodes, facts.io_bytes).items()
    )


def loads(machine: Machine, nodes: tuple[int, ...], io_bytes: float) -> dict[int, float]:
    """Bytes across each link above these nodes, if each node transfers an equal part."""
    found: dict[int, float] = {}
    for innermost, count in Counter(machine.node_link[list(nodes)].tolist()).items():
        link = innermost
        while link >= 0:
            found[link] = found.get(link, 0.0) + io_bytes * count / len(nodes)
            link = machine.links[link].parent
    return found


def _elsewhere(view: View, pack: RunningPack, facts: PackJob, duration_s: float) -> Allocation | None:
    """Nodes below links with average bandwidth left: a fit on a timeline in which averages are booked."""
    timeline, job = view.timeline.copy(), facts.job
    end_s = view.now_s + facts.duration_s
    try:
        for nodes, size in pack.transfers:
            average = Allocation(nodes, io_rate=int(size / duration_s))
            timeline.reserve(view.now_s, end_s, average, Resource.BANDWIDTH)
    except ValueError:
        return None  # the first job exceeds an average by itself
    io_rate = int(facts.io_bytes / job.nodes / duration_s)
    found = timeline.fit_now(replaced(job, io_rate=io_rate), facts.duration_s)
    return None if found is None else replaced(found, io_rate=0)


def _file_system_bandwidth(machine: Machine) -> float:
    """Bandwidth of the outermost links (bytes per second); infinite where the platform states no links."""
    roots = [link.capacity_bytes_per_s for link in machine.links if link.parent < 0]
    return float(sum(roots)) if roots else math.inf


def facts_of(job: Job, duration_s: float, bandwidth: float) -> PackJob:
    """Volume and characteristic time from the job's profile and its average rate."""
    operations = operations_of(job.profile)
    if operations is None:
        volume = job.io_rate * job.nodes * duration_s if job.io_rate else 0.0
        return PackJob(job, duration_s, volume, duration_s)
    return PackJob(job, duration_s, operations.io_bytes, operations.characteristic_s(bandwidth))


def _facts(view: View) -> list[PackJob]:
    """Facts of the waiting jobs."""
    bandwidth = _file_system_bandwidth(view.machine)
    return [facts_of(job, view.estimate_s(job), bandwidth) for job in view.queue]
