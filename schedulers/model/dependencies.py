"""Dependencies of jobs besides resources: other jobs' starts and ends, and the limit on tasks of their array.

References
----------
Slurm's manual, ``sbatch``: options ``--dependency`` and ``--array``.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from spillway.base.errors import RemoteProtocolError, shown
from spillway.protocol.limits import LATEST_S
from spillway.schedulers.model.job import Job, JobField

_DEPENDS, _NAME, _ARRAY, _LIMIT = "depends", "job_name", "array", "array_limit"

DEPENDENCY_FIELDS = (
    JobField(
        _DEPENDS, "job", "text: KIND:JOB[+MINUTES][:JOB ...], joined by ',' (all) or '?' (any)",
        "jobs of its workload that it waits for; KIND is after, afterany, afterok, afternotok, aftercorr or (without "
        "jobs) singleton",
    ),
    JobField(_NAME, "job", "text", "name that jobs of one user share, only for singleton"),
    JobField(_ARRAY, "job", "text or whole number", "job array that it is a task of; jobs may wait for all of it"),
    JobField(_LIMIT, "job", "whole number, at least 1", "tasks of its array that may wait or run at a time"),
)  # fmt: skip
"""Fields of jobs that wait for others."""


class Fate(NamedTuple):
    """The fate of a job: its start and end (s), NaN before they occur, and whether it failed.

    A job that was rejected has ended, failed, without a start.
    """

    started_s: float = math.nan
    ended_s: float = math.nan
    failed: bool = False

    @property
    def began_s(self) -> float:
        """Time at which it no longer waits: its start, else its end (s)."""
        return self.ended_s if math.isnan(self.started_s) else self.started_s


NEVER = math.inf
"""Time of an event that can no longer occur."""

_At = Callable[[Fate], float]


def _started(fate: Fate) -> float:
    return fate.began_s


def _ended(fate: Fate) -> float:
    return fate.ended_s


def _succeeded(fate: Fate) -> float:
    return NEVER if fate.failed else fate.ended_s


def _failed(fate: Fate) -> float:
    return fate.ended_s if fate.failed or math.isnan(fate.ended_s) else NEVER


class Kind(enum.Enum):
    """Kinds of dependencies, by their names in Slurm."""

    AFTER = "after"
    AFTERANY = "afterany"
    AFTEROK = "afterok"
    AFTERNOTOK = "afternotok"
    AFTERCORR = "aftercorr"
    SINGLETON = "singleton"


_WHEN: dict[Kind, _At] = {
    Kind.AFTER: _started,
    Kind.AFTERANY: _ended,
    Kind.AFTEROK: _succeeded,
    Kind.AFTERNOTOK: _failed,
    Kind.AFTERCORR: _succeeded,
}


class Condition(NamedTuple):
    """One job that a job waits for; of ``singleton``, with the job id "", all earlier ones of its user and name."""

    kind: Kind
    job_id: str = ""
    delay_s: float = 0.0

    def met_s(self, fate: Fate) -> float:
        """Time at which it is met (s): NaN while that is open, :data:`NEVER` if it can no longer be met."""
        return _WHEN[self.kind](fate) + self.delay_s

    def __str__(self) -> str:
        return f"{self.kind.value}:{self.job_id.partition('!')[2]}" if self.job_id else self.kind.value


class Dependencies(msgspec.Struct, frozen=True, gc=False):
    """The dependencies of a job.

    Attributes
    ----------
    conditions
        Jobs that it waits for.
    any_of
        Whether one condition that is met is enough.
    alike
        Workload, user and name that ``singleton`` compares; ``None`` if the job has no name.
    array, limit
        Array that it is a task of, with its workload, and the most tasks of it that may wait or run at a time; "", 0:
        no array, no limit.
    """

    conditions: tuple[Condition, ...] = ()
    any_of: bool = False
    alike: tuple[str, str, str] | None = None
    array: str = ""
    limit: int = 0


_DELAYED = re.compile(r"(.+)\+(\d+(?:\.\d+)?)(s?)")
_TASK = re.compile(r".+(_\d+)")


def dependencies_of(job: Job, known: Callable[[str], bool]) -> Dependencies | None:
    """Read the dependencies of a job; ``None`` if it has no field for them.

    ``known`` returns whether a job of this full id was submitted before: a ``+`` in such a job's name begins no delay.
    Jobs that are submitted later may be named, too.

    Raises
    ------
    RemoteProtocolError
        A field is malformed; the error names its place.
    """
    extras = job.extras
    if extras.keys().isdisjoint(_FIELDS):
        return None
    limit, array = extras.get(_LIMIT, 0), extras.get(_ARRAY, "")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < (1 if _LIMIT in extras else 0):
        raise _wrong(job, _LIMIT, "a whole number of tasks, at least 1")
    if not isinstance(array, int | str) or isinstance(array, bool) or (limit and array == ""):
        raise _wrong(job, _ARRAY, f"the array's name: a text or a whole number (it limits {_LIMIT!r})")
    name, text = extras.get(_NAME), extras.get(_DEPENDS, "")
    if name is not None and not isinstance(name, str):
        raise _wrong(job, _NAME, "a text")
    if not isinstance(text, str):
        raise _wrong(job, _DEPENDS, "a text such as 'afterok:12'")
    any_of = "?" in text
    if any_of and "," in text:
        raise _wrong(job, _DEPENDS, "joined by ',' (all) or by '?' (any), not by both")
    conditions = tuple(
        condition for part in text.split("?" if any_of else ",") if text for condition in _parts(job, part, known)
    )
    if any(condition.kind is Kind.SINGLETON for condition in conditions) and name is None:
        raise _wrong(job, _DEPENDS, f"without singleton, as the job has no {_NAME!r}")
    alike = (job.workload, job.user, name) if name is not None else None
    return Dependencies(conditions, any_of, alike, f"{job.workload}!{array}" if array != "" else "", limit)


_FIELDS = frozenset(field.name for field in DEPENDENCY_FIELDS)


def _parts(job: Job, text: str, known: Callable[[str], bool]) -> list[Condition]:
    """The conditions of ``KIND:JOB[+MINUTES][:JOB ...]``."""
    word, *jobs = text.split(":")
    try:
        kind = Kind(word)
    except ValueError:
        kinds = ", ".join(kind.value for kind in Kind)
        raise _wrong(job, _DEPENDS, f"conditions of the kinds {kinds} (here {shown(word)})") from None
    if bool(jobs) is (kind is Kind.SINGLETON) or "" in jobs:
        raise _wrong(job, _DEPENDS, "singleton without jobs, or a kind with jobs (afterok:12:13)")
    return [_condition(job, kind, job_name, known) for job_name in jobs] or [Condition(kind)]


def _condition(job: Job, kind: Kind, name: str, known: Callable[[str], bool]) -> Condition:
    """A condition on one job; text after ``+`` is a delay unless a job has the whole name."""
    task = _TASK.fullmatch(job.name)
    suffix = task[1] if kind is Kind.AFTERCORR and task else ""
    whole = f"{job.workload}!{name}{suffix}"
    delayed = None if known(whole) else _DELAYED.fullmatch(name)
    if delayed is None:
        return Condition(kind, whole)
    whole = f"{job.workload}!{delayed[1]}{suffix}"
    delay_s = float(delayed[2]) * (1.0 if delayed[3] else 60.0)
    if not delay_s <= LATEST_S:
        raise _wrong(job, _DEPENDS, f"delays of at most {LATEST_S:.0f} s")
    return Condition(kind, whole, delay_s)


def _wrong(job: Job, field: str, expected: str) -> RemoteProtocolError:
    text = f"job {shown(job.id)}: {field!r} must be {expected}, got {shown(job.extras.get(field))}"
    return RemoteProtocolError(text, f"$.job.{field}")
