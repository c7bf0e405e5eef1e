"""A policy examined in a world: each step is watched, the book is verified, allocations are counted independently."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from spillway.base import durable
from spillway.base.errors import DecisionRefused
from spillway.experiments.run.job_table import write_jobs
from spillway.experiments.run.recorder import Recorder
from spillway.experiments.trials.play import WorldObservations, simulate
from spillway.experiments.trials.watch import CPU_S, Fault, TimeLimitExceeded, WatchedPolicy, cpu_limit
from spillway.experiments.trials.world import World
from spillway.protocol.messages import JobState, Message, Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.session import Session
from spillway.schedulers.description import ModelSpec, PolicySpec
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Holding, Running
from spillway.simulator.errors import Deadlock
from spillway.simulator.wire.links import InProcessLink, WireLink

TABLES = ("jobs.csv", "allocations.csv", "rejections.csv")


def spec_of(policy: str, world: World) -> SessionSpec:
    """Description of the session for a world."""
    chosen = PolicySpec(policy, options={**world.options}, session={**world.settings})
    return SessionSpec(chosen, ModelSpec(world.model), seed=world.seed)


@dataclass(frozen=True)
class ExaminedPolicy:
    """A policy in this process, watched from within.

    Attributes
    ----------
    name
        Name, ``FILE.py:CLASS`` or ``MODULE:CLASS``.
    direct
        Whether messages are objects, or bytes of Batsim 4's protocol.
    cpu_s
        Seconds of CPU time after which the play of a world is interrupted.
    """

    name: str
    direct: bool = True
    cpu_s: float = CPU_S

    def play(self, world: World) -> WorldObservations:
        """Play a world once."""
        spec = spec_of(self.name, world)
        watched = WatchedPolicy(spec.make_policy())
        played = WorldObservations(watched.faults)
        with tempfile.TemporaryDirectory() as name:
            try:
                with cpu_limit(self.cpu_s):
                    played.tables = _tables(Path(name), spec, watched, world, self.direct)
            except TimeLimitExceeded as error:
                where = watched.line_of(error) or ", outside of the policy"
                words = f"the world has not ended after {self.cpu_s:g} s of CPU time (--cpu){where}"
                played.faults["stops"] = words
            except Fault as fault:
                played.faults[fault.check] = fault.words
        return played


def _tables(folder: Path, spec: SessionSpec, watched: WatchedPolicy, world: World, direct: bool) -> dict[str, bytes]:
    records: dict[str, JobRecord] = {}
    watch = _Watch(folder)
    session = spec.session(
        watch,
        on_record=lambda record: records.update({record.job.id: record}),
        policy=watched,
    )
    watched.session = watch.session = session

    def handle(message: Message) -> Reply:
        try:
            reply = session.handle(message)
        except DecisionRefused as error:
            raise Fault("decisions", f"the guard refuses a decision: {error}") from None
        if watched.faults.keys() & {"view"}:
            raise Fault("view", watched.faults["view"])  # the rest of the play is not meaningful
        try:
            session.check()
        except AssertionError as error:
            raise Fault("nothing over-committed", f"the books do not agree: {error}") from None
        return reply

    try:
        spans = simulate(world, InProcessLink(handle) if direct else WireLink(handle), folder, spec.needs())
    except Deadlock:
        raise Fault("ends", f"no job runs or arrives any more, and {watch.story()}") from None
    finally:
        watch.close()
    if session.waiting or session.book.running or session.book.held:
        raise Fault("ends", f"at the end {watch.story()}")
    durable.rename(folder / "out_jobs.csv", folder / "jobs.csv", sync=False)
    write_jobs(folder, spec.make_model(), records, spans)
    return {name: (folder / name).read_bytes() for name in TABLES}


class _Watch(Recorder):
    """Counts allocations from starts and ends only, independently of the book."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.session: Session
        self._held: dict[str, Allocation] = {}
        self._drained: dict[str, int] = {}

    def story(self) -> str:
        """A sentence on the largest job that waits for ever, or on a job that has not ended."""
        waiting = self.session.queue
        if not waiting:
            return "a job has not ended"
        job = max(waiting, key=lambda one: (one.nodes, -one.number))
        others = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        return f"job {job.name} ({job.nodes} nodes, submitted at {job.submit_time_s:g} s) waits for ever{others}"

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Check that the job's nodes are not out, and count its allocation."""
        super().started(job, allocation, now_s)
        closed = self.session.book.nodes_out.intersection(allocation.nodes)
        if closed:
            raise Fault("nothing over-committed", f"job {job.name} starts on node {min(closed)}, which is out")
        self._hold(job.id, allocation)

    def resized(self, running: Running, now_s: float) -> None:
        """Count the job's new allocation."""
        self._hold(running.job.id, running.allocation)

    def held(self, job: Job, holding: Holding, now_s: float) -> None:
        """Count the burst buffer of a waiting job."""
        self._hold(job.id, holding.allocation)

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """Remove the burst buffer of a waiting job."""
        super().evicted(job, holding, now_s)
        self._held.pop(job.id, None)

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Remove the allocation of a job that has ended."""
        super().ended(running, state, now_s)
        self._held.pop(running.job.id, None)

    def drained(self, storage: str, drained_bytes: int, left_bytes: int, now_s: float) -> None:
        """Set the bytes of a storage node that no job may get any more."""
        super().drained(storage, drained_bytes, left_bytes, now_s)
        self._drained[storage] = drained_bytes

    def _hold(self, job_id: str, allocation: Allocation) -> None:
        """Set a job's allocation; no node may be held twice, no storage node beyond its capacity.

        New bytes must fit in the part of the storage node that is not drained.
        """
        machine = self.session.machine
        before = self._held.get(job_id, Allocation(()))
        self._held[job_id] = allocation
        if len(machine.nodes) > machine.width:
            return  # gang policies move jobs between rows without a start; the book is checked all the same
        nodes = [node for held in self._held.values() for node in held.nodes]
        if len(nodes) > len(set(nodes)):
            raise Fault("nothing over-committed", f"job {job_id} gets a node that another job holds")
        for place, storage in enumerate(machine.storages):
            used = sum(held.storages.count(place) * held.bb_bytes for held in self._held.values())
            gains = allocation.storages.count(place) > before.storages.count(place)
            most = storage.capacity_bytes - (self._drained.get(storage.name, 0) if gains else 0)
            if used > most:
                raise Fault("nothing over-committed", f"{storage.name} holds {used:,} of {most:,} bytes")
