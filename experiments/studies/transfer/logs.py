"""Logs of the transfer study: their places, their machines, and windows of them at a load."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from spillway.experiments.campaign.inputs import machines
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import PlatformSpec, WorkloadSpec
from spillway.experiments.studies.local_logs import Log
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.product import drawn_once
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.load import load_log
from spillway.workloads.swf import SwfHeader, SwfLog, SwfRecord

CAPACITY_GB = 40
"""Burst buffer of the thesis's storage nodes, for eight nodes of one processor."""

PERIODS = 8
"""Windows of a log, from its beginning to its end in equal steps; of a generator, its seeds."""


LOGS = {
    "kth": Log(96, "KTH-SP2-1996-2.1-cln", "data/kth/KTH-SP2-1996-2.1-cln.swf.xz"),
    "atlas": Log(1152, "LLNL-Atlas-2006-2.1-cln", "data/swf/LLNL-Atlas-2006-2.1-cln.swf.xz", 8),
    "nasa": Log(128, "NASA-iPSC-1993-3", "data/swf/NASA-iPSC-1993-3.swf.xz"),
    "kth-like": Log(96, "kth-like:jobs={jobs},seed={seed},load=0.72"),
    "lublin": Log(128, "lublin:jobs={jobs},seed={seed},nodes=128"),
    "lublin-256": Log(256, "lublin:jobs={jobs},seed={seed},nodes=256"),
}
"""Logs by name. Those of a generator are its seeds: no two periods have a job in common."""


def platform(point: Point) -> PlatformSpec:
    """The machine of a point: the log's nodes, with burst buffers as a multiple of the thesis's per processor."""
    name = _period_of(point)[0]
    log, times = LOGS[name], point.number("buffers")
    size = CAPACITY_GB * log.processors * times
    return PlatformSpec(source=f"nodes:{log.nodes},burst_buffer={size:g}GB", name=f"{name}-x{times:g}")


def _period_of(point: Point) -> tuple[str, int]:
    """Log and number of the axis ``period`` (``kth 3``)."""
    name, _, number = point.text("period").rpartition(" ")
    return name, int(number)


def workload(point: Point, folder: Path) -> WorkloadSpec:
    """Jobs of a period at a load: the log's sizes, runtimes and order, its gaps stretched or pressed alike."""
    name, period = _period_of(point)
    jobs, load, model, buffers = point.whole("jobs"), point.number("load"), point.text("model"), point.number("buffers")
    log = LOGS[name]

    def draw() -> Workload:
        records = at_load(window(name, period, jobs), load, log.nodes, log.processors)
        options = ConvertOptions(
            model="io" if model == "io" else "alloc", seed=period, processors_per_node=log.processors, oversized="drop"
        )
        return convert(SwfLog(SwfHeader(()), records), _facts(platform(point).source), options, name)[0]

    return drawn_once(folder, f"{name}-{period}-n{jobs}-{load:g}-{model}-x{buffers:g}", draw)


def window(name: str, period: int, jobs: int) -> tuple[SwfRecord, ...]:
    """Records of a period: the first ``jobs`` from its beginning; for a generator, all of its log with this seed.

    Raises
    ------
    SpecError
        The log is too short for this number of jobs per period.
    """
    log = LOGS[name]
    if log.generated:
        return load_log(log.source.format(jobs=jobs, seed=period))[0].records
    records = _usable(log.place)
    step = len(records) // PERIODS
    if jobs > step:
        raise SpecError(f"log {name!r} has {step} jobs for each of {PERIODS} periods, expected at least {jobs}")
    return records[period * step : period * step + jobs]


def at_load(records: Sequence[SwfRecord], load: float, nodes: int, processors: int) -> tuple[SwfRecord, ...]:
    """Records with submissions scaled so that they offer a load: node-seconds run over nodes x span."""
    used = sum(record.run_s * min(-(-_size(record) // processors), nodes) for record in records)
    first = records[0].submit_s
    span_s = max(records[-1].submit_s - first, 1)
    factor = used / (nodes * load * span_s)
    return tuple(
        msgspec.structs.replace(record, submit_s=round((record.submit_s - first) * factor)) for record in records
    )


@lru_cache(maxsize=len(LOGS))
def _usable(place: str) -> tuple[SwfRecord, ...]:
    """Records with a runtime and a size, in order of submission."""
    found = [record for record in _read(place).records if record.run_s > 0 and _size(record) > 0]
    return tuple(sorted(found, key=lambda record: (record.submit_s, record.number)))


@lru_cache(maxsize=len(LOGS))
def _read(place: str) -> SwfLog:
    return load_log(place)[0]


def _size(record: SwfRecord) -> int:
    return max(record.requested_processors, record.processors)


@lru_cache(maxsize=32)
def _facts(source: str) -> MachineFacts:
    return machines.load(PlatformSpec(source=source)).facts
