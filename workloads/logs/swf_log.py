"""Logs in the Standard Workload Format: its 18 fields to the letter, or with other columns where that is requested.

Some logs, for instance, have 21 columns; the first 18 are those of version 2.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from spillway.protocol.limits import LATEST_S
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import Block, Head, shown
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.record import (
    CANCELLED,
    COMPLETED,
    FAILED,
    MEMORY_REQUESTED,
    NODES_REQUESTED,
    PIECE,
    LogRecord,
)
from spillway.workloads.logs.table import Intake
from spillway.workloads.swf import FIELDS, MOST, NUMBER, SwfHeader, SwfRecord, read_jobs

OWN_FIELDS = ("nodes", "eligible_s", "burst_buffer_bytes", "memory_bytes", "read_bytes", "written_bytes")
"""Fields that a further column may hold, besides the format's own."""

ALL = "swf"
"""Stands for the 18 fields of the format in a list of fields."""

SKIP = "-"
"""Stands for a column that is left out in a list of fields."""

_STATE = {0: FAILED, 1: COMPLETED, 2: PIECE, 3: PIECE, 4: PIECE, 5: CANCELLED}
_NAMES = {"user", "group", "executable", "queue", "partition"}
_NODES = re.compile(r"(\d{1,9})(:\S*)?", re.ASCII)
_FEWEST = 5


def recognises(head: Head) -> bool:
    """Whether a log begins with comments or with a line of numbers separated by blanks."""
    if head.first.startswith(";"):
        return True
    words = head.first.split()
    return len(words) >= _FEWEST and all(map(NUMBER.fullmatch, words[:_FEWEST]))


def read(blocks: Iterable[Block], intake: Intake, reading: Reading) -> Iterator[LogRecord]:
    """Yield the jobs; the header's comments go to the intake.

    Raises
    ------
    WorkloadError
        A line is malformed; the message states the line, the expected and the given text.
    """
    comments: list[str] = []
    if reading.strict:
        yield from read_jobs(blocks, intake.where, comments, _of)
    else:
        yield from _Loose(reading, intake).read(blocks, comments)
    intake.header = SwfHeader(tuple(comments))
    intake.machine_processors = intake.header.max_procs or 0


def of_record(record: SwfRecord) -> LogRecord:
    """A job of a strictly read log."""
    return _of(msgspec.structs.astuple(record))


def _of(fields: Sequence[Any]) -> LogRecord:
    """A job of the 18 fields."""
    (
        number, submit_s, wait_s, run_s, allocated, _, used_kib, requested, requested_s, requested_kib, status, user,
        group, _, queue, partition, preceding, think_s,
    ) = fields  # fmt: skip
    start_s = submit_s + wait_s if wait_s >= 0 else -1
    end_s = start_s + run_s if start_s >= 0 and run_s >= 0 else -1
    memory, marks = -1, 0
    if requested_kib > 0:
        memory, marks = round(requested_kib * 1024) * max(requested, allocated, 1), MEMORY_REQUESTED
    elif used_kib > 0:
        memory = round(used_kib * 1024) * max(allocated, requested, 1)
    memory = min(memory, MOST)
    return LogRecord(
        number, submit_s, -1, start_s, end_s, run_s, requested_s, -1, requested, allocated, -1, memory, -1, -1, -1,
        marks, "", user, queue if queue >= 0 else partition, _STATE.get(status, ""), _after(preceding, think_s), group,
    )  # fmt: skip


def _after(preceding: int, think_s: int) -> str | int:
    """The dependency on a preceding job, with the think time of the user after it."""
    return f"afterany:{preceding}+{think_s}s" if preceding > 0 and think_s > 0 else preceding


