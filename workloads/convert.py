"""From a log to a Batsim workload, for the Alloc-Only and for the IO-Aware job model.

References
----------
J. Kopanski, *Optimisation of job scheduling for supercomputers with burst buffers*, 2020, arXiv 2111.10200, section
2.4 (job models, kappa rule, network traffic). Both files of a log differ in the computing work only: the phases of an
IO-Aware job are made when it runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from workloads.burst_buffer import THESIS_MODEL, BurstBufferModel
from workloads.draws import Draws
from workloads.errors import WorkloadError
from workloads.machine_facts import MachineFacts
from workloads.swf import SwfLog, SwfRecord
from workloads.workload import Profile, Workload, WorkloadJob

_PIECES = (2, 3, 4)
_MANY_CUT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """How a log becomes a workload. The defaults are those of the thesis.

    Attributes
    ----------
    model
        ``alloc``: the computing work fills the logged runtime. ``io``: it is shortened by the kappa rule, because
        staging and checkpoints take time of their own.
    seed
        Seed of all draws, >= 0: same log, options and seed, same bytes.
    kappa
        IO-Aware: how often the burst buffer's size crosses the network, >= 0 (0: no shortening).
    least_compute_share
        IO-Aware: the computing work is at least this share of the runtime, 0 to 1.
    com_mean_bytes, com_sd_bytes
        Bytes that each node sends to each other node: normal law, negative draws become 0. One-node jobs send none.
    burst_buffers
        Request model; ``None``: jobs request no burst buffers.
    processors_per_node
        Processors of a node of the logged machine, >= 1: p processors become ceil(p / this) nodes.
    missing_walltime
        What to do with jobs whose log states no requested time: ``scaled``: walltime_factor x runtime, at least
        walltime_floor_s, rounded up to whole minutes; ``none``: no walltime (reservations then have no end);
        ``drop``: leave them out.
    walltime_factor
        Over-estimation for ``scaled``, > 0.
    walltime_floor_s
        Least walltime for ``scaled``, > 0.
    oversized
        Jobs that request more nodes than the machine has: ``keep`` (the scheduler rejects them) or ``drop``.
    from_job
        First job number taken.
    max_records
        Most records taken, unusable ones included (as the thesis counts); ``None``: all.
    first_submit_s
        The first job of the workload is submitted at this time, >= 0.
    site_wait
        Whether jobs keep how long they waited at their site (field ``site_wait_s``), for the policy ``replay``; jobs
        whose log does not state it are left out.
    """

    model: Literal["alloc", "io"] = "alloc"
    seed: int = 0
    kappa: float = 40.0
    least_compute_share: float = 0.05
    com_mean_bytes: float = 100e6
    com_sd_bytes: float = 20e6
    burst_buffers: BurstBufferModel | None = THESIS_MODEL
    processors_per_node: int = 1
    missing_walltime: Literal["scaled", "none", "drop"] = "scaled"
    walltime_factor: float = 2.0
    walltime_floor_s: float = 300.0
    oversized: Literal["keep", "drop"] = "keep"
    from_job: int = 0
    max_records: int | None = None
    first_submit_s: int = 1
    site_wait: bool = False

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise WorkloadError(f"option {name!r} must be one of {', '.join(known)}; got {getattr(self, name)!r}")
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                top = "" if most == math.inf else f" and <= {most:g}"
                raise WorkloadError(f"option {name!r} must be >= {least:g}{top}, got {value!r}")


_CHOICES = {"model": ("alloc", "io"), "missing_walltime": ("scaled", "none", "drop"), "oversized": ("keep", "drop")}
_RANGES = {
    "seed": (0, 2**63 - 1),
    "kappa": (0, math.inf),
    "least_compute_share": (0, 1),
    "com_mean_bytes": (0, math.inf),
    "com_sd_bytes": (0, math.inf),
    "processors_per_node": (1, math.inf),
    "walltime_factor": (1e-3, math.inf),
    "walltime_floor_s": (1, math.inf),
    "from_job": (0, math.inf),
    "max_records": (1, math.inf),
    "first_submit_s": (0, math.inf),
}


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """What happened to the records of a log.

    Attributes
    ----------
    records
        Records looked at.
    jobs
        Jobs written.
    dropped
        Number of records left out, by reason.
    remarks
        Assumptions made and further remarks, one sentence each.
    """

    records: int
    jobs: int
    dropped: dict[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Lines to print."""
        dropped = [f"dropped {count}: {reason}" for reason, count in self.dropped.items()]
        return [f"{self.jobs} jobs of {self.records} records", *dropped, *self.remarks]


