"""A pass of Slurm's schedulers over the waiting jobs: its state, and its operations on one job.

References
----------
Slurm 22.05 and 24.11, ``slurmctld``, ``sched/backfill``; the rules are in ``docs/slurm.md``.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.core import Resource, Timeline
from spillway.schedulers.model.decisions import Hold, Start
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.policykit.holds import fit_now, try_hold
from spillway.schedulers.policykit.ordering import ordered
from spillway.schedulers.policykit.passes import binding_now, start_on
from spillway.schedulers.policykit.slurm.nodespace import (
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
from spillway.schedulers.policykit.slurm.pairs import Pair, Pairs
from spillway.schedulers.policykit.slurm.priority import SKIPPED, priorities_of, submitted_s
from spillway.schedulers.policykit.view import View

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

_SHORTEST_S = 1e-9
"""Duration that stands for the present instant (s)."""


class SlurmRules(NamedTuple):
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


RELEASES: Mapping[str, SlurmRules] = {
    "22.05": SlurmRules(overlaps=True, ends_up=False, licenses_first=True),
    "24.11": SlurmRules(overlaps=False, ends_up=True, licenses_first=False),
}
"""Rules by release of Slurm."""


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
        self, view: View, apart: bool, order: str, rules: SlurmRules, space: NodeSpace, *, began: bool = False
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
            tiers = [partition.tier for partition in view.machine.partitions]
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
