"""Dependencies of a log's jobs, and limits on tasks of its arrays, as fields of a workload's jobs.

All jobs of a log have ended as they did, so a job that waited for another's success or failure waits for its end. The
fields are those of :mod:`spillway.schedulers.model.dependencies`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from spillway.workloads.batsim.workload import WorkloadJob
from spillway.workloads.logs.nodes import most_at_once
from spillway.workloads.logs.table import Ints, JobTable

_KINDS = {
    "after": "after",
    "afterany": "afterany",
    "afterok": "afterany",
    "afternotok": "afterany",
    "aftercorr": "afterany",
    "afterburstbuffer": "afterany",
}
_CORRESPONDING = "aftercorr"
_STATUS = re.compile(r"\([^)]*\)")
_JOB = re.compile(r"(\d+)(_\d+|_\*)?(?:\+(\d+)(s?))?")


@dataclass(frozen=True)
class Waits:
    """Dependencies and array limits of a table's jobs, in its order; ``None``: no job has one.

    Attributes
    ----------
    depends
        Text of the field ``depends``; "": no job that the job depends on is played before it.
    array_limit
        Number of tasks of a job's array that may wait or run at a time; 0: no limit.
    """

    depends: npt.NDArray[np.object_] | None = None
    array_limit: Ints | None = None


def waits_of(table: JobTable) -> Waits:
    """Dependencies and array limits of jobs in order of submission."""
    limits = _limits(table)
    depends = _depends(table)
    return Waits(depends if depends.any() else None, limits if limits.any() else None)


def _depends(table: JobTable) -> npt.NDArray[np.object_]:
    depends: npt.NDArray[np.object_] = np.full(len(table), "", dtype=object)
    stated = table.known("dependency")
    if not stated.any() or _is_constant(table):
        return depends
    rows_of: dict[int, list[int]] = {}
    for row, number in enumerate(table["number"].tolist()):
        rows_of.setdefault(number, []).append(row)
    end_s = _ends(table)
    parts, texts, part, dependency = table.names["part"], table.names["dependency"], table["part"], table["dependency"]
    start_s = table["start_s"]
    for row in np.flatnonzero(stated).tolist():
        played = _Predecessors(table, rows_of, row, str(parts[part[row]]), start_s, end_s)
        depends[row] = _played(str(texts[dependency[row]]), played.labels)
    return depends


def among(jobs: Sequence[WorkloadJob]) -> list[WorkloadJob]:
    """Jobs of a part of a workload, with dependencies only on each other."""
    if not any("depends" in job.extras for job in jobs):
        return list(jobs)
    names = {job.name for job in jobs}
    return [msgspec.structs.replace(job, extras=_among(job.extras, names)) for job in jobs]


def _among(extras: dict[str, Any], names: set[str]) -> dict[str, Any]:
    text = extras.get("depends")
    if not isinstance(text, str):
        return extras
    joint = "?" if "?" in text else ","
    left: list[str] = []
    for part in text.split(joint):
        kind, *jobs = part.split(":")
        kept = [job for job in jobs if job in names or job.rpartition("+")[0] in names]
        if kept or not jobs:
            left.append(f"{kind}:{':'.join(kept)}" if kept else kind)
    others = {name: value for name, value in extras.items() if name != "depends"}
    return others | ({"depends": joint.join(left)} if left else {})


def _limits(table: JobTable) -> Ints:
    """Limit of each job's array: as stated, or more where more tasks ran at a time (a limit may have changed)."""
    stated, numbers = table.intake.limited_arrays, table["number"]
    limited = np.zeros(len(table), dtype=np.int64)
    start_s, end_s = table["start_s"], _ends(table)
    for number, limit in stated.items():
        tasks = np.flatnonzero(numbers == number)
        ran = tasks[(start_s[tasks] >= 0) & (end_s[tasks] > start_s[tasks])]
        limited[tasks] = max(limit, most_at_once(start_s[ran], end_s[ran]))
    return limited


def _ends(table: JobTable) -> Ints:
    """Ends of jobs (s); -1 where not known."""
    start_s = table["start_s"]
    return np.where(start_s >= 0, start_s + np.maximum(table["run_s"], 0), -1)


def _is_constant(table: JobTable) -> bool:
    """Whether all jobs state the same predecessor: a log that fills the field with a constant."""
    codes = table["dependency"]
    return len(codes) > 1 and bool((codes == codes[0]).all())


@dataclass(frozen=True)
class _Predecessors:
    """Jobs that are played before a given job, and that it did wait for: a log may contradict itself."""

    table: JobTable
    rows_of: dict[int, list[int]]
    row: int
    part: str
    start_s: Ints
    end_s: Ints

    def labels(self, number: int, part: str, kind: str, corresponding: bool = False) -> Iterator[str]:
        """Ids of the jobs of a number: one task, the task with the same place in its array, or all of them."""
        wanted = part if part != "_*" else ""
        if corresponding and not wanted and self.part.startswith("_"):
            wanted = self.part
        for row in self.rows_of.get(number, ()):
            label = self.table.label(row)
            if row < self.row and (not wanted or label == f"{number}{wanted}") and self._was_over(row, kind):
                yield label

    def _was_over(self, row: int, kind: str) -> bool:
        """Whether the job started, by the log, no earlier than another job's start or end; true where not known."""
        start_s = self.start_s
        over_s = start_s[row] if kind == "after" else self.end_s[row]
        return bool(start_s[self.row] < 0 or over_s <= start_s[self.row])


def _played(text: str, labels: Callable[..., Iterator[str]]) -> str:
    """A log's dependency as the field ``depends``, without jobs that are not played."""
    joint = "?" if "?" in text else ","
    conditions: list[str] = []
    for part in _STATUS.sub("", text).split(joint):
        word, *jobs = part.strip().split(":")
        kind = _KINDS.get(word) if jobs else "afterany"
        named = [found for job in jobs or [word] if (found := _JOB.fullmatch(job))]
        for found in named if kind is not None else ():
            component = list(labels(int(found[1]), f"+{found[3]}", kind)) if found[3] and not found[4] else []
            delay = f"+{found[3]}{found[4]}" if found[3] and not component else ""
            before = component or labels(int(found[1]), found[2] or "", kind, word == _CORRESPONDING)
            conditions += [f"{kind}:{label}{delay}" for label in before]
    return joint.join(dict.fromkeys(conditions))