def convert(
    log: SwfLog, machine: MachineFacts, options: ConvertOptions | None = None, name: str = "log"
) -> tuple[Workload, ConversionReport]:
    """Make a Batsim workload of a log.

    One ``parallel_homogeneous`` profile per job, named by the job number: ``cpu`` flop per node, ``com`` bytes from
    each node to each other node, ``bb`` burst-buffer bytes per node. Jobs stand in order of submission.

    Raises
    ------
    WorkloadError
        If no usable record remains, or two remaining records have the same job number.
    """
    options = options or ConvertOptions()
    chosen = _choose(log.records, options)
    kept, dropped = _usable(chosen, machine, options)
    if not kept:
        reasons = "; ".join(f"{count} {reason}" for reason, count in dropped.items()) or "it is empty"
        raise WorkloadError(f"no usable job in the log {name!r}: {reasons}")
    kept.sort(key=lambda record: (record.submit_s, record.number))
    _refuse_repeated_numbers(kept, name)
    workload = _assemble(kept, machine, options, name)
    remarks = (*_remarks(kept, machine, options), *_storage_remark(workload, machine))
    report = ConversionReport(len(chosen), len(kept), dict(dropped), remarks)
    return replace(workload, notes=tuple(report.lines())), report


def processors(record: SwfRecord) -> int:
    """Processors that a job requests, or got where the log does not record its request; <= 0 where not known."""
    return record.requested_processors if record.requested_processors > 0 else record.processors


