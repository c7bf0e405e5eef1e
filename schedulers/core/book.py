"""The book: the only record of the resources that each job holds, and until when; its first row is the present.

It is the compiled core's (``core/book/book.hpp``); here it gets the machine, its mappings by name, and its words.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import spillway.core as native
from spillway.base.errors import shown
from spillway.core import Resource, Timeline
from spillway.protocol.messages import JobState
from spillway.schedulers.core.feasible import in_gigabytes
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import CountedPool, Machine
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.estimates import Estimator, Walltimes
from spillway.schedulers.policykit.history import FinishedJob, FinishedJobs, Usage
from spillway.schedulers.policykit.view import Running

OVERDUE_S = 1e-3
"""Expected remaining time of a job that has outlived its estimate (s)."""

NOTHING = Allocation(())

STATES = tuple(JobState)
"""States of jobs by their number in the core."""

_Value = TypeVar("_Value")


def given_fault(code: int, node: int, job_id: str) -> str:
    """The fault of giving back resources of a job that it does not hold, by its number in the core."""
    return (
        f"job {shown(job_id)} holds nothing that could be given back",
        f"job {shown(job_id)} was expanded by node {node}: it can only be given back whole",
        f"job {shown(job_id)} holds nothing to give back for node {node}",
    )[code]


class JobResources(NamedTuple):
    """Resources of a job, kind by kind; each counts for its own kind only."""

    nodes: Allocation
    storage: Allocation
    links: Allocation


class RecordsById(Mapping[str, _Value]):
    """Records of the core by job id, read when they are asked for.

    Parameters
    ----------
    find
        Gives the record of an id, ``None`` if there is none.
    ids
        Gives all ids, in order.
    count
        Gives their number.
    """

    __slots__ = ("_count", "_find", "_ids")

    def __init__(
        self, find: Callable[[str], _Value | None], ids: Callable[[], Iterable[str]], count: Callable[[], int]
    ) -> None:
        self._find, self._ids, self._count = find, ids, count

    def __getitem__(self, job_id: str) -> _Value:
        found = self._find(job_id)
        if found is None:
            raise KeyError(job_id)
        return found

    def get(self, job_id: str, default: Any = None) -> Any:
        """The record of an id, or the default; without the exception of :class:`Mapping`."""
        found = self._find(job_id)
        return default if found is None else found

    def __contains__(self, job_id: object) -> bool:
        return self._find(job_id) is not None  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids())

    def __len__(self) -> int:
        return self._count()


class _EndedJobs(Sequence[FinishedJob]):
    """Jobs that have ended, made when they are read."""

    __slots__ = ("_log",)

    def __init__(self, log: native.FinishedLog) -> None:
        self._log = log

    def __len__(self) -> int:
        return len(self._log)

    def __getitem__(self, index: Any) -> Any:
        places = range(len(self._log))[index]
        return self._at(places) if isinstance(places, int) else [self._at(place) for place in places]

    def _at(self, place: int) -> FinishedJob:
        name, user, submit_s, start_s, end_s, walltime_s, nodes, state, *used, account, qos = self._log.row(place)
        usage, ended = Usage(*used), STATES[state].value
        return FinishedJob(name, user, submit_s, start_s, end_s, walltime_s, nodes, ended, usage, account, qos)


class Book(native.Book):
    """The book of one conversation. Entries must have been checked before.

    Parameters
    ----------
    machine
        The machine.
    timeline
        Free resources over time; its first row is the present.
    estimator
        Corrects the expected ends of jobs that outlive them.

    Attributes
    ----------
    running
        Running jobs by id, in order of their starts.
    held
        Burst buffers of waiting jobs by id.
    kept
        Persistent buffers by name.
    """

    def __init__(self, machine: Machine, timeline: Timeline, estimator: Estimator) -> None:
        super().__init__(timeline, None if type(estimator) is Walltimes else estimator)
        self.machine = machine
        self.running: Mapping[str, Running] = RecordsById(
            self.find_running,
            lambda: [job.job.id for job in self.running_jobs()],
            lambda: self.running_count,
        )
        self.held = RecordsById(self.find_held, self.held_ids, lambda: self.held_count)
        self.kept: dict[str, PersistentBuffer] = {}

    @property
    def holder(self) -> list[str | None]:
        """Id of the job that holds each node, or ``None``."""
        return [self.holder_of(node) for node in range(len(self.machine.nodes))]

    def finished(self) -> FinishedJobs:
        """Jobs that have ended, for a view."""
        log, first, total = self.finished_log
        return FinishedJobs(_EndedJobs(log), first, total)

    def usage(self, queue: Sequence[Job], now_s: float) -> Mapping[str, Usage]:
        """Usage of each user's jobs until now, for a view; ``queue``: the waiting jobs."""
        return {user: Usage(*used) for user, used in self.usage_by_user(queue, now_s)}

    def left_storage(self) -> list[int]:
        """Free bytes of every storage node; negative while a drained one holds more than the rest of its capacity."""
        left = self.timeline.free_storage_now()
        for storage in self.drained:
            left[storage] = self.left_bytes(storage)
        return left

    def widen(self, pools: tuple[CountedPool, ...]) -> None:
        """Append counted pools; ``pools`` has the present ones first, then the further ones."""
        self.machine = dataclasses.replace(self.machine, pools=pools)
        self.timeline.widen(pools)

    def parts_of(self, job_id: str) -> JobResources | None:
        """Resources that a job holds, kind by kind; ``None`` if it holds nothing."""
        found = super().parts_of(job_id)
        return None if found is None else JobResources(*found)

    def keep(self, buffer: PersistentBuffer) -> None:
        """Create a persistent buffer: it is booked without end."""
        self.kept[buffer.name] = buffer
        self.keep_buffer(buffer.name, buffer.allocation, buffer.since_s)

    def discard(self, name: str, now_s: float) -> PersistentBuffer:
        """Destroy a persistent buffer and return it."""
        self.discard_buffer(name, now_s)
        return self.kept.pop(name)

    def lift(self, job_id: str, now_s: float) -> None:
        """Take a running job off its nodes; :meth:`place` puts it onto others. The book must have been advanced.

        Raises
        ------
        ValueError
            Its holdings have lives of their own: such a job cannot be moved.
        """
        if not self.take_off(job_id, now_s):
            raise ValueError(f"job {shown(job_id)} cannot be moved: its holdings have lives of their own")

    def give_back(
        self, job_id: str, now_s: float, nodes: Collection[int] | None = None, covering: Resource = Resource.ALL
    ) -> Running:
        """Release nodes of a running job, or resources that it was granted for them; return the changed job.

        Parameters
        ----------
        nodes
            Its nodes, extra ones or its own; ``None`` for all. A burst buffer and bandwidth are named by the nodes that
            they were granted for, also after these were given back.
        covering
            Kinds of resources given back: the nodes with all that belongs to them, or only some kinds.

        Raises
        ------
        ValueError
            The job holds nothing of these kinds for a node, or an extra node is not given back with all that was
            granted with it. Nothing is changed then.
        """
        found: Running | tuple[int, int] = self.give(job_id, now_s, None if nodes is None else list(nodes), covering)
        if not isinstance(found, tuple):
            return found
        raise ValueError(given_fault(*found, job_id))

    def drain(self, storage: int, drained: int, now_s: float) -> None:
        """Withhold ``drained`` bytes of a storage node in all from now on; jobs keep the bytes that they hold.

        Raises
        ------
        ValueError
            The bytes exceed its capacity or are negative; the text has the inequality.
        """
        node = self.machine.storages[storage]
        if not 0 <= drained <= node.capacity_bytes:
            raise ValueError(
                f"storage {node.name}: the drained bytes must be from 0 to {in_gigabytes(node.capacity_bytes)}, "
                f"got {in_gigabytes(drained)}"
            )
        self.drain_bytes(storage, drained, now_s)

    def check(self) -> None:
        """Assert that holders, parts, published jobs and the timeline agree with each other, kind by kind."""
        self.timeline.check()
        fault = self.fault()
        assert not fault, fault
        assert math.isfinite(self.timeline.now_s), "the book has no present"
