"""One simulation, from its parts to its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spillway.platforms.model import Platform
from spillway.protocol.messages import BatsimConfig, Event, JobState, Reply, SimulationBegins
from spillway.simulator.engines.base import Engine
from spillway.simulator.errors import Deadlock, SimulatorInputError
from spillway.simulator.jobs.execution import Executor
from spillway.simulator.jobs.job import Job
from spillway.simulator.options import SimulationOptions
from spillway.simulator.outputs import Outputs
from spillway.simulator.outputs.jobs import Totals
from spillway.simulator.outputs.schedule import schedule_figures
from spillway.simulator.reading.events import EventHandler, load_events
from spillway.simulator.reading.registry import Registry, Workload
from spillway.simulator.wire.conversation import Conversation
from spillway.simulator.wire.kernel import Kernel
from spillway.simulator.wire.links import Link
from spillway.simulator.wire.no_scheduler import start_all
from spillway.simulator.wire.requests import Requests
from spillway.simulator.wire.server import Server
from spillway.simulator.wire.submitters import Occurrences, Submitter
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
        self.kernel = Kernel(engine, self.machines.own_message_s)
        self.server = Server(self.kernel, self.registry, self.outputs, options)
        self.meter = EnergyMeter(platform, self.machines, engine, self.outputs) if options.energy else None
        self.executor = Executor(
            self.kernel, engine, self.machines, self.outputs, self.meter, self._jobs_ended, self._job_tells
        )  # fmt: skip
        self.power = PowerSwitches(
            self.kernel, self.server, platform, self.machines, engine, self.executor, self.outputs, self.meter
        )  # fmt: skip
        requests = Requests(
            self.kernel, self.server, self.registry, self.machines, self.executor, self.power, self.meter, options
        )  # fmt: skip
        self.conversation = Conversation(
            self.kernel, self.server, requests, self.executor, link, options.wall_clock, options.rules.decimals
        )  # fmt: skip
        self._submitters = self._make_submitters(events)
        self._progress = progress
        self._next_progress = options.progress_every if progress is not None else 0
        self._started = time.perf_counter() if options.wall_clock else 0.0

    def _make_submitters(self, events: list[list[Any]]) -> list[Submitter]:
        server = self.server
        occurred = EventHandler(server, self.machines).occurred
        for workload in self._workloads:
            workload.jobs.sort()
        jobs = [
            Submitter(
                self.kernel,
                workload.jobs,
                server.hello,
                server.jobs_submitted,
                server.job_submitter_left,
                self._first_submission,
            )
            for workload in self._workloads
        ]
        others = [
            Submitter(
                self.kernel,
                Occurrences(found),
                server.hello,
                occurred,
                server.event_submitter_left,
            )
            for found in events
        ]
        server.job_submitters, server.event_submitters = len(jobs), len(others)
        return jobs + others

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
            raise TypeError("the link gives replies later: begin() and answer() play such a simulation, not run()")
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
        return self._play(lambda: self.conversation.answer(reply))

    def abandon(self) -> None:
        """Give up a simulation that waits for a reply; the files written so far keep their temporary names."""
        self.outputs.abandon()

    def _play(self, first: Callable[[], None]) -> SimulationResult | None:
        try:
            first()
            completed = self.kernel.run()
        except BaseException:
            self.outputs.abandon()
            raise
        if self.kernel.paused:
            return None
        result = self._finish(deadlocked=not completed and not self.options.no_scheduler)
        if result.deadlocked and self.options.fail_on_deadlock:
            raise Deadlock(self._deadlock_story())
        return result

    def _begin(self) -> None:
        if self.options.no_scheduler:
            jobs = [job for submitter in self._submitters for job in submitter.things if isinstance(job, Job)]
            start_all(jobs, self.executor, self.machines)
            return
        self.kernel.after_receive = self.conversation.maybe_send
        self.kernel.quiet, self.kernel.quiet_ones = self.server.job_completed, self.server.jobs_completed
        for submitter in self._submitters:
            submitter.begin()
        self.conversation.send([self._first_event()])

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
        )

    def _first_submission(self) -> None:
        if self.meter is not None and self.meter.at_first_submission < 0:
            self.meter.at_first_submission = self.meter.total(self.kernel.clock)

    def _jobs_ended(self, jobs: Sequence[Job]) -> None:
        if not self.options.no_scheduler:
            latencies: list[float] = []
            sent: list[Job] = []
            for job in jobs:
                if job.state is not JobState.COMPLETED_KILLED:
                    assert job.allocation is not None
                    latencies.append(job.allocation.latency)
                    sent.append(job)
            self.kernel.post_all(latencies, self.server.job_completed, sent)
        if self._next_progress and self.outputs.jobs.jobs >= self._next_progress:
            self._next_progress += self.options.progress_every
            assert self._progress is not None
            self._progress(self.kernel.clock, self.outputs.jobs.jobs)

    def _job_tells(self, job: Job, message: Any, resume: Callable[[], None]) -> None:
        assert job.allocation is not None
        self.kernel.post(job.allocation.latency, self.server.job_says, (job, message), resume)

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
            (self.conversation.thinking_s, real),
        )
        self.outputs.finish(self.kernel.clock, figures)
        return SimulationResult(
            self.kernel.clock, deadlocked, totals, figures, self.conversation.messages, tuple(self.outputs.paths)
        )

    def _deadlock_story(self) -> str:
        server = self.server
        waiting = server.submitted - server.completed - server.running
        parts = [f"{waiting} submitted jobs were never executed nor rejected"] if waiting else []
        if server.running:
            parts.append(f"{server.running} running jobs will never end")
        if self.options.dynamic_jobs and not server.registration_finished:
            parts.append("the scheduler never sent the notification registration_finished")
        return f"deadlock at {self.kernel.clock:.6f} s: " + ("; ".join(parts) or "nothing can happen any more")


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
