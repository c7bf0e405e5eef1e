"""Nodes planned for jobs by Slurm's two schedulers: sets of nodes over intervals.

Running jobs and plans are separate: running jobs are expected to leave their nodes one after another, reservations
cover intervals. Sets of nodes are rows of 64-bit words (:class:`spillway.core.NodePlan` searches in them).

References
----------
Slurm 22.05, ``sched/backfill`` (reservations, next candidates), ``select/linear`` and ``select/cons_tres`` (expected
ends, choice of nodes).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.core import (
    PAIR_BUFFER,
    PAIR_CALLER,
    PAIR_NOW_ONLY,
    PAIR_OVERLAPPING,
    PAIR_STAGING,
    PAIR_WITHOUT,
    NodePlan,
    PlanPass,
    leaving_nodes,
    node_sets,
)
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.slurm.pairs import Pair, Pairs
from spillway.schedulers.policykit.view import TakenNodes, View

Words = npt.NDArray[np.int64]
"""A set of nodes: node i is bit i % 64 of word i // 64."""

EXACT_S = 1e-6
"""Two times that differ by less are the same instant."""

_PLANNED = 2
"""State of a waiting job that has an expected start."""

_ALL = 2**62
"""More pairs than any pass has."""

_NOT_LONGER: Mapping[str, float] = MappingProxyType({})

_ENDED_S = -math.inf
"""Expected end of a job that has ended."""


class NodeSpace:
    """Idle nodes, the times when busy nodes are expected to be left, and reservations.

    Parameters
    ----------
    now_s
        Current time, s.
    sets
        ``int64[sets, words]``: all nodes, then those of each partition.
    usable
        Nodes that are not out.
    leaving
        Nodes of running jobs.
    taken
        Nodes taken over intervals, as if they were reserved.

    Attributes
    ----------
    plan
        The sets, running jobs and reservations of a pass.
    """

    def __init__(
        self,
        now_s: float,
        sets: npt.NDArray[np.int64],
        usable: Words,
        leaving: LeavingNodes,
        taken: Sequence[TakenNodes] = (),
    ) -> None:
        self._now_s, self._leaving, self._started, self._taken = now_s, leaving, list[StartedJob](), taken
        self.sets, self._usable = sets, usable
        self.plan = NodePlan(now_s, sets, usable, usable & ~np.bitwise_or.reduce(leaving.nodes, initial=0))

    @property
    def idle(self) -> Words:
        """Nodes that are free now."""
        return self.plan.idle

    @property
    def chosen(self) -> Words:
        """The nodes chosen last."""
        return self.plan.chosen

    @classmethod
    def of(cls, view: View, longer_s: Mapping[str, float] = _NOT_LONGER) -> NodeSpace:
        """Build one from a view, without reservations; nodes that are out are not usable.

        ``longer_s``: extensions of the time limits of jobs, by name (s).
        """
        sets = node_sets(view.timeline)
        leaving = LeavingNodes(*leaving_nodes(view.running, sets.shape[1], longer_s))
        usable = sets[0] & ~bitset(sorted(view.unavailable), sets.shape[1]) if view.unavailable else sets[0]
        return cls(whole_s(view.now_s), sets, usable, leaving, view.taken)

    def idle_of_sets(self) -> npt.NDArray[np.int64]:
        """Number of idle nodes of each set."""
        counts: npt.NDArray[np.int64] = np.bitwise_count((self.sets & self.idle).view(np.uint64)).sum(axis=1)
        return counts

    def idle_of(self, row: int, nodes: Words) -> Words:
        """The nodes among ``nodes`` that are idle and in a set."""
        found: Words = self.idle & self.sets[row] & nodes
        return found

    @property
    def are_out(self) -> bool:
        """Whether any node is out."""
        return bool((self.sets[0] & ~self._usable).any())

    def usable_of(self, row: int) -> Words:
        """The nodes of a set that are not out."""
        found: Words = self.sets[row] & self._usable
        return found

    def consecutive(self, nodes: Words, count: int) -> Words:
        """Choose ``count`` of ``nodes``, neighbours where possible; there must be enough."""
        return self.plan.consecutive(nodes, count)

    def stack(self, resolution_s: float) -> None:
        """Prepare a backfill pass: nodes in the order of their jobs' ends.

        Parameters
        ----------
        resolution_s
            Intervals are rounded to multiples of it (s).
        """
        words = len(self._usable)
        windows = [
            (taken.start_s, taken.end_s, looked_at_after(taken, resolution_s), of_nodes(sorted(taken.nodes), words))
            for taken in self._taken
        ]
        nodes, ends_s, numbers = self._leaving.with_started(self._started)
        self.plan.stack(nodes, ends_s, numbers, int(np.count_nonzero(ends_s == _ENDED_S)), windows)

    def choose(self, nodes: Sequence[int]) -> None:
        """Set the nodes chosen last."""
        self.plan.choose(of_nodes(nodes, len(self._usable)))

    def reserved(self) -> Iterator[tuple[float, float, Words]]:
        """Begin and end of each segment of time from now on (s), and the nodes without a reservation in it."""
        yield from self.plan.reserved()

    def take(self, job: Job, nodes: Words, duration_s: float) -> None:
        """Take nodes for a job that has started, for its expected duration."""
        end_s = whole_s(self._now_s + duration_s)
        if self.plan.is_stacked:
            self.plan.take(nodes, end_s, job.number)
        else:
            self.plan.occupy(nodes)
            self._started.append(StartedJob(end_s, job.number, nodes))


