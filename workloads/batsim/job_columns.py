"""Converted logs: the jobs of a Batsim workload as columns, made into objects or into the text of its file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from spillway.workloads.batsim.json_file import job_text
from spillway.workloads.batsim.workload import BEGINS_FIELD, IN_ORDER_FIELD, Profile, Workload, WorkloadJob
from spillway.workloads.logs.table import Ints, JobTable
from spillway.workloads.requests.staging import JobStaging

SITE_NODES = "site_nodes"
"""Field of a job: nodes that it used at its site, where it requests another number."""

_BATCH = 65_536
_OF_SITES = ("partition", "account", "qos", "licenses", "nice", "reservation")
"""Fields of a log for a site's scheduler: columns of a table, and fields of jobs."""


@dataclass(frozen=True)
class JobColumns:
    """Jobs in order of submission, a column for each of their properties.

    Attributes
    ----------
    table
        The jobs of the log.
    name
        Name of the workload.
    nb_res
        Compute nodes of its machine.
    submit_s, nodes, walltime_s
        Submission, nodes and walltime of each job; walltime -1: no walltime.
    bb_bytes, com_bytes
        Burst buffer per node; bytes from each node to each other.
    site_wait_s, io_bytes
        Further fields of jobs; ``None``: left out.
    used
        Nodes that each job used at its site, which is another number than it requested.
    stripes
        Storage nodes that each job's buffer is striped over; ``None``: each node has a buffer of its own.
    site_fields
        Whether jobs keep the log's fields for a site's scheduler.
    begins_s
        Date of time 0 (s since 1970); ``None``: not known.
    depends, array_limit
        Dependencies of each job, and the number of tasks of its array that may wait or run at a time (fields of the
        same names); "" and 0: no dependency, no limit.
    cancelled_after_s
        Time from the submission to the cancellation of each job that never ran (field of the same name); 0: it ran.
    staged, moves
        Staging of each job; ``None``: jobs state no staging. Whether they state bytes besides times.
    flops
        Work per node of a job: runtime, burst buffer, walltime.
    """

    table: JobTable
    name: str
    nb_res: int
    submit_s: Ints
    nodes: Ints
    walltime_s: Ints
    bb_bytes: Ints
    com_bytes: Ints
    site_wait_s: Ints | None
    io_bytes: Ints | None
    flops: Callable[[int, int, int | None], int]
    used: Ints | None = None
    stripes: Ints | None = None
    staged: JobStaging | None = None
    moves: bool = False
    site_fields: bool = False
    begins_s: float | None = None
    depends: npt.NDArray[np.object_] | None = None
    array_limit: Ints | None = None
    cancelled_after_s: Ints | None = None

    def __len__(self) -> int:
        return len(self.table)

    def workload(self) -> Workload:
        """The workload as objects: about 1 kB per job."""
        profiles: dict[str, Profile] = {}
        jobs, head = tuple(self._jobs()), self._head()
        for job, (_, cpu, com, bb) in zip(jobs, self._profiles(), strict=True):
            own = {} if self.stripes is not None else {"bb": bb}
            profiles[job.profile] = {"type": "parallel_homogeneous", "cpu": cpu, "com": com} | own
        return Workload(self.name, self.nb_res, jobs, profiles, self.description, head, begins_s=self.begins_s)

    def text(self) -> Iterator[bytes]:
        """Text of the workload's file in pieces, equal to :func:`spillway.workloads.batsim.json_file.format_batsim`."""
        head = {"name": self.name, "description": self.description, "nb_res": self.nb_res} | self._head()
        lines = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
        yield f'{{\n{lines}"jobs": [\n'.encode()
        yield from _listed(map(job_text, self._jobs()))
        yield b'\n],\n"profiles": {\n'
        own = "" if self.stripes is not None else ', "bb": {}'
        yield from _listed(
            f'"{label}": {{"type": "parallel_homogeneous", "cpu": {cpu}, "com": {com}{own.format(bb)}}}'
            for label, cpu, com, bb in self._profiles()
        )
        yield b"\n}\n}\n"

    @property
    def description(self) -> str:
        """One line for display."""
        first, last = self.table.label(0), self.table.label(len(self) - 1)
        return f"{len(self)} jobs from {self.table.format} job number {first} to {last} inclusive"

    def _head(self) -> dict[str, Any]:
        """Further fields of the file that a site's scheduler needs."""
        dated = {BEGINS_FIELD: self.begins_s} if self.site_fields and self.begins_s is not None else {}
        return dated | ({IN_ORDER_FIELD: True} if self._is_out_of_order() else {})

    def _is_out_of_order(self) -> bool:
        """Whether jobs of one second come in another order than that of their ids as texts."""
        together = np.flatnonzero(np.diff(self.submit_s) == 0).tolist()
        return any(self.table.label(row) > self.table.label(row + 1) for row in together)

    def _jobs(self) -> Iterator[WorkloadJob]:
        parts, users = self.table.names["part"], self.table.names["user"]
        extra, limits = self._extra(), self.array_limit
        of_log = [self.table[name] for name in ("number", "part", "user")]
        columns = (*of_log, self.submit_s, self.nodes, self.walltime_s)
        shared: dict[tuple[Any, ...], dict[str, Any]] = {}
        for rows in self._batches():
            further = [column[rows].tolist() for column in extra.values()]
            for place, (number, part, user, submit, nodes, walltime) in enumerate(
                zip(*(column[rows].tolist() for column in columns), strict=True)
            ):
                name = users[user]
                extras: dict[str, Any] = {} if name in (-1, "") else {"user": name}
                for field, column in zip(extra, further, strict=True):
                    if column[place] != "":
                        extras[field] = column[place]
                if limits is not None and (limit := int(limits[rows.start + place])):
                    extras |= {"array": number, "array_limit": limit}
                extras = shared.setdefault(tuple(extras.items()), extras)  # equal fields take memory once
                if len(shared) > _BATCH:  # most are of one job
                    shared.clear()
                job_id = f"{number}{parts[part]}" if parts[part] else number
                profile = str(job_id)
                yield WorkloadJob(job_id, submit, nodes, profile, walltime if walltime > 0 else None, extras)

    def _extra(self) -> dict[str, Any]:
        """Columns of further fields of jobs."""
        wanted: dict[str, Any] = {
            "site_wait_s": self.site_wait_s,
            SITE_NODES: self._used(),
            "io_bytes": self.io_bytes,
            "depends": self.depends,
            "cancelled_after_s": self._cancelled(),
        }
        if self.site_fields:
            wanted |= {name: self._named(name) for name in _OF_SITES} | {"gpus": self._gpus(), "cpus": self._cpus()}
        if self.stripes is not None:
            wanted |= {"bb_total": self.bb_bytes * self.nodes, "bb_stripes": self.stripes}
        if self.staged is not None:
            wanted |= self.staged.fields(moved=self.moves)
        return {name: column for name, column in wanted.items() if column is not None}

    def _cancelled(self) -> npt.NDArray[np.object_] | None:
        """Cancellations, "" for jobs that ran; ``None``: all ran."""
        found = self.cancelled_after_s
        return None if found is None else np.where(found > 0, found.astype(object), "")

    def _used(self) -> npt.NDArray[np.object_] | None:
        """Nodes that a job used at its site, where they are not those that it requests; ``None``: they always are."""
        if self.site_wait_s is None or self.used is None or (other := self.used != self.nodes).sum() == 0:
            return None
        return np.where(other, self.used.astype(object), "")

    def _named(self, field: str) -> npt.NDArray[np.object_] | None:
        """A column of names as texts (``nice``: as numbers), "" where not stated; ``None`` where all are ""."""
        read = int if field == "nice" else str
        names = ["" if name in ("", -1) else read(name) for name in self.table.names[field]]
        return np.array(names, dtype=object)[self.table[field]] if any(name != "" for name in names) else None

    def _gpus(self) -> npt.NDArray[np.object_] | None:
        """GPUs on each node, rounded up, "" where not stated; ``None`` where all are ""."""
        gpus, nodes = self.table["gpus"], np.maximum(self.nodes, 1)
        found = np.where(gpus > 0, -(-gpus // nodes), 0)
        return np.array([count or "" for count in found.tolist()], dtype=object) if found.any() else None

    def _cpus(self) -> npt.NDArray[np.object_] | None:
        """CPUs that jobs request, "" for one on each node or not stated; ``None`` where all are ""."""
        cpus = np.where(self.table["requested_processors"] > self.nodes, self.table["requested_processors"], 0)
        return np.array([count or "" for count in cpus.tolist()], dtype=object) if cpus.any() else None

    def _profiles(self) -> Iterator[tuple[str, int, int, int]]:
        parts = self.table.names["part"]
        of_log = [self.table[name] for name in ("number", "part", "run_s")]
        columns = (*of_log, self.bb_bytes, self.com_bytes, self.walltime_s)
        for rows in self._batches():
            for number, part, run_s, bb, com, walltime in zip(
                *(column[rows].tolist() for column in columns), strict=True
            ):
                cpu = self.flops(max(run_s, 0), bb, walltime if walltime > 0 else None)
                yield f"{number}{parts[part]}", cpu, com, bb

    def _batches(self) -> Iterator[slice]:
        return (slice(first, first + _BATCH) for first in range(0, len(self), _BATCH))


def with_site_nodes(workload: Workload) -> Workload:
    """A workload whose jobs request the nodes that they used at their site."""
    jobs = [
        msgspec.structs.replace(
            job,
            res=job.extras.get(SITE_NODES, job.res),
            extras={name: value for name, value in job.extras.items() if name != SITE_NODES},
        )
        for job in workload.jobs
    ]
    return replace(workload, jobs=tuple(jobs))


def _listed(items: Iterator[str]) -> Iterator[bytes]:
    """Items with a comma and a line break between them, in pieces."""
    batch: list[str] = []
    separator = ""
    for item in items:
        batch.append(item)
        if len(batch) == _BATCH:
            yield (separator + ",\n".join(batch)).encode()
            batch, separator = [], ",\n"
    if batch:
        yield (separator + ",\n".join(batch)).encode()
