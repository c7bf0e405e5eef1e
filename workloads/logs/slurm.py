"""Columns of logs that come from Slurm's accounts, and of published data sets in its words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.columns import Column, NoJobError, name, of
from spillway.workloads.logs.identity import STEP, ZERO
from spillway.workloads.logs.layouts import pairs
from spillway.workloads.logs.lines import shown
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
from spillway.workloads.requests.directives import Requests, directives_of, of_lines

ADVICE = (
    "sacct --parsable2 --allusers --allocations --format=JobID,Cluster,User,Account,Partition,State,Submit,Eligible,"
    "Start,End,ElapsedRaw,Timelimit,NNodes,NCPUS,ReqTRES,AllocTRES,QOS,NodeList"
)
"""A command that prints the columns that are read here."""

_ID = re.compile(r"(\d{1,18})((?:_\d{1,18})?(?:\+\d{1,9})?)(\..+)?", re.ASCII)
_PENDING_ARRAY = re.compile(r"\d{1,18}_\[[^\]]*\]?", re.ASCII)
PENDING_ARRAY = "tasks of an array that had not begun"
_ARRAY_LIMIT = re.compile(r"(?:^|\s)(?:--arr\w*|-a)[=\s]?[\d,:-]+%(\d+)")
_OPTIONS = {
    "dependency": re.compile(r"(?:^|\s)(?:--dep\w*|-d)[=\s]?(\S+)"),
    "licenses": re.compile(r"(?:^|\s)(?:--lic\w*|-L)[=\s]?(\S+)"),
    "nice": re.compile(r"(?:^|\s)--nice(?:=(-?\d{1,10}))?(?=\s|$)"),
    "reservation": re.compile(r"(?:^|\s)--reserv\w*[=\s]?(\S+)"),
}
"""Options of sbatch, also shortened as it allows."""
_BARE = re.compile(
    r"-[hHIkKlOQsuvVWXZ]+|--(?:contiguous|exact|exclusive|external|get-user-env|help|hold|ignore-pbs|immediate"
    r"|interactive|kill-on-bad-exit|nice|no-bell|bell|no-kill|no-requeue|no-shell|overcommit|overlap|oversubscribe|parsable"
    r"|propagate|quiet|reboot|requeue|share|spread-job|stepmgr|test-only|unbuffered|usage|use-min-nodes|verbose|version"
    r"|wait|whole)"
)
"""Options of sbatch that have no value in the next word."""


def job_id(text: str) -> tuple[int, str, int]:
    """Number of a job, its part, and the limit on tasks of its array (-1: not stated).

    The part of ``12.0`` is ``.0``: only the other lines tell whether that is a step or a number with a fraction.

    Raises
    ------
    NoJobError
        For a step, and for tasks of an array that are not jobs yet.
    """
    if found := _ID.fullmatch(text):
        if found[3] and (found[3] != ZERO or found[2]):
            raise NoJobError(STEP)
        return int(found[1]), found[2] or found[3] or "", -1
    if _PENDING_ARRAY.fullmatch(text):
        limit = text.rpartition("%")[2].rstrip("]")
        known = int(limit) if "%" in text and limit.isdecimal() else -1
        raise NoJobError(PENDING_ARRAY, (int(text.partition("_")[0]), "", known))
    raise UnitError("like 12, 12_3, 12+0, 12.batch or 12_[4-9]")


def numbered(text: str) -> tuple[int, str, int]:
    """Number of a job without steps: whole (``532209.0`` too), with a task's number, or a name that ends in one."""
    digits = text[len(text.rstrip("0123456789")) :] if text[:1].isalpha() else text.removesuffix(".0")
    return (int(digits), "", -1) if digits.isascii() and digits.isdecimal() and len(digits) <= 18 else job_id(text)


def _without_script(text: str) -> str:
    """A line of submission up to the job script, or the command of ``--wrap``, whose own options follow."""
    words = text.split()
    at = 0 if words[0].startswith("-") else 1
    while at < len(words) and words[at].startswith("-") and not words[at].startswith("--wrap") and words[at] != "--":
        word = words[at]
        has_value_behind = "=" not in word and (word.startswith("--") or len(word) == 2) and not _BARE.fullmatch(word)
        at += 1 + has_value_behind
    return " ".join(words[:at])


@lru_cache(maxsize=100_000)
def submitted(text: str) -> tuple[str, str, str, str, int]:
    """Dependency, licenses, nice, reservation and array limit of a line of submission."""
    if "-" not in text:
        return "", "", "", "", -1
    text = _without_script(text)
    found = {key: match for key, pattern in _OPTIONS.items() if (match := pattern.search(text))}
    stated = {key: match[1] or "100" for key, match in found.items()}  # --nice alone is 100
    limit = _ARRAY_LIMIT.search(text) if "%" in text else None
    dependency, licenses, nice, reservation = (stated.get(key, "") for key in _OPTIONS)
    return dependency, licenses_of(licenses), nice, reservation, int(limit[1]) if limit else -1


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
    size, per = size_of(text.rstrip("cn")), text[-1]
    return -1 if per in "cn" else size, size if per == "n" else -1, size if per == "c" else -1


