"""Columns of logs that come from Slurm's accounts, and of published data sets in its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.columns import Column, NoJobError, fast_seconds, fast_whole, name, whole
from spillway.workloads.logs.identity import STEP, ZERO
from spillway.workloads.logs.layouts import pairs
from spillway.workloads.logs.lines import LogHead, shown
from spillway.workloads.logs.slurm_units import (
    MEGA,
    UNKNOWN,
    Resources,
    UnitError,
    count_of,
    duration_of,
    licenses_of,
    minutes_of,
    resources_of,
    seconds_of,
    size_of,
    state_of,
    time_of,
)
from spillway.workloads.logs.table import Ints
from spillway.workloads.requests.directives import Requests, directives_of, of_lines

T = TypeVar("T")

ADVICE = (
    "sacct --parsable2 --allusers --allocations --format=JobID,Cluster,User,Account,Partition,State,Submit,Eligible,"
    "Start,End,ElapsedRaw,Timelimit,NNodes,NCPUS,ReqTRES,AllocTRES,QOS,NodeList"
)
"""A command that prints the columns that are read here."""

NEEDED = (
    ("JobID", "JobIDRaw"),
    ("Submit",),
    ("ElapsedRaw", "Elapsed", "End"),
    ("NNodes", "AllocNodes", "ReqNodes", "AllocTRES", "ReqTRES", "NCPUS", "AllocCPUS", "ReqCPUS"),
)
EAGLE_NEEDED = ("job_id", "wallclock_req", "nodes_req", "submit_time", "start_time", "end_time")
PM100_NEEDED = ("job_id", "submit_time", "start_time", "end_time", "num_nodes_alloc", "time_limit")
FDATA_NEEDED = ("jid", "adt", "sdt", "edt", "nnumr", "elpl")
FREE = ("jobname", "submitline", "comment", "admincomment", "systemcomment", "batchscript", "workdir", "submit_line",
        "name", "job_name", "burstbuffer", "reason", "extra", "wckey")  # fmt: skip
"""Columns of free text."""

_ID = re.compile(r"(\d{1,18})((?:_\d{1,18})?(?:\+\d{1,9})?)(\..+)?", re.ASCII)
_PENDING_ARRAY = re.compile(r"\d{1,18}_\[[^\]]*\]?", re.ASCII)
PENDING_ARRAY = "tasks of an array that had not begun"
_ARRAY_LIMIT = re.compile(r"(?:^|\s)(?:--array|-a)[=\s]?[\d,:-]+%(\d+)")
_OPTIONS = {
    "dependency": re.compile(r"(?:^|\s)(?:--dependency|-d)[=\s]?(\S+)"),
    "licenses": re.compile(r"(?:^|\s)(?:--licenses|-L)[=\s]?(\S+)"),
    "nice": re.compile(r"(?:^|\s)--nice(?:=(-?\d{1,10}))?(?=\s|$)"),
    "reservation": re.compile(r"(?:^|\s)--reservation[=\s]?(\S+)"),
}
_MEMORY = re.compile(r"(.*?)([cn]?)")


def of_names(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Alternatives of one name each."""
    return tuple((item,) for item in names)


def job_id(text: str) -> tuple[int, str, int]:
    """Number of a job, its part, and the limit on tasks of its array (-1: not stated).

    The part of ``12.0`` is ``.0``: only the other lines tell whether that is a step or a number with a fraction.

    Raises
    ------
    NoJobError
        For a step, and for tasks of an array that are not jobs yet.
    """
    found = _ID.fullmatch(text)
    if found and found[3] == ZERO and not found[2]:
        return int(found[1]), ZERO, -1
    if found and found[3]:
        raise NoJobError(STEP)
    if found:
        return int(found[1]), found[2], -1
    if _PENDING_ARRAY.fullmatch(text):
        limit = text.rpartition("%")[2].rstrip("]")
        known = int(limit) if "%" in text and limit.isdecimal() else -1
        raise NoJobError(PENDING_ARRAY, (int(text.partition("_")[0]), "", known))
    raise UnitError("like 12, 12_3, 12+0, 12.batch or 12_[4-9]")


def numbered(text: str) -> tuple[int, str, int]:
    """Number of a job without steps: whole (``532209.0`` too), with a task's number, or a name that ends in one."""
    try:
        return (whole(text), "", -1) if text and text.lower() not in UNKNOWN else job_id(text)
    except UnitError:
        pass
    digits = text[len(text.rstrip("0123456789")) :]
    if text[:1].isalpha() and digits and len(digits) <= 18:
        return int(digits), "", -1
    return job_id(text)