class StartedJob(NamedTuple):
    """A job started in this pass: its expected end (s), its number, its nodes."""

    end_s: float
    number: int
    nodes: Words


class LeavingNodes(NamedTuple):
    """Nodes of running jobs, in the order in which they are expected to leave them.

    Attributes
    ----------
    nodes
        ``int64[parts, words]``: nodes held until the same time.
    ends_s, numbers
        These times (s), and the numbers of the jobs.
    """

    nodes: Words
    ends_s: npt.NDArray[np.float64]
    numbers: npt.NDArray[np.int64]

    def with_started(self, started: Sequence[StartedJob]) -> LeavingNodes:
        """These and the nodes of jobs that have started in this pass."""
        if not started:
            return self
        nodes = np.concatenate((self.nodes, [job.nodes for job in started]))
        ends_s = np.append(self.ends_s, [job.end_s for job in started])
        numbers = np.append(self.numbers, [job.number for job in started])
        order = np.lexsort((numbers, ends_s))
        return LeavingNodes(nodes[order], ends_s[order], numbers[order])


class Limits(NamedTuple):
    """Limits of a backfill pass.

    Attributes
    ----------
    now_s
        Current time (s).
    resolution_s
        Reservations begin and end at whole multiples of this (s).
    until_s
        Later starts get no reservation (s).
    linear_s
        Growth of the windows of expected ends (s); 0: they double.
    most_of_partition, most_of_user
        Pairs that are examined; 0: any number.
    most_reserved
        Reservations in each partition; 0: any number.
    one_each
        Whether a job gets a reservation in only one of its partitions.
    ends_up
        Whether ends of reservations are rounded up; else down, like begins.
    in_windows
        Whether running jobs leave together, in windows of their expected ends; else one after another.
    """

    now_s: float
    resolution_s: float
    until_s: float
    linear_s: float = 0.0
    most_of_partition: int = 0
    most_of_user: int = 0
    most_reserved: int = 0
    one_each: bool = False
    ends_up: bool = False
    in_windows: bool = False


