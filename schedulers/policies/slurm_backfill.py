"""Slurm's two schedulers: a main pass in order of priority, and a backfill pass that plans and allocates buffers.

The rules, each with its evidence in the log of a real slurmctld, are in ``docs/slurm.md``.

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
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.base.errors import OptionError
from spillway.base.options import option
from spillway.core import Resource, Timeline
from spillway.schedulers.model.decisions import Decision, Hold, Start, WakeAt
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.policykit.holds import fit_now, try_hold
from spillway.schedulers.policykit.nodespace import (
    EXACT_S,
    Limits,
    NodeSpace,
    Planning,
    Walk,
    Words,
    members,
    number_of,
    of_nodes,
    restricting,
    whole_s,
)
from spillway.schedulers.policykit.ordering import CHANGING, MULTIFACTOR, ORDER_NAMES, ordered
from spillway.schedulers.policykit.pairs import Pair, Pairs
from spillway.schedulers.policykit.passes import binding_now, start_on
from spillway.schedulers.policykit.priority import PLANNED_S, SKIPPED, priorities_of, submitted_s
from spillway.schedulers.policykit.view import View

WOKEN = "slurm woken"
"""Key of the notebook: time of the next requested call (s)."""

PASSES = "slurm passes"
"""Key of the notebook: time of each scheduler's next pass (s)."""

_LAST_MAIN = "slurm last main pass"
"""Key of the notebook: planned time of the last main pass (s)."""

_WAITED = "slurm waited"
"""Key of the notebook: whether jobs waited at the end of the last call, so that a planned pass is due."""

_VAIN = "slurm in vain"
"""Key of the notebook: state of the queue and the machine while no job ran, and the schedulers without a decision."""

READY = "slurm ready"
"""Key of the notebook: whether each job waits for anything but its buffer, as found by the last main pass over it. A
job that no main pass has examined waits for its buffer, unless it was held by dependencies until then.
"""

PLANNED = "slurm planned"
"""Key of the notebook: expected start of each waiting job, from the last pass over it (s)."""

_TRIED = "slurm tried"
"""Key of the notebook: rows of partitions that a job was tried in since the controller has begun."""

_SPARE = 1000
"""Largest number of jobs kept beyond twice the waiting ones."""

MAIN, BACKFILL = _SCHEDULERS = ("main", "backfill")

LINEAR, CONS_TRES = SELECTS = ("linear", "cons_tres")
"""Slurm's plugins that select nodes."""

_LOOP_S = 1.0
"""Seconds between two checks of Slurm's controller for events since the last main pass."""


_SHORTEST_S = 1e-9
"""Duration that stands for the present instant (s)."""


class _Rules(NamedTuple):
    """Differences between releases of Slurm.

    Attributes
    ----------
    overlaps
        Whether jobs that waited for their buffer in the last main pass over them may plan over others' reservations.
    ends_up
        Whether ends of reservations are rounded up; else down, like begins.
    licenses_first
        Whether the main pass checks licenses before buffers.
    """

    overlaps: bool
    ends_up: bool
    licenses_first: bool


RELEASES: Mapping[str, _Rules] = {
    "22.05": _Rules(overlaps=True, ends_up=False, licenses_first=True),
    "24.11": _Rules(overlaps=False, ends_up=True, licenses_first=False),
}
"""Rules by release of Slurm."""


class RecordedPasses(NamedTuple):
    """Passes of a real Slurm, for comparisons of decisions.

    Attributes
    ----------
    main, backfill
        Times of the passes of both schedulers, s, ascending.
    extended_s
        Extensions of the time limits of jobs with buffers by the time in which they were configured, by job name (s).
    cut
        Last planned job and its partition, by name, of each backfill pass that ended before it had examined all jobs,
        by its time; the partition is "" on a machine without partitions, the job is no job's name if nothing was
        planned.
    """

    main: tuple[float, ...]
    backfill: tuple[float, ...]
    extended_s: Mapping[str, float] = MappingProxyType({})
    cut: Mapping[float, tuple[str, str]] = MappingProxyType({})

    def last_of(self, time_s: float) -> tuple[str, str] | None:
        """Last pair of a backfill pass that was cut; ``None`` for other passes."""
        place = bisect.bisect_left(self.backfill, time_s - EXACT_S)
        return self.cut.get(self.backfill[place]) if self.cut and place < len(self.backfill) else None