def nodes_of(record: SwfRecord, options: ConvertOptions) -> int:
    """Whole nodes for the processors of a record."""
    return -(-processors(record) // options.processors_per_node)


def walltime_of(record: SwfRecord, options: ConvertOptions) -> int | None:
    """Requested time of a record, or what ``missing_walltime`` puts in its place."""
    if record.requested_s > 0:
        return record.requested_s
    if options.missing_walltime != "scaled":
        return None
    return 60 * math.ceil(max(options.walltime_factor * record.run_s, options.walltime_floor_s) / 60)


def compute_flops(
    run_s: int, bb_bytes: int, machine: MachineFacts, options: ConvertOptions, walltime_s: int | None
) -> int:
    """Flop per node of a job (thesis 2.4).

    ``alloc``: runtime x speed. ``io``: speed x max(runtime - kappa x bb / bandwidth, share x runtime); short jobs keep
    their runtime whole. Rounded to whole flop, halves to even.
    """
    seconds: float = run_s
    model = options.burst_buffers
    short = model is not None and (walltime_s or run_s) <= model.short_walltime_s
    if options.model == "io" and not short:
        seconds = max(
            run_s - options.kappa * bb_bytes / machine.network_bytes_per_s, options.least_compute_share * run_s
        )
    return round(machine.node_speed_flops * seconds)


def _choose(records: Iterable[SwfRecord], options: ConvertOptions) -> list[SwfRecord]:
    chosen = [record for record in records if record.number >= options.from_job]
    return chosen if options.max_records is None else chosen[: options.max_records]


def _usable(
    records: list[SwfRecord], machine: MachineFacts, options: ConvertOptions
) -> tuple[list[SwfRecord], Counter[str]]:
    dropped: Counter[str] = Counter()
    kept: list[SwfRecord] = []
    for record in records:
        reason = _unusable(record, machine, options)
        if reason:
            dropped[reason] += 1
        else:
            kept.append(record)
    return kept, dropped


def _unusable(record: SwfRecord, machine: MachineFacts, options: ConvertOptions) -> str:
    """Why a record is left out ("" for a usable one)."""
    if record.status in _PIECES:
        return "piece of a checkpointed job (its summary line is used)"
    if record.run_s <= 0:
        return "runtime 0 or not known"
    if processors(record) <= 0:
        return "number of processors not known"
    if record.requested_s <= 0 and options.missing_walltime == "drop":
        return "no requested time"
    if options.site_wait and record.wait_s < 0:
        return "the log does not state when it started"
    if options.oversized == "drop" and nodes_of(record, options) > machine.nodes:
        return f"requests more than the machine's {machine.nodes} nodes"
    return ""


def _refuse_repeated_numbers(records: list[SwfRecord], name: str) -> None:
    number, count = Counter(record.number for record in records).most_common(1)[0]
    if count > 1:
        raise WorkloadError(
            f"job number {number} stands {count} times in the log {name!r}; number its jobs without repetition"
        )


def _assemble(records: list[SwfRecord], machine: MachineFacts, options: ConvertOptions, name: str) -> Workload:
    walltimes = [walltime_of(record, options) for record in records]
    sizes = np.array([nodes_of(record, options) for record in records], dtype=np.int64)
    requested = np.array([w or r.run_s for w, r in zip(walltimes, records, strict=True)], dtype=np.float64)
    model = options.burst_buffers
    buffers = (
        model.draw(sizes, requested, machine, options.seed, options.processors_per_node).tolist()
        if model
        else [0] * len(records)
    )
    traffic = _communication(sizes, options).tolist()
    shift = options.first_submit_s - records[0].submit_s
    jobs: list[WorkloadJob] = []
    profiles: dict[str, Profile] = {}
    for record, walltime, size, bb, com in zip(records, walltimes, sizes.tolist(), buffers, traffic, strict=True):
        label = str(record.number)
        cpu = compute_flops(record.run_s, bb, machine, options, walltime)
        user = {"user": record.user} if record.user >= 0 else {}
        user |= {"site_wait_s": record.wait_s} if options.site_wait else {}
        jobs.append(WorkloadJob(record.number, record.submit_s + shift, size, label, walltime, user))
        profiles[label] = {"type": "parallel_homogeneous", "cpu": cpu, "com": com, "bb": bb}
    first, last = records[0].number, records[-1].number
    return Workload(
        name=name,
        nb_res=machine.nodes,
        jobs=tuple(jobs),
        profiles=profiles,
        description=f"{len(jobs)} jobs from swf job number {first} to {last} inclusive",
    )


def _communication(sizes: npt.NDArray[np.int64], options: ConvertOptions) -> npt.NDArray[np.int64]:
    normal = Draws(options.seed, "communication").normal(len(sizes))
    drawn = np.maximum(np.rint(options.com_mean_bytes + options.com_sd_bytes * normal), 0.0).astype(np.int64)
    return np.where(sizes > 1, drawn, 0)


def _remarks(records: list[SwfRecord], machine: MachineFacts, options: ConvertOptions) -> Iterable[str]:
    missing = sum(record.requested_s <= 0 for record in records)
    if missing:
        how = {
            "scaled": f"took {options.walltime_factor:g} x the runtime, at least {options.walltime_floor_s:g} s",
            "none": "they have no walltime",
        }[options.missing_walltime]
        yield f"{missing} jobs state no requested time: {how}"
    large = sum(nodes_of(record, options) > machine.nodes for record in records)
    if large:
        yield f"{large} jobs request more than the machine's {machine.nodes} nodes and will be rejected"


def _storage_remark(workload: Workload, machine: MachineFacts) -> Iterable[str]:
    """A remark where the machine's storage, not the request model, decides many of the requests."""
    if machine.storage_nodes == 0:
        return
    whole = machine.storage_bytes
    cut = 0
    for job in workload.jobs:
        share = whole // -(-job.res // machine.storage_nodes)
        cut += workload.profiles[job.profile]["bb"] in (whole, share)
    if cut > _MANY_CUT * len(workload.jobs):
        yield (
            f"{cut} jobs ({cut / len(workload.jobs):.0%}) drew more burst buffer than the machine's "
            f"{machine.storage_nodes} x {whole / 1e9:g} GB can place and were cut"
        )
