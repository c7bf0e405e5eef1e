"""The reasons why a job waited, in words, from the files of a run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spillway.analysis.errors import AnalysisError
from spillway.analysis.tables.jobs import Floats, JobTable, parse_intervals, read_run
from spillway.analysis.tables.outages import most_drained
from spillway.analysis.tables.rows import Row, read_rows, run_rows
from spillway.base.dates import seconds_of
from spillway.base.hostlist import compressed
from spillway.base.units import duration, size

_SHOWN_DRAINS = 4
_SHOWN_ESTIMATES = 6


@dataclass(frozen=True)
class Reason:
    """Note of a scheduling pass on a job: time, role, binding resource, expected start, blocking job."""

    time_s: float
    role: str
    binding: str
    estimate_s: float
    blocker: str


@dataclass(frozen=True)
class Waiting:
    """Division of a job's waiting time.

    Attributes
    ----------
    seconds
        Time by binding resource, in order of first occurrence.
    blockers
        Time by the reserved job that a start would have delayed.
    estimates
        Expected starts, each with the time from which it was expected; only changes.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    blockers: dict[str, float] = field(default_factory=dict)
    estimates: list[tuple[float, float]] = field(default_factory=list)


_UNNOTED = "its turn"
"""Binding of a waiting job before the first pass that reached it: jobs before it had to be served first."""

_WORDS = {
    "nodes": "for free compute nodes",
    "burst buffers": "for free bytes in the burst buffers",
    "bandwidth": "for bandwidth",
    "licenses or limits": "for licenses, hierarchical resources or limits",
    "no burst buffer yet": "for a burst buffer, which it must hold before its nodes (BurstBufferResources)",
    "stage-in not yet through": "for the end of its stage-in (BurstBufferStageIn)",
    "its user's limit of burst buffers": "because its user's jobs held as many burst buffers as a user is allowed",
    "the end of jobs that make room for it": "for the end of jobs that were preempted for it",
    "the end of jobs that have its nodes": "for the end of jobs that had its nodes (suspended)",
    "a persistent buffer": "for a persistent buffer to be created, released or destroyed (BurstBufferOperation)",
    "policy order": "because others came first in the policy's order",
    "reservation": "because starting it would have delayed a reserved job",
    _UNNOTED: "for its turn (jobs before it in the queue had to start first)",
}


_FOR_BUFFERS = {"burst buffers", "no burst buffer yet"}
"""Bindings that a drained storage node may cause."""

_PRIORITY_TERMS = ("site", "age", "association", "fairshare", "size", "partition", "qos", "nice", "tres")
_SPRIO = ("PRIORITY", "SITE", "AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS", "NICE", "TRES")
"""The columns of ``sprio -l``, in the order of ``priorities.csv``."""

REASON_COLUMNS = ("job_id", "workload_name", "time_s", "role", "binding", "estimate_s", "blocker")


def reason_rows(folder: Path) -> Iterator[Row]:
    """Rows of ``reasons.csv``; raise :class:`AnalysisError` where the run kept no reasons."""
    hint = f"the run kept no reasons: repeat it with --explain ({folder})"
    return read_rows(folder / "reasons.csv", REASON_COLUMNS, hint)


class _JobRows(NamedTuple):
    """One job's rows in the tables of a run's folder."""

    folder: Path
    job_id: str
    workload: str

    def of(self, table: str, *columns: str) -> list[Row]:
        """Its rows of a table that has these columns; none where the run has no such table."""
        rows = run_rows(self.folder / table, ("job_id", "workload_name", *columns))
        return [row for row in rows if (row["job_id"], row["workload_name"]) == (self.job_id, self.workload)]

    def reasons(self) -> list[Reason]:
        """Its rows of ``reasons.csv``; raise :class:`AnalysisError` where the run kept no reasons."""
        return [
            Reason(row.number("time_s"), row["role"], row["binding"], row.number("estimate_s"), row["blocker"])
            for row in reason_rows(self.folder)
            if (row["job_id"], row["workload_name"]) == (self.job_id, self.workload)
        ]


def first_promises(folder: Path) -> tuple[Floats, Floats]:
    """Promised and actual waiting times (s) of all jobs that ever had an expected start; the first promise counts.

    Raises
    ------
    AnalysisError
        The run kept no reasons.
    """
    table = read_run(folder)
    place = {key: row for row, key in enumerate(zip(table.workload, table.job_id, strict=True))}
    promised: dict[int, float] = {}
    for row in reason_rows(folder):
        job = place.get((row["workload_name"], row["job_id"]))
        if job is not None and row["binding"] and row["estimate_s"]:
            promised.setdefault(job, row.number("estimate_s"))
    rows = np.array([job for job in promised if table.executed[job]], dtype=np.intp)
    promises = np.array([promised[job] for job in rows.tolist()], dtype=np.float64)
    return promises - table.submit_s[rows], table.wait_s[rows]


