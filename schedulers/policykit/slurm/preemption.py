"""Preemption around any policy: running jobs release resources for waiting jobs, by the site's rules.

Jobs that may preempt others come first, in the order of the site's priorities. Each starts if it fits, else it
preempts: running jobs that it may preempt are chosen, lowest tier or priority of QOS first, of equals the youngest,
until it fits; those that are not needed are spared, highest first. Where no choice suffices no job is preempted, and
the job and those behind it in its partition are left to the policy. The allocation promised to a job is booked until
the preempted jobs have ended; then it starts before all others. A job preempts once.

References
----------
SchedMD, *Preemption*; *Scheduling Configuration Guide*: jobs that can preempt are considered first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spillway.core import Fit, Resource
from spillway.schedulers.model.decisions import Decision, Hold, Preempt, Start, WakeAt
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.preemption import SUSPEND, Group, Preemption, SuspendedState
from spillway.schedulers.policykit.holds import fit_now
from spillway.schedulers.policykit.ordering import MULTIFACTOR, ordered
from spillway.schedulers.policykit.passes import start_on
from spillway.schedulers.policykit.view import PolicyWrapper, Running, View

_MEMORY = "preempting"
"""Key of the notebook: claims, jobs that have preempted, the last requested call."""

_LATE_S = 1e-3
"""Seconds for which resources of a job that is being killed are booked at a time."""

_EXACT_S = 1e-6


_Candidate = tuple[Running, Group]
"""A running job that may be preempted, and the rules of its partition or QOS for that."""


class _Claim(NamedTuple):
    """Allocation promised to a waiting job.

    Attributes
    ----------
    job
        The job.
    allocation
        The promised allocation.
    victims
        Ids of the preempted jobs.
    due_s
        Time when the last of them is killed (s).
    """

    job: Job
    allocation: Allocation
    victims: frozenset[str]
    due_s: float


@dataclass(slots=True)
class _Memory:
    """State between passes: claims by job id, jobs that have preempted, time of the last requested call (s)."""

    claims: dict[str, _Claim]
    spent: set[str]
    called_s: float = -math.inf


class _Choice(NamedTuple):
    """Jobs to preempt, with the rules of each, and the waiting job's allocation then."""

    victims: Sequence[_Candidate]
    allocation: Allocation


