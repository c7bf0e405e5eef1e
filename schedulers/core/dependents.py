"""Submitted jobs that may not wait for resources yet: their dependencies are not met, or they were just requeued."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from spillway.schedulers.core.deadlines import SAME_S, Deadlines
from spillway.schedulers.model.dependencies import (
    NEVER,
    Condition,
    Dependencies,
    Fate,
    Kind,
    dependencies_of,
)
from spillway.schedulers.model.job import Job


class SettledJob(NamedTuple):
    """A job with settled dependencies: it may wait for resources or, where there is a ``reason``, can never start."""

    job: Job
    reason: str = ""


class Fates(Protocol):
    """Starts and ends of all jobs so far: any later job may depend on them. Of several attempts the first counts."""

    def times(self, job_id: str) -> tuple[float, float]:
        """Start and end of a job (s); not a number: not yet, below 0: it failed."""
        ...

    def note_start(self, job_id: str, now_s: float) -> None:
        """Note that a job starts now, unless it has started before."""
        ...

    def note_end(self, job_id: str, now_s: float, failed: bool) -> None:
        """Note that a job ends now, unless it has ended before."""
        ...


class _Array:
    """The tasks of an array that no job is named like: it has started, and ended, once all have; it failed if one has.

    Attributes
    ----------
    waiting, unfinished
        Tasks that may not have started, and not ended: those that have are taken from the end when that is asked.
    """

    def __init__(self) -> None:
        self.waiting: list[str] = []
        self.unfinished: list[str] = []
        self._started_s = self._ended_s = -math.inf
        self._failed = False

    def last(self, waits: bool) -> str:
        """A task that has not ended, or not started, by the last :meth:`fate`."""
        return (self.waiting if waits else self.unfinished)[-1]

    def fate(self, of: Callable[[str], Fate]) -> Fate:
        """Its fate, from those of its tasks."""
        while self.waiting and not math.isnan(began_s := of(self.waiting[-1]).began_s):
            self.waiting.pop()
            self._started_s = max(self._started_s, began_s)
        while self.unfinished and not math.isnan((fate := of(self.unfinished[-1])).ended_s):
            self.unfinished.pop()
            self._ended_s, self._failed = max(self._ended_s, fate.ended_s), self._failed or fate.failed
        return Fate(
            math.nan if self.waiting else self._started_s,
            math.nan if self.unfinished else self._ended_s,
            self._failed and not self.unfinished,
        )


class Dependents:
    """Holds submitted jobs until their dependencies are met.

    Parameters
    ----------
    fates
        Starts and ends of all jobs.

    Attributes
    ----------
    held
        Held jobs by id, in order of submission, each with its dependencies. Only the methods may change them.
    changed
        Jobs that have started or ended since the last :meth:`settled`, where that may settle others.
    """

    def __init__(self, fates: Fates) -> None:
        self._fates = fates
        self.held: dict[str, tuple[Job, Dependencies]] = {}
        self.changed: list[str] = []
        self._after: dict[str, list[tuple[str, Condition]]] = {}
        self._open: dict[str, int] = {}
        self._delays = Deadlines(self.held)  # after other jobs' starts and ends, and of requeued jobs
        self._alike: dict[tuple[str, str, str], OrderedDict[str, None]] = {}
        self._active: dict[str, set[str]] = {}
        self._queued: dict[str, OrderedDict[str, None]] = {}
        self._stated: dict[str, Dependencies] = {}
        self._arrays: dict[str, _Array] = {}

    @property
    def any(self) -> bool:
        """Whether a job is held, or others may be held for one."""
        return bool(self.held or self._stated or self._after or self._arrays)

    @property
    def due_s(self) -> float:
        """End of the next delay (s), if no other event comes first; infinite without delays."""
        return self._delays.due_s

    def submitted(self, job: Job, known: Callable[[str], bool], now_s: float) -> SettledJob | None:
        """Hold a submitted job (``None``), unless its dependencies are settled already.

        Raises
        ------
        RemoteProtocolError
            The job's dependencies are malformed.
        """
        if self._arrays.pop(job.id, None) is not None:  # a job of that name is what others wait for
            moved = [entry for watched in self._after.values() for entry in watched if entry[1].job_id == job.id]
            for watched in self._after.values():
                watched[:] = [entry for entry in watched if entry[1].job_id != job.id]
            self._after[job.id] = moved
        stated = dependencies_of(job, known)
        if stated is None:
            return SettledJob(job)
        if stated.alike is not None:
            self._alike.setdefault(stated.alike, OrderedDict())[job.id] = None
        if stated.alike is not None or stated.limit:
            self._stated[job.id] = stated
        if stated.array and stated.array != job.id and not known(stated.array):
            array = self._arrays.setdefault(stated.array, _Array())
            array.waiting.append(job.id)
            array.unfinished.append(job.id)
            if came_before := self._after.pop(stated.array, None):
                self._after[job.id] = came_before
        self.held[job.id] = job, stated
        for condition in stated.conditions:
            if condition.job_id and math.isnan(condition.met_s(self._fate(condition.job_id))):
                self._watch(job.id, condition)
                self._open[job.id] = self._open.get(job.id, 0) + 1
        return next(self._look(job.id, now_s), None)

    def withdraw(self, job_id: str) -> Job:
        """Let a held job go, which will never start."""
        return self._settle(job_id).job

    def hold(self, job: Job, until_s: float) -> None:
        """Hold a job that waits again until a time (s)."""
        self.held[job.id] = job, Dependencies()
        self._delays.add(until_s, job)

    def started(self, job_id: str, now_s: float) -> None:
        """Record the start of a job; of several attempts the first one counts."""
        self._fates.note_start(job_id, now_s)
        if self.any:
            self.changed.append(job_id)

    def ended(self, job_id: str, now_s: float, *, failed: bool) -> None:
        """Record the end of a job, or its rejection (a failure); of several ends the first one counts."""
        self._fates.note_end(job_id, now_s, failed)
        if self.any:
            self.changed.append(job_id)

    def settled(self, now_s: float) -> Iterator[SettledJob]:
        """Yield jobs settled by starts and ends of other jobs, or by the end of a delay."""
        changed, self.changed = self.changed, []
        if not self.held and not self._stated:
            self._after.clear()
            self._open.clear()
            return
        for job_id in changed:
            stated = self._stated.get(job_id)
            over = stated is not None and self._has_ended(job_id)
            yield from self._look_after(job_id, now_s)
            if over:
                yield from self._left(job_id, self._stated.pop(job_id), now_s)
        for job_id in self._delays.met(now_s):
            yield from self._look(job_id, now_s)

    def _look_after(self, job_id: str, now_s: float) -> Iterator[SettledJob]:
        """Yield jobs settled by a job's start or end; each condition is read again only until it is decided."""
        for dependent, condition in self._after.pop(job_id, ()):
            if dependent not in self.held:
                continue
            met_s = condition.met_s(self._fate(condition.job_id))
            if math.isnan(met_s):
                self._watch(dependent, condition)
                continue
            self._open[dependent] -= 1
            if not self._open[dependent] or (met_s == NEVER) is not self.held[dependent][1].any_of:
                yield from self._look(dependent, now_s)

    def _watch(self, dependent: str, condition: Condition) -> None:
        """Look at a condition again when its job starts or ends; of an array, a task that has not yet."""
        array = self._arrays.get(condition.job_id)
        watched = array.last(condition.kind is Kind.AFTER) if array is not None else condition.job_id
        self._after.setdefault(watched, []).append((dependent, condition))

    def unknown(self, known: Callable[[str], bool]) -> Iterator[SettledJob]:
        """Yield held jobs that depend on unknown jobs, once no further jobs come: they can never start."""
        for job_id, (_, stated) in tuple(self.held.items()):
            for condition in stated.conditions:
                if condition.job_id and not known(condition.job_id) and condition.job_id not in self._arrays:
                    yield self._without(job_id, condition)
                    break

    def circle(self) -> SettledJob:
        """Settle a held job in a circle of dependencies, when no other event can occur: it can never start.

        Or one that depends on an unknown job, where no further jobs were to come when it was submitted.
        """
        seen: dict[str, None] = {}
        job_id = next(iter(self.held))
        while job_id not in seen:
            seen[job_id] = None
            _, stated = self.held[job_id]
            is_open = (
                condition for condition in stated.conditions if math.isnan(self._met_s(job_id, stated, condition))
            )
            condition = next(is_open)
            job_id = self._first(condition, stated)
            if job_id in self._arrays:
                job_id = self._arrays[job_id].last(condition.kind is Kind.AFTER)
            if job_id not in self.held:
                return self._without(next(reversed(seen)), condition)
        path = list(seen)
        around = path[path.index(job_id) :]
        names = " -> ".join(job_name.partition("!")[2] for job_name in (*around, job_id))
        return self._settle(job_id, f"its dependencies go in a circle: {names}")

    def _look(self, job_id: str, now_s: float) -> Iterator[SettledJob]:
        """Yield a held job if it is settled."""
        if job_id not in self.held:
            return
        job, stated = self.held[job_id]
        times = [self._met_s(job_id, stated, condition) for condition in stated.conditions]
        if times:
            met_s = min(_last_if_open(times)) if stated.any_of else max(_last_if_open(times))
            if all(time == NEVER for time in times) if stated.any_of else NEVER in times:
                never = next(
                    condition for condition, time in zip(stated.conditions, times, strict=True) if time == NEVER
                )
                yield self._settle(job_id, f"its dependency {never} can never be met: {self._fate_of(never)}")
                return
            if not met_s <= now_s + SAME_S:
                if met_s < NEVER:  # a delay has not ended
                    self._delays.add(met_s, job)
                return
        if stated.limit:
            active = self._active.setdefault(stated.array, set())
            if len(active) >= stated.limit:
                self._queued.setdefault(stated.array, OrderedDict())[job_id] = None
                return
            active.add(job_id)
        yield self._settle(job_id)

    def _without(self, job_id: str, condition: Condition) -> SettledJob:
        return self._settle(job_id, f"its dependency {condition} names a job that was never submitted")

    def _settle(self, job_id: str, reason: str = "") -> SettledJob:
        self._open.pop(job_id, None)
        return SettledJob(self.held.pop(job_id)[0], reason)

    def _left(self, job_id: str, stated: Dependencies, now_s: float) -> Iterator[SettledJob]:
        """Yield jobs of the same name or array that are settled by the end of one."""
        if stated.alike is not None:
            alike = self._alike[stated.alike]
            del alike[job_id]
            if alike:  # only the first of them may have waited for this one
                yield from self._look(next(iter(alike)), now_s)
            else:
                del self._alike[stated.alike]
        if stated.limit:
            active, queue = self._active.get(stated.array, set()), self._queued.get(stated.array, OrderedDict())
            active.discard(job_id)
            while queue:
                first = next(iter(queue))
                if first in self.held and len(active) >= self.held[first][1].limit:
                    break
                del queue[first]
                yield from self._look(first, now_s)

    def _first(self, condition: Condition, stated: Dependencies) -> str:
        """The job that a condition waits for; of ``singleton`` the first one."""
        if stated.alike is None or condition.job_id:
            return condition.job_id
        return next(iter(self._alike[stated.alike]))

    def _met_s(self, job_id: str, stated: Dependencies, condition: Condition) -> float:
        if condition.kind is Kind.SINGLETON:
            return -math.inf if self._first(condition, stated) == job_id else math.nan
        return condition.met_s(self._fate(condition.job_id))

    def _has_ended(self, job_id: str) -> bool:
        return not math.isnan(self._fates.times(job_id)[1])

    def _fate(self, job_id: str) -> Fate:
        """The fate of a job, or of an array."""
        if (array := self._arrays.get(job_id)) is not None:
            return array.fate(self._one)
        return self._one(job_id)

    def _one(self, job_id: str) -> Fate:
        started_s, ended_s = self._fates.times(job_id)
        return Fate(started_s, abs(ended_s), math.copysign(1.0, ended_s) < 0 and not math.isnan(ended_s))

    def _fate_of(self, condition: Condition) -> str:
        """The fate of a job, in words."""
        fate = self._fate(condition.job_id)
        if condition.job_id in self._arrays:
            if fate.failed:
                return f"a task of that array failed, the last ended at {fate.ended_s:g} s"
            return f"all tasks of that array ended well by {fate.ended_s:g} s"
        if math.isnan(fate.started_s):
            return "that job was rejected or cancelled"
        return f"that job {'failed' if fate.failed else 'ended well'} at {fate.ended_s:g} s"


def _last_if_open(times: list[float]) -> list[float]:
    """Times of conditions; an open one counts as the latest."""
    return [NEVER if math.isnan(time) else time for time in times]
