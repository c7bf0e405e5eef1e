"""Watches executions for the energy meter and the traces, where they are requested."""

from __future__ import annotations

from typing import Any

from spillway.core import Loop, SimulatedJob
from spillway.simulator.outputs import Outputs
from spillway.simulator.world.energy import EnergyMeter


class Observer:
    """Names that the loop calls (``core/loop/extension.hpp``): of tasks and pauses the methods of the meter.

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
        self.task_started = meter.task_starts if meter is not None else _ignore
        self.task_begun = meter.task_begins if meter is not None else _ignore
        self.task_ended = meter.task_ends if meter is not None else _ignore
        self.slept = meter.sleep_ends if meter is not None else _ignore

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


def _ignore(*about: Any) -> None:
    """Without a meter."""
