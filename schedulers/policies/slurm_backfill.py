"""Slurm's two schedulers: a main pass in order of priority, and a backfill pass that plans and allocates buffers.

The rules, with what shows each of them in the log of a real slurmctld, stand in ``docs/slurm.md``.

References
----------
Slurm 22.05: *slurm.conf*, ``SchedulerParameters``; *Slurm Burst Buffer Guide*; Yoo, Jette, Grondona, *SLURM: Simple
Linux Utility for Resource Management*, JSSPP 2003 (DOI 10.1007/10968987_3).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import msgspec

from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision, Hold, Start, WakeAt
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.holds import fit_now, try_hold
from spillway.schedulers.policykit.nodespace import NodeSpace, Plan, consecutive, mask_of, members
from spillway.schedulers.policykit.ordering import CHANGING, ORDER_NAMES, ordered, ordered_in_partitions
from spillway.schedulers.policykit.passes import binding_now, start_on
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline import Resource

WOKEN = "slurm woken"
"""Key of the notebook: the time for which the next pass is called."""

PASSES = "slurm passes"
"""Key of the notebook: when each scheduler has its next pass (s)."""

_LAST_MAIN = "slurm last main pass"
"""Key of the notebook: for when the last main pass was planned (s)."""

_WAITED = "slurm waited"
"""Key of the notebook: whether jobs waited when the last call was over, so that a pass planned for them is due."""

_VAIN = "slurm in vain"
"""Key of the notebook: what was seen while nothing ran, and the schedulers whose passes came to nothing then."""

_REASONS = "slurm reasons"
"""Key of the notebook: jobs that the main pass last passed over because of their buffer."""

PLANNED = "slurm planned"
"""Key of the notebook: expected starts of waiting jobs, as the last pass that looked at each left them."""

MAIN, BACKFILL = _SCHEDULERS = ("main", "backfill")

_LOOP_S = 1.0
"""How often Slurm's controller looks whether something has happened since the last main pass, s."""

EXACT_S = 1e-6
"""Two times that differ by less are the same instant."""


class _Pair(NamedTuple):
    """A job in one of its partitions, with the nodes there (all bits: any); -1 where the site has no partitions."""

    job: Job
    partition: int
    nodes: int


class _Rules(NamedTuple):
    """Where releases of Slurm differ.

    Attributes
    ----------
    apart
        Whether jobs that the main pass last passed over because of their buffer may plan over others' reservations.
    ends_up
        Whether ends of reservations are rounded up; else down, as begins are.
    """

    apart: bool
    ends_up: bool


RELEASES: Mapping[str, _Rules] = {"22.05": _Rules(apart=True, ends_up=False), "24.11": _Rules(False, True)}
"""Releases of Slurm whose rules are played."""


class Recorded(NamedTuple):
    """When the two schedulers had their passes, s, ascending."""

    main: tuple[float, ...]
    backfill: tuple[float, ...]


