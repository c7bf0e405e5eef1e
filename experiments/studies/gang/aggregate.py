"""Gang scheduling without the protocol: the same steps at the same instants, whole cycles between them at once.

The results are the same, job by job, through the protocol (:mod:`spillway.experiments.studies.gang.wire`) and in plain
Python (``tests/reference/gang.py``, the steps of :mod:`spillway.schedulers.timesharing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spillway.schedulers.timesharing.compiled_machine import NEVER, Clock, Work, run
from spillway.schedulers.timesharing.compiled_matrix import WORD, Ints, Places
from spillway.schedulers.timesharing.compiled_matrix import Rules as Numbers
from spillway.schedulers.timesharing.costs import Costs
from spillway.schedulers.timesharing.migration import MigrationStart, Target
from spillway.schedulers.timesharing.recomputing import Rules
from spillway.schedulers.timesharing.scheduling import Queue, Where
from spillway.schedulers.timesharing.slices import Slices
from spillway.workloads.gang import GangJob

_SLICES = Slices(5, 200_000_000)
_COSTS = Costs()
_WHERE = {Where.ANYWHERE: 0, Where.FILES: 1, Where.FILES_FIRST: 2}
_MOST_ROWS = 60
"""Most rows: a set of rows is one word."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A gang scheduler.

    Attributes
    ----------
    rules
        The policy.
    slices
        Rows, at most :data:`_MOST_ROWS`, and quantum.
    costs
        Costs of blocks and of migration.
    migration_start
        Restart of jobs that migrate.
    limit
        Most tasks that migrate in one slice.
    nodes
        Number of columns.
    """

    rules: Rules
    slices: Slices = _SLICES
    costs: Costs = _COSTS
    migration_start: MigrationStart = MigrationStart.NEXT_QUANTUM
    limit: int = 64
    nodes: int = 320


@dataclass(frozen=True, slots=True)
class Ran:
    """Results of the jobs, in their order.

    Attributes
    ----------
    start_us
        Time at which each job got its place in the matrix.
    end_us
        End of each job.
    local
        Whether each job ended on its file's nodes.
    migrations
        Number of moves of jobs.
    """

    start_us: list[int]
    end_us: list[int]
    local: list[bool]
    migrations: int


def run_gang(jobs: Sequence[GangJob], setting: Setting) -> Ran:
    """Simulate a workload.

    Parameters
    ----------
    jobs
        In order of submission.
    setting
        The scheduler.
    """
    slices, costs, rules = setting.slices, setting.costs, setting.rules
    assert slices.level <= _MOST_ROWS, f"{slices.level} rows, at most {_MOST_ROWS}"
    clock = Clock(
        slices.level,
        slices.quantum_us,
        costs.local_us,
        costs.remote_us,
        costs.migration_us,
        int(setting.migration_start is MigrationStart.AT_ONCE),
        setting.limit,
    )
    numbers = Numbers(
        _WHERE[rules.where],
        int(rules.local_first),
        int(rules.migrate),
        int(rules.target is Target.FULLEST),
        int(rules.compaction),
        int(rules.queue is Queue.SCAN),
    )
    words = -(-setting.nodes // WORD)
    work, places = _work(jobs, words), _places(jobs, words)
    migrations = run(clock, work, places, _masks([range(setting.nodes)], words)[0], numbers)
    return Ran(work.start.tolist(), work.end.tolist(), [bool(one) for one in work.local.tolist()], int(migrations))


def _work(jobs: Sequence[GangJob], words: int) -> Work:
    def zeros() -> Ints:
        return np.zeros(len(jobs), np.int64)

    return Work(
        _column([job.submit_us for job in jobs]),
        _column([job.cpu_us for job in jobs]),
        _column([job.blocks for job in jobs]),
        left=zeros(),
        lag=zeros(),
        since=zeros(),
        rows=zeros(),
        columns=np.zeros((len(jobs), words), np.int64),
        moving=zeros(),
        start=zeros(),
        end=np.full(len(jobs), NEVER, np.int64),
        local=zeros(),
    )


def _places(jobs: Sequence[GangJob], words: int) -> Places:
    def zeros() -> Ints:
        return np.zeros(len(jobs), np.int64)

    return Places(
        zeros(),
        np.array([0, 0, 0, -1, -1], np.int64),
        zeros(),
        zeros(),
        np.zeros((len(jobs), words), np.int64),
        _masks([job.file_nodes for job in jobs], words),
        _column([job.size for job in jobs]),
        np.full(len(jobs), -1, np.int64),
    )


def _column(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


def _masks(sets: Sequence[Iterable[int]], words: int) -> Ints:
    """Sets of columns as words."""
    found = np.zeros((len(sets), words), np.int64)
    for mask, columns in zip(found, sets, strict=True):
        for column in columns:
            mask[column // WORD] |= 1 << column % WORD
    return found