@dataclass(frozen=True)
class PreemptionPolicy(PolicyWrapper):
    """A policy under a site's preemption: itself a policy.

    Attributes
    ----------
    rules
        Which jobs may preempt which; at least some may.
    stages_first
        Whether jobs hold their burst buffers before their nodes; then they preempt once their buffers are filled.
    due
        Whether a policy that starts jobs only at certain times does so in this pass; ``None``: it does in every pass.
    """

    rules: Preemption
    stages_first: bool = False
    due: Callable[[View], bool] | None = None

    def __call__(self, view: View) -> Iterator[Decision]:
        """Run one pass: start jobs with claims, preempt, then let the policy decide on the others."""
        memory = _memory(view)
        served: set[str] = set()
        suspended = {job.id for job in _suspended(view.queue)} if self.rules.suspends else set[str]()
        if memory.claims or suspended:
            self.keep(view)
            yield from self._claimed(view, memory, served)
            yield from _resumed(view)
        if view.vacate is None:
            yield from self.policy(_hiding(view, suspended))
            return
        first = self._first(view, memory)
        if first and (self.due is None or self.due(view)):
            for decision in self._serve(view, first, memory):
                if not isinstance(decision, WakeAt):
                    served.add(decision.job.id if isinstance(decision, Start) else decision.by.id)
                yield decision
        filled = set[str]()
        for start in self.policy(_hiding(view, served | memory.claims.keys() | suspended)):
            yield start
            if isinstance(start, Start):
                filled.discard(start.job.id)
            elif isinstance(start, Hold) and start.job.id in view.filled_s and self.rules.height(start.job):
                filled.add(start.job.id)
        if filled and self.due is None:  # filled at once, without a message: jobs were considered before that
            yield WakeAt(view.now_s + _LATE_S)

    def keep(self, view: View) -> None:
        """Book promised allocations in the pass's timeline, except those already booked.

        A promise is dropped if some of its resources have gone out.
        """
        memory = _memory(view)
        waiting = {job.id for job in view.waiting} if memory.claims else ()
        running = {running_job.job.id: running_job for running_job in view.running} if memory.claims else {}
        for job_id, claim in list(memory.claims.items()):
            if job_id in view.reservations:
                continue
            left = [running[victim].allocation for victim in claim.victims if victim in running]
            if job_id not in waiting or not _booked(view, claim, left):
                del memory.claims[job_id]
        if self.rules.suspends:
            self._keep_suspended(view, memory)

    def _keep_suspended(self, view: View, memory: _Memory) -> None:
        """Book the resources of suspended jobs, nodes from the expected ends of the jobs that use them.

        Of two suspended jobs with the same nodes the one with more power to preempt resumes first.
        """
        users = [(running_job.allocation, running_job.end_s) for running_job in view.running]
        for claim in memory.claims.values():
            end_s = max(claim.due_s, view.now_s) + view.estimate_s(claim.job)
            users.append((claim.allocation, end_s))
        for job in sorted(_suspended(view.waiting), key=lambda job: (-self.rules.height(job), job.number)):
            nodes = set(job.left.allocation.nodes)
            before = [(used, end_s) for used, end_s in users if not nodes.isdisjoint(used.nodes)]
            due_s = max((end_s for _, end_s in before), default=view.now_s)
            users.append((job.left.allocation, max(due_s, view.now_s) + view.estimate_s(job)))
            if job.id not in view.reservations:
                _keep_part(view, job, due_s, {node for used, _ in before for node in used.nodes})

    # ------------------------------------------------------------------ claims

    def _claimed(self, view: View, memory: _Memory, served: set[str]) -> Iterator[Start]:
        """Start jobs with claims once their preempted jobs have ended."""
        queue = {job.id: job for job in view.queue}
        for job_id, claim in list(memory.claims.items()):
            if view.reservations[job_id].start_s > view.now_s:
                if view.notes is not None:
                    view.notes.write(job_id, Role.RESERVED, Binding.PREEMPTED, max(claim.due_s, view.now_s))
                continue
            del memory.claims[job_id]
            if job_id in queue and not _taken(view, claim):  # else it may hold no buffer now
                served.add(job_id)
                if view.notes is not None:
                    view.notes.write(job_id, Role.STARTED, estimate_s=view.now_s)
                yield Start(queue[job_id], claim.allocation)

    # ------------------------------------------------------------------ preempting

    def _first(self, view: View, memory: _Memory) -> list[Job]:
        """Waiting jobs that may preempt others, and could use their nodes."""
        return [job for job in view.queue if self.rules.height(job) and self._may_start(view, job, memory)]

    def _may_start(self, view: View, job: Job, memory: _Memory) -> bool:
        """Whether a waiting job needs only nodes, with the resources that come with them, and has no claim."""
        if job.id in memory.claims or job.id in view.reservations:
            return False
        first = job.bb_bytes > 0 and (self.stages_first or (job.lives is not None and job.lives.storage_lead_s > 0))
        return not first or job.id in view.filled_s

    def _serve(self, view: View, jobs: Iterable[Job], memory: _Memory) -> Iterator[Start | Preempt | WakeAt]:
        """Start jobs or preempt others for them, in each partition up to the first for which neither is possible."""
        blocked, calls = set[tuple[int, ...]](), list[float]()
        found = sorted(ordered(view, jobs, MULTIFACTOR), key=lambda job: -self.rules.height(job))
        for job in found:
            for way in self.rules.ways(job):
                if way in blocked:
                    continue
                here = job if len(job.partitions) < 2 else replaced(job, partitions=way)
                allocation = fit_now(view, here, view.estimate_s(job))
                if allocation is not None:
                    yield start_on(view, job, allocation)
                    break
                choice = self._choose(view, here, way, memory, calls) if job.id not in memory.spent else None
                if choice is not None:
                    yield from self._make_room(view, job, way, choice, memory)
                    break
                blocked.add(way)
        following = min((time_s for time_s in calls if time_s > view.now_s + _EXACT_S), default=math.inf)
        if following < math.inf and following != memory.called_s:
            memory.called_s = following
            yield WakeAt(following)

    def _make_room(
        self, view: View, job: Job, way: tuple[int, ...], choice: _Choice, memory: _Memory
    ) -> Iterator[Preempt]:
        """Preempt the chosen jobs, and book the claim."""
        assert view.vacate is not None
        memory.spent.add(job.id)
        claim = memory.claims[job.id] = _Claim(
            job,
            choice.allocation,
            frozenset(victim.job.id for victim, _ in choice.victims),
            _due_s(view, choice.victims),
        )
        for victim, group in choice.victims:
            view.vacate(view.timeline, victim.job.id, view.now_s + max(group.grace_s, _LATE_S), _given_back(group))
            yield Preempt(victim.job, job, way)
        self.keep(view)
        if view.notes is not None:
            view.notes.write(job.id, Role.RESERVED, Binding.PREEMPTED, claim.due_s)

    def _choose(
        self, view: View, job: Job, way: tuple[int, ...], memory: _Memory, calls: list[float]
    ) -> _Choice | None:
        """Running jobs to preempt for a job now, else ``None``; appends times when others could be to ``calls``."""
        assert view.vacate is not None
        told = {victim for claim in memory.claims.values() for victim in claim.victims}
        candidates: list[_Candidate] = []
        for running_job in view.running:
            if not running_job.allocation.nodes or running_job.job.id in told:
                continue
            group = self.rules.group(running_job.job, running_job.allocation.nodes)
            if not self.rules.may(job, way, group):
                continue
            exempt_s = running_job.start_s + max(group.exempt_s, _LATE_S)  # jobs that have just started are exempt
            if exempt_s > view.now_s + _EXACT_S:
                calls.append(exempt_s)
            else:
                candidates.append((running_job, group))
        candidates.sort(key=lambda pair: self._rank(*pair))
        before = view.timeline.snapshot()
        try:
            return _fewest(view, job, candidates)
        finally:
            view.timeline.restore(before)

    def _rank(self, one: Running, group: Group) -> tuple[float, ...]:
        """Sort key: lower ones are preempted first."""
        rank = 0 if self.rules.youngest_first else group.rank
        return rank, -one.start_s, -one.job.number


