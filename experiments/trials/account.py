"""Allocations counted from the messages only, without a scheduler's session, book or timeline."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from spillway.protocol.messages import JobSubmitted, ResourceInfo


class Request(NamedTuple):
    """A job's request: nodes, bytes for each of them, walltime (s), and its submission (s)."""

    id: str
    nodes: int
    bytes_each: int
    walltime_s: float
    submit_s: float

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"job {self.id.partition('!')[2] or self.id}"

    @property
    def wants(self) -> str:
        """Its requested nodes and bytes, in words."""
        return amount(self.nodes, self.nodes * self.bytes_each)


class RunningJob(NamedTuple):
    """A running job: its nodes by Batsim's ids, its start, and the end of its walltime (s)."""

    job: Request
    hosts: frozenset[int]
    start_s: float
    end_s: float


def amount(nodes: int, total: int) -> str:
    """Nodes and bytes in words."""
    return f"{nodes} node{'s' * (nodes != 1)}" + (f" and {total / 1e9:g} GB" if total else "")


def request_of(event: JobSubmitted) -> Request:
    """Read a submitted job; in Batsim 5 its further fields are a text."""
    job = event.job | json.loads(event.job.get("extra_data", "{}"))
    return Request(event.job_id, job["res"], job.get("bb", 0), float(job["walltime"]), event.timestamp)


@dataclass
class Account:
    """The machine, the waiting jobs in order of submission, and the running jobs.

    Parameters
    ----------
    compute, storage
        The hosts as SIMULATION_BEGINS lists them.
    """

    compute: Iterable[ResourceInfo]
    storage: Iterable[ResourceInfo]
    waiting: dict[str, Request] = field(default_factory=dict)
    running: dict[str, RunningJob] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hosts = frozenset(info.id for info in self.compute)
        self.capacities = [int(info.properties.get("capacity_bytes", 0)) for info in self.storage]

    def fits_empty(self, job: Request) -> bool:
        """Whether a job can ever start."""
        return job.nodes <= len(self.hosts) and job.nodes * job.bytes_each <= self.room(job.bytes_each)

    def room(self, size: int) -> int:
        """Bytes of the empty machine for requests of a size: all of a single storage node, else whole requests."""
        if len(self.capacities) == 1 or not size:
            return sum(self.capacities)
        return sum(capacity // size * size for capacity in self.capacities)

    def free(self, size: int, running: Iterable[RunningJob]) -> tuple[int, int]:
        """Nodes and bytes that these running jobs leave free; bytes as counted by :meth:`room`."""
        running = list(running)
        held = sum(running_job.job.nodes * running_job.job.bytes_each for running_job in running)
        return len(self.hosts) - sum(running_job.job.nodes for running_job in running), self.room(size) - held

    def fits(self, job: Request, running: Iterable[RunningJob]) -> bool:
        """Whether a job can start beside these running jobs."""
        nodes, left = self.free(job.bytes_each, running)
        return job.nodes <= nodes and job.nodes * job.bytes_each <= left

    def earliest(self, job: Request, running: Iterable[RunningJob], now_s: float) -> float:
        """The shadow time (s): nodes and buffer are free then if all running jobs take their whole walltimes."""
        running = sorted(running, key=lambda one: one.end_s)
        for place in range(len(running) + 1):
            if self.fits(job, running[place:]):
                return max(now_s, running[place - 1].end_s) if place else now_s
        raise AssertionError("it fits the empty machine")  # other jobs are no candidates

    def first(self) -> Request | None:
        """The first waiting job that can ever start."""
        return next((job for job in self.waiting.values() if self.fits_empty(job)), None)

    def submitted(self, job: Request) -> None:
        """Add a waiting job."""
        self.waiting[job.id] = job

    def start(self, job: Request, hosts: frozenset[int], now_s: float) -> RunningJob:
        """Start a waiting job."""
        del self.waiting[job.id]
        held = self.running[job.id] = RunningJob(job, hosts, now_s, now_s + job.walltime_s)
        return held

    def gone(self, job_id: str) -> None:
        """Remove a job that has ended or was rejected."""
        self.running.pop(job_id, None)
        self.waiting.pop(job_id, None)
