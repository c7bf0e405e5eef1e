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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from spillway.base.errors import OptionError
from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision, WakeAt
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.policykit.ordering import CHANGING, MULTIFACTOR, ORDER_NAMES
from spillway.schedulers.policykit.slurm.backfill_pass import PLANNED, RELEASES, BackfillPass
from spillway.schedulers.policykit.slurm.nodespace import EXACT_S, Limits, NodeSpace, Planning, whole_s
from spillway.schedulers.policykit.slurm.pairs import Pair
from spillway.schedulers.policykit.slurm.priority import PLANNED_S
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

MAIN, BACKFILL = _SCHEDULERS = ("main", "backfill")

LINEAR, CONS_TRES = SELECTS = ("linear", "cons_tres")
"""Slurm's plugins that select nodes."""

_LOOP_S = 1.0
"""Seconds between two checks of Slurm's controller for events since the last main pass."""


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
