"""The CSV of NREL's Eagle: anonymised accounts of its Slurm, a header and a line per job.

References
----------
K. Menear, D. Duplyakin, *Eagle Jobs: an HPC dataset*, National Renewable Energy Laboratory, 2023.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from spillway.workloads.directives import directives_of, of_lines
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import Block, Head, shown
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.record import MEMORY_REQUESTED, NODES_REQUESTED, LogRecord
from spillway.workloads.logs.slurm_jobs import NEVER_SUBMITTED, id_of, in_range, run_of, value
from spillway.workloads.logs.slurm_units import MEGA, UnitError, state_of, time_of
from spillway.workloads.logs.table import Intake, Repeated

_NEEDED = ("job_id", "wallclock_req", "nodes_req", "submit_time", "start_time", "end_time")
"""Columns without which it is another CSV."""


def recognises(head: Head) -> bool:
    """Whether the first line names Eagle's columns."""
    return set(_NEEDED) <= {name.strip() for name in head.first.split(",")}


def read(blocks: Iterable[Block], intake: Intake, reading: Reading) -> Iterator[LogRecord]:
    """Yield the jobs.

    Raises
    ------
    WorkloadError
        The header lacks a column, or a line is malformed: with its number.
    """
    intake.repeated = Repeated.TASKS
    names: list[str] = []
    for first, lines in blocks:
        for line_number, line in enumerate(lines, start=first):
            if not line.strip():
                continue
            where = f"{intake.where}:{line_number}"
            parts = _parts(line.rstrip("\r"), where)
            if not names:
                names = [part.strip() for part in parts]
                missing = [name for name in _NEEDED if name not in names]
                if missing:
                    raise WorkloadError(
                        f"the header lacks the column {missing[0]!r}; expected {', '.join(_NEEDED)}", where
                    )
                continue
            if len(parts) != len(names):
                raise WorkloadError(
                    f"expected {len(names)} fields as in the header, got {len(parts)}: {shown(line)}", where
                )
            record = _record(dict(zip(names, parts, strict=True)), where, intake)
            if record is not None:
                yield record


def _parts(line: str, where: str) -> list[str]:
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line], strict=True))
    except (csv.Error, StopIteration) as error:
        raise WorkloadError(f"no line of CSV: {error}", where) from None


def _number(text: str) -> int:
    """A whole number, perhaps written with a fraction (``172800.0``); -1 for unknown."""
    if not text or text.lower() in ("nan", "none"):
        return -1
    try:
        number = float(text) if text.isascii() and "_" not in text else float("nan")
    except ValueError:
        number = float("nan")
    if not -1 <= number < 2**53:
        raise UnitError("a number >= 0")
    return round(number)


def _duration(text: str) -> int:
    seconds = _number(text)
    if not in_range(seconds):
        raise UnitError("a number of seconds of at most 272 years")
    return seconds


def _record(row: dict[str, str], where: str, intake: Intake) -> LogRecord | None:
    get = row.get
    job = id_of(row["job_id"], where, intake)
    submit_s = value(time_of, "submit_time", row["submit_time"], where)
    if job is None or submit_s < 0:
        intake.dropped[NEVER_SUBMITTED] += job is not None
        return None
    start_s = value(time_of, "start_time", row["start_time"], where)
    end_s = value(time_of, "end_time", row["end_time"], where)
    memory = value(_number, "mem_req", get("mem_req", ""), where)
    nodes = value(_number, "nodes_req", row["nodes_req"], where)
    found = directives_of(of_lines(get("submit_line", "")), where) if "bb" in get("submit_line", "") else None
    return LogRecord(
        job[0],
        submit_s,
        start_s=start_s,
        end_s=end_s,
        run_s=run_of(start_s, end_s, value(_duration, "run_time", get("run_time", ""), where), where),
        requested_s=value(_duration, "wallclock_req", row["wallclock_req"], where),
        nodes=nodes,
        requested_processors=value(_number, "processors_req", get("processors_req", ""), where),
        burst_buffer_bytes=found.total_bytes(max(nodes, 1)) if found else 0,
        memory_bytes=memory * MEGA if memory > 0 else -1,
        gpus=value(_number, "gpus_req", get("gpus_req", ""), where),
        marks=NODES_REQUESTED | (MEMORY_REQUESTED if memory > 0 else 0),
        part=job[1],
        user=get("user", ""),
        partition=get("partition", ""),
        state=state_of(get("state", "")),
        account=get("account", ""),
        qos=get("qos", ""),
    )
