"""From the texts of Slurm's accounts to jobs: functions for both ``sacct`` and ``jobcomp/filetxt``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from spillway.protocol.limits import LATEST_S
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import shown
from spillway.workloads.logs.slurm_units import UNLIMITED, UnitError
from spillway.workloads.logs.table import Intake

T = TypeVar("T")

_ID = re.compile(r"(\d{1,18})((?:_\d{1,18})?(?:\+\d{1,9})?)(\..+)?", re.ASCII)
_PENDING_ARRAY = re.compile(r"\d{1,18}_\[[^\]]*\]?", re.ASCII)

_STEP = "step of a job (its job's line is used)"
PENDING_ARRAY = "tasks of an array that had not begun"
NEVER_SUBMITTED = "submission not known"
NO_LIMIT = "jobs have no time limit (UNLIMITED)"


def value(convert: Callable[[str], T], name: str, text: str, where: str) -> T:
    """A field's value; raise :class:`WorkloadError` that names line and field."""
    try:
        return convert(text)
    except UnitError as error:
        raise WorkloadError(f"{name} must be {error}, got {shown(text)}", where) from None


def id_of(text: str, where: str, intake: Intake) -> tuple[int, str] | None:
    """Number of a job and its part; ``None``, counted as dropped, for lines that are not jobs of their own."""
    if text.isascii() and text.isdecimal() and len(text) <= 18:
        return int(text), ""
    found = _ID.fullmatch(text)
    if found and found[3]:
        intake.dropped[_STEP] += 1
        return None
    if found:
        return int(found[1]), found[2]
    if _PENDING_ARRAY.fullmatch(text):
        intake.dropped[PENDING_ARRAY] += 1
        limit = text.rpartition("%")[2].rstrip("]")
        if "%" in text and limit.isdecimal():
            intake.limited_arrays[int(text.partition("_")[0])] = int(limit)
        return None
    raise WorkloadError(f"JobID must be like 12, 12_3, 12+0, 12.batch or 12_[4-9], got {shown(text)}", where)


def limit_of(seconds: int, unlimited: list[int]) -> int:
    """A requested time; one without limit is counted, and not known (-1)."""
    if seconds == UNLIMITED:
        unlimited[0] += 1
        return -1
    return seconds


def run_of(start_s: int, end_s: int, elapsed_s: int, where: str) -> int:
    """Duration of a job: as it was counted, else from its start to its end; -1 for unknown.

    The count comes first: local times jump by an hour when clocks change.
    """
    if elapsed_s >= 0:
        return elapsed_s
    if start_s < 0 or end_s < 0:
        return -1
    if end_s < start_s:
        raise WorkloadError(f"the job ends {start_s - end_s} s before it starts", where)
    return end_s - start_s


@lru_cache(maxsize=100_000)
def user_of(text: str) -> str:
    """A user's name, of ``name`` or ``name(1000)``."""
    return text.partition("(")[0].strip()


def in_range(seconds: float) -> bool:
    """Whether a simulation can represent a time."""
    return -1 <= seconds <= LATEST_S