def divide(reasons: Sequence[Reason], submit_s: float, start_s: float) -> Waiting:
    """Divide a job's waiting time, from its submission to its start, by binding resource."""
    waiting = Waiting()
    times = [max(reason.time_s, submit_s) for reason in reasons] + [start_s]
    if times[0] > submit_s:
        waiting.seconds[_UNNOTED] = times[0] - submit_s
    for reason, begin_s, end_s in zip(reasons, times[:-1], times[1:], strict=True):
        if not reason.binding:
            continue
        waiting.seconds[reason.binding] = waiting.seconds.get(reason.binding, 0.0) + end_s - begin_s
        if reason.blocker:
            waiting.blockers[reason.blocker] = waiting.blockers.get(reason.blocker, 0.0) + end_s - begin_s
        expected = reason.estimate_s
        if math.isfinite(expected) and (not waiting.estimates or waiting.estimates[-1][1] != expected):
            waiting.estimates.append((begin_s, expected))
    return waiting


def tell(folder: Path, job_id: str) -> list[str]:
    """Describe one job of a run from its request to its end, paragraph by paragraph.

    Parameters
    ----------
    folder
        The run's folder.
    job_id
        ``12``, or ``w0!12`` where the run has several workloads.

    Raises
    ------
    AnalysisError
        There is no such job, or the run kept no reasons.
    """
    table = read_run(folder)
    row = find_job(table, job_id)
    job = _JobRows(folder, table.job_id[row], table.workload[row])
    refused, at_s = _rejection(job)
    lines = [_request(table, row)]
    if not table.executed[row]:
        what = f"left at {clock(at_s)}" if table.cancelled[row] else "was rejected"
        return [*lines, f"It {what}: {refused or 'the run has no reason on record'}."]
    lines += [*_reserved(folder, job.job_id), *_held(job)]
    reasons = job.reasons()
    waited_s = float(table.wait_s[row])
    if waited_s <= 0:
        lines.append(f"It did not wait: it started at once, {_manner(reasons)}.")
    else:
        lines.append(f"It waited {duration(waited_s)}, until {clock(table.start_s[row])}, and {_manner(reasons)}.")
        waiting = divide(reasons, float(table.submit_s[row]), float(table.start_s[row]))
        lines += _division(waiting, waited_s)
        if not _FOR_BUFFERS.isdisjoint(waiting.seconds):
            lines += _drained(folder, float(table.submit_s[row]), float(table.start_s[row]))
        lines += _expectations(waiting, float(table.start_s[row]))
        lines += _overtaking(table, row)
    return [*lines, *_preempted(job), *_priorities(job), _end(table, row), *_staging(job)]


def _drained(folder: Path, submit_s: float, start_s: float) -> list[str]:
    """The parts of storage nodes that were drained while a job waited."""
    found = most_drained(folder, submit_s, start_s)
    worst = sorted(found.items(), key=lambda item: -item[1])
    parts = [f"{size(count)} of {storage}" for storage, count in worst[:_SHOWN_DRAINS]]
    others = f", and parts of {len(worst) - _SHOWN_DRAINS} more" if len(worst) > _SHOWN_DRAINS else ""
    return [f"Meanwhile storage nodes were drained in part, at most: {', '.join(parts)}{others}."] if parts else []


def _reserved(folder: Path, job_id: str) -> list[str]:
    """The site's reservation in which a job was to run."""
    path = folder / "run.json"
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    settings = record.get("configuration", {}).get("settings", {})
    if not settings.get("site"):
        return []
    kept = {reservation["name"]: reservation for reservation in json.loads(settings["site"]).get("reservations", ())}
    workload = folder.parent / record["configuration"]["workload"]["path"]
    if not kept or not workload.exists():
        return []
    jobs = json.loads(workload.read_text(encoding="utf-8"))["jobs"]
    one = kept.get(next((job.get("reservation") for job in jobs if str(job["id"]) == job_id), None))
    if one is None:
        return []
    begin_s = one["start_s"] - seconds_of(settings["begins"])
    every = f", and every {duration(one['every_s'])}" if one.get("every_s") else ""
    begins = f"from {clock(begin_s)}" if begin_s >= 0 else "from before the first job"
    return [f"It was for reservation {one['name']}: {duration(one['length_s'])} {begins} on{every}."]


def _held(job: _JobRows) -> list[str]:
    """The time for which other jobs held a job before it became eligible."""
    for row in job.of("dependencies.csv", "submitted_s", "eligible_s", "depends"):
        held_s = row.number("eligible_s") - row.number("submitted_s")
        why = f"it depends on them ({row['depends']})" if row["depends"] else "its array has a limit"
        return [f"Other jobs held it for {duration(held_s)} before that: {why}. Its wait counts from then on."]
    return []


