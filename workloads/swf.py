"""Standard Workload Format 2.2: strict reader, exact writer.

A log is a text of comment lines (``;``), some of which are directives (``; MaxNodes: 100``), and of one line of 18
fields per job. The reader keeps everything it reads, so that reading and writing is the identity on well-formed logs
up to white space.

References
----------
S. Chapin et al., *Benchmarks and standards for the evaluation of parallel job schedulers*, JSSPP 1999, and the
definition of version 2.2 kept by the Parallel Workloads Archive.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from spillway.protocol.limits import LATEST_S
from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import read_bytes, write_bytes
from spillway.workloads.logs.book import UNREADABLE, Book
from spillway.workloads.logs.lines import Block, decoded, shown
from spillway.workloads.logs.slurm_units import UnitError

Number = int | float
T = TypeVar("T")


class SwfRecord(msgspec.Struct, frozen=True, gc=False):
    """One job of a log. Everywhere -1 means "not known". Times in seconds, memory in KiB per processor.

    Attributes
    ----------
    number
        Job number, from 1.
    submit_s
        Submission, since the start of the log.
    wait_s, run_s
        Time between submission and start; time between start and end.
    processors
        Processors allocated.
    cpu_s
        Average CPU time used per processor (may be fractional).
    used_memory_kib
        Average memory used per processor (may be fractional).
    requested_processors, requested_s, requested_memory_kib
        The user's request: processors, wall clock time, memory per processor (may be fractional).
    status
        1 completed, 0 failed, 5 cancelled; 2, 3, 4 mark the pieces of a job that was swapped or checkpointed.
    user, group, executable, queue, partition
        Numbers that stand for names.
    preceding_job, think_s
        The job that this one waited for, and the time between that job's end and this submission.
    """

    number: int
    submit_s: int
    wait_s: int = -1
    run_s: int = -1
    processors: int = -1
    cpu_s: Number = -1
    used_memory_kib: Number = -1
    requested_processors: int = -1
    requested_s: int = -1
    requested_memory_kib: Number = -1
    status: int = -1
    user: int = -1
    group: int = -1
    executable: int = -1
    queue: int = -1
    partition: int = -1
    preceding_job: int = -1
    think_s: int = -1


@dataclass(frozen=True, slots=True)
class SwfHeader:
    """The comment lines of a log.

    Attributes
    ----------
    lines
        Comment lines as in the file, without the semicolon.
    """

    lines: tuple[str, ...] = ()

    def values(self, name: str) -> list[str]:
        """All values of a directive (``Note`` and ``Queue`` come several times), without surrounding blanks."""
        found = [_DIRECTIVE.match(line) for line in self.lines]
        return [match[2].strip() for match in found if match and match[1].lower() == name.lower()]

    def number(self, name: str) -> int | None:
        """Value of a numeric directive such as ``MaxProcs``; ``None`` where it is missing or -1."""
        for value in self.values(name):
            found = _LEADING_NUMBER.match(value)
            if found and int(found[0]) >= 0:
                return int(found[0])
        return None

    @property
    def max_nodes(self) -> int | None:
        """Nodes of the machine."""
        return self.number("MaxNodes")

    @property
    def max_procs(self) -> int | None:
        """Processors of the machine; its nodes where the log does not state them."""
        return self.number("MaxProcs") or self.max_nodes

    @property
    def unix_start_time(self) -> int | None:
        """Second since 1970 (UTC) at which the log begins."""
        return self.number("UnixStartTime")


@dataclass(frozen=True, slots=True)
class SwfLog:
    """A log: its header and its records, in file order."""

    header: SwfHeader = field(default_factory=SwfHeader)
    records: tuple[SwfRecord, ...] = ()


FIELDS = SwfRecord.__struct_fields__
_FRACTIONAL = {"cpu_s", "used_memory_kib", "requested_memory_kib"}
_DIRECTIVE = re.compile(r"\s*([A-Za-z]\w*)\s*:(.*)")
_LEADING_NUMBER = re.compile(r"-?\d+(?![.,'’]?\w)(?!\s\d{3}(?!\d))", re.ASCII)
_NUMERIC_DIRECTIVES = {
    name.lower(): name
    for name in (
        "MaxJobs", "MaxRecords", "UnixStartTime", "TimeZone", "MaxNodes", "MaxProcs",
        "MaxRuntime", "MaxMemory", "MaxQueues", "MaxPartitions",
    )
}  # fmt: skip
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
"""A number as logs write it."""
MOST = 2**62
"""Numbers are below this: beyond it they do not fit the columns of a table."""
_STATUS = range(-1, 6)
_TIMES = {"submit_s", "wait_s", "run_s", "requested_s", "think_s"}
_TIME_PLACES = [place for place, name in enumerate(FIELDS) if name in _TIMES]
_AT_LEAST = {"number": 0, "submit_s": 0}


def read_swf(path: Path | str) -> SwfLog:
    """Read a log (``.swf``, ``.swf.xz``, ``.swf.gz``).

    Raises
    ------
    WorkloadError
        A line is malformed; the message states file, line number, the expected and the given text.
    """
    path = Path(path)
    return parse_swf(read_bytes(path), str(path))


def parse_swf(data: bytes | str, where: str = "<text>") -> SwfLog:
    """Read a log from its text; ``where`` names it in errors."""
    text = data if isinstance(data, str) else decoded(data)
    comments: list[str] = []
    records = tuple(read_jobs([(1, text.split("\n"))], where, comments, lambda fields: SwfRecord(*fields)))
    return SwfLog(SwfHeader(tuple(comments)), records)


def read_jobs(
    blocks: Iterable[Block], where: str, comments: list[str], make: Callable[[Sequence[Any]], T]
) -> Iterator[T]:
    """Yield the result of ``make`` for the 18 fields of each job; append comments to ``comments``.

    Raises
    ------
    WorkloadError
        More than a hundredth of the lines cannot be read; the message states the first three.
    """
    book = Book(where)
    for first, lines in blocks:
        for line_number, line in enumerate(lines, start=first):
            parts = line.split()
            if len(parts) == 18 and line.isascii() and "_" not in line and parts[0][0] != ";":
                try:
                    numbers = tuple(map(int, parts))
                except ValueError:
                    pass
                else:
                    most = max(numbers)
                    late = most > LATEST_S and (most >= MOST or max(map(numbers.__getitem__, _TIME_PLACES)) > LATEST_S)
                    if min(numbers) >= -1 and numbers[10] <= 5 and numbers[1] >= 0 and numbers[0] >= 0 and not late:
                        book.lines += 1
                        yield make(numbers)
                        continue
            if not parts:
                continue
            if parts[0][0] == ";":
                comments.append(comment_of(line, f"{where}:{line_number}"))
                continue
            book.lines += 1
            try:
                fields = _fields(parts)
            except UnitError as error:
                book.unreadable("malformed", line_number, str(error))
                continue
            yield make(fields)
    book.settle(UNREADABLE, "")


def format_swf(log: SwfLog) -> str:
    """Text of a log: header lines, then one line per record."""
    lines = [f";{line}" for line in log.header.lines]
    lines += [" ".join(map(_format, msgspec.structs.astuple(record))) for record in log.records]
    return "".join(f"{line}\n" for line in lines)


def write_swf(log: SwfLog, path: Path | str) -> None:
    """Write a log under a temporary name, then rename it; ``.xz`` and ``.gz`` are compressed."""
    write_bytes(Path(path), format_swf(log).encode())


def comment_of(line: str, where: str) -> str:
    """A comment line without its semicolon; raise :class:`WorkloadError` for a directive with a wrong number."""
    text = line.rstrip("\r").lstrip()[1:].rstrip()
    found = _DIRECTIVE.match(text)
    if found and found[1].lower() in _NUMERIC_DIRECTIVES:
        value = found[2].strip()
        if value and not _LEADING_NUMBER.match(value):
            name = _NUMERIC_DIRECTIVES[found[1].lower()]
            raise WorkloadError(f"header {name} must begin with a whole number, got {value!r}", where)
    return text


def _fields(parts: list[str]) -> list[Number]:
    """Read the fields of a line that is not 18 plain whole numbers; raise :class:`UnitError` for a wrong field."""
    if len(parts) != len(FIELDS):
        begin = " ".join(parts[:4]) + (" ..." if len(parts) > 4 else "")
        remedy = "; --lenient leaves out the further ones" if len(parts) > len(FIELDS) else ""
        raise UnitError(
            f"expected {len(FIELDS)} fields separated by blanks (Standard Workload Format 2.2), "
            f"got {len(parts)}: {shown(begin)}{remedy}"
        )
    return [_field(index, text) for index, text in enumerate(parts)]


def _field(index: int, text: str) -> Number:
    name = FIELDS[index]
    try:
        return value_of(name, text)
    except UnitError as error:
        raise UnitError(f"{label_of(name)} must be {error}, got {shown(text)}") from None


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


def _format(value: Number) -> str:
    return str(value) if isinstance(value, int) else repr(value)
