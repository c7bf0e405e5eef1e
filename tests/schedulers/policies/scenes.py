"""Views of small machines, for tests of single policies, and a plain check of a policy's starts."""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spillway.core import Timeline
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.view import Running, View

GB = 10**9


def job(number: int, nodes: int, walltime_s: float, bb_gb: float = 0.0, submit_s: float = 0.0, io_rate: int = 0) -> Job:
    """A job by its rank of submission."""
    return Job(f"w0!{number}", number, submit_s, walltime_s, nodes, int(bb_gb * GB), io_rate)


def running(timeline: Timeline, jobs: Iterable[Job], start_s: float) -> list[Running]:
    """Start jobs that fit now on a timeline; the others are left out."""
    found = []
    for each_job in jobs:
        allocation = timeline.fit_now(each_job, each_job.walltime_s)
        if allocation is not None:
            timeline.reserve(start_s, start_s + each_job.walltime_s, allocation)
            found.append(Running(each_job, start_s, start_s + each_job.walltime_s, allocation))
    return found


def view(
    machine: Machine,
    queue: Sequence[Job],
    now_s: float = 0.0,
    busy: Iterable[Job] = (),
    notebook: dict[str, Any] | None = None,
    notes: PassNotes | None = None,
) -> View:
    """A policy's view at ``now_s`` with these jobs waiting, and those of ``busy`` that fit running since now."""
    timeline = Timeline(machine, now_s)
    active = running(timeline, busy, now_s)
    return View(
        now_s, machine, queue, active, timeline.copy, random.Random(0), {} if notebook is None else notebook, notes
    )


def started(policy: Callable[[View], Iterable[Decision]], seen: View) -> list[Start]:
    """A policy's starts, after a separate check: each job once, nothing over-committed at any time."""
    before = seen._timeline_source()
    starts = []
    for decision in policy(seen):
        assert isinstance(decision, Start)
        starts.append(decision)
    jobs = [start.job for start in starts]
    assert len(set(jobs)) == len(jobs)
    assert set(jobs) <= set(seen.queue)
    for start in starts:
        check(start.job, start.allocation)
        before.reserve(seen.now_s, seen.now_s + start.job.walltime_s, start.allocation)
    return starts


def check(requested: Job, allocation: Allocation) -> None:
    """Check that the allocation matches the job's request."""
    assert len(allocation.nodes) == requested.nodes
    assert list(allocation.nodes) == sorted(set(allocation.nodes))
    assert len(allocation.storages) == (requested.nodes if requested.bb_bytes else 0)
    assert allocation.bb_bytes == requested.bb_bytes


def numbers(starts: Iterable[Start]) -> list[int]:
    """Job numbers in the order of their starts."""
    return [start.job.number for start in starts]
