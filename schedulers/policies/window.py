"""Window: start the set of the first jobs that uses most nodes and burst buffers now, by an exact search.

References
----------
Kopanski, master's thesis 2020, section 3.3, Algorithm 7; Fan et al., *Scheduling beyond CPUs for HPC*, HPDC 2019
(DOI 10.1145/3307681.3325401), for windows and ages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from spillway.base.errors import OptionError
from spillway.base.options import option
from spillway.core import Free
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.balance import nodes_first
from spillway.schedulers.policykit.ordering import ORDER_NAMES, ordered
from spillway.schedulers.policykit.passes import fill, reserve_first, start_in_order, start_on, try_start
from spillway.schedulers.policykit.view import View
from spillway.schedulers.search.packing import Packing, PackingAnswer, pack
from spillway.schedulers.search.pareto import Genetic, choose
from spillway.schedulers.search.subset import SubsetProblem, SubsetResult, largest_first
from spillway.schedulers.search.subset_bb import Budget, branch_and_bound
from spillway.schedulers.search.subset_z3 import Z3Packer

AGES = "window ages"
"""Key of the notebook: passes that each job has spent in the window, by job id."""

CHOICES = "window choices"
"""Key of the notebook: the :class:`Choices` of the conversation so far."""


_LARGEST_FIRST_JOBS = 16
"""Largest window for the thesis's loop over sets."""

Z3_LIMIT = 1_000_000
"""Budget of a question to Z3 (rlimit, some million per second)."""

PACK_STEPS = 100_000
"""Steps of packing after which the thesis's loop uses Z3."""


@dataclass
class Choices:
    """Statistics of the choices of a conversation.

    Attributes
    ----------
    made
        Choices made (passes in which a job of the window could start).
    proven
        Choices proven to be best.
    steps, most_steps
        Steps of all searches, and of the longest one.
    first_gap, second_gap
        Largest gaps to the bounds, in the first and the second part of the score, relative.
    """

    made: int = 0
    proven: int = 0
    steps: int = 0
    most_steps: int = 0
    first_gap: float = 0.0
    second_gap: float = 0.0

    def add(self, result: SubsetResult) -> None:
        """Count one choice."""
        self.made += 1
        self.proven += result.proven
        self.steps += result.steps
        self.most_steps = max(self.most_steps, result.steps)
        first, second = result.gap
        self.first_gap, self.second_gap = max(self.first_gap, first), max(self.second_gap, second)


