"""Observations of a learner: four tables of numbers from 0 to 1; their shapes do not depend on the machine."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from spillway.learning.chooser import Turn
from spillway.schedulers.model.machine import Machine

Table = npt.NDArray[np.float32]
Observation = dict[str, Table]

_MONTH_S = 30 * 86_400.0
_MOST_WAITING = 10_000
_HORIZONS_S = (0.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 12 * 3600.0, 86_400.0, 7 * 86_400.0)
"""Times ahead for which free resources are shown (s)."""

DAY_S, WEEK_S = 86_400.0, 7 * 86_400.0
OTHERS = ("machine", "releases", "storages")
"""Tables besides the jobs, in the order of a network's inputs."""

JOB_FEATURES, MACHINE_FEATURES, QUANTILES = 6, 9, 5


def shapes(window: int) -> Mapping[str, tuple[int, ...]]:
    """Shapes of the tables by their names."""
    return {
        "jobs": (window, JOB_FEATURES),
        "machine": (MACHINE_FEATURES,),
        "releases": (len(_HORIZONS_S), 2),
        "storages": (QUANTILES,),
    }


def nothing(window: int) -> Observation:
    """Observation at the end of an episode: zeros."""
    return {name: np.zeros(shape, np.float32) for name, shape in shapes(window).items()}


class ObservationEncoder:
    """Describes turns as observations.

    Parameters
    ----------
    machine
        The machine.
    window
        Rows of the table of jobs.
    """

    def __init__(self, machine: Machine, window: int) -> None:
        self._window = window
        self._nodes = len(machine.nodes)
        self._sizes = np.array([max(storage.capacity_bytes, 1) for storage in machine.storages], np.float64)
        self._bytes = float(max(sum(storage.capacity_bytes for storage in machine.storages), 1))
        self._quantiles = np.linspace(0, max(len(self._sizes) - 1, 0), QUANTILES).round().astype(np.intp)
        self._scale = np.array([self._nodes, self._bytes])

    def see(self, turn: Turn) -> Observation:
        """The observation of a turn."""
        timeline, now_s = turn.view.timeline, turn.view.now_s
        ahead = np.array(timeline.totals_at([now_s + after_s for after_s in _HORIZONS_S]))
        releases = (ahead / self._scale).astype(np.float32)
        next_s = timeline.next_change_s() - now_s
        return {
            "jobs": self._jobs(turn),
            "machine": self._machine(turn, next_s),
            "releases": releases,
            "storages": self._storages(np.array(timeline.free_storage_now(), np.int64)),
        }

    def _jobs(self, turn: Turn) -> Table:
        view, table = turn.view, np.zeros((self._window, JOB_FEATURES), np.float32)
        table[: len(turn.jobs)] = [
            (
                min(1.0, job.nodes / self._nodes),
                _log(view.estimate_s(job)),
                min(1.0, job.requests * job.bb_bytes / self._bytes),
                _log(view.now_s - job.submit_time_s),
                fits,
                1.0,
            )
            for job, fits in zip(turn.jobs, turn.fits.tolist(), strict=True)
        ]
        return table

    def _machine(self, turn: Turn, next_s: float) -> Table:
        view, waiting = turn.view, turn.waiting
        day, week = 2 * math.pi * view.now_s / DAY_S, 2 * math.pi * view.now_s / WEEK_S
        return np.array(
            [
                min(1.0, math.log1p(waiting) / math.log1p(_MOST_WAITING)),
                (waiting - len(turn.jobs)) / waiting,
                min(1.0, len(view.running) / self._nodes),
                _log(next_s),
                (1 + math.sin(day)) / 2,
                (1 + math.cos(day)) / 2,
                (1 + math.sin(week)) / 2,
                (1 + math.cos(week)) / 2,
                float(turn.may_wait),
            ],
            np.float32,
        )

    def _storages(self, free_bytes: npt.NDArray[np.int64]) -> Table:
        if not len(free_bytes):
            return np.zeros(QUANTILES, np.float32)
        shares = free_bytes / self._sizes
        shares.sort()
        return shares[self._quantiles].astype(np.float32)


def _log(seconds: float) -> float:
    """A duration from 0 to 1: 1 s is 0.05, an hour 0.55, a day 0.77, a month or more 1."""
    return min(1.0, math.log1p(max(seconds, 0.0)) / math.log1p(_MONTH_S))
