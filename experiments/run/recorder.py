"""Files of a run besides Batsim's own: allocations, rejections, outages, preemptions, drains, persistent buffers."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TextIO

from spillway.base import durable
from spillway.core import AllocationTable, Resource
from spillway.protocol.intervals import format_intervals
from spillway.schedulers.core.cancellations import REASONS
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.view import Holding, Running

_ALLOCATION_COLUMNS = (
    "job_id",
    "workload_name",
    "user",
    "nodes",
    "allocated_resources",
    "bb_bytes",
    "storages",
    "start_s",
)
_PARTITION = "partition"
"""Further column, written only if the site has partitions: the one in which the job runs."""

LIVES_COLUMNS = ("node_lives", "storage_lives", "bandwidth_lives")
"""Further columns, written only if a job held a resource over an interval of its own.

Resources with their intervals: ``WHAT@START-END`` separated by ``;`` (nodes and storages as in the columns before; for
bandwidth the nodes for which it was held). Empty if a job held all of a kind from its start to its end.
"""

_REJECTION_COLUMNS = ("job_id", "workload_name", "time_s", "reason")


_OUTAGE_COLUMNS = ("job_id", "workload_name", "time_s", "what", "reason", "lost_node_s")
"""Columns of ``outages.csv``, which is written only if an outage had consequences for a running job.

``lost_node_s``: node-seconds that the attempt held and no later attempt can use.
"""


_PREEMPTION_COLUMNS = ("job_id", "workload_name", "told_s", "time_s", "what", "by", "lost_node_s")
"""Columns of ``preemptions.csv``, which is written only if running jobs were preempted.

``told_s``, ``time_s``: times at which the job was chosen and at which it had ended; ``what``: killed, or requeued with
the new name; ``by``: full id of the other job; ``lost_node_s`` as in ``outages.csv``.
"""


_DRAIN_COLUMNS = ("time_s", "storage", "drained_bytes", "left_bytes")
"""Columns of ``drains.csv``, which is written only if a part of a storage node was drained.

From ``time_s`` on no job got ``drained_bytes`` of a storage node; ``left_bytes`` were free at that time, or, if
negative, had to be returned before any byte was free.
"""


_DEPENDENCY_COLUMNS = ("job_id", "workload_name", "submitted_s", "eligible_s", "depends")
"""Columns of ``dependencies.csv``, written only if other jobs held a job: its times and its stated dependencies."""


_PERSISTENT_COLUMNS = ("name", "user", "created_by", "bytes", "storages", "created_s", "destroyed_by", "destroyed_s")
"""Columns of ``persistent.csv``, which is written only if a persistent buffer was created; in order of creation.

