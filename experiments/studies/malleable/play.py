"""One simulation of malleable applications in this process: from a workload, a machine and settings to records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from spillway.base.options import Value, build, describe
from spillway.experiments.studies.simulation import simulate
from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description.generate import generate
from spillway.platforms.description.machine import read_description
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.controllers.interference import Conflict
from spillway.schedulers.jobmodels import make_model
from spillway.schedulers.jobmodels.app_record import AppRecord, finished
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.policies import POLICIES

_NODE_BANDWIDTH = "100GBps"
"""Bandwidth of every slot's link: only the file system limits the I/O of the paper's applications."""


@dataclass(frozen=True)
class SimulationResults:
    """Results of a simulation.

    Attributes
    ----------
    records
        Applications by name of their job, in order of ends.
    conflicts
        Predicted collisions.
    """

    records: dict[str, AppRecord]
    conflicts: list[Conflict]


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


def play(platform: Platform, workload: Mapping[str, Any], settings: Mapping[str, Value]) -> SimulationResults:
    """Simulate a workload (the object of a Batsim file) in order of submission.

    ``settings`` are options of the job model (:class:`spillway.schedulers.jobmodels.malleable.Malleable`) and of the
    session.
    """
    records: dict[str, AppRecord] = {}
    conflicts: list[Conflict] = []

    def keep(record: JobRecord) -> None:
        app = finished(record)
        if app is not None:
            records[record.job.name] = app

    shared = {info.name for info in describe(Settings)}
    session = assemble(
        POLICIES["fcfs"].build(),
        build(Settings, {key: value for key, value in settings.items() if key in shared}),
        make_model("malleable", {key: value for key, value in settings.items() if key not in shared}),
        on_record=keep,
        on_conflict=conflicts.append,
    )
    simulate(session, workload, platform, dynamic_jobs=True, profile_reuse=True)
    return SimulationResults(records, conflicts)
