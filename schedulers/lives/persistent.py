"""Persistent burst buffers, around any policy: created and destroyed in the order of the jobs that request it.

A policy sees a job once its requests are done: the buffers that it creates or uses exist, those that it destroys before
its run are gone. A buffer that does not fit now is booked, without end, for the earliest time at which it fits, before
the policy decides: thus jobs that respect bookings cannot delay it for ever.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from spillway.core import Resource
from spillway.schedulers.model.decisions import Create, Decision, Destroy, Finish, Reject, Start
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.persistent import Creation, Pool, as_request
from spillway.schedulers.policykit.holds import book_buffer
from spillway.schedulers.policykit.user_limit import held_bytes
from spillway.schedulers.policykit.view import PolicyWrapper, View


def _nothing(view: View) -> None:
    """Make no bookings before creations."""


@dataclass(frozen=True)
class PersistentBufferPolicy(PolicyWrapper):
    """A policy that sees a job only once its requests for persistent buffers are done: itself a policy.

    Attributes
    ----------
    most_bytes
        Most bytes of burst buffer that one user holds at a time; a creation beyond that waits. 0: no limit.
    keep
        Makes the bookings of a pass that precede creations: those of waiting jobs that hold their buffers.
    """

    most_bytes: int = 0
    keep: Callable[[View], None] = _nothing

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        return self.policy(view) if view.pool is None else self._in_turn(view, view.pool)

    def _in_turn(self, view: View, pool: Pool) -> Iterator[Decision]:
        """Serve requests for persistent buffers, then let the policy see the jobs that wait for no buffer.

        If it rejects jobs and starts no job, perhaps no other message comes: requests that waited for the rejected jobs
        are served or rejected in another turn.
        """
        while True:
            turn = _RequestPass(view, pool, self.most_bytes)
            while turn.progressed:
                turn.progressed = False
                self.keep(view)
                yield from turn.round()
                if not turn.progressed:
                    yield from turn.without_hope()
            shown = tuple(job for job in view.queue if job.id not in turn.hidden)
            rejected, starts = set[str](), False
            for decision in self.policy(view.showing(shown, view.held)):
                starts = starts or isinstance(decision, Start)
                if isinstance(decision, Reject):
                    rejected.add(decision.job.id)
                yield decision
            if starts or not rejected:
                return
            rejected |= turn.gone
            view = view.again(tuple(job for job in view.queue if job.id not in rejected))


class _NamedBuffers(NamedTuple):
    """Numbers of waiting and running jobs by buffer; in the first two tables, requests already done do not count."""

    creators: dict[str, list[int]]
    destroyers: dict[str, list[int]]
    all: dict[str, list[int]]


class _RequestPass:
    """One pass over the requests of waiting jobs for persistent buffers.

    Attributes
    ----------
    gone
        Jobs that ended in this pass: rejected, or finished because they need no nodes.
    hidden
        Jobs that the policy does not see: they wait for a persistent buffer, or have ended.
    progressed
        Whether the last round did something, so that another one may do more.
    """

    def __init__(self, view: View, pool: Pool, most_bytes: int) -> None:
        self._view, self._pool, self._most_bytes = view, pool, most_bytes
        self.gone: set[str] = set()
        self._booked: set[tuple[str, str]] = set()
        self.hidden: set[str] = set()
        self.progressed = True

    def round(self) -> Iterator[Decision]:
        """Serve the requests that can be served now, in the order of the jobs."""
        named = self._named()
        for job in self._view.queue:
            if job.id not in self._pool.requests or job.id in self.gone:
                continue
            waits = False
            for decision in self._steps(job, named):
                if decision is None:
                    waits = True
                    continue
                self.progressed = True
                yield decision
                if isinstance(decision, Destroy):  # its bytes are free now, for earlier jobs first
                    self._view.renew()
                    self._booked.clear()
                    return
                if isinstance(decision, Reject | Finish):
                    self.gone.add(job.id)
                    break
            if job.id in self.gone or waits:
                self.hidden.add(job.id)
            else:
                self.hidden.discard(job.id)
            if waits and job.id not in self.gone and self._view.notes is not None:
                self._view.notes.write(job.id, Role.PASSED_OVER, Binding.PERSISTENT)

    def without_hope(self) -> Iterator[Decision]:
        """Reject jobs that would wait for ever: no job runs that could free bytes, and no more jobs are submitted.

        Jobs that hold their own buffers free nothing either while they wait for persistent ones.
        """
        view, pool = self._view, self._pool
        if pool.more_jobs or view.running or pool.unused() or pool.outs.storages_out or pool.outs.drained:
            return
        if not view.held.keys() <= self.hidden:
            return
        waiting = [job for job in view.queue if job.id not in self.gone]
        ready = [job for job in waiting if job.id not in self.hidden]
        for job in ready:
            reason = self._no_room(job)
            if reason is not None:
                yield from self._reject(job, reason)
        if ready:  # the policy decides on these later
            return
        for job in waiting:
            blocked = [create for create in pool.requests[job.id].creates if (job.id, create.name) not in pool.done]
            if blocked:
                yield from self._reject(
                    job, f"no room for the persistent buffer {blocked[0].name} {self._held_words()}"
                )
                return

    def _no_room(self, job: Job) -> str | None:
        """Return the reason why a job never gets its own burst buffer beside the persistent ones, or ``None``."""
        if not job.bb_bytes or not self._pool.buffers:
            return None
        if self._over_limit(job, job.requests * job.bb_bytes):
            return f"its user may hold no burst buffer of {job.requests * job.bb_bytes} bytes {self._held_words()}"
        request = replaced(job, lives=None)
        if self._view.timeline.earliest_fit(request, 0.0, covering=Resource.BURST_BUFFERS) is not None:
            return None
        return f"no room for its burst buffer {self._held_words()}"

    def _held_words(self) -> str:
        return f"beside {', '.join(sorted(self._pool.buffers))}, and nothing more will be given back"

    def _reject(self, job: Job, reason: str) -> Iterator[Decision]:
        self.progressed = True
        self.gone.add(job.id)
        self.hidden.add(job.id)
        yield Reject(job, reason)

    def _steps(self, job: Job, named: _NamedBuffers) -> Iterator[Decision | None]:
        """Yield the next decisions for a job, in order; ``None`` for each request that has to wait."""
        pool, requests, waits = self._pool, self._pool.requests[job.id], False
        for creation in requests.creates:
            if (job.id, creation.name) not in pool.done:
                step = self._creation(job, creation, named)
                waits = waits or step is None
                yield step
        for name in requests.destroys_first:
            if (job.id, name) not in pool.done:
                step = self._destruction(job, name, named)
                waits = waits or step is None
                yield step
        for name in requests.uses:
            if not self._usable(job, name, named):
                waits = True
                yield self._never_possible(job, name, named)
        if not job.nodes and not waits:
            yield Finish(job)

    def _creation(self, job: Job, creation: Creation, named: _NamedBuffers) -> Decision | None:
        name = creation.name
        existing = self._pool.buffers.get(name)
        if existing is not None:
            if _earlier(named.destroyers, name, job):
                return None
            return Reject(job, f"the persistent buffer {name} exists already: job {existing.creator} created it")
        size = creation.stripes * creation.bb_bytes
        if self._most_bytes and job.user and size > self._most_bytes:
            return Reject(job, f"persistent buffer {name}: {size} bytes > {self._most_bytes} of bb_user_limit")
        if _earlier(named.creators, name, job) or (job.id, name) in self._booked or self._over_limit(job, size):
            return None
        fit = book_buffer(self._view, as_request(job, creation), math.inf)
        if fit is None:  # storage nodes are out
            return None
        if fit.start_s > self._view.now_s:
            self._booked.add((job.id, name))
            return None
        return Create(job, name, fit.allocation)

    def _destruction(self, job: Job, name: str, named: _NamedBuffers) -> Decision | None:
        existing = self._pool.buffers.get(name)
        if existing is None:
            if _earlier(named.creators, name, job):
                return None
            return Reject(job, f"there is no persistent buffer {name} to destroy, and no earlier job creates it")
        if existing.user and job.user and existing.user != job.user:
            return Reject(job, f"the persistent buffer {name} belongs to user {existing.user}, not to {job.user}")
        if _earlier(named.all, name, job):
            return None
        return Destroy(job, name)

    def _usable(self, job: Job, name: str, named: _NamedBuffers) -> bool:
        buffer = self._pool.buffers.get(name)
        if buffer is None or _earlier(named.destroyers, name, job):
            return False
        return self._pool.outs.storages_out.isdisjoint(buffer.allocation.storages)

    def _never_possible(self, job: Job, name: str, named: _NamedBuffers) -> Decision | None:
        """Reject a job that uses a buffer which will never exist."""
        if self._pool.more_jobs or name in self._pool.buffers or named.creators.get(name):
            return None
        return Reject(job, f"there is no persistent buffer {name}, and no job that would create it")

    def _over_limit(self, job: Job, size: int) -> bool:
        """Whether another ``size`` bytes would exceed the limit of the job's user."""
        if not self._most_bytes or not job.user:
            return False
        return held_bytes(self._view).get(job.user, 0) + size > self._most_bytes

    def _named(self) -> _NamedBuffers:
        pool, named = self._pool, _NamedBuffers({}, {}, {})
        jobs = [job for job in self._view.queue if job.id not in self.gone]
        for job in (*jobs, *(running.job for running in self._view.running)):
            requests = pool.requests.get(job.id)
            if requests is None:
                continue
            creates = [create.name for create in requests.creates]
            for table, names in ((named.creators, creates), (named.destroyers, requests.destroys)):
                for name in names:
                    at_its_end = table is named.destroyers and name in requests.uses
                    if at_its_end or (job.id, name) not in pool.done:
                        table.setdefault(name, []).append(job.number)
            for name in (*creates, *requests.uses, *requests.destroys):
                named.all.setdefault(name, []).append(job.number)
        for name, job in pool.to_destroy.items():
            named.destroyers.setdefault(name, []).append(job.number)
        return named


def _earlier(table: Mapping[str, list[int]], name: str, job: Job) -> bool:
    """Whether an earlier job is in a table under this name."""
    return min(table.get(name, (job.number,))) < job.number
