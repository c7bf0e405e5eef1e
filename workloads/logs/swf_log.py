"""Columns of the Standard Workload Format: its 18 fields, or others where that is requested.

Some logs, for instance, have 21 columns; the first 18 are those of version 2.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from spillway.protocol.limits import LATEST_S
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.book import Fate
from spillway.workloads.logs.columns import Column, fast_whole
from spillway.workloads.logs.layouts import Rows
from spillway.workloads.logs.lines import Block, Head, shown
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.record import CANCELLED, COMPLETED, FAILED, PIECE
from spillway.workloads.logs.slurm_units import UnitError
from spillway.workloads.logs.table import Intake, Ints
from spillway.workloads.swf import FIELDS, NUMBER, SwfHeader, comment_of, label_of, value_of

OWN_FIELDS = ("nodes", "eligible_s", "burst_buffer_bytes", "memory_bytes", "read_bytes", "written_bytes")
"""Fields that a further column may hold, besides the format's own."""

ALL = "swf"
"""Stands for the 18 fields of the format in a list of fields."""

SKIP = "-"
"""Stands for a column that is left out in a list of fields."""

_STATE = {0: FAILED, 1: COMPLETED, 2: PIECE, 3: PIECE, 4: PIECE, 5: CANCELLED}
_NODES = re.compile(r"(\d{1,9})(:\S*)?", re.ASCII)
_FEWEST = 5
_WHOLE = re.compile(r"[0-9 -]*")


def recognises(head: Head) -> bool:
    """Whether a log begins with comments or with a line of numbers separated by blanks."""
    if head.first.startswith(";"):
        return True
    words = head.first.split()
    return len(words) >= _FEWEST and all(map(NUMBER.fullmatch, words[:_FEWEST]))


def _cell(name: str) -> Callable[[str], Any]:
    return lambda text: value_of(name, text) if text else -1


def _column(name: str, target: str, scale: Callable[[Any], Any] | None = None) -> Column:
    cell = _cell(name)
    read = cell if scale is None else lambda text: scale(cell(text))
    fast = partial(fast_whole, least=0 if name in ("number", "submit_s") else -1, most=int(LATEST_S))
    return Column((name,), (target,), read, True, fast if scale is None else None, label_of(name))


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
    names = {"user", "group", "executable", "queue", "partition"}
    loose = tuple(
        Column(one.names, one.fields, lambda text, read=one.read: _name(read, text), one.played, one.fast, one.label)  # type: ignore[misc]
        if one.names[0] in names else one
        for one in COLUMNS
    )  # fmt: skip
    own = tuple(Column((name,), (name,), _cell(name), True) for name in OWN_FIELDS[1:])
    return (*loose, *own, Column(("nodes",), ("wanted_nodes",), _node_count, True))


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
        intake.book.unreadable("another number of fields", number, f"expected {what}, got {found}: {shown(begin)}")
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