@dataclass(frozen=True)
class SlurmBackfill:
    """Start in order of priority up to the first job that lacks nodes; backfill around reservations of all others."""

    source: ClassVar[str] = "Slurm 22.05, sched/backfill and burst_buffer/lua"

    site_parameters: ClassVar[bool] = True
    """Whether a site's ``SchedulerParameters`` are the defaults of the options."""

    whole_seconds: ClassVar[bool] = True
    """Whether jobs are kept out of reservations in whole seconds
    (:attr:`spillway.schedulers.policykit.windows.Windows.whole_seconds`)."""

    order: str = option("fcfs", choices=ORDER_NAMES, help="order of priority; PriorityType=priority/basic: fcfs")
    bf_interval: float = option(30.0, unit="s", low=0.01, high=1e6, help="time between two backfill passes")
    bf_max_job_test: int = option(500, unit="jobs", low=1, high=1_000_000, help="jobs that a backfill pass examines")
    bf_window: float = option(
        1440.0, unit="min", low=1.0, high=1e7, help="time that a backfill pass plans ahead: later starts get no nodes"
    )
    select: str = option(
        "linear",
        choices=SELECTS,
        help="SelectType: backfill passes count expected ends of running jobs one by one, or together in windows of "
        "30, 60, 120 s and so on; jobs get whole nodes with both",
    )
    bf_window_linear: float = option(
        0.0,
        unit="s",
        low=0.0,
        high=1e6,
        help="windows of expected ends grow by this length, from 30 s on (select=cons_tres); 0: each is twice as long "
        "as the one before",
    )
    bf_resolution: float = option(
        60.0,
        unit="s",
        low=0.001,
        high=1e6,
        help="planned intervals begin and end at whole multiples of this, rounded down (24.11: ends up)",
    )
    sched_interval: float = option(
        60.0, unit="s", low=0.01, high=1e6, help="time between two main passes without events"
    )
    batch_sched_delay: float = option(
        3.0, unit="s", low=0.0, high=1e6, help="least time between two main passes after an event"
    )
    default_queue_depth: int = option(
        100,
        unit="jobs",
        low=1,
        high=1_000_000,
        help="jobs that a main pass examines, except the passes every sched_interval",
    )
    bf_max_job_part: int = option(
        0,
        unit="jobs",
        low=0,
        high=1_000_000,
        help="jobs of each partition that a backfill pass examines; 0: any number",
    )
    bf_max_job_user: int = option(
        0, unit="jobs", low=0, high=1_000_000, help="jobs of each user that a backfill pass examines; 0: any number"
    )
    bf_min_prio_reserve: int = option(
        0, low=0, high=2**32 - 1, help="least priority with which a job gets a reservation (order=multifactor)"
    )
    bf_job_part_count_reserve: int = option(
        0, unit="jobs", low=0, high=1_000_000, help="jobs of each partition that get a reservation; 0: any number"
    )
    bf_one_resv_per_job: bool = option(
        False, help="whether a job gets a reservation in only one of its partitions, the first with an expected start"
    )
    bf_licenses: bool = option(
        False, help="whether backfill passes plan licenses; else a job that lacks licenses reserves nothing"
    )
    release: str = option("22.05", choices=tuple(RELEASES), help="release of Slurm that gives the rules")
    bf_phase: float = 0.0
    """Time of a first backfill pass (s), for comparisons with recordings."""
    sched_phase: float = 0.0
    """Time of a first main pass (s), for comparisons with recordings."""
    recorded: RecordedPasses | None = None
    """Recorded passes of a real Slurm, for comparisons; after the last one passes are regular."""

    def __post_init__(self) -> None:
        """Refuse a least priority where there are no priorities."""
        if self.bf_min_prio_reserve and self.order != MULTIFACTOR:
            raise OptionError(
                f"option 'bf_min_prio_reserve' needs order={MULTIFACTOR}, got {self.bf_min_prio_reserve} and order="
                f"{self.order}: in other orders jobs have no priorities"
            )

    def __call__(self, view: View) -> Iterable[Decision]:
        """Decide in a session where jobs hold their buffers as long as their nodes."""
        return self._call(view, apart=False)

    def with_buffers_first(self, view: View) -> Iterable[Decision]:
        """Decide in a session where this policy gives jobs their buffers before their nodes."""
        return self._call(view, apart=True)

    @property
    def apart_s(self) -> float:
        """Longest time between two passes of a scheduler (s)."""
        return max(self.bf_interval, self.sched_interval)

    def due(self, view: View) -> bool:
        """Whether a scheduler has a pass now; jobs start and preempt others only in such calls."""
        return any(time_s <= view.now_s + EXACT_S for time_s in self._passes(view).values())

    def _call(self, view: View, *, apart: bool) -> Iterator[Decision]:
        """Run the passes that are due; request a call for the next one while jobs wait."""
        if not view.queue:
            view.notebook.pop(PLANNED, None)
            view.notebook[_WAITED] = False
            return
        passes = self._passes(view)
        view.notebook[_WAITED] = True
        due = [name for name in _SCHEDULERS if passes[name] <= view.now_s + EXACT_S]
        if due:
            one, decided = self._pass(view, apart=apart), False
            for name in due:
                for decision in self._main(one, self._depth(passes[MAIN])) if name == MAIN else self._backfill(one):
                    decided = True
                    yield decision
                passes[name] = self._pass_from(name, view.now_s + 2 * EXACT_S)
            view.notebook[_WAITED] = one.any_waits
            if not decided and self._in_vain(view, due):
                view.notebook[_WAITED] = False
                return
        next_s = min(passes.values())
        if next_s != view.notebook.get(WOKEN):
            view.notebook[WOKEN] = next_s
            yield WakeAt(next_s)

    def _pass(self, view: View, *, apart: bool) -> BackfillPass:
        """State that the passes of a call share."""
        began = self.recorded is not None and self.select == CONS_TRES  # recordings begin with their controller
        return BackfillPass(view, apart, self.order, RELEASES[self.release], self._space(view), began=began)

    def _space(self, view: View) -> NodeSpace:
        return NodeSpace.of(view) if self.recorded is None else NodeSpace.of(view, self.recorded.extended_s)

    def _in_vain(self, view: View, due: Iterable[str]) -> bool:
        """Whether passes without a decision would never make one.

        That holds if no job runs or stages in, both schedulers have had a pass since the last change, and the order of
        priority does not change with time.
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

    # ------------------------------------------------------------------ times of passes

    def _passes(self, view: View) -> dict[str, float]:
        """Time of each scheduler's next pass (s); the call may be for an event, after which a main pass follows soon.

        If jobs waited, a planned pass is due even when its call comes late: messages take time and queue.
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
        """Time of a scheduler's first planned pass at ``time_s`` or later (s)."""
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

    def _depth(self, planned_s: float) -> float:
        """Number of jobs that a main pass planned for a time examines; all jobs in the passes every interval."""
        full = self.recorded is not None or self._pass_from(MAIN, planned_s) <= planned_s + EXACT_S
        return math.inf if full else self.default_queue_depth

    # ------------------------------------------------------------------ the main pass

    def _main(self, one: BackfillPass, depth: float) -> Iterator[Decision]:
        """Start jobs and give buffers that fit, in order, in each partition up to the first job that lacks nodes.

        A job that lacks nodes also keeps its partition's nodes from jobs of other partitions, unless it is below the
        least priority for a reservation. A job that lacks counted resources is passed over; where backfill passes plan
        licenses, and it lacks licenses but not its buffer, or hierarchical resources, the pass ends. At most ``depth``
        jobs are examined. A job kept out by a window of maintenance is passed over, too. A job for which a partition
        has too few nodes left, busy ones included, ends the partition before its buffer is examined.
        """
        unseen, low = False, one.below(self.bf_min_prio_reserve)
        latest_s = whole_s(one.view.now_s)
        walk = one.walk(depth, asks_all=low is not None or one.apart)
        licenses_first = RELEASES[self.release].licenses_first
        for pair in walk:
            job = pair.job
            if one.apart:
                one.ready[job.id] = True
            if one.lacks_counted(job, licenses=False):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
                continue
            if walk.lacks(pair):
                one.note(job, Role.PASSED_OVER)
                walk.end(pair)
                continue
            if one.lacks_layers(job) or (licenses_first and one.lacks_counted(job, licenses=True)):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
                if self.bf_licenses:
                    break
                continue
            latest_s = max(latest_s, one.planned.get(job.id, latest_s))
            if one.lacks_buffer(job):
                one.ready[job.id] = False
                hold = one.try_hold(job)
                if hold is not None:
                    yield hold
                elif job.id not in one.planned:
                    one.planned[job.id], unseen = latest_s, True
            elif one.stages_in(job):
                one.ready[job.id] = False
            elif one.lacks_counted(job, licenses=True):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
                if self.bf_licenses:
                    break
            else:
                start = one.try_start(pair, walk.nodes, Role.STARTED)
                if start is not None:
                    yield start
                    continue
                one.note(job, Role.PASSED_OVER)
                if (low is None or not low[pair.place]) and not one.is_kept_out(pair):
                    walk.end(pair)
        if unseen:
            yield from one.hold_by_start()

    # ------------------------------------------------------------------ the backfill pass

    def _backfill(self, one: BackfillPass) -> Iterator[Decision]:
        """Start jobs that fit now, reserve for the others, give buffers in order of the expected starts."""
        now_s = whole_s(one.view.now_s)
        one.planned.clear()
        one.view.notebook[PLANNED_S] = one.view.now_s
        planning = one.planning(self._limits(now_s), self._most(one), one.below(self.bf_min_prio_reserve))
        for pair, known_s in planning:
            job, start_s = pair.job, known_s
            if start_s is None:
                if one.lacks_counted(job, licenses=False) or (
                    not self.bf_licenses and one.lacks_counted(job, licenses=True)
                ):
                    one.skipped.setdefault(job.number, True)
                    one.note(job, Role.PASSED_OVER, Binding.POOLS)
                    continue
                one.skipped[job.number] = False
                start_s = self._start_s(one, planning, pair)
            if start_s <= now_s:
                if one.lacks_buffer(job):
                    continue
                start = None if one.stages_in(job) else one.try_start(pair, one.space.chosen, Role.BACKFILLED)
                if start is not None:
                    if self.select == CONS_TRES and one.view.vacate is None:  # jobs that cannot be preempted
                        planning.keep_started(pair, start.allocation.nodes)
                    yield start
                    continue
            if planning.keep(pair, start_s):
                one.note_reserved(job, start_s)
                if self.bf_licenses:
                    one.reserve_pools(job, start_s)
        if one.apart:
            for job, start_s in planning.starts():
                one.planned[job.id] = min(start_s, one.planned.get(job.id, math.inf))
            yield from one.hold_by_start()

    def _most(self, one: BackfillPass) -> int:
        """Largest number of pairs that a backfill pass examines."""
        last = self.recorded.last_of(one.view.now_s) if self.recorded is not None else None
        return self.bf_max_job_test if last is None else min(self.bf_max_job_test, one.up_to(*last))

    def _limits(self, now_s: float) -> Limits:
        """Limits of a backfill pass, from the options."""
        return Limits(
            now_s,
            self.bf_resolution,
            now_s + 60.0 * self.bf_window,
            self.bf_window_linear,
            self.bf_max_job_part,
            self.bf_max_job_user,
            self.bf_job_part_count_reserve,
            self.bf_one_resv_per_job,
            RELEASES[self.release].ends_up,
            self.select == CONS_TRES,
        )

    def _start_s(self, one: BackfillPass, planning: Planning, pair: Pair) -> float:
        """Expected start (s): with enough nodes, and with the licenses from then on where these are planned.

        A job that waits for licenses gets any nodes that are left by then, not those that are idle now first.
        """
        if one.is_layered(pair.job):
            return planning.expect(pair, one.layered_from(pair, licensed=self.bf_licenses))
        not_before_s, gone_s, row = whole_s(one.view.now_s), -math.inf, one.row_of(pair)
        while True:
            start_s = planning.start_s(pair, not_before_s, row, gone_s)
            licensed_s = one.licensed_from(pair.job, start_s) if self.bf_licenses and start_s < math.inf else start_s
            if licensed_s <= start_s:
                return start_s
            not_before_s = gone_s = licensed_s


