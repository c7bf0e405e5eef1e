"""Gang scheduling and its I/O-aware variants: one algorithm, with options for placement and migration.

The machine in this policy's view has a row of nodes per time slice; a job holds the cells of its home row and of the
rows that it is replicated to. The matrix is recomputed with every arrival and departure. A job gets a row only if its
burst buffer fits on the storage nodes now, and holds the buffer until it ends. Rows run one at a time: the streams of
each row may use the full bandwidth of every link, and no row exceeds it.

References
----------
Zhang, Yang, Sivasubramaniam, Moreira, *Gang scheduling extensions for I/O intensive workloads*, JSSPP 2003, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

from spillway.base.options import option
from spillway.core import GangMatrix, GangPlace, StorageOrder
from spillway.schedulers.model.decisions import Arrange, Decision, Reject, Start
from spillway.schedulers.model.explanations import Binding, PassNotes, Role
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timesharing.bandwidth import FreeBandwidth, Links
from spillway.schedulers.timesharing.columns import columns_of, mask_of
from spillway.schedulers.timesharing.files import file_columns
from spillway.schedulers.timesharing.rules import PlacementColumns, Queue, Rules
from spillway.schedulers.timesharing.sharing import Costs, MigrationStart, Sharing
from spillway.schedulers.timesharing.slices import Slices, to_us

_MATRIX, _SLICE, _MOVED = "matrix", "slice", "moved"


class _Request(NamedTuple):
    """A job that waits for a place: number, tasks, mask of the columns with its file, bytes per second of a task."""

    job: int
    size: int
    files: int
    rate: int


@dataclass(frozen=True)
class Gang:
    """Jobs take turns in the rows of a matrix that is recomputed when a job arrives or ends."""

    source: ClassVar[str] = "Zhang et al. 2003, section 3"

    quantum: float = option(200.0, unit="s", low=1e-3, high=1e9, help="length of a time slice")
    level: int = option(5, low=1, high=64, help="rows of the matrix: jobs that can share a node")
    where: PlacementColumns = option(
        PlacementColumns.ANYWHERE, help="nodes for a job: any, those of its file, or those of its file first"
    )
    queue: Queue = option(
        Queue.STOP, help="whether a job that fits nowhere blocks the jobs behind it (section 3.2), or they are tried"
    )
    migrate: bool = option(False, help="whether jobs elsewhere are moved to their file's nodes when those are free")
    migration_start: MigrationStart = option(
        MigrationStart.NEXT_QUANTUM,
        help="when a moved job restarts: with the next slice (section 3.6), or at once",
    )
    migration_cost: float = option(20.0, unit="s", low=0.0, high=1e9, help="time of restarting a job that was moved")
    migration_limit: int = option(64, unit="tasks", low=0, high=1_000_000, help="most tasks that move in one slice")
    local_cost: float = option(0.03, unit="s", low=0.0, high=1e6, help="time of a block on the task's own node")
    remote_cost: float = option(0.09, unit="s", low=0.0, high=1e6, help="time of a block on another node")

    def sharing(self) -> Sharing:
        """Slices and costs of sharing nodes (:class:`spillway.schedulers.timesharing.sharing.NodeSharingPolicy`)."""
        costs = Costs(to_us(self.local_cost), to_us(self.remote_cost), to_us(self.migration_cost))
        return Sharing(Slices(self.level, to_us(self.quantum)), costs, self.migration_start)

    def rules(self) -> Rules:
        """Rules of the matrix algorithm, from the options."""
        return Rules(self.where, self.migrate, self.queue)

    def __call__(self, view: View) -> Iterable[Decision]:
        """Recompute the matrix: move jobs in it, start waiting jobs that fit."""
        machine, notebook = view.machine, view.notebook
        running = {entry.job.number: entry for entry in view.running}
        never = self._never(view)
        yield from (Reject(job, _NEVER) for job in never)
        queue = [job for job in view.queue if job not in never] if never else view.queue
        buffers = _Buffers(view)
        last: GangMatrix = notebook.get(_MATRIX) or _empty(view)
        matrix = last.without([place.job for place in last.places if place.job not in running])
        requests = [_request(view, job) for job in queue]
        slice_number = self.sharing().slices.number(to_us(view.now_s))
        if notebook.get(_SLICE) != slice_number:
            notebook[_SLICE], notebook[_MOVED] = slice_number, 0
        left, closed = self.migration_limit - notebook[_MOVED], _closed(view)
        outcome = matrix.recompute(requests, self.rules().of_core, left, closed, buffers.hold)
        notebook[_MATRIX] = matrix
        notebook[_MOVED] += outcome.tasks
        moved = tuple(
            (running[place.job].job, _moved(running[place.job].allocation, place, machine.width))
            for place in outcome.changed
        )
        if moved:
            yield Arrange(moved)
        if view.notes is not None:
            lacking = partial(self._lacking, matrix=matrix, buffers=buffers, closed=closed)
            self._explain(view.notes, view, requests, {place.job for place in outcome.started}, lacking)
        waiting = {job.number: job for job in queue} if outcome.started else {}
        for place in outcome.started:
            job = waiting[place.job]
            storages = buffers.given.get(job.number, ())
            nodes, striped = place.nodes(machine.width), job.stripes > 0
            yield Start(job, Allocation(nodes, storages, job.bb_bytes, place.rate, striped=striped))

    def _explain(
        self,
        notes: PassNotes,
        view: View,
        requests: Sequence[_Request],
        taken: Collection[int],
        lacking: Callable[[_Request], Binding],
    ) -> None:
        """Note the resource that each tried job lacks; jobs that were not tried wait for them."""
        names, tried = {job.number: job.id for job in view.queue}, True
        for request in requests:
            if request.job in taken:
                notes.write(names[request.job], Role.STARTED, estimate_s=view.now_s)
                continue
            notes.write(names[request.job], Role.PASSED_OVER, lacking(request) if tried else Binding.ORDER)
            tried = self.queue is Queue.SCAN

    def _lacking(self, request: _Request, *, matrix: GangMatrix, buffers: _Buffers, closed: int) -> Binding:
        """Resource that kept a job out of every row: bandwidth if it would get a row without its streams."""
        if request.job in buffers.lacking:
            return Binding.BURST_BUFFERS
        if not request.rate:
            return Binding.NODES
        other = matrix.without([])
        other.clean(closed)
        fits = other.schedule([request._replace(rate=0)], self.where.code, closed=closed)
        return Binding.BANDWIDTH if fits else Binding.NODES

    def _never(self, view: View) -> list[Job]:
        """Waiting jobs bound to their file's nodes with I/O rates above the bandwidth of the links there."""
        if self.where is not PlacementColumns.FILES or not view.machine.links:
            return []
        asked = [job for job in view.queue if job.io_rate]
        if not asked:
            return []
        empty, width = FreeBandwidth(Links.of(view.machine)), view.machine.width
        return [job for job in asked if not empty.carries(0, file_columns(job, width), job.io_rate)]


