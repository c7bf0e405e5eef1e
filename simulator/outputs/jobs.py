"""``_jobs.csv``: one row per job, in the order in which their ends reach the server; and the sums over them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spillway.core import JobTable, Totals
from spillway.simulator.outputs.files import OutputFile

HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
    "consumed_energy,metadata\n"
)


@dataclass(slots=True)
class Span:
    """First start and last end of a workload's jobs (s, as printed), and the sum of their run times."""

    start_s: float
    finish_s: float
    received_s: float = 0.0
    jobs: int = 0
    nodes: str = ""
    """Machines of the job that ended last (an interval set)."""

    def add(self, rows: Iterable[tuple[float, float, str]]) -> None:
        """Count more jobs: start and finish (s) of each, and its machines."""
        for start_s, finish_s, nodes in rows:
            if not self.nodes or finish_s > self.finish_s:
                self.nodes, self.finish_s = nodes, max(self.finish_s, finish_s)
            if start_s < self.start_s:
                self.start_s = start_s
            self.received_s += finish_s - start_s
            self.jobs += 1


class JobsTable:
    """The file of the rows, which the core writes and adds up.

    Parameters
    ----------
    path
        The file; ``None``: only the sums are kept.
    old_rows
        Whether profiles are named without their workload and metadata are in quotes
        (:class:`spillway.simulator.options.Rules`).

    Attributes
    ----------
    native
        The table in the core.
    """

    def __init__(self, path: str | None, old_rows: bool = True) -> None:
        self.file = OutputFile(path) if path is not None else None
        if self.file is not None:
            self.file.write(HEADER)
        self.native = JobTable(None if self.file is None else self.file.write, old_rows)

    @property
    def totals(self) -> Totals:
        """Sums over all jobs so far."""
        return self.native.totals

    @property
    def spans(self) -> dict[str, Span]:
        """Spans of the sub-jobs of a scheduler in the core, by workload."""
        return {name: Span(*span) for name, span in self.native.spans.items()}

    @property
    def own_places(self) -> list[int]:
        """Begins and ends, in turn, of the file's rows of jobs that are no sub-jobs (bytes)."""
        return [len(HEADER) + place for place in self.native.own_places]

    def settle(self) -> None:
        """Hand the rows collected so far to the file."""
        self.native.settle()