class Walk:
    """A main pass over pairs of waiting jobs in order; a pair that lacks nodes ends its partition.

    It yields pairs that could start, and pairs that the caller decides on, in partitions that have not ended. It
    examines ``depth`` pairs of waiting jobs, including those of ended partitions.

    Parameters
    ----------
    asks_all, asks_buffers
        Whether the caller decides on every pair; whether also on pairs of jobs with burst buffers; else only on those
        of jobs that request counted pools.

    Attributes
    ----------
    nodes
        Nodes of no ended partition.
    """

    def __init__(
        self, space: NodeSpace, pairs: Pairs, depth: float, *, asks_all: bool = False, asks_buffers: bool = False
    ) -> None:
        self._space, self._pairs, self._depth = space, pairs, int(min(depth, _ALL))
        self._asks = -1 if asks_all else PAIR_CALLER | (PAIR_BUFFER if asks_buffers else 0)
        self._ended = np.zeros(len(space.sets), np.int64)
        self.nodes: Words = np.full(space.sets.shape[1], -1, np.int64)
        self._are_out = space.are_out

    def __iter__(self) -> Iterator[Pair]:
        """Yield the pairs."""
        space, pairs, at = self._space, self._pairs, -1
        while self.nodes.any():
            at = space.plan.main(pairs.table, pairs.waiting, self._ended, self.nodes, self._asks, self._depth, at + 1)
            if at == len(pairs):
                return
            yield pairs[at]

    def end(self, pair: Pair) -> None:
        """End the partition of a pair that lacks nodes, and keep its nodes."""
        self._ended[pair.row] = 1
        self.nodes &= ~self._space.sets[pair.row]

    def lacks(self, pair: Pair) -> bool:
        """Whether a pair's partition has too few nodes left, idle or not."""
        if not self._are_out and not self._ended.any():
            return False
        return number_of(self.nodes & self._space.usable_of(pair.row)) < pair.job.nodes