@dataclass(frozen=True)
class PromisePolicy(PolicyWrapper):
    """A policy around preemption that books promised allocations before any decision.

    Attributes
    ----------
    keep
        Books them (:meth:`PreemptionPolicy.keep`).
    """

    keep: Callable[[View], None]

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        self.keep(view)
        return self.policy(view)


def _memory(view: View) -> _Memory:
    found: _Memory = view.notebook.setdefault(_MEMORY, _Memory({}, set()))
    return found


def _fewest(view: View, job: Job, candidates: Sequence[_Candidate]) -> _Choice | None:
    """The first candidates that suffice for a job, without those not needed; changes the timeline."""
    if not candidates:
        return None
    nothing = view.timeline.snapshot()
    if _fit(view, job, candidates) is None:
        return None
    view.timeline.restore(nothing)
    low, high = 1, len(candidates)
    while low < high:  # the job fits with all further candidates, too
        middle = (low + high) // 2
        fits = _fit(view, job, candidates[:middle]) is not None
        view.timeline.restore(nothing)
        low, high = (low, middle) if fits else (middle + 1, high)
    chosen = list(candidates[:low])
    for candidate in reversed(candidates[: low - 1]):
        fewer = [other for other in chosen if other is not candidate]
        if _fit(view, job, fewer) is not None:
            chosen = fewer
        view.timeline.restore(nothing)
    allocation = _fit(view, job, chosen)
    if allocation is None:
        return None
    return _Choice(chosen, allocation)


def _due_s(view: View, chosen: Iterable[_Candidate]) -> float:
    """Time when the last of some jobs is killed if they are chosen now (s)."""
    return view.now_s + max(group.grace_s for _, group in chosen)


def _fit(view: View, job: Job, chosen: Sequence[_Candidate]) -> Allocation | None:
    """Allocation of a job without these jobs, also until their ends; frees their resources in the timeline."""
    assert view.vacate is not None
    for running, group in chosen:
        view.vacate(view.timeline, running.job.id, view.now_s, _given_back(group))
    later_s = _due_s(view, chosen) - view.now_s + _LATE_S
    return fit_now(view, job, later_s + view.estimate_s(job))


def _given_back(group: Group) -> Resource:
    """Resources that a preempted job releases: a suspended one keeps its burst buffer and its amounts of pools."""
    return Resource.NODES | Resource.BANDWIDTH if group.mode == SUSPEND else Resource.ALL


