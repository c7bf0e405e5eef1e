"""Slurm's two schedulers in plain Python: sets of nodes are integers with a bit for each node, every pass looks at all.

:class:`PlainSlurm` is the policy ``slurm-backfill`` with such passes, in place of the compiled ones that skip steps
without effect.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.policies.slurm_backfill import PLANNED, READY, RELEASES, OnePass, SlurmBackfill
from spillway.schedulers.policykit.holds import fit_now
from spillway.schedulers.policykit.nodespace import has_ended, looked_at_after, whole_s
from spillway.schedulers.policykit.ordering import MULTIFACTOR, in_one_tier
from spillway.schedulers.policykit.passes import start_on
from spillway.schedulers.policykit.priority import PRIORITY, priorities_of, submitted_s
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timeline import Resource


class Plan(NamedTuple):
    """Expected start of a job (s), and its nodes."""

    start_s: float
    nodes: int


class NodeSpace:
    """Idle nodes, the expected ends of the others' use, and reserved nodes.

    Parameters
    ----------
    now_s
        Current time, s.
    idle
        Nodes that are free now.
    leaving
        Expected ends of running jobs (s), their numbers, and their nodes.
    windows
        Begins, ends and times of a next look (s) of windows of maintenance, and their nodes.
    ended
        Nodes of jobs that have ended, which are not back yet.
    """

    __slots__ = ("_free", "_leaving", "_times", "_windows", "ended", "idle", "now_s", "usable")

    def __init__(
        self,
        now_s: float,
        idle: int,
        leaving: Iterable[tuple[float, int, int]],
        windows: Iterable[tuple[float, float, float, int]] = (),
        ended: int = 0,
    ) -> None:
        self.now_s = now_s
        self.idle = idle
        self.ended = ended
        self._leaving = sorted(leaving)
        self._windows = list(windows)
        usable = idle | ended
        for _, _, nodes in self._leaving:
            usable |= nodes
        self.usable = usable
        self._times = [now_s]
        """Begins of segments; the last one is endless."""
        self._free = [usable]
        """Nodes without a reservation, in each segment."""

    @classmethod
    def of(cls, view: View, resolution_s: float, longer_s: Mapping[str, float]) -> NodeSpace:
        """Build one from a policy's view, without reservations; nodes that are out are in no set."""
        usable = (1 << len(view.machine.nodes)) - 1 & ~mask_of(view.unavailable)
        idle, leaving, ended = usable, [], 0
        for running in view.running:
            for holding in running.holdings:
                if Resource.NODES in holding.covering:
                    held = mask_of(holding.allocation.nodes)
                    idle &= ~held
                    if has_ended(running):
                        ended |= held & usable
                        continue
                    end_s = whole_s(holding.end_s + longer_s.get(running.job.name, 0.0))
                    leaving.append((end_s, running.job.number, held & usable))
        windows = [
            (one.start_s, one.end_s, looked_at_after(one, resolution_s), mask_of(one.nodes)) for one in view.taken
        ]
        return cls(whole_s(view.now_s), idle, leaving, windows, ended)

    def reserve(self, begin_s: float, end_s: float, nodes: int) -> None:
        """Keep nodes over an interval; an empty one keeps nothing, and nothing is kept before now.

        Then the first two neighbours that are alike, among the segments of the interval, two before it and one after
        it, become one.
        """
        begin_s = max(begin_s, self.now_s)
        if begin_s < end_s:
            first, last = self._split(begin_s), self._split(end_s)
            for segment in range(first, last):
                self._free[segment] &= ~nodes
            for segment in range(max(first - 2, 0), min(last, len(self._times) - 1)):
                if self._free[segment] == self._free[segment + 1]:
                    del self._times[segment + 1], self._free[segment + 1]
                    break

    def _split(self, time_s: float) -> int:
        """Index of the segment that begins at a time from now on, made if missing; past the last one for infinity."""
        segment = bisect_left(self._times, time_s)
        if time_s < math.inf and (segment == len(self._times) or self._times[segment] > time_s):
            self._times.insert(segment, time_s)
            self._free.insert(segment, self._free[segment - 1])
        return segment

    def start(self, job: Job, nodes: int, duration_s: float) -> None:
        """Nodes are idle no more: a job was started that is expected to run for so long."""
        self.idle &= ~nodes
        self._leaving.append((whole_s(self.now_s + duration_s), job.number, nodes))
        self._leaving.sort()

    def search(self, nodes: int, begin_s: float, duration_s: float, until_s: float) -> tuple[int, float]:
        """Return ``nodes`` free over ``[begin_s, begin_s + duration_s]`` and in no window, and when to search again.

        That is the time (s) from which on a search may find more, infinite for never.

        Segments are looked at in order, up to the first that begins after the end. The first one before an increase of
        free nodes, also that after the end, gives the time of the next search.
        """
        end_s, again_s, later_s = begin_s + duration_s, math.inf, math.inf
        within = [one for one in self._windows if one[0] < end_s and one[1] > begin_s and one[3] & nodes]
        for *_, kept in within:
            nodes &= ~kept
        if within:
            again_s = min(again for _, end, again, _ in self._windows if end >= begin_s and again > begin_s)
        allowed = nodes
        for segment in range(bisect_right(self._times, begin_s) - 1, len(self._times)):
            following = self._free[segment + 1] & allowed if segment + 1 < len(self._times) else 0
            if later_s == math.inf and following & ~(self._free[segment] & nodes):
                later_s = self._times[segment + 1]
            if self._times[segment] > end_s:
                break
            nodes &= self._free[segment]
        return nodes, min(later_s, again_s) if again_s < until_s else later_s

    def overlaps(self, begin_s: float, end_s: float, nodes: int) -> bool:
        """Whether some of the nodes are reserved for a part of ``[begin_s, end_s)``, now or later."""
        first = bisect_right(self._times, max(begin_s, self.now_s)) - 1
        return any(nodes & ~self._free[segment] for segment in range(first, bisect_left(self._times, end_s)))

    def will_run(self, nodes: int, count: int, linear_s: float = 0.0, gone_s: float = -math.inf) -> Plan | None:
        """The time at which ``count`` of some nodes are idle if running jobs end when expected, and those nodes.

        Nodes of jobs that have ended count as idle now, and those of jobs that end up to ``gone_s``.

        ``linear_s``: jobs with expected ends within a window from the first of them on leave together; each window is
        longer than the previous one by this time, and the first is 30 s.
        """
        if nodes.bit_count() < count:
            return None  # the usual case where many jobs have reservations
        found = (self.idle | self.ended) & nodes
        for end_s, _, left in self._leaving:
            found |= left & nodes if end_s <= gone_s else 0
        if found.bit_count() >= count:
            return Plan(self.now_s, consecutive(found, count))
        leaving = [(end_s, left & nodes) for end_s, _, left in self._leaving if left & nodes and end_s > gone_s]
        window_s = 30.0 if linear_s else 0.0
        while leaving:
            together = [one for one in leaving if one[0] <= leaving[0][0] + window_s] if linear_s else leaving[:1]
            leaving, window_s = leaving[len(together) :], window_s + linear_s
            for _, left in together:
                found |= left
            if found.bit_count() >= count:
                return Plan(max(together[-1][0], self.now_s + 1.0), consecutive(found, count))
        return None


