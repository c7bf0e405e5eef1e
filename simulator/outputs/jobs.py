"""``_jobs.csv``: one row per job, in the order in which their ends reach the server; and the sums over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, sub, truediv
from typing import Any

from spillway.protocol.messages import JobState
from spillway.simulator.jobs.job import Job
from spillway.simulator.outputs.files import OutputFile

HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
    "consumed_energy,metadata\n"
)

_SECONDS = "%.6f"
_ROW = '%s,%s,%s,%s,%d,%s,%d,%s,%s,%s,%s,%s,%s,%s,%s,%s,"%s"\n'
"""A row of a job that ran."""

_SUCCESS = JobState.COMPLETED_SUCCESSFULLY.value

_COLLECTED = 1024
"""Rows that are formatted together."""


@dataclass(slots=True)
class Totals:
    """Sums over all jobs; times in s. Executed jobs are all but the rejected ones."""

    jobs: int = 0
    rejected: int = 0
    success: int = 0
    waiting: float = 0.0
    turnaround: float = 0.0
    slowdown: float = 0.0
    max_waiting: float = 0.0
    max_turnaround: float = 0.0
    max_slowdown: float = 0.0
    makespan: float = 0.0

    @property
    def finished(self) -> int:
        """Jobs that ran, however they ended."""
        return self.jobs - self.rejected

    @property
    def killed(self) -> int:
        """Jobs that ran without success: failed, killed, or stopped at their walltime."""
        return self.finished - self.success


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
    """Collects the rows, and writes and adds them up some at a time, column by column.

    Attributes
    ----------
    jobs
        Number of jobs so far.

    Parameters
    ----------
    path
        The file; ``None``: only the sums are kept.
    """

    def __init__(self, path: str | None) -> None:
        self.jobs = 0
        self._totals = Totals()
        self._spans: dict[str, Span] = {}
        self._rows: list[tuple[Any, ...]] = []
        self._rejected: list[tuple[int, str]] = []
        self.file = OutputFile(path) if path is not None else None
        if self.file is not None:
            self.file.write(HEADER)

    @property
    def totals(self) -> Totals:
        """Sums over all jobs."""
        self.settle()
        return self._totals

    @property
    def spans(self) -> dict[str, Span]:
        """Spans of local workloads (:attr:`spillway.simulator.reading.registry.Workload.local`), by name."""
        self.settle()
        return self._spans

    def add(self, jobs: Sequence[Job]) -> None:
        """Write jobs that have ended or were rejected."""
        self.jobs += len(jobs)
        rows = self._rows
        for job in jobs:
            if job.state is JobState.REJECTED:
                line = (
                    f"{job.name},{job.workload.name},{job.profile.name},{job.subtime:.6f},{job.res},{job.walltime:.6f},0,"
                    f'REJECTED,,,,,,,,,"{job.metadata}"\n'
                )
                self._rejected.append((len(rows), line))
                continue
            allocation = job.allocation
            assert allocation is not None
            rows.append(
                (
                    job.name, job.workload, job.profile.name, job.subtime, job.res, job.walltime, job.state, job.start,
                    job.runtime, allocation.text, job.energy, job.metadata,
                )
            )  # fmt: skip
        if len(rows) + len(self._rejected) >= _COLLECTED:
            self.settle()

    def settle(self) -> None:
        """Write and add up the collected rows."""
        lines = self._formatted(self._rows) if self._rows else []
        for place, line in reversed(self._rejected):
            lines.insert(place, line)
        self._totals.jobs += len(lines)
        self._totals.rejected += len(self._rejected)
        if self.file is not None and lines:
            self.file.write(*lines)
        self._rows.clear()
        self._rejected.clear()

    def _formatted(self, rows: list[tuple[Any, ...]]) -> list[str]:
        (
            names, workloads, profiles, submitted, sizes, walltimes, states, starts, runtimes, nodes, energies, metadata
        ) = zip(*rows, strict=True)  # fmt: skip
        finishes = list(map(add, starts, runtimes))
        waits = list(map(sub, starts, submitted))
        turnarounds = list(map(sub, finishes, submitted))
        slowdowns = list(map(truediv, turnarounds, runtimes))
        successes = [state is JobState.COMPLETED_SUCCESSFULLY for state in states]
        totals = self._totals
        totals.success += successes.count(True)
        totals.waiting = reduce(add, waits, totals.waiting)  # sum() of newer Pythons rounds otherwise
        totals.turnaround = reduce(add, turnarounds, totals.turnaround)
        totals.slowdown = reduce(add, slowdowns, totals.slowdown)
        totals.makespan = max(totals.makespan, *finishes)
        totals.max_waiting = max(totals.max_waiting, *waits)
        totals.max_turnaround = max(totals.max_turnaround, *turnarounds)
        totals.max_slowdown = max(totals.max_slowdown, *slowdowns)
        start_texts, finish_texts = _texts(starts), _texts(finishes)
        self._note_spans(workloads, start_texts, finish_texts, nodes)
        ends = [_SUCCESS if good else state.value for good, state in zip(successes, states, strict=True)]
        cells = zip(
            names, [workload.name for workload in workloads], profiles, _texts(submitted), sizes, _texts(walltimes),
            successes, ends, start_texts, _texts(runtimes), finish_texts, _texts(waits), _texts(turnarounds),
            _texts(slowdowns), nodes, _texts(energies), metadata, strict=True,
        )  # fmt: skip
        return list(map(_ROW.__mod__, cells))

    def _note_spans(
        self, workloads: Sequence[Any], starts: Sequence[str], finishes: Sequence[str], nodes: Sequence[str]
    ) -> None:
        """Note the spans of jobs of local workloads, from times as printed."""
        rows: dict[str, list[tuple[float, float, str]]] = {}
        for workload, start, finish, where in zip(workloads, starts, finishes, nodes, strict=True):
            if workload.local:
                rows.setdefault(workload.name, []).append((float(start), float(finish), where))
        for name, found in rows.items():
            span = self._spans.get(name)
            if span is None:
                span = self._spans[name] = Span(*found[0][:2])
            span.add(found)


def _texts(numbers: Sequence[float]) -> list[str]:
    """A column of times as printed; many are equal, as sub-jobs of an operation share their times."""
    known = {number: _SECONDS % number for number in set(numbers)}
    return [known[number] for number in numbers]
