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
from spillway.workloads.logs.lines import Block, shown
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.record import CANCELLED, COMPLETED, FAILED, OF_PIECES, PIECE
from spillway.workloads.logs.slurm_units import UnitError
from spillway.workloads.logs.table import Intake, Ints
from spillway.workloads.swf import FIELDS, Number, SwfHeader, comment_of

OWN_FIELDS = ("nodes", "eligible_s", "burst_buffer_bytes", "memory_bytes", "read_bytes", "written_bytes")
"""Fields that a further column may hold, besides the format's own."""

ALL = "swf"
"""Stands for the 18 fields of the format in a list of fields."""

SKIP = "-"
"""Stands for a column that is left out in a list of fields."""

_FRACTIONAL = {"cpu_s", "used_memory_kib", "requested_memory_kib"}
_TIMES = {"submit_s", "wait_s", "run_s", "requested_s", "think_s"}
_NAMED = {"user", "group", "executable", "queue", "partition"}
_KNOWN = {"number", "submit_s"}
"""Fields that must be known."""
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
NUMBER = re.compile(_NUMBER)
"""A number as logs write it."""
BEGINS = rf";|(?:{_NUMBER}[ \t]+){{4}}{_NUMBER}(?:\s|$)"
"""Beginning of a log: a comment, or a line of numbers separated by blanks."""
_NODES = re.compile(r"(\d{1,9})(:\S*)?", re.ASCII)
_WHOLE = re.compile(r"[0-9 -]*")
_FEWEST = 5
_EACH = "each line needs its job number and its submission, each field once"
_PIECES = ("2", "3", "4")
_STATE = {0: FAILED, 1: COMPLETED, 2: PIECE, 3: PIECE, 4: PIECE, 5: CANCELLED}


def value_of(name: str, text: str) -> Number:
    """A field's value; times with fractions of a second are rounded; -1 for an empty text.

    Raises
    ------
    UnitError
        It is no value of this field.
    """
    number = float(text or -1) if text.isascii() and (not text or NUMBER.fullmatch(text)) else math.nan
    is_whole, may_be = number.is_integer(), name in _FRACTIONAL or name in _TIMES
    if not math.isfinite(number) or not (is_whole or may_be):
        raise UnitError("a number" if name in _FRACTIONAL else "a whole number")
    value: Number = round(number) if is_whole or name in _TIMES else number
    if text.lstrip("+-").isdigit():
        value = int(text)  # exact beyond 2^53
    if text and number < 0 and (value != -1 or name in _KNOWN):
        raise UnitError(f">= 0{'' if name in _KNOWN else ' or -1 for unknown'}")
    if name in _TIMES and value > LATEST_S:
        raise UnitError(
            f"a finite number of at most {LATEST_S:.0f} s (272 years; are the times of this log in microseconds?)"
        )
    if value >= 2**62:  # beyond it they do not fit the columns of a table
        raise UnitError("less than 2^62")
    if name == "status" and value not in range(-1, 6):
        raise UnitError("one of -1, 0, 1, 2, 3, 4, 5")
    return value


def _column(name: str, target: str, scale: Callable[[Any], Any] | None = None) -> Column:
    cell = partial(value_of, name)
    label = f"field {FIELDS.index(name) + 1} ({name})"
    if scale is not None:
        return Column(name, target, lambda text: scale(cell(text)), True, None, label)
    most = 5 if name == "status" else int(LATEST_S)
    return Column(name, target, cell, True, partial(fast_whole, least=0 if name in _KNOWN else -1, most=most), label)


def _kib(value: float) -> int:
    return round(value * 1024) if value > 0 else -1


_READ = {
    "wait_s": "wait_s", "run_s": "elapsed_s", "processors": "allocated_processors", "group": "account",
    "queue": "partition", "preceding_job": "dependency_number",
}  # fmt: skip
"""Fields of the format by other names than in a table."""
_SCALED = {
    "used_memory_kib": ("used_core_memory", _kib),
    "requested_memory_kib": ("core_memory", _kib),
    "status": ("state", lambda value: _STATE.get(int(value), "")),
}
COLUMNS = (
    *(_column(name, _READ.get(name, name)) for name in FIELDS if name not in _SCALED),
    *(_column(name, target, scale) for name, (target, scale) in _SCALED.items()),
)
AS_WRITTEN = tuple(_column(name, name) for name in FIELDS)
"""The 18 fields as they are, for logs in memory."""


def _name(cell: Callable[[str], Any], text: str) -> Any:
    """A number or a name."""
    is_name = text.isprintable() and bool(text) and not NUMBER.fullmatch(text)
    return text if is_name else cell(text)