class _Loose:
    """Reads lines with other columns than the format's."""

    def __init__(self, reading: Reading, intake: Intake) -> None:
        self._intake = intake
        self._named = layout(reading.fields) if reading.fields else None
        self._fields: tuple[str, ...] = self._named or FIELDS
        self._any_number = reading.lenient
        self._left_out: dict[str, int] = {}
        self._missing: dict[str, int] = {}
        self._no_number: dict[str, int] = {}

    def read(self, blocks: Iterable[Block], comments: list[str]) -> Iterator[LogRecord]:
        where = self._intake.where
        for first, lines in blocks:
            for line_number, line in enumerate(lines, start=first):
                parts = line.split()
                if not parts:
                    continue
                if parts[0][0] == ";":
                    comments.append(line.rstrip("\r").lstrip()[1:].rstrip())
                    continue
                yield self._record(parts, f"{where}:{line_number}")
        self._intake.notes += self._said()

    def _record(self, parts: list[str], where: str) -> LogRecord:
        fields = self._fields
        if len(parts) != len(fields):
            if not self._any_number or len(parts) < _FEWEST:
                least = f" (at least {_FEWEST})" if self._any_number else f" ({', '.join(fields)})"
                raise WorkloadError(
                    f"expected {len(fields)} columns{least}, got {len(parts)}: {shown(' '.join(parts))}", where
                )
            self._count_columns(len(parts), len(fields))
        values: dict[str, int | str] = {}
        for name, text in zip(fields, parts, strict=False):
            if name != SKIP:
                values[name] = self._value(name, text, where)
        get = values.get
        number, submit = get("number", -1), get("submit_s", -1)
        for name, value in (("number", number), ("submit_s", submit)):
            if not isinstance(value, int) or value < 0:
                raise WorkloadError(f"{name} must be a whole number >= 0", where)
        whole = [value if isinstance(value := get(name, -1), int) else -1 for name in FIELDS]
        record = _of(whole)
        return msgspec.structs.replace(
            record,
            user=get("user", -1),
            account=get("group", -1),
            partition=get("queue", get("partition", -1)),
            nodes=get("nodes", -1),
            eligible_s=get("eligible_s", -1),
            burst_buffer_bytes=get("burst_buffer_bytes", -1),
            memory_bytes=get("memory_bytes", record.memory_bytes),
            read_bytes=get("read_bytes", -1),
            written_bytes=get("written_bytes", -1),
            marks=record.marks | (NODES_REQUESTED if "nodes" in values else 0),
        )

    def _value(self, name: str, text: str, where: str) -> int | str:
        if text.isascii() and NUMBER.fullmatch(text):
            number = float(text)
            if abs(number) < MOST:
                value = int(text) if text.lstrip("+-").isdigit() else round(number)
                late = name.endswith("_s") and value > LATEST_S
                if not late:
                    return max(value, -1)
            raise WorkloadError(f"{name} must be a number that is not as large, got {shown(text)}", where)
        if name == "nodes":  # a batch system's request such as 2:ppn=8 or 1:ppn=4+3:ppn=2
            found = [_NODES.fullmatch(part) for part in text.split("+")]
            if all(found):
                return sum(int(match[1]) for match in found if match)
        if name in _NAMES and text.isprintable():
            return text
        if name in ("number", "submit_s"):
            raise WorkloadError(f"{name} must be a whole number >= 0, got {shown(text)}", where)
        if not self._any_number:
            raise WorkloadError(f"{name} must be a number, got {shown(text)}", where)
        self._no_number[name] = self._no_number.get(name, 0) + 1
        return -1

    def _count_columns(self, found: int, expected: int) -> None:
        if found > expected:
            which = f"column {found}" if found == expected + 1 else f"columns {expected + 1} to {found}"
            self._left_out[which] = self._left_out.get(which, 0) + 1
        else:
            which = ", ".join(name for name in self._fields[found:] if name != SKIP)
            self._missing[which] = self._missing.get(which, 0) + 1

    def _said(self) -> Iterator[str]:
        if SKIP in self._fields:
            places = ", ".join(str(place) for place, name in enumerate(self._fields, start=1) if name == SKIP)
            yield f"columns {places} were left out, as --fields says"
        for which, count in self._left_out.items():
            yield (
                f"{which} of {count:,} lines were left out (--fields {ALL},NAME,... gives further columns a meaning: "
                f"{', '.join(OWN_FIELDS)}; {SKIP} leaves one out)"
            )
        for which, count in self._missing.items():
            yield f"{count:,} lines end before {which}: taken as not known"
        for name, count in self._no_number.items():
            yield f"{name} of {count:,} lines is no number: taken as not known"


def layout(fields: str) -> tuple[str, ...]:
    """The columns that a list of fields names (``swf,nodes,-,-``).

    Raises
    ------
    WorkloadError
        A name is unknown, comes twice, or the job number or the submission is missing.
    """
    names: list[str] = []
    for name in fields.split(","):
        names += FIELDS if name.strip() == ALL else [name.strip()]
    known = {*FIELDS, *OWN_FIELDS, SKIP}
    for name in names:
        if name not in known:
            raise WorkloadError(
                f"--fields: unknown field {name!r}; known: {ALL} (the format's 18), {SKIP} (leave the column out), "
                f"{', '.join((*FIELDS, *OWN_FIELDS))}"
            )
    twice = sorted({name for name in names if name != SKIP and names.count(name) > 1})
    missing = [name for name in ("number", "submit_s") if name not in names]
    if twice or missing:
        what = f"{twice[0]!r} comes twice" if twice else f"{missing[0]!r} is missing"
        raise WorkloadError(f"--fields: {what}; each line needs its job number and its submission, each field once")
    return tuple(names)
