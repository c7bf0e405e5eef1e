"""The part that the loop leaves to this side: programs, registration by objects, rare requests, events, power."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.core import Loop, SimulatedJob
from spillway.protocol.messages import FromJobMsg
from spillway.simulator.jobs.programs import Programs
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.events import EventHandler
from spillway.simulator.reading.registry import Registry
from spillway.simulator.wire.requests import OtherRequests, Registrations
from spillway.simulator.world.energy import EnergyMeter
from spillway.simulator.world.machines import Machines
from spillway.simulator.world.power import PowerSwitches


class Callbacks:
    """Functions to call when a timer, a message or a task of this side has ended; the loop has only numbers."""

    def __init__(self) -> None:
        self._calls: dict[int, Callable[[], None]] = {}
        self._numbers = 0

    def __call__(self, call: Callable[[], None]) -> int:
        """Note a call; return its number."""
        self._numbers += 1
        self._calls[self._numbers] = call
        return self._numbers

    def recall(self, number: int) -> None:
        """Make a call, once."""
        self._calls.pop(number)()


class Extension:
    """Names that the loop calls (``core/loop/extension.hpp``): methods of the parts of this side.

    Parameters
    ----------
    machines, registry, options, power, meter
        Parts of the simulation.
    later
        Calls to be made later.
    progress
        Called with the simulated time and the number of ended jobs.
    """

    def __init__(
        self,
        machines: Machines,
        registry: Registry,
        options: SimulationOptions,
        power: PowerSwitches,
        meter: EnergyMeter | None,
        later: Callbacks,
        progress: Callable[[float, int], None] | None,
    ) -> None:
        self._machines = machines
        self._registry = registry
        self._options = options
        self._power = power
        self._meter = meter
        self._later = later
        self.progress = progress
        self.computes = power.computes
        self.recall = later.recall

    def join(self, loop: Loop) -> None:
        """Work for this loop, which is made after this object."""
        self._loop = self._power.loop = loop
        programs = self._programs = Programs(loop, self._machines, self._registry.workload_of, self._later, self._say)
        self.begin_program, self.resume_program, self.end_program = programs.begin, programs.resume, programs.end
        self.cancel_chains, self.program_progress, self.told = programs.cancel_chains, programs.progress, programs.told
        registrations = Registrations(loop, self._registry, self._options)
        self.register_profile, self.register_job = registrations.profile, registrations.job
        self.describe, self.extra_profile = registrations.describe, registrations.extra
        self.other = OtherRequests(loop, programs, self._power, self._meter, self._job, self._later).handle
        self.occurred = EventHandler(loop, self._machines).occurred

    def find(self, job_id: str) -> SimulatedJob | str:
        """A job that is not registered under this id; or the fault of the id."""
        try:
            return self._registry.unknown(job_id, self._loop.job)
        except ValueError as fault:
            return str(fault)

    def forget(self, job: SimulatedJob) -> None:
        """Drop a registered job that has been reported as ended."""
        self._programs.forget(job)
        self._registry.forget(job)

    def drop_profile(self, job: SimulatedJob) -> None:
        """Make the profile of an ended job unusable for new jobs."""
        self._registry.workload_of(job).drop_profile(job.profile.name)

    def first_submission(self) -> None:
        """Read the meter at the first submission."""
        if self._meter is not None:
            self._meter.at_first_submission = self._meter.total(self._loop.clock)

    def _job(self, job_id: str) -> SimulatedJob:
        """The job of an id; :class:`ValueError` states the fault of the id."""
        return self._loop.job(job_id) or self._registry.unknown(job_id, self._loop.job)

    def _say(self, job: SimulatedJob, message: Any) -> None:
        def receive() -> None:
            self._loop.tell(FromJobMsg(self._loop.now, job.id, message))

        self._loop.say(job, self._later(receive))
