"""The log's own schedule: each job starts when its site started it, as a baseline for other policies.

Where a log does not fit the machine (fewer nodes, smaller burst buffers, jobs that take longer here), some jobs start
late. The others keep their times: a late job starts as soon as it fits, in the site's order. A very late job gets a
reservation, or a wide job would wait for ever while narrow jobs start in time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeGuard

from spillway.base.units import size
from spillway.core import Resource
from spillway.schedulers.model.decisions import Decision, Reject, WakeAt
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Job, JobField
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.passes import binding_now, reserve, try_start
from spillway.schedulers.policykit.view import View

SITE_WAIT = "site_wait_s"
"""Field of the job with its wait at its site."""

FIELDS = (
    JobField(
        SITE_WAIT, "job", "number, s, at least 0", "its wait at its site, after which the policy replay starts it"
    ),
)
"""Fields of jobs that this policy reads."""

TOLERANCE_S = 1.0
"""Largest delay at which a job is not late (s): logs state whole seconds."""

PATIENCE_S = 86_400.0
"""Delay after which the first late job gets a reservation (s)."""

NOW_S = 1e-6
"""Starts within this time are due now (s): no simulator can be called earlier."""

_COURSE = "replay"
"""Key of the notebook: the :class:`_Course` of the conversation so far."""


@dataclass
class _Course:
    """Course of the log's schedule so far, by job number.

    Attributes
    ----------
    due_s
        Start at the site (s).
    needs
        Nodes and bytes of burst buffers that it requests.
    start_s, end_s
        Start and end here (s).
    lacked
        Resource that the job lacked when it was due, for jobs that could not start then.
    running
        Jobs that have started and not ended.
    calls_s
        Times at which the policy will be called.
    """

    due_s: dict[int, float] = field(default_factory=dict)
    needs: dict[int, tuple[int, int]] = field(default_factory=dict)
    start_s: dict[int, float] = field(default_factory=dict)
    end_s: dict[int, float] = field(default_factory=dict)
    lacked: dict[int, Binding] = field(default_factory=dict)
    running: set[int] = field(default_factory=set)
    calls_s: set[float] = field(default_factory=set)

    def started(self, job: Job, due_s: float, now_s: float) -> None:
        """Keep the start of a job's first attempt, not of further ones after an outage."""
        if job.number not in self.start_s:
            self.due_s[job.number], self.start_s[job.number] = due_s, now_s
            self.needs[job.number] = job.nodes, job.requests * job.bb_bytes
            self.running.add(job.number)

    def ended(self, running: Iterable[int], now_s: float) -> None:
        """Note the jobs that have ended since the last pass."""
        for number in self.running.difference(running):
            self.end_s[number] = now_s
            self.running.discard(number)

    def late_s(self) -> dict[int, float]:
        """Delays of the jobs that started late (s)."""
        delays = {number: start_s - self.due_s[number] for number, start_s in self.start_s.items()}
        return {number: delay for number, delay in delays.items() if delay > TOLERANCE_S}

    def peaks(self, now_s: float) -> tuple[int, int]:
        """Most nodes and most bytes that the site's schedule uses at a time, with the durations of jobs here."""
        return self._peak(now_s, 0), self._peak(now_s, 1)

    def _peak(self, now_s: float, kind: int) -> int:
        changes: list[tuple[float, int]] = []
        for number, due_s in self.due_s.items():
            duration_s = self.end_s.get(number, now_s) - self.start_s[number] - TOLERANCE_S
            if duration_s > 0:
                need = self.needs[number][kind]
                changes += [(due_s, need), (due_s + duration_s, -need)]
        used = most = 0
        for _, change in sorted(changes):
            used += change
            most = max(most, used)
        return most


@dataclass(frozen=True)
class Replay:
    """Start each job at its start time in the log; where it does not fit then, as soon as it fits."""

    source: ClassVar[str] = "the log's own schedule"
    needs_fields: ClassVar[tuple[str, ...]] = (SITE_WAIT,)

    def due(self, view: View) -> bool:
        """Whether jobs preempt others in this pass: never, they start at their times in the log."""
        return False

    def __call__(self, view: View) -> Iterable[Decision]:
        """Start the jobs that are due, in the site's order; request a call for the next one."""
        course: _Course = view.notebook.setdefault(_COURSE, _Course())
        course.ended([running.job.number for running in view.running], view.now_s)
        due: list[tuple[float, int, Job]] = []
        for job in view.queue:
            wait_s = job.extras.get(SITE_WAIT)
            if _is_wait(wait_s):
                due.append((job.submit_time_s - job.held_s + wait_s, job.number, job))
            else:
                yield Reject(job, f"it states no wait at its site ({SITE_WAIT!r}, a number of seconds)")
        due.sort(key=lambda entry: entry[:2])
        free = view.timeline.free_nodes_now() if due and due[0][0] <= view.now_s + NOW_S else 0
        reserved = False
        for due_s, number, job in due:
            if due_s > view.now_s + NOW_S:
                yield from self._later(view, course, due_s)
                if view.notes is None:
                    return
                view.notes.write(job.id, Role.PLANNED, binding_now(view, job), due_s)
                continue
            start = try_start(view, job) if job.nodes <= free or job.lives is not None else None
            if start is not None:
                free = view.timeline.free_nodes_now()
                course.started(job, due_s, view.now_s)
                yield start
                continue
            if view.notes is not None or number not in course.lacked:
                binding = binding_now(view, job)
                course.lacked.setdefault(number, binding)
                if view.notes is not None:
                    view.notes.write(job.id, Role.PASSED_OVER, binding)
            if not reserved and view.now_s - due_s > PATIENCE_S:
                reserve(view, job, Resource.ALL)
                reserved = True

    def _later(self, view: View, course: _Course, due_s: float) -> Iterable[Decision]:
        """Request a call for when the next job is due."""
        course.calls_s = {time_s for time_s in course.calls_s if time_s > view.now_s}
        if min(course.calls_s, default=due_s + NOW_S) > due_s:
            course.calls_s.add(due_s)
            yield WakeAt(due_s)

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
        """State delays where the log's schedule does not fit the machine; read at the end of the conversation."""
        course: _Course = notebook.get(_COURSE, _Course())
        late_s = course.late_s()
        if not late_s:
            return
        lacked = Counter(course.lacked[number].value for number in late_s if number in course.lacked)
        what = ", ".join(f"{count:,} for {name}" for name, count in sorted(lacked.items()))
        (nodes, held), there, capacity = (
            course.peaks(now_s),
            len(machine.nodes),
            sum(storage.capacity_bytes for storage in machine.storages),
        )
        lacks = [f"; it needs {nodes:,} nodes at its peak, the machine has {there:,}"] if nodes > there else []
        if held > capacity:
            lacks.append(f"; it needs {size(held)} of burst buffers at its peak, the machine has {size(capacity)}")
        yield (
            f"the log's schedule does not fit the stated machine: {len(late_s):,} of {len(course.start_s):,} jobs "
            f"start late{f' ({what})' if what else ''}, up to {_duration(max(late_s.values()))}{''.join(lacks)}"
        )


def _is_wait(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
