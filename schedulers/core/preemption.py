"""Preemption of running jobs: what the site allows is checked, and who has how long left is kept."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from spillway.base.errors import DecisionRefused, shown
from spillway.protocol.messages import JobKilled, JsonObject, Message, RegisterProfile
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.outages import Death
from spillway.schedulers.model.decisions import Preempt
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.preemption import Group, Preemption, Suspended
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.view import Running

_SHORTEST_S = 1e-3
"""Least walltime of what is left of a job (s)."""

_SAME_S = 1e-6
"""Times nearer than this are the same: Batsim's messages have six decimals."""

Rest = Callable[[Job, float, float], JsonObject]
"""Profile of what is left of a job that ran so long (s) and did that share of its work."""


def as_a_whole(again: Job, left: Suspended) -> Job:
    """A job that starts over, none of whose parts counts: with all of its work and its walltime."""
    whole = left.whole
    return msgspec.structs.replace(
        again, profile=whole.profile, profile_name=whole.profile_name, walltime_s=whole.walltime_s
    )


def check_preempt(book: Book, rules: Preemption, waiting: bool, decision: Preempt, now_s: float) -> Group:
    """Refuse a preemption that the site does not allow; return what it says of the job that makes room."""
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
    """One conversation's memory of jobs that were chosen to make room, and have some time left.

    Attributes
    ----------
    rules
        What the site allows.
    given
        Jobs that have been told and not ended, by id: when they end at the latest (s), and why. Change them by the
        methods alone.
    """

    def __init__(self, site: Site, suspend: str, rest: Rest | None = None) -> None:
        self.rules = Preemption(site, suspend)
        self._rest = rest
        self._progress: dict[str, float] = {}
        self.given: dict[str, tuple[float, Death]] = {}

    def give(self, job_id: str, due_s: float, death: Death) -> None:
        """A job is told that it ends at a time, at the latest."""
        self.given[job_id] = due_s, death

    def ended(self, job_id: str) -> None:
        """A job has ended."""
        self.given.pop(job_id, None)

    def due(self, now_s: float) -> list[tuple[str, Death]]:
        """Jobs whose time is over."""
        return [(job_id, death) for job_id, (due_s, death) in self.given.items() if due_s <= now_s + _SAME_S]

    def read(self, message: Message) -> None:
        """Look ahead in a message: how much those have done that were killed, whose ends come before that."""
        self._progress = {
            job_id: one.progress or 0.0
            for event in message.events
            if isinstance(event, JobKilled)
            for job_id, one in event.progress.items()
        }

    def next_part(self, running: Running, again: Job, now_s: float) -> tuple[Job, RegisterProfile]:
        """What goes on of a job that is suspended, where it was: the rest of its work and of its walltime."""
        assert self._rest is not None, "who lets jobs be suspended says what is left of them"
        job, ran_s = running.job, now_s - running.start_s
        whole = job.left.whole if isinstance(job.left, Suspended) else job
        profile = self._rest(job, ran_s, self._progress.get(job.id, 0.0))
        name = f"{whole.profile_name}@{again.name}"  # no other part has it
        part = msgspec.structs.replace(
            again,
            profile=profile,
            profile_name=name,
            walltime_s=max(job.walltime_s - ran_s, _SHORTEST_S),
            left=Suspended(running.allocation, whole),
        )
        return part, RegisterProfile(now_s, again.workload, name, profile)