def _node_count(text: str) -> int:
    """Nodes, also of a batch system's request such as ``2:ppn=8`` or ``1:ppn=4+3:ppn=2``."""
    found = [match for part in text.split("+") if (match := _NODES.fullmatch(part))]
    whole = len(found) == text.count("+") + 1
    return sum(int(match[1]) for match in found) if whole else int(value_of("nodes", text))


def columns_of(reading: Reading) -> tuple[Column, ...]:
    """Columns of the format as the options of reading have them."""
    if not reading.lenient and not reading.fields:
        return COLUMNS
    loose = tuple(
        replace(column, read=partial(_name, column.read)) if column.names in _NAMED else column for column in COLUMNS
    )
    own = tuple(Column(name, name, partial(value_of, name), True) for name in OWN_FIELDS[1:])
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
    piece = _piece(fields)
    for first, lines in blocks:
        if (quick := _plain(lines, len(fields))) is not None:
            intake.book.lines += len(quick)
            columns = {name: quick[:, place].copy() for place, name in enumerate(fields) if name != SKIP}
            yield Rows(range(first, first + len(quick)), columns, lines)
            continue
        found: list[tuple[int, list[str], str]] = []
        for number, line in enumerate(lines, start=first):
            words = line.split()
            if not words:
                continue
            if words[0][0] in ";#":
                comments.append(comment_of(line, f"{intake.where}:{number}"))
                continue
            intake.book.lines += 1
            if len(words) == len(fields) or _fits(words, fields, number, intake, reading):
                if piece(words):
                    intake.book.add(Fate.LEFT_OUT, OF_PIECES)
                else:
                    found.append((number, words, line))
        intake.header = SwfHeader(tuple(comments))
        intake.machine_processors = intake.header.max_procs or 0
        if found:
            numbers, parts, texts = zip(*found, strict=True)
            cells = dict(zip(fields, zip(*parts, strict=True), strict=True))
            cells.pop(SKIP, None)
            yield Rows(numbers, cells, texts)
    if SKIP in fields:
        places = ", ".join(str(place) for place, name in enumerate(fields, start=1) if name == SKIP)
        intake.notes.append(f"columns {places} were left out, as --fields says")


def _piece(fields: Sequence[str]) -> Callable[[Sequence[str]], bool]:
    """Whether a line is of a further piece of a checkpointed job, which by the format has no submission (field 2)."""
    if "status" not in fields:
        return lambda _: False
    submit, status = fields.index("submit_s"), fields.index("status")
    return lambda words: words[submit] == "-1" and words[status] in _PIECES


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
        what = "fields separated by blanks (Standard Workload Format 2.2)"
        what = f"{count} columns ({', '.join(fields)})" if reading.fields else f"{count} {what}"
        remedy = "; --lenient leaves out the further ones" if found > count else ""
        fault = f"expected {what}, got {found}: {shown(begin)}{remedy}"
        intake.book.unreadable("another number of fields", number, fault)
        return False
    if found > count:
        which = f"column {found}" if found == count + 1 else f"columns {count + 1} to {found}"
        gives = f"--fields {ALL},NAME,... gives further columns a meaning: {', '.join(OWN_FIELDS)}"
        intake.book.add(Fate.REPAIRED, f"{which} left out ({gives}; {SKIP} leaves one out)")
    else:
        ends = ", ".join(name for name in fields[found:] if name != SKIP)
        intake.book.add(Fate.REPAIRED, f"the line ends before {ends}: taken as not known")
    words[:] = [*words, *[""] * (count - found)][:count]
    return True


def layout(fields: str) -> tuple[str, ...]:
    """The columns that a list of fields names (``swf,nodes,-,-``).

    Raises
    ------
    WorkloadError
        A name is unknown, comes twice, or the job number or the submission is missing.
    """
    given = (name.strip() for name in fields.split(","))
    names = [name for item in given for name in (FIELDS if item == ALL else (item,))]
    known = (*FIELDS, *OWN_FIELDS)
    for name in names:
        if name not in (*known, SKIP):
            raise WorkloadError(
                f"--fields: unknown field {name!r}; known: {ALL} (the format's 18), {SKIP} (leave the column out), "
                f"{', '.join(known)}"
            )
        if name != SKIP and names.count(name) > 1:
            raise WorkloadError(f"--fields: {name!r} comes twice; {_EACH}")
    for name in sorted(_KNOWN - set(names)):
        raise WorkloadError(f"--fields: {name!r} is missing; {_EACH}")
    return tuple(names)
