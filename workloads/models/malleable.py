"""From rigid jobs to applications with I/O phases, some of which are malleable: a model, drawn from a seed.

Every job of a workload becomes an application (profile field ``malleable``): intervals of computation with a collective
write after every fourth. Logs record neither scalability nor I/O, so both are drawn, job by job and independently of
the share of malleable jobs: a job has the same periods, bytes and curve whether it may be resized or not.

References
----------
Singh & Carretero, J. Syst. Softw. 148, 2019 (DOI 10.1016/j.jss.2018.11.006), section 2: iterative applications with
periodic checkpoints, computation much longer than I/O. The distributions are not from the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spillway.base.options import check, option
from spillway.workloads.batsim.workload import Profile, Workload, WorkloadJob
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.draws import Draws, exp
from spillway.workloads.errors import WorkloadError

INTERVALS_PER_PERIOD = 4
"""Intervals between control points in an I/O period."""

_FACTORS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class MalleableOptions:
    """Options of drawn applications; spreads are those of log-normal distributions."""

    share: float = option(
        0.5, low=0.0, high=1.0, help="share of malleable jobs; with a larger share the same jobs are, and some more"
    )
    seed: int = option(0, low=0, high=2**63 - 1, help="seed of all draws")
    period_s: float = option(
        900.0,
        unit="s",
        low=1e-3,
        high=1e9,
        help="median of the computation between two I/O phases; shorter jobs do no I/O",
    )
    period_sigma: float = option(0.5, low=0.0, high=5.0, help="its spread")
    node_bytes: float = option(
        8e9,
        unit="bytes",
        low=0.0,
        high=1e15,
        help="median of the bytes that each node of the submitted size writes in an I/O phase",
    )
    node_bytes_sigma: float = option(0.7, low=0.0, high=5.0, help="its spread")
    most_io: float = option(
        0.25,
        low=0.0,
        high=0.99,
        help="largest share of I/O in an uncontended period; more bytes are cut",
    )
    pfs: float = option(5e9, unit="bytes/s", low=1.0, high=1e15, help="bandwidth of the file system")
    serial_most: float = option(
        0.3,
        low=0.0,
        high=0.99,
        help="the share of an iteration that more nodes do not speed up is drawn evenly from 0 to this",
    )
    growth: float = option(
        4.0, low=1.0, high=1e6, help="a malleable job may grow to this many times its size, but not beyond the machine"
    )
    overhead_s: float = option(5.0, unit="s", low=0.0, high=1e6, help="time of a reconfiguration")
    variation: float = option(0.01, low=0.0, high=0.5, help="relative spread of the intervals' durations")
    walltime_factor: float = option(
        1.5,
        low=1.0,
        high=1e3,
        help="walltimes are multiplied by this: waiting for the file system is not the user's fault",
    )

    def __post_init__(self) -> None:
        check(self)


def make_malleable(workload: Workload, machine: MachineFacts, options: MalleableOptions | None = None) -> Workload:
    """Describe every job of a workload as an application.

    Parameters
    ----------
    workload
        Its profiles state computing work (``cpu``, flop per node) or a ``delay``; other kinds stay as they are.
    machine
        Speeds turn work into seconds; a node's bandwidth bounds its writes.

    Raises
    ------
    WorkloadError
        No job has a profile with a known runtime.
    """
    options = options or MalleableOptions()
    draws = _Draws(len(workload.jobs), options)
    jobs: list[WorkloadJob] = []
    profiles: dict[str, Profile] = {}
    described = malleable = 0
    for index, job in enumerate(workload.jobs):
        profile = workload.profiles[job.profile]
        run_s = _run_s(profile, machine)
        walltime = None if job.walltime is None else job.walltime * options.walltime_factor
        name = f"app{job.name}"
        jobs.append(WorkloadJob(job.id, job.subtime, job.res, name, walltime, job.extras))
        if run_s is None or job.res < 1:
            profiles[name] = profile
            continue
        resizable = draws.chosen[index] < options.share
        application = _application(run_s, job.res, index, draws, machine, options, resizable=resizable)
        profiles[name] = {"type": "delay", "delay": run_s, "bb": profile.get("bb", 0), "malleable": application}
        described += 1
        malleable += resizable
    if not described:
        raise WorkloadError(f"workload {workload.name!r} has no job with a runtime known from 'cpu' or 'delay'")
    notes = (*workload.notes, f"{described} jobs with I/O phases, {malleable} of them malleable")
    return replace(workload, name=f"{workload.name}-malleable", jobs=tuple(jobs), profiles=profiles, notes=notes)


class _Draws:
    """One number of each kind per job."""

    def __init__(self, count: int, options: MalleableOptions) -> None:
        def draws(stream: str) -> Draws:
            return Draws(options.seed, f"malleable {stream}")

        self.chosen = draws("share").uniform(count)
        self.period_s = options.period_s * exp(options.period_sigma * draws("periods").normal(count))
        self.bytes = options.node_bytes * exp(options.node_bytes_sigma * draws("bytes").normal(count))
        self.serial = options.serial_most * draws("serial").uniform(count)
        factors = exp(options.variation * draws("variation").normal(count * _FACTORS))
        self.variation = np.round(factors, 6).reshape(count, _FACTORS)


def _application(
    run_s: float,
    nodes: int,
    index: int,
    draws: _Draws,
    machine: MachineFacts,
    options: MalleableOptions,
    *,
    resizable: bool,
) -> dict[str, Any]:
    """The object ``malleable`` of one job; uncontended and at its size it takes about as long as the rigid job."""
    bandwidth = min(options.pfs, nodes * machine.network_bytes_per_s)
    wanted_s = draws.bytes.item(index) * nodes / bandwidth
    period_s = draws.period_s.item(index)
    io_s = min(wanted_s, options.most_io / (1.0 - options.most_io) * period_s)
    periods = int(run_s / (period_s + io_s)) if options.node_bytes > 0 else 0
    if not periods:
        io_s = 0.0
    intervals = max(INTERVALS_PER_PERIOD * periods, 1)
    compute_s = max(run_s - periods * io_s, 1.0)
    interval_s, serial = compute_s / intervals, draws.serial.item(index)
    most = max(nodes, min(int(nodes * options.growth), machine.nodes)) if resizable else nodes
    return {
        "iterations": intervals,
        "io_every": INTERVALS_PER_PERIOD if periods else 0,
        "control_every": 1,
        "minimum": nodes,
        "maximum": most,
        "overhead": options.overhead_s,
        "io_bytes": round(io_s * bandwidth),
        "model": {"work": interval_s * (1.0 - serial) * nodes, "serial": interval_s * serial, "io_fixed": io_s},
        "variation": draws.variation[index].tolist(),
    }


def _run_s(profile: Profile, machine: MachineFacts) -> float | None:
    """Seconds that a profile computes; ``None`` where it is not stated."""
    if profile.get("type") == "delay":
        return float(profile["delay"])
    cpu = profile.get("cpu")
    if profile.get("type") != "parallel_homogeneous" or not isinstance(cpu, int | float):
        return None
    return float(cpu) / machine.node_speed_flops
