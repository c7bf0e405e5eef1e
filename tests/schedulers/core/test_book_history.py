"""The book in random histories: early holds, partial give-backs, late jobs, expansions, nodes that come and go."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from spillway.protocol.messages import JobState
from spillway.schedulers.core.book import STATES, Book
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Link, simple_machine
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.timeline import Resource, Timeline
from tests.schedulers.machine_strategies import lives

KINDS = (Resource.NODES, Resource.BURST_BUFFERS, Resource.BANDWIDTH)
MACHINE = simple_machine(6, 3, 20, (Link("root", 30, -1), Link("left", 20, 0)), (1, 1, 1, 0, 0, -1))

coverings = st.sets(st.sampled_from(KINDS), min_size=1).map(lambda kinds: Resource(sum(kind.value for kind in kinds)))


class BookHistory(RuleBasedStateMachine):
    """For any events in any order: nothing is over-committed, nothing leaks, all books agree, kind by kind."""

    @initialize()
    def begin(self) -> None:
        """An empty machine of six nodes, three storage nodes and two links."""
        self.book = Book(MACHINE, Timeline(MACHINE), Walltimes())
        self.now_s = 0.0
        self.number = 0
        self.waiting: dict[str, Job] = {}
        self.granted: dict[str, dict[Resource, set[int]]] = {}
        self.used: dict[str, list[float]] = {}

    def _new_job(self, data: Any) -> Job:
        self.number += 1
        walltime_s = data.draw(st.sampled_from([0.0, 2.0, 5.0, 9.0, math.inf]))
        requested = data.draw(st.tuples(st.integers(1, 4), st.sampled_from([0, 3, 8]), st.sampled_from([0, 2, 7])))
        return Job(
            f"w!{self.number}",
            self.number,
            self.now_s,
            walltime_s,
            *requested,
            extras={"user": self.number % 3},
            lives=data.draw(st.none() | lives),
        )

    def _fit(self, job: Job, covering: Resource = Resource.ALL) -> Allocation | None:
        """An allocation that is free at this instant, whatever is booked for later."""
        bare = Job(job.id, job.number, 0.0, 1.0, job.nodes, job.bb_bytes, job.io_rate)
        return self.book.timeline.fit_now(bare, 1e-9, covering)

    @rule(data=st.data())
    def start(self, data: Any) -> None:
        """A job starts on free resources."""
        job = self._new_job(data)
        allocation = self._fit(job)
        if allocation is not None:
            self.book.start(job, allocation, self.now_s)
            self.granted[job.id] = {kind: set(allocation.nodes) for kind in KINDS}

    @rule(data=st.data(), until=st.sampled_from([1.0, 4.0, math.inf]))
    def hold(self, data: Any, until: float) -> None:
        """A waiting job is given its burst buffer."""
        job = self._new_job(data)
        allocation = self._fit(job, Resource.BURST_BUFFERS) if job.bb_bytes else None
        if allocation is not None:
            only = Allocation((), allocation.storages, allocation.bb_bytes)
            self.book.hold(job, only, self.now_s, self.now_s + until)
            self.waiting[job.id] = job

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def start_on_a_buffer(self, data: Any) -> None:
        """A job starts on the burst buffer that it holds."""
        job = self.waiting[data.draw(st.sampled_from(sorted(self.waiting)))]
        found = self._fit(job, Resource.NODES | Resource.BANDWIDTH)
        storages = self.book.held[job.id].allocation.storages
        if found is not None and self.book.storages_out.isdisjoint(storages):
            self.book.start(job, Allocation(found.nodes, storages, job.bb_bytes, found.io_rate), self.now_s)
            del self.waiting[job.id]
            self.granted[job.id] = {kind: set(found.nodes) for kind in KINDS}

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def evict(self, data: Any) -> None:
        """A waiting job loses its burst buffer."""
        job_id = data.draw(st.sampled_from(sorted(self.waiting)))
        del self.waiting[job_id]
        self.book.evict(job_id, self.now_s)

    @rule(data=st.data())
    def keep(self, data: Any) -> None:
        """A persistent buffer is created, and outlives all jobs."""
        job = self._new_job(data)
        allocation = self._fit(job, Resource.BURST_BUFFERS) if job.bb_bytes else None
        if allocation is not None:
            only = Allocation((), allocation.storages, allocation.bb_bytes)
            self.book.keep(PersistentBuffer(f"pool{self.number}", "", job.id, only, self.now_s))

    @precondition(lambda self: self.book.kept)
    @rule(data=st.data())
    def discard(self, data: Any) -> None:
        """A persistent buffer is destroyed."""
        self.book.discard(data.draw(st.sampled_from(sorted(self.book.kept))), self.now_s)

    @precondition(lambda self: self.granted)
    @rule(data=st.data(), covering=coverings)
    def give_back(self, data: Any, covering: Resource) -> None:
        """A running job gives some kinds back, for some nodes or for all."""
        job_id = data.draw(st.sampled_from(sorted(self.granted)))
        holds = self.granted[job_id]
        candidates = sorted(set.union(*(holds[kind] for kind in covering)))
        if self.book.extra_nodes(job_id) and covering is not Resource.ALL:
            return
        nodes = data.draw(st.none() | st.sets(st.sampled_from(candidates), min_size=1)) if candidates else None
        self.book.give_back(job_id, self.now_s, nodes, covering)
        for kind in covering:
            holds[kind] -= holds[kind] if nodes is None else nodes

    @precondition(lambda self: self.granted)
    @rule(data=st.data(), until=st.sampled_from([1.0, 6.0]))
    def expand(self, data: Any, until: float) -> None:
        """A running job that holds all that it was granted gets a node more."""
        job_id = data.draw(st.sampled_from(sorted(self.granted)))
        allocation = self.book.running[job_id].allocation
        kinds = list(self.granted[job_id].values())
        if kinds[0] != kinds[1] or kinds[1] != kinds[2] or not kinds[0]:
            return
        bb_bytes = allocation.bb_bytes if allocation.storages else 0
        gained = self._fit(Job("more", 0, 0.0, 1.0, 1, bb_bytes, allocation.io_rate))
        if gained is not None:
            self.book.expand(job_id, gained, self.now_s, self.now_s + until)
            for kind in KINDS:
                self.granted[job_id][kind] |= set(gained.nodes)

    @precondition(lambda self: self.granted)
    @rule(data=st.data(), covering=coverings, after=st.sampled_from([0.0, 2.0, 8.0]))
    def expect(self, data: Any, covering: Resource, after: float) -> None:
        """Something is expected back at another time."""
        job_id = data.draw(st.sampled_from(sorted(self.granted)))
        self.book.expect(job_id, self.now_s + after, self.now_s, covering)

    @precondition(lambda self: self.granted)
    @rule(data=st.data())
    def end(self, data: Any) -> None:
        """A job has ended."""
        job_id = data.draw(st.sampled_from(sorted(self.granted)))
        del self.granted[job_id]
        ended = self.book.end(job_id, self.now_s)
        self.book.account_end(ended, STATES.index(JobState.COMPLETED_SUCCESSFULLY), self.now_s)
        assert self.book.finished()[-1].id == job_id
        assert all(part.start_s <= part.end_s for part in (*ended.apart, *ended.past))

    @rule(data=st.data(), available=st.booleans())
    def machine_event(self, data: Any, available: bool) -> None:
        """Nodes and storage nodes go away or come back, in use or not."""
        nodes = data.draw(st.sets(st.integers(0, 5), max_size=3))
        storages = data.draw(st.sets(st.integers(0, 2), max_size=2))
        (self.book.open if available else self.book.close)(sorted(nodes), sorted(storages), self.now_s)

    @rule(storage=st.integers(0, 2), drained=st.sampled_from([0, 0, 3, 10, 19, 20]))
    def drain(self, storage: int, drained: int) -> None:
        """A part of a storage node is drained, or returns, in use or not, out or not."""
        self.book.drain(storage, drained, self.now_s)

    @rule(step=st.sampled_from([0.25, 1.0, 3.0, 20.0]))
    def advance(self, step: float) -> None:
        """Time passes; late jobs are booked for longer. Allocations held now are counted for this step."""
        holders = [running.job for running in self.book.running.values()] + list(self.waiting.values())
        for job in holders:
            held = self.book.parts_of(job.id)
            assert held is not None
            sums = self.used.setdefault(job.user, [0.0, 0.0])
            sums[0] += step * len(held.nodes.nodes)
            sums[1] += step * len(held.storage.storages) * held.storage.bb_bytes
        self.now_s += step
        self.book.advance(self.now_s)

    @invariant()
    def all_agree(self) -> None:
        """The book's own check; the book holds the test's allocations; both agree on free resources now, kind by
        kind."""
        if not hasattr(self, "book"):
            return
        self.book.advance(self.now_s)
        self.book.check()
        timeline = self.book.timeline
        assert len(self.book.free_nodes()) == timeline.free_nodes_now()
        assert min(timeline.free_storage_now()) >= 0
        assert self.book.held.keys() == self.waiting.keys()
        assert self.book.running.keys() == self.granted.keys()
        usage = self.book.usage(tuple(self.waiting.values()), self.now_s)
        for user, sums in self.used.items():
            assert [usage[user].node_seconds, usage[user].buffer_byte_seconds] == sums, user
        assert not any(part.node_seconds for user, part in usage.items() if user not in self.used)
        for job_id, holds in self.granted.items():
            held = self.book.parts_of(job_id)
            assert held is not None
            assert set(held.nodes.nodes) == holds[Resource.NODES]
            if held.storage.storages:
                assert set(held.storage.nodes) == holds[Resource.BURST_BUFFERS]
        if not self.waiting and not self.granted and not self.book.kept:
            left = [0 if one in self.book.storages_out else 20 - self.book.drained.get(one, 0) for one in range(3)]
            assert timeline.free_storage_now() == left, "burst buffers leaked"
            assert timeline.free_bandwidth_now() == [30, 20], "bandwidth leaked"


TestBookHistory = BookHistory.TestCase
TestBookHistory.settings = settings(max_examples=60, stateful_step_count=30)
