"""All steps of one scheduling event in their order: clean, migrate, compact, schedule, fill."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from spillway.schedulers.timesharing.bandwidth import NO_STREAMS, Streams
from spillway.schedulers.timesharing.cleaning import clean
from spillway.schedulers.timesharing.compaction import compact
from spillway.schedulers.timesharing.filling import fill
from spillway.schedulers.timesharing.matrix import Matrix, Request
from spillway.schedulers.timesharing.migration import Target, migrate
from spillway.schedulers.timesharing.scheduling import Hold, Queue, Where, schedule


@dataclass(frozen=True, slots=True)
class Rules:
    """Differences between the four policies.

    Attributes
    ----------
    where
        Columns on which a waiting job may be placed.
    local_first
        Whether local jobs are replicated before remote ones.
    migrate
        Whether remote jobs are moved to their files' nodes.
    target
        Row to which they are moved.
    compaction
        Whether rows are compacted.
    queue
        Whether waiting jobs behind one that does not fit are tried.
    """

    where: Where = Where.ANYWHERE
    local_first: bool = False
    migrate: bool = False
    target: Target = Target.FIRST
    compaction: bool = True
    queue: Queue = Queue.STOP


class Outcome(NamedTuple):
    """A new matrix, the number of started jobs (its last places), the migrated jobs, the number of moved tasks."""

    matrix: Matrix
    started: int
    migrated: tuple[int, ...]
    tasks: int


def recompute(
    matrix: Matrix,
    queue: Iterable[Request],
    rules: Rules,
    tasks: int = 0,
    closed: int = 0,
    hold: Hold | None = None,
    streams: Streams = NO_STREAMS,
) -> Outcome:
    """Compute the matrix of a scheduling event (an arrival or a departure).

    Parameters
    ----------
    matrix
        The last matrix, without the jobs that left.
    queue
        Waiting jobs in order of arrival.
    rules
        The policy.
    tasks
        Most tasks that may migrate now.
    closed
        Mask of columns that are out: they take no further jobs, and their jobs stay in their cells.
    hold
        Takes the resources that waiting jobs need besides cells; by default they need only cells.
    streams
        Bandwidth that the jobs in the matrix and the waiting ones stream; by default 0.

    References
    ----------
    Zhang et al. 2003, sections 3.1 to 3.6.
    """
    laid = clean(matrix, closed)
    migrated: tuple[int, ...] = ()
    used = 0
    if rules.migrate and tasks:
        laid, migrated, used = migrate(laid, tasks, rules.target, closed, streams)
    if rules.compaction:
        laid = compact(laid, closed, streams)
    laid, started = schedule(laid, queue, rules.where, closed, hold, streams, rules.queue)
    return Outcome(fill(laid, rules.local_first, closed, streams), started, migrated, used)
