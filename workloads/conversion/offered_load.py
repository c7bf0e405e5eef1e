"""Offered load: requests of a workload's jobs as a share of the machine's resources."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.conversion.machine_facts import MachineFacts

WEEK_S = 7 * 86_400.0
FEWEST_JOBS = 100
"""Below this number of jobs a load depends mostly on the last job."""

HIGH = 0.95
"""From here on queues grow for as long as the load lasts, whatever the policy."""


@dataclass(frozen=True)
class OfferedLoad:
    """Offered loads of the compute nodes and of the burst buffers.

    A load is the sum over jobs of size times computing time, divided by the machine's size times the period of
    submissions. It does not include waiting and staging, so the real load is higher. Jobs that are larger than the
    machine are left out: they are rejected.

    Attributes
    ----------
    compute, storage
        From the first submission to the last; 1: every node (every byte) in use all the time.
    busiest_compute, busiest_storage
        The highest of the weeks, each by the jobs submitted in it; where the workload is shorter than two weeks, the
        same as above.
    """

    compute: float
    storage: float
    busiest_compute: float
    busiest_storage: float

    def lines(self) -> list[str]:
        """Lines to print: both loads, and a warning for each that is above :data:`HIGH`, as a whole or in a week."""
        shown = [f"offered load: {_both('compute nodes', self.compute, self.busiest_compute)}"]
        if self.storage:
            shown[0] += f"; {_both('burst buffers', self.storage, self.busiest_storage)}"
        for what, load, busiest in (
            ("compute nodes", self.compute, self.busiest_compute),
            ("burst buffers", self.storage, self.busiest_storage),
        ):
            if load <= HIGH < busiest:
                shown.append(
                    f"WARNING: in the busiest week the jobs request {busiest:.2f} times the {what} of this machine: "
                    "queues grow for as long as it lasts, and waiting times say little about the policies there"
                )
            if load > HIGH:
                shown.append(
                    f"WARNING: the jobs request {load:.2f} times the {what} of this machine: queues grow until the "
                    "last submission, and waiting times say little about the policies"
                )
        return shown


def offered_load(workload: Workload, machine: MachineFacts) -> OfferedLoad | None:
    """The loads of a workload; ``None`` where fewer than 100 jobs state their work, or all are submitted at once."""
    rows = _held(workload, machine)
    if _unknown(rows):
        return None
    submit, node_s, byte_s = np.ascontiguousarray(rows.T)
    span_s = float(submit.max() - submit.min())
    storage = float(machine.all_storage_bytes)
    compute = _Loads.of(submit, node_s, float(machine.nodes), span_s)
    buffers_ = _Loads.of(submit, byte_s, storage, span_s) if storage else _Loads(0.0, 0.0)
    return OfferedLoad(compute.mean, buffers_.mean, compute.busiest, buffers_.busiest)


def why_no_load(workload: Workload, machine: MachineFacts) -> str:
    """Reason for which :func:`offered_load` returns ``None``, in words; "" where it returns loads."""
    return _unknown(_held(workload, machine))


def buffers_fit(workload: Workload, job: WorkloadJob, machine: MachineFacts) -> bool:
    """Whether an empty machine can hold a job's burst buffers; by total bytes where its storage nodes differ."""
    size = workload.burst_buffer_bytes(job)
    if not size:
        return True
    if machine.unequal_bytes:
        return size * job.res <= machine.unequal_bytes
    stripes = job.extras.get("bb_stripes")
    requests, each = (job.res, size) if stripes is None else (stripes, -(-size * job.res // stripes))
    in_each = machine.storage_bytes // each if stripes is None else min(machine.storage_bytes // each, 1)
    return machine.storage_nodes * in_each >= requests


_NUMBERS = (int, float)

_Held = npt.NDArray[np.float64]
"""Submission (s), node-seconds and byte-seconds of each job."""


def _unknown(rows: _Held) -> str:
    if len(rows) < FEWEST_JOBS:
        return (
            f"not stated: only {len(rows)} jobs fit the machine and state their work; with fewer than "
            f"{FEWEST_JOBS} the load depends mostly on the last job"
        )
    if np.ptp(rows[:, 0]) == 0:
        return "not stated: all jobs are submitted at once, so there is no period"
    return ""


def _held(workload: Workload, machine: MachineFacts) -> _Held:
    rows = array("d")
    profiles, nodes, speed = workload.profiles, machine.nodes, machine.node_speed_flops
    storage = machine.all_storage_bytes
    for job in workload.jobs:
        cpu = profiles[job.profile].get("cpu")
        if isinstance(cpu, _NUMBERS) and 0 < job.res <= nodes:
            seconds = float(cpu) / speed
            if job.walltime is not None:
                seconds = min(seconds, job.walltime)
            buffers = min(workload.burst_buffer_bytes(job) * job.res, storage)
            rows.extend((job.subtime, job.res * seconds, buffers * seconds))
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


@dataclass(frozen=True)
class _Loads:
    mean: float
    busiest: float

    @classmethod
    def of(cls, submit_s: npt.NDArray[np.float64], held: npt.NDArray[np.float64], size: float, span_s: float) -> _Loads:
        mean = float(held.sum() / (size * span_s))
        weeks = int(span_s // WEEK_S)  # whole weeks only: a remaining day is not a week
        if weeks < 2:
            return cls(mean, mean)
        number = ((submit_s - submit_s.min()) // WEEK_S).astype(np.int64)
        of_weeks = np.bincount(number, weights=held)[:weeks]
        return cls(mean, float(of_weeks.max() / (size * WEEK_S)))


def _both(what: str, mean: float, busiest: float) -> str:
    week = f" ({busiest:.2f} in the busiest week)" if busiest != mean else ""
    return f"{mean:.2f} of the {what}{week}"