def _user(text: str) -> str:
    """A user's name, of ``name`` or ``name(1000)``."""
    return name(text.partition("(")[0].strip())


def _resources(text: str) -> Resources:
    """Resources of a job; a log that states such states burst buffers, too: none where it does not mention them."""
    found = resources_of("" if text.lower() in UNKNOWN else text)
    return found._replace(buffers=max(found.buffers, 0))


def _mega(text: str) -> int:
    """Bytes of a number of megabytes, or of a size with its unit; 0 is not known."""
    if text[-1:].isalpha() and text[:1].isdecimal():
        return size_of(text)
    found = float(text) if text.replace(".", "", 1).isdecimal() else count_of(text)
    return round(found * MEGA) if found > 0 else -1


def _limit(text: str) -> int:
    """A limit in minutes of a data set; 0 is not known."""
    return minutes_of(text.partition(".")[0]) or -1


_ID_FIELDS = "number part array_limit"
_ASKED = "wanted_nodes requested_processors memory_bytes burst_buffer_bytes gpus licenses"
_GOT = "nodes allocated_processors used_memory burst_buffer_bytes gpus licenses"
_JOBCOMP_GOT = "nodes allocated_processors memory_bytes burst_buffer_bytes gpus licenses"

SACCT = (
    Column("JobID|JobIDRaw", _ID_FIELDS, job_id, True),
    *of(time_of, submit_s="Submit", start_s="Start", end_s="End"),
    *of(time_of, False, eligible_s="Eligible"),
    *of(seconds_of, elapsed_s="ElapsedRaw"),
    *of(duration_of, elapsed_s="Elapsed", requested_s="Timelimit"),
    *of(duration_of, False, suspended_s="Suspended"),
    *of(minutes_of, requested_s="TimelimitRaw"),
    Column("AllocTRES", _GOT, _resources, True),
    *of(count_of, nodes="AllocNodes|NNodes", wanted_nodes="ReqNodes"),
    *of(count_of, requested_processors="ReqCPUS", allocated_processors="AllocCPUS|NCPUS"),
    Column("ReqTRES", _ASKED, _resources, True),
    Column("ReqMem", "memory_bytes node_memory core_memory", memory),
    *of(_user, False, user="User|UID"),
    *of(name, False, partition="Partition", dependency="Dependency", account="Account", qos="QOS"),
    *of(name, False, reservation="Reservation", cluster="Cluster", node_list="NodeList"),
    *of(state_of, False, state="State"),
    *of(licenses_of, False, licenses="Licenses"),
    Column("SubmitLine", "dependency licenses nice reservation array_limit", submitted),
    *of(requests, False, requests="SubmitLine|Comment|AdminComment|BatchScript|BurstBuffer"),
)
JOBCOMP = (
    Column("JobId", _ID_FIELDS, job_id, True),
    *of(time_of, submit_s="SubmitTime", start_s="StartTime", end_s="EndTime"),
    *of(time_of, False, eligible_s="EligibleTime"),
    *of(minutes_of, requested_s="TimeLimit"),
    *of(count_of, nodes="NodeCnt"),
    *of(count_of, False, allocated_processors="ProcCnt"),
    Column("Tres", _JOBCOMP_GOT, _resources, True),
    *of(_user, False, user="UserId"),
    *of(name, False, partition="Partition", account="Account", qos="QOS", reservation="ReservationName"),
    *of(name, False, cluster="Cluster", node_list="NodeList"),
    *of(state_of, False, state="JobState"),
)
EAGLE = (
    Column("job_id", _ID_FIELDS, numbered, True),
    *of(time_of, submit_s="submit_time", start_s="start_time", end_s="end_time"),
    *of(seconds_of, elapsed_s="run_time", requested_s="wallclock_req"),
    *of(count_of, wanted_nodes="nodes_req", requested_processors="processors_req"),
    *of(count_of, False, gpus="gpus_req"),
    *of(_mega, False, memory_bytes="mem_req"),
    *of(name, False, user="user", partition="partition", account="account", qos="qos"),
    *of(state_of, False, state="state"),
    *of(requests, False, requests="submit_line"),
)
PM100 = (
    Column("job_id", _ID_FIELDS, numbered, True),
    *of(time_of, submit_s="submit_time", start_s="start_time", end_s="end_time"),
    *of(time_of, False, eligible_s="eligible_time"),
    *of(seconds_of, elapsed_s="run_time"),
    *of(_limit, requested_s="time_limit"),
    *of(count_of, nodes="num_nodes_alloc", wanted_nodes="num_nodes_req"),
    *of(count_of, False, requested_processors="num_cores_req|num_cpus_req", gpus="num_gpus_alloc|num_gpus_req"),
    *of(count_of, False, allocated_processors="num_cores_alloc|num_cpus_alloc"),
    *of(name, False, user="user_id", partition="partition", account="account|group_id", qos="qos"),
    *of(state_of, False, state="job_state"),
    *of(licenses_of, False, licenses="licenses"),
)
FDATA = (
    Column("jid", _ID_FIELDS, numbered, True),
    *of(time_of, submit_s="adt", start_s="sdt", end_s="edt"),
    *of(time_of, False, eligible_s="qdt"),
    *of(seconds_of, elapsed_s="duration", requested_s="elpl"),
    *of(count_of, nodes="nnuma", wanted_nodes="nnumr"),
    *of(count_of, False, requested_processors="cnumr", allocated_processors="cnumat"),
    *of(name, False, user="usr"),
    *of(state_of, False, state="exit state"),
)

