"""The part that the loop leaves to this side: programs, registration by objects, rare requests, events, power."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.core import Loop, Profile, SimulatedJob
from spillway.protocol.messages import (
    AdditionalIoJob,
    FromJobMsg,
    JsonObject,
    RegisterJob,
    RegisterProfile,
    Request,
    TaskProgress,
)
from spillway.simulator.jobs.programs import Programs
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.events import EventHandler, ExternalEvent
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
    """The methods that the loop calls (``core/loop/extension.hpp``).

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
        self._progress = progress

    def join(self, loop: Loop) -> None:
        """Work for this loop, which is made after this object."""
        self._loop = self._power.loop = loop
        self._programs = Programs(loop, self._machines, self._registry.workload_of, self._later, self._say)
        self._registrations = Registrations(loop, self._registry, self._options)
        self._requests = OtherRequests(loop, self._programs, self._power, self._meter, self._job, self._later)
        self._events = EventHandler(loop, self._machines)

    # ------------------------------------------------------------------ programs

    def begin_program(self, job: SimulatedJob) -> None:
        """See :class:`spillway.simulator.jobs.programs.Programs`."""
        self._programs.begin(job)

    def resume_program(self, job: SimulatedJob, code: int) -> None:
        """See :class:`spillway.simulator.jobs.programs.Programs`."""
        self._programs.resume(job, code)

    def cancel_chains(self, job: SimulatedJob) -> None:
        """See :class:`spillway.simulator.jobs.programs.Programs`."""
        self._programs.cancel_chains(job)

    def program_progress(self, job: SimulatedJob, share: float) -> TaskProgress:
        """See :class:`spillway.simulator.jobs.programs.Programs`."""
        return self._programs.progress(job, share)

    def end_program(self, job: SimulatedJob) -> None:
        """See :class:`spillway.simulator.jobs.programs.Programs`."""
        self._programs.end(job)

    def told(self, job: SimulatedJob) -> None:
        """See :class:`spillway.simulator.jobs.programs.Programs`."""
        self._programs.told(job)

    def _say(self, job: SimulatedJob, message: Any) -> None:
        def receive() -> None:
            self._loop.tell(FromJobMsg(self._loop.now, job.id, message))

        self._loop.say(job, self._later(receive))

    # ------------------------------------------------------------------ registration

    def _job(self, job_id: str) -> SimulatedJob:
        """The job of an id; :class:`ValueError` states the fault of the id."""
        return self._loop.job(job_id) or self._registry.unknown(job_id, self._loop.job)

    def find(self, job_id: str) -> SimulatedJob | str:
        """A job that is not registered under this id; or the fault of the id."""
        try:
            return self._registry.unknown(job_id, self._loop.job)
        except ValueError as fault:
            return str(fault)

    def register_profile(self, request: RegisterProfile, index: int) -> None:
        """See :class:`spillway.simulator.wire.requests.Registrations`."""
        self._registrations.profile(request, index)

    def describe(self, workload: str, name: str, profile: JsonObject, index: int) -> Profile:
        """See :class:`spillway.simulator.wire.requests.Registrations`."""
        return self._registrations.describe(workload, name, profile, index)

    def register_job(self, request: RegisterJob, index: int) -> SimulatedJob:
        """See :class:`spillway.simulator.wire.requests.Registrations`."""
        return self._registrations.job(request, index)

    def extra_profile(self, job: SimulatedJob, io: AdditionalIoJob, index: int) -> Profile:
        """See :class:`spillway.simulator.wire.requests.Registrations`."""
        return self._registrations.extra(job, io, index)

    def forget(self, job: SimulatedJob) -> None:
        """Drop a registered job that has been reported as ended."""
        self._programs.forget(job)
        self._registry.forget(job)

    def drop_profile(self, job: SimulatedJob) -> None:
        """Make the profile of an ended job unusable for new jobs."""
        self._registry.workload_of(job).drop_profile(job.profile.name)

    # ------------------------------------------------------------------ other

    def other(self, request: Request, index: int) -> None:
        """See :class:`spillway.simulator.wire.requests.OtherRequests`."""
        self._requests.handle(request, index)

    def occurred(self, events: list[ExternalEvent]) -> None:
        """See :class:`spillway.simulator.reading.events.EventHandler`."""
        self._events.occurred(events)

    def computes(self, machine: int) -> bool:
        """See :class:`spillway.simulator.world.power.PowerSwitches`."""
        return self._power.computes(machine)

    def recall(self, token: int) -> None:
        """Make a call whose time has come."""
        self._later.recall(token)

    def first_submission(self) -> None:
        """Read the meter at the first submission."""
        if self._meter is not None:
            self._meter.at_first_submission = self._meter.total(self._loop.clock)

    def progress(self, now: float, jobs: int) -> None:
        """Report the progress."""
        if self._progress is not None:
            self._progress(now, jobs)
