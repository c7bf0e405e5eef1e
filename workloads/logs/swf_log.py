"""Columns of the Standard Workload Format: its 18 fields, or others where that is requested.

Some logs, for instance, have 21 columns; the first 18 are those of version 2.2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from spillway.protocol.limits import LATEST_S
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.book import Fate
from spillway.workloads.logs.columns import Column, fast_whole
from spillway.workloads.logs.layouts import Rows
from spillway.workloads.logs.lines import Block, LogHead, shown
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.record import CANCELLED, COMPLETED, FAILED, PIECE
from spillway.workloads.logs.slurm_units import UnitError
from spillway.workloads.logs.table import Intake, Ints
from spillway.workloads.swf import FIELDS, Number, SwfHeader, comment_of

OWN_FIELDS = ("nodes", "eligible_s", "burst_buffer_bytes", "memory_bytes", "read_bytes", "written_bytes")
"""Fields that a further column may hold, besides the format's own."""

ALL = "swf"
"""Stands for the 18 fields of the format in a list of fields."""

SKIP = "-"
"""Stands for a column that is left out in a list of fields."""

_NAMED = {"user", "group", "executable", "queue", "partition"}
_FRACTIONAL = {"cpu_s", "used_memory_kib", "requested_memory_kib"}
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
"""A number as logs write it."""
MOST = 2**62
"""Numbers are below this: beyond it they do not fit the columns of a table."""
_STATUS = range(-1, 6)
_TIMES = {"submit_s", "wait_s", "run_s", "requested_s", "think_s"}
_AT_LEAST = {"number": 0, "submit_s": 0}

_STATE = {0: FAILED, 1: COMPLETED, 2: PIECE, 3: PIECE, 4: PIECE, 5: CANCELLED}
_NODES = re.compile(r"(\d{1,9})(:\S*)?", re.ASCII)
_FEWEST = 5
_WHOLE = re.compile(r"[0-9 -]*")


def recognises(head: LogHead) -> bool:
    """Whether a log begins with comments or with a line of numbers separated by blanks."""
    if head.first.startswith(";"):
        return True
    words = head.first.split()
    return len(words) >= _FEWEST and all(map(NUMBER.fullmatch, words[:_FEWEST]))


def label_of(name: str) -> str:
    """A field as errors name it."""
    return f"field {FIELDS.index(name) + 1} ({name})"


def value_of(name: str, text: str) -> Number:
    """A field's value; times with fractions of a second are rounded.

    Raises
    ------
    UnitError
        It is no value of this field.
    """
    fractional = name in _FRACTIONAL or name in _TIMES
    kind = "a number" if name in _FRACTIONAL else "a whole number"
    if not text.isascii() or not NUMBER.fullmatch(text):
        raise UnitError(kind)
    fraction = float(text)
    if not math.isfinite(fraction) or not (fraction.is_integer() or fractional):
        raise UnitError(kind)
    value: Number = int(fraction) if fraction.is_integer() else round(fraction) if name in _TIMES else fraction
    if text.lstrip("+-").isdigit():
        value = int(text)  # exact beyond 2^53
    least = _AT_LEAST.get(name, 0)
    if fraction < least and not (value == -1 and name not in _AT_LEAST):
        raise UnitError(f">= {least}{'' if name in _AT_LEAST else ' or -1 for unknown'}")
    if name in _TIMES and value > LATEST_S:
        raise UnitError(
            f"a finite number of at most {LATEST_S:.0f} s (272 years; are the times of this log in microseconds?)"
        )
    if value >= MOST:
        raise UnitError("less than 2^62")
    if name == "status" and value not in _STATUS:
        raise UnitError("one of -1, 0, 1, 2, 3, 4, 5")
    return value


def _cell(name: str) -> Callable[[str], Any]:
    return lambda text: value_of(name, text) if text else -1


def _column(name: str, target: str, scale: Callable[[Any], Any] | None = None) -> Column:
    cell = _cell(name)
    read = cell if scale is None else lambda text: scale(cell(text))
    fast = partial(fast_whole, least=_AT_LEAST.get(name, -1), most=5 if name == "status" else int(LATEST_S))
    return Column(name, target, read, True, fast if scale is None else None, label_of(name))


def _kib(value: float) -> int:
    return round(value * 1024) if value > 0 else -1


COLUMNS = (
    *(_column(name, target) for name, target in (
        ("number", "number"), ("submit_s", "submit_s"), ("wait_s", "wait_s"), ("run_s", "elapsed_s"),
        ("processors", "allocated_processors"), ("requested_processors", "requested_processors"),
        ("requested_s", "requested_s"), ("user", "user"), ("group", "account"), ("queue", "partition"),
        ("partition", "partition"), ("preceding_job", "dependency_number"), ("think_s", "think_s"),
    )),
    _column("used_memory_kib", "used_core_memory", _kib),
    _column("requested_memory_kib", "core_memory", _kib),
    _column("status", "state", lambda value: _STATE.get(value, "")),
    *(_column(name, "unused") for name in ("cpu_s", "executable")),
)  # fmt: skip

