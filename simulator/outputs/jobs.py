"""``_jobs.csv``: one row per job, in the order in which their ends reach the server; and the sums over them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from spillway.protocol.messages import JobState
from spillway.simulator.jobs.job import Job
from spillway.simulator.outputs.files import OutputFile

HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
    "consumed_energy,metadata\n"
)

_SECONDS = "%.6f"
_ROW = '%s,%s,%s,%s,%d,%s,%d,%s,%s,%.6f,%s,%.6f,%.6f,%.6f,%s,%s,"%s"\n'
"""A row of a job that ran; formatted with ``%``, which takes half the time of an f-string with as many numbers."""


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
    """From the first start to the last end of a workload's jobs (s, as printed), and how much of it they ran."""

    start_s: float
    finish_s: float
    received_s: float = 0.0
    jobs: int = 0
    nodes: str = ""
    """Where the last one ran (an interval set)."""

    def add(self, start_s: float, finish_s: float, nodes: str) -> None:
        """Count one more job."""
        if not self.nodes or finish_s > self.finish_s:
            self.nodes = nodes
        self.start_s, self.finish_s = min(self.start_s, start_s), max(self.finish_s, finish_s)
        self.received_s += finish_s - start_s
        self.jobs += 1


class JobsTable:
    """Writes the rows and adds up.

    Attributes
    ----------
    totals
        Sums over all jobs.
    spans
        Of the workloads that the scheduler made in this process
        (:attr:`spillway.simulator.reading.registry.Workload.local`), by name.

    Parameters
    ----------
    path
        The file; None only adds up.
    """

    def __init__(self, path: str | None) -> None:
        self.totals = Totals()
        self.spans: dict[str, Span] = {}
        self._request = (math.nan, math.nan, "", "")
        self.file = OutputFile(path) if path is not None else None
        if self.file is not None:
            self.file.write(HEADER)

    def add(self, job: Job) -> None:
        """Write a job that has ended or was rejected."""
        totals = self.totals
        totals.jobs += 1
        if job.state is JobState.REJECTED:
            totals.rejected += 1
            if self.file is not None:
                self.file.write(
                    f"{job.name},{job.workload.name},{job.profile.name},{job.subtime:.6f},{job.res},{job.walltime:.6f},0,"
                    f'REJECTED,,,,,,,,,"{job.metadata}"\n'
                )
            return
        start, runtime = job.start, job.runtime
        finish = start + runtime
        waiting = start - job.subtime
        turnaround = finish - job.subtime
        slowdown = turnaround / runtime
        totals.waiting += waiting
        totals.turnaround += turnaround
        totals.slowdown += slowdown
        if finish > totals.makespan:
            totals.makespan = finish
        if waiting > totals.max_waiting:
            totals.max_waiting = waiting
        if turnaround > totals.max_turnaround:
            totals.max_turnaround = turnaround
        if slowdown > totals.max_slowdown:
            totals.max_slowdown = slowdown
        success = job.state is JobState.COMPLETED_SUCCESSFULLY
        totals.success += success
        allocation = job.allocation
        assert allocation is not None
        start_text, finish_text = _SECONDS % start, _SECONDS % finish
        if job.workload.local:
            self._note_span(job.workload.name, float(start_text), float(finish_text), allocation.text)
        if self.file is not None:
            request = self._request
            if request[0] != job.subtime or request[1] != job.walltime:  # sub-jobs that start together share them
                request = self._request = (job.subtime, job.walltime, _SECONDS % job.subtime, _SECONDS % job.walltime)
            energy = "-1.000000" if job.energy == -1.0 else f"{job.energy:.6f}"
            self.file.write(
                _ROW
                % (
                    job.name, job.workload.name, job.profile.name, request[2], job.res, request[3], success,
                    job.state.value, start_text, runtime, finish_text, waiting, turnaround, slowdown, allocation.text,
                    energy, job.metadata,
                )
            )  # fmt: skip

    def _note_span(self, name: str, start_s: float, finish_s: float, nodes: str) -> None:
        span = self.spans.get(name)
        if span is None:
            span = self.spans[name] = Span(start_s, finish_s)
        span.add(start_s, finish_s, nodes)
