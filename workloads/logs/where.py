"""Conditions on the jobs taken from a log: ``partition=batch``, ``user=ann``, ``time=2024-01-01..2024-02-01``.

Conditions on the same field are alternatives, those on different fields hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from spillway.base.near import near
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.slurm_units import UnitError, time_of
from spillway.workloads.logs.table import CALENDAR_FROM_S, JobTable

Mask = npt.NDArray[np.bool_]

TIME = "time"
"""Field of submissions; its values are ranges. All others have names as values."""

WORDS: Mapping[str, str] = {
    "partition": "partition (SWF: queue)",
    "user": "user",
    "account": "account (SWF: group)",
    "qos": "QOS",
    "state": "end state (completed, failed, cancelled, timeout)",
    "cluster": "cluster",
    TIME: "submitted from FROM on and before TO",
}
"""Fields and their descriptions."""

_EXAMPLE = "such as partition=batch or time=2024-01-01..2024-02-01"


def check(conditions: Iterable[str]) -> tuple[str, ...]:
    """Check that conditions are well-formed, and return them.

    Raises
    ------
    WorkloadError
        One is no ``FIELD=VALUE``, its field is unknown, or its range is malformed.
    """
    checked = []
    for text in conditions:
        field, equals, value = text.partition("=") if isinstance(text, str) else (str(text), "", "")
        if field not in WORDS or not equals or not value:
            raise WorkloadError(
                f"where {text!r}: expected FIELD=VALUE, {_EXAMPLE}; fields: {', '.join(WORDS)}{near(field, WORDS)}"
            )
        if field == TIME and value.count("..") != 1:
            raise WorkloadError(f"where {text!r}: expected a range FROM..TO, {_EXAMPLE}; one end may be missing")
        checked.append(text)
    return tuple(checked)


def of_machine(conditions: Sequence[str]) -> tuple[str, ...]:
    """Those conditions that name a part of the machine: users, accounts and times choose jobs of the same machine."""
    return tuple(text for text in conditions if text.startswith(("partition=", "cluster=")))


def narrowed(table: JobTable, conditions: Sequence[str]) -> JobTable:
    """The jobs that meet the conditions; the others are counted as dropped, by field.

    Raises
    ------
    WorkloadError
        No job meets a condition; the message lists values that occur.
    """
    if not conditions:
        return table
    by_field: dict[str, list[str]] = {}
    for text in check(conditions):
        field, _, value = text.partition("=")
        by_field.setdefault(field, []).append(value)
    intake = copy(table.intake)
    intake.book, intake.notes = table.intake.book.copy(), list(table.intake.notes)
    chosen = np.ones(len(table), dtype=bool)
    for field, values in by_field.items():
        find: Callable[[JobTable, str, str], Mask] = _in_range if field == TIME else _named
        met = np.logical_or.reduce([find(table, field, value) for value in values])
        if lost := int((chosen & ~met).sum()):
            intake.book.move(f"{field} is not {' or '.join(values)}", lost)
        chosen &= met
    if not chosen.any():
        raise WorkloadError(f"no job meets {' and '.join(conditions)} together", table.intake.where)
    intake.parts = of_machine(conditions)
    return replace(table.chosen(chosen), intake=intake)


def _named(table: JobTable, field: str, value: str) -> Mask:
    names = [str(name) for name in table.names[field]]
    if value not in names:
        known = [name for name in names if name not in ("", "-1")]
        have = f"it has {', '.join(known[:12])}{' ...' if len(known) > 12 else ''}" if known else "no job states one"
        raise WorkloadError(f"no job of {field} {value!r}: {have}{near(value, known)}", table.intake.where)
    return np.asarray(table[field] == names.index(value))


def _in_range(table: JobTable, field: str, value: str) -> Mask:
    """Submitted from the first time on, before the second."""
    begin, _, end = value.partition("..")
    submit_s = table["submit_s"]
    met = submit_s >= _clock(table, begin, value) if begin else np.ones(len(table), dtype=bool)
    met &= submit_s < _clock(table, end, value) if end else True
    if not met.any():
        raise WorkloadError(
            f"no job was submitted in {value}; submissions are from {submit_s.min()} to {submit_s.max()} s of the log",
            table.intake.where,
        )
    return met


def _clock(table: JobTable, text: str, whole: str) -> int:
    """A time as seconds of the log: a date, a date and time, or such seconds."""
    try:
        seconds = time_of(f"{text}T00:00:00" if len(text) == 10 and text[4:5] == "-" else text)
    except UnitError as error:
        raise WorkloadError(
            f"where time={whole}: expected a date, {error}, or seconds of the log, got {text!r}"
        ) from None
    if not len(table) or table["submit_s"].max() >= CALENDAR_FROM_S or seconds < CALENDAR_FROM_S:
        return seconds
    if (start := table.intake.header.unix_start_time) is None:
        raise WorkloadError(
            f"where time={whole}: the log counts seconds from its start and does not state when that was "
            "(UnixStartTime); give seconds such as 0..86400",
            table.intake.where,
        )
    return seconds - start
