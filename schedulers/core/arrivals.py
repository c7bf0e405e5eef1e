"""Checks of messages against earlier ones: times that go back, duplicate jobs and unknown resources are refused.

A peer that keeps Batsim's rules passes every check. Some messages that Batsim never sends are accepted because they
change nothing: a machine that becomes unavailable (or available) again, the end of static jobs a second time, a call
that was not requested (one more pass of the policy), the acknowledgement of a sub-job a second time, messages of jobs,
answers about energy.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from functools import lru_cache
from typing import NoReturn

from spillway.base.errors import RemoteProtocolError, shown
from spillway.protocol.limits import LATEST_S, LONGEST_NAME, time_fault
from spillway.protocol.messages import JobKilled, Message, SimulationBegins, TaskProgress

_BLOCK = 1 << 10
"""Numbers of one block of :class:`UsedIds`."""

OWN_MARK = "%"
"""Character in the names of the workloads that the scheduler makes for its sub-jobs
(:mod:`spillway.schedulers.jobmodels.sub_jobs`)."""


class UsedIds:
    """Ids of all submitted jobs. A name that is a number takes one bit, so that a million jobs take 200 kB."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[str, int], int] = {}
        self._others: set[str] = set()

    def add(self, job_id: str) -> bool:
        """Add an id; ``False`` if it was used before."""
        numbered = numbered_id(job_id)
        if numbered is None:
            if job_id in self._others:
                return False
            self._others.add(job_id)
            return True
        workload, number = numbered
        place, bit = (workload, number // _BLOCK), 1 << number % _BLOCK
        block = self._blocks.get(place, 0)
        self._blocks[place] = block | bit
        return not block & bit

    def __contains__(self, job_id: str) -> bool:
        numbered = numbered_id(job_id)
        if numbered is None:
            return job_id in self._others
        workload, number = numbered
        return bool(self._blocks.get((workload, number // _BLOCK), 0) & 1 << number % _BLOCK)


@lru_cache(1 << 7)  # read when a job comes, starts and ends
def numbered_id(job_id: str) -> tuple[str, int] | None:
    """Workload and number of a job with a number in its usual notation as its name; else ``None``."""
    workload, _, name = job_id.rpartition("!")
    plain = name.isascii() and name.isdecimal() and len(name) < 16 and (name == "0" or name[0] != "0")
    return (workload, int(name)) if plain else None


class Arrivals:
    """Refuses messages that contradict earlier ones; every check raises RemoteProtocolError."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._event_s = 0.0
        self._used = UsedIds()
        self._resources: frozenset[int] = frozenset()

    @property
    def resources(self) -> Set[int]:
        """Ids of the machine's hosts."""
        return self._resources

    def knows(self, job_id: str) -> bool:
        """Whether a job of a user's workload was submitted."""
        return job_id in self._used

    def check_times(self, message: Message) -> None:
        """Refuse a message before the last one, and events before the previous one or after their message."""
        now_s = message.now
        if not self._now_s <= now_s <= LATEST_S:
            fault = _time_fault(now_s, self._now_s, "the last message")
            raise RemoteProtocolError(f"the message's time {fault}", "$.now")
        self._now_s = now_s
        before_s = self._event_s
        for index, event in enumerate(message.events):
            time_s = event.timestamp
            if not before_s <= time_s <= now_s:
                fault = _time_fault(time_s, before_s, "the event before it")
                if before_s <= time_s:
                    fault = f"must be at most the message's now = {now_s!r}, got {time_s!r}"
                raise RemoteProtocolError(f"the event's time {fault}", f"$.events[{index}].timestamp")
            before_s = time_s
        self._event_s = before_s

    def begin(self, event: SimulationBegins) -> None:
        """Record the machine's resources; refuse a machine without nodes, duplicate ids and names that are too long."""
        infos = (*event.compute_resources, *event.storage_resources)
        if not event.compute_resources:
            raise RemoteProtocolError("expected at least one compute resource", "$.compute_resources")
        self._resources = frozenset(info.id for info in infos)
        if len(self._resources) < len(infos) or min(self._resources) < 0:
            raise RemoteProtocolError("the ids of resources must be whole numbers of at least 0, each once", "$")
        for info in infos:
            if not 0 < len(info.name) <= LONGEST_NAME:
                _refuse_name(info.name, "the name of a resource", "$")

    def check_submission(self, job_id: str) -> bool:
        """Refuse an invalid id or one that was used before; return whether it is a job of a user's workload.

        Otherwise it has the form of a sub-job that the scheduler registered, and the runtime has its name.
        """
        place = "$.job_id"
        if not 0 < len(job_id) <= LONGEST_NAME:
            _refuse_name(job_id, "the id of a job", place)
        workload, _, name = job_id.partition("!")
        if not (workload and name) or "!" in name:
            raise RemoteProtocolError(f"expected a job id of the form workload!name, got {shown(job_id)}", place)
        if OWN_MARK in workload:
            return False
        if not self._used.add(job_id):
            raise RemoteProtocolError(f"job {shown(job_id)} was submitted before; ids are used once", place)
        return True

    def check_resources(self, ids: Collection[int], member: str) -> None:
        """Refuse resources that the machine does not have."""
        if self._resources.issuperset(ids):
            return
        for number in ids:
            if number not in self._resources:
                raise RemoteProtocolError(
                    f"expected ids of the machine's {len(self._resources)} resources, got {number}", f"$.{member}"
                )

    def check_progress(self, event: JobKilled) -> None:
        """Refuse progress outside of 0 to 1, or of jobs that the event does not name."""
        for job_id, progress in event.progress.items():
            if job_id not in event.job_ids:
                raise RemoteProtocolError(f"progress of {shown(job_id)}, which was not killed", "$.job_progress")
            task: TaskProgress | None = progress
            while task is not None:
                if task.progress is not None and not 0.0 <= task.progress <= 1.0:
                    raise RemoteProtocolError(
                        f"expected a progress from 0 to 1 of {shown(job_id)}, got {task.progress!r}",
                        "$.job_progress",
                    )
                task = task.current_task


def _time_fault(time_s: float, before_s: float, what: str) -> str:
    fault = time_fault(time_s)
    return fault if fault is not None else f"must not lie before that of {what}, {before_s!r} s, got {time_s!r} s"


def _refuse_name(name: str, what: str, path: str) -> NoReturn:
    raise RemoteProtocolError(f"expected {what} of 1 to {LONGEST_NAME} characters, got {shown(name)}", path)
