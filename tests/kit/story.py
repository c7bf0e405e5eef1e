"""What happens to jobs: in order, and by job."""

from operator import attrgetter
from typing import Any, NamedTuple

from spillway.protocol.messages import JobState
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.view import Holding, Running


class Preempted(NamedTuple):
    """A job that was preempted for another one, when it was told so, and when that happened."""

    job: str
    by: str
    what: str
    told_s: float
    end_s: float
    lost_node_s: float


class Story(Observer):
    """All that happens.

    Parameters
    ----------
    key
        Attribute of jobs by which the tables have them: ``id`` or ``name``.
    digits
        Decimals of the tables' times; ``None``: all.
    """

    def __init__(self, key: str = "id", digits: int | None = None) -> None:
        self._key, self._digits = attrgetter(key), digits
        self.lines: list[tuple[Any, ...]] = []
        self.jobs: dict[str, Job] = {}
        self.starts: dict[str, float] = {}
        self.given: dict[str, Allocation] = {}
        self.holds: dict[str, float] = {}
        self.evictions: list[tuple[float, str]] = []
        self.preemptions: list[Preempted] = []
        self.refused: dict[str, str] = {}
        self.ends: dict[str, tuple[float, JobState]] = {}
        self.created_s: dict[str, float] = {}
        self.passes: list[tuple[float, PassNotes]] = []
        self.waiting = 0

    @property
    def states(self) -> dict[str, JobState]:
        """Final states of the jobs that ran."""
        return {name: state for name, (_, state) in self.ends.items()}

    def _s(self, time_s: float) -> float:
        return time_s if self._digits is None else round(time_s, self._digits)

    def submitted(self, job: Job, now_s: float) -> None:
        """Each attempt is."""
        self.jobs[self._key(job)] = job

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Once, and never after another end."""
        assert self._key(job) not in self.refused.keys() | self.ends.keys(), f"{job.id} ended twice"
        self.lines.append((now_s, "rejected", job.id, reason))
        self.refused[self._key(job)] = reason

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Once, with these nodes and storage nodes."""
        assert self._key(job) not in self.starts, f"{job.id} started twice"
        self.lines.append((now_s, "started", job.id, allocation))
        self.starts[self._key(job)], self.given[self._key(job)] = self._s(now_s), allocation

    def held(self, job: Job, holding: Holding, now_s: float) -> None:
        """It has its burst buffer, until when that is expected."""
        self.lines.append((now_s, "held", job.id, holding))
        self.holds[self._key(job)] = self._s(now_s)

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """It has lost that."""
        self.lines.append((now_s, "evicted", job.id, holding))
        self.evictions.append((self._s(now_s), self._key(job)))

    def created(self, buffer: PersistentBuffer, now_s: float) -> None:
        """A persistent buffer is there."""
        self.created_s[buffer.name] = self._s(now_s)

    def preempted(self, job: Job, by: str, what: str, told_s: float, now_s: float, lost_node_s: float) -> None:
        """After its end."""
        assert self.states[self._key(job)] is JobState.COMPLETED_KILLED
        by = by if self._key(job) == job.id else by.rpartition("!")[2]
        times = (self._s(told_s), self._s(now_s), self._s(lost_node_s))
        self.preemptions.append(Preempted(self._key(job), by, what, *times))

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Once."""
        job = running.job
        assert self._key(job) not in self.refused.keys() | self.ends.keys(), f"{job.id} ended twice"
        self.lines.append((now_s, "ended", job.id, state))
        self.ends[self._key(job)] = self._s(now_s), state

    def resized(self, running: Running, now_s: float) -> None:
        """It has this now."""
        self.lines.append((now_s, "resized", running.job.id, running.allocation))

    def notes(self, now_s: float, notes: PassNotes) -> None:
        """Of an explained pass."""
        self.passes.append((now_s, notes))