def consecutive(nodes: int, count: int) -> int:
    """Choose ``count`` of enough nodes: the shortest sufficient run of neighbours, from its first node on.

    Where no run suffices the longest is taken whole, and the rest is chosen likewise; the first of equal runs.
    """
    if nodes.bit_count() == count:
        return nodes
    chosen, runs = 0, list(_runs(nodes))
    while count > 0:
        enough = [run for run in runs if run[1] >= count]
        run = min(enough, key=lambda run: run[1]) if enough else max(runs, key=lambda run: run[1])
        runs.remove(run)
        taken = min(count, run[1])
        chosen |= ((1 << taken) - 1) << run[0]
        count -= taken
    return chosen


def _runs(nodes: int) -> Iterator[tuple[int, int]]:
    """First node and length of each run of neighbours, in order."""
    first = 0
    while nodes:
        skipped = (nodes & -nodes).bit_length() - 1
        nodes >>= skipped
        first += skipped
        length = (~nodes & (nodes + 1)).bit_length() - 1
        yield first, length
        nodes >>= length
        first += length


def mask_of(nodes: Iterable[int]) -> int:
    """The set of these nodes."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def members(mask: int) -> tuple[int, ...]:
    """The nodes of a set, ascending."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(found)


class _Pair(NamedTuple):
    """A job in one of its partitions, with its nodes there (all bits: any); -1 where the site has no partitions.

    ``serving``: those with enough GPUs.
    """

    job: Job
    partition: int
    nodes: int
    serving: int


