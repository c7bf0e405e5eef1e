"""Standard Workload Format 2.2: a log in memory, and its exact writer; its reader is :mod:`spillway.workloads.logs`.

A log is a text of comment lines (``;``), some of which are directives (``; MaxNodes: 100``), and of one line of 18
fields per job.

References
----------
S. Chapin et al., *Benchmarks and standards for the evaluation of parallel job schedulers*, JSSPP 1999, and the
definition of version 2.2 kept by the Parallel Workloads Archive.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import write_bytes

Number = int | float


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
    def processors_per_node(self) -> int:
        """Processors of a node, rounded, at least 1; 1 where the log does not state them."""
        nodes, processors = self.max_nodes, self.max_procs
        return max(1, round(processors / nodes)) if nodes and processors else 1

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
_DIRECTIVE = re.compile(r"\s*([A-Za-z]\w*)\s*:(.*)")
_LEADING_NUMBER = re.compile(r"-?\d+(?![.,'’]?\w)(?!\s\d{3}(?!\d))(?!\s*[-+*/x×^]\s*\d)", re.ASCII)
_NUMERIC_DIRECTIVES = {
    name.lower(): name
    for name in (
        "MaxJobs", "MaxRecords", "UnixStartTime", "TimeZone", "MaxNodes", "MaxProcs",
        "MaxRuntime", "MaxMemory", "MaxQueues", "MaxPartitions",
    )
}  # fmt: skip


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


def _format(value: Number) -> str:
    return str(value) if isinstance(value, int) else repr(value)
