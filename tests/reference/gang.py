"""Gang scheduling without the protocol, in plain code with the steps of :mod:`tests.reference.gang_steps`.

Between two events the matrix does not change, so that each job's service and its end follow from closed formulas
(:mod:`spillway.schedulers.timesharing.slices`). Tests compare the core's with it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from spillway.experiments.studies.gang.aggregate import Ran, Setting
from spillway.schedulers.timesharing.columns import mask_of
from spillway.schedulers.timesharing.slices import Slices
from spillway.workloads.gang import GangJob
from tests.reference.gang_matrix import Matrix, Place, Request
from tests.reference.gang_steps import recompute


class _Running:
    """A job in the matrix: its place, its remaining time at an instant, and its end if nothing changes.

    It runs in ``columns`` and ``rows``: those of its place, or, while it is ``moving`` there with the next slice, those
    of its former place, for the rest of the running slice (``rows`` 0: no more in this slice).
    """

    __slots__ = ("columns", "end_us", "lag_us", "left_us", "moving", "place", "rows", "since_us")

    def __init__(self, place: Place, left_us: int, now_us: int) -> None:
        self.place = place
        self.columns, self.rows = place.columns, place.rows
        self.moving = False
        self.left_us = left_us
        self.lag_us = 0
        self.since_us = now_us
        self.end_us = 0

    def serve(self, now_us: int, slices: Slices) -> None:
        """Subtract the service received since the last call; a restart is paid first."""
        rows = self.rows
        received = slices.service_us(now_us, rows) - slices.service_us(self.since_us, rows) if rows else 0
        paid = min(self.lag_us, received)
        self.lag_us -= paid
        self.left_us -= received - paid
        self.since_us = now_us

    def foresee(self, slices: Slices) -> int:
        """Compute and return its end."""
        self.end_us = slices.end_us(self.since_us, self.lag_us + self.left_us, self.rows)
        return self.end_us

    @property
    def local(self) -> bool:
        """Whether it runs on its file's nodes."""
        return self.columns == self.place.files or not self.place.files


def run_plainly(jobs: Sequence[GangJob], setting: Setting) -> Ran:
    """The same as :func:`spillway.experiments.studies.gang.aggregate.run_gang`."""
    return _Machine(jobs, setting).run()


