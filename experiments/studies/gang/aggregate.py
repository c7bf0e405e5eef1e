"""Gang scheduling without the protocol: the same steps at the same instants, whole cycles between them at once.

The results are the same, job by job, through the protocol (:mod:`spillway.experiments.studies.gang.wire`) and in plain
Python (``tests/reference/gang.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spillway.core import GangClock
from spillway.core import run_gang as native
from spillway.schedulers.timesharing.columns import mask_of
from spillway.schedulers.timesharing.costs import Costs
from spillway.schedulers.timesharing.migration import MigrationStart
from spillway.schedulers.timesharing.rules import Rules
from spillway.schedulers.timesharing.slices import Slices
from spillway.workloads.gang import GangJob

_SLICES = Slices(5, 200_000_000)
_COSTS = Costs()


@dataclass(frozen=True, slots=True)
class Setting:
    """A gang scheduler.

    Attributes
    ----------
    rules
        The policy.
    slices
        Rows, at most 64, and quantum.
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
    clock = GangClock(
        *setting.slices,
        *setting.costs,
        setting.migration_start is MigrationStart.AT_ONCE,
        setting.limit,
    )
    rows = [(job.submit_us, job.cpu_us, job.blocks, job.size, mask_of(job.file_nodes)) for job in jobs]
    ran = native(rows, clock, setting.rules.of_core, setting.nodes)
    return Ran(ran.start_us, ran.end_us, ran.local, ran.migrations)