@dataclass(frozen=True)
class PlainSlurm(SlurmBackfill):
    """The policy with plain passes."""

    def _pass(self, view: View, *, apart: bool) -> Any:
        longer_s = self.recorded.extended_s if self.recorded is not None else {}
        return _Pass(view, apart, self.order, NodeSpace.of(view, self.bf_resolution, longer_s))

    def _main(self, one: Any, depth: float) -> Iterator[Decision]:
        """Start in order, in each partition up to the first job that lacks nodes; each job before gets its buffer if it
        fits.
        """
        unseen, ended, nodes_left, looked = False, set[int](), -1, 0
        latest_s = whole_s(one.view.now_s)
        licenses_first = RELEASES[self.release].licenses_first
        for pair in one.pairs:
            job = pair.job
            if job not in one.waiting:
                continue
            looked += 1
            if looked > depth:
                break
            if pair.partition in ended:
                continue
            one.ready[job.id] = True
            if one.lacks_counted(job, licenses=False):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
                continue
            if (one.space.usable & nodes_left & pair.nodes).bit_count() < job.nodes:
                one.note(job, Role.PASSED_OVER)
                ended.add(pair.partition)
                nodes_left &= ~pair.nodes
                continue
            if licenses_first and one.lacks_counted(job, licenses=True):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
                if self.bf_licenses:
                    break
                continue
            latest_s = max(latest_s, one.planned.get(job.id, 0.0))
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
                start = one.try_start(pair, one.space.idle & nodes_left, Role.STARTED)
                if start is not None:
                    yield start
                    continue
                one.note(job, Role.PASSED_OVER)
                if self._may_reserve(one, job) and not one.is_kept_out(pair):
                    ended.add(pair.partition)
                    nodes_left &= ~pair.nodes
                    if not nodes_left:
                        break
        if unseen:
            yield from one.hold_by_start()

    def _may_reserve(self, one: Any, job: Job) -> bool:
        """Whether a job has the least priority that gets a reservation."""
        return not self.bf_min_prio_reserve or priorities_of(one.view).of([job]).item() >= self.bf_min_prio_reserve

    def _backfill(self, one: Any) -> Iterator[Decision]:
        """Start jobs that fit now, reserve for the others, give buffers in order of the expected starts."""
        now_s = whole_s(one.view.now_s)
        one.planned.clear()
        looked: Counter[Any] = Counter()
        reserved: Counter[int] = Counter()
        planned = set[Job]()
        for pair in one.pairs_of_waiting()[: self.bf_max_job_test]:
            job, partition, user = pair.job, pair.partition, pair.job.user
            if job not in one.waiting:
                continue
            if 0 < self.bf_max_job_part <= looked[partition] or 0 < self.bf_max_job_user <= looked["user", user]:
                continue
            looked.update((partition, ("user", user)))
            now_only = (
                not self._may_reserve(one, job)
                or (self.bf_one_resv_per_job and job in planned)
                or 0 < self.bf_job_part_count_reserve <= reserved[partition]
            )
            if one.lacks_counted(job, licenses=False) or (
                not self.bf_licenses and one.lacks_counted(job, licenses=True)
            ):
                one.note(job, Role.PASSED_OVER, Binding.POOLS)
                continue
            plan = self._plan(one, pair)
            if plan is None or (now_only and plan.start_s > now_s):
                continue
            planned.add(job)
            one.planned[job.id] = min(plan.start_s, one.planned.get(job.id, math.inf))
            if plan.start_s <= now_s:
                if one.lacks_buffer(job):
                    continue
                start = None if one.stages_in(job) else one.try_start(pair, plan.nodes, Role.BACKFILLED)
                if start is not None:
                    yield start
                    continue
            if plan.start_s <= self._until_s(one) and not now_only:
                reserved[partition] += 1
                one.reserve(job, plan, *self._kept(one, job, plan.start_s))
                if self.bf_licenses:
                    one.reserve_pools(job, plan.start_s)
        yield from one.hold_by_start()

    def _plan(self, one: Any, pair: _Pair) -> Plan | None:
        """Expected start with enough nodes, and with licenses from then on where these are planned."""
        not_before_s, gone_s = whole_s(one.view.now_s), -math.inf
        while True:
            plan = self._with_nodes(one, pair, not_before_s, gone_s)
            if plan is None or not self.bf_licenses:
                return plan
            licensed_s = one.licensed_from(pair.job, plan.start_s)
            if licensed_s <= plan.start_s:
                return plan
            not_before_s = gone_s = licensed_s

    def _with_nodes(self, one: Any, pair: _Pair, not_before_s: float, gone_s: float) -> Plan | None:
        """Expected start: the time at which running jobs and reservations leave enough nodes of the partition."""
        view, space, job = one.view, one.space, pair.job
        duration_s = view.estimate_s(job)
        apart = (
            one.apart
            and RELEASES[self.release].overlaps
            and job.bb_bytes > 0
            and not one.ready.get(job.id, job.held_s > 0.0)
        )
        while not_before_s < math.inf:
            nodes, later_s = space.search(pair.serving, not_before_s, duration_s, self._until_s(one))
            plan: Plan | None = space.will_run(nodes, job.nodes, self.bf_window_linear, gone_s)
            if plan is None:
                not_before_s = later_s
                continue
            start_s = max(plan.start_s, not_before_s)
            if start_s <= space.now_s:
                if not plan.nodes & space.ended:
                    return Plan(start_s, consecutive(nodes & space.idle, job.nodes))
                start_s, later_s = space.now_s + 1.0, math.inf
            if start_s > later_s:
                not_before_s = later_s
                continue
            begin_s, end_s = self._kept(one, job, start_s)
            if apart or start_s > self._until_s(one) or not space.overlaps(begin_s, end_s, plan.nodes):
                return Plan(start_s, plan.nodes)
            not_before_s = start_s if start_s > not_before_s else later_s
        return None

    def _until_s(self, one: Any) -> float:
        """The last time that gets a reservation, s."""
        return float(one.space.now_s) + 60.0 * self.bf_window

    def _kept(self, one: Any, job: Job, start_s: float) -> tuple[float, float]:
        """The interval that is reserved: from the last whole multiple before the start to the last before the end."""
        end_s, up = start_s + one.view.estimate_s(job), RELEASES[self.release].ends_up
        return self._rounded(start_s), -self._rounded(-end_s) if up else self._rounded(end_s)

    def _rounded(self, time_s: float) -> float:
        return math.floor(time_s / self.bf_resolution) * self.bf_resolution if abs(time_s) < math.inf else time_s