@dataclass(frozen=True)
class SlurmBackfill:
    """Start in order of priority up to the first job that lacks nodes; backfill around reservations of all others."""

    source: ClassVar[str] = "Slurm 22.05, sched/backfill and burst_buffer/lua"

    order: str = option("fcfs", choices=ORDER_NAMES, help="order of priority; PriorityType=priority/basic: fcfs")
    bf_interval: float = option(30.0, unit="s", low=0.01, high=1e6, help="time between two backfill passes")
    bf_max_job_test: int = option(500, unit="jobs", low=1, high=1_000_000, help="jobs that a backfill pass looks at")
    bf_window: float = option(
        1440.0, unit="min", low=1.0, high=1e7, help="how far ahead a backfill pass plans: later starts get no nodes"
    )
    bf_resolution: float = option(
        60.0,
        unit="s",
        low=0.001,
        high=1e6,
        help="planned intervals begin and end at whole multiples of it, rounded down",
    )
    sched_interval: float = option(
        60.0, unit="s", low=0.01, high=1e6, help="time between two main passes, where nothing happens"
    )
    batch_sched_delay: float = option(
        3.0, unit="s", low=0.0, high=1e6, help="least time between two main passes, where something has happened"
    )
    bf_licenses: bool = option(
        False, help="whether backfill passes plan licenses; else a job that lacks some reserves nothing"
    )
    release: str = option("22.05", choices=tuple(RELEASES), help="release of Slurm whose rules are played")
    bf_phase: float = option(0.0, unit="s", low=0.0, high=1e6, help="time of a first backfill pass")
    sched_phase: float = option(0.0, unit="s", low=0.0, high=1e6, help="time of a first main pass")
    recorded: Recorded | None = None
    """Times of passes as a real Slurm had them, regular ones after the last: for comparisons with it."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """One call where jobs hold their buffers as long as their nodes."""
        return self._call(view, apart=False)

    def with_buffers_first(self, view: View) -> Iterable[Decision]:
        """One call where jobs are given their buffers before their nodes, which this policy does itself."""
        return self._call(view, apart=True)

    def _call(self, view: View, *, apart: bool) -> Iterator[Decision]:
        """Run the passes that are due; be called for the next one while jobs wait."""
        if not view.queue:
            view.notebook.pop(PLANNED, None)
            view.notebook[_WAITED] = False
            return
        passes = self._passes(view)
        view.notebook[_WAITED] = True
        due = [name for name in _SCHEDULERS if passes[name] <= view.now_s + EXACT_S]
        if due:
            one, decided = _Pass(view, apart, self.order), False
            for name in due:
                for decision in self._main(one) if name == MAIN else self._backfill(one):
                    decided = True
                    yield decision
                passes[name] = self._pass_from(name, view.now_s + 2 * EXACT_S)
            view.notebook[_WAITED] = bool(one.waiting)
            if not decided and self._in_vain(view, due):
                view.notebook[_WAITED] = False
                return
        next_s = min(passes.values())
        if next_s != view.notebook.get(WOKEN):
            view.notebook[WOKEN] = next_s
            yield WakeAt(next_s)

    def _in_vain(self, view: View, due: Iterable[str]) -> bool:
        """Whether passes that came to nothing would do so for ever: nothing runs or stages in, both schedulers have had
        a pass since anything changed, and the order of priority does not change with time.
        """
        if view.running or self.order in CHANGING or not view.held.keys() <= view.filled_s.keys():
            return False
        timeline = view.timeline
        free = timeline.free_nodes_now(), timeline.free_storage_now()
        seen = ([job.id for job in view.queue], view.unavailable, *free, set(view.held))
        before, names = view.notebook.get(_VAIN, (None, ()))
        found = {*due, *(names if before == seen else ())}
        view.notebook[_VAIN] = seen, found
        return len(found) == len(_SCHEDULERS)

    # ------------------------------------------------------------------ when

    def _passes(self, view: View) -> dict[str, float]:
        """Time of each scheduler's next pass; something may have happened, for which there is a main pass soon.

        A pass that jobs waited for is due whenever the call for it comes: messages take time, and wait for each other.
        """
        now_s = view.now_s
        passes: dict[str, float] = view.notebook.setdefault(PASSES, {})
        for name in _SCHEDULERS:
            if name not in passes or (passes[name] < now_s - EXACT_S and not view.notebook.get(_WAITED)):
                passes[name] = self._pass_from(name, now_s)
        if self.recorded is None:
            earliest_s = max(now_s, view.notebook.get(_LAST_MAIN, -math.inf) + self.batch_sched_delay)
            loops = math.ceil((earliest_s - EXACT_S - self.sched_phase) / _LOOP_S)
            passes[MAIN] = min(passes[MAIN], self.sched_phase + loops * _LOOP_S)
        if passes[MAIN] <= now_s + EXACT_S:
            view.notebook[_LAST_MAIN] = min(passes[MAIN], now_s)
        return passes

    def _pass_from(self, name: str, time_s: float) -> float:
        """A scheduler's first planned pass at a time or later (s)."""
        interval_s, first_s = self._regular(name)
        times: tuple[float, ...] = getattr(self.recorded, name) if self.recorded is not None else ()
        if times:
            index = bisect.bisect_left(times, time_s - EXACT_S)
            if index < len(times):
                return times[index]
            first_s = times[-1] + interval_s
        return first_s + max(0, math.ceil((time_s - EXACT_S - first_s) / interval_s)) * interval_s

    def _regular(self, name: str) -> tuple[float, float]:
        """Interval and first time of a scheduler's planned passes (s)."""
        if name == MAIN:
            return self.sched_interval, self.sched_phase
        return self.bf_interval, self.bf_phase

    # ------------------------------------------------------------------ the main pass

    def _main(self, one: _Pass) -> Iterator[Decision]:
        """Start in order, in each partition up to the first job that lacks nodes; each job before gets its buffer if it
        fits.

        What a job lacks nodes for keeps its partition's nodes from the jobs of other partitions, too. One that lacks
        something counted is passed over; where backfill passes plan licenses and it lacks these, the pass ends.
        """
        unseen, ended, nodes_left = False, set[int](), -1
        for pair in one.pairs:
            job = pair.job
            if job not in one.waiting or pair.partition in ended:
                continue
            one.reasons.discard(job.id)
            if one.lacks_counted(job, licenses=False):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
            elif one.lacks_counted(job, licenses=True):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
                if self.bf_licenses:
                    break
            elif one.lacks_buffer(job):
                one.reasons.add(job.id)
                hold = one.try_hold(job)
                if hold is not None:
                    yield hold
                elif job.id not in one.planned:
                    one.planned[job.id], unseen = one.view.now_s, True
            elif one.stages_in(job):
                one.reasons.add(job.id)
            else:
                start = one.try_start(pair, one.space.idle & nodes_left, Role.STARTED)
                if start is None:
                    one.note(job, Role.PASSED_OVER)
                    ended.add(pair.partition)
                    nodes_left &= ~pair.nodes
                    if not nodes_left:
                        break
                else:
                    yield start
        if unseen:
            yield from one.hold_by_start()

    # ------------------------------------------------------------------ the backfill pass

    def _backfill(self, one: _Pass) -> Iterator[Decision]:
        """Start what fits now, reserve for what does not, give buffers in order of the expected starts."""
        now_s = one.view.now_s
        one.planned.clear()
        for pair in one.pairs_of_waiting()[: self.bf_max_job_test]:
            job = pair.job
            if job not in one.waiting:
                continue
            if one.lacks_counted(job, licenses=False) or (
                not self.bf_licenses and one.lacks_counted(job, licenses=True)
            ):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
                continue
            plan = self._plan(one, pair)
            if plan is None:
                continue
            one.planned[job.id] = min(plan.start_s, one.planned.get(job.id, math.inf))
            if plan.start_s <= now_s:
                if one.lacks_buffer(job):
                    continue
                start = None if one.stages_in(job) else one.try_start(pair, plan.nodes, Role.BACKFILLED)
                if start is not None:
                    yield start
                    continue
            if plan.start_s <= now_s + 60.0 * self.bf_window:
                one.reserve(job, plan, *self._kept(one, job, plan.start_s))
                if self.bf_licenses:
                    one.reserve_licenses(job, plan.start_s)
        yield from one.hold_by_start()

    def _plan(self, one: _Pass, pair: _Pair) -> Plan | None:
        """Expected start: what is reserved for others and what runs leave enough nodes of the partition then, and the
        licenses that it holds from then to its end.
        """
        view, space, job = one.view, one.space, pair.job
        duration_s = view.estimate_s(job)
        apart = RELEASES[self.release].apart and job.id in one.reasons
        not_before_s = view.now_s
        while not_before_s < math.inf:
            later_s = space.candidate_after(not_before_s)
            nodes = space.unreserved(not_before_s, not_before_s + duration_s) & pair.nodes
            plan = space.will_run(nodes, job.nodes)
            if plan is None:
                not_before_s = later_s
                continue
            start_s = max(plan.start_s, not_before_s)
            if start_s > later_s:
                not_before_s = later_s
                continue
            licensed_s = one.licensed_from(job, start_s) if self.bf_licenses else start_s
            if licensed_s > start_s:
                not_before_s = licensed_s
            elif start_s <= view.now_s:
                return plan
            elif apart or not space.overlaps(*self._kept(one, job, start_s), plan.nodes):
                return Plan(start_s, plan.nodes)
            else:
                not_before_s = start_s if start_s > not_before_s else later_s
        return None

    def _kept(self, one: _Pass, job: Job, start_s: float) -> tuple[float, float]:
        """The interval that is reserved: from the last whole multiple before the start to the last before the end."""
        end_s, up = start_s + one.view.estimate_s(job), RELEASES[self.release].ends_up
        return self._rounded(start_s), -self._rounded(-end_s) if up else self._rounded(end_s)

    def _rounded(self, time_s: float) -> float:
        return math.floor(time_s / self.bf_resolution) * self.bf_resolution if abs(time_s) < math.inf else time_s


