"""Watches executions for the energy meter and the traces, where they are requested."""

from __future__ import annotations

from collections.abc import Sequence

from spillway.core import Loop, SimulatedJob
from spillway.simulator.outputs import Outputs
from spillway.simulator.world.energy import EnergyMeter


class Observer:
    """The methods that the loop calls (``core/loop/extension.hpp``).

    Parameters
    ----------
    outputs, meter
        The traces and the meter.

    Attributes
    ----------
    loop
        The simulation, set before it begins.
    """

    loop: Loop

    def __init__(self, outputs: Outputs, meter: EnergyMeter | None) -> None:
        self._outputs = outputs
        self._meter = meter

    def job_started(self, job: SimulatedJob) -> None:
        """Note the start of a job."""
        now = self.loop.clock
        if self._meter is not None:
            assert job.alloc is not None
            self._meter.job_starts(job, job.alloc, now)
        self._outputs.job_started(job, now)

    def job_ended(self, job: SimulatedJob, stopped: bool) -> None:
        """Note the end of a job; ``stopped``: at its walltime, or in the middle of a parallel task by a kill."""
        now = self.loop.clock
        self._outputs.job_ended(job, now, stopped)
        if self._meter is not None:
            assert job.alloc is not None
            self._meter.job_ends(job, job.alloc, now)

    def task_started(self, number: int, hosts: Sequence[int], flops: Sequence[float]) -> None:
        """Note the start of a task."""
        if self._meter is not None:
            self._meter.task_starts(number, hosts, flops)

    def task_begun(self, number: int, handle: int) -> None:
        """Note the engine's handle of a task."""
        if self._meter is not None:
            self._meter.task_begins(number, handle)

    def task_ended(self, number: int, progress: float) -> None:
        """Note the end of a task."""
        if self._meter is not None:
            self._meter.task_ends(number, progress)

    def slept(self, machine: int) -> None:
        """Note the end of a pause on a machine."""
        if self._meter is not None:
            self._meter.sleep_ends(machine)