def _fast_times(cells: Sequence[Any]) -> Ints | None:
    """Times as Slurm writes them, all at once."""
    try:
        if any(len(cell) != 19 or cell[13] != ":" or cell[16] != ":" for cell in cells):
            return None
        found = np.array(cells, dtype="datetime64[s]").astype(np.int64)
    except (ValueError, TypeError, IndexError):
        return None
    return found if len(found) and found.min() > 86_400 and found.max() < 2**33 else None


@lru_cache(maxsize=100_000)
def submitted(text: str) -> tuple[str, str, str, str, int]:
    """Dependency, licenses, nice, reservation and array limit of a line of submission."""
    if "-" not in text:
        return "", "", "", "", -1
    found = {key: pattern.search(text) for key, pattern in _OPTIONS.items()}
    nice, limit = found["nice"], _ARRAY_LIMIT.search(text) if "%" in text else None
    return (
        found["dependency"][1] if found["dependency"] else "",
        licenses_of(found["licenses"][1]) if found["licenses"] else "",
        (nice[1] or "100") if nice else "",
        found["reservation"][1] if found["reservation"] else "",
        int(limit[1]) if limit else -1,
    )


def requests(text: str) -> Requests:
    """Requests of directives and of ``--bb`` in a text."""
    if "#" not in text and "--bb" not in text:
        return Requests()
    try:
        return directives_of(of_lines(text), "")
    except WorkloadError as error:
        raise UnitError(str(error)) from None


def memory(text: str) -> tuple[int, int, int]:
    """Bytes of a job, of each node (``4Gn``), of each processor (``2Gc``): one of them; -1 for the others."""
    if text.lower() in UNKNOWN:
        return -1, -1, -1
    found = _MEMORY.fullmatch(text)
    size = size_of(found[1] if found else text)
    per = found[2] if found else ""
    return -1 if per else size, size if per == "n" else -1, size if per == "c" else -1


def _user(text: str) -> str:
    """A user's name, of ``name`` or ``name(1000)``."""
    return name(text.partition("(")[0].strip())


def _resources(text: str) -> Resources:
    """Resources of a job; a log that states such states burst buffers, too: none where it does not mention them."""
    found = resources_of("" if text.lower() in UNKNOWN else text)
    return found._replace(buffers=max(found.buffers, 0))


def _mega(text: str) -> int:
    """Bytes of a number of megabytes; 0 is not known."""
    found = float(text) if text.replace(".", "", 1).isdecimal() else whole(text)
    return round(found * MEGA) if found > 0 else -1


def _limit(text: str) -> int:
    """A limit in minutes of a data set; 0 is not known."""
    return minutes_of(text.partition(".")[0]) or -1


_TIMES = {"read": time_of, "played": True, "fast": _fast_times}
_ASKED = ("wanted_nodes", "requested_processors", "memory_bytes", "burst_buffer_bytes", "gpus", "licenses")
_GOT = ("nodes", "allocated_processors", "used_memory", "burst_buffer_bytes", "gpus", "licenses")


def _names(**columns: str) -> tuple[Column, ...]:
    """Columns of names, by field."""
    return tuple(Column(tuple(names.split("|")), (target,), name) for target, names in columns.items())


def _number(names: str, target: str, read: Callable[[str], Any] = count_of, *, played: bool = False) -> Column:
    fast = fast_whole if read in (count_of, whole) else None
    return Column(tuple(names.split("|")), (target,), read, played, fast)


def _times(**columns: str) -> tuple[Column, ...]:
    return tuple(Column((found,), (target,), time_of, target != "eligible_s", _fast_times)
                 for target, found in columns.items())  # fmt: skip