def _pairs(view: View, queue: Sequence[Job], order: str) -> list[_Pair]:
    """Jobs in each of their partitions: higher tiers first, then in order of priority."""
    sets = [mask_of(one.nodes) for one in view.machine.partitions]
    if not sets:
        return [_Pair(job, -1, -1) for job in queue]
    return [_Pair(job, place, sets[place]) for job, place in ordered_in_partitions(view, queue, order)]


class _Pass:
    """What a pass knows, and what it does to one job."""

    def __init__(self, view: View, apart: bool, order: str) -> None:
        queue = ordered(view, view.queue, order)
        self.view = view
        self.space = NodeSpace.of(view)
        self.planned: dict[str, float] = view.notebook.setdefault(PLANNED, {})
        self.reasons: set[str] = view.notebook.setdefault(_REASONS, set())
        self.waiting = dict.fromkeys(queue)
        self.pairs = _pairs(view, queue, order)
        self._apart = apart
        self._pools = view.machine.pools

    def pairs_of_waiting(self) -> list[_Pair]:
        """Jobs that wait still, in each of their partitions, in order of priority."""
        return [pair for pair in self.pairs if pair.job in self.waiting]

    def lacks_buffer(self, job: Job) -> bool:
        """Whether a job must be given its buffer before its nodes, and has none yet."""
        return self._apart and job.bb_bytes > 0 and job.id not in self.view.held

    def lacks_counted(self, job: Job, *, licenses: bool) -> bool:
        """Whether there are not enough licenses now; or not enough of what the job's groups may have at a time."""
        if not job.pools:
            return False
        free = self.view.timeline.free_pools_now()
        return any(
            amount > left and pool.license is licenses
            for pool, left, amount in zip(self._pools, free, job.pools, strict=True)
        )

    def _licenses(self, job: Job) -> tuple[int, ...]:
        """What a job needs of the counted pools that are licenses; () for nothing."""
        if not job.pools:
            return ()
        found = tuple(amount * pool.license for pool, amount in zip(self._pools, job.pools, strict=True))
        return found if any(found) else ()

    def licensed_from(self, job: Job, not_before_s: float) -> float:
        """The earliest time from which on a job's licenses are free for as long as it may run (s)."""
        licenses = self._licenses(job)
        if not licenses:
            return not_before_s
        alone = msgspec.structs.replace(job, pools=licenses, partitions=(), lives=None)
        fit = self.view.timeline.earliest_fit(alone, self.view.estimate_s(job), not_before_s, Resource.POOLS)
        return math.inf if fit is None else fit.start_s

    def reserve_licenses(self, job: Job, start_s: float) -> None:
        """Keep a job's licenses from its expected start on, for the rest of the pass."""
        licenses = self._licenses(job)
        if licenses:
            allocation = Allocation((), pools=licenses)
            self.view.timeline.reserve(start_s, start_s + self.view.estimate_s(job), allocation, Resource.POOLS)

    def stages_in(self, job: Job) -> bool:
        """Whether a job's buffer is being filled."""
        if job.id not in self.view.held or job.id in self.view.filled_s:
            return False
        self.note(job, Role.HOLDS_BUFFER, Binding.STAGE_IN)
        return True

    def try_hold(self, job: Job) -> Hold | None:
        """Book and return the buffer of a job if it fits now, else ``None``."""
        hold = try_hold(self.view, job)
        if hold is None:
            self.note(job, Role.PASSED_OVER, Binding.BURST_BUFFERS)
        else:
            self.note(job, Role.HOLDS_BUFFER, Binding.STAGE_IN)
        return hold

    def hold_by_start(self) -> Iterator[Hold]:
        """Give buffers in order of the expected starts, in whole seconds, then of submission, up to the first that does
        not fit.
        """
        lacking = [job for job in self.waiting if job.id in self.planned and self.lacks_buffer(job)]
        for job in sorted(lacking, key=lambda job: (self.planned[job.id] // 1, job.number)):
            hold = self.try_hold(job)
            if hold is None:
                return
            yield hold

    def try_start(self, pair: _Pair, nodes: int, role: Role) -> Start | None:
        """Start a job on some of these idle nodes of its partition, chosen as Slurm does where any node will do."""
        view, job, nodes = self.view, pair.job, nodes & pair.nodes
        duration_s = view.estimate_s(job)
        if nodes.bit_count() < job.nodes:
            return None
        here = job if len(job.partitions) < 2 else msgspec.structs.replace(job, partitions=(pair.partition,))
        allocation = fit_now(view, here, duration_s)
        if allocation is None:
            return None
        if not job.io_rate and (not job.bb_bytes or job.id in view.held):
            chosen = msgspec.structs.replace(allocation, nodes=members(consecutive(nodes, job.nodes)))
            if self._is_free(chosen, duration_s):  # else they are reserved by the life of burst buffers
                allocation = chosen
        taken = mask_of(allocation.nodes)
        if taken & ~nodes:
            return None
        start = start_on(view, job, allocation, role)
        self.space.start(taken, view.now_s + duration_s)
        del self.waiting[job]
        return start

    def _is_free(self, allocation: Allocation, duration_s: float) -> bool:
        """Whether these nodes are not reserved for as long."""
        timeline, now_s = self.view.timeline, self.view.now_s
        try:
            timeline.reserve(now_s, now_s + duration_s, allocation, Resource.NODES)
        except ValueError:
            return False
        timeline.release(now_s, now_s + duration_s, allocation, Resource.NODES)
        return True

    def reserve(self, job: Job, plan: Plan, begin_s: float, end_s: float) -> None:
        """Keep a job's nodes for the rest of the pass."""
        self.space.reserve(begin_s, end_s, plan.nodes)
        if not self.lacks_buffer(job) and not self.stages_in(job):
            self.note(job, Role.RESERVED, start_s=plan.start_s)

    def note(self, job: Job, role: Role, binding: Binding | None = None, start_s: float | None = None) -> None:
        """Write down what keeps a job from starting."""
        if self.view.notes is not None:
            self.view.notes.write(job.id, role, binding or binding_now(self.view, job), start_s)