AS_WRITTEN = tuple(_column(name, name) for name in FIELDS)
"""The 18 fields as they are, for logs in memory."""


def _name(cell: Callable[[str], Any], text: str) -> Any:
    """A number or a name."""
    try:
        return cell(text)
    except UnitError:
        if text.isprintable() and not NUMBER.fullmatch(text):
            return text
        raise


def _node_count(text: str) -> int:
    """Nodes, also of a batch system's request such as ``2:ppn=8`` or ``1:ppn=4+3:ppn=2``."""
    found = [_NODES.fullmatch(part) for part in text.split("+")]
    if all(found):
        return sum(int(match[1]) for match in found if match)
    return int(value_of("nodes", text)) if text else -1


def columns_of(reading: Reading) -> tuple[Column, ...]:
    """Columns of the format as the options of reading have them."""
    if not reading.lenient and not reading.fields:
        return COLUMNS
    loose = tuple(
        replace(column, read=partial(_name, column.read)) if column.names in _NAMED else column for column in COLUMNS
    )
    own = tuple(Column(name, name, _cell(name), True) for name in OWN_FIELDS[1:])
    return (*loose, *own, Column("nodes", "wanted_nodes", _node_count, True))


def rows(blocks: Iterable[Block], intake: Intake, reading: Reading) -> Iterator[Rows]:
    """Rows of the lines; the header's comments go to the intake.

    Raises
    ------
    WorkloadError
        A directive's number in the header is malformed.
    """
    comments: list[str] = []
    fields = layout(reading.fields) if reading.fields else FIELDS
    for first, lines in blocks:
        if (quick := _plain(lines, len(fields))) is not None:
            intake.book.lines += len(quick)
            columns = {name: quick[:, place].copy() for place, name in enumerate(fields) if name != SKIP}
            yield Rows(range(first, first + len(quick)), columns, lines)
            continue
        numbers, parts, texts = [], [], []
        for number, line in enumerate(lines, start=first):
            words = line.split()
            if not words:
                continue
            if words[0][0] in ";#":
                comments.append(comment_of(line, f"{intake.where}:{number}"))
                continue
            intake.book.lines += 1
            if len(words) != len(fields) and not _fits(words, fields, number, intake, reading):
                continue
            numbers.append(number)
            parts.append(words)
            texts.append(line)
        intake.header = SwfHeader(tuple(comments))
        intake.machine_processors = intake.header.max_procs or 0
        if numbers:
            cells = dict(zip(fields, zip(*parts, strict=True), strict=True))
            cells.pop(SKIP, None)
            yield Rows(numbers, cells, texts)
    if SKIP in fields:
        places = ", ".join(str(place) for place, name in enumerate(fields, start=1) if name == SKIP)
        intake.notes.append(f"columns {places} were left out, as --fields says")


def _plain(lines: list[str], count: int) -> Ints | None:
    """The numbers of lines of so many whole numbers between single blanks; ``None`` for any other lines."""
    if lines and not lines[-1]:
        lines.pop()
    if not lines or any(line.count(" ") != count - 1 for line in lines):
        return None
    text = " ".join(lines)
    if not _WHOLE.fullmatch(text):
        return None
    try:
        found = np.fromstring(text, dtype=np.int64, sep=" ")
    except (ValueError, DeprecationWarning):  # a sign alone, or inside a number
        return None
    return found.reshape(len(lines), count) if len(found) == len(lines) * count else None


def _fits(words: list[str], fields: Sequence[str], number: int, intake: Intake, reading: Reading) -> bool:
    """Make a line of another number of words fit, or count it as unreadable."""
    count, found = len(fields), len(words)
    if not reading.lenient or found < _FEWEST:
        begin = " ".join(words[:4]) + (" ..." if found > 4 else "")
        what = f"{count} columns ({', '.join(fields)})" if reading.fields else (
            f"{count} fields separated by blanks (Standard Workload Format 2.2)")  # fmt: skip
        remedy = "; --lenient leaves out the further ones" if found > count else ""
        fault = f"expected {what}, got {found}: {shown(begin)}{remedy}"
        intake.book.unreadable("another number of fields", number, fault)
        return False
    if found > count:
        which = f"column {found}" if found == count + 1 else f"columns {count + 1} to {found}"
        more = (
            f"--fields {ALL},NAME,... gives further columns a meaning: {', '.join(OWN_FIELDS)}; {SKIP} leaves one out"
        )
        intake.book.add(Fate.REPAIRED, f"{which} left out ({more})")
        del words[count:]
    else:
        ends = ", ".join(name for name in fields[found:] if name != SKIP)
        intake.book.add(Fate.REPAIRED, f"the line ends before {ends}: taken as not known")
        words += [""] * (count - found)
    return True


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
