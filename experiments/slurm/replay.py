"""The submissions of a recording in the simulator: policy ``slurm-backfill`` under ``--bb-life slurm``.

Submitted are the jobs as they were, with the durations that they had; who starts when, and who gets a buffer when, is
the policy's. The pool is one storage node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from spillway.experiments.slurm.recording import RecordedJob, Recording
from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description import read_description
from spillway.platforms.generate import generate
from spillway.platforms.xml_reader import parse_platform
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.site import License, Site, site_text
from spillway.schedulers.policies.slurm_backfill import Recorded, SlurmBackfill
from spillway.simulator.engines.fixed import FixedEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink

LIFE = "slurm"


class _Starts(Observer):
    def __init__(self) -> None:
        self.at_s: dict[int, float] = {}

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        self.at_s[int(job.name)] = now_s


def starts(recording: Recording, *, passes: bool) -> list[float]:
    """Simulated start of each job, s, in the order of the recording; NaN for one that never started.

    Parameters
    ----------
    passes
        Whether the schedulers have their passes when they had them in the recording; else in their regular intervals,
        from the first recorded ones on.
    """
    seen = _Starts()
    settings = Settings(bb_life=LIFE, site=site(recording))
    session = assemble(policy(recording, passes=passes), settings, observer=seen)
    text = MACHINE.format(nodes=recording.settings.nodes, capacity=recording.settings.pool_units)
    machine = parse_platform(generate(read_description(text, "slurm", builtin_files())), "slurm")
    options = SimulationOptions(dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
    with FixedEngine(machine) as engine:
        workload = workload_from_object(submissions(recording.jobs, recording.settings.nodes))
        Simulation(machine, [workload], engine, InProcessLink(session.handle), options).run()
    return [seen.at_s.get(number + 1, math.nan) for number in range(len(recording.jobs))]


def policy(recording: Recording, *, passes: bool) -> SlurmBackfill:
    """The policy as that Slurm was set."""
    settings = recording.settings
    return SlurmBackfill(
        bf_interval=settings.bf_interval_s,
        bf_max_job_test=settings.bf_max_job_test,
        bf_window=settings.bf_window_min,
        bf_resolution=settings.bf_resolution_s,
        sched_interval=settings.sched_interval_s,
        batch_sched_delay=settings.batch_sched_delay_s,
        bf_licenses=settings.bf_licenses,
        bf_phase=recording.backfill[0] % settings.bf_interval_s,
        sched_phase=recording.main[0] % settings.sched_interval_s,
        recorded=Recorded(tuple(recording.main), tuple(recording.backfill)) if passes else None,
    )


def site(recording: Recording) -> str:
    """What the simulator is told of the licenses; "" where there are none."""
    pools = tuple(License(name, count) for name, count in recording.settings.licenses.items())
    return site_text(Site(licenses=pools)) if pools else ""


def submissions(jobs: Sequence[RecordedJob], nodes: int) -> dict[str, Any]:
    """The recorded jobs as a Batsim workload; a unit of the pool is a byte."""
    described: list[dict[str, Any]] = []
    profiles = {}
    for number, job in enumerate(jobs, start=1):
        assert job.started is not None
        assert job.ended is not None
        name = str(number)
        # Licenses are free when a job has ended, its nodes a moment later: what binds in recordings with licenses.
        idle_s = job.ended if job.request.licenses else max(job.ended, job.idle or 0.0)
        profiles[name] = {"type": "delay", "delay": idle_s - job.started}
        one = {"id": name, "subtime": job.submitted, "res": job.request.nodes, "profile": name}
        described.append(one | {"walltime": 60 * job.request.limit_min})
        if job.request.licenses:
            described[-1]["licenses"] = job.request.licenses
        if job.request.units:
            assert job.allocated is not None
            assert job.staged is not None
            assert job.freed is not None
            described[-1] |= {
                "bb_total": job.request.units,
                "stage_in_s": job.staged - job.allocated,
                "stage_out_s": max(0.0, job.freed - idle_s),
            }
    return {"nb_res": nodes, "jobs": described, "profiles": profiles}


MACHINE = """
name = "slurm"
topology = "tree"
[[cluster]]
name = "slurm"
uplink = {{ name = "core", bandwidth = "100GBps" }}
levels = [{{ name = "machine" }}, {{ name = "node", count = {nodes}, bandwidth = "1GBps" }}]
[storage]
per = "machine"
capacity = "{capacity}B"
bandwidth = "100GBps"
[pfs]
bandwidth = "100GBps"
"""