def _pairs(view: View, queue: Sequence[Job], order: str) -> list[_Pair]:
    """Jobs in each of their partitions: higher tiers first, then in order of priority."""
    machine = view.machine
    sets = [mask_of(one.nodes) for one in machine.partitions]
    if not sets:
        return [_Pair(job, -1, -1, _with_gpus(view, job)) for job in queue]
    found = [
        _Pair(job, place, sets[place], sets[place] & _with_gpus(view, job)) for job in queue for place in job.partitions
    ]
    if order != MULTIFACTOR:
        return sorted(found, key=lambda pair: -machine.partitions[pair.partition].tier)
    return sorted(found, key=lambda pair: _multifactor(view, pair))


def _with_gpus(view: View, job: Job) -> int:
    """Nodes with enough GPUs for a job."""
    found = -1
    for place, amount in enumerate(job.pools):
        if amount and view.machine.layer_mode(place) == 0:
            found &= mask_of(view.machine.layer_nodes(place))
    return found


def _multifactor(view: View, pair: _Pair) -> tuple[float, ...]:
    """Key of a pair in Slurm's order, calculated pair by pair."""
    job = pair.job
    rows = priorities_of(view).in_partitions([job], np.zeros(1, np.intp), np.array([pair.partition]))
    tier = view.machine.partitions[pair.partition].tier
    return -tier, -rows[0, PRIORITY].item(), submitted_s(job), job.number


