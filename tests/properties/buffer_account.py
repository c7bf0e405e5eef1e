"""Books of storage nodes and nodes that are kept apart from the session's, and prove it right after every message."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spillway.protocol.messages import JobCompleted, JobState, Message
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.sub_jobs import SEPARATOR
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.view import Holding, Running
from tests.properties.buffer_cases import APART, SHARING, Case

EPSILON_S = 1e-5
"""Times are rounded to microseconds on the wire."""


@dataclass
class _Buffer:
    """A job's bytes on storage nodes, and the time from which it holds them."""

    job: Job
    storages: tuple[int, ...]
    size: int
    since_s: float
    lost: bool = False


class Account(Observer):
    """Books of storage nodes and nodes, kept only from starts, holds, resizes, evictions and ends.

    Parameters
    ----------
    case
        The case to play.
    limit
        Most bytes of a user's jobs; 0: no limit.
    """

    def __init__(self, case: Case, limit: int) -> None:
        self.session: Session
        self._case = case
        self._limit = limit
        self._apart = case.life in APART
        self.buffers: dict[str, _Buffer] = {}
        self.kept: dict[str, PersistentBuffer] = {}
        self.users: dict[str, set[str]] = {}
        self.nodes: dict[str, tuple[int, ...]] = {}
        self.states: dict[str, str] = {}
        self.submitted_ids: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.gone: Counter[int] = Counter()
        self.story: list[tuple[float, str, str]] = []

    # ------------------------------------------------------------------ events

    def heard(self, message: Message) -> None:
        """Note the events that the session receives; ends of sub-jobs at the message's time."""
        self.story.append((message.now, "message", ""))
        for event in message.events:
            job_id = getattr(event, "job_id", "")
            if isinstance(event, JobCompleted) and SEPARATOR in job_id:
                self.story.append((message.now, JobCompleted.__name__, job_id))
            else:
                self.story.append((event.timestamp, type(event).__name__, job_id))

    def submitted(self, job: Job, now_s: float) -> None:
        """Its request is the smallest number of whole granules that holds the stated size."""
        self.submitted_ids.add(job.id)
        values = {**job.profile, **job.extras}
        stated = values.get("bb_total", values.get("bb", 0))
        pieces = values.get("bb_stripes", 1) if "bb_total" in values else 0
        granule = self.session.machine.granule_bytes
        assert granule == self._case.granule
        assert job.bb_bytes % granule == 0
        assert job.stripes == pieces
        assert stated <= job.bb_bytes * (pieces or 1) < stated + granule * (pieces or 1) + (pieces and pieces - 1)

    def drained(self, storage: str, drained_bytes: int, left_bytes: int, now_s: float) -> None:
        """These bytes of a storage node are given to no job from now on."""
        self._count("drained", storage, now_s)
        names = [storage.name for storage in self.session.machine.storages]
        self.gone[names.index(storage)] = drained_bytes

    def created(self, buffer: PersistentBuffer, now_s: float) -> None:
        """A persistent buffer of a name that is free, on storage nodes that differ and are there."""
        storages = buffer.allocation.storages
        self._count("created", buffer.name, now_s)
        assert buffer.name not in self.kept
        assert len(set(storages)) == len(storages) > 0
        assert self.session.book.storages_out.isdisjoint(storages)
        assert buffer.allocation.bb_bytes % self._case.granule == 0
        self.kept[buffer.name] = buffer
        self._within(storages)

    def destroyed(self, buffer: PersistentBuffer, job: Job, now_s: float) -> None:
        """Once, as a job requests it; no running job uses it any more."""
        self._count("destroyed", buffer.name, now_s)
        assert buffer.name in job.extras["bb_destroy"]
        assert self.kept.pop(buffer.name) == buffer
        assert not any(buffer.name in self.users.get(node, ()) for node in self.nodes), "a running job uses it"

    def held(self, job: Job, holding: Holding, now_s: float) -> None:
        """A waiting job holds nothing yet, and gets its buffer alone."""
        assert job.id not in self.nodes
        assert not holding.allocation.nodes
        self._count("held", job.id, now_s)
        self._take(job, holding.allocation, now_s)

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """It gets its nodes, which are free and there, on the buffer that it holds, if it holds one."""
        assert self.session.book.nodes_out.isdisjoint(allocation.nodes), f"{job.id} started on a node that is out"
        assert job.id not in self.nodes
        if self._case.policy not in SHARING:  # which move jobs
            used = {node for nodes in self.nodes.values() for node in nodes}
            assert used.isdisjoint(allocation.nodes), f"{job.id} started on nodes of others"
        buffer = self.buffers.get(job.id)
        self._count("started", job.id, now_s)
        if buffer is None:
            if allocation.storages:
                assert not self._apart or not job.profile.get("stage_in_s"), "nodes before its buffer was filled"
                self._take(job, allocation, now_s)
        else:
            assert sorted(buffer.storages) == sorted(allocation.storages), f"{job.id} started on another buffer"
            assert now_s - buffer.since_s >= job.profile.get("stage_in_s", 0.0) - EPSILON_S, "it was not filled"
        assert bool(job.bb_bytes) == (job.id in self.buffers)
        self.nodes[job.id] = allocation.nodes
        self.users[job.id] = set(job.extras.get("bb_use", ()))
        assert self.users[job.id] <= self.kept.keys(), f"{job.id} uses what is not there"
        if self._case.rule == "rack" and allocation.storages and not job.stripes:
            self._in_own_racks(allocation)

    def resized(self, running: Running, now_s: float) -> None:
        """It gave something back: its nodes may go before its buffer, the buffer never before its nodes."""
        job, allocation = running.job, running.allocation
        self._count("resized", job.id, now_s)
        self.nodes[job.id] = allocation.nodes
        buffer = self.buffers.get(job.id)
        if buffer is None:
            assert not allocation.storages
            return
        if self._apart or job.stripes:
            assert allocation.storages or not allocation.nodes, f"{job.id} has nodes, and its buffer is gone"
            assert not allocation.storages or sorted(allocation.storages) == sorted(buffer.storages)
        else:
            assert len(allocation.storages) == len(allocation.nodes)
        self._replace(buffer, allocation.storages, now_s)

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """A waiting job loses its buffer."""
        buffer = self.buffers.pop(job.id)
        self._count("evicted", job.id, now_s)
        assert sorted(buffer.storages) == sorted(holding.allocation.storages)
        assert job.id not in self.nodes

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """It holds nothing any more."""
        self.states[running.job.id] = state.value
        self._count(state.value, running.job.id, now_s)
        del self.nodes[running.job.id]
        self.buffers.pop(running.job.id, None)

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """It holds nothing; a reason is stated."""
        assert reason
        assert job.id not in self.buffers
        assert job.id not in self.states, f"{job.id} ended twice"
        self.states[job.id] = "REJECTED"
        self._count("REJECTED", job.id, now_s)

    def interrupted(self, job: Job, what: str, reason: str, now_s: float, lost_node_s: float = 0.0) -> None:
        """Count it."""
        self._count(what.split(" ")[0], job.id, now_s)
        assert lost_node_s >= -EPSILON_S

    def _count(self, what: str, name: str, now_s: float) -> None:
        self.counts[what] += 1
        self.story.append((now_s, what, name))

    # ------------------------------------------------------------------ invariants

    def check(self) -> None:
        """After every message: all books agree, nothing is held by a job that neither waits nor runs."""
        session = self.session
        session.check()
        check = getattr(session._runtime, "check", None)
        if check is not None:
            check()
        ledger = session.book
        assert ledger.kept == self.kept
        assert self.nodes.keys() == ledger.running.keys()
        with_buffers = {job_id for job_id, running in ledger.running.items() if running.allocation.storages}
        assert {
            job_id for job_id, buffer in self.buffers.items() if buffer.storages
        } == with_buffers | ledger.held.keys()
        used = self._used() + self.gone
        capacity = [storage.capacity_bytes for storage in session.machine.storages]
        free = [0 if at in ledger.storages_out else max(0, size - used[at]) for at, size in enumerate(capacity)]
        found = ledger.timeline.free_storage_now()
        assert found == free, f"{found} are free, not {free}"

    def check_end(self) -> None:
        """Every job has ended or was rejected; nothing is held.

        Batsim leaves out for good machines that came back while a job ran there: jobs may wait for them then.
        """
        self.check()
        session = self.session
        assert not session.book.running
        if session.closed:
            self.counts["left waiting"] += session.waiting
            return
        assert not session.pool.requests
        assert not session.pool.to_destroy
        assert (session.waiting, len(session.book.held)) == (0, 0)
        assert not self.nodes
        assert not self.buffers
        assert self.states.keys() == self.submitted_ids
        assert len(session.book.free_nodes()) == len(session.machine.nodes)

    def _take(self, job: Job, allocation: Allocation, now_s: float) -> None:
        assert job.id not in self.buffers, f"{job.id} has two buffers"
        storages, size = allocation.storages, allocation.bb_bytes
        assert len(storages) == job.requests
        assert size == job.bb_bytes
        assert self.session.book.storages_out.isdisjoint(storages), f"{job.id} got a storage node that is out"
        if job.stripes:
            assert len(set(storages)) == job.stripes, f"stripes of {job.id} share a storage node: {storages}"
        self.buffers[job.id] = _Buffer(job, storages, size, now_s)
        self._within(storages)

    def _replace(self, buffer: _Buffer, storages: tuple[int, ...], now_s: float) -> None:
        buffer.storages = storages
        if not storages:
            del self.buffers[buffer.job.id]
        self._within()

    def _used(self) -> Counter[int]:
        used: Counter[int] = Counter()
        for buffer in self.buffers.values():
            for storage in buffer.storages:
                used[storage] += buffer.size
        for kept in self.kept.values():
            used.update(dict.fromkeys(kept.allocation.storages, kept.allocation.bb_bytes))
        return used

    def _within(self, fresh: Sequence[int] = ()) -> None:
        """No storage node holds more than its capacity, nor a fresh buffer drained bytes; no user exceeds the limit."""
        for storage, size in self._used().items():
            capacity = self.session.machine.storages[storage].capacity_bytes - (storage in fresh) * self.gone[storage]
            assert size <= capacity, f"{size} bytes on storage node {storage} of {capacity}"
        if self._limit:
            users: Counter[str] = Counter()
            for buffer in self.buffers.values():
                users[buffer.job.user] += buffer.size * len(buffer.storages)
            for kept in self.kept.values():
                users[kept.user] += kept.allocation.bb_bytes * len(kept.allocation.storages)
            assert max(users.values(), default=0) <= self._limit, f"{users} beyond {self._limit}"

    def _in_own_racks(self, allocation: Allocation) -> None:
        machine = self.session.machine
        for node, storage in zip(allocation.nodes, allocation.storages, strict=False):  # replicas have the same columns
            place = machine.storages[storage].location
            assert machine.nodes[node].location[: len(place)] == place, (
                f"storage {storage} is not in node {node}'s rack"
            )