``created_by``, ``destroyed_by``: full ids of jobs; the last two columns are empty for a buffer that existed at the end.
"""


STRANDED = "it never started: hosts that it needs were out to the end"


class Recorder(Observer):
    """Writes ``allocations.csv``, whose rows the core makes, and ``rejections.csv`` while the session runs.

    Parameters
    ----------
    folder
        The run's folder.

    Attributes
    ----------
    cancelled
        Name and workload of the jobs that their users cancelled while they waited.
    """

    def __init__(self, folder: Path) -> None:
        self._allocations = open_table(folder / "allocations.csv")
        self._rejections = open_table(folder / "rejections.csv")
        self._rejection_rows = csv.writer(self._rejections, lineterminator="\n")
        self._rejection_rows.writerow(_REJECTION_COLUMNS)
        self._folder = folder
        self.cancelled: set[tuple[str, str]] = set()
        self._evicted: dict[str, list[Holding]] = {}
        self._lives: dict[tuple[str, str], tuple[str, ...]] = {}
        self._struck: list[tuple[str, ...]] = []
        self._released: list[tuple[str, ...]] = []
        self._preempted: list[tuple[str, ...]] = []
        self._drains: list[tuple[str, ...]] = []
        self._persistent: list[list[str]] = []
        self._machine: Machine
        self._storage_ids: list[int] = []

    def opened(self, machine: Machine) -> None:
        """Set the machine, whose resource ids are written."""
        self._machine = machine
        self._storage_ids = [storage.resource_id for storage in machine.storages]
        columns = (*_ALLOCATION_COLUMNS, *([_PARTITION] if machine.partitions else []))
        self._allocations.write(",".join(columns) + "\n")
        self.allocation_table = AllocationTable(
            [node.resource_id for node in machine.nodes],
            self._storage_ids,
            [(partition.name, sorted(partition.nodes)) for partition in machine.partitions],
            self._allocations.write,
        )

    def released(self, job: Job, now_s: float) -> None:
        """Record the time for which other jobs held a job."""
        depends = str(job.extras.get("depends", ""))
        self._released.append((job.name, job.workload, f"{now_s - job.held_s:.6f}", f"{now_s:.6f}", depends))

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Record the reason of a rejection."""
        self._rejection_rows.writerow((job.name, job.workload, f"{now_s:.6f}", reason))
        if reason in REASONS:
            self.cancelled.add((job.name, job.workload))

    def stranded(self, name: str, now_s: float) -> None:
        """Record that a job never started, because hosts that it needs were out to the end."""
        self._rejection_rows.writerow((name, "w0", f"{now_s:.6f}", STRANDED))

    def ended_apart(self, running: Running, now_s: float) -> None:
        """Record the intervals of the resources of a job that has ended, if they differ."""
        early = self._evicted.pop(running.job.id, [])
        apart = running.apart
        if early or running.past or (apart and any(part.start_s < running.start_s for part in apart)):
            held = [
                Holding(holding.covering, holding.allocation, holding.start_s, now_s) for holding in running.holdings
            ]
            job, whole = running.job, (running.start_s, now_s)
            self._lives[job.name, job.workload] = self._lives_of([*early, *running.past, *held], whole)

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """Record the interval in which a waiting job held a burst buffer that it lost."""
        self._evicted.setdefault(job.id, []).append(holding)

    def interrupted(self, job: Job, what: str, reason: str, now_s: float, lost_node_s: float = 0.0) -> None:
        """Record the effect of an outage on a running job."""
        self._struck.append((job.name, job.workload, f"{now_s:.6f}", what, reason, f"{lost_node_s:.6f}"))

    def preempted(self, job: Job, by: str, what: str, told_s: float, now_s: float, lost_node_s: float) -> None:
        """Record that a job was preempted by another one."""
        times = f"{told_s:.6f}", f"{now_s:.6f}"
        self._preempted.append((job.name, job.workload, *times, what, by, f"{lost_node_s:.6f}"))

    def drained(self, storage: str, drained_bytes: int, left_bytes: int, now_s: float) -> None:
        """Record the drained bytes of a storage node."""
        self._drains.append((f"{now_s:.6f}", storage, str(drained_bytes), str(left_bytes)))

    def created(self, buffer: PersistentBuffer, now_s: float) -> None:
        """Record a persistent buffer."""
        allocation = buffer.allocation
        size, storages = str(len(allocation.storages) * allocation.bb_bytes), self._storages(allocation)
        self._persistent.append([buffer.name, buffer.user, buffer.creator, size, storages, f"{now_s:.6f}", "", ""])

    def destroyed(self, buffer: PersistentBuffer, job: Job, now_s: float) -> None:
        """Record the end of a persistent buffer, the last one of its name."""
        row = next(row for row in reversed(self._persistent) if row[0] == buffer.name)
        row[-2:] = job.id, f"{now_s:.6f}"

    def close(self) -> None:
        """Finish the files."""
        for name, columns, rows in (
            ("dependencies.csv", _DEPENDENCY_COLUMNS, self._released),
            ("outages.csv", _OUTAGE_COLUMNS, self._struck),
            ("preemptions.csv", _PREEMPTION_COLUMNS, self._preempted),
            ("drains.csv", _DRAIN_COLUMNS, self._drains),
            ("persistent.csv", _PERSISTENT_COLUMNS, self._persistent),
        ):
            if rows:
                with open_table(self._folder / name) as stream:
                    csv.writer(stream, lineterminator="\n").writerows((columns, *rows))
        if self.allocation_table is not None:
            self.allocation_table.settle()
        self._allocations.close()
        self._rejections.close()
        if self._lives:
            self._add_lives(self._folder / "allocations.csv")

    def _lives_of(self, held: list[Holding], whole: tuple[float, float]) -> tuple[str, ...]:
        """Fields of :data:`LIVES_COLUMNS`: empty for a kind that was held as a whole over the job's interval."""
        fields = []
        for kind, show in (
            (Resource.NODES, self._nodes),
            (Resource.BURST_BUFFERS, self._storages),
            (Resource.BANDWIDTH, lambda part: self._nodes(part) if part.io_rate else ""),
        ):
            parts = [
                (show(holding.allocation), holding.start_s, holding.end_s)
                for holding in held
                if kind in holding.covering
            ]
            shown = [part for part in parts if part[0] and part[1] < part[2]]
            apart = any((start_s, end_s) != whole for _, start_s, end_s in shown)
            texts = [f"{what}@{start_s:.6f}-{end_s:.6f}" for what, start_s, end_s in shown] if apart else []
            fields.append(";".join(texts))
        return tuple(fields)

    def _add_lives(self, path: Path) -> None:
        with path.open(encoding="utf-8", newline="") as stream:
            header, *rows = csv.reader(stream)
        with open_table(path) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow((*header, *LIVES_COLUMNS))
            nothing = ("",) * len(LIVES_COLUMNS)
            writer.writerows((*row, *self._lives.get((row[0], row[1]), nothing)) for row in rows)

    def _nodes(self, allocation: Allocation) -> str:
        return format_intervals(self._machine.alloc_ids(allocation.nodes))

    def _storages(self, allocation: Allocation) -> str:
        counts: dict[int, int] = {}
        for storage in map(self._storage_ids.__getitem__, allocation.storages):
            counts[storage] = counts.get(storage, 0) + 1
        return " ".join([f"{storage}:{count}" for storage, count in sorted(counts.items())])


def write_machine(machine: Machine, path: Path) -> None:
    """Write ``machine.json``: compute and storage nodes in the order of their places.

    Storage nodes have a ``group`` (the outermost part of their location) if the machine has several groups.
    """
    grouped = len({storage.location[:1] for storage in machine.storages}) > 1 and all(
        len(storage.location) > 1 for storage in machine.storages
    )
    data = {
        "nodes": [{"id": node.resource_id, "name": node.name} for node in machine.nodes[: machine.width]],
        "storages": [
            {"id": storage.resource_id, "name": storage.name, "capacity_bytes": storage.capacity_bytes}
            | ({"group": storage.location[0]} if grouped else {})
            for storage in machine.storages
        ],
    }
    durable.write_text(path, json.dumps(data, indent=1) + "\n", sync=False)


def open_table(path: Path) -> TextIO:
    """Open a table of a run for writing; its folder is sealed later."""
    return durable.open_text(path)