class _ReservedTimeline:
    """A timeline that also has the reservations of a backfill pass; updated when a job needs it.

    Parameters
    ----------
    timeline
        A copy of the pass's timeline, which is changed.
    """

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._begins: list[float] = []
        self._free: list[Words] = []

    def brought_up(self, space: NodeSpace) -> Timeline:
        """The timeline without the nodes reserved so far."""
        begins, rows = list[float](), list[Words]()
        for begin_s, end_s, free in space.reserved():
            before = bisect.bisect_right(self._begins, begin_s) - 1
            gone = (space.sets[0] if before < 0 else self._free[before]) & ~free
            if gone.any():
                self.timeline.take(max(begin_s, self.timeline.now_s), end_s, members(gone))
            begins.append(begin_s)
            rows.append(free.copy())
        self._begins, self._free = begins, rows
        return self.timeline


class BackfillPass:
    """State of a pass, and its operations on one job."""

    def __init__(
        self, view: View, apart: bool, order: str, rules: _Rules, space: NodeSpace, *, began: bool = False
    ) -> None:
        self.view = view
        if view.notes is not None:
            ordered(view, view.queue, order)  # this call notes the priorities
        self.space = space
        self.planned: dict[str, float] = view.notebook.setdefault(PLANNED, {})
        self.ready: dict[str, bool] = view.notebook.setdefault(READY, {})
        self.pairs = Pairs.of(view, order)
        skipped: dict[int, bool] = view.notebook.get(SKIPPED, {})
        if len(skipped) > 2 * len(view.waiting) + _SPARE:
            skipped = {job.number: skipped[job.number] for job in view.waiting if job.number in skipped}
        self.skipped = view.notebook[SKIPPED] = skipped
        self.apart = apart
        self._rules = rules
        self._pools = view.machine.pools
        self._layers = [place for place in range(len(self._pools)) if view.machine.layer_mode(place) > 0]
        self._restricting = restricting(view.machine)
        self._ahead: _ReservedTimeline | None = None
        self._layered: tuple[int, ...] = ()
        self._tried: set[int] | None = view.notebook.setdefault(_TRIED, set()) if began else None
        if self._tried is not None:
            tiers = [one.tier for one in view.machine.partitions]
            for job in view.waiting:  # those without a buffer were tried in their highest tier when they were submitted
                if not job.bb_bytes:
                    self._tried.add(max(job.partitions, key=tiers.__getitem__, default=-1) + 1)
            self._prefer_untried()

    def _prefer_untried(self) -> None:
        """Let plans take nodes first on which no job was tried since the controller has begun.

        Under ``select/cons_tres`` a node has no weight until then, and nodes with less weight come first.
        """
        if self._tried:
            self.space.plan.prefer(self.space.sets[0] & ~np.bitwise_or.reduce(self.space.sets[sorted(self._tried)]))

    @property
    def any_waits(self) -> bool:
        """Whether any job still waits."""
        return bool(self.pairs.waiting.any())

    def below(self, priority: int) -> npt.NDArray[np.bool_] | None:
        """Whether each job has a priority below ``priority``, by its place; ``None`` if that is 0."""
        if not priority:
            return None
        places, jobs = np.flatnonzero(self.pairs.waiting), self.pairs.left()
        found = np.zeros(len(self.pairs.waiting), np.bool_)
        found[places] = priorities_of(self.view).of(jobs) < priority
        return found

    def walk(self, depth: float, *, asks_all: bool) -> Walk:
        """Begin a main pass over ``depth`` pairs."""
        asks_all = asks_all or self.view.notes is not None or bool(self.view.taken)
        return Walk(self.space, self.pairs, depth, asks_all=asks_all, asks_buffers=self.apart)

    def planning(self, limits: Limits, most: int, low: npt.NDArray[np.bool_] | None) -> Planning:
        """Begin a backfill pass over the first ``most`` pairs of waiting jobs.

        Jobs with a ``low`` priority get no reservation. If only starts follow from the pass, it ends at the last pair
        that may start.
        """
        jobs, noted = self.pairs.left() if self.apart else [], self.view.notes is not None
        return Planning(
            self.space,
            self.pairs.of_waiting(most),
            limits,
            without=[job for job in jobs if self.lacks_buffer(job)],
            staging=[job for job in jobs if self._fills(job)],
            overlapping=self._overlapping(jobs) if self._rules.overlaps else (),
            now_only=low,
            asks=noted,
            starts_only=not self.apart and not noted,
        )

    def up_to(self, job: str, partition: str) -> int:
        """Number of pairs of waiting jobs up to the pair of a job and a partition, by name, at which the pass is cut.

        0 if that job does not wait.
        """
        names = ["", *(partition.name for partition in self.view.machine.partitions)]
        pairs = self.pairs.of_waiting(len(self.pairs))
        found = (at for at in range(len(pairs)) if (pairs[at].job.name, names[pairs[at].row]) == (job, partition))
        return next(found, -1) + 1

    def _overlapping(self, jobs: Sequence[Job]) -> list[Job]:
        """Jobs with reservations that may overlap with those of others."""
        if len(self.ready) > 2 * len(jobs) + _SPARE:
            known = [job.id for job in jobs if job.id in self.ready]
            kept = {name: self.ready[name] for name in known}
            self.ready.clear()
            self.ready.update(kept)
        return [job for job in jobs if job.bb_bytes and not self.ready.get(job.id, job.held_s > 0.0)]

    def is_kept_out(self, pair: Pair) -> bool:
        """Whether a job lacks nodes only for a window: all other nodes of its partition are idle, but too few."""
        if not self.view.taken:
            return False
        begin_s = whole_s(self.view.now_s)
        end_s = begin_s + self.view.estimate_s(pair.job)
        left = self.space.sets[self.row_of(pair)]
        for taken_nodes in self.view.taken:
            if taken_nodes.start_s < end_s and taken_nodes.end_s > begin_s:
                left = left & ~of_nodes(sorted(taken_nodes.nodes), len(left))
        return number_of(left) < pair.job.nodes and not (left & ~self.space.idle).any()

    def lacks_buffer(self, job: Job) -> bool:
        """Whether a job gets its buffer before its nodes, and has no buffer yet."""
        return self.apart and job.bb_bytes > 0 and job.id not in self.view.held

    def row_of(self, pair: Pair) -> int:
        """Row of the set of nodes that serve a pair: nodes of its partition with as many GPUs as its job requests."""
        pools = pair.job.pools
        several = len(self.view.machine.partitions) + 1
        for number, place in enumerate(self._restricting if pools else (), 1):
            if place < len(pools) and pools[place]:
                return pair.row + number * several
        return pair.row

    def lacks_counted(self, job: Job, *, licenses: bool) -> bool:
        """Whether a job lacks licenses now, or, where ``licenses`` is false, amounts of its groups' limits."""
        if not job.pools:
            return False
        return any(
            0 < amount > left and pool.license is licenses and pool.layer is None
            for pool, left, amount in zip(self._pools, self.view.timeline.free_pools_now(), job.pools, strict=False)
        )

    def lacks_layers(self, job: Job) -> bool:
        """Whether a job lacks hierarchical resources now on any choice of idle nodes, although the nodes suffice."""
        if not self.is_layered(job):
            return False
        alone, timeline = self._with_layers(job, licensed=False), self.view.timeline
        if timeline.fit_now(alone, _SHORTEST_S, Resource.NODES | Resource.POOLS) is not None:
            return False
        return timeline.fit_now(alone, _SHORTEST_S, Resource.NODES) is not None

    def is_layered(self, job: Job) -> bool:
        """Whether a job requests hierarchical resources; their free amounts depend on the nodes."""
        return any(job.pools[place] for place in self._layers if place < len(job.pools))

    def _with_layers(self, job: Job, *, licensed: bool) -> Job:
        """A copy of a job that requests its nodes and layers, licenses only where ``licensed``, and no other pools."""
        pools = tuple(
            amount if pool.layer is not None or (licensed and pool.license) else 0
            for pool, amount in zip(self._pools, job.pools, strict=False)
        )
        return replaced(job, lives=None, pools=pools)

    def layered_from(self, pair: Pair, *, licensed: bool) -> float:
        """Expected start of a job with hierarchical resources in a partition (s, infinite for never).

        It is when running jobs leave enough of every layer, on nodes without a reservation, which become the chosen
        ones; where ``licensed``, with the job's licenses, too. Reserved licenses and layers are not free.
        """
        if self._ahead is None:
            self._ahead = _ReservedTimeline(self.view.timeline.copy())
        alone = self._with_layers(pair.job, licensed=licensed)
        if len(alone.partitions) > 1:
            alone = replaced(alone, partitions=(pair.row - 1,))
        timeline = self._ahead.brought_up(self.space)
        fit = timeline.earliest_fit(alone, self.view.estimate_s(pair.job), None, Resource.NODES | Resource.POOLS)
        if fit is None:
            return math.inf
        self.space.choose(fit.allocation.nodes)
        self._layered = fit.allocation.pools
        return fit.start_s if fit.start_s > self.view.now_s else whole_s(self.view.now_s)

    def _licenses(self, job: Job) -> tuple[int, ...]:
        """Amounts of licenses that a job requests, by pool; () if it requests no license."""
        if not job.pools:
            return ()
        found = tuple(amount * pool.license for pool, amount in zip(self._pools, job.pools, strict=False))
        return found if any(found) else ()

    def licensed_from(self, job: Job, not_before_s: float) -> float:
        """Earliest time from which a job's licenses are free for its expected duration (s)."""
        licenses = self._licenses(job)
        if not licenses:
            return not_before_s
        alone, now_s = replaced(job, pools=licenses, partitions=(), lives=None), self.view.now_s
        from_s = max(not_before_s, now_s)
        fit = self.view.timeline.earliest_fit(alone, self.view.estimate_s(job), from_s, Resource.POOLS)
        if fit is None:
            return math.inf
        return fit.start_s if fit.start_s > from_s else not_before_s

    def reserve_pools(self, job: Job, start_s: float) -> None:
        """Reserve a job's licenses, or the pools found last for its layers, from its expected start on (this pass)."""
        pools = self._layered if self.is_layered(job) else self._licenses(job)
        if any(pools):
            interval = max(start_s, self.view.now_s), start_s + self.view.estimate_s(job)
            self.view.timeline.reserve(*interval, Allocation((), pools=pools), Resource.POOLS)
            if self._ahead is not None:
                self._ahead.timeline.reserve(*interval, Allocation((), pools=pools), Resource.POOLS)

    def stages_in(self, job: Job) -> bool:
        """Whether a job's stage-in is running; note it."""
        if not self._fills(job):
            return False
        self.note(job, Role.HOLDS_BUFFER, Binding.STAGE_IN)
        return True

    def _fills(self, job: Job) -> bool:
        return job.id in self.view.held and job.id not in self.view.filled_s

    def try_hold(self, job: Job) -> Hold | None:
        """Book and return the buffer of a job if it fits now, else ``None``."""
        hold = try_hold(self.view, job)
        if hold is None:
            self.note(job, Role.PASSED_OVER, Binding.BURST_BUFFERS)
        else:
            self.note(job, Role.HOLDS_BUFFER, Binding.STAGE_IN)
        return hold

    def left(self) -> Iterable[Job]:
        """Jobs that still wait."""
        return self.pairs.left()

    def hold_by_start(self) -> Iterator[Hold]:
        """Give buffers by expected start in whole seconds, then by submission, up to the first that does not fit."""
        lacking = [job for job in self.left() if job.id in self.planned and self.lacks_buffer(job)]
        for job in sorted(lacking, key=lambda job: (self.planned[job.id], submitted_s(job), job.number)):
            hold = self.try_hold(job)
            if hold is None:
                return
            yield hold

    def try_start(self, pair: Pair, nodes: Words, role: Role) -> Start | None:
        """Start a job on idle ``nodes`` of its partition, chosen by Slurm's rule where all serve equally."""
        view, space, job = self.view, self.space, pair.job
        if self._tried is not None and pair.row not in self._tried:
            self._tried.add(pair.row)
            self._prefer_untried()
        nodes = space.idle_of(self.row_of(pair), nodes)
        duration_s = view.estimate_s(job)
        if number_of(nodes) < job.nodes:
            return None
        layered = self.is_layered(job)
        if not job.io_rate and not job.bb_bytes and job.lives is None and not layered:
            taken = space.consecutive(nodes, job.nodes)
            start = self._try_start_on(job, Allocation(members(taken), pools=self._held(job)), role)
        else:
            start, taken = None, nodes
        if start is None:  # nodes reserved by the life of burst buffers, or a job that needs more than nodes
            here = job if len(job.partitions) < 2 else replaced(job, partitions=(pair.row - 1,))
            allocation = fit_now(self._only(nodes, duration_s) if layered else view, here, duration_s)
            if allocation is None:
                return None
            if not job.io_rate and job.bb_bytes and job.id in view.held and not layered:
                chosen = replaced(allocation, nodes=members(space.consecutive(nodes, job.nodes)))
                allocation = chosen if self._is_free(chosen, duration_s) else allocation
            taken = of_nodes(allocation.nodes, len(nodes))
            if (taken & ~nodes).any():
                return None
            start = start_on(view, job, allocation, role)
        space.take(job, taken, duration_s)
        self._ahead = None  # the timeline has changed
        self.pairs.waiting[pair.place] = 0
        return start

    def _held(self, job: Job) -> tuple[int, ...]:
        """Amounts of pools that a job without layers holds: 0 of pools that only restrict its nodes."""
        return tuple(0 if place in self._restricting else abs(amount) for place, amount in enumerate(job.pools))

    def _only(self, nodes: Words, duration_s: float) -> View:
        """A view of this pass, for queries, in which all other nodes are taken for a duration from now on."""
        view = self.view.aside()
        others = members(of_nodes(range(len(view.machine.nodes)), len(nodes)) & ~nodes)
        view.timeline.take(view.now_s, view.now_s + duration_s, others)
        return view

    def _try_start_on(self, job: Job, allocation: Allocation, role: Role) -> Start | None:
        """Start a job on this allocation if it is free, else return ``None``."""
        try:
            return start_on(self.view, job, allocation, role)
        except ValueError:
            return None

    def _is_free(self, allocation: Allocation, duration_s: float) -> bool:
        """Whether these nodes are unreserved for a duration from now on."""
        timeline, now_s = self.view.timeline, self.view.now_s
        try:
            timeline.reserve(now_s, now_s + duration_s, allocation, Resource.NODES)
        except ValueError:
            return False
        timeline.release(now_s, now_s + duration_s, allocation, Resource.NODES)
        return True

    def note_reserved(self, job: Job, start_s: float) -> None:
        """Note that nodes are reserved for a job."""
        if not self.lacks_buffer(job) and not self.stages_in(job):
            self.note(job, Role.RESERVED, start_s=start_s)

    def note(self, job: Job, role: Role, binding: Binding | None = None, start_s: float | None = None) -> None:
        """Note the role of a job and the reason why it waits."""
        if self.view.notes is not None:
            self.view.notes.write(job.id, role, binding or binding_now(self.view, job), start_s)
