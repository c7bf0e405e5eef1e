"""Output of ``sacct --parsable2``: a header that names the columns, then a line per job, fields between ``|``.

``sacct -a -X --parsable2 --format=JobIDRaw,...`` makes it; any order and choice of columns is taken, as long as a job's
number, submission, duration and size are among them.

References
----------
SchedMD, manual page *sacct(1)*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from spillway.workloads.directives import directives_of, of_lines
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import Block, Head, shown
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.record import MEMORY_REQUESTED, NODES_REQUESTED, LogRecord
from spillway.workloads.logs.slurm_jobs import NEVER_SUBMITTED, NO_LIMIT, id_of, limit_of, run_of, user_of, value
from spillway.workloads.logs.slurm_units import (
    count_of,
    duration_of,
    licenses_of,
    minutes_of,
    resources_of,
    size_of,
    state_of,
    time_of,
)
from spillway.workloads.logs.table import Intake, Repeated

_ADVICE = (
    "sacct --parsable2 --allusers --allocations --format=JobID,User,Account,Partition,State,Submit,Eligible,Start,End,"
    "ElapsedRaw,Timelimit,NNodes,NCPUS,ReqTRES,AllocTRES,QOS"
)
"""A command that prints the columns that are read here."""

_NEEDED = (
    ("JobID", "JobIDRaw"),
    ("Submit",),
    ("ElapsedRaw", "Elapsed", "End"),
    ("NNodes", "AllocNodes", "ReqNodes", "AllocTRES", "ReqTRES", "NCPUS", "AllocCPUS", "ReqCPUS"),
)
_SCRIPTS = ("SubmitLine", "Comment", "AdminComment", "BatchScript", "BurstBuffer")
_RESERVATION = re.compile(r"(?:^|\s)--reservation[=\s]?(\S+)")
_ARRAY_LIMIT = re.compile(r"(?:^|\s)(?:--array|-a)[=\s]?[\d,:-]+%(\d+)")
_DEPENDENCY = re.compile(r"(?:^|\s)(?:--dependency|-d)[=\s]?(\S+)")
_LICENSES = re.compile(r"(?:^|\s)(?:--licenses|-L)[=\s]?(\S+)")
_NICE = re.compile(r"(?:^|\s)--nice(?:=(-?\d{1,10}))?(?=\s|$)")
_MEMORY = re.compile(r"(.*?)([cn]?)")


def recognises(head: Head) -> bool:
    """Whether the first line names columns as sacct does."""
    names = {name.strip().lower() for name in head.first.split("|")}
    return len(names) > 1 and bool(names & {"jobid", "jobidraw"})


@dataclass(frozen=True)
class _Columns:
    """Places of the columns by name, in lower case."""

    places: Mapping[str, int]
    count: int

    def text(self, parts: list[str], *names: str) -> str:
        """Text of the first of some columns that is present and not empty; "" without one."""
        for name in names:
            place = self.places.get(name.lower())
            if place is not None and parts[place]:
                return parts[place]
        return ""


def read(blocks: Iterable[Block], intake: Intake, reading: Reading) -> Iterator[LogRecord]:
    """Yield the jobs.

    Raises
    ------
    WorkloadError
        The header lacks a column, or a line is malformed: with its number.
    """
    intake.repeated = Repeated.REQUEUED
    columns: _Columns | None = None
    unlimited = [0]
    record: Callable[[list[str], str], LogRecord | None] | None = None
    for first, lines in blocks:
        for line_number, line in enumerate(lines, start=first):
            line = line.rstrip("\r")
            if not line.strip():
                continue
            parts = line.split("|")
            if columns is None or record is None:
                columns = _header(parts, f"{intake.where}:{line_number}")
                record = _Rows(columns, intake, unlimited).record
                continue
            where = f"{intake.where}:{line_number}"
            if len(parts) != columns.count:
                if len(parts) == columns.count + 1 and not parts[-1]:
                    parts.pop()
                else:
                    raise WorkloadError(
                        f"expected {columns.count} fields between '|' as in the header, got {len(parts)}: "
                        f"{shown(line)}; a job's name with a '|' in it? Leave JobName out",
                        where,
                    )
            found = record(parts, where)
            if found is not None:
                yield found
    if unlimited[0]:
        intake.notes.append(f"{unlimited[0]:,} {NO_LIMIT}")


def _nice(submitted: str) -> str:
    """Reduction of the priority at submission; ``--nice`` without a number is 100."""
    found = _NICE.search(submitted) if "--nice" in submitted else None
    return (found[1] or "100") if found else ""


def _reservation(submitted: str) -> str:
    """Advance reservation named at submission."""
    found = _RESERVATION.search(submitted) if "--reservation" in submitted else None
    return found[1] if found else ""


def _header(parts: list[str], where: str) -> _Columns:
    names = [part.strip() for part in parts]
    if names and not names[-1]:
        names.pop()  # --parsable ends its lines with the separator
    places = {name.lower(): place for place, name in enumerate(names)}
    for choice in _NEEDED:
        if not any(name.lower() in places for name in choice):
            raise WorkloadError(
                f"the header of sacct's columns lacks {' or '.join(choice)} (it has {shown(', '.join(names), 80)}); "
                f"such a log is made by: {_ADVICE}",
                where,
            )
    return _Columns(places, len(names))


class _Rows:
    """Reads the lines below a header."""

    def __init__(self, columns: _Columns, intake: Intake, unlimited: list[int]) -> None:
        self._columns = columns
        self._intake = intake
        self._unlimited = unlimited
        self._raw_limit = "timelimit" not in columns.places
        self._has_resources = bool({"reqtres", "alloctres"} & columns.places.keys())
        self._scripts = tuple(name for name in _SCRIPTS if name.lower() in columns.places)

    def record(self, parts: list[str], where: str) -> LogRecord | None:
        text = self._columns.text
        job = id_of(text(parts, "JobID", "JobIDRaw"), where, self._intake)
        if job is None:
            return None
        submitted = text(parts, "SubmitLine")
        if "%" in submitted and (limit := _ARRAY_LIMIT.search(submitted)):
            self._intake.limited_arrays[job[0]] = int(limit[1])
        dependency = text(parts, "Dependency")
        if not dependency and (stated := _DEPENDENCY.search(submitted)):
            dependency = stated[1]
        submit_s = value(time_of, "Submit", text(parts, "Submit"), where)
        if submit_s < 0:
            self._intake.dropped[NEVER_SUBMITTED] += 1
            return None
        start_s = value(time_of, "Start", text(parts, "Start"), where)
        end_s = value(time_of, "End", text(parts, "End"), where)
        asked = value(resources_of, "ReqTRES", text(parts, "ReqTRES"), where)
        got = value(resources_of, "AllocTRES", text(parts, "AllocTRES"), where)
        nodes, marks = self._nodes(parts, asked.nodes, got.nodes, where)
        memory = self._memory(parts, asked.memory, nodes, got.processors, where)
        marks |= MEMORY_REQUESTED if memory >= 0 else 0
        return LogRecord(
            job[0],
            submit_s,
            value(time_of, "Eligible", text(parts, "Eligible"), where),
            start_s,
            end_s,
            run_of(start_s, end_s, self._elapsed(parts, where), where),
            self._limit(parts, where),
            nodes,
            max(value(count_of, "ReqCPUS", text(parts, "ReqCPUS"), where), asked.processors),
            max(value(count_of, "NCPUS", text(parts, "AllocCPUS", "NCPUS"), where), got.processors),
            self._buffers(parts, max(asked.buffers, got.buffers), nodes, where),
            memory if memory >= 0 else got.memory,
            -1,
            -1,
            max(asked.gpus, got.gpus),
            marks,
            job[1],
            user_of(text(parts, "User", "UID")),
            text(parts, "Partition"),
            state_of(text(parts, "State")),
            dependency,
            text(parts, "Account"),
            text(parts, "QOS"),
            self._licenses(parts, submitted) or asked.licenses or got.licenses,
            _nice(submitted),
            text(parts, "Reservation") or _reservation(submitted),
        )

    def _licenses(self, parts: list[str], submitted: str) -> str:
        """Licenses that the job requested, by a column or at submission."""
        stated = self._columns.text(parts, "Licenses")
        if not stated and submitted and (found := _LICENSES.search(submitted)):
            stated = found[1]
        return licenses_of(stated) if stated else ""

    def _nodes(self, parts: list[str], asked: int, got: int, where: str) -> tuple[int, int]:
        """Nodes that the job got, else those that it requested, with the bit that marks a request."""
        text = self._columns.text
        nodes = value(count_of, "NNodes", text(parts, "AllocNodes", "NNodes"), where)
        nodes = got if got > 0 else nodes
        if nodes > 0:
            return nodes, 0
        wanted = value(count_of, "ReqNodes", text(parts, "ReqNodes"), where)
        return max(wanted, asked), NODES_REQUESTED

    def _memory(self, parts: list[str], asked: int, nodes: int, processors: int, where: str) -> int:
        """Memory that the job requested, in all: ``ReqMem`` may count per node (4Gn) or per processor (2Gc)."""
        text = self._columns.text(parts, "ReqMem")
        if asked >= 0 or not text:
            return asked
        found = _MEMORY.fullmatch(text)
        size = value(size_of, "ReqMem", found[1] if found else text, where)
        per = found[2] if found else ""
        return size * {"n": max(nodes, 1), "c": max(processors, 1)}.get(per, 1)

    def _elapsed(self, parts: list[str], where: str) -> int:
        raw = self._columns.text(parts, "ElapsedRaw")
        if raw:
            return value(count_of, "ElapsedRaw", raw, where)
        return value(duration_of, "Elapsed", self._columns.text(parts, "Elapsed"), where)

    def _limit(self, parts: list[str], where: str) -> int:
        if self._raw_limit:
            seconds = value(minutes_of, "TimelimitRaw", self._columns.text(parts, "TimelimitRaw"), where)
        else:
            seconds = value(duration_of, "Timelimit", self._columns.text(parts, "Timelimit"), where)
        return limit_of(seconds, self._unlimited)

    def _buffers(self, parts: list[str], counted: int, nodes: int, where: str) -> int:
        """Bytes of burst buffers, from the job's resources, else from directives; 0: no request, -1: not known."""
        if counted >= 0:
            return counted
        for name in self._scripts:
            text = self._columns.text(parts, name)
            if "#" in text or "--bb" in text:
                found = directives_of(of_lines(text), where).total_bytes(max(nodes, 1))
                if found:
                    return found
        return 0 if self._has_resources or self._scripts else -1
