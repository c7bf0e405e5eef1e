"""The steps of scheduling passes: start in order, reserve, fill. Pure except for the private timeline.

Every step books its starts and reservations in ``view.timeline``, so that the next step counts them, and writes a note
on each job where notes are kept.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Sequence

import numpy as np

from spillway.core import Fill, Fit, Resource, StartsInOrder
from spillway.schedulers.model.decisions import Start
from spillway.schedulers.model.explanations import Binding, Role
from spillway.schedulers.model.job import Allocation, Job, replaced, sized_as
from spillway.schedulers.policykit.estimates import Walltimes
from spillway.schedulers.policykit.holds import book, earliest_fit, fit_now
from spillway.schedulers.policykit.view import View


def try_start(view: View, job: Job, role: Role = Role.STARTED) -> Start | None:
    """Book and return the start of one job if it fits now for its whole estimated duration, else ``None``.

    A moldable job that does not fit with all requested nodes starts on as many as possible.
    """
    allocation = fit_now(view, job, view.estimate_s(job))
    if allocation is None and view.fewest_nodes is not None:
        allocation = _fit_smaller(view, job, view.fewest_nodes(job))
    return None if allocation is None else start_on(view, job, allocation, role)


def _fit_smaller(view: View, job: Job, fewest: int) -> Allocation | None:
    """The largest allocation with which a job fits now, from ``fewest`` nodes to one less than it requests."""
    timeline, duration_s = view.timeline, view.estimate_s(job)
    low, high = fewest, min(job.nodes - 1, timeline.free_nodes_now())
    found: Allocation | None = None
    while low <= high:
        middle = (low + high + 1) // 2 if found is not None else low
        allocation = timeline.fit_now(sized_as(job, middle), duration_s)
        if allocation is None:
            high = middle - 1
        else:
            found, low = allocation, middle + 1
    return found


def start_in_order(view: View, jobs: Sequence[Job], started: list[Job]) -> Iterator[Start]:
    """First come, first served: start jobs in this order up to the first misfit; append them to ``started``."""
    if view.at_once:
        estimate_s = None if view.estimate_s is Walltimes.estimate_s else view.estimate_s
        starts = StartsInOrder(view.timeline, jobs, estimate_s)
        yield from starts
        if starts.started:
            started.extend(jobs[: starts.started])
        return
    for job in jobs:
        start = try_start(view, job)
        if start is None:
            if view.notes is not None:
                view.notes.write(job.id, Role.PASSED_OVER, binding_now(view, job))
            return
        started.append(job)
        yield start


def fill(view: View, jobs: Sequence[Job], blocker: str = "") -> Iterator[Start]:
    """Greedy filling: start every job that fits now, in this order (thesis, Algorithm 2)."""
    if not view.at_once:
        return _fill_one_by_one(view, jobs, blocker)
    durations_s = None
    if view.estimate_s is not Walltimes.estimate_s:
        durations_s = np.array([view.estimate_s(job) for job in jobs], np.float64)
    return Fill(view.timeline, jobs, durations_s)  # the core finds the next that fits, and books it


def _fill_one_by_one(view: View, jobs: Iterable[Job], blocker: str) -> Iterator[Start]:
    """Fill one job after the other: notes are kept, or jobs may start on fewer nodes or on held buffers."""
    free = view.timeline.free_nodes_now()
    for job in jobs:
        fewest = job.nodes if view.fewest_nodes is None else view.fewest_nodes(job)
        start = try_start(view, job, Role.BACKFILLED) if fewest <= free or job.lives is not None else None
        if start is not None:
            free = view.timeline.free_nodes_now()
            yield start
        elif view.notes is not None:
            binding = binding_now(view, job)
            view.notes.write(
                job.id, Role.PASSED_OVER, binding, blocker=blocker if binding is Binding.RESERVATION else ""
            )
        elif free == 0 and not view.stages_first:
            return


def reserve(view: View, job: Job, covering: Resource, by_number: bool = False) -> Fit | None:
    """Reserve the earliest interval for one job and note it; ``None`` when it can never fit.

    ``by_number``: on as few as possible of the nodes that are idle now, so that as many are left as if only a number of
    nodes were reserved (Mu'alem, Feitelson 2001, section 2.2: the extra nodes).
    """
    duration_s = view.estimate_s(job)
    fit = earliest_fit(view, job, duration_s, covering)
    view.reserved.append(math.inf if fit is None else fit.start_s)
    if fit is None:
        return None
    if by_number:
        fit = _off_idle_nodes(view, job, fit, duration_s, covering)
    if view.notes is not None:
        view.notes.write(job.id, Role.RESERVED, binding_now(view, job), fit.start_s)
    book(view, job, fit, duration_s, covering)
    return fit


def _off_idle_nodes(view: View, job: Job, fit: Fit, duration_s: float, covering: Resource) -> Fit:
    """A fit at the same time with as few idle nodes as possible."""
    timeline, start_s, end_s = view.timeline, fit.start_s, fit.start_s + duration_s
    free = timeline.free_nodes_now()
    if not free or start_s <= view.now_s:
        return fit
    plain = sized_as(job if job.lives is None else replaced(job, lives=None), free)
    idle = timeline.fit_now(plain, 1e-9, Resource.NODES)
    low, high = 0, 0 if idle is None else len(idle.nodes)
    while low < high:
        middle = (low + high + 1) // 2
        left_out = Allocation(idle.nodes[-middle:] if idle is not None else ())
        try:
            timeline.reserve(start_s, end_s, left_out, Resource.NODES)
        except ValueError:  # reserved for another job already
            high = middle - 1
            continue
        found = earliest_fit(view, job, duration_s, covering, start_s)
        timeline.release(start_s, end_s, left_out, Resource.NODES)
        if found is None:
            high = middle - 1
        else:
            low, fit = middle, found
    return fit


def reserve_first(
    view: View,
    jobs: Iterable[Job],
    covering: Resource = Resource.ALL,
    literal_depth: bool = False,
    misfit: Job | None = None,
    by_number: bool = False,
) -> Generator[Start, None, list[Job]]:
    """Reserve for jobs in order, or start them where the reservation would begin now; return those that wait.

    ``literal_depth`` is the thesis's code for more than one job: a job never starts in the pass that reserves for it.
    ``misfit`` is a job that is known not to fit now, if it comes first. ``by_number``: see :func:`reserve`.
    """
    waiting: list[Job] = []
    for job in jobs:
        start = None if literal_depth or (job is misfit and not waiting) else try_start(view, job)
        if start is not None:
            yield start
        else:
            reserve(view, job, covering, by_number)
            waiting.append(job)
    return waiting


def serve_first(view: View, jobs: Sequence[Job], literal_depth: bool = False) -> Generator[Start, None, list[Job]]:
    """Start jobs in order up to the first misfit, reserve for the others; return those that wait (Algorithms 6, 8)."""
    started: list[Job] = []
    yield from start_in_order(view, jobs, started)
    rest = jobs[len(started) :]
    return (yield from reserve_first(view, rest, literal_depth=literal_depth, misfit=rest[0] if rest else None))


def start_on(view: View, job: Job, allocation: Allocation, role: Role = Role.STARTED) -> Start:
    """Book and return the start of a job on an allocation that is free; raise ValueError if it is not."""
    book(view, job, Fit(view.now_s, allocation), view.estimate_s(job))
    if view.notes is not None:
        view.notes.write(job.id, role, estimate_s=view.now_s)
    return Start(job, allocation)


def binding_now(view: View, job: Job) -> Binding:
    """Resource that keeps a job from starting now: tested one by one at this instant, reservations last.

    A burst buffer that the job already holds is not tested.
    """
    now = job if job.lives is None else replaced(job, lives=None)
    shortest = 1e-9
    for resource, binding in (
        (Resource.NODES, Binding.NODES),
        (Resource.BURST_BUFFERS, Binding.BURST_BUFFERS),
        (Resource.BANDWIDTH, Binding.BANDWIDTH),
        (Resource.POOLS, Binding.POOLS),
    ):
        if resource is Resource.BURST_BUFFERS and job.id in view.held:
            continue
        if view.timeline.fit_now(now, shortest, covering=Resource.NODES | resource) is None:
            return binding
    if fit_now(view, job, view.estimate_s(job)) is not None:
        return Binding.ORDER
    return Binding.RESERVATION
