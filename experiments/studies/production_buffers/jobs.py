"""Jobs of the study: drawn from a seed, the same under every life, with a time of staging.

Everything here is ASSUMED but the machine's nodes, rabbits and capacities: no site publishes the staging of its jobs.
"""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec

from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.models.burst_buffer import BurstBufferModel
from spillway.workloads.models.synthetic.kth import KthLike
from spillway.workloads.swf import SwfLog, SwfRecord

LOAD = 0.8
"""Offered load of the compute nodes by computation, without staging."""

_MODEL_NODES = 96
"""Nodes of the generator's machine; sizes are scaled to the machine of the study."""

LEAST_REQUEST_S = 3600.0
"""Jobs that request no more than this have no burst buffer: an hour of staging for minutes of work is useless."""

_BUFFER_BYTES = 0.5e12
"""Mean request per node by the distribution, without limits: about half of the 1.08 TB of storage per node."""

_MARGIN_S = 60.0
"""Requested times are at least this much longer than the computation: a job that is killed would stage nothing out."""

TRANSFER_MARGIN_S = 600.0
"""Part of a requested time that covers staging, besides twice the time of a staging, for the transfers themselves."""


def draw(
    jobs: int, seed: int, minutes: float, machine: MachineFacts, *, covers_staging: bool, stripes: int
) -> Workload:
    """Draw a workload.

    Parameters
    ----------
    jobs, seed
        Number of jobs; the same seed draws the same jobs with any other parameters.
    minutes
        Least time of a stage-in, and of a stage-out, of the whole buffer: the model ``io`` moves it over the machine's
        links, and takes longer if they do.
    machine
        The machine.
    covers_staging
        Whether requested times cover the staging, too: a job that stages on its nodes has to request them for that
        time. Otherwise they are for the computation only.
    stripes
        As in :class:`spillway.workloads.conversion.convert.ConvertOptions`: 0 for a request per node.
    """
    log = KthLike(jobs=jobs, seed=seed, load=LOAD, nodes=_MODEL_NODES)()
    scale = machine.nodes // _MODEL_NODES
    log = SwfLog(log.header, tuple(_scaled(record, scale) for record in log.records))
    options = ConvertOptions(
        seed=seed,
        com_mean_bytes=0.0,
        com_sd_bytes=0.0,
        burst_buffers=buffers(),
        staging=f"minutes={minutes:g}",
        stripes=stripes,
    )
    workload, _ = convert(log, machine, options, f"staging {minutes:g} min")
    if not covers_staging:
        return workload
    longer_s = 2 * 60.0 * minutes + TRANSFER_MARGIN_S
    return replace(workload, jobs=tuple(_longer(workload, job, longer_s) for job in workload.jobs))


def buffers() -> BurstBufferModel:
    """The thesis's distribution of requests, scaled so that its mean is :data:`_BUFFER_BYTES`."""
    law = BurstBufferModel()
    mean_kib = law.location_kib + law.scale_kib * math.exp(law.sigma**2 / 2)
    factor = _BUFFER_BYTES / (mean_kib * law.unit_bytes)
    return BurstBufferModel(
        location_kib=law.location_kib * factor,
        scale_kib=law.scale_kib * factor,
        short_bytes=0,
        short_walltime_s=LEAST_REQUEST_S,
    )


def _scaled(record: SwfRecord, scale: int) -> SwfRecord:
    run_s = min(record.run_s, record.requested_s)
    return msgspec.structs.replace(
        record,
        processors=record.processors * scale,
        requested_processors=record.requested_processors * scale,
        run_s=run_s,
        requested_s=max(record.requested_s, run_s + int(_MARGIN_S)),
    )


def _longer(workload: Workload, job: WorkloadJob, longer_s: float) -> WorkloadJob:
    if job.walltime is None or not workload.burst_buffer_bytes(job):
        return job
    return msgspec.structs.replace(job, walltime=job.walltime + longer_s)
