"""One simulation of malleable applications in this process: from a workload, a machine and settings to records."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from spillway.base.options import Value, build, describe
from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description import read_description
from spillway.platforms.generate import generate
from spillway.platforms.model import Platform
from spillway.platforms.xml_reader import parse_platform
from spillway.protocol.messages import JobState
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.controllers.interference import Conflict
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.jobmodels import make_model
from spillway.schedulers.jobmodels.app_record import AppRecord, finished
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.view import Running
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink

_NODE_BANDWIDTH = "100GBps"
"""Bandwidth of every slot's link: only the file system limits the I/O of the paper's applications."""


@dataclass
class Diary(Observer):
    """Records submissions, starts, ends and node-seconds.

    Attributes
    ----------
    jobs
        ``(submitted, started, ended, nodes requested, ended well)`` of every job that ran, in order of ends.
    held_node_s
        Node-seconds held, including extra nodes.
    """

    jobs: list[tuple[float, float, float, int, bool]] = field(default_factory=list)
    rejected_jobs: int = 0
    held_node_s: float = 0.0
    _held: dict[str, tuple[float, int]] = field(default_factory=dict)

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Count a rejected job."""
        self.rejected_jobs += 1

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Begin to count its node-seconds."""
        self._held[job.id] = (now_s, len(allocation.nodes))

    def resized(self, running: Running, now_s: float) -> None:
        """Count its node-seconds with the new number of nodes."""
        self._count(running.job.id, now_s)
        self._held[running.job.id] = (now_s, len(running.allocation.nodes))

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Record the job."""
        self._count(running.job.id, now_s)
        job = running.job
        well = state is JobState.COMPLETED_SUCCESSFULLY
        self.jobs.append((job.submit_time_s, running.start_s, now_s, job.nodes, well))

    def _count(self, job_id: str, now_s: float) -> None:
        since_s, nodes = self._held.pop(job_id)
        self.held_node_s += nodes * (now_s - since_s)


@dataclass(frozen=True)
class Played:
    """Results of a simulation.

    Attributes
    ----------
    records
        Applications by name of their job, in order of ends.
    conflicts
        Predicted collisions.
    diary
        Record of all jobs.
    end_s
        Simulated time at the end.
    wall_s
        Real seconds that it took.
    """

    records: dict[str, AppRecord]
    conflicts: list[Conflict]
    diary: Diary
    end_s: float
    wall_s: float


@lru_cache(maxsize=16)
def slots(count: int, pfs_bytes_per_s: float) -> Platform:
    """A machine of ``count`` slots for one process each, the paper's cores, with one file system."""
    text = f"""
name = "slots"
topology = "tree"
[[cluster]]
name = "slots"
uplink = {{ name = "core", bandwidth = "100000GBps" }}
levels = [{{ name = "slot", count = {count}, bandwidth = "{_NODE_BANDWIDTH}", latency = "1us", duplex = true }}]
[pfs]
bandwidth = "{pfs_bytes_per_s / 1e6!r}MBps"
"""
    return parse_platform(generate(read_description(text, "slots", builtin_files())), "slots")


def play(
    platform: Platform, workload: Mapping[str, Any], settings: Mapping[str, Value], policy: str = "fcfs"
) -> Played:
    """Simulate a workload (the object of a Batsim file) under a policy.

    ``settings`` are options of the job model (:class:`spillway.schedulers.jobmodels.malleable.Malleable`) and of the
    session.
    """
    begin = time.perf_counter()
    records: dict[str, AppRecord] = {}
    conflicts: list[Conflict] = []
    diary = Diary()

    def keep(record: JobRecord) -> None:
        app = finished(record)
        if app is not None:
            records[record.job.name] = app

    shared = {info.name for info in describe(Settings)}
    session = assemble(
        POLICIES[policy].build(),
        build(Settings, {key: value for key, value in settings.items() if key in shared}),
        make_model("malleable", {key: value for key, value in settings.items() if key not in shared}),
        observer=diary,
        on_record=keep,
        on_conflict=conflicts.append,
    )
    options = SimulationOptions(dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
    from spillway.simulator.engines.native import FluidEngine

    with FluidEngine(platform) as engine:
        link = InProcessLink(session)
        result = Simulation(platform, [workload_from_object(dict(workload))], engine, link, options).run()
    return Played(records, conflicts, diary, result.end_s, time.perf_counter() - begin)