def _suspended(jobs: Iterable[Job]) -> Iterator[Job]:
    """The suspended jobs among waiting jobs."""
    return (job for job in jobs if isinstance(job.left, SuspendedState))


def _hiding(view: View, hidden: Collection[str]) -> View:
    """A view of the pass without some of the waiting jobs."""
    if not hidden:
        return view
    return view.showing(tuple(job for job in view.queue if job.id not in hidden), view.held)


def _keep_part(view: View, job: Job, due_s: float, used: Collection[int]) -> None:
    """Book the resources of a suspended job; those of its nodes that are ``used`` from ``due_s`` on.

    Books nothing if the job cannot resume then because some of its resources are out or taken.
    """
    timeline, given, now_s = view.timeline, job.left.allocation, view.now_s
    start_s = max(due_s, now_s) + _LATE_S if used else now_s
    before = timeline.snapshot()
    try:
        if used:
            nodes = tuple(node for node in given.nodes if node not in used)
            timeline.reserve(now_s, start_s, replaced(given, nodes=nodes, io_rate=0), ~Resource.BANDWIDTH)
        timeline.reserve(start_s, start_s + view.estimate_s(job), given)
    except ValueError:
        timeline.restore(before)
        return
    view.reservations[job.id] = Fit(start_s, given)


def _resumed(view: View) -> Iterator[Start]:
    """Resume suspended jobs if their nodes are free again."""
    for job in _suspended(view.queue):
        fit = view.reservations.get(job.id)
        if fit is not None and fit.start_s <= view.now_s:
            if view.notes is not None:
                view.notes.write(job.id, Role.STARTED, estimate_s=view.now_s)
            yield Start(job, fit.allocation)
        elif fit is not None and view.notes is not None:
            view.notes.write(job.id, Role.RESERVED, Binding.SUSPENDED, fit.start_s)


def _booked(view: View, claim: _Claim, left: Sequence[Allocation]) -> bool:
    """Book a claim in the pass's timeline, from now or from the end of the victims ``left``; return whether it fits.

    Until then no other job gets the nodes, bytes and amounts of pools that it needs beside those of the victims.
    """
    timeline, given, now_s = view.timeline, claim.allocation, view.now_s
    held = view.held.get(claim.job.id)
    covering = Resource.ALL if held is None else ~Resource.BURST_BUFFERS
    start_s = max(claim.due_s, now_s) + _LATE_S if left else now_s
    before = timeline.snapshot()
    try:
        for part, kinds in _beside(given, left, covering) if left else ():
            timeline.reserve(now_s, start_s, part, kinds)
        timeline.reserve(start_s, start_s + view.estimate_s(claim.job), given, covering)
    except ValueError:
        timeline.restore(before)
        return False
    view.reservations[claim.job.id] = Fit(start_s, given)
    return True


def _taken(view: View, claim: _Claim) -> bool:
    """Whether a job that started now would run into taken nodes: the preempted jobs may have ended late."""
    end_s = view.now_s + view.estimate_s(claim.job)
    return any(
        taken_nodes.start_s < end_s
        and view.now_s < taken_nodes.end_s
        and not taken_nodes.nodes.isdisjoint(claim.allocation.nodes)
        for taken_nodes in view.taken
    )


def _beside(given: Allocation, left: Sequence[Allocation], covering: Resource) -> Iterator[tuple[Allocation, Resource]]:
    """Parts of an allocation not held by jobs that have not ended yet: nodes, bytes, amounts of pools."""
    theirs = {node for allocation in left for node in allocation.nodes}
    yield Allocation(tuple(node for node in given.nodes if node not in theirs)), Resource.NODES
    if Resource.BURST_BUFFERS in covering:
        needed, there = Counter[int](), Counter[int]()
        for storage in given.storages:
            needed[storage] += given.bb_bytes
        for allocation in left:
            for storage in allocation.storages:
                there[storage] += allocation.bb_bytes
        for storage, size in (needed - there).items():
            yield Allocation((), (storage,), size), Resource.BURST_BUFFERS
    if given.pools:
        pools = [allocation.pools for allocation in left if allocation.pools]
        there_of = [sum(pool[place] for pool in pools if place < len(pool)) for place in range(len(given.pools))]
        amounts = [max(0, most - held) for most, held in zip(given.pools, there_of, strict=True)]
        yield Allocation((), pools=tuple(amounts)), Resource.POOLS
