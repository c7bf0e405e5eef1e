"""Priorities of waiting jobs by a site's weights: Slurm's multifactor priority with Fair Tree.

``priority = site + age + association + fairshare + size + partition + qos + tres - nice``: except the first and the
last each term is a factor from 0 to 1 times its weight, 0 by default. The sum is rounded down, to a whole number from 1
to 2^32 - 1 (0 would hold the job). Usage and all priorities are calculated at whole multiples of the site's period in
simulated time; in between, priorities do not change, and new jobs have the age 0. Ages are in whole seconds, like
Slurm's clock. A job that may run in several partitions has a priority in each; for a single position in the queue that
of the best counts.

Jobs of a partition with a higher tier come first, under every policy; then jobs with a higher priority; equals by the
time of submission (also jobs held by dependencies), then by number.

References
----------
SchedMD, *Multifactor Priority Plugin*, *Fair Tree Fairshare Algorithm*, and *slurm.conf*, ``Priority...``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from spillway.schedulers.model.explanations import Priority
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.slurm.shares import Sharers
from spillway.schedulers.policykit.slurm.terms import FixedTerms, Terms
from spillway.schedulers.policykit.view import View

_MEMORY = "priorities"
"""Key of the notebook."""

PLANNED_S = "slurm planned at"
"""Key of the notebook: time of the last backfill pass (s). Slurm knows the CPUs of a job's whole nodes from the first
one on; without an entry they are known at the next calculation."""

SKIPPED = "slurm skipped"
"""Key of the notebook: whether all passes have skipped a job so far for licenses or limits, by its number."""

_SPARE = 1000
"""Largest number of rows kept beyond twice the waiting jobs."""

_MOST = 2**32 - 1
"""Largest priority."""

_FIXED, _LATER, _FIRST_S, _SINCE_S, _SUBMIT_S, _NUMBER, _TIER, _SHARER, PRIORITY, _COLUMNS = range(10)
"""Columns of rows of jobs: the constant terms at first and after the next calculation, the time of the last one before
the row, and so on."""

_ORDER = (_TIER, -1.0), (PRIORITY, -1.0), (_SUBMIT_S, 1.0), (_NUMBER, 1.0)
"""Columns by which jobs are ordered, with -1 where the largest comes first."""

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


def submitted_s(job: Job) -> float:
    """Time of a job's submission (s), also if dependencies held it since."""
    return round(job.submit_time_s - job.held_s, 6)


def priorities_of(view: View) -> Priorities:
    """Priorities of a pass's waiting jobs, by the site of its session; without a site all weights are 0."""
    found: Priorities | None = view.notebook.get(_MEMORY)
    if found is None:
        found = view.notebook[_MEMORY] = Priorities(view.site or Site(), view.machine)
    found.bring_up(view)
    return found