def _preempted(job: _JobRows) -> list[str]:
    """The jobs that were preempted for a job, its own preemption, and the attempt that it continues."""
    names = ("job_id", "workload_name", "told_s", "time_s", "what", "by", "lost_node_s")
    rows = list(run_rows(job.folder / "preemptions.csv", names))
    made = [row for row in rows if row["by"] == f"{job.workload}!{job.job_id}"]
    lines = []
    if made:
        parts = ", ".join(f"job {row['job_id']} ({row['what']} at {clock(row.number('time_s'))})" for row in made)
        lines.append(f"From {clock(made[0].number('told_s'))} on, jobs were preempted for it: {parts}.")
    for row in rows:
        if row["workload_name"] != job.workload:
            continue
        by, ended = row["by"].rpartition("!")[2], clock(row.number("time_s"))
        how, _, attempt = row["what"].partition(" as ")
        if attempt == job.job_id:
            what = "the next attempt" if how == "requeued" else "the rest"
            lines.append(
                f"It is {what} of job {row['job_id']}, which job {by} preempted ({ended}). "
                "Its wait counts from then on."
            )
        if row["job_id"] == job.job_id:
            lost = f"{row.number('lost_node_s') / 3600.0:,.2f} node-hours of it were lost"
            told = clock(row.number("told_s"))
            lines.append(f"Job {by} preempted it: chosen at {told}, {row['what']} at {ended}; {lost}.")
    return lines


