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

from spillway.workloads.draws import Draws, exp
from spillway.workloads.errors import WorkloadError
from spillway.workloads.machine_facts import MachineFacts
from spillway.workloads.workload import Profile, Workload, WorkloadJob

INTERVALS_PER_PERIOD = 4
"""Intervals between control points in an I/O period."""

_FACTORS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class MalleableOptions:
    """How applications are drawn.

    Attributes
    ----------
    share
        Share of the jobs that may be resized, 0 to 1. With a larger share the same jobs may and some more.
    seed
        Seed of all draws, >= 0.
    period_s, period_sigma
        Median of the computation between two I/O phases (s, > 0) and its spread (log-normal). Shorter jobs do no I/O.
    node_bytes, node_bytes_sigma
        Median of the bytes that each node of the submitted size writes per I/O phase (>= 0), and its spread.
    most_io
        Largest share of I/O in a period that has the file system for itself, below 1; more bytes are cut.
    pfs_bytes_per_s
        Bandwidth of the file system, > 0.
    serial_most
        The share of an iteration that more nodes do not speed up is drawn evenly from 0 to this, below 1.
    growth
        A malleable job may grow to this many times its size, >= 1, but not beyond the machine.
    overhead_s
        Of a reconfiguration, >= 0.
    variation
        Relative spread of the intervals' durations, >= 0.
    walltime_factor
        Walltimes are multiplied with this, >= 1: waiting for the file system is not the user's fault.
    """

    share: float = 0.5
    seed: int = 0
    period_s: float = 900.0
    period_sigma: float = 0.5
    node_bytes: float = 8e9
    node_bytes_sigma: float = 0.7
    most_io: float = 0.25
    pfs_bytes_per_s: float = 5e9
    serial_most: float = 0.3
    growth: float = 4.0
    overhead_s: float = 5.0
    variation: float = 0.01
    walltime_factor: float = 1.5

    def __post_init__(self) -> None:
        for name, least, most in (
            ("share", 0.0, 1.0), ("seed", 0, 2**63 - 1), ("period_s", 1e-3, 1e9), ("period_sigma", 0.0, 5.0),
            ("node_bytes", 0.0, 1e15), ("node_bytes_sigma", 0.0, 5.0), ("most_io", 0.0, 0.99),
            ("pfs_bytes_per_s", 1.0, 1e15), ("serial_most", 0.0, 0.99), ("growth", 1.0, 1e6), ("overhead_s", 0.0, 1e6),
            ("variation", 0.0, 0.5), ("walltime_factor", 1.0, 1e3),
        ):  # fmt: skip
            value = getattr(self, name)
            if not least <= value <= most:
                raise WorkloadError(f"malleable option {name!r} must be >= {least:g} and <= {most:g}, got {value!r}")


def make_malleable(workload: Workload, machine: MachineFacts, options: MalleableOptions | None = None) -> Workload:
    """Describe every job of a workload as an application.

    Parameters
    ----------
    workload
        Its profiles state computing work (``cpu``, flop per node) or a ``delay``; other kinds stay as they are.
    machine
        Speeds turn work into seconds; a node's bandwidth bounds what it can write.

    Raises
    ------
    WorkloadError
        No job has a profile of which the runtime is known.
    """
    options = options or MalleableOptions()
    draws = _Drawn(len(workload.jobs), options)
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
        raise WorkloadError(f"workload {workload.name!r} has no job whose runtime is known from 'cpu' or 'delay'")
    notes = (*workload.notes, f"{described} jobs with I/O phases, {malleable} of them malleable")
    return replace(workload, name=f"{workload.name}-malleable", jobs=tuple(jobs), profiles=profiles, notes=notes)


class _Drawn:
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
    draws: _Drawn,
    machine: MachineFacts,
    options: MalleableOptions,
    *,
    resizable: bool,
) -> dict[str, Any]:
    """The object ``malleable`` of one job; uncontended and at its size it takes about as long as the rigid job."""
    bandwidth = min(options.pfs_bytes_per_s, nodes * machine.network_bytes_per_s)
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