class _Machine:
    """One simulation."""

    def __init__(self, jobs: Sequence[GangJob], setting: Setting) -> None:
        self._jobs = jobs
        self._setting = setting
        self._matrix = Matrix(setting.slices.level, setting.nodes)
        self._queue: dict[int, Request] = {}
        self._running: dict[int, _Running] = {}
        self._ends: list[tuple[int, int]] = []
        self._slice, self._used = -1, 0
        self._moving: list[_Running] = []
        self._moves_us = 0
        self._ran = Ran([0] * len(jobs), [0] * len(jobs), [False] * len(jobs), 0)
        self._migrations = 0

    def run(self) -> Ran:
        """Take one instant after the other at which jobs end or come."""
        jobs, coming = self._jobs, 0
        while coming < len(jobs) or self._running:
            end_us = self._next_end()
            submit_us = jobs[coming].submit_us if coming < len(jobs) else None
            moves_us = self._moves_us if self._moving else None
            now_us = min(instant for instant in (end_us, submit_us, moves_us) if instant is not None)
            if end_us == now_us:
                self._take_out(now_us)
            if moves_us == now_us:
                self._arrive(now_us)
                if now_us not in (end_us, submit_us):
                    continue  # the matrix has been laid out for them already
            while coming < len(jobs) and jobs[coming].submit_us == now_us:
                self._queue[coming] = Request(coming, jobs[coming].size, mask_of(jobs[coming].file_nodes))
                coming += 1
            self._event(now_us)
        return Ran(self._ran.start_us, self._ran.end_us, self._ran.local, self._migrations)

    def _next_end(self) -> int | None:
        ends = self._ends
        while ends:
            end_us, job = ends[0]
            running = self._running.get(job)
            if running is not None and running.end_us == end_us:
                return end_us
            heapq.heappop(ends)  # its place has changed since
        return None

    def _take_out(self, now_us: int) -> None:
        gone = []
        while self._next_end() == now_us:
            job = heapq.heappop(self._ends)[1]
            running = self._running.pop(job)
            self._ran.end_us[job], self._ran.local[job] = now_us, running.local
            gone.append(job)
        self._matrix = self._matrix.without(gone)

    def _event(self, now_us: int) -> None:
        """Compute the matrix anew, and the end of each job with a changed place."""
        setting, slices = self._setting, self._setting.slices
        number = slices.number(now_us)
        if number != self._slice:
            self._slice, self._used = number, 0
        outcome = recompute(self._matrix, self._queue.values(), setting.rules, setting.limit - self._used)
        self._used += outcome.tasks
        self._migrations += len(outcome.migrated)
        self._matrix = outcome.matrix
        first_new = len(outcome.matrix.places) - outcome.started
        for place in outcome.matrix.places[:first_new]:
            running = self._running[place.job]
            if place is not running.place and place != running.place:
                self._move(running, place, now_us)
        for place in outcome.matrix.places[first_new:]:
            del self._queue[place.job]
            job = self._jobs[place.job]
            left_us = setting.costs.length_us(job.cpu_us, job.blocks, local=place.local)
            running = self._running[place.job] = _Running(place, left_us, now_us)
            self._ran.start_us[place.job] = now_us
            heapq.heappush(self._ends, (running.foresee(slices), place.job))
        if self._moving:
            self._displace(now_us)

    def _move(self, running: _Running, place: Place, now_us: int) -> None:
        old = running.place
        if place.rows == old.rows and place.columns == old.columns:
            running.place = place
            return
        slices = self._setting.slices
        running.place = place
        if running.moving:
            return
        running.serve(now_us, slices)
        begins_us = self._setting.migration_start.begins_us(now_us, slices)
        if place.columns != old.columns and begins_us > now_us:
            running.moving, running.rows = True, old.rows & 1 << slices.row(now_us)
            self._moving.append(running)
            self._moves_us = begins_us
            self._foresee_slice(running)
            return
        self._settle_in(running)

    def _settle_in(self, running: _Running) -> None:
        """From now on a job runs in its place; on other columns it restarts first."""
        place = running.place
        if place.columns != running.columns:
            job, costs = self._jobs[place.job], self._setting.costs
            running.left_us = costs.at_home_us(running.left_us, job.cpu_us, job.blocks)
            running.lag_us = costs.migration_us
        running.columns, running.rows, running.moving = place.columns, place.rows, False
        heapq.heappush(self._ends, (running.foresee(self._setting.slices), place.job))

    def _foresee_slice(self, running: _Running) -> None:
        """Whether a job that is to move ends before, in the running slice."""
        if running.rows and running.foresee(self._setting.slices) <= self._moves_us:
            heapq.heappush(self._ends, (running.end_us, running.place.job))
        else:
            running.end_us = -1

    def _displace(self, now_us: int) -> None:
        """Take jobs that are to move with the next slice off columns that other jobs got in this one."""
        self._moving = [running for running in self._moving if running.place.job in self._running]
        bit = 1 << self._setting.slices.row(now_us)
        wanted = 0
        for place in self._matrix.places:
            if place.rows & bit and not self._running[place.job].moving:
                wanted |= place.columns
        for running in self._moving:
            if running.rows and running.columns & wanted:
                running.serve(now_us, self._setting.slices)
                running.rows, running.end_us = 0, -1

    def _arrive(self, now_us: int) -> None:
        """At the begin of a slice move jobs to their places in the matrix, except those that have ended before."""
        moving, self._moving = self._moving, []
        for running in moving:
            if running.place.job in self._running:
                running.serve(now_us, self._setting.slices)
                self._settle_in(running)
