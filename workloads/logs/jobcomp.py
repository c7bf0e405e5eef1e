"""Files of Slurm's plugin ``jobcomp/filetxt``: a line per job that has ended, ``KEY=VALUE`` between blanks.

References
----------
SchedMD, *slurm.conf(5)*, ``JobCompType``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import Block, Head, shown
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.record import MEMORY_REQUESTED, LogRecord
from spillway.workloads.logs.slurm_jobs import NEVER_SUBMITTED, NO_LIMIT, id_of, limit_of, run_of, user_of, value
from spillway.workloads.logs.slurm_units import count_of, minutes_of, resources_of, state_of, time_of
from spillway.workloads.logs.table import Intake, Repeated

_KEYS = (
    "JobId", "UserId", "GroupId", "Name", "JobState", "Partition", "TimeLimit", "StartTime", "EndTime", "NodeList",
    "NodeCnt", "ProcCnt", "WorkDir", "ReservationName", "Tres", "Gres", "Account", "QOS", "WcKey", "Cluster",
    "SubmitTime", "EligibleTime", "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset", "DerivedExitCode",
    "ExitCode",
)  # fmt: skip
_KEY = re.compile(rf"(?:^|\s)({'|'.join(_KEYS)})=")
_NEEDED = ("JobId", "StartTime", "EndTime", "NodeCnt")


def recognises(head: Head) -> bool:
    """Whether the first line begins like the lines of this plugin."""
    return head.first.startswith("JobId=")


def read(blocks: Iterable[Block], intake: Intake, reading: Reading) -> Iterator[LogRecord]:
    """Yield the jobs.

    Raises
    ------
    WorkloadError
        A line is malformed: with its number.
    """
    intake.repeated = Repeated.REQUEUED
    unlimited = [0]
    for first, lines in blocks:
        for line_number, line in enumerate(lines, start=first):
            if line.strip():
                record = _record(line.rstrip("\r"), f"{intake.where}:{line_number}", intake, unlimited)
                if record is not None:
                    yield record
    if unlimited[0]:
        intake.notes.append(f"{unlimited[0]:,} {NO_LIMIT}")


def _record(line: str, where: str, intake: Intake, unlimited: list[int]) -> LogRecord | None:
    values: dict[str, str] = {}
    pieces = _KEY.split(line)
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        values.setdefault(name, text.strip())  # a job's name may contain anything, also a key
    missing = [name for name in _NEEDED if name not in values]
    if missing or pieces[0].strip():
        raise WorkloadError(
            f"expected KEY=VALUE pairs with {', '.join(_NEEDED)} as jobcomp/filetxt writes them, got {shown(line)}",
            where,
        )
    get = values.get
    label = f"{get('ArrayJobId')}_{get('ArrayTaskId')}" if get("ArrayTaskId") else values["JobId"]
    label = f"{get('HetJobId')}+{get('HetJobOffset')}" if get("HetJobOffset") else label
    job = id_of(label, where, intake)
    submit_s = value(time_of, "SubmitTime", get("SubmitTime", ""), where)
    if job is None or submit_s < 0:
        intake.dropped[NEVER_SUBMITTED] += 1
        return None
    start_s = value(time_of, "StartTime", values["StartTime"], where)
    end_s = value(time_of, "EndTime", values["EndTime"], where)
    resources = value(resources_of, "Tres", get("Tres", ""), where)
    limit_s = limit_of(value(minutes_of, "TimeLimit", get("TimeLimit", ""), where), unlimited)
    return LogRecord(
        job[0],
        submit_s,
        eligible_s=value(time_of, "EligibleTime", get("EligibleTime", ""), where),
        start_s=start_s,
        end_s=end_s,
        run_s=run_of(start_s, end_s, -1, where) if start_s >= 0 else -1,
        requested_s=limit_s,
        nodes=value(count_of, "NodeCnt", values["NodeCnt"], where),
        allocated_processors=value(count_of, "ProcCnt", get("ProcCnt", ""), where),
        burst_buffer_bytes=max(resources.buffers, 0) if "Tres" in values else -1,
        memory_bytes=resources.memory,
        gpus=resources.gpus,
        marks=MEMORY_REQUESTED if resources.memory >= 0 else 0,
        part=job[1],
        user=user_of(get("UserId", "")),
        partition=get("Partition", ""),
        state=state_of(get("JobState", "")),
        account=get("Account", ""),
        qos=get("QOS", ""),
        licenses=resources.licenses,
        reservation=get("ReservationName", ""),
    )