_JOBCOMP_KEY = re.compile(
    r"(?:^|\s)(JobId|UserId|GroupId|Name|JobState|Partition|TimeLimit|StartTime|EndTime|NodeList|NodeCnt|ProcCnt|WorkDir"
    r"|ReservationName|Tres|Gres|Account|QOS|WcKey|Cluster|SubmitTime|EligibleTime|ArrayJobId|ArrayTaskId|HetJobId"
    r"|HetJobOffset|DerivedExitCode|ExitCode)="
)
_JOBCOMP_NAME = re.compile(r"(.*? Name=).*?( JobState=\w+ Partition=.*)", re.DOTALL)
"""The name of a job, between what is before and behind it: users may write anything there, also keys."""
_JOBCOMP_NEEDED = ("JobId", "StartTime", "EndTime", "NodeCnt")


def jobcomp_cells(line: str) -> Mapping[str, str] | str:
    """Cells of a line of jobcomp/filetxt, or a sentence on its fault."""
    named = _JOBCOMP_NAME.fullmatch(line)
    before, values = pairs(named[1] + named[2] if named else line, _JOBCOMP_KEY)
    if before or any(key.lower() not in values for key in _JOBCOMP_NEEDED):
        keys = ", ".join(_JOBCOMP_NEEDED)
        return f"expected KEY=VALUE pairs with {keys} as jobcomp/filetxt writes them, got {shown(line)}"
    for number, sign, part in (("hetjobid", "+", "hetjoboffset"), ("arrayjobid", "_", "arraytaskid")):
        if values.get(part):
            return values | {"jobid": f"{values.get(number)}{sign}{values[part]}"}
    return values


JSON_BEGINS = r'\{(?!.*"nb_res").*"(?:job_id|slurm|meta|openapi)"\s*:'
"""Beginning of an object with jobs of Slurm."""


def _at(job: Any, path: str) -> Any:
    """A value inside objects, by their keys between dots; of a list its first item, of ``{set, number}`` the number."""
    for key in path.split("."):
        job = job.get(key) if isinstance(job, dict) else None
    if isinstance(job, list):
        job = job[0] if job else None
    if isinstance(job, dict):
        job = "UNLIMITED" if job.get("infinite") else job.get("number") if job.get("set") else None
    return "" if job is None else job


_JSON = {
    "cluster": "cluster association.cluster",
    "user": "user user_name association.user",
    "account": "account association.account",
    "partition": "partition",
    "qos": "qos",
    "state": "state.current state job_state",
    "submit": "time.submission submit_time",
    "eligible": "time.eligible eligible_time",
    "start": "time.start start_time",
    "end": "time.end end_time",
    "elapsedraw": "time.elapsed",
    "timelimitraw": "time.limit time_limit",
    "allocnodes": "allocation_nodes node_count",
    "reqcpus": "required.CPUs",
    "nodelist": "nodes",
    "reservation": "reservation.name resv_name",
    "licenses": "licenses",
    "submitline": "submit_line",
    "suspended": "time.suspended",
    "jobid": "job_id",
}
"""Columns of sacct by the places of their values in sacct --json, in its versions."""


def json_cells(job: dict[str, Any]) -> dict[str, str]:
    """Cells of a job of ``sacct --json``, by the columns of sacct."""
    cells = {
        key: next((text for path in paths.split() if (text := str(_at(job, path)))), "") for key, paths in _JSON.items()
    }
    for number, sign, part in (("het.job_id", "+", "het.job_offset"), ("array.job_id", "_", "array.task_id")):
        if _at(job, part) != "" and _at(job, number):
            cells["jobid"] = f"{_at(job, number)}{sign}{_at(job, part)}"
    cells["suspended"] = f"00:00:{cells['suspended']}" if cells["suspended"] else ""
    for key, kind in (("reqtres", "requested"), ("alloctres", "allocated")):
        found = job.get("tres", {}).get(kind, []) if isinstance(job.get("tres"), dict) else []
        cells[key] = ",".join(
            f"{row.get('type', '')}{'/' if row.get('name') else ''}{row.get('name') or ''}={row.get('count', 0)}"
            f"{'M' if row.get('type') in ('mem', 'bb') else ''}"
            for row in found
            if isinstance(row, dict) and row.get("type") in ("cpu", "mem", "node", "gres", "license", "bb")
        )
    return cells
