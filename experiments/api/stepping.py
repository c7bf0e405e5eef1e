"""A simulation whose scheduler is the caller: step to the next moment at which jobs wait, look, start some."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base import durable
from spillway.base.errors import OptionError
from spillway.experiments.api.logs import Log, read
from spillway.experiments.api.machine import spec_of
from spillway.experiments.api.policies import settings_of
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.decisions import Decision, Pause
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.holds import fit_now
from spillway.schedulers.policykit.passes import try_start
from spillway.schedulers.policykit.view import Running, View

if TYPE_CHECKING:
    from spillway.experiments.campaign.inputs.machines import Machine
    from spillway.protocol.messages import JobState


class _Caller:
    """A policy that pauses in each pass with waiting jobs, and starts what it is told."""

    def __init__(self) -> None:
        self.view: View | None = None
        self.queue: list[Job] = []
        self.chosen: Job | None = None

    def __call__(self, view: View) -> Iterable[Decision]:
        return self._ask(view)

    def _ask(self, view: View) -> Iterator[Decision]:
        self.view, self.queue = view, list(view.queue)
        while view.queue:  # also after the last start: only a step lets time pass
            yield Pause()
            if self.chosen is None:
                break
            start = try_start(view, self.chosen)
            assert start is not None, "a job was chosen that does not fit"
            yield start
            self.queue.remove(self.chosen)
            self.chosen = None
        self.queue = []


class _Record(Observer):
    """Keeps the starts and ends of jobs."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        waited = {"submit_s": job.submit_time_s, "start_s": now_s, "wait_s": now_s - job.submit_time_s}
        self.rows[job.id] = {"job": job.id.partition("!")[2], "nodes": job.nodes, **waited, "end_s": None}

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        self.rows[running.job.id]["end_s"] = now_s


class Simulation:
    """A simulation that stops wherever jobs wait, and starts the jobs that the caller names.

    >>> with sw.Simulation("kth-like:jobs=50") as simulation:  # doctest: +SKIP
    ...     while simulation.step():
    ...         for job in simulation.queue:
    ...             if simulation.fits(job):
    ...                 simulation.start(job)

    Parameters
    ----------
    log, machine, engine, settings
        As for :func:`spillway.compare`.
    seed
        Seed of all that is drawn.

    Raises
    ------
    SpecError, OptionError, WorkloadError, PlatformError
        A name, option or input is wrong.
    """

    def __init__(
        self,
        log: str | Path | Log,
        *,
        machine: str | Machine = "",
        engine: str = "fluid",
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        from spillway.experiments.campaign.inputs import input_files, machines
        from spillway.experiments.campaign.inputs.sources import the_source
        from spillway.experiments.run import sessions
        from spillway.experiments.run.spec import ModelSpec, PolicySpec
        from spillway.platforms.simgrid.xml_reader import load_platform
        from spillway.schedulers.assembly import SessionSpec
        from spillway.simulator.engines.by_name import ENGINES
        from spillway.simulator.options import SimulationOptions
        from spillway.simulator.reading.workload import load_workload
        from spillway.simulator.wire.broker import Simulation as Played
        from spillway.simulator.wire.links import InProcessLink
        from spillway.workloads.batsim.json_file import batsim_bytes, parse_batsim
        from spillway.workloads.batsim.time_limits import with_grace

        if engine not in ENGINES:
            raise OptionError(f"engine={engine!r}: expected one of {', '.join(ENGINES)}")
        source, spec = the_source(read(log).spec()), spec_of(machine)
        if machines.is_chosen(spec):
            spec, _ = machines.for_workload(*input_files.sizes_and_machine(source, seed), spec)
        found, policy = machines.load(spec), PolicySpec("fcfs", session=settings_of(settings))
        policy = sessions.typed(policy)
        made = SessionSpec(policy, seed=seed)
        self._caller, self._record = _Caller(), _Record()
        self._open = ExitStack()
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="spillway-")))
        durable.write_text(folder / "machine.xml", found.xml, sync=False)
        jobs = input_files.read(source, found, ModelSpec(), seed)[1]
        site = made.make_settings().site_stated
        if site is not None and (grace_s := site.scheduler.grace_s):
            jobs = batsim_bytes(with_grace(parse_batsim(jobs, source.text), grace_s))
        durable.write_bytes(folder / "jobs.json", jobs, sync=False)
        platform = load_platform(folder / "machine.xml")
        player = ENGINES[engine](platform, folder / "machine.xml")
        self._open.enter_context(player)
        self._simulation = Played(
            platform,
            [load_workload(folder / "jobs.json")],
            player,
            InProcessLink(made.session(self._record, policy=self._caller)),
            SimulationOptions(fail_on_deadlock=True, **made.needs().options),
        )
        self._open.callback(self._simulation.abandon)
        self._is_begun = self._is_over = False

    def step(self) -> bool:
        """Simulate up to the next moment at which jobs wait; return whether there is one: else all has ended.

        Raises
        ------
        Deadlock
            Jobs wait, none was started, and nothing runs: nothing can happen any more.
        """
        if self._is_over:
            return False
        self._caller.chosen = None
        self._go_on()
        return not self._is_over

    def _go_on(self) -> None:
        """Simulate up to the next pause; a simulation that ends or fails is closed."""
        try:
            result = self._simulation.go_on() if self._is_begun else self._simulation.begin()
        except BaseException:
            self.close()
            raise
        self._is_begun = True
        if result is not None:
            self.close()

    @property
    def now_s(self) -> float:
        """Simulated time (s)."""
        return self._simulation.loop.clock

    @property
    def queue(self) -> Sequence[Job]:
        """Jobs that wait now, in order of submission."""
        return tuple(self._caller.queue)

    @property
    def running(self) -> Sequence[Running]:
        """Jobs that ran when this moment began, each with its allocation and start."""
        view = self._caller.view
        return () if view is None or self._is_over else tuple(view.running)

    def fits(self, job: Job) -> bool:
        """Whether a waiting job can start now, beside those that were started."""
        view = self._caller.view
        return view is not None and job in self._caller.queue and fit_now(view, job, view.estimate_s(job)) is not None

    def start(self, job: Job) -> None:
        """Start a waiting job now.

        Raises
        ------
        OptionError
            It does not wait, or does not fit now.
        """
        if job not in self._caller.queue:
            raise OptionError(f"start(): job {getattr(job, 'id', job)!r} does not wait now; 'queue' has those that do")
        if not self.fits(job):
            raise OptionError(f"start(): job {job.id} does not fit now; 'fits(job)' says which jobs do")
        self._caller.chosen = job
        self._go_on()

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """Jobs that have started, with ``nodes``, ``submit_s``, ``start_s``, ``wait_s``, and ``end_s`` once known."""
        return list(self._record.rows.values())

    def close(self) -> None:
        """Release all resources: no job waits then, and no step is left; closing twice does no harm."""
        self._is_over, self._caller.queue = True, []
        self._open.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