class Planning:
    """A backfill pass: plans pairs in order, and yields those that the caller decides on.

    Parameters
    ----------
    space
        Idle nodes, and the times when the others are left.
    pairs
        The pairs, in order; flags are set in their table.
    limits
        Limits of the pass.
    without, staging, overlapping
        Jobs without a buffer yet; jobs in stage-in; jobs with reservations that may overlap with others.
    now_only
        Whether each job gets no reservation, by place; default: all jobs may.
    asks
        Whether the caller decides on every pair; else on those of jobs that request counted pools or could start now.
    starts_only
        Whether the pass ends when no later pair could start now.
    """

    def __init__(
        self,
        space: NodeSpace,
        pairs: Pairs,
        limits: Limits,
        *,
        without: Iterable[Job] = (),
        staging: Iterable[Job] = (),
        overlapping: Iterable[Job] = (),
        now_only: npt.NDArray[np.bool_] | None = None,
        asks: bool = False,
        starts_only: bool = False,
    ) -> None:
        self._space, self._pairs = space, pairs
        self._now_s, self._resolution_s = limits.now_s, limits.resolution_s
        self._starts_only = starts_only
        table = pairs.table
        if asks:
            table[:, 4] |= PAIR_CALLER
        if now_only is not None:
            table[:, 4] |= np.where(now_only[table[:, 0]], PAIR_NOW_ONLY, 0)
        flags = (
            (PAIR_WITHOUT, set(without)),
            (PAIR_STAGING, set(staging)),
            (PAIR_OVERLAPPING, set(overlapping)),
        )
        for flag, jobs in flags:
            if jobs:
                table[np.array([job in jobs for job in pairs.jobs])[table[:, 0]], 4] |= flag
        counts = np.zeros((3, max(len(space.sets), int(table[:, 3].max(initial=0)) + 1)), np.int64)
        self._starts_s = np.full(len(pairs), np.inf)
        self._pass = PlanPass(
            table,
            pairs.durations_s,
            pairs.waiting,
            np.full(len(pairs), -np.inf),
            self._starts_s,
            counts,
            (*map(float, limits[:4]), *map(int, limits[4:]), int(starts_only)),
        )

    def __iter__(self) -> Iterator[tuple[Pair, float | None]]:
        """Yield pairs that could start now, with the present (s), and pairs that the caller decides on (``None``)."""
        space, pairs, at = self._space, self._pairs, 0
        if self._starts_only and not (pairs.table[:, 1] <= space.idle_of_sets()[pairs.table[:, 2]]).any():
            return
        space.stack(self._resolution_s)
        while True:
            at = space.plan.backfill(self._pass, at)
            if at == len(pairs):
                return
            yield pairs[at], None if space.plan.asks else self._now_s
            at += 1

    def start_s(self, pair: Pair, not_before_s: float, row: int | None = None, gone_s: float = -math.inf) -> float:
        """Expected start of a yielded pair, from a time on (s); infinite for never.

        Parameters
        ----------
        row
            Its set of nodes, if not that of its partition.
        gone_s
            Nodes of jobs that are expected to end up to this time count like idle ones.
        """
        pairs, at = self._pairs, pair.number
        pairs.table[at, 2] = pair.row if row is None else row
        found = self._space.plan.plan(self._pass, at, not_before_s, gone_s)
        pairs.table[at, 2] = pair.row  # row of its partition, by which pairs are counted
        return self.expect(pair, found)

    def expect(self, pair: Pair, found: float) -> float:
        """Keep and return the expected start of a yielded pair (s, infinite for never)."""
        self._starts_s[pair.number] = found
        if found < math.inf:
            self._pairs.waiting[pair.place] = _PLANNED
        return found

    def keep(self, pair: Pair, start_s: float) -> bool:
        """Reserve the nodes chosen last for a pair from its expected start on; return whether the limits allow it."""
        return start_s < math.inf and self._space.plan.keep(self._pass, pair.number, start_s)

    def keep_started(self, pair: Pair, nodes: Sequence[int]) -> None:
        """Reserve the nodes on which a pair has just started, to its expected end."""
        self._space.plan.keep_started(self._pass, pair.number, of_nodes(nodes, self._space.sets.shape[1]))

    def starts(self) -> Iterator[tuple[Job, float]]:
        """Job and expected start of each pair with one (s)."""
        for at in np.flatnonzero(self._starts_s < np.inf).tolist():
            yield self._pairs[at].job, self._starts_s.item(at)


def bitset(nodes: Iterable[int], words: int) -> npt.NDArray[np.int64]:
    """Convert node indices to a bitset of 64-bit words: node ``i`` is bit ``i % 64`` of word ``i // 64``."""
    bits = np.zeros(words * 64, np.uint8)
    bits[list(nodes)] = 1
    return np.packbits(bits, bitorder="little").view(np.int64)


def restricting(machine: Machine) -> list[int]:
    """Pools that only restrict nodes, and are not held: nodes with at least a number of GPUs."""
    return [place for place in range(len(machine.pools)) if machine.layer_mode(place) == 0]


def looked_at_after(taken: TakenNodes, resolution_s: float) -> float:
    """Time when a backfill pass retries a job that lacked taken nodes, s: a second after their end, rounded up."""
    if taken.gap or taken.end_s == math.inf:
        return taken.end_s
    return math.ceil(taken.end_s / resolution_s) * resolution_s + 1.0


def whole_s(time_s: float) -> float:
    """A time as Slurm stores it: the last whole second (s)."""
    return float(math.floor(time_s + EXACT_S)) if time_s < math.inf else time_s


def of_nodes(nodes: Sequence[int], words: int) -> Words:
    """The set of these nodes."""
    return bitset(nodes, words)


def number_of(nodes: Words) -> int:
    """Number of nodes in a set."""
    return int(np.bitwise_count(nodes.view(np.uint64)).sum())


def members(nodes: Words) -> tuple[int, ...]:
    """The nodes of a set, ascending."""
    return tuple(np.flatnonzero(np.unpackbits(nodes.view(np.uint8), bitorder="little")).tolist())
