"""One small world played under a policy, by the embedded simulator in this process, with everything checked."""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spillway.base.errors import DecisionRefused
from spillway.experiments.run.job_table import write_jobs
from spillway.experiments.run.recorder import Recorder
from spillway.experiments.trials.checks.limit import CPU_S, Overdue, cpu_limit
from spillway.experiments.trials.checks.watched import Fault, Watched
from spillway.experiments.trials.checks.world import GB, World
from spillway.platforms.catalogue import describe
from spillway.platforms.generate import generate
from spillway.platforms.model import Platform
from spillway.platforms.xml_reader import load_platform
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.protocol.messages import JobState, Message, Reply
from spillway.schedulers.assembly import SessionSpec, assemble
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Holding, Running
from spillway.simulator.engines.fluid import FluidEngine
from spillway.simulator.errors import Deadlock
from spillway.simulator.options import SimulationOptions
from spillway.simulator.outputs.jobs import Span
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink

TABLES = ("jobs.csv", "allocations.csv", "rejections.csv")


@dataclass(frozen=True)
class Outcome:
    """How a play ended.

    Attributes
    ----------
    faults
        What the policy did wrong, by check; empty for nothing.
    tables
        The run's tables, as bytes.
    """

    faults: dict[str, str]
    tables: dict[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hash of the tables and the faults."""
        total = hashlib.sha256(json.dumps(sorted(self.faults)).encode())
        for name in sorted(self.tables):
            total.update(self.tables[name])
        return total.hexdigest()


def spec_of(policy: str, world: World) -> SessionSpec:
    """The session that a world is played with."""
    return SessionSpec(policy, world.options, model=world.model, settings=world.settings, seed=world.seed)


def play(policy: str, world: World, *, direct: bool = True, cpu_s: float = CPU_S) -> Outcome:
    """Play a world.

    Parameters
    ----------
    policy
        Name, ``FILE.py:CLASS`` or ``MODULE:CLASS``.
    direct
        Operations of jobs as calls, or as messages for each sub-job.
    cpu_s
        Seconds of CPU time after which it is interrupted.
    """
    spec = spec_of(policy, world)
    watched = Watched(spec.make_policy())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with cpu_limit(cpu_s):
                tables = _played(folder, spec, watched, world, direct)
        except Overdue as error:
            where = watched.line_of(error)
            words = (
                f"the world is not through after {cpu_s:g} s of CPU time (--cpu){where or ', outside of the policy'}"
            )
            return Outcome(watched.faults | {"stops": words})
        except Fault as fault:
            return Outcome(watched.faults | {fault.check: fault.words})
    return Outcome(dict(watched.faults), tables)


def _played(folder: Path, spec: SessionSpec, watched: Watched, world: World, direct: bool) -> dict[str, bytes]:
    records: dict[str, JobRecord] = {}
    watch = _Watch(folder)
    model = spec.make_model()
    session = assemble(
        watched,
        spec.make_settings(),
        model,
        seed=spec.seed,
        observer=watch,
        on_record=lambda record: records.update({record.job.id: record}),
        direct=direct,
    )
    watched.session = watch.session = session
    check = getattr(session._runtime, "check", lambda: None)

    def handle(message: Message) -> Reply:
        try:
            reply = session.handle(message)
        except DecisionRefused as error:
            raise Fault("decisions", f"the guard refuses a decision: {error}") from None
        if watched.faults.keys() & {"view"}:
            raise Fault("view", watched.faults["view"])  # what follows is not worth looking at
        try:
            session.check()
            check()
        except AssertionError as error:
            raise Fault("nothing over-committed", f"the books do not agree: {error}") from None
        watch.set_machine(session.machine)
        return reply

    try:
        spans = _simulate(folder, spec, world, handle)
    except Deadlock:
        raise Fault("ends", f"nothing runs or arrives any more, and {watch.story()}") from None
    finally:
        watch.close()
    if session.waiting or session.book.running or session.book.held:
        raise Fault("ends", f"at the end {watch.story()}")
    (folder / "out_jobs.csv").rename(folder / "jobs.csv")
    write_jobs(folder, model, records, spans)
    return {name: (folder / name).read_bytes() for name in TABLES}


def _simulate(
    folder: Path, spec: SessionSpec, world: World, handle: Callable[[Message], Reply]
) -> Mapping[str, Span] | None:
    """Play the world; return when the sub-jobs of each job ran."""
    (folder / "w.json").write_text(json.dumps(world.data()), encoding="utf-8")
    lines = [
        json.dumps(
            {
                "timestamp": change.time_s,
                "type": f"machine_{'' if change.back else 'un'}available",
                "resources": " ".join(map(str, change.hosts)),
            }
        )
        for change in world.changes
    ]
    lines += [
        json.dumps(
            {
                "timestamp": drain.time_s,
                "type": STORAGE_DRAINED,
                "resources": str(drain.host),
                "bytes": drain.drained_gb * GB,
            }
        )
        for drain in world.drains
    ]
    (folder / "events.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    machine, needs = _platform(), spec.needs()
    with FluidEngine(machine) as engine:
        simulation = Simulation(
            machine,
            [load_workload(folder / "w.json")],
            engine,
            InProcessLink(handle),
            SimulationOptions(
                export=str(folder / "out"),
                dynamic_jobs=needs.dynamic_jobs,
                profile_reuse=needs.profile_reuse,
                fail_on_deadlock=True,
                events=(folder / "events.txt",) if lines else (),
                forward_unknown_events=bool(world.drains),
            ),
        )
        simulation.run()
    return simulation.outputs.jobs.spans or None


@functools.cache
def _platform() -> Platform:
    """The platform ``tiny``."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "tiny.xml")
        path.write_text(generate(describe("tiny")), encoding="utf-8")
        return load_platform(path)


class _Watch(Recorder):
    """Counts what is held from starts and ends alone, beside the ledger, and knows who waits."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.session: Session
        self._waiting: dict[str, Job] = {}
        self._held: dict[str, Allocation] = {}
        self._drained: dict[str, int] = {}

    def story(self) -> str:
        """Which job waits for ever."""
        waiting = list(self._waiting.values())
        if not waiting:
            return "a job has not ended"
        job = max(waiting, key=lambda one: (one.nodes, -one.number))
        others = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        return f"job {job.name} ({job.nodes} nodes, submitted at {job.submit_time_s:g} s) waits for ever{others}"

    def submitted(self, job: Job, now_s: float) -> None:
        """A job waits."""
        super().submitted(job, now_s)
        self._waiting[job.id] = job

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """It does not any more."""
        super().rejected(job, reason, now_s)
        self._waiting.pop(job.id, None)

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """It must start where hosts are there."""
        super().started(job, allocation, now_s)
        self._waiting.pop(job.id, None)
        closed = self.session.book.nodes_out.intersection(allocation.nodes)
        if closed:
            raise Fault("nothing over-committed", f"job {job.name} starts on node {min(closed)}, which is out")
        self._hold(job.id, allocation)

    def resized(self, running: Running, now_s: float) -> None:
        """It holds this now."""
        super().resized(running, now_s)
        self._hold(running.job.id, running.allocation)

    def held(self, job: Job, holding: Holding, now_s: float) -> None:
        """It holds its burst buffer."""
        super().held(job, holding, now_s)
        self._hold(job.id, holding.allocation)

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """It holds nothing."""
        super().evicted(job, holding, now_s)
        self._held.pop(job.id, None)

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """It holds nothing."""
        super().ended(running, state, now_s)
        self._held.pop(running.job.id, None)

    def drained(self, storage: str, drained_bytes: int, left_bytes: int, now_s: float) -> None:
        """So much of a storage node is given to no job any more."""
        super().drained(storage, drained_bytes, left_bytes, now_s)
        self._drained[storage] = drained_bytes

    def _hold(self, job_id: str, allocation: Allocation) -> None:
        """A job holds this now; no node may be held twice, no storage node beyond its capacity.

        What it did not hold before must lie in what is left of the storage node.
        """
        machine = self.session.machine
        before = self._held.get(job_id, Allocation(()))
        self._held[job_id] = allocation
        if len(machine.nodes) > machine.width:
            return  # gang policies move jobs between rows without a start; the ledger is checked all the same
        nodes = [node for held in self._held.values() for node in held.nodes]
        if len(nodes) > len(set(nodes)):
            raise Fault("nothing over-committed", f"job {job_id} gets a node that another job holds")
        for place, storage in enumerate(machine.storages):
            used = sum(held.storages.count(place) * held.bb_bytes for held in self._held.values())
            gains = allocation.storages.count(place) > before.storages.count(place)
            most = storage.capacity_bytes - (self._drained.get(storage.name, 0) if gains else 0)
            if used > most:
                raise Fault("nothing over-committed", f"{storage.name} holds {used:,} of {most:,} bytes")