_ID_FIELDS = ("number", "part", "array_limit")
SACCT = (
    Column(("JobID", "JobIDRaw"), _ID_FIELDS, job_id, played=True),
    *_times(submit_s="Submit", eligible_s="Eligible", start_s="Start", end_s="End"),
    Column(("ElapsedRaw",), ("elapsed_s",), seconds_of, True, fast_seconds),
    Column(("Elapsed",), ("elapsed_s",), duration_of, played=True),
    Column(("Suspended",), ("suspended_s",), duration_of),
    Column(("Timelimit",), ("requested_s",), duration_of, played=True),
    Column(("TimelimitRaw",), ("requested_s",), minutes_of, played=True),
    Column(("AllocTRES",), _GOT, _resources, played=True),
    _number("AllocNodes|NNodes", "nodes", played=True),
    _number("ReqNodes", "wanted_nodes", played=True),
    _number("ReqCPUS", "requested_processors", played=True),
    _number("AllocCPUS|NCPUS", "allocated_processors", played=True),
    Column(("ReqTRES",), _ASKED, _resources, played=True),
    Column(("ReqMem",), ("memory_bytes", "node_memory", "core_memory"), memory),
    Column(("User", "UID"), ("user",), _user),
    *_names(partition="Partition", dependency="Dependency", account="Account", qos="QOS", reservation="Reservation"),
    *_names(cluster="Cluster", node_list="NodeList"),
    Column(("State",), ("state",), state_of),
    Column(("Licenses",), ("licenses",), licenses_of),
    Column(("SubmitLine",), ("dependency", "licenses", "nice", "reservation", "array_limit"), submitted),
    *(Column((literal,), ("requests",), requests)
      for literal in ("SubmitLine", "Comment", "AdminComment", "BatchScript", "BurstBuffer")),
)  # fmt: skip

JOBCOMP = (
    Column(("JobId",), _ID_FIELDS, job_id, played=True),
    *_times(submit_s="SubmitTime", eligible_s="EligibleTime", start_s="StartTime", end_s="EndTime"),
    Column(("TimeLimit",), ("requested_s",), minutes_of, played=True),
    _number("NodeCnt", "nodes", played=True),
    _number("ProcCnt", "allocated_processors"),
    Column(("Tres",), ("nodes", "allocated_processors", *_ASKED[2:]), _resources, played=True),
    Column(("UserId",), ("user",), _user),
    *_names(partition="Partition", account="Account", qos="QOS", reservation="ReservationName", cluster="Cluster"),
    *_names(node_list="NodeList"),
    Column(("JobState",), ("state",), state_of),
)
_JOBCOMP_KEYS = (
    "JobId", "UserId", "GroupId", "Name", "JobState", "Partition", "TimeLimit", "StartTime", "EndTime", "NodeList",
    "NodeCnt", "ProcCnt", "WorkDir", "ReservationName", "Tres", "Gres", "Account", "QOS", "WcKey", "Cluster",
    "SubmitTime", "EligibleTime", "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset", "DerivedExitCode",
    "ExitCode",
)  # fmt: skip
_JOBCOMP_KEY = re.compile(rf"(?:^|\s)({'|'.join(_JOBCOMP_KEYS)})=")
_JOBCOMP_NAME = re.compile(r"(.*? Name=).*?( JobState=\w+ Partition=.*)", re.DOTALL)
"""The name of a job, between what is before and behind it: users may write anything there, also keys."""
_JOBCOMP_NEEDED = ("JobId", "StartTime", "EndTime", "NodeCnt")

_LENGTH = ("elapsed_s",), seconds_of, True, fast_seconds
EAGLE = (
    Column(("job_id",), _ID_FIELDS, numbered, played=True),
    *_times(submit_s="submit_time", start_s="start_time", end_s="end_time"),
    Column(("run_time",), *_LENGTH),
    Column(("wallclock_req",), ("requested_s",), seconds_of, played=True),
    _number("nodes_req", "wanted_nodes", whole, played=True),
    _number("processors_req", "requested_processors", whole, played=True),
    Column(("mem_req",), ("memory_bytes",), _mega),
    _number("gpus_req", "gpus", whole),
    *_names(user="user", partition="partition", account="account", qos="qos"),
    Column(("state",), ("state",), state_of),
    Column(("submit_line",), ("requests",), requests),
)
PM100 = (
    Column(("job_id",), _ID_FIELDS, numbered, played=True),
    *_times(submit_s="submit_time", eligible_s="eligible_time", start_s="start_time", end_s="end_time"),
    Column(("run_time",), *_LENGTH),
    Column(("time_limit",), ("requested_s",), _limit, played=True),
    _number("num_nodes_alloc", "nodes", whole, played=True),
    _number("num_nodes_req", "wanted_nodes", whole, played=True),
    _number("num_cores_req|num_cpus_req", "requested_processors", whole),
    _number("num_cores_alloc|num_cpus_alloc", "allocated_processors", whole),
    _number("num_gpus_alloc|num_gpus_req", "gpus", whole),
    *_names(user="user_id", partition="partition", account="account|group_id", qos="qos"),
    Column(("job_state",), ("state",), state_of),
    Column(("licenses",), ("licenses",), licenses_of),
)
FDATA = (
    Column(("jid",), _ID_FIELDS, numbered, played=True),
    *_times(submit_s="adt", eligible_s="qdt", start_s="sdt", end_s="edt"),
    Column(("duration",), *_LENGTH),
    Column(("elpl",), ("requested_s",), seconds_of, played=True),
    _number("nnuma", "nodes", whole, played=True),
    _number("nnumr", "wanted_nodes", whole, played=True),
    _number("cnumr", "requested_processors", whole),
    _number("cnumat", "allocated_processors", whole),
    *_names(user="usr"),
    Column(("exit state",), ("state",), lambda text: state_of(text.upper())),
)