_NEVER = (
    "the links above the nodes of its file ('file_nodes') do not carry its 'io_rate'; the policy puts it nowhere else"
)


def _empty(view: View) -> GangMatrix:
    links = Links.of(view.machine)
    return GangMatrix(view.machine.rows, view.machine.width, list(zip(links.below, links.bytes_per_s, strict=True)))


def _request(view: View, job: Job) -> _Request:
    """A waiting job; without links above the nodes it streams nothing that counts."""
    rate = job.io_rate if view.machine.links else 0
    return _Request(job.number, job.nodes, file_columns(job, view.machine.width), rate)


class _Buffers:
    """Places the burst buffers of the jobs that a pass adds to the matrix, in the bytes that are free now.

    All rows share the storage nodes: a job holds its buffer from its first slice to its last, also in slices of other
    rows. Its end is not known, so the order ``fullest-at-end`` uses the bytes that are free now.

    Attributes
    ----------
    given
        Storage nodes by job number, one for each of the job's columns or stripes.
    lacking
        Numbers of the jobs with a row, but no free storage for their buffer.
    """

    def __init__(self, view: View) -> None:
        self._jobs = {job.number: job for job in view.queue if job.bb_bytes}
        self._view = view
        self._free = view.timeline.free_storage_now() if self._jobs else []
        self._order = view.timeline.placement.storage_order if self._jobs else StorageOrder.NEAREST
        self.given: dict[int, tuple[int, ...]] = {}
        self.lacking: set[int] = set()

    def hold(self, number: int, columns: int) -> bool:
        """Place the buffer of a job on these columns, whole requests only; false if it does not fit now."""
        job = self._jobs.get(number)
        if job is None:
            return True
        storages = self._view.timeline.choose_storages(
            columns_of(columns), self._free, job.bb_bytes, self._order, job.stripes
        )
        if storages is None:
            self.lacking.add(number)
            return False
        for storage in storages:
            self._free[storage] -= job.bb_bytes
        self.given[number] = storages
        return True


def _moved(held: Allocation, place: GangPlace, width: int) -> Allocation:
    """A running job's allocation with other nodes; its burst buffer stays where it is, also when it migrates."""
    return Allocation(place.nodes(width), held.storages, held.bb_bytes, held.io_rate, striped=held.striped)


def _closed(view: View) -> int:
    """Columns of unavailable nodes: they take no further jobs, and their jobs stay."""
    width = view.machine.width
    return mask_of(node % width for node in view.unavailable)