def _priorities(job: _JobRows) -> list[str]:
    """A job's first and last priority by terms, and the assumptions, where jobs were ordered by priority."""
    rows = job.of("priorities.csv", "time_s", "priority", *_PRIORITY_TERMS, "assumed")
    if not rows:
        return []
    terms = [[f"{row.number(name):.0f}" for name in ("priority", *_PRIORITY_TERMS)] for row in rows]
    cells = [["As sprio -l:", *_SPRIO]]
    cells += [[clock(row.number("time_s")), *texts] for row, texts in zip(rows, terms, strict=True)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return [*lines, *(f"Assumed for its priority: {text}." for text in rows[-1]["assumed"].split("; ") if text)]


def _staging(job: _JobRows) -> list[str]:
    """The times at which a job's burst buffer was filled and emptied, where it had its own interval."""
    for row in job.of("jobs.csv", "finish_time"):
        if row.cells.get("buffer_start_time"):
            given_s, end_s = row.number("buffer_start_time"), row.number("finish_time")
            line = f"It had its burst buffer from {clock(given_s)} to {clock(end_s)}"
            if row["staged_time"]:
                line += f", filled after {duration(row.number('staged_time') - given_s)}"
            if row["nodes_finish_time"]:
                off_s = row.number("nodes_finish_time")
                line += f"; its nodes were free from {clock(off_s)} on, {duration(end_s - off_s)} before (STAGE_OUT)"
            return [f"{line}."]
    return []


def find_job(table: JobTable, job_id: str) -> int:
    """Row of a job given as ``12`` or ``w0!12``; :class:`AnalysisError` where there is no such job, or several."""
    workload, _, name = job_id.rpartition("!")
    rows = [
        row
        for row, (found, of) in enumerate(zip(table.job_id, table.workload, strict=True))
        if found == name and workload in ("", of)
    ]
    if len(rows) == 1:
        return rows[0]
    if not rows:
        some = ", ".join(list(table.job_id)[:5])
        raise AnalysisError(f"the run has no job {job_id!r}; it has {len(table)} jobs: {some} ...")
    raise AnalysisError(
        f"several workloads have a job {name!r}: expected one of them, {table.workload[rows[0]]}!{name}"
    )


def clock(seconds: float) -> str:
    """A simulated time: ``day 3, 14:05:09`` (days count from 0)."""
    whole = int(seconds)
    return f"day {whole // 86_400}, {whole // 3600 % 24:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _request(table: JobTable, row: int) -> str:
    nodes = int(table.nodes[row])
    requests = int(table.requests[row])
    each = "each" if requests == nodes else f"each of {requests} stripes"
    buffers = f", {size(table.bb_bytes[row])} of burst buffer for {each}" if table.bb_bytes[row] else ""
    limit = table.walltime_s[row]
    time = f" for at most {duration(limit)}" if math.isfinite(limit) else ""
    plural = "s" if nodes != 1 else ""
    who = f" of user {table.user[row]}" if table.user[row] else ""
    return (
        f"Job {table.job_id[row]}{who} requested {nodes} compute node{plural}{buffers}{time}; "
        f"it was submitted at {clock(table.submit_s[row])}."
    )


def _rejection(job: _JobRows) -> tuple[str, float]:
    """The reason for a job's rejection, and its time; "" and NaN where none is on record."""
    found = job.of("rejections.csv", "time_s", "reason")
    return (found[0]["reason"], float(found[0]["time_s"])) if found else ("", math.nan)


def _manner(reasons: Sequence[Reason]) -> str:
    manners = {
        "started in order": "started in its turn",
        "backfilled": "was backfilled: it started before jobs submitted earlier",
        "planned": "started as planned",
        "reserved": "started at its reservation",
    }
    how = reasons[-1].role if reasons and not reasons[-1].binding else ""
    return manners.get(how, "started")


def _division(waiting: Waiting, waited_s: float) -> list[str]:
    parts = [
        f"{duration(seconds)} ({seconds / waited_s:.0%}) {_WORDS.get(binding, binding)}"
        for binding, seconds in sorted(waiting.seconds.items(), key=lambda item: -item[1])
        if seconds > 0
    ]
    lines = [f"It waited {'; '.join(parts)}."] if parts else []
    if waiting.blockers:
        worst = sorted(waiting.blockers.items(), key=lambda item: -item[1])[:3]
        names = ", ".join(f"job {job} ({duration(seconds)})" for job, seconds in worst)
        lines.append(f"Reservations that it would have delayed: {names}.")
    return lines


def _expectations(waiting: Waiting, start_s: float) -> list[str]:
    changes = waiting.estimates
    if not changes:
        return []
    first_s, expected_s = changes[0]
    late_s = start_s - expected_s
    truth = "as predicted" if abs(late_s) < 1 else f"{duration(abs(late_s))} {'later' if late_s > 0 else 'earlier'}"
    what = "an immediate start" if expected_s - first_s < 1 else f"a start at {clock(expected_s)}"
    line = f"At {clock(first_s)} {what} was predicted for it; it started {truth}."
    if len(changes) > 1:
        step = max(1, -(-len(changes) // _SHOWN_ESTIMATES))
        shown = ", ".join(clock(expected) for _, expected in changes[::step])
        often = "once" if len(changes) == 2 else f"{len(changes) - 1} times"
        line += f" The prediction changed {often}: {shown}."
    return [line]


def _overtaking(table: JobTable, row: int) -> list[str]:
    submit_s, start_s = table.submit_s[row], table.start_s[row]
    earlier_start = table.executed & (table.start_s < start_s)
    overtook = earlier_start & (table.submit_s > submit_s)
    ahead = table.executed & (table.submit_s < submit_s) & (table.start_s > submit_s)
    lines = [f"When it was submitted, {_jobs(ahead.sum(), ('was', 'were'))} already waiting."]
    if overtook.any():
        work = np.sum(table.nodes[overtook] * table.execution_s[overtook]) / 3600
        lines.append(f"{_jobs(overtook.sum())} submitted after it started before it and took {work:,.0f} node-hours.")
    return lines


def _jobs(count: int, verbs: tuple[str, str] = ("", "")) -> str:
    """``1 job was``, ``3 jobs were``."""
    return f"{count:,} {'job' if count == 1 else 'jobs'} {verbs[int(count != 1)]}".rstrip()


def _end(table: JobTable, row: int) -> str:
    ends = {
        "COMPLETED_SUCCESSFULLY": "completed",
        "COMPLETED_WALLTIME_REACHED": "was killed at its walltime",
        "COMPLETED_KILLED": "was killed",
        "COMPLETED_FAILED": "failed",
    }
    how = ends.get(table.state[row], table.state[row])
    where = f" on {_nodes(table, row)}" if table.allocated[row] else ""
    held = f", with burst buffers on storage nodes {_storages(table, row)}" if table.storages[row] else ""
    slices = 0 if table.turns is None else int(np.sum(table.turns.job == row))
    over_s = table.finish_s[row] - table.start_s[row]
    pieces = f" in {slices} time slices over {duration(over_s)}" if slices > 1 else ""
    return f"It ran {duration(table.execution_s[row])}{pieces}{where}{held}, and {how} at {clock(table.finish_s[row])}."


def _nodes(table: JobTable, row: int) -> str:
    """A job's nodes; where the site has partitions, by their names on the machine."""
    names = {node.id: node.name for node in table.machine.nodes}
    ids = parse_intervals(table.allocated[row])
    if not (table.partition and table.partition[row] and names.keys() >= set(ids)):
        return f"nodes {table.allocated[row]}"
    order = {name: place for place, name in enumerate(names.values())}
    chosen = sorted((names[number] for number in ids), key=order.__getitem__)
    return f"{compressed(chosen)} of partition {table.partition[row]}"


def _storages(table: JobTable, row: int) -> str:
    names = {storage.id: storage.name for storage in table.machine.storages}
    parts = [part.partition(":") for part in table.storages[row].split()]
    return ", ".join(f"{names.get(int(storage), storage)} ({count})" for storage, _, count in parts)