def is_jobcomp(head: LogHead) -> bool:
    """Whether the first line begins like the lines of this plugin."""
    return head.first.startswith("JobId=")


def jobcomp_cells(line: str) -> Mapping[str, str] | str:
    """Cells of a line of jobcomp/filetxt, or a sentence on its fault."""
    named = _JOBCOMP_NAME.fullmatch(line)
    before, values = pairs(named[1] + named[2] if named else line, _JOBCOMP_KEY)
    if before or any(key.lower() not in values for key in _JOBCOMP_NEEDED):
        keys = ", ".join(_JOBCOMP_NEEDED)
        return f"expected KEY=VALUE pairs with {keys} as jobcomp/filetxt writes them, got {shown(line)}"
    get = values.get
    if get("hetjoboffset"):
        values["jobid"] = f"{get('hetjobid')}+{get('hetjoboffset')}"
    elif get("arraytaskid"):
        values["jobid"] = f"{get('arrayjobid')}_{get('arraytaskid')}"
    return values


_IS_JSON = re.compile(r'"(?:job_id|slurm|meta|openapi)"\s*:')


def is_json(head: LogHead) -> bool:
    """Whether it is an object with jobs of Slurm."""
    text = "".join(head.lines)[:20_000]
    return text.startswith("{") and '"nb_res"' not in text and bool(_IS_JSON.search(text))


def _at(job: Any, path: str) -> Any:
    """A value inside objects, by their keys between dots; of a list its first item, of ``{set, number}`` the number."""
    for key in path.split("."):
        job = job.get(key) if isinstance(job, dict) else None
    if isinstance(job, list):
        job = job[0] if job else None
    if isinstance(job, dict):
        job = "UNLIMITED" if job.get("infinite") else job.get("number") if job.get("set") else None
    return "" if job is None else job


_JSON: Mapping[str, Sequence[str]] = {
    "cluster": ("cluster", "association.cluster"),
    "user": ("user", "user_name", "association.user"),
    "account": ("account", "association.account"),
    "partition": ("partition",),
    "qos": ("qos",),
    "state": ("state.current", "state", "job_state"),
    "submit": ("time.submission", "submit_time"),
    "eligible": ("time.eligible", "eligible_time"),
    "start": ("time.start", "start_time"),
    "end": ("time.end", "end_time"),
    "elapsedraw": ("time.elapsed",),
    "timelimitraw": ("time.limit", "time_limit"),
    "allocnodes": ("allocation_nodes", "node_count"),
    "reqcpus": ("required.CPUs",),
    "nodelist": ("nodes",),
    "reservation": ("reservation.name", "resv_name"),
    "licenses": ("licenses",),
    "submitline": ("submit_line",),
}
"""Columns of sacct by the places of their values in sacct --json, in its versions."""


def json_cells(job: dict[str, Any]) -> dict[str, str]:
    """Cells of a job of ``sacct --json``, by the columns of sacct."""
    cells = {key: next((text for path in paths if (text := str(_at(job, path)))), "") for key, paths in _JSON.items()}
    label, task, offset = job.get("job_id", ""), _at(job, "array.task_id"), _at(job, "het.job_offset")
    if task != "" and _at(job, "array.job_id"):
        label = f"{_at(job, 'array.job_id')}_{task}"
    elif offset != "" and _at(job, "het.job_id"):
        label = f"{_at(job, 'het.job_id')}+{offset}"
    paused = _at(job, "time.suspended")
    cells |= {"jobid": str(label), "suspended": f"00:{int(paused) // 60:02}:{int(paused) % 60:02}" if paused else ""}
    for key, kind in (("reqtres", "requested"), ("alloctres", "allocated")):
        found = job.get("tres", {}).get(kind, []) if isinstance(job.get("tres"), dict) else []
        cells[key] = ",".join(
            f"{row.get('type', '')}{'/' if row.get('name') else ''}{row.get('name') or ''}={row.get('count', 0)}"
            f"{'M' if row.get('type') in ('mem', 'bb') else ''}"
            for row in found
            if isinstance(row, dict) and row.get("type") in ("cpu", "mem", "node", "gres", "license", "bb")
        )
    return cells