@dataclass(frozen=True)
class Window:
    """Start the best set of the first jobs that fit together, then backfill shortest first."""

    source: ClassVar[str] = "Kopanski 2020, section 3.3, Algorithm 7"
    starts_moldable: ClassVar[bool] = True
    packs_buffers: ClassVar[bool] = True

    size: int = option(40, unit="jobs", low=1, high=1000, help="first jobs of the queue to choose from")
    max_age: int = option(
        50, unit="passes", low=1, high=1_000_000_000, help="passes in the window after which a first job must be chosen"
    )
    depth: int = option(
        1, unit="jobs", low=0, high=1000, help="first jobs that are mandatory at max_age, and get reservations"
    )
    balance: float = option(
        1.0, low=0.0, high=1e6, help="nodes come first while burst-buffer load <= balance x compute load of the queue"
    )
    method: str = option(
        "bb",
        choices=("bb", "largest-first", "pareto"),
        help="exact search: branch and bound; the thesis's loop over sets from the largest down, with Z3; or BBSched's "
        "genetic search of both objectives",
    )
    steps: int = option(
        1_000_000, unit="steps", low=0, high=10**10, help="budget of a choice (some 50 million steps per second)"
    )
    placement: str = option(
        "nearest",
        choices=("nearest", "solver"),
        help="near storage nodes if the set then still fits; or nodes by Batsim id and storage as the search packed it",
    )
    reserve: str = option(
        "aged",
        choices=("aged", "empty", "always"),
        help="first jobs get reservations: at max_age (the thesis's code), if nothing was chosen (its text), always",
    )
    fill_order: str = option("sjf", choices=ORDER_NAMES, help="order in which gaps are filled afterwards")
    literal_depth: bool = option(False, help="the thesis's code for depth >= 2, as in backfilling")

    def __post_init__(self) -> None:
        """Refuse windows that are too large for the thesis's loop: it examines up to ``2**size`` sets."""
        if self.method == "largest-first" and self.size > _LARGEST_FIRST_JOBS:
            raise OptionError(
                f"option 'size' must be at most {_LARGEST_FIRST_JOBS} with method 'largest-first', got {self.size}: "
                "take a smaller window or method 'bb'"
            )

    def __call__(self, view: View) -> Iterable[Decision]:
        """Choose, start the chosen, backfill."""
        queue = view.queue
        ages = self._grow_older(view)
        if not queue or (view.notes is None and not view.may_start):
            return
        chosen: list[Job] = []
        yield from self._choose(view, queue[: self.size], ages, chosen)
        taken = set(chosen)
        waiting: Sequence[Job] = [job for job in queue if job not in taken]
        started: list[Job] = []
        yield from start_in_order(view, waiting, started)
        waiting = waiting[len(started) :]
        first = [job for job in waiting[: self.depth] if self._reserves(ages.get(job.id, 0), bool(chosen))]
        kept = yield from reserve_first(view, first, literal_depth=self.literal_depth)
        served = set(first)
        others = [job for job in waiting if job not in served]
        yield from fill(view, ordered(view, others, self.fill_order), kept[0].id if kept else "")

    def _grow_older(self, view: View) -> dict[str, int]:
        """Count one more pass for each job of the window."""
        before = view.notebook.get(AGES, {})
        ages = {job.id: before.get(job.id, 0) + 1 for job in view.queue[: self.size]}
        view.notebook[AGES] = ages
        return ages

    def _reserves(self, age: int, anything_chosen: bool) -> bool:
        if self.reserve == "aged":
            return age >= self.max_age
        return self.reserve == "always" or not anything_chosen

    def _choose(self, view: View, window: Sequence[Job], ages: dict[str, int], chosen: list[Job]) -> Iterator[Start]:
        """Start the best set; append its jobs to ``chosen``."""
        longest_s = max(view.estimate_s(job) for job in window)
        free = view.timeline.free_until(view.now_s + longest_s)
        mandatory = tuple(i for i, job in enumerate(window[: self.depth]) if ages[job.id] >= self.max_age)
        first = nodes_first(view.machine, view.queue, self.balance)
        problem = problem_of(view, window, free, first, mandatory)
        if not any(problem.within_limits([i]) for i in range(len(window))):
            return
        result = _METHODS[self.method](self, problem, view)
        counts: Choices = view.notebook.setdefault(CHOICES, Choices())
        counts.add(result)
        if view.notes is not None:
            view.notes.remarks.append(describe(result))
        if not result.chosen:
            return
        jobs = [window[i] for i in result.chosen]
        places = list(zip(jobs, self._allocations(view, jobs, free, result.taken), strict=True))
        for job, allocation in sorted(places, key=lambda place: place[1] is None):  # fixed allocations come first
            start = try_start(view, job) if allocation is None else start_on(view, job, allocation)
            if start is not None:
                chosen.append(job)
                yield start

    def _allocations(
        self, view: View, jobs: Sequence[Job], free: Free, taken: npt.NDArray[np.int64]
    ) -> list[Allocation | None]:
        """Allocation of each job; ``None`` leaves it to the timeline (as for jobs to which not all nodes are equal)."""
        if self.placement == "nearest" and self._fit_one_by_one(view, jobs):
            return [None] * len(jobs)
        nodes = list(free.nodes)
        if self.placement == "solver":
            nodes.sort(key=lambda node: view.machine.nodes[node].resource_id)
        found: list[Allocation | None] = []
        for job, counts in zip(jobs, taken.tolist(), strict=True):
            own, nodes = sorted(nodes[: job.nodes]), nodes[job.nodes :]
            storages = _storages(view.machine, own, counts, self.placement == "nearest") if job.bb_bytes else ()
            fixed = not (job.io_rate and view.machine.links) and job.lives is None and not (job.partitions or job.pools)
            found.append(Allocation(tuple(own), storages, job.bb_bytes, job.io_rate) if fixed else None)
        return found

    def _fit_one_by_one(self, view: View, jobs: Sequence[Job]) -> bool:
        """Whether the timeline's own placement, job after job, takes all of them."""
        timeline = view.timeline
        before = timeline.snapshot()
        fits = True
        for job in jobs:
            duration_s = view.estimate_s(job)
            allocation = timeline.fit_now(job, duration_s)
            if allocation is None:
                fits = False
                break
            timeline.reserve(view.now_s, view.now_s + duration_s, allocation)
        timeline.restore(before)
        return fits