class _Pass(OnePass):
    """State of a pass and its actions on a job: plain sets, choices and starts; the rest is inherited."""

    def __init__(self, view: View, apart: bool, order: str, space: NodeSpace) -> None:
        queue = in_one_tier(view, view.queue, order)
        self.view, self.apart = view, apart
        self.ready: dict[str, bool] = view.notebook.setdefault(READY, {})
        self.space = space
        self.planned: dict[str, float] = view.notebook.setdefault(PLANNED, {})
        self.waiting = dict.fromkeys(queue)
        self.pairs = _pairs(view, queue, order)
        self._pools = view.machine.pools
        self._layers, self._ahead = [], None

    def until_s(self, planned: bool) -> float:
        """Later passes are unknown."""
        return -math.inf

    @property
    def any_waits(self) -> bool:
        """Whether a job waits still."""
        return bool(self.waiting)

    def pairs_of_waiting(self) -> list[_Pair]:
        """Jobs that wait still, in each of their partitions, in order of priority."""
        return [pair for pair in self.pairs if pair.job in self.waiting]

    def is_kept_out(self, pair: _Pair) -> bool:
        """Whether a job lacks nodes only because of a window: all others of its partition are idle, and too few."""
        begin_s = whole_s(self.view.now_s)
        end_s = begin_s + self.view.estimate_s(pair.job)
        left = pair.serving & (1 << len(self.view.machine.nodes)) - 1
        for one in self.view.taken:
            if one.start_s < end_s and one.end_s > begin_s:
                left &= ~mask_of(one.nodes)
        return bool(self.view.taken) and left.bit_count() < pair.job.nodes and not left & ~self.space.idle

    def lacks_counted(self, job: Job, *, licenses: bool) -> bool:
        """Whether a job lacks licenses now; or, without ``licenses``, exceeds a limit of its groups."""
        if not job.pools:
            return False
        free = self.view.timeline.free_pools_now()
        return any(
            0 < amount > left and pool.license is licenses and pool.layer is None
            for pool, left, amount in zip(self._pools, free, job.pools, strict=False)
        )

    def left(self) -> Iterator[Job]:
        """Jobs that wait still, in order of priority."""
        return iter(self.waiting)

    def try_start(self, pair: _Pair, nodes: int, role: Role) -> Start | None:
        """Start a job on some of these idle nodes of its partition, chosen as Slurm does where any node will do."""
        view, job, nodes = self.view, pair.job, nodes & pair.serving
        duration_s = view.estimate_s(job)
        if nodes.bit_count() < job.nodes:
            return None
        here = job if len(job.partitions) < 2 else replaced(job, partitions=(pair.partition,))
        allocation = fit_now(view, here, duration_s)
        if allocation is None:
            return None
        if not job.io_rate and (not job.bb_bytes or job.id in view.held):
            chosen = replaced(allocation, nodes=members(consecutive(nodes, job.nodes)))
            if self._is_free(chosen, duration_s):  # else they are reserved by the life of burst buffers
                allocation = chosen
        taken = mask_of(allocation.nodes)
        if taken & ~nodes:
            return None
        start = start_on(view, job, allocation, role)
        self.space.start(job, taken, duration_s)
        del self.waiting[job]
        return start

    def reserve(self, job: Job, plan: Plan, begin_s: float, end_s: float) -> None:
        """Keep a job's nodes for the rest of the pass."""
        self.space.reserve(begin_s, end_s, plan.nodes)
        if not self.lacks_buffer(job) and not self.stages_in(job):
            self.note(job, Role.RESERVED, start_s=plan.start_s)