class Priorities:
    """Priorities of waiting jobs, a row of numbers for each job.

    Parameters
    ----------
    site
        The site, with weights, associations, partitions and qualities of service.
    machine
        Sizes are relative to this machine.
    """

    def __init__(self, site: Site, machine: Machine) -> None:
        self._weights = site.weights
        self._sharers = Sharers(site)
        self._terms = Terms(site, machine, self._sharers.qos_of)
        self._accrue_always = "ACCRUE_ALWAYS" in site.weights.flags
        self._time_s = self._now_s = -math.inf
        self._new: dict[int, float] = {}  # time at which rows were added since the last backfill pass, by job number
        self._unplanned: list[int] = []
        self._waiting: Sequence[Job] = ()
        self._places = np.full(64, -1, np.intp)  # of the row of each job, by number; -1: it has none
        self._jobs = 0  # with rows
        self._rows: Floats = np.empty((32, _COLUMNS))
        self._count = 0  # of rows in use

    def bring_up(self, view: View) -> None:
        """Update to the waiting jobs, and calculate anew if a period has begun since the last time."""
        self._waiting, self._now_s = view.waiting, view.now_s
        period_s, phase_s = self._weights.period_s, self._weights.phase_s
        time_s = phase_s + math.floor((view.now_s - phase_s) / period_s) * period_s
        if time_s <= self._time_s:
            return
        self._time_s = time_s
        planned_s = view.notebook.get(PLANNED_S, math.inf)
        self._new = {number: new_s for number, new_s in self._new.items() if new_s > planned_s}
        self._unplanned = [
            *self._new,
            *(number for number, all_did in view.notebook.get(SKIPPED, {}).items() if all_did),
        ]
        if self._weights.fairshare:
            self._sharers.calculate(view, time_s, (job for job in self._waiting if not self._has_row(job)))
        if self._jobs > 2 * len(self._waiting) + _SPARE:
            self._let_go()
        self._calculate(self._rows[: self._count])

    def _let_go(self) -> None:
        """Keep the rows of waiting jobs, with the begins of their ages; most others no longer wait."""
        rows, places = list[int](), np.full_like(self._places, -1)
        kept = [job for job in self._waiting if self._has_row(job)]
        for job in kept:
            place, places[job.number] = self._places.item(job.number), len(rows)
            rows += range(place, place + _rows_for(job))
        self._rows[: len(rows)] = self._rows[rows]
        self._places, self._jobs, self._count = places, len(kept), len(rows)

    def _has_row(self, job: Job) -> bool:
        return job.number < len(self._places) and self._places.item(job.number) >= 0

    def ordered(self, jobs: Iterable[Job]) -> list[Job]:
        """Jobs in order of tier, priority, submission and number."""
        these = list(jobs)
        places = self._places_of(these, np.array([job.number for job in these], np.intp))
        return [these[place] for place in self._order(places).tolist()]

    def in_partitions(self, jobs: Sequence[Job], numbers: Indices, at: Indices) -> tuple[Floats, Indices]:
        """Priorities of jobs in each of their partitions, and their order as in :meth:`ordered`.

        Each partition has its own factor, and shares of nodes are of its nodes.

        Parameters
        ----------
        jobs, numbers
            The jobs, and their numbers.
        at
            Place of each pair's job, ascending; a job has a pair for each of its partitions, in the job's order, or one
            pair without partitions.
        """
        places = self._places_of(jobs, numbers)
        if len(at) > len(jobs):
            counts = np.bincount(at, minlength=len(jobs))
            first = np.cumsum(counts) - counts
            places = places[at] + np.where(counts[at] > 1, 1 + np.arange(len(at)) - first[at], 0)
        return self._rows[places, PRIORITY], self._order(places)

    def _sums(self, job: Job, fixed: FixedTerms) -> tuple[float, float]:
        """Constant terms of a job, at first and after the next calculation."""
        before, sums = fixed.site + self._association(job), list[float]()
        for size in (fixed.size, fixed.allocated_size):
            sums.append(before + size + fixed.partition + fixed.qos + fixed.tres - fixed.nice)
        return sums[0], sums[1]

    def of(self, jobs: Sequence[Job]) -> Floats:
        """Priority of each of these jobs."""
        priorities: Floats = self._rows_of(jobs)[:, PRIORITY]
        return priorities

    def explained(self, jobs: Iterable[Job]) -> Iterator[tuple[str, Priority]]:
        """Ids of jobs, and the priority of each with its terms; of several jobs with an id the waiting one counts."""
        waiting = {job.id: job for job in self._waiting}
        for job in jobs:
            one = waiting.get(job.id, job)
            row = self._rows_of([one])
            age, fairshare = self._changing(row)
            fixed, assumed = self._terms.of(one)
            assumed = [*assumed, *self._sharers.assumed(one)]
            size = fixed.allocated_size if self._is_later(row)[0] else fixed.size
            yield job.id, Priority(
                int(row[0, PRIORITY]), fixed.site, float(age[0]), self._association(one), float(fairshare[0]),
                size, fixed.partition, fixed.qos, fixed.nice, fixed.tres, "; ".join(assumed),
            )  # fmt: skip

    def _order(self, places: Indices) -> Indices:
        """Indices of rows by tier, priority, submission and number."""
        return np.lexsort([sign * self._rows[places, column] for column, sign in reversed(_ORDER)])

    def _rows_of(self, jobs: Sequence[Job]) -> Floats:
        places = self._places_of(jobs, np.array([job.number for job in jobs], np.intp))  # may make rows
        return self._rows[places]

    def _places_of(self, jobs: Sequence[Job], numbers: Indices) -> Indices:
        """Place of each job's row."""
        largest = int(numbers.max(initial=-1))
        if largest >= len(self._places):
            self._places = np.append(self._places, np.full(largest + 1, -1, np.intp))
        places = self._places[numbers]
        if (places < 0).any():
            new = [jobs[place] for place in np.flatnonzero(places < 0).tolist()]
            if [*self._waiting[-len(new) :]] != new:  # not all of them are the last arrivals
                ids = {job.id for job in new}
                self._add(job for job in self._waiting if job.id in ids)
            self._add(new)
            places = self._places[numbers]
        return places

    def _add(self, jobs: Iterable[Job]) -> None:
        """Add rows for jobs without one: its own, and one for each of several partitions."""
        first = self._count
        for job in jobs:
            if self._has_row(job):
                continue
            self._places[job.number] = self._count
            self._jobs += 1
            self._new[job.number] = self._now_s
            sharer = self._sharers.place(job.account, job.user)
            submit_s = submitted_s(job)
            # The age of a job held by dependencies counts from the first pass after its release.
            waits_s = self._now_s if job.held_s else job.submit_time_s
            since_s = math.floor(submit_s if self._accrue_always else waits_s)
            for partition in (None, *job.partitions[: _rows_for(job) - 1]):
                if self._count == len(self._rows):
                    self._rows = np.concatenate((self._rows, np.empty_like(self._rows)))
                fixed, _ = self._terms.of(job) if partition is None else self._terms.of(job, partition)
                sums = self._sums(job, fixed)
                self._rows[self._count] = *sums, self._time_s, since_s, submit_s, job.number, fixed.tier, sharer, 0.0
                self._count += 1
        if self._count > first:
            self._calculate(self._rows[first : self._count])

    def _association(self, job: Job) -> float:
        return self._weights.association * self._sharers.association(job)

    def _calculate(self, rows: Floats) -> None:
        if self._unplanned:
            rows[np.isin(rows[:, _NUMBER], self._unplanned), _FIRST_S] = self._time_s
        age, fairshare = self._changing(rows)
        # Added in Slurm's order: 321.66... and 333.33... are 655 together, and less one after the other.
        fixed = np.where(self._is_later(rows), rows[:, _LATER], rows[:, _FIXED])
        rows[:, PRIORITY] = _bounded(np.floor(age + fairshare + fixed), 1.0, _MOST)

    def _is_later(self, rows: Floats) -> npt.NDArray[np.bool_]:
        """Whether CPUs of whole nodes count: there was a calculation since a backfill pass has planned the job."""
        found: npt.NDArray[np.bool_] = rows[:, _FIRST_S] < self._time_s
        return found

    def _changing(self, rows: Floats) -> tuple[Floats, Floats]:
        """Terms that change with time: age and fair share."""
        weights = self._weights
        age = weights.age * _bounded((math.floor(self._time_s) - rows[:, _SINCE_S]) / weights.longest_age_s, 0.0, 1.0)
        return age, weights.fairshare * self._sharers.factors[rows[:, _SHARER].astype(np.intp)]


def _bounded(values: Floats, least: float, most: float) -> Floats:
    """Equal to :func:`numpy.clip`, which takes several times as long for a row or two."""
    found: Floats = np.minimum(np.maximum(values, least), most)
    return found


def _rows_for(job: Job) -> int:
    """Number of a job's rows."""
    return 1 + len(job.partitions) if len(job.partitions) > 1 else 1