def problem_of(
    view: View, window: Sequence[Job], free: Free, units_first: bool, mandatory: tuple[int, ...]
) -> SubsetProblem:
    """Make the choice of jobs that start together a problem of :mod:`spillway.schedulers.search.subset`.

    Bandwidth is limited on links that are above all nodes; other links count when jobs are placed. Together, jobs of a
    partition get at most its free nodes, and jobs get at most the free amount of a pool (amounts of layers of resources
    follow from the nodes when jobs are placed).
    """
    loads, limits = [], []
    for place, left in enumerate(view.timeline.free_pools_now()):
        if view.machine.pools[place].layer is None:
            loads.append([max(job.pools[place], 0) if place < len(job.pools) else 0 for job in window])
            limits.append(max(left, 0))
    for place, partition in enumerate(view.machine.partitions):
        inside = [job.nodes if job.partitions == (place,) else 0 for job in window]
        if any(inside):
            loads.append(inside)
            limits.append(len(partition.nodes.intersection(free.nodes)))
    if any(job.io_rate for job in window):
        for link in _above_all(view.machine):
            loads.append([job.nodes * job.io_rate for job in window])
            limits.append(free.bandwidths[link])
    return SubsetProblem(
        units=[job.nodes for job in window],
        sizes=[job.bb_bytes for job in window],
        waits=[max(0.0, view.now_s - job.submit_time_s) for job in window],
        free_units=len(free.nodes),
        capacities=free.free_bytes,
        units_first=units_first,
        mandatory=mandatory,
        loads=loads,
        load_limits=limits,
    )


def describe(result: SubsetResult) -> str:
    """Describe a choice in a line: the number of jobs, and the gap to the bounds."""
    if result.chosen is None:
        found = "no set with the jobs that must start" if result.proven else "no set found"
        return f"window: {found}, {result.steps} steps"
    first, second = result.gap
    proof = "proven best" if result.proven else f"gap {first:.2%} in the first, {second:.2%} in the second part"
    return f"window: {len(result.chosen)} jobs together, {proof}, {result.steps} steps"


def _above_all(machine: Machine) -> list[int]:
    """Links on the path of every node to storage."""
    paths = []
    for link in set(machine.node_link.tolist()):
        path = set()
        while link >= 0:
            path.add(link)
            link = machine.links[link].parent
        paths.append(path)
    return sorted(set.intersection(*paths)) if paths else []


def _storages(machine: Machine, nodes: Sequence[int], counts: list[int], nearest: bool) -> tuple[int, ...]:
    """Assign a job's storages, ``counts`` units on each: for each node the nearest left, or the lowest."""
    left = list(counts)
    found = []
    for node in nodes:
        order = machine.nearest_storages[node].tolist() if nearest else range(len(left))
        storage = next(place for place in order if left[place] > 0)
        left[storage] -= 1
        found.append(storage)
    return tuple(found)


def _by_bb(policy: Window, problem: SubsetProblem, view: View) -> SubsetResult:
    return branch_and_bound(problem, Budget(policy.steps))


def _by_largest_first(policy: Window, problem: SubsetProblem, view: View) -> SubsetResult:
    packer = Z3Packer(Z3_LIMIT)

    def fits(chosen: tuple[int, ...]) -> Packing:
        quick = pack(
            *problem.of(chosen), problem.capacities, PACK_STEPS
        )  # the same answer as Z3's, a thousand times faster
        return (
            packer.pack(*problem.of(chosen), problem.capacities) if quick.verdict is PackingAnswer.UNDECIDED else quick
        )

    result = largest_first(problem, fits, policy.steps)
    if not result.chosen or policy.placement != "solver":
        return result
    packing = packer.pack(*problem.of(result.chosen), problem.capacities)
    return replace(result, taken=packing.taken) if packing.verdict is PackingAnswer.YES else result


def _by_pareto(policy: Window, problem: SubsetProblem, view: View) -> SubsetResult:
    totals = (len(view.machine.nodes), sum(storage.capacity_bytes for storage in view.machine.storages))
    return choose(problem, totals, Genetic(), view.rng.getrandbits(64))


_METHODS: dict[str, Callable[[Window, SubsetProblem, View], SubsetResult]] = {
    "bb": _by_bb,
    "largest-first": _by_largest_first,
    "pareto": _by_pareto,
}
