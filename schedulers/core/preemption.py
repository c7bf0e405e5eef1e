"""Preemption of running jobs: checks against the site's rules, and the grace times of preempted jobs."""

from __future__ import annotations

from collections.abc import Callable

from spillway.base.errors import DecisionRefused, shown
from spillway.protocol.messages import JobKilled, JsonObject, Message, RegisterProfile
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.outages import KillReason
from spillway.schedulers.model.decisions import Preempt
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.preemption import Group, Preemption, SuspendedState
from spillway.schedulers.policykit.view import Running

_SHORTEST_S = 1e-3
"""Least walltime of the rest of a suspended job (s)."""

_SAME_S = 1e-6
"""Times nearer than this are the same: Batsim's messages have six decimals."""

Rest = Callable[[Job, float, float], JsonObject]
"""Profile of the rest of a job, from the job, the time that it has run (s) and the share of its work that is done."""


def as_a_whole(again: Job, left: SuspendedState) -> Job:
    """A job that starts over, without the results of its parts: with all of its work and its walltime."""
    whole = left.whole
    return replaced(again, profile=whole.profile, profile_name=whole.profile_name, walltime_s=whole.walltime_s)


def check_preempt(book: Book, rules: Preemption, waiting: bool, decision: Preempt, now_s: float) -> Group:
    """Refuse a preemption that the site does not allow; return its rules for the preempted job."""
    job_id, by = decision.job.id, decision.by
    running = book.running.get(job_id)
    if running is None:
        raise DecisionRefused(job_id, "only a running job can be preempted")
    if not waiting:
        raise DecisionRefused(job_id, f"job {shown(by.id)}, which is to preempt it, is not waiting")
    group = rules.group(decision.job, running.allocation.nodes)
    if not rules.active or not rules.may(by, decision.partitions, group):
        raise DecisionRefused(job_id, f"the site does not let job {shown(by.id)} preempt it")
    left_s = running.start_s + group.exempt_s - now_s
    if left_s > _SAME_S:
        raise DecisionRefused(job_id, f"it may not be preempted for another {left_s:g} s (exempt_s)")
    return group


class Notices:
    """Preempted jobs of one conversation, in their grace times.

    Attributes
    ----------
    rules
        The site's rules.
    given
        Preempted jobs that have not ended, by id: latest end (s), and reason. Only the methods may change them.
    """

    def __init__(self, rules: Preemption, rest: Rest | None = None) -> None:
        self.rules = rules
        self._rest = rest
        self._progress: dict[str, float] = {}
        self.given: dict[str, tuple[float, KillReason]] = {}

    def give(self, job_id: str, due_s: float, death: KillReason) -> None:
        """Record a preempted job and its latest end."""
        self.given[job_id] = due_s, death

    def ended(self, job_id: str) -> None:
        """Remove a job that has ended."""
        self.given.pop(job_id, None)

    def due(self, now_s: float) -> list[tuple[str, KillReason]]:
        """Jobs at the end of their grace times."""
        return [(job_id, death) for job_id, (due_s, death) in self.given.items() if due_s <= now_s + _SAME_S]

    def read(self, message: Message) -> None:
        """Look ahead in a message for the progress of killed jobs, which follows their ends."""
        self._progress = {
            job_id: task_progress.progress or 0.0
            for event in message.events
            if isinstance(event, JobKilled)
            for job_id, task_progress in event.progress.items()
        }

    def next_part(self, running: Running, again: Job, now_s: float) -> tuple[Job, RegisterProfile]:
        """The next part of a suspended job, on the same nodes: the rest of its work and of its walltime."""
        assert self._rest is not None, "suspended jobs need a profile of their rest"
        job, ran_s = running.job, now_s - running.start_s
        whole = job.left.whole if isinstance(job.left, SuspendedState) else job
        profile = self._rest(job, ran_s, self._progress.get(job.id, 0.0))
        name = f"{whole.profile_name}@{again.name}"  # no other part has it
        part = replaced(
            again,
            profile=profile,
            profile_name=name,
            walltime_s=max(job.walltime_s - ran_s, _SHORTEST_S),
            left=SuspendedState(running.allocation, whole),
        )
        return part, RegisterProfile(now_s, again.workload, name, profile)
