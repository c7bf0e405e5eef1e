"""One simulation, from its parts to its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter

from spillway.core import Loop, LoopOptions, Totals
from spillway.platforms.model import Platform
from spillway.protocol import messages
from spillway.protocol.limits import MOST_IDLE_CALLS
from spillway.protocol.messages import BatsimConfig, Event, Reply, SimulationBegins
from spillway.simulator.engines.by_name import Engine
from spillway.simulator.errors import Deadlock, SchedulerFault, SimulatorInputError
from spillway.simulator.options import SimulationOptions
from spillway.simulator.outputs import Outputs
from spillway.simulator.outputs.schedule import schedule_figures
from spillway.simulator.reading.events import ExternalEvent, load_events
from spillway.simulator.reading.registry import Registry, Workload
from spillway.simulator.wire.extension import Callbacks, Extension
from spillway.simulator.wire.links import Link
from spillway.simulator.wire.observer import Observer
from spillway.simulator.wire.words import Words
from spillway.simulator.world.energy import EnergyMeter
from spillway.simulator.world.machines import Machines
from spillway.simulator.world.power import PowerSwitches


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """Result of a simulation.

    Attributes
    ----------
    end_s
        Simulated time at the end.
    deadlocked
        Whether it ended because nothing could happen any more, with the scheduler left waiting.
    totals
        Sums over the jobs.
    figures
        The columns of ``_schedule.csv`` and their values as printed.
    messages
        Number of messages exchanged.
    paths
        Files written.
    """

    end_s: float
    deadlocked: bool
    totals: Totals
    figures: dict[str, str]
    messages: int
    paths: tuple[str, ...]


class Simulation:
    """Simulates one platform and some workloads for one scheduler, as Batsim does.

    Parameters
    ----------
    platform
        The machine.
    workloads
        In the order of the command line (:func:`spillway.simulator.reading.workload.load_workload`). A workload can be
        simulated once: its jobs are used up.
    engine
        Runs parallel tasks on that platform; the caller closes it.
    link
        The scheduler; the caller closes it.
    options
        See :class:`SimulationOptions`.
    progress
        Called as ``progress(simulated seconds, ended jobs)`` after every ``options.progress_every`` jobs.

    Raises
    ------
    SimulatorInputError
        Options, platform and workloads do not fit together, or nothing can be written.
    """

    def __init__(
        self,
        platform: Platform,
        workloads: Sequence[Workload],
        engine: Engine,
        link: Link,
        options: SimulationOptions | None = None,
        progress: Callable[[float, int], None] | None = None,
    ) -> None:
        self.options = options = options or SimulationOptions()
        _check_options(options)
        self._workloads = tuple(workloads)
        limit = _machine_limit(options, workloads)
        self.machines = Machines(platform, options.roles, options.master, limit, options.rules.by_number)
        events = [
            load_events(path, len(self.machines), options.forward_unknown_events, rules=options.rules)
            for path in options.events
        ]
        try:
            self.registry = Registry(workloads, options.rules)
        except ValueError as fault:
            raise SimulatorInputError(str(fault)) from None
        self.outputs = Outputs(options, self.machines)
        self.meter = EnergyMeter(platform, self.machines, engine, self.outputs) if options.energy else None
        later = Callbacks()
        self.power = PowerSwitches(platform, self.machines, engine, self.outputs, self.meter, later)
        extension = Extension(
            self.machines, self.registry, options, self.power, self.meter, later, progress
        )  # fmt: skip
        observed = self.meter is not None or self.outputs.traced
        observer = Observer(self.outputs, self.meter) if observed else None
        self.loop = Loop(
            engine,
            link.exchange,
            self.machines.states,
            extension,
            observer,
            self.outputs.jobs.native,
            _loop_options(options, self.machines, progress is not None),
            messages,
            Words(self.machines),
        )
        extension.join(self.loop)
        if observer is not None:
            observer.loop = self.loop
        self._submit(events)
        self._started = time.perf_counter() if options.wall_clock else 0.0

    def _submit(self, events: list[list[ExternalEvent]]) -> None:
        for workload in self._workloads:
            workload.jobs.sort()
            self.loop.submit_jobs(workload.jobs)
        for found in events:
            ordered = sorted(found, key=attrgetter("time", "order"))
            self.loop.submit_events([event.time for event in ordered], ordered)

    # ------------------------------------------------------------------ running

    def run(self) -> SimulationResult:
        """Simulate until the end.

        Raises
        ------
        SchedulerFault
            A request of the scheduler makes Batsim abort. The files written so far keep their temporary names.
        Deadlock
            Nothing can happen any more, and ``options.fail_on_deadlock`` is set.
        """
        result = self.begin()
        if result is None:
            raise SchedulerFault("the policy pauses, but this simulation needs its decisions at once")
        return result

    def begin(self) -> SimulationResult | None:
        """Simulate until the end, or until the link has no reply yet: then return ``None``; :meth:`answer` continues.

        Raises
        ------
        SchedulerFault, Deadlock
            As :meth:`run`.
        """
        return self._play(self._begin)

    def answer(self, reply: Reply) -> SimulationResult | None:
        """Continue with the reply that the link did not have; as :meth:`begin`."""
        return self._play(lambda: self.loop.answer(reply))

    def go_on(self) -> SimulationResult | None:
        """Continue with a scheduler whose policy paused, until it pauses again; as :meth:`begin`."""
        assert self.loop.paused, "it ended, or failed: nothing waits for an answer"
        return self._play(self.loop.go_on)

    def abandon(self) -> None:
        """Give up a simulation that waits for a reply; the files written so far keep their temporary names."""
        self.outputs.abandon()

    def _play(self, first: Callable[[], object]) -> SimulationResult | None:
        try:
            first()
            completed = self.loop.run()
        except BaseException:
            self.outputs.abandon()
            raise
        if self.loop.paused:
            return None
        result = self._finish(deadlocked=not completed and not self.options.no_scheduler)
        if result.deadlocked and self.options.fail_on_deadlock:
            raise Deadlock(self._deadlock_story())
        return result

    def _begin(self) -> None:
        if self.options.no_scheduler:
            self.loop.begin_alone()
        else:
            self.loop.begin(self._first_event())

    def _first_event(self) -> Event:
        options = self.options
        return SimulationBegins(
            0.0,
            self.machines.compute_infos,
            self.machines.storage_infos,
            BatsimConfig(
                profiles_forwarded_on_submission=options.forward_profiles,
                dynamic_jobs_enabled=options.dynamic_jobs,
                dynamic_jobs_acknowledged=options.acknowledge_dynamic_jobs,
                profile_reuse_enabled=options.profile_reuse,
                sched_config=options.sched_config,
                forward_unknown_events=options.forward_unknown_events,
            ),
            options.compute_sharing,
            options.storage_sharing,
            {workload.name: workload.file for workload in self._workloads},
            {
                workload.name: {
                    name: profile.source for name, profile in workload.profiles.items() if profile is not None
                }
                for workload in self._workloads
            },
            options.arguments,
            dict(options.context),
            {f"ee{number}": str(path.absolute()) for number, path in enumerate(options.events)},
        )

    # ------------------------------------------------------------------ the end

    def _finish(self, deadlocked: bool) -> SimulationResult:
        joules = 0.0
        if self.meter is not None:
            joules = self.meter.at_last_end - self.meter.at_first_submission
        real = time.perf_counter() - self._started if self.options.wall_clock else 0.0
        totals = self.outputs.jobs.totals
        figures = schedule_figures(
            totals,
            self.machines,
            joules,
            (self.power.grouped, self.power.machines_switched),
            (self.loop.thinking_s, real),
        )
        self.outputs.finish(self.loop.clock, figures)
        return SimulationResult(
            self.loop.clock, deadlocked, totals, figures, self.loop.messages, tuple(self.outputs.paths)
        )

    def _deadlock_story(self) -> str:
        loop = self.loop
        waiting = loop.submitted - loop.completed - loop.running
        parts = [f"{waiting} submitted jobs were never executed nor rejected"] if waiting else []
        if loop.running:
            parts.append(f"{loop.running} running jobs will never end")
        if self.options.dynamic_jobs and not loop.registration_finished:
            parts.append("the scheduler never sent the notification registration_finished")
        return f"deadlock at {loop.clock:.6f} s: " + ("; ".join(parts) or "nothing can happen any more")


def _machine_limit(options: SimulationOptions, workloads: Sequence[Workload]) -> int:
    """The smaller of the two limits on compute hosts; 0: no limit."""
    limits = [options.machine_limit] if options.machine_limit else []
    if options.machine_limit_from_workload and workloads:
        limits.append(max(workload.nb_res for workload in workloads))
    return min(limits, default=0)


def _check_options(options: SimulationOptions) -> None:
    if options.machine_limit < 0:
        raise SimulatorInputError(f"--mmax must be at least 0, got {options.machine_limit}")
    if options.profile_reuse and not options.dynamic_jobs:
        raise SimulatorInputError("--enable-profile-reuse needs --enable-dynamic-jobs")
    if options.acknowledge_dynamic_jobs and not options.dynamic_jobs:
        raise SimulatorInputError("--acknowledge-dynamic-jobs needs --enable-dynamic-jobs")


def _loop_options(options: SimulationOptions, machines: Machines, progress: bool) -> LoopOptions:
    """The options that the loop needs: those of its fields, and further ones."""
    needed = LoopOptions()
    for stated in (options.rules, options):
        for field in fields(stated):
            if hasattr(needed, field.name):
                setattr(needed, field.name, getattr(stated, field.name))
    needed.most_idle_calls = MOST_IDLE_CALLS
    needed.progress_every = options.progress_every if progress else 0
    needed.set_own_way(*machines.own_way)
    return needed
